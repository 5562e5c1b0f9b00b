"""A rope as pymunk users build it: small bodies in a chain of PinJoints, without shapes."""

import pymunk


class Ropes:
    def __init__(self, layout, steps=3, iterations=30):
        self.space = pymunk.Space()
        self.space.gravity = (0, layout.gravity)
        self.space.iterations = iterations
        self.steps, self.dt = steps, layout.dt / steps
        self.chains = []
        for points in layout.points().tolist():
            chain = [points[0]]
            previous, anchor = self.space.static_body, points[0]
            for point in points[1:]:
                body = pymunk.Body(
                    layout.mass / layout.segments, float("inf")
                )  # joints at the centre: no turning
                body.position = tuple(point)
                joint = pymunk.PinJoint(previous, body, tuple(anchor), (0, 0))
                joint.distance = layout.link
                self.space.add(body, joint)
                chain.append(body)
                previous, anchor = body, (0, 0)
            self.chains.append(chain)

    def frame(self):
        for _ in range(self.steps):
            self.space.step(self.dt)

    def positions(self):
        return [[chain[0], *(body.position for body in chain[1:])] for chain in self.chains]
