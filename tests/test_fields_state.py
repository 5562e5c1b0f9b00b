"""Fields over time: phases, seeds and bits, settings in a snapshot."""

import json
import math

import numpy as np
import pymunk
import pytest

from softkit.fields import (
    CurlNoise,
    Explosion,
    Fields,
    Gravity,
    Region,
    Wind,
    settings,
)
from tests.field_kinds import cloud, every_kind


def test_gust_and_noise_do_not_jump_when_their_pace_changes():
    wind, noise, point = Wind((100, 0), gust=1, frequency=3), CurlNoise(speed=2), (5.0, 6.0)
    before = wind.sample(point, time=7.31), noise.sample(point, time=7.31)
    wind.frequency, noise.speed = 0.25, 0.1
    assert wind.sample(point, time=7.31) == pytest.approx(before[0], rel=1e-9)
    assert noise.sample(point, time=7.31) == pytest.approx(before[1], rel=1e-9)


def test_state_brings_phases_back():
    fields = Fields()
    wind, noise, blast = fields.add(Wind(gust=1), CurlNoise(), Explosion((0, 0)))
    blast.fire()
    points, v = cloud(50)
    fields.apply(None, points, v.copy(), None, 0.01, 4.0)
    wind.frequency, noise.speed = 2.0, 1.0
    state = fields.state()
    wanted = fields.sample(points, time=5.0, kind="flow")
    wind.frequency, noise.speed = 0.1, 5.0
    fields.sample(points, time=9.0, kind="flow")
    wind.frequency, noise.speed = 2.0, 1.0
    assert not np.array_equal(fields.sample(points, time=5.0, kind="flow"), wanted)
    fields.set_state(state)
    assert np.array_equal(fields.sample(points, time=5.0, kind="flow"), wanted)
    with pytest.raises(ValueError, match="state"):
        fields.set_state(state[:1])


def changed(field):
    """Every setting of a field moved to another allowed value."""
    for name in settings.checkers(type(field)):
        if not hasattr(type(field), name) or getattr(getattr(type(field), name), "fset", True) is None:
            continue  # settled at the start
        value = getattr(field, name)
        if name == "region":
            if field._own_region is None and getattr(field, "reach", None) is None:
                field.region = Region.disc((1, 2), 3)
        elif name == "falloff":
            field.falloff = "square"
        elif name == "fade":
            field.fade = 7.0
        elif name == "filter":
            field.filter = pymunk.ShapeFilter(categories=2)
        elif name == "axis":
            field.axis = (0, 1, 0)
        elif isinstance(value, bool):
            setattr(field, name, not value)
        elif isinstance(value, tuple):
            setattr(field, name, tuple(part + 1.0 for part in value))
        elif value is not None:
            setattr(field, name, type(value)(value * 0.5 + 0.25))


@every_kind
def test_state_brings_every_setting_back(make):
    fields = Fields()
    field = fields.add(make())
    before, state = settings.taken(field), json.loads(json.dumps(fields.state()))
    changed(field)
    assert settings.taken(field) != before
    fields.set_state(state)
    assert settings.taken(field) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda held: held[0].update(fade=-1.0),
        lambda held: held[0].update(falloff="soft"),
        lambda held: held[0].update(velocity=[1.0]),
        lambda held: held[0].update(gust=math.nan),
        lambda held: held[0].update(region=["disc", [0, 0, 0], [0, 0, 0]]),
        lambda held: held[0].update(filter=[0, -1, 0]),
        lambda held: held[0].pop("enabled"),
        lambda held: held[0].update(unknown=1),
        lambda held: held.pop(),
        lambda held: held.__setitem__(1, None),
        lambda held: held.__setitem__(1, [math.inf, 0]),
        lambda held: held.__setitem__(0, 7),
    ],
)
def test_a_state_that_does_not_fit_changes_nothing(spoil):
    fields = Fields()
    pull, wind = fields.add(Gravity((1, 2)), Wind(gust=1))
    state = fields.state()
    pull.acceleration = (3, 4)
    before = fields.state()
    spoil(state[1])
    with pytest.raises(ValueError):
        fields.set_state(state)
    assert fields.state() == before


def test_the_same_seed_gives_the_same_bits_and_another_one_another_field():
    points, _ = cloud(100)
    a, b, c = (CurlNoise(seed).sample(points, time=1.7) for seed in (9, 9, 10))
    assert a.tobytes() == b.tobytes()
    assert np.abs(a - c).mean() > 5


def test_noise_and_gust_bits_are_pinned():
    """Integer hashing, +, -, * and / alone: the same on every platform."""
    values = CurlNoise(1, 100, 60, 3, 0.5).sample([(10, 20), (-3000.5, 77.25)], time=1.25)
    assert values.tolist() == PINNED_PLANE
    values = CurlNoise(1, 100, 60, 3, 0.5).sample([(10, 20, 30)], time=1.25)
    assert values.tolist() == PINNED_SPACE
    assert Wind((1, 0), gust=1, seed=4).factor(3.3) == PINNED_GUST


PINNED_PLANE = [[-36.58539559056533, 30.014948226182796], [-4.693970267827472, 13.645108007562953]]
PINNED_SPACE = [[12.842717961623904, -25.956274881783457, -24.201186304954845]]
PINNED_GUST = 1.567457931639582
