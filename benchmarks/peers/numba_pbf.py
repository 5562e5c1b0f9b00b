"""Position based fluid compiled by numba, particles shared out over threads. Needs numba (extra `bench`).

Counting sort into cells, float32, Jacobi iterations, particle speed held below 0.35 of the kernel radius a
substep: what a careful game programmer gets from the PBF paper (Macklin, Mueller 2013).
"""

import numba
import numpy as np

import softkit


@numba.njit
def _sort(x, inv, nx, ny, cell, start, order):
    start[:] = 0
    for i in range(len(x)):
        cx = min(max(int(x[i, 0] * inv), 0), nx - 1)
        cy = min(max(int(x[i, 1] * inv), 0), ny - 1)
        cell[i] = cy * nx + cx
        start[cell[i] + 1] += 1
    for c in range(nx * ny):
        start[c + 1] += start[c]
    at = start[:-1].copy()
    for i in range(len(x)):
        order[at[cell[i]]] = i
        at[cell[i]] += 1


@numba.njit(parallel=True)
def _pairs(x, h, inv, nx, ny, start, pairs, count):
    for i in numba.prange(len(x)):
        cx = min(max(int(x[i, 0] * inv), 0), nx - 1)
        cy = min(max(int(x[i, 1] * inv), 0), ny - 1)
        n = 0
        for row in range(max(cy - 1, 0), min(cy + 2, ny)):
            for j in range(start[row * nx + max(cx - 1, 0)], start[row * nx + min(cx + 1, nx - 1) + 1]):
                dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                if j != i and dx * dx + dy * dy < h * h and n < pairs.shape[1]:
                    pairs[i, n] = j
                    n += 1
        count[i] = n


@numba.njit(parallel=True)
def _lambdas(x, h, rest, pairs, count, density, lam):
    for i in numba.prange(len(x)):
        rho, gx, gy, own = np.float32(1.0), np.float32(0), np.float32(0), np.float32(0)
        for m in range(count[i]):
            j = pairs[i, m]
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            r = np.sqrt(dx * dx + dy * dy) + np.float32(1e-6)
            q = max(np.float32(1) - r / h, np.float32(0))
            s = max(np.float32(1) - r * r / (h * h), np.float32(0))
            rho += s * s * s
            g = -3 * q * q / h
            gx += g * dx / r
            gy += g * dy / r
            own += g * g
        density[i] = rho / rest
        lam[i] = -max(density[i] - 1, 0) * rest * rest / (own + gx * gx + gy * gy + np.float32(0.05)) / rest


@numba.njit(parallel=True)
def _shift(x, out, h, pairs, count, lam, low, high):
    for i in numba.prange(len(x)):
        px, py = np.float32(0), np.float32(0)
        for m in range(count[i]):
            j = pairs[i, m]
            dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
            r = np.sqrt(dx * dx + dy * dy) + np.float32(1e-6)
            q = max(np.float32(1) - r / h, np.float32(0))
            f = (lam[i] + lam[j]) * -3 * q * q / h / r
            px += f * dx
            py += f * dy
        out[i, 0] = min(max(x[i, 0] + np.float32(0.5) * px, low[0]), high[0])
        out[i, 1] = min(max(x[i, 1] + np.float32(0.5) * py, low[1]), high[1])


class Fluid:
    """The same dam in the same tank: points (n, 2) from the tank's corner."""

    def __init__(self, points, size, spacing, gravity, dt, substeps=2, iterations=4):
        numba.set_num_threads(min(softkit.get_threads(), numba.config.NUMBA_NUM_THREADS))
        n = len(points)
        self.x = points.astype(np.float32)
        self.v = np.zeros((n, 2), np.float32)
        self.h = np.float32(2.5 * spacing)
        lattice = np.stack(np.meshgrid(np.arange(-3, 4), np.arange(-3, 4)), -1).reshape(-1, 2) / 2.5
        self.rest = np.float32((np.maximum(1 - (lattice**2).sum(axis=1), 0) ** 3).sum())
        self.low = np.full(2, spacing / 2, np.float32)
        self.high = np.array(size, np.float32) - self.low
        self.cells = int(size[0] / self.h) + 1, int(size[1] / self.h) + 1
        self.numbers = gravity, dt, substeps, iterations
        self.pairs, self.count = np.zeros((n, 64), np.int32), np.zeros(n, np.int32)
        self.cell, self.order = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self.start = np.zeros(self.cells[0] * self.cells[1] + 1, np.int32)
        self.density, self.lam = np.zeros(n, np.float32), np.zeros(n, np.float32)

    def frame(self):
        gravity, dt, substeps, iterations = self.numbers
        h = dt / substeps
        for _ in range(substeps):
            self.v[:, 1] += gravity * h
            speed = np.hypot(self.v[:, 0], self.v[:, 1])
            top = 0.35 * self.h / h
            self.v *= np.minimum(1, top / np.maximum(speed, 1e-6))[:, None]
            x = np.clip(self.x + h * self.v, self.low, self.high).astype(np.float32)
            _sort(x, 1 / self.h, *self.cells, self.cell, self.start, self.order)
            x, old = x[self.order], self.x[self.order]
            _pairs(x, self.h, 1 / self.h, *self.cells, self.start, self.pairs, self.count)
            other = np.empty_like(x)
            for _ in range(iterations):
                _lambdas(x, self.h, self.rest, self.pairs, self.count, self.density, self.lam)
                _shift(x, other, self.h, self.pairs, self.count, self.lam, self.low, self.high)
                x, other = other, x
            self.v = (x - old) / np.float32(h)
            self.x = x

    def positions(self):
        return self.x

    def densities(self):
        return self.density
