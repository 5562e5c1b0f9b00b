"""One rope's links as one direct solve: planar chain, double precision, linear cost in links.

Node k and node k + 1 are joined by link k: p_k = x_{k+1} - x_k, u_k = p_k / |p_k|, t_k = u_k turned left.

C_k(x) = |p_k| - rest_k - c lam_k = 0 (c = stretch_compliance / h^2), gradient +u_k on node k + 1 and -u_k on node k.
Update: x = y + W f with y the predicted nodes, f_k = F_k - F_{k-1} and F_k = lam_k (e_k + a_k u_k) the pull of link k.
Sources: directions taken at the start of the substep as in SHAKE (Ryckaert, Ciccotti, Berendsen 1977), all links solved
at once by Newton's method on the tridiagonal system, compliance as in XPBD (Macklin et al. 2016).

Where the tension would be too stiff for an explicit direction (transverse frequency of neighbouring nodes near 2 / h) the
direction is a weighted mean over the last, the present and the coming pose (Newmark's family): stable at any tension, and
slow swings keep their energy. The matrix is then block-tridiagonal (2 x 2).
"""

from libc.math cimport sqrt, fabs

cdef enum:
    CHAIN_SCRATCH = 48    # doubles of scratch per node

cdef struct Chain:
    int n                      # nodes
    double* x                  # (n, 2) in: predicted, out: solved
    double* x0                 # (n, 2) start of the substep
    double* v                  # (n, 2) out: velocity at the end; (x - x0) / h unless the substep was split
    double* W                  # (n, 3) inverse mass xx, xy, yy; 0: held, x is already its target
    double* rest               # (n - 1)
    double* f                  # (n, 2) out: position impulses, dx = W f
    double* lam                # (n - 1) in: last substep's, out: new; tension = lam / h^2
    double* scratch            # CHAIN_SCRATCH * n
    double stretch_compliance  # wu per force, per link
    double bend_stiffness      # B, force * wu^2; 0: limp
    double settle              # 0..1: part of a length error found at the start to be corrected in this substep
    double catch_up            # wu/s, cap of the speed at which a wrong length is corrected
    int passes                 # out: Newton passes taken
    int violent                # out: 0 calm, 1 mid directions, 2..4 the substep was split (4: projected)
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
    double* mean               # (n) multipliers of a split substep
    double* moment             # (n) bending moment at the joint before a link
    double* slope              # (n) its slope
    double* block              # (n, 12) eliminated 3 x 3 blocks and right sides
    double h2                  # h^2


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
    w.mean = p + 30 * n
    w.moment = p + 31 * n
    w.slope = p + 32 * n
    w.block = p + 33 * n
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


cdef inline int chain_directions(Chain* c, ChainWork* w) noexcept nogil:
    """Weights of the last, present and coming direction by the stiffness lam (w_k + w_{k+1}) / rest; 1 if any is implicit.

    q is the square of h times the transverse frequency; an explicit direction is stable up to q = 4.
    """
    cdef int k, m = c.n - 1, implicit = 0
    cdef double q, ramp, old, qx, qy, s, ex, ey
    cdef double* W = c.W
    for k in range(m):
        ex = w.u[2 * k]
        ey = w.u[2 * k + 1]
        q = c.lam[k] * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
        w.a[k] = 0.0
        if q > w.s[k]:
            implicit = 1
            ramp = (q - w.s[k]) / (q + w.s[k])
            w.a[k] = 0.35 * ramp
            old = 0.25 * ramp
            qx = 2.0 * (c.x0[2 * k + 2] - c.x0[2 * k]) - (w.y[2 * k + 2] - w.y[2 * k])
            qy = 2.0 * (c.x0[2 * k + 3] - c.x0[2 * k + 1]) - (w.y[2 * k + 3] - w.y[2 * k + 1])
            s = sqrt(qx * qx + qy * qy)
            s = old / s if s > 1e-30 else 0.0
            ex = ex * (1.0 - 0.6 * ramp) + qx * s
            ey = ey * (1.0 - 0.6 * ramp) + qy * s
        w.e[2 * k] = ex
        w.e[2 * k + 1] = ey
    return implicit


