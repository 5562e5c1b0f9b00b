"""Curtain call: six balls lie on silk; cut and pull the silk so that all of them reach the bowl.

The idea of this file: `softkit.Cloth` as a part of a 2-D game, stopping dynamic bodies and torn by hand.

- A sheet lies in x and z: `right` is the space's x, `down` points toward the viewer; the tilt shows it.
- `world.colliders.set_round` makes pymunk's discs balls in three dimensions: see `drop_balls`.
- `Cloth.tear(a, b)` breaks every edge that a stroke crosses: see `use_knife`.
- A pinned particle goes where it is moved and pulls the sheet with it: see `use_hand`.
"""

from __future__ import annotations

from itertools import pairwise

import pygame
import pymunk
from pymunk import Vec2d

import softkit
from games.shell import text
from games.shell.backdrop import Backdrop, Hills
from games.shell.game import Game as BaseGame
from softkit.render import Camera, View

# The stage: world units are pixels, y points down ---------------------------------------------

SHEETS = [(500, 210), (560, 350), (620, 490)]  # (left end, height) of each sheet
WIDTH, DEPTH, SPACING = 300, 170, 10  # of a sheet, wu; it hangs through a little
SLACK = 0.94  # its ends are nearer than it is long
BOWL = [(620, 560), (650, 660), (910, 660), (940, 560)]
BALLS, RADIUS, MASS = 6, 15, 0.6
MAY_LOSE = 2
HAND_REACH = 90

SILKS = [(206, 70, 92), (222, 158, 74), (86, 130, 200)]
GOLD, WOOD = (246, 214, 120), (120, 84, 60)
VELVET = (150, 16, 30), (112, 8, 22)


