"""Cloth: textured, lit from both sides, depth-tested against other cloth and against the pymunk plane at z =
0."""

import math
import weakref

import numpy as np
import pygame

from softkit.render import colors
from softkit.render.mesh import DepthBuffer, Mesh, lay_mesh, opacity_of
from softkit.render.painter import Painter, live_points, register

_EVERYWHERE = np.empty(0)
WRAP = 0.3  # how far light reaches round an edge: cloth lets some through
CORRECT_ABOVE = 24.0  # pixels a triangle's side: larger ones get their texture in right perspective


class _Sheet:
    """What is kept of one cloth between frames."""

    def __init__(self, cloth):
        self.mesh = Mesh(cloth.triangles, cloth.count)
        self.screen = np.empty((cloth.count, 3))
        self.visible = False


@register
class ClothPainter(Painter):
    """Fills a sheet's triangles in compiled code.

    The part of a sheet with z < 0 is drawn before the pymunk shapes, the part with z >= 0 after them: a cape
    passes behind and in front of its hero. Sheets hide each other by depth.

    Styles: color (default a red; multiplies the texture where one is given), texture (Surface; default None:
    the picture of `Cloth.from_image`, else none), back (colour that the far side is multiplied with, default
    a light grey), opacity (0 to 1, default 1), ambient (0 to 1, default 0.45: brightness in the shade; 1
    switches light off), smooth (True: bilinear, False: nearest texels), hidden.
    """

    kinds = ("Cloth",)
    styles = {
        "color": None,
        "texture": None,
        "back": (198, 198, 206),
        "opacity": 1.0,
        "ambient": 0.45,
        "smooth": True,
        "hidden": False,
    }

    def __init__(self, view):
        super().__init__(view)
        self._depth = DepthBuffer()
        self._sheets = weakref.WeakKeyDictionary()

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if key in ("color", "back") and value is not None:
            colors.rgba(value, key)
        elif key == "texture" and value is not None and not isinstance(value, pygame.Surface):
            raise TypeError(f"texture must be a pygame.Surface or None, got {value!r}")
        elif key in ("opacity", "ambient") and not 0 <= value <= 1:
            raise ValueError(f"{key} must be 0 to 1, got {value!r}")

    def draw_behind(self, world, objects):
        sheets = [self._prepare(world, cloth) for cloth in objects]
        seen = [sheet for sheet in sheets if sheet.visible]
        if not seen:
            return
        self._depth.clear(self.view.canvas, _around(seen, self.view.canvas.size))
        for sheet in sorted(seen, key=lambda s: s.far):
            if sheet.lowest < 0:
                self._lay(sheet, -math.inf, 0.0)

    def draw(self, world, objects):
        seen = [self._sheets[cloth] for cloth in objects if self._sheets[cloth].visible]
        for sheet in sorted(seen, key=lambda s: s.far):
            if sheet.highest >= 0:
                self._lay(sheet, 0.0, math.inf)

    def _prepare(self, world, cloth):
        """Points in pixels, light at each point, and where the sheet is."""
        sheet = self._sheets.get(cloth)
        if sheet is None or len(sheet.screen) != cloth.count:
            sheet = self._sheets[cloth] = _Sheet(cloth)
        sheet.mesh.update(cloth.triangles, cloth.count)
        sheet.cloth = weakref.ref(cloth)
        camera = self.view.camera
        points = live_points(world, cloth, self.view.interpolate)
        camera.to_screen(points, out=sheet.screen)
        sheet.heights = np.ascontiguousarray(points[:, 2])
        finite = np.isfinite(sheet.screen).all(axis=1)
        whole = finite.all()
        screen = sheet.screen if whole else sheet.screen[finite]
        sheet.visible = len(screen) > 0
        if not sheet.visible:
            self.view.warn(cloth, cloth.count)
            return sheet
        sheet.box = (*screen[:, :2].min(axis=0), *screen[:, :2].max(axis=0))
        sheet.far = float(screen[:, 2].mean())
        heights = sheet.heights if whole else sheet.heights[finite]
        sheet.lowest, sheet.highest = float(heights.min()), float(heights.max())
        sheet.style = self.style(cloth)
        lit = np.asarray(cloth.normals) @ camera.light(self.view.light)
        ambient = sheet.style["ambient"]
        sheet.front = brightness(lit, ambient)
        sheet.back = brightness(-lit, ambient)
        return sheet

    def _inverse(self, sheet):
        """1 / distance from the eye where textures need right perspective, else empty."""
        distance = self.view.camera.eye_distance(sheet.screen[:, 2])
        x0, y0, x1, y1 = sheet.box
        if distance is None or (x1 - x0) * (y1 - y0) < CORRECT_ABOVE**2 * 0.5 * len(sheet.mesh.triangles):
            return _EVERYWHERE
        return 1 / distance

    def _lay(self, sheet, low, high):
        view, style, cloth = self.view, sheet.style, sheet.cloth()
        picture = style["texture"] if style["texture"] is not None else getattr(cloth, "image", None)
        color = style["color"]
        if picture is None:
            picture = view.pictures.plain(colors.CLOTH if color is None else colors.rgba(color), view.target)
            tint, smooth = 0xFFFFFFFF, False
        else:
            picture, smooth = view.pictures.get(picture), style["smooth"]
            tint = 0xFFFFFFFF if color is None else colors.rgba(color)
        split = sheet.lowest < 0 <= sheet.highest
        bad = lay_mesh(
            view.canvas,
            self._depth,
            sheet.mesh,
            sheet.screen,
            cloth.uvs,
            picture,
            front=sheet.front,
            back=sheet.back,
            heights=sheet.heights if split else _EVERYWHERE,
            inverse=self._inverse(sheet),
            low=low,
            high=high,
            front_tint=tint,
            back_tint=colors.multiply(
                tint, colors.rgba(style["back"], "back") if style["back"] else 0xFFFFFFFF
            ),
            opacity=opacity_of(picture, style["opacity"]),
            sign=-1.0 if view.camera.flipped else 1.0,
            smooth=smooth,
        )
        if bad:
            view.warn(cloth, bad, "triangle")


def brightness(lit, ambient):
    """Light 0 to 1 from the cosine between normal and light, float32; NaN counts as shade."""
    share = np.nan_to_num((lit + WRAP) / (1 + WRAP))
    return (ambient + (1 - ambient) * np.clip(share, 0, 1)).astype(np.float32)


def _around(sheets, size):
    """Pixel rectangle (x0, y0, x1, y1) that holds all sheets, within the target."""
    boxes = np.array([sheet.box for sheet in sheets])
    x0, y0 = np.clip(boxes[:, :2].min(axis=0) - 2, 0, size)
    x1, y1 = np.clip(boxes[:, 2:].max(axis=0) + 3, 0, size)
    return int(x0), int(y0), int(x1), int(y1)
