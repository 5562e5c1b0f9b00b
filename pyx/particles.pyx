"""Free particles: born from sources, carried by their velocity, bounced off shapes, taken out when their life
is over.

Random numbers are a hash of (seed, birth number, which number), so they need no generator state, are the same
on any number of threads and do not depend on what else was simulated. Every pass works on chunks of CHUNK
particles and writes only its own.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from contact cimport Skin, combine_friction
from fieldops cimport larger, smaller
from shapes cimport (Body, Colliders, Node, Shape, Tree, filters_meet, find_contact, next_leaf,
                     shape_distance, to_local)
from trig cimport decay, sincos

cdef enum:
    CHUNK = 256
    STACK = 128
    PASSES = 4
    TURNS = 2  # passes that follow a particle round its hits; later ones only push out
    TRAITS = 5
    CELLS = 64

cdef double CLEAR = 1e-7  # pushed out beyond touching, so that rounding does not decide whether it touches

cdef enum:  # sources
    POINT = 0
    LINE = 1
    DISC = 2
    RING = 3
    RECT = 4
    EDGES = 5

cdef enum:  # what a hit does
    BOUNCE = 0
    STICK = 1
    DIE = 2
    PASS = 3

cdef enum:  # how a hit is answered
    TURN = 0
    PUSH = 1
    LOOK = 2

cdef enum:
    LIVING = 0
    EXPIRED = 1
    STRUCK = 2

MARKS = CELLS * CELLS


cdef struct Spec:  # one source; the same doubles as SPEC in softkit/emitters.py
    double kind, a, b, c, d
    double aimed, direction, spread, speed_low, speed_high
    double life_low, life_high, spin_low, spin_high, scale_low, scale_high, turn_low, turn_high
    double x0, y0, angle0, x1, y1, angle1  # the carrier's pose at the start and the end of the step
    double vx, vy, w, inherit, push_x, push_y, edges, length, start, interval, dt, off

cdef struct Birth:
    double x, y, nx, ny

cdef struct Swarm:
    Py_ssize_t n
    double* x
    double* v
    double* traits  # age, life, angle, spin, scale
    uint8_t* fate
    double* hit  # normal of the last hit, and the change of velocity along it, or what died of it came in at
    int64_t* touch  # index of the shape touched, or -1; NULL: not wanted
    double* trail  # NULL: none
    Py_ssize_t trail_length, trail_slot
    double dt, keep, max_speed, bounce, slow
    int64_t on_hit
    Skin skin
    Colliders* world
    const double* start  # x, y, cosine, sine of every body at the start of the step
    double x0, y0, x1, y1, scale_x, scale_y, near  # where shapes are, see cover
    uint8_t* marks


cdef inline double random_part(uint64_t seed, uint64_t number, uint64_t which) noexcept nogil:
    """Even in [0, 1): the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over seed, birth number and
    purpose."""
    cdef uint64_t z = seed * <uint64_t>0xD1342543DE82EF95 + number * <uint64_t>0x9E3779B97F4A7C15
    z += which * <uint64_t>0xBF58476D1CE4E5B9 + <uint64_t>0x2545F4914F6CDD1D
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    z = z ^ (z >> 31)
    return <double>(z >> 11) * 1.1102230246251565e-16


cdef inline double between(double low, double high, double part) noexcept nogil:
    return low + (high - low) * part


cdef void place(const Spec* spec, const double* edges, double r0, double r1, Birth* out) noexcept nogil:
    """A place on the source and the direction outward there, in the source's own frame."""
    cdef double s, c, r, along
    cdef Py_ssize_t k = 0, last = <Py_ssize_t>spec.edges - 1
    cdef int kind = <int>spec.kind
    sincos(6.283185307179586 * r0, &s, &c)
    out.nx = c
    out.ny = s
    if kind == LINE:
        out.x = spec.a + (spec.c - spec.a) * r0
        out.y = spec.b + (spec.d - spec.b) * r0
        r = sqrt((spec.c - spec.a) * (spec.c - spec.a) + (spec.d - spec.b) * (spec.d - spec.b))
        if r > 0.0:
            out.nx = (spec.d - spec.b) / r
            out.ny = (spec.a - spec.c) / r
    elif kind == DISC or kind == RING:
        r = spec.c * (sqrt(r1) if kind == DISC else 1.0)
        out.x = spec.a + r * c
        out.y = spec.b + r * s
    elif kind == RECT:
        out.x = spec.a + spec.c * r0
        out.y = spec.b + spec.d * r1
        sincos(6.283185307179586 * (r0 * 7919.0 + r1), &out.ny, &out.nx)
    elif kind == EDGES:
        # a piece: from a to b, and round by an angle, at a radius from there: lines and arcs alike
        along = spec.length * r0  # ax, ay, bx, by, angle, turn, radius, length up to it, its own length
        while k < last and along >= edges[9 * (k + 1) + 7]:
            k += 1
        edges += 9 * k
        r = (along - edges[7]) / edges[8] if edges[8] > 0.0 else 0.0
        sincos(edges[4] + edges[5] * r, &out.ny, &out.nx)
        out.x = edges[0] + (edges[2] - edges[0]) * r + (edges[6] + spec.off) * out.nx
        out.y = edges[1] + (edges[3] - edges[1]) * r + (edges[6] + spec.off) * out.ny
    else:
        out.x = spec.a
        out.y = spec.b


