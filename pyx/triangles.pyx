"""Textured, lit triangles with a depth buffer, straight into a Surface's pixels.

A pixel belongs to a triangle when its centre does; a centre on an edge belongs to the triangle below or right of it
(the top-left rule). The place where a row meets an edge is computed from the edge alone, upper end first, so two
triangles that share an edge get the same bits: no seam, and nothing laid twice. Edges of the outline, where a
triangle has no neighbour or one that faces the other way, are laid with coverage: the signed distance of the centre
from the edge plus half a pixel (a box filter's ramp). Bands of rows as in raster.pyx: same bytes for any thread count.
"""

from cython.parallel cimport prange
from libc.math cimport ceil, floor, sqrt

from pixels cimport Target, open_target, u8, u32
from texels cimport (Picture, alpha_of, lane_byte, open_picture, put, sample, softkit_span, softkit_span_t, softkit_tinted,
                     texel_place, u16, u64)

cdef enum:
    BAND = 64
    BUCKETS = 2048

cdef double FAR = 1e10
cdef double WORTH_THREADS = 60000  # pixels: less is done sooner than other threads wake up


cdef struct Mesh:
    Py_ssize_t count
    const double* points
    const double* uvs
    const float* front
    const float* back
    const double* heights
    const double* inverse
    const int* triangles
    const int* neighbours
    const int* order
    const short* rows
    const u8* facing


cdef struct Look:
    u32 opacity
    u16[4] front
    u16[4] back
    double low
    double high
    bint split
    bint soft


cdef struct Plane:
    double at
    double dx
    double dy


cdef struct Triangle:
    double[3] x
    double[3] y
    Plane z
    Plane u
    Plane v
    Plane light
    Plane height
    Plane q
    const u16* tint
    bint split
    bint perspective
    int soft
    bint inside


cdef inline Plane plane(double f0, double f1, double f2, double x1, double y1, double x2, double y2,
                        double inverse) noexcept nogil:
    """f over the triangle: f0 at its first corner plus the two slopes. x1 .. y2: corners 1 and 2 from corner 0."""
    cdef Plane p
    p.at = f0
    p.dx = ((f1 - f0) * y2 - (f2 - f0) * y1) * inverse
    p.dy = ((f2 - f0) * x1 - (f1 - f0) * x2) * inverse
    return p


cdef inline double value(const Plane* p, double dx, double dy) noexcept nogil:
    return p.at + p.dx * dx + p.dy * dy


cdef inline bint usable(const double* p) noexcept nogil:
    return -FAR < p[0] < FAR and -FAR < p[1] < FAR and -FAR < p[2] < FAR


cdef int prepare(const Target* t, const Mesh* mesh, const Look* look, double sign, Py_ssize_t i, short* rows, u8* facing,
                 double* key) noexcept nogil:
    """Rows and facing (1 front, 2 back, 0 not drawn) of triangle i, and the depth to sort it by. Returns 1 when it
    cannot be drawn for its coordinates."""
    cdef const int* c = mesh.triangles + 3 * i
    cdef const double* p0 = mesh.points + 3 * c[0]
    cdef const double* p1 = mesh.points + 3 * c[1]
    cdef const double* p2 = mesh.points + 3 * c[2]
    cdef double area, top, bottom, left, right, h0, h1, h2
    rows[0] = rows[1] = 0
    facing[0] = 0
    key[0] = 0
    if not (usable(p0) and usable(p1) and usable(p2)):
        return 1
    area = (p1[0] - p0[0]) * (p2[1] - p0[1]) - (p1[1] - p0[1]) * (p2[0] - p0[0])
    key[0] = p0[2] + p1[2] + p2[2]
    if -1e-9 < area < 1e-9:
        return 0
    facing[0] = 1 if area * sign > 0 else 2
    if look.split:
        h0, h1, h2 = mesh.heights[c[0]], mesh.heights[c[1]], mesh.heights[c[2]]
        if (h0 < look.low and h1 < look.low and h2 < look.low) or (
                h0 >= look.high and h1 >= look.high and h2 >= look.high):
            return 0
    left = min(p0[0], min(p1[0], p2[0]))
    right = max(p0[0], max(p1[0], p2[0]))
    if right < t.x0 - 1 or left > t.x1 + 1:
        return 0
    top = min(p0[1], min(p1[1], p2[1])) - 1.5
    bottom = max(p0[1], max(p1[1], p2[1])) + 1.5
    rows[0] = <short>(t.y0 if top < t.y0 else t.y1 if top > t.y1 else <int>floor(top))
    rows[1] = <short>(t.y1 if bottom > t.y1 else t.y0 if bottom < t.y0 else <int>ceil(bottom))
    return 0


