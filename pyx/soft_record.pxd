# The records that the soft-body kernels share.
from libc.stdint cimport int32_t, int64_t

from contact cimport Hold, Skin, Touch

cdef struct Soft:              # one soft body; d is 2 (planar) or 3
    double* x                  # (n, d) positions
    double* x0                 # (n, d) positions at the start of the substep
    double* y                  # (n, d) positions before the pass
    double* v                  # (n, d) velocities
    double* w                  # (n) inverse masses, 0 held
    double* m                  # (n) masses, as shape matching weighs them
    double* q                  # (n, d) rest places about their centre of mass
    double* previous           # (n, d) positions at the start of the step
    double* target             # (n, d) where held particles go in this step
    double* bounce             # speed to leave at, normal (2), body hit, substeps since, place (2), speed, square of the hit's
    double* pose               # planar: cosine, sine; 3-D: quaternion w, x, y, z
    int32_t* links             # (l, 2) in conflict-free colours
    double* rest               # (l) rest lengths
    double* soft               # (l) compliance, wu per force unit
    double* lam                # (l) multipliers of this substep
    int32_t* ring              # (r) the outline in order, planar
    int32_t* cells             # (c, 3) triangles or (c, 4) tetrahedra, in conflict-free colours
    double* size               # (c) rest area or volume
    int32_t* faces             # (f, 3) closed surface, 3-D
    double* grad               # (n, d) gradient of the whole volume
    int32_t* edges             # (e, 2) the outline's edges, which touch shapes
    int32_t* exempt            # (k, 2) particle, body: these do not touch
    int64_t* colors            # first link of each colour, then the end
    int64_t* shades            # first cell of each colour, then the end
    Touch* touches             # (n, SLOTS)
    Hold* holds                # (n)
    int64_t dim, count, link_count, ring_count, cell_count, face_count, edge_count, exempt_count
    int64_t color_count, shade_count, passes, held, pivot, touched, capped
    double whole               # rest area of the ring or rest volume of the surface; 0: not kept
    double scale               # lengths are that much larger than at rest: pressure to the power 1 / d
    double swing               # square of the angular frequency of that
    double part                # what a pass of shape matching gives: 1 / (1 + compliance / h^2)
    double most                # largest deviation from the matched place, wu; negative: any
    double creep, yield_       # plastic flow: rate times h, and the relative strain from which on it flows
    double damping, calm, max_speed, extent
    double hit_e, hit_x, hit_y, hit_nx, hit_ny   # this substep's fast touches: elasticity, sums of places, normals
    int64_t hits, hit_body
    Skin skin

cdef struct Tie:               # a particle on a body
    int64_t soft, node, body
    double lx, ly, lz          # in the body's frame, from its centre of gravity; z
    double px, py              # position impulse in this substep

cdef struct Bond:              # a particle on a particle, of a soft body or of something else
    int64_t soft, node, other, far
    double* x                  # the other particle's coordinates
    double* v
    double* w
    int64_t stride, dim        # in doubles, between coordinates

