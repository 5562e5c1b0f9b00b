"""Looks into a folder's sdist and wheel: everything that belongs is there, nothing else is.

python .ci/check_dist.py FOLDER
"""

import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources():
    """Paths below the root that an sdist must carry."""
    single = [
        "setup.py",
        "pyproject.toml",
        "MANIFEST.in",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
    ]
    kinds = {
        "softkit": ("*.py", "*.pyi", "py.typed"),
        "pyx": ("*.pyx", "*.pxd", "*.h"),
        "docs": ("*.md", "*.png"),
    }
    kinds |= {"tests": ("*.py", "*.png"), "games": ("*.py", "*.png"), "benchmarks": ("*.py", "*.csv")}
    found = [p for folder, globs in kinds.items() for glob in globs for p in (ROOT / folder).rglob(glob)]
    return set(single) | {p.relative_to(ROOT).as_posix() for p in found}


def sdist_faults(path):
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    yield from (f"sdist lacks {name}" for name in sorted(sources() - names))
    junk = (".so", ".pyd", ".pyc", ".c")
    yield from (f"sdist carries {name}" for name in sorted(names) if name.endswith(junk))


def wheel_faults(path):
    names = set(zipfile.ZipFile(path).namelist())
    kernels = {p.stem for p in (ROOT / "pyx").glob("*.pyx")}
    for kernel in sorted(kernels):
        if not any(
            n.startswith(f"softkit/_kernels/{kernel}.") and n.endswith((".so", ".pyd")) for n in names
        ):
            yield f"wheel lacks the compiled {kernel}"
    package = {name for name in sources() if name.startswith("softkit/")}
    yield from (f"wheel lacks {name}" for name in sorted(package - names))
    for name in sorted(names):
        if name.split("/")[0] != "softkit" and ".dist-info/" not in name:
            yield f"wheel carries {name}"
        if name.endswith((".pyx", ".pxd", ".c", ".h")):
            yield f"wheel carries the source {name}"
    if not any(".dist-info/" in name and name.endswith("LICENSE") for name in names):
        yield "wheel lacks the LICENSE"


def main(folder):
    (sdist,), (wheel,) = Path(folder).glob("*.tar.gz"), Path(folder).glob("*.whl")
    faults = [*sdist_faults(sdist), *wheel_faults(wheel)]
    print("\n".join(faults) or f"{sdist.name} and {wheel.name} are complete")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