cdef inline double chain_pass_explicit(Chain* c, ChainWork* w, double alpha) noexcept nogil:
    """One Newton pass with fixed directions: tridiagonal in lam. Returns the largest relative change of a link, squared."""
    cdef int k, n = c.n, m = c.n - 1
    cdef double ux, uy, ex, ey, vx, vy, d, off, g, r, inv, dl, worst = 0.0
    cdef double* W = c.W
    for k in range(m):
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        ex = w.e[2 * k]
        ey = w.e[2 * k + 1]
        vx = (W[3 * k] + W[3 * k + 3]) * ux + (W[3 * k + 1] + W[3 * k + 4]) * uy
        vy = (W[3 * k + 1] + W[3 * k + 4]) * ux + (W[3 * k + 2] + W[3 * k + 5]) * uy
        d = vx * ex + vy * ey
        w.r[k] = w.s[k] - w.l[k] - alpha * c.lam[k]
        off = 1e-9 * (vx * ux + vy * uy)
        w.d[k] = (d if d > off else off) + alpha
        if w.d[k] <= 0.0:
            # Both ends held: the pull between them stays what it was.
            w.d[k] = 1.0
            w.r[k] = w.b[2 * k] = w.b[2 * k + 1] = 0.0
            continue
        # row k: b[2k] on lam_{k-1} through node k, b[2k+1] on lam_{k+1} through node k + 1
        w.b[2 * k] = 0.0
        w.b[2 * k + 1] = 0.0
        if k > 0:
            vx = W[3 * k] * ux + W[3 * k + 1] * uy
            vy = W[3 * k + 1] * ux + W[3 * k + 2] * uy
            w.b[2 * k] = vx * w.e[2 * k - 2] + vy * w.e[2 * k - 1]
        if k < m - 1:
            vx = W[3 * k + 3] * ux + W[3 * k + 4] * uy
            vy = W[3 * k + 4] * ux + W[3 * k + 5] * uy
            w.b[2 * k + 1] = vx * w.e[2 * k + 2] + vy * w.e[2 * k + 3]
    g = 0.0
    r = 0.0
    for k in range(m):
        d = w.d[k] - w.b[2 * k] * g
        inv = 1.0 / d
        r = (w.r[k] + w.b[2 * k] * r) * inv
        g = w.b[2 * k + 1] * inv
        w.r[k] = r
        w.g[k] = g
    dl = 0.0
    for k in range(m - 1, -1, -1):
        dl = w.r[k] + w.g[k] * dl
        c.lam[k] += dl
        w.F[2 * k] = c.lam[k] * w.e[2 * k]
        w.F[2 * k + 1] = c.lam[k] * w.e[2 * k + 1]
    chain_apply(c, w)
    return worst


