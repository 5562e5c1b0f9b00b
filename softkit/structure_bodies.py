"""Pieces of structures that go on as rigid pymunk bodies."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pymunk
from pymunk.autogeometry import to_convex_hull

from softkit import checks
from softkit.objects import SoftObject
from softkit.softbody_stage import SLOTS
from softkit.structure_layout import Lattice

if TYPE_CHECKING:
    from softkit.coupling import Attachment
    from softkit.world import World

FIT = 0.02
"""A shape covers at most that part more than the cells it stands for."""


class Rigid(SoftObject):
    """The part of a Structure that hands pieces over to pymunk."""

    _layout: Lattice
    _m: np.ndarray
    _pins: set[int]
    _anchors: dict[int, Attachment]
    pieces: list[np.ndarray]
    piece_count: int
    joins: list[tuple[int, SoftObject, int]]

    @cached_property
    def _cutting(self) -> list[np.ndarray]:
        """Links that `cut` was asked for inside a step, one array for each call."""
        return []

    @cached_property
    def _leaving(self) -> list[np.ndarray]:
        """Nodes that leave as bodies when the step is over, one array for each call."""
        return []

    def make_body(self, piece: int) -> pymunk.Body:
        """Turn a piece into a rigid pymunk body: it leaves this structure and goes on in the world's space.

        Meant for small pieces that have come to bend no more; whatever the piece, its mass, centre of mass
        and linear and angular momentum go over exactly, and its swaying stops. The body's angle is the turn
        that fits the nodes best since the structure was made; its moment is that of the nodes. Its shapes are
        rounded Polys over the piece's whole cells, rows of cells in one where they are straight (a Circle for
        a single node), with this structure's radius, friction, elasticity and filter.

        The nodes that stay keep their order and get new numbers from 0; pieces, links and cells follow. With
        its last piece the structure itself leaves the world, and keeps its nodes.

        Inside a step (a callback) the body that is returned gets its shapes, comes into the space, and the
        nodes leave when the step is over, as they are then; `piece` counts as before till then.

        A snapshot has the motion of bodies, not bodies: to go back to one from before, remove the body and
        its shapes from the space first; to one from after, have the body in the space.

        Args:
            piece: its number in `pieces`; negatives count from the end.

        Raises IndexError for a piece that there is not; ValueError without a world that has a space, and for
        a piece that is pinned, attached, joined or leaving already.
        """
        piece = checks.index("piece", piece, self.piece_count)
        world = self._world
        if world is None or world.space is None:
            raise ValueError(
                f"piece must be in a world with a space to become a body, got {piece} of {self!r}"
            )
        nodes = self.pieces[piece]
        held = {"pinned": self._pins, "attached": self._anchors, "joined": {i for i, _, _ in self.joins}}
        for how, those in held.items():
            for i in sorted(those):
                if i in nodes:
                    raise ValueError(f"piece must hang on nothing, got {piece}: node {i} is {how}")
        if any(np.isin(nodes, others).any() for others in self._leaving):
            raise ValueError(f"piece must not be leaving already, got {piece}")
        body = pymunk.Body(1.0, 1.0)
        self._give_motion(body, nodes)
        self._leaving.append(nodes)
        world._when_idle(lambda: self._hand_over(world, body))
        return body

    def _give_motion(self, body: pymunk.Body, nodes: np.ndarray) -> None:
        """Mass, moment, place, angle and velocities of these nodes."""
        m, x, v, rest = self._m[nodes], self._x[nodes], self._v[nodes], self._layout.rest[nodes]
        mass = float(m.sum())
        # From the first node, so that no digits are lost far from the origin.
        arm, rest = x - x[0], rest - rest[0]
        middle = m @ arm / mass
        arm, rest = arm - middle, rest - m @ rest / mass
        velocity = m @ v / mass
        dv = v - velocity
        moment = float(m @ (arm * arm).sum(axis=1))
        spin = float(m @ (arm[:, 0] * dv[:, 1] - arm[:, 1] * dv[:, 0]))
        least = 0.5 * mass * self._radius**2
        if len(nodes) == 1 or not moment > 1e-6 * least:
            moment = least
        turn = (
            float(m @ (rest[:, 0] * arm[:, 1] - rest[:, 1] * arm[:, 0])),
            float(m @ (rest * arm).sum(axis=1)),
        )
        body.mass, body.moment = mass, moment
        body.angle = math.atan2(*turn)
        body.position = tuple((x[0] + middle).tolist())
        body.velocity = tuple(velocity.tolist())
        body.angular_velocity = spin / moment

    def _hand_over(self, world: World, body: pymunk.Body) -> None:
        """Put the first that waits into the space as this body, and take its nodes out."""
        nodes = self._leaving.pop(0)
        if self._world is not world or world.space is None:
            return
        self._give_motion(body, nodes)
        shapes = self._shapes(body, nodes)
        for shape in shapes:
            shape.friction, shape.elasticity, shape.filter = self._friction, self._elasticity, self._filter
        if body.space is None:
            world.space.add(body, *shapes)
        else:  # the callback has added it itself
            body.space.add(*shapes)
        stay = np.ones(self.count, bool)
        stay[nodes] = False
        if stay.any():
            self._keep_nodes(stay)
            # What was found touching goes by old numbers.
            world._touching._count = 0
            world._contacts = None
            world.fields.forget(self)
            world._stage_of(self).objects_changed()
        else:
            world.remove(self)

    # ------------------------------------------------------------ shapes

    def _shapes(self, body: pymunk.Body, nodes: np.ndarray) -> list[pymunk.Shape]:
        """Convex shapes over the whole cells of these nodes."""
        place = self._local(body, nodes)
        inside = np.zeros(self.count, bool)
        inside[nodes] = True
        layout = self._layout
        which = np.flatnonzero(self._solid_cell & inside[layout.cells].all(axis=1))
        if not len(which):
            return [pymunk.Circle(body, self._radius, tuple(p)) for p in place[nodes].tolist()]
        corner = layout.rest[layout.cells[which]]
        low, size = corner[:, 0].min(axis=0), corner[0, 2] - corner[0, 0]
        at = {
            (int(x), int(y)): int(k)
            for (x, y), k in zip(np.floor((corner[:, 0] - low) / size + 0.5).tolist(), which)
        }
        shapes: list[pymunk.Shape] = []
        for block in blocks(at):
            shapes += self._fitted(body, block, at, place)
        return shapes

    def _local(self, body: pymunk.Body, nodes: np.ndarray) -> np.ndarray:
        """(count, 2) places of nodes in the body's coordinates; 0 for the others."""
        place = np.zeros((self.count, 2))
        c, s = math.cos(body.angle), math.sin(body.angle)
        arm = self._x[nodes] - tuple(body.position)
        place[nodes] = arm @ np.array([[c, -s], [s, c]])
        return place

    def _fitted(
        self,
        body: pymunk.Body,
        block: tuple[int, int, int, int],
        at: dict[tuple[int, int], int],
        place: np.ndarray,
    ) -> list[pymunk.Shape]:
        """One Poly round a block of cells, or those of its halves where that would cover too much."""
        x, y, wide, high = block
        cells = self._layout.cells[[at[x + i, y + j] for j in range(high) for i in range(wide)]]
        points = place[cells]
        names = np.unique(cells)
        # Points on a straight side are no corners.
        hull = to_convex_hull([tuple(p) for p in place[names].tolist()], 0.01 * self._radius)
        shape = pymunk.Poly(None, hull)
        d, e = points[:, 2] - points[:, 0], points[:, 3] - points[:, 1]
        area = 0.5 * float(np.abs(d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0]).sum())
        if wide * high == 1 or shape.area <= (1.0 + FIT) * area:
            return [pymunk.Poly(body, shape.get_vertices(), radius=self._radius)]
        if wide >= high:
            halves = (x, y, wide // 2, high), (x + wide // 2, y, wide - wide // 2, high)
        else:
            halves = (x, y, wide, high // 2), (x, y + high // 2, wide, high - high // 2)
        return [part for half in halves for part in self._fitted(body, half, at, place)]

    # ------------------------------------------------------------ what stays

    def _keep_nodes(self, stay: np.ndarray) -> None:
        """Go on with these nodes alone: cells and links that reach another one go with it."""
        old = self._layout
        number = np.cumsum(stay, dtype=np.int32) - np.int32(1)
        links = stay[old.links].all(axis=1)
        cells = stay[old.cells].all(axis=1)
        link_number = np.cumsum(links, dtype=np.int32) - np.int32(1)
        fresh = {n: getattr(old, n)[stay].copy() for n in ("rest", "masses", "resistance")}
        fresh.update({n: getattr(old, n)[links].copy() for n in PER_LINK})
        lattice = replace(
            old,
            **fresh,
            links=np.ascontiguousarray(number[old.links[links]]),
            cells=np.ascontiguousarray(number[old.cells[cells]]),
            cell_kind=old.cell_kind[cells].copy(),
            sides=np.ascontiguousarray(link_number[old.sides[cells]]),
        )
        kept = {n: getattr(self, f"_{n}")[stay].copy() for n in PER_NODE}
        touch = self._touch.reshape(-1, SLOTS)[stay].reshape(-1).copy()
        hold = np.concatenate([self._hold[:-2][stay], self._hold[-2:]])
        live = links[self._number]
        left, broken_now = link_number[self._number[live]], self._breaks_now
        lived = {n: np.ascontiguousarray(getattr(self, n)[live]) for n in self._link_names()}
        lived["_link_links"] = np.ascontiguousarray(number[lived["_link_links"]])
        pins = {int(number[i]) for i in self._pins if stay[i]}
        anchors = {int(number[i]): tie for i, tie in self._anchors.items() if stay[i]}
        self._follow_joins(stay, number)
        self._cutting[:] = [link_number[n[links[n]]] for n in self._cutting]
        self._leaving[:] = [number[n[stay[n]]] for n in self._leaving]
        self._build(lattice)
        for name, array in kept.items():
            setattr(self, f"_{name}", array)
        for name, array in lived.items():
            setattr(self, name, array)
        self._touch, self._hold, self._number = touch, hold, left
        self._broken = np.zeros(len(left), np.uint8)
        self._pins, self._anchors, self._breaks_now = pins, anchors, broken_now
        self._settle_links()
        self._weigh()

    def _follow_joins(self, stay: np.ndarray, number: np.ndarray) -> None:
        for join in list(self._joins):
            if not stay[join.seen_from(self)[0]]:
                join.release()
            else:
                join.ends = [(o, int(number[i]) if o is self else i) for o, i in join.ends]

    def _link_names(self) -> list[str]:
        """Names of the arrays with a row for each link that holds."""
        return [n for n in vars(self) if n.startswith("_link_") and n != "_link_count"]


def blocks(at: dict[tuple[int, int], int]) -> list[tuple[int, int, int, int]]:
    """Cells of a grid as few rectangles (x, y, wide, high), by rows from the lowest cell on."""
    left, result = set(at), []
    for x, y in sorted(at, key=lambda cell: cell[::-1]):
        if (x, y) not in left:
            continue
        wide, high = 1, 1
        while (x + wide, y) in left:
            wide += 1
        while all((x + i, y + high) in left for i in range(wide)):
            high += 1
        left -= {(x + i, y + j) for i in range(wide) for j in range(high)}
        result.append((x, y, wide, high))
    return result


PER_LINK = "kinds soft yields breaks ductile damping".split()
PER_NODE = "x x0 y v previous target health calm_of".split()
