"""What a build promises: strict floating point, threads that work, a light import, complete packages."""

import importlib
import importlib.util
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import softkit
from softkit._kernels import build

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(softkit.__file__).resolve().parent


def kernel_names():
    folder = Path(importlib.import_module("softkit._kernels").__file__).parent
    return sorted(module.name for module in pkgutil.iter_modules([str(folder)]))


def run(code, **env):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.smoke
def test_build_info():
    info = softkit.build_info()
    assert set(info) == {"version", "threads", "openmp", "openmp_version", "fast_math", "vector", "compiler"}
    assert info["fast_math"] is False
    assert info["openmp"] == (info["openmp_version"] > 0)
    assert info["vector"] in ("none", "sse2", "neon", "avx2", "avx512")
    assert info["compiler"].split()[0] in ("gcc", "clang", "msvc", "unknown")


@pytest.mark.smoke
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_team_shares_a_static_loop(n):
    """Static schedule: the items split into n runs in thread order, the same on every call."""
    owner = np.full(64, -1, np.int32)
    build.team(owner, n)
    assert (np.diff(owner) >= 0).all()
    assert set(owner) == (set(range(n)) if build.describe()["openmp"] else {0})
    again = np.full(64, -1, np.int32)
    build.team(again, n)
    np.testing.assert_array_equal(owner, again)


@pytest.mark.smoke
def test_import_is_light():
    """No pygame (a server has none), no games, no tools, nothing slow that only a report needs."""
    code = "import softkit, sys; print(*sys.modules)"
    loaded = set(run(code))
    heavy = {"pygame", "games", "benchmarks", "numba", "scipy", "Cython", "pytest", "importlib.metadata"}
    assert not heavy & loaded


@pytest.mark.smoke
def test_import_all_without_pygame():
    """Everything but softkit.render can be imported where pygame cannot."""
    names = ["softkit"] + [f"softkit._kernels.{name}" for name in kernel_names()]
    found = [module.name for module in pkgutil.iter_modules([str(PACKAGE)])]
    names += [f"softkit.{name}" for name in found if name not in ("render", "_kernels")]
    code = f"import sys; sys.modules['pygame'] = None\nfor name in {names!r}: __import__(name)\nprint('fine')"
    assert run(code) == ["fine"]


@pytest.mark.smoke
def test_kernels_leave_process_settings_alone():
    """Subnormal numbers stay (no flush-to-zero), and a free-threaded Python keeps its GIL off."""
    imports = "".join(f"import softkit._kernels.{name}\n" for name in kernel_names())
    code = f"""
import sys
gil = getattr(sys, "_is_gil_enabled", lambda: True)
before = gil()
{imports}
import numpy as np
print(gil() == before, float(np.float64(3e-308) / np.float64(4)) > 0, 1e-320 * 1.0 > 0)
"""
    assert run(code) == ["True", "True", "True"]


@pytest.mark.smoke
def test_package_carries_types():
    assert (PACKAGE / "py.typed").is_file()
    for name in kernel_names():
        assert (PACKAGE / "_kernels" / f"{name}.pyi").is_file(), f"{name} has no stub"


def test_every_pyx_is_built():
    assert kernel_names() == sorted(path.stem for path in ROOT.glob("pyx/*.pyx"))


def test_version_is_the_project_s():
    line = next(s for s in (ROOT / "pyproject.toml").read_text().splitlines() if s.startswith("version"))
    assert softkit.build_info()["version"] in (line.split('"')[1], "unknown")


@pytest.fixture(scope="module")
def recipe():
    spec = importlib.util.spec_from_file_location("softkit_setup", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["unix", "msvc", "mingw32"])
@pytest.mark.parametrize("switches", [(), ("SOFTKIT_DEBUG",), ("SOFTKIT_NATIVE",), ("SOFTKIT_SANITIZE",)])
def test_flags_keep_floating_point_strict(recipe, monkeypatch, kind, switches):
    for name in ("SOFTKIT_DEBUG", "SOFTKIT_NATIVE", "SOFTKIT_SANITIZE"):
        monkeypatch.setenv(name, "1" if name in switches else "0")
    flags = " ".join(recipe.base_flags(kind)[0])
    assert ("/fp:precise" if kind == "msvc" else "-ffp-contract=off") in flags
    for forbidden in ("fast", "unsafe", "associative", "reciprocal"):
        assert forbidden not in flags
    assert ("-march" in flags) == ("SOFTKIT_NATIVE" in switches and kind != "msvc")


class Checkout:
    """A copy of the build files with one small kernel, to build in different ways."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, folder)
        (folder / "pyx").mkdir()
        for name in ("build.pyx", "softkit_omp.h"):
            shutil.copy(ROOT / "pyx" / name, folder / "pyx")
        (folder / "softkit" / "_kernels").mkdir(parents=True)
        (folder / "softkit" / "__init__.py").touch()
        (folder / "softkit" / "_kernels" / "__init__.py").touch()

    def build(self, **env):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("SOFTKIT_")}
        done = subprocess.run(
            [sys.executable, "setup.py", "build_ext", "--inplace"],
            cwd=self.folder,
            env={**clean, **env},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def module(self):
        return next((self.folder / "softkit" / "_kernels").glob("build.*[!i]"))

    def ask(self, expression):
        code = f"from softkit._kernels import build; import numpy as np; print({expression})"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_rebuild_follows_flags(checkout):
    """Unchanged flags compile nothing; the debug switch brings run-time checks in and out again."""
    generated = checkout.folder / "build" / "cython" / "pyx" / "build.c"
    checkout.build()
    plain, stamp = generated.read_text(), checkout.module().stat().st_mtime_ns
    checkout.build()
    assert checkout.module().stat().st_mtime_ns == stamp
    checkout.build(SOFTKIT_DEBUG="1")
    debug = generated.read_text()
    assert debug.count("__Pyx_RaiseBufferIndexError") > plain.count("__Pyx_RaiseBufferIndexError")
    assert checkout.module().stat().st_mtime_ns != stamp
    checkout.build()
    assert generated.read_text() == plain


def test_serial_build(checkout):
    assert "switched off" in checkout.build(SOFTKIT_NO_OPENMP="1")
    assert checkout.ask("build.describe()['openmp'], build.describe()['openmp_version']") == "False 0"
    code = "(lambda a: (build.team(a, 4), int(a.max())))(np.zeros(64, np.int32))[1]"
    assert checkout.ask(code) == "0"
    assert checkout.ask("build.release_team()") == "False"


@pytest.mark.skipif(sys.platform != "linux", reason="replaces the compiler by a shell script")
@pytest.mark.parametrize("failure", ["compile", "run"])
def test_compiler_without_openmp(checkout, failure):
    """The build goes on serially, and says so where nobody can miss it."""
    wrapper = checkout.folder / "cc"
    if failure == "compile":
        wrapper.write_text('#!/bin/sh\ncase " $* " in *" -fopenmp "*) exit 1;; esac\nexec gcc "$@"\n')
    else:  # links, but what comes out does not run
        wrapper.write_text('#!/bin/sh\nfor last; do :; done\ngcc "$@" || exit 1\n'
                           'case " $* " in *"/probe "*) while [ "$1" != -o ]; do shift; done; '
                           'printf "#!/bin/sh\\nexit 1\\n" > "$2";; esac\n')  # fmt: skip
    wrapper.chmod(0o755)
    said = checkout.build(CC=str(wrapper), LDSHARED=f"{wrapper} -shared")
    assert "WARNING: OpenMP is not usable" in said
    assert checkout.ask("build.describe()['openmp']") == "False"
