"""Triangle rasteriser: fill rule, textures, depth, outline, perspective, formats, threads."""

import numpy as np
import pygame
import pytest

import softkit
from softkit.render import draw_mesh, draw_quad
from softkit.render.canvas import Canvas
from softkit.render.mesh import DepthBuffer, Mesh, lay_mesh

SIZE = (200, 160)


def grid(n, width, height, at=(0, 0)):
    """Points, uvs and triangles of n x n cells."""
    x, y = np.meshgrid(np.linspace(0, width, n + 1), np.linspace(0, height, n + 1))
    points = np.stack([x.ravel() + at[0], y.ravel() + at[1]], axis=1)
    uvs = np.stack([x.ravel() / width, y.ravel() / height], axis=1)
    i = (np.arange(n)[None] + np.arange(n)[:, None] * (n + 1)).ravel()
    upper, lower = np.stack([i, i + 1, i + n + 1], axis=1), np.stack([i + 1, i + n + 2, i + n + 1], axis=1)
    return points, uvs, np.stack([upper, lower], axis=1).reshape(-1, 3)


def sprite(size=64, seed=0):
    """Random picture with every alpha."""
    rng = np.random.default_rng(seed)
    surface = pygame.Surface((size, size), pygame.SRCALPHA, 32)
    pygame.surfarray.pixels3d(surface)[:] = rng.integers(0, 256, (size, size, 3))
    pygame.surfarray.pixels_alpha(surface)[:] = rng.integers(1, 256, (size, size))
    return surface


def plain(color=(255, 255, 255)):
    surface = pygame.Surface((1, 1), 0, 32)
    surface.fill(color)
    return surface


def lay(surface, points, triangles, uvs=None, picture=None, **options):
    """One mesh with depth on a surface."""
    canvas, depth = Canvas(surface), DepthBuffer()
    depth.clear(canvas)
    points = np.ascontiguousarray(points, dtype=np.float64)
    if points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    uvs = np.zeros((len(points), 2)) if uvs is None else uvs
    return lay_mesh(
        canvas, depth, Mesh(np.array(triangles), len(points)), points, uvs, picture or plain(), **options
    )


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("outline", [False, True])
def test_identity_mesh_is_the_picture_byte_for_byte(smooth, outline):
    """Case E02: a 20 x 20 mesh laid flat on a transparent Surface gives the sprite itself, alpha and all."""
    picture = sprite(240)
    points, uvs, triangles = grid(20, 240, 240, (7, 5))
    target = pygame.Surface((260, 250), pygame.SRCALPHA, 32)
    assert draw_mesh(target, picture, points, uvs, triangles, smooth=smooth, outline=outline) == 0
    expected = pygame.Surface((260, 250), pygame.SRCALPHA, 32)
    expected.blit(picture, (7, 5), special_flags=pygame.BLEND_RGBA_MAX)
    assert target.get_buffer().raw == expected.get_buffer().raw


@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.5, 0.5), (0.3, 0.77)])
def test_no_seam_and_nothing_laid_twice(shift):
    """A translucent white mesh on black has one value everywhere inside, whatever its cells' corners."""
    rng = np.random.default_rng(5)
    points, uvs, triangles = grid(12, 150, 120, (20 + shift[0], 20 + shift[1]))
    inner = np.all((points > (21, 21)) & (points < (169, 139)), axis=1)
    points[inner] += rng.uniform(-4, 4, (inner.sum(), 2))
    surface = pygame.Surface(SIZE, 0, 32)
    lay(surface, points, triangles, uvs, opacity=100)
    values = pygame.surfarray.array3d(surface)[:, :, 0]
    assert (values[22:168, 22:138] == 100).all()
    assert values[:19].max() == 0 and values[172:].max() == 0


def test_corners_on_pixel_centres():
    points, uvs, triangles = grid(10, 100, 100, (20.5, 20.5))
    surface = pygame.Surface(SIZE, 0, 32)
    lay(surface, points, triangles, uvs, opacity=100, soft=False)
    values = pygame.surfarray.array3d(surface)[:, :, 0]
    assert (values[20:120, 20:120] == 100).all()
    values[20:120, 20:120] = 0
    assert values.max() == 0


