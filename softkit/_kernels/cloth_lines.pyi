from numpy import float64
from numpy.typing import NDArray

F = NDArray[float64]

def lines_work(rows: int, columns: int) -> int: ...
def solve_lines(
    x: F,
    w: F,
    live: F,
    rows: int,
    columns: int,
    down: bool,
    rest: float,
    stretch_soft: float,
    bend_soft: float,
    bend: bool,
    work: F,
    threads: int,
) -> None: ...
def solve_shear(
    x: F, w: F, live: F, rows: int, columns: int, fall: float, rise: float, soft: float, threads: int
) -> None: ...
