"""Inline parts of the 2-D rasteriser: how much of each pixel of a row a shape covers.

A band is a fixed run of rows that one thread fills: `cover` holds one float a pixel, zero between shapes, and
`spans` the first and one past the last touched pixel of each row. Rows are computed from the shape alone, so that
neither the number of bands nor of threads changes a bit.
"""

from libc.math cimport ceil, floor, sqrt, sqrtf

from pixels cimport Target, fill_row, over, over_colors, over_row, pack, u8, u32


cdef struct Band:
    float* cover
    float* along
    float* across
    int* spans
    int stride
    int y0
    int y1


cdef struct Paint:
    u32 color
    u32 edge
    float radius
    float edge_width
    float shine


cdef inline void touch(Band* band, int y, int x0, int x1) noexcept nogil:
    cdef int* span = band.spans + 2 * (y - band.y0)
    if x0 < span[0]:
        span[0] = x0
    if x1 > span[1]:
        span[1] = x1


# ---- polygons: signed area under each edge, summed along the row ----
# For an edge the area to its right inside each pixel is exact (a trapezium); a running sum over the row turns these
# differences into coverage, as font rasterisers do (R. Levien, "font-rs", 2015).

cdef inline void add_area(float* row, double xa, double xb, double d) noexcept nogil:
    """One edge piece inside one row, from xa to xb, of signed height d."""
    cdef double x0 = xa if xa < xb else xb
    cdef double x1 = xb if xa < xb else xa
    cdef int i0 = <int>floor(x0)
    cdef int i1 = <int>ceil(x1)
    cdef int i
    cdef double s, f0, f1, a0, am, middle
    if i1 <= i0 + 1:
        middle = 0.5 * (x0 + x1) - i0
        row[i0] += <float>(d - d * middle)
        row[i0 + 1] += <float>(d * middle)
        return
    s = 1.0 / (x1 - x0)
    f0 = x0 - i0
    f1 = x1 - i1 + 1.0
    a0 = 0.5 * s * (1.0 - f0) * (1.0 - f0)
    am = 0.5 * s * f1 * f1
    row[i0] += <float>(d * a0)
    if i1 == i0 + 2:
        row[i0 + 1] += <float>(d * (1.0 - a0 - am))
    else:
        middle = s * (1.5 - f0)
        row[i0 + 1] += <float>(d * (middle - a0))
        for i in range(i0 + 2, i1 - 1):
            row[i] += <float>(d * s)
        middle = middle + (i1 - i0 - 3) * s
        row[i1 - 1] += <float>(d * (1.0 - middle - am))
    row[i1] += <float>(d * am)


cdef inline void add_clipped(const Target* t, Band* band, float* row, int y, double xa, double xb,
                             double d) noexcept nogil:
    """The same with x unlimited: what is left of the clip counts at its left border, what is right of it not."""
    cdef double left = t.x0, right = t.x1
    cdef double swap, share, x0, x1, span
    if xa > xb:
        swap = xa
        xa = xb
        xb = swap
    if xa >= right:
        touch(band, y, t.x1, t.x1)
        return
    if xb <= left:
        row[t.x0] += <float>d
        touch(band, y, t.x0, t.x0 + 1)
        return
    x0, x1, span = xa, xb, xb - xa
    if xa < left:
        share = (left - xa) / span
        row[t.x0] += <float>(d * share)
        x0 = left
    if xb > right:
        x1 = right
    if x0 == xa and x1 == xb:
        add_area(row, xa, xb, d)
    else:
        add_area(row, x0, x1, d * ((x1 - x0) / span))
    touch(band, y, <int>floor(x0), <int>ceil(x1) + 1)


cdef inline void add_edge(const Target* t, Band* band, double ax, double ay, double bx, double by) noexcept nogil:
    """All rows of the band under the edge a to b."""
    cdef double d = 1.0, swap, slope, top, bottom
    cdef int y, first, last
    if ay == by:
        return
    if ay > by:
        d = -1.0
        swap = ax; ax = bx; bx = swap
        swap = ay; ay = by; by = swap
    if by <= band.y0 or ay >= band.y1:
        return
    slope = (bx - ax) / (by - ay)
    first = <int>floor(ay) if ay > band.y0 else band.y0
    last = <int>ceil(by) if by < band.y1 else band.y1
    for y in range(first, last):
        top = ay if ay > y else <double>y
        bottom = by if by < y + 1 else <double>(y + 1)
        add_clipped(t, band, band.cover + (y - band.y0) * band.stride, y, ax + (top - ay) * slope,
                    ax + (bottom - ay) * slope, d * (bottom - top))


