"""Fields as an API: sampling, regions, filters, changes while running, bad input, bits."""

import gc
import inspect
import math
import re
import weakref

import numpy as np
import pymunk
import pytest

import softkit
from softkit import fields as module
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
    Stir,
    Vortex,
    Whirl,
    Wind,
)
from tests.field_kinds import DISCS, MAKERS, MAP, NAMES, cloud, every_disc, every_kind


@every_kind
@pytest.mark.parametrize("dim", [2, 3])
def test_sample_takes_arrays_lists_and_single_points(make, dim):
    points, velocities = cloud(5, dim)
    many = make().sample(points, velocities, 0.3)
    assert many.shape == points.shape and many.dtype == np.float64
    assert np.array_equal(make().sample(points.tolist(), velocities.tolist(), 0.3), many)
    assert np.array_equal(make().sample(tuple(points[2]), tuple(velocities[2]), 0.3), many[2])
    assert make().sample(np.zeros((0, dim))).shape == (0, dim)


@every_kind
@pytest.mark.parametrize("dim", [2, 3])
def test_a_step_does_what_sample_says(make, dim):
    """The first-order change of a short step is the sample (for a flow: rate * (sample - v))."""
    points, velocities = cloud(700, dim)
    field = make()
    fields = Fields()
    fields.add(field)
    v, h = velocities.copy(), 1e-7
    fields.apply(None, points, v, None, h, 0.3)
    said = field.sample(points, velocities, 0.3)
    if field.kind == "flow":
        said = field.rate * (said - velocities)
    assert (v - velocities) / h == pytest.approx(said, rel=1e-4, abs=1e-4)


@every_kind
@pytest.mark.parametrize("dim", [2, 3])
def test_the_same_bits_at_any_thread_count(make, dim):
    points, velocities = cloud(20_001, dim)
    w = np.where(np.arange(20_001) % 7 == 0, 0.0, 0.5)
    results = []
    for threads in (1, 2, 4, 8):
        fields = Fields()
        fields.add(make(region=(-100, -100, 450, 450), falloff="smooth"), Wind((5, 5)))
        v = velocities.copy()
        for i in range(3):
            fields.apply(None, points, v, w, 1 / 60, i / 60, threads, (0, 900))
        results.append(v.tobytes())
    assert len(set(results)) == 1


@every_kind
def test_strided_rows_give_what_packed_ones_give(make):
    points, velocities = cloud(600)
    wide_x, wide_v = np.full((600, 4), 7.0), np.full((600, 4), 7.0)
    wide_x[:, :2], wide_v[:, :2] = points, velocities
    packed = velocities.copy()
    for x, v in ((points, packed), (wide_x[:, :2], wide_v[:, :2])):
        fields = Fields()
        fields.add(make())
        fields.apply(None, x, v, None, 1 / 60, 0.2)
    assert np.array_equal(wide_v[:, :2], packed)
    assert np.all(wide_v[:, 2:] == 7.0)


@every_kind
def test_nothing_happens_outside_the_region(make):
    points, velocities = cloud(2000)
    area = Region.disc((100, 100), 150)
    field = make(region=area, falloff="linear")
    inside = np.hypot(*(points - 100).T) < 150
    fields = Fields()
    fields.add(field)
    v = velocities.copy()
    fields.apply(None, points, v, None, 1 / 60, 0.2)
    assert np.array_equal(v[~inside], velocities[~inside])
    assert np.any(v[inside] != velocities[inside])
    assert not field.sample(points, velocities)[~inside].any()


FALLOFFS = {
    "none": lambda t: (t > 0).astype(float),
    "linear": lambda t: t,
    "smooth": lambda t: t * t * (3 - 2 * t),
    "square": lambda t: t * t,
}


