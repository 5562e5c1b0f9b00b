from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]
_L = NDArray[int64]
_B = NDArray[uint8]

def neighbours() -> int: ...
def find_near(
    x: _F,
    reach: float,
    cells: _L,
    starts: _L,
    order: _I,
    sheet: _I,
    rest: _F,
    size: _F,
    meet: _B,
    near: _I,
    keep: _F,
    found: _I,
    threads: int,
) -> None: ...
def moved(x: _F, since: _F) -> float: ...
def part_sheets(
    x: _F,
    old: _F,
    w: _F,
    mu: _F,
    near: _I,
    keep: _F,
    found: _I,
    touching: _I,
    shift: _F,
    open_: float,
    threads: int,
) -> None: ...
