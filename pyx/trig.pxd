# Sine, cosine and exponential decay from our own polynomials: the same bits on every C library.
from libc.math cimport floor


cdef inline void sincos(double angle, double* sine, double* cosine) noexcept nogil:
    # Argument reduction to [-pi/4, pi/4] by a three-part pi/2 (Cody and Waite 1980), Taylor polynomials of order 17
    # and 16: truncation below 1e-18 there. An angle beyond 1e9, or NaN, counts as 0.
    cdef double turns, r, r2, s, c
    cdef long long k
    if not (-1e9 < angle < 1e9):
        sine[0] = 0.0
        cosine[0] = 1.0
        return
    turns = floor(angle * 0.63661977236758134308 + 0.5)
    k = <long long>turns & 3
    r = angle - turns * 1.57079632673412561417e+00
    r = (r - turns * 6.07710050630396597660e-11) - turns * 2.02226624879595063154e-21
    r2 = r * r
    s = -1.0 / 1307674368000.0 + r2 * (1.0 / 355687428096000.0)
    s = 1.0 / 6227020800.0 + r2 * s
    s = -1.0 / 39916800.0 + r2 * s
    s = 1.0 / 362880.0 + r2 * s
    s = -1.0 / 5040.0 + r2 * s
    s = 1.0 / 120.0 + r2 * s
    s = r + r * r2 * (-1.0 / 6.0 + r2 * s)
    c = -1.0 / 87178291200.0 + r2 * (1.0 / 20922789888000.0)
    c = 1.0 / 479001600.0 + r2 * c
    c = -1.0 / 3628800.0 + r2 * c
    c = 1.0 / 40320.0 + r2 * c
    c = -1.0 / 720.0 + r2 * c
    c = 1.0 / 24.0 + r2 * c
    c = 1.0 + r2 * (-0.5 + r2 * c)
    if k == 0:
        sine[0] = s
        cosine[0] = c
    elif k == 1:
        sine[0] = c
        cosine[0] = -s
    elif k == 2:
        sine[0] = -s
        cosine[0] = -c
    else:
        sine[0] = -c
        cosine[0] = s


cdef inline double decay(double x) noexcept nogil:
    # exp(-x) for x >= 0: halved until below 2^-5, Taylor to order 9 (error below 1e-17), squared back.
    cdef int i, halvings = 0
    cdef double t, y = x
    if not (x > 0.0):
        return 1.0
    if x > 700.0:
        return 0.0
    while y > 0.03125:
        y *= 0.5
        halvings += 1
    t = 1.0 - y / 9.0
    for i in range(8, 0, -1):
        t = 1.0 - y / i * t
    for i in range(halvings):
        t *= t
    return t
