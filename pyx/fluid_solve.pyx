"""Conjugate gradients for the grid's pressure, preconditioned by one multigrid V-cycle.

Level 0 is the pressure grid; cell i of the next level is the cells 2 i - 1 and 2 i of this one, so that the dry outer
ring stays a ring on every level. Coarse coefficients are the summed fine
ones halved (the Galerkin product of piecewise constant transfer, rescaled by the doubled cell size); restriction sums,
prolongation copies, and the smoother runs red, black before and black, red after: the cycle is symmetric, as conjugate
gradients need (McAdams, Sifakis, Teran 2010). Every sum runs in one fixed order on one thread.

Levels lie one after the other in flat arrays: level l has size[l] = (nx, ny), stride nx + 1 and starts at offset[l].
"""


cdef struct Level:
    int nx, ny, stride
    float* cu
    float* cv
    float* air
    float* diag
    float* x
    float* b


cdef void coarsen(const Level* f, Level* c) noexcept nogil:
    """Face and air coefficients of c from those of f."""
    cdef int i, j, k, m, s = f.stride
    cdef float total
    for j in range(c.ny + 1):
        for i in range(c.nx + 1):
            k = j * c.stride + i
            c.cu[k] = 0
            c.cv[k] = 0
            c.air[k] = 0
            if not (0 < i and 0 < j and 2 * i <= f.nx and 2 * j <= f.ny):
                continue
            m = (2 * j - 1) * s + 2 * i - 1
            c.cu[k] = <float>0.5 * (f.cu[m] + f.cu[m + s])
            c.cv[k] = <float>0.5 * (f.cv[m] + f.cv[m + 1])
            c.air[k] = <float>0.5 * (f.air[m] + f.air[m + 1] + f.air[m + s] + f.air[m + s + 1])


cdef void diagonal(Level* l) noexcept nogil:
    """diag = sum of the cell's coefficients; 0 marks a cell without an equation."""
    cdef int i, j, k
    cdef float total
    for j in range(l.ny + 1):
        for i in range(l.nx + 1):
            k = j * l.stride + i
            l.diag[k] = 0
            if i < l.nx and j < l.ny:
                total = l.cu[k] + l.cu[k + 1] + l.cv[k] + l.cv[k + l.stride] + l.air[k]
                if total > <float>1e-6:
                    l.diag[k] = 1 / (total * <float>1.00005)


cdef void smooth(Level* l, int colour) noexcept nogil:
    """One half sweep of Gauss-Seidel over the cells with (i + j) % 2 == colour."""
    cdef int i, j, k, s = l.stride
    for j in range(1, l.ny - 1):
        for i in range(1 + ((j + 1 + colour) & 1), l.nx - 1, 2):
            k = j * s + i
            l.x[k] = l.diag[k] * (l.b[k] + l.cu[k] * l.x[k - 1] + l.cu[k + 1] * l.x[k + 1]
                                  + l.cv[k] * l.x[k - s] + l.cv[k + s] * l.x[k + s])


cdef inline float left_over(const Level* l, int k) noexcept nogil:
    cdef int s = l.stride
    if l.diag[k] == 0:
        return 0
    return l.b[k] - l.x[k] / l.diag[k] + l.cu[k] * l.x[k - 1] + l.cu[k + 1] * l.x[k + 1] + \
        l.cv[k] * l.x[k - s] + l.cv[k + s] * l.x[k + s]


cdef void restrict_to(const Level* f, Level* c) noexcept nogil:
    """b of c = sum of f's residuals; x of c = 0."""
    cdef int i, j, k, m, s = f.stride
    for k in range((c.nx + 1) * (c.ny + 1)):
        c.x[k] = 0
        c.b[k] = 0
    for j in range(1, c.ny - 1):
        for i in range(1, c.nx - 1):
            k = j * c.stride + i
            if c.diag[k] == 0:
                continue
            m = (2 * j - 1) * s + 2 * i - 1
            c.b[k] = left_over(f, m) + left_over(f, m + 1) + left_over(f, m + s) + left_over(f, m + s + 1)


cdef void prolong(const Level* c, Level* f) noexcept nogil:
    cdef int i, j, k
    for j in range(1, f.ny - 1):
        for i in range(1, f.nx - 1):
            k = j * f.stride + i
            if f.diag[k] != 0:
                f.x[k] += c.x[((j + 1) >> 1) * c.stride + ((i + 1) >> 1)]


cdef void cycle(Level* levels, int count) noexcept nogil:
    """One V-cycle on levels[0].b into levels[0].x, from x = 0."""
    cdef int l, k
    for k in range((levels[0].nx + 1) * (levels[0].ny + 1)):
        levels[0].x[k] = 0
    for l in range(count - 1):
        smooth(&levels[l], 0)
        smooth(&levels[l], 1)
        restrict_to(&levels[l], &levels[l + 1])
    for k in range(8):
        smooth(&levels[count - 1], 0)
        smooth(&levels[count - 1], 1)
    for k in range(8):
        smooth(&levels[count - 1], 1)
        smooth(&levels[count - 1], 0)
    for l in range(count - 2, -1, -1):
        prolong(&levels[l + 1], &levels[l])
        smooth(&levels[l], 1)
        smooth(&levels[l], 0)


cdef double dot(const float* a, const float* b, int n) noexcept nogil:
    """Four lanes in double, summed in one fixed order."""
    cdef double s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef int k = 0
    while k + 4 <= n:
        s0 += <double>a[k] * b[k]
        s1 += <double>a[k + 1] * b[k + 1]
        s2 += <double>a[k + 2] * b[k + 2]
        s3 += <double>a[k + 3] * b[k + 3]
        k += 4
    while k < n:
        s0 += <double>a[k] * b[k]
        k += 1
    return (s0 + s1) + (s2 + s3)


