"""Compiled from pyx/; private. Every module has a hand-written stub beside it.

Importing the package loads the OpenMP library, with a say in how its threads wait for each other. By default
they spin for 15 ms (gcc) or 200 ms (LLVM) before they sleep. Between frames that keeps every core busy for
nothing; and when another program holds a core, each parallel loop stalls that long: two games on two cores
came to a second a frame. A short spin, about 40 microseconds, keeps loops that follow each other fast and
bounds what a busy machine can cost. Whoever sets one of these variables has decided otherwise.
"""

import os

_SHORT_SPIN = {"GOMP_SPINCOUNT": "1000", "KMP_BLOCKTIME": "0"}


def _load() -> None:
    if any(name in os.environ for name in (*_SHORT_SPIN, "OMP_WAIT_POLICY")):
        return
    os.environ.update(_SHORT_SPIN)
    try:
        from softkit._kernels import build

        build.start()  # the library reads its variables by now at the latest
    finally:
        for name in _SHORT_SPIN:
            del os.environ[name]


_load()
