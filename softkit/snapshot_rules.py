"""What each kind of soft object may have in a snapshot: the wall that data from a stranger meets.

A snapshot with the right digest can still have been made by hand. Kernels do not check indices, so every
array has a declared type, shape and range here, and every setting the check that its property has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pymunk

from softkit import checks

PLACE = 1e15
"""wu, farther than anything gets at the fastest `max_speed` in a year."""
BIG = 1e60
"""For forces and multipliers: their squares stay finite."""
FILTER = (1 << 64) - 1


class Array(NamedTuple):
    """One array: its type, its shape (numbers, or letters that stand for one number in the whole object), and
    the range of its values; `below` names a letter that its values must stay below.
    """

    dtype: str
    shape: str
    low: float = -BIG
    high: float = BIG
    below: str = ""


class Records(NamedTuple):
    """Bytes of `slots` records per particle: (shape, nx, ny, impulse)."""

    slots: int


TOUCH = np.dtype([("shape", "i8"), ("nx", "f8"), ("ny", "f8"), ("impulse", "f8")])


def number(low: float = -checks.LIMIT, high: float = checks.LIMIT, above: float | None = None) -> Callable:
    return lambda name, value: checks.number(name, value, low, high, above=above)


def whole(low: int, high: int) -> Callable:
    return lambda name, value: checks.whole(name, value, low, high)


def choice(*options: Any) -> Callable:
    return lambda name, value: checks.choice(name, value, options)


def maybe(check: Callable) -> Callable:
    return lambda name, value: None if value is None else check(name, value)


def row(*parts: Callable) -> Callable:
    def check(name: str, value: Any) -> list:
        if not isinstance(value, list) or len(value) != len(parts):
            raise ValueError(f"{name} must be {len(parts)} values, got {value!r}")
        return [part(f"{name}[{i}]", item) for i, (part, item) in enumerate(zip(parts, value))]

    return check


def rows(part: Callable, most: int = 1_000_000) -> Callable:
    def check(name: str, value: Any) -> list:
        if not isinstance(value, list) or len(value) > most:
            raise ValueError(f"{name} must be a list of at most {most}, got {value!r:.80}")
        return [part(f"{name}[{i}]", item) for i, item in enumerate(value)]

    return check


def table(parts: dict[str, Callable]) -> Callable:
    def check(name: str, value: Any) -> dict:
        if not isinstance(value, dict) or value.keys() != parts.keys():
            raise ValueError(f"{name} must have {', '.join(parts)}, got {value!r:.80}")
        return {key: part(f"{name}.{key}", value[key]) for key, part in parts.items()}

    return check


def plain(name: str, value: Any, depth: int = 0) -> Any:
    """Any JSON value without an endless number in it."""
    if depth > 8:
        raise ValueError(f"{name} must not be nested deeper than 8")
    if isinstance(value, list):
        return [plain(name, item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key: plain(name, item, depth + 1) for key, item in value.items()}
    if isinstance(value, float | int) and not isinstance(value, bool):
        if not abs(value) < 1 << 64 and not (isinstance(value, float) and math.isfinite(value)):
            raise ValueError(f"{name} must be finite, got {value!r:.80}")
    return value


free, share, amount, count = number(), number(0.0, 1.0), number(0.0), whole(0, 1 << 62)
positive, tiny = number(above=0.0), number(checks.TINY)
point, point4 = row(free, free), row(free, free, free, free)
PINS = rows(count)
COMMON = {
    "radius": positive,
    "friction": amount,
    "damping": amount,
    "elasticity": share,
    "friction_rule": choice("product", "own", "geometric", "maximum"),
    "filter": row(*(whole(0, FILTER),) * 3),
}

ROPE = {
    "stretch_compliance": amount,
    "bend_compliance": maybe(tiny),
    "self_collision": checks.truth,
    "max_tension": maybe(number(0.0, math.inf, above=0.0)),
    "winch": number(above=0.0, high=PLACE),
    "reel_speed": positive,
    "feed_end": whole(-1, 0),
    "density": number(above=0.0, high=BIG),
    "segment": number(above=0.0, high=PLACE),
    "pins": PINS,
}
CLOTH = {
    **dict.fromkeys(("stretch_compliance", "shear_compliance", "air_density"), number(0.0, math.inf)),
    **dict.fromkeys(("drag", "lift"), number(0.0, 10.0)),
    "thickness": number(0.0, PLACE, above=0.0),
    "bend_compliance": maybe(number(0.0, math.inf, above=0.0)),
    "tear_strain": maybe(number(0.0, math.inf, above=0.0)),
    "self_collision": checks.truth,
    "touched": checks.truth,
    "density": number(0.0, BIG, above=0.0),
    "grid": maybe(row(whole(2, 1024), whole(2, 1024))),
    "steps": row(number(0.0, PLACE, above=0.0), number(0.0, PLACE, above=0.0)),
    "pins": PINS,
}
EMITTER = {
    "position": point,
    "direction": row(number(-2.0, 2.0), number(-2.0, 2.0)),
    **dict.fromkeys(("width", "speed", "rate"), number(0.0, 1e12)),
    "jitter": share,
    "color": maybe(row(*(number(0.0, 255.0),) * 4)),
    "seed": whole(0, FILTER),
    "limit": maybe(count),
    "when_full": choice("stop", "oldest"),
    "enabled": checks.truth,
    "emitted": count,
    "due": number(0.0, 1e9),
}
FLUID = {
    "_spacing": number(0.01, 1e4),
    "_rest_density": number(1e-9, 1e9),
    "_surface_tension": share,
    "_vorticity": number(0.0, 10.0),
    **dict.fromkeys(("_viscosity", "_settling", "_color_mixing"), number(0.0, 1000.0)),
    "_capacity": maybe(whole(1, 4_000_000)),
    "_next_id": count,
    "bounds": maybe(row(free, free, positive, positive)),
    "emitters": rows(table(EMITTER)),
    "drains": rows(row(maybe(point4), maybe(number(0.0, 1e12)), checks.truth, count, number(0.0, 1e9))),
}
CURVE = {"size": 1, "color": 3, "alpha": 1}
PARTICLES = {
    "capacity": whole(1, 4_000_000),
    "lifetime": row(number(1e-6), number(1e-6)),
    "spin": point,
    "mass": number(1e-12, 1e12),
    "gravity_scale": number(-1e6, 1e6),
    "on_hit": choice("bounce", "stick", "die", "pass"),
    "bounce": maybe(share),
    "seed": whole(0, FILTER),
    "trail_length": whole(0, 64),
    "trail_every": whole(1, 1000),
    "report": checks.truth,
    "next": count,
    "steps": count,
    **{name: row(*(row(*(number(0.0, 1e6),) * width),) * 64) for name, width in CURVE.items()},
    "emitters": rows(row(number(0.0, 1e9), checks.truth, number(0.0, 2.0), free, free, free, free)),
}
SOFTBODY = {
    "pressure": number(0.01, 100.0),
    "stiffness": share,
    **dict.fromkeys(("stretch_compliance", "bend_compliance"), maybe(amount)),
    "max_deviation": maybe(positive),
    **dict.fromkeys(("internal_damping", "plasticity", "plastic_yield"), amount),
    "mass": tiny,
    "scale": number(0.0, 1e4, above=0.0),
    "pins": PINS,
    "whole": checks.truth,
    "grid": maybe(row(*(whole(1, 1024),) * 3)),
}
SETTINGS = {
    "rope": ROPE,
    "cloth": CLOTH,
    "fluid": FLUID,
    "particles": PARTICLES,
    "softbody": SOFTBODY,
    **{kind: {"shape": whole(i, i)} for i, kind in ((0, "sphere"), (1, "capsule"), (2, "box"), (3, "plane"))},
}

_spot, _moving = Array("f8", "n 2", -PLACE, PLACE), Array("f8", "n 2", -1e13, 1e13)
_spot3, _moving3 = Array("f8", "3 n", -PLACE, PLACE), Array("f8", "3 n", -1e13, 1e13)
_body, _body_v = Array("f8", "n d", -PLACE, PLACE), Array("f8", "n d", -1e13, 1e13)
_solid = {"pose": Array("f8", "14", -PLACE, PLACE), "sizes": Array("f8", "8", -PLACE, PLACE)}
ARRAYS: dict[str, dict[str, Array | Records]] = {
    "rope": {
        "x": _spot,
        "v": _moving,
        "previous": _spot,
        "target": _spot,
        "rest": Array("f8", "m", 1e-12, PLACE),
        "lam": Array("f8", "m"),
        "tension": Array("f8", "m"),
        "extra": Array("f8", "n", 0.0, 1e13),
        "lies_on": Array("i8", "n", -1, below="shapes"),
        "lies_along": Array("f8", "n 2", -2.0, 2.0),
    },
    "cloth": {
        "p": _spot3,
        "v": _moving3,
        "previous": _spot3,
        "target": Array("f8", "n 3", -PLACE, PLACE),
        "rest": Array("f8", "n 3", -PLACE, PLACE),
        "mass": Array("f8", "n", 1e-60),
        "faces": Array("i4", "f 3", 0, below="n"),
        "block": Array("i8", "f", 0, below="f"),
        "uvs": Array("f8", "n 2"),
        "welded": Array("i8", "w", 0, below="n"),
        "edge_live": Array("f8", "e", 0.0, 1.0),
        "face_live": Array("u1", "f", 0, 1),
        "grip": Array("f8", "4 n"),
        "owner": Array("i8", "n"),
        "touch": Records(3),
    },
    "fluid": {
        "_x": _spot,
        "_v": _moving,
        "_previous": _spot,
        "_w": Array("f8", "n", 1e-60),
        "_density": Array("f8", "n"),
        "_color": Array("f4", "n 4", -1.0, 256.0),
        "_ids": Array("i8", "n", 0, 1 << 62),
    },
    "particles": {
        "x": _spot,
        "v": _moving,
        "previous": _spot,
        "traits": Array("f8", "n 5"),
        "ids": Array("i8", "n", 0, 1 << 62),
        "trail": Array("f8", "n t 2", -PLACE, PLACE),
    },
    "softbody": {
        "bounce": Array("f8", "9"),
        "x": _body,
        "v": _body_v,
        "previous": _body,
        "target": _body,
        "q": _body,
        "pose": Array("f8", "k", -2.0, 2.0),
        "rest": Array("f8", "l", 0.0, PLACE),
        "layout_rest": _body,
        "layout_shares": Array("f8", "n", 1e-60, 2.0),
        "layout_links": Array("i4", "l 2", 0, below="n"),
        "layout_kinds": Array("i8", "l", 0, 2),
        "layout_ring": Array("i4", "r", 0, below="n"),
        "layout_cells": Array("i4", "c 3|4", 0, below="n"),
        "layout_faces": Array("i4", "f 3", 0, below="n"),
        "layout_edges": Array("i4", "b 2", 0, below="n"),
        "welded": Array("i8", "w", 0, below="n"),
        "touch": Records(3),
    },
    **dict.fromkeys(("sphere", "capsule", "box", "plane"), _solid),
}
OPTIONAL = {("particles", "trail")}


def undeclared(kind: str, settings: dict, arrays: dict) -> list[str]:
    """Names in an object's state that have no rule here: they are only looked through for endless numbers."""
    known = {*COMMON, *SETTINGS.get(kind, {})}, set(ARRAYS.get(kind, {}))
    return sorted({*settings} - known[0]) + sorted({*arrays} - known[1])


