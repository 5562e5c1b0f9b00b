# Holding one particle, or one edge between two particles, outside a shape or another edge.
#
# Constraint: C(x) = n . (x - surface) - radius >= 0, gradient n; position impulse lam = -C / (w + w_body), with
# w_body = 1/m + (r x n)^2 / I, r from the body's centre (Mueller, Macklin, Chentanez, Jeschke, Kim 2020, "Detailed rigid
# body simulation with extended position based dynamics"). Arms are taken at the start of the substep and both sides get
# the same impulse on one line, so that linear and angular momentum are kept to rounding.
# Friction (Coulomb): the tangential motion of this substep relative to the surface is undone, by at most mu times the
# normal impulse. An overlap that was there at the start is undone at a capped speed by moving the start as well: it
# makes no velocity.
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from shapes cimport DYNAMIC, Body, Shape, to_local
from trig cimport sincos

cdef enum:
    PRODUCT = 0
    OWN = 1
    GEOMETRIC = 2
    MAXIMUM = 3

cdef enum:
    SLOTS = 3              # touches kept per particle and step

cdef struct Touch:
    int64_t shape          # index of the shape, or -1: free slot
    double nx, ny, impulse

cdef struct Hold:          # a particle's contact from one substep to the next
    int64_t shape          # the shape it lies on, -1: none
    int64_t seen           # met again in this substep
    int64_t rebound        # body to rebound from at `speed`, or -1
    double nx, ny          # normal
    double ease            # part of its mobility along the normal that the last solve left it
    double lam             # what the surface bore in the last solve, as position impulse
    double speed           # to rebound at

cdef struct Skin:          # how an object meets shapes
    double radius, friction, elasticity, depenetration, slow
    int64_t rule, group, categories, mask


cdef inline double combine_friction(const Skin* skin, double other) noexcept nogil:
    if skin.rule == PRODUCT:
        return skin.friction * other
    if skin.rule == OWN:
        return skin.friction
    if skin.rule == GEOMETRIC:
        return sqrt(skin.friction * other)
    return skin.friction if skin.friction > other else other


cdef inline double arm_mass(const Body* body, double rx, double ry, double nx, double ny) noexcept nogil:
    cdef double cross = rx * ny - ry * nx
    return body.im + body.ii * cross * cross


cdef inline void push_body(Body* body, double rx, double ry, double lx, double ly) noexcept nogil:
    # Give the body a position impulse (lx, ly) at arm r, and move it at once.
    body.jx += lx
    body.jy += ly
    body.jt += rx * ly - ry * lx
    body.x = body.px + body.im * body.jx
    body.y = body.py + body.im * body.jy
    body.a = body.pa + body.ii * body.jt
    if body.ii != 0.0:
        sincos(body.a, &body.s, &body.c)


cdef inline void surface_motion(const Body* body, const Shape* shape, double x, double y, double h,
                                double* dx, double* dy) noexcept nogil:
    # How far the surface at (x, y) went in this substep, conveyor motion included.
    cdef double lx, ly
    to_local(body.x, body.y, body.c, body.s, x, y, &lx, &ly)
    dx[0] = x - (body.x0 + body.c0 * lx - body.s0 * ly) + shape.surface_x * h
    dy[0] = y - (body.y0 + body.s0 * lx + body.c0 * ly) + shape.surface_y * h


cdef inline void note_touch(Touch* touches, int64_t shape, double nx, double ny, double impulse) noexcept nogil:
    cdef int k, weakest = 0
    for k in range(SLOTS):
        if touches[k].shape == shape or touches[k].shape < 0:
            if touches[k].shape < 0:
                touches[k].shape = shape
                touches[k].impulse = 0.0
            touches[k].nx = nx
            touches[k].ny = ny
            touches[k].impulse += impulse
            return
        if touches[k].impulse < touches[weakest].impulse:
            weakest = k
    if impulse > touches[weakest].impulse:
        touches[weakest].shape = shape
        touches[weakest].nx = nx
        touches[weakest].ny = ny
        touches[weakest].impulse = impulse


cdef inline void settle_on(Hold* hold, int64_t shape, double nx, double ny) noexcept nogil:
    hold.shape = shape
    hold.seen = 1
    hold.nx = nx
    hold.ny = ny


