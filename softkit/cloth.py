"""Cloth: 3-D sheets beside a 2-D game."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pymunk

from softkit import checks, cloth_layout, cloth_tear
from softkit._kernels import cloth_air
from softkit.cloth_stage import TOUCH, TOUCH_SLOTS, ClothStage
from softkit.coupling import Attachment, check_body, in_space
from softkit.joins import Joined
from softkit.objects import SoftObject, read_only
from softkit.threads import get_threads
from softkit.world import World

NUMBERS = "stretch_compliance shear_compliance air_density drag lift thickness".split()


def place(name: str, value: Any, z: float = 0.0) -> tuple[float, float, float]:
    """Three numbers, or two in the space's plane and `z`."""
    parts = tuple(value) if isinstance(value, Iterable) and not isinstance(value, str | bytes) else value
    if isinstance(parts, tuple) and len(parts) == 2:
        return (*checks.vector(name, parts), z)
    return checks.vector(name, parts, 3)


class Cloth(Joined, SoftObject):
    """A sheet of particles in three dimensions, x and y those of the space, z toward the viewer.

    A grid of columns x rows particles: particle `index(column, row)` lies at origin + column * spacing *
    right + row * spacing * down. `Cloth.mesh` makes one of any triangles.

    Args:
        columns, rows: particles along each side, 2 to 1024; default 16.
        spacing: wu between neighbours, > 0; default 10.
        origin: (x, y, z) of particle 0, wu; default (0, 0, 0). Two numbers mean z = 0.
        right, down: directions of the rows and of the columns; their lengths do not matter, they must not be
            parallel.
        mass: of the whole sheet, > 0, spread by area: a particle on an edge weighs half an inner one, one at
            a corner a quarter; default 1.
        stretch_compliance: wu per force unit of every edge along rows and columns, >= 0; default 0: an edge
            keeps its length however fine the sheet (see below). XPBD (Macklin, Mueller, Chentanez 2016).
        shear_compliance: the same of every cell's diagonals; default 0.
        bend_compliance: 1 / B, with B the bending stiffness per width (force * wu), > 0; default 0.05. None:
            no resistance to bending. Independent of the resolution (Bergou et al. 2006).
        damping: rate in 1/s at which velocity decays, >= 0; default 0.5.
        pinned: indices, or (column, row) pairs, of particles held from the start.
        radius: contact radius of a particle and of the triangles between, wu, > 0; default a quarter of the
            spacing.
        thickness: distance that the sheet keeps from itself, wu, 0.75 to 1 times `spacing`; default 0.8
            times. Thinner, a particle could slip through between four others.
        friction: coefficient, >= 0; default 0.5. `friction_rule` says how it combines with a shape's own.
        filter: pymunk.ShapeFilter; default None, meets everything.
        self_collision: whether the sheet collides with itself and with other sheets that do; default False.
        tear_strain: edges stretched by more than this share break, > 0; default None: never.
        air_density: mass per wu^3 of the air in which a wind blows, >= 0; default 1e-6.
        drag, lift: coefficients C of the air's force on a triangle, F = 1/2 air_density area C u_n^2 along
            its normal, u_n the normal part of the relative velocity; `drag` is for what of it lies along the
            relative velocity, `lift` for the rest; 0 to 10, default 1 each. Without a flow field in the world
            there is no air.
        friction_rule, elasticity: as for every soft object.

    Stiffness. Each substep solves the diagonals (parallel batches), long-range attachments (Kim, Chentanez,
    Mueller-Fischer 2012) and then every row and every column exactly, by one tridiagonal system a line: a
    sheet hung by two corners stretches by less than 0.3 % at 16 x 16, 64 x 64 and 128 x 128.

    >>> cloth = Cloth(8, 8, spacing=5, pinned=[(0, 0), (7, 0)])
    >>> cloth.count, len(cloth.triangles), cloth.index(7, 0)
    (64, 98, 7)
    """

    kind = "cloth"
    stage = ClothStage

    def __init__(
        self,
        columns: int = 16,
        rows: int = 16,
        *,
        spacing: float = 10,
        origin: Any = (0, 0, 0),
        right: Any = (1, 0, 0),
        down: Any = (0, 1, 0),
        mass: float = 1,
        pinned: Iterable[Any] = (),
        **options: Any,
    ) -> None:
        columns, rows = checks.whole("columns", columns, 2, 1024), checks.whole("rows", rows, 2, 1024)
        spacing = checks.number("spacing", spacing, above=0.0)
        self._start(columns, rows, (spacing, spacing), origin, right, down, mass, pinned, options)

    def _start(
        self,
        columns: int,
        rows: int,
        steps: tuple[float, float],
        origin: Any,
        right: Any,
        down: Any,
        mass: float,
        pinned: Iterable[Any],
        options: dict[str, Any],
    ) -> None:
        first = np.array(place("origin", origin))
        across, along = (np.array(place(n, v)) for n, v in (("right", right), ("down", down)))
        for name, axis in (("right", across), ("down", along)):
            if not np.linalg.norm(axis) > 1e-9:
                raise ValueError(f"{name} must not be zero, got {axis.tolist()!r}")
            axis /= np.linalg.norm(axis)
        if np.linalg.norm(np.cross(across, along)) < 1e-3:
            raise ValueError(f"down must not be parallel to right, got {down!r}")
        row, column = np.divmod(np.arange(rows * columns), columns)
        rest = first + column[:, None] * (steps[0] * across) + row[:, None] * (steps[1] * along)
        self._grid = (rows, columns)
        self._steps = steps
        faces, block = cloth_layout.grid_faces(columns, rows)
        self._options(min(steps), mass, options)
        self._build(rest, faces, block, checks.number("mass", mass, above=0.0))
        self._uvs = np.stack([column / (columns - 1), row / (rows - 1)], axis=1)
        for item in list(pinned):
            self.pin(item if hasattr(item, "__index__") else self.index(*item))

    def _options(self, spacing: float, mass: float, options: dict[str, Any]) -> None:
        """Settings that grids and meshes share, checked before anything is built."""

        def take(name: str, default: Any) -> Any:
            return options.pop(name, default)

        checks.number("mass", mass, above=0.0)
        radius, thickness = take("radius", None), take("thickness", None)
        super().__init__(
            radius=0.25 * spacing if radius is None else radius,
            friction=take("friction", 0.5),
            damping=take("damping", 0.5),
            filter=take("filter", None),
            friction_rule=take("friction_rule", "product"),
            elasticity=take("elasticity", 1.0),
        )
        self._stretch_compliance = checks.number("stretch_compliance", take("stretch_compliance", 0.0), 0.0)
        self._shear_compliance = checks.number("shear_compliance", take("shear_compliance", 0.0), 0.0)
        bend = take("bend_compliance", 0.05)
        self._bend_compliance = None if bend is None else checks.number("bend_compliance", bend, above=0.0)
        self._thickness = (
            0.8 * spacing if thickness is None else checks.number("thickness", thickness, above=0.0)
        )
        if not 0.75 * spacing * (1 - 1e-9) <= self._thickness <= spacing * (1 + 1e-9):
            raise ValueError(
                f"thickness must be 0.75 to 1 times the spacing ({spacing:g}), got {thickness!r}"
            )
        self._self_collision = checks.truth("self_collision", take("self_collision", False))
        tear = take("tear_strain", None)
        self._tear_strain = None if tear is None else checks.number("tear_strain", tear, above=0.0)
        self._air_density = checks.number("air_density", take("air_density", 1e-6), 0.0)
        self._drag = checks.number("drag", take("drag", 1.0), 0.0, 10.0)
        self._lift = checks.number("lift", take("lift", 1.0), 0.0, 10.0)
        self._pins: set[int] = set()
        self._anchors: dict[int, Attachment] = {}
        self.image: Any = None
        self.on_tear: Callable[[Cloth, np.ndarray], None] | None = None
        if options:
            raise TypeError(f"Cloth got an unexpected argument {next(iter(options))!r}")

    # ------------------------------------------------------------ other ways to make one

    @classmethod
    def mesh(
        cls, vertices: Any, triangles: Any, *, mass: float = 1, pinned: Iterable[int] = (), **options: Any
    ) -> Cloth:
        """A sheet of any triangles.

        Args:
            vertices: (n, 3) places, wu; the rest shape, which need not be flat.
            triangles: (t, 3) indices of vertices. Vertices at one place are welded: the sheet has one
                particle for them, the first one's; `welded` says which particle a vertex became. Triangles
                without area are left out.
            mass, pinned and the rest: as for `Cloth`; `pinned` counts particles; `radius` is by default a
                quarter, and `thickness` at most the whole, of the mean edge.
        """
        points = checks.points("vertices", vertices, 3, least=3)
        faces = np.asarray(triangles)
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu" or not len(faces):
            raise ValueError(
                f"triangles must be a (t, 3) array of ints, got shape {faces.shape} of {faces.dtype}"
            )
        if faces.min() < -len(points) or faces.max() >= len(points):
            limits = f"{-len(points)} and {len(points) - 1}"
            raise IndexError(f"triangles must be between {limits}, got {faces.min()} to {faces.max()}")
        faces = np.where(faces < 0, faces + len(points), faces)
        scale = float(np.ptp(points, axis=0).max())
        keys = np.round((points - points.min(axis=0)) / max(scale * 1e-9, 1e-300)).astype(np.int64)
        _, first, welded = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
        welded = rank[welded.reshape(-1)]
        points = points[np.sort(first)]
        faces = welded[faces].astype(np.int32)
        faces = faces[cloth_layout.areas(points, faces) > 1e-12 * scale * scale]
        if not len(faces):
            raise ValueError("triangles must have an area, got none that has")
        edges, _ = cloth_layout.edges_of(faces, len(points))
        mean = float(np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).mean())
        cloth = cls.__new__(cls)
        cloth._grid, cloth._steps = None, (mean, mean)
        cloth._options(mean, mass, options)
        faces, block = cloth_layout.mesh_faces(faces, len(points))
        cloth._build(points, faces, block, checks.number("mass", mass, above=0.0))
        low, size = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-300)
        cloth._uvs = ((points - low) / size)[:, :2].copy()
        cloth.welded = welded
        for i in list(pinned):
            cloth.pin(i)
        return cloth

    @classmethod
    def from_image(
        cls,
        surface: Any,
        *,
        spacing: float = 10,
        origin: Any = (0, 0, 0),
        right: Any = (1, 0, 0),
        down: Any = (0, 1, 0),
        mass: float = 1,
        pinned: Iterable[Any] = (),
        **options: Any,
    ) -> Cloth:
        """A sheet as large as a picture (anything with `get_size()`, such as a pygame.Surface), one wu a
        pixel, with particles about `spacing` apart; `image` is the picture, which the painter puts on it."""
        if not hasattr(surface, "get_size"):
            raise TypeError(f"surface must be a pygame.Surface, got {surface!r}")
        width, height = surface.get_size()
        if width < 2 or height < 2:
            raise ValueError(f"surface must be at least 2 x 2 pixels, got {width} x {height}")
        spacing = checks.number("spacing", spacing, above=0.0)
        columns = min(1024, max(2, round(width / spacing) + 1))
        rows = min(1024, max(2, round(height / spacing) + 1))
        cloth = cls.__new__(cls)
        steps = (width / (columns - 1), height / (rows - 1))
        cloth._start(columns, rows, steps, origin, right, down, mass, pinned, options)
        cloth.image = surface
        return cloth

    def _build(self, rest: np.ndarray, faces: np.ndarray, block: np.ndarray, mass: float) -> None:
        """Everything that follows from the rest shape."""
        n = len(rest)
        self._rest = rest
        self._faces, self._block = np.ascontiguousarray(faces, np.int32), block
        self._edges, self._beside = cloth_layout.edges_of(self._faces, n)
        self._edge_rest = np.linalg.norm(rest[self._edges[:, 0]] - rest[self._edges[:, 1]], axis=1)
        self._edge_live = np.ones(len(self._edges))
        self._face_live = np.ones(len(self._faces), bool)
        self._torn = False
        self._m = mass * cloth_layout.shares(rest, self._faces)
        self._density = mass / float(cloth_layout.areas(rest, self._faces).sum())
        self._p = np.ascontiguousarray(rest.T)
        self._vel, self._old, self._prev = np.zeros((3, n)), self._p.copy(), self._p.copy()
        self._target = rest.copy()
        self._w, self._held, self._share = 1.0 / self._m, np.zeros(n, np.uint8), np.ones(n)
        self._touch = np.zeros(n * TOUCH_SLOTS, TOUCH)
        self._touch["shape"] = -1
        self._touched = False
        self._grip, self._owner = np.zeros((4, n)), np.zeros(n, np.int64)
        self.welded = np.arange(n)
        self._views()
        self._stale = self._parts_stale = True

    def _views(self) -> None:
        self._x, self._v, self._previous = self._p.T, self._vel.T, self._prev.T

    # ------------------------------------------------------------ shape

    @property
    def columns(self) -> int:
        """Particles along a row; TypeError for a mesh."""
        return self._grid_size()[1]

    @property
    def rows(self) -> int:
        """Particles along a column; TypeError for a mesh."""
        return self._grid_size()[0]

    def _grid_size(self) -> tuple[int, int]:
        if self._grid is None:
            raise TypeError("a mesh has no columns and rows")
        return self._grid

    def index(self, column: int, row: int) -> int:
        """Index of a grid's particle; negatives count from the end."""
        rows, columns = self._grid_size()
        return checks.index("row", row, rows) * columns + checks.index("column", column, columns)

    @property
    def triangles(self) -> np.ndarray:
        """(t, 3) particle indices of what is left of the sheet, counter-clockwise seen from where `normals`
        point."""
        return read_only(self._faces[self._face_live] if self._torn else self._faces)

    @property
    def edges(self) -> np.ndarray:
        """(m, 2) particle indices of the triangles' edges that hold, lower index first."""
        return read_only(self._edges[self._edge_live > 0.0] if self._torn else self._edges)

    @property
    def uvs(self) -> np.ndarray:
        """(count, 2) places in a picture, 0 to 1: a read-only view; a grid's run along rows and columns."""
        return read_only(self._uvs)

    @property
    def normals(self) -> np.ndarray:
        """(count, 3) unit normals, right x down for a flat grid; (0, 0, 1) where no triangle is left."""
        self._ready()
        out = np.empty((self.count, 3))
        cloth_air.normals(self._p, self._live_faces, self._starts, self._around, out, get_threads())
        return read_only(out)

    @property
    def spacing(self) -> float:
        """Rest distance of neighbours, wu; a mesh's mean edge."""
        return min(self._steps)

    @property
    def strain(self) -> np.ndarray:
        """Relative stretch of each of `edges`, above 0 where longer than at rest: a fresh array."""
        live = self._edge_live > 0.0
        a, b = self._edges[live].T
        return np.linalg.norm(self._x[b] - self._x[a], axis=1) / self._edge_rest[live] - 1.0

    @property
    def mass(self) -> float:
        """Mass of the whole sheet. Setting it scales every particle."""
        return float(self._m.sum())

    @mass.setter
    def mass(self, value: float) -> None:
        scale = checks.number("mass", value, above=0.0) / self.mass
        self._m *= scale
        self._density *= scale
        self._changed()

    @property
    def masses(self) -> np.ndarray:
        """(count,) particle masses: a copy."""
        return self._m.copy()

    def _setting(name: str, doc: str, low: float = 0.0, high: float = math.inf) -> property:
        def get(self: Cloth) -> float:
            return getattr(self, "_" + name)

        def put(self: Cloth, value: float) -> None:
            setattr(self, "_" + name, checks.number(name, value, low, high))
            self._changed()

        return property(get, put, doc=doc)

    stretch_compliance = _setting("stretch_compliance", "wu per force unit of every edge, >= 0; default 0.")
    shear_compliance = _setting(
        "shear_compliance", "wu per force unit of every diagonal of a grid, >= 0; default 0."
    )
    air_density = _setting("air_density", "Mass per wu^3 of the air, >= 0; default 1e-6.")
    drag = _setting(
        "drag", "Coefficient of the air's force along the relative velocity, 0 to 10; default 1.", 0.0, 10.0
    )
    lift = _setting(
        "lift", "Coefficient of the air's force across the relative velocity, 0 to 10; default 1.", 0.0, 10.0
    )

    @property
    def bend_compliance(self) -> float | None:
        """1 / (force wu), > 0, or None for no bending stiffness; default 0.05."""
        return self._bend_compliance

    @bend_compliance.setter
    def bend_compliance(self, value: float | None) -> None:
        self._bend_compliance = None if value is None else checks.number("bend_compliance", value, above=0.0)
        self._parts_stale = True
        self._changed()

    @property
    def thickness(self) -> float:
        """Distance that the sheet keeps from itself and from other sheets, wu; default 0.8 times
        `spacing`."""
        return self._thickness

    @property
    def self_collision(self) -> bool:
        """Whether the sheet collides with itself and with other sheets that do; default False."""
        return self._self_collision

    @self_collision.setter
    def self_collision(self, value: bool) -> None:
        self._self_collision = checks.truth("self_collision", value)

    @property
    def tear_strain(self) -> float | None:
        """Share of stretch past which an edge breaks, or None; default None."""
        return self._tear_strain

    @tear_strain.setter
    def tear_strain(self, value: float | None) -> None:
        self._tear_strain = None if value is None else checks.number("tear_strain", value, above=0.0)

    # ------------------------------------------------------------ holding

    @property
    def pinned(self) -> tuple[int, ...]:
        """Pinned particles, in order."""
        return tuple(sorted(self._pins))

    @property
    def attachments(self) -> dict[int, tuple[pymunk.Body, tuple[float, float, float]]]:
        """Particle -> (body, point in the body's coordinates and z): a copy."""
        return {i: (t.body, (*t.local, float(self._target[i, 2]))) for i, t in sorted(self._anchors.items())}

    def pin(self, i: int) -> None:
        """Hold particle `i` where it is, at rest."""
        i = checks.index("i", i, self.count)
        self._anchors.pop(i, None)
        self._pins.add(i)
        self._target[i] = self._x[i]
        self._vel[:, i] = 0.0
        self._weigh()

    def unpin(self, i: int) -> None:
        """Let a pinned particle go; one that is not pinned stays as it is."""
        i = checks.index("i", i, self.count)
        self._pins.discard(i)
        self._weigh()

    def move(self, i: int, p: Sequence[float]) -> None:
        """Put particle `i` at `p` (three numbers; two keep its z). A pinned one gets there over the next
        step, pushing what is in its way; a free one at once, without velocity."""
        i = checks.index("i", i, self.count)
        goal = place("p", p, float(self._p[2, i]))
        if i in self._anchors:
            raise ValueError(f"i must not be attached to a body, got {i}: detach it first")
        self._target[i] = goal
        if i not in self._pins or self._world is None:
            self._p[:, i] = self._prev[:, i] = self._old[:, i] = goal
            self._vel[:, i] = 0.0

    def attach(self, i: int, body: pymunk.Body, local: Sequence[float] | None = None) -> None:
        """Tie particle `i` to a point of a pymunk body: it goes where the body goes and pulls a dynamic one.

        Args:
            i: particle, negatives count from the end. A pin or earlier tie of it is given up.
            body: in the world's space, or its static_body; before `World.add`, any body.
            local: the point in the body's coordinates, wu, and z as a third number; default None, where the
                particle is now.

        The tie ends when the body leaves the space.
        """
        i = checks.index("i", i, self.count)
        check_body(body, self._world)
        if local is None:
            local = (*body.world_to_local(tuple(self._p[:2, i].tolist())), float(self._p[2, i]))
        else:
            local = place("local", local, float(self._p[2, i]))
            goal = (*body.local_to_world(local[:2]), local[2])
            self._p[:, i] = self._prev[:, i] = self._old[:, i] = goal
        self._pins.discard(i)
        self._anchors[i] = Attachment(body, (float(local[0]), float(local[1])))
        self._target[i] = (*self._p[:2, i], local[2])
        self._weigh()

    def detach(self, i: int) -> None:
        """Untie particle `i` from its body and from everything it is joined to."""
        i = checks.index("i", i, self.count)
        self._unjoin(i)
        self._anchors.pop(i, None)
        self._weigh()

    def translate(self, offset: Sequence[float]) -> None:
        """Move the whole sheet, its pins too, by `offset` (two or three numbers), velocities kept."""
        d = np.array(place("offset", offset))
        for array in (self._p, self._prev, self._old):
            array += d[:, None]
        self._target += d

    def _weigh(self) -> None:
        """Inverse masses from masses, pins and ties."""
        self._w[:] = 1.0 / self._m
        held = [*self._pins, *self._anchors]
        self._held[:] = 0
        self._held[held] = 1
        self._w[held] = 0.0
        self._share[:] = 1.0
        self._stale = True
        self._changed()

    def _ready(self) -> None:
        """Bring what follows from triangles, pins and ties up to date."""
        if self._parts_stale:
            cloth_tear.derive(self)
            self._parts_stale = False
            self._stale = True

    # ------------------------------------------------------------ tearing

    def tear(self, a: Any, b: Any) -> int:
        """Tear the sheet; returns how many edges broke.

        Args:
            a, b: two particles: the edge between them breaks (ValueError where there is none); or two points
                (two or three numbers, of which x and y count): every edge that crosses the stroke from a to
                b, as seen along z.

        An edge takes its triangles with it; particles stay, and what hangs on nothing any more falls.
        """
        if hasattr(a, "__index__") and hasattr(b, "__index__"):
            i, j = checks.index("a", a, self.count), checks.index("b", b, self.count)
            which = np.flatnonzero(
                (self._edges[:, 0] == min(i, j)) & (self._edges[:, 1] == max(i, j)) & (self._edge_live > 0)
            )
            if not len(which):
                raise ValueError(f"a and b must be joined by an edge, got {a!r} and {b!r}")
        else:
            which = cloth_tear.crossed(self, np.array(place("a", a)[:2]), np.array(place("b", b)[:2]))
        return cloth_tear.tear_edges(self, which)

    # ------------------------------------------------------------ state

    def _arrays(self) -> dict[str, np.ndarray]:
        return {
            "p": self._p,
            "v": self._vel,
            "previous": self._prev,
            "target": self._target,
            "rest": self._rest,
            "mass": self._m,
            "faces": self._faces,
            "block": self._block,
            "uvs": self._uvs,
            "welded": self.welded,
            "edge_live": self._edge_live,
            "face_live": self._face_live.astype(np.uint8),
            "grip": self._grip,
            "owner": self._owner,
            "touch": self._touch.view(np.uint8),
        }

    def _settings(self) -> dict[str, Any]:
        state = super()._settings()
        for name in [*NUMBERS, "bend_compliance", "self_collision", "tear_strain", "density", "touched"]:
            state[name] = getattr(self, f"_{name}")
        state["grid"], state["steps"], state["pins"] = self._grid, self._steps, sorted(self._pins)
        return state

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        self._grid = None if settings["grid"] is None else tuple(settings["grid"])
        self._steps = tuple(settings["steps"])
        self._build(arrays["rest"].copy(), arrays["faces"].copy(), arrays["block"].copy(), 1.0)
        for name in [*NUMBERS, "bend_compliance", "self_collision", "tear_strain", "density", "touched"]:
            setattr(self, f"_{name}", settings[name])
        self._m[:] = arrays["mass"]
        for own, name in (
            (self._p, "p"),
            (self._vel, "v"),
            (self._prev, "previous"),
            (self._target, "target"),
        ):
            own[:] = arrays[name]
        self._old[:] = self._p
        self._uvs, self.welded = arrays["uvs"].copy(), arrays["welded"].copy()
        self._edge_live[:], self._face_live[:] = arrays["edge_live"], arrays["face_live"] > 0
        self._torn = not (self._face_live.all() and (self._edge_live > 0.0).all())
        self._touch.view(np.uint8)[:] = arrays["touch"]
        self._grip[:], self._owner[:] = arrays["grip"], arrays["owner"]
        self._pins, self._anchors = set(settings["pins"]), {}
        self._weigh()

    @classmethod
    def _blank(cls) -> Cloth:
        cloth = super()._blank()
        cloth._anchors, cloth.image, cloth.on_tear = {}, None, None
        return cloth

    def _ties(self) -> list[tuple[int, Attachment]]:
        return sorted(self._anchors.items())

    def _set_ties(self, ties: dict[int, Attachment]) -> None:
        self._anchors = ties
        self._weigh()

    def _check_world(self, world: World) -> None:
        for i, tie in self._anchors.items():
            if not in_space(tie.body, world.space):
                raise ValueError(f"objects must hang on this world's bodies, got {tie.body!r} at {i}")

    def _links(self) -> np.ndarray:
        return self._edges[self._edge_live > 0.0]

    def _reach(self) -> float:
        return float(self._edge_rest.max()) * 1.5

    def __repr__(self) -> str:
        size = f"{self._grid[1]} x {self._grid[0]}" if self._grid else f"{self.count} particles"
        return f"<Cloth of {size}, {self.spacing:g} wu apart>"
