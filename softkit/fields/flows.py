"""Flows: moving air that draws things along, whatever their mass."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from softkit import checks
from softkit._kernels import fields as kernels
from softkit.fields.base import Field, Placed
from softkit.fields.region import Region, as_rect
from softkit.fields.values import Number, Vector, number, three, vector


class Flow(Field):
    """Base of the flows: velocities are drawn toward the air's, v' = u + (v - u) exp(-rate t), exact at any
    step.

    rate: 1/s >= 0, how fast; infinity carries things along rigidly.
    In a region with a falloff `sample` fades the air's velocity, and a step fades the rate.
    """

    kind = "flow"
    rate = Number("How fast velocities approach the air's, 1/s.", 0.0, endless=True)

    def _rebuild(self) -> None:
        super()._rebuild()
        self._rows[0, 20] = min(self._rate, 1e18)


class Wind(Flow):
    """Air moving the same way everywhere, in gusts.

    velocity: wu/s, default (100, 0). gust: share by which gusts change the speed, 0 to 10, default 0.
    frequency: gusts per second, default 0.5. rate: 1/s, default 0.5. seed: 0 to 2^32 - 1, default 0: another
    order of gusts. phase: where in that order it starts, in gusts, default 0; part of a snapshot. The speed's
    factor is 1 + gust * n, with n smooth noise of time in -1..1, mean 0.
    """

    velocity = Vector("Mean velocity of the air, wu/s, default (100, 0).")
    gust = Number("Share by which gusts change the speed, default 0.", 0.0, 10.0)

    def __init__(
        self,
        velocity: Any = (100, 0),
        gust: float = 0,
        frequency: float = 0.5,
        rate: float = 0.5,
        *,
        seed: int = 0,
        phase: float = 0,
        **options: Any,
    ):
        super().__init__(**options)
        self._seed = checks.whole("seed", seed, 0, 2**32 - 1)
        self._phase = number("phase", phase, -1e9, 1e9)
        self._frequency, self._now = number("frequency", frequency, 0.0, 1e4), 0.0
        self.velocity, self.gust, self.rate = velocity, gust, rate

    @property
    def seed(self) -> int:
        """Which order of gusts."""
        return self._seed

    @property
    def frequency(self) -> float:
        """Gusts per second, default 0.5; changing it does not make the wind jump."""
        return self._frequency

    @frequency.setter
    def frequency(self, value: float) -> None:
        value = number("frequency", value, 0.0, 1e4)
        self._phase += (self._frequency - value) * self._now
        self._change("_frequency", value)

    @property
    def steady(self) -> bool:
        return self._gust == 0 or self._frequency == 0

    def factor(self, time: float) -> float:
        """The gusts' factor on the speed at a time (s)."""
        if self._gust == 0:
            return 1.0
        return 1.0 + self._gust * kernels.gust(self._phase + self._frequency * time, self._seed)

    def _prepare(self, time: float) -> None:
        super()._prepare(time)
        self._now = time
        factor = self.factor(time)
        row = self._rows[0]
        row[11], row[12], row[13] = (factor * part for part in three(self._velocity))

    def state(self) -> Any:
        return [self._phase, self._now]

    def set_state(self, state: Any) -> None:
        self._phase, self._now = number("state", state[0]), number("state", state[1])


class Moved(Placed):
    """Mixin of flows that a game moves about."""

    def move(self, position: Any, dt: float) -> None:
        """Go to `position` within dt seconds (> 0): sets the velocity too, so that what is near comes
        along."""
        target, dt = vector("position", position), number("dt", dt, 1e-9)
        here, there = three(self._position), three(target)
        self.velocity = tuple((b - a) / dt for a, b in zip(here, there))
        self.position = target


class Whirl(Moved, Flow):
    """Air going round an axis: fastest (strength, wu/s) at r = core, slower inside and as 1 / r far out.

    position: wu. strength: wu/s, default 200; positive turns from x toward y. core: wu, default 60. inward:
    share of the speed that goes to the axis, default 0. rate: 1/s, default 3. axis: in 3-D, default (0, 0,
    1). reach: wu, default None: endless; else nothing happens beyond this distance and the effect fades
    toward it. velocity: wu/s, default (0, 0), of the whirl as a whole, so that what it holds comes along;
    `move` sets it. The profile is that of Kaufmann (1962): 2 strength r core / (r^2 + core^2).
    """

    _operation = 2
    position = Vector("A point on the axis, wu.")
    strength = Number("Speed at r = core, wu/s, default 200; negative turns the other way.")
    core = Number("Radius of the greatest speed, wu, default 60.", 1e-3)
    inward = Number("Share of the speed that goes to the axis, default 0.", -1e3, 1e3)
    velocity = Vector("Velocity of the whirl as a whole, wu/s, default (0, 0).")

    def __init__(
        self,
        position: Any,
        strength: float = 200,
        core: float = 60,
        inward: float = 0,
        rate: float = 3,
        *,
        axis: Any = (0, 0, 1),
        reach: float | None = None,
        velocity: Any = (0, 0),
        **options: Any,
    ):
        if reach is not None:
            if options.get("region") is not None:
                raise TypeError(f"region and reach must not both be given, got {options['region']!r}")
            options.setdefault("falloff", "smooth")
        super().__init__(**options)
        self._reach = None if reach is None else number("reach", reach, 1e-3)
        parts = three(vector("axis", axis))
        size = float(np.sqrt(sum(part * part for part in parts)))
        if size < 1e-9:
            raise ValueError(f"axis must not be zero, got {axis!r}")
        self._axis = tuple(part / size for part in parts)
        self.position, self.strength, self.core = position, strength, core
        self.inward, self.rate, self.velocity = inward, rate, velocity

    @property
    def reach(self) -> float | None:
        """Distance beyond which nothing happens, wu; None: endless."""
        return self._reach

    @reach.setter
    def reach(self, value: float | None) -> None:
        value = None if value is None else number("reach", value, 1e-3)
        if value is not None and self._reach is None and self._region is not None:
            raise TypeError(f"reach and region must not both be set, got {value!r}")
        if self._reach is not None:
            self._region = None
        self._change("_reach", value)

    @property
    def _own_region(self) -> str | None:
        return None if self._reach is None else "the disc of the whirl's own reach"

    def _rebuild(self) -> None:
        if self._reach is not None:
            self._region = Region.disc(self._position, self._reach)
        super()._rebuild()
        self._rows[0, 21:24] = three(self._velocity)

    def _fill(self, row: Any) -> None:
        row[11:14], row[14:17] = self._at(), self._axis
        row[17], row[18], row[19] = 2.0 * self._strength * self._core, self._core * self._core, self._inward


