"""Fields against closed forms: what a step does to velocities, on plain arrays through `Fields.apply`."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit.fields import (
    Attractor,
    CurlNoise,
    Damping,
    Explosion,
    Fields,
    Gravity,
    LinearDrag,
    Push,
    QuadraticDrag,
    Vortex,
    Whirl,
    Wind,
)

RATES = (30, 60, 240)


def march(fields, position, velocity, seconds, rate, gravity=(0, 0), mass=1.0, threads=1):
    """Semi-implicit Euler with one field pass a step, as a world does without constraints."""
    x = np.array(position, dtype=float).reshape(-1, 2)
    v = np.array(velocity, dtype=float).reshape(-1, 2)
    w = np.full(len(x), 1.0) / mass
    h = 1.0 / rate
    for i in range(round(seconds * rate)):
        fields.apply(None, x, v, w, h, i * h, threads, gravity)
        x += v * h
    return x, v


def holding(*fields):
    held = Fields()
    held.add(*fields)
    return held


# Plummer


@pytest.mark.parametrize("softening", [5.0, 20.0, 60.0])
def test_plummer_acceleration_is_the_closed_form(softening):
    k = 3e6
    r = np.linspace(0.0, 500.0, 101)
    points = np.stack([r, np.zeros_like(r)], axis=1)
    pull = Attractor((0, 0), k, softening).sample(points)
    assert pull[:, 0] == pytest.approx(-k * r / (r * r + softening**2) ** 1.5, rel=1e-13)
    assert np.all(pull[:, 1] == 0.0)


@pytest.mark.parametrize("radius", [40.0, 100.0, 250.0])
@pytest.mark.parametrize("rate", [60, 240])
def test_circular_orbit_keeps_radius_speed_and_energy_for_twenty_turns(radius, rate):
    k, e = 4e6, 20.0
    speed = math.sqrt(k) * radius / (radius**2 + e**2) ** 0.75
    period = 2 * math.pi * radius / speed
    substeps = 8
    x = np.array([[radius, 0.0]])
    v = np.array([[0.0, speed]])
    fields = holding(Attractor((0, 0), k, e))
    h = 1 / rate / substeps
    v[:] -= 0.0
    start = 0.5 * speed**2 - k / math.sqrt(radius**2 + e**2)
    worst_energy = worst_radius = 0.0
    for i in range(round(20 * period / h)):
        fields.apply(None, x, v, None, h, i * h)
        x += v * h
        r2 = float((x**2).sum())
        energy = 0.5 * float((v**2).sum()) - k / math.sqrt(r2 + e**2)
        worst_energy = max(worst_energy, abs(energy / start - 1))
        worst_radius = max(worst_radius, abs(math.sqrt(r2) / radius - 1))
    assert worst_energy < 0.01  # symplectic: the error swings, it does not grow
    assert worst_radius < 0.01
    assert math.sqrt((v**2).sum()) == pytest.approx(speed, rel=0.01)


def test_elongated_orbit_keeps_its_energy():
    k, e = 4e6, 20.0
    x, v = np.array([[200.0, 0.0]]), np.array([[0.0, 80.0]])
    fields = holding(Attractor((0, 0), k, e))
    energies = []
    h = 1 / 480
    for i in range(480 * 60):
        fields.apply(None, x, v, None, h, i * h)
        x += v * h
        middle = v + 0.5 * h * Attractor((0, 0), k, e).sample(x) if i % 40 == 0 else None
        if middle is not None:
            energies.append(0.5 * float((middle**2).sum()) - k / math.sqrt(float((x**2).sum()) + e**2))
    assert np.ptp(energies) < 0.01 * abs(np.mean(energies))


# drags


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("c", [0.1, 0.5, 5.0])
def test_linear_drag_decays_exponentially(rate, c):
    _, v = march(holding(LinearDrag(c)), (0, 0), (300, -40), 1.0, rate)
    assert v[0] == pytest.approx(np.array([300, -40]) * math.exp(-c), rel=1e-12)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(
    ("c", "after_one", "terminal"), [(0.5, 7.7199, 19.62), (2.0, 4.2412, 4.905), (8.0, 1.2258, 1.22625)]
)
def test_linear_drag_terminal_speed(rate, c, after_one, terminal):
    _, early = march(holding(LinearDrag(c)), (0, 0), (0, 0), 1.0, rate, gravity=(0, 9.81))
    _, late = march(holding(LinearDrag(c)), (0, 0), (0, 0), 30.0, rate, gravity=(0, 9.81))
    assert early[0, 1] == pytest.approx(after_one, rel=0.01)
    assert late[0, 1] == pytest.approx(terminal, rel=0.01)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("c", [0.001, 0.01, 0.1])
def test_quadratic_drag_decay_and_terminal_speed(rate, c):
    _, coasting = march(holding(QuadraticDrag(c)), (0, 0), (0, 300), 1.0, rate)
    assert coasting[0, 1] == pytest.approx(300 / (1 + c * 300), rel=1e-9)
    _, falling = march(holding(QuadraticDrag(c)), (0, 0), (0, 0), 60.0, rate, gravity=(0, 9.81))
    assert falling[0, 1] == pytest.approx(math.sqrt(9.81 / c), rel=0.01)


@pytest.mark.parametrize("rate", RATES)
def test_quadratic_drag_after_one_second_of_fall(rate):
    _, v = march(holding(QuadraticDrag(0.1)), (0, 0), (0, 0), 1.0, rate, gravity=(0, 9.81))
    assert v[0, 1] == pytest.approx(7.5032, rel=0.01)


@pytest.mark.parametrize(
    "drag", [LinearDrag(50.0), LinearDrag(math.inf), QuadraticDrag(10.0), Damping(0.0), Damping(0.01)]
)
@pytest.mark.parametrize("h", [1e-4, 1 / 60, 1.0, 1000.0])
def test_drags_never_reverse_at_any_step(drag, h):
    v = np.array([[300.0, -40.0], [1e9, 1.0], [0.0, 0.0]])
    before = v.copy()
    drag.relax(np.zeros((3, 2)), v, h, 0.0)
    assert np.all(v * before >= 0.0)
    assert np.all(np.abs(v) <= np.abs(before))


@pytest.mark.parametrize("keep", [0.99, 0.5, 0.01])
@pytest.mark.parametrize("rate", [*RATES, 144])
def test_damping_is_keep_to_the_power_of_time(keep, rate):
    _, v = march(holding(Damping(keep)), (0, 0), (100, 0), 2.0, rate)
    assert v[0, 0] == pytest.approx(100 * keep**2, rel=1e-5)


def test_two_drags_together_add_their_rates():
    _, v = march(holding(LinearDrag(0.5), LinearDrag(1.5)), (0, 0), (0, 0), 20.0, 30, gravity=(0, 9.81))
    assert v[0, 1] == pytest.approx(9.81 / 2.0, rel=0.01)


# mass


def test_gravity_and_flow_ignore_mass_and_a_push_divides_by_it():
    x = np.zeros((2, 2))
    w = np.array([1.0, 0.1])
    for field, ratio in ((Gravity((0, 100)), 1.0), (Wind((100, 0)), 1.0), (Push((100, 0)), 10.0)):
        v = np.zeros((2, 2))
        holding(field).apply(None, x, v, w, 0.01, 0.0)
        size = np.abs(v).sum(axis=1)
        assert size[0] / size[1] == pytest.approx(ratio, rel=1e-12)


def test_held_particles_are_left_alone_by_every_field():
    fields = holding(
        Gravity(), Push(), Attractor((9, 9)), Wind(rate=math.inf), CurlNoise(), QuadraticDrag(), LinearDrag()
    )
    blast = fields.add(Explosion((1, 1)))
    blast.fire()
    v = np.array([[3.0, 4.0], [3.0, 4.0]])
    fields.apply(
        None, np.array([[5.0, 5.0], [6.0, 6.0]]), v, np.array([0.0, 1.0]), 0.1, 0.0, gravity=(0, 900)
    )
    assert v[0].tolist() == [3.0, 4.0]
    assert v[1].tolist() != [3.0, 4.0]


# D03


@pytest.mark.parametrize("rate", [30, 60, 120, 240])
def test_constant_field_gives_the_same_speed_at_any_rate(rate):
    _, v = march(holding(Gravity((100, 0))), (0, 0), (0, 0), 2.0, rate)
    assert v[0, 0] == pytest.approx(200.0, rel=1e-9)


# D04


@pytest.mark.parametrize("kind", [Vortex, Whirl])
@pytest.mark.parametrize("radius", [10.0, 50.0, 400.0])
def test_vortex_turns_a_ring_evenly_without_radial_drift(kind, radius):
    angle = np.arange(100) * (2 * math.pi / 100)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1) * radius + (300, -200)
    field = kind((300, -200), 240.0, 50.0)
    v = np.zeros_like(ring)
    holding(field).apply(None, ring, v, None, 1 / 60, 0.0)
    arm = ring - (300, -200)
    spin = arm[:, 0] * v[:, 1] - arm[:, 1] * v[:, 0]
    assert np.all(spin > 0)
    assert np.ptp(spin) < 1e-9 * spin.mean()
    assert np.abs((arm * v).sum(axis=1)).max() < 1e-9 * spin.mean()
    profile = 240.0 * 2 * radius * 50.0 / (radius**2 + 50.0**2)
    assert np.sqrt((field.sample(ring) ** 2).sum(axis=1)) == pytest.approx(profile, rel=1e-12)


def test_vortex_axis_in_space():
    assert Vortex((0, 0, 0), 10, 1, axis=(1, 0, 0)).sample((5, 1, 0)) == pytest.approx([0, 0, 10])


# D01


def test_explosion_on_a_particle_and_on_a_ring():
    huge = Explosion((10, 10), 1e9, 500.0)
    v = np.zeros((2, 2))
    huge.kick(np.array([[10.0, 10.0], [10.0, 10.0 + 1e-9]]), v)
    assert v[0].tolist() == [0.0, 0.0]
    assert np.isfinite(v).all() and np.abs(v).max() <= huge.max_speed
    angle = np.arange(12) * (2 * math.pi / 12)
    v = np.zeros((12, 2))
    Explosion((0, 0), 100.0, 200.0).kick(
        np.stack([np.cos(angle), np.sin(angle)], axis=1) * 70, v, np.ones(12)
    )
    size = np.sqrt((v**2).sum(axis=1))
    assert np.sqrt((v.sum(axis=0) ** 2).sum()) < 1e-6 * size[0]


@pytest.mark.parametrize("falloff", ["linear", "smooth", "square"])
def test_explosion_falls_off_to_nothing_at_its_radius(falloff):
    r = np.linspace(0.5, 250.0, 500)
    v = np.zeros((500, 2))
    Explosion((0, 0), 100.0, 200.0, falloff=falloff).kick(np.stack([r, 0 * r], axis=1), v, np.ones(500))
    assert np.all(np.diff(v[:, 0]) <= 0)
    assert np.all(v[r >= 200.0] == 0)
    assert v[0, 0] == pytest.approx(100.0, rel=0.01)


def test_explosion_fires_once_for_every_object():
    fields = holding(Explosion((0, 0), 100.0, 200.0))
    x = np.array([[10.0, 0.0]])
    first, second = np.zeros((1, 2)), np.zeros((1, 2))
    fields.apply("a", x, first, None, 0.01, 0.0)
    assert first[0, 0] == 0.0
    next(iter(fields)).fire()
    for time in (0.01, 0.02, 0.03):
        fields.apply("a", x, first, None, 0.01, time)
        if time == 0.01:
            fields.apply("b", x, second, None, 0.01, time)
    assert first[0, 0] == second[0, 0] == pytest.approx(95.0)


# wind


@pytest.mark.parametrize("rate", RATES)
def test_wind_draws_velocity_toward_the_air(rate):
    _, v = march(holding(Wind((120, 0))), (0, 0), (0, 30), 2.0, rate)
    keep = math.exp(-0.5 * 2.0)
    assert v[0] == pytest.approx([120 * (1 - keep), 30 * keep], rel=1e-9)


def test_gusts_average_out_and_stay_within_their_share():
    wind = Wind((100, 0), gust=0.6, frequency=2.0)
    factors = np.array([wind.factor(t) for t in np.arange(0, 2000, 0.05)])
    assert factors.mean() == pytest.approx(1.0, abs=0.02)
    assert 0.4 <= factors.min() < 0.55 and 1.45 < factors.max() <= 1.6
    assert (
        np.abs(np.diff(factors)).max() < 0.6 * 2 * 1.875 * 2 * 0.05
    )  # steepest quintic slope over a full swing


# curl noise


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("octaves", [1, 3])
@pytest.mark.parametrize("scale", [20.0, 120.0, 900.0])
def test_curl_noise_has_no_divergence_and_the_stated_speed(dim, octaves, scale):
    noise = CurlNoise(5, scale, 60.0, octaves, 0.4)
    rng = np.random.default_rng(dim)
    points = rng.uniform(-30, 30, (4000, dim)) * scale
    e = scale * 1e-4
    jacobian = np.stack(
        [
            (noise.sample(points + s, time=0.7) - noise.sample(points - s, time=0.7)) / (2 * e)
            for s in np.eye(dim) * e
        ],
        axis=2,
    )
    norm = math.sqrt((jacobian**2).sum(axis=(1, 2)).mean())
    assert np.abs(np.trace(jacobian, axis1=1, axis2=2)).max() < 1e-3 * norm
    wide = rng.uniform(-1e4, 1e4, (60000, dim)) * scale
    speed = noise.sample(wide, time=0.7)
    assert math.sqrt((speed**2).sum(axis=1).mean()) == pytest.approx(60.0, rel=0.02)
    assert np.abs(speed.mean(axis=0)).max() < 1.0


def test_curl_noise_speed_does_not_pulse_in_time():
    noise = CurlNoise(1, 50.0, 60.0, 2, 1.0)
    points = np.random.default_rng(0).uniform(-1e5, 1e5, (40000, 2))
    rms = [math.sqrt((noise.sample(points, time=t) ** 2).sum(axis=1).mean()) for t in np.arange(0, 2, 0.125)]
    assert max(rms) / min(rms) < 1.03


@pytest.mark.parametrize("dim", [2, 3])
def test_curl_noise_period_repeats_and_plain_noise_does_not(dim):
    points = np.random.default_rng(3).uniform(0, 600, (500, dim))
    tile = CurlNoise(2, 100.0, octaves=3, period=600)
    shift = np.zeros(dim)
    shift[1] = 600.0
    assert tile.sample(points + shift, time=0.3) == pytest.approx(tile.sample(points, time=0.3), abs=1e-9)
    free = CurlNoise(2, 100.0, octaves=3)
    assert np.abs(free.sample(points + shift) - free.sample(points)).mean() > 10


def spread(velocity, dim=2, seconds=60.0, box=600.0, cells=4, h=0.1):
    """Largest deviation of a cell's density after 100,000 tracers drift in a periodic box (midpoint rule)."""
    sides = (400, 250) if dim == 2 else (50, 50, 40)
    axes = [(np.arange(n) + 0.5) * (box / n) for n in sides]
    x = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, dim)
    assert len(x) == 100_000
    for i in range(round(seconds / h)):
        middle = np.mod(x + 0.5 * h * velocity(x, i * h), box)
        x = np.mod(x + h * velocity(middle, (i + 0.5) * h), box)
    counts, _ = np.histogramdd(x, bins=cells, range=[[0, box]] * dim)
    return float(np.abs(counts / counts.mean() - 1).max())


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "octaves", "cells", "h"), [(2, 2, 4, 0.12), (3, 1, 2, 0.25)])
def test_tracers_stay_evenly_spread_in_curl_noise(dim, octaves, cells, h):
    """A random spread of 100,000 over the cells deviates by about 3 % (16 cells) or 2 % (8 cells)."""
    noise = CurlNoise(4, 100.0, 60.0, octaves, 0.3, period=600)
    assert spread(lambda x, t: noise.sample(x, time=t), dim, cells=cells, h=h) < 0.05


