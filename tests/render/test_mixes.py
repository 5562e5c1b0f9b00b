"""Case E10: a warped mesh, perspective, rotation, flip and alpha, alone and together, against a slow drawing
that does the same by hand for every pixel."""

from itertools import product

import numpy as np
import pygame
import pytest

from softkit.render import draw_mesh

SIZE = (120, 110)
CELLS = 6


def picture():
    """Smooth, so that the two ways of sampling may differ by a rounding only."""
    u, v = np.meshgrid(np.linspace(0, 1, 64), np.linspace(0, 1, 64), indexing="ij")
    surface = pygame.Surface((64, 64), pygame.SRCALPHA, 32)
    rgb = np.stack([255 * u, 255 * v, 127 + 120 * np.sin(5 * u + 3 * v)], axis=2)
    pygame.surfarray.pixels3d(surface)[:] = rgb.astype(np.uint8)
    pygame.surfarray.pixels_alpha(surface)[:] = 255
    return surface, rgb.astype(np.uint8).astype(float)


def mesh(warp, perspective, rotation, flip):
    """Points in pixels, uvs, triangles and projective weights."""
    x, y = np.meshgrid(np.linspace(0, 1, CELLS + 1), np.linspace(0, 1, CELLS + 1))
    u, v = x.ravel(), y.ravel()
    points = np.stack([60 * u - 30, 50 * v - 25], axis=1)
    if warp:
        points += np.stack([4 * np.sin(5 * v), 3 * np.sin(7 * u)], axis=1)
    if rotation:
        c, s = np.cos(0.6), np.sin(0.6)
        points = points @ np.array([(c, s), (-s, c)])
    if flip:
        points[:, 0] = -points[:, 0]
    weights = np.ones(len(points))
    if perspective:
        weights = 100 / (100 - 0.9 * points[:, 1])
        points = points * weights[:, None]
    i = (np.arange(CELLS)[None] + np.arange(CELLS)[:, None] * (CELLS + 1)).ravel()
    upper, lower = (
        np.stack([i, i + 1, i + CELLS + 1], axis=1),
        np.stack([i + 1, i + CELLS + 2, i + CELLS + 1], axis=1),
    )
    return points + (60.2, 55.3), np.stack([u, v], axis=1), np.concatenate([upper, lower]), weights


def by_hand(rgb, points, uvs, triangles, weights, opacity):
    """Barycentric coordinates of every pixel in every triangle, bilinear sampling; and what is inside."""
    out, covered = np.zeros((*SIZE, 3)), np.zeros(SIZE, dtype=bool)
    px, py = np.meshgrid(np.arange(SIZE[0]) + 0.5, np.arange(SIZE[1]) + 0.5, indexing="ij")
    for corners in triangles:
        (ax, ay), (bx, by), (cx, cy) = points[corners]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        b = ((px - ax) * (cy - ay) - (py - ay) * (cx - ax)) / area
        c = ((bx - ax) * (py - ay) - (by - ay) * (px - ax)) / area
        share = np.stack([1 - b - c, b, c], axis=2)
        inside = (share >= 0).all(axis=2)
        w = share[inside] * weights[corners]
        u, v = ((w @ uvs[corners]) / w.sum(axis=1, keepdims=True)).T * 64 - 0.5
        u, v = np.clip(u, 0, 62.999), np.clip(v, 0, 62.999)
        i, j = u.astype(int), v.astype(int)
        fu, fv = (u - i)[:, None], (v - j)[:, None]
        upper = rgb[i, j] * (1 - fu) + rgb[i + 1, j] * fu
        lower = rgb[i, j + 1] * (1 - fu) + rgb[i + 1, j + 1] * fu
        out[inside] = (upper * (1 - fv) + lower * fv) * opacity
        covered |= inside
    return out, covered


@pytest.mark.parametrize("warp, perspective, rotation, flip", product([False, True], repeat=4))
@pytest.mark.parametrize("opacity", [1.0, 0.5])
def test_each_mix_equals_the_maths_by_hand(warp, perspective, rotation, flip, opacity):
    source, rgb = picture()
    points, uvs, triangles, weights = mesh(warp, perspective, rotation, flip)
    surface = pygame.Surface(SIZE, 0, 32)
    draw_mesh(
        surface, source, points, uvs, triangles, weights=weights if perspective else None, opacity=opacity
    )
    found = pygame.surfarray.array3d(surface).astype(float)
    expected, covered = by_hand(rgb, points, uvs, triangles, weights, opacity)
    inner = covered.copy()
    for axis, step in product((0, 1), (1, -1)):
        inner &= np.roll(covered, step, axis)  # the outline is smooth: compare inside it
    assert inner.sum() > 1500
    error = np.abs(found - expected)[inner]
    assert error.mean() < 2 and error.max() < 8
