"""Fields out of a game's own function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from softkit import checks
from softkit._kernels import fields as kernels
from softkit.fields.flows import Flow

KINDS = ("acceleration", "force", "flow")


class Custom(Flow):
    """A field out of your own function, called once per object and substep with whole arrays.

    function(points, velocities, time) -> (n, d) array: points and velocities are read-only (n, 2) or (n, 3)
    arrays in wu and wu/s, time is in seconds. kind: "acceleration" (default, wu/s^2), "force" (divided by
    each particle's mass) or "flow" (an air velocity, approached at `rate`, 1/s, default 3). Entries that are
    not finite count as 0, and `rejected` counts them. An answer of another shape raises ValueError. steady:
    False (default) where the function may change with time, which keeps what it touches awake.

    >>> drift = Custom(lambda points, velocities, time: points * 0 + (5, 0))
    >>> drift.sample([(1, 2), (3, 4)]).tolist()
    [[5.0, 0.0], [5.0, 0.0]]
    """

    def __init__(
        self,
        function: Callable[..., Any],
        kind: str = "acceleration",
        rate: float = 3,
        *,
        steady: bool = False,
        **options: Any,
    ):
        if not callable(function):
            raise TypeError(f"function must be callable, got {function!r}")
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        steady = checks.truth("steady", steady)
        super().__init__(**options)
        self.kind, self._function, self._steady = kind, function, steady
        self.rejected = 0
        self.rate = rate

    @property
    def steady(self) -> bool:
        return self._steady

    def _values(self, points: Any, velocities: Any, time: float) -> np.ndarray:
        places, speeds = points.view(), velocities.view()
        places.flags.writeable = speeds.flags.writeable = False
        values = np.array(self._function(places, speeds, time), dtype=np.float64)
        if values.shape != points.shape:
            raise ValueError(f"function must return the shape {points.shape}, got {values.shape}")
        wrong = ~(np.abs(values) < 1e30)
        if wrong.any():
            self.rejected += int(wrong.sum())
            values[wrong] = 0.0
        return values

    def _weights(self, points: Any) -> np.ndarray:
        self._prepare(0.0)
        weights = np.zeros(len(points))
        kernels.weights(self._rows, points, weights)
        return weights[:, None]

    def _sample(self, points: Any, velocities: Any, time: float, out: Any) -> None:
        out += self._values(points, velocities, time) * self._weights(points)

    def accumulate(
        self,
        points: Any,
        velocities: Any,
        inverse_mass: Any,
        out_acceleration: Any,
        time: float,
        threads: int | None = None,
    ) -> None:
        if self.kind == "flow" or len(points) == 0:
            return
        values = self._values(points, velocities, time) * self._weights(points)
        if inverse_mass is not None:
            factor = inverse_mass if self.kind == "force" else (np.asarray(inverse_mass) > 0)
            values = values * np.asarray(factor)[:, None]
        out_acceleration += values

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
        if self.kind != "flow" or len(points) == 0 or h <= 0:
            return
        air = self._values(points, velocities, time)
        weights = self._weights(points)
        rates = self._rows[0, 20] * weights
        keep = np.empty_like(rates)
        kernels.decays(rates[:, 0], 0.5 * h, keep[:, 0])
        if inverse_mass is not None:
            keep[np.asarray(inverse_mass) == 0] = 1.0
        kick = 0.0 if acceleration is None else np.asarray(acceleration) * h
        moved = air + (velocities - kick - air) * keep + kick
        moved = air + (moved - air) * keep
        still = (keep == 1.0)[:, 0]
        moved[still] = np.asarray(velocities)[still]
        velocities[:] = moved
