"""Asking what is where, against the plain way of asking every link."""

import itertools
import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Rope


def tangle(seed, at=0.0):
    space = pymunk.Space()
    world = softkit.World(space)
    rng = np.random.default_rng(seed)
    for _k in range(8):
        points = (
            at + np.cumsum(rng.normal(0, 20, (rng.integers(2, 30), 2)), axis=0) + rng.uniform(-150, 150, 2)
        )
        world.add(Rope.through(points, radius=float(rng.uniform(0.5, 8))))
    return world, rng


def to_segment(p, a, b):
    """Distance from p to a-b by ternary search: no formula shared with the code under test."""
    p, a, b = (np.asarray(v, float) for v in (p, a, b))
    low, high = 0.0, 1.0
    for _ in range(120):
        s, t = low + (high - low) / 3, high - (high - low) / 3
        if np.hypot(*(a + s * (b - a) - p)) < np.hypot(*(a + t * (b - a) - p)):
            high = t
        else:
            low = s
    return float(np.hypot(*(a + low * (b - a) - p)))


def between_segments(p, q, a, b):
    """Distance between two segments by ternary search in one parameter of the distance to the other."""
    p, q = np.asarray(p, float), np.asarray(q, float)
    low, high = 0.0, 1.0
    for _ in range(60):
        s, t = low + (high - low) / 3, high - (high - low) / 3
        if exact(p + s * (q - p), a, b) < exact(p + t * (q - p), a, b):
            high = t
        else:
            low = s
    return exact(p + low * (q - p), a, b)


def exact(p, a, b):
    e = b - a
    t = min(1.0, max(0.0, float((p - a) @ e) / float(e @ e)))
    return float(np.hypot(*(a + t * e - p)))


@pytest.mark.smoke
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("at", [0.0, 1e6])
def test_point_query_finds_every_near_link(seed, at):
    world, rng = tangle(seed, at)
    for _ in range(12):
        point, most = at + rng.uniform(-200, 200, 2), float(rng.uniform(0, 40))
        hits = world.point_query(point, most)
        assert [h.distance for h in hits] == sorted(h.distance for h in hits)
        keys = [(id(h.object), h.particle) for h in hits]
        assert len(keys) == len(set(keys))
        for rope in world.objects:
            x = rope.positions
            nearest = min(exact(point, a, b) for a, b in itertools.pairwise(x)) - rope.radius
            mine = [h for h in hits if h.object is rope]
            assert bool(mine) == (nearest <= most)
            if mine:
                assert mine[0].distance == pytest.approx(nearest, abs=1e-7)
                assert math.dist(mine[0].point, point) == pytest.approx(nearest + rope.radius, abs=1e-7)
                gaps = np.hypot(*(x - mine[0].point).T)
                link = [i for i in range(rope.segments) if to_segment(mine[0].point, x[i], x[i + 1]) < 1e-6]
                assert any(mine[0].particle in (i, i + 1) for i in link)
                assert gaps[mine[0].particle] <= max(gaps[i] + gaps[i + 1] for i in link) / 2 + 1e-6


@pytest.mark.parametrize("seed", [3, 4])
def test_segment_query_finds_every_link_in_the_way(seed):
    world, rng = tangle(seed)
    for _ in range(8):
        a, b, r = rng.uniform(-200, 200, 2), rng.uniform(-200, 200, 2), float(rng.uniform(0, 10))
        hits = world.segment_query(a, b, r)
        assert [h.distance for h in hits] == sorted(h.distance for h in hits)
        for rope in world.objects:
            x = rope.positions
            nearest = min(between_segments(a, b, c, d) for c, d in itertools.pairwise(x)) - rope.radius
            if abs(nearest - r) > 1e-6:
                assert any(h.object is rope for h in hits) == (nearest <= r)
    assert hits or True


def test_a_stroke_across_a_rope_hits_it_where_they_cross():
    world = softkit.World()
    rope = world.add(Rope((0, 0), (100, 0), segments=10, radius=1))
    (hit, *_) = world.segment_query((33, -50), (33, 50))
    assert hit.object is rope and hit.particle == 3
    assert hit.point == pytest.approx((33, 0)) and hit.distance == pytest.approx(50)
    assert world.segment_query((33, -50), (33, -2)) == []
    assert world.segment_query((33, -50), (33, -2), 1.5)


