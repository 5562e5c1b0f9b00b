"""python -m softkit doctor."""

import subprocess
import sys

import numpy as np
import pytest

import softkit
from softkit import __main__, doctor


def _blob(world):
    world.add(softkit.SoftBody.circle((200, 100), 30))


def _gone(world):
    _blob(world)
    world.objects[0]._x[:] = np.nan


QUICK = (doctor.Trial("a blob", _blob, 32, 100.0),)


@pytest.mark.smoke
@pytest.mark.slow
def test_doctor_as_a_command():
    done = subprocess.run(
        [sys.executable, "-m", "softkit", "doctor"], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout
    for name in ("numpy", "pymunk", "pygame-ce", "python", "compiler", "vector level", "OpenMP", "threads"):
        assert f"\n{name} " in words
    for trial in doctor.TRIALS:
        line = next(line for line in words.splitlines() if line.startswith(trial.name))
        assert line.split()[-5:][0] != "FAIL" and " ok " in line


def test_trials_say_their_sizes():
    """The items that times are divided by are those that the scenes have."""
    for trial in doctor.TRIALS:
        world = doctor._world()
        trial.make(world)
        world.update(world.step)
        count = sum(len(item.positions) for item in world.objects)
        assert count == pytest.approx(trial.items, rel=0.03), trial.name


def test_fault_is_told(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "TRIALS", (doctor.Trial("a lost blob", _gone, 32, 100.0),))
    monkeypatch.setattr(doctor, "_STEPS", 0)
    monkeypatch.setattr(doctor.examine, "__defaults__", (doctor.TRIALS,))
    assert __main__.main(["doctor"]) == 1
    assert "a lost blob: a place is not finite" in capsys.readouterr().err


def test_bits_that_differ_are_told(monkeypatch):
    """A scene that depends on the thread count, as none may."""

    def make(world):
        world.add(softkit.SoftBody.circle((200 + softkit.get_threads(), 100), 30))

    softkit.set_threads(2)
    (finding,) = doctor.examine((doctor.Trial("odd", make, 32, 100.0),))
    assert finding.faults == ["2 threads end in other bits than 1"]


def test_thread_count_is_kept():
    softkit.set_threads(3)
    (finding,) = doctor.examine(QUICK)
    assert not finding.faults and finding.alone > 0 and finding.together > 0
    assert softkit.get_threads() == 3


def test_command_is_asked_for(capsys):
    with pytest.raises(SystemExit):
        __main__.main([])
    assert "doctor" in capsys.readouterr().err
