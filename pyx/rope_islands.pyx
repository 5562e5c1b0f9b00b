"""Which ropes can act on each other in the coming step: boxes, pairs, islands."""

from libc.math cimport fabs
from libc.stdint cimport int64_t, uint8_t

from rope_records cimport CHUNK, STACK, Anchor, Join, Rope
from shapes cimport DYNAMIC, Colliders, Shape, filters_meet, next_leaf


cdef inline void chunk_box(const Rope* r, int64_t chunk, double reach, double* box) noexcept nogil:
    # Box of a chunk's nodes over the coming step, grown by `reach` seconds of motion.
    cdef int64_t k, last = (chunk + 1) * CHUNK
    cdef double m, x, y
    box[0] = box[1] = 1e300
    box[2] = box[3] = -1e300
    if last > r.count - 1:
        last = r.count - 1
    for k in range(chunk * CHUNK, last + 1):
        x = r.x[2 * k]
        y = r.x[2 * k + 1]
        m = r.skin.radius + reach * (fabs(r.v[2 * k]) + fabs(r.v[2 * k + 1]))
        box[0] = x - m if x - m < box[0] else box[0]
        box[1] = y - m if y - m < box[1] else box[1]
        box[2] = x + m if x + m > box[2] else box[2]
        box[3] = y + m if y + m > box[3] else box[3]


def chunk_boxes(uint8_t[::1] ropes, Py_ssize_t count, double reach, double margin, double[:, ::1] boxes,
                int64_t[:, ::1] owners):
    """Boxes of all chunks of links over the coming step, and (rope, chunk) of each; returns how many."""
    cdef Rope* r
    cdef Py_ssize_t i, n = 0
    cdef int64_t chunk
    for i in range(count):
        r = <Rope*>&ropes[0] + i
        for chunk in range((r.count + CHUNK - 2) // CHUNK):
            chunk_box(r, chunk, reach, &boxes[n, 0])
            boxes[n, 0] -= margin
            boxes[n, 1] -= margin
            boxes[n, 2] += margin
            boxes[n, 3] += margin
            owners[n, 0] = i
            owners[n, 1] = chunk
            n += 1
    return n


def find_pairs(uint8_t[::1] ropes, Py_ssize_t boxes_count, double[:, ::1] boxes, int64_t[:, ::1] owners,
               int64_t[::1] by_left, int64_t[:, ::1] pairs):
    """Sweep along x: chunks whose boxes meet and whose ropes may touch. Returns how many there are.

    More than `pairs` has rows for means: give it more and call again.
    """
    cdef Rope* all_ropes = <Rope*>&ropes[0]
    cdef Rope* a
    cdef Rope* b
    cdef Py_ssize_t i, j, p, q, n = 0, room = pairs.shape[0]
    for i in range(boxes_count):
        p = by_left[i]
        a = all_ropes + owners[p, 0]
        for j in range(i if a.self_collision else i + 1, boxes_count):
            q = by_left[j]
            if boxes[q, 0] > boxes[p, 2]:
                break
            if boxes[q, 1] > boxes[p, 3] or boxes[q, 3] < boxes[p, 1]:
                continue
            b = all_ropes + owners[q, 0]
            if a == b:
                if not a.self_collision:
                    continue
            elif not filters_meet(a.skin.group, a.skin.categories, a.skin.mask,
                                  b.skin.group, b.skin.categories, b.skin.mask):
                continue
            if n < room:
                pairs[n, 0] = owners[p, 0]
                pairs[n, 1] = owners[p, 1]
                pairs[n, 2] = owners[q, 0]
                pairs[n, 3] = owners[q, 1]
            n += 1
    return n


cdef inline int64_t find_root(int64_t* parent, int64_t i) noexcept nogil:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


cdef inline void unite(int64_t* parent, int64_t i, int64_t j) noexcept nogil:
    i = find_root(parent, i)
    j = find_root(parent, j)
    if i < j:
        parent[j] = i
    elif j < i:
        parent[i] = j


def find_islands(int64_t[::1] colliders, Py_ssize_t bodies, Py_ssize_t moving_leaves, uint8_t[::1] ropes,
                 Py_ssize_t count, Py_ssize_t boxes_count, double[:, ::1] boxes, int64_t[:, ::1] owners,
                 double body_margin, uint8_t[::1] anchors, Py_ssize_t anchor_count, uint8_t[::1] joins,
                 Py_ssize_t join_count, int64_t[:, ::1] pairs, Py_ssize_t pair_count, int64_t[::1] parent,
                 int64_t[::1] root_of):
    """Unite ropes and dynamic bodies that can act on each other in this step (disjoint sets).

    `root_of` gets every rope's set, named by its lowest member; each dynamic body learns its own.
    """
    cdef Colliders* world = <Colliders*>&colliders[0]
    cdef Anchor* anchor = <Anchor*>&anchors[0]
    cdef Join* join = <Join*>&joins[0]
    cdef Shape* shape
    cdef Rope* r
    cdef Py_ssize_t i
    cdef int64_t leaf, k
    cdef int64_t stack[STACK]
    cdef int top
    for i in range(count + bodies):
        parent[i] = i
    for i in range(anchor_count):
        if world.bodies[anchor[i].body].kind == DYNAMIC:
            unite(&parent[0], anchor[i].rope, count + anchor[i].body)
    for i in range(join_count):
        unite(&parent[0], join[i].rope_a, join[i].rope_b)
    for i in range(pair_count):
        unite(&parent[0], pairs[i, 0], pairs[i, 2])
    if moving_leaves > 0:
        for i in range(boxes_count):
            r = <Rope*>&ropes[0] + owners[i, 0]
            stack[0] = world.moving.root
            top = 1
            while True:
                leaf = next_leaf(&world.moving, stack, &top, boxes[i, 0] - body_margin, boxes[i, 1] - body_margin,
                                 boxes[i, 2] + body_margin, boxes[i, 3] + body_margin)
                if leaf < 0:
                    break
                shape = world.shapes + leaf
                if world.bodies[shape.body].kind == DYNAMIC and not shape.sensor:
                    unite(&parent[0], owners[i, 0], count + shape.body)
    for i in range(count):
        root_of[i] = find_root(&parent[0], i)
    for k in range(bodies):
        if world.bodies[k].kind == DYNAMIC:
            world.bodies[k].island = find_root(&parent[0], count + k)
