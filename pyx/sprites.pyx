"""Many small soft dots, streaks and turned pictures laid or added straight into a Surface's pixels, in list
order.

Two passes: `prepare` turns particles into marks (a capsule from a to b of some radius, and a colour), each
its own; `splat` cuts the picture into bands of rows, each drawn by one thread from the whole list, so that
the bytes do not depend on the number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport ceil, cos, floor, sin  # pictures only: nothing here is stepped state
from libc.string cimport memcpy

from fieldops cimport smaller
from pixels cimport Target, div255, open_target, over, pack, u8, u32

cdef enum:
    CHUNK = 1024
    STEPS = 64  # entries of the tables over life
    FALL = 256  # entries of the falloff over the square of the distance
    AGE = 0
    LIFE = 1
    ANGLE = 2
    SCALE = 4
    TRAITS = 5

cdef double FAR = 1e7


cdef struct Mark:
    float ax, ay, bx, by, r, angle
    u32 color, bad


MARK_BYTES = sizeof(Mark)


cdef inline bint usable(float v) noexcept nogil:
    return -FAR < v < FAR


cdef inline u32 faded(u32 color, double share) noexcept nogil:
    return (color & <u32>0xFFFFFF00) | <u32>((color & 255) * share + 0.5)


cdef inline void finish_mark(Mark* m, double radius, u32 color) noexcept nogil:
    """A mark under about a pixel keeps a pixel's size and loses opacity instead."""
    cdef double least = 0.75
    if radius < least:
        color = faded(color, radius * radius / (least * least))
        radius = least
    m.r = <float>radius
    m.color = color
    m.bad = not (usable(m.ax) and usable(m.ay) and usable(m.bx) and usable(m.by) and radius < FAR)


