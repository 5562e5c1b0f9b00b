"""Tetrahedra of meshes and outlines: they fill, fit together, and make bodies."""

import doctest

import numpy as np
import pytest

import softkit
from softkit import SoftBody, extrude, tetrahedra, tetrahedralize
from softkit import softbody_shapes as shapes

CUBE = np.array([(x, y, z) for z in (0, 10) for y in (0, 10) for x in (0, 10)], float)
QUADS = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
FACES = [t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))]
TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
TURN *= np.linalg.det(TURN)
ARROW = [(0, 0), (50, 0), (50, 50), (25, 20), (0, 50)]


def ring(n=24, m=12):
    """A torus of radii 30 and 10."""
    a, b = 2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m
    wide = 30 + 10 * np.cos(b)[None]
    x, y = wide * np.cos(a)[:, None], wide * np.sin(a)[:, None]
    points = np.stack([x, y, np.broadcast_to(10 * np.sin(b), x.shape)], axis=-1).reshape(-1, 3)
    name = np.arange(n * m).reshape(n, m)
    p, q = name, np.roll(name, -1, axis=0)
    r, s = np.roll(q, -1, axis=1), np.roll(p, -1, axis=1)
    faces = np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in ((p, q, r), (p, r, s))])
    return points, faces


def fits(points, tets):
    """Volume, after a check that the tetrahedra share whole faces and leave a closed surface."""
    sides = np.concatenate([tets[:, k] for k in ([1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1])])
    _, number = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    assert number.max() <= 2
    volumes = shapes.tet_volumes(points, tets)
    assert volumes.min() > 0
    surface = shapes.outside(tets)
    shapes._closed(surface, surface)
    a, b, c = (points[surface[:, k]] for k in range(3))
    enclosed = float(np.einsum("ij,ij->i", np.cross(a, b), c).sum()) / 6
    assert enclosed == pytest.approx(volumes.sum(), rel=1e-6)
    return float(volumes.sum())


def test_the_examples():
    assert doctest.testmod(tetrahedra, extraglobs={"SoftBody": SoftBody}).failed == 0


@pytest.mark.parametrize("spacing", [None, 10, 5, 3])
@pytest.mark.parametrize("at", [0.0, 1e6])
def test_a_box_is_filled_exactly(spacing, at):
    points, tets = tetrahedralize(CUBE * (1, 2, 3) + at, FACES, spacing=spacing)
    if not at:
        assert fits(points, tets) == pytest.approx(6000, rel=1e-9)
    assert shapes.tet_volumes(points - at, tets).sum() == pytest.approx(6000, rel=1e-6)


@pytest.mark.parametrize("spacing, most", [(2.0, 0.06), (1.0, 0.03)])
def test_a_turned_cube_is_filled_but_for_its_edges(spacing, most):
    volume = fits(*tetrahedralize(CUBE @ TURN.T, FACES, spacing=spacing))
    assert 1000 * (1 - most) < volume < 1000


def test_a_ring_keeps_its_hole():
    vertices, faces = ring()
    body = SoftBody.mesh(vertices, faces)
    points, tets = tetrahedralize(vertices, faces, spacing=5)
    assert fits(points, tets) == pytest.approx(body.rest_volume, rel=0.05)
    assert np.hypot(*points[:, :2].T).min() > 19
    edges, sides = shapes.unique_edges(tets), shapes.outside(tets)
    corners = np.unique(sides)
    faces_edges = shapes.unique_edges(sides)
    assert len(corners) - len(faces_edges) + len(sides) == 0, "the surface of a ring"
    assert len(edges) > len(faces_edges)


@pytest.mark.parametrize("outline, area", [(ARROW, 1750), (ARROW[::-1], 1750), (CUBE[[0, 1, 3, 2], :2], 100)])
@pytest.mark.parametrize("depth", [1, 10, 80])
def test_an_outline_is_extruded(outline, area, depth):
    points, tets = extrude(outline, depth)
    assert fits(points, tets) == pytest.approx(area * depth, rel=1e-9)
    assert points[:, 2].min() == -depth / 2 and points[:, 2].max() == depth / 2


def test_what_comes_out_is_a_body():
    world = softkit.World(gravity=(0, 0))
    made = [tetrahedralize(*ring(), spacing=10), extrude(ARROW, 12, spacing=12)]
    for k, (points, tets) in enumerate(made):
        body = world.add(SoftBody.tets(points + (0, 200 * k, 0), tets))
        body._x[:] = (body._x - body._x.mean(axis=0)) * (1.1, 0.95, 1) + body._x.mean(axis=0)
    for _ in range(240):
        world.update(world.step)
    for body in world.objects:
        assert body.volume == pytest.approx(body.rest_volume, rel=0.01)


def test_refused():
    with pytest.raises(ValueError, match="triangles.* closed"):
        tetrahedralize(CUBE, FACES[:-1])
    with pytest.raises(ValueError, match="spacing must be"):
        tetrahedralize(CUBE, FACES, spacing=-1)
    with pytest.raises(ValueError, match="spacing must give at most 60000 cells, got 0.01"):
        tetrahedralize(CUBE, FACES, spacing=0.01)
    with pytest.raises(ValueError, match="depth must be"):
        extrude(ARROW, 0)
    with pytest.raises(ValueError, match="spacing must give at most"):
        extrude(ARROW, 1000, spacing=0.01)
    with pytest.raises(ValueError, match="cross itself"):
        extrude([(0, 0), (10, 10), (10, 0), (0, 12)], 5)
