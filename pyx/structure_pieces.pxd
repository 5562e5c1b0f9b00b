# Damping of a structure's pieces, each on its own.
from libc.stdint cimport int64_t

from soft_record cimport Soft
from structure_record cimport Frame
from trig cimport decay


cdef inline void calm_piece(Soft* s, const Frame* f, int64_t piece, double h) noexcept nogil:
    # Velocities relative to a rigid motion decay (Mueller et al. 2007, "Position based dynamics", section 3.5). That
    # motion is the one with the same momentum and angular momentum; with held nodes, the one that fits those, and with
    # one only, the turn about it with the same angular momentum.
    cdef int64_t k, i, held = 0
    cdef double keep, m, total = 0.0, cx = 0.0, cy = 0.0, ux = 0.0, uy = 0.0, rx, ry, spin = 0.0, inertia = 0.0
    cdef int64_t o = f.members[f.pieces[piece]]
    if f.calm[piece] <= 0.0 or f.pieces[piece + 1] - f.pieces[piece] < 2:
        return
    keep = 1.0 - decay(f.calm[piece] * h)
    for k in range(f.pieces[piece], f.pieces[piece + 1]):
        if s.w[f.members[k]] <= 0.0:
            held += 1
    for k in range(f.pieces[piece], f.pieces[piece + 1]):
        i = f.members[k]
        if held and s.w[i] > 0.0:
            continue
        m = 1.0 if held else 1.0 / s.w[i]
        total += m
        cx += m * (s.x[2 * i] - s.x[2 * o])
        cy += m * (s.x[2 * i + 1] - s.x[2 * o + 1])
        ux += m * s.v[2 * i]
        uy += m * s.v[2 * i + 1]
    cx = s.x[2 * o] + cx / total
    cy = s.x[2 * o + 1] + cy / total
    ux /= total
    uy /= total
    for k in range(f.pieces[piece], f.pieces[piece + 1]):
        i = f.members[k]
        if (held > 1) != (s.w[i] <= 0.0):
            continue
        m = 1.0 if held > 1 else 1.0 / s.w[i]
        rx = s.x[2 * i] - cx
        ry = s.x[2 * i + 1] - cy
        spin += m * (rx * (s.v[2 * i + 1] - uy) - ry * (s.v[2 * i] - ux))
        inertia += m * (rx * rx + ry * ry)
    spin = spin / inertia if inertia > 0.0 else 0.0
    for k in range(f.pieces[piece], f.pieces[piece + 1]):
        i = f.members[k]
        if s.w[i] <= 0.0:
            continue
        s.v[2 * i] += keep * (ux - spin * (s.x[2 * i + 1] - cy) - s.v[2 * i])
        s.v[2 * i + 1] += keep * (uy + spin * (s.x[2 * i] - cx) - s.v[2 * i + 1])
