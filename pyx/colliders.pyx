"""The mirror of a pymunk space as flat records: change watch, bounding volume trees, body motion over a step."""

cimport cython
from cython.parallel cimport prange
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t
from libc.string cimport memcmp, memcpy

from shapes cimport (CIRCLE, DYNAMIC, POLY, SEGMENT, Body, Colliders, Corner, Node, Shape, Tree, filters_meet,
                     next_leaf, shape_distance, to_local)
from trig cimport sincos

cdef enum:
    STACK = 128


def record_sizes():
    """Bytes of one Body, Shape, Corner, tree Node and Colliders record, to be compared with the dtypes in Python."""
    return sizeof(Body), sizeof(Shape), sizeof(Corner), sizeof(Node), sizeof(Colliders)


def watch(uintptr_t[::1] pointers, uint8_t[:, ::1] saved, uint8_t[::1] changed, Py_ssize_t low_a, Py_ssize_t high_a,
          Py_ssize_t low_b, Py_ssize_t high_b):
    """Compare two byte windows behind each pointer with `saved`, flag the rows that differ, save them; how many."""
    cdef Py_ssize_t i, n = pointers.shape[0], first = high_a - low_a, second = high_b - low_b
    cdef Py_ssize_t count = 0
    cdef const uint8_t* p
    with nogil:
        for i in range(n):
            p = <const uint8_t*>pointers[i]
            changed[i] = 0
            if memcmp(p + low_a, &saved[i, 0], first) != 0 or (
                    second > 0 and memcmp(p + low_b, &saved[i, first], second) != 0):
                changed[i] = 1
                count += 1
                memcpy(&saved[i, 0], p + low_a, first)
                if second > 0:
                    memcpy(&saved[i, first], p + low_b, second)
    return count


cdef inline void pose_box(const Shape* shape, const Corner* corners, double x, double y, double c, double s,
                          double* box) noexcept nogil:
    cdef int64_t i
    cdef double wx, wy
    cdef const Corner* v = corners + shape.first
    for i in range(shape.count):
        wx = x + c * v[i].x - s * v[i].y
        wy = y + s * v[i].x + c * v[i].y
        box[0] = wx - shape.radius if wx - shape.radius < box[0] else box[0]
        box[1] = wy - shape.radius if wy - shape.radius < box[1] else box[1]
        box[2] = wx + shape.radius if wx + shape.radius > box[2] else box[2]
        box[3] = wy + shape.radius if wy + shape.radius > box[3] else box[3]


cdef inline void swept_box(const Colliders* world, int64_t index, double* box) noexcept nogil:
    # The box round the shape at the start and at the predicted and present end of the substep.
    cdef const Shape* shape = world.shapes + index
    cdef const Body* body = world.bodies + shape.body
    cdef double turn = fabs(body.a - body.a0) * shape.reach
    box[0] = box[1] = 1e300
    box[2] = box[3] = -1e300
    pose_box(shape, world.corners, body.x0, body.y0, body.c0, body.s0, box)
    pose_box(shape, world.corners, body.x, body.y, body.c, body.s, box)
    turn = turn if turn < shape.reach else shape.reach
    box[0] -= turn
    box[1] -= turn
    box[2] += turn
    box[3] += turn


def shape_boxes(int64_t[::1] colliders, int64_t[::1] which, double[:, ::1] boxes):
    """World boxes of the shapes named in `which`, over the body's motion in this substep."""
    cdef const Colliders* world = <const Colliders*>&colliders[0]
    cdef Py_ssize_t i
    for i in range(which.shape[0]):
        swept_box(world, which[i], &boxes[i, 0])


cdef inline uint64_t spread_bits(uint64_t v) noexcept nogil:
    v = v & <uint64_t>0xFFFFFFFFULL
    v = (v | (v << 16)) & <uint64_t>0x0000FFFF0000FFFFULL
    v = (v | (v << 8)) & <uint64_t>0x00FF00FF00FF00FFULL
    v = (v | (v << 4)) & <uint64_t>0x0F0F0F0F0F0F0F0FULL
    v = (v | (v << 2)) & <uint64_t>0x3333333333333333ULL
    return (v | (v << 1)) & <uint64_t>0x5555555555555555ULL


