"""Records of ropes, their ties and the stage they are solved in; softkit/rope_stage.py has the same as dtypes."""

from libc.stdint cimport int64_t

from contact cimport Hold, Skin, Touch
from shapes cimport Body, Colliders

cdef extern from *:
    """
    #define ROPE_CATCH_UP 20.0
    #define ROPE_SETTLE 0.25
    #define ROPE_HEAVY 1000.0
    #define ROPE_NEAR 1e-3
    #define ROPE_THIN 0.75
    """
    const double CATCH_UP "ROPE_CATCH_UP"    # a wrong length closes by so many rope lengths a second at most
    const double SETTLE "ROPE_SETTLE"        # part of a length error mended per substep while contacts last
    const double HEAVY "ROPE_HEAVY"
    const double NEAR "ROPE_NEAR"            # wu above a surface that still count as lying on it
    const double THIN "ROPE_THIN"            # links are that much thinner than nodes: on a round shape the nodes carry

cdef enum:
    CHUNK = 16             # links that share one walk through the shape trees
    SWEEPS = 3             # contact sweeps until every particle is outside of everything
    STACK = 128

cdef struct Rope:
    double* x              # (n, 2) positions
    double* x0             # (n, 2) positions at the start of the substep
    double* v              # (n, 2) velocities
    double* w              # (n) inverse masses, 0 held
    double* W              # (n, 3) inverse mass matrices of this solve
    double* rest           # (n - 1) rest lengths
    double* lam            # (n - 1) multipliers
    double* y              # (n, 2) positions before the links were solved
    double* pull           # (n, 2) position impulse that a node's tie gave its body in the last solve
    double* knot           # (n, 2) position impulse that keeps a joined node with its partner
    double* drift_lam      # (n - 1) multipliers of drift corrections
    double* f              # (n, 2) position impulses of the last solve
    double* more           # (n, 2) velocity beyond (x - x0) / h that a split substep leaves
    double* tension        # (n - 1) sum over this step's substeps
    double* previous       # (n, 2) positions at the start of the step
    double* target         # (n, 2) where held nodes go in this step
    double* scratch
    Touch* touches         # (n, SLOTS)
    Hold* holds            # (n)
    int64_t count, anchor, anchors, self_collision, feed_link, drag_own
    double damping, drag_x, drag_y, stretch_compliance, bend_stiffness, feed, max_speed, total
    int64_t touched, touching, capped, solves, member, members, overlong, tied
    double residual, strain, peak
    Skin skin

cdef struct Anchor:        # a node tied to a body; nodes low..high do not touch that body
    int64_t rope, node, body, low, high
    double lx, ly          # in the body's frame, from its centre of gravity

cdef struct Join:          # two nodes that are one point
    int64_t rope_a, node_a, rope_b, node_b

cdef struct Member:        # a node of a hub
    int64_t rope, node, hub, next, local
    double lx, ly          # in the hub's frame
    double rx, ry, m       # arm at the start of the substep, mass
    double ox, oy          # where it went in this substep
    double yx, yy          # where it goes by itself
    double px, py          # where the hub takes it
    double gx, gy          # position impulse that it gives the hub
    double tx, ty          # sum of that over the substep

cdef struct Hub:           # nodes that move as one, on a dynamic body or (body = -1) joined to a point
    int64_t body, head, count, held, pulled
    double im, ii
    double x, y, a, c, s   # pose now
    double px, py, pa      # of free flight
    double zx, zy, za      # at the start
    double vx, vy, va      # way of free flight from there in a whole substep
    double K[6]            # inverse mass with its nodes (xx, xy, yy, xa, ya, aa)

cdef struct Pair:          # two chunks of links that may touch in this step
    int64_t rope_a, chunk_a, rope_b, chunk_b

cdef struct Island:        # ranges of ropes, joins, pairs, ropes that share something, and hubs
    int64_t name, first, last, join_first, join_last, pair_first, pair_last, passes
    int64_t tied_first, tied_last, hub_first, hub_last, scratch

cdef struct Stage:         # everything one island needs
    Rope* ropes
    Anchor* anchors
    Join* joins
    Hub* hubs
    Member* members
    Pair* pairs
    Colliders* world
    double h, fraction, gx, gy
    bint drift             # positions alone


cdef inline void body_point(const Body* b, const Anchor* a, double* x, double* y) noexcept nogil:
    x[0] = b.x + b.c * a.lx - b.s * a.ly
    y[0] = b.y + b.s * a.lx + b.c * a.ly
