"""Drags: they slow things down, exactly, at any step, and never turn them round."""

from typing import Any

from softkit._kernels import fields as kernels
from softkit.fields.base import Field, threads_for
from softkit.fields.values import Number


class Drag(Field):
    """Base of the drags. They act on velocity whatever the mass."""

    kind = "drag"

    def _sample(self, points: Any, velocities: Any, time: float, out: Any) -> None:
        self._prepare(time)
        kernels.drag(self._rows, points, velocities, out, threads_for(len(points)))


class LinearDrag(Drag):
    """dv/dt = -rate * v: v decays as exp(-rate * t), and falls no faster than g / rate.

    rate: 1/s >= 0, default 0.5; infinity stops everything.
    """

    _operation = 5
    rate = Number("Decay rate, 1/s, default 0.5.", 0.0, endless=True)

    def __init__(self, rate: float = 0.5, **options: Any):
        super().__init__(**options)
        self.rate = rate

    def _fill(self, row: Any) -> None:
        row[11] = min(self._rate, 1e18)


class QuadraticDrag(Drag):
    """dv/dt = -drag * |v| * v, air at high speed: v = v0 / (1 + drag v0 t), and falls no faster than sqrt(g /
    drag).

    drag: 1/wu >= 0, default 0.001.
    """

    _operation = 6
    drag = Number("Drag per length, 1/wu, default 0.001.", 0.0)

    def __init__(self, drag: float = 0.001, **options: Any):
        super().__init__(**options)
        self.drag = drag

    def _fill(self, row: Any) -> None:
        row[11] = self._drag


class Damping(Drag):
    """Multiplicative damping: v * keep^t, the same at any frame rate.

    keep: share of the velocity left after one second, 0 to 1, default 0.9.
    """

    _operation = 5
    keep = Number("Share of the velocity left after a second, 0 to 1, default 0.9.", 0.0, 1.0)

    def __init__(self, keep: float = 0.9, **options: Any):
        super().__init__(**options)
        self.keep = keep

    def _fill(self, row: Any) -> None:
        row[11] = -kernels.logarithm(self._keep) if self._keep > 0 else 1e18
