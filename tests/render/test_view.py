"""View: what is drawn where, styles, pauses, bad values, memory."""

import gc
import math
import os
import warnings

import numpy as np
import pygame
import pymunk
import pytest

import softkit
from softkit.render import Camera, RenderWarning, View
from softkit.render.painter import live_points

SIZE = (320, 240)
BACK = (236, 233, 224)


def scene(gravity=(0, 900)):
    space = pymunk.Space()
    space.gravity = gravity
    floor = pymunk.Segment(space.static_body, (0, 220), (320, 220), 6)
    space.add(floor)
    for i in range(4):
        body = pymunk.Body(1, 200)
        body.position = (60 + 60 * i, 120)
        shape = [
            pymunk.Circle(body, 14),
            pymunk.Poly.create_box(body, (24, 24)),
            pymunk.Poly.create_box(body, (20, 20), 5),
            pymunk.Segment(body, (-12, 0), (12, 0), 5),
        ][i]
        space.add(body, shape)
    platform = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    platform.position = (200, 60)
    space.add(platform, pymunk.Poly.create_box(platform, (60, 8)))
    world = softkit.World(space)
    rope = world.add(softkit.Rope((40, 30), (140, 30), segments=20, radius=3))
    rope.pin(0)
    rope.attach(-1, platform, (-30, 0))
    return world, rope, platform


def blank(size=SIZE):
    surface = pygame.Surface(size, 0, 32)
    surface.fill(BACK)
    return surface


def picture(world, view):
    view.target.fill(BACK)
    view.draw(world)
    return view.target.get_buffer().raw


def test_every_shape_is_drawn_where_it_is():
    world, rope, _ = scene()
    view = View(blank())
    view.draw(world)
    for body in world.space.bodies:
        assert view.target.get_at(tuple(map(int, body.position)))[:3] != BACK
    assert view.target.get_at((160, 219))[:3] != BACK
    middle = rope.positions[10]
    assert view.target.get_at(tuple(int(v) for v in middle))[:3] != BACK
    assert view.target.get_at((5, 100))[:3] == BACK


def test_gravity_up_turns_the_picture():
    world, _, _ = scene((0, -900))
    view = View(blank())
    view.draw(world)
    assert view.target.get_at((160, 240 - 220))[:3] != BACK
    assert view.target.get_at((160, 219))[:3] == BACK
    view.camera.y_up = False
    view.target.fill(BACK)
    view.draw(world)
    assert view.target.get_at((160, 219))[:3] != BACK


@pytest.mark.parametrize(
    "camera",
    [
        Camera((160, 120), 3, 0.5),
        Camera((160, 120), 0.2),
        Camera((160, 120), 1, 0.2, perspective=400, tilt=0.6),
        Camera((160, 120), 1, tilt=-0.9),
        Camera((1e6, 1e6), 1),
    ],
    ids=repr,
)
def test_any_camera(camera):
    world, _, _ = scene()
    view = View(blank(), camera)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view.draw(world)
        view.draw_debug(world)
        view.draw_hud(world)
    body = next(iter(world.space.bodies))
    x, y = camera.to_screen(tuple(body.position))
    if 0 <= x < 320 and 0 <= y < 240:
        view.target.fill(BACK)
        view.draw(world)
        assert view.target.get_at((int(x), int(y)))[:3] != BACK


def test_zoom_scales_widths():
    world, rope, _ = scene()
    x, y = rope.positions[5]
    for zoom in (1, 4):
        view = View(blank(), Camera((x, y), zoom))
        view.style(rope, color="black", outline="black", shine=0)
        view.draw(world)
        column = [view.target.get_at((160, r))[0] < 60 for r in range(240)]
        assert sum(column) == pytest.approx(6 * zoom, abs=1)


def test_paused_frames_are_identical_bytes():
    """Case R21: nothing shivers while the game is paused."""
    world, _, platform = scene()
    platform.velocity = (600, 0)
    for _ in range(5):
        world.update(1 / 60)
    world.update(0.4 / 60)
    view = View(blank())
    first = picture(world, view)
    for _ in range(10):
        world.update(0)
        assert picture(world, view) == first


def test_rope_end_lies_on_its_interpolated_anchor():
    """Case R21: at any alpha the drawn end is where the drawn body has its anchor."""
    world, rope, platform = scene()
    platform.velocity = (600, 0)
    platform.angular_velocity = 3
    for _ in range(5):
        world.update(1 / 60)
    for part in (0.0, 0.5, 0.49):
        world.update(part / 60)
        x, y, angle = world.body_pose(platform)
        expected = (x - 30 * math.cos(angle), y - 30 * math.sin(angle))
        assert np.abs(live_points(world, rope)[-1] - expected).max() < 1e-9


