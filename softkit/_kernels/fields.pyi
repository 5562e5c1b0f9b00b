import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ROW: int
OCTAVE: int

def accumulate(rows: Array, table: Array, points: Array, inverse_mass: Array | None, out: Array, threads: int) -> None: ...
def relax(
    row: Array,
    table: Array,
    points: Array,
    velocities: Array,
    inverse_mass: Array | None,
    acceleration: Array | None,
    h: float,
    threads: int,
) -> None: ...
def drag(row: Array, points: Array, velocities: Array, out: Array, threads: int) -> None: ...
def kick(velocities: Array, acceleration: Array, inverse_mass: Array | None, h: float, threads: int) -> None: ...
def blast(
    row: Array,
    points: Array,
    velocities: Array,
    inverse_mass: Array | None,
    impulse: float,
    max_speed: float,
    threads: int,
) -> None: ...
def weights(row: Array, points: Array, out: Array) -> None: ...
def octave_table(
    table: Array, seed: int, dim: int, scale: float, strength: float, gain: float, when: float, period: Array
) -> None: ...
def gust(phase: float, seed: int) -> float: ...
def decay(rate: float, seconds: float) -> float: ...
def decays(rates: Array, seconds: float, out: Array) -> None: ...
def logarithm(x: float) -> float: ...
