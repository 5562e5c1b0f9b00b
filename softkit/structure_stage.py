"""Steps all structures of a world together, on the islands, ties and contacts of soft bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit._kernels import softbodies as soft_kernel
from softkit._kernels import structures as kernel
from softkit.objects import FRICTION_RULES
from softkit.softbody_stage import ARRAYS, SOFT, SoftBodyStage

if TYPE_CHECKING:
    from softkit.structure import Structure
    from softkit.world import World

FRAME_ARRAYS = (
    "links colors rest made soft lam axis flow yields breaks ductile damping peak energy broken health "
    "members pieces calm"
).split()
FRAME = np.dtype(
    [(name, "i8") for name in FRAME_ARRAYS]
    + [(name, "i8") for name in "link_count color_count piece_count broke".split()]
)
assert FRAME.itemsize == kernel.record_size()
LEAST_PASSES, MOST_PASSES = 6, 40
WARM = 0.99
"""Part of the last substep's multipliers that a substep starts from."""


class StructureStage(SoftBodyStage):
    """All structures of one world."""

    order = 35

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._frames = np.zeros(1, FRAME)

    def _write_row(self, row: np.void, soft: Structure) -> None:
        """The particles as the contact kernels see them; links are the frame's."""
        h = self.world.step / self.world.substeps
        for name in ARRAYS:
            array = soft._particle_array(name)
            row[name] = 0 if array is None else array.ctypes.data
        row["dim"], row["count"] = 2, soft.count
        row["edges_n"], row["exempt_n"] = len(soft._edges), len(soft._exempt)
        row["held"], row["pivot"] = len(soft._held), soft._held[0] if soft._held else -1
        row["touched"] = (soft._touch["shape"] >= 0).any()
        row["scale"], row["extent"] = 1.0, soft._extent
        row["part"], row["most"] = 0.0, -1.0
        row["damping"], row["max_speed"] = soft._damping, self.world.max_speed
        row["radius"], row["friction"], row["elasticity"] = soft._radius, soft._friction, soft._elasticity
        row["depenetration"] = self.world.max_depenetration_speed
        row["slow"] = 2.0 * float(np.hypot(*self.world.gravity)) * h
        row["rule"] = FRICTION_RULES.index(soft._friction_rule)
        row["group"] = soft._filter.group & 0x7FFFFFFFFFFFFFFF
        row["categories"], row["mask"] = soft._filter.categories & 0xFFFFFFFF, soft._filter.mask & 0xFFFFFFFF
        self._write_frame(self.objects.index(soft), soft)

    def _write_frame(self, i: int, soft: Structure) -> None:
        if len(self._frames) < len(self.objects):
            self._frames = np.zeros(len(self.objects), FRAME)
        row = self._frames[i]
        for name in FRAME_ARRAYS:
            row[name] = soft._frame_array(name).ctypes.data
        row["link_count"], row["color_count"] = len(soft._links_at), len(soft._colors) - 1
        row["piece_count"] = len(soft._starts) - 1

    def _passes(self, names: np.ndarray, root: np.ndarray) -> np.ndarray:
        return np.clip(super()._passes(names, root), LEAST_PASSES, MOST_PASSES)

    def begin(self, dt: float) -> None:
        if self._rebuild:
            self._frames = np.zeros(max(1, len(self.objects)), FRAME)
        self._refresh()
        for soft in self.objects:
            soft._link_peak[:] = 0.0
        self._frames["broke"] = 0
        soft_kernel.begin_step(self._bytes, len(self.objects))
        self._find_islands(dt)

    def substep(self, h: float, fraction: float, time: float) -> None:
        fields, gravity = self.world.fields, self.world.gravity
        if len(fields):
            for soft in self.objects:
                fields.apply(soft, soft._x, soft._v, soft._w, h, time, None, gravity, True)
        kernel.substep(
            self._bytes,
            self._frames.view(np.uint8),
            self._members,
            self._islands,
            self._tie.view(np.uint8),
            self._bond.view(np.uint8),
            self.world.colliders.table,
            self._owner,
            h,
            fraction,
            *gravity,
            WARM,
            self._threads(),
        )

    def end(self, h: float) -> None:
        super().end(h)
        for soft, broke in zip(self.objects, self._frames["broke"].tolist()):
            soft._take_breaks(broke > 0)

    def events(self) -> None:
        for soft in list(self.objects):
            if soft._breaks_now and soft.on_break is not None:
                soft.on_break(soft, soft._breaks_now)


assert SOFT.itemsize == soft_kernel.record_sizes()[0]
