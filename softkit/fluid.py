"""Fluid: water, oil, syrup, as particles that keep their volume."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pymunk

from softkit import checks
from softkit.fluid_flow import Drain, Emitter, checks_color, make_drain, make_emitter
from softkit.fluid_stage import FluidStage
from softkit.objects import SoftObject, read_only
from softkit.regions import inside, rectangle

MOST = 4_000_000
WATER = (64.0, 140.0, 230.0, 255.0)


class Fluid(SoftObject):
    """A liquid of particles, each standing for spacing x spacing of it.

    A grid of pressure keeps the volume of the whole pool and carries floating bodies; a density constraint between
    neighbours keeps every particle's own place. Sources: Raveendran, Wojtan, Turk 2011 (grid and particles together);
    Macklin, Mueller 2013 (position based fluids); Batty, Bertails, Bridson 2007 (bodies in the pressure solve).

    Args:
        spacing: distance of particles at rest, wu, 0.01 to 10,000; default 8. Contact radius is half of it.
        bounds: (left, top, width, height) or pygame.Rect in wu that no particle leaves; default None, no bounds.
        rest_density: mass per area, pymunk's mass unit / wu^2, > 0; default 1. A body of the same mass per area hovers.
        viscosity: rate in 1/s at which a particle takes on its neighbours' velocity, 0 to 1,000; default 15 (water);
            1000 is syrup (XSPH, Monaghan 1989).
        surface_tension: 0 to 1, default 0.1: cohesion of 30 surface_tension wu/s^2 between neighbours (Akinci, Akinci,
            Teschner 2013).
        vorticity: confinement of eddies, cells/s, 0 to 10; default 0 (Fedkiw, Stam, Jensen 2001).
        damping: rate in 1/s, >= 0, default 0.2: v decays as exp(-damping t).
        settling: rate in 1/s, >= 0, default 1.5: damping of slow liquid on top, so that a pool comes to rest; it fades as
            1 / (1 + v^2 / (2.2 spacing gravity)), and there is none without gravity.
        friction: with shapes, >= 0, default 0.1; see `friction_rule`.
        filter: pymunk.ShapeFilter; default meets everything. All fluids of a world should meet the same shapes where
            they mix: the pressure grid sees those of the fluid that was added first.
        capacity: most particles, 1 to 4,000,000; default None, no limit but that.
        color_mixing: rate in 1/s at which colours mix with the neighbours'; default 0.
        friction_rule, elasticity: see the properties of these names; default elasticity 0.

    Particles keep the order they were added in; removing some closes the gaps. `ids` names each for good.

    >>> pool = Fluid(spacing=5, bounds=(0, 0, 100, 100))
    >>> pool.fill((0, 50, 100, 50))
    200
    """

    kind = "fluid"
    stage = FluidStage

    def __init__(
        self,
        *,
        spacing: float = 8.0,
        bounds: Any = None,
        rest_density: float = 1.0,
        viscosity: float = 15.0,
        surface_tension: float = 0.1,
        vorticity: float = 0.0,
        damping: float = 0.2,
        settling: float = 1.5,
        friction: float = 0.1,
        filter: pymunk.ShapeFilter | None = None,
        capacity: int | None = None,
        color_mixing: float = 0.0,
        friction_rule: str = "product",
        elasticity: float = 0.0,
    ) -> None:
        spacing = checks.number("spacing", spacing, 0.01, 1e4)
        super().__init__(
            radius=0.5 * spacing,
            friction=friction,
            damping=damping,
            filter=filter,
            friction_rule=friction_rule,
            elasticity=elasticity,
        )
        self._spacing = spacing
        self._bounds = None if bounds is None else rectangle("bounds", bounds)
        if self._bounds is not None and min(self._bounds[2:]) < 2 * spacing:
            raise ValueError(f"bounds must be at least 2 spacings wide and high, got {bounds!r}")
        self._rest_density = checks.number("rest_density", rest_density, 1e-9, 1e9)
        self._viscosity = checks.number("viscosity", viscosity, 0.0, 1000.0)
        self._surface_tension = checks.number("surface_tension", surface_tension, 0.0, 1.0)
        self._vorticity = checks.number("vorticity", vorticity, 0.0, 10.0)
        self._settling = checks.number("settling", settling, 0.0, 1000.0)
        self._color_mixing = checks.number("color_mixing", color_mixing, 0.0, 1000.0)
        self._capacity = None if capacity is None else checks.whole("capacity", capacity, 1, MOST)
        self._emitters: list[Emitter] = []
        self._drains: list[Drain] = []
        self._next_id = 0
        self._make_room(capacity or 256)
        self._resize(0)

    # ------------------------------------------------------------ storage

    _STORE = (("_x", (2,), np.float64), ("_v", (2,), np.float64), ("_previous", (2,), np.float64),
              ("_w", (), np.float64), ("_density", (), np.float64), ("_color", (4,), np.float32), ("_ids", (), np.int64))

    def _make_room(self, room: int) -> None:
        """Storage for `room` particles; what is there is kept."""
        count = self.count if hasattr(self, "_x") else 0
        fresh = {name: np.zeros((room, *shape), kind) for name, shape, kind in self._STORE}
        for name in fresh:
            if count:
                fresh[name][:count] = getattr(self, name)
        self._room, self._stored = room, fresh
        self._resize(count)

    def _resize(self, count: int) -> None:
        for name, array in self._stored.items():
            setattr(self, name, array[:count])

    def _append(self, places: np.ndarray, velocities: Any, color: Any) -> int:
        count, more = self.count, len(places)
        if count + more > self._room:
            self._make_room(min(max(count + more, 2 * self._room), self._capacity or MOST))
        self._resize(count + more)
        self._x[count:] = self._previous[count:] = places
        self._v[count:] = velocities
        self._w[count:] = 1.0 / self.particle_mass
        self._density[count:] = self._rest_density
        self._color[count:] = WATER if color is None else color
        self._ids[count:] = np.arange(self._next_id, self._next_id + more)
        self._next_id += more
        return more

    def _erase(self, which: np.ndarray) -> None:
        """Remove rows (sorted, unique); the others close up in order."""
        keep = np.ones(self.count, bool)
        keep[which] = False
        left = int(keep.sum())
        for name, array in self._stored.items():
            array[:left] = getattr(self, name)[keep]
        self._resize(left)

    def _drop_first(self, count: int) -> None:
        self._erase(np.arange(min(count, self.count)))

    def _check_room(self, more: int) -> None:
        most = MOST if self._capacity is None else self._capacity
        if self.count + more > most:
            raise ValueError(f"capacity must not be passed: {self.count} particles and {more} more, capacity {most}")

    def _within(self, places: np.ndarray) -> np.ndarray:
        """Places held inside the bounds, half a spacing from them."""
        if self._bounds is None:
            return places
        left, top, width, height = self._bounds
        r = self._radius
        return np.clip(places, (left + r, top + r), (left + width - r, top + height - r))

    # ------------------------------------------------------------ adding and removing

    def fill(self, rect: Any, velocity: Any = (0.0, 0.0), color: Any = None) -> int:
        """Fill a rectangle (left, top, width, height) or pygame.Rect with liquid at rest density; returns how many
        particles that made. Places inside shapes of the world's space or out of bounds stay empty.

        Raises ValueError if they do not fit into `capacity`.
        """
        left, top, width, height = rectangle("rect", rect)
        velocity = checks.vector("velocity", velocity)
        color = None if color is None else checks_color("color", color)
        columns, rows = math.floor(width / self._spacing + 1e-6), math.floor(height / self._spacing + 1e-6)
        if columns * rows > MOST:
            raise ValueError(f"rect must not hold more than {MOST} particles, got {rect!r}")
        if not columns * rows:
            return 0
        x = left + (np.arange(columns) + 0.5) * (width / columns)
        y = top + (np.arange(rows) + 0.5) * (height / rows)
        places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        places = places[self._free(places)]
        self._check_room(len(places))
        return self._append(places, velocity, color)

    def _free(self, places: np.ndarray) -> np.ndarray:
        """Which places lie in bounds and outside of every shape this fluid meets."""
        free = np.ones(len(places), bool)
        if self._bounds is not None:
            left, top, width, height = self._bounds
            r = self._radius * 0.999
            free &= inside(places, (left + r, top + r, width - 2 * r, height - 2 * r))
        space = self._world.space if self._world is not None else None
        if space is None or not len(places):
            return free
        low, high = places.min(axis=0) - self._radius, places.max(axis=0) + self._radius
        for shape in space.bb_query(pymunk.BB(low[0], low[1], high[0], high[1]), self._filter):
            if not shape.sensor:
                free &= ~inside(places, shape, grow=self._radius)
        return free

    def add(self, points: Any, velocities: Any = None, color: Any = None) -> int:
        """Add particles at (n, 2) points, wu, with (n, 2) or one (2,) velocity, wu/s (default 0), and one colour;
        returns n. Points out of bounds raise ValueError, and so does a capacity passed."""
        places = checks.points("points", points)
        if velocities is None:
            speeds: Any = 0.0
        elif np.ndim(velocities) == 1:
            speeds = checks.vector("velocities", velocities)
        else:
            speeds = checks.points("velocities", velocities)
            if len(speeds) != len(places):
                raise ValueError(f"velocities must be as many as points, {len(places)}, got {len(speeds)}")
        color = None if color is None else checks_color("color", color)
        if self._bounds is not None:
            out = ~inside(places, self._bounds)
            if out.any():
                row = int(np.flatnonzero(out)[0])
                raise ValueError(f"points[{row}] must be within bounds {self._bounds}, got {places[row].tolist()}")
        self._check_room(len(places))
        return self._append(self._within(places), speeds, color)

    def remove(self, where: Any) -> int:
        """Remove particles by an (n,) bool mask, by indices, or inside a pymunk shape; returns how many. For a
        rectangle: `fluid.remove(fluid.inside(rect))`."""
        if isinstance(where, pymunk.Shape):
            rows = np.flatnonzero(inside(self._x, where, "where"))
        else:
            rows = self._rows(where)
        self._erase(rows)
        return len(rows)

    def _rows(self, where: Any) -> np.ndarray:
        array = np.asarray(where)
        if array.dtype == bool:
            if array.shape != (self.count,):
                raise ValueError(f"where must have one bool per particle, {self.count}, got shape {array.shape}")
            return np.flatnonzero(array)
        if array.size == 0:
            return np.zeros(0, np.int64)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise TypeError(f"where must be a bool mask, indices or a pymunk shape, got {where!r}")
        rows = np.atleast_1d(array).astype(np.int64)
        bad = (rows < -self.count) | (rows >= self.count)
        if bad.any():
            raise IndexError(f"where must be between {-self.count} and {self.count - 1}, got {int(rows[bad][0])}")
        return np.unique(np.where(rows < 0, rows + self.count, rows))

    def clear(self) -> None:
        """Remove every particle."""
        self._resize(0)

    def emitter(
        self,
        position: Any,
        direction: Any = (0.0, 1.0),
        *,
        width: float | None = None,
        speed: float = 200.0,
        rate: float | None = None,
        jitter: float = 0.02,
        color: Any = None,
        seed: int = 1,
        limit: int | None = None,
        when_full: str = "stop",
    ) -> Emitter:
        """A nozzle that pours into this fluid at every step.

        Args:
            position: middle of the nozzle, wu.
            direction: where it pours to; default (0, 1).
            width: across the stream, wu, >= 0; default 4 spacings. Wide, slow and thin it is rain.
            speed: wu/s, >= 0; default 200.
            rate: particles a second; default None, a full stream: width x speed / spacing^2.
            jitter: random part of the velocity, 0 to 1; default 0.02, from a seeded state that snapshots keep.
            color: (r, g, b) or (r, g, b, a), 0 to 255.
            seed: of the jitter.
            limit: most particles in all; default None.
            when_full: at capacity "stop" (default) or replace the "oldest".
        """
        width = 4 * self._spacing if width is None else width
        made = make_emitter(self, position, direction, width, speed, rate, jitter, color, seed, limit, when_full)
        self._emitters.append(made)
        return made

    def drain(self, region: Any, *, rate: float | None = None) -> Drain:
        """Let particles vanish inside a rectangle (left, top, width, height) or a pymunk shape, which may move; at most
        `rate` a second (default None: all at once)."""
        made = make_drain(self, region, rate)
        self._drains.append(made)
        return made

    def _flow(self, dt: float) -> None:
        """Emitters and drains of one step."""
        for emitter in self._emitters:
            emitter._pour(dt)
        for drain in self._drains:
            drain._take(dt)

    # ------------------------------------------------------------ asking

    def inside(self, region: Any) -> np.ndarray:
        """(count,) bool: which particles have their centre in a rectangle or a pymunk shape."""
        return inside(self._x, region)

    def count_in(self, region: Any) -> int:
        """How many particles are in a rectangle or a pymunk shape (a sensor, say)."""
        return int(inside(self._x, region).sum())

    def fullness(self, rect: Any) -> float:
        """The liquid's share of a rectangle's area: 0.8 is a glass 80 % full."""
        left, top, width, height = rectangle("rect", rect)
        return self.count_in((left, top, width, height)) * self.particle_area / (width * height)

    @property
    def density(self) -> np.ndarray:
        """(count,) mass per area at each particle after the last step: a read-only view. `rest_density` inside a pool at
        rest, less at its surface."""
        return read_only(self._density)

    @property
    def colors(self) -> np.ndarray:
        """(count, 4) red, green, blue, alpha, 0 to 255: a read-only view. See `set_color`."""
        return read_only(self._color)

    def set_color(self, color: Any, where: Any = None) -> None:
        """Colour all particles, or those of a mask or indices."""
        color = checks_color("color", color)
        self._color[slice(None) if where is None else self._rows(where)] = color

    @property
    def ids(self) -> np.ndarray:
        """(count,) a number for each particle that stays its own for good, ascending: a read-only view."""
        return read_only(self._ids)

    def index_of(self, particle_id: int) -> int:
        """Where the particle of that id is now; IndexError if it is gone."""
        particle_id = checks.whole("particle_id", particle_id, 0, 1 << 62)
        at = int(np.searchsorted(self._ids, particle_id))
        if at == self.count or self._ids[at] != particle_id:
            raise IndexError(f"particle_id must be one that is still there, got {particle_id}")
        return at

    # ------------------------------------------------------------ settings

    @property
    def spacing(self) -> float:
        """Distance of particles at rest, wu."""
        return self._spacing

    @property
    def bounds(self) -> tuple[float, float, float, float] | None:
        """(left, top, width, height) that no particle leaves, or None."""
        return self._bounds

    @property
    def radius(self) -> float:
        """Contact radius of a particle: half the spacing, wu."""
        return self._radius

    @property
    def capacity(self) -> int | None:
        """Most particles, or None."""
        return self._capacity

    @property
    def particle_area(self) -> float:
        """What one particle stands for, wu^2."""
        return self._spacing**2

    @property
    def particle_mass(self) -> float:
        """Mass of one particle."""
        return self._rest_density * self._spacing**2

    @property
    def mass(self) -> float:
        """Mass of all particles."""
        return self.count * self.particle_mass

    @property
    def rest_density(self) -> float:
        """Mass per area that the liquid is held at."""
        return self._rest_density

    @property
    def viscosity(self) -> float:
        """Rate in 1/s at which a particle takes on its neighbours' velocity, 0 to 1,000."""
        return self._viscosity

    @viscosity.setter
    def viscosity(self, value: float) -> None:
        self._viscosity = checks.number("viscosity", value, 0.0, 1000.0)

    @property
    def surface_tension(self) -> float:
        """Cohesion, 0 to 1."""
        return self._surface_tension

    @surface_tension.setter
    def surface_tension(self, value: float) -> None:
        self._surface_tension = checks.number("surface_tension", value, 0.0, 1.0)

    @property
    def vorticity(self) -> float:
        """Confinement of eddies, cells/s, 0 to 10."""
        return self._vorticity

    @vorticity.setter
    def vorticity(self, value: float) -> None:
        self._vorticity = checks.number("vorticity", value, 0.0, 10.0)

    @property
    def settling(self) -> float:
        """Damping of slow liquid under gravity, rate in 1/s, 0 to 1,000."""
        return self._settling

    @settling.setter
    def settling(self, value: float) -> None:
        self._settling = checks.number("settling", value, 0.0, 1000.0)

    @property
    def color_mixing(self) -> float:
        """Rate in 1/s at which colours mix with the neighbours', 0 to 1,000."""
        return self._color_mixing

    @color_mixing.setter
    def color_mixing(self, value: float) -> None:
        self._color_mixing = checks.number("color_mixing", value, 0.0, 1000.0)

    @property
    def emitters(self) -> tuple[Emitter, ...]:
        """The emitters, in order."""
        return tuple(self._emitters)

    @property
    def drains(self) -> tuple[Drain, ...]:
        """The drains, in order."""
        return tuple(self._drains)

    # ------------------------------------------------------------ state

    _PLAIN = ("_spacing", "_rest_density", "_viscosity", "_surface_tension", "_vorticity", "_settling",
              "_color_mixing", "_capacity", "_next_id")

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name, _, _ in self._STORE}

    def _settings(self) -> dict[str, Any]:
        drains = [
            [None if isinstance(d.region, pymunk.Shape) else list(d.region), d.rate, d.enabled, d.drained, d._due]
            for d in self._drains if d.region is not None
        ]
        return {
            **super()._settings(),
            **{name: getattr(self, name) for name in self._PLAIN},
            "bounds": None if self._bounds is None else list(self._bounds),
            "emitters": [dict(emitter._state) for emitter in self._emitters],
            "drains": drains,
        }

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        for name in self._PLAIN:
            setattr(self, name, settings[name])
        self._bounds = None if settings["bounds"] is None else tuple(settings["bounds"])
        count = len(arrays["_x"])
        if not hasattr(self, "_stored") or count > self._room:
            self._make_room(max(count, self._capacity or 256))
        self._resize(count)
        for name, _, _ in self._STORE:
            getattr(self, name)[:] = arrays[name]
        self._load_flows(settings)

    def _load_flows(self, settings: dict[str, Any]) -> None:
        """Emitters and drains, kept as the objects they are as far as there are as many."""
        old_emitters, old_drains = getattr(self, "_emitters", []), getattr(self, "_drains", [])
        self._emitters, self._drains = [], []
        for i, state in enumerate(settings["emitters"]):
            emitter = old_emitters[i] if i < len(old_emitters) else Emitter(self, {})
            emitter._state = dict(state)
            self._emitters.append(emitter)
        for i, (region, rate, enabled, drained, due) in enumerate(settings["drains"]):
            drain = old_drains[i] if i < len(old_drains) else Drain(self, None, None)
            if region is not None:
                drain.region = tuple(region)
            drain.rate, drain.enabled, drain.drained, drain._due = rate, enabled, drained, due
            self._drains.append(drain)

    def __repr__(self) -> str:
        return f"<Fluid of {self.count} particles, spacing {self._spacing:g}>"
