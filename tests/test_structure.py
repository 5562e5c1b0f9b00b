"""Structure: ways to make one, refusals, damage, holding, state."""

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Material, Structure

SLAB = [(0, 0), (120, 0), (120, 40), (0, 40)]
BLOCK = np.ones((4, 6), int)


def scene(gravity=900.0):
    space = pymunk.Space()
    space.gravity = 0, gravity
    floor = pymunk.Segment(space.static_body, (-5000, 5), (5000, 5), 5)
    floor.friction = 1
    space.add(floor)
    return space, softkit.World(space)


def steps(world, count):
    for _ in range(count):
        world.update(world.step)


def state(made):
    return {name: array.copy() for name, array in made._arrays().items()}


@pytest.mark.smoke
def test_every_way_to_make_one():
    slab = Structure(SLAB, spacing=20)
    # 6 x 2 cells: 7 x 3 nodes; sides 6 x 3 + 7 x 2, two diagonals a cell
    assert slab.count == 21 and len(slab.links) == 18 + 14 + 24
    assert slab.mass == pytest.approx(120 * 40 * 0.001) and slab.masses.sum() == pytest.approx(slab.mass)
    assert slab.center == pytest.approx((60, 20)) and slab.piece_count == 1
    tiles = Structure.from_tiles([[1, 2], [0, 2]], size=10, origin=(5, 6), materials=["wood", "steel"])
    assert tiles.mass == pytest.approx(100 * (0.001 + 2 * 0.008)) and tiles.count == 8
    alpha = np.zeros((20, 40), np.uint8)
    alpha[:, :20] = 255
    picture = Structure.from_image(alpha, spacing=10, origin=(100, 0), scale=2)
    assert picture.mass == pytest.approx(40 * 40 * 0.001) and picture.positions[:, 0].max() == 140
    assert Structure.from_image(alpha > 0, spacing=10).mass == pytest.approx(20 * 20 * 0.001)
    halves = Structure.from_fragments(
        [[(0, 0), (40, 0), (40, 40), (0, 40)], [(40, 0), (80, 0), (80, 40), (40, 40)]],
        spacing=20,
        material=["glass", "steel"],
    )
    assert halves.mass == pytest.approx(1600 * (0.0025 + 0.008)) and halves.piece_count == 1
    triangle = Structure([(0, 0), (100, 0), (0, 100)], spacing=10, material="stone", threshold=0.1)
    assert triangle.mass == pytest.approx(5000 * 0.0025, rel=0.03)
    for made in (slab, tiles, picture, halves, triangle):
        assert not made.positions.flags.writeable and len(made.strain) == len(made.links)
        assert made.integrity.min() == made.integrity.max() == 1.0 and not made.breaks


def test_picture_of_pygame():
    pygame = pytest.importorskip("pygame")
    surface = pygame.Surface((40, 20), pygame.SRCALPHA)
    surface.fill((10, 20, 30, 255), (0, 0, 20, 20))
    assert Structure.from_image(surface, spacing=10).mass == pytest.approx(400 * 0.001)
    assert Structure.from_image(pygame.Surface((40, 20)), spacing=10).mass == pytest.approx(800 * 0.001)


def test_stiffness_is_that_of_the_material():
    # Isotropic lattice: the sum of stiffness times strain energy of a uniform stretch e along x, free across
    # (Poisson 1/3), is E e^2 A / 2.
    made = Structure.from_tiles(BLOCK, size=10, materials=[Material(0.001, 1e-4)])
    x = made.rest_shape * (1.001, 1.0 - 0.001 / 3)
    a, b = made.links.T
    gap = np.hypot(*(x[a] - x[b]).T) - made._link_made
    assert 0.5 * (gap**2 / made._link_soft).sum() == pytest.approx(0.5 * 1e4 * 1e-6 * 2400, rel=1e-3)


def test_colors_share_no_node_even_after_losses():
    made = Structure.from_tiles(np.ones((9, 9), int))
    for _ in range(3):
        for first, last in zip(made._colors[:-1], made._colors[1:]):
            ends = made.links[first:last].reshape(-1)
            assert len(np.unique(ends)) == len(ends)
        made.cut((30, -10), (50 + 40 * _, 200))


