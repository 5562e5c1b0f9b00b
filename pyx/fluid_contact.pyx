"""Fluid particles against pymunk shapes and the fluid's own bounds.

Contact: C(x) = n . (x - surface) - radius >= 0, continuous along the particle's path relative to the shape
(shapes.find_contact). The overlap moves the particle alone; the velocity into the surface is taken out by an impulse at
the contact point, with Coulomb friction, and a dynamic body takes the opposite one: J = -(1 + e) v_n / (1/m + w_body).

Particles near dynamic bodies are left to a serial pass in a fixed order (each body feels one impulse after the other);
all others run in parallel, each on its own. Positions are floats from the grid's corner, shapes live in doubles.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport int64_t, uint8_t

from contact cimport Skin, Touch, arm_mass, combine_friction, push_body
from shapes cimport (CIRCLE, DYNAMIC, Body, Colliders, Shape, Tree, filters_meet, find_contact, next_leaf,
                     shape_distance, to_local)

cdef enum:
    STACK = 128
    NEAR = 96              # shapes near one chunk; more, and the chunk's particles ask the trees one by one
    SWEEPS = 4

cdef struct Start:         # a body's pose when the particles' path began
    double x, y, c, s

cdef struct Kind:          # how one fluid meets the world
    Skin skin
    double left, top, right, bottom

cdef struct Path:          # everything one pass needs
    Colliders* world
    Start* starts
    Kind* kinds
    const uint8_t* kind
    const int* place       # the particle's number outside of the cell order
    const float* w         # inverse mass
    float* x
    float* y
    const float* x0
    const float* y0
    float* vx
    float* vy
    Touch* touches
    uint8_t* near
    double ox, oy, h, world_h
    bint respond


def record_sizes():
    """Bytes of one Start, Kind and Touch record."""
    return sizeof(Start), sizeof(Kind), sizeof(Touch)


def remember_poses(int64_t[::1] colliders, Py_ssize_t count, uint8_t[::1] starts):
    """Copy every body's present pose: where the next path begins."""
    cdef Body* bodies = (<Colliders*>&colliders[0]).bodies
    cdef Start* start = <Start*>&starts[0]
    cdef Py_ssize_t i
    for i in range(count):
        start[i].x = bodies[i].x
        start[i].y = bodies[i].y
        start[i].c = bodies[i].c
        start[i].s = bodies[i].s


cdef inline void note(Touch* touch, int64_t shape, double nx, double ny, double impulse) noexcept nogil:
    """Keep the shape with the largest impulse."""
    if touch.shape == shape:
        touch.impulse += impulse
    elif touch.shape < 0 or impulse > touch.impulse:
        touch.shape = shape
        touch.impulse = impulse
    else:
        return
    touch.nx = nx
    touch.ny = ny


cdef inline void respond(const Path* p, int k, const Shape* shape, int64_t index, Body* body, const Skin* skin,
                         double wx, double wy, double nx, double ny) noexcept nogil:
    """Take the velocity into the surface out, friction after it; the body gets the opposite impulse."""
    cdef double rx = wx - nx * skin.radius - body.x, ry = wy - ny * skin.radius - body.y
    cdef double inv = 1 / p.world_h
    cdef double bw = body.w + body.ii * body.jt * inv
    cdef double ux = body.vx + body.im * body.jx * inv - bw * ry + shape.surface_x
    cdef double uy = body.vy + body.im * body.jy * inv + bw * rx + shape.surface_y
    cdef double w = p.w[k], wb = 0, e, vn, vt, lam, limit, slip
    cdef bint live = body.kind == DYNAMIC
    vn = (p.vx[k] - ux) * nx + (p.vy[k] - uy) * ny
    if vn >= 0:
        note(&p.touches[p.place[k]], index, nx, ny, 0)
        return
    if live:
        wb = arm_mass(body, rx, ry, nx, ny)
    e = skin.elasticity * shape.elasticity if vn < -skin.slow else 0
    lam = -(1 + e) * vn / (w + wb)
    p.vx[k] = <float>(p.vx[k] + w * lam * nx)
    p.vy[k] = <float>(p.vy[k] + w * lam * ny)
    if live:
        push_body(body, rx, ry, -lam * nx * p.world_h, -lam * ny * p.world_h)
    note(&p.touches[p.place[k]], index, nx, ny, lam)
    limit = combine_friction(skin, shape.friction) * lam
    if limit > 0:
        vt = (p.vy[k] - uy) * nx - (p.vx[k] - ux) * ny
        slip = -vt / (w + (arm_mass(body, rx, ry, -ny, nx) if live else 0))
        slip = limit if slip > limit else (-limit if slip < -limit else slip)
        p.vx[k] = <float>(p.vx[k] - w * slip * ny)
        p.vy[k] = <float>(p.vy[k] + w * slip * nx)
        if live:
            push_body(body, rx, ry, slip * ny * p.world_h, -slip * nx * p.world_h)


