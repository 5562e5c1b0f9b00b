# Particles and outline edges of planar soft bodies against pymunk's shapes, two-way (see contact.pxd).
#
# A dynamic body is moved only by the island that owns it; all others see it as it would go untouched.
from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from contact cimport SLOTS, Hold, arm_mass, hold_edge, hold_node, note_touch, push_body
from shapes cimport (DYNAMIC, POLY, Body, Colliders, Corner, Shape, Tree, filters_meet, find_contact,
                     find_edge_contact, next_leaf, pierces, shape_distance, to_local)
from soft_record cimport Soft
from trig cimport sincos

cdef enum:
    CHUNK = 32             # particles or edges that share one walk through the shape trees
    STACK = 128

cdef inline double thin(const Soft* s) noexcept nogil:
    # Edges are that much thinner than particles: on a round shape the particles carry.
    return 0.75 * s.skin.radius


cdef inline Body unmoved(const Body* b, double h) noexcept nogil:
    # A dynamic body of another island: all else may be changing under its owner's hands.
    cdef Body c
    c.x0 = b.x0
    c.y0 = b.y0
    c.a0 = b.a0
    c.c0 = b.c0
    c.s0 = b.s0
    c.x = c.px = b.x0 + b.vx * h
    c.y = c.py = b.y0 + b.vy * h
    c.a = c.pa = b.a0 + b.w * h
    sincos(c.a, &c.s, &c.c)
    c.pc = c.c
    c.ps = c.s
    c.vx = b.vx
    c.vy = b.vy
    c.w = b.w
    c.im = c.ii = 0.0
    c.jx = c.jy = c.jt = 0.0
    c.kind = 1
    c.touched = 0
    c.island = -1
    c.dvx = c.dvy = c.dw = c.ax = c.ay = c.aw = 0.0
    return c


cdef inline bint spared(const Soft* s, int64_t node, int64_t body) noexcept nogil:
    cdef int64_t k
    for k in range(s.exempt_count):
        if s.exempt[2 * k] == node and s.exempt[2 * k + 1] == body:
            return True
    return False


cdef inline void note_hit(Soft* s, Hold* hold, double e, const double* place) noexcept nogil:
    s.hit_e = e if e > s.hit_e else s.hit_e
    s.hit_x += place[0]
    s.hit_y += place[1]
    s.hit_nx += hold.nx
    s.hit_ny += hold.ny
    s.hit_body = hold.rebound
    s.hits += 1
    hold.rebound = -1


cdef inline void touch_nodes(Soft* s, const Colliders* world, int64_t index, Body* body, bint own, int64_t first,
                             int64_t last, double h) noexcept nogil:
    cdef const Shape* shape = world.shapes + index
    cdef int64_t k
    cdef double px, py, qx, qy, nx = 0.0, ny = 0.0, depth = 0.0, reach
    for k in range(first, last):
        to_local(body.x, body.y, body.c, body.s, s.x[2 * k], s.x[2 * k + 1], &qx, &qy)
        to_local(body.x0, body.y0, body.c0, body.s0, s.x0[2 * k], s.x0[2 * k + 1], &px, &py)
        reach = shape.reach + s.skin.radius + fabs(qx - px) + fabs(qy - py)
        if (qx - shape.cx) * (qx - shape.cx) + (qy - shape.cy) * (qy - shape.cy) > reach * reach:
            continue
        if s.exempt_count and spared(s, k, shape.body):
            continue
        if shape.sensor:
            if shape_distance(shape, world.corners, qx, qy, &nx, &ny) < s.skin.radius:
                note_touch(s.touches + SLOTS * k, index, 0.0, 0.0, 0.0)
                s.touched = 1
            continue
        if not find_contact(shape, world.corners, px, py, qx, qy, s.skin.radius, &nx, &ny, &depth):
            continue
        s.touched = 1
        if s.w[k] <= 0.0 and not own:
            continue
        hold_node(s.x + 2 * k, s.x0 + 2 * k, s.v + 2 * k, s.w[k], &s.skin, shape, index, body, own,
                  body.c * nx - body.s * ny, body.s * nx + body.c * ny, depth, h, s.touches + SLOTS * k, s.holds + k)
        if s.holds[k].rebound >= 0:
            note_hit(s, s.holds + k, s.skin.elasticity * shape.elasticity, s.x0 + 2 * k)


