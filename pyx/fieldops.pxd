"""The operations of a field row on one chunk of points: where it acts and its vector at every point.

Row: 0 operation, 1 region kind, 2 fade curve, 3-5 region centre, 6-8 half extents (6: radius), 9 1 / fade
width, 10 1 where the value is a force (times inverse mass), 11... the operation's own numbers.
"""

from libc.math cimport sqrt

from noise cimport BLOCK, OCTAVE_WIDTH, Flow, curl2, curl3, floor_of

cdef enum:
    CHUNK = 256
    WIDTH = 24

cdef enum:  # operations
    UNIFORM = 0  # 11-13 vector
    ATTRACT = 1  # 11-13 position, 14 strength, 15 softening^2
    VORTEX = 2  # 11-13 position, 14-16 unit axis, 17 strength * 2 core, 18 core^2, 19 inward share, 21-23 added
    NOISE = 3  # 11 octaves; table: octave rows
    GRID = 4  # 11 left, 12 top, 13-14 1 / column and row step, 15 columns, 16 rows, 17 factor, 18 repeat
    LINEAR = 5  # 11 rate
    QUADRATIC = 6  # 11 drag per length
    CACHED = 7  # as GRID (11-18), 19 octaves; table: octave rows, then the grid

cdef enum:  # regions
    EVERYWHERE = 0
    DISC = 1
    BALL = 2
    RECT = 3
    BOX = 4

cdef enum:  # how relax reads a row: 20 rate (flows)
    RATE = 20

cdef struct Chunk:
    int n
    double x[CHUNK]
    double y[CHUNK]
    double z[CHUNK]
    double w[CHUNK]  # weight of the row at hand
    double fx[CHUNK]
    double fy[CHUNK]
    double fz[CHUNK]


cdef inline void load(Chunk* c, const double* points, Py_ssize_t stride, int dim, Py_ssize_t first,
                      Py_ssize_t end) noexcept nogil:
    cdef int i
    cdef const double* p = points + first * stride
    c.n = <int>(end - first)
    if dim == 3:
        for i in range(c.n):
            c.x[i] = p[i * stride]
            c.y[i] = p[i * stride + 1]
            c.z[i] = p[i * stride + 2]
    else:
        for i in range(c.n):
            c.x[i] = p[i * stride]
            c.y[i] = p[i * stride + 1]
            c.z[i] = 0.0


cdef inline void clear(Chunk* c) noexcept nogil:
    cdef int i
    for i in range(c.n):
        c.fx[i] = 0.0
        c.fy[i] = 0.0
        c.fz[i] = 0.0


cdef inline double larger(double a, double b) noexcept nogil:
    return a if a > b else b


cdef inline double smaller(double a, double b) noexcept nogil:
    return a if a < b else b


cdef inline double size_of(double a) noexcept nogil:
    return a if a > 0.0 else -a


cdef inline bint weigh(Chunk* c, const double* row) noexcept nogil:
    """Weight of every point: 1 deep inside the region, 0 at its edge and outside. False where no point is
    inside.

    t = depth below the edge / fade width, held to 0..1; curve 0: 1 inside; 1: t; 2: t^2 (3 - 2 t); 3: t^2.
    """
    cdef int i, kind = <int>row[1], curve = <int>row[2]
    cdef double dx, dy, dz, t, most = 0.0
    if kind == EVERYWHERE:
        for i in range(c.n):
            c.w[i] = 1.0
        return True
    for i in range(c.n):
        dx = c.x[i] - row[3]
        dy = c.y[i] - row[4]
        dz = c.z[i] - row[5]
        if kind == DISC:
            t = row[6] - sqrt(dx * dx + dy * dy)
        elif kind == BALL:
            t = row[6] - sqrt(dx * dx + dy * dy + dz * dz)
        elif kind == RECT:
            t = smaller(row[6] - size_of(dx), row[7] - size_of(dy))
        else:
            t = smaller(smaller(row[6] - size_of(dx), row[7] - size_of(dy)), row[8] - size_of(dz))
        c.w[i] = larger(t, 0.0)
        most = larger(most, t)
    if not most > 0.0:
        return False
    for i in range(c.n):
        t = smaller(c.w[i] * row[9], 1.0)
        if curve == 0:
            t = 1.0 if c.w[i] > 0.0 else 0.0
        elif curve == 2:
            t = t * t * (3.0 - 2.0 * t)
        elif curve == 3:
            t = t * t
        c.w[i] = t
    return True


