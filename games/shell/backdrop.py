"""A landscape behind a game: a sky and ranges of hills, painted once, moved by parallax.

Each range is a strip as wide as the screen whose outline is a sum of whole waves, so it tiles without a
seam; drawing one frame is a few blits.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import numpy as np
import pygame


@dataclass(frozen=True)
class Hills:
    """One range. color: at its crest. haze: colour it fades to at its foot. level: the crest's mean height
    on the screen (0 top, 1 bottom). rough: height of the waves in pixels. speed: share of the camera's way
    that it follows (0 never moves, 1 moves with the level)."""

    color: tuple
    haze: tuple
    level: float
    rough: float
    speed: float
    pines: int = 0


def gradient(size, top, bottom) -> pygame.Surface:
    """A vertical blend from one colour to another."""
    picture = pygame.Surface(size)
    width, height = size
    for y in range(height):
        share = y / max(1, height - 1)
        color = [round(a + (b - a) * share) for a, b in zip(top, bottom)]
        pygame.draw.line(picture, color, (0, y), (width, y))
    return picture


class Backdrop:
    """The painted landscape; `draw` puts it behind everything for a camera at `center` (world units)."""

    def __init__(self, size, sky, hills, sun=None, seed: int = 7) -> None:
        self.size = size
        self._sky = gradient(size, *sky)
        if sun:
            self._paint_sun(*sun)
        rng = random.Random(seed)
        self._ranges = [(self._paint_range(h, rng), h.speed) for h in hills]

    def _paint_sun(self, at, radius, color) -> None:
        """A disc in a glow that fades smoothly to nothing at four radii."""
        pixels = pygame.surfarray.pixels3d(self._sky)
        x, y = np.ogrid[: self.size[0], : self.size[1]]
        away = np.hypot(x - at[0], y - at[1]) / (4 * radius)
        share = (0.55 * np.clip(1 - away, 0, 1) ** 2)[..., None]
        pixels[:] = pixels + (np.array(color) - pixels) * share
        del pixels
        pygame.draw.aacircle(self._sky, color, at, radius)

    def _paint_range(self, hills: Hills, rng) -> pygame.Surface:
        """One strip: outline from six whole waves, filled with a fading gradient, trees on its crest."""
        width, height = self.size
        waves = [(k, rng.uniform(0.4, 1) / k, rng.uniform(0, math.tau)) for k in (1, 2, 3, 5, 8, 13)]

        def crest(x):
            angle = math.tau * x / width
            return height * hills.level + hills.rough * sum(a * math.sin(k * angle + p) for k, a, p in waves)

        strip = pygame.Surface((width, height + 200), pygame.SRCALPHA)
        blend = gradient(strip.get_size(), hills.color, hills.haze)
        outline = [(x, crest(x)) for x in range(0, width + 8, 8)]
        # The outline is painted at twice the size and shrunk, which smooths its edge.
        mask = pygame.Surface((2 * width, 2 * height + 400), pygame.SRCALPHA)
        mask.fill((255, 255, 255, 0))

        def fill(points):
            pygame.draw.polygon(mask, (255, 255, 255, 255), [(2 * x, 2 * y) for x, y in points])

        fill([*outline, (width, height + 200), (0, height + 200)])
        for _ in range(hills.pines):
            x, tall = rng.uniform(0, width), rng.uniform(16, 40)
            for shift in (-width, 0, width):
                for tier in range(3):
                    y, half = crest(x) + 6 - tall * 0.28 * tier, tall * (0.3 - 0.07 * tier)
                    fill([(x + shift - half, y), (x + shift + half, y), (x + shift, y - tall * 0.5)])
        strip.blit(blend, (0, 0))
        mask = pygame.transform.smoothscale(mask, strip.get_size())
        strip.blit(mask, (0, 0), special_flags=pygame.BLEND_RGBA_MULT)
        return strip

    def draw(self, surface, center) -> None:
        """Paint the whole of `surface`; `center` is the camera's place in world units."""
        surface.blit(self._sky, (0, 0))
        width, height = self.size
        for strip, speed in self._ranges:
            shift = -(center[0] * speed) % width
            drop = min(max((height / 2 - center[1]) * speed, -120), 120)
            surface.blit(strip, (shift, drop))
            if shift > 0:
                surface.blit(strip, (shift - width, drop))
