"""A cage of 5,000 points over 400 nodes, and a skin of 20,000 vertices in it."""

from functools import partial

import numpy as np

import softkit
from benchmarks import runner
from benchmarks.scene import Contender, Scene, Still
from softkit import deform


class Follow(Still):
    def __init__(self, mode, threads):
        self.threads = threads
        softkit.set_threads(threads)
        side = np.arange(20) * 30.0
        self.nodes = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
        self.rng = np.random.default_rng(0)
        self.cage = deform.Cage(self.nodes, deform.grid_points((0, 0), (570, 570), 570 / 70), mode=mode)
        self.skin = deform.Skin(self.rng.uniform(0, 570, (20_000, 2)), self.cage)
        self.watch()

    def resume(self):
        softkit.set_threads(self.threads)

    def watch(self):
        self.now = self.nodes + self.rng.normal(0, 2, self.nodes.shape)

    def frame(self):
        self.cage.update(self.now)
        self.skin.update()


def conclude(outcomes):
    own = 1e3 * runner.median(outcomes["mls"])
    return [f"cage and skin: {own:.2f} ms a frame, {'within' if own < 2 else 'ABOVE'} the budget of 2 ms"]


def scenes():
    contenders = [
        Contender(mode, partial(Follow, mode, None), 20_000, 1, "5,041 points")
        for mode in deform.MODES
        if mode != "mls-affine"
    ]
    contenders.append(Contender("mls-1-thread", partial(Follow, "mls", 1), 20_000, 1, "1 thread"))
    return [
        Scene(
            "deform-20000",
            "20,000 skin vertices in a cage of 5,041 points",
            contenders,
            baseline="mls",
            conclude=conclude,
            item="vertex",
        )
    ]
