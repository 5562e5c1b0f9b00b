"""Water tank: carry the jug, tilt it, and fill the glass to the line.

The idea of this file: a `softkit.Fluid` in containers made of pymunk segments, one of them moving.

- The jug is a kinematic body of thin segments; liquid never passes them: see `build_jug`.
- `Fluid.fullness` says how full a rectangle is; that is the whole rule of the game: see `judge`.
- A `Fluid.drain` under the table takes what is spilled, and counts it.
- The duck is an ordinary pymunk body: it floats because its density is below the liquid's.
"""

from __future__ import annotations

import math
from itertools import pairwise

import pygame
import pymunk

import softkit
from games.shell import text
from games.shell.backdrop import gradient
from games.shell.game import Game as BaseGame
from softkit.render import View

SPACING = 7
GLASS = (845, 400, 160, 230)  # left, top, width, height of the inside
TABLE = 640
JUG = [(-112, -92), (-84, -60), (-84, 76), (-64, 90), (64, 90), (84, 76), (84, -60), (112, -92)]
HOME, FARTHEST_TILT = (520, 380), 2.0
LOW, HIGH = 0.40, 0.52  # the line, and how far above it is still well poured
ENOUGH = 120  # particles spilled that lose the game
WATER = (70, 150, 235)


class Game(BaseGame):
    title = "Water tank"
    idea = "Liquid in moving containers, and how full they are"
    goal = "Fill the glass to the line without spilling"
    keys = (("Mouse", "carry the jug"), ("Left  Right", "tilt it"))
    poster_frame = 330
    demo_frames = 2400

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.view = View(pygame.display.get_surface())
        self.backdrop = self.__dict__.get("backdrop") or gradient(self.size, (38, 46, 74), (122, 130, 158))
        self.build_room()
        self.build_jug()
        self.water = self.world.add(softkit.Fluid(spacing=SPACING, damping=0.3))
        self.water.fill((HOME[0] - 80, HOME[1] - 56, 160, 140), color=WATER)
        self.spill = self.water.drain((-400, 700, 2200, 400))
        self.tilt = 0.0
        self.calm = 0.0  # seconds that the glass has been filled well

    def build_room(self) -> None:
        """The table, the glass on it, and a duck in the glass."""
        ground = self.space.static_body
        table = pymunk.Poly(ground, [(640, TABLE), (1160, TABLE), (1160, TABLE + 30), (640, TABLE + 30)])
        table.friction = 0.6
        self.space.add(table)
        self.view.style(table, color=(112, 80, 62))
        left, top, width, height = GLASS
        for a, b in (
            ((left - 3, top), (left - 3, top + height)),
            ((left - 3, top + height), (left + width + 3, top + height)),
            ((left + width + 3, top + height), (left + width + 3, top)),
        ):
            side = pymunk.Segment(ground, a, b, 3)
            self.space.add(side)
            self.view.style(side, color=(196, 222, 232, 150))
        self.duck = pymunk.Body(0.35 * 44 * 34, pymunk.moment_for_box(0.35 * 44 * 34, (44, 34)))
        self.duck.position = (left + width / 2, top + height - 20)
        shape = pymunk.Poly.create_box(self.duck, (40, 30), 2)
        shape.friction = 0.4
        self.space.add(self.duck, shape)
        self.view.style(shape, color=(250, 206, 74))

    def build_jug(self) -> None:
        """A kinematic body: the game sets its velocity, and liquid and duck feel it move."""
        self.jug = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        self.jug.position = HOME
        self.space.add(self.jug)
        for a, b in pairwise(JUG):
            side = pymunk.Segment(self.jug, a, b, 4)
            self.space.add(side)
            self.view.style(side, color=(206, 116, 92))

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.carry(dt)
        self.world.update(dt)
        self.judge(dt)

    def carry(self, dt: float) -> None:
        """Steer the jug by velocity toward the pointer, at a speed that a hand has."""
        goal_x, goal_y = self.controls.pointer if self.controls.by_pointer else self.jug.position
        away = pymunk.Vec2d(min(max(goal_x, 120), 1160), min(max(goal_y, 120), 520)) - self.jug.position
        wish = 5 * away
        if wish.length > 420:
            wish = wish.scale_to_length(420)
        change = wish - self.jug.velocity
        if change.length > 1500 * dt:
            change = change.scale_to_length(1500 * dt)
        self.jug.velocity += change
        self.tilt = min(max(self.tilt + 0.9 * self.controls.x * dt, -FARTHEST_TILT), FARTHEST_TILT)
        self.jug.angular_velocity = (self.tilt - self.jug.angle) / dt * 0.5

    @property
    def level(self) -> float:
        """How full the glass is, 0 to 1; the duck counts as far as it pushes water up."""
        return self.water.fullness(GLASS)

    def judge(self, dt: float) -> None:
        """Won when the level has stayed right for a while with the jug upright again."""
        level = self.level
        right = LOW <= level <= HIGH and abs(self.jug.angle) < 0.25
        self.calm = self.calm + dt if right else 0.0
        if self.spill.drained > ENOUGH:
            self.lose("Too much on the floor")
        elif level > HIGH + 0.06 and abs(self.jug.angle) < 0.25:
            self.lose("Over the line")
        elif self.calm > 1.5:
            self.win(f"{100 * level:.0f} % full, {self.spill.drained} drops spilled")

    def autoplay(self, frame: int) -> None:
        """Carry the jug beside the glass, tilt until the line is near, tilt back."""
        place = (756, 252)
        near = abs(self.jug.position.x - place[0]) < 6
        if frame == 0:
            self.poured = False
        self.poured = self.poured or self.level > LOW + 0.01
        if self.poured:
            tilt = -1.0 if self.tilt > 0.02 else 0.0
        else:
            tilt = (1.0 if self.tilt < 1.0 else 0.16) if near and self.tilt < 1.85 else 0.0
        self.controls.script(x=tilt, pointer=place)

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        surface.blit(self.backdrop, (0, 0))
        # a bright window on the left, a dark shelf on the right
        pygame.draw.rect(surface, (86, 74, 84), (50, 120, 380, 440), border_radius=8)
        for x in (66, 246):
            for y in (136, 346):
                pygame.draw.rect(surface, (206, 226, 240), (x, y, 168, 198))
        pygame.draw.rect(surface, (58, 48, 58), (1060, 110, 200, 14))
        for x, high, color in (
            (1080, 70, (120, 84, 92)),
            (1120, 90, (88, 110, 100)),
            (1160, 60, (140, 116, 84)),
        ):
            pygame.draw.rect(surface, color, (x, 110 - high, 30, high))
        pygame.draw.rect(surface, (74, 66, 82), (0, 690, self.size[0], 30))
        for x in (680, 1100):
            pygame.draw.rect(surface, (84, 60, 50), (x, TABLE + 26, 26, 70))
        self.view.draw(self.world)
        self.draw_line(surface)
        self.draw_duck(surface)
        text.panel(surface, (16, 14, 250, 64))
        text.write(surface, f"glass {100 * self.level:.0f} %   spilled {self.spill.drained}", (32, 24), 24)
        text.bar(surface, (28, 54, 226, 14), self.level, WATER)

    def draw_line(self, surface) -> None:
        """The band that the level has to end in."""
        left, top, width, height = GLASS
        for share, color in ((LOW, (255, 244, 190)), (HIGH, (255, 170, 130))):
            y = top + height * (1 - share)
            for k in range(0, width, 16):
                pygame.draw.line(surface, color, (left + k, y), (left + k + 8, y), 2)
        text.write(surface, "fill to here", (left + width + 14, top + height * (1 - LOW) - 10), 22)

    def draw_duck(self, surface) -> None:
        """Head, beak and eye on the box."""
        to = self.duck.local_to_world
        head = to((14, -24))
        pygame.draw.aacircle(surface, (250, 206, 74), head, 14)
        pygame.draw.polygon(surface, (240, 130, 60), [to((26, -28)), to((40, -22)), to((26, -18))])
        pygame.draw.aacircle(surface, (40, 36, 40), to((18, -28)), 2.5)
        pygame.draw.polygon(
            surface,
            (234, 184, 60),
            [to((-20, -14)), to((-30, -24 + 2 * math.sin(self.frame * 0.1))), to((-8, -15))],
        )
