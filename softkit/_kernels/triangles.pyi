from typing import Any

from numpy.typing import NDArray

def draw(
    pixels: Any,
    info: NDArray[Any],
    depth: NDArray[Any],
    points: NDArray[Any],
    uvs: NDArray[Any],
    front: NDArray[Any],
    back: NDArray[Any],
    heights: NDArray[Any],
    inverse: NDArray[Any],
    triangles: NDArray[Any],
    neighbours: NDArray[Any],
    texels: Any,
    texel_info: NDArray[Any],
    front_tint: int,
    back_tint: int,
    opacity: int,
    low: float,
    high: float,
    sign: float,
    smooth: bool,
    soft: bool,
    sort: bool,
    order: NDArray[Any],
    rows: NDArray[Any],
    facing: NDArray[Any],
    keys: NDArray[Any],
    buckets: NDArray[Any],
    threads: int,
) -> int: ...
def clear_depth(depth: NDArray[Any], width: int, x0: int, y0: int, x1: int, y1: int) -> None: ...
def find_neighbours(
    triangles: NDArray[Any], heads: NDArray[Any], links: NDArray[Any], neighbours: NDArray[Any]
) -> None: ...