def settings(kind: str, given: Any) -> dict[str, Any]:
    """The checked settings of an object of a kind."""
    if not isinstance(given, dict):
        raise ValueError(f"settings must be a table, got {given!r:.80}")
    rules = {**COMMON, **SETTINGS.get(kind, {})}
    missing = rules.keys() - given.keys()
    if missing:
        raise ValueError(f"settings of a {kind} must have {sorted(missing)[0]!r}")
    checked = {name: rules.get(name, plain)(f"{kind}.{name}", value) for name, value in given.items()}
    for name in rules:
        if name in ("lifetime", "spin", "grid", "steps") and isinstance(checked[name], list):
            checked[name] = tuple(checked[name])
    pymunk.ShapeFilter(*checked["filter"])
    return checked


def arrays(kind: str, given: dict[str, np.ndarray], shapes: int) -> dict[str, int]:
    """Check the arrays of an object; `shapes`: how many the space had. Gives each letter's value."""
    rules = ARRAYS.get(kind, {})
    missing = [name for name in rules if name not in given and (kind, name) not in OPTIONAL]
    if missing:
        raise ValueError(f"arrays of a {kind} must have {missing[0]!r}")
    sizes = {"shapes": shapes}
    for name in [*(n for n in rules if n in given), *(n for n in given if n not in rules)]:
        array, rule = given[name], rules.get(name)
        if isinstance(rule, Records):
            _records(f"{kind}.{name}", array, sizes["n"] * rule.slots, shapes)
        elif rule is None:
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise ValueError(f"{kind}.{name} must be finite")
        else:
            _array(f"{kind}.{name}", array, rule, sizes)
    return sizes


