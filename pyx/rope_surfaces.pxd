"""Ropes on shapes: what lies on a surface, nodes and links against everything near their path."""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from contact cimport SLOTS, Hold, hold_edge, hold_node, note_touch, push_body
from rope_records cimport CHUNK, HEAVY, NEAR, STACK, SWEEPS, THIN, Anchor, Rope, Stage
from shapes cimport (DYNAMIC, POLY, Body, Corner, Shape, Tree, filters_meet, find_contact, find_edge_contact, next_leaf,
                     pierces, shape_distance, to_local)
from trig cimport sincos


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


cdef inline void lean_on_surfaces(Stage* stage, Rope* r, int64_t island) noexcept nogil:
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


cdef inline void read_surfaces(Stage* stage, Rope* r) noexcept nogil:
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


cdef inline double touch_nodes(Stage* stage, Rope* r, int64_t index, Body* body, bint own, int64_t first, int64_t last,
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


cdef inline double touch_links(Stage* stage, Rope* r, int64_t index, Body* body, bint own, int64_t first,
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


cdef inline double touch_shape(Stage* stage, Rope* r, int64_t island, int64_t index, int64_t first, int64_t last,
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


cdef inline double touch_chunk(Stage* stage, Rope* r, int64_t island, int64_t first, int64_t last, int sweep) noexcept nogil:
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


cdef inline bint touch_shapes(Stage* stage, Rope* r, int64_t island) noexcept nogil:
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


cdef inline void leave_surfaces(Rope* r) noexcept nogil:
    # A surface that this substep's contacts did not meet again is left.
    cdef int64_t k
    r.touching = 0
    for k in range(r.count):
        if not r.holds[k].seen:
            r.holds[k].shape = -1
        elif r.holds[k].shape >= 0:
            r.touching = 1
