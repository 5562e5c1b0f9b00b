"""Wrong input to fields, pools and emitters in a running world: the error names argument and value, and
nothing has changed, by the world's state hash and by every parameter."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit.emitters import Source
from softkit.fields import (
    Attractor,
    CurlNoise,
    Custom,
    Damping,
    Explosion,
    Fields,
    FlowMap,
    Gravity,
    LinearDrag,
    Push,
    QuadraticDrag,
    Region,
    Repeller,
    Stir,
    Vortex,
    Whirl,
    Wind,
)
from softkit.particles import Particles

NAN, INF = math.nan, math.inf
MAKERS = {
    "gravity": Gravity,
    "push": Push,
    "attractor": lambda: Attractor((1, 2)),
    "repeller": lambda: Repeller((1, 2)),
    "vortex": lambda: Vortex((1, 2)),
    "explosion": lambda: Explosion((1, 2)),
    "wind": lambda: Wind(gust=0.5),
    "whirl": lambda: Whirl((1, 2), reach=50),
    "stir": lambda: Stir((1, 2)),
    "map": lambda: FlowMap(np.ones((2, 3, 2)), (0, 0, 60, 40)),
    "curl": CurlNoise,
    "linear": LinearDrag,
    "quadratic": QuadraticDrag,
    "damping": Damping,
    "custom": lambda: Custom(lambda p, v, t: -p),
}
VECTORS = [(NAN, 0), (0, INF), (1,), (1, 2, 3, 4), "up", 5, None, (1e16, 0), (1, "y")]
NUMBERS = [NAN, INF, -INF, "much", None, (1, 2), 1e300, True]
EVERYWHERE = {
    "region": [3, (0, 0, 5), (0, 0, -5, 5), (0, 0, NAN, 5), "left", (0, 0, 5, 0)],
    "falloff": ["cubic", 3, None],
    "fade": [0, -1, NAN, INF, "wide"],
    "filter": [3, "all", (1, 2, 3)],
    "targets": [int, 5, "ropes"],
    "bodies": ["no", 2, None, 0.0],
    "enabled": ["off", 2, None],
}
OWN = {
    "gravity": {"acceleration": VECTORS},
    "push": {"force": VECTORS},
    "attractor": {"position": VECTORS, "strength": NUMBERS, "softening": [*NUMBERS, 0, -1]},
    "repeller": {"position": VECTORS, "strength": NUMBERS, "softening": [*NUMBERS, 0]},
    "vortex": {
        "position": VECTORS,
        "strength": NUMBERS,
        "core": [*NUMBERS, 0],
        "inward": NUMBERS,
        "axis": [*VECTORS, (0, 0, 0)],
    },
    "explosion": {
        "position": VECTORS,
        "impulse": NUMBERS,
        "radius": [*NUMBERS, 0, -3],
        "max_speed": [*NUMBERS, -1],
        "region": [(0, 0, 9, 9)],
    },
    "wind": {
        "velocity": VECTORS,
        "gust": [*NUMBERS, -0.1, 11],
        "frequency": [*NUMBERS, -1],
        "rate": [NAN, -1, "x", None],
    },
    "whirl": {
        "position": VECTORS,
        "strength": NUMBERS,
        "core": [*NUMBERS, 0],
        "inward": NUMBERS,
        "velocity": VECTORS,
        "rate": [NAN, -1, "x", None],
        "reach": [0, -5, NAN, INF, "far"],
        "region": [(0, 0, 9, 9)],
    },
    "stir": {
        "position": VECTORS,
        "velocity": VECTORS,
        "radius": [*NUMBERS, 0],
        "rate": [NAN, -1, "x"],
        "region": [(0, 0, 9, 9)],
    },
    "map": {
        "vectors": [np.zeros((2, 2)), np.zeros((0, 2, 2)), np.full((2, 2, 2), NAN), "picture", [[[1]]], None],
        "strength": NUMBERS,
        "rate": [NAN, -1, "x"],
    },
    "curl": {
        "seed": [-1, 1.5, "s", 2**32, None, True],
        "octaves": [0, 9, 2.5, "many"],
        "scale": [*NUMBERS, 0, -1],
        "strength": [*NUMBERS, -1],
        "speed": [*NUMBERS, -1],
        "gain": [*NUMBERS, -0.1, 1.1],
        "rate": [NAN, -1, "x"],
    },
    "linear": {"rate": [NAN, -1, "x", None]},
    "quadratic": {"drag": [*NUMBERS, -1]},
    "damping": {"keep": [*NUMBERS, -0.1, 1.1]},
    "custom": {"rate": [NAN, -1, "x"]},
}
CASES = [
    (kind, name, value)
    for kind in MAKERS
    for name, values in {**EVERYWHERE, **OWN[kind]}.items()
    for value in values
]


def scene():
    """A world with every field, a pool in the middle of a storm, an emitter on a body."""
    space = pymunk.Space()
    space.gravity = (0, 100)
    body = pymunk.Body(1, 1)
    space.add(body, pymunk.Circle(body, 5))
    world = softkit.World(space)
    fields = {name: make() for name, make in MAKERS.items()}
    world.fields.add(*fields.values())
    pool = world.add(Particles(200, lifetime=(1, 2), trail=2, seed=3))
    stream = pool.emitter(Source.disc((0, 0), 5), 100, speed=(1, 9))
    fields["explosion"].fire()
    pool.burst(50, (5, 5), speed=30)
    for _ in range(5):
        world.update(1 / 60)
    return world, fields, pool, stream


@pytest.fixture(scope="module")
def running():
    return scene()


def held(thing):
    """All that an object knows, by name, comparable."""
    return {
        key: value.tobytes() if isinstance(value, np.ndarray) else repr(value)
        for key, value in vars(thing).items()
    }


def refused(world, thing, call, name, value):
    """The call raises an error that names the argument and the value, and changes nothing."""
    before, hash_ = held(thing), world.state_hash()
    version = world.fields.version
    with pytest.raises((TypeError, ValueError, IndexError)) as error:
        call()
    text = str(error.value)
    assert name in text, text
    bad = value if np.isscalar(value) or value is None else None
    if bad is not None and not isinstance(value, np.ndarray):
        assert (f"{value!r}" in text) or (f"{value:g}" in text), text
    assert held(thing) == before and world.state_hash() == hash_ and world.fields.version == version


@pytest.mark.parametrize("kind", MAKERS)
def test_no_parameter_takes_what_is_wrong(running, kind):
    world, fields, _, _ = running
    field, count = fields[kind], 0
    for case, name, value in CASES:
        if case == kind:
            refused(world, field, lambda n=name, v=value: setattr(field, n, v), name, value)
            count += 1
    assert count > 25
    for name in OWN[kind]:
        if name in ("region", "reach"):
            continue
        for value in OWN[kind][name]:  # and at birth
            with pytest.raises((TypeError, ValueError), match=name):
                born(kind, name, value)


def born(kind, name, value):
    places = {"position": (1, 2)} if "position" in OWN[kind] else {}
    if kind == "map":
        places = {"vectors": np.ones((2, 2, 2)), "rect": (0, 0, 9, 9)}
    if kind == "custom":
        places = {"function": lambda p, v, t: p}
    cls = type(MAKERS[kind]())
    return cls(**{**places, name: value})


METHODS = [
    ("map", lambda f: FlowMap.from_image(np.zeros((3, 3)), (0, 0, 1, 1)), "picture", None),
    ("map", lambda f: FlowMap.from_image(np.zeros((3, 3, 1)), (0, 0, 1, 1)), "picture", None),
    ("map", lambda f: FlowMap(np.ones((2, 2, 2)), (0, 0, 9)), "rect", None),
    ("map", lambda f: FlowMap(np.ones((2, 2, 2)), (0, 0, 9, 9), repeat="yes"), "repeat", "yes"),
    ("wind", lambda f: Wind(seed=-1), "seed", -1),
    ("wind", lambda f: Wind(phase=NAN), "phase", NAN),
    ("curl", lambda f: CurlNoise(period=(1, 2)), "period", None),
    ("curl", lambda f: CurlNoise(phase="x"), "phase", "x"),
    ("curl", lambda f: f.cache((0, 0, 5)), "rect", None),
    ("curl", lambda f: f.cache((0, 0, 0, 5)), "width", None),
    ("curl", lambda f: f.cache((0, 0, 50, 50), cell=-1), "cell", -1),
    ("curl", lambda f: f.cache((0, 0, 1e7, 1e7), cell=1), "cell", None),
    ("curl", lambda f: f.cache((0, 0, 50, 50), interval=NAN), "interval", NAN),
    ("stir", lambda f: f.move((0, NAN), 0.1), "position", None),
    ("stir", lambda f: f.move((0, 0), 0), "dt", 0),
    ("whirl", lambda f: f.move((0, 0), -1), "dt", -1),
    ("whirl", lambda f: Whirl((0, 0), axis=(0, 0, 0)), "axis", None),
    ("attractor", lambda f: f.follow("me"), "body", "me"),
    ("attractor", lambda f: f.follow(None, (NAN, 0)), "local", None),
    ("vortex", lambda f: f.follow(pymunk.Space()), "body", None),
    ("custom", lambda f: Custom("f"), "function", "f"),
    ("custom", lambda f: Custom(max, "wish"), "kind", "wish"),
    ("custom", lambda f: Custom(max, steady=1), "steady", 1),
    ("custom", lambda f: Custom(lambda p, v, t: p[0]).sample([(1, 2)]), "function", None),
    ("gravity", lambda f: f.sample([(NAN, 0)]), "points", None),
    ("gravity", lambda f: f.sample("here"), "points", "here"),
    ("gravity", lambda f: f.sample(np.zeros((2, 4))), "points", None),
    ("gravity", lambda f: f.sample([(1, 2)], [(1, 2, 3)]), "velocities", None),
    ("gravity", lambda f: f.sample([(1, 2)], [(1, INF)]), "velocities", None),
    ("gravity", lambda f: f.sample([(1, 2)], time="now"), "time", "now"),
    ("gravity", lambda f: f.weights([(NAN, 1)]), "points", None),
    ("gravity", lambda f: Region.disc((0, 0), 0), "radius", 0),
    ("gravity", lambda f: Region.ball((0, NAN), 1), "center", None),
    ("gravity", lambda f: Region.rect(0, 0, 1, 0), "height", 0),
    ("gravity", lambda f: Region.box((0, 0, 0), (1, 0, 1)), "opposite", None),
]


@pytest.mark.parametrize("which", range(len(METHODS)))
def test_no_method_of_a_field_takes_what_is_wrong(running, which):
    world, fields, _, _ = running
    kind, call, name, value = METHODS[which]
    refused(world, fields[kind], lambda: call(fields[kind]), name, value)


def test_the_container_refuses_and_changes_nothing(running):
    world, fields, _, _ = running
    for call, name in (
        (lambda: world.fields.add(3), "fields"),
        (lambda: world.fields.add(Gravity(), None), "fields"),
        (lambda: world.fields.add(fields["wind"]), "fields"),
        (lambda: world.fields.remove(Gravity()), "fields"),
        (lambda: world.fields.remove(fields["wind"], fields["wind"]), "fields"),
        (lambda: world.fields.sample([(1, NAN)]), "points"),
        (lambda: world.fields.sample([(1, 2)], time=NAN), "time"),
        (lambda: world.fields.body_velocities([(0, NAN)], [(0, 0)], [1], 0.1, 0), "positions"),
        (lambda: world.fields.body_velocities([(0, 0)], [(0, INF)], [1], 0.1, 0), "velocities"),
        (lambda: world.fields.set_state([]), "state"),
    ):
        before = list(world.fields)
        refused(world, fields["gravity"], call, name, None)
        assert list(world.fields) == before
    assert len(Fields()) == 0


BOTH = {  # options of `burst` and `emitter` alike
    "direction": [NAN, "up", INF],
    "spread": [-1, 7, NAN, "wide"],
    "speed": [NAN, (5, 1), (1, 2, 3), "fast", INF],
    "velocity": [(1,), (NAN, 0), "east", 5],
    "inherit": [NAN, "all", 11],
    "lifetime": [0, -1, NAN, (2, 1), "long"],
    "spin": [NAN, (2, 1), "round"],
    "size": [-1, NAN, (2, 1), "big"],
    "angle": [NAN, (2, 1), "north"],
    "body": [3, "b"],
}
SETTINGS = {
    "mass": [0, -1, NAN, INF, "heavy", None],
    "gravity_scale": [NAN, INF, "some", None],
    "lifetime": [0, NAN, (2, 1), "long", None],
    "spin": [NAN, (2, 1), "round"],
    "on_hit": ["explode", 3, None],
    "bounce": [-0.1, 1.1, NAN, "high"],
    "radius": [0, -1, NAN, INF, "r"],
    "friction": [-1, NAN, "f"],
    "damping": [-1, NAN, "d"],
    "elasticity": [-1, 2, NAN],
    "friction_rule": ["sum", 3],
    "filter": [3, None],
}
BIRTH = {
    "capacity": [0, -1, 2.5, "many", 5_000_000, True],
    "trail": [-1, 65, 1.5],
    "trail_every": [0, 1.5, 2000],
    "seed": [-1, 1.5, 2**64],
    "report_contacts": ["yes", 1, None],
    "size": [-1, NAN, "big", [], [(0.5, 1), (0.2, 3)], (1, NAN)],
    "color": [(300, 0, 0), (1, 2), "red", NAN, [], [(0, 0, 0), (0, 0)]],
    "alpha": [2, -0.1, NAN, [], [(0, 1), (2, 1)]],
}


def test_no_setting_of_a_pool_takes_what_is_wrong(running):
    world, _, pool, _ = running
    for name, values in SETTINGS.items():
        for value in values:
            refused(world, pool, lambda n=name, v=value: setattr(pool, n, v), name, value)
            if (name, value) != ("filter", None):  # there, None means everything
                with pytest.raises((TypeError, ValueError), match=name):
                    Particles(**{name: value})
    for name, values in BIRTH.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=name):
                Particles(**{name: value})
    for name in ("size", "color", "alpha"):
        for value in BIRTH[name]:
            refused(world, pool, lambda n=name, v=value: pool.look(**{"size": 3, n: v}), name, None)


def test_no_birth_takes_what_is_wrong(running):
    world, _, pool, _ = running
    for name, values in BOTH.items():
        for value in values:
            refused(world, pool, lambda n=name, v=value: pool.burst(5, (0, 0), **{n: v}), name, value)
            refused(world, pool, lambda n=name, v=value: pool.emitter((0, 0), 5, **{n: v}), name, value)
    for call, name, value in (
        (lambda: pool.burst(-1, (0, 0)), "count", -1),
        (lambda: pool.burst(2.5, (0, 0)), "count", 2.5),
        (lambda: pool.burst(5, "there"), "place", "there"),
        (lambda: pool.burst(5, (0, NAN)), "place", None),
        (lambda: pool.burst(5, (0, 0), hue=3), "hue", None),
        (lambda: pool.emitter((0, 0), NAN), "rate", NAN),
        (lambda: pool.emitter((0, 0), -1), "rate", -1),
        (lambda: pool.emitter(3, 5), "place", 3),
        (lambda: pool.add([(0, NAN)]), "points", None),
        (lambda: pool.add([(0, 0, 0)]), "points", None),
        (lambda: pool.add("p"), "points", "p"),
        (lambda: pool.add([(0, 0)], [(0, 0), (1, 1)]), "velocities", None),
        (lambda: pool.add([(0, 0)], [(0, INF)]), "velocities", None),
        (lambda: pool.add([(0, 0)], lifetime=-1), "lifetime", -1),
        (lambda: pool.scrape([], per_impulse=-1), "per_impulse", -1),
        (lambda: pool.scrape([], most=-1), "most", -1),
        (lambda: pool.scrape([], least=NAN), "least", NAN),
        (lambda: pool.scrape([], speed=(5, 1)), "speed", None),
        (lambda: pool.scrape([], spread=9), "spread", 9),
        (lambda: pool.remove([1.5]), "where", None),
        (lambda: pool.remove("all"), "where", "all"),
        (lambda: pool.remove([pool.count]), "where", None),
        (lambda: pool.remove(np.ones(3, bool)), "where", None),
        (lambda: Source.line((0, 0), (NAN, 1)), "end", None),
        (lambda: Source.disc((0, 0), -1), "radius", -1),
        (lambda: Source.ring((0, "y"), 1), "center", None),
        (lambda: Source.rect(0, 0, -1, 1), "width", -1),
        (lambda: Source.surface("shape"), "shape", "shape"),
        (lambda: Source.surface(pymunk.Circle(None, 3)), "shape", None),
    ):
        refused(world, pool, call, name, value)


def test_no_setting_of_an_emitter_takes_what_is_wrong(running):
    world, _, _, stream = running
    for name, values in {
        "rate": [-1, NAN, INF, "fast", None],
        "enabled": ["no", 1, None],
        "position": [(1,), (NAN, 0), "there", 3, None],
        "body": [3, "b"],
    }.items():
        for value in values:
            refused(world, stream, lambda n=name, v=value: setattr(stream, n, v), name, value)
