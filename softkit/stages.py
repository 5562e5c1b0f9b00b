"""The seam between the world and the kinds of soft objects: a stage steps all objects of its kind
together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

if TYPE_CHECKING:
    from softkit.objects import SoftObject
    from softkit.world import World


class Stage:
    """Steps every object of one kind. A step is prepare, begin, then substep for each substep, then end, then
    events.

    Within a substep the stages run one after the other by `order`, between `world.colliders.begin_substep`
    (bodies moved to where they would go alone) and `end_substep` (impulses turned into velocity).
    """

    order: ClassVar[int] = 100

    def __init__(self, world: World) -> None:
        self.world = world
        self.objects: list[SoftObject] = []

    def objects_changed(self) -> None:
        """An object came or went."""

    def object_changed(self, obj: SoftObject) -> None:
        """A setting of one object changed."""

    def prepare(self) -> None:
        """Before the shapes are mirrored: ask the mirror for bodies (`world.colliders.require`)."""

    def begin(self, dt: float) -> None:
        """Before the first substep: read settings, remember previous positions, broad phase."""

    def substep(self, h: float, fraction: float, time: float) -> None:
        """Advance by h seconds; `fraction` of the step (0 to 1] is over at its end; `time` is the world's
        time.
        """

    def end(self, h: float) -> None:
        """After the last substep (of h seconds), before pymunk steps."""

    def events(self) -> None:
        """After the step: what may add, remove or change objects, and call the game back."""

    def restored(self, same_shapes: bool) -> None:
        """A snapshot was read and the mirror renewed; `same_shapes`: the space has as many shapes as it had
        then.
        """

    def touches(self) -> list[tuple[SoftObject, np.ndarray]]:
        """(object, touch records (count * slots)) of the objects that touched a shape in this step."""
        return []
