from typing import Any

from numpy.typing import NDArray

BAND_ROWS: int
POLYGON: int
LINE: int
LOOP: int
DISC: int
COLORED_LINE: int

def draw(
    pixels: Any,
    info: NDArray[Any],
    count: int,
    kinds: NDArray[Any],
    first: NDArray[Any],
    length: NDArray[Any],
    params: NDArray[Any],
    colors: NDArray[Any],
    points: NDArray[Any],
    point_colors: NDArray[Any],
    point_radii: NDArray[Any],
    rows: NDArray[Any],
    bad: NDArray[Any],
    cover: NDArray[Any],
    spans: NDArray[Any],
    threads: int,
) -> None: ...
def scratch_sizes(width: int, threads: int) -> tuple[int, int]: ...
def draw_strip(
    pixels: Any,
    info: NDArray[Any],
    points: NDArray[Any],
    lengths: NDArray[Any],
    radius: float,
    texels: Any,
    texel_info: NDArray[Any],
    scale: float,
    opacity: int,
    smooth: bool,
    cover: NDArray[Any],
    spans: NDArray[Any],
    threads: int,
) -> int: ...
