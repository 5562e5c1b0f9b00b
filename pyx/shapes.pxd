# pymunk bodies and shapes mirrored as flat records, and what a particle or an edge has to ask of them.
#
# Geometry lives in the body's frame, centred on the body's centre of gravity, and never moves there: a query takes its
# points into that frame with the pose at the start and at the end of the substep, so that a moving shape and a moving
# particle are one relative path. Every field is 8 bytes wide: softkit/colliders.py has the same records as dtypes.
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

cdef enum:
    CIRCLE = 0
    SEGMENT = 1
    POLY = 2

cdef enum:
    STATIC = 0
    KINEMATIC = 1
    DYNAMIC = 2

cdef struct Body:
    double x, y, a, c, s                 # pose now: centre of gravity, angle, its cosine and sine
    double x0, y0, a0, c0, s0            # pose at the start of this substep
    double px, py, pa, pc, ps            # pose predicted for the end of this substep before any soft impulse
    double vx, vy, w                     # velocity of the centre of gravity, angular velocity
    double im, ii                        # inverse mass and moment; zero unless dynamic
    double ax, ay, aw                    # acceleration from all that is not soft, predicted for this step
    double jx, jy, jt                    # soft impulses of this substep
    double dvx, dvy, dw                  # velocity change by soft impulses in this step
    int64_t kind, touched, island

cdef struct Shape:
    int64_t kind, body, first, count, sensor
    int64_t group, categories, mask
    double radius, friction, elasticity
    double surface_x, surface_y          # surface velocity, in the space's axes
    double cx, cy, reach                 # a circle round the shape, radius included, in the body's frame

cdef struct Corner:                      # a vertex and the outward unit normal of the edge that starts there
    double x, y, nx, ny

cdef struct Node:                        # of a bounding volume tree; a leaf has left = -1 and holds one shape
    double x0, y0, x1, y1
    int64_t left, right, shape, parent

cdef struct Tree:
    Node* nodes
    int64_t root

cdef struct Colliders:
    Body* bodies
    Shape* shapes
    Corner* corners
    Tree still, moving


cdef inline bint filters_meet(int64_t group_a, int64_t categories_a, int64_t mask_a,
                              int64_t group_b, int64_t categories_b, int64_t mask_b) noexcept nogil:
    # Chipmunk's rule: one shared non-zero group never meets, and each side's categories must be in the other's mask.
    if group_a != 0 and group_a == group_b:
        return False
    return (categories_a & mask_b) != 0 and (categories_b & mask_a) != 0


cdef inline void to_local(double bx, double by, double c, double s, double x, double y,
                          double* lx, double* ly) noexcept nogil:
    cdef double dx = x - bx, dy = y - by
    lx[0] = c * dx + s * dy
    ly[0] = c * dy - s * dx


cdef inline double point_circle(double px, double py, double cx, double cy, double* nx, double* ny) noexcept nogil:
    # Distance to a centre; at the centre itself the normal is zero, and the caller says which way is out.
    cdef double dx = px - cx, dy = py - cy
    cdef double d = sqrt(dx * dx + dy * dy)
    if d > 1e-12:
        nx[0] = dx / d
        ny[0] = dy / d
    else:
        nx[0] = 0.0
        ny[0] = 0.0
    return d


cdef inline double clamp01(double t) noexcept nogil:
    return 0.0 if t < 0.0 else (1.0 if t > 1.0 else t)


cdef inline double segment_parameter(double ax, double ay, double bx, double by,
                                     double px, double py) noexcept nogil:
    # Where on a-b (0..1) the point nearest to p lies.
    cdef double ex = bx - ax, ey = by - ay
    cdef double e2 = ex * ex + ey * ey
    if e2 < 1e-300:
        return 0.0
    return clamp01(((px - ax) * ex + (py - ay) * ey) / e2)


