"""Lattice noise from an integer hash, and its curl in closed form.

Every lattice corner owns a random vector drawn by hashing its integer coordinates, so the noise is endless,
needs no table and gives the same bits everywhere. W is the product of the quintic fade 1 - (6 t^5 - 15 t^4 +
10 t^3) per axis (Perlin 2002: second derivatives continuous, so the velocity's first ones are), d the offset
from the corner.

2-D: potential psi = sum W (g . d) (gradient noise, Perlin 1985); velocity = (d psi / dy, -d psi / dx). 3-D:
vector potential A = sum W (q x d); its curl is sum q (2 W + grad W . d) - d (grad W . q): three random
numbers a corner instead of nine. Both are curls, hence divergence-free (Bridson, Hourihan, Nordenstam 2007).

Points go through in blocks, one lattice corner at a time over the whole block: loops without branches, which
compilers turn into vector code of any width with the same bits.

Time: each corner's vector is w0 r(k) + w1 r(k + 1) between two slices of time, with w0^2 + w1^2 = 1, so that
the field's rms does not pulse.
"""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    BLOCK = 64
    OCTAVE_WIDTH = 12  # frequency, amplitude, offset xyz, seed 0, seed 1, w0, w1, period in cells xyz


cdef struct Axis:  # one coordinate of a block of points in its lattice cells; [0]: lower corner, [1]: upper one
    uint32_t cell[2][BLOCK]  # the corner's share of the hash
    double d[2][BLOCK]  # offset from the corner
    double w[2][BLOCK]  # weight of the corner
    double slope[BLOCK]  # slope of the upper corner's weight


cdef struct Flow:
    double u[BLOCK]
    double v[BLOCK]
    double w[BLOCK]


cdef inline uint32_t scramble(uint32_t h) noexcept nogil:
    """32-bit finaliser with low bias (constants: C. Wellons, hash prospector, 2018)."""
    h ^= h >> 16
    h *= <uint32_t>0x7FEB352D
    h ^= h >> 15
    h *= <uint32_t>0x846CA68B
    h ^= h >> 16
    return h


cdef inline int64_t floor_of(double x) noexcept nogil:
    cdef int64_t i = <int64_t>x
    return i - (x < i)


cdef inline int64_t wrapped(int64_t i, int64_t period) noexcept nogil:
    """i as a number of 0..period - 1."""
    i = i % period
    return i + period if i < 0 else i


cdef inline double fade(double t) noexcept nogil:
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


cdef inline double fade_slope(double t) noexcept nogil:
    return 30.0 * t * t * (t * (t - 2.0) + 1.0)


cdef inline double low16(uint32_t h) noexcept nogil:
    return <double>(<int>(h & <uint32_t>0xFFFF)) - 32767.5


cdef inline double high16(uint32_t h) noexcept nogil:
    return <double>(<int>(h >> 16)) - 32767.5


cdef inline double bits10(uint32_t h, int shift) noexcept nogil:
    return <double>(<int>((h >> shift) & <uint32_t>0x3FF)) - 511.5


cdef inline void place(const double* p, int n, const double* octave, int axis, uint32_t prime,
                       Axis* a) noexcept nogil:
    """Where a block's coordinates lie in the octave's lattice."""
    cdef int i
    cdef double q, frequency = octave[0], offset = octave[2 + axis]
    cdef int64_t k, period = <int64_t>octave[9 + axis]
    for i in range(n):
        q = p[i] * frequency + offset
        k = floor_of(q)
        a.d[0][i] = q - k
        a.cell[0][i] = <uint32_t>k * prime
        if period > 0:
            a.cell[0][i] = <uint32_t>wrapped(k, period) * prime
            a.cell[1][i] = <uint32_t>wrapped(k + 1, period) * prime
    if period == 0:
        for i in range(n):
            a.cell[1][i] = a.cell[0][i] + prime
    for i in range(n):
        q = a.d[0][i]
        a.d[1][i] = q - 1.0
        a.w[1][i] = fade(q)
        a.w[0][i] = 1.0 - a.w[1][i]
        a.slope[i] = fade_slope(q)


