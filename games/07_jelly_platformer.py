"""Jelly platformer: a soft hero that squashes, jumps and sticks on its way to the flag.

The idea of this file: a `softkit.SoftBody` as the one you play.

- `SoftBody.apply_impulse` runs and jumps; `world.contacts` says what is under the feet: see `move_hero`.
- `SoftBody.pressure` is the area it keeps: let air out, and it fits under a low ceiling: see `squeeze`.
- `SoftBody.attach` ties the particles that touch something to that body, moving ones too, and `detach`
  lets go: that is all there is to sticking, see `stick`.
- The bridge is a second soft body, a pinned lattice; soft bodies touch each other without a call.
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
from softkit.render import Camera, View

# The level -----------------------------------------------------------------------------------
# World units are pixels, y points down. Blocks are (left, top, right, bottom).

BLOCKS = [
    (-700, 560, 620, 1200),
    (-700, -200, -120, 560),  # the start
    (900, 560, 1980, 1200),  # behind the bridge
    (1180, 100, 1500, 528),  # a ceiling as low as a squeezed hero
    (1640, 500, 1760, 560),
    (2760, 560, 3700, 1200),  # behind the spikes
    (3420, -200, 3700, 560),
]
BRIDGE = (620, 900, 562)  # left, right, y of the top
BRIDGE_PIECES, BRIDGE_ROWS = 20, 3
FERRY = ((1950, 385), (2790, 385), 7.0)  # from, to, seconds there and back
SPIKES = (1980, 2760, 670)
DROPS = [(420, 430), (760, 450), (1340, 546), (1700, 420), (2370, 430), (2960, 520)]
FLAG = (3200, 560)
START = Vec2d(160, 500)

RADIUS, SKIN = 24, 5
RUN, JUMP = 260, 500
GROUND_PULL, AIR_PULL = 1500, 700  # how fast the speed follows the keys, wu / s^2
SMALL, FULL = 0.42, 1.0  # pressure
STICKY = 8  # particles that may hold at once

EARTH, GRASS, LIFT = (92, 70, 84), (126, 190, 112), (110, 150, 190)
HERO, BRIDGE_PINK, DROP, SPIKE = (116, 206, 132), (236, 132, 160), (250, 214, 110), (206, 84, 96)


class Game(BaseGame):
    title = "Jelly platformer"
    idea = "A soft hero: pressure, contacts, sticking"
    goal = "Reach the flag, whatever shape it takes"
    keys = (("A  D", "roll"), ("W", "jump"), ("S", "squeeze"), ("Space, hold", "stick"))
    poster_frame = 132
    demo_frames = 3000

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(440, 400))
        self.view = View(pygame.display.get_surface(), self.camera)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        for left, top, right, bottom in BLOCKS:
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            self.add_shape(pymunk.Poly(self.space.static_body, corners), EARTH)
        self.ferry = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
        self.ferry.position = FERRY[0]
        self.space.add(self.ferry)
        self.add_shape(pymunk.Poly.create_box(self.ferry, (150, 28), 4), LIFT)
        self.build_bridge()
        self.build_hero()
        self.drops = [Vec2d(*at) for at in DROPS]
        self.look = Vec2d(1, 0)
        self.since_jump = 0.0

    def add_shape(self, shape, color) -> None:
        """Put a shape into the space. Friction is 0 in pymunk unless set, and that is ice."""
        shape.friction = 0.9
        self.space.add(shape)
        self.view.style(shape, color=color, outline_width=0)

    def build_bridge(self) -> None:
        """A slab of jelly, pinned at both ends. Its links give a little: compliance is stretch per force."""
        left, right, top = BRIDGE
        spacing = (right - left) / BRIDGE_PIECES
        self.bridge = softkit.SoftBody.lattice(
            BRIDGE_PIECES + 1,
            BRIDGE_ROWS,
            spacing=spacing,
            origin=(left, top + SKIN),
            mass=3,
            radius=SKIN,
            stretch_compliance=2e-4,
            internal_damping=4,
        )
        self.world.add(self.bridge)
        for row in range(BRIDGE_ROWS):
            self.bridge.pin(self.bridge.index(0, row))
            self.bridge.pin(self.bridge.index(-1, row))
        self.view.style(self.bridge, color=BRIDGE_PINK)

    def build_hero(self) -> None:
        """A circle that keeps its area and wants to be round again."""
        self.hero = softkit.SoftBody.circle(
            START, RADIUS, segments=24, mass=1, skin=SKIN, stiffness=0.2, friction=0.9, internal_damping=3
        )
        self.world.add(self.hero)
        self.view.style(self.hero, color=HERO, shine=0.6)

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.move_ferry(dt)
        self.look_around()
        self.stick()
        self.squeeze()
        self.move_hero(dt)
        self.world.update(dt)
        self.follow(dt)
        self.judge()

    def move_ferry(self, dt: float) -> None:
        """There and back by a sine; velocity, not position, so that what sticks to it feels the motion."""
        start, end, period = Vec2d(*FERRY[0]), Vec2d(*FERRY[1]), FERRY[2]
        share = 0.5 - 0.5 * math.cos(math.tau * (self.world.time + dt) / period)
        self.ferry.velocity = (start + (end - start) * share - self.ferry.position) / dt if dt else (0, 0)

    def look_around(self) -> None:
        """What the hero touches: shapes and other soft bodies. Normals point at the hero."""
        self.touching = [contact for contact in self.world.contacts if contact.object is self.hero]
        self.feet = any(contact.normal[1] < -0.5 for contact in self.touching)
        for contact in self.world.soft_contacts:
            if self.hero in (contact.object, contact.other):
                self.feet = self.feet or contact.point[1] > self.hero.center[1]

    def stick(self) -> None:
        """While the button is held, particles that touch something are tied to it."""
        if not self.controls.action:
            for particle in self.hero.attachments:
                self.hero.detach(particle)
            return
        for contact in self.touching:
            if len(self.hero.attachments) < STICKY and contact.particle not in self.hero.attachments:
                self.hero.attach(contact.particle, contact.shape.body)

    def squeeze(self) -> None:
        """Down lets the air out; the body shrinks and grows at its own pace."""
        goal = SMALL if self.controls.y > 0.5 else FULL
        if self.hero.pressure != goal:
            self.hero.pressure = goal

    def move_hero(self, dt: float) -> None:
        """Change the whole body's speed toward what the keys ask for; jump from whatever is below."""
        pad, hero = self.controls, self.hero
        self.since_jump += dt
        if hero.attachments:
            return
        if pad.x:
            self.look = Vec2d(pad.x, 0)
        most = (GROUND_PULL if self.feet else AIR_PULL) * dt
        change = min(max(pad.x * RUN - hero.velocity[0], -most), most)
        if pad.x or self.feet:
            hero.apply_impulse((hero.mass * change, 0))
        if pad.y < -0.5 and self.feet and self.since_jump > 0.3:
            hero.apply_impulse((0, -hero.mass * (JUMP + min(hero.velocity[1], 200))))
            self.since_jump = 0.0

    def follow(self, dt: float) -> None:
        """The camera looks ahead of the hero."""
        x, y = self.camera.center
        at = self.hero.center
        goal_x = min(max(at[0] + 120, 440), 2980)
        ease = 1 - math.exp(-4 * dt)
        self.camera.center = (x + (goal_x - x) * ease, y + (min(at[1], 460) - 60 - y) * ease)

    def judge(self) -> None:
        """Drops, spikes and the flag."""
        at = Vec2d(*self.hero.center)
        self.drops = [drop for drop in self.drops if drop.get_distance(at) > RADIUS + 20]
        if at.y > SPIKES[2] - 30:
            self.lose("Jelly and spikes do not go together")
        elif abs(at.x - FLAG[0]) < 30 and at.y > FLAG[1] - 200:
            found = len(DROPS) - len(self.drops)
            self.win(f"{found} of {len(DROPS)} drops in {self.world.time:.1f} seconds")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        self.draw_spikes(surface)
        self.draw_flag(surface)
        self.view.draw(self.world)
        self.draw_grass(surface)
        self.draw_drops(surface)
        self.draw_face(surface)
        self.draw_hud(surface)

    def draw_spikes(self, surface) -> None:
        """Teeth at the bottom of the pits."""
        for left, right in ((SPIKES[0], SPIKES[1]), (BRIDGE[0], BRIDGE[1])):
            (x0, top), (x1, _) = self.camera.to_screen((left, SPIKES[2])), self.camera.to_screen((right, 0))
            count = round((right - left) / 28)
            for k in range(count):
                x = x0 + (x1 - x0) * k / count
                pygame.draw.polygon(surface, SPIKE, [(x, top + 60), (x + 14, top), (x + 28, top + 60)])
            pygame.draw.rect(surface, (58, 40, 58), (x0, top + 58, x1 - x0, 500))

    def draw_flag(self, surface) -> None:
        """The goal."""
        x, y = self.camera.to_screen(FLAG)
        pygame.draw.line(surface, (250, 246, 236), (x, y), (x, y - 170), 7)
        wave = [(x + 11 * k, y - 168 + 5 * math.sin(k * 0.8 - self.frame * 0.12)) for k in range(9)]
        pygame.draw.polygon(surface, (240, 110, 120), [*wave, *((a, b + 56) for a, b in reversed(wave))])

    def draw_grass(self, surface) -> None:
        """Green on the blocks that one can stand on."""
        for left, top, right, _ in BLOCKS:
            (x0, y), (x1, _) = self.camera.to_screen((left, top)), self.camera.to_screen((right, top))
            if top > 300:
                pygame.draw.rect(surface, GRASS, (x0, y, x1 - x0, 10), border_radius=4)

    def draw_drops(self, surface) -> None:
        """Drops of syrup that bob."""
        for drop in self.drops:
            x, y = self.camera.to_screen(drop)
            y += 4 * math.sin(self.frame * 0.08 + drop.x)
            pygame.draw.polygon(surface, DROP, [(x - 8, y), (x, y - 18), (x + 8, y)])
            pygame.draw.aacircle(surface, DROP, (x, y + 1), 9)
            pygame.draw.aacircle(surface, (255, 246, 220), (x - 3, y), 3)

    def draw_face(self, surface) -> None:
        """Eyes that keep upright in whatever shape is around them, and a mouth for its mood."""
        points = self.hero.positions
        low, high = points.min(axis=0), points.max(axis=0)
        x, y = self.camera.to_screen(self.hero.center)
        flat = (high[1] - low[1]) / (2 * RADIUS)
        x += 5 * self.look.x
        for side in (-9, 9):
            pygame.draw.aacircle(surface, (255, 255, 255), (x + side, y - 6 * flat), 6.5)
            pygame.draw.aacircle(surface, (30, 34, 40), (x + side + 2.5 * self.look.x, y - 6 * flat), 3)
        wide = 7 if self.hero.attachments else 5
        pygame.draw.ellipse(surface, (34, 92, 60), (x - wide, y + 7 * flat, 2 * wide, 4 if self.feet else 7))

    def draw_hud(self, surface) -> None:
        """Drops, time, way."""
        text.panel(surface, (16, 14, 250, 64))
        found = len(DROPS) - len(self.drops)
        text.write(surface, f"drops {found}/{len(DROPS)}", (32, 26), 28, DROP)
        text.write(surface, f"{self.world.time:.1f} s", (250, 26), 28, anchor="topright")
        text.bar(surface, (28, 58, 226, 12), self.hero.center[0] / FLAG[0], HERO)

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Over the bridge, under the ceiling, up to the ferry, hang on, drop behind the spikes."""
        x, y = self.hero.center
        run, climb, hold = 1.0, 0.0, False
        if frame == 0:
            self.rides = False
        if 360 < x < 420 or 1560 < x < 1620 or 2900 < x < 2930:
            climb = -1.0
        if 1080 < x < 1530:
            climb = 1.0
        if 1780 < x and not self.rides and x < 2100:
            here = 1925
            run = min(max((here - x) / 40, -1.0), 1.0)
            there = abs(x - here) < 14 and self.ferry.position.x < 1965 and self.ferry.velocity.x < 10
            climb = -1.0 if there else 0.0
            hold = y < 520
            self.rides = bool(self.hero.attachments)
        elif self.rides:
            hold = x < 2660
            self.rides = hold
        self.controls.script(x=run, y=climb, hold={"action"} if hold else ())


def paint_backdrop(size) -> Backdrop:
    """A morning of candy colours."""
    return Backdrop(
        size,
        ((150, 206, 236), (252, 232, 214)),
        [
            Hills((170, 190, 214), (214, 214, 222), 0.5, 80, 0.08),
            Hills((142, 178, 170), (188, 206, 186), 0.68, 50, 0.18),
            Hills((110, 156, 130), (138, 176, 140), 0.84, 36, 0.32, pines=36),
        ],
        sun=((980, 150), 44, (255, 244, 210)),
        seed=5,
    )
