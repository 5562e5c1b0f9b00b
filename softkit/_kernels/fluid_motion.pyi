"""Loading, moving and storing planar fluid particles; vorticity confinement on the pressure grid."""

import numpy as np
from numpy.typing import NDArray

def load(
    points: NDArray[np.float64],
    velocities: NDArray[np.float64],
    n: int,
    first: int,
    ox: float,
    oy: float,
    kind: int,
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    kinds: NDArray[np.uint8],
    place: NDArray[np.int32],
) -> None: ...
def store(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    density: NDArray[np.float32],
    kinds: NDArray[np.uint8],
    place: NDArray[np.int32],
    n: int,
    kind: int,
    first: int,
    ox: float,
    oy: float,
    points: NDArray[np.float64],
    velocities: NDArray[np.float64],
    densities: NDArray[np.float64],
    unit: float,
) -> None: ...
def by_kind(
    kinds: NDArray[np.uint8],
    n: int,
    table: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...
def pull(
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    kinds: NDArray[np.uint8],
    n: int,
    keep: NDArray[np.float32],
    settle: NDArray[np.float32],
    slow2: float,
    gx: float,
    gy: float,
) -> None: ...
def advance(
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    x0: NDArray[np.float32],
    y0: NDArray[np.float32],
    n: int,
    h: float,
    cap: float,
    counts: NDArray[np.int32],
    chunk: int,
    threads: int,
) -> int: ...
def confine(
    u: NDArray[np.float32],
    v: NDArray[np.float32],
    wet: NDArray[np.uint8],
    nx: int,
    ny: int,
    strength: float,
    curl: NDArray[np.float32],
    du: NDArray[np.float32],
    dv: NDArray[np.float32],
) -> None: ...
def left_after(
    rate: float,
    time: float,
) -> float: ...
def blend(
    colors: NDArray[np.float32],
    place: NDArray[np.int32],
    begin: NDArray[np.int32],
    count: NDArray[np.int32],
    pairs: NDArray[np.int32],
    kinds: NDArray[np.uint8],
    n: int,
    kind: int,
    first: int,
    share: float,
    out: NDArray[np.float32],
) -> None: ...
def momentum(
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    mass: NDArray[np.float32],
    n: int,
) -> tuple[float, float, float]: ...
def shift(
    vx: NDArray[np.float32],
    vy: NDArray[np.float32],
    n: int,
    x: float,
    y: float,
) -> None: ...
