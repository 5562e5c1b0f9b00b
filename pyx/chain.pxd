"""chain_solve: bring the predicted nodes of one rope onto its links and joints (equations in chainwork.pxd).

A substep is first solved with symplectic directions. If Newton does not converge or energy would be gained,
it is solved with the mean of start and end directions, which can only lose energy. If that fails or would
lose much, it is solved in four parts; a part that still fails, with slack (one-sided) links, which is
convex; and last by the interior-point projection of chainslack.pxd, which always ends.
"""

from libc.math cimport fabs, sqrt

from chainbend cimport chain_pass_bend, chain_stored
from chaincalm cimport chain_calm
from chainpass cimport chain_pass_explicit, chain_pass_implicit
from chainslack cimport chain_project
from chainwork cimport (
    CHAIN_SCRATCH, Chain, ChainWork, chain_apply, chain_geometry, chain_held, chain_kinetic, chain_work,
    chain_work_done, chain_wound,
)


cdef inline int chain_directions(Chain* c, ChainWork* w) noexcept nogil:
    """Weights of the last, present and coming direction by the stiffness lam (w_k + w_{k+1}) / rest.

    Returns 1 if any is implicit.
    q is the square of h times the transverse frequency; an explicit direction is stable up to q = 4.
    """
    cdef int k, m = c.n - 1, implicit = 0
    cdef double q, ramp, old, qx, qy, s, ex, ey
    cdef double* W = c.W
    for k in range(m):
        ex = w.u[2 * k]
        ey = w.u[2 * k + 1]
        q = c.lam[k] * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
        w.a[k] = 0.0
        if q > w.s[k]:
            implicit = 1
            ramp = (q - w.s[k]) / (q + w.s[k])
            w.a[k] = 0.35 * ramp
            old = 0.25 * ramp
            qx = 2.0 * (c.x0[2 * k + 2] - c.x0[2 * k]) - (w.y[2 * k + 2] - w.y[2 * k])
            qy = 2.0 * (c.x0[2 * k + 3] - c.x0[2 * k + 1]) - (w.y[2 * k + 3] - w.y[2 * k + 1])
            s = sqrt(qx * qx + qy * qy)
            s = old / s if s > 1e-30 else 0.0
            ex = ex * (1.0 - 0.6 * ramp) + qx * s
            ey = ey * (1.0 - 0.6 * ramp) + qy * s
        w.e[2 * k] = ex
        w.e[2 * k + 1] = ey
    return implicit


cdef inline void chain_targets(Chain* c, ChainWork* w, double h) noexcept nogil:
    """Lengths to reach in this substep, from the lengths s at its start.

    A long link shrinks, the whole rope by at most catch_up * h. A short one never pushes hard: it takes the
    length its nodes are moving to by themselves, or grows, the whole rope by at most grow_up * h.
    """
    cdef int k, m = c.n - 1
    cdef double over = 0.0, under = 0.0, d, free, px, py, alpha = c.stretch_compliance / (h * h)
    cdef double shrink = c.settle, grow = c.settle
    for k in range(m):
        d = w.s[k] - c.rest[k] - alpha * c.lam[k]
        over += shrink * d if d > 0.0 else 0.0
        under -= grow * d if d < 0.0 else 0.0
    if over > c.catch_up * h:
        shrink *= c.catch_up * h / over
    if under > c.grow_up * h:
        grow *= c.grow_up * h / under
    for k in range(m):
        d = w.s[k] - c.rest[k] - alpha * c.lam[k]
        if d >= 0.0:
            w.l[k] = c.rest[k] + (1.0 - shrink) * d
            w.R[k] = w.l[k]
        else:
            w.l[k] = c.rest[k] + (1.0 - grow) * d
            w.R[k] = c.rest[k]
            if grow < c.settle:
                px = w.y[2 * k + 2] - w.y[2 * k]
                py = w.y[2 * k + 3] - w.y[2 * k + 1]
                free = sqrt(px * px + py * py) - alpha * c.lam[k]
                if free > w.l[k]:
                    w.l[k] = free if free < c.rest[k] else c.rest[k]


