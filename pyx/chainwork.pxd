"""One rope's links as one direct solve: planar chain, double precision, linear cost in links. Data and small
helpers.

Node k and node k + 1 are joined by link k: p_k = x_{k+1} - x_k, u_k = p_k / |p_k|, t_k = u_k turned left.

C_k(x) = |p_k| - rest_k - c lam_k = 0 (c = stretch_compliance / h^2), gradient u_k on node k + 1 and -u_k on
node k. Update: x = y + W f, y the predicted nodes, f_k = F_k - F_{k-1}, and F_k = lam_k (e_k + a_k u_k) the
pull of link k. Sources: directions taken at the start of the substep as in SHAKE (Ryckaert, Ciccotti,
Berendsen 1977), all links solved at once by Newton's method on the tridiagonal system, compliance as in XPBD
(Macklin et al. 2016).

Where the tension is too stiff for a fixed direction (transverse frequency of neighbouring nodes near 2 / h)
the direction is a weighted mean over the last, the present and the coming pose (Newmark's family; geometric
stiffness as in Tournier et al. 2015): stable at any tension, and slow swings keep their energy. The matrix
is then block-tridiagonal (2 x 2). With bending the turn of each link is a third unknown (3 x 3), see
chainbend.pxd.
"""

from libc.math cimport sqrt, fabs

cdef enum:
    CHAIN_SCRATCH = 74    # doubles of scratch per node

cdef struct Chain:
    int n                      # nodes
    double* x                  # (n, 2) in: predicted, out: solved
    double* x0                 # (n, 2) start of the substep
    double* v                  # (n, 2) out: velocity at the end; (x - x0) / h unless split or corrected
    double* W                  # (n, 3) inverse mass xx, xy, yy; 0: held, x is already its target
    double* rest               # (n - 1)
    double* f                  # (n, 2) out: position impulses, dx = W f
    double* lam                # (n - 1) in: last substep's, out: new; tension = lam / h^2
    double* scratch            # CHAIN_SCRATCH * n
    double stretch_compliance  # wu per force, per link
    double bend_stiffness      # B, force * wu^2; 0: limp
    double settle              # 0..1: part of a length error found at the start that this substep corrects
    double catch_up            # wu/s, cap of the speed at which long links are shortened
    double grow_up             # wu/s, cap of the speed at which short ones grow
    double reel                # wu, by how much a winch shortens link `reel_link` in this substep, >= 0
    int reel_link
    int calm_only              # in: give up (violent = -1, nothing changed) where that is not calm
    int passes                 # out: Newton passes taken
    int violent                # out: 0 calm, 1 mid directions, 2 split, 3 and slack, 4 and projected
    double residual            # out: estimate of the largest relative link error left

cdef struct ChainWork:         # views into the scratch
    double* y                  # (n, 2) predicted nodes
    double* e                  # (n, 2) fixed part of a link's direction
    double* a                  # (n) weight of the coming direction
    double* F                  # (n, 2) pull of a link
    double* u                  # (n, 2) present direction
    double* s                  # (n) present length
    double* r                  # (n, 2) right side, then the change of F
    double* g                  # (n, 4) eliminated upper blocks
    double* d                  # (n) diagonal
    double* b                  # (n, 2) off-diagonals
    double* l                  # (n) this substep's target length
    double* R                  # (n) the largest length the projection allows
    double* eps                # (n) force below which a link is slack
    double* old                # (n) multipliers at the start of an attempt
    double* first              # (n) multipliers at the start of the substep
    double* z                  # (n, 2) start of a part of the substep
    double* v                  # (n, 2) velocities of a split substep
    double* total              # (n, 2) impulses of a split substep
    double* grad               # (n, 2) gradient of the dual
    double* moment             # (n) bending moment at the joint before a link
    double* slope              # (n) its slope
    double* block              # (n, 22) rows of blocks, then what elimination leaves of them
    double* local              # (n, 2) solved nodes relative to the start of node 0
    double* al                 # (n) compliance of each link over h^2, never quite 0
    double h2                  # h^2
    double floor               # wu, length that errors of very short links are compared with