cdef void sort_far_first(Py_ssize_t count, const double* keys, int* buckets, int* order) noexcept nogil:
    """Counting sort of keys into BUCKETS equal steps, smallest first, equal ones in the order given."""
    cdef double low = keys[0], high = keys[0], scale
    cdef Py_ssize_t i
    cdef int k, total = 0, size
    for i in range(count):
        low = keys[i] if keys[i] < low else low
        high = keys[i] if keys[i] > high else high
    scale = (BUCKETS - 1) / (high - low) if high > low else 0
    for k in range(BUCKETS):
        buckets[k] = 0
    for i in range(count):
        buckets[<int>((keys[i] - low) * scale)] += 1
    for k in range(BUCKETS):
        size = buckets[k]
        buckets[k] = total
        total += size
    for i in range(count):
        k = <int>((keys[i] - low) * scale)
        order[buckets[k]] = <int>i
        buckets[k] += 1


cdef inline int soft_edges(const Mesh* mesh, Py_ssize_t i) noexcept nogil:
    """Bit k: edge k (corner k to k + 1) belongs to the outline."""
    cdef int k, other, bits = 0
    for k in range(3):
        other = mesh.neighbours[3 * i + k]
        if other < 0 or mesh.facing[other] != mesh.facing[i]:
            bits |= 1 << k
    return bits


cdef inline bint straddles(const Mesh* mesh, const Look* look, const int* c) noexcept nogil:
    """Is some corner outside the heights that are drawn?"""
    cdef int k
    for k in range(3):
        if not look.low <= mesh.heights[c[k]] < look.high:
            return True
    return False


cdef inline bint inside_picture(const Picture* p, double u, double v) noexcept nogil:
    """Do the four texels around (u, v) lie in the picture, with room for rounding?"""
    return 0.02 < u < p.width - 1.02 and 0.02 < v < p.height - 1.02