@every_kind
@pytest.mark.parametrize("falloff", FALLOFFS)
@pytest.mark.parametrize("area", ["disc", "rect"])
def test_every_kind_fades_by_its_falloff(make, falloff, area):
    """What a region lets through is the endless field times the weight: of the vector, and for a flow in a
    step of the rate."""
    points, velocities = cloud(500)
    region = Region.disc((100, 100), 180) if area == "disc" else (-80, -80, 360, 360)
    depth = 180 - (np.hypot(*(points - 100).T) if area == "disc" else np.abs(points - 100).max(axis=1))
    weight = FALLOFFS[falloff](np.clip(depth / 70, 0, 1))[:, None]
    field, plain = make(region=region, falloff=falloff, fade=70), make()
    assert field.weights(points) == pytest.approx(weight[:, 0], abs=1e-12)
    got, whole = (f.sample(points, velocities, 0.2) for f in (field, plain))
    assert got == pytest.approx(weight * whole, rel=1e-12, abs=1e-9)
    v, h = velocities.copy(), 1e-7
    fields = Fields()
    fields.add(field)
    fields.apply(None, points, v, None, h, 0.2)
    said = weight * (field.rate * (whole - velocities) if field.kind == "flow" else whole)
    assert (v - velocities) / h == pytest.approx(said, rel=1e-4, abs=1e-3)


@every_disc
@pytest.mark.parametrize("falloff", FALLOFFS)
def test_fields_with_a_reach_of_their_own_fade_toward_it(make, falloff):
    points, velocities = cloud(2000)
    depth = 150 - np.hypot(*(points - 100).T)
    weight = FALLOFFS[falloff](np.clip(depth / 150, 0, 1))
    field = make(falloff=falloff)
    assert field.weights(points) == pytest.approx(weight, abs=1e-12)
    v = velocities.copy()
    field.relax(points, v, 1 / 60, 0.0)
    assert np.array_equal(v[depth <= 0], velocities[depth <= 0]) and np.any(
        v[depth > 0] != velocities[depth > 0]
    )
    with pytest.raises(TypeError, match="region is the disc"):
        field.region = (0, 0, 5, 5)
    with pytest.raises(TypeError, match="region"):
        make(region=(0, 0, 5, 5))
    assert field.region == Region.disc((100, 100), 150)


@pytest.mark.parametrize("falloff", FALLOFFS)
def test_an_explosion_fades_and_its_region_is_its_own(falloff):
    points = np.stack([np.linspace(1, 250, 400), np.zeros(400)], axis=1)
    blast = Explosion((0, 0), 300, 200, falloff=falloff, fade=80)
    got = blast.sample(points)[:, 0]
    assert got == pytest.approx(300 * FALLOFFS[falloff](np.clip((200 - points[:, 0]) / 80, 0, 1)), abs=1e-9)
    with pytest.raises(TypeError, match="region is the disc"):
        blast.region = (0, 0, 5, 5)


def test_a_whirl_has_a_reach_or_a_region():
    whirl = Whirl((0, 0), region=(0, 0, 100, 100))
    with pytest.raises(TypeError, match="reach.*50"):
        whirl.reach = 50
    assert whirl.reach is None and whirl.region == Region.rect(0, 0, 100, 100)
    whirl.region = None
    whirl.reach = 50
    assert whirl.weights([(0, 60)])[0] == 0
    whirl.reach = None
    whirl.region = (0, 0, 1, 1)
    assert whirl.region == Region.rect(0, 0, 1, 1)


def test_a_flow_map_ends_at_its_rect_whatever_its_region():
    flow = FlowMap(MAP, (0, 0, 80, 60), 5, region=(-50, -50, 100, 100))
    inside, beyond_map, beyond_region = flow.sample([(40, 40), (-10, 10), (60, 10)])
    assert inside.any() and not beyond_map.any() and not beyond_region.any()
    flow.region = None
    assert flow.sample((60, 10)).any() and not flow.sample((-10, 10)).any()


@pytest.mark.parametrize("falloff", ["none", "linear", "smooth", "square"])
@pytest.mark.parametrize(
    "area",
    [
        Region.disc((0, 0), 100),
        Region.ball((0, 0, 0), 100),
        Region.rect(-100, -100, 200, 200),
        Region.box((-100,) * 3, (100,) * 3),
    ],
    ids=["disc", "ball", "rect", "box"],
)
def test_falloff_rises_from_the_edge_to_one(falloff, area):
    x = np.linspace(-120, 0, 241)
    line = np.stack([x, 0 * x, 0 * x], axis=1)
    got = Gravity((0, 1), region=area, falloff=falloff, fade=40).weights(line)
    assert got == pytest.approx(FALLOFFS[falloff](np.clip((x + 100) / 40, 0, 1)), abs=1e-12)


