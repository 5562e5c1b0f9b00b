"""Soft bodies: one substep of every body, islands over threads.

An island is a set of soft bodies that can feel each other through a shared dynamic body or a join. Islands share
nothing, so each runs serially in a fixed order on whichever thread takes it: the same bits for any number of threads.
Where there are fewer islands than threads, the links and cells of one body run side by side, colour by colour: the
same bits again.
"""

from cython.parallel cimport prange
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t, uint8_t

from contact cimport SLOTS, Hold, Touch, push_body
from shapes cimport DYNAMIC, Body, Colliders, next_leaf
from soft_area cimport ring_area, solve_areas, solve_ring
from soft_contact cimport STACK, rebound, touch_shapes
from soft_links cimport flow_links, solve_links
from soft_match cimport center, flow_places, solve_match
from soft_motion cimport calm_inside, cap_speed, damp, keep_momentum, predict, remember, take_velocities
from soft_record cimport Bond, Soft, Tie
from soft_volume cimport solve_surface, solve_tets, surface_volume

cdef enum:
    SLICE = 256            # links or cells of a colour that one thread takes at a time


def record_sizes():
    """Bytes of one Soft, Tie, Bond, Touch and Hold record."""
    return sizeof(Soft), sizeof(Tie), sizeof(Bond), sizeof(Touch), sizeof(Hold)


# ---------------------------------------------------------------- islands

cdef int64_t find(int64_t* parent, int64_t i) noexcept nogil:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


cdef void unite(int64_t* parent, int64_t i, int64_t j) noexcept nogil:
    i = find(parent, i)
    j = find(parent, j)
    if i < j:
        parent[j] = i
    elif j < i:
        parent[i] = j


cdef void meet_bodies(const Soft* s, int64_t index, int64_t count, const Colliders* world, double time, double margin,
                      int64_t* parent) noexcept nogil:
    # Every dynamic body whose shapes this soft body may reach within `time`.
    cdef double box[4]
    cdef double p, r
    cdef int64_t i, k, leaf
    cdef int64_t stack[STACK]
    cdef int top = 1
    if world.moving.root < 0 or s.dim != 2:
        return
    for k in range(2):
        box[k] = 1e300
        box[2 + k] = -1e300
        for i in range(s.count):
            p = s.x[2 * i + k]
            r = fabs(s.v[2 * i + k]) * time + margin + s.skin.radius
            box[k] = p - r if p - r < box[k] else box[k]
            box[2 + k] = p + r if p + r > box[2 + k] else box[2 + k]
    stack[0] = world.moving.root
    while True:
        leaf = next_leaf(&world.moving, stack, &top, box[0], box[1], box[2], box[3])
        if leaf < 0:
            return
        if world.bodies[world.shapes[leaf].body].kind == DYNAMIC:
            unite(parent, index, count + world.shapes[leaf].body)


def find_islands(uint8_t[::1] softs, Py_ssize_t count, int64_t[::1] colliders, Py_ssize_t bodies, double time,
                 double margin, uint8_t[::1] ties, Py_ssize_t tie_count, uint8_t[::1] bonds, Py_ssize_t bond_count,
                 int64_t[::1] parent, int64_t[::1] root, int64_t[::1] owner):
    """root[i]: the island of soft body i; owner[b]: the island that may move body b, or one of no soft body."""
    cdef Soft* s = <Soft*> &softs[0]
    cdef Tie* t = <Tie*> &ties[0]
    cdef Bond* b = <Bond*> &bonds[0]
    cdef const Colliders* world = <const Colliders*> &colliders[0]
    cdef Py_ssize_t i
    for i in range(count + bodies):
        parent[i] = i
    for i in range(count):
        meet_bodies(s + i, i, count, world, time, margin, &parent[0])
    for i in range(tie_count):
        if world.bodies[t[i].body].kind == DYNAMIC:
            unite(&parent[0], t[i].soft, count + t[i].body)
    for i in range(bond_count):
        if b[i].other >= 0:
            unite(&parent[0], b[i].soft, b[i].other)
    for i in range(count):
        root[i] = find(&parent[0], i)
    for i in range(bodies):
        owner[i] = find(&parent[0], count + i)


# ---------------------------------------------------------------- constraints of one body

cdef void solve_wide(Soft* s, double inverse, int threads) noexcept nogil:
    # A large body alone: its colours in slices over threads.
    cdef int64_t c, k, first, last, slices
    for c in range(s.color_count):
        first = s.colors[c]
        last = s.colors[c + 1]
        slices = (last - first + SLICE - 1) // SLICE
        for k in prange(slices, schedule="static", num_threads=threads):
            solve_links(s, first + k * SLICE, min(first + (k + 1) * SLICE, last), inverse)
    for c in range(s.shade_count):
        first = s.shades[c]
        last = s.shades[c + 1]
        slices = (last - first + SLICE - 1) // SLICE
        for k in prange(slices, schedule="static", num_threads=threads):
            if s.dim == 2:
                solve_areas(s, first + k * SLICE, min(first + (k + 1) * SLICE, last))
            else:
                solve_tets(s, first + k * SLICE, min(first + (k + 1) * SLICE, last))


