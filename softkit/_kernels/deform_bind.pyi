from numpy import float64, int32, int64
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]
_L = NDArray[int64]

def sort_cells(nodes: _F, low: _F, cell: float, shape: _L, starts: _L, order: _I) -> None: ...
def nearest(
    nodes: _F, points: _F, low: _F, cell: float, shape: _L, starts: _L, order: _I, out: _I
) -> None: ...
def bind(
    nodes: _F,
    points: _F,
    rows: _L,
    home: _I,
    link_starts: _L,
    link_to: _I,
    low: _F,
    cell: float,
    shape: _L,
    starts: _L,
    order: _I,
    k: int,
    smooth: bool,
    affine: bool,
    node: _I,
    weight: _F,
    coef: _F,
    slope: _F,
    center: _F,
    offset: _F,
    axes: _F,
    count: _I,
    rank: _I,
    along: _F,
    found: _I,
    key: _F,
    item: _I,
) -> None: ...
