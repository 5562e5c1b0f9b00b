"""Mutated snapshots with the right digest: refused with the world unchanged, or taken and stepped in peace.

As a program: python tests/test_snapshot_fuzz.py COUNT SEED
"""

import hashlib
import json
import random
import sys

import numpy as np
import pymunk

import softkit
from softkit import fields, snapshot, snapshot_rules

HOSTILE = [
    0,
    -1,
    1,
    2,
    7,
    1 << 31,
    1 << 40,
    1 << 63,
    1 << 64,
    -(1 << 63),
    1e308,
    -1e308,
    5e-324,
    0.5,
    "",
    "x",
]
HOSTILE += [None, True, False, [], {}, [[]], [1, 2], {"a": 1}, float("nan"), float("inf"), "rope", "<f8"]


def everything():
    """One of each kind, on bodies and shapes, in wind."""
    space = pymunk.Space()
    space.gravity = (0, 900)
    crate = pymunk.Body(1, 60)
    crate.position = (60, 0)
    floor = pymunk.Segment(space.static_body, (-300, 60), (300, 60), 4)
    floor.friction = 0.7
    space.add(crate, pymunk.Poly.create_box(crate, (16, 16)), floor)
    world = softkit.World(space)
    rope = softkit.Rope((0, 0), (60, 0), segments=8)
    body, block = softkit.SoftBody.circle((-60, 20), 15, segments=10), softkit.SoftBody.lattice(2, 2, 2)
    mesh = softkit.Cloth.mesh([(0, 0, 0), (9, 0, 0), (0, 9, 0), (9, 9, 0)], [(0, 1, 2), (1, 3, 2)])
    sheet = softkit.Cloth(5, 4, origin=(-150, 20, 0), pinned=[0], radius=3)
    fluid, dust = softkit.Fluid(bounds=(100, -50, 150, 100)), softkit.Particles(40, trail=2)
    world.add(rope, softkit.Rope((-20, 40), (20, 40), segments=6), body, block, mesh, sheet, fluid, dust)
    world.add(softkit.Sphere((-150, 50, 0), 12))
    rope.pin(0)
    rope.attach(-1, crate)
    rope.join(3, world.objects[1], 0)
    fluid.fill((110, 0, 60, 40))
    fluid.emitter((150, -40), rate=60)
    fluid.drain((120, 20, 20, 20), rate=5)
    dust.emitter((0, -20), 80, speed=50)
    world.fields.add(fields.Wind((40, 0), gust=0.5))
    for one in world.objects:
        one.on_begin = lambda *_: None
    for _ in range(8):
        world.update(world.step)
    return world


def reseal(header, blob):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    check = hashlib.sha256(text + blob).digest()
    return snapshot.HEAD.pack(snapshot.MAGIC, snapshot.VERSION, len(text), check) + text + blob


def mutated(data, rng):
    size = snapshot.HEAD.unpack_from(data)[2]
    text, blob = data[snapshot.HEAD.size :][:size], bytearray(data[snapshot.HEAD.size + size :])
    header = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if rng.random() < 0.5:
            place = rng.randrange(len(blob) // 8) * 8
            value = rng.choice((float("nan"), float("inf"), 1e300, -1.0, 0.0, rng.gauss(0, 1e3)))
            raw = np.array([value]).tobytes() if rng.random() < 0.5 else rng.randbytes(8)
            if rng.random() < 0.3:
                raw = rng.choice((-1, 1, 50, 1 << 20, 1 << 62)).to_bytes(8, "little", signed=True)
            blob[place : place + 8] = raw
            continue
        # Mostly deep: a kind's curves and lists would otherwise take nearly all mutations.
        node, path = header, []
        while isinstance(node, dict | list) and node and (not path or rng.random() < 0.9):
            key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
            path.append((node, key))
            node = node[key]
        parent, key = path[-1]
        if rng.random() < 0.15 and isinstance(parent, dict):
            del parent[key]
        elif rng.random() < 0.3 and isinstance(node, int | float) and not isinstance(node, bool):
            parent[key] = node + rng.choice((-1, 1, 8, 0.5, 1e6))
        else:
            parent[key] = rng.choice(HOSTILE)
    return reseal(header, bytes(blob))


def run(count, seed):
    """Returns how many of `count` mutations were refused."""
    rng = random.Random(seed)
    world = everything()
    data = world.snapshot()
    for _ in range(3):
        world.update(world.step)
    before, refused = world.snapshot(), 0
    for _ in range(count):
        wrong = mutated(data, rng)
        try:
            world.restore(wrong)
        except ValueError:
            refused += 1
            assert world.snapshot() == before
            continue
        world.update(world.step)
        world.state_hash(), world.contacts, world.point_query((0, 0), 50)
        for one in world.objects:
            assert np.isfinite(one.positions).all() and np.isfinite(one.velocities).all(), one
        world.restore(before)
        if world.snapshot() != before:
            world.restore(data)
            before = world.snapshot()
    return refused


def test_mutations_are_refused_or_harmless():
    assert run(1500, 1) > 500


def test_every_name_in_a_state_has_a_rule():
    for one in everything().objects:
        assert snapshot_rules.undeclared(one.kind, one._settings(), one._arrays()) == [], one


if __name__ == "__main__":
    print(run(int(sys.argv[1]), int(sys.argv[2])), "refused of", sys.argv[1])
