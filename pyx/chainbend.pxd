"""Bending of a stiff rope, solved together with its links."""

from libc.math cimport fabs, sqrt

from chainwork cimport Chain, ChainWork, chain_apply, chain_held


cdef inline void chain_moments(Chain* c, ChainWork* w) noexcept nogil:
    """Bending moment M and its slope K at the joint before each link (times h^2), from the present
    directions.

    M = 2 k sin(turn / 2), energy 4 k (1 - cos(turn / 2)), k = B / (half of either link): grows up to a full
    fold. A link held at both ends is a clamp and adds no length of its own, so that a cantilever converges
    with the square of n.
    """
    cdef int k, m = c.n - 1
    cdef double half, last = 0.0, cross, dot, cosine, stiff
    w.moment[0] = 0.0
    w.slope[0] = 0.0
    w.moment[m] = 0.0
    w.slope[m] = 0.0
    for k in range(m):
        half = 0.5 * c.rest[k]
        if chain_held(c, k):
            half = 0.0
        if k > 0:
            cross = w.u[2 * k - 2] * w.u[2 * k + 1] - w.u[2 * k - 1] * w.u[2 * k]
            dot = w.u[2 * k - 2] * w.u[2 * k] + w.u[2 * k - 1] * w.u[2 * k + 1]
            cosine = sqrt(0.5 * (1.0 + dot)) if dot > -1.0 else 0.0
            stiff = last + half
            stiff = c.bend_stiffness * w.h2 / stiff if stiff > 0.0 else 0.0
            w.moment[k] = stiff * (cross / cosine if cosine > 1e-6 else (2.0 if cross >= 0.0 else -2.0))
            w.slope[k] = stiff * cosine
        last = half


cdef inline double chain_bend_energy(Chain* c, ChainWork* w) noexcept nogil:
    """Bending energy (times h^2) of the present directions."""
    cdef int k, m = c.n - 1
    cdef double half, last = 0.0, dot, cosine, stiff, total = 0.0
    for k in range(m):
        half = 0.5 * c.rest[k]
        if chain_held(c, k):
            half = 0.0
        stiff = last + half
        if k > 0 and stiff > 0.0:
            dot = w.u[2 * k - 2] * w.u[2 * k] + w.u[2 * k - 1] * w.u[2 * k + 1]
            cosine = sqrt(0.5 * (1.0 + dot)) if dot > -1.0 else 0.0
            total += 4.0 * c.bend_stiffness * w.h2 / stiff * (1.0 - cosine)
        last = half
    return total


cdef inline double chain_stored(Chain* c, ChainWork* w) noexcept nogil:
    """Elastic energy (times h^2) of the present lengths and directions."""
    cdef int k
    cdef double total = 0.0, d
    if c.stretch_compliance > 0.0:
        for k in range(c.n - 1):
            d = w.s[k] - c.rest[k]
            total += 0.5 * d * d / w.al[k]
    if c.bend_stiffness > 0.0:
        total += chain_bend_energy(c, w)
    return total


cdef inline void chain_bend_rows(Chain* c, ChainWork* w, int oneside) noexcept nogil:
    """Rows of chain_pass_bend: own 3 x 3 block, then what couples to the link before and the link after,
    right sides.

    Before: rows [-b9 -b10 0], [0 0 b13], [b11 b12 0]; after: [b14 b15 0], [0 0 b18], [b16 b17 0].
    """
    cdef int k
    cdef double ux, uy, gu, et, lam, size, sxx, sxy, syy
    cdef double* W = c.W
    cdef double* b
    for k in range(c.n - 1):
        b = w.block + 22 * k
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        size = w.s[k] + 1e-30
        gu = ux * w.e[2 * k] + uy * w.e[2 * k + 1] + w.a[k]
        gu = gu if gu > 0.1 else 0.1
        et = -uy * w.e[2 * k] + ux * w.e[2 * k + 1]
        lam = c.lam[k]
        sxx = W[3 * k] + W[3 * k + 3]
        sxy = W[3 * k + 1] + W[3 * k + 4]
        syy = W[3 * k + 2] + W[3 * k + 5]
        b[13] = w.slope[k] / size
        b[18] = w.slope[k + 1] / size
        b[0] = sxx * ux + sxy * uy + w.al[k] / gu * ux
        b[1] = sxy * ux + syy * uy + w.al[k] / gu * uy
        b[2] = 0.0
        b[3] = -uy - et / gu * ux
        b[4] = ux - et / gu * uy
        b[5] = -(w.a[k] * lam if lam > 0.0 else 0.0) - b[13] - b[18]
        b[6] = sxx * uy - sxy * ux
        b[7] = sxy * uy - syy * ux
        b[8] = -size
        b[9] = W[3 * k] * ux + W[3 * k + 1] * uy
        b[10] = W[3 * k + 1] * ux + W[3 * k + 2] * uy
        b[11] = -W[3 * k] * uy + W[3 * k + 1] * ux
        b[12] = -W[3 * k + 1] * uy + W[3 * k + 2] * ux
        b[14] = -(W[3 * k + 3] * ux + W[3 * k + 4] * uy)
        b[15] = -(W[3 * k + 4] * ux + W[3 * k + 5] * uy)
        b[16] = -W[3 * k + 3] * uy + W[3 * k + 4] * ux
        b[17] = -W[3 * k + 4] * uy + W[3 * k + 5] * ux
        b[19] = w.s[k] - w.l[k] - w.al[k] * lam
        b[20] = (et * lam + (w.moment[k] - w.moment[k + 1]) / size
                 - (-uy * w.F[2 * k] + ux * w.F[2 * k + 1]))
        b[21] = 0.0
        if sxx + syy <= 0.0:
            b[0] = ux
            b[1] = uy
            b[19] = 0.0
        elif oneside and lam * (sxx + syy) + w.s[k] - w.l[k] <= 0.0:
            b[0] = ux
            b[1] = uy
            b[9] = b[10] = b[14] = b[15] = 0.0
            b[19] = -lam * gu


