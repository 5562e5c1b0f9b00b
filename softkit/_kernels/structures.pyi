"""One substep of every structure, islands over threads; pieces."""

import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.int64]
_Shorts = npt.NDArray[np.int32]

def record_size() -> int: ...
def substep(
    softs: _Bytes,
    frames: _Bytes,
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
    keep: float,
    threads: int,
) -> None: ...
def label_pieces(links: _Shorts, label: _Shorts) -> None: ...
