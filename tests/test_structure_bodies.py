"""Pieces of structures that become pymunk bodies."""

import math

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Structure

SLAB = [(0, 0), (120, 0), (120, 40), (0, 40)]


def scene(gravity=0.0):
    space = pymunk.Space()
    space.gravity = 0, gravity
    return space, softkit.World(space)


def steps(world, count):
    for _ in range(count):
        world.update(world.step)


def halves(world, **options):
    """9 and 12 nodes."""
    made = world.add(Structure(SLAB, spacing=20, **options))
    made.cut((50, -10), (50, 50))
    return made


def motion(made, nodes):
    """Mass, first moment, momentum, angular momentum about the origin."""
    m, x, v = made.masses[nodes], made.positions[nodes], made.velocities[nodes]
    return np.array([m.sum(), *(m @ x), *(m @ v), m @ (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0])])


def motion_of(body):
    m, x, v = body.mass, np.array(body.position), np.array(body.velocity)
    return np.array(
        [m, *(m * x), *(m * v), m * (x[0] * v[1] - x[1] * v[0]) + body.moment * body.angular_velocity]
    )


def spun(made, rate, turn, nodes, shift=(0.0, 0.0)):
    """Turn nodes by an angle about their middle and set them spinning."""
    x = made.positions[nodes]
    middle = made.masses[nodes] @ x / made.masses[nodes].sum()
    c, s = math.cos(turn), math.sin(turn)
    arm = (x - middle) @ np.array([[c, s], [-s, c]])
    made._x[nodes] = middle + shift + arm
    made._v[nodes] = rate * np.stack([-arm[:, 1], arm[:, 0]], axis=1) + (30, -20)


@pytest.mark.smoke
@pytest.mark.parametrize("far", [0.0, 1e5])
def test_body_has_mass_place_angle_and_momenta_of_its_nodes(far):
    space, world = scene()
    made = halves(world)
    nodes, stay = made.pieces
    made.translate((far, far))
    spun(made, 2.5, 0.7, nodes)
    want, rest = motion(made, nodes), motion(made, stay)
    m, x = made.masses[nodes], made.positions[nodes]
    middle = m @ x / m.sum()
    body = made.make_body(0)
    assert motion_of(body) == pytest.approx(want, rel=1e-6)
    assert body.angular_velocity == pytest.approx(2.5, rel=1e-6) and body.angle == pytest.approx(0.7)
    assert tuple(body.velocity) == pytest.approx((30, -20), rel=1e-6)
    assert body.moment == pytest.approx(m @ ((x - middle) ** 2).sum(axis=1), rel=1e-6)
    assert body.space is space and body.body_type == pymunk.Body.DYNAMIC
    # The other piece is as it was.
    assert made.count == 12 and made.piece_count == 1 and len(made.cells) == 6 == made.whole_cells.sum()
    assert motion(made, np.arange(12)) == pytest.approx(rest, rel=1e-12)
    assert made.mass == pytest.approx(rest[0]) and len(made.links) == 3 * 3 + 2 * 4 + 2 * 6
    # Four straight cells are one shape with the corners of the piece (its hull may start on a side).
    (shape,) = body.shapes
    corners = np.array([body.local_to_world(p) for p in shape.get_vertices()])
    assert 4 <= len(corners) <= 5 and shape.radius == made.radius and shape.friction == made.friction
    assert np.abs(corners[:, None] - x).max(axis=2).min(axis=1).max() < 1e-6 * max(1.0, far)
    steps(world, 30)
    assert np.isfinite(made.positions).all()


def test_momenta_stay_through_the_whole_run():
    space, world = scene()
    made = halves(world, damping=0)
    spun(made, 0.5, 0.0, made.pieces[0], (-30.0, 0.0))
    spun(made, -1.5, 0.2, made.pieces[1])
    steps(world, 5)
    before = motion(made, np.arange(made.count))
    body = made.make_body(1)
    after = motion(made, np.arange(made.count)) + motion_of(body)
    assert after == pytest.approx(before, rel=1e-6)
    steps(world, 20)
    assert made.count == 9 and (motion(made, np.arange(9)) + motion_of(body))[3:5] == pytest.approx(
        before[3:5], rel=1e-6
    )