cdef inline void press_edge(Soft* s, const Shape* shape, int64_t index, Body* body, bint own, int32_t a, int32_t b,
                            double nx, double ny, double at, double depth, double h) noexcept nogil:
    # The two ends' holds lie apart, hold_edge wants them side by side: two spare ones lie behind the last.
    s.holds[s.count] = s.holds[a]
    s.holds[s.count + 1] = s.holds[b]
    s.touched = 1
    hold_edge(s.x + 2 * a, s.x0 + 2 * a, s.w[a], s.x + 2 * b, s.x0 + 2 * b, s.w[b], at, &s.skin, shape, index, body,
              own, body.c * nx - body.s * ny, body.s * nx + body.c * ny, depth, h,
              s.touches + SLOTS * (b if at > 0.5 else a), s.holds + s.count)
    s.holds[a] = s.holds[s.count]
    s.holds[b] = s.holds[s.count + 1]


cdef inline void edge_frame(const Soft* s, const Body* body, int32_t a, int32_t b, double* p) noexcept nogil:
    # a then b now, in the body's frame.
    to_local(body.x, body.y, body.c, body.s, s.x[2 * a], s.x[2 * a + 1], p, p + 1)
    to_local(body.x, body.y, body.c, body.s, s.x[2 * b], s.x[2 * b + 1], p + 2, p + 3)


cdef inline void touch_edges(Soft* s, const Colliders* world, int64_t index, Body* body, bint own, int64_t first,
                             int64_t last, double h) noexcept nogil:
    # Edges against the vertices (or the centre) of one shape.
    cdef const Shape* shape = world.shapes + index
    cdef const Corner* v = world.corners + shape.first
    cdef int64_t k, i
    cdef int32_t a, b
    cdef double p[4]
    cdef double o[4]
    cdef double nx = 0.0, ny = 0.0, at = 0.0, depth = 0.0, reach, mx, my
    for k in range(first, last):
        a = s.edges[2 * k]
        b = s.edges[2 * k + 1]
        if s.w[a] + s.w[b] <= 0.0 and not own:
            continue
        edge_frame(s, body, a, b, p)
        to_local(body.x0, body.y0, body.c0, body.s0, s.x0[2 * a], s.x0[2 * a + 1], o, o + 1)
        to_local(body.x0, body.y0, body.c0, body.s0, s.x0[2 * b], s.x0[2 * b + 1], o + 2, o + 3)
        mx = 0.5 * (p[0] + p[2]) - shape.cx
        my = 0.5 * (p[1] + p[3]) - shape.cy
        reach = shape.reach + s.skin.radius + 0.5 * (fabs(p[0] - p[2]) + fabs(p[1] - p[3])) + fabs(
            p[0] - o[0]) + fabs(p[1] - o[1]) + fabs(p[2] - o[2]) + fabs(p[3] - o[3])
        if mx * mx + my * my > reach * reach:
            continue
        if s.exempt_count and (spared(s, a, shape.body) or spared(s, b, shape.body)):
            continue
        for i in range(shape.count):
            if not find_edge_contact(o[0], o[1], o[2], o[3], p[0], p[1], p[2], p[3], v[i].x, v[i].y,
                                     shape.radius + thin(s), False, &nx, &ny, &at, &depth):
                continue
            press_edge(s, shape, index, body, own, a, b, nx, ny, at, depth, h)
            edge_frame(s, body, a, b, p)
        if shape.kind == POLY and pierces(shape, world.corners, p, p + 2, &nx, &ny, &at, &depth):
            press_edge(s, shape, index, body, own, a, b, nx, ny, at, depth + thin(s), h)


