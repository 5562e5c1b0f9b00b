"""Soft bodies in a View: outlines, light, pictures on the rest shape, the plane, and bad values."""

import math
import warnings

import numpy as np
import pygame
import pymunk
import pytest

import softkit
from softkit import SoftBody
from softkit.render import RenderWarning, View
from softkit.render.softbody_skin import Outlines, PlanarSkin, SolidSkin
from softkit.softbody_fill import inner_points, mean_value_weights, triangulate
from softkit.softbody_shapes import signed_area

SIZE = (200, 160)
BACK = (236, 233, 224)
RED, BLUE = (255, 0, 0), (0, 0, 255)
ARROW = [(40, 40), (120, 40), (120, 120), (80, 70), (40, 120)]


def scene(*bodies, ball=False):
    space = pymunk.Space()
    if ball:
        body = pymunk.Body(1, 1)
        body.position = 100, 80
        shape = pymunk.Circle(body, 20)
        shape.color = (*BLUE, 255)
        space.add(body, shape)
    world = softkit.World(space)
    world.add(*bodies)
    return world


def shot(world, **style):
    surface = pygame.Surface(SIZE, 0, 32)
    surface.fill(BACK)
    view = View(surface)
    for body in world.objects:
        view.style(body, **style)
    view.draw(world)
    return surface


def covered(surface):
    pixels = pygame.surfarray.array3d(surface).astype(int)
    return int((np.abs(pixels - BACK).sum(axis=2) > 200).sum())