cdef inline bint meet(const Path* p, int k, int64_t index, const Skin* skin, double px, double py, double* qx,
                      double* qy) noexcept nogil:
    """Hold particle k, on its way from p to q, outside of one shape; whether it had to move."""
    cdef const Shape* shape = p.world.shapes + index
    cdef Body* body = p.world.bodies + shape.body
    cdef const Start* start = p.starts + shape.body
    cdef double ax, ay, bx, by, nx = 0, ny = 0, depth = 0, wx, wy
    if not filters_meet(shape.group, shape.categories, shape.mask, skin.group, skin.categories, skin.mask):
        return False
    to_local(body.x, body.y, body.c, body.s, qx[0], qy[0], &bx, &by)
    if shape.sensor:
        if p.respond and shape_distance(shape, p.world.corners, bx, by, &nx, &ny) < 0:
            note(&p.touches[p.place[k]], index, 0, 0, 0)
        return False
    to_local(start.x, start.y, start.c, start.s, px, py, &ax, &ay)
    if not find_contact(shape, p.world.corners, ax, ay, bx, by, skin.radius, &nx, &ny, &depth):
        return False
    wx = body.c * nx - body.s * ny
    wy = body.s * nx + body.c * ny
    if p.respond:
        respond(p, k, shape, index, body, skin, qx[0] + wx * depth, qy[0] + wy * depth, wx, wy)
    if depth <= 0:
        return False
    # a hair more than the overlap, so that the float that is stored does not fall back inside
    depth += 1e-4 * skin.radius
    qx[0] += wx * depth
    qy[0] += wy * depth
    return True


cdef inline bint hold(const Path* p, int k, const int64_t* list, int count) noexcept nogil:
    """Particle k against the listed shapes (count < 0: ask the trees); False where it stays squeezed."""
    cdef const Kind* kind = p.kinds + p.kind[k]
    cdef const Skin* skin = &kind.skin
    cdef double px = p.ox + p.x0[k], py = p.oy + p.y0[k], qx = p.ox + p.x[k], qy = p.oy + p.y[k]
    cdef double r = 2 * skin.radius, x0, y0, x1, y1
    cdef int64_t stack[STACK]
    cdef int64_t leaf
    cdef int sweep, m, top, t
    cdef bint moved, any_moved = False
    cdef const Tree* tree
    for sweep in range(SWEEPS):
        moved = False
        if count >= 0:
            for m in range(count):
                moved = meet(p, k, list[m], skin, px, py, &qx, &qy) or moved
        else:
            x0 = (px if px < qx else qx) - r
            x1 = (px if px > qx else qx) + r
            y0 = (py if py < qy else qy) - r
            y1 = (py if py > qy else qy) + r
            for t in range(2):
                tree = &p.world.moving if t else &p.world.still
                top = 1
                stack[0] = tree.root
                if tree.root < 0:
                    continue
                leaf = next_leaf(tree, stack, &top, x0, y0, x1, y1)
                while leaf >= 0:
                    moved = meet(p, k, leaf, skin, px, py, &qx, &qy) or moved
                    leaf = next_leaf(tree, stack, &top, x0, y0, x1, y1)
        if not moved:
            break
        any_moved = True
    if any_moved:
        if moved:                           # no way out found: stay where the path began
            qx = px
            qy = py
            p.vx[k] = 0
            p.vy[k] = 0
        p.x[k] = <float>(qx - p.ox)
        p.y[k] = <float>(qy - p.oy)
    return not (any_moved and moved)


