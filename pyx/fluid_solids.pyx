"""Shapes drawn into the pressure grid: how open each face is, how fast the wall there moves, and whose wall it is.

Open fractions come from signed distances at the cells' corners (Batty, Bertails, Bridson 2007, "A fast variational
framework for accurate solid-fluid coupling"); shapes thinner than a cell close every face between two cell centres that
they part, unless one of their sides is dry: then that side is drawn solid. A dynamic body enters the pressure equation through its faces, q pushing it and its velocity feeding the
divergence, so that floating is part of the same solve: see fluid_solve.
"""

from libc.math cimport floor, sqrt
from libc.stdint cimport int64_t, uint8_t

from contact cimport push_body
from shapes cimport (CIRCLE, DYNAMIC, POLY, SEGMENT, Body, Colliders, Corner, Shape, Tree, filters_meet, next_leaf,
                     shape_distance, to_local)

cdef enum:
    STACK = 128


cdef inline double tent(double d) noexcept nogil:
    """Share of a tent of half width 1 that lies beyond a plane at distance d (negative: the centre is beyond)."""
    if d >= 1:
        return 0
    if d >= 0:
        return 0.5 * (1 - d) * (1 - d)
    if d > -1:
        return 1 - 0.5 * (1 + d) * (1 + d)
    return 1


cdef struct Raster:
    double ox, oy, cell, lead
    int nx, ny, stride
    float* phi             # signed distance at the cells' lower left corners, in cells
    int* owner             # body of the nearest shape there
    const float* fill
    float* solid
    uint8_t* cut_u         # 1 + body (mod 255) where a thin shape parts the two cells
    uint8_t* cut_v
    int* cut_owner_u
    int* cut_owner_v


cdef void draw_bounds(Raster* g, double left, double top, double right, double bottom) noexcept nogil:
    """The fluid's own box; phi is 1e3 where nothing is near."""
    cdef int i, j, c
    cdef double x, y, d, e, a, b
    for j in range(g.ny + 1):
        for i in range(g.nx + 1):
            c = j * g.stride + i
            x = g.ox + i * g.cell
            y = g.oy + j * g.cell
            d = x - left if x - left < right - x else right - x
            e = y - top if y - top < bottom - y else bottom - y
            d = (d if d < e else e) / g.cell
            g.phi[c] = <float>(d if d < 1000 else 1000)
            g.owner[c] = -1
            g.cut_u[c] = 0
            g.cut_v[c] = 0
            x = x + 0.5 * g.cell
            y = y + 0.5 * g.cell
            a = (1 - tent((x - left) / g.cell)) * (1 - tent((right - x) / g.cell))
            b = (1 - tent((y - top) / g.cell)) * (1 - tent((bottom - y) / g.cell))
            g.solid[c] = <float>(1 - a * b)


cdef inline void cut_edge(Raster* g, double ax, double ay, double bx, double by, int body) noexcept nogil:
    """Close the faces between cell centres that the edge a-b parts; a, b in cells."""
    cdef double x0, y0, x1, y1, t
    cdef int i, j, first, last
    if ay != by:
        x0 = ax if ay < by else bx
        y0 = ay if ay < by else by
        x1 = bx if ay < by else ax
        y1 = by if ay < by else ay
        first = <int>floor((y0 if y0 > 0 else 0) - 0.5) + 1
        last = <int>floor((y1 if y1 < g.ny else g.ny) - 0.5)
        for j in range(first, last + 1):
            t = x0 + (x1 - x0) * (j + 0.5 - y0) / (y1 - y0)
            if 0.5 <= t < g.nx - 0.5 and 0 <= j < g.ny:
                i = <int>floor(t - 0.5) + 1
                g.cut_u[j * g.stride + i] = 1
                g.cut_owner_u[j * g.stride + i] = body
    if ax != bx:
        x0 = ax if ax < bx else bx
        y0 = ay if ax < bx else by
        x1 = bx if ax < bx else ax
        y1 = by if ax < bx else ay
        first = <int>floor((x0 if x0 > 0 else 0) - 0.5) + 1
        last = <int>floor((x1 if x1 < g.nx else g.nx) - 0.5)
        for i in range(first, last + 1):
            t = y0 + (y1 - y0) * (i + 0.5 - x0) / (x1 - x0)
            if 0.5 <= t < g.ny - 0.5 and 0 <= i < g.nx:
                j = <int>floor(t - 0.5) + 1
                g.cut_v[j * g.stride + i] = 1
                g.cut_owner_v[j * g.stride + i] = body


