"""What holds a soft body's particles: pins, ties to pymunk bodies, joins to other soft objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pymunk

from softkit import checks
from softkit.coupling import Attachment, check_body, in_space
from softkit.joins import Join, Joined
from softkit.objects import SoftObject

if TYPE_CHECKING:
    from softkit.world import World


class Held(Joined, SoftObject):
    """The part of a SoftBody that pins, attaches and joins."""

    _pins: set[int]
    _anchors: dict[int, Attachment]

    def _weigh(self) -> None:
        """Masses and what follows from them, pins and ties."""
        raise NotImplementedError

    @property
    def pinned(self) -> tuple[int, ...]:
        """Pinned particles, in order."""
        return tuple(sorted(self._pins))

    @property
    def attachments(self) -> dict[int, tuple[pymunk.Body, tuple[float, float]]]:
        """Particle -> (body, point in the body's coordinates): a copy."""
        return {i: (tie.body, tie.local) for i, tie in sorted(self._anchors.items())}

    def pin(self, i: int) -> None:
        """Hold particle `i` where it is, at rest."""
        i = checks.index("i", i, self.count)
        self._anchors.pop(i, None)
        self._pins.add(i)
        self._target[i] = self._x[i]
        self._v[i] = 0.0
        self._weigh()

    def unpin(self, i: int) -> None:
        """Let a pinned particle go; one that is not pinned stays as it is."""
        self._pins.discard(checks.index("i", i, self.count))
        self._weigh()

    def attach(self, i: int, body: pymunk.Body, local: Sequence[float] | None = None) -> None:
        """Tie particle `i` to a point of a pymunk body: it goes where the body goes and pulls a dynamic one.

        Args:
            i: particle, negatives count from the end. A pin or earlier tie of it is given up.
            body: in the world's space, or its static_body; before `World.add`, any body.
            local: the point in the body's coordinates, wu; default None, where the particle is now. In 3-D
            the particle keeps its z.

        The tie ends when the body leaves the space.
        """
        i = checks.index("i", i, self.count)
        check_body(body, self._world)
        if local is None:
            local = tuple(body.world_to_local(tuple(self._x[i, :2].tolist())))
        else:
            local = checks.vector("local", local)
            self._x[i, :2] = self._previous[i, :2] = tuple(body.local_to_world(local))
        self._pins.discard(i)
        self._anchors[i] = Attachment(body, (float(local[0]), float(local[1])))
        self._target[i] = self._x[i]
        self._weigh()

    def detach(self, i: int) -> None:
        """Untie particle `i` from its body and from everything it is joined to."""
        i = checks.index("i", i, self.count)
        self._anchors.pop(i, None)
        self._unjoin(i)
        self._weigh()

    def join(self, i: int, other: SoftObject, j: int) -> None:
        """Make particle `i` and particle `j` of another soft body, of a rope or of a cloth one point.

        They meet at once, by mass; where one of the two is planar, that is in the space's plane, z = 0. The
        join ends when either leaves its world.
        """
        i = checks.index("i", i, self.count)
        if not isinstance(other, SoftObject) or not hasattr(other, "_joins"):
            raise TypeError(f"other must be a SoftBody, a Rope or a Cloth, got {other!r}")
        j = checks.index("j", j, other.count)
        if other is self:
            raise ValueError(f"other must not be the body itself, got {other!r}")
        if self._world is not None and other._world is not None and self._world is not other._world:
            raise ValueError(f"other must be in the same world, got {other!r}")
        Join((self, i), (other, j))

    def _ties(self) -> list[tuple[int, Attachment]]:
        return sorted(self._anchors.items())

    def _set_ties(self, ties: dict[int, Attachment]) -> None:
        self._anchors = ties
        self._weigh()

    def _check_world(self, world: World) -> None:
        for i, tie in self._anchors.items():
            if not in_space(tie.body, world.space):
                raise ValueError(
                    f"objects must be attached to bodies of this world's space, particle {i} is not: "
                    f"{tie.body!r}"
                )