cdef inline void chain_start(Chain* c, ChainWork* w) noexcept nogil:
    """Pulls and nodes of the first guess: last multipliers along the chosen directions."""
    cdef int k
    for k in range(c.n - 1):
        w.F[2 * k] = c.lam[k] * (w.e[2 * k] + w.a[k] * w.u[2 * k])
        w.F[2 * k + 1] = c.lam[k] * (w.e[2 * k + 1] + w.a[k] * w.u[2 * k + 1])
    chain_apply(c, w)


cdef inline int chain_newton(Chain* c, ChainWork* w, int implicit, int oneside, int limit) noexcept nogil:
    """Newton passes on the two-sided links; 1 when converged."""
    cdef int k, m = c.n - 1, passes = 0, settled = 1
    cdef double worst, error, lam, grip, floor = w.floor
    while True:
        chain_geometry(m, c.x, w.u, w.s)
        worst = 0.0
        for k in range(m):
            if chain_held(c, k):
                continue
            lam = c.lam[k]
            if implicit:
                grip = w.e[2 * k] * w.u[2 * k] + w.e[2 * k + 1] * w.u[2 * k + 1] + w.a[k]
                grip = grip if grip > 0.1 else 0.1
                lam = (w.F[2 * k] * w.u[2 * k] + w.F[2 * k + 1] * w.u[2 * k + 1]) / grip
                c.lam[k] = lam
            error = fabs(w.s[k] - w.l[k] - w.al[k] * lam)
            if oneside and lam <= 1e-12 * fabs(w.F[2 * k]) and w.s[k] < w.l[k]:
                error = -lam * (c.W[3 * k] + c.W[3 * k + 2] + c.W[3 * k + 3] + c.W[3 * k + 5])
            if error > worst * (w.l[k] + floor):
                worst = error / (w.l[k] + floor)
        c.residual = worst
        if passes > 0 and worst < 1e-9 and settled:
            return 1
        if passes >= limit or not worst < 1e6:
            return 0
        if c.bend_stiffness > 0.0:
            settled = chain_pass_bend(c, w, oneside)
        elif implicit:
            chain_pass_implicit(c, w, oneside)
        else:
            chain_pass_explicit(c, w)
        passes += 1
        c.passes += 1


cdef inline int chain_attempt(Chain* c, ChainWork* w, double h, double loss) noexcept nogil:
    """Two-sided links: 0 solved with symplectic directions, 1 solved with mid directions, 2 not solved."""
    cdef int k, m = c.n - 1, implicit
    cdef double work, q, stored, kinetic
    cdef double* W = c.W
    chain_geometry(m, c.x0, w.u, w.s)
    chain_targets(c, w, h)
    implicit = chain_directions(c, w) if c.bend_stiffness <= 0.0 else (chain_directions(c, w) | 1)
    w.h2 = h * h
    for k in range(m):
        w.old[k] = c.lam[k]
    stored = chain_stored(c, w)
    chain_start(c, w)
    if chain_newton(c, w, implicit, 0, 14):
        work = chain_work_done(c, w) + chain_stored(c, w) - stored - chain_wound(c, c.lam)
        if not (work > 0.0 and work > 0.003 * chain_kinetic(c, w) + 1e-30):
            return 0
    # the mean of start and end direction cannot add energy: (u0 + u) . (p - p0) = 0 while |p| = |p0|
    chain_geometry(m, c.x0, w.u, w.s)
    for k in range(m):
        q = w.old[k] * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
        w.a[k] = 0.5 + 0.5 * q / (q + 4.0 * w.s[k]) if q > 0.0 else 0.5
        w.e[2 * k] = (1.0 - w.a[k]) * w.u[2 * k]
        w.e[2 * k + 1] = (1.0 - w.a[k]) * w.u[2 * k + 1]
        c.lam[k] = w.old[k]
    chain_start(c, w)
    if chain_newton(c, w, 1, 0, 14):
        work = chain_work_done(c, w) + chain_stored(c, w) - stored - chain_wound(c, c.lam)
        kinetic = chain_kinetic(c, w) + 1e-30
        if work <= 0.003 * kinetic and work >= -loss * kinetic:
            return 1
    return 2


