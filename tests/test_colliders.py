"""pymunk shapes as soft objects meet them: every kind, every change, every speed."""

import itertools
import math

import numpy as np
import pymunk
import pytest

import softkit

STATIC, KINEMATIC, DYNAMIC = pymunk.Body.STATIC, pymunk.Body.KINEMATIC, pymunk.Body.DYNAMIC


def scene(gravity=(0, 900), **options):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, **options)


def steps(world, count):
    for _ in range(count):
        world.update(world.step)


def bead(world, place, velocity=(0, 0), radius=2.0, **options):
    """The smallest rope there is, as good as one particle: two nodes a hair apart."""
    rope = softkit.Rope(place, (place[0] + 0.01, place[1]), segments=1, radius=radius, damping=0, **options)
    rope._v[:] = velocity
    return world.add(rope)


def depth(shapes, points, radius):
    """How deep circles of this radius lie in shapes, by pymunk's own distance (negative inside)."""
    worst = -math.inf
    for shape in shapes:
        for p in points:
            worst = max(worst, radius - shape.point_query(tuple(p)).distance)
    return worst


# every kind of shape


def circle(body):
    return pymunk.Circle(body, 25, (6, -4))


def segment(body):
    return pymunk.Segment(body, (-40, 5), (35, -10), 0)


def thick(body):
    return pymunk.Segment(body, (-30, 0), (30, 8), 6)


def poly(body):
    return pymunk.Poly(body, [(-30, -20), (25, -25), (40, 10), (0, 30), (-35, 15)])


def round_poly(body):
    return pymunk.Poly(body, [(-20, -20), (20, -20), (20, 20), (-20, 20)], radius=5)


def clockwise(body):
    return pymunk.Poly(
        body, [(-20, 20), (20, 20), (30, 0), (20, -20), (-20, -20)], pymunk.Transform(a=1.2, d=0.8, tx=5)
    )


SHAPES = [circle, segment, thick, poly, round_poly, clockwise]


@pytest.mark.smoke
@pytest.mark.parametrize("make", SHAPES)
@pytest.mark.parametrize("kind", [STATIC, KINEMATIC, DYNAMIC])
def test_a_draped_rope_lies_on_every_kind_of_shape(make, kind):
    """Offset, centre of gravity off the origin, turned by 30 degrees, far from where it was made."""
    space, world = scene()
    body = pymunk.Body(1e9, 1e12, body_type=kind)
    if kind == DYNAMIC:
        body.center_of_gravity = (20, -7)
        body.velocity_func = lambda b, g, d, dt: None  # held up
    body.angle, body.position = math.radians(30), (300, -200)
    shape = make(body)
    shape.friction = 1
    space.add(body, shape)
    rope = world.add(softkit.Rope((210, -270), (390, -270), segments=60, mass=0.1))
    touched = False
    for _ in range(150):
        world.update(1 / 60)
        touched = touched or len(world.contacts) > 0
        assert depth([shape], rope.positions, rope.radius) < 0.5
    assert touched


@pytest.mark.parametrize("make", SHAPES)
@pytest.mark.parametrize("angle", [0, 2.1])
def test_beads_thrown_from_all_sides_stay_outside(make, angle):
    space, world = scene((0, 0))
    body = pymunk.Body(body_type=STATIC)
    body.angle, body.position = angle, (100, 50)
    shape = make(body)
    space.add(body, shape)
    beads = []
    for k in range(24):
        a = 2 * math.pi * k / 24 + 0.01
        d = np.array([math.cos(a), math.sin(a)])
        beads.append(
            bead(world, 100 * d + (100, 50), -2000 * d, filter=pymunk.ShapeFilter(mask=1, categories=2))
        )
    met = 0
    for _ in range(12):
        world.update(1 / 60)
        met = max(
            met, len(set(world.contacts.particle * 1000 + [beads.index(o) for o in world.contacts.object]))
        )
        for rope in beads:
            assert depth([shape], rope.positions, rope.radius) < 1.0
    assert met > 0


# continuous contact


