"""Cells between cage points that lie on a grid."""

from __future__ import annotations

from itertools import product

import numpy as np


def lines(values: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values (those nearer than the tolerance count as one), sorted, and the index of each value."""
    order = np.argsort(values, kind="stable")
    steps = np.concatenate([[0], np.cumsum(np.diff(values[order]) > tolerance)])
    index = np.empty(len(values), np.int64)
    index[order] = steps
    first = np.concatenate([[True], np.diff(steps) > 0])
    return values[order][first], index


class Cells:
    """The cells of points on a grid with straight lines (distances may vary, points may be missing), for each
    part apart.

    Attributes:
        axes: the axes along which the points spread.
        corners: (c, 2^axes) points of each cell; bit k of the column: the far end along axis k.
        low, side: (c, axes) each cell's rest box.
    """

    def __init__(self, points: np.ndarray, parts: np.ndarray | None) -> None:
        extent = points.max(axis=0) - points.min(axis=0)
        scale = float(extent.max())
        self.axes = np.flatnonzero(extent > 1e-9 * scale) if scale > 0 else np.zeros(0, np.int64)
        tolerance = 1e-6 * scale / max(2.0, len(points) ** (1 / max(1, len(self.axes))))
        found = [lines(points[:, axis], tolerance) for axis in self.axes]
        self.lines = [line for line, _ in found]
        counts = [len(line) for line in self.lines]
        count = len(points)
        # On a grid most places hold a point; scattered points give a line each.
        # A line in space says nothing of what is round it.
        self.regular = len(self.axes) >= max(1, points.shape[1] - 1) and (
            np.prod([float(n) for n in counts]) <= 64 * count + 4096 or parts is not None
        )
        self.corners = np.zeros((0, 1 << len(self.axes)), np.int32)
        if not self.regular:
            return
        self.parts = np.zeros(count, np.int64) if parts is None else np.unique(parts, return_inverse=True)[1]
        self.names = np.zeros(1, np.int64) if parts is None else np.unique(parts)
        self.counts = np.array(counts, np.int64)
        grid = np.stack([index for _, index in found], axis=1)
        self._keys = self._key(self.parts, grid)
        self._by_key = np.argsort(self._keys, kind="stable")
        self._sorted = self._keys[self._by_key]
        self._find_cells(grid)
        self.regular = len(self.corners) > 0

    def _key(self, parts: np.ndarray, grid: np.ndarray) -> np.ndarray:
        key = parts.astype(np.int64)
        for axis in range(grid.shape[1]):
            key = key * (self.counts[axis] + 1) + grid[:, axis]
        return key

    def _look(self, keys: np.ndarray) -> np.ndarray:
        """Point of each key, or -1."""
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        return np.where(self._sorted[at] == keys, self._by_key[at], -1)

    def _find_cells(self, grid: np.ndarray) -> None:
        """A cell where all its corners are points of one part."""
        axes = len(self.axes)
        corners = []
        for bits in product((0, 1), repeat=axes):
            moved = grid + np.array(bits[::-1])
            inside = (moved < self.counts).all(axis=1)
            corners.append(np.where(inside, self._look(self._key(self.parts, moved)), -1))
        table = np.stack(corners, axis=1)
        whole = (table >= 0).all(axis=1)
        self.corners = np.ascontiguousarray(table[whole], np.int32)
        cell = grid[whole]
        self.cell_keys = self._key(self.parts[whole], cell)
        order = np.argsort(self.cell_keys, kind="stable")
        self.corners, cell, self.cell_keys = self.corners[order], cell[order], self.cell_keys[order]
        self.cell_parts = self.parts[self.corners[:, 0]] if len(self.corners) else np.zeros(0, np.int64)
        self.low = np.stack([line[cell[:, k]] for k, line in enumerate(self.lines)], axis=1)
        high = np.stack(
            [line[np.minimum(cell[:, k] + 1, len(line) - 1)] for k, line in enumerate(self.lines)], axis=1
        )
        self.side = high - self.low

    def cell_of(self, vertices: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """(n,) the cell of each vertex; one outside all cells of its part goes to the nearest of them."""
        flat = vertices[:, self.axes]
        grid = np.stack(
            [
                np.clip(np.searchsorted(line, flat[:, k], side="right") - 1, 0, max(0, len(line) - 2))
                for k, line in enumerate(self.lines)
            ],
            axis=1,
        )
        keys = self._key(parts, grid)
        at = np.minimum(np.searchsorted(self.cell_keys, keys), len(self.cell_keys) - 1)
        cells = np.where(self.cell_keys[at] == keys, at, -1)
        lost = np.flatnonzero(cells < 0)
        for row in lost:
            own = np.flatnonzero(self.cell_parts == parts[row])
            if len(own):
                away = np.maximum(self.low[own] - flat[row], flat[row] - self.low[own] - self.side[own])
                cells[row] = own[np.argmin((np.maximum(away, 0.0) ** 2).sum(axis=1))]
        return cells
