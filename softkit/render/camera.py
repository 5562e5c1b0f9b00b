"""Where the picture is taken from: pan, zoom, rotation, tilt and perspective, exact both ways."""

import math

import numpy as np
import pygame

MAX_TILT = 1.4
MIN_ZOOM, MAX_ZOOM = 1e-5, 1e5
_NEAR = 1e-3  # nearest distance to the eye, as a share of `perspective`: what is nearer is drawn as if there


def _number(name, value):
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def _pair(name, value):
    try:
        x, y = value
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be two numbers, got {value!r}") from None
    return _number(name, x), _number(name, y)


class Camera:
    """Maps world points to pixels of a View's target and back.

    center: the world point (x, y) in the middle of the picture. None (default): the middle of the target, so
        that world units are pixels.
    zoom: pixels per world unit, above 0, default 1; kept within 1e-5 and 1e5.
    rotation: radians, default 0. The camera turns, so the picture turns the other way: `camera.rotation =
        body.angle` keeps that body upright.
    perspective: None (default) for parallel projection, else the distance in wu, above 0, of the eye from
        the plane through `center`: smaller is stronger. Things nearer to the eye (z up) grow.
    tilt: radians, default 0, kept within -1.4 and 1.4. Above 0 the camera looks down from above: things with
        z > 0 move down the picture.
    y_up: False: y grows down the picture as in pygame. True: it grows up. None (default): View.draw chooses
        by the world's gravity (down for gravity y >= 0); until then down.
    size: (width, height) of the picture in pixels. None (default): a View sets it to its target's; without a
        View the display window's, else 1280 x 720.

    >>> camera = Camera((100, 50), zoom=2, size=(640, 480))
    >>> camera.to_screen((100, 50))
    (320.0, 240.0)
    >>> camera.to_world((322, 240))
    (101.0, 50.0)
    """

    def __init__(self, center=None, zoom=1, rotation=0, perspective=None, tilt=0, *, y_up=None, size=None):
        self._size = None
        self._center = None
        self._auto_up = False
        if size is not None:
            self.size = size
        if center is not None:
            self.center = center
        self.zoom = zoom
        self.rotation = rotation
        self.perspective = perspective
        self.tilt = tilt
        self.y_up = y_up

    @property
    def size(self):
        """(width, height) of the picture in pixels."""
        if self._size is not None:
            return self._size
        window = pygame.display.get_surface() if pygame.display.get_init() else None
        return window.get_size() if window is not None else (1280, 720)

    @size.setter
    def size(self, value):
        width, height = _pair("size", value)
        if width <= 0 or height <= 0:
            raise ValueError(f"size must be above 0, got {value!r}")
        self._size = (width, height)

    @property
    def center(self):
        """World point (x, y) in the middle of the picture."""
        if self._center is None:
            width, height = self.size
            return (width / 2, height / 2)
        return self._center

    @center.setter
    def center(self, value):
        self._center = _pair("center", value)

    @property
    def zoom(self):
        """Pixels per world unit."""
        return self._zoom

    @zoom.setter
    def zoom(self, value):
        number = _number("zoom", value)
        if number <= 0:
            raise ValueError(f"zoom must be above 0, got {value!r}")
        self._zoom = min(max(number, MIN_ZOOM), MAX_ZOOM)

    @property
    def rotation(self):
        """Radians the camera is turned by."""
        return self._rotation

    @rotation.setter
    def rotation(self, value):
        self._rotation = _number("rotation", value)
        self._cos, self._sin = math.cos(self._rotation), math.sin(self._rotation)

    @property
    def perspective(self):
        """Distance of the eye in wu, or None for parallel projection."""
        return self._perspective

    @perspective.setter
    def perspective(self, value):
        if value is not None:
            value = _number("perspective", value)
            if value <= 0:
                raise ValueError(f"perspective must be None or above 0, got {value!r}")
        self._perspective = value

    @property
    def tilt(self):
        """Radians the camera looks down by."""
        return self._tilt

    @tilt.setter
    def tilt(self, value):
        self._tilt = min(max(_number("tilt", value), -MAX_TILT), MAX_TILT)
        self._tilt_cos, self._tilt_sin = math.cos(self._tilt), math.sin(self._tilt)

    @property
    def y_up(self):
        """True, False, or None for "as the world's gravity says"."""
        return self._y_up

    @y_up.setter
    def y_up(self, value):
        if value is not None and not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"y_up must be True, False or None, got {value!r}")
        self._y_up = value

    def bind(self, size, gravity_y=None):
        """A View tells its size, and the gravity that decides y_up where that is None."""
        if self._size is None or self._size != size:
            self._size = (float(size[0]), float(size[1]))
        if gravity_y is not None:
            self._auto_up = gravity_y < 0

    @property
    def flipped(self):
        """True while y grows up the picture."""
        return self._auto_up if self._y_up is None else bool(self._y_up)

    @property
    def flat(self):
        """True when the plane z = 0 keeps its angles in the picture (no tilt): circles stay circles."""
        return self._tilt == 0

    def _basis(self):
        """Rows x and y of the turn into picture axes (y down): 2-D part, before tilt."""
        up = -1.0 if self.flipped else 1.0
        return self._cos, self._sin, -self._sin * up, self._cos * up

    def to_screen(self, points, out=None):
        """World points to pixels.

        points: one point (x, y) or (x, y, z), or an array (n, 2) or (n, 3), in wu.
        Returns a tuple for one point, else an array of the same shape. With z the third value returned is the
        depth in wu, toward the viewer, 0 at `center`; `to_world` takes it back.
        out: array to write into, the shape of points, float64 (default: a new one).
        """
        array = np.asarray(points, dtype=np.float64)
        single = array.ndim == 1
        _check_points("points", array)
        result = np.empty_like(array) if out is None else out
        cx, cy = self.center
        width, height = self.size
        xx, xy, yx, yy = self._basis()
        dx, dy = array[..., 0] - cx, array[..., 1] - cy
        x = xx * dx + xy * dy
        y = yx * dx + yy * dy
        scale = self._zoom
        if array.shape[-1] == 3 or not self.flat:
            z = array[..., 2] if array.shape[-1] == 3 else 0.0
            depth = self._tilt_cos * z - self._tilt_sin * y
            y = self._tilt_cos * y + self._tilt_sin * z
            if self._perspective is not None:
                eye = self._perspective
                scale = self._zoom * eye / np.maximum(eye - depth, _NEAR * eye)
            if array.shape[-1] == 3:
                result[..., 2] = depth
        result[..., 0] = x * scale + width / 2
        result[..., 1] = y * scale + height / 2
        return tuple(result.tolist()) if single else result

    def to_world(self, points, z=0.0):
        """Pixels to world points: the inverse of `to_screen`.

        points: one point (x, y) or an array (n, 2) in pixels: the points of the plane at height `z` (wu,
            default 0) seen there. With a third value, the depth that `to_screen` gives: the point itself,
            (x, y, z).
        """
        array = np.asarray(points, dtype=np.float64)
        single = array.ndim == 1
        _check_points("points", array)
        width, height = self.size
        u = (array[..., 0] - width / 2) / self._zoom
        v = (array[..., 1] - height / 2) / self._zoom
        cos, sin, eye = self._tilt_cos, self._tilt_sin, self._perspective
        result = np.empty_like(array)
        if array.shape[-1] == 3:
            depth = array[..., 2]
            grow = 1.0 if eye is None else np.maximum(eye - depth, _NEAR * eye) / eye
            u, v = u * grow, v * grow
            y = cos * v - sin * depth
            result[..., 2] = sin * v + cos * depth
        else:
            z = _number("z", z)
            if eye is None:
                y = (v - sin * z) / cos
            else:
                # v (eye - depth) = eye (cos y + sin z) with depth = cos z - sin y; past the horizon: very far
                bottom = eye * cos - v * sin
                y = (v * (eye - cos * z) - eye * sin * z) / np.maximum(bottom, 1e-9 * eye)
                u = u * np.maximum(eye - (cos * z - sin * y), _NEAR * eye) / eye
        xx, xy, yx, yy = self._basis()
        cx, cy = self.center
        result[..., 0] = xx * u + yx * y + cx
        result[..., 1] = xy * u + yy * y + cy
        return tuple(result.tolist()) if single else result

    def scale_at(self, points):
        """Pixels per wu at world points (n, 2) or (n, 3): an array (n,), or one float when it is the same
        for all."""
        if self._perspective is None or (self.flat and points.shape[-1] == 2):
            return self._zoom
        _, _, yx, yy = self._basis()
        cx, cy = self.center
        y = yx * (points[:, 0] - cx) + yy * (points[:, 1] - cy)
        z = points[:, 2] if points.shape[-1] == 3 else 0.0
        depth = self._tilt_cos * z - self._tilt_sin * y
        return (
            self._zoom * self._perspective / np.maximum(self._perspective - depth, _NEAR * self._perspective)
        )

    def light(self, direction):
        """A direction of the picture (x right, y down, z to the viewer) as a unit vector of the world,
        before tilt."""
        x, y, z = direction
        xx, xy, yx, yy = self._basis()
        vector = np.array([xx * x + yx * y, xy * x + yy * y, z], dtype=np.float64)
        return vector / max(float(np.linalg.norm(vector)), 1e-12)

    def eye_distance(self, depth):
        """Distance from the eye along the view at depths (wu) that `to_screen` gives; None for parallel
        projection."""
        if self._perspective is None:
            return None
        return np.maximum(self._perspective - depth, _NEAR * self._perspective)

    @property
    def rect(self):
        """The visible part of the plane z = 0: (left, top, width, height) in wu, top being the smallest y."""
        width, height = self.size
        corners = self.to_world(np.array([(0.0, 0.0), (width, 0.0), (0.0, height), (width, height)]))
        left, top = corners.min(axis=0).tolist()
        right, bottom = corners.max(axis=0).tolist()
        return (left, top, right - left, bottom - top)

    def pan(self, dx, dy):
        """Move the picture's content by (dx, dy) pixels, as a drag with the mouse does."""
        width, height = self.size
        self.center = self.to_world((width / 2 - _number("dx", dx), height / 2 - _number("dy", dy)))

    def zoom_at(self, point, factor):
        """Multiply the zoom by `factor` (above 0) and keep the world point under the pixel `point` where it
        is."""
        factor = _number("factor", factor)
        if factor <= 0:
            raise ValueError(f"factor must be above 0, got {factor!r}")
        point = _pair("point", point)
        before = self.to_world(point)
        self.zoom = self._zoom * factor
        after = self.to_world(point)
        cx, cy = self.center
        self.center = (cx + before[0] - after[0], cy + before[1] - after[1])

    def __repr__(self):
        cx, cy = self.center
        return (
            f"Camera(({cx:g}, {cy:g}), zoom={self._zoom:g}, rotation={self._rotation:g}, tilt={self._tilt:g})"
        )


def _check_points(name, array):
    if array.ndim not in (1, 2) or array.shape[-1] not in (2, 3):
        raise ValueError(f"{name} must be (x, y), (x, y, z), (n, 2) or (n, 3), got shape {array.shape}")
