"""What `python -m softkit doctor` prints: the build, what it runs beside, a self test, and speeds.

The self test steps a small scene of each kind and asks of each what a report of a fault would ask first: are
all places finite, are the bits the same for one thread and for all, do they survive a snapshot. Speeds are
nanoseconds an item a substep, those of one thread beside the reference machine's, `REFERENCE`.
"""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

import numpy as np
import pymunk

import softkit

REFERENCE = "AMD EPYC (virtual, 2 cores), one thread, gcc 12.2, sse2"
_STEPS = 24
_SECONDS = 0.15
_PACKAGES = ("softkit", "numpy", "pymunk", "pygame-ce")


@dataclass
class Trial:
    """A scene of one kind: how it is made, and what a step of it costs on the reference machine.

    Attributes:
        name: what is stepped.
        make: fills an empty world.
        items: segments, particles or links that a substep handles.
        reference: ns an item a substep on the reference machine, with one thread.
    """

    name: str
    make: Callable[[softkit.World], None]
    items: int
    reference: float


class Finding(NamedTuple):
    """What came of a trial: no `faults` where all is well; ns an item a substep, one thread and all."""

    trial: Trial
    faults: list[str]
    alone: float
    together: float


def _world() -> softkit.World:
    space = pymunk.Space()
    space.gravity = (0, 900)
    for a, b in (((0, 600), (800, 600)), ((0, 0), (0, 600)), ((800, 0), (800, 600))):
        space.add(pymunk.Segment(space.static_body, a, b, 5))
    return softkit.World(space)


def _ropes(world: softkit.World) -> None:
    for x in range(25, 775, 15):
        rope = softkit.Rope((x, 50), (x + 4, 450), segments=40)
        world.add(rope).attach(0, world.space.static_body)


def _cloth(world: softkit.World) -> None:
    world.add(softkit.Cloth(48, 48, spacing=6, origin=(250, 60, 0), pinned=(0, 47)))


def _fluid(world: softkit.World) -> None:
    world.add(softkit.Fluid(spacing=6)).fill((10, 400, 390, 190))


def _bodies(world: softkit.World) -> None:
    for index in range(40):
        place = (60 + 75 * (index % 10), 560 - 70 * (index // 10))
        world.add(softkit.SoftBody.circle(place, 28, segments=24))


def _particles(world: softkit.World) -> None:
    cloud = world.add(softkit.Particles(30_000, lifetime=1e3, gravity_scale=0, seed=3))
    cloud.add(np.random.default_rng(3).uniform((50, 50), (750, 550), (30_000, 2)))
    world.fields.add(softkit.fields.CurlNoise(seed=1, scale=120, strength=90))


TRIALS = (
    Trial("50 ropes of 40 segments", _ropes, 2000, 90.0),
    Trial("cloth of 48 x 48", _cloth, 48 * 48, 240.0),
    Trial("fluid, 2,000 particles", _fluid, 2015, 125.0),
    Trial("40 soft circles of 24", _bodies, 960, 500.0),
    Trial("30,000 free particles", _particles, 30_000, 17.0),
)


def _stepped(trial: Trial, threads: int) -> softkit.World:
    softkit.set_threads(threads)
    world = _world()
    trial.make(world)
    for _ in range(_STEPS):
        world.update(world.step)
    return world


def _faults(trial: Trial, threads: int) -> tuple[list[str], softkit.World]:
    """What is wrong with a scene, and the scene after a few steps with all threads."""
    faults = []
    alone = _stepped(trial, 1).state_hash()
    world = _stepped(trial, threads)
    if not all(np.isfinite(item.positions).all() for item in world.objects):
        faults.append("a place is not finite")
    if world.state_hash() != alone:
        faults.append(f"{threads} threads end in other bits than 1")
    saved, before = world.snapshot(), world.state_hash()
    world.update(world.step)
    try:
        world.restore(saved)
    except ValueError as error:  # so is a place that is not finite, which is told above
        return faults or [f"a snapshot is refused: {error}"], world
    if world.state_hash() != before:
        faults.append("a snapshot comes back with other bits")
    return faults, world


def _cost(world: softkit.World, threads: int) -> float:
    """Median nanoseconds of one substep."""
    softkit.set_threads(threads)
    times: list[float] = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        world.update(world.step)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e9 / world.substeps


def examine(trials: tuple[Trial, ...] = TRIALS) -> Iterator[Finding]:
    """Run each trial with the threads in force, which are kept."""
    threads = softkit.get_threads()
    try:
        for trial in trials:
            faults, world = _faults(trial, threads)
            alone = _cost(world, 1)
            together = _cost(world, threads) if threads > 1 else alone
            yield Finding(trial, faults, alone / trial.items, together / trial.items)
    finally:
        softkit.set_threads(threads)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def describe() -> list[tuple[str, str]]:
    """The facts that belong into a report of a fault, as (name, value)."""
    build = softkit.build_info()
    openmp = f"yes ({build['openmp_version']})" if build["openmp"] else "NO: every step runs on one thread"
    wanted = os.environ.get("OMP_NUM_THREADS")
    return [
        *((package, _version(package)) for package in _PACKAGES),
        ("python", f"{platform.python_version()} ({platform.python_implementation()})"),
        ("system", f"{platform.system()} {platform.release()} {platform.machine()}"),
        ("processor", f"{_processor()}, {os.cpu_count()} cores"),
        ("compiler", str(build["compiler"])),
        ("vector level", str(build["vector"])),
        ("OpenMP", openmp),
        ("threads", f"{build['threads']}" + (f" (OMP_NUM_THREADS={wanted})" if wanted else "")),
    ]


def main() -> int:
    """Print everything; 0 where the self test holds, else 1."""
    for name, value in describe():
        print(f"{name:<14}{value}")
    together = f"{softkit.get_threads()} threads"
    print(f"\n{'self test':<26}{'bits':<6}{'1 thread':>10}{together:>12}{'reference':>11}{'speed':>9}")
    failed = []
    for finding in examine():
        trial = finding.trial
        times = f"{finding.alone:>10.1f}{finding.together:>12.1f}{trial.reference:>11.1f}"
        ratio = f"{trial.reference / finding.alone:.2f} x"
        print(f"{trial.name:<26}{'FAIL' if finding.faults else 'ok':<6}{times}{ratio:>9}", flush=True)
        failed += [f"{trial.name}: {fault}" for fault in finding.faults]
    print(f"ns an item a substep; reference: {REFERENCE}")
    for line in failed:
        print(f"FAIL {line}", file=sys.stderr)
    return 1 if failed else 0
