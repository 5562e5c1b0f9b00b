"""The pymunk scene: circles, segments and polygons on static, kinematic and dynamic bodies."""

import math
import weakref

import numpy as np
import pygame
import pymunk

from softkit.render import colors
from softkit.render.canvas import DISC, LINE, LOOP, POLYGON, ShapeList
from softkit.render.painter import body_pose
from softkit.render.pictures import PictureLayer, PictureShape, box_of

FILL, OUTLINE, TICK, SEAL = 0, 1, 2, 3
_SLEEP_GRAY = 0x8A8F98FF
_ROLES = (FILL, OUTLINE, TICK, SEAL)


def arc(radius, scale):
    """Steps of a full turn that keep a circle of this radius (wu) within a tenth of a pixel at this scale."""
    pixels = max(radius * scale, 1.0)
    return int(min(max(math.ceil(math.pi / math.acos(max(1 - 0.1 / pixels, 0.5))), 8), 256))


def circle_points(center, radius, steps):
    """(steps, 2) points on a circle."""
    angle = np.arange(steps) * (2 * math.pi / steps)
    return np.stack([center[0] + radius * np.cos(angle), center[1] + radius * np.sin(angle)], axis=1)


def rounded(vertices, radius, steps):
    """A convex polygon grown by a radius: every corner an arc, steps for a full turn."""
    if radius <= 0:
        return np.asarray(vertices, dtype=np.float64)
    points = []
    n = len(vertices)
    for i in range(n):
        (px, py), (x, y), (qx, qy) = vertices[i - 1], vertices[i], vertices[(i + 1) % n]
        start = math.atan2(-(x - px), y - py)
        turn = (math.atan2(-(qx - x), qy - y) - start) % (2 * math.pi)
        count = max(2, math.ceil(steps * turn / (2 * math.pi)) + 1)
        for angle in np.linspace(start, start + turn, count):
            points.append((x + radius * math.cos(angle), y + radius * math.sin(angle)))
    return np.array(points)


