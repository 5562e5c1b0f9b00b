# Shape matching (Mueller, Heidelberger, Teschner, Gross 2005, "Meshless deformations based on shape matching").
#
# Goal of a particle: g_i = R s q_i + c, with c the centre of mass, q_i its rest place about the centre, s the scale that
# the pressure gives, and R the rotation nearest to A = sum m_i (x_i - c) q_i^T. C_i(x) = x_i - g_i, gradient 1,
# compliance per mass a: dx_i = -(x_i - g_i) / (1 + a / h^2).
# R in the plane is closed form; in 3-D it turns from the last one by the vector sum r_k x a_k / |sum r_k . a_k| until
# nothing is left (Mueller, Bender, Chentanez, Macklin 2016, "A robust method to extract the rotational part of
# deformations"): it never flips, however inverted A is.
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from soft_record cimport Soft


cdef inline void center(const Soft* s, const double* x, double* c) noexcept nogil:
    # Centre of mass, about the first particle.
    cdef int64_t i, k, d = s.dim
    cdef double total = 0.0
    c[0] = c[1] = c[2] = 0.0
    for i in range(s.count):
        total += s.m[i]
        for k in range(d):
            c[k] += s.m[i] * (x[d * i + k] - x[k])
    for k in range(d):
        c[k] = x[k] + c[k] / total


cdef inline void pose_plane(Soft* s, const double* c) noexcept nogil:
    cdef int64_t i
    cdef double a = 0.0, b = 0.0, px, py, size
    for i in range(s.count):
        px = s.x[2 * i] - c[0]
        py = s.x[2 * i + 1] - c[1]
        a += s.m[i] * (px * s.q[2 * i] + py * s.q[2 * i + 1])
        b += s.m[i] * (py * s.q[2 * i] - px * s.q[2 * i + 1])
    size = sqrt(a * a + b * b)
    if size > 1e-300:
        s.pose[0] = a / size
        s.pose[1] = b / size


cdef inline void rotation(const double* pose, double* r) noexcept nogil:
    cdef double w = pose[0], x = pose[1], y = pose[2], z = pose[3]
    r[0] = 1.0 - 2.0 * (y * y + z * z)
    r[1] = 2.0 * (x * y - w * z)
    r[2] = 2.0 * (x * z + w * y)
    r[3] = 2.0 * (x * y + w * z)
    r[4] = 1.0 - 2.0 * (x * x + z * z)
    r[5] = 2.0 * (y * z - w * x)
    r[6] = 2.0 * (x * z - w * y)
    r[7] = 2.0 * (y * z + w * x)
    r[8] = 1.0 - 2.0 * (x * x + y * y)


cdef inline void pose_space(Soft* s, const double* c) noexcept nogil:
    cdef int64_t i, j, k
    cdef int turn
    cdef double a[9]
    cdef double r[9]
    cdef double o[3]
    cdef double w, x, y, z, e, size
    for k in range(9):
        a[k] = 0.0
    for i in range(s.count):
        for j in range(3):
            for k in range(3):
                a[3 * j + k] += s.m[i] * (s.x[3 * i + j] - c[j]) * s.q[3 * i + k]
    for turn in range(20):
        rotation(s.pose, r)
        o[0] = o[1] = o[2] = 0.0
        size = 0.0
        for k in range(3):                          # columns: r_k x a_k
            o[0] += r[3 + k] * a[6 + k] - r[6 + k] * a[3 + k]
            o[1] += r[6 + k] * a[k] - r[k] * a[6 + k]
            o[2] += r[k] * a[3 + k] - r[3 + k] * a[k]
            size += r[k] * a[k] + r[3 + k] * a[3 + k] + r[6 + k] * a[6 + k]
        size = fabs(size) + 1e-9 * (fabs(a[0]) + fabs(a[4]) + fabs(a[8])) + 1e-300
        for k in range(3):
            o[k] *= 0.5 / size
        e = o[0] * o[0] + o[1] * o[1] + o[2] * o[2]
        if not e < 1e300 or e < 1e-24:
            return
        w = s.pose[0]
        x = s.pose[1]
        y = s.pose[2]
        z = s.pose[3]
        s.pose[0] = w - o[0] * x - o[1] * y - o[2] * z
        s.pose[1] = x + o[0] * w + o[1] * z - o[2] * y
        s.pose[2] = y + o[1] * w + o[2] * x - o[0] * z
        s.pose[3] = z + o[2] * w + o[0] * y - o[1] * x
        size = 1.0 / sqrt(s.pose[0] * s.pose[0] + s.pose[1] * s.pose[1] + s.pose[2] * s.pose[2] + s.pose[3] * s.pose[3])
        for k in range(4):
            s.pose[k] *= size


cdef inline void solve_match(Soft* s, bint first) noexcept nogil:
    # One pass; `first` of its substep: only then goals pull and rest places flow, the deviation is held in every one.
    cdef int64_t i, k, j, d = s.dim
    cdef double c[3]
    cdef double r[9]
    cdef double g[3]
    cdef double gap, part, size
    if s.part <= 0.0 and s.most < 0.0:
        return
    if not first and s.most < 0.0 and s.part < 1.0:
        return
    center(s, s.x, c)
    if d == 2:
        pose_plane(s, c)
        r[0] = r[3] = s.pose[0]
        r[1] = -s.pose[1]
        r[2] = s.pose[1]
    else:
        pose_space(s, c)
        rotation(s.pose, r)
    for i in range(s.count):
        gap = 0.0
        for k in range(d):
            g[k] = 0.0
            for j in range(d):
                g[k] += r[d * k + j] * s.q[d * i + j]
            g[k] = c[k] + s.scale * g[k] - s.x[d * i + k]
            gap += g[k] * g[k]
        if s.w[i] <= 0.0:
            continue
        part = s.part if first or s.part >= 1.0 else 0.0
        if s.most >= 0.0:
            size = sqrt(gap)
            if size * (1.0 - part) > s.most:
                part = 1.0 - s.most / size
        for k in range(d):
            s.x[d * i + k] += part * g[k]


cdef inline void flow_places(Soft* s) noexcept nogil:
    # Plastic flow of the rest places, where a particle is off by more than the yield's part of the body's size.
    cdef int64_t i, k, j, d = s.dim
    cdef double c[3]
    cdef double r[9]
    cdef double g[3]
    cdef double gap, total = 0.0
    center(s, s.x, c)
    if d == 2:
        pose_plane(s, c)
        r[0] = r[3] = s.pose[0]
        r[1] = -s.pose[1]
        r[2] = s.pose[1]
    else:
        pose_space(s, c)
        rotation(s.pose, r)
    for i in range(s.count):
        gap = 0.0
        for k in range(d):
            g[k] = 0.0
            for j in range(d):
                g[k] += r[d * j + k] * (s.x[d * i + j] - c[j])
            g[k] = g[k] / s.scale - s.q[d * i + k]
            gap += g[k] * g[k]
        if gap > s.yield_ * s.yield_ * s.extent * s.extent:
            for k in range(d):
                s.q[d * i + k] += s.creep * g[k]
    c[0] = c[1] = c[2] = 0.0
    for i in range(s.count):
        total += s.m[i]
        for k in range(d):
            c[k] += s.m[i] * s.q[d * i + k]
    for i in range(s.count):
        for k in range(d):
            s.q[d * i + k] -= c[k] / total
