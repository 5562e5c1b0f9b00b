"""Structures against formulas: elastic, plastic, breaking, conservation."""

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Material, Structure


def steps(world, count):
    for _ in range(count):
        world.update(world.step)


def energy(made, gravity=0.0):
    v = made.velocities
    moving = 0.5 * (made.masses * (v * v).sum(axis=1)).sum()
    return (
        moving
        + 0.5 * (made.tension**2 * made._link_soft).sum()
        - (made.masses * made.positions[:, 1]).sum() * gravity
    )


def spin(made):
    x, v = made.positions - made.center, made.velocities - made.velocity
    return float((made.masses * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])).sum())


def beam(columns, rows, material, gravity, held, **options):
    world = softkit.World(gravity=(0, gravity))
    made = world.add(Structure.from_tiles(np.ones((rows, columns), int), materials=[material], **options))
    for i in np.flatnonzero(held(made.rest_shape)):
        made.pin(int(i))
    return world, made


def test_column_shortens_by_its_weight():
    # sigma = rho g (H - y), shortening rho g H^2 / (2 E): held sideways by nothing, 10 cells high.
    material = Material(0.001, 2e-5, toughness=10, damping=5)
    world, made = beam(4, 10, material, 900.0, lambda p: p[:, 1] == 200)
    steps(world, 300)
    top = made.positions[made.rest_shape[:, 1] == 0, 1].mean()
    # The held base does not widen: a little stiffer than the free column.
    assert top == pytest.approx(0.001 * 900 * 200**2 / 2 * 2e-5, rel=0.1)


def test_cantilever_sag_goes_with_the_compliance():
    tips = []
    for compliance in (1e-6, 2e-6):
        material = Material(0.001, compliance, toughness=10, damping=5)
        world, made = beam(12, 2, material, 900.0, lambda p: p[:, 0] == 0)
        steps(world, 300)
        tips.append(made.positions[:, 1].max() - 40)
    assert tips[1] / tips[0] == pytest.approx(2, rel=0.02)
    # q L^4 / (8 E I) with the second moment of 40 x 1; two cells of depth are stiffer by up to a quarter.
    assert 0.7 < tips[0] / (0.036 * 1000 * 240**4 / (8e6 * 40**3 / 12)) < 1.0


def test_plastic_set_is_the_overshoot():
    # A bar is drawn to strain e, beyond its yield y, and let go: it keeps e - y.
    material = Material(0.001, 1e-5, yield_strain=0.02, toughness=1, ductility=0.2, damping=5)
    world, made = beam(10, 1, material, 0.0, lambda p: (p[:, 0] == 0) | (p[:, 0] == 200))
    ends = np.flatnonzero(made.rest_shape[:, 0] == 200)
    for k in range(1, 61):
        for i in ends.tolist():
            made.move(i, (200 + 0.2 * k, made.rest_shape[i, 1]))
        steps(world, 1)
    steps(world, 30)
    for i in ends.tolist():
        made.unpin(i)
    steps(world, 300)
    length = made.positions[ends, 0].mean() - made.positions[made.rest_shape[:, 0] == 0, 0].mean()
    assert length / 200 - 1 == pytest.approx(0.06 - 0.02, rel=0.05)
    assert len(made.breaks) == 0 and made.plastic_strain.max() <= 0.2


def test_no_set_below_the_yield():
    material = Material(0.001, 1e-5, yield_strain=0.05, toughness=1, ductility=0.2, damping=5)
    world, made = beam(10, 1, material, 0.0, lambda p: (p[:, 0] == 0) | (p[:, 0] == 200))
    for k in range(1, 61):
        for i in np.flatnonzero(made.rest_shape[:, 0] == 200).tolist():
            made.move(i, (200 + 0.1 * k, made.rest_shape[i, 1]))
        steps(world, 1)
    assert 0.025 < made.strain.max() < 0.05
    assert (made.plastic_strain == 0).all()


def first_break(world, made, most=400):
    for _ in range(most):
        world.update(world.step)
        if made.breaks:
            return np.array([b.place for b in made.breaks])
    raise AssertionError("nothing broke")


def test_cantilever_breaks_at_its_root():
    material = Material(0.0025, 1e-6, toughness=0.02, damping=4)
    world, made = beam(20, 2, material, 900.0, lambda p: p[:, 0] == 0)
    assert (first_break(world, made)[:, 0] <= 20).all()


