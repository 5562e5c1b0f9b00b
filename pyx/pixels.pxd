"""A pygame Surface's pixels as plain memory: where each channel's byte is, and how a colour is laid over one pixel.

The description of a surface comes as 12 ints (softkit.render.canvas.Canvas makes them): width, height, pitch, bytes a
pixel, byte offset of red, green, blue, alpha (-1: none), and the clip rectangle x0, y0, x1, y1.
"""

from libc.string cimport memcpy

ctypedef unsigned char u8
ctypedef unsigned int u32


cdef struct Target:
    u8* data
    Py_ssize_t pitch
    int width
    int height
    int size
    int ro
    int go
    int bo
    int ao
    int x0
    int y0
    int x1
    int y1
    u32 rgb_mask


cdef inline Target open_target(u8* data, const int* info) noexcept nogil:
    cdef Target t
    cdef u8[4] b
    t.data = data
    t.rgb_mask = 0
    t.width = info[0]
    t.height = info[1]
    t.pitch = info[2]
    t.size = info[3]
    t.ro = info[4]
    t.go = info[5]
    t.bo = info[6]
    t.ao = info[7]
    t.x0 = info[8] if info[8] > 0 else 0
    t.y0 = info[9] if info[9] > 0 else 0
    t.x1 = info[10] if info[10] < t.width else t.width
    t.y1 = info[11] if info[11] < t.height else t.height
    b[0] = b[1] = b[2] = b[3] = 0
    if t.size == 4:
        b[t.ro] = b[t.go] = b[t.bo] = 255
        if t.ao >= 0:
            b[t.ao] = 255
        memcpy(&t.rgb_mask, b, 4)
    return t


cdef inline u32 pack(const Target* t, u32 color) noexcept nogil:
    """A colour 0xRRGGBBAA as the surface stores it, opaque (only for 4-byte pixels)."""
    cdef u8[4] b
    cdef u32 out
    b[0] = b[1] = b[2] = b[3] = 0
    b[t.ro] = <u8>(color >> 24)
    b[t.go] = <u8>(color >> 16)
    b[t.bo] = <u8>(color >> 8)
    if t.ao >= 0:
        b[t.ao] = 255
    memcpy(&out, b, 4)
    return out


cdef inline u32 mix(u32 below, u32 over, u32 a) noexcept nogil:
    """(over * a + below * (255 - a)) / 255, rounded, in all four bytes at once."""
    cdef u32 low = (over & 0xFF00FFu) * a + (below & 0xFF00FFu) * (255u - a) + 0x800080u
    cdef u32 high = ((over >> 8) & 0xFF00FFu) * a + ((below >> 8) & 0xFF00FFu) * (255u - a) + 0x800080u
    low = ((low + ((low >> 8) & 0xFF00FFu)) >> 8) & 0xFF00FFu
    high = (high + ((high >> 8) & 0xFF00FFu)) & 0xFF00FF00u
    return low | high


cdef inline u32 div255(u32 v) noexcept nogil:
    v += 128
    return (v + (v >> 8)) >> 8


