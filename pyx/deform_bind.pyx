"""Binding points to the nodes near them: which nodes, with which weights, and the fixed part of a moving least
squares fit.

Near nodes come from a grid over the nodes, or, where links say what hangs together, from a walk along the links
(Dijkstra 1959) that starts at the point's home node: what lies beyond a crack is far along the links though it is near
in space.
"""

from libc.math cimport floor, sqrt
from libc.stdint cimport int64_t

from smallmat cimport jacobi

cdef enum:
    MOST = 64             # candidates kept for a point

cdef struct Near:         # candidates of one point in order of distance, then of index
    int count
    int room
    int node[MOST]
    double square[MOST]


cdef inline void keep_near(Near* near, int node, double square) noexcept nogil:
    cdef int k = near.count
    if k == near.room:
        if square > near.square[k - 1] or (square == near.square[k - 1] and node > near.node[k - 1]):
            return
        k -= 1
    else:
        near.count += 1
    while k > 0 and (near.square[k - 1] > square or (near.square[k - 1] == square and near.node[k - 1] > node)):
        near.node[k] = near.node[k - 1]
        near.square[k] = near.square[k - 1]
        k -= 1
    near.node[k] = node
    near.square[k] = square


cdef inline double apart(const double* a, const double* b, int size) noexcept nogil:
    cdef double total = 0.0
    cdef int k
    for k in range(size):
        total += (a[k] - b[k]) * (a[k] - b[k])
    return total


# ---------------------------------------------------------------- a grid over the nodes

cdef inline int64_t place(double x, double low, double cell, int64_t count) noexcept nogil:
    cdef double t = floor((x - low) / cell)
    return 0 if not t > 0.0 else (count - 1 if t > count - 1 else <int64_t> t)


def sort_cells(const double[:, ::1] nodes, const double[::1] low, double cell, const int64_t[::1] shape,
               int64_t[::1] starts, int[::1] order):
    """Counting sort of the nodes into cells: cell c holds order[starts[c]:starts[c + 1]]. shape: cells along x, y, z."""
    cdef Py_ssize_t i, cells = starts.shape[0] - 1, c
    cdef int axis, size = nodes.shape[1]
    cdef int64_t at
    with nogil:
        starts[:] = 0
        for i in range(nodes.shape[0]):
            at = 0
            for axis in range(size):
                at = at * shape[axis] + place(nodes[i, axis], low[axis], cell, shape[axis])
            starts[at + 1] += 1
        for c in range(cells):
            starts[c + 1] += starts[c]
        for i in range(nodes.shape[0] - 1, -1, -1):
            at = 0
            for axis in range(size):
                at = at * shape[axis] + place(nodes[i, axis], low[axis], cell, shape[axis])
            # While this runs starts[c + 1] counts down from the cell's end to its start.
            starts[at + 1] -= 1
            order[starts[at + 1]] = <int> i
        for c in range(cells):
            starts[c] = starts[c + 1]
        starts[cells] = nodes.shape[0]


