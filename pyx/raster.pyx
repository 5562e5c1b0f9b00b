"""Anti-aliased discs, polygons and thick lines, many in one call, straight into a Surface's pixels.

Everything is laid in list order. The picture is cut into bands of BAND rows; threads take bands in turn, and a band
depends on nothing but the list, so any number of threads gives the same bytes. Coordinates are pixels, pixel (0, 0)
reaching from 0 to 1; they may lie anywhere up to 1e10, more (or NaN) counts as bad and is left out.
"""

from cython.parallel cimport prange
from libc.math cimport ceil, floor

from pixels cimport Target, lerp_color, open_target, over, pack, u8, u32
from raster_rows cimport (Band, Paint, add_edge, capsule_row, capsule_row_owned, clip_segment, disc_row, lay_distance,
                          lay_polygon, segment_row, touch)

BAND_ROWS = 64
POLYGON, LINE, LOOP, DISC, COLORED_LINE = 0, 1, 2, 3, 4

cdef enum:
    BAND = 64
    K_POLYGON = 0
    K_LINE = 1
    K_LOOP = 2
    K_DISC = 3
    K_COLORED = 4

cdef double FAR = 1e10
cdef double WORTH_THREADS = 250000  # pixels of work, about 0.3 ms: less is done sooner than other threads wake up


cdef struct Shapes:
    Py_ssize_t count
    const u8* kinds
    const int* first
    const int* length
    const double* params
    const u32* colors
    const double* points
    const u32* point_colors
    const double* point_radii
    const int* rows


cdef struct Strip:
    const u8* texels
    Py_ssize_t pitch
    int width
    int height
    int ro
    int go
    int bo
    int ao
    double scale
    const double* lengths
    u32 opacity
    bint smooth


cdef inline bint usable(const double* p) noexcept nogil:
    return -FAR < p[0] < FAR and -FAR < p[1] < FAR


cdef inline int clamped_row(double y, int low, int high) noexcept nogil:
    return low if y <= low else high if y >= high else <int>floor(y)


cdef inline double reach_of(const Shapes* s, Py_ssize_t i) noexcept nogil:
    """How far the shape goes past its points, or -1 when its radius is no usable number."""
    cdef double reach = s.params[4 * i]
    cdef int j
    if s.kinds[i] == K_POLYGON:
        return 0
    if s.point_radii and s.kinds[i] != K_DISC:
        for j in range(s.first[i], s.first[i] + s.length[i]):
            reach = s.point_radii[j] if s.point_radii[j] > reach else reach
    return reach + 1 if 0 <= reach < FAR else -1


cdef int measure(const Target* t, const Shapes* s, Py_ssize_t i, int* rows, double* work) noexcept nogil:
    """Rows a shape can touch (rows[0] >= rows[1]: none), and about how many pixels it costs, added to work[0].
    Returns how many of its points cannot be drawn."""
    cdef double top = FAR, bottom = -FAR, left = FAR, right = -FAR, reach = reach_of(s, i)
    cdef const double* p
    cdef int j, bad = 0
    rows[0] = rows[1] = 0
    if reach < 0:
        return 1
    for j in range(s.first[i], s.first[i] + s.length[i]):
        p = s.points + 2 * j
        if not usable(p):
            bad += 1
            continue
        left = p[0] if p[0] < left else left
        right = p[0] if p[0] > right else right
        top = p[1] if p[1] < top else top
        bottom = p[1] if p[1] > bottom else bottom
    if top > bottom or (bad and (s.kinds[i] == K_POLYGON or s.kinds[i] == K_DISC)):
        return bad
    if right + reach < t.x0 or left - reach > t.x1:
        return bad
    rows[0] = clamped_row(top - reach, t.y0, t.y1)
    rows[1] = clamped_row(bottom + reach, t.y0 - 1, t.y1 - 1) + 1
    left = left - reach if left - reach > t.x0 else t.x0
    right = right + reach if right + reach < t.x1 else t.x1
    if rows[1] > rows[0] and s.kinds[i] in (K_POLYGON, K_DISC):
        work[0] += (rows[1] - rows[0]) * (right - left)
    elif rows[1] > rows[0]:
        work[0] += 4 * reach * (rows[1] - rows[0] + right - left)
    return bad


cdef void polygon_band(const Target* t, const Shapes* s, Py_ssize_t i, Band* band) noexcept nogil:
    cdef const double* p = s.points + 2 * s.first[i]
    cdef int j, k, n = s.length[i]
    for j in range(n):
        k = j + 1 if j + 1 < n else 0
        add_edge(t, band, p[2 * j], p[2 * j + 1], p[2 * k], p[2 * k + 1])
    lay_polygon(t, band, s.colors[2 * i])


