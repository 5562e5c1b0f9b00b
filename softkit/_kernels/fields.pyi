import numpy as np
from numpy.typing import NDArray

_Array = NDArray[np.float64]

ROW: int
OCTAVE: int

def accumulate(
    rows: _Array, table: _Array, points: _Array, inverse_mass: _Array | None, out: _Array, threads: int
) -> None: ...
def relax(
    row: _Array,
    table: _Array,
    points: _Array,
    velocities: _Array,
    inverse_mass: _Array | None,
    acceleration: _Array | None,
    h: float,
    threads: int,
) -> None: ...
def drag(row: _Array, points: _Array, velocities: _Array, out: _Array, threads: int) -> None: ...
def kick(
    velocities: _Array, acceleration: _Array, inverse_mass: _Array | None, h: float, threads: int
) -> None: ...
def blast(
    row: _Array,
    points: _Array,
    velocities: _Array,
    inverse_mass: _Array | None,
    impulse: float,
    max_speed: float,
    threads: int,
) -> None: ...
def weights(row: _Array, points: _Array, out: _Array) -> None: ...
def octave_table(
    table: _Array,
    seed: int,
    dim: int,
    scale: float,
    strength: float,
    gain: float,
    when: float,
    period: _Array,
) -> None: ...
def gust(phase: float, seed: int) -> float: ...
def decay(rate: float, seconds: float) -> float: ...
def decays(rates: _Array, seconds: float, out: _Array) -> None: ...
def logarithm(x: float) -> float: ...