def _array(name: str, array: np.ndarray, rule: Array, sizes: dict[str, int]) -> None:
    if array.dtype != np.dtype("<" + rule.dtype):
        raise ValueError(f"{name} must be of type {rule.dtype}, got {array.dtype}")
    wanted = rule.shape.split()
    fits = len(wanted) == array.ndim
    for part, size in zip(wanted, array.shape):
        if part[0].isdigit():
            fits = fits and str(size) in part.split("|")
        else:
            fits = fits and sizes.setdefault(part, size) == size
    if not fits:
        raise ValueError(f"{name} must have shape ({rule.shape}), got {array.shape}")
    if not array.size:
        return
    # Not numbers fail both comparisons, as min and max pass them on.
    low, high = array.min(), array.max()
    below = sizes[rule.below] - 1 if rule.below else rule.high
    if not (low >= rule.low and high <= below):
        raise ValueError(f"{name} must be between {rule.low:g} and {below:g}, got {low!r} to {high!r}")


def _records(name: str, array: np.ndarray, count: int, shapes: int) -> None:
    if array.dtype != np.uint8 or array.shape != (count * TOUCH.itemsize,):
        raise ValueError(f"{name} must be {count} records, got shape {array.shape} of {array.dtype}")
    touch = np.frombuffer(array.tobytes(), TOUCH)
    _array(f"{name}.shape", touch["shape"], Array("i8", "k", -1, below="shapes"), {"shapes": shapes})
    # What is not a touch may hold anything; nobody reads it.
    on = touch[touch["shape"] >= 0]
    for part in ("nx", "ny", "impulse"):
        _array(f"{name}.{part}", on[part], Array("f8", "k"), {})