cdef inline void chain_pass_implicit(Chain* c, ChainWork* w, double alpha) noexcept nogil:
    """One Newton pass with directions that follow the coming pose: 2 x 2 blocks in F.

    Row 1: u . dp - alpha dlam = -C; row 2: dF_t = (e_t / g) dF_u + s dp_t with g = e_u + a and s = a lam / |p|.
    """
    cdef int k, m = c.n - 1
    cdef double ux, uy, gu, et, lam, s, inv
    cdef double sxx, sxy, syy, vx, vy, zx, zy
    cdef double d00, d01, d10, d11, l00, l01, l10, l11, p00, p01, p10, p11, r0, r1, q0, q1
    cdef double g00 = 0.0, g01 = 0.0, g10 = 0.0, g11 = 0.0, h0 = 0.0, h1 = 0.0
    cdef double* W = c.W
    for k in range(m):
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        gu = ux * w.e[2 * k] + uy * w.e[2 * k + 1] + w.a[k]
        if gu < 0.1:
            gu = 0.1
        et = -uy * w.e[2 * k] + ux * w.e[2 * k + 1]
        lam = (w.F[2 * k] * ux + w.F[2 * k + 1] * uy) / gu
        c.lam[k] = lam
        s = w.a[k] * lam / (w.s[k] + 1e-30) if lam > 0.0 else 0.0
        sxx = W[3 * k] + W[3 * k + 3]
        sxy = W[3 * k + 1] + W[3 * k + 4]
        syy = W[3 * k + 2] + W[3 * k + 5]
        vx = sxx * ux + sxy * uy
        vy = sxy * ux + syy * uy
        zx = -sxx * uy + sxy * ux
        zy = -sxy * uy + syy * ux
        d00 = vx + alpha / gu * ux
        d01 = vy + alpha / gu * uy
        d10 = -uy - et / gu * ux + s * zx
        d11 = ux - et / gu * uy + s * zy
        r0 = w.s[k] - w.l[k] - alpha * lam
        r1 = et * lam - (-uy * w.F[2 * k] + ux * w.F[2 * k + 1])
        if sxx + syy <= 0.0 and alpha <= 0.0:
            d00 = ux
            d01 = uy
            r0 = 0.0
        # lower block -[u; s t] W_k, upper block -[u; s t] W_{k+1}
        l00 = W[3 * k] * ux + W[3 * k + 1] * uy
        l01 = W[3 * k + 1] * ux + W[3 * k + 2] * uy
        l10 = s * (-W[3 * k] * uy + W[3 * k + 1] * ux)
        l11 = s * (-W[3 * k + 1] * uy + W[3 * k + 2] * ux)
        p00 = vx - l00
        p01 = vy - l01
        p10 = s * zx - l10
        p11 = s * zy - l11
        d00 -= l00 * g00 + l01 * g10
        d01 -= l00 * g01 + l01 * g11
        d10 -= l10 * g00 + l11 * g10
        d11 -= l10 * g01 + l11 * g11
        r0 += l00 * h0 + l01 * h1
        r1 += l10 * h0 + l11 * h1
        inv = d00 * d11 - d01 * d10
        inv = 1.0 / inv if fabs(inv) > 1e-300 else 0.0
        h0 = (d11 * r0 - d01 * r1) * inv
        h1 = (d00 * r1 - d10 * r0) * inv
        g00 = (d11 * p00 - d01 * p10) * inv
        g01 = (d11 * p01 - d01 * p11) * inv
        g10 = (d00 * p10 - d10 * p00) * inv
        g11 = (d00 * p11 - d10 * p01) * inv
        w.r[2 * k] = h0
        w.r[2 * k + 1] = h1
        w.g[4 * k] = g00
        w.g[4 * k + 1] = g01
        w.g[4 * k + 2] = g10
        w.g[4 * k + 3] = g11
    q0 = 0.0
    q1 = 0.0
    for k in range(m - 1, -1, -1):
        if k == m - 1:
            q0 = w.r[2 * k]
            q1 = w.r[2 * k + 1]
        else:
            r0 = w.r[2 * k] + w.g[4 * k] * q0 + w.g[4 * k + 1] * q1
            q1 = w.r[2 * k + 1] + w.g[4 * k + 2] * q0 + w.g[4 * k + 3] * q1
            q0 = r0
        w.F[2 * k] += q0
        w.F[2 * k + 1] += q1
    chain_apply(c, w)


cdef inline void chain_moments(Chain* c, ChainWork* w, double h2) noexcept nogil:
    """Bending moment M and its slope K at the joint before each link (times h^2), from the present directions.

    M = 2 k sin(turn / 2), energy 4 k (1 - cos(turn / 2)), k = B / (half of either link): grows up to a full fold. A link
    held at both ends is a clamp and adds no length of its own, so that a cantilever converges with the square of n.
    """
    cdef int k, m = c.n - 1
    cdef double half, last = 0.0, cross, dot, cosine, stiff
    w.moment[0] = 0.0
    w.slope[0] = 0.0
    w.moment[m] = 0.0
    w.slope[m] = 0.0
    for k in range(m):
        half = 0.5 * c.rest[k]
        if c.W[3 * k] + c.W[3 * k + 2] + c.W[3 * k + 3] + c.W[3 * k + 5] <= 0.0:
            half = 0.0
        if k > 0:
            cross = w.u[2 * k - 2] * w.u[2 * k + 1] - w.u[2 * k - 1] * w.u[2 * k]
            dot = w.u[2 * k - 2] * w.u[2 * k] + w.u[2 * k - 1] * w.u[2 * k + 1]
            cosine = sqrt(0.5 * (1.0 + dot)) if dot > -1.0 else 0.0
            stiff = last + half
            stiff = c.bend_stiffness * h2 / stiff if stiff > 0.0 else 0.0
            w.moment[k] = stiff * (cross / cosine if cosine > 1e-6 else (2.0 if cross >= 0.0 else -2.0))
            w.slope[k] = stiff * cosine
        last = half


