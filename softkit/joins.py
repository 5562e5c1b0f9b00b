"""Two nodes of two ropes that are one point."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softkit.rope import Rope


class Join:
    """Two ropes' nodes that are one point."""

    def __init__(self, a: tuple[Rope, int], b: tuple[Rope, int]) -> None:
        self.ends = [a, b]
        for rope, _ in self.ends:
            rope._joins.append(self)
            rope._changed()

    def seen_from(self, rope: Rope) -> tuple[int, Rope, int]:
        """(own node, other rope, its node)."""
        a, b = self.ends if self.ends[0][0] is rope else self.ends[::-1]
        return a[1], b[0], b[1]

    def release(self) -> None:
        """Let go."""
        for rope, _ in self.ends:
            if self in rope._joins:
                rope._joins.remove(self)
                rope._changed()

    def shift(self, rope: Rope, node: int, by: int) -> None:
        """Nodes of `rope` from `node` on moved by `by`."""
        self.ends = [(r, i + by if r is rope and i >= node else i) for r, i in self.ends]

    def follow_cut(self, rope: Rope, last: int, piece: Rope, first: int) -> None:
        """Go over to the piece that now has the node."""
        k = 0 if self.ends[0][0] is rope else 1
        i = self.ends[k][1]
        if i > last:
            self.ends[k] = (piece, i - first)
            rope._joins.remove(self)
            piece._joins.append(self)
