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
NO_TOUCH = np.zeros(0, np.int64)
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
        pool._struck = 0
        if n == 0:
            pool._touch = NO_TOUCH
            return
        pull = tuple(pool._gravity_scale * part for part in world.gravity)
        world.fields.apply(pool, pool._x, pool._v, pool._w, dt, world.time, gravity=pull)
        listening = pool._report or pool.on_begin is not None or pool.on_end is not None
        pool._touch = pool._want_touches(n) if listening else NO_TOUCH
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
        if pool._on_hit == "die":
            pool._collect_struck()
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
            n = len(pool._touch)
            if n and pool._touch.max() >= 0:
                if pool._records is None:
                    pool._records = np.zeros(pool._capacity, TOUCH)
                records, hit = pool._records[: pool.count], pool._hit[:n]
                records["shape"][n:] = -1  # born since
                records = records[:n]
                records["shape"], records["nx"], records["ny"] = pool._touch, hit[:, 0], hit[:, 1]
                np.multiply(hit[:, 2], pool._mass, out=records["impulse"])
                records = pool._records[: pool.count]
                found.append((pool, records))
        return found
