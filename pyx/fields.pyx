"""Force fields over particles: accelerations summed, drags and flows integrated exactly.

A field is one row of WIDTH doubles (see fieldops.pxd). Points go through in chunks of CHUNK: a chunk is
spread into x, y, z on the stack, every row runs over it, and the sum is written back once, so hundreds of
fields cost one pass over memory. A chunk belongs to one thread and writes only its own points, so the bits do
not depend on threads.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport uint32_t

from expo cimport log_of
from fieldops cimport (
    CHUNK, LINEAR, QUADRATIC, RATE, WIDTH, Chunk, clear, evaluate, larger, load, smaller, weigh,
)
from noise cimport OCTAVE_WIDTH, fade, floor_of, low16, scramble
from trig cimport decay as exp_minus

ROW = WIDTH
OCTAVE = OCTAVE_WIDTH


cdef struct Batch:  # particle arrays as pointers (NULL: none), each with the distance of its rows in doubles
    Py_ssize_t n
    int dim
    const double* x
    Py_ssize_t x_pitch
    double* v
    Py_ssize_t v_pitch
    const double* w
    Py_ssize_t w_pitch
    const double* a
    Py_ssize_t a_pitch
    double* out
    Py_ssize_t out_pitch


cdef inline Py_ssize_t last(const Batch* b, Py_ssize_t chunk) noexcept nogil:
    return b.n if (chunk + 1) * CHUNK > b.n else (chunk + 1) * CHUNK


cdef void set_points(Batch* b, const double[:, :] points, const double[:] inverse_mass) noexcept:
    b.n = points.shape[0]
    b.dim = <int>points.shape[1]
    b.x = &points[0, 0] if b.n > 0 else NULL
    b.x_pitch = points.strides[0] // <Py_ssize_t>sizeof(double)
    b.v = NULL
    b.a = NULL
    b.out = NULL
    b.w = NULL
    if inverse_mass is not None and b.n > 0:
        b.w = &inverse_mass[0]
        b.w_pitch = inverse_mass.strides[0] // <Py_ssize_t>sizeof(double)


cdef void set_velocities(Batch* b, const double[:, :] velocities) noexcept:
    b.v = <double*>&velocities[0, 0] if b.n > 0 else NULL
    b.v_pitch = velocities.strides[0] // <Py_ssize_t>sizeof(double)


cdef void set_acceleration(Batch* b, const double[:, :] acceleration) noexcept:
    if acceleration is not None and b.n > 0:
        b.a = &acceleration[0, 0]
        b.a_pitch = acceleration.strides[0] // <Py_ssize_t>sizeof(double)


cdef void set_out(Batch* b, double[:, :] out) noexcept:
    b.out = &out[0, 0] if b.n > 0 else NULL
    b.out_pitch = out.strides[0] // <Py_ssize_t>sizeof(double)


cdef inline bint held(const Batch* b, Py_ssize_t i) noexcept nogil:
    return b.w != NULL and b.w[i * b.w_pitch] == 0.0


# a_i += sum over the rows of weight(x_i) f(x_i), times the inverse mass where f is a force.
cdef void sum_chunk(const double* rows, int count, const double* table, const Batch* b,
                    Py_ssize_t chunk) noexcept nogil:
    cdef Chunk c
    cdef int k, i
    cdef Py_ssize_t first = chunk * CHUNK
    cdef const double* row
    cdef double* target
    load(&c, b.x, b.x_pitch, b.dim, first, last(b, chunk))
    clear(&c)
    for k in range(count):
        row = rows + k * WIDTH
        if not weigh(&c, row):
            continue
        if row[10] != 0.0 and b.w != NULL:
            for i in range(c.n):
                c.w[i] = c.w[i] * b.w[(first + i) * b.w_pitch]
        evaluate(&c, row, table, b.dim)
    for i in range(c.n):
        if held(b, first + i):
            continue
        target = b.out + (first + i) * b.out_pitch
        target[0] = target[0] + c.fx[i]
        target[1] = target[1] + c.fy[i]
        if b.dim == 3:
            target[2] = target[2] + c.fz[i]


# v' = u + (v - u) exp(-rate t): the exact solution of dv/dt = -rate (v - u). It is applied for half the step,
# then the step's acceleration, then for the other half (Strang 1968), so that terminal speeds are right to
# second order; p comes in with the acceleration already added, kick = acceleration * h.
cdef inline void draw(double* p, const double* u, const double* kick, double keep, int dim) noexcept nogil:
    cdef int d
    cdef double v
    for d in range(dim):
        v = u[d] + (p[d] - kick[d] - u[d]) * keep + kick[d]
        p[d] = u[d] + (v - u[d]) * keep


# v / (1 + c |v| t): the exact solution of dv/dt = -c |v| v, split in the same way.
cdef inline void slow(double* p, const double* kick, double half, int dim) noexcept nogil:
    cdef int d
    cdef double v[3]
    cdef double keep, square = 0.0
    for d in range(dim):
        v[d] = p[d] - kick[d]
        square = square + v[d] * v[d]
    keep = 1.0 / (1.0 + half * sqrt(square))
    square = 0.0
    for d in range(dim):
        v[d] = v[d] * keep + kick[d]
        square = square + v[d] * v[d]
    keep = 1.0 / (1.0 + half * sqrt(square))
    for d in range(dim):
        p[d] = v[d] * keep


cdef void relax_chunk(const double* row, const double* table, const Batch* b, double h,
                      Py_ssize_t chunk) noexcept nogil:
    cdef Chunk c
    cdef int i, d, operation = <int>row[0]
    cdef bint flow = operation != LINEAR and operation != QUADRATIC
    cdef Py_ssize_t first = chunk * CHUNK
    cdef double half = 0.5 * h * (row[RATE] if flow else row[11])
    cdef double keep = exp_minus(half)
    cdef double weight[CHUNK]
    cdef double u[3]
    cdef double kick[3]
    cdef double* p
    load(&c, b.x, b.x_pitch, b.dim, first, last(b, chunk))
    if not weigh(&c, row):
        return
    clear(&c)
    for i in range(c.n):
        weight[i] = c.w[i]
        c.w[i] = 1.0 if c.w[i] > 0.0 else 0.0
    if flow:
        evaluate(&c, row, table, b.dim)
    for i in range(c.n):
        if weight[i] == 0.0 or held(b, first + i):
            continue
        p = b.v + (first + i) * b.v_pitch
        u[0] = c.fx[i]
        u[1] = c.fy[i]
        u[2] = c.fz[i]
        for d in range(b.dim):
            kick[d] = b.a[(first + i) * b.a_pitch + d] * h if b.a != NULL else 0.0
        if operation == QUADRATIC:
            slow(p, kick, half * weight[i], b.dim)
        else:
            draw(p, u, kick, keep if weight[i] == 1.0 else exp_minus(half * weight[i]), b.dim)


cdef void drag_chunk(const double* row, const Batch* b, Py_ssize_t chunk) noexcept nogil:
    cdef Chunk c
    cdef int i, d
    cdef Py_ssize_t first = chunk * CHUNK
    cdef double f
    cdef const double* v
    load(&c, b.x, b.x_pitch, b.dim, first, last(b, chunk))
    if not weigh(&c, row):
        return
    for i in range(c.n):
        v = b.v + (first + i) * b.v_pitch
        f = -row[11] * c.w[i]
        if <int>row[0] == QUADRATIC:
            f = f * sqrt(v[0] * v[0] + v[1] * v[1] + (v[2] * v[2] if b.dim == 3 else 0.0))
        for d in range(b.dim):
            b.out[(first + i) * b.out_pitch + d] = f * v[d]


cdef void kick_chunk(const Batch* b, double h, Py_ssize_t chunk) noexcept nogil:
    cdef Py_ssize_t i
    cdef int d
    for i in range(chunk * CHUNK, last(b, chunk)):
        if held(b, i):
            continue
        for d in range(b.dim):
            b.v[i * b.v_pitch + d] = b.v[i * b.v_pitch + d] + b.a[i * b.a_pitch + d] * h


# dv = impulse weight(r) / m along d / r from the region's centre, held to 'top'; none exactly at the centre.
cdef void blast_chunk(const double* row, const Batch* b, double impulse, double top,
                      Py_ssize_t chunk) noexcept nogil:
    cdef Chunk c
    cdef int i, d
    cdef Py_ssize_t first = chunk * CHUNK
    cdef double r, s
    cdef double dx[3]
    cdef double* v
    load(&c, b.x, b.x_pitch, b.dim, first, last(b, chunk))
    if not weigh(&c, row):
        return
    for i in range(c.n):
        dx[0] = c.x[i] - row[3]
        dx[1] = c.y[i] - row[4]
        dx[2] = c.z[i] - row[5]
        r = sqrt(dx[0] * dx[0] + dx[1] * dx[1] + dx[2] * dx[2])
        s = impulse * c.w[i] * (b.w[(first + i) * b.w_pitch] if b.w != NULL else 1.0)
        if s == 0.0 or not r > 0.0:
            continue
        s = larger(smaller(s, top), -top) / r
        v = b.v + (first + i) * b.v_pitch
        for d in range(b.dim):
            v[d] = v[d] + s * dx[d]


def accumulate(const double[:, ::1] rows, const double[::1] table, const double[:, :] points,
               const double[:] inverse_mass, double[:, :] out, int threads):
    """Add the fields' accelerations (or, for a flow, its velocity) at the points to out; inverse mass 0 gets
    none.

    Rows with the force flag are multiplied by inverse_mass (None: 1). The last axis of points and out is
    contiguous.
    """
    cdef Batch b
    cdef Py_ssize_t k
    cdef int count = <int>rows.shape[0]
    if points.shape[0] == 0 or count == 0:
        return
    cdef const double* r = &rows[0, 0]
    cdef const double* t = &table[0]
    set_points(&b, points, inverse_mass)
    set_out(&b, out)
    for k in prange((b.n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        sum_chunk(r, count, t, &b, k)


def relax(const double[:, ::1] row, const double[::1] table, const double[:, :] points,
          double[:, :] velocities, const double[:] inverse_mass, const double[:, :] acceleration, double h,
          int threads):
    """Draw velocities toward the row's flow, or slow them by its drag, over a step of h seconds, in place.

    acceleration (None: 0) is what has already been added to the velocities in this step, per second.
    """
    cdef Batch b
    cdef Py_ssize_t k
    cdef const double* r = &row[0, 0]
    cdef const double* t = &table[0]
    set_points(&b, points, inverse_mass)
    set_velocities(&b, velocities)
    set_acceleration(&b, acceleration)
    if not h > 0.0:
        return
    for k in prange((b.n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        relax_chunk(r, t, &b, h, k)


def drag(const double[:, ::1] row, const double[:, :] points, const double[:, :] velocities, double[:, :] out,
         int threads):
    """Acceleration of a drag row at points moving with velocities: -c w v or -c w |v| v (what relax
    integrates)."""
    cdef Batch b
    cdef Py_ssize_t k
    cdef const double* r = &row[0, 0]
    set_points(&b, points, None)
    set_velocities(&b, velocities)
    set_out(&b, out)
    for k in prange((b.n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        drag_chunk(r, &b, k)


def kick(double[:, :] velocities, const double[:, :] acceleration, const double[:] inverse_mass, double h,
         int threads):
    """velocities += acceleration * h, except where inverse_mass is 0."""
    cdef Batch b
    cdef Py_ssize_t k
    set_points(&b, velocities, inverse_mass)
    set_velocities(&b, velocities)
    set_acceleration(&b, acceleration)
    for k in prange((b.n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        kick_chunk(&b, h, k)


def blast(const double[:, ::1] row, const double[:, :] points, double[:, :] velocities,
          const double[:] inverse_mass, double impulse, double max_speed, int threads):
    """A radial kick: dv = impulse * weight * inverse_mass outward from the region's centre, at most
    max_speed."""
    cdef Batch b
    cdef Py_ssize_t k
    cdef const double* r = &row[0, 0]
    set_points(&b, points, inverse_mass)
    set_velocities(&b, velocities)
    for k in prange((b.n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        blast_chunk(r, &b, impulse, max_speed, k)


def weights(const double[:, ::1] row, const double[:, :] points, double[::1] out):
    """Weight of a row's region at the points, 0 outside to 1 deep inside."""
    cdef Chunk c
    cdef Batch b
    cdef Py_ssize_t k, i
    cdef bint inside
    set_points(&b, points, None)
    for k in range((b.n + CHUNK - 1) // CHUNK):
        load(&c, b.x, b.x_pitch, b.dim, k * CHUNK, last(&b, k))
        inside = weigh(&c, &row[0, 0])
        for i in range(c.n):
            out[k * CHUNK + i] = c.w[i] if inside else 0.0


cdef uint32_t stirred(uint32_t seed, int octave, long long slice_) noexcept nogil:
    """One 32-bit seed out of a field's seed, an octave and a slice of time."""
    return scramble(scramble(seed + <uint32_t>0x9E3779B9 * <uint32_t>(octave + 1)) ^ <uint32_t>slice_)


def octave_table(double[:, ::1] table, unsigned int seed, int dim, double scale, double strength, double gain,
                 double when, const double[::1] period):
    """Fill the octave rows of a curl noise at 'when' (in slices of time), its rms speed set to 'strength'.

    The rms of one octave's curl over space and seeds, with components of the corner vectors even in -1..1, is
    0.7212165 (2-D) and 1.2096397 (3-D): integrals of the squared kernels, see noise.pxd; 1.00098 is the rms
    of ten bits against that of an even spread. Octave i is 2^i times finer and gain^i as fast, so the sum's
    rms is that times sqrt(sum gain^(2 i)).
    """
    cdef int i, d, octaves = <int>table.shape[0]
    cdef double total = 0.0, share = 1.0, unit, frequency = 1.0 / scale, s, norm
    cdef long long k
    cdef uint32_t h
    for i in range(octaves):
        total += share * share
        share *= gain
    unit = 0.7212165052 * 32767.5 if dim == 2 else 1.2096396948 * 511.5 * 1.00098
    share = strength / (unit * sqrt(total))
    k = floor_of(when)
    s = fade(when - k)
    norm = sqrt(s * s + (1.0 - s) * (1.0 - s))
    for i in range(octaves):
        table[i, 0] = frequency
        table[i, 1] = share
        for d in range(3):
            h = scramble(seed ^ scramble(<uint32_t>(3 * i + d + 1)))
            table[i, 2 + d] = (low16(h) + 32768.0) / 65536.0
            table[i, 9 + d] = <double>floor_of(period[d] * frequency + 0.5)
        table[i, 5] = <double>stirred(seed, i, k)
        table[i, 6] = <double>stirred(seed, i, k + 1)
        table[i, 7] = (1.0 - s) / norm
        table[i, 8] = s / norm
        frequency *= 2.0
        share *= gain


def gust(double phase, unsigned int seed):
    """Smooth noise over a phase, in -1..1, mean 0: values at whole phases from a hash, quintic between
    them."""
    cdef long long k = floor_of(phase)
    cdef double s = fade(phase - k)
    cdef double a = low16(scramble(seed ^ scramble(<uint32_t>k))) / 32767.5
    cdef double b = low16(scramble(seed ^ scramble(<uint32_t>(k + 1)))) / 32767.5
    return a + s * (b - a)


def decay(double rate, double seconds):
    """exp(-rate * seconds) for a product >= 0, the same bits on every platform."""
    return exp_minus(rate * seconds)


def decays(const double[:] rates, double seconds, double[:] out):
    """out[i] = exp(-rates[i] * seconds)."""
    cdef Py_ssize_t i
    for i in range(rates.shape[0]):
        out[i] = exp_minus(rates[i] * seconds)


def logarithm(double x):
    """Natural logarithm of x > 0, the same bits on every platform."""
    return log_of(x)
