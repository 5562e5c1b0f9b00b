"""The rope of the tutorials: position, previous position, gravity, sweeps over the links, in plain Python."""

from math import sqrt


class Ropes:
    def __init__(self, layout, sweeps=20):
        self.sweeps, self.link = sweeps, layout.link
        self.fall = layout.gravity * layout.dt**2
        self.ropes = []
        for points in layout.points().tolist():
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            self.ropes.append((xs, ys, xs[:], ys[:]))

    def frame(self):
        for rope in self.ropes:
            self.move(*rope)
            for _ in range(self.sweeps):
                self.relax(*rope[:2])

    def move(self, xs, ys, old_xs, old_ys):
        for i in range(1, len(xs)):
            x, y = xs[i], ys[i]
            xs[i] = x + x - old_xs[i]
            ys[i] = y + y - old_ys[i] + self.fall
            old_xs[i], old_ys[i] = x, y

    def relax(self, xs, ys):
        link = self.link
        dx, dy = xs[1] - xs[0], ys[1] - ys[0]
        part = 1 - link / sqrt(dx * dx + dy * dy)  # the first link ends in the pin: the other end gives all
        xs[1] -= dx * part
        ys[1] -= dy * part
        for i in range(1, len(xs) - 1):
            dx, dy = xs[i + 1] - xs[i], ys[i + 1] - ys[i]
            part = 0.5 - 0.5 * link / sqrt(dx * dx + dy * dy)
            dx *= part
            dy *= part
            xs[i] += dx
            ys[i] += dy
            xs[i + 1] -= dx
            ys[i + 1] -= dy

    def positions(self):
        return [list(zip(xs, ys)) for xs, ys, *_ in self.ropes]
