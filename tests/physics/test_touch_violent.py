"""Soft things that touch at any speed and any length of step stay whole."""

import numpy as np
import pytest

import softkit

SoftBody = softkit.SoftBody


def thrown(step, speed, mass):
    world = softkit.World(gravity=(0, 900), step=step)
    a = world.add(SoftBody.circle((0, 0), 20, segments=24, mass=mass))
    b = world.add(SoftBody.circle((45, 3), 20, segments=16))
    block = world.add(SoftBody.lattice(5, 3, origin=(-10, 40), spacing=12))
    rope = world.add(softkit.Rope((-100, 30), (100, 25), segments=30, mass=0.1))
    a.apply_impulse((min(speed * mass, 1e12), 0))
    b.apply_impulse((-speed, speed))
    block.apply_impulse((0, -speed))
    return world, (a, b, block, rope)


@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("speed", [100.0, 1e4, 1e9])
@pytest.mark.parametrize("step", [1 / 240, 1 / 60, 1.0])
def test_stay_finite_and_below_the_cap(step, speed, mass):
    world, objects = thrown(step, speed, mass)
    world.update(step)
    start = max(np.abs(obj.positions).max() for obj in objects)
    for k in range(90):
        world.update(step)
        for obj in objects:
            assert np.isfinite(obj.positions).all()
            # ropes keep their own cap a factor looser while a step runs
            assert np.linalg.norm(obj.velocities, axis=1).max() <= 1.0001 * world.max_speed
            assert np.abs(obj.positions).max() <= start + 1.01 * world.max_speed * step * (k + 1)
    if speed > 1e6:
        assert world.health.speeds_capped > 0