cdef inline double hold_node(double* x, double* x0, const double* v, double w, const Skin* skin, const Shape* shape,
                             int64_t index, Body* body, bint own, double nx, double ny, double depth, double h,
                             Touch* touches, Hold* hold) noexcept nogil:
    # Resolve one particle against one shape, normal in world axes; the normal push in wu. `own`: may the body be moved?
    cdef double gap0 = -depth - ((x[0] - x0[0]) * nx + (x[1] - x0[1]) * ny)
    cdef double back = 0.0, push, rx = x0[0] - body.x0, ry = x0[1] - body.y0, sx, sy, wb = 0.0, lam, slip, limit
    cdef double tx = -ny, ty = nx, speed, e
    surface_motion(body, shape, x[0] - nx * skin.radius, x[1] - ny * skin.radius, h, &sx, &sy)
    gap0 += (sx - shape.surface_x * h) * nx + (sy - shape.surface_y * h) * ny
    own = own and body.kind == DYNAMIC
    push = depth
    if gap0 < 0.0:
        back = skin.depenetration * h
        back = -gap0 if -gap0 < back else back
        x0[0] += nx * back
        x0[1] += ny * back
        push = gap0 + back + depth
    if push < back:
        push = back
    x[0] += nx * back
    x[1] += ny * back
    push -= back
    if own:
        wb = arm_mass(body, rx, ry, nx, ny)
    if w + wb <= 0.0:
        note_touch(touches, index, nx, ny, 0.0)
        return 0.0
    lam = push / (w + wb) if push > 0.0 else 0.0
    x[0] += w * lam * nx
    x[1] += w * lam * ny
    if own:
        push_body(body, rx, ry, -lam * nx, -lam * ny)
    if hold.shape == index and not hold.seen:
        lam += hold.lam
    settle_on(hold, index, nx, ny)
    e = skin.elasticity * shape.elasticity
    if e > 0.0:
        speed = (v[0] - sx / h) * nx + (v[1] - sy / h) * ny
        if speed < -skin.slow:
            hold.rebound = shape.body
            hold.speed = -e * speed
    note_touch(touches, index, nx, ny, lam / h)
    limit = combine_friction(skin, shape.friction) * lam
    if limit > 0.0:
        surface_motion(body, shape, x[0] - nx * skin.radius, x[1] - ny * skin.radius, h, &sx, &sy)
        slip = (x[0] - x0[0] - sx) * tx + (x[1] - x0[1] - sy) * ty
        lam = slip / (w + (arm_mass(body, rx, ry, tx, ty) if own else 0.0))
        lam = limit if lam > limit else (-limit if lam < -limit else lam)
        x[0] -= w * lam * tx
        x[1] -= w * lam * ty
        if own:
            push_body(body, rx, ry, lam * tx, lam * ty)
    return push


cdef inline double hold_edge(double* a, double* a0, double wa, double* b, double* b0, double wb, double at,
                             const Skin* skin, const Shape* shape, int64_t index, Body* body, bint own,
                             double nx, double ny, double depth, double h,
                             Touch* touches, Hold* holds) noexcept nogil:
    # The same for a point at `at` on the edge a-b: its mass is that of a lever.
    cdef double pa = 1.0 - at, pb = at
    cdef double w = pa * pa * wa + pb * pb * wb, wo = 0.0
    cdef double cx = pa * a0[0] + pb * b0[0], cy = pa * a0[1] + pb * b0[1]
    cdef double x = pa * a[0] + pb * b[0], y = pa * a[1] + pb * b[1]
    cdef double rx = cx - body.x0, ry = cy - body.y0, sx, sy, gap0, back = 0.0, push = depth, lam, slip, limit
    cdef double tx = -ny, ty = nx
    own = own and body.kind == DYNAMIC
    surface_motion(body, shape, x - nx * skin.radius, y - ny * skin.radius, h, &sx, &sy)
    gap0 = -depth - ((x - cx - sx + shape.surface_x * h) * nx + (y - cy - sy + shape.surface_y * h) * ny)
    if gap0 < 0.0:
        back = skin.depenetration * h
        back = -gap0 if -gap0 < back else back
        push = gap0 + depth
        if push < 0.0:
            push = 0.0
        if wa > 0.0:
            a[0] += nx * back
            a[1] += ny * back
            a0[0] += nx * back
            a0[1] += ny * back
        if wb > 0.0:
            b[0] += nx * back
            b[1] += ny * back
            b0[0] += nx * back
            b0[1] += ny * back
    if own:
        wo = arm_mass(body, rx, ry, nx, ny)
    if w + wo <= 0.0:
        note_touch(touches, index, nx, ny, 0.0)
        return 0.0
    lam = push / (w + wo) if push > 0.0 else 0.0
    a[0] += wa * pa * lam * nx
    a[1] += wa * pa * lam * ny
    b[0] += wb * pb * lam * nx
    b[1] += wb * pb * lam * ny
    if own:
        push_body(body, rx, ry, -lam * nx, -lam * ny)
    if holds[0].shape == index and not holds[0].seen:
        lam += pa * holds[0].lam
    if holds[1].shape == index and not holds[1].seen:
        lam += pb * holds[1].lam
    settle_on(holds, index, nx, ny)
    settle_on(holds + 1, index, nx, ny)
    note_touch(touches, index, nx, ny, lam / h)
    limit = combine_friction(skin, shape.friction) * lam
    if limit > 0.0:
        x = pa * a[0] + pb * b[0]
        y = pa * a[1] + pb * b[1]
        surface_motion(body, shape, x - nx * skin.radius, y - ny * skin.radius, h, &sx, &sy)
        slip = (x - pa * a0[0] - pb * b0[0] - sx) * tx + (y - pa * a0[1] - pb * b0[1] - sy) * ty
        lam = slip / (w + (arm_mass(body, rx, ry, tx, ty) if own else 0.0))
        lam = limit if lam > limit else (-limit if lam < -limit else lam)
        a[0] -= wa * pa * lam * tx
        a[1] -= wa * pa * lam * ty
        b[0] -= wb * pb * lam * tx
        b[1] -= wb * pb * lam * ty
        if own:
            push_body(body, rx, ry, lam * tx, lam * ty)
    return push
