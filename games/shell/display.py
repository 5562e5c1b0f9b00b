"""Whether there is a screen, and how to open pygame with one or without."""

from __future__ import annotations

import os
import sys

import pygame

from games.shell import text

NO_SCREEN_DRIVERS = ("dummy", "offscreen")


def missing(environ=None, platform: str | None = None) -> str:
    """Why no window can be shown here, as far as the environment tells; empty if one may open."""
    environ = os.environ if environ is None else environ
    platform = platform or sys.platform
    driver = environ.get("SDL_VIDEODRIVER") or environ.get("SDL_VIDEO_DRIVER") or ""
    if driver:
        return f"SDL_VIDEODRIVER is {driver}" if driver.lower() in NO_SCREEN_DRIVERS else ""
    if platform.startswith("linux") and not environ.get("DISPLAY") and not environ.get("WAYLAND_DISPLAY"):
        return "neither DISPLAY nor WAYLAND_DISPLAY is set"
    return ""


def start_fonts() -> None:
    """Fonts of an earlier pygame session are dead: forget them."""
    if not pygame.font.get_init():
        pygame.font.init()
        text.forget()


def open_window(size, caption: str) -> pygame.Surface:
    """A window that scales to the screen; raises pygame.error where none can be opened."""
    pygame.display.init()
    start_fonts()
    surface = pygame.display.set_mode(size, pygame.SCALED | pygame.RESIZABLE, vsync=1)
    pygame.display.set_caption(caption)
    return surface


def open_headless(size) -> pygame.Surface:
    """A surface to draw on without any screen."""
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    if pygame.display.get_init() and pygame.display.get_driver() not in NO_SCREEN_DRIVERS:
        pygame.display.quit()
    pygame.display.init()
    start_fonts()
    return pygame.display.set_mode(size)
