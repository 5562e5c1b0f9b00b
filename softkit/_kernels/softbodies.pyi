"""One substep of every soft body, islands over threads."""

import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.int64]
_Shorts = npt.NDArray[np.int32]
_Floats = npt.NDArray[np.float64]

def record_sizes() -> tuple[int, ...]: ...
def find_islands(
    softs: _Bytes,
    count: int,
    colliders: _Ints,
    bodies: int,
    time: float,
    margin: float,
    ties: _Bytes,
    tie_count: int,
    bonds: _Bytes,
    bond_count: int,
    parent: _Ints,
    root: _Ints,
    owner: _Ints,
) -> None: ...
def substep(
    softs: _Bytes,
    members: _Ints,
    islands: _Ints,
    ties: _Bytes,
    bonds: _Bytes,
    colliders: _Ints,
    owner: _Ints,
    h: float,
    fraction: float,
    gx: float,
    gy: float,
    threads: int,
) -> None: ...
def finish(
    softs: _Bytes, members: _Ints, islands: _Ints, colliders: _Ints, owner: _Ints, h: float, threads: int
) -> None: ...
def begin_step(softs: _Bytes, count: int) -> None: ...
def end_step(softs: _Bytes, count: int) -> None: ...
def outline_area(x: _Floats, ring: _Shorts) -> float: ...
def enclosed_volume(x: _Floats, faces: _Shorts) -> float: ...
