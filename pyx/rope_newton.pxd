"""One Newton pass on all ropes of an island: rows as in chainpass.pxd, hubs (rope_hubs.pxd) between them.

Each rope's rows are block-tridiagonal; hubs couple the pulls at their nodes: with K = (M + sum of m_a J_a^T J_a)^-1 node a
moves by J_a K J_a^T df_a (part of its rope's rows) and by d_a = sum over the hub's other nodes b of O_ab df_b,
O_ab = J_a K J_b^T. With S the response of df to d, ropes solved alone, (1 - O S) d = O df0: a small dense system, and the
ropes are solved once more with d (Woodbury's identity; Golub and Van Loan 2013, 2.1.4).
"""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from chainpass cimport chain_rows
from chainwork cimport Chain, ChainWork, chain_apply, chain_work
from rope_hubs cimport turn
from rope_records cimport CATCH_UP, SETTLE, Hub, Member, Rope, Stage

cdef enum:
    SYMPLECTIC = 0         # directions of the start, where the tension allows it
    MIDDLE = 1             # mean of start and end: cannot add energy
    SLACK = 2              # directions of the end, links that do not push


# ---------------------------------------------------------------- one rope's rows

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
    c.reel = -r.feed if r.feed < 0.0 and not stage.drift else 0.0
    c.reel_link = <int>r.feed_link
    c.passes = 0
    w[0] = chain_work(c)
    w.h2 = h * h
    w.floor = 1e-3 * r.total / (c.n - 1) + 1e-6
    c.x = w.local
    c.x0 = w.z


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
