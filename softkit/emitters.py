"""Where free particles come from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pymunk

from softkit import checks

if TYPE_CHECKING:
    from softkit.particles import Particles

SPEC = (
    "kind a b c d aimed direction spread speed_low speed_high life_low life_high spin_low spin_high "
    "scale_low scale_high turn_low turn_high x0 y0 angle0 x1 y1 angle1 vx vy w inherit push_x push_y "
    "edges length start interval dt off"
).split()
PLACE = {name: i for i, name in enumerate(SPEC)}
NO_EDGES = np.zeros((0, 9))


@dataclass(frozen=True)
class Source:
    """A place to be born at: `point`, `line`, `disc`, `ring`, `rect` or the `surface` of a pymunk shape.

    Outward, where no direction is given: from a line to its left as seen from start to end on a screen, from
    a disc or ring away from its centre, from a surface along its normal, from a point or rectangle any way.
    """

    kind: int
    numbers: tuple[float, float, float, float]
    edges: np.ndarray
    body: pymunk.Body | None = None

    @classmethod
    def point(cls, place: Any) -> Source:
        """A single point (x, y), wu."""
        return cls(0, (*checks.vector("place", place), 0.0, 0.0), NO_EDGES)

    @classmethod
    def line(cls, start: Any, end: Any) -> Source:
        """Evenly along the line from start to end."""
        return cls(1, (*checks.vector("start", start), *checks.vector("end", end)), NO_EDGES)

    @classmethod
    def disc(cls, center: Any, radius: float) -> Source:
        """Evenly over a disc."""
        return cls(2, (*checks.vector("center", center), checks.number("radius", radius, 0.0), 0.0), NO_EDGES)

    @classmethod
    def ring(cls, center: Any, radius: float) -> Source:
        """Evenly along a circle."""
        return cls(3, (*checks.vector("center", center), checks.number("radius", radius, 0.0), 0.0), NO_EDGES)

    @classmethod
    def rect(cls, left: float, top: float, width: float, height: float) -> Source:
        """Evenly over a rectangle, as in pygame."""
        size = checks.number("width", width, 0.0), checks.number("height", height, 0.0)
        return cls(4, (checks.number("left", left), checks.number("top", top), *size), NO_EDGES)

    @classmethod
    def surface(cls, shape: pymunk.Shape) -> Source:
        """Evenly along the outline of a pymunk shape as it is now, its round parts too; goes with the shape's
        body and takes its velocity. What is born there stands off by the pool's radius, so that it is not in
        the shape."""
        if not isinstance(shape, pymunk.Shape):
            raise TypeError(f"shape must be a pymunk.Shape, got {shape!r}")
        if shape.body is None:
            raise ValueError(f"shape must have a body, got {shape!r}")
        edges = _outline(shape)
        return cls(5, (0.0, 0.0, 0.0, 0.0), edges, shape.body)


def _outline(shape: pymunk.Shape) -> np.ndarray:
    """Pieces (ax, ay, bx, by, angle, turn, radius, length so far, length) of the outline in the body's frame:
    a piece goes from a to b, or from its angle round by a turn, `radius` off that."""
    if isinstance(shape, pymunk.Circle):
        corners, out = [tuple(shape.offset)], shape.radius
    elif isinstance(shape, pymunk.Segment):
        corners, out = [tuple(shape.a), tuple(shape.b)], shape.radius
    else:
        corners, out = [tuple(p) for p in shape.get_vertices()], shape.radius
        if sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1])) < 0:
            corners.reverse()
    if len(corners) == 1 or (len(corners) == 2 and corners[0] == corners[1]):
        pieces = [(*corners[0], *corners[0], 0.0, 2 * math.pi, out, 2 * math.pi * out)]
    else:
        pieces = _sides(corners, out)
    edges = np.zeros((len(pieces), 9))
    edges[:, [0, 1, 2, 3, 4, 5, 6, 8]] = pieces
    edges[:, 7] = np.cumsum(edges[:, 8]) - edges[:, 8]
    return edges


def _sides(corners: list[tuple[float, float]], out: float) -> list[tuple[float, ...]]:
    """The straight sides round some corners, and the arcs between them where they are rounded."""
    pieces = []
    angles = [math.atan2(a[0] - b[0], b[1] - a[1]) for a, b in zip(corners, corners[1:] + corners[:1])]
    for k, a in enumerate(corners):
        b = corners[(k + 1) % len(corners)]
        pieces.append((*a, *b, angles[k], 0.0, out, math.hypot(b[0] - a[0], b[1] - a[1])))
        turn = (angles[(k + 1) % len(corners)] - angles[k]) % (2 * math.pi)
        if out > 0.0 and turn > 0.0:
            pieces.append((*b, *b, angles[k], turn, out, out * turn))
    return pieces


def as_source(value: Any) -> Source:
    """A Source, a point, or a pymunk shape (its surface)."""
    if isinstance(value, Source):
        return value
    return Source.surface(value) if isinstance(value, pymunk.Shape) else Source.point(value)


def span(name: str, value: Any, low: float = -1e9, high: float = 1e9) -> tuple[float, float]:
    """A number, or (lowest, highest), as the pair."""
    parts = tuple(value) if isinstance(value, (tuple, list, np.ndarray)) else (value, value)
    if len(parts) != 2:
        raise ValueError(f"{name} must be a number or (lowest, highest), got {value!r}")
    pair = checks.number(name, parts[0], low, high), checks.number(name, parts[1], low, high)
    if pair[0] > pair[1]:
        raise ValueError(f"{name} must be (lowest, highest), got {value!r}")
    return pair


def make_spec(
    source: Source,
    owner: Particles,
    *,
    direction: float | None = None,
    spread: float | None = None,
    speed: Any = 0.0,
    velocity: Any = (0.0, 0.0),
    lifetime: Any = None,
    spin: Any = None,
    size: Any = 1.0,
    angle: Any = 0.0,
    inherit: float = 1.0,
) -> np.ndarray:
    """The checked numbers of a source as a kernel reads them."""
    spec = np.zeros(len(SPEC))

    def put(name: str, value: Any) -> None:
        spec[PLACE[name]] = value

    def put_span(name: str, pair: tuple[float, float]) -> None:
        put(name + "_low", pair[0])
        put(name + "_high", pair[1])

    put("kind", source.kind)
    spec[PLACE["a"] : PLACE["d"] + 1] = source.numbers
    put("aimed", float(direction is not None))
    put("direction", 0.0 if direction is None else checks.number("direction", direction, -1e6, 1e6))
    default = 2 * math.pi if source.kind in (0, 4) and direction is None else 0.0
    put("spread", default if spread is None else checks.number("spread", spread, 0.0, 2 * math.pi))
    put_span("speed", span("speed", speed))
    put_span("life", owner.lifetime if lifetime is None else span("lifetime", lifetime, 1e-6))
    put_span("spin", owner.spin if spin is None else span("spin", spin))
    put_span("scale", span("size", size, 0.0))
    put_span("turn", span("angle", angle))
    push = checks.vector("velocity", velocity)
    put("push_x", push[0])
    put("push_y", push[1])
    put("inherit", checks.number("inherit", inherit, -10.0, 10.0))
    if len(source.edges):
        put("edges", len(source.edges))
        put("length", source.edges[-1, 7] + source.edges[-1, 8])
        put("off", owner.radius + 1e-6)
    return spec


class Emitter:
    """A steady stream of particles; made by `Particles.emitter`.

    rate: particles a second, >= 0, settable. enabled: whether it runs, settable. position: (x, y) offset, wu,
    of a source that no body carries, settable: between two steps the particles spread along the way. body:
    the pymunk body that carries the source in its own frame, or None.
    """

    def __init__(
        self, owner: Particles, source: Source, rate: float, body: pymunk.Body | None, spec: np.ndarray
    ):
        self._owner, self.source = owner, source
        self.rate = rate
        self.enabled = True
        self.body = source.body if source.body is not None else body
        self._spec = spec
        self._edges = source.edges
        self._carry = 0.0
        self._position = self._last = (0.0, 0.0)

    @property
    def rate(self) -> float:
        """Particles a second, >= 0."""
        return self._rate

    @rate.setter
    def rate(self, value: float) -> None:
        self._rate = checks.number("rate", value, 0.0, 1e9)

    @property
    def enabled(self) -> bool:
        """Whether the emitter runs."""
        return self._enabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self._enabled = checks.truth("enabled", value)

    @property
    def body(self) -> pymunk.Body | None:
        """The pymunk body that carries the source, or None."""
        return self._body

    @body.setter
    def body(self, value: pymunk.Body | None) -> None:
        if value is not None and not isinstance(value, pymunk.Body):
            raise TypeError(f"body must be a pymunk.Body or None, got {value!r}")
        self._body = value

    @property
    def position(self) -> tuple[float, float]:
        """Where the source's own (0, 0) is, wu, as long as no body carries it; default (0, 0)."""
        return self._position

    @position.setter
    def position(self, value: Any) -> None:
        self._position = checks.vector("position", value)

    def remove(self) -> None:
        """Stop for good."""
        self._owner._emitters = [e for e in self._owner._emitters if e is not self]

    def _due(self, dt: float) -> int:
        """How many are born in the coming step; sets the time of the first one and the interval."""
        pose = (
            carrier_pose(self._body, dt)
            if self._body is not None
            else (*self._last, 0.0, *self._position, 0.0)
        )
        self._spec[PLACE["x0"] : PLACE["w"] + 1] = (*pose, *carrier_motion(self._body))
        self._last = self._position
        if not self._enabled or self._rate == 0.0:
            return 0
        total = self._carry + self._rate * dt
        count = math.floor(total)
        interval = 1.0 / self._rate
        self._spec[PLACE["start"]] = min(dt, (1.0 - self._carry) * interval)
        self._spec[PLACE["interval"]] = interval
        self._spec[PLACE["dt"]] = dt
        self._carry = total - count
        return count

    def _state(self) -> list[Any]:
        return [self._rate, self._enabled, self._carry, *self._position, *self._last]

    def _set_state(self, state: list[Any]) -> None:
        self._rate, self._enabled, self._carry = float(state[0]), bool(state[1]), float(state[2])
        self._position, self._last = tuple(state[3:5]), tuple(state[5:7])


def carrier_pose(body: pymunk.Body, dt: float) -> tuple[float, ...]:
    """Pose now and after dt at the present velocity."""
    (x, y), angle, (vx, vy), w = body.position, body.angle, body.velocity, body.angular_velocity
    return x, y, angle, x + vx * dt, y + vy * dt, angle + w * dt


def carrier_motion(body: pymunk.Body | None) -> tuple[float, float, float]:
    """Velocity and angular velocity."""
    return (0.0, 0.0, 0.0) if body is None else (*body.velocity, body.angular_velocity)
