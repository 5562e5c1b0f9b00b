# Volumes of soft bodies in 3-D: one constraint for a closed surface, or one for each tetrahedron.
#
# Closed surface: C(x) = 1/6 sum (x_a x x_b) . x_c - p V0, gradient of x_a += 1/6 x_b x x_c over its triangles.
# Tetrahedron: C(x) = 1/6 ((x_1 - x_0) x (x_2 - x_0)) . (x_3 - x_0) - p V0, gradients as of its faces.
# Update: lam = -C / sum w_i |gradient_i|^2, x_i += w_i lam gradient_i (Mueller, Heidelberger, Hennix, Ratcliff 2007,
# "Position based dynamics"; XPBD, Macklin et al. 2016, compliance 0). Signed, so that what is inside out turns back.
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from soft_record cimport Soft


cdef inline void cross(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


cdef inline double dot(const double* a, const double* b) noexcept nogil:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


cdef inline void between(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[0] - b[0]
    out[1] = a[1] - b[1]
    out[2] = a[2] - b[2]


cdef inline double surface_volume(const double* x, const int32_t* faces, int64_t count) noexcept nogil:
    cdef int64_t k
    cdef double total = 0.0
    cdef double a[3]
    cdef double b[3]
    cdef double c[3]
    cdef double n[3]
    cdef const double* o = x + 3 * faces[0]
    for k in range(count):
        between(x + 3 * faces[3 * k], o, a)
        between(x + 3 * faces[3 * k + 1], o, b)
        between(x + 3 * faces[3 * k + 2], o, c)
        cross(a, b, n)
        total += dot(n, c)
    return total / 6.0


cdef inline void solve_surface(Soft* s) noexcept nogil:
    cdef int64_t k, i, j
    cdef double gap, total = 0.0, step, most = 0.0, g2, room
    cdef double p[9]
    cdef double n[3]
    cdef const int32_t* f
    cdef const double* o = s.x + 3 * s.faces[0]
    gap = surface_volume(s.x, s.faces, s.face_count) - s.whole * s.scale * s.scale * s.scale
    for i in range(3 * s.count):
        s.grad[i] = 0.0
    for k in range(s.face_count):
        f = s.faces + 3 * k
        for i in range(3):
            between(s.x + 3 * f[i], o, p + 3 * i)
        for i in range(3):
            cross(p + 3 * ((i + 1) % 3), p + 3 * ((i + 2) % 3), n)
            for j in range(3):
                s.grad[3 * f[i] + j] += n[j] / 6.0
    for i in range(s.count):
        g2 = s.w[i] * dot(s.grad + 3 * i, s.grad + 3 * i)
        total += g2
        g2 *= s.w[i]
        most = g2 if g2 > most else most
    if total <= 0.0:
        return
    step = -gap / total
    most = sqrt(most) * fabs(step)
    room = 0.1 * s.extent
    if most > room:
        step *= room / most
    for i in range(s.count):
        for j in range(3):
            s.x[3 * i + j] += s.w[i] * step * s.grad[3 * i + j]


cdef inline void solve_tets(Soft* s, int64_t first, int64_t last) noexcept nogil:
    cdef int64_t k, i, j
    cdef const int32_t* t
    cdef double a[3]
    cdef double b[3]
    cdef double c[3]
    cdef double g[12]
    cdef double gap, total, step, most, room, side, size
    for k in range(first, last):
        t = s.cells + 4 * k
        between(s.x + 3 * t[1], s.x + 3 * t[0], a)
        between(s.x + 3 * t[2], s.x + 3 * t[0], b)
        between(s.x + 3 * t[3], s.x + 3 * t[0], c)
        cross(b, c, g + 3)
        cross(c, a, g + 6)
        cross(a, b, g + 9)
        size = fabs(s.size[k]) * s.scale * s.scale * s.scale
        gap = dot(a, g + 3) / 6.0 - s.size[k] * s.scale * s.scale * s.scale
        total = 0.0
        most = 0.0
        for j in range(3):
            g[j] = -(g[3 + j] + g[6 + j] + g[9 + j])
        for i in range(4):
            side = s.w[t[i]] * dot(g + 3 * i, g + 3 * i) / 36.0
            total += side
            side *= s.w[t[i]]
            most = side if side > most else most
        room = 0.2 * side_of(size)
        if total <= 0.0:
            continue
        step = -gap / total
        most = sqrt(most) * fabs(step)
        if most > room:
            step *= room / most
        for i in range(4):
            for j in range(3):
                s.x[3 * t[i] + j] += s.w[t[i]] * step * g[3 * i + j] / 6.0


cdef inline double side_of(double volume) noexcept nogil:
    # About the cube root, from square roots alone: v^(1/4 + 1/16 + 1/64 + ...) .
    cdef double r = sqrt(sqrt(volume)), out = r
    cdef int k
    for k in range(4):
        r = sqrt(sqrt(r))
        out *= r
    return out
