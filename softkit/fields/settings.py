"""A field's settings and phases as plain values, for snapshots, and back.

What a game gave as objects stays as it is: targets, the body that a field follows, the vectors of a flow map,
the cache of a curl noise, the function of a custom field.
"""

from collections.abc import Callable
from typing import Any

import pymunk

from softkit import checks
from softkit.fields.region import FALLOFFS, KINDS, Region
from softkit.fields.values import Number, Vector, number, three, vector

Checker = Callable[[str, Any], Any]


def _region(name: str, value: Any) -> Region | None:
    if value is None:
        return None
    kind, center, half = value
    if kind not in KINDS:
        raise ValueError(f"{name} must be one of {', '.join(KINDS)}, got {kind!r}")
    half = three(vector(name, half))
    if not (min(half[:2]) > 0 and half[2] >= 0):
        raise ValueError(f"{name} must have a size above 0, got {half!r}")
    return Region(kind, three(vector(name, center)), half)


def _falloff(name: str, value: Any) -> str:
    if value not in FALLOFFS:
        raise ValueError(f"{name} must be one of {', '.join(FALLOFFS)}, got {value!r}")
    return value


def _filter(name: str, value: Any) -> pymunk.ShapeFilter:
    group, categories, mask = (checks.whole(name, part, 0, 2**64 - 1) for part in value)
    return pymunk.ShapeFilter(group, categories, mask)


def _optional(low: float) -> Checker:
    return lambda name, value: None if value is None else number(name, value, low)


COMMON: dict[str, Checker] = {
    "region": _region,
    "falloff": _falloff,
    "fade": _optional(1e-9),
    "filter": _filter,
    "bodies": checks.truth,
    "enabled": checks.truth,
}

# Parameters with properties of their own, beside the `Number` and `Vector` ones.
OWN: dict[str, dict[str, Checker]] = {
    "Vortex": {"axis": lambda name, value: three(vector(name, value))},
    "Whirl": {"axis": lambda name, value: three(vector(name, value)), "reach": _optional(1e-3)},
    "Wind": {"frequency": lambda name, value: number(name, value, 0.0, 1e4)},
    "CurlNoise": {
        "seed": lambda name, value: checks.whole(name, value, 0, 2**32 - 1),
        "octaves": lambda name, value: checks.whole(name, value, 1, 8),
        "scale": lambda name, value: number(name, value, 1e-3, 1e9),
        "speed": lambda name, value: number(name, value, 0.0, 1e3),
    },
}


def _of(parameter: Number) -> Checker:
    if isinstance(parameter, Vector):
        return vector
    return lambda name, value: number(name, value, parameter.low, parameter.high, endless=parameter.endless)


def checkers(cls: type) -> dict[str, Checker]:
    """What checks each setting of a class of fields, by name; the setting itself is in the slot `_name`."""
    found = dict(COMMON)
    for base in reversed(cls.__mro__):
        found.update({name: _of(p) for name, p in vars(base).items() if isinstance(p, Number)})
        found.update(OWN.get(base.__name__, {}))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Region):
        return [value.kind, list(value.center), list(value.half)]
    if isinstance(value, pymunk.ShapeFilter):
        return [value.group, value.categories, value.mask]
    return list(value) if isinstance(value, tuple) else value


def taken(field: Any) -> list[Any]:
    """A field's settings by name, and its phases."""
    return [{name: _plain(getattr(field, "_" + name)) for name in checkers(type(field))}, field.state()]


def checked(field: Any, held: Any) -> tuple[dict[str, Any], Any]:
    """What `taken` gave, as values to put back; ValueError, TypeError or IndexError where it does not fit."""
    values, phases = held
    wanted = checkers(type(field))
    if not isinstance(values, dict) or values.keys() != wanted.keys():
        raise ValueError(f"state must be of a {type(field).__name__}")
    shape = field.state()
    if (shape is None) != (phases is None) or (shape is not None and len(shape) != len(phases)):
        raise ValueError(f"state must have the phases of a {type(field).__name__}, got {phases!r}")
    for phase, now in zip(phases or (), shape or ()):
        if isinstance(phase, bool) != isinstance(now, bool):
            raise ValueError(f"state must have the phases of a {type(field).__name__}, got {phases!r}")
        if not isinstance(phase, bool):
            number("state", phase)
    return {name: check(name, values[name]) for name, check in wanted.items()}, phases


def put(field: Any, values: dict[str, Any], phases: Any) -> None:
    """Put checked values into the field; it counts as changed only where one differs."""
    changed = {name: value for name, value in values.items() if getattr(field, "_" + name) != value}
    for name, value in changed.items():
        setattr(field, "_" + name, value)
    if phases is not None:
        field.set_state(phases)
    if changed:
        field._touch()
