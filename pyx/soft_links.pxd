# Distance constraints of soft bodies, planar and in 3-D: edges, diagonals and bend tethers alike.
#
# C(x) = |x_a - x_b| - L, gradients n and -n with n the unit vector from b to a.
# XPBD (Macklin, Mueller, Chentanez 2016): dlam = -(C + alpha/h^2 lam) / (w_a + w_b + alpha/h^2), x += w grad dlam.
# A pass goes over conflict-free colours: no two links of a colour share a particle, so that a colour's links may run
# side by side and give the same bits.
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from soft_record cimport Soft


cdef inline void solve_links(Soft* s, int64_t first, int64_t last, double inverse) noexcept nogil:
    # Links first..last - 1; `inverse` is 1 / h^2.
    cdef int64_t k, d = s.dim
    cdef int32_t a, b
    cdef double wa, wb, dx, dy, dz = 0.0, length, soft, step
    cdef double* p
    cdef double* q
    for k in range(first, last):
        a = s.links[2 * k]
        b = s.links[2 * k + 1]
        wa = s.w[a]
        wb = s.w[b]
        soft = s.soft[k] * inverse
        if wa + wb <= 0.0:
            continue
        p = s.x + d * a
        q = s.x + d * b
        dx = p[0] - q[0]
        dy = p[1] - q[1]
        if d == 3:
            dz = p[2] - q[2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        if length < 1e-9 * s.extent:
            continue          # no direction: the other constraints part them
        step = -(length - s.rest[k] * s.scale + soft * s.lam[k]) / (wa + wb + soft)
        s.lam[k] += step
        step /= length
        p[0] += wa * step * dx
        p[1] += wa * step * dy
        q[0] -= wb * step * dx
        q[1] -= wb * step * dy
        if d == 3:
            p[2] += wa * step * dz
            q[2] -= wb * step * dz


cdef inline void flow_links(Soft* s, int64_t first, int64_t last) noexcept nogil:
    # Plastic flow: a link strained past its yield takes on the part `creep` of its change of length.
    cdef int64_t k, d = s.dim, i
    cdef double length, gap, now
    for k in range(first, last):
        length = 0.0
        for i in range(d):
            gap = s.x[d * s.links[2 * k] + i] - s.x[d * s.links[2 * k + 1] + i]
            length += gap * gap
        now = sqrt(length) / s.scale
        gap = now - s.rest[k]
        if gap > s.yield_ * s.rest[k] or gap < -s.yield_ * s.rest[k]:
            s.rest[k] += s.creep * gap
