"""The same XPBD sheet compiled by numba, each batch shared out over threads. Needs numba (extra `bench`)."""

import numba
import numpy as np

import softkit
from benchmarks.peers import numpy_cloth


def _step(x, v, w, old, first, last, rest, starts, fall, h, substeps, sweeps):
    n = x.shape[0]
    for _ in range(substeps):
        for i in numba.prange(n):
            for k in range(3):
                old[i, k] = x[i, k]
                if w[i] > 0.0:
                    x[i, k] += h * (v[i, k] + h * fall[k])
        for _ in range(sweeps):
            for b in range(starts.shape[0] - 1):
                for e in numba.prange(starts[b], starts[b + 1]):
                    i, j = first[e], last[e]
                    dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                    total = w[i] + w[j]
                    if total > 0.0:
                        size = np.sqrt(dx * dx + dy * dy + dz * dz)
                        s = (size - rest[e]) / (size * total)
                        x[i, 0] += w[i] * s * dx
                        x[i, 1] += w[i] * s * dy
                        x[i, 2] += w[i] * s * dz
                        x[j, 0] -= w[j] * s * dx
                        x[j, 1] -= w[j] * s * dy
                        x[j, 2] -= w[j] * s * dz
        for i in numba.prange(n):
            for k in range(3):
                v[i, k] = (x[i, k] - old[i, k]) / h


_serial = numba.njit(_step)
_parallel = numba.njit(_step, parallel=True)


class Sheet(numpy_cloth.Sheet):
    def __init__(self, layout, substeps=4, sweeps=4, parallel=True):
        super().__init__(layout, substeps, sweeps)
        numba.set_num_threads(min(softkit.get_threads(), numba.config.NUMBA_NUM_THREADS))
        self.old = self.x.copy()
        self.first = np.concatenate([a for a, _, _ in self.batches])
        self.last = np.concatenate([b for _, b, _ in self.batches])
        self.rest = np.concatenate([np.full(len(a), r * layout.spacing) for a, _, r in self.batches])
        self.starts = np.cumsum([0] + [len(a) for a, _, _ in self.batches])
        self.step = _parallel if parallel else _serial

    def frame(self):
        self.step(self.x, self.v, self.w, self.old, self.first, self.last, self.rest, self.starts, self.fall,
                  self.h, self.substeps, self.sweeps)  # fmt: skip
