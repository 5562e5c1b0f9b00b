from typing import Any

MARK_BYTES: int

def prepare(
    x: Any,
    before: Any,
    alpha: float,
    v: Any,
    streak: float,
    traits: Any,
    camera: Any,
    sizes: Any,
    colors: Any,
    marks: Any,
    threads: int,
) -> None: ...
def prepare_trails(
    trail: Any, newest: int, x: Any, camera: Any, traits: Any, sizes: Any, colors: Any, marks: Any
) -> None: ...
def splat(marks: Any, info: Any, pixels: Any, fall: Any, additive: bool, bands: int, threads: int) -> int: ...
def place_pictures(
    marks: Any,
    info: Any,
    pixels: Any,
    picture_info: Any,
    picture: Any,
    additive: bool,
    bands: int,
    threads: int,
) -> int: ...
def heat(values: Any, columns: int, rows: int, ramp: Any, info: Any, pixels: Any, threads: int) -> None: ...
