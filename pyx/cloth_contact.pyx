"""Cloth against pymunk's shapes and 3-D solids: particles and triangles, two-way, with Coulomb friction.

Constraint: C = distance(p) - radius >= 0 at a particle or at the deepest point p = sum b_i x_i of a triangle,
gradient b_i n; lambda = -C / (sum w_i b_i^2 + w_body), w_body = 1/m + (r x n)^2 / I (Mueller, Macklin,
Chentanez, Jeschke, Kim 2020). The deepest point minimises a convex distance over the triangle by Frank-Wolfe
steps with a line search (Macklin, Erleben, Mueller, Chentanez, Jeschke, Corse 2020, "Local optimization for
robust signed distance field collision"). Friction undoes the tangential motion relative to the surface by at
most mu times the normal correction. An overlap that
was there at the start of a substep opens at a capped speed by moving the start too: it makes no velocity.

Work is cut into blocks of about a hundred triangles. Blocks of one colour share no particle and run side by
side; what they give a body is summed per block and added in block order. A body met by N contacts counts as N
bodies of a share of its mass each (mass splitting: Tonge, Benevolenski, Voroshilov 2012), so that their sum
stays stable.
"""

from cython.parallel cimport prange
from libc.math cimport ceil, sqrt
from libc.stdint cimport int64_t, uint8_t

from contact cimport SLOTS, Skin, Touch, arm_mass, combine_friction, note_touch, push_body
from shapes cimport CIRCLE, DYNAMIC, Body, Colliders, Corner, Shape, filters_meet
from solids cimport CAPSULE, DISC, PLANE, POLYGON, SPHERE, solid_distance
from solids cimport BOX as BOX_KIND
from solids cimport SEGMENT as PRISM_SEGMENT
from shapes cimport SEGMENT as SHAPE_SEGMENT

cdef enum:
    SUMS = 4          # impulse x, y, torque, number of contacts
    STEPS = 8         # most places along a fast triangle's path

# Between its particles the sheet is this much thinner: on a round surface the particles carry it, and the
# triangles
# between them cost one look each.
cdef double FACE = 0.8

cdef struct Solid:
    double s[8]
    const double* v
    double o0[3]      # frame at the start and the end of this substep
    double r0[9]
    double o1[3]
    double r1[9]
    double low[3]     # swept box
    double high[3]
    double friction, reach, thin, split
    double slide[3]
    Body* body        # takes the opposite impulse; NULL: none does
    int64_t kind, sensor, shape, slot

cdef struct Sheet:
    double* x
    double* y
    double* z
    double* ox
    double* oy
    double* oz
    const double* w
    Touch* touches
    double* grip          # (4, n): how much a body presses on a particle, 0 to 1, and the sum of normals
    int64_t* owner        # the body
    const double* pressed # normal impulse * h that the particle's body got in this substep already
    Py_ssize_t n
    Skin skin
    double h, radius


def sizes():
    """Bytes of a Solid and of a Touch, and slots kept per particle."""
    return sizeof(Solid), sizeof(Touch), SLOTS


# ---------------------------------------------------------------- colliders of this substep

cdef inline void spin(double* r, double c, double s) noexcept nogil:
    r[0] = c
    r[1] = -s
    r[2] = 0.0
    r[3] = s
    r[4] = c
    r[5] = 0.0
    r[6] = 0.0
    r[7] = 0.0
    r[8] = 1.0


cdef inline void sweep_box(Solid* b, double cx, double cy, double cz) noexcept nogil:
    """A box round the collider's circle (its centre in its own frame) at the start and at the end."""
    cdef int k
    cdef double p, q
    for k in range(3):
        p = b.o0[k] + b.r0[3 * k] * cx + b.r0[3 * k + 1] * cy + b.r0[3 * k + 2] * cz
        q = b.o1[k] + b.r1[3 * k] * cx + b.r1[3 * k + 1] * cy + b.r1[3 * k + 2] * cz
        b.low[k] = (p if p < q else q) - b.reach
        b.high[k] = (p if p > q else q) + b.reach


