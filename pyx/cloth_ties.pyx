"""Cloth particles that are pinned to a place or tied to a pymunk body.

A tied particle goes where the body goes. For the sheet's own constraints it weighs as much as its share of
the body (the body's mass split over its ties), so that what the constraints move it by, times that mass, is
the impulse that the body gets at the tie. A particle that a body presses on (a grip) is treated alike along
the contact's normal: light particles between a heavy body and taut cloth would otherwise stretch before they
carry it.
"""

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from contact cimport arm_mass, push_body
from shapes cimport DYNAMIC, Body, Colliders
from trig cimport sincos


cdef inline void tie_point(const Body* b, double lx, double ly, double* x, double* y) noexcept nogil:
    x[0] = b.x + b.c * lx - b.s * ly
    y[0] = b.y + b.s * lx + b.c * ly


def move_pins(double[:, ::1] x, const int64_t[::1] pins, const double[:, ::1] start, const double[:, ::1] target,
              double fraction):
    """Pinned particles at this fraction of their way from start to target over the step; start, target: (n,
    3)."""
    cdef Py_ssize_t k, i
    cdef int axis
    for k in range(pins.shape[0]):
        i = pins[k]
        for axis in range(3):
            x[axis, i] = start[k, axis] + fraction * (target[k, axis] - start[k, axis])


def weigh_ties(int64_t[::1] colliders, const int64_t[:, ::1] ties, const double[:, ::1] local, const double[::1] mass,
               double total, double[::1] w, double[::1] share):
    """Inverse mass of tied particles (0 on a body that does not move), and what part of a long-range gap they
    close.

    ties: particle, body, number of ties of that body. local: x and y from the centre of gravity, z.
    """
    cdef Colliders* world = <Colliders*> &colliders[0]
    cdef Py_ssize_t k
    cdef Body* b
    cdef double arm
    for k in range(ties.shape[0]):
        b = world.bodies + ties[k, 1]
        w[ties[k, 0]] = 0.0
        share[ties[k, 0]] = 1.0
        if b.kind == DYNAMIC and b.im > 0.0:
            arm = ties[k, 2] * (b.im + b.ii * (local[k, 0] * local[k, 0] + local[k, 1] * local[k, 1]))
            w[ties[k, 0]] = 1.0 / (1.0 / arm + mass[ties[k, 0]])
            share[ties[k, 0]] = 1.0 / (1.0 + w[ties[k, 0]] * total)


def move_ties(int64_t[::1] colliders, double[:, ::1] x, const int64_t[:, ::1] ties, const double[:, ::1] local):
    """Tied particles where their bodies are now."""
    cdef Colliders* world = <Colliders*> &colliders[0]
    cdef Py_ssize_t k, i
    for k in range(ties.shape[0]):
        i = ties[k, 0]
        tie_point(world.bodies + ties[k, 1], local[k, 0], local[k, 1], &x[0, i], &x[1, i])
        x[2, i] = local[k, 2]


def pull_bodies(int64_t[::1] colliders, const double[:, ::1] x, const int64_t[:, ::1] ties,
                const double[:, ::1] local, double[:, ::1] moved):
    """Give each dynamic body the momentum by which the sheet moved its tied particles; moved: (ties, 2)
    scratch."""
    cdef Colliders* world = <Colliders*> &colliders[0]
    cdef Py_ssize_t k, i
    cdef Body* b
    cdef double px = 0.0, py = 0.0, arm
    for k in range(ties.shape[0]):
        i = ties[k, 0]
        tie_point(world.bodies + ties[k, 1], local[k, 0], local[k, 1], &px, &py)
        moved[k, 0] = x[0, i] - px
        moved[k, 1] = x[1, i] - py
    for k in range(ties.shape[0]):
        b = world.bodies + ties[k, 1]
        if b.kind == DYNAMIC and b.im > 0.0:
            arm = ties[k, 2] * (b.im + b.ii * (local[k, 0] * local[k, 0] + local[k, 1] * local[k, 1]))
            push_body(b, b.pc * local[k, 0] - b.ps * local[k, 1], b.ps * local[k, 0] + b.pc * local[k, 1],
                      moved[k, 0] / arm, moved[k, 1] / arm)