def morton_codes(double[:, ::1] boxes, uint64_t[::1] codes):
    """Z-order codes (Morton 1966) of the boxes' centres inside their common box, 31 bits an axis."""
    cdef Py_ssize_t i, n = boxes.shape[0]
    cdef double x0 = 1e300, y0 = 1e300, x1 = -1e300, y1 = -1e300, sx, sy, x, y
    for i in range(n):
        x = 0.5 * (boxes[i, 0] + boxes[i, 2])
        y = 0.5 * (boxes[i, 1] + boxes[i, 3])
        x0 = x if x < x0 else x0
        x1 = x if x > x1 else x1
        y0 = y if y < y0 else y0
        y1 = y if y > y1 else y1
    sx = 2147483647.0 / (x1 - x0) if x1 > x0 else 0.0
    sy = 2147483647.0 / (y1 - y0) if y1 > y0 else 0.0
    for i in range(n):
        x = (0.5 * (boxes[i, 0] + boxes[i, 2]) - x0) * sx
        y = (0.5 * (boxes[i, 1] + boxes[i, 3]) - y0) * sy
        codes[i] = spread_bits(<uint64_t>x) | (spread_bits(<uint64_t>y) << 1)


cdef inline void join_boxes(Node* nodes, int64_t k) noexcept nogil:
    cdef Node* n = nodes + k
    cdef Node* a = nodes + n.left
    cdef Node* b = nodes + n.right
    n.x0 = a.x0 if a.x0 < b.x0 else b.x0
    n.y0 = a.y0 if a.y0 < b.y0 else b.y0
    n.x1 = a.x1 if a.x1 > b.x1 else b.x1
    n.y1 = a.y1 if a.y1 > b.y1 else b.y1


def build_tree(int64_t[::1] order, int64_t[::1] which, double[:, ::1] boxes, uint8_t[::1] nodes):
    """A balanced tree over the boxes in `order`: 2 n - 1 nodes, parents before their children, root 0."""
    cdef Node* tree = <Node*>&nodes[0]
    cdef int64_t lows[STACK]
    cdef int64_t highs[STACK]
    cdef int64_t slots[STACK]
    cdef int64_t top, used = 1, k, low, high, middle, row
    cdef Py_ssize_t n = order.shape[0]
    if n == 0:
        return
    lows[0] = 0
    highs[0] = n
    slots[0] = 0
    top = 1
    while top > 0:
        top -= 1
        low = lows[top]
        high = highs[top]
        k = slots[top]
        if high - low == 1:
            row = order[low]
            tree[k].left = tree[k].right = -1
            tree[k].shape = which[row]
            tree[k].x0 = boxes[row, 0]
            tree[k].y0 = boxes[row, 1]
            tree[k].x1 = boxes[row, 2]
            tree[k].y1 = boxes[row, 3]
            continue
        middle = (low + high) // 2
        tree[k].shape = -1
        tree[k].left = used
        tree[k].right = used + 1
        lows[top] = middle
        highs[top] = high
        slots[top] = used + 1
        lows[top + 1] = low
        highs[top + 1] = middle
        slots[top + 1] = used
        top += 2
        used += 2
    for k in range(2 * n - 2, -1, -1):
        if tree[k].left >= 0:
            join_boxes(tree, k)


def refit(int64_t[::1] colliders, Py_ssize_t leaves):
    """Bring the moving tree's boxes up to this substep's motion."""
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef Node* tree = world.moving.nodes
    cdef Py_ssize_t k
    cdef double box[4]
    if leaves == 0:
        return
    with nogil:
        for k in range(2 * leaves - 2, -1, -1):
            if tree[k].left >= 0:
                join_boxes(tree, k)
            else:
                swept_box(world, tree[k].shape, box)
                tree[k].x0 = box[0]
                tree[k].y0 = box[1]
                tree[k].x1 = box[2]
                tree[k].y1 = box[3]


cdef inline double minmod(double a, double b) noexcept nogil:
    if a > 0.0 and b > 0.0:
        return a if a < b else b
    if a < 0.0 and b < 0.0:
        return a if a > b else b
    return 0.0