def emit(const double[::1] spec_, const double[:, ::1] edges, uint64_t seed, int64_t first, double[:, ::1] x,
         double[:, ::1] v, double[:, ::1] traits, int64_t[::1] ids):
    """Fill the rows of newborn particles: x, v, traits (age, life, angle, spin, scale) and birth numbers from
    `first`.

    The i-th is born start + i * interval into the step: until then its age is negative, and a step moves it
    only for the time that it lives.
    """
    cdef const Spec* spec = <const Spec*>&spec_[0]
    cdef const double* edge = &edges[0, 0] if edges.shape[0] else NULL
    cdef Py_ssize_t i, n = x.shape[0]
    cdef uint64_t who
    cdef Birth at
    cdef double when, part, s, c, speed, dx, dy, cx, cy
    with nogil:
        for i in range(n):
            who = <uint64_t>(first + i)
            place(spec, edge, random_part(seed, who, 0), random_part(seed, who, 1), &at)
            if spec.aimed != 0.0:
                sincos(spec.direction, &at.ny, &at.nx)
            sincos(spec.spread * (random_part(seed, who, 2) - 0.5), &s, &c)
            speed = between(spec.speed_low, spec.speed_high, random_part(seed, who, 3))
            dx = speed * (at.nx * c - at.ny * s)
            dy = speed * (at.nx * s + at.ny * c)
            when = spec.start + i * spec.interval
            part = when / spec.dt if spec.dt > 0.0 else 0.0
            cx = between(spec.x0, spec.x1, part)
            cy = between(spec.y0, spec.y1, part)
            sincos(between(spec.angle0, spec.angle1, part), &s, &c)
            x[i, 0] = cx + c * at.x - s * at.y
            x[i, 1] = cy + s * at.x + c * at.y
            v[i, 0] = c * dx - s * dy + spec.push_x + spec.inherit * (spec.vx - spec.w * (x[i, 1] - cy))
            v[i, 1] = s * dx + c * dy + spec.push_y + spec.inherit * (spec.vy + spec.w * (x[i, 0] - cx))
            traits[i, 0] = -when
            traits[i, 1] = between(spec.life_low, spec.life_high, random_part(seed, who, 4))
            traits[i, 2] = between(spec.turn_low, spec.turn_high, random_part(seed, who, 5))
            traits[i, 3] = between(spec.spin_low, spec.spin_high, random_part(seed, who, 6))
            traits[i, 4] = between(spec.scale_low, spec.scale_high, random_part(seed, who, 7))
            ids[i] = first + i


