"""A liquid's smooth surface: particles splatted into a coarse density field, thresholded and shaded into pixels.

Screen-space metaballs: density = sum of w (1 - r^2 / R^2)^2 with w so that a pool at rest has density 1 inside and 1/2
at its edge. A field cell is `scale` pixels wide and holds 8 floats: density, red, green, blue and alpha times density,
foam times density, and the density's gradient (x, y) a cell.
"""

from cython.parallel cimport prange
from libc.math cimport floorf, sqrtf
from libc.stdint cimport uint8_t
from libc.string cimport memset

cdef enum:
    CHANNELS = 8
    BAND = 16


cdef void splat_band(const double* points, const float* colors, const float* foam, int n, float inv, float radius,
                     float weight, int columns, int low, int high, float* field) noexcept nogil:
    cdef int k, i, j, i0, i1, j0, j1
    cdef float x, y, dx, dy, q, w, inv2 = 1 / (radius * radius)
    cdef float* c
    memset(field + low * columns * CHANNELS, 0, (high - low) * columns * CHANNELS * sizeof(float))
    for k in range(n):
        y = <float>points[2 * k + 1] * inv
        if not (y + radius >= low and y - radius <= high - 1):
            continue
        x = <float>points[2 * k] * inv
        if not (x + radius >= 0 and x - radius <= columns - 1):
            continue
        i0 = <int>(x - radius + 1) if x - radius + 1 > 0 else 0
        i1 = <int>(x + radius) if x + radius < columns - 1 else columns - 1
        j0 = <int>(y - radius + 1) if y - radius + 1 > low else low
        j1 = <int>(y + radius) if y + radius < high - 1 else high - 1
        for j in range(j0, j1 + 1):
            dy = y - j
            c = field + (j * columns + i0) * CHANNELS
            for i in range(i0, i1 + 1):
                dx = x - i
                q = 1 - (dx * dx + dy * dy) * inv2
                if q > 0:
                    w = weight * q * q
                    c[0] += w
                    c[1] += w * colors[4 * k]
                    c[2] += w * colors[4 * k + 1]
                    c[3] += w * colors[4 * k + 2]
                    c[4] += w * colors[4 * k + 3]
                    c[5] += w * foam[k]
                c += CHANNELS


def splat(const double[:, ::1] points, const float[:, ::1] colors, const float[::1] foam, int n, float scale,
          float radius, float weight, int columns, int rows, float[::1] field, int threads):
    """Clear the field and add every particle: points in pixels, radius in cells. Bands of rows run in parallel, each
    adds its particles in their order."""
    cdef int b, bands = (rows + BAND - 1) // BAND
    cdef const double* p = &points[0, 0] if n else NULL
    cdef const float* c = &colors[0, 0] if n else NULL
    cdef const float* f = &foam[0] if n else NULL
    for b in prange(bands, nogil=True, schedule="static", num_threads=threads):
        splat_band(p, c, f, n, 1 / scale, radius, weight, columns, b * BAND,
                   (b + 1) * BAND if (b + 1) * BAND < rows else rows, &field[0])


cdef void slope_row(float* field, int columns, int rows, int j) noexcept nogil:
    cdef int i, up = j - 1 if j > 0 else j, down = j + 1 if j < rows - 1 else j
    cdef float* c
    for i in range(columns):
        c = field + (j * columns + i) * CHANNELS
        c[6] = <float>0.5 * (field[(j * columns + (i + 1 if i < columns - 1 else i)) * CHANNELS]
                             - field[(j * columns + (i - 1 if i > 0 else i)) * CHANNELS])
        c[7] = <float>0.5 * (field[(down * columns + i) * CHANNELS] - field[(up * columns + i) * CHANNELS])


cdef struct Look:
    int width, height, pitch, size, r, g, b, left, top, right, bottom, columns, rows
    float scale, threshold, light_x, light_y, light_z, rim, bend, opacity
    const uint8_t* behind
    uint8_t* pixels


cdef inline uint8_t byte_of(float v) noexcept nogil:
    return 255 if v >= 255 else (0 if v <= 0 else <uint8_t>(v + <float>0.5))


