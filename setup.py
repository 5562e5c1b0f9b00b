"""Compiles every pyx/*.pyx into softkit._kernels.

Environment switches: SOFTKIT_DEBUG=1 turns Cython's run-time checks on; SOFTKIT_NO_OPENMP=1 builds serially;
SOFTKIT_NATIVE=1 lets the compiler use every instruction of this machine (not portable); SOFTKIT_SANITIZE=1 builds
with AddressSanitizer.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PROBE = """
#include <omp.h>
int main(void) { int n = 0;
#pragma omp parallel reduction(+:n)
  n += 1;
return n > 0 && omp_get_max_threads() > 0 ? 0 : 1; }
"""


def switch(name):
    return os.environ.get(name, "") not in ("", "0")


def base_flags(compiler_type):
    """Strict floating point on every compiler: equal bits need no contraction and no reassociation."""
    if compiler_type == "msvc":
        return ["/O2", "/fp:precise"]
    flags = ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function"]
    return flags + (["-march=native"] if switch("SOFTKIT_NATIVE") else [])


def openmp_flags(compiler_type):
    if compiler_type == "msvc":
        return ["/openmp"], []
    if sys.platform == "darwin":
        return ["-Xpreprocessor", "-fopenmp"], ["-lomp"]
    return ["-fopenmp"], ["-fopenmp"]


def openmp_works(compiler, compile_args, link_args):
    """Compile, link and (unless cross-compiling) run a small OpenMP program."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(PROBE)
        try:
            objects = compiler.compile([str(source)], output_dir=folder, extra_postargs=compile_args)
            compiler.link_executable(objects, str(Path(folder, "probe")), extra_postargs=link_args)
            if os.environ.get("_PYTHON_HOST_PLATFORM", sysconfig.get_platform()) != sysconfig.get_platform():
                return True
            binary = next(p for p in Path(folder).glob("probe*") if p.suffix in ("", ".exe"))
            return subprocess.run([str(binary)], timeout=30).returncode == 0
        except Exception:  # whatever a compiler throws at us means: no OpenMP here
            return False


class BuildKernels(build_ext):
    def build_extensions(self):
        kind = self.compiler.compiler_type
        compile_args, link_args = base_flags(kind), []
        macros = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
        omp_compile, omp_link = openmp_flags(kind)
        if switch("SOFTKIT_NO_OPENMP"):
            print("softkit: OpenMP switched off by SOFTKIT_NO_OPENMP; kernels run on one thread")
        elif openmp_works(self.compiler, omp_compile, omp_link):
            compile_args += omp_compile
            link_args += omp_link
            macros.append(("SOFTKIT_OPENMP", "1"))
        else:
            print("*" * 78, file=sys.stderr)
            print("softkit: WARNING: OpenMP is not usable with this compiler.", file=sys.stderr)
            print("softkit: the build goes on, but every kernel will run on one thread.", file=sys.stderr)
            print("*" * 78, file=sys.stderr)
        if switch("SOFTKIT_SANITIZE"):
            compile_args += ["-fsanitize=address", "-g", "-fno-omit-frame-pointer"]
            link_args += ["-fsanitize=address"]
        for extension in self.extensions:
            extension.extra_compile_args = compile_args
            extension.extra_link_args = link_args
            extension.define_macros = macros
        super().build_extensions()


debug = switch("SOFTKIT_DEBUG")
directives = {
    "language_level": 3,
    "boundscheck": debug,
    "wraparound": False,
    "initializedcheck": debug,
    "nonecheck": debug,
    "cdivision": True,
    "freethreading_compatible": True,
}
kernels = [
    Extension(f"softkit._kernels.{path.stem}", [path.as_posix()], include_dirs=["pyx"], depends=headers)
    for headers in [sorted(p.as_posix() for p in [*Path("pyx").glob("*.pxd"), *Path("pyx").glob("*.h")])]
    for path in sorted(Path("pyx").glob("*.pyx"))
]

setup(
    ext_modules=cythonize(kernels, include_path=["pyx"], compiler_directives=directives, build_dir="build/cython"),
    cmdclass={"build_ext": BuildKernels},
)
