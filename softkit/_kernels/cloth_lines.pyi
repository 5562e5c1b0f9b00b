from numpy import float64
from numpy.typing import NDArray

_F = NDArray[float64]

def lines_work(rows: int, columns: int) -> int: ...
def solve_lines(
    x: _F,
    w: _F,
    live: _F,
    grip: _F,
    grips: bool,
    rows: int,
    columns: int,
    down: bool,
    rest: float,
    stretch_soft: float,
    bend_soft: float,
    bend: bool,
    work: _F,
    threads: int,
) -> None: ...
def solve_shear(
    x: _F, w: _F, live: _F, rows: int, columns: int, fall: float, rise: float, soft: float, threads: int
) -> None: ...
