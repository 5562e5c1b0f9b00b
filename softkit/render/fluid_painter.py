"""Liquids: a smooth shaded surface, or a sprite for each particle."""

import numpy as np
import pygame

from softkit._kernels import surface
from softkit.render.painter import Painter, live_points, register

CELLS = 2.75  # field cells per particle spacing
REACH = 1.4  # kernel radius in spacings
THRESHOLD = 0.4
FOAM_FULL = 0.9


@register
class FluidPainter(Painter):
    """Draws fluids.

    Styles: mode ("surface" (default): smooth, shaded; "sprites": a soft disc for each particle), opacity
    (0 to 1, default 0.85, times each particle's own alpha), rim (strength of the bright edge, default 1),
    refraction (pixels that the picture behind is bent by at the edge, default 8), foam (0 none to 1, default
    0.6: fast, loose liquid turns white), foam_speed (wu/s from which it does, default 500), hidden.
    """

    kinds = ("Fluid",)
    styles = {
        "mode": "surface",
        "opacity": 0.85,
        "rim": 1.0,
        "refraction": 8.0,
        "foam": 0.6,
        "foam_speed": 500.0,
        "hidden": False,
    }

    def __init__(self, view):
        super().__init__(view)
        self._field = np.zeros(0, np.float32)
        self._behind = np.zeros(0, np.uint8)
        self._sprites = {}

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if key == "mode" and value not in ("surface", "sprites"):
            raise ValueError(f"mode must be 'surface' or 'sprites', got {value!r}")
        if key in ("opacity", "foam") and not 0 <= value <= 1:
            raise ValueError(f"{key} must be 0 to 1, got {value!r}")
        if key in ("rim", "refraction", "foam_speed") and not 0 <= value < 1e6:
            raise ValueError(f"{key} must be 0 or more, got {value!r}")

    def draw(self, world, objects):
        for fluid in objects:
            if fluid.count and self.view.canvas.size[0] and self.view.canvas.size[1]:
                self._draw(world, fluid, self.style(fluid))

    def _draw(self, world, fluid, style):
        view = self.view
        camera = view.camera
        world_points = live_points(world, fluid, view.interpolate)
        points = np.ascontiguousarray(camera.to_screen(world_points), dtype=np.float64)
        zoom = camera.zoom
        if camera.perspective is not None:
            zoom = float(np.median(camera.scale_at(world_points)))
        spacing = fluid.spacing * zoom
        width, height = view.canvas.size
        near = 2 * spacing + 2
        seen = (np.abs(points - (width / 2, height / 2)) < (width / 2 + near, height / 2 + near)).all(axis=1)
        bad = int(len(points) - np.isfinite(points).all(axis=1).sum())
        if bad:
            view.warn(fluid, bad)
        if not seen.all():
            points = np.ascontiguousarray(points[seen])
        if not len(points):
            return
        if style["mode"] == "sprites":
            self._draw_sprites(fluid, points, seen, spacing, style)
        else:
            self._draw_surface(fluid, points, seen, spacing, style)

    def _draw_surface(self, fluid, points, seen, spacing, style):
        canvas = self.view.canvas
        width, height = canvas.size
        scale = max(1.0, spacing / CELLS)
        cell_spacing = spacing / scale
        columns, rows = int(width / scale) + 2, int(height / scale) + 2
        size = columns * rows * 8
        if len(self._field) < size:
            self._field = np.zeros(size, np.float32)
        # less than a cell apart they would fall between the cells: then each is drawn a cell wide
        radius = REACH * max(cell_spacing, 1.0)
        weight = 3.0 * cell_spacing**2 / (np.pi * radius**2)
        colors = np.ascontiguousarray(fluid.colors[seen], dtype=np.float32)
        surface.splat(
            points,
            colors,
            self._foam(fluid, seen, style),
            len(points),
            scale,
            radius,
            weight,
            columns,
            rows,
            self._field,
            canvas.threads,
        )
        pixels = np.frombuffer(canvas.surface.get_buffer(), np.uint8)
        if len(self._behind) < len(pixels):
            self._behind = np.zeros(len(pixels), np.uint8)
        self._behind[: len(pixels)] = pixels
        light = np.array(self.view.light, np.float32)
        light /= max(float(np.sqrt((light**2).sum())), 1e-6)
        surface.shade(
            self._field,
            columns,
            rows,
            scale,
            THRESHOLD,
            canvas.info,
            self._behind,
            pixels,
            light,
            style["rim"],
            style["refraction"],
            style["opacity"],
            canvas.threads,
        )

    def _foam(self, fluid, seen, style):
        """0 to 1 a particle: fast and loose."""
        if not style["foam"]:
            return np.zeros(int(seen.sum()), np.float32)
        velocity = fluid.velocities[seen]
        speed = np.sqrt((velocity**2).sum(axis=1))
        loose = np.clip((0.98 - fluid.density[seen] / fluid.rest_density) * 3, 0, 1)
        fast = np.clip(speed / max(style["foam_speed"], 1e-6) - 0.6, 0, 1)
        return (style["foam"] * FOAM_FULL * loose * fast).astype(np.float32)

    def _draw_sprites(self, fluid, points, seen, spacing, style):
        """One picture a colour, all laid in one call."""
        size = max(2, round(2.2 * spacing))
        keys = np.rint(fluid.colors[seen] / 8).astype(np.int64) * 8
        packed = (keys[:, 0] << 24) | (keys[:, 1] << 16) | (keys[:, 2] << 8) | keys[:, 3]
        names, which = np.unique(packed, return_inverse=True)
        pictures = [self._sprite(int(name), size, style["opacity"]) for name in names]
        corners = np.rint(points - size / 2).astype(int).tolist()
        self.view.canvas.surface.fblits([(pictures[k], at) for k, at in zip(which.tolist(), corners)])

    def _sprite(self, packed, size, opacity):
        key = packed, size, round(opacity * 255)
        if key not in self._sprites:
            if len(self._sprites) > 512:
                self._sprites.clear()
            picture = pygame.Surface((size, size), pygame.SRCALPHA, 32)
            x = (np.arange(size) + 0.5) / size * 2 - 1
            fall = np.clip(1 - x[:, None] ** 2 - x[None, :] ** 2, 0, 1) ** 0.7
            rgb = [min(255, packed >> shift & 255) for shift in (24, 16, 8)]
            pygame.surfarray.pixels3d(picture)[:] = rgb
            pygame.surfarray.pixels_alpha(picture)[:] = fall * min(255, packed & 255) * opacity
            self._sprites[key] = picture
        return self._sprites[key]
