"""How many threads the kernels use, and what this build is.

Every kernel takes its thread count as an argument; `softkit.World` passes `get_threads()`. The count
changes how long a step takes and never its bits.

A thread of yours may step a world of its own while another thread steps another world, with the GIL or on a
free-threaded Python: kernels hold no state and release the GIL. One world belongs to one thread at a time.

After `os.fork()` (also under multiprocessing's "fork" method) the child may go on simulating: OpenMP's idle
worker threads are let go before each fork, since a child that inherits their record without them would
wait for ever.
"""

import math
import os
from pathlib import Path

from softkit._kernels import build

MAX_THREADS = 256


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _limit(folder: Path) -> float:
    """Cores' worth of time that one control group allows, infinity without a limit (cgroup v2, then v1)."""
    fields = _read(folder / "cpu.max").split()
    if len(fields) != 2:
        fields = (_read(folder / "cpu.cfs_quota_us") + " " + _read(folder / "cpu.cfs_period_us")).split()
    try:
        quota, period = (int(field) for field in fields)
    except ValueError:  # "max", or a group without the controller
        return math.inf
    return quota / period if quota > 0 and period > 0 else math.inf


def _quota(proc: Path = Path("/proc/self/cgroup"), root: Path = Path("/sys/fs/cgroup")) -> float:
    """The smallest limit among this process's control groups and all groups around them."""
    smallest = _limit(root)
    for line in _read(proc).splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = root / "cpu" if controllers else root
        inner = base / path.lstrip("/")
        for folder in [inner, *inner.parents]:
            smallest = min(smallest, _limit(folder))
            if folder == root:
                break
    return smallest


def _default() -> int:
    if not build.describe()["openmp"]:
        return 1
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if wanted.isascii() and wanted.isdigit() and int(wanted) > 0:
        return min(int(wanted), MAX_THREADS)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _quota()
    return min(cores, MAX_THREADS, max(1, math.ceil(quota)) if math.isfinite(quota) else cores)


_threads = _default()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=build.release_team)


def set_threads(n: int | None) -> None:
    """Set how many threads every kernel may use from the next step on.

    `n`: 1 to 256, default (`None`) `OMP_NUM_THREADS` where set, else the cores that this process may use
    (affinity and control-group quota counted). More threads than cores only cost time. A build without
    OpenMP takes any count and runs on one thread.

    Raises TypeError for anything but an int or None, ValueError outside 1 to 256.
    """
    global _threads
    if n is None:
        _threads = _default()
        return
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"n must be an int or None, got {n!r}")
    count = n.__index__()
    if not 1 <= count <= MAX_THREADS:
        raise ValueError(f"n must be between 1 and {MAX_THREADS}, got {count}")
    _threads = count


def get_threads() -> int:
    """The thread count that kernels use now."""
    return _threads


def build_info() -> dict:
    """What this build is: version, compiler, OpenMP, vector level and the thread count in force.

    >>> sorted(build_info())
    ['compiler', 'fast_math', 'openmp', 'openmp_version', 'threads', 'vector', 'version']
    """
    from importlib.metadata import PackageNotFoundError, version  # here: it takes longer than all of softkit

    try:
        number = version("softkit")
    except PackageNotFoundError:
        number = "unknown"
    return {"version": number, "threads": _threads, **build.describe()}
