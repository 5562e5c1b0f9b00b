"""The pymunk space mirrored as flat arrays that kernels read.

How the mirror stays true without a call from the game: the list of shapes is compared object by object (an
identity test each), poses and velocities come in bulk from `pymunk.batch`, and everything else about a shape
or a body (sensor, friction, filter, mass, own geometry) is watched by comparing a few dozen bytes of
Chipmunk's own record with a copy. Where those bytes lie is found once by setting each property on a probe and
looking which bytes changed; if that finds nothing, all properties are read again each step. Only what changed
is read through pymunk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pymunk
import pymunk.batch
from pymunk import Body

from softkit import checks
from softkit._kernels import colliders as kernel

if TYPE_CHECKING:
    from pymunk import Shape, Space

F, INT = "f8", "i8"
BODY = np.dtype(
    [
        (n, F)
        for n in "x y a c s x0 y0 a0 c0 s0 px py pa pc ps vx vy w im ii ax ay aw jx jy jt dvx dvy dw".split()
    ]
    + [(n, INT) for n in "kind touched island".split()]
)
SHAPE = np.dtype(
    [(n, INT) for n in "kind body first count sensor group categories mask".split()]
    + [(n, F) for n in "radius friction elasticity surface_x surface_y cx cy reach".split()]
)
CORNER = np.dtype([(n, F) for n in "x y nx ny".split()])
NODE = np.dtype(
    [(n, F) for n in "x0 y0 x1 y1".split()] + [(n, INT) for n in "left right shape parent".split()]
)
HISTORY = np.dtype([(n, F) for n in "ex ey ea sx sy sw gx gy gw known".split()])
TABLE_WORDS = 7

FIELDS = (
    pymunk.batch.BodyFields.BODY_ID
    | pymunk.batch.BodyFields.POSITION
    | pymunk.batch.BodyFields.ANGLE
    | pymunk.batch.BodyFields.VELOCITY
    | pymunk.batch.BodyFields.ANGULAR_VELOCITY
)
KIND = {Body.STATIC: 0, Body.KINEMATIC: 1, Body.DYNAMIC: 2}


def _bytes(record: Any, size: int) -> np.ndarray:
    ffi = pymunk.batch.ffi
    return np.frombuffer(ffi.buffer(ffi.cast("char *", record), size), np.uint8).copy()


def _window(make: Any, record: Any, changes: list, size: int) -> tuple[int, int] | None:
    """The byte range of a Chipmunk record that the given property changes touch."""
    probe = make()
    before, low, high = _bytes(record(probe), size), size, 0
    for change in changes:
        change(probe)
        after = _bytes(record(probe), size)
        where = np.flatnonzero(before != after)
        if not len(where):
            return None
        low, high, before = min(low, int(where[0])), max(high, int(where[-1]) + 1), after
    return low // 8 * 8, min(size, -(-high // 8) * 8)


def _shape_windows() -> tuple[tuple[int, int], tuple[int, int]] | None:
    def make() -> Shape:
        return pymunk.Circle(Body(body_type=Body.STATIC), 1.0)

    def put(name: str, value: Any):
        return lambda shape: setattr(shape, name, value)

    def record(shape: Shape) -> Any:
        return shape._shape

    filters = pymunk.ShapeFilter(group=0x0102030405060708, categories=0x01020304, mask=0x05060708)
    properties = [put("sensor", True), put("elasticity", 0.7), put("friction", 0.3)]
    properties += [put("surface_velocity", (0.1, 0.3)), put("filter", filters)]
    geometry = [lambda shape: shape.unsafe_set_radius(1.7), lambda shape: shape.unsafe_set_offset((0.3, 0.7))]
    a = _window(make, record, properties, 176)
    b = _window(make, record, geometry, 64)
    return None if a is None or b is None else (a, b)


def _body_window() -> tuple[int, int] | None:
    def change_type(body: Body) -> None:
        body.body_type = Body.KINEMATIC

    changes = [
        lambda body: setattr(body, "mass", 1.7),
        lambda body: setattr(body, "moment", 2.3),
        lambda body: setattr(body, "center_of_gravity", (0.3, 0.7)),
        change_type,
    ]
    return _window(lambda: Body(1.0, 1.0), lambda body: body._body, changes[:3], 80)


class _Watch:
    """Which of many Chipmunk records changed since the last look, by bytes."""

    def __init__(self, windows: list[tuple[int, int]] | None) -> None:
        self.windows = windows
        self.set([])

    def set(self, records: list[Any]) -> None:
        ffi = pymunk.batch.ffi
        self.pointers = np.array([int(ffi.cast("uintptr_t", r)) for r in records], np.uintp)
        self.changed = np.ones(len(records), np.uint8)
        width = sum(high - low for low, high in self.windows) if self.windows else 1
        self.saved = np.zeros((len(records), width), np.uint8)
        self.look()

    def look(self) -> np.ndarray:
        """Indices of the records that changed; all of them where bytes cannot be watched."""
        if self.windows is None:
            return np.arange(len(self.pointers))
        if not len(self.pointers):
            return self.pointers.astype(np.int64)
        (a, b), (c, d) = (self.windows + [(0, 0)])[:2]
        found = kernel.watch(self.pointers, self.saved, self.changed, a, b, c, d)
        return np.flatnonzero(self.changed) if found else _NONE


_NONE = np.zeros(0, np.int64)
_SHAPE_WINDOWS = _shape_windows()
_BODY_WINDOW = _body_window()


def _geometry(shape: Shape) -> tuple[int, list[tuple[float, float]], float]:
    """Kind, vertices in the body's own frame and radius."""
    if isinstance(shape, pymunk.Circle):
        return 0, [tuple(shape.offset)], shape.radius
    if isinstance(shape, pymunk.Segment):
        return 1, [tuple(shape.a), tuple(shape.b)], shape.radius
    corners = [tuple(p) for p in shape.get_vertices()]
    area = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1]))
    return 2, corners if area >= 0 else corners[::-1], shape.radius