cdef struct History:       # what the mirror remembers of a body from the step before; all zero at first sight
    double ex, ey, ea      # pose expected now if nobody moved it by hand
    double sx, sy, sw      # velocity handed back
    double gx, gy, gw      # acceleration seen over the last step
    double known


cdef inline bint predict_motion(Body* b, History* past, double dt, double gravity_x, double gravity_y,
                                double teleport) noexcept nogil:
    # Driven bodies: a position set by hand counts as motion over this step, unless it is a jump.
    # Dynamic bodies: whatever accelerated the body in both of the last two steps (gravity, a joint, the floor it rests
    # on) is expected to do so again; a blow that came once is not.
    cdef double dx, dy, da, ax, ay, aw
    cdef bint moved = b.vx != 0.0 or b.vy != 0.0 or b.w != 0.0
    if b.kind != DYNAMIC:
        b.ax = b.ay = b.aw = 0.0
        dx = b.x - past.ex
        dy = b.y - past.ey
        da = b.a - past.ea
        if past.known != 0.0 and (dx != 0.0 or dy != 0.0 or da != 0.0):
            moved = True
            if dx * dx + dy * dy <= teleport * teleport * dt * dt and -1.6 < da < 1.6:
                b.vx += dx / dt
                b.vy += dy / dt
                b.w += da / dt
                b.x = past.ex
                b.y = past.ey
                b.a = past.ea
        past.ex = b.x + b.vx * dt
        past.ey = b.y + b.vy * dt
        past.ea = b.a + b.w * dt
        past.known = 1.0
        return moved
    ax = (b.vx - past.sx) / dt
    ay = (b.vy - past.sy) / dt
    aw = (b.w - past.sw) / dt
    if past.known == 2.0:
        b.ax = minmod(ax, past.gx)
        b.ay = minmod(ay, past.gy)
        b.aw = minmod(aw, past.gw)
        past.gx = ax
        past.gy = ay
        past.gw = aw
    else:
        b.ax = past.gx = gravity_x
        b.ay = past.gy = gravity_y
        b.aw = past.gw = 0.0
        past.known = 2.0
    past.sx = b.vx
    past.sy = b.vy
    past.sw = b.w
    return True


def begin_step(uint8_t[::1] bodies, uint8_t[::1] history, Py_ssize_t count, double[:, ::1] rows, int64_t[::1] row_of,
               double[:, ::1] cog, double dt, double gravity_x, double gravity_y, double teleport,
               uint8_t[::1] moved):
    """Take (x, y, angle, vx, vy, w) of every body from its row of pymunk's batch, and predict its motion.

    `moved[i]` is set where a body may move in this step.
    """
    cdef Body* b
    cdef Py_ssize_t i, r
    cdef bint moves
    for i in range(count):
        b = <Body*>&bodies[0] + i
        r = row_of[i]
        b.a = rows[r, 2]
        sincos(b.a, &b.s, &b.c)
        b.x = rows[r, 0] + b.c * cog[i, 0] - b.s * cog[i, 1]
        b.y = rows[r, 1] + b.s * cog[i, 0] + b.c * cog[i, 1]
        b.vx = rows[r, 3]
        b.vy = rows[r, 4]
        b.w = rows[r, 5]
        moves = predict_motion(b, <History*>&history[0] + i, dt, gravity_x, gravity_y, teleport)
        sincos(b.a, &b.s, &b.c)
        b.x0 = b.px = b.x
        b.y0 = b.py = b.y
        b.a0 = b.pa = b.a
        b.c0 = b.pc = b.c
        b.s0 = b.ps = b.s
        b.jx = b.jy = b.jt = 0.0
        b.dvx = b.dvy = b.dw = 0.0
        b.touched = 0
        moved[i] = moves


