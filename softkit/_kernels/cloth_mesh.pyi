from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

_F = NDArray[float64]
_I = NDArray[int32]
_L = NDArray[int64]
_B = NDArray[uint8]

def predict(
    x: _F,
    v: _F,
    old: _F,
    held: _B,
    gx: float,
    gy: float,
    gz: float,
    h: float,
    damping: float,
    threads: int,
) -> None: ...
def finish(x: _F, v: _F, old: _F, h: float, limit: float, threads: int) -> int: ...
def solve_edges(
    x: _F, w: _F, edges: _I, rest: _F, live: _F, lam: _F, starts: _L, soft: float, threads: int
) -> None: ...
def solve_bends(
    x: _F, w: _F, hinges: _I, weights: _F, rest: _F, soft: _F, starts: _L, factor: float, threads: int
) -> None: ...
def reach(
    x: _F,
    given: _F,
    held: _B,
    anchors: _I,
    limits: _F,
    share: _F,
    slack: float,
    record: bool,
    threads: int,
) -> None: ...
def answer(x: _F, given: _F, w: _F, held: _B, anchors: _I, share: _F) -> None: ...
def find_torn(x: _F, edges: _I, rest: _F, live: _F, limit: float, out: _I) -> int: ...
def color_items(items: _I, n: int, colors: _I) -> int: ...
def geodesic(starts: _L, ends: _I, lengths: _F, source: int, way: _F, heap: _I, place: _I) -> None: ...
