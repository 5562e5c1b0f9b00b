"""Soft things touch each other: one contact stage for all planar particles of a world, after the objects' own
stages in each substep."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from softkit._kernels import touch_lines as kernel
from softkit.objects import FRICTION_RULES
from softkit.threads import get_threads
from softkit.touch_block import TouchBlock

if TYPE_CHECKING:
    from softkit.objects import SoftObject
    from softkit.world import World

KIND = np.dtype(
    [(n, "f8") for n in ("radius", "friction")]
    + [(n, "i8") for n in "rule group categories mask own family active".split()]
)
assert KIND.itemsize == kernel.record_size()
PASSES = 4
"""Sweeps over all pairs in a substep."""


class SoftContact(NamedTuple):
    """A particle of one soft object on an edge of another, at the end of the last step.

    impulse: along the normal in the last substep, mass wu / s; normal: from the particle to the edge.
    """

    object: SoftObject
    particle: int
    other: SoftObject
    edge: tuple[int, int]
    point: tuple[float, float]
    normal: tuple[float, float]
    impulse: float


class TouchStage:
    """Contacts between the planar objects of one world; keeps no state from step to step."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._count = 0
        self._items, self._pairs = np.zeros(256, np.int32), np.zeros((256, 2), np.int32)
        self._start = np.zeros(257, np.int64)
        self._color_start = np.zeros(65, np.int64)
        self._room(256)
        self._blocks: list[tuple[SoftObject, TouchBlock, int]] = []

    def _room(self, pairs: int) -> None:
        self._pairs = np.zeros((pairs, 2), np.int32)
        self._color, self._order = np.zeros(pairs, np.int32), np.zeros(pairs, np.int32)
        self._notes = np.zeros((pairs, 4))

    def begin(self) -> None:
        """Once a step: which objects there are, their edges and how they touch."""
        self._count = 0
        found = [(obj, obj._touch_block()) for obj in self.world._objects]
        blocks = [(obj, block) for obj, block in found if block is not None and len(block.x)]
        families = {block.family for _, block in blocks}
        alone = len(blocks) < 2 or (len(families) == 1 and 0 not in families)
        if alone and not any(block.self_collision for _, block in blocks):
            self._blocks = []
            return
        first, self._blocks = 0, []
        for obj, block in blocks:
            self._blocks.append((obj, block, first))
            first += len(block.x)
        self._gathered(first)
        self._kind = np.zeros(len(blocks), KIND)
        for row, (obj, block) in zip(self._kind, blocks):
            row["radius"], row["friction"] = obj._radius, obj._friction
            row["rule"] = FRICTION_RULES.index(obj._friction_rule)
            row["group"] = obj._filter.group & 0x7FFFFFFFFFFFFFFF
            row["categories"], row["mask"] = (
                obj._filter.categories & 0xFFFFFFFF,
                obj._filter.mask & 0xFFFFFFFF,
            )
            row["own"], row["family"], row["active"] = block.self_collision, block.family, 1
        edges = [block.edges + at for _, block, at in self._blocks]
        self._edges = np.ascontiguousarray(np.concatenate(edges), np.int32)
        self._owner = np.repeat(np.arange(len(blocks), dtype=np.int32), [len(b.x) for _, b in blocks])
        self._joins = self._joined()
        if len(self._edges):
            x = np.concatenate([block.x for _, block, _ in self._blocks])
            self._rest = np.hypot(*(x[self._edges[:, 1]] - x[self._edges[:, 0]]).T)
            self._cell = float(2.0 * self._kind["radius"].max() + self._rest.mean()) + 1e-9
        self._far = np.zeros(max(1, len(self._edges)), np.int32)
        self._boxes = np.zeros((first + len(self._edges), 4))

    def _gathered(self, n: int) -> None:
        """Room for all particles side by side."""
        if not hasattr(self, "_x") or len(self._x) != n:
            self._x, self._x0, self._v, self._old = (np.zeros((n, 2)) for _ in range(4))
            self._w, self._tau, self._used = np.zeros(n), np.zeros(n), np.zeros(n, np.uint64)

    def _joined(self) -> np.ndarray:
        where = {obj: at for obj, _, at in self._blocks}
        rows = [
            (at + i, where[other] + j)
            for obj, _, at in self._blocks
            for i, other, j in obj._joined()
            if other in where and at < where[other]
        ]
        return (
            np.array(rows or [(0, 0)], np.int32)[: max(1, len(rows))] if rows else np.zeros((0, 2), np.int32)
        )

    def substep(self, h: float) -> None:
        """After all stages have moved their objects by h seconds: hold them apart."""
        if not self._blocks or not len(self._edges):
            return
        for _, block, at in self._blocks:
            part = slice(at, at + len(block.x))
            self._x[part], self._x0[part] = block.x, block.x0
            self._v[part], self._w[part] = block.v, block.w
        self._tau[:] = h
        count = self._find()
        self._count = count
        if not count:
            return
        kernel.color_pairs(
            self._pairs, count, self._edges, self._w, self._used, self._color, self._color_start, self._order
        )
        self._old[:] = self._x
        kernel.solve(
            self._pairs,
            count,
            self._edges,
            self._order,
            self._color_start,
            self._kind.view(np.int8),
            self._owner,
            self._x,
            self._x0,
            self._v,
            self._w,
            self._tau,
            self.world.max_depenetration_speed,
            PASSES,
            get_threads(),
            self._notes,
        )
        self.world.health.speeds_capped += kernel.cap(
            self._x, self._x0, self._v, self._old, self._w, self._tau, self.world.max_speed
        )
        for _, block, at in self._blocks:
            part = slice(at, at + len(block.x))
            block.x[...] = self._x[part]
            block.v[...] = self._v[part]

    def _find(self) -> int:
        """Candidate pairs of this substep; room grows where it does not do."""
        joins = self._joins if len(self._joins) else np.zeros((1, 2), np.int32)
        while True:
            count, need = kernel.find_pairs(
                self._x,
                self._x0,
                self._w,
                self._owner,
                self._edges,
                self._rest,
                self._kind.view(np.int8),
                self._cell,
                joins,
                len(self._joins),
                self._boxes,
                self._start,
                self._items,
                self._far,
                self._pairs,
            )
            if need > len(self._items):
                self._items = np.zeros(2 * need, np.int32)
                self._start = np.zeros((1 << (2 * need).bit_length()) + 1, np.int64)
            elif count > len(self._pairs):
                self._room(2 * count)
            else:
                return count

    def contacts(self) -> list[SoftContact]:
        """Touches of the last substep, in order of particles."""
        result = []
        for k in np.flatnonzero(self._notes[: self._count, 3] > 0.0).tolist():
            node, edge = self._pairs[k].tolist()
            a, b = (self._blocks[self._owner[i]] for i in (node, self._edges[edge, 0]))
            impulse, nx, ny, _ = self._notes[k].tolist()
            i, ends = node - a[2], (self._edges[edge] - b[2]).tolist()
            point = tuple(self._x[node].tolist())
            result.append(SoftContact(a[0], i, b[0], (ends[0], ends[1]), point, (nx, ny), impulse))
        return result