cdef void solve_body(Soft* s, double inverse, bint first, int threads) noexcept nogil:
    remember(s)
    if s.part < 1.0:
        solve_match(s, first)
    if threads > 1:
        solve_wide(s, inverse, threads)
    else:
        solve_links(s, 0, s.link_count, inverse)
        if s.dim == 2:
            solve_areas(s, 0, s.cell_count)
        else:
            solve_tets(s, 0, s.cell_count)
    if s.whole != 0.0:
        if s.dim == 2:
            solve_ring(s)
        else:
            solve_surface(s)
    if s.part >= 1.0:
        solve_match(s, first)
    keep_momentum(s)
    if first and s.creep > 0.0:
        flow_places(s)
        flow_links(s, 0, s.link_count)


# ---------------------------------------------------------------- ties and bonds

cdef inline void tie_place(const Tie* t, const Body* b, double* x, double* y) noexcept nogil:
    x[0] = b.x + b.c * t.lx - b.s * t.ly
    y[0] = b.y + b.s * t.lx + b.c * t.ly


cdef void solve_tie(Soft* softs, Tie* t, const Colliders* world) noexcept nogil:
    # C = x - (body's point) = 0. K = w 1 + 1/m 1 + r-part; the impulse K^-1 C acts on both at the arm of the start.
    cdef Soft* s = softs + t.soft
    cdef Body* b = world.bodies + t.body
    cdef double* x = s.x + s.dim * t.node
    cdef double w = s.w[t.node], px = 0.0, py = 0.0, rx, ry, k0, k1, k2, det, gx, gy, lx, ly
    tie_place(t, b, &px, &py)
    gx = px - x[0]
    gy = py - x[1]
    if b.kind != DYNAMIC or w <= 0.0:
        x[0] = px
        x[1] = py
        if s.dim == 3:
            x[2] = t.lz
        return
    rx = s.x0[s.dim * t.node] - b.x0
    ry = s.x0[s.dim * t.node + 1] - b.y0
    k0 = w + b.im + b.ii * ry * ry
    k1 = -b.ii * rx * ry
    k2 = w + b.im + b.ii * rx * rx
    det = k0 * k2 - k1 * k1
    lx = (k2 * gx - k1 * gy) / det
    ly = (k0 * gy - k1 * gx) / det
    x[0] += w * lx
    x[1] += w * ly
    if s.dim == 3:
        x[2] = t.lz
    push_body(b, rx, ry, -lx, -ly)
    t.px += lx
    t.py += ly


cdef void solve_bond(Soft* softs, Bond* b, double h) noexcept nogil:
    # C = x_a - x_b = 0 by mass. What the other particle belongs to may be solved already: then its velocity follows.
    cdef Soft* s = softs + b.soft
    cdef double* x = s.x + s.dim * b.node
    cdef double wa = s.w[b.node], wb = b.w[0], gap
    cdef int64_t k, d = s.dim if s.dim < b.dim else b.dim
    if wa + wb <= 0.0:
        return
    for k in range(d):
        gap = (b.x[k * b.stride] - x[k]) / (wa + wb)
        x[k] += wa * gap
        b.x[k * b.stride] -= wb * gap
        if b.other < 0:
            b.v[k * b.stride] -= wb * gap / h
    # One of the two is planar: the point is in the plane.
    for k in range(d, s.dim):
        if wa > 0.0:
            x[k] = 0.0
    for k in range(d, b.dim):
        if wb > 0.0:
            if b.other < 0:
                b.v[k * b.stride] -= b.x[k * b.stride] / h
            b.x[k * b.stride] = 0.0


# ---------------------------------------------------------------- a substep