cdef void segment_band(const Target* t, const double* a, const double* b, double r0, double r1, Band* band,
                       int index) noexcept nogil:
    """Put one thick segment into the band's distance field. index >= 0: keep the place along the line too."""
    cdef double[4] p
    cdef double[2] kept
    cdef double reach = (r0 if r0 > r1 else r1) + 1, pad = reach + 1, dx, dy
    cdef int y, first, last, x0 = 0, x1 = 0
    cdef Py_ssize_t at
    p[0], p[1], p[2], p[3] = a[0], a[1], b[0], b[1]
    if not clip_segment(p, kept, t.x0 - pad, t.y0 - pad, t.x1 + pad, t.y1 + pad):
        return
    r1 = r1 - r0
    r0 = r0 + r1 * kept[0]
    r1 = r1 * (kept[1] - kept[0])
    dx, dy = p[2] - p[0], p[3] - p[1]
    first = clamped_row((p[1] if p[1] < p[3] else p[3]) - reach, band.y0, band.y1)
    last = clamped_row((p[3] if p[1] < p[3] else p[1]) + reach, band.y0 - 1, band.y1 - 1) + 1
    for y in range(first, last):
        if not segment_row(t, p, reach, y, &x0, &x1):
            continue
        touch(band, y, x0, x1)
        at = (y - band.y0) * band.stride
        if index < 0:
            capsule_row(band.cover + at, x0, x1, <float>p[0], <float>(p[1] - (y + 0.5)), <float>dx, <float>dy,
                        <float>(r0 + 0.5), <float>r1)
        else:
            capsule_row_owned(band.cover + at, band.along + at, band.across + at, x0, x1, <float>p[0],
                              <float>(p[1] - (y + 0.5)), <float>dx, <float>dy,
                              <float>(r0 + 0.5 * r1 if r0 + 0.5 * r1 > 1e-3 else 1e-3),
                              <float>(index + kept[0]), <float>(kept[1] - kept[0]))


cdef void line_band(const Target* t, const Shapes* s, Py_ssize_t i, Band* band, bint owned) noexcept nogil:
    cdef const double* p = s.points + 2 * s.first[i]
    cdef const double* radii = s.point_radii + s.first[i] if s.point_radii else NULL
    cdef double radius = s.params[4 * i]
    cdef int j, k, n = s.length[i], pieces = n if s.kinds[i] == K_LOOP else n - 1
    if n == 1 and usable(p):
        segment_band(t, p, p, radius, radius, band, 0 if owned else -1)
    for j in range(pieces):
        k = j + 1 if j + 1 < n else 0
        if usable(p + 2 * j) and usable(p + 2 * k):
            segment_band(t, p + 2 * j, p + 2 * k, radii[j] if radii else radius, radii[k] if radii else radius, band,
                         j if owned else -1)


cdef void lay_colored(const Target* t, Band* band, const u32* colors, int n, double radius) noexcept nogil:
    """Lay a line whose colour goes from point to point, and leave the band clean."""
    cdef int y, x, x0, x1, k
    cdef float* row
    cdef float* along
    cdef float place
    cdef float cap = <float>(2 * radius) if radius < 0.5 else 1
    cdef u32 color
    cdef int* span
    for y in range(band.y0, band.y1):
        span = band.spans + 2 * (y - band.y0)
        x0, x1 = span[0], span[1]
        if x1 <= x0:
            continue
        row = band.cover + (y - band.y0) * band.stride
        along = band.along + (y - band.y0) * band.stride
        for x in range(x0, x1):
            if row[x] > 0:
                place = along[x]
                k = <int>place
                k = k if k < n - 1 else n - 2
                color = lerp_color(colors[k], colors[k + 1], place - k) if n > 1 else colors[0]
                over(t, t.data + y * t.pitch + x * t.size, color, pack(t, color) if t.size == 4 else 0,
                     <u32><int>((row[x] if row[x] < cap else cap) * (color & 255) + <float>0.5))
            row[x] = 0
        span[0] = t.width
        span[1] = 0


cdef void shape_band(const Target* t, const Shapes* s, Py_ssize_t i, Band* band) noexcept nogil:
    cdef Paint paint
    cdef int y, last
    cdef const double* p = s.points + 2 * s.first[i]
    cdef u8 kind = s.kinds[i]
    paint.color = s.colors[2 * i]
    paint.edge = s.colors[2 * i + 1]
    paint.radius = <float>s.params[4 * i]
    paint.edge_width = <float>s.params[4 * i + 1]
    paint.shine = <float>s.params[4 * i + 2]
    if kind == K_POLYGON:
        polygon_band(t, s, i, band)
    elif kind == K_DISC:
        last = s.rows[2 * i + 1] if s.rows[2 * i + 1] < band.y1 else band.y1
        for y in range(s.rows[2 * i] if s.rows[2 * i] > band.y0 else band.y0, last):
            disc_row(t, band, y, p[0], p[1], s.params[4 * i], &paint)
    elif kind == K_COLORED and s.point_colors:
        line_band(t, s, i, band, True)
        lay_colored(t, band, s.point_colors + s.first[i], s.length[i], paint.radius)
    else:
        line_band(t, s, i, band, False)
        lay_distance(t, band, &paint)


