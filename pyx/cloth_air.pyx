"""Cloth and air: the force of a wind on every triangle, and vertex normals.

Each triangle's own pass writes the triangle's row; then each particle adds up the rows of its triangles in a
fixed order, so that the bits do not depend on the number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt


cdef inline void cross(const double* x, const double* y, const double* z, int a, int b, int c,
                       double* n) noexcept nogil:
    cdef double ux = x[b] - x[a], uy = y[b] - y[a], uz = z[b] - z[a]
    cdef double vx = x[c] - x[a], vy = y[c] - y[a], vz = z[c] - z[a]
    n[0] = uy * vz - uz * vy
    n[1] = uz * vx - ux * vz
    n[2] = ux * vy - uy * vx


cdef void press(const double* x, const double* y, const double* z, const double* v, Py_ssize_t n, const double* air,
                const int* at, double drag, double lift, double density, double h, double* fx, double* fy,
                double* fz) noexcept nogil:
    """The change of momentum of one triangle in h seconds, a third of it for each of its particles.

    Along the unit normal n acts F = 1/2 rho A C |u_n| u_n, u the air's velocity relative to the triangle: of
    that, the part along u is the drag, the rest the lift, each with its own C. `density` is the sheet's mass
    per area: the speed along n is relaxed, u_n / (1 + k |u_n|) with k = 1/2 rho C h / density, so that no
    wind overshoots.
    """
    cdef double normal[3]
    cdef double ux = 0.0, uy = 0.0, uz = 0.0, size, along, speed, push, part, px, py, pz
    cdef int k, i
    fx[0] = fy[0] = fz[0] = 0.0
    cross(x, y, z, at[0], at[1], at[2], normal)
    size = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2])
    if size < 1e-12:
        return
    for k in range(3):
        i = at[k]
        ux = ux + air[3 * i] - v[i]
        uy = uy + air[3 * i + 1] - v[n + i]
        uz = uz + air[3 * i + 2] - v[2 * n + i]
        normal[k] = normal[k] / size
    ux = ux / 3.0
    uy = uy / 3.0
    uz = uz / 3.0
    along = ux * normal[0] + uy * normal[1] + uz * normal[2]
    push = (along if along > 0.0 else -along) * h / density
    push = 0.5 * size * along * push * density / (1.0 + push * (drag if drag > lift else lift)) / 3.0
    speed = ux * ux + uy * uy + uz * uz
    part = along / speed if speed > 1e-24 else 0.0  # the normal's part along the flow, per unit of u
    px = part * ux
    py = part * uy
    pz = part * uz
    fx[0] = push * (drag * px + lift * (normal[0] - px))
    fy[0] = push * (drag * py + lift * (normal[1] - py))
    fz[0] = push * (drag * pz + lift * (normal[2] - pz))


def blow(const double[:, ::1] x, double[:, ::1] v, const double[::1] w, const double[:, ::1] air,
         const int[:, ::1] triangles, const long long[::1] starts, const int[::1] faces, double drag, double lift,
         double density, double h, double[:, ::1] force, int threads):
    """v += w * (momentum from the air in h seconds). drag, lift: 1/2 rho C. faces[starts[i]:starts[i + 1]]
    are the triangles of particle i."""
    cdef Py_ssize_t f, i, k, n = x.shape[1], faces_ = triangles.shape[0]
    cdef double sx, sy, sz
    with nogil:
        for f in prange(faces_, schedule="static", num_threads=threads):
            press(&x[0, 0], &x[1, 0], &x[2, 0], &v[0, 0], n, &air[0, 0], &triangles[f, 0], drag, lift, density, h,
                  &force[0, f], &force[1, f], &force[2, f])
        for i in prange(n, schedule="static", num_threads=threads):
            sx = 0.0
            sy = 0.0
            sz = 0.0
            for k in range(starts[i], starts[i + 1]):
                sx = sx + force[0, faces[k]]
                sy = sy + force[1, faces[k]]
                sz = sz + force[2, faces[k]]
            v[0, i] = v[0, i] + w[i] * sx
            v[1, i] = v[1, i] + w[i] * sy
            v[2, i] = v[2, i] + w[i] * sz


def normals(const double[:, ::1] x, const int[:, ::1] triangles, const long long[::1] starts, const int[::1] faces,
            double[:, ::1] out, int threads):
    """out[i]: the unit normal of particle i, its triangles weighted by area; (0, 0, 1) where it has none."""
    cdef Py_ssize_t i, n = x.shape[1]
    with nogil:
        for i in prange(n, schedule="static", num_threads=threads):
            sum_normals(&x[0, 0], n, &triangles[0, 0], &faces[0], starts[i], starts[i + 1], &out[i, 0])


cdef void sum_normals(const double* x, Py_ssize_t n, const int* triangles, const int* faces, Py_ssize_t first,
                      Py_ssize_t last, double* out) noexcept nogil:
    cdef double one[3]
    cdef double sx = 0.0, sy = 0.0, sz = 0.0, size
    cdef Py_ssize_t k
    cdef const int* at
    for k in range(first, last):
        at = triangles + 3 * faces[k]
        cross(x, x + n, x + 2 * n, at[0], at[1], at[2], one)
        sx = sx + one[0]
        sy = sy + one[1]
        sz = sz + one[2]
    size = sqrt(sx * sx + sy * sy + sz * sz)
    if size > 1e-30:
        out[0] = sx / size
        out[1] = sy / size
        out[2] = sz / size
    else:
        out[0] = 0.0
        out[1] = 0.0
        out[2] = 1.0
