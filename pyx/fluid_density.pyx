"""The local density constraint and viscosity of planar fluid particles.

PBF (Macklin, Mueller 2013) in two dimensions, as displacements only: the grid's pressure already gave the velocities.
q = r / reach. Density kernel W = 4 / (pi reach^2) (1 - q^2)^3, gradient kernel 10 / (pi reach^3) * 3 (1 - q)^2 (the
gradient of the spiky kernel), volumes in units where a particle at rest fills its own area.
"""

from cython.parallel cimport prange
from libc.math cimport sqrtf

cdef float GAP = 0.7         # how much weaker a gap pulls than a crowd pushes
cdef float OPEN = 0.5        # 1 / size of the summed gradient, times reach, at which there is no pull


cdef void chunk_density(const float* x, const float* y, const float* volume, const float* wall, int first, int last,
                        float reach, const int* begin, const int* count, const int* pairs, float relax,
                        float* density, float* scale) noexcept nogil:
    cdef int i, j, k, m, stop
    cdef float inv = 1 / reach, inv2 = inv * inv, dx, dy, r2, t, s, rho, gx, gy, own, c, gk, r
    cdef float norm = <float>1.2732395447351628 * inv2, grad = <float>9.549296585513721 * inv * inv2
    for i in range(first, last):
        rho = volume[i]
        gx = 0
        gy = 0
        own = 0
        for m in range(begin[i], begin[i] + count[i]):
            j = pairs[m]
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            r2 = dx * dx + dy * dy
            t = 1 - r2 * inv2
            t = t if t > 0 else 0
            rho = rho + volume[j] * t * t * t
            r = sqrtf(r2) + <float>1e-9
            s = 1 - r * inv
            s = s if s > 0 else 0
            gk = volume[j] * s * s
            own = own + gk * gk
            gk = gk / r
            gx = gx + gk * dx
            gy = gy + gk * dy
        rho = rho * norm + wall[3 * i]
        density[i] = rho
        gx = gx * grad + wall[3 * i + 1]
        gy = gy * grad + wall[3 * i + 2]
        own = own * grad * grad + gx * gx + gy * gy
        c = rho - 1
        if c < 0:
            # a small gap closes where liquid is all round: the gradient is large near a surface, the gap in spray
            s = 1 - sqrtf(gx * gx + gy * gy) * reach * OPEN
            t = 1 + 4 * c
            c = c * GAP * s * t if s > 0 and t > 0 else 0
        scale[i] = relax * c / (own + <float>0.02 * grad * grad * volume[i] * volume[i])


cdef void chunk_move(const float* x, const float* y, const float* volume, const float* weight, const float* wall,
                     int first, int last, float reach, const int* begin, const int* count, const int* pairs,
                     const float* scale, float spread, float cap, float* nx, float* ny) noexcept nogil:
    cdef int i, j, m
    cdef float inv = 1 / reach, inv2 = inv * inv, dx, dy, r2, r, s, gk, px, py, f, a, apart, dup
    cdef float grad = <float>9.549296585513721 * inv * inv2
    for i in range(first, last):
        px = 0
        py = 0
        for m in range(begin[i], begin[i] + count[i]):
            j = pairs[m]
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            r2 = dx * dx + dy * dy
            if r2 < <float>1e-12 * reach * reach:
                # particles at one place part along a direction fixed by their places in the order
                dx = reach * <float>1e-3 * (1 if i > j else -1)
                dy = reach * <float>1e-3 * (((i + j) % 7) - 3) * <float>0.3 * (1 if i > j else -1)
                r2 = dx * dx + dy * dy
            r = sqrtf(r2)
            s = 1 - r * inv
            s = s if s > 0 else 0
            f = (scale[i] * volume[j] + scale[j] * volume[i]) * grad * s * s
            apart = <float>0.36 - r * inv
            if apart > 0:
                f = f + spread * apart * reach
            f = f / r * 2 * weight[i] / (weight[i] + weight[j])
            px = px + f * dx
            py = py + f * dy
        px = px + scale[i] * wall[3 * i + 1]
        py = py + scale[i] * wall[3 * i + 2]
        r2 = px * px + py * py
        if r2 > cap * cap:
            r = cap / sqrtf(r2)
            px = px * r
            py = py * r
        nx[i] = x[i] + px
        ny[i] = y[i] + py