cdef inline void place_band(const Target* t, Band* band, float* cover, int* spans, int stride, int slot,
                            int index) noexcept nogil:
    """Point the band at the scratch memory of its thread slot and at rows index * BAND on."""
    cdef Py_ssize_t size = <Py_ssize_t>stride * BAND
    band.cover = cover + 3 * slot * size
    band.along = band.cover + size
    band.across = band.along + size
    band.spans = spans + 2 * BAND * slot
    band.stride = stride
    band.y0 = index * BAND if index * BAND > t.y0 else t.y0
    band.y1 = (index + 1) * BAND if (index + 1) * BAND < t.y1 else t.y1


cdef void draw_slot(const Target* t, const Shapes* s, float* cover, int* spans, int stride, int slot,
                    int slots) noexcept nogil:
    cdef Band band
    cdef Py_ssize_t i
    cdef int index = t.y0 // BAND + slot
    for i in range(BAND):
        spans[2 * (BAND * slot + i)] = t.width
        spans[2 * (BAND * slot + i) + 1] = 0
    while index * BAND < t.y1:
        place_band(t, &band, cover, spans, stride, slot, index)
        for i in range(s.count):
            if s.rows[2 * i] < band.y1 and s.rows[2 * i + 1] > band.y0:
                shape_band(t, s, i, &band)
        index += slots


def draw(u8[::1] pixels, const int[::1] info, Py_ssize_t count, const u8[::1] kinds, const int[::1] first,
         const int[::1] length, const double[:, ::1] params, const u32[:, ::1] colors, const double[:, ::1] points,
         const u32[::1] point_colors, const double[::1] point_radii, int[:, ::1] rows, int[::1] bad,
         float[::1] cover, int[::1] spans, int threads):
    """Lay `count` shapes in list order.

    kinds (n): POLYGON (any, filled by winding number), LINE, LOOP (closed line), DISC (one point), COLORED_LINE
    (colour from point_colors). first, length (n): the shape's points. params (n, 4): radius or half width in pixels,
    edge width, shine 0 to 1, unused. colors (n, 2): 0xRRGGBBAA of fill and edge. points (m, 2). point_colors,
    point_radii: (m) or empty. rows (n, 2), bad (n): out: touched rows, and points left out. cover, spans: scratch,
    see `scratch_sizes`; cover must be zero, and is again afterwards.
    """
    cdef Target t = open_target(&pixels[0], &info[0])
    cdef Shapes s
    cdef int slot, stride = t.width + 4
    cdef Py_ssize_t i
    cdef double work = 0
    if count == 0 or t.x1 <= t.x0 or t.y1 <= t.y0 or points.shape[0] == 0:
        return
    s.count, s.kinds, s.first, s.length = count, &kinds[0], &first[0], &length[0]
    s.params, s.colors, s.points = &params[0, 0], &colors[0, 0], &points[0, 0]
    s.point_colors = &point_colors[0] if point_colors.shape[0] else NULL
    s.point_radii = &point_radii[0] if point_radii.shape[0] else NULL
    s.rows = &rows[0, 0]
    with nogil:
        for i in range(count):
            bad[i] = measure(&t, &s, i, &rows[i, 0], &work)
        if threads <= 1 or work < WORTH_THREADS:
            draw_slot(&t, &s, &cover[0], &spans[0], stride, 0, 1)
        else:
            for slot in prange(threads, schedule="static", chunksize=1, num_threads=threads):
                draw_slot(&t, &s, &cover[0], &spans[0], stride, slot, threads)


def scratch_sizes(int width, int threads):
    """Lengths of the scratch arrays (float32 cover, int32 spans) for a target this wide and so many threads."""
    return 3 * (width + 4) * BAND * threads, 2 * BAND * threads


# ---- textured strips: a picture repeated along a line ----

cdef inline u32 texel(const Strip* strip, double u, double v) noexcept nogil:
    """0xRRGGBBAA at (u, v) in texture pixels; u repeats, v is held at the borders. Bilinear when smooth."""
    cdef double fu, fv
    cdef int i, j
    u = u - floor(u / strip.width) * strip.width
    if not strip.smooth:
        return texel_at(strip, <int>u, <int>floor(v))
    u = u - 0.5
    v = v - 0.5
    fu, fv = floor(u), floor(v)
    i, j = <int>fu, <int>fv
    return lerp_color(
        lerp_color(texel_at(strip, i, j), texel_at(strip, i + 1, j), <float>(u - fu)),
        lerp_color(texel_at(strip, i, j + 1), texel_at(strip, i + 1, j + 1), <float>(u - fu)), <float>(v - fv))


