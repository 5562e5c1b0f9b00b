"""What this build is: compiler, OpenMP and the vector instructions that the compiler was allowed to use."""

cdef extern from "softkit_omp.h" nogil:
    int SOFTKIT_HAS_OPENMP
    const char* SOFTKIT_COMPILER
    const char* SOFTKIT_VECTOR
    int softkit_omp_version()


def describe():
    """Facts fixed at compile time, as a dict."""
    return {
        "openmp": bool(SOFTKIT_HAS_OPENMP),
        "openmp_version": softkit_omp_version(),
        "vector": SOFTKIT_VECTOR.decode("ascii"),
        "compiler": SOFTKIT_COMPILER.decode("ascii"),
    }