cdef inline void touch_shape(Soft* s, const Colliders* world, const int64_t* owner, int64_t island, int64_t index,
                             int64_t first, int64_t last, bint edges, double h) noexcept nogil:
    cdef const Shape* shape = world.shapes + index
    cdef Body* body = world.bodies + shape.body
    cdef Body copy
    cdef bint own = body.kind == DYNAMIC and owner[shape.body] == island
    if not filters_meet(s.skin.group, s.skin.categories, s.skin.mask, shape.group, shape.categories, shape.mask):
        return
    if body.kind == DYNAMIC and not own:
        copy = unmoved(body, h)
        body = &copy
    if not edges:
        touch_nodes(s, world, index, body, own, first, last, h)
    elif not shape.sensor:
        touch_edges(s, world, index, body, own, first, last, h)


cdef inline void spread(const double* p, double* box) noexcept nogil:
    box[0] = p[0] if p[0] < box[0] else box[0]
    box[1] = p[1] if p[1] < box[1] else box[1]
    box[2] = p[0] if p[0] > box[2] else box[2]
    box[3] = p[1] if p[1] > box[3] else box[3]


cdef inline void touch_chunk(Soft* s, const Colliders* world, const int64_t* owner, int64_t island, int64_t first,
                             int64_t last, bint edges, double h) noexcept nogil:
    # Particles, or edges, first..last - 1 against everything near their path.
    cdef int64_t k, leaf
    cdef int64_t stack[STACK]
    cdef int top, which
    cdef double box[4]
    cdef const Tree* tree
    box[0] = box[1] = 1e300
    box[2] = box[3] = -1e300
    for k in range(2 * first if edges else first, 2 * last if edges else last):
        leaf = s.edges[k] if edges else k
        spread(s.x + 2 * leaf, box)
        spread(s.x0 + 2 * leaf, box)
    for which in range(2):
        tree = &world.still if which == 0 else &world.moving
        if tree.root < 0:
            continue
        stack[0] = tree.root
        top = 1
        while True:
            leaf = next_leaf(tree, stack, &top, box[0] - s.skin.radius, box[1] - s.skin.radius,
                             box[2] + s.skin.radius, box[3] + s.skin.radius)
            if leaf < 0:
                break
            touch_shape(s, world, owner, island, leaf, first, last, edges, h)


cdef inline void touch_shapes(Soft* s, const Colliders* world, const int64_t* owner, int64_t island,
                              double h) noexcept nogil:
    cdef int64_t k = 0
    while k < s.count:
        touch_chunk(s, world, owner, island, k, k + CHUNK if k + CHUNK < s.count else s.count, False, h)
        k += CHUNK
    k = 0
    while k < s.edge_count:
        touch_chunk(s, world, owner, island, k, k + CHUNK if k + CHUNK < s.edge_count else s.edge_count, True, h)
        k += CHUNK


cdef inline double strained(const Soft* s, const double* c) noexcept nogil:
    # Twice the energy that shape matching and compliant links have stored: sum m w^2 |x - g|^2 + sum C^2 / alpha.
    cdef int64_t i
    cdef double total = 0.0, gap, dx, dy, length
    if 0.0 < s.part < 1.0:
        for i in range(s.count):
            dx = s.x[2 * i] - c[0] - s.scale * (s.pose[0] * s.q[2 * i] - s.pose[1] * s.q[2 * i + 1])
            dy = s.x[2 * i + 1] - c[1] - s.scale * (s.pose[1] * s.q[2 * i] + s.pose[0] * s.q[2 * i + 1])
            total += s.m[i] * s.swing * (dx * dx + dy * dy)
    for i in range(s.link_count):
        if s.soft[i] > 0.0:
            dx = s.x[2 * s.links[2 * i]] - s.x[2 * s.links[2 * i + 1]]
            dy = s.x[2 * s.links[2 * i] + 1] - s.x[2 * s.links[2 * i + 1] + 1]
            length = sqrt(dx * dx + dy * dy)
            gap = length - s.scale * s.rest[i]
            total += gap * gap / s.soft[i]
    return total


cdef inline double approach(const Body* b, const double* u, double x, double y, double nx, double ny,
                            double inverse) noexcept nogil:
    # Speed u along the normal relative to the surface at (x, y).
    cdef double w = (b.a - b.a0) * inverse
    return (u[0] - (b.x - b.x0) * inverse + w * (y - b.y0)) * nx + (u[1] - (b.y - b.y0) * inverse - w * (x - b.x0)) * ny


