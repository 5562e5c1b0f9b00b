"""Steps all sheets of a world: builds what the kernels read and calls them in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit import cloth_tear
from softkit._kernels import cloth_air, cloth_contact, cloth_lines, cloth_mesh, cloth_ties
from softkit.cloth_pile import Pile
from softkit.coupling import in_space
from softkit.objects import FRICTION_RULES
from softkit.solids import Solid, rows_of
from softkit.stages import Stage
from softkit.threads import get_threads

if TYPE_CHECKING:
    from softkit.cloth import Cloth
    from softkit.world import World

SOLID_BYTES, TOUCH_BYTES, TOUCH_SLOTS = cloth_contact.sizes()
TOUCH = np.dtype([("shape", "i8"), ("nx", "f8"), ("ny", "f8"), ("impulse", "f8")])
SKIN = np.dtype(
    [(n, "f8") for n in "radius friction elasticity depenetration slow".split()]
    + [(n, "i8") for n in "rule group categories mask".split()]
)
LIVE_BODIES = 64
"""Most dynamic bodies that can be pushed by one sheet at once."""
FAR = 1e30
SERIAL_BELOW = 1500
"""Particles below which a second thread does not pay: a pass is then shorter than waking the thread."""


def _threads(count: int) -> int:
    return get_threads() if count >= SERIAL_BELOW else 1


class ClothStage(Stage):
    """All sheets of one world."""

    order = 20

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._version = -1
        self._solids = np.zeros((0, 43))
        self._colliders = np.zeros(SOLID_BYTES * 256, np.uint8)
        self._slots = np.zeros(LIVE_BODIES + 1, np.int64)
        self._box = np.zeros(6)
        self._totals = np.zeros(16)
        self._pile = Pile()
        self._bodies: list | None = None
        self._splits: dict[Cloth, np.ndarray] = {}
        self._collider_version = -1

    def objects_changed(self) -> None:
        self._splits = {}
        self._collider_version = -1

    # ------------------------------------------------------------ before the first substep

    def prepare(self) -> None:
        space = self.world.space
        for cloth in self.objects:
            for i in [i for i, tie in cloth._anchors.items() if not in_space(tie.body, space)]:
                del cloth._anchors[i]
                self.world.health.bodies_lost += 1
                cloth._weigh()
            cloth._ready()
            for tie in cloth._anchors.values():
                self.world.colliders.require(tie.body)

    def begin(self, dt: float) -> None:
        fresh = self._collider_version != self.world.colliders.version
        if fresh:
            self._mirror_depths()
        for cloth in self.objects:
            if cloth._stale or fresh:
                self._prepare(cloth)
            cloth._prev[:] = cloth._p
            self._begin_ties(cloth)
            self._begin_contacts(cloth)
        self._pile.take([cloth for cloth in self.objects if cloth._self_collision])
        self._collider_version = self.world.colliders.version
        if fresh:
            self._bodies = list(self.world.colliders.bodies)

    def _mirror_depths(self) -> None:
        """How deep each shape is for 3-D objects, and which are round."""
        colliders = self.world.colliders
        low, high = colliders.shape_depth or (-FAR, FAR)
        shapes = colliders.shapes
        self._depths = np.zeros((max(1, len(shapes)), 2))
        self._depths[:] = low, high
        self._rounds = np.zeros(max(1, len(shapes)), np.uint8)
        index = {shape: i for i, shape in enumerate(shapes)} if colliders.depths or colliders.rounds else {}
        for shape, depth in colliders.depths.items():
            if shape in index:
                self._depths[index[shape]] = depth
        for shape in colliders.rounds:
            if shape in index:
                self._rounds[index[shape]] = 1

    def _prepare(self, cloth: Cloth) -> None:
        """Rebuild what depends on pins, ties, settings and the list of bodies."""
        colliders = self.world.colliders
        cloth._pin_rows = np.array(sorted(cloth._pins), np.int64)
        ties = sorted(cloth._anchors.items())
        bodies = [tie.body for _, tie in ties]
        cloth._tie_rows = np.array(
            [(i, colliders.index[tie.body], bodies.count(tie.body)) for i, tie in ties], np.int64
        ).reshape(-1, 3)
        cloth._tie_local = np.array(
            [
                (t.local[0] - c[0], t.local[1] - c[1], cloth._target[i, 2])
                for i, t in ties
                for c in [t.body.center_of_gravity]
            ]
        ).reshape(-1, 3)
        cloth._tie_moved = np.zeros((len(ties), 2))
        cloth_tear.anchors(cloth)
        if not hasattr(cloth, "_scratch"):
            rows, columns = cloth._grid or (1, 1)
            cloth._scratch = np.zeros(cloth_lines.lines_work(rows, columns) if cloth._grid else 1)
            cloth._sums = np.zeros((max(1, len(cloth._blocks.rows)), 4 * LIVE_BODIES))
            cloth._force = np.zeros((3, len(cloth._faces)))
            cloth._points, cloth._speeds = np.zeros((cloth.count, 3)), np.zeros((cloth.count, 3))
            cloth._air, cloth._skin = np.zeros((cloth.count, 3)), np.zeros(1, SKIN)
            n = cloth.count
            cloth._grip_stiff = np.zeros((4, n))
            cloth._grip_before, cloth._grip_list = np.zeros((4, n)), np.zeros(n, np.int64)
            cloth._grip_heavy, cloth._pressed = np.zeros(n), np.zeros(n)
            cloth._torn_list = np.zeros(len(cloth._edges), np.int32)
        skin = cloth._skin[0]
        skin["radius"], skin["friction"], skin["elasticity"] = (
            cloth._radius,
            cloth._friction,
            cloth._elasticity,
        )
        skin["depenetration"] = self.world.max_depenetration_speed
        skin["rule"] = FRICTION_RULES.index(cloth._friction_rule)
        skin["group"] = cloth._filter.group & 0x7FFFFFFFFFFFFFFF
        skin["categories"], skin["mask"] = (
            cloth._filter.categories & 0xFFFFFFFF,
            cloth._filter.mask & 0xFFFFFFFF,
        )
        cloth._stale = False

    def object_changed(self, obj: Cloth) -> None:
        obj._stale = True

    def _begin_ties(self, cloth: Cloth) -> None:
        cloth._pin_start = np.ascontiguousarray(cloth._p[:, cloth._pin_rows].T)
        cloth._pin_goal = np.ascontiguousarray(cloth._target[cloth._pin_rows])
        cloth._tie_live = False
        if len(cloth._tie_rows):
            table = self.world.colliders.table
            cloth_ties.weigh_ties(
                table, cloth._tie_rows, cloth._tie_local, cloth._m, cloth.mass, cloth._w, cloth._share
            )
            cloth._tie_live = bool((cloth._w[cloth._tie_rows[:, 0]] > 0.0).any())

    def _begin_contacts(self, cloth: Cloth) -> None:
        """Contacts of the last step say over how many each body's mass is split in the first substep."""
        colliders = self.world.colliders
        splits = self._splits.get(cloth)
        if splits is None or len(splits) < len(colliders.bodies):
            splits = self._splits[cloth] = np.zeros(max(1, len(colliders.bodies)))
        splits[:] = 0.0
        if self._bodies is not None and self._bodies != colliders.bodies:
            cloth._grip[:] = 0.0
        cloth._gripped = bool((cloth._grip[0] > 0.0).any())
        if cloth._touched:
            shape = cloth._touch["shape"]
            shape = shape[(shape >= 0) & (shape < len(colliders.shapes))]
            splits += np.bincount(colliders._shape_body[shape], minlength=len(splits))[: len(splits)]
            cloth._touch["shape"] = -1
            cloth._touch["impulse"] = 0.0
            cloth._touched = False

    # ------------------------------------------------------------ a substep

    def substep(self, h: float, fraction: float, time: float) -> None:
        bodies = self.world.colliders
        solids = [obj for obj in self.world._objects if isinstance(obj, Solid)]
        self._solids = rows_of(solids, bodies, fraction, 1.0 / self.world.substeps)
        for cloth in self.objects:
            threads = _threads(cloth.count)
            self._feel_fields(cloth, h, time, threads)
            self._predict(cloth, h, fraction, threads)
            self._solve(cloth, h, threads)
        for again in range(2 if self._pile.sheets else 0):
            self._pile.part(h, _threads(self._pile.count))
            for cloth in self._pile.sheets if again == 0 else ():
                self._solve_sheet(cloth, h, _threads(cloth.count))
        for cloth in self.objects:
            threads = _threads(cloth.count)
            self._touch(cloth, h, threads)
            cloth._pressed[cloth._grip_list[: cloth._grips]] = 0.0
            if len(cloth._tie_rows):
                cloth_ties.move_ties(bodies.table, cloth._p, cloth._tie_rows, cloth._tie_local)
            capped = cloth_mesh.finish(cloth._p, cloth._vel, cloth._old, h, self.world.max_speed, threads)
            self.world.health.speeds_capped += capped

    def _feel_fields(self, cloth: Cloth, h: float, time: float, threads: int) -> None:
        """Accelerations and drags change velocities; flows press on triangles."""
        fields = self.world.fields
        if not fields.reaches(cloth):
            return
        points, speeds = cloth._points, cloth._speeds
        np.copyto(points, cloth._x)
        plan = fields._plan(cloth)
        flows = sum(field.kind == "flow" for field in plan.fields)
        if len(plan.fields) > flows:
            np.copyto(speeds, cloth._v)
            fields.push(cloth, points, speeds, cloth._w, h, time, threads, self.world.gravity, True)
            np.copyto(cloth._v, speeds)
        if flows and cloth._air_density > 0.0:
            air = cloth._air
            air[:] = 0.0
            fields.air(cloth, points, time, air, threads)
            half = 0.5 * cloth._air_density
            cloth_air.blow(
                cloth._p,
                cloth._vel,
                cloth._w,
                air,
                cloth._live_faces,
                cloth._starts,
                cloth._around,
                half * cloth._drag,
                half * cloth._lift,
                cloth._density,
                h,
                cloth._force,
                threads,
            )

    def _predict(self, cloth: Cloth, h: float, fraction: float, threads: int) -> None:
        gx, gy = self.world.gravity
        cloth_mesh.predict(
            cloth._p, cloth._vel, cloth._old, cloth._held, gx, gy, 0.0, h, cloth._damping, threads
        )
        if len(cloth._pin_rows):
            cloth_ties.move_pins(cloth._p, cloth._pin_rows, cloth._pin_start, cloth._pin_goal, fraction)
        if len(cloth._tie_rows):
            cloth_ties.move_ties(self.world.colliders.table, cloth._p, cloth._tie_rows, cloth._tie_local)

    def _solve(self, cloth: Cloth, h: float, threads: int) -> None:
        cloth._heavy, cloth._grips = cloth._w, 0
        if cloth._gripped:
            cloth._grips = self._take_grips(cloth)
        self._solve_sheet(cloth, h, threads)
        if cloth._gripped:
            if cloth._grips:
                self._press(cloth, h)
            cloth._grip[:] = 0.0
        if cloth._tie_live:
            table = self.world.colliders.table
            cloth_ties.pull_bodies(table, cloth._p, cloth._tie_rows, cloth._tie_local, cloth._tie_moved)
            cloth_ties.move_ties(table, cloth._p, cloth._tie_rows, cloth._tie_local)

    def _solve_sheet(self, cloth: Cloth, h: float, threads: int) -> None:
        if cloth._grid is not None:
            self._solve_grid(cloth, h, threads)
        else:
            self._solve_mesh(cloth, h, threads)

    def _take_grips(self, cloth: Cloth) -> int:
        """Give particles that bodies press on the bodies' weight."""
        totals = self._totals
        if len(totals) < len(self.world.colliders.bodies):
            totals = self._totals = np.zeros(2 * len(self.world.colliders.bodies))
        count = cloth_ties.take_grips(
            self.world.colliders.table,
            cloth._p,
            cloth._w,
            cloth._grip,
            cloth._owner,
            cloth._grip_list,
            cloth._grip_before,
            cloth._grip_heavy,
            cloth._grip_stiff,
            totals,
        )
        if count:
            cloth._heavy = cloth._grip_heavy
        return count

    def _press(self, cloth: Cloth, h: float) -> None:
        """Hand the bodies what the sheet's own constraints did to the particles they press on."""
        gravity = max(600.0, float(np.hypot(*self.world.gravity)))
        cloth_ties.press_bodies(
            self.world.colliders.table,
            cloth._p,
            cloth._old,
            cloth._owner,
            cloth._grip_list,
            cloth._grips,
            cloth._grip_before,
            cloth._grip_stiff,
            cloth._pressed,
            0.25 * gravity * h * h,
            self.world.max_depenetration_speed * h,
        )

    def _hold_back(self, cloth: Cloth, threads: int) -> None:
        """Long-range attachments, as long as what the load may stretch the sheet to."""
        if cloth._reach_to[0, 0] < 0 and not len(cloth._pins) and not len(cloth._anchors):
            return
        weight = cloth.mass * float(np.hypot(*self.world.gravity))
        slack = 1.0 + 4.0 * cloth._stretch_compliance * weight / cloth.spacing
        reached = cloth._p, cloth._given, cloth._held, cloth._reach_to, cloth._reach_limit, cloth._share
        cloth_mesh.reach(*reached, slack, cloth._tie_live, threads)
        if cloth._tie_live:
            cloth_mesh.answer(
                cloth._p, cloth._given, cloth._heavy, cloth._held, cloth._reach_to, cloth._share
            )

    def _solve_grid(self, cloth: Cloth, h: float, threads: int) -> None:
        rows, columns = cloth._grid
        across, along = cloth._steps
        live, p, w = cloth._live, cloth._p, cloth._w
        grip, grips = cloth._grip_stiff, cloth._grips > 0
        inverse = 1.0 / (h * h)
        fall, rise = cloth._diagonals
        shear = cloth._shear_compliance * inverse
        cloth_lines.solve_shear(p, cloth._heavy, live[2:], rows, columns, fall, rise, shear, threads)
        self._hold_back(cloth, threads)
        stretch = cloth._stretch_compliance * inverse
        bends = cloth._bend_compliance is not None
        bend = (cloth._bend_compliance or 0.0) * inverse
        for down, step, other in ((False, across, along), (True, along, across)):
            soft = bend * step**3 / other
            cloth_lines.solve_lines(
                p,
                w,
                live[int(down)],
                grip,
                grips,
                rows,
                columns,
                down,
                step,
                stretch,
                soft,
                bends,
                cloth._scratch,
                threads,
            )

    def _solve_mesh(self, cloth: Cloth, h: float, threads: int) -> None:
        inverse = 1.0 / (h * h)
        p, w = cloth._p, cloth._heavy
        cloth._lam[:] = 0.0
        soft = cloth._stretch_compliance * inverse
        for _ in range(2):
            cloth_mesh.solve_edges(
                p,
                w,
                cloth._batch_edges,
                cloth._batch_rest,
                cloth._batch_live,
                cloth._lam,
                cloth._edge_starts,
                soft,
                threads,
            )
            self._hold_back(cloth, threads)
        if cloth._bend_compliance is not None and len(cloth._hinges):
            cloth_mesh.solve_bends(
                p,
                w,
                cloth._hinges,
                cloth._hinge_weights,
                cloth._hinge_rest,
                cloth._hinge_soft,
                cloth._hinge_starts,
                cloth._bend_compliance * inverse,
                threads,
            )
        cloth_mesh.solve_edges(
            p,
            w,
            cloth._batch_edges,
            cloth._batch_rest,
            cloth._batch_live,
            cloth._lam,
            cloth._edge_starts,
            soft,
            threads,
        )

    def _touch(self, cloth: Cloth, h: float, threads: int) -> None:
        """Contacts with shapes and solids."""
        cloth._gripped = False
        colliders = self.world.colliders
        shapes = len(colliders.shapes)
        if not shapes and not len(self._solids):
            return
        radius = cloth._radius
        cloth_contact.bounds(cloth._p, cloth._old, radius, self._box)
        skin = cloth._skin.view(np.uint8)
        while True:
            count = cloth_contact.take_colliders(
                colliders.table,
                skin,
                shapes,
                self._depths,
                self._rounds,
                self._solids,
                self._box,
                self._splits[cloth],
                self._colliders,
                self._slots,
            )
            if count < len(self._colliders) // SOLID_BYTES:
                break
            self._colliders = np.zeros(2 * len(self._colliders), np.uint8)
        if not count:
            return
        cloth._touched = True
        blocks = cloth._blocks
        cloth_contact.touch(
            self._colliders,
            count,
            cloth._p,
            cloth._old,
            cloth._w,
            cloth._touch.view(np.uint8),
            skin,
            h,
            radius,
            blocks.rows,
            blocks.colors,
            blocks.particles,
            blocks.faces,
            cloth._sums,
            self._slots,
            colliders.table,
            self._splits[cloth],
            cloth._grip,
            cloth._owner,
            cloth._pressed,
            threads,
        )
        cloth._gripped = self._slots[-1] > 0

    # ------------------------------------------------------------ after the last substep

    def end(self, h: float) -> None:
        for cloth in self.objects:
            cloth._target[cloth._pin_rows] = cloth._pin_goal

    def events(self) -> None:
        """Break what is stretched too far."""
        for cloth in list(self.objects):
            if cloth._tear_strain is None:
                continue
            count = cloth_mesh.find_torn(
                cloth._p,
                cloth._edges,
                cloth._edge_rest,
                cloth._edge_live,
                cloth._tear_strain,
                cloth._torn_list,
            )
            if count:
                cloth_tear.tear_edges(cloth, cloth._torn_list[:count].copy())

    def touches(self) -> list[tuple[Cloth, np.ndarray]]:
        return [(cloth, cloth._touch) for cloth in self.objects if cloth._touched]
