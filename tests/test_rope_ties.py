"""Ropes tied to what jumps, and to one another."""

import itertools
import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Rope


def scene(gravity=(0, 900), **options):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, **options)


def steps(world, count):
    for _ in range(count):
        world.update(world.step)


def ball(space, place, mass=1.0, radius=5.0):
    body = pymunk.Body(mass, 0.5 * mass * radius * radius)
    body.position = place
    space.add(body, pymunk.Circle(body, radius))
    return body


def test_a_teleported_anchor_is_no_explosion():
    space, world = scene()
    anchor = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    space.add(anchor)
    rope = world.add(Rope((0, 0), (0, 200)))
    rope.attach(0, anchor)
    rope.attach(-1, ball(space, (0, 200), 3))
    steps(world, 30)
    anchor.position = 5000, -3000
    for _ in range(120):
        world.update(1 / 60)
        assert np.hypot(*rope.velocities.T).max() < 20_000
        assert np.isfinite(rope.positions).all()
    assert rope.positions[0] == pytest.approx([5000, -3000], abs=1e-6)
    assert rope.length == pytest.approx(200, rel=0.02)


@pytest.mark.parametrize("count", [5])
def test_ropes_in_a_row_hang_as_one(count):
    _, world = scene()
    ropes = [world.add(Rope((0, 50 * k), (0, 50 * k + 50), segments=10)) for k in range(count)]
    ropes[0].pin(0)
    for a, b in itertools.pairwise(ropes):
        a.join(-1, b, 0)
    steps(world, 300)
    for a, b in itertools.pairwise(ropes):
        assert math.dist(a.positions[-1], b.positions[0]) < 0.1
    assert ropes[-1].positions[-1, 1] == pytest.approx(50 * count, rel=0.005)
    ropes[0].detach(-1)
    assert ropes[0].joins == []
    steps(world, 60)
    assert ropes[1].positions[0, 1] > 300
