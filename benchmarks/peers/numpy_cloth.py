"""XPBD sheet in NumPy: stretch, shear and bending as distance constraints in 12 conflict-free batches."""

import numpy as np


def batches(n):
    """(i, j, rest in spacings) of each batch of an n x n grid."""
    grid = np.arange(n * n).reshape(n, n)
    out = []
    for half in range(2):
        out.append((grid[:, half:-1:2], grid[:, half + 1 :: 2], 1.0))
        out.append((grid[half:-1:2], grid[half + 1 :: 2], 1.0))
        out.append((grid[half:-1:2, :-1], grid[half + 1 :: 2, 1:], 2**0.5))
        out.append((grid[half:-1:2, 1:], grid[half + 1 :: 2, :-1], 2**0.5))
        for turned in (grid, grid.T):
            first = turned[:, :-2][:, np.arange(n - 2) // 2 % 2 == half]
            last = turned[:, 2:][:, np.arange(n - 2) // 2 % 2 == half]
            out.append((first, last, 2.0))
    return [(a.ravel().astype(np.int32), b.ravel().astype(np.int32), rest) for a, b, rest in out]


class Sheet:
    """n x n particles hung by two corners."""

    def __init__(self, layout, substeps=4, sweeps=4):
        n = layout.n
        row, column = np.divmod(np.arange(n * n), n)
        self.x = np.stack([column * layout.spacing, row * layout.spacing, 0.0 * row], axis=1)
        self.v = np.zeros_like(self.x)
        self.w = np.ones(n * n)
        self.w[[0, n - 1]] = 0.0
        self.batches = batches(n)
        self.spacing, self.h, self.substeps, self.sweeps = (
            layout.spacing,
            layout.dt / substeps,
            substeps,
            sweeps,
        )
        self.fall = np.array([0.0, layout.gravity, 0.0])

    def frame(self):
        x, w = self.x, self.w[:, None]
        for _ in range(self.substeps):
            old = x.copy()
            x += (w > 0) * (self.h * self.v + self.h**2 * self.fall)
            for _ in range(self.sweeps):
                for a, b, rest in self.batches:
                    d = x[b] - x[a]
                    size = np.sqrt((d * d).sum(axis=1, keepdims=True))
                    d *= (size - rest * self.spacing) / (size * np.maximum(w[a] + w[b], 1e-12))
                    x[a] += w[a] * d
                    x[b] -= w[b] * d
            self.v = (x - old) / self.h

    def positions(self):
        return self.x
