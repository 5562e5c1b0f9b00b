"""Steps all free particles of a world: one pass a step, after everything else has moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from softkit._kernels import particles as kernels
from softkit.fields.base import threads_for
from softkit.objects import FRICTION_RULES
from softkit.stages import Stage

if TYPE_CHECKING:
    from softkit.particles import Particles
    from softkit.world import World

TOUCH = np.dtype([("shape", "i8"), ("nx", "f8"), ("ny", "f8"), ("impulse", "f8")])
ON_HIT = {"bounce": 0, "stick": 1, "die": 2, "pass": 3}


class ParticleStage(Stage):
    """All pools of free particles of one world."""

    order = 90

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._marks = np.zeros(kernels.MARKS, np.uint8)

    def begin(self, dt: float) -> None:
        """Remember where bodies start, and let emitters give birth."""
        self._dt = dt
        bodies = self.world.colliders._body
        self._start = np.stack([bodies["x"], bodies["y"], bodies["c"], bodies["s"]], axis=1)
        for pool in self.objects:
            np.copyto(pool._previous, pool._x)
            for stream in pool._emitters:
                count = stream._due(dt)
                pool._emit(stream._spec, stream._edges, count)

    def end(self, h: float) -> None:
        for pool in self.objects:
            self._advance(pool)

    def _advance(self, pool: Particles) -> None:
        world, dt = self.world, self._dt
        pool._steps += 1
        n = pool.count
        pool.hits = pool._x[:0], pool._v[:0], pool._hit[:0, 2]
        if n == 0:
            pool._touch = np.zeros(0, np.int64)
            return
        pull = tuple(pool._gravity_scale * part for part in world.gravity)
        world.fields.apply(pool, pool._x, pool._v, pool._w, dt, world.time, gravity=pull)
        listening = pool._report or pool.on_begin is not None or pool.on_end is not None
        pool._touch = np.full(n, -1, np.int64) if listening else np.zeros(0, np.int64)
        colliders = world.colliders
        hit = ON_HIT[pool._on_hit] if colliders.shapes else ON_HIT["pass"]
        kernels.move(
            pool._x,
            pool._v,
            pool._traits,
            pool._fate[:n],
            pool._hit[:n],
            pool._touch if listening else None,
            pool._trail,
            pool._trail_slot(),
            self._numbers(pool, pull),
            self._choices(pool, hit),
            colliders.table,
            self._start,
            colliders.fastest * dt,
            self._marks,
            threads_for(n),
        )
        struck = np.flatnonzero(pool._fate[:n] == 2)
        if len(struck):
            pool.hits = pool._x[struck], pool._hit[struck, :2], pool._hit[struck, 2]
        pool._close_gaps()

    def _numbers(self, pool: Particles, pull: tuple[float, ...]) -> np.ndarray:
        bounce = -1.0 if pool._bounce is None else pool._bounce
        slow = 2.0 * (pull[0] ** 2 + pull[1] ** 2) ** 0.5 * self._dt
        world = self.world
        return np.array(
            [
                self._dt,
                pool._damping,
                world.max_speed,
                bounce,
                slow,
                pool._radius,
                pool._friction,
                pool._elasticity,
                world.max_depenetration_speed,
            ]
        )

    def _choices(self, pool: Particles, hit: int) -> np.ndarray:
        f = pool._filter
        return np.array(
            [
                hit,
                FRICTION_RULES.index(pool._friction_rule),
                f.group & 0x7FFFFFFFFFFFFFFF,
                f.categories & 0xFFFFFFFF,
                f.mask & 0xFFFFFFFF,
            ],
            np.int64,
        )

    def touches(self) -> list[tuple[Particles, np.ndarray]]:
        found = []
        for pool in self.objects:
            if len(pool._touch) and pool._touch.max() >= 0:
                records = np.zeros(len(pool._touch), TOUCH)
                records["shape"] = pool._touch
                hit = pool._hit[: len(records)]
                records["nx"], records["ny"] = hit[:, 0], hit[:, 1]
                records["impulse"] = pool._mass * hit[:, 2]
                found.append((pool, records))
        return found
