from numpy import float64, int32, int64
from numpy.typing import NDArray

F = NDArray[float64]
I = NDArray[int32]
L = NDArray[int64]

def blow(
    x: F,
    v: F,
    w: F,
    air: F,
    triangles: I,
    starts: L,
    faces: I,
    drag: float,
    lift: float,
    density: float,
    h: float,
    force: F,
    threads: int,
) -> None: ...
def normals(x: F, triangles: I, starts: L, faces: I, out: F, threads: int) -> None: ...