cdef inline void inside(const Path* p, int k) noexcept nogil:
    """Keep particle k within its fluid's bounds."""
    cdef const Kind* kind = p.kinds + p.kind[k]
    cdef double r = kind.skin.radius
    cdef float low = <float>(kind.left + r - p.ox), high = <float>(kind.right - r - p.ox)
    if p.x[k] < low:
        p.x[k] = low
        if p.vx[k] < 0:
            p.vx[k] = 0
    elif p.x[k] > high:
        p.x[k] = high
        if p.vx[k] > 0:
            p.vx[k] = 0
    low = <float>(kind.top + r - p.oy)
    high = <float>(kind.bottom - r - p.oy)
    if p.y[k] < low:
        p.y[k] = low
        if p.vy[k] < 0:
            p.vy[k] = 0
    elif p.y[k] > high:
        p.y[k] = high
        if p.vy[k] > 0:
            p.vy[k] = 0


cdef int gather_near(const Path* p, double x0, double y0, double x1, double y1, int64_t* list,
                     double* boxes) noexcept nogil:
    """Shapes whose boxes meet a box, with their boxes; -1 if more than NEAR."""
    cdef int64_t stack[STACK]
    cdef int top, t, n = 0
    cdef int64_t leaf
    cdef const Tree* tree
    for t in range(2):
        tree = &p.world.moving if t else &p.world.still
        if tree.root < 0:
            continue
        top = 1
        stack[0] = tree.root
        leaf = next_leaf(tree, stack, &top, x0, y0, x1, y1)
        while leaf >= 0:
            if n == NEAR:
                return -1
            list[n] = leaf
            boxes[4 * n] = tree.nodes[stack[top]].x0
            boxes[4 * n + 1] = tree.nodes[stack[top]].y0
            boxes[4 * n + 2] = tree.nodes[stack[top]].x1
            boxes[4 * n + 3] = tree.nodes[stack[top]].y1
            n += 1
            leaf = next_leaf(tree, stack, &top, x0, y0, x1, y1)
    return n


cdef int chunk_hold(const Path* p, int first, int last) noexcept nogil:
    """One chunk of particles against still and driven shapes; those near dynamic bodies are only flagged."""
    cdef int k, m, n, count, squeezed = 0
    cdef bint live
    cdef double x0 = 1e300, y0 = 1e300, x1 = -1e300, y1 = -1e300, r = 0, ax, ay, bx, by
    cdef int64_t list[NEAR]
    cdef int64_t mine[NEAR]
    cdef double boxes[4 * NEAR]
    for k in range(first, last):
        inside(p, k)
        p.near[k] = 0
        ax = p.x[k] if p.x[k] < p.x0[k] else p.x0[k]
        bx = p.x[k] if p.x[k] > p.x0[k] else p.x0[k]
        ay = p.y[k] if p.y[k] < p.y0[k] else p.y0[k]
        by = p.y[k] if p.y[k] > p.y0[k] else p.y0[k]
        x0 = ax if ax < x0 else x0
        x1 = bx if bx > x1 else x1
        y0 = ay if ay < y0 else y0
        y1 = by if by > y1 else y1
        if p.kinds[p.kind[k]].skin.radius > r:
            r = p.kinds[p.kind[k]].skin.radius
    r = 2 * r
    if p.world.still.root < 0 and p.world.moving.root < 0:
        return 0
    n = gather_near(p, p.ox + x0 - r, p.oy + y0 - r, p.ox + x1 + r, p.oy + y1 + r, list, boxes)
    if n == 0:
        return 0
    for k in range(first, last):
        if n < 0:
            p.near[k] = 1
            continue
        x0 = p.ox + (p.x[k] if p.x[k] < p.x0[k] else p.x0[k]) - r
        x1 = p.ox + (p.x[k] if p.x[k] > p.x0[k] else p.x0[k]) + r
        y0 = p.oy + (p.y[k] if p.y[k] < p.y0[k] else p.y0[k]) - r
        y1 = p.oy + (p.y[k] if p.y[k] > p.y0[k] else p.y0[k]) + r
        count = 0
        live = False
        for m in range(n):
            if boxes[4 * m] <= x1 and boxes[4 * m + 2] >= x0 and boxes[4 * m + 1] <= y1 and boxes[4 * m + 3] >= y0:
                mine[count] = list[m]
                count += 1
                if p.world.bodies[p.world.shapes[list[m]].body].kind == DYNAMIC:
                    live = True
        if live:
            p.near[k] = 1
        elif count > 0 and not hold(p, k, mine, count):
            squeezed += 1
    return squeezed


