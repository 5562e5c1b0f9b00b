"""Where free particles come from: the surfaces of pymunk shapes at rest and in motion, bursts, scrapes."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit.emitters import Source
from softkit.particles import Particles


def scene(gravity=(0, 0), **options):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, **options)


def body_at(place=(0, 0), angle=0.0, velocity=(0, 0), spin=0.0):
    body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    body.position, body.angle, body.velocity, body.angular_velocity = place, angle, velocity, spin
    return body


SHAPES = {
    "circle": lambda body: pymunk.Circle(body, 30, (7, -4)),
    "small circle": lambda body: pymunk.Circle(body, 2),
    "line": lambda body: pymunk.Segment(body, (-20, 5), (40, 10), 0),
    "capsule": lambda body: pymunk.Segment(body, (-20, 5), (40, 10), 12),
    "box": lambda body: pymunk.Poly(body, [(-15, -10), (15, -10), (15, 10), (-15, 10)]),
    "round box": lambda body: pymunk.Poly(body, [(-15, -10), (15, -10), (15, 10), (-15, 10)], radius=8),
    "triangle": lambda body: pymunk.Poly(body, [(0, -30), (5, 20), (-25, 10)], radius=3),
}
every_shape = pytest.mark.parametrize("kind", SHAPES)


def length_of(shape):
    """The outline's length in closed form."""
    if isinstance(shape, pymunk.Circle):
        return 2 * math.pi * shape.radius
    corners = (
        [shape.a, shape.b]
        if isinstance(shape, pymunk.Segment)
        else [pymunk.Vec2d(*p) for p in shape.get_vertices()]
    )
    sides = sum((b - a).length for a, b in zip(corners, corners[1:] + corners[:1]))
    return sides + 2 * math.pi * shape.radius


@every_shape
@pytest.mark.parametrize("place", [(0, 0), (1e6, -300)])
def test_births_lie_on_the_outline_at_the_pools_radius(kind, place):
    """Round parts are round: no birth is nearer to or farther from the shape than 1e-5 wu of the radius."""
    space, _ = scene()
    shape = SHAPES[kind](body_at(place, 0.7))
    space.add(shape.body, shape)
    pool = Particles(4000, radius=1.5)
    pool.burst(4000, shape, speed=3)
    out = np.array([shape.point_query(tuple(p)).distance for p in pool.positions.tolist()])
    assert out == pytest.approx(1.5, abs=1e-5)
    steps = pool.positions + 0.1 * pool.velocities
    ahead = np.array([shape.point_query(tuple(p)).distance for p in steps.tolist()])
    assert ahead == pytest.approx(1.8, abs=2e-5)  # straight outward


@every_shape
def test_births_are_even_along_the_outline(kind):
    """Shares of births by the part of the outline: rounded corners get theirs."""
    body = body_at()
    shape = SHAPES[kind](body)
    source = Source.surface(shape)
    assert source.edges[-1, 7] + source.edges[-1, 8] == pytest.approx(length_of(shape))
    pool = Particles(20_000)
    pool.burst(20_000, shape, speed=1)
    angle = np.arctan2(*pool.velocities.T[::-1]) % (2 * math.pi)
    if isinstance(shape, pymunk.Circle):
        shares = np.histogram(angle, 8, (0, 2 * math.pi))[0] / 20_000
        assert shares == pytest.approx(1 / 8, abs=0.01)
        return
    straight = sum(
        (np.abs(np.angle(np.exp(1j * (angle - a)))) < 1e-9).sum()
        for a in np.unique(source.edges[source.edges[:, 5] == 0, 4])
    )
    rest = 2 * math.pi * shape.radius / length_of(shape)
    assert 1 - straight / 20_000 == pytest.approx(rest, abs=0.015)


@every_shape
@pytest.mark.parametrize("hit", ["bounce", "die", "stick"])
def test_what_is_born_on_a_moving_shape_is_not_in_it(kind, hit):
    space, world = scene()
    shape = SHAPES[kind](body_at((50, 20), 0.3, (200, -90), 2.5))
    space.add(shape.body, shape)
    pool = world.add(Particles(3000, radius=1, lifetime=100, on_hit=hit, bounce=0.5))
    pool.emitter(shape, 600, speed=80)
    for _ in range(30):
        world.update(1 / 60)
    assert pool.count >= 0.9 * 300  # few are caught up by a corner that turns into them
    out = np.array([shape.point_query(tuple(p)).distance for p in pool.positions.tolist()])
    assert out.min() > 1 - 1e-3


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_births_inherit_the_motion_of_the_surface(share):
    space, world = scene()
    shape = pymunk.Circle(body_at((100, 50), 0, (120, -40), 3.0), 20)
    space.add(shape.body, shape)
    pool = world.add(Particles(1000, lifetime=10))
    pool.burst(1000, shape, inherit=share)
    arm = pool.positions - (100, 50)
    want = share * (np.array([120, -40]) + 3.0 * np.stack([-arm[:, 1], arm[:, 0]], axis=1))
    assert pool.velocities == pytest.approx(want, abs=1e-9)


def test_an_emitter_goes_with_its_shape():
    """Births lie round where the body was within the step, at any place of its way."""
    space, world = scene()
    shape = pymunk.Circle(body_at((0, 0), 0, (600, 0)), 5)
    space.add(shape.body, shape)
    pool = world.add(Particles(5000, lifetime=100, on_hit="pass"))
    pool.emitter(shape, 3000, inherit=0)
    for _ in range(60):
        world.update(1 / 60)
    assert pool.count == pytest.approx(3000, abs=1)
    assert np.abs(pool.positions[:, 1]).max() <= 6 + 1e-5
    counts, _ = np.histogram(pool.positions[:, 0], 10, (0, 600))
    assert counts == pytest.approx(300, rel=0.15)  # no bands: 10 wu a step, 60 bins would show them
    shape.body.position = (0, 500)
    shape.body.velocity = (0, 0)
    world.update(1 / 60)
    assert pool.positions[np.argsort(pool.ids)[-50:], 1].min() > 490


