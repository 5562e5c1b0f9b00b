"""Fields in a world, on every kind of soft object and on pymunk's bodies: the same rules for all of them."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit.fields import Attractor, Damping, Gravity, LinearDrag, Push, QuadraticDrag, Wind

RATES = (30, 60, 240)


def rope(mass=1.0):
    return softkit.Rope((0, 0), (60, 0), segments=6, mass=mass, damping=0)


def cloth(mass=1.0):
    return softkit.Cloth(5, 4, spacing=8, mass=mass, damping=0, drag=0, lift=0)


def fluid(mass=1.0):
    """Drops apart from each other: a falling pool stirs itself a little, which a quadratic drag feels."""
    pool = softkit.Fluid(spacing=8, rest_density=mass, damping=0, settling=0)
    pool.add([(60 * i, 50 * j) for i in range(3) for j in range(3)])
    return pool


def jelly(mass=1.0):
    return softkit.SoftBody.circle((0, 0), 20, segments=12, mass=mass, damping=0)


def cube(mass=1.0):
    return softkit.SoftBody.lattice(3, 3, 3, mass=mass, damping=0)


def sparks(mass=1.0):
    pool = softkit.Particles(10, mass=mass, lifetime=1e6)
    pool.add([(0, 0), (30, 10)])
    return pool


MAKERS = [rope, cloth, fluid, jelly, cube, sparks]
every_object = pytest.mark.parametrize("make", MAKERS, ids=[make.__name__ for make in MAKERS])


def scene(gravity=(0, 0), rate=60):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, step=1 / rate)


def run(world, seconds):
    for _ in range(round(seconds / world.step)):
        world.update(world.step)


def masses(obj):
    return 1.0 / np.asarray(obj.inverse_mass, float)


def speed(obj):
    """Velocity of the centre of mass, x and y."""
    m = masses(obj)
    return (m[:, None] * obj.velocities[:, :2]).sum(axis=0) / m.sum()


# forces and accelerations


@every_object
@pytest.mark.parametrize("mass", [0.1, 10.0])
def test_gravity_and_attractors_ignore_mass(make, mass):
    """Gravity as a field is the world's own gravity: t g at any mass."""
    _, world = scene()
    obj = world.add(make(mass))
    world.fields.add(Gravity((30, 300)))
    run(world, 0.5)
    assert speed(obj) == pytest.approx([15, 150], rel=1e-4)
    _, other = scene((30, 300))
    twin = other.add(make(mass))
    run(other, 0.5)
    # a fluid takes fields once a step and gravity in two passes: h g t / 4 apart
    within = 300 * 0.5 / 60 / 4 if make is fluid else 1e-6
    assert obj.positions == pytest.approx(twin.positions, abs=1.2 * within)
    _, world = scene()
    obj = world.add(make(mass))
    start = obj.positions[:, :2].mean(axis=0)
    world.fields.add(Attractor(start + (1e4, 0), 1e10, 10))  # far away: 100 wu/s^2 everywhere, within 1 %
    run(world, 0.5)
    assert speed(obj) == pytest.approx([50, 0], abs=1.0)


@every_object
@pytest.mark.parametrize("mass", [0.1, 1.0, 10.0])
def test_a_push_divides_by_mass(make, mass):
    _, world = scene()
    obj = world.add(make(mass))
    total, count = masses(obj).sum(), obj.count
    world.fields.add(Push((2.0, 0)))
    run(world, 0.5)
    assert speed(obj) == pytest.approx([0.5 * 2.0 * count / total, 0], rel=1e-3, abs=1e-6)


@every_object
def test_light_and_heavy_fall_together_and_part_under_a_push(make):
    ends = {}
    for mass in (1.0, 4.0):
        _, world = scene((0, 200))
        obj = world.add(make(mass))
        world.fields.add(Gravity((0, 100)))
        run(world, 0.5)
        fallen = speed(obj)[1]
        world.fields.add(Push((1.0, 0)))
        run(world, 0.5)
        ends[mass] = fallen, speed(obj)[0]
    assert ends[1.0][0] == pytest.approx(150, rel=1e-4) and ends[4.0][0] == pytest.approx(150, rel=1e-4)
    assert ends[1.0][1] / ends[4.0][1] == pytest.approx(4.0, rel=1e-3)


