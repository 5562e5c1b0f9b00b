from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

def record_sizes() -> tuple[int, ...]: ...
def drag(
    x: Array, previous: Array, target: Array, w: Array, rest: Array, node: int, px: float, py: float
) -> None: ...
def begin_step(ropes: Array, count: int, anchors: Array, colliders: Array, dt: float) -> None: ...
def end_step(ropes: Array, count: int, scale: float) -> None: ...
def chunk_boxes(
    ropes: Array, count: int, reach: float, margin: float, boxes: Array, owners: Array
) -> int: ...
def find_pairs(
    ropes: Array, boxes_count: int, boxes: Array, owners: Array, by_left: Array, pairs: Array
) -> int: ...
def find_islands(
    colliders: Array,
    bodies: int,
    moving_leaves: int,
    ropes: Array,
    count: int,
    boxes_count: int,
    boxes: Array,
    owners: Array,
    body_margin: float,
    anchors: Array,
    anchor_count: int,
    joins: Array,
    join_count: int,
    pairs: Array,
    pair_count: int,
    parent: Array,
    root_of: Array,
) -> None: ...
def substep(
    ropes: Array,
    anchors: Array,
    joins: Array,
    pairs: Array,
    members: Array,
    islands: Array,
    colliders: Array,
    h: float,
    fraction: float,
    gx: float,
    gy: float,
    threads: int,
) -> None: ...
