"""What a winch does to the velocity of its load."""

import pymunk
import pytest

import softkit


def test_a_load_on_a_winch_has_the_winchs_speed():
    space = pymunk.Space()
    space.gravity = (0, 900)
    world = softkit.World(space)
    rope = world.add(softkit.Rope((0, 0), (0, 200), segments=40))
    rope.pin(0)
    rope.reel_speed = 60
    body = pymunk.Body(5, 50)
    body.position = (0, 200)
    space.add(body, pymunk.Circle(body, 5))
    rope.attach(-1, body)
    for _ in range(30):
        world.update(1 / 60)
    rope.rest_length = 20
    for _ in range(10):
        world.update(1 / 60)
    for _ in range(100):
        world.update(1 / 60)
        assert body.velocity.y == pytest.approx(-60, abs=0.6)
        assert rope.velocities[-1, 1] == pytest.approx(-60, abs=0.6)
