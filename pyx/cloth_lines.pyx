"""Cloth lines: direct solves of bending and stretching along the rows or columns of a grid sheet.

Stretch, edge e between particles e and e+1 of a line (XPBD, Macklin, Mueller, Chentanez 2016; one Newton
    step): C_e = |x_{e+1} - x_e| - rest,  grad: -n_e at e, +n_e at e+1
    (J W J^T + alpha / h^2) lambda = -C      tridiagonal: w_e + w_{e+1} + alpha/h^2, -w_{e+1} n_e . n_{e+1}
Bending, triple t (a discrete isometric energy: Bergou et al. 2006, Wardetzky et al. 2007):
    C_t = x_t - 2 x_{t+1} + x_{t+2} (a vector), constant gradient (1, -2, 1)
    (D W D^T + alpha_b / h^2) lambda = -C    pentadiagonal, the same matrix for x, y and z
    alpha_b = step^3 / (B other step): curvature C / step^2 over the cell of the middle particle. At a clamp
    (two held neighbours) only half of that cell bends: alpha_b / 2.
A particle that a body presses on (`grip`) is as heavy as its share of the body along the contact normal g,
and light
across it: W = w I - stiff g g^T.

Both systems are factored as L D L^T, eight lines side by side (lanes), which the compiler turns into vectors.
A pass over columns has a particle stride of one row; a pass over rows has a particle stride of one.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt

cdef enum:
    LANES = 8
    FIELDS = 17
    STRIP = 4

# A straight line pinned at both ends has no unique tension; this share of w keeps its system regular.
cdef double REGULAR = 1e-6

cdef extern from *:
    """
    #if defined(_MSC_VER)
    typedef double* __restrict sk_line;
    #else
    typedef double* __restrict__ sk_line;
    #endif
    """
    ctypedef double* sk_line


cdef inline void gather(const double* x, const double* y, const double* z, const double* w, Py_ssize_t base,
                        Py_ssize_t element, Py_ssize_t lane, Py_ssize_t count, Py_ssize_t lanes,
                        sk_line px, sk_line py, sk_line pz, sk_line pw) noexcept nogil:
    cdef Py_ssize_t e, k, at
    for e in range(count):
        for k in range(LANES):
            at = base + e * element + (k if k < lanes else lanes - 1) * lane
            px[e * LANES + k] = x[at]
            py[e * LANES + k] = y[at]
            pz[e * LANES + k] = z[at]
            pw[e * LANES + k] = w[at]


cdef inline void scatter(double* x, double* y, double* z, Py_ssize_t base, Py_ssize_t element, Py_ssize_t lane,
                         Py_ssize_t count, Py_ssize_t lanes, sk_line px, sk_line py, sk_line pz) noexcept nogil:
    cdef Py_ssize_t e, k, at
    for e in range(count):
        for k in range(lanes):
            at = base + e * element + k * lane
            x[at] = px[e * LANES + k]
            y[at] = py[e * LANES + k]
            z[at] = pz[e * LANES + k]


cdef void stretch_lines(sk_line px, sk_line py, sk_line pz, sk_line pw, sk_line nx, sk_line ny, sk_line nz,
                        sk_line upper, sk_line pivot, sk_line right, sk_line live, sk_line stiff, sk_line gx, sk_line gy,
                        sk_line gz, sk_line low, sk_line high, int gripped, Py_ssize_t count, double rest,
                        double soft) noexcept nogil:
    cdef Py_ssize_t e, k, a, b
    cdef double dx, dy, dz, size, inverse, total, diagonal, off, value, before, move, held
    for e in range(count - 1):
        for k in range(LANES):
            a = e * LANES + k
            b = a + LANES
            dx = px[b] - px[a]
            dy = py[b] - py[a]
            dz = pz[b] - pz[a]
            size = sqrt(dx * dx + dy * dy + dz * dz + 1e-200)
            inverse = 1.0 / size
            dx = dx * inverse
            dy = dy * inverse
            dz = dz * inverse
            nx[a] = dx
            ny[a] = dy
            nz[a] = dz
            total = pw[a] + pw[b]
            if gripped:
                low[a] = gx[a] * dx + gy[a] * dy + gz[a] * dz
                high[a] = gx[b] * dx + gy[b] * dy + gz[b] * dz
                total = total - stiff[a] * low[a] * low[a] - stiff[b] * high[a] * high[a]
            total = total * live[a]
            held = 1.0 if total == 0.0 else 0.0
            diagonal = total * (1.0 + REGULAR) + soft + held
            value = (1.0 - held) * (rest - size)
            off = 0.0
            if e > 0:
                off = pw[a] * (dx * nx[a - LANES] + dy * ny[a - LANES] + dz * nz[a - LANES])
                if gripped:
                    off = off - stiff[a] * low[a] * high[a - LANES]
                off = -off * live[a] * live[a - LANES]
                before = off * pivot[a - LANES]
                diagonal = diagonal - off * before
                value = value - before * right[a - LANES]
            upper[a] = off
            pivot[a] = 1.0 / diagonal
            right[a] = value
    for e in range(count - 2, -1, -1):
        for k in range(LANES):
            a = e * LANES + k
            b = a + LANES
            move = right[a]
            if e < count - 2:
                move = move - upper[b] * right[b]
            move = move * pivot[a]
            right[a] = move
            dx = nx[a] * move
            dy = ny[a] * move
            dz = nz[a] * move
            px[b] = px[b] + pw[b] * dx
            py[b] = py[b] + pw[b] * dy
            pz[b] = pz[b] + pw[b] * dz
            px[a] = px[a] - pw[a] * dx
            py[a] = py[a] - pw[a] * dy
            pz[a] = pz[a] - pw[a] * dz
            if gripped:
                before = stiff[b] * high[a] * move
                px[b] = px[b] - before * gx[b]
                py[b] = py[b] - before * gy[b]
                pz[b] = pz[b] - before * gz[b]
                before = stiff[a] * low[a] * move
                px[a] = px[a] + before * gx[a]
                py[a] = py[a] + before * gy[a]
                pz[a] = pz[a] + before * gz[a]


cdef void bend_lines(sk_line px, sk_line py, sk_line pz, sk_line pw, sk_line rx, sk_line ry, sk_line rz,
                     sk_line first, sk_line second, sk_line pivot, sk_line live, sk_line soft, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t t, k, a, b, c
    cdef double diagonal, one, two, vx, vy, vz, total, held, f1, f2, whole, clamp
    for t in range(count - 2):
        for k in range(LANES):
            a = t * LANES + k
            b = a + LANES
            c = b + LANES
            whole = live[a] * live[b]
            total = (pw[a] + 4.0 * pw[b] + pw[c]) * whole
            held = 1.0 if total == 0.0 else 0.0
            clamp = 0.5 if pw[b] == 0.0 and (pw[a] == 0.0 or pw[c] == 0.0) else 1.0
            diagonal = total + soft[k] * clamp + held
            vx = (1.0 - held) * (2.0 * px[b] - px[a] - px[c])
            vy = (1.0 - held) * (2.0 * py[b] - py[a] - py[c])
            vz = (1.0 - held) * (2.0 * pz[b] - pz[a] - pz[c])
            one = 0.0
            two = 0.0
            if t > 0:
                f1 = -2.0 * (pw[a] + pw[b]) * whole * live[a - LANES]
                if t > 1:
                    f2 = pw[a] * whole * live[a - LANES] * live[a - 2 * LANES]
                    two = f2 * pivot[a - 2 * LANES]
                    f1 = f1 - f2 * first[a - LANES]
                    diagonal = diagonal - two * f2
                    vx = vx - two * rx[a - 2 * LANES]
                    vy = vy - two * ry[a - 2 * LANES]
                    vz = vz - two * rz[a - 2 * LANES]
                one = f1 * pivot[a - LANES]
                diagonal = diagonal - one * f1
                vx = vx - one * rx[a - LANES]
                vy = vy - one * ry[a - LANES]
                vz = vz - one * rz[a - LANES]
            first[a] = one
            second[a] = two
            pivot[a] = 1.0 / diagonal
            rx[a] = vx
            ry[a] = vy
            rz[a] = vz
    for t in range(count - 3, -1, -1):
        for k in range(LANES):
            a = t * LANES + k
            b = a + LANES
            c = b + LANES
            vx = rx[a] * pivot[a]
            vy = ry[a] * pivot[a]
            vz = rz[a] * pivot[a]
            if t < count - 3:
                vx = vx - first[b] * rx[b]
                vy = vy - first[b] * ry[b]
                vz = vz - first[b] * rz[b]
            if t < count - 4:
                vx = vx - second[c] * rx[c]
                vy = vy - second[c] * ry[c]
                vz = vz - second[c] * rz[c]
            rx[a] = vx
            ry[a] = vy
            rz[a] = vz
            px[a] = px[a] + pw[a] * vx
            py[a] = py[a] + pw[a] * vy
            pz[a] = pz[a] + pw[a] * vz
            px[b] = px[b] - 2.0 * pw[b] * vx
            py[b] = py[b] - 2.0 * pw[b] * vy
            pz[b] = pz[b] - 2.0 * pw[b] * vz
            px[c] = px[c] + pw[c] * vx
            py[c] = py[c] + pw[c] * vy
            pz[c] = pz[c] + pw[c] * vz


cdef int gather_grips(const double* grip, Py_ssize_t n, Py_ssize_t base, Py_ssize_t element, Py_ssize_t lane,
                      Py_ssize_t count, Py_ssize_t lanes, double* out) noexcept nogil:
    """stiff and the normal of every particle of a chunk; 0 where nothing presses on any of them."""
    cdef Py_ssize_t e, k, at, field, size = count * LANES
    cdef int found = 0
    for e in range(count):
        for k in range(LANES):
            at = base + e * element + (k if k < lanes else lanes - 1) * lane
            found = found | (grip[at] != 0.0)
            for field in range(4):
                out[field * size + e * LANES + k] = grip[field * n + at]
    return found


cdef void line_chunk(double* x, double* y, double* z, const double* w, const double* live, const double* grip,
                     Py_ssize_t n, int grips, Py_ssize_t base,
                     Py_ssize_t element, Py_ssize_t lane, Py_ssize_t count, Py_ssize_t lanes, double rest,
                     double stretch_soft, double bend_soft, int bend, int first, int last, double* work) noexcept nogil:
    cdef Py_ssize_t size = count * LANES, k, e
    cdef double soft[LANES]
    cdef double* mask = work + 10 * size
    cdef double* more = work + 11 * size
    cdef int gripped = gather_grips(grip, n, base, element, lane, count, lanes, more) if grips else 0
    gather(x, y, z, w, base, element, lane, count, lanes, work, work + size, work + 2 * size, work + 3 * size)
    for e in range(count):
        for k in range(LANES):
            mask[e * LANES + k] = live[base + e * element + (k if k < lanes else lanes - 1) * lane]
    if bend and count > 2:
        for k in range(LANES):
            soft[k] = bend_soft
        if first:
            soft[0] = 2.0 * bend_soft
        if last:
            soft[lanes - 1] = 2.0 * bend_soft
        bend_lines(work, work + size, work + 2 * size, work + 3 * size, work + 4 * size, work + 5 * size,
                   work + 6 * size, work + 7 * size, work + 8 * size, work + 9 * size, mask, soft, count)
    stretch_lines(work, work + size, work + 2 * size, work + 3 * size, work + 4 * size, work + 5 * size,
                  work + 6 * size, work + 7 * size, work + 8 * size, work + 9 * size, mask, more, more + size,
                  more + 2 * size, more + 3 * size, more + 4 * size, more + 5 * size, gripped, count, rest, stretch_soft)
    scatter(x, y, z, base, element, lane, count, lanes, work, work + size, work + 2 * size)


def lines_work(Py_ssize_t rows, Py_ssize_t columns):
    """How many doubles `solve_lines` needs in `work`."""
    cdef Py_ssize_t down = (columns + LANES - 1) // LANES * rows, across = (rows + LANES - 1) // LANES * columns
    return FIELDS * LANES * max(down, across)


def solve_lines(double[:, ::1] x, const double[::1] w, const double[::1] live, const double[:, ::1] grip, bint grips,
                Py_ssize_t rows, Py_ssize_t columns,
                bint down, double rest, double stretch_soft, double bend_soft, bint bend, double[::1] work,
                int threads):
    """One direct pass over every column (`down`) or row: bending (if `bend`), then stretch.

    With `grips`, grip holds stiff and the unit normal (4, n). live[i] is 1 where the edge from particle i to
    the next of its line holds, else 0. Both soft values are compliance / h^2. The outermost lines carry half
    the bending stiffness, as they carry half the area.
    """
    cdef Py_ssize_t element = columns if down else 1
    cdef Py_ssize_t lane = 1 if down else columns
    cdef Py_ssize_t count = rows if down else columns
    cdef Py_ssize_t lines = columns if down else rows
    cdef Py_ssize_t chunks = (lines + LANES - 1) // LANES, chunk
    cdef Py_ssize_t stride = count * LANES * FIELDS
    with nogil:
        for chunk in prange(chunks, schedule="static", num_threads=threads):
            line_chunk(&x[0, 0], &x[1, 0], &x[2, 0], &w[0], &live[0], &grip[0, 0], x.shape[1], grips,
                       chunk * LANES * lane, element, lane, count,
                       lines - chunk * LANES if lines - chunk * LANES < LANES else LANES, rest, stretch_soft,
                       bend_soft, bend, chunk == 0, chunk == chunks - 1, &work[0] + chunk * stride)


cdef void shear_row(sk_line ax, sk_line ay, sk_line az, const double* aw, sk_line bx, sk_line by, sk_line bz,
                    const double* bw, const double* live, Py_ssize_t count, double rest, double soft) noexcept nogil:
    """C = |b - a| - rest; dlambda = -C / (w_a + w_b + alpha / h^2). Every pair of one row is disjoint."""
    cdef Py_ssize_t k
    cdef double dx, dy, dz, size, scale
    for k in range(count):
        dx = bx[k] - ax[k]
        dy = by[k] - ay[k]
        dz = bz[k] - az[k]
        size = sqrt(dx * dx + dy * dy + dz * dz + 1e-200)
        scale = live[k] * (size - rest) / (size * (aw[k] + bw[k] + soft + 1e-200))
        dx = dx * scale
        dy = dy * scale
        dz = dz * scale
        ax[k] = ax[k] + aw[k] * dx
        ay[k] = ay[k] + aw[k] * dy
        az[k] = az[k] + aw[k] * dz
        bx[k] = bx[k] - bw[k] * dx
        by[k] = by[k] - bw[k] * dy
        bz[k] = bz[k] - bw[k] * dz


cdef void shear_strip(double* x, double* y, double* z, const double* w, const double* falling, const double* rising,
                      Py_ssize_t first, Py_ssize_t last, Py_ssize_t columns, double fall, double rise,
                      double soft) noexcept nogil:
    cdef Py_ssize_t row, a, b
    for row in range(first, last):
        a = row * columns
        b = a + columns
        shear_row(x + a, y + a, z + a, w + a, x + b + 1, y + b + 1, z + b + 1, w + b + 1, falling + a, columns - 1,
                  fall, soft)
        shear_row(x + a + 1, y + a + 1, z + a + 1, w + a + 1, x + b, y + b, z + b, w + b, rising + a, columns - 1,
                  rise, soft)


def solve_shear(double[:, ::1] x, const double[::1] w, const double[:, ::1] live, Py_ssize_t rows,
                Py_ssize_t columns, double fall, double rise, double soft, int threads):
    """Both diagonals of every cell. live[0, i] and live[1, i] belong to the cell whose first particle is i.

    Strips of four rows of cells; two strips of one parity share no particle, so each parity is one parallel
    pass.
    """
    cdef Py_ssize_t strips = (rows - 1 + STRIP - 1) // STRIP, strip, phase, half
    with nogil:
        for phase in range(2):
            half = (strips + 1 - phase) // 2
            for strip in prange(half, schedule="static", num_threads=threads):
                shear_strip(&x[0, 0], &x[1, 0], &x[2, 0], &w[0], &live[0, 0], &live[1, 0],
                            (2 * strip + phase) * STRIP,
                            rows - 1 if rows - 1 < (2 * strip + phase + 1) * STRIP
                            else (2 * strip + phase + 1) * STRIP, columns, fall, rise, soft)
