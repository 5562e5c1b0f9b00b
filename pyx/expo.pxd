"""exp and log for stepped state: only +, -, *, / and exact scaling, so every platform gives the same bits.

exp(-x): x = k ln2 - r with |r| <= ln2 / 2, ln2 split in two so that k ln2_hi is exact (Cody, Waite 1980),
then the Taylor series of exp(r) to r^13 (its remainder is below 2e-17). log(x): x = m 2^k with m in
[sqrt(1/2), sqrt(2)), log m = 2 atanh((m - 1) / (m + 1)) by its series to the 23rd power. Both are good to
about 1e-15 relative.
"""

from libc.math cimport frexp, ldexp  # exact on every platform: they only move the exponent


cdef inline double exp_minus(double x) noexcept nogil:
    """exp(-x) for x >= 0 (infinity gives 0); x below 0 counts as 0."""
    cdef int k
    cdef double r, s
    if not x > 0.0:
        return 1.0
    if x > 700.0:
        return 0.0
    k = <int>(x * 1.4426950408889634 + 0.5)
    r = (k * 0.6931471803691238 - x) + k * 1.9082149292705877e-10
    s = 1.0 / 6227020800.0
    s = s * r + 1.0 / 479001600.0
    s = s * r + 1.0 / 39916800.0
    s = s * r + 1.0 / 3628800.0
    s = s * r + 1.0 / 362880.0
    s = s * r + 1.0 / 40320.0
    s = s * r + 1.0 / 5040.0
    s = s * r + 1.0 / 720.0
    s = s * r + 1.0 / 120.0
    s = s * r + 1.0 / 24.0
    s = s * r + 1.0 / 6.0
    s = s * r + 0.5
    s = s * r + 1.0
    s = s * r + 1.0
    return ldexp(s, -k)


cdef inline double log_of(double x) noexcept nogil:
    """Natural logarithm of x > 0."""
    cdef int k = 0, i
    cdef double m = frexp(x, &k), t, t2, s
    if m < 0.7071067811865476:
        m *= 2.0
        k -= 1
    t = (m - 1.0) / (m + 1.0)
    t2 = t * t
    s = 0.0
    for i in range(11, -1, -1):
        s = s * t2 + 1.0 / (2 * i + 1)
    return k * 0.6931471803691238 + (2.0 * t * s + k * 1.9082149292705877e-10)
