"""Free particles and fields, drawn."""

import numpy as np
import pygame
import pymunk
import pytest

import softkit
from softkit import fields
from softkit.emitters import Source
from softkit.particles import Particles
from softkit.render import Camera, RenderWarning, View
from softkit.render.field_painter import FieldPainter


def scene(area=(200, 120), flags=0, depth=32, camera=None, **options):
    world = softkit.World(pymunk.Space())
    pool = world.add(Particles(5000, lifetime=100, **{"alpha": 1, "size": 10, **options}))
    surface = pygame.Surface(area, flags, depth)
    return world, pool, surface, View(surface, camera)


def pixels(surface):
    return pygame.surfarray.array3d(surface).astype(int)


@pytest.mark.parametrize("depth", [24, 32])
@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("shape", ["dot", "disc", "glow"])
def test_a_dot_is_round_and_where_its_particle_is(depth, additive, shape):
    world, pool, surface, view = scene(depth=depth, color=(200, 100, 50))
    pool.add([(60.5, 40.5)])
    view.style(pool, additive=additive, shape=shape)
    view.draw(world)
    got = pixels(surface)
    assert got[60, 40].tolist() == pytest.approx([200, 100, 50], abs=4)
    red = got[:, :, 0]
    xs, ys = np.nonzero(red)
    assert np.hypot(xs - 60, ys - 40).max() <= 5.5
    assert np.array_equal(red[50:71, 30:51], red[50:71, 30:51].T)  # round about (60, 40)
    weight = red / red.sum()
    assert (weight.sum(axis=1) @ np.arange(200), weight.sum(axis=0) @ np.arange(120)) == pytest.approx(
        (60, 40)
    )


def test_light_adds_up_and_holds_at_white():
    world, pool, surface, view = scene(color=(100, 60, 20))
    view.style(pool, additive=True, shape="disc")
    pool.add([(50.5, 50.5)] * 2)
    view.draw(world)
    assert pixels(surface)[50, 50].tolist() == pytest.approx([200, 120, 40], abs=3)
    pool.add([(50.5, 50.5)] * 20)
    surface.fill(0)
    view.draw(world)
    assert pixels(surface)[50, 50].tolist() == pytest.approx([255, 255, 255], abs=1)


def test_alpha_lays_over():
    world, pool, surface, view = scene(color=(255, 0, 0), alpha=0.5)
    surface.fill((0, 0, 200))
    view.style(pool, shape="disc")
    pool.add([(50.5, 50.5)])
    view.draw(world)
    assert pixels(surface)[50, 50].tolist() == pytest.approx([128, 0, 100], abs=3)


def test_dots_below_a_pixel_keep_their_light():
    totals = []
    for size in (0.3, 0.6, 1.2):
        world, pool, surface, view = scene()
        pool.look(size=size)
        view.style(pool, additive=True)
        pool.burst(4000, Source.rect(10, 10, 180, 100))
        view.draw(world)
        totals.append(pixels(surface).sum() / size**2)
    assert totals[1] == pytest.approx(totals[2], rel=0.35)


@pytest.mark.parametrize("picture", [False, True])
def test_the_same_bytes_at_any_thread_count(picture):
    shots = []
    for threads in (1, 2, 3, 8):
        softkit.set_threads(threads)
        try:
            world, pool, surface, view = scene(trail=3, spin=(-5, 5))
            pool.burst(5000, Source.rect(0, 0, 200, 120), speed=(0, 200))
            if picture:
                view.style(pool, picture=leaf())
            for _ in range(5):
                world.update(1 / 60)
            view.draw(world)
            shots.append(pixels(surface).tobytes())
        finally:
            softkit.set_threads(None)
    assert len(set(shots)) == 1


def leaf():
    picture = pygame.Surface((20, 10), pygame.SRCALPHA)
    picture.fill((255, 255, 255, 255))
    return picture


def test_a_picture_is_turned_scaled_and_tinted():
    world, pool, surface, view = scene(color=(0, 255, 0))
    pool.look(size=40)
    view.style(pool, picture=leaf())
    pool.burst(1, (100, 60), angle=np.pi / 2)
    view.draw(world)
    xs, ys = np.nonzero(pixels(surface)[:, :, 1] > 128)
    assert (np.ptp(xs) + 1, np.ptp(ys) + 1) == pytest.approx((20, 40), abs=1)
    assert pixels(surface)[100, 60].tolist() == [0, 255, 0]