class PlainNoise:
    """One periodic value noise (random values on a lattice of 100 wu, quintic between), about +-60 wu/s."""

    def __init__(self, seed, dim):
        self.table = np.random.default_rng(seed).uniform(-1, 1, (6,) * dim) * 110.0

    def __call__(self, x):
        low = np.floor(x / 100.0).astype(np.int64)
        part = x / 100.0 - low
        part = part**3 * (part * (part * 6 - 15) + 10)
        total = 0.0
        for corner in np.ndindex((2,) * x.shape[1]):
            weight = np.prod(np.where(corner, part, 1 - part), axis=1)
            total = total + weight * self.table[tuple(((low + corner) % 6).T)]
        return total


@pytest.mark.slow
@pytest.mark.parametrize(("dim", "cells"), [(2, 4), (3, 2)])
def test_the_density_test_fails_for_plain_noises(dim, cells):
    """A noise a component, unrelated to each other: divergence, and tracers pile up."""
    noises = [PlainNoise(seed, dim) for seed in range(dim)]
    found = spread(lambda x, t: np.stack([n(x) for n in noises], axis=1), dim, 6.0, cells=cells, h=0.5)
    assert found > 0.2


@pytest.mark.parametrize("octaves", [1, 2, 3, 4])
def test_cached_curl_noise_is_as_close_as_stated(octaves):
    """The figures of `CurlNoise.cache`, over twelve seconds and three patterns."""
    interval, fresh, old = 4 / 60, [], []
    for seed in range(3):
        noise = CurlNoise(seed, 100.0, 60.0, octaves, 0.3)
        noise.cache((0, 0, 900, 600))
        for k in range(0, 180, 7):
            fresh.append(noise.cache_error((k + 0.5) * interval, 1000))
            old.append(noise.cache_error(k * interval + 1e-6, 1000))
            old.append(noise.cache_error((k + 1) * interval - 1e-6, 1000))
    assert max(fresh) < 0.012
    assert np.mean(old) < 0.025 and max(old) < 0.045


