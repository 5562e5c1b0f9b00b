"""Sheets against themselves and each other: particles keep their distance.

Constraint: C = |x_i - x_j| - d_ij >= 0 with d_ij the mean thickness, or the distance at rest where that is
less (a sheet must not fight its own shape). At a thickness of at least 3/4 of the spacing no particle fits
between four others, so that layers cannot pass through each other while they approach by less than half a
thickness a substep.

Neighbours within the thickness and a margin come from a hashed grid (Teschner, Heidelberger, Mueller,
Pomeranets, Gross 2003) and are kept until some particle has moved half the margin. Corrections are Jacobi:
each particle adds up its own, each pair's share divided by the larger of the two numbers of contacts, so that
momentum is kept and the bits do not depend on threads. An overlap that was there at the start of a substep
opens at a capped speed without velocity. Friction undoes the tangential motion of a pair by at most mu times
the normal correction.
"""

from cython.parallel cimport prange
from libc.math cimport floor, sqrt
from libc.stdint cimport int64_t

cdef enum:
    NEAR = 48        # most neighbours kept for a particle

# Share of the sliding of a touching pair that a pass undoes however light the contact: fibres rub, piles come
# to rest.
cdef double RUB = 0.12


def neighbours():
    """Columns that a neighbour list needs."""
    return NEAR


cdef inline int64_t bucket(int64_t x, int64_t y, int64_t z, int64_t mask) noexcept nogil:
    return (x * 73856093 ^ y * 19349663 ^ z * 83492791) & mask


cdef int look_around(const double* x, Py_ssize_t n, Py_ssize_t i, double reach, const int64_t* cells,
                     const int64_t* starts, const int* order, int64_t mask, const int* sheet, const double* rest,
                     const double* size, const unsigned char* meet, Py_ssize_t sheets, int* near,
                     double* keep) noexcept nogil:
    """Neighbours of particle i within `reach`, and how far from each it keeps."""
    cdef int64_t cx, cy, cz, a, b, c, at, k
    cdef int found = 0, j
    cdef double dx, dy, dz, d
    cx = cells[i]
    cy = cells[n + i]
    cz = cells[2 * n + i]
    for a in range(cx - 1, cx + 2):
        for b in range(cy - 1, cy + 2):
            for c in range(cz - 1, cz + 2):
                at = bucket(a, b, c, mask)
                for k in range(starts[at], starts[at + 1]):
                    j = order[k]
                    if j == i or cells[j] != a or cells[n + j] != b or cells[2 * n + j] != c:
                        continue
                    dx = x[j] - x[i]
                    dy = x[n + j] - x[n + i]
                    dz = x[2 * n + j] - x[2 * n + i]
                    if dx * dx + dy * dy + dz * dz > reach * reach:
                        continue
                    if not meet[sheet[i] * sheets + sheet[j]]:
                        continue
                    d = 0.5 * (size[i] + size[j])
                    if sheet[i] == sheet[j]:
                        dx = rest[j] - rest[i]
                        dy = rest[n + j] - rest[n + i]
                        dz = rest[2 * n + j] - rest[2 * n + i]
                        dx = sqrt(dx * dx + dy * dy + dz * dz)
                        d = dx if dx < d else d
                    near[found] = j
                    keep[found] = d
                    found += 1
                    if found == NEAR:
                        return found
    return found


def find_near(const double[:, ::1] x, double reach, int64_t[:, ::1] cells, int64_t[::1] starts, int[::1] order,
              const int[::1] sheet, const double[:, ::1] rest, const double[::1] size,
              const unsigned char[:, ::1] meet, int[:, ::1] near, double[:, ::1] keep, int[::1] found, int threads):
    """Neighbour lists of all particles. starts has a power of two of buckets and one more; `cells`, `order`:
    scratch.

    sheet: which sheet each particle is of; meet[a, b]: whether sheets a and b collide.
    """
    cdef Py_ssize_t i, n = x.shape[1]
    cdef int64_t k, mask = starts.shape[0] - 2, at
    with nogil:
        for k in range(mask + 2):
            starts[k] = 0
        for i in range(n):
            cells[0, i] = <int64_t> floor(x[0, i] / reach)
            cells[1, i] = <int64_t> floor(x[1, i] / reach)
            cells[2, i] = <int64_t> floor(x[2, i] / reach)
            starts[bucket(cells[0, i], cells[1, i], cells[2, i], mask) + 1] += 1
        for k in range(mask + 1):
            starts[k + 1] += starts[k]
        for i in range(n - 1, -1, -1):
            at = bucket(cells[0, i], cells[1, i], cells[2, i], mask) + 1
            starts[at] -= 1
            order[starts[at]] = <int> i
        # counting down left each bucket's end at its start: shift back by one
        for k in range(mask + 1):
            starts[k] = starts[k + 1]
        starts[mask + 1] = n
        for i in prange(n, schedule="static", num_threads=threads):
            found[i] = look_around(&x[0, 0], n, i, reach, &cells[0, 0], &starts[0], &order[0], mask, &sheet[0],
                                   &rest[0, 0], &size[0], &meet[0, 0], meet.shape[0], &near[i, 0], &keep[i, 0])


