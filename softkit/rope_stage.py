"""Steps all ropes of a world together: builds the records that the kernel reads, finds islands, calls the
kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit._kernels import rope_islands as islands_kernel
from softkit._kernels import ropes as kernel
from softkit.coupling import in_space
from softkit.objects import FRICTION_RULES
from softkit.rope_parts import break_link, wind
from softkit.stages import Stage
from softkit.threads import get_threads

if TYPE_CHECKING:
    from softkit.rope import Rope
    from softkit.world import World

P, INT, F = "i8", "i8", "f8"
POINTERS = (
    "x x0 v w W rest lam y pull knot drift_lam f more tension previous target scratch touch hold".split()
)
ROPE = np.dtype(
    [(n, P) for n in POINTERS]
    + [(n, INT) for n in "count anchor anchors self_collision feed_link drag_own".split()]
    + [(n, F) for n in "damping drag_x drag_y stretch_compliance bend_stiffness feed max_speed total".split()]
    + [(n, INT) for n in "touched touching capped solves member members overlong tied".split()]
    + [(n, F) for n in "residual strain peak".split()]
    + [(n, F) for n in "radius friction elasticity depenetration slow".split()]
    + [(n, INT) for n in "rule group categories mask".split()]
)
ANCHOR = np.dtype([(n, INT) for n in "rope node body low high".split()] + [(n, F) for n in "lx ly".split()])
JOIN = np.dtype([(n, INT) for n in "rope_a node_a rope_b node_b".split()])
HUB = np.dtype(
    [(n, INT) for n in "body head count held pulled".split()]
    + [(n, F) for n in "im ii x y a c s px py pa zx zy za vx vy va".split()]
    + [("K", F, 6)]
)
MEMBER = np.dtype(
    [(n, INT) for n in "rope node hub next local".split()]
    + [(n, F) for n in "lx ly rx ry m ox oy yx yy px py gx gy tx ty".split()]
)
ISLAND = (
    "name first last join_first join_last pair_first pair_last passes "
    "tied_first tied_last hub_first hub_last scratch"
).split()
MOST_TIED = 160  # hub nodes of one island that are solved together; beyond, ropes are solved in turn
TOUCH = np.dtype([("shape", INT), ("nx", F), ("ny", F), ("impulse", F)])
HOLD = np.dtype(
    [(n, INT) for n in "shape seen rebound".split()] + [(n, F) for n in "nx ny ease lam speed".split()]
)
CHUNK = 16


class RopeStage(Stage):
    """All ropes of one world."""

    order = 10

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._dirty: set[Rope] = set()
        self._rebuild = True
        self._pairs = np.zeros((1, 4), np.int64)
        self._collider_version = -1
        self._shapes: list = []
        self._room = np.zeros(1)
        self._tied_order = self._hub_list = np.zeros(1, np.int64)

    def object_changed(self, obj: Rope) -> None:
        self._dirty.add(obj)

    def objects_changed(self) -> None:
        self._rebuild = True
        self._dirty.intersection_update(self.objects)

    # ------------------------------------------------------------ records

    def _write_row(self, i: int, rope: Rope) -> None:
        row = self._rows[i]
        for name in POINTERS:
            row[name] = getattr(rope, f"_{name}").ctypes.data
        row["touched"], row["touching"] = (rope._touch["shape"] >= 0).any(), (rope._hold["shape"] >= 0).any()
        row["count"] = rope.count
        row["self_collision"] = rope._self_collision
        row["damping"] = rope._damping
        row["stretch_compliance"] = rope._stretch_compliance
        row["bend_stiffness"] = 0.0 if rope._bend_compliance is None else 1.0 / rope._bend_compliance
        row["total"] = float(rope._rest.sum())
        row["max_speed"] = self.world.max_speed
        row["radius"], row["friction"], row["elasticity"] = rope._radius, rope._friction, rope._elasticity
        row["depenetration"] = self.world.max_depenetration_speed
        row["rule"] = FRICTION_RULES.index(rope._friction_rule)
        row["group"] = rope._filter.group & 0x7FFFFFFFFFFFFFFF
        row["categories"], row["mask"] = rope._filter.categories & 0xFFFFFFFF, rope._filter.mask & 0xFFFFFFFF

    def _write_ties(self) -> None:
        """Anchors and joins of all ropes, in rope order."""
        colliders, where = self.world.colliders, {rope: i for i, rope in enumerate(self.objects)}
        anchors, joins = [], []
        for i, rope in enumerate(self.objects):
            self._rows[i]["anchor"], self._rows[i]["anchors"] = len(anchors), len(rope._anchors)
            for node, tie in sorted(rope._anchors.items()):
                body = colliders.index[tie.body]
                cog = tie.body.center_of_gravity
                low, high = self._inside(rope, node, tie.body)
                anchors.append((i, node, body, low, high, tie.local[0] - cog[0], tie.local[1] - cog[1]))
            for join in rope._joins:
                (a, node_a), (b, node_b) = join.ends
                if a is rope and b in where:
                    joins.append((i, node_a, where[b], node_b))
        self._anchor = np.array(anchors or [(0,) * 7], ANCHOR)
        self._anchor_count = len(anchors)
        self._join = np.array(joins or [(0,) * 4], JOIN)
        self._join_count = len(joins)
        self._write_hubs()

    def _write_hubs(self) -> None:
        """Nodes that move as one: those on one dynamic body, and those joined to each other."""
        anchor, join = self._anchor[: self._anchor_count], self._join[: self._join_count]
        self._kinds = self.world.colliders._body["kind"][anchor["body"]]
        groups: dict[object, list[tuple[int, int]]] = {}
        group_of: dict[tuple[int, int], object] = {}
        place: dict[tuple[int, int], tuple[int, float, float]] = {}
        for (rope, node, body, _, _, lx, ly), kind in zip(anchor.tolist(), self._kinds.tolist()):
            key = ("body", body) if kind == 2 else ("driven", rope, node)
            groups.setdefault(key, []).append((rope, node))
            group_of[rope, node] = key
            place[rope, node] = body, lx, ly
        for rope_a, node_a, rope_b, node_b in join.tolist():
            keys = []
            for end in ((rope_a, node_a), (rope_b, node_b)):
                if end not in group_of:
                    group_of[end] = ("point", *end)
                    groups[("point", *end)] = [end]
                keys.append(group_of[end])
            into, gone = sorted(keys, key=lambda key: ("driven", "body", "point").index(key[0]))
            if into == gone or gone[0] != "point":
                continue
            for end in groups.pop(gone):
                group_of[end] = into
                groups[into].append(end)
                if into[0] != "point" and end not in place:
                    place[end] = place[(rope_a, node_a) if (rope_a, node_a) in place else (rope_b, node_b)]
        self._hub = np.zeros(max(1, len(groups)), HUB)
        nodes = sorted((*end, h) for h, ends in enumerate(groups.values()) for end in ends)
        self._member = np.zeros(max(1, len(nodes)), MEMBER)
        self._hub["head"] = self._hub["body"] = -1
        for i in range(len(nodes) - 1, -1, -1):
            rope, node, h = nodes[i]
            body, lx, ly = place.get((rope, node), (-1, 0.0, 0.0))
            hub = self._hub[h]
            self._member[i] = (rope, node, h, hub["head"], 0, lx, ly, *(0.0,) * 13)
            hub["head"], hub["body"] = i, body
            hub["count"] += 1
        ropes = self._member["rope"][: len(nodes)]
        count = len(self.objects)
        self._rows["member"][:count] = np.searchsorted(ropes, np.arange(count), "left")
        self._rows["members"][:count] = np.bincount(ropes, minlength=count)[:count]
        self._find_tied(len(nodes), len(groups))

    def _find_tied(self, nodes: int, hubs: int) -> None:
        """Ropes that share a hub, the hubs of these in order, and how many nodes each has."""
        member, hub = self._member[:nodes], self._hub[:hubs]
        shared = (hub["count"] > 1)[member["hub"]] if nodes else np.zeros(0, bool)
        tied = np.zeros(len(self._rows), np.int64)
        tied[member["rope"][shared]] = 1
        self._rows["tied"] = tied
        self._tied = np.flatnonzero(tied[: len(self.objects)])
        own = np.unique(member["hub"][tied[member["rope"]] == 1])
        self._hub_order = own
        self._hub_rope = member["rope"][hub["head"][own]] if len(own) else own
        bent = np.array([rope._bend_compliance is not None for rope in self.objects], bool)
        self._bent = self._tied[bent[self._tied]] if len(self._tied) else self._tied

    def _inside(self, rope: Rope, node: int, body: object) -> tuple[int, int]:
        """The run of nodes round an anchor that lies inside the body's own shapes: these do not touch it."""
        depth = self.world.colliders.depth_of(body, rope._x[node])
        reach = depth + rope._radius
        if reach < 0.0:
            return 1, 0
        along = np.concatenate(([0.0], np.cumsum(rope._rest)))
        near = np.flatnonzero(np.abs(along - along[node]) <= reach)
        return max(0, int(near[0]) - 1), min(rope.count - 1, int(near[-1]) + 1)

    def prepare(self) -> None:
        """Let go of bodies that left the space, and have the others mirrored."""
        space = self.world.space
        for rope in self.objects:
            lost = [i for i, tie in rope._anchors.items() if not in_space(tie.body, space)]
            for i in lost:
                del rope._anchors[i]
                self._dirty.add(rope)
                self.world.health.bodies_lost += 1
            if rope in self._dirty or self._rebuild:
                for tie in rope._anchors.values():
                    self.world.colliders.require(tie.body)

    def _refresh(self) -> None:
        ropes = self.objects
        version = self.world.colliders.version
        if self._rebuild:
            self._rows = np.zeros(max(1, len(ropes)), ROPE)
            self._dirty.update(ropes)
        if self.world.colliders.shapes is not self._shapes:
            self._renumber()
        if self._dirty or self._collider_version != version or self._kinds_changed():
            for i, rope in enumerate(ropes):
                if rope in self._dirty:
                    self._write_row(i, rope)
            self._write_ties()
            self._collider_version = self.world.colliders.version
            chunks = int(sum(-(-rope.segments // CHUNK) for rope in ropes))
            self._boxes, self._owners = np.zeros((max(1, chunks), 4)), np.zeros((max(1, chunks), 2), np.int64)
            self._parent = np.zeros(len(ropes) + len(self.world.colliders.bodies) + 1, np.int64)
            self._root = np.zeros(max(1, len(ropes)), np.int64)
        self._dirty.clear()
        self._rebuild = False

    def _kinds_changed(self) -> bool:
        """Did a body that something is tied to become dynamic, or cease to be?"""
        if self._rebuild or not self._anchor_count:
            return False
        anchor = self._anchor[: self._anchor_count]
        return not np.array_equal(self.world.colliders._body["kind"][anchor["body"]], self._kinds)

    def shape_numbers(self) -> np.ndarray:
        """From the numbers that holds know shapes by to the space's present ones; the last one is for
        "none".
        """
        now = list(self.world.space.shapes) if self.world.space is not None else []
        if now == self._shapes:
            return np.append(np.arange(len(now)), -1)
        number = {shape: i for i, shape in enumerate(now)}
        return np.array([number.get(shape, -1) for shape in self._shapes] + [-1], np.int64)

    def restored(self, same_shapes: bool) -> None:
        for rope in self.objects:
            if not same_shapes:
                rope._hold["shape"] = -1
        self._shapes = self.world.colliders.shapes

    def _renumber(self) -> None:
        """Shapes came or went: what ropes lie on is remembered by number."""
        numbers = self.shape_numbers()
        for rope in self.objects:
            rope._hold["shape"] = numbers[rope._hold["shape"]]
        self._dirty.update(self.objects)
        self._shapes = self.world.colliders.shapes

    def _find_islands(self, dt: float) -> None:
        """Which ropes have to be solved one after the other in this step."""
        colliders, ropes, count = self.world.colliders, self._rows.view(np.uint8), len(self.objects)
        margin = 4.0 + dt * dt * float(np.hypot(*self.world.gravity))
        n = islands_kernel.chunk_boxes(ropes, count, 1.5 * dt, margin, self._boxes, self._owners)
        by_left = np.argsort(self._boxes[:n, 0], kind="stable")
        pairs = islands_kernel.find_pairs(ropes, n, self._boxes, self._owners, by_left, self._pairs)
        if pairs > len(self._pairs):
            self._pairs = np.zeros((2 * pairs, 4), np.int64)
            pairs = islands_kernel.find_pairs(ropes, n, self._boxes, self._owners, by_left, self._pairs)
        islands_kernel.find_islands(
            colliders.table,
            len(colliders.bodies),
            colliders.moving_leaves,
            ropes,
            count,
            n,
            self._boxes,
            self._owners,
            margin + 2.0 * dt * colliders.fastest if colliders.moving_leaves else 0.0,
            self._anchor.view(np.uint8),
            self._anchor_count,
            self._join.view(np.uint8),
            self._join_count,
            self._pairs,
            pairs,
            self._parent,
            self._root,
        )
        self._group(count, pairs)

    def _group(self, count: int, pairs: int) -> None:
        """Members, joins and pairs of each island, side by side; islands in order of their first rope."""
        root = self._root[:count]
        self._members = np.argsort(root, kind="stable")
        names, first = np.unique(root[self._members], return_index=True)
        last = np.append(first[1:], count)
        islands = np.zeros((len(names), len(ISLAND)), np.int64)
        islands[:, 0], islands[:, 1], islands[:, 2] = names, first, last
        pair_root = root[self._pairs[:pairs, 0]]
        order = np.argsort(pair_root, kind="stable")
        self._pairs[:pairs] = self._pairs[:pairs][order]
        islands[:, 5] = np.searchsorted(pair_root[order], names, "left")
        islands[:, 6] = np.searchsorted(pair_root[order], names, "right")
        join_root = root[self._join["rope_a"][: self._join_count]]
        order = np.argsort(join_root, kind="stable")
        self._join[: self._join_count] = self._join[: self._join_count][order]
        islands[:, 3] = np.searchsorted(join_root[order], names, "left")
        islands[:, 4] = np.searchsorted(join_root[order], names, "right")
        islands[:, 7], islands[:, 12] = 1, -1
        if len(self._tied):
            self._group_tied(root, names, islands)
        self._islands = islands

    def _group_tied(self, root: np.ndarray, names: np.ndarray, islands: np.ndarray) -> None:
        """Tied ropes and hubs of each island, and its room for the dense part of their solve."""
        tied_root = root[self._tied]
        order = np.argsort(tied_root, kind="stable")
        self._tied_order = self._tied[order]
        islands[:, 8] = np.searchsorted(tied_root[order], names, "left")
        islands[:, 9] = np.searchsorted(tied_root[order], names, "right")
        hub_root = root[self._hub_rope]
        order = np.argsort(hub_root, kind="stable")
        hubs = self._hub_order[order]
        islands[:, 10] = np.searchsorted(hub_root[order], names, "left")
        islands[:, 11] = np.searchsorted(hub_root[order], names, "right")
        self._hub_list = hubs
        before = np.append(0, np.cumsum(self._hub["count"][hubs]))
        nodes = before[islands[:, 11]] - before[islands[:, 10]]
        tied = islands[:, 9] > islands[:, 8]
        islands[:, 7] = np.where(tied, 4, 1)
        together = tied & (nodes <= MOST_TIED) & ~np.isin(names, root[self._bent])
        room = np.where(together, 8 * nodes * nodes + 8 * nodes, 0)
        islands[:, 12] = np.where(together, np.cumsum(room) - room, -1)
        if room.sum() > len(self._room):
            self._room = np.zeros(2 * int(room.sum()))

    # ------------------------------------------------------------ the step

    def begin(self, dt: float) -> None:
        for rope in self.objects:
            if rope._winch != rope._wound:
                rope._feed = wind(rope, dt)
                rope._wound = rope._winch if rope._feed == 0.0 else None
                self._dirty.add(rope)
        self._refresh()
        for i, rope in enumerate(self.objects):
            if rope._feed or self._rows[i]["feed"]:
                self._rows[i]["feed"] = rope._feed / self.world.substeps
                self._rows[i]["feed_link"] = 0 if rope._feed_end == 0 else rope.segments - 1
        self._rows["slow"] = 2.0 * float(np.hypot(*self.world.gravity)) * dt / self.world.substeps
        kernel.begin_step(
            self._rows.view(np.uint8),
            len(self.objects),
            self._anchor.view(np.uint8),
            self.world.colliders.table,
            dt,
        )
        self._find_islands(dt)

    def substep(self, h: float, fraction: float, time: float) -> None:
        fields = self.world.fields
        if len(fields):
            for rope in self.objects:
                fields.apply(rope, rope._x, rope._v, rope._w, h, time, None, self.world.gravity, True)
        kernel.substep(
            self._rows.view(np.uint8),
            self._anchor.view(np.uint8),
            self._join.view(np.uint8),
            self._hub.view(np.uint8),
            self._member.view(np.uint8),
            self._pairs,
            self._members,
            self._tied_order,
            self._hub_list,
            self._islands,
            self._room,
            self.world.colliders.table,
            h,
            fraction,
            *self.world.gravity,
            min(get_threads(), len(self._islands)) if self._work > 400 else 1,
        )

    @property
    def _work(self) -> int:
        return len(self._boxes) * CHUNK

    def end(self, h: float) -> None:
        count = len(self.objects)
        kernel.end_step(self._rows.view(np.uint8), count, 1.0 / (h * h * self.world.substeps))
        health, rows = self.world.health, self._rows[:count]
        health.speeds_capped += int(rows["capped"].sum())
        health.overstretched = int(np.count_nonzero(rows["strain"] > 0.05))
        for rope in self.objects:
            if rope._feed:
                rope._feed = 0.0
                rope._weigh()

    def events(self) -> None:
        """Break what was pulled too hard."""
        peak = self._rows["peak"]
        for rope, most in list(zip(self.objects, peak)):
            if rope._world is self.world and rope._max_tension is not None and most > rope._max_tension:
                link = int(np.argmax(rope._tension))
                place = tuple((0.5 * (rope._x[link] + rope._x[link + 1])).tolist())
                piece = break_link(rope, link)
                if rope.on_break is not None:
                    rope.on_break(rope, piece, place)

    def touches(self) -> list[tuple[Rope, np.ndarray]]:
        if self._rebuild:
            return [(rope, rope._touch) for rope in self.objects if (rope._touch["shape"] >= 0).any()]
        flags = self._rows["touched"] if len(self.objects) else ()
        return [(rope, rope._touch) for rope, flag in zip(self.objects, flags) if flag]
