"""The fast way for a rope in calm motion: fixed directions, light enough tension, lengths near right.

Same equations as chain_pass_explicit in chainpass.pxd, over rows of plain numbers so that compilers use
vector instructions, and with the tridiagonal system eliminated from both ends at once: two short chains of
divisions instead of one long one.
"""

from libc.math cimport fabs, sqrt

from chainwork cimport Chain, chain_wound

cdef extern from *:
    """
    #if defined(_MSC_VER)
    typedef double* __restrict softkit_row;
    #else
    typedef double* __restrict__ softkit_row;
    #endif
    """
    ctypedef double* row "softkit_row"

cdef enum:
    CALM_PASSES = 3        # more than that is not calm


cdef inline void calm_read(int n, const double* nodes, double ox, double oy, row x, row y) noexcept nogil:
    cdef int k
    for k in range(n):
        x[k] = nodes[2 * k] - ox
        y[k] = nodes[2 * k + 1] - oy


cdef inline void calm_masses(int n, const double* W, row wa, row wb, row wc) noexcept nogil:
    cdef int k
    for k in range(n):
        wa[k] = W[3 * k]
        wb[k] = W[3 * k + 1]
        wc[k] = W[3 * k + 2]


cdef inline void calm_start(int m, row zx, row zy, row wa, row wc, row rest, row lam, double compliance,
                            double keep, row ex, row ey, row al, row target, row off,
                            row stiff) noexcept nogil:
    """Directions at the start, compliances, lengths to reach; how far from calm each link is."""
    cdef int k
    cdef double px, py, s, d, mobile
    for k in range(m):
        px = zx[k + 1] - zx[k]
        py = zy[k + 1] - zy[k]
        s = sqrt(px * px + py * py)
        d = 1.0 / s
        ex[k] = px * d
        ey[k] = py * d
        mobile = wa[k] + wc[k] + wa[k + 1] + wc[k + 1]
        d = 1e-10 * mobile
        al[k] = (compliance if compliance > d else d) + 1e-300
        d = s - rest[k] - compliance * lam[k]
        target[k] = rest[k] + keep * d
        off[k] = fabs(d) - 5e-4 * rest[k]
        stiff[k] = lam[k] * mobile - s


cdef inline void calm_pull(int m, row lam, row ex, row ey, row tx, row ty) noexcept nogil:
    cdef int k
    for k in range(m):
        tx[k] = lam[k] * ex[k]
        ty[k] = lam[k] * ey[k]


cdef inline void calm_apply(int n, row tx, row ty, row wa, row wb, row wc, row yx, row yy, row x,
                            row y) noexcept nogil:
    """x = y + W f with f the differences of the pulls; tx[-1] = tx[n - 1] = 0."""
    cdef int k
    cdef double fx, fy
    for k in range(n):
        fx = tx[k] - tx[k - 1]
        fy = ty[k] - ty[k - 1]
        x[k] = yx[k] + (wa[k] * fx + wb[k] * fy)
        y[k] = yy[k] + (wb[k] * fx + wc[k] * fy)


cdef inline void calm_rows(int m, row x, row y, row wa, row wb, row wc, row ex, row ey, row lam, row al,
                           row target, row r, row d, row below, row above) noexcept nogil:
    """Residual and matrix rows: d on lam_k, -below on lam_{k-1}, -above on lam_{k+1}; ex[-1] = ex[m] = 0."""
    cdef int k
    cdef double px, py, s, ux, uy, ax, ay, bx, by
    for k in range(m):
        px = x[k + 1] - x[k]
        py = y[k + 1] - y[k]
        s = sqrt(px * px + py * py)
        ux = 1.0 / s
        uy = py * ux
        ux = px * ux
        ax = wa[k] * ux + wb[k] * uy
        ay = wb[k] * ux + wc[k] * uy
        bx = wa[k + 1] * ux + wb[k + 1] * uy
        by = wb[k + 1] * ux + wc[k + 1] * uy
        r[k] = s - target[k] - al[k] * lam[k]
        d[k] = (ax + bx) * ex[k] + (ay + by) * ey[k] + al[k]
        below[k] = ax * ex[k - 1] + ay * ey[k - 1]
        above[k] = bx * ex[k + 1] + by * ey[k + 1]


