"""Time, adding and removing, callbacks: what one call a frame promises."""

import gc
import math
import weakref

import numpy as np
import pymunk
import pytest

import softkit


def scene(gravity=(0, 900), **options):
    space = pymunk.Space()
    space.gravity = gravity
    return space, softkit.World(space, **options)


def swinging(**options):
    """A rope on a pin with a crate at its end, another on the floor."""
    space, world = scene(**options)
    ground = pymunk.Segment(space.static_body, (-1000, 300), (1000, 300), 2)
    ground.friction = 0.8
    crate = pymunk.Body(2, 100)
    crate.position = 200, 0
    space.add(ground, crate, pymunk.Poly.create_box(crate, (20, 20)))
    rope = world.add(softkit.Rope((0, 0), (200, 0), segments=16))
    rope.pin(0)
    rope.attach(-1, crate)
    world.add(softkit.Rope((300, 250), (400, 200), segments=12))
    return space, world, rope, crate


def ball(space, place, mass=1.0, radius=5.0, body_type=pymunk.Body.DYNAMIC):
    body = pymunk.Body(mass, mass * radius * radius, body_type=body_type)
    body.position = place
    shape = pymunk.Circle(body, radius)
    space.add(body, shape)
    return body, shape


# time


def frames(kind, seconds):
    if kind == "jitter":
        rng = np.random.default_rng(3)
        while seconds > 0:
            dt = min(seconds, float(rng.uniform(0.0002, 0.06)))
            seconds -= dt
            yield dt
    else:
        for _ in range(round(seconds * kind)):
            yield 1 / kind


@pytest.mark.parametrize("rate", [30, 144, 240, 1000, "jitter"])
def test_the_same_steps_give_the_same_bits_at_any_frame_rate(rate):
    _, reference, *_ = swinging()
    for _ in range(120):
        reference.update(1 / 60)
    _, world, *_ = swinging()
    for dt in frames(rate, 2.0):
        world.update(dt)
    assert world._steps == 120
    assert world.time == reference.time == 2.0
    assert world.state_hash() == reference.state_hash()


@pytest.mark.smoke
def test_update_of_nothing_changes_nothing():
    _, world, *_ = swinging()
    world.update(0.3)
    before, alpha = world.snapshot(), world.alpha
    world.update(0)
    world.update(0.0)
    assert world.snapshot() == before
    assert world.alpha == alpha


def test_a_billionth_of_a_second_is_kept():
    _, world, *_ = swinging(step=1e-6)
    for _ in range(1000):
        world.update(1e-9)
    assert world._steps == 1


@pytest.mark.parametrize("dt", [5.0, 1e9, 1e300, 1e308])
def test_a_long_pause_drops_steps_and_says_so(dt):
    _, world, *_ = swinging(max_steps=4)
    world.update(dt)
    assert world._steps == 4
    assert world.health.steps_dropped == (296 if dt == 5.0 else pytest.approx(min(dt * 60, 1e18), rel=1e-9))
    assert not world.health.ok
    assert 0 <= world.alpha <= 1
    world.update(1 / 60)
    assert world._steps in (5, 6)
    assert all(np.isfinite(r.positions).all() for r in world.objects)


@pytest.mark.parametrize("most", [1, 3, 50])
def test_max_steps_caps_catching_up(most):
    _, world, *_ = swinging(max_steps=most)
    world.update(0.5)
    assert world._steps == min(most, 30)
    assert world.health.steps_dropped == max(0, 30 - most)


@pytest.mark.parametrize("dt", [math.nan, math.inf, -math.inf, -1e-9, -1])
def test_a_bad_dt_is_a_value_error(dt):
    _, world, *_ = swinging()
    before = world.snapshot()
    with pytest.raises(ValueError, match="dt"):
        world.update(dt)
    assert world.snapshot() == before


@pytest.mark.parametrize("dt", [None, "1", True, [0.1], 1j])
def test_a_dt_that_is_no_number_is_a_type_error(dt):
    _, world, *_ = swinging()
    before = world.snapshot()
    with pytest.raises(TypeError, match="dt"):
        world.update(dt)
    assert world.snapshot() == before


def test_alpha_is_the_part_of_a_step_that_is_left():
    _, world, *_ = swinging()
    world.update(1 / 60 + 0.25 / 60)
    assert world.alpha == pytest.approx(0.25, abs=1e-9)
    world.update(0.5 / 60)
    assert world.alpha == pytest.approx(0.75, abs=1e-9)
    world.update(0.25 / 60)
    assert world.alpha == pytest.approx(0, abs=1e-5)


