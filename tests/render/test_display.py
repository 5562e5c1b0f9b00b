"""A display that changes under a View: another size, gone, back again."""

import pygame
import pymunk
import pytest

import softkit
from softkit.render import View


@pytest.fixture
def scene():
    pygame.display.init()
    space = pymunk.Space()
    space.gravity = (0, 900)
    world = softkit.World(space)
    world.add(softkit.Rope((40, 30), (140, 30), segments=20, radius=3)).attach(0, space.static_body)
    world.add(softkit.Cloth(12, 12, origin=(150, 20, 0), pinned=[0, 11]))
    world.add(softkit.Fluid(spacing=6)).fill((10, 100, 100, 60))
    yield world
    pygame.display.quit()


def drawn(view, world):
    """Does the picture show anything?"""
    view.target.fill((9, 9, 9))
    view.draw(world)
    left, top = (min(size, 12) for size in view.target.get_size())
    pixels = pygame.surfarray.array3d(view.target)
    return bool((pixels[left:, top:] != 9).any())


def test_mode_switched(scene):
    """The same Surface with another size, as pygame-ce hands out: the view draws on all of it at once."""
    view = View(pygame.display.set_mode((320, 240)))
    assert drawn(view, scene)
    for size, flags in (((640, 480), 0), ((200, 160), pygame.RESIZABLE), ((400, 300), pygame.NOFRAME)):
        assert pygame.display.set_mode(size, flags) is view.target
        assert drawn(view, scene)
        assert view.canvas.size == size


def test_display_lost_and_back(scene):
    """Without a display a draw says so, changes nothing, and a new display is taken as the target."""
    view = View(pygame.display.set_mode((320, 240)))
    assert drawn(view, scene)
    before = scene.state_hash()
    pygame.display.quit()
    with pytest.raises(pygame.error, match="Surface is not initialized"):
        view.draw(scene)
    assert scene.state_hash() == before
    scene.update(1 / 60)
    pygame.display.init()
    view.target = pygame.display.set_mode((300, 200))
    assert drawn(view, scene)


def test_quit_and_init(scene):
    """pygame ended and begun again: pictures and fonts that a view holds still draw."""
    view = View(pygame.display.set_mode((320, 240)))
    picture = pygame.Surface((16, 16))
    picture.fill((200, 40, 40))
    view.style(scene.objects[1], texture=picture)
    view.draw(scene)
    view.draw_hud(scene)
    for _ in range(3):
        pygame.quit()
        pygame.display.init()
        pygame.font.init()
        view.target = pygame.display.set_mode((320, 240))
        assert drawn(view, scene)
        view.draw_hud(scene)
        scene.update(1 / 60)
    pygame.quit()
