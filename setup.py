"""Compiles every pyx/*.pyx into softkit._kernels.

Environment switches, each off by default:
  SOFTKIT_DEBUG=1      Cython's run-time checks (bounds, None, uninitialised views) and -O1 -g
  SOFTKIT_NO_OPENMP=1  one thread, no OpenMP
  SOFTKIT_NATIVE=1     every instruction of this machine; the result is not portable
  SOFTKIT_SANITIZE=1   AddressSanitizer and UndefinedBehaviorSanitizer (gcc, clang)
A build remembers its flags in build/flags.txt; one with other flags compiles everything anew.
"""

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import Cython
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PROBE = """
#include <omp.h>
int main(void)
{
    int n = 0;
#pragma omp parallel reduction(+:n)
    n += 1;
    return n > 0 && omp_get_max_threads() > 0 ? 0 : 1;
}
"""


def switch(name):
    return os.environ.get(name, "") not in ("", "0")


def base_flags(compiler_type):
    """Compile and link flags. Equal bits need strict floating point: no contraction, no reordering."""
    if compiler_type == "msvc":
        return ["/Od" if switch("SOFTKIT_DEBUG") else "/O2", "/fp:precise"], []
    flags = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function"]
    flags += ["-O1", "-g"] if switch("SOFTKIT_DEBUG") else ["-O3"]
    if switch("SOFTKIT_NATIVE"):
        flags += ["-march=native"]
    if switch("SOFTKIT_SANITIZE"):
        flags += ["-fsanitize=address,undefined", "-g", "-fno-omit-frame-pointer"]
        return flags, ["-fsanitize=address,undefined"]
    return flags, []


def openmp_candidates(compiler_type):
    """Pairs of (compile flags, link flags) to try in turn."""
    if compiler_type == "msvc":
        return [(["/openmp"], [])]
    gnu = (["-fopenmp"], ["-fopenmp"])
    if sys.platform != "darwin":
        return [gnu]
    apple = [(["-Xpreprocessor", "-fopenmp"], ["-lomp"])]  # Apple's clang, libomp on the compiler's own paths
    roots = [Path(sys.prefix)]
    if "HOMEBREW_PREFIX" in os.environ:  # libomp is keg-only there: nothing finds it unasked
        roots.append(Path(os.environ["HOMEBREW_PREFIX"], "opt", "libomp"))
    for root in roots:
        library = root / "lib"
        apple.append(
            (
                ["-Xpreprocessor", "-fopenmp", f"-I{root / 'include'}"],
                [f"-L{library}", f"-Wl,-rpath,{library}", "-lomp"],
            )
        )
    return [gnu, *apple]


def openmp_works(compiler, compile_args, link_args, run):
    """Compile, link and, if `run`, execute a small OpenMP program."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.c")
        source.write_text(PROBE)
        try:
            objects = compiler.compile([str(source)], output_dir=folder, extra_postargs=compile_args)
            compiler.link_executable(objects, str(Path(folder, "probe")), extra_postargs=link_args)
            if not run:
                return True
            binary = next(p for p in Path(folder).glob("probe*") if p.suffix in ("", ".exe"))
            return subprocess.run([str(binary)], timeout=60).returncode == 0
        except Exception:  # each compiler class has its own errors, and all of them mean: no OpenMP here
            return False


def find_openmp(compiler, cross):
    """Working (compile flags, link flags), or None after saying so loudly."""
    if switch("SOFTKIT_NO_OPENMP"):
        print("softkit: OpenMP switched off by SOFTKIT_NO_OPENMP; kernels run on one thread")
        return None
    for compile_args, link_args in openmp_candidates(compiler.compiler_type):
        if openmp_works(compiler, compile_args, link_args, run=not cross):
            return compile_args, link_args
    print("*" * 78, file=sys.stderr)
    print("softkit: WARNING: OpenMP is not usable with this compiler.", file=sys.stderr)
    print("softkit: the build goes on, but every kernel will run on one thread.", file=sys.stderr)
    print("*" * 78, file=sys.stderr)
    return None


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def directives():
    debug = switch("SOFTKIT_DEBUG")
    return {
        "language_level": 3,
        "boundscheck": debug,
        "wraparound": False,
        "initializedcheck": debug,
        "nonecheck": debug,
        "cdivision": True,
        "freethreading_compatible": True,
    }


class BuildKernels(build_ext):
    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or cores()

    def build_extensions(self):
        kind = self.compiler.compiler_type
        compile_args, link_args = base_flags(kind)
        # Set by cross-compiling front ends; a probe built for another machine cannot run here.
        cross = "_PYTHON_HOST_PLATFORM" in os.environ or self.plat_name != sysconfig.get_platform()
        openmp = find_openmp(self.compiler, cross)
        if openmp:
            compile_args, link_args = compile_args + openmp[0], link_args + openmp[1]
        for extension in self.extensions:
            extension.extra_compile_args = compile_args
            extension.extra_link_args = link_args
        stamp = self.stale_after_other_flags(compile_args + link_args)
        self.generate_c()
        super().build_extensions()
        stamp.write_text(self.flags_line)

    def stale_after_other_flags(self, flags):
        """Rebuild everything if the last build had other flags; return the file that remembers them."""
        self.flags_line = " ".join([f"Cython {Cython.__version__}", repr(directives()), *flags]) + "\n"
        stamp = Path("build", "flags.txt")
        stamp.parent.mkdir(exist_ok=True)
        if not stamp.exists() or stamp.read_text() != self.flags_line:
            self.force = True
            stamp.unlink(missing_ok=True)  # an interrupted build must not pass for a finished one
        return stamp

    def generate_c(self):
        """Cythonize here and not at the top: metadata needs no C, and an sdist lists the .pyx as sources."""
        generated = cythonize(
            [Extension(e.name, e.sources, depends=e.depends) for e in self.extensions],
            include_path=["pyx"],
            compiler_directives=directives(),
            build_dir="build/cython",
            force=bool(self.force),
            nthreads=cores(),
        )
        sources = {extension.name: extension.sources for extension in generated}
        for extension in self.extensions:
            extension.sources = sources[extension._full_name]


def kernels():
    headers = sorted(p.as_posix() for p in [*Path("pyx").glob("*.pxd"), *Path("pyx").glob("*.h")])
    return [
        Extension(f"softkit._kernels.{path.stem}", [path.as_posix()], include_dirs=["pyx"], depends=headers)
        for path in sorted(Path("pyx").glob("*.pyx"))
    ]


if __name__ == "__main__":  # cythonize's worker processes may import this file again
    setup(ext_modules=kernels(), cmdclass={"build_ext": BuildKernels})
