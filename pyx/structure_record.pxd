# The record of one structure that its kernels share; its particles are a Soft record beside it.
from libc.stdint cimport int32_t, int64_t, uint8_t

cdef struct Frame:
    int32_t* links             # (l, 2) in conflict-free colours
    int64_t* colors            # first link of each colour, then the end
    double* rest               # (l) lengths now, plastic flow included
    double* made               # (l) lengths as made
    double* soft               # (l) compliance, wu per force unit
    double* lam                # (l) multipliers, kept from substep to substep
    double* axis               # (l, 2) directions at the start of the substep
    double* flow               # (l) plastic strain so far, every bit counted
    double* yields             # (l) elastic strain from which on it flows
    double* breaks             # (l) elastic strain at which it breaks
    double* ductile            # (l) most plastic strain
    double* damping            # (l) rate in 1/s
    double* peak               # (l) largest elastic strain in this step, by its size
    double* energy             # (l) elastic energy at breaking
    uint8_t* broken            # (l) broke in this step
    double* health             # (n) of nodes, 0 to 1: links break at that part of their strain
    int32_t* members           # (n) nodes by piece
    int64_t* pieces            # first member of each piece, then the end
    double* calm               # (p) damping of each piece, 1/s
    int64_t link_count, color_count, piece_count, broke