def test_a_finer_cache_is_closer_and_ends_at_its_rect():
    noise = CurlNoise(8, 100.0, 60.0, 3, 0.3)
    noise.cache((0, 0, 1280, 720), cell=1.5, interval=0)
    assert noise.cache_error(0.9) < 0.005
    outside = np.array([[-50.0, 10.0], [1300.0, 20.0]])
    assert np.array_equal(
        noise.sample(outside, time=0.9), CurlNoise(8, 100.0, 60.0, 3, 0.3).sample(outside, time=0.9)
    )


# where it is


@pytest.mark.parametrize("far", [1e5, 1e6])
def test_a_scene_far_from_the_origin_behaves_the_same(far):
    rng = np.random.default_rng(1)
    near = rng.uniform(0, 500, (200, 2))
    for make in (lambda o: Attractor((250 + o, 250), 1e6, 10), lambda o: Whirl((250 + o, 250))):
        assert make(far).sample(near + (far, 0)) == pytest.approx(make(0).sample(near), rel=1e-6, abs=1e-6)


# in a world


def hanging_rope(segments=20, length=200.0, gravity=900, step=1 / 60):
    space = pymunk.Space()
    space.gravity = (0, gravity)
    world = softkit.World(space, step=step)
    rope = world.add(softkit.Rope((0, 0), (0, length), segments=segments, damping=1.0))
    rope.pin(0)
    return world, rope


