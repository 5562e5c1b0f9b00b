"""Two particles of two soft objects that are one point."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softkit.objects import SoftObject


class Join:
    """Two objects' particles that are one point."""

    def __init__(self, a: tuple[SoftObject, int], b: tuple[SoftObject, int]) -> None:
        self.ends = [a, b]
        for obj, _ in self.ends:
            obj._joins.append(self)
            obj._changed()

    def seen_from(self, obj: SoftObject) -> tuple[int, SoftObject, int]:
        """(own particle, other object, its particle)."""
        a, b = self.ends if self.ends[0][0] is obj else self.ends[::-1]
        return a[1], b[0], b[1]

    def release(self) -> None:
        """Let go."""
        for obj, _ in self.ends:
            if self in obj._joins:
                obj._joins.remove(self)
                obj._changed()

    def shift(self, rope: SoftObject, node: int, by: int) -> None:
        """Nodes of `rope` from `node` on moved by `by`."""
        self.ends = [(r, i + by if r is rope and i >= node else i) for r, i in self.ends]

    def follow_cut(self, rope: SoftObject, last: int, piece: SoftObject, first: int) -> None:
        """Go over to the piece that now has the node."""
        k = 0 if self.ends[0][0] is rope else 1
        i = self.ends[k][1]
        if i > last:
            self.ends[k] = (piece, i - first)
            rope._joins.remove(self)
            piece._joins.append(self)


class Joined:
    """A soft object that soft bodies may be joined to."""

    @cached_property
    def _joins(self) -> list[Join]:
        return []

    @property
    def joins(self) -> list[tuple[int, SoftObject, int]]:
        """(own particle, other object, its particle) of every join."""
        return [join.seen_from(self) for join in self._joins]

    def join(self, i: int, other: SoftObject, j: int) -> None:
        """Make particle `i` and particle `j` of a soft body one point: see SoftBody.join."""
        if getattr(other, "kind", None) != "softbody":
            raise TypeError(f"other must be a SoftBody, got {other!r}")
        other.join(j, self, i)

    def _joined(self) -> list[tuple[int, SoftObject, int]]:
        return self.joins

    def _unjoin(self, i: int) -> None:
        """Let go of what particle `i` is joined to."""
        for join in [join for join in self._joins if (self, i) in join.ends]:
            join.release()

    def _release_joins(self) -> None:
        for join in list(self._joins):
            join.release()

    def _left_world(self) -> None:
        self._release_joins()
