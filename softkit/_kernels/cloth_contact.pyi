from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

F = NDArray[float64]
I = NDArray[int32]
L = NDArray[int64]
B = NDArray[uint8]

def sizes() -> tuple[int, int, int]: ...
def take_colliders(
    colliders: L,
    skin: B,
    shapes: int,
    depths: F,
    rounds: B,
    solids: F,
    box: F,
    splits: F,
    out: B,
    slots: L,
) -> int: ...
def touch(
    solids: B,
    count: int,
    x: F,
    old: F,
    w: F,
    touchable: B,
    touches: B,
    skin: B,
    h: float,
    radius: float,
    blocks: L,
    colors: L,
    particles: I,
    triangles: I,
    sums: F,
    slots: L,
    colliders: L,
    splits: F,
    threads: int,
) -> None: ...
