"""Free particles: soft dots, streaks, trails or turned pictures, laid over or added as light."""

import numpy as np
import pygame

from softkit._kernels import sprites
from softkit.render.canvas import as_texture, pixel_info
from softkit.render.painter import Painter, register

SHAPES = {"dot": 2.0, "disc": 0.0, "glow": 4.0}
PARALLEL_FROM = 2000


def _falloff(shape):
    """Opacity 0 to 256 over (distance / radius)^2: (1 - d^2)^k, or full with a soft rim; 0 at the radius."""
    square = (np.arange(257) + 0.5) / 256
    if shape == "disc":
        return (256 * np.clip((1 - np.sqrt(square)) / 0.15, 0, 1)).astype(np.uint16)
    return (256 * np.clip(1 - square, 0, 1) ** SHAPES[shape]).astype(np.uint16)


_FALL = {shape: _falloff(shape) for shape in SHAPES}


@register
class ParticlesPainter(Painter):
    """Every particle by its size, colour and alpha over life, see `Particles.look`.

    Styles: shape ("dot" (default): soft; "disc": hard; "glow": a bright core and a wide rim), additive
    (False; True: light is added, for sparks and fire), streak (seconds of motion drawn behind each, default
    0), picture (Surface drawn instead of dots, turned by the particle's angle and tinted by its colour, its
    longer side the size), trails (True: drawn where the particles keep them), hidden.
    """

    kinds = ("Particles",)
    styles = {
        "shape": "dot",
        "additive": False,
        "streak": 0.0,
        "picture": None,
        "trails": True,
        "hidden": False,
    }

    def __init__(self, view):
        super().__init__(view)
        self._marks = np.zeros(0, np.uint8)

    def check(self, key, value):
        """Refuse a wrong style value before it is kept."""
        if key == "shape" and value not in SHAPES:
            raise ValueError(f"shape must be one of {', '.join(SHAPES)}, got {value!r}")
        if key == "picture" and value is not None and not isinstance(value, pygame.Surface):
            raise TypeError(f"picture must be a pygame.Surface or None, got {value!r}")
        if key == "streak" and not 0 <= value < 1e6:
            raise ValueError(f"streak must be 0 or more seconds, got {value!r}")

    def draw(self, world, objects):
        for pool in objects:
            if pool.count:
                self._draw(world, pool, self.style(pool))

    def _draw(self, world, pool, style):
        view, canvas = self.view, self.view.canvas
        if not canvas.size[0] or not canvas.size[1]:
            return
        threads = canvas.threads if pool.count >= PARALLEL_FROM else 1
        camera, x, before, alpha = self._camera(world, pool)
        sizes, colors = np.ascontiguousarray(pool._size[:, 0]), _packed(pool)
        bad = 0
        if style["trails"] and pool._trail is not None:
            marks = self._room(pool.count * pool._trail_length)
            sprites.prepare_trails(
                pool._trail, pool._trail_slot(), x, camera, pool._traits, sizes, colors, marks
            )
            bad = self._splat(marks, style, threads)
        marks = self._room(pool.count)
        sprites.prepare(
            x, before, alpha, pool._v, style["streak"], pool._traits, camera, sizes, colors, marks, threads
        )
        if style["picture"] is None:
            bad = max(bad, self._splat(marks, style, threads))
        else:
            picture = as_texture(style["picture"])
            bad = sprites.place_pictures(
                marks,
                canvas.info,
                canvas.surface.get_buffer(),
                pixel_info(picture, "picture"),
                picture.get_buffer(),
                style["additive"],
                threads,
                threads,
            )
        if bad:
            view.warn(pool, bad)

    def _splat(self, marks, style, threads):
        canvas = self.view.canvas
        return sprites.splat(
            marks,
            canvas.info,
            canvas.surface.get_buffer(),
            _FALL[style["shape"]],
            style["additive"],
            threads,
            threads,
        )

    def _room(self, count):
        size = count * sprites.MARK_BYTES
        if len(self._marks) < size:
            self._marks = np.zeros(size + size // 2, np.uint8)
        return self._marks[:size]

    def _camera(self, world, pool):
        """The camera as a matrix for the kernel, and the points to put through it."""
        camera = self.view.camera
        alpha = world.alpha if self.view.interpolate else 1.0
        if camera.perspective is not None and not camera.flat:
            points = pool._previous + alpha * (pool._x - pool._previous)
            screen = camera.to_screen(points)
            zoom = float(np.mean(camera.scale_at(points)))
            return np.array([0, 0, 1, 0, 0, 1, 0, 0, zoom, 1, 0], float), screen, screen, 1.0
        center = np.array(camera.center)
        base, right, down = camera.to_screen(center + np.array([(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]))
        xx, yx = right - base
        xy, yy = down - base
        sign = 1.0 if xx * yy - xy * yx > 0 else -1.0
        turn = np.arctan2(yx, xx)
        numbers = [*center, xx, xy, yx, yy, *base, camera.zoom, sign, turn]
        return np.array(numbers, dtype=float), pool._x, pool._previous, alpha


def _packed(pool):
    """The colour curve with the alpha curve, as 0xRRGGBBAA."""
    rgb = np.rint(pool._color).astype(np.uint32)
    alpha = np.rint(255 * pool._alpha[:, 0]).astype(np.uint32)
    return (rgb[:, 0] << 24) | (rgb[:, 1] << 16) | (rgb[:, 2] << 8) | alpha