def moved(const double[:, ::1] x, const double[:, ::1] since):
    """Largest squared distance that a particle went from `since`, beyond the mean motion of all."""
    cdef Py_ssize_t i, n = x.shape[1]
    cdef double mx = 0.0, my = 0.0, mz = 0.0, dx, dy, dz, most = 0.0
    with nogil:
        for i in range(n):
            mx = mx + x[0, i] - since[0, i]
            my = my + x[1, i] - since[1, i]
            mz = mz + x[2, i] - since[2, i]
        mx = mx / n
        my = my / n
        mz = mz / n
        for i in range(n):
            dx = x[0, i] - since[0, i] - mx
            dy = x[1, i] - since[1, i] - my
            dz = x[2, i] - since[2, i] - mz
            dx = dx * dx + dy * dy + dz * dz
            most = dx if dx > most else most
    return most


cdef int count_contacts(const double* x, Py_ssize_t n, Py_ssize_t i, const int* near, const double* keep,
                        int found) noexcept nogil:
    cdef int k, j, touching = 0
    cdef double dx, dy, dz
    for k in range(found):
        j = near[k]
        dx = x[j] - x[i]
        dy = x[n + j] - x[n + i]
        dz = x[2 * n + j] - x[2 * n + i]
        if dx * dx + dy * dy + dz * dz < keep[k] * keep[k]:
            touching += 1
    return touching


cdef void part(const double* x, const double* old, const double* w, Py_ssize_t n, Py_ssize_t i, const int* near,
               const double* keep, int found, const int* touching, const double* mu, double open_, double* move,
               double* back) noexcept nogil:
    """What all contacts of particle i move it by, and by how much its start with it."""
    cdef int k, j, most
    cdef double dx, dy, dz, ox, oy, oz, d, d0, push, shift, share, sx, sy, sz, slip, limit
    for k in range(3):
        move[k] = 0.0
        back[k] = 0.0
    if w[i] <= 0.0:
        return
    for k in range(found):
        j = near[k]
        dx = x[i] - x[j]
        dy = x[n + i] - x[n + j]
        dz = x[2 * n + i] - x[2 * n + j]
        d = dx * dx + dy * dy + dz * dz
        if d >= keep[k] * keep[k]:
            continue
        d = sqrt(d)
        ox = old[i] - old[j]
        oy = old[n + i] - old[n + j]
        oz = old[2 * n + i] - old[2 * n + j]
        d0 = sqrt(ox * ox + oy * oy + oz * oz)
        if d > 1e-9:
            dx = dx / d
            dy = dy / d
            dz = dz / d
        else:
            dx = 0.0
            dy = 0.0
            dz = 1.0 if i > j else -1.0
        most = touching[i] if touching[i] > touching[j] else touching[j]
        share = w[i] / (w[i] + w[j]) * (1.0 if most < 2 else 1.5 / most)
        shift = 0.0
        push = keep[k] - d
        if d0 < keep[k]:
            shift = keep[k] - d0
            shift = shift if shift < open_ else open_
            push = d0 - d
            push = push if push > 0.0 else 0.0
        back[0] = back[0] + share * shift * dx
        back[1] = back[1] + share * shift * dy
        back[2] = back[2] + share * shift * dz
        sx = x[i] - x[j] - ox
        sy = x[n + i] - x[n + j] - oy
        sz = x[2 * n + i] - x[2 * n + j] - oz
        slip = sx * dx + sy * dy + sz * dz
        sx = sx - slip * dx
        sy = sy - slip * dy
        sz = sz - slip * dz
        slip = sqrt(sx * sx + sy * sy + sz * sz)
        limit = sqrt(mu[i] * mu[j]) * push
        limit = limit / slip if slip > limit else 1.0
        limit = limit if limit > RUB else RUB
        move[0] = move[0] + share * (push * dx - limit * sx)
        move[1] = move[1] + share * (push * dy - limit * sy)
        move[2] = move[2] + share * (push * dz - limit * sz)


def part_sheets(double[:, ::1] x, double[:, ::1] old, const double[::1] w, const double[::1] mu,
                const int[:, ::1] near, const double[:, ::1] keep, const int[::1] found, int[::1] touching,
                double[:, ::1] shift, double open_, int threads):
    """One Jacobi pass over all contacts; `open_`: how far an old overlap opens; touching, shift (n, 6):
    scratch."""
    cdef Py_ssize_t i, n = x.shape[1]
    with nogil:
        for i in prange(n, schedule="static", num_threads=threads):
            touching[i] = count_contacts(&x[0, 0], n, i, &near[i, 0], &keep[i, 0], found[i])
        for i in prange(n, schedule="static", num_threads=threads):
            if touching[i] > 0:
                part(&x[0, 0], &old[0, 0], &w[0], n, i, &near[i, 0], &keep[i, 0], found[i], &touching[0], &mu[0], open_,
                     &shift[i, 0], &shift[i, 3])
        for i in prange(n, schedule="static", num_threads=threads):
            if touching[i] > 0:
                x[0, i] = x[0, i] + shift[i, 0] + shift[i, 3]
                x[1, i] = x[1, i] + shift[i, 1] + shift[i, 4]
                x[2, i] = x[2, i] + shift[i, 2] + shift[i, 5]
                old[0, i] = old[0, i] + shift[i, 3]
                old[1, i] = old[1, i] + shift[i, 4]
                old[2, i] = old[2, i] + shift[i, 5]