cdef inline void over_bytes(const Target* t, u8* p, u32 color, u32 a) noexcept nogil:
    """Lay 0xRRGGBB-- with opacity a (0 to 255) over the pixel at p, channel by channel: straight alpha, 'over'
    (Porter and Duff 1984): out alpha = a + below (1 - a), out colour = (c a + c_below below (1 - a)) / out alpha."""
    cdef u32 below, out, keep
    cdef u32 r = (color >> 24) & 255, g = (color >> 16) & 255, b = (color >> 8) & 255
    if a == 0:
        return
    if t.ao < 0 or p[t.ao] == 255:
        p[t.ro] = <u8>div255(r * a + p[t.ro] * (255 - a))
        p[t.go] = <u8>div255(g * a + p[t.go] * (255 - a))
        p[t.bo] = <u8>div255(b * a + p[t.bo] * (255 - a))
        return
    below = p[t.ao]
    keep = below * (255 - a)
    out = a * 255 + keep
    p[t.ro] = <u8>((r * a * 255 + p[t.ro] * keep + out // 2) // out)
    p[t.go] = <u8>((g * a * 255 + p[t.go] * keep + out // 2) // out)
    p[t.bo] = <u8>((b * a * 255 + p[t.bo] * keep + out // 2) // out)
    p[t.ao] = <u8>div255(out)


cdef inline void over(const Target* t, u8* p, u32 color, u32 packed, u32 a) noexcept nogil:
    """Lay a colour over one pixel of any supported format; `packed` is pack(t, color), used for 4-byte pixels."""
    cdef u32* q = <u32*>p
    if t.size == 4 and (t.ao < 0 or p[t.ao] == 255):
        q[0] = (mix(q[0], packed, a) & t.rgb_mask) | (q[0] & ~t.rgb_mask)
    else:
        over_bytes(t, p, color, a)


cdef inline void over_row(const Target* t, u8* row, const float* cover, int x0, int x1, u32 color, u32 packed,
                          float alpha) noexcept nogil:
    """Lay one colour over pixels x0 to x1 of a row, each with its own coverage 0 to 1 times alpha (0 to 255)."""
    cdef int x
    cdef u32 a
    cdef u32 mask = t.rgb_mask
    cdef u32* q = <u32*>row
    if t.size == 4 and t.ao < 0:
        for x in range(x0, x1):
            a = <u32><int>(cover[x] * alpha + 0.5)
            q[x] = (mix(q[x], packed, a) & mask) | (q[x] & ~mask)
    elif t.size == 4:
        for x in range(x0, x1):
            a = <u32><int>(cover[x] * alpha + 0.5)
            if a:
                over(t, row + 4 * x, color, packed, a)
    else:
        for x in range(x0, x1):
            a = <u32><int>(cover[x] * alpha + 0.5)
            over_bytes(t, row + x * t.size, color, a)


cdef inline void over_colors(const Target* t, u8* row, const u32* colors, int x0, int x1) noexcept nogil:
    """Lay a colour 0xRRGGBBAA of its own, A the opacity, over each of the pixels x0 to x1 of a row."""
    cdef int x
    cdef u32 c, mask = t.rgb_mask
    cdef u32* q = <u32*>row
    cdef u32 rs, gs, bs
    if t.size == 4 and t.ao < 0 and shifts(t, &rs, &gs, &bs):
        for x in range(x0, x1):
            c = ((colors[x] >> 24) << rs) | (((colors[x] >> 16) & 255) << gs) | (((colors[x] >> 8) & 255) << bs)
            q[x] = (mix(q[x], c, colors[x] & 255) & mask) | (q[x] & ~mask)
    else:
        for x in range(x0, x1):
            if colors[x] & 255:
                over_bytes(t, row + x * t.size, colors[x], colors[x] & 255)


cdef inline bint shifts(const Target* t, u32* rs, u32* gs, u32* bs) noexcept nogil:
    """Bit places of the channels in a 4-byte pixel."""
    cdef u32 one = 1
    cdef bint little = (<u8*>&one)[0] == 1
    rs[0] = 8 * (t.ro if little else 3 - t.ro)
    gs[0] = 8 * (t.go if little else 3 - t.go)
    bs[0] = 8 * (t.bo if little else 3 - t.bo)
    return True


cdef inline void fill_row(const Target* t, u8* row, int x0, int x1, u32 color, u32 packed, u32 a) noexcept nogil:
    """Lay one colour with one opacity over pixels x0 to x1 of a row."""
    cdef int x
    cdef u32 mask = t.rgb_mask
    cdef u32* q = <u32*>row
    if t.size == 4 and a == 255:
        for x in range(x0, x1):
            q[x] = packed | (q[x] & ~mask)
    elif t.size == 4 and t.ao < 0:
        for x in range(x0, x1):
            q[x] = (mix(q[x], packed, a) & mask) | (q[x] & ~mask)
    else:
        for x in range(x0, x1):
            over(t, row + x * t.size, color, packed, a)


cdef inline u32 lerp_color(u32 c0, u32 c1, float f) noexcept nogil:
    """From c0 (f = 0) to c1 (f = 1), all four bytes of 0xRRGGBBAA."""
    return mix(c0, c1, <u32><int>(f * 255.0 + 0.5))