cdef inline void surface_speed(const Swarm* s, const Shape* shape, const Body* body, double x, double y,
                               double* vx, double* vy) noexcept nogil:
    """Velocity of the surface at (x, y), averaged over the step, conveyor motion included."""
    cdef const double* start = s.start + 4 * shape.body
    cdef double lx, ly
    to_local(body.x, body.y, body.c, body.s, x, y, &lx, &ly)
    vx[0] = (x - (start[0] + start[2] * lx - start[3] * ly)) / s.dt + shape.surface_x
    vy[0] = (y - (start[1] + start[3] * lx + start[2] * ly)) / s.dt + shape.surface_y


# C(x) = n . (x - surface) - radius >= 0. The velocity relative to the surface loses (1 + e) of its normal
# part and at most mu (1 + e) |v_n| of its tangential part (Coulomb, as an impulse).
cdef void respond(const Swarm* s, Py_ssize_t i, int64_t index, double nx, double ny,
                  const double* at) noexcept nogil:
    cdef const Shape* shape = s.world.shapes + index
    cdef const Body* body = s.world.bodies + shape.body
    cdef double* v = s.v + 2 * i
    cdef double ux, uy, normal, tangent, e, most
    surface_speed(s, shape, body, at[0], at[1], &ux, &uy)
    normal = (v[0] - ux) * nx + (v[1] - uy) * ny
    s.hit[3 * i] = nx
    s.hit[3 * i + 1] = ny
    s.hit[3 * i + 2] = larger(-normal, 0.0)
    if s.on_hit == DIE:
        s.fate[i] = STRUCK
        return
    if s.on_hit == STICK:
        v[0] = ux
        v[1] = uy
        return
    if normal >= 0.0:
        return
    e = s.skin.elasticity * shape.elasticity if s.bounce < 0.0 else s.bounce
    if normal > -s.slow:
        e = 0.0
    tangent = (v[1] - uy) * nx - (v[0] - ux) * ny
    most = combine_friction(&s.skin, shape.friction) * (1.0 + e) * -normal
    tangent = most if tangent > most else (-most if tangent < -most else tangent)
    normal = (1.0 + e) * normal
    s.hit[3 * i + 2] = -normal
    v[0] = v[0] - normal * nx + tangent * ny
    v[1] = v[1] - normal * ny - tangent * nx


cdef inline void pose_at(const double* start, const Body* body, double part, double* pose) noexcept nogil:
    """Pose of a body a part of the way from the start of the step to its end."""
    cdef double c = between(start[2], body.c, part), s = between(start[3], body.s, part)
    cdef double size = sqrt(c * c + s * s)
    pose[0] = between(start[0], body.x, part)
    pose[1] = between(start[1], body.y, part)
    pose[2] = c / size if size > 0.0 else body.c
    pose[3] = s / size if size > 0.0 else body.s