cdef int take_shape(const Colliders* world, const Skin* skin, int64_t index, const double* depth, int round_,
                    const double* box, Solid* out) noexcept nogil:
    """Shape `index` as a prism, ball or capsule; 0 where it cannot touch the box (low, then high)."""
    cdef const Shape* shape = world.shapes + index
    cdef Body* body = world.bodies + shape.body
    cdef const Corner* v = world.corners + shape.first
    if not filters_meet(skin.group, skin.categories, skin.mask, shape.group, shape.categories, shape.mask):
        return 0
    out.o0[0] = body.x0
    out.o0[1] = body.y0
    out.o0[2] = 0.0
    out.o1[0] = body.x
    out.o1[1] = body.y
    out.o1[2] = 0.0
    spin(out.r0, body.c0, body.s0)
    spin(out.r1, body.c, body.s)
    out.reach = shape.reach
    sweep_box(out, shape.cx, shape.cy, 0.0)
    if not round_:
        out.low[2] = depth[0]
        out.high[2] = depth[1]
    if (out.low[0] > box[3] or out.low[1] > box[4] or out.low[2] > box[5] or out.high[0] < box[0]
            or out.high[1] < box[1] or out.high[2] < box[2]):
        return 0
    out.v = <const double*> v
    out.s[0] = shape.radius
    out.s[6] = depth[0]
    out.s[7] = depth[1]
    out.thin = shape.radius
    if shape.kind == CIRCLE:
        out.kind = SPHERE if round_ else DISC
        out.s[1] = v[0].x
        out.s[2] = v[0].y
        out.s[3] = 0.0
    elif shape.kind == SHAPE_SEGMENT:
        out.kind = CAPSULE if round_ else PRISM_SEGMENT
        out.s[1] = v[0].x
        out.s[2] = v[0].y
        if round_:
            out.s[3] = 0.0
            out.s[4] = v[1].x
            out.s[5] = v[1].y
            out.s[6] = 0.0
        else:
            out.s[3] = v[1].x
            out.s[4] = v[1].y
    else:
        out.kind = POLYGON
        out.s[2] = <double> shape.count
        out.thin = shape.radius + 0.25 * shape.reach
    out.friction = combine_friction(skin, shape.friction)
    out.slide[0] = shape.surface_x
    out.slide[1] = shape.surface_y
    out.slide[2] = 0.0
    out.sensor = shape.sensor
    out.shape = index
    out.body = body if body.kind == DYNAMIC else NULL
    return 1


cdef int take_solid(const Colliders* world, const Skin* skin, const double* row, const double* box,
                    Solid* out) noexcept nogil:
    """A 3-D solid from its row: kind, sizes (8), frame at start (12) and end (12), friction, reach, thin,
    body (or -1), centre (3), group, categories, mask."""
    cdef int k
    cdef Body* body
    if not filters_meet(skin.group, skin.categories, skin.mask, <int64_t> row[40], <int64_t> row[41],
                        <int64_t> row[42]):
        return 0
    out.kind = <int64_t> row[0]
    for k in range(8):
        out.s[k] = row[1 + k]
    for k in range(3):
        out.o0[k] = row[9 + k]
        out.o1[k] = row[21 + k]
    for k in range(9):
        out.r0[k] = row[12 + k]
        out.r1[k] = row[24 + k]
    out.reach = row[34]
    sweep_box(out, row[37], row[38], row[39])
    if (out.low[0] > box[3] or out.low[1] > box[4] or out.low[2] > box[5] or out.high[0] < box[0]
            or out.high[1] < box[1] or out.high[2] < box[2]):
        return 0
    out.v = NULL
    out.friction = combine_friction(skin, row[33])
    out.thin = row[35]
    for k in range(3):
        out.slide[k] = 0.0
    out.sensor = 0
    out.shape = -1
    out.body = NULL
    if row[36] >= 0.0:
        body = world.bodies + <int64_t> row[36]
        out.body = body if body.kind == DYNAMIC else NULL
    return 1


def bounds(const double[:, ::1] x, const double[:, ::1] old, double margin, double[::1] box):
    """box = (low x, y, z, high x, y, z) round all positions and old positions, `margin` wider."""
    cdef Py_ssize_t i
    cdef int k
    cdef double low, high, p
    with nogil:
        for k in range(3):
            low = 1e300
            high = -1e300
            for i in range(x.shape[1]):
                p = x[k, i]
                low = p if p < low else low
                high = p if p > high else high
                p = old[k, i]
                low = p if p < low else low
                high = p if p > high else high
            box[k] = low - margin
            box[3 + k] = high + margin