cdef void set_up(const Mesh* mesh, const Picture* picture, const Look* look, Py_ssize_t i, Triangle* r) noexcept nogil:
    """Corners and planes of triangle i."""
    cdef const int* c = mesh.triangles + 3 * i
    cdef const double* p0 = mesh.points + 3 * c[0]
    cdef const double* p1 = mesh.points + 3 * c[1]
    cdef const double* p2 = mesh.points + 3 * c[2]
    cdef const float* light = mesh.front if mesh.facing[i] == 1 else mesh.back
    cdef double x1 = p1[0] - p0[0], y1 = p1[1] - p0[1], x2 = p2[0] - p0[0], y2 = p2[1] - p0[1]
    cdef double inverse = 1.0 / (x1 * y2 - y1 * x2)
    cdef double w = picture.width, h = picture.height, shift = 0.5 if picture.smooth else 0.0
    cdef double q0 = 1, q1 = 1, q2 = 1
    r.x[0], r.x[1], r.x[2] = p0[0], p1[0], p2[0]
    r.y[0], r.y[1], r.y[2] = p0[1], p1[1], p2[1]
    r.z = plane(p0[2], p1[2], p2[2], x1, y1, x2, y2, inverse)
    r.light = plane(256 * light[c[0]], 256 * light[c[1]], 256 * light[c[2]], x1, y1, x2, y2, inverse)
    r.perspective = mesh.inverse != NULL
    if r.perspective:
        q0, q1, q2 = mesh.inverse[c[0]], mesh.inverse[c[1]], mesh.inverse[c[2]]
        r.q = plane(q0, q1, q2, x1, y1, x2, y2, inverse)
    r.u = plane((w * mesh.uvs[2 * c[0]] - shift) * q0, (w * mesh.uvs[2 * c[1]] - shift) * q1,
                (w * mesh.uvs[2 * c[2]] - shift) * q2, x1, y1, x2, y2, inverse)
    r.v = plane((h * mesh.uvs[2 * c[0] + 1] - shift) * q0, (h * mesh.uvs[2 * c[1] + 1] - shift) * q1,
                (h * mesh.uvs[2 * c[2] + 1] - shift) * q2, x1, y1, x2, y2, inverse)
    r.split = look.split and straddles(mesh, look, c)
    if r.split:
        r.height = plane(mesh.heights[c[0]], mesh.heights[c[1]], mesh.heights[c[2]], x1, y1, x2, y2, inverse)
    r.tint = &look.front[0] if mesh.facing[i] == 1 else &look.back[0]
    r.soft = soft_edges(mesh, i) if look.soft else 0
    r.inside = (inside_picture(picture, w * mesh.uvs[2 * c[0]] - shift, h * mesh.uvs[2 * c[0] + 1] - shift)
                and inside_picture(picture, w * mesh.uvs[2 * c[1]] - shift, h * mesh.uvs[2 * c[1] + 1] - shift)
                and inside_picture(picture, w * mesh.uvs[2 * c[2]] - shift, h * mesh.uvs[2 * c[2] + 1] - shift))


cdef inline void one_pixel(const Target* t, const Picture* picture, const Look* look, const Triangle* r, float* depth,
                           u8* line, int x, double dx, double dy, float cover) noexcept nogil:
    """Test, sample, light and lay one pixel whose centre is (dx, dy) from the first corner."""
    cdef double z = value(&r.z, dx, dy), height, q = 1
    cdef u64 m
    cdef u32 a
    cdef int light
    if <float>z < depth[x]:
        return
    if r.split:
        height = value(&r.height, dx, dy)
        if height < look.low or height >= look.high:
            return
    if r.perspective:
        q = value(&r.q, dx, dy)
        q = 1 / q if q > 1e-30 or q < -1e-30 else 0
    m = sample(picture, texel_place(value(&r.u, dx, dy) * q), texel_place(value(&r.v, dx, dy) * q))
    a = alpha_of(picture, m) * look.opacity
    a = (a + 128 + ((a + 128) >> 8)) >> 8
    if cover < 1:
        a = <u32><int>(a * cover + <float>0.5)
    if a == 0:
        return
    light = <int>(value(&r.light, dx, dy) + 0.5)
    light = light if light > 0 else 0
    m = (m * <u32>(light if light < 256 else 256) >> 8) & 0x00FF00FF00FF00FFULL
    m = softkit_tinted(m, r.tint)
    if cover >= 0.5:
        depth[x] = <float>z
    put(t, picture, line + x * t.size, m, a)


cdef inline softkit_span_t fast_span(const Target* t, const Picture* picture, const Triangle* r) noexcept nogil:
    """What all rows have in common when a smoothly sampled triangle lies inside the picture's borders and all on one
    side of the plane."""
    cdef softkit_span_t s
    s.texels, s.pitch = picture.texels, picture.pitch
    s.ux, s.vx = <int>(r.u.dx * 65536.0), <int>(r.v.dx * 65536.0)
    s.lx = <int>(r.light.dx * 65536.0)
    s.zx = <float>r.z.dx
    s.mask = t.rgb_mask if t.ao < 0 else 0xFFFFFFFFu
    s.alpha = 0 if t.ao < 0 else lane_byte(t.ao)
    s.alpha_byte = picture.ao
    s.tint = r.tint
    return s


