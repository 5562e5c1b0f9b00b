"""Dense points over a sparse set of nodes, each carried by the nodes near it."""

from __future__ import annotations

from typing import Any

import numpy as np

from softkit import checks
from softkit._kernels import deform_bind, deform_cage
from softkit.deform.nearby import NodeGrid
from softkit.objects import SoftObject, read_only
from softkit.threads import get_threads

MODES = ("mls", "mls-affine", "mls-similarity", "mls-rigid", "rotation", "blend")
SERIAL_BELOW = 16_000


def rows_of(name: str, value: Any, size: int | None = None, least: int = 1) -> np.ndarray:
    """(n, 2) or (n, 3) finite numbers, from an array or from a soft object's positions."""
    if isinstance(value, SoftObject):
        value = value.positions
    if size is None:
        shape = np.shape(value)
        if len(shape) != 2 or shape[1] not in (2, 3):
            raise ValueError(f"{name} must have shape (n, 2) or (n, 3), got shape {shape}")
        size = shape[1]
    return np.ascontiguousarray(checks.points(name, value, size, least))


def indices(name: str, value: Any, count: int, below: int | None = None) -> np.ndarray:
    """(count,) whole numbers, each in [0, below)."""
    result = np.asarray(value)
    if result.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers, got {value!r}")
    if result.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},), got shape {result.shape}")
    if below is not None and count and not (0 <= result.min() and result.max() < below):
        bad = int(np.argmax((result < 0) | (result >= below)))
        raise IndexError(f"{name}[{bad}] must be between 0 and {below - 1}, got {result[bad]}")
    return result.astype(np.int64)


