"""Reading a picture: four 8-bit channels at once, spread over the 16-bit lanes of one 64-bit number.

The bytes b0 b1 b2 b3 of a pixel go to lanes 0, 2, 1, 3, so that one multiplication scales all four channels.
"""

from libc.math cimport floor

from pixels cimport Target, div255, mix, over_bytes, u8, u32

ctypedef unsigned long long u64
ctypedef unsigned short u16

cdef extern from "softkit_texels.h" nogil:
    ctypedef struct softkit_span_t:
        const u8* texels
        Py_ssize_t pitch
        int u
        int ux
        int v
        int vx
        int light
        int lx
        float z
        float zx
        u32 mask
        u32 alpha
        int alpha_byte
        const u16* tint
    void softkit_span(u32* q, float* depth, int count, const softkit_span_t* span) noexcept
    u64 softkit_spread(u32 p) noexcept
    u64 softkit_weigh(u64 c00, u64 c10, u64 c01, u64 c11, u32 fu, u32 fv) noexcept
    u64 softkit_tinted(u64 m, const u16* tint) noexcept


cdef struct Picture:
    const u8* texels
    Py_ssize_t pitch
    int width
    int height
    int ro
    int go
    int bo
    int ao
    int alpha_shift
    u32 alpha_or
    bint same
    bint smooth


cdef inline Picture open_picture(const Target* t, const u8* texels, const int* info, bint smooth) noexcept nogil:
    """info: the 12 ints of pixels.pxd. Without an alpha channel the fourth byte reads as opaque."""
    cdef Picture p
    cdef int alpha
    p.texels, p.width, p.height, p.pitch = texels, info[0], info[1], info[2]
    p.ro, p.go, p.bo, p.ao = info[4], info[5], info[6], info[7]
    alpha = p.ao if p.ao >= 0 else 6 - p.ro - p.go - p.bo
    p.alpha_shift = 0 if alpha == 0 else 32 if alpha == 1 else 16 if alpha == 2 else 48
    p.alpha_or = 0 if p.ao >= 0 else lane_byte(alpha)
    p.same = t.size == 4 and p.ro == t.ro and p.go == t.go and p.bo == t.bo
    p.smooth = smooth
    return p


cdef inline u32 lane_byte(int byte) noexcept nogil:
    """A pixel with 255 in one byte, in memory order."""
    cdef u8[4] b
    b[0] = b[1] = b[2] = b[3] = 0
    b[byte] = 255
    return (<u32*>&b[0])[0]


cdef inline u32 gather(u64 m) noexcept nogil:
    return <u32>(m | (m >> 24))


cdef inline u64 texel(const Picture* p, int i, int j) noexcept nogil:
    return softkit_spread((<const u32*>(p.texels + j * p.pitch))[i] | p.alpha_or)


cdef inline int held(int v, int top) noexcept nogil:
    v = v if v > 0 else 0
    return v if v < top else top


cdef inline u64 sample(const Picture* p, int u, int v) noexcept nogil:
    """The picture at (u, v) in 65536ths of a texel, held at its borders; when smooth, u and v count from the first
    texel's centre. No alpha weighting: pictures are expected to bleed their colours under transparent borders."""
    cdef int i = u >> 16, j = v >> 16
    cdef int i1, j1
    if not p.smooth:
        return texel(p, held(i, p.width - 1), held(j, p.height - 1))
    i1, j1 = held(i + 1, p.width - 1), held(j + 1, p.height - 1)
    i, j = held(i, p.width - 1), held(j, p.height - 1)
    return softkit_weigh(texel(p, i, j), texel(p, i1, j), texel(p, i, j1), texel(p, i1, j1), (u >> 8) & 255,
                         (v >> 8) & 255)


cdef inline u32 alpha_of(const Picture* p, u64 m) noexcept nogil:
    return <u32>(m >> p.alpha_shift) & 255


cdef inline void put(const Target* t, const Picture* p, u8* at, u64 m, u32 a) noexcept nogil:
    """Lay the colour in lanes m over the pixel at `at` with opacity a (0 to 255)."""
    cdef u32 c
    cdef u32* q = <u32*>at
    if a == 0:
        return
    c = gather(m)
    if p.same and (t.ao < 0 or at[t.ao] == 255):
        if a != 255:
            c = mix(q[0], c, a)
        q[0] = (c & t.rgb_mask) | (q[0] & ~t.rgb_mask) if t.ao < 0 else (c & ~lane_of(t)) | lane_of(t)
    else:
        over_bytes(t, at, ((<u8*>&c)[p.ro] << 24) | ((<u8*>&c)[p.go] << 16) | ((<u8*>&c)[p.bo] << 8), a)


cdef inline u32 lane_of(const Target* t) noexcept nogil:
    return lane_byte(t.ao)


cdef inline int texel_place(double v) noexcept nogil:
    """A texel coordinate in 65536ths, kept within what an int holds."""
    v = v * 65536.0
    v = v if v > -1e9 else -1e9
    return <int>floor(v if v < 1e9 else 1e9)
