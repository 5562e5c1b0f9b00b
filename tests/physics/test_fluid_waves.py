"""Sloshing of a tank of liquid against linear wave theory."""

import math

import numpy as np
import pytest

import softkit

G = 900.0


def test_sloshing_period():
    """w^2 = g k tanh(k h), k = pi / W, undamped: `settling` stops a wave this low at once."""
    softkit.set_threads(1)
    width, depth = 300, 120
    world = softkit.World(gravity=(0, G))
    fluid = world.add(softkit.Fluid(spacing=5, bounds=(0, 0, width, 300), settling=0, damping=0))
    fluid.fill((0, 300 - depth, width, depth))
    for _ in range(120):
        world.update(1 / 60)
    k = math.pi / width
    w = math.sqrt(G * k * math.tanh(k * depth))
    x = fluid.positions.copy()
    y = 300 - x[:, 1]
    kick = 0.12 * depth * w / math.sinh(k * depth)
    fluid.clear()
    fluid.add(
        x,
        kick * np.stack([np.sin(k * x[:, 0]) * np.cosh(k * y), np.cos(k * x[:, 0]) * np.sinh(k * y)], axis=1),
    )
    middle = []
    for _ in range(round(4 * 2 * math.pi / w * 60)):
        world.update(1 / 60)
        middle.append(fluid.positions[:, 0].mean() - width / 2)
    middle = np.array(middle)
    at = np.flatnonzero(middle[:-1] * middle[1:] < 0)
    zeros = (at + middle[at] / (middle[at] - middle[at + 1])) / 60
    assert len(zeros) > 5
    assert 2 * np.diff(zeros).mean() == pytest.approx(2 * math.pi / w, rel=0.05)