cdef inline double chain_bend_energy(Chain* c, ChainWork* w, double h2) noexcept nogil:
    """Bending energy (times h^2) of the present directions."""
    cdef int k, m = c.n - 1
    cdef double half, last = 0.0, dot, stiff, total = 0.0
    for k in range(m):
        half = 0.5 * c.rest[k]
        if c.W[3 * k] + c.W[3 * k + 2] + c.W[3 * k + 3] + c.W[3 * k + 5] <= 0.0:
            half = 0.0
        stiff = last + half
        if k > 0 and stiff > 0.0:
            dot = w.u[2 * k - 2] * w.u[2 * k] + w.u[2 * k - 1] * w.u[2 * k + 1]
            total += 4.0 * c.bend_stiffness * h2 / stiff * (1.0 - (sqrt(0.5 * (1.0 + dot)) if dot > -1.0 else 0.0))
        last = half
    return total


cdef inline int chain_pass_bend(Chain* c, ChainWork* w, double alpha, double h2) noexcept nogil:
    """One Newton pass with bending: 3 x 3 blocks in F and the turn of the link, all joints and links at once.

    Returns 1 when no link turned by more than 1e-4. Rows: u . dp - alpha dlam = -C; dF_t = (e_t / g) dF_u + s dp_t + change of (M_k - M_{k+1}) / |p|; turn = t . dp / |p|.
    """
    cdef int k, m = c.n - 1
    cdef double ux, uy, gu, et, lam, s, inv, size, shear, turn = 0.0
    cdef double sxx, sxy, syy, kb, ka
    cdef double d00, d01, d02, d10, d11, d12, d20, d21, d22
    cdef double i00, i01, i02, i10, i11, i12, i20, i21, i22
    cdef double wx, wy, zx, zy, p00, p01, p12, p20, p21, r0, r1, r2
    cdef double g00 = 0.0, g01 = 0.0, g02 = 0.0, g10 = 0.0, g11 = 0.0, g12 = 0.0, g20 = 0.0, g21 = 0.0, g22 = 0.0
    cdef double h0 = 0.0, h1 = 0.0, hb = 0.0
    cdef double* W = c.W
    cdef double* g
    chain_moments(c, w, h2)
    for k in range(m):
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        size = w.s[k] + 1e-30
        gu = ux * w.e[2 * k] + uy * w.e[2 * k + 1] + w.a[k]
        if gu < 0.1:
            gu = 0.1
        et = -uy * w.e[2 * k] + ux * w.e[2 * k + 1]
        lam = (w.F[2 * k] * ux + w.F[2 * k + 1] * uy) / gu
        c.lam[k] = lam
        s = w.a[k] * lam if lam > 0.0 else 0.0
        kb = w.slope[k] / size
        ka = w.slope[k + 1] / size
        shear = (w.moment[k] - w.moment[k + 1]) / size
        sxx = W[3 * k] + W[3 * k + 3]
        sxy = W[3 * k + 1] + W[3 * k + 4]
        syy = W[3 * k + 2] + W[3 * k + 5]
        d00 = sxx * ux + sxy * uy + alpha / gu * ux
        d01 = sxy * ux + syy * uy + alpha / gu * uy
        d02 = 0.0
        d10 = -uy - et / gu * ux
        d11 = ux - et / gu * uy
        d12 = -s - kb - ka
        d20 = sxx * uy - sxy * ux
        d21 = sxy * uy - syy * ux
        d22 = -size
        r0 = w.s[k] - w.l[k] - alpha * lam
        r1 = et * lam + shear - (-uy * w.F[2 * k] + ux * w.F[2 * k + 1])
        r2 = 0.0
        if sxx + syy <= 0.0 and alpha <= 0.0:
            d00 = ux
            d01 = uy
            r0 = 0.0
        # rows of W_k (before) and W_{k+1} (after) seen from u and t
        wx = W[3 * k] * ux + W[3 * k + 1] * uy
        wy = W[3 * k + 1] * ux + W[3 * k + 2] * uy
        zx = -W[3 * k] * uy + W[3 * k + 1] * ux
        zy = -W[3 * k + 1] * uy + W[3 * k + 2] * ux
        # lower block rows: [-wx -wy 0], [0 0 kb], [zx zy 0]
        d00 += wx * g00 + wy * g10
        d01 += wx * g01 + wy * g11
        d02 += wx * g02 + wy * g12
        d10 -= kb * g20
        d11 -= kb * g21
        d12 -= kb * g22
        d20 -= zx * g00 + zy * g10
        d21 -= zx * g01 + zy * g11
        d22 -= zx * g02 + zy * g12
        r0 += wx * h0 + wy * h1
        r1 -= kb * hb
        r2 -= zx * h0 + zy * h1
        p00 = -(W[3 * k + 3] * ux + W[3 * k + 4] * uy)
        p01 = -(W[3 * k + 4] * ux + W[3 * k + 5] * uy)
        p12 = ka
        p20 = -W[3 * k + 3] * uy + W[3 * k + 4] * ux
        p21 = -W[3 * k + 4] * uy + W[3 * k + 5] * ux
        i00 = d11 * d22 - d12 * d21
        i01 = d02 * d21 - d01 * d22
        i02 = d01 * d12 - d02 * d11
        i10 = d12 * d20 - d10 * d22
        i11 = d00 * d22 - d02 * d20
        i12 = d02 * d10 - d00 * d12
        i20 = d10 * d21 - d11 * d20
        i21 = d01 * d20 - d00 * d21
        i22 = d00 * d11 - d01 * d10
        inv = d00 * i00 + d01 * i10 + d02 * i20
        inv = 1.0 / inv if fabs(inv) > 1e-300 else 0.0
        h0 = (i00 * r0 + i01 * r1 + i02 * r2) * inv
        h1 = (i10 * r0 + i11 * r1 + i12 * r2) * inv
        hb = (i20 * r0 + i21 * r1 + i22 * r2) * inv
        # g = D'^-1 U with U rows [p00 p01 0], [0 0 p12], [p20 p21 0]
        g00 = (i00 * p00 + i02 * p20) * inv
        g01 = (i00 * p01 + i02 * p21) * inv
        g02 = i01 * p12 * inv
        g10 = (i10 * p00 + i12 * p20) * inv
        g11 = (i10 * p01 + i12 * p21) * inv
        g12 = i11 * p12 * inv
        g20 = (i20 * p00 + i22 * p20) * inv
        g21 = (i20 * p01 + i22 * p21) * inv
        g22 = i21 * p12 * inv
        g = w.block + 12 * k
        g[0] = g00
        g[1] = g01
        g[2] = g02
        g[3] = g10
        g[4] = g11
        g[5] = g12
        g[6] = g20
        g[7] = g21
        g[8] = g22
        g[9] = h0
        g[10] = h1
        g[11] = hb
    r0 = 0.0
    r1 = 0.0
    r2 = 0.0
    for k in range(m - 1, -1, -1):
        g = w.block + 12 * k
        h0 = g[9] - (g[0] * r0 + g[1] * r1 + g[2] * r2)
        h1 = g[10] - (g[3] * r0 + g[4] * r1 + g[5] * r2)
        hb = g[11] - (g[6] * r0 + g[7] * r1 + g[8] * r2)
        r0 = h0
        r1 = h1
        r2 = hb
        turn = fabs(hb) if fabs(hb) > turn else turn
        w.F[2 * k] += r0
        w.F[2 * k + 1] += r1
    chain_apply(c, w)
    return turn < 1e-4


