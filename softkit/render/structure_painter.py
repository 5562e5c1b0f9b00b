"""Structures: pictures on their cells, cracks, and a shade where they are damaged."""

import math
import weakref

import numpy as np
import pygame

from softkit.render import colors
from softkit.render.canvas import LINE
from softkit.render.mesh import DepthBuffer, lay_mesh, opacity_of
from softkit.render.painter import Painter, live_points, register
from softkit.render.structure_pictures import paint
from softkit.render.structure_skin import StructureSkin

_EVERYWHERE = np.empty(0)
DARKEST = 0.6  # brightness where nothing is whole


@register
class StructurePainter(Painter):
    """The picture lies on the structure as made and goes with its cells; where links broke, cells come apart
    in shards along dark cracks.

    Styles: texture (Surface over the box around the structure as made; default None: the look of its
    materials), color (multiplies the texture; default white), opacity (0 to 1, default 1), damage (0 to 1,
    default 1: how much damage darkens), cracks (bool, default True), outline (colour, default dark),
    outline_width (pixels, default 1.2; 0: none; outlines that it was made from are part of the picture),
    hidden.
    """

    kinds = ("Structure",)
    styles = {
        "texture": None,
        "color": None,
        "opacity": 1.0,
        "damage": 1.0,
        "cracks": True,
        "outline": (38, 32, 36),
        "outline_width": 1.2,
        "hidden": False,
    }

    def __init__(self, view):
        super().__init__(view)
        self._depth = DepthBuffer()
        self._skins = weakref.WeakKeyDictionary()
        self._painted = weakref.WeakKeyDictionary()

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if key in ("color", "outline") and value is not None:
            colors.rgba(value, key)
        elif key == "texture" and value is not None and not isinstance(value, pygame.Surface):
            raise TypeError(f"texture must be a pygame.Surface or None, got {value!r}")
        elif key in ("opacity", "damage") and not 0 <= value <= 1:
            raise ValueError(f"{key} must be 0 to 1, got {value!r}")
        elif key == "cracks" and not isinstance(value, bool):
            raise TypeError(f"cracks must be a bool, got {value!r}")
        elif key == "outline_width" and not 0 <= value < math.inf:
            raise ValueError(f"outline_width must be finite and not negative, got {value!r}")

    def draw(self, world, objects):
        if len(self._depth.values) != self.view.canvas.size[0] * self.view.canvas.size[1]:
            self._depth.clear(self.view.canvas)
        for structure in objects:
            self._draw(world, structure, self.style(structure))

    def _skin(self, structure):
        """The structure's skin; a restored one of another shape gets a new one."""
        skin = self._skins.get(structure)
        if skin is None or skin.count != structure.count or len(structure.links) > skin.links >= 0:
            skin = self._skins[structure] = StructureSkin(structure)
        return skin

    def _texture(self, structure, skin, style):
        if style["texture"] is not None:
            return style["texture"]
        if structure not in self._painted:
            self._painted[structure] = paint(structure, skin.low, skin.high)
        return self._painted[structure]

    def _draw(self, world, structure, style):
        view, camera = self.view, self.view.camera
        skin = self._skin(structure)
        skin.follow(structure, live_points(world, structure, view.interpolate))
        screen = np.zeros((len(skin.points), 3))
        place = np.zeros((len(skin.points), 3))
        place[:, :2] = skin.points
        camera.to_screen(place, out=screen)
        distance = None if camera.flat else camera.eye_distance(screen[:, 2])
        screen[:, 2] = 0.0
        light = 1.0 - style["damage"] * (1.0 - DARKEST) * (1.0 - structure.integrity)
        front = light[skin.carrier].astype(np.float32)
        tint = 0xFFFFFFFF if style["color"] is None else colors.rgba(style["color"])
        picture = view.pictures.get(self._texture(structure, skin, style))
        bad = lay_mesh(
            view.canvas,
            self._depth,
            skin.mesh,
            screen,
            skin.uvs,
            picture,
            front=front,
            inverse=_EVERYWHERE if distance is None else 1 / distance,
            front_tint=tint,
            back_tint=tint,
            opacity=opacity_of(picture, style["opacity"] * (tint & 255) / 255),
            sort=False,
        )
        if bad:
            view.warn(structure, bad, "triangle")
        self._lines(structure, skin, screen[:, :2], style)

    def _lines(self, structure, skin, screen, style):
        """Cracks and the surface."""
        pairs = []
        if style["cracks"] and len(skin.broken):
            pairs.append((*skin.cracks(), 0.6))
        lined = style["outline_width"] > 0 and style["outline"] is not None and not structure.fragments
        if lined and len(structure.surface):
            pairs.append((*np.asarray(structure.surface).T, 0.5 * style["outline_width"]))
        if not pairs:
            return
        shapes = self.view.shapes
        shapes.clear()
        edge = colors.rgba(style["outline"] or (38, 32, 36), "outline")
        for a, b, half in pairs:
            n = len(a)
            start, begin = shapes.reserve(n, 2 * n)
            shapes.points[begin : begin + 2 * n : 2] = screen[a]
            shapes.points[begin + 1 : begin + 2 * n : 2] = screen[b]
            rows = slice(start, start + n)
            shapes.kinds[rows], shapes.length[rows] = LINE, 2
            shapes.first[rows] = np.arange(begin, begin + 2 * n, 2, dtype=np.int32)
            shapes.params[rows] = (half, 0, 0, 0)
            shapes.colors[rows, 0] = colors.with_alpha(edge, round((edge & 255) * style["opacity"] * 0.8))
            shapes.colors[rows, 1] = 0
        self.view.canvas.draw(shapes)
        shapes.clear()
