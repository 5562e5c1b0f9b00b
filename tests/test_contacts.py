"""What a step touched, and who is told."""

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


@pytest.mark.smoke
def test_a_rope_at_rest_presses_with_its_weight():
    space, world = scene()
    floor = pymunk.Segment(space.static_body, (-500, 50), (500, 50), 0)
    floor.friction = 1
    space.add(floor)
    rope = world.add(Rope((-50, 40), (50, 40), segments=10, mass=3))
    assert len(world.contacts) == 0
    steps(world, 120)
    contacts = world.contacts
    assert len(contacts) == rope.count
    assert sorted(contacts.particle.tolist()) == list(range(rope.count))
    assert all(o is rope for o in contacts.object) and all(s is floor for s in contacts.shape)
    assert contacts.normal == pytest.approx(np.tile([0, -1], (rope.count, 1)), abs=1e-9)
    assert contacts.impulse.sum() == pytest.approx(3 * 900 / 60, rel=0.01)
    assert contacts.point == pytest.approx(rope.positions)
    assert world.contacts is contacts
    first = next(iter(contacts))
    assert first.object is rope and first.shape is floor and first.normal == pytest.approx((0, -1))
    assert isinstance(first.particle, int) and isinstance(first.impulse, float)
    world.update(1 / 60)
    assert world.contacts is not contacts


def test_parallel_arrays_have_one_length():
    _, world = scene()
    c = world.contacts
    assert len(c.object) == len(c.particle) == len(c.shape) == len(c.impulse) == len(c) == 0
    assert c.point.shape == c.normal.shape == (0, 2)
    assert list(c) == []


def test_begin_and_end_once_a_pair_and_in_order():
    space, world = scene()
    shapes = [pymunk.Segment(space.static_body, (x, 50), (x + 100, 50), 0) for x in (-100, 0)]
    for shape in shapes:
        shape.friction = 1
    sensor = pymunk.Poly.create_box(space.static_body, (400, 4))
    sensor.sensor = True
    space.add(*shapes, sensor)
    rope = world.add(Rope((-60, -20), (50, -20)))
    log = []
    rope.on_begin = lambda o, s, i: log.append(("begin", o, s, i))
    rope.on_end = lambda o, s: log.append(("end", o, s))
    steps(world, 120)
    begins = [entry for entry in log if entry[0] == "begin"]
    assert sorted(entry[2] is sensor for entry in begins) == [False, False, True] and begins[0][2] is sensor
    assert all(entry[1] is rope and 0 <= entry[3] < rope.count for entry in begins)
    assert [entry[:3] for entry in log if entry[0] == "end"] == [("end", rope, sensor)]
    assert [entry[2] for entry in begins[1:]] == shapes
    space.remove(shapes[0])
    steps(world, 60)
    assert log[-1] == ("end", rope, shapes[0]) or log[-2] == ("end", rope, shapes[0])


def test_contacts_after_objects_were_removed_name_the_right_ones():
    space, world = scene()
    space.add(pymunk.Segment(space.static_body, (-500, 50), (500, 50), 0))
    high, low = world.add(Rope((0, -900), (100, -900)), Rope((0, 45), (100, 45)))
    steps(world, 5)
    world.remove(high)
    assert set(world.contacts.object) == {low}
    world.add(high)
    steps(world, 1)
    assert set(world.contacts.object) == {low}


def test_touches_do_not_outlast_the_step_when_another_object_comes():
    space, world = scene((0, 0))
    floor = pymunk.Segment(space.static_body, (-500, 50), (500, 50), 0)
    space.add(floor)
    rope = world.add(Rope((0, 49), (100, 49)))
    steps(world, 1)
    assert len(world.contacts) == rope.count
    world.add(Rope((0, -900), (100, -900)))
    space.remove(floor)
    steps(world, 1)
    assert len(world.contacts) == 0


def test_a_callback_that_is_taken_away_is_not_called():
    space, world = scene()
    space.add(pymunk.Segment(space.static_body, (-500, 50), (500, 50), 0))
    rope = world.add(Rope((0, 0), (100, 0)))
    rope.on_begin = lambda *_: pytest.fail("called")
    rope.on_begin = None
    steps(world, 60)
    assert len(world.contacts) > 0
