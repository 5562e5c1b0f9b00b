"""Raster kernels against brute-force supersampling, clipping, batches, threads."""

from itertools import pairwise

import numpy as np
import pygame
import pytest

import softkit
from softkit.render.canvas import Canvas, ShapeList

SIZE = (60, 50)
SUB = 16
WHITE = 0xFFFFFFFF


def coverage(shapes):
    """Draw white on black and read the coverage 0 to 1, (height, width)."""
    surface = pygame.Surface(SIZE, 0, 32)
    Canvas(surface).draw(shapes)
    return pygame.surfarray.array3d(surface)[:, :, 0].T / 255


def sampled(inside):
    """Share of SUB x SUB samples of each pixel for which inside(x, y) holds."""
    width, height = SIZE
    x, y = np.meshgrid((np.arange(width * SUB) + 0.5) / SUB, (np.arange(height * SUB) + 0.5) / SUB)
    return inside(x, y).reshape(height, SUB, width, SUB).mean(axis=(1, 3))


def in_polygon(points):
    def inside(x, y):
        winding = np.zeros(x.shape, dtype=int)
        for (ax, ay), (bx, by) in zip(points, np.roll(points, -1, axis=0)):
            side = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
            winding += ((ay <= y) & (by > y) & (side > 0)).astype(int)
            winding -= ((ay > y) & (by <= y) & (side < 0)).astype(int)
        return winding != 0

    return inside


def near_line(points, radius, closed=False):
    def inside(x, y):
        result = np.zeros(x.shape, dtype=bool)
        pieces = list(pairwise(points)) + ([(points[-1], points[0])] if closed else [])
        for (ax, ay), (bx, by) in pieces:
            dx, dy = bx - ax, by - ay
            t = np.clip(((x - ax) * dx + (y - ay) * dy) / max(dx * dx + dy * dy, 1e-30), 0, 1)
            result |= (x - ax - t * dx) ** 2 + (y - ay - t * dy) ** 2 <= radius**2
        return result

    return inside


def star(cx, cy, r):
    angle = np.arange(10) * np.pi / 5 + 0.2
    radius = np.where(np.arange(10) % 2, r, 0.4 * r)
    return np.stack([cx + radius * np.cos(angle), cy + radius * np.sin(angle)], axis=1)


POLYGONS = {
    "triangle": np.array([(5.3, 4.1), (50.7, 12.2), (20.4, 44.9)]),
    "concave": star(28.3, 24.6, 20),
    "sliver": np.array([(3.0, 10.2), (57.0, 11.0), (57.0, 11.5)]),
    "half out": np.array([(-30.0, -20.0), (33.3, 10.0), (20.0, 90.0)]),
    "on pixel borders": np.array([(10.0, 10.0), (30.0, 10.0), (30.0, 20.0), (10.0, 20.0)]),
}


@pytest.mark.parametrize("name", POLYGONS)
def test_polygon_coverage_is_its_area(name):
    # the kernel's area is exact; 1/16 sampling and 8-bit rounding leave 0.5 % on average, less than 5 %
    shapes = ShapeList()
    shapes.polygon(POLYGONS[name], WHITE)
    error = np.abs(coverage(shapes) - sampled(in_polygon(POLYGONS[name])))
    assert error.max() < 0.05 and error.mean() < 0.005


def test_polygon_on_pixel_borders_is_exact():
    shapes = ShapeList()
    shapes.polygon(POLYGONS["on pixel borders"], WHITE)
    expected = np.zeros(SIZE[::-1])
    expected[10:20, 10:30] = 1
    assert np.array_equal(coverage(shapes), expected)


@pytest.mark.parametrize("radius", [0.3, 0.7, 1.5, 2.5, 7.0, 19.3])
@pytest.mark.parametrize("center", [(30.5, 25.5), (30.2, 24.9)])
def test_disc(radius, center):
    shapes = ShapeList()
    shapes.discs(np.array([center]), radius, WHITE)
    found = coverage(shapes)
    assert (
        np.abs(found - sampled(near_line([center, center], radius))).max() < 0.09
    )  # a ramp instead of a box
    assert found.sum() == pytest.approx(np.pi * radius**2, rel=0.015, abs=0.02)


@pytest.mark.parametrize("radius", [0.5, 1.0, 3.3])
def test_line_with_round_joins_and_caps(radius):
    points = np.array([(8.2, 8.7), (50.1, 14.3), (12.4, 40.6), (45.0, 42.0)])
    for closed in (False, True):
        shapes = ShapeList()
        shapes.line(points, radius, WHITE, closed=closed)
        error = np.abs(coverage(shapes) - sampled(near_line(points, radius, closed)))
        assert error.max() < 0.5 and error.mean() < 0.004  # the worst pixels lie between two strokes
        assert np.quantile(error[error > 0], 0.97) < 0.12


