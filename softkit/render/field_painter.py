"""Fields made visible: a heat map of their strength, and arrows."""

import numpy as np

from softkit._kernels import sprites
from softkit.render import colors

SPACING = 12  # pixels between the samples of a heat map
RAMP = ((0.0, 0x10204000), (0.25, 0x2F6FD890), (0.55, 0x58B368B0), (0.8, 0xE8C35AC8), (1.0, 0xE03C31E0))


class FieldPainter:
    """Draws fields on a View, before or after `View.draw`.

    >>> import pygame, softkit.fields
    >>> from softkit.render import View
    >>> painter = FieldPainter(View(pygame.Surface((320, 200))))
    >>> painter.heat(softkit.fields.Attractor((160, 100)))
    """

    def __init__(self, view):
        self.view = view
        self._ramp = _table(RAMP)

    def _grid(self, spacing):
        width, height = self.view.canvas.size
        columns, rows = max(2, -(-width // spacing) + 1), max(2, -(-height // spacing) + 1)
        x, y = np.meshgrid(np.linspace(0, width, columns), np.linspace(0, height, rows))
        return columns, rows, self.view.camera.to_world(np.stack([x.ravel(), y.ravel()], axis=1))

    def heat(self, field, time=0.0, *, top=None, spacing=SPACING, stops=None):
        """Lay the size of what the field does over the picture as colours.

        field: a field, or a world's `fields` (their accelerations). time: s. top: the size that gets the last
        colour, default None: the largest in the picture. spacing: pixels between samples, default 12. stops:
        pairs of (share of top, pygame colour), default from clear over blue, green and yellow to red.
        """
        if spacing != int(spacing) or not 2 <= spacing <= 1000:
            raise ValueError(f"spacing must be 2 to 1000 whole pixels, got {spacing!r}")
        if top is not None and not 0 < top < np.inf:
            raise ValueError(f"top must be above 0, got {top!r}")
        canvas = self.view.canvas
        canvas.begin()
        columns, rows, places = self._grid(int(spacing))
        size = np.sqrt((field.sample(places, time=time) ** 2).sum(axis=1))
        top = float(size.max()) if top is None else top
        if top <= 0:
            return
        ramp = self._ramp if stops is None else _table([(s, colors.rgba(c)) for s, c in stops])
        sprites.heat(
            size / top, columns, rows, ramp, canvas.info, canvas.surface.get_buffer(), canvas.threads
        )

    def arrows(self, field, time=0.0, *, top=None, spacing=48, color=0x2C8F5CD0):
        """Draw what the field does as arrows, their length by the square root of its share of `top`."""
        if not 4 <= spacing <= 1000:
            raise ValueError(f"spacing must be 4 to 1000 pixels, got {spacing!r}")
        view = self.view
        view.canvas.begin()
        width, height = view.canvas.size
        x, y = np.meshgrid(np.arange(spacing / 2, width, spacing), np.arange(spacing / 2, height, spacing))
        screen = np.stack([x.ravel(), y.ravel()], axis=1)
        places = view.camera.to_world(screen)
        value = field.sample(places, time=time)
        size = np.sqrt((value**2).sum(axis=1))
        top = float(size.max(initial=0.0)) if top is None else top
        keep = size > 1e-3 * top if top > 0 else np.zeros(len(size), bool)
        way = view.camera.to_screen(places[keep] + value[keep] / size[keep, None]) - screen[keep]
        way *= (np.minimum(1.0, np.sqrt(size[keep] / top)) * 0.8 * spacing / view.camera.zoom)[:, None]
        self._lines(screen[keep] - way / 2, way, colors.rgba(color) if not isinstance(color, int) else color)

    def _lines(self, start, way, color):
        shapes = self.view.shapes
        shapes.clear()
        side = np.stack([-way[:, 1], way[:, 0]], axis=1)
        end = start + way
        for a, b, c in zip(
            start, end, np.stack([end - 0.3 * way + 0.16 * side, end - 0.3 * way - 0.16 * side], 1)
        ):
            shapes.line(np.array([a, b]), 0.8, color)
            shapes.line(np.array([c[0], b, c[1]]), 0.8, color)
        self.view.canvas.draw(shapes)
        shapes.clear()


def _table(stops):
    """256 colours 0xRRGGBBAA between stops (share, colour)."""
    shares = np.array([share for share, _ in stops])
    channels = np.array([[(c >> shift) & 255 for shift in (24, 16, 8, 0)] for _, c in stops], float)
    at = np.linspace(0, 1, 256)
    mixed = np.stack([np.interp(at, shares, channel) for channel in channels.T], axis=1)
    mixed = np.rint(mixed).astype(np.uint32)
    return (mixed[:, 0] << 24) | (mixed[:, 1] << 16) | (mixed[:, 2] << 8) | mixed[:, 3]