def test_fold_over_is_drawn_in_the_order_listed():
    """Case E02: the later triangle lies on top, its neighbour's colour does not shine through."""
    points = np.array([(20.0, 20.0), (120.0, 20.0), (20.0, 120.0), (40.0, 40.0)])
    uvs = np.array([(0.1, 0.5), (0.1, 0.5), (0.1, 0.5), (0.9, 0.5)])
    picture = pygame.Surface((10, 2), 0, 32)
    picture.fill((255, 0, 0), (0, 0, 5, 2))
    picture.fill((0, 0, 255), (5, 0, 5, 2))
    surface = pygame.Surface(SIZE, 0, 32)
    for order, expected in (([(0, 1, 2), (1, 2, 3)], "second"), ([(1, 2, 3), (0, 1, 2)], "first")):
        surface.fill(0)
        draw_mesh(surface, picture, points, uvs, np.array(order), smooth=False)
        assert surface.get_at((25, 25))[:3] == (255, 0, 0)
        assert (surface.get_at((46, 46))[:3] == (0, 0, 255)) == (expected == "second")


def test_outline_coverage_is_the_area():
    """The outline of a slanted square: each pixel within 8 % of the covered share, the total within 0.3 %."""
    angle, half = 0.31, 41.3
    c, s = np.cos(angle) * half, np.sin(angle) * half
    corners = np.array([(-c + s, -s - c), (c + s, s - c), (c - s, s + c), (-c - s, -s + c)]) + (90.2, 80.7)
    surface = pygame.Surface(SIZE, 0, 32)
    lay(surface, corners, [(0, 1, 2), (0, 2, 3)])
    found = pygame.surfarray.array3d(surface)[:, :, 0] / 255
    sub = 16
    x, y = np.meshgrid(
        (np.arange(200 * sub) + 0.5) / sub - 90.2, (np.arange(160 * sub) + 0.5) / sub - 80.7, indexing="ij"
    )
    u, v = x * np.cos(angle) + y * np.sin(angle), -x * np.sin(angle) + y * np.cos(angle)
    inside = (np.abs(u) < half) & (np.abs(v) < half)
    expected = inside.reshape(200, sub, 160, sub).mean(axis=(1, 3))
    assert np.abs(found - expected).max() < 0.3  # at the very corners; along the sides:
    assert np.quantile(np.abs(found - expected)[(expected > 0) & (expected < 1)], 0.97) < 0.09
    assert found.sum() == pytest.approx((2 * half) ** 2, rel=0.003)


def test_depth_decides_whatever_the_order():
    a = [(20, 20, 5), (140, 30, 5), (40, 140, 5)]
    b = [(150, 20, -30), (150, 140, 60), (10, 80, 0)]
    expected = None
    for first in (0, 1):
        surface = pygame.Surface(SIZE, 0, 32)
        canvas, depth = Canvas(surface), DepthBuffer()
        depth.clear(canvas)
        for k in (first, 1 - first):
            points = np.array((a, b)[k], dtype=np.float64)
            color = plain(((255, 0, 0), (0, 0, 255))[k])
            lay_mesh(
                canvas, depth, Mesh(np.array([(0, 1, 2)]), 3), points, np.zeros((3, 2)), color, soft=False
            )
        picture = surface.get_buffer().raw
        expected = picture if expected is None else expected
        assert picture == expected
    assert surface.get_at((50, 60))[:3] == (255, 0, 0) or surface.get_at((50, 60))[:3] == (0, 0, 255)
    assert surface.get_at((70, 100))[:3] != surface.get_at((90, 50))[:3]


def test_heights_split_a_mesh_without_gap_or_overlap():
    points, uvs, triangles = grid(8, 120, 100, (30, 30))
    heights = np.ascontiguousarray(30 * np.sin(points[:, 0] / 17 + points[:, 1] / 11))
    whole, parts = pygame.Surface(SIZE, 0, 32), pygame.Surface(SIZE, 0, 32)
    lay(whole, points, triangles, uvs, opacity=100)
    lay(parts, points, triangles, uvs, opacity=100, heights=heights, high=0.0)
    behind = pygame.surfarray.array3d(parts)[:, :, 0] > 0
    lay(parts, points, triangles, uvs, opacity=100, heights=heights, low=0.0)
    assert 1000 < behind.sum() < 9000
    assert whole.get_buffer().raw == parts.get_buffer().raw


def test_light_and_both_sides():
    triangle = [(20, 20), (140, 30), (40, 140)]
    surface = pygame.Surface(SIZE, 0, 32)
    front, back = np.full(3, 0.5, dtype=np.float32), np.full(3, 0.25, dtype=np.float32)
    options = {"front": front, "back": back, "back_tint": 0xFF8000FF}
    lay(surface, triangle, [(0, 1, 2)], **options)
    assert surface.get_at((60, 60))[:3] == (127, 127, 127)
    lay(surface, triangle, [(0, 2, 1)], **options)
    assert surface.get_at((60, 60))[:3] == (63, 31, 0)
    lay(surface, triangle, [(0, 2, 1)], sign=-1.0, **options)
    assert surface.get_at((60, 60))[:3] == (127, 127, 127)


