"""Ropes: chains of particles whose links neither stretch nor care how long the chain or how heavy the load
is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pymunk

from softkit import checks
from softkit._kernels import ropes as kernel
from softkit.coupling import Attachment, check_body, in_space
from softkit.joins import Join
from softkit.objects import SoftObject, read_only
from softkit.rope_parts import MAX_SEGMENTS, part
from softkit.rope_stage import HOLD, TOUCH, RopeStage
from softkit.touch_block import TouchBlock

if TYPE_CHECKING:
    from softkit.world import World

SLOTS = 3
SCRATCH = kernel.record_sizes()[-1]


class Rope(SoftObject):
    """A rope from `start` to `end`, straight when made.

    Its links are solved all at once (a direct solve of the whole chain each substep, linear in segments), so
    the stretch depends on `stretch_compliance` alone: not on the number of segments, the load or the
    substeps. See `pyx/chain.pxd` for the method and its sources.

    Args:
        start, end: end points in wu. If they are the same point, `Rope.through` with `rest_length` says how
            long it is.
        segments: number of links, 1 to 100,000; default 20.
        mass: of the whole rope, pymunk's mass unit, 1e-12 to 1e12; default 1. Shared out by length.
        radius: half the rope's thickness, wu, > 0; default 2.
        stretch_compliance: stretch of one segment per unit of force, wu / force, >= 0; default 0 (does not
            stretch). The whole rope has `segments` of them in series. XPBD compliance (Macklin, Mueller,
            Chentanez 2016).
        bend_compliance: 1 / (flexural stiffness), 1 / (force wu^2), > 0; default None, a limp rope. A
            cantilever of length L under a small tip load P sinks P L^3 bend_compliance / 3, whatever the
            number of segments.
        damping: rate in 1/s, >= 0, default 0.1: velocity decays as exp(-damping t), relative to the mean
            motion of the rope's pins and of the static or kinematic bodies that hold it; if only dynamic
            bodies do, to the rope's own mean; if nothing does, to the space.
        friction: >= 0, default 0.7; see `friction_rule`.
        filter: pymunk.ShapeFilter; default meets everything.
        self_collision: whether the rope's links touch each other; default False.
        friction_rule, elasticity: see the properties of these names.
    """

    kind = "rope"
    stage = RopeStage
    STIFF: ClassVar[dict[str, Any]] = {"stretch_compliance": 0.0, "damping": 0.1}
    """Preset, as `Rope(a, b, **Rope.STIFF)`: the look of the classic Verlet string with many relaxation
    rounds.
    """
    STRETCHY: ClassVar[dict[str, Any]] = {"stretch_compliance": 2e-3, "damping": 0.4}
    """Preset: the look of the same string with few relaxation rounds, soft and bouncy like a rubber band."""

    def __init__(
        self,
        start: Sequence[float],
        end: Sequence[float],
        *,
        segments: int = 20,
        mass: float = 1.0,
        radius: float = 2.0,
        stretch_compliance: float = 0.0,
        bend_compliance: float | None = None,
        damping: float = 0.1,
        friction: float = 0.7,
        filter: pymunk.ShapeFilter | None = None,
        self_collision: bool = False,
        friction_rule: str = "product",
        elasticity: float = 1.0,
    ) -> None:
        a, b = np.array(checks.vector("start", start)), np.array(checks.vector("end", end))
        segments = checks.whole("segments", segments, 1, MAX_SEGMENTS)
        if not np.hypot(*(b - a)) > 1e-6 * segments:
            raise ValueError(f"end must not be the same point as start, got {tuple(end)!r}")
        mass = checks.number("mass", mass, checks.TINY, checks.LIMIT)
        super().__init__(
            radius=radius,
            friction=friction,
            damping=damping,
            filter=filter,
            friction_rule=friction_rule,
            elasticity=elasticity,
        )
        self._stretch_compliance = checks.number("stretch_compliance", stretch_compliance, 0.0, checks.LIMIT)
        self._bend_compliance = self._checked_bend(bend_compliance)
        self._self_collision = checks.truth("self_collision", self_collision)
        t = np.linspace(0.0, 1.0, segments + 1)[:, None]
        x = a + (b - a) * t
        x[-1] = b
        rest = np.full(segments, np.hypot(*(b - a)) / segments)
        self._start(x, rest, mass / rest.sum())

    @classmethod
    def through(
        cls,
        points: Sequence[Sequence[float]],
        *,
        segments: int | None = None,
        rest_length: float | None = None,
        **options: Any,
    ) -> Rope:
        """A rope along a polyline.

        Args:
            points: (n, 2) places in wu, n >= 2.
            segments: links, spread evenly along the line; default None, one between each two points.
            rest_length: length without load, wu, > 0; default None, the length of the line. Shorter or longer
                than the line, the rope pulls or hangs through from the first step.
            options: as for `Rope`.
        """
        line = checks.points("points", points, 2, 2)
        step = np.hypot(*np.diff(line, axis=0).T)
        if not step.sum() > 0 and rest_length is None:
            raise ValueError(f"points must not all be one place without a rest_length, got {points!r}")
        if segments is not None:
            segments = checks.whole("segments", segments, 1, MAX_SEGMENTS)
            along = np.concatenate(([0.0], np.cumsum(step)))
            at = np.linspace(0.0, along[-1], segments + 1)
            line = np.stack([np.interp(at, along, line[:, k]) for k in range(2)], axis=1)
            step = np.full(segments, along[-1] / segments)
        elif rest_length is None and not (step > 0).all():
            raise ValueError(f"points[{int(np.argmin(step)) + 1}] must differ from the point before it")
        if rest_length is not None:
            rest_length = checks.number("rest_length", rest_length, above=0.0)
            total = step.sum()
            step = step * (rest_length / total) if total > 0 else np.full(len(step), rest_length / len(step))
        step = np.maximum(step, 1e-6)
        rope = cls((0.0, 0.0), (1.0, 0.0), segments=len(step), **options)
        rope._start(line, step, rope.mass / step.sum())
        return rope

    @staticmethod
    def _checked_bend(value: float | None) -> float | None:
        return None if value is None else checks.number("bend_compliance", value, checks.TINY, checks.LIMIT)

    def _start(self, x: np.ndarray, rest: np.ndarray, density: float) -> None:
        """State of a rope at rest at x."""
        self._density = density
        self._segment = float(rest.mean())
        self._anchors: dict[int, Attachment] = {}
        self._pins: set[int] = set()
        self._joins: list[Join] = []
        self._extra = np.zeros(len(x))
        self._max_tension: float | None = None
        self._winch = self._wound = float(rest.sum())
        self._feed = 0.0
        self._reel_speed = 2.0 * self._winch
        self._feed_end = 0
        self.on_break: Callable[[Rope, Rope, tuple[float, float]], None] | None = None
        self._allocate(x, np.zeros_like(x), rest, np.zeros(len(rest)))

    def _allocate(self, x: np.ndarray, v: np.ndarray, rest: np.ndarray, lam: np.ndarray) -> None:
        """Arrays for these nodes; kernels keep their addresses until the next call."""
        n = len(x)
        # Copies: two pieces of one rope must not write the same memory.
        self._x, self._v, self._rest, self._lam = (
            np.array(a, np.float64, order="C") for a in (x, v, rest, lam)
        )
        self._previous, self._target, self._x0 = self._x.copy(), self._x.copy(), self._x.copy()
        self._w, self._W, self._f = np.empty(n), np.zeros((n, 3)), np.zeros((n, 2))
        self._y, self._drift_lam = np.zeros((n, 2)), np.zeros(n - 1)
        self._pull, self._knot = np.zeros((n, 2)), np.zeros((n, 2))
        self._tension, self._more = np.zeros(n - 1), np.zeros((n, 2))
        self._scratch = np.zeros(n * SCRATCH)
        self._touch = np.zeros(n * SLOTS, TOUCH)
        self._touch["shape"] = -1
        self._hold = np.zeros(n, HOLD)
        self._hold["shape"] = -1
        self._weigh()

    def _weigh(self) -> None:
        """Inverse masses from the rest lengths, what nodes carry besides, and pins."""
        mass = self._masses()
        self._w[:] = 1.0 / mass
        self._w[list(self._pins)] = 0.0

    def _masses(self) -> np.ndarray:
        half = 0.5 * self._density * self._rest
        mass = self._extra.copy()
        mass[:-1] += half
        mass[1:] += half
        return mass

    # ------------------------------------------------------------ what it is

    @property
    def segments(self) -> int:
        """Number of links: `count` - 1."""
        return len(self._rest)

    @property
    def mass(self) -> float:
        """Mass of the whole rope, what `set_mass` added included. Setting it scales every node."""
        return float(self._masses().sum())

    @mass.setter
    def mass(self, value: float) -> None:
        scale = checks.number("mass", value, checks.TINY, checks.LIMIT) / self.mass
        self._density *= scale
        self._extra *= scale
        self._weigh()
        self._changed()

    @property
    def masses(self) -> np.ndarray:
        """(count,) node masses: a copy."""
        return self._masses()

    def set_mass(self, i: int, mass: float | None) -> None:
        """Make node `i` weigh `mass` (at least its share of the rope's own), or its own share again with
        None.
        """
        i = checks.index("i", i, self.count)
        own = float(self._masses()[i] - self._extra[i])
        if mass is not None and checks.number("mass", mass, checks.TINY, checks.LIMIT) < own * (1 - 1e-9):
            raise ValueError(f"mass must be at least the node's share of the rope, {own:g}, got {mass!r}")
        self._extra[i] = 0.0 if mass is None else max(0.0, float(mass) - own)
        self._weigh()

    @property
    def stretch_compliance(self) -> float:
        """Stretch of one segment per unit of force, wu / force; may change while running."""
        return self._stretch_compliance

    @stretch_compliance.setter
    def stretch_compliance(self, value: float) -> None:
        self._stretch_compliance = checks.number("stretch_compliance", value, 0.0, checks.LIMIT)
        self._changed()

    @property
    def bend_compliance(self) -> float | None:
        """1 / (flexural stiffness), 1 / (force wu^2), or None: limp."""
        return self._bend_compliance

    @bend_compliance.setter
    def bend_compliance(self, value: float | None) -> None:
        self._bend_compliance = self._checked_bend(value)
        self._changed()

    @property
    def self_collision(self) -> bool:
        """Whether the rope's links touch each other."""
        return self._self_collision

    @self_collision.setter
    def self_collision(self, value: bool) -> None:
        self._self_collision = checks.truth("self_collision", value)
        self._changed()

    @property
    def length(self) -> float:
        """Length along the nodes now, wu."""
        return float(np.hypot(*np.diff(self._x, axis=0).T).sum())

    @property
    def stretch(self) -> float:
        """Length beyond the rest length, as a fraction of it."""
        rest = float(self._rest.sum())
        return self.length / rest - 1.0

    @property
    def tension(self) -> np.ndarray:
        """(segments,) force in each link, mean over the last step; negative where a link is pushed
        together.
        """
        return read_only(self._tension)

    @property
    def max_tension(self) -> float | None:
        """A link pulled harder than this in a step breaks; None (default): never."""
        return self._max_tension

    @max_tension.setter
    def max_tension(self, value: float | None) -> None:
        self._max_tension = None if value is None else checks.number("max_tension", value, above=0.0)

    @property
    def rest_length(self) -> float:
        """Length without load, wu. Setting it winds rope in or out at `feed_end`, at `reel_speed` and no
        faster: links there grow, shrink, split and vanish, the rest keep their length and mass. At least 1 %
        of a segment is left.
        """
        return self._winch

    @rest_length.setter
    def rest_length(self, value: float) -> None:
        value = checks.number("rest_length", value, above=0.0)
        if value > MAX_SEGMENTS * self._segment:
            raise ValueError(f"rest_length must stay below {MAX_SEGMENTS} segments, got {value!r}")
        self._winch = value
        self._changed()

    @property
    def reel_speed(self) -> float:
        """Fastest winding, wu/s, > 0; default twice the first rest length per second."""
        return self._reel_speed

    @reel_speed.setter
    def reel_speed(self, value: float) -> None:
        self._reel_speed = checks.number("reel_speed", value, 0.0, checks.LIMIT, above=0.0)
        self._changed()

    @property
    def feed_end(self) -> int:
        """The end at which `rest_length` winds: 0 (default) or -1. Winding inserts and removes nodes next to
        it, so indices counted from the other end stay put."""
        return self._feed_end

    @feed_end.setter
    def feed_end(self, value: int) -> None:
        self._feed_end = checks.whole("feed_end", value, -1, 0)
        self._changed()

    # ------------------------------------------------------------ holding

    def pin(self, i: int) -> None:
        """Hold node `i` where it is, at rest."""
        i = checks.index("i", i, self.count)
        self._anchors.pop(i, None)
        self._pins.add(i)
        self._hold_at(i, self._x[i])

    def unpin(self, i: int) -> None:
        """Let a pinned node go, at rest; one that is not pinned stays as it is."""
        i = checks.index("i", i, self.count)
        if i in self._pins:
            self._pins.discard(i)
            self._weigh()
            self._changed()

    def pinned(self, i: int) -> bool:
        """Is node `i` pinned?"""
        return checks.index("i", i, self.count) in self._pins

    def _hold_at(self, i: int, place: Any) -> None:
        self._target[i] = place
        self._v[i] = 0.0
        self._weigh()
        self._changed()

    def move(self, i: int, p: Sequence[float]) -> None:
        """Put node `i` at `p`. A pinned node gets there over the next step, pushing what is in its way; a
        free one at once, with the rope drawn after it and no velocity given."""
        i, place = checks.index("i", i, self.count), np.array(checks.vector("p", p))
        if i in self._anchors:
            raise ValueError(f"i must not be attached to a body, got {i}: detach it first")
        if i in self._pins and self._world is not None:
            self._target[i] = place
        else:
            self._drag(i, place)

    def translate(self, offset: Sequence[float]) -> None:
        """Move the whole rope by `offset`, velocities kept."""
        d = np.array(checks.vector("offset", offset))
        for array in (self._x, self._previous, self._target, self._x0):
            array += d
        self._hold["shape"] = -1

    def _drag(self, i: int, place: np.ndarray) -> None:
        """Put a node somewhere without velocity; its neighbours follow as far as their links make them."""
        self._hold["shape"] = -1
        kernel.drag(self._x, self._previous, self._target, self._w, self._rest, i, *map(float, place))

    def attach(self, i: int, body: pymunk.Body, local: Sequence[float] | None = None) -> None:
        """Tie node `i` to a point of a pymunk body: it goes where the body goes and pulls a dynamic one.

        Args:
            i: node, negatives count from the end. A pin or earlier tie of this node is given up.
            body: in the world's space, or its static_body; before `World.add`, any body.
            local: the point in the body's coordinates, wu; default None, where the node is now. Given, the
                node goes there at once and the rope is drawn after it.

        The tie ends when the body leaves the space. Nodes next to it that lie inside the body's own shapes do
        not touch them.
        """
        i = checks.index("i", i, self.count)
        check_body(body, self._world)
        if local is not None:
            local = checks.vector("local", local)
        self._pins.discard(i)
        if local is None:
            local = tuple(body.world_to_local(tuple(self._x[i])))
        else:
            self._drag(i, np.array(body.local_to_world(local)))
        self._anchors[i] = Attachment(body, local)
        self._weigh()
        self._changed()

    @property
    def attachments(self) -> dict[int, tuple[pymunk.Body, tuple[float, float]]]:
        """Node -> (body, point in the body's coordinates): a copy."""
        return {i: (a.body, a.local) for i, a in sorted(self._anchors.items())}

    @property
    def joins(self) -> list[tuple[int, Rope, int]]:
        """(own node, other rope, its node) of every join: a copy."""
        return [j.seen_from(self) for j in self._joins]

    def detach(self, i: int) -> None:
        """Untie node `i` from its body and from every rope it is joined to."""
        i = checks.index("i", i, self.count)
        self._anchors.pop(i, None)
        for join in [j for j in self._joins if (self, i) in j.ends]:
            join.release()
        self._changed()

    def join(self, i: int, other: Rope, j: int) -> None:
        """Make node `i` and node `j` of another rope, or of a soft body, one point, from now on.

        They meet at once, by mass, the ropes drawn after them; a pinned or attached node stays where it is.
        """
        i = checks.index("i", i, self.count)
        if getattr(other, "kind", None) == "softbody":
            other.join(j, self, i)
            return
        if not isinstance(other, Rope):
            raise TypeError(f"other must be a Rope, got {other!r}")
        if other is self:
            raise ValueError(f"other must be another rope, got {other!r} itself")
        if self._world is not None and other._world is not self._world:
            raise ValueError(f"other must be in the same world, got {other!r}")
        j = checks.index("j", j, other.count)
        self._meet(i, other, j)
        Join((self, i), (other, j))

    def _meet(self, i: int, other: Rope, j: int) -> None:
        ends: list[tuple[Rope, int]] = [(self, i), (other, j)]
        fixed = [k in rope._anchors or k in rope._pins for rope, k in ends]
        if all(fixed) or np.array_equal(self._x[i], other._x[j]):
            return
        mass = [1.0 / rope._w[k] if rope._w[k] > 0.0 else 1.0 for rope, k in ends]
        share = mass[1] / (mass[0] + mass[1]) if not any(fixed) else float(fixed[1])
        place = self._x[i] + share * (other._x[j] - self._x[i])
        for (rope, k), stays in zip(ends, fixed):
            if not stays:
                rope._drag(k, place)

    # ------------------------------------------------------------ parting

    def cut(self, i: int) -> Rope:
        """Cut the rope at node `i`: this one keeps the nodes up to it, the returned one, in the same world,
        begins there.

        Masses add up to the old one, velocities and attachments stay with their nodes; a hold of node `i`
        itself stays with this rope. Raises IndexError unless there is a link on both sides.
        """
        i = checks.index("i", i, self.count)
        if not 0 < i < self.count - 1:
            raise IndexError(f"i must have a link on both sides (1 to {self.count - 2}), got {i}")
        return part(self, i, i)

    # ------------------------------------------------------------ state

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("x", "v", "rest", "lam", "previous", "target", "tension", "extra")
        state = {name: getattr(self, f"_{name}") for name in names}
        return {**state, **self._lying()}

    def _lying(self) -> dict[str, np.ndarray]:
        """What nodes lie on, by the number of the shape in the space, and along which normal; (-1, 0, 0) for
        none.
        """
        shape = self._hold["shape"]
        if self._world is not None and (shape >= 0).any():
            shape = self._world._stage_of(self).shape_numbers()[shape]
        on = shape >= 0
        normal = np.stack([self._hold["nx"], self._hold["ny"]], axis=1) * on[:, None]
        return {"lies_on": shape, "lies_along": normal}

    def _settings(self) -> dict[str, Any]:
        state = super()._settings()
        names = (
            "stretch_compliance bend_compliance self_collision max_tension "
            "winch reel_speed feed_end density segment"
        )
        state.update({name: getattr(self, f"_{name}") for name in names.split()})
        state["pins"] = sorted(self._pins)
        return state

    def _load(self, settings: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        super()._load(settings, arrays)
        names = (
            "stretch_compliance bend_compliance self_collision max_tension "
            "winch reel_speed feed_end density segment"
        )
        for name in names.split():
            setattr(self, f"_{name}", settings[name])
        self._wound = None
        self._pins = set(settings["pins"])
        self._extra = arrays["extra"].copy()
        self._allocate(arrays["x"].copy(), arrays["v"].copy(), arrays["rest"].copy(), arrays["lam"].copy())
        for name in ("previous", "target", "tension"):
            getattr(self, f"_{name}")[:] = arrays[name]
        self._hold["shape"] = arrays["lies_on"]
        self._hold["nx"], self._hold["ny"] = arrays["lies_along"].T

    @classmethod
    def _blank(cls) -> Rope:
        rope = super()._blank()
        rope._anchors, rope._joins, rope.on_break = {}, [], None
        rope._wound, rope._feed = None, 0.0
        return rope

    def _ties(self) -> list[tuple[int, Attachment]]:
        return sorted(self._anchors.items())

    def _set_ties(self, ties: dict[int, Attachment]) -> None:
        self._anchors = ties
        self._changed()

    def _joined(self) -> list[tuple[int, SoftObject, int]]:
        return self.joins

    def _release_joins(self) -> None:
        for join in list(self._joins):
            join.release()

    def _check_world(self, world: World) -> None:
        for i, tie in self._anchors.items():
            if not in_space(tie.body, world.space):
                raise ValueError(
                    f"objects must be attached to bodies of this world's space, node {i} is not: {tie.body!r}"
                )

    def _left_world(self) -> None:
        self._release_joins()
        self._hold["shape"] = -1

    def _touch_block(self) -> TouchBlock:
        # ropes touch ropes, and themselves, in their own stage
        return TouchBlock(self._x, self._x0, self._v, self._w, self._links(), family=1)

    def _links(self) -> np.ndarray:
        i = np.arange(self.count - 1)
        return np.stack([i, i + 1], axis=1)

    def _reach(self) -> float:
        return float(np.hypot(*np.diff(self._x, axis=0).T).max())

    def __repr__(self) -> str:
        return f"<Rope of {self.segments} segments, {self._winch:g} wu>"