@pytest.mark.parametrize("seed", [5, 6])
def test_bb_query_finds_every_particle(seed):
    world, rng = tangle(seed)
    for _ in range(20):
        (x0, x1), (y0, y1) = np.sort(rng.uniform(-200, 200, (2, 2)))
        hits = world.bb_query(pymunk.BB(x0, y0, x1, y1))
        found = [(h.object, h.particle) for h in hits]
        expected = [
            (rope, i)
            for rope in world.objects
            for i, (x, y) in enumerate(rope.positions)
            if x0 <= x <= x1 and y0 <= y <= y1
        ]
        assert found == expected
        assert world.bb_query((x0, y0, x1, y1)) == hits


def test_filters_choose():
    world = softkit.World()
    a = world.add(Rope((0, 0), (10, 0), filter=pymunk.ShapeFilter(categories=1)))
    b = world.add(Rope((0, 1), (10, 1), filter=pymunk.ShapeFilter(categories=2)))
    c = world.add(Rope((0, 2), (10, 2), filter=pymunk.ShapeFilter(group=7)))
    for query in (
        lambda f: world.point_query((5, 0), 20, f),
        lambda f: world.segment_query((5, -9), (5, 9), 0, f),
        lambda f: world.bb_query((-1, -1, 11, 3), f),
    ):
        assert {h.object for h in query(None)} == {a, b, c}
        assert {h.object for h in query(pymunk.ShapeFilter(mask=1))} == {a, c}
        assert {h.object for h in query(pymunk.ShapeFilter(mask=2))} == {b, c}
        assert {h.object for h in query(pymunk.ShapeFilter(group=7))} == {a, b}


def test_grab_and_cut_as_a_mouse_does():
    space = pymunk.Space()
    space.gravity = (0, 900)
    world = softkit.World(space)
    rope = world.add(Rope((0, 0), (200, 0)))
    rope.pin(0)
    hit = world.point_query((104, 3), 10)[0]
    hit.object.pin(hit.particle)
    assert hit.particle == 10
    for _ in range(60):
        world.update(1 / 60)
    assert rope.positions[10] == pytest.approx([100, 0])
    hit = world.segment_query((50, -300), (50, 300))[0]
    piece = hit.object.cut(hit.particle)
    assert rope.count + piece.count == 22


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda w: w.point_query(5), TypeError),
        (lambda w: w.point_query((math.nan, 0)), ValueError),
        (lambda w: w.point_query((0, 0, 0)), ValueError),
        (lambda w: w.point_query((0, 0), -1), ValueError),
        (lambda w: w.point_query((0, 0), math.inf), ValueError),
        (lambda w: w.point_query((0, 0), 1, 3), TypeError),
        (lambda w: w.segment_query((0, 0), None), TypeError),
        (lambda w: w.segment_query((0, math.inf), (0, 0)), ValueError),
        (lambda w: w.segment_query((0, 0), (1, 1), -2), ValueError),
        (lambda w: w.segment_query((0, 0), (1, 1), 0, "f"), TypeError),
        (lambda w: w.bb_query((0, 0, 1)), ValueError),
        (lambda w: w.bb_query((0, 0, 1, math.nan)), ValueError),
        (lambda w: w.bb_query(pymunk.BB(0, 0, math.nan, 1)), ValueError),
        (lambda w: w.bb_query(None), TypeError),
        (lambda w: w.bb_query((0, 0, 1, 1), 3), TypeError),
    ],
)
def test_bad_input(call, error):
    world, _ = tangle(9)
    with pytest.raises(error):
        call(world)


def test_an_empty_world_has_nothing():
    world = softkit.World()
    assert (
        world.point_query((0, 0), 1e9)
        == world.segment_query((0, 0), (1, 1))
        == world.bb_query((0, 0, 1, 1))
        == []
    )
