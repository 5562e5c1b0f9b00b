"""Ropes that share bodies or joins, solved together: Newton passes (rope_newton.pxd) on all ropes of an island at once."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from chain cimport chain_directions, chain_prepare, chain_start, chain_targets
from chainbend cimport chain_stored
from chainwork cimport Chain, ChainWork, chain_geometry, chain_held, chain_kinetic, chain_work_done, chain_wound
from contact cimport push_body
from rope_hubs cimport hub_begin, hub_place, hub_pose, hub_seat, own_mass
from rope_newton cimport MIDDLE, SLACK, SYMPLECTIC, newton_pass, open_chain
from rope_records cimport Hub, Member, Rope, Stage
from shapes cimport Body

cdef enum:
    PASSES = 14


cdef inline void place_nodes(Stage* stage, const int64_t* hubs, int64_t count) noexcept nogil:
    # Hubs go where the pulls put them, and take their nodes along (local coordinates of each rope).
    cdef int64_t i, k
    cdef Member* a
    cdef Rope* r
    cdef Chain c
    cdef ChainWork w
    for i in range(count):
        hub_place(stage, stage.hubs + hubs[i], stage.members)
        k = stage.hubs[hubs[i]].head
        while k >= 0:
            a = stage.members + k
            r = stage.ropes + a.rope
            open_chain(stage, r, &c, &w, stage.h)
            c.x[2 * a.node] = a.px - r.x0[0]
            c.x[2 * a.node + 1] = a.py - r.x0[1]
            k = a.next


cdef inline double rope_error(Chain* c, ChainWork* w, int way) noexcept nogil:
    # Multipliers of the present pulls, and the largest relative error of a link.
    cdef int k
    cdef double worst = 0.0, error, grip
    chain_geometry(c.n - 1, c.x, w.u, w.s)
    for k in range(c.n - 1):
        if chain_held(c, k):
            continue
        grip = w.e[2 * k] * w.u[2 * k] + w.e[2 * k + 1] * w.u[2 * k + 1] + w.a[k]
        grip = grip if grip > 0.1 else 0.1
        c.lam[k] = (w.F[2 * k] * w.u[2 * k] + w.F[2 * k + 1] * w.u[2 * k + 1]) / grip
        error = fabs(w.s[k] - w.l[k] - w.al[k] * c.lam[k])
        if way == SLACK and c.lam[k] <= 1e-12 * fabs(w.F[2 * k]) and w.s[k] < w.l[k]:
            error = -c.lam[k] * (c.W[3 * k] + c.W[3 * k + 2] + c.W[3 * k + 3] + c.W[3 * k + 5])
        if not error <= worst * (w.l[k] + w.floor):
            worst = error / (w.l[k] + w.floor)
    return worst


cdef inline void start_directions(Chain* c, ChainWork* w, double h, int way) noexcept nogil:
    # As in chain.pxd.
    cdef int k
    cdef double q
    cdef double* W = c.W
    chain_geometry(c.n - 1, c.x0, w.u, w.s)
    if way == SYMPLECTIC:
        chain_targets(c, w, h)
        chain_directions(c, w)
        for k in range(c.n - 1):
            w.old[k] = c.lam[k]
    elif way == MIDDLE:
        for k in range(c.n - 1):
            q = w.old[k] * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
            w.a[k] = 0.5 + 0.5 * q / (q + 4.0 * w.s[k]) if q > 0.0 else 0.5
            w.e[2 * k] = (1.0 - w.a[k]) * w.u[2 * k]
            w.e[2 * k + 1] = (1.0 - w.a[k]) * w.u[2 * k + 1]
            c.lam[k] = w.old[k]
    else:
        for k in range(c.n - 1):
            w.a[k] = 1.0
            w.e[2 * k] = w.e[2 * k + 1] = 0.0
            w.l[k] = w.R[k]
            c.lam[k] = w.old[k] if w.old[k] > 0.0 else 0.0
    chain_start(c, w)


cdef inline bint attempt(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs, int64_t hub_count,
                         double* scratch, int64_t n, double h, int way, double loss) noexcept nogil:
    cdef int64_t i
    cdef int passes = 0
    cdef double worst, error, work = 0.0, kinetic = 1e-30
    cdef Hub* hub
    cdef Chain c
    cdef ChainWork w
    for i in range(hub_count):
        hub = stage.hubs + hubs[i]
        if not hub.held:
            hub_pose(hub, hub.px - hub.x, hub.py - hub.y, hub.pa - hub.a)
    for i in range(rope_count):
        open_chain(stage, stage.ropes + ropes[i], &c, &w, h)
        start_directions(&c, &w, h, way)
    while True:
        place_nodes(stage, hubs, hub_count)
        worst = 0.0
        for i in range(rope_count):
            open_chain(stage, stage.ropes + ropes[i], &c, &w, h)
            error = rope_error(&c, &w, way)
            worst = error if not error <= worst else worst
        if passes > 0 and worst < 1e-9:
            break
        if passes >= (20 if way == SLACK else PASSES) or not worst < 1e6:
            return False
        if not newton_pass(stage, ropes, rope_count, hubs, hub_count, scratch, n, way):
            return False
        passes += 1
    for i in range(rope_count):
        open_chain(stage, stage.ropes + ropes[i], &c, &w, h)
        work += chain_work_done(&c, &w) + chain_stored(&c, &w) - chain_wound(&c, c.lam)
        kinetic += chain_kinetic(&c, &w)
    for i in range(rope_count):
        open_chain(stage, stage.ropes + ropes[i], &c, &w, h)
        chain_geometry(c.n - 1, c.x0, w.u, w.s)
        work -= chain_stored(&c, &w)
    return work <= 0.003 * kinetic and (way != MIDDLE or work >= -loss * kinetic)


cdef inline bint is_tied(const Stage* stage, const Rope* r) noexcept nogil:
    # Does this rope share a hub with another node?
    cdef int64_t i
    for i in range(r.member, r.member + r.members):
        if stage.hubs[stage.members[i].hub].count > 1:
            return True
    return False


cdef inline void open_island(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs,
                             int64_t hub_count) noexcept nogil:
    # Hubs and local copies of all ropes at the start of a substep.
    cdef int64_t i, j
    cdef int k
    cdef double over, px, py, d
    cdef Rope* r
    cdef Member* a
    cdef Chain c
    cdef Chain given
    cdef ChainWork w
    for i in range(hub_count):
        hub_begin(stage, stage.hubs + hubs[i])
        hub_seat(stage, stage.hubs + hubs[i])
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        if not stage.drift:
            r.overlong = 0
        open_chain(stage, r, &c, &w, stage.h)
        given = c
        given.x = r.x
        given.x0 = r.x0
        chain_prepare(&given, &c, &w, stage.h)
        over = 0.0
        for k in range(c.n - 1):
            px = w.z[2 * k + 2] - w.z[2 * k]
            py = w.z[2 * k + 3] - w.z[2 * k + 1]
            d = sqrt(px * px + py * py) - c.rest[k]
            over += d if d > 0.0 else 0.0
        if not stage.drift:
            r.overlong = c.stretch_compliance <= 0.0 and over - fabs(r.feed) > 1e-3 * r.total + 1e-6
        for k in range(c.n):
            w.v[2 * k] = (w.y[2 * k] - w.z[2 * k]) / stage.h
            w.v[2 * k + 1] = (w.y[2 * k + 1] - w.z[2 * k + 1]) / stage.h
        # What hubs made of their nodes' own motion is made anew in each part of a split substep.
        for j in range(r.member, r.member + r.members):
            a = stage.members + j
            if stage.hubs[a.hub].body >= 0 and not stage.hubs[a.hub].held:
                w.v[2 * a.node] = (a.ox - r.x0[2 * a.node]) / stage.h
                w.v[2 * a.node + 1] = (a.oy - r.x0[2 * a.node + 1]) / stage.h


cdef inline void own_ways(Stage* stage, const int64_t* hubs, int64_t hub_count, double part) noexcept nogil:
    # A part of the substep begins: hubs fly on, and their nodes' own ways are where they would go alone.
    cdef int64_t i, k
    cdef Hub* hub
    cdef Member* a
    cdef Rope* r
    cdef Chain c
    cdef ChainWork w
    for i in range(hub_count):
        hub = stage.hubs + hubs[i]
        if not hub.held:
            hub.px = hub.zx + part * hub.vx
            hub.py = hub.zy + part * hub.vy
            hub.pa = hub.za + part * hub.va
            hub_pose(hub, hub.px - hub.x, hub.py - hub.y, hub.pa - hub.a)
        k = hub.head
        while k >= 0:
            a = stage.members + k
            r = stage.ropes + a.rope
            open_chain(stage, r, &c, &w, stage.h)
            a.yx = w.y[2 * a.node] + r.x0[0]
            a.yy = w.y[2 * a.node + 1] + r.x0[1]
            k = a.next
        hub.pulled = 0
        hub_place(stage, hub, stage.members)
        hub.pulled = 1
        k = hub.head
        while k >= 0:
            a = stage.members + k
            r = stage.ropes + a.rope
            open_chain(stage, r, &c, &w, stage.h)
            if hub.held:
                a.px = a.yx
                a.py = a.yy
            w.y[2 * a.node] = a.px - r.x0[0]
            w.y[2 * a.node + 1] = a.py - r.x0[1]
            k = a.next


cdef inline void end_part(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs,
                          int64_t hub_count, int parts) noexcept nogil:
    # Velocities, places and impulses (in those of the whole substep) after a part of it.
    cdef int64_t i, k
    cdef int j
    cdef double hs = stage.h / parts
    cdef Hub* hub
    cdef Member* a
    cdef Chain c
    cdef ChainWork w
    for i in range(rope_count):
        open_chain(stage, stage.ropes + ropes[i], &c, &w, hs)
        for j in range(2 * c.n):
            w.v[j] = (c.x[j] - w.z[j]) / hs
            w.z[j] = c.x[j]
            w.total[j] += c.f[j] * parts
    for i in range(hub_count):
        hub = stage.hubs + hubs[i]
        hub.vx = (hub.x - hub.zx) * parts
        hub.vy = (hub.y - hub.zy) * parts
        hub.va = (hub.a - hub.za) * parts
        hub.zx = hub.x
        hub.zy = hub.y
        hub.za = hub.a
        k = hub.head
        while k >= 0:
            a = stage.members + k
            a.tx += a.gx * parts
            a.ty += a.gy * parts
            k = a.next


cdef inline bint solve_parts(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs,
                             int64_t hub_count, double* scratch, int64_t n, int parts) noexcept nogil:
    cdef int64_t i
    cdef int j, k
    cdef double hs = stage.h / parts, square = 1.0 / (<double>parts * parts)
    cdef Chain c
    cdef ChainWork w
    for i in range(rope_count):
        open_chain(stage, stage.ropes + ropes[i], &c, &w, hs)
        for k in range(c.n - 1):
            c.lam[k] = w.first[k] * square
            w.al[k] /= square
    for j in range(parts):
        for i in range(rope_count):
            open_chain(stage, stage.ropes + ropes[i], &c, &w, hs)
            for k in range(2 * c.n):
                w.y[k] = w.z[k] + hs * w.v[k]
                c.x[k] = w.y[k]
        own_ways(stage, hubs, hub_count, 1.0 / parts)
        if not attempt(stage, ropes, rope_count, hubs, hub_count, scratch, n, hs, SYMPLECTIC, 1e300):
            if not attempt(stage, ropes, rope_count, hubs, hub_count, scratch, n, hs, MIDDLE, 1e300):
                if not attempt(stage, ropes, rope_count, hubs, hub_count, scratch, n, hs, SLACK, 1e300):
                    return False
        end_part(stage, ropes, rope_count, hubs, hub_count, parts)
    for i in range(rope_count):
        open_chain(stage, stage.ropes + ropes[i], &c, &w, hs)
        for k in range(c.n - 1):
            c.lam[k] /= square
    return True


cdef inline void give_masses(Stage* stage, const int64_t* hubs, int64_t hub_count) noexcept nogil:
    # Joined nodes meet shapes each with its own mass.
    cdef int64_t i, k
    for i in range(hub_count):
        k = stage.hubs[hubs[i]].head
        while k >= 0 and stage.hubs[hubs[i]].body < 0:
            own_mass(stage.ropes + stage.members[k].rope, stage.members[k].node)
            k = stage.members[k].next


cdef inline void close_island(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs,
                              int64_t hub_count) noexcept nogil:
    # Back to the world: nodes, velocities that a split leaves, the bodies' impulses.
    cdef int64_t i, k
    cdef int j
    cdef Hub* hub
    cdef Member* a
    cdef Body* b
    cdef Rope* r
    cdef Chain c
    cdef ChainWork w
    for i in range(hub_count):
        hub = stage.hubs + hubs[i]
        b = stage.world.bodies + hub.body
        k = hub.head
        while k >= 0:
            a = stage.members + k
            if hub.body >= 0 and not hub.held:
                b.jx += a.tx
                b.jy += a.ty
                b.jt += a.rx * a.ty - a.ry * a.tx
            k = a.next
        if hub.body >= 0 and not hub.held:
            push_body(b, 0.0, 0.0, 0.0, 0.0)
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        open_chain(stage, r, &c, &w, stage.h)
        for j in range(c.n):
            r.x[2 * j] = c.x[2 * j] + r.x0[0]
            r.x[2 * j + 1] = c.x[2 * j + 1] + r.x0[1]
            r.more[2 * j] = w.v[2 * j] - (r.x[2 * j] - r.x0[2 * j]) / stage.h
            r.more[2 * j + 1] = w.v[2 * j + 1] - (r.x[2 * j + 1] - r.x0[2 * j + 1]) / stage.h
            r.f[2 * j] = w.total[2 * j]
            r.f[2 * j + 1] = w.total[2 * j + 1]
    give_masses(stage, hubs, hub_count)


cdef inline void give_back(Stage* stage, const int64_t* hubs, int64_t hub_count) noexcept nogil:
    # Nodes where they were before their hub took them, with their own masses.
    cdef int64_t i, k
    cdef Member* a
    cdef Rope* r
    for i in range(hub_count):
        k = stage.hubs[hubs[i]].head
        while k >= 0:
            a = stage.members + k
            r = stage.ropes + a.rope
            r.x[2 * a.node] = a.ox
            r.x[2 * a.node + 1] = a.oy
            own_mass(r, a.node)
            k = a.next


cdef inline bint solve_together(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs,
                                int64_t hub_count, double* scratch) noexcept nogil:
    """Solve the links of ropes that share hubs. False where that fails: nothing but scratch and W has changed."""
    cdef int64_t i, k, n = 0
    cdef int j
    cdef bint done
    cdef Rope* r
    cdef Member* a
    cdef Chain c
    cdef ChainWork w
    for i in range(hub_count):
        k = stage.hubs[hubs[i]].head
        while k >= 0:
            a = stage.members + k
            a.local = n
            a.tx = a.ty = 0.0
            n += 1
            k = a.next
    open_island(stage, ropes, rope_count, hubs, hub_count)
    done = attempt(stage, ropes, rope_count, hubs, hub_count, scratch, 2 * n, stage.h, SYMPLECTIC, 0.03)
    if not done:
        done = attempt(stage, ropes, rope_count, hubs, hub_count, scratch, 2 * n, stage.h, MIDDLE, 0.03)
    if done:
        end_part(stage, ropes, rope_count, hubs, hub_count, 1)
    else:
        done = solve_parts(stage, ropes, rope_count, hubs, hub_count, scratch, 2 * n, 4)
    if done:
        close_island(stage, ropes, rope_count, hubs, hub_count)
        return True
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        open_chain(stage, r, &c, &w, stage.h)
        for j in range(c.n - 1):
            c.lam[j] = w.first[j]
    give_back(stage, hubs, hub_count)
    return False


cdef inline bint settle_together(Stage* given, const int64_t* ropes, int64_t rope_count, const int64_t* hubs,
                                 int64_t hub_count, double* scratch) noexcept nogil:
    """Mend a part of wrong lengths of ropes that share hubs as drift, without velocity. False where that fails."""
    cdef Stage stage = given[0]
    cdef int64_t i, n = 0
    cdef int k
    cdef Hub* hub
    cdef Body* b
    cdef Rope* r
    cdef Chain c
    cdef ChainWork w
    stage.drift = True
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        for k in range(2 * r.count):
            r.x0[k] = r.x[k]
        for k in range(r.count):
            own_mass(r, k)
        for k in range(r.count - 1):
            r.drift_lam[k] = 0.0
    open_island(&stage, ropes, rope_count, hubs, hub_count)
    for i in range(hub_count):
        n += stage.hubs[hubs[i]].count
    if not attempt(&stage, ropes, rope_count, hubs, hub_count, scratch, 2 * n, stage.h, SYMPLECTIC, 1e300):
        give_back(&stage, hubs, hub_count)
        return False
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        open_chain(&stage, r, &c, &w, stage.h)
        for k in range(c.n):
            r.x[2 * k] = c.x[2 * k] + r.x0[0]
            r.x[2 * k + 1] = c.x[2 * k + 1] + r.x0[1]
    for i in range(hub_count):
        hub = stage.hubs + hubs[i]
        if hub.body < 0 or hub.held:
            continue
        b = stage.world.bodies + hub.body
        b.px += hub.x - hub.px
        b.py += hub.y - hub.py
        b.pa += hub.a - hub.pa
        push_body(b, 0.0, 0.0, 0.0, 0.0)
    give_masses(&stage, hubs, hub_count)
    return True