def test_beam_on_two_supports_breaks_under_the_load():
    space = pymunk.Space()
    space.gravity = 0, 900
    world = softkit.World(space)
    made = world.add(Structure.from_tiles(np.ones((2, 21), int), materials=["stone"]))
    for i in np.flatnonzero((made.rest_shape[:, 1] == 40) & np.isin(made.rest_shape[:, 0], (0, 420))):
        made.pin(int(i))
    load = pymunk.Body(400, 1e6)
    load.position = 210, -12
    shape = pymunk.Circle(load, 8)
    space.add(load, shape)
    places = first_break(world, made)
    assert (np.abs(places[:, 0] - 210) <= 30).all()


def test_ductile_bends_where_brittle_breaks():
    brittle = Material(0.0025, 1e-6, toughness=0.02)
    ductile = Material(0.0025, 1e-6, yield_strain=0.015, ductility=0.3, toughness=0.03)
    left = []
    for material in (brittle, ductile):
        world, made = beam(20, 2, material, 900.0, lambda p: p[:, 0] == 0)
        steps(world, 200)
        left.append(made.piece_count)
    assert left[0] > 1 and left[1] == 1


def test_spin_is_kept_and_energy_does_not_rise():
    material = Material(0.001, 2.5e-6, toughness=10, damping=0)
    world, made = beam(10, 3, material, 0.0, lambda p: np.zeros(len(p), bool), damping=0)
    arm = made._x - made.center
    made._v[:] = 5 * np.stack([-arm[:, 1], arm[:, 0]], axis=1)
    before, turn = energy(made), spin(made)
    steps(world, 300)
    assert spin(made) == pytest.approx(turn, rel=1e-9)
    assert 0.99 * before < energy(made) <= before * (1 + 1e-6)


def test_pieces_have_the_momentum_of_the_whole():
    # Broken in flight by a blast from within: what the blast gives is the only change.
    world = softkit.World(gravity=(0, 0))
    made = world.add(Structure.from_tiles(np.ones((9, 9), int), materials=["glass"], damping=0))
    arm = made._x - made.center
    made._v[:] = 2 * np.stack([-arm[:, 1], arm[:, 0]], axis=1) + (300, -200)
    made.explode((70, 60), 60, 40_000)
    momentum, turn, most = np.array(made.velocity) * made.mass, spin(made), energy(made)
    size = (made.masses * np.hypot(*made.velocities.T)).sum()
    for _ in range(60):
        steps(world, 1)
        assert np.array(made.velocity) * made.mass == pytest.approx(momentum, abs=1e-6 * size)
        assert energy(made) <= most * (1 + 1e-6)
    assert made.piece_count > 1
    assert spin(made) == pytest.approx(turn, rel=1e-3, abs=1e-6 * size * 100)


def test_tower_stands_at_rest():
    space = pymunk.Space()
    space.gravity = 0, 900
    floor = pymunk.Segment(space.static_body, (-500, 5), (500, 5), 5)
    floor.friction = 1
    space.add(floor)
    world = softkit.World(space)
    made = world.add(Structure.from_tiles(np.ones((15, 5), int), materials=["wood"], origin=(0, -303)))
    steps(world, 240)
    links = len(made.links)
    assert links == 15 * 6 + 16 * 5 + 150 and np.abs(made.velocities).max() < 1.0
    # Base strain rho g H / E, that of the free column, in the inner sides of the lowest row.
    weight = 0.001 * 900 * 300 * 2.5e-6
    assert weight * 0.5 < np.abs(made.strain).max() < weight * 2.0


def test_hit_by_a_body_breaks_it_and_slows_the_body():
    space = pymunk.Space()
    world = softkit.World(space)
    made = world.add(Structure.from_tiles(np.ones((10, 3), int), materials=["glass"]))
    ball = pymunk.Body(20, 2000)
    ball.position, ball.velocity = (-60, 100), (800, 0)
    space.add(ball, pymunk.Circle(ball, 15))
    momentum = 20 * 800.0
    steps(world, 30)
    assert len(made.links) < 10 * 4 + 11 * 3 + 60
    assert ball.velocity.x < 800 and 20 * ball.velocity.x + made.mass * made.velocity[0] == pytest.approx(
        momentum, rel=0.02
    )


def test_an_unbroken_structure_does_not_grow():
    world, made = beam(10, 4, "wood", 900.0, lambda p: p[:, 0] == 0)
    steps(world, 5)
    before = {name: array.shape for name, array in made._arrays().items()}
    frames = len(world.snapshot())
    steps(world, 300)
    assert {name: array.shape for name, array in made._arrays().items()} == before
    assert abs(len(world.snapshot()) - frames) < 64