def test_a_game_that_steps_the_space_itself_gets_the_same():
    _, one, *_ = swinging()
    space, two, *_ = swinging(step_space=False)
    two.before_space = lambda world: space.step(world.step)
    for _ in range(60):
        one.update(1 / 60)
        two.update(1 / 60)
    assert one.state_hash() == two.state_hash()


def test_a_space_that_nobody_steps_stands_still():
    _, world, rope, crate = swinging(step_space=False)
    crate.velocity = 0, 0
    place = crate.position
    world.objects[1].pin(0)
    world.remove(rope)
    world.update(0.05)
    assert crate.position == place


def test_a_world_without_a_space():
    world = softkit.World(gravity=(0, 900))
    rope = world.add(softkit.Rope((0, 0), (100, 0)))
    for _ in range(60):
        world.update(1 / 60)
    # semi-implicit Euler with substeps, and the rope's own damping of 0.1/s
    assert rope.velocities[:, 1] == pytest.approx(900 * (1 - math.exp(-0.1)) / 0.1, rel=1e-3)


@pytest.mark.parametrize("step", [1 / 30, 1 / 60, 1 / 144])
def test_free_fall_is_a_parabola(step):
    _, world = scene(step=step)
    rope = world.add(softkit.Rope((0, 0), (100, 0), damping=0))
    for _ in range(round(1 / step)):
        world.update(step)
    assert rope.velocities == pytest.approx(np.tile([0, 900 * world.time], (21, 1)), rel=1e-9)
    assert rope.positions[:, 1] == pytest.approx(450 * world.time * (world.time + step / 8), rel=1e-9)


def test_gravity_is_the_spaces_unless_set():
    space, world = scene((3, 700))
    assert world.gravity == (3, 700)
    space.gravity = 0, -50
    assert world.gravity == (0, -50)
    world.gravity = (0, 10)
    assert world.gravity == (0, 10)
    rope = world.add(softkit.Rope((0, 0), (10, 0), damping=0))
    world.update(1 / 60)
    assert rope.velocities[:, 1] == pytest.approx(10 / 60)
    world.gravity = None
    assert world.gravity == (0, -50)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"step": 0}, ValueError),
        ({"step": -1 / 60}, ValueError),
        ({"step": math.nan}, ValueError),
        ({"step": 2}, ValueError),
        ({"step": "1"}, TypeError),
        ({"substeps": 0}, ValueError),
        ({"substeps": 65}, ValueError),
        ({"substeps": 1.5}, TypeError),
        ({"substeps": True}, TypeError),
        ({"max_steps": 0}, ValueError),
        ({"max_steps": 1e3}, TypeError),
        ({"gravity": 900}, TypeError),
        ({"gravity": (0, math.inf)}, ValueError),
        ({"gravity": (0, 1, 2)}, ValueError),
        ({"gravity": "ab"}, TypeError),
        ({"step_space": 1}, TypeError),
        ({"shape_depth": 3}, TypeError),
        ({"shape_depth": (1, 0)}, ValueError),
        ({"shape_depth": (1, 1)}, ValueError),
    ],
)
def test_bad_settings(options, error):
    with pytest.raises(error, match=next(iter(options))):
        softkit.World(pymunk.Space(), **options)


def test_a_space_that_is_none():
    with pytest.raises(TypeError, match="space"):
        softkit.World(object())


@pytest.mark.parametrize(
    "name, value, error",
    [
        ("substeps", 0, ValueError),
        ("substeps", "8", TypeError),
        ("gravity", (0, math.nan), ValueError),
        ("gravity", 5, TypeError),
        ("max_speed", 0, ValueError),
        ("max_speed", math.inf, ValueError),
        ("max_depenetration_speed", -1, ValueError),
        ("teleport_speed", math.nan, ValueError),
        ("teleport_speed", None, TypeError),
    ],
)
def test_bad_values_for_properties(name, value, error):
    _, world, *_ = swinging()
    world.update(0.1)
    before, old = world.snapshot(), getattr(world, name)
    with pytest.raises(error, match=name):
        setattr(world, name, value)
    assert getattr(world, name) == old
    assert world.snapshot() == before


def test_no_particle_is_faster_than_max_speed():
    _, world = scene((0, 1e6))
    world.max_speed = 2000
    rope = world.add(softkit.Rope((0, 0), (100, 0), damping=0))
    for _ in range(30):
        world.update(1 / 60)
    assert np.hypot(*rope.velocities.T).max() <= 2000 * (1 + 1e-12)
    assert world.health.speeds_capped > 0


# adding and removing


@pytest.mark.smoke
def test_add_returns_what_it_was_given():
    _, world = scene()
    a, b, c = (softkit.Rope((0, y), (50, y)) for y in (0, 50, 100))
    assert world.add(a) is a
    assert world.add(b, c) == (b, c)
    assert world.objects == (a, b, c)
    assert a.world is world
    world.remove(b)
    assert world.objects == (a, c)
    assert b.world is None


