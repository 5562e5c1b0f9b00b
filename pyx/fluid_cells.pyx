"""Cell grid, cell order and neighbour lists of planar particles.

Particles are kept in cell order, so that the candidates of one row of three cells are one run of memory. The grid
wraps round: a cell's place is its coordinates modulo the grid's size, so a few particles far away cost nothing and
memory follows the particles, not the area. Neighbours are always checked by true distance.
"""

from cython.parallel cimport prange


cdef inline int wrapped(float value, float inv, int n) noexcept nogil:
    """The cell of one coordinate, modulo n (finite input only; the caller keeps |value * inv| below 2**30)."""
    cdef float scaled = value * inv
    cdef int cell = <int>scaled
    if scaled < <float>cell:
        cell -= 1
    if 0 <= cell < n:
        return cell
    cell = cell % n
    return cell + n if cell < 0 else cell


def cell_order(const float[::1] x, const float[::1] y, int n, float inv, int nx, int ny,
               int[::1] cell, int[::1] start, int[::1] order):
    """Counting sort: order[k] is the particle at place k, start[c] to start[c + 1] the places of cell c.

    Stable, serial, linear in particles and cells. inv: 1 / cell size. start has nx * ny + 1 items.
    """
    cdef Py_ssize_t i
    cdef int c, cells = nx * ny, place
    with nogil:
        for i in range(cells + 1):
            start[i] = 0
        for i in range(n):
            c = wrapped(y[i], inv, ny) * nx + wrapped(x[i], inv, nx)
            cell[i] = c
            start[c + 1] += 1
        for i in range(cells):
            start[i + 1] += start[i]
        for i in range(n):
            c = cell[i]
            place = start[c]
            start[c] = place + 1
            order[place] = <int>i
        for i in range(cells, 0, -1):
            start[i] = start[i - 1]
        start[0] = 0


def gather(const float[::1] source, const int[::1] order, int n, float[::1] target):
    """target[k] = source[order[k]]."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            target[k] = source[order[k]]


def gather_int(const int[::1] source, const int[::1] order, int n, int[::1] target):
    """target[k] = source[order[k]]."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            target[k] = source[order[k]]


cdef int run(const float* x, const float* y, int i, float h2, int first, int last, int* out) noexcept nogil:
    """Append to out the places j in [first, last) within sqrt(h2) of i; returns how many."""
    cdef int j, k = 0
    cdef float px = x[i], py = y[i], dx, dy
    for j in range(first, last):
        dx = x[j] - px
        dy = y[j] - py
        out[k] = j
        k += (dx * dx + dy * dy < h2) & (j != i)
    return k


cdef int chunk_lists(const float* x, const float* y, int first, int last, float inv, float h2, int nx, int ny,
                     const int* start, int room, int base, int* begin, int* count, int* pairs) noexcept nogil:
    """The lists of the particles [first, last) into pairs[base : base + room]; returns the room that was needed."""
    cdef int i, cx, cy, row, r, used = 0, need, a, b
    cdef const int* s
    for i in range(first, last):
        cx = wrapped(x[i], inv, nx)
        cy = wrapped(y[i], inv, ny)
        begin[i] = base + used
        count[i] = 0
        need = 0
        for r in range(-1, 2):
            row = cy + r
            if row < 0:
                row += ny
            elif row >= ny:
                row -= ny
            s = start + row * nx
            if 0 < cx < nx - 1:
                a = s[cx - 1]
                b = s[cx + 2]
                need += b - a
                if used + need > room:
                    continue
                count[i] += run(x, y, i, h2, a, b, pairs + base + used + count[i])
            else:
                for a in range(cx - 1, cx + 2):
                    b = a + nx if a < 0 else (a - nx if a >= nx else a)
                    need += s[b + 1] - s[b]
                    if used + need > room:
                        continue
                    count[i] += run(x, y, i, h2, s[b], s[b + 1], pairs + base + used + count[i])
        used = used + (need if used + need > room else count[i])
    return used


def neighbour_lists(const float[::1] x, const float[::1] y, int n, float inv, float reach, int nx, int ny,
                    const int[::1] start, int room, int[::1] begin, int[::1] count, int[::1] pairs,
                    int[::1] needed, int chunk, int threads):
    """Every particle's neighbours within reach (at most one cell): pairs[begin[i] : begin[i] + count[i]].

    Each chunk of particles owns `room` items of pairs and writes the room it would have needed into `needed`: where
    that exceeds `room`, grow pairs and call again. nx and ny are at least 3.
    """
    cdef int chunks = (n + chunk - 1) // chunk, c, last
    cdef float h2 = reach * reach
    if n == 0:
        return
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        last = (c + 1) * chunk if (c + 1) * chunk < n else n
        needed[c] = chunk_lists(&x[0], &y[0], c * chunk, last, inv, h2, nx, ny, &start[0], room, c * room,
                                &begin[0], &count[0], &pairs[0])


def gather_byte(const unsigned char[::1] source, const int[::1] order, int n, unsigned char[::1] target):
    """target[k] = source[order[k]]."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            target[k] = source[order[k]]