cdef bint meet_shape(const Swarm* s, Py_ssize_t i, int64_t index, int way, double born, double* p, double* q,
                     double* left) noexcept nogil:
    """The way p -> q, for which `left` seconds are left, against one shape. True where it turned.

    born: the part of the step before the particle's birth, 0 for all but newborn ones.

    A shape at rest is hit at the place and time where the way meets it: p goes there, and q where the new
    velocity leads in the time that is left. From one that moves, or with PUSH, q is pushed out. With LOOK
    nothing changes: is q in it for good?
    """
    cdef const Shape* shape = s.world.shapes + index
    cdef const Body* body = s.world.bodies + shape.body
    cdef const double* start = s.start + 4 * shape.body
    cdef double nx = 0.0, ny = 0.0, depth = 0.0, px, py, qx, qy, approach, most, part, wx, wy
    cdef double pose[4]
    if born > 0.0:
        pose_at(start, body, born, pose)
        start = pose
    to_local(start[0], start[1], start[2], start[3], p[0], p[1], &px, &py)
    if s.on_hit == STICK and not shape.sensor:
        depth = s.skin.radius - shape_distance(shape, s.world.corners, px, py, &nx, &ny)
        if depth > -1e-3:
            q[0] = body.x + body.c * px - body.s * py
            q[1] = body.y + body.s * px + body.c * py
            respond(s, i, index, body.c * nx - body.s * ny, body.s * nx + body.c * ny, q)
            left[0] = 0.0
            return False
    to_local(body.x, body.y, body.c, body.s, q[0], q[1], &qx, &qy)
    if not find_contact(shape, s.world.corners, px, py, qx, qy, s.skin.radius, &nx, &ny, &depth):
        return False
    if s.touch != NULL:
        s.touch[i] = index
    if shape.sensor:
        return False
    if way == LOOK:
        return depth > 0.5 * s.skin.radius
    approach = -((qx - px) * nx + (qy - py) * ny)
    most = s.skin.depenetration * s.dt + (approach if approach > 0.0 else 0.0)
    depth = depth if depth < most else most
    wx = body.c * nx - body.s * ny
    wy = body.s * nx + body.c * ny
    if left[0] == 0.0 or body.x != start[0] or body.y != start[1] or body.c != start[2] or body.s != start[3]:
        way = PUSH
    if depth > approach or way == PUSH:
        q[0] += wx * (depth + CLEAR)
        q[1] += wy * (depth + CLEAR)
        left[0] = 0.0
        respond(s, i, index, wx, wy, q)
        return depth > 1e-6  # less is rounding, which further passes would only repeat
    part = depth / approach if approach > 0.0 else 0.0
    p[0] = q[0] - part * (q[0] - p[0])
    p[1] = q[1] - part * (q[1] - p[1])
    left[0] = left[0] * part
    respond(s, i, index, wx, wy, p)
    q[0] = p[0]
    q[1] = p[1]
    if s.fate[i] == LIVING:
        q[0] += s.v[2 * i] * left[0]
        q[1] += s.v[2 * i + 1] * left[0]
    return True


cdef bint meet(const Swarm* s, Py_ssize_t i, const Tree* tree, double reach, int way, double born, double* p,
               double* q, double* left) noexcept nogil:
    """The way p -> q against every shape of one tree near it. True where one turned it."""
    cdef int64_t stack[STACK]
    cdef int top = 1
    cdef int64_t leaf
    cdef bint turned = False
    cdef double r = s.skin.radius + reach
    cdef const Shape* shape
    if tree.root < 0:
        return False
    stack[0] = tree.root
    while s.fate[i] == LIVING:
        leaf = next_leaf(tree, stack, &top, smaller(p[0], q[0]) - r, smaller(p[1], q[1]) - r,
                         larger(p[0], q[0]) + r, larger(p[1], q[1]) + r)
        if leaf < 0:
            break
        shape = s.world.shapes + leaf
        if filters_meet(s.skin.group, s.skin.categories, s.skin.mask,
                        shape.group, shape.categories, shape.mask):
            turned = meet_shape(s, i, leaf, way, born, p, q, left) or turned
    return turned


cdef inline int64_t cell(double at, double low, double scale) noexcept nogil:
    cdef double c = (at - low) * scale
    return 0 if not c > 0.0 else (CELLS - 1 if c > CELLS - 1 else <int64_t>c)


cdef void cover(Swarm* s, double reach) noexcept nogil:
    """Mark on a CELLS x CELLS grid over all shapes where a particle that goes no further than s.near may meet
    one."""
    cdef int64_t stack[STACK]
    cdef int top, which
    cdef int64_t leaf, i, j
    cdef Tree* tree
    cdef const Node* node
    cdef double far = s.skin.radius + reach
    s.x0 = s.y0 = 1e300
    s.x1 = s.y1 = -1e300
    for which in range(2):
        tree = &s.world.still if which == 0 else &s.world.moving
        if tree.root >= 0:
            node = tree.nodes + tree.root
            s.x0, s.y0 = smaller(s.x0, node.x0), smaller(s.y0, node.y0)
            s.x1, s.y1 = larger(s.x1, node.x1), larger(s.y1, node.y1)
    s.near = larger(4.0 * s.skin.radius, 0.5 * smaller(s.x1 - s.x0, s.y1 - s.y0) / CELLS)
    s.near = smaller(s.near, 1000.0)
    far = far + s.near
    s.x0, s.y0, s.x1, s.y1 = s.x0 - far, s.y0 - far, s.x1 + far, s.y1 + far
    s.scale_x, s.scale_y = CELLS / (s.x1 - s.x0), CELLS / (s.y1 - s.y0)
    memset(s.marks, 0, CELLS * CELLS)
    for which in range(2):
        tree = &s.world.still if which == 0 else &s.world.moving
        if tree.root < 0:
            continue
        stack[0] = tree.root
        top = 1
        while top > 0:
            top -= 1
            node = tree.nodes + stack[top]
            if node.left >= 0:
                stack[top], stack[top + 1] = node.right, node.left
                top += 2
                continue
            for j in range(cell(node.y0 - far, s.y0, s.scale_y), cell(node.y1 + far, s.y0, s.scale_y) + 1):
                i = cell(node.x0 - far, s.x0, s.scale_x)
                memset(s.marks + CELLS * j + i, 1, cell(node.x1 + far, s.x0, s.scale_x) - i + 1)


