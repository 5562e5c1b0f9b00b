"""Vertices of pictures and meshes inside the cells of a cage."""

from __future__ import annotations

from typing import Any

import numpy as np

from softkit._kernels import deform_skin
from softkit.deform.cage import Cage, indices, rows_of
from softkit.deform.cells import Cells
from softkit.deform.nearby import NodeGrid
from softkit.objects import read_only
from softkit.threads import get_threads

SERIAL_BELOW = 32_000


class Skin:
    """Vertices that follow a cage.

    Cage points on a grid (straight lines along the axes, any distances, points may be missing) make cells,
    and a vertex keeps its place in its cell: bilinear in the plane and in a sheet, trilinear in space, linear
    on a line. Along the edge of a cell only the edge's ends count, so that fragments which share an edge
    share it after any deformation. A vertex outside all cells follows the nearest one, beyond its edge; one
    beside a sheet keeps its distance along the sheet's normal. Points that lie on no grid carry vertices by
    affine moving least squares, as nodes carry points.

    Args:
        vertices: (n, d) vertices at rest, wu, d as the cage's, at least one.
        cage: the Cage.
        normals: (n, d) unit normals at rest; default None. They turn as surfaces do, by the cofactors of the
            cells' deformation.
        parts: (n,) the part of each vertex where the cage has parts; default: the part of the nearest point.

    Raises TypeError or ValueError naming the argument.
    """

    def __init__(self, vertices: Any, cage: Cage, *, normals: Any = None, parts: Any = None) -> None:
        if not isinstance(cage, Cage):
            raise TypeError(f"cage must be a deform.Cage, got {cage!r}")
        size = cage.rest_points.shape[1]
        self._cage = cage
        self._rest = rows_of("vertices", vertices, size)
        count = len(self._rest)
        self._rest_normals = None if normals is None else rows_of("normals", normals, size)
        if normals is not None and len(self._rest_normals) != count:
            raise ValueError(f"normals must have {count} rows, got {len(self._rest_normals)}")
        if parts is not None and cage.parts is None:
            raise ValueError(f"parts must be None for a cage without parts, got {parts!r}")
        self._vertices = self._rest.copy()
        self._normals = None if normals is None else self._rest_normals.copy()
        self._cells = Cells(cage.rest_points, cage.parts)
        self._inner: Cage | None = None
        if self._cells.regular:
            self._bind_cells(self._own_parts(parts))
        else:
            self._inner = Cage(cage.rest_points, self._rest)
            self._nudged = self._nudges(size) if normals is not None else []

    def _own_parts(self, parts: Any) -> np.ndarray:
        """(n,) index of each vertex's part among the cage's."""
        count = len(self._rest)
        if self._cage.parts is None:
            return np.zeros(count, np.int64)
        if parts is None:
            near = NodeGrid(np.array(self._cage.rest_points)).nearest(self._rest)
            return self._cells.parts[near]
        given = indices("parts", parts, count)
        names = self._cells.names
        at = np.minimum(np.searchsorted(names, given), len(names) - 1)
        if (names[at] != given).any():
            bad = int(np.argmax(names[at] != given))
            raise ValueError(f"parts[{bad}] must be a part of the cage, got {given[bad]}")
        return at

    def _bind_cells(self, parts: np.ndarray) -> None:
        cells, size = self._cells, self._rest.shape[1]
        cell = cells.cell_of(self._rest, parts)
        if (cell < 0).any():
            bad = int(np.argmax(cell < 0))
            raise ValueError(
                f"cage must have a whole cell in the part of each vertex, got none for vertices[{bad}]"
            )
        axes = [int(axis) for axis in cells.axes]
        self._corners = np.ascontiguousarray(cells.corners[cell])
        self._side = np.ascontiguousarray(cells.side[cell])
        self._at = np.ascontiguousarray((self._rest[:, axes] - cells.low[cell]) / self._side)
        left = [axis for axis in range(size) if axis not in axes]
        order = axes + left
        # A sheet's normal is the cross product of its axes: along the axis left over, or against it.
        sign = 1.0 if order in ([0, 1], [0, 1, 2], [1, 2, 0]) else -1.0
        self._height = np.zeros(0)
        if len(left) == 1:
            level = self._cage.rest_points[:, left[0]].mean()
            height = sign * (self._rest[:, left[0]] - level)
            if np.abs(height).max() > 1e-12 * float(np.ptp(self._cage.rest_points, axis=0).max()):
                self._height = np.ascontiguousarray(height)
        if self._rest_normals is not None:
            local = self._rest_normals[:, order]
            if left:
                local[:, -1] *= sign
            self._local_normals = np.ascontiguousarray(local)

    def _nudges(self, size: int) -> list[tuple[float, Cage]]:
        """Cages of vertices moved a little along each axis: their differences are the deformation."""
        extent = float(np.ptp(self._cage.rest_points, axis=0).max()) or 1.0
        step = 1e-3 * extent / len(self._cage.rest_points) ** (1 / size)
        return [
            (step, Cage(self._cage.rest_points, self._rest + step * np.eye(size)[axis]))
            for axis in range(size)
        ]

    @property
    def cage(self) -> Cage:
        """What carries the vertices."""
        return self._cage

    @property
    def rest_vertices(self) -> np.ndarray:
        """(n, d) vertices at rest: a read-only view."""
        return read_only(self._rest)

    @property
    def vertices(self) -> np.ndarray:
        """(n, d) vertices as of the last `update`: a read-only view."""
        return read_only(self._vertices)

    @property
    def normals(self) -> np.ndarray | None:
        """(n, d) unit normals as of the last `update`, or None: a read-only view."""
        return None if self._normals is None else read_only(self._normals)

    def update(self) -> np.ndarray:
        """Vertices where the cage's points (its last `update`) put them: `vertices`, a read-only view of an
        array that each update writes anew. Normals follow too."""
        points = self._cage.points
        threads = get_threads() if len(self._rest) >= SERIAL_BELOW else 1
        if self._inner is not None:
            self._vertices[:] = self._inner.update(points)
            if self._normals is not None:
                self._turn_nudged(points)
            return read_only(self._vertices)
        deform_skin.place(points, self._corners, self._at, self._height, self._vertices, threads)
        if self._normals is not None:
            deform_skin.turn(
                points, self._corners, self._at, self._side, self._local_normals, self._normals, threads
            )
        return read_only(self._vertices)

    def _turn_nudged(self, points: np.ndarray) -> None:
        columns = [(cage.update(points) - self._vertices) / step for step, cage in self._nudged]
        f = np.stack(columns, axis=2)
        if f.shape[1] == 2:
            cof = np.stack([f[:, ::-1, 1] * [1, -1], f[:, ::-1, 0] * [-1, 1]], axis=2)
        else:
            cof = np.stack([np.cross(f[:, :, (k + 1) % 3], f[:, :, (k + 2) % 3]) for k in range(3)], axis=2)
        turned = np.einsum("nij,nj->ni", cof, self._rest_normals)
        size = np.linalg.norm(turned, axis=1, keepdims=True)
        np.divide(turned, size, out=self._normals, where=size > 1e-150)