cdef inline double shape_distance(const Shape* shape, const Corner* corners, double px, double py,
                                  double* nx, double* ny) noexcept nogil:
    # Signed distance from p to the surface (negative inside) and the outward normal there. On a segment's core or at a
    # circle's centre the normal is zero.
    cdef const Corner* v = corners + shape.first
    cdef int64_t i, best = 0, after
    cdef double d, deepest = -1e300, t
    if shape.kind == CIRCLE:
        return point_circle(px, py, v[0].x, v[0].y, nx, ny) - shape.radius
    if shape.kind == SEGMENT:
        t = segment_parameter(v[0].x, v[0].y, v[1].x, v[1].y, px, py)
        return point_circle(px, py, v[0].x + t * (v[1].x - v[0].x), v[0].y + t * (v[1].y - v[0].y), nx, ny) \
            - shape.radius
    for i in range(shape.count):
        d = v[i].nx * (px - v[i].x) + v[i].ny * (py - v[i].y)
        if d > deepest:
            deepest = d
            best = i
    if deepest > 0.0:
        after = best + 1 if best + 1 < shape.count else 0
        t = segment_parameter(v[best].x, v[best].y, v[after].x, v[after].y, px, py)
        d = point_circle(px, py, v[best].x + t * (v[after].x - v[best].x), v[best].y + t * (v[after].y - v[best].y),
                         nx, ny)
        if d > 1e-12:
            return d - shape.radius
    nx[0] = v[best].nx
    ny[0] = v[best].ny
    return deepest - shape.radius


cdef inline double cast_circle(double px, double py, double dx, double dy, double cx, double cy,
                               double radius) noexcept nogil:
    # First t in [0, 1] at which p + t d enters the circle from outside, or 2.
    cdef double fx = px - cx, fy = py - cy
    cdef double a = dx * dx + dy * dy, b = fx * dx + fy * dy, c = fx * fx + fy * fy - radius * radius
    cdef double disc = b * b - a * c, t
    if c < 0.0 or b >= 0.0 or disc <= 0.0 or a < 1e-300:
        return 2.0
    t = (-b - sqrt(disc)) / a
    return t if t <= 1.0 else 2.0


cdef inline double cast_edge(double px, double py, double dx, double dy, const Corner* a, const Corner* b,
                             double side, double radius) noexcept nogil:
    # First t at which p + t d crosses the edge moved out by `radius` along side * normal, or 2.
    cdef double nx = side * a.nx, ny = side * a.ny
    cdef double height = nx * (px - a.x) + ny * (py - a.y) - radius
    cdef double speed = nx * dx + ny * dy
    cdef double t, ex = b.x - a.x, ey = b.y - a.y, along
    if height < 0.0 or speed >= 0.0 or height > -speed:
        return 2.0
    t = height / -speed
    along = (px + t * dx - a.x) * ex + (py + t * dy - a.y) * ey
    if along < 0.0 or along > ex * ex + ey * ey:
        return 2.0
    return t


cdef inline double shape_cast(const Shape* shape, const Corner* corners, double px, double py, double qx, double qy,
                              double radius, double* nx, double* ny) noexcept nogil:
    # A disc of `radius` goes from p to q, starting outside: the first t in [0, 1] at which it touches the shape, with
    # the outward normal there, or 2 if it never does.
    cdef const Corner* v = corners + shape.first
    cdef double dx = qx - px, dy = qy - py, total = shape.radius + radius
    cdef double t, best = 2.0, side
    cdef int64_t i, after
    for i in range(shape.count):
        t = cast_circle(px, py, dx, dy, v[i].x, v[i].y, total)
        if t < best:
            best = t
            point_circle(px + t * dx, py + t * dy, v[i].x, v[i].y, nx, ny)
    if shape.kind == SEGMENT:
        side = 1.0 if v[0].nx * (px - v[0].x) + v[0].ny * (py - v[0].y) >= 0.0 else -1.0
        t = cast_edge(px, py, dx, dy, &v[0], &v[1], side, total)
        if t < best:
            best = t
            nx[0] = side * v[0].nx
            ny[0] = side * v[0].ny
    elif shape.kind == POLY:
        for i in range(shape.count):
            after = i + 1 if i + 1 < shape.count else 0
            t = cast_edge(px, py, dx, dy, &v[i], &v[after], 1.0, total)
            if t < best:
                best = t
                nx[0] = v[i].nx
                ny[0] = v[i].ny
    return best


cdef inline bint crosses_core(const Shape* shape, const Corner* corners, double px, double py,
                              double qx, double qy) noexcept nogil:
    # Does the path p -> q cross a segment's centre line?
    cdef const Corner* v = corners + shape.first
    cdef double s0 = v[0].nx * (px - v[0].x) + v[0].ny * (py - v[0].y)
    cdef double s1 = v[0].nx * (qx - v[0].x) + v[0].ny * (qy - v[0].y)
    cdef double t, along, ex, ey
    if (s0 >= 0.0) == (s1 >= 0.0):
        return False
    t = s0 / (s0 - s1)
    ex = v[1].x - v[0].x
    ey = v[1].y - v[0].y
    along = (px + t * (qx - px) - v[0].x) * ex + (py + t * (qy - py) - v[0].y) * ey
    return 0.0 <= along <= ex * ex + ey * ey


