"""Turbulent air without a fluid solver."""

from typing import Any

import numpy as np

from softkit import checks
from softkit._kernels import fields as kernels
from softkit.fields.base import threads_for
from softkit.fields.flows import Flow
from softkit.fields.region import Region, as_rect
from softkit.fields.values import Number, number


class CurlNoise(Flow):
    """Swirling air that neither piles things up nor thins them out: the curl of a noise potential (Bridson,
    Hourihan, Nordenstam 2007), its derivative in closed form, so that the divergence is zero to rounding.

    seed: 0 to 2^32 - 1, default 0. scale: size of the largest eddies, wu, default 120. strength: rms speed
    over space, wu/s, default 60. octaves: 1 to 8, default 3: each one half the size and `gain` times as fast.
    speed: how many times a second the pattern renews itself, default 0.3; 0 stands still. gain: 0 to 1,
    default 0.5. rate: 1/s, default 3. period: None (default: endless), a length or one per axis, wu: the
    pattern repeats after it; a whole multiple of scale. 2-D points get a plane flow; 3-D points a flow in
    space, which is another one.
    """

    _operation = 3

    strength = Number("Rms speed, wu/s, default 60.", 0.0)
    gain = Number("Speed of each octave against the one before, 0 to 1, default 0.5.", 0.0, 1.0)

    def __init__(
        self,
        seed: int = 0,
        scale: float = 120,
        strength: float = 60,
        octaves: int = 3,
        speed: float = 0.3,
        *,
        gain: float = 0.5,
        rate: float = 3,
        period: Any = None,
        phase: float = 0,
        **options: Any,
    ):
        super().__init__(**options)
        self._tables: dict[int, np.ndarray] = {}
        self._table_time: dict[int, float] = {}
        self._rect: Region | None = None
        self._interval, self._cached_at = 0.0, None
        self._phase, self._now = number("phase", phase, -1e9, 1e9), 0.0
        self._speed = number("speed", speed, 0.0, 1e3)
        self._seed, self._octaves = (
            checks.whole("seed", seed, 0, 2**32 - 1),
            checks.whole("octaves", octaves, 1, 8),
        )
        self._scale = number("scale", scale, 1e-3, 1e9)
        self._period = _periods(period, self._scale)
        self.strength, self.gain, self.rate = strength, gain, rate

    @property
    def seed(self) -> int:
        """Which pattern."""
        return self._seed

    @seed.setter
    def seed(self, value: int) -> None:
        self._change("_seed", checks.whole("seed", value, 0, 2**32 - 1))

    @property
    def octaves(self) -> int:
        """How many sizes of eddies, 1 to 8."""
        return self._octaves

    @octaves.setter
    def octaves(self, value: int) -> None:
        self._change("_octaves", checks.whole("octaves", value, 1, 8))

    @property
    def scale(self) -> float:
        """Size of the largest eddies, wu."""
        return self._scale

    @scale.setter
    def scale(self, value: float) -> None:
        value = number("scale", value, 1e-3, 1e9)
        _periods(tuple(self._period) if self._period.any() else None, value)
        self._change("_scale", value)

    @property
    def speed(self) -> float:
        """Renewals a second; changing it does not make the pattern jump."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        value = number("speed", value, 0.0, 1e3)
        self._phase += (self._speed - value) * self._now
        self._change("_speed", value)

    @property
    def steady(self) -> bool:
        return self._speed == 0 or self._strength == 0

    def cache(self, rect: Any, cell: float | None = None, interval: float = 4 / 60) -> None:
        """Keep the 2-D flow on a grid over rect, renewed every `interval` seconds of world time, for speed.

        cell: wu, default None: an eighth of the smallest eddy, at most a 24th of the largest. The flow is
        then bilinear between nodes, and divergence-free only to its error. The grid is made for the middle of
        each interval. With these defaults its rms error as a share of `strength` is below 0.012 there; at
        speed 0.3, at the interval's ends (two steps of 1/60 s away), 0.025 on average and below 0.045 at its
        worst. `cache_error` measures it for yours. Outside the rect, and for 3-D points, the noise itself is
        used. None as rect: no cache. The grid is a function of time alone, so snapshots need not keep it.
        """
        if rect is None:
            self._rect = None
            self._touch()
            return
        area = as_rect("rect", rect)
        smallest = self._scale / 2 ** (self._octaves - 1)
        cell = min(smallest / 8, self._scale / 24) if cell is None else number("cell", cell, 1e-3)
        interval = number("interval", interval, 0.0, 1e6)
        columns, rows = (int(np.ceil(2 * half / cell)) + 1 for half in area.half[:2])
        if columns * rows > 4_000_000:
            raise ValueError(
                f"cell must leave at most 4,000,000 nodes in rect, got {cell!r} with {columns * rows}"
            )
        self._rect, self._cell, self._interval = area, cell, interval
        self._columns, self._rows_count = columns, rows
        xs = area.center[0] - area.half[0] + cell * np.arange(columns)
        ys = area.center[1] - area.half[1] + cell * np.arange(rows)
        self._nodes = np.ascontiguousarray(np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2))
        self._touch()

    def cache_error(self, time: float = 0, samples: int = 4096) -> float:
        """Rms difference of the cached flow from the noise itself over the cached rect, as a share of
        `strength`."""
        if self._rect is None or self._strength == 0:
            return 0.0
        edge = np.array(self._rect.half[:2])
        spots = np.random.default_rng(samples).uniform(-1, 1, (samples, 2)) * edge + self._rect.center[:2]
        held = self.sample(spots, time=time)
        exact = np.zeros_like(spots)
        kernels.accumulate(self._plain(), self._octave_rows(2, time).reshape(-1), spots, None, exact, 1)
        return float(np.sqrt(((held - exact) ** 2).sum(axis=1).mean()) / self._strength)

    def _plain(self) -> np.ndarray:
        row = np.zeros((1, kernels.ROW))
        row[0, 0], row[0, 11] = 3, self._octaves
        return row

    def _octave_rows(self, dim: int, time: float) -> np.ndarray:
        table = self._tables.get(dim)
        if table is None or len(table) != self._octaves:
            table = self._tables[dim] = np.zeros((self._octaves, kernels.OCTAVE))
            self._table_time[dim] = -1.0
        when = self._phase + self._speed * time
        kernels.octave_table(
            table, self._seed, dim, self._scale, self._strength, self._gain, when, self._period
        )
        return table

    def _rebuild(self) -> None:
        super()._rebuild()
        self._cached_at = None

    def _fill(self, row: Any) -> None:
        row[11] = self._octaves
        if self._rect is None:
            return
        left, top = (c - h for c, h in zip(self._rect.center[:2], self._rect.half[:2]))
        row[0] = 7
        row[11:20] = (
            left,
            top,
            1 / self._cell,
            1 / self._cell,
            self._columns,
            self._rows_count,
            1,
            0,
            self._octaves,
        )

    def _use(self, time: float, dim: int) -> None:
        """Bring rows and table to `time` for points of `dim` numbers."""
        super()._prepare(time)
        self._now = time
        if self._rect is None:
            self._table = self._octave_rows(dim, time).reshape(-1)
            return
        if dim == 3:
            self._table = self._octave_rows(3, time).reshape(-1)
            return
        at = time if self._interval == 0 else self._interval * (np.floor(time / self._interval) + 0.5)
        head = self._octaves * kernels.OCTAVE
        size = head + 2 * len(self._nodes)
        held = self._tables.get(0)
        if held is None or len(held) != size:
            held = self._tables[0] = np.zeros(size)
            self._cached_at = None
        if self._cached_at != at:
            grid = held[head:].reshape(-1, 2)
            grid[:] = 0.0
            kernels.accumulate(
                self._plain(),
                self._octave_rows(2, at).reshape(-1),
                self._nodes,
                None,
                grid,
                threads_for(len(grid)),
            )
            self._cached_at = at
        held[:head] = self._octave_rows(2, time).reshape(-1)
        self._table = held

    def _sample(self, points: Any, velocities: Any, time: float, out: Any) -> None:
        self._use(time, points.shape[1])
        kernels.accumulate(self._rows, self._table, points, None, out, threads_for(len(points)))

    def relax(
        self,
        points: Any,
        velocities: Any,
        h: float,
        time: float,
        inverse_mass: Any = None,
        acceleration: Any = None,
        threads: int | None = None,
    ) -> None:
        self._use(time, points.shape[1])
        kernels.relax(
            self._rows,
            self._table,
            points,
            velocities,
            inverse_mass,
            acceleration,
            h,
            threads_for(len(points), threads),
        )

    def state(self) -> Any:
        return [self._phase, self._now]

    def set_state(self, state: Any) -> None:
        self._phase, self._now = number("state", state[0]), number("state", state[1])


def _periods(period: Any, scale: float) -> np.ndarray:
    """One period per axis, 0 for an endless axis; each must hold a whole number of features."""
    if period is None:
        return np.zeros(3)
    parts = tuple(period) if hasattr(period, "__iter__") else (period,) * 3
    if len(parts) not in (2, 3):
        raise ValueError(f"period must be a length or one per axis, got {period!r}")
    result = np.array([*(number("period", part, 0.0, 1e9) for part in parts), 0.0][:3])
    cells = result / scale
    if np.abs(cells - np.round(cells)).max() > 1e-6:
        raise ValueError(f"period must be a whole multiple of scale ({scale:g}), got {period!r}")
    return result
