"""What every soft object shares: its place in a world, its contact surface, and its state as plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pymunk

from softkit import checks
from softkit.touch_block import TouchBlock

if TYPE_CHECKING:
    from softkit.coupling import Attachment
    from softkit.world import World

FRICTION_RULES = ("product", "own", "geometric", "maximum")


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of the same memory that refuses writing."""
    view = array.view()
    view.flags.writeable = False
    return view


class SoftObject:
    """Base of everything that `World.add` takes.

    A kind of soft object names the stage that steps it (`stage`), its arrays (`_arrays`) and its plain
    settings (`_settings`); adding, removing, snapshots and hashes need nothing else.
    """

    kind: ClassVar[str]
    stage: ClassVar[type]
    kinds: ClassVar[dict[str, type[SoftObject]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "kind" in cls.__dict__:
            SoftObject.kinds[cls.kind] = cls

    def __init__(
        self,
        *,
        radius: float,
        friction: float,
        damping: float,
        filter: pymunk.ShapeFilter | None,
        friction_rule: str = "product",
        elasticity: float = 1.0,
    ) -> None:
        self._world: World | None = None
        self._serial = -1
        self._radius = checks.number("radius", radius, 0.0, checks.LIMIT, above=0.0)
        self._friction = checks.number("friction", friction, 0.0, checks.LIMIT)
        self._damping = checks.number("damping", damping, 0.0, checks.LIMIT)
        self._elasticity = checks.number("elasticity", elasticity, 0.0, 1.0)
        self._friction_rule = checks.choice("friction_rule", friction_rule, FRICTION_RULES)
        self._filter = pymunk.ShapeFilter() if filter is None else self._checked_filter(filter)
        self.user_data: Any = None
        self.on_begin: Callable[[SoftObject, pymunk.Shape, int], None] | None = None
        self.on_end: Callable[[SoftObject, pymunk.Shape], None] | None = None

    @staticmethod
    def _checked_filter(value: Any) -> pymunk.ShapeFilter:
        if not isinstance(value, pymunk.ShapeFilter):
            raise TypeError(f"filter must be a pymunk.ShapeFilter, got {value!r}")
        return value

    @property
    def world(self) -> World | None:
        """The world that steps this object, or None."""
        return self._world

    @property
    def positions(self) -> np.ndarray:
        """(count, 2) or (count, 3) positions in wu: a read-only view of the live array."""
        return read_only(self._x)

    @property
    def previous_positions(self) -> np.ndarray:
        """Positions one fixed step ago, for drawing between steps: previous + alpha (positions -
        previous).
        """
        return read_only(self._previous)

    @property
    def velocities(self) -> np.ndarray:
        """Velocities in wu/s, shaped as `positions`: a read-only view."""
        return read_only(self._v)

    @property
    def inverse_mass(self) -> np.ndarray:
        """(count,) inverse masses, 0 for a held particle: a read-only view."""
        return read_only(self._w)

    @property
    def count(self) -> int:
        """Number of particles."""
        return len(self._x)

    def __len__(self) -> int:
        return self.count

    @property
    def radius(self) -> float:
        """Contact radius of a particle, wu, > 0."""
        return self._radius

    @radius.setter
    def radius(self, value: float) -> None:
        self._radius = checks.number("radius", value, 0.0, checks.LIMIT, above=0.0)
        self._changed()

    @property
    def friction(self) -> float:
        """Friction coefficient, >= 0; how it combines with a shape's own says `friction_rule`."""
        return self._friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._friction = checks.number("friction", value, 0.0, checks.LIMIT)
        self._changed()

    @property
    def friction_rule(self) -> str:
        """How friction combines with a shape's: "product" (pymunk's rule, default; a new shape's friction is
        0, so it is ice), "own" (this object's alone), "geometric" (square root of the product) or
        "maximum".
        """
        return self._friction_rule

    @friction_rule.setter
    def friction_rule(self, value: str) -> None:
        self._friction_rule = checks.choice("friction_rule", value, FRICTION_RULES)
        self._changed()

    @property
    def elasticity(self) -> float:
        """Restitution, 0 to 1, multiplied by the shape's own (pymunk's rule); default 1: the shape
        decides.
        """
        return self._elasticity

    @elasticity.setter
    def elasticity(self, value: float) -> None:
        self._elasticity = checks.number("elasticity", value, 0.0, 1.0)
        self._changed()

    @property
    def damping(self) -> float:
        """Rate in 1/s at which velocity decays: v goes as exp(-damping t), at any frame rate."""
        return self._damping

    @damping.setter
    def damping(self, value: float) -> None:
        self._damping = checks.number("damping", value, 0.0, checks.LIMIT)
        self._changed()

    @property
    def filter(self) -> pymunk.ShapeFilter:
        """Decides by pymunk's rule which shapes and soft objects this one meets."""
        return self._filter

    @filter.setter
    def filter(self, value: pymunk.ShapeFilter) -> None:
        self._filter = self._checked_filter(value)
        self._changed()

    @property
    def sleeping(self) -> bool:
        """Always False: this version keeps every object awake."""
        return False

    @classmethod
    def _blank(cls) -> SoftObject:
        """An object without state, to be filled by `_load`."""
        obj = cls.__new__(cls)
        obj._world, obj._serial = None, -1
        obj.user_data = obj.on_begin = obj.on_end = None
        return obj

    def _check_world(self, world: World) -> None:
        """May this object be added to this world? Raise ValueError if not."""

    def _left_world(self) -> None:
        """The object was removed from its world."""

    def _links(self) -> np.ndarray:
        """(m, 2) particle indices of the straight pieces that queries see; by default each particle alone."""
        return np.stack([np.arange(self.count)] * 2, axis=1)

    def _reach(self) -> float:
        """Longest straight piece, wu."""
        return 0.0

    def _touch_block(self) -> TouchBlock | None:
        """What other soft objects touch of this one; None: they pass through. By default whatever is planar
        and keeps its places at the start of the substep.
        """
        x0 = getattr(self, "_x0", None)
        if x0 is None or self._x.shape[1] != 2:
            return None
        return TouchBlock(self._x, x0, self._v, self._w, self._links())

    def _ties(self) -> list[tuple[int, Attachment]]:
        """(particle, tie to a body), in order of particles."""
        return []

    def _set_ties(self, ties: dict[int, Attachment]) -> None:
        """Take over ties to bodies."""

    def _joined(self) -> list[tuple[int, SoftObject, int]]:
        """(own particle, other object, its particle) of every join."""
        return []

    def _release_joins(self) -> None:
        """Let go of every join."""

    def _changed(self) -> None:
        """A setting changed: the stage must read this object again."""
        if self._world is not None:
            self._world._stage_of(self).object_changed(self)

    def _arrays(self) -> dict[str, np.ndarray]:
        """The complete state in arrays, by name; restored by writing into arrays of these names."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """The rest of the state as plain JSON values."""
        return {
            "radius": self._radius,
            "friction": self._friction,
            "damping": self._damping,
            "elasticity": self._elasticity,
            "friction_rule": self._friction_rule,
            "filter": list(self._filter),
        }

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Take over a state made by `_settings` and `_arrays`."""
        for name in ("radius", "friction", "damping", "elasticity", "friction_rule"):
            setattr(self, f"_{name}", settings[name])
        self._filter = pymunk.ShapeFilter(*settings["filter"])
