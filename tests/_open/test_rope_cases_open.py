"""Not collected: cases whose right outcome is not reached."""

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Rope

KINEMATIC, DYNAMIC, STATIC = pymunk.Body.KINEMATIC, pymunk.Body.DYNAMIC, pymunk.Body.STATIC


def scene(gravity=(0, 900), **options):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, **options)


def steps(world, seconds):
    for _ in range(round(seconds * 60)):
        world.update(1 / 60)


def ball(space, place, mass=1.0, radius=5.0, velocity=(0, 0)):
    body = pymunk.Body(mass, 0.5 * mass * radius * radius)
    body.position, body.velocity = place, velocity
    shape = pymunk.Circle(body, radius)
    space.add(body, shape)
    return body


def driven(space, place, velocity=(0, 0)):
    body = pymunk.Body(body_type=KINEMATIC)
    body.position, body.velocity = place, velocity
    space.add(body)
    return body


def ground(space, y, friction=0.8, wide=3000):
    shape = pymunk.Segment(space.static_body, (-wide, y), (wide, y), 0)
    shape.friction = friction
    space.add(shape)
    return shape


def samples(rope, count=10):
    t = np.linspace(0, 1, count)[:, None, None]
    x = rope.positions
    return (x[:-1] * (1 - t) + x[1:] * t).reshape(-1, 2)


def inside(shape, points):
    """Deepest point in a shape, wu; negative outside."""
    return max(-shape.point_query(tuple(p)).distance for p in points)


def test_C09_whipped_through_a_thin_post_at_8000():
    space, world = scene((0, 0))
    post = pymunk.Circle(space.static_body, 3)
    space.add(post)
    rope = world.add(Rope((-100, -150), (100, -150), segments=40))
    rope._v[:] = (0, 8000)
    for _ in range(30):
        world.update(1 / 60)
        # The middle hangs on the post: the rope still passes below it, seen from its ends.
        assert inside(post, samples(rope)) < 1.0
        assert crosses_ray(rope.positions)


def crosses_ray(x):
    """How often a curve whose ends are far below crosses the half-line up from the origin: odd while it
    hangs there.
    """
    a, b = x[:-1], x[1:]
    hits = (a[:, 0] > 0) != (b[:, 0] > 0)
    t = a[hits, 0] / (a[hits, 0] - b[hits, 0])
    y = a[hits, 1] + t * (b[hits, 1] - a[hits, 1])
    return int((y < 0).sum()) % 2 == 1


@pytest.mark.parametrize("speed", [4000])
def test_I21_a_fast_ball_does_not_pass_a_taut_rope(speed):
    space, world = scene((0, 0))
    body = ball(space, (0, -100), velocity=(0, speed))
    rope = world.add(Rope((-100, 0), (100, 0), mass=5))
    rope.pin(0)
    rope.pin(-1)
    for _ in range(60):
        world.update(1 / 60)
        at = np.interp(body.position.x, rope.positions[:, 0], rope.positions[:, 1])
        assert abs(body.position.x) > 100 or body.position.y < at + 1
    assert body.velocity.y < 0
