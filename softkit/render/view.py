"""View: draws a World onto a pygame Surface."""

import time
import warnings
import weakref

import numpy as np
import pymunk

from softkit.render.camera import Camera
from softkit.render.canvas import Canvas, ShapeList
from softkit.render.debug import DebugLayer
from softkit.render.hud import Hud
from softkit.render.mesh import Pictures
from softkit.render.painter import Painter, RenderWarning, load_painters, painter_for
from softkit.render.space import SpaceLayer

_FREE = {"hidden": False}


class View:
    """Draws a world: the pymunk scene, and everything soft, each kind by its painter.

    target: the pygame Surface to draw on, 24 or 32 bits a pixel (the display, a plain Surface, a subsurface).
    camera: a Camera; None (default) makes one that shows world units as pixels, y growing as the world's
        gravity says (gravity y < 0: up, from the bottom left corner).
    interpolate: True (default) draws between the last two fixed steps by `world.alpha`; False draws the last
    step.

    light: direction toward the light in the picture (x right, y down, z to the viewer), default (-0.4, -0.6,
        0.7).
    debug: True makes every `draw` end with `draw_debug`; default False.

    >>> import pygame, pymunk
    >>> class Scene:
    ...     space, objects, alpha, time = pymunk.Space(), [], 0.0, 0.0
    >>> view = View(pygame.Surface((320, 200)))
    >>> view.draw(Scene())
    """

    def __init__(self, target, camera=None, interpolate=True):
        if camera is not None and not isinstance(camera, Camera):
            raise TypeError(f"camera must be a softkit.render.Camera or None, got {camera!r}")
        self.canvas = Canvas(target)
        self.camera = Camera() if camera is None else camera
        self.interpolate = bool(interpolate)
        self.debug = False
        self.light = (-0.4, -0.6, 0.7)
        self.shapes = ShapeList()
        self.pictures = Pictures()
        self.render_time = 0.0
        self._styles = weakref.WeakKeyDictionary()
        self.style_version = 0
        self._warned = weakref.WeakSet()
        self._painters = {}
        load_painters()
        self._space = SpaceLayer(self)
        self._debug = DebugLayer(self)
        self._hud = Hud(self)
        self.camera.bind(self.canvas.size)

    @property
    def target(self):
        """The Surface drawn on. May be set to another one at any time."""
        return self.canvas.surface

    @target.setter
    def target(self, surface):
        self.canvas = Canvas(surface)
        self.camera.bind(self.canvas.size)

    def draw(self, world):
        """Draw the world's space and objects. Changes nothing in the world; never raises for physics values:
        what is not finite is left out, with one RenderWarning that names it."""
        start = time.perf_counter()
        self._begin(world)
        with np.errstate(all="ignore"):
            groups = self._groups(world)
            for painter, objects in groups:
                painter.draw_behind(world, objects)
            self._space.draw(world)
            for painter, objects in groups:
                painter.draw(world, objects)
            if self.debug:
                self._debug.draw(world)
        self.render_time = time.perf_counter() - start

    def draw_debug(self, world):
        """Draw particles, constraints coloured by strain, anchors, contacts and fields. `view.debug = True`
        makes every `draw` end with this."""
        self._begin(world)
        with np.errstate(all="ignore"):
            self._debug.draw(world)

    def draw_hud(self, world):
        """Draw the panel of numbers: frame, step and render time, counts, threads, health."""
        self._begin(world)
        self._hud.draw(world)

    def style(self, obj, **style):
        """Change how one thing is drawn: a soft object, a pymunk shape, or a pymunk body (all its shapes).

        Every kind takes color (pygame colour; None: the palette's) and hidden (bool). Shapes and bodies also
        take outline (colour), outline_width (pixels) and texture (Surface, stretched over the shape, or over
        all of a body's shapes; drawn after those without). What soft objects take is in their painter's
        `styles`. Values given earlier stay. Raises TypeError for an unknown keyword, naming it.
        """
        known, check = self._styles_for(obj)
        for key, value in style.items():
            if key not in known:
                raise TypeError(
                    f"{type(obj).__name__} has no style {key!r}; it takes {', '.join(sorted(known))}"
                )
            if check is not None:
                check(key, value)
        self._styles.setdefault(obj, {}).update(style)
        self.style_version += 1

    def style_of(self, obj):
        """The keywords set by `style` for this object, as a dict."""
        return self._styles.get(obj, {})

    def warn(self, obj, count, what="point"):
        """Say once for each object that some of it could not be drawn."""
        if obj in self._warned:
            return
        self._warned.add(obj)
        name = f"{obj!r} with id {obj.id}" if isinstance(obj, pymunk.Body) else repr(obj)
        warnings.warn(
            f"{name}: {count} {what}{'' if count == 1 else 's'} not drawn, the position is not finite or "
            "beyond 1e10 pixels",
            RenderWarning,
            stacklevel=2,
        )

    def _begin(self, world):
        self.canvas.begin()
        gravity = world.space.gravity[1] if getattr(world, "space", None) is not None else 0
        self.camera.bind(self.canvas.size, gravity)

    def _groups(self, world):
        """Visible objects by painter, painters in the order in which their kinds first appear."""
        groups = {}
        for obj in world.objects:
            painter = self._painter(type(obj))
            if painter is not None and not self._styles.get(obj, _FREE).get("hidden", False):
                groups.setdefault(painter, []).append(obj)
        return list(groups.items())

    def _painter(self, cls):
        found = painter_for(cls)
        if found is None:
            return None
        if found not in self._painters:
            self._painters[found] = found(self)
        return self._painters[found]

    def _styles_for(self, obj):
        if isinstance(obj, (pymunk.Shape, pymunk.Body)):
            return self._space.styles, self._space.check
        painter = self._painter(type(obj))
        if painter is None:
            raise TypeError(f"obj must be something that a View draws, got {obj!r}")
        return painter.styles, getattr(painter, "check", None)


__all__ = ["Painter", "View"]
