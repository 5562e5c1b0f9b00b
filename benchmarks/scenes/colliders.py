"""What it costs to mirror pymunk shapes that stay as they are: World.update against Space.step alone."""

from functools import partial

import pymunk

import softkit
from benchmarks import runner
from benchmarks.scene import Contender, Scene, Still

COUNTS = {500: 0.1, 5000: 1.0}
"""Static shapes -> milliseconds a frame that mirroring them may add."""
DT = 1 / 60


def level(count):
    """A space with `count` static shapes of all kinds on a grid, and no dynamic body."""
    space = pymunk.Space()
    space.gravity = (0, 900)
    for i in range(count):
        x, y = 40.0 * (i % 100), 40.0 * (i // 100) + 500
        if i % 3 == 0:
            shape = pymunk.Circle(space.static_body, 8, (x, y))
        elif i % 3 == 1:
            shape = pymunk.Segment(space.static_body, (x, y), (x + 20, y + 5), 2)
        else:
            shape = pymunk.Poly(space.static_body, [(x, y), (x + 16, y), (x + 16, y + 16), (x, y + 16)])
        space.add(shape)
    return space


class Bare(Still):
    def __init__(self, count):
        self.space = level(count)

    def frame(self):
        self.space.step(DT)


class Mirrored(Still):
    """With one rope far above the shapes: something to step."""

    def __init__(self, count):
        self.world = softkit.World(level(count), step=DT)
        rope = self.world.add(softkit.Rope((0, 0), (100, 0), segments=20))
        rope.pin(0)

    def frame(self):
        self.world.update(DT)


def scene(count, limit):
    contenders = [
        Contender("space.step", partial(Bare, count)),
        Contender("no shapes", partial(Mirrored, 0)),
        Contender("world.update", partial(Mirrored, count)),
    ]

    def conclude(outcomes):
        if len(outcomes) < len(contenders):
            return []
        step, empty, whole = (runner.median(o) * 1e3 for o in outcomes.values())
        added = whole - empty - step
        return [f"mirroring adds {added:.3f} ms a frame to the step (target: below {limit} ms)"]

    title = f"{count} unchanged static shapes"
    return Scene(f"mirror-{count}", title, contenders, baseline="space.step", conclude=conclude)


def scenes():
    return [scene(count, limit) for count, limit in COUNTS.items()]
