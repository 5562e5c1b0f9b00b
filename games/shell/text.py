"""Words on the screen: fonts and rendered lines kept, so that a HUD costs a blit a line."""

from __future__ import annotations

from functools import lru_cache

import pygame

INK = (246, 241, 230)
SHADOW = (18, 22, 34)
PANEL = (18, 22, 34, 190)
FINER = 4  # letters are drawn this many times too large first
GOOD, BAD = (132, 214, 120), (240, 110, 92)
ANCHORS = {
    "topleft": (0, 0),
    "center": (0.5, 0.5),
    "midtop": (0.5, 0),
    "topright": (1, 0),
    "bottomleft": (0, 1),
    "midbottom": (0.5, 1),
    "midleft": (0, 0.5),
    "midright": (1, 0.5),
}


@lru_cache(maxsize=32)
def font(size: int) -> pygame.font.Font:
    """pygame's own font, the same on every machine; size in pixels."""
    return pygame.font.Font(None, size)


@lru_cache(maxsize=512)
def _line(text: str, size: int, color: tuple, shadow: bool) -> pygame.Surface:
    front = _letters(text, size, color)
    if not shadow:
        return front
    picture = pygame.Surface((front.get_width() + 2, front.get_height() + 2), pygame.SRCALPHA)
    picture.blit(_letters(text, size, SHADOW), (2, 2))
    picture.blit(front, (0, 0))
    return picture


def _letters(text: str, size: int, color: tuple) -> pygame.Surface:
    """Letters of even spacing: the font rounds each advance to pixels, so it is set large and shrunk."""
    large = font(size * FINER).render(text, True, color).convert_alpha()
    return pygame.transform.smoothscale(large, (large.get_width() // FINER, large.get_height() // FINER))


def width(text: str, size: int) -> int:
    """How many pixels a line takes."""
    return font(size * FINER).size(text)[0] // FINER


def forget() -> None:
    """Drop the kept fonts and lines (they die with pygame.font.quit)."""
    font.cache_clear()
    _line.cache_clear()


def write(surface, text: str, at, size: int = 26, color=INK, anchor: str = "topleft", shadow: bool = True):
    """Draw one line with its `anchor` corner at `at` (pixels); returns the rectangle it covers."""
    picture = _line(text, size, tuple(color), shadow)
    across, down = ANCHORS[anchor]
    wide, high = picture.get_size()
    return surface.blit(picture, (at[0] - across * wide, at[1] - down * high))


@lru_cache(maxsize=64)
def _panel(size: tuple, color: tuple, radius: int) -> pygame.Surface:
    picture = pygame.Surface(size, pygame.SRCALPHA)
    pygame.draw.rect(picture, color, picture.get_rect(), border_radius=radius)
    return picture


def panel(surface, rect, color=PANEL, radius: int = 12) -> None:
    """A translucent rounded plate to write on."""
    rect = pygame.Rect(rect)
    surface.blit(_panel(rect.size, tuple(color), radius), rect)


def bar(surface, rect, share: float, color, back=(18, 22, 34, 190)) -> None:
    """A horizontal gauge filled to `share` (0..1)."""
    rect = pygame.Rect(rect)
    panel(surface, rect, back, rect.height // 2)
    inner = rect.inflate(-4, -4)
    inner.width = round(inner.width * min(max(share, 0.0), 1.0))
    if inner.width > 2:
        pygame.draw.rect(surface, color, inner, border_radius=inner.height // 2)
