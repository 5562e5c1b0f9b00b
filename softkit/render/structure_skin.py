"""The picture of a structure over its cells: whole cells as they are, broken ones in four shards."""

import numpy as np

from softkit import deform
from softkit.render.mesh import Mesh

# Corner k of a cell, the middles of its sides k-1 and k, and its centre, as places in the cell.
_CORNER = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
_SHARDS = np.stack(
    [
        np.stack(
            [
                _CORNER[k],
                (_CORNER[k] + _CORNER[(k + 1) % 4]) / 2,
                (0.5, 0.5),
                (_CORNER[k] + _CORNER[k - 1]) / 2,
            ]
        )
        for k in range(4)
    ]
)


class StructureSkin:
    """Triangles over a structure, and where its picture's corners lie.

    A whole cell is two triangles between its nodes. A broken one is four shards, one at each corner, each
    carried by that corner's piece through a `deform.Cage` which is bound anew as links break, so that no
    shard spans a crack. points: (m, 2) places now; nodes first. uvs: (m, 2) places in the picture, 0 to 1.
    """

    def __init__(self, structure):
        rest = np.asarray(structure.rest_shape)
        self.cells = np.asarray(structure.cells)
        self.count = len(rest)
        self.low, self.high = rest.min(axis=0), rest.max(axis=0)
        first, size = rest[self.cells[:, 0]], rest[self.cells[:, 2]] - rest[self.cells[:, 0]]
        self.shards = first[:, None, None] + _SHARDS * size[:, None, None]
        self.homes = np.repeat(self.cells.reshape(-1), 4)
        self.rest = rest
        places = np.concatenate([rest, self.shards.reshape(-1, 2)])
        self.uvs = np.ascontiguousarray((places - self.low) / (self.high - self.low))
        self.points = np.zeros((len(places), 2))
        self.points[:] = places
        self.carrier = np.concatenate([np.arange(self.count), self.homes])
        self.cage, self.links = None, -1
        self.mesh = Mesh(np.zeros((0, 3), np.int32), len(places))
        self.broken = np.zeros(0, np.int64)

    def follow(self, structure, live):
        """Take over where the nodes are, and what broke."""
        if len(structure.links) != self.links:
            self.links = len(structure.links)
            self._relink(structure)
        self.points[: self.count] = live
        if len(self.broken):
            self.points[self.count :] = self.cage.update(np.ascontiguousarray(live))

    def _relink(self, structure):
        whole = np.asarray(structure.whole_cells)
        self.broken = np.flatnonzero(~whole)
        cells = self.cells[whole]
        faces = [cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]]
        first = self.count + 16 * self.broken[:, None] + np.arange(0, 16, 4)
        first = first.reshape(-1, 1)
        faces += [first + [0, 1, 2], first + [0, 2, 3]]
        self.mesh.update(np.concatenate(faces), len(self.points))
        if not len(self.broken):
            return
        if self.cage is None:
            self.cage = deform.Cage(
                self.rest, self.shards.reshape(-1, 2), homes=self.homes, links=structure.links
            )
        else:
            self.cage.relink(structure.links)

    def cracks(self):
        """(k, 2) and (k, 2) ends of the shards' inner edges."""
        base = self.count + (16 * self.broken[:, None] + np.arange(0, 16, 4)).reshape(-1)
        a, b = np.concatenate([base + 1, base + 3]), np.concatenate([base + 2, base + 2])
        return a, b