cdef inline void rebound(Soft* s, const Colliders* world, const int64_t* owner, int64_t island, const double* before,
                         double h) noexcept nogil:
    # Restitution of the body as a whole: its centre hit at `before`; when its own springs have done what they can and it
    # gets no faster, what is missing to e times that speed is made up by an impulse at the place of the touches, on both
    # bodies (Newton's rule for the centre; particles alone would waste theirs on the body's inside). What the springs
    # still hold counts, so that there is never more energy than before the hit.
    cdef int64_t i
    cdef double c[3]
    cdef double u[3]
    cdef double total = 0.0, nx, ny, speed, goal, inertia = 0.0, p, rx, ry, spin, wb = 0.0, x, y, dx, dy
    cdef Body* b
    if s.held:
        return
    if s.hits:
        nx = s.hit_nx
        ny = s.hit_ny
        speed = sqrt(nx * nx + ny * ny)
        if speed > 0.5 * s.hits:
            b = world.bodies + s.hit_body
            speed = approach(b, before, s.hit_x / s.hits, s.hit_y / s.hits, nx / speed, ny / speed, 1.0 / h)
            if speed < -s.skin.slow and -speed * s.hit_e > s.bounce[0]:
                s.bounce[0] = -speed * s.hit_e
                s.bounce[7] = speed
                s.bounce[8] = speed * speed
                speed = sqrt(nx * nx + ny * ny)
                s.bounce[1] = nx / speed
                s.bounce[2] = ny / speed
                s.bounce[3] = <double> s.hit_body
                s.bounce[5] = s.hit_x / s.hits - s.x0[0]
                s.bounce[6] = s.hit_y / s.hits - s.x0[1]
            s.bounce[4] = 0.0
    if s.bounce[0] <= 0.0:
        return
    s.bounce[4] += 1.0
    nx = s.bounce[1]
    ny = s.bounce[2]
    b = world.bodies + <int64_t> s.bounce[3]
    c[0] = c[1] = u[0] = u[1] = 0.0
    for i in range(s.count):
        p = 1.0 / s.w[i]
        total += p
        c[0] += p * (s.x[2 * i] - s.x[0])
        c[1] += p * (s.x[2 * i + 1] - s.x[1])
        u[0] += p * s.v[2 * i]
        u[1] += p * s.v[2 * i + 1]
    c[0] = s.x[0] + c[0] / total
    c[1] = s.x[1] + c[1] / total
    u[0] /= total
    u[1] /= total
    x = s.x0[0] + s.bounce[5]
    y = s.x0[1] + s.bounce[6]
    speed = approach(b, u, x, y, nx, ny, 1.0 / h)
    if speed < 0.0 or speed > s.bounce[7]:
        s.bounce[7] = speed
        if s.bounce[4] > 120.0:
            s.bounce[0] = 0.0
        return
    goal = s.bounce[8] - strained(s, c) / total
    goal = s.bounce[0] * s.bounce[0] if s.bounce[0] * s.bounce[0] < goal else goal
    s.bounce[0] = 0.0
    if goal <= speed * speed or (b.kind == DYNAMIC and owner[b - world.bodies] != island):
        return
    goal = sqrt(goal)
    for i in range(s.count):
        dx = s.x[2 * i] - c[0]
        dy = s.x[2 * i + 1] - c[1]
        inertia += (dx * dx + dy * dy) / s.w[i]
    rx = x - b.x0
    ry = y - b.y0
    if b.kind == DYNAMIC:
        wb = arm_mass(b, rx, ry, nx, ny)
    p = (goal - speed) / (1.0 / total + wb)
    spin = ((x - c[0]) * ny - (y - c[1]) * nx) * p / inertia if inertia > 0.0 else 0.0
    for i in range(s.count):
        s.v[2 * i] += p * nx / total - spin * (s.x[2 * i + 1] - c[1])
        s.v[2 * i + 1] += p * ny / total + spin * (s.x[2 * i] - c[0])
    if b.kind == DYNAMIC:
        push_body(b, rx, ry, -p * h * nx, -p * h * ny)
