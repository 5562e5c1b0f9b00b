"""Structures: one substep of every lattice of breakable links, islands over threads.

Islands, ties, bonds and contacts are those of soft bodies (softbodies.pyx): an island is what can feel each other
through a dynamic body, each runs in a fixed order on whichever thread takes it. A structure alone in an island has the
links of each colour shared out in slices instead; no two links of a colour share a node: the same bits.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t

from contact cimport push_body
from shapes cimport DYNAMIC, Body, Colliders
from soft_contact cimport touch_shapes
from soft_motion cimport cap_speed, damp, predict, take_velocities
from soft_record cimport Bond, Soft, Tie
from structure_links cimport SLICE, aim_links, calm_links, solve_frame, start_links, strain_links
from structure_pieces cimport calm_piece
from structure_record cimport Frame

cdef enum:
    LEAST = 1024           # links of a colour from which on threads share them
    CONTACTS = 4           # passes that resolve contacts and ties too, the last ones


def record_size():
    """Bytes of a Frame record."""
    return sizeof(Frame)


cdef void pass_links(Soft* s, Frame* f, double inverse, double keep, bint first, int threads) noexcept nogil:
    cdef int64_t c, k, low, high, slices
    for c in range(f.color_count):
        low = f.colors[c]
        high = f.colors[c + 1]
        if threads > 1 and high - low >= LEAST:
            slices = (high - low + SLICE - 1) // SLICE
            for k in prange(slices, schedule="static", num_threads=threads):
                if first:
                    start_links(s, f, low + k * SLICE, min(low + (k + 1) * SLICE, high), keep)
                else:
                    solve_frame(s, f, low + k * SLICE, min(low + (k + 1) * SLICE, high), inverse)
        elif first:
            start_links(s, f, low, high, keep)
        else:
            solve_frame(s, f, low, high, inverse)


# ---------------------------------------------------------------- ties and bonds

cdef void solve_tie(Soft* softs, Tie* t, const Colliders* world) noexcept nogil:
    # C = x - (body's point) = 0, both moved by K^-1 C at the arm of the start, K = (w + 1/m) 1 + r-part.
    cdef Soft* s = softs + t.soft
    cdef Body* b = world.bodies + t.body
    cdef double* x = s.x + 2 * t.node
    cdef double w = s.w[t.node], gx, gy, rx, ry, k0, k1, k2, det, lx, ly
    gx = b.x + b.c * t.lx - b.s * t.ly - x[0]
    gy = b.y + b.s * t.lx + b.c * t.ly - x[1]
    if b.kind != DYNAMIC or w <= 0.0:
        x[0] += gx
        x[1] += gy
        return
    rx = s.x0[2 * t.node] - b.x0
    ry = s.x0[2 * t.node + 1] - b.y0
    k0 = w + b.im + b.ii * ry * ry
    k1 = -b.ii * rx * ry
    k2 = w + b.im + b.ii * rx * rx
    det = k0 * k2 - k1 * k1
    lx = (k2 * gx - k1 * gy) / det
    ly = (k0 * gy - k1 * gx) / det
    x[0] += w * lx
    x[1] += w * ly
    push_body(b, rx, ry, -lx, -ly)


cdef void solve_bond(Soft* softs, Bond* b, double h) noexcept nogil:
    # C = x_a - x_b = 0 by mass. What the other particle belongs to is solved elsewhere: its velocity follows.
    cdef Soft* s = softs + b.soft
    cdef double* x = s.x + 2 * b.node
    cdef double wa = s.w[b.node], wb = b.w[0], gap
    cdef int64_t k
    if wa + wb <= 0.0:
        return
    for k in range(2):
        gap = (b.x[k * b.stride] - x[k]) / (wa + wb)
        x[k] += wa * gap
        b.x[k * b.stride] -= wb * gap
        if b.other < 0:
            b.v[k * b.stride] -= wb * gap / h


# ---------------------------------------------------------------- a substep

cdef void run_island(Soft* softs, Frame* frames, const int64_t* members, const int64_t* island, Tie* ties, Bond* bonds,
                     const Colliders* world, const int64_t* owner, double h, double fraction, double gx, double gy,
                     double keep, int threads) noexcept nogil:
    # island: root, first and last member, first and last tie, first and last bond, passes.
    cdef int64_t k, turn, passes = island[7]
    cdef double inverse = 1.0 / (h * h)
    cdef Soft* s
    for k in range(island[1], island[2]):
        s = softs + members[k]
        predict(s, h, fraction, gx, gy)
    for k in range(island[3], island[4]):
        if world.bodies[ties[k].body].kind != DYNAMIC:
            solve_tie(softs, ties + k, world)
    for k in range(island[1], island[2]):
        aim_links(softs + members[k], frames + members[k], 0, frames[members[k]].link_count)
        pass_links(softs + members[k], frames + members[k], inverse, keep, True, threads)
    for turn in range(passes):
        for k in range(island[1], island[2]):
            pass_links(softs + members[k], frames + members[k], inverse, keep, False, threads)
        for k in range(island[5], island[6]):
            solve_bond(softs, bonds + k, h)
        if turn < passes - CONTACTS:
            continue
        for k in range(island[3], island[4]):
            solve_tie(softs, ties + k, world)
        for k in range(island[1], island[2]):
            touch_shapes(softs + members[k], world, owner, island[0], h)
    for k in range(island[1], island[2]):
        strain_links(softs + members[k], frames + members[k], inverse)


cdef void finish_island(Soft* softs, Frame* frames, const int64_t* members, const int64_t* island,
                        double h) noexcept nogil:
    cdef int64_t k, i
    cdef Soft* s
    for k in range(island[1], island[2]):
        s = softs + members[k]
        take_velocities(s, h)
        calm_links(s, frames + members[k], h)
        for i in range(frames[members[k]].piece_count):
            calm_piece(s, frames + members[k], i, h)
        damp(s, h)
        for i in range(s.count):
            cap_speed(s, i)


def substep(uint8_t[::1] softs, uint8_t[::1] frames, const int64_t[::1] members, const int64_t[:, ::1] islands,
            uint8_t[::1] ties, uint8_t[::1] bonds, int64_t[::1] colliders, const int64_t[::1] owner, double h,
            double fraction, double gx, double gy, double keep, int threads):
    """Predict and solve every structure of every island, contacts included, then take velocities.

    keep: part of the last substep's multipliers to start from.
    """
    cdef Soft* s = <Soft*> &softs[0]
    cdef Frame* f = <Frame*> &frames[0]
    cdef Tie* t = <Tie*> &ties[0]
    cdef Bond* b = <Bond*> &bonds[0]
    cdef const Colliders* world = <const Colliders*> &colliders[0]
    cdef Py_ssize_t i, n = islands.shape[0]
    if n == 0:
        return
    with nogil:
        if n < threads:
            for i in range(n):
                run_island(s, f, &members[0], &islands[i, 0], t, b, world, &owner[0], h, fraction, gx, gy, keep,
                           threads)
                finish_island(s, f, &members[0], &islands[i, 0], h)
        else:
            for i in prange(n, schedule="static", num_threads=threads):
                run_island(s, f, &members[0], &islands[i, 0], t, b, world, &owner[0], h, fraction, gx, gy, keep, 1)
                finish_island(s, f, &members[0], &islands[i, 0], h)


# ---------------------------------------------------------------- pieces

cdef int64_t find(int32_t* parent, int64_t i) noexcept nogil:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def label_pieces(const int32_t[:, ::1] links, int32_t[::1] label):
    """label[i]: the lowest node that hangs together with node i by links."""
    cdef Py_ssize_t i, k, n = label.shape[0]
    cdef int64_t a, b
    for i in range(n):
        label[i] = i
    for k in range(links.shape[0]):
        a = find(&label[0], links[k, 0])
        b = find(&label[0], links[k, 1])
        if a < b:
            label[b] = a
        elif b < a:
            label[a] = b
    for i in range(n):
        label[i] = find(&label[0], i)
