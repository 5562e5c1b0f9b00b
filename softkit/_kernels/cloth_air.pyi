from numpy import float64, int32, int64
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]
_L = NDArray[int64]

def blow(
    x: _F,
    v: _F,
    w: _F,
    air: _F,
    triangles: _I,
    starts: _L,
    faces: _I,
    drag: float,
    lift: float,
    density: float,
    h: float,
    force: _F,
    threads: int,
) -> None: ...
def normals(x: _F, triangles: _I, starts: _L, faces: _I, out: _F, threads: int) -> None: ...