cdef inline void chain_targets(Chain* c, ChainWork* w, double h) noexcept nogil:
    """Lengths to reach in this substep: rest, or nearer to it by at most catch_up * h for the whole rope."""
    cdef int k, m = c.n - 1
    cdef double over = 0.0, d, share = c.settle, alpha = c.stretch_compliance / (h * h)
    for k in range(m):
        over += share * fabs(w.s[k] - c.rest[k] - alpha * c.lam[k])
    if over > c.catch_up * h:
        share *= c.catch_up * h / over
    for k in range(m):
        d = w.s[k] - c.rest[k] - alpha * c.lam[k]
        w.l[k] = c.rest[k] + (1.0 - share) * d
        w.R[k] = w.l[k] if d > 0.0 else c.rest[k]


cdef inline double chain_dual(Chain* c, ChainWork* w, double alpha) noexcept nogil:
    """Dual value of the projection; x must already belong to F."""
    cdef int k, m = c.n - 1
    cdef double value = 0.0, fx, fy, ff
    for k in range(m):
        fx = w.F[2 * k]
        fy = w.F[2 * k + 1]
        ff = fx * fx + fy * fy
        value += (w.R[k] * sqrt(ff + w.eps[k] * w.eps[k]) + 0.5 * alpha * ff
                  - 0.5 * (fx * (c.x[2 * k + 2] - c.x[2 * k] + w.y[2 * k + 2] - w.y[2 * k])
                           + fy * (c.x[2 * k + 3] - c.x[2 * k + 1] + w.y[2 * k + 3] - w.y[2 * k + 1])))
    return value