def quarters():
    """A picture of four colours: top left red, top right green, bottom left blue, bottom right white."""
    picture = pygame.Surface((64, 64), 0, 32)
    for k, color in enumerate((RED, (0, 255, 0), BLUE, (255, 255, 255))):
        picture.fill(color, (32 * (k % 2), 32 * (k // 2), 32, 32))
    return picture


def test_a_disc_is_filled_to_its_contact_radius():
    body = SoftBody.circle((100, 80), 40, skin=6)
    surface = shot(scene(body), color=RED, shine=0, outline_width=0)
    assert covered(surface) == pytest.approx(math.pi * 46**2, rel=0.01)
    assert surface.get_at((100, 80))[:3] == RED
    assert surface.get_at((144, 80))[:3] == RED and surface.get_at((148, 80))[:3] == BACK


@pytest.mark.parametrize("order", [1, -1])
def test_a_concave_outline_keeps_its_hollow(order):
    body = SoftBody.polygon(ARROW[::order], spacing=8, radius=2)
    surface = shot(scene(body), color=RED, outline_width=0, shine=0)
    assert surface.get_at((80, 105))[:3] == BACK and surface.get_at((80, 55))[:3] == RED
    # 2 wu more than the outline all round: its length is 343
    assert covered(surface) == pytest.approx(body.area + 2 * 343, rel=0.02)


def test_curves_pass_through_every_particle_and_are_round():
    angle = np.arange(12) * math.tau / 12
    ring = 50 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    outlines = Outlines([12, 12], [8, 4])
    curve = outlines.smooth(np.concatenate([ring, ring + 200]))
    assert np.allclose(curve[:96:8], ring) and np.allclose(curve[96::4], ring + 200)
    assert np.abs(np.hypot(*curve[:96].T) - 50).max() < 0.15  # the chords are 1.7 inside
    assert np.allclose(outlines.normals(curve)[:96:8], ring / 50, atol=1e-6)


def test_rim_is_light_above_and_dark_below():
    surface = shot(scene(SoftBody.circle((100, 80), 50)), color=(128, 128, 128), shine=1, outline_width=0)
    column = [surface.get_at((100, y))[0] for y in range(28, 133)]
    assert max(column[:20]) > 180 and min(column[-20:]) < 100 and column[52] == 128


def test_a_picture_lies_on_the_rest_shape_and_turns_with_it():
    for body in (
        SoftBody.circle((100, 80), 40),
        SoftBody.lattice(5, 5, spacing=16, origin=(68, 48)),
        SoftBody.polygon([(60, 40), (140, 40), (140, 120), (60, 120)]),
    ):
        world = scene(body)
        surface = shot(world, texture=quarters())
        for x, y, color in (
            (82, 62, RED),
            (118, 62, (0, 255, 0)),
            (82, 98, BLUE),
            (118, 98, (255, 255, 255)),
        ):
            assert surface.get_at((x, y))[:3] == color
        rest = body.positions - (100, 80)
        body._x[:] = np.stack([-rest[:, 1], rest[:, 0]], axis=1) + (100, 80)
        body._previous[:] = body._x
        surface = shot(world, texture=quarters())
        assert surface.get_at((118, 62))[:3] == RED and surface.get_at((82, 62))[:3] == BLUE


def test_a_picture_covers_the_body_without_holes():
    world = scene(SoftBody.polygon(ARROW, spacing=8, radius=2))
    plain = covered(shot(world, color=RED, outline_width=0, shine=0, smooth=False))
    black = pygame.Surface((8, 8), 0, 32)
    assert covered(shot(world, texture=black)) == pytest.approx(plain, rel=0.01)


def test_fill_is_whole_and_follows_affine_maps():
    star = [
        ((60 if k % 2 else 25) * math.sin(math.pi * k / 7), (60 if k % 2 else 25) * math.cos(math.pi * k / 7))
        for k in range(14)
    ]
    for ring in (np.array(star), np.array(star[::-1]), np.array(ARROW, float), np.array(ARROW[:3], float)):
        inner = inner_points(ring)
        points = np.concatenate([ring, inner])
        cells = triangulate(ring, inner)
        areas = np.array([signed_area(points[c]) for c in cells])
        assert (areas * signed_area(ring) > 0).all() and areas.sum() == pytest.approx(signed_area(ring))
        assert len(cells) == len(ring) - 2 + 2 * len(inner)
        weights = mean_value_weights(inner, ring)
        turn = np.array([[0.3, 1.2], [-0.9, 0.4]])
        assert np.allclose(weights @ (ring @ turn + 7), inner @ turn + 7)


def test_a_solid_is_behind_or_before_the_plane():
    for z, expected in ((-40, BLUE), (10, RED)):
        world = scene(SoftBody.lattice(3, 3, 3, spacing=15, origin=(85, 65, z)), ball=True)
        surface = shot(world, color=RED, ambient=1)
        assert surface.get_at((100, 88))[:3] == expected
    assert covered(surface) >= 36**2


def test_a_solid_is_lit_sharp_at_its_edges():
    body = SoftBody.lattice(3, 3, 3, spacing=30, origin=(70, 50, 0))
    skin = SolidSkin(body)
    assert skin.groups == 6 * 9 and skin.mesh.triangles.max() == len(skin.particle) - 1
    places, normals = skin.follow(np.asarray(body.positions), 2.0)
    assert np.allclose(places.min(axis=0), (68, 48, -2)) and np.allclose(places.max(axis=0), (132, 112, 62))
    assert np.allclose(np.abs(normals).max(axis=1), 1)
    body._x[:] = turned(body._x, 0.6)
    body._previous[:] = body._x
    surface = shot(scene(body), color=(200, 200, 200))
    found = {surface.get_at((x, y))[:3] for x in range(60, 141, 4) for y in range(45, 116, 5)} - {BACK}
    assert len(found) > 2, "sides of a cube differ in light"


def turned(x, angle):
    """Round the axis (1, 1, 0) through the centre."""
    axis = np.array([1, 1, 0]) / math.sqrt(2)
    p = x - x.mean(axis=0)
    across = np.cross(axis, p)
    along = np.outer(p @ axis, axis)
    return x.mean(axis=0) + along + math.cos(angle) * (p - along) + math.sin(angle) * across


def test_a_picture_on_a_solid_is_upright_on_each_side():
    body = SoftBody.lattice(3, 3, 3, spacing=30, origin=(70, 50, 0))
    surface = shot(scene(body), texture=quarters(), ambient=1)
    for x, y, color in ((85, 65, RED), (115, 65, (0, 255, 0)), (85, 95, BLUE), (115, 95, (255, 255, 255))):
        assert surface.get_at((x, y))[:3] == color
    # a quarter turn round y: the side that was to the right or to the left comes to the front
    for sign in (1, -1):
        other = SoftBody.lattice(3, 3, 3, spacing=30, origin=(70, 50, 0))
        p = other._x - (100, 80, 30)
        other._x[:] = np.stack([sign * p[:, 2], p[:, 1], -sign * p[:, 0]], axis=1) + (100, 80, 30)
        other._previous[:] = other._x
        surface = shot(scene(other), texture=quarters(), ambient=1)
        assert surface.get_at((85, 65))[:3] == RED and surface.get_at((115, 95))[:3] == (255, 255, 255)


def test_own_places_in_the_picture():
    body = SoftBody.lattice(3, 3, 3, spacing=30, origin=(70, 50, 0))
    surface = shot(scene(body), texture=quarters(), ambient=1, uvs=np.full((27, 2), 0.75))
    assert surface.get_at((100, 80))[:3] == (255, 255, 255)


def test_bodies_without_an_inside_are_drawn_as_links():
    row = SoftBody.lattice(9, 1, spacing=10, origin=(60, 40), radius=3)
    sheet = SoftBody.lattice(5, 1, 5, spacing=10, origin=(60, 100, 0), radius=3)
    surface = shot(scene(row, sheet), color=RED)
    assert surface.get_at((100, 40))[:3] == RED and surface.get_at((80, 100))[:3] == RED


def test_styles_are_checked():
    body = SoftBody.circle((100, 80), 40)
    view = View(pygame.Surface(SIZE, 0, 32))
    before = view.style_of(body)
    for error, style in (
        (TypeError, {"texture": "wood.png"}),
        (TypeError, {"gloss": 1}),
        (ValueError, {"color": (300, 0, 0)}),
        (ValueError, {"opacity": 2}),
        (ValueError, {"shine": math.nan}),
        (ValueError, {"outline_width": -1}),
        (ValueError, {"uvs": [[0, math.inf]]}),
        (ValueError, {"uvs": [1, 2]}),
    ):
        with pytest.raises(error, match=next(iter(style))):
            view.style(body, **style)
    assert view.style_of(body) == before
    world = scene(body)
    assert covered(shot(world, hidden=True)) == 0
    faint = shot(world, color=(0, 0, 0), opacity=0.5).get_at((100, 80))[0]
    assert abs(faint - BACK[0] / 2) < 3


@pytest.mark.parametrize("make", [lambda: SoftBody.circle((100, 80), 40), lambda: SoftBody.lattice(3, 3, 3)])
@pytest.mark.parametrize("texture", [False, True])
def test_what_is_not_finite_is_left_out_and_said_once(make, texture):
    body = make()
    world = scene(body)
    surface = pygame.Surface(SIZE, 0, 32)
    view = View(surface)
    if texture:
        view.style(body, texture=quarters())
    body._x[:] = math.nan
    with pytest.warns(RenderWarning, match="SoftBody"):
        view.draw(world)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        view.draw(world)
    body._x[:] = 1e300
    view.draw(world)


def test_drawing_changes_nothing_and_threads_give_the_same_bytes():
    bodies = [
        SoftBody.circle((60, 50), 30),
        SoftBody.lattice(4, 4, spacing=12, origin=(100, 20)),
        SoftBody.lattice(3, 3, 3, spacing=15, origin=(120, 90, -10)),
    ]
    world = scene(*bodies)
    before = world.state_hash()
    found = set()
    for threads in (1, 2, 4):
        softkit.set_threads(threads)
        found.add(pygame.image.tobytes(shot(world), "RGB"))
    softkit.set_threads(None)
    assert len(found) == 1 and world.state_hash() == before


def test_planar_skin_follows_a_squashed_body():
    body = SoftBody.circle((0, 0), 40, skin=2)
    skin = PlanarSkin(body)
    rest = skin.follow(np.asarray(body.positions)).copy()
    flat = skin.follow(np.asarray(body.positions) * (1.5, 0.5))
    inner = rest[len(body.outline) :, :2] * (1.5, 0.5)
    assert len(inner) > 20 and np.allclose(flat[len(body.outline) :, :2], inner)