@pytest.mark.parametrize("speed", [300, 3000, 20_000])
@pytest.mark.parametrize("make", SHAPES)
def test_nothing_passes_at_any_speed(make, speed):
    """Sixty beads at random in a ring of thin segments round a shape: none gets out of it or into the
    shape.
    """
    rng = np.random.default_rng(5)
    space, world = scene((0, 0))
    shape = make(space.static_body)
    box = [pymunk.Segment(space.static_body, a, b, 0) for a, b in itertools.pairwise(RING)]
    space.add(shape, *box)
    beads = []
    for _ in range(60):
        a, r = rng.uniform(0, 2 * math.pi), rng.uniform(60, 90)
        b = rng.uniform(0, 2 * math.pi)
        beads.append(
            bead(
                world,
                (r * math.cos(a), r * math.sin(a)),
                (speed * math.cos(b), speed * math.sin(b)),
                filter=pymunk.ShapeFilter(mask=1, categories=2),
            )
        )
    for s in (shape, *box):
        s.elasticity = 1.0
    for _ in range(60):
        world.update(1 / 60)
    x = np.concatenate([b.positions for b in beads])
    assert (np.abs(x) < 120).all(), "left through the ring of zero-radius segments"
    assert depth([shape], x, 2.0) < 1.0


RING = [(-120, -120), (120, -120), (120, 120), (-120, 120), (-120, -120)]


@pytest.mark.parametrize("speed", [1000, 3000, 8000, 20_000])
@pytest.mark.parametrize("angle", [0, 0.5, 1.2])
def test_a_whole_rope_does_not_pass_a_thin_wall(speed, angle):
    space, world = scene((0, 0))
    c, s = math.cos(angle), math.sin(angle)
    space.add(pymunk.Segment(space.static_body, (-1000, 0), (1000, 0), 0))
    rope = world.add(softkit.Rope((-100 * c, -100 - 100 * s), (100 * c, -100 + 100 * s), segments=29))
    rope._v[:] = (0, speed)
    for _ in range(60):
        world.update(1 / 60)
        assert rope.positions[:, 1].max() < 0
    assert np.isfinite(rope.positions).all()


@pytest.mark.parametrize("rate", [2, 10, 25])
def test_a_spinning_box_does_not_pass_through_a_hanging_rope(rate):
    space, world = scene()
    body = pymunk.Body(body_type=KINEMATIC)
    body.angular_velocity, body.position = rate, (30, 100)
    shape = pymunk.Poly.create_box(body, (60, 30))
    space.add(body, shape)
    rope = world.add(softkit.Rope((75, 0), (75, 240), segments=48))
    rope.pin(0)
    for _ in range(180):
        world.update(1 / 60)
        assert depth([shape], rope.positions, rope.radius) < 1.0
        middle = 0.5 * (rope.positions[1:] + rope.positions[:-1])
        assert depth([shape], middle, 0.0) < 0.5


def test_a_point_exactly_on_a_segment_its_end_a_vertex_and_a_centre():
    """I14: finite, and out within five steps."""
    space, world = scene((0, 0))
    b = space.static_body
    shapes = [
        pymunk.Segment(b, (0, 0), (50, 0), 0),
        pymunk.Segment(b, (50, 0), (90, 30), 0),
        pymunk.Poly(b, [(100, 0), (140, 0), (140, 40), (100, 40)]),
        pymunk.Circle(b, 3, (200, 0)),
    ]
    space.add(*shapes)
    only = pymunk.ShapeFilter(mask=1, categories=2)
    beads = [
        bead(world, p, filter=only)
        for p in [(25, 0), (0, 0), (50, 0), (100, 0), (140, 40), (200, 0), (120, 20)]
    ]
    world.max_depenetration_speed = 1000
    steps(world, 5)
    for rope in beads:
        assert np.isfinite(rope.positions).all()
    for rope in beads[:6]:
        assert depth(shapes, rope.positions, 2.0) < 0.2
    steps(world, 30)
    assert depth(shapes, beads[6].positions, 2.0) < 0.2


def test_overlap_opens_at_a_capped_speed_and_makes_no_velocity():
    space, world = scene((0, 0))
    box = pymunk.Poly.create_box(space.static_body, (200, 200))
    space.add(box)
    rope = bead(world, (0, 60))
    world.max_depenetration_speed = 120
    for k in range(1, 15):
        world.update(1 / 60)
        assert rope.positions[:, 1] == pytest.approx(60 + 2 * k, abs=0.1)
        assert np.abs(rope.velocities).max() < 1e-6
    steps(world, 20)
    assert rope.positions[:, 1] == pytest.approx(102, abs=0.1)


# changes between frames


