"""Saved games: atomic, whole, in another process, and with a space that was built anew."""

import os
import pickle
import random
import struct

import pymunk
import pytest

import softkit
from softkit import saves

NAMES = ("crate", "platform", "cross", "lone")


def build(order=NAMES):
    """Bodies that touch no other, added in some order; each carries or holds a rope."""
    space = pymunk.Space()
    space.gravity = (0, 900)
    bodies = {}
    for k, name in enumerate(NAMES):
        kind = pymunk.Body.DYNAMIC if name == "crate" else pymunk.Body.KINEMATIC
        body = pymunk.Body(2, 50, kind)
        body.position, body.velocity = (k * 150, 40), (5 * k, 0)
        bodies[name] = body
    for name in order:
        space.add(bodies[name], pymunk.Circle(bodies[name], 8))
    names = {body: name for name, body in bodies.items()}
    return softkit.World(space), bodies, names.__getitem__


def play(world, count):
    for _ in range(count):
        world.update(world.step)


def hung():
    world, bodies, key = build()
    for k, name in enumerate(NAMES):
        rope = world.add(softkit.Rope((k * 150, -40), (k * 150, 40)))
        rope.pin(0)
        rope.attach(-1, bodies[name])
    play(world, 20)
    return world, bodies, key


@pytest.mark.smoke
def test_a_saved_world_goes_on_in_the_same_bits(tmp_path):
    world, _, _ = hung()
    world.save(tmp_path / "game")
    other = build()[0]
    other.load(tmp_path / "game")
    assert other.state_hash() == world.state_hash()
    play(world, 30)
    play(other, 30)
    assert other.state_hash() == world.state_hash()
    assert [p.name for p in tmp_path.iterdir()] == ["game"]


def test_a_space_built_in_another_order_is_matched_by_key(tmp_path):
    world, bodies, key = hung()
    world.save(tmp_path / "game", key=key)
    other, others, other_key = build(NAMES[::-1])
    other.load(tmp_path / "game", key=other_key)
    for name in NAMES:
        assert others[name].position == bodies[name].position
        assert others[name].velocity == bodies[name].velocity
    for k, name in enumerate(NAMES):
        assert other.objects[k].attachments[20][0] is others[name]
        assert (other.objects[k].positions == world.objects[k].positions).all()
    play(world, 30)
    play(other, 30)
    for a, b in zip(world.objects, other.objects):
        assert (a.positions == b.positions).all()


def test_keys_that_do_not_match_are_refused_before_any_change(tmp_path):
    world, _, key = hung()
    world.save(tmp_path / "keyed", key=key)
    world.save(tmp_path / "plain")
    other, others, other_key = build()
    before = other.snapshot()
    with pytest.raises(ValueError, match="saved with a key"):
        other.load(tmp_path / "plain", key=other_key)
    with pytest.raises(ValueError, match="'crate' is not in the space"):
        other.load(tmp_path / "keyed", key=lambda body: "x" + other_key(body))
    with pytest.raises(ValueError, match="key .* twice"):
        other.load(tmp_path / "keyed", key=lambda body: 1)
    with pytest.raises(TypeError, match="key"):
        other.load(tmp_path / "keyed", key=lambda body: 1.5)
    with pytest.raises(TypeError, match="key"):
        world.save(tmp_path / "keyed", key="name")
    other.space.add(extra := pymunk.Body(1, 1))
    with pytest.raises(ValueError, match="'extra'"):
        other.load(tmp_path / "keyed", key=lambda b: "extra" if b is extra else other_key(b))
    other.space.remove(extra)
    assert other.snapshot() == before


def test_a_pickled_space_beside_it(tmp_path):
    """pymunk's own means: bodies come back in the same order, so no key is needed."""
    world, _, _ = hung()
    world.save(tmp_path / "game")
    (tmp_path / "space").write_bytes(pickle.dumps(world.space))
    other = softkit.World(pickle.loads((tmp_path / "space").read_bytes()))
    other.load(tmp_path / "game")
    assert other.state_hash() == world.state_hash()
    play(world, 30)
    play(other, 30)
    assert other.state_hash() == world.state_hash()


def test_a_newer_version_is_refused_by_name(tmp_path):
    world, _, _ = hung()
    world.save(tmp_path / "game")
    data = (tmp_path / "game").read_bytes()
    (tmp_path / "game").write_bytes(data[:8] + struct.pack("<I", saves.VERSION + 1) + data[12:])
    with pytest.raises(
        ValueError, match=f"version {saves.VERSION} or older, got version {saves.VERSION + 1}"
    ):
        world.load(tmp_path / "game")


def test_damaged_files_are_refused_and_change_nothing(tmp_path):
    world, _, key = hung()
    path = tmp_path / "game"
    world.save(path, key=key)
    data = path.read_bytes()
    play(world, 5)
    before = world.snapshot()
    rng = random.Random(3)
    damaged = [b"", b"hello", data[:20], data[: len(data) // 2], data[:-1], data + b"\0"]
    for place in [*range(saves.HEAD.size), *(rng.randrange(len(data)) for _ in range(200))]:
        flipped = bytearray(data)
        flipped[place] ^= 1 << rng.randrange(8)
        damaged.append(bytes(flipped))
    for wrong in damaged:
        path.write_bytes(wrong)
        with pytest.raises(ValueError):
            world.load(path, key=key)
        assert world.snapshot() == before
    with pytest.raises(FileNotFoundError):
        world.load(tmp_path / "nowhere")


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    world, _, _ = hung()
    path = tmp_path / "game"
    world.save(path)
    old = path.read_bytes()
    play(world, 3)

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        world.save(path)
    assert path.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["game"]


def test_not_from_a_callback(tmp_path):
    world, _, _ = hung()
    world.save(tmp_path / "game")
    world.before_space = lambda w: w.load(tmp_path / "game")
    with pytest.raises(RuntimeError, match="load"):
        world.update(world.step)
