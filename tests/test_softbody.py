"""SoftBody: ways to make one, refusals, holding, state."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit import softbody_shapes
from softkit.softbody import DEFAULTS

CUBE = np.array([[x, y, z] for z in (0, 10) for y in (0, 10) for x in (0, 10)], float)
CUBE_FACES = np.array(
    [
        [0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4],
        [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5],
    ]
)  # fmt: skip
SQUARE = [(0, 0), (40, 0), (40, 40), (0, 40)]
ARROW = [(0, 0), (50, 0), (50, 50), (25, 20), (0, 50)]


def scene(gravity=900.0):
    space = pymunk.Space()
    space.gravity = 0, gravity
    floor = pymunk.Segment(space.static_body, (-5000, 0), (5000, 0), 5)
    floor.friction = 1
    space.add(floor)
    return space, softkit.World(space)


def steps(world, count):
    for _ in range(count):
        world.update(world.step)


@pytest.mark.smoke
def test_every_way_to_make_one():
    circle = softkit.SoftBody.circle((5, 6), 20)
    assert circle.count == 32 and circle.center == pytest.approx((5, 6))
    assert circle.area == pytest.approx(0.5 * 32 * 400 * math.sin(2 * math.pi / 32))
    square = softkit.SoftBody.polygon(SQUARE, spacing=10)
    assert square.count == 16 and square.area == pytest.approx(1600) == square.rest_area
    assert softkit.SoftBody.polygon(SQUARE[::-1]).area == pytest.approx(1600)
    sheet = softkit.SoftBody.lattice(4, 3, spacing=10, origin=(7, 8))
    assert sheet.positions.shape == (12, 2) and sheet.area == pytest.approx(600)
    assert tuple(sheet.positions[sheet.index(-1, 1)]) == (37, 18)
    block = softkit.SoftBody.lattice(4, 3, 3, spacing=10)
    assert block.positions.shape == (36, 3) and block.volume == pytest.approx(12000)
    cube = softkit.SoftBody.mesh(CUBE, CUBE_FACES)
    assert cube.volume == pytest.approx(1000) and cube.count == 8
    tets = softkit.SoftBody.tets(CUBE, softbody_shapes.FIVE)
    assert tets.volume == pytest.approx(1000) and len(tets.triangles) == 12
    for body in (circle, square, sheet, block, cube, tets):
        assert body.mass == 1.0 and body.masses.sum() == pytest.approx(1.0) and not body.sleeping
        assert not body.positions.flags.writeable and body.velocities.shape == body.positions.shape


def test_links_are_the_lattice_contract():
    body = softkit.SoftBody.lattice(3, 3)
    apart = np.abs(body.positions[body.links[:, 0]] - body.positions[body.links[:, 1]])
    kinds = {tuple(step) for step in apart.tolist()}
    assert kinds == {(10, 0), (0, 10), (10, 10), (20, 0), (0, 20)}
    assert len(body.links) == 12 + 8 + 6


@pytest.mark.parametrize("layers", [1, 4])
def test_no_color_shares_a_particle(layers):
    body = softkit.SoftBody.lattice(6, 5, layers)
    for items, starts in ((body._links_at, body._colors), (body._cells, body._shades)):
        assert starts[-1] == len(items)
        for first, last in zip(starts, starts[1:]):
            used = items[first:last].reshape(-1)
            assert len(np.unique(used)) == len(used)


def test_mesh_is_welded():
    vertices = CUBE[CUBE_FACES.reshape(-1)] + np.random.default_rng(3).uniform(-1e-3, 1e-3, (36, 3))
    body = softkit.SoftBody.mesh(vertices, np.arange(36).reshape(12, 3))
    assert body.count == 8 and len(body.welded) == 36
    assert np.linalg.norm(body.positions[body.welded] - vertices, axis=1).max() < 1e-2


@pytest.mark.parametrize(
    ("outline", "error"),
    [
        ([(0, 0), (1, 0)], "outline must have at least 3"),
        ([(0, 0), (10, 0), (20, 0)], "outline must have an area"),
        ([(0, 0), (10, 0), (10, 0), (0, 10)], r"outline\[2\] must not repeat"),
        ([(0, 0), (10, 10), (10, 0), (0, 20)], "edges 0 and 2"),
        ([(0, 0), (10, math.nan), (10, 10)], r"outline\[1\]"),
    ],
)
def test_refused_outlines(outline, error):
    with pytest.raises(ValueError, match=error):
        softkit.SoftBody.polygon(outline)


def test_refused_meshes_name_the_triangle():
    def refused(kind, text, faces):
        with pytest.raises(kind, match=text):
            softkit.SoftBody.mesh(CUBE, faces)

    faces = CUBE_FACES.copy()
    faces[4, 1] = 8
    refused(IndexError, r"triangles\[4\] must be between", faces)
    faces = CUBE_FACES.copy()
    faces[3] = faces[3][::-1]
    refused(ValueError, r"triangles\[\d+\] must be turned like", faces)
    refused(ValueError, r"triangles\[0\] must be counter-clockwise", CUBE_FACES[:, ::-1])
    refused(ValueError, r"triangles\[12\] must not repeat", np.concatenate([CUBE_FACES, CUBE_FACES[:1]]))
    refused(
        ValueError,
        r"triangles\[5\] must not name a vertex twice",
        np.insert(CUBE_FACES, 5, [1, 1, 2], axis=0),
    )
    refused(ValueError, "closed mesh", CUBE_FACES[:-1])


def test_refused_tets_name_the_tetrahedron():
    def refused(kind, text, rows, points=CUBE):
        with pytest.raises(kind, match=text):
            softkit.SoftBody.tets(points, rows)

    good = softbody_shapes.FIVE
    refused(
        ValueError, r"tets\[2\].*inverted", np.insert(good, 2, good[0][[1, 0, 2, 3]], axis=0)[[1, 3, 2, 4]]
    )
    refused(ValueError, r"tets\[1\].*flat", [good[0], [0, 1, 2, 3]])
    refused(ValueError, r"tets\[5\] must not repeat", np.concatenate([good, good[:1]]))
    refused(IndexError, r"tets\[0\]", [[0, 1, 2, 99]])
    refused(ValueError, r"vertices\[3\] must be in a tetrahedron", good[:1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pressure", 0.0),
        ("pressure", 101),
        ("stiffness", 1.1),
        ("max_deviation", 0.0),
        ("mass", 0),
        ("plasticity", -1),
    ],
)
def test_refused_settings_change_nothing(name, value):
    body = softkit.SoftBody.circle((0, 0), 10)
    before = getattr(body, name)
    with pytest.raises(ValueError, match=name):
        setattr(body, name, value)
    assert getattr(body, name) == before
    with pytest.raises(ValueError, match=name):
        softkit.SoftBody.circle((0, 0), 10, **{name: value})
    with pytest.raises(TypeError, match="weight"):
        softkit.SoftBody.circle((0, 0), 10, weight=1)


def test_defaults_are_the_documented_ones():
    text = softkit.SoftBody.__doc__
    for name in ("pressure", "mass", "stiffness", "damping", "internal_damping", "plastic_yield"):
        entry = text[text.index(f" {name}:") :]
        assert f"default {DEFAULTS[name]:g}" in " ".join(entry[:400].split()), name


def test_kinds_answer_for_their_own_size_only():
    with pytest.raises(TypeError):
        _ = softkit.SoftBody.circle((0, 0), 10).volume
    with pytest.raises(TypeError):
        _ = softkit.SoftBody.lattice(3, 3, 3).area
    with pytest.raises(TypeError):
        softkit.SoftBody()


def test_impulse_gives_momentum_and_spin():
    world = softkit.World(gravity=(0, 0))
    body = world.add(softkit.SoftBody.circle((0, 0), 20, mass=2, damping=0))
    body.apply_impulse((6, 0))
    assert body.velocity == pytest.approx((3, 0))
    body.apply_impulse((0, 4), (20, 0))
    x, v = body.positions, body.velocities
    spin = (body.masses * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])).sum()
    assert spin == pytest.approx(80) and body.velocity == pytest.approx((3, 2))
    steps(world, 60)
    assert body.center == pytest.approx((3, 2), abs=1e-9)


def test_pin_move_translate():
    world = softkit.World(gravity=(0, 900))
    body = world.add(softkit.SoftBody.lattice(4, 4))
    body.pin(0)
    steps(world, 120)
    assert tuple(body.positions[0]) == (0, 0) and body.inverse_mass[0] == 0
    body.move(0, (0, -5))
    steps(world, 1)
    assert tuple(body.positions[0]) == (0, -5)
    steps(world, 240)
    before = body.positions.copy()
    body.translate((100, 0))
    assert np.allclose(body.positions - before, (100, 0))
    body.unpin(0)
    steps(world, 60)
    assert body.center[1] > before[:, 1].mean() + 200
    with pytest.raises(IndexError, match="16"):
        body.pin(16)


def test_body_that_leaves_lets_go():
    space, world = scene()
    crate = pymunk.Body(1, 100)
    crate.position = 0, -200
    space.add(crate)
    body = softkit.SoftBody.circle((0, -150), 20)
    body.attach(0, crate)
    world.add(body)
    steps(world, 2)
    space.remove(crate)
    steps(world, 2)
    assert not body.attachments and world.health.bodies_lost == 1
    other = pymunk.Body(1, 1)
    with pytest.raises(ValueError, match="space"):
        body.attach(1, other)


def test_join_to_body_and_rope():
    world = softkit.World(pymunk.Space(), gravity=(0, 900))
    rope = world.add(softkit.Rope((0, 0), (0, 100), segments=10))
    rope.pin(0)
    body = world.add(softkit.SoftBody.circle((0, 120), 20))
    top = int(np.argmin(body.positions[:, 1]))
    other = world.add(softkit.SoftBody.lattice(3, 3, spacing=5, origin=(-5, 140)))
    rope.join(-1, body, top)
    body.join(int(np.argmax(body.positions[:, 1])), other, 1)
    assert len(rope.joins) == 1 and len(body.joins) == 2
    steps(world, 180)
    assert np.hypot(*(rope.positions[-1] - body.positions[top])) < 1.0
    i, _, j = other.joins[0][2], None, other.joins[0][0]
    assert np.hypot(*(body.positions[i] - other.positions[j])) < 1.0
    assert 90 < rope.positions[-1][1] < 115
    world.remove(body)
    assert not rope.joins and not other.joins


@pytest.mark.parametrize("solid", [False, True])
def test_join_to_cloth(solid):
    world = softkit.World(pymunk.Space(), gravity=(0, 900))
    cloth = softkit.Cloth(9, 9, spacing=10, origin=(-40, 0, 40), down=(0, 0, -1))
    for corner in ((0, 0), (8, 0), (0, 8), (8, 8)):
        cloth.pin(cloth.index(*corner))
    if solid:
        body = softkit.SoftBody.lattice(3, 3, 3, spacing=5, origin=(-5, 0, 0), mass=0.5)
        top = body.index(1, 0, 1)
    else:
        body = softkit.SoftBody.circle((0, 20), 20, mass=0.5)
        top = int(np.argmin(body.positions[:, 1]))
    world.add(cloth, body)
    middle = cloth.index(4, 4)
    cloth.join(middle, body, top)
    assert body.joins == [(top, cloth, middle)] and cloth.joins == [(middle, body, top)]
    steps(world, 120)
    other = world.restore(world.snapshot())
    assert other is None and body.joins == [(top, cloth, middle)]
    steps(world, 120)
    point = np.zeros(3)
    point[: body.dimensions] = body.positions[top]
    assert np.linalg.norm(cloth.positions[middle] - point) < 1.0
    # It carries its weight: the sheet sags, and no more than a sheet that hardly stretches may.
    assert 2 < cloth.positions[middle][1] < 30
    cloth.detach(middle)
    assert not body.joins
    cloth.join(middle, body, top)
    world.remove(cloth)
    assert not body.joins and not cloth.joins
    with pytest.raises(TypeError, match="other must be a SoftBody, a Rope or a Cloth"):
        body.join(0, softkit.Fluid(), 0)
    with pytest.raises(IndexError, match="j must be"):
        body.join(0, cloth, 81)


def test_remove_use_and_add_again():
    space, world = scene()
    body = world.add(softkit.SoftBody.circle((0, -50), 20))
    steps(world, 30)
    world.remove(body)
    height = body.center[1]
    steps(world, 10)
    body.apply_impulse((1, 0))
    body.pressure = 2
    assert body.center[1] == height and body.world is None
    world.add(body)
    steps(world, 240)
    assert body.area == pytest.approx(2 * body.rest_area, rel=0.01)


def mixed():
    # The crate meets soft things only: pymunk's own contact memory is not part of a snapshot.
    space, world = scene()
    crate = pymunk.Body(2, 500)
    crate.position = 20, -60
    shape = pymunk.Poly.create_box(crate, (60, 40))
    shape.friction, shape.filter = 0.7, pymunk.ShapeFilter(group=1)
    next(iter(space.shapes)).filter = pymunk.ShapeFilter(group=1)
    space.add(crate, shape)
    a = world.add(softkit.SoftBody.circle((5, -120), 20, plasticity=1.0))
    b = world.add(softkit.SoftBody.lattice(6, 4, spacing=6, origin=(60, -100)))
    c = world.add(softkit.SoftBody.lattice(3, 3, 3, spacing=6, origin=(-80, -60, 0)))
    rope = world.add(softkit.Rope((60, -200), (60, -100), segments=8))
    rope.pin(0)
    rope.join(-1, b, 0)
    a.pressure = 1.5
    b.attach(5, crate)
    return world, (a, b, c)


def test_snapshot_twin():
    world, _ = mixed()
    steps(world, 45)
    data = world.snapshot()
    steps(world, 45)
    end = world.state_hash()
    world.restore(data)
    steps(world, 45)
    assert world.state_hash() == end
    twin, _ = mixed()
    twin.restore(data)
    steps(twin, 45)
    assert twin.state_hash() == end


def test_same_bits_for_any_threads():
    def run(threads):
        softkit.set_threads(threads)
        try:
            world, _ = mixed()
            world.add(softkit.SoftBody.lattice(60, 40, spacing=3, origin=(300, -200)))
            steps(world, 20)
            return world.state_hash()
        finally:
            softkit.set_threads(None)

    assert run(1) == run(2) == run(4) == run(8)


def test_contacts_and_queries():
    space, world = scene()
    body = world.add(softkit.SoftBody.lattice(4, 4, spacing=8, origin=(0, -40)))
    seen = []
    body.on_begin = lambda obj, shape, i: seen.append((obj, shape, i))
    steps(world, 180)
    assert seen and seen[0][:2] == (body, next(iter(space.shapes)))
    assert world.contacts.impulse.sum() / world.step == pytest.approx(900, rel=0.02)
    assert np.allclose(world.contacts.normal, (0, -1), atol=1e-6)
    x, y = body.positions[0]
    assert world.point_query((x - 1, y - 1))[0].object is body
    assert world.segment_query((x + 4, -500), (x + 4, 0))[0].object is body
    assert len(world.bb_query(pymunk.BB(x - 100, y - 100, x + 100, y + 100))) == 16


def test_filter_and_sensor():
    space, world = scene()
    body = world.add(softkit.SoftBody.circle((0, -40), 20, filter=pymunk.ShapeFilter(mask=0)))
    steps(world, 60)
    assert body.center[1] > 100
    next(iter(space.shapes)).sensor = True
    other = world.add(softkit.SoftBody.circle((0, -20), 20))
    steps(world, 6)
    assert len(world.contacts) and not world.contacts.impulse.any()
    assert other.center[1] > -20


@pytest.mark.parametrize("step", [1e-4, 1.0])
def test_finite_at_any_step(step):
    space = pymunk.Space()
    space.gravity = 0, 900
    space.add(pymunk.Segment(space.static_body, (-500, 0), (500, 0), 1))
    world = softkit.World(space, step=step)
    bodies = world.add(
        softkit.SoftBody.circle((0, -50), 20, pressure=5),
        softkit.SoftBody.lattice(4, 4, origin=(100, -60)),
        softkit.SoftBody.lattice(3, 3, 3, origin=(200, -60)),
    )
    for _ in range(20):
        world.update(step)
    assert all(np.isfinite(b.positions).all() and np.isfinite(b.velocities).all() for b in bodies)
