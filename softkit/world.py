"""The world: one object beside a pymunk space, one `update(dt)` a frame."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from typing import Any

import pymunk

from softkit import checks, queries, saves, snapshot
from softkit.colliders import Colliders
from softkit.contacts import Contacts, Listeners
from softkit.fields import Fields
from softkit.health import Health
from softkit.objects import SoftObject
from softkit.stages import Stage
from softkit.touch_stage import SoftContact, TouchStage


class World:
    """Everything soft in a game, stepped together with its pymunk space.

    Args:
        space: the game's pymunk.Space, or None for a world without rigid bodies.
        step: length of a fixed step, s, > 0; default 1/60.
        substeps: parts of a step that soft objects are solved in (Macklin et al. 2019, "Small steps in
            physics simulation"), 1 to 64; default 8.
        max_steps: most fixed steps in one `update`, 1 to 1000; default 4. What is more is dropped and counted
            in `health`.
        gravity: wu/s^2 as (x, y); default None, the space's own.
        step_space: whether `update` steps the space too; default True. With False, call
            `space.step(world.step)` after each step yourself, from `before_space` or with max_steps=1.
        shape_depth: (z_min, z_max) that a pymunk shape fills for 3-D objects; default None, without end.

    Determinism: the same calls give the same bits, on any number of threads.

    >>> import pymunk, softkit
    >>> world = softkit.World(pymunk.Space(), gravity=(0, 900))
    >>> rope = world.add(softkit.Rope((0, 0), (100, 0)))
    >>> rope.pin(0)
    >>> world.update(1 / 60)
    >>> round(world.time, 4)
    0.0167
    """

    def __init__(
        self,
        space: pymunk.Space | None = None,
        *,
        step: float = 1 / 60,
        substeps: int = 8,
        max_steps: int = 4,
        gravity: Any = None,
        step_space: bool = True,
        shape_depth: tuple[float, float] | None = None,
    ) -> None:
        if space is not None and not isinstance(space, pymunk.Space):
            raise TypeError(f"space must be a pymunk.Space or None, got {space!r}")
        self._space = space
        self._step = checks.number("step", step, 1e-6, 1.0)
        self._substeps = checks.whole("substeps", substeps, 1, 64)
        self._max_steps = checks.whole("max_steps", max_steps, 1, 1000)
        self._gravity = None if gravity is None else checks.vector("gravity", gravity)
        self._step_space = checks.truth("step_space", step_space)
        if shape_depth is not None:
            shape_depth = checks.vector("shape_depth", shape_depth)
            if not shape_depth[0] < shape_depth[1]:
                raise ValueError(
                    f"shape_depth must be (z_min, z_max) with z_min < z_max, got {shape_depth!r}"
                )
        self._max_speed = 50_000.0
        self._max_depenetration_speed = 300.0
        self._teleport_speed = 12_000.0
        self._steps = 0
        self._left = 0.0
        self._serial = 0
        self._known: weakref.WeakValueDictionary[int, SoftObject] = weakref.WeakValueDictionary()
        self._objects: list[SoftObject] = []
        self._stages: dict[type[Stage], Stage] = {}
        self._busy = False
        self._waiting: list[Callable[[], None]] = []
        self._contacts: Contacts | None = None
        self._listeners = Listeners()
        self._touching = TouchStage(self)
        self.before_space: Callable[[World], None] | None = None
        self.health = Health()
        self.fields = Fields()
        self.colliders = Colliders(space, shape_depth)

    # ------------------------------------------------------------ settings

    @property
    def space(self) -> pymunk.Space | None:
        """The pymunk space."""
        return self._space

    @property
    def step(self) -> float:
        """Length of a fixed step, s."""
        return self._step

    @property
    def substeps(self) -> int:
        """Parts of a step that soft objects are solved in; may change while running."""
        return self._substeps

    @substeps.setter
    def substeps(self, value: int) -> None:
        self._substeps = checks.whole("substeps", value, 1, 64)

    @property
    def max_steps(self) -> int:
        """Most fixed steps in one `update`."""
        return self._max_steps

    @property
    def gravity(self) -> tuple[float, float]:
        """Gravity of soft objects, wu/s^2: the space's, unless set here (None: the space's again)."""
        if self._gravity is not None:
            return self._gravity
        return tuple(self._space.gravity) if self._space is not None else (0.0, 0.0)

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = None if value is None else checks.vector("gravity", value)

    @property
    def max_speed(self) -> float:
        """No particle goes faster, wu/s; default 50,000. Continuous contact holds up to it."""
        return self._max_speed

    @max_speed.setter
    def max_speed(self, value: float) -> None:
        self._max_speed = checks.number("max_speed", value, 1.0, 1e9)
        for stage in self._stages.values():
            stage.objects_changed()

    @property
    def max_depenetration_speed(self) -> float:
        """An overlap that was there from the start opens this fast, wu/s, without giving velocity; default
        300.
        """
        return self._max_depenetration_speed

    @max_depenetration_speed.setter
    def max_depenetration_speed(self, value: float) -> None:
        self._max_depenetration_speed = checks.number("max_depenetration_speed", value, 0.0, 1e9)
        for stage in self._stages.values():
            stage.objects_changed()

    @property
    def teleport_speed(self) -> float:
        """A static or kinematic body set elsewhere counts as having moved there during the step, pushing what
        is in its way, up to this speed, wu/s; default 12,000. Faster, it jumped."""
        return self._teleport_speed

    @teleport_speed.setter
    def teleport_speed(self, value: float) -> None:
        self._teleport_speed = checks.number("teleport_speed", value, 0.0)

    # ------------------------------------------------------------ objects

    @property
    def objects(self) -> tuple[SoftObject, ...]:
        """Everything added, in order."""
        return tuple(self._objects)

    def add(self, *objects: SoftObject) -> Any:
        """Add soft objects; returns the object, or a tuple of them.

        Inside a step (a callback of pymunk or of softkit) it takes effect when the step is over.
        """
        for i, obj in enumerate(objects):
            if not isinstance(obj, SoftObject):
                raise TypeError(f"objects[{i}] must be a soft object, got {obj!r}")
            if obj._world is not None:
                raise ValueError(f"objects[{i}] must not be in a world already, got {obj!r}")
            if any(obj is other for other in objects[:i]):
                raise ValueError(f"objects[{i}] must not be given twice, got {obj!r}")
            obj._check_world(self)
        for obj in objects:
            obj._world = self
        self._when_idle(lambda: self._take(objects))
        return objects[0] if len(objects) == 1 else objects

    def remove(self, *objects: SoftObject) -> None:
        """Remove soft objects; they keep their state and may be added again. Inside a step it takes effect
        after it.
        """
        for i, obj in enumerate(objects):
            if not isinstance(obj, SoftObject):
                raise TypeError(f"objects[{i}] must be a soft object, got {obj!r}")
            if obj._world is not self or any(obj is other for other in objects[:i]):
                raise ValueError(f"objects[{i}] must be in this world, got {obj!r}")
        for obj in objects:
            obj._world = None
        self._when_idle(lambda: self._drop(objects))

    @property
    def busy(self) -> bool:
        """Is a step going on? True inside callbacks: what they add and remove takes effect after the step."""
        return self._busy

    def _when_idle(self, change: Callable[[], None]) -> None:
        if self._busy:
            self._waiting.append(change)
        else:
            change()

    def _take(self, objects: tuple[SoftObject, ...]) -> None:
        for obj in objects:
            if obj._world is not self or obj in self._objects:
                continue
            if obj._serial < 0 or self._known.get(obj._serial) is not obj:
                obj._serial = self._serial
                self._serial += 1
            self._known[obj._serial] = obj
            self._objects.append(obj)
            stage = self._stage_of(obj)
            stage.objects.append(obj)
            stage.objects_changed()

    def _drop(self, objects: tuple[SoftObject, ...]) -> None:
        for obj in objects:
            if obj._world is self or obj not in self._objects:
                continue
            self._objects.remove(obj)
            stage = self._stage_of(obj)
            stage.objects.remove(obj)
            stage.objects_changed()
            obj._left_world()
            self.fields.forget(obj)

    def _stage_of(self, obj: SoftObject) -> Stage:
        if obj.stage not in self._stages:
            self._stages[obj.stage] = obj.stage(self)
            self._stages = dict(sorted(self._stages.items(), key=lambda item: item[0].order))
        return self._stages[obj.stage]

    def refresh(self) -> None:
        """Read every shape again before the next step. Needed only where a shape's change cannot be seen:
        pymunk changed through its C interface, or a build whose records cannot be watched."""
        self.colliders.refresh()

    # ------------------------------------------------------------ time

    @property
    def time(self) -> float:
        """Simulated time, s: whole steps."""
        return self._steps * self._step

    @property
    def alpha(self) -> float:
        """How far the present frame is between the last step and the next one, 0 to 1, for drawing."""
        return min(1.0, max(0.0, self._left / self._step))

    def update(self, dt: float) -> None:
        """Advance by `dt` seconds, >= 0: whole fixed steps, the rest is kept for the next call.

        After more than `max_steps` steps' worth at once (a pause, a breakpoint) the surplus is dropped and
        counted in `health.steps_dropped`. dt = 0 changes nothing.
        """
        dt = checks.number("dt", dt, 0.0)
        if self._busy:
            raise RuntimeError("update must not be called from a callback inside update")
        left = self._left + dt
        steps = math.floor(min(left / self._step + 1e-6, 1e18))
        self._left = max(0.0, left - steps * self._step) if steps < 1e9 else 0.0
        if steps > self._max_steps:
            self.health.steps_dropped += steps - self._max_steps
            steps = self._max_steps
        for _ in range(steps):
            self._advance()

    def _advance(self) -> None:
        """One fixed step."""
        dt, substeps = self._step, self._substeps
        h = dt / substeps
        stages = [stage for stage in self._stages.values() if stage.objects]
        self._contacts = None
        self._busy = True
        try:
            self.fields.begin_step(self.time)
            if stages:
                for stage in stages:
                    stage.prepare()
                self.colliders.begin_step(dt, self.gravity, self._teleport_speed)
                self.colliders.remember_start()
                for stage in stages:
                    stage.begin(dt)
                self._touching.begin()
                for k in range(substeps):
                    self.colliders.begin_substep(h)
                    for stage in stages:
                        stage.substep(h, (k + 1) / substeps, self.time + k * h)
                    self._touching.substep(h)
                    self.health.speeds_capped += self.colliders.end_substep(h, self._max_speed)
                for stage in stages:
                    stage.end(h)
                self.colliders.hand_back(dt)
            else:
                self.colliders.forget()
            if self._space is not None and self.fields.has_bodies:
                self.fields.push_bodies(self._space, dt, self.time)
            self._steps += 1
            if self.before_space is not None:
                self.before_space(self)
            if self._space is not None and self._step_space:
                self._space.step(dt)
            self._tell(stages)
        finally:
            self._busy = False
            waiting, self._waiting = self._waiting, []
            for change in waiting:
                change()

    def _tell(self, stages: list[Stage]) -> None:
        for stage in stages:
            stage.events()
        for call, arguments in self._listeners.collect(stages, self.colliders.shapes):
            call(*arguments)

    def body_pose(self, body: pymunk.Body) -> tuple[float, float, float]:
        """(x, y, angle) of a body between the last two steps by `alpha`, as it should be drawn."""
        start = self.colliders.start_pose(body)
        x, y, angle = *body.position, body.angle
        if start is None:
            return x, y, angle
        t = self.alpha
        return start[0] + t * (x - start[0]), start[1] + t * (y - start[1]), start[2] + t * (angle - start[2])

    # ------------------------------------------------------------ asking

    @property
    def contacts(self) -> Contacts:
        """The last step's touches of particles and shapes."""
        if self._contacts is None:
            touches = [t for stage in self._stages.values() for t in stage.touches()]
            self._contacts = Contacts(touches, self.colliders.shapes)
        return self._contacts

    @property
    def soft_contacts(self) -> list[SoftContact]:
        """What soft objects of different kinds touched each other at the end of the last step.

        `contacts` has touches of shapes alone; ropes on ropes are in neither.
        """
        return self._touching.contacts()

    def point_query(
        self, point: Any, max_distance: float = 0.0, filter: pymunk.ShapeFilter | None = None
    ) -> list:
        """Everything soft whose surface is within `max_distance` wu of a point, nearest first, as `Hit`s."""
        return queries.point_query(self._objects, point, max_distance, filter)

    def segment_query(
        self, a: Any, b: Any, radius: float = 0.0, filter: pymunk.ShapeFilter | None = None
    ) -> list:
        """Everything soft that a line of half-width `radius` from a to b meets, in order from a, as
        `Hit`s.
        """
        return queries.segment_query(self._objects, a, b, radius, filter)

    def bb_query(self, bb: Any, filter: pymunk.ShapeFilter | None = None) -> list:
        """Every particle with its centre in a pymunk.BB (left, bottom, right, top), as `Hit`s."""
        return queries.bb_query(self._objects, bb, filter)

    # ------------------------------------------------------------ state

    def snapshot(self) -> bytes:
        """The complete soft state, and position and velocity of every body in the space.

        Not inside it: the space's own contact memory (pymunk keeps it), shapes, and bodies themselves;
        restore into a space with the same bodies in the same order.
        """
        return snapshot.save(self)

    def restore(self, data: bytes) -> None:
        """Go back to a snapshot. Objects keep their identity; those added since are removed, those removed
        since return.

        Raises ValueError for anything that is not a whole snapshot of a world like this one, before any
        change.
        """
        if self._busy:
            raise RuntimeError("restore must not be called from a callback inside update")
        snapshot.load(self, data)

    def save(self, path: Any, *, key: Callable[[pymunk.Body], Any] | None = None) -> None:
        """Write `snapshot()` to a file, whole or not at all: what was there stays until the new file is on
        the disk.

        Args:
            path: a str or a path.
            key: gives each body of the space a name of its own, a str or an int, by which `load` finds it
                again; default None: bodies are known by their order in the space.

        The space itself is the game's: build it again as the level does, or keep it by pymunk's own means,
        `pickle.dumps(space)`, beside the file. Pickled data can run code when it is read: never read one
        that came from a stranger. This file can come from anyone.
        """
        saves.save(self, path, key)

    def load(self, path: Any, *, key: Callable[[pymunk.Body], Any] | None = None) -> None:
        """Put this world into the state that `save` wrote.

        Args:
            path: what `save` wrote.
            key: as given to `save`: a game that builds its space in another order matches bodies by name.

        The space needs the bodies that were there when it was saved, and no other. Raises OSError where there
        is no file, and ValueError for a damaged file, for one that a newer softkit wrote, and where bodies do
        not match, before any change.
        """
        if self._busy:
            raise RuntimeError("load must not be called from a callback inside update")
        saves.load(self, path, key)

    def state_hash(self) -> str:
        """A hash of the complete soft state and the bodies' motion after the last whole step: equal hashes,
        equal bits.

        Not in it: the part of a frame that `update` keeps for the next call, and the counters of `health`. So
        the same steps give the same hash at any frame rate.
        """
        return snapshot.digest(self)
