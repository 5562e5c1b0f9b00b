"""Conjugate gradients for the grid's pressure, preconditioned by one multigrid V-cycle."""

import numpy as np
from numpy.typing import NDArray

def level_sizes(
    nx: int,
    ny: int,
) -> tuple[list[tuple[int, int, int]], int]: ...
def solve(
    sizes: NDArray[np.int32],
    count: int,
    cu: NDArray[np.float32],
    cv: NDArray[np.float32],
    air: NDArray[np.float32],
    diag: NDArray[np.float32],
    x: NDArray[np.float32],
    b: NDArray[np.float32],
    q: NDArray[np.float32],
    right: NDArray[np.float32],
    p: NDArray[np.float32],
    ap: NDArray[np.float32],
    tolerance: float,
    most: int,
    bodies: int,
    body_start: NDArray[np.int32],
    body_cell: NDArray[np.int32],
    body_x: NDArray[np.float32],
    body_y: NDArray[np.float32],
    body_turn: NDArray[np.float32],
    body_inverse: NDArray[np.float32],
) -> tuple[int, float]: ...
