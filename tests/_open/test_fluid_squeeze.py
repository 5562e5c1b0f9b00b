"""Fails: fluid between closing plates is pressed through them."""

import numpy as np
import pymunk

import softkit


def test_squeezed_fluid_stays_between_the_plates():
    space = pymunk.Space()
    world = softkit.World(space, gravity=(0, 0))
    plates = []
    for x, v in ((10, 60), (150, -60)):
        body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        body.position, body.velocity = (x, 50), (v, 0)
        space.add(body, pymunk.Poly.create_box(body, (20, 400)))
        plates.append(body)
    fluid = world.add(softkit.Fluid(spacing=5))
    fluid.fill((20, 20, 120, 60))
    for _ in range(84):
        world.update(1 / 60)
        assert np.isfinite(fluid.positions).all()
    assert np.hypot(*fluid.velocities.T).max() <= 4 * 2.2 * 5 * 120 * 1.001, "the cap of 4 cells a substep"
    assert (fluid.positions[:, 0] > plates[0].position.x).all() and (
        fluid.positions[:, 0] < plates[1].position.x
    ).all()
