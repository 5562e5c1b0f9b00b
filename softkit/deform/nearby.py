"""A grid over nodes: who is near a point."""

from __future__ import annotations

import numpy as np

from softkit._kernels import deform_bind


class NodeGrid:
    """Nodes sorted into cells about as large as the nodes are apart."""

    def __init__(self, nodes: np.ndarray) -> None:
        self.nodes = nodes
        count, size = nodes.shape
        self.low = nodes.min(axis=0)
        extent = nodes.max(axis=0) - self.low
        wide = extent > 1e-9 * max(float(extent.max()), 1e-300)
        axes = max(1, int(wide.sum()))
        volume = float(np.prod(extent[wide], dtype=float)) if wide.any() else 0.0
        cell = (volume / count) ** (1 / axes) if volume > 0 else 1.0
        # Nodes in a line across all axes fill few of the cells: far more cells than nodes are of no use.
        while np.prod(np.floor(extent / cell) + 1) > 4 * count + 64:
            cell *= 1.5
        self.cell = max(cell, 1e-300)
        self.shape = (np.floor(extent / self.cell) + 1).astype(np.int64)
        self.starts = np.zeros(int(np.prod(self.shape)) + 1, np.int64)
        self.order = np.zeros(count, np.int32)
        deform_bind.sort_cells(nodes, self.low, self.cell, self.shape, self.starts, self.order)

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """(m,) the node nearest to each point."""
        out = np.zeros(len(points), np.int32)
        deform_bind.nearest(self.nodes, points, self.low, self.cell, self.shape, self.starts, self.order, out)
        return out
