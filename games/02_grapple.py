"""Grapple: swing to the flag on a rope that you shoot, reel in and let go.

The idea of this file: a `softkit.Rope` made in the middle of the game, tied to two bodies.

- Shooting asks pymunk what the line of sight meets; the rope goes from the hero to that point and holds
  whatever body is there, also a moving platform: see `shoot`.
- `Rope.rest_length` is a winch: see `reel`.
- The rope meets the level's shapes by itself, so it wraps around corners.
- `Rope.detach` lets go of the hero; the rope falls, and is removed a little later: see `let_go`.
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

ROCKS = [
    (-600, 560, 420, 1200),
    (-600, -400, -200, 560),  # the start
    (1500, 560, 1760, 1200),  # an island
    (2650, 590, 3260, 1200),  # under the belt
    (3260, 380, 3340, 1200),  # a wall behind the belt
    (3900, 420, 4500, 1200),
    (4500, -400, 4900, 1200),  # the goal
]
PEGS = [(640, 230), (960, 200), (1290, 240), (1640, 200), (3060, 180), (3480, 90), (3700, 60)]
PLATFORMS = [((1960, 330), (2470, 330), 5.0)]  # (from, to, seconds there and back)
BELT = (2650, 570, 3260, 590)  # a conveyor that carries to the left
BELT_SPEED = 150
SPIKES = [(420, 1500, 780), (1760, 2650, 780), (3340, 3900, 780)]  # (left, right, y of the points)
GEMS = [(800, 330), (1125, 330), (1465, 360), (2200, 460), (2960, 480), (3480, 330), (3590, 250)]
VINES = [
    (414, 572, 130),
    (1506, 572, 150),
    (1754, 572, 110),
    (2656, 600, 140),
    (3334, 392, 170),
    (3906, 432, 160),
]
FLAG = (4180, 420)
START = Vec2d(160, 530)

REACH = 420  # longest shot
SHORTEST = 50  # the winch stops here
REEL = 160  # wu a second
AIR = 0.001  # drag: force a mass and a squared speed, so that no swing gets out of hand
HERO_MASS, HERO_RADIUS = 2.0, 18
RUN_SPEED, SWING_FORCE, JUMP_SPEED = 260, 500, 430

HERO, SOLID, ROPES, DEADLY = 1, 2, 4, 8
HERO_FILTER = pymunk.ShapeFilter(categories=HERO)
SOLID_FILTER = pymunk.ShapeFilter(categories=SOLID)
ROPE_FILTER = pymunk.ShapeFilter(categories=ROPES, mask=SOLID)
VINE_FILTER = pymunk.ShapeFilter(categories=ROPES, mask=HERO)
AIM_FILTER = pymunk.ShapeFilter(mask=SOLID)

TOP, LEAF = (118, 132, 172), (104, 168, 122)
ROCK, PEG, LIFT, BELT_GREY = (66, 74, 104), (226, 164, 88), (120, 176, 196), (92, 96, 112)
SPIKE, GEM, SUIT, ROPE = (214, 92, 96), (120, 226, 214), (244, 196, 92), (236, 220, 180)


class Game(BaseGame):
    title = "Grapple"
    idea = "A rope shot at what you see, and a winch"
    goal = "Swing to the flag and touch no spikes"
    keys = (("A  D", "run, swing"), ("W  S", "jump, reel"), ("Mouse or Space, hold", "rope"))
    poster_frame = 150
    demo_frames = 3600

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(440, 380))
        self.view = View(pygame.display.get_surface(), self.camera)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        ground = self.space.static_body
        for left, top, right, bottom in ROCKS:
            rock = self.add_shape(pymunk.Poly(ground, box(left, top, right, bottom)), ROCK)
            self.view.style(rock, outline_width=0)
        for at in PEGS:
            self.add_shape(pymunk.Circle(ground, 16, at), PEG)
        self.build_platforms()
        self.build_belt()
        self.build_hero()
        self.build_vines()
        self.rope: softkit.Rope | None = None
        self.fallen: list = []  # (time of letting go, rope)
        self.gems = [Vec2d(*at) for at in GEMS]
        self.aim: tuple | None = None  # (shape, point) that a shot would hold now

    def add_shape(self, shape, color, friction: float = 0.9, filter=SOLID_FILTER):
        """Put a shape into the space. Friction is 0 in pymunk unless set, and that is ice."""
        shape.friction, shape.filter = friction, filter
        self.space.add(shape)
        self.view.style(shape, color=color)
        return shape

    def build_platforms(self) -> None:
        """Kinematic bodies: nothing pushes them, what touches them is carried along."""
        self.platforms = []
        for start, end, period in PLATFORMS:
            body = pymunk.Body(body_type=pymunk.Body.KINEMATIC)
            body.position = start
            self.space.add(body)
            self.add_shape(pymunk.Poly.create_box(body, (170, 26), 4), LIFT)
            self.platforms.append((body, Vec2d(*start), Vec2d(*end), period))

    def build_belt(self) -> None:
        """A conveyor: a static shape whose surface moves."""
        belt = self.add_shape(pymunk.Poly(self.space.static_body, box(*BELT)), BELT_GREY, 1.2)
        belt.surface_velocity = -BELT_SPEED, 0

    def build_hero(self) -> None:
        """A ball that does not turn; it runs by moving its surface, so belts and platforms count."""
        self.hero = pymunk.Body(HERO_MASS, math.inf)
        self.hero.position = START
        self.space.add(self.hero)
        self.feet = self.add_shape(pymunk.Circle(self.hero, HERO_RADIUS), SUIT, 1.0, HERO_FILTER)

    def build_vines(self) -> None:
        """Ropes that only hang there; the hero brushes them aside."""
        for x, y, length in VINES:
            vine = self.world.add(
                softkit.Rope(
                    (x, y), (x, y + length), segments=10, mass=0.3, radius=4, damping=0.6, filter=VINE_FILTER
                )
            )
            vine.pin(0)
            self.view.style(vine, color=LEAF)

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.move_platforms(dt)
        self.find_aim()
        self.use_rope(dt)
        self.move_hero()
        self.world.update(dt)
        self.sweep_ropes()
        self.follow(dt)
        self.judge()

    def move_platforms(self, dt: float) -> None:
        """There and back by a sine; velocity, not position, so that contacts and ropes feel the motion."""
        for body, start, end, period in self.platforms:
            share = 0.5 - 0.5 * math.cos(math.tau * (self.world.time + dt) / period)
            body.velocity = (start + (end - start) * share - body.position) / dt if dt else (0, 0)

    def find_aim(self) -> None:
        """What a shot would meet: toward the mouse, or without one the best peg ahead."""
        eye, pad = self.hero.position, self.controls
        if pad.by_pointer:
            toward = Vec2d(*self.camera.to_world(pad.pointer)) - eye
            peg = self.peg_near(eye + toward)
            end = eye + toward.normalized() * REACH if peg is None else peg
        else:
            end = self.peg_ahead(eye, 1 if pad.x >= 0 else -1)
        self.aim = None
        if end is not None:
            hit = self.space.segment_query_first(eye, end, 1, AIM_FILTER)
            if hit is not None and eye.get_distance(hit.point) <= REACH:
                self.aim = hit.shape, hit.point

    def holds(self) -> list:
        """Points made to be held: the pegs and the middles of the platforms."""
        return [Vec2d(*peg) for peg in PEGS] + [body.position for body, *_ in self.platforms]

    def peg_near(self, point):
        """The hold that the mouse means, if it is close to one."""
        near = min(self.holds(), key=point.get_distance)
        return near if near.get_distance(point) < 60 else None

    def peg_ahead(self, eye, side):
        """The hold that keys and pads shoot at: above, in reach, as far ahead as can be."""
        fit = [
            p
            for p in self.holds()
            if p.y < eye.y - 40 and eye.get_distance(p) < REACH + 10 and (p.x - eye.x) * side > -60
        ]
        return max(fit, key=lambda p: (p.x - eye.x) * side, default=None)

    def use_rope(self, dt: float) -> None:
        """Hold the button to hold the rope."""
        pad = self.controls
        wish = pad.action or pad.pointer_held
        if wish and self.rope is None and pad.pressed & {"action", "pointer"} and self.aim:
            self.shoot(*self.aim)
        elif not wish and self.rope is not None:
            self.let_go()
        elif self.rope is not None:
            self.reel(pad.y * REEL * dt)

    def shoot(self, shape, point) -> None:
        """A rope from the hero to the point, tied to both bodies."""
        length = self.hero.position.get_distance(point)
        self.rope = softkit.Rope(
            self.hero.position,
            point,
            segments=max(4, round(length / 14)),
            mass=0.4,
            radius=3,
            friction=0.6,
            filter=ROPE_FILTER,
        )
        self.world.add(self.rope)
        self.rope.attach(0, self.hero, (0, 0))
        self.rope.attach(-1, shape.body)  # the node stays where it is on that body
        self.view.style(self.rope, color=ROPE)

    def reel(self, change: float) -> None:
        """Take rope in (negative) or pay it out."""
        if change:
            self.rope.rest_length = min(max(self.rope.rest_length + change, SHORTEST), REACH)

    def let_go(self) -> None:
        """Untie the hero; the rope hangs from the other end for a while."""
        self.rope.detach(0)
        self.fallen.append((self.world.time, self.rope))
        self.rope = None

    def sweep_ropes(self) -> None:
        """Remove ropes that were let go more than a second ago."""
        while self.fallen and self.fallen[0][0] < self.world.time - 1:
            self.world.remove(self.fallen.pop(0)[1])

    def standing(self) -> bool:
        """Whether the hero has ground under the feet."""
        feet = self.hero.position + (0, HERO_RADIUS + 5)
        return bool(self.space.point_query(feet, 3, AIM_FILTER))

    def move_hero(self) -> None:
        """Run and jump on the ground; in the air only lean."""
        pad, hero = self.controls, self.hero
        self.feet.surface_velocity = -pad.x * RUN_SPEED, 0
        hero.force = hero.force - hero.velocity * (AIR * HERO_MASS * hero.velocity.length)
        if not self.standing():
            hero.force = hero.force + (pad.x * SWING_FORCE, 0)
        elif pad.y < -0.5 and self.rope is None and hero.velocity.y > -60:
            hero.velocity = hero.velocity.x, -JUMP_SPEED

    def follow(self, dt: float) -> None:
        """The camera looks ahead of the hero."""
        x, y = self.camera.center
        goal_x = min(max(self.hero.position.x + 140 + 0.25 * self.hero.velocity.x, 440), 4240)
        goal_y = min(max(self.hero.position.y - 40, 300), 460)
        ease = 1 - math.exp(-4 * dt)
        self.camera.center = (x + (goal_x - x) * ease, y + (goal_y - y) * ease)

    def judge(self) -> None:
        """Gems, spikes and the flag."""
        at = self.hero.position
        self.gems = [gem for gem in self.gems if gem.get_distance(at) > HERO_RADIUS + 24]
        if any(left < at.x < right and at.y > top - HERO_RADIUS + 6 for left, right, top in SPIKES):
            self.lose("The spikes have you")
        elif at.y > 1000:
            self.lose("You fell")
        elif abs(at.x - FLAG[0]) < 40 and at.y > FLAG[1] - 200:
            found = len(GEMS) - len(self.gems)
            self.win(f"{found} of {len(GEMS)} gems in {self.world.time:.1f} seconds")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        self.draw_spikes(surface)
        self.draw_flag(surface)
        self.view.draw(self.world)
        self.draw_tops(surface)
        self.draw_belt(surface)
        self.draw_gems(surface)
        self.draw_hero(surface)
        self.draw_hud(surface)

    def draw_spikes(self, surface) -> None:
        """Rows of teeth over dark water."""
        for left, right, y in SPIKES:
            (x0, top), (x1, _) = self.camera.to_screen((left, y)), self.camera.to_screen((right, y))
            pygame.draw.rect(surface, (34, 28, 52), (x0, top + 36, x1 - x0, 600))
            count = round((right - left) / 30)
            for k in range(count):
                x = x0 + (x1 - x0) * k / count
                pygame.draw.polygon(surface, SPIKE, [(x, top + 40), (x + 15, top), (x + 30, top + 40)])

    def draw_flag(self, surface) -> None:
        """The goal."""
        x, y = self.camera.to_screen(FLAG)
        pygame.draw.line(surface, (240, 236, 226), (x, y), (x, y - 170), 7)
        wave = [(x + 11 * k, y - 168 + 5 * math.sin(k * 0.8 - self.frame * 0.12)) for k in range(9)]
        pygame.draw.polygon(surface, (120, 214, 120), [*wave, *((a, b + 56) for a, b in reversed(wave))])

    def draw_tops(self, surface) -> None:
        """Light on the rocks' upper edges."""
        for left, top, right, _ in ROCKS:
            (x0, y), (x1, _) = self.camera.to_screen((left, top)), self.camera.to_screen((right, top))
            pygame.draw.rect(surface, TOP, (x0, y, x1 - x0, 7), border_radius=3)

    def draw_belt(self, surface) -> None:
        """Stripes that run with the belt's surface."""
        left, top, right, bottom = BELT
        shift = self.world.time * BELT_SPEED % 40
        for k in range(int((right - left) / 40) + 1):
            x = left + 40 * k + 40 - shift
            if left + 8 < x < right - 8:
                a, b = self.camera.to_screen((x, top + 4)), self.camera.to_screen((x - 8, bottom - 4))
                pygame.draw.line(surface, (236, 200, 92), a, b, 5)

    def draw_gems(self, surface) -> None:
        """Turning lozenges."""
        for gem in self.gems:
            x, y = self.camera.to_screen(gem)
            half = 5 + 7 * abs(math.cos(self.frame * 0.05 + gem.x))
            points = [(x, y - 16), (x + half, y), (x, y + 16), (x - half, y)]
            pygame.draw.polygon(surface, GEM, points)
            pygame.draw.polygon(surface, (232, 255, 250), points, 2)

    def draw_hero(self, surface) -> None:
        """Eyes that look where the shot would go, and a ring there."""
        x, y = self.camera.to_screen(self.hero.position)
        look = Vec2d(1 if self.controls.x >= 0 else -1, 0)
        if self.aim:
            look = (self.aim[1] - self.hero.position).normalized()
            if self.rope is None:
                pygame.draw.circle(surface, (255, 255, 255), self.camera.to_screen(self.aim[1]), 12, 3)
        for side in (-6, 6):
            pygame.draw.circle(surface, (255, 255, 255), (x + side + look.x * 4, y - 3 + look.y * 4), 5)
            pygame.draw.circle(surface, (30, 26, 40), (x + side + look.x * 6, y - 3 + look.y * 6), 2.5)

    def draw_hud(self, surface) -> None:
        """Gems, time, way."""
        text.panel(surface, (16, 14, 250, 64))
        found = len(GEMS) - len(self.gems)
        text.write(surface, f"gems {found}/{len(GEMS)}", (32, 26), 28, GEM)
        text.write(surface, f"{self.world.time:.1f} s", (250, 26), 28, anchor="topright")
        text.bar(surface, (28, 58, 226, 12), self.hero.position.x / FLAG[0], (120, 214, 120))

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Swing from peg to peg to the island, ride under the platform, cross the belt, swing to the flag."""
        x = self.hero.position.x
        vx, vy = self.hero.velocity
        if self.rope is not None:
            run, climb, hold = self.demo_swing(x, vx, vy)
        elif self.standing():
            run, climb, hold = self.demo_run(x)
        else:
            lands = self.demo_landing(545)
            goals = ((1400, 1640), (2450, 2780))
            flies_to = next((goal for low, goal in goals if low < x < goal + 120), None)
            ahead = self.aim is not None and self.aim[1].x > x + 40 and vy > -40
            lift = ahead and self.aim[0].body is self.platforms[0][0] and x < 1760
            run, climb, hold = 1.0, 0.0, ahead and (lift or flies_to is None or lands < flies_to - 120)
            jumped = 1640 < x < 1720 and abs(vx) < 100  # from the island, to the platform
            if flies_to is not None and lands > flies_to and not (hold or jumped):
                run = -1.0  # lean back
        self.controls.script(x=run, y=climb, hold={"action"} if hold else ())

    def demo_swing(self, x, vx, vy) -> tuple:
        """On the rope: swing higher, reel in, and let go while rising to the right."""
        lift, end, length = self.platforms[0][0], self.rope.positions[-1], self.rope.rest_length
        rides = any(body is lift for body, _ in self.rope.attachments.values())
        wall, last = 2900 < end[0] < 3200, end[0] > 3600
        ready = vy < -60 and vx > 120 and x - end[0] > 0.45 * length
        if rides or last:
            ground, edge = (552, 2700) if rides else (402, 3960)
            ready = vx > 100 and vy < 0 and self.demo_landing(ground) > edge
        pump = vx - (lift.velocity.x if rides else 0)
        climb = -1.0 if length > (130 if rides else 150 if wall else 220) else 0.0
        return 1.0 if pump >= 0 else -1.0, climb, not ready

    def demo_landing(self, ground) -> float:
        """Where a fall from here would end, left to itself."""
        (x, y), (vx, vy) = self.hero.position, self.hero.velocity
        return x + vx * (math.sqrt(max(0.0, vy * vy + 1800 * (ground - y))) - vy) / 900

    def demo_run(self, x) -> tuple:
        """On the ground: to the edge, and jump; on the island wait there for the platform."""
        lift = self.platforms[0][0]
        if 1400 < x < 1800:
            there = abs(x - 1680) < 20
            go = there and lift.position.x < 2010 and lift.velocity.x < 0
            return max(-1.0, min(1.0, (1680 - x) / 40)), -1.0 if go else 0.0, False
        return 1.0, -1.0 if 330 < x < 420 or 2880 < x < 3000 else 0.0, False


def box(left, top, right, bottom) -> list[tuple]:
    """The corners of a block."""
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def paint_backdrop(size) -> Backdrop:
    """Night falling over the peaks."""
    return Backdrop(
        size,
        ((38, 40, 84), (232, 150, 140)),
        [
            Hills((92, 84, 140), (168, 122, 150), 0.50, 90, 0.08),
            Hills((70, 66, 118), (112, 92, 132), 0.68, 60, 0.18),
            Hills((48, 50, 92), (60, 58, 98), 0.84, 40, 0.32, pines=50),
        ],
        sun=((300, 210), 46, (255, 232, 204)),
        seed=11,
    )
