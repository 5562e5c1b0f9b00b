"""Closed systems: nothing outside pushes, so linear momentum stays as it was."""

import itertools

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Rope


def momentum(world):
    """(px, py, L) of everything, about the origin, and the sum of the sizes that went into it."""
    p, spin, size, turn = np.zeros(2), 0.0, 0.0, 0.0
    for rope in world.objects:
        m, x, v = rope.masses[:, None], rope.positions, rope.velocities
        p += (m * v).sum(axis=0)
        each = m[:, 0] * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])
        spin += each.sum()
        size, turn = size + np.abs(m * v).sum(), turn + np.abs(each).sum()
    for b in world.space.bodies:
        r, v = b.local_to_world(b.center_of_gravity), b.velocity
        p += (b.mass * v.x, b.mass * v.y)
        each = b.mass * (r.x * v.y - r.y * v.x)
        spin += each + b.moment * b.angular_velocity
        size += b.mass * (abs(v.x) + abs(v.y))
        turn += abs(each) + abs(b.moment * b.angular_velocity)
    return p, spin, size, turn


def body(space, place, mass=1.0, velocity=(0, 0), spin=0.0, box=None, cog=(0, 0)):
    shape_size = box or (12, 12)
    b = pymunk.Body(mass, pymunk.moment_for_box(mass, shape_size))
    b.center_of_gravity = cog
    b.position, b.velocity, b.angular_velocity = place, velocity, spin
    shape = pymunk.Poly.create_box(b, shape_size)
    shape.friction = 0.5
    space.add(b, shape)
    return b


def pulled(space, world):
    """R02: one circle flies off and takes the other along."""
    a = body(space, (0, 0), velocity=(-200, 30))
    b = body(space, (50, 0))
    rope = world.add(Rope.through([(0, 0), (50, 0)], segments=20, rest_length=100, mass=0.5, damping=0))
    rope.attach(0, a)
    rope.attach(-1, b)


def off_centre(space, world):
    """Tied to corners of bodies whose centre of gravity is not their origin: everything turns."""
    a = body(space, (0, 0), 3, velocity=(-100, 60), spin=5, box=(40, 20), cog=(5, 3))
    b = body(space, (120, 0), 1, box=(30, 30), cog=(-4, 0))
    rope = world.add(Rope((20, 10), (105, 15), segments=15, damping=0))
    rope.attach(0, a, (20, 10))
    rope.attach(-1, b, (-15, 15))


def thrown(space, world):
    """A rope flies into a bar and a block: contact with friction, at arms."""
    body(space, (0, 0), 4, box=(160, 10))
    body(space, (130, -30), 1, spin=3, box=(20, 20))
    rope = world.add(Rope((-60, -60), (90, -80), segments=30, mass=2, damping=0))
    rope._v[:] = (40, 500)


def chain_of_bodies(space, world):
    bodies = [body(space, (k * 60, (k % 2) * 15), 1 + k, velocity=(50 - 20 * k, 30 * k)) for k in range(5)]
    for a, b in itertools.pairwise(bodies):
        rope = world.add(Rope(a.position, b.position, segments=8, damping=0))
        rope.attach(0, a)
        rope.attach(-1, b)


def joined(space, world):
    a = body(space, (0, 0), 2, velocity=(-80, 0))
    ropes = [world.add(Rope((100 * k, 0), (100 * k + 100, 10), segments=10, damping=0)) for k in range(3)]
    ropes[0].attach(0, a)
    ropes[0].join(-1, ropes[1], 0)
    ropes[1].join(4, ropes[2], 0)
    ropes[2]._v[:] = (0, 150)


def elastic(space, world):
    a = body(space, (0, 0), 2, velocity=(-150, 0))
    b = body(space, (100, 0), 1, velocity=(100, 50))
    rope = world.add(
        Rope((0, 0), (100, 0), segments=12, stretch_compliance=1e-3, bend_compliance=1e-4, damping=0)
    )
    rope.attach(0, a)
    rope.attach(-1, b)


@pytest.mark.parametrize("build", [pulled, off_centre, thrown, elastic])
@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 144])
def test_linear_momentum_stays_to_rounding_for_ten_seconds(build, step):
    space = pymunk.Space()
    world = softkit.World(space, step=step)
    build(space, world)
    p0, _, size0, _ = momentum(world)
    for _ in range(round(10 / step)):
        world.update(step)
    p, _, size, _ = momentum(world)
    assert np.abs(p - p0).max() <= 1e-9 * max(size, size0)


def energy(world):
    total = sum(0.5 * (r.masses[:, None] * r.velocities**2).sum() for r in world.objects)
    bodies = world.space.bodies
    return total + sum(
        0.5 * b.mass * b.velocity.length**2 + 0.5 * b.moment * b.angular_velocity**2 for b in bodies
    )


@pytest.mark.parametrize("build", [pulled, chain_of_bodies])
def test_no_energy_comes_from_nowhere(build):
    space = pymunk.Space()
    world = softkit.World(space)
    build(space, world)
    start = energy(world)
    for _ in range(600):
        world.update(1 / 60)
        assert energy(world) <= start * 1.02