def test_thin_line_keeps_its_weight():
    for half in (0.1, 0.25, 0.4):
        shapes = ShapeList()
        shapes.line(np.array([(5.0, 20.3), (55.0, 26.8)]), half, WHITE)
        length = np.hypot(50, 6.5)
        assert coverage(shapes).sum() == pytest.approx(2 * half * length, rel=0.12)


def test_tapered_line():
    shapes = ShapeList()
    points = np.array([(10.0, 25.0), (50.0, 25.0)])
    shapes.line(points, 2, WHITE, radii=np.array([2.0, 8.0]))
    column = coverage(shapes).sum(axis=0)
    assert column[11] == pytest.approx(4.4, abs=0.4)
    assert column[48] == pytest.approx(15.4, abs=0.4)


def test_translucent_line_is_laid_once():
    """A crossing and all joins have the colour of one layer."""
    shapes = ShapeList()
    points = np.array([(10.0, 10.0), (50.0, 40.0), (50.0, 10.0), (10.0, 40.0), (12.0, 8.0)])
    shapes.line(points, 4, 0xFFFFFF80)
    assert coverage(shapes).max() == pytest.approx(128 / 255)


def test_outline_and_shine():
    shapes = ShapeList()
    shapes.discs(np.array([(30.0, 25.0)]), 15.0, 0x0000FFFF, edge=0xFF0000FF, edge_width=3.0)
    surface = pygame.Surface(SIZE, 0, 32)
    Canvas(surface).draw(shapes)
    assert surface.get_at((30, 25))[:3] == (0, 0, 255)
    assert surface.get_at((30 + 13, 25))[:3] == (255, 0, 0)
    shapes.clear()
    shapes.line(np.array([(5.0, 25.0), (55.0, 25.0)]), 8, 0x404040FF, shine=0.5)
    surface.fill(0)
    Canvas(surface).draw(shapes)
    levels = [surface.get_at((30, 25 + dy))[0] for dy in range(8)]
    assert levels == sorted(levels, reverse=True) and levels[0] > levels[6] + 50


def test_colors_along_a_line():
    shapes = ShapeList()
    paint = np.array([0xFF0000FF, 0x0000FFFF], dtype=np.uint32)
    shapes.line(np.array([(10.0, 25.0), (50.0, 25.0)]), 4, 0, colors=paint)
    surface = pygame.Surface(SIZE, 0, 32)
    Canvas(surface).draw(shapes)
    assert surface.get_at((30, 25))[0] == pytest.approx(127, abs=4)
    assert surface.get_at((11, 25))[0] > 240 and surface.get_at((49, 25))[2] > 240


def test_strip_repeats_its_picture():
    picture = pygame.Surface((8, 4), pygame.SRCALPHA, 32)
    picture.fill((255, 0, 0))
    picture.fill((0, 255, 0), (4, 0, 4, 4))
    picture.fill((0, 0, 255), (0, 2, 8, 2))
    surface = pygame.Surface(SIZE, 0, 32)
    points = np.array([(10.0, 20.0), (50.0, 20.0)])
    assert Canvas(surface).strip(points, np.array([0.0, 40.0]), 6.0, picture, 1.0, smooth=False) == 0
    for x in range(11, 49):
        upper = (255, 0, 0) if (x - 10) % 8 < 4 else (0, 255, 0)
        assert surface.get_at((x, 16))[:3] == upper
        assert surface.get_at((x, 23))[:3] == (0, 0, 255)


def busy():
    rng = np.random.default_rng(3)
    shapes = ShapeList(1, 1)
    for i in range(40):
        shapes.polygon(star(*rng.uniform(0, 300, 2), rng.uniform(5, 60)), 0x3060C0A0)
        shapes.line(rng.uniform(-50, 350, (6, 2)), rng.uniform(0.3, 9), 0xC06030C0, closed=bool(i % 2))
        shapes.discs(rng.uniform(0, 300, (3, 2)), rng.uniform(0.2, 30, 3), 0x20C06090, 0x000000FF, 1.0, 0.3)
    return shapes


def test_same_bytes_for_any_number_of_threads():
    pictures = []
    try:
        for threads in (1, 2, 3, 8):
            softkit.set_threads(threads)
            surface = pygame.Surface((301, 299), 0, 32)
            Canvas(surface).draw(busy())
            pictures.append(surface.get_buffer().raw)
    finally:
        softkit.set_threads(None)
    assert pictures[0].count(0) < len(pictures[0]) // 2
    assert all(p == pictures[0] for p in pictures)


def test_batch_of_circles_equals_a_loop():
    """Case E04."""
    rng = np.random.default_rng(4)
    centers, radii = rng.uniform(0, 300, (500, 2)), rng.uniform(0.3, 12, 500)
    paint = rng.integers(0, 2**32, 500, dtype=np.uint32)
    one, many = pygame.Surface((300, 300), 0, 32), pygame.Surface((300, 300), 0, 32)
    shapes = ShapeList()
    shapes.discs(centers, radii, paint)
    Canvas(one).draw(shapes)
    canvas = Canvas(many)
    for center, radius, color in zip(centers, radii, paint):
        shapes.clear()
        shapes.discs(center[None], radius, color)
        canvas.draw(shapes)
    assert one.get_buffer().raw == many.get_buffer().raw