class SpaceLayer:
    """Draws all shapes of a space with one kernel call; geometry is kept until shapes come, go or change
    radius."""

    styles = {"color": None, "outline": None, "outline_width": 1.5, "texture": None, "hidden": False}

    def __init__(self, view):
        self.view = view
        self.list = ShapeList()
        self._pictures = PictureLayer(view)
        self._key = None
        self._shapes = []
        self._sequence = weakref.WeakKeyDictionary()

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if key in ("color", "outline") and value is not None:
            colors.rgba(value, key)
        if key == "texture" and value is not None and not isinstance(value, pygame.Surface):
            raise TypeError(f"texture must be a pygame.Surface or None, got {value!r}")
        if key == "outline_width" and not 0 <= value < math.inf:
            raise ValueError(f"outline_width must be finite and not negative, got {value!r}")

    def draw(self, world):
        """Draw the world's space."""
        space = getattr(world, "space", None)
        if space is None or not len(space.shapes):
            return
        camera = self.view.camera
        bucket = math.frexp(camera.zoom)[1]
        shapes = list(space.shapes)
        bodies = [shape.body for shape in shapes]
        radii = [shape.radius for shape in shapes]
        key = (
            tuple(map(id, shapes)),
            tuple(map(id, bodies)),
            radii,
            [shape.sensor for shape in shapes],
            self.view.style_version,
            bucket,
            camera.flat,
        )
        if key != self._key:
            self._build(shapes, bodies, 2.0**bucket)
            self._key = key
        if self.list.count:
            self._color(space)
            self._place(world, camera)
            self._report(self.view.canvas.draw(self.list))
        self._pictures.draw(lambda body: body_pose(world, body, self.view.interpolate))

    # ---- geometry in the bodies' own axes, built once ----

    def _build(self, shapes, bodies, scale):
        order = sorted(range(len(shapes)), key=lambda i: bodies[i].body_type != pymunk.Body.STATIC)
        self._runs, self._shapes, self._bodies, index = [], [], [], {}
        self._pictures.shapes = []
        for i in order:
            shape, body = shapes[i], bodies[i]
            style = self._style(shape, body)
            if style["hidden"]:
                continue
            if style["texture"] is not None:
                self._add_picture(shape, body, style, shapes, scale)
                continue
            if body not in index:
                index[body] = len(self._bodies)
                self._bodies.append(body)
            self._shapes.append(shape)
            self._shape_runs(shape, style, len(self._shapes) - 1, index[body], scale)
        self._pack()

    def _add_picture(self, shape, body, style, shapes, scale):
        """A picture given to a body covers all its shapes together, one given to a shape that shape alone."""
        alone = "texture" in self.view.style_of(shape)
        box = box_of([shape] if alone else [s for s in shapes if s.body is body])
        if isinstance(shape, pymunk.Circle):
            outline = circle_points(shape.offset, shape.radius, arc(shape.radius, scale))
        else:
            corners = [shape.a, shape.b] if isinstance(shape, pymunk.Segment) else shape.get_vertices()
            radius = max(shape.radius, 0.5 / scale) if isinstance(shape, pymunk.Segment) else shape.radius
            outline = rounded(corners, radius, arc(radius, scale))
        self._pictures.shapes.append(PictureShape(shape, style, outline, box))

    def _style(self, shape, body):
        return {**self.styles, **self.view.style_of(body), **self.view.style_of(shape)}

    def _shape_runs(self, shape, style, number, body, scale):
        width = style["outline_width"] / 2

        def run(kind, role, points, radius=0.0, least=0.0, edge=0.0):
            self._runs.append(
                (kind, role, np.asarray(points, dtype=np.float64), radius, least, edge, number, body)
            )

        if isinstance(shape, pymunk.Circle):
            center, radius = shape.offset, shape.radius
            if self.view.camera.flat:
                run(DISC, FILL, [center], radius, 0.5, 2 * width)
            else:
                outline = circle_points(center, radius, arc(radius, scale))
                run(POLYGON, FILL, outline)
                run(LOOP, OUTLINE, outline, 0, width)
            if not shape.sensor and radius * scale > 5:
                x, y = center
                run(LINE, TICK, [(x + 0.35 * radius, y), (x + 0.8 * radius, y)], 0, 1.0)
        elif isinstance(shape, pymunk.Segment):
            run(
                LINE,
                FILL,
                [shape.a, shape.b],
                shape.radius,
                1.0,
                2 * width if shape.radius * scale > 6 * width else 0,
            )
        elif isinstance(shape, pymunk.Poly):
            outline = rounded(shape.get_vertices(), shape.radius, arc(shape.radius, scale))
            run(POLYGON, FILL, outline)
            if width > 0:
                run(LOOP, OUTLINE, outline, 0, width)
            else:  # closes the hair between polygons that share an edge
                run(LOOP, SEAL, outline, 0, 0.5)

    def _pack(self):
        runs, shapes = self._runs, self.list
        shapes.clear()
        self._points = np.concatenate([r[2] for r in runs]) if runs else np.empty((0, 2))
        shapes.reserve(len(runs), len(self._points))
        counts = np.array([len(r[2]) for r in runs], dtype=np.int32)
        n = shapes.count
        shapes.kinds[:n] = [r[0] for r in runs]
        shapes.length[:n] = counts
        shapes.first[:n] = np.cumsum(counts) - counts
        self._role = np.array([r[1] for r in runs], dtype=np.intp)
        self._radius = np.array([r[3] for r in runs], dtype=np.float64)
        self._least = np.array([r[4] for r in runs], dtype=np.float64)
        shapes.params[:n, 1] = [r[5] for r in runs]
        shapes.params[:n, 2] = 0
        self._number = np.array([r[6] for r in runs], dtype=np.intp)
        self._run_body = np.array([r[7] for r in runs], dtype=np.intp)
        self._point_body = np.repeat(self._run_body, counts) if n else np.empty(0, dtype=np.intp)
        self._pose = np.zeros((len(self._bodies), 3))
        self._color_key = None

    # ---- every frame ----

    def _color(self, space):
        """Fill, outline and tick colours of each shape; computed again only when a colour or a sleeper
        changed."""
        own = [getattr(shape, "color", None) for shape in self._shapes]
        asleep = (
            [body.is_sleeping for body in self._bodies] if space.sleep_time_threshold < math.inf else None
        )
        if self._color_key == (own, asleep):
            return
        self._color_key = (own, asleep)
        table = np.zeros((len(self._shapes), len(_ROLES)), dtype=np.uint32)
        for i, (shape, color) in enumerate(zip(self._shapes, own)):
            table[i] = self._shape_colors(shape, color)
        n = self.list.count
        self.list.colors[:n, 0] = table[self._number, self._role]
        self.list.colors[:n, 1] = table[self._number, OUTLINE]

    def _shape_colors(self, shape, own):
        body = shape.body
        style = self._style(shape, body)
        color = style["color"] if style["color"] is not None else own
        fill = self._palette(body) if color is None else colors.rgba(color)
        if body.is_sleeping:
            fill = colors.blend(fill, (_SLEEP_GRAY & 0xFFFFFF00) | (fill & 255), 0.55)
        outline = (
            colors.darker(fill) if style["outline"] is None else colors.rgba(style["outline"], "outline")
        )
        if shape.sensor:
            outline = colors.with_alpha(fill, 190)
            fill = colors.with_alpha(fill, colors.SENSOR_ALPHA)
        seal = fill if fill & 255 == 255 else 0
        return fill, outline, colors.with_alpha(colors.darker(fill, 0.35), fill & 255), seal

    def _palette(self, body):
        if body.body_type == pymunk.Body.STATIC:
            return colors.STATIC
        if body.body_type == pymunk.Body.KINEMATIC:
            return colors.KINEMATIC
        if body not in self._sequence:
            self._sequence[body] = len(self._sequence)
        return colors.DYNAMIC[self._sequence[body] % len(colors.DYNAMIC)]

    def _place(self, world, camera):
        """Move all points to where the bodies are now, and to pixels."""
        pose = self._pose
        interpolate = self.view.interpolate
        for i, body in enumerate(self._bodies):
            pose[i] = body_pose(world, body, interpolate)
        cos, sin = np.cos(pose[:, 2]), np.sin(pose[:, 2])
        at = self._point_body
        x, y = self._points[:, 0], self._points[:, 1]
        points = np.empty_like(self._points)
        points[:, 0] = pose[at, 0] + cos[at] * x - sin[at] * y
        points[:, 1] = pose[at, 1] + sin[at] * x + cos[at] * y
        shapes = self.list
        n = shapes.count
        camera.to_screen(points, out=shapes.points[: len(points)])
        scale = camera.scale_at(pose[:, :2])
        if np.ndim(scale):
            scale = scale[self._run_body]
        shapes.params[:n, 0] = np.maximum(self._radius * scale, self._least)

    def _report(self, bad):
        for i in () if bad is None else bad:
            shape = self._shapes[self._number[i]]
            self.view.warn(shape.body, 1, f"{type(shape).__name__.lower()} of this body")
