"""A liquid's smooth surface: particles splatted into a coarse density field, thresholded and shaded into pixels."""

import numpy as np
from numpy.typing import NDArray

def splat(
    points: NDArray[np.float64],
    colors: NDArray[np.float32],
    foam: NDArray[np.float32],
    n: int,
    scale: float,
    radius: float,
    weight: float,
    columns: int,
    rows: int,
    field: NDArray[np.float32],
    threads: int,
) -> None: ...
def shade(
    field: NDArray[np.float32],
    columns: int,
    rows: int,
    scale: float,
    threshold: float,
    info: NDArray[np.int32],
    behind: NDArray[np.uint8],
    pixels: NDArray[np.uint8],
    light: NDArray[np.float32],
    rim: float,
    bend: float,
    opacity: float,
    threads: int,
) -> None: ...
