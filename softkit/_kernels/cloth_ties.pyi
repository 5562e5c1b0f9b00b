from numpy import float64, int64
from numpy.typing import NDArray

_F = NDArray[float64]
_L = NDArray[int64]

def move_pins(x: _F, pins: _L, start: _F, target: _F, fraction: float) -> None: ...
def weigh_ties(colliders: _L, ties: _L, local: _F, mass: _F, total: float, w: _F, share: _F) -> None: ...
def move_ties(colliders: _L, x: _F, ties: _L, local: _F) -> None: ...
def pull_bodies(colliders: _L, x: _F, ties: _L, local: _F, moved: _F) -> None: ...
def take_grips(
    colliders: _L,
    x: _F,
    w: _F,
    grip: _F,
    owner: _L,
    list_: _L,
    before: _F,
    heavy: _F,
    stiff: _F,
    totals: _F,
) -> int: ...
def press_bodies(
    colliders: _L,
    x: _F,
    old: _F,
    owner: _L,
    list_: _L,
    count: int,
    before: _F,
    stiff: _F,
    pressed: _F,
    bounce: float,
    open_: float,
) -> None: ...
