"""Cloth particles that are pinned to a place or tied to a pymunk body.

A tied particle goes where the body goes. For the sheet's own constraints it weighs as much as its share of the body
(the body's mass split over its ties), so that what the constraints move it by, times that mass, is the impulse that the
body gets at the tie.
"""

from libc.stdint cimport int64_t

from contact cimport push_body
from shapes cimport DYNAMIC, Body, Colliders


cdef inline void tie_point(const Body* b, double lx, double ly, double* x, double* y) noexcept nogil:
    x[0] = b.x + b.c * lx - b.s * ly
    y[0] = b.y + b.s * lx + b.c * ly


def move_pins(double[:, ::1] x, const int64_t[::1] pins, const double[:, ::1] start, const double[:, ::1] target,
              double fraction):
    """Pinned particles at this fraction of their way from start to target over the step; start, target: (n, 3)."""
    cdef Py_ssize_t k, i
    cdef int axis
    for k in range(pins.shape[0]):
        i = pins[k]
        for axis in range(3):
            x[axis, i] = start[k, axis] + fraction * (target[k, axis] - start[k, axis])


def weigh_ties(int64_t[::1] colliders, const int64_t[:, ::1] ties, const double[:, ::1] local, const double[::1] mass,
               double total, double[::1] w, double[::1] share):
    """Inverse mass of tied particles (0 on a body that does not move), and what part of a long-range gap they close.

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
    """Give each dynamic body the momentum by which the sheet moved its tied particles; moved: (ties, 2) scratch."""
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
