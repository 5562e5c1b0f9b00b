"""Planar particles against the straight pieces of other soft objects.

C = distance between a node p and a point on an edge s-t - sum of radii >= 0, swept from the start of the substep to
its end (`find_edge_contact`); normal n from the node to the edge. One impulse J on the edge's point, -J on the node:
dv = w J, dx = w tau J, where tau is the time that the node moved in (objects may have steps of different length), so
momentum and angular momentum stay. Coulomb friction |J_t| <= mu J_n. What overlapped from the start opens at the
depenetration speed without giving velocity. XPBD contacts (Macklin, Mueller, Chentanez 2016), Gauss-Seidel over
conflict-free colours, so that every number of threads gives the same bits.
"""

from cython.parallel cimport prange
from libc.math cimport floor, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t

from shapes cimport find_edge_contact

cdef enum:
    COLORS = 64
    WIDE = 64              # boxes over more cells are looked up one by one

cdef struct Kind:          # how one object touches others
    double radius, friction
    int64_t rule, group, categories, mask, own, family, active

cdef struct Box:
    double x0, y0, x1, y1


def record_size():
    """Bytes of a Kind record."""
    return sizeof(Kind)


cdef inline double by_rule(const Kind* k, double other) noexcept nogil:
    if k.rule == 1:
        return k.friction
    if k.rule == 2:
        return sqrt(k.friction * other)
    if k.rule == 3:
        return k.friction if k.friction > other else other
    return k.friction * other


cdef inline double grip(const Kind* a, const Kind* b) noexcept nogil:
    # the larger of what the two objects' rules say
    cdef double x = by_rule(a, b.friction), y = by_rule(b, a.friction)
    return x if x > y else y


cdef inline bint meets(const Kind* a, const Kind* b) noexcept nogil:
    if not a.active or not b.active:
        return False
    if a == b:
        return a.own != 0
    if a.family != 0 and a.family == b.family:
        return False
    if a.group != 0 and a.group == b.group:
        return False
    return (a.categories & b.mask) != 0 and (b.categories & a.mask) != 0


cdef inline void cover(Box* box, const double* x, const double* x0, double reach) noexcept nogil:
    cdef int k
    cdef const double* p
    for k in range(2):
        p = x if k == 0 else x0
        box.x0 = p[0] - reach if p[0] - reach < box.x0 else box.x0
        box.y0 = p[1] - reach if p[1] - reach < box.y0 else box.y0
        box.x1 = p[0] + reach if p[0] + reach > box.x1 else box.x1
        box.y1 = p[1] + reach if p[1] + reach > box.y1 else box.y1


cdef inline int64_t bucket(int64_t cx, int64_t cy, int64_t mask) noexcept nogil:
    cdef uint64_t key = <uint64_t>cx * <uint64_t>0x9E3779B97F4A7C15 + <uint64_t>cy * <uint64_t>0xC2B2AE3D27D4EB4F
    return <int64_t>((key >> 20) & <uint64_t>mask)


cdef inline int64_t cell_at(double t) noexcept nogil:
    # held to where counts of cells, multiplied, still fit into 64 bits
    return <int64_t>floor(t if t < 1e9 else 1e9) if t > -1e9 else -1000000000


cdef inline void cells_of(const Box* b, double inv, int64_t* c) noexcept nogil:
    c[0] = cell_at(b.x0 * inv)
    c[1] = cell_at(b.y0 * inv)
    c[2] = cell_at(b.x1 * inv)
    c[3] = cell_at(b.y1 * inv)


cdef inline bint apart(const Box* a, const Box* b) noexcept nogil:
    return a.x0 > b.x1 or b.x0 > a.x1 or a.y0 > b.y1 or b.y0 > a.y1


cdef inline bint wide(const int64_t* c) noexcept nogil:
    return (c[2] - c[0] + 1) * (c[3] - c[1] + 1) > WIDE