class Stir(Moved, Flow):
    """A spoon: within its radius things are drawn along with it. Give it the mouse's position every frame by
    `move`.

    position: wu. radius: wu, default 60. velocity: wu/s, default (0, 0); `move` works it out. rate: 1/s at
    the centre, default 20, fading to 0 at the radius. A spoon that does not move does nothing.
    """

    _own_region = "the disc of the spoon's own radius"
    position = Vector("Centre, wu.")
    velocity = Vector("The spoon's velocity, wu/s.")
    radius = Number("Reach, wu, default 60.", 1e-3)

    def __init__(
        self,
        position: Any,
        radius: float = 60,
        velocity: Any = (0, 0),
        rate: float = 20,
        *,
        falloff: str = "smooth",
        **options: Any,
    ):
        if options.get("region") is not None:
            raise TypeError(f"region is the disc of the spoon's own radius, got {options['region']!r}")
        super().__init__(falloff=falloff, **options)
        self.position, self.radius, self.velocity, self.rate = position, radius, velocity, rate

    def _rebuild(self) -> None:
        moving = any(self._velocity)
        self._region = Region.disc(self._position, self._radius)
        super()._rebuild()
        if not moving:
            self._rows[0, 20] = 0.0

    def _fill(self, row: Any) -> None:
        row[11:14] = three(self._velocity)


class FlowMap(Flow):
    """Air whose velocity comes from an array or a picture, interpolated bilinearly.

    vectors: (rows, columns, 2), times `strength` in wu/s (default 1), or see `from_image`. rect: (left, top,
    width, height) that the array covers; each vector sits in the middle of its cell. rate: 1/s, default 3.
    repeat: False (default): no flow outside the rect; True: the map repeats endlessly. region: default None:
    the rect itself, without end where the map repeats.
    """

    _operation = 4
    strength = Number("Factor on the vectors, default 1.")

    def __init__(
        self,
        vectors: ArrayLike,
        rect: Any,
        strength: float = 1,
        rate: float = 3,
        *,
        repeat: bool = False,
        **options: Any,
    ):
        self._rect = as_rect("rect", rect)
        self._repeat = checks.truth("repeat", repeat)
        if options.get("region") is None:
            options["region"] = None if repeat else self._rect
        super().__init__(**options)
        self.vectors = vectors
        self.strength, self.rate = strength, rate

    @classmethod
    def from_image(cls, picture: Any, rect: Any, strength: float = 100, **options: Any) -> "FlowMap":
        """A flow map out of a picture: red is x, green is y, 128 is still, 0 and 255 are full strength
        (wu/s).

        picture: a pygame.Surface, or an array (rows, columns, 2 or more) of 0..255.
        """
        if hasattr(picture, "get_view"):
            pixels = np.asarray(picture.get_view("3")).transpose(1, 0, 2)
        else:
            pixels = np.asarray(picture)
        if pixels.ndim != 3 or pixels.shape[2] < 2:
            raise ValueError(f"picture must be (rows, columns, 2 or more), got {pixels.shape}")
        return cls((pixels[:, :, :2].astype(np.float64) - 128.0) / 127.5, rect, strength, **options)

    @property
    def vectors(self) -> np.ndarray:
        """The vectors, (rows, columns, 2), read-only; assign an array of any size to replace them."""
        return self._vectors

    @vectors.setter
    def vectors(self, value: ArrayLike) -> None:
        try:
            vectors = np.array(value, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise TypeError(f"vectors must be an array of numbers, got {value!r}") from None
        if vectors.ndim != 3 or vectors.shape[2] != 2 or 0 in vectors.shape:
            raise ValueError(f"vectors must have the shape (rows, columns, 2), got {vectors.shape}")
        if not (np.isfinite(vectors).all() and np.abs(vectors).max() <= 1e15):
            raise ValueError(f"vectors must be finite and below 1e15, got {np.abs(vectors).max()}")
        vectors.flags.writeable = False
        self._table = vectors.reshape(-1)
        self._change("_vectors", vectors)

    def _fill(self, row: Any) -> None:
        rows, columns = self._vectors.shape[:2]
        (cx, cy, _), (hx, hy, _) = self._rect.center, self._rect.half
        step_x, step_y = 2 * hx / columns, 2 * hy / rows
        row[11:20] = (
            cx - hx + step_x / 2,
            cy - hy + step_y / 2,
            1 / step_x,
            1 / step_y,
            columns,
            rows,
            self._strength,
            float(self._repeat),
            0,
        )