cdef void search_grid(const double* nodes, int size, const double* point, const double* low, double cell,
                      const int64_t* shape, const int64_t* starts, const int* order, Near* near) noexcept nogil:
    """The near.room nodes nearest to the point: rings of cells round its own until no nearer node can come."""
    cdef int64_t at[3]
    cdef int64_t lo[3]
    cdef int64_t hi[3]
    cdef int64_t ring = 0, i, j, k, c, e
    cdef int axis
    cdef double reach, out = 0.0, d
    cdef bint more = True
    near.count = 0
    at[2] = 0
    for axis in range(size):
        at[axis] = place(point[axis], low[axis], cell, shape[axis])
        d = low[axis] + cell * at[axis] - point[axis]
        if d < 0.0:
            d = point[axis] - low[axis] - cell * (at[axis] + 1)
        if d > out:
            out = d
    while more:
        more = False
        lo[2] = 0
        hi[2] = 0
        for axis in range(size):
            lo[axis] = at[axis] - ring if at[axis] - ring > 0 else 0
            hi[axis] = at[axis] + ring if at[axis] + ring < shape[axis] - 1 else shape[axis] - 1
            if at[axis] - ring > 0 or at[axis] + ring < shape[axis] - 1:
                more = True
        for i in range(lo[0], hi[0] + 1):
            for j in range(lo[1], hi[1] + 1):
                for k in range(lo[2], hi[2] + 1):
                    if (i != at[0] - ring and i != at[0] + ring and j != at[1] - ring and j != at[1] + ring
                            and (size < 3 or (k != at[2] - ring and k != at[2] + ring))):
                        continue
                    c = i * shape[1] + j
                    if size == 3:
                        c = c * shape[2] + k
                    for e in range(starts[c], starts[c + 1]):
                        keep_near(near, order[e], apart(nodes + size * order[e], point, size))
        # A node in a ring beyond this one is at least this far along one axis. Round a point outside the grid the
        # rings lie about its nearest cell, `out` away at most.
        reach = cell * ring - out
        if near.count == near.room and reach > 0.0 and near.square[near.room - 1] < reach * reach:
            return
        ring += 1


def nearest(const double[:, ::1] nodes, const double[:, ::1] points, const double[::1] low, double cell,
            const int64_t[::1] shape, const int64_t[::1] starts, const int[::1] order, int[::1] out):
    """out[i]: the node nearest to point i."""
    cdef Near near
    cdef Py_ssize_t i
    cdef int size = nodes.shape[1]
    near.room = 1
    with nogil:
        for i in range(points.shape[0]):
            search_grid(&nodes[0, 0], size, &points[i, 0], &low[0], cell, &shape[0], &starts[0], &order[0], &near)
            out[i] = near.node[0]


# ---------------------------------------------------------------- a walk along the links

cdef inline void sift(double* key, int* item, int count, int k) noexcept nogil:
    cdef double dk = key[k]
    cdef int ik = item[k], child = 2 * k + 1
    while child < count:
        if child + 1 < count and key[child + 1] < key[child]:
            child += 1
        if key[child] >= dk:
            break
        key[k] = key[child]
        item[k] = item[child]
        k = child
        child = 2 * k + 1
    key[k] = dk
    item[k] = ik


cdef inline void push_heap(double* key, int* item, int k, double d, int node) noexcept nogil:
    cdef int up
    while k > 0:
        up = (k - 1) // 2
        if key[up] <= d:
            break
        key[k] = key[up]
        item[k] = item[up]
        k = up
    key[k] = d
    item[k] = node


cdef int walk(const double* nodes, int size, const int64_t* starts, const int* to, int home, double reach, int least,
              double* along, int* found, double* key, int* item) noexcept nogil:
    """Nodes within `reach` along the links of `home`, at least `least` where there are so many, into `found`, in order
    of their distance, which is in `along` (infinite for all others before and after)."""
    cdef int count = 0, heap = 1, node, other
    cdef int64_t e
    cdef double d
    key[0] = 0.0
    item[0] = home
    along[home] = 0.0
    while heap > 0:
        d = key[0]
        node = item[0]
        heap -= 1
        key[0] = key[heap]
        item[0] = item[heap]
        if heap:
            sift(key, item, heap, 0)
        if d > along[node]:
            continue
        if d > reach and count >= least:
            along[node] = 1e300
            break
        found[count] = node
        count += 1
        for e in range(starts[node], starts[node + 1]):
            other = to[e]
            if d + sqrt(apart(nodes + size * node, nodes + size * other, size)) < along[other]:
                along[other] = d + sqrt(apart(nodes + size * node, nodes + size * other, size))
                push_heap(key, item, heap, along[other], other)
                heap += 1
    while heap > 0:                       # queued, not reached
        heap -= 1
        if along[item[heap]] > d or (along[item[heap]] == d and not in_list(found, count, item[heap])):
            along[item[heap]] = 1e300
    return count


cdef inline bint in_list(const int* found, int count, int node) noexcept nogil:
    cdef int k
    for k in range(count):
        if found[k] == node:
            return True
    return False