cdef inline void lay_polygon(const Target* t, Band* band, u32 color) noexcept nogil:
    """Turn area differences into coverage, lay the colour, and leave the band clean."""
    cdef int y, x, x0, x1, end
    cdef float total, value
    cdef float* row
    cdef int* span
    cdef u32 packed = pack(t, color) if t.size == 4 else 0
    for y in range(band.y0, band.y1):
        span = band.spans + 2 * (y - band.y0)
        x0, x1 = span[0], span[1]
        if x1 <= x0:
            continue
        row = band.cover + (y - band.y0) * band.stride
        end = x1 if x1 < t.x1 else t.x1
        total = 0
        for x in range(x0, end):
            total = total + row[x]
            value = total if total > 0 else -total
            row[x] = value if value < 1 else 1
        over_row(t, t.data + y * t.pitch, row, x0, end, color, packed, <float>(color & 255))
        for x in range(x0, x1 + 1):
            row[x] = 0
        span[0] = t.width
        span[1] = 0


# ---- strokes and discs: signed distance, half a pixel of ramp ----

cdef inline int clip_segment(double* p, double* range_, double x0, double y0, double x1, double y1) noexcept nogil:
    """Cut the segment p = (ax, ay, bx, by) to a rectangle (Liang and Barsky 1984); range_ gets the kept share."""
    cdef double[4] q
    cdef double[4] d
    cdef double t0 = 0, t1 = 1, r, dx = p[2] - p[0], dy = p[3] - p[1]
    cdef int i
    d[0] = -dx; q[0] = p[0] - x0
    d[1] = dx; q[1] = x1 - p[0]
    d[2] = -dy; q[2] = p[1] - y0
    d[3] = dy; q[3] = y1 - p[1]
    for i in range(4):
        if d[i] == 0:
            if q[i] < 0:
                return 0
        else:
            r = q[i] / d[i]
            if d[i] < 0:
                if r > t1:
                    return 0
                t0 = r if r > t0 else t0
            else:
                if r < t0:
                    return 0
                t1 = r if r < t1 else t1
    if t0 > 0 or t1 < 1:
        p[2] = p[0] + t1 * dx
        p[3] = p[1] + t1 * dy
        p[0] = p[0] + t0 * dx
        p[1] = p[1] + t0 * dy
    range_[0] = t0
    range_[1] = t1
    return 1


cdef inline int segment_row(const Target* t, const double* p, double reach, int y, int* x0, int* x1) noexcept nogil:
    """Pixels x0 to x1 of row y that lie within `reach` of the segment p, generously."""
    cdef double ay = p[1] - (y + 0.5), dy = p[3] - p[1], dx = p[2] - p[0]
    cdef double s0 = 0, s1 = 1, r0, r1, xa, xb
    if dy > 1e-9 or dy < -1e-9:
        r0 = (-reach - ay) / dy
        r1 = (reach - ay) / dy
        if dy < 0:
            r0, r1 = r1, r0
        s0 = r0 if r0 > 0 else 0
        s1 = r1 if r1 < 1 else 1
        if s0 > s1:
            return 0
    elif ay > reach or ay < -reach:
        return 0
    xa = p[0] + s0 * dx
    xb = p[0] + s1 * dx
    r0 = (xa if xa < xb else xb) - reach
    r1 = (xb if xa < xb else xa) + reach
    if r1 <= t.x0 or r0 >= t.x1:
        return 0
    x0[0] = <int>floor(r0) if r0 > t.x0 else t.x0
    x1[0] = <int>ceil(r1) if r1 < t.x1 else t.x1
    return x1[0] > x0[0]


cdef inline void capsule_row(float* row, int x0, int x1, float ax, float ay, float dx, float dy, float radius,
                             float grow) noexcept nogil:
    """Greatest of what is there and (distance inside the capsule + 1/2). ax, ay: from the left end of the row's middle
    line to a; radius: at a, plus 1/2; grow: what it gains up to b."""
    cdef float length2 = dx * dx + dy * dy
    cdef float inverse = 1 / length2 if length2 > 1e-12 else 0
    cdef float across = ay * dy * inverse
    cdef float s, ex, ey, value
    cdef int x
    for x in range(x0, x1):
        ex = (x + <float>0.5) - ax
        s = ex * dx * inverse - across
        s = s if s > 0 else 0
        s = s if s < 1 else 1
        ex = ex - s * dx
        ey = ay + s * dy
        value = radius + s * grow - sqrtf(ex * ex + ey * ey)
        row[x] = row[x] if row[x] > value else value