def test_prisms_are_endless_in_z_and_balls_are_not():
    high = np.array([[0.0, 0.0, 1e4]])
    assert Gravity(region=Region.disc((0, 0), 5)).weights(high)[0] == 1
    assert Gravity(region=(-5, -5, 10, 10)).weights(high)[0] == 1
    assert Gravity(region=Region.ball((0, 0), 5)).weights(high)[0] == 0
    assert Gravity(region=Region.box((-5, -5, -5), (5, 5, 5))).weights(high)[0] == 0


class Thing:
    def __init__(self, **filter_):
        self.filter = pymunk.ShapeFilter(**filter_)


def test_targets_filter_and_switch():
    a, b = Thing(), Thing(categories=2)
    assert Gravity().acts_on(a)
    assert not Gravity(enabled=False).acts_on(a)
    assert Gravity(targets=[a]).acts_on(a) and not Gravity(targets=[a]).acts_on(b)
    assert Gravity(targets=[Thing]).acts_on(b) and not Gravity(targets=[int]).acts_on(b)
    only_two = Gravity(filter=pymunk.ShapeFilter(mask=2))
    assert only_two.acts_on(b) and not only_two.acts_on(Thing(categories=1))
    assert not Gravity(filter=pymunk.ShapeFilter(categories=4)).acts_on(Thing(mask=3))
    assert not Gravity(filter=pymunk.ShapeFilter(group=3)).acts_on(Thing(group=3))
    assert Gravity(filter=pymunk.ShapeFilter(group=3)).acts_on(Thing(group=4))


SWITCHED = [*MAKERS, *DISCS, lambda **k: Explosion((100, 100), 900, 400, **k)]


@pytest.mark.parametrize("make", SWITCHED, ids=[*NAMES, "stir", "reach", "explosion"])
def test_every_kind_is_switched_filtered_and_aimed(make):
    """On and off, the filter both ways, targets by object and by class, and pymunk bodies, kind by kind."""
    (x, speeds), here, other = cloud(40), Thing(categories=2), Thing(categories=1)
    x = 100 + x / 10
    field, fields = make(), Fields()
    fields.add(field)
    time = [0.0]

    def acts(obj):
        v = speeds.copy()
        time[0] += 1.0
        if hasattr(field, "fire"):
            field.fire()
        fields.begin_step(time[0])
        fields.apply(obj, x, v, None, 1 / 60, time[0])
        return not np.array_equal(v, speeds)

    assert acts(here) and acts(other)
    field.enabled = False
    assert not acts(here)
    field.enabled = True
    field.filter = pymunk.ShapeFilter(mask=2)
    assert acts(here) and not acts(other)
    field.filter = pymunk.ShapeFilter(categories=4)
    here.filter = pymunk.ShapeFilter(mask=3)
    assert not acts(here)
    field.filter = None
    field.targets = [other]
    assert acts(other) and not acts(here)
    field.targets = [Thing]
    assert acts(other) and acts(here)
    field.targets = [int]
    assert not acts(here)
    field.targets = None

    def pushes():
        time[0] += 1.0
        if hasattr(field, "fire"):
            field.fire()
        fields.begin_step(time[0])
        return fields.body_velocities(x, speeds, np.ones(40), 1 / 60, time[0]).any()

    assert not pushes()
    field.bodies = True
    assert pushes()
    field.enabled = False
    assert not pushes()


def test_an_explosion_fires_in_its_step_or_not_at_all():
    """With nothing there, or switched off, it does not wait for the first that comes."""
    world = softkit.World(pymunk.Space())
    blast = world.fields.add(Explosion((0, 0), 100, 100))
    blast.fire()
    world.update(1 / 60)
    late = world.add(softkit.Particles(5, lifetime=100))
    late.add([(0, 50)])
    world.update(1 / 60)
    assert not late.velocities.any()
    blast.enabled = False
    blast.fire()
    world.update(1 / 60)
    blast.enabled = True
    world.update(1 / 60)
    assert not late.velocities.any()
    blast.fire()
    world.update(1 / 60)
    assert late.velocities[0] == pytest.approx([0, 50])


def test_fields_do_not_keep_removed_objects_alive():
    world = softkit.World()
    world.fields.add(Gravity())
    gone = []
    for _ in range(20):
        rope = world.add(softkit.Rope((0, 0), (10, 0), segments=2))
        gone.append(weakref.ref(rope))
        world.update(1 / 60)
        world.remove(rope)
    del rope
    world.update(1 / 60)
    gc.collect()
    assert sum(ref() is not None for ref in gone) <= 1


