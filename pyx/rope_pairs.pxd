"""Rope on rope, and a rope on itself."""

from libc.math cimport fabs
from libc.stdint cimport int64_t

from rope_records cimport CHUNK, Pair, Rope, Stage
from shapes cimport find_edge_contact


cdef inline bint free_node(const Rope* r, int64_t k) noexcept nogil:
    return r.w[k] > 0.0 and r.W[3 * k] == r.w[k] and r.W[3 * k + 1] == 0.0


cdef inline void spread(double* p, double wp, double* s, double ws, double wt, double lx, double ly) noexcept nogil:
    # A position impulse on a link's point and its opposite on a node.
    p[0] -= wp * lx
    p[1] -= wp * ly
    s[0] += ws * lx
    s[1] += ws * ly
    s[2] += wt * lx
    s[3] += wt * ly


cdef inline void touch_pair(Stage* stage, Rope* a, int64_t node, Rope* b, int64_t link) noexcept nogil:
    # C = distance between a node p and a point on a link s-t - sum of radii >= 0, normal n from the node to the link;
    # friction and overlaps as with shapes. Inverse masses: the node's and the lever's.
    cdef double* p = a.x + 2 * node
    cdef double* p0 = a.x0 + 2 * node
    cdef double* s = b.x + 2 * link
    cdef double* s0 = b.x0 + 2 * link
    cdef double radius = a.skin.radius + b.skin.radius, nx = 0.0, ny = 0.0, at = 0.0, depth = 0.0
    cdef double wp = a.w[node], ws, wt, w, lam, limit, slip, ps, gap, back, mx, my
    if fabs(p[0] - s[0]) + fabs(p[1] - s[1]) > 1.5 * (radius + fabs(s[2] - s[0]) + fabs(s[3] - s[1])) + fabs(
            p[0] - p0[0]) + fabs(p[1] - p0[1]) + fabs(s[0] - s0[0]) + fabs(s[1] - s0[1]):
        return
    if not find_edge_contact(s0[0] - p0[0], s0[1] - p0[1], s0[2] - p0[0], s0[3] - p0[1], s[0] - p[0], s[1] - p[1],
                             s[2] - p[0], s[3] - p[1], 0.0, 0.0, radius, True, &nx, &ny, &at, &depth):
        return
    ps = 1.0 - at
    ws = ps * b.w[link] if free_node(b, link) else 0.0
    wt = at * b.w[link + 1] if free_node(b, link + 1) else 0.0
    w = wp + ps * ws + at * wt
    if w <= 0.0:
        return
    # motion of the link's point relative to the node in this substep
    mx = ps * (s[0] - s0[0]) + at * (s[2] - s0[2]) - p[0] + p0[0]
    my = ps * (s[1] - s0[1]) + at * (s[3] - s0[3]) - p[1] + p0[1]
    gap = -depth - (mx * nx + my * ny)
    if gap < 0.0:
        back = a.skin.depenetration * stage.h
        back = (-gap if -gap < back else back) / w
        spread(p0, wp, s0, ws, wt, back * nx, back * ny)
        spread(p, wp, s, ws, wt, back * nx, back * ny)
        depth += gap
    if depth <= 0.0:
        return
    lam = depth / w
    limit = a.skin.friction * b.skin.friction * lam
    slip = (-mx * ny + my * nx) / w
    slip = limit if slip > limit else (-limit if slip < -limit else slip)
    spread(p, wp, s, ws, wt, lam * nx + slip * ny, lam * ny - slip * nx)


cdef inline void touch_chunks(Stage* stage, Pair* pair) noexcept nogil:
    cdef Rope* a
    cdef Rope* b
    cdef int64_t i, j, near, ca, cb
    cdef int side
    for side in range(2):
        if side == 0:
            a = stage.ropes + pair.rope_a
            b = stage.ropes + pair.rope_b
            ca = pair.chunk_a
            cb = pair.chunk_b
        else:
            if pair.rope_a == pair.rope_b and pair.chunk_a == pair.chunk_b:
                break
            a = stage.ropes + pair.rope_b
            b = stage.ropes + pair.rope_a
            ca = pair.chunk_b
            cb = pair.chunk_a
        for i in range(ca * CHUNK, min((ca + 1) * CHUNK, a.count - 1) + 1):
            if i == (ca + 1) * CHUNK and i != a.count - 1:
                continue
            if not free_node(a, i):
                continue
            for j in range(cb * CHUNK, min((cb + 1) * CHUNK, b.count - 1)):
                if a == b:
                    near = 2 + <int64_t>(2.0 * b.skin.radius / (b.rest[j] + 1e-9))
                    if i - j - 1 < near and j - i < near:
                        continue
                if not free_node(b, j) and not free_node(b, j + 1):
                    continue
                touch_pair(stage, a, i, b, j)
