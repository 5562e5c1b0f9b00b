"""One step of all fluids of a world together: forces, the grid's pressure, contacts, the local density
constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit._kernels import fluid_contact as contact
from softkit._kernels import fluid_density as density
from softkit._kernels import fluid_motion as motion
from softkit._kernels import fluid_solids as solids
from softkit._kernels import fluid_solve as solver
from softkit._kernels import fluid_transfer as transfer
from softkit.fluid_pool import BAND, CHUNK, Grid, Particles
from softkit.fluid_tables import half_plane
from softkit.stages import Stage
from softkit.threads import get_threads

if TYPE_CHECKING:
    from softkit.fluid import Fluid
    from softkit.world import World

REACH = 2.2
"""Kernel radius and size of a pressure cell, in spacings: lattices of either kind have density 1 within 1
%."""
PASSES = 2
"""Fluid substeps in a step (or the world's substeps, where those are fewer)."""
SWEEPS = 1
"""Density iterations in a fluid substep: the grid's pressure does the rest."""
TOLERANCE, MOST = 1e-2, 20
"""When the pressure solve ends: relative residual, iterations. A step's first one starts from none, the
others from the last pressure."""
TENSION = 1000.0
"""Surface tension over density in spacing^3 / s^2 at `surface_tension` 1."""
DRAG_EACH, MOST_DRAGS = 60.0, 9
"""A thick fluid's velocities are evened out once more for each 60 1/s of viscosity: one pass reaches one
kernel."""
SERIAL_BELOW = 1500

SKIN = [
    ("radius", "f8"),
    ("friction", "f8"),
    ("elasticity", "f8"),
    ("depenetration", "f8"),
    ("slow", "f8"),
    ("rule", "i8"),
    ("group", "i8"),
    ("categories", "i8"),
    ("mask", "i8"),
]
KIND = np.dtype(SKIN + [("left", "f8"), ("top", "f8"), ("right", "f8"), ("bottom", "f8")])
START = np.dtype([("x", "f8"), ("y", "f8"), ("c", "f8"), ("s", "f8")])
RULES = {"product": 0, "own": 1, "geometric": 2, "maximum": 3}
FAR = 1e15


class FluidStage(Stage):
    """Steps every fluid of a world as one pool, so that fluids push each other."""

    order = 40

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.objects: list[Fluid] = []
        self.particles, self.grid = Particles(), Grid()
        self.fill_table, self.push_table = half_plane()
        self._starts, self._colors = np.zeros(1, START), np.zeros((0, 4), np.float32)
        self._first: list[int] = []
        self._done = 0
        self.iterations = 0
        self._fresh = True
        self.objects_changed()

    # ------------------------------------------------------------ settings

    def objects_changed(self) -> None:
        count = max(1, len(self.objects))
        self._kinds = np.zeros(count, KIND)
        self._volume, self._cells, self._mass, self._cell_mass, self._weight, self._keep, self._settle = (
            np.ones(count, np.float32) for _ in range(7)
        )
        self._share = np.ones(2 * count, np.float32)
        self._bounds = np.array([-FAR, -FAR, FAR, FAR])
        self.reach = REACH * max((fluid._spacing for fluid in self.objects), default=1.0)
        for i, fluid in enumerate(self.objects):
            row = self._kinds[i]
            row["radius"], row["friction"], row["elasticity"] = (
                fluid._radius,
                fluid._friction,
                fluid._elasticity,
            )
            row["rule"] = RULES[fluid._friction_rule]
            row["group"] = fluid._filter.group & 0x7FFFFFFFFFFFFFFF
            row["categories"], row["mask"] = (
                fluid._filter.categories & 0xFFFFFFFF,
                fluid._filter.mask & 0xFFFFFFFF,
            )
            left, top, width, height = fluid._bounds or (-FAR, -FAR, 2 * FAR, 2 * FAR)
            row["left"], row["top"], row["right"], row["bottom"] = left, top, left + width, top + height
            self._volume[i] = fluid._spacing**2
            self._mass[i] = fluid._rest_density * fluid._spacing**2
            self._weight[i] = 1 / (fluid._rest_density * fluid._spacing**2)
            self._share[2 * i + 1] = fluid._rest_density
        if self.objects:
            # walls of the grid: the box round all bounds; each fluid keeps inside its own by contact
            k = self._kinds
            self._bounds[:] = k["left"].min(), k["top"].min(), k["right"].max(), k["bottom"].max()
        self._fresh = True

    def object_changed(self, obj: Fluid) -> None:
        self.objects_changed()

    # ------------------------------------------------------------ the step

    @property
    def threads(self) -> int:
        """Threads for this many particles."""
        return get_threads() if self.particles.n >= SERIAL_BELOW else 1

    def prepare(self) -> None:
        """Pour and drain before anything is counted."""
        for fluid in self.objects:
            fluid._flow(self.world.step)

    def begin(self, dt: float) -> None:
        world, fields = self.world, self.world.fields
        for fluid in self.objects:
            fluid._previous[:] = fluid._x
            if len(fields) and fluid.count:
                gravity = world.gravity
                fields.apply(fluid, fluid._x, fluid._v, fluid._w, dt, world.time, None, gravity, True)
        self._done = 0
        self._passes = min(PASSES, world.substeps)
        self._load()
        bodies = len(world.colliders.bodies)
        if len(self._starts) < max(1, bodies):
            self._starts = np.zeros(bodies + bodies // 2 + 1, START)
        contact.remember_poses(world.colliders.table, bodies, self._starts.view(np.uint8))
        self.particles.touches["shape"][: self.particles.n] = -1
        self.particles.touches["impulse"][: self.particles.n] = 0.0

    def _load(self) -> None:
        """All fluids' particles into the pool, as floats from the window's corner."""
        p, grid = self.particles, self.grid
        self._first, total = [], 0
        for fluid in self.objects:
            self._first.append(total)
            total += fluid.count
        p.reserve(total)
        if not total:
            return
        boxes = [fluid._x for fluid in self.objects if fluid.count]
        low = np.min([x.min(axis=0) for x in boxes], axis=0)
        high = np.max([x.max(axis=0) for x in boxes], axis=0)
        self._fresh = grid.cover(low, high, self.reach) or self._fresh
        ox, oy = grid.corner
        for i, fluid in enumerate(self.objects):
            motion.load(
                fluid._x,
                fluid._v,
                fluid.count,
                self._first[i],
                ox,
                oy,
                i,
                p.x,
                p.y,
                p.vx,
                p.vy,
                p.kind,
                p.place,
            )
        self._cells[:] = self._volume / np.float32(grid.cell**2)
        self._cell_mass[:] = self._mass / np.float32(grid.cell**2)
        self._sort()
        # a step starts from no pressure, so that it follows from what a snapshot keeps; its passes go on from
        # one another
        grid.q[:] = 0.0

    def _sort(self) -> None:
        p, grid = self.particles, self.grid
        p.sort(1 / grid.cell, grid.nx, grid.ny, grid.start)
        for table, out in (
            (self._volume, p.volume),
            (self._cells, p.cells),
            (self._mass, p.mass),
            (self._cell_mass, p.cell_mass),
            (self._weight, p.weight),
        ):
            motion.by_kind(p.kind, p.n, table, out)

    def substep(self, h: float, fraction: float, time: float) -> None:
        k = round(fraction * self.world.substeps)
        if not self.particles.n or k * self._passes // self.world.substeps == self._done:
            return
        self._done += 1
        self._pass(self.world.step / self._passes, h)

    def _pass(self, h: float, world_h: float) -> None:
        """One fluid substep of h seconds."""
        p, threads = self.particles, self.threads
        for i, fluid in enumerate(self.objects):
            self._keep[i] = motion.left_after(fluid._damping, h)
            self._share[2 * i] = 1 - motion.left_after(fluid._viscosity, h)
            self._settle[i] = fluid._settling * h
        gx, gy = self.world.gravity
        slow2 = float(np.hypot(gx, gy)) * self.reach
        motion.pull(p.vx, p.vy, p.kind, p.n, self._keep, self._settle, slow2, gx * h, gy * h)
        self._press(h, world_h, threads)
        cap = min(4 * self.grid.cell / h, self.world.max_speed)
        self.world.health.speeds_capped += motion.advance(
            p.x, p.y, p.vx, p.vy, p.x0, p.y0, p.n, h, cap, p.counts, CHUNK, threads
        )
        self._contacts(h, world_h, True, threads)
        self._relax(h, threads)
        self._contacts(h, world_h, False, threads)

    def _press(self, h: float, world_h: float, threads: int) -> None:
        """The grid's pressure: particles to faces, solve, differences back."""
        p, g = self.particles, self.grid
        inverse = 1 / g.cell
        np.take(g.start, g.rows, out=g.bands)
        strays = transfer.to_grid(
            p.x,
            p.y,
            p.vx,
            p.vy,
            p.cells,
            p.cell_mass,
            p.n,
            g.bands,
            len(g.bands) - 1,
            BAND,
            inverse,
            g.nx,
            g.ny,
            g.fill,
            g.u,
            g.v,
            g.strays,
            threads,
        )
        if strays:
            g.bands[0], g.bands[1] = 0, p.n
            transfer.to_grid(
                p.x,
                p.y,
                p.vx,
                p.vy,
                p.cells,
                p.cell_mass,
                p.n,
                g.bands,
                1,
                g.ny,
                inverse,
                g.nx,
                g.ny,
                g.fill,
                g.u,
                g.v,
                g.strays,
                1,
            )
        bodies = self._draw(0.5 * (h + world_h))
        transfer.classify(g.fill, g.solid, g.open_u, g.open_v, g.nx, g.ny, 0.5, g.wet)
        tension = (
            max(fluid._surface_tension * fluid._spacing**3 for fluid in self.objects)
            * TENSION
            * h
            / g.cell**3
        )
        transfer.curve(g.fill, g.solid, g.wet, g.nx, g.ny, tension, g.p, g.surface)
        transfer.assemble(
            g.fill,
            g.solid,
            g.wet,
            g.u,
            g.v,
            g.open_u,
            g.open_v,
            g.wall_u,
            g.wall_v,
            g.nx,
            g.ny,
            0.2 * g.cell / h,
            0.5,
            g.face_u,
            g.face_v,
            g.link_u,
            g.link_v,
            g.air,
            g.surface,
            g.right,
        )
        colliders = self.world.colliders
        ox, oy = g.corner
        count = 0
        g.need_bodies(len(colliders.bodies))
        if bodies:
            count = solids.couple(
                colliders.table,
                ox,
                oy,
                g.cell,
                g.nx,
                g.ny,
                g.wet,
                g.solid,
                g.owner,
                g.cut_u,
                g.cut_v,
                g.open_u,
                g.open_v,
                bodies,
                *g.faces,
                g.slot,
                g.bodies,
                g.body_start,
                g.fill_at,
                g.at,
                g.direct,
                g.jx,
                g.jy,
                g.jt,
                g.inverse,
            )
        self.iterations, self.residual = solver.solve(
            g.sizes,
            len(g.sizes),
            g.link_u,
            g.link_v,
            g.air,
            g.diagonal,
            g.level_x,
            g.level_b,
            g.q,
            g.right,
            g.p,
            g.ap,
            TOLERANCE,
            MOST,
            count,
            g.body_start,
            g.at,
            g.jx,
            g.jy,
            g.jt,
            g.inverse,
        )
        np.add(g.q, g.surface, out=g.q)
        transfer.push(
            g.wet,
            g.face_u,
            g.face_v,
            g.q,
            g.open_u,
            g.open_v,
            g.u,
            g.v,
            g.nx,
            g.ny,
            g.du,
            g.dv,
            g.known_u,
            g.known_v,
        )
        given = (0.0, 0.0)
        if count:
            given = solids.push_bodies(
                colliders.table,
                g.cell,
                world_h,
                g.nx,
                count,
                g.bodies,
                g.body_start,
                g.at,
                g.direct,
                g.jx,
                g.jy,
                g.jt,
                g.q,
                g.phi,
                g.wet,
                g.open_u,
                g.open_v,
            )
        closed = not solids.touches_still(
            colliders.table, g.wet, g.open_u, g.open_v, g.owner, bodies, g.faces[1], g.nx, g.ny
        )
        before = motion.momentum(p.vx, p.vy, p.mass, p.n) if closed else None
        swirl = max(fluid._vorticity for fluid in self.objects)
        if swirl:
            motion.confine(g.u, g.v, g.wet, g.nx, g.ny, swirl * h, g.curl, g.du, g.dv)
        transfer.from_grid(p.x, p.y, p.n, inverse, g.nx, g.ny, g.du, g.dv, p.vx, p.vy, CHUNK, threads)
        if before is not None and before[0] > 0:
            # nothing but bodies in touch: what they got is what the liquid lost, to rounding
            after = motion.momentum(p.vx, p.vy, p.mass, p.n)
            motion.shift(
                p.vx,
                p.vy,
                p.n,
                (before[1] - given[0] - after[1]) / before[0],
                (before[2] - given[1] - after[2]) / before[0],
            )

    def _draw(self, lead: float) -> int:
        """Shapes into the grid; how many faces belong to dynamic bodies."""
        g, first = self.grid, self._kinds[0]
        ox, oy = g.corner
        while True:
            faces = solids.draw(
                self.world.colliders.table,
                self._bounds,
                ox,
                oy,
                g.cell,
                lead,
                g.nx,
                g.ny,
                int(first["group"]),
                int(first["categories"]),
                int(first["mask"]),
                g.fill,
                g.phi,
                g.owner,
                g.solid,
                g.cut_u,
                g.cut_v,
                g.cut_owner_u,
                g.cut_owner_v,
                g.open_u,
                g.open_v,
                g.wall_u,
                g.wall_v,
                *g.faces,
            )
            if not g.need_faces(faces):
                return faces

    def _contacts(self, h: float, world_h: float, respond: bool, threads: int) -> None:
        """Continuous contact from (x0, y0) to (x, y); then the next path begins here."""
        p, colliders = self.particles, self.world.colliders
        ox, oy = self.grid.corner
        self._kinds["slow"] = 4.0 * float(np.hypot(*self.world.gravity)) * h
        squeezed = contact.hold_out(
            colliders.table,
            self._starts.view(np.uint8),
            self._kinds.view(np.uint8),
            p.kind,
            p.place,
            p.weight,
            p.x,
            p.y,
            p.x0,
            p.y0,
            p.vx,
            p.vy,
            p.n,
            p.touches.view(np.uint8),
            p.near,
            ox,
            oy,
            h,
            world_h,
            respond,
            p.counts,
            CHUNK,
            threads,
        )
        self.world.health.squeezed += squeezed
        contact.remember_poses(colliders.table, len(colliders.bodies), self._starts.view(np.uint8))

    def _relax(self, h: float, threads: int) -> None:
        """Neighbours, density, displacements, viscosity and tension."""
        p, g = self.particles, self.grid
        ox, oy = g.corner
        self._sort()
        p.find_pairs(1 / g.cell, self.reach, g.nx, g.ny, g.start, threads)
        contact.wall_terms(
            self.world.colliders.table,
            self._kinds.view(np.uint8),
            p.kind,
            p.x,
            p.y,
            p.n,
            ox,
            oy,
            self.reach,
            self.fill_table,
            self.push_table,
            p.wall,
            CHUNK,
            threads,
        )
        np.copyto(p.x0[: p.n], p.x[: p.n])
        np.copyto(p.y0[: p.n], p.y[: p.n])
        lists = p.begin, p.count, p.pairs
        for _ in range(SWEEPS):
            density.density(
                p.x, p.y, p.volume, p.wall, p.n, self.reach, *lists, 0.7, p.density, p.scale, CHUNK, threads
            )
            density.move(
                p.x,
                p.y,
                p.volume,
                p.weight,
                p.wall,
                p.n,
                self.reach,
                *lists,
                p.scale,
                0.3,
                0.11 * self.reach,
                p.spare_a,
                p.spare_b,
                CHUNK,
                threads,
            )
            p.x, p.spare_a = p.spare_a, p.x
            p.y, p.spare_b = p.spare_b, p.y
        thick = max(fluid._viscosity for fluid in self.objects)
        for _ in range(1 + min(MOST_DRAGS, int(thick / DRAG_EACH))):
            density.drag(
                p.x,
                p.y,
                p.vx,
                p.vy,
                p.mass,
                p.kind,
                self._share,
                p.n,
                self.reach,
                *lists,
                p.spare_a,
                p.spare_b,
                CHUNK,
                threads,
            )
            p.vx, p.spare_a = p.spare_a, p.vx
            p.vy, p.spare_b = p.spare_b, p.vy

    def end(self, h: float) -> None:
        p = self.particles
        ox, oy = self.grid.corner
        for i, fluid in enumerate(self.objects):
            if fluid.count:
                motion.store(
                    p.x,
                    p.y,
                    p.vx,
                    p.vy,
                    p.density,
                    p.kind,
                    p.place,
                    p.n,
                    i,
                    self._first[i],
                    ox,
                    oy,
                    fluid._x,
                    fluid._v,
                    fluid._density,
                    fluid._rest_density,
                )
                if fluid._color_mixing:
                    self._blend(i, fluid)

    def _blend(self, i: int, fluid: Fluid) -> None:
        p = self.particles
        if len(self._colors) < fluid.count:
            self._colors = np.zeros((fluid._room, 4), np.float32)
        self._colors[: fluid.count] = fluid._color
        share = 1 - motion.left_after(fluid._color_mixing, self.world.step)
        motion.blend(
            self._colors,
            p.place,
            p.begin,
            p.count,
            p.pairs,
            p.kind,
            p.n,
            i,
            self._first[i],
            share,
            fluid._color,
        )

    def touches(self) -> list[tuple[Fluid, np.ndarray]]:
        out = []
        for i, fluid in enumerate(self.objects):
            if i < len(self._first) and self._first[i] + fluid.count <= self.particles.n:
                records = self.particles.touches[self._first[i] : self._first[i] + fluid.count]
                if (records["shape"] >= 0).any():
                    out.append((fluid, records))
        return out