class _Tree:
    """A bounding volume tree over some of the shapes."""

    def __init__(self) -> None:
        self.leaves = np.zeros(0, np.int64)
        self.nodes = np.zeros(1, NODE)

    def reserve(self, leaves: np.ndarray) -> None:
        self.leaves = np.ascontiguousarray(leaves, np.int64)
        n = len(self.leaves)
        self.boxes = np.empty((n, 4))
        self.codes = np.empty(n, np.uint64)
        if len(self.nodes) < 2 * n or len(self.nodes) > 8 * n + 8:
            self.nodes = np.zeros(max(1, 2 * n), NODE)

    def build(self, table: np.ndarray) -> None:
        if len(self.leaves):
            kernel.shape_boxes(table, self.leaves, self.boxes)
            kernel.morton_codes(self.boxes, self.codes)
            order = np.argsort(self.codes, kind="stable")
            kernel.build_tree(order, self.leaves, self.boxes, self.nodes.view(np.uint8))

    @property
    def root(self) -> int:
        return 0 if len(self.leaves) else -1


class Colliders:
    """All shapes and bodies of a space, in the order in which the space got its shapes.

    `world.colliders` of a World. Games need it only for depth: `set_depth(shape, z_min, z_max)` and
    `set_round(shape)` say what a shape is to 3-D objects.
    """

    def __init__(self, space: Space | None, shape_depth: tuple[float, float] | None = None) -> None:
        self.space = space
        self.shape_depth = shape_depth
        self.depths: dict[Shape, tuple[float, float]] = {}
        self.rounds: dict[Shape, bool] = {}
        self.shapes: list[Shape] = []
        self.bodies: list[Body] = []
        self.index: dict[Body, int] = {}
        self.extra: list[Body] = []
        self.version = 0
        self._batch = pymunk.batch.Buffer()
        self._still, self._moving = _Tree(), _Tree()
        self._shape_watch = _Watch(list(_SHAPE_WINDOWS) if _SHAPE_WINDOWS else None)
        self._body_watch = _Watch([_BODY_WINDOW] if _BODY_WINDOW else None)
        self._ids = np.zeros(0, np.uintp)
        self._moving_bodies = _NONE
        self._start = np.zeros((0, 3))
        self.table = np.zeros(TABLE_WORDS, np.int64)
        self._stale, self._missing = True, False
        self._resize()

    # ------------------------------------------------------------ depth, for 3-D objects

    def _own(self, shape: Any) -> Shape:
        if not isinstance(shape, pymunk.Shape):
            raise TypeError(f"shape must be a pymunk.Shape, got {shape!r}")
        if self.space is None or shape.space is not self.space:
            raise ValueError(f"shape must be in this world's space, got {shape!r}")
        return shape

    def set_depth(self, shape: Shape, z_min: float, z_max: float) -> None:
        """Let a shape be a prism from z_min to z_max (wu, toward the viewer) for 3-D objects; otherwise
        World(shape_depth=...) says how deep it is, and None there means without end."""
        shape = self._own(shape)
        low, high = checks.number("z_min", z_min), checks.number("z_max", z_max)
        if low >= high:
            raise ValueError(f"z_max must be greater than z_min ({low:g}), got {z_max!r}")
        self.depths[shape] = (low, high)
        self.version += 1

    def set_round(self, shape: Shape) -> None:
        """Let a Circle be a ball and a Segment a capsule for 3-D objects."""
        if not isinstance(self._own(shape), pymunk.Circle | pymunk.Segment):
            raise TypeError(f"shape must be a Circle or a Segment, got {shape!r}")
        self.rounds[shape] = True
        self.version += 1

    # ------------------------------------------------------------ keeping up with the space

    def require(self, body: Body) -> None:
        """Have a body in the mirror from the next step on, though it may have no shapes: something is tied
        to it.
        """
        if body not in self.index and body not in self.extra:
            self.extra.append(body)
            self._missing = True

    def refresh(self) -> None:
        """Read everything again at the next step."""
        self._stale = True

    def _gather(self) -> None:
        """Take in the present list of shapes and bodies; what was known already is carried over, not read
        again.
        """
        space = self.space
        old_shapes = {shape: i for i, shape in enumerate(self.shapes)}
        old_bodies = self.index
        old = self._shape, self._corner_lists, self._body, self._history, self._cog
        self.shapes = list(space.shapes) if space else []
        self.extra = [
            b for b in self.extra if space is not None and (b.space is space or b is space.static_body)
        ]
        bodies = dict.fromkeys(shape.body for shape in self.shapes)
        bodies.update(dict.fromkeys(self.extra))
        self.bodies = [b for b in bodies if b is not None]
        self.index = {body: i for i, body in enumerate(self.bodies)}
        present = set(self.shapes)
        self.depths = {s: d for s, d in self.depths.items() if s in present}
        self.rounds = {s: d for s, d in self.rounds.items() if s in present}
        self._resize()
        self._shape_watch.set([s._shape for s in self.shapes])
        self._body_watch.set([b._body for b in self.bodies])
        for body, i in self.index.items():
            k = old_bodies.get(body)
            if k is None or self._stale:
                self._read_body(i)
            else:
                self._body[i], self._cog[i] = old[2][k], old[4][k]
            if k is not None:
                self._history[i] = old[3][k]
        fresh = []
        for i, shape in enumerate(self.shapes):
            k = old_shapes.get(shape)
            body = self.index[shape.body]
            self._shape_body[i] = body
            if k is None or self._stale:
                fresh.append(i)
            else:
                self._shape[i], self._corner_lists[i] = old[0][k], old[1][k]
                self._shape[i]["body"] = body
        self._read_shapes(fresh)
        self._ids = np.zeros(0, np.uintp)
        self._loners: list[int] = []
        self._stale = self._missing = False
        self._was_moving = None
        self.version += 1

    def _resize(self) -> None:
        bodies, shapes = len(self.bodies), len(self.shapes)
        self._body = np.zeros(max(1, bodies), BODY)
        self._history = np.zeros(max(1, bodies), HISTORY)
        self._cog = np.zeros((max(1, bodies), 2))
        self._row_of = np.zeros(max(1, bodies), np.int64)
        self._moved = np.zeros(max(1, bodies), np.uint8)
        self._out = np.zeros((max(1, bodies), 6))
        self._touched = np.zeros(max(1, bodies), np.int64)
        self._shape = np.zeros(max(1, shapes), SHAPE)
        self._shape_body = np.zeros(shapes, np.int64)
        self._corner_lists: list = [None] * shapes

    def _read_body(self, i: int) -> None:
        body, row = self.bodies[i], self._body[i]
        kind = KIND[body.body_type]
        if kind != row["kind"]:
            self._history[i] = 0
        row["kind"] = kind
        mass, moment = (body.mass, body.moment) if kind == 2 else (math.inf, math.inf)
        row["im"] = 1.0 / mass if kind == 2 and mass > 0 and math.isfinite(mass) else 0.0
        row["ii"] = 1.0 / moment if kind == 2 and moment > 0 and math.isfinite(moment) else 0.0
        row["island"] = -1
        self._cog[i] = body.center_of_gravity

    def _read_shapes(self, which: Any) -> None:
        for i in which:
            shape, row = self.shapes[i], self._shape[i]
            kind, corners, radius = _geometry(shape)
            body = self.index[shape.body]
            self._shape_body[i] = body
            cog = self._cog[body]
            self._corner_lists[i] = [(x - cog[0], y - cog[1]) for x, y in corners]
            f = shape.filter
            row["kind"], row["body"], row["sensor"], row["radius"] = kind, body, shape.sensor, radius
            row["group"] = f.group & 0x7FFFFFFFFFFFFFFF
            row["categories"], row["mask"] = f.categories & 0xFFFFFFFF, f.mask & 0xFFFFFFFF
            row["friction"], row["elasticity"] = shape.friction, shape.elasticity
            row["surface_x"], row["surface_y"] = shape.surface_velocity
        self._write_corners()

    def _write_corners(self) -> None:
        """Vertices with edge normals of all shapes in one array, and a circle round each shape."""
        counts = [len(c) for c in self._corner_lists]
        first = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        self._corner = np.zeros(max(1, int(first[-1])), CORNER)
        n = len(counts)
        self._shape["count"][:n] = counts
        self._shape["first"][:n] = first[:-1]
        if n:
            flat = np.array([p for c in self._corner_lists for p in c], np.float64).reshape(-1, 2)
            after = np.arange(1, len(flat) + 1)
            after[first[1:] - 1] = first[:-1]
            edge = flat[after] - flat
            length = np.hypot(edge[:, 0], edge[:, 1])
            length[length == 0] = 1.0
            self._corner["x"], self._corner["y"] = flat[:, 0], flat[:, 1]
            self._corner["nx"], self._corner["ny"] = edge[:, 1] / length, -edge[:, 0] / length
            low, high = np.minimum.reduceat(flat, first[:-1]), np.maximum.reduceat(flat, first[:-1])
            middle = 0.5 * (low + high)
            far = np.hypot(*(flat - np.repeat(middle, counts, axis=0)).T)
            self._shape["cx"][:n], self._shape["cy"][:n] = middle.T
            self._shape["reach"][:n] = np.maximum.reduceat(far, first[:-1]) + self._shape["radius"][:n]
        self.table[:3] = self._body.ctypes.data, self._shape.ctypes.data, self._corner.ctypes.data

    def _rows(self) -> np.ndarray:
        """(x, y, angle, vx, vy, w) of every body that pymunk hands out, and where in it each of ours is."""
        if self.space is None:
            return np.zeros((1, 6))
        self._batch.clear()
        pymunk.batch.get_space_bodies(self.space, FIELDS, self._batch)
        ids = np.frombuffer(self._batch.int_buf(), np.uintp)
        rows = np.frombuffer(self._batch.float_buf(), np.float64).reshape(-1, 6)
        if not np.array_equal(ids, self._ids):
            self._ids = ids.copy()
            place = {int(k): i for i, k in enumerate(ids)}
            missing = [i for i, b in enumerate(self.bodies) if b.id not in place]
            self._loners = missing
            for i, body in enumerate(self.bodies):
                self._row_of[i] = place.get(body.id, -1)
            for k, i in enumerate(missing):
                self._row_of[i] = len(ids) + k
        if self._loners:
            loners = [self.bodies[i] for i in self._loners]
            more = [(*b.position, b.angle, *b.velocity, b.angular_velocity) for b in loners]
            rows = np.concatenate((rows, np.array(more, np.float64)))
        return rows

    def begin_step(self, dt: float, gravity: tuple[float, float], teleport: float) -> None:
        """Bring the mirror up to the space and predict every body's motion over the coming step."""
        if self.space is None:
            self.table[4] = self.table[6] = -1
            return
        if self._stale or self._missing or self.shapes != list(self.space.shapes):
            self._gather()
        changed = self._body_watch.look()
        for i in changed:
            self._read_body(i)
        shapes = self._shape_watch.look()
        if len(changed):
            shapes = np.union1d(shapes, np.flatnonzero(np.isin(self._shape_body, changed)))
        if len(shapes):
            if any(self.shapes[i].body not in self.index for i in shapes):
                self._gather()
            else:
                self._read_shapes(shapes)
            self._was_moving = None
            self.version += 1
        count = len(self.bodies)
        rows = self._rows()
        kernel.begin_step(
            self._body.view(np.uint8),
            self._history.view(np.uint8),
            count,
            np.ascontiguousarray(rows),
            self._row_of,
            self._cog,
            dt,
            *gravity,
            teleport,
            self._moved,
        )
        self._sort_trees(self._moved[:count].astype(bool))

    def _sort_trees(self, moving: np.ndarray) -> None:
        if self._was_moving is None or not np.array_equal(moving, self._was_moving):
            self._was_moving = moving
            self._moving_bodies = np.flatnonzero(moving).astype(np.int64)
            shape_moves = moving[self._shape_body] if len(self._shape_body) else np.zeros(0, bool)
            self._still.reserve(np.flatnonzero(~shape_moves))
            self._moving.reserve(np.flatnonzero(shape_moves))
            self._still.build(self.table)
        self._moving.build(self.table)
        self.table[:3] = self._body.ctypes.data, self._shape.ctypes.data, self._corner.ctypes.data
        self.table[3:] = (
            self._still.nodes.ctypes.data,
            self._still.root,
            self._moving.nodes.ctypes.data,
            self._moving.root,
        )

    @property
    def moving_leaves(self) -> int:
        """Shapes on bodies that may move in this step."""
        return len(self._moving.leaves)

    @property
    def fastest(self) -> float:
        """The largest speed of any point of a dynamic shape, wu/s."""
        body = self._body[: len(self.bodies)]
        live = body["kind"] == 2
        if not live.any() or not len(self._shape_body):
            return 0.0
        reach = np.zeros(len(body))
        shape = self._shape[: len(self.shapes)]
        np.maximum.at(reach, self._shape_body, shape["reach"] + np.hypot(shape["cx"], shape["cy"]))
        speed = np.hypot(body["vx"], body["vy"]) + np.abs(body["w"]) * reach
        return float(speed[live].max())

    def begin_substep(self, h: float) -> None:
        """Move the bodies through one substep as they would go without soft contact."""
        if len(self._moving_bodies):
            kernel.begin_substep(self.table, self._moving_bodies, h)
            kernel.refit(self.table, self.moving_leaves)

    def end_substep(self, h: float, max_speed: float) -> int:
        """Turn this substep's soft impulses into velocity; how many bodies were spared an impossible one."""
        if len(self._moving_bodies):
            return kernel.end_substep(self.table, self._moving_bodies, h, max_speed)
        return 0

    def forget(self) -> None:
        """Nothing soft was stepped: what bodies do meanwhile is not motion to be made up for."""
        self._history[:] = 0

    def hand_back(self, dt: float) -> None:
        """Give pymunk's bodies what the soft objects did to them, just before the space steps."""
        count = len(self.bodies)
        if self.space is None or not count:
            return
        n = kernel.hand_back(
            self._body.view(np.uint8),
            self._history.view(np.uint8),
            count,
            self._cog,
            dt,
            self._out,
            self._touched,
        )
        for k in range(n):
            body, row = self.bodies[self._touched[k]], self._out[k].tolist()
            body.angle = row[2]
            body.position = row[0], row[1]
            body.velocity = row[3], row[4]
            body.angular_velocity = row[5]

    def depth_of(self, body: Body, point: np.ndarray) -> float:
        """How deep a point lies inside a body's solid shapes, wu; negative outside."""
        return kernel.depth_at(
            self.table, len(self.shapes), self.index[body], float(point[0]), float(point[1])
        )

    def start_pose(self, body: Body) -> tuple[float, float, float] | None:
        """(x, y, angle) that a body had at the start of the last step, or None for one that is not
        mirrored.
        """
        i = self.index.get(body)
        return None if i is None else tuple(self._start[i].tolist())

    def remember_start(self) -> None:
        """Keep the poses at the start of a step for drawing between steps."""
        b, n = self._body, len(self.bodies)
        self._start = np.empty((n, 3))
        self._start[:, 0] = b["x"][:n] - b["c"][:n] * self._cog[:n, 0] + b["s"][:n] * self._cog[:n, 1]
        self._start[:, 1] = b["y"][:n] - b["s"][:n] * self._cog[:n, 0] - b["c"][:n] * self._cog[:n, 1]
        self._start[:, 2] = b["a"][:n]