cdef inline double fill_at(const Raster* g, double x, double y) noexcept nogil:
    """Liquid in the cell at (x, y), in cells; 0 outside of the grid."""
    if x < 0 or y < 0 or x >= g.nx or y >= g.ny:
        return 0
    return g.fill[<int>y * g.stride + <int>x]


cdef int dry_side(const Raster* g, double ax, double ay, double bx, double by) noexcept nogil:
    """Which side of the thin wall a-b (in cells) has no liquid while the other has: 1 left of a to b, -1 right, 0 none."""
    cdef double ex = bx - ax, ey = by - ay, length = sqrt(ex * ex + ey * ey), t, x, y, left = 0, right = 0, f
    cdef int k, steps
    if not length > 1e-9:
        return 0
    ex = ex / length
    ey = ey / length
    steps = <int>length + 1 if length < 4096 else 4096
    for k in range(steps + 1):
        t = length * k / steps
        x = ax + t * ex
        y = ay + t * ey
        f = fill_at(g, x - 1.6 * ey, y + 1.6 * ex)
        left = f if f > left else left
        f = fill_at(g, x + 1.6 * ey, y - 1.6 * ex)
        right = f if f > right else right
    if left < 0.05 and right > 0.3:
        return 1
    if right < 0.05 and left > 0.3:
        return -1
    return 0


cdef inline double slab(double x, double y, double ax, double ay, double bx, double by, int side, double radius,
                        double plain) noexcept nogil:
    """Signed distance, in cells, to a thin wall thickened by two cells on its dry side, where it also reaches 1.5 cells
    past its ends: containers made of lines have no open corners. plain: the distance to the wall itself."""
    cdef double ex = bx - ax, ey = by - ay, length = sqrt(ex * ex + ey * ey)
    cdef double along = ((x - ax) * ex + (y - ay) * ey) / length
    cdef double up = -side * (ex * (y - ay) - ey * (x - ax)) / length
    if 0 <= along <= length:
        return up - radius if up > -1 else -2 - up
    if up <= 0 and -1.5 <= along <= length + 1.5:
        return up if up > -1 else -2 - up
    return plain


cdef void draw_shape(Raster* g, const Colliders* world, int64_t index) noexcept nogil:
    cdef const Shape* shape = world.shapes + index
    cdef const Body* body = world.bodies + shape.body
    cdef const Corner* v = world.corners + shape.first
    cdef double inv = 1 / g.cell, cx, cy, reach, lx, ly, nx = 0, ny = 0, d, thick, ax, ay, bx, by, x, y, s
    cdef int i, j, i0, i1, j0, j1, c, side = 0
    cdef int64_t m, after
    cdef double sx0 = 0, sy0 = 0, sx1 = 0, sy1 = 0
    cx = (body.x + body.c * shape.cx - body.s * shape.cy - g.ox) * inv
    cy = (body.y + body.s * shape.cx + body.c * shape.cy - g.oy) * inv
    reach = shape.reach * inv
    # the box of the vertices, not of the circle round them: long shapes are thin
    ax = ay = 1e300
    bx = by = -1e300
    for m in range(shape.count):
        x = (body.x + body.c * v[m].x - body.s * v[m].y - g.ox) * inv
        y = (body.y + body.s * v[m].x + body.c * v[m].y - g.oy) * inv
        ax = x if x < ax else ax
        bx = x if x > bx else bx
        ay = y if y < ay else ay
        by = y if y > by else by
    d = shape.radius * inv + 2.1
    i0 = <int>(ax - d if ax - d > 0 else 0)
    j0 = <int>(ay - d if ay - d > 0 else 0)
    i1 = <int>(bx + d if bx + d < g.nx else g.nx)
    j1 = <int>(by + d if by + d < g.ny else g.ny)
    if i1 < i0 or j1 < j0 or bx + d < 0 or by + d < 0 or ax - d > g.nx or ay - d > g.ny:
        return
    # half the shape's thickness, in cells
    if shape.kind == POLY:
        thick = -shape_distance(shape, world.corners, shape.cx, shape.cy, &nx, &ny) * inv
    else:
        thick = shape.radius * inv
    if shape.kind == SEGMENT and thick < 1:
        sx0 = (body.x + body.c * v[0].x - body.s * v[0].y - g.ox) * inv
        sy0 = (body.y + body.s * v[0].x + body.c * v[0].y - g.oy) * inv
        sx1 = (body.x + body.c * v[1].x - body.s * v[1].y - g.ox) * inv
        sy1 = (body.y + body.s * v[1].x + body.c * v[1].y - g.oy) * inv
        side = dry_side(g, sx0, sy0, sx1, sy1)
    for j in range(j0, j1 + 1):
        for i in range(i0, i1 + 1):
            c = j * g.stride + i
            to_local(body.x, body.y, body.c, body.s, g.ox + i * g.cell, g.oy + j * g.cell, &lx, &ly)
            d = shape_distance(shape, world.corners, lx, ly, &nx, &ny) * inv
            if side != 0:
                d = slab(i, j, sx0, sy0, sx1, sy1, side, thick, d)
            if d < g.phi[c]:
                g.phi[c] = <float>d
                g.owner[c] = <int>shape.body
            to_local(body.x, body.y, body.c, body.s, g.ox + (i + 0.5) * g.cell, g.oy + (j + 0.5) * g.cell, &lx, &ly)
            d = shape_distance(shape, world.corners, lx, ly, &nx, &ny) * inv
            if side != 0:
                s = tent(slab(i + 0.5, j + 0.5, sx0, sy0, sx1, sy1, side, thick, d))
            else:
                s = tent(d) - (tent(d + 2 * thick) if thick < 1 else 0)
            if s > g.solid[c]:
                g.solid[c] = <float>s
    if shape.kind != CIRCLE and thick < 1 and side == 0:
        for m in range(shape.count if shape.kind == POLY else 1):
            after = m + 1 if m + 1 < shape.count else 0
            ax = (body.x + body.c * v[m].x - body.s * v[m].y - g.ox) * inv
            ay = (body.y + body.s * v[m].x + body.c * v[m].y - g.oy) * inv
            bx = (body.x + body.c * v[after].x - body.s * v[after].y - g.ox) * inv
            by = (body.y + body.s * v[after].x + body.c * v[after].y - g.oy) * inv
            cut_edge(g, ax, ay, bx, by, <int>shape.body)