cdef bint candidate(const Kind* kinds, const int32_t* owner, const double* w, const int32_t* edges, const double* rest,
                    int64_t node, int64_t e, const double* x, const int32_t* joins, int64_t joins_n) noexcept nogil:
    cdef int64_t s = edges[2 * e], t = edges[2 * e + 1], k, side, mine, theirs
    cdef const Kind* a = kinds + owner[node]
    cdef const Kind* b = kinds + owner[s]
    cdef double near, dx, dy
    if node == s or node == t or not meets(a, b) or (w[node] <= 0.0 and w[s] <= 0.0 and w[t] <= 0.0):
        return False
    if a == b:
        # neighbours along the object are nearer each other than two radii without touching
        dx = x[2 * node] - 0.5 * (x[2 * s] + x[2 * t])
        near = 2.0 + 2.0 * a.radius / (rest[e] + 1e-9)
        if (node - s if node > s else s - node) < near or (node - t if node > t else t - node) < near:
            return False
    for k in range(joins_n):
        for side in range(2):
            mine = joins[2 * k + side]
            theirs = joins[2 * k + 1 - side]
            if owner[mine] == owner[node] and owner[theirs] == owner[s]:
                near = 2.0 * (a.radius + b.radius) + rest[e]
                dx = x[2 * node] - x[2 * mine]
                dy = x[2 * node + 1] - x[2 * mine + 1]
                if dx * dx + dy * dy < near * near:
                    return False
    return True


def find_pairs(const double[:, ::1] x, const double[:, ::1] x0, const double[::1] w, const int32_t[::1] owner,
               const int32_t[:, ::1] edges, const double[::1] rest, char[::1] kinds, double cell,
               const int32_t[:, ::1] joins, int64_t joins_n, double[:, ::1] boxes, int64_t[::1] start,
               int32_t[::1] items, int32_t[::1] far, int32_t[:, ::1] pairs):
    """Pairs (node, edge) whose swept boxes meet, in order of nodes. Returns (pairs, items needed): where more than
    there is room for, grow and call again.

    boxes: (nodes + edges, 4) work space; start: buckets + 1 (buckets a power of two); far: (edges,) work space.
    """
    cdef Py_ssize_t n = x.shape[0], m = edges.shape[0], i, e, k
    cdef int64_t mask = start.shape[0] - 2, cx, cy, place, need = 0, found = 0, room = pairs.shape[0], far_n = 0
    cdef double inv = 1.0 / cell, reach
    cdef const Kind* kind = <const Kind*>&kinds[0]
    cdef Box* nodes = <Box*>&boxes[0, 0]
    cdef Box* lines = nodes + n
    cdef int64_t c[4]
    cdef int64_t d[4]
    cdef const double* px = &x[0, 0]
    cdef const double* pw = &w[0]
    cdef const int32_t* po = &owner[0]
    cdef const int32_t* pe = &edges[0, 0]
    cdef const double* pr = &rest[0]
    cdef const int32_t* pj = &joins[0, 0]
    with nogil:
        for i in range(n):
            nodes[i].x0 = nodes[i].y0 = 1e300
            nodes[i].x1 = nodes[i].y1 = -1e300
            cover(nodes + i, &x[i, 0], &x0[i, 0], kind[owner[i]].radius + 0.05 * cell)
        for k in range(mask + 2):
            start[k] = 0
        for e in range(m):
            lines[e].x0 = lines[e].y0 = 1e300
            lines[e].x1 = lines[e].y1 = -1e300
            reach = kind[owner[edges[e, 0]]].radius + 0.05 * cell
            for k in range(2):
                cover(lines + e, &x[edges[e, k], 0], &x0[edges[e, k], 0], reach)
            cells_of(lines + e, inv, c)
            if wide(c):
                far[far_n] = <int32_t>e
                far_n += 1
                continue
            for cy in range(c[1], c[3] + 1):
                for cx in range(c[0], c[2] + 1):
                    start[bucket(cx, cy, mask) + 1] += 1
                    need += 1
        if need <= items.shape[0]:
            for k in range(mask + 1):
                start[k + 1] += start[k]
            for e in range(m):
                cells_of(lines + e, inv, c)
                if wide(c):
                    continue
                for cy in range(c[1], c[3] + 1):
                    for cx in range(c[0], c[2] + 1):
                        k = bucket(cx, cy, mask)
                        items[start[k]] = <int32_t>e
                        start[k] += 1
            for k in range(mask + 1, 0, -1):
                start[k] = start[k - 1]
            start[0] = 0
            for i in range(n):
                if not kind[owner[i]].active:
                    continue
                cells_of(nodes + i, inv, c)
                if wide(c):
                    for e in range(m):
                        if not apart(nodes + i, lines + e) and candidate(kind, po, pw, pe, pr, i, e, px, pj, joins_n):
                            if found < room:
                                pairs[found, 0] = <int32_t>i
                                pairs[found, 1] = <int32_t>e
                            found += 1
                    continue
                for k in range(far_n):
                    e = far[k]
                    if not apart(nodes + i, lines + e) and candidate(kind, po, pw, pe, pr, i, e, px, pj, joins_n):
                        if found < room:
                            pairs[found, 0] = <int32_t>i
                            pairs[found, 1] = <int32_t>e
                        found += 1
                for cy in range(c[1], c[3] + 1):
                    for cx in range(c[0], c[2] + 1):
                        k = bucket(cx, cy, mask)
                        for place in range(start[k], start[k + 1]):
                            e = items[place]
                            if apart(nodes + i, lines + e):
                                continue
                            # a pair is taken once: in the lowest cell that both boxes have
                            cells_of(lines + e, inv, d)
                            if cx != (c[0] if c[0] > d[0] else d[0]) or cy != (c[1] if c[1] > d[1] else d[1]):
                                continue
                            if candidate(kind, po, pw, pe, pr, i, e, px, pj, joins_n):
                                if found < room:
                                    pairs[found, 0] = <int32_t>i
                                    pairs[found, 1] = <int32_t>e
                                found += 1
    return found, need


