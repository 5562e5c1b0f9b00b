"""Cloth of any shape: particle steps, coloured distance and bending batches, long-range attachments,
topology.

Positions and velocities are (3, n): all x, all y, all z. Every parallel pass writes only its own items, so
that the bits do not depend on the number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport uint8_t

from trig cimport decay


def predict(double[:, ::1] x, const double[:, ::1] v, double[:, ::1] old, const uint8_t[::1] held,
            double gx, double gy, double gz, double h, double damping, int threads):
    """old = x; x += h (v + h g) exp(-damping h), but for held particles."""
    cdef Py_ssize_t i, n = x.shape[1]
    cdef double move, keep = h * decay(damping * h)
    with nogil:
        for i in prange(n, schedule="static", num_threads=threads):
            old[0, i] = x[0, i]
            old[1, i] = x[1, i]
            old[2, i] = x[2, i]
            move = 0.0 if held[i] else keep
            x[0, i] = x[0, i] + move * (v[0, i] + h * gx)
            x[1, i] = x[1, i] + move * (v[1, i] + h * gy)
            x[2, i] = x[2, i] + move * (v[2, i] + h * gz)


def finish(double[:, ::1] x, double[:, ::1] v, const double[:, ::1] old, double h, double limit, int threads):
    """v = (x - old) / h, no faster than `limit`; a position that is not finite goes back to the old one.
    Returns how many were cut down."""
    cdef Py_ssize_t i, n = x.shape[1], capped = 0
    cdef double vx, vy, vz, speed, scale
    with nogil:
        for i in prange(n, schedule="static", num_threads=threads):
            vx = (x[0, i] - old[0, i]) / h
            vy = (x[1, i] - old[1, i]) / h
            vz = (x[2, i] - old[2, i]) / h
            speed = vx * vx + vy * vy + vz * vz
            if not speed <= 1e300:
                vx = 0.0
                vy = 0.0
                vz = 0.0
                x[0, i] = old[0, i]
                x[1, i] = old[1, i]
                x[2, i] = old[2, i]
                capped += 1
            elif speed > limit * limit:
                capped += 1
                scale = limit / sqrt(speed)
                vx = vx * scale
                vy = vy * scale
                vz = vz * scale
                x[0, i] = old[0, i] + h * vx
                x[1, i] = old[1, i] + h * vy
                x[2, i] = old[2, i] + h * vz
            v[0, i] = vx
            v[1, i] = vy
            v[2, i] = vz
    return capped


cdef void distance(double* x, double* y, double* z, const double* w, int i, int j, double rest, double live,
                   double soft, double* total) noexcept nogil:
    cdef double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i]
    cdef double size = sqrt(dx * dx + dy * dy + dz * dz + 1e-200), move, wi = w[i] * live, wj = w[j] * live
    move = (rest - size - soft * total[0]) / (wi + wj + soft + 1e-200) * live
    total[0] = total[0] + move
    move = move / size
    x[i] = x[i] - wi * move * dx
    y[i] = y[i] - wi * move * dy
    z[i] = z[i] - wi * move * dz
    x[j] = x[j] + wj * move * dx
    y[j] = y[j] + wj * move * dy
    z[j] = z[j] + wj * move * dz


def solve_edges(double[:, ::1] x, const double[::1] w, const int[:, ::1] edges, const double[::1] rest,
                const double[::1] live, double[::1] lam, const long long[::1] starts, double soft, int threads):
    """C = |x_j - x_i| - rest; dlambda = -(C + soft lambda) / (w_i + w_j + soft), soft = compliance / h^2.

    XPBD (Macklin, Mueller, Chentanez 2016). Batch b is edges starts[b] to starts[b + 1]: no two share a
    particle.
    """
    cdef Py_ssize_t b, e, first, last
    with nogil:
        for b in range(starts.shape[0] - 1):
            first = starts[b]
            last = starts[b + 1]
            for e in prange(first, last, schedule="static", num_threads=threads):
                distance(&x[0, 0], &x[1, 0], &x[2, 0], &w[0], edges[e, 0], edges[e, 1], rest[e], live[e], soft,
                         &lam[e])


cdef void bend(double* x, double* y, double* z, const double* w, const int* at, const double* k, double rest,
               double soft) noexcept nogil:
    cdef double vx = 0.0, vy = 0.0, vz = 0.0, total = soft, size, move
    cdef int i
    for i in range(4):
        vx = vx + k[i] * x[at[i]]
        vy = vy + k[i] * y[at[i]]
        vz = vz + k[i] * z[at[i]]
        total = total + w[at[i]] * k[i] * k[i]
    if total <= 0.0:
        return
    move = -1.0 / total
    if rest > 0.0:
        size = sqrt(vx * vx + vy * vy + vz * vz + 1e-200)
        move = move * (size - rest) / size
    for i in range(4):
        size = w[at[i]] * k[i] * move
        x[at[i]] = x[at[i]] + size * vx
        y[at[i]] = y[at[i]] + size * vy
        z[at[i]] = z[at[i]] + size * vz


def solve_bends(double[:, ::1] x, const double[::1] w, const int[:, ::1] hinges, const double[:, ::1] weights,
                const double[::1] rest, const double[::1] soft, const long long[::1] starts, double factor,
                int threads):
    """C = sum_k c_k x_k (a vector; a length against its rest value where the rest shape is bent), gradient
    c_k.

    The isometric bending energy B/2 * 3 / (A_0 + A_1) |sum c_k x_k|^2 of the two triangles at an edge
    (Bergou, Wardetzky, Harmon, Zorin, Grinspun 2006), as XPBD with compliance (A_0 + A_1) / (3 B): dlambda =
    -C / (sum w_k c_k^2 + compliance / h^2), compliance / h^2 = soft[e] * factor; soft[e] < 0 marks a torn
    hinge.
    """
    cdef Py_ssize_t b, e, first, last
    with nogil:
        for b in range(starts.shape[0] - 1):
            first = starts[b]
            last = starts[b + 1]
            for e in prange(first, last, schedule="static", num_threads=threads):
                if soft[e] >= 0.0:
                    bend(&x[0, 0], &x[1, 0], &x[2, 0], &w[0], &hinges[e, 0], &weights[e, 0], rest[e],
                         soft[e] * factor)


def reach(double[:, ::1] x, double[:, ::1] given, const uint8_t[::1] held, const int[:, ::1] anchors,
          const double[:, ::1] limits, const double[::1] share, double slack, bint record, int threads):
    """Long-range attachments: C = |x_i - x_a| - slack * limit <= 0 for the anchors a of particle i.

    The limit is the way along the sheet at rest, which no inextensible sheet can exceed (Kim, Chentanez,
    Mueller-Fischer 2012). share[a] of the gap is closed: 1 for a fixed anchor, less for one on a body that
    will be moved too. With `record`, given[:, i * K + k] is how far anchor k moved particle i.
    """
    cdef Py_ssize_t i, n = x.shape[1], k, m = anchors.shape[1]
    cdef int a
    cdef double dx, dy, dz, size, limit
    with nogil:
        for i in prange(n, schedule="static", num_threads=threads):
            for k in range(m):
                a = anchors[i, k]
                if record:
                    given[0, i * m + k] = 0.0
                    given[1, i * m + k] = 0.0
                    given[2, i * m + k] = 0.0
                if a < 0 or held[i]:
                    continue
                limit = limits[i, k] * slack
                dx = x[0, i] - x[0, a]
                dy = x[1, i] - x[1, a]
                dz = x[2, i] - x[2, a]
                size = dx * dx + dy * dy + dz * dz
                if size > limit * limit:
                    size = (limit / sqrt(size) - 1.0) * share[a]
                    x[0, i] = x[0, i] + dx * size
                    x[1, i] = x[1, i] + dy * size
                    x[2, i] = x[2, i] + dz * size
                    if record:
                        given[0, i * m + k] = dx * size
                        given[1, i * m + k] = dy * size
                        given[2, i * m + k] = dz * size


def answer(double[:, ::1] x, const double[:, ::1] given, const double[::1] w, const uint8_t[::1] held,
           const int[:, ::1] anchors, const double[::1] share):
    """Anchors on moving bodies feel the opposite of what `reach` did: serial, in order of particles."""
    cdef Py_ssize_t i, k, m = anchors.shape[1]
    cdef int a, axis
    with nogil:
        for i in range(x.shape[1]):
            for k in range(m):
                a = anchors[i, k]
                if a >= 0 and not held[i] and share[a] < 1.0:
                    for axis in range(3):
                        x[axis, a] = x[axis, a] - given[axis, i * m + k] * w[a] / w[i]


def find_torn(const double[:, ::1] x, const int[:, ::1] edges, const double[::1] rest, const double[::1] live,
              double limit, int[::1] out):
    """Live edges longer than (1 + limit) rest, into `out`; how many."""
    cdef Py_ssize_t e, count = 0
    cdef int i, j
    cdef double dx, dy, dz, most
    with nogil:
        for e in range(edges.shape[0]):
            i = edges[e, 0]
            j = edges[e, 1]
            dx = x[0, j] - x[0, i]
            dy = x[1, j] - x[1, i]
            dz = x[2, j] - x[2, i]
            most = rest[e] * (1.0 + limit)
            if live[e] > 0.0 and dx * dx + dy * dy + dz * dz > most * most:
                out[count] = <int> e
                count += 1
    return count


def color_items(const int[:, ::1] items, Py_ssize_t n, int[::1] colors):
    """Greedy colouring: no two items of one colour name the same particle (-1 is no particle). At most 64
    colours; returns how many were used, or -1 where 64 do not suffice."""
    cdef Py_ssize_t e, k
    cdef int color, most = 0
    cdef unsigned long long used
    seen_array = bytearray(8 * n + 8)
    cdef unsigned char[::1] seen_bytes = seen_array
    cdef unsigned long long* seen = <unsigned long long*> &seen_bytes[0]
    for e in range(items.shape[0]):
        used = 0
        for k in range(items.shape[1]):
            if items[e, k] >= 0:
                used = used | seen[items[e, k]]
        color = 0
        while color < 64 and used >> color & 1:
            color += 1
        if color == 64:
            return -1
        colors[e] = color
        most = max(most, color + 1)
        for k in range(items.shape[1]):
            if items[e, k] >= 0:
                seen[items[e, k]] = seen[items[e, k]] | (<unsigned long long> 1 << color)
    return most


def geodesic(const long long[::1] starts, const int[::1] ends, const double[::1] lengths, int source,
             double[::1] way, int[::1] heap, int[::1] place):
    """Shortest way along edges from `source` to every particle (Dijkstra 1959, binary heap); 1e300 if there
    is none.

    Edges from particle i: ends[starts[i]:starts[i + 1]]; a length below 0 marks a torn edge.
    """
    cdef Py_ssize_t n = way.shape[0], i, e
    cdef int size = 1, at, child, parent, top, last, other
    cdef double length
    with nogil:
        for i in range(n):
            way[i] = 1e300
            place[i] = -1
        way[source] = 0.0
        heap[0] = source
        place[source] = 0
        while size > 0:
            top = heap[0]
            size = size - 1
            last = heap[size]
            at = 0
            while 2 * at + 1 < size:
                child = 2 * at + 1
                if child + 1 < size and way[heap[child + 1]] < way[heap[child]]:
                    child = child + 1
                if way[heap[child]] >= way[last]:
                    break
                heap[at] = heap[child]
                place[heap[at]] = at
                at = child
            heap[at] = last
            place[last] = at
            for e in range(starts[top], starts[top + 1]):
                if lengths[e] < 0.0:
                    continue
                other = ends[e]
                length = way[top] + lengths[e]
                if length < way[other]:
                    if place[other] < 0:
                        place[other] = size
                        size = size + 1
                    way[other] = length
                    at = place[other]
                    while at > 0 and way[heap[(at - 1) // 2]] > length:
                        parent = (at - 1) // 2
                        heap[at] = heap[parent]
                        place[heap[at]] = at
                        at = parent
                    heap[at] = other
                    place[other] = at
