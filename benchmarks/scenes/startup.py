"""What a player waits for before the first frame, each in a new Python."""

import importlib.util
import subprocess
import sys
from functools import partial

from benchmarks import runner
from benchmarks.scene import Contender, Scene, Still

CODES = {
    "python": "pass",
    "numpy + pymunk": "import numpy, pymunk",
    "softkit": "import softkit",
    "numba": "import numba",
}


class Process(Still):
    def __init__(self, code):
        self.command = [sys.executable, "-c", code]

    def frame(self):
        subprocess.run(self.command, check=True, stdin=subprocess.DEVNULL)


def conclude(outcomes):
    if not {"python", "softkit"} <= outcomes.keys():
        return []
    own = runner.median(outcomes["softkit"]) - runner.median(outcomes["python"])
    return [f"import softkit takes {own:.3f} s (target: below 0.15 s, numpy and pymunk included)"]


def scenes():
    codes = {
        name: code for name, code in CODES.items() if name != "numba" or importlib.util.find_spec("numba")
    }
    contenders = [Contender(name, partial(Process, code)) for name, code in codes.items()]
    return [Scene("import", "a new Python that imports", contenders, baseline="softkit", conclude=conclude)]
