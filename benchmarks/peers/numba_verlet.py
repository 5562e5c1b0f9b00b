"""The verlet rope compiled by numba, ropes shared out over threads. Needs numba (extra `bench`)."""

import numba
import numpy as np

import softkit


@numba.njit(parallel=True)
def _frame(position, old, fall, link, sweeps):
    for r in numba.prange(position.shape[0]):
        p, q = position[r], old[r]
        n = p.shape[0]
        for i in range(1, n):
            x, y = p[i, 0], p[i, 1]
            p[i, 0] = x + x - q[i, 0]
            p[i, 1] = y + y - q[i, 1] + fall
            q[i, 0], q[i, 1] = x, y
        for _ in range(sweeps):
            for i in range(n - 1):
                dx, dy = p[i + 1, 0] - p[i, 0], p[i + 1, 1] - p[i, 1]
                part = 1 - link / np.sqrt(dx * dx + dy * dy)
                near = 0.5 if i else 0.0
                p[i, 0] += dx * part * near
                p[i, 1] += dy * part * near
                p[i + 1, 0] -= dx * part * (1 - near)
                p[i + 1, 1] -= dy * part * (1 - near)


class Ropes:
    def __init__(self, layout, sweeps=20):
        numba.set_num_threads(min(softkit.get_threads(), numba.config.NUMBA_NUM_THREADS))
        self.position = layout.points()
        self.old = self.position.copy()
        self.numbers = layout.gravity * layout.dt**2, layout.link, sweeps

    def frame(self):
        _frame(self.position, self.old, *self.numbers)

    def positions(self):
        return self.position