BAD = [
    (lambda: Structure([(0, 0), (1, 0)]), ValueError, "outline"),
    (lambda: Structure([(0, 0), (10, 10), (10, 0), (0, 10)]), ValueError, "outline"),
    (lambda: Structure([(0, 0), (float("nan"), 0), (0, 10)]), ValueError, "outline"),
    (lambda: Structure(SLAB, spacing=0), ValueError, "spacing"),
    (lambda: Structure(SLAB, spacing=1e-3), ValueError, "spacing"),
    (lambda: Structure(SLAB, material="cheese"), ValueError, "material"),
    (lambda: Structure(SLAB, material=7), TypeError, "material"),
    (lambda: Structure(SLAB, threshold=0), ValueError, "threshold"),
    (lambda: Structure(SLAB, radius=-1), ValueError, "radius"),
    (lambda: Structure(SLAB, mass=3), TypeError, "mass"),
    (lambda: Structure.from_tiles([[0]]), ValueError, "filled"),
    (lambda: Structure.from_tiles([[9]]), ValueError, "materials"),
    (lambda: Structure.from_tiles([[0.5]]), ValueError, "tiles"),
    (lambda: Structure.from_tiles([[1]], size=float("inf")), ValueError, "size"),
    (lambda: Structure.from_tiles([[1]], materials=3), TypeError, "materials"),
    (lambda: Structure.from_image(np.zeros((4, 4, 3))), ValueError, "picture"),
    (lambda: Structure.from_image(np.full((4, 4), 2.0)), ValueError, "picture"),
    (lambda: Structure.from_image(np.ones((4, 4)), spacing=0.5), ValueError, "spacing"),
    (lambda: Structure.from_fragments([]), ValueError, "fragments"),
    (lambda: Structure.from_fragments([SLAB], material=["wood", "wood"]), ValueError, "material"),
    (lambda: Material(0, 1), ValueError, "density"),
    (lambda: Material(1, -1), ValueError, "compliance"),
    (lambda: Material(1, 1, toughness=float("nan")), ValueError, "toughness"),
]


@pytest.mark.parametrize("make, error, name", BAD)
def test_refusals(make, error, name):
    with pytest.raises(error, match=name):
        make()


def test_refusals_change_nothing():
    space, world = scene()
    made = world.add(Structure(SLAB, spacing=20))
    before = world.state_hash()
    for call, error, name in [
        (lambda: made.explode((0, float("nan")), 5, 5), ValueError, "point"),
        (lambda: made.explode((0, 0), 0, 5), ValueError, "radius"),
        (lambda: made.explode((0, 0), 5, -5), ValueError, "impulse"),
        (lambda: made.explode((0, 0), 5, 5, falloff=99), ValueError, "falloff"),
        (lambda: made.cut((0, 0), (1, 2, 3)), ValueError, "b"),
        (lambda: made.pin(99), IndexError, "i"),
        (lambda: made.weaken(0, 1.5), ValueError, "health"),
        (lambda: made.attach(0, pymunk.Body(1, 1)), ValueError, "body"),
        (lambda: made.apply_impulse((0, float("inf"))), ValueError, "impulse"),
        (lambda: made.apply_impulse((0, 1), piece=1), IndexError, "piece"),
        (lambda: made.move(0, (1e13, 0)), ValueError, "p"),
    ]:
        with pytest.raises(error, match=name):
            call()
    assert world.state_hash() == before


def test_cut_makes_pieces_that_keep_the_momentum():
    world = softkit.World(gravity=(0, 0))
    made = world.add(Structure(SLAB, spacing=20, damping=0))
    made.apply_impulse((30, -20))
    assert made.velocity == pytest.approx((30 / made.mass, -20 / made.mass))
    heard = []
    made.on_break = lambda structure, breaks: heard.append(len(breaks))
    count = len(made.links)
    broke = made.cut((50, -10), (50, 50))
    # A column of cells: three sides along x and two diagonals in each of two cells.
    assert broke == 3 + 4 == count - len(made.links) == len(made.breaks)
    assert made.piece_count == 2 and [len(p) for p in made.pieces] == [9, 12]
    assert (made.piece_of[made.pieces[1]] == 1).all() and made.whole_cells.sum() == 10
    assert made.breaks[0].energy == 0.0 and made.breaks[0].place[0] == 50
    steps(world, 30)
    assert np.array(made.velocity) * made.mass == pytest.approx((30, -20), abs=30e-6)
    assert made.integrity.min() < 1.0 and not heard


