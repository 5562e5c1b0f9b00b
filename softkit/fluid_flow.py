"""Where liquid comes from and where it goes: emitters and drains of a fluid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from softkit import checks
from softkit.regions import inside, rectangle

if TYPE_CHECKING:
    from softkit.fluid import Fluid

MIX, ADD, MASK = 6364136223846793005, 1442695040888963407, (1 << 64) - 1


class Emitter:
    """A nozzle that pours liquid; made by `Fluid.emitter`, see there for the parameters.

    Attributes:
        enabled: whether it pours; may change at any time.
        position: middle of the nozzle, wu; may change at any time.
        emitted: particles poured so far.
    """

    def __init__(self, fluid: Fluid, state: dict[str, Any]) -> None:
        self._fluid = fluid
        self._state = state

    @property
    def enabled(self) -> bool:
        return self._state["enabled"]

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._state["enabled"] = checks.truth("enabled", value)

    @property
    def position(self) -> tuple[float, float]:
        return tuple(self._state["position"])

    @position.setter
    def position(self, value: Any) -> None:
        self._state["position"] = list(checks.vector("position", value))

    @property
    def direction(self) -> tuple[float, float]:
        """Where it pours to, a unit vector; settable, any length."""
        return tuple(self._state["direction"])

    @direction.setter
    def direction(self, value: Any) -> None:
        self._state["direction"] = unit("direction", value)

    @property
    def rate(self) -> float:
        """Particles a second, >= 0; settable."""
        return self._state["rate"]

    @rate.setter
    def rate(self, value: float) -> None:
        self._state["rate"] = checks.number("rate", value, 0.0, 1e6)

    @property
    def emitted(self) -> int:
        return self._state["emitted"]

    def remove(self) -> None:
        """Take the emitter away; its particles stay."""
        if self in self._fluid._emitters:
            self._fluid._emitters.remove(self)

    def _random(self, count: int) -> np.ndarray:
        """Uniform in -1 ... 1 from the emitter's own seeded state (Knuth's 64-bit linear congruential generator)."""
        out = np.empty(count)
        seed = self._state["seed"]
        for i in range(count):
            seed = (seed * MIX + ADD) & MASK
            out[i] = (seed >> 11) / (1 << 52) - 1.0
        self._state["seed"] = seed
        return out

    def _pour(self, dt: float) -> None:
        """What is due in one step: particle k leaves at time k / rate, on the next lane across the nozzle."""
        s, fluid = self._state, self._fluid
        if not s["enabled"] or s["rate"] <= 0:
            return
        s["due"] += s["rate"] * dt
        count = int(s["due"])
        if s["limit"] is not None:
            count = min(count, s["limit"] - s["emitted"])
        if fluid.capacity is not None:
            room = fluid.capacity - fluid.count
            if count > room:
                if s["when_full"] == "oldest":
                    count = min(count, fluid.capacity)
                    fluid._drop_first(count - room)
                else:
                    count = room
                    s["due"] = min(s["due"], count + 1.0)
        if count <= 0:
            return
        number = np.arange(s["emitted"], s["emitted"] + count)
        lanes = max(1, int(s["width"] / fluid.spacing + 1e-6))
        across = (number % lanes + 0.5) * (s["width"] / lanes) - 0.5 * s["width"]
        age = (s["due"] - 1.0 - np.arange(count)) / s["rate"]
        direction = np.array(s["direction"])
        side = np.array([-direction[1], direction[0]])
        random = self._random(3 * count).reshape(count, 3) * s["jitter"]
        velocity = s["speed"] * ((1 + random[:, :1]) * direction + random[:, 1:2] * side)
        place = np.array(s["position"]) + across[:, None] * side + velocity * age[:, None]
        place += 0.25 * fluid.spacing * random[:, 2:] * side
        s["due"] -= count
        s["emitted"] += count
        fluid._append(fluid._within(place), velocity, s["color"])


class Drain:
    """A place where liquid vanishes; made by `Fluid.drain`.

    Attributes:
        region: the rectangle or pymunk shape; None after a snapshot brought back a drain whose shape is unknown.
        enabled: whether it takes liquid.
        drained: particles taken so far.
    """

    def __init__(self, fluid: Fluid, region: Any, rate: float | None) -> None:
        self._fluid, self.region, self.rate = fluid, region, rate
        self.enabled, self.drained, self._due = True, 0, 0.0

    def remove(self) -> None:
        """Take the drain away."""
        if self in self._fluid._drains:
            self._fluid._drains.remove(self)

    def _take(self, dt: float) -> None:
        fluid = self._fluid
        if not self.enabled or not fluid.count or self.region is None:
            return
        gone = np.flatnonzero(inside(fluid._x, self.region))
        if self.rate is not None:
            self._due = min(self._due + self.rate * dt, max(1.0, self.rate))
            gone = gone[: int(self._due)]
            self._due -= len(gone)
        if len(gone):
            self.drained += len(gone)
            fluid._erase(gone)


def unit(name: str, value: Any) -> list[float]:
    """A direction as a unit vector."""
    x, y = checks.vector(name, value)
    length = math.sqrt(x * x + y * y)
    if not length > 1e-9:
        raise ValueError(f"{name} must not be (0, 0), got {value!r}")
    return [x / length, y / length]


def make_emitter(fluid: Fluid, position: Any, direction: Any, width: Any, speed: Any, rate: Any, jitter: Any, color: Any,
                 seed: Any, limit: Any, when_full: Any) -> Emitter:
    """Check the arguments of `Fluid.emitter`."""
    width = checks.number("width", width, 0.0, 1e6)
    speed = checks.number("speed", speed, 0.0, 1e6)
    if rate is None:
        rate = max(1, int(width / fluid.spacing + 1e-6)) * speed / fluid.spacing
    return Emitter(fluid, {
        "position": list(checks.vector("position", position)),
        "direction": unit("direction", direction),
        "width": width,
        "speed": speed,
        "rate": checks.number("rate", rate, 0.0, 1e6),
        "jitter": checks.number("jitter", jitter, 0.0, 1.0),
        "color": None if color is None else list(checks_color("color", color)),
        "seed": checks.whole("seed", seed, 0, MASK),
        "limit": None if limit is None else checks.whole("limit", limit, 0, 1 << 40),
        "when_full": checks.choice("when_full", when_full, ("stop", "oldest")),
        "enabled": True,
        "emitted": 0,
        "due": 0.0,
    })


def make_drain(fluid: Fluid, region: Any, rate: Any) -> Drain:
    """Check the arguments of `Fluid.drain`."""
    import pymunk

    if not isinstance(region, pymunk.Shape):
        region = rectangle("region", region)
    else:
        inside(np.zeros((0, 2)), region)
    return Drain(fluid, region, None if rate is None else checks.number("rate", rate, 0.0, 1e6))


def checks_color(name: str, value: Any) -> tuple[float, float, float, float]:
    """(r, g, b) or (r, g, b, a), each 0 to 255."""
    parts = tuple(value) if not isinstance(value, str) else ()
    if len(parts) not in (3, 4):
        raise ValueError(f"{name} must be (r, g, b) or (r, g, b, a), got {value!r}")
    parts = tuple(checks.number(f"{name}[{i}]", part, 0.0, 255.0) for i, part in enumerate(parts))
    return parts if len(parts) == 4 else (*parts, 255.0)
