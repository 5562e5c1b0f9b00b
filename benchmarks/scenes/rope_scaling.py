"""How the cost of ropes grows: with threads, and with segments."""

from functools import partial

import softkit
from benchmarks import runner
from benchmarks.scene import Contender, Scene
from benchmarks.scenes.rope import SUBSTEPS, Layout, Softkit, started

LENGTHS = (100, 1_000, 10_000)


def thread_counts():
    """1, 2, 4 and so on up to the threads in force by default."""
    softkit.set_threads(None)
    most = softkit.get_threads()
    return sorted({*(2**k for k in range(most.bit_length())), most})


def threads(layout, title):
    counts = thread_counts()
    names = {n: f"{n} thread{'s' * (n > 1)}" for n in counts}
    contenders = [
        Contender(names[n], partial(started, Softkit, layout, n), layout.ropes * layout.segments, SUBSTEPS)
        for n in counts
    ]

    def conclude(outcomes):
        one = outcomes.get(names[1])
        rest = [o for name, o in outcomes.items() if one and name != names[1]]
        return [f"{o.contender.name}: {1 / runner.ratio(o, one):.2f} x as fast as one" for o in rest]

    name = f"threads-{layout.ropes}x{layout.segments}"
    return Scene(name, title, contenders, baseline=names[1], conclude=conclude)


def linear():
    """One rope on one thread, ten times as long each time: the cost of a segment should not move."""
    contenders = [
        Contender(f"{n} segments", partial(started, Softkit, Layout(1, n), 1), n, SUBSTEPS) for n in LENGTHS
    ]

    def conclude(outcomes):
        costs = [runner.median(o) / o.contender.items for o in outcomes.values()]
        return [f"cost of a segment, dearest over cheapest length: {max(costs) / min(costs):.2f}"]

    title = "one rope of 100 to 10,000 segments on one thread"
    return Scene("rope-linear", title, contenders, baseline=f"{LENGTHS[0]} segments", conclude=conclude)


def scenes():
    return [
        threads(Layout(500, 40), "500 ropes of 40 segments, by threads"),
        threads(Layout(1, 2000), "1 rope of 2000 segments, by threads (a chain has no independent parts)"),
        linear(),
    ]
