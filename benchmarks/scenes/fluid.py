"""A dam breaks: a column of liquid falls over in its tank, at several sizes, with the density error
beside the time."""

import importlib.util
import math
from functools import partial

import numpy as np
import pymunk

import softkit
from benchmarks.scene import Contender, Scene, Still

SPACING, GRAVITY, DT = 4.0, 900.0, 1 / 60
SIZES = (2_000, 5_000, 10_000, 20_000, 40_000, 80_000)


def dam(count):
    """(n, 2) points and the tank's size: a column twice as high as wide in a 4:3 tank that it fills by 30
    %."""
    columns = round(math.sqrt(count / 2))
    rows = round(count / columns)
    width = math.sqrt(columns * rows / 0.3 / 0.75)
    size = width * SPACING, max(0.75 * width, rows + 2) * SPACING
    x = (np.arange(columns) + 0.5) * SPACING
    y = size[1] - (np.arange(rows) + 0.5) * SPACING
    return np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), size


class Softkit:
    def __init__(self, count):
        points, size = dam(count)
        self.world = softkit.World(gravity=(0, GRAVITY), step=DT)
        self.fluid = self.world.add(softkit.Fluid(spacing=SPACING, bounds=(0, 0, *size)))
        self.fluid.add(points)

    def frame(self):
        self.world.update(DT)

    def positions(self):
        return self.fluid.positions

    def densities(self):
        return self.fluid.density


class Circles:
    """The same as pymunk circles without friction: what stands in for liquid in a rigid engine."""

    def __init__(self, count):
        points, size = dam(count)
        self.space = pymunk.Space()
        self.space.gravity = (0, GRAVITY)
        for a, b in (((0, -9999), (0, size[1])), ((0, size[1]), size), (size, (size[0], -9999))):
            self.space.add(pymunk.Segment(self.space.static_body, a, b, 0))
        self.bodies = []
        for point in points.tolist():
            body = pymunk.Body(1, math.inf)
            body.position = point
            self.space.add(body, pymunk.Circle(body, SPACING / 2))
            self.bodies.append(body)

    def frame(self):
        self.space.step(DT)

    def positions(self):
        return np.array([body.position for body in self.bodies])

    def densities(self):
        return None


class Watched(Still):
    """Any of them, with an eye on the density of what lies under two thirds of the liquid."""

    def __init__(self, make, count, threads=None):
        self.threads = threads
        softkit.set_threads(threads)
        self.fluid = make(count)
        self.frame = self.fluid.frame

    def resume(self):
        softkit.set_threads(self.threads)

    def quality(self):
        density = self.fluid.densities()
        if density is None:
            return {}
        y = np.asarray(self.fluid.positions())[:, 1]
        inner = density[y > np.quantile(y, 1 / 3)]
        error = np.abs(inner - 1)
        return {"mean density": float(inner.mean()), "p95 error %": 100 * float(np.quantile(error, 0.95))}


def _contenders(count):
    out = [
        Contender("softkit", partial(Watched, Softkit, count), count, 2),
        Contender("softkit, 1 thread", partial(Watched, Softkit, count, 1), count, 2),
    ]
    if importlib.util.find_spec("numba"):
        out.append(
            Contender("numba PBF", partial(Watched, _numba, count), count, 2, "2 substeps x 4 iterations")
        )
    if count <= 5_000:
        out.append(Contender("pymunk circles", partial(Watched, Circles, count), count, 1))
    return out


def _numba(count):
    from benchmarks.peers.numba_pbf import Fluid

    points, size = dam(count)
    return Fluid(points, size, SPACING, GRAVITY, DT)


def scenes():
    return [
        Scene(
            f"fluid_{count}",
            f"Dam break of {count} particles",
            _contenders(count),
            "softkit",
            item="particle",
        )
        for count in SIZES
    ]
