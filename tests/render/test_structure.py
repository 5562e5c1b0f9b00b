"""How structures are drawn: pictures on cells, shards along cracks, damage."""

import numpy as np
import pygame
import pytest

import softkit
from softkit.render import Camera, View
from softkit.render.structure_skin import StructureSkin


def scene():
    target = pygame.Surface((200, 200))
    world = softkit.World(gravity=(0, 0))
    made = world.add(softkit.Structure.from_tiles(np.ones((4, 4), int), size=20, origin=(60, 60)))
    return target, world, made, View(target, Camera(center=(100, 100)))


def drawn(target, world, view):
    target.fill((0, 0, 255))
    view.draw(world)
    return pygame.surfarray.array3d(target).astype(int)


def test_picture_covers_the_cells_and_no_more():
    target, world, made, view = scene()
    view.style(made, texture=solid((200, 100, 40)), outline_width=0)
    picture = drawn(target, world, view)
    assert (np.abs(picture[62:138, 62:138] - (200, 100, 40)) <= 2).all()
    assert (picture[:58] == (0, 0, 255)).all() and (picture[:, 142:] == (0, 0, 255)).all()


def solid(color):
    surface = pygame.Surface((8, 8))
    surface.fill(color)
    return surface


def test_skin_is_whole_until_something_breaks_and_spans_no_crack():
    _, _, made, _ = scene()
    skin = StructureSkin(made)
    skin.follow(made, made.positions)
    assert len(skin.mesh.triangles) == 2 * 16 and len(skin.broken) == 0
    made.cut((110, 0), (110, 200))
    live = np.array(made.positions)
    left = made.piece_of == 0
    live[~left] += (50, 30)
    skin.follow(made, live)
    assert len(skin.broken) == 4 and len(skin.mesh.triangles) == 2 * 12 + 8 * 4
    shards = skin.points[skin.count :].reshape(-1, 4, 2)
    moved = shards - skin.shards.reshape(-1, 4, 2)
    # Every shard went with its own piece: not at all, or by the whole way.
    stays = left[made.cells.reshape(-1)]
    broken = np.zeros(len(made.cells), bool)
    broken[skin.broken] = True
    rows = np.repeat(broken, 4)
    assert np.abs(moved[rows & stays]).max() < 1e-6
    assert np.abs(moved[rows & ~stays] - (50, 30)).max() < 1e-6


def test_a_quarter_turn_is_drawn_as_one():
    _, _, made, _ = scene()
    made.cut((110, 0), (110, 200))
    skin = StructureSkin(made)
    turned = (made.rest_shape - 100) @ [[0, 1], [-1, 0]]
    skin.follow(made, turned)
    want = (skin.shards.reshape(-1, 2) - 100) @ [[0, 1], [-1, 0]]
    assert np.abs(skin.points[skin.count :] - want).max() < 1e-4 * 80


def test_damage_darkens():
    target, world, made, view = scene()
    view.style(made, texture=solid((200, 200, 200)), outline_width=0)
    before = drawn(target, world, view)[100, 100]
    made.weaken(12, 0.0)
    assert (drawn(target, world, view)[100, 100] < before - 20).all()
    view.style(made, damage=0.0)
    assert (drawn(target, world, view)[100, 100] == before).all()


def test_looks_of_materials_differ_and_fragments_are_cut_out():
    target = pygame.Surface((200, 200))
    world = softkit.World(gravity=(0, 0))
    view = View(target, Camera(center=(100, 100)))
    colors = []
    for material in ("wood", "stone", "steel", "glass", "rubber"):
        made = world.add(softkit.Structure([(60, 60), (140, 60), (60, 140)], spacing=10, material=material))
        picture = drawn(target, world, view)
        colors.append(tuple(picture[80, 80]))
        assert (picture[130, 130] == (0, 0, 255)).all()
        world.remove(made)
    assert len(set(colors)) == 5 and (0, 0, 255) not in colors


def test_restored_whole_after_breaking():
    target, world, made, view = scene()
    whole = drawn(target, world, view)
    data = world.snapshot()
    made.cut((0, 111), (200, 111))
    assert (drawn(target, world, view) != whole).any()
    world.restore(data)
    assert (drawn(target, world, view) == whole).all()


@pytest.mark.parametrize(
    "style, error",
    [
        ({"texture": 3}, TypeError),
        ({"opacity": 2}, ValueError),
        ({"damage": -1}, ValueError),
        ({"cracks": 1}, TypeError),
        ({"outline_width": float("inf")}, ValueError),
        ({"shine": 1}, TypeError),
    ],
)
def test_refusals(style, error):
    _, _, made, view = scene()
    with pytest.raises(error, match=next(iter(style))):
        view.style(made, **style)