def color_pairs(const int32_t[:, ::1] pairs, int64_t count, const int32_t[:, ::1] edges, const double[::1] w,
                uint64_t[::1] used, int32_t[::1] color, int64_t[::1] start, int32_t[::1] order):
    """Colours of which none moves a node twice, but the last one, which is solved in turn. order: pairs by colour;
    start: (65,) where each begins. used: (nodes,) work space, zeroed here.
    """
    cdef int64_t k, i
    cdef int j, c
    cdef uint64_t taken, bit
    cdef int32_t node[3]
    with nogil:
        for i in range(used.shape[0]):
            used[i] = 0
        for c in range(COLORS + 1):
            start[c] = 0
        for k in range(count):
            node[0] = pairs[k, 0]
            node[1] = edges[pairs[k, 1], 0]
            node[2] = edges[pairs[k, 1], 1]
            taken = 0
            for j in range(3):
                taken |= used[node[j]]
            c = 0
            while c < COLORS - 1 and (taken >> c) & 1:
                c += 1
            bit = <uint64_t>1 << c
            for j in range(3):
                if w[node[j]] > 0.0:
                    used[node[j]] |= bit
            color[k] = c
            start[c + 1] += 1
        for c in range(COLORS):
            start[c + 1] += start[c]
        for k in range(count):
            order[start[color[k]]] = <int32_t>k
            start[color[k]] += 1
        for c in range(COLORS, 0, -1):
            start[c] = start[c - 1]
        start[0] = 0


cdef inline void give(double* x, double* v, double w, double tau, double jx, double jy) noexcept nogil:
    if w > 0.0:
        x[0] += w * tau * jx
        x[1] += w * tau * jy
        if v != NULL:
            v[0] += w * jx
            v[1] += w * jy


