"""Tetrahedra that fill a closed mesh or an outline, for `SoftBody.tets`."""

from __future__ import annotations

from typing import Any

import numpy as np

from softkit import checks
from softkit import softbody_shapes as shapes
from softkit.softbody_fill import inner_points, triangulate

CELLS = 8
"""Cells to the longest side of a mesh by default."""
MOST_CELLS = 60_000
CHUNK = 1_000_000
NEAR = (0.41189, 0.24999)
"""Part of a short and of a long edge: a cut nearer to a node than that draws the node onto the surface."""


def tetrahedralize(
    vertices: Any, triangles: Any, *, spacing: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Tetrahedra that fill a closed mesh: (points (n, 3) wu, tets (t, 4) of positive volume).

    Args:
        vertices, triangles: the mesh, as for `SoftBody.mesh`; concave ones, and several bodies in one, too.
        spacing: size of a cell, wu, > 0, with at most 60,000 cells in the box round the mesh; default an
            eighth of the mesh's longest side.

    A body-centred lattice over the box round the mesh is cut at the surface, its nodes first drawn onto the
    surface where they are near it (after Labelle, Shewchuk 2007, "Isosurface stuffing"). Boxes along the
    axes are filled exactly; edges and corners in other directions are cut off by part of a cell, and parts
    much thinner than `spacing` are left out. The points are not the mesh's vertices: to draw the mesh itself,
    carry it by a `deform.Cage`.

    Raises what `SoftBody.mesh` raises for such a mesh, and ValueError where nothing of it is as thick as
    `spacing`.

    >>> cube = [(x, y, z) for z in (0, 10) for y in (0, 10) for x in (0, 10)]
    >>> quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    >>> faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    >>> from softkit import SoftBody
    >>> body = SoftBody.tets(*tetrahedralize(cube, faces, spacing=5))
    >>> round(body.rest_volume, 6)
    1000.0
    """
    layout, _ = shapes.mesh(vertices, triangles)
    corners = layout.rest[layout.faces]
    low, sides = layout.rest.min(axis=0), np.ptp(layout.rest, axis=0)
    spacing = float(sides.max()) / CELLS if spacing is None else checks.number("spacing", spacing, above=0.0)
    number = np.maximum(1.0, np.round(sides / spacing))
    if number.prod() > MOST_CELLS:
        raise ValueError(f"spacing must give at most {MOST_CELLS} cells, got {spacing!r}")
    points, tets = _lattice(number.astype(int))
    points = low + points * (sides / number)
    sign = _sides(points, corners, 1e-9 * float(sides.max()))
    tets = tets[(sign[tets] > 0).any(axis=1)]
    points, tets = _cut(points, tets, sign, corners)
    # An edge of the lattice may be all of a sliver: such tetrahedra hold nothing.
    tets = tets[shapes.tet_volumes(points, tets) > 1e-6 * _longest(points, tets) ** 3]
    if not len(tets):
        raise ValueError(f"spacing must be less than the mesh's thickness, got {spacing!r}")
    used, where = np.unique(tets, return_inverse=True)
    return points[used], where.reshape(tets.shape).astype(np.int32)


def extrude(outline: Any, depth: float, *, spacing: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Tetrahedra of a plate of the shape of an outline: (points (n, 3) wu, tets (t, 4) of positive volume).

    Args:
        outline: (n, 2) corners, as for `SoftBody.polygon`: all of them are kept.
        depth: thickness, wu, > 0, half of it on either side of z = 0.
        spacing: size of the triangles and of the layers, wu, > 0; default a twelfth of the outline's size,
            or `depth` where that is less.

    >>> from softkit import SoftBody
    >>> body = SoftBody.tets(*extrude([(0, 0), (40, 0), (40, 30), (0, 30)], 10))
    >>> round(body.rest_volume, 6)
    12000.0
    """
    depth = checks.number("depth", depth, 0.0, checks.LIMIT, above=0.0)
    if spacing is not None:
        spacing = checks.number("spacing", spacing, above=0.0)
    ring = shapes.outline(outline, None)
    size = float(np.ptp(ring, axis=0).max())
    spacing = min(max(size / 12.0, depth / 8.0), max(depth, size / 24.0)) if spacing is None else spacing
    layers = max(1, round(depth / spacing))
    if (size / spacing + len(ring)) * size / spacing * layers > shapes.MOST:
        raise ValueError(f"spacing must give at most {shapes.MOST} particles, got {spacing!r}")
    ring = shapes.outline(outline, spacing)
    if shapes.signed_area(ring) < 0.0:
        ring = ring[::-1]
    inner = inner_points(ring, spacing)
    flat, plane = triangulate(ring, inner), np.concatenate([ring, inner])
    count = len(plane)
    heights = depth * (np.arange(layers + 1) / layers - 0.5)
    points = np.concatenate([np.column_stack([plane, np.full(count, z)]) for z in heights])
    wedges = np.concatenate([np.hstack([flat + k * count, flat + (k + 1) * count]) for k in range(layers)])
    return points, np.array([tet for wedge in wedges.tolist() for tet in _wedge(wedge)], np.int32)


def _longest(points: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """(t,) longest edge from the first corner."""
    return np.sqrt(((points[tets[:, 1:]] - points[tets[:, :1]]) ** 2).sum(axis=2).max(axis=1))


def _lattice(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and tetrahedra of a body-centred lattice of cells of size 1 that covers a box of so many:
    corners, then the centres of the cells, those of one more layer outside included."""
    corner = np.stack(np.meshgrid(*(np.arange(n + 1) for n in number), indexing="ij"), axis=-1)
    center = np.stack(np.meshgrid(*(np.arange(-1, n + 1) for n in number), indexing="ij"), axis=-1)
    first = corner[..., 0].size
    name = np.arange(first).reshape(corner.shape[:3])
    middle = first + np.arange(center[..., 0].size).reshape(center.shape[:3])
    points = np.concatenate([corner.reshape(-1, 3), center.reshape(-1, 3) + 0.5]).astype(float)
    found = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        # The faces across this axis: one before each cell and one after the last.
        size = number.copy()
        size[axis] += 1
        face = np.stack(np.meshgrid(*(np.arange(n) for n in size), indexing="ij"), axis=-1).reshape(-1, 3)
        step = np.eye(3, dtype=int)
        ring = [name[tuple((face + d).T)] for d in (0 * step[0], step[u], step[u] + step[v], step[v])]
        after = middle[tuple((face + 1).T)]
        before = middle[tuple((face + 1 - step[axis]).T)]
        for k in range(4):
            found.append(np.stack([before, ring[k], ring[(k + 1) % 4], after], axis=1))
    return points, np.concatenate(found)


def _sides(points: np.ndarray, corners: np.ndarray, reach: float) -> np.ndarray:
    """(n,) 1 inside, -1 outside, 0 within `reach` of the surface, by the solid angle (Van Oosterom, Strackee
    1983) that the triangles (t, 3, 3) take up."""
    sign = np.zeros(len(points), np.int8)
    for some in np.array_split(np.arange(len(points)), 1 + len(points) * len(corners) // CHUNK):
        a, b, c = (corners[None, :, k] - points[some, None] for k in range(3))
        la, lb, lc = (np.sqrt((e * e).sum(axis=2)) for e in (a, b, c))
        top = (np.cross(a, b) * c).sum(axis=2)
        bottom = la * lb * lc + (a * b).sum(axis=2) * lc + (b * c).sum(axis=2) * la + (c * a).sum(axis=2) * lb
        turns = np.arctan2(top, bottom).sum(axis=1) / (2.0 * np.pi)
        sign[some] = np.where(turns > 0.5, 1, -1)
        sign[some[_distance(a, b, c) <= reach]] = 0
    return sign


def _distance(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """(n,) least distance of the origin from triangles with corners (n, t, 3)."""
    best = np.full(a.shape[:2], np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        way = q - p
        share = np.clip(-(p * way).sum(axis=2) / np.maximum((way * way).sum(axis=2), 1e-300), 0.0, 1.0)
        best = np.minimum(best, ((p + share[..., None] * way) ** 2).sum(axis=2))
    normal = np.cross(b - a, c - a)
    inner = np.ones(a.shape[:2], bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inner &= (np.cross(p, q) * normal).sum(axis=2) >= 0.0
    high = (a * normal).sum(axis=2) ** 2 / np.maximum((normal * normal).sum(axis=2), 1e-300)
    return np.sqrt(np.where(inner, np.minimum(best, high), best).min(axis=1))


def _crossings(p: np.ndarray, q: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """(m,) where, 0 to 1, lines from p inside to q outside first leave the surface (Moeller, Trumbore 1997);
    a half where rounding hides it."""
    share = np.full(len(p), 0.5)
    e1, e2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    for some in np.array_split(np.arange(len(p)), 1 + len(p) * len(corners) // CHUNK):
        way = (q - p)[some, None]
        h = np.cross(way, e2[None])
        det = (e1[None] * h).sum(axis=2)
        safe = np.where(np.abs(det) > 1e-300, det, np.inf)
        off = p[some, None] - corners[None, :, 0]
        u = (off * h).sum(axis=2) / safe
        side = np.cross(off, e1[None])
        v = (way * side).sum(axis=2) / safe
        t = (e2[None] * side).sum(axis=2) / safe
        hit = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (t >= 0.0) & (t <= 1.0) & np.isfinite(safe)
        first = np.where(hit, t, np.inf).min(axis=1)
        share[some] = np.where(np.isfinite(first), first, 0.5)
    return share


def _cut(
    points: np.ndarray, tets: np.ndarray, sign: np.ndarray, corners: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The inside part of every tetrahedron, nodes near the surface drawn onto it."""
    edges = shapes.unique_edges(tets)
    edges = edges[sign[edges[:, 0]] * sign[edges[:, 1]] < 0]
    edges = np.where(sign[edges[:, :1]] > 0, edges, edges[:, ::-1])
    share = _crossings(points[edges[:, 0]], points[edges[:, 1]], corners)
    cuts = points[edges[:, 0]] + share[:, None] * (points[edges[:, 1]] - points[edges[:, 0]])
    # Corners come first in the lattice: an edge between a corner and a centre is a short one.
    kinds = _kinds(points, edges)
    limit = np.where(kinds, NEAR[1], NEAR[0])
    points, sign = points.copy(), sign.copy()
    places: dict[tuple[int, int], int] = {}
    near = np.minimum(share, 1.0 - share)
    for k in np.argsort(near, kind="stable").tolist():
        a, b = edges[k].tolist()
        if near[k] >= limit[k]:
            break
        if sign[a] and sign[b]:
            node = a if share[k] <= 0.5 else b
            points[node], sign[node] = cuts[k], 0
    more = [points]
    for k, (a, b) in enumerate(edges.tolist()):
        if sign[a] and sign[b]:
            places[a, b] = len(points) + len(more) - 1
            more.append(cuts[k : k + 1])
    whole = (sign[tets] >= 0).all(axis=1) & (sign[tets] > 0).any(axis=1)
    found = tets[whole].tolist()
    for tet in tets[(sign[tets] < 0).any(axis=1) & (sign[tets] > 0).any(axis=1)].tolist():
        found += _clip(tet, [int(s) for s in sign[tet]], places)
    return np.concatenate(more), np.array(found, np.int64).reshape(-1, 4)


def _kinds(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(e,) is it a long edge of the lattice, along an axis?"""
    way = np.abs(points[edges[:, 1]] - points[edges[:, 0]])
    return (way > 1e-9 * way.max(initial=0.0)).sum(axis=1) == 1


def _clip(tet: list[int], sign: list[int], places: dict[tuple[int, int], int]) -> list[list[int]]:
    """The part of a tetrahedron of positive volume where the sign is positive, as tetrahedra."""
    inner = [k for k in range(4) if sign[k] > 0]
    if len(inner) == 1:
        p = inner[0]
        return [[places[tet[p], tet[k]] if sign[k] < 0 else tet[k] for k in range(4)]]
    outer = [k for k in range(4) if sign[k] < 0]
    rest = [k for k in range(4) if sign[k] == 0]
    if len(inner) == 2 and len(outer) == 1:
        # A pyramid: the node on the surface over two nodes and their cuts.
        p, q, (o,), (z,) = *inner, outer, rest
        base = [tet[p], tet[q], places[tet[q], tet[o]], places[tet[p], tet[o]]]
        low = base.index(min(base))
        base = base[low:] + base[:low]
        pieces = [[base[0], base[1], base[2], tet[z]], [base[0], base[2], base[3], tet[z]]]
        return pieces if _even([p, q, o, z]) else [[t[1], t[0], t[2], t[3]] for t in pieces]
    if len(inner) == 3:
        a, b, c = inner
        o = outer[0]
        if not _even([a, b, c, o]):
            a, b = b, a
        return _wedge([*(tet[k] for k in (a, b, c)), *(places[tet[k], tet[o]] for k in (a, b, c))])
    p, q = inner
    r, s = outer
    if not _even([p, r, s, q]):
        r, s = s, r
    near, far = ([tet[k], places[tet[k], tet[r]], places[tet[k], tet[s]]] for k in (p, q))
    return _wedge([*near, *far])


def _even(order: list[int]) -> bool:
    """Is a permutation of 0 to 3 even?"""
    return sum(order[i] > order[j] for i in range(4) for j in range(i + 1, 4)) % 2 == 0


def _wedge(w: list[int]) -> list[list[int]]:
    """Three tetrahedra of a wedge with bottom w[:3] and top w[3:], counter-clockwise seen from the top: each
    side is split from its lowest index, so neighbours agree (Dompierre, Labbe, Vallet, Camarero 1999)."""
    turn = w.index(min(w))
    if (
        turn >= 3
    ):  # upside down, the order of the triangles turned so that it stays a wedge of positive volume
        w = [w[3], w[5], w[4], w[0], w[2], w[1]]
        turn = w.index(min(w))
    a, b, c = (w[(turn + k) % 3] for k in range(3))
    d, e, f = (w[3 + (turn + k) % 3] for k in range(3))
    if min(b, f) < min(c, e):
        return [[a, b, c, f], [a, b, f, e], [a, e, f, d]]
    return [[a, b, c, e], [a, e, c, f], [a, e, f, d]]