cdef void run_island(Soft* softs, const int64_t* members, const int64_t* island, Tie* ties, Bond* bonds,
                     const Colliders* world, const int64_t* owner, double h, double fraction, double gx, double gy,
                     int threads) noexcept nogil:
    # island: root, first and last member, first and last tie, first and last bond, passes.
    cdef int64_t k, turn
    cdef double inverse = 1.0 / (h * h)
    cdef Soft* s
    for k in range(island[1], island[2]):
        predict(softs + members[k], h, fraction, gx, gy)
    for k in range(island[3], island[4]):
        ties[k].px = ties[k].py = 0.0
        if world.bodies[ties[k].body].kind != DYNAMIC:
            solve_tie(softs, ties + k, world)
    for turn in range(island[7]):
        for k in range(island[1], island[2]):
            s = softs + members[k]
            solve_body(s, inverse, turn == 0, threads if s.link_count + s.cell_count >= 4 * SLICE else 1)
        for k in range(island[5], island[6]):
            solve_bond(softs, bonds + k, h)
        for k in range(island[3], island[4]):
            solve_tie(softs, ties + k, world)
        for k in range(island[1], island[2]):
            s = softs + members[k]
            if s.dim == 2:
                touch_shapes(s, world, owner, island[0], h)


def substep(uint8_t[::1] softs, const int64_t[::1] members, const int64_t[:, ::1] islands, uint8_t[::1] ties,
            uint8_t[::1] bonds, int64_t[::1] colliders, const int64_t[::1] owner, double h, double fraction, double gx,
            double gy, int threads):
    """Predict and solve every body of every island, planar contacts included."""
    cdef Soft* s = <Soft*> &softs[0]
    cdef Tie* t = <Tie*> &ties[0]
    cdef Bond* b = <Bond*> &bonds[0]
    cdef const Colliders* world = <const Colliders*> &colliders[0]
    cdef Py_ssize_t i, n = islands.shape[0]
    if n == 0:
        return
    with nogil:
        if n < threads:
            for i in range(n):
                run_island(s, &members[0], &islands[i, 0], t, b, world, &owner[0], h, fraction, gx, gy, threads)
        else:
            for i in prange(n, schedule="static", num_threads=threads):
                run_island(s, &members[0], &islands[i, 0], t, b, world, &owner[0], h, fraction, gx, gy, 1)


cdef void finish_island(Soft* softs, const int64_t* members, const int64_t* island, const Colliders* world,
                        const int64_t* owner, double h) noexcept nogil:
    cdef int64_t k, i
    cdef double before[2]
    cdef double total
    cdef Soft* s
    for k in range(island[1], island[2]):
        s = softs + members[k]
        before[0] = before[1] = total = 0.0
        if s.hits and s.held == 0:
            for i in range(s.count):
                before[0] += s.v[s.dim * i] / s.w[i]
                before[1] += s.v[s.dim * i + 1] / s.w[i]
                total += 1.0 / s.w[i]
            before[0] /= total
            before[1] /= total
        take_velocities(s, h)
        if s.dim == 2:
            rebound(s, world, owner, island[0], before, h)
        calm_inside(s, h)
        damp(s, h)
        for i in range(s.count):
            cap_speed(s, i)


def finish(uint8_t[::1] softs, const int64_t[::1] members, const int64_t[:, ::1] islands, int64_t[::1] colliders,
           const int64_t[::1] owner, double h, int threads):
    """Velocities of every body from where it went."""
    cdef Soft* s = <Soft*> &softs[0]
    cdef const Colliders* world = <const Colliders*> &colliders[0]
    cdef Py_ssize_t i, n = islands.shape[0]
    if n == 0:
        return
    with nogil:
        for i in prange(n, schedule="static", num_threads=threads):
            finish_island(s, &members[0], &islands[i, 0], world, &owner[0], h)


# ---------------------------------------------------------------- steps

def begin_step(uint8_t[::1] softs, Py_ssize_t count):
    """Remember where everything was, forget last step's touches."""
    cdef Soft* s = <Soft*> &softs[0]
    cdef Py_ssize_t i, k
    with nogil:
        for i in range(count):
            for k in range(s[i].dim * s[i].count):
                s[i].previous[k] = s[i].x[k]
            if s[i].touched:
                for k in range(SLOTS * s[i].count):
                    s[i].touches[k].shape = -1
                    s[i].touches[k].impulse = 0.0
            s[i].touched = 0
            s[i].capped = 0


def end_step(uint8_t[::1] softs, Py_ssize_t count):
    """Held particles are where they were sent."""
    cdef Soft* s = <Soft*> &softs[0]
    cdef Py_ssize_t i, k, j
    for i in range(count):
        for k in range(s[i].count):
            for j in range(s[i].dim):
                s[i].target[s[i].dim * k + j] = s[i].x[s[i].dim * k + j]


# ---------------------------------------------------------------- asking

def outline_area(const double[:, ::1] x, const int32_t[::1] ring):
    """Signed area of a closed outline."""
    return ring_area(&x[0, 0], &ring[0], ring.shape[0])


def enclosed_volume(const double[:, ::1] x, const int32_t[:, ::1] faces):
    """Signed volume of a closed surface."""
    return surface_volume(&x[0, 0], &faces[0, 0], faces.shape[0])