def test_far_coordinates_draw_what_is_on_screen():
    """Case E08: a line and a polygon with corners a thousand million pixels away."""
    surface = pygame.Surface(SIZE, 0, 32)
    shapes = ShapeList()
    shapes.line(np.array([(-1e9, 20.0), (1e9, 20.0)]), 3, WHITE)
    shapes.polygon(np.array([(-1e9, 40.0), (1e9, 40.0), (1e9, 1e9), (-1e9, 1e9)]), 0xFF0000FF)
    shapes.discs(np.array([(30.0, -1e9)]), 1e9 + 5, 0x00FF00FF)
    assert Canvas(surface).draw(shapes) is None
    assert surface.get_at((0, 20))[:3] == surface.get_at((59, 19))[:3] == (255, 255, 255)
    assert surface.get_at((30, 24))[:3] == (0, 0, 0)
    assert surface.get_at((0, 41))[:3] == surface.get_at((59, 49))[:3] == (255, 0, 0)
    assert surface.get_at((30, 2))[:3] == (0, 255, 0) and surface.get_at((30, 8))[:3] == (0, 0, 0)
    shapes.clear()
    shapes.polygon(np.array([(-1e9, -1e9), (1e9, -1e9 + 20), (1e9, 1e9)]), WHITE)  # its long side: y = x
    shapes.line(np.array([(-1e9, -1e9), (1e9, 1e9)]), 2, 0xFF0000FF)
    Canvas(surface).draw(shapes)
    assert surface.get_at((40, 10))[:3] == (255, 255, 255) and surface.get_at((20, 20))[:3] == (255, 0, 0)


def test_nothing_is_touched_outside_the_clip():
    clip = pygame.Rect(11, 7, 30, 25)
    clipped, full = pygame.Surface((300, 299), 0, 32), pygame.Surface((300, 299), 0, 32)
    for surface in (clipped, full):
        surface.fill((9, 8, 7))
    clipped.set_clip(clip)
    Canvas(clipped).draw(busy())
    Canvas(full).draw(busy())
    a, b = pygame.surfarray.array3d(clipped), pygame.surfarray.array3d(full)
    inside = np.zeros(a.shape[:2], dtype=bool)
    inside[clip.left : clip.right, clip.top : clip.bottom] = True
    assert (a[~inside] == (9, 8, 7)).all()
    assert np.abs(a[inside].astype(int) - b[inside]).max() <= 1


def test_bad_points_are_left_out_and_reported():
    shapes = ShapeList()
    shapes.line(np.array([(5.0, 10.0), (30.0, np.nan), (30.0, 20.0), (55.0, 20.0)]), 2, WHITE)
    shapes.polygon(np.array([(5.0, 30.0), (20.0, 30.0), (20.0, np.inf)]), WHITE)
    shapes.discs(np.array([(30.0, 40.0), (40.0, 40.0)]), np.array([np.nan, 3.0]), WHITE)
    shapes.discs(np.array([(1e12, 40.0)]), 3.0, WHITE)
    surface = pygame.Surface(SIZE, 0, 32)
    assert Canvas(surface).draw(shapes).tolist() == [0, 1, 2, 4]
    assert shapes.bad[0] == 1
    assert surface.get_at((40, 20))[0] == 255 and surface.get_at((40, 40))[0] == 255
    assert surface.get_at((15, 12))[0] == 0 and surface.get_at((18, 30))[0] == 0


def test_scratch_is_clean_after_each_call():
    surface = pygame.Surface((300, 299), 0, 32)
    canvas = Canvas(surface)
    canvas.draw(busy())
    assert not canvas.cover.reshape(canvas.threads, 3, -1)[:, 0].any()
    first = surface.get_buffer().raw
    surface.fill(0)
    canvas.draw(busy())
    assert surface.get_buffer().raw == first


def test_empty_and_degenerate_shapes():
    surface = pygame.Surface(SIZE, 0, 32)
    shapes = ShapeList()
    canvas = Canvas(surface)
    assert canvas.draw(shapes) is None
    shapes.polygon(np.empty((0, 2)), WHITE)
    shapes.polygon(np.array([(3.0, 3.0), (9.0, 9.0)]), WHITE)
    shapes.line(np.empty((0, 2)), 2, WHITE)
    shapes.line(np.array([(20.0, 20.0)]), 2, WHITE)
    shapes.line(np.array([(40.0, 20.0)] * 3), 2, WHITE)
    assert canvas.draw(shapes) is None
    assert surface.get_at((20, 20))[0] == 255 and surface.get_at((40, 20))[0] == 255