cdef inline bint clear_way(const Swarm* s, const double* p, const double* q) noexcept nogil:
    """Is p -> q short, and no shape near it?"""
    if not (-s.near < q[0] - p[0] < s.near and -s.near < q[1] - p[1] < s.near):
        return False
    if p[0] < s.x0 or p[0] > s.x1 or p[1] < s.y0 or p[1] > s.y1:
        return True
    return s.marks[CELLS * cell(p[1], s.y0, s.scale_y) + cell(p[0], s.x0, s.scale_x)] == 0


cdef void move_chunk(const Swarm* s, Py_ssize_t first, Py_ssize_t end, double reach) noexcept nogil:
    cdef Py_ssize_t i
    cdef int k, way
    cdef double p[2]
    cdef double q[2]
    cdef double lived, born, left, square
    cdef double* v
    cdef double* own
    cdef bint turned = False
    for i in range(first, end):
        s.fate[i] = LIVING
        v = s.v + 2 * i
        own = s.traits + TRAITS * i
        lived = s.dt + own[0] if own[0] < 0.0 else s.dt
        born = 1.0 - lived / s.dt
        v[0] *= s.keep
        v[1] *= s.keep
        square = v[0] * v[0] + v[1] * v[1]
        if square > s.max_speed * s.max_speed:
            square = s.max_speed / sqrt(square)
            v[0] *= square
            v[1] *= square
        p[0] = s.x[2 * i]
        p[1] = s.x[2 * i + 1]
        q[0] = p[0] + v[0] * lived
        q[1] = p[1] + v[1] * lived
        s.hit[3 * i] = s.hit[3 * i + 1] = s.hit[3 * i + 2] = 0.0
        if s.touch != NULL:
            s.touch[i] = -1
        if s.on_hit != PASS and not clear_way(s, p, q):
            left = lived
            for k in range(PASSES):
                way = TURN if k < TURNS else PUSH
                turned = meet(s, i, &s.world.still, 0.0, way, born, p, q, &left)
                turned = meet(s, i, &s.world.moving, reach, way, born, p, q, &left) or turned
                if not turned or s.fate[i] != LIVING:
                    break
            if turned and s.fate[i] == LIVING and (
                    meet(s, i, &s.world.still, 0.0, LOOK, born, p, q, &left)
                    or meet(s, i, &s.world.moving, reach, LOOK, born, p, q, &left)):
                q[0] = p[0]
                q[1] = p[1]
        s.x[2 * i] = q[0]
        s.x[2 * i + 1] = q[1]
        own[2] += own[3] * lived
        own[0] += s.dt
        if own[0] >= own[1] and s.fate[i] == LIVING:
            s.fate[i] = EXPIRED
        if s.trail != NULL:
            s.trail[2 * (i * s.trail_length + s.trail_slot)] = q[0]
            s.trail[2 * (i * s.trail_length + s.trail_slot) + 1] = q[1]


