"""This step's touches, and who has to hear of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pymunk

if TYPE_CHECKING:
    from softkit.objects import SoftObject
    from softkit.stages import Stage


class Contact(NamedTuple):
    """One particle touching one shape."""

    object: SoftObject
    particle: int
    shape: pymunk.Shape
    point: tuple[float, float]
    normal: tuple[float, float]
    impulse: float


class Contacts:
    """All touches of the last step as parallel arrays; iterating gives a `Contact` each.

    Attributes:
        object: (n,) the soft objects.
        particle: (n,) the particle's index in its object.
        shape: (n,) the pymunk shapes. A sensor is listed with impulse 0 and normal (0, 0).
        point: (n, 2) the particle's place, wu.
        normal: (n, 2) unit vector from the shape to the particle.
        impulse: (n,) what the shape gave the particle along the normal in this step, mass wu / s.
    """

    def __init__(self, touches: list[tuple[SoftObject, np.ndarray]], shapes: list[pymunk.Shape]) -> None:
        objects, rows, particles, points = [], [], [], []
        for obj, records in touches:
            where = np.flatnonzero(records["shape"] >= 0)
            slots = len(records) // max(1, obj.count)
            objects += [obj] * len(where)
            rows.append(records[where])
            particles.append(where // slots)
            points.append(obj._x[where // slots, :2])
        self.object = _of_objects(objects)
        data = (
            np.concatenate(rows)
            if rows
            else np.zeros(0, [("shape", "i8"), ("nx", "f8"), ("ny", "f8"), ("impulse", "f8")])
        )
        self.particle = np.concatenate(particles) if particles else np.zeros(0, np.int64)
        self.shape = _of_objects([shapes[i] for i in data["shape"]])
        self.point = np.concatenate(points) if points else np.zeros((0, 2))
        self.normal = np.stack([data["nx"], data["ny"]], axis=1)
        self.impulse = data["impulse"]

    def __len__(self) -> int:
        return len(self.particle)

    def __iter__(self) -> Iterator[Contact]:
        for i in range(len(self)):
            yield Contact(
                self.object[i],
                int(self.particle[i]),
                self.shape[i],
                tuple(self.point[i].tolist()),
                tuple(self.normal[i].tolist()),
                float(self.impulse[i]),
            )


def _of_objects(items: list) -> np.ndarray:
    result = np.empty(len(items), object)
    result[:] = items
    return result


class Listeners:
    """Remembers which shapes each object touched, and calls `on_begin` and `on_end` when that changes.

    Calls are per pair of object and shape, not per particle, in the order of the world's objects and the
    space's shapes.
    """

    def __init__(self) -> None:
        self.touching: dict[SoftObject, dict[pymunk.Shape, int]] = {}

    def collect(self, stages: list[Stage], shapes: list[pymunk.Shape]) -> list:
        """Calls to be made for this step."""
        calls = []
        now: dict[SoftObject, dict[pymunk.Shape, int]] = {}
        for stage in stages:
            touches = {obj: records for obj, records in stage.touches()}
            for obj in stage.objects:
                if obj.on_begin is None and obj.on_end is None:
                    continue
                found: dict[pymunk.Shape, int] = {}
                records = touches.get(obj)
                if records is not None:
                    where = np.flatnonzero(records["shape"] >= 0)
                    slots = len(records) // max(1, obj.count)
                    which, first = np.unique(records["shape"][where], return_index=True)
                    found = {shapes[s]: int(where[f]) // slots for s, f in zip(which, first)}
                now[obj] = found
                before = self.touching.get(obj, {})
                calls += [(obj.on_begin, (obj, s, i)) for s, i in found.items() if s not in before]
                calls += [(obj.on_end, (obj, s)) for s in before if s not in found]
        self.touching = now
        return [(call, arguments) for call, arguments in calls if call is not None]