@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 144])
def test_dynamic_bodies_fall_and_part_likewise_when_asked(step):
    space, world = scene(rate=round(1 / step))
    bodies = [pymunk.Body(mass, 1) for mass in (1, 4)]
    fixed = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    space.add(*bodies, fixed)
    pull, push, asleep = Gravity((0, 100), bodies=True), Push((40, 0), bodies=True), Gravity((0, 1e4))
    world.fields.add(pull, push, asleep)
    run(world, 0.5)
    t = world.time
    assert [tuple(b.velocity) for b in bodies] == [pytest.approx((40 * t / m, 100 * t)) for m in (1, 4)]
    assert tuple(fixed.velocity) == (0, 0)
    push.bodies = False
    before = bodies[0].velocity.x
    run(world, 0.2)
    assert bodies[0].velocity.x == before


# drags, the same in a world as in the formula


@every_object
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("c", [0.5, 8.0])
def test_linear_drag_ends_at_g_over_c(make, rate, c):
    _, world = scene((0, 9.81), rate)
    obj = world.add(make())
    world.fields.add(LinearDrag(c))
    run(world, 5.5 / c)  # exp(-5.5) is 0.4 %
    assert speed(obj)[1] == pytest.approx(9.81 / c * (1 - math.exp(-c * world.time)), rel=0.01)


@every_object
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("c", [0.1, 2.0])
def test_quadratic_drag_ends_at_the_root_of_g_over_c(make, rate, c):
    _, world = scene((0, 9.81), rate)
    obj = world.add(make())
    world.fields.add(QuadraticDrag(c))
    run(world, 4 / math.sqrt(9.81 * c))
    want = math.sqrt(9.81 / c) * math.tanh(math.sqrt(9.81 * c) * world.time)
    assert speed(obj)[1] == pytest.approx(want, rel=0.01)


@every_object
@pytest.mark.parametrize("rate", RATES)
def test_drag_and_damping_slow_by_their_laws(make, rate):
    """exp(-c t), keep^t and 1 / (1 + c v t), each within 1 % (linear and damping to rounding)."""
    for field, law, within in (
        (LinearDrag(2.0), lambda t: math.exp(-2.0 * t), 1e-4),
        (Damping(0.2), lambda t: 0.2**t, 1e-4),
        (QuadraticDrag(0.01), lambda t: 1 / (1 + 0.01 * 100 * t), 0.01),
    ):
        _, world = scene((0, 0), rate)
        obj = world.add(make())
        push = world.fields.add(Gravity((6000, 0)))
        world.update(world.step)
        world.fields.remove(push)
        world.fields.add(Gravity((0, 0)))
        scale = 100 / speed(obj)[0]
        obj._v[..., 0] *= scale
        if obj.kind == "cloth":
            obj._vel[0] *= scale if obj._vel[0].max() < 99 else 1.0
        start = speed(obj)[0]
        world.fields.add(field)
        run(world, 1.0)
        assert speed(obj)[0] == pytest.approx(start * law(world.time - world.step), rel=within)


@every_object
def test_no_drag_reverses_anything_however_strong(make):
    _, world = scene((0, 0))
    obj = world.add(make())
    push = world.fields.add(Gravity((6000, 0)))
    run(world, 0.1)
    world.fields.remove(push)
    world.fields.add(LinearDrag(math.inf), QuadraticDrag(1e12))
    for _ in range(5):
        world.update(1 / 60)
        assert -1e-3 <= speed(obj)[0] < 1.0  # cloth and rope round through positions, fluid in float32


def test_what_hangs_in_a_drag_keeps_its_weight():
    """A drag of 2 / s takes 2 h / 2 of a hung rope's weight, h the substep: 0.2 %."""
    _, world = scene((0, 900))
    hung = world.add(softkit.Rope((0, 0), (0, 100), segments=10, mass=3))
    hung.pin(0)
    world.fields.add(LinearDrag(2.0))
    run(world, 3)
    # the first link carries all but the pinned particle's half link
    assert hung.tension[0] == pytest.approx(3 * 900 * 9.5 / 10, rel=0.01)


@every_object
@pytest.mark.parametrize("rate", RATES)
def test_wind_carries_everything_but_cloth_along(make, rate):
    """v' = u + (v - u) exp(-rate t), whatever the mass; cloth feels the air on its triangles instead."""
    _, world = scene((0, 0), rate)
    obj = world.add(make(5.0))
    world.fields.add(Wind((120, 0), rate=2.0))
    run(world, 1.0)
    want = 0.0 if make is cloth else 120 * (1 - math.exp(-2 * world.time))
    assert speed(obj) == pytest.approx([want, 0], rel=1e-3, abs=1e-6)
