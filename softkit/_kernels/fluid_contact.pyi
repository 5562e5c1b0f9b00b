"""Fluid particles against pymunk shapes and the fluid's own bounds."""

import numpy as np
from numpy.typing import NDArray

def record_sizes() -> tuple[int, int, int]: ...
def remember_poses(
    colliders: NDArray[np.int64],
    count: int,
    starts: NDArray[np.uint8],
) -> None: ...
def hold_out(
    colliders: NDArray[np.int64],
    starts: NDArray[np.uint8],
    kinds: NDArray[np.uint8],
    kind: NDArray[np.uint8],
    place: NDArray[np.int32],
    w: NDArray[np.float32],
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    x0: NDArray[np.float32],
    y0: NDArray[np.float32],
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    n: int,
    touches: NDArray[np.uint8],
    near: NDArray[np.uint8],
    ox: float,
    oy: float,
    h: float,
    world_h: float,
    respond: bool,
    squeezed: NDArray[np.int32],
    chunk: int,
    threads: int,
) -> int: ...
def wall_terms(
    colliders: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    kind: NDArray[np.uint8],
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    n: int,
    ox: float,
    oy: float,
    reach: float,
    fill: NDArray[np.float32],
    push: NDArray[np.float32],
    wall: NDArray[np.float32],
    chunk: int,
    threads: int,
) -> None: ...