cdef inline double chain_newton_dual(Chain* c, ChainWork* w, double alpha) noexcept nogil:
    """Newton direction of the dual into r; returns the slope along it (negative)."""
    cdef int k, m = c.n - 1
    cdef double fx, fy, rho, q, h00, h01, h11, a00, a01, a11, inv, r0, r1, b0, b1
    cdef double z00 = 0.0, z01 = 0.0, z10 = 0.0, z11 = 0.0, slope = 0.0
    cdef double* W = c.W
    r0 = 0.0
    r1 = 0.0
    for k in range(m):
        fx = w.F[2 * k]
        fy = w.F[2 * k + 1]
        rho = 1.0 / sqrt(fx * fx + fy * fy + w.eps[k] * w.eps[k])
        q = w.R[k] * rho
        fx *= rho
        fy *= rho
        h00 = q * (1.0 - fx * fx) + alpha + W[3 * k] + W[3 * k + 3]
        h01 = -q * fx * fy + W[3 * k + 1] + W[3 * k + 4]
        h11 = q * (1.0 - fy * fy) + alpha + W[3 * k + 2] + W[3 * k + 5]
        b0 = c.x[2 * k + 2] - c.x[2 * k] - w.R[k] * fx - alpha * w.F[2 * k]
        b1 = c.x[2 * k + 3] - c.x[2 * k + 1] - w.R[k] * fy - alpha * w.F[2 * k + 1]
        if chain_held(c, k):
            h00 = h11 = 1.0
            h01 = b0 = b1 = 0.0
        w.d[2 * k] = b0
        w.d[2 * k + 1] = b1
        # z = D'^-1 W of the row before; this row's lower block is -W_k
        h00 -= W[3 * k] * z00 + W[3 * k + 1] * z10
        h01 -= W[3 * k] * z01 + W[3 * k + 1] * z11
        h11 -= W[3 * k + 1] * z01 + W[3 * k + 2] * z11
        b0 += W[3 * k] * r0 + W[3 * k + 1] * r1
        b1 += W[3 * k + 1] * r0 + W[3 * k + 2] * r1
        inv = h00 * h11 - h01 * h01
        inv = 1.0 / inv if inv > 1e-300 else 0.0
        r0 = (h11 * b0 - h01 * b1) * inv
        r1 = (h00 * b1 - h01 * b0) * inv
        a00 = W[3 * k + 3]
        a01 = W[3 * k + 4]
        a11 = W[3 * k + 5]
        z00 = (h11 * a00 - h01 * a01) * inv
        z01 = (h11 * a01 - h01 * a11) * inv
        z10 = (h00 * a01 - h01 * a00) * inv
        z11 = (h00 * a11 - h01 * a01) * inv
        w.r[2 * k] = r0
        w.r[2 * k + 1] = r1
        w.g[4 * k] = z00
        w.g[4 * k + 1] = z01
        w.g[4 * k + 2] = z10
        w.g[4 * k + 3] = z11
    for k in range(m - 2, -1, -1):
        w.r[2 * k] += w.g[4 * k] * w.r[2 * k + 2] + w.g[4 * k + 1] * w.r[2 * k + 3]
        w.r[2 * k + 1] += w.g[4 * k + 2] * w.r[2 * k + 2] + w.g[4 * k + 3] * w.r[2 * k + 3]
    for k in range(m):
        slope -= w.r[2 * k] * w.d[2 * k] + w.r[2 * k + 1] * w.d[2 * k + 1]
    return slope


