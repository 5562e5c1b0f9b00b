"""Water wheel: draw a chute that leads the stream onto the wheel, and lift the bucket.

The idea of this file: liquid turns a pymunk body, and the body winds up a rope.

- A `Fluid.emitter` pours without end, a `Fluid.drain` takes the water away: see `build_water`.
- The wheel is an ordinary dynamic body on a pivot; the liquid's weight on its paddles turns it.
- The wheel's axle is a winch: `Rope.rest_length` follows its angle, and the rope's tension turns back
  on the wheel: see `wind`.
- Chutes are static segments that the player draws; the liquid meets them in the same frame: see `draw_chute`.
"""

from __future__ import annotations

import math

import pygame
import pymunk
from pymunk import Vec2d

import softkit
from games.shell import text
from games.shell.backdrop import Backdrop, Hills
from games.shell.game import Game as BaseGame
from softkit.render import View

SPACING = 7
SPRING, SPEED = (330, 60), 160  # where the stream begins
WHEEL, HUB, RIM, PADDLES = (760, 420), 50, 150, 10
DRUM = 34  # the axle's radius: rope wound for each radian
PULLEY, BUCKET_LOW, BUCKET_TOP = (1090, 110), 560, 215
BUCKET_MASS = 60
WOOD_LEFT, LONGEST = 3, 420  # chutes that may stand at once, and how long each may be
RIVER = 676
WATER, WOOD, ROPE = (72, 152, 232), (150, 104, 66), (226, 200, 150)
WHEEL_FILTER, BUCKET_FILTER = pymunk.ShapeFilter(group=1), pymunk.ShapeFilter(categories=2, mask=0)


