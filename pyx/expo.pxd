"""The natural logarithm for stepped state: only +, -, *, / and exact scaling, the same bits on every
platform.

x = m 2^k with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh((m - 1) / (m + 1)) by its series to the 23rd power,
ln2 split in two so that k ln2_hi is exact (Cody, Waite 1980): good to about 1e-15 relative.
"""

from libc.math cimport frexp  # exact on every platform: it only moves the exponent


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
