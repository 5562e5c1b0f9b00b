"""A world's state as bytes and back.

Layout: 8 bytes of magic, version and length of the header as little-endian u32, a SHA-256 digest of all that
follows, the header (JSON: settings, and where each array lies; filled with spaces to a multiple of 8 bytes),
the arrays, each from a multiple of 8 on. Nothing in it is executed, and nothing of a world changes before all
of it was checked by `softkit.snapshot_rules`.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from softkit import checks
from softkit import snapshot_rules as rules
from softkit.colliders import HISTORY
from softkit.coupling import Attachment, in_space
from softkit.objects import SoftObject

if TYPE_CHECKING:
    import pymunk

    from softkit.world import World

MAGIC = b"softkit\0"
VERSION = 2
HEAD = struct.Struct("<8sII32s")
JOINABLE = ("rope", "softbody", "cloth")
SETTINGS = ("step", "gravity", "substeps", "max_speed", "max_depenetration_speed", "teleport_speed")


def body_list(world: World) -> list[pymunk.Body]:
    """The bodies of a world's space, in the space's order."""
    return list(world.space.bodies) if world.space is not None else []


def save(world: World, moving: bool = False) -> bytes:
    """Write the state of a world; `moving`: only what the motion to come depends on."""
    return b"".join(_write(world, moving))


def digest(world: World) -> str:
    """A hash of what the motion to come depends on."""
    return HEAD.unpack(_write(world, True)[0])[3].hex()[:32]


def _write(world: World, moving: bool) -> list:
    """The parts of a snapshot, which may be views of live arrays."""
    blobs: list[Any] = []
    place = 0

    def put(array: np.ndarray) -> list:
        nonlocal place
        at, size = place, array.nbytes
        blobs.append(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        if size % 8:
            blobs.append(bytes(-size % 8))
        place += size + -size % 8
        return [array.dtype.str, list(array.shape), at]

    bodies = body_list(world)
    number = {body: i for i, body in enumerate(bodies)}
    if world.space is not None:
        number[world.space.static_body] = -1
    motion = np.array([(*b.position, b.angle, *b.velocity, b.angular_velocity) for b in bodies], np.float64)
    rest = {} if moving else _save_rest(world)
    header = {
        **rest,
        "steps": world._steps,
        **{name: getattr(world, f"_{name}") for name in SETTINGS},
        "bodies": put(motion.reshape(-1, 6)),
        "history": _save_history(world, number, put),
        "fields": world.fields.state(),
        "objects": [_save_object(obj, number, put) for obj in world._objects],
    }
    text = json.dumps(header, separators=(",", ":"), default=_plain).encode()
    text += b" " * (-len(text) % 8)
    check = hashlib.sha256(text)
    for blob in blobs:
        check.update(blob)
    return [HEAD.pack(MAGIC, VERSION, len(text), check.digest()), text, *blobs]


def _save_rest(world: World) -> dict:
    shapes = list(world.space.shapes) if world.space is not None else []
    number = {shape: i for i, shape in enumerate(shapes)}
    touching = world._listeners.touching.items()
    return {
        "left": world._left,
        "serial": world._serial,
        "health": vars(world.health),
        "shapes": len(shapes),
        "touching": [
            [o._serial, [[number[s], i] for s, i in found.items() if s in number]] for o, found in touching
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, np.integer | np.floating | np.bool_):
        return value.item()
    raise TypeError(f"cannot write {value!r} into a snapshot")


def _save_history(world: World, number: dict, put: Any) -> list:
    colliders = world.colliders
    known = colliders._history["known"] != 0
    rows = sorted((number[b], i) for i, b in enumerate(colliders.bodies) if known[i] and b in number)
    which = np.array([i for _, i in rows], np.int64)
    return [[n for n, _ in rows], put(colliders._history[which].view(np.float64))]


def _save_object(obj: SoftObject, number: dict, put: Any) -> dict:
    ties = [[i, number[tie.body], *tie.local] for i, tie in obj._ties() if tie.body in number]
    return {
        "serial": obj._serial,
        "kind": obj.kind,
        "settings": obj._settings(),
        "ties": ties,
        "joins": [[i, other._serial, j] for i, other, j in obj._joined()],
        "arrays": {name: put(array) for name, array in obj._arrays().items()},
    }


# ---------------------------------------------------------------- reading


def _endless(text: str) -> float:
    raise ValueError(f"number {text} in the snapshot")


def _open(data: Any) -> tuple[dict, memoryview]:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}")
    whole = memoryview(data if isinstance(data, bytes) else bytes(data))
    if len(whole) < HEAD.size or whole[:8] != MAGIC:
        raise ValueError("data must be a softkit snapshot")
    _, version, size, digest = HEAD.unpack_from(whole)
    if version != VERSION:
        raise ValueError(f"data must be a snapshot of version {VERSION}, got version {version}")
    body = whole[HEAD.size :]
    if size > len(body) or hashlib.sha256(body).digest() != digest:
        raise ValueError("data must be a whole snapshot: it is damaged")
    header = json.loads(bytes(body[:size]), parse_constant=_endless)
    if not isinstance(header, dict):
        raise ValueError("data must be a well-formed snapshot: its header is no table")
    return header, body[size:]


def _array(entry: list, blob: memoryview) -> np.ndarray:
    kind, shape, place = entry
    checks.choice("type of an array", kind, TYPES)
    shape = rules.rows(rules.whole(0, 1 << 40), 4)("shape", shape)
    dtype, count = np.dtype(kind), math.prod(shape)
    if checks.whole("place of an array", place, 0, len(blob)) + count * dtype.itemsize > len(blob):
        raise ValueError("array outside of the snapshot")
    return np.frombuffer(blob, dtype, count, place).reshape(shape)


def _decode(world: World, data: Any, bodies: list[pymunk.Body]) -> dict:
    """Everything in a snapshot, checked against the world; ValueError before any change."""
    try:
        header, blob = _open(data)
        _check_world(world, header, blob, bodies)
        same = header["shapes"] == _shape_count(world)
        for item in header["objects"]:
            _check_object(world, item, blob, header, len(bodies), same)
        _check_links(header)
    except TypeError as error:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise
        raise ValueError(f"data must be a well-formed snapshot: {error}") from error
    except (KeyError, IndexError, AttributeError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"data must be a well-formed snapshot: {error!r}") from error
    return header


def _shape_count(world: World) -> int:
    return len(world.space.shapes) if world.space is not None else 0


WORLD = {
    "steps": rules.count,
    "serial": rules.count,
    "shapes": rules.count,
    "left": checks.number,
    "gravity": rules.maybe(rules.point),
    "substeps": rules.whole(1, 64),
    "max_speed": rules.number(1.0, 1e9),
    "max_depenetration_speed": rules.number(0.0, 1e9),
    "teleport_speed": rules.number(0.0, math.inf),
    "fields": rules.plain,
    "touching": rules.rows(rules.row(rules.count, rules.rows(rules.row(rules.count, rules.count)))),
}


def _check_world(world: World, header: dict, blob: memoryview, bodies: list[pymunk.Body]) -> None:
    for name, check in WORLD.items():
        header[name] = check(name, header[name])
    if header["step"] != world._step:
        raise ValueError(f"the world must have a step of {header['step']!r} as when the snapshot was made")
    if not 0.0 <= header["left"] <= world._step * 1.001:
        raise ValueError(f"left must be part of a step, got {header['left']!r}")
    motion = _array(header["bodies"], blob)
    if motion.dtype != np.float64 or motion.shape != (len(bodies), 6):
        raise ValueError(
            f"the space must have {len(motion)} bodies as when the snapshot was made, has {len(bodies)}"
        )
    numbers, entry = header["history"]
    history = _array(entry, blob).reshape(len(numbers), len(HISTORY.names))
    for array in (motion, history):
        if array.dtype != np.float64 or not (np.abs(array) < rules.BIG).all():
            raise ValueError("motion of bodies must be finite")
    if not all(type(n) is int and -1 <= n < len(bodies) for n in numbers):
        raise ValueError(f"history must be of bodies, got {numbers!r:.80}")
    header["motion"], header["history"] = motion, dict(zip(numbers, history))
    health = header["health"]
    if health.keys() - vars(world.health).keys():
        raise ValueError(f"health must have the counters of this version, got {health!r:.80}")
    for name, value in health.items():
        if type(value) is not type(vars(world.health)[name]):
            raise ValueError(f"health.{name} must be a counter, got {value!r:.80}")
    world.fields.checked(header["fields"])


TYPES = ("<f8", "<f4", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
SAFE = ("rope", "fluid", "particles", "sphere", "box", "capsule", "plane")
"""Kinds whose arrays and settings can always be loaded once the rules hold; the others are tried first."""


def _check_object(world: World, item: dict, blob: memoryview, header: dict, bodies: int, same: bool) -> None:
    kind = item["kind"]
    if not isinstance(kind, str) or kind not in SoftObject.kinds:
        raise ValueError(f"unknown kind of object {kind!r:.80}")
    item["settings"] = rules.settings(kind, item["settings"])
    item["arrays"] = {name: _array(entry, blob) for name, entry in item["arrays"].items()}
    item["sizes"] = rules.arrays(kind, item["arrays"], header["shapes"])
    rules.whole_object(kind, item["settings"], item["arrays"], item["sizes"])
    if kind == "cloth":
        _check_grip(world, item["arrays"], same)
    if not same:
        _forget_shapes(item["arrays"])
    tied = set()
    limit = max(1, item["sizes"].get("n", 1))
    for tie in item["ties"]:
        i, body, x, y = rules.row(rules.whole(0, limit - 1), rules.whole(-1, bodies - 1), *(rules.free,) * 2)(
            "tie", tie
        )
        if world.space is None or i in tied or i in item["settings"].get("pins", ()):
            raise ValueError(f"tie to unknown body or of a particle that is held, {tie!r:.80}")
        tied.add(i)
    if kind not in SAFE and not _same_topology(world._known.get(item["serial"]), item):
        trial = SoftObject.kinds[kind]._blank()
        try:
            trial._load(item["settings"], item["arrays"])
        except Exception as error:
            raise ValueError(f"object of kind {kind!r} cannot be made: {error!r:.200}") from error


def _same_topology(obj: SoftObject | None, item: dict) -> bool:
    """Is it this very object, made of the same parts?"""
    if obj is None or obj.kind != item["kind"]:
        return False
    mine = obj._arrays()
    fixed = (
        ("rest", "faces", "block") if obj.kind == "cloth" else [n for n in mine if n.startswith("layout_")]
    )
    return bool(fixed) and all(np.array_equal(mine[name], item["arrays"][name]) for name in fixed)


def _check_grip(world: World, arrays: dict[str, np.ndarray], same: bool) -> None:
    """What grips a body knows it by its place among the bodies that have shapes."""
    shapes = list(world.space.shapes) if world.space is not None else []
    most, held = len({shape.body for shape in shapes}), arrays["grip"][0] > 0.0
    owner = arrays["owner"][held]
    if same and len(owner) and not (owner.min() >= 0 and owner.max() < most):
        raise ValueError(f"owner must be between 0 and {most - 1}, got {owner.min()} to {owner.max()}")
    if not same:
        arrays["grip"] = np.zeros_like(arrays["grip"])


def _forget_shapes(arrays: dict[str, np.ndarray]) -> None:
    """The space has other shapes than then: nothing is known to lie on or to touch one."""
    if "lies_on" in arrays:
        arrays["lies_on"] = np.full_like(arrays["lies_on"], -1)
    if "touch" in arrays:
        touch = np.frombuffer(arrays["touch"].tobytes(), rules.TOUCH).copy()
        touch["shape"] = -1
        arrays["touch"] = touch.view(np.uint8)


def _check_links(header: dict) -> None:
    """Serial numbers, joins and touches between objects and shapes."""
    sizes = {rules.count("serial", item["serial"]): item for item in header["objects"]}
    if len(sizes) < len(header["objects"]) or max(sizes, default=-1) >= header["serial"]:
        raise ValueError("objects must have serial numbers of their own below the world's next one")
    for serial, item in sizes.items():
        for join in rules.rows(rules.row(rules.count, rules.count, rules.count))("joins", item["joins"]):
            i, other, j = join
            if other not in sizes:
                continue
            far = sizes[other]
            right = other != serial and i < item["sizes"]["n"] and j < far["sizes"]["n"]
            joinable = item["kind"] in JOINABLE and far["kind"] in JOINABLE
            if not (right and joinable):
                raise ValueError(f"join must be between particles of two objects, got {join!r}")
    for _, pairs in header["touching"]:
        if not all(n < header["shapes"] for n, _ in pairs):
            raise ValueError(f"touching must be of shapes, got {pairs!r:.80}")


def load(world: World, data: Any, bodies: list[pymunk.Body] | None = None) -> None:
    """Put a world into a saved state; `bodies`: those of the space in the order they had then."""
    bodies = body_list(world) if bodies is None else bodies
    header = _decode(world, data, bodies)
    for body, row in zip(bodies, header["motion"].tolist()):
        now = (*body.position, body.angle, *body.velocity, body.angular_velocity)
        if tuple(row) != now:
            body.angle = row[2]
            body.position = row[0], row[1]
            body.velocity = row[3], row[4]
            body.angular_velocity = row[5]
    world._steps, world._left = int(header["steps"]), float(header["left"])
    for name in SETTINGS:
        setattr(world, f"_{name}", header[name])
    world._gravity = None if header["gravity"] is None else tuple(header["gravity"])
    vars(world.health).update(header["health"])
    world.fields.set_state(header["fields"])
    _load_objects(world, header["objects"], bodies)
    world._serial = int(header["serial"])
    _load_history(world, header["history"], bodies)
    _load_touching(world, header)
    world._contacts = None


def _load_objects(world: World, items: list[dict], bodies: list) -> None:
    wanted = [item["serial"] for item in items]
    for obj in [o for o in world._objects if o._serial not in wanted]:
        world.remove(obj)
    by_serial: dict[int, SoftObject] = {}
    for item in items:
        obj = world._known.get(item["serial"])
        if obj is None or obj.kind != item["kind"] or obj._world not in (None, world):
            obj = SoftObject.kinds[item["kind"]]._blank()
            obj._serial = item["serial"]
            world._known[obj._serial] = obj
        obj._release_joins()
        obj._load(item["settings"], item["arrays"])
        obj._set_ties(
            {
                int(i): Attachment(world.space.static_body if n < 0 else bodies[n], (x, y))
                for i, n, x, y in item["ties"]
            }
        )
        by_serial[obj._serial] = obj
    for obj in by_serial.values():
        if obj._world is not world:
            world.add(obj)
    order = {serial: k for k, serial in enumerate(wanted)}
    world._objects.sort(key=lambda obj: order[obj._serial])
    for stage in world._stages.values():
        stage.objects.sort(key=lambda obj: order[obj._serial])
        stage.objects_changed()
    for item in items:
        for i, serial, j in item["joins"]:
            if serial in by_serial and item["serial"] < serial:
                by_serial[item["serial"]].join(i, by_serial[serial], j)


def _load_history(world: World, history: dict[int, np.ndarray], bodies: list) -> None:
    colliders = world.colliders
    colliders.refresh()
    if world.space is None:
        return
    for obj in world._objects:
        for _, tie in obj._ties():
            colliders.require(tie.body)
    colliders._gather()
    colliders._history[:] = 0
    for body, i in colliders.index.items():
        number = (
            -1
            if body is world.space.static_body
            else (bodies.index(body) if in_space(body, world.space) else None)
        )
        if number in history:
            colliders._history[i] = tuple(history[number])


def _load_touching(world: World, header: dict) -> None:
    """Shapes have no names: they are known by their place in the space, if it has as many as it had."""
    shapes = world.colliders.shapes
    same = len(shapes) == header["shapes"]
    for stage in world._stages.values():
        stage.restored(same)
    by_serial = {obj._serial: obj for obj in world._objects}
    found = header["touching"] if same else []
    world._listeners.touching = {
        by_serial[serial]: {shapes[n]: i for n, i in pairs} for serial, pairs in found if serial in by_serial
    }