def take_colliders(int64_t[::1] colliders, uint8_t[::1] skin, Py_ssize_t shapes, const double[:, ::1] depths,
                   const uint8_t[::1] rounds, const double[:, ::1] solids, const double[::1] box,
                   const double[::1] splits, uint8_t[::1] out, int64_t[::1] slots):
    """Write the colliders whose swept boxes meet `box` (low x, y, z, high x, y, z) into `out`; how many there
    are.

    slots[k] is the index of the k-th body that can be pushed; the last item is how many of those there are.
    splits[body] is how many contacts that body had in the last substep. A full `out` drops the rest.
    """
    cdef const Colliders* world = <const Colliders*> &colliders[0]
    cdef Solid* list_ = <Solid*> &out[0]
    cdef Py_ssize_t room = out.shape[0] // sizeof(Solid), count = 0, i, k, live = 0, most = slots.shape[0] - 1
    cdef int64_t body
    cdef double split
    for i in range(shapes + solids.shape[0]):
        if count == room:
            break
        if i < shapes:
            if not take_shape(world, <const Skin*> &skin[0], i, &depths[i, 0], rounds[i], &box[0], list_ + count):
                continue
        elif not take_solid(world, <const Skin*> &skin[0], &solids[i - shapes, 0], &box[0], list_ + count):
            continue
        list_[count].slot = -1
        list_[count].split = 1.0
        if list_[count].body != NULL:
            body = list_[count].body - world.bodies
            for k in range(live):
                if slots[k] == body:
                    break
            else:
                k = live
                if live < most:
                    slots[live] = body
                    live += 1
            if k < most:
                list_[count].slot = k
                split = splits[body]
                list_[count].split = split if split > 1.0 else 1.0
            else:
                list_[count].body = NULL
        count += 1
    slots[most] = live
    return count


# ---------------------------------------------------------------- one contact

cdef inline void to_frame(const double* o, const double* r, double x, double y, double z, double* out) noexcept nogil:
    x = x - o[0]
    y = y - o[1]
    z = z - o[2]
    out[0] = r[0] * x + r[3] * y + r[6] * z
    out[1] = r[1] * x + r[4] * y + r[7] * z
    out[2] = r[2] * x + r[5] * y + r[8] * z


cdef inline void from_frame(const double* o, const double* r, const double* p, double* out) noexcept nogil:
    out[0] = o[0] + r[0] * p[0] + r[1] * p[1] + r[2] * p[2]
    out[1] = o[1] + r[3] * p[0] + r[4] * p[1] + r[5] * p[2]
    out[2] = o[2] + r[6] * p[0] + r[7] * p[1] + r[8] * p[2]