def test_add_and_remove_refuse_what_is_wrong_and_change_nothing():
    _, world = scene()
    _, other = scene()
    rope, free = world.add(softkit.Rope((0, 0), (50, 0))), softkit.Rope((0, 0), (50, 0))
    before = world.snapshot()
    for call, error in [
        (lambda: world.add(rope), ValueError),
        (lambda: other.add(rope), ValueError),
        (lambda: world.add(free, free), ValueError),
        (lambda: world.add(free, rope), ValueError),
        (lambda: world.add(free, None), TypeError),
        (lambda: world.add("rope"), TypeError),
        (lambda: world.remove(free), ValueError),
        (lambda: other.remove(rope), ValueError),
        (lambda: world.remove(rope, rope), ValueError),
        (lambda: world.remove(rope, free), ValueError),
        (lambda: world.remove(3), TypeError),
    ]:
        with pytest.raises(error, match="objects"):
            call()
    assert world.snapshot() == before
    assert free.world is None
    world.remove(rope)
    with pytest.raises(ValueError, match="objects"):
        world.remove(rope)


def test_a_removed_rope_keeps_its_state_and_can_come_back():
    _, world = scene()
    _, other = scene()
    rope = world.add(softkit.Rope((0, 0), (50, 0)))
    for _ in range(10):
        world.update(1 / 60)
    world.remove(rope)
    x, v = rope.positions.copy(), rope.velocities.copy()
    world.update(1)
    assert (rope.positions == x).all() and (rope.velocities == v).all()
    rope.translate((5, 5))
    rope.pin(0)
    world.add(rope)
    world.update(1 / 60)
    assert rope.positions[0] == pytest.approx(x[0] + 5)
    world.remove(rope)
    other.add(rope)
    assert rope.world is other


def test_an_object_tied_to_another_spaces_body_is_refused():
    space, _ = scene()
    _, world = scene()
    body, _ = ball(space, (0, 0))
    rope = softkit.Rope((0, 0), (50, 0))
    rope.attach(0, body)
    with pytest.raises(ValueError, match="body|bodies"):
        world.add(rope)
    assert world.objects == () and rope.world is None


def test_removing_one_object_leaves_the_others_bits_alone():
    def end(extra):
        _, world = scene()
        a = world.add(softkit.Rope((0, 0), (50, 0)))
        a.pin(0)
        if extra:
            b = world.add(softkit.Rope((900, 0), (990, 0)))
            for _ in range(5):
                world.update(1 / 60)
            world.remove(b)
        for _ in range(15 if extra else 20):
            world.update(1 / 60)
        return a.positions.tobytes()

    assert end(True) == end(False)


def test_adding_another_object_does_not_disturb_one_at_rest_on_the_floor():
    """What lies on what is remembered although the records are written anew."""

    def end(extra):
        space, world = scene()
        floor = pymunk.Segment(space.static_body, (-500, 40), (500, 40), 2)
        post = pymunk.Circle(space.static_body, 10, (0, 0))
        floor.friction = post.friction = 0.9
        space.add(floor, post)
        rope = world.add(softkit.Rope((-60, -14), (55, -14), segments=30))
        for k in range(60):
            if extra and k == 30:
                world.add(softkit.Rope((9000, 0), (9090, 0)))
            world.update(1 / 60)
        return rope.positions.tobytes()

    assert end(True) == end(False)


def test_removed_objects_are_freed():
    space, world = scene()
    body, _ = ball(space, (50, 0))
    rope = world.add(softkit.Rope((0, 0), (50, 0)))
    rope.attach(-1, body)
    world.update(0.05)
    rope.radius = 3.0
    gone = weakref.ref(rope)
    world.remove(rope)
    del rope
    gc.collect()
    assert gone() is None


# bodies that nobody soft was looking at


def test_what_bodies_did_while_there_was_nothing_soft_is_not_motion():
    space, world = scene((0, 0))
    body, _ = ball(space, (0, 0), radius=10, body_type=pymunk.Body.KINEMATIC)
    body.velocity = 100, 0
    rope = world.add(softkit.Rope((0, 500), (100, 500)))
    world.update(1 / 60)
    world.remove(rope)
    for _ in range(60):
        world.update(1 / 60)
    # Behind the platform, on the way that it went while nothing soft was there.
    rope = world.add(softkit.Rope((50, -40), (50, 40)))
    world.update(1 / 60)
    assert np.abs(rope.velocities).max() < 1e-6


# callbacks