cdef inline bint find_contact(const Shape* shape, const Corner* corners, double px, double py, double qx, double qy,
                              double radius, double* nx, double* ny, double* depth) noexcept nogil:
    # A disc of `radius` moved from p to q in the shape's frame: is it to be held, along which normal, how deep below
    # the held surface is q? The nearest feature at q decides where q is merely shallow: that slides over joints between
    # collinear shapes without a bump. Where the path went through, the side it came from decides.
    cdef double mx = 0.0, my = 0.0, d, d0, t, gx = qx - px, gy = qy - py, path, slop
    d = shape_distance(shape, corners, qx, qy, nx, ny) - radius
    path = sqrt(gx * gx + gy * gy)
    if d >= 0.0 and d >= path:
        return False
    if d < 0.0 and (nx[0] != 0.0 or ny[0] != 0.0):
        if shape.kind == SEGMENT:
            if d > -radius - shape.radius and not crosses_core(shape, corners, px, py, qx, qy):
                depth[0] = -d
                return True
        elif gx * nx[0] + gy * ny[0] <= 1e-9 * path or path < 1e-9:
            depth[0] = -d
            return True
    # From here on q lies past the surface it came through, or the path may have touched on its way.
    if d >= 0.0 and path < 0.5 * radius and shape.kind != SEGMENT:
        return False
    slop = 0.25 * radius if d >= 0.0 else 0.0
    d0 = shape_distance(shape, corners, px, py, &mx, &my) - radius + slop
    if d0 >= 0.0:
        t = shape_cast(shape, corners, px, py, qx, qy, radius - slop, &mx, &my)
        if t > 1.0:
            if d >= 0.0:
                return False
            depth[0] = -d
            return nx[0] != 0.0 or ny[0] != 0.0
        nx[0] = mx
        ny[0] = my
        depth[0] = -((gx * mx + gy * my) * (1.0 - t)) + slop
        return depth[0] > 0.0
    if shape.kind == SEGMENT:
        # Started within the skin: hold the side of the start.
        if d >= 0.0 and not crosses_core(shape, corners, px, py, qx, qy):
            return False
        t = corners[shape.first].nx * (px - corners[shape.first].x) + corners[shape.first].ny * (
            py - corners[shape.first].y)
        mx = corners[shape.first].nx if t >= 0.0 else -corners[shape.first].nx
        my = corners[shape.first].ny if t >= 0.0 else -corners[shape.first].ny
        nx[0] = mx
        ny[0] = my
        depth[0] = shape.radius + radius - (mx * (qx - corners[shape.first].x) + my * (qy - corners[shape.first].y))
        return depth[0] > 0.0
    if d >= 0.0:
        return False
    if mx == 0.0 and my == 0.0:
        # At a circle's centre: out against the motion, or up the first axis if it does not move.
        if path > 1e-9:
            mx = -gx / path
            my = -gy / path
        else:
            mx = 1.0
    nx[0] = mx
    ny[0] = my
    depth[0] = -(d0 - slop) - (gx * mx + gy * my)
    return depth[0] > 0.0


cdef inline double first_root(double a, double b, double c) noexcept nogil:
    # Smallest root of a t^2 + b t + c in [0, 1], or 2.
    cdef double disc, q, t, u
    if fabs(a) < 1e-12 * (fabs(b) + fabs(c)) + 1e-300:
        if b == 0.0:
            return 2.0
        t = -c / b
        return t if 0.0 <= t <= 1.0 else 2.0
    disc = b * b - 4.0 * a * c
    if disc < 0.0:
        return 2.0
    q = -0.5 * (b + sqrt(disc)) if b >= 0.0 else -0.5 * (b - sqrt(disc))
    t = q / a
    u = c / q if q != 0.0 else 2.0
    if not (0.0 <= t <= 1.0):
        t = 2.0
    if not (0.0 <= u <= 1.0):
        u = 2.0
    return t if t < u else u