cdef void prepare_range(const double* x, const double* before, double alpha, const double* v, double streak,
                        const double* traits, const double* camera, const double* sizes, const u32* colors,
                        Mark* marks, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t i
    cdef int k
    cdef double px, py, share
    cdef Mark* m
    for i in range(first, end):
        m = marks + i
        px = before[2 * i] + alpha * (x[2 * i] - before[2 * i]) - camera[0]
        py = before[2 * i + 1] + alpha * (x[2 * i + 1] - before[2 * i + 1]) - camera[1]
        m.ax = <float>(camera[2] * px + camera[3] * py + camera[6])
        m.ay = <float>(camera[4] * px + camera[5] * py + camera[7])
        m.bx = m.ax
        m.by = m.ay
        if streak > 0.0:
            share = smaller(streak, traits[TRAITS * i + AGE])
            px = -share * v[2 * i]
            py = -share * v[2 * i + 1]
            m.bx = m.ax + <float>(camera[2] * px + camera[3] * py)
            m.by = m.ay + <float>(camera[4] * px + camera[5] * py)
        share = STEPS * traits[TRAITS * i + AGE] / traits[TRAITS * i + LIFE]
        k = <int>share if 0.0 < share < STEPS else (0 if not share > 0.0 else STEPS - 1)
        m.angle = <float>(traits[TRAITS * i + ANGLE] * camera[9] + camera[10])
        finish_mark(m, 0.5 * camera[8] * sizes[k] * traits[TRAITS * i + SCALE], colors[k])


def prepare(const double[:, ::1] x, const double[:, ::1] before, double alpha, const double[:, ::1] v,
            double streak, const double[:, ::1] traits, const double[::1] camera, const double[::1] sizes,
            const u32[::1] colors, u8[::1] marks, int threads):
    """Marks of all particles at `alpha` between the last two steps.

    camera: world centre x, y; matrix xx, xy, yx, yy; screen centre x, y; pixels a wu; sign and offset of
    angles. streak: seconds of motion drawn behind each. sizes, colors (0xRRGGBBAA): 64 values over life.
    marks: n * MARK_BYTES bytes.
    """
    cdef Py_ssize_t k, n = x.shape[0]
    if n == 0:
        return
    cdef const double* px = &x[0, 0]
    cdef const double* pb = &before[0, 0]
    cdef const double* pv = &v[0, 0]
    cdef const double* pt = &traits[0, 0]
    cdef const double* pc = &camera[0]
    cdef const double* ps = &sizes[0]
    cdef const u32* pk = &colors[0]
    cdef Mark* m = <Mark*>&marks[0]
    for k in prange((n + CHUNK - 1) // CHUNK, nogil=True, schedule="static", num_threads=threads):
        prepare_range(px, pb, alpha, pv, streak, pt, pc, ps, pk, m, k * CHUNK,
                      n if (k + 1) * CHUNK > n else (k + 1) * CHUNK)


def prepare_trails(const double[:, :, ::1] trail, Py_ssize_t newest, const double[:, ::1] x,
                   const double[::1] camera, const double[:, ::1] traits, const double[::1] sizes,
                   const u32[::1] colors, u8[::1] marks):
    """Marks of trails, oldest piece first: n * length capsules that narrow and fade toward the old end."""
    cdef Py_ssize_t i, j, n = trail.shape[0], length = trail.shape[1], slot
    cdef int k
    cdef double px, py, qx, qy, share, part
    cdef Mark* m = <Mark*>&marks[0] if n > 0 else NULL
    with nogil:
        for i in range(n):
            share = STEPS * traits[i, AGE] / traits[i, LIFE]
            k = <int>share if 0.0 < share < STEPS else (0 if not share > 0.0 else STEPS - 1)
            slot = newest + 1 if newest + 1 < length else 0
            px = trail[i, slot, 0] - camera[0]
            py = trail[i, slot, 1] - camera[1]
            for j in range(length):
                slot = slot + 1 if slot + 1 < length else 0
                qx = (trail[i, slot, 0] if j < length - 1 else x[i, 0]) - camera[0]
                qy = (trail[i, slot, 1] if j < length - 1 else x[i, 1]) - camera[1]
                m.ax = <float>(camera[2] * px + camera[3] * py + camera[6])
                m.ay = <float>(camera[4] * px + camera[5] * py + camera[7])
                m.bx = <float>(camera[2] * qx + camera[3] * qy + camera[6])
                m.by = <float>(camera[4] * qx + camera[5] * qy + camera[7])
                m.angle = 0.0
                part = (j + 1.0) / (length + 1.0)
                finish_mark(m, 0.5 * part * camera[8] * sizes[k] * traits[i, SCALE],
                            faded(colors[k], 0.7 * part))
                px = qx
                py = qy
                m += 1


cdef inline void add(const Target* t, u8* p, u32 packed, u32 color, u32 a) noexcept nogil:
    """Light added: each channel plus colour * a / 256, held at 255."""
    cdef u32 q, low, high, over_low, over_high
    cdef u32 v
    if t.size == 4:
        memcpy(&q, p, 4)
        low = (q & 0xFF00FFu) + ((((packed & 0xFF00FFu) * a) >> 8) & 0xFF00FFu)
        high = ((q >> 8) & 0xFF00FFu) + (((((packed >> 8) & 0xFF00FFu) * a) >> 8) & 0xFF00FFu)
        over_low = low & 0x1000100u
        over_high = high & 0x1000100u
        low = (low | (over_low - (over_low >> 8))) & 0xFF00FFu
        high = (high | (over_high - (over_high >> 8))) & 0xFF00FFu
        q = low | (high << 8)
        memcpy(p, &q, 4)
        return
    v = p[t.ro] + ((((color >> 24) & 255) * a) >> 8)
    p[t.ro] = <u8>(v if v < 255 else 255)
    v = p[t.go] + ((((color >> 16) & 255) * a) >> 8)
    p[t.go] = <u8>(v if v < 255 else 255)
    v = p[t.bo] + ((((color >> 8) & 255) * a) >> 8)
    p[t.bo] = <u8>(v if v < 255 else 255)


cdef inline void put(const Target* t, u8* p, u32 packed, u32 color, u32 a, bint additive) noexcept nogil:
    if additive:
        add(t, p, packed, color, a)
    else:
        over(t, p, color, packed, a if a < 255 else 255)


cdef inline void dot_row(u32* q, int n, float dx, float row_part, float scale, const unsigned short* fall,
                         u32 alpha, u32 packed, u32 mask, bint additive) noexcept nogil:
    """n pixels of a dot's row, 4 bytes a pixel. No branch in the loops: a dot's edge is too short to
    predict."""
    cdef int x
    cdef u32 a, low, high, over_low, over_high, even = packed & 0xFF00FFu, odd = (packed >> 8) & 0xFF00FFu
    cdef float square
    for x in range(n):
        square = (dx * dx + row_part) * scale
        a = (fall[<int>(square if square < FALL else FALL)] * alpha) >> 8
        if additive:
            low = (q[x] & 0xFF00FFu) + (((even * a) >> 8) & 0xFF00FFu)
            high = ((q[x] >> 8) & 0xFF00FFu) + (((odd * a) >> 8) & 0xFF00FFu)
            over_low = low & 0x1000100u
            over_high = high & 0x1000100u
            low = (low | (over_low - (over_low >> 8))) & 0xFF00FFu
            high = (high | (over_high - (over_high >> 8))) & 0xFF00FFu
            q[x] = low | (high << 8)
        else:
            low = (even * a + (q[x] & 0xFF00FFu) * (256 - a)) >> 8
            high = odd * a + ((q[x] >> 8) & 0xFF00FFu) * (256 - a)
            q[x] = (((low & 0xFF00FFu) | (high & 0xFF00FF00u)) & mask) | (q[x] & ~mask)
        dx = dx + 1


cdef inline int held(double v, int low, int high) noexcept nogil:
    return low if v < low else (high if v > high else <int>v)


cdef void splat_mark(const Target* t, const Mark* m, const unsigned short* fall, bint additive,
                     int y0, int y1) noexcept nogil:
    cdef int x, y, left, right, top, bottom
    cdef float low_x = m.ax if m.ax < m.bx else m.bx, high_x = m.ax if m.ax > m.bx else m.bx
    cdef float low_y = m.ay if m.ay < m.by else m.by, high_y = m.ay if m.ay > m.by else m.by
    cdef float dx, dy, ex, ey, square, along, scale = FALL / (m.r * m.r), row_part
    cdef u32 alpha = m.color & 255, packed = pack(t, m.color) if t.size == 4 else 0, a
    cdef u8* p
    cdef bint plain = t.size == 4 and (additive or t.ao < 0)
    alpha = alpha + (alpha >> 7)
    # Only pixels whose middle lies within the radius: for small dots half as many as their outer box has.
    top = held(low_y - m.r + 0.5, y0, y1)
    bottom = held(high_y + m.r + 0.5, y0, y1)
    left = held(low_x - m.r + 0.5, t.x0, t.x1)
    right = held(high_x + m.r + 0.5, t.x0, t.x1)
    if top >= bottom or left >= right or alpha == 0:
        return
    ex = m.bx - m.ax
    ey = m.by - m.ay
    square = ex * ex + ey * ey
    along = 1 / square if square > 0.01 else 0
    for y in range(top, bottom):
        dy = y + <float>0.5 - m.ay
        p = t.data + y * t.pitch + left * t.size
        row_part = dy * dy
        if along == 0 and plain:
            dx = left + <float>0.5 - m.ax
            dot_row(<u32*>p, right - left, dx, row_part, scale, fall, alpha, packed, t.rgb_mask, additive)
            continue
        for x in range(left, right):
            dx = x + <float>0.5 - m.ax
            if along > 0:
                square = (dx * ex + dy * ey) * along
                square = 0 if square < 0 else (1 if square > 1 else square)
                square = (dx - square * ex) * (dx - square * ex) + (dy - square * ey) * (dy - square * ey)
            else:
                square = dx * dx + row_part
            square = square * scale
            if square < FALL:
                a = (fall[<int>square] * alpha) >> 8
                if a:
                    put(t, p, packed, m.color, a, additive)
            p += t.size


def splat(u8[::1] marks, const int[::1] info, u8[::1] pixels, const unsigned short[::1] fall, bint additive,
          int bands, int threads):
    """Lay the marks (see `prepare`) on a surface; returns how many were left out for having no usable place.

    fall: 257 values 0 to 256, opacity over (distance / radius)^2, the last one 0. additive: light is added;
    else laid over.
    """
    cdef Py_ssize_t n = marks.shape[0] // sizeof(Mark), i, bad = 0
    cdef int k, height
    cdef Mark* m = <Mark*>&marks[0] if n > 0 else NULL
    cdef const unsigned short* f = &fall[0]
    if n == 0 or pixels.shape[0] == 0:
        return 0
    cdef Target t = open_target(&pixels[0], &info[0])
    height = (t.y1 - t.y0 + bands - 1) // bands
    for k in prange(bands, nogil=True, schedule="static", num_threads=threads):
        splat_band(&t, m, n, f, additive, t.y0 + k * height, t.y0 + (k + 1) * height)
    for i in range(n):
        bad += m[i].bad
    return bad


cdef void splat_band(const Target* t, const Mark* m, Py_ssize_t n, const unsigned short* fall, bint additive,
                     int y0, int y1) noexcept nogil:
    cdef Py_ssize_t i
    cdef float low, high
    y1 = y1 if y1 < t.y1 else t.y1
    for i in range(n):
        low = (m[i].ay if m[i].ay < m[i].by else m[i].by) - m[i].r
        high = (m[i].ay if m[i].ay > m[i].by else m[i].by) + m[i].r
        if not m[i].bad and high > y0 and low < y1:
            splat_mark(t, m + i, fall, additive, y0, y1)


cdef void picture_mark(const Target* t, const Mark* m, const Target* pic, bint additive, int y0,
                       int y1) noexcept nogil:
    """A picture turned by the mark's angle, its longer side 2 r, tinted by the mark's colour; bilinear."""
    cdef float half = m.r * <float>1.4142136 + 1, s, c, u, v, dx, dy, fu, fv
    cdef float size = pic.width if pic.width > pic.height else pic.height
    cdef int x, y, left, right, top, bottom, iu, iv, k, ku, kv
    cdef float[4] sum_
    cdef float part
    cdef u32 alpha = m.color & 255, color, a
    cdef u8* p
    cdef const u8* q
    cdef float scale = size / (2 * m.r)
    top = held(floor(m.ay - half), y0, y1)
    bottom = held(ceil(m.ay + half), y0, y1)
    left = held(floor(m.ax - half), t.x0, t.x1)
    right = held(ceil(m.ax + half), t.x0, t.x1)
    c = <float>cos(m.angle) * scale
    s = <float>sin(m.angle) * scale
    for y in range(top, bottom):
        for x in range(left, right):
            dx = x + <float>0.5 - m.ax
            dy = y + <float>0.5 - m.ay
            u = c * dx + s * dy + <float>0.5 * (pic.width - 1)
            v = c * dy - s * dx + <float>0.5 * (pic.height - 1)
            if not (-1 < u < pic.width and -1 < v < pic.height):
                continue
            iu = <int>floor(u)
            iv = <int>floor(v)
            fu = u - iu
            fv = v - iv
            sum_[0] = sum_[1] = sum_[2] = sum_[3] = 0
            for k in range(4):
                ku = iu + (k & 1)
                kv = iv + (k >> 1)
                if ku < 0 or kv < 0 or ku >= pic.width or kv >= pic.height:
                    continue
                q = pic.data + kv * pic.pitch + ku * pic.size
                part = (fu if k & 1 else 1 - fu) * (fv if k >> 1 else 1 - fv)
                part = part * (q[pic.ao] if pic.ao >= 0 else 255)
                sum_[0] = sum_[0] + part * q[pic.ro]
                sum_[1] = sum_[1] + part * q[pic.go]
                sum_[2] = sum_[2] + part * q[pic.bo]
                sum_[3] = sum_[3] + part
            if sum_[3] < 1:
                continue
            part = 1 / sum_[3]
            color = tint(sum_[0] * part, m.color >> 24) << 24 | tint(sum_[1] * part, m.color >> 16) << 16
            color |= tint(sum_[2] * part, m.color >> 8) << 8
            a = div255(<u32>(sum_[3] + <float>0.5) * alpha)
            p = t.data + y * t.pitch + x * t.size
            put(t, p, pack(t, color) if t.size == 4 else 0, color, a, additive)


cdef inline u32 tint(float value, u32 by) noexcept nogil:
    return div255(<u32>(value + <float>0.5) * (by & 255))


def place_pictures(u8[::1] marks, const int[::1] info, u8[::1] pixels, const int[::1] picture_info,
                   const u8[::1] picture, bint additive, int bands, int threads):
    """Lay one turned picture for each mark; returns how many were left out for having no usable place."""
    cdef Py_ssize_t n = marks.shape[0] // sizeof(Mark), i, bad = 0
    cdef int k, height
    cdef Mark* m = <Mark*>&marks[0] if n > 0 else NULL
    if n == 0 or pixels.shape[0] == 0 or picture.shape[0] == 0:
        return 0
    cdef Target t = open_target(&pixels[0], &info[0])
    cdef Target pic = open_target(<u8*>&picture[0], &picture_info[0])
    height = (t.y1 - t.y0 + bands - 1) // bands
    for k in prange(bands, nogil=True, schedule="static", num_threads=threads):
        picture_band(&t, m, n, &pic, additive, t.y0 + k * height, t.y0 + (k + 1) * height)
    for i in range(n):
        bad += m[i].bad
    return bad


cdef void picture_band(const Target* t, const Mark* m, Py_ssize_t n, const Target* pic, bint additive, int y0,
                       int y1) noexcept nogil:
    cdef Py_ssize_t i
    cdef float half
    y1 = y1 if y1 < t.y1 else t.y1
    for i in range(n):
        half = m[i].r * <float>1.4142136 + 1
        if not m[i].bad and m[i].ay + half > y0 and m[i].ay - half < y1:
            picture_mark(t, m + i, pic, additive, y0, y1)


def heat(const double[::1] values, int columns, int rows, const u32[::1] ramp, const int[::1] info,
         u8[::1] pixels, int threads):
    """Lay a grid of values 0..1, nodes evenly over the whole surface, as colours of a ramp (256,
    0xRRGGBBAA)."""
    cdef int y
    if pixels.shape[0] == 0 or columns < 2 or rows < 2:
        return
    cdef Target t = open_target(&pixels[0], &info[0])
    cdef const double* v = &values[0]
    cdef const u32* r = &ramp[0]
    for y in prange(t.y0, t.y1, nogil=True, schedule="static", num_threads=threads):
        heat_row(&t, v, columns, rows, r, y)


cdef void heat_row(const Target* t, const double* v, int columns, int rows, const u32* ramp,
                   int y) noexcept nogil:
    cdef int x, i, j
    cdef double gx, gy = (y + 0.5) * (rows - 1) / t.height, a, b
    cdef u32 color
    j = <int>gy
    gy = gy - j
    for x in range(t.x0, t.x1):
        gx = (x + 0.5) * (columns - 1) / t.width
        i = <int>gx
        gx = gx - i
        a = v[j * columns + i] + gx * (v[j * columns + i + 1] - v[j * columns + i])
        b = v[(j + 1) * columns + i] + gx * (v[(j + 1) * columns + i + 1] - v[(j + 1) * columns + i])
        a = a + gy * (b - a)
        color = ramp[held(a * 255.0 + 0.5, 0, 255)] if a == a else 0
        over(t, t.data + y * t.pitch + x * t.size, color, pack(t, color) if t.size == 4 else 0, color & 255)
