"""Ropes that share bodies or joins, solved together.

Newton passes on all ropes of an island at once, rows as in chainpass.pxd. Each rope's rows are block-tridiagonal; hubs
(rope_hubs.pxd) couple the pulls at their nodes: with K = (M + sum of m_a J_a^T J_a)^-1 node a moves by J_a K J_a^T df_a
(part of its rope's rows) and by d_a = sum over the hub's other nodes b of O_ab df_b, O_ab = J_a K J_b^T. With S the
response of df to d, ropes solved alone, (1 - O S) d = O df0: a small dense system, and the ropes are solved once more
with d (Woodbury's identity; Golub and Van Loan 2013, 2.1.4).
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t

from chain cimport chain_directions, chain_prepare, chain_start, chain_targets
from chainbend cimport chain_stored
from chainpass cimport chain_rows
from chainwork cimport (Chain, ChainWork, chain_apply, chain_geometry, chain_held, chain_kinetic, chain_work,
                        chain_work_done)
from contact cimport push_body
from rope_hubs cimport hub_begin, hub_place, hub_pose, hub_seat, own_mass, turn
from rope_records cimport CATCH_UP, SETTLE, Hub, Member, Rope, Stage
from shapes cimport Body

cdef enum:
    PASSES = 14
    SYMPLECTIC = 0         # directions of the start, where the tension allows it
    MIDDLE = 1             # mean of start and end: cannot add energy
    SLACK = 2              # directions of the end, links that do not push


# ---------------------------------------------------------------- one rope's rows

cdef inline void rows_factor(ChainWork* w, int m) noexcept nogil:
    # D_k F_k - L_k F_k-1 - U_k F_k+1 = r_k: forward elimination, kept in place as (D'^-1, L, D'^-1 U).
    cdef int k
    cdef double* b
    cdef double* g = NULL
    cdef double d00, d01, d10, d11, inv, u0, u1, u2, u3
    for k in range(m):
        b = w.block + 14 * k
        d00 = b[0]
        d01 = b[1]
        d10 = b[2]
        d11 = b[3]
        if k > 0:
            d00 -= b[4] * g[0] + b[5] * g[2]
            d01 -= b[4] * g[1] + b[5] * g[3]
            d10 -= b[6] * g[0] + b[7] * g[2]
            d11 -= b[6] * g[1] + b[7] * g[3]
        inv = d00 * d11 - d01 * d10
        inv = 1.0 / inv if fabs(inv) > 1e-300 else 0.0
        b[0] = d11 * inv
        b[1] = -d01 * inv
        b[2] = -d10 * inv
        b[3] = d00 * inv
        u0 = b[8]
        u1 = b[9]
        u2 = b[10]
        u3 = b[11]
        b[8] = b[0] * u0 + b[1] * u2
        b[9] = b[0] * u1 + b[1] * u3
        b[10] = b[2] * u0 + b[3] * u2
        b[11] = b[2] * u1 + b[3] * u3
        g = b + 8


cdef inline void rows_solve(const ChainWork* w, int m, int first, double* r) noexcept nogil:
    # In place; r is zero before row `first`.
    cdef int k
    cdef const double* b
    cdef double r0, r1
    for k in range(first, m):
        b = w.block + 14 * k
        r0 = r[2 * k]
        r1 = r[2 * k + 1]
        if k > first:
            r0 += b[4] * r[2 * k - 2] + b[5] * r[2 * k - 1]
            r1 += b[6] * r[2 * k - 2] + b[7] * r[2 * k - 1]
        r[2 * k] = b[0] * r0 + b[1] * r1
        r[2 * k + 1] = b[2] * r0 + b[3] * r1
    for k in range(m - 2, -1, -1):
        b = w.block + 14 * k
        r[2 * k] += b[8] * r[2 * k + 2] + b[9] * r[2 * k + 3]
        r[2 * k + 1] += b[10] * r[2 * k + 2] + b[11] * r[2 * k + 3]


cdef inline void mark_slack(Chain* c, ChainWork* w, int way) noexcept nogil:
    # Links whose rows ask for no length (slope is bending's, which is not solved here).
    cdef int k
    cdef double mobile
    for k in range(c.n - 1):
        mobile = c.W[3 * k] + c.W[3 * k + 2] + c.W[3 * k + 3] + c.W[3 * k + 5]
        w.slope[k] = mobile <= 0.0 or (way == SLACK and c.lam[k] * mobile + w.s[k] - w.l[k] <= 0.0)


cdef inline void shift_rows(Chain* c, ChainWork* w, int64_t node, double dx, double dy, double* r) noexcept nogil:
    # Right side of a node that moves by (dx, dy) through its hub: dp of the links at either side.
    cdef int64_t k
    cdef double s, sign
    for k in range(node - 1, node + 1):
        if k < 0 or k >= c.n - 1 or w.slope[k] > 0.0:
            continue
        sign = 1.0 if k < node else -1.0
        s = w.a[k] * c.lam[k] / (w.s[k] + 1e-30) if c.lam[k] > 0.0 else 0.0
        r[2 * k] += sign * (w.u[2 * k] * dx + w.u[2 * k + 1] * dy)
        r[2 * k + 1] += sign * s * (-w.u[2 * k + 1] * dx + w.u[2 * k] * dy)


cdef inline double pull_change(const Chain* c, int64_t node, const double* r, int axis) noexcept nogil:
    # Change of what the links pull on a node, from the changes of F.
    cdef double after = r[2 * node + axis] if node < c.n - 1 else 0.0
    return after - (r[2 * node - 2 + axis] if node > 0 else 0.0)


# ---------------------------------------------------------------- the island

cdef inline void open_chain(Stage* stage, Rope* r, Chain* c, ChainWork* w, double h) noexcept nogil:
    c.n = <int>r.count
    c.x = r.x
    c.x0 = r.x0
    c.v = r.more
    c.W = r.W
    c.rest = r.rest
    c.f = r.f
    c.lam = r.drift_lam if stage.drift else r.lam
    c.scratch = r.scratch
    c.stretch_compliance = 0.0 if stage.drift else r.stretch_compliance
    c.bend_stiffness = 0.0
    c.settle = SETTLE if stage.drift else (0.0 if r.touching else 1.0)
    c.catch_up = fabs(r.feed) / h if r.overlong and not stage.drift else CATCH_UP * r.total
    c.grow_up = 0.05 * CATCH_UP * r.total
    c.passes = 0
    w[0] = chain_work(c)
    w.h2 = h * h
    w.floor = 1e-3 * r.total / (c.n - 1) + 1e-6
    c.x = w.local
    c.x0 = w.z


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


cdef inline bint dense_solve(double* b, double* r, int64_t n) noexcept nogil:
    # Gaussian elimination with row exchange; rows of zeros in a column, most of them here, cost nothing.
    cdef int64_t i, j, k, best
    cdef double t
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if fabs(b[i * n + k]) > fabs(b[best * n + k]):
                best = i
        if not fabs(b[best * n + k]) > 1e-14:
            return False
        if best != k:
            for j in range(k, n):
                t = b[k * n + j]
                b[k * n + j] = b[best * n + j]
                b[best * n + j] = t
            t = r[k]
            r[k] = r[best]
            r[best] = t
        for i in range(k + 1, n):
            t = b[i * n + k]
            if t == 0.0:
                continue
            t /= b[k * n + k]
            for j in range(k + 1, n):
                b[i * n + j] -= t * b[k * n + j]
            r[i] -= t * r[k]
    for k in range(n - 1, -1, -1):
        t = r[k]
        for j in range(k + 1, n):
            t -= b[k * n + j] * r[j]
        r[k] = t / b[k * n + k]
    return True


cdef inline void respond(Stage* stage, Rope* r, Chain* c, ChainWork* w, double* S, double* df, int64_t n) noexcept nogil:
    # This rope's share of S and of df0. Its rows are factored; w.r has its own solution.
    cdef int64_t i, j, k
    cdef int axis, other, first
    cdef Member* a
    cdef Member* b
    cdef double* g = w.g
    for i in range(r.member, r.member + r.members):
        a = stage.members + i
        for axis in range(2):
            df[2 * a.local + axis] = pull_change(c, a.node, w.r, axis)
            for k in range(2 * (c.n - 1)):
                g[k] = 0.0
            shift_rows(c, w, a.node, 1.0 if axis == 0 else 0.0, 1.0 if axis == 1 else 0.0, g)
            first = <int>(a.node - 1 if a.node > 0 else 0)
            rows_solve(w, c.n - 1, first, g)
            for j in range(r.member, r.member + r.members):
                b = stage.members + j
                for other in range(2):
                    S[(2 * b.local + other) * n + 2 * a.local + axis] = pull_change(c, b.node, g, other)


cdef inline bint couple(Stage* stage, const int64_t* hubs, int64_t count, double* S, double* B, double* df, double* d,
                        int64_t n) noexcept nogil:
    # d from (1 - O S) d = O df0.
    cdef int64_t i, j, k, p, q
    cdef Hub* hub
    cdef Member* a
    cdef Member* b
    cdef Rope* r
    cdef double o[4]
    for i in range(n * n):
        B[i] = 0.0
    for i in range(n):
        B[i * n + i] = 1.0
        d[i] = 0.0
    for i in range(count):
        hub = stage.hubs + hubs[i]
        if hub.held:
            continue
        p = hub.head
        while p >= 0:
            a = stage.members + p
            q = hub.head
            while q >= 0:
                b = stage.members + q
                if q != p:
                    turn(hub, a, b, o)
                    r = stage.ropes + b.rope
                    d[2 * a.local] += o[0] * df[2 * b.local] + o[1] * df[2 * b.local + 1]
                    d[2 * a.local + 1] += o[2] * df[2 * b.local] + o[3] * df[2 * b.local + 1]
                    for k in range(r.member, r.member + r.members):
                        for j in range(2 * stage.members[k].local, 2 * stage.members[k].local + 2):
                            B[2 * a.local * n + j] -= o[0] * S[2 * b.local * n + j] + o[1] * S[(2 * b.local + 1) * n + j]
                            B[(2 * a.local + 1) * n + j] -= o[2] * S[2 * b.local * n + j] + o[3] * S[
                                (2 * b.local + 1) * n + j]
                q = b.next
            p = a.next
    return dense_solve(B, d, n)


cdef inline bint newton_pass(Stage* stage, const int64_t* ropes, int64_t rope_count, const int64_t* hubs, int64_t hub_count,
                             double* scratch, int64_t n, int way) noexcept nogil:
    cdef double* S = scratch
    cdef double* B = scratch + n * n
    cdef double* df = scratch + 2 * n * n
    cdef double* d = df + n
    cdef int64_t i, j
    cdef int k
    cdef Rope* r
    cdef Chain c
    cdef ChainWork w
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        open_chain(stage, r, &c, &w, stage.h)
        chain_rows(&c, &w, way == SLACK)
        mark_slack(&c, &w, way)
        rows_factor(&w, c.n - 1)
        for k in range(c.n - 1):
            w.r[2 * k] = w.block[14 * k + 12]
            w.r[2 * k + 1] = w.block[14 * k + 13]
        rows_solve(&w, c.n - 1, 0, w.r)
        respond(stage, r, &c, &w, S, df, n)
    if not couple(stage, hubs, hub_count, S, B, df, d, n):
        return False
    for i in range(rope_count):
        r = stage.ropes + ropes[i]
        open_chain(stage, r, &c, &w, stage.h)
        for k in range(2 * (c.n - 1)):
            w.g[k] = 0.0
        for j in range(r.member, r.member + r.members):
            shift_rows(&c, &w, stage.members[j].node, d[2 * stage.members[j].local],
                       d[2 * stage.members[j].local + 1], w.g)
        if r.members > 0:
            rows_solve(&w, c.n - 1, 0, w.g)
        for k in range(2 * (c.n - 1)):
            w.F[k] += w.r[k] + w.g[k]
        chain_apply(&c, &w)
        r.solves += 1
    return True


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
        work += chain_work_done(&c, &w) + chain_stored(&c, &w)
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
    cdef int64_t i
    cdef int k
    cdef double over, px, py, d
    cdef Rope* r
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