cdef inline void calm_errors(int m, row x, row y, row lam, row al, row target, double floor,
                             row r) noexcept nogil:
    """|C| minus what is tolerated."""
    cdef int k
    cdef double px, py
    for k in range(m):
        px = x[k + 1] - x[k]
        py = y[k + 1] - y[k]
        r[k] = fabs(sqrt(px * px + py * py) - target[k] - al[k] * lam[k]) - 1e-9 * (target[k] + floor)


cdef inline int calm_eliminate(int m, row r, row d, row below, row above, row g, row lam) noexcept nogil:
    """Solve the tridiagonal system from both ends to the middle and back, adding the solution to lam."""
    cdef int k, i, j, c = m // 2, pairs
    cdef double ia, ib, ra = 0.0, rb = 0.0, ga = 0.0, gb = 0.0, da, db
    pairs = c if m - 1 - c >= c else m - 1 - c
    for k in range(pairs):
        j = m - 1 - k
        ia = d[k] - below[k] * ga
        ib = d[j] - above[j] * gb
        if not (ia > 0.0 and ib > 0.0):
            return 0
        ia = 1.0 / ia
        ib = 1.0 / ib
        ra = (r[k] + below[k] * ra) * ia
        rb = (r[j] + above[j] * rb) * ib
        ga = above[k] * ia
        gb = below[j] * ib
        r[k] = ra
        r[j] = rb
        g[k] = ga
        g[j] = gb
    for k in range(pairs, c):
        ia = d[k] - below[k] * ga
        if not ia > 0.0:
            return 0
        ia = 1.0 / ia
        ra = (r[k] + below[k] * ra) * ia
        ga = above[k] * ia
        r[k] = ra
        g[k] = ga
    ia = d[c] - below[c] * ga - above[c] * gb
    if not ia > 0.0:
        return 0
    da = (r[c] + below[c] * ra + above[c] * rb) / ia
    lam[c] += da
    db = da
    for k in range(c - pairs):
        i = c - 1 - k
        da = r[i] + g[i] * da
        lam[i] += da
    for k in range(pairs):
        i = pairs - 1 - k
        j = m - pairs + k
        da = r[i] + g[i] * da
        db = r[j] + g[j] * db
        lam[i] += da
        lam[j] += db
    return 1


cdef inline double calm_work(int m, row tx, row ty, row x, row y, row yx, row yy, row zx,
                             row zy) noexcept nogil:
    """Work of the pulls over the substep (times h^2), in two running sums."""
    cdef int k
    cdef double even = 0.0, odd = 0.0
    for k in range(m):
        even -= tx[k] * (0.5 * (x[k + 1] - x[k] + yx[k + 1] - yx[k]) - (zx[k + 1] - zx[k]))
        odd -= ty[k] * (0.5 * (y[k + 1] - y[k] + yy[k + 1] - yy[k]) - (zy[k + 1] - zy[k]))
    return even + odd


cdef inline double calm_kinetic(int n, row yx, row yy, row zx, row zy, row wa, row wc) noexcept nogil:
    """A lower bound of the prediction's kinetic energy (times h^2), free nodes only."""
    cdef int k
    cdef double total = 0.0, dx, dy
    for k in range(n):
        if wa[k] + wc[k] > 0.0:
            dx = yx[k] - zx[k]
            dy = yy[k] - zy[k]
            total += 0.5 * (dx * dx + dy * dy) / (wa[k] + wc[k])
    return total


cdef inline int calm_any(int m, row r) noexcept nogil:
    """Is any of these above zero (or not a number)?"""
    cdef int k
    for k in range(m):
        if not r[k] <= 0.0:
            return 1
    return 0


