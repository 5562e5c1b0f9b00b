"""Free particles: birth, life, flight, shapes, state, bad input."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit.emitters import Source
from softkit.fields import CurlNoise, Explosion, LinearDrag, Push, QuadraticDrag, Whirl, Wind
from softkit.particles import Particles


def scene(gravity=(0, 900), **options):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, **options)


def run(world, seconds):
    for _ in range(round(seconds / world.step)):
        world.update(world.step)


def floor(space, y=500, radius=0.0, friction=0.0, elasticity=0.0, wide=10_000):
    shape = pymunk.Segment(space.static_body, (-wide, y), (wide, y), radius)
    shape.friction, shape.elasticity = friction, elasticity
    space.add(shape)
    return shape


# flight


@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 144])
def test_thrown_particles_fly_parabolas_and_fall_alike_whatever_their_mass(step):
    _, world = scene((0, 800), step=step)
    pools = [world.add(Particles(10, mass=mass, lifetime=50)) for mass in (0.01, 1, 100)]
    for pool in pools:
        pool.add([(0, 0)], [(120, -300)])
    run(world, 1.0)
    t = world.time
    for pool in pools:
        assert pool.velocities[0] == pytest.approx([120, -300 + 800 * t])
        # semi-implicit Euler: the place is ahead of the parabola by g t step / 2
        assert pool.positions[0] == pytest.approx([120 * t, -300 * t + 400 * t * t + 400 * t * step])


def test_a_push_moves_light_particles_more():
    _, world = scene((0, 0))
    light, heavy = world.add(Particles(5, mass=1), Particles(5, mass=10))
    for pool in (light, heavy):
        pool.add([(0, 0)])
    world.fields.add(Push((100, 0)))
    run(world, 0.5)
    assert light.velocities[0, 0] / heavy.velocities[0, 0] == pytest.approx(10)


@pytest.mark.parametrize("rate", [30, 60, 240])
def test_terminal_speeds_in_a_world(rate):
    _, world = scene((0, 9.81), step=1 / rate, max_steps=1000)
    pool = world.add(Particles(2, lifetime=1e6))
    pool.add([(0, 0)])
    drag = world.fields.add(LinearDrag(2.0))
    run(world, 10)
    assert pool.velocities[0, 1] == pytest.approx(9.81 / 2, rel=0.01)
    world.fields.remove(drag)
    world.fields.add(QuadraticDrag(0.1))
    run(world, 20)
    assert pool.velocities[0, 1] == pytest.approx(9.9045, rel=0.01)


@pytest.mark.parametrize("rate", [30, 60, 144])
def test_damping_is_a_rate(rate):
    _, world = scene((0, 0), step=1 / rate)
    pool = world.add(Particles(2, damping=1.5, lifetime=100))
    pool.add([(0, 0)], [(100, 0)])
    run(world, 1.0)
    assert pool.velocities[0, 0] == pytest.approx(100 * math.exp(-1.5 * world.time), rel=1e-9)


def test_gravity_scale_lets_smoke_rise():
    _, world = scene((0, 900))
    pool = world.add(Particles(2, gravity_scale=-0.1))
    pool.add([(0, 0)])
    run(world, 0.5)
    assert pool.velocities[0, 1] == pytest.approx(-45)


# shapes


@pytest.mark.parametrize("bounce", [0.3, 0.6, 0.9])
def test_rebound_height_is_the_square_of_the_bounce(bounce):
    space, world = scene((0, 900), step=1 / 240, max_steps=10)
    floor(space)
    pool = world.add(Particles(1, radius=2, bounce=bounce, lifetime=100))
    pool.add([(0, 298)])
    lowest, highest, up = -1e9, 1e9, False
    for _ in range(480):
        world.update(1 / 240)
        up = up or pool.velocities[0, 1] < 0
        lowest = max(lowest, pool.positions[0, 1])
        if up:
            highest = min(highest, pool.positions[0, 1])
    assert lowest <= 498 + 1e-6
    assert 498 - highest == pytest.approx(200 * bounce**2, rel=0.1)


def test_elasticity_and_friction_follow_pymunks_product_rule():
    space, world = scene((0, 0))
    floor(space, 100, friction=0.5, elasticity=0.8)
    pool = world.add(Particles(1, radius=1, elasticity=0.5, friction=0.4, lifetime=100))
    pool.add([(0, 90)], [(300, 300)])
    run(world, 0.1)
    normal = 0.8 * 0.5
    assert pool.velocities[0] == pytest.approx([300 - 0.2 * (1 + normal) * 300, -normal * 300])


@pytest.mark.parametrize("speed", [300, 3000, 40_000])
@pytest.mark.parametrize("hit", ["bounce", "stick", "die"])
def test_nothing_passes_a_wall_without_thickness(speed, hit):
    space, world = scene((0, 0))
    floor(space, 500)
    pool = world.add(Particles(500, radius=1, on_hit=hit, bounce=0.5, lifetime=100, seed=4))
    pool.burst(
        500, Source.rect(-300, 0, 600, 400), direction=math.pi / 2, spread=2.8, speed=(speed / 2, speed)
    )
    for _ in range(120):
        world.update(1 / 60)
        assert np.all(pool.positions[:, 1] <= 500)


def test_dying_particles_are_reported_as_hits():
    space, world = scene((0, 0))
    floor(space, 500)
    pool = world.add(Particles(10, radius=2, on_hit="die", lifetime=100))
    pool.add([(0, 480), (50, 0)], [(0, 600), (0, 1)])
    seen = []
    for _ in range(4):
        world.update(1 / 60)
        points, normals, speeds = pool.hits
        seen += [(*p, *n, s) for p, n, s in zip(points, normals, speeds)]
    assert pool.count == 1
    assert seen == [pytest.approx((0, 498, 0, -1, 600))]


def test_sticking_particles_ride_on_their_body():
    space, world = scene((0, 0))
    body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    body.position, body.velocity, body.angular_velocity = (0, 0), (30, 0), 0.5
    space.add(body, pymunk.Poly.create_box(body, (100, 100)))
    pool = world.add(Particles(10, radius=1, on_hit="stick", lifetime=100))
    pool.add([(0, -80)], [(0, 400)])
    run(world, 0.5)
    local = np.array(body.world_to_local(tuple(pool.positions[0])))
    run(world, 1.0)
    assert np.array(body.world_to_local(tuple(pool.positions[0]))) == pytest.approx(local, abs=0.05)
    assert local[1] == pytest.approx(-51, abs=0.1)


def test_moving_shapes_push_and_filters_and_sensors_are_honoured():
    space, world = scene((0, 0))
    body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    body.position, body.velocity = (-100, 0), (600, 0)
    wall = pymunk.Poly.create_box(body, (20, 200))
    space.add(body, wall)
    pushed = world.add(Particles(10, radius=1, lifetime=100, bounce=0))
    free = world.add(Particles(10, lifetime=100, filter=pymunk.ShapeFilter(mask=2)))
    wall.filter = pymunk.ShapeFilter(categories=1)
    for pool in (pushed, free):
        pool.add([(0, y) for y in range(-50, 51, 20)])
    run(world, 0.5)
    assert np.all(pushed.positions[:, 0] >= body.position.x + 11 - 1e-6)
    assert np.all(pushed.velocities[:, 0] >= 600 - 1e-6)
    assert not free.positions[:, 0].any()
    wall.sensor = True
    body.position = (-100, 0)
    before = pushed.velocities.copy()
    run(world, 0.5)
    assert np.array_equal(pushed.velocities, before)


def test_conveyors_carry_and_particles_come_to_rest():
    space, world = scene((0, 900))
    belt = floor(space, 500, friction=1.0)
    belt.surface_velocity = (100, 0)
    pool = world.add(Particles(10, radius=2, friction=1.0, lifetime=100))
    pool.add([(0, 450), (40, 400)])
    run(world, 2)
    assert pool.velocities == pytest.approx(np.array([[100, 0], [100, 0]]), abs=1.0)
    belt.surface_velocity = (0, 0)
    run(world, 1)
    assert np.abs(pool.velocities).max() < 1e-6 and pool.positions[:, 1] == pytest.approx(498, abs=1e-6)


def test_touches_are_in_contacts_when_asked_for():
    space, world = scene((0, 900))
    shape = floor(space, 100)
    quiet, loud = world.add(Particles(5, radius=2), Particles(5, radius=2, report_contacts=True))
    begun = []
    for pool in (quiet, loud):
        pool.add([(0, 50), (500, -5000)])
    loud.on_begin = lambda obj, hit, particle: begun.append((obj, hit, particle))
    run(world, 0.6)
    (contact,) = world.contacts
    assert contact.object is loud and contact.shape is shape and contact.particle == 0
    assert contact.normal == (0, -1)
    assert begun == [(loud, shape, 0)]


@pytest.mark.parametrize("mass", [0.5, 4.0])
@pytest.mark.parametrize("bounce", [0.0, 0.6])
def test_the_impulse_of_a_touch_is_what_the_shape_gave(mass, bounce):
    space, world = scene((0, 0))
    floor(space, 100)
    pool = world.add(Particles(5, radius=2, mass=mass, bounce=bounce, report_contacts=True, lifetime=9))
    pool.add([(0, 95)], [(50, 300)])
    world.update(1 / 60)
    (contact,) = world.contacts
    assert contact.impulse == pytest.approx(mass * 300 * (1 + bounce))
    assert contact.impulse == pytest.approx(mass * (300 - pool.velocities[0, 1]))


def test_sparks_where_a_rope_scrapes():
    space, world = scene((0, 900))
    floor(space, 200)
    rope = world.add(softkit.Rope((0, 100), (200, 100), mass=20))
    sparks = world.add(Particles(2000, lifetime=(0.5, 1)))
    born = 0
    for _ in range(60):
        world.update(1 / 60)
        born += sparks.scrape(world.contacts, per_impulse=0.02, least=5)
    assert born > 20 and rope.count
    assert np.all(sparks.positions[:, 1] < 200)


# birth


def test_sources_give_birth_where_they_are():
    def born(source, **options):
        pool = Particles(4000)
        pool.burst(4000, source, **options)
        return pool.positions, pool.velocities

    x, _ = born((3, 4))
    assert np.all(x == (3, 4))
    x, v = born(Source.line((0, 0), (10, 20)), speed=5)
    assert x[:, 1] == pytest.approx(2 * x[:, 0]) and abs(x[:, 0].mean() - 5) < 0.2
    assert v @ (10, 20) == pytest.approx(0, abs=1e-9)
    x, v = born(Source.disc((5, 5), 10), speed=1)
    r = np.hypot(*(x - 5).T)
    assert r.max() <= 10 and (r < 10 / math.sqrt(2)).mean() == pytest.approx(0.5, abs=0.03)
    assert (x - 5) / r[:, None] == pytest.approx(v, abs=1e-9)
    x, _ = born(Source.ring((0, 0), 7))
    assert np.hypot(*x.T) == pytest.approx(7)
    x, _ = born(Source.rect(10, 20, 30, 40))
    assert np.all(x >= (10, 20)) and np.all(x <= (40, 60)) and np.abs(x.mean(axis=0) - (25, 40)).max() < 1


def test_direction_spread_and_speed():
    pool = Particles(5000)
    pool.burst(5000, (0, 0), direction=math.pi / 2, spread=0.6, speed=(50, 150), velocity=(7, 0))
    v = pool.velocities - (7, 0)
    speed, angle = np.hypot(*v.T), np.arctan2(v[:, 1], v[:, 0])
    assert speed.min() >= 50 and speed.max() <= 150 and speed.mean() == pytest.approx(100, abs=2)
    assert np.abs(angle - math.pi / 2).max() <= 0.3 and angle.mean() == pytest.approx(math.pi / 2, abs=0.02)
    pool.clear()
    pool.burst(5000, (0, 0), speed=10)
    assert np.abs(pool.velocities.mean(axis=0)).max() < 0.4  # all round


def test_emitters_inherit_the_motion_of_their_body():
    _, world = scene((0, 0))
    space = world.space
    body = pymunk.Body(1, 1)
    body.position, body.velocity, body.angular_velocity = (50, 60), (100, 0), 2.0
    space.add(body)
    pool = world.add(Particles(1000, lifetime=10))
    pool.emitter((10, 0), rate=600, body=body)
    pool.burst(1, (10, 0), body=body, inherit=0.5)
    assert pool.velocities[0] == pytest.approx([50, 10]) and pool.positions[0] == pytest.approx([60, 60])
    world.update(1 / 60)
    assert pool.count == 11
    assert pool.velocities[1:, 0] == pytest.approx(100, abs=2) and pool.velocities[1:, 1] == pytest.approx(
        20, abs=1
    )


@pytest.mark.parametrize("rate", [7.0, 100.0, 1234.5])
@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 144])
def test_emitters_keep_their_rate_at_any_step(rate, step):
    _, world = scene((0, 0), step=step)
    pool = world.add(Particles(10_000, lifetime=100))
    pool.emitter((0, 0), rate)
    run(world, 2.0)
    assert abs(pool.count - rate * world.time) <= 1.0


def test_births_are_spread_over_the_step_without_bands():
    _, world = scene((0, 0))
    pool = world.add(Particles(1000, lifetime=10))
    pool.emitter((0, 0), 600, direction=0, speed=600)
    run(world, 0.5)
    gaps = np.diff(np.sort(pool.positions[:, 0]))
    assert gaps == pytest.approx(1.0, abs=1e-6)  # 600 wu/s, one every 1/600 s


def test_a_moved_emitter_leaves_no_gaps():
    _, world = scene((0, 0))
    pool = world.add(Particles(1000, lifetime=10))
    hose = pool.emitter((0, 0), 300)
    for i in range(10):
        hose.position = (60.0 * i, 0)
        world.update(1 / 60)
    assert np.diff(np.sort(pool.positions[:, 0])).max() < 13


def test_a_full_pool_drops_the_oldest():
    """F12: 500 a second into 1,000 places, for long."""
    _, world = scene((0, 0))
    pool = world.add(Particles(1000, lifetime=1000))
    pool.emitter((0, 0), 500)
    for i in range(1200):
        world.update(1 / 60)
        assert pool.count <= 1000
        if i >= 121:
            assert pool.count == 1000
    assert pool.ages.max() <= 2.1
    ids = np.sort(pool.ids)
    assert np.array_equal(ids, np.arange(ids[-1] - 999, ids[-1] + 1))


def test_count_and_every_array_agree_always():
    """F11."""
    _, world = scene()
    floor(world.space, 100)
    pool = world.add(Particles(300, lifetime=(0.1, 0.6), on_hit="die", trail=3))

    def check():
        n = pool.count
        sizes = {
            len(a)
            for a in (
                pool.positions,
                pool.velocities,
                pool.previous_positions,
                pool.ids,
                pool.ages,
                pool.lifetimes,
                pool.angles,
                pool.sizes,
                pool.colors,
                pool.trails,
                pool.inverse_mass,
            )
        }
        assert sizes == {n} and len(np.unique(pool.ids)) == n

    check()
    pool.burst(100, (0, 0), speed=200)
    check()
    places = {}
    for i in range(90):
        world.update(1 / 60)
        check()
        for who, spin in zip(pool.ids.tolist(), pool.lifetimes.tolist()):
            assert places.setdefault(who, spin) == spin  # a number follows its particle
        if i % 7 == 0:
            pool.burst(40, (0, 0), speed=100)
            check()
    pool.clear()
    check()
    run(world, 0.1)
    assert pool.count == 0


def test_remove_by_mask_and_by_rows():
    pool = Particles(20)
    pool.add([(i, 0) for i in range(10)])
    assert pool.remove(pool.positions[:, 0] < 4) == 4
    assert sorted(pool.positions[:, 0].tolist()) == [4, 5, 6, 7, 8, 9]
    gone = pool.positions[[0, -1], 0].tolist()
    assert pool.remove([0, -1]) == 2 and pool.remove([]) == 0
    assert not set(gone) & set(pool.positions[:, 0].tolist()) and pool.count == 4
    with pytest.raises(IndexError, match="where"):
        pool.remove([4])
    with pytest.raises(ValueError, match="where"):
        pool.remove(np.zeros(3, bool))
    with pytest.raises(TypeError, match="where"):
        pool.remove([0.5])
    assert pool.count == 4


def test_life_ends_on_time_and_curves_follow_age():
    _, world = scene((0, 0))
    pool = world.add(
        Particles(10, lifetime=1.0, size=[10, 20], color=[(255, 0, 0), (0, 0, 255)], alpha=[1, 0])
    )
    pool.burst(1, (0, 0), size=2.0)
    assert pool.sizes[0] == pytest.approx(20, abs=0.3) and pool.colors[0, 0] >= 252
    run(world, 0.5)
    assert pool.ages[0] == pytest.approx(0.5)
    assert pool.sizes[0] == pytest.approx(30, abs=0.5) and pool.colors[0].tolist() == pytest.approx(
        [128, 0, 128, 128], abs=3
    )
    run(world, 0.5 - 1 / 60)
    assert pool.count == 1
    run(world, 2 / 60)
    assert pool.count == 0
    pool.look(size=[(0, 1), (0.5, 1), (0.5, 9), (1, 9)])
    pool.burst(1, (0, 0))
    assert pool.sizes[0] == pytest.approx(1)


def test_trails_keep_the_last_places():
    _, world = scene((0, 0))
    pool = world.add(Particles(3, lifetime=10, trail=4))
    pool.add([(0, 0)], [(60, 0)])
    run(world, 10 / 60)
    assert pool.trails[0, :, 0] == pytest.approx([10, 9, 8, 7])


def test_spin_turns():
    _, world = scene((0, 0))
    pool = world.add(Particles(100, spin=(-2, 2)))
    pool.burst(100, (0, 0))
    run(world, 0.5)
    assert np.abs(pool.angles).max() == pytest.approx(1.0, abs=0.1) and np.ptp(pool.angles) > 1.5


# state and bits


def storm(threads, seed=3, steps=90):
    softkit.set_threads(threads)
    try:
        space, world = scene((0, 300))
        floor(space, 400, friction=0.5, elasticity=0.5)
        wheel = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        wheel.position, wheel.angular_velocity = (200, 200), 3
        space.add(wheel, pymunk.Poly.create_box(wheel, (160, 10)))
        pool = world.add(Particles(6000, lifetime=(0.5, 1.5), seed=seed, trail=3, spin=(-1, 1)))
        pool.emitter(Source.rect(0, 0, 400, 100), 4000, speed=(0, 100))
        pool.emitter((60, 0), 500, body=wheel, speed=50)
        world.fields.add(CurlNoise(1, 60), Wind((50, 0), gust=0.5), Whirl((200, 200)))
        for _ in range(steps):
            world.update(1 / 60)
        return world, pool
    finally:
        softkit.set_threads(None)


def test_the_same_bits_at_any_thread_count():
    hashes = {storm(threads)[0].state_hash() for threads in (1, 2, 4, 8)}
    assert len(hashes) == 1
    assert storm(1, seed=4)[0].state_hash() not in hashes


def test_a_restored_run_ends_like_the_uninterrupted_one():
    world, pool = storm(1)
    data, held = world.snapshot(), world.state_hash()
    run(world, 0.5)
    wanted = world.state_hash()
    pool.burst(300, (0, 0), speed=50)
    pool.look(size=3)
    pool.emitters[0].rate = 10
    run(world, 0.2)
    world.restore(data)
    assert world.state_hash() == held
    run(world, 0.5)
    assert world.state_hash() == wanted


def test_a_pool_that_was_removed_comes_back():
    world, pool = storm(1, steps=20)
    data, held = world.snapshot(), world.state_hash()
    world.remove(pool)
    del pool
    world.restore(data)
    assert world.state_hash() == held
    run(world, 0.1)


def test_a_scene_far_away_is_the_same_scene():
    ends = []
    for far in (0.0, 1e6):
        space, world = scene((0, 300))
        shape = pymunk.Circle(space.static_body, 50, (far + 100, 300))
        shape.elasticity = 0.5
        space.add(shape)
        pool = world.add(Particles(500, lifetime=100, seed=5))
        pool.burst(500, (far + 110, 100), speed=(0, 100))
        run(world, 2.0)
        order = np.argsort(pool.ids)
        ends.append(pool.positions[order] - (far, 0))
    assert np.abs(ends[0] - ends[1]).max() < 0.05


def test_one_particle_on_an_explosion_and_others_around_it():
    """D01: finite, capped, and nothing beyond the radius."""
    _, world = scene((0, 0))
    pool = world.add(Particles(10, lifetime=100))
    pool.add([(0, 0), (10, 0), (0, 1e-7), (300, 0)])
    world.fields.add(Explosion((0, 0), 1e9, 200)).fire()
    run(world, 0.1)
    speed = np.hypot(*pool.velocities[np.argsort(pool.ids)].T)
    assert speed.tolist() == pytest.approx([0, 5000, 5000, 0])


def test_absurd_input_stays_finite():
    _, world = scene((0, 1e9))
    floor(world.space, 100)
    pool = world.add(Particles(200, lifetime=100, radius=1))
    pool.burst(100, (0, 0), speed=1e9)
    pool.add([(0, 100), (0, 100)], [(1e12, 1e12), (0, 0)])
    world.fields.add(Wind((1e12, 0), rate=math.inf))
    run(world, 1.0)
    assert np.isfinite(pool.positions).all() and np.abs(pool.velocities).max() <= world.max_speed * 1.0001


BAD = [
    (lambda: Particles(0), ValueError, "capacity.*0"),
    (lambda: Particles(2.5), TypeError, "capacity.*2.5"),
    (lambda: Particles(5_000_000), ValueError, "capacity"),
    (lambda: Particles(lifetime=0), ValueError, "lifetime"),
    (lambda: Particles(lifetime=(2, 1)), ValueError, r"lifetime.*\(2, 1\)"),
    (lambda: Particles(lifetime=math.nan), ValueError, "lifetime.*nan"),
    (lambda: Particles(mass=0), ValueError, "mass"),
    (lambda: Particles(on_hit="explode"), ValueError, "on_hit.*explode"),
    (lambda: Particles(bounce=1.5), ValueError, "bounce.*1.5"),
    (lambda: Particles(size=-1), ValueError, "size.*-1"),
    (lambda: Particles(color=(300, 0, 0)), ValueError, "color.*300"),
    (lambda: Particles(color="red"), (TypeError, ValueError), "color.*red"),
    (lambda: Particles(alpha=[1, 2]), ValueError, "alpha"),
    (lambda: Particles(alpha=[]), ValueError, "alpha"),
    (lambda: Particles(trail=65), ValueError, "trail.*65"),
    (lambda: Particles(seed=-1), ValueError, "seed"),
    (lambda: Particles(radius=0), ValueError, "radius"),
    (lambda: Particles().burst(-1, (0, 0)), ValueError, "count.*-1"),
    (lambda: Particles().burst(1, "here"), TypeError, "here"),
    (lambda: Particles().burst(1, (0, math.nan)), ValueError, "nan"),
    (lambda: Particles().burst(1, (0, 0), speed=(5, 1)), ValueError, "speed"),
    (lambda: Particles().burst(1, (0, 0), spread=7), ValueError, "spread.*7"),
    (lambda: Particles().burst(1, (0, 0), colour=1), TypeError, "colour"),
    (lambda: Particles().burst(1, (0, 0), body=3), TypeError, "body.*3"),
    (lambda: Particles().emitter((0, 0), -5), ValueError, "rate.*-5"),
    (lambda: Particles().emitter((0, 0), 5, body="b"), TypeError, "body.*'b'"),
    (lambda: Particles().add([(0, 0)], [(1, 1), (2, 2)]), ValueError, "velocities"),
    (lambda: Particles().add([(0, math.inf)]), ValueError, r"points\[0\].*inf"),
    (lambda: Source.disc((0, 0), -1), ValueError, "radius.*-1"),
    (lambda: Source.surface(3), TypeError, "shape.*3"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_refused_birth_changes_nothing():
    pool = Particles(100)
    pool.burst(10, (0, 0))
    for options in ({"speed": math.nan}, {"lifetime": -1}, {"size": -2}):
        with pytest.raises(ValueError):
            pool.burst(10, (0, 0), **options)
    assert pool.count == 10 and pool._next == 10
