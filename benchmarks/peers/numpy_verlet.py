"""The verlet rope in NumPy: every second link of every rope at once, then the others."""

import numpy as np


class Ropes:
    def __init__(self, layout, sweeps=20):
        self.sweeps, self.link = sweeps, layout.link
        self.fall = layout.gravity * layout.dt**2
        start = layout.points()
        # Two planes have half the strides of (x, y) pairs.
        self.x, self.y = start[..., 0].copy(), start[..., 1].copy()
        self.old_x, self.old_y = self.x.copy(), self.y.copy()
        self.batches = []
        for first in (0, 1):
            a, b = slice(first, layout.segments, 2), slice(first + 1, layout.segments + 1, 2)
            share = np.full(len(range(layout.segments)[a]), 0.5)  # what the end nearer the pin takes
            if first == 0:
                share[0] = 0.0  # that end is the pin
            self.batches.append((a, b, share))

    def frame(self):
        x, y = self.x.copy(), self.y.copy()
        self.x[:, 1:] += x[:, 1:] - self.old_x[:, 1:]
        self.y[:, 1:] += y[:, 1:] - self.old_y[:, 1:] + self.fall
        self.old_x, self.old_y = x, y
        for _ in range(self.sweeps):
            for batch in self.batches:
                self.relax(*batch)

    def relax(self, a, b, share):
        dx, dy = self.x[:, b] - self.x[:, a], self.y[:, b] - self.y[:, a]
        part = 1 - self.link / np.sqrt(dx * dx + dy * dy)
        dx *= part
        dy *= part
        self.x[:, a] += dx * share
        self.y[:, a] += dy * share
        self.x[:, b] -= dx * (1 - share)
        self.y[:, b] -= dy * (1 - share)

    def positions(self):
        return np.stack([self.x, self.y], axis=-1)