class Cage:
    """Points that follow the nodes near them.

    Args:
        nodes: (n, 2) or (n, 3) nodes at rest, wu, or a soft object (its present positions count as rest).
        points: (m, 2) or (m, 3) points at rest, wu, at least one.
        mode: how a point follows; default "mls".
            "mls" or "mls-affine": affine moving least squares (Schaefer, McPhail, Warren 2006, "Image
            deformation using moving least squares"). Reproduces every affine motion of the nodes: shifts,
            turns, scales, shears. Where nodes lie in a line (a rope) or in space in a sheet (a cloth), the
            fit is affine along it, and across it a point keeps its distance.
            "mls-similarity", "mls-rigid": the same with turns and one scale, or with turns only: shapes keep
            their angles, or their size, as well as the nodes allow.
            "rotation": the nearest nodes' mean place and their turn by polar decomposition, weighted by
            inverse square distance; reproduces rigid motions, and has steps where the set of nearest nodes
            changes.
            "blend": offsets from the nearest nodes, weighted by inverse square distance, carried without
            turning. Reproduces shifts only; the cheapest, kept for comparison.
        neighbours: nodes that carry a point, 1 to 24; default 4. The modes of moving least squares take all
            nodes up to 1.5 times as far as that many reach, with weights that end at 0, so that no step can
            be seen between points, and more where the nodes near a point lie badly.
        links: (k, 2) pairs of nodes that hang together, default None: all do. With links a point is carried
            only by nodes to which the way along the links is at most 1.6 times the straight: never by what
            lies beyond a crack. `relink` says when links broke.
        homes: (m,) the node that each point belongs to, with links; default the nearest node.
        parts: (m,) whole numbers: the fragment of each point; default None, all one. Points of one part
            share one home (of the part's middle), so that a part goes one way as a whole. A `Skin` binds a
            vertex to points of its own part.

    Raises TypeError or ValueError naming the argument.
    """

    def __init__(
        self,
        nodes: Any,
        points: Any,
        *,
        mode: str = "mls",
        neighbours: int = 4,
        links: Any = None,
        homes: Any = None,
        parts: Any = None,
    ) -> None:
        self._source = nodes if isinstance(nodes, SoftObject) else None
        self._nodes = rows_of("nodes", nodes)
        size = self._nodes.shape[1]
        self._rest = rows_of("points", points, size)
        self._mode = checks.choice("mode", mode, MODES)
        self._neighbours = checks.whole("neighbours", neighbours, 1, 24)
        count = len(self._rest)
        self._parts = None if parts is None else indices("parts", parts, count)
        given = None if homes is None else indices("homes", homes, count, len(self._nodes))
        links = None if links is None else self._pairs(links)
        slots = 1 if len(self._nodes) == 1 else min(len(self._nodes), self._slots())
        self._node = np.zeros((count, slots), np.int32)
        self._weight, self._coef = np.zeros((2, count, slots))
        self._slope = np.zeros((count, size - 1, slots))
        self._center, self._offset = np.zeros((2, count, size))
        self._axes = np.zeros((count, size - 1, size))
        self._count, self._rank = np.zeros((2, count), np.int32)
        self._points = self._rest.copy()
        self._grid = NodeGrid(self._nodes)
        self._homes = (self._own_homes() if given is None else given).astype(np.int32)
        self._order = np.argsort(self._homes, kind="stable")
        self._links = links
        self._bind(self._order)

    def _slots(self) -> int:
        smooth = self._mode.startswith("mls")
        most = max(2 * self._neighbours + 8, 8 * self._nodes.shape[1])
        return min(most, 63) if smooth else self._neighbours

    def _own_homes(self) -> np.ndarray:
        if self._parts is None:
            return self._grid.nearest(self._rest)
        names, inverse = np.unique(self._parts, return_inverse=True)
        sizes = np.bincount(inverse)[:, None]
        middles = np.stack([np.bincount(inverse, column) for column in self._rest.T], axis=1) / sizes
        return self._grid.nearest(middles)[inverse]

    def _pairs(self, links: Any) -> np.ndarray:
        result = np.asarray(links)
        if result.size == 0:
            return np.zeros((0, 2), np.int64)
        if result.ndim != 2 or result.shape[1] != 2:
            raise ValueError(f"links must have shape (k, 2), got shape {result.shape}")
        return indices("links", result.reshape(-1), result.size, len(self._nodes)).reshape(-1, 2)

    # ------------------------------------------------------------ what it is

    @property
    def mode(self) -> str:
        """How points follow."""
        return self._mode

    @property
    def neighbours(self) -> int:
        """Nodes that carry a point, at least."""
        return self._neighbours

    @property
    def rest_nodes(self) -> np.ndarray:
        """(n, d) nodes at rest: a read-only view."""
        return read_only(self._nodes)

    @property
    def rest_points(self) -> np.ndarray:
        """(m, d) points at rest: a read-only view."""
        return read_only(self._rest)

    @property
    def points(self) -> np.ndarray:
        """(m, d) points as of the last `update`: a read-only view."""
        return read_only(self._points)

    @property
    def parts(self) -> np.ndarray | None:
        """(m,) part of each point, or None: a read-only view."""
        return None if self._parts is None else read_only(self._parts)

    @property
    def homes(self) -> np.ndarray:
        """(m,) the node that each point belongs to: a read-only view."""
        return read_only(self._homes)

    def binding(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that carry point i, nearest first, and their weights, whose sum is 1."""
        i = checks.index("i", i, len(self._rest))
        count = self._count[i]
        return self._node[i, :count].copy(), self._weight[i, :count].copy()

    # ------------------------------------------------------------ binding

    def _bind(self, rows: np.ndarray) -> None:
        """Bind these points, in order of their homes, anew."""
        starts, to = np.zeros(1, np.int64), np.zeros(1, np.int32)
        count = len(self._nodes)
        if self._links is not None:
            both = np.concatenate([self._links, self._links[:, ::-1]])
            both = both[np.argsort(both[:, 0], kind="stable")]
            starts = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=count))]).astype(
                np.int64
            )
            to = np.ascontiguousarray(np.append(both[:, 1], 0), np.int32)
        grid = self._grid
        deform_bind.bind(
            self._nodes,
            self._rest,
            np.ascontiguousarray(rows, np.int64),
            self._homes,
            starts,
            to,
            grid.low,
            grid.cell,
            grid.shape,
            grid.starts,
            grid.order,
            self._neighbours,
            self._mode.startswith("mls"),
            self._mode in ("mls", "mls-affine"),
            self._node,
            self._weight,
            self._coef,
            self._slope,
            self._center,
            self._offset,
            self._axes,
            self._count,
            self._rank,
            np.full(count, 1e300),
            np.zeros(count, np.int32),
            np.zeros(len(to) + 1),
            np.zeros(len(to) + 1, np.int32),
        )

    def relink(self, links: Any) -> int:
        """Take over what hangs together now, (k, 2) pairs of nodes, and bind the points that this concerns
        anew; returns how many they are.

        A point is concerned if a link was lost or won near it. A point left with one node only follows that
        node without turning. Raises as the constructor does.
        """
        links = self._pairs(links)
        if self._links is None:
            changed = None
        else:
            count = len(self._nodes)
            old, new = (np.unique(np.sort(pairs, axis=1) @ [count, 1]) for pairs in (self._links, links))
            lost = np.setxor1d(old, new, assume_unique=True)
            changed = np.unique(np.concatenate([lost // count, lost % count]))
        self._links = links
        rows = self._order
        if changed is not None:
            if not len(changed):
                return 0
            if len(changed) * 16 < len(self._nodes):
                rows = rows[self._near(changed)[rows]]
        if len(rows):
            self._bind(rows)
        return len(rows)

    def _near(self, changed: np.ndarray) -> np.ndarray:
        """(m,) may these nodes' links matter to the point: do they lie where ways to its nodes may lead?"""
        away = np.linalg.norm(self._nodes[self._homes] - self._rest, axis=1)
        used = np.arange(self._node.shape[1]) < self._count[:, None]
        carried = np.linalg.norm(self._nodes[self._node] - self._rest[:, None], axis=2)
        reach = 2.0 * (away + np.max(carried, axis=1, where=used, initial=0.0)) + 2.0 * self._grid.cell
        there = np.ascontiguousarray(self._nodes[changed])
        nearest = there[NodeGrid(there).nearest(self._rest)]
        return np.linalg.norm(nearest - self._rest, axis=1) <= reach

    # ------------------------------------------------------------ following

    def update(self, nodes: Any = None) -> np.ndarray:
        """Points for nodes as they are now: (n, d) as at the start, or by default the soft object's.

        Returns `points`, a read-only view of an array that each update writes anew.
        """
        if nodes is None:
            if self._source is None:
                raise TypeError("nodes must be given for a cage made from an array, got None")
            nodes = self._source
        nodes = rows_of("nodes", nodes, self._nodes.shape[1])
        if len(nodes) != len(self._nodes):
            raise ValueError(f"nodes must have {len(self._nodes)} rows, got {len(nodes)}")
        threads = get_threads() if len(self._rest) >= SERIAL_BELOW else 1
        bound = nodes, self._node
        if self._mode == "blend":
            deform_cage.blend(*bound, self._weight, self._count, self._offset, self._points, threads)
        elif self._mode in ("mls", "mls-affine"):
            deform_cage.affine(
                *bound,
                self._coef,
                self._slope,
                self._count,
                self._rank,
                self._axes,
                self._offset,
                self._points,
                threads,
            )
        else:
            deform_cage.turn(
                nodes,
                self._nodes,
                self._node,
                self._weight,
                self._count,
                self._center,
                self._offset,
                self._mode == "mls-similarity",
                self._points,
                threads,
            )
        return read_only(self._points)
