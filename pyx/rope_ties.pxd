"""Ropes tied to bodies and to each other, one rope solved after the other."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from chain cimport Chain, chain_solve
from contact cimport Hold, push_body
from links cimport end_mass
from rope_records cimport CATCH_UP, SETTLE, Anchor, Join, Rope, Stage, body_point
from rope_hubs cimport own_mass
from rope_surfaces cimport touch_shapes
from rope_together cimport solve_together
from shapes cimport DYNAMIC, Body

cdef enum:
    ALONE = 4    # ties of a rope that is solved with its bodies by itself


cdef inline void invert(double* k) noexcept nogil:
    # In place: inverse of a symmetric 2 x 2 matrix (xx, xy, yy).
    cdef double det = k[0] * k[2] - k[1] * k[1], xx = k[0]
    det = 1.0 / det if det > 1e-300 else 0.0
    k[0] = k[2] * det
    k[1] = -k[1] * det
    k[2] = xx * det


cdef inline void anchor_gain(Rope* r, Anchor* a, Body* b, double* gain) noexcept nogil:
    cdef double rx = r.x0[2 * a.node] - b.x0, ry = r.x0[2 * a.node + 1] - b.y0
    gain[0] = b.im + b.ii * ry * ry + r.w[a.node]
    gain[1] = -b.ii * rx * ry
    gain[2] = b.im + b.ii * rx * rx + r.w[a.node]
    invert(gain)


cdef inline void give(Body* b, Rope* r, int64_t node, double rx, double ry, double lx, double ly) noexcept nogil:
    r.pull[2 * node] += lx
    r.pull[2 * node + 1] += ly
    push_body(b, rx, ry, lx, ly)


cdef inline void close_anchor(Rope* r, Anchor* a, Body* b, double* gain) noexcept nogil:
    # Point constraint between a node and a dynamic body: C = x - p(body) = 0, impulse (W_body + w I)^-1 C on the body.
    # `gain` keeps the inverted matrix.
    cdef double rx, ry, w = r.w[a.node], px, py, gx, gy, lx, ly
    rx = r.x0[2 * a.node] - b.x0
    ry = r.x0[2 * a.node + 1] - b.y0
    anchor_gain(r, a, b, gain)
    body_point(b, a, &px, &py)
    gx = r.x[2 * a.node] - px
    gy = r.x[2 * a.node + 1] - py
    lx = gain[0] * gx + gain[1] * gy
    ly = gain[1] * gx + gain[2] * gy
    r.x[2 * a.node] -= w * lx
    r.x[2 * a.node + 1] -= w * ly
    give(b, r, a.node, rx, ry, lx, ly)


cdef inline void tie_anchors(Stage* stage, Rope* r) noexcept nogil:
    # Before a solve: nodes on driven bodies go with them; a node on a dynamic body becomes one mass with it.
    cdef int64_t i
    cdef Anchor* a
    cdef Body* b
    cdef double gain[3]
    cdef double w
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        b = stage.world.bodies + a.body
        if b.kind != DYNAMIC:
            body_point(b, a, &r.x[2 * a.node], &r.x[2 * a.node + 1])
            r.W[3 * a.node] = r.W[3 * a.node + 1] = r.W[3 * a.node + 2] = 0.0
            continue
        close_anchor(r, a, b, gain)
        w = r.w[a.node]
        r.W[3 * a.node] = w * (1.0 - w * gain[0])
        r.W[3 * a.node + 1] = -w * w * gain[1]
        r.W[3 * a.node + 2] = w * (1.0 - w * gain[2])


cdef inline void share_anchors(Stage* stage, Rope* r) noexcept nogil:
    # After a solve: the body's share of what the links did to a shared node, then what is left of the gap.
    cdef int64_t i
    cdef Anchor* a
    cdef Body* b
    cdef double gain[3]
    cdef double w, gx, gy, fx, fy
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        b = stage.world.bodies + a.body
        if b.kind != DYNAMIC:
            continue
        w = r.w[a.node]
        fx = r.f[2 * a.node]
        fy = r.f[2 * a.node + 1]
        gx = fx - (r.W[3 * a.node] * fx + r.W[3 * a.node + 1] * fy) / w
        gy = fy - (r.W[3 * a.node + 1] * fx + r.W[3 * a.node + 2] * fy) / w
        give(b, r, a.node, r.x0[2 * a.node] - b.x0, r.x0[2 * a.node + 1] - b.y0, gx, gy)
        close_anchor(r, a, b, gain)


cdef inline void fill_chain(Chain* chain, Stage* stage, Rope* r) noexcept nogil:
    chain.n = <int>r.count
    chain.x = r.x
    chain.x0 = r.x0
    chain.v = r.more
    chain.W = r.W
    chain.rest = r.rest
    chain.f = r.f
    chain.lam = r.lam
    chain.scratch = r.scratch
    chain.stretch_compliance = r.stretch_compliance
    chain.bend_stiffness = r.bend_stiffness
    chain.settle = 0.0 if r.touching else 1.0
    chain.catch_up = CATCH_UP * r.total
    chain.grow_up = 0.05 * CATCH_UP * r.total
    chain.reel = -r.feed if r.feed < 0.0 and not stage.drift else 0.0
    chain.reel_link = <int>r.feed_link
    chain.calm_only = 0


cdef inline void begin_solve(Stage* stage, Rope* r) noexcept nogil:
    cdef int64_t i, k
    cdef Anchor* a
    for k in range(2 * r.count):
        r.y[k] = r.x[k]
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        r.pull[2 * a.node] = r.pull[2 * a.node + 1] = 0.0


cdef inline void begin_again(Stage* stage, Rope* r, int64_t rope, int64_t first, int64_t last) noexcept nogil:
    # Take back what this rope did last; joins keep theirs.
    cdef int64_t i, k
    cdef Anchor* a
    cdef Join* join
    cdef Body* b
    cdef double* knot
    for k in range(2 * r.count):
        r.x[k] = r.y[k]
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        b = stage.world.bodies + a.body
        if b.kind == DYNAMIC:
            push_body(b, r.x0[2 * a.node] - b.x0, r.x0[2 * a.node + 1] - b.y0, -r.pull[2 * a.node],
                      -r.pull[2 * a.node + 1])
        r.pull[2 * a.node] = r.pull[2 * a.node + 1] = 0.0
    for i in range(first, last):
        join = stage.joins + i
        knot = stage.ropes[join.rope_a].knot + 2 * join.node_a
        if join.rope_a == rope:
            r.x[2 * join.node_a] -= r.w[join.node_a] * knot[0]
            r.x[2 * join.node_a + 1] -= r.w[join.node_a] * knot[1]
        if join.rope_b == rope:
            r.x[2 * join.node_b] += r.w[join.node_b] * knot[0]
            r.x[2 * join.node_b + 1] += r.w[join.node_b] * knot[1]


cdef inline bint on_dynamic(const Stage* stage, const Rope* r) noexcept nogil:
    # Is a node tied to a body that a pull moves? Between driven ones alone an impossible length is the chain's matter.
    cdef int64_t i, body
    for i in range(r.member, r.member + r.members):
        body = stage.hubs[stage.members[i].hub].body
        if body >= 0 and stage.world.bodies[body].kind == DYNAMIC:
            return True
    return False


cdef inline void solve_links(Stage* stage, Rope* r, int64_t index) noexcept nogil:
    # A rope tied to dynamic bodies leaves its own solve where that is not calm: there a pose that bodies can follow, turns
    # included, is what keeps momentum.
    cdef Chain chain
    cdef int64_t k
    cdef int64_t hubs[ALONE]
    cdef double room[8 * ALONE * ALONE + 8 * ALONE]
    fill_chain(&chain, stage, r)
    chain.calm_only = r.members <= ALONE and r.bend_stiffness <= 0.0 and not r.tied and on_dynamic(stage, r)
    tie_anchors(stage, r)
    chain_solve(&chain, stage.h)
    if chain.violent == -1:
        begin_again(stage, r, index, 0, 0)
        for k in range(r.members):
            hubs[k] = stage.members[r.member + k].hub
            own_mass(r, stage.members[r.member + k].node)
        if solve_together(stage, &index, 1, hubs, r.members, room):
            return
        for k in range(2 * r.count):
            r.x[k] = r.y[k]
        chain.calm_only = 0
        tie_anchors(stage, r)
        chain_solve(&chain, stage.h)
    for k in range(2 * r.count):
        r.more[k] -= (r.x[k] - r.x0[k]) / stage.h
    r.solves += chain.passes
    r.residual = chain.residual if chain.residual > r.residual else r.residual
    share_anchors(stage, r)


cdef inline void solve_joins(Stage* stage, int64_t first, int64_t last) noexcept nogil:
    # C = x_a - x_b = 0 with the inverse masses that the two nodes show when their own ropes' links hold.
    cdef int64_t i
    cdef Join* join
    cdef Rope* a
    cdef Rope* b
    cdef double ka[3]
    cdef double kb[3]
    cdef double gx, gy, soft
    for i in range(first, last):
        join = stage.joins + i
        a = stage.ropes + join.rope_a
        b = stage.ropes + join.rope_b
        end_mass(a.W, a.x0, a.count, join.node_a, a.stretch_compliance / (stage.h * stage.h), ka)
        end_mass(b.W, b.x0, b.count, join.node_b, b.stretch_compliance / (stage.h * stage.h), kb)
        ka[0] += kb[0]
        ka[1] += kb[1]
        ka[2] += kb[2]
        soft = 1e-9 * (a.w[join.node_a] + b.w[join.node_b])
        if soft <= 0.0:
            continue
        ka[0] += soft
        ka[2] += soft
        invert(ka)
        gx = a.x[2 * join.node_a] - b.x[2 * join.node_b]
        gy = a.x[2 * join.node_a + 1] - b.x[2 * join.node_b + 1]
        a.knot[2 * join.node_a] += ka[0] * gx + ka[1] * gy
        a.knot[2 * join.node_a + 1] += ka[1] * gx + ka[2] * gy


cdef inline void shift_body(Body* b, double rx, double ry, double lx, double ly) noexcept nogil:
    # Move a body without giving it velocity.
    b.px += b.im * lx
    b.py += b.im * ly
    b.pa += b.ii * (rx * ly - ry * lx)
    push_body(b, 0.0, 0.0, 0.0, 0.0)


cdef inline void settle_links(Stage* stage, Rope* r, int64_t island) noexcept nogil:
    # Contacts stretched the links they pushed on. While they last, the solve only keeps lengths from changing, and what
    # they are off by is mended here as drift, without velocity: else heavy loads hop on every correction.
    cdef Chain chain
    cdef Stage drifting
    cdef int64_t i, k
    cdef Anchor* a
    cdef Body* b
    cdef double w, fx, fy, worst = 0.0, dx, dy, off
    for k in range(r.count - 1):
        dx = r.x[2 * k + 2] - r.x[2 * k]
        dy = r.x[2 * k + 3] - r.x[2 * k + 1]
        off = fabs(sqrt(dx * dx + dy * dy) - r.rest[k] - r.stretch_compliance * r.lam[k] / (stage.h * stage.h))
        worst = off if off > worst else worst
        r.drift_lam[k] = 0.0
    if worst < 1e-9 * r.total:
        return
    for k in range(2 * r.count):
        r.x0[k] = r.x[k]
    fill_chain(&chain, stage, r)
    chain.lam = r.drift_lam
    chain.settle = SETTLE
    chain.stretch_compliance = chain.bend_stiffness = chain.reel = 0.0
    set_masses(stage, r)
    chain_solve(&chain, stage.h)
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        b = stage.world.bodies + a.body
        if b.kind != DYNAMIC:
            continue
        w = r.w[a.node]
        fx = r.f[2 * a.node]
        fy = r.f[2 * a.node + 1]
        dx = fx - (r.W[3 * a.node] * fx + r.W[3 * a.node + 1] * fy) / w
        dy = fy - (r.W[3 * a.node + 1] * fx + r.W[3 * a.node + 2] * fy) / w
        shift_body(b, r.x0[2 * a.node] - b.x, r.x0[2 * a.node + 1] - b.y, dx, dy)
    for k in range(r.count):
        r.W[3 * k] = r.W[3 * k + 2] = r.w[k]
        r.W[3 * k + 1] = 0.0
    drifting = stage[0]
    drifting.drift = True
    touch_shapes(&drifting, r, island)


cdef inline void set_masses(Stage* stage, Rope* r) noexcept nogil:
    # Inverse mass matrices for a solve that moves nothing but positions: anchors and rails as in the main solve.
    cdef int64_t i, k
    cdef Hold* hold
    cdef Anchor* a
    cdef Body* b
    cdef double gain[3]
    cdef double w
    for k in range(r.count):
        hold = r.holds + k
        w = r.w[k] if hold.shape >= 0 else 0.0
        r.W[3 * k] = r.w[k] - w * hold.nx * hold.nx
        r.W[3 * k + 1] = -w * hold.nx * hold.ny
        r.W[3 * k + 2] = r.w[k] - w * hold.ny * hold.ny
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        b = stage.world.bodies + a.body
        w = r.w[a.node]
        if b.kind != DYNAMIC:
            r.W[3 * a.node] = r.W[3 * a.node + 1] = r.W[3 * a.node + 2] = 0.0
            continue
        anchor_gain(r, a, b, gain)
        r.W[3 * a.node] = w * (1.0 - w * gain[0])
        r.W[3 * a.node + 1] = -w * w * gain[1]
        r.W[3 * a.node + 2] = w * (1.0 - w * gain[2])


cdef inline void seat_anchors(Stage* stage, Rope* r) noexcept nogil:
    # What rounding and later ropes on the same body left of an anchor's gap is drift: it makes no velocity.
    cdef int64_t i
    cdef Anchor* a
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        body_point(stage.world.bodies + a.body, a, &r.x[2 * a.node], &r.x[2 * a.node + 1])


cdef inline void solve_in_turn(Stage* stage, const int64_t* members, int64_t count, int64_t join_first, int64_t join_last,
                       int passes) noexcept nogil:
    # Ropes that share bodies or joins in turn, each solved anew with what the others did so far (block Gauss-Seidel), up
    # and down the list.
    cdef int64_t i, member
    cdef int k
    cdef double* knot
    for i in range(join_first, join_last):
        knot = stage.ropes[stage.joins[i].rope_a].knot + 2 * stage.joins[i].node_a
        knot[0] = knot[1] = 0.0
    for k in range(passes):
        for i in range(count):
            member = members[i if k % 2 == 0 else count - 1 - i]
            if k == 0:
                begin_solve(stage, stage.ropes + member)
            else:
                begin_again(stage, stage.ropes + member, member, join_first, join_last)
            solve_links(stage, stage.ropes + member, member)
        if k < passes - 1:
            solve_joins(stage, join_first, join_last)
