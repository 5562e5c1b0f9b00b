"""Camera: exact inverse, both y directions, tilt and perspective against hand-made projections."""

import math

import numpy as np
import pytest

from softkit.render import Camera

SIZE = (640, 480)
CAMERAS = [
    {},
    {"center": (100, -50), "zoom": 2.5},
    {"center": (1e6, 1e6), "zoom": 0.5, "rotation": 0.7},
    {"center": (3, 4), "zoom": 40, "rotation": -2.0, "y_up": True},
    {"center": (3, 4), "zoom": 2, "rotation": 0.3, "tilt": 0.6},
    {"center": (3, 4), "zoom": 2, "rotation": 0.3, "tilt": -0.6, "perspective": 900, "y_up": True},
    {"center": (0, 0), "zoom": 1, "perspective": 500},
]


@pytest.mark.parametrize("options", CAMERAS)
def test_to_world_inverts_to_screen(options):
    camera = Camera(**options, size=SIZE)
    rng = np.random.default_rng(1)
    pixels = rng.uniform(-100, 600, (50, 2))
    world = camera.to_world(pixels)
    assert np.abs(camera.to_screen(world) - pixels).max() < 1e-9 * max(1, np.abs(world).max())
    lifted = np.column_stack([world, rng.uniform(-40, 40, 50)])
    again = camera.to_world(camera.to_screen(lifted))
    assert np.abs(again - lifted).max() < 1e-9 * max(1, np.abs(lifted).max())


@pytest.mark.parametrize("options", CAMERAS)
def test_one_point_equals_the_array(options):
    camera = Camera(**options, size=SIZE)
    for point in ((12.5, -7.0), (12.5, -7.0, 3.0)):
        one = camera.to_screen(point)
        assert isinstance(one, tuple) and len(one) == len(point)
        assert one == tuple(camera.to_screen(np.array([point]))[0])
        assert np.allclose(camera.to_world(one), point, rtol=1e-12, atol=1e-9)


def test_default_is_identity():
    camera = Camera(size=SIZE)
    assert camera.to_screen((12, 34)) == (12, 34)
    assert camera.rect == (0, 0, 640, 480)


def test_y_up_starts_at_the_bottom_left_corner():
    camera = Camera(size=SIZE, y_up=True)
    assert camera.to_screen((0, 0)) == (0, 480)
    assert camera.to_screen((640, 480)) == (640, 0)


def test_rotation_keeps_a_turned_body_upright():
    for up in (False, True):
        camera = Camera((0, 0), rotation=0.4, size=SIZE, y_up=up)
        x, y = camera.to_screen((100 * math.cos(0.4), 100 * math.sin(0.4)))
        assert (x, y) == pytest.approx((420, 240))


def test_tilt_and_perspective_by_hand():
    camera = Camera((0, 0), tilt=0.5, perspective=400, size=SIZE, zoom=2)
    y, z = 30.0, 20.0
    depth = -math.sin(0.5) * y + math.cos(0.5) * z
    scale = 2 * 400 / (400 - depth)
    expected = (320 + 10 * scale, 240 + (math.cos(0.5) * y + math.sin(0.5) * z) * scale, depth)
    assert camera.to_screen((10.0, y, z)) == pytest.approx(expected, abs=1e-12)


def test_to_world_at_a_height():
    camera = Camera((5, 6), tilt=0.7, perspective=300, rotation=0.2, size=SIZE)
    x, y = camera.to_world((400, 300), z=25)
    assert camera.to_screen((x, y, 25))[:2] == pytest.approx((400, 300), abs=1e-9)


def test_behind_the_eye_stays_finite():
    camera = Camera((0, 0), perspective=100, tilt=1.0, size=SIZE)
    assert np.isfinite(camera.to_screen(np.array([(0, 0, 1e6), (0, -1e6, 100.0)]))).all()
    assert np.isfinite(camera.to_world(np.array([(320.0, -1e5)]))).all()


def test_rect_contains_what_is_seen():
    camera = Camera((10, 20), zoom=2, rotation=math.pi / 2, size=SIZE)
    assert camera.rect == pytest.approx((10 - 120, 20 - 160, 240, 320))


def test_pan_and_zoom_at_keep_the_point_under_the_cursor():
    for options in CAMERAS:
        camera = Camera(**options, size=SIZE)
        before = camera.to_world((100, 80))
        camera.zoom_at((100, 80), 1.7)
        assert camera.to_world((100, 80)) == pytest.approx(before, rel=1e-9, abs=1e-7)
    camera = Camera((0, 0), zoom=2, rotation=0.3, size=SIZE)
    before = camera.to_world((100, 80))
    camera.pan(15, -9)
    assert camera.to_world((115, 71)) == pytest.approx(before, abs=1e-9)


def test_zoom_and_tilt_are_kept_in_range():
    assert Camera(zoom=1e30).zoom == 1e5
    assert Camera(tilt=3).tilt == 1.4


@pytest.mark.parametrize(
    "options, error, name",
    [
        ({"center": (math.nan, 0)}, ValueError, "center"),
        ({"center": 3}, TypeError, "center"),
        ({"zoom": 0}, ValueError, "zoom"),
        ({"zoom": -1}, ValueError, "zoom"),
        ({"zoom": "2"}, TypeError, "zoom"),
        ({"zoom": math.inf}, ValueError, "zoom"),
        ({"rotation": math.nan}, ValueError, "rotation"),
        ({"rotation": None}, TypeError, "rotation"),
        ({"perspective": 0}, ValueError, "perspective"),
        ({"perspective": "far"}, TypeError, "perspective"),
        ({"tilt": math.inf}, ValueError, "tilt"),
        ({"y_up": 1}, TypeError, "y_up"),
        ({"size": (0, 10)}, ValueError, "size"),
    ],
)
def test_wrong_arguments_are_named(options, error, name):
    with pytest.raises(error, match=name):
        Camera(**options)
    camera = Camera(size=SIZE)
    before = repr(camera)
    ((key, value),) = options.items()
    with pytest.raises(error, match=name):
        setattr(camera, key, value)
    assert repr(camera) == before


def test_points_of_wrong_shape():
    for bad in (np.zeros((3, 4)), np.zeros(5), 7.0):
        with pytest.raises(ValueError, match="points"):
            Camera(size=SIZE).to_screen(bad)
