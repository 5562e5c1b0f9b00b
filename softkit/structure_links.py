"""Links of structures: what breaks, and colours and crossings as plain arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Break(NamedTuple):
    """A link that broke.

    nodes: the two it held together; place: its middle then, wu; energy: elastic energy it had stored, mass
    wu^2 / s^2 (0 for a cut).
    """

    nodes: tuple[int, int]
    place: tuple[float, float]
    energy: float


def color_runs(links: np.ndarray) -> np.ndarray:
    """Starts of runs of links without a node in common, then the end. Links come sorted by colour, so that
    there are as many runs as colours; losing links makes no more."""
    n = len(links)
    flat = links.reshape(-1)
    # The previous link of either node, by sorting the ends of links by node.
    order = np.argsort(flat, kind="stable")
    same = flat[order[1:]] == flat[order[:-1]]
    previous = np.full(2 * n, -1)
    previous[order[1:][same]] = order[:-1][same] // 2
    most = np.maximum.accumulate(previous.reshape(-1, 2).max(axis=1)) if n else previous
    starts = [0]
    while starts[-1] < n:
        starts.append(int(np.searchsorted(most, starts[-1], "left")))
    return np.array(starts, np.int64)


def power(base: np.ndarray, exponent: float) -> np.ndarray:
    """base^exponent for base in 0 to 1 by multiplications and square roots alone, the exponent to 1/256: the
    same bits on every C library."""
    whole, part = divmod(round(exponent * 256), 256)
    out = np.ones_like(base)
    for _ in range(whole):
        out = out * base
    root = base
    for k in range(7, -1, -1):
        root = np.sqrt(root)
        if part >> k & 1:
            out = out * root
    return out


def crossing(a: np.ndarray, b: np.ndarray, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(l,) which of the lines a-b the line p-q crosses or touches."""

    def side(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        d, e = v - u, w - u
        return d[..., 0] * e[..., 1] - d[..., 1] * e[..., 0]

    return (side(p, q, a) * side(p, q, b) <= 0.0) & (side(a, b, p) * side(a, b, q) <= 0.0)