cdef void shade_pixel(const Look* o, const float* a, const float* b, const float* c, const float* d, float fx, float fy,
                      int x, int y) noexcept nogil:
    cdef float v[CHANNELS]
    cdef int k, sx, sy
    cdef float p = (1 - fx) * (1 - fy), q = fx * (1 - fy), r = (1 - fx) * fy, s = fx * fy
    cdef float slope, edge, t, inv, red, green, blue, alpha, foam, shine, nx, ny, nz, deep
    cdef const uint8_t* under
    cdef uint8_t* out
    v[0] = p * a[0] + q * b[0] + r * c[0] + s * d[0]
    if v[0] <= o.threshold * <float>0.5:
        return
    for k in range(1, CHANNELS):
        v[k] = p * a[k] + q * b[k] + r * c[k] + s * d[k]
    slope = sqrtf(v[6] * v[6] + v[7] * v[7])
    # one pixel of soft edge: distance to the contour is (density - threshold) / slope, in cells
    edge = (v[0] - o.threshold) / (slope + <float>1e-4) * o.scale + <float>0.5
    if edge <= 0:
        return
    edge = edge if edge < 1 else 1
    t = (v[0] - o.threshold) / (<float>1.0 - o.threshold)
    t = t if t < 1 else 1
    t = t if t > 0 else 0
    inv = 1 / v[0]
    red = v[1] * inv
    green = v[2] * inv
    blue = v[3] * inv
    alpha = v[4] * inv * o.opacity * <float>0.003921569
    foam = v[5] * inv
    # the surface bulges: steep at the edge, flat inside
    nz = t * (2 - t)
    inv = (1 - nz) / (slope + <float>1e-4)
    nx = -v[6] * inv
    ny = -v[7] * inv
    shine = nx * o.light_x + ny * o.light_y + nz * o.light_z
    deep = <float>0.72 + <float>0.28 * t
    sx = x - <int>(nx * o.bend)
    sy = y - <int>(ny * o.bend)
    sx = 0 if sx < 0 else (o.width - 1 if sx >= o.width else sx)
    sy = 0 if sy < 0 else (o.height - 1 if sy >= o.height else sy)
    under = o.behind + sy * o.pitch + sx * o.size
    out = o.pixels + y * o.pitch + x * o.size
    # colour over the bent picture behind, brighter toward the light, a bright rim, white foam
    nz = (1 - t) * (1 - t) * o.rim
    shine = (shine - o.light_z) * 60 if shine > o.light_z else (shine - o.light_z) * 30
    foam = foam if foam < <float>0.9 else <float>0.9
    red = red * deep * alpha + under[o.r] * (1 - alpha) + shine + nz * 110
    green = green * deep * alpha + under[o.g] * (1 - alpha) + shine + nz * 120
    blue = blue * deep * alpha + under[o.b] * (1 - alpha) + shine + nz * 120
    red = red + (244 - red) * foam
    green = green + (250 - green) * foam
    blue = blue + (255 - blue) * foam
    under = o.behind + y * o.pitch + x * o.size
    out[o.r] = byte_of(under[o.r] + (red - under[o.r]) * edge)
    out[o.g] = byte_of(under[o.g] + (green - under[o.g]) * edge)
    out[o.b] = byte_of(under[o.b] + (blue - under[o.b]) * edge)


cdef void shade_row(const Look* o, const float* field, int j) noexcept nogil:
    """The pixels between field rows j and j + 1."""
    cdef int i, x, y, x0, x1, y0, y1
    cdef const float* a
    cdef const float* c
    cdef float half = o.threshold * <float>0.5, fy, inv = 1 / o.scale
    y0 = <int>(j * o.scale + <float>0.9999)
    y1 = <int>((j + 1) * o.scale + <float>0.9999)
    y0 = y0 if y0 > o.top else o.top
    y1 = y1 if y1 < o.bottom else o.bottom
    for i in range(o.columns - 1):
        a = field + (j * o.columns + i) * CHANNELS
        c = a + o.columns * CHANNELS
        if a[0] < half and a[CHANNELS] < half and c[0] < half and c[CHANNELS] < half:
            continue
        x0 = <int>(i * o.scale + <float>0.9999)
        x1 = <int>((i + 1) * o.scale + <float>0.9999)
        x0 = x0 if x0 > o.left else o.left
        x1 = x1 if x1 < o.right else o.right
        for y in range(y0, y1):
            fy = y * inv - j
            for x in range(x0, x1):
                shade_pixel(o, a, a + CHANNELS, c, c + CHANNELS, x * inv - i, fy, x, y)


def shade(float[::1] field, int columns, int rows, float scale, float threshold, const int[::1] info,
          const uint8_t[::1] behind, uint8_t[::1] pixels, const float[::1] light, float rim, float bend, float opacity,
          int threads):
    """Slopes, then every pixel above the threshold. behind: a copy of the pixels before; info: Canvas.info; light: unit
    vector; rim: strength of the bright edge; bend: pixels that the picture behind shifts at the edge."""
    cdef Look o
    cdef Look* look = &o
    cdef int j
    o.width = info[0]
    o.height = info[1]
    o.pitch = info[2]
    o.size = info[3]
    o.r = info[4]
    o.g = info[5]
    o.b = info[6]
    o.left = info[8]
    o.top = info[9]
    o.right = info[10]
    o.bottom = info[11]
    o.columns = columns
    o.rows = rows
    o.scale = scale
    o.threshold = threshold
    o.light_x = light[0]
    o.light_y = light[1]
    o.light_z = light[2]
    o.rim = rim
    o.bend = bend
    o.opacity = opacity
    o.behind = &behind[0]
    o.pixels = &pixels[0]
    for j in prange(rows, nogil=True, schedule="static", num_threads=threads):
        slope_row(&field[0], columns, rows, j)
    for j in prange(rows - 1, nogil=True, schedule="static", num_threads=threads):
        shade_row(look, &field[0], j)
