"""Closed systems: linear momentum where ropes fall back to being solved in turn, and angular momentum."""

import sys
from pathlib import Path

import numpy as np
import pymunk
import pytest

import softkit

sys.path.insert(0, str(Path(__file__).parents[1] / "physics"))
from test_rope_momentum import chain_of_bodies, elastic, energy, joined, momentum, off_centre, pulled, thrown


@pytest.mark.parametrize("build", [pulled, off_centre, thrown, chain_of_bodies, joined, elastic])
@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 144])
def test_momentum_drifts_by_less_than_a_millionth_in_ten_seconds(build, step):
    space = pymunk.Space()
    world = softkit.World(space, step=step)
    build(space, world)
    p0, spin0, size0, turn0 = momentum(world)
    for _ in range(round(10 / step)):
        world.update(step)
    p, spin, size, turn = momentum(world)
    # The centre of all flies on: angular momentum about the origin is the difference of ever larger terms.
    assert np.abs(p - p0).max() <= 1e-6 * max(size, size0)
    assert abs(spin - spin0) <= 1e-6 * max(turn, turn0)


def test_no_energy_comes_from_nowhere_where_ropes_are_joined():
    space = pymunk.Space()
    world = softkit.World(space)
    joined(space, world)
    start = energy(world)
    for _ in range(600):
        world.update(1 / 60)
        assert energy(world) <= start * 1.02