def density(const float[::1] x, const float[::1] y, const float[::1] volume, const float[::1] wall, int n, float reach,
            const int[::1] begin, const int[::1] count, const int[::1] pairs, float relax, float[::1] out,
            float[::1] scale, int chunk, int threads):
    """Density of each particle (1 at rest) and its multiplier.

    C_i = density_i - 1 >= 0; scale_i = relax * C_i / sum_k |grad_k C_i|^2. wall: per particle the density that solid
    walls stand for and its gradient, interleaved.
    """
    cdef int c, chunks = (n + chunk - 1) // chunk
    if n == 0:
        return
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        chunk_density(&x[0], &y[0], &volume[0], &wall[0], c * chunk, (c + 1) * chunk if (c + 1) * chunk < n else n,
                      reach, &begin[0], &count[0], &pairs[0] if pairs.shape[0] else NULL, relax, &out[0], &scale[0])


def move(const float[::1] x, const float[::1] y, const float[::1] volume, const float[::1] weight,
         const float[::1] wall, int n, float reach, const int[::1] begin, const int[::1] count, const int[::1] pairs,
         const float[::1] scale, float spread, float cap, float[::1] nx, float[::1] ny, int chunk, int threads):
    """Displace the particles by their multipliers: dx_i = sum_j (scale_i + scale_j) grad W_ij.

    weight is the inverse mass: a pair's centre of mass stays put. spread: extra push of pairs closer than 0.36 reach; cap: longest displacement.
    """
    cdef int c, chunks = (n + chunk - 1) // chunk
    if n == 0:
        return
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        chunk_move(&x[0], &y[0], &volume[0], &weight[0], &wall[0], c * chunk,
                   (c + 1) * chunk if (c + 1) * chunk < n else n, reach, &begin[0], &count[0], &pairs[0], &scale[0],
                   spread, cap, &nx[0], &ny[0])


cdef void chunk_drag(const float* x, const float* y, const float* vx, const float* vy, const float* mass,
                     const unsigned char* kind, const float* share, int first, int last, float reach, const int* begin, const int* count,
                     const int* pairs, float* ux, float* uy) noexcept nogil:
    cdef int i, j, m
    cdef float inv2 = 1 / (reach * reach), norm = <float>1.2732395447351628 * inv2
    cdef float dx, dy, r2, t, w, ax, ay, si
    for i in range(first, last):
        ax = 0
        ay = 0
        si = share[2 * kind[i]]
        for m in range(begin[i], begin[i] + count[i]):
            j = pairs[m]
            dx = x[i] - x[j]
            dy = y[i] - y[j]
            r2 = dx * dx + dy * dy
            t = 1 - r2 * inv2
            if t <= 0:
                continue
            # symmetric in i and j but for the mass of the other: momentum stays
            w = t * t * t * norm * (si + share[2 * kind[j]]) / (share[2 * kind[i] + 1] + share[2 * kind[j] + 1])
            w = w * mass[j]
            ax = ax + w * (vx[j] - vx[i])
            ay = ay + w * (vy[j] - vy[i])
        ux[i] = vx[i] + ax
        uy[i] = vy[i] + ay


def drag(const float[::1] x, const float[::1] y, const float[::1] vx, const float[::1] vy, const float[::1] mass,
         const unsigned char[::1] kind, const float[::1] share, int n, float reach, const int[::1] begin, const int[::1] count,
         const int[::1] pairs, float[::1] ux, float[::1] uy, int chunk, int threads):
    """XSPH viscosity (Monaghan 1989; PBF), equal and opposite within a pair.

    Velocity moves by the kind's share of the way to the neighbours' mean velocity; share holds (share, rest density) by
    kind.
    """
    cdef int c, chunks = (n + chunk - 1) // chunk
    if n == 0:
        return
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        chunk_drag(&x[0], &y[0], &vx[0], &vy[0], &mass[0], &kind[0], &share[0],
                   c * chunk, (c + 1) * chunk if (c + 1) * chunk < n else n, reach, &begin[0], &count[0], &pairs[0],
                   &ux[0], &uy[0])
