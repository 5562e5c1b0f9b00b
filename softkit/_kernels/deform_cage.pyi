from numpy import float64, int32
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]

def blend(nodes: _F, node: _I, coef: _F, count: _I, offset: _F, out: _F, threads: int) -> None: ...
def affine(
    nodes: _F,
    node: _I,
    coef: _F,
    slope: _F,
    count: _I,
    rank: _I,
    axes: _F,
    offset: _F,
    out: _F,
    threads: int,
) -> None: ...
def turn(
    nodes: _F,
    rest: _F,
    node: _I,
    weight: _F,
    count: _I,
    center: _F,
    offset: _F,
    scaled: bool,
    out: _F,
    threads: int,
) -> None: ...