def test_interpolation_can_be_switched_off():
    world, rope, _ = scene()
    for _ in range(5):
        world.update(1 / 60)
    world.update(0.5 / 60)
    half = rope.previous_positions + world.alpha * (rope.positions - rope.previous_positions)
    assert np.abs(live_points(world, rope)[10] - half[10]).max() < 1e-12
    assert np.array_equal(live_points(world, rope, False), rope.positions)
    assert picture(world, View(blank())) != picture(world, View(blank(), interpolate=False))


class Broken:
    """The world with some bodies shown at impossible places."""

    def __init__(self, world, poses):
        self.world = world
        self.poses = poses

    def __getattr__(self, name):
        return getattr(self.world, name)

    def body_pose(self, body):
        return self.poses.get(body) or self.world.body_pose(body)


def test_bad_values_are_left_out_with_one_warning_each():
    """Case E05."""
    world, rope, _ = scene()
    nan, far = next(iter(world.space.bodies)), list(world.space.bodies)[1]
    rope._x[7] = np.nan
    broken = Broken(world, {nan: (math.nan, 0, 0), far: (1e12, 0, 0)})
    view = View(blank(), interpolate=True)
    with pytest.warns(RenderWarning) as seen:
        view.draw(broken)
    said = [str(w.message) for w in seen if issubclass(w.category, RenderWarning)]
    assert len(said) == 3
    assert all(sum(f"id {body.id}:" in text for text in said) == 1 for body in (nan, far))
    assert any("Rope" in text and "1 point" in text for text in said)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view.draw(broken)
    other = list(world.space.bodies)[2].position
    assert view.target.get_at((int(other.x), int(other.y)))[:3] != BACK
    assert view.target.get_at(tuple(int(v) for v in rope.positions[3]))[:3] != BACK


def test_styles_and_shape_color():
    world, rope, _ = scene()
    view = View(blank())
    circle = next(s for s in world.space.shapes if isinstance(s, pymunk.Circle))
    at = tuple(map(int, circle.body.position))
    circle.color = (10, 200, 30, 255)
    view.draw(world)
    assert view.target.get_at((at[0], at[1] + 5))[:3] == (10, 200, 30)
    circle.color = (200, 20, 30, 255)
    view.draw(world)
    assert view.target.get_at((at[0], at[1] + 5))[:3] == (200, 20, 30)
    view.style(circle.body, color="blue")
    view.draw(world)
    assert view.target.get_at((at[0], at[1] + 5))[:3] == (0, 0, 255)
    view.style(circle, hidden=True)
    view.style(rope, hidden=True)
    view.target.fill(BACK)
    view.draw(world)
    assert view.target.get_at(at)[:3] == BACK
    assert view.target.get_at(tuple(int(v) for v in rope.positions[10]))[:3] == BACK


def test_sensor_is_translucent_and_sleepers_are_grayed():
    space = pymunk.Space()
    space.sleep_time_threshold = 0.1
    body = pymunk.Body(1, 100)
    body.position = (60, 60)
    shape = pymunk.Circle(body, 20)
    shape.color = (255, 0, 0, 255)
    space.add(body, shape)
    world = softkit.World(space)
    view = View(blank())
    view.draw(world)
    assert view.target.get_at((60, 66))[:3] == (255, 0, 0)
    body.sleep()
    view.target.fill(BACK)
    view.draw(world)
    assert 100 < view.target.get_at((60, 66))[0] < 220
    body.activate()
    shape.sensor = True
    view.target.fill(BACK)
    view.draw(world)
    red, green, _ = view.target.get_at((60, 66))[:3]
    assert red > 230 and 120 < green < 220


def test_rope_styles_change_the_picture():
    world, rope, _ = scene()
    for _ in range(10):
        world.update(1 / 60)
    view = View(blank())
    pictures = {picture(world, view)}
    strip = pygame.Surface((8, 6), 0, 32)
    strip.fill((0, 200, 0))
    strip.fill((200, 0, 0), (0, 0, 4, 6))
    for style in (
        {"color": "navy"},
        {"width": 12},
        {"by_tension": True},
        {"by_tension": False, "texture": strip},
    ):
        view.style(rope, **style)
        pictures.add(picture(world, view))
    assert len(pictures) == 5


def view_body(world):
    return next(iter(world.space.bodies))


@pytest.mark.parametrize(
    "kind, style, error",
    [
        ("rope", {"colour": "red"}, TypeError),
        ("rope", {"color": "no such colour"}, ValueError),
        ("rope", {"color": (1, 2, 300)}, ValueError),
        ("rope", {"color": 5}, TypeError),
        ("rope", {"width": 0}, ValueError),
        ("rope", {"shine": 2}, ValueError),
        ("rope", {"texture": "picture.png"}, TypeError),
        ("shape", {"texture": 3}, TypeError),
        ("shape", {"outline_width": -1}, ValueError),
        ("shape", {"by_tension": True}, TypeError),
        ("body", {"colour": "red"}, TypeError),
    ],
)
def test_wrong_styles_are_named_and_change_nothing(kind, style, error):
    world, rope, _ = scene()
    view = View(blank())
    before = picture(world, view)
    obj = {"rope": rope, "shape": next(iter(world.space.shapes)), "body": view_body(world)}[kind]
    with pytest.raises(error, match=next(iter(style))):
        view.style(obj, **style)
    assert picture(world, view) == before


