# Motion of a soft body's particles: prediction, momentum of its own constraints, velocities.
from libc.math cimport sqrt
from libc.stdint cimport int64_t

from soft_record cimport Soft
from trig cimport decay


cdef inline void predict(Soft* s, double h, double fraction, double gx, double gy) noexcept nogil:
    # Free particles go on; held ones go where they are sent.
    cdef int64_t i, k, d = s.dim
    s.hits = 0
    s.hit_e = s.hit_x = s.hit_y = s.hit_nx = s.hit_ny = 0.0
    for i in range(s.count):
        s.holds[i].rebound = -1
        s.holds[i].seen = 0
        s.holds[i].lam = 0.0
        for k in range(d):
            s.x0[d * i + k] = s.x[d * i + k]
        if s.w[i] > 0.0:
            s.v[d * i] += gx * h
            s.v[d * i + 1] += gy * h
            for k in range(d):
                s.x[d * i + k] += h * s.v[d * i + k]
        else:
            for k in range(d):
                s.x[d * i + k] = s.previous[d * i + k] + fraction * (
                    s.target[d * i + k] - s.previous[d * i + k])
    for i in range(s.link_count):
        s.lam[i] = 0.0


cdef inline void remember(Soft* s) noexcept nogil:
    cdef int64_t i
    for i in range(s.dim * s.count):
        s.y[i] = s.x[i]


cdef inline bint invert3(const double* a, double* out) noexcept nogil:
    cdef double det, size
    out[0] = a[4] * a[8] - a[5] * a[7]
    out[1] = a[2] * a[7] - a[1] * a[8]
    out[2] = a[1] * a[5] - a[2] * a[4]
    out[3] = a[5] * a[6] - a[3] * a[8]
    out[4] = a[0] * a[8] - a[2] * a[6]
    out[5] = a[2] * a[3] - a[0] * a[5]
    out[6] = a[3] * a[7] - a[4] * a[6]
    out[7] = a[1] * a[6] - a[0] * a[7]
    out[8] = a[0] * a[4] - a[1] * a[3]
    det = a[0] * out[0] + a[1] * out[3] + a[2] * out[6]
    size = a[0] + a[4] + a[8]
    if not det * det > 1e-18 * size * size * size * size * size * size:
        return False
    cdef int k
    for k in range(9):
        out[k] /= det
    return True


cdef inline void keep_momentum(Soft* s) noexcept nogil:
    # What a body's own constraints do to it gives no force and no torque: sum m dx = 0, sum m (x0 - c0) x dx = 0, with
    # dx this pass's displacements and arms as they were at the start of the substep. Constraints act along the lines of
    # the predicted places instead, which brakes a spin by omega^2 h a second. The rest is undone by a shift, and by the
    # turn dx += theta x (x - c) that takes the torque away exactly.
    # With one held particle, which takes any force, the torque about that one is what has to vanish; with more, nothing.
    cdef int64_t i, k, j, d = s.dim
    cdef double c[3]
    cdef double c0[3]
    cdef double shift[3]
    cdef double torque[3]
    cdef double turn[3]
    cdef double inertia[9]
    cdef double inverse[9]
    cdef double a[3]
    cdef double b[3]
    cdef double e[3]
    cdef double m, total = 0.0, dot
    if s.held > 1:
        return
    for k in range(3):
        c[k] = c0[k] = shift[k] = torque[k] = turn[k] = 0.0
        a[k] = b[k] = e[k] = 0.0
    for k in range(9):
        inertia[k] = 0.0
    if s.held == 0:
        for i in range(s.count):
            m = 1.0 / s.w[i]
            total += m
            for k in range(d):
                c[k] += m * (s.x[d * i + k] - s.x[k])
                c0[k] += m * (s.x0[d * i + k] - s.x0[k])
                shift[k] += m * (s.x[d * i + k] - s.y[d * i + k])
        for k in range(d):
            shift[k] /= total
            c[k] = s.x[k] + c[k] / total
            c0[k] = s.x0[k] + c0[k] / total
    else:
        for k in range(d):
            c[k] = s.x[d * s.pivot + k]
            c0[k] = s.x0[d * s.pivot + k]
    for i in range(s.count):
        if s.w[i] <= 0.0:
            continue
        m = 1.0 / s.w[i]
        dot = 0.0
        for k in range(d):
            a[k] = s.x0[d * i + k] - c0[k]
            b[k] = s.x[d * i + k] - c[k]
            e[k] = s.x[d * i + k] - s.y[d * i + k] - shift[k]
            dot += a[k] * b[k]
        torque[2] += m * (a[0] * e[1] - a[1] * e[0])
        if d == 3:
            torque[0] += m * (a[1] * e[2] - a[2] * e[1])
            torque[1] += m * (a[2] * e[0] - a[0] * e[2])
            for k in range(3):
                inertia[4 * k] += m * dot
                for j in range(3):
                    inertia[3 * k + j] -= m * b[k] * a[j]
        else:
            inertia[8] += m * dot
    if d == 2:
        if inertia[8] > 0.0:
            turn[2] = -torque[2] / inertia[8]
    elif invert3(inertia, inverse):
        for k in range(3):
            turn[k] = -(inverse[3 * k] * torque[0] + inverse[3 * k + 1] * torque[1] + inverse[3 * k + 2] * torque[2])
    dot = turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]
    if not dot < 0.01:
        turn[0] = turn[1] = turn[2] = 0.0
    for i in range(s.count):
        if s.w[i] <= 0.0:
            continue
        for k in range(d):
            b[k] = s.x[d * i + k] - c[k]
        s.x[d * i] += turn[1] * b[2] - turn[2] * b[1] - shift[0]
        s.x[d * i + 1] += turn[2] * b[0] - turn[0] * b[2] - shift[1]
        if d == 3:
            s.x[d * i + 2] += turn[0] * b[1] - turn[1] * b[0] - shift[2]


