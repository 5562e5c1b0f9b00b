"""Tearing: which edges go, and what that leaves of a sheet's triangles, hinges and batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit import cloth_layout

if TYPE_CHECKING:
    from softkit.cloth import Cloth


def crossed(cloth: Cloth, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Live edges that the stroke from a to b crosses, seen along z."""
    x = cloth._p[:2].T
    p, q = x[cloth._edges[:, 0]], x[cloth._edges[:, 1]]

    def side(u: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
        return (v[..., 0] - u[..., 0]) * (w[..., 1] - u[..., 1]) - (v[..., 1] - u[..., 1]) * (
            w[..., 0] - u[..., 0]
        )

    apart = (side(a, b, p) > 0) != (side(a, b, q) > 0)
    met = (side(p, q, a) > 0) != (side(p, q, b) > 0)
    return np.flatnonzero(apart & met & (cloth._edge_live > 0.0))


def tear_edges(cloth: Cloth, which: np.ndarray) -> int:
    """Break live edges; their triangles go with them."""
    if not len(which):
        return 0
    cloth._edge_live[which] = 0.0
    faces = cloth._beside[which].reshape(-1)
    cloth._face_live[faces[faces >= 0]] = False
    cloth._torn = True
    cloth._parts_stale = True
    cloth._changed()
    if cloth.on_tear is not None:
        cloth.on_tear(cloth, cloth._edges[which])
    return len(which)


def derive(cloth: Cloth) -> None:
    """Everything that follows from which edges and triangles are left."""
    n = cloth.count
    if not hasattr(cloth, "_blocks") or len(cloth._blocks.place) != len(cloth._faces):
        cloth._blocks = cloth_layout.make_blocks(cloth._faces, cloth._block, n)
        _fixed_parts(cloth)
    cloth._live_faces = np.ascontiguousarray(cloth._faces[cloth._face_live] if cloth._torn else cloth._faces)
    cloth._starts, cloth._around = cloth_layout.incidence(cloth._live_faces, n)
    cloth._blocks.faces[cloth._blocks.place] = np.where(cloth._face_live[:, None], cloth._faces, -1)
    if cloth._grid is not None:
        _grid_parts(cloth)
    else:
        _mesh_parts(cloth)


def _fixed_parts(cloth: Cloth) -> None:
    """What does not change when the sheet tears."""
    n, edges = cloth.count, cloth._edges
    if cloth._grid is not None:
        columns = cloth._grid[1]
        gap = edges[:, 1] - edges[:, 0]
        flat = (edges[:, 0] // columns) == (edges[:, 1] // columns)
        cloth._kinds = np.where(flat & (gap == 1), 0, np.where(gap == columns, 1, 2))
        cloth._live = np.ones((4, n))
        x = cloth._rest
        cloth._diagonals = (
            float(np.linalg.norm(x[columns + 1] - x[0])),
            float(np.linalg.norm(x[columns] - x[1])),
        )
        first, second = cloth._faces[:, 0].astype(np.int64), cloth._faces[:, 1]
        cloth._cells = first - (second - first != 1)
        return
    order, cloth._edge_starts = cloth_layout.batches(edges, n)
    cloth._edge_order = order
    cloth._batch_edges = np.ascontiguousarray(edges[order])
    cloth._batch_rest = np.ascontiguousarray(cloth._edge_rest[order])
    cloth._lam = np.zeros(len(edges))
    at, weights, rest, area = cloth_layout.hinges(cloth._rest, cloth._faces, edges, cloth._beside)
    order, cloth._hinge_starts = cloth_layout.batches(at, n)
    cloth._hinge_edge = np.flatnonzero(cloth._beside[:, 1] >= 0)[order]
    cloth._hinges = np.ascontiguousarray(at[order]).reshape(-1, 4)
    cloth._hinge_weights = np.ascontiguousarray(weights[order])
    cloth._hinge_rest = np.ascontiguousarray(rest[order])
    cloth._hinge_area = area[order]


def _grid_parts(cloth: Cloth) -> None:
    """Which of a grid's rows, columns and diagonals hold: a diagonal that is no triangle's edge goes with its
    cell."""
    live, edges = cloth._live, cloth._edges
    for kind in range(2):
        mine = cloth._kinds == kind
        live[kind, edges[mine, 0]] = cloth._edge_live[mine]
    whole = np.bincount(cloth._cells[cloth._face_live], minlength=cloth.count) == 2
    live[2] = whole
    rising = cloth._kinds == 2
    live[3, edges[rising, 0] - 1] = cloth._edge_live[rising]


def _mesh_parts(cloth: Cloth) -> None:
    cloth._batch_live = np.ascontiguousarray(cloth._edge_live[cloth._edge_order])
    soft = cloth._hinge_area / 3.0
    gone = ~cloth._face_live[cloth._beside[cloth._hinge_edge]].all(axis=1) if len(soft) else np.zeros(0, bool)
    cloth._hinge_soft = np.where(gone, -1.0, soft)


def anchors(cloth: Cloth) -> None:
    """Long-range attachments for the present pins and ties."""
    held = np.array(sorted([*cloth._pins, *cloth._anchors]), np.int64)
    if cloth._grid is not None and not cloth._torn:
        cloth._reach_to, cloth._reach_limit = cloth_layout.straight_anchors(cloth._rest, held)
    else:
        lengths = np.where(cloth._edge_live > 0.0, cloth._edge_rest, -1.0)
        cloth._reach_to, cloth._reach_limit = cloth_layout.walked_anchors(
            cloth._rest, held, cloth._edges, lengths
        )
    cloth._given = np.zeros((3, cloth._reach_to.size))