def test_light_goes_smoothly_across():
    points, _, triangles = grid(1, 100, 60, (20, 20))
    front = np.array([0, 1, 0, 1], dtype=np.float32)
    surface = pygame.Surface(SIZE, 0, 32)
    lay(surface, points, triangles, front=front)
    row = [surface.get_at((x, 50))[0] for x in range(22, 118)]
    assert all(abs(v - 255 * (x + 0.5 - 20) / 100) < 2.5 for x, v in zip(range(22, 118), row))


def test_projective_quad():
    """Case E01: a checker on a trapezoid: its middle where the diagonals cross, its lines straight."""
    picture = pygame.Surface((256, 256), 0, 32)
    for i in range(8):
        for j in range(8):
            picture.fill((255, 255, 255) if (i + j) % 2 else (0, 0, 0), (32 * i, 32 * j, 32, 32))
    picture.fill((255, 0, 0), (124, 124, 8, 8))
    corners = np.array([(70.0, 20.0), (130.0, 20.0), (160.0, 140.0), (40.0, 140.0)])
    surface = pygame.Surface(SIZE, 0, 32)
    draw_quad(surface, picture, corners)
    pixels = pygame.surfarray.array3d(surface).astype(int)
    red = np.argwhere((pixels[:, :, 0] > 150) & (pixels[:, :, 1] < 90))
    assert np.abs(red.mean(axis=0) + 0.5 - (100, 60)).max() < 1
    # row borders of the picture are level lines at the heights that the projection gives
    for k in (1, 2, 3, 5, 6, 7):
        v = k / 8
        y = 20 + 120 * v * 0.5 / (1 - 0.5 * v)  # depth doubles from bottom to top
        for x in (75, 100, 125):
            across = pixels[x, int(y) - 3 : int(y) + 4, 0]
            assert (np.diff(across) != 0).any() or k == 4
    affine = pygame.Surface(SIZE, 0, 32)
    draw_quad(affine, picture, corners, projective=False)
    pixels = pygame.surfarray.array3d(affine).astype(int)
    kinked = np.argwhere((pixels[:, :, 0] > 150) & (pixels[:, :, 1] < 90))
    assert np.abs(kinked.mean(axis=0) + 0.5 - (100, 60)).max() > 10


@pytest.mark.parametrize(
    "layout", [(0, 24, None), (0, 32, (0xFF, 0xFF00, 0xFF0000, 0)), (pygame.SRCALPHA, 32, None)]
)
def test_formats_agree(layout):
    flags, depth, masks = layout
    points, uvs, triangles = grid(9, 140, 120, (20.4, 15.2))
    points[:, 0] += 8 * np.sin(points[:, 1] / 20)
    pictures = []
    for make in (
        lambda: pygame.Surface(SIZE, 0, 32),
        lambda: pygame.Surface(SIZE, flags, depth, masks) if masks else pygame.Surface(SIZE, flags, depth),
    ):
        surface = make()
        surface.fill((30, 60, 90))
        draw_mesh(surface, sprite(), points, uvs, triangles)
        pictures.append(pygame.surfarray.array3d(surface).astype(int))
    assert np.abs(pictures[0] - pictures[1]).max() <= 1


def test_picture_formats_agree():
    points, uvs, triangles = grid(9, 140, 120, (20.4, 15.2))
    base = sprite()
    base.set_alpha(None)
    opaque = pygame.Surface((64, 64), 0, 32)
    opaque.blit(base, (0, 0))
    results = []
    swapped = (0xFF, 0xFF00, 0xFF0000, 0)
    for flags, depth, masks in ((0, 32, None), (0, 24, None), (0, 32, swapped), (pygame.SRCALPHA, 32, None)):
        picture = (
            pygame.Surface((64, 64), flags, depth, masks) if masks else pygame.Surface((64, 64), flags, depth)
        )
        picture.blit(opaque, (0, 0))
        surface = pygame.Surface(SIZE, 0, 32)
        draw_mesh(surface, picture, points, uvs, triangles)
        results.append(pygame.surfarray.array3d(surface).astype(int))
    for other in results[1:]:
        assert np.abs(other - results[0]).max() <= 1