@pytest.mark.parametrize("mass", [0.1, 10.0])
@pytest.mark.parametrize(("speed", "rate"), [(300.0, 0.5), (450.0, 2.0), (90.0, 20.0)])
def test_a_rope_in_wind_hangs_along_gravity_plus_drag(mass, speed, rate):
    """Each particle feels rate (U - v) per unit mass: at rest the rope is straight, at atan(rate U / g)."""
    world, rope = hanging_rope()
    rope.mass = mass
    world.fields.add(Wind((speed, 0), rate=rate))
    for _ in range(60 * 12):
        world.update(1 / 60)
    angle = math.atan2(rate * speed, 900)
    along = np.linspace(0, 200, 21)[:, None] * (math.sin(angle), math.cos(angle))
    assert rope.positions == pytest.approx(along, abs=2.0)


def test_a_rope_feels_a_magnet_and_a_switch():
    """S11 (e): at rest it moves in the very next step after a field is switched on."""
    world, rope = hanging_rope()
    magnet = world.fields.add(Attractor((150, 200), 5e7, 30, enabled=False))
    for _ in range(60):
        world.update(1 / 60)
    still = rope.positions.copy()
    magnet.enabled = True
    world.update(1 / 60)
    assert rope.positions[-1, 0] - still[-1, 0] > 0.05
    for _ in range(300):
        world.update(1 / 60)
    assert rope.positions[-1, 0] > 60
    magnet.enabled = False
    for _ in range(900):
        world.update(1 / 60)
    assert rope.positions == pytest.approx(still, abs=1.0)