cdef inline double open_part(double a, double b) noexcept nogil:
    """Open share of a face with signed distances a, b at its ends."""
    if a > 0 and b > 0:
        return 1
    if a <= 0 and b <= 0:
        return 0
    return a / (a - b) if a > 0 else b / (b - a)


cdef struct Faces:
    float* open_u
    float* open_v
    float* wall_u
    float* wall_v
    int* face_body         # dynamic bodies' faces: body, and the face: 2 * cell + (1 for v)
    int* face_at
    int used, room


cdef inline void face(Raster* g, Faces* f, const Colliders* world, int i, int j, bint upright) noexcept nogil:
    cdef int c = j * g.stride + i, other = c + (g.stride if upright else 1)
    cdef double o = open_part(g.phi[c], g.phi[other]), x, y, turn, wall = 0
    cdef int owner = g.owner[c] if g.phi[c] < g.phi[other] else g.owner[other]
    cdef const Body* body
    if upright and g.cut_u[c]:
        o = 0
        owner = g.cut_owner_u[c]
    if not upright and g.cut_v[c]:
        o = 0
        owner = g.cut_owner_v[c]
    if o < 0.02:
        o = 0
    if o < 1 and owner >= 0:
        body = world.bodies + owner
        x = g.ox + (i + (0 if upright else 0.5)) * g.cell - body.x
        y = g.oy + (j + (0.5 if upright else 0)) * g.cell - body.y
        # the mean velocity until the next pressure: what the body is accelerated by meanwhile counts in
        turn = body.w + body.aw * g.lead
        wall = (body.vx + body.ax * g.lead - turn * y) if upright else (body.vy + body.ay * g.lead + turn * x)
        if body.kind == DYNAMIC:
            if f.used < f.room:
                f.face_body[f.used] = owner
                f.face_at[f.used] = 2 * c + (0 if upright else 1)
            f.used += 1
    if upright:
        f.open_u[c] = <float>o
        f.wall_u[c] = <float>((1 - o) * wall)
    else:
        f.open_v[c] = <float>o
        f.wall_v[c] = <float>((1 - o) * wall)