cdef double respond(const Solid* b, const Skin* skin, const double* local, const double* n, double depth,
                    const double* old, const double* now, double w, double h, double radius, double pressed,
                    double* move, double* back, double* m, double* sums) noexcept nogil:
    """What a contact does to a point of inverse mass w: `move` (3) of the point per unit of its own share w,
    `back` (3)
    of point and start together, m: the normal in world axes; the normal impulse times h. `pressed` is what of
    that the point's body got before in this substep: friction counts it too. `local` is the point, n the
    normal, in the collider's frame."""
    cdef double was[3]
    cdef double here[3]
    cdef double foot[3]
    cdef double rx = 0.0, ry = 0.0, gap, open_ = 0.0, push, lam, wb = 0.0, limit, slip, tx, ty, tz, sx, sy, sz
    cdef int k
    for k in range(3):
        m[k] = b.r1[3 * k] * n[0] + b.r1[3 * k + 1] * n[1] + b.r1[3 * k + 2] * n[2]
        foot[k] = local[k] - n[k] * radius
        move[k] = 0.0
        back[k] = 0.0
    from_frame(b.o0, b.r0, foot, was)
    from_frame(b.o1, b.r1, foot, here)
    sx = here[0] - was[0]
    sy = here[1] - was[1]
    sz = here[2] - was[2]
    tx = now[0] - old[0] - sx
    ty = now[1] - old[1] - sy
    tz = now[2] - old[2] - sz
    gap = -depth - (tx * m[0] + ty * m[1] + tz * m[2])
    push = depth if depth > 0.0 else 0.0
    if gap < 0.0:
        open_ = skin.depenetration * h
        open_ = -gap if -gap < open_ else open_
        push = gap + depth
        if push < 0.0:
            push = 0.0
        for k in range(3):
            back[k] = m[k] * open_
    if b.body != NULL:
        rx = old[0] - b.body.x0
        ry = old[1] - b.body.y0
        wb = b.split * arm_mass(b.body, rx, ry, m[0], m[1])
    if push + pressed <= 0.0 or w + wb <= 0.0:
        return 0.0
    lam = push / (w + wb)
    for k in range(3):
        move[k] = m[k] * lam
    limit = b.friction * (lam + pressed)
    if limit > 0.0:
        tx = tx - b.slide[0] * h
        ty = ty - b.slide[1] * h
        tz = tz - b.slide[2] * h
        slip = tx * m[0] + ty * m[1] + tz * m[2]
        tx = tx - slip * m[0]
        ty = ty - slip * m[1]
        tz = tz - slip * m[2]
        slip = sqrt(tx * tx + ty * ty + tz * tz)
        if slip > 1e-12:
            tx = tx / slip
            ty = ty / slip
            tz = tz / slip
            wb = b.split * arm_mass(b.body, rx, ry, tx, ty) if b.body != NULL else 0.0
            slip = slip / (w + wb)
            slip = limit if slip > limit else slip
            move[0] = move[0] - tx * slip
            move[1] = move[1] - ty * slip
            move[2] = move[2] - tz * slip
    if b.slot >= 0:
        sums[SUMS * b.slot] = sums[SUMS * b.slot] - move[0]
        sums[SUMS * b.slot + 1] = sums[SUMS * b.slot + 1] - move[1]
        sums[SUMS * b.slot + 2] = sums[SUMS * b.slot + 2] - (rx * move[1] - ry * move[0])
        sums[SUMS * b.slot + 3] = sums[SUMS * b.slot + 3] + 1.0
    return lam


cdef inline void note(const Solid* b, Sheet* c, int i, const double* n, double impulse) noexcept nogil:
    if b.shape >= 0:
        note_touch(c.touches + SLOTS * i, b.shape, b.r1[0] * n[0] + b.r1[1] * n[1] + b.r1[2] * n[2],
                   b.r1[3] * n[0] + b.r1[4] * n[1] + b.r1[5] * n[2], impulse)


cdef inline void grip_particle(const Solid* b, Sheet* c, int i, const double* m, double part,
                               const Body* bodies) noexcept nogil:
    cdef int k
    if b.body != NULL:
        c.grip[i] = c.grip[i] + part
        for k in range(3):
            c.grip[(k + 1) * c.n + i] = c.grip[(k + 1) * c.n + i] + part * m[k]
        c.owner[i] = b.body - bodies


cdef int find_point(const Solid* b, const double* l0, const double* l1, double radius, double reach, double* n,
                    double* depth) noexcept nogil:
    """Does the path l0 to l1 (in the collider's frame) end nearer than `reach` (>= radius), or pass through?
    1 or 0."""
    cdef double dx = l1[0] - l0[0], dy = l1[1] - l0[1], dz = l1[2] - l0[2], travel, t, d
    cdef int k
    travel = sqrt(dx * dx + dy * dy + dz * dz)
    if travel < 0.9 * radius + b.thin:
        d = solid_distance(b.kind, b.s, b.v, l1[0], l1[1], l1[2], n)
        depth[0] = radius - d
        return 1 if d < reach else 0
    d = solid_distance(b.kind, b.s, b.v, l0[0], l0[1], l0[2], n) - radius
    t = 0.0
    if d > 0.0:
        for k in range(32):
            t = t + d / travel
            if t >= 1.0:
                return 0
            d = solid_distance(b.kind, b.s, b.v, l0[0] + t * dx, l0[1] + t * dy, l0[2] + t * dz, n) - radius
            if d < 1e-3 * radius:
                break
    depth[0] = -d - (1.0 - t) * (n[0] * dx + n[1] * dy + n[2] * dz)
    if depth[0] > 0.0:
        return 1
    d = solid_distance(b.kind, b.s, b.v, l1[0], l1[1], l1[2], n)
    depth[0] = radius - d
    return 1 if d < reach else 0


