"""Fails: a node gets through a wall of radius 0 at (300, y), about 1 scene in 150."""

import numpy as np
import pymunk
from hypothesis import given, settings
from hypothesis import strategies as st

import softkit
from softkit import Rope

place = st.tuples(st.floats(-200, 200), st.floats(-200, 200))
rope = st.tuples(
    place, place, st.integers(1, 30), st.floats(0.01, 100), st.floats(-5000, 5000), st.booleans()
)
scenes = st.tuples(
    st.lists(rope, min_size=1, max_size=4), st.lists(st.tuples(place, st.floats(3, 40)), max_size=5)
)


def play(scene, threads):
    softkit.set_threads(threads)
    ropes, posts = scene
    space = pymunk.Space()
    space.gravity = (0, 900)
    world = softkit.World(space)
    corners = [(-300, -300), (300, -300), (300, 300), (-300, 300), (-300, -300)]
    walls = [pymunk.Segment(space.static_body, a, b, 0) for a, b in zip(corners, corners[1:], strict=False)]
    space.add(*walls)
    for where, size in posts:
        space.add(pymunk.Circle(space.static_body, size, where))
    for a, b, segments, mass, speed, bent in ropes:
        if np.hypot(a[0] - b[0], a[1] - b[1]) < 5:
            continue
        bend = 1e-4 if bent else None
        one = world.add(Rope(a, b, segments=segments, mass=mass, bend_compliance=bend))
        one._v[:] = (speed, -speed)
    for _ in range(20):
        world.update(1 / 60)
    return world


@settings(max_examples=150)
@given(scenes)
def test_finite_inside_the_walls_and_the_same_on_two_threads(scene):
    world = play(scene, 1)
    for one in world.objects:
        assert np.isfinite(one.positions).all() and np.isfinite(one.velocities).all()
        assert (np.abs(one.positions) < 300).all(), "through a wall without thickness"
        assert np.hypot(*one.velocities.T).max() <= world.max_speed * (1 + 1e-12)
    assert play(scene, 2).state_hash() == world.state_hash()