@pytest.mark.parametrize("kind", [STATIC, KINEMATIC])
def test_shapes_added_removed_moved_turned_without_a_call(kind):
    space, world = scene()
    rope = world.add(softkit.Rope((-20, 0), (20, 0)))
    steps(world, 5)
    body = pymunk.Body(body_type=kind)
    body.position = 0, 100
    box = pymunk.Poly.create_box(body, (100, 20))
    space.add(body, box)
    steps(world, 60)
    assert rope.positions[:, 1] == pytest.approx(88, abs=0.3)
    for y in range(100, 60, -1):
        body.position = 0, y
        world.update(1 / 60)
    steps(world, 30)
    assert rope.positions[:, 1] == pytest.approx(49, abs=0.5)
    for k in range(1, 21):
        body.angle = k * math.pi / 40
        world.update(1 / 60)
        assert depth([box], rope.positions, 2.0) < 0.5
    assert rope.positions[:, 1].max() > 60
    space.remove(box)
    speed = rope.velocities[:, 1].mean()
    steps(world, 20)
    assert rope.velocities[:, 1].mean() == pytest.approx(speed + 300, rel=0.1)
    space.remove(body)
    steps(world, 5)


def test_what_is_set_while_running_counts_from_the_next_step():
    space, world = scene()
    floor = pymunk.Segment(space.static_body, (-500, 100), (500, 100), 0)
    space.add(floor)
    rope = bead(world, (0, 98))
    steps(world, 10)
    assert rope.positions[0, 1] == pytest.approx(98, abs=0.01)
    floor.sensor = True
    world.update(1 / 60)
    assert rope.velocities[:, 1] == pytest.approx(15)
    assert len(world.contacts) > 0 and (world.contacts.impulse == 0).all()
    floor.sensor = False
    rope._x[:, 1], rope._v[:] = 98, 0
    world.update(1 / 60)
    assert np.abs(rope.velocities).max() < 1e-6
    floor.filter = pymunk.ShapeFilter(mask=0)
    world.update(1 / 60)
    assert rope.velocities[:, 1] == pytest.approx(15)
    floor.filter = pymunk.ShapeFilter()
    rope._x[:, 1], rope._v[:] = 98, (300, 0)
    world.update(1 / 60)
    assert rope.velocities[:, 0] == pytest.approx(300)
    floor.friction = 1
    world.update(1 / 60)
    assert rope.velocities[:, 0] == pytest.approx(300 - 900 / 60 * 0.7, rel=1e-6)
    floor.friction = 0
    floor.surface_velocity = (50, 0)
    floor.elasticity = 1
    rope.translate((0, 90 - rope.positions[0, 1]))
    rope._v[:] = (0, 300)
    steps(world, 4)
    assert rope.velocities[:, 1].max() < -200


def test_geometry_changed_in_place():
    space, world = scene()
    ball = pymunk.Circle(space.static_body, 20, (0, 100))
    wall = pymunk.Segment(space.static_body, (200, 100), (300, 100), 1)
    space.add(ball, wall)
    a, b = bead(world, (0, 60)), bead(world, (250, 60))
    a.pin(0)
    steps(world, 2)
    ball.unsafe_set_radius(50)
    wall.unsafe_set_endpoints((200, 80), (300, 80))
    world.refresh()
    steps(world, 60)
    assert depth([wall], b.positions, 2.0) < 0.1 and b.positions[0, 1] == pytest.approx(77, abs=0.1)
    ball.unsafe_set_radius(5)
    ball.unsafe_set_offset((250, 60))
    world.refresh()
    steps(world, 30)
    assert depth([ball], b.positions, 2.0) < 0.1


def test_a_circles_radius_is_seen_without_refresh():
    space, world = scene((0, 0))
    ball = pymunk.Circle(space.static_body, 20)
    space.add(ball)
    rope = bead(world, (0, -50))
    steps(world, 2)
    ball.unsafe_set_radius(60)
    steps(world, 10)
    assert depth([ball], rope.positions, 2.0) < 0.1


