"""Soft bodies: planar ones with smooth outlines, 3-D ones lit and sorted by depth, both with pictures."""

import math
import weakref

import numpy as np
import pygame

from softkit.render import colors
from softkit.render.canvas import COLORED_LINE, LOOP, POLYGON
from softkit.render.cloth_painter import CORRECT_ABOVE, brightness
from softkit.render.mesh import DepthBuffer, lay_mesh, opacity_of
from softkit.render.painter import Painter, live_points, register
from softkit.render.softbody_skin import Outlines, PlanarSkin, SolidSkin

_EVERYWHERE = np.empty(0)
PIECE = 5.0  # pixels of an edge that a piece of the smooth outline takes
MOST_PIECES = 8


class _Solid:
    """What is kept of one 3-D body between frames."""

    def __init__(self, body, uvs):
        self.body = weakref.ref(body)
        self.uvs = uvs
        self.skin = SolidSkin(body, uvs)
        self.visible = False


@register
class SoftBodyPainter(Painter):
    """Planar bodies are filled up to their contact radius, along a smooth curve through their particles; 3-D
    bodies are lit surfaces in compiled code, sharp where the rest shape has edges. The part of those with
    z < 0 is drawn before the pymunk shapes. A body without an inside (one row, or one sheet of a 3-D lattice)
    is drawn as its links.

    Styles: color (default the palette's, in turn; multiplies the texture where one is given), texture
    (Surface mapped on the rest shape, default None), uvs ((count, 2) places in the texture for a 3-D body's
    particles, 0 to 1; default None: as on a box), opacity (0 to 1, default 1), hidden. Planar: outline
    (colour, default darker than color), outline_width (pixels, default 1.5; 0: none), smooth (True: curved
    outlines, False: straight ones), shine (0 to 1, default 0.35: light on the rim toward the light, shade
    on the other side). 3-D: ambient (0 to 1, default 0.4: brightness in the shade).
    """

    kinds = ("SoftBody",)
    styles = {
        "color": None,
        "texture": None,
        "uvs": None,
        "opacity": 1.0,
        "outline": None,
        "outline_width": 1.5,
        "smooth": True,
        "shine": 0.35,
        "ambient": 0.4,
        "hidden": False,
    }

    def __init__(self, view):
        super().__init__(view)
        self._depth, self._flat = DepthBuffer(), DepthBuffer()
        self._solids = weakref.WeakKeyDictionary()
        self._planar = weakref.WeakKeyDictionary()
        self._outlines = (None, None)

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if key in ("color", "outline") and value is not None:
            colors.rgba(value, key)
        elif key == "texture" and value is not None and not isinstance(value, pygame.Surface):
            raise TypeError(f"texture must be a pygame.Surface or None, got {value!r}")
        elif key == "uvs" and value is not None:
            uvs = np.asarray(value, dtype=np.float64)
            if uvs.ndim != 2 or uvs.shape[1] != 2 or not np.isfinite(uvs).all():
                raise ValueError(f"uvs must be (count, 2) finite numbers, got shape {uvs.shape}")
        elif key in ("opacity", "ambient", "shine") and not 0 <= value <= 1:
            raise ValueError(f"{key} must be 0 to 1, got {value!r}")
        elif key == "outline_width" and not 0 <= value < math.inf:
            raise ValueError(f"outline_width must be finite and not negative, got {value!r}")

    # ------------------------------------------------------------ the order of drawing

    def draw_behind(self, world, objects):
        solids = [body for body in objects if body.dimensions == 3 and len(body.triangles)]
        seen = [solid for solid in (self._prepare(world, body) for body in solids) if solid.visible]
        if not seen:
            return
        boxes = np.array([solid.box for solid in seen])
        size = self.view.canvas.size
        x0, y0 = np.clip(boxes[:, :2].min(axis=0) - 2, 0, size)
        x1, y1 = np.clip(boxes[:, 2:].max(axis=0) + 3, 0, size)
        self._depth.clear(self.view.canvas, (int(x0), int(y0), int(x1), int(y1)))
        for solid in sorted(seen, key=lambda s: s.far):
            if solid.lowest < 0:
                self._lay(solid, -math.inf, 0.0)

    def draw(self, world, objects):
        run = []
        for body in objects:
            if body.dimensions == 3 and len(body.triangles):
                continue
            if len(body.outline) and self.style(body)["texture"] is None:
                run.append(body)
                continue
            self._fill(world, run)
            run = []
            if len(body.outline):
                self._picture(world, body)
            else:
                self._strokes(world, body)
        self._fill(world, run)
        solids = [self._solids[body] for body in objects if body in self._solids]
        for solid in sorted((s for s in solids if s.visible), key=lambda s: s.far):
            if solid.highest >= 0:
                self._lay(solid, 0.0, math.inf)

    def _color(self, world, body, style):
        """0xRRGGBBAA: the style's, else the palette's by the body's place in the world."""
        if style["color"] is not None:
            color = colors.rgba(style["color"])
        elif style["texture"] is not None:
            color = 0xFFFFFFFF
        else:
            known = self.view.__dict__.setdefault("soft_colors", weakref.WeakKeyDictionary())
            color = known.setdefault(body, colors.DYNAMIC[(len(known) + 1) % len(colors.DYNAMIC)])
        return color

    def _faded(self, color, style):
        return colors.with_alpha(color, round((color & 255) * style["opacity"]))

    # ------------------------------------------------------------ planar bodies

    def _fill(self, world, bodies):
        """Bodies with outlines, side by side in one call."""
        if not bodies:
            return
        view, camera = self.view, self.view.camera
        styles = [self.style(body) for body in bodies]
        points = [live_points(world, body, view.interpolate)[body.outline] for body in bodies]
        ends = np.cumsum([len(p) for p in points])
        screen = camera.to_screen(np.concatenate(points))[:, :2]
        pieces = []
        for style, p, end in zip(styles, points, ends):
            near = screen[end - len(p) : end]
            length = float(np.abs(np.diff(near, axis=0)).mean()) if style["smooth"] else 0.0
            pieces.append(min(MOST_PIECES, max(1, math.ceil(length / PIECE))) if length < math.inf else 1)
        key = tuple(map(len, points)), tuple(pieces)
        if self._outlines[0] != key:
            self._outlines = key, Outlines(*key)
        outlines = self._outlines[1]
        curve = outlines.smooth(screen)
        normal = outlines.normals(curve)
        turn = np.add.reduceat(
            curve[:, 0] * curve[outlines.after, 1] - curve[:, 1] * curve[outlines.after, 0], outlines.first
        )
        normal *= np.repeat(np.where(turn < 0.0, -1.0, 1.0), outlines.length)[:, None]
        scale = [camera.scale_at(p) for p in points]
        radius = np.array([b.radius * float(np.mean(s)) for b, s in zip(bodies, scale)])
        curve += np.repeat(radius, outlines.length)[:, None] * normal
        paint = [self._faded(self._color(world, b, s), s) for b, s in zip(bodies, styles)]
        self._lay_outlines(bodies, styles, paint, outlines, curve, normal, np.abs(turn))

    def _lay_outlines(self, bodies, styles, paint, outlines, curve, normal, area):
        """Fill, rim and outline of each body, in turn."""
        view, shapes = self.view, self.view.shapes
        shapes.clear()
        n, m = len(bodies), len(curve)
        shine = np.array([s["shine"] for s in styles])
        rim = bool(shine.any())
        start, begin = shapes.reserve(3 * n, 3 * m if rim else m)
        shapes.points[begin : begin + m] = curve
        rows = slice(start, start + 3 * n)
        shapes.kinds[rows] = np.tile([POLYGON, COLORED_LINE, LOOP], n)
        shapes.first[rows] = np.repeat(begin + outlines.first, 3)
        shapes.length[rows] = np.repeat(outlines.length, 3)
        shapes._paint(rows, 0.0, np.repeat(np.array(paint, np.uint32), 3), 0, 0.0, 0.0)
        if rim:
            wide = np.minimum(0.07 * np.sqrt(0.5 * area), 14.0)
            self._rim(shapes, start, begin + m, paint, outlines, curve, normal, shine, wide)
        else:
            shapes.length[start + 1 : start + 3 * n : 3] = 0
        for i, style in enumerate(styles):
            row = start + 3 * i + 2
            color = paint[i]
            edge = (
                colors.darker(color, 0.5)
                if style["outline"] is None
                else self._faded(colors.rgba(style["outline"], "outline"), style)
            )
            shapes.params[row, 0] = 0.5 * style["outline_width"]
            shapes.colors[row, 0] = edge if style["outline_width"] > 0 else 0
        bad = view.canvas.draw(shapes)
        for i in () if bad is None else bad:
            view.warn(bodies[int(i) // 3], int(shapes.bad[i]))
        shapes.clear()

    @staticmethod
    def _rim(shapes, start, begin, paint, outlines, curve, normal, shine, wide):
        """A line inside each outline, light where it faces the light and dark where it faces away."""
        n = len(outlines.length)
        length = outlines.length + 1
        first = np.concatenate([[0], np.cumsum(length)])[:-1]
        where = np.arange(int(length.sum())) - np.repeat(first, length)
        where = np.repeat(outlines.first, length) + where % np.repeat(outlines.length, length)
        m = len(where)
        inward = np.repeat(wide, length)[:, None] * normal[where]
        shapes.points[begin : begin + m] = curve[where] - 1.1 * inward
        lit = normal[where] @ np.array([-0.55, -0.83])
        alpha = np.repeat(shine, length) * np.clip(np.abs(lit) * 1.4 - 0.4, 0.0, 1.0)
        alpha *= np.repeat(np.array(paint, np.uint32) & 255, length)
        shade = np.where(lit > 0.0, np.uint32(0xFFFFFF00), np.uint32(0x00000000))
        alpha = np.nan_to_num(np.where(lit > 0.0, alpha, 0.6 * alpha)).astype(np.uint32)
        if not shapes.use_point_colors:
            shapes.use_point_colors = True
        shapes.point_colors[begin : begin + m] = shade | alpha
        rows = slice(start + 1, start + 3 * n, 3)
        shapes.first[rows], shapes.length[rows] = begin + first, length
        shapes.params[rows, 0] = 0.5 * wide

    def _strokes(self, world, body):
        """A body without an inside: its links, as thick as the particles."""
        view = self.view
        style = self.style(body)
        color = self._faded(self._color(world, body, style), style)
        points = live_points(world, body, view.interpolate)
        screen = view.camera.to_screen(points)[:, :2]
        half = float(np.mean(view.camera.scale_at(points))) * body.radius
        shapes = view.shapes
        shapes.clear()
        for a, b in body._links().tolist():
            shapes.line(screen[[a, b]], max(0.5, half), color)
        bad = view.canvas.draw(shapes)
        if bad is not None:
            view.warn(body, len(bad))
        shapes.clear()

    def _picture(self, world, body):
        """A planar body with a picture on it, and its outline."""
        view, camera = self.view, self.view.camera
        style = self.style(body)
        skin = self._planar.get(body)
        if skin is None or skin.radius != body.radius:
            skin = self._planar[body] = PlanarSkin(body)
        camera.to_screen(skin.follow(live_points(world, body, view.interpolate)), out=skin.screen)
        distance = None if camera.flat else camera.eye_distance(skin.screen[:, 2])
        skin.screen[:, 2] *= 0.0
        if len(self._flat.values) != view.canvas.size[0] * view.canvas.size[1]:
            self._flat.clear(view.canvas)
        tint = self._color(world, body, style)
        picture = view.pictures.get(style["texture"])
        bad = lay_mesh(
            view.canvas,
            self._flat,
            skin.mesh,
            skin.screen,
            skin.uvs,
            picture,
            inverse=_EVERYWHERE if distance is None else 1 / distance,
            front_tint=tint,
            back_tint=tint,
            opacity=opacity_of(picture, style["opacity"]),
            sort=False,
        )
        if bad:
            view.warn(body, bad, "triangle")
        if style["outline"] is not None and style["outline_width"] > 0:
            view.shapes.clear()
            color = self._faded(colors.rgba(style["outline"], "outline"), style)
            edge = np.ascontiguousarray(skin.screen[skin.edge, :2])
            view.shapes.line(edge, 0.5 * style["outline_width"], color, closed=True)
            view.canvas.draw(view.shapes)
            view.shapes.clear()

    # ------------------------------------------------------------ 3-D bodies

    def _prepare(self, world, body):
        """Points in pixels, light at each point, and where the body is."""
        view, camera = self.view, self.view.camera
        style = self.style(body)
        solid = self._solids.get(body)
        if solid is None or solid.uvs is not style["uvs"] or solid.skin.count != body.count:
            solid = self._solids[body] = _Solid(body, style["uvs"])
        skin = solid.skin
        live = live_points(world, body, view.interpolate)
        places, normals = skin.follow(live, body.radius)
        camera.to_screen(places, out=skin.screen)
        finite = np.isfinite(skin.screen).all(axis=1)
        solid.visible = bool(finite.any())
        if not solid.visible:
            view.warn(body, body.count)
            return solid
        screen, heights = skin.screen[finite], places[finite, 2]
        solid.box = (*screen[:, :2].min(axis=0), *screen[:, :2].max(axis=0))
        solid.far = float(screen[:, 2].mean())
        solid.heights = np.ascontiguousarray(places[:, 2])
        solid.lowest, solid.highest = float(heights.min()), float(heights.max())
        solid.style, solid.color = style, self._color(world, body, style)
        solid.light = brightness(normals @ camera.light(view.light), style["ambient"])
        return solid

    def _lay(self, solid, low, high):
        view, style, skin = self.view, solid.style, solid.skin
        if style["texture"] is None:
            picture, tint = view.pictures.plain(solid.color, view.target), 0xFFFFFFFF
        else:
            picture, tint = view.pictures.get(style["texture"]), solid.color
        distance = view.camera.eye_distance(skin.screen[:, 2])
        x0, y0, x1, y1 = solid.box
        small = (x1 - x0) * (y1 - y0) < CORRECT_ABOVE**2 * 0.5 * len(skin.mesh.triangles)
        bad = lay_mesh(
            view.canvas,
            self._depth,
            skin.mesh,
            skin.screen,
            skin.uvs,
            picture,
            front=solid.light,
            back=solid.light,
            heights=solid.heights if solid.lowest < 0 <= solid.highest else _EVERYWHERE,
            inverse=_EVERYWHERE if distance is None or small else 1 / distance,
            low=low,
            high=high,
            front_tint=tint,
            back_tint=tint,
            opacity=opacity_of(picture, style["opacity"] * (solid.color & 255) / 255),
            sign=-1.0 if view.camera.flipped else 1.0,
            smooth=style["texture"] is not None and style["smooth"],
        )
        if bad:
            view.warn(solid.body(), bad, "triangle")