cdef void apply(const Level* l, const float* p, float* out, int bodies, const int* body_start, const int* body_cell,
                const float* body_x, const float* body_y, const float* body_turn, const float* body_inverse,
                ) noexcept nogil:
    """out = A p, rigid bodies included: A is the face sums plus J^T M^-1 J, J the bodies' pressure to impulse map."""
    cdef int i, j, k, s = l.stride, b, m
    cdef float jx, jy, jt
    for j in range(1, l.ny - 1):
        for i in range(1, l.nx - 1):
            k = j * s + i
            if l.diag[k] != 0:
                out[k] = p[k] / l.diag[k] - l.cu[k] * p[k - 1] - l.cu[k + 1] * p[k + 1] - \
                    l.cv[k] * p[k - s] - l.cv[k + s] * p[k + s]
            else:
                out[k] = 0
    for b in range(bodies):
        jx = 0
        jy = 0
        jt = 0
        for m in range(body_start[b], body_start[b + 1]):
            jx = jx + body_x[m] * p[body_cell[m]]
            jy = jy + body_y[m] * p[body_cell[m]]
            jt = jt + body_turn[m] * p[body_cell[m]]
        jx = jx * body_inverse[2 * b]
        jy = jy * body_inverse[2 * b]
        jt = jt * body_inverse[2 * b + 1]
        for m in range(body_start[b], body_start[b + 1]):
            out[body_cell[m]] += body_x[m] * jx + body_y[m] * jy + body_turn[m] * jt


def level_sizes(int nx, int ny):
    """[(nx, ny, offset), ...] of the levels and the nodes that they take in all."""
    levels, offset = [], 0
    while True:
        levels.append((nx, ny, offset))
        offset += (nx + 1) * (ny + 1)
        if min(nx, ny) <= 6 or len(levels) == 12:
            return levels, offset
        nx, ny = (nx - 1) // 2 + 2, (ny - 1) // 2 + 2


def solve(const int[:, ::1] sizes, int count, float[::1] cu, float[::1] cv, float[::1] air, float[::1] diag,
          float[::1] x, float[::1] b, float[::1] q, float[::1] right, float[::1] p, float[::1] ap,
          double tolerance, int most, int bodies, const int[::1] body_start, const int[::1] body_cell,
          const float[::1] body_x, const float[::1] body_y, const float[::1] body_turn,
          const float[::1] body_inverse):
    """Solve A q = right from the q given. Returns (iterations, size of the residual over that of right).

    cu, cv, air hold level 0 on entry and all levels on return; diag, x, b, p, ap are work space.
    """
    cdef Level[12] levels
    cdef int l, k, nodes, it = 0
    cdef double rz, old, alpha, beta, norm, limit, rr
    cdef float step
    for l in range(count):
        levels[l].nx = sizes[l, 0]
        levels[l].ny = sizes[l, 1]
        levels[l].stride = sizes[l, 0] + 1
        levels[l].cu = &cu[sizes[l, 2]]
        levels[l].cv = &cv[sizes[l, 2]]
        levels[l].air = &air[sizes[l, 2]]
        levels[l].diag = &diag[sizes[l, 2]]
        levels[l].x = &x[sizes[l, 2]]
        levels[l].b = &b[sizes[l, 2]]
    nodes = (levels[0].nx + 1) * (levels[0].ny + 1)
    cdef int* starts = <int*>&body_start[0]
    cdef int* cells = <int*>&body_cell[0]
    cdef float* bx = <float*>&body_x[0]
    cdef float* by = <float*>&body_y[0]
    cdef float* bt = <float*>&body_turn[0]
    cdef float* inverse = <float*>&body_inverse[0]
    cdef Level* fine = &levels[0]
    with nogil:
        diagonal(fine)
        for l in range(1, count):
            coarsen(&levels[l - 1], &levels[l])
            diagonal(&levels[l])
        for k in range(nodes):
            ap[k] = 0
            p[k] = 0
            if fine.diag[k] == 0:
                q[k] = 0
                right[k] = 0
        norm = dot(&right[0], &right[0], nodes)
        apply(fine, &q[0], &ap[0], bodies, starts, cells, bx, by, bt, inverse)
        for k in range(nodes):
            fine.b[k] = right[k] - ap[k]
        rr = dot(fine.b, fine.b, nodes)
        if rr > norm:                       # the old pressure is a worse start than none
            rr = norm
            for k in range(nodes):
                q[k] = 0
                fine.b[k] = right[k]
        limit = tolerance * tolerance * norm
        rz = 1
        while it < most and rr > limit and norm > 1e-30:
            cycle(levels, count)
            old = rz
            rz = dot(fine.x, fine.b, nodes)
            if not (rz > 0):
                break
            step = <float>(rz / old) if it > 0 else 0
            for k in range(nodes):
                p[k] = fine.x[k] + step * p[k]
            apply(fine, &p[0], &ap[0], bodies, starts, cells, bx, by, bt, inverse)
            alpha = dot(&p[0], &ap[0], nodes)
            if not (alpha > 0):
                break
            step = <float>(rz / alpha)
            for k in range(nodes):
                q[k] += step * p[k]
                fine.b[k] -= step * ap[k]
            rr = dot(fine.b, fine.b, nodes)
            it += 1
    return it, (rr / norm) ** 0.5 if norm > 1e-30 else 0.0
