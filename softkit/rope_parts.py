"""Ropes that get more or fewer nodes: cut, broken, wound in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from softkit.rope import Rope

MAX_SEGMENTS = 100_000


def break_link(rope: Rope, link: int) -> Rope | None:
    """Take one link out. None where that leaves a single node, which goes."""
    if rope.segments == 1:
        rope._world.remove(rope)
        return None
    if link == 0 or link == rope.segments - 1:
        first, gone = (1, 0) if link == 0 else (0, rope.count - 1)
        for join in [j for j in rope._joins if (rope, gone) in j.ends]:
            join.release()
        for join in rope._joins:
            join.shift(rope, 1, -first)
        keep(rope, slice(first, first + rope.count - 1), first)
        return None
    return part(rope, link, link + 1)


def part(rope: Rope, last: int, first: int) -> Rope:
    """Leave the nodes up to `last`; a new rope, in the same world, has those from `first` on."""
    piece = object.__new__(type(rope))
    piece.__dict__.update(rope.__dict__)
    piece._world, piece._serial, piece._joins = None, -1, []
    piece._anchors, piece._pins = dict(rope._anchors), set(rope._pins)
    joins = list(rope._joins)
    extra = rope._extra.copy()
    if first == last:
        piece._anchors.pop(first, None)
        piece._pins.discard(first)
        extra[first] *= 0.5
    rope._extra, piece._extra = extra.copy(), extra.copy()
    keep(piece, slice(first, None), first)
    keep(rope, slice(0, last + 1), 0)
    rope._winch, piece._winch = float(rope._rest.sum()), float(piece._rest.sum())
    for join in joins:
        join.follow_cut(rope, last, piece, first)
    if rope._world is not None:
        rope._world.add(piece)
    return piece


def keep(rope: Rope, nodes: slice, first: int) -> None:
    """Keep a run of nodes and what belongs to them."""
    x, v = rope._x[nodes], rope._v[nodes]
    n = len(x)
    rest, lam = rope._rest[first : first + n - 1], rope._lam[first : first + n - 1]
    previous, target = rope._previous[nodes].copy(), rope._target[nodes].copy()
    tension = rope._tension[first : first + n - 1].copy()
    rope._extra = rope._extra[nodes].copy()
    rope._anchors = {i - first: a for i, a in rope._anchors.items() if 0 <= i - first < n}
    rope._pins = {i - first for i in rope._pins if 0 <= i - first < n}
    rope._winch = float(rest.sum())
    rope._allocate(x, v, rest, lam)
    rope._previous[:], rope._target[:], rope._tension[:] = previous, target, tension
    rope._changed()


def wind(rope: Rope, dt: float) -> float:
    """Split and merge links at the feed end for the coming step; how much that end's link grows in it."""
    end = rope._feed_end
    link = 0 if end == 0 else rope.segments - 1
    while rope._rest[link] > 1.5 * rope._segment and rope.segments < MAX_SEGMENTS:
        split(rope, link)
        link = 0 if end == 0 else rope.segments - 1
    inner = 1 if end == 0 else rope.count - 2
    while rope._rest[link] < 0.5 * rope._segment and rope.segments > 1 and is_loose(rope, inner):
        merge(rope, inner)
        link = 0 if end == 0 else rope.segments - 1
        inner = 1 if end == 0 else rope.count - 2
    change = rope._winch - float(rope._rest.sum())
    most = rope._reel_speed * dt
    change = min(max(change, -most), most)
    floor = 0.01 * rope._segment - float(rope._rest[link])
    return max(change, min(floor, 0.0))


def is_loose(rope: Rope, i: int) -> bool:
    """May node i vanish?"""
    joined = any((rope, i) in j.ends for j in rope._joins)
    return i not in rope._anchors and i not in rope._pins and rope._extra[i] == 0.0 and not joined


def split(rope: Rope, link: int) -> None:
    """Part a grown link in two: one of the usual length, and the rest at the feed end."""
    inner = rope._feed_end == 0
    share = 1.0 - rope._segment / rope._rest[link]
    t = share if inner else 1.0 - share
    a, b = link, link + 1

    def between(array: np.ndarray) -> np.ndarray:
        return np.insert(array, b, array[a] + t * (array[b] - array[a]), axis=0)

    rest = np.insert(rope._rest, link, 0.0)
    rest[link], rest[link + 1] = t * rope._rest[link], (1.0 - t) * rope._rest[link]
    reindex(rope, b, 1)
    rope._extra = np.insert(rope._extra, b, 0.0)
    replace(rope, between, rest, np.insert(rope._lam, link, rope._lam[link]))


def merge(rope: Rope, node: int) -> None:
    """Take a node out: the links beside it become one."""
    rest = np.delete(rope._rest, node)
    rest[node - 1] = rope._rest[node - 1] + rope._rest[node]
    lam = np.delete(rope._lam, node)
    reindex(rope, node, -1)
    rope._extra = np.delete(rope._extra, node)
    replace(rope, lambda array: np.delete(array, node, axis=0), rest, lam)


def replace(
    rope: Rope, change: Callable[[np.ndarray], np.ndarray], rest: np.ndarray, lam: np.ndarray
) -> None:
    previous, target = change(rope._previous), change(rope._target)
    rope._allocate(change(rope._x), change(rope._v), rest, lam)
    rope._previous[:], rope._target[:] = previous, target


def reindex(rope: Rope, node: int, by: int) -> None:
    """Nodes from `node` on get indices shifted by `by`."""
    rope._anchors = {i + by if i >= node else i: a for i, a in rope._anchors.items()}
    rope._pins = {i + by if i >= node else i for i in rope._pins}
    for join in rope._joins:
        join.shift(rope, node, by)
