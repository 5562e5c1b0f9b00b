"""Ropes hang from pins, laid out straight and sideways, then let go: timed while they swing and whip."""

import importlib.util
from dataclasses import dataclass
from functools import partial

import numpy as np
import pymunk

import softkit
from benchmarks import runner
from benchmarks.peers import numpy_verlet, pymunk_chain, python_verlet
from benchmarks.scene import Contender, Scene, Still

SUBSTEPS = 8


@dataclass(frozen=True)
class Layout:
    """Equal ropes side by side. Lengths in wu, mass of one whole rope."""

    ropes: int
    segments: int
    link: float = 8.0
    mass: float = 1.0
    gravity: float = 900.0
    dt: float = 1 / 60

    def points(self):
        """(ropes, segments + 1, 2): the first point of each is its pin, the rope runs to the right."""
        out = np.zeros((self.ropes, self.segments + 1, 2))
        out[:, :, 0] = np.arange(self.segments + 1) * self.link
        out[:, :, 1] = np.arange(self.ropes)[:, None] * 5.0
        return out


class Softkit:
    """The same ropes through softkit's public API."""

    def __init__(self, layout, substeps=SUBSTEPS):
        self.dt = layout.dt
        space = pymunk.Space()
        space.gravity = (0, layout.gravity)
        self.world = softkit.World(space, step=layout.dt, substeps=substeps)
        ends = layout.points()[:, [0, -1]].tolist()
        # One group: the ropes pass each other freely, as those of every peer do; nothing damps them either.
        same = {"mass": layout.mass, "damping": 0.0, "filter": pymunk.ShapeFilter(group=1)}
        self.ropes = [softkit.Rope(start, end, segments=layout.segments, **same) for start, end in ends]
        self.world.add(*self.ropes)
        for rope in self.ropes:
            rope.pin(0)

    def frame(self):
        self.world.update(self.dt)

    def positions(self):
        return [rope.positions for rope in self.ropes]


class Watched(Still):
    """Any of the rope systems, with an eye on its stretch."""

    def __init__(self, ropes, layout, threads=None):
        self.ropes, self.layout, self.threads = ropes, layout, threads
        self.frame = ropes.frame
        self.whole, self.link = [], 0.0

    def resume(self):
        softkit.set_threads(self.threads)

    def watch(self):
        steps = np.diff(np.asarray(self.ropes.positions(), dtype=float), axis=1)
        strain = np.hypot(steps[..., 0], steps[..., 1]) / self.layout.link - 1
        self.whole.append(float(np.abs(strain.mean(axis=1)).max()))
        self.link = max(self.link, float(np.abs(strain).max()))

    def quality(self):
        """Length error of the worst rope, mean over frames and in the worst frame; the worst link ever."""
        out = {"stretch %": np.mean(self.whole), "worst rope %": max(self.whole), "worst link %": self.link}
        return {name: 100 * float(value) for name, value in out.items()}


def started(system, layout, threads=None, **settings):
    softkit.set_threads(threads)
    return Watched(system(layout, **settings), layout, threads)


def contenders(layout):
    """softkit first, then the peers; numba where it is installed."""
    count = layout.ropes * layout.segments
    out = [
        Contender(
            "softkit", partial(started, Softkit, layout), count, SUBSTEPS, f"{SUBSTEPS} substeps (default)"
        ),
        Contender("softkit-2", partial(started, Softkit, layout, substeps=2), count, 2, "2 substeps"),
        chain(layout, 3, 30),
        Contender("python", partial(started, python_verlet.Ropes, layout), count, 1, "verlet, 20 sweeps"),
        Contender("numpy", partial(started, numpy_verlet.Ropes, layout), count, 1, "verlet, 20 sweeps"),
    ]
    if importlib.util.find_spec("numba"):
        from benchmarks.peers import numba_verlet

        start = partial(started, numba_verlet.Ropes, layout)
        out.append(Contender("numba", start, count, 1, "verlet, 20 sweeps"))
    return out


def chain(layout, steps, iterations):
    start = partial(started, pymunk_chain.Ropes, layout, steps=steps, iterations=iterations)
    setting = f"PinJoints, {steps} steps x {iterations} iterations"
    return Contender("pymunk", start, layout.ropes * layout.segments, steps, setting)


def compare(outcomes):
    """How much faster than each peer, and whether that peer stretches less."""
    ours = [outcome for name, outcome in outcomes.items() if name.startswith("softkit")]
    peers = [outcome for outcome in outcomes.values() if outcome not in ours]
    out = []
    for own in ours:
        parts = []
        for peer in peers:
            worse = peer.quality["stretch %"] >= own.quality["stretch %"]
            faster = f"{runner.ratio(peer, own):.2f} x as fast as {peer.contender.name}"
            parts.append(f"{faster}{'' if worse else ' (at MORE stretch)'}")
        out += [f"{own.contender.name}: " + ", ".join(parts)] if parts else []
    return out


def scenes():
    sizes = [(1, 100), (50, 40), (500, 40), (1, 2000)]
    return [
        Scene(
            f"rope-{ropes}x{segments}",
            f"{ropes} rope{'s' * (ropes > 1)} of {segments} segments, released sideways",
            contenders(Layout(ropes, segments)),
            baseline="softkit",
            conclude=compare,
        )
        for ropes, segments in sizes
    ]