cdef inline void chain_project(Chain* c, ChainWork* w, double alpha, int limit) noexcept nogil:
    """Nearest pose (in mass) whose links are no longer than R: convex, so it can only lose energy.

    Dual: minimise 1/2 F.A F - F.q + sum R |F| + alpha |F|^2 / 2 by Newton with a line search.
    """
    cdef int k, m = c.n - 1, i, halving
    cdef double value, slope, step, tried, level = 1.0, scale, worst = 0.0, error
    cdef double* W = c.W
    for k in range(m):
        scale = W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5]
        w.b[k] = (w.R[k] + 1e-12) / (scale + 1e-30)
        w.F[2 * k] = 0.0
        w.F[2 * k + 1] = 0.0
    chain_apply(c, w)
    for i in range(limit):
        for k in range(m):
            w.eps[k] = w.b[k] * level
        value = chain_dual(c, w, alpha)
        slope = chain_newton_dual(c, w, alpha)
        step = 1.0
        for k in range(m):
            w.F[2 * k] += w.r[2 * k]
            w.F[2 * k + 1] += w.r[2 * k + 1]
        for halving in range(12):
            chain_apply(c, w)
            tried = chain_dual(c, w, alpha)
            if tried <= value + 0.1 * step * slope + 1e-14 * fabs(value):
                break
            step *= 0.5
            for k in range(m):
                w.F[2 * k] -= step * w.r[2 * k]
                w.F[2 * k + 1] -= step * w.r[2 * k + 1]
        c.passes += 1
        if step == 1.0:
            if level <= 1e-5:
                worst = 0.0
                for k in range(m):
                    error = fabs(w.r[2 * k]) + fabs(w.r[2 * k + 1])
                    if error > worst * (fabs(w.F[2 * k]) + fabs(w.F[2 * k + 1]) + w.eps[k]):
                        worst = error / (fabs(w.F[2 * k]) + fabs(w.F[2 * k + 1]) + w.eps[k])
                if worst < 1e-6:
                    break
            else:
                level *= 0.1
    chain_geometry(m, c.x, w.u, w.s)
    c.residual = 0.0
    for k in range(m):
        c.lam[k] = w.F[2 * k] * w.u[2 * k] + w.F[2 * k + 1] * w.u[2 * k + 1]
        error = w.s[k] - w.R[k] - alpha * c.lam[k]
        if error > c.residual * c.rest[k]:
            c.residual = error / (c.rest[k] + 1e-30)


cdef inline double chain_work_done(Chain* c, ChainWork* w) noexcept nogil:
    """Work of the links over the substep (times h^2); negative when they take energy out."""
    cdef int k
    cdef double work = 0.0
    for k in range(2 * c.n):
        work += c.f[k] * (0.5 * (c.x[k] + w.y[k]) - c.x0[k])
    return work


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


cdef inline double chain_stored(Chain* c, ChainWork* w, double alpha, double h2) noexcept nogil:
    """Elastic energy (times h^2) of the present lengths and directions."""
    cdef int k
    cdef double total = 0.0, d
    if alpha > 0.0:
        for k in range(c.n - 1):
            d = w.s[k] - c.rest[k]
            total += 0.5 * d * d / alpha
    if c.bend_stiffness > 0.0:
        total += chain_bend_energy(c, w, h2)
    return total


cdef inline int chain_newton(Chain* c, ChainWork* w, double alpha, int implicit, int limit) noexcept nogil:
    """Newton passes on the two-sided links; 1 when converged."""
    cdef int k, m = c.n - 1, passes = 0, settled = 1
    cdef double worst, error, lam
    while True:
        chain_geometry(m, c.x, w.u, w.s)
        worst = 0.0
        for k in range(m):
            if alpha <= 0.0 and chain_held(c, k):
                continue
            lam = c.lam[k]
            if implicit:
                lam = w.F[2 * k] * w.u[2 * k] + w.F[2 * k + 1] * w.u[2 * k + 1]
            error = fabs(w.s[k] - w.l[k] - alpha * lam)
            if error > worst * w.l[k]:
                worst = error / (w.l[k] + 1e-30)
        c.residual = worst
        if passes > 0 and worst < 1e-9 and settled:
            return 1
        if passes >= limit or not worst < 1e6:
            return 0
        if c.bend_stiffness > 0.0:
            settled = chain_pass_bend(c, w, alpha, w.h2)
        elif implicit:
            chain_pass_implicit(c, w, alpha)
        else:
            chain_pass_explicit(c, w, alpha)
        passes += 1
        c.passes += 1


cdef inline void chain_start(Chain* c, ChainWork* w) noexcept nogil:
    """Pulls and nodes of the first guess: last multipliers along the chosen directions."""
    cdef int k
    for k in range(c.n - 1):
        w.F[2 * k] = c.lam[k] * (w.e[2 * k] + w.a[k] * w.u[2 * k])
        w.F[2 * k + 1] = c.lam[k] * (w.e[2 * k + 1] + w.a[k] * w.u[2 * k + 1])
    chain_apply(c, w)


