# A rope's links once more: corrections after the main solve of a substep, and what a node weighs at the end of links.
from libc.math cimport sqrt

from chain cimport Chain


cdef inline void chain_correct(Chain* c, double h) noexcept nogil:
    # One Newton pass on what is left of C_k = |p_k| - rest_k - alpha lam_k after contacts, bodies or other ropes moved
    # the nodes: directions at the start of the substep push, directions now measure (see chain.pxd), tridiagonal in the
    # change of lam. f gets the impulses of this pass alone.
    cdef int k, n = c.n, m = c.n - 1
    cdef double* W = c.W
    cdef double* e = c.scratch
    cdef double* u = c.scratch + 2 * n
    cdef double* r = c.scratch + 4 * n
    cdef double* g = c.scratch + 5 * n
    cdef double alpha = c.stretch_compliance / (h * h)
    cdef double px, py, s, vx, vy, d, low, left, right, held = 0.0, back = 0.0, fx, fy, lx = 0.0, ly = 0.0
    for k in range(m):
        px = c.x[2 * k + 2] - c.x[2 * k]
        py = c.x[2 * k + 3] - c.x[2 * k + 1]
        s = sqrt(px * px + py * py)
        r[k] = s - c.rest[k] - alpha * c.lam[k]
        s = 1.0 / s if s > 1e-30 else 0.0
        u[2 * k] = px * s
        u[2 * k + 1] = py * s
        px = c.x0[2 * k + 2] - c.x0[2 * k]
        py = c.x0[2 * k + 3] - c.x0[2 * k + 1]
        s = sqrt(px * px + py * py)
        s = 1.0 / s if s > 1e-30 else 0.0
        e[2 * k] = px * s
        e[2 * k + 1] = py * s
        if e[2 * k] * u[2 * k] + e[2 * k + 1] * u[2 * k + 1] < 0.7:
            e[2 * k] = u[2 * k]
            e[2 * k + 1] = u[2 * k + 1]
    for k in range(m):
        vx = (W[3 * k] + W[3 * k + 3]) * u[2 * k] + (W[3 * k + 1] + W[3 * k + 4]) * u[2 * k + 1]
        vy = (W[3 * k + 1] + W[3 * k + 4]) * u[2 * k] + (W[3 * k + 2] + W[3 * k + 5]) * u[2 * k + 1]
        d = vx * e[2 * k] + vy * e[2 * k + 1]
        low = 1e-6 * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
        d = (d if d > low else low) + alpha + 1e-300
        left = right = 0.0
        if k > 0:
            vx = W[3 * k] * u[2 * k] + W[3 * k + 1] * u[2 * k + 1]
            vy = W[3 * k + 1] * u[2 * k] + W[3 * k + 2] * u[2 * k + 1]
            left = vx * e[2 * k - 2] + vy * e[2 * k - 1]
        if k < m - 1:
            vx = W[3 * k + 3] * u[2 * k] + W[3 * k + 4] * u[2 * k + 1]
            vy = W[3 * k + 4] * u[2 * k] + W[3 * k + 5] * u[2 * k + 1]
            right = vx * e[2 * k + 2] + vy * e[2 * k + 3]
        s = d - left * held
        s = s if s > 1e-9 * d else 1e-9 * d
        back = (r[k] + left * back) / s
        held = right / s
        if d <= 2e-300:
            back = held = 0.0
        r[k] = back
        g[k] = held
    back = 0.0
    for k in range(m - 1, -1, -1):
        back = r[k] + g[k] * back
        r[k] = back
        c.lam[k] += back
    for k in range(n):
        fx = -lx
        fy = -ly
        if k < m:
            lx = r[k] * e[2 * k]
            ly = r[k] * e[2 * k + 1]
            fx += lx
            fy += ly
        c.f[2 * k] = fx
        c.f[2 * k + 1] = fy
        c.x[2 * k] += W[3 * k] * fx + W[3 * k + 1] * fy
        c.x[2 * k + 1] += W[3 * k + 1] * fx + W[3 * k + 2] * fy


cdef inline double one_side(const double* W, const double* x0, long long node, long long count, int step,
                            double alpha, double* ux, double* uy) noexcept nogil:
    # Eliminate the links on one side of a node from the far end: the pivot of the link next to it (0: none there) and
    # that link's direction, pointing away from the node.
    cdef long long k, far = 0 if step < 0 else count - 1
    cdef double pivot = 0.0, px, py, qx = 0.0, qy = 0.0, s, off
    if node == far:
        return 0.0
    k = far
    while k != node:
        px = x0[2 * k] - x0[2 * (k - step)]
        py = x0[2 * k + 1] - x0[2 * (k - step) + 1]
        s = sqrt(px * px + py * py)
        s = 1.0 / s if s > 1e-30 else 0.0
        px *= s
        py *= s
        off = 0.0
        if k != far and pivot > 0.0:
            off = (W[3 * k] * px + W[3 * k + 1] * py) * qx + (W[3 * k + 1] * px + W[3 * k + 2] * py) * qy
            off = off * off / pivot
        s = W[3 * k] + W[3 * (k - step)]
        pivot = s * px * px + 2.0 * (W[3 * k + 1] + W[3 * (k - step) + 1]) * px * py + (
            W[3 * k + 2] + W[3 * (k - step) + 2]) * py * py + alpha - off
        pivot = pivot if pivot > 1e-300 else 1e-300
        qx = px
        qy = py
        k -= step
    ux[0] = qx
    uy[0] = qy
    return pivot


cdef inline void end_mass(const double* W, const double* x0, long long count, long long node, double alpha,
                          double* k) noexcept nogil:
    # Inverse mass matrix that a node shows to an impulse when its rope's links hold:
    # W - W J^T (J W J^T + alpha)^-1 J W, by eliminating each side towards the node.
    cdef double lx = 0.0, ly = 0.0, rx = 0.0, ry = 0.0, a, b, off, det, ax, ay, bx, by
    a = one_side(W, x0, node, count, -1, alpha, &lx, &ly)
    b = one_side(W, x0, node, count, 1, alpha, &rx, &ry)
    ax = W[3 * node] * lx + W[3 * node + 1] * ly
    ay = W[3 * node + 1] * lx + W[3 * node + 2] * ly
    bx = W[3 * node] * rx + W[3 * node + 1] * ry
    by = W[3 * node + 1] * rx + W[3 * node + 2] * ry
    off = ax * rx + ay * ry
    a = a if a > 0.0 else 1.0
    b = b if b > 0.0 else 1.0
    det = a * b - off * off
    det = 1.0 / det if det > 1e-300 else 0.0
    k[0] = W[3 * node] - det * (b * ax * ax - 2.0 * off * ax * bx + a * bx * bx)
    k[1] = W[3 * node + 1] - det * (b * ax * ay - off * (ax * by + ay * bx) + a * bx * by)
    k[2] = W[3 * node + 2] - det * (b * ay * ay - 2.0 * off * ay * by + a * by * by)
