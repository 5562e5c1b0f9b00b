from numpy import float64, int32
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]

def place(points: _F, corners: _I, at: _F, height: _F, out: _F, threads: int) -> None: ...
def turn(points: _F, corners: _I, at: _F, side: _F, normals: _F, out: _F, threads: int) -> None: ...