cdef inline int chain_slack(Chain* c, ChainWork* w) noexcept nogil:
    """One-sided links, directions of the coming pose: active-set Newton passes of the projection. 1 when
    solved.
    """
    cdef int k, m = c.n - 1
    cdef double work, stored
    chain_geometry(m, c.x0, w.u, w.s)
    stored = chain_stored(c, w)
    for k in range(m):
        w.a[k] = 1.0
        w.e[2 * k] = 0.0
        w.e[2 * k + 1] = 0.0
        w.l[k] = w.R[k]
        c.lam[k] = w.old[k] if w.old[k] > 0.0 else 0.0
    chain_start(c, w)
    if chain_newton(c, w, 1, 1, 20):
        work = chain_work_done(c, w) + chain_stored(c, w) - stored - chain_wound(c, c.lam)
        return not (work > 0.0 and work > 0.003 * chain_kinetic(c, w) + 1e-30)
    return 0


cdef inline void chain_correct(Chain* c, ChainWork* w, double h) noexcept nogil:
    """Shorten long links at the start of the substep without giving their nodes a velocity.

    Moves z to the nearest pose whose links are shorter by at most catch_up * h in all, and y along with it.
    What the prediction shortens by itself is left to it. The impulses are added to f, so that tied bodies
    feel them.
    """
    cdef int k, n = c.n, m = c.n - 1
    cdef double over = 0.0, share = 1.0, px, py, d
    for k in range(2 * n):
        w.v[k] = w.y[k] - w.z[k]
    for k in range(m):
        px = w.y[2 * k + 2] - w.y[2 * k]
        py = w.y[2 * k + 3] - w.y[2 * k + 1]
        d = sqrt(px * px + py * py)
        d = (d if d < w.s[k] else w.s[k]) - c.rest[k]
        w.d[k] = d if d > 0.0 else 0.0
        over += w.d[k]
    if over > c.catch_up * h:
        share = c.catch_up * h / over
    for k in range(m):
        w.l[k] = w.s[k] - share * w.d[k] if w.s[k] > c.rest[k] else c.rest[k]
        w.R[k] = w.l[k]
        w.old[k] = c.lam[k]
    for k in range(2 * n):
        w.y[k] = w.z[k]
    chain_project(c, w, 60)
    for k in range(2 * n):
        w.total[k] += c.f[k]
        w.z[k] = c.x[k]
        w.y[k] = c.x[k] + w.v[k]
        c.x[k] = w.y[k]
    for k in range(m):
        c.lam[k] = w.old[k]


cdef inline void chain_split(Chain* c, ChainWork* w, double h, int parts) noexcept nogil:
    """The substep again in equal parts: what turns too far in h turns less in h / parts. Velocities in w.v,
    start in w.z.
    """
    cdef int i, k, n = c.n, m = c.n - 1, state, worst = 2
    cdef double hs = h / parts, square = 1.0 / (<double>parts * parts)
    for k in range(m):
        c.lam[k] = w.first[k] * square
        w.al[k] /= square
    for i in range(parts):
        for k in range(2 * n):
            w.y[k] = w.z[k] + hs * w.v[k]
            c.x[k] = w.y[k]
        state = chain_attempt(c, w, hs, 1e300)
        if state == 2:
            state = 3
            if not chain_slack(c, w):
                state = 4
                chain_project(c, w, 60)
        worst = state if state > worst else worst
        for k in range(2 * n):
            w.v[k] = (c.x[k] - w.z[k]) / hs
            w.z[k] = c.x[k]
            w.total[k] += c.f[k] * parts
    for k in range(m):
        c.lam[k] /= square
    c.violent = worst


