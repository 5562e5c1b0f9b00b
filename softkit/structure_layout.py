"""The lattice of a structure: nodes and links from a grid of filled cells."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from softkit.softbody_shapes import MOST, colored
from softkit.structure_material import Material

SIDE, DIAGONAL = 0, 1
LEAST_FILL = 0.2
"""A cell filled less than that is as stiff as one filled so far."""


@dataclass
class Grid:
    """Filled cells of a regular grid.

    Attributes:
        origin: corner of cell (0, 0), wu; size: (2,) sides of a cell, wu.
        fill: (rows, columns) part of each cell that is filled, 0 to 1; 0: no cell.
        kind: (rows, columns) index of each cell's material.
        materials: the materials. fragments: outlines that it was made from.
    """

    origin: tuple[float, float]
    size: tuple[float, float]
    fill: np.ndarray
    kind: np.ndarray
    materials: list[Material]
    fragments: list[np.ndarray] = field(default_factory=list)


@dataclass
class Lattice:
    """Nodes, links and cells; every array that the structure starts from.

    Attributes:
        rest: (n, 2) places; masses: (n,); resistance: (n,) impulse that shatters a node.
        links: (l, 2) nodes in conflict-free colours; kinds: (l,) SIDE or DIAGONAL.
        soft, yields, breaks, ductile, damping: (l,) see the kernel's record.
        cells: (c, 4) nodes round each cell; cell_kind: (c,) index of its material.
        sides: (c, 6) links of each cell, the four sides first.
    """

    rest: np.ndarray
    masses: np.ndarray
    resistance: np.ndarray
    links: np.ndarray
    kinds: np.ndarray
    soft: np.ndarray
    yields: np.ndarray
    breaks: np.ndarray
    ductile: np.ndarray
    damping: np.ndarray
    cells: np.ndarray
    cell_kind: np.ndarray
    sides: np.ndarray


CORNERS = ((0, 0), (0, 1), (1, 1), (1, 0))
ROUND = ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3))


def build(grid: Grid) -> Lattice:
    """A node at each corner of a filled cell; links along its sides and diagonals.

    Each cell adds stiffness to its six links so that the whole is isotropic with the material's modulus and a
    Poisson ratio of 1/3: 0.75 of the modulus along sides, 0.375 along diagonals (exact for square cells;
    Born's square lattice with first and second neighbours). It adds a quarter of its mass to each corner. A
    link of two materials takes the weaker one's limits.

    A bar drawn to strain e has e / 3 along its diagonals, so they yield at a third: it flows as a whole, and
    keeps just what exceeds the yield strain.
    """
    filled = grid.fill > 0.0
    rows, columns = np.nonzero(filled)
    if not len(rows):
        raise ValueError("the structure must have at least one filled cell, got none")
    wide = grid.fill.shape[1] + 1
    corner = np.stack([(rows + dy) * wide + columns + dx for dy, dx in CORNERS], axis=1)
    names, cells = np.unique(corner, return_inverse=True)
    cells = cells.reshape(corner.shape)
    if len(names) > MOST:
        raise ValueError(f"the structure must have at most {MOST} nodes, got {len(names)}: make cells larger")
    step = np.array(grid.size)
    rest = np.stack([names % wide, names // wide], axis=1) * step + np.array(grid.origin)
    fill, kind = grid.fill[filled], grid.kind[filled]

    def of(name: str) -> np.ndarray:
        return np.array([getattr(m, name) for m in grid.materials])[kind]

    n, quarter = len(rest), 0.25 * step.prod() * fill * of("density")
    masses, speed = np.zeros(n), np.zeros(n)
    waves = of("toughness") / np.sqrt(of("density") * of("compliance"))
    for k in range(4):
        np.add.at(masses, cells[:, k], quarter)
        np.add.at(speed, cells[:, k], quarter * waves)
    ends = np.concatenate([np.sort(cells[:, pair], axis=1) for pair in ROUND])
    pairs, which = np.unique(ends @ [n, 1], return_inverse=True)
    links = np.stack([pairs // n, pairs % n], axis=1).astype(np.int32)
    sx, sy = step
    shape = np.repeat(
        [0.375 * sy / sx, 0.375 * sx / sy, 0.375 * sy / sx, 0.375 * sx / sy, 0.375, 0.375], len(fill)
    )
    stiff = shape * np.tile(np.maximum(fill, LEAST_FILL) / of("compliance"), 6)
    sides = which.reshape(6, -1).T
    diagonal = np.zeros(len(links), np.int8)
    diagonal[sides[:, 4:]] = DIAGONAL
    order, _ = colored(links, n)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))

    def least(name: str) -> np.ndarray:
        out = np.full(len(links), np.inf)
        np.minimum.at(out, which, np.tile(of(name), 6))
        return out[order]

    return Lattice(
        rest=rest,
        masses=masses,
        resistance=speed,
        links=np.ascontiguousarray(links[order]),
        kinds=diagonal[order],
        soft=1.0 / np.bincount(which, stiff)[order],
        yields=least("yield_strain") * np.where(diagonal[order] == DIAGONAL, 1.0 / 3.0, 1.0),
        breaks=least("toughness"),
        ductile=least("ductility"),
        damping=least("damping"),
        cells=cells.astype(np.int32),
        cell_kind=kind.astype(np.int32),
        sides=place[sides].astype(np.int32),
    )