def test_streaks_and_trails_reach_back():
    world, pool, surface, view = scene(trail=10, alpha=1, gravity_scale=0)
    pool.look(size=4)
    pool.add([(20, 60)], [(600, 0)])
    for _ in range(10):
        world.update(1 / 60)
    x = pool.positions[0, 0]
    view.interpolate = False
    for style, back in (
        ({"trails": False}, 3),
        ({"trails": False, "streak": 0.05}, 33),
        ({"streak": 0.0, "trails": True}, 76),
    ):
        surface.fill(0)
        view.style(pool, **style)
        view.draw(world)
        xs, _ = np.nonzero(pixels(surface)[:, :, 0] > 1)
        assert x - xs.min() == pytest.approx(back, abs=8)  # the far end fades to nothing


def test_camera_and_interpolation_are_followed():
    camera = Camera(center=(1e6, 0), zoom=2, rotation=0.5)
    world, pool, surface, view = scene(camera=camera)
    pool.add([(1e6 + 10, 5)], [(60, 0)])
    world.update(1.5 / 60)
    view.draw(world)
    assert world.alpha == pytest.approx(0.5)
    want = camera.to_screen(np.array([(1e6 + 10.5, 5.0)]))[0]
    xs, ys = np.nonzero(pixels(surface)[:, :, 0])
    assert (xs.mean() + 0.5, ys.mean() + 0.5) == pytest.approx(want, abs=0.6)
    assert np.ptp(xs) + 1 == pytest.approx(20, abs=2)  # 10 wu at zoom 2


def test_what_cannot_be_drawn_is_left_out_with_one_warning():
    world, pool, surface, view = scene()
    pool.add([(1e9, 0), (50, 50)])
    with pytest.warns(RenderWarning, match="1 point not drawn"):
        view.draw(world)
    assert pixels(surface)[50, 50].any()
    view.draw(world)


def test_odd_targets():
    for size, flags in (((1, 1), 0), ((0, 0), 0), ((64, 64), pygame.SRCALPHA)):
        world, pool, surface, view = scene(size, flags)
        pool.burst(100, Source.rect(-50, -50, 150, 150))
        view.draw(world)
    world, pool, surface, view = scene()
    surface.set_clip((20, 20, 10, 10))
    pool.burst(5000, Source.rect(0, 0, 200, 120))
    view.draw(world)
    xs, ys = np.nonzero(pixels(surface)[:, :, 0])
    assert xs.min() >= 20 and xs.max() < 30 and ys.min() >= 20 and ys.max() < 30


@pytest.mark.parametrize(
    ("style", "error"),
    [
        ({"shape": "star"}, ValueError),
        ({"picture": 3}, TypeError),
        ({"streak": -1}, ValueError),
        ({"glow": 1}, TypeError),
    ],
)
def test_wrong_styles_are_refused_by_name(style, error):
    _, pool, _, view = scene()
    with pytest.raises(error, match=next(iter(style))):
        view.style(pool, **style)


def test_heat_map_shows_strength():
    _, _, surface, view = scene()
    painter = FieldPainter(view)
    painter.heat(fields.Attractor((100, 60), 1e6, 30))
    got = pixels(surface)
    ring, far = got[100 + 21, 60], got[2, 2]
    assert (
        ring[0] > 150 and ring[0] > ring[2]
    )  # red where the pull is greatest, softening / sqrt(2) off the centre
    assert far[0] < 60
    surface.fill(0)
    painter.heat(fields.Gravity((0, 0)))
    assert not pixels(surface).any()
    painter.heat(fields.Gravity((0, 5)), top=10, stops=[(0, "black"), (1, "white")])
    assert pixels(surface)[50, 50].tolist() == pytest.approx([128] * 3, abs=2)
    with pytest.raises(ValueError, match="spacing"):
        painter.heat(fields.Gravity(), spacing=0)


def test_arrows_point_along_the_field():
    _, _, surface, view = scene((96, 96))
    FieldPainter(view).arrows(fields.Gravity((500, 0)), spacing=96, color="red")
    xs, ys = np.nonzero(pixels(surface)[:, :, 0] > 60)
    assert np.ptp(xs) > 60 and np.ptp(ys) < 40
    head = ys[xs > 60]
    assert np.ptp(head) > np.ptp(ys[xs < 40])  # the head is on the right