# a = strength d / (r^2 + softening^2)^(3/2), d from the point to the centre (Plummer 1911). Potential
# -strength / sqrt(r^2 + softening^2). A repeller has a negative strength.
cdef inline void attract(Chunk* c, const double* row) noexcept nogil:
    cdef int i
    cdef double dx, dy, dz, s, px = row[11], py = row[12], pz = row[13], strength = row[14], soft = row[15]
    for i in range(c.n):
        dx = px - c.x[i]
        dy = py - c.y[i]
        dz = pz - c.z[i]
        s = dx * dx + dy * dy + dz * dz + soft
        s = c.w[i] * strength / (s * sqrt(s))
        c.fx[i] = c.fx[i] + dx * s
        c.fy[i] = c.fy[i] + dy * s
        c.fz[i] = c.fz[i] + dz * s


# f = strength 2 core (n x d) / (r^2 + core^2), d from the axis to the point: along the circle, greatest
# (strength) at r = core, 1 / r far out (the profile of Kaufmann 1962). 'inward' adds that share of f toward
# the axis; the vector in 21-23 is added.
cdef inline void vortex(Chunk* c, const double* row) noexcept nogil:
    cdef int i
    cdef double dx, dy, dz, s, a, nx = row[14], ny = row[15], nz = row[16], inward = row[19]
    for i in range(c.n):
        dx = c.x[i] - row[11]
        dy = c.y[i] - row[12]
        dz = c.z[i] - row[13]
        a = dx * nx + dy * ny + dz * nz
        dx = dx - a * nx
        dy = dy - a * ny
        dz = dz - a * nz
        s = c.w[i] * row[17] / (dx * dx + dy * dy + dz * dz + row[18])
        c.fx[i] = c.fx[i] + s * (ny * dz - nz * dy - inward * dx) + c.w[i] * row[21]
        c.fy[i] = c.fy[i] + s * (nz * dx - nx * dz - inward * dy) + c.w[i] * row[22]
        c.fz[i] = c.fz[i] + s * (nx * dy - ny * dx - inward * dz) + c.w[i] * row[23]


cdef inline void uniform(Chunk* c, const double* row) noexcept nogil:
    cdef int i
    for i in range(c.n):
        c.fx[i] = c.fx[i] + c.w[i] * row[11]
        c.fy[i] = c.fy[i] + c.w[i] * row[12]
        c.fz[i] = c.fz[i] + c.w[i] * row[13]


# Points without weight are left out: the rest go through in blocks.
cdef inline void noise(Chunk* c, int octaves, const double* table, int dim) noexcept nogil:
    cdef int i, k, n, first = 0
    cdef int which[BLOCK]
    cdef double x[BLOCK]
    cdef double y[BLOCK]
    cdef double z[BLOCK]
    cdef Flow one
    cdef Flow sum
    while first < c.n:
        n = 0
        while first < c.n and n < BLOCK:
            if c.w[first] != 0.0:
                which[n] = first
                x[n] = c.x[first]
                y[n] = c.y[first]
                z[n] = c.z[first]
                n += 1
            first += 1
        for i in range(n):
            sum.u[i] = 0.0
            sum.v[i] = 0.0
            sum.w[i] = 0.0
        for k in range(octaves):
            for i in range(n):
                one.u[i] = 0.0
                one.v[i] = 0.0
                one.w[i] = 0.0
            if dim == 3:
                curl3(x, y, z, n, table + k * OCTAVE_WIDTH, &one)
            else:
                curl2(x, y, n, table + k * OCTAVE_WIDTH, &one)
            for i in range(n):
                sum.u[i] = sum.u[i] + table[k * OCTAVE_WIDTH + 1] * one.u[i]
                sum.v[i] = sum.v[i] + table[k * OCTAVE_WIDTH + 1] * one.v[i]
                sum.w[i] = sum.w[i] + table[k * OCTAVE_WIDTH + 1] * one.w[i]
        for i in range(n):
            c.fx[which[i]] = c.fx[which[i]] + c.w[which[i]] * sum.u[i]
            c.fy[which[i]] = c.fy[which[i]] + c.w[which[i]] * sum.v[i]
            c.fz[which[i]] = c.fz[which[i]] + c.w[which[i]] * sum.w[i]