def test_a_shape_removed_from_a_body_that_carries_a_rope():
    """The body stays, and so does the tie."""
    space, world = scene()
    body = pymunk.Body(1, 100)
    body.position = 100, 0
    shape = pymunk.Circle(body, 5)
    space.add(body, shape)
    rope = world.add(softkit.Rope((0, 0), (100, 0)))
    rope.pin(0)
    rope.attach(-1, body)
    steps(world, 10)
    space.remove(shape)
    for _ in range(60):
        world.update(1 / 60)
        assert math.dist(rope.positions[-1], body.position) < 1e-6
    assert rope.length == pytest.approx(100, rel=0.005)


# filters


def cases():
    for group_a, group_b in [(0, 0), (1, 1), (1, 2), (0, 1)]:
        for categories, mask_a, mask_b in [
            ((1, 2), 2, 1),
            ((1, 2), 2, 4),
            ((1, 2), 4, 1),
            ((6, 3), 2, 4),
        ]:
            a = pymunk.ShapeFilter(group_a, categories[0], mask_a)
            b = pymunk.ShapeFilter(group_b, categories[1], mask_b)
            yield a, b


def pymunk_meets(a, b):
    """Asks pymunk itself."""
    space = pymunk.Space()
    shapes = []
    for f in (a, b):
        body = pymunk.Body(1, 1)
        shape = pymunk.Circle(body, 5)
        shape.filter = f
        space.add(body, shape)
        shapes.append(shape)
    space.step(0.01)
    hits = []
    shapes[0].body.each_arbiter(lambda arbiter: hits.append(arbiter))
    return bool(hits)


@pytest.mark.parametrize("speed", [100, 3000])
@pytest.mark.parametrize("dynamic", [False, True])
def test_filters_follow_pymunks_rule(speed, dynamic):
    """I09: 16 cases, slow and swept, both sides."""
    met = 0
    for a, b in cases():
        space, world = scene((0, 0))
        body = pymunk.Body(1e9, 1e9) if dynamic else space.static_body
        wall = pymunk.Segment(body, (-100, 0), (100, 0), 0)
        wall.filter = b
        space.add(*([body] if dynamic else []), wall)
        rope = bead(world, (0, -10), (0, speed), filter=a)
        steps(world, 20)
        expected = pymunk_meets(a, b)
        met += expected
        assert (rope.positions[0, 1] < 0) == expected, (a, b)
    assert 0 < met < 16


# surface laws


@pytest.mark.parametrize("angle", [0, 20, -20])
@pytest.mark.parametrize("substeps", [1, 8])
def test_a_conveyor_carries_a_rope_at_its_speed(angle, substeps):
    """I11."""
    space, world = scene(substeps=substeps)
    a = math.radians(angle)
    along = np.array([math.cos(a), math.sin(a)])
    up = np.array([math.sin(a), -math.cos(a)])
    belt = pymunk.Segment(space.static_body, tuple(-2000 * along), tuple(2000 * along), 2)
    belt.friction, belt.surface_velocity = 1, tuple(100 * along)
    space.add(belt)
    start = 4.5 * up
    rope = world.add(softkit.Rope(start, start + 60 * along, friction=1))
    steps(world, 120)
    speeds = []
    for _ in range(60):
        world.update(1 / 60)
        speeds.append(rope.velocities.mean(axis=0))
    assert np.mean(speeds, axis=0) @ along == pytest.approx(100, rel=0.05)
    assert abs(np.mean(speeds, axis=0) @ up) < 1


@pytest.mark.parametrize("substeps", [1, 8])
@pytest.mark.parametrize("by", ["velocity", "position", "turning"])
def test_a_moving_platform_takes_a_rope_along(by, substeps):
    """I12: slip below 5 % after a second; till then friction needs v^2 / (2 mu g) to bring it to speed."""
    space, world = scene(substeps=substeps)
    body = pymunk.Body(body_type=KINEMATIC)
    top = pymunk.Poly.create_box(body, (400, 20))
    top.friction = 1
    space.add(body, top)
    rope = world.add(softkit.Rope((100, -13), (150, -13), friction=1))
    steps(world, 60)
    local = [body.world_to_local(tuple(p)) for p in rope.positions]
    if by == "velocity":
        body.velocity = 100, 0
    if by == "turning":
        body.angular_velocity = -0.3
    for k in range(60):
        if by == "position":
            body.position = (k + 1) * 100 / 60, 0
        world.update(1 / 60)
    now = [body.world_to_local(tuple(p)) for p in rope.positions]
    slip = max(abs(p[0] - q[0]) for p, q in zip(local, now))
    if by == "turning":
        assert slip < 0.05 * 0.3 * 150
    else:
        assert slip < 100**2 / 1800 * 1.15
        assert np.abs(rope.velocities[:, 0] - 100).max() < 5


