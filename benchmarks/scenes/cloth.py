"""Sheets hang by two corners: time, and how far they stretch."""

import importlib.util
from dataclasses import dataclass
from functools import partial

import numpy as np
import pymunk

import softkit
from benchmarks import runner
from benchmarks.peers import numpy_cloth
from benchmarks.scene import Contender, Scene, Still
from softkit.fields import Wind

SUBSTEPS = 8


@dataclass(frozen=True)
class Layout:
    """n x n particles, lengths in wu."""

    n: int
    spacing: float = 5.0
    gravity: float = 900.0
    dt: float = 1 / 60

    @property
    def constraints(self):
        """Stretch, shear and bending."""
        n = self.n
        return 2 * n * (n - 1) + 2 * (n - 1) ** 2 + 2 * n * (n - 2)


class Softkit:
    """The sheet through softkit's public API; `extras`: wind, a ball to hang over, self-collision."""

    def __init__(self, layout, substeps=SUBSTEPS, extras=False):
        n, self.dt = layout.n, layout.dt
        self.world = softkit.World(step=layout.dt, substeps=substeps, gravity=(0, layout.gravity))
        pins = [(0, 0), (-1, 0)]
        self.cloth = softkit.Cloth(n, n, spacing=layout.spacing, pinned=pins, self_collision=extras)
        self.world.add(self.cloth)
        if extras:
            middle = layout.spacing * n / 2
            self.world.add(softkit.Sphere((middle, middle, -0.2 * middle), 0.3 * middle))
            self.world.fields.add(Wind(velocity=(60, 0, -300), gust=0.5))

    def frame(self):
        self.world.update(self.dt)

    def positions(self):
        return self.cloth.positions


class Chains:
    """pymunk bodies and PinJoints, in the plane."""

    def __init__(self, layout, steps=4, iterations=10):
        n = layout.n
        self.space, self.steps, self.dt = pymunk.Space(), steps, layout.dt
        self.space.gravity, self.space.iterations = (0, layout.gravity), iterations
        self.bodies = []
        for i in range(n * n):
            kind = pymunk.Body.STATIC if i in (0, n - 1) else pymunk.Body.DYNAMIC
            body = pymunk.Body(1, 1, kind)
            body.position = (i % n * layout.spacing, i // n * layout.spacing)
            self.bodies.append(body)
            self.space.add(body)
        for a, b, _ in numpy_cloth.batches(n):
            pairs = zip(a.tolist(), b.tolist())
            self.space.add(*[pymunk.PinJoint(self.bodies[i], self.bodies[j]) for i, j in pairs])

    def frame(self):
        for _ in range(self.steps):
            self.space.step(self.dt / self.steps)

    def positions(self):
        return np.array([(*body.position, 0.0) for body in self.bodies])


class Watched(Still):
    """Any of the sheets, with an eye on the longest edge of the last frames."""

    def __init__(self, sheet, layout, threads):
        self.sheet, self.layout, self.threads, self.frame = sheet, layout, threads, sheet.frame
        self.worst = []

    def resume(self):
        softkit.set_threads(self.threads)

    def watch(self):
        n = self.layout.n
        x = np.asarray(self.sheet.positions()).reshape(n, n, 3)
        edges = [np.linalg.norm(np.diff(x, axis=axis), axis=2).max() for axis in (0, 1)]
        self.worst.append(max(edges) / self.layout.spacing - 1)

    def quality(self):
        return {"worst edge %": 100 * float(np.mean(self.worst[-50:]))}


def started(make, layout, threads=None, **settings):
    softkit.set_threads(threads)
    return Watched(make(layout, **settings), layout, threads)


def contenders(layout):
    """softkit as it comes and with everything on; peers at 4 substeps of 4 sweeps."""
    count = layout.constraints
    out = [
        Contender("softkit", partial(started, Softkit, layout), count, SUBSTEPS, "8 substeps (default)"),
        Contender("softkit-4", partial(started, Softkit, layout, substeps=4), count, 4, "4 substeps"),
        Contender(
            "softkit-1-thread", partial(started, Softkit, layout, threads=1), count, SUBSTEPS, "1 thread"
        ),
        Contender(
            "softkit-all", partial(started, Softkit, layout, extras=True), count, SUBSTEPS, "wind, ball, self"
        ),
        Contender(
            "numpy", partial(started, numpy_cloth.Sheet, layout), count, 16, "XPBD, 4 substeps x 4 sweeps"
        ),
    ]
    if layout.n <= 32:
        out.append(
            Contender("pymunk", partial(started, Chains, layout), count, 40, "PinJoints, 4 steps x 10")
        )
    if importlib.util.find_spec("numba"):
        from benchmarks.peers import numba_cloth

        for name, parallel in (("numba", True), ("numba-serial", False)):
            start = partial(started, numba_cloth.Sheet, layout, parallel=parallel)
            out.append(Contender(name, start, count, 16, "XPBD, 4 substeps x 4 sweeps"))
    return out


def compare(outcomes):
    """How much faster than each peer, and whether that peer stretches less."""
    own = outcomes["softkit"]
    parts = []
    for name, peer in outcomes.items():
        if not name.startswith("softkit"):
            worse = peer.quality["worst edge %"] >= own.quality["worst edge %"]
            parts.append(
                f"{runner.ratio(peer, own):.2f} x as fast as {name}{'' if worse else ' (at MORE stretch)'}"
            )
    return ["softkit: " + ", ".join(parts)] if parts else []


def scenes():
    return [
        Scene(
            f"cloth-{n}x{n}",
            f"a sheet of {n} x {n} particles hung by two corners",
            contenders(Layout(n)),
            baseline="softkit",
            conclude=compare,
            item="constraint",
        )
        for n in (32, 64, 128, 256)
    ]