cdef inline void run(const Target* t, const Picture* picture, const Look* look, const Triangle* r, softkit_span_t* span,
                     float* near, u8* line, int x0, int x1, double dy, bint fast) noexcept nogil:
    """Pixels x0 to x1 of a row, all inside the triangle."""
    cdef double dx = x0 + 0.5 - r.x[0], u = value(&r.u, dx, dy), v = value(&r.v, dx, dy)
    cdef int x
    if fast and (r.inside or (inside_picture(picture, u, v) and inside_picture(
            picture, u + r.u.dx * (x1 - x0), v + r.v.dx * (x1 - x0)))):
        span.u = <int>(u * 65536.0)
        span.v = <int>(v * 65536.0)
        span.light = <int>(value(&r.light, dx, dy) * 65536.0) + 32768
        span.z = <float>value(&r.z, dx, dy)
        softkit_span(<u32*>line + x0, near + x0, x1 - x0, span)
        return
    for x in range(x0, x1):
        one_pixel(t, picture, look, r, near, line, x, x + 0.5 - r.x[0], dy, 1)


cdef inline double cross_row(const Triangle* r, int a, int b, double y) noexcept nogil:
    """x where the edge between corners a and b meets height y: always from the upper corner, so that neighbours agree."""
    cdef int swap
    if r.y[a] > r.y[b]:
        swap = a
        a = b
        b = swap
    return r.x[a] + (y - r.y[a]) * ((r.x[b] - r.x[a]) / (r.y[b] - r.y[a]))


cdef inline int pixel_from(double x, int low, int high) noexcept nogil:
    """First pixel whose centre is at x or right of it, kept within low and high (not negative)."""
    cdef int i
    x = x - 0.5
    if x <= low:
        return low
    if x >= high:
        return high
    i = <int>x
    return i + (i < x)


cdef inline double slope(const Triangle* r, int a, int b) noexcept nogil:
    """dx / dy of an edge, a above b (0 for a level edge, which no row meets)."""
    return (r.x[b] - r.x[a]) / (r.y[b] - r.y[a]) if r.y[b] > r.y[a] else 0


cdef void hard_triangle(const Target* t, const Picture* picture, const Look* look, const Triangle* r, float* depth,
                        int y0, int y1, bint fast) noexcept nogil:
    """Rows y0 to y1 of a triangle without outline edges."""
    cdef int top = 0, middle = 1, bottom = 2, y, x0, x1, first, last
    cdef double a, b, centre, long_slope, upper_slope, lower_slope
    cdef softkit_span_t span = fast_span(t, picture, r)
    cdef u8* line
    cdef float* near
    if r.y[middle] < r.y[top]:
        top, middle = middle, top
    if r.y[bottom] < r.y[top]:
        top, bottom = bottom, top
    if r.y[bottom] < r.y[middle]:
        middle, bottom = bottom, middle
    first = pixel_from(r.y[top], y0, y1)
    last = pixel_from(r.y[bottom], y0, y1)
    long_slope, upper_slope, lower_slope = slope(r, top, bottom), slope(r, top, middle), slope(r, middle, bottom)
    for y in range(first, last):
        centre = y + 0.5
        a = r.x[top] + (centre - r.y[top]) * long_slope
        if centre < r.y[middle]:
            b = r.x[top] + (centre - r.y[top]) * upper_slope
        else:
            b = r.x[middle] + (centre - r.y[middle]) * lower_slope
        if a > b:
            a, b = b, a
        x0 = pixel_from(a, t.x0, t.x1)
        x1 = pixel_from(b, t.x0, t.x1)
        if x1 <= x0:
            continue
        line = t.data + y * t.pitch
        near = depth + <Py_ssize_t>y * t.width
        run(t, picture, look, r, &span, near, line, x0, x1, centre - r.y[0], fast)