cdef inline void calm_write(Chain* c, double h, double ox, double oy, row x, row y, row zx, row zy, row tx,
                            row ty, row lam) noexcept nogil:
    cdef int k
    cdef double inv = 1.0 / h
    for k in range(c.n):
        c.x[2 * k] = x[k] + ox
        c.x[2 * k + 1] = y[k] + oy
        c.v[2 * k] = (x[k] - zx[k]) * inv
        c.v[2 * k + 1] = (y[k] - zy[k]) * inv
        c.f[2 * k] = tx[k] - tx[k - 1]
        c.f[2 * k + 1] = ty[k] - ty[k - 1]
    for k in range(c.n - 1):
        c.lam[k] = lam[k]


cdef inline int chain_calm(Chain* c, double h, double floor) noexcept nogil:
    """Solve the substep if it is calm: 1 when done; 0 when not, and then only the scratch has changed."""
    cdef int n = c.n, m = c.n - 1, step = c.n + 2, passes = 0, k
    cdef double ox = c.x0[0], oy = c.x0[1], compliance = c.stretch_compliance / (h * h), work
    cdef double* p = c.scratch + 1
    cdef double* yx = p
    cdef double* yy = p + step
    cdef double* zx = p + 2 * step
    cdef double* zy = p + 3 * step
    cdef double* x = p + 4 * step
    cdef double* y = p + 5 * step
    cdef double* wa = p + 6 * step
    cdef double* wb = p + 7 * step
    cdef double* wc = p + 8 * step
    cdef double* ex = p + 9 * step
    cdef double* ey = p + 10 * step
    cdef double* tx = p + 11 * step
    cdef double* ty = p + 12 * step
    cdef double* r = p + 13 * step
    cdef double* d = p + 14 * step
    cdef double* below = p + 15 * step
    cdef double* above = p + 16 * step
    cdef double* g = p + 17 * step
    cdef double* al = p + 18 * step
    cdef double* target = p + 19 * step
    cdef double* lam = p + 20 * step
    calm_read(n, c.x, ox, oy, yx, yy)
    calm_read(n, c.x0, ox, oy, zx, zy)
    calm_masses(n, c.W, wa, wb, wc)
    ex[m] = ey[m] = tx[m] = ty[m] = 0.0
    (ex - 1)[0] = (ey - 1)[0] = (tx - 1)[0] = (ty - 1)[0] = 0.0
    for k in range(m):
        lam[k] = c.lam[k]
    calm_start(m, zx, zy, wa, wc, c.rest, lam, compliance, 1.0 - c.settle, ex, ey, al, target, r, d)
    if calm_any(m, r) or calm_any(m, d):
        return 0
    calm_pull(m, lam, ex, ey, tx, ty)
    calm_apply(n, tx, ty, wa, wb, wc, yx, yy, x, y)
    while True:
        calm_rows(m, x, y, wa, wb, wc, ex, ey, lam, al, target, r, d, below, above)
        if not calm_eliminate(m, r, d, below, above, g, lam):
            return 0
        calm_pull(m, lam, ex, ey, tx, ty)
        calm_apply(n, tx, ty, wa, wb, wc, yx, yy, x, y)
        passes += 1
        calm_errors(m, x, y, lam, al, target, floor, r)
        if not calm_any(m, r):
            break
        if passes >= CALM_PASSES:
            return 0
    work = calm_work(m, tx, ty, x, y, yx, yy, zx, zy) - chain_wound(c, lam)
    if c.stretch_compliance > 0.0:
        for k in range(m):
            work += 0.5 * compliance * (lam[k] * lam[k] - c.lam[k] * c.lam[k])
    if work > 0.0 and work > 0.003 * calm_kinetic(n, yx, yy, zx, zy, wa, wc) + 1e-30:
        return 0
    calm_write(c, h, ox, oy, x, y, zx, zy, tx, ty, lam)
    c.passes = passes
    return 1