def test_color_key_and_surface_alpha():
    """Case C28: the picture's pixel alpha and its Surface alpha multiply."""
    points, uvs, triangles = grid(2, 100, 100, (20, 20))
    picture = pygame.Surface((10, 10), pygame.SRCALPHA, 32)
    picture.fill((200, 100, 50, 128))
    picture.set_alpha(128)
    surface = pygame.Surface(SIZE, 0, 32)
    draw_mesh(surface, picture, points, uvs, triangles)
    share = 128 * 128 / 255 / 255
    assert np.abs(np.array(surface.get_at((60, 60))[:3]) - np.array((200, 100, 50)) * share).max() <= 1.5
    keyed = pygame.Surface((10, 10), 0, 24)
    keyed.fill((255, 0, 255))
    keyed.fill((0, 200, 0), (0, 0, 5, 10))
    keyed.set_colorkey((255, 0, 255))
    surface.fill(0)
    draw_mesh(surface, keyed, points, uvs, triangles, smooth=False)
    assert surface.get_at((40, 60))[:3] == (0, 200, 0) and surface.get_at((100, 60))[:3] == (0, 0, 0)


def test_same_bytes_for_any_number_of_threads():
    points, uvs, triangles = grid(64, 500, 420, (20.4, 15.2))
    points = np.column_stack([points, 30 * np.sin(points[:, 0] / 25)])
    points[:, 0] += 60 * np.sin(points[:, 0] / 40)
    pictures = []
    try:
        for threads in (1, 2, 3, 8):
            softkit.set_threads(threads)
            surface = pygame.Surface((560, 460), 0, 32)
            lay(surface, points, triangles, uvs, sprite())
            pictures.append(surface.get_buffer().raw)
    finally:
        softkit.set_threads(None)
    assert all(p == pictures[0] for p in pictures)


def test_far_and_bad_corners():
    """Case E08: a triangle that reaches out a thousand million pixels; a NaN corner takes only its own."""
    surface = pygame.Surface(SIZE, 0, 32)
    assert lay(surface, [(-1e9, -1e9), (1e9, -1e9), (100, 80)], [(0, 1, 2)]) == 0
    assert surface.get_at((100, 10))[0] == 255 and surface.get_at((100, 100))[0] == 0
    points, uvs, triangles = grid(4, 100, 100, (20, 20))
    points[12] = np.nan
    surface.fill(0)
    assert lay(surface, points, triangles, uvs) == 6
    assert surface.get_at((25, 25))[0] == 255 and surface.get_at((70, 70))[0] == 0


def test_clip_is_kept():
    points, uvs, triangles = grid(8, 300, 300, (-50, -50))
    surface = pygame.Surface(SIZE, 0, 32)
    surface.set_clip((30, 20, 50, 40))
    lay(surface, points, triangles, uvs, sprite())
    values = pygame.surfarray.array3d(surface).sum(axis=2)
    inside = np.zeros(SIZE, dtype=bool)
    inside[30:80, 20:60] = True
    assert (values[~inside] == 0).all() and (values[inside] > 0).mean() > 0.95


def test_neighbours_across_edges():
    points, _, triangles = grid(7, 10, 10)
    mesh = Mesh(triangles, len(points))
    pairs = {}
    for i, corners in enumerate(triangles):
        for k in range(3):
            pairs.setdefault(frozenset((int(corners[k]), int(corners[(k + 1) % 3]))), []).append((i, k))
    for places in pairs.values():
        for i, k in places:
            others = [other for other, _ in places if other != i]
            assert mesh.neighbours[i, k] == (others[0] if others else -1)


@pytest.mark.parametrize(
    "change, error, name",
    [
        ({"points": np.zeros((4, 3))}, ValueError, "points"),
        ({"uvs": np.zeros((3, 2))}, ValueError, "uvs"),
        ({"triangles": np.zeros((1, 4), dtype=int)}, ValueError, "triangles"),
        ({"triangles": np.zeros((1, 3))}, ValueError, "triangles"),
        ({"triangles": np.array([(0, 1, 4)])}, IndexError, "triangles"),
        ({"triangles": np.array([(0, 1, -1)])}, IndexError, "triangles"),
        ({"opacity": 2}, ValueError, "opacity"),
        ({"weights": np.array([1, 1, 1, 0.0])}, ValueError, "weights"),
        ({"tint": 3}, TypeError, "tint"),
        ({"picture": "a.png"}, TypeError, "texture"),
        ({"target": pygame.Surface((9, 9), 0, 16)}, ValueError, "target"),
    ],
)
def test_wrong_arguments(change, error, name):
    points, uvs, triangles = grid(1, 10, 10)
    target = pygame.Surface(SIZE, 0, 32)
    arguments = {"target": target, "picture": sprite(), "points": points, "uvs": uvs, "triangles": triangles}
    with pytest.raises(error, match=name):
        draw_mesh(**{**arguments, **change})
