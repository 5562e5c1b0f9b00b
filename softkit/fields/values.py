"""Checked parameters: the wall behind which the kernels trust their numbers."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from softkit import checks

LIMIT = 1e15
"""Largest size of any length, speed or strength that a field takes."""


def number(
    name: str, value: Any, low: float = -LIMIT, high: float = LIMIT, *, endless: bool = False
) -> float:
    """`value` as a float within low..high (with `endless`, infinity too), else an error that names it."""
    if endless and isinstance(value, float) and value == math.inf:
        return value
    return checks.number(name, value, low, high)


def vector(name: str, value: Any) -> tuple[float, ...]:
    """`value` as a tuple of two or three finite floats."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be two or three numbers, got {value!r}")
    parts = tuple(value)
    if len(parts) not in (2, 3):
        raise ValueError(f"{name} must be two or three numbers, got {value!r}")
    return tuple(number(f"{name}[{i}]", part) for i, part in enumerate(parts))


def three(parts: tuple[float, ...]) -> tuple[float, float, float]:
    """The vector with z = 0 where it had only x and y."""
    return (parts[0], parts[1], parts[2] if len(parts) == 3 else 0.0)


def array(name: str, value: Any, columns: int | None = None) -> NDArray[np.float64]:
    """`value` as a C-contiguous float64 array (n, 2) or (n, 3), finite."""
    try:
        result = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of numbers, got {value!r}") from None
    if result.ndim != 2 or result.shape[1] not in ((2, 3) if columns is None else (columns,)):
        wanted = "(n, 2) or (n, 3)" if columns is None else f"(n, {columns})"
        raise ValueError(f"{name} must have the shape {wanted}, got {result.shape}")
    if not np.isfinite(result).all():
        bad = int(np.argwhere(~np.isfinite(result))[0, 0])
        raise ValueError(f"{name} must be finite, got {result[bad].tolist()} at index {bad}")
    return result


class Number:
    """A field's parameter: a float, checked on every assignment, after which sleepers near the field wake."""

    def __init__(self, doc: str, low: float = -LIMIT, high: float = LIMIT, *, endless: bool = False):
        self.__doc__ = doc
        self.low, self.high, self.endless = low, high, endless

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.slot = name, "_" + name

    def __get__(self, field: Any, owner: type | None = None) -> Any:
        return self if field is None else getattr(field, self.slot)

    def __set__(self, field: Any, value: Any) -> None:
        checked = number(self.name, value, self.low, self.high, endless=self.endless)
        field._change(self.slot, checked)


class Vector(Number):
    """A field's parameter of two or three floats."""

    def __init__(self, doc: str):
        super().__init__(doc)

    def __set__(self, field: Any, value: Any) -> None:
        field._change(self.slot, vector(self.name, value))