cdef inline u32 texel_at(const Strip* strip, int i, int j) noexcept nogil:
    cdef const u8* p
    i = i + strip.width if i < 0 else i - strip.width if i >= strip.width else i
    j = 0 if j < 0 else strip.height - 1 if j >= strip.height else j
    p = strip.texels + j * strip.pitch + 4 * i
    return (<u32>p[strip.ro] << 24) | (<u32>p[strip.go] << 16) | (<u32>p[strip.bo] << 8) | (
        <u32>p[strip.ao] if strip.ao >= 0 else 255u)


cdef void lay_strip(const Target* t, Band* band, const Strip* strip, int n) noexcept nogil:
    cdef int y, x, x0, x1, k
    cdef Py_ssize_t at
    cdef double place
    cdef float cover
    cdef u32 color
    cdef int* span
    for y in range(band.y0, band.y1):
        span = band.spans + 2 * (y - band.y0)
        x0, x1 = span[0], span[1]
        at = (y - band.y0) * band.stride
        for x in range(x0, x1):
            cover = band.cover[at + x]
            if cover > 0:
                place = band.along[at + x]
                k = <int>place
                k = k if k < n - 1 else n - 2
                place = strip.lengths[k] + (place - k) * (strip.lengths[k + 1] - strip.lengths[k])
                color = texel(strip, place * strip.scale, (0.5 + 0.5 * band.across[at + x]) * strip.height)
                over(t, t.data + y * t.pitch + x * t.size, color, pack(t, color) if t.size == 4 else 0,
                     <u32><int>((cover if cover < 1 else 1) * ((color & 255) * strip.opacity) / 255 + <float>0.5))
            band.cover[at + x] = 0
        span[0] = t.width
        span[1] = 0


cdef void strip_slot(const Target* t, const Shapes* s, const Strip* strip, float* cover, int* spans, int stride,
                     int slot, int slots) noexcept nogil:
    cdef Band band
    cdef Py_ssize_t i
    cdef int index = t.y0 // BAND + slot
    for i in range(BAND):
        spans[2 * (BAND * slot + i)] = t.width
        spans[2 * (BAND * slot + i) + 1] = 0
    while index * BAND < t.y1:
        place_band(t, &band, cover, spans, stride, slot, index)
        if s.rows[0] < band.y1 and s.rows[1] > band.y0:
            line_band(t, s, 0, &band, True)
            lay_strip(t, &band, strip, s.length[0])
        index += slots


def draw_strip(u8[::1] pixels, const int[::1] info, const double[:, ::1] points, const double[::1] lengths,
               double radius, const u8[::1] texels, const int[::1] texel_info, double scale, int opacity, bint smooth,
               float[::1] cover, int[::1] spans, int threads):
    """Lay a line through points (n, 2), n >= 2, half as wide as `radius` says, covered by a picture that repeats.

    lengths (n): distance along the line at each point, in any unit; scale: texture pixels in that unit. texels,
    texel_info: the picture, 4 bytes a pixel. opacity 0 to 255. Returns the number of points left out.
    """
    cdef Target t = open_target(&pixels[0], &info[0])
    cdef Shapes s
    cdef Strip strip
    cdef u8 kind = K_LINE
    cdef int first = 0, length = <int>points.shape[0], stride = t.width + 4, slot, bad
    cdef double[4] params
    cdef double work = 0
    cdef int[2] rows
    cdef u32[2] colors
    params[0], params[1], params[2], params[3] = radius, 0, 0, 0
    colors[0] = colors[1] = 0
    s.count, s.kinds, s.first, s.length, s.params, s.colors = 1, &kind, &first, &length, params, colors
    s.points, s.point_colors, s.point_radii, s.rows = &points[0, 0], NULL, NULL, rows
    strip.texels, strip.width, strip.height, strip.pitch = &texels[0], texel_info[0], texel_info[1], texel_info[2]
    strip.ro, strip.go, strip.bo, strip.ao = texel_info[4], texel_info[5], texel_info[6], texel_info[7]
    strip.scale, strip.lengths, strip.opacity, strip.smooth = scale, &lengths[0], opacity, smooth
    if length < 2 or t.x1 <= t.x0 or t.y1 <= t.y0:
        return 0
    with nogil:
        bad = measure(&t, &s, 0, rows, &work)
        if threads <= 1 or work < WORTH_THREADS:
            strip_slot(&t, &s, &strip, &cover[0], &spans[0], stride, 0, 1)
        else:
            for slot in prange(threads, schedule="static", chunksize=1, num_threads=threads):
                strip_slot(&t, &s, &strip, &cover[0], &spans[0], stride, slot, threads)
    return bad
