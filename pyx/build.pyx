"""What this build is: compiler, OpenMP and the vector instructions that the compiler was allowed to use."""

from cython.parallel cimport prange, threadid

cdef extern from "softkit_omp.h" nogil:
    int SOFTKIT_HAS_OPENMP
    int SOFTKIT_OPENMP_VERSION
    int SOFTKIT_FAST_MATH
    const char* SOFTKIT_COMPILER
    const char* SOFTKIT_VECTOR
    int softkit_omp_start()
    int softkit_omp_release()


def describe():
    """Facts fixed at compile time, as a dict."""
    return {
        "openmp": bool(SOFTKIT_HAS_OPENMP),
        "openmp_version": SOFTKIT_OPENMP_VERSION,
        "fast_math": bool(SOFTKIT_FAST_MATH),
        "vector": SOFTKIT_VECTOR.decode("ascii"),
        "compiler": SOFTKIT_COMPILER.decode("ascii"),
    }


def start():
    """Let the OpenMP library read its environment variables; returns the thread count that it would use by itself."""
    return softkit_omp_start()


def team(int[::1] owner, int num_threads):
    """Write into each item of `owner` (n,) the number of the thread that handled it in a static parallel loop."""
    cdef Py_ssize_t i
    for i in prange(owner.shape[0], nogil=True, schedule="static", num_threads=num_threads):
        owner[i] = threadid()


def release_team():
    """End the worker threads that OpenMP keeps for the calling thread; the next parallel loop starts new ones.

    True if it did. A forked child inherits the record of those threads but not the threads, and would wait for them
    for ever.
    """
    cdef int done
    with nogil:
        done = softkit_omp_release()
    return bool(done)
