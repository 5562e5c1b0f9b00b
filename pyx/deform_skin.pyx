"""Skin vertices inside cage cells.

A vertex at (s, t) of its cell, 0 to 1 each, is at (1-s)(1-t) P00 + s (1-t) P10 + (1-s) t P01 + s t P11, in space with a
third factor. On an edge of a cell only that edge's two corners count: vertices that fragments share stay together,
whichever of the two cells each is bound to. A vertex that is not in the cage's sheet keeps its distance from it along
the sheet's normal.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt


cdef inline void cell_point(const double* p, const int* corner, const double* at, int size, int axes,
                            double* out) noexcept nogil:
    cdef double f
    cdef int c, k
    cdef const double* p0 = p + size * corner[0]
    for k in range(size):
        out[k] = 0.0
    for c in range(1, 1 << axes):
        f = 1.0
        for k in range(axes):
            f = f * (at[k] if (c >> k) & 1 else 1.0 - at[k])
        for k in range(size):
            out[k] = out[k] + f * (p[size * corner[c] + k] - p0[k])
    for k in range(size):
        out[k] = out[k] + p0[k]


cdef inline void cell_slope(const double* p, const int* corner, const double* at, int size, int axes, int axis,
                            double* out) noexcept nogil:
    """Derivative of the point along one side of its cell."""
    cdef double f
    cdef int c, k
    for k in range(size):
        out[k] = 0.0
    for c in range(1 << axes):
        f = 1.0 if (c >> axis) & 1 else -1.0
        for k in range(axes):
            if k != axis:
                f = f * (at[k] if (c >> k) & 1 else 1.0 - at[k])
        for k in range(size):
            out[k] = out[k] + f * p[size * corner[c] + k]


cdef inline void flat_cell(const double* p, const int* corner, double s, double t, double* out) noexcept nogil:
    cdef const double* a = p + 2 * corner[0]
    cdef const double* b = p + 2 * corner[1]
    cdef const double* c = p + 2 * corner[2]
    cdef const double* d = p + 2 * corner[3]
    cdef double fb = s * (1.0 - t), fc = (1.0 - s) * t, fd = s * t
    out[0] = a[0] + (fb * (b[0] - a[0]) + fc * (c[0] - a[0]) + fd * (d[0] - a[0]))
    out[1] = a[1] + (fb * (b[1] - a[1]) + fc * (c[1] - a[1]) + fd * (d[1] - a[1]))


cdef inline void cross(const double* a, const double* b, double* out) noexcept nogil:
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


def place(const double[:, ::1] points, const int[:, ::1] corners, const double[:, ::1] at, const double[::1] height,
          double[:, ::1] out, int threads):
    """corners: (n, 2^axes) points of each vertex's cell; at: (n, axes) place in it; height: (n,) distance from the
    sheet, or (0,)."""
    cdef Py_ssize_t i
    cdef int size = points.shape[1], axes = at.shape[1]
    cdef bint lifted = height.shape[0] > 0
    with nogil:
        if size == 2 and axes == 2:
            for i in prange(out.shape[0], schedule="static", num_threads=threads):
                flat_cell(&points[0, 0], &corners[i, 0], at[i, 0], at[i, 1], &out[i, 0])
        else:
            for i in prange(out.shape[0], schedule="static", num_threads=threads):
                cell_point(&points[0, 0], &corners[i, 0], &at[i, 0], size, axes, &out[i, 0])
                if lifted:
                    lift(&points[0, 0], &corners[i, 0], &at[i, 0], size, axes, height[i], &out[i, 0])


cdef void lift(const double* p, const int* corner, const double* at, int size, int axes, double height,
               double* out) noexcept nogil:
    cdef double a[3]
    cdef double b[3]
    cdef double n[3]
    cdef double length
    cdef int k
    sheet_normal(p, corner, at, size, axes, a, b, n)
    length = 0.0
    for k in range(size):
        length = length + n[k] * n[k]
    length = sqrt(length)
    if length > 1e-150:
        for k in range(size):
            out[k] = out[k] + height / length * n[k]


cdef inline void sheet_normal(const double* p, const int* corner, const double* at, int size, int axes, double* a,
                              double* b, double* n) noexcept nogil:
    """A right angle to the cell's sides: to two in space, to one in the plane."""
    cell_slope(p, corner, at, size, axes, 0, a)
    if size == 2:
        n[0] = -a[1]
        n[1] = a[0]
    else:
        cell_slope(p, corner, at, size, axes, 1, b)
        cross(a, b, n)


cdef void turn_normal(const double* p, const int* corner, const double* at, const double* side, int size, int axes,
                      const double* rest, double* out) noexcept nogil:
    """Normals go with the cofactors of the cell's deformation F: n' ~ cof(F) n, cof(F) = det(F) F^-T. With columns
    f_k = dx/dX_k of F, cof(F) has the columns f_1 x f_2, f_2 x f_0, f_0 x f_1."""
    cdef double f[9]
    cdef double c[9]
    cdef double length = 0.0, unit = 1.0
    cdef int j, k
    for k in range(axes):
        cell_slope(p, corner, at, size, axes, k, f + 3 * k)
        for j in range(size):
            f[3 * k + j] = f[3 * k + j] / side[k]
    if size == 2:
        if axes == 1:
            f[3] = -f[1]
            f[4] = f[0]
        out[0] = rest[0] * f[4] - rest[1] * f[1]
        out[1] = -rest[0] * f[3] + rest[1] * f[0]
    else:
        if axes == 2:
            cross(f, f + 3, f + 6)
            unit = sqrt(f[6] * f[6] + f[7] * f[7] + f[8] * f[8])
            unit = 1.0 / unit if unit > 1e-150 else 0.0
            for j in range(3):
                f[6 + j] = f[6 + j] * unit
        cross(f + 3, f + 6, c)
        cross(f + 6, f, c + 3)
        cross(f, f + 3, c + 6)
        for j in range(3):
            out[j] = c[j] * rest[0] + c[3 + j] * rest[1] + c[6 + j] * rest[2]
    for j in range(size):
        length = length + out[j] * out[j]
    length = sqrt(length)
    if length > 1e-150:
        for j in range(size):
            out[j] = out[j] / length
    else:
        for j in range(size):
            out[j] = rest[j]


def turn(const double[:, ::1] points, const int[:, ::1] corners, const double[:, ::1] at, const double[:, ::1] side,
         const double[:, ::1] normals, double[:, ::1] out, int threads):
    """Unit normals after the deformation. side: (n, axes) rest lengths of each vertex's cell; normals: at rest, along
    the cell's axes, then along the right angle to them."""
    cdef Py_ssize_t i
    cdef int size = points.shape[1], axes = at.shape[1]
    with nogil:
        for i in prange(out.shape[0], schedule="static", num_threads=threads):
            turn_normal(&points[0, 0], &corners[i, 0], &at[i, 0], &side[i, 0], size, axes, &normals[i, 0], &out[i, 0])
