"""The one wall where input is checked: every error names the argument and the value, before any state
changes.
"""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np


def number(
    name: str, value: Any, low: float = -math.inf, high: float = math.inf, *, above: float | None = None
) -> float:
    """A finite number in [low, high] (and greater than `above`), as a float."""
    if isinstance(value, bool) or not isinstance(value, Real | np.number):
        raise TypeError(f"{name} must be a number, got {value!r}")
    result = float(value)
    if not math.isfinite(result):
        raise ValueError(f"{name} must be finite, got {value!r}")
    if not low <= result <= high:
        raise ValueError(f"{name} must be between {low:g} and {high:g}, got {value!r}")
    if above is not None and not result > above:
        raise ValueError(f"{name} must be greater than {above:g}, got {value!r}")
    return result


def whole(name: str, value: Any, low: int, high: int) -> int:
    """An int in [low, high]."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, got {value!r}")
    result = value.__index__()
    if not low <= result <= high:
        raise ValueError(f"{name} must be between {low} and {high}, got {value!r}")
    return result


def index(name: str, value: Any, count: int) -> int:
    """An index into `count` items, negatives counted from the end."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be an int, got {value!r}")
    result = value.__index__()
    if not -count <= result < count:
        raise IndexError(f"{name} must be between {-count} and {count - 1}, got {value!r}")
    return result + count if result < 0 else result


def truth(name: str, value: Any) -> bool:
    """A bool, and nothing that only looks like one."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a bool, got {value!r}")
    return bool(value)


LIMIT = 1e12
"""No coordinate, speed, mass or coefficient may be larger: beyond, doubles are too coarse for a game."""
TINY = 1 / LIMIT
"""No mass or bending compliance may be smaller: its inverse would be beyond LIMIT."""


def vector(name: str, value: Any, size: int = 2) -> tuple[float, ...]:
    """`size` finite numbers: a tuple, a Vec2d, a list or an array."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {size} numbers, got {value!r}")
    parts = tuple(value)
    if len(parts) != size:
        raise ValueError(f"{name} must be {size} numbers, got {value!r}")
    return tuple(number(f"{name}[{i}]", part, -LIMIT, LIMIT) for i, part in enumerate(parts))


def points(name: str, value: Any, size: int = 2, least: int = 0) -> np.ndarray:
    """An (n, size) array of finite numbers, as a fresh float64 array."""
    try:
        result = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an (n, {size}) array of numbers, got {value!r}") from error
    if result.ndim != 2 or result.shape[1] != size:
        raise ValueError(f"{name} must have shape (n, {size}), got shape {result.shape}")
    if len(result) < least:
        raise ValueError(f"{name} must have at least {least} rows, got {len(result)}")
    bad = ~(np.abs(result) <= LIMIT)
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise ValueError(f"{name}[{row}] must be finite and within {LIMIT:g}, got {result[row].tolist()!r}")
    return result


def choice(name: str, value: Any, options: Iterable[str]) -> str:
    """One of a few names."""
    options = tuple(options)
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return value