def draw(int64_t[::1] colliders, double[::1] bounds, double ox, double oy, double cell, double lead, int nx, int ny,
         int64_t group, int64_t categories, int64_t mask, const float[::1] fill, float[::1] phi, int[::1] owner, float[::1] solid,
         uint8_t[::1] cut_u, uint8_t[::1] cut_v, int[::1] cut_owner_u, int[::1] cut_owner_v, float[::1] open_u,
         float[::1] open_v, float[::1] wall_u, float[::1] wall_v, int[::1] face_body, int[::1] face_at):
    """Draw the bounds and every shape that the filter meets; fill is the liquid in each cell;
    lead: half the time until the next call. Returns the dynamic bodies' faces there are (as many as
    there is room are written to face_body, face_at)."""
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef Raster g
    cdef Faces f
    cdef int64_t stack[STACK]
    cdef int64_t leaf
    cdef int top, t, i, j
    cdef const Tree* tree
    cdef const Shape* shape
    g.ox = ox
    g.oy = oy
    g.cell = cell
    g.lead = lead
    g.nx = nx
    g.ny = ny
    g.stride = nx + 1
    g.fill = &fill[0]
    g.phi = &phi[0]
    g.owner = &owner[0]
    g.solid = &solid[0]
    g.cut_u = &cut_u[0]
    g.cut_v = &cut_v[0]
    g.cut_owner_u = &cut_owner_u[0]
    g.cut_owner_v = &cut_owner_v[0]
    f.open_u = &open_u[0]
    f.open_v = &open_v[0]
    f.wall_u = &wall_u[0]
    f.wall_v = &wall_v[0]
    f.face_body = &face_body[0]
    f.face_at = &face_at[0]
    f.used = 0
    f.room = <int>face_body.shape[0]
    with nogil:
        draw_bounds(&g, bounds[0], bounds[1], bounds[2], bounds[3])
        for t in range(2):
            tree = &world.moving if t else &world.still
            if tree.root < 0:
                continue
            top = 1
            stack[0] = tree.root
            leaf = next_leaf(tree, stack, &top, ox, oy, ox + nx * cell, oy + ny * cell)
            while leaf >= 0:
                shape = world.shapes + leaf
                if not shape.sensor and filters_meet(shape.group, shape.categories, shape.mask, group, categories,
                                                     mask):
                    draw_shape(&g, world, leaf)
                leaf = next_leaf(tree, stack, &top, ox, oy, ox + nx * cell, oy + ny * cell)
        for j in range(ny):
            for i in range(nx):
                face(&g, &f, world, i, j, True)
                face(&g, &f, world, i, j, False)
    return f.used


