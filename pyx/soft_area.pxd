# Areas of planar soft bodies: one constraint for a whole outline, or one for each triangle.
#
# C(x) = A(x) - p A0 with A = 1/2 sum_i x_i (y_i+1 - y_i-1), gradient_i = 1/2 (y_i+1 - y_i-1, x_i-1 - x_i+1).
# Update: lam = -C / sum w_i |gradient_i|^2, x_i += w_i lam gradient_i (XPBD, Macklin et al. 2016, compliance 0).
# The area is signed, so that an outline or a triangle turned inside out is driven back through flat.
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from soft_record cimport Soft


cdef inline double ring_area(const double* x, const int32_t* ring, int64_t count) noexcept nogil:
    # Signed area, taken about the first particle: as good far from the origin as near it.
    cdef int64_t k
    cdef double ox = x[2 * ring[0]], oy = x[2 * ring[0] + 1], total = 0.0
    cdef double ax, ay, bx = 0.0, by = 0.0
    for k in range(1, count):
        ax = bx
        ay = by
        bx = x[2 * ring[k]] - ox
        by = x[2 * ring[k] + 1] - oy
        total += ax * by - ay * bx
    return 0.5 * total


cdef inline void solve_ring(Soft* s) noexcept nogil:
    cdef int64_t k, n = s.ring_count
    cdef double gap, total = 0.0, gx, gy, step, most = 0.0, g2, room
    cdef double* a
    cdef double* b
    gap = ring_area(s.x, s.ring, n) - s.whole * s.scale * s.scale
    for k in range(n):
        a = s.x + 2 * s.ring[k - 1 if k > 0 else n - 1]
        b = s.x + 2 * s.ring[k + 1 if k + 1 < n else 0]
        gx = 0.5 * (b[1] - a[1])
        gy = 0.5 * (a[0] - b[0])
        g2 = s.w[s.ring[k]] * (gx * gx + gy * gy)
        total += g2
        g2 *= s.w[s.ring[k]]
        most = g2 if g2 > most else most
        s.grad[2 * k] = gx
        s.grad[2 * k + 1] = gy
    if total <= 0.0:
        return
    step = -gap / total
    most = sqrt(most) * (step if step > 0.0 else -step)
    room = 0.1 * s.extent
    if most > room:
        step *= room / most       # crumpled: unfold over several passes
    for k in range(n):
        a = s.x + 2 * s.ring[k]
        gx = s.w[s.ring[k]] * step
        a[0] += gx * s.grad[2 * k]
        a[1] += gx * s.grad[2 * k + 1]


cdef inline void solve_areas(Soft* s, int64_t first, int64_t last) noexcept nogil:
    # Triangles first..last - 1.
    cdef int64_t k
    cdef int32_t i, j, l
    cdef double ax, ay, bx, by, cx, cy, gap, total, step, most, side
    cdef double* p
    cdef double* q
    cdef double* r
    for k in range(first, last):
        i = s.cells[3 * k]
        j = s.cells[3 * k + 1]
        l = s.cells[3 * k + 2]
        p = s.x + 2 * i
        q = s.x + 2 * j
        r = s.x + 2 * l
        ax = 0.5 * (q[1] - r[1])
        ay = 0.5 * (r[0] - q[0])
        bx = 0.5 * (r[1] - p[1])
        by = 0.5 * (p[0] - r[0])
        cx = 0.5 * (p[1] - q[1])
        cy = 0.5 * (q[0] - p[0])
        gap = 0.5 * ((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])) - s.size[k] * s.scale * s.scale
        total = s.w[i] * (ax * ax + ay * ay) + s.w[j] * (bx * bx + by * by) + s.w[l] * (cx * cx + cy * cy)
        side = ax * ax + ay * ay + bx * bx + by * by + cx * cx + cy * cy
        if total <= 1e-9 * (s.w[i] + s.w[j] + s.w[l]) * (s.size[k] if s.size[k] > 0.0 else -s.size[k]):
            continue
        step = -gap / total
        most = s.w[i] if s.w[i] > s.w[j] else s.w[j]
        most = s.w[l] if s.w[l] > most else most
        most *= sqrt(side) * (step if step > 0.0 else -step)
        side = 0.5 * s.scale * sqrt(s.size[k] if s.size[k] > 0.0 else -s.size[k])
        if most > side:
            step *= side / most
        p[0] += s.w[i] * step * ax
        p[1] += s.w[i] * step * ay
        q[0] += s.w[j] * step * bx
        q[1] += s.w[j] * step * by
        r[0] += s.w[l] * step * cx
        r[1] += s.w[l] * step * cy
