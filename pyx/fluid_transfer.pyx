"""Particles to a staggered grid and back, and the pressure that makes the grid's flow keep its volume.

A coarse grid carries what a few local iterations cannot: the pressure of the whole pool (Raveendran, Wojtan, Turk 2011,
"Hybrid smoothed particle hydrodynamics"). Cell (i, j) is item j * stride + i; face u is the cell's left side, face v its
lower side (towards smaller y). Faces hold interleaved (volume, mass, momentum) sums in units of one cell's area.
"""

from cython.parallel cimport prange
from libc.math cimport floorf


cdef inline float clampf(float value, float low, float high) noexcept nogil:
    return low if value < low else (high if value > high else value)


cdef inline void deposit(float* grid, int stride, float gx, float gy, float volume, float mass,
                         float velocity) noexcept nogil:
    """Add one particle to the four nodes round (gx, gy), bilinear weights."""
    cdef int i = <int>gx, j = <int>gy
    cdef float a = gx - i, b = gy - j, w
    cdef float* p = grid + 4 * (j * stride + i)
    cdef float* q = p + 4 * stride
    cdef float momentum = mass * velocity
    w = (1 - a) * (1 - b)
    p[0] += w * volume
    p[1] += w * mass
    p[2] += w * momentum
    w = a * (1 - b)
    p[4] += w * volume
    p[5] += w * mass
    p[6] += w * momentum
    w = (1 - a) * b
    q[0] += w * volume
    q[1] += w * mass
    q[2] += w * momentum
    w = a * b
    q[4] += w * volume
    q[5] += w * mass
    q[6] += w * momentum


cdef int band_deposit(const float* x, const float* y, const float* vx, const float* vy, const float* volume,
                       const float* mass, int first, int last, float inv, int nx, int ny,
                       int low, int high, float* fill, float* u, float* v) noexcept nogil:
    """The particles of one band; returns how many lie too far outside of the rows low to high, left out."""
    cdef int k, i, j, strays = 0, stride = nx + 1
    cdef float gx, gy, a, b, w
    cdef float* p
    for k in range(first, last):
        gx = x[k] * inv
        gy = y[k] * inv
        if not (gx >= 1 and gy >= 1 and gx < nx - 1 and gy < ny - 1):
            continue
        if gy < low - <float>0.9 or gy > high + <float>0.9:
            strays += 1
            continue
        deposit(u, stride, gx, gy - <float>0.5, volume[k], mass[k], vx[k])
        deposit(v, stride, gx - <float>0.5, gy, volume[k], mass[k], vy[k])
        gx = gx - <float>0.5
        gy = gy - <float>0.5
        i = <int>gx
        j = <int>gy
        a = gx - i
        b = gy - j
        w = volume[k]
        p = fill + j * stride + i
        p[0] += (1 - a) * (1 - b) * w
        p[1] += a * (1 - b) * w
        p[stride] += (1 - a) * b * w
        p[stride + 1] += a * b * w
    return strays


def to_grid(const float[::1] x, const float[::1] y, const float[::1] vx, const float[::1] vy,
            const float[::1] volume, const float[::1] mass, int n, const int[::1] bands, int band_count, int rows,
            float inv, int nx, int ny, float[::1] fill, float[::1] u, float[::1] v, int[::1] strays, int threads):
    """Sum volume, mass and momentum of the particles onto cell centres (fill) and faces (u, v).

    Particles are in row order; bands[b] is the first particle of band b, which has `rows` rows, at least 4. The bands of
    one parity share no node: even bands run in parallel, then odd ones, and every sum has one fixed order. Particles
    outside the grid's inner cells are left out, and so are those that strayed by a row from their band: their number is
    returned, and where it is not 0 the caller asks again with one band. inv: 1 / cell.
    """
    cdef int nodes = (nx + 1) * (ny + 1), b, half, parity, total = 0
    cdef Py_ssize_t k
    with nogil:
        for k in range(nodes):
            fill[k] = 0
        for k in range(4 * nodes):
            u[k] = 0
            v[k] = 0
    if n == 0:
        return 0
    for parity in range(2):
        half = (band_count - parity + 1) // 2
        for b in prange(half, nogil=True, schedule="static", num_threads=threads):
            strays[2 * b + parity] = band_deposit(
                &x[0], &y[0], &vx[0], &vy[0], &volume[0], &mass[0], bands[2 * b + parity], bands[2 * b + parity + 1],
                inv, nx, ny, (2 * b + parity) * rows, (2 * b + parity + 1) * rows, &fill[0], &u[0], &v[0])
    for b in range(band_count):
        total += strays[b]
    return total