cdef void touch(const Kind* kinds, const int32_t* owner, int64_t p, int64_t s, int64_t t, double* x, double* x0,
                double* v, const double* w, const double* tau, double ease, double* note) noexcept nogil:
    cdef const Kind* a = kinds + owner[p]
    cdef const Kind* b = kinds + owner[s]
    cdef double* xp = x + 2 * p
    cdef double* yp = x0 + 2 * p
    cdef double* xs = x + 2 * s
    cdef double* ys = x0 + 2 * s
    cdef double* xt = x + 2 * t
    cdef double* yt = x0 + 2 * t
    cdef double nx = 0.0, ny = 0.0, at = 0.0, depth = 0.0, ps, pt, gain, mx, my, gap, back, j, most, slip, fx, fy, ax, ay
    if not find_edge_contact(ys[0] - yp[0], ys[1] - yp[1], yt[0] - yp[0], yt[1] - yp[1], xs[0] - xp[0], xs[1] - xp[1],
                             xt[0] - xp[0], xt[1] - xp[1], 0.0, 0.0, a.radius + b.radius, True, &nx, &ny, &at, &depth):
        return
    pt = at
    ps = 1.0 - at
    gain = w[p] * tau[p] + ps * ps * w[s] * tau[s] + pt * pt * w[t] * tau[t]
    if gain <= 0.0:
        return
    mx = ps * (xs[0] - ys[0]) + pt * (xt[0] - yt[0]) - xp[0] + yp[0]
    my = ps * (xs[1] - ys[1]) + pt * (xt[1] - yt[1]) - xp[1] + yp[1]
    gap = -depth - (mx * nx + my * ny)
    if gap < 0.0:
        back = ease * (tau[p] if tau[p] < tau[s] else tau[s])
        back = (-gap if -gap < back else back) / gain
        give(xp, NULL, w[p], tau[p], -back * nx, -back * ny)
        give(yp, NULL, w[p], tau[p], -back * nx, -back * ny)
        give(xs, NULL, w[s], tau[s], ps * back * nx, ps * back * ny)
        give(ys, NULL, w[s], tau[s], ps * back * nx, ps * back * ny)
        give(xt, NULL, w[t], tau[t], pt * back * nx, pt * back * ny)
        give(yt, NULL, w[t], tau[t], pt * back * nx, pt * back * ny)
        depth += gap
        # Places moved under velocities: the edge takes the angular momentum that this made, as a couple.
        fx = xt[0] - xs[0]
        fy = xt[1] - xs[1]
        ax = ps * tau[s] * v[2 * s] + pt * tau[t] * v[2 * t] - tau[p] * v[2 * p]
        ay = ps * tau[s] * v[2 * s + 1] + pt * tau[t] * v[2 * t + 1] - tau[p] * v[2 * p + 1]
        if fx * fx + fy * fy > 1e-12 and w[p] > 0.0 and w[s] > 0.0 and w[t] > 0.0:
            back *= -(nx * ay - ny * ax) / (fx * fx + fy * fy)
            back = back if back * back * (fx * fx + fy * fy) * w[s] * w[s] < ease * ease else 0.0
            v[2 * s] += w[s] * back * fy
            v[2 * s + 1] -= w[s] * back * fx
            v[2 * t] -= w[t] * back * fy
            v[2 * t + 1] += w[t] * back * fx
    note[1] = nx
    note[2] = ny
    note[3] = 1.0
    if depth <= 0.0:
        return
    j = depth / gain
    most = grip(a, b) * j
    slip = (-mx * ny + my * nx) / gain
    slip = most if slip > most else (-most if slip < -most else slip)
    note[0] += j
    mx = j * nx + slip * ny
    my = j * ny - slip * nx
    # dx = tau w J with dv = w J gives the whole the angular momentum sum (x - tau v) x J: the edge takes the opposite
    # couple.
    ax = xs[0] - tau[s] * v[2 * s]
    ay = xs[1] - tau[s] * v[2 * s + 1]
    fx = xt[0] - tau[t] * v[2 * t] - ax
    fy = xt[1] - tau[t] * v[2 * t + 1] - ay
    ax += pt * fx - xp[0] + tau[p] * v[2 * p]
    ay += pt * fy - xp[1] + tau[p] * v[2 * p + 1]
    back = fx * fx + fy * fy
    gap = (ay * mx - ax * my) / back if back > 1e-12 else 0.0
    # not more than the impulse itself: an edge shrunk to a point has no lever
    if gap * gap * back > mx * mx + my * my:
        gap = 0.0
    give(xp, v + 2 * p, w[p], tau[p], -mx, -my)
    give(xs, v + 2 * s, w[s], tau[s], ps * mx + gap * fy, ps * my - gap * fx)
    give(xt, v + 2 * t, w[t], tau[t], pt * mx - gap * fy, pt * my + gap * fx)


