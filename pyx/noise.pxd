"""Lattice noise from an integer hash, and its curl in closed form.

Every lattice corner owns a random vector drawn by hashing its integer coordinates, so the noise is endless,
needs no table and gives the same bits everywhere. W is the product of the quintic fade 1 - (6 t^5 - 15 t^4 +
10 t^3) per axis (Perlin 2002: second derivatives continuous, so the velocity's first ones are), d the offset
from the corner.

2-D: potential psi = sum W (g . d) (gradient noise, Perlin 1985); velocity = (d psi / dy, -d psi / dx). 3-D:
vector potential A = sum W (q x d); its curl is sum q (2 W + grad W . d) - d (grad W . q): three random
numbers a corner instead of nine. Both are curls, hence divergence-free (Bridson, Hourihan, Nordenstam 2007).

Time: each corner's vector is w0 r(k) + w1 r(k + 1) between two slices of time, with w0^2 + w1^2 = 1, so that
the field's rms does not pulse.
"""

from libc.stdint cimport int64_t, uint32_t

cdef enum:
    OCTAVE_WIDTH = 12  # frequency, amplitude, offset xyz, seed 0, seed 1, w0, w1, period in cells xyz


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
    if period > 0:
        i = i % period
        if i < 0:
            i += period
    return i


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


cdef inline void corner2(uint32_t cell, const double* octave, double* gx, double* gy) noexcept nogil:
    """A corner's gradient, each part in +-32767.5, blended between two slices of time."""
    cdef uint32_t h = scramble(cell ^ <uint32_t>octave[5])
    gx[0] = low16(h)
    gy[0] = high16(h)
    if octave[8] != 0.0:
        h = scramble(cell ^ <uint32_t>octave[6])
        gx[0] = octave[7] * gx[0] + octave[8] * low16(h)
        gy[0] = octave[7] * gy[0] + octave[8] * high16(h)


cdef inline void curl2(double x, double y, const double* octave, double* u, double* v) noexcept nogil:
    """Add one octave's 2-D velocity at (x, y) to u and v."""
    cdef double px = x * octave[0] + octave[2], py = y * octave[0] + octave[3]
    cdef int64_t ix = floor_of(px), iy = floor_of(py)
    cdef double fx = px - ix, fy = py - iy
    cdef uint32_t x0 = <uint32_t>wrapped(ix, <int64_t>octave[9]) * <uint32_t>0x9E3779B1
    cdef uint32_t x1 = <uint32_t>wrapped(ix + 1, <int64_t>octave[9]) * <uint32_t>0x9E3779B1
    cdef uint32_t y0 = <uint32_t>wrapped(iy, <int64_t>octave[10]) * <uint32_t>0x85EBCA77
    cdef uint32_t y1 = <uint32_t>wrapped(iy + 1, <int64_t>octave[10]) * <uint32_t>0x85EBCA77
    cdef double sx = fade(fx), sy = fade(fy), dx = fade_slope(fx), dy = fade_slope(fy)
    cdef double ax, ay, bx, by, cx, cy, ex, ey, a, b, c, e, gx, gy
    corner2(x0 + y0, octave, &ax, &ay)
    corner2(x1 + y0, octave, &bx, &by)
    corner2(x0 + y1, octave, &cx, &cy)
    corner2(x1 + y1, octave, &ex, &ey)
    a = ax * fx + ay * fy
    b = bx * (fx - 1.0) + by * fy
    c = cx * fx + cy * (fy - 1.0)
    e = ex * (fx - 1.0) + ey * (fy - 1.0)
    gx = ax + sx * (bx - ax) + sy * ((cx - ax) + sx * ((ex - cx) - (bx - ax)))
    gx = gx + dx * ((b - a) + sy * ((e - c) - (b - a)))
    gy = ay + sx * (by - ay) + sy * ((cy - ay) + sx * ((ey - cy) - (by - ay)))
    gy = gy + dy * ((c - a) + sx * ((e - c) - (b - a)))
    u[0] += octave[1] * gy
    v[0] -= octave[1] * gx


cdef inline void curl3(double x, double y, double z, const double* octave, double* u, double* v,
                       double* w) noexcept nogil:
    """Add one octave's 3-D velocity at (x, y, z) to u, v and w."""
    cdef double px = x * octave[0] + octave[2], py = y * octave[0] + octave[3], pz = z * octave[0] + octave[4]
    cdef int64_t ix = floor_of(px), iy = floor_of(py), iz = floor_of(pz)
    cdef double fx = px - ix, fy = py - iy, fz = pz - iz
    cdef double sx = fade(fx), sy = fade(fy), sz = fade(fz)
    cdef double tx = fade_slope(fx), ty = fade_slope(fy), tz = fade_slope(fz)
    cdef double wx, wy, wz, gx, gy, gz, dx, dy, dz, weight, qx, qy, qz, along, lean
    cdef double su = 0.0, sv = 0.0, sw = 0.0
    cdef uint32_t hx, hy, hz, h
    cdef int i, j, k
    for k in range(2):
        hz = <uint32_t>wrapped(iz + k, <int64_t>octave[11]) * <uint32_t>0xC2B2AE3D
        wz = sz if k else 1.0 - sz
        dz = fz - k
        for j in range(2):
            hy = hz + <uint32_t>wrapped(iy + j, <int64_t>octave[10]) * <uint32_t>0x85EBCA77
            wy = sy if j else 1.0 - sy
            dy = fy - j
            for i in range(2):
                hx = hy + <uint32_t>wrapped(ix + i, <int64_t>octave[9]) * <uint32_t>0x9E3779B1
                wx = sx if i else 1.0 - sx
                dx = fx - i
                h = scramble(hx ^ <uint32_t>octave[5])
                qx = bits10(h, 0)
                qy = bits10(h, 10)
                qz = bits10(h, 20)
                if octave[8] != 0.0:
                    h = scramble(hx ^ <uint32_t>octave[6])
                    qx = octave[7] * qx + octave[8] * bits10(h, 0)
                    qy = octave[7] * qy + octave[8] * bits10(h, 10)
                    qz = octave[7] * qz + octave[8] * bits10(h, 20)
                gx = (tx if i else -tx) * wy * wz
                gy = (ty if j else -ty) * wx * wz
                gz = (tz if k else -tz) * wx * wy
                weight = wx * wy * wz
                along = 2.0 * weight + gx * dx + gy * dy + gz * dz
                lean = gx * qx + gy * qy + gz * qz
                su = su + qx * along - dx * lean
                sv = sv + qy * along - dy * lean
                sw = sw + qz * along - dz * lean
    u[0] += octave[1] * su
    v[0] += octave[1] * sv
    w[0] += octave[1] * sw