def test_container_follows_every_change():
    fields, thing, x = Fields(), Thing(), np.zeros((1, 2))
    gravity = fields.add(Gravity((0, 10)))

    def gained():
        v = np.zeros((1, 2))
        fields.apply(thing, x, v, None, 1.0, 0.0)
        return v[0, 1]

    seen = [fields.version]

    def bumped():
        seen.append(fields.version)
        return seen[-1] > seen[-2]

    assert gained() == 10
    gravity.acceleration = (0, 20)
    assert bumped() and gained() == 20
    gravity.enabled = False
    assert bumped() and gained() == 0 and not fields.reaches(thing)
    gravity.enabled = True
    gravity.region = (50, 50, 10, 10)
    assert bumped() and gained() == 0
    gravity.region = None
    gravity.filter = pymunk.ShapeFilter(mask=2)
    thing.filter = pymunk.ShapeFilter(categories=1)
    assert bumped() and gained() == 0
    thing.filter = pymunk.ShapeFilter(categories=2)
    assert gained() == 20
    other = fields.add(Push((0, 5)), LinearDrag(0.0))
    assert bumped() and gained() == 25 and len(fields) == 3 and other[0] in fields
    fields.remove(*other)
    assert bumped() and gained() == 20
    fields.clear()
    assert bumped() and gained() == 0 and list(fields) == []
    gravity.acceleration = (0, 30)
    assert not bumped()


def test_container_refuses_what_it_cannot_hold():
    fields, gravity = Fields(), Gravity()
    fields.add(gravity)
    with pytest.raises(ValueError, match=r"fields\[0\]"):
        fields.add(gravity)
    fresh = Push()
    with pytest.raises(TypeError, match=r"fields\[1\].*7"):
        fields.add(fresh, 7)
    assert fresh not in fields
    with pytest.raises(ValueError, match=r"fields\[0\]"):
        fields.remove(fresh)


def test_many_attractors_in_one_pass_are_the_sum_of_each():
    rng = np.random.default_rng(2)
    points, _ = cloud(1000)
    many = [Attractor(p, s) for p, s in zip(rng.uniform(-300, 300, (300, 2)), rng.uniform(-1e6, 1e6, 300))]
    fields = Fields()
    fields.add(*many)
    v = np.zeros_like(points)
    fields.apply(None, points, v, None, 1.0, 0.0)
    assert v == pytest.approx(sum(a.sample(points) for a in many), rel=1e-9, abs=1e-9)


