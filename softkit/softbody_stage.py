"""Steps all soft bodies of a world together: records for the kernel, islands, 3-D contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit._kernels import softbodies as kernel
from softkit.coupling import in_space
from softkit.objects import FRICTION_RULES
from softkit.softbody_space import SpaceContacts, Surface
from softkit.stages import Stage
from softkit.threads import get_threads

if TYPE_CHECKING:
    from softkit.softbody import SoftBody
    from softkit.world import World

P, INT, F = "i8", "i8", "f8"
ARRAYS = (
    "x x0 y v w m q previous target bounce pose links_at rest soft lam ring cells size faces grad edges "
    "exempt colors shades touch hold"
).split()
SOFT = np.dtype(
    [(n, P) for n in ARRAYS]
    + [(n, INT) for n in "dim count links ring_n cells_n faces_n edges_n exempt_n".split()]
    + [(n, INT) for n in "color_n shade_n passes held pivot touched capped".split()]
    + [(n, F) for n in "whole scale swing part most creep yield damping calm max_speed extent".split()]
    + [(n, F) for n in "hit_e hit_x hit_y hit_nx hit_ny".split()]
    + [(n, INT) for n in "hits hit_body".split()]
    + [(n, F) for n in "radius friction elasticity depenetration slow".split()]
    + [(n, INT) for n in "rule group categories mask".split()]
)
TIE = np.dtype([(n, INT) for n in "soft node body".split()] + [(n, F) for n in "lx ly lz px py".split()])
BOND = np.dtype([(n, INT) for n in "soft node other far x v w stride dim".split()])
TOUCH = np.dtype([("shape", INT), ("nx", F), ("ny", F), ("impulse", F)])
HOLD = np.dtype(
    [(n, INT) for n in "shape seen rebound".split()] + [(n, F) for n in "nx ny ease lam speed".split()]
)
SLOTS = 3
SERIAL_BELOW = 1500
"""Particles in all below which a second thread does not pay."""
LEAST_PASSES, MOST_PASSES, RATIO = 2, 40, 25.0
"""Passes over the constraints in a substep: more where bodies that weigh RATIO times as much hang on a soft
one."""
GROWTH = 1.0
"""Part of its size that a body may grow or shrink by in a second when its pressure changes."""


class SoftBodyStage(Stage):
    """All soft bodies of one world."""

    order = 30

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._rebuild, self._collider_version = True, -1
        self._dirty: set[SoftBody] = set()
        self._space = SpaceContacts(world)

    def object_changed(self, obj: SoftBody) -> None:
        self._dirty.add(obj)

    def objects_changed(self) -> None:
        self._rebuild = True

    # ------------------------------------------------------------ records

    def prepare(self) -> None:
        """Let go of bodies that left the space, and have the others mirrored."""
        for soft in self.objects:
            for i in [i for i, tie in soft._anchors.items() if not in_space(tie.body, self.world.space)]:
                del soft._anchors[i]
                self.world.health.bodies_lost += 1
                soft._weigh()
            for tie in soft._anchors.values():
                self.world.colliders.require(tie.body)

    def _write_row(self, row: np.void, soft: SoftBody) -> None:
        for name in ARRAYS:
            row[name] = getattr(soft, f"_{name}").ctypes.data
        h = self.world.step / self.world.substeps
        row["dim"], row["count"], row["links"] = soft.dimensions, soft.count, len(soft._links_at)
        for name in ("ring", "cells", "faces", "edges", "exempt"):
            row[name + "_n"] = len(getattr(soft, f"_{name}"))
        row["color_n"], row["shade_n"] = len(soft._colors) - 1, len(soft._shades) - 1
        row["held"], row["pivot"] = len(soft._held), soft._held[0] if soft._held else -1
        row["touched"] = (soft._touch["shape"] >= 0).any()
        row["whole"] = soft._rest_whole if soft._layout.whole else 0.0
        row["scale"], row["extent"] = soft._scale, soft._extent
        part = soft._stiffness
        if 0.0 < part < 1.0:
            # 1 / (1 + a / h^2) with a the compliance per mass of a swing at 10 s / (1 - s) Hz
            swing = 62.83185307179586 * part / (1.0 - part)
            row["swing"] = swing * swing
            part = swing * swing * h * h / (1.0 + swing * swing * h * h)
        row["part"] = part
        row["most"] = -1.0 if soft._max_deviation is None else soft._max_deviation
        row["creep"], row["yield"] = min(1.0, soft._plasticity * h), soft._plastic_yield
        row["damping"], row["calm"], row["max_speed"] = (
            soft._damping,
            soft._internal_damping,
            self.world.max_speed,
        )
        row["radius"], row["friction"], row["elasticity"] = soft._radius, soft._friction, soft._elasticity
        row["depenetration"] = self.world.max_depenetration_speed
        row["slow"] = 2.0 * float(np.hypot(*self.world.gravity)) * h
        row["rule"] = FRICTION_RULES.index(soft._friction_rule)
        row["group"] = soft._filter.group & 0x7FFFFFFFFFFFFFFF
        row["categories"], row["mask"] = soft._filter.categories & 0xFFFFFFFF, soft._filter.mask & 0xFFFFFFFF

    def _refresh(self) -> None:
        softs = self.objects
        colliders = self.world.colliders
        fresh = self._collider_version != colliders.version
        settings = (self.world.substeps, self.world.gravity, self.world.max_depenetration_speed)
        if self._rebuild or fresh or settings != self._settings:
            self._dirty.update(softs)
        if self._rebuild:
            self._rows = np.zeros(max(1, len(softs)), SOFT)
            self._bytes = self._rows.view(np.uint8)
            self._solid = [s for s in softs if s.dimensions == 3]
            self._count = sum(s.count for s in softs)
            self._scales = np.array([s._scale for s in softs])
        for i, soft in enumerate(softs):
            if soft in self._dirty:
                self._spare(soft)
                self._write_row(self._rows[i], soft)
        if self._solid and (fresh or self._rebuild):
            self._space.mirror()
            for soft in self._solid:
                if not hasattr(soft, "_surface") or soft._surface.p.shape[1] != soft.count:
                    soft._surface = Surface(soft)
        bonded = any(soft._joins for soft in softs)
        if self._dirty or bonded:
            self._write_ties()
            n = len(softs) + len(colliders.bodies) + 1
            self._parent, self._owner = np.zeros(n, np.int64), np.zeros(n, np.int64)
            self._root = np.zeros(max(1, len(softs)), np.int64)
        self._dirty.clear()
        self._rebuild, self._collider_version, self._settings = False, colliders.version, settings

    _settings: tuple = ()

    def _spare(self, soft: SoftBody) -> None:
        """Particles tied to a body, and those as near as the tie lies deep in it, do not touch it."""
        pairs = []
        for node, tie in soft._anchors.items():
            reach = self.world.colliders.depth_of(tie.body, soft._x[node, :2]) + soft._radius
            if reach >= 0.0:
                away = np.linalg.norm(soft._layout.rest - soft._layout.rest[node], axis=1)
                body = self.world.colliders.index[tie.body]
                pairs += [(int(i), body) for i in np.flatnonzero(away <= reach + soft._radius)]
        soft._exempt = np.array(sorted(set(pairs)), np.int32).reshape(-1, 2)

    def _write_ties(self) -> None:
        colliders, where = self.world.colliders, {soft: i for i, soft in enumerate(self.objects)}
        ties, bonds = [], []
        for i, soft in enumerate(self.objects):
            for node, tie in sorted(soft._anchors.items()):
                cog = tie.body.center_of_gravity
                z = soft._target[node, 2] if soft.dimensions == 3 else 0.0
                lx, ly = tie.local[0] - cog[0], tie.local[1] - cog[1]
                ties.append((i, node, colliders.index[tie.body], lx, ly, z, 0.0, 0.0))
            for node, other, far in sorted(soft.joins, key=lambda join: (join[0], join[1]._serial, join[2])):
                if where.get(other, i) < i or other._world is not self.world:
                    continue
                x, v, w = other._x, other._v, other._w
                bonds.append(
                    (
                        i,
                        node,
                        where.get(other, -1),
                        far,
                        x[far].ctypes.data,
                        v[far].ctypes.data,
                        w[far:].ctypes.data,
                        x.strides[1] // 8,
                        x.shape[1],
                    )
                )
        self._tie, self._bond = np.array(ties or [(0,) * 8], TIE), np.array(bonds or [(0,) * 9], BOND)
        self._tie_count, self._bond_count = len(ties), len(bonds)

    def _find_islands(self, dt: float) -> None:
        colliders, count = self.world.colliders, len(self.objects)
        margin = 4.0 + dt * dt * float(np.hypot(*self.world.gravity))
        margin += 2.0 * dt * colliders.fastest if colliders.moving_leaves else 0.0
        kernel.find_islands(
            self._bytes,
            count,
            colliders.table,
            len(colliders.bodies),
            1.5 * dt,
            margin,
            self._tie.view(np.uint8),
            self._tie_count,
            self._bond.view(np.uint8),
            self._bond_count,
            self._parent,
            self._root,
            self._owner,
        )
        root = self._root[:count]
        self._members = np.argsort(root, kind="stable")
        names, first = np.unique(root[self._members], return_index=True)
        islands = np.zeros((len(names), 8), np.int64)
        islands[:, 0], islands[:, 1], islands[:, 2] = names, first, np.append(first[1:], count)
        self._sort("_tie", self._tie_count, root, names, islands, 3)
        self._sort("_bond", self._bond_count, root, names, islands, 5)
        islands[:, 7] = self._passes(names, root)
        self._islands = islands

    def _sort(
        self, name: str, count: int, root: np.ndarray, names: np.ndarray, out: np.ndarray, k: int
    ) -> None:
        """Ties or bonds of each island side by side."""
        records = getattr(self, name)
        of = root[records["soft"][:count]]
        order = np.argsort(of, kind="stable")
        records[:count] = records[:count][order]
        out[:, k] = np.searchsorted(of[order], names, "left")
        out[:, k + 1] = np.searchsorted(of[order], names, "right")

    def _passes(self, names: np.ndarray, root: np.ndarray) -> np.ndarray:
        """Passes for each island, by the heaviest body that it may move against its lightest soft one."""
        passes = np.full(len(names), LEAST_PASSES)
        colliders = self.world.colliders
        bodies = len(colliders.bodies)
        inverse = colliders._body["im"][:bodies]
        owner = self._owner[:bodies]
        for k in np.flatnonzero(np.isin(names, owner)).tolist():
            heavy = inverse[(owner == names[k]) & (inverse > 0.0)]
            if len(heavy):
                light = min(self.objects[i]._mass for i in np.flatnonzero(root == names[k]))
                passes[k] = min(MOST_PASSES, LEAST_PASSES + int(1.0 / (float(heavy.min()) * light * RATIO)))
        return passes

    # ------------------------------------------------------------ the step

    def begin(self, dt: float) -> None:
        self._refresh()
        for i, soft in enumerate(self.objects):
            goal = soft._goal_scale()
            if soft._scale != goal:
                most = GROWTH * dt * soft._scale
                soft._scale += min(max(goal - soft._scale, -most), most)
                self._rows[i]["scale"] = soft._scale
        for soft in self._solid:
            self._space.begin(soft)
        kernel.begin_step(self._bytes, len(self.objects))
        self._find_islands(dt)

    def _threads(self) -> int:
        return get_threads() if self._count >= SERIAL_BELOW else 1

    def substep(self, h: float, fraction: float, time: float) -> None:
        fields, threads = self.world.fields, self._threads()
        if len(fields):
            for soft in self.objects:
                fields.apply(soft, soft._x, soft._v, soft._w, h, time, None, self.world.gravity, True)
        table = self.world.colliders.table
        kernel.substep(
            self._bytes,
            self._members,
            self._islands,
            self._tie.view(np.uint8),
            self._bond.view(np.uint8),
            table,
            self._owner,
            h,
            fraction,
            *self.world.gravity,
            threads,
        )
        if self._solid:
            self._space.solids(fraction)
            for i, soft in enumerate(self.objects):
                if soft.dimensions == 3:
                    skin = self._rows[i : i + 1].view(np.uint8)[-SKIN_BYTES:]
                    if self._space.touch(soft, skin, h, threads):
                        self._rows[i]["touched"] = 1
        kernel.finish(self._bytes, self._members, self._islands, table, self._owner, h, threads)

    def end(self, h: float) -> None:
        count = len(self.objects)
        kernel.end_step(self._bytes, count)
        self.world.health.speeds_capped += int(self._rows["capped"][:count].sum())

    def touches(self) -> list[tuple[SoftBody, np.ndarray]]:
        if self._rebuild:
            return [(s, s._touch) for s in self.objects if (s._touch["shape"] >= 0).any()]
        return [(s, s._touch) for s, flag in zip(self.objects, self._rows["touched"]) if flag]


SKIN_BYTES = 9 * 8
assert SOFT.itemsize == kernel.record_sizes()[0]
