"""Ropes: one substep of every rope, islands over threads.

An island is a set of ropes that can feel each other through a shared dynamic body, a join or a touch. Islands share
nothing, so each runs serially in a fixed order on whichever thread takes it: the same bits for any number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t, uint8_t

from chain cimport CHAIN_SCRATCH, Chain, chain_solve
from contact cimport (SLOTS, Hold, Skin, Touch, arm_mass, combine_friction, hold_edge, hold_node, note_touch,
                      push_body)
from shapes cimport (DYNAMIC, Body, Colliders, Corner, Shape, Tree, filters_meet, find_contact, find_edge_contact,
                     POLY, next_leaf, pierces, shape_distance, to_local)
from trig cimport decay, sincos
from links cimport end_mass

cdef enum:
    CHUNK = 16             # links that share one walk through the shape trees
    SWEEPS = 3             # contact sweeps until every particle is outside of everything
    STACK = 128

cdef double CATCH_UP = 20.0     # a wrong length closes by so many rope lengths a second at most
cdef double SETTLE = 0.25       # part of a length error mended per substep while contacts last
cdef double HEAVY = 1000.0
cdef double NEAR = 1e-3       # wu above a surface that still count as lying on it
cdef double THIN = 0.75     # links are that much thinner than nodes: on a round shape the nodes carry

cdef struct Rope:
    double* x              # (n, 2) positions
    double* x0             # (n, 2) positions at the start of the substep
    double* v              # (n, 2) velocities
    double* w              # (n) inverse masses, 0 held
    double* W              # (n, 3) inverse mass matrices of this solve
    double* rest           # (n - 1) rest lengths
    double* lam            # (n - 1) multipliers
    double* y              # (n, 2) positions before the links were solved
    double* pull           # (n, 2) position impulse that a node's tie gave its body in the last solve
    double* knot           # (n, 2) position impulse that keeps a joined node with its partner
    double* drift_lam      # (n - 1) multipliers of drift corrections
    double* f              # (n, 2) position impulses of the last solve
    double* more           # (n, 2) velocity beyond (x - x0) / h that a split substep leaves
    double* tension        # (n - 1) sum over this step's substeps
    double* previous       # (n, 2) positions at the start of the step
    double* target         # (n, 2) where held nodes go in this step
    double* scratch
    Touch* touches         # (n, SLOTS)
    Hold* holds            # (n)
    int64_t count, anchor, anchors, self_collision, feed_link, drag_own
    double damping, drag_x, drag_y, stretch_compliance, bend_stiffness, feed, max_speed, total
    int64_t touched, touching, capped, solves
    double residual, strain, peak
    Skin skin

cdef struct Anchor:        # a node tied to a body; nodes low..high do not touch that body
    int64_t rope, node, body, low, high
    double lx, ly          # in the body's frame, from its centre of gravity

cdef struct Join:          # two nodes that are one point
    int64_t rope_a, node_a, rope_b, node_b

cdef struct Pair:          # two chunks of links that may touch in this step
    int64_t rope_a, chunk_a, rope_b, chunk_b

cdef struct Stage:         # everything one island needs
    Rope* ropes
    Anchor* anchors
    Join* joins
    Pair* pairs
    Colliders* world
    double h, fraction, gx, gy
    bint drift             # positions alone


def record_sizes():
    """Bytes of one Rope, Anchor, Join, Pair, Touch and Hold record, and doubles of scratch per node."""
    return (sizeof(Rope), sizeof(Anchor), sizeof(Join), sizeof(Pair), sizeof(Touch), sizeof(Hold), CHAIN_SCRATCH)


# ---------------------------------------------------------------- one step's preparation

cdef void follow(double* x, double* previous, double* target, const double* w, const double* rest, int64_t count,
                 int64_t node, double px, double py) noexcept nogil:
    # Put a node somewhere; each next one is drawn to within a link of the one before it, up to the first held one.
    cdef int64_t k, side, link
    cdef double dx, dy, d, ox, oy
    for side in range(-1, 2, 2):
        k = node
        ox = px
        oy = py
        while True:
            if k == node:
                dx = ox - x[2 * k]
                dy = oy - x[2 * k + 1]
            else:
                link = k - 1 if side > 0 else k
                dx = ox - x[2 * k]
                dy = oy - x[2 * k + 1]
                d = sqrt(dx * dx + dy * dy)
                if w[k] <= 0.0 or d <= rest[link]:
                    break
                dx *= 1.0 - rest[link] / d
                dy *= 1.0 - rest[link] / d
            x[2 * k] += dx
            x[2 * k + 1] += dy
            previous[2 * k] += dx
            previous[2 * k + 1] += dy
            target[2 * k] = x[2 * k]
            target[2 * k + 1] = x[2 * k + 1]
            ox = x[2 * k]
            oy = x[2 * k + 1]
            k += side
            if k < 0 or k >= count:
                break


def drag(double[:, ::1] x, double[:, ::1] previous, double[:, ::1] target, double[::1] w, double[::1] rest,
         Py_ssize_t node, double px, double py):
    """Put one node of a rope at (px, py) without velocity; the others follow as far as their links make them."""
    follow(&x[0, 0], &previous[0, 0], &target[0, 0], &w[0], &rest[0], x.shape[0], node, px, py)


cdef void follow_anchors(Rope* r, Anchor* anchors, Body* bodies, double dt) noexcept nogil:
    # Anchors that jumped take their rope along; the anchors' and pins' mean motion is what damping is relative to.
    cdef int64_t i, k, n = 0
    cdef double px, py, dx, dy
    cdef Anchor* a
    cdef Body* b
    r.drag_x = r.drag_y = 0.0
    for i in range(r.anchors):
        a = anchors + r.anchor + i
        b = bodies + a.body
        body_point(b, a, &px, &py)
        dx = px - r.x[2 * a.node]
        dy = py - r.x[2 * a.node + 1]
        if dx * dx + dy * dy > 1e-8:
            follow(r.x, r.previous, r.target, r.w, r.rest, r.count, a.node, px, py)
        if b.kind != DYNAMIC:
            r.drag_x += b.vx - b.w * (py - b.y)
            r.drag_y += b.vy + b.w * (px - b.x)
            n += 1
    for k in range(r.count):
        if r.w[k] <= 0.0:
            r.drag_x += (r.target[2 * k] - r.x[2 * k]) / dt
            r.drag_y += (r.target[2 * k + 1] - r.x[2 * k + 1]) / dt
            n += 1
    r.drag_own = n == 0 and r.anchors > 0
    if n > 0:
        r.drag_x /= n
        r.drag_y /= n


def begin_step(uint8_t[::1] ropes, Py_ssize_t count, uint8_t[::1] anchors, int64_t[::1] colliders, double dt):
    """Remember the positions for interpolation, let ropes catch up with anchors that jumped, forget the last step's
    touches and tensions."""
    cdef Rope* r
    cdef Py_ssize_t i
    cdef int64_t k
    for i in range(count):
        r = <Rope*>&ropes[0] + i
        follow_anchors(r, <Anchor*>&anchors[0], (<Colliders*>&colliders[0]).bodies, dt)
        for k in range(2 * r.count):
            r.previous[k] = r.x[k]
        for k in range(r.count - 1):
            r.tension[k] = 0.0
        if r.touched:
            for k in range(SLOTS * r.count):
                r.touches[k].shape = -1
                r.touches[k].impulse = 0.0
        r.touched = r.capped = r.solves = 0
        r.residual = r.strain = r.peak = 0.0


def end_step(uint8_t[::1] ropes, Py_ssize_t count, double scale):
    """Turn summed multipliers into mean tensions (times `scale`), and measure the largest strain and tension."""
    cdef Rope* r
    cdef Py_ssize_t i
    cdef int64_t k
    cdef double dx, dy, strain
    for i in range(count):
        r = <Rope*>&ropes[0] + i
        for k in range(r.count - 1):
            r.tension[k] *= scale
            r.peak = r.tension[k] if r.tension[k] > r.peak else r.peak
            dx = r.x[2 * k + 2] - r.x[2 * k]
            dy = r.x[2 * k + 3] - r.x[2 * k + 1]
            strain = (sqrt(dx * dx + dy * dy) - r.stretch_compliance * r.tension[k]) / r.rest[k] - 1.0
            r.strain = strain if strain > r.strain else r.strain


cdef inline void chunk_box(const Rope* r, int64_t chunk, double reach, double* box) noexcept nogil:
    # Box of a chunk's nodes over the coming step, grown by `reach` seconds of motion.
    cdef int64_t k, last = (chunk + 1) * CHUNK
    cdef double m, x, y
    box[0] = box[1] = 1e300
    box[2] = box[3] = -1e300
    if last > r.count - 1:
        last = r.count - 1
    for k in range(chunk * CHUNK, last + 1):
        x = r.x[2 * k]
        y = r.x[2 * k + 1]
        m = r.skin.radius + reach * (fabs(r.v[2 * k]) + fabs(r.v[2 * k + 1]))
        box[0] = x - m if x - m < box[0] else box[0]
        box[1] = y - m if y - m < box[1] else box[1]
        box[2] = x + m if x + m > box[2] else box[2]
        box[3] = y + m if y + m > box[3] else box[3]


def chunk_boxes(uint8_t[::1] ropes, Py_ssize_t count, double reach, double margin, double[:, ::1] boxes,
                int64_t[:, ::1] owners):
    """Boxes of all chunks of links over the coming step, and (rope, chunk) of each; returns how many."""
    cdef Rope* r
    cdef Py_ssize_t i, n = 0
    cdef int64_t chunk
    for i in range(count):
        r = <Rope*>&ropes[0] + i
        for chunk in range((r.count + CHUNK - 2) // CHUNK):
            chunk_box(r, chunk, reach, &boxes[n, 0])
            boxes[n, 0] -= margin
            boxes[n, 1] -= margin
            boxes[n, 2] += margin
            boxes[n, 3] += margin
            owners[n, 0] = i
            owners[n, 1] = chunk
            n += 1
    return n


def find_pairs(uint8_t[::1] ropes, Py_ssize_t boxes_count, double[:, ::1] boxes, int64_t[:, ::1] owners,
               int64_t[::1] by_left, int64_t[:, ::1] pairs):
    """Sweep along x: chunks whose boxes meet and whose ropes may touch. Returns how many there are.

    More than `pairs` has rows for means: give it more and call again.
    """
    cdef Rope* all_ropes = <Rope*>&ropes[0]
    cdef Rope* a
    cdef Rope* b
    cdef Py_ssize_t i, j, p, q, n = 0, room = pairs.shape[0]
    for i in range(boxes_count):
        p = by_left[i]
        a = all_ropes + owners[p, 0]
        for j in range(i if a.self_collision else i + 1, boxes_count):
            q = by_left[j]
            if boxes[q, 0] > boxes[p, 2]:
                break
            if boxes[q, 1] > boxes[p, 3] or boxes[q, 3] < boxes[p, 1]:
                continue
            b = all_ropes + owners[q, 0]
            if a == b:
                if not a.self_collision:
                    continue
            elif not filters_meet(a.skin.group, a.skin.categories, a.skin.mask,
                                  b.skin.group, b.skin.categories, b.skin.mask):
                continue
            if n < room:
                pairs[n, 0] = owners[p, 0]
                pairs[n, 1] = owners[p, 1]
                pairs[n, 2] = owners[q, 0]
                pairs[n, 3] = owners[q, 1]
            n += 1
    return n


cdef inline int64_t find_root(int64_t* parent, int64_t i) noexcept nogil:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


cdef inline void unite(int64_t* parent, int64_t i, int64_t j) noexcept nogil:
    i = find_root(parent, i)
    j = find_root(parent, j)
    if i < j:
        parent[j] = i
    elif j < i:
        parent[i] = j


def find_islands(int64_t[::1] colliders, Py_ssize_t bodies, Py_ssize_t moving_leaves, uint8_t[::1] ropes,
                 Py_ssize_t count, Py_ssize_t boxes_count, double[:, ::1] boxes, int64_t[:, ::1] owners,
                 double body_margin, uint8_t[::1] anchors, Py_ssize_t anchor_count, uint8_t[::1] joins,
                 Py_ssize_t join_count, int64_t[:, ::1] pairs, Py_ssize_t pair_count, int64_t[::1] parent,
                 int64_t[::1] root_of):
    """Unite ropes and dynamic bodies that can act on each other in this step (disjoint sets).

    `root_of` gets every rope's set, named by its lowest member; each dynamic body learns its own.
    """
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef Anchor* anchor = <Anchor*>&anchors[0]
    cdef Join* join = <Join*>&joins[0]
    cdef Shape* shape
    cdef Rope* r
    cdef Py_ssize_t i
    cdef int64_t leaf, k
    cdef int64_t stack[STACK]
    cdef int top
    for i in range(count + bodies):
        parent[i] = i
    for i in range(anchor_count):
        if world.bodies[anchor[i].body].kind == DYNAMIC:
            unite(&parent[0], anchor[i].rope, count + anchor[i].body)
    for i in range(join_count):
        unite(&parent[0], join[i].rope_a, join[i].rope_b)
    for i in range(pair_count):
        unite(&parent[0], pairs[i, 0], pairs[i, 2])
    if moving_leaves > 0:
        for i in range(boxes_count):
            r = <Rope*>&ropes[0] + owners[i, 0]
            stack[0] = world.moving.root
            top = 1
            while True:
                leaf = next_leaf(&world.moving, stack, &top, boxes[i, 0] - body_margin, boxes[i, 1] - body_margin,
                                 boxes[i, 2] + body_margin, boxes[i, 3] + body_margin)
                if leaf < 0:
                    break
                shape = world.shapes + leaf
                if world.bodies[shape.body].kind == DYNAMIC and not shape.sensor:
                    unite(&parent[0], owners[i, 0], count + shape.body)
    for i in range(count):
        root_of[i] = find_root(&parent[0], i)
    for k in range(bodies):
        if world.bodies[k].kind == DYNAMIC:
            world.bodies[k].island = find_root(&parent[0], count + k)


# ---------------------------------------------------------------- predict, anchors, links

cdef inline void body_point(const Body* b, const Anchor* a, double* x, double* y) noexcept nogil:
    x[0] = b.x + b.c * a.lx - b.s * a.ly
    y[0] = b.y + b.s * a.lx + b.c * a.ly


cdef void predict(Stage* stage, Rope* r) noexcept nogil:
    # v += h a, x0 = x, x += h v; held nodes go a fraction of the way to their targets.
    cdef int64_t k
    cdef double h = stage.h, gx = stage.gx * h, gy = stage.gy * h, t
    if r.feed != 0.0:
        r.rest[r.feed_link] += r.feed
    for k in range(r.count):
        r.x0[2 * k] = r.x[2 * k]
        r.x0[2 * k + 1] = r.x[2 * k + 1]
        r.holds[k].rebound = -1
        r.W[3 * k] = r.W[3 * k + 2] = r.w[k]
        r.W[3 * k + 1] = 0.0
        if r.w[k] > 0.0:
            r.v[2 * k] += gx
            r.v[2 * k + 1] += gy
            r.x[2 * k] += h * r.v[2 * k]
            r.x[2 * k + 1] += h * r.v[2 * k + 1]
        else:
            t = stage.fraction
            r.x[2 * k] = r.previous[2 * k] + t * (r.target[2 * k] - r.previous[2 * k])
            r.x[2 * k + 1] = r.previous[2 * k + 1] + t * (r.target[2 * k + 1] - r.previous[2 * k + 1])


cdef inline void ride(const Body* b, const Hold* hold, const double* x0, double radius,
                      double* dx, double* dy) noexcept nogil:
    # How far the surface under a node goes in this substep.
    cdef double lx, ly, x = x0[0] - hold.nx * radius, y = x0[1] - hold.ny * radius
    to_local(b.x0, b.y0, b.c0, b.s0, x, y, &lx, &ly)
    dx[0] = b.x + b.c * lx - b.s * ly - x
    dy[0] = b.y + b.s * lx + b.c * ly - y


cdef inline bint solid(const Rope* r, const Shape* shape) noexcept nogil:
    return not shape.sensor and filters_meet(r.skin.group, r.skin.categories, r.skin.mask, shape.group,
                                             shape.categories, shape.mask)


cdef void lean_on_surfaces(Stage* stage, Rope* r, int64_t island) noexcept nogil:
    # A light node under a taut rope would give way in the solve, and the load behind it sink, before the contact pushes
    # it back out. Nodes that lay on a surface are therefore heavy along its normal in the solve, by the mass of the
    # geometric stiffness lam / length (Andrews, Teichmann, Kry 2017, "Geometric stiffness for real-time constrained
    # multibody dynamics") times HEAVY, and at rest on the surface.
    cdef int64_t k, link
    cdef Hold* hold
    cdef Body* b
    cdef double w, lam, rn, dx = 0.0, dy = 0.0
    for k in range(r.count):
        hold = r.holds + k
        hold.seen = 0
        hold.lam = 0.0
        hold.ease = 1.0
        w = r.w[k]
        if hold.shape < 0 or w <= 0.0:
            continue
        if not solid(r, stage.world.shapes + hold.shape):
            hold.shape = -1
            continue
        b = stage.world.bodies + stage.world.shapes[hold.shape].body
        if b.kind == DYNAMIC and b.island != island:
            continue
        link = k if k < r.count - 1 else k - 1
        lam = r.lam[link]
        if k > 0 and r.lam[k - 1] > lam:
            lam = r.lam[k - 1]
        if lam <= 0.0:
            continue
        ride(b, hold, r.x0 + 2 * k, r.skin.radius, &dx, &dy)
        rn = (r.x[2 * k] - r.x0[2 * k] - dx) * hold.nx + (r.x[2 * k + 1] - r.x0[2 * k + 1] - dy) * hold.ny
        if rn > 0.0:
            continue          # on its way off: that mass would fling the rope
        r.x[2 * k] -= rn * hold.nx
        r.x[2 * k + 1] -= rn * hold.ny
        hold.lam = -rn / w
        hold.ease = 1.0 / (1.0 + w * HEAVY * lam / r.rest[link])
        r.W[3 * k] = w * (1.0 - (1.0 - hold.ease) * hold.nx * hold.nx)
        r.W[3 * k + 1] = -w * (1.0 - hold.ease) * hold.nx * hold.ny
        r.W[3 * k + 2] = w * (1.0 - (1.0 - hold.ease) * hold.ny * hold.ny)


cdef void read_surfaces(Stage* stage, Rope* r) noexcept nogil:
    # What that mass took of the links' pull is what the surface bore: friction counts it, a dynamic body gets it.
    cdef int64_t k
    cdef Hold* hold
    cdef Body* b
    cdef double borne
    for k in range(r.count):
        hold = r.holds + k
        if hold.ease == 1.0:
            continue
        borne = (r.f[2 * k] * hold.nx + r.f[2 * k + 1] * hold.ny) * (1.0 - hold.ease) - hold.lam
        hold.lam = -borne if borne < 0.0 else 0.0
        b = stage.world.bodies + stage.world.shapes[hold.shape].body
        if b.kind == DYNAMIC:
            push_body(b, r.x0[2 * k] - b.x0, r.x0[2 * k + 1] - b.y0, borne * hold.nx, borne * hold.ny)
        r.W[3 * k] = r.W[3 * k + 2] = r.w[k]
        r.W[3 * k + 1] = 0.0


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


cdef void close_anchor(Rope* r, Anchor* a, Body* b, double* gain) noexcept nogil:
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


cdef void tie_anchors(Stage* stage, Rope* r) noexcept nogil:
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


cdef void share_anchors(Stage* stage, Rope* r) noexcept nogil:
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


cdef void fill_chain(Chain* chain, Stage* stage, Rope* r) noexcept nogil:
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


cdef void begin_solve(Stage* stage, Rope* r) noexcept nogil:
    cdef int64_t i, k
    cdef Anchor* a
    for k in range(2 * r.count):
        r.y[k] = r.x[k]
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        r.pull[2 * a.node] = r.pull[2 * a.node + 1] = 0.0


cdef void begin_again(Stage* stage, Rope* r, int64_t rope, int64_t first, int64_t last) noexcept nogil:
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


cdef void solve_links(Stage* stage, Rope* r) noexcept nogil:
    cdef Chain chain
    cdef int64_t k
    fill_chain(&chain, stage, r)
    tie_anchors(stage, r)
    chain_solve(&chain, stage.h)
    for k in range(2 * r.count):
        r.more[k] -= (r.x[k] - r.x0[k]) / stage.h
    r.solves += chain.passes
    r.residual = chain.residual if chain.residual > r.residual else r.residual
    share_anchors(stage, r)


cdef void solve_joins(Stage* stage, int64_t first, int64_t last) noexcept nogil:
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


cdef void seat_joins(Stage* stage, int64_t first, int64_t last) noexcept nogil:
    # What is left of a join's gap is drift: both nodes meet by mass, without velocity.
    cdef int64_t i
    cdef Join* join
    cdef double* p
    cdef double* q
    cdef double wa, wb, dx, dy
    for i in range(first, last):
        join = stage.joins + i
        p = stage.ropes[join.rope_a].x + 2 * join.node_a
        q = stage.ropes[join.rope_b].x + 2 * join.node_b
        wa = stage.ropes[join.rope_a].w[join.node_a]
        wb = stage.ropes[join.rope_b].w[join.node_b]
        if wa + wb <= 0.0:
            continue
        dx = (p[0] - q[0]) / (wa + wb)
        dy = (p[1] - q[1]) / (wa + wb)
        p[0] -= wa * dx
        p[1] -= wa * dy
        q[0] += wb * dx
        q[1] += wb * dy


cdef inline void shift_body(Body* b, double rx, double ry, double lx, double ly) noexcept nogil:
    # Move a body without giving it velocity.
    b.px += b.im * lx
    b.py += b.im * ly
    b.pa += b.ii * (rx * ly - ry * lx)
    push_body(b, 0.0, 0.0, 0.0, 0.0)


cdef void settle_links(Stage* stage, Rope* r, int64_t island) noexcept nogil:
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
    chain.stretch_compliance = 0.0
    chain.bend_stiffness = 0.0
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


cdef void set_masses(Stage* stage, Rope* r) noexcept nogil:
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


# ---------------------------------------------------------------- contacts with shapes

cdef inline bint exempt(Stage* stage, Rope* r, int64_t node, int64_t body) noexcept nogil:
    cdef int64_t i
    cdef Anchor* a
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        if a.body == body and a.low <= node <= a.high:
            return True
    return False


cdef inline Body stable_copy(const Body* b, double h) noexcept nogil:
    # A dynamic body of another island, as it would move untouched: all else may be changing under its owner's hands.
    cdef Body c
    c.x0 = b.x0
    c.y0 = b.y0
    c.a0 = b.a0
    c.c0 = b.c0
    c.s0 = b.s0
    c.x = b.x0 + b.vx * h
    c.y = b.y0 + b.vy * h
    c.a = b.a0 + b.w * h
    sincos(c.a, &c.s, &c.c)
    c.px = c.x
    c.py = c.y
    c.pa = c.a
    c.pc = c.c
    c.ps = c.s
    c.vx = b.vx
    c.vy = b.vy
    c.w = b.w
    c.im = c.ii = 0.0
    c.jx = c.jy = c.jt = 0.0
    c.kind = 1
    c.island = b.island
    return c


cdef double touch_nodes(Stage* stage, Rope* r, int64_t index, Body* body, bint own, int64_t first, int64_t last,
                        int sweep) noexcept nogil:
    # Nodes first..last against one shape; the largest push.
    cdef Shape* shape = stage.world.shapes + index
    cdef int64_t k
    cdef double px, py, qx, qy, nx = 0.0, ny = 0.0, depth = 0.0, worst = 0.0, push, reach, path
    cdef double still[2]
    for k in range(first, last + 1):
        if r.W[3 * k] != r.w[k] or r.W[3 * k + 1] != 0.0:
            continue          # carried by its anchor
        to_local(body.x, body.y, body.c, body.s, r.x[2 * k], r.x[2 * k + 1], &qx, &qy)
        to_local(body.x0, body.y0, body.c0, body.s0, r.x0[2 * k], r.x0[2 * k + 1], &px, &py)
        path = fabs(qx - px) + fabs(qy - py)
        reach = shape.reach + r.skin.radius + path
        if (qx - shape.cx) * (qx - shape.cx) + (qy - shape.cy) * (qy - shape.cy) > reach * reach:
            continue
        if r.anchors and exempt(stage, r, k, shape.body):
            continue
        if shape.sensor:
            if shape_distance(shape, stage.world.corners, qx, qy, &nx, &ny) < r.skin.radius:
                note_touch(r.touches + SLOTS * k, index, 0.0, 0.0, 0.0)
                r.touched = 1
            continue
        if not find_contact(shape, stage.world.corners, px, py, qx, qy, r.skin.radius, &nx, &ny, &depth):
            if r.holds[k].shape != index or r.holds[k].seen:
                continue
            depth = r.skin.radius - shape_distance(shape, stage.world.corners, qx, qy, &nx, &ny)
            if depth < -NEAR:
                continue
            depth = 0.0       # still lying on it: friction
        r.touched = 1
        if r.w[k] <= 0.0 and not own:
            continue
        push = hold_node(r.x + 2 * k, r.x0 + 2 * k, r.v + 2 * k, r.w[k], &r.skin, shape, index, body, own,
                         body.c * nx - body.s * ny, body.s * nx + body.c * ny, depth, stage.h,
                         r.touches + SLOTS * k, r.holds + k)
        worst = push if push > worst else worst
        if sweep >= SWEEPS and push > 0.25 * r.skin.radius and body.kind != DYNAMIC:
            # Wedged between shapes: back to where it was outside of all of them.
            r.x[2 * k] = r.x0[2 * k]
            r.x[2 * k + 1] = r.x0[2 * k + 1]
    return worst


cdef double touch_links(Stage* stage, Rope* r, int64_t index, Body* body, bint own, int64_t first,
                        int64_t last) noexcept nogil:
    # Links first..last-1 against the vertices (or the centre) of one shape.
    cdef Shape* shape = stage.world.shapes + index
    cdef const Corner* v = stage.world.corners + shape.first
    cdef int64_t k, i
    cdef double a0[2]
    cdef double a1[2]
    cdef double b0[2]
    cdef double b1[2]
    cdef double nx = 0.0, ny = 0.0, at = 0.0, depth = 0.0, worst = 0.0, push, reach, mx, my, wa, wb
    for k in range(first, last):
        to_local(body.x, body.y, body.c, body.s, r.x[2 * k], r.x[2 * k + 1], &a1[0], &a1[1])
        to_local(body.x, body.y, body.c, body.s, r.x[2 * k + 2], r.x[2 * k + 3], &b1[0], &b1[1])
        to_local(body.x0, body.y0, body.c0, body.s0, r.x0[2 * k], r.x0[2 * k + 1], &a0[0], &a0[1])
        to_local(body.x0, body.y0, body.c0, body.s0, r.x0[2 * k + 2], r.x0[2 * k + 3], &b0[0], &b0[1])
        mx = 0.5 * (a1[0] + b1[0])
        my = 0.5 * (a1[1] + b1[1])
        reach = shape.reach + r.skin.radius + 0.5 * (fabs(a1[0] - b1[0]) + fabs(a1[1] - b1[1])) + fabs(
            a1[0] - a0[0]) + fabs(a1[1] - a0[1]) + fabs(b1[0] - b0[0]) + fabs(b1[1] - b0[1])
        if (mx - shape.cx) * (mx - shape.cx) + (my - shape.cy) * (my - shape.cy) > reach * reach:
            continue
        if r.anchors and (exempt(stage, r, k, shape.body) or exempt(stage, r, k + 1, shape.body)):
            continue
        for i in range(shape.count):
            if not find_edge_contact(a0[0], a0[1], b0[0], b0[1], a1[0], a1[1], b1[0], b1[1], v[i].x, v[i].y,
                                     shape.radius + THIN * r.skin.radius, False, &nx, &ny, &at, &depth):
                continue
            r.touched = 1
            wa = r.w[k] if r.W[3 * k] > 0.0 or r.W[3 * k + 2] > 0.0 else 0.0
            wb = r.w[k + 1] if r.W[3 * k + 3] > 0.0 or r.W[3 * k + 5] > 0.0 else 0.0
            push = hold_edge(r.x + 2 * k, r.x0 + 2 * k, wa, r.x + 2 * k + 2, r.x0 + 2 * k + 2, wb, at, &r.skin,
                             shape, index, body, own, body.c * nx - body.s * ny, body.s * nx + body.c * ny, depth,
                             stage.h, r.touches + SLOTS * (k + (1 if at > 0.5 else 0)), r.holds + k)
            worst = push if push > worst else worst
            to_local(body.x, body.y, body.c, body.s, r.x[2 * k], r.x[2 * k + 1], &a1[0], &a1[1])
            to_local(body.x, body.y, body.c, body.s, r.x[2 * k + 2], r.x[2 * k + 3], &b1[0], &b1[1])
        if shape.kind == POLY and pierces(shape, stage.world.corners, a1, b1, &nx, &ny, &at, &depth):
            depth += THIN * r.skin.radius
            r.touched = 1
            wa = r.w[k] if r.W[3 * k] > 0.0 or r.W[3 * k + 2] > 0.0 else 0.0
            wb = r.w[k + 1] if r.W[3 * k + 3] > 0.0 or r.W[3 * k + 5] > 0.0 else 0.0
            push = hold_edge(r.x + 2 * k, r.x0 + 2 * k, wa, r.x + 2 * k + 2, r.x0 + 2 * k + 2, wb, at, &r.skin,
                             shape, index, body, own, body.c * nx - body.s * ny, body.s * nx + body.c * ny, depth,
                             stage.h, r.touches + SLOTS * (k + (1 if at > 0.5 else 0)), r.holds + k)
            worst = push if push > worst else worst
    return worst


cdef double touch_shape(Stage* stage, Rope* r, int64_t island, int64_t index, int64_t first, int64_t last,
                        int sweep) noexcept nogil:
    cdef Shape* shape = stage.world.shapes + index
    cdef Body* body = stage.world.bodies + shape.body
    cdef Body copy
    cdef bint own = body.kind == DYNAMIC and body.island == island
    cdef double a, b = 0.0
    if not filters_meet(r.skin.group, r.skin.categories, r.skin.mask, shape.group, shape.categories, shape.mask):
        return 0.0
    if body.kind == DYNAMIC and not own:
        copy = stable_copy(body, stage.h)
        body = &copy
    elif own and stage.drift:
        # Velocities are settled: nothing may be given to the body any more.
        copy = body[0]
        copy.im = copy.ii = 0.0
        copy.kind = 1
        body = &copy
        own = False
    a = touch_nodes(stage, r, index, body, own, first, last, sweep)
    if not shape.sensor and sweep < SWEEPS:
        b = touch_links(stage, r, index, body, own, first, last)
    return a if a > b else b


cdef double touch_chunk(Stage* stage, Rope* r, int64_t island, int64_t first, int64_t last, int sweep) noexcept nogil:
    # One chunk of links against everything near its path.
    cdef int64_t k, leaf
    cdef int64_t stack[STACK]
    cdef int top, which
    cdef double x0 = 1e300, y0 = 1e300, x1 = -1e300, y1 = -1e300, worst = 0.0, push
    cdef double* p
    cdef Tree* tree
    for k in range(first, last + 1):
        p = r.x + 2 * k
        for which in range(2):
            x0 = p[0] if p[0] < x0 else x0
            x1 = p[0] if p[0] > x1 else x1
            y0 = p[1] if p[1] < y0 else y0
            y1 = p[1] if p[1] > y1 else y1
            p = r.x0 + 2 * k
    for which in range(2):
        tree = &stage.world.still if which == 0 else &stage.world.moving
        if tree.root < 0:
            continue
        stack[0] = tree.root
        top = 1
        while True:
            leaf = next_leaf(tree, stack, &top, x0 - r.skin.radius, y0 - r.skin.radius, x1 + r.skin.radius,
                             y1 + r.skin.radius)
            if leaf < 0:
                break
            push = touch_shape(stage, r, island, leaf, first, last, sweep)
            worst = push if push > worst else worst
    return worst


cdef bint touch_shapes(Stage* stage, Rope* r, int64_t island) noexcept nogil:
    # Every chunk, until it is clear or SWEEPS are over. True where anything was pushed.
    cdef int64_t first, last
    cdef int sweep
    cdef double push, any_push = 0.0
    if stage.world.still.root < 0 and stage.world.moving.root < 0:
        return False
    first = 0
    while first < r.count - 1:
        last = first + CHUNK
        last = last if last < r.count - 1 else r.count - 1
        for sweep in range(SWEEPS + 1):
            push = touch_chunk(stage, r, island, first, last, sweep)
            any_push = push if push > any_push else any_push
            if push < 1e-7:
                break
        first = last
    return any_push > 0.0


# ---------------------------------------------------------------- rope on rope

cdef inline bint free_node(const Rope* r, int64_t k) noexcept nogil:
    return r.w[k] > 0.0 and r.W[3 * k] == r.w[k] and r.W[3 * k + 1] == 0.0


cdef void touch_pair(Stage* stage, Rope* a, int64_t node, Rope* b, int64_t link) noexcept nogil:
    # C = distance between a node p and a point on a link s-t - sum of radii >= 0, normal n from the node to the link;
    # friction and overlaps as with shapes. Inverse masses: the node's and the lever's.
    cdef double* p = a.x + 2 * node
    cdef double* p0 = a.x0 + 2 * node
    cdef double* s = b.x + 2 * link
    cdef double* s0 = b.x0 + 2 * link
    cdef double radius = a.skin.radius + b.skin.radius, nx = 0.0, ny = 0.0, at = 0.0, depth = 0.0
    cdef double wp = a.w[node], ws, wt, w, lam, limit, slip, ps, gap, back, mx, my
    if fabs(p[0] - s[0]) + fabs(p[1] - s[1]) > 1.5 * (radius + fabs(s[2] - s[0]) + fabs(s[3] - s[1])) + fabs(
            p[0] - p0[0]) + fabs(p[1] - p0[1]) + fabs(s[0] - s0[0]) + fabs(s[1] - s0[1]):
        return
    if not find_edge_contact(s0[0] - p0[0], s0[1] - p0[1], s0[2] - p0[0], s0[3] - p0[1], s[0] - p[0], s[1] - p[1],
                             s[2] - p[0], s[3] - p[1], 0.0, 0.0, radius, True, &nx, &ny, &at, &depth):
        return
    ps = 1.0 - at
    ws = ps * b.w[link] if free_node(b, link) else 0.0
    wt = at * b.w[link + 1] if free_node(b, link + 1) else 0.0
    w = wp + ps * ws + at * wt
    if w <= 0.0:
        return
    # motion of the link's point relative to the node in this substep
    mx = ps * (s[0] - s0[0]) + at * (s[2] - s0[2]) - p[0] + p0[0]
    my = ps * (s[1] - s0[1]) + at * (s[3] - s0[3]) - p[1] + p0[1]
    gap = -depth - (mx * nx + my * ny)
    if gap < 0.0:
        back = a.skin.depenetration * stage.h
        back = (-gap if -gap < back else back) / w
        spread(p0, wp, s0, ws, wt, back * nx, back * ny)
        spread(p, wp, s, ws, wt, back * nx, back * ny)
        depth += gap
    if depth <= 0.0:
        return
    lam = depth / w
    limit = a.skin.friction * b.skin.friction * lam
    slip = (-mx * ny + my * nx) / w
    slip = limit if slip > limit else (-limit if slip < -limit else slip)
    spread(p, wp, s, ws, wt, lam * nx + slip * ny, lam * ny - slip * nx)


cdef inline void spread(double* p, double wp, double* s, double ws, double wt, double lx, double ly) noexcept nogil:
    # A position impulse on a link's point and its opposite on a node.
    p[0] -= wp * lx
    p[1] -= wp * ly
    s[0] += ws * lx
    s[1] += ws * ly
    s[2] += wt * lx
    s[3] += wt * ly


cdef void touch_chunks(Stage* stage, Pair* pair) noexcept nogil:
    cdef Rope* a
    cdef Rope* b
    cdef int64_t i, j, near, ca, cb
    cdef int side
    for side in range(2):
        if side == 0:
            a = stage.ropes + pair.rope_a
            b = stage.ropes + pair.rope_b
            ca = pair.chunk_a
            cb = pair.chunk_b
        else:
            if pair.rope_a == pair.rope_b and pair.chunk_a == pair.chunk_b:
                break
            a = stage.ropes + pair.rope_b
            b = stage.ropes + pair.rope_a
            ca = pair.chunk_b
            cb = pair.chunk_a
        for i in range(ca * CHUNK, min((ca + 1) * CHUNK, a.count - 1) + 1):
            if i == (ca + 1) * CHUNK and i != a.count - 1:
                continue
            if not free_node(a, i):
                continue
            for j in range(cb * CHUNK, min((cb + 1) * CHUNK, b.count - 1)):
                if a == b:
                    near = 2 + <int64_t>(2.0 * b.skin.radius / (b.rest[j] + 1e-9))
                    if i - j - 1 < near and j - i < near:
                        continue
                if not free_node(b, j) and not free_node(b, j + 1):
                    continue
                touch_pair(stage, a, i, b, j)


cdef void leave_surfaces(Rope* r) noexcept nogil:
    # A surface that this substep's contacts did not meet again is left.
    cdef int64_t k
    r.touching = 0
    for k in range(r.count):
        if not r.holds[k].seen:
            r.holds[k].shape = -1
        elif r.holds[k].shape >= 0:
            r.touching = 1


# ---------------------------------------------------------------- velocities

cdef void finish(Stage* stage, Rope* r, int64_t island) noexcept nogil:
    # v = (x - x0) / h, rebound, damping relative to the anchors' own motion, speed cap.
    cdef int64_t k
    cdef double h = stage.h, inv = 1.0 / stage.h, keep = decay(r.damping * stage.h), vx, vy, speed, lam, rx, ry
    cdef double cap2 = r.max_speed * r.max_speed
    cdef Hold* hold
    cdef Body* b
    for k in range(r.count - 1):
        r.tension[k] += r.lam[k]
    for k in range(r.count):
        vx = (r.x[2 * k] - r.x0[2 * k]) * inv + r.more[2 * k]
        vy = (r.x[2 * k + 1] - r.x0[2 * k + 1]) * inv + r.more[2 * k + 1]
        hold = r.holds + k
        b = stage.world.bodies + hold.rebound
        if hold.rebound >= 0 and (b.kind != DYNAMIC or b.island == island):
            rx = r.x0[2 * k] - b.x0
            ry = r.x0[2 * k + 1] - b.y0
            speed = (vx - (b.x - b.x0) * inv + (b.a - b.a0) * inv * ry) * hold.nx + (
                vy - (b.y - b.y0) * inv - (b.a - b.a0) * inv * rx) * hold.ny
            if speed < hold.speed:
                lam = (hold.speed - speed) / (r.w[k] + arm_mass(b, rx, ry, hold.nx, hold.ny))
                vx += r.w[k] * lam * hold.nx
                vy += r.w[k] * lam * hold.ny
                push_body(b, rx, ry, -lam * h * hold.nx, -lam * h * hold.ny)
        speed = vx * vx + vy * vy
        if not (speed <= cap2):
            speed = r.max_speed / sqrt(speed) if speed < 1e300 else 0.0
            vx = vx * speed if speed > 0.0 else 0.0
            vy = vy * speed if speed > 0.0 else 0.0
            r.capped += 1
        if not (-1e300 < r.x[2 * k] < 1e300 and -1e300 < r.x[2 * k + 1] < 1e300):
            r.x[2 * k] = r.x0[2 * k]
            r.x[2 * k + 1] = r.x0[2 * k + 1]
        r.v[2 * k] = vx
        r.v[2 * k + 1] = vy
    if keep != 1.0:
        damp(r, keep)


cdef void damp(Rope* r, double keep) noexcept nogil:
    # v decays relative to the driven anchors; with dynamic ones alone, to the rope's own mean, which keeps momentum.
    cdef int64_t k
    cdef double mx = 0.0, my = 0.0, m = 0.0
    if r.drag_own:
        for k in range(r.count):
            if r.w[k] > 0.0:
                mx += r.v[2 * k] / r.w[k]
                my += r.v[2 * k + 1] / r.w[k]
                m += 1.0 / r.w[k]
        if m > 0.0:
            r.drag_x = mx / m
            r.drag_y = my / m
    for k in range(r.count):
        if r.w[k] > 0.0:
            r.v[2 * k] = r.drag_x + (r.v[2 * k] - r.drag_x) * keep
            r.v[2 * k + 1] = r.drag_y + (r.v[2 * k + 1] - r.drag_y) * keep


cdef void seat_anchors(Stage* stage, Rope* r) noexcept nogil:
    # What rounding and later ropes on the same body left of an anchor's gap is drift: it makes no velocity.
    cdef int64_t i
    cdef Anchor* a
    for i in range(r.anchors):
        a = stage.anchors + r.anchor + i
        body_point(stage.world.bodies + a.body, a, &r.x[2 * a.node], &r.x[2 * a.node + 1])


cdef void solve_island(Stage* stage, const int64_t* members, int64_t count, int64_t join_first, int64_t join_last,
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
            solve_links(stage, stage.ropes + member)
        if k < passes - 1:
            solve_joins(stage, join_first, join_last)


cdef void step_island(Stage* stage, int64_t island, const int64_t* members, int64_t count, int64_t join_first,
                      int64_t join_last, int64_t pair_first, int64_t pair_last, int passes) noexcept nogil:
    cdef int64_t i
    for i in range(count):
        predict(stage, stage.ropes + members[i])
        lean_on_surfaces(stage, stage.ropes + members[i], island)
    solve_island(stage, members, count, join_first, join_last, passes)
    for i in range(count):
        read_surfaces(stage, stage.ropes + members[i])
    for i in range(pair_first, pair_last):
        touch_chunks(stage, stage.pairs + i)
    for i in range(count):
        touch_shapes(stage, stage.ropes + members[i], island)
        leave_surfaces(stage.ropes + members[i])
    for i in range(count):
        finish(stage, stage.ropes + members[i], island)
    for i in range(count):
        if stage.ropes[members[i]].touching:
            settle_links(stage, stage.ropes + members[i], island)
        seat_anchors(stage, stage.ropes + members[i])
    seat_joins(stage, join_first, join_last)


def substep(uint8_t[::1] ropes, uint8_t[::1] anchors, uint8_t[::1] joins, int64_t[:, ::1] pairs,
            int64_t[::1] members, int64_t[:, ::1] islands, int64_t[::1] colliders, double h, double fraction,
            double gx, double gy, int threads):
    """Advance every rope by one substep.

    `islands` has a row per island: its name (as the bodies know it), first and last of `members`, first and last join,
    first and last pair, passes.
    """
    cdef Stage stage
    cdef Py_ssize_t i, n = islands.shape[0]
    stage.ropes = <Rope*>&ropes[0]
    stage.anchors = <Anchor*>&anchors[0]
    stage.joins = <Join*>&joins[0]
    stage.pairs = <Pair*>&pairs[0, 0]
    stage.world = <Colliders*>&colliders[0]
    stage.h = h
    stage.drift = False
    stage.fraction = fraction
    stage.gx = gx
    stage.gy = gy
    for i in prange(n, nogil=True, schedule="dynamic", num_threads=threads):
        step_island(&stage, islands[i, 0], &members[islands[i, 1]], islands[i, 2] - islands[i, 1], islands[i, 3],
                    islands[i, 4], islands[i, 5], islands[i, 6], <int>islands[i, 7])