cdef void touch_particle(const Solid* b, Sheet* c, int i, double* sums, const Body* bodies) noexcept nogil:
    cdef double l0[3]
    cdef double l1[3]
    cdef double n[3]
    cdef double old[3]
    cdef double now[3]
    cdef double move[3]
    cdef double back[3]
    cdef double m[3]
    cdef double depth = 0.0, lam, w = c.w[i], slop = 1.05 if c.pressed[i] > 0.0 else 1.0
    old[0] = c.ox[i]
    old[1] = c.oy[i]
    old[2] = c.oz[i]
    now[0] = c.x[i]
    now[1] = c.y[i]
    now[2] = c.z[i]
    to_frame(b.o0, b.r0, old[0], old[1], old[2], l0)
    to_frame(b.o1, b.r1, now[0], now[1], now[2], l1)
    if not find_point(b, l0, l1, c.radius, slop * c.radius, n, &depth):
        return
    if b.sensor:
        n[0] = n[1] = n[2] = 0.0
        note(b, c, i, n, 0.0)
        return
    if w <= 0.0:
        return
    lam = respond(b, &c.skin, l1, n, depth, old, now, w, c.h, c.radius, c.pressed[i], move, back, m, sums)
    if lam + c.pressed[i] > 0.0 and c.grip[i] < 1.0:
        grip_particle(b, c, i, m, 1.0, bodies)
    c.x[i] = now[0] + w * move[0] + back[0]
    c.y[i] = now[1] + w * move[1] + back[1]
    c.z[i] = now[2] + w * move[2] + back[2]
    c.ox[i] = old[0] + back[0]
    c.oy[i] = old[1] + back[1]
    c.oz[i] = old[2] + back[2]
    note(b, c, i, n, (lam + c.pressed[i]) / c.h)


cdef double deepest(const Solid* b, const double* p, double radius, double* bary, double* n) noexcept nogil:
    """Smallest distance over the triangle p (3 x 3), its place and normal; above `radius` only a bound."""
    cdef double q[3]
    cdef double to[3]
    cdef double m[3]
    cdef double d, gap, value, low, high, t, slope
    cdef int k, j, best, outer, inner
    bary[0] = bary[1] = bary[2] = 1.0 / 3.0
    for k in range(3):
        q[k] = (p[k] + p[3 + k] + p[6 + k]) / 3.0
    d = solid_distance(b.kind, b.s, b.v, q[0], q[1], q[2], n)
    for outer in range(8):
        best = 0
        value = 1e300
        for j in range(3):
            t = n[0] * p[3 * j] + n[1] * p[3 * j + 1] + n[2] * p[3 * j + 2]
            if t < value:
                value = t
                best = j
        gap = n[0] * q[0] + n[1] * q[1] + n[2] * q[2] - value
        if d - gap >= radius or gap < 0.02 * radius:
            return d
        for k in range(3):
            to[k] = p[3 * best + k] - q[k]
        low = 0.0
        high = 1.0
        for inner in range(4):
            t = 0.5 * (low + high)
            solid_distance(b.kind, b.s, b.v, q[0] + t * to[0], q[1] + t * to[1], q[2] + t * to[2], m)
            slope = m[0] * to[0] + m[1] * to[1] + m[2] * to[2]
            if slope < 0.0:
                low = t
            else:
                high = t
        t = 1.0 if low > 0.92 else 0.5 * (low + high)
        for k in range(3):
            q[k] = q[k] + t * to[k]
            bary[k] = bary[k] * (1.0 - t)
        bary[best] = bary[best] + t
        d = solid_distance(b.kind, b.s, b.v, q[0], q[1], q[2], n)
    return d


