"""A steady step of free particles allocates nothing that grows with their number."""

import tracemalloc

import numpy as np
import pymunk
import pytest

import softkit
from softkit.emitters import Source
from softkit.fields import Attractor, CurlNoise, LinearDrag, Wind
from softkit.particles import Particles


def storm(count, **options):
    """A full pool: as many born as die, in noise, drag and gusts, between shapes at rest and in motion."""
    space = pymunk.Space()
    space.gravity = (0, 100)
    for k in range(6):
        space.add(pymunk.Circle(space.static_body, 20, (150 * k, 300)))
    wheel = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    wheel.position, wheel.angular_velocity = (400, 200), 2
    space.add(wheel, pymunk.Poly.create_box(wheel, (200, 10)))
    world = softkit.World(space)
    pool = world.add(Particles(count, lifetime=1e9, **options))
    area = Source.rect(0, 0, 900, 500)
    pool.emitter(area, rate=count, speed=(0, 50))
    pool.burst(count, area, speed=(0, 50))
    world.fields.add(
        CurlNoise(octaves=1), LinearDrag(0.5), Wind((20, 0), gust=0.5), Attractor((450, 250), 1e5)
    )
    return world, pool


def peak(world, steps=3):
    """Most bytes held at any moment of some steps, above what was held before."""
    for _ in range(4):
        world.update(1 / 60)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for _ in range(steps):
            world.update(1 / 60)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "options",
    [{}, {"trail": 3}, {"on_hit": "die"}, {"on_hit": "stick"}, {"report_contacts": True}],
    ids=["plain", "trail", "die", "stick", "reports"],
)
def test_no_step_allocates_per_particle(options):
    """20,000 particles take as much as 2,000: no array over particles, not even of single bytes."""
    world, pool = storm(20_000, **options)
    used = peak(world)
    assert pool.count > 15_000 and pool._next > 20_000  # births and deaths went on
    assert used < 16_000, f"{used} bytes at 20,000"


def test_listening_allocates_no_object_per_particle():
    """With callbacks the touches are looked through in arrays: bytes per particle, not objects."""
    world, pool = storm(20_000)
    pool.on_begin = lambda obj, shape, particle: None
    assert peak(world) < 20_000 * 40


def test_hits_are_where_shapes_are_and_their_particles_are_gone():
    world, pool = storm(3000, on_hit="die", radius=2)
    total = 0
    for _ in range(30):
        count, number = pool.count, pool._next
        world.update(1 / 60)
        points, normals, speeds = pool.hits
        total += len(points)
        assert pool.count <= count + (pool._next - number) - len(points)
        assert np.hypot(*normals.T) == pytest.approx(1.0) and speeds.min(initial=0) > -1e-6
        for point in points:
            near = world.space.point_query_nearest(tuple(point), 50, pymunk.ShapeFilter())
            assert near.distance < 2 + 3.4  # the wheel turned on by up to 3.4 since; some are born inside
    assert total > 50
