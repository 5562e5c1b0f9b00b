"""How a sheet's particles hang together, as flat arrays: triangles, edges, hinges, batches, blocks,
anchors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softkit._kernels import cloth_mesh as kernel

CELLS = 8
"""Cells along one side of a block of a grid."""
BLOCK_FACES = 2 * CELLS * CELLS
"""Most triangles of a block of a mesh."""
ANCHORS = 4
"""Pins, far from each other, that every particle knows its way to; and the nearest one."""


def grid_faces(columns: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """(t, 3) triangles of a grid in order of blocks, and the number of the block of each.

    Each cell is cut along the diagonal from its lower left to its upper right particle, as seen with `right`
    to the right and `down` downward.
    """
    row, column = np.divmod(np.arange((rows - 1) * (columns - 1)), columns - 1)
    across = -(-(columns - 1) // CELLS)
    block = (row // CELLS) * across + column // CELLS
    order = np.argsort(block, kind="stable")
    first = (row * columns + column)[order]
    upper = np.stack([first, first + 1, first + columns], axis=1)
    lower = np.stack([first + 1, first + columns + 1, first + columns], axis=1)
    faces = np.stack([upper, lower], axis=1).reshape(-1, 3)
    return faces.astype(np.int32), np.repeat(block[order], 2)


def mesh_faces(triangles: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Triangles sorted into blocks of neighbours, and the number of the block of each: breadth first from the
    lowest."""
    starts, faces = incidence(triangles, count)
    seen = np.zeros(len(triangles), bool)
    order: list[int] = []
    block = np.zeros(len(triangles), np.int64)
    number = 0
    for seed in range(len(triangles)):
        if seen[seed]:
            continue
        seen[seed] = True
        queue, at, size = [seed], 0, 0
        while at < len(queue):
            face = queue[at]
            at += 1
            block[len(order)] = number
            order.append(face)
            size += 1
            if size == BLOCK_FACES:
                number, size = number + 1, 0
            for i in triangles[face]:
                for other in faces[starts[i] : starts[i + 1]]:
                    if not seen[other]:
                        seen[other] = True
                        queue.append(int(other))
        number += 1 if size else 0
    return triangles[order], block


def incidence(faces: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Which triangles each particle belongs to: those of i are faces[starts[i]:starts[i + 1]], in rising
    order."""
    flat = faces.reshape(-1)
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(count + 1)).astype(np.int64)
    return starts, np.ascontiguousarray(order // 3, np.int32)


def edges_of(faces: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(m, 2) edges of the triangles, lower particle first, and the (m, 2) triangles beside each: -1 where
    there is one only. An edge of three or more triangles keeps the first two."""
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.int64)
    key, first, inverse = np.unique(pairs[:, 0] * count + pairs[:, 1], return_index=True, return_inverse=True)
    edges = pairs[first].astype(np.int32)
    beside = np.full((len(key), 2), -1, np.int32)
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(key)))
    ends = np.append(starts[1:], len(order))
    beside[:, 0] = order[starts] // 3
    more = ends - starts > 1
    beside[more, 1] = order[starts[more] + 1] // 3
    return edges, beside


