"""Contacts of 3-D soft bodies with pymunk's shapes as prisms and with 3-D solids: the sheets' own kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit import cloth_layout
from softkit._kernels import cloth_contact
from softkit.cloth_stage import FAR, LIVE_BODIES, SOLID_BYTES
from softkit.solids import Solid, rows_of

if TYPE_CHECKING:
    from softkit.softbody import SoftBody
    from softkit.world import World


class Surface:
    """What the contact kernel wants of one body, coordinate by coordinate."""

    def __init__(self, body: SoftBody) -> None:
        n = body.count
        faces, block = cloth_layout.mesh_faces(body._faces, n)
        self.blocks = cloth_layout.make_blocks(np.ascontiguousarray(faces, np.int32), block, n)
        if not len(body._faces):
            # A single row: its particles alone touch.
            self.blocks.rows = np.array([[0, n, 0, 0]], np.int64)
            self.blocks.colors = np.array([0, 1], np.int64)
            self.blocks.particles = np.arange(n, dtype=np.int32)
            self.blocks.faces = np.zeros((1, 3), np.int32)
        self.p, self.old = np.zeros((3, n)), np.zeros((3, n))
        self.sums = np.zeros((max(1, len(self.blocks.rows)), 4 * LIVE_BODIES))
        self.grip, self.owner, self.pressed = np.zeros((4, n)), np.zeros(n, np.int64), np.zeros(n)
        self.splits = np.zeros(1)


class SpaceContacts:
    """Shapes and solids as 3-D bodies see them in this world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._colliders = np.zeros(SOLID_BYTES * 256, np.uint8)
        self._slots = np.zeros(LIVE_BODIES + 1, np.int64)
        self._box = np.zeros(6)

    def mirror(self) -> None:
        """How deep each shape is, and which are round."""
        colliders = self.world.colliders
        low, high = colliders.shape_depth or (-FAR, FAR)
        shapes = colliders.shapes
        self._depths = np.zeros((max(1, len(shapes)), 2))
        self._depths[:] = low, high
        self._rounds = np.zeros(max(1, len(shapes)), np.uint8)
        for i, shape in enumerate(shapes if colliders.depths or colliders.rounds else ()):
            self._depths[i] = colliders.depths.get(shape, (low, high))
            self._rounds[i] = shape in colliders.rounds

    def begin(self, body: SoftBody) -> None:
        """The last step's contacts say over how many each body's mass is split in the first substep."""
        colliders = self.world.colliders
        surface = body._surface
        if len(surface.splits) < len(colliders.bodies):
            surface.splits = np.zeros(max(1, len(colliders.bodies)))
        surface.splits[:] = 0.0
        shape = body._touch["shape"]
        shape = shape[(shape >= 0) & (shape < len(colliders.shapes))]
        if len(shape):
            found = np.bincount(colliders._shape_body[shape], minlength=len(surface.splits))
            surface.splits += found[: len(surface.splits)]

    def solids(self, fraction: float) -> None:
        """Where the solids are in this substep."""
        found = [obj for obj in self.world._objects if isinstance(obj, Solid)]
        self._solids = rows_of(found, self.world.colliders, fraction, 1.0 / self.world.substeps)

    def touch(self, body: SoftBody, skin: np.ndarray, h: float, threads: int) -> bool:
        """One body against everything near it; whether anything was."""
        colliders, surface = self.world.colliders, body._surface
        shapes = len(colliders.shapes)
        if not shapes and not len(self._solids):
            return False
        np.copyto(surface.p, body._x.T)
        np.copyto(surface.old, body._x0.T)
        cloth_contact.bounds(surface.p, surface.old, body._radius, self._box)
        while True:
            count = cloth_contact.take_colliders(
                colliders.table,
                skin,
                shapes,
                self._depths,
                self._rounds,
                self._solids,
                self._box,
                surface.splits,
                self._colliders,
                self._slots,
            )
            if count < len(self._colliders) // SOLID_BYTES:
                break
            self._colliders = np.zeros(2 * len(self._colliders), np.uint8)
        if not count:
            return False
        blocks = surface.blocks
        surface.grip[:] = 0.0
        cloth_contact.touch(
            self._colliders,
            count,
            surface.p,
            surface.old,
            body._w,
            body._touch.view(np.uint8),
            skin,
            h,
            body._radius,
            blocks.rows,
            blocks.colors,
            blocks.particles,
            blocks.faces,
            surface.sums,
            self._slots,
            colliders.table,
            surface.splits,
            surface.grip,
            surface.owner,
            surface.pressed,
            threads,
        )
        np.copyto(body._x, surface.p.T)
        np.copyto(body._x0, surface.old.T)
        return True
