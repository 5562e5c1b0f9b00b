"""Where bound points are, now that the nodes have moved.

Moving least squares (Schaefer, McPhail, Warren 2006): of all transforms of a family take the one that minimises
sum w |T(p_j) - q_j|^2 over the nodes of a point, p at rest, q now, and apply it to the point's rest place v. Its
translation takes the weighted centre p* to q*, which leaves f(v) = q* + M (v - p*).
Every point is its own: any number of threads gives the same bits.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt

from smallmat cimport nearest_rotation


cdef inline void blend_one(const double* q, const int* node, const double* coef, int count, int size,
                           double* out) noexcept nogil:
    """out = sum coef q, taken from the first node so that a far origin costs no digits (the coefficients' sum is 1)."""
    cdef const double* q0 = q + size * node[0]
    cdef double x = 0.0, y = 0.0, z = 0.0
    cdef int i
    if size == 2:
        for i in range(count):
            x = x + coef[i] * (q[2 * node[i]] - q0[0])
            y = y + coef[i] * (q[2 * node[i] + 1] - q0[1])
        out[0] = q0[0] + x
        out[1] = q0[1] + y
        return
    for i in range(count):
        x = x + coef[i] * (q[3 * node[i]] - q0[0])
        y = y + coef[i] * (q[3 * node[i] + 1] - q0[1])
        z = z + coef[i] * (q[3 * node[i] + 2] - q0[2])
    out[0] = q0[0] + x
    out[1] = q0[1] + y
    out[2] = q0[2] + z


def blend(const double[:, ::1] nodes, const int[:, ::1] node, const double[:, ::1] coef, const int[::1] count,
          const double[:, ::1] offset, double[:, ::1] out, int threads):
    """x = sum w q + (v - p*): offsets from the nodes, carried without turning them."""
    cdef Py_ssize_t i
    cdef int size = nodes.shape[1], k
    with nogil:
        for i in prange(out.shape[0], schedule="static", num_threads=threads):
            blend_one(&nodes[0, 0], &node[i, 0], &coef[i, 0], count[i], size, &out[i, 0])
            for k in range(size):
                out[i, k] = out[i, k] + offset[i, k]


cdef inline void slope_of(const double* q, const int* node, const double* slope, int count, int size,
                          double* t) noexcept nogil:
    """t = sum slope q: where a rest axis points now (the coefficients' sum is 0)."""
    cdef const double* q0 = q + size * node[0]
    cdef int i, k
    for k in range(size):
        t[k] = 0.0
        for i in range(count):
            t[k] = t[k] + slope[i] * (q[size * node[i] + k] - q0[k])


cdef void add_across(const double* q, const int* node, const double* slope, int slots, int count, int size, int rank,
                     const double* axes, const double* offset, double* out) noexcept nogil:
    """The part of an affine fit that its nodes do not span: the point's distance from their line or sheet."""
    cdef double t[3]
    cdef double u[3]
    cdef double m[9]
    cdef double r[9]
    cdef double size_t_, d
    cdef int j, k
    if rank == 0:
        for k in range(size):
            out[k] = out[k] + offset[k]
        return
    slope_of(q, node, slope, count, size, t)
    if size == 2:
        size_t_ = sqrt(t[0] * t[0] + t[1] * t[1])
        if size_t_ > 1e-100:
            d = (axes[0] * offset[1] - axes[1] * offset[0]) / size_t_
            out[0] = out[0] - d * t[1]
            out[1] = out[1] + d * t[0]
        return
    if rank == 1:
        # The rotation that takes the rest axis to t by the shortest way.
        for j in range(3):
            for k in range(3):
                m[3 * j + k] = t[j] * axes[k] + (1e-6 if j == k else 0.0)
        nearest_rotation(m, r)
        for j in range(3):
            out[j] = out[j] + r[3 * j] * offset[0] + r[3 * j + 1] * offset[1] + r[3 * j + 2] * offset[2]
        return
    slope_of(q, node, slope + slots, count, size, u)
    m[0] = t[1] * u[2] - t[2] * u[1]
    m[1] = t[2] * u[0] - t[0] * u[2]
    m[2] = t[0] * u[1] - t[1] * u[0]
    size_t_ = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2])
    if size_t_ > 1e-100:
        d = (offset[0] * (axes[1] * axes[5] - axes[2] * axes[4]) + offset[1] * (axes[2] * axes[3] - axes[0] * axes[5])
             + offset[2] * (axes[0] * axes[4] - axes[1] * axes[3])) / size_t_
        for k in range(3):
            out[k] = out[k] + d * m[k]


