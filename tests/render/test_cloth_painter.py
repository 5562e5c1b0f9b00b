"""Cloth in a View: before and behind the plane, light, styles, cameras, tears."""

import warnings

import numpy as np
import pygame
import pymunk
import pytest

from softkit.render import Camera, RenderWarning, View

SIZE = (200, 160)
BACK = (236, 233, 224)


class Cloth:
    """A sheet as View sees it: what softkit.Cloth offers to painters, without physics."""

    def __init__(self, n=8, origin=(50, 40, 0), size=(100, 80), image=None):
        x, y = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1))
        self.uvs = np.stack([x.ravel(), y.ravel()], axis=1)
        self.positions = np.array(origin, dtype=float) + np.column_stack(
            [self.uvs * size, np.zeros(len(self.uvs))]
        )
        i = (np.arange(n)[None] + np.arange(n)[:, None] * (n + 1)).ravel()
        upper, lower = (
            np.stack([i, i + 1, i + n + 1], axis=1),
            np.stack([i + 1, i + n + 2, i + n + 1], axis=1),
        )
        self.triangles = np.concatenate([upper, lower]).astype(np.int32)
        self.count = len(self.positions)
        self.image = image

    @property
    def previous_positions(self):
        return self.positions

    @property
    def normals(self):
        a, b, c = (self.positions[self.triangles[:, k]] for k in range(3))
        out = np.zeros_like(self.positions)
        for k in range(3):
            np.add.at(out, self.triangles[:, k], np.cross(b - a, c - a))
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)


class Scene:
    def __init__(self, *objects, hero=True):
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.objects = objects
        self.alpha = self.time = 0.0
        if hero:
            body = pymunk.Body(1, 1)
            body.position = (100, 80)
            shape = pymunk.Circle(body, 20)
            shape.color = (0, 0, 255, 255)
            self.space.add(body, shape)


def shot(scene, camera=None, **style):
    surface = pygame.Surface(SIZE, 0, 32)
    surface.fill(BACK)
    view = View(surface, camera)
    for obj in scene.objects:
        view.style(obj, color=(255, 0, 0), ambient=1)
        view.style(obj, **style)
    view.draw(scene)
    return surface


def test_behind_in_front_and_through_the_plane():
    for z, expected in ((-5, (0, 0, 255)), (5, (255, 0, 0)), (0, (255, 0, 0))):
        surface = shot(Scene(Cloth(origin=(50, 40, z))))
        assert surface.get_at((100, 88))[:3] == expected
        assert surface.get_at((60, 50))[:3] == (255, 0, 0)
    cloth = Cloth()
    cloth.positions[:, 2] = cloth.positions[:, 0] - 100  # through the plane at x = 100
    surface = shot(Scene(cloth))
    assert surface.get_at((90, 88))[:3] == (0, 0, 255) and surface.get_at((110, 88))[:3] == (255, 0, 0)
    for x in range(52, 148):
        assert surface.get_at((x, 50))[:3] == (255, 0, 0)  # no gap where it passes through


def test_sheets_hide_each_other_by_depth():
    low, high = Cloth(origin=(50, 40, 3)), Cloth(origin=(70, 50, 9))
    for objects in ((low, high), (high, low)):
        surface = pygame.Surface(SIZE, 0, 32)
        view = View(surface)
        view.style(low, color=(255, 0, 0), ambient=1)
        view.style(high, color=(0, 255, 0), ambient=1)
        view.draw(Scene(*objects, hero=False))
        assert surface.get_at((80, 60))[:3] == (0, 255, 0)
        assert surface.get_at((55, 45))[:3] == (255, 0, 0)


def test_image_is_shown_the_right_way_up_and_styles_win():
    picture = pygame.Surface((100, 80), 0, 32)
    picture.fill((0, 200, 0))
    picture.fill((200, 0, 0), (0, 0, 50, 40))
    surface = pygame.Surface(SIZE, 0, 32)
    cloth = Cloth(image=picture)
    view = View(surface)
    view.style(cloth, ambient=1)
    view.draw(Scene(cloth, hero=False))
    assert surface.get_at((60, 50))[:3] == (200, 0, 0) and surface.get_at((140, 110))[:3] == (0, 200, 0)
    other = pygame.Surface((4, 4), 0, 24)
    other.fill((9, 8, 200))
    view.style(cloth, texture=other)
    view.draw(Scene(cloth, hero=False))
    assert surface.get_at((60, 50))[:3] == (9, 8, 200)


def test_light_makes_slopes_differ():
    cloth = Cloth(n=20)
    cloth.positions[:, 2] = 12 * np.sin(cloth.positions[:, 0] / 10)
    surface = shot(Scene(cloth, hero=False), ambient=0.4)
    row = np.array([surface.get_at((x, 80))[0] for x in range(55, 145)])
    assert row.max() - row.min() > 60
    assert np.abs(np.diff(row.astype(int))).max() < 25
    flat = shot(Scene(Cloth(), hero=False), ambient=0.4)
    values = {flat.get_at((x, 80))[0] for x in range(55, 145)}
    assert max(values) - min(values) <= 1


