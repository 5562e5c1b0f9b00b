"""Free particles: smoke, sparks, dust, leaves, rain. They have no bonds, only a life."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pymunk

from softkit import checks
from softkit._kernels import particles as kernels
from softkit.emitters import NO_EDGES, PLACE, Emitter, as_source, carrier_motion, make_spec, span
from softkit.objects import SoftObject, read_only
from softkit.particle_stage import ParticleStage

if TYPE_CHECKING:
    from collections.abc import Iterable

HITS = ("bounce", "stick", "die", "pass")
MOST = 4_000_000
LOOK_STEPS = 64
AGE, LIFE, ANGLE, SPIN, SCALE = range(5)


class Particles(SoftObject):
    """A pool of free particles, blown by the world's fields and gravity, turned by pymunk's shapes.

    Args: capacity: most that live at once, 1 to 4,000,000, default 10,000. When it is full the oldest make
    room. lifetime: s, a number or (lowest, highest), default 2. radius: contact radius, wu, default 1. mass:
    of each, default 1. Counts against pushes and explosions; free particles do not push bodies back.
    gravity_scale: share of the world's gravity, default 1; 0 for dust, negative for smoke that rises.
    damping: 1/s, default 0. on_hit: "bounce" (default), "stick" (takes the shape's velocity), "die", or
    "pass" (shapes are not seen). bounce: rebound speed as a share, 0 to 1, default None: product of
    elasticities, pymunk's rule. friction, friction_rule, elasticity, filter: as for every soft object;
    friction 0.5, elasticity 1. size: drawn diameter over life, wu: a number, a list of numbers evenly over
    life, or pairs (share of life, number), default 4. color: (r, g, b) over life in the same way, default
    white. alpha: 0 to 1 over life, default (1, 0). spin: rad/s, a number or (lowest, highest), default 0.
    trail: how many past places each keeps for drawing, 0 to 64, default 0. trail_every: steps between,
    default 1. seed: of its random numbers, default 0; the state is part of a snapshot. report_contacts:
    whether `world.contacts` lists its touches, default False (they may be many).

    A step is one pass, not one for each substep. Row order changes when particles die: `ids` says who is who.

    >>> from softkit.particles import Particles
    >>> sparks = Particles(500, lifetime=(0.3, 0.8), color=[(255, 240, 180), (255, 80, 0)])
    >>> sparks.burst(20, (100, 100), speed=(50, 200))
    20
    >>> sparks.count
    20
    """

    kind = "particles"
    stage = ParticleStage

    def __init__(
        self,
        capacity: int = 10_000,
        *,
        lifetime: Any = 2.0,
        radius: float = 1.0,
        mass: float = 1.0,
        gravity_scale: float = 1.0,
        damping: float = 0.0,
        on_hit: str = "bounce",
        bounce: float | None = None,
        friction: float = 0.5,
        friction_rule: str = "product",
        elasticity: float = 1.0,
        filter: pymunk.ShapeFilter | None = None,
        size: Any = 4.0,
        color: Any = (255, 255, 255),
        alpha: Any = (1.0, 0.0),
        spin: Any = 0.0,
        trail: int = 0,
        trail_every: int = 1,
        seed: int = 0,
        report_contacts: bool = False,
    ) -> None:
        super().__init__(
            radius=radius,
            friction=friction,
            damping=damping,
            filter=filter,
            friction_rule=friction_rule,
            elasticity=elasticity,
        )
        self._capacity = checks.whole("capacity", capacity, 1, MOST)
        self._lifetime = span("lifetime", lifetime, 1e-6)
        self._spin = span("spin", spin)
        self._mass = checks.number("mass", mass, 1e-12, 1e12)
        self._gravity_scale = checks.number("gravity_scale", gravity_scale, -1e6, 1e6)
        self._on_hit = checks.choice("on_hit", on_hit, HITS)
        self._bounce = None if bounce is None else checks.number("bounce", bounce, 0.0, 1.0)
        self._seed = checks.whole("seed", seed, 0, 2**64 - 1)
        self._trail_length = checks.whole("trail", trail, 0, 64)
        self._trail_every = checks.whole("trail_every", trail_every, 1, 1000)
        self._report = checks.truth("report_contacts", report_contacts)
        self._size = _curve("size", size, 1, 0.0, 1e6)
        self._color = _curve("color", color, 3, 0.0, 255.0)
        self._alpha = _curve("alpha", alpha, 1, 0.0, 1.0)
        self._emitters: list[Emitter] = []
        self._next = 0
        self._steps = 0
        self._make_room()

    def _make_room(self) -> None:
        n = self._capacity
        self._rows_x, self._rows_v, self._rows_previous = (np.zeros((n, 2)) for _ in range(3))
        self._rows_traits, self._rows_ids = np.zeros((n, 5)), np.zeros(n, np.int64)
        self._rows_w = np.full(n, 1.0 / self._mass)
        self._rows_trail = np.zeros((n, self._trail_length, 2)) if self._trail_length else None
        self._fate, self._hit, self._order = np.zeros(n, np.uint8), np.zeros((n, 3)), np.zeros(n, np.int64)
        self._rows_touch, self._rows_struck, self._records = (None,) * 3
        self._touch, self._struck = np.zeros(0, np.int64), 0
        self._set_count(0)

    def _set_count(self, n: int) -> None:
        self._x, self._v, self._previous = self._rows_x[:n], self._rows_v[:n], self._rows_previous[:n]
        self._w, self._traits, self._ids = self._rows_w[:n], self._rows_traits[:n], self._rows_ids[:n]
        self._trail = None if self._rows_trail is None else self._rows_trail[:n]

    # ------------------------------------------------------------ what lives

    @property
    def capacity(self) -> int:
        """Most that live at once."""
        return self._capacity

    @property
    def ids(self) -> np.ndarray:
        """(count,) birth numbers, unique for good: how to follow a particle whose row changes."""
        return read_only(self._ids)

    @property
    def ages(self) -> np.ndarray:
        """(count,) seconds since birth."""
        return read_only(self._traits[:, AGE])

    @property
    def lifetimes(self) -> np.ndarray:
        """(count,) seconds that each lives."""
        return read_only(self._traits[:, LIFE])

    @property
    def angles(self) -> np.ndarray:
        """(count,) orientation, rad."""
        return read_only(self._traits[:, ANGLE])

    @property
    def sizes(self) -> np.ndarray:
        """(count,) drawn diameters now, wu: the size curve times each one's own factor."""
        return self._at_age(self._size)[:, 0] * self._traits[:, SCALE]

    @property
    def colors(self) -> np.ndarray:
        """(count, 4) red, green, blue and alpha now, 0 to 255."""
        rgb, alpha = self._at_age(self._color), self._at_age(self._alpha)
        return np.concatenate([rgb, 255 * alpha], axis=1).round().astype(np.uint8)

    def _at_age(self, curve: np.ndarray) -> np.ndarray:
        share = np.clip(self._traits[:, AGE] / self._traits[:, LIFE], 0.0, 1.0)
        return curve[np.minimum((share * LOOK_STEPS).astype(int), LOOK_STEPS - 1)]

    @property
    def hits(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places (n, 2), normals (n, 2) and speeds (n,) of what died of a shape in the last step: where to
        make a splash. Only with `on_hit="die"`."""
        rows = np.zeros((0, 5)) if self._rows_struck is None else self._rows_struck[: self._struck]
        return rows[:, :2].copy(), rows[:, 2:4].copy(), rows[:, 4].copy()

    def _want_touches(self, n: int) -> np.ndarray:
        """Room for the shape that each of n particles touches."""
        if self._rows_touch is None:
            self._rows_touch = np.zeros(self._capacity, np.int64)
        return self._rows_touch[:n]

    def _collect_struck(self) -> None:
        """Remember where particles died of a shape, before their rows are taken out."""
        if self._rows_struck is None:
            self._rows_struck = np.zeros((self._capacity, 5))
        n = self.count
        self._struck = kernels.struck(self._fate[:n], self._x, self._hit[:n], self._rows_struck)

    @property
    def trails(self) -> np.ndarray | None:
        """(count, trail, 2) past places, newest first; None without trails."""
        return None if self._trail is None else np.roll(self._trail[:, ::-1], self._trail_slot() + 1, axis=1)

    def _trail_slot(self) -> int:
        return (self._steps // self._trail_every) % max(1, self._trail_length)

    @property
    def mass(self) -> float:
        """Mass of each particle, > 0."""
        return self._mass

    @mass.setter
    def mass(self, value: float) -> None:
        self._mass = checks.number("mass", value, 1e-12, 1e12)
        self._rows_w[:] = 1.0 / self._mass

    @property
    def gravity_scale(self) -> float:
        """Share of the world's gravity, default 1."""
        return self._gravity_scale

    @gravity_scale.setter
    def gravity_scale(self, value: float) -> None:
        self._gravity_scale = checks.number("gravity_scale", value, -1e6, 1e6)

    @property
    def lifetime(self) -> tuple[float, float]:
        """(lowest, highest) lifetime of what is born from now on, s."""
        return self._lifetime

    @lifetime.setter
    def lifetime(self, value: Any) -> None:
        self._lifetime = span("lifetime", value, 1e-6)

    @property
    def spin(self) -> tuple[float, float]:
        """(lowest, highest) spin of what is born from now on, rad/s."""
        return self._spin

    @spin.setter
    def spin(self, value: Any) -> None:
        self._spin = span("spin", value)

    @property
    def on_hit(self) -> str:
        """What meeting a shape does: "bounce", "stick", "die" or "pass"."""
        return self._on_hit

    @on_hit.setter
    def on_hit(self, value: str) -> None:
        self._on_hit = checks.choice("on_hit", value, HITS)

    @property
    def bounce(self) -> float | None:
        """Rebound speed as a share, 0 to 1; None: product of elasticities."""
        return self._bounce

    @bounce.setter
    def bounce(self, value: float | None) -> None:
        self._bounce = None if value is None else checks.number("bounce", value, 0.0, 1.0)

    def look(self, *, size: Any = None, color: Any = None, alpha: Any = None) -> None:
        """Change the curves over life; None leaves one as it is."""
        fresh = [
            self._size if size is None else _curve("size", size, 1, 0.0, 1e6),
            self._color if color is None else _curve("color", color, 3, 0.0, 255.0),
            self._alpha if alpha is None else _curve("alpha", alpha, 1, 0.0, 1.0),
        ]
        self._size, self._color, self._alpha = fresh

    # ------------------------------------------------------------ being born

    def emitter(
        self, source: Any, rate: float = 100, *, body: pymunk.Body | None = None, **options: Any
    ) -> Emitter:
        """A steady stream from a source, running until `Emitter.remove`.

        source: a `Source`, a point (x, y), or a pymunk shape (its surface). rate: particles a second, default
        100. body: carries the source, given in its own coordinates, and gives it its velocity. options: see
        `burst`.
        """
        source = as_source(source)
        stream = Emitter(self, source, rate, body, make_spec(source, self, **options))
        self._emitters.append(stream)
        return stream

    @property
    def emitters(self) -> tuple[Emitter, ...]:
        """All streams."""
        return tuple(self._emitters)

    def burst(self, count: int, source: Any, *, body: pymunk.Body | None = None, **options: Any) -> int:
        """Many at once, from the next step on; returns how many there was room for.

        count: 0 to 4,000,000. source, body: as for `emitter`. options, for both: direction: rad (0: right, pi
        / 2: down where y points down), default None: outward from the source. spread: full angle of the cone
        round it, rad, default 0, or all round for a point or rectangle without direction. speed: wu/s, number
        or (lowest, highest), default 0. velocity: (x, y) added to it, default (0, 0). inherit: share of the
        body's velocity, default 1. lifetime, spin: default the pool's own. size: factor on the size curve,
        number or (lowest, highest), default 1. angle: at birth, rad, likewise, default 0.
        """
        count = checks.whole("count", count, 0, MOST)
        source = as_source(source)
        spec = make_spec(source, self, **options)
        body = source.body if source.body is not None else body
        if body is not None and not isinstance(body, pymunk.Body):
            raise TypeError(f"body must be a pymunk.Body or None, got {body!r}")
        if body is not None:
            pose = (*body.position, body.angle)
            spec[PLACE["x0"] : PLACE["w"] + 1] = (*pose, *pose, *carrier_motion(body))
        return self._emit(spec, source.edges, count)

    def add(self, points: Any, velocities: Any = None, lifetime: Any = None) -> int:
        """Particles at given places with given velocities; returns how many there was room for.

        points, velocities: (n, 2), wu and wu/s (default 0). lifetime: as in the constructor, default the
        pool's own.
        """
        places = checks.points("points", points)
        speeds = np.zeros_like(places) if velocities is None else checks.points("velocities", velocities)
        if len(speeds) != len(places):
            raise ValueError(f"velocities must have {len(places)} rows, as points, got {len(speeds)}")
        options = {} if lifetime is None else {"lifetime": lifetime}
        spec = make_spec(as_source((0, 0)), self, **options)
        count = self._emit(spec, NO_EDGES, len(places))
        if count:
            self._x[-count:] = self._previous[-count:] = places[-count:]
            self._v[-count:] = speeds[-count:]
            if self._trail is not None:
                self._trail[-count:] = places[-count:, None]
        return count

    def scrape(
        self,
        contacts: Iterable[Any],
        *,
        per_impulse: float = 0.05,
        most: int = 20,
        speed: Any = (50, 200),
        spread: float = 1.5,
        least: float = 0.0,
    ) -> int:
        """Sparks from touches: for each contact with an impulse above `least`, a burst along its normal.

        contacts: `world.contacts`, or any part of it. per_impulse: how many for each unit of impulse, default
        0.05, at most `most` (20) a contact. Returns how many were born.
        """
        per_impulse, most = (
            checks.number("per_impulse", per_impulse, 0.0),
            checks.whole("most", most, 0, 10_000),
        )
        least, total = checks.number("least", least, 0.0), 0
        speed, spread = span("speed", speed), checks.number("spread", spread, 0.0, 2 * math.pi)
        for contact in contacts:
            if contact.impulse <= least:
                continue
            wanted = contact.impulse * per_impulse
            count = min(most, math.floor(wanted) + (((self._next * 40503) & 0xFFFF) / 65536 < wanted % 1.0))
            nx, ny = contact.normal
            out = self._radius + 1e-6
            place = contact.point[0] + nx * out, contact.point[1] + ny * out
            total += self.burst(count, place, direction=math.atan2(ny, nx), spread=spread, speed=speed)
        return total

    def remove(self, where: Any) -> int:
        """End the lives of some: a boolean array (count,), or row indices. Returns how many."""
        rows = np.asarray(where)
        n = self.count
        if rows.dtype == bool:
            if rows.shape != (n,):
                raise ValueError(f"where must be ({n},) when boolean, got {rows.shape}")
        elif rows.size and (rows.ndim != 1 or rows.dtype.kind not in "iu"):
            raise TypeError(f"where must be row indices or a boolean array, got {where!r}")
        elif rows.size and not (-n <= rows.min() and rows.max() < n):
            raise IndexError(f"where must be between {-n} and {n - 1}, got {where!r}")
        self._fate[:n] = 0
        if rows.size:
            self._fate[:n][rows] = 1
        self._close_gaps()
        return n - self.count

    def clear(self) -> None:
        """End every life."""
        self._touch = self._touch[:0]
        self._set_count(0)

    def _emit(self, spec: np.ndarray, edges: np.ndarray, count: int) -> int:
        """Add rows; the oldest make room."""
        count = min(count, self._capacity)
        if count == 0:
            return 0
        n = self.count
        surplus = n + count - self._capacity
        if surplus > 0:
            order = self._order[:n]
            order[:] = self._ids
            order.partition(surplus - 1)
            np.less_equal(self._ids, order[surplus - 1], out=self._fate[:n].view(bool))
            self._close_gaps()
            n = self.count
        self._set_count(n + count)
        new = slice(n, n + count)
        kernels.emit(
            spec, edges, self._seed, self._next, self._x[new], self._v[new], self._traits[new], self._ids[new]
        )
        self._previous[new] = self._x[new]
        if self._trail is not None:
            self._trail[new] = self._x[new, None]
        self._next += count
        return count

    def _close_gaps(self) -> None:
        """Take out the rows whose fate is not 0: last rows move into their places."""
        n = self.count
        touch = self._touch if n and len(self._touch) == n else None
        left = kernels.close_gaps(
            self._fate[:n],
            self._x,
            self._v,
            self._previous,
            self._traits,
            self._hit[:n],
            self._ids,
            touch,
            self._trail,
        )
        self._touch = self._touch[:left]
        self._set_count(left)

    # ------------------------------------------------------------ state

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {
            "x": self._x,
            "v": self._v,
            "previous": self._previous,
            "traits": self._traits,
            "ids": self._ids,
        }
        return arrays if self._trail is None else {**arrays, "trail": self._trail}

    def _settings(self) -> dict[str, Any]:
        own = (
            "capacity",
            "lifetime",
            "spin",
            "mass",
            "gravity_scale",
            "on_hit",
            "bounce",
            "seed",
            "trail_length",
            "trail_every",
            "report",
            "next",
            "steps",
        )
        return {
            **super()._settings(),
            **{name: getattr(self, "_" + name) for name in own},
            **{name: getattr(self, "_" + name).tolist() for name in ("size", "color", "alpha")},
            "emitters": [stream._state() for stream in self._emitters],
        }

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        room = getattr(self, "_capacity", None), getattr(self, "_trail_length", None)
        for name in (
            "capacity",
            "mass",
            "gravity_scale",
            "on_hit",
            "bounce",
            "seed",
            "trail_length",
            "trail_every",
            "report",
            "next",
            "steps",
        ):
            setattr(self, "_" + name, settings[name])
        self._lifetime, self._spin = tuple(settings["lifetime"]), tuple(settings["spin"])
        for name in ("size", "color", "alpha"):
            setattr(self, "_" + name, np.array(settings[name], dtype=np.float64))
        if room != (self._capacity, self._trail_length):
            self._make_room()
        if not hasattr(self, "_emitters"):
            self._emitters = []
        self._rows_w[:] = 1.0 / self._mass
        self._touch, self._struck = np.zeros(0, np.int64), 0
        self._set_count(len(arrays["x"]))
        for name, array in arrays.items():
            getattr(self, "_" + name)[:] = array
        if len(self._emitters) == len(settings["emitters"]):
            for stream, state in zip(self._emitters, settings["emitters"]):
                stream._set_state(state)


def _curve(name: str, value: Any, width: int, low: float, high: float) -> np.ndarray:
    """(LOOK_STEPS, width) values over life: from one value, a list of them, or (share of life, value)
    pairs."""
    try:
        rows = [
            np.atleast_1d(np.asarray(v, dtype=np.float64))
            for v in (value if _listed(value, width) else [value])
        ]
        shares = np.linspace(0.0, 1.0, len(rows))
        if rows and all(len(row) == width + 1 for row in rows):
            shares, rows = np.array([row[0] for row in rows]), [row[1:] for row in rows]
        elif rows and width > 1 and _paired(value):
            shares = np.array([float(v[0]) for v in value])
            rows = [np.asarray(v[1], dtype=np.float64) for v in value]
    except (TypeError, ValueError):
        if not (width > 1 and _paired(value)):
            raise TypeError(f"{name} must be a value over life, got {value!r}") from None
        shares = np.array([checks.number(name, v[0]) for v in value])
        rows = [np.asarray(v[1], dtype=np.float64) for v in value]
    if not rows or any(row.shape != (width,) for row in rows):
        raise ValueError(f"{name} must be {width} numbers, or a list of such over life, got {value!r}")
    table = np.stack(rows)
    if not ((table >= low) & (table <= high)).all():
        raise ValueError(f"{name} must be between {low:g} and {high:g}, got {value!r}")
    if not ((shares >= 0) & (shares <= 1)).all() or (np.diff(shares) < 0).any():
        raise ValueError(f"{name} must have shares of life from 0 to 1 in order, got {value!r}")
    at = (np.arange(LOOK_STEPS) + 0.5) / LOOK_STEPS
    return np.stack([np.interp(at, shares, column) for column in table.T], axis=1)


def _listed(value: Any, width: int) -> bool:
    """Is it a list of values, rather than one?"""
    if not isinstance(value, (list, tuple, np.ndarray)):
        return False
    return width == 1 or not all(np.isscalar(v) for v in value)


def _paired(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(v, (list, tuple)) and len(v) == 2 and np.isscalar(v[0]) and not np.isscalar(v[1])
        for v in value
    )
