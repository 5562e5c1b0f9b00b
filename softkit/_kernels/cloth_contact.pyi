from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]
_L = NDArray[int64]
_B = NDArray[uint8]

def sizes() -> tuple[int, int, int]: ...
def bounds(x: _F, old: _F, margin: float, box: _F) -> None: ...
def take_colliders(
    colliders: _L,
    skin: _B,
    shapes: int,
    depths: _F,
    rounds: _B,
    solids: _F,
    box: _F,
    splits: _F,
    out: _B,
    slots: _L,
) -> int: ...
def touch(
    solids: _B,
    count: int,
    x: _F,
    old: _F,
    w: _F,
    touches: _B,
    skin: _B,
    h: float,
    radius: float,
    blocks: _L,
    colors: _L,
    particles: _I,
    triangles: _I,
    sums: _F,
    slots: _L,
    colliders: _L,
    splits: _F,
    grip: _F,
    owner: _L,
    pressed: _F,
    threads: int,
) -> None: ...
