"""3-D solids that sheets collide with: Sphere, Box, Capsule and Plane, free or fixed to a pymunk body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pymunk

from softkit import checks
from softkit.coupling import Attachment, check_body, in_space
from softkit.objects import SoftObject
from softkit.stages import Stage

if TYPE_CHECKING:
    from softkit.colliders import Colliders
    from softkit.world import World

SPHERE, CAPSULE, BOX, PLANE = range(4)
ROW = 43
FAR = 1e30


class SolidStage(Stage):
    """Takes each solid's motion over the step."""

    order = 0

    def prepare(self) -> None:
        for solid in self.objects:
            solid._follow(self.world)

    def end(self, h: float) -> None:
        for solid in self.objects:
            solid._pose[:7] = solid._pose[7:]


class Solid(SoftObject):
    """Base of the 3-D solids. They are added to a world like soft objects, and only sheets feel them.

    Args:
        position: (x, y, z) of the centre, wu; in the body's own coordinates where there is a `body`.
        body: a pymunk.Body that carries the solid; a dynamic one feels what touches the solid. Default None.
        friction: combined with the sheet's by the sheet's own rule; default 1, so that the sheet's friction
            holds.
        filter: pymunk.ShapeFilter; default None.
    """

    kind = "solid"
    stage = SolidStage

    def __init__(
        self, shape: int, sizes: Any, position: Any, rotation: Any, body: Any, friction: float, filter: Any
    ) -> None:
        super().__init__(radius=1.0, friction=friction, damping=0.0, filter=filter)
        self._shape = shape
        self._sizes = np.zeros(8)
        self._sizes[: len(sizes)] = sizes
        if body is not None:
            check_body(body, None)
        self._body = body
        pose = (*checks.vector("position", position, 3), *_quaternion("rotation", rotation))
        self._pose = np.array([*pose, *pose])
        self._x = self._v = np.zeros((0, 3))
        self._w = np.zeros(0)
        self._previous = self._x

    @property
    def body(self) -> pymunk.Body | None:
        """The body that carries the solid, or None."""
        return self._body

    @property
    def position(self) -> tuple[float, float, float]:
        """Centre, wu (in the body's coordinates where there is one). Setting it moves the solid there over
        the next step, pushing what is in its way; `place` puts it there at once."""
        return tuple(self._pose[7:10].tolist())

    @position.setter
    def position(self, value: Any) -> None:
        self._pose[7:10] = checks.vector("position", value, 3)

    @property
    def rotation(self) -> tuple[float, float, float, float]:
        """Unit quaternion (w, x, y, z); setting it turns the solid over the next step."""
        return tuple(self._pose[10:14].tolist())

    @rotation.setter
    def rotation(self, value: Any) -> None:
        turned = np.array(_quaternion("rotation", value))
        self._pose[10:14] = turned if float(turned @ self._pose[3:7]) >= 0.0 else -turned

    def place(self, position: Any, rotation: Any = None) -> None:
        """Put the solid somewhere at once, without pushing."""
        spot = checks.vector("position", position, 3)
        turned = self._pose[10:14].tolist() if rotation is None else _quaternion("rotation", rotation)
        self._pose[:] = [*spot, *turned] * 2

    def _follow(self, world: World) -> None:
        if self._body is not None and not in_space(self._body, world.space):
            self._body = None
            world.health.bodies_lost += 1
        if self._body is not None:
            world.colliders.require(self._body)

    def _row(self, out: np.ndarray, colliders: Colliders, fraction: float, part: float) -> None:
        """Fill the row that the contact kernel reads, for the substep that ends at `fraction` of the step."""
        out[0], out[1:9] = self._shape, self._sizes
        frames = [self._frame(fraction - part), self._frame(fraction)]
        out[36] = -1.0
        if self._body is not None:
            number = colliders.index[self._body]
            body, cog = colliders._body[number], colliders._cog[number]
            for k, (x, y, c, s) in enumerate((("x0", "y0", "c0", "s0"), ("x", "y", "c", "s"))):
                frames[k] = _carried(
                    frames[k], float(body[x]), float(body[y]), float(body[c]), float(body[s]), cog
                )
            out[36] = number
        for k, (spot, turn) in enumerate(frames):
            out[9 + 12 * k : 12 + 12 * k], out[12 + 12 * k : 21 + 12 * k] = spot, turn.reshape(-1)
        s = self._sizes
        out[33], out[35] = self._friction, s[0]
        out[37:40] = 0.0
        if self._shape == SPHERE:
            out[34] = s[0]
        elif self._shape == CAPSULE:
            out[34] = s[0] + float(np.linalg.norm(s[1:4]))
        elif self._shape == BOX:
            out[34], out[35] = float(np.linalg.norm(s[:3])), float(s[:3].min())
        else:
            out[34], out[35] = FAR, FAR
        f = self._filter
        out[40:43] = f.group & 0x7FFFFFFFFFFFF, f.categories & 0xFFFFFFFF, f.mask & 0xFFFFFFFF

    def _frame(self, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        """Centre and rotation matrix at a fraction of the step."""
        pose = self._pose[:7] + fraction * (self._pose[7:] - self._pose[:7])
        w, x, y, z = (pose[3:] / math.sqrt(float(pose[3:] @ pose[3:]))).tolist()
        turn = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        return pose[:3], turn

    # ------------------------------------------------------------ state

    def _arrays(self) -> dict[str, np.ndarray]:
        return {"pose": self._pose, "sizes": self._sizes}

    def _settings(self) -> dict[str, Any]:
        return {**super()._settings(), "shape": self._shape}

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        self._shape = settings["shape"]
        self._pose, self._sizes = arrays["pose"].copy(), arrays["sizes"].copy()
        self._x = self._v = self._previous = np.zeros((0, 3))
        self._w = np.zeros(0)

    @classmethod
    def _blank(cls) -> Solid:
        solid = super()._blank()
        solid._body = None
        return solid

    def _ties(self) -> list[tuple[int, Attachment]]:
        return [] if self._body is None else [(0, Attachment(self._body, (0.0, 0.0)))]

    def _set_ties(self, ties: dict[int, Attachment]) -> None:
        self._body = ties[0].body if ties else None

    def _check_world(self, world: World) -> None:
        if self._body is not None and not in_space(self._body, world.space):
            raise ValueError(f"objects must be fixed to bodies of this world's space, got {self._body!r}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {self.position}>"


def _quaternion(name: str, value: Any) -> tuple[float, ...]:
    parts = (1.0, 0.0, 0.0, 0.0) if value is None else checks.vector(name, value, 4)
    size = math.sqrt(sum(part * part for part in parts))
    if not size > 1e-9:
        raise ValueError(f"{name} must not be zero, got {value!r}")
    return tuple(part / size for part in parts)


def _from_y(name: str, axis: Any) -> tuple[float, ...]:
    """The quaternion that turns the y axis to a direction."""
    x, y, z = checks.vector(name, axis, 3)
    size = math.sqrt(x * x + y * y + z * z)
    if not size > 1e-9:
        raise ValueError(f"{name} must not be zero, got {axis!r}")
    x, y, z = x / size, y / size, z / size
    return (0.0, 1.0, 0.0, 0.0) if y < -0.999999 else _quaternion(name, (1.0 + y, z, 0.0, -x))


def _carried(
    frame: Any, x: float, y: float, c: float, s: float, cog: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    spot, turn = frame
    spin = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    away = spin @ (spot - (cog[0], cog[1], 0.0))
    return np.array([x, y, 0.0]) + away, spin @ turn


def rows_of(solids: list[Solid], colliders: Colliders, fraction: float, part: float) -> np.ndarray:
    """The rows of all solids for the substep that ends at `fraction` of the step and is `part` of it."""
    rows = np.zeros((len(solids), ROW))
    for row, solid in zip(rows, solids):
        solid._row(row, colliders, fraction, part)
    return rows


class Sphere(Solid):
    """A ball. center: (x, y, z), wu; radius: wu, > 0. The rest: see `Solid`."""

    kind = "sphere"

    def __init__(
        self,
        center: Any,
        radius: float,
        *,
        body: pymunk.Body | None = None,
        friction: float = 1.0,
        filter: pymunk.ShapeFilter | None = None,
    ) -> None:
        sizes = [checks.number("radius", radius, above=0.0)]
        super().__init__(SPHERE, sizes, center, None, body, friction, filter)


class Box(Solid):
    """A box. center: (x, y, z), wu; size: its three whole edges, wu, each > 0; rotation: a quaternion (w, x,
    y, z) or None."""

    kind = "box"

    def __init__(
        self,
        center: Any,
        size: Any,
        *,
        rotation: Any = None,
        body: pymunk.Body | None = None,
        friction: float = 1.0,
        filter: pymunk.ShapeFilter | None = None,
    ) -> None:
        edges = checks.vector("size", size, 3)
        if not min(edges) > 0.0:
            raise ValueError(f"size must be greater than 0 in each direction, got {size!r}")
        super().__init__(BOX, [0.5 * e for e in edges], center, rotation, body, friction, filter)


class Capsule(Solid):
    """A cylinder with round ends. a, b: its axis's ends, (x, y, z), wu; radius: wu, > 0. `position` is the
    middle."""

    kind = "capsule"

    def __init__(
        self,
        a: Any,
        b: Any,
        radius: float,
        *,
        body: pymunk.Body | None = None,
        friction: float = 1.0,
        filter: pymunk.ShapeFilter | None = None,
    ) -> None:
        p, q = (np.array(checks.vector(n, v, 3)) for n, v in (("a", a), ("b", b)))
        half = 0.5 * (q - p)
        sizes = [checks.number("radius", radius, above=0.0), *(-half), *half]
        super().__init__(CAPSULE, sizes, 0.5 * (p + q), None, body, friction, filter)


class Plane(Solid):
    """Everything on the far side of a plane. point: (x, y, z) on it; normal: the way out, of any length but
    0."""

    kind = "plane"

    def __init__(
        self,
        point: Any,
        normal: Any,
        *,
        body: pymunk.Body | None = None,
        friction: float = 1.0,
        filter: pymunk.ShapeFilter | None = None,
    ) -> None:
        super().__init__(PLANE, [], point, _from_y("normal", normal), body, friction, filter)