BAD = [
    (lambda: Gravity((0, math.nan)), ValueError, r"acceleration\[1\].*nan"),
    (lambda: Gravity((0,)), ValueError, "acceleration"),
    (lambda: Gravity("up"), TypeError, "acceleration.*'up'"),
    (lambda: Attractor((0, 0), softening=0), ValueError, "softening.*0"),
    (lambda: Attractor((0, 0), strength=math.inf), ValueError, "strength.*inf"),
    (lambda: Attractor((0, 0), strength="x"), TypeError, "strength.*'x'"),
    (lambda: Vortex((0, 0), core=-1), ValueError, "core.*-1"),
    (lambda: Vortex((0, 0), axis=(0, 0, 0)), ValueError, "axis"),
    (lambda: Wind((math.nan, 0)), ValueError, r"velocity\[0\]"),
    (lambda: Wind(gust=-1), ValueError, "gust"),
    (lambda: Wind(seed=1.5), TypeError, "seed"),
    (lambda: Wind(frequency=math.nan), ValueError, "frequency"),
    (lambda: LinearDrag(-1), ValueError, "rate.*-1"),
    (lambda: LinearDrag(math.nan), ValueError, "rate.*nan"),
    (lambda: QuadraticDrag(math.inf), ValueError, "drag.*inf"),
    (lambda: Damping(1.5), ValueError, "keep.*1.5"),
    (lambda: CurlNoise(scale=0), ValueError, "scale"),
    (lambda: CurlNoise(octaves=0), ValueError, "octaves"),
    (lambda: CurlNoise(octaves=9), ValueError, "octaves.*9"),
    (lambda: CurlNoise(seed=-1), ValueError, "seed"),
    (lambda: CurlNoise(scale=100, period=250), ValueError, "period"),
    (lambda: CurlNoise(scale=100).cache((0, 0, 1e6, 1e6)), ValueError, "cell"),
    (lambda: FlowMap(np.zeros((2, 2)), (0, 0, 1, 1)), ValueError, "vectors"),
    (lambda: FlowMap(np.full((2, 2, 2), np.nan), (0, 0, 1, 1)), ValueError, "vectors"),
    (lambda: FlowMap(np.zeros((2, 2, 2)), (0, 0, 0, 1)), ValueError, "width"),
    (lambda: Stir((0, 0)).move((0, 0), 0), ValueError, "dt"),
    (lambda: Stir((0, 0), region=(0, 0, 1, 1)), TypeError, "region"),
    (lambda: Explosion((0, 0), radius=0), ValueError, "radius"),
    (lambda: Custom(3), TypeError, "function"),
    (lambda: Custom(max, kind="wish"), ValueError, "kind.*wish"),
    (lambda: Gravity(region=3), TypeError, "region.*3"),
    (lambda: Gravity(region=(0, 0, 5)), ValueError, "region"),
    (lambda: Gravity(region=(0, 0, -5, 5)), ValueError, "width.*-5"),
    (lambda: Gravity(falloff="cubic"), ValueError, "falloff.*cubic"),
    (lambda: Gravity(fade=0), ValueError, "fade"),
    (lambda: Gravity(filter=3), TypeError, "filter.*3"),
    (lambda: Gravity(targets=int), TypeError, "targets"),
    (lambda: Region.disc((0, 0), 0), ValueError, "radius"),
    (lambda: Region.box((0, 0, 0), (1, 1, 0)), ValueError, "opposite"),
    (lambda: Gravity().sample([(0, math.inf)]), ValueError, "points.*index 0"),
    (lambda: Gravity().sample([[1, 2, 3, 4]]), ValueError, "points"),
    (lambda: Gravity().sample([(1, 2)], [(1, 2), (3, 4)]), ValueError, "velocities"),
    (lambda: Gravity().sample((1, 2), time=math.nan), ValueError, "time"),
]


@pytest.mark.parametrize(("call", "error", "text"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_input_is_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_refused_change_changes_nothing():
    magnet = Attractor((1, 2), 500, 5)
    version = magnet.version
    for name, value in (
        ("strength", math.nan),
        ("position", (1, math.inf)),
        ("softening", -1),
        ("region", 7),
    ):
        with pytest.raises((TypeError, ValueError), match=name):
            setattr(magnet, name, value)
    assert (magnet.strength, magnet.position, magnet.softening, magnet.region) == (500, (1, 2), 5, None)
    assert magnet.version == version


def test_extreme_fields_stay_finite():
    fields = Fields()
    fields.add(
        Attractor((0, 0), 1e15, 1e-3),
        Wind((1e12, -1e12), rate=math.inf),
        QuadraticDrag(1e12),
        Whirl((0, 0), 1e12),
        CurlNoise(strength=1e12, scale=1e-3),
        LinearDrag(1e15),
    )
    x = np.array([[0.0, 0.0], [1e-300, 0.0], [1e12, -1e12], [3.0, 4.0]])
    v = np.array([[0.0, 0.0], [1e12, 1e12], [0.0, -1e12], [1e-320, 0.0]])
    for h in (1e-9, 1 / 60, 1e3, 1e9):
        fields.apply(None, x, v, None, h, 1.0, gravity=(0, 1e6))
        assert np.isfinite(v).all()


def test_documented_defaults_are_the_coded_ones():
    checked = 0
    for cls in (
        Gravity,
        Push,
        Attractor,
        Vortex,
        Explosion,
        Wind,
        Whirl,
        Stir,
        FlowMap,
        CurlNoise,
        LinearDrag,
        Damping,
        QuadraticDrag,
    ):
        for name, parameter in inspect.signature(cls.__init__).parameters.items():
            said = re.search(
                rf"\b{name}: [^.]*?(?:\.\d[^.]*?)*default (\([^)]*\)|-?[\d.e]*\d)",
                " ".join(cls.__doc__.split()),
            )
            if said and parameter.default not in (inspect.Parameter.empty, None):
                checked += 1
                assert eval(said.group(1)) == parameter.default, f"{cls.__name__}.{name}"
    assert checked > 25


def test_everything_public_is_exported():
    assert all(hasattr(module, name) for name in module.__all__)