cdef inline void cap_speed(Soft* s, int64_t i) noexcept nogil:
    # No particle is faster than the world allows, none is anywhere but at a number.
    cdef int64_t k, d = s.dim
    cdef double speed = 0.0
    cdef bint lost = False
    for k in range(d):
        speed += s.v[d * i + k] * s.v[d * i + k]
        if not -1e300 < s.x[d * i + k] < 1e300:
            lost = True
    if not speed <= s.max_speed * s.max_speed:
        speed = s.max_speed / sqrt(speed) if speed < 1e300 else 0.0
        for k in range(d):
            s.v[d * i + k] = s.v[d * i + k] * speed if speed > 0.0 else 0.0
        s.capped += 1
    if lost:
        for k in range(d):
            s.x[d * i + k] = s.x0[d * i + k]


cdef inline void damp(Soft* s, double h) noexcept nogil:
    cdef double keep
    cdef int64_t i
    if s.damping <= 0.0:
        return
    keep = decay(s.damping * h)
    for i in range(s.count):
        if s.w[i] > 0.0:
            s.v[s.dim * i] *= keep
            s.v[s.dim * i + 1] *= keep
            if s.dim == 3:
                s.v[s.dim * i + 2] *= keep


cdef inline void calm_inside(Soft* s, double h) noexcept nogil:
    # Velocities relative to the rigid motion with the same momentum and angular momentum decay: wobbling ends, going and
    # spinning do not (Mueller et al. 2007, "Position based dynamics", section 3.5). Held particles: their own motion counts.
    cdef double keep
    cdef int64_t i, k, j, d = s.dim
    cdef double c[3]
    cdef double u[3]
    cdef double l[3]
    cdef double spin[3]
    cdef double inertia[9]
    cdef double inverse[9]
    cdef double r[3]
    cdef double q[3]
    cdef double m, total = 0.0, square
    if s.calm <= 0.0 or s.held > 0:
        return
    keep = 1.0 - decay(s.calm * h)
    for k in range(3):
        c[k] = u[k] = l[k] = spin[k] = r[k] = q[k] = 0.0
    for k in range(9):
        inertia[k] = 0.0
    for i in range(s.count):
        m = 1.0 / s.w[i]
        total += m
        for k in range(d):
            c[k] += m * (s.x[d * i + k] - s.x[k])
            u[k] += m * s.v[d * i + k]
    for k in range(d):
        c[k] = s.x[k] + c[k] / total
        u[k] /= total
    for i in range(s.count):
        m = 1.0 / s.w[i]
        square = 0.0
        for k in range(d):
            r[k] = s.x[d * i + k] - c[k]
            q[k] = s.v[d * i + k] - u[k]
            square += r[k] * r[k]
        l[2] += m * (r[0] * q[1] - r[1] * q[0])
        if d == 3:
            l[0] += m * (r[1] * q[2] - r[2] * q[1])
            l[1] += m * (r[2] * q[0] - r[0] * q[2])
            for k in range(3):
                inertia[4 * k] += m * square
                for j in range(3):
                    inertia[3 * k + j] -= m * r[k] * r[j]
        else:
            inertia[8] += m * square
    if d == 2:
        spin[2] = l[2] / inertia[8] if inertia[8] > 0.0 else 0.0
    elif invert3(inertia, inverse):
        for k in range(3):
            spin[k] = inverse[3 * k] * l[0] + inverse[3 * k + 1] * l[1] + inverse[3 * k + 2] * l[2]
    else:
        return
    for i in range(s.count):
        for k in range(d):
            r[k] = s.x[d * i + k] - c[k]
        q[0] = u[0] + spin[1] * r[2] - spin[2] * r[1]
        q[1] = u[1] + spin[2] * r[0] - spin[0] * r[2]
        q[2] = u[2] + spin[0] * r[1] - spin[1] * r[0]
        for k in range(d):
            s.v[d * i + k] += keep * (q[k] - s.v[d * i + k])


cdef inline void take_velocities(Soft* s, double h) noexcept nogil:
    cdef int64_t i
    cdef double inverse = 1.0 / h
    for i in range(s.dim * s.count):
        s.v[i] = (s.x[i] - s.x0[i]) * inverse