cdef inline bint find_edge_contact(double ax0, double ay0, double bx0, double by0, double ax, double ay,
                                   double bx, double by, double qx, double qy, double radius, bint ends,
                                   double* nx, double* ny, double* at, double* depth) noexcept nogil:
    # An edge moves from a0-b0 to a-b past a fixed disc q of `radius` (edge radius included): is it to be held, where on
    # the edge (0..1), along which normal (pushing the edge), how deep? Without `ends` its two ends do not count.
    cdef double ex = bx - ax, ey = by - ay, e2 = ex * ex + ey * ey
    cdef double fx = bx0 - ax0, fy = by0 - ay0, side0, side1, t, d, length, tau, cx, cy, gx, gy
    if e2 < 1e-18:
        return False
    length = sqrt(e2)
    side0 = fx * (qy - ay0) - fy * (qx - ax0)
    side1 = ex * (qy - ay) - ey * (qx - ax)
    if (side0 > 0.0) != (side1 > 0.0) and side0 != 0.0:
        # The line swept over q: did the edge itself?
        gx = ex - fx
        gy = ey - fy
        cx = ax - ax0
        cy = ay - ay0
        tau = first_root(-(gx * cy - gy * cx), gx * (qy - ay0) - gy * (qx - ax0) - (fx * cy - fy * cx), side0)
        if tau <= 1.0:
            t = segment_parameter(ax0 + tau * cx, ay0 + tau * cy, bx0 + tau * (bx - bx0), by0 + tau * (by - by0),
                                  qx, qy)
            if 0.0 < t < 1.0:
                at[0] = t
                d = 1.0 if side0 > 0.0 else -1.0
                nx[0] = d * ey / length
                ny[0] = -d * ex / length
                depth[0] = radius - d * side1 / length
                return depth[0] > 0.0
    t = ((qx - ax) * ex + (qy - ay) * ey) / e2
    if not (0.0 < t < 1.0):
        if not ends:
            return False
        t = clamp01(t)
    cx = ax + t * ex - qx
    cy = ay + t * ey - qy
    d = sqrt(cx * cx + cy * cy)
    if d >= radius:
        return False
    at[0] = t
    if d > 1e-12:
        nx[0] = cx / d
        ny[0] = cy / d
    else:
        d = 0.0
        nx[0] = ey / length if side0 > 0.0 else -ey / length
        ny[0] = -ex / length if side0 > 0.0 else ex / length
    depth[0] = radius - d
    return True


cdef inline bint pierces(const Shape* shape, const Corner* corners, const double* a, const double* b,
                         double* nx, double* ny, double* at, double* depth) noexcept nogil:
    # Does the link a-b cut a corner off a polygon? Then which way is out, where on the link, how deep.
    cdef const Corner* v = corners + shape.first
    cdef double ex = b[0] - a[0], ey = b[1] - a[1], e2 = ex * ex + ey * ey, t, cx, cy, d, best = 1e300, mx, my
    cdef int64_t i
    if e2 < 1e-18:
        return False
    for i in range(shape.count):
        t = ((v[i].x - a[0]) * ex + (v[i].y - a[1]) * ey) / e2
        if not (0.0 < t < 1.0):
            continue
        cx = a[0] + t * ex
        cy = a[1] + t * ey
        d = sqrt((v[i].x - cx) * (v[i].x - cx) + (v[i].y - cy) * (v[i].y - cy))
        if d < best and d > 1e-9 and shape_distance(shape, corners, cx, cy, &mx, &my) + shape.radius < -1e-9:
            best = d
            nx[0] = (v[i].x - cx) / d
            ny[0] = (v[i].y - cy) / d
            at[0] = t
            depth[0] = d + shape.radius
    return best < 1e300


cdef inline int64_t next_leaf(const Tree* tree, int64_t* stack, int* top,
                              double x0, double y0, double x1, double y1) noexcept nogil:
    # Depth-first walk over the leaves that meet a box; start with stack[0] = root, top = 1; -1 at the end.
    cdef const Node* node
    while top[0] > 0:
        top[0] -= 1
        node = tree.nodes + stack[top[0]]
        if node.x0 > x1 or node.x1 < x0 or node.y0 > y1 or node.y1 < y0:
            continue
        if node.left < 0:
            return node.shape
        stack[top[0]] = node.right
        stack[top[0] + 1] = node.left
        top[0] += 2
    return -1
