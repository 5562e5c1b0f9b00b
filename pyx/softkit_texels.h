/* The inner loop of the triangle rasteriser: bilinear picture, light, tint and depth test along one row.

   Vector code where every x86-64 has it (SSE2), else the same sums in the 16-bit lanes of 64-bit numbers: the two give
   the same bytes. Each step is (a * (256 - f) + b * f) >> 8 in 16 bits a channel, first down, then along. */
#ifndef SOFTKIT_TEXELS_H
#define SOFTKIT_TEXELS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>
#define SOFTKIT_SSE2_TEXELS 1
#endif

typedef struct {
    const uint8_t *texels; /* 4 bytes a pixel */
    ptrdiff_t pitch;
    int u, ux, v, vx;   /* place in the picture and step, 65536ths of a texel */
    int light, lx;      /* 65536ths of a 256th */
    float z, zx;        /* depth and step */
    uint32_t mask;      /* bits of a target pixel that are written */
    uint32_t alpha;     /* bits that are set in it */
    int alpha_byte;     /* the picture's byte of alpha, -1: opaque */
    const uint16_t *tint; /* 4 factors of 256ths, in byte order */
} softkit_span_t;

static inline uint32_t softkit_mix(uint32_t below, uint32_t over, uint32_t a)
{
    uint32_t low = (over & 0xFF00FFu) * a + (below & 0xFF00FFu) * (255u - a) + 0x800080u;
    uint32_t high = ((over >> 8) & 0xFF00FFu) * a + ((below >> 8) & 0xFF00FFu) * (255u - a) + 0x800080u;
    low = ((low + ((low >> 8) & 0xFF00FFu)) >> 8) & 0xFF00FFu;
    high = (high + ((high >> 8) & 0xFF00FFu)) & 0xFF00FF00u;
    return low | high;
}

static inline uint32_t softkit_load(const uint8_t *at)
{
    uint32_t p;
    memcpy(&p, at, 4);
    return p;
}

#ifdef SOFTKIT_SSE2_TEXELS
/* Two texels side by side at `row` and two below, weighed; the four channels in the low four lanes. */
static inline __m128i softkit_bilinear(const uint8_t *row, ptrdiff_t pitch, int fu, int fv)
{
    const __m128i zero = _mm_setzero_si128(), one = _mm_set1_epi16(256);
    __m128i upper = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)row), zero);
    __m128i lower = _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)(row + pitch)), zero);
    __m128i w = _mm_set1_epi16((short)fv), s;
    s = _mm_add_epi16(_mm_mullo_epi16(upper, _mm_sub_epi16(one, w)), _mm_mullo_epi16(lower, w));
    s = _mm_srli_epi16(s, 8);
    w = _mm_set1_epi16((short)fu);
    s = _mm_mullo_epi16(s, _mm_unpacklo_epi64(_mm_sub_epi16(one, w), w));
    s = _mm_add_epi16(s, _mm_srli_si128(s, 8));
    return _mm_srli_epi16(s, 8);
}
#endif

static inline uint64_t softkit_spread(uint32_t p)
{
    return ((uint64_t)p | ((uint64_t)p << 24)) & 0x00FF00FF00FF00FFull;
}

static inline uint64_t softkit_between(uint64_t a, uint64_t b, uint32_t f)
{
    return ((a * (256 - f) + b * f) >> 8) & 0x00FF00FF00FF00FFull;
}

/* The same for four separate texels, as lanes: bytes 0, 2, 1, 3. */
static inline uint64_t softkit_weigh(uint64_t c00, uint64_t c10, uint64_t c01, uint64_t c11, uint32_t fu, uint32_t fv)
{
    return softkit_between(softkit_between(c00, c01, fv), softkit_between(c10, c11, fv), fu);
}

static inline uint64_t softkit_tinted(uint64_t m, const uint16_t *tint)
{
    return (((m & 255) * tint[0]) >> 8) | ((((m >> 32) & 255) * tint[1] >> 8) << 32)
           | ((((m >> 16) & 255) * tint[2] >> 8) << 16) | ((((m >> 48) & 255) * tint[3] >> 8) << 48);
}

static inline void softkit_span(uint32_t *q, float *depth, int count, const softkit_span_t *span)
{
    softkit_span_t s = *span;
    int x;
    uint32_t c, a = 255;
#ifdef SOFTKIT_SSE2_TEXELS
    const __m128i tint = _mm_loadl_epi64((const __m128i *)s.tint);
#endif
    for (x = 0; x < count; x++) {
        if (s.z >= depth[x]) {
            const uint8_t *row = s.texels + (s.v >> 16) * s.pitch + 4 * (s.u >> 16);
            int fu = (s.u >> 8) & 255, fv = (s.v >> 8) & 255;
#ifdef SOFTKIT_SSE2_TEXELS
            __m128i m = softkit_bilinear(row, s.pitch, fu, fv);
            if (s.alpha_byte >= 0)
                a = ((uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(m, m)) >> (8 * s.alpha_byte)) & 255;
            m = _mm_srli_epi16(_mm_mullo_epi16(m, _mm_set1_epi16((short)(s.light >> 16))), 8);
            m = _mm_srli_epi16(_mm_mullo_epi16(m, tint), 8);
            c = (uint32_t)_mm_cvtsi128_si32(_mm_packus_epi16(m, m));
#else
            uint64_t m = softkit_weigh(softkit_spread(softkit_load(row)), softkit_spread(softkit_load(row + 4)),
                                       softkit_spread(softkit_load(row + s.pitch)),
                                       softkit_spread(softkit_load(row + s.pitch + 4)), fu, fv);
            if (s.alpha_byte >= 0) {
                c = (uint32_t)(m | (m >> 24));
                a = (c >> (8 * s.alpha_byte)) & 255;
            }
            m = (m * (uint32_t)(s.light >> 16) >> 8) & 0x00FF00FF00FF00FFull;
            m = softkit_tinted(m, s.tint);
            c = (uint32_t)(m | (m >> 24));
#endif
            if (a == 255) {
                depth[x] = s.z;
                q[x] = (c & s.mask) | (q[x] & ~s.mask) | s.alpha;
            } else if (a > 0) {
                depth[x] = s.z;
                q[x] = (softkit_mix(q[x], c, a) & s.mask) | (q[x] & ~s.mask);
            }
        }
        s.z += s.zx;
        s.u += s.ux;
        s.v += s.vx;
        s.light += s.lx;
    }
}
#endif