def test_hollow_and_bent_pieces_get_shapes_over_their_cells():
    space, world = scene()
    ring = world.add(Structure.from_tiles([[1, 1, 1], [1, 0, 1], [1, 1, 1]], size=10))
    body = ring.make_body(0)
    assert sum(pymunk.Poly(None, s.get_vertices()).area for s in body.shapes) == pytest.approx(800)
    assert ring.world is None and ring.count == 16 and ring not in world.objects
    assert not space.point_query((15, 15), 0, pymunk.ShapeFilter())
    bent = world.add(Structure([(0, 0), (160, 0), (160, 10), (0, 10)], spacing=10, radius=1))
    x = bent._x
    x[:] += (0, 200)
    x[:, 1] += (x[:, 0] - 80) ** 2 / 200
    cells = x[bent.cells]
    d, e = cells[:, 2] - cells[:, 0], cells[:, 3] - cells[:, 1]
    area = 0.5 * np.abs(d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0]).sum()
    body = bent.make_body(-1)
    assert 1 < len(body.shapes) <= 16
    cover = sum(pymunk.Poly(None, s.get_vertices()).area for s in body.shapes)
    assert area * 0.999 < cover < area * 1.021


def test_single_nodes_become_circles():
    space, world = scene()
    made = world.add(Structure.from_tiles([[1, 1]], size=20))
    for node in range(3):
        made.weaken(node, 0)
    made.cut((-5, 10), (45, 10))
    made.cut((10, -5), (10, 25))
    assert made.piece_count == 6
    made.apply_impulse((3, 4), piece=2)
    want = motion(made, made.pieces[2])
    body = made.make_body(2)
    assert motion_of(body)[:5] == pytest.approx(want[:5]) and body.angular_velocity == 0
    (shape,) = body.shapes
    assert isinstance(shape, pymunk.Circle) and shape.radius == made.radius
    assert body.moment == pytest.approx(0.5 * body.mass * made.radius**2)
    made.explode((0, 0), 100, 10)
    steps(world, 5)
    assert made.count == 5 and len(made.cells) == 1 and (made.integrity == 0).all()
    for left in range(4, -1, -1):
        made.make_body(0)
        assert made.count == max(left, 1)
        made.explode((0, 0), 100, 10)
        data, before = world.snapshot(), world.state_hash()
        steps(world, 2)
        world.restore(data)
        assert world.state_hash() == before
    assert not len(made.cells)
    assert made.world is None and len(space.bodies) == 6


def test_what_holds_the_rest_keeps_its_node():
    space, world = scene()
    made = halves(world)
    left, right = made.pieces
    anchor = pymunk.Body(5, 500)
    space.add(anchor)
    rope = world.add(softkit.Rope((120, 40), (200, 40), segments=8))
    blob = world.add(softkit.SoftBody.circle((300, 0), 20))
    pin, tie, join = (int(right[k]) for k in (0, 3, -1))
    where = made.positions[[pin, tie, join]].copy()
    made.pin(pin)
    made.attach(tie, anchor)
    made.join(join, blob, 0)
    made.weaken(int(right[5]), 0.25)
    where[2] = made.positions[join]
    made.make_body(0)
    assert made.positions[[*made.pinned, *made.attachments, made.joins[0][0]]] == pytest.approx(where)
    assert made.joins[0][1:] == (blob, 0) and blob.joins == [(0, made, made.joins[0][0])]
    assert made.inverse_mass[made.pinned[0]] == 0 and rope.count == 9
    assert made.integrity.argmin() == 5
    steps(world, 20)
    assert made.positions[made.pinned[0]] == pytest.approx(where[0])


def test_refusals_change_nothing():
    space, world = scene()
    made = halves(world)
    blob = world.add(softkit.SoftBody.circle((300, 0), 20))
    body = pymunk.Body(5, 500)
    space.add(body)
    first = int(made.pieces[0][0])
    for hold, free in [
        (lambda: None, lambda: None),
        (lambda: made.pin(first), lambda: made.unpin(first)),
        (lambda: made.attach(first, body), lambda: made.detach(first)),
        (lambda: made.join(first, blob, 0), lambda: made.detach(first)),
    ]:
        hold()
        before, bodies = world.state_hash(), len(space.bodies)
        for bad, error in [
            (2, IndexError),
            (-3, IndexError),
            (0.0, TypeError),
            (True, TypeError),
            ("a", TypeError),
        ]:
            with pytest.raises(error, match="piece"):
                made.make_body(bad)
        if made.pinned or made.attachments or made.joins:
            with pytest.raises(ValueError, match=f"piece must hang on nothing, got 0: node {first}"):
                made.make_body(0)
        assert world.state_hash() == before and len(space.bodies) == bodies
        free()
    for home in (None, softkit.World()):
        loose = Structure(SLAB, spacing=20)
        if home is not None:
            home.add(loose)
        with pytest.raises(ValueError, match="piece must be in a world with a space"):
            loose.make_body(0)
        assert loose.count == 21