def test_fields_survive_a_snapshot_in_a_world():
    ends = []
    for back in (False, True):
        world, _ = hanging_rope()
        wind = world.fields.add(Wind((200, 0), gust=0.9, frequency=1.5), CurlNoise(2))[0]
        blast = world.fields.add(Explosion((20, 150), 20, 120))
        for i in range(90):
            if i == 40:
                wind.frequency = 0.7
            if i == 60:
                blast.fire()
                data = world.snapshot()
            world.update(1 / 60)
        if back:
            wind.frequency = 3.0
            world.restore(data)
            assert wind.frequency == 0.7
            for _ in range(30):
                world.update(1 / 60)
        ends.append(world.state_hash())
    assert ends[0] == ends[1]


def test_an_absurd_wind_leaves_no_trace():
    """C06: 1e6 for ten frames, then none."""
    world, rope = hanging_rope()
    wind = world.fields.add(Wind((1e6, 0), rate=5))
    for _ in range(10):
        world.update(1 / 60)
        assert np.isfinite(rope.positions).all()
    wind.velocity = (0, 0)
    for _ in range(300):
        world.update(1 / 60)
    lengths = np.hypot(*np.diff(rope.positions, axis=0).T)
    assert lengths == pytest.approx(10.0, rel=0.1)
    with pytest.raises(ValueError, match="velocity"):
        wind.velocity = (math.nan, 0)