cdef inline double distance_row(const Triangle* r, const double* nx, const double* ny, int k, int y) noexcept nogil:
    """Signed distance of the middle of pixel (0, y) from edge k, inside positive; nx[k] more for each pixel."""
    return (0.5 - r.x[k]) * nx[k] + (y + 0.5 - r.y[k]) * ny[k]


cdef void normals(const Triangle* r, double* nx, double* ny) noexcept nogil:
    """Unit normals of the three edges, pointing inside."""
    cdef double sign = (r.x[1] - r.x[0]) * (r.y[2] - r.y[0]) - (r.y[1] - r.y[0]) * (r.x[2] - r.x[0])
    cdef double ex, ey, length
    cdef int k, n
    for k in range(3):
        n = k + 1 if k < 2 else 0
        ex, ey = r.x[n] - r.x[k], r.y[n] - r.y[k]
        length = sqrt(ex * ex + ey * ey)
        length = (length if sign > 0 else -length) if length > 1e-12 else 1
        nx[k], ny[k] = -ey / length, ex / length


cdef inline void narrow(double distance, double slope, double least, const Target* t, int* x0, int* x1) noexcept nogil:
    """Keep the pixels of a row where distance + slope * x is at least `least`."""
    cdef int x
    if slope > 1e-9:
        x = pixel_from((least - distance) / slope + 0.5, t.x0, t.x1)
        x0[0] = x if x > x0[0] else x0[0]
    elif slope < -1e-9:
        x = pixel_from((least - distance) / slope + 0.5, t.x0, t.x1)
        x1[0] = x if x < x1[0] else x1[0]
    elif distance < least:
        x1[0] = x0[0]


cdef void soft_triangle(const Target* t, const Picture* picture, const Look* look, const Triangle* r, float* depth,
                        int y0, int y1, bint fast) noexcept nogil:
    """Rows y0 to y1 of a triangle with outline edges: hard at the others, coverage at these."""
    cdef double[3] nx
    cdef double[3] ny
    cdef double[3] far
    cdef double centre
    cdef double left = min(r.x[0], min(r.x[1], r.x[2])) - 0.5, right = max(r.x[0], max(r.x[1], r.x[2])) + 0.5
    cdef double up = min(r.y[0], min(r.y[1], r.y[2])) - 0.5, down = max(r.y[0], max(r.y[1], r.y[2])) + 0.5
    cdef int k, n, y, x, x0, x1, full0, full1
    cdef softkit_span_t span = fast_span(t, picture, r)
    normals(r, nx, ny)
    for y in range(pixel_from(up, y0, y1), pixel_from(down, y0, y1)):
        centre = y + 0.5
        x0, x1 = pixel_from(left, t.x0, t.x1), pixel_from(right, t.x0, t.x1)
        for k in range(3):
            n = k + 1 if k < 2 else 0
            far[k] = distance_row(r, nx, ny, k, y)
            if r.soft & (1 << k):
                narrow(far[k], nx[k], -0.5, t, &x0, &x1)
            elif r.y[k] == r.y[n]:  # a level edge belongs to the triangle below it
                if (centre >= r.y[k]) != (ny[k] > 0):
                    x1 = x0
            elif nx[k] > 0:
                x = pixel_from(cross_row(r, k, n, centre), t.x0, t.x1)
                x0 = x if x > x0 else x0
            else:
                x = pixel_from(cross_row(r, k, n, centre), t.x0, t.x1)
                x1 = x if x < x1 else x1
        if x1 <= x0:
            continue
        full0, full1 = x0, x1
        for k in range(3):
            if r.soft & (1 << k):
                narrow(far[k], nx[k], 0.5, t, &full0, &full1)
        full1 = full1 if full1 > full0 else full0
        full0 = full0 if full0 < x1 else x1
        full1 = full1 if full1 < x1 else x1
        rim(t, picture, look, r, far, nx, depth, y, x0, full0)
        run(t, picture, look, r, &span, depth + <Py_ssize_t>y * t.width, t.data + y * t.pitch, full0, full1,
            centre - r.y[0], fast)
        rim(t, picture, look, r, far, nx, depth, y, full1, x1)