class Game(BaseGame):
    title = "Water wheel"
    idea = "Liquid turns a wheel that winds a rope"
    goal = "Lead the stream onto the wheel until the bucket is up"
    keys = (("Mouse drag", "draw a chute"), ("E", "take the last one away"))
    poster_frame = 420
    demo_frames = 3000

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.view = View(pygame.display.get_surface())
        self.backdrop = self.__dict__.get("backdrop") or Backdrop(
            self.size,
            ((112, 164, 206), (226, 226, 206)),
            [
                Hills((96, 128, 138), (150, 168, 160), 0.62, 46, 0.1, 30),
                Hills((66, 98, 88), (96, 120, 100), 0.8, 26, 0.2, 40),
            ],
            sun=((1080, 130), 40, (255, 240, 200)),
        )
        self.chutes: list[pymunk.Segment] = []
        self.anchor = None  # where the chute being drawn begins
        self.build_wheel()
        self.build_bucket()
        self.build_water()

    def build_wheel(self) -> None:
        """Paddles round a hub on a pivot: one body, so that only its turning is free."""
        mass = 400
        self.wheel = pymunk.Body(mass, pymunk.moment_for_circle(mass, HUB, RIM))
        self.wheel.position = WHEEL
        self.space.add(self.wheel, pymunk.PivotJoint(self.space.static_body, self.wheel, WHEEL))
        hub = pymunk.Circle(self.wheel, HUB)
        parts = [hub]
        for k in range(PADDLES):
            way = Vec2d(1, 0).rotated(math.tau * k / PADDLES)
            side = way.perpendicular()
            parts.append(pymunk.Segment(self.wheel, HUB * way, RIM * way, 4))
            # a lip at the end holds the water on the way down
            parts.append(pymunk.Segment(self.wheel, RIM * way, (RIM - 6) * way + 34 * side, 4))
        for part in parts:
            part.friction, part.filter = 0.5, WHEEL_FILTER
            self.view.style(part, color=WOOD)
        self.space.add(*parts)
        self.turned = 0.0

    def build_bucket(self) -> None:
        """A weight on a rope over the pulley; the rope's upper end is wound up by the axle."""
        self.bucket = pymunk.Body(BUCKET_MASS, math.inf)
        self.bucket.position = (PULLEY[0], BUCKET_LOW)
        shape = pymunk.Poly(self.bucket, [(-30, -26), (30, -26), (22, 26), (-22, 26)])
        shape.filter = BUCKET_FILTER
        self.space.add(self.bucket, shape)
        self.view.style(shape, color=(120, 128, 142))
        self.rope = softkit.Rope(
            PULLEY, (PULLEY[0], BUCKET_LOW - 26), segments=24, mass=2, radius=2, filter=BUCKET_FILTER
        )
        self.rope.attach(0, self.space.static_body)
        self.rope.attach(-1, self.bucket, (0, -26))
        self.world.add(self.rope)
        self.view.style(self.rope, color=ROPE)
        self.longest = self.rope.rest_length

    def build_water(self) -> None:
        """A spring that never ends and a river that takes it all."""
        self.water = self.world.add(softkit.Fluid(spacing=SPACING, capacity=4000))
        self.water.emitter(SPRING, (0.25, 1), width=5 * SPACING, speed=SPEED, color=WATER)
        self.water.drain((-600, RIVER, 2600, 600))

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.draw_chute()
        self.wind()
        self.world.update(dt)
        if self.bucket.position.y < BUCKET_TOP:
            self.win(f"Lifted in {self.world.time:.0f} seconds with {len(self.chutes)} chutes")

    def draw_chute(self) -> None:
        """Press, drag, let go: a new static segment. The oldest goes when there are too many."""
        pad = self.controls
        if "pointer" in pad.pressed:
            self.anchor = Vec2d(*pad.pointer)
        if "pointer" in pad.released and self.anchor is not None:
            way = Vec2d(*pad.pointer) - self.anchor
            if way.length > 30:
                self.place(self.anchor, self.anchor + way.scale_to_length(min(way.length, LONGEST)))
            self.anchor = None
        if "alt" in pad.pressed and self.chutes:
            self.space.remove(self.chutes.pop())

    def place(self, a, b) -> None:
        """Put a chute up; it may not reach into the wheel."""
        if self.space.segment_query_first(a, b, 6, pymunk.ShapeFilter(mask=1)) is not None:
            return
        if len(self.chutes) == WOOD_LEFT:
            self.space.remove(self.chutes.pop(0))
        chute = pymunk.Segment(self.space.static_body, a, b, 5)
        chute.friction = 0.2
        self.space.add(chute)
        self.view.style(chute, color=WOOD)
        self.chutes.append(chute)

    def wind(self) -> None:
        """Either way round winds the rope up, as a ratchet does; the load turns against the wheel."""
        turn = self.wheel.angle - self.turned
        self.turned = self.wheel.angle
        if turn:
            length = self.rope.rest_length - DRUM * abs(turn)
            self.rope.rest_length = min(max(length, 60.0), self.longest)
        load = float(self.rope.tension.max()) * DRUM
        speed = self.wheel.angular_velocity
        self.wheel.torque -= math.copysign(min(load, self.wheel.moment * abs(speed) * 60), speed)

    def autoplay(self, frame: int) -> None:
        """Draw one chute from under the spring to above the wheel's left side."""
        a, b = (230, 120), (612, 270)
        if frame < 30:
            self.controls.script(pointer=a)
        elif frame < 60:
            t = (frame - 30) / 29
            self.controls.script(
                hold=("pointer",), pointer=(a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]))
            )
        else:
            self.controls.script(pointer=b)

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, (640, 360))
        self.draw_frame(surface)
        self.view.draw(self.world)
        pygame.draw.aacircle(surface, (96, 66, 48), WHEEL, 22)
        for k in range(3):
            x, y = Vec2d(14, 0).rotated(self.wheel.angle + math.tau * k / 3) + WHEEL
            pygame.draw.aacircle(surface, ROPE, (x, y), 4)
        if self.anchor is not None:
            pygame.draw.line(surface, (255, 246, 220), self.anchor, self.controls.pointer, 4)
        pygame.draw.rect(surface, (52, 108, 150), (0, RIVER, self.size[0], self.size[1] - RIVER))
        text.panel(surface, (16, 14, 250, 64))
        text.write(surface, f"chutes {len(self.chutes)} of {WOOD_LEFT}", (32, 24), 24)
        done = (BUCKET_LOW - self.bucket.position.y) / (BUCKET_LOW - BUCKET_TOP)
        text.bar(surface, (28, 54, 226, 14), done, (255, 214, 120))

    def draw_frame(self, surface) -> None:
        """The spring's spout, the wheel's stand, and the rope from the axle to the pulley."""
        pygame.draw.rect(surface, (104, 108, 116), (SPRING[0] - 34, 0, 68, SPRING[1]))
        for side in (-1, 1):
            pygame.draw.line(surface, (92, 66, 50), WHEEL, (WHEEL[0] + side * 120, RIVER + 20), 14)
        pygame.draw.line(surface, (92, 66, 50), (PULLEY[0] + 70, RIVER), (PULLEY[0] + 70, PULLEY[1] - 30), 16)
        pygame.draw.line(
            surface, (92, 66, 50), (PULLEY[0] + 78, PULLEY[1] - 24), (PULLEY[0] - 14, PULLEY[1] - 24), 14
        )
        pygame.draw.aaline(surface, ROPE, (WHEEL[0], WHEEL[1] - DRUM), (PULLEY[0], PULLEY[1] - 14))
        pygame.draw.aacircle(surface, (120, 128, 142), PULLEY, 14)
        pygame.draw.line(
            surface, (212, 84, 76), (PULLEY[0] - 60, BUCKET_TOP), (PULLEY[0] + 60, BUCKET_TOP), 3
        )