def whole_object(kind: str, settings: dict, arrays: dict[str, np.ndarray], sizes: dict[str, int]) -> None:
    """What holds between the parts of one object."""

    def need(right: bool, what: str) -> None:
        if not right:
            raise ValueError(f"{kind} must have {what}")

    n = sizes.get("n", 0)
    if kind in ("rope", "cloth", "softbody"):
        need(n >= 2, "two particles or more")
    pins = settings.get("pins", [])
    need(all(i < max(n, 1) for i in pins) and len(set(pins)) == len(pins), "pins among its particles")
    if kind == "rope":
        need(sizes["m"] == n - 1, "one link less than nodes")
    elif kind == "fluid":
        need(settings["_capacity"] is None or n <= settings["_capacity"], "its capacity or less")
        need(n <= 4_000_000, "4,000,000 particles or less")
        bounds, least = settings["bounds"], 2 * settings["_spacing"]
        need(bounds is None or min(bounds[2:]) >= least, "bounds of two spacings or more")
    elif kind == "particles":
        need(n <= settings["capacity"], "its capacity or less")
        need(sizes.get("t", 0) == settings["trail_length"], "trails of their length")
        need(not n or float(arrays["traits"][:, 1].min()) > 0.0, "lifetimes greater than 0")
        need(settings["capacity"] * (settings["trail_length"] + 1) <= 64_000_000, "room for its trails")
    elif kind == "softbody":
        d = sizes["d"]
        need(d in (2, 3) and sizes["k"] == (2 if d == 2 else 4), "two or three dimensions")
        need(
            sizes["l"] > 0 and (sizes["c"] == 0 or arrays["layout_cells"].shape[1] == d + 1), "fitting cells"
        )
        grid = settings["grid"]
        need(grid is None or math.prod(grid) == n, "as many particles as its grid")
        links = arrays["layout_links"]
        need(bool((links[:, 0] != links[:, 1]).all()), "links between two particles")
    elif kind == "cloth":
        grid, faces = settings["grid"], arrays["faces"]
        need(sizes["f"] > 0, "a triangle")
        need(grid is None or math.prod(grid) == n, "as many particles as its grid")
        ends = np.sort(faces, axis=1)
        need(bool((ends[:, :-1] != ends[:, 1:]).all()), "triangles of three particles")
        if grid is not None:
            from softkit.cloth_layout import grid_faces

            own, block = grid_faces(grid[1], grid[0])
            same = np.array_equal(own, faces) and np.array_equal(block, arrays["block"])
            need(same, "the triangles of its grid")
