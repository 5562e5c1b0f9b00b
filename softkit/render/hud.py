"""The panel of numbers: frame, step and render time, counts, threads, health."""

import time

import numpy as np
import pygame

from softkit.threads import get_threads

HISTORY = 120  # frames in the graph
REFRESH = 0.25  # seconds between two readings of the numbers, so that they can be read
PAD, GRAPH = 8, 34
PANEL, TEXT, BAR, SLOW = 0x10161EC8, (226, 232, 240), 0x5CB8B2FF, 0xE2725BFF
FRAME = 1 / 60


class Hud:
    """Drawn by `View.draw_hud` in the target's upper left corner."""

    def __init__(self, view):
        self.view = view
        self._times = np.zeros(HISTORY)
        self._last = None
        self._read = -1.0
        self._lines = ()
        self._pictures = []
        self._line = 0

    def draw(self, world):
        """Draw the panel; call it once a frame."""
        now = time.perf_counter()
        if self._last is not None:
            self._times[:-1] = self._times[1:]
            self._times[-1] = now - self._last
        self._last = now
        if now - self._read > REFRESH or not self._pictures:
            self._read = now
            self._write(world)
        width = max(max(p.get_width() for p in self._pictures), HISTORY) + 2 * PAD
        line = self._line
        height = line * len(self._pictures) + GRAPH + 3 * PAD
        self._panel(width, height)
        for i, picture in enumerate(self._pictures):
            self.view.target.blit(picture, (PAD + 6, PAD + 6 + i * line))

    def _panel(self, width, height):
        shapes = self.view.shapes
        shapes.clear()
        x0, y0, x1, y1, r = 6.0, 6.0, 6.0 + width, 6.0 + height, 6.0
        turn = np.linspace(0, np.pi / 2, 6)
        corners = [(x1 - r, y1 - r, 0), (x0 + r, y1 - r, 1), (x0 + r, y0 + r, 2), (x1 - r, y0 + r, 3)]
        shapes.polygon(
            np.concatenate(
                [
                    np.stack(
                        [x + r * np.cos(turn + k * np.pi / 2), y + r * np.sin(turn + k * np.pi / 2)], axis=1
                    )
                    for x, y, k in corners
                ]
            ),
            PANEL,
        )
        bottom = y1 - PAD
        for i, seconds in enumerate(self._times):
            if seconds > 0:
                top = bottom - min(seconds / (2 * FRAME), 1.0) * GRAPH
                x = x0 + PAD + i
                shapes.polygon(
                    np.array([(x, bottom), (x + 1, bottom), (x + 1, top), (x, top)]),
                    SLOW if seconds > 1.2 * FRAME else BAR,
                )
        self.view.canvas.draw(shapes)

    def _write(self, world):
        lines = tuple(self._text(world))
        if lines == self._lines:
            return
        pygame.font.init()  # the font is made anew: a kept one dies when a game quits pygame and begins again
        font = pygame.font.Font(None, 18)
        self._lines, self._line = lines, font.get_linesize()
        self._pictures = [font.render(text, True, TEXT) for text in lines]

    def _text(self, world):
        frames = self._times[self._times > 0]
        mean = float(frames.mean()) if len(frames) else 0.0
        yield f"frame {mean * 1e3:.1f} ms   {1 / mean if mean else 0:.0f} fps"
        step = getattr(world, "step_time", None)
        yield (
            f"step {step * 1e3:.2f} ms   " if step is not None else ""
        ) + f"render {self.view.render_time * 1e3:.2f} ms"
        space = getattr(world, "space", None)
        if space is not None:
            yield f"{len(space.bodies)} bodies   {len(space.shapes)} shapes"
        kinds = {}
        for obj in world.objects:
            count = kinds.setdefault(type(obj).__name__, [0, 0])
            count[0] += 1
            count[1] += int(getattr(obj, "count", 0))
        for name, (number, particles) in kinds.items():
            yield f"{number} {name}   {particles} particles"
        yield f"{get_threads()} thread{'' if get_threads() == 1 else 's'}   time {world.time:.1f} s"
        yield from health_lines(getattr(world, "health", None))


def health_lines(health):
    """What the world reports, one line for each entry that is not zero, or "health ok"."""
    if health is None:
        return
    if not isinstance(health, dict):
        names = (
            getattr(health, "_fields", None) or getattr(health, "__dataclass_fields__", None) or vars(health)
        )
        health = {name: getattr(health, name) for name in names if not name.startswith("_")}
    found = [f"{name}: {value}" for name, value in health.items() if value and value is not True]
    yield from found or ["health ok"]
