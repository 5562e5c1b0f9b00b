"""The local density constraint and viscosity of planar fluid particles."""

import numpy as np
from numpy.typing import NDArray

def density(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    volume: NDArray[np.float32],
    wall: NDArray[np.float32],
    n: int,
    reach: float,
    begin: NDArray[np.int32],
    count: NDArray[np.int32],
    pairs: NDArray[np.int32],
    relax: float,
    out: NDArray[np.float32],
    scale: NDArray[np.float32],
    chunk: int,
    threads: int,
) -> None: ...
def move(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    volume: NDArray[np.float32],
    weight: NDArray[np.float32],
    wall: NDArray[np.float32],
    n: int,
    reach: float,
    begin: NDArray[np.int32],
    count: NDArray[np.int32],
    pairs: NDArray[np.int32],
    scale: NDArray[np.float32],
    spread: float,
    cap: float,
    nx: NDArray[np.float32],
    ny: NDArray[np.float32],
    chunk: int,
    threads: int,
) -> None: ...
def drag(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    mass: NDArray[np.float32],
    kind: NDArray[np.uint8],
    share: NDArray[np.float32],
    n: int,
    reach: float,
    begin: NDArray[np.int32],
    count: NDArray[np.int32],
    pairs: NDArray[np.int32],
    ux: NDArray[np.float32],
    uy: NDArray[np.float32],
    chunk: int,
    threads: int,
) -> None: ...