def couple(int64_t[::1] colliders, double ox, double oy, double cell, int nx, const uint8_t[::1] wet,
           const float[::1] open_u, const float[::1] open_v, int faces, const int[::1] face_body,
           const int[::1] face_at, int[::1] slot, int[::1] bodies, int[::1] start, int[::1] fill, int[::1] at,
           float[::1] jx, float[::1] jy, float[::1] jt, float[::1] inverse):
    """Rows of J, body by body: the impulse on a body is cell^2 * sum over its items of (jx, jy, jt) * q[at].

    inverse: per body cell^2 / mass and cell^2 / moment. slot: work space, one item a body of the space, -1 on entry and
    on return. Returns how many bodies touch wet cells.
    """
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef int f, c, stride = nx + 1, side, body, count = 0, b, k, behind
    cdef double x, y, shut
    with nogil:
        for f in range(faces):                                  # which bodies, how many items each
            c = face_at[f] >> 1
            behind = c - (stride if face_at[f] & 1 else 1)
            if behind < 0 or not (wet[c] or wet[behind]):
                continue
            if slot[face_body[f]] < 0:
                slot[face_body[f]] = count
                bodies[count] = face_body[f]
                start[count + 1] = 0
                count += 1
            start[slot[face_body[f]] + 1] += wet[c] + wet[behind]
        start[0] = 0
        for b in range(count):
            start[b + 1] += start[b]
            fill[b] = start[b]
        for f in range(faces):
            c = face_at[f] >> 1
            side = face_at[f] & 1
            behind = c - (stride if side else 1)
            if behind < 0 or not (wet[c] or wet[behind]):
                continue
            body = face_body[f]
            b = slot[body]
            x = ox + (c % stride + (0.5 if side else 0)) * cell - world.bodies[body].x
            y = oy + (c // stride + (0 if side else 0.5)) * cell - world.bodies[body].y
            shut = 1 - (open_v[c] if side else open_u[c])
            for k in range(2):
                if not wet[behind if k else c]:
                    continue
                at[fill[b]] = behind if k else c
                if not k:
                    shut = -shut
                else:
                    shut = 1 - (open_v[c] if side else open_u[c])
                jx[fill[b]] = <float>(0 if side else shut)
                jy[fill[b]] = <float>(shut if side else 0)
                jt[fill[b]] = <float>(x * shut if side else -y * shut)
                fill[b] += 1
        for b in range(count):
            slot[bodies[b]] = -1
            inverse[2 * b] = <float>(world.bodies[bodies[b]].im * cell * cell)
            inverse[2 * b + 1] = <float>(world.bodies[bodies[b]].ii * cell * cell)
    return count


cdef inline float at_surface(const float* q, const uint8_t* wet, const float* phi, int c, int stride, int ahead,
                             bint upright, float behind) noexcept nogil:
    """The pressure where the wall is, on the line from wet cell c through its neighbour c + ahead: carried on linearly
    from the cell behind, since c's centre may lie up to a cell before the wall or behind it. Faces between two wet cells
    keep the plain difference: it sums up over the partly covered cells along a wall. behind: the open share of the
    face behind c; what is covered there has been counted by that difference."""
    cdef float across, along, t, middle
    if wet[c + ahead] or not wet[c - ahead]:
        return q[c]
    across = (phi[c + 1] + phi[c + stride + 1] - phi[c] - phi[c + stride]) * <float>0.5
    along = (phi[c + stride] + phi[c + stride + 1] - phi[c] - phi[c + 1]) * <float>0.5
    middle = (phi[c] + phi[c + 1] + phi[c + stride] + phi[c + stride + 1]) * <float>0.25
    t = across if upright else along
    t = t if t > 0 else -t
    t = middle / (t if t > <float>0.3 else <float>0.3) + 1 - behind
    t = t if t < 1 else 1
    t = t if t > -1 else -1
    return q[c] + t * (q[c] - q[c - ahead])


def push_bodies(int64_t[::1] colliders, double cell, double world_h, int nx, int count, const int[::1] bodies,
                const int[::1] start, const int[::1] at, const float[::1] jx, const float[::1] jy,
                const float[::1] jt, const float[::1] q, const float[::1] phi, const uint8_t[::1] wet,
                const float[::1] open_u, const float[::1] open_v):
    """Give the bodies the pressure's impulse; returns its sum (x, y)."""
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef int b, k, stride = nx + 1, ahead
    cdef double x, y, t, scale = cell * cell * world_h, total_x = 0, total_y = 0
    cdef float here, behind
    cdef Body* body
    for b in range(count):
        x = y = t = 0
        for k in range(start[b], start[b + 1]):
            if jx[k] != 0:
                ahead = 1 if jx[k] > 0 else -1
            else:
                ahead = stride if jy[k] > 0 else -stride
            if jx[k] != 0:
                behind = open_u[at[k] if ahead > 0 else at[k] + 1]
            else:
                behind = open_v[at[k] if ahead > 0 else at[k] + stride]
            here = at_surface(&q[0], &wet[0], &phi[0], at[k], stride, ahead, jx[k] != 0, behind)
            x += <double>jx[k] * here
            y += <double>jy[k] * here
            t += <double>jt[k] * here
        body = world.bodies + bodies[b]
        body.jt += t * scale
        push_body(body, 0, 0, x * scale, y * scale)
        if body.kind == DYNAMIC and body.im > 0:
            total_x += x * cell * cell
            total_y += y * cell * cell
    return total_x, total_y


def touches_still(int64_t[::1] colliders, const uint8_t[::1] wet, const float[::1] open_u, const float[::1] open_v,
                  const int[::1] owner, int faces, const int[::1] face_at, int nx, int ny):
    """Does a wet cell have a closed face that is no dynamic body's?"""
    cdef int i, j, c, stride = nx + 1, shut = 0, ours = 0, k
    with nogil:
        for j in range(1, ny):
            for i in range(1, nx):
                c = j * stride + i
                if open_u[c] < 1 and (wet[c] or wet[c - 1]):
                    shut += 1
                if open_v[c] < 1 and (wet[c] or wet[c - stride]):
                    shut += 1
        for k in range(faces):
            c = face_at[k] >> 1
            if wet[c] or wet[c - (stride if face_at[k] & 1 else 1)]:
                ours += 1
    return shut > ours