# One row of corners: all with the same y. Their potential W (g . d) has the slopes dW/dx (g . d) + W gx and
# dW/dy (g . d) + W gy.
cdef inline void row2(const Axis* ax, const Axis* ay, int j, int n, const double* octave, bint blend,
                      Flow* f) noexcept nogil:
    cdef int i, k
    cdef double gx, gy, dot, sign = 1.0 if j else -1.0
    cdef double w0 = octave[7], w1 = octave[8]
    cdef uint32_t h, cell, seed0 = <uint32_t>octave[5], seed1 = <uint32_t>octave[6]
    for i in range(n):
        for k in range(2):
            cell = ay.cell[j][i] + ax.cell[k][i]
            h = scramble(cell ^ seed0)
            gx = low16(h)
            gy = high16(h)
            if blend:
                h = scramble(cell ^ seed1)
                gx = w0 * gx + w1 * low16(h)
                gy = w0 * gy + w1 * high16(h)
            dot = gx * ax.d[k][i] + gy * ay.d[j][i]
            f.u[i] = f.u[i] + ax.w[k][i] * (ay.w[j][i] * gy + sign * ay.slope[i] * dot)
            f.v[i] = f.v[i] - ay.w[j][i] * (ax.w[k][i] * gx + (1.0 if k else -1.0) * ax.slope[i] * dot)


cdef inline void curl2(const double* x, const double* y, int n, const double* octave, Flow* f) noexcept nogil:
    """Add one octave's 2-D velocity, not yet times its amplitude, to a block's u and v."""
    cdef Axis ax
    cdef Axis ay
    cdef int j
    place(x, n, octave, 0, <uint32_t>0x9E3779B1, &ax)
    place(y, n, octave, 1, <uint32_t>0x85EBCA77, &ay)
    for j in range(2):
        if octave[8] != 0.0:
            row2(&ax, &ay, j, n, octave, True, f)
        else:
            row2(&ax, &ay, j, n, octave, False, f)


# One row of corners: all with the same y and z. p, r, sy and sz are what both corners' weights, slopes and
# slopes times offsets have in common.
cdef inline void row3(const Axis* ax, const Axis* ay, const Axis* az, int j, int m, int n, const double* octave,
                      bint blend, Flow* f) noexcept nogil:
    cdef int i, k
    cdef double qx, qy, qz, p, r, sx, sy, sz, along, lean, dx, wx
    cdef double upper_y = 1.0 if j else -1.0, upper_z = 1.0 if m else -1.0
    cdef double w0 = octave[7], w1 = octave[8]
    cdef uint32_t h, cell, seed0 = <uint32_t>octave[5], seed1 = <uint32_t>octave[6]
    for i in range(n):
        p = ay.w[j][i] * az.w[m][i]
        sy = upper_y * ay.slope[i] * az.w[m][i]
        sz = upper_z * az.slope[i] * ay.w[j][i]
        r = sy * ay.d[j][i] + sz * az.d[m][i]
        for k in range(2):
            cell = az.cell[m][i] + ay.cell[j][i] + ax.cell[k][i]
            h = scramble(cell ^ seed0)
            qx = bits10(h, 0)
            qy = bits10(h, 10)
            qz = bits10(h, 20)
            if blend:
                h = scramble(cell ^ seed1)
                qx = w0 * qx + w1 * bits10(h, 0)
                qy = w0 * qy + w1 * bits10(h, 10)
                qz = w0 * qz + w1 * bits10(h, 20)
            dx = ax.d[k][i]
            wx = ax.w[k][i]
            sx = (1.0 if k else -1.0) * ax.slope[i]
            along = p * (wx + wx + sx * dx) + wx * r
            lean = sx * p * qx + wx * (sy * qy + sz * qz)
            f.u[i] = f.u[i] + (qx * along - dx * lean)
            f.v[i] = f.v[i] + (qy * along - ay.d[j][i] * lean)
            f.w[i] = f.w[i] + (qz * along - az.d[m][i] * lean)


cdef inline void curl3(const double* x, const double* y, const double* z, int n, const double* octave,
                       Flow* f) noexcept nogil:
    """Add one octave's 3-D velocity, not yet times its amplitude, to a block's u, v and w."""
    cdef Axis ax
    cdef Axis ay
    cdef Axis az
    cdef int j, m
    place(x, n, octave, 0, <uint32_t>0x9E3779B1, &ax)
    place(y, n, octave, 1, <uint32_t>0x85EBCA77, &ay)
    place(z, n, octave, 2, <uint32_t>0xC2B2AE3D, &az)
    for m in range(2):
        for j in range(2):
            if octave[8] != 0.0:
                row3(&ax, &ay, &az, j, m, n, octave, True, f)
            else:
                row3(&ax, &ay, &az, j, m, n, octave, False, f)