cdef void rim(const Target* t, const Picture* picture, const Look* look, const Triangle* r, const double* far,
              const double* nx, float* depth, int y, int x0, int x1) noexcept nogil:
    """Pixels x0 to x1 of row y, each with the least coverage that an outline edge gives it."""
    cdef int x, k
    cdef double distance
    cdef float cover
    for x in range(x0, x1):
        cover = 1
        for k in range(3):
            if r.soft & (1 << k):
                distance = far[k] + x * nx[k] + 0.5
                cover = <float>distance if distance < cover else cover
        if cover > 0:
            one_pixel(t, picture, look, r, depth + <Py_ssize_t>y * t.width, t.data + y * t.pitch, x,
                      x + 0.5 - r.x[0], y + 0.5 - r.y[0], cover)


cdef void draw_slot(const Target* t, const Mesh* mesh, const Picture* picture, const Look* look, float* depth,
                    int slot, int slots) noexcept nogil:
    cdef Triangle r
    cdef Py_ssize_t i, k
    cdef int y0, y1, index = t.y0 // BAND + slot
    cdef bint fast = (picture.same and picture.smooth and (picture.ao < 0 or t.ao < 0) and look.opacity == 255
                      and mesh.inverse == NULL and picture.width > 2 and picture.height > 2)
    while index * BAND < t.y1:
        y0 = index * BAND if index * BAND > t.y0 else t.y0
        y1 = (index + 1) * BAND if (index + 1) * BAND < t.y1 else t.y1
        for k in range(mesh.count):
            i = mesh.order[k]
            if mesh.rows[2 * i] >= y1 or mesh.rows[2 * i + 1] <= y0:
                continue
            set_up(mesh, picture, look, i, &r)
            if r.soft:
                soft_triangle(t, picture, look, &r, depth, y0, y1, fast and not r.split)
            else:
                hard_triangle(t, picture, look, &r, depth, y0, y1, fast and not r.split)
        index += slots


cdef void set_tint(const Picture* picture, u32 color, u16* tint) noexcept nogil:
    """0xRRGGBB-- as factors of 256ths by byte of the picture's pixels."""
    cdef u32[3] channel
    cdef int k
    for k in range(3):
        channel[k] = (color >> (24 - 8 * k)) & 255
        channel[k] += channel[k] >> 7
    tint[0] = tint[1] = tint[2] = tint[3] = 256
    tint[picture.ro], tint[picture.go], tint[picture.bo] = <u16>channel[0], <u16>channel[1], <u16>channel[2]


