"""The fields of a world, applied to an object in one call."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pymunk

from softkit._kernels import fields as kernels
from softkit.fields import settings
from softkit.fields.base import NO_TABLE, Field, threads_for
from softkit.fields.custom import Custom
from softkit.fields.values import array, number, three


class _Plan:
    """The fields that act on one object: rows of all plain accelerations in one block, and the rest one by
    one."""

    def __init__(self, fields: list[Field]):
        self.fields = fields
        self.summed = [f for f in fields if f.kind in ("acceleration", "force") and not isinstance(f, Custom)]
        self.single = [f for f in fields if f.kind in ("acceleration", "force") and isinstance(f, Custom)]
        self.relaxing = [f for f in fields if f.kind in ("flow", "drag", "kick")]
        for field in self.summed:
            field._prepare(0.0)
        self.rows = (
            np.concatenate([f._rows for f in self.summed]) if self.summed else np.zeros((0, kernels.ROW))
        )


class Fields:
    """An ordered set of fields: `world.fields`. Works on plain arrays without a world, too.

    >>> from softkit.fields import Fields, Gravity
    >>> fields = Fields()
    >>> pull = fields.add(Gravity((0, 10)))
    >>> fields.sample([(0, 0)]).tolist()
    [[0.0, 10.0]]
    """

    def __init__(self) -> None:
        self.version = 0
        """Grows with every change of any field: whoever sleeps under a lower number must wake."""
        self._fields: list[Field] = []
        self._plans: dict[Any, tuple[Any, Any, _Plan]] = {}
        self._scratch: dict[int, np.ndarray] = {}
        self._carried: list[Field] = []

    def add(self, *fields: Field) -> Any:
        """Add fields, which act from the next step on; gives back the field, or a tuple of them.

        Raises TypeError for anything but a field, ValueError for one that is here already.
        """
        for i, field in enumerate(fields):
            if not isinstance(field, Field):
                raise TypeError(f"fields[{i}] must be a field, got {field!r}")
            if any(field is other for other in (*self._fields, *fields[:i])):
                raise ValueError(f"fields[{i}] is in this world already: {field!r}")
        for field in fields:
            self._fields.append(field)
            field._owners.append(self)
        self._touched()
        return fields[0] if len(fields) == 1 else fields

    def remove(self, *fields: Field) -> None:
        """Take fields out; ValueError for one that is not here."""
        for i, field in enumerate(fields):
            if not any(field is other for other in self._fields) or any(
                field is other for other in fields[:i]
            ):
                raise ValueError(f"fields[{i}] is not in this world: {field!r}")
        for field in fields:
            self._fields = [other for other in self._fields if other is not field]
            field._owners = [owner for owner in field._owners if owner is not self]
        self._touched()

    def clear(self) -> None:
        """Take all fields out."""
        self.remove(*self._fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(tuple(self._fields))

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, field: Any) -> bool:
        return any(field is other for other in self._fields)

    def _touched(self) -> None:
        self.version += 1
        self._plans.clear()
        self._carried = [f for f in self._fields if getattr(f, "_body", None) is not None]

    def _plan(self, obj: Any) -> _Plan:
        for field in self._carried:
            field._place()  # a field that moved with its body clears the plans through _touched
        filter_ = getattr(obj, "filter", None)
        held = self._plans.get(id(obj))
        if held is None or held[0] is not obj or held[1] != filter_:
            held = (obj, filter_, _Plan([f for f in self._fields if f.acts_on(obj)]))
            self._plans[id(obj)] = held
        return held[2]

    def begin_step(self, time: float) -> None:
        """A world's step from `time` (s) on begins."""
        for field in self._fields:
            field.begin_step(time)

    def forget(self, obj: Any) -> None:
        """The object is gone: do not keep it alive."""
        self._plans.pop(id(obj), None)

    def reaches(self, obj: Any) -> bool:
        """Whether any field acts on the object."""
        return bool(self._fields) and bool(self._plan(obj).fields)

    def keeps_awake(self, obj: Any) -> bool:
        """Whether a field that changes with time by itself acts on the object."""
        return bool(self._fields) and not all(f.steady for f in self._plan(obj).fields)

    def apply(
        self,
        obj: Any,
        points: Any,
        velocities: Any,
        inverse_mass: Any,
        h: float,
        time: float,
        threads: int | None = None,
        gravity: Any = None,
        later: bool = False,
    ) -> None:
        """One substep: velocities += (gravity + accelerations) * h, then flows and drags in the order they
        were added.

        points, velocities: float64 (n, d) with a contiguous last axis; inverse_mass (n,) or None: 1 each; a
        particle with 0 keeps its velocity. gravity: the world's own, two or three numbers, default None:
        already added by the caller or not wanted. Given here, drags know it, and terminal speeds are right to
        second order in h. later: True where the caller adds gravity * h itself right afterwards: drags know
        of it, and it is left out again. (At rest on something, drags then take rate * h / 2 off the weight.)
        """
        plan = self._plan(obj)
        if len(points) == 0 or h <= 0 or not (plan.fields or (gravity is not None and not later)):
            return
        self._step(plan, points, velocities, inverse_mass, h, time, threads, gravity, later, plan.relaxing)

    def push(
        self,
        obj: Any,
        points: Any,
        velocities: Any,
        inverse_mass: Any,
        h: float,
        time: float,
        threads: int | None = None,
        gravity: Any = None,
        later: bool = False,
    ) -> None:
        """One substep of everything but flows, for things with a surface: `air` says what blows on them."""
        plan = self._plan(obj)
        relaxing = [field for field in plan.relaxing if field.kind != "flow"]
        self._step(plan, points, velocities, inverse_mass, h, time, threads, gravity, later, relaxing)

    def _step(
        self,
        plan: _Plan,
        points: Any,
        velocities: Any,
        inverse_mass: Any,
        h: float,
        time: float,
        threads: int | None,
        gravity: Any,
        later: bool,
        relaxing: list[Field],
    ) -> None:
        """See `apply`."""
        n, dim = points.shape
        count = threads_for(n, threads)
        pull = three(tuple(gravity))[:dim] if gravity is not None and (relaxing or not later) else None
        total = self._room(n, dim)
        total[:] = 0.0 if pull is None else pull
        self._sum(plan, points, velocities, inverse_mass, total, time, threads)
        kernels.kick(velocities, total, inverse_mass, h, count)
        for field in relaxing:
            field.relax(points, velocities, h, time, inverse_mass, total, threads)
        if later and pull is not None:
            total[:] = pull
            kernels.kick(velocities, total, inverse_mass, -h, count)

    def _sum(
        self,
        plan: _Plan,
        points: Any,
        velocities: Any,
        inverse_mass: Any,
        out: Any,
        time: float,
        threads: int | None,
    ) -> None:
        kernels.accumulate(plan.rows, NO_TABLE, points, inverse_mass, out, threads_for(len(points), threads))
        for field in plan.single:
            field.accumulate(points, velocities, inverse_mass, out, time, threads)

    def _room(self, n: int, dim: int) -> np.ndarray:
        """A scratch array that only ever grows, so that a steady step allocates nothing."""
        room = self._scratch.get(dim)
        if room is None or len(room) < n:
            room = self._scratch[dim] = np.zeros((max(256, n + n // 2), dim))
        return room[:n]

    def body_velocities(
        self, positions: Any, velocities: Any, masses: Any, h: float, time: float
    ) -> np.ndarray:
        """Velocity changes (n, 2) that the fields with bodies=True give to pymunk's dynamic bodies within h
        seconds.

        positions (of the centres of gravity), velocities: (n, 2), masses: (n,), > 0. Gravity is the space's
        own matter.
        """
        places, speeds = array("positions", positions, 2), array("velocities", velocities, 2)
        inverse = 1.0 / np.asarray(masses, dtype=np.float64)
        plan = _Plan([f for f in self._fields if f.bodies and f.enabled])
        after, total = speeds.copy(), np.zeros_like(places)
        if len(places) and plan.fields:
            self._sum(plan, places, speeds, inverse, total, time, None)
            kernels.kick(after, total, inverse, h, 1)
            for field in plan.relaxing:
                field.relax(places, after, h, time, inverse, total)
        return after - speeds

    def push_bodies(self, space: pymunk.Space, h: float, time: float) -> None:
        """Give the dynamic bodies of a space what the fields with bodies=True do to them within h seconds."""
        if not self.has_bodies:
            return
        bodies = [b for b in space.bodies if b.body_type == pymunk.Body.DYNAMIC]
        if not bodies:
            return
        centers = np.array([b.local_to_world(b.center_of_gravity) for b in bodies])
        speeds = np.array([tuple(b.velocity) for b in bodies])
        change = self.body_velocities(centers, speeds, [b.mass for b in bodies], h, time)
        for body, speed, extra in zip(bodies, speeds, change):
            if extra.any():
                body.velocity = tuple((speed + extra).tolist())

    @property
    def has_bodies(self) -> bool:
        """Whether any field acts on pymunk's bodies now."""
        return any(f.bodies and f.enabled for f in self._fields)

    def air(self, obj: Any, points: Any, time: float, out: Any, threads: int | None = None) -> bool:
        """Add the velocity of all flows that act on the object to out (n, d) at the points; False where there
        is none.

        For things with a surface, which feel the air by their own law instead of being drawn along.
        """
        flows = [f for f in self._plan(obj).fields if f.kind == "flow"]
        for field in flows:
            field._sample(points, np.zeros_like(points) if isinstance(field, Custom) else None, time, out)
        return bool(flows)

    def sample(
        self, points: Any, velocities: Any = None, time: float = 0, *, kind: str | None = None
    ) -> np.ndarray:
        """All fields' samples added up: accelerations (kind None: all but flows), or flows' velocities (kind
        "flow")."""
        single = np.ndim(points) == 1
        places = array("points", [points] if single else points)
        speeds = velocities if velocities is None or not single else [velocities]
        number("time", time)
        total = np.zeros_like(places)
        for field in self._fields:
            if field.enabled and (field.kind not in ("flow", "kick") if kind is None else field.kind == kind):
                total += field.sample(places, speeds, time)
        return total[0] if single else total

    def state(self) -> list[Any]:
        """Settings, phases and pending kicks of all fields, in order, as plain values for a snapshot."""
        return [settings.taken(field) for field in self._fields]

    def checked(self, state: Any) -> list[Any]:
        """What `state` gave, checked against the fields that are here now; ValueError where it does not
        fit."""
        if not isinstance(state, list) or len(state) != len(self._fields):
            raise ValueError(f"state must be of {len(self._fields)} fields, got {state!r:.60}")
        try:
            return [settings.checked(field, held) for field, held in zip(self._fields, state)]
        except (TypeError, IndexError) as error:
            raise ValueError(f"state must be what `state` gave: {error}") from error

    def set_state(self, state: list[Any]) -> None:
        """Put back what `state` gave, into the same fields in the same order; ValueError before a change."""
        for field, (values, phases) in zip(self._fields, self.checked(state)):
            settings.put(field, values, phases)
        self._touched()
