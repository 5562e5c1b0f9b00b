"""Ropes treated badly: whatever the start, finite, no energy from nowhere, and their own length again."""

import math

import numpy as np
import pytest

import softkit

G = 900.0


def rope_of(points, world, *, length=None, held=(0,), load=None, **options):
    rope = world.add(softkit.Rope.through(points, rest_length=length, damping=0, **options))
    for i in held:
        rope.pin(i)
    if load:
        rope.set_mass(-1, load)
    return rope


def zigzag(segments, length=400.0, flat=0.5):
    link = length / segments
    k = np.arange(segments + 1)
    return np.stack([(k % 2) * link * flat, k * link * math.sqrt(1 - flat * flat)], axis=1)


def run(world, rope, seconds, substeps=8):
    """Step, assert finiteness, and give back the energies (per rope weight and length) and the stretches seen."""
    h = 1 / 60 / substeps
    scale = rope.mass * G * rope.rest_length
    free = rope.inverse_mass[:, None] > 0
    energies, stretches = [], []
    for _ in range(round(60 * seconds)):
        world.update(1 / 60)
        assert np.isfinite(rope.positions).all() and np.isfinite(rope.velocities).all()
        v, m = rope.velocities, rope.masses[:, None]
        e = m * free * (0.5 * v * v - (rope.positions - 0.5 * h * v) * world.gravity)
        energies.append(float(e.sum()) / scale)
        stretches.append(rope.stretch)
    return np.array(energies), np.array(stretches)


@pytest.mark.parametrize("load", [None, 1.0, 1000.0])
@pytest.mark.parametrize("segments, flat", [(20, 1.0), (20, 0.5), (200, 0.5), (1000, 0.5)])
def test_zigzag_start(segments, flat, load):
    """A concertina, folded flat or half open: never more than 1 % of its weight times length above the start."""
    world = softkit.World(gravity=(0, G))
    start = zigzag(segments, flat=flat)
    rope = rope_of(start, world, load=load)
    first = -float((rope.masses[1:] * start[1:, 1]).sum()) / (rope.mass * rope.rest_length)
    energies, stretches = run(world, rope, 2)
    assert energies.max() < first + 0.015
    assert np.abs(stretches).max() < 0.02
    rope.damping = 10
    _, stretches = run(world, rope, 2)
    assert abs(stretches[-1]) < 0.005


@pytest.mark.parametrize("segments", [20, 200, 1000])
@pytest.mark.parametrize("held", [(), (0,), (0, -1)])
def test_nodes_thrown_apart(segments, held):
    """Every node on its own way at up to 5,000 wu/s: the links take energy out, none comes in."""
    world = softkit.World(gravity=(0, G))
    rope = rope_of(zigzag(segments), world, held=held)
    thrown = np.random.default_rng(0).uniform(-5000, 5000, (segments + 1, 2)) * (
        rope.inverse_mass[:, None] > 0
    )
    rope._v[:] = thrown
    first = 0.5 * float((rope.masses[:, None] * thrown**2).sum()) / (rope.mass * G * rope.rest_length)
    energies, stretches = run(world, rope, 1.5)
    assert energies.max() < first
    assert abs(stretches[-1]) < 0.02


@pytest.mark.parametrize("segments", [20, 200])
@pytest.mark.parametrize("span", [300.0, 390.0, 400.0])
def test_held_at_both_ends(segments, span):
    """With slack, nearly taut and just taut; begun 10 % too long."""
    world = softkit.World(gravity=(0, G))
    arc = [(span * t, 130 * math.sin(math.pi * t)) for t in np.linspace(0, 1, segments + 1)]
    rope = rope_of(arc, world, length=400.0, held=(0, -1))
    _, stretches = run(world, rope, 3)
    assert abs(stretches[-1]) < 0.005


@pytest.mark.parametrize("segments", [20, 200])
def test_pulled_longer_than_it_is(segments):
    """Pins twice as far apart as the rope is long: straight, the excess shared out; slack again when they return."""
    world = softkit.World(gravity=(0, G))
    rope = rope_of([(0, 0), (800, 0)], world, segments=segments, length=400.0, held=(0, -1))
    run(world, rope, 1)
    assert rope.stretch == pytest.approx(1.0, abs=0.01)
    links = np.hypot(*np.diff(rope.positions, axis=0).T)
    assert links.max() / links.min() < 1.5
    for i in range(60):
        rope.move(-1, (800 - 500 * (i + 1) / 60, 0))
        run(world, rope, 1 / 60)
    _, stretches = run(world, rope, 2)
    assert abs(stretches[-1]) < 0.005
    assert np.abs(rope.velocities).max() < 3000


@pytest.mark.parametrize("segments", [3, 20, 200])
def test_all_nodes_in_one_place(segments):
    """Links without a direction: a fixed one is chosen, the rope unfolds, the same way each time."""
    ends = []
    for _ in range(2):
        world = softkit.World(gravity=(0, G))
        rope = rope_of([(0, 0)] * (segments + 1), world, length=200.0)
        run(world, rope, 3)
        ends.append(rope.positions.copy())
    assert (ends[0] == ends[1]).all()
    assert rope.length > 100.0


@pytest.mark.parametrize("length", [1e-4, 1e-6])
def test_almost_no_length(length):
    """No gravity: rests; with gravity: hangs where it is pinned."""
    for g in (0.0, G):
        world = softkit.World(gravity=(0, g))
        rope = rope_of([(5000, 5000)] * 11, world, length=length)
        run(world, rope, 2)
        assert np.abs(rope.positions - 5000).max() < 0.1
        if g == 0.0:
            assert np.abs(rope.velocities).max() < 1.0


@pytest.mark.parametrize("stiffness", [1e1, 1e4, 1e7])
@pytest.mark.parametrize("segments", [20, 200])
def test_stiff_rope_released_and_folded(segments, stiffness):
    """Bending and links in one solve: stable from limp to rod, released sideways and bent double."""
    world = softkit.World(gravity=(0, G))
    rope = rope_of([(0, 0), (400, 0)], world, segments=segments, load=10.0, bend_compliance=1 / stiffness)
    energies, stretches = run(world, rope, 2)
    assert energies.max() < 0.01
    assert np.abs(stretches).max() < 0.02
    world = softkit.World(gravity=(0, G))
    arc = [(200 * math.sin(a), 200 - 200 * math.cos(a)) for a in np.linspace(0, 3, segments + 1)]
    rope = rope_of(arc, world, bend_compliance=1 / stiffness)
    _, stretches = run(world, rope, 2)
    assert np.abs(stretches).max() < 0.02


def test_far_from_the_origin():
    """A million wu away the same rope moves the same way, within what the coordinates can hold."""
    ends = []
    for x in (0.0, 1e6):
        world = softkit.World(gravity=(0, G))
        rope = rope_of([(x, 0), (x + 400, 0)], world, segments=100, load=50.0)
        run(world, rope, 1.5)
        ends.append(rope.positions - (x, 0))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-3)


@pytest.mark.parametrize("light", [1e-3, 1e3])
def test_mass_ratio_inside_the_rope(light):
    """One node a thousand times heavier, or all but one: the rope keeps its length and swings."""
    world = softkit.World(gravity=(0, G))
    rope = rope_of([(0, 0), (400, 0)], world, segments=40)
    share = rope.masses[20]
    if light < 1:
        rope.set_mass(20, 1000 * share)
    else:
        for i in [k for k in range(1, 41) if k != 20]:
            rope.set_mass(i, 1000 * share)
    energies, stretches = run(world, rope, 3)
    assert np.abs(stretches).max() < 0.02
    assert energies.max() < 0.01