# ---------------------------------------------------------------- weights

cdef struct Binding:
    int* node
    double* weight
    double* coef
    double* slope         # (size - 1, slots): derivative along each kept axis, for what is not in their span
    double* center
    double* offset
    double* axes          # (size - 1, size): kept axes, for what is not in their span
    int* count
    int* rank


cdef inline void set_weights(const Near* near, int k, int slots, bint smooth, Binding* b) noexcept nogil:
    """Weights of at least k nodes, their sum 1. Smooth ones, (1 - d^2/R^2)^2 / d^2, reach 0 at R = 1.5 times the
    k-th distance (or the distance of the first node that finds no slot), so that no point's set of nodes changes with
    a jump; plain ones are 1 / d^2 over the k nearest."""
    cdef int i, n
    cdef double r2, total = 0.0, t
    if k > near.count:
        k = near.count
    r2 = near.square[k - 1]
    n = k
    if smooth:
        r2 = 2.25 * r2
        n = near.count if near.count < slots else slots
        if near.count > slots and near.square[slots] < r2:
            r2 = near.square[slots]
    r2 = r2 if r2 > 1e-200 else 1e-200
    b.count[0] = 0
    for i in range(n):
        t = 1.0 - near.square[i] / r2 if smooth else 1.0
        if t <= 0.0:
            break
        b.node[i] = near.node[i]
        b.weight[i] = t * t / (near.square[i] + 1e-10 * r2)
        total += b.weight[i]
        b.count[0] += 1
    for i in range(b.count[0]):
        b.weight[i] /= total


cdef inline void set_center(const double* nodes, int size, Binding* b, double* moment) noexcept nogil:
    """Weighted centre p* and moment matrix sum w (p - p*) (p - p*)^T."""
    cdef int i, j, k
    cdef const double* p
    for j in range(size):
        b.center[j] = 0.0
        for i in range(b.count[0]):
            b.center[j] += b.weight[i] * (nodes[size * b.node[i] + j] - nodes[size * b.node[0] + j])
        b.center[j] += nodes[size * b.node[0] + j]
    for j in range(size * size):
        moment[j] = 0.0
    for i in range(b.count[0]):
        p = nodes + size * b.node[i]
        for j in range(size):
            for k in range(size):
                moment[size * j + k] += b.weight[i] * (p[j] - b.center[j]) * (p[k] - b.center[k])


cdef void bind_one(const double* nodes, int size, const double* point, const Near* near, int k, int slots, bint smooth,
                   bint affine, Binding* b) noexcept nogil:
    """Affine moving least squares (Schaefer, McPhail, Warren 2006, "Image deformation using moving least squares"):
    f(v) = q* + (sum w (q - q*) (p - p*)^T) M^-1 (v - p*) = sum c_j q_j, M the moment matrix. M is split into its
    principal axes e: c_j = w_j (1 + sum_e ((v - p*).e) ((p_j - p*).e) / moment_e). Axes along which the nodes do not
    spread (a rope's normal, a sheet's) are left out: there the point keeps its distance, at a right angle to the
    others. Where few nodes spread badly, more are taken."""
    cdef double m[9]
    cdef double e[9]
    cdef double along[3]
    cdef double best, t
    cdef int i, j, a, kept, rank, most
    cdef bint done = False
    for i in range(slots):
        b.node[i] = 0
        b.weight[i] = 0.0
        b.coef[i] = 0.0
    while not done:
        set_weights(near, k, slots, smooth, b)
        set_center(nodes, size, b, m)
        if not affine:
            break
        jacobi(m, e, size)
        best = 0.0
        for a in range(size):
            best = m[(size + 1) * a] if m[(size + 1) * a] > best else best
        rank = 0
        for a in range(size):
            rank += m[(size + 1) * a] > 0.02 * best
        done = rank == size or k >= near.count or k >= slots
        k = 2 * k if 2 * k < slots else slots
    for j in range(size):
        b.offset[j] = point[j] - b.center[j]
    b.rank[0] = size
    for i in range(b.count[0]):
        b.coef[i] = b.weight[i]
    if not affine:
        return
    for a in range(size):
        along[a] = 0.0
        for j in range(size):
            along[a] += (point[j] - b.center[j]) * e[size * j + a]
    kept = 0
    most = size - 1
    for a in range(size):
        if best < 1e-200 or m[(size + 1) * a] < 1e-6 * best:
            continue
        for i in range(b.count[0]):
            t = 0.0
            for j in range(size):
                t += (nodes[size * b.node[i] + j] - b.center[j]) * e[size * j + a]
            t = b.weight[i] * t / m[(size + 1) * a]
            b.coef[i] += t * along[a]
            if kept < most:
                b.slope[slots * kept + i] = t
        for j in range(size):
            b.offset[j] -= along[a] * e[size * j + a]
            if kept < most:
                b.axes[size * kept + j] = e[size * j + a]
        kept += 1
    b.rank[0] = kept