@pytest.mark.parametrize("mu, angle", [(0.5, 20), (0.5, 35), (0.2, 8), (0.2, 20), (1.0, 40), (1.0, 50)])
def test_an_incline_holds_below_its_angle_of_friction(mu, angle):
    space, world = scene()
    a = math.radians(angle)
    along, up = np.array([math.cos(a), math.sin(a)]), np.array([math.sin(a), -math.cos(a)])
    slope = pymunk.Segment(space.static_body, tuple(-3000 * along), tuple(3000 * along), 0)
    slope.friction = mu
    space.add(slope)
    rope = world.add(softkit.Rope(2 * up, 2 * up + 40 * along, friction=1, damping=0))
    steps(world, 60)
    speed = float(rope.velocities.mean(axis=0) @ along)
    expected = max(0.0, 900 * (math.sin(a) - mu * math.cos(a)))
    assert speed == pytest.approx(expected, rel=0.03, abs=1)


@pytest.mark.parametrize("e", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("kind", [STATIC, KINEMATIC])
def test_rebound_height_is_e_squared_times_the_drop(e, kind):
    space, world = scene()
    body = space.static_body if kind == STATIC else pymunk.Body(body_type=kind)
    floor = pymunk.Segment(body, (-500, 400), (500, 400), 0)
    floor.elasticity = e
    space.add(*([body] if kind != STATIC else []), floor)
    rope = bead(world, (0, 198))
    heights = []
    for _ in range(240):
        world.update(1 / 60)
        heights.append(398 - rope.positions[0, 1])
    landed = int(np.argmin(heights[:60]))
    rebound = max(heights[landed + 1 : landed + 60])
    assert rebound == pytest.approx(e * e * 200, rel=0.06)


def test_elasticity_of_both_sides_is_multiplied():
    space, world = scene((0, 0))
    floor = pymunk.Segment(space.static_body, (-500, 100), (500, 100), 0)
    floor.elasticity = 0.8
    space.add(floor)
    rope = bead(world, (0, 0), (0, 600), elasticity=0.5)
    steps(world, 20)
    assert rope.velocities[:, 1] == pytest.approx(-240, rel=0.01)


@pytest.mark.parametrize(
    "rule, expected", [("product", 0.32), ("own", 0.8), ("geometric", 0.5657), ("maximum", 0.8)]
)
def test_friction_rules(rule, expected):
    space, world = scene()
    floor = pymunk.Segment(space.static_body, (-5000, 0), (5000, 0), 0)
    floor.friction = 0.4
    space.add(floor)
    rope = world.add(softkit.Rope((0, -2), (30, -2), friction=0.8, friction_rule=rule, damping=0))
    rope._v[:] = (2000, 0)
    steps(world, 30)
    assert 2000 - rope.velocities[:, 0].mean() == pytest.approx(expected * 450, rel=0.02)


def test_sensors_are_reported_and_never_solid():
    """I08: the flight is bit for bit that without the sensor."""

    def fly(with_sensor):
        space, world = scene()
        reported = 0
        if with_sensor:
            box = pymunk.Poly.create_box(space.static_body, (200, 200))
            box.sensor = True
            space.add(box)
        rope = world.add(softkit.Rope((-40, -200), (40, -200)))
        for _ in range(60):
            world.update(1 / 60)
            reported += len(world.contacts)
            assert (world.contacts.impulse == 0).all()
        return rope.positions.copy(), reported

    (x, count), (y, none) = fly(True), fly(False)
    assert np.abs(x - y).max() < 1e-9
    assert count > 0 and none == 0


@pytest.mark.parametrize("speed", [100, 300])
@pytest.mark.parametrize("links", [1, 20])
def test_no_bump_at_the_joints_of_a_straight_floor(speed, links):
    """I15: 20 segments of 30 wu in a line; 5 wu/s along the normal, 2 % of the speed at most."""
    space, world = scene()
    for k in range(40):
        space.add(pymunk.Segment(space.static_body, (k * 30, 0), (k * 30 + 30, 0), 0))
    if links == 1:
        rope = bead(world, (20, -2), (speed, 0))
    else:
        rope = world.add(softkit.Rope((20, -2), (120, -2), segments=links, damping=0))
        rope._v[:] = (speed, 0)
    for _ in range(150):
        world.update(1 / 60)
        assert np.abs(rope.velocities[:, 1]).max() <= 5
    assert rope.velocities[:, 0].mean() > 0.98 * speed


def test_no_bump_between_boxes_side_by_side():
    space, world = scene()
    for k in range(40):
        body = pymunk.Body(body_type=STATIC)
        body.position = 15 + k * 30, 15
        space.add(body, pymunk.Poly.create_box(body, (30, 30)))
    rope = world.add(softkit.Rope((20, -2), (120, -2), damping=0))
    rope._v[:] = (300, 0)
    for _ in range(150):
        world.update(1 / 60)
        assert np.abs(rope.velocities[:, 1]).max() <= 5
    assert rope.velocities[:, 0].mean() > 0.98 * 300


@pytest.mark.parametrize("speed", [800, 2000])
@pytest.mark.parametrize("dynamic", [False, True])
def test_landing_sinks_less_than_two_units_and_not_for_long(speed, dynamic):
    """I18."""
    space, world = scene()
    if dynamic:
        body = pymunk.Body(5, pymunk.moment_for_box(5, (200, 40)))
        body.position = 0, 78
        shape = pymunk.Poly.create_box(body, (200, 40))
        space.add(body, shape)
    else:
        shape = pymunk.Segment(space.static_body, (-500, 60), (500, 60), 2)
        space.add(shape)
    space.add(pymunk.Segment(space.static_body, (-500, 100), (500, 100), 2))
    rope = world.add(softkit.Rope((-50, 0), (50, 0)))
    rope._v[:] = (0, speed)
    sunk = []
    for _ in range(40):
        world.update(1 / 60)
        sunk.append(depth([shape], rope.positions, 2.0))
    assert max(sunk) <= 2
    assert all(d < 0.3 for d in sunk[12:])


# many, and far away


def test_five_thousand_shapes():
    space, world = scene()
    rng = np.random.default_rng(2)
    for _ in range(5000):
        x, y = rng.uniform(-20_000, 20_000, 2)
        space.add(pymunk.Circle(space.static_body, 10, (x, y)))
    floor = pymunk.Segment(space.static_body, (-300, 100), (300, 100), 0)
    space.add(floor)
    rope = world.add(softkit.Rope((-50, 60), (50, 60)))
    steps(world, 60)
    assert depth([floor], rope.positions, 2.0) < 0.1
    assert len(world.contacts) > 0


@pytest.mark.parametrize("away", [1e5, 1e6])
def test_a_scene_far_away_behaves_as_at_the_origin(away):
    def run(at):
        space, world = scene()
        floor = pymunk.Segment(space.static_body, (at - 300, 60), (at + 300, 60), 0)
        post = pymunk.Circle(space.static_body, 12, (at, 0))
        floor.friction = post.friction = 0.5
        space.add(floor, post)
        rope = world.add(softkit.Rope((at - 90, -20), (at + 40, -20)))
        rope.pin(0)
        steps(world, 40)
        x = rope.positions.copy()
        rope.damping = 3
        steps(world, 200)
        return x - (at, 0), np.sqrt((rope.velocities**2).mean())

    near, _ = run(0.0)
    far, speed = run(away)
    assert np.abs(near - far).max() < 0.05
    assert speed < 1


def test_depth_settings_are_checked():
    space, world = scene()
    ball, box = pymunk.Circle(space.static_body, 5), pymunk.Poly.create_box(space.static_body)
    space.add(ball, box)
    alien = pymunk.Circle(pymunk.Body(1, 1), 5)
    before = world.state_hash()
    for call, error in [
        (lambda: world.colliders.set_depth(ball, 1, 0), ValueError),
        (lambda: world.colliders.set_depth(ball, 0, math.nan), ValueError),
        (lambda: world.colliders.set_depth(alien, 0, 1), ValueError),
        (lambda: world.colliders.set_depth("x", 0, 1), TypeError),
        (lambda: world.colliders.set_round(box), TypeError),
        (lambda: world.colliders.set_round(alien), ValueError),
    ]:
        with pytest.raises(error):
            call()
    assert world.state_hash() == before
    world.colliders.set_depth(ball, -5, 5)
    world.colliders.set_round(ball)
    steps(world, 1)
