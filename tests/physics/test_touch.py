"""What soft things of different kinds do to each other, against mechanics."""

import numpy as np
import pymunk
import pytest

import softkit
from softkit.threads import get_threads, set_threads

softbody = pytest.importorskip("softkit.softbody")
SoftBody = softbody.SoftBody


def gap(a, b):
    """Least distance of a's particles from b's edges, in sums of radii."""
    edges = b._links()
    s, t = b.positions[edges[:, 0]], b.positions[edges[:, 1]]
    d, x = t - s, a.positions[:, None]
    u = np.clip(((x - s) * d).sum(2) / (d * d).sum(1), 0.0, 1.0)
    return float(np.linalg.norm(x - s - u[..., None] * d, axis=2).min()) / (a.radius + b.radius)


def motion(objects):
    """Momentum, angular momentum, kinetic energy."""
    p, turn, energy = np.zeros(2), 0.0, 0.0
    for obj in objects:
        m, x, v = 1.0 / obj.inverse_mass, obj.positions, obj.velocities
        p += m @ v
        turn += float(m @ (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]))
        energy += 0.5 * float(m @ (v * v).sum(axis=1))
    return p, turn, energy


def floor():
    space = pymunk.Space()
    shape = pymunk.Segment(space.static_body, (-500, 300), (500, 300), 5)
    shape.friction = 1.0
    space.add(shape)
    return space


@pytest.mark.parametrize("size", [1.0, 10.0])
def test_collision_keeps_momentum_and_energy(size):
    world = softkit.World(gravity=(0, 0))
    a = world.add(SoftBody.circle((0, 0), 20 * size, damping=0))
    b = world.add(SoftBody.circle((80 * size, 15 * size), 20 * size, damping=0, mass=3))
    a.apply_impulse((200 * size, 0))
    p0, turn0, energy0 = motion((a, b))
    met, worst, most = False, 10.0, 0.0
    for _ in range(600):
        world.update(1 / 60)
        met = met or bool(world.soft_contacts)
        worst = min(worst, gap(a, b), gap(b, a))
        most = max(most, motion((a, b))[2])
    p, turn, _ = motion((a, b))
    assert met
    assert worst > 0.9
    assert np.abs(p - p0).max() < 1e-6 * 200 * size
    assert abs(turn - turn0) < 1e-6 * 200 * size * 20 * size
    assert most < 1.01 * energy0


def test_rope_bridge_bears_a_blob():
    world = softkit.World(gravity=(0, 900))
    rope = world.add(softkit.Rope((-100, 0), (100, 0), segments=20))
    rope.pin(0)
    rope.pin(-1)
    blob = world.add(SoftBody.circle((0, -40), 20))
    for _ in range(600):
        world.update(1 / 60)
    assert min(gap(rope, blob), gap(blob, rope)) > 0.9
    assert abs(blob.center[0]) < 2.0 and blob.center[1] < 0.0
    assert np.abs(blob.velocities).max() < 20.0
    assert {c.object for c in world.soft_contacts} <= {rope, blob}


def test_rope_hangs_over_a_pinned_blob():
    world = softkit.World(gravity=(0, 900))
    blob = world.add(SoftBody.circle((0, 50), 30))
    for i in range(blob.count):
        blob.pin(i)
    rope = world.add(softkit.Rope((-90, 0), (90, 0), segments=36, friction=5))
    blob.friction = 5.0
    for _ in range(600):
        world.update(1 / 60)
    assert min(gap(rope, blob), gap(blob, rope)) > 0.9
    middle, ends = rope.positions[18], rope.positions[[0, -1], 1]
    assert 10 < middle[1] < 20 and (ends > 50).all()


def test_blobs_in_a_box_stay_apart():
    space = floor()
    for x in (-25, 25):
        space.add(pymunk.Segment(space.static_body, (x, -200), (x, 310), 3))
    world = softkit.World(space, gravity=(0, 900))
    blobs = [world.add(SoftBody.circle((0, 270 - 46 * i), 20)) for i in range(5)]
    worst = 10.0
    for i in range(600):
        world.update(1 / 60)
        if i % 20 == 0:
            worst = min([worst, *(gap(a, b) for a in blobs for b in blobs if a is not b)])
    assert worst > 0.9
    heights = [blob.center[1] for blob in blobs]
    assert all(low - high > 25 for low, high in zip(heights, heights[1:]))


def test_fast_blob_does_not_pass_a_rope():
    world = softkit.World(gravity=(0, 0))
    rope = world.add(softkit.Rope((0, -100), (0, 100), segments=20))
    for i in range(rope.count):
        rope.pin(i)
    blob = world.add(SoftBody.circle((-100, 3), 20))
    blob.apply_impulse((5_000, 0))
    for _ in range(60):
        world.update(1 / 60)
        assert (blob.positions[:, 0] < 0.0).all()


def pile():
    world = softkit.World(floor(), gravity=(0, 900))
    for i in range(40):
        world.add(SoftBody.circle((45 * (i % 8) - 150, 270 - 45 * (i // 8)), 20))
    world.add(softkit.Rope((-200, 0), (200, 0), segments=60))
    return world


def test_same_bits_for_any_number_of_threads():
    before, hashes = get_threads(), set()
    try:
        for threads in (1, 2, 4):
            set_threads(threads)
            world = pile()
            for _ in range(60):
                world.update(1 / 60)
            assert world.soft_contacts
            hashes.add(world.state_hash())
    finally:
        set_threads(before)
    assert len(hashes) == 1


def test_same_bits_after_restore():
    world = pile()
    for _ in range(40):
        world.update(1 / 60)
    other = softkit.World(floor(), gravity=(0, 900))
    other.restore(world.snapshot())
    for _ in range(30):
        world.update(1 / 60)
        other.update(1 / 60)
    assert world.state_hash() == other.state_hash()


@pytest.mark.parametrize("kept_apart", [True, False])
def test_filters_decide(kept_apart):
    world = softkit.World(gravity=(0, 0))
    group = pymunk.ShapeFilter(group=0 if kept_apart else 3)
    a = world.add(SoftBody.circle((-60, 0), 20, filter=group, damping=0))
    b = world.add(SoftBody.circle((0, 0), 20, filter=group, damping=0))
    a.apply_impulse((100, 0))
    for _ in range(120):
        world.update(1 / 60)
    assert (a.center[0] < b.center[0]) == kept_apart
    assert (abs(b.center[0]) > 1.0) == kept_apart