def take_grips(int64_t[::1] colliders, const double[:, ::1] x, const double[::1] w, double[:, ::1] grip,
               const int64_t[::1] owner, int64_t[::1] list_, double[:, ::1] before, double[::1] heavy,
               double[:, ::1] stiff, double[::1] totals):
    """Particles with grip[0] > 0, into `list_`; how many. before: their places. heavy: their inverse masses
    with the body's share, w elsewhere. stiff (4, n): w - heavy and the unit normal. totals: scratch, a number
    per body."""
    cdef Colliders* world = <Colliders*> &colliders[0]
    cdef Py_ssize_t i, k, n = x.shape[1], count = 0
    cdef const Body* b
    cdef double size, share, arm
    totals[:] = 0.0
    for i in range(n):
        if grip[0, i] > 0.0:
            totals[owner[i]] += grip[0, i]
            count += 1
    if count == 0:
        return 0
    count = 0
    for i in range(n):
        heavy[i] = w[i]
        stiff[0, i] = 0.0
        if grip[0, i] <= 0.0 or w[i] <= 0.0:
            continue
        size = sqrt(grip[1, i] * grip[1, i] + grip[2, i] * grip[2, i] + grip[3, i] * grip[3, i])
        b = world.bodies + owner[i]
        if size < 1e-9 or b.kind != DYNAMIC or b.im <= 0.0:
            continue
        for k in range(3):
            stiff[k + 1, i] = grip[k + 1, i] / size
        arm = arm_mass(b, x[0, i] - b.x, x[1, i] - b.y, stiff[1, i], stiff[2, i])
        if arm < 0.1 * b.im:
            continue
        share = grip[0, i] / (totals[owner[i]] * arm)
        heavy[i] = 1.0 / (1.0 / w[i] + share)
        stiff[0, i] = w[i] - heavy[i]
        list_[count] = i
        before[0, count] = x[0, i]
        before[1, count] = x[1, i]
        before[2, count] = x[2, i]
        before[3, count] = share
        count += 1
    return count


cdef inline void shift_body(Body* b, double rx, double ry, double lx, double ly) noexcept nogil:
    """Move a body by a position impulse that leaves its velocity alone."""
    cdef double turn = b.ii * (rx * ly - ry * lx)
    b.x0 += b.im * lx
    b.y0 += b.im * ly
    b.px += b.im * lx
    b.py += b.im * ly
    b.a0 += turn
    b.pa += turn
    sincos(b.a0, &b.s0, &b.c0)
    sincos(b.pa, &b.ps, &b.pc)
    push_body(b, 0.0, 0.0, 0.0, 0.0)


def press_bodies(int64_t[::1] colliders, const double[:, ::1] x, const double[:, ::1] old, const int64_t[::1] owner,
                 const int64_t[::1] list_, Py_ssize_t count, const double[:, ::1] before, const double[:, ::1] stiff,
                 double[::1] pressed, double bounce, double open_):
    """Where the sheet moved a gripped particle against its body, the body gets that momentum; pressed[i]: the
    normal impulse times h. What would do more than stop the body, past `bounce` wu, is left-over stretch: it
    moves the body by at most `open_` and gives it no velocity."""
    cdef Colliders* world = <Colliders*> &colliders[0]
    cdef Py_ssize_t k, i
    cdef Body* b
    cdef double along, size, going, rx, ry
    for k in range(count):
        i = list_[k]
        b = world.bodies + owner[i]
        along = ((x[0, i] - before[0, k]) * stiff[1, i] + (x[1, i] - before[1, k]) * stiff[2, i]
                 + (x[2, i] - before[2, k]) * stiff[3, i])
        going = ((before[0, k] - old[0, i]) * stiff[1, i] + (before[1, k] - old[1, i]) * stiff[2, i]
                 + (before[2, k] - old[2, i]) * stiff[3, i])
        if along >= 0.0:
            continue
        rx = before[0, k] - b.x0
        ry = before[1, k] - b.y0
        size = -along
        going = bounce + (going if going > 0.0 else 0.0)
        if size > going:
            along = size - going
            along = (along if along < open_ else open_) * before[3, k]
            shift_body(b, rx, ry, -along * stiff[1, i], -along * stiff[2, i])
            size = going
        size = size * before[3, k]
        pressed[i] = size
        push_body(b, rx, ry, -size * stiff[1, i], -size * stiff[2, i])
