"""What can be read off a soft body: its size, centre, turn, links and surface."""

from __future__ import annotations

import math

import numpy as np

from softkit import checks
from softkit import softbody_shapes as shapes
from softkit._kernels import softbodies as kernel
from softkit.objects import SoftObject, read_only
from softkit.softbody_shapes import Layout


class Measured(SoftObject):
    """The part of a SoftBody that answers."""

    _layout: Layout

    def _cell_sizes(self, x: np.ndarray) -> np.ndarray:
        if not len(self._cells):
            return np.zeros(0)
        if x.shape[1] == 3:
            return shapes.tet_volumes(x, self._cells)
        (ax, ay), (bx, by) = ((x[self._cells[:, k]] - x[self._cells[:, 0]]).T for k in (1, 2))
        return 0.5 * (ax * by - ay * bx)

    def _whole_size(self, x: np.ndarray) -> float:
        """Signed area or volume."""
        if len(self._ring):
            return kernel.outline_area(np.ascontiguousarray(x), self._ring)
        if len(self._cells):
            return float(self._cell_sizes(x).sum())
        return kernel.enclosed_volume(np.ascontiguousarray(x), self._faces) if len(self._faces) else 0.0

    @property
    def dimensions(self) -> int:
        """2 for a planar body, else 3."""
        return self._x.shape[1]

    def index(self, column: int, row: int, layer: int = 0) -> int:
        """Index of a lattice's particle; negatives count from the end. TypeError for other bodies."""
        if self._layout.grid is None:
            raise TypeError("only a lattice has columns, rows and layers")
        columns, rows, layers = self._layout.grid
        column, row = checks.index("column", column, columns), checks.index("row", row, rows)
        return (checks.index("layer", layer, layers) * rows + row) * columns + column

    @property
    def links(self) -> np.ndarray:
        """(l, 2) particles of the distance constraints: a read-only view."""
        return read_only(self._links_at)

    @property
    def strain(self) -> np.ndarray:
        """(l,) relative stretch of each of `links`, the pressure's own apart: a fresh array."""
        a, b = self._links_at.T
        return np.linalg.norm(self._x[b] - self._x[a], axis=1) / (self._rest * self._scale) - 1.0

    @property
    def outline(self) -> np.ndarray:
        """(k,) particles round a planar body in order; empty in 3-D and for a single row: a read-only
        view."""
        return read_only(self._ring)

    @property
    def triangles(self) -> np.ndarray:
        """(f, 3) particles of the surface of a 3-D body, counter-clockwise from outside; of a planar lattice,
        of its
        cells: a read-only view.
        """
        return read_only(self._faces if self.dimensions == 3 else self._cells)

    @property
    def rest_shape(self) -> np.ndarray:
        """(count, d) places as made: a read-only view."""
        return read_only(self._layout.rest)

    def _planar(self, name: str, dimensions: int) -> None:
        if self.dimensions != dimensions:
            raise TypeError(f"{name} is of {'planar' if dimensions == 2 else '3-D'} bodies only")

    @property
    def area(self) -> float:
        """Area inside the outline now, wu^2; negative where it is turned inside out. TypeError in 3-D."""
        self._planar("area", 2)
        return self._whole_size(self._x) * (1.0 if self._rest_whole >= 0 else -1.0)

    @property
    def rest_area(self) -> float:
        """Area at pressure 1, wu^2. TypeError in 3-D."""
        self._planar("rest_area", 2)
        return abs(self._rest_whole)

    @property
    def volume(self) -> float:
        """Volume inside the surface now, wu^3; negative where it is turned inside out. TypeError for planar
        ones."""
        self._planar("volume", 3)
        return self._whole_size(self._x)

    @property
    def rest_volume(self) -> float:
        """Volume at pressure 1, wu^3. TypeError for planar bodies."""
        self._planar("rest_volume", 3)
        return abs(self._rest_whole)

    @property
    def center(self) -> tuple[float, ...]:
        """Centre of mass, wu."""
        share = self._layout.shares
        return tuple((self._x[0] + share @ (self._x - self._x[0])).tolist())

    @property
    def angle(self) -> float:
        """How far a planar body has turned against its rest shape, radians, -pi to pi."""
        self._planar("angle", 2)
        p = self._x - np.array(self.center)
        a = float((self._m[:, None] * p * self._q).sum())
        b = float((self._m * (p[:, 1] * self._q[:, 0] - p[:, 0] * self._q[:, 1])).sum())
        return math.atan2(b, a)

    @property
    def velocity(self) -> tuple[float, ...]:
        """Velocity of the centre of mass, wu/s."""
        return tuple((self._layout.shares @ self._v).tolist())
