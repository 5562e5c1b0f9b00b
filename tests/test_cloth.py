"""Cloth's own behaviour: construction, holding, tearing, state, bits."""

import math
from itertools import pairwise

import numpy as np
import pymunk
import pytest

import softkit
from softkit import cloth_layout
from softkit.fields import Wind

HUNG = [(0, 0), (-1, 0)]


def space_with_gravity():
    space = pymunk.Space()
    space.gravity = (0, 900)
    return space


def square_mesh(n=12, spacing=5.0):
    """A grid of triangles as a free mesh, in the plane z = 0."""
    row, column = np.divmod(np.arange(n * n), n)
    points = np.stack([column * spacing, row * spacing, 0 * row], axis=1).astype(float)
    first = np.arange(n * n).reshape(n, n)[:-1, :-1].ravel()
    upper = np.stack([first, first + 1, first + n], axis=1)
    lower = np.stack([first + 1, first + n + 1, first + n], axis=1)
    return points, np.concatenate([upper, lower])


def pieces(cloth):
    """Number of particles in each connected part of the sheet."""
    parent = list(range(cloth.count))

    def root(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in cloth.edges:
        parent[root(a)] = root(b)
    return sorted(np.unique([root(i) for i in range(cloth.count)], return_counts=True)[1].tolist())


# ---------------------------------------------------------------- shape


def test_a_grid_lies_where_it_was_put():
    cloth = softkit.Cloth(5, 4, spacing=10, origin=(1, 2, 3), right=(0, 0, 2), down=(0, 5, 0), mass=2)
    assert cloth.positions[cloth.index(3, 2)].tolist() == [1, 22, 33]
    assert cloth.index(-1, -1) == cloth.count - 1 == 19
    assert len(cloth.triangles) == 2 * 4 * 3
    assert cloth.uvs[cloth.index(4, 0)].tolist() == [1, 0]
    assert cloth.mass == pytest.approx(2)
    inner, edge, corner = (cloth.masses[cloth.index(*at)] for at in ((1, 1), (1, 0), (4, 3)))
    assert edge == pytest.approx(inner / 2)
    assert cloth.masses.sum() == pytest.approx(2) and corner < edge


def test_normals_point_right_cross_down():
    cloth = softkit.Cloth(6, 6)
    assert np.allclose(cloth.normals, (0, 0, 1))
    mesh = softkit.Cloth.mesh(*square_mesh())
    assert np.allclose(mesh.normals, (0, 0, 1))


def test_views_are_read_only_and_live():
    world = softkit.World(gravity=(0, 900))
    cloth = world.add(softkit.Cloth())
    view = cloth.positions
    before = view.copy()
    world.update(1 / 60)
    assert (view[:, 1] > before[:, 1]).all()
    with pytest.raises(ValueError):
        view[0, 0] = 1.0


@pytest.mark.parametrize("size", [(2, 2), (2, 9), (17, 3), (16, 16), (40, 23)])
def test_blocks_of_one_colour_share_no_particle(size):
    faces, block = cloth_layout.grid_faces(*size)
    count = size[0] * size[1]
    blocks = cloth_layout.make_blocks(faces, block, count)
    assert sorted(map(tuple, blocks.faces.tolist())) == sorted(map(tuple, faces.tolist()))
    for first, last in pairwise(blocks.colors):
        particles = np.concatenate([blocks.particles[a:b] for a, b, _, _ in blocks.rows[first:last]])
        assert len(particles) == len(np.unique(particles))
        for a, b, c, d in blocks.rows[first:last]:
            assert set(blocks.faces[c:d].ravel()) <= set(blocks.particles[a:b])


def test_batches_share_no_particle():
    points, faces = square_mesh()
    edges, beside = cloth_layout.edges_of(faces, len(points))
    at, *_ = cloth_layout.hinges(points, faces, edges, beside)
    for items in (edges, at):
        order, starts = cloth_layout.batches(items, len(points))
        assert sorted(order) == list(range(len(items))) and starts[-1] == len(items)
        for a, b in pairwise(starts):
            used = items[order[a:b]].ravel()
            assert len(used) == len(np.unique(used))


def test_mesh_welds_and_leaves_out_what_has_no_area():
    points, faces = square_mesh(4)
    double = np.concatenate([points, points[:4]])
    extra = np.array([[0, 0, 1], [16, 17, 1], [2, 2, 2]])
    cloth = softkit.Cloth.mesh(double, np.concatenate([faces, extra]))
    assert cloth.count == 16
    assert cloth.welded[16:].tolist() == [0, 1, 2, 3]
    assert len(cloth.triangles) == len(faces)
    assert np.isfinite(cloth.normals).all()


def test_from_image_is_as_large_as_the_picture():
    class Picture:
        def get_size(self):
            return 101, 42

    cloth = softkit.Cloth.from_image(Picture(), spacing=10, origin=(5, 6))
    assert np.ptp(cloth.positions, axis=0).tolist() == pytest.approx([101, 42, 0])
    assert isinstance(cloth.image, Picture)
    world = softkit.World(gravity=(0, 900))
    world.add(cloth)
    for i in (0, cloth.columns - 1):
        cloth.pin(i)
    for _ in range(60):
        world.update(1 / 60)
    assert cloth.strain.max() < 0.01


# ---------------------------------------------------------------- wrong input


@pytest.mark.parametrize(
    ("arguments", "error", "names"),
    [
        ({"columns": 1}, ValueError, "columns"),
        ({"rows": 2.5}, TypeError, "rows"),
        ({"spacing": 0}, ValueError, "spacing"),
        ({"spacing": math.nan}, ValueError, "spacing"),
        ({"mass": -1}, ValueError, "mass"),
        ({"origin": (0, math.inf, 0)}, ValueError, "origin"),
        ({"down": (2, 0, 0)}, ValueError, "down"),
        ({"right": (0, 0, 0)}, ValueError, "right"),
        ({"stretch_compliance": -1}, ValueError, "stretch_compliance"),
        ({"bend_compliance": 0}, ValueError, "bend_compliance"),
        ({"thickness": 11}, ValueError, "thickness"),
        ({"tear_strain": 0}, ValueError, "tear_strain"),
        ({"pinned": [999]}, IndexError, "i must"),
        ({"pinned": [(0, 77)]}, IndexError, "row"),
        ({"filter": 3}, TypeError, "filter"),
        ({"self_collision": 1}, TypeError, "self_collision"),
        ({"colour": "red"}, TypeError, "colour"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, names):
    with pytest.raises(error, match=names):
        softkit.Cloth(**arguments)


def test_wrong_calls_change_nothing():
    space = space_with_gravity()
    world = softkit.World(space)
    cloth = world.add(softkit.Cloth(pinned=HUNG))
    before = world.state_hash()
    stranger = pymunk.Body(1, 1)
    for call, error in [
        (lambda: cloth.pin(256), IndexError),
        (lambda: cloth.move(0, (math.nan, 0, 0)), ValueError),
        (lambda: cloth.attach(3, stranger), ValueError),
        (lambda: cloth.attach(3, "body"), TypeError),
        (lambda: cloth.tear(0, 200), ValueError),
        (lambda: cloth.translate((1, 2, 3, 4)), ValueError),
        (lambda: softkit.Cloth.mesh([(0, 0, 0)] * 3, [(0, 1, 2)]), ValueError),
        (lambda: softkit.Cloth.mesh(np.eye(3), [(0, 1, 5)]), IndexError),
        (lambda: softkit.Sphere((0, 0, 0), -1), ValueError),
        (lambda: softkit.Box((0, 0, 0), (1, 0, 1)), ValueError),
        (lambda: softkit.Plane((0, 0, 0), (0, 0, 0)), ValueError),
        (lambda: softkit.Capsule((0, 0, 0), (0, math.inf, 0), 3), ValueError),
    ]:
        with pytest.raises(error):
            call()
    assert world.state_hash() == before


# ---------------------------------------------------------------- holding


def test_pins_move_and_let_go():
    world = softkit.World(gravity=(0, 900))
    cloth = world.add(softkit.Cloth(pinned=HUNG))
    cloth.move(0, (20, -5, 3))
    world.update(1 / 60)
    assert cloth.positions[0].tolist() == pytest.approx([20, -5, 3], abs=1e-12)
    cloth.unpin(0)
    cloth.unpin(cloth.index(-1, 0))
    for _ in range(60):
        world.update(1 / 60)
    assert cloth.positions[:, 1].min() > 100


def test_translate_keeps_shape_and_velocity():
    world = softkit.World(gravity=(0, 900))
    cloth = world.add(softkit.Cloth(pinned=HUNG))
    for _ in range(20):
        world.update(1 / 60)
    places, speeds = cloth.positions.copy(), cloth.velocities.copy()
    cloth.translate((500, 20, -7))
    assert np.allclose(cloth.positions, places + (500, 20, -7)) and (cloth.velocities == speeds).all()
    world.update(1 / 60)
    assert cloth.positions[0].tolist() == pytest.approx([500, 20, -7])


def test_a_cape_stays_on_its_owner_through_removal_and_return():
    space = space_with_gravity()
    hero = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    space.add(hero)
    world = softkit.World(space)
    cape = world.add(softkit.Cloth(8, 12, spacing=6, origin=(-21, 0, 4)))
    for i in range(8):
        cape.attach(i, hero)
    for _ in range(60):
        world.update(1 / 60)
    world.remove(cape)
    hero.position = (500, 40)
    cape.translate((500, 40))
    world.add(cape)
    for _ in range(30):
        world.update(1 / 60)
    for i, (body, local) in cape.attachments.items():
        assert cape.positions[i].tolist() == pytest.approx(
            [*body.local_to_world(local[:2]), local[2]], abs=0.01
        )
    assert cape.strain.max() < 0.05


def test_the_tie_ends_with_its_body():
    space = space_with_gravity()
    body = pymunk.Body(1, 1)
    space.add(body)
    world = softkit.World(space)
    cloth = world.add(softkit.Cloth())
    cloth.attach(0, body)
    world.update(1 / 60)
    space.remove(body)
    world.update(1 / 60)
    assert not cloth.attachments and world.health.bodies_lost == 1


# ---------------------------------------------------------------- tearing


@pytest.mark.parametrize("make", ["grid", "mesh"])
def test_a_cut_row_falls_off(make):
    cloth = softkit.Cloth(12, 12, spacing=5) if make == "grid" else softkit.Cloth.mesh(*square_mesh())
    world = softkit.World(gravity=(0, 900))
    world.add(cloth)
    for i in range(12):
        cloth.pin(i)
    world.update(1 / 60)
    told = []
    cloth.on_tear = lambda sheet, edges: told.append(edges)
    torn = cloth.tear((-10, 27.5), (80, 27.5))
    assert torn == len(told[0]) > 12
    assert pieces(cloth) == [72, 72]
    assert cloth.count == 144
    live = {tuple(sorted(e)) for e in cloth.edges.tolist()}
    for a, b, c in cloth.triangles.tolist():
        assert {tuple(sorted(e)) for e in ((a, b), (b, c), (c, a))} <= live
    for _ in range(60):
        world.update(1 / 60)
    assert cloth.positions[:72, 1].max() < 30
    assert cloth.positions[72:, 1].min() > 200
    assert np.isfinite(cloth.positions).all() and np.isfinite(cloth.normals).all()
    assert cloth.strain.max() < 0.05


def test_one_edge_takes_its_triangles():
    cloth = softkit.Cloth(4, 4)
    count = len(cloth.triangles)
    assert cloth.tear(cloth.index(1, 1), cloth.index(2, 1)) == 1
    assert len(cloth.triangles) == count - 2
    with pytest.raises(ValueError, match="edge"):
        cloth.tear(cloth.index(1, 1), cloth.index(2, 1))


def test_too_much_stretch_tears():
    world = softkit.World(gravity=(0, 900))
    cloth = world.add(softkit.Cloth(12, 12, spacing=10, pinned=[(k, 0) for k in range(12)], tear_strain=0.5))
    whole = len(cloth.edges)
    for _ in range(60):
        world.update(1 / 60)
    assert len(cloth.edges) == whole
    corner = cloth.index(5, -1)
    cloth.pin(corner)
    for k in range(12):
        cloth.move(corner, (55, 110 + 20 * (k + 1), 0))
        world.update(1 / 60)
    assert len(cloth.edges) < whole
    for _ in range(60):
        world.update(1 / 60)
    assert np.isfinite(cloth.positions).all() and cloth.strain.max() < 0.5


# ---------------------------------------------------------------- state and bits


def busy_world(threads):
    softkit.set_threads(threads)
    space = space_with_gravity()
    ball = pymunk.Body(5, 500)
    ball.position = (150, -40)
    shape = pymunk.Circle(ball, 15)
    shape.friction = 0.5
    space.add(ball, shape)
    bar = pymunk.Body(2, 2000)
    bar.position = (60, -5)
    space.add(bar)
    space.add(pymunk.Segment(space.static_body, (-500, 300), (800, 320), 3))
    world = softkit.World(space)
    cloth = softkit.Cloth(36, 36, spacing=8, origin=(0, 0, -140), down=(0, 0, 1), tear_strain=0.3,
                          self_collision=True, pinned=HUNG)  # fmt: skip
    world.add(cloth, softkit.Sphere((100, 120, 0), 60), softkit.Cloth.mesh(*square_mesh()))
    cloth.attach(cloth.index(7, 20), bar)
    world.fields.add(Wind(velocity=(300, 0, 50), gust=0.5))
    return world


def test_same_bits_at_any_thread_count():
    hashes = []
    for threads in (1, 2, 4, 8):
        world = busy_world(threads)
        for _ in range(60):
            world.update(1 / 60)
        hashes.append(world.state_hash())
    assert len(set(hashes)) == 1


def test_snapshot_in_the_middle_changes_nothing():
    world = busy_world(2)
    for _ in range(40):
        world.update(1 / 60)
    data = world.snapshot()
    for _ in range(40):
        world.update(1 / 60)
    end = world.state_hash()
    world.restore(data)
    assert world.snapshot() == data
    for _ in range(40):
        world.update(1 / 60)
    assert world.state_hash() == end


def test_frame_times_do_not_matter():
    ends = []
    for dt in (1 / 30, 1 / 60, 1 / 144):
        world = softkit.World(gravity=(0, 900))
        cloth = world.add(softkit.Cloth(pinned=HUNG, down=(0, 0, 1)))
        for _ in range(round(2 / dt)):
            world.update(dt)
        ends.append(cloth.positions.copy())
    assert (ends[0] == ends[1]).all() and (ends[1] == ends[2]).all()


def test_update_zero_changes_nothing_and_a_pause_is_harmless():
    world = softkit.World(gravity=(0, 900))
    cloth = world.add(softkit.Cloth(24, 16, spacing=8, pinned=[(0, k) for k in range(16)]))
    world.fields.add(Wind(velocity=(400, 0)))
    for _ in range(120):
        world.update(1 / 60)
    before = world.state_hash()
    world.update(0)
    assert world.state_hash() == before
    world.update(5.0)
    assert world.health.steps_dropped > 200
    for _ in range(60):
        world.update(1 / 60)
        assert np.isfinite(cloth.positions).all() and cloth.strain.max() < 0.1


def test_a_hurricane_leaves_it_whole():
    world = softkit.World(gravity=(0, 900))
    cloth = world.add(softkit.Cloth(pinned=HUNG))
    wind = world.fields.add(Wind(velocity=(1e6, 0, 3e5)))
    for _ in range(10):
        world.update(1 / 60)
        assert np.isfinite(cloth.positions).all()
    world.fields.remove(wind)
    for _ in range(300):
        world.update(1 / 60)
    assert cloth.strain.max() < 0.1


def test_far_from_the_origin_is_the_same():
    ends = []
    for shift in (0.0, 1e6):
        world = softkit.World(gravity=(0, 900))
        cloth = softkit.Cloth(20, 20, spacing=5, origin=(shift, 0, -50), down=(0, 0, 1), pinned=HUNG)
        world.add(cloth, softkit.Sphere((shift + 50, 120, 0), 30))
        for _ in range(3):
            world.update(1 / 60)
        early = cloth.positions - (shift, 0, 0)
        for _ in range(117):
            world.update(1 / 60)
        ends.append((early, cloth.positions - (shift, 0, 0), np.linalg.norm(cloth.velocities, axis=1).mean()))
    # Rounding grows fivefold a frame while the sheet buckles: after that only the kind of its folds is the
    # same.
    assert np.abs(ends[0][0] - ends[1][0]).max() < 1e-6
    assert abs(ends[0][1].mean(axis=0) - ends[1][1].mean(axis=0)).max() < 2
    assert ends[1][2] < 1.5 * ends[0][2] + 1


def test_contacts_name_the_shape():
    space = space_with_gravity()
    floor = pymunk.Segment(space.static_body, (-500, 60), (500, 60), 2)
    space.add(floor)
    world = softkit.World(space)
    cloth = world.add(softkit.Cloth(8, 8, spacing=8, down=(0, 0, 1)))
    begun = []
    cloth.on_begin = lambda sheet, shape, particle: begun.append((sheet, shape))
    for _ in range(90):
        world.update(1 / 60)
    assert begun == [(cloth, floor)]
    contacts = world.contacts
    assert len(contacts) and set(contacts.shape) == {floor}
    assert contacts.normal[:, 1].max() < -0.999
    assert contacts.impulse.sum() == pytest.approx(900 / 60, rel=0.05)


def test_filters_and_sensors():
    for filter_, sensor, through in (
        (pymunk.ShapeFilter(), False, False),
        (pymunk.ShapeFilter(group=4), False, True),
        (pymunk.ShapeFilter(categories=2, mask=2), False, True),
        (pymunk.ShapeFilter(), True, True),
    ):
        space = space_with_gravity()
        floor = pymunk.Poly(space.static_body, [(-500, 60), (500, 60), (500, 90), (-500, 90)])
        floor.filter, floor.sensor = filter_, sensor
        space.add(floor)
        world = softkit.World(space)
        sheet_filter = pymunk.ShapeFilter(group=4) if filter_.group else pymunk.ShapeFilter(categories=1)
        cloth = world.add(softkit.Cloth(8, 8, spacing=8, down=(0, 0, 1), filter=sheet_filter))
        seen = 0
        for _ in range(40):
            world.update(1 / 60)
            seen += len(world.contacts)
        assert (cloth.positions[:, 1].min() > 100) == through
        assert bool(seen) == (sensor or not through)
