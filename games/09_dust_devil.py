"""Dust devil: you are the whirlwind. Carry leaves, sparks and a kite to where they are wanted.

The idea of this file: `softkit.fields` move soft things by the same rules, and they blow `Particles` about.

- The devil is a `Whirl` that the game moves; it carries along what it holds: see `build_devil`, `steer`.
- Magnets, the grumpy whirl and the breeze are fields too, each for some region and some things only.
- Leaves, sparks and dust are pools of `Particles` with emitters; a goal counts and removes those inside it.
- Fields with `bodies=True` blow pymunk bodies, so the kite flies; its tail is a rope in the same wind.
"""

from __future__ import annotations

import math

import numpy as np
import pygame
import pymunk

import softkit
from games.shell import text
from games.shell.backdrop import Backdrop, Hills
from games.shell.game import Game as BaseGame
from softkit.emitters import Source
from softkit.fields import Attractor, CurlNoise, LinearDrag, Region, Repeller, Whirl, Wind
from softkit.particles import Particles
from softkit.render import Camera, View
from softkit.render.field_painter import FieldPainter

# The level -----------------------------------------------------------------------------------
# World units are pixels, y points down.

LEFT, RIGHT, GROUND = 0, 3000, 600
WALLS = [
    (560, 500, 600, 600),
    (1000, 470, 1020, 600),
    (1200, 470, 1220, 600),  # a fence, the basket
    (1900, 330, 1990, 600),
    (2350, 420, 2390, 600),
]  # the tower, a stump
BASKET = (1020, 480, 180, 120)  # left, top, width, height
CAMPFIRE, LANTERN, LANTERN_SIZE = (1480, 585), (1945, 290), 52
KITE, FLAG, FLAG_SIZE = (2180, 560), (2880, 330), 90
GRUMPY = (800, 330)  # a whirl that turns against you
MAGNETS = [((1690, 210), -1), ((1720, 520), 1), ((2640, 190), 1), ((2650, 520), -1)]  # 1 pulls, -1 pushes
LEAVES, LEAVES_NEEDED, SPARKS_NEEDED = 160, 60, 80
TIME = 110  # seconds until dusk
SPEED, TOP = 330, 120  # the devil's speed, and how high it may climb

LEAF_COLORS = [(214, 92, 48), (226, 160, 60), (196, 70, 52), (150, 150, 70)]
EARTH, TURF, WOOD, STONE = (96, 76, 58), (140, 150, 74), (132, 92, 60), (112, 110, 120)
PULL, PUSH = (236, 96, 88), (96, 150, 236)