def test_far_side_is_tinted():
    cloth = Cloth()
    cloth.positions[:, 0] = 200 - cloth.positions[:, 0]  # mirrored: seen from behind
    surface = shot(Scene(cloth, hero=False), back=(128, 128, 128))
    assert abs(surface.get_at((100, 80))[0] - 128) <= 2
    up = shot(Scene(Cloth(), hero=False), Camera((100, 80), y_up=True), back=(128, 128, 128))
    assert up.get_at((100, 80))[0] == 255  # turning the y axis does not swap the sides


def test_opacity():
    surface = shot(Scene(Cloth(), hero=False), opacity=0.5)
    expected = np.array((255, 0, 0)) * 0.5 + np.array(BACK) * 0.5
    assert np.abs(np.array(surface.get_at((100, 80))[:3]) - expected).max() <= 1.5


@pytest.mark.parametrize("tilt", [-0.8, 0.0, 0.6])
@pytest.mark.parametrize("perspective", [None, 300])
def test_corners_lie_where_the_camera_says(tilt, perspective):
    camera = Camera((100, 80), 1.1, 0.2, perspective, tilt)
    cloth = Cloth(n=1)
    cloth.positions[:, 2] = (0, 20, -20, 10)
    surface = shot(Scene(cloth, hero=False), camera)
    drawn = np.argwhere(np.abs(pygame.surfarray.array3d(surface).astype(int) - BACK).sum(axis=2) > 150)
    corners = camera.to_screen(cloth.positions)[:, :2]
    assert np.abs(drawn.min(axis=0) - corners.min(axis=0)).max() < 2
    assert np.abs(drawn.max(axis=0) + 1 - corners.max(axis=0)).max() < 2


def test_perspective_keeps_textures_straight():
    """One large quad in perspective: the picture's middle lies where the camera sees the sheet's middle."""
    picture = pygame.Surface((64, 64), 0, 32)
    picture.fill((255, 255, 255))
    picture.fill((0, 0, 0), (30, 30, 4, 4))
    cloth = Cloth(n=1, image=picture)
    cloth.positions[:, 2] = cloth.positions[:, 1] - 80
    camera = Camera((100, 80), perspective=150, tilt=-0.5)
    surface = shot(Scene(cloth, hero=False), camera, color="white")
    dark = np.argwhere(pygame.surfarray.array3d(surface).max(axis=2) < 90)
    middle = camera.to_screen(cloth.positions.mean(axis=0))[:2]
    assert len(dark) > 5 and np.abs(dark.mean(axis=0) + 0.5 - middle).max() < 1.5


def test_tears_open_holes():
    cloth = Cloth()
    scene = Scene(cloth, hero=False)
    surface = pygame.Surface(SIZE, 0, 32)
    view = View(surface)
    view.draw(scene)
    assert surface.get_at((98, 78))[:3] != (0, 0, 0)
    centre = cloth.positions[cloth.triangles].mean(axis=1)
    cloth.triangles = cloth.triangles[np.abs(centre[:, :2] - (100, 80)).max(axis=1) > 15]
    surface.fill(0)
    view.draw(scene)
    assert surface.get_at((98, 78))[:3] == (0, 0, 0) and surface.get_at((60, 50))[:3] != (0, 0, 0)
    cloth.triangles = cloth.triangles[:0]
    surface.fill(0)
    view.draw(scene)
    assert pygame.surfarray.array3d(surface).max() == 0


def test_bad_points():
    cloth, lost = Cloth(), Cloth()
    cloth.positions[40] = np.nan
    lost.positions[:] = np.nan
    surface = pygame.Surface(SIZE, 0, 32)
    view = View(surface)
    scene = Scene(cloth, lost, hero=False)
    with pytest.warns(RenderWarning) as seen:
        view.draw(scene)
    assert sum(issubclass(w.category, RenderWarning) for w in seen) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view.draw(scene)
    assert surface.get_at((55, 45))[:3] != (0, 0, 0)


def test_hidden_and_wrong_styles():
    cloth = Cloth()
    surface = shot(Scene(cloth, hero=False), hidden=True)
    assert surface.get_at((100, 80))[:3] == BACK
    view = View(pygame.Surface(SIZE, 0, 32))
    for style, error in (({"opacity": 2}, ValueError), ({"texture": 3}, TypeError), ({"glow": 1}, TypeError)):
        with pytest.raises(error, match=next(iter(style))):
            view.style(cloth, **style)


def test_paused_twice_and_back_to_the_same_bytes():
    cloth = Cloth(n=30)
    cloth.positions[:, 2] = 12 * np.sin(cloth.positions[:, 0] / 10)
    scene = Scene(cloth)
    surface = pygame.Surface(SIZE, 0, 32)
    view = View(surface)
    view.draw(scene)
    first = surface.get_buffer().raw
    surface.fill(0)
    view.draw(scene)
    assert surface.get_buffer().raw == first
