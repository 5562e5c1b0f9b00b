"""Fields and free particles: curl noise against NumPy, attractors, 100,000 particles stepped and drawn."""

import os
from functools import partial

import numpy as np
import pymunk

import softkit
from benchmarks import runner
from benchmarks.peers import numpy_noise
from benchmarks.scene import Contender, Scene, Still
from softkit.emitters import Source
from softkit.fields import Attractor, CurlNoise, Fields, Gravity
from softkit.particles import Particles

COUNT = 100_000
WIDTH, HEIGHT = 1280, 720
DT = 1 / 60


class Threaded(Still):
    threads = None

    def resume(self):
        softkit.set_threads(self.threads)


class Sampled(Threaded):
    """One field sampled at many points, the same points every frame, another time each."""

    def __init__(self, sample, dim=2, count=COUNT, threads=None):
        self.threads, self.sample, self.time = threads, sample, 0.0
        self.points = np.random.default_rng(1).uniform(0, 1000, (count, dim))

    def frame(self):
        self.time += DT
        self.sample(self.points, time=self.time)


class Cached(Sampled):
    """Curl noise on a grid over the points; says how far off it is."""

    def __init__(self, octaves):
        self.field = CurlNoise(1, octaves=octaves)
        self.field.cache((0, 0, 1000, 1000))
        super().__init__(self.field.sample)

    def quality(self):
        return {"error %": 100 * self.field.cache_error(self.time)}


class Applied(Threaded):
    """Fields applied to one flat array of particles, as a substep does."""

    def __init__(self, fields, count, threads=None):
        self.threads = threads
        self.fields = Fields()
        self.fields.add(*fields)
        rng = np.random.default_rng(1)
        self.x, self.v = rng.uniform(0, 1000, (count, 2)), np.zeros((count, 2))
        self.w = np.ones(count)

    def frame(self):
        self.fields.apply(None, self.x, self.v, self.w, DT, 0.0)


class Passed(Threaded):
    """What a pass over the same particles costs that only reads places and adds to velocities: NumPy on one
    thread, in as many bytes as `Applied` has to touch."""

    def __init__(self, count):
        rng = np.random.default_rng(1)
        self.x, self.v = rng.uniform(0, 1000, (count, 2)), np.zeros((count, 2))
        self.total = np.zeros((count, 2))

    def frame(self):
        np.copyto(self.total, self.x)
        np.add(self.v, self.total, out=self.v)


def attractors(count):
    rng = np.random.default_rng(2)
    return [Attractor(p, 1e5) for p in rng.uniform(0, 1000, (count, 2))]


class Storm(Threaded):
    """A full pool of particles in a world: noise, gravity, damping, twenty shapes to bounce off."""

    def __init__(self, octaves=2, threads=None, shapes=True):
        self.threads = threads
        space = pymunk.Space()
        space.gravity = (0, 100)
        for k in range(20 if shapes else 0):
            space.add(pymunk.Circle(space.static_body, 20, (60 * k, 300 + (k % 5) * 50)))
        self.world = softkit.World(space)
        self.pool = self.world.add(Particles(COUNT, lifetime=(1.0, 3.0), damping=0.5, size=4))
        self.pool.burst(COUNT, Source.rect(0, 0, WIDTH, HEIGHT), speed=(0, 50))
        self.pool.emitter(Source.rect(0, 0, WIDTH, HEIGHT), rate=COUNT / 2, speed=(0, 50))
        self.world.fields.add(CurlNoise(octaves=octaves))
        for _ in range(120):
            self.world.update(DT)

    def frame(self):
        self.world.update(DT)

    def quality(self):
        return {"alive": self.pool.count}


class Drawn(Storm):
    """The same pool drawn only."""

    def __init__(self, additive, threads=None):
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
        import pygame

        from softkit.render import View

        super().__init__(shapes=False, threads=threads)
        self.surface = pygame.Surface((WIDTH, HEIGHT))
        self.view = View(self.surface)
        self.view.style(self.pool, additive=additive)

    def frame(self):
        self.view.draw(self.world)


