/* OpenMP calls that also compile without OpenMP, and what the preprocessor knows about this build. */
#ifndef SOFTKIT_OMP_H
#define SOFTKIT_OMP_H

#ifdef _OPENMP
#include <omp.h>
#define SOFTKIT_HAS_OPENMP 1
#define SOFTKIT_OPENMP_VERSION _OPENMP
static int softkit_omp_start(void) { return omp_get_max_threads(); }
#else
#define SOFTKIT_HAS_OPENMP 0
#define SOFTKIT_OPENMP_VERSION 0
static int softkit_omp_start(void) { return 1; }
#endif

/* gcc's libgomp has had omp_pause_resource_all (OpenMP 5.0) since gcc 9, while its _OPENMP still says 4.5. */
#if defined(_OPENMP) && (_OPENMP >= 201811 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9))
static int softkit_omp_release(void) { return omp_pause_resource_all(omp_pause_hard) == 0; }
#else
static int softkit_omp_release(void) { return 0; }
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

/* The widest vector instructions that the compiler may use anywhere; the default flags say sse2 on x86-64. */
#if defined(__AVX512F__)
#define SOFTKIT_VECTOR "avx512"
#elif defined(__AVX2__)
#define SOFTKIT_VECTOR "avx2"
#elif defined(__ARM_NEON) || defined(__aarch64__) || defined(_M_ARM64)
#define SOFTKIT_VECTOR "neon"
#elif defined(__SSE2__) || defined(_M_X64)
#define SOFTKIT_VECTOR "sse2"
#else
#define SOFTKIT_VECTOR "none"
#endif

/* Nonzero in a build whose bits and NaN checks cannot be trusted. */
#ifdef __FAST_MATH__
#define SOFTKIT_FAST_MATH 1
#else
#define SOFTKIT_FAST_MATH 0
#endif

#endif