def test_in_callbacks_it_takes_effect_after_the_step():
    space, world = scene()
    made = halves(world)
    made.cut((90, -10), (90, 50))
    assert [len(p) for p in made.pieces] == [9, 6, 6]
    made.apply_impulse((30, 40))
    bodies = []

    def call(_):
        if bodies:
            return
        bodies.extend(made.make_body(k) for k in (0, 2))
        space.add(bodies[1])
        with pytest.raises(ValueError, match="piece must not be leaving already"):
            made.make_body(2)
        assert made.count == 21 and bodies[0].space is None and not bodies[1].shapes
        # A cut of the same callback finds its links among those that stay.
        assert made.cut((50, 30), (90, 30)) == 4

    world.before_space = call
    before = motion(made, np.arange(21))
    steps(world, 1)
    assert [body.space for body in bodies] == [space, space]
    after = motion(made, np.arange(made.count)) + sum(motion_of(b) for b in bodies)
    assert after[[0, 3, 4]] == pytest.approx(before[[0, 3, 4]], rel=1e-3)
    assert made.count == 6 and made.piece_count == 3 and len(made.links) == 6
    steps(world, 30)
    assert np.isfinite(made.positions).all()


def test_all_pieces_in_a_break_event():
    space, world = scene(900)
    floor = pymunk.Segment(space.static_body, (-5000, 5), (5000, 5), 5)
    floor.friction = 1
    space.add(floor)
    made = world.add(Structure.from_tiles(np.ones((8, 8), int), materials=["stone"], origin=(0, -165)))

    def rigid(structure, breaks):
        for k, piece in enumerate(structure.pieces):
            if len(piece) <= 12:
                structure.make_body(k)
        structure.on_break = None

    made.on_break = rigid
    mass = made.mass
    made.explode((80, -80), 70, 60_000)
    steps(world, 120)
    soft = made.mass if made.world is not None else 0.0
    assert len(space.bodies) > 0 and soft + sum(b.mass for b in space.bodies) == pytest.approx(mass)
    assert np.isfinite(made.positions).all()
    assert all(math.isfinite(b.position.x + b.position.y) and b.position.y < 20 for b in space.bodies)


def test_pictures_stay_on_the_nodes():
    pygame = pytest.importorskip("pygame")
    from softkit.render import View

    space, world = scene()
    made = halves(world, radius=0.5)
    texture = pygame.Surface((120, 40))
    texture.fill((250, 0, 0), (0, 0, 60, 40))
    texture.fill((0, 0, 250), (60, 0, 60, 40))
    surface = pygame.Surface((120, 40))
    view = View(surface)
    view.style(made, texture=texture, damage=0)

    def look(x):
        surface.fill((0, 0, 0))
        view.draw(world)
        return tuple(surface.get_at((x, 20)))[:3]

    whole = look(110), look(75)
    assert whole[0][2] > 200 and whole[1][2] > 200
    space.remove(*(body := made.make_body(0)).shapes, body)
    assert (look(110), look(75)) == whole and look(20) == (0, 0, 0)


def test_snapshots_before_and_after():
    space, world = scene()
    made = halves(world)
    made.apply_impulse((30, 40))
    steps(world, 3)
    early, early_hash = world.snapshot(), world.state_hash()
    body = made.make_body(0)
    late, late_hash = world.snapshot(), world.state_hash()
    steps(world, 20)
    end = world.state_hash()
    with pytest.raises(ValueError, match="bodies"):
        world.restore(early)
    world.restore(late)
    assert world.state_hash() == late_hash and made.count == 12
    steps(world, 20)
    assert world.state_hash() == end
    space.remove(body, *body.shapes)
    world.restore(early)
    assert world.state_hash() == early_hash and made.count == 21 and made.piece_count == 2