cdef inline void capsule_row_owned(float* row, float* along, float* across, int x0, int x1, float ax, float ay,
                                   float dx, float dy, float radius, float start, float step) noexcept nogil:
    """capsule_row that also keeps, for the nearest segment, the place along the line and the signed side (-1 to 1)."""
    cdef float length2 = dx * dx + dy * dy
    cdef float inverse = 1 / length2 if length2 > 1e-12 else 0
    cdef float unit = sqrtf(inverse) / radius
    cdef float s, ex, ey, value
    cdef int x
    for x in range(x0, x1):
        ex = (x + <float>0.5) - ax
        s = (ex * dx - ay * dy) * inverse
        s = s if s > 0 else 0
        s = s if s < 1 else 1
        ex = ex - s * dx
        ey = ay + s * dy
        value = radius + <float>0.5 - sqrtf(ex * ex + ey * ey)
        if value > row[x]:
            row[x] = value
            along[x] = start + s * step
            across[x] = -(ey * dx + ex * dy) * unit

cdef inline float clamp01(float v) noexcept nogil:
    v = v if v > 0 else 0
    return v if v < 1 else 1


cdef inline void shade_row(const Paint* paint, const float* inside, u32* out, int x0, int x1) noexcept nogil:
    """Colours 0xRRGGBBAA, A the opacity, of pixels whose (distance inside + 1/2) is given: the edge colour within
    edge_width of the border, lighter to the middle by shine. No branches, so that it becomes vector code."""
    cdef float cap = 2 * paint.radius if paint.radius < 0.5 else 1
    cdef float inverse = 1 / paint.radius if paint.radius > 1e-6 else 0
    cdef float shine = paint.shine
    cdef float edge = paint.edge_width if paint.edge_width > 0 else -1e9
    cdef float r0 = paint.edge >> 24, g0 = (paint.edge >> 16) & 255, b0 = (paint.edge >> 8) & 255, a0 = paint.edge & 255
    cdef float r1 = paint.color >> 24, g1 = (paint.color >> 16) & 255, b1 = (paint.color >> 8) & 255
    cdef float a1 = paint.color & 255
    cdef float cover, k, e, r, g, b, a
    cdef int x
    for x in range(x0, x1):
        cover = inside[x] if inside[x] > 0 else 0
        cover = cover if cover < cap else cap
        k = clamp01((inside[x] - <float>0.5) * inverse)
        k = shine * k * k
        e = clamp01(inside[x] - edge)
        r = r0 + (r1 + (255 - r1) * k - r0) * e
        g = g0 + (g1 + (255 - g1) * k - g0) * e
        b = b0 + (b1 + (255 - b1) * k - b0) * e
        a = (a0 + (a1 - a0) * e) * cover
        out[x] = (<u32><int>(r + <float>0.5) << 24 | <u32><int>(g + <float>0.5) << 16 | <u32><int>(b + <float>0.5) << 8
                  | <u32><int>(a + <float>0.5))


cdef inline void lay_inside(const Target* t, u8* line, float* row, u32* scratch, int x0, int x1, const Paint* paint,
                            u32 packed) noexcept nogil:
    """Lay one row of (distance inside + 1/2), and leave it clean."""
    cdef int x
    cdef float cap = 2 * paint.radius if paint.radius < 0.5 else 1
    cdef float value
    if paint.edge_width > 0 or paint.shine > 0:
        shade_row(paint, row, scratch, x0, x1)
        over_colors(t, line, scratch, x0, x1)
    else:
        for x in range(x0, x1):
            value = row[x] if row[x] > 0 else 0
            row[x] = value if value < cap else cap
        over_row(t, line, row, x0, x1, paint.color, packed, <float>(paint.color & 255))
    for x in range(x0, x1):
        row[x] = 0


