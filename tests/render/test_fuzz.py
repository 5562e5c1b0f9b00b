"""Random shapes and meshes with all kinds of coordinates on any surface: nothing raised, nothing touched
outside the clip, the same bytes twice."""

import numpy as np
import pygame
import pytest

from softkit.render.canvas import Canvas, ShapeList
from softkit.render.mesh import DepthBuffer, Mesh, lay_mesh

WILD = (np.nan, np.inf, -np.inf, 1e308)


def coordinates(rng, n, columns=2):
    points = rng.normal(0, rng.choice([50, 300, 1e4, 1e9, 1e12]), (n, columns)) + rng.uniform(
        -50, 250, columns
    )
    if rng.random() < 0.3:
        points = np.round(points) + rng.choice([0.0, 0.5])
    if rng.random() < 0.1:
        points[rng.integers(0, n)] = rng.choice(WILD)
    return np.ascontiguousarray(points)


def random_surface(rng):
    size = tuple(int(v) for v in rng.integers(1, 160, 2))
    flags, depth = ((0, 32), (0, 24), (pygame.SRCALPHA, 32))[rng.integers(0, 3)]
    surface = pygame.Surface(size, flags, depth)
    surface.fill((40, 50, 60))
    surface.set_clip(pygame.Rect(*rng.integers(-20, 80, 2).tolist(), *rng.integers(0, 120, 2).tolist()))
    return surface


def random_shapes(rng):
    shapes = ShapeList(1, 1)
    for _ in range(rng.integers(1, 20)):
        n, color = int(rng.integers(1, 9)), int(rng.integers(0, 2**32))
        radius = float(rng.choice([0, 0.2, 1, 3, 30, 1e4, 1e9, np.nan, -1]))
        edge = {"edge": int(rng.integers(0, 2**32)), "edge_width": float(rng.choice([0, 0.5, 3, 1e5]))}
        kind = rng.integers(0, 4)
        if kind == 0:
            shapes.polygon(coordinates(rng, n), color)
        elif kind == 1:
            shapes.line(
                coordinates(rng, n), radius, color, closed=bool(rng.random() < 0.5), shine=0.4, **edge
            )
        elif kind == 2:
            shapes.discs(coordinates(rng, n), radius, color, **edge)
        else:
            paint = rng.integers(0, 2**32, n, dtype=np.uint32)
            shapes.line(coordinates(rng, n), radius, color, colors=paint)
    return shapes


def draw_everything(rng):
    surface = random_surface(rng)
    canvas = Canvas(surface)
    canvas.draw(random_shapes(rng))
    picture = pygame.Surface(tuple(int(v) for v in rng.integers(1, 20, 2)), pygame.SRCALPHA, 32)
    picture.fill((200, 100, 50, 100))
    n = int(rng.integers(3, 30))
    canvas.strip(coordinates(rng, n), np.arange(float(n)), float(rng.choice([0.1, 2, 20, 1e5])), picture, 3.0)
    depth = DepthBuffer()
    depth.clear(canvas)
    mesh = Mesh(rng.integers(0, n, (int(rng.integers(1, 40)), 3)), n)
    uvs = rng.choice([1, 1, 1e3, 1e9]) * rng.uniform(-0.2, 1.2, (n, 2))
    options = {name: bool(rng.random() < 0.6) for name in ("smooth", "soft", "sort")}
    if rng.random() < 0.4:
        options |= {"heights": rng.normal(0, 5, n), "low": 0.0}
    if rng.random() < 0.4:
        options["inverse"] = rng.uniform(0.1, 2, n)
    lay_mesh(canvas, depth, mesh, coordinates(rng, n, 3), uvs, picture, **options)
    return surface


@pytest.mark.parametrize("seed", range(40))
def test_anything_may_be_drawn(seed):
    surface = draw_everything(np.random.default_rng(seed))
    assert surface.get_buffer().raw == draw_everything(np.random.default_rng(seed)).get_buffer().raw
    outside = np.ones(surface.get_size(), dtype=bool)
    clip = surface.get_clip()
    outside[clip.left : clip.right, clip.top : clip.bottom] = False
    assert (pygame.surfarray.array3d(surface)[outside] == (40, 50, 60)).all()
