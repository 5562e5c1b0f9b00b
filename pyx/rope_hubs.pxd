"""Hubs: a dynamic body with the nodes tied to it, or nodes joined to one point, that move as one.

With pose q and x_a(q) the place of node a, M (q - q_free) = sum of J_a^T (f_a - m_a (x_a - y_a)), where f_a is what the
links pulled on node a (position impulses), y_a where it went by itself and J_a = (1, 0, -r_y; 0, 1, r_x). Bodies and
nodes get opposite impulses on one line: linear and angular momentum are kept to rounding.
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from rope_records cimport Hub, Member, Rope, Stage
from shapes cimport DYNAMIC, Body
from trig cimport sincos


cdef inline void arm_point(const Hub* hub, const Member* a, double* x, double* y) noexcept nogil:
    x[0] = hub.x + hub.c * a.lx - hub.s * a.ly
    y[0] = hub.y + hub.s * a.lx + hub.c * a.ly


cdef inline void invert3(double* m) noexcept nogil:
    # In place: inverse of a symmetric positive 3 x 3 matrix (xx, xy, yy, xa, ya, aa).
    cdef double xx = m[2] * m[5] - m[4] * m[4], xy = m[3] * m[4] - m[1] * m[5], xa = m[1] * m[4] - m[2] * m[3]
    cdef double yy = m[0] * m[5] - m[3] * m[3], ya = m[1] * m[3] - m[0] * m[4], aa = m[0] * m[2] - m[1] * m[1]
    cdef double det = m[0] * xx + m[1] * xy + m[3] * xa
    det = 1.0 / det if det > 0.0 else 0.0
    m[0] = xx * det
    m[1] = xy * det
    m[2] = yy * det
    m[3] = xa * det
    m[4] = ya * det
    m[5] = aa * det


cdef inline void hub_masses(Hub* hub, Member* members) noexcept nogil:
    # K of the head of this file. A body that cannot turn keeps its angle.
    cdef double* k = hub.K
    cdef int64_t i = hub.head
    cdef Member* a
    cdef double det
    k[0] = k[2] = 1.0 / hub.im if hub.im > 0.0 else 0.0
    k[1] = k[3] = k[4] = 0.0
    k[5] = 1.0 / hub.ii if hub.ii > 0.0 else 0.0
    while i >= 0:
        a = members + i
        k[0] += a.m
        k[2] += a.m
        if hub.ii > 0.0:
            k[3] -= a.m * a.ry
            k[4] += a.m * a.rx
            k[5] += a.m * (a.rx * a.rx + a.ry * a.ry)
        i = a.next
    if hub.ii > 0.0:
        invert3(k)
        return
    det = 1.0 / k[0] if k[0] > 0.0 else 0.0
    k[0] = k[2] = det
    k[5] = 0.0


cdef inline void turn(const Hub* hub, const Member* a, const Member* b, double* o) noexcept nogil:
    # J_a K J_b^T, row by row.
    cdef const double* k = hub.K
    cdef double xa = k[3] - a.ry * k[5], ya = k[4] + a.rx * k[5]
    o[0] = k[0] - a.ry * k[3] - b.ry * xa
    o[1] = k[1] - a.ry * k[4] + b.rx * xa
    o[2] = k[1] + a.rx * k[3] - b.ry * ya
    o[3] = k[2] + a.rx * k[4] + b.rx * ya


cdef inline void hub_pose(Hub* hub, double dx, double dy, double da) noexcept nogil:
    hub.x += dx
    hub.y += dy
    hub.a += da
    if hub.ii > 0.0:
        sincos(hub.a, &hub.s, &hub.c)


cdef inline void hub_place(Stage* stage, Hub* hub, Member* members) noexcept nogil:
    # The pose that belongs to the present pulls, and the nodes' places, world axes, in `px`, `py`; what each node gives
    # the body in `gx`, `gy`.
    cdef int turn_count
    cdef int64_t i
    cdef Member* a
    cdef double bx, by, ba, fx, fy
    cdef double* k = hub.K
    if hub.held:
        return
    for turn_count in range(4):
        bx = (hub.px - hub.x) / hub.im if hub.im > 0.0 else 0.0
        by = (hub.py - hub.y) / hub.im if hub.im > 0.0 else 0.0
        ba = (hub.pa - hub.a) / hub.ii if hub.ii > 0.0 else 0.0
        i = hub.head
        while i >= 0:
            a = members + i
            arm_point(hub, a, &a.px, &a.py)
            fx = stage.ropes[a.rope].f[2 * a.node] if hub.pulled else 0.0
            fy = stage.ropes[a.rope].f[2 * a.node + 1] if hub.pulled else 0.0
            a.gx = fx - a.m * (a.px - a.yx)
            a.gy = fy - a.m * (a.py - a.yy)
            bx += a.gx
            by += a.gy
            ba += a.rx * a.gy - a.ry * a.gx
            i = a.next
        if turn_count == 3:
            break
        hub_pose(hub, k[0] * bx + k[1] * by + k[3] * ba, k[1] * bx + k[2] * by + k[4] * ba,
                 k[3] * bx + k[4] * by + k[5] * ba)


cdef inline void hub_start(Stage* stage, Hub* hub) noexcept nogil:
    # Where the substep begins. Nodes that are elsewhere (their rope was drawn after something) are put there, without
    # velocity; a held node decides for a point.
    cdef Member* members = stage.members
    cdef Member* a
    cdef Rope* r
    cdef Body* b
    cdef int64_t i = hub.head
    cdef double m = 0.0, x = 0.0, y = 0.0, part, dx, dy, c, s
    if hub.body >= 0:
        x = hub.zx
        y = hub.zy
        b = stage.world.bodies + hub.body
        c = b.c if stage.drift else b.c0
        s = b.s if stage.drift else b.s0
    else:
        c = s = 0.0
        while i >= 0:
            a = members + i
            r = stage.ropes + a.rope
            part = 1.0 / r.w[a.node] if r.w[a.node] > 0.0 else 1.0
            if r.w[a.node] <= 0.0:
                m = x = y = 0.0
                hub.held = 1
            x += part * r.x0[2 * a.node]
            y += part * r.x0[2 * a.node + 1]
            m += part
            i = a.next if r.w[a.node] > 0.0 else -1
        x /= m
        y /= m
        hub.zx = x
        hub.zy = y
    i = hub.head
    while i >= 0:
        a = members + i
        r = stage.ropes + a.rope
        dx = x + c * a.lx - s * a.ly - r.x0[2 * a.node]
        dy = y + s * a.lx + c * a.ly - r.x0[2 * a.node + 1]
        if fabs(dx) + fabs(dy) > 1e-9 and r.w[a.node] > 0.0:
            r.x0[2 * a.node] += dx
            r.x0[2 * a.node + 1] += dy
            r.x[2 * a.node] += dx
            r.x[2 * a.node + 1] += dy
        i = a.next


cdef inline void hub_begin(Stage* stage, Hub* hub) noexcept nogil:
    # Pose and free flight of a hub for this substep, its nodes' arms, masses and own ways.
    cdef Member* members = stage.members
    cdef Member* a
    cdef Body* b
    cdef Rope* r
    cdef int64_t i = hub.head
    cdef double m = 0.0
    hub.held = hub.pulled = 0
    hub.im = hub.ii = 0.0
    hub.x = hub.y = hub.a = hub.s = hub.zx = hub.zy = hub.za = 0.0
    hub.c = 1.0
    if hub.body >= 0:
        b = stage.world.bodies + hub.body
        hub.held = b.kind != DYNAMIC
        hub.im = b.im
        hub.ii = b.ii
        hub.x = b.x
        hub.y = b.y
        hub.a = b.a
        hub.c = b.c
        hub.s = b.s
        hub.zx = b.x if stage.drift else b.x0
        hub.zy = b.y if stage.drift else b.y0
        hub.za = b.a if stage.drift else b.a0
    hub_start(stage, hub)
    while i >= 0:
        a = members + i
        r = stage.ropes + a.rope
        a.yx = a.ox = r.x[2 * a.node]
        a.yy = a.oy = r.x[2 * a.node + 1]
        a.rx = a.ry = 0.0
        a.m = 1.0 / r.w[a.node] if r.w[a.node] > 0.0 else 0.0
        if r.holds[a.node].ease != 1.0:
            r.holds[a.node].ease = 1.0
            r.holds[a.node].lam = 0.0
        if hub.body >= 0:
            a.rx = r.x0[2 * a.node] - hub.zx
            a.ry = r.x0[2 * a.node + 1] - hub.zy
        elif not hub.held:
            hub.x += a.m * a.yx
            hub.y += a.m * a.yy
            m += a.m
        elif r.w[a.node] <= 0.0:
            hub.x = a.yx
            hub.y = a.yy
        i = a.next
    if m > 0.0:
        hub.x /= m
        hub.y /= m
    hub.px = hub.x
    hub.py = hub.y
    hub.pa = hub.a
    hub.vx = hub.px - hub.zx
    hub.vy = hub.py - hub.zy
    hub.va = hub.pa - hub.za
    hub_masses(hub, members)


cdef inline void hub_seat(Stage* stage, Hub* hub) noexcept nogil:
    # Before the links: nodes go with their hub, and show the links its mass.
    cdef Member* members = stage.members
    cdef Member* a
    cdef Rope* r
    cdef int64_t i = hub.head
    cdef double o[4]
    hub.pulled = 0
    hub_place(stage, hub, members)
    hub.pulled = 1
    while i >= 0:
        a = members + i
        r = stage.ropes + a.rope
        if hub.held:
            arm_point(hub, a, &a.px, &a.py)
            o[0] = o[1] = o[3] = 0.0
        else:
            turn(hub, a, a, o)
        r.x[2 * a.node] = a.px
        r.x[2 * a.node + 1] = a.py
        r.W[3 * a.node] = o[0]
        r.W[3 * a.node + 1] = o[1]
        r.W[3 * a.node + 2] = o[3]
        i = a.next


cdef inline void own_mass(Rope* r, int64_t node) noexcept nogil:
    r.W[3 * node] = r.W[3 * node + 2] = r.w[node]
    r.W[3 * node + 1] = 0.0


cdef inline void seat_hubs(Stage* stage, const int64_t* hubs, int64_t hub_count) noexcept nogil:
    # Nodes are where their body is. What contacts parted of a point's nodes is drift: they meet by mass, with one
    # velocity that keeps momentum.
    cdef int64_t i, k
    cdef Hub* hub
    cdef Member* a
    cdef Rope* r
    cdef Body* b
    cdef double m, x, y, vx, vy, part
    for i in range(hub_count):
        hub = stage.hubs + hubs[i]
        k = hub.head
        if hub.body >= 0:
            b = stage.world.bodies + hub.body
            while k >= 0:
                a = stage.members + k
                r = stage.ropes + a.rope
                r.x[2 * a.node] = b.x + b.c * a.lx - b.s * a.ly
                r.x[2 * a.node + 1] = b.y + b.s * a.lx + b.c * a.ly
                k = a.next
            continue
        m = x = y = vx = vy = 0.0
        while k >= 0:
            a = stage.members + k
            r = stage.ropes + a.rope
            part = 1.0 / r.w[a.node] if r.w[a.node] > 0.0 else 1.0
            if r.w[a.node] <= 0.0:
                m = x = y = vx = vy = 0.0         # a held node decides
            x += part * r.x[2 * a.node]
            y += part * r.x[2 * a.node + 1]
            vx += part * r.v[2 * a.node]
            vy += part * r.v[2 * a.node + 1]
            m += part
            k = a.next if r.w[a.node] > 0.0 else -1
        k = hub.head
        while k >= 0:
            a = stage.members + k
            r = stage.ropes + a.rope
            r.x[2 * a.node] = x / m
            r.x[2 * a.node + 1] = y / m
            r.v[2 * a.node] = vx / m
            r.v[2 * a.node + 1] = vy / m
            k = a.next
