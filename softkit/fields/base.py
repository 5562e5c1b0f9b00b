"""What every field shares: where it acts, on what, and how it is sampled."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pymunk
from numpy.typing import ArrayLike, NDArray

from softkit import checks
from softkit._kernels import fields as kernels
from softkit.fields.region import FALLOFFS, KINDS, Region, as_region
from softkit.fields.values import array, number, three, vector
from softkit.threads import get_threads

PARALLEL_FROM = 2048
"""Below this many points a pass runs on one thread: waking a second one costs more than it saves."""

NO_TABLE = np.zeros(1)


def threads_for(count: int, threads: int | None = None) -> int:
    """How many threads a pass over `count` points uses."""
    return 1 if count < PARALLEL_FROM else threads or get_threads()


class Field:
    """Base of all fields. Every field takes these keywords, all of them settable while running:

    region: `Region`, (left, top, width, height) or None, default None: everywhere. falloff: "none" (default),
    "linear", "smooth" or "square": how the effect rises from 0 at the region's edge to 1. fade: wu > 0 over
    which it rises, default None: the region's radius, or half its shortest side. filter: pymunk.ShapeFilter
    against the object's `filter`, by pymunk's own rule, default: everything. targets: classes and objects
    that it acts on, default None: all soft objects and free particles. bodies: True to act on pymunk's
    dynamic bodies too (at their centre of gravity), default False. enabled: False switches the field off,
    default True.

    `kind` says what `sample` returns: "acceleration" (wu/s^2, mass does not matter), "force" (mass * wu/s^2,
    sampled for unit mass and divided by each particle's own), "flow" (the air's velocity, wu/s, toward which
    velocities are drawn at `rate` per second: v' = u + (v - u) exp(-rate t)), "drag" (wu/s^2, integrated
    exactly) or "kick".
    """

    kind = "acceleration"
    _operation = 0
    _own_region: str | None = None

    def __init__(
        self,
        *,
        region: Any = None,
        falloff: str = "none",
        fade: float | None = None,
        filter: pymunk.ShapeFilter | None = None,
        targets: Iterable[Any] | None = None,
        bodies: bool = False,
        enabled: bool = True,
    ):
        self.version = 0
        self._owners: list[Any] = []
        self._rows = np.zeros((1, kernels.ROW))
        self._table = NO_TABLE
        self._stale = True
        self._region, self._falloff, self._fade = as_region(region), _falloff(falloff), _fade(fade)
        self._filter, self._targets = _filter(filter), _targets(targets)
        self._bodies, self._enabled = checks.truth("bodies", bodies), checks.truth("enabled", enabled)

    @staticmethod
    def custom(function: Callable[..., Any], **options: Any) -> "Field":
        """A field out of your own function, see `softkit.fields.Custom`."""
        from softkit.fields.custom import Custom

        return Custom(function, **options)

    # what a subclass fills in

    def _fill(self, row: NDArray[np.float64]) -> None:
        """Write the operation's own numbers into row[11:]."""

    def begin_step(self, time: float) -> None:
        """A world's step from `time` (s) on begins."""

    def _prepare(self, time: float) -> None:
        """Bring rows and table to `time` (s); called before every use."""
        if self._stale:
            self._rebuild()

    @property
    def steady(self) -> bool:
        """Whether the field stays as it is by itself; one that changes with time keeps what it touches
        awake."""
        return True

    # changes

    def _change(self, slot: str, value: Any) -> None:
        setattr(self, slot, value)
        self._touch()

    def _touch(self) -> None:
        self.version += 1
        self._stale = True
        for owner in self._owners:
            owner._touched()

    def _rebuild(self) -> None:
        row = self._rows[0]
        row[:] = 0.0
        row[0] = self._operation
        if self._region is not None:
            fade = self._region.default_fade if self._fade is None else self._fade
            row[1], row[2] = KINDS[self._region.kind], FALLOFFS[self._falloff]
            row[3:6], row[6:9], row[9] = self._region.center, self._region.half, 1.0 / fade
        row[10] = float(self.kind == "force")
        self._fill(row)
        self._stale = False

    @property
    def region(self) -> Region | None:
        """Where the field acts; None: everywhere. Read-only where the field's own size says it (a `Stir`, an
        `Explosion`, a `Whirl` with a reach): setting it raises TypeError."""
        return self._region

    @region.setter
    def region(self, value: Any) -> None:
        if self._own_region is not None:
            raise TypeError(f"region is {self._own_region}, got {value!r}")
        self._change("_region", as_region(value))

    @property
    def falloff(self) -> str:
        """How the effect rises from the region's edge inward: "none", "linear", "smooth" or "square"."""
        return self._falloff

    @falloff.setter
    def falloff(self, value: str) -> None:
        self._change("_falloff", _falloff(value))

    @property
    def fade(self) -> float | None:
        """Width of that rise, wu; None: the radius or half the shortest side."""
        return self._fade

    @fade.setter
    def fade(self, value: float | None) -> None:
        self._change("_fade", _fade(value))

    @property
    def filter(self) -> pymunk.ShapeFilter:
        """Compared with each object's own filter by pymunk's rule."""
        return self._filter

    @filter.setter
    def filter(self, value: pymunk.ShapeFilter | None) -> None:
        self._change("_filter", _filter(value))

    @property
    def targets(self) -> tuple[Any, ...] | None:
        """Classes and objects that the field acts on; None: all."""
        return self._targets

    @targets.setter
    def targets(self, value: Iterable[Any] | None) -> None:
        self._change("_targets", _targets(value))

    @property
    def bodies(self) -> bool:
        """Whether pymunk's dynamic bodies feel the field."""
        return self._bodies

    @bodies.setter
    def bodies(self, value: bool) -> None:
        self._change("_bodies", checks.truth("bodies", value))

    @property
    def enabled(self) -> bool:
        """Whether the field is on."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._change("_enabled", checks.truth("enabled", value))

    def acts_on(self, obj: Any) -> bool:
        """Whether the field is on and reaches this object by its targets and filter."""
        if not self._enabled:
            return False
        if self._targets is not None and not any(
            isinstance(obj, t) if isinstance(t, type) else obj is t for t in self._targets
        ):
            return False
        other = getattr(obj, "filter", None)
        return other is None or passes(self._filter, other)

    # use

    def sample(
        self, points: ArrayLike, velocities: ArrayLike | None = None, time: float = 0
    ) -> NDArray[np.float64]:
        """What the field does at the points: accelerations, or for a flow its velocities.

        points: (n, 2) or (n, 3), wu, or a single point, in which case one vector comes back. velocities:
        wu/s, needed by drags (None: at rest). time: s, default 0, for fields that change with time; pass
        `world.time` for "now". This runs the very kernel that steps use. Ignores `enabled`, filter and
        targets.
        """
        single = np.ndim(points) == 1
        places = array("points", [points] if single else points)
        speeds = np.zeros_like(places)
        if velocities is not None:
            speeds = array("velocities", [velocities] if single else velocities, places.shape[1])
            if len(speeds) != len(places):
                raise ValueError(f"velocities must be {len(places)} rows, as points, got {len(speeds)}")
        time = number("time", time)
        out = np.zeros_like(places)
        self._sample(places, speeds, time, out)
        return out[0] if single else out

    def _sample(self, points: Any, velocities: Any, time: float, out: Any) -> None:
        self._prepare(time)
        kernels.accumulate(self._rows, self._table, points, None, out, threads_for(len(points)))

    def accumulate(
        self,
        points: Any,
        velocities: Any,
        inverse_mass: Any,
        out_acceleration: Any,
        time: float,
        threads: int | None = None,
    ) -> None:
        """Add the accelerations to `out_acceleration` (n, d); inverse mass 0 gets none. Nothing for flows and
        drags.

        All arrays float64 with a contiguous last axis, inverse_mass (n,) or None: 1 each. Not checked.
        """
        if self.kind in ("acceleration", "force"):
            self._prepare(time)
            kernels.accumulate(
                self._rows,
                self._table,
                points,
                inverse_mass,
                out_acceleration,
                threads_for(len(points), threads),
            )

    def relax(
        self,
        points: Any,
        velocities: Any,
        h: float,
        time: float,
        inverse_mass: Any = None,
        acceleration: Any = None,
        threads: int | None = None,
    ) -> None:
        """Integrate a flow, drag or kick over h seconds, in `velocities` themselves. Nothing for other kinds.

        acceleration: what was already added to velocities in this step, per second (None: nothing); knowing
        it makes terminal speeds right to second order in h.
        """
        if self.kind in ("flow", "drag"):
            self._prepare(time)
            kernels.relax(
                self._rows,
                self._table,
                points,
                velocities,
                inverse_mass,
                acceleration,
                h,
                threads_for(len(points), threads),
            )

    def weights(self, points: ArrayLike) -> NDArray[np.float64]:
        """How much of the effect each point gets, 0 outside the region to 1: (n,)."""
        places = array("points", points)
        self._prepare(0.0)
        out = np.zeros(len(places))
        kernels.weights(self._rows, places, out)
        return out

    def state(self) -> Any:
        """What a snapshot has to keep beside the parameters (phases); None where there is nothing."""
        return None

    def set_state(self, state: Any) -> None:
        """Put back what `state` gave."""


class Placed:
    """Mixin of fields with a position: they can also be carried by a pymunk body."""

    _body: pymunk.Body | None = None
    _local: tuple[float, float] = (0.0, 0.0)

    def follow(self, body: pymunk.Body | None, local: Any = (0, 0)) -> None:
        """Be carried by `body` from now on, at `local` in its own coordinates; None: stay where it is."""
        if body is not None and not isinstance(body, pymunk.Body):
            raise TypeError(f"body must be a pymunk.Body or None, got {body!r}")
        self._local = vector("local", local)[:2]
        self._body = body
        self._touch()

    def _place(self) -> None:
        """Move to the body, if it has one and is not there already."""
        if self._body is not None:
            x, y = self._body.local_to_world(self._local)
            if abs(x) < 1e15 and abs(y) < 1e15 and self._position[:2] != (x, y):
                self.position = (x, y, *self._position[2:])

    def _prepare(self, time: float) -> None:
        self._place()
        super()._prepare(time)

    def _at(self) -> tuple[float, float, float]:
        return three(self._position)


def passes(a: pymunk.ShapeFilter, b: pymunk.ShapeFilter) -> bool:
    """pymunk's rule: no common group, and each one's categories in the other's mask."""
    return (
        not (a.group and a.group == b.group) and bool(a.categories & b.mask) and bool(b.categories & a.mask)
    )


def _falloff(value: str) -> str:
    if value not in FALLOFFS:
        raise ValueError(f"falloff must be one of {', '.join(FALLOFFS)}, got {value!r}")
    return value


def _fade(value: float | None) -> float | None:
    return None if value is None else number("fade", value, 1e-9)


def _filter(value: pymunk.ShapeFilter | None) -> pymunk.ShapeFilter:
    if value is None:
        return pymunk.ShapeFilter()
    if not isinstance(value, pymunk.ShapeFilter):
        raise TypeError(f"filter must be a pymunk.ShapeFilter, got {value!r}")
    return value


def _targets(value: Iterable[Any] | None) -> tuple[Any, ...] | None:
    if value is None:
        return None
    if isinstance(value, type) or not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        raise TypeError(f"targets must be a tuple of classes and objects, or None, got {value!r}")
    return tuple(value)