def test_a_dynamic_body_carries_its_emitter_through_a_collision():
    space, world = scene((0, 900))
    ball = pymunk.Body(1, 100)
    ball.position = (0, 0)
    shape = pymunk.Circle(ball, 10)
    shape.elasticity = 0.8
    ground = pymunk.Segment(space.static_body, (-500, 200), (500, 200), 5)
    ground.elasticity = 1
    space.add(ball, shape, ground)
    pool = world.add(Particles(3000, lifetime=0.1, gravity_scale=0))
    pool.emitter(shape, 1000, inherit=0)
    for _ in range(120):
        world.update(1 / 60)
        newest = pool.positions[np.argsort(pool.ids)[-10:]]
        assert np.hypot(*(newest - ball.position).T).max() < 11 + 1.5 * ball.velocity.length / 60 + 1


def test_a_source_whose_body_left_the_space_stays():
    space, world = scene()
    shape = pymunk.Circle(body_at((40, 40)), 5)
    space.add(shape.body, shape)
    pool = world.add(Particles(500, lifetime=100))
    stream = pool.emitter(shape, 60)
    world.update(1 / 60)
    space.remove(shape, shape.body)
    for _ in range(30):
        world.update(1 / 60)
    assert np.hypot(*(pool.positions - 40).T).max() < 7
    stream.remove()
    stream.remove()
    count = pool.count
    world.update(1 / 60)
    assert pool.count == count and pool.emitters == ()


def test_bursts_happen_at_once_and_from_callbacks():
    """A burst out of a contact callback, in the middle of a step, is there afterwards."""
    space, world = scene((0, 900))
    ground = pymunk.Segment(space.static_body, (-500, 100), (500, 100), 0)
    space.add(ground)
    rope = world.add(softkit.Rope((0, 0), (50, 0), segments=5))
    pool = world.add(Particles(200, lifetime=100, gravity_scale=0))
    places = []

    def splash(obj, shape, particle):
        places.append(obj.positions[particle].tolist())
        assert pool.burst(25, obj.positions[particle], speed=30) == 25

    rope.on_begin = splash
    for _ in range(60):
        world.update(1 / 60)
    assert len(places) == 1 and pool.count == 25
    assert np.hypot(*(pool.positions - places[0]).T).max() < 60


def test_a_hit_makes_a_splash_where_it_was():
    """Rain that dies on a floor, and a second pool born where `hits` says."""
    space, world = scene((0, 900))
    space.add(pymunk.Segment(space.static_body, (-500, 300), (500, 300), 0))
    rain = world.add(Particles(2000, radius=1, on_hit="die", lifetime=10))
    drops = world.add(Particles(2000, lifetime=10, radius=1))
    rain.emitter(Source.line((-200, 0), (200, 0)), 300)
    total = 0
    for _ in range(120):
        world.update(1 / 60)
        points, normals, speeds = rain.hits
        total += len(points)
        for point, normal in zip(points, normals):
            assert point[1] == pytest.approx(299, abs=1e-3) and normal.tolist() == [0, -1]
            drops.burst(2, point, direction=-math.pi / 2, spread=1, speed=50)
        assert len(speeds) == 0 or speeds.min() > 500
    assert total > 200 and drops.count == 2 * total
    kept = rain.hits
    world.update(1 / 60)
    assert kept[0].flags.owndata  # the caller's own, not overwritten by the next step


def test_sparks_fly_from_where_a_rope_scrapes():
    """A chain dragged over an edge: sparks are born at its touches, along the floor's normal, and bounce."""
    space, world = scene((0, 900))
    ground = pymunk.Segment(space.static_body, (-2000, 200), (2000, 200), 0)
    ground.friction = 0.5
    space.add(ground)
    chain = world.add(softkit.Rope((0, 180), (200, 180), segments=20, mass=20, radius=3))
    sparks = world.add(Particles(5000, lifetime=(0.5, 1), radius=1, gravity_scale=0.3))
    for k in range(90):
        chain.move(20, (200 + 5 * k, 150))
        world.update(1 / 60)
        before = sparks._next
        contacts = world.contacts
        born = sparks.scrape(contacts, per_impulse=0.02, least=5, speed=100, spread=0.2)
        fresh = sparks.ids >= before
        assert fresh.sum() == born
        if born:
            gap = np.hypot(*(sparks.positions[fresh][:, None] - contacts.point[None]).transpose(2, 0, 1))
            assert gap.min(axis=1) == pytest.approx(1, abs=1e-3)  # one spark's radius off the touch
            assert sparks.velocities[fresh][:, 1].max() < -90
    assert sparks._next > 100
    assert sparks.positions[:, 1].max() < 200


def test_contacts_after_births_and_clears_are_those_of_the_step():
    space, world = scene((0, 900))
    space.add(pymunk.Segment(space.static_body, (-500, 50), (500, 50), 0))
    pool = world.add(Particles(50, radius=2, lifetime=100, report_contacts=True))
    pool.add([(0, 40), (20, -900)])
    for _ in range(30):
        world.update(1 / 60)
    pool.burst(10, (0, -500))
    assert [contact.particle for contact in world.contacts] == [0]
    world.update(1 / 60)
    pool.clear()
    pool.burst(3, (0, -500))
    assert len(world.contacts) == 0