cdef void touch_triangle(const Solid* b, Sheet* c, const int* at, double* sums, const Body* bodies) noexcept nogil:
    cdef double first[9]
    cdef double last[9]
    cdef double between[9]
    cdef double bary[3]
    cdef double n[3]
    cdef double m[3]
    cdef double old[3]
    cdef double now[3]
    cdef double local[3]
    cdef double move[3]
    cdef double back[3]
    cdef double travel = 0.0, size = 0.0, d, depth, w = 0.0, lam, t, share, dx, dy, dz
    cdef int k, j, steps = 1, step, most = 0
    cdef double radius = FACE * c.radius
    for k in range(3):
        to_frame(b.o1, b.r1, c.x[at[k]], c.y[at[k]], c.z[at[k]], last + 3 * k)
    for k in range(3):
        dx = last[3 * k] - (last[0] + last[3] + last[6]) / 3.0
        dy = last[3 * k + 1] - (last[1] + last[4] + last[7]) / 3.0
        dz = last[3 * k + 2] - (last[2] + last[5] + last[8]) / 3.0
        d = dx * dx + dy * dy + dz * dz
        size = d if d > size else size
        dx = c.x[at[k]] - c.ox[at[k]] - b.o1[0] + b.o0[0]
        dy = c.y[at[k]] - c.oy[at[k]] - b.o1[1] + b.o0[1]
        dz = c.z[at[k]] - c.oz[at[k]] - b.o1[2] + b.o0[2]
        d = dx * dx + dy * dy + dz * dz
        travel = d if d > travel else travel
    size = sqrt(size)
    travel = sqrt(travel)
    d = solid_distance(b.kind, b.s, b.v, (last[0] + last[3] + last[6]) / 3.0, (last[1] + last[4] + last[7]) / 3.0,
                       (last[2] + last[5] + last[8]) / 3.0, n)
    if d > radius + size + travel:
        return
    t = 0.5 * (radius + b.thin)
    if travel > t:
        for k in range(3):
            to_frame(b.o0, b.r0, c.ox[at[k]], c.oy[at[k]], c.oz[at[k]], first + 3 * k)
        steps = STEPS if travel > STEPS * t else <int> ceil(travel / t)
    for step in range(1, steps + 1):
        t = <double> step / <double> steps
        if steps == 1:
            d = deepest(b, last, radius, bary, n)
        else:
            for k in range(9):
                between[k] = first[k] + t * (last[k] - first[k])
            d = deepest(b, between, radius, bary, n)
        if d < radius:
            break
    if d >= radius or bary[0] > 0.99 or bary[1] > 0.99 or bary[2] > 0.99:
        return
    depth = radius - d
    for k in range(3):
        old[k] = now[k] = local[k] = 0.0
        if bary[k] > bary[most]:
            most = k
    for k in range(3):
        j = at[k]
        w = w + c.w[j] * bary[k] * bary[k]
        old[0] = old[0] + bary[k] * c.ox[j]
        old[1] = old[1] + bary[k] * c.oy[j]
        old[2] = old[2] + bary[k] * c.oz[j]
        now[0] = now[0] + bary[k] * c.x[j]
        now[1] = now[1] + bary[k] * c.y[j]
        now[2] = now[2] + bary[k] * c.z[j]
        for step in range(3):
            local[step] = local[step] + bary[k] * last[3 * k + step]
            if steps > 1:
                depth = depth - bary[k] * n[step] * (last[3 * k + step] - between[3 * k + step])
    if b.sensor:
        m[0] = m[1] = m[2] = 0.0
        note(b, c, at[most], m, 0.0)
        return
    if depth <= 0.0 or w <= 0.0:
        return
    t = c.pressed[at[0]] + c.pressed[at[1]] + c.pressed[at[2]]
    lam = respond(b, &c.skin, local, n, depth, old, now, w, c.h, radius, t, move, back, m, sums)
    for k in range(3):
        j = at[k]
        if lam > 0.0:
            grip_particle(b, c, j, m, bary[k], bodies)
        if c.w[j] > 0.0:
            share = c.w[j] * bary[k]
            c.x[j] = c.x[j] + share * move[0] + back[0]
            c.y[j] = c.y[j] + share * move[1] + back[1]
            c.z[j] = c.z[j] + share * move[2] + back[2]
            c.ox[j] = c.ox[j] + back[0]
            c.oy[j] = c.oy[j] + back[1]
            c.oz[j] = c.oz[j] + back[2]
    note(b, c, at[most], n, lam / c.h)


# ---------------------------------------------------------------- blocks