def test_explosion_reaches_as_far_as_its_radius():
    made = Structure.from_tiles(np.ones((10, 10), int), materials=["glass"])
    made.explode((100, 100), 60, 5000)
    away = np.hypot(*(made.positions - (100, 100)).T)
    assert (made.velocities[away >= 60] == 0).all() and (made.velocities[(away > 0) & (away < 60)] != 0).any()
    node = int(np.argmin(np.abs(away - 20)))
    # Its share of the disc: a whole cell of 400, times 1 - 20 / 60.
    push = 5000 * 400 / (np.pi * 3600) * (2 / 3)
    assert np.hypot(*made.velocities[node]) * made.masses[node] == pytest.approx(push)
    assert made.integrity[node] == pytest.approx(max(0.0, 1 - push / made.resistance[node]))


def test_blast_breaks_links_and_tells():
    space, world = scene(0)
    made = world.add(Structure.from_tiles(np.ones((8, 8), int), materials=["stone"], origin=(0, -400)))
    heard = []
    made.on_break = lambda structure, breaks: heard.extend(breaks)
    made.explode((80, -320), 70, 60_000)
    steps(world, 20)
    assert len(heard) > 20 and made.piece_count > 1
    assert all(b.energy >= 0 and np.hypot(b.place[0] - 80, b.place[1] + 320) < 400 for b in heard)
    assert len(made.links) == 8 * 9 * 2 + 128 - len(heard)


def test_attach_and_pin():
    space, world = scene()
    body = pymunk.Body(5, 500)
    body.position = 60, -200
    space.add(body)
    made = world.add(Structure(SLAB, spacing=20))
    made.translate((0, -300))
    made.pin(0)
    made.pin(-1)
    made.attach(10, body)
    steps(world, 60)
    assert tuple(made.positions[0]) == pytest.approx((0, -300), abs=1e-9)
    # It hangs: the node and its point of the body are one.
    assert np.array(body.local_to_world(made.attachments[10][1])) == pytest.approx(
        made.positions[10], abs=0.5
    )
    space.remove(body)
    steps(world, 2)
    assert made.attachments == {} and world.health.bodies_lost == 1


def blasted(threads):
    softkit.set_threads(threads)
    space, world = scene()
    made = world.add(Structure.from_tiles(np.ones((14, 10), int), materials=["stone"], origin=(0, -283)))
    crate = pymunk.Body(8, 3000)
    crate.position = -200, -200
    crate.velocity = 900, 0
    shape = pymunk.Poly.create_box(crate, (30, 30))
    shape.friction = 0.5
    space.add(crate, shape)
    other = world.add(Structure(SLAB, spacing=10, material="rubber"))
    other.translate((300, -60))
    steps(world, 10)
    made.explode((100, -100), 60, 60_000)
    return world, made


def test_bits_and_snapshot_in_the_middle_of_breaking():
    before = softkit.get_threads()
    try:
        hashes = []
        for threads in (1, 2):
            world, made = blasted(threads)
            steps(world, 1)
            data, links, middle = world.snapshot(), len(made.links), world.state_hash()
            steps(world, 40)
            hashes.append(world.state_hash())
            assert len(made.links) < links and made.piece_count > 1
        assert hashes[0] == hashes[1]
        world.restore(data)
        assert world.state_hash() == middle and len(made.links) == links
        steps(world, 40)
        assert world.state_hash() == hashes[0]
        fresh, _ = blasted(1)
        fresh.restore(data)
        steps(fresh, 40)
        assert fresh.state_hash() == hashes[0]
    finally:
        softkit.set_threads(before)


def test_anything_goes_and_stays_finite():
    space, world = scene()
    made = world.add(Structure.from_tiles(np.ones((6, 6), int), materials=["glass"]))
    made.explode((50, 50), 500, 1e12)
    made.move(3, (1e6, -1e6))
    made.cut((-1e9, 60), (1e9, 61))
    steps(world, 30)
    assert np.isfinite(made.positions).all() and np.isfinite(made.velocities).all()
    world.remove(made)
    assert made.cut((-1e9, -1e9), (1e9, 1e9)) >= 0 and world.add(made) is made
