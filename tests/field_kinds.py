"""One of every kind of field, for the tests of fields."""

import numpy as np
import pytest

from softkit.fields import (
    Attractor,
    CurlNoise,
    Custom,
    Damping,
    FlowMap,
    Gravity,
    LinearDrag,
    Push,
    QuadraticDrag,
    Repeller,
    Stir,
    Vortex,
    Whirl,
    Wind,
)

MAP = np.random.default_rng(7).uniform(-1, 1, (6, 8, 2))


def cached_noise(**options):
    noise = CurlNoise(3, **options)
    noise.cache((-310, -310, 830, 830))
    return noise


MAKERS = [
    lambda **k: Gravity((10, 900), **k),
    lambda **k: Push((50, 0), **k),
    lambda **k: Attractor((100, 100), **k),
    lambda **k: Repeller((100, 100), **k),
    lambda **k: Vortex((100, 100), **k),
    lambda **k: Wind((120, 10), gust=0.5, **k),
    lambda **k: Whirl((100, 100), **k),
    lambda **k: CurlNoise(3, **k),
    lambda **k: LinearDrag(**k),
    lambda **k: QuadraticDrag(**k),
    lambda **k: Damping(**k),
    lambda **k: Custom(lambda p, v, t: -p, **k),
    lambda **k: Custom(lambda p, v, t: 0 * p + (50, 7, 3)[: p.shape[1]], "flow", 2, **k),
    lambda **k: FlowMap(MAP, (-300, -300, 800, 800), 40, **k),
    lambda **k: FlowMap(MAP, (0, 0, 90, 120), 40, repeat=True, **k),
    lambda **k: cached_noise(**k),
]
NAMES = [
    "gravity",
    "push",
    "attractor",
    "repeller",
    "vortex",
    "wind",
    "whirl",
    "curl",
    "linear",
    "quadratic",
    "damping",
    "custom",
    "custom flow",
    "map",
    "tiled map",
    "cached curl",
]
# fields whose region is the disc of their own size: 150 round (100, 100)
DISCS = [
    lambda **k: Stir((100, 100), 150, (90, 20), **k),
    lambda **k: Whirl((100, 100), reach=150, **k),
]
every_disc = pytest.mark.parametrize("make", DISCS, ids=["stir", "whirl with a reach"])
every_kind = pytest.mark.parametrize("make", MAKERS, ids=NAMES)


def cloud(n=3000, dim=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-300, 500, (n, dim)), rng.uniform(-200, 200, (n, dim))
