"""Planar particles against the straight pieces of other soft objects."""

import numpy as np
from numpy.typing import NDArray

def record_size() -> int: ...
def find_pairs(
    x: NDArray[np.float64],
    x0: NDArray[np.float64],
    w: NDArray[np.float64],
    owner: NDArray[np.int32],
    edges: NDArray[np.int32],
    rest: NDArray[np.float64],
    kinds: NDArray[np.int8],
    cell: float,
    joins: NDArray[np.int32],
    joins_n: int,
    boxes: NDArray[np.float64],
    start: NDArray[np.int64],
    items: NDArray[np.int32],
    far: NDArray[np.int32],
    pairs: NDArray[np.int32],
) -> tuple[int, int]: ...
def color_pairs(
    pairs: NDArray[np.int32],
    count: int,
    edges: NDArray[np.int32],
    w: NDArray[np.float64],
    used: NDArray[np.uint64],
    color: NDArray[np.int32],
    start: NDArray[np.int64],
    order: NDArray[np.int32],
) -> None: ...
def solve(
    pairs: NDArray[np.int32],
    count: int,
    edges: NDArray[np.int32],
    order: NDArray[np.int32],
    start: NDArray[np.int64],
    kinds: NDArray[np.int8],
    owner: NDArray[np.int32],
    x: NDArray[np.float64],
    x0: NDArray[np.float64],
    v: NDArray[np.float64],
    w: NDArray[np.float64],
    tau: NDArray[np.float64],
    ease: float,
    passes: int,
    threads: int,
    notes: NDArray[np.float64],
) -> None: ...
def cap(
    x: NDArray[np.float64],
    x0: NDArray[np.float64],
    v: NDArray[np.float64],
    old: NDArray[np.float64],
    w: NDArray[np.float64],
    tau: NDArray[np.float64],
    speed: float,
) -> int: ...
