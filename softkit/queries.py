"""Asking a world what is where: by point, by line, by box."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pymunk

from softkit import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from softkit.objects import SoftObject


class Hit(NamedTuple):
    """What a query found: the object, its particle, the nearest point of it and the distance, all in wu.

    For a link between two particles `particle` is the nearer one, `point` lies on the link. `distance` is to
    the surface (negative inside) for `point_query` and `bb_query`, along the way from `a` for
    `segment_query`.
    """

    object: SoftObject
    particle: int
    point: tuple[float, float]
    distance: float


def _filtered(objects: Iterable[SoftObject], filter: pymunk.ShapeFilter | None) -> list[SoftObject]:
    if filter is None:
        return list(objects)
    if not isinstance(filter, pymunk.ShapeFilter):
        raise TypeError(f"filter must be a pymunk.ShapeFilter, got {filter!r}")
    return [obj for obj in objects if not filters_reject(filter, obj.filter)]


def filters_reject(a: pymunk.ShapeFilter, b: pymunk.ShapeFilter) -> bool:
    """Chipmunk's rule."""
    if a.group and a.group == b.group:
        return True
    return not (a.categories & b.mask and b.categories & a.mask)


def _edges(obj: SoftObject) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start points, end points and (m, 2) particle indices of an object's links; a lone particle is its own
    link.
    """
    pairs = obj._links()
    x = obj._x[:, :2]
    return x[pairs[:, 0]], x[pairs[:, 1]], pairs


def _near(obj: SoftObject, low: np.ndarray, high: np.ndarray) -> bool:
    x = obj._x[:, :2]
    return bool(len(x)) and bool((x.max(axis=0) >= low).all() and (x.min(axis=0) <= high).all())


def _unique(hits: list[Hit]) -> list[Hit]:
    """One hit a particle, nearest first."""
    hits.sort(key=lambda hit: hit.distance)
    seen: set[tuple[int, int]] = set()
    result = []
    for hit in hits:
        key = (id(hit.object), hit.particle)
        if key not in seen:
            seen.add(key)
            result.append(hit)
    return result


def point_query(
    objects: Iterable[SoftObject],
    point: Sequence[float],
    max_distance: float,
    filter: pymunk.ShapeFilter | None,
) -> list[Hit]:
    """Everything whose surface is within `max_distance` of a point, nearest first."""
    p = np.array(checks.vector("point", point))
    max_distance = checks.number("max_distance", max_distance, 0.0)
    hits = []
    for obj in _filtered(objects, filter):
        reach = max_distance + obj.radius
        if not _near(obj, p - reach, p + reach) and not _near(
            obj, p - reach - obj._reach(), p + reach + obj._reach()
        ):
            continue
        a, b, pairs = _edges(obj)
        e = b - a
        e2 = np.maximum((e * e).sum(axis=1), 1e-300)
        t = np.clip(((p - a) * e).sum(axis=1) / e2, 0.0, 1.0)
        q = a + t[:, None] * e
        d = np.hypot(*(q - p).T) - obj.radius
        for k in np.flatnonzero(d <= max_distance):
            hits.append(Hit(obj, int(pairs[k, int(t[k] > 0.5)]), tuple(q[k].tolist()), float(d[k])))
    return _unique(hits)


def segment_query(
    objects: Iterable[SoftObject],
    a: Sequence[float],
    b: Sequence[float],
    radius: float,
    filter: pymunk.ShapeFilter | None,
) -> list[Hit]:
    """Everything that a line of half-width `radius` from a to b meets, in order from a."""
    p, q = np.array(checks.vector("a", a)), np.array(checks.vector("b", b))
    radius = checks.number("radius", radius, 0.0)
    hits = []
    for obj in _filtered(objects, filter):
        reach = radius + obj.radius
        margin = reach + obj._reach()
        if not _near(obj, np.minimum(p, q) - margin, np.maximum(p, q) + margin):
            continue
        start, end, pairs = _edges(obj)
        s, t, d = segment_distance(p, q, start, end)
        for k in np.flatnonzero(d <= reach):
            place = start[k] + t[k] * (end[k] - start[k])
            hits.append(
                Hit(
                    obj,
                    int(pairs[k, int(t[k] > 0.5)]),
                    tuple(place.tolist()),
                    float(s[k] * np.hypot(*(q - p))),
                )
            )
    return _unique(hits)


def segment_distance(
    p: np.ndarray, q: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nearest parameters on p-q and on each a-b, and the distances between them; 0 where they cross."""
    u, v, w = q - p, b - a, p - a
    cross = u[0] * v[:, 1] - u[1] * v[:, 0]
    safe = np.where(np.abs(cross) < 1e-300, 1.0, cross)
    s = (v[:, 0] * w[:, 1] - v[:, 1] * w[:, 0]) / safe
    t = (u[0] * w[:, 1] - u[1] * w[:, 0]) / safe
    crossing = (np.abs(cross) > 1e-300) & (s >= 0) & (s <= 1) & (t >= 0) & (t <= 1)
    u2, v2 = max(float(u @ u), 1e-300), np.maximum((v * v).sum(axis=1), 1e-300)

    def on_first(x: np.ndarray) -> np.ndarray:
        return np.clip(((x - p) @ u) / u2, 0.0, 1.0)

    def on_second(x: np.ndarray) -> np.ndarray:
        return np.clip(((x - a) * v).sum(axis=1) / v2, 0.0, 1.0)

    ones = np.ones(len(a))
    options = [(on_first(a), 0 * ones), (on_first(b), ones), (0 * ones, on_second(p)), (ones, on_second(q))]
    best_s, best_t, best = s.copy(), t.copy(), np.where(crossing, 0.0, np.inf)
    for so, to in options:
        gap = (p + so[:, None] * u) - (a + to[:, None] * v)
        d = np.hypot(gap[:, 0], gap[:, 1])
        better = d < best
        best_s, best_t, best = (
            np.where(better, so, best_s),
            np.where(better, to, best_t),
            np.where(better, d, best),
        )
    return best_s, best_t, best


def bb_query(objects: Iterable[SoftObject], bb: pymunk.BB, filter: pymunk.ShapeFilter | None) -> list[Hit]:
    """Every particle whose centre lies in a box, in the order of objects and particles."""
    bb = pymunk.BB(*checks.vector("bb", bb, 4))
    hits = []
    for obj in _filtered(objects, filter):
        x = obj._x[:, :2]
        inside = (x[:, 0] >= bb.left) & (x[:, 0] <= bb.right) & (x[:, 1] >= bb.bottom) & (x[:, 1] <= bb.top)
        hits += [Hit(obj, int(i), tuple(x[i].tolist()), -obj.radius) for i in np.flatnonzero(inside)]
    return hits
