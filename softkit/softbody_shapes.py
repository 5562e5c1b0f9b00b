"""What soft bodies are made of: particles, links, cells and surfaces of each kind of shape, checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softkit import checks

STRETCH, SHEAR, BEND = 0, 1, 2
WELD = 1e-3
"""Vertices of a mesh nearer than this part of its size are one."""
MOST = 200_000


def _no(columns: int) -> np.ndarray:
    return np.zeros((0, columns), np.int32)


@dataclass
class Layout:
    """A soft body's topology.

    Attributes:
        rest: (n, d) rest places.
        shares: (n,) part of the mass of each particle.
        links: (l, 2) particles of the distance constraints; kinds: (l,) STRETCH, SHEAR or BEND.
        ring: (r,) the closed outline in order, planar.
        cells: (c, 3) triangles or (c, 4) tetrahedra whose size is kept.
        faces: (f, 3) closed surface, 3-D, outward.
        edges: (e, 2) what touches shapes between particles, planar.
        whole: is the area of the ring, or the volume inside the faces, kept?
        grid: (columns, rows, layers) of a lattice.
    """

    rest: np.ndarray
    shares: np.ndarray
    links: np.ndarray
    kinds: np.ndarray
    ring: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    cells: np.ndarray = field(default_factory=lambda: _no(3))
    faces: np.ndarray = field(default_factory=lambda: _no(3))
    edges: np.ndarray = field(default_factory=lambda: _no(2))
    whole: bool = False
    grid: tuple[int, int, int] | None = None


def colored(items: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """(order, starts): items sorted into colours of which none has two items with a particle in common,
    however many items a particle has."""
    used = [0] * count
    colors = np.zeros(len(items), np.int64)
    for k, item in enumerate(items.tolist()):
        taken = 0
        for i in item:
            taken |= used[i]
        bit = ~taken & (taken + 1)
        colors[k] = bit.bit_length() - 1
        for i in item:
            used[i] |= bit
    order = np.argsort(colors, kind="stable")
    number = int(colors.max()) + 1 if len(items) else 0
    return order, np.searchsorted(colors[order], np.arange(number + 1)).astype(np.int64)


def signed_area(points: np.ndarray) -> float:
    """Area of a closed outline, positive where it turns from x to y."""
    x, y = (points - points[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def _crossing(points: np.ndarray) -> tuple[int, int] | None:
    """Two edges of a closed outline that cross, or None."""
    a, b = points, np.roll(points, -1, axis=0)
    n = len(a)
    for i in range(n - 2):
        last = n - 1 if i == 0 else n
        j = np.arange(i + 2, last)
        if not len(j):
            continue

        def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
            return (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (
                r[..., 0] - p[..., 0]
            )

        apart = (side(a[i], b[i], a[j]) * side(a[i], b[i], b[j]) < 0) & (
            side(a[j], b[j], a[i]) * side(a[j], b[j], b[i]) < 0
        )
        if apart.any():
            return i, int(j[np.argmax(apart)])
    return None


def outline(points: Any, spacing: float | None) -> np.ndarray:
    """A checked closed outline, its edges cut to at most `spacing` wu."""
    rest = checks.points("outline", points, 2, least=3)
    if len(rest) > 3 and np.allclose(
        rest[0], rest[-1], rtol=0.0, atol=1e-12 * float(np.ptp(rest, axis=0).max())
    ):
        rest = rest[:-1]
    size = float(np.ptp(rest, axis=0).max())
    after = np.roll(rest, -1, axis=0)
    lengths = np.hypot(*(after - rest).T)
    if (lengths <= 1e-9 * size).any():
        i = int(np.argmax(lengths <= 1e-9 * size))
        raise ValueError(
            f"outline[{(i + 1) % len(rest)}] must not repeat the point before it, got {rest[i].tolist()!r}"
        )
    if abs(signed_area(rest)) <= 1e-6 * size * size:
        raise ValueError(f"outline must have an area, got {abs(signed_area(rest)):g} for a size of {size:g}")
    cross = _crossing(rest) if len(rest) <= 5000 else None
    if cross:
        raise ValueError(f"outline must not cross itself, edges {cross[0]} and {cross[1]} do")
    if spacing is None:
        return rest
    pieces = np.maximum(1, np.ceil(lengths / spacing - 1e-9)).astype(int)
    if pieces.sum() > MOST:
        raise ValueError(f"spacing must give at most {MOST} particles, got {spacing!r}")
    parts = [p + (q - p) * (np.arange(k) / k)[:, None] for p, q, k in zip(rest, after, pieces)]
    return np.concatenate(parts)


def polygon(points: np.ndarray) -> Layout:
    """A closed outline: its edges, tethers over every corner, and the area inside."""
    n = len(points)
    i = np.arange(n, dtype=np.int32)
    edges = np.stack([i, (i + 1) % n], axis=1)
    tethers = np.stack([i, (i + 2) % n], axis=1) if n > 4 else _no(2)
    lengths = np.hypot(*(np.roll(points, -1, axis=0) - points).T)
    shares = lengths + np.roll(lengths, 1)
    links = np.concatenate([edges, tethers])
    kinds = np.repeat([STRETCH, BEND], [len(edges), len(tethers)])
    return Layout(points, shares / shares.sum(), links, kinds, ring=i, edges=edges, whole=True)


def _pairs(index: np.ndarray, step: tuple[int, int, int]) -> np.ndarray:
    """Pairs of lattice particles that lie `step` (layer, row, column) apart."""
    low, high = [], []
    for size, by in zip(index.shape, step):
        low.append(slice(max(0, -by), size - max(0, by)))
        high.append(slice(max(0, by), size - max(0, -by)))
    a, b = index[tuple(low)], index[tuple(high)]
    return np.stack([a.reshape(-1), b.reshape(-1)], axis=1).astype(np.int32)


AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))
DIAGONALS = ((0, 1, 1), (0, 1, -1), (1, 0, 1), (1, 0, -1), (1, 1, 0), (1, -1, 0))


def lattice(columns: int, rows: int, layers: int, spacing: float, origin: tuple[float, ...]) -> Layout:
    """A block of particles: neighbours along the axes and the faces' diagonals, tethers to second
    neighbours."""
    d = 2 if layers == 1 else 3
    index = np.arange(columns * rows * layers).reshape(layers, rows, columns)
    layer, row, column = np.unravel_index(index.reshape(-1), index.shape)
    rest = np.stack([column, row, layer], axis=1)[:, :d] * spacing + np.array(origin)[:d]
    groups = [
        (kind, np.concatenate([_pairs(index, tuple(scale * k for k in step)) for step in steps]))
        for kind, steps, scale in ((STRETCH, AXES, 1), (SHEAR, DIAGONALS, 1), (BEND, AXES, 2))
    ]
    links = np.concatenate([pairs for _, pairs in groups])
    kinds = np.repeat([kind for kind, _ in groups], [len(pairs) for _, pairs in groups])
    shares = np.full(len(rest), 1.0 / len(rest))
    layout = Layout(rest, shares, links, kinds, grid=(columns, rows, layers))
    if d == 3:
        layout.cells = _cube_tets(index)
        layout.faces = outside(layout.cells)
        if not len(layout.cells):
            layout.edges = links[kinds == STRETCH]
    elif rows > 1 and columns > 1:
        layout.cells = _square_triangles(index[0])
        grid = index[0]
        layout.ring = np.concatenate([grid[0, :-1], grid[:-1, -1], grid[-1, :0:-1], grid[:0:-1, 0]]).astype(
            np.int32
        )
        layout.edges = np.stack([layout.ring, np.roll(layout.ring, -1)], axis=1)
    else:
        layout.edges = links[kinds == STRETCH]
    return layout


def _square_triangles(grid: np.ndarray) -> np.ndarray:
    """Two triangles a square, their diagonals turned like a chessboard's colours."""
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    row, column = np.indices(a.shape)
    even = ((row + column) % 2 == 0)[..., None, None]
    one = np.stack([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)], axis=-2)
    two = np.stack([np.stack([a, b, d], axis=-1), np.stack([b, c, d], axis=-1)], axis=-2)
    return np.where(even, one, two).reshape(-1, 3).astype(np.int32)