class Game(BaseGame):
    title = "Dust devil"
    idea = "Fields that blow particles, a rope and bodies"
    goal = f"{LEAVES_NEEDED} leaves to the basket, sparks to the lantern, the kite to the flag"
    keys = (("Arrows or mouse", "steer the devil"), ("Space", "spin harder"), ("E", "show the air"))
    poster_frame = 150
    demo_frames = 6600

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 500)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(640, 360))
        self.view = View(pygame.display.get_surface(), self.camera)
        self.air = FieldPainter(self.view)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        self.build_land()
        self.build_pools()
        self.build_devil()
        self.build_kite()
        self.build_weather()
        self.collected = self.lit = self.leg = 0
        self.delivered = False

    def build_land(self) -> None:
        ends = (LEFT - 400, GROUND + 20), (RIGHT + 400, GROUND + 20)
        floor = pymunk.Segment(self.space.static_body, *ends, 20)
        self.add_shape(floor, EARTH)
        for left, top, right, bottom in WALLS:
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            self.add_shape(pymunk.Poly(self.space.static_body, corners), WOOD if right - left < 50 else STONE)

    def add_shape(self, shape, color, friction: float = 0.8):
        shape.friction, shape.elasticity = friction, 0.3
        self.space.add(shape)
        self.view.style(shape, color=color)
        return shape

    def build_pools(self) -> None:
        """Leaves lie about for good, one pool a colour; sparks rise from the fire; dust shows the devil."""
        self.leaves = []
        for k, color in enumerate(LEAF_COLORS):
            pool = Particles(
                LEAVES,
                lifetime=1e6,
                radius=4,
                gravity_scale=0.25,
                damping=0.6,
                friction=0.7,
                size=20,
                color=color,
                alpha=1,
                spin=(-3, 3),
                seed=k,
            )
            heap = Source.rect(150, 480, 360, 110)
            pool.burst(LEAVES // len(LEAF_COLORS), heap, angle=(0, math.tau), size=(0.7, 1.2))
            self.view.style(self.world.add(pool), picture=paint_leaf())
            self.leaves.append(pool)
        self.sparks = Particles(
            2500,
            lifetime=(2.5, 5),
            gravity_scale=-0.08,
            damping=0.5,
            bounce=0.4,
            size=[7, 5, 3],
            color=[(255, 240, 170), (255, 150, 40), (190, 40, 10)],
            alpha=[1, 1, 0],
        )
        self.sparks.emitter(
            Source.disc(CAMPFIRE, 14), rate=220, direction=-math.pi / 2, spread=1.2, speed=(30, 140)
        )
        self.dust = Particles(
            3000,
            lifetime=(0.5, 1.6),
            gravity_scale=0.05,
            on_hit="pass",
            size=[5, 14, 26],
            color=[(226, 196, 150), (190, 160, 124)],
            alpha=[0, 0.4, 0],
        )
        self.world.add(self.sparks, self.dust)
        self.view.style(self.sparks, additive=True, shape="glow", streak=0.02)

    def build_devil(self) -> None:
        """What the devil does to the air: it turns, draws in, and carries along what it holds."""
        self.place = (300.0, 420.0)
        self.whirl = Whirl(self.place, strength=280, core=60, inward=0.6, rate=9, reach=230, bodies=True)
        self.world.fields.add(self.whirl)
        self.swirl = self.dust.emitter(Source.disc((0, 0), 70), rate=700, speed=(0, 40))

    def build_kite(self) -> None:
        """A light pymunk body with a rope for a tail; it hardly feels gravity, only the air."""
        self.kite = pymunk.Body(0.4, 120)
        self.kite.position = KITE
        self.kite.velocity_func = lambda body, gravity, damping, dt: pymunk.Body.update_velocity(
            body, gravity * 0.12, damping * 0.99, dt
        )
        shape = pymunk.Poly(self.kite, [(0, -34), (24, 0), (0, 34), (-24, 0)], radius=1)
        self.space.add(self.kite)
        self.add_shape(shape, (222, 84, 110), 0.3)
        self.tail = softkit.Rope(
            (KITE[0], KITE[1] + 34),
            (KITE[0] - 140, KITE[1] + 34),
            segments=16,
            mass=0.04,
            radius=2,
            damping=0.5,
        )
        self.tail.attach(0, self.kite, (0, 34))
        self.view.style(self.world.add(self.tail), color=(250, 214, 120))

    def build_weather(self) -> None:
        """Fields for all to see: a gusty breeze, a whirl against you, magnets for sparks and the kite."""
        add = self.world.fields.add
        add(Wind((26, 0), gust=1.2, frequency=0.4, rate=0.6))
        light = [self.dust, self.sparks, *self.leaves]
        add(CurlNoise(3, scale=130, strength=60, octaves=2, rate=2, targets=light))
        add(LinearDrag(1.2, targets=[self.tail]))
        add(Whirl(GRUMPY, strength=-200, core=60, rate=3, reach=150, targets=self.leaves))
        for place, pulls in MAGNETS:
            kind = Attractor if pulls > 0 else Repeller
            add(
                kind(
                    place,
                    2.2e6,
                    50,
                    bodies=True,
                    targets=[self.sparks],
                    region=Region.disc(place, 260),
                    falloff="linear",
                )
            )

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.steer(dt)
        self.world.update(dt)
        self.collect()
        self.follow(dt)
        self.judge()

    def steer(self, dt: float) -> None:
        """Move the devil's fields: by keys or stick, or toward the mouse while its button is held."""
        pad = self.controls
        wish = pygame.Vector2(pad.x, pad.y)
        if pad.pointer_held:
            wish = (pygame.Vector2(self.camera.to_world(pad.pointer)) - self.place) / 60
        if wish.length() > 1:
            wish.scale_to_length(1)
        x, y = self.place + wish * SPEED * dt
        self.place = (min(max(x, LEFT + 60), RIGHT - 60), min(max(y, TOP), GROUND - 60))
        self.whirl.move(self.place, dt)
        self.whirl.strength = 480 if pad.action else 280
        self.swirl.position = self.place

    def collect(self) -> None:
        """Goals take what is inside them out of its pool and count it."""
        left, top, width, height = BASKET
        for pool in self.leaves:
            x, y = pool.positions.T
            inside = (x > left) & (x < left + width) & (y > top) & (y < top + height)
            self.collected += pool.remove(inside)
        away = self.sparks.positions - LANTERN
        self.lit += self.sparks.remove((away**2).sum(axis=1) < LANTERN_SIZE**2)
        self.delivered = self.delivered or self.kite.position.get_distance(FLAG) < FLAG_SIZE

    def follow(self, dt: float) -> None:
        x, y = self.camera.center
        goal = min(max(self.place[0], LEFT + 640), RIGHT - 640)
        self.camera.center = (x + (goal - x) * (1 - math.exp(-4 * dt)), y)

    @property
    def goals(self) -> tuple:
        """(share done, what it is) of the three goals."""
        return (
            (min(1, self.collected / LEAVES_NEEDED), "leaves"),
            (min(1, self.lit / SPARKS_NEEDED), "lantern"),
            (float(self.delivered), "kite"),
        )

    def judge(self) -> None:
        if all(share >= 1 for share, _ in self.goals):
            self.win(f"All done {TIME - self.world.time:.0f} seconds before dusk")
        elif self.world.time > TIME:
            self.lose("Dusk has come and the wind lies down")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        self.draw_places(surface)
        self.view.draw(self.world)
        self.draw_kite(surface)
        self.draw_turf(surface)
        if self.controls.alt:
            self.air.arrows(
                FlowOf(self.world.fields), self.world.time, top=300, spacing=40, color=(255, 255, 255, 130)
            )
        self.draw_hud(surface)

    def draw_places(self, surface) -> None:
        """Basket, fire, lantern, magnets and flag: painted only."""
        at = self.camera.to_screen
        left, top, width, height = BASKET
        x, y = at((left, top))
        pygame.draw.rect(surface, (88, 66, 48), (x, y, width, height))
        full = height * min(1, self.collected / LEAVES_NEEDED)
        pygame.draw.rect(surface, (206, 120, 54), (x, y + height - full, width, full))
        for k in range(1, 6):
            slat = x + k * width / 6
            pygame.draw.line(surface, (120, 92, 64), (slat, y), (slat, y + height), 3)
        x, y = at(CAMPFIRE)
        for side in (-1, 1):
            pygame.draw.line(surface, (92, 62, 44), (x - 34 * side, y + 16), (x + 30 * side, y + 4), 9)
        self.draw_lantern(surface, *at(LANTERN))
        for place, pulls in MAGNETS:
            self.draw_magnet(surface, at(place), PULL if pulls > 0 else PUSH, pulls)
        self.draw_grumpy(surface, at(GRUMPY))
        x, y = at(FLAG)
        pygame.draw.line(surface, (240, 236, 226), (x, y + 270), (x, y - 60), 7)
        wave = [(x + 11 * k, y - 58 + 5 * math.sin(k * 0.8 + self.frame * 0.1)) for k in range(9)]
        color = (96, 190, 110) if self.delivered else (236, 190, 80)
        pygame.draw.polygon(surface, color, [*wave, *((a, b + 52) for a, b in reversed(wave))])
        pygame.draw.aacircle(surface, color, (x, y), FLAG_SIZE, 2)

    def draw_lantern(self, surface, x, y) -> None:
        share = min(1, self.lit / SPARKS_NEEDED)
        glow = pygame.Surface((240, 240), pygame.SRCALPHA)
        for radius in range(120, 20, -10):
            pygame.draw.circle(glow, (255, 190, 80, int(26 * share)), (120, 120), radius)
        surface.blit(glow, (x - 120, y - 120))
        color = [round(a + (b - a) * share) for a, b in zip((70, 66, 76), (255, 220, 130))]
        pygame.draw.rect(surface, color, (x - 24, y - 34, 48, 68), border_radius=10)
        pygame.draw.rect(surface, (54, 48, 54), (x - 28, y - 44, 56, 12), border_radius=4)
        pygame.draw.rect(surface, (54, 48, 54), (x - 28, y + 32, 56, 10), border_radius=4)
        pygame.draw.aacircle(surface, (255, 220, 150), (x, y), LANTERN_SIZE, 1)

    def draw_magnet(self, surface, at, color, pulls) -> None:
        """A horseshoe, and rings that run inward where it pulls and outward where it pushes."""
        x, y = at
        if not -300 < x < self.size[0] + 300:
            return
        for k in range(3):
            phase = (self.world.time * 0.5 * -pulls + k / 3) % 1
            faint = [round(c * (1 - phase * 0.6)) for c in color]
            pygame.draw.aacircle(surface, faint, at, 30 + 110 * phase, 1)
        pygame.draw.arc(surface, color, (x - 24, y - 24, 48, 48), 0, math.pi, 13)
        for side in (-24, 11):
            pygame.draw.rect(surface, color, (x + side, y - 2, 13, 18))
            pygame.draw.rect(surface, (240, 240, 240), (x + side, y + 14, 13, 10))

    def draw_grumpy(self, surface, at) -> None:
        for k in range(3):
            turn = -2.5 * self.world.time + k * math.tau / 3
            spokes = [pygame.Vector2(30 + 9 * j, 0).rotate_rad(turn + 0.22 * j) for j in range(12)]
            pygame.draw.aalines(surface, (210, 214, 232), False, [at + spoke for spoke in spokes])

    def draw_kite(self, surface) -> None:
        """Its cross, and bows on the tail."""
        at = self.camera.to_screen
        for a, b in (((0, -34), (0, 34)), ((-24, 0), (24, 0))):
            ends = at(self.kite.local_to_world(a)), at(self.kite.local_to_world(b))
            pygame.draw.aaline(surface, (255, 236, 220), *ends)
        for x, y in self.tail.positions[3::4]:
            x, y = at((x, y))
            bow = [(x - 9, y - 6), (x + 9, y + 6), (x + 9, y - 6), (x - 9, y + 6)]
            pygame.draw.polygon(surface, (96, 160, 220), bow)

    def draw_turf(self, surface) -> None:
        _, y = self.camera.to_screen((0, GROUND))
        pygame.draw.rect(surface, TURF, (0, y, self.size[0], 10))
        pygame.draw.rect(surface, EARTH, (0, y + 10, self.size[0], self.size[1] - y))

    def draw_hud(self, surface) -> None:
        text.panel(surface, (16, 14, 330, 112))
        for k, (share, name) in enumerate(self.goals):
            text.write(surface, name, (30, 24 + 32 * k), 24)
            color = text.GOOD if share >= 1 else (255, 200, 110)
            text.bar(surface, (120, 28 + 32 * k, 210, 14), share, color)
        left = max(0.0, TIME - self.world.time)
        text.write(surface, f"{left:.0f}", (self.size[0] - 30, 20), 40, anchor="topright")

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Carry leaves to the basket, sparks to the lantern and the kite to the flag, one after the other."""
        leaves = np.concatenate([pool.positions for pool in self.leaves])
        if self.goals[0][0] < 1:
            goal = self.carry(leaves, 25, [(BASKET[0] + 90, 360), (BASKET[0] + 90, 500)])
        elif self.goals[1][0] < 1:
            way = [(1560, 360), (LANTERN[0], LANTERN[1] - 20)]
            goal = self.carry(self.sparks.positions, 120, way, CAMPFIRE)
        else:
            goal = self.carry(np.array([self.kite.position]), 1, [(2180, 330), (2420, 330), FLAG])
        way = pygame.Vector2(goal) - self.place
        wish = way / 50 if way.length() < 50 else way.normalize()
        hold = ({"alt"} if 560 < frame < 640 else set()) | ({"action"} if self.leg else set())
        self.controls.script(x=wish.x, y=wish.y, hold=hold)

    def carry(self, things, load, way, home=None) -> tuple:
        """Where to go next: to the crowd (or `home`) until `load` of it is held, then along `way`."""
        held = int((np.hypot(*(things - self.place).T) < 150).sum())
        leg = self.leg
        if held < load * (0.12 if leg else 1):
            leg = 0
        elif leg == 0:
            leg = 1
        elif leg < len(way) and pygame.Vector2(way[leg - 1]).distance_to(self.place) < 40:
            leg += 1
        self.leg = leg
        if leg:
            return way[leg - 1]
        return tuple(np.median(things, axis=0) - (0, 40)) if home is None else home


class FlowOf:
    """The air's velocity of all fields together, for the arrows."""

    def __init__(self, fields) -> None:
        self.fields = fields

    def sample(self, points, time=0.0):
        return self.fields.sample(points, time=time, kind="flow")


def paint_leaf() -> pygame.Surface:
    """White, so that the pool's colour tints it."""
    leaf = pygame.Surface((40, 22), pygame.SRCALPHA)
    pygame.draw.ellipse(leaf, (255, 255, 255), (4, 2, 36, 18))
    pygame.draw.line(leaf, (190, 190, 190), (0, 11), (36, 11), 2)
    for x in (12, 20, 28):
        pygame.draw.line(leaf, (205, 205, 205), (x, 11), (x + 6, 5))
        pygame.draw.line(leaf, (205, 205, 205), (x, 11), (x + 6, 17))
    return leaf


def paint_backdrop(size) -> Backdrop:
    """A dry autumn afternoon."""
    return Backdrop(
        size,
        ((110, 150, 190), (246, 222, 176)),
        [
            Hills((186, 170, 160), (226, 206, 176), 0.50, 60, 0.06),
            Hills((170, 140, 112), (206, 176, 134), 0.64, 50, 0.16),
            Hills((146, 124, 80), (160, 140, 90), 0.78, 36, 0.32, pines=40),
        ],
        sun=((980, 170), 55, (255, 244, 214)),
    )
