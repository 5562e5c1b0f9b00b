"""Ropes: one substep of every rope, islands over threads.

An island is a set of ropes that can feel each other through a shared dynamic body, a join or a touch. Islands share
nothing, so each runs serially in a fixed order on whichever thread takes it: the same bits for any number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport fabs, sqrt
from libc.stdint cimport int64_t, uint8_t

from chain cimport CHAIN_SCRATCH
from contact cimport SLOTS, Hold, Touch, arm_mass, push_body
from rope_pairs cimport touch_chunks
from rope_hubs cimport seat_hubs
from rope_records cimport Anchor, Hub, Island, Join, Member, Pair, Rope, Stage, body_point
from rope_surfaces cimport lean_on_surfaces, leave_surfaces, read_surfaces, touch_shapes
from rope_ties cimport begin_solve, seat_anchors, settle_links, solve_in_turn, solve_links
from rope_together cimport settle_together, solve_together
from shapes cimport DYNAMIC, Body, Colliders
from trig cimport decay


def record_sizes():
    """Bytes of one Rope, Anchor, Join, Hub, Member, Island, Pair, Touch and Hold record, and doubles of scratch per
    node."""
    return (sizeof(Rope), sizeof(Anchor), sizeof(Join), sizeof(Hub), sizeof(Member), sizeof(Island), sizeof(Pair),
            sizeof(Touch), sizeof(Hold), CHAIN_SCRATCH)


# ---------------------------------------------------------------- one step's preparation

cdef void follow(double* x, double* previous, double* target, const double* w, const double* rest, int64_t count,
                 int64_t node, double px, double py) noexcept nogil:
    # Put a node somewhere; each next one is drawn to within a link of the one before it, up to the first held one.
    cdef int64_t k, side, link
    cdef double dx, dy, d, ox, oy
    for side in range(-1, 2, 2):
        k = node
        ox = px
        oy = py
        while True:
            if k == node:
                dx = ox - x[2 * k]
                dy = oy - x[2 * k + 1]
            else:
                link = k - 1 if side > 0 else k
                dx = ox - x[2 * k]
                dy = oy - x[2 * k + 1]
                d = sqrt(dx * dx + dy * dy)
                if w[k] <= 0.0 or d <= rest[link]:
                    break
                dx *= 1.0 - rest[link] / d
                dy *= 1.0 - rest[link] / d
            x[2 * k] += dx
            x[2 * k + 1] += dy
            previous[2 * k] += dx
            previous[2 * k + 1] += dy
            target[2 * k] = x[2 * k]
            target[2 * k + 1] = x[2 * k + 1]
            ox = x[2 * k]
            oy = x[2 * k + 1]
            k += side
            if k < 0 or k >= count:
                break


def drag(double[:, ::1] x, double[:, ::1] previous, double[:, ::1] target, double[::1] w, double[::1] rest,
         Py_ssize_t node, double px, double py):
    """Put one node of a rope at (px, py) without velocity; the others follow as far as their links make them."""
    follow(&x[0, 0], &previous[0, 0], &target[0, 0], &w[0], &rest[0], x.shape[0], node, px, py)


cdef void follow_anchors(Rope* r, Anchor* anchors, Body* bodies, double dt) noexcept nogil:
    # Anchors that jumped take their rope along; the anchors' and pins' mean motion is what damping is relative to.
    cdef int64_t i, k, n = 0
    cdef double px, py, dx, dy
    cdef Anchor* a
    cdef Body* b
    r.drag_x = r.drag_y = 0.0
    for i in range(r.anchors):
        a = anchors + r.anchor + i
        b = bodies + a.body
        body_point(b, a, &px, &py)
        dx = px - r.x[2 * a.node]
        dy = py - r.x[2 * a.node + 1]
        if dx * dx + dy * dy > 1e-8:
            follow(r.x, r.previous, r.target, r.w, r.rest, r.count, a.node, px, py)
        if b.kind != DYNAMIC:
            r.drag_x += b.vx - b.w * (py - b.y)
            r.drag_y += b.vy + b.w * (px - b.x)
            n += 1
    for k in range(r.count):
        if r.w[k] <= 0.0:
            r.drag_x += (r.target[2 * k] - r.x[2 * k]) / dt
            r.drag_y += (r.target[2 * k + 1] - r.x[2 * k + 1]) / dt
            n += 1
    r.drag_own = n == 0 and r.anchors > 0
    if n > 0:
        r.drag_x /= n
        r.drag_y /= n


def begin_step(uint8_t[::1] ropes, Py_ssize_t count, uint8_t[::1] anchors, int64_t[::1] colliders, double dt):
    """Remember the positions for interpolation, let ropes catch up with anchors that jumped, forget the last step's
    touches and tensions."""
    cdef Rope* r
    cdef Py_ssize_t i
    cdef int64_t k
    for i in range(count):
        r = <Rope*>&ropes[0] + i
        follow_anchors(r, <Anchor*>&anchors[0], (<Colliders*>&colliders[0]).bodies, dt)
        for k in range(2 * r.count):
            r.previous[k] = r.x[k]
        for k in range(r.count - 1):
            r.tension[k] = 0.0
        if r.touched:
            for k in range(SLOTS * r.count):
                r.touches[k].shape = -1
                r.touches[k].impulse = 0.0
        r.touched = r.capped = r.solves = 0
        r.residual = r.strain = r.peak = 0.0


def end_step(uint8_t[::1] ropes, Py_ssize_t count, double scale):
    """Turn summed multipliers into mean tensions (times `scale`), and measure the largest strain and tension."""
    cdef Rope* r
    cdef Py_ssize_t i
    cdef int64_t k
    cdef double dx, dy, strain
    for i in range(count):
        r = <Rope*>&ropes[0] + i
        for k in range(r.count - 1):
            r.tension[k] *= scale
            r.peak = r.tension[k] if r.tension[k] > r.peak else r.peak
            dx = r.x[2 * k + 2] - r.x[2 * k]
            dy = r.x[2 * k + 3] - r.x[2 * k + 1]
            strain = (sqrt(dx * dx + dy * dy) - r.stretch_compliance * r.tension[k]) / r.rest[k] - 1.0
            r.strain = strain if strain > r.strain else r.strain


cdef void predict(Stage* stage, Rope* r) noexcept nogil:
    # v += h a, x0 = x, x += h v; held nodes go a fraction of the way to their targets.
    cdef int64_t k
    cdef double h = stage.h, gx = stage.gx * h, gy = stage.gy * h, t
    if r.feed != 0.0:
        r.rest[r.feed_link] += r.feed
    for k in range(r.count):
        r.x0[2 * k] = r.x[2 * k]
        r.x0[2 * k + 1] = r.x[2 * k + 1]
        r.holds[k].rebound = -1
        r.W[3 * k] = r.W[3 * k + 2] = r.w[k]
        r.W[3 * k + 1] = 0.0
        if r.w[k] > 0.0:
            r.v[2 * k] += gx
            r.v[2 * k + 1] += gy
            r.x[2 * k] += h * r.v[2 * k]
            r.x[2 * k + 1] += h * r.v[2 * k + 1]
        else:
            t = stage.fraction
            r.x[2 * k] = r.previous[2 * k] + t * (r.target[2 * k] - r.previous[2 * k])
            r.x[2 * k + 1] = r.previous[2 * k + 1] + t * (r.target[2 * k + 1] - r.previous[2 * k + 1])


cdef void finish(Stage* stage, Rope* r, int64_t island) noexcept nogil:
    # v = (x - x0) / h, rebound, damping relative to the anchors' own motion, speed cap.
    cdef int64_t k
    cdef double h = stage.h, inv = 1.0 / stage.h, keep = decay(r.damping * stage.h), vx, vy, speed, lam, rx, ry
    cdef double cap2 = r.max_speed * r.max_speed
    cdef Hold* hold
    cdef Body* b
    for k in range(r.count - 1):
        r.tension[k] += r.lam[k]
    for k in range(r.count):
        vx = (r.x[2 * k] - r.x0[2 * k]) * inv + r.more[2 * k]
        vy = (r.x[2 * k + 1] - r.x0[2 * k + 1]) * inv + r.more[2 * k + 1]
        hold = r.holds + k
        b = stage.world.bodies + hold.rebound
        if hold.rebound >= 0 and (b.kind != DYNAMIC or b.island == island):
            rx = r.x0[2 * k] - b.x0
            ry = r.x0[2 * k + 1] - b.y0
            speed = (vx - (b.x - b.x0) * inv + (b.a - b.a0) * inv * ry) * hold.nx + (
                vy - (b.y - b.y0) * inv - (b.a - b.a0) * inv * rx) * hold.ny
            if speed < hold.speed:
                lam = (hold.speed - speed) / (r.w[k] + arm_mass(b, rx, ry, hold.nx, hold.ny))
                vx += r.w[k] * lam * hold.nx
                vy += r.w[k] * lam * hold.ny
                push_body(b, rx, ry, -lam * h * hold.nx, -lam * h * hold.ny)
        speed = vx * vx + vy * vy
        if not (speed <= cap2):
            speed = r.max_speed / sqrt(speed) if speed < 1e300 else 0.0
            vx = vx * speed if speed > 0.0 else 0.0
            vy = vy * speed if speed > 0.0 else 0.0
            r.capped += 1
        if not (-1e300 < r.x[2 * k] < 1e300 and -1e300 < r.x[2 * k + 1] < 1e300):
            r.x[2 * k] = r.x0[2 * k]
            r.x[2 * k + 1] = r.x0[2 * k + 1]
        r.v[2 * k] = vx
        r.v[2 * k + 1] = vy
    if keep != 1.0:
        damp(r, keep)


cdef void damp(Rope* r, double keep) noexcept nogil:
    # v decays relative to the driven anchors; with dynamic ones alone, to the rope's own mean, which keeps momentum.
    cdef int64_t k
    cdef double mx = 0.0, my = 0.0, m = 0.0
    if r.drag_own:
        for k in range(r.count):
            if r.w[k] > 0.0:
                mx += r.v[2 * k] / r.w[k]
                my += r.v[2 * k + 1] / r.w[k]
                m += 1.0 / r.w[k]
        if m > 0.0:
            r.drag_x = mx / m
            r.drag_y = my / m
    for k in range(r.count):
        if r.w[k] > 0.0:
            r.v[2 * k] = r.drag_x + (r.v[2 * k] - r.drag_x) * keep
            r.v[2 * k + 1] = r.drag_y + (r.v[2 * k + 1] - r.drag_y) * keep


cdef void solve_all(Stage* stage, const Island* island, const int64_t* members, const int64_t* tied,
                    const int64_t* hubs, double* scratch) noexcept nogil:
    # Ropes that share bodies or joins together, the others by themselves.
    cdef int64_t i, count = island.last - island.first
    if island.scratch >= 0:
        if solve_together(stage, tied + island.tied_first, island.tied_last - island.tied_first,
                          hubs + island.hub_first, island.hub_last - island.hub_first, scratch + island.scratch):
            for i in range(count):
                if not stage.ropes[members[i]].tied:
                    begin_solve(stage, stage.ropes + members[i])
                    solve_links(stage, stage.ropes + members[i], members[i])
            return
    solve_in_turn(stage, members, count, island.join_first, island.join_last, <int>island.passes)


cdef bint is_off(const Stage* stage, const int64_t* ropes, int64_t count) noexcept nogil:
    # Has one of these ropes a wrong length to be mended without velocity?
    cdef int64_t i
    for i in range(count):
        if stage.ropes[ropes[i]].touching or stage.ropes[ropes[i]].overlong:
            return True
    return False


cdef void step_island(Stage* stage, const Island* island, const int64_t* all_members, const int64_t* tied,
                      const int64_t* hubs, double* scratch) noexcept nogil:
    cdef int64_t i, count = island.last - island.first
    cdef const int64_t* members = all_members + island.first
    cdef Rope* r
    cdef bint together
    for i in range(count):
        r = stage.ropes + members[i]
        r.overlong = 0
        predict(stage, r)
        lean_on_surfaces(stage, r, island.name)
    solve_all(stage, island, members, tied, hubs, scratch)
    for i in range(count):
        read_surfaces(stage, stage.ropes + members[i])
    for i in range(island.pair_first, island.pair_last):
        touch_chunks(stage, stage.pairs + i)
    for i in range(count):
        touch_shapes(stage, stage.ropes + members[i], island.name)
        leave_surfaces(stage.ropes + members[i])
    for i in range(count):
        finish(stage, stage.ropes + members[i], island.name)
    together = island.scratch >= 0
    if together:
        together = not is_off(stage, tied + island.tied_first, island.tied_last - island.tied_first) or settle_together(
            stage, tied + island.tied_first, island.tied_last - island.tied_first, hubs + island.hub_first,
            island.hub_last - island.hub_first, scratch + island.scratch)
    for i in range(count):
        r = stage.ropes + members[i]
        if (r.touching or r.overlong) and not (together and r.tied):
            settle_links(stage, r, island.name)
        seat_anchors(stage, r)
    seat_hubs(stage, hubs + island.hub_first, island.hub_last - island.hub_first)


def substep(uint8_t[::1] ropes, uint8_t[::1] anchors, uint8_t[::1] joins, uint8_t[::1] hubs, uint8_t[::1] hub_nodes,
            int64_t[:, ::1] pairs, int64_t[::1] members, int64_t[::1] tied, int64_t[::1] hub_order,
            int64_t[:, ::1] islands, double[::1] scratch, int64_t[::1] colliders, double h, double fraction,
            double gx, double gy, int threads):
    """Advance every rope by one substep.

    `islands` has a row per island, as the record `Island`: ranges of `members` (its ropes), of joins, of pairs, of
    `tied` (ropes that share bodies or joins) and of `hub_order`, passes, and its place in `scratch` (-1: tied ropes are
    solved in turn).
    """
    cdef Stage stage
    cdef Py_ssize_t i, n = islands.shape[0]
    stage.ropes = <Rope*>&ropes[0]
    stage.anchors = <Anchor*>&anchors[0]
    stage.joins = <Join*>&joins[0]
    stage.hubs = <Hub*>&hubs[0]
    stage.members = <Member*>&hub_nodes[0]
    stage.pairs = <Pair*>&pairs[0, 0]
    stage.world = <Colliders*>&colliders[0]
    stage.h = h
    stage.drift = False
    stage.fraction = fraction
    stage.gx = gx
    stage.gy = gy
    for i in prange(n, nogil=True, schedule="dynamic", num_threads=threads):
        step_island(&stage, <Island*>&islands[i, 0], &members[0], &tied[0], &hub_order[0], &scratch[0])
