"""The same calls give the same bits: on any number of threads, in any process, whatever ran before."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pymunk
import pytest

import softkit
from softkit import Rope


def busy_scene():
    """Forty ropes: free, pinned, on bodies, joined, against each other, over posts, on moving things."""
    space = pymunk.Space()
    space.gravity = (0, 900)
    world = softkit.World(space)
    rng = np.random.default_rng(11)
    for k in range(12):
        post = pymunk.Circle(space.static_body, 15, (k * 120 - 600, 120))
        post.friction = 0.6
        space.add(post)
    space.add(pymunk.Segment(space.static_body, (-900, 300), (900, 300), 2))
    mill = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
    mill.position, mill.angular_velocity = (0, 60), 4
    space.add(mill, pymunk.Poly.create_box(mill, (120, 8)))
    crates = []
    for k in range(10):
        crate = pymunk.Body(1, 60)
        crate.position = k * 130 - 580, -120
        space.add(crate, pymunk.Poly.create_box(crate, (16, 16)))
        crates.append(crate)
    ropes = []
    for _ in range(30):
        a = rng.uniform((-600, -200), (600, 60))
        rope = world.add(Rope(a, a + rng.normal(0, 90, 2), segments=int(rng.integers(1, 60))))
        ropes.append(rope)
    for k, crate in enumerate(crates):
        ropes[k].attach(-1, crate, (0, 8))
        if k % 2:
            ropes[k + 1].attach(0, crate, (0, -8))
    for k in range(20, 26):
        ropes[k].pin(0)
    ropes[27].join(-1, ropes[28], 0)
    for k in range(8):
        world.add(Rope((700, -50 * k), (760, -50 * k), segments=100, self_collision=True))
    return world


def run(threads=None, count=45):
    softkit.set_threads(threads)
    world = busy_scene()
    for _ in range(count):
        world.update(1 / 60)
    return world.state_hash()


@pytest.fixture(scope="module")
def reference():
    return run(1)


@pytest.mark.parametrize("threads", [2, 3, 4, 8])
def test_any_number_of_threads(threads, reference):
    assert run(threads) == reference


def test_twice_and_after_other_scenes(reference):
    other = softkit.World(gravity=(3, 50))
    for k in range(5):
        other.add(Rope((0, k), (500, k), segments=333, **Rope.STRETCHY))
    for _ in range(20):
        other.update(1 / 60)
    assert run(2) == reference


def test_a_fresh_process_agrees(reference):
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r})\nimport test_determinism as t\nprint(t.run(2))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path.cwd(), timeout=120
    )
    assert done.stdout.strip() == reference, done.stderr


def test_threads_changed_while_running(reference):
    world = busy_scene()
    for k in range(45):
        softkit.set_threads(1 + k % 4)
        world.update(1 / 60)
    assert world.state_hash() == reference


def test_the_hash_notices_one_bit():
    world = busy_scene()
    name = world.state_hash()
    rope = world.objects[3]
    rope._x[0, 0] = np.nextafter(rope._x[0, 0], np.inf)
    assert world.state_hash() != name
