"""Newton passes of one rope's links: limp with fixed directions, limp with coming directions, stiff (see chainwork.pxd)."""

from libc.math cimport fabs, sqrt

from chainwork cimport Chain, ChainWork, chain_apply, chain_held


cdef inline void chain_pass_explicit(Chain* c, ChainWork* w) noexcept nogil:
    """One Newton pass with fixed directions: tridiagonal in lam."""
    cdef int k, m = c.n - 1
    cdef double ux, uy, ex, ey, vx, vy, d, off, g, r, inv, dl
    cdef double* W = c.W
    for k in range(m):
        ux = w.u[2 * k]
        uy = w.u[2 * k + 1]
        ex = w.e[2 * k]
        ey = w.e[2 * k + 1]
        vx = (W[3 * k] + W[3 * k + 3]) * ux + (W[3 * k + 1] + W[3 * k + 4]) * uy
        vy = (W[3 * k + 1] + W[3 * k + 4]) * ux + (W[3 * k + 2] + W[3 * k + 5]) * uy
        d = vx * ex + vy * ey
        w.r[k] = w.s[k] - w.l[k] - w.al[k] * c.lam[k]
        off = 1e-9 * (vx * ux + vy * uy)
        w.d[k] = (d if d > off else off) + w.al[k]
        if chain_held(c, k):
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


cdef inline void chain_pass_implicit(Chain* c, ChainWork* w, int oneside) noexcept nogil:
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
        d00 = vx + w.al[k] / gu * ux
        d01 = vy + w.al[k] / gu * uy
        d10 = -uy - et / gu * ux + s * zx
        d11 = ux - et / gu * uy + s * zy
        r0 = w.s[k] - w.l[k] - w.al[k] * lam
        r1 = et * lam - (-uy * w.F[2 * k] + ux * w.F[2 * k + 1])
        if sxx + syy <= 0.0:
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
        if oneside and lam * (sxx + syy) + w.s[k] - w.l[k] <= 0.0:
            d00 = 1.0
            d01 = d10 = 0.0
            d11 = 1.0
            r0 = -w.F[2 * k]
            r1 = -w.F[2 * k + 1]
            l00 = l01 = l10 = l11 = p00 = p01 = p10 = p11 = 0.0
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


cdef inline void chain_moments(Chain* c, ChainWork* w) noexcept nogil:
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
        if chain_held(c, k):
            half = 0.0
        if k > 0:
            cross = w.u[2 * k - 2] * w.u[2 * k + 1] - w.u[2 * k - 1] * w.u[2 * k]
            dot = w.u[2 * k - 2] * w.u[2 * k] + w.u[2 * k - 1] * w.u[2 * k + 1]
            cosine = sqrt(0.5 * (1.0 + dot)) if dot > -1.0 else 0.0
            stiff = last + half
            stiff = c.bend_stiffness * w.h2 / stiff if stiff > 0.0 else 0.0
            w.moment[k] = stiff * (cross / cosine if cosine > 1e-6 else (2.0 if cross >= 0.0 else -2.0))
            w.slope[k] = stiff * cosine
        last = half


cdef inline double chain_bend_energy(Chain* c, ChainWork* w) noexcept nogil:
    """Bending energy (times h^2) of the present directions."""
    cdef int k, m = c.n - 1
    cdef double half, last = 0.0, dot, stiff, total = 0.0
    for k in range(m):
        half = 0.5 * c.rest[k]
        if chain_held(c, k):
            half = 0.0
        stiff = last + half
        if k > 0 and stiff > 0.0:
            dot = w.u[2 * k - 2] * w.u[2 * k] + w.u[2 * k - 1] * w.u[2 * k + 1]
            total += 4.0 * c.bend_stiffness * w.h2 / stiff * (1.0 - (sqrt(0.5 * (1.0 + dot)) if dot > -1.0 else 0.0))
        last = half
    return total


cdef inline double chain_stored(Chain* c, ChainWork* w) noexcept nogil:
    """Elastic energy (times h^2) of the present lengths and directions."""
    cdef int k
    cdef double total = 0.0, d
    if c.stretch_compliance > 0.0:
        for k in range(c.n - 1):
            d = w.s[k] - c.rest[k]
            total += 0.5 * d * d / w.al[k]
    if c.bend_stiffness > 0.0:
        total += chain_bend_energy(c, w)
    return total


cdef inline int chain_pass_bend(Chain* c, ChainWork* w, int oneside) noexcept nogil:
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
    chain_moments(c, w)
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
        d00 = sxx * ux + sxy * uy + w.al[k] / gu * ux
        d01 = sxy * ux + syy * uy + w.al[k] / gu * uy
        d02 = 0.0
        d10 = -uy - et / gu * ux
        d11 = ux - et / gu * uy
        d12 = -s - kb - ka
        d20 = sxx * uy - sxy * ux
        d21 = sxy * uy - syy * ux
        d22 = -size
        r0 = w.s[k] - w.l[k] - w.al[k] * lam
        r1 = et * lam + shear - (-uy * w.F[2 * k] + ux * w.F[2 * k + 1])
        r2 = 0.0
        if sxx + syy <= 0.0:
            d00 = ux
            d01 = uy
            r0 = 0.0
        # rows of W_k (before) and W_{k+1} (after) seen from u and t
        wx = W[3 * k] * ux + W[3 * k + 1] * uy
        wy = W[3 * k + 1] * ux + W[3 * k + 2] * uy
        zx = -W[3 * k] * uy + W[3 * k + 1] * ux
        zy = -W[3 * k + 1] * uy + W[3 * k + 2] * ux
        p00 = -(W[3 * k + 3] * ux + W[3 * k + 4] * uy)
        p01 = -(W[3 * k + 4] * ux + W[3 * k + 5] * uy)
        if oneside and lam * (sxx + syy) + w.s[k] - w.l[k] <= 0.0:
            d00 = ux
            d01 = uy
            d02 = wx = wy = p00 = p01 = 0.0
            r0 = -lam * gu
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