def classify(const float[::1] fill, const float[::1] solid, const float[::1] open_u, const float[::1] open_v, int nx,
             int ny, float threshold, unsigned char[::1] wet):
    """wet[c] = 1 where liquid and wall together fill the cell to the threshold, liquid is there and a face is open."""
    cdef int i, j, c, stride = nx + 1
    with nogil:
        for c in range((nx + 1) * (ny + 1)):
            wet[c] = 0
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                c = j * stride + i
                if solid[c] < <float>0.999 and fill[c] > <float>0.02 and fill[c] + solid[c] >= threshold and (
                        open_u[c] + open_u[c + 1] + open_v[c] + open_v[c + stride] > 0):
                    wet[c] = 1


cdef inline float gap(float wet_fill, float dry_fill) noexcept nogil:
    """Distance from a wet cell's centre to the surface in cells, by how full it and its dry neighbour are.

    For tent-weighted fill the distance is the sum less 0.5 exactly; 0.1 more since a pool at rest stands 1 % high."""
    return clampf(wet_fill - <float>0.6 + dry_fill, <float>0.3, <float>1.5)


def assemble(const float[::1] fill, const float[::1] solid, const unsigned char[::1] wet,
             const float[::1] u, const float[::1] v, const float[::1] open_u, const float[::1] open_v,
             const float[::1] wall_u, const float[::1] wall_v, int nx, int ny, float rate, float pull,
             float[::1] face_u, float[::1] face_v, float[::1] link_u, float[::1] link_v, float[::1] air,
             float[::1] b):
    """The pressure equation sum over faces of c (q - q_next) = b of each wet cell; q is h * pressure / cell size.

    c = open fraction * volume / mass of the face; towards air, divided by the surface's distance (ghost fluid, Enright
    et al. 2003) and summed into `air`; link: the faces between two wet cells alone. b = - outflow + rate * (fill - 1): cells too full spread (pull: the share of
    that for cells not full enough, inside the liquid). wall_u, wall_v: (1 - open) * the wall's velocity.
    """
    cdef int i, j, c, d, k, stride = nx + 1
    cdef float beta, coefficient, flow, excess, total
    with nogil:
        for c in range((nx + 1) * (ny + 1)):
            face_u[c] = 0
            face_v[c] = 0
            link_u[c] = 0
            link_v[c] = 0
            air[c] = 0
            b[c] = 0
        for j in range(1, ny):
            for i in range(1, nx):
                c = j * stride + i
                if wet[c] or wet[c - 1]:
                    beta = u[4 * c] / u[4 * c + 1] if u[4 * c + 1] > <float>1e-6 else 1
                    coefficient = open_u[c] * beta
                    flow = wall_u[c]
                    if u[4 * c + 1] > <float>1e-6:
                        flow = flow + open_u[c] * u[4 * c + 2] / u[4 * c + 1]
                    if wet[c] and wet[c - 1]:
                        face_u[c] = coefficient
                        link_u[c] = coefficient
                        b[c] += flow
                        b[c - 1] -= flow
                    elif wet[c]:
                        coefficient = coefficient / gap(fill[c] + solid[c], fill[c - 1])
                        face_u[c] = coefficient
                        air[c] += coefficient
                        b[c] += flow
                    else:
                        coefficient = coefficient / gap(fill[c - 1] + solid[c - 1], fill[c])
                        face_u[c] = coefficient
                        air[c - 1] += coefficient
                        b[c - 1] -= flow
                d = c - stride
                if wet[c] or wet[d]:
                    beta = v[4 * c] / v[4 * c + 1] if v[4 * c + 1] > <float>1e-6 else 1
                    coefficient = open_v[c] * beta
                    flow = wall_v[c]
                    if v[4 * c + 1] > <float>1e-6:
                        flow = flow + open_v[c] * v[4 * c + 2] / v[4 * c + 1]
                    if wet[c] and wet[d]:
                        face_v[c] = coefficient
                        link_v[c] = coefficient
                        b[c] += flow
                        b[d] -= flow
                    elif wet[c]:
                        coefficient = coefficient / gap(fill[c] + solid[c], fill[d])
                        face_v[c] = coefficient
                        air[c] += coefficient
                        b[c] += flow
                    else:
                        coefficient = coefficient / gap(fill[d] + solid[d], fill[c])
                        face_v[c] = coefficient
                        air[d] += coefficient
                        b[d] -= flow
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                c = j * stride + i
                if not wet[c]:
                    b[c] = 0
                    continue
                excess = fill[c] + solid[c] - 1
                if excess > 0:
                    b[c] += rate * excess
                elif (wet[c - 1] or solid[c - 1] > <float>0.5) and (wet[c + 1] or solid[c + 1] > <float>0.5) and (
                        wet[c - stride] or solid[c - stride] > <float>0.5) and (
                        wet[c + stride] or solid[c + stride] > <float>0.5):
                    b[c] += rate * pull * excess


