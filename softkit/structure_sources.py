"""Grids of cells from outlines, pictures, tile maps and fragments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softkit import checks
from softkit import softbody_shapes as shapes
from softkit.softbody_fill import inside
from softkit.structure_layout import Grid
from softkit.structure_material import Material

SAMPLES = 4
"""The fill of a cell is read at SAMPLES x SAMPLES places."""
MOST_CELLS = 250_000


def _sized(
    low: np.ndarray, high: np.ndarray, spacing: float | None
) -> tuple[tuple[int, int], tuple[float, float]]:
    """Cells in a box, (rows, columns) and sides: as near to `spacing` as the box divides evenly."""
    extent = high - low
    if spacing is None:
        spacing = float(extent.max()) / 12
    spacing = checks.number("spacing", spacing, above=0.0)
    columns, rows = (max(1, math.floor(min(e / spacing, 1e9) + 0.5)) for e in extent.tolist())
    if rows * columns > MOST_CELLS:
        raise ValueError(f"spacing must give at most {MOST_CELLS} cells, got {spacing!r}: {columns} x {rows}")
    return (rows, columns), (float(extent[0]) / columns, float(extent[1]) / rows)


def _samples(low: np.ndarray, shape: tuple[int, int], size: tuple[float, float]) -> np.ndarray:
    """(rows, columns, SAMPLES^2, 2) places inside each cell."""
    at = (np.arange(SAMPLES) + 0.5) / SAMPLES
    x = low[0] + (np.arange(shape[1])[:, None] + at) * size[0]
    y = low[1] + (np.arange(shape[0])[:, None] + at) * size[1]
    both = np.empty((shape[0], shape[1], SAMPLES, SAMPLES, 2))
    both[..., 0] = x[None, :, None, :]
    both[..., 1] = y[:, None, :, None]
    return both.reshape(*shape, SAMPLES * SAMPLES, 2)


def _covered(points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    flat = points.reshape(-1, 2)
    parts = [inside(flat[i : i + 20_000], ring) for i in range(0, len(flat), 20_000)]
    return np.concatenate(parts).reshape(points.shape[:-1])


def from_fragments(fragments: Any, spacing: Any, materials: list[Material], threshold: float) -> Grid:
    """Cells under any of some closed outlines; each is of the material that fills most of it."""
    rings = [shapes.outline(ring, None) for ring in fragments]
    low = np.min([ring.min(axis=0) for ring in rings], axis=0)
    high = np.max([ring.max(axis=0) for ring in rings], axis=0)
    shape, size = _sized(low, high, spacing)
    points = _samples(low, shape, size)
    kinds = list(dict.fromkeys(materials))
    share = np.zeros((len(kinds), *shape))
    covered = np.zeros(points.shape[:-1], bool)
    for ring, material in zip(rings, materials):
        # Only the cells in the ring's box.
        first = np.clip(np.floor((ring.min(axis=0) - low) / size).astype(int), 0, None)
        last = np.ceil((ring.max(axis=0) - low) / size).astype(int) + 1
        part = slice(first[1], last[1]), slice(first[0], last[0])
        new = _covered(points[part], ring) & ~covered[part]
        covered[part] |= new
        share[kinds.index(material)][part] += new.mean(axis=2)
    fill = share.sum(axis=0)
    fill[fill < threshold] = 0.0
    return Grid(tuple(low.tolist()), size, fill, share.argmax(axis=0), kinds, rings)


def from_tiles(tiles: Any, size: Any, origin: Any, materials: Any) -> Grid:
    """A cell for each tile other than 0."""
    kind = np.asarray(tiles)
    if kind.dtype.kind not in "iub" or kind.ndim != 2 or not kind.size:
        raise ValueError(
            f"tiles must be a 2-D array of whole numbers, got shape {kind.shape} of {kind.dtype}"
        )
    if kind.size > MOST_CELLS:
        raise ValueError(f"tiles must be at most {MOST_CELLS}, got {kind.size}")
    size = checks.number("size", size, above=0.0)
    origin = checks.vector("origin", origin)
    if isinstance(materials, Mapping):
        named = {
            checks.whole("materials", key, -(2**31), 2**31): Material.named(m) for key, m in materials.items()
        }
    elif isinstance(materials, Sequence) and not isinstance(materials, str):
        named = {k + 1: Material.named(m) for k, m in enumerate(materials)}
    else:
        raise TypeError(f"materials must be a mapping from tile to material or a list, got {materials!r}")
    number, known = np.zeros(kind.shape, np.int64), list(named)
    for value in np.unique(kind).tolist():
        if value and value not in named:
            raise ValueError(f"materials must name every tile, got none for {value}")
        number[kind == value] = known.index(value) if value else 0
    return Grid(origin, (size, size), (kind != 0).astype(float), number, list(named.values()))


def alpha_of(picture: Any) -> np.ndarray:
    """(height, width) alpha, 0 to 1, of a pygame.Surface, or of an array of 0 to 255, 0 to 1 or bool."""
    if hasattr(picture, "get_size") and hasattr(picture, "get_view"):
        wide, high = picture.get_size()
        try:
            return np.array(picture.get_view("A"), np.float64).reshape(wide, high).T / 255.0
        except (ValueError, TypeError):
            return np.ones((high, wide))
    alpha = np.asarray(picture)
    if alpha.dtype.kind not in "fiub" or alpha.ndim != 2:
        raise ValueError(
            f"picture must be a Surface or a 2-D array, got shape {alpha.shape} of {alpha.dtype}"
        )
    whole = alpha.dtype.kind in "iu"
    result = alpha.astype(np.float64) / (255.0 if whole else 1.0)
    if result.size and not (0.0 <= result.min() and result.max() <= 1.0):
        raise ValueError(
            f"picture must lie within 0 and {255 if whole else 1}, got {alpha.min()} to {alpha.max()}"
        )
    return result


def from_picture(
    picture: Any, spacing: Any, origin: Any, scale: Any, material: Material, threshold: float
) -> Grid:
    """Cells where a picture is opaque."""
    alpha = alpha_of(picture)
    if not alpha.size:
        raise ValueError(f"picture must not be empty, got shape {alpha.shape}")
    scale = checks.number("scale", scale, above=0.0)
    low = np.array(checks.vector("origin", origin))
    high, wide = alpha.shape
    shape, size = _sized(low, low + (wide * scale, high * scale), spacing)
    sums = np.zeros((high + 1, wide + 1))
    sums[1:, 1:] = alpha.cumsum(axis=0).cumsum(axis=1)
    rows = np.floor(np.linspace(0, high, shape[0] + 1)).astype(int)
    columns = np.floor(np.linspace(0, wide, shape[1] + 1)).astype(int)
    if (np.diff(rows) < 1).any() or (np.diff(columns) < 1).any():
        raise ValueError(f"spacing must be at least a pixel, got {spacing!r} for a scale of {scale!r}")
    corner = sums[np.ix_(rows, columns)]
    fill = corner[1:, 1:] - corner[:-1, 1:] - corner[1:, :-1] + corner[:-1, :-1]
    fill /= np.diff(rows)[:, None] * np.diff(columns)
    fill[fill < threshold] = 0.0
    return Grid(tuple(low.tolist()), size, np.clip(fill, 0.0, 1.0), np.zeros(shape, np.int64), [material])