def test_update_inside_update_is_refused_and_harmless():
    _, world, *_ = swinging()
    seen = []

    def again(w):
        with pytest.raises(RuntimeError):
            w.update(1 / 60)
        with pytest.raises(RuntimeError):
            w.restore(data)
        seen.append(1)

    data = world.snapshot()
    world.before_space = again
    world.update(1 / 60)
    assert seen == [1] and world._steps == 1


def meddle(world, space, log):
    """Everything a game may do in the middle of a step."""
    rope = world.objects[0]
    log.append("met")
    if len(log) != 1:
        return
    world.add(softkit.Rope((500, 0), (600, 0)))
    piece = rope.cut(5)
    world.remove(world.objects[1])
    body, shape = ball(space, (0, -200))
    rope.attach(0, body)
    piece.detach(-1)
    piece.pin(2)
    log.append(len(world.objects))


@pytest.mark.parametrize("where", ["begin", "pre_solve", "post_solve"])
def test_pymunks_callbacks_may_add_remove_cut_attach(where):
    space, world = scene()
    floor = pymunk.Segment(space.static_body, (-500, 40), (500, 40), 2)
    space.add(floor)
    body, shape = ball(space, (100, 20))
    shape.collision_type = 7
    rope = world.add(softkit.Rope((0, 0), (100, 0)))
    rope.attach(-1, body)
    other = world.add(softkit.Rope((0, -100), (100, -100)))
    log = []
    space.on_collision(7, None, **{where: lambda *_: meddle(world, space, log)})
    for _ in range(60):
        world.update(1 / 60)
    assert log[:1] == ["met"] and 2 in log
    assert other.world is None and len(world.objects) == 3
    assert world.objects[0] is rope and rope.segments == 5
    assert all(np.isfinite(r.positions).all() for r in world.objects)


@pytest.mark.parametrize("name", ["on_begin", "on_end", "on_break"])
def test_softkits_callbacks_may_add_remove_cut_attach(name):
    space, world = scene()
    floor = pymunk.Segment(space.static_body, (-500, 40), (500, 40), 2)
    space.add(floor)
    rope = world.add(softkit.Rope((0, 0), (100, 0)))
    other = world.add(softkit.Rope((0, -100), (100, -100)))
    log = []
    setattr(rope, name, lambda *_: meddle(world, space, log))
    if name == "on_break":
        rope.pin(0)
        rope.max_tension = 400
    for k in range(60):
        if name == "on_end" and k == 40:
            space.remove(floor)
        world.update(1 / 60)
    assert log[:1] == ["met"] and 2 in log
    assert other.world is None
    assert all(np.isfinite(r.positions).all() for r in world.objects)


def test_changes_made_inside_a_step_happen_in_order_after_it():
    _, world = scene()
    a = world.add(softkit.Rope((0, 0), (50, 0)))
    b, c = softkit.Rope((0, 50), (50, 50)), softkit.Rope((0, 90), (50, 90))

    def change(w):
        w.add(b)
        w.add(c)
        w.remove(b)
        w.remove(a)
        w.add(a)
        assert w.objects == (a,)
        w.before_space = None

    world.before_space = change
    world.update(1 / 60)
    assert world.objects == (a, c)
    assert b.world is None and a.world is world


@pytest.mark.parametrize("where", ["on_begin", "before_space", "on_break"])
def test_an_exception_in_a_callback_leaves_the_world_usable(where):
    space, world = scene()
    floor = pymunk.Segment(space.static_body, (-500, 30), (500, 30), 2)
    space.add(floor)
    rope = world.add(softkit.Rope((0, 0), (100, 0)))
    late = softkit.Rope((0, -50), (100, -50))

    def fail(*_):
        world.add(late)
        raise ZeroDivisionError

    setattr(world if where == "before_space" else rope, where, fail)
    if where == "on_break":
        rope.pin(0)
        rope.max_tension = 100
    with pytest.raises(ZeroDivisionError):
        for _ in range(60):
            world.update(1 / 60)
    setattr(world if where == "before_space" else rope, where, None)
    assert late.world is world and late in world.objects
    steps = world._steps
    for _ in range(30):
        world.update(1 / 60)
    assert world._steps == steps + 30
    assert np.isfinite(rope.positions).all()


def test_a_rope_removed_by_another_ropes_break_is_not_broken():
    _, world = scene()
    ropes = [world.add(softkit.Rope((x, 0), (x, 1), segments=1, mass=5)) for x in (0, 100)]
    for rope in ropes:
        rope.pin(0)
        rope.max_tension = 1
    broken = []

    def on_break(rope, piece, place):
        broken.append(rope)
        for other in ropes:
            if other.world is world:
                world.remove(other)

    for rope in ropes:
        rope.on_break = on_break
    world.update(1 / 60)
    assert broken == ropes[:1]
    assert world.objects == ()