def batches(items: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """An order that sorts items (rows of particle indices, -1: none) into batches without a shared particle,
    and where each batch starts. ValueError where a particle has more than 64 items."""
    colors = np.zeros(max(1, len(items)), np.int32)
    used = kernel.color_items(np.ascontiguousarray(items, np.int32), count, colors)
    if used < 0:
        raise ValueError("triangles must not put more than 63 edges on one vertex")
    colors = colors[: len(items)]
    order = np.argsort(colors, kind="stable")
    return order, np.searchsorted(colors[order], np.arange(used + 1)).astype(np.int64)


@dataclass
class Blocks:
    """Triangles in blocks for contact: those of one colour share no particle."""

    rows: np.ndarray
    """(b, 4) first particle, last, first triangle, last."""
    colors: np.ndarray
    """First block of each colour, and the end."""
    particles: np.ndarray
    faces: np.ndarray
    """(t, 3) triangles; the first particle of a torn one is -1."""
    place: np.ndarray
    """Where in `faces` each of the sheet's triangles is."""


def make_blocks(faces: np.ndarray, block: np.ndarray, count: int) -> Blocks:
    """Blocks of triangles, coloured, every block with the particles of its triangles."""
    amount = int(block.max()) + 1 if len(block) else 0
    members = [np.unique(faces[block == k]) for k in range(amount)]
    owners: list[list[int]] = [[] for _ in range(count)]
    color = np.zeros(amount, np.int64)
    for k, particles in enumerate(members):
        taken = {int(color[other]) for i in particles for other in owners[i]}
        color[k] = next(c for c in range(len(taken) + 1) if c not in taken)
        for i in particles:
            owners[i].append(k)
    order = np.argsort(color, kind="stable")
    place = np.concatenate([np.flatnonzero(block == k) for k in order]) if amount else np.zeros(0, np.int64)
    sizes = np.array([[len(members[k]), int((block == k).sum())] for k in order], np.int64).reshape(-1, 2)
    ends = np.cumsum(sizes, axis=0)
    rows = np.stack([ends[:, 0] - sizes[:, 0], ends[:, 0], ends[:, 1] - sizes[:, 1], ends[:, 1]], axis=1)
    back = np.empty(len(place), np.int64)
    back[place] = np.arange(len(place))
    return Blocks(
        np.ascontiguousarray(rows, np.int64),
        np.searchsorted(color[order], np.arange(color.max() + 2 if amount else 1)).astype(np.int64),
        np.concatenate([members[k] for k in order]).astype(np.int32) if amount else np.zeros(1, np.int32),
        np.ascontiguousarray(faces[place], np.int32),
        back,
    )


def areas(points: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Area of every triangle."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def shares(points: np.ndarray, faces: np.ndarray, edges: np.ndarray | None = None) -> np.ndarray:
    """The part of the sheet's area that belongs to each particle: a third of every triangle it is in; sum
    1."""
    area = np.repeat(areas(points, faces) / 3.0, 3)
    share = np.bincount(faces.reshape(-1), area, minlength=len(points))
    share[share <= 0.0] = share[share > 0.0].min() if (share > 0.0).any() else 1.0
    return share / share.sum()


def hinges(points: np.ndarray, faces: np.ndarray, edges: np.ndarray, beside: np.ndarray) -> tuple:
    """Isometric bending elements: (m, 4) particles (edge, then the two opposite), (m, 4) weights, rest
    lengths, areas.

    K = (c03 + c04, c01 + c02, -c01 - c03, -c02 - c04), c the cotangents at the edge (Bergou et al. 2006).
    """
    inner = np.flatnonzero(beside[:, 1] >= 0)
    edge = edges[inner]
    opposite = [faces[beside[inner, k]] for k in range(2)]
    tips = [f.sum(axis=1) - edge.sum(axis=1) for f in opposite]
    at = np.stack([edge[:, 0], edge[:, 1], tips[0], tips[1]], axis=1).astype(np.int32)
    x = points[at]
    e0, e1, e2 = x[:, 1] - x[:, 0], x[:, 2] - x[:, 0], x[:, 3] - x[:, 0]
    e3, e4 = x[:, 2] - x[:, 1], x[:, 3] - x[:, 1]

    def cot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return (u * v).sum(axis=1) / np.maximum(np.linalg.norm(np.cross(u, v), axis=1), 1e-300)

    c01, c02, c03, c04 = cot(e0, e1), cot(e0, e2), cot(-e0, e3), cot(-e0, e4)
    weights = np.stack([c03 + c04, c01 + c02, -c01 - c03, -c02 - c04], axis=1)
    area = 0.5 * (np.linalg.norm(np.cross(e0, e1), axis=1) + np.linalg.norm(np.cross(e0, e2), axis=1))
    rest = np.linalg.norm((weights[:, :, None] * x).sum(axis=1), axis=1)
    rest[rest < 1e-6 * np.linalg.norm(e0, axis=1)] = 0.0
    return at, weights, rest, area


def far_pins(points: np.ndarray, pins: np.ndarray) -> np.ndarray:
    """Up to ANCHORS pins as far from each other as can be, starting with the one farthest from their
    middle."""
    if len(pins) <= ANCHORS:
        return pins
    places = points[pins]
    chosen = [int(np.argmax(np.linalg.norm(places - places.mean(axis=0), axis=1)))]
    away = np.linalg.norm(places - places[chosen[0]], axis=1)
    while len(chosen) < ANCHORS:
        chosen.append(int(np.argmax(away)))
        away = np.minimum(away, np.linalg.norm(places - places[chosen[-1]], axis=1))
    return pins[chosen]


def straight_anchors(points: np.ndarray, pins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) pins and how far each particle may be from them, for a flat whole sheet: straight lines on
    it."""
    count = len(points)
    if not len(pins):
        return np.full((count, 1), -1, np.int32), np.zeros((count, 1))
    chosen = np.tile(far_pins(points, pins), (count, 1))
    if len(pins) > ANCHORS:
        nearest = np.empty(count, np.int64)
        for first in range(0, count, 1024):
            part = points[first : first + 1024, None] - points[None, pins]
            nearest[first : first + 1024] = pins[np.argmin((part * part).sum(axis=2), axis=1)]
        chosen = np.concatenate([chosen, nearest[:, None]], axis=1)
    limits = np.linalg.norm(points[:, None] - points[chosen], axis=2)
    return np.ascontiguousarray(chosen, np.int32), np.ascontiguousarray(limits)


def walked_anchors(
    points: np.ndarray, pins: np.ndarray, edges: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same for any sheet, torn ones too: shortest ways along whole edges (lengths: -1 where torn)."""
    count = len(points)
    if not len(pins):
        return np.full((count, 1), -1, np.int32), np.zeros((count, 1))
    flat = np.concatenate([edges[:, 0], edges[:, 1]])
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(count + 1)).astype(np.int64)
    ends = np.ascontiguousarray(np.concatenate([edges[:, 1], edges[:, 0]])[order], np.int32)
    long = np.ascontiguousarray(np.concatenate([lengths, lengths])[order])
    way, heap, place = np.empty(count), np.empty(count + 1, np.int32), np.empty(count, np.int32)
    chosen = far_pins(points, pins)
    anchors = np.tile(chosen.astype(np.int32), (count, 1))
    limits = np.empty((count, len(chosen)))
    for k, pin in enumerate(chosen):
        kernel.geodesic(starts, ends, long, int(pin), way, heap, place)
        limits[:, k] = way
    anchors[limits >= 1e300] = -1
    return np.ascontiguousarray(anchors), limits