cdef inline void lay_distance(const Target* t, Band* band, const Paint* paint) noexcept nogil:
    """Lay a stroke whose (distance inside + 1/2) is in the band, and leave the band clean."""
    cdef int y
    cdef Py_ssize_t at
    cdef int* span
    cdef u32 packed = pack(t, paint.color) if t.size == 4 else 0
    for y in range(band.y0, band.y1):
        span = band.spans + 2 * (y - band.y0)
        if span[1] > span[0]:
            at = (y - band.y0) * band.stride
            lay_inside(t, t.data + y * t.pitch, band.cover + at, <u32*>(band.along + at), span[0], span[1], paint, packed)
        span[0] = t.width
        span[1] = 0


cdef inline float small_disc(double cx, double cy, double radius, int x, int y) noexcept nogil:
    """Share of pixel (x, y) inside a disc: eight chords, each exact along x."""
    cdef double total = 0, h, dy, a, b
    cdef int i
    for i in range(8):
        dy = y + 0.0625 + 0.125 * i - cy
        h = radius * radius - dy * dy
        if h > 0:
            h = sqrt(h)
            a = cx - h if cx - h > x else <double>x
            b = cx + h if cx + h < x + 1 else <double>(x + 1)
            if b > a:
                total += b - a
    return <float>(total * 0.125)


cdef inline void small_row(const Target* t, u8* line, int y, int x0, int x1, double cx, double cy, double radius,
                           u32 color) noexcept nogil:
    """A row of a disc of few pixels."""
    cdef int x
    cdef u32 a, packed = pack(t, color) if t.size == 4 else 0
    for x in range(x0, x1):
        a = <u32><int>(small_disc(cx, cy, radius, x, y) * (color & 255) + <float>0.5)
        if a:
            over(t, line + x * t.size, color, packed, a)


cdef inline void rim_row(const Target* t, Band* band, u8* line, int x0, int x1, double cx, double dy, double radius,
                         const Paint* paint, u32 packed) noexcept nogil:
    """Pixels x0 to x1 of a row dy below a disc's centre, each by its distance."""
    cdef int x
    cdef double dx
    cdef u32 alpha = paint.color & 255
    if paint.edge_width <= 0 and paint.shine <= 0:
        for x in range(x0, x1):
            dx = x + 0.5 - cx
            over(t, line + x * t.size, paint.color, packed,
                 <u32><int>(clamp01(<float>(radius + 0.5 - sqrt(dx * dx + dy * dy))) * alpha + <float>0.5))
        return
    for x in range(x0, x1):
        dx = x + 0.5 - cx
        band.cover[x] = <float>(radius + 0.5 - sqrt(dx * dx + dy * dy))
    lay_inside(t, line, band.cover, <u32*>band.along, x0, x1, paint, packed)


cdef inline void disc_row(const Target* t, Band* band, int y, double cx, double cy, double radius,
                          const Paint* paint) noexcept nogil:
    """One row of a disc: the border pixel by pixel, the inside as one run."""
    cdef double dy = y + 0.5 - cy, h, reach = radius + 1, core
    cdef int x0, x1, i0, i1
    cdef u8* line = t.data + y * t.pitch
    cdef u32 packed = pack(t, paint.color) if t.size == 4 else 0
    h = reach * reach - dy * dy
    if h <= 0:
        return
    h = sqrt(h)
    if cx + h <= t.x0 or cx - h >= t.x1:
        return
    x0 = <int>floor(cx - h) if cx - h > t.x0 else t.x0
    x1 = <int>ceil(cx + h) if cx + h < t.x1 else t.x1
    if radius < 2:
        small_row(t, line, y, x0, x1, cx, cy, radius, paint.color)
        return
    core = radius - 1 - (paint.edge_width if paint.edge_width > 0 else 0)
    i0 = i1 = x1
    if paint.shine <= 0 and core > 0 and dy * dy < core * core:
        h = sqrt(core * core - dy * dy)
        if cx - h < x1 and cx + h > x0:
            i0 = <int>ceil(cx - h - 0.5) if cx - h - 0.5 > x0 else x0
            i1 = <int>floor(cx + h - 0.5) + 1 if cx + h - 0.5 < x1 - 1 else x1
            i1 = i1 if i1 > i0 else i0
    rim_row(t, band, line, x0, i0, cx, dy, radius, paint, packed)
    fill_row(t, line, i0, i1, paint.color, packed, paint.color & 255)
    rim_row(t, band, line, i1, x1, cx, dy, radius, paint, packed)
