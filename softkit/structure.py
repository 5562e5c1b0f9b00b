"""Structures that bend, sway and shatter: a lattice of nodes and breakable links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
import pymunk

from softkit import checks
from softkit import structure_sources as sources
from softkit._kernels import structures as kernel
from softkit.objects import SoftObject, read_only
from softkit.softbody import SoftBody
from softkit.softbody_stage import HOLD, SLOTS, TOUCH
from softkit.structure_layout import SIDE, Grid, Lattice, build
from softkit.structure_links import Break, color_runs, crossing, power
from softkit.structure_material import Material
from softkit.structure_stage import StructureStage
from softkit.touch_block import TouchBlock

LINKS = "links kinds soft yields breaks ductile damping".split()
"""A link's own numbers, in the lattice; they go when it breaks."""
LIVE = "rest made lam flow peak energy".split()
OPTIONS = {
    "radius": None,
    "friction": 0.6,
    "damping": 0.05,
    "filter": None,
    "friction_rule": "product",
    "elasticity": 0.0,
}


class Structure(SoftObject):
    """A lattice of nodes and links that bends, keeps its bend, breaks and falls to pieces.

    Nodes lie at the corners of filled cells of a grid; links run along the sides and diagonals of cells. A
    link stretches by its material's compliance, flows beyond the yield strain up to the ductility, and breaks
    beyond the toughness (`Material`). What breaks off stays part of this object as a piece of its own
    (`pieces`), and pieces meet each other, everything soft and pymunk's shapes, two-way. A cell one of
    whose links broke holds nothing more: links that lie in no whole cell break with it. Nodes keep their
    index for good; `links` loses those that broke.

    Made by the constructor from an outline, or by `from_fragments`, `from_tiles`, `from_image`.

    Args:
        outline: (n, 2) corners in order, wu, not crossing itself.
        spacing: side of a cell, wu, > 0, fitted to the size; default None: a twelfth of the larger side.
        material: a Material or "wood" (default), "stone", "steel", "glass", "rubber".
        threshold: cells filled less than this part are left out, above 0 to 1; default 0.35.
        radius: contact radius of nodes and edges, wu, > 0; default None: 0.15 of a cell's shorter side.
        friction: coefficient, >= 0; default 0.6.
        damping: rate in 1/s at which velocity decays, >= 0; default 0.05. Swaying decays by the material's.
        filter, friction_rule: as for every soft object.
        elasticity: taken, but pieces bounce by their material's springs alone; default 0.

    Mass, stiffness and strength of partly filled cells go with their fill. XPBD (Macklin, Mueller, Chentanez
    2016) from the last substep's multipliers.

    >>> beam = Structure([(0, 0), (120, 0), (120, 20), (0, 20)], spacing=10, material="wood")
    >>> beam.count, len(beam.links), round(beam.mass, 6)
    (39, 110, 2.4)
    """

    kind = "structure"
    stage = StructureStage

    def __init__(
        self,
        outline: Any,
        *,
        spacing: float | None = None,
        material: Any = "wood",
        threshold: float = 0.35,
        **options: Any,
    ) -> None:
        grid = self._of_fragments([outline], spacing, material, threshold)
        self._start(grid, options)

    # ------------------------------------------------------------ ways to make one

    @classmethod
    def from_fragments(
        cls,
        fragments: Sequence[Any],
        *,
        spacing: float | None = None,
        material: Any = "wood",
        threshold: float = 0.35,
        **options: Any,
    ) -> Structure:
        """What lies under any of some outlines, as pictures or bricks that make up a whole.

        Args:
            fragments: closed outlines, each (n, 2), wu, at least one.
            material: of all, or a list with one for each fragment.
            spacing, threshold, options: see Structure.
        """
        made = cls.__new__(cls)
        made._start(cls._of_fragments(fragments, spacing, material, threshold), options)
        return made

    @classmethod
    def from_tiles(
        cls,
        tiles: Any,
        *,
        size: float = 20,
        origin: Any = (0, 0),
        materials: Any = ("wood", "stone", "steel", "glass", "rubber"),
        **options: Any,
    ) -> Structure:
        """A cell for each tile of a map.

        Args:
            tiles: (rows, columns) whole numbers; 0 is empty.
            size: side of a tile, wu, > 0; default 20.
            origin: corner of tile (0, 0), wu; columns go along x, rows along y.
            materials: from number to Material or name; or a list, the first of which is number 1 (default:
                wood, stone, steel, glass, rubber).
            options: see Structure.
        """
        made = cls.__new__(cls)
        made._start(sources.from_tiles(tiles, size, origin, materials), options)
        return made

    @classmethod
    def from_image(
        cls,
        picture: Any,
        *,
        origin: Any = (0, 0),
        scale: float = 1,
        spacing: float | None = None,
        material: Any = "wood",
        threshold: float = 0.35,
        **options: Any,
    ) -> Structure:
        """What is opaque in a picture.

        Args:
            picture: a pygame.Surface, or its alpha as (height, width), whole numbers 0 to 255, or floats 0
                to 1, or bool.
            origin: where its top left pixel lies, wu; scale: wu a pixel, > 0, default 1.
            spacing, material, threshold, options: see Structure.
        """
        threshold = checks.number("threshold", threshold, 0.0, 1.0, above=0.0)
        grid = sources.from_picture(picture, spacing, origin, scale, Material.named(material), threshold)
        made = cls.__new__(cls)
        made._start(grid, options)
        return made

    @staticmethod
    def _of_fragments(fragments: Any, spacing: Any, material: Any, threshold: Any) -> Grid:
        threshold = checks.number("threshold", threshold, 0.0, 1.0, above=0.0)
        fragments = list(fragments)
        if not fragments:
            raise ValueError("fragments must have at least one outline, got none")
        if isinstance(material, list | tuple):
            if len(material) != len(fragments):
                raise ValueError(
                    f"material must be one or one for each of {len(fragments)} fragments, got {len(material)}"
                )
            materials = [Material.named(m) for m in material]
        else:
            materials = [Material.named(material)] * len(fragments)
        return sources.from_fragments(fragments, spacing, materials, threshold)

    def _start(self, grid: Grid, options: dict[str, Any]) -> None:
        extra = sorted(set(options) - set(OPTIONS))
        if extra:
            raise TypeError(f"Structure got an unexpected argument {extra[0]!r}")
        given = {**OPTIONS, **options}
        if given["radius"] is None:
            given["radius"] = 0.15 * min(grid.size)
        SoftObject.__init__(self, **given)
        self._pins, self._anchors, self._joins = set(), {}, []
        self.on_break: Callable[[Structure, tuple[Break, ...]], None] | None = None
        lattice = build(grid)
        self._materials, self._fragments = grid.materials, grid.fragments
        self._build(lattice)
        self._calm_of = np.bincount(
            lattice.cells.reshape(-1),
            np.repeat(np.array([m.damping for m in grid.materials])[lattice.cell_kind], 4),
            minlength=self.count,
        ) / np.bincount(lattice.cells.reshape(-1), minlength=self.count)
        self._settle_links()
        self._weigh()

    def _build(self, lattice: Lattice) -> None:
        """Everything that follows from the lattice."""
        n, links = len(lattice.rest), len(lattice.links)
        self._layout = lattice
        self._x = np.ascontiguousarray(lattice.rest, np.float64).copy()
        self._x0, self._y, self._v = (np.zeros((n, 2)) for _ in range(3))
        self._previous, self._target = self._x.copy(), self._x.copy()
        self._w, self._m, self._bounce = np.zeros(n), lattice.masses.copy(), np.zeros(9)
        self._mass = float(self._m.sum())
        self._health = np.ones(n)
        self._touch, self._hold = np.zeros(n * SLOTS, TOUCH), np.zeros(n + 2, HOLD)
        self._touch["shape"] = self._hold["shape"] = self._hold["rebound"] = -1
        self._exempt = np.zeros((0, 2), np.int32)
        self._extent, self._scale = float(np.ptp(self._x, axis=0).max()), 1.0
        self._solid_cell = np.ones(len(lattice.cells), bool)
        self._number = np.arange(links, dtype=np.int32)
        for name in LINKS:
            setattr(self, f"_link_{name}", getattr(lattice, name).copy())
        a, b = lattice.links.T
        length = np.hypot(*(lattice.rest[a] - lattice.rest[b]).T)
        self._link_rest, self._link_made = length.copy(), length
        self._link_lam, self._link_flow, self._link_peak, self._link_energy = (
            np.zeros(links) for _ in range(4)
        )
        self._broken = np.zeros(links, np.uint8)
        self._link_count = np.bincount(lattice.links.reshape(-1), minlength=n)
        self._breaks_now: tuple[Break, ...] = ()

    # ------------------------------------------------------------ what hangs together

    def _settle_links(self) -> None:
        """Colours, pieces, the surface and damping for the links that there are."""
        links = self._links_at
        n, count = self.count, len(links)
        self._colors = self._color_starts()
        self._axis = np.zeros((max(1, count), 2))
        label = np.zeros(n, np.int32)
        kernel.label_pieces(links, label)
        self._members = np.argsort(label, kind="stable").astype(np.int32)
        names, first, sizes = np.unique(label[self._members], return_index=True, return_counts=True)
        self._starts = np.append(first, n).astype(np.int64)
        self._piece = np.repeat(np.arange(len(names)), sizes)[np.argsort(self._members)].astype(np.int32)
        calm = np.bincount(self._piece, self._m * self._calm_of) / np.bincount(self._piece, self._m)
        self._calm = np.ascontiguousarray(calm)
        self._edges = self._surface()
        self._changed()

    def _color_starts(self) -> np.ndarray:
        """Where each colour starts: links keep their order, so those of one colour stay together. A colour is
        a longest run without a node in common."""
        return color_runs(self._links_at)

    def _surface(self) -> np.ndarray:
        """Sides of cells with a whole cell on one side only."""
        self._solid_cell, used = self._whole(np.ones(len(self._number), bool))
        return np.ascontiguousarray(self._links_at[(used == 1) & (self._link_kinds == SIDE)], np.int32)

    def _whole(self, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which cells are whole if these links hold, and in how many of those each link lies."""
        lattice = self._layout
        alive = np.zeros(len(lattice.links), bool)
        alive[self._number[keep]] = True
        whole = alive[lattice.sides].all(axis=1)
        used = np.bincount(lattice.sides[whole].reshape(-1), minlength=len(lattice.links))
        return whole, used[self._number]

    @property
    def _links_at(self) -> np.ndarray:
        return self._link_links

    def _particle_array(self, name: str) -> np.ndarray | None:
        """Arrays of the soft bodies' record; those that structures do without are None."""
        return getattr(self, f"_{name}", None) if name in PARTICLE else None

    def _frame_array(self, name: str) -> np.ndarray:
        own = {"pieces": "_starts", "links": "_link_links"}.get(name)
        if own is None:
            own = f"_link_{name}" if name in LINKS or name in LIVE else f"_{name}"
        return getattr(self, own)

    def _take_breaks(self, some: bool) -> None:
        """Take broken links out, and note what broke."""
        self._breaks_now = ()
        if not some:
            return
        gone = self._broken != 0
        # What lies in no whole cell breaks with it: a crack leaves no threads.
        bare = ~gone & (self._whole(~gone)[1] == 0)
        self._link_energy[bare] = self._stored()[bare]
        gone |= bare
        pairs, energy = self._links_at[gone], self._link_energy[gone]
        place = 0.5 * (self._x[pairs[:, 0]] + self._x[pairs[:, 1]])
        self._breaks_now = tuple(
            Break((a, b), tuple(p), e)
            for (a, b), p, e in zip(pairs.tolist(), place.tolist(), energy.tolist())
        )
        self._keep(~gone)

    def _keep(self, keep: np.ndarray) -> None:
        for name in [*LINKS, *LIVE]:
            setattr(self, f"_link_{name}", np.ascontiguousarray(getattr(self, f"_link_{name}")[keep]))
        self._number = self._number[keep]
        self._broken = np.zeros(len(self._number), np.uint8)
        self._settle_links()

    # ------------------------------------------------------------ asking

    @property
    def rest_shape(self) -> np.ndarray:
        """(count, 2) places of the nodes as made: a read-only view."""
        return read_only(self._layout.rest)

    @property
    def links(self) -> np.ndarray:
        """(l, 2) nodes of the links that hold: a read-only view of this moment."""
        return read_only(self._links_at)

    @property
    def strain(self) -> np.ndarray:
        """(l,) elastic strain of each of `links`, by its force; positive where drawn: a fresh array."""
        h = self._world.step / self._world.substeps if self._world is not None else 1.0
        return -self._link_lam / (h * h) * self._link_soft / self._link_made

    @property
    def tension(self) -> np.ndarray:
        """(l,) force in each of `links`, mass wu / s^2; positive where drawn: a fresh array."""
        h = self._world.step / self._world.substeps if self._world is not None else 1.0
        return -self._link_lam / (h * h)

    def _stored(self) -> np.ndarray:
        """(l,) elastic energy of each link."""
        return 0.5 * self.tension**2 * self._link_soft

    @property
    def plastic_strain(self) -> np.ndarray:
        """(l,) how far each of `links` has flowed, as part of its length as made: a fresh array."""
        return self._link_rest / self._link_made - 1.0

    @property
    def load(self) -> np.ndarray:
        """(l,) largest elastic strain of each of `links` in the last step, as part of that at which it
        breaks: a fresh array."""
        a, b = self._links_at.T
        return self._link_peak / np.maximum(
            self._link_breaks * np.minimum(self._health[a], self._health[b]), 1e-300
        )

    @property
    def integrity(self) -> np.ndarray:
        """(count,) how whole each node is, 0 to 1: its health, times the part of its links that hold: a fresh
        array."""
        left = np.bincount(self._links_at.reshape(-1), minlength=self.count)
        return self._health * left / np.maximum(self._link_count, 1)

    @property
    def resistance(self) -> np.ndarray:
        """(count,) impulse, mass wu / s, that takes a node's health from 1 to 0: its mass times the speed of
        waves in its material times its toughness. A read-only view."""
        return read_only(self._layout.resistance)

    @property
    def piece_of(self) -> np.ndarray:
        """(count,) number of the piece that each node is in, by lowest node: a read-only view."""
        return read_only(self._piece)

    @property
    def pieces(self) -> list[np.ndarray]:
        """Nodes of each piece, in order: fresh arrays."""
        return [
            self._members[a:b].copy() for a, b in zip(self._starts[:-1].tolist(), self._starts[1:].tolist())
        ]

    @property
    def piece_count(self) -> int:
        """Number of pieces; 1 while whole (more, if made of parts that do not hang together)."""
        return len(self._starts) - 1

    @property
    def cells(self) -> np.ndarray:
        """(c, 4) nodes round each cell as made: a read-only view. `whole_cells` says which are unbroken."""
        return read_only(self._layout.cells)

    @property
    def whole_cells(self) -> np.ndarray:
        """(c,) whether all links of each of `cells` hold: a read-only view of this moment."""
        return read_only(self._solid_cell)

    @property
    def surface(self) -> np.ndarray:
        """(e, 2) nodes of the sides of whole cells that have no whole cell beyond: what touches. A read-only
        view of this moment."""
        return read_only(self._edges)

    @property
    def materials(self) -> list[Material]:
        """The materials it is made of; `cell_materials` counts in them."""
        return list(self._materials)

    @property
    def cell_materials(self) -> np.ndarray:
        """(c,) number of each cell's material in `materials`: a read-only view."""
        return read_only(self._layout.cell_kind)

    @property
    def fragments(self) -> list[np.ndarray]:
        """Outlines (k, 2) it was made from, wu, where they lay; none for tiles and pictures."""
        return [ring.copy() for ring in self._fragments]

    @property
    def breaks(self) -> tuple[Break, ...]:
        """Links that broke in the last step, or by the last `cut` since."""
        return self._breaks_now

    @property
    def mass(self) -> float:
        """Mass of all nodes."""
        return self._mass

    @property
    def masses(self) -> np.ndarray:
        """(count,) masses of the nodes: a read-only view."""
        return read_only(self._m)

    @property
    def center(self) -> tuple[float, float]:
        """Centre of mass, wu."""
        return tuple((self._x[0] + self._m @ (self._x - self._x[0]) / self._mass).tolist())

    @property
    def velocity(self) -> tuple[float, float]:
        """Velocity of the centre of mass, wu/s."""
        return tuple((self._m @ self._v / self._mass).tolist())

    # ------------------------------------------------------------ damage

    def explode(self, point: Any, radius: float, impulse: float, falloff: float = 1.0) -> None:
        """A blast: nodes are thrown away from a point and lose health.

        Args:
            point: wu; radius: beyond it nothing is felt, wu, > 0.
            impulse: of the whole blast, mass wu / s, >= 0. Each node gets the part that its share of the
                disc's area is, times (1 - d / radius)^falloff; health goes down by that over `resistance`.
            falloff: exponent, 0 to 16; default 1. 0: the same out to the edge.
        """
        p = np.array(checks.vector("point", point))
        radius = checks.number("radius", radius, 0.0, checks.LIMIT, above=0.0)
        impulse = checks.number("impulse", impulse, 0.0, checks.LIMIT)
        falloff = checks.number("falloff", falloff, 0.0, 16.0)
        way = self._x - p
        away = np.sqrt((way * way).sum(axis=1))
        hit = np.flatnonzero(away < radius)
        if not len(hit):
            return
        area = self._node_area[hit] / (3.141592653589793 * radius * radius)
        push = impulse * np.minimum(area, 1.0) * power(1.0 - away[hit] / radius, falloff)
        self._health[hit] = np.maximum(0.0, self._health[hit] - push / self._layout.resistance[hit])
        out = way[hit] / np.maximum(away[hit], 1e-12 * radius)[:, None]
        self._v[hit] += (push * self._w[hit])[:, None] * out
        self._changed()

    def cut(self, a: Any, b: Any) -> int:
        """Break every link that the straight line from a to b (wu) crosses; returns how many. Inside a step
        it takes effect when the step is over."""
        p, q = np.array(checks.vector("a", a)), np.array(checks.vector("b", b))
        crossed = crossing(self._x[self._links_at[:, 0]], self._x[self._links_at[:, 1]], p, q)
        if not crossed.any():
            return 0
        numbers = self._number[crossed]

        def change() -> None:
            self._broken = np.isin(self._number, numbers).astype(np.uint8)
            self._link_energy[:] = 0.0
            self._take_breaks(True)

        if self._world is None:
            change()
        else:
            self._world._when_idle(change)
        return len(numbers)

    def weaken(self, i: int, health: float) -> None:
        """Set the health of node `i`, 0 to 1: its links break at that part of their strain."""
        i = checks.index("i", i, self.count)
        self._health[i] = checks.number("health", health, 0.0, 1.0)

    # ------------------------------------------------------------ moving and holding

    def apply_impulse(self, impulse: Any, piece: int | None = None) -> None:
        """Give all free nodes, or those of one piece, the same change of velocity: `impulse` (mass wu / s) in
        all."""
        j = np.array(checks.vector("impulse", impulse))
        nodes = self._w > 0.0
        if piece is not None:
            nodes &= self._piece == checks.index("piece", piece, self.piece_count)
        if nodes.any():
            self._v[nodes] += j / self._m[nodes].sum()

    dimensions = 2
    _planar, _vector, _wake, _shift = SoftBody._planar, SoftBody._vector, SoftBody._wake, SoftBody._shift
    translate, move = SoftBody.translate, SoftBody.move
    pinned, attachments, joins = SoftBody.pinned, SoftBody.attachments, SoftBody.joins
    pin, unpin, attach, detach, join = (
        SoftBody.pin,
        SoftBody.unpin,
        SoftBody.attach,
        SoftBody.detach,
        SoftBody.join,
    )
    _ties, _set_ties, _joined = SoftBody._ties, SoftBody._set_ties, SoftBody._joined
    _release_joins, _left_world = SoftBody._release_joins, SoftBody._left_world
    _check_world = SoftBody._check_world

    def _weigh(self) -> None:
        """Inverse masses with pins and ties."""
        self._w[:] = 1.0 / self._m
        held = {i for i, t in self._anchors.items() if t.body.body_type != pymunk.Body.DYNAMIC}
        self._held = sorted(self._pins | held)
        self._w[self._held] = 0.0
        self._changed()

    # ------------------------------------------------------------ touching

    def _links(self) -> np.ndarray:
        return self._edges if len(self._edges) else super()._links()

    def _reach(self) -> float:
        if not len(self._edges):
            return 0.0
        a, b = self._edges.T
        return float(np.hypot(*(self._x[a] - self._x[b]).T).max())

    def _touch_block(self) -> TouchBlock:
        return TouchBlock(self._x, self._x0, self._v, self._w, self._edges, self.piece_count > 1)

    @property
    def _node_area(self) -> np.ndarray:
        """(count,) wu^2 of cells around each node."""
        cells = self._layout.cells
        p, q = self._layout.rest[cells[0, 0]], self._layout.rest[cells[0, 2]]
        return np.bincount(cells.reshape(-1), minlength=self.count) * (0.25 * abs(float((q - p).prod())))

    # ------------------------------------------------------------ state

    def _arrays(self) -> dict[str, np.ndarray]:
        state = {name: getattr(self, f"_{name}") for name in STATE}
        state.update({f"link_{name}": getattr(self, f"_link_{name}") for name in LIVE})
        state.update({f"lattice_{name}": getattr(self._layout, name) for name in LATTICE})
        state["touch"] = self._touch.view(np.uint8)
        state["hold"] = self._hold.view(np.uint8)
        state["materials"] = np.array([astuple(m) for m in self._materials], np.float64)
        state["fragment_sizes"] = np.array([len(ring) for ring in self._fragments], np.int64)
        state["fragment_points"] = np.concatenate([np.zeros((0, 2)), *self._fragments])
        return state

    def _settings(self) -> dict[str, Any]:
        return {
            **super()._settings(),
            "pins": sorted(self._pins),
            "breaks": [[*b.nodes, *b.place, b.energy] for b in self._breaks_now],
        }

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        self._pins, self._anchors = set(settings["pins"]), {}
        self._build(Lattice(**{name: arrays[f"lattice_{name}"].copy() for name in LATTICE}))
        self._materials = [Material(*row) for row in arrays["materials"].tolist()]
        rings, sizes = arrays["fragment_points"].copy(), arrays["fragment_sizes"]
        self._fragments = np.split(rings, np.cumsum(sizes)[:-1]) if len(sizes) else []
        self._calm_of = arrays["calm_of"].copy()
        self._number = arrays["number"].copy()
        for name in LINKS:
            setattr(self, f"_link_{name}", np.ascontiguousarray(getattr(self._layout, name)[self._number]))
        for name in LIVE:
            setattr(self, f"_link_{name}", arrays[f"link_{name}"].copy())
        self._broken = np.zeros(len(self._number), np.uint8)
        for name in STATE:
            if name not in ("calm_of", "number"):
                getattr(self, f"_{name}")[:] = arrays[name]
        self._touch.view(np.uint8)[:] = arrays["touch"]
        self._hold.view(np.uint8)[:] = arrays["hold"]
        self._breaks_now = tuple(Break((a, b), (x, y), e) for a, b, x, y, e in settings["breaks"])
        self._settle_links()
        self._weigh()

    @classmethod
    def _blank(cls) -> Structure:
        made = super()._blank()
        made._anchors, made._pins, made._joins = {}, set(), []
        made.on_break = None
        return made

    def __repr__(self) -> str:
        return f"<Structure of {self.count} nodes, {len(self._links_at)} links, {self.piece_count} pieces>"


PARTICLE = "x x0 y v w m previous target bounce edges exempt touch hold".split()
STATE = "x v previous target health m number calm_of".split()
LATTICE = [
    *LINKS,
    *"rest masses resistance cells cell_kind sides".split(),
]