cdef inline double at_edge(double p, double top) noexcept nogil:
    """p held to 0..top."""
    return smaller(larger(p, 0.0), top)


# Bilinear interpolation of a grid of vectors (rows x columns x 2): nodes at left + i step, held up to half a
# step beyond the outer ones and nothing further out, or repeated.
cdef inline void grid(Chunk* c, const double* row, const double* table) noexcept nogil:
    cdef int i, columns = <int>row[15], rows = <int>row[16], ax, ay, bx, by
    cdef bint repeat = row[18] != 0.0
    cdef double px, py, sx, sy, u, v, f
    cdef const double* p00
    cdef const double* p10
    cdef const double* p01
    cdef const double* p11
    for i in range(c.n):
        if c.w[i] == 0.0:
            continue
        px = (c.x[i] - row[11]) * row[13]
        py = (c.y[i] - row[12]) * row[14]
        if repeat:
            px = px - columns * <double>floor_of(px / columns)
            py = py - rows * <double>floor_of(py / rows)
            ax = <int>at_edge(px, columns - 1)
            ay = <int>at_edge(py, rows - 1)
            bx = ax + 1 if ax + 1 < columns else 0
            by = ay + 1 if ay + 1 < rows else 0
        elif not (-0.5 <= px <= columns - 0.5 and -0.5 <= py <= rows - 0.5):
            continue
        else:
            px = at_edge(px, columns - 1)
            py = at_edge(py, rows - 1)
            ax = <int>px
            ay = <int>py
            bx = ax + 1 if ax + 1 < columns else ax
            by = ay + 1 if ay + 1 < rows else ay
        sx = px - ax
        sy = py - ay
        p00 = table + 2 * (ay * columns + ax)
        p10 = table + 2 * (ay * columns + bx)
        p01 = table + 2 * (by * columns + ax)
        p11 = table + 2 * (by * columns + bx)
        u = p00[0] + sx * (p10[0] - p00[0])
        u = u + sy * (p01[0] + sx * (p11[0] - p01[0]) - u)
        v = p00[1] + sx * (p10[1] - p00[1])
        v = v + sy * (p01[1] + sx * (p11[1] - p01[1]) - v)
        f = c.w[i] * row[17]
        c.fx[i] = c.fx[i] + f * u
        c.fy[i] = c.fy[i] + f * v


# A curl noise kept on a grid: grid value inside the grid, the noise itself outside it and for 3-D points.
cdef inline void cached(Chunk* c, const double* row, const double* table, int dim) noexcept nogil:
    cdef int i, octaves = <int>row[19]
    cdef double px, py
    cdef double inside[CHUNK]
    cdef double whole[CHUNK]
    for i in range(c.n):
        px = (c.x[i] - row[11]) * row[13]
        py = (c.y[i] - row[12]) * row[14]
        whole[i] = c.w[i]
        inside[i] = 1.0 if dim == 2 and 0.0 <= px <= row[15] - 1.0 and 0.0 <= py <= row[16] - 1.0 else 0.0
        c.w[i] = whole[i] * inside[i]
    grid(c, row, table + octaves * OCTAVE_WIDTH)
    for i in range(c.n):
        c.w[i] = whole[i] * (1.0 - inside[i])
    noise(c, octaves, table, dim)
    for i in range(c.n):
        c.w[i] = whole[i]


cdef inline void evaluate(Chunk* c, const double* row, const double* table, int dim) noexcept nogil:
    """Add the row's vector, times the weights in c.w, to c.fx, fy, fz."""
    cdef int operation = <int>row[0]
    if operation == UNIFORM:
        uniform(c, row)
    elif operation == ATTRACT:
        attract(c, row)
    elif operation == VORTEX:
        vortex(c, row)
    elif operation == NOISE:
        noise(c, <int>row[11], table, dim)
    elif operation == GRID:
        grid(c, row, table)
    elif operation == CACHED:
        cached(c, row, table, dim)
