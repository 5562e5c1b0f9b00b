"""Accelerations and forces: gravity, pushes, attractors, vortices, explosions."""

from typing import Any

import numpy as np

from softkit._kernels import fields as kernels
from softkit.fields.base import Field, Placed, threads_for
from softkit.fields.region import FALLOFFS, KINDS
from softkit.fields.values import LIMIT, Number, Vector, number, three, vector


class Gravity(Field):
    """The same acceleration for every mass, added to the world's own gravity.

    acceleration: (x, y) or (x, y, z), wu/s^2, default (0, 900).

    >>> Gravity((0, 900)).sample((3, 4)).tolist()
    [0.0, 900.0]
    """

    acceleration = Vector("Acceleration, wu/s^2, default (0, 900).")

    def __init__(self, acceleration: Any = (0, 900), **options: Any):
        super().__init__(**options)
        self.acceleration = acceleration

    def _fill(self, row: Any) -> None:
        row[11:14] = three(self._acceleration)


class Push(Field):
    """The same force on every particle: light ones go faster.

    force: (x, y) or (x, y, z), mass * wu/s^2 on each particle, default (100, 0).
    """

    kind = "force"
    force = Vector("Force on each particle, mass * wu/s^2, default (100, 0).")

    def __init__(self, force: Any = (100, 0), **options: Any):
        super().__init__(**options)
        self.force = force

    def _fill(self, row: Any) -> None:
        row[11:14] = three(self._force)


class Attractor(Placed, Field):
    """A point that draws everything in (Plummer 1911): a = strength * d / (r^2 + softening^2)^1.5, whatever
    the mass.

    position: wu. strength: wu^3/s^2, default 1e6; negative pushes away. softening: wu > 0, default 10, about
    the size of what is seen there; the pull is greatest at r = softening / sqrt(2) and 0 at the centre. A
    circular orbit at r has the speed sqrt(strength) * r / (r^2 + softening^2)^0.75.
    """

    _operation = 1
    position = Vector("Centre, wu.")
    strength = Number("Strength, wu^3/s^2, default 1e6; negative pushes away.")
    softening = Number("Softening length, wu, default 10, at least 1e-3.", 1e-3)

    def __init__(self, position: Any, strength: float = 1e6, softening: float = 10, **options: Any):
        super().__init__(**options)
        self.position, self.strength, self.softening = position, strength, softening

    def _pull(self) -> float:
        return self._strength

    def _fill(self, row: Any) -> None:
        row[11:14] = self._at()
        row[14], row[15] = self._pull(), self._softening * self._softening


class Repeller(Attractor):
    """An attractor that pushes: a = -strength * d / (r^2 + softening^2)^1.5."""

    def _pull(self) -> float:
        return -self._strength


class Vortex(Placed, Field):
    """A sideways acceleration round an axis: it speeds things up along their circle.

    position: a point on the axis, wu. strength: wu/s^2 at r = core, where it is greatest, default 500;
    positive turns from x toward y. core: wu > 0, default 50; far out the acceleration falls as 1 / r. inward:
    share of it that points to the axis, default 0. axis: direction in 3-D, default (0, 0, 1), the space's
    own. For a wind that carries things round with it see `Whirl`.
    """

    _operation = 2
    position = Vector("A point on the axis, wu.")
    strength = Number("Acceleration at r = core, wu/s^2, default 500; negative turns the other way.")
    core = Number("Radius of the greatest effect, wu, default 50.", 1e-3)
    inward = Number("Share of the effect that points to the axis, default 0.", -1e3, 1e3)

    def __init__(
        self,
        position: Any,
        strength: float = 500,
        core: float = 50,
        inward: float = 0,
        *,
        axis: Any = (0, 0, 1),
        **options: Any,
    ):
        super().__init__(**options)
        self.position, self.strength, self.core, self.inward, self.axis = (
            position,
            strength,
            core,
            inward,
            axis,
        )

    @property
    def axis(self) -> tuple[float, float, float]:
        """Unit vector along the axis; 2-D points need one with x = y = 0."""
        return self._axis

    @axis.setter
    def axis(self, value: Any) -> None:
        parts = np.array(three(vector("axis", value)))
        size = float(np.sqrt((parts * parts).sum()))
        if size < 1e-9:
            raise ValueError(f"axis must not be zero, got {value!r}")
        self._change("_axis", tuple(float(part) for part in parts / size))

    def _fill(self, row: Any) -> None:
        row[11:14], row[14:17] = self._at(), self._axis
        row[17], row[18], row[19] = 2.0 * self._strength * self._core, self._core * self._core, self._inward


class Explosion(Placed, Field):
    """A single radial kick, given by `fire()` in the next step: dv = impulse * weight / mass, straight
    outward.

    position: wu. impulse: mass * wu/s given to a particle at the centre, default 500; negative draws in.
    radius: wu, default 100, beyond which nothing happens. falloff: as for every field, default "linear" over
    the radius. max_speed: wu/s, the most that a kick may add, default 5000. A particle exactly at the centre
    has no direction and gets none.
    """

    kind = "kick"
    _own_region = "the disc of the explosion's own radius"
    position = Vector("Centre, wu.")
    impulse = Number("Impulse on a particle at the centre, mass * wu/s, default 500.")
    radius = Number("Reach, wu, default 100.", 1e-3)
    max_speed = Number("Most that one kick adds, wu/s, default 5000.", 0.0)

    def __init__(
        self,
        position: Any,
        impulse: float = 500,
        radius: float = 100,
        *,
        max_speed: float = 5000,
        falloff: str = "linear",
        **options: Any,
    ):
        if options.get("region") is not None:
            raise TypeError(f"region is the disc of the explosion's own radius, got {options['region']!r}")
        super().__init__(falloff=falloff, **options)
        self.position, self.impulse, self.radius, self.max_speed = position, impulse, radius, max_speed
        self._armed = False
        self._fired_at = -LIMIT

    def fire(self) -> None:
        """Kick everything within reach in the next step, once."""
        self._armed = True
        self._touch()

    def _fill(self, row: Any) -> None:
        row[1], row[2] = KINDS["ball"], FALLOFFS[self._falloff]
        row[3:6], row[6:9] = self._at(), self._radius
        row[9] = 1.0 / (self._radius if self._fade is None else self._fade)

    def begin_step(self, time: float) -> None:
        """In a world the kick is given in this very step, or, switched off or with nothing there, not at
        all."""
        if self._armed:
            self._armed, self._fired_at = False, time

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
        """Every object that comes along at the moment of firing gets the kick; at any other moment, none
        does."""
        if self._armed:
            self._armed, self._fired_at = False, time
        if time == self._fired_at and h > 0:
            self.kick(points, velocities, inverse_mass, threads)

    def kick(
        self, points: Any, velocities: Any, inverse_mass: Any = None, threads: int | None = None
    ) -> None:
        """Add the kick to `velocities` at once (plain float64 arrays, for use without a world)."""
        self._prepare(0.0)
        kernels.blast(
            self._rows,
            points,
            velocities,
            inverse_mass,
            self._impulse,
            self._max_speed,
            threads_for(len(points), threads),
        )

    def _sample(self, points: Any, velocities: Any, time: float, out: Any) -> None:
        self.kick(points, out)

    def state(self) -> Any:
        return [self._armed, self._fired_at]

    def set_state(self, state: Any) -> None:
        self._armed, self._fired_at = bool(state[0]), number("state", state[1])
