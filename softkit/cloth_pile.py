"""Sheets that keep off themselves and each other: all of them as one set of particles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit._kernels import cloth_self
from softkit.queries import filters_reject

if TYPE_CHECKING:
    from softkit.cloth import Cloth

MARGIN = 0.5
"""How much farther than the thickness neighbours are looked for, in thicknesses."""
PASSES = 3
"""Jacobi passes a substep."""
OPEN = 300.0
"""Speed in wu/s at which an overlap opens."""


class Pile:
    """The particles of all sheets with `self_collision`, side by side."""

    def __init__(self) -> None:
        self.sheets: list[Cloth] = []
        self._n = -1

    @property
    def count(self) -> int:
        """Particles of all sheets."""
        return self._n if self.sheets else 0

    def take(self, sheets: list[Cloth]) -> None:
        """At the start of a step: which sheets there are."""
        self.sheets = sheets
        n = sum(sheet.count for sheet in sheets)
        if not n:
            return
        if n != self._n:
            self._allocate(n)
        first = 0
        for k, sheet in enumerate(sheets):
            part = slice(first, first + sheet.count)
            self._sheet[part], self._size[part], self._mu[part] = k, sheet._thickness, sheet._friction
            self._rest[:, part] = sheet._rest.T
            first += sheet.count
        self._meet = np.array(
            [[a is b or not filters_reject(a.filter, b.filter) for b in sheets] for a in sheets], np.uint8
        )
        self._widest = max(sheet._thickness for sheet in sheets)
        self._known = False

    def _allocate(self, n: int) -> None:
        self._n = n
        near = cloth_self.neighbours()
        self._x, self._old, self._rest, self._since = (np.zeros((3, n)) for _ in range(4))
        self._w, self._mu, self._size = np.zeros(n), np.zeros(n), np.zeros(n)
        self._cells, self._order = np.zeros((3, n), np.int64), np.zeros(n, np.int32)
        self._starts = np.zeros((1 << max(4, int(2 * n - 1).bit_length())) + 1, np.int64)
        self._near, self._keep = np.zeros((n, near), np.int32), np.zeros((n, near))
        self._found, self._touching = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self._sheet, self._shift = np.zeros(n, np.int32), np.zeros((n, 6))

    def part(self, h: float, threads: int) -> None:
        """Move particles that are too near apart."""
        if not self.sheets:
            return
        first = 0
        for sheet in self.sheets:
            part = slice(first, first + sheet.count)
            self._x[:, part], self._old[:, part], self._w[part] = sheet._p, sheet._old, sheet._w
            first += sheet.count
        margin = MARGIN * self._widest
        if not self._known or cloth_self.moved(self._x, self._since) > 0.25 * margin * margin:
            cloth_self.find_near(
                self._x,
                self._widest + margin,
                self._cells,
                self._starts,
                self._order,
                self._sheet,
                self._rest,
                self._size,
                self._meet,
                self._near,
                self._keep,
                self._found,
                threads,
            )
            self._since[:] = self._x
            self._known = True
        for _ in range(PASSES):
            cloth_self.part_sheets(
                self._x,
                self._old,
                self._w,
                self._mu,
                self._near,
                self._keep,
                self._found,
                self._touching,
                self._shift,
                OPEN * h / PASSES,
                threads,
            )
        first = 0
        for sheet in self.sheets:
            part = slice(first, first + sheet.count)
            sheet._p[:], sheet._old[:] = self._x[:, part], self._old[:, part]
            first += sheet.count