def hold_out(int64_t[::1] colliders, uint8_t[::1] starts, uint8_t[::1] kinds, const uint8_t[::1] kind,
             const int[::1] place, const float[::1] w, float[::1] x, float[::1] y, const float[::1] x0,
             const float[::1] y0, float[::1] vx, float[::1] vy, int n, uint8_t[::1] touches, uint8_t[::1] near,
             double ox, double oy, double h, double world_h, bint respond, int[::1] squeezed, int chunk, int threads):
    """Hold every particle, on its way from x0 to x, outside of all shapes and inside its bounds.

    ox, oy: the place of (0, 0); respond: whether velocities and bodies change too; h: the path's time; world_h: the
    world's substep, in which bodies take impulses. Returns how many particles found no way out and stayed.
    """
    cdef Path p
    cdef int c, k, chunks = (n + chunk - 1) // chunk, total = 0
    cdef Path* path = &p
    if n == 0:
        return 0
    p.world = <Colliders*>&colliders[0]
    p.starts = <Start*>&starts[0]
    p.kinds = <Kind*>&kinds[0]
    p.kind = &kind[0]
    p.place = &place[0]
    p.w = &w[0]
    p.x = &x[0]
    p.y = &y[0]
    p.x0 = &x0[0]
    p.y0 = &y0[0]
    p.vx = &vx[0]
    p.vy = &vy[0]
    p.touches = <Touch*>&touches[0]
    p.near = &near[0]
    p.ox = ox
    p.oy = oy
    p.h = h
    p.world_h = world_h
    p.respond = respond
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        squeezed[c] = chunk_hold(path, c * chunk, (c + 1) * chunk if (c + 1) * chunk < n else n)
    with nogil:
        for c in range(chunks):
            total += squeezed[c]
        for k in range(n):
            if near[k] and not hold(path, k, NULL, -1):
                total += 1
    return total


# ---------------------------------------------------------------- walls count as liquid

cdef inline double table_at(const float* table, double q) noexcept nogil:
    cdef int k
    if q >= 1:
        return 0
    if q <= 0:
        return table[0]
    k = <int>(q * 64)
    return table[k] + (q * 64 - k) * (table[k + 1] - table[k])