cdef inline void chain_bend_step(double* b, const double* g, double* h) noexcept nogil:
    """Eliminate the link before (its g = D^-1 U and h) from this link's rows; b[0..8] and h become this
    link's own.
    """
    cdef double d0, d1, d2, d3, d4, d5, d6, d7, d8, r0, r1, r2, inv
    cdef double i0, i1, i2, i3, i4, i5, i6, i7, i8
    d0 = b[0] + (b[9] * g[0] + b[10] * g[3])
    d1 = b[1] + (b[9] * g[1] + b[10] * g[4])
    d2 = b[2] + (b[9] * g[2] + b[10] * g[5])
    d3 = b[3] - b[13] * g[6]
    d4 = b[4] - b[13] * g[7]
    d5 = b[5] - b[13] * g[8]
    d6 = b[6] - (b[11] * g[0] + b[12] * g[3])
    d7 = b[7] - (b[11] * g[1] + b[12] * g[4])
    d8 = b[8] - (b[11] * g[2] + b[12] * g[5])
    r0 = b[19] + (b[9] * h[0] + b[10] * h[1])
    r1 = b[20] - b[13] * h[2]
    r2 = b[21] - (b[11] * h[0] + b[12] * h[1])
    i0 = d4 * d8 - d5 * d7
    i1 = d2 * d7 - d1 * d8
    i2 = d1 * d5 - d2 * d4
    i3 = d5 * d6 - d3 * d8
    i4 = d0 * d8 - d2 * d6
    i5 = d2 * d3 - d0 * d5
    i6 = d3 * d7 - d4 * d6
    i7 = d1 * d6 - d0 * d7
    i8 = d0 * d4 - d1 * d3
    inv = d0 * i0 + d1 * i3 + d2 * i6
    inv = 1.0 / inv if fabs(inv) > 1e-300 else 0.0
    h[0] = (i0 * r0 + i1 * r1 + i2 * r2) * inv
    h[1] = (i3 * r0 + i4 * r1 + i5 * r2) * inv
    h[2] = (i6 * r0 + i7 * r1 + i8 * r2) * inv
    b[0] = (i0 * b[14] + i2 * b[16]) * inv
    b[1] = (i0 * b[15] + i2 * b[17]) * inv
    b[2] = i1 * b[18] * inv
    b[3] = (i3 * b[14] + i5 * b[16]) * inv
    b[4] = (i3 * b[15] + i5 * b[17]) * inv
    b[5] = i4 * b[18] * inv
    b[6] = (i6 * b[14] + i8 * b[16]) * inv
    b[7] = (i6 * b[15] + i8 * b[17]) * inv
    b[8] = i7 * b[18] * inv


cdef inline int chain_pass_bend(Chain* c, ChainWork* w, int oneside) noexcept nogil:
    """One Newton pass with bending: 3 x 3 blocks in F and the turn of the link, all joints and links at once.

    Rows: u . dp - alpha dlam = -C; dF_t = (e_t / g) dF_u + s dp_t + change of (M_k - M_{k+1}) / |p|;
    turn = t . dp / |p|. Returns 1 when no link turned by more than 1e-4.
    """
    cdef int k, m = c.n - 1
    cdef double r0, r1, r2, turn = 0.0
    cdef double h[3]
    cdef double first[9]
    cdef double* g = first
    cdef double* b
    chain_moments(c, w)
    chain_bend_rows(c, w, oneside)
    for k in range(9):
        first[k] = 0.0
    h[0] = h[1] = h[2] = 0.0
    for k in range(m):
        b = w.block + 22 * k
        chain_bend_step(b, g, h)
        b[19] = h[0]
        b[20] = h[1]
        b[21] = h[2]
        g = b
    r0 = r1 = r2 = 0.0
    for k in range(m - 1, -1, -1):
        b = w.block + 22 * k
        h[0] = b[19] - (b[0] * r0 + b[1] * r1 + b[2] * r2)
        h[1] = b[20] - (b[3] * r0 + b[4] * r1 + b[5] * r2)
        h[2] = b[21] - (b[6] * r0 + b[7] * r1 + b[8] * r2)
        r0 = h[0]
        r1 = h[1]
        r2 = h[2]
        turn = fabs(r2) if fabs(r2) > turn else turn
        w.F[2 * k] += r0
        w.F[2 * k + 1] += r1
    chain_apply(c, w)
    return turn < 1e-4