def affine(const double[:, ::1] nodes, const int[:, ::1] node, const double[:, ::1] coef,
           const double[:, :, ::1] slope, const int[::1] count, const int[::1] rank, const double[:, :, ::1] axes,
           const double[:, ::1] offset, double[:, ::1] out, int threads):
    """M = (sum w (q - q*) (p - p*)^T) (sum w (p - p*) (p - p*)^T)^-1: linear in q, f(v) = sum c_j q_j."""
    cdef Py_ssize_t i
    cdef int size = nodes.shape[1], slots = node.shape[1]
    with nogil:
        for i in prange(out.shape[0], schedule="static", num_threads=threads):
            blend_one(&nodes[0, 0], &node[i, 0], &coef[i, 0], count[i], size, &out[i, 0])
            if rank[i] < size:
                add_across(&nodes[0, 0], &node[i, 0], &slope[i, 0, 0], slots, count[i], size, rank[i], &axes[i, 0, 0],
                           &offset[i, 0], &out[i, 0])


cdef void turn_flat(const double* q, const double* p, const int* node, const double* weight, int count,
                    const double* center, const double* offset, bint scaled, double* out) noexcept nogil:
    cdef double c = 0.0, s = 0.0, mu = 0.0, px, py, qx, qy, size
    cdef int i
    for i in range(count):
        px = p[2 * node[i]] - center[0]
        py = p[2 * node[i] + 1] - center[1]
        qx = q[2 * node[i]] - out[0]
        qy = q[2 * node[i] + 1] - out[1]
        c = c + weight[i] * (px * qx + py * qy)
        s = s + weight[i] * (px * qy - py * qx)
        mu = mu + weight[i] * (px * px + py * py)
    size = mu if scaled else sqrt(c * c + s * s)
    if size > 1e-200 and size > 1e-14 * mu:
        c = c / size
        s = s / size
    else:
        c = 1.0
        s = 0.0
    out[0] = out[0] + c * offset[0] - s * offset[1]
    out[1] = out[1] + s * offset[0] + c * offset[1]


cdef void turn_space(const double* q, const double* p, const int* node, const double* weight, int count,
                     const double* center, const double* offset, bint scaled, double* out) noexcept nogil:
    cdef double m[9]
    cdef double r[9]
    cdef double a[3]
    cdef double b[3]
    cdef double mu = 0.0, scale = 0.0
    cdef int i, j, k
    for k in range(9):
        m[k] = 0.0
    for i in range(count):
        for k in range(3):
            a[k] = q[3 * node[i] + k] - out[k]
            b[k] = p[3 * node[i] + k] - center[k]
            mu = mu + weight[i] * b[k] * b[k]
        for j in range(3):
            for k in range(3):
                m[3 * j + k] = m[3 * j + k] + weight[i] * a[j] * b[k]
    # Nodes in a line leave a turn about it open: of those turns the smallest is taken.
    for k in range(3):
        m[4 * k] = m[4 * k] + 1e-9 * mu
    nearest_rotation(m, r)
    if scaled and mu > 1e-200:
        for k in range(3):
            m[4 * k] = m[4 * k] - 1e-9 * mu
        for k in range(9):
            scale = scale + r[k] * m[k]
        scale = scale / mu
    else:
        scale = 1.0
    for j in range(3):
        out[j] = out[j] + scale * (r[3 * j] * offset[0] + r[3 * j + 1] * offset[1] + r[3 * j + 2] * offset[2])


def turn(const double[:, ::1] nodes, const double[:, ::1] rest, const int[:, ::1] node, const double[:, ::1] weight,
         const int[::1] count, const double[:, ::1] center, const double[:, ::1] offset, bint scaled,
         double[:, ::1] out, int threads):
    """M = R, or s R if `scaled`: R the rotation nearest to sum w (q - q*) (p - p*)^T (its polar factor: in the plane
    by a complex number, in space by Horn's quaternion), s = sum w (q - q*) . R (p - p*) / sum w |p - p*|^2."""
    cdef Py_ssize_t i
    cdef int size = nodes.shape[1]
    with nogil:
        for i in prange(out.shape[0], schedule="static", num_threads=threads):
            blend_one(&nodes[0, 0], &node[i, 0], &weight[i, 0], count[i], size, &out[i, 0])
            if size == 2:
                turn_flat(&nodes[0, 0], &rest[0, 0], &node[i, 0], &weight[i, 0], count[i], &center[i, 0],
                          &offset[i, 0], scaled, &out[i, 0])
            else:
                turn_space(&nodes[0, 0], &rest[0, 0], &node[i, 0], &weight[i, 0], count[i], &center[i, 0],
                           &offset[i, 0], scaled, &out[i, 0])
