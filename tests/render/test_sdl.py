"""Cloth on an SDL renderer: as View draws it, but for the depth buffer and the smooth outline."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from softkit.render import Camera, sdl

SCRIPT = """
import numpy as np, pygame
from pygame._sdl2 import video
from softkit.render import Camera, View
from softkit.render.sdl import draw_cloth
from tests.render.test_cloth_painter import Cloth, Scene

picture = pygame.Surface((64, 64), 0, 32)
picture.fill((250, 220, 40))
picture.fill((40, 60, 200), (0, 0, 32, 32))
cloth = Cloth(n=12, image=picture)
cloth.positions[:, 2] = 12 * np.sin(cloth.positions[:, 0] / 12)
camera = Camera((100, 80), 1.2, 0.3, size=(200, 160))
expected = pygame.Surface((200, 160), 0, 32)
View(expected, camera).draw(Scene(cloth, hero=False))
window = video.Window("test", (200, 160))
renderer = video.Renderer(window)
assert draw_cloth(video.Texture.from_surface(renderer, picture), cloth, camera) == 0
found = pygame.surfarray.array3d(renderer.to_surface()).astype(int)
error = np.abs(found - pygame.surfarray.array3d(expected)).max(axis=2)
assert (found.max(axis=2) > 60).sum() > 8000
assert (error > 24).mean() < 0.02, (error > 24).mean()
"""


def test_as_view_draws_it():
    root = Path(__file__).parents[2]
    env = {**os.environ, "SDL_VIDEODRIVER": "dummy", "SDL_RENDER_DRIVER": "software", "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, "-c", SCRIPT], env=env, cwd=root, check=True)


def test_wrong_arguments():
    with pytest.raises(TypeError, match="texture"):
        sdl.draw_cloth(None, None, Camera())

    class Texture:
        def draw_triangle(self, *args):
            raise AssertionError

    with pytest.raises(TypeError, match="camera"):
        sdl.draw_cloth(Texture(), None, None)
    with pytest.raises(ValueError, match="ambient"):
        sdl.draw_cloth(Texture(), None, Camera(), ambient=3)