cdef inline ChainWork chain_work(Chain* c) noexcept nogil:
    cdef ChainWork w
    cdef int n = c.n
    cdef double* p = c.scratch
    w.y = p
    w.e = p + 2 * n
    w.a = p + 4 * n
    w.F = p + 5 * n
    w.u = p + 7 * n
    w.s = p + 9 * n
    w.r = p + 10 * n
    w.g = p + 12 * n
    w.d = p + 16 * n
    w.b = p + 17 * n
    w.l = p + 19 * n
    w.R = p + 20 * n
    w.eps = p + 21 * n
    w.old = p + 22 * n
    w.first = p + 23 * n
    w.z = p + 24 * n
    w.v = p + 26 * n
    w.total = p + 28 * n
    w.local = p + 47 * n
    w.al = p + 49 * n
    w.grad = p + 45 * n
    w.moment = p + 31 * n
    w.slope = p + 32 * n
    w.block = p + 50 * n
    return w


cdef inline void chain_geometry(int m, const double* x, double* u, double* size) noexcept nogil:
    """Unit vectors and lengths of m links; a link of no length points along +x."""
    cdef int k
    cdef double px, py, s, inv
    for k in range(m):
        px = x[2 * k + 2] - x[2 * k]
        py = x[2 * k + 3] - x[2 * k + 1]
        s = sqrt(px * px + py * py)
        inv = 1.0 / s if s > 1e-30 else 0.0
        size[k] = s
        u[2 * k] = px * inv if s > 1e-30 else 1.0
        u[2 * k + 1] = py * inv


cdef inline bint chain_held(const Chain* c, int k) noexcept nogil:
    """Are both ends of link k held? Then it bears what it bore, and its length is not ours to mend."""
    cdef const double* W = c.W + 3 * k
    return W[0] + W[2] + W[3] + W[5] <= 0.0


cdef inline void chain_apply(Chain* c, ChainWork* w) noexcept nogil:
    """f = differences of the pulls, x = y + W f."""
    cdef int k, n = c.n
    cdef double fx, fy, ax = 0.0, ay = 0.0
    cdef double* W = c.W
    w.F[2 * n - 2] = 0.0
    w.F[2 * n - 1] = 0.0
    for k in range(n):
        fx = w.F[2 * k] - ax
        fy = w.F[2 * k + 1] - ay
        ax = w.F[2 * k]
        ay = w.F[2 * k + 1]
        c.f[2 * k] = fx
        c.f[2 * k + 1] = fy
        c.x[2 * k] = w.y[2 * k] + W[3 * k] * fx + W[3 * k + 1] * fy
        c.x[2 * k + 1] = w.y[2 * k + 1] + W[3 * k + 1] * fx + W[3 * k + 2] * fy


cdef inline double chain_work_done(Chain* c, ChainWork* w) noexcept nogil:
    """Work of the links over the substep (times h^2); negative when they take energy out."""
    cdef int k
    cdef double work = 0.0
    for k in range(2 * c.n):
        work += c.f[k] * (0.5 * (c.x[k] + w.y[k]) - c.x0[k])
    return work


cdef inline double chain_wound(const Chain* c, const double* lam) noexcept nogil:
    """Work that a winch puts in (times h^2), with a little to spare for rounding and the turn of its link."""
    return 1.02 * lam[c.reel_link] * c.reel if c.reel > 0.0 and lam[c.reel_link] > 0.0 else 0.0


cdef inline double chain_kinetic(Chain* c, ChainWork* w) noexcept nogil:
    """Kinetic energy of the prediction (times h^2), free nodes only."""
    cdef int k
    cdef double total = 0.0, dx, dy
    for k in range(c.n):
        if c.W[3 * k] > 0.0:
            dx = w.y[2 * k] - c.x0[2 * k]
            dy = w.y[2 * k + 1] - c.x0[2 * k + 1]
            total += 0.5 * (dx * dx + dy * dy) / c.W[3 * k]
    return total
