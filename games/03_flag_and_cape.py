"""Flag and cape: run, jump with the wind, and touch every flag.

The idea of this file: `softkit.Cloth` carried by a body and blown by wind that is there only in places.

- A cape hangs on the hero by `Cloth.attach` and keeps off a `softkit.Capsule` fixed to the same body.
- A flag is a sheet with one pinned column: see `raise_flag`.
- `softkit.fields.Wind` with a region is a wind zone; the hero feels the very same wind through its `sample`.
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
from softkit.fields import Region, Wind
from softkit.render import Camera, View

# The level: world units are pixels, y points down; blocks are (left, top, right, bottom) ------

ROCKS = [
    (-700, 560, 620, 1200),
    (820, 560, 1300, 1200),
    (1640, 560, 2250, 1200),
    (2400, 540, 2800, 1200),
    (2950, 470, 3300, 1200),
    (3690, 540, 4500, 1200),
    (-900, -300, -600, 1200),
]
FLAGS = [(1080, 560), (2020, 560), (3140, 470), (4080, 540)]
WINDS = [
    ((1240, 0, 440, 800), (640, -280)),
    ((2260, 0, 300, 800), (-70, 0)),  # (rectangle, velocity)
    ((3260, 0, 560, 800), (680, -300)),
]
BREEZE = (190, 0)  # everywhere
START = Vec2d(150, 530)

HERO_MASS, HERO_RADIUS = 2.0, 20
RUN_SPEED, AIR_FORCE, JUMP_SPEED = 290, 700, 510
DRAG = 1.2  # how fast the wind takes the hero along, 1/s

HERO, SOLID, CLOTHES = 1, 2, 4
CAPE_FILTER = pymunk.ShapeFilter(categories=CLOTHES, mask=CLOTHES | SOLID)
FLAG_FILTER = pymunk.ShapeFilter(categories=CLOTHES, mask=CLOTHES)
FEET_FILTER = pymunk.ShapeFilter(mask=SOLID)

ROCK, SUIT, CAPE = (74, 92, 96), (244, 206, 120), (204, 52, 66)
GREY, GOLD, POLE = (150, 156, 166), (250, 200, 70), (226, 222, 210)


class Game(BaseGame):
    title = "Flag and cape"
    idea = "A cape, flags, and wind in places"
    goal = "Touch every flag, and use the wind to jump"
    keys = (("A  D", "run"), ("W or Space", "jump"))
    poster_frame = 280
    demo_frames = 3000

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(440, 400), tilt=0.3)
        self.view = View(pygame.display.get_surface(), self.camera)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        for left, top, right, bottom in ROCKS:
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            self.add_shape(pymunk.Poly(self.space.static_body, corners), ROCK, SOLID)
        self.build_hero()
        self.flags = [self.raise_flag(*at) for at in FLAGS]
        self.touched: set[int] = set()
        self.world.fields.add(Wind(velocity=BREEZE, gust=0.6, frequency=0.7))
        self.world.fields.add(Wind(velocity=(0, 0, 40), gust=3, frequency=1.3, seed=9))  # to and fro
        self.zones = [
            Wind(velocity=v, gust=0.2, region=Region.rect(*rect), seed=k + 1)
            for k, (rect, v) in enumerate(WINDS)
        ]
        self.world.fields.add(*self.zones)

    def add_shape(self, shape, color, category: int):
        """Put a shape into the space. Friction is 0 in pymunk unless set, and that is ice."""
        shape.friction, shape.filter = 0.9, pymunk.ShapeFilter(categories=category)
        self.space.add(shape)
        self.view.style(shape, color=color)
        return shape

    def build_hero(self) -> None:
        """A ball that does not turn, a capsule that its cape lies on, and the cape."""
        self.hero = pymunk.Body(HERO_MASS, math.inf)
        self.hero.position = START
        self.space.add(self.hero)
        self.feet = self.add_shape(pymunk.Circle(self.hero, HERO_RADIUS), SUIT, HERO)
        self.feet.friction = 1.0
        filter = pymunk.ShapeFilter(categories=SOLID)
        self.world.add(softkit.Capsule((0, -10, 0), (0, 8, 0), 14, body=self.hero, filter=filter))
        x, y = START
        self.cape = softkit.Cloth(
            7,
            12,
            spacing=5,
            origin=(x - 17, y - 22, -15),
            right=(0, 0, 1),
            mass=0.15,
            damping=1.5,
            filter=CAPE_FILTER,
            bend_compliance=0.5,
        )
        self.world.add(self.cape)
        for column in range(7):
            self.cape.attach(self.cape.index(column, 0), self.hero)
        self.view.style(self.cape, color=CAPE)

    def raise_flag(self, x: float, ground: float) -> softkit.Cloth:
        """A grey flag, as yet; its first column is pinned to the pole."""
        flag = softkit.Cloth(
            13,
            9,
            spacing=8,
            origin=(x, ground - 190, 0),
            mass=0.15,
            damping=0.8,
            filter=FLAG_FILTER,
            shear_compliance=0.5,
        )
        for row in range(9):
            flag.pin(flag.index(0, row))
        self.world.add(flag)
        self.view.style(flag, color=GREY)
        return flag

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.move_hero()
        self.world.update(dt)
        self.follow(dt)
        self.judge()

    def wind_at(self, place) -> Vec2d:
        """What blows here: the same numbers that cape and flags feel."""
        return sum((Vec2d(*zone.sample(place, time=self.world.time)) for zone in self.zones), Vec2d(0, 0))

    def standing(self) -> bool:
        """Whether the hero has ground under the feet."""
        return bool(self.space.point_query(self.hero.position + (0, HERO_RADIUS + 5), 3, FEET_FILTER))

    def move_hero(self) -> None:
        """Run and jump on the ground; in the air lean, and go with the wind."""
        pad, hero = self.controls, self.hero
        self.feet.surface_velocity = -pad.x * RUN_SPEED, 0
        wind = self.wind_at(hero.position)
        if self.standing():
            if (pad.y < -0.5 or pad.action) and hero.velocity.y > -60:
                hero.velocity = hero.velocity.x, -JUMP_SPEED
        else:
            lean = pad.x * AIR_FORCE if abs(hero.velocity.x) < RUN_SPEED or pad.x * hero.velocity.x < 0 else 0
            hero.force = hero.force + (lean, 0)
            if wind.length > 1:
                hero.force = hero.force + (wind - hero.velocity) * (DRAG * HERO_MASS)

    def follow(self, dt: float) -> None:
        """The camera looks ahead of the hero."""
        x, y = self.camera.center
        goal = min(max(self.hero.position.x + 160 + 0.2 * self.hero.velocity.x, 440), 4000)
        self.camera.center = (x + (goal - x) * (1 - math.exp(-4 * dt)), y)

    def judge(self) -> None:
        """Flags turn gold; the last one ends the game, and so does a fall."""
        for k, (x, ground) in enumerate(FLAGS):
            dx, dy = self.hero.position - (x, ground)
            if k not in self.touched and abs(dx) < 30 and dy < 5:
                self.touched.add(k)
                self.view.style(self.flags[k], color=GOLD)
        if len(self.touched) == len(FLAGS):
            self.win(f"{len(FLAGS)} flags in {self.world.time:.1f} seconds")
        elif self.hero.position.y > 900:
            self.lose("You fell")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        self.draw_wind(surface)
        for x, ground in FLAGS:
            ends = [self.camera.to_screen(p)[:2] for p in ((x, ground), (x, ground - 200))]
            pygame.draw.line(surface, POLE, *ends, 7)
        self.view.draw(self.world)
        x, y = self.camera.to_screen(self.hero.position)[:2]
        side = -1 if self.controls.x < 0 else 1
        for eye in (2, 11):
            pygame.draw.circle(surface, (30, 26, 40), (x + side * eye, y - 5), 3)
        text.panel(surface, (16, 14, 200, 44))
        text.write(surface, f"flags {len(self.touched)}/{len(FLAGS)}", (32, 26), 28, GOLD)

    def draw_wind(self, surface) -> None:
        """Streaks that run with each zone's wind."""
        for (left, top, width, height), (vx, vy) in WINDS:
            for k in range(26):
                x = left + (k * 137 + self.world.time * vx) % width
                y = top + (k * 211 + self.world.time * vy) % height
                a, b = (self.camera.to_screen(p)[:2] for p in ((x, y), (x - 0.09 * vx, y - 0.09 * vy)))
                pygame.draw.line(surface, (196, 220, 226), a, b, 2)

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Run, and jump where the ground ends."""
        x = self.hero.position.x
        edges = [right for _, _, right, _ in ROCKS[:-1]]
        near = any(right - 30 < x < right + 10 for right in edges)
        walls = any(0 < left - x < 60 and top < self.hero.position.y for left, top, *_ in ROCKS[:-1])
        self.controls.script(x=1.0 if frame > 40 else 0.0, y=-1.0 if near or walls else 0.0)

    def report(self):
        return self.hero.position.int_tuple, len(self.touched)


def paint_backdrop(size) -> Backdrop:
    """A windy morning."""
    return Backdrop(
        size,
        ((40, 92, 150), (190, 190, 180)),
        [
            Hills((128, 160, 170), (170, 186, 180), 0.52, 80, 0.08),
            Hills((96, 132, 128), (130, 156, 140), 0.70, 55, 0.18),
            Hills((62, 96, 88), (84, 116, 98), 0.86, 36, 0.32, pines=40),
        ],
        sun=((1010, 190), 170, (255, 240, 190)),
        seed=21,
    )