class Blitted(Drawn):
    """The same dots by pygame's own Surface.fblits, a picture for each of 64 ages."""

    def __init__(self, additive):
        super().__init__(additive)
        import pygame

        self.flag = pygame.BLEND_ADD if additive else 0
        self.dots = [pygame.Surface((4, 4), pygame.SRCALPHA) for _ in range(64)]
        for k, dot in enumerate(self.dots):
            pygame.draw.circle(dot, (255, 255, 255, 255 - 4 * k), (2, 2), 2)

    def frame(self):
        pool = self.pool
        which = np.minimum(64 * pool.ages / pool.lifetimes, 63).astype(int).tolist()
        places = (pool.positions - 2).tolist()
        self.surface.fblits([(self.dots[k], p) for k, p in zip(which, places)], self.flag)


def below(name, limit):
    """A sentence that says how the median compares with a target in ms."""

    def conclude(outcomes):
        if name not in outcomes:
            return []
        value = runner.median(outcomes[name]) * 1e3
        return [f"{name}: {value:.2f} ms a frame (target: below {limit} ms)"]

    return conclude


def against(name, peer, times, limit):
    def conclude(outcomes):
        out = below(name, limit)(outcomes)
        if name in outcomes and peer in outcomes:
            out.append(
                f"{runner.ratio(outcomes[peer], outcomes[name]):.1f} x as fast as {peer} (target: {times} x)"
            )
        return out

    return conclude


def memory(outcomes):
    """Eight attractors over a million particles against passing their bytes once."""
    many, plain = outcomes.get("8 x 1,000,000"), outcomes.get("bytes")
    if not (many and plain):
        return []
    return [
        f"8 attractors over 1,000,000 particles: {runner.ratio(many, plain):.1f} x a pass over their bytes"
    ]


def noise_scene(dim):
    own = CurlNoise(1).sample
    rows = [
        Contender("softkit", partial(Sampled, own, dim), COUNT, setting="3 octaves"),
        Contender("softkit-1 thread", partial(Sampled, own, dim, threads=1), COUNT, setting="3 octaves"),
        Contender("1 octave", partial(Sampled, CurlNoise(1, octaves=1).sample, dim), COUNT),
        Contender("2 octaves", partial(Sampled, CurlNoise(1, octaves=2).sample, dim), COUNT),
    ]
    if dim == 2:
        rows.append(Contender("cached", partial(Cached, 3), COUNT, setting="3 octaves, every 4 steps"))
        rows.append(Contender("numpy", partial(Sampled, numpy_noise.curl), COUNT, setting="3 octaves"))
    title = f"curl noise at {COUNT:,} points in {dim}-D"
    conclude = against("softkit", "numpy", 20, 6) if dim == 2 else below("1 octave", 6)
    return Scene(f"curl-noise-{dim}d", title, rows, "softkit", conclude, item="point")


def scenes():
    many = [
        Contender("8 attractors", partial(Applied, attractors(8), 125_000), 1_000_000),
        Contender(
            "1 field", partial(Applied, [Gravity((0, 1))], 1_000_000), 1_000_000, setting="memory speed"
        ),
        Contender("8 x 1,000,000", partial(Applied, attractors(8), 1_000_000), 8_000_000),
        Contender("bytes", partial(Passed, 1_000_000), 1_000_000, setting="places read, velocities added to"),
        Contender("300 attractors", partial(Applied, attractors(300), 50_000), 15_000_000),
    ]
    step = [
        Contender("world.update", Storm, COUNT, setting="2 octaves, 20 shapes"),
        Contender("3 octaves", partial(Storm, 3), COUNT, setting="3 octaves, 20 shapes"),
        Contender("no shapes", partial(Storm, shapes=False), COUNT, setting="2 octaves"),
        Contender("1 thread", partial(Storm, threads=1), COUNT, setting="2 octaves, 20 shapes"),
    ]
    draw = [
        Contender("added", partial(Drawn, True), COUNT, setting="4 pixels"),
        Contender("laid over", partial(Drawn, False), COUNT, setting="4 pixels"),
        Contender("fblits added", partial(Blitted, True), COUNT, setting="4 pixels"),
        Contender("fblits over", partial(Blitted, False), COUNT, setting="4 pixels"),
    ]
    return [
        noise_scene(2),
        noise_scene(3),
        Scene("fields", "many fields in one pass", many, "bytes", memory, "evaluation"),
        Scene(
            "particles",
            f"{COUNT:,} particles, a step",
            step,
            "world.update",
            below("world.update", 8),
            "particle",
        ),
        Scene("sprites", f"{COUNT:,} particles, drawn", draw, "added", below("added", 8), "particle"),
    ]