FIVE = np.array([[0, 1, 2, 4], [1, 3, 2, 7], [1, 4, 5, 7], [2, 7, 6, 4], [1, 2, 4, 7]])
"""A cube as five tetrahedra; corner k lies at (k & 1, k >> 1 & 1, k >> 2)."""


def _cube_tets(index: np.ndarray) -> np.ndarray:
    """Five tetrahedra a cube; every other cube mirrored, so that neighbours share their faces' diagonals."""
    layers, rows, columns = index.shape
    if min(index.shape) < 2:
        return _no(4)
    corners = np.stack(
        [
            index[
                k >> 2 : layers - 1 + (k >> 2),
                (k >> 1 & 1) : rows - 1 + (k >> 1 & 1),
                (k & 1) : columns - 1 + (k & 1),
            ]
            for k in range(8)
        ],
        axis=-1,
    )
    odd = np.indices(corners.shape[:3]).sum(axis=0) % 2 == 1
    mirrored = corners[..., [1, 0, 3, 2, 5, 4, 7, 6]]
    tets = np.where(odd[..., None, None], mirrored[..., FIVE][..., [0, 2, 1, 3]], corners[..., FIVE])
    return tets.reshape(-1, 4).astype(np.int32)


def tet_volumes(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """(t,) signed volumes."""
    a, b, c = (points[tets[:, k]] - points[tets[:, 0]] for k in (1, 2, 3))
    return np.einsum("ij,ij->i", np.cross(a, b), c) / 6.0


def outside(tets: np.ndarray) -> np.ndarray:
    """(f, 3) faces of tetrahedra of positive volume that belong to one of them only, seen from outside."""
    if not len(tets):
        return _no(3)
    faces = np.concatenate([tets[:, k] for k in ([1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1])])
    key = np.sort(faces, axis=1)
    _, first, number = np.unique(key, axis=0, return_index=True, return_counts=True)
    return np.ascontiguousarray(faces[np.sort(first[number == 1])], np.int32)


def unique_edges(cells: np.ndarray) -> np.ndarray:
    """(m, 2) edges of triangles or tetrahedra, lower index first."""
    k = cells.shape[1]
    pairs = [cells[:, [i, j]] for i in range(k) for j in range(i + 1, k)]
    return np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0).astype(np.int32)


