"""The convex way out for a rope in violent motion: nearest pose whose links are no longer than allowed."""

from libc.math cimport sqrt

from chainwork cimport Chain, ChainWork, chain_apply, chain_geometry, chain_held


cdef inline double chain_dual_residual(Chain* c, ChainWork* w) noexcept nogil:
    """d = p - p(F) - alpha F, the downhill gradient of the dual; returns its slope along r. x must belong to
    F.
    """
    cdef int k, m = c.n - 1
    cdef double fx, fy, rr, grip, slope = 0.0
    for k in range(m):
        fx = w.F[2 * k]
        fy = w.F[2 * k + 1]
        rr = w.R[k] * w.R[k]
        grip = rr / (w.eps[k] + sqrt(w.eps[k] * w.eps[k] + rr * (fx * fx + fy * fy))) + w.al[k]
        w.grad[2 * k] = c.x[2 * k + 2] - c.x[2 * k] - grip * fx
        w.grad[2 * k + 1] = c.x[2 * k + 3] - c.x[2 * k + 1] - grip * fy
        slope -= w.grad[2 * k] * w.r[2 * k] + w.grad[2 * k + 1] * w.r[2 * k + 1]
    return slope


cdef inline void chain_dual_newton(Chain* c, ChainWork* w) noexcept nogil:
    """Newton direction of the dual into r from its gradient: symmetric positive 2 x 2 blocks."""
    cdef int k, m = c.n - 1
    cdef double fx, fy, rr, big, q, h00, h01, h11, a00, a01, a11, inv, b0, b1
    cdef double z00 = 0.0, z01 = 0.0, z10 = 0.0, z11 = 0.0, r0 = 0.0, r1 = 0.0
    cdef double* W = c.W
    for k in range(m):
        fx = w.F[2 * k]
        fy = w.F[2 * k + 1]
        rr = w.R[k] * w.R[k]
        big = sqrt(w.eps[k] * w.eps[k] + rr * (fx * fx + fy * fy))
        h11 = rr / (w.eps[k] + big)
        q = h11 * h11 / (big + 1e-300)
        h00 = h11 - q * fx * fx + w.al[k] + W[3 * k] + W[3 * k + 3]
        h01 = -q * fx * fy + W[3 * k + 1] + W[3 * k + 4]
        h11 = h11 - q * fy * fy + w.al[k] + W[3 * k + 2] + W[3 * k + 5]
        b0 = w.grad[2 * k]
        b1 = w.grad[2 * k + 1]
        if chain_held(c, k):
            h00 = h11 = 1.0
            h01 = b0 = b1 = 0.0
        # z = D'^-1 W of the row before; this row's lower block is -W_k
        h00 -= W[3 * k] * z00 + W[3 * k + 1] * z10
        h01 -= W[3 * k] * z01 + W[3 * k + 1] * z11
        h11 -= W[3 * k + 1] * z01 + W[3 * k + 2] * z11
        b0 += W[3 * k] * r0 + W[3 * k + 1] * r1
        b1 += W[3 * k + 1] * r0 + W[3 * k + 2] * r1
        inv = h00 * h11 - h01 * h01
        inv = 1.0 / inv if inv > 1e-300 else 0.0
        r0 = (h11 * b0 - h01 * b1) * inv
        r1 = (h00 * b1 - h01 * b0) * inv
        a00 = W[3 * k + 3]
        a01 = W[3 * k + 4]
        a11 = W[3 * k + 5]
        z00 = (h11 * a00 - h01 * a01) * inv
        z01 = (h11 * a01 - h01 * a11) * inv
        z10 = (h00 * a01 - h01 * a00) * inv
        z11 = (h00 * a11 - h01 * a01) * inv
        w.r[2 * k] = r0
        w.r[2 * k + 1] = r1
        w.g[4 * k] = z00
        w.g[4 * k + 1] = z01
        w.g[4 * k + 2] = z10
        w.g[4 * k + 3] = z11
    for k in range(m - 2, -1, -1):
        w.r[2 * k] += w.g[4 * k] * w.r[2 * k + 2] + w.g[4 * k + 1] * w.r[2 * k + 3]
        w.r[2 * k + 1] += w.g[4 * k + 2] * w.r[2 * k + 2] + w.g[4 * k + 3] * w.r[2 * k + 3]


cdef inline void chain_project(Chain* c, ChainWork* w, int limit) noexcept nogil:
    """Nearest pose (in mass) whose links are no longer than R: convex, so it can only lose energy.

    Dual in F: minimise 1/2 F.A F - F.q + sum of support functions of the discs, smoothed by the logarithmic
    barrier p(F) = R^2 F / (eps + sqrt(eps^2 + R^2 F^2)) whose eps shrinks (interior point; Boyd and
    Vandenberghe 2004, 11).
    """
    cdef int k, m = c.n - 1, i, trial
    cdef double before, after, step, level = 1.0, scale, error
    cdef double* W = c.W
    for k in range(m):
        scale = W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5]
        w.d[k] = (w.R[k] * w.R[k] + 1e-24) / (scale + 1e-30)
        w.F[2 * k] = 0.0
        w.F[2 * k + 1] = 0.0
        w.r[2 * k] = 0.0
        w.r[2 * k + 1] = 0.0
    chain_apply(c, w)
    for i in range(limit):
        for k in range(m):
            w.eps[k] = w.d[k] * level
        chain_dual_residual(c, w)
        chain_dual_newton(c, w)
        before = chain_dual_residual(c, w)
        step = 1.0
        for k in range(2 * m):
            w.F[k] += w.r[k]
        for trial in range(6):
            chain_apply(c, w)
            after = chain_dual_residual(c, w)
            if after <= -0.1 * before:
                break
            scale = step * before / (before - after)
            for k in range(2 * m):
                w.F[k] -= (step - scale) * w.r[k]
            step = scale
        c.passes += 1
        if step > 0.5:
            if level <= 1e-8:
                break
            level *= 0.1
    chain_geometry(m, c.x, w.u, w.s)
    c.residual = 0.0
    for k in range(m):
        c.lam[k] = w.F[2 * k] * w.u[2 * k] + w.F[2 * k + 1] * w.u[2 * k + 1]
        if chain_held(c, k):
            continue
        error = w.s[k] - w.R[k] - w.al[k] * c.lam[k]
        if error > c.residual * c.rest[k]:
            c.residual = error / (c.rest[k] + 1e-30)