def begin_substep(int64_t[::1] colliders, int64_t[::1] moving, double h):
    """Move every moving body through one substep by what it is expected to do without soft contact."""
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef Body* b
    cdef Py_ssize_t i
    for i in range(moving.shape[0]):
        b = world.bodies + moving[i]
        b.x0 = b.x
        b.y0 = b.y
        b.a0 = b.a
        b.c0 = b.c
        b.s0 = b.s
        b.vx += b.ax * h
        b.vy += b.ay * h
        b.w += b.aw * h
        b.x += b.vx * h
        b.y += b.vy * h
        b.a += b.w * h
        sincos(b.a, &b.s, &b.c)
        b.px = b.x
        b.py = b.y
        b.pa = b.a
        b.pc = b.c
        b.ps = b.s
        b.jx = b.jy = b.jt = 0.0


cdef inline bint calm(const Body* b, double h, double most) noexcept nogil:
    # Is what the soft impulses make of a body's velocity finite and no faster than anything may be?
    cdef double vx = b.vx + b.im * b.jx / h, vy = b.vy + b.im * b.jy / h, w = b.w + b.ii * b.jt / h
    return vx * vx + vy * vy <= most * most and fabs(w) * h <= 1.5


def end_substep(int64_t[::1] colliders, int64_t[::1] moving, double h, double most):
    """Turn this substep's soft impulses into velocity; the pose already has them.

    Impulses that would make a body faster than `most` (wu/s) or turn it by more than 1.5 rad in a substep are dropped,
    and the body goes on as it would have without; returns how often.
    """
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef Body* b
    cdef Py_ssize_t i, dropped = 0
    for i in range(moving.shape[0]):
        b = world.bodies + moving[i]
        if b.jx != 0.0 or b.jy != 0.0 or b.jt != 0.0:
            if b.kind == DYNAMIC and not calm(b, h, most):
                b.x = b.px
                b.y = b.py
                b.a = b.pa
                b.c = b.pc
                b.s = b.ps
                dropped += 1
                continue
            b.touched = 1
            b.dvx += b.im * b.jx / h
            b.dvy += b.im * b.jy / h
            b.dw += b.ii * b.jt / h
            b.vx += b.im * b.jx / h
            b.vy += b.im * b.jy / h
            b.w += b.ii * b.jt / h
    return dropped


def hand_back(uint8_t[::1] bodies, uint8_t[::1] history, Py_ssize_t count, double[:, ::1] cog, double dt,
              double[:, ::1] out, int64_t[::1] touched):
    """Rows (x, y, angle, vx, vy, w) to be set on the touched bodies before pymunk steps; how many there are.

    pymunk moves a body by its velocity times dt before it integrates forces. The position is set so that this lands
    where the substeps left the body: anchors show no gap, and the velocity carries exactly the soft impulses.
    """
    cdef Body* b
    cdef History* past
    cdef Py_ssize_t i, n = 0
    cdef double vx, vy, w, x, y, a, c, s
    for i in range(count):
        b = <Body*>&bodies[0] + i
        if b.touched == 0 or b.kind != DYNAMIC:
            continue
        past = <History*>&history[0] + i
        vx = past.sx + b.dvx
        vy = past.sy + b.dvy
        w = past.sw + b.dw
        past.sx = vx
        past.sy = vy
        past.sw = w
        x = b.x - vx * dt
        y = b.y - vy * dt
        a = b.a - w * dt
        sincos(a, &s, &c)
        out[n, 0] = x - (c * cog[i, 0] - s * cog[i, 1])
        out[n, 1] = y - (s * cog[i, 0] + c * cog[i, 1])
        out[n, 2] = a
        out[n, 3] = vx
        out[n, 4] = vy
        out[n, 5] = w
        touched[n] = i
        n += 1
    return n


def depth_at(int64_t[::1] colliders, Py_ssize_t shapes, int64_t body, double x, double y):
    """How deep a point lies inside the solid shapes of one body, at most; negative outside of all."""
    cdef const Colliders* world = <const Colliders*>&colliders[0]
    cdef const Body* b = world.bodies + body
    cdef Py_ssize_t i
    cdef double lx, ly, nx, ny, d, deepest = -1e300
    to_local(b.x, b.y, b.c, b.s, x, y, &lx, &ly)
    for i in range(shapes):
        if world.shapes[i].body == body and world.shapes[i].sensor == 0:
            d = -shape_distance(world.shapes + i, world.corners, lx, ly, &nx, &ny)
            deepest = d if d > deepest else deepest
    return deepest
