"""The mirror of a pymunk space as flat records."""

import numpy as np
import numpy.typing as npt

_Array = np.ndarray
_Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

def record_sizes() -> tuple[int, ...]: ...
def watch(
    pointers: _Array,
    saved: _Bytes,
    changed: _Bytes,
    low_a: int,
    high_a: int,
    low_b: int,
    high_b: int,
) -> int: ...
def shape_boxes(colliders: _Ints, which: _Ints, boxes: _Floats) -> None: ...
def morton_codes(boxes: _Floats, codes: _Array) -> None: ...
def build_tree(order: _Ints, which: _Ints, boxes: _Floats, nodes: _Bytes) -> None: ...
def refit(colliders: _Ints, leaves: int) -> None: ...
def begin_step(
    bodies: _Bytes,
    history: _Bytes,
    count: int,
    rows: _Floats,
    row_of: _Ints,
    cog: _Floats,
    dt: float,
    gravity_x: float,
    gravity_y: float,
    teleport: float,
    moved: _Bytes,
) -> None: ...
def begin_substep(colliders: _Ints, moving: _Ints, h: float) -> None: ...
def end_substep(colliders: _Ints, moving: _Ints, h: float, most: float) -> int: ...
def hand_back(
    bodies: _Bytes,
    history: _Bytes,
    count: int,
    cog: _Floats,
    dt: float,
    out: _Floats,
    touched: _Ints,
) -> int: ...
def depth_at(colliders: _Ints, shapes: int, body: int, x: float, y: float) -> float: ...
