"""Work space of the fluid stage: all fluids' particles side by side in cell order, and the pressure grid
under them."""

from __future__ import annotations

import math

import numpy as np

from softkit._kernels import fluid_cells as cells
from softkit._kernels import fluid_solve as solver

CHUNK = 256
BAND = 4
MOST_CELLS = 1 << 18
TOUCH = np.dtype([("shape", "i8"), ("nx", "f8"), ("ny", "f8"), ("impulse", "f8")])


class Particles:
    """Float arrays of all particles, grown by half when they run out, never shrunk."""

    FLOATS = (
        "x",
        "y",
        "x0",
        "y0",
        "vx",
        "vy",
        "spare_a",
        "spare_b",
        "volume",
        "cells",
        "mass",
        "cell_mass",
        "weight",
        "density",
        "scale",
    )

    def __init__(self) -> None:
        self.n = self.room = 0
        self.per_chunk = CHUNK * 24
        self.reserve(CHUNK)

    def reserve(self, n: int) -> None:
        """Make room for n particles."""
        self.n = n
        if n <= self.room:
            return
        self.room = room = max(n, self.room + self.room // 2)
        chunks = (room + CHUNK - 1) // CHUNK
        for name in ("q", *self.FLOATS):
            setattr(self, name, np.zeros(room, np.float32))
        self.wall = np.zeros(3 * room, np.float32)
        self.kind, self.spare_kind, self.near = (np.zeros(room, np.uint8) for _ in range(3))
        self.place, self.spare_place, self.cell, self.order, self.begin, self.count = (
            np.zeros(room, np.int32) for _ in range(6)
        )
        self.needed, self.counts = np.zeros(chunks, np.int32), np.zeros(chunks, np.int32)
        self.pairs = np.zeros(chunks * self.per_chunk, np.int32)
        self.touches = np.zeros(room, TOUCH)
        self.touches["shape"] = -1

    def sort(self, inverse: float, nx: int, ny: int, start: np.ndarray) -> None:
        """Bring the particles into cell order."""
        n = self.n
        cells.cell_order(self.x, self.y, n, inverse, nx, ny, self.cell, start, self.order)
        for name in ("x", "y", "vx", "vy"):
            source = getattr(self, name)
            cells.gather(source, self.order, n, self.spare_a)
            setattr(self, name, self.spare_a)
            self.spare_a = source
        cells.gather_int(self.place, self.order, n, self.spare_place)
        self.place, self.spare_place = self.spare_place, self.place
        cells.gather_byte(self.kind, self.order, n, self.spare_kind)
        self.kind, self.spare_kind = self.spare_kind, self.kind

    def find_pairs(
        self, inverse: float, reach: float, nx: int, ny: int, start: np.ndarray, threads: int
    ) -> None:
        """Neighbour lists of the sorted particles; grows the room for them where it does not do."""
        while True:
            cells.neighbour_lists(
                self.x,
                self.y,
                self.n,
                inverse,
                reach,
                nx,
                ny,
                start,
                self.per_chunk,
                self.begin,
                self.count,
                self.pairs,
                self.needed,
                CHUNK,
                threads,
            )
            chunks = (self.n + CHUNK - 1) // CHUNK
            most = int(self.needed[:chunks].max(initial=0))
            if most <= self.per_chunk:
                return
            self.per_chunk = most + most // 2
            self.pairs = np.zeros(len(self.needed) * self.per_chunk, np.int32)


class Grid:
    """The pressure grid: a window of cells round the liquid, moved by whole cells when the liquid leaves
    it."""

    FLOATS = (
        "fill",
        "solid",
        "phi",
        "open_u",
        "open_v",
        "wall_u",
        "wall_v",
        "face_u",
        "face_v",
        "right",
        "p",
        "ap",
        "du",
        "dv",
        "curl",
        "surface",
    )

    def __init__(self) -> None:
        self.cell = 0.0
        self.left = self.top = 0  # of the window, in cells from the world's origin
        self.nx = self.ny = 0
        self.q = np.zeros(0, np.float32)
        self.faces = np.zeros(256, np.int32), np.zeros(256, np.int32)
        self.items = 0
        self.bodies_room = 0

    @property
    def corner(self) -> tuple[float, float]:
        """The window's corner, wu."""
        return self.left * self.cell, self.top * self.cell

    def cover(self, low: np.ndarray, high: np.ndarray, cell: float) -> bool:
        """Cover the box low..high (wu) with a margin; True where the window changed. It follows from the box
        alone, and with it the bits of what is computed in it, so that no snapshot has to keep it.

        A liquid spread too wide for the most cells allowed gets cells twice as large, and so on: memory
        follows the particles, not the area.
        """
        while True:
            a = [math.floor(v / cell) for v in low]
            b = [math.floor(v / cell) for v in high]
            if (b[0] - a[0] + 12) * (b[1] - a[1] + 12) <= MOST_CELLS:
                break
            cell *= 2
        left, top = (a[0] - 4) // 8 * 8, (a[1] - 4) // 8 * 8
        nx, ny = ((b[0] - left + 5) // 8 + 1) * 8, ((b[1] - top + 5) // 8 + 1) * 8
        if (left, top, nx, ny, cell) == (self.left, self.top, self.nx, self.ny, self.cell):
            return False
        self._allocate(left, top, nx, ny, cell)
        return True

    def _allocate(self, left: int, top: int, nx: int, ny: int, cell: float) -> None:
        size = (ny + 1) * (nx + 1)
        self.left, self.top, self.cell = left, top, cell
        if (nx, ny) == (self.nx, self.ny):
            return
        self.nx, self.ny = nx, ny
        for name in ("q", *self.FLOATS):
            setattr(self, name, np.zeros(size, np.float32))
        self.u, self.v = np.zeros(4 * size, np.float32), np.zeros(4 * size, np.float32)
        self.wet, self.known_u, self.known_v, self.cut_u, self.cut_v = (
            np.zeros(size, np.uint8) for _ in range(5)
        )
        self.owner, self.cut_owner_u, self.cut_owner_v = (np.zeros(size, np.int32) for _ in range(3))
        levels, total = solver.level_sizes(nx, ny)
        self.sizes = np.array(levels, np.int32)
        self.link_u, self.link_v, self.air, self.diagonal, self.level_x, self.level_b = (
            np.zeros(total, np.float32) for _ in range(6)
        )
        self.start = np.zeros(nx * ny + 1, np.int32)
        self.rows = np.minimum(np.arange((ny + BAND - 1) // BAND + 1) * BAND, ny) * nx
        self.bands = np.zeros(len(self.rows), np.int32)
        self.strays = np.zeros(max(2, len(self.rows)), np.int32)

    def need_faces(self, faces: int) -> bool:
        """Room for the dynamic bodies' faces; True where there was not enough."""
        if faces <= len(self.faces[0]):
            return False
        self.faces = np.zeros(2 * faces, np.int32), np.zeros(2 * faces, np.int32)
        return True

    def need_bodies(self, bodies: int) -> None:
        """Room for the rows of J."""
        items = 4 * len(self.faces[0])
        if items > self.items:
            self.items = items
            self.at, self.direct = np.zeros(items, np.int32), np.zeros(items, np.uint8)
            self.jx, self.jy, self.jt = (np.zeros(items, np.float32) for _ in range(3))
        if bodies > self.bodies_room or not self.bodies_room:
            self.bodies_room = max(bodies, 8)
            self.slot = np.full(self.bodies_room, -1, np.int32)
            self.bodies, self.fill_at = (
                np.zeros(self.bodies_room, np.int32),
                np.zeros(self.bodies_room, np.int32),
            )
            self.body_start = np.zeros(self.bodies_room + 1, np.int32)
            self.inverse = np.zeros(2 * self.bodies_room, np.float32)