cdef inline void chain_prepare(Chain* chain, Chain* c, ChainWork* w, double h) noexcept nogil:
    """Local copies relative to the first node (far from the origin only differences keep their digits),
    compliances.
    """
    cdef int k, n = c.n, m = c.n - 1
    cdef double ox = chain.x0[0], oy = chain.x0[1], compliance = c.stretch_compliance / (h * h), soft
    cdef double* W = c.W
    c.x = w.local
    c.x0 = w.z
    for k in range(n):
        w.z[2 * k] = chain.x0[2 * k] - ox
        w.z[2 * k + 1] = chain.x0[2 * k + 1] - oy
        w.y[2 * k] = chain.x[2 * k] - ox
        w.y[2 * k + 1] = chain.x[2 * k + 1] - oy
        w.total[2 * k] = 0.0
        w.total[2 * k + 1] = 0.0
    for k in range(m):
        w.first[k] = c.lam[k]
        # an impossible demand (held apart further than the rope is long) must stay finite
        soft = 1e-10 * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
        w.al[k] = (compliance if compliance > soft else soft) + 1e-300


cdef inline void chain_rescue(Chain* chain, Chain* c, ChainWork* w) noexcept nogil:
    """Numbers that overflowed even so: free nodes stay where they began the substep, at rest."""
    cdef int k, n = c.n
    cdef double total = 0.0
    cdef const double* place
    for k in range(2 * n):
        total += fabs(c.x[k]) + fabs(w.v[k]) + fabs(w.total[k])
    if total < 1e300:
        return
    for k in range(n):
        place = chain.x0 if c.W[3 * k] + c.W[3 * k + 2] > 0.0 else chain.x
        c.x[2 * k] = place[2 * k] - chain.x0[0]
        c.x[2 * k + 1] = place[2 * k + 1] - chain.x0[1]
        w.v[2 * k] = w.v[2 * k + 1] = w.total[2 * k] = w.total[2 * k + 1] = 0.0
    for k in range(n - 1):
        c.lam[k] = 0.0


cdef inline void chain_solve(Chain* chain, double h) noexcept nogil:
    """Bring the predicted nodes x onto the links; see the head of this file."""
    cdef Chain c
    cdef ChainWork w
    cdef int k, n = chain.n, m = chain.n - 1, heavy = 0
    cdef double over = 0.0, length = 0.0
    cdef double* W = chain.W
    chain.passes = 0
    chain.violent = 0
    chain.residual = 0.0
    if m < 1:
        for k in range(2 * n):
            chain.f[k] = 0.0
            chain.v[k] = (chain.x[k] - chain.x0[k]) / h
        return
    for k in range(m):
        length += chain.rest[k]
        heavy |= chain.lam[k] * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5]) > 1.01 * chain.rest[k]
    if not heavy and chain.bend_stiffness <= 0.0 and chain_calm(chain, h, 1e-3 * length / m + 1e-6):
        return
    if chain.calm_only:
        chain.violent = -1
        return
    c = chain[0]
    w = chain_work(chain)
    w.h2 = h * h
    w.floor = 1e-3 * length / m + 1e-6
    chain_prepare(chain, &c, &w, h)
    chain_geometry(m, w.z, w.u, w.s)
    for k in range(m):
        over += w.s[k] - c.rest[k] if w.s[k] > c.rest[k] else 0.0
    if c.stretch_compliance <= 0.0 and c.settle > 0.0 and over > 1e-3 * length + 1e-6:
        chain_correct(&c, &w, h)
        c.catch_up = c.grow_up = 0.0
    for k in range(2 * n):
        w.v[k] = (w.y[k] - w.z[k]) / h
    c.violent = chain_attempt(&c, &w, h, 0.03 if c.catch_up > 0.0 else 1e300)
    if c.violent == 2:
        chain_split(&c, &w, h, 4)
        if c.violent == 4:
            chain_rescue(chain, &c, &w)
    else:
        for k in range(2 * n):
            w.v[k] = (c.x[k] - w.z[k]) / h
            w.total[k] += c.f[k]
    for k in range(n):
        chain.x[2 * k] = c.x[2 * k] + chain.x0[0]
        chain.x[2 * k + 1] = c.x[2 * k + 1] + chain.x0[1]
    for k in range(2 * n):
        chain.v[k] = w.v[k]
        chain.f[k] = w.total[k]
    chain.passes = c.passes
    chain.violent = c.violent
    chain.residual = c.residual