def test_style_of_something_else():
    with pytest.raises(TypeError, match="obj"):
        View(blank()).style(object(), color="red")


def test_wrong_view_arguments():
    with pytest.raises(TypeError, match="target"):
        View("screen")
    with pytest.raises(TypeError, match="camera"):
        View(blank(), (0, 0))
    with pytest.raises(ValueError, match="target"):
        View(pygame.Surface(SIZE, 0, 16))


def test_shapes_may_come_go_and_change_between_frames():
    world, _, platform = scene()
    view = View(blank())
    view.draw(world)
    space = world.space
    for shape in list(platform.shapes):
        space.remove(shape)
    view.target.fill(BACK)
    view.draw(world)
    assert view.target.get_at((215, 60))[:3] == BACK
    space.add(pymunk.Circle(platform, 20))
    view.draw(world)
    assert view.target.get_at((215, 60))[:3] != BACK
    ball = next(s for s in space.shapes if s.body is platform)
    ball.unsafe_set_radius(4)
    view.target.fill(BACK)
    view.draw(world)
    assert view.target.get_at((215, 60))[:3] == BACK
    space.remove(*space.shapes)
    view.target.fill(BACK)
    view.draw(world)
    assert view.target.get_at((160, 219))[:3] == BACK


def test_target_may_be_replaced():
    world, _, _ = scene()
    view = View(blank())
    view.draw(world)
    view.target = blank((640, 480))
    view.draw(world)
    assert view.camera.size == (640, 480)
    assert view.target.get_at((160, 219))[:3] != BACK


def test_world_without_space():
    world = softkit.World(gravity=(0, 900))
    rope = world.add(softkit.Rope((20, 50), (120, 50), radius=3))
    view = View(blank())
    view.draw(world)
    view.draw_hud(world)
    assert view.target.get_at(tuple(int(v) for v in rope.positions[10]))[:3] != BACK


def test_drawing_changes_nothing_in_the_world():
    world, _, _ = scene()
    view = View(blank())
    before = world.state_hash()
    view.debug = True
    for _ in range(3):
        view.draw(world)
        view.draw_hud(world)
    assert world.state_hash() == before


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the memory in use from /proc")
def test_memory_is_flat_over_many_frames():
    """Case E07: 600 frames of everything grow the process by less than 2 MB and leave no objects behind."""
    world, _, _ = scene()
    view = View(blank())
    view.debug = True

    def frames(count):
        for _ in range(count):
            world.update(1 / 60)
            view.draw(world)
            view.draw_hud(world)

    frames(100)
    gc.collect()
    memory, objects = resident(), len(gc.get_objects())
    frames(600)
    gc.collect()
    assert resident() - memory < 2e6
    assert len(gc.get_objects()) - objects < 100
    made = 0
    for _ in range(300):
        rope = world.add(softkit.Rope((40, 30), (140, 30)))
        body = pymunk.Body(1, 100)
        shape = pymunk.Circle(body, 5)
        world.space.add(body, shape)
        view.style(rope, color="red")
        view.draw(world)
        world.remove(rope)
        world.space.remove(body, shape)
        del rope, body, shape
        made += 1
    view.draw(world)
    gc.collect()
    assert made == 300 and len(view._styles) == 0
    assert resident() - memory < 4e6


def test_pictures_on_shapes_turn_with_their_body():
    world, _, _ = scene()
    picture = pygame.Surface((20, 20), 0, 32)
    picture.fill((0, 200, 0))
    picture.fill((200, 0, 0), (0, 0, 10, 20))
    view = View(blank())
    for body in world.space.bodies:
        view.style(body, texture=picture)
    view.draw(world)
    for body in world.space.bodies:
        x, y = map(int, body.position)
        assert view.target.get_at((x - 5, y))[:3] == (200, 0, 0)
        assert view.target.get_at((x + 5, y))[:3] == (0, 200, 0)
    assert view.target.get_at((180, 60))[:3] == (200, 0, 0) and view.target.get_at((227, 60))[:3] == (
        0,
        200,
        0,
    )
    ball = next(iter(world.space.bodies))
    ball.angle = math.pi
    view.draw(world)
    x, y = map(int, ball.position)
    assert view.target.get_at((x - 5, y))[:3] == (0, 200, 0) and view.target.get_at((x, y - 16))[:3] == BACK
    view.style(ball, texture=None)
    view.draw(world)
    assert view.target.get_at((x - 5, y))[:3] not in ((0, 200, 0), (200, 0, 0))
