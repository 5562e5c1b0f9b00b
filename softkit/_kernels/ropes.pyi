"""One substep of every rope, islands over threads."""

import numpy as np
import numpy.typing as npt

_Array = np.ndarray
_Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

def record_sizes() -> tuple[int, ...]: ...
def drag(
    x: _Floats,
    previous: _Floats,
    target: _Floats,
    w: _Floats,
    rest: _Floats,
    node: int,
    px: float,
    py: float,
) -> None: ...
def begin_step(ropes: _Bytes, count: int, anchors: _Bytes, colliders: _Ints, dt: float) -> None: ...
def end_step(ropes: _Bytes, count: int, scale: float) -> None: ...
def substep(
    ropes: _Bytes,
    anchors: _Bytes,
    joins: _Bytes,
    hubs: _Bytes,
    hub_nodes: _Bytes,
    pairs: _Ints,
    members: _Ints,
    tied: _Ints,
    hub_order: _Ints,
    islands: _Ints,
    scratch: _Floats,
    colliders: _Ints,
    h: float,
    fraction: float,
    gx: float,
    gy: float,
    threads: int,
) -> None: ...
