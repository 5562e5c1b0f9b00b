"""Newton passes of a limp rope's links: with fixed directions, and with directions that follow the coming
pose.
"""

from libc.math cimport fabs

from chainwork cimport Chain, ChainWork, chain_apply, chain_held


cdef inline void chain_pass_explicit(Chain* c, ChainWork* w) noexcept nogil:
    """One Newton pass with fixed directions: tridiagonal in lam."""
    cdef int k, m = c.n - 1
    cdef double ux, uy, ex, ey, vx, vy, d, off, g, r, inv, dl
    cdef double* W = c.W
    for k in range(m):
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        ex = w.e[2 * k]
        ey = w.e[2 * k + 1]
        vx = (W[3 * k] + W[3 * k + 3]) * ux + (W[3 * k + 1] + W[3 * k + 4]) * uy
        vy = (W[3 * k + 1] + W[3 * k + 4]) * ux + (W[3 * k + 2] + W[3 * k + 5]) * uy
        d = vx * ex + vy * ey
        w.r[k] = w.s[k] - w.l[k] - w.al[k] * c.lam[k]
        off = 1e-9 * (vx * ux + vy * uy)
        w.d[k] = (d if d > off else off) + w.al[k]
        if chain_held(c, k):
            w.r[k] = w.b[2 * k] = w.b[2 * k + 1] = 0.0
            continue
        # row k: b[2k] on lam_{k-1} through node k, b[2k+1] on lam_{k+1} through node k + 1
        w.b[2 * k] = 0.0
        w.b[2 * k + 1] = 0.0
        if k > 0:
            vx = W[3 * k] * ux + W[3 * k + 1] * uy
            vy = W[3 * k + 1] * ux + W[3 * k + 2] * uy
            w.b[2 * k] = vx * w.e[2 * k - 2] + vy * w.e[2 * k - 1]
        if k < m - 1:
            vx = W[3 * k + 3] * ux + W[3 * k + 4] * uy
            vy = W[3 * k + 4] * ux + W[3 * k + 5] * uy
            w.b[2 * k + 1] = vx * w.e[2 * k + 2] + vy * w.e[2 * k + 3]
    g = 0.0
    r = 0.0
    for k in range(m):
        d = w.d[k] - w.b[2 * k] * g
        inv = 1.0 / d
        r = (w.r[k] + w.b[2 * k] * r) * inv
        g = w.b[2 * k + 1] * inv
        w.r[k] = r
        w.g[k] = g
    dl = 0.0
    for k in range(m - 1, -1, -1):
        dl = w.r[k] + w.g[k] * dl
        c.lam[k] += dl
        w.F[2 * k] = c.lam[k] * w.e[2 * k]
        w.F[2 * k + 1] = c.lam[k] * w.e[2 * k + 1]
    chain_apply(c, w)


cdef inline void chain_rows(Chain* c, ChainWork* w, int oneside) noexcept nogil:
    """Block rows of chain_pass_implicit: own block, the one before, the one after, right side (4 + 4 + 4 +
    2).
    """
    cdef int k
    cdef double ux, uy, gu, et, lam, s, sxx, sxy, syy, vx, vy, zx, zy
    cdef double* W = c.W
    cdef double* b
    for k in range(c.n - 1):
        b = w.block + 14 * k
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        gu = ux * w.e[2 * k] + uy * w.e[2 * k + 1] + w.a[k]
        gu = gu if gu > 0.1 else 0.1
        et = -uy * w.e[2 * k] + ux * w.e[2 * k + 1]
        lam = c.lam[k]
        s = w.a[k] * lam / (w.s[k] + 1e-30) if lam > 0.0 else 0.0
        sxx = W[3 * k] + W[3 * k + 3]
        sxy = W[3 * k + 1] + W[3 * k + 4]
        syy = W[3 * k + 2] + W[3 * k + 5]
        if oneside and lam * (sxx + syy) + w.s[k] - w.l[k] <= 0.0:
            b[0] = b[3] = 1.0
            b[1] = b[2] = b[4] = b[5] = b[6] = b[7] = b[8] = b[9] = b[10] = b[11] = 0.0
            b[12] = -w.F[2 * k]
            b[13] = -w.F[2 * k + 1]
            continue
        vx = sxx * ux + sxy * uy
        vy = sxy * ux + syy * uy
        zx = -sxx * uy + sxy * ux
        zy = -sxy * uy + syy * ux
        b[0] = vx + w.al[k] / gu * ux
        b[1] = vy + w.al[k] / gu * uy
        b[2] = -uy - et / gu * ux + s * zx
        b[3] = ux - et / gu * uy + s * zy
        b[12] = w.s[k] - w.l[k] - w.al[k] * lam
        b[13] = et * lam - (-uy * w.F[2 * k] + ux * w.F[2 * k + 1])
        if sxx + syy <= 0.0:
            b[0] = ux
            b[1] = uy
            b[12] = 0.0
        b[4] = W[3 * k] * ux + W[3 * k + 1] * uy
        b[5] = W[3 * k + 1] * ux + W[3 * k + 2] * uy
        b[6] = s * (-W[3 * k] * uy + W[3 * k + 1] * ux)
        b[7] = s * (-W[3 * k + 1] * uy + W[3 * k + 2] * ux)
        b[8] = vx - b[4]
        b[9] = vy - b[5]
        b[10] = s * zx - b[6]
        b[11] = s * zy - b[7]


