"""Every pixel layout that a display can have, or a clear error."""

import numpy as np
import pygame
import pytest

from softkit.render.canvas import Canvas, ShapeList

SIZE = (61, 47)
RED, GREEN, BLUE = 0xFF0000, 0x00FF00, 0x0000FF
LAYOUTS = {
    "32 xrgb": (0, 32, None),
    "32 xbgr": (0, 32, (BLUE, GREEN, RED, 0)),
    "32 rgbx": (0, 32, (0xFF000000, 0x00FF0000, 0x0000FF00, 0)),
    "32 argb": (pygame.SRCALPHA, 32, None),
    "32 rgba": (pygame.SRCALPHA, 32, (0xFF000000, 0x00FF0000, 0x0000FF00, 0x000000FF)),
    "24 rgb": (0, 24, None),
    "24 bgr": (0, 24, (BLUE, GREEN, RED, 0)),
}


def make(layout, fill=(200, 100, 50)):
    flags, depth, masks = LAYOUTS[layout]
    surface = pygame.Surface(SIZE, flags, depth, masks) if masks else pygame.Surface(SIZE, flags, depth)
    surface.fill(fill)
    return surface


def scene():
    shapes = ShapeList()
    shapes.polygon(np.array([(3.2, 4.0), (50.0, 9.0), (20.0, 40.7)]), 0x10C080A0)
    shapes.line(np.array([(5.0, 40.0), (55.0, 8.0), (30.0, 42.0)]), 3.3, 0xF0E010C0)
    shapes.line(
        np.array([(5.0, 5.0), (55.0, 44.0)]), 5, 0x2040F0FF, edge=0x000000FF, edge_width=1.5, shine=0.3
    )
    shapes.discs(np.array([(40.0, 30.0), (10.0, 30.0)]), np.array([9.0, 1.2]), 0x8020F0FF, 0xFFFFFF80, 1.0)
    return shapes


@pytest.mark.parametrize("layout", LAYOUTS)
def test_same_picture_in_every_layout(layout):
    reference, surface = make("32 xrgb"), make(layout)
    Canvas(reference).draw(scene())
    Canvas(surface).draw(scene())
    a, b = pygame.surfarray.array3d(reference), pygame.surfarray.array3d(surface)
    assert np.array_equal(a, b)
    if surface.get_masks()[3]:
        assert (pygame.surfarray.array_alpha(surface) == 255).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_subsurface_and_locked(layout):
    parent = make(layout)
    part = parent.subsurface((7, 5, 40, 30))
    alone = make(layout).subsurface((0, 0, 40, 30)).copy()
    part.lock()
    try:
        Canvas(part).draw(scene())
    finally:
        part.unlock()
    Canvas(alone).draw(scene())
    assert np.array_equal(pygame.surfarray.array3d(part), pygame.surfarray.array3d(alone))
    outside = pygame.surfarray.array3d(parent)
    outside[7:47, 5:35] = (200, 100, 50)
    assert (outside == (200, 100, 50)).all()
    assert not parent.get_locked()


def test_over_on_a_transparent_surface():
    """Straight-alpha 'over' of Porter and Duff: an opaque disc on nothing keeps its colour on its border."""
    surface = pygame.Surface(SIZE, pygame.SRCALPHA, 32)
    shapes = ShapeList()
    shapes.discs(np.array([(30.2, 24.3)]), 15.0, 0xC08040FF)
    Canvas(surface).draw(shapes)
    alpha = pygame.surfarray.array_alpha(surface)
    color = pygame.surfarray.array3d(surface)
    assert set(np.unique(alpha)) >= {0, 255} and len(np.unique(alpha)) > 20
    assert (np.abs(color[alpha > 0].astype(int) - (0xC0, 0x80, 0x40)) <= 1).all()
    shapes.clear()
    shapes.discs(np.array([(30.2, 24.3)]), 15.0, 0x0000FF80)
    below = surface.copy()
    Canvas(surface).draw(shapes)
    for at in ((30, 24), (45, 24), (44, 27)):
        a0, c0 = below.get_at(at)[3] / 255, np.array(below.get_at(at)[:3])
        opacity = round(128 * a0) / 255  # the second disc's coverage equals the first one's alpha
        out = opacity + a0 * (1 - opacity)
        expected = (np.array([0, 0, 255]) * opacity + c0 * a0 * (1 - opacity)) / out
        assert np.abs(np.array(surface.get_at(at)[:3]) - expected).max() <= 3
        assert surface.get_at(at)[3] == pytest.approx(255 * out, abs=1.5)


def test_the_unused_byte_stays():
    surface = pygame.Surface(SIZE, 0, 32)
    raw = np.frombuffer(surface.get_buffer(), dtype=np.uint32)
    raw |= 0xAB000000
    del raw
    Canvas(surface).draw(scene())
    assert (np.frombuffer(surface.get_buffer(), dtype=np.uint32) >> 24 == 0xAB).all()


@pytest.mark.parametrize("depth", [8, 16])
def test_other_depths_are_refused(depth):
    with pytest.raises(ValueError, match="target must have 24 or 32 bits"):
        Canvas(pygame.Surface(SIZE, 0, depth))


def test_not_a_surface():
    with pytest.raises(TypeError, match="target"):
        Canvas("screen")
