"""Runs a scene's contenders in turns, so that a slow minute of the machine hits all of them alike."""

import gc
import statistics
import time
from dataclasses import dataclass

from benchmarks.scene import Outcome, Scene


@dataclass(frozen=True)
class Plan:
    rounds: int = 12
    frames: int = 25
    seconds: float = 1.0
    """A contender's turn ends after `frames` frames, or sooner after this long."""


QUICK = Plan(rounds=3, frames=10, seconds=0.25)


def measure(scene: Scene, plan: Plan, report=lambda text: None) -> list[Outcome]:
    running, starts = [], []
    for contender in scene.contenders:
        report(f"{scene.name}: starting {contender.name}")
        begin = time.perf_counter()
        work = contender.start()
        work.resume()
        work.frame()  # compilers and caches warm up here; it counts as starting, not as a frame
        starts.append(time.perf_counter() - begin)
        work.watch()
        running.append(work)
    times = [[] for _ in running]
    for turn in range(plan.rounds):
        report(f"{scene.name}: round {turn + 1} of {plan.rounds}")
        for work, rounds in zip(running, times):
            rounds.append(_turn(work, plan))
    return [
        Outcome(contender, rounds, start, work.quality())
        for contender, rounds, start, work in zip(scene.contenders, times, starts, running)
    ]


def _turn(work, plan: Plan) -> list[float]:
    """Seconds of each frame of one turn. The garbage collector waits until it is over."""
    work.resume()
    seconds = []
    gc.collect()
    gc.disable()
    try:
        end = time.perf_counter() + plan.seconds
        while len(seconds) < plan.frames and (not seconds or time.perf_counter() < end):
            begin = time.perf_counter()
            work.frame()
            seconds.append(time.perf_counter() - begin)
            work.watch()
    finally:
        gc.enable()
    return seconds


def frames(outcome: Outcome) -> list[float]:
    return sorted(second for turn in outcome.rounds for second in turn)


def median(outcome: Outcome) -> float:
    return statistics.median(frames(outcome))


def p95(outcome: Outcome) -> float:
    ordered = frames(outcome)
    return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]


def ratio(outcome: Outcome, baseline: Outcome) -> float:
    """How many times as long as the baseline: the median over rounds, each round compared with itself."""
    pairs = zip(outcome.rounds, baseline.rounds)
    return statistics.median(statistics.median(a) / statistics.median(b) for a, b in pairs)
