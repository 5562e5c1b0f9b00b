"""Thread counts: the default from the machine, what set_threads takes, and forked or parallel callers."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import softkit
from softkit import threads
from softkit._kernels import build

OPENMP = build.describe()["openmp"]


def fresh(code, **env):
    """What `code` prints in a new Python with these environment variables."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **env},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.smoke
def test_set_and_get():
    for n in (1, 2, np.int64(3), 256):
        softkit.set_threads(n)
        assert softkit.get_threads() == n
        assert softkit.build_info()["threads"] == n
    softkit.set_threads(None)
    assert softkit.get_threads() == threads._default()


@pytest.mark.parametrize(
    "wrong, error", [(0, ValueError), (-1, ValueError), (257, ValueError), (2**70, ValueError)]
    + [(value, TypeError) for value in (1.0, "2", True, float("nan"), [1])],
)  # fmt: skip
def test_set_rejects(wrong, error):
    softkit.set_threads(2)
    with pytest.raises(error, match=r"n must be .*" + str(wrong).replace("[", r"\[")):
        softkit.set_threads(wrong)
    assert softkit.get_threads() == 2


@pytest.mark.parametrize(
    "value, count", [("3", 3), ("5,2", 5), (" 2 ", 2), ("999", 256), ("0", None), ("many", None), ("", None)]
)
def test_default_follows_omp_num_threads(value, count):
    expected = threads.MAX_THREADS if count is None else count
    (got,) = fresh("import softkit; print(softkit.get_threads())", OMP_NUM_THREADS=value)
    if not OPENMP:
        assert int(got) == 1
    elif count is None:  # not a number: as if unset
        assert 1 <= int(got) <= expected
    else:
        assert int(got) == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity calls on this system")
def test_default_follows_affinity():
    one = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, {{{one}}}); import softkit; print(softkit.get_threads())"
    assert fresh(code, OMP_NUM_THREADS="") == ["1"]


@pytest.mark.parametrize(
    "files, cores",
    [
        ({}, float("inf")),
        ({"cpu.max": "max 100000"}, float("inf")),
        ({"cpu.max": "150000 100000"}, 1.5),
        ({"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, 2.0),  # a limit on a group around ours
        ({"a/b/cpu.max": "50000 100000", "a/cpu.max": "200000 100000"}, 0.5),
        ({"other/cpu.max": "50000 100000"}, float("inf")),
        ({"cpu/c/cpu.cfs_quota_us": "300000", "cpu/c/cpu.cfs_period_us": "100000"}, 3.0),
        ({"cpu/c/cpu.cfs_quota_us": "-1", "cpu/c/cpu.cfs_period_us": "100000"}, float("inf")),
        ({"cpu.max": "nonsense"}, float("inf")),
    ],
)
def test_quota_of_control_groups(tmp_path, files, cores):
    root = tmp_path / "cgroup"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    proc = tmp_path / "self"
    proc.write_text("9:name=systemd:/x\n4:cpu,cpuacct:/c\n0::/a/b\n")
    assert threads._quota(proc, root) == cores


@pytest.mark.parametrize("quota, count", [(0.2, 1), (1.5, 2), (3.0, 3), (64.0, 8), (float("inf"), 8)])
def test_default_counts_quota_and_cores(monkeypatch, quota, count):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "_quota", lambda: quota)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)), raising=False)
    assert threads._default() == (count if OPENMP else 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_child_of_a_fork_computes():
    """A parent that has run a parallel loop forks; the child's own loop must come to an end."""
    code = """
import os, signal, numpy as np, softkit
from softkit._kernels import build
owner = np.full(64, -1, np.int32)
build.team(owner, 4)
pid = os.fork()
if pid == 0:
    signal.alarm(20)  # a child that hangs dies of this
    child = np.full(64, -1, np.int32)
    build.team(child, 4)
    os._exit(0 if (child == owner).all() else 3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
build.team(owner, 4)
print(owner.max())
"""
    assert fresh(code) == ["0", "3" if OPENMP else "0"]


def test_python_threads_side_by_side():
    """Four Python threads run parallel loops of their own at once: each gets its own result, whole."""
    results = [np.full(1000, -1, np.int32) for _ in range(4)]

    def work(k):
        for _ in range(50):
            build.team(results[k], k + 1)

    pool = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join(60)
    for k, owner in enumerate(results):
        expected = np.full(1000, -1, np.int32)
        build.team(expected, k + 1)
        np.testing.assert_array_equal(owner, expected)


@pytest.mark.skipif(not build.describe()["compiler"].startswith("gcc"), reason="reads what libgomp prints")
@pytest.mark.parametrize("wanted, spin", [({}, "1000"), ({"GOMP_SPINCOUNT": "77"}, "77")])
def test_waiting_threads_spin_shortly(wanted, spin):
    """Unless the environment says otherwise, and without leaving a trace in the environment of children."""
    clean = {
        k: v for k, v in os.environ.items() if k not in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "KMP_BLOCKTIME")
    }
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os; before = dict(os.environ); import softkit; print(before == os.environ)",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        env={**clean, "OMP_DISPLAY_ENV": "verbose", **wanted},
    )
    assert done.stdout.split() == ["True"]
    if OPENMP:
        assert f"GOMP_SPINCOUNT = '{spin}'" in done.stderr