cdef inline void chain_block_step(double* b, int towards, int beyond, double* s) noexcept nogil:
    """Eliminate a neighbour, s = (D^-1 U, h), from a row whose coupling to it is at b[towards]; s becomes
    this row's.

    The block of the other neighbour, b[beyond], is replaced by D^-1 times itself, the right side by h.
    """
    cdef double* t = b + towards
    cdef double* u = b + beyond
    cdef double d00 = b[0] - (t[0] * s[0] + t[1] * s[2]), d01 = b[1] - (t[0] * s[1] + t[1] * s[3])
    cdef double d10 = b[2] - (t[2] * s[0] + t[3] * s[2]), d11 = b[3] - (t[2] * s[1] + t[3] * s[3])
    cdef double r0 = b[12] + (t[0] * s[4] + t[1] * s[5]), r1 = b[13] + (t[2] * s[4] + t[3] * s[5])
    cdef double inv = d00 * d11 - d01 * d10
    inv = 1.0 / inv if fabs(inv) > 1e-300 else 0.0
    s[0] = (d11 * u[0] - d01 * u[2]) * inv
    s[1] = (d11 * u[1] - d01 * u[3]) * inv
    s[2] = (d00 * u[2] - d10 * u[0]) * inv
    s[3] = (d00 * u[3] - d10 * u[1]) * inv
    s[4] = (d11 * r0 - d01 * r1) * inv
    s[5] = (d00 * r1 - d10 * r0) * inv
    u[0] = s[0]
    u[1] = s[1]
    u[2] = s[2]
    u[3] = s[3]
    b[12] = s[4]
    b[13] = s[5]


cdef inline void chain_block_back(const double* b, int beyond, double* q, double* F) noexcept nogil:
    """The solution q of one row from that of the row beyond it; added to F."""
    cdef const double* u = b + beyond
    cdef double q0 = b[12] + (u[0] * q[0] + u[1] * q[1])
    q[1] = b[13] + (u[2] * q[0] + u[3] * q[1])
    q[0] = q0
    F[0] += q[0]
    F[1] += q[1]


cdef inline void chain_block_solve(ChainWork* w, int m) noexcept nogil:
    """Solve the rows from both ends to the middle and back, adding the solution to F: two chains of
    divisions side by side take half the time of one."""
    cdef int k, c = m // 2
    cdef double left[6]
    cdef double right[6]
    cdef double* b
    for k in range(6):
        left[k] = right[k] = 0.0
    for k in range(m - 1 - c):
        chain_block_step(w.block + 14 * k, 4, 8, left)
        chain_block_step(w.block + 14 * (m - 1 - k), 8, 4, right)
    for k in range(m - 1 - c, c):
        chain_block_step(w.block + 14 * k, 4, 8, left)
    b = w.block + 14 * c
    b[0] -= b[8] * right[0] + b[9] * right[2]
    b[1] -= b[8] * right[1] + b[9] * right[3]
    b[2] -= b[10] * right[0] + b[11] * right[2]
    b[3] -= b[10] * right[1] + b[11] * right[3]
    b[12] += b[8] * right[4] + b[9] * right[5]
    b[13] += b[10] * right[4] + b[11] * right[5]
    chain_block_step(b, 4, 8, left)
    w.F[2 * c] += b[12]
    w.F[2 * c + 1] += b[13]
    left[0] = right[0] = b[12]
    left[1] = right[1] = b[13]
    for k in range(c):
        chain_block_back(w.block + 14 * (c - 1 - k), 8, left, w.F + 2 * (c - 1 - k))
        if c + 1 + k < m:
            chain_block_back(w.block + 14 * (c + 1 + k), 4, right, w.F + 2 * (c + 1 + k))


cdef inline void chain_pass_implicit(Chain* c, ChainWork* w, int oneside) noexcept nogil:
    """One Newton pass with directions that follow the coming pose: 2 x 2 blocks in F.

    Row 1: u . dp - alpha dlam = -C; row 2: dF_t = (e_t / g) dF_u + s dp_t with g = e_u + a and s = a lam /
    |p|. One-sided: a link that neither pulls nor is too long gets F = 0. lam must belong to F and the
    present pose.
    """
    chain_rows(c, w, oneside)
    chain_block_solve(w, c.n - 1)
    chain_apply(c, w)
