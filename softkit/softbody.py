"""Soft bodies: jelly, balloons, tyres, rubber blocks, in the plane and in three dimensions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pymunk

from softkit import checks
from softkit import softbody_shapes as shapes
from softkit.objects import SoftObject
from softkit.softbody_hold import Held
from softkit.softbody_measure import Measured
from softkit.softbody_shapes import BEND, STRETCH, Layout
from softkit.softbody_stage import HOLD, SLOTS, TOUCH, SoftBodyStage

NUMBERS = (
    "pressure stiffness stretch_compliance bend_compliance max_deviation internal_damping plasticity "
    "plastic_yield"
).split()
STATE = ["bounce", "x", "v", "previous", "target", "pose", "q", "rest"]
LAYOUT = ("rest", "shares", "links", "kinds", "ring", "cells", "faces", "edges")
DEFAULTS = {
    "mass": 1.0,
    "pressure": 1.0,
    "stiffness": 0.3,
    "stretch_compliance": None,
    "bend_compliance": None,
    "max_deviation": None,
    "internal_damping": 2.0,
    "plasticity": 0.0,
    "plastic_yield": 0.1,
    "radius": None,
    "friction": 0.5,
    "damping": 0.1,
    "filter": None,
    "friction_rule": "product",
    "elasticity": 1.0,
}
SWING = 40.0
"""rad/s at which a particle swings on a link of the default compliance of outlines and surfaces."""


class SoftBody(Held, Measured):
    """A body that gives way and comes back: made by `polygon`, `circle`, `lattice`, `mesh` or `tets`.

    Planar bodies (outlines, and lattices of one layer) have positions (n, 2) and meet pymunk's shapes with
    particles and edges, two-way; the others have (n, 3), z toward the viewer, and meet shapes as prisms, and
    3-D solids.

    Options, all by keyword:
        mass: of the whole body, > 0; default 1. Shared out by length, area or volume.
        pressure: the area or volume that is kept, as a multiple of that at rest, 0.01 to 100; default 1.
            Where nothing
            resists the body takes on just that: its rest shape grows with it. A new value is reached at up to
            a doubling of size a second or so.
        stiffness: shape matching (Mueller et al. 2005), 0 to 1; default 0.3 (0 for `lattice` and `tets`).
            Particles
            swing about their places in the rest shape at 10 stiffness / (1 - stiffness) Hz; 1: the body is
            rigid.
        stretch_compliance: wu per force unit of every link, >= 0, XPBD (Macklin, Mueller, Chentanez 2016).
            Default
            None: 0 for `lattice` and `tets`; for outlines and meshes, whose area or volume gives the hold, so
            much that a particle swings at 40 rad/s, whatever the mass.
        bend_compliance: wu per force unit of the tethers to second neighbours, >= 0; default None: four times
            that of
            the links, and for lattices as much as 40 rad/s gives.
        max_deviation: no particle gets farther from its matched place than that, wu, > 0; default None: any.
        internal_damping: rate in 1/s at which velocities relative to the body's motion as a rigid one decay,
            >= 0; default
            2. It ends wobbling, and takes nothing of momentum and angular momentum.
        plasticity: rate in 1/s at which the rest shape takes on the present one where it is deformed beyond
            `plastic_yield`, >= 0; default 0: it always comes back.
        plastic_yield: part of the body's size, or of a link's length, from which on it flows, >= 0; default
            0.1.
        radius: contact radius, wu, > 0; default a quarter of the mean distance of neighbours.
        friction: coefficient, >= 0; default 0.5.
        damping: rate in 1/s at which velocity decays, >= 0; default 0.1.
        filter, friction_rule, elasticity: as for every soft object.

    >>> jelly = SoftBody.circle((0, 0), 20, segments=24)
    >>> jelly.count, round(jelly.area / jelly.rest_area, 6)
    (24, 1.0)
    """

    kind = "softbody"
    stage = SoftBodyStage

    def __init__(self) -> None:
        raise TypeError("make a SoftBody by polygon, circle, lattice, mesh or tets")

    # ------------------------------------------------------------ ways to make one

    @classmethod
    def polygon(cls, outline: Any, *, spacing: float | None = None, **options: Any) -> SoftBody:
        """A closed outline filled with something that keeps its area.

        Args:
            outline: (n, 2) corners in order, either way round, wu; concave ones too. It must not cross
                itself, repeat
                a point or be flat. The last point may repeat the first.
            spacing: edges are cut into pieces of at most this, wu, > 0; default None: the corners are the
                particles.
            options: see SoftBody.
        """
        if spacing is not None:
            spacing = checks.number("spacing", spacing, above=0.0)
        return cls._made(shapes.polygon(shapes.outline(outline, spacing)), options)

    @classmethod
    def circle(cls, center: Any, radius: float, *, segments: int = 32, **options: Any) -> SoftBody:
        """A round outline of `segments` particles (3 to 4096, default 32) `radius` wu from `center`.

        Options: see SoftBody; the contact radius is `skin` here, as `radius` is the circle's.
        """
        center = checks.vector("center", center)
        radius = checks.number("radius", radius, 0.0, checks.LIMIT, above=0.0)
        angle = 2.0 * math.pi * np.arange(checks.whole("segments", segments, 3, 4096)) / segments
        ring = np.stack([center[0] + radius * np.cos(angle), center[1] + radius * np.sin(angle)], axis=1)
        if "skin" in options:
            options["radius"] = checks.number("skin", options.pop("skin"), 0.0, checks.LIMIT, above=0.0)
        return cls._made(shapes.polygon(ring), options)

    @classmethod
    def lattice(
        cls,
        columns: int,
        rows: int,
        layers: int = 1,
        *,
        spacing: float = 10,
        origin: Any = (0, 0),
        **options: Any,
    ) -> SoftBody:
        """A block of columns x rows x layers particles (1 to 1024 each, 2 in all at least, 200,000 at most).

        Args:
            spacing: between neighbours, wu, > 0; default 10.
            origin: place of particle 0, two or three numbers, wu.
            options: see SoftBody; `stiffness` is 0 here by default.

        One layer is planar; one row of it is a rope, more are a sheet. `index` names particles. Neighbours
        are linked along the axes and the faces' diagonals, second neighbours by tethers; every cell keeps its
        area or volume.
        """
        size = [
            checks.whole(name, value, 1, 1024)
            for name, value in (("columns", columns), ("rows", rows), ("layers", layers))
        ]
        if not 2 <= math.prod(size) <= shapes.MOST:
            raise ValueError(
                f"columns, rows and layers must give 2 to {shapes.MOST} particles, "
                f"got {' x '.join(map(str, size))}"
            )
        spacing = checks.number("spacing", spacing, above=0.0)
        parts = tuple(origin) if isinstance(origin, Iterable) else origin
        at = checks.vector("origin", parts, 3 if isinstance(parts, tuple) and len(parts) == 3 else 2)
        layout = shapes.lattice(*size, spacing, (*at, 0.0)[:3])
        return cls._made(layout, {"stiffness": 0.0, **options})

    @classmethod
    def mesh(cls, vertices: Any, triangles: Any, **options: Any) -> SoftBody:
        """A closed surface in 3-D filled with something that keeps its volume.

        Args:
            vertices: (n, 3) places, wu. Those within 1e-3 of the mesh's size of each other become one
                particle;
                `welded` says which one a vertex became.
            triangles: (t, 3) indices of vertices, counter-clockwise seen from outside, every edge between
                two.
            options: see SoftBody.

        Raises IndexError or ValueError naming the triangle that is out of range, flat, repeated, turned the
        wrong way or open.
        """
        layout, welded = shapes.mesh(vertices, triangles)
        body = cls._made(layout, options)
        body.welded = welded
        return body

    @classmethod
    def tets(cls, vertices: Any, tets: Any, **options: Any) -> SoftBody:
        """Tetrahedra of which each keeps its volume.

        Args:
            vertices: (n, 3) places, wu.
            tets: (t, 4) indices of vertices, of positive volume: ((1 - 0) x (2 - 0)) . (3 - 0) > 0;
                `tetrahedralize` and `extrude` make them.
            options: see SoftBody; `stiffness` is 0 here by default.

        Raises IndexError or ValueError naming the tetrahedron that is out of range, flat, inverted or
        repeated.
        """
        return cls._made(shapes.tets(vertices, tets), {"stiffness": 0.0, **options})

    @classmethod
    def _made(cls, layout: Layout, options: dict[str, Any]) -> SoftBody:
        extra = sorted(set(options) - set(DEFAULTS))
        if extra:
            raise TypeError(f"SoftBody got an unexpected argument {extra[0]!r}")
        given = {**DEFAULTS, **options}
        body = cls.__new__(cls)
        axes = layout.links[layout.kinds == STRETCH]
        step = np.linalg.norm(layout.rest[axes[:, 0]] - layout.rest[axes[:, 1]], axis=1)
        radius = 0.25 * float(step.mean()) if given["radius"] is None else given["radius"]
        SoftObject.__init__(
            body,
            radius=radius,
            friction=given["friction"],
            damping=given["damping"],
            filter=given["filter"],
            friction_rule=given["friction_rule"],
            elasticity=given["elasticity"],
        )
        values = {name: cls._valid(name, given[name]) for name in NUMBERS}
        mass = checks.number("mass", given["mass"], checks.TINY, checks.LIMIT)
        for name, value in values.items():
            setattr(body, f"_{name}", value)
        body._pins, body._anchors = set(), {}
        body._mass = mass
        body._build(layout)
        body._scale = body._goal_scale()
        if body._scale != 1.0:
            center = body._m @ body._x / body._mass
            body._x[:] = center + body._scale * (body._x - center)
            body._previous[:] = body._target[:] = body._x
        body.welded = np.arange(body.count)
        return body

    @staticmethod
    def _valid(name: str, value: Any) -> Any:
        if value is None and name in ("stretch_compliance", "bend_compliance", "max_deviation"):
            return None
        if name == "pressure":
            return checks.number(name, value, 0.01, 100.0)
        if name == "stiffness":
            return checks.number(name, value, 0.0, 1.0)
        return checks.number(name, value, 0.0, checks.LIMIT, above=0.0 if name == "max_deviation" else None)

    def _build(self, layout: Layout) -> None:
        """Everything that follows from the topology and the mass."""
        n, d = layout.rest.shape
        order, self._colors = shapes.colored(layout.links, n)
        layout.links, layout.kinds = np.ascontiguousarray(layout.links[order], np.int32), layout.kinds[order]
        order, self._shades = shapes.colored(layout.cells, n)
        layout.cells = np.ascontiguousarray(layout.cells[order], np.int32)
        self._layout = layout
        self._links_at, self._ring, self._cells = layout.links, layout.ring, layout.cells
        self._faces, self._edges = layout.faces, np.ascontiguousarray(layout.edges, np.int32)
        self._x = np.ascontiguousarray(layout.rest, np.float64).copy()
        self._x0, self._y, self._v = np.zeros((n, d)), np.zeros((n, d)), np.zeros((n, d))
        self._previous, self._target = self._x.copy(), self._x.copy()
        self._pose = np.array([1.0, 0.0] if d == 2 else [1.0, 0.0, 0.0, 0.0])
        self._rest = np.linalg.norm(self._x[layout.links[:, 0]] - self._x[layout.links[:, 1]], axis=1)
        self._lam, self._soft = np.zeros(len(self._rest)), np.zeros(len(self._rest))
        self._grad, self._bounce = np.zeros((n, d)), np.zeros(9)
        self._size = self._cell_sizes(self._x)
        self._rest_whole = self._whole_size(self._x)
        self._extent = float(np.ptp(self._x, axis=0).max())
        self._w, self._m = np.zeros(n), np.zeros(n)
        self._q = self._x - layout.shares @ (self._x - self._x[0]) - self._x[0]
        self._touch, self._hold = np.zeros(n * SLOTS, TOUCH), np.zeros(n + 2, HOLD)
        self._touch["shape"] = self._hold["shape"] = self._hold["rebound"] = -1
        self._exempt = np.zeros((0, 2), np.int32)
        self._weigh()

    def _weigh(self) -> None:
        """Masses and what follows from them, pins and ties."""
        m = self._mass * self._layout.shares
        self._m[:] = m
        self._w[:] = 1.0 / m
        held = sorted(
            self._pins | {i for i, t in self._anchors.items() if t.body.body_type != pymunk.Body.DYNAMIC}
        )
        self._w[held] = 0.0
        # A held particle weighs as much as the body in shape matching: goals follow the pins.
        self._m[held] = self._mass
        self._held = held
        self._soften()
        self._changed()

    def _soften(self) -> None:
        """Compliances of the links."""
        a, b = self._links_at.T
        share = self._layout.shares * self._mass
        swing = (1.0 / share[a] + 1.0 / share[b]) / (2.0 * SWING * SWING)
        solid = len(self._cells) > 0 or self._layout.grid is not None
        base = self._stretch_compliance
        stretch = (0.0 * swing if solid else swing) if base is None else np.full(len(swing), base)
        if self._bend_compliance is not None:
            bend = np.full(len(swing), self._bend_compliance)
        else:
            bend = swing if solid else 4.0 * stretch
        self._soft[:] = np.where(self._layout.kinds == BEND, bend, stretch)

    # ------------------------------------------------------------ settings

    @property
    def mass(self) -> float:
        """Mass of the whole body. Setting it scales every particle."""
        return self._mass

    @mass.setter
    def mass(self, value: float) -> None:
        self._mass = checks.number("mass", value, checks.TINY, checks.LIMIT)
        self._weigh()

    @property
    def masses(self) -> np.ndarray:
        """(count,) particle masses: a copy."""
        return self._mass * self._layout.shares

    def _setting(name: str, doc: str) -> property:
        def get(self: SoftBody) -> Any:
            return getattr(self, "_" + name)

        def put(self: SoftBody, value: Any) -> None:
            setattr(self, "_" + name, self._valid(name, value))
            self._soften()
            self._changed()

        return property(get, put, doc=doc)

    pressure = _setting(
        "pressure", "Area or volume kept, as a multiple of that at rest, 0.01 to 100; default 1."
    )
    stiffness = _setting("stiffness", "Shape matching, 0 to 1; default 0.3, for `lattice` and `tets` 0.")
    stretch_compliance = _setting(
        "stretch_compliance", "wu per force unit of the links, >= 0, or None: see SoftBody."
    )
    bend_compliance = _setting(
        "bend_compliance", "wu per force unit of the tethers, >= 0, or None: see SoftBody."
    )
    max_deviation = _setting(
        "max_deviation", "Largest distance from the matched place, wu, > 0, or None: any."
    )
    internal_damping = _setting("internal_damping", "Rate in 1/s at which wobbling decays, >= 0; default 2.")
    plasticity = _setting("plasticity", "Rate in 1/s at which the rest shape flows, >= 0; default 0.")
    plastic_yield = _setting(
        "plastic_yield", "Relative deformation from which on it flows, >= 0; default 0.1."
    )

    def _goal_scale(self) -> float:
        """Size that the pressure asks for: its square or cube root, by +, -, *, / and square roots alone."""
        if not len(self._ring) and not len(self._cells) and not len(self._faces):
            return 1.0
        if self.dimensions == 2:
            return math.sqrt(self._pressure)
        root = 1.0
        for _ in range(60):
            root = (2.0 * root + self._pressure / (root * root)) / 3.0
        return root

    # ------------------------------------------------------------ moving

    def apply_impulse(self, impulse: Sequence[float], point: Sequence[float] | None = None) -> None:
        """Give the body an impulse (mass wu / s; two numbers, or three in 3-D).

        Without `point` every free particle gets the same change of velocity. With one (wu), the body gets it
        as a rigid one would there: its spin changes too.
        """
        d = self.dimensions
        j = np.array(self._vector("impulse", impulse))
        free = self._w > 0.0
        m = np.where(free, 1.0 / np.where(free, self._w, 1.0), 0.0)
        if not free.any():
            return
        self._wake()
        self._v[free] += j / m.sum()
        if point is None:
            return
        center = self._x[0] + m @ (self._x - self._x[0]) / m.sum()
        arm, r = np.array(self._vector("point", point)) - center, self._x - center
        if d == 2:
            inertia = float((m * (r * r).sum(axis=1)).sum())
            spin = (arm[0] * j[1] - arm[1] * j[0]) / max(inertia, 1e-300)
            self._v[free] += spin * np.stack([-r[:, 1], r[:, 0]], axis=1)[free]
        else:
            square = (m * (r * r).sum(axis=1)).sum()
            inertia = square * np.eye(3) - (m[:, None] * r).T @ r
            spin = np.linalg.pinv(inertia) @ np.cross(arm, j)
            self._v[free] += np.cross(spin, r)[free]

    def _vector(self, name: str, value: Any) -> tuple[float, ...]:
        """As many numbers as the body has dimensions; z may be left out."""
        parts = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value
        if self.dimensions == 3 and isinstance(parts, tuple) and len(parts) == 2:
            return (*checks.vector(name, parts), 0.0)
        return checks.vector(name, parts, self.dimensions)

    def translate(self, offset: Sequence[float]) -> None:
        """Move the whole body, its pins too, by `offset`, velocities kept."""
        self._shift(np.array(self._vector("offset", offset)))

    def _shift(self, d: np.ndarray) -> None:
        self._wake()
        for array in (self._x, self._previous, self._target):
            array += d

    def _wake(self) -> None:
        """What moves the body from outside calls this."""

    def move(self, i: Any, p: Sequence[float] | None = None) -> None:
        """`move(i, p)`: put particle `i` at `p`. A pinned one gets there over the next step, pushing what is
        in its way; a free one at once, without velocity. `move(p)`: put the whole body with its centre at
        `p`.
        """
        if p is None:
            self._shift(np.array(self._vector("p", i)) - np.array(self.center))
            return
        i = checks.index("i", i, self.count)
        goal = self._vector("p", p)
        if i in self._anchors:
            raise ValueError(f"i must not be attached to a body, got {i}: detach it first")
        self._wake()
        self._target[i] = goal
        if i not in self._pins or self._world is None:
            self._x[i] = self._previous[i] = goal
            self._v[i] = 0.0

    # ------------------------------------------------------------ state

    def _arrays(self) -> dict[str, np.ndarray]:
        state = {name: getattr(self, f"_{name}") for name in STATE}
        state.update({f"layout_{name}": np.asarray(getattr(self._layout, name)) for name in LAYOUT})
        state["welded"] = self.welded
        state["touch"] = self._touch.view(np.uint8)
        return state

    def _settings(self) -> dict[str, Any]:
        state = super()._settings()
        for name in [*NUMBERS, "mass", "scale"]:
            state[name] = getattr(self, f"_{name}")
        state.update(pins=sorted(self._pins), whole=self._layout.whole, grid=self._layout.grid)
        return state

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        for name in [*NUMBERS, "mass", "scale"]:
            setattr(self, f"_{name}", settings[name])
        self._pins, self._anchors = set(settings["pins"]), {}
        grid = None if settings["grid"] is None else tuple(settings["grid"])
        parts = {name: arrays[f"layout_{name}"].copy() for name in LAYOUT}
        self._build(Layout(**parts, whole=settings["whole"], grid=grid))
        for name in STATE:
            getattr(self, f"_{name}")[:] = arrays[name]
        self.welded = arrays["welded"].copy()
        self._touch.view(np.uint8)[:] = arrays["touch"]

    @classmethod
    def _blank(cls) -> SoftBody:
        body = super()._blank()
        body._anchors, body._pins = {}, set()
        return body

    def _links(self) -> np.ndarray:
        if len(self._edges):
            return self._edges
        return self._links_at[self._layout.kinds == STRETCH]

    def _reach(self) -> float:
        pairs = self._links()
        return float(np.linalg.norm(self._x[pairs[:, 0]] - self._x[pairs[:, 1]], axis=1).max())

    def __repr__(self) -> str:
        what = "planar" if self.dimensions == 2 else "3-D"
        return f"<SoftBody of {self.count} particles, {what}, {self._extent:g} wu>"
