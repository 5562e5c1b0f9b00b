# Links of structures: elastic, plastic, breakable distance constraints.
#
# C(x) = |x_a - x_b| - L, gradients n and -n, XPBD (Macklin, Mueller, Chentanez 2016) with three changes:
# - n is the direction at the start of the substep, as in SHAKE (Ryckaert, Ciccotti, Berendsen 1977): the impulse acts on
#   the line through both particles as they were, so that momentum and angular momentum are kept to rounding and a spin
#   is not braked;
# - a substep starts from the multipliers of the last one (warm start): a structure at rest bears its weight with no
#   stretch beyond that of its compliance, however tall;
# - the force f = -lam / h^2 gives the elastic strain e = f alpha / L that yielding and breaking go by. It does not
#   contain what the iteration has left unsolved, and an impact, which is a large force in one substep, counts in full.
# Plasticity (Mueller et al. 2004, "Point based animation of elastic, plastic and melting objects", reduced to one axis):
# what exceeds the yield strain moves the rest length, up to the ductility.
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from soft_record cimport Soft
from structure_record cimport Frame
from trig cimport decay

cdef enum:
    SLICE = 256            # links of a colour that one thread takes at a time


cdef inline void aim_links(Soft* s, Frame* f, int64_t first, int64_t last) noexcept nogil:
    # Directions at the start of the substep.
    cdef int64_t k
    cdef int32_t a, b
    cdef double dx, dy, length
    for k in range(first, last):
        a = f.links[2 * k]
        b = f.links[2 * k + 1]
        dx = s.x0[2 * a] - s.x0[2 * b]
        dy = s.x0[2 * a + 1] - s.x0[2 * b + 1]
        length = sqrt(dx * dx + dy * dy)
        length = 1.0 / length if length > 1e-9 * f.made[k] else 0.0
        f.axis[2 * k] = dx * length
        f.axis[2 * k + 1] = dy * length


cdef inline void start_links(Soft* s, Frame* f, int64_t first, int64_t last, double keep) noexcept nogil:
    # The part `keep` of the last substep's multipliers.
    cdef int64_t k
    cdef int32_t a, b
    cdef double jx, jy
    for k in range(first, last):
        if f.broken[k]:
            f.lam[k] = 0.0
            continue
        a = f.links[2 * k]
        b = f.links[2 * k + 1]
        f.lam[k] *= keep
        jx = f.lam[k] * f.axis[2 * k]
        jy = f.lam[k] * f.axis[2 * k + 1]
        s.x[2 * a] += s.w[a] * jx
        s.x[2 * a + 1] += s.w[a] * jy
        s.x[2 * b] -= s.w[b] * jx
        s.x[2 * b + 1] -= s.w[b] * jy


cdef inline void solve_frame(Soft* s, Frame* f, int64_t first, int64_t last, double inverse) noexcept nogil:
    # `inverse` is 1 / h^2.
    cdef int64_t k
    cdef int32_t a, b
    cdef double w, dx, dy, nx, ny, length, soft, step
    for k in range(first, last):
        if f.broken[k]:
            continue
        a = f.links[2 * k]
        b = f.links[2 * k + 1]
        soft = f.soft[k] * inverse
        w = s.w[a] + s.w[b]
        if w <= 0.0:
            continue
        dx = s.x[2 * a] - s.x[2 * b]
        dy = s.x[2 * a + 1] - s.x[2 * b + 1]
        length = sqrt(dx * dx + dy * dy)
        nx = f.axis[2 * k]
        ny = f.axis[2 * k + 1]
        if nx * dx + ny * dy < 0.5 * length:
            # It turned by more than 60 degrees: the direction now.
            if length < 1e-9 * f.made[k]:
                continue
            nx = dx / length
            ny = dy / length
        step = -(length - f.rest[k] + soft * f.lam[k]) / (w + soft)
        f.lam[k] += step
        s.x[2 * a] += s.w[a] * step * nx
        s.x[2 * a + 1] += s.w[a] * step * ny
        s.x[2 * b] -= s.w[b] * step * nx
        s.x[2 * b + 1] -= s.w[b] * step * ny


cdef inline void strain_links(Soft* s, Frame* f, double inverse) noexcept nogil:
    # Yielding and breaking, after the passes of a substep.
    cdef int64_t k
    cdef int32_t a, b
    cdef double e, size, over, dx, dy, g, weak
    for k in range(f.link_count):
        if f.broken[k]:
            continue
        a = f.links[2 * k]
        b = f.links[2 * k + 1]
        e = -f.lam[k] * inverse * f.soft[k] / f.made[k]
        size = fabs(e)
        f.peak[k] = size if size > f.peak[k] else f.peak[k]
        weak = f.health[a] if f.health[a] < f.health[b] else f.health[b]
        over = size - f.yields[k]
        if over > 0.0 and f.flow[k] < f.ductile[k]:
            dx = s.x[2 * a] - s.x[2 * b]
            dy = s.x[2 * a + 1] - s.x[2 * b + 1]
            # Both the force and the shape must be past the yield, in the same sense.
            g = (sqrt(dx * dx + dy * dy) - f.rest[k]) / f.made[k]
            g = (g if e > 0.0 else -g) - f.yields[k]
            over = g if g < over else over
            if over > f.ductile[k] - f.flow[k]:
                over = f.ductile[k] - f.flow[k]
            if over > 0.0:
                f.flow[k] += over
                f.rest[k] += over * f.made[k] if e > 0.0 else -over * f.made[k]
                # The stress falls back to the yield stress with it.
                f.lam[k] *= (size - over) / size
        if size > f.breaks[k] * weak:
            f.broken[k] = 1
            f.energy[k] = 0.5 * f.lam[k] * f.lam[k] * inverse * inverse * f.soft[k]
            f.broke += 1


cdef inline void calm_links(Soft* s, Frame* f, double h) noexcept nogil:
    # Speeds along links decay, by impulses on both ends.
    cdef int64_t k
    cdef int32_t a, b
    cdef double w, dx, dy, square, j
    for k in range(f.link_count):
        if f.broken[k] or f.damping[k] <= 0.0:
            continue
        a = f.links[2 * k]
        b = f.links[2 * k + 1]
        w = s.w[a] + s.w[b]
        dx = s.x[2 * a] - s.x[2 * b]
        dy = s.x[2 * a + 1] - s.x[2 * b + 1]
        square = dx * dx + dy * dy
        if w <= 0.0 or square <= 0.0:
            continue
        j = (s.v[2 * a] - s.v[2 * b]) * dx + (s.v[2 * a + 1] - s.v[2 * b + 1]) * dy
        j *= (1.0 - decay(f.damping[k] * h)) / (square * w)
        s.v[2 * a] -= s.w[a] * j * dx
        s.v[2 * a + 1] -= s.w[a] * j * dy
        s.v[2 * b] += s.w[b] * j * dx
        s.v[2 * b + 1] += s.w[b] * j * dy
