"""Which ropes can act on each other in the coming step."""

import numpy as np
import numpy.typing as npt

_Array = np.ndarray
_Bytes = npt.NDArray[np.uint8]
_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]

def chunk_boxes(
    ropes: _Bytes,
    count: int,
    reach: float,
    margin: float,
    boxes: _Floats,
    owners: _Ints,
) -> int: ...
def find_pairs(
    ropes: _Bytes,
    boxes_count: int,
    boxes: _Floats,
    owners: _Ints,
    by_left: _Ints,
    pairs: _Ints,
) -> int: ...
def find_islands(
    colliders: _Ints,
    bodies: int,
    moving_leaves: int,
    ropes: _Bytes,
    count: int,
    boxes_count: int,
    boxes: _Floats,
    owners: _Ints,
    body_margin: float,
    anchors: _Bytes,
    anchor_count: int,
    joins: _Bytes,
    join_count: int,
    pairs: _Ints,
    pair_count: int,
    parent: _Ints,
    root_of: _Ints,
) -> None: ...