class Game(BaseGame):
    title = "Curtain call"
    idea = "Silk that holds balls, torn by hand"
    goal = "Bring the balls down into the bowl"
    keys = (("Mouse, hold", "cut"), ("Space, hold", "pull"))
    poster_frame = 322
    demo_frames = 1800

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(640, 380), tilt=0.35)
        self.view = View(pygame.display.get_surface(), self.camera)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        self.sheets = [self.hang_sheet(*place, color) for place, color in zip(SHEETS, SILKS)]
        for a, b in pairwise(BOWL):
            self.add_shape(pymunk.Segment(self.space.static_body, a, b, 6), WOOD)
        self.balls = [self.drop_ball(k) for k in range(BALLS)]
        self.held: tuple | None = None  # (sheet, particle) in the hand

    def add_shape(self, shape, color):
        """Put a shape into the space. Friction is 0 in pymunk unless set, and that is ice."""
        shape.friction = 0.6
        self.space.add(shape)
        self.view.style(shape, color=color)
        return shape

    def hang_sheet(self, left: float, height: float, color) -> softkit.Cloth:
        """A sheet held along its two ends; the right end is moved in, so that it sags."""
        columns, rows = WIDTH // SPACING + 1, DEPTH // SPACING + 1
        sheet = softkit.Cloth(
            columns,
            rows,
            spacing=SPACING,
            origin=(left, height, -DEPTH / 2),
            down=(0, 0, 1),
            mass=1.5,
            damping=1.0,
            bend_compliance=0.01,
        )
        for row in range(rows):
            for column in (0, -1):
                i = sheet.index(column, row)
                sheet.pin(i)
                if column:
                    sheet.move(i, (left + WIDTH * SLACK, height, -DEPTH / 2 + row * SPACING))
        self.world.add(sheet)
        self.view.style(sheet, color=color)
        return sheet

    def drop_ball(self, k: int) -> pymunk.Body:
        """A disc for pymunk, a ball for the silk."""
        body = pymunk.Body(MASS, pymunk.moment_for_circle(MASS, 0, RADIUS))
        body.position = (610 + 34 * (k % 3), 150 - 40 * (k // 3))
        self.space.add(body)
        self.world.colliders.set_round(self.add_shape(pymunk.Circle(body, RADIUS), GOLD))
        return body

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.use_knife()
        self.use_hand()
        self.world.update(dt)
        self.judge()

    def use_knife(self) -> None:
        """What the pointer crosses while its button is down is cut."""
        pad = self.controls
        if pad.pointer_held and pad.pointer != pad.pointer_before:
            a, b = (self.camera.to_world(p)[:2] for p in (pad.pointer_before, pad.pointer))
            for sheet in self.sheets:
                sheet.tear(a, b)

    def use_hand(self) -> None:
        """Hold the nearest particle while the button is down, and let go of it after."""
        pad, at = self.controls, Vec2d(*self.camera.to_world(self.controls.pointer)[:2])
        if "action" in pad.pressed and self.held is None:
            near = self.world.point_query(at, HAND_REACH)
            free = [hit for hit in near if hit.particle not in hit.object.pinned]
            if free:
                self.held = free[0].object, free[0].particle
                self.held[0].pin(self.held[1])
        elif self.held is not None:
            sheet, i = self.held
            if pad.action:
                sheet.move(i, tuple(at))
            else:
                sheet.unpin(i)
                self.held = None

    def safe(self) -> int:
        """Balls in the bowl."""
        left, right = BOWL[0][0], BOWL[-1][0]
        return sum(left < b.position.x < right and BOWL[0][1] < b.position.y < 700 for b in self.balls)

    def lost(self) -> int:
        """Balls that missed it."""
        return sum(b.position.y >= 700 for b in self.balls)

    def calm(self) -> bool:
        """Nothing moves any more but what fell off the stage."""
        return all(b.velocity.length < 60 for b in self.balls if b.position.y < 700)

    def judge(self) -> None:
        """All balls that are left in the bowl and calm: the end."""
        lost = self.lost()
        if lost > MAY_LOSE:
            self.lose("Too many balls left the stage")
        elif self.safe() == BALLS - lost and self.calm():
            self.win(f"{self.safe()} of {BALLS} balls in {self.world.time:.1f} seconds")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        pygame.draw.rect(surface, VELVET[0], (0, 0, 330, 720))  # the stage's own curtain, drawn aside
        for x in range(0, 330, 44):
            pygame.draw.rect(surface, VELVET[1], (x, 0, 18, 720))
        self.view.draw(self.world)
        for left, height in SHEETS:
            for x in (left, left + WIDTH * SLACK):
                ends = [self.camera.to_screen((x, height, z)) for z in (-DEPTH / 2, DEPTH / 2)]
                pygame.draw.line(surface, WOOD, ends[0][:2], ends[1][:2], 5)
        text.panel(surface, (16, 14, 250, 44))
        text.write(surface, f"in the bowl {self.safe()}/{BALLS}", (32, 26), 28, GOLD)
        if self.controls.pointer_held:
            pygame.draw.line(surface, (255, 255, 255), self.controls.pointer_before, self.controls.pointer, 3)

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Wait until the balls rest, then cut the sheet that holds them along its lowest line."""
        turn, moment = divmod(frame, 150)
        if turn and turn <= len(SHEETS) and moment < 8:
            left, height = SHEETS[turn - 1]
            x = left + WIDTH * SLACK * 0.5
            at = self.camera.to_screen((x, height - 60 + 30 * moment))
            hold = {"pointer"} if moment else set()
            self.controls.script(hold=hold, pointer=(float(at[0]), float(at[1])))
        else:
            self.controls.script()

    def report(self):
        return [body.position.int_tuple for body in self.balls], len(self.sheets[0].triangles)


def paint_backdrop(size) -> Backdrop:
    """A theatre in the evening hills."""
    return Backdrop(
        size,
        ((54, 32, 60), (170, 96, 96)),
        [
            Hills((84, 52, 84), (120, 74, 88), 0.60, 70, 0.10),
            Hills((52, 34, 62), (70, 46, 72), 0.82, 40, 0.25),
        ],
        seed=4,
    )