def bind(const double[:, ::1] nodes, const double[:, ::1] points, const int64_t[::1] rows, const int[::1] home,
         const int64_t[::1] link_starts, const int[::1] link_to, const double[::1] low, double cell,
         const int64_t[::1] shape, const int64_t[::1] starts, const int[::1] order, int k, bint smooth, bint affine,
         int[:, ::1] node, double[:, ::1] weight, double[:, ::1] coef, double[:, :, ::1] slope, double[:, ::1] center,
         double[:, ::1] offset, double[:, :, ::1] axes, int[::1] count, int[::1] rank, double[::1] along,
         int[::1] found, double[::1] key, int[::1] item):
    """Bind points[rows] (rows in order of their homes) to `k` nodes or more.

    With links (link_starts: one more than nodes) a point takes only nodes to which the way along the links from its
    home is at most 1.6 times the straight one. along: filled with 1e300, (nodes,); found: (nodes,); key, item: as many as
    link_to, and one more.
    """
    cdef Near near
    cdef Binding b
    cdef Py_ssize_t r, i, first, last
    cdef int size = nodes.shape[1], slots = node.shape[1], visited, j, h
    cdef bint linked = link_starts.shape[0] > 1
    cdef double reach, d, straight
    cdef const double* p = &nodes[0, 0]
    near.room = slots + 1 if slots + 1 < nodes.shape[0] else <int> nodes.shape[0]
    near.room = near.room if near.room < MOST else MOST
    with nogil:
        r = 0
        while r < rows.shape[0]:
            first = r
            last = r + 1
            h = home[rows[r]]
            visited = 0
            if linked:
                reach = 0.0
                while last < rows.shape[0] and home[rows[last]] == h:
                    last += 1
                for i in range(first, last):
                    d = apart(&points[rows[i], 0], p + size * h, size)
                    reach = d if d > reach else reach
                reach = 2.0 * sqrt(reach) + 4.0 * cell
                visited = walk(p, size, &link_starts[0], &link_to[0], h, reach, 2 * k + 8, &along[0], &found[0],
                               &key[0], &item[0])
            for r in range(first, last):
                i = rows[r]
                if linked:
                    near.count = 0
                    for j in range(visited):
                        straight = sqrt(apart(p + size * found[j], p + size * h, size))
                        if along[found[j]] <= 1.6 * straight + 1e-9 * cell:
                            keep_near(&near, found[j], apart(p + size * found[j], &points[i, 0], size))
                else:
                    search_grid(p, size, &points[i, 0], &low[0], cell, &shape[0], &starts[0], &order[0], &near)
                b.node = &node[i, 0]
                b.weight = &weight[i, 0]
                b.coef = &coef[i, 0]
                b.slope = &slope[i, 0, 0]
                b.center = &center[i, 0]
                b.offset = &offset[i, 0]
                b.axes = &axes[i, 0, 0]
                b.count = &count[i]
                b.rank = &rank[i]
                bind_one(p, size, &points[i, 0], &near, k, slots, smooth, affine, &b)
            for j in range(visited):
                along[found[j]] = 1e300
            r = last
