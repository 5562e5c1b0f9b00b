"""Fields carried by bodies and acting on them; spoons, whirls, maps and custom fields."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit.fields import (
    Attractor,
    Custom,
    Explosion,
    Field,
    Fields,
    FlowMap,
    Gravity,
    LinearDrag,
    Push,
    Stir,
    Whirl,
    Wind,
)
from tests.field_kinds import cloud


def test_follow_carries_a_field_with_a_body():
    body = pymunk.Body(1, 1)
    body.position = (50, 60)
    fields = Fields()
    magnet = fields.add(Attractor((0, 0)))
    magnet.follow(body, (10, 0))
    v = np.zeros((1, 2))
    fields.apply(None, np.array([[60.0, 60.0]]), v, None, 0.01, 0.0)
    assert magnet.position == (60, 60) and v.tolist() == [[0.0, 0.0]]
    body.position = (150, 60)
    version = fields.version
    fields.apply(None, np.array([[60.0, 60.0]]), v, None, 0.01, 0.0)
    assert v[0, 0] > 0 and fields.version > version
    magnet.follow(None)
    body.position = (0, 0)
    fields.apply(None, np.array([[60.0, 60.0]]), v, None, 0.01, 0.0)
    assert magnet.position == (160, 60)
    with pytest.raises(TypeError, match="body"):
        magnet.follow(3)


def test_bodies_feel_only_fields_that_say_so():
    fields = Fields()
    fields.add(
        Push((600, 0), bodies=True),
        Gravity((0, 77)),
        LinearDrag(math.inf, region=(90, 0, 20, 20), bodies=True),
    )
    assert fields.has_bodies
    change = fields.body_velocities(
        [(0, 0), (0, 0), (100, 10)], [(1, 2), (0, 0), (5, 5)], [1, 3, 2], 0.1, 0.0
    )
    assert change == pytest.approx(np.array([[60, 0], [20, 0], [-5, -5]]))


def test_bodies_of_a_space_are_pushed_at_their_centres():
    space, fields = pymunk.Space(), Fields()
    light, heavy, wall = pymunk.Body(1, 1), pymunk.Body(4, 1), pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    space.add(light, heavy, wall)
    fields.push_bodies(space, 0.1, 0.0)
    fields.add(Push((80, 0), bodies=True))
    fields.push_bodies(space, 0.1, 0.0)
    assert [tuple(b.velocity) for b in (light, heavy, wall)] == [(8, 0), (2, 0), (0, 0)]


def test_a_world_pushes_bodies_at_any_frame_rate_and_mass():
    for step in (1 / 30, 1 / 60, 1 / 144):
        space = pymunk.Space()
        world = softkit.World(space, step=step)
        ball = pymunk.Body(3, 1)
        space.add(ball)
        world.fields.add(Gravity((0, 100), bodies=True), LinearDrag(2.0, bodies=True), Wind((9, 9)))
        for _ in range(round(3 / step)):
            world.update(step)
        assert tuple(ball.velocity) == pytest.approx((0, 50 * (1 - math.exp(-6))), rel=1e-3)


def test_an_explosion_pushes_bodies_and_soft_things_once():
    space = pymunk.Space()
    world = softkit.World(space)
    ball = pymunk.Body(2, 1)
    ball.position = (50, 0)
    space.add(ball)
    pool = world.add(softkit.Particles(5, lifetime=100))
    pool.add([(0, 50)])
    world.fields.add(Explosion((0, 0), 100, 100, bodies=True)).fire()
    for _ in range(5):
        world.update(1 / 60)
    assert tuple(ball.velocity) == pytest.approx((25, 0)) and pool.velocities[0] == pytest.approx([0, 50])


def test_stir_moves_what_it_passes_and_rests_when_it_rests():
    spoon, x = Stir((0, 0), 50), np.array([[10.0, 0.0], [80.0, 0.0]])
    v = np.ones((2, 2))
    spoon.relax(x, v, 1 / 60, 0.0)
    assert np.all(v == 1)
    spoon.move((6, 0), 1 / 60)
    assert spoon.velocity == pytest.approx((360, 0, 0)) and spoon.position == (6, 0)
    spoon.relax(x, v, 1 / 60, 0.0)
    assert v[0, 0] > 50 and np.all(v[1] == 1)


def test_a_moving_whirl_carries_what_it_holds():
    whirl = Whirl((0, 0), 200, 50, inward=0.5, rate=8, reach=200)
    x, v = np.array([[30.0, 0.0], [0.0, -60.0], [900.0, 0.0]]), np.zeros((3, 2))
    fields = Fields()
    fields.add(whirl)
    for i in range(180):
        whirl.move((5.0 * (i + 1), 0), 1 / 60)
        fields.apply(None, x, v, None, 1 / 60, i / 60)
        x[:2] += v[:2] / 60
    assert whirl.velocity == pytest.approx((300, 0, 0))
    assert np.hypot(*(x[:2] - whirl.position[:2]).T).max() < 80
    assert whirl.sample((1200, 0)).tolist() == [0, 0]
    whirl.reach = None
    assert whirl.sample((1200, 0))[0] == pytest.approx(300 - 0.5 * 200 * 2 * 300 * 50 / (300**2 + 50**2))
    with pytest.raises(ValueError, match="reach"):
        whirl.reach = 0


def test_flow_map_is_bilinear_held_at_its_edges_and_repeats():
    vectors = np.arange(24.0).reshape(3, 4, 2)
    still = FlowMap(vectors, (0, 0, 40, 30), 2.0)
    assert still.sample((15, 5)).tolist() == (2 * vectors[0, 1]).tolist()
    assert still.sample((20, 10)) == pytest.approx(2 * vectors[:2, 1:3].mean(axis=(0, 1)))
    assert still.sample((1, 1)).tolist() == (2 * vectors[0, 0]).tolist()
    assert still.sample((41, 10)).tolist() == [0, 0]
    tiled = FlowMap(vectors, (0, 0, 40, 30), 1.0, repeat=True)
    assert tiled.sample((-25, 95)).tolist() == vectors[0, 1].tolist()
    assert tiled.sample((0, 5)) == pytest.approx((vectors[0, 3] + vectors[0, 0]) / 2)


def test_flow_map_out_of_a_picture():
    picture = np.full((2, 3, 3), 128, dtype=np.uint8)
    picture[0, 1, 0] = 255
    flow = FlowMap.from_image(picture, (0, 0, 30, 20), 50)
    assert flow.sample((15, 5)) == pytest.approx([127 / 127.5 * 50, 0])
    assert flow.sample((5, 15)).tolist() == [0, 0]


def test_custom_field_is_given_read_only_arrays_and_its_faults_are_counted():
    seen = {}

    def function(points, velocities, time):
        seen.update(
            shape=points.shape, time=time, writeable=points.flags.writeable or velocities.flags.writeable
        )
        return np.where(points > 0, np.nan, 3.0)

    field = Field.custom(function)
    assert isinstance(field, Custom)
    got = field.sample([(1, -1)], time=2)
    assert got.tolist() == [[0, 3]] and field.rejected == 1
    assert seen == {"shape": (1, 2), "time": 2.0, "writeable": False}
    with pytest.raises(ValueError, match="function must return the shape"):
        Custom(lambda p, v, t: p[:, 0]).sample([(1, 2)])


@pytest.mark.parametrize("kind", ["acceleration", "force", "flow"])
def test_custom_kinds_match_the_built_in_ones(kind):
    points, velocities = cloud(400)
    w = np.linspace(0, 2, 400)
    twin = {"acceleration": Gravity((3, 4)), "force": Push((3, 4)), "flow": Wind((3, 4), rate=2)}[kind]
    area = {"region": (0, 0, 200, 200), "falloff": "linear"}
    own = Custom(lambda p, v, t: np.tile([3.0, 4.0], (len(p), 1)), kind, 2, **area)
    twin.region, twin.falloff = area["region"], "linear"
    results = []
    for field in (own, twin):
        fields, v = Fields(), velocities.copy()
        fields.add(field)
        fields.apply(None, points, v, w, 0.05, 0.0, gravity=(0, 50))
        results.append(v)
    assert results[0] == pytest.approx(results[1], rel=1e-12)
