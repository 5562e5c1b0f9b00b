/* OpenMP calls that also compile without OpenMP. */
#ifndef SOFTKIT_OMP_H
#define SOFTKIT_OMP_H
#ifdef _OPENMP
#include <omp.h>
#define SOFTKIT_HAS_OPENMP 1
static int softkit_omp_version(void) { return _OPENMP; }
#else
#define SOFTKIT_HAS_OPENMP 0
static int softkit_omp_version(void) { return 0; }
#endif
#if defined(__clang__)
#define SOFTKIT_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define SOFTKIT_COMPILER "gcc " __VERSION__
#elif defined(_MSC_VER)
#define SOFTKIT_STR2(x) #x
#define SOFTKIT_STR(x) SOFTKIT_STR2(x)
#define SOFTKIT_COMPILER "msvc " SOFTKIT_STR(_MSC_VER)
#else
#define SOFTKIT_COMPILER "unknown"
#endif
#if defined(__AVX512F__)
#define SOFTKIT_VECTOR "avx512"
#elif defined(__AVX2__)
#define SOFTKIT_VECTOR "avx2"
#elif defined(__ARM_NEON) || defined(__aarch64__)
#define SOFTKIT_VECTOR "neon"
#elif defined(__SSE2__) || defined(_M_X64)
#define SOFTKIT_VECTOR "sse2"
#else
#define SOFTKIT_VECTOR "none"
#endif
#endif
