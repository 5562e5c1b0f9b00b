# What a node of a rope weighs when the rope's links hold.
from libc.math cimport sqrt


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