cdef void touch_block(const Solid* solids, Py_ssize_t count, Sheet* c, const int* particles, Py_ssize_t first,
                      Py_ssize_t last, const int* triangles, Py_ssize_t first_face, Py_ssize_t last_face,
                      double* sums,
                      const Body* bodies) noexcept nogil:
    cdef Py_ssize_t k, f
    cdef int i
    cdef double low[3]
    cdef double high[3]
    cdef const Solid* b
    low[0] = low[1] = low[2] = 1e300
    high[0] = high[1] = high[2] = -1e300
    for k in range(first, last):
        i = particles[k]
        low[0] = min(low[0], min(c.x[i], c.ox[i]))
        low[1] = min(low[1], min(c.y[i], c.oy[i]))
        low[2] = min(low[2], min(c.z[i], c.oz[i]))
        high[0] = max(high[0], max(c.x[i], c.ox[i]))
        high[1] = max(high[1], max(c.y[i], c.oy[i]))
        high[2] = max(high[2], max(c.z[i], c.oz[i]))
    for k in range(count):
        b = solids + k
        if (b.low[0] > high[0] + c.radius or b.low[1] > high[1] + c.radius or b.low[2] > high[2] + c.radius
                or b.high[0] < low[0] - c.radius or b.high[1] < low[1] - c.radius or b.high[2] < low[2] - c.radius):
            continue
        for f in range(first, last):
            touch_particle(b, c, particles[f], sums, bodies)
        if b.kind == PLANE:
            continue
        for f in range(first_face, last_face):
            if triangles[3 * f] >= 0:
                touch_triangle(b, c, triangles + 3 * f, sums, bodies)


def touch(uint8_t[::1] solids, Py_ssize_t count, double[:, ::1] x, double[:, ::1] old, const double[::1] w,
          uint8_t[::1] touches, uint8_t[::1] skin, double h, double radius,
          const int64_t[:, ::1] blocks, const int64_t[::1] colors, const int[::1] particles,
          const int[:, ::1] triangles, double[:, ::1] sums, int64_t[::1] slots, int64_t[::1] colliders,
          double[::1] splits, double[:, ::1] grip, int64_t[::1] owner, const double[::1] pressed, int threads):
    """Every block against every collider near it, then what the bodies got. colors[k] is the first block of
    colour k.

    blocks: first particle, last, first triangle, last. sums: a row per block. splits: contacts per body, for
    the next substep. grip (4, n) and owner: which particles dynamic bodies press on, for the next substep.
    """
    cdef Sheet sheet
    cdef Py_ssize_t color, block, first, last, n = blocks.shape[0]
    cdef int64_t live = slots[slots.shape[0] - 1], k
    cdef double jx, jy, jt, number
    cdef Colliders* world = <Colliders*> &colliders[0]
    cdef Body* body
    if count == 0:
        return
    sheet.x = &x[0, 0]
    sheet.y = &x[1, 0]
    sheet.z = &x[2, 0]
    sheet.ox = &old[0, 0]
    sheet.oy = &old[1, 0]
    sheet.oz = &old[2, 0]
    sheet.w = &w[0]
    sheet.touches = <Touch*> &touches[0]
    sheet.skin = (<Skin*> &skin[0])[0]
    sheet.grip = &grip[0, 0]
    sheet.owner = &owner[0]
    sheet.pressed = &pressed[0]
    sheet.n = x.shape[1]
    sheet.h = h
    sheet.radius = radius
    with nogil:
        for block in range(n if live else 0):
            for k in range(SUMS * live):
                sums[block, k] = 0.0
        for color in range(colors.shape[0] - 1):
            first = colors[color]
            last = colors[color + 1]
            for block in prange(first, last, schedule="static", num_threads=threads):
                touch_block(<const Solid*> &solids[0], count, &sheet, &particles[0], blocks[block, 0],
                            blocks[block, 1], &triangles[0, 0], blocks[block, 2], blocks[block, 3], &sums[block, 0], world.bodies)
        for k in range(live):
            jx = jy = jt = number = 0.0
            for block in range(n):
                jx = jx + sums[block, SUMS * k]
                jy = jy + sums[block, SUMS * k + 1]
                jt = jt + sums[block, SUMS * k + 2]
                number = number + sums[block, SUMS * k + 3]
            body = world.bodies + slots[k]
            splits[slots[k]] = number
            if number > 0.0:
                push_body(body, 0.0, 0.0, jx, jy)
                body.jt += jt
                body.a = body.pa + body.ii * body.jt
                push_body(body, 0.0, 0.0, 0.0, 0.0)
