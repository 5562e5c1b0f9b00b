"""Ropes: thick strokes with round joins, coloured by tension on request, or a picture repeated along the
rope."""

import math

import numpy as np
import pygame

from softkit.render import colors
from softkit.render.painter import Painter, live_points, register


@register
class RopePainter(Painter):
    """Strokes of width 2 x radius.

    Styles: color (default hemp), width (wu, default None: twice the rope's radius), outline (colour, default
    darker than color), outline_width (pixels, default 1), shine (0 to 1, default 0.25: lighter inside),
    by_tension (False; True: blue when slack to red at the rope's max_tension, or at the rope's own largest
    tension where it cannot break), texture (Surface repeated along the rope, its height across it),
    texture_scale (wu a texture pixel; default None: as the width asks), hidden.
    """

    kinds = ("Rope",)
    styles = {
        "color": None,
        "width": None,
        "outline": None,
        "outline_width": 1.0,
        "shine": 0.25,
        "by_tension": False,
        "texture": None,
        "texture_scale": None,
        "hidden": False,
    }

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if value is None:
            return
        if key in ("color", "outline"):
            colors.rgba(value, key)
        elif key == "texture" and not isinstance(value, pygame.Surface):
            raise TypeError(f"texture must be a pygame.Surface or None, got {value!r}")
        elif key in ("width", "texture_scale") and not 0 < value < math.inf:
            raise ValueError(f"{key} must be finite and above 0, got {value!r}")
        elif key == "outline_width" and not 0 <= value < math.inf:
            raise ValueError(f"outline_width must be finite and not negative, got {value!r}")
        elif key == "shine" and not 0 <= value <= 1:
            raise ValueError(f"shine must be 0 to 1, got {value!r}")

    def draw(self, world, objects):
        view = self.view
        shapes = view.shapes
        shapes.clear()
        owners = []
        for rope in objects:
            style = self.style(rope)
            points = live_points(world, rope, view.interpolate)
            screen = view.camera.to_screen(points)[:, :2]
            if style["texture"] is not None and len(points) > 1:
                self._flush(shapes, owners)
                self._strip(rope, style, points, screen)
            else:
                self._stroke(shapes, rope, style, points, screen)
                owners.append(rope)
        self._flush(shapes, owners)

    def _flush(self, shapes, owners):
        bad = self.view.canvas.draw(shapes)
        for i in () if bad is None else bad:
            self.view.warn(owners[i], int(shapes.bad[i]))
        shapes.clear()
        owners.clear()

    def _half_width(self, rope, style, points):
        width = style["width"] if style["width"] is not None else 2 * rope.radius
        scale = self.view.camera.scale_at(points)
        return np.maximum(0.5 * width * scale, 0.5)

    def _stroke(self, shapes, rope, style, points, screen):
        color = colors.ROPE if style["color"] is None else colors.rgba(style["color"])
        half = self._half_width(rope, style, points)
        radii = half if np.ndim(half) else None
        half = float(np.mean(half))
        tension = _tension_colors(rope, len(points)) if style["by_tension"] else None
        if tension is not None:
            shapes.line(screen, half, color, colors=tension, radii=radii)
            return
        edge = (
            colors.darker(color, 0.5)
            if style["outline"] is None
            else colors.rgba(style["outline"], "outline")
        )
        wide = half > 1.5 * style["outline_width"]
        shapes.line(
            screen,
            half,
            color,
            edge=edge,
            edge_width=style["outline_width"] if wide else 0.0,
            shine=style["shine"] if half > 1 else 0.0,
            radii=radii,
        )

    def _strip(self, rope, style, points, screen):
        picture = style["texture"]
        half = float(np.mean(self._half_width(rope, style, points)))
        # Along the rest lengths, so that the picture stretches with the rope and does not crawl along it.
        rest = float(getattr(rope, "rest_length", 0.0)) or float(
            np.hypot(*np.diff(points[:, :2], axis=0).T).sum()
        )
        lengths = np.linspace(0.0, rest, len(points))
        zoom = self.view.camera.zoom
        scale = (
            1 / style["texture_scale"] if style["texture_scale"] else picture.get_height() * zoom / (2 * half)
        )
        opacity = picture.get_alpha()
        bad = self.view.canvas.strip(
            np.ascontiguousarray(screen), lengths, half, picture, scale, 255 if opacity is None else opacity
        )
        if bad:
            self.view.warn(rope, bad)


def _tension_colors(rope, count):
    """Colour at each point from the tension of the segments beside it."""
    tension = np.asarray(rope.tension, dtype=np.float64)
    if len(tension) != count - 1:
        return None
    limit = getattr(rope, "max_tension", None)
    top = (
        limit
        if limit is not None and 0 < limit < math.inf
        else max(float(np.nanmax(tension, initial=0)), 1e-9)
    )
    at_points = np.empty(count)
    at_points[0], at_points[-1] = tension[0], tension[-1]
    at_points[1:-1] = np.maximum(tension[1:], tension[:-1])
    return colors.ramp(2 * at_points / top - 1, 0x3F7FD0FF, 0xE8C35AFF, 0xD8362CFF)