cdef inline int chain_attempt(Chain* c, ChainWork* w, double h, double alpha) noexcept nogil:
    """Two-sided links: 0 solved with symplectic directions, 1 solved with mid directions, 2 not solved."""
    cdef int k, m = c.n - 1, implicit
    cdef double work, q, stored
    cdef double* W = c.W
    chain_geometry(m, c.x0, w.u, w.s)
    chain_targets(c, w, h)
    implicit = chain_directions(c, w) if c.bend_stiffness <= 0.0 else (chain_directions(c, w) | 1)
    w.h2 = h * h
    for k in range(m):
        w.old[k] = c.lam[k]
    stored = chain_stored(c, w, alpha, w.h2)
    chain_start(c, w)
    if chain_newton(c, w, alpha, implicit, 14):
        work = chain_work_done(c, w) + chain_stored(c, w, alpha, w.h2) - stored
        if not (work > 0.0 and work > 0.01 * chain_kinetic(c, w) + 1e-30):
            return 0
    # the mean of start and end direction cannot add energy: (u0 + u) . (p - p0) = 0 while |p| = |p0|
    chain_geometry(m, c.x0, w.u, w.s)
    for k in range(m):
        q = w.old[k] * (W[3 * k] + W[3 * k + 2] + W[3 * k + 3] + W[3 * k + 5])
        w.a[k] = 0.5 + 0.5 * q / (q + 4.0 * w.s[k]) if q > 0.0 else 0.5
        w.e[2 * k] = (1.0 - w.a[k]) * w.u[2 * k]
        w.e[2 * k + 1] = (1.0 - w.a[k]) * w.u[2 * k + 1]
        c.lam[k] = w.old[k]
    chain_start(c, w)
    if chain_newton(c, w, alpha, 1, 14):
        work = chain_work_done(c, w) + chain_stored(c, w, alpha, w.h2) - stored
        if not (work > 0.0 and work > 0.01 * chain_kinetic(c, w) + 1e-30):
            return 1
    return 2


cdef inline void chain_robust(Chain* c, ChainWork* w, double alpha) noexcept nogil:
    """The projection with a compliance just large enough to keep an impossible demand finite."""
    cdef int k
    cdef double small = 0.0
    for k in range(c.n):
        if c.W[3 * k] + c.W[3 * k + 2] > small:
            small = c.W[3 * k] + c.W[3 * k + 2]
    small = 1e-8 * small + 1e-300
    chain_project(c, w, alpha if alpha > small else small, 60)


cdef inline void chain_split(Chain* c, ChainWork* w, double h, double alpha, int parts) noexcept nogil:
    """The substep again in equal parts: what turns too far in h turns less in h / parts."""
    cdef Chain part = c[0]
    cdef int i, k, n = c.n, m = c.n - 1, state
    cdef double hs = h / parts, square = 1.0 / (<double>parts * parts)
    cdef double* v = w.v
    part.x0 = w.z
    for k in range(2 * n):
        w.z[k] = c.x0[k]
        w.total[k] = 0.0
    for k in range(m):
        c.lam[k] = w.first[k] * square
        w.mean[k] = 0.0
    for i in range(parts):
        for k in range(2 * n):
            w.y[k] = w.z[k] + hs * v[k]
            c.x[k] = w.y[k]
        state = chain_attempt(&part, w, hs, alpha / square)
        if state == 2:
            for k in range(m):
                c.lam[k] = w.old[k]
            chain_robust(&part, w, alpha / square)
        if state > c.violent - 2:
            c.violent = state + 2
        for k in range(2 * n):
            v[k] = (c.x[k] - w.z[k]) / hs
            w.z[k] = c.x[k]
            w.total[k] += c.f[k] * parts
        for k in range(m):
            w.mean[k] += c.lam[k] * parts
    for k in range(2 * n):
        c.f[k] = w.total[k]
    for k in range(m):
        c.lam[k] = w.mean[k]
    c.passes = part.passes
    c.residual = part.residual


cdef inline void chain_solve(Chain* c, double h) noexcept nogil:
    """Bring the predicted nodes x onto the links; see the head of this file."""
    cdef ChainWork w = chain_work(c)
    cdef int k, n = c.n, m = c.n - 1
    cdef double alpha = c.stretch_compliance / (h * h)
    c.passes = 0
    c.violent = 0
    c.residual = 0.0
    for k in range(2 * n):
        w.y[k] = c.x[k]
        c.f[k] = 0.0
    if m < 1:
        return
    for k in range(m):
        w.first[k] = c.lam[k]
    c.violent = chain_attempt(c, &w, h, alpha)
    if c.violent == 2:
        for k in range(2 * n):
            w.v[k] = (w.y[k] - c.x0[k]) / h
        chain_split(c, &w, h, alpha, 4)
        for k in range(2 * n):
            c.v[k] = w.v[k]
    else:
        for k in range(2 * n):
            c.v[k] = (c.x[k] - c.x0[k]) / h
