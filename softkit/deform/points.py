"""Where to put cage points: grids over a rectangle, or over each part of something that may break."""

from __future__ import annotations

from typing import Any

import numpy as np

from softkit import checks

MOST_POINTS = 4_000_000


def _range(low: float, high: float, spacing: float) -> tuple[int, int]:
    first = int(np.floor(low / spacing + 1e-9))
    return first, max(first + 1, int(np.ceil(high / spacing - 1e-9)))


def grid_points(low: Any, high: Any, spacing: float) -> np.ndarray:
    """(m, d) points `spacing` wu apart (> 0) on a grid that covers the box from low to high, both (d,).

    The grid's lines are multiples of the spacing, so that grids over neighbouring boxes share points. Raises
    ValueError for boxes turned inside out and beyond four million points.
    """
    spacing = checks.number("spacing", spacing, 0.0, checks.LIMIT, above=0.0)
    size = len(low) if hasattr(low, "__len__") else 2
    low, high = checks.vector("low", low, size), checks.vector("high", high, size)
    if any(a > b for a, b in zip(low, high)):
        raise ValueError(f"high must not be below low {low!r}, got {high!r}")
    ranges = [_range(a, b, spacing) for a, b in zip(low, high)]
    if np.prod([float(b - a + 1) for a, b in ranges]) > MOST_POINTS:
        raise ValueError(f"spacing must leave at most {MOST_POINTS} points, got {spacing!r}")
    lines = [np.arange(a, b + 1) * spacing for a, b in ranges]
    return np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))


def part_points(vertices: Any, parts: Any, spacing: float) -> tuple[np.ndarray, np.ndarray]:
    """Cage points and their parts for the vertices of many parts: each part its own grid over its own box.

    vertices: (n, d); parts: (n,) whole numbers. Returns (m, d) points and (m,) parts. Neighbouring parts
    have points of their own at the same places: they move alike while the parts hang together, and apart
    after.
    """
    vertices = np.asarray(vertices, dtype=np.float64)
    parts = np.asarray(parts)
    points, owners = [np.zeros((0, vertices.shape[1]))], [np.zeros(0, np.int64)]
    order = np.argsort(parts, kind="stable")
    names, starts = np.unique(parts[order], return_index=True)
    for name, rows in zip(names.tolist(), np.split(order, starts[1:])):
        grid = grid_points(vertices[rows].min(axis=0), vertices[rows].max(axis=0), spacing)
        points.append(grid)
        owners.append(np.full(len(grid), name, np.int64))
    return np.concatenate(points), np.concatenate(owners)
