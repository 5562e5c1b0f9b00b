# Symmetric matrices of up to four rows, and the rotation nearest to a matrix.
from libc.math cimport fabs, sqrt


cdef inline void jacobi(double* a, double* v, int n) noexcept nogil:
    # Eigenvalues onto the diagonal of a (n x n, symmetric, destroyed), eigenvectors into the columns of v: cyclic
    # Jacobi rotations (Golub and Van Loan, "Matrix computations", 8.5).
    cdef int sweep, p, q, k
    cdef double off, diag, theta, t, c, s, x, y
    for p in range(n):
        for q in range(n):
            v[n * p + q] = 1.0 if p == q else 0.0
    for sweep in range(12):
        off = 0.0
        diag = 0.0
        for p in range(n):
            diag += fabs(a[n * p + p])
            for q in range(p + 1, n):
                off += fabs(a[n * p + q])
        if off <= 1e-16 * diag or off < 1e-290:
            return
        for p in range(n - 1):
            for q in range(p + 1, n):
                if fabs(a[n * p + q]) < 1e-300:
                    continue
                theta = 0.5 * (a[n * q + q] - a[n * p + p]) / a[n * p + q]
                if fabs(theta) > 1e150:
                    t = 0.5 / theta
                else:
                    t = 1.0 / (fabs(theta) + sqrt(theta * theta + 1.0))
                    if theta < 0.0:
                        t = -t
                c = 1.0 / sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    x = a[n * k + p]
                    y = a[n * k + q]
                    a[n * k + p] = c * x - s * y
                    a[n * k + q] = s * x + c * y
                for k in range(n):
                    x = a[n * p + k]
                    y = a[n * q + k]
                    a[n * p + k] = c * x - s * y
                    a[n * q + k] = s * x + c * y
                for k in range(n):
                    x = v[n * k + p]
                    y = v[n * k + q]
                    v[n * k + p] = c * x - s * y
                    v[n * k + q] = s * x + c * y


cdef inline void nearest_rotation(const double* m, double* r) noexcept nogil:
    # The rotation r that maximises trace(r^T m), m = sum of weight * new * old^T: the unit quaternion is the
    # eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix (Horn 1987, "Closed-form solution of absolute
    # orientation using unit quaternions"). Never a reflection; for m = 0 the identity.
    cdef double a[16]
    cdef double v[16]
    cdef double w, x, y, z, size
    cdef int k, best = 0
    a[0] = m[0] + m[4] + m[8]
    a[5] = m[0] - m[4] - m[8]
    a[10] = m[4] - m[0] - m[8]
    a[15] = m[8] - m[0] - m[4]
    a[1] = m[7] - m[5]
    a[2] = m[2] - m[6]
    a[3] = m[3] - m[1]
    a[6] = m[1] + m[3]
    a[7] = m[2] + m[6]
    a[11] = m[5] + m[7]
    a[4] = a[1]
    a[8] = a[2]
    a[12] = a[3]
    a[9] = a[6]
    a[13] = a[7]
    a[14] = a[11]
    jacobi(a, v, 4)
    for k in range(1, 4):
        if a[5 * k] > a[5 * best]:
            best = k
    w = v[best]
    x = v[4 + best]
    y = v[8 + best]
    z = v[12 + best]
    size = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    w *= size
    x *= size
    y *= size
    z *= size
    r[0] = 1.0 - 2.0 * (y * y + z * z)
    r[1] = 2.0 * (x * y - w * z)
    r[2] = 2.0 * (x * z + w * y)
    r[3] = 2.0 * (x * y + w * z)
    r[4] = 1.0 - 2.0 * (x * x + z * z)
    r[5] = 2.0 * (y * z - w * x)
    r[6] = 2.0 * (x * z - w * y)
    r[7] = 2.0 * (y * z + w * x)
    r[8] = 1.0 - 2.0 * (x * x + y * y)
