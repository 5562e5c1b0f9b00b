"""Loading, moving and storing planar fluid particles; vorticity confinement on the pressure grid."""

from cython.parallel cimport prange
from libc.math cimport sqrtf

from trig cimport decay


def load(const double[:, ::1] points, const double[:, ::1] velocities, int n, int first, double ox, double oy,
         unsigned char kind, float[::1] x, float[::1] y, float[::1] vx, float[::1] vy, unsigned char[::1] kinds,
         int[::1] place):
    """One fluid's particles, in doubles, into the places first ... first + n, in floats from (ox, oy)."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(n):
            x[first + i] = <float>(points[i, 0] - ox)
            y[first + i] = <float>(points[i, 1] - oy)
            vx[first + i] = <float>velocities[i, 0]
            vy[first + i] = <float>velocities[i, 1]
            kinds[first + i] = kind
            place[first + i] = <int>(first + i)


def store(const float[::1] x, const float[::1] y, const float[::1] vx, const float[::1] vy, const float[::1] density,
          const unsigned char[::1] kinds, const int[::1] place, int n, unsigned char kind, int first, double ox,
          double oy, double[:, ::1] points, double[:, ::1] velocities, double[::1] densities, double unit):
    """Back: every particle of one kind to its own row."""
    cdef Py_ssize_t k, i
    with nogil:
        for k in range(n):
            if kinds[k] == kind:
                i = place[k] - first
                points[i, 0] = ox + x[k]
                points[i, 1] = oy + y[k]
                velocities[i, 0] = vx[k]
                velocities[i, 1] = vy[k]
                densities[i] = unit * density[k]


def by_kind(const unsigned char[::1] kinds, int n, const float[::1] table, float[::1] out):
    """out[k] = table[kinds[k]]."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            out[k] = table[kinds[k]]


def pull(float[::1] vx, float[::1] vy, const unsigned char[::1] kinds, int n, const float[::1] keep,
         const float[::1] settle, float slow2, float gx, float gy):
    """v = keep * v / (1 + settle / (1 + v^2 / slow2)) + g; keep (what damping leaves) and settle by kind."""
    cdef Py_ssize_t k
    cdef float f, inv = 1 / slow2 if slow2 > 0 else <float>1e30
    with nogil:
        for k in range(n):
            f = (vx[k] * vx[k] + vy[k] * vy[k]) * inv
            f = keep[kinds[k]] / (1 + settle[kinds[k]] / (1 + f))
            vx[k] = f * vx[k] + gx
            vy[k] = f * vy[k] + gy


cdef int chunk_advance(float* x, float* y, float* vx, float* vy, float* x0, float* y0, int first, int last, float h,
                       float cap) noexcept nogil:
    cdef int k, capped = 0
    cdef float s
    for k in range(first, last):
        s = vx[k] * vx[k] + vy[k] * vy[k]
        if not (s <= cap * cap):
            capped += 1
            if s == s and s < <float>1e30:
                s = cap / sqrtf(s)
                vx[k] = vx[k] * s
                vy[k] = vy[k] * s
            else:
                vx[k] = 0
                vy[k] = 0
        x0[k] = x[k]
        y0[k] = y[k]
        x[k] = x[k] + h * vx[k]
        y[k] = y[k] + h * vy[k]
    return capped


def advance(float[::1] x, float[::1] y, float[::1] vx, float[::1] vy, float[::1] x0, float[::1] y0, int n, float h,
            float cap, int[::1] counts, int chunk, int threads):
    """x = x0 + h v with speeds cut down to cap; returns how many were."""
    cdef int c, chunks = (n + chunk - 1) // chunk, total = 0
    if n == 0:
        return 0
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        counts[c] = chunk_advance(&x[0], &y[0], &vx[0], &vy[0], &x0[0], &y0[0], c * chunk,
                                  (c + 1) * chunk if (c + 1) * chunk < n else n, h, cap)
    for c in range(chunks):
        total += counts[c]
    return total


cdef inline float speed_at(const float* face, int c) noexcept nogil:
    return face[4 * c + 2] / face[4 * c + 1] if face[4 * c + 1] > <float>1e-6 else 0


def confine(const float[::1] u, const float[::1] v, const unsigned char[::1] wet, int nx, int ny, float strength,
            float[::1] curl, float[::1] du, float[::1] dv):
    """Add vorticity confinement (Fedkiw, Stam, Jensen 2001) to the faces' velocity changes: strength * (N x omega).

    omega: curl at the cells' lower left corners, per cell size; N: unit gradient of |omega|. strength is in cell sizes
    a step.
    """
    cdef int i, j, c, s = nx + 1
    cdef float gx, gy, size, force
    with nogil:
        for c in range((nx + 1) * (ny + 1)):
            curl[c] = 0
        for j in range(1, ny):
            for i in range(1, nx):
                c = j * s + i
                if wet[c] and wet[c - 1] and wet[c - s] and wet[c - s - 1]:
                    curl[c] = speed_at(&v[0], c) - speed_at(&v[0], c - 1) - speed_at(&u[0], c) + speed_at(&u[0], c - s)
        for j in range(2, ny - 1):
            for i in range(2, nx - 1):
                c = j * s + i
                if curl[c] == 0:
                    continue
                gx = <float>0.5 * (abs_of(curl[c + 1]) - abs_of(curl[c - 1]))
                gy = <float>0.5 * (abs_of(curl[c + s]) - abs_of(curl[c - s]))
                size = sqrtf(gx * gx + gy * gy)
                if size < <float>1e-6:
                    continue
                force = strength * curl[c] / size
                du[c] += <float>0.5 * force * gy
                du[c - s] += <float>0.5 * force * gy
                dv[c] -= <float>0.5 * force * gx
                dv[c - 1] -= <float>0.5 * force * gx


cdef inline float abs_of(float a) noexcept nogil:
    return a if a > 0 else -a


def left_after(double rate, double time):
    """exp(-rate * time), the same bits everywhere."""
    return decay(rate * time)


def blend(const float[:, ::1] colors, const int[::1] place, const int[::1] begin, const int[::1] count,
          const int[::1] pairs, const unsigned char[::1] kinds, int n, unsigned char kind, int first, float share,
          float[:, ::1] out):
    """Move every particle's colour by `share` of the way to the mean of its neighbours of the same fluid."""
    cdef Py_ssize_t k, m, i, j, c, near
    cdef float total[4]
    with nogil:
        for k in range(n):
            if kinds[k] != kind:
                continue
            i = place[k] - first
            near = 0
            for c in range(4):
                total[c] = 0
            for m in range(begin[k], begin[k] + count[k]):
                if kinds[pairs[m]] == kind:
                    j = place[pairs[m]] - first
                    near += 1
                    for c in range(4):
                        total[c] = total[c] + colors[j, c]
            for c in range(4):
                out[i, c] = colors[i, c] + (share * (total[c] / near - colors[i, c]) if near > 0 else 0)


def momentum(const float[::1] vx, const float[::1] vy, const float[::1] mass, int n):
    """(mass, momentum x, momentum y) of all particles, in doubles, in their order."""
    cdef Py_ssize_t k
    cdef double m = 0, x = 0, y = 0
    with nogil:
        for k in range(n):
            m += mass[k]
            x += <double>mass[k] * vx[k]
            y += <double>mass[k] * vy[k]
    return m, x, y


def shift(float[::1] vx, float[::1] vy, int n, float x, float y):
    """Add one velocity to all."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            vx[k] += x
            vy[k] += y
