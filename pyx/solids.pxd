"""Signed distance to one collider, inline: 3-D solids, and pymunk's 2-D shapes as prisms along z.

A collider is a row of numbers in its own frame: `kind`, eight sizes `s`, and for polygons a run of vertices.
The distance is negative inside; (n[0], n[1], n[2]) is its unit gradient. Exact outside; inside exact to the
nearest face.
"""

from libc.math cimport fabs, sqrt

cdef enum:
    SPHERE = 0   # s: radius, centre (3)
    CAPSULE = 1  # s: radius, a (3), b (3)
    BOX = 2      # s: half sizes (3)
    PLANE = 3    # the points with local y > 0 are outside
    DISC = 4     # prism; s: radius, centre x, y, -, -, -, z_min, z_max
    SEGMENT = 5  # prism; s: radius, a (2), b (2), -, z_min, z_max
    POLYGON = 6  # prism; s: radius, -, count, -, -, -, z_min, z_max


cdef inline double unit(double x, double y, double z, double* n) noexcept nogil:
    cdef double size = sqrt(x * x + y * y + z * z)
    if size > 1e-150:
        n[0] = x / size
        n[1] = y / size
        n[2] = z / size
    else:
        n[0] = 0.0
        n[1] = -1.0
        n[2] = 0.0
    return size


cdef inline double segment_offset(double px, double py, double pz, double ax, double ay, double az, double bx,
                                  double by, double bz, double* n) noexcept nogil:
    """Distance to the segment a-b, n away from it."""
    cdef double dx = bx - ax, dy = by - ay, dz = bz - az
    cdef double t = dx * dx + dy * dy + dz * dz
    if t > 0.0:
        t = ((px - ax) * dx + (py - ay) * dy + (pz - az) * dz) / t
    t = 0.0 if t < 0.0 else (1.0 if t > 1.0 else t)
    dx = px - ax - t * dx
    dy = py - ay - t * dy
    dz = pz - az - t * dz
    if dx * dx + dy * dy + dz * dz < 1e-24:  # on the segment itself: any side, but always the same one
        dx = by - ay
        dy = ax - bx
        dz = 0.0
        t = unit(dx, dy, dz, n)
        return 0.0
    return unit(dx, dy, dz, n)


cdef inline double box_distance(const double* s, double x, double y, double z, double* n) noexcept nogil:
    cdef double qx = fabs(x) - s[0], qy = fabs(y) - s[1], qz = fabs(z) - s[2]
    cdef double sx = -1.0 if x < 0.0 else 1.0, sy = -1.0 if y < 0.0 else 1.0, sz = -1.0 if z < 0.0 else 1.0
    if qx <= 0.0 and qy <= 0.0 and qz <= 0.0:
        n[0] = 0.0
        n[1] = 0.0
        n[2] = 0.0
        if qx >= qy and qx >= qz:
            n[0] = sx
            return qx
        if qy >= qz:
            n[1] = sy
            return qy
        n[2] = sz
        return qz
    return unit(sx * (qx if qx > 0.0 else 0.0), sy * (qy if qy > 0.0 else 0.0), sz * (qz if qz > 0.0 else 0.0), n)


cdef inline double polygon_distance(const double* v, int count, double x, double y, double* n) noexcept nogil:
    """Convex polygon, counter-clockwise in its own frame; v: x, y, edge normal x, y of each vertex."""
    cdef int i, j
    cdef double out, best = -1e300, near = 1e300, gap
    cdef double m[3]
    for i in range(count):
        out = (x - v[4 * i]) * v[4 * i + 2] + (y - v[4 * i + 1]) * v[4 * i + 3]
        if out > best:
            best = out
            n[0] = v[4 * i + 2]
            n[1] = v[4 * i + 3]
    n[2] = 0.0
    if best <= 0.0:
        return best
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        gap = segment_offset(x, y, 0.0, v[4 * i], v[4 * i + 1], 0.0, v[4 * j], v[4 * j + 1], 0.0, m)
        if gap < near and gap > 0.0:
            near = gap
            n[0] = m[0]
            n[1] = m[1]
    return near if near < 1e300 else best


cdef inline double extrude(double flat, double radius, double z, double low, double high, double* n) noexcept nogil:
    """A 2-D distance made a prism between z = low and z = high; the ends are flat."""
    cdef double top = z - high, bottom = low - z, cap
    flat = flat - radius
    cap = top if top > bottom else bottom
    if cap <= flat and flat <= 0.0 or cap <= 0.0 and flat > 0.0:
        return flat
    if flat <= 0.0:
        n[0] = 0.0
        n[1] = 0.0
        n[2] = 1.0 if top > bottom else -1.0
        return cap
    return unit(n[0] * flat, n[1] * flat, cap if top > bottom else -cap, n)


cdef inline double solid_distance(int kind, const double* s, const double* v, double x, double y, double z,
                                  double* n) noexcept nogil:
    cdef double d
    if kind == SPHERE:
        return unit(x - s[1], y - s[2], z - s[3], n) - s[0]
    if kind == CAPSULE:
        return segment_offset(x, y, z, s[1], s[2], s[3], s[4], s[5], s[6], n) - s[0]
    if kind == BOX:
        return box_distance(s, x, y, z, n)
    if kind == PLANE:
        n[0] = 0.0
        n[1] = 1.0
        n[2] = 0.0
        return y
    if kind == DISC:
        d = unit(x - s[1], y - s[2], 0.0, n)
    elif kind == SEGMENT:
        d = segment_offset(x, y, 0.0, s[1], s[2], 0.0, s[3], s[4], 0.0, n)
    else:
        d = polygon_distance(v, <int> s[2], x, y, n)
    return extrude(d, s[0], z, s[6], s[7], n)