def move(double[:, ::1] x, double[:, ::1] v, double[:, ::1] traits, uint8_t[::1] fate, double[:, ::1] hit,
         int64_t[::1] touch, double[:, :, ::1] trail, Py_ssize_t trail_slot, const double[::1] numbers,
         const int64_t[::1] choices, int64_t[::1] colliders, const double[:, ::1] start, double reach,
         uint8_t[::1] marks, int threads):
    """One step for every particle: damping, flight, shapes, spin, age, trail; fate says who has to go.

    numbers: dt, damping, max speed, bounce (below 0: the shapes'), slow (no rebound below), radius, friction,
    elasticity, depenetration speed. choices: what a hit does, friction rule, group, categories, mask. start:
    (bodies, 4) centre, cosine and sine of every body at the start of the step. reach: how far a body may have
    gone in it.
    """
    cdef Swarm s
    cdef Py_ssize_t k
    s.n = x.shape[0]
    if s.n == 0:
        return
    s.x, s.v, s.traits, s.fate, s.hit = &x[0, 0], &v[0, 0], &traits[0, 0], &fate[0], &hit[0, 0]
    s.touch = &touch[0] if touch is not None else NULL
    s.trail = &trail[0, 0, 0] if trail is not None else NULL
    s.trail_length = trail.shape[1] if trail is not None else 0
    s.trail_slot = trail_slot
    s.dt, s.keep, s.max_speed, s.bounce = numbers[0], decay(numbers[1] * numbers[0]), numbers[2], numbers[3]
    s.slow = numbers[4]
    s.skin.radius, s.skin.friction, s.skin.elasticity = numbers[5], numbers[6], numbers[7]
    s.skin.depenetration = numbers[8]
    s.on_hit, s.skin.rule, s.skin.group = choices[0], choices[1], choices[2]
    s.skin.categories, s.skin.mask = choices[3], choices[4]
    s.world = <Colliders*>&colliders[0]
    s.start = &start[0, 0]
    s.marks = &marks[0]
    if s.on_hit != PASS:
        cover(&s, reach)
    for k in prange((s.n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        move_chunk(&s, k * CHUNK, s.n if (k + 1) * CHUNK > s.n else (k + 1) * CHUNK, reach)


def struck(const uint8_t[::1] fate, const double[:, ::1] x, const double[:, ::1] hit, double[:, ::1] out):
    """Copy place, normal and speed of every particle that died of a hit into rows of out; returns how
    many."""
    cdef Py_ssize_t i, count = 0
    with nogil:
        for i in range(fate.shape[0]):
            if fate[i] == STRUCK:
                out[count, 0] = x[i, 0]
                out[count, 1] = x[i, 1]
                out[count, 2] = hit[i, 0]
                out[count, 3] = hit[i, 1]
                out[count, 4] = hit[i, 2]
                count += 1
    return count


cdef inline void carry(double* rows, Py_ssize_t width, Py_ssize_t source, Py_ssize_t target) noexcept nogil:
    memcpy(rows + target * width, rows + source * width, width * sizeof(double))


def close_gaps(const uint8_t[::1] fate, double[:, ::1] x, double[:, ::1] v, double[:, ::1] previous,
               double[:, ::1] traits, double[:, ::1] hit, int64_t[::1] ids, int64_t[::1] touch,
               double[:, :, ::1] trail):
    """Take out the rows with a fate other than 0: last rows move into their places. Returns how many are
    left. touch, trail: or None.
    """
    cdef Py_ssize_t i = 0, n = fate.shape[0], length = trail.shape[1] if trail is not None else 0
    if n == 0:
        return 0
    with nogil:
        while i < n:
            if fate[i] == LIVING:
                i += 1
                continue
            while n > i + 1 and fate[n - 1] != LIVING:
                n -= 1
            n -= 1
            if n > i:
                carry(&x[0, 0], 2, n, i)
                carry(&v[0, 0], 2, n, i)
                carry(&previous[0, 0], 2, n, i)
                carry(&traits[0, 0], TRAITS, n, i)
                carry(&hit[0, 0], 3, n, i)
                ids[i] = ids[n]
                if touch is not None:
                    touch[i] = touch[n]
                if length > 0:
                    carry(&trail[0, 0, 0], 2 * length, n, i)
            i += 1
    return n
