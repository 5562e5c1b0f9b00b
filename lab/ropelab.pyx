# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Single ropes under gravity, outside the package: steps chain.pxd and records what it does."""
import numpy as np
from libc.math cimport sqrt, fabs
from chain cimport Chain, chain_solve, CHAIN_SCRATCH


cdef class Lab:
    cdef public object x, v, x0, W, rest, f, lam, scratch, mass, move
    cdef public double gx, gy, damping
    cdef Chain c
    cdef double[:, ::1] xv, vv, x0v, Wv, movev
    cdef double[::1] mv, lv

    def __init__(self, x, mass, held=(), gravity=(0.0, 900.0), compliance=0.0, bend=0.0, rest=None, W=None):
        n = len(x)
        self.x = np.ascontiguousarray(x, float).copy()
        self.x0 = self.x.copy()
        self.v = np.zeros((n, 2))
        self.move = np.zeros((n, 2))
        self.mass = np.broadcast_to(np.asarray(mass, float), (n,)).copy()
        self.W = np.zeros((n, 3))
        self.W[:, 0] = self.W[:, 2] = 1.0 / self.mass
        if W is not None:
            self.W[:] = W
        for k in held:
            self.W[k] = 0.0
        self.rest = np.hypot(*np.diff(self.x, axis=0).T) if rest is None else np.ascontiguousarray(rest, float)
        self.rest = np.ascontiguousarray(self.rest)
        self.f = np.zeros((n, 2))
        self.lam = np.zeros(n - 1)
        self.scratch = np.zeros(CHAIN_SCRATCH * n)
        self.gx, self.gy = gravity
        self.xv, self.vv, self.x0v, self.Wv, self.mv = self.x, self.v, self.x0, self.W, self.mass
        self.lv = self.rest
        self.movev = self.move
        cdef double[:, ::1] f = self.f
        cdef double[::1] lam = self.lam, scratch = self.scratch
        self.c.n = n
        self.c.x = &self.xv[0, 0]
        self.c.x0 = &self.x0v[0, 0]
        self.c.v = &self.vv[0, 0]
        self.c.W = &self.Wv[0, 0]
        self.c.rest = &self.lv[0]
        self.c.f = &f[0, 0]
        self.c.lam = &lam[0]
        self.c.scratch = &scratch[0]
        self.c.stretch_compliance = compliance
        self.c.bend_stiffness = bend
        self.c.catch_up = 2000.0

    def run(self, int steps, double h, double damping=0.0):
        """Step; returns per substep: energy at the middle of the step, total length, largest link error, passes,
        bob x, y, residual, momentum x, y, angular momentum."""
        out = np.empty((steps, 13))
        cdef double[:, ::1] o = out
        cdef double[:, ::1] x = self.xv, v = self.vv, x0 = self.x0v, W = self.Wv, mv = self.movev
        cdef double[::1] mass = self.mv, rest = self.lv
        cdef int i, k, n = self.c.n
        cdef double e, total, worst, s, px, py, amx, amy, ang, mx, my, keep = 1.0 / (1.0 + damping * h)
        cdef double alpha = self.c.stretch_compliance / (h * h)
        with nogil:
            for i in range(steps):
                for k in range(n):
                    x0[k, 0] = x[k, 0]
                    x0[k, 1] = x[k, 1]
                    if W[k, 0] > 0 or W[k, 2] > 0:
                        v[k, 0] = v[k, 0] * keep + h * self.gx
                        v[k, 1] = v[k, 1] * keep + h * self.gy
                        x[k, 0] += h * v[k, 0]
                        x[k, 1] += h * v[k, 1]
                    else:
                        x[k, 0] += h * mv[k, 0]
                        x[k, 1] += h * mv[k, 1]
                chain_solve(&self.c, h)
                e = 0.0
                amx = 0.0
                amy = 0.0
                ang = 0.0
                for k in range(n):
                    if W[k, 0] > 0 or W[k, 2] > 0:
                        mx = 0.5 * (x[k, 0] + x0[k, 0])
                        my = 0.5 * (x[k, 1] + x0[k, 1])
                        e += mass[k] * (0.5 * (v[k, 0] * v[k, 0] + v[k, 1] * v[k, 1]) - self.gx * mx - self.gy * my)
                        amx += mass[k] * v[k, 0]
                        amy += mass[k] * v[k, 1]
                        ang += mass[k] * (mx * v[k, 1] - my * v[k, 0])
                total = 0.0
                worst = 0.0
                for k in range(n - 1):
                    px = x[k + 1, 0] - x[k, 0]
                    py = x[k + 1, 1] - x[k, 1]
                    s = sqrt(px * px + py * py)
                    total += s
                    s = fabs(s - rest[k]) / (rest[k] + 1e-30)
                    if s > worst:
                        worst = s
                    e += 0.5 * alpha * self.c.lam[k] * self.c.lam[k] / (h * h)
                o[i, 0] = e
                o[i, 1] = total
                o[i, 2] = worst
                o[i, 3] = self.c.passes
                o[i, 4] = x[n - 1, 0]
                o[i, 5] = x[n - 1, 1]
                o[i, 6] = self.c.residual
                o[i, 7] = amx
                o[i, 8] = amy
                o[i, 9] = ang
                o[i, 10] = x[n // 2, 0]
                o[i, 11] = x[n // 2, 1]
                o[i, 12] = self.c.violent
        return out

    def time_solve(self, int steps, double h, int repeat):
        """Nanoseconds per link and substep of the whole substep (predict, solve, velocity)."""
        import time
        cdef double[:, ::1] x = self.xv, v = self.vv, x0 = self.x0v, W = self.Wv
        cdef int i, k, n = self.c.n
        best = []
        for _ in range(repeat):
            t = time.perf_counter()
            with nogil:
                for i in range(steps):
                    for k in range(n):
                        x0[k, 0] = x[k, 0]
                        x0[k, 1] = x[k, 1]
                        if W[k, 0] > 0:
                            v[k, 1] = v[k, 1] + h * self.gy
                            x[k, 0] += h * v[k, 0]
                            x[k, 1] += h * v[k, 1]
                    chain_solve(&self.c, h)
            best.append((time.perf_counter() - t) / steps / (n - 1) * 1e9)
        return float(np.median(best))