def solve(const int32_t[:, ::1] pairs, int64_t count, const int32_t[:, ::1] edges, const int32_t[::1] order,
          const int64_t[::1] start, char[::1] kinds, const int32_t[::1] owner, double[:, ::1] x, double[:, ::1] x0,
          double[:, ::1] v, const double[::1] w, const double[::1] tau, double ease, int passes, int threads,
          double[:, ::1] notes):
    """`passes` sweeps over all pairs. ease: depenetration speed, wu/s. notes: per pair (impulse, nx, ny, touched),
    zeroed here. x, x0 and v of the nodes change.
    """
    cdef int64_t k, first, last, i, e
    cdef int c, round_
    cdef const Kind* kind = <const Kind*>&kinds[0]
    cdef const int32_t* po = &owner[0]
    cdef double* px = &x[0, 0]
    cdef double* py = &x0[0, 0]
    cdef double* pv = &v[0, 0]
    cdef const double* pw = &w[0]
    cdef const double* pt = &tau[0]
    for k in range(count):
        notes[k, 0] = notes[k, 1] = notes[k, 2] = notes[k, 3] = 0.0
    for round_ in range(passes):
        for c in range(COLORS):
            first = start[c]
            last = start[c + 1]
            if last - first < 512 or c == COLORS - 1 or threads < 2:
                for i in range(first, last):
                    e = pairs[order[i], 1]
                    touch(kind, po, pairs[order[i], 0], edges[e, 0], edges[e, 1], px, py, pv, pw, pt, ease,
                          &notes[order[i], 0])
            else:
                for i in prange(first, last, nogil=True, schedule="static", num_threads=threads):
                    touch(kind, po, pairs[order[i], 0], edges[pairs[order[i], 1], 0], edges[pairs[order[i], 1], 1],
                          px, py, pv, pw, pt, ease, &notes[order[i], 0])


def cap(double[:, ::1] x, double[:, ::1] x0, double[:, ::1] v, const double[:, ::1] old, const double[::1] w,
        const double[::1] tau, double speed):
    """Hold what contacts gave to `speed`, wu/s: velocities, and moves from `old` in one substep. What is no number
    stays at its start, at rest. Returns how many nodes were cut down."""
    cdef Py_ssize_t i, n = x.shape[0]
    cdef int64_t cut = 0
    cdef double size, dx, dy, far
    cdef bint hit
    with nogil:
        for i in range(n):
            if w[i] <= 0.0:
                continue
            hit = False
            dx = x[i, 0] - old[i, 0]
            dy = x[i, 1] - old[i, 1]
            far = speed * tau[i]
            size = dx * dx + dy * dy
            if not size <= far * far:
                size = sqrt(size)
                hit = True
                if size < 1e150:
                    x[i, 0] = old[i, 0] + dx * (far / size)
                    x[i, 1] = old[i, 1] + dy * (far / size)
                else:
                    x[i, 0] = x0[i, 0] = old[i, 0]
                    x[i, 1] = x0[i, 1] = old[i, 1]
            size = v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1]
            if not size <= speed * speed:
                size = sqrt(size)
                hit = True
                if size < 1e150:
                    v[i, 0] *= speed / size
                    v[i, 1] *= speed / size
                else:
                    v[i, 0] = v[i, 1] = 0.0
            cut += hit
    return cut
