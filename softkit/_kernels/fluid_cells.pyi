"""Cell grid, cell order and neighbour lists of planar particles."""

import numpy as np
from numpy.typing import NDArray

def cell_order(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    n: int,
    inv: float,
    nx: int,
    ny: int,
    cell: NDArray[np.int32],
    start: NDArray[np.int32],
    order: NDArray[np.int32],
) -> None: ...
def gather(
    source: NDArray[np.float32],
    order: NDArray[np.int32],
    n: int,
    target: NDArray[np.float32],
) -> None: ...
def gather_int(
    source: NDArray[np.int32],
    order: NDArray[np.int32],
    n: int,
    target: NDArray[np.int32],
) -> None: ...
def neighbour_lists(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    n: int,
    inv: float,
    reach: float,
    nx: int,
    ny: int,
    start: NDArray[np.int32],
    room: int,
    begin: NDArray[np.int32],
    count: NDArray[np.int32],
    pairs: NDArray[np.int32],
    needed: NDArray[np.int32],
    chunk: int,
    threads: int,
) -> None: ...
def gather_byte(
    source: NDArray[np.uint8],
    order: NDArray[np.int32],
    n: int,
    target: NDArray[np.uint8],
) -> None: ...
