"""The benchmarks measure what they say: peers that are ropes, honest rounds, complete tables."""

import csv
import importlib.util

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import report, runner, scenes
from benchmarks.peers import numpy_verlet, pymunk_chain, python_verlet
from benchmarks.scene import Contender, Outcome, Scene, Still
from benchmarks.scenes.rope import Layout, Watched

PEERS = [numpy_verlet, pymunk_chain, python_verlet]
if importlib.util.find_spec("numba"):
    from benchmarks.peers import numba_verlet

    PEERS.append(numba_verlet)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.__name__.rsplit(".", 1)[1])
def test_peer_swings_like_a_rope(peer):
    """A quarter swing of a rope let go sideways: its mean height falls, its pin stays, its length holds."""
    layout = Layout(2, 20)
    ropes = peer.Ropes(layout)
    start = np.asarray(ropes.positions(), dtype=float).copy()
    np.testing.assert_allclose(start, layout.points())
    for _ in range(20):
        ropes.frame()
    now = np.asarray(ropes.positions(), dtype=float)
    np.testing.assert_allclose(now[:, 0], start[:, 0], atol=1e-9)
    np.testing.assert_allclose(now[0] - start[0, 0], now[1] - start[1, 0], atol=1e-6)  # two equal ropes
    assert (now[:, 10, 1] > start[:, 10, 1] + 30).all()
    links = np.hypot(*np.moveaxis(np.diff(now, axis=1), -1, 0))
    assert abs(links.mean() / layout.link - 1) < 0.1


def test_verlets_agree():
    """The plain one and the NumPy one differ only in the order of their sweeps; one link has no order."""
    layout = Layout(3, 1)
    one, other = python_verlet.Ropes(layout), numpy_verlet.Ropes(layout)
    for _ in range(60):
        one.frame()
        other.frame()
    np.testing.assert_allclose(np.asarray(one.positions()), other.positions(), atol=1e-9)


def test_stretch_is_seen():
    class Fake:
        def frame(self):
            pass

        def positions(self):
            return [[(0, 0), (8, 0), (16, 8)], [(0, 0), (10, 0), (22, 0)]]

    seen = Watched(Fake(), Layout(2, 2))
    seen.watch()
    quality = seen.quality()
    assert quality["worst rope %"] == pytest.approx(100 * (22 / 16 - 1))
    assert quality["worst link %"] == pytest.approx(50)


def test_contenders_take_turns():
    calls = []

    class Work(Still):
        def __init__(self, name):
            self.frame = lambda: calls.append(name)

    contenders = [Contender(name, lambda name=name: Work(name)) for name in "ab"]
    outcomes = runner.measure(Scene("s", "", contenders, "a"), runner.Plan(rounds=2, frames=3, seconds=60))
    assert "".join(calls) == "ab" + "aaabbb" * 2
    assert [len(turn) for turn in outcomes[0].rounds] == [3, 3]


def test_ratio_compares_rounds():
    """A machine that is ten times slower in one round does not move the ratio."""
    contender = Contender("x", Still)
    slow = Outcome(contender, [[2.0, 2.0], [20.0, 20.0], [2.0, 2.0]], 0, {})
    fast = Outcome(contender, [[1.0, 1.0], [10.0, 10.0], [1.0, 1.0]], 0, {})
    assert runner.ratio(slow, fast) == 2.0
    assert runner.median(slow) == 2.0 and runner.p95(slow) == 20.0


def test_table_and_csv(tmp_path, capsys):
    file = tmp_path / "out.csv"
    assert command.main(["--scene", "rope-1x100", "--peers", "numpy", "--quick", "--csv", str(file)]) == 0
    text = capsys.readouterr().out
    assert "ns/segment/substep" in text and "verlet, 20 sweeps" in text
    with open(file, newline="") as stream:
        (line,) = csv.DictReader(stream)
    assert line["cpu"] == report.cpu_model()
    assert float(line["ns_per_item_substep"]) == pytest.approx(float(line["median_ms"]) * 1e4, rel=1e-4)
    assert {"python", "numpy", "pymunk", "threads", "stretch %"} <= set(line)


def test_names_are_unique_and_unknown_ones_are_refused(capsys):
    names = [scene.name for scene in scenes.load()]
    assert len(names) == len(set(names)) > 0
    for scene in scenes.load():
        assert scene.baseline in [contender.name for contender in scene.contenders]
    assert command.main(["--scene", "nonsense"]) == 2