cdef void chunk_walls(const Path* p, int first, int last, double reach, const float* fill, const float* push,
                      float* wall) noexcept nogil:
    cdef int k, m, n
    cdef const Kind* kind
    cdef const Shape* shape
    cdef const Body* body
    cdef double inv = 1 / reach, x0 = 1e300, y0 = 1e300, x1 = -1e300, y1 = -1e300, wx, wy, lx, ly, nx = 0, ny = 0, d
    cdef double a, b, c, e, best, second, bnx, bny, snx, sny, bd, sd
    cdef int64_t list[NEAR]
    cdef double boxes[4 * NEAR]
    for k in range(first, last):
        wx = p.ox + p.x[k]
        wy = p.oy + p.y[k]
        x0 = wx if wx < x0 else x0
        x1 = wx if wx > x1 else x1
        y0 = wy if wy < y0 else y0
        y1 = wy if wy > y1 else y1
        kind = p.kinds + p.kind[k]
        a = (wx - kind.left) * inv
        b = (kind.right - wx) * inv
        c = (wy - kind.top) * inv
        e = (kind.bottom - wy) * inv
        wall[3 * k] = 0
        wall[3 * k + 1] = 0
        wall[3 * k + 2] = 0
        if a < 1 or b < 1 or c < 1 or e < 1:
            nx = table_at(fill, a) + table_at(fill, b)
            ny = table_at(fill, c) + table_at(fill, e)
            wall[3 * k] = <float>(nx + ny - nx * ny)
            wall[3 * k + 1] = <float>((table_at(push, a) - table_at(push, b)) * inv)
            wall[3 * k + 2] = <float>((table_at(push, c) - table_at(push, e)) * inv)
    if p.world.still.root < 0 and p.world.moving.root < 0:
        return
    n = gather_near(p, x0 - reach, y0 - reach, x1 + reach, y1 + reach, list, boxes)
    if n < 0:
        n = NEAR
    for k in range(first, last):
        if n == 0:
            return
        wx = p.ox + p.x[k]
        wy = p.oy + p.y[k]
        kind = p.kinds + p.kind[k]
        best = second = 0
        bnx = bny = snx = sny = bd = sd = 0
        for m in range(n):
            if not (boxes[4 * m] <= wx + reach and boxes[4 * m + 2] >= wx - reach
                    and boxes[4 * m + 1] <= wy + reach and boxes[4 * m + 3] >= wy - reach):
                continue
            shape = p.world.shapes + list[m]
            if shape.sensor or not filters_meet(shape.group, shape.categories, shape.mask, kind.skin.group,
                                                kind.skin.categories, kind.skin.mask):
                continue
            body = p.world.bodies + shape.body
            to_local(body.x, body.y, body.c, body.s, wx, wy, &lx, &ly)
            d = shape_distance(shape, p.world.corners, lx, ly, &nx, &ny)
            a = table_at(fill, d * inv)
            if a <= 0:
                continue
            if d > 0 and shape.radius + shape.reach < reach and shape.kind != CIRCLE:
                # smaller than the kernel: only its share of the half plane is there
                a = a * (shape.reach / reach)
            lx = body.c * nx - body.s * ny
            ly = body.s * nx + body.c * ny
            if a > best:
                if bnx * lx + bny * ly < 0.7:
                    second = best
                    snx = bnx
                    sny = bny
                    sd = bd
                best = a
                bnx = lx
                bny = ly
                bd = d
            elif a > second and bnx * lx + bny * ly < 0.7:
                second = a
                snx = lx
                sny = ly
                sd = d
        if best > 0:
            second = second * (1 - best)
            wall[3 * k] = <float>(wall[3 * k] + best + second)
            a = table_at(push, bd * inv) * inv
            b = table_at(push, sd * inv) * inv if second > 0 else 0
            wall[3 * k + 1] = <float>(wall[3 * k + 1] + a * bnx + b * snx)
            wall[3 * k + 2] = <float>(wall[3 * k + 2] + a * bny + b * sny)


def wall_terms(int64_t[::1] colliders, uint8_t[::1] kinds, const uint8_t[::1] kind, float[::1] x, float[::1] y, int n,
               double ox, double oy, double reach, const float[::1] fill, const float[::1] push, float[::1] wall,
               int chunk, int threads):
    """Density and its gradient that solid walls stand for at each particle, as if filled with liquid at rest.

    fill, push: 66 samples of the kernels' integrals over a half plane at distance 0 to reach. The two walls that cover
    most, with normals well apart, count.
    """
    cdef Path p
    cdef Path* path = &p
    cdef int c, chunks = (n + chunk - 1) // chunk
    if n == 0:
        return
    p.world = <Colliders*>&colliders[0]
    p.kinds = <Kind*>&kinds[0]
    p.kind = &kind[0]
    p.x = &x[0]
    p.y = &y[0]
    p.ox = ox
    p.oy = oy
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        chunk_walls(path, c * chunk, (c + 1) * chunk if (c + 1) * chunk < n else n, reach, &fill[0], &push[0],
                    &wall[0])
