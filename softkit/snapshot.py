"""A world's state as bytes and back.

Layout: 8 bytes of magic, version and length of the header as little-endian u32, a blake2b digest of all that
follows, the header (JSON: settings, and where each array lies), the arrays. Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from softkit.colliders import HISTORY
from softkit.coupling import Attachment, in_space
from softkit.objects import SoftObject

if TYPE_CHECKING:
    import pymunk

    from softkit.world import World

MAGIC = b"softkit\0"
VERSION = 1
HEAD = struct.Struct("<8sII16s")
SETTINGS = ("step", "gravity", "substeps", "max_speed", "max_depenetration_speed", "teleport_speed")


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def body_list(world: World) -> list[pymunk.Body]:
    """The bodies of a world's space, in the space's order."""
    return list(world.space.bodies) if world.space is not None else []


def save(world: World, moving: bool = False) -> bytes:
    """Write the state of a world; `moving`: only what the motion to come depends on."""
    blobs: list[bytes] = []
    place = 0

    def put(array: np.ndarray) -> list:
        nonlocal place
        data = np.ascontiguousarray(array).tobytes()
        blobs.append(data)
        place += len(data)
        return [array.dtype.str, list(array.shape), place - len(data)]

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
    body = text + b"".join(blobs)
    return HEAD.pack(MAGIC, VERSION, len(text), _digest(body)) + body


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


def _open(data: Any) -> tuple[dict, bytes]:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise TypeError(f"data must be bytes, got {type(data).__name__}")
    data = bytes(data)
    if len(data) < HEAD.size or data[:8] != MAGIC:
        raise ValueError("data must be a softkit snapshot")
    _, version, size, digest = HEAD.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"data must be a snapshot of version {VERSION}, got version {version}")
    body = data[HEAD.size :]
    if size > len(body) or _digest(body) != digest:
        raise ValueError("data must be a whole snapshot: it is damaged")
    return json.loads(body[:size]), body[size:]


def _array(entry: list, blob: bytes) -> np.ndarray:
    dtype, shape, place = np.dtype(entry[0]), tuple(int(n) for n in entry[1]), int(entry[2])
    count = int(np.prod(shape, dtype=np.int64))
    if (
        dtype.kind not in "fiub"
        or place < 0
        or place + count * dtype.itemsize > len(blob)
        or min(shape, default=0) < 0
    ):
        raise ValueError("array outside of the snapshot")
    return np.frombuffer(blob, dtype, count, place).reshape(shape)


def _decode(world: World, data: Any, bodies: list[pymunk.Body]) -> dict:
    """Everything in a snapshot, checked against the world; ValueError before any change."""
    header, blob = _open(data)
    try:
        motion = _array(header["bodies"], blob)
        if motion.shape != (len(bodies), 6):
            raise ValueError(
                f"the space must have {len(motion)} bodies as when the snapshot was made, has {len(bodies)}"
            )
        if header["step"] != world._step:
            raise ValueError(
                f"the world must have a step of {header['step']!r} as when the snapshot was made"
            )
        world.fields.checked(header["fields"])
        numbers, entry = header["history"]
        history = _array(entry, blob)
        header["motion"], header["history"] = (
            motion,
            dict(zip(numbers, history.reshape(-1, len(HISTORY.names)))),
        )
        for item in header["objects"]:
            if item["kind"] not in SoftObject.kinds:
                raise ValueError(f"unknown kind of object {item['kind']!r}")
            item["arrays"] = {name: _array(e, blob) for name, e in item["arrays"].items()}
            for tie in item["ties"]:
                if not -1 <= int(tie[1]) < len(bodies) or world.space is None:
                    raise ValueError(f"tie to unknown body {tie[1]!r}")
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"data must be a well-formed snapshot: {error!r}") from error
    return header


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
