"""What a painter is, and how a View finds the one for an object.

A painter draws objects of the classes named in `kinds` (matched by class name along the class's bases, so
that this package needs no import of the classes). To add one: a file NAME_painter.py in this folder, or
anywhere before the first draw, with a subclass of Painter decorated by `register`.
"""

import importlib
import pkgutil

import numpy as np

_registry = {}


class RenderWarning(UserWarning):
    """Something could not be drawn; said once for each object."""


def register(cls):
    """Class decorator: Views use this painter for the class names in `cls.kinds`."""
    for kind in cls.kinds:
        _registry[kind] = cls
    return cls


def load_painters():
    """Import every *_painter module of this package, which registers them."""
    package = importlib.import_module("softkit.render")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.endswith("_painter"):
            importlib.import_module(f"softkit.render.{module.name}")
    return _registry


def painter_for(cls):
    """The painter class for objects of class `cls`, or None."""
    for base in cls.__mro__:
        if base.__name__ in _registry:
            return _registry[base.__name__]
    return None


class Painter:
    """Draws objects of some kinds. One painter of a class serves all such objects of a View.

    kinds: class names it draws. styles: keywords `View.style` takes for them, with their defaults.
    """

    kinds = ()
    styles = {"hidden": False}

    def __init__(self, view):
        self.view = view

    def draw_behind(self, world, objects):
        """Draw what lies behind the pymunk plane (z < 0). Called before the pymunk shapes are drawn."""

    def draw(self, world, objects):
        """Draw the visible objects of this kind, in the world's order."""
        raise NotImplementedError

    def style(self, obj):
        """The object's style: the defaults with what `View.style` changed."""
        return {**self.styles, **self.view.style_of(obj)}


def live_points(world, obj, interpolate=True):
    """An object's points for drawing now, (n, 2) or (n, 3): between the last two fixed steps by
    `world.alpha`, with attached points exactly on their (equally interpolated) bodies."""
    points = np.asarray(obj.positions)
    before = getattr(obj, "previous_positions", None) if interpolate else None
    if before is None or before.shape != points.shape:
        return points
    points = before + world.alpha * (points - before)
    for index, (body, local) in getattr(obj, "attachments", {}).items():
        x, y, angle = body_pose(world, body)
        cos, sin = np.cos(angle), np.sin(angle)
        points[index, 0] = x + cos * local[0] - sin * local[1]
        points[index, 1] = y + sin * local[0] + cos * local[1]
        if len(local) == 3:
            points[index, 2] = local[2]
    return points


def body_pose(world, body, interpolate=True):
    """(x, y, angle) of a pymunk body for drawing now."""
    pose = getattr(world, "body_pose", None) if interpolate else None
    if pose is not None:
        return pose(body)
    x, y = body.position
    return x, y, body.angle
