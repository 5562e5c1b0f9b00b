"""How many threads the kernels use, and what this build is."""

import math
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from softkit._kernels import build

MAX_THREADS = 256


def _quota() -> int | None:
    """Whole cores that this process's control group may use, or None without a limit (Linux cgroup v2 and v1)."""
    try:
        limit, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return None if limit == "max" else max(1, math.ceil(int(limit) / int(period)))
    except (OSError, ValueError):
        pass
    try:
        limit = int(Path("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").read_text())
        period = int(Path("/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text())
        return None if limit <= 0 else max(1, math.ceil(limit / period))
    except (OSError, ValueError):
        return None


def _default() -> int:
    if not build.describe()["openmp"]:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isdigit() and int(wanted) > 0:
        return min(int(wanted), MAX_THREADS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, _quota() or cores, MAX_THREADS)


_threads = _default()


def set_threads(n: int | None) -> None:
    """Set how many threads every kernel may use from the next step on.

    Results never depend on it: the same bits come out for any count. `None` goes back to the default, which is
    `OMP_NUM_THREADS` where set, else the cores that this process may use (affinity and cgroup quota counted).
    A build without OpenMP accepts any count and runs on one thread.

    Raises TypeError for anything but an int or None, ValueError outside 1 to 256.
    """
    global _threads
    if n is None:
        _threads = _default()
        return
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"n must be an int or None, got {n!r}")
    n = n.__index__()
    if not 1 <= n <= MAX_THREADS:
        raise ValueError(f"n must be between 1 and {MAX_THREADS}, got {n}")
    _threads = n


def get_threads() -> int:
    """The thread count that kernels use now."""
    return _threads


def build_info() -> dict:
    """What this build is: version, compiler, OpenMP, vector level and the thread count in force.

    >>> sorted(build_info())
    ['compiler', 'openmp', 'openmp_version', 'threads', 'vector', 'version']
    """
    try:
        number = version("softkit")
    except PackageNotFoundError:
        number = "0+unknown"
    return {"version": number, "threads": _threads, **build.describe()}
