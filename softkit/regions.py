"""Regions of the plane: a rectangle or a pymunk shape, and which points lie inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import pymunk

from softkit import checks


def rectangle(name: str, value: Any) -> tuple[float, float, float, float]:
    """(left, top, width, height) with a size, from four numbers or a pygame.Rect."""
    left, top, width, height = checks.vector(name, value, 4)
    if not (width > 0 and height > 0):
        raise ValueError(f"{name} must have a width and a height greater than 0, got {value!r}")
    return left, top, width, height


def _in_polygon(points: np.ndarray, corners: list, radius: float) -> np.ndarray:
    """Inside a convex polygon, or within radius of it."""
    corner = np.array(corners, np.float64)
    edge = np.roll(corner, -1, axis=0) - corner
    twice = (corner[:, 0] * np.roll(corner[:, 1], -1) - corner[:, 1] * np.roll(corner[:, 0], -1)).sum()
    offset = points[:, None, :] - corner[None]
    side = edge[None, :, 0] * offset[..., 1] - edge[None, :, 1] * offset[..., 0]
    inside = (side * np.sign(twice) >= 0).all(axis=1)
    if radius > 0:
        length = np.maximum((edge**2).sum(axis=1), 1e-300)
        t = np.clip((offset * edge[None]).sum(axis=2) / length, 0, 1)
        away = offset - t[..., None] * edge[None]
        inside |= ((away**2).sum(axis=2) <= radius * radius).any(axis=1)
    return inside


def inside(points: np.ndarray, region: Any, name: str = "region", grow: float = 0.0) -> np.ndarray:
    """(n,) bool: which of the (n, 2) points lie in a rectangle (left, top, width, height) or a pymunk shape, grown by
    `grow` wu.

    >>> inside(np.array([[1.0, 1.0], [5.0, 1.0]]), (0, 0, 2, 2)).tolist()
    [True, False]
    """
    if not isinstance(region, pymunk.Shape):
        left, top, width, height = rectangle(name, region)
        return ((points[:, 0] >= left - grow) & (points[:, 0] <= left + width + grow)
                & (points[:, 1] >= top - grow) & (points[:, 1] <= top + height + grow))
    body = region.body
    if body is None:
        raise ValueError(f"{name} must be a shape with a body, got {region!r}")
    c, s = body.rotation_vector
    d = points - np.array(body.position)
    local = np.stack([c * d[:, 0] + s * d[:, 1], c * d[:, 1] - s * d[:, 0]], axis=1)
    if isinstance(region, pymunk.Circle):
        return ((local - np.array(region.offset)) ** 2).sum(axis=1) <= (region.radius + grow) ** 2
    if isinstance(region, pymunk.Segment):
        a, b = np.array(region.a), np.array(region.b)
        t = np.clip(((local - a) @ (b - a)) / max(float((b - a) @ (b - a)), 1e-300), 0, 1)
        return ((local - a - t[:, None] * (b - a)) ** 2).sum(axis=1) <= (region.radius + grow) ** 2
    if isinstance(region, pymunk.Poly):
        return _in_polygon(local, region.get_vertices(), region.radius + grow)
    raise TypeError(f"{name} must be a rectangle or a Circle, Segment or Poly, got {region!r}")