def draw(u8[::1] pixels, const int[::1] info, float[::1] depth, const double[:, ::1] points, const double[:, ::1] uvs,
         const float[::1] front, const float[::1] back, const double[::1] heights, const double[::1] inverse,
         const int[:, ::1] triangles, const int[:, ::1] neighbours, const u8[::1] texels, const int[::1] texel_info,
         u32 front_tint, u32 back_tint, int opacity, double low, double high, double sign, bint smooth, bint soft,
         bint sort, int[::1] order, short[:, ::1] rows, u8[::1] facing, double[::1] keys, int[::1] buckets,
         int threads):
    """Lay a mesh of m triangles over n points.

    depth (width * height): what is nearer than what, larger is nearer; written. points (n, 3): pixels x and y, and
    depth. uvs (n, 2): 0 to 1 over the picture. front, back (n): light 0 to 1 of the two sides. heights (n): world z;
    only pixels with low <= z < high are laid (empty: all). inverse (n): 1 / distance from the eye for textures in
    right perspective (empty: flat). triangles (m, 3). neighbours (m, 3): across the edges from corner k to k + 1, -1:
    none. tints: 0xRRGGBB--. opacity 0 to 255. sign: 1 when positive screen area is the front, else -1. smooth:
    bilinear, else nearest. soft: smooth outline. sort: far to near by depth (left out where an opaque mesh
    shows one side alone, which cannot hide itself), else as listed. order (m), rows (m, 2),
    facing (m), keys (m), buckets (2048): scratch. Returns how many triangles were left out for bad coordinates.
    """
    cdef Target t = open_target(&pixels[0], &info[0])
    cdef Picture picture = open_picture(&t, &texels[0], &texel_info[0], smooth)
    cdef Mesh mesh
    cdef Look look
    cdef Py_ssize_t i
    cdef int slot, bad = 0, sides = 0
    mesh.count = triangles.shape[0]
    if mesh.count == 0 or points.shape[0] == 0 or t.x1 <= t.x0 or t.y1 <= t.y0:
        return 0
    mesh.points, mesh.uvs, mesh.front, mesh.back = &points[0, 0], &uvs[0, 0], &front[0], &back[0]
    mesh.heights = &heights[0] if heights.shape[0] else NULL
    mesh.inverse = &inverse[0] if inverse.shape[0] else NULL
    mesh.triangles, mesh.neighbours, mesh.order = &triangles[0, 0], &neighbours[0, 0], &order[0]
    mesh.rows, mesh.facing = &rows[0, 0], &facing[0]
    look.opacity, look.low, look.high, look.split, look.soft = opacity, low, high, mesh.heights != NULL, soft
    set_tint(&picture, front_tint, look.front)
    set_tint(&picture, back_tint, look.back)
    with nogil:
        for i in range(mesh.count):
            bad += prepare(&t, &mesh, &look, sign, i, &rows[i, 0], &facing[i], &keys[i])
            sides |= facing[i]
        if sort and (sides == 3 or opacity < 255 or picture.ao >= 0):
            sort_far_first(mesh.count, &keys[0], &buckets[0], &order[0])
        else:
            for i in range(mesh.count):
                order[i] = <int>i
        if threads <= 1 or mesh.count * 20 < WORTH_THREADS:
            draw_slot(&t, &mesh, &picture, &look, &depth[0], 0, 1)
        else:
            for slot in prange(threads, schedule="static", chunksize=1, num_threads=threads):
                draw_slot(&t, &mesh, &picture, &look, &depth[0], slot, threads)
    return bad


def clear_depth(float[::1] depth, int width, int x0, int y0, int x1, int y1):
    """Make everything in a rectangle of the depth buffer farthest."""
    cdef int x, y
    cdef float* row
    with nogil:
        for y in range(y0, y1):
            row = &depth[0] + <Py_ssize_t>y * width
            for x in range(x0, x1):
                row[x] = <float>-3e38


def find_neighbours(const int[:, ::1] triangles, int[::1] heads, int[::1] links, int[:, ::1] neighbours):
    """neighbours (m, 3): the triangle across each edge from corner k to k + 1, or -1. heads (points), links (3 m):
    scratch. An edge of more than two triangles joins the first two."""
    cdef Py_ssize_t m = triangles.shape[0], i
    cdef int k, a, b, low, high, other, before
    with nogil:
        for i in range(heads.shape[0]):
            heads[i] = -1
        for i in range(m):
            for k in range(3):
                neighbours[i, k] = -1
                a, b = triangles[i, k], triangles[i, k + 1 if k < 2 else 0]
                low = a if a < b else b
                high = b if a < b else a
                before = -1
                other = heads[low]
                while other >= 0 and not has_edge(triangles, other, low, high):
                    before = other
                    other = links[other]
                if other < 0:
                    links[3 * i + k] = heads[low]
                    heads[low] = <int>(3 * i + k)
                    continue
                neighbours[i, k] = other // 3
                neighbours[other // 3, other % 3] = <int>i
                if before < 0:
                    heads[low] = links[other]
                else:
                    links[before] = links[other]


cdef inline bint has_edge(const int[:, ::1] triangles, int place, int low, int high) noexcept nogil:
    cdef int a = triangles[place // 3, place % 3], b = triangles[place // 3, (place + 1) % 3]
    return (a == low and b == high) or (a == high and b == low)