def indices(name: str, value: Any, columns: int, count: int) -> np.ndarray:
    """(k, columns) indices of `count` points, negatives counted from the end, none twice in a row."""
    rows = np.asarray(value)
    if rows.ndim != 2 or rows.shape[1] != columns or rows.dtype.kind not in "iu" or not len(rows):
        raise ValueError(
            f"{name} must be a (k, {columns}) array of ints, got shape {rows.shape} of {rows.dtype}"
        )
    bad = ((rows < -count) | (rows >= count)).any(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise IndexError(f"{name}[{i}] must be between {-count} and {count - 1}, got {rows[i].tolist()!r}")
    rows = np.where(rows < 0, rows + count, rows).astype(np.int32)
    _twice(name, rows, np.asarray(value))
    return rows


def _twice(name: str, rows: np.ndarray, given: np.ndarray) -> None:
    row = np.sort(rows, axis=1)
    bad = (np.diff(row, axis=1) == 0).any(axis=1)
    if bad.any():
        i = int(np.argmax(bad))
        raise ValueError(f"{name}[{i}] must not name a vertex twice, got {given[i].tolist()!r}")
    _, first = np.unique(row, axis=0, return_index=True)
    if len(first) < len(row):
        i = int(np.setdiff1d(np.arange(len(row)), first)[0])
        raise ValueError(f"{name}[{i}] must not repeat an earlier one, got {given[i].tolist()!r}")


def weld(points: np.ndarray, reach: float) -> tuple[np.ndarray, np.ndarray]:
    """(first, which): the vertices that stay, and which of them each vertex became."""
    cells: dict[tuple[int, ...], list[int]] = {}
    keep: list[int] = []
    which = np.zeros(len(points), np.int64)
    keys = np.floor((points - points.min(axis=0)) / max(reach, 1e-300)).astype(np.int64)
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    for i, key in enumerate(map(tuple, keys.tolist())):
        near = [k for s in steps for k in cells.get((key[0] + s[0], key[1] + s[1], key[2] + s[2]), ())]
        near = [k for k in near if np.linalg.norm(points[keep[k]] - points[i]) <= reach]
        if near:
            which[i] = min(near)
        else:
            which[i] = len(keep)
            cells.setdefault(key, []).append(len(keep))
            keep.append(i)
    return np.array(keep, np.int64), which


def mesh(vertices: Any, triangles: Any) -> tuple[Layout, np.ndarray]:
    """A closed surface, welded: its edges, tethers across them, and the volume inside."""
    points = checks.points("vertices", vertices, 3, least=4)
    faces = indices("triangles", triangles, 3, len(points))
    size = float(np.ptp(points, axis=0).max())
    keep, welded = weld(points, WELD * size)
    given, faces = faces, welded[faces].astype(np.int32)
    points = points[keep]
    _twice("triangles", faces, given)
    a, b, c = (points[faces[:, k]] for k in range(3))
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    if (areas <= 1e-9 * size * size).any():
        i = int(np.argmax(areas <= 1e-9 * size * size))
        raise ValueError(f"triangles[{i}] must have an area, got {given[i].tolist()!r}")
    opposite = _closed(faces, given)
    origin = points.mean(axis=0)
    volume = float(np.einsum("ij,ij->i", np.cross(a - origin, b - origin), c - origin).sum()) / 6.0
    if abs(volume) <= 1e-9 * size**3:
        raise ValueError(f"triangles must enclose a volume, got {volume:g} for a size of {size:g}")
    if volume < 0.0:
        raise ValueError(
            f"triangles[0] must be counter-clockwise seen from outside, got {given[0].tolist()!r}: "
            "the mesh is inside out"
        )
    unused = np.setdiff1d(np.arange(len(points)), faces)
    if len(unused):
        raise ValueError(f"vertices[{int(keep[unused[0]])}] must be in a triangle, is in none")
    shares = np.zeros(len(points))
    for k in range(3):
        np.add.at(shares, faces[:, k], areas)
    edges = unique_edges(faces)
    known = {tuple(e) for e in edges.tolist()}
    tethers = np.array(sorted({e for e in opposite if e not in known}), np.int32).reshape(-1, 2)
    links = np.concatenate([edges, tethers])
    kinds = np.repeat([STRETCH, BEND], [len(edges), len(tethers)])
    return Layout(points, shares / shares.sum(), links, kinds, faces=faces, whole=True), welded


def _closed(faces: np.ndarray, given: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of vertices across each edge; ValueError unless every edge has one triangle on either side."""
    beside: dict[tuple[int, int], int] = {}
    for i, (a, b, c) in enumerate(faces.tolist()):
        for edge in ((a, b), (b, c), (c, a)):
            if edge in beside:
                raise ValueError(
                    f"triangles[{i}] must be turned like its neighbours, got {given[i].tolist()!r}: "
                    f"triangles[{beside[edge]}] has the same edge in the same direction"
                )
            beside[edge] = i
    pairs = []
    for (a, b), i in beside.items():
        if (b, a) not in beside:
            raise ValueError(
                f"triangles[{i}] must be part of a closed mesh, got {given[i].tolist()!r}: an edge is open"
            )
        if a < b:
            j = beside[(b, a)]
            p, q = (int(f.sum()) - a - b for f in (faces[i], faces[j]))
            if p != q:
                pairs.append((min(p, q), max(p, q)))
    return pairs


def tets(vertices: Any, cells: Any) -> Layout:
    """Tetrahedra: every edge and every volume."""
    points = checks.points("vertices", vertices, 3, least=4)
    rows = indices("tets", cells, 4, len(points))
    volumes = tet_volumes(points, rows)
    a, b, c = (points[rows[:, k]] - points[rows[:, 0]] for k in (1, 2, 3))
    size = np.sqrt(np.maximum.reduce([(e * e).sum(axis=1) for e in (a, b, c)]))
    flat = np.abs(volumes) <= 1e-6 * size**3
    if flat.any():
        i = int(np.argmax(flat))
        raise ValueError(f"tets[{i}] must have a volume, got {rows[i].tolist()!r}: it is flat")
    if (volumes < 0.0).any():
        i = int(np.argmax(volumes < 0.0))
        raise ValueError(f"tets[{i}] must have a positive volume, got {rows[i].tolist()!r}: it is inverted")
    unused = np.setdiff1d(np.arange(len(points)), rows)
    if len(unused):
        raise ValueError(f"vertices[{int(unused[0])}] must be in a tetrahedron, is in none")
    shares = np.zeros(len(points))
    for k in range(4):
        np.add.at(shares, rows[:, k], volumes)
    links = unique_edges(rows)
    kinds = np.full(len(links), STRETCH)
    return Layout(points, shares / shares.sum(), links, kinds, cells=rows, faces=outside(rows))
