"""Drawing: many circles in one call, a textured and lit sheet, ropes and a pymunk scene."""

from functools import partial

import numpy as np
import pygame
import pymunk

import softkit
from benchmarks import runner
from benchmarks.scene import Contender, Scene, Still
from softkit.render import View
from softkit.render.canvas import Canvas, ShapeList
from softkit.render.mesh import DepthBuffer, Mesh, lay_mesh

SIZE = (1280, 720)
CIRCLES = 5000
CELLS, SHEET = 64, 600
SHEET_LIMIT = 3.0
"""Milliseconds on two cores for the sheet of 64 x 64 quads over 600 x 600 pixels."""


class Circles(Still):
    """5,000 circles, each of its own colour and radius: in one call, one call each, or by pygame."""

    def __init__(self, how):
        rng = np.random.default_rng(1)
        self.surface = pygame.Surface(SIZE, 0, 32)
        self.canvas, self.shapes = Canvas(self.surface), ShapeList()
        self.centers, self.radii = rng.uniform(0, SIZE, (CIRCLES, 2)), rng.uniform(2, 8, CIRCLES)
        self.paint = rng.integers(0, 2**32, CIRCLES, dtype=np.uint32) | 255
        self.colors = [((c >> 24) & 255, (c >> 16) & 255, (c >> 8) & 255) for c in self.paint.tolist()]
        self.frame = {"batch": self.batch, "loop": self.loop, "aacircle": self.peer}[how]

    def batch(self):
        self.shapes.clear()
        self.shapes.discs(self.centers, self.radii, self.paint)
        self.canvas.draw(self.shapes)

    def loop(self):
        for i in range(CIRCLES):
            self.shapes.clear()
            self.shapes.discs(self.centers[i : i + 1], self.radii[i], self.paint[i])
            self.canvas.draw(self.shapes)

    def peer(self):
        for center, radius, color in zip(self.centers.tolist(), self.radii.tolist(), self.colors):
            pygame.draw.aacircle(self.surface, color, center, radius)


def wavy_sheet():
    """Points (pixels and depth), uvs and triangles of the sheet, waving."""
    x, y = np.meshgrid(np.linspace(0, SHEET, CELLS + 1), np.linspace(0, SHEET, CELLS + 1))
    x, y = x.ravel(), y.ravel()
    uvs = np.stack([x / SHEET, y / SHEET], axis=1)
    points = np.stack([x + 340 + 10 * np.sin(y / 30), y + 60, 30 * np.sin(x / 40)], axis=1)
    i = (np.arange(CELLS)[None] + np.arange(CELLS)[:, None] * (CELLS + 1)).ravel()
    upper, lower = (
        np.stack([i, i + 1, i + CELLS + 1], axis=1),
        np.stack([i + 1, i + CELLS + 2, i + CELLS + 1], axis=1),
    )
    return points, uvs, np.stack([upper, lower], axis=1).reshape(-1, 3)


class Sheet(Still):
    """Textured, lit and depth-tested, against flat quads by pygame.draw.polygon."""

    def __init__(self, how):
        self.surface = pygame.Surface(SIZE, 0, 32)
        self.canvas, self.depth = Canvas(self.surface), DepthBuffer()
        self.points, self.uvs, triangles = wavy_sheet()
        self.mesh = Mesh(triangles, len(self.points))
        self.light = (0.6 + 0.4 * np.cos(self.points[:, 0] / 40)).astype(np.float32)
        self.picture = pygame.Surface((256, 256), 0, 32)
        pygame.surfarray.pixels3d(self.picture)[:] = np.random.default_rng(2).integers(0, 256, (256, 256, 3))
        n = CELLS + 1
        corners = self.points[:, :2].reshape(n, n, 2)
        quads = np.stack([corners[:-1, :-1], corners[:-1, 1:], corners[1:, 1:], corners[1:, :-1]], axis=2)
        self.quads = quads.reshape(-1, 4, 2).tolist()
        self.frame = self.textured if how == "softkit" else self.flat

    def textured(self):
        self.depth.clear(self.canvas, (320, 50, 960, 670))
        lay_mesh(self.canvas, self.depth, self.mesh, self.points, self.uvs, self.picture, front=self.light)

    def flat(self):
        for i, quad in enumerate(self.quads):
            pygame.draw.polygon(self.surface, (i & 255, 90, 120), quad)


class Pile(Still):
    """A View of 300 bodies and 20 ropes."""

    def __init__(self):
        space = pymunk.Space()
        for i in range(300):
            body = pymunk.Body(1, 100)
            body.position = (20 + 62 * (i % 20), 60 + 40 * (i // 20))
            body.angle = 0.1 * i
            space.add(body, pymunk.Circle(body, 14) if i % 2 else pymunk.Poly.create_box(body, (26, 22), 3))
        self.world = softkit.World(space)
        for i in range(20):
            self.world.add(softkit.Rope((30 + 60 * i, 30), (80 + 60 * i, 500), segments=40, radius=3))
        self.view = View(pygame.Surface(SIZE, 0, 32))

    def frame(self):
        self.view.draw(self.world)


def sheet_verdict(outcomes):
    found = next((o for o in outcomes.values() if o.contender.name == "softkit"), None)
    if found is None:
        return []
    return [f"the sheet takes {runner.median(found) * 1e3:.2f} ms (target: {SHEET_LIMIT} ms on two cores)"]


def scenes():
    circles = [Contender(name, partial(Circles, name)) for name in ("batch", "loop", "aacircle")]
    sheet = [Contender(name, partial(Sheet, name)) for name in ("softkit", "flat quads by pygame.draw")]
    return [
        Scene("draw-circles", "5,000 circles of own colour and radius", circles, baseline="batch"),
        Scene(
            "draw-sheet",
            "64 x 64 quads over 600 x 600 pixels",
            sheet,
            baseline="softkit",
            conclude=sheet_verdict,
        ),
        Scene(
            "draw-world",
            "300 bodies and 20 ropes by View.draw",
            [Contender("softkit", Pile)],
            baseline="softkit",
        ),
    ]