def push(const unsigned char[::1] wet, const float[::1] face_u, const float[::1] face_v, const float[::1] q,
         const float[::1] open_u, const float[::1] open_v, const float[::1] u, const float[::1] v, int nx, int ny,
         float[::1] du, float[::1] dv, unsigned char[::1] known_u, unsigned char[::1] known_v):
    """Velocity changes of the faces, du = - c / open * (q - q_left), 0 pressure in air; then one ring outward.

    A face beside the liquid without an equation of its own takes the mean of its known neighbours, faded out where
    there is hardly any liquid, so that spray above a surface falls freely.
    """
    cdef int i, j, c, stride = nx + 1
    with nogil:
        for c in range((nx + 1) * (ny + 1)):
            du[c] = 0
            dv[c] = 0
            known_u[c] = 0
            known_v[c] = 0
        for j in range(1, ny):
            for i in range(1, nx):
                c = j * stride + i
                if face_u[c] > 0 and open_u[c] > 0:
                    du[c] = -face_u[c] / open_u[c] * (q[c] - q[c - 1])
                    known_u[c] = 1
                if face_v[c] > 0 and open_v[c] > 0:
                    dv[c] = -face_v[c] / open_v[c] * (q[c] - q[c - stride])
                    known_v[c] = 1
        outward(&known_u[0], &u[0], nx, ny, &du[0])
        outward(&known_v[0], &v[0], nx, ny, &dv[0])


cdef void outward(const unsigned char* known, const float* face, int nx, int ny, float* delta) noexcept nogil:
    cdef int i, j, c, count, stride = nx + 1
    cdef float total
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            c = j * stride + i
            if known[c] or face[4 * c] < <float>0.02:
                continue
            count = known[c - 1] + known[c + 1] + known[c - stride] + known[c + stride]
            if count == 0:
                continue
            total = 0
            if known[c - 1]:
                total = total + delta[c - 1]
            if known[c + 1]:
                total = total + delta[c + 1]
            if known[c - stride]:
                total = total + delta[c - stride]
            if known[c + stride]:
                total = total + delta[c + stride]
            delta[c] = total / count * clampf((face[4 * c] - <float>0.02) * 8, 0, 1)


cdef inline float sample(const float* grid, int stride, float gx, float gy) noexcept nogil:
    cdef int i = <int>gx, j = <int>gy
    cdef float a = gx - i, b = gy - j
    cdef const float* p = grid + j * stride + i
    return (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[stride] + a * p[stride + 1])


cdef void chunk_sample(const float* x, const float* y, int first, int last, float inv, int nx, int ny,
                       const float* du, const float* dv, float* vx, float* vy) noexcept nogil:
    cdef int k, stride = nx + 1
    cdef float gx, gy
    for k in range(first, last):
        gx = x[k] * inv
        gy = y[k] * inv
        if gx >= 1 and gy >= 1 and gx < nx - 1 and gy < ny - 1:
            vx[k] += sample(du, stride, gx, gy - <float>0.5)
            vy[k] += sample(dv, stride, gx - <float>0.5, gy)


def from_grid(const float[::1] x, const float[::1] y, int n, float inv, int nx, int ny,
              const float[::1] du, const float[::1] dv, float[::1] vx, float[::1] vy, int chunk, int threads):
    """Add the faces' velocity changes to the particles (FLIP, Brackbill, Ruppel 1986: differences, not velocities)."""
    cdef int c, chunks = (n + chunk - 1) // chunk
    if n == 0:
        return
    for c in prange(chunks, nogil=True, schedule="static", num_threads=threads):
        chunk_sample(&x[0], &y[0], c * chunk, (c + 1) * chunk if (c + 1) * chunk < n else n, inv, nx, ny,
                     &du[0], &dv[0], &vx[0], &vy[0])
