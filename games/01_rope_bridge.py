"""Rope bridge: carry the cargo across bridges that hang in ropes, and cut what stands in the way.

The idea of this file: a `softkit.Rope` carries pymunk bodies, and bodies pull on ropes.

- A bridge is a deck of planks, and every plank hangs in ropes: see `build_bridge` and `hang`.
- A rope with `max_tension` snaps when it is overloaded: the old bridge bears a slow cart only.
- `Rope.cut` parts a rope where the mouse strokes over it: see `cut_ropes`.
"""

from __future__ import annotations

import math
import random

import pygame
import pymunk
from pymunk import Vec2d

import softkit
from games.shell import text
from games.shell.backdrop import Backdrop, Hills
from games.shell.game import Game as BaseGame
from softkit.render import Camera, View

# The level -----------------------------------------------------------------------------------
# World units are pixels, y points down. Land is a list of tops: (left x, left y, right x, right y).

LAND = [
    (-700, 200, -60, 460),
    (-60, 500, 860, 500),
    (1340, 500, 1700, 500),
    (1700, 500, 1890, 458),
    (1890, 458, 1940, 500),
    (1940, 500, 1960, 500),
    (2480, 500, 3000, 500),
    (3180, 500, 3900, 500),
    (4420, 500, 4560, 500),
    (4560, 500, 5000, 420),
    (5000, 420, 5500, 420),
    (5500, 300, 6200, 300),
]
PIT = (2990, 640, 3190, 640)  # the floor of the pit that the stone has to fill
TOWER = 150  # how high a bridge's cable starts above the banks
SAG = 84  # how far the cable's middle hangs below its ends
DEEP = 1300  # how far down land goes
BRIDGES = {  # name: (left bank, right bank, y, planks, what a rope bears)
    "first": (860, 1340, 500, 11, None),
    "old": (1960, 2480, 500, 12, 18_000),
    "last": (3900, 4420, 500, 12, None),
}
STONE, GALLOWS = (3090, 330), (3090, 130)  # the hanging stone and what it hangs from
CHASE_FROM, BOULDER = 3420, (2860, 260)  # the cart's x that wakes the boulder, and where it waits
DEPOT = 5150  # bring the cargo beyond this x and stop there
UNLOADING = 1.5  # seconds
NEAREST = 4  # ropes that E cuts at once
WATER = 700  # the river's level
CARGO, NEEDED = 5, 3

# Who collides with whom: ropes hang free, planks carry what drives and rolls.
ROPES, PLANKS, LAND_KIND, SOLID = 1, 2, 4, 8
ROPE_FILTER = pymunk.ShapeFilter(categories=ROPES, mask=0)
PLANK_FILTER = pymunk.ShapeFilter(categories=PLANKS, mask=SOLID)
LAND_FILTER = pymunk.ShapeFilter(categories=LAND_KIND)
SOLID_FILTER = pymunk.ShapeFilter(categories=SOLID)

EARTH, TURF, WOOD, ROPE = (92, 70, 58), (122, 158, 74), (150, 104, 66), (224, 196, 142)
STONE_GREY, CART, WHEEL, CRATE = (138, 138, 146), (196, 66, 58), (54, 50, 56), (214, 160, 84)


class Game(BaseGame):
    title = "Rope bridge"
    idea = "Ropes carry pymunk bodies, snap and are cut"
    goal = f"Bring at least {NEEDED} of {CARGO} crates to the depot and stop there"
    keys = (("Left  Right", "drive"), ("Mouse stroke", "cut ropes"), ("E", "cut the nearest"))
    poster_frame = 1446
    demo_frames = 3600

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(500, 360))
        self.view = View(pygame.display.get_surface(), self.camera)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        self.build_land()
        self.bridges = {name: self.build_bridge(*place) for name, place in BRIDGES.items()}
        self.build_stone()
        self.build_cart(Vec2d(300, 440))
        self.boulder = None
        self.stroke: list = []  # the fresh end of the mouse's cut, for drawing
        self.flipped = 0.0  # seconds that the cart lies on its back
        self.parked = 0.0  # seconds that it has stood at the depot
        self.load = 0.0  # the old bridge's tension as a share of what it bears
        self.random = random.Random(1)

    def build_land(self) -> None:
        """Static ground. A pymunk shape has friction 0 unless told otherwise, and that is ice."""
        for left, top_left, right, top_right in [*LAND, PIT]:
            land = pymunk.Poly(
                self.space.static_body, [(left, top_left), (right, top_right), (right, DEEP), (left, DEEP)]
            )
            self.add_shape(land, EARTH, filter=LAND_FILTER)
            self.view.style(land, outline_width=0)

    def add_shape(self, shape, color, friction: float = 1.0, filter=SOLID_FILTER):
        """Put a shape (and its body, if it is a new one) into the space and give it a colour."""
        shape.friction, shape.filter = friction, filter
        if shape.body is not self.space.static_body and shape.body not in self.space.bodies:
            self.space.add(shape.body)
        self.space.add(shape)
        self.view.style(shape, color=color)
        return shape

    def build_bridge(self, left, right, y, planks, bears) -> list[softkit.Rope]:
        """Planks in a row, hinged to each other, not to the banks: only the ropes carry them."""
        wide = (right - left) / planks
        cable = softkit.Rope.through(
            sagging(left, right, y - TOWER, planks), segments=planks, radius=4, filter=ROPE_FILTER
        )
        self.world.add(cable)
        for i in range(cable.count):
            cable.pin(i)
        deck = []
        for k in range(planks):
            wood = pymunk.Body(3, pymunk.moment_for_box(3, (wide, 12)))
            wood.position = left + (k + 0.5) * wide, y + 6
            self.add_shape(pymunk.Poly.create_box(wood, (wide * 0.97, 12), 1), WOOD, filter=PLANK_FILTER)
            if deck:
                hinge = pymunk.PivotJoint(deck[-1], wood, (wide / 2, 0), (-wide / 2, 0))
                hinge.collide_bodies = False
                self.space.add(hinge)
            deck.append(wood)
        tops = cable.positions
        ropes = [self.hang(tops[k], wood, (-wide / 2, -6), bears) for k, wood in enumerate(deck)]
        return [*ropes, self.hang(tops[-1], deck[-1], (wide / 2, -6), bears)]

    def hang(self, top, wood, local, bears) -> softkit.Rope:
        """One rope from a point of the cable to a point of a plank, in the plank's own coordinates."""
        rope = softkit.Rope(
            top, wood.local_to_world(local), segments=5, mass=0.5, radius=2.5, filter=ROPE_FILTER
        )
        self.world.add(rope)
        rope.pin(0)
        rope.attach(-1, wood, local)
        rope.max_tension = bears  # None: never snaps
        self.view.style(rope, color=ROPE, by_tension=bool(bears))
        return rope

    def build_stone(self) -> None:
        """A block that hangs over the pit: cut its rope and it becomes the road."""
        body = pymunk.Body(40, pymunk.moment_for_box(40, (150, 140)))
        body.position = STONE
        self.stone = self.add_shape(pymunk.Poly.create_box(body, (150, 140), 2), STONE_GREY)
        self.sling = softkit.Rope(
            GALLOWS, (STONE[0], STONE[1] - 70), segments=14, mass=1, radius=4, filter=ROPE_FILTER
        )
        self.sling.attach(0, self.space.static_body)
        self.sling.attach(-1, body, (0, -70))
        self.view.style(self.sling, color=ROPE)
        self.world.add(self.sling)

    def build_cart(self, at) -> None:
        """A box on two sprung, driven wheels, with crates in it."""
        self.cart = pymunk.Body(6, pymunk.moment_for_box(6, (140, 40)))
        self.cart.position = at
        for corners in (
            [(-66, -8), (66, -8), (56, 12), (-56, 12)],
            [(-84, -58), (-76, -58), (-56, -2), (-66, 0)],
            [(84, -58), (76, -58), (56, -2), (66, 0)],
        ):
            self.add_shape(pymunk.Poly(self.cart, corners, radius=1), CART, 0.8)
        self.motors, self.wheels = [], []
        for x in (-46, 46):
            wheel = pymunk.Body(1.5, pymunk.moment_for_circle(1.5, 0, 24))
            wheel.position = at + (x, 24)
            self.add_shape(pymunk.Circle(wheel, 24), WHEEL, 1.4)
            slide = pymunk.GrooveJoint(self.cart, wheel, (x, 12), (x, 34), (0, 0))
            spring = pymunk.DampedSpring(self.cart, wheel, (x, -20), (0, 0), 46, 900, 30)
            motor = pymunk.SimpleMotor(wheel, self.cart, 0)
            for joint in (slide, spring, motor):
                joint.collide_bodies = False
                self.space.add(joint)
            self.motors.append(motor)
            self.wheels.append(wheel)
        self.crates = []
        for k in range(CARGO):
            row, column = divmod(k, 3)
            crate = pymunk.Body(0.6, pymunk.moment_for_box(0.6, (30, 30)))
            crate.position = at + (-36 + 36 * column + 18 * row, -24 - 31 * row)
            self.crates.append(self.add_shape(pymunk.Poly.create_box(crate, (29, 29), 1), CRATE, 0.9))

    def release_boulder(self) -> None:
        """The chaser: a ball that a motor keeps rolling after the cart."""
        body = pymunk.Body(15, pymunk.moment_for_circle(15, 0, 62))
        body.position, body.velocity = BOULDER, (220, 0)
        self.boulder = self.add_shape(pymunk.Circle(body, 62), STONE_GREY, 1.2)
        motor = pymunk.SimpleMotor(self.space.static_body, body, -320 / 62)
        motor.max_force = 3e5
        self.space.add(motor)

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.drive()
        self.cut_ropes()
        self.world.update(dt)
        self.watch_old_bridge()
        self.follow(dt)
        self.judge(dt)

    def drive(self) -> None:
        """Turn the wheels toward the wished speed; without a wish the brakes hold gently."""
        wish = self.controls.x
        for motor in self.motors:
            motor.rate = 15 * wish
            motor.max_force = 60_000 if wish else 22_000

    def cut_ropes(self) -> None:
        """Part the ropes that the pointer's stroke crosses, or with E the nearest one."""
        pad = self.controls
        self.stroke = self.stroke[-8:] if pad.pointer_held else self.stroke[1:]
        hits = []
        if pad.pointer_held and "pointer" not in pad.pressed:
            a, b = self.camera.to_world(pad.pointer_before), self.camera.to_world(pad.pointer)
            self.stroke.append(b)
            hits = self.world.segment_query(a, b, 2)
        elif "alt" in pad.pressed:
            hits = self.world.point_query(self.cart.position, 300)
        cuts = {hit.object: hit.particle for hit in reversed(hits)}  # the nearest particle of each rope
        for rope, node in list(cuts.items())[-NEAREST:]:
            if rope.count > 2 and not rope.pinned(rope.count - 1):  # cables are out of reach
                piece = rope.cut(min(max(node, 1), rope.count - 2))
                self.view.style(piece, color=ROPE)  # the world has the new piece already

    def watch_old_bridge(self) -> None:
        """Read the gauge. A rope snaps by itself past its max_tension, and the view colours it by tension."""
        self.load = max(float(rope.tension.max()) for rope in self.bridges["old"]) / BRIDGES["old"][4]

    def follow(self, dt: float) -> None:
        """The camera runs ahead of the cart, softly."""
        x, y = self.camera.center
        goal_x = min(max(self.cart.position.x + 180 + 0.35 * self.cart.velocity.x, 500), 5200)
        goal_y = min(max(self.cart.position.y - 90, 300), 460)
        ease = 1 - math.exp(-3 * dt)
        self.camera.center = (x + (goal_x - x) * ease, y + (goal_y - y) * ease)

    def aboard(self) -> int:
        """How many crates the cart still has."""
        inside = (self.cart.world_to_local(c.body.position) for c in self.crates)
        return sum(abs(p.x) < 100 and -140 < p.y < 20 for p in inside)

    def judge(self, dt: float) -> None:
        """Rules: when the boulder wakes, and what wins or loses."""
        cart = self.cart.position
        if self.boulder is None and cart.x > CHASE_FROM:
            self.release_boulder()
        upside_down = self.cart.rotation_vector.x < 0
        self.flipped = self.flipped + dt if upside_down else 0.0
        at_rest = cart.x > DEPOT and self.cart.velocity.length < 30
        self.parked = self.parked + dt if at_rest else 0.0
        if self.boulder and self.boulder.body.position.get_distance(cart) < 62 + 84:
            self.lose("The boulder has caught you: cut the last bridge behind you")
        elif cart.y > WATER:
            self.lose("Into the gorge: take the old bridge slowly")
        elif self.flipped > 1.5:
            self.lose("The cart lies on its back")
        elif self.aboard() < NEEDED:
            self.lose("Too much cargo lost")
        elif self.parked > UNLOADING:
            self.win(f"{self.aboard()} of {CARGO} crates delivered in {self.world.time:.0f} seconds")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        self.draw_props(surface)
        self.view.draw(self.world)
        self.draw_turf(surface)
        self.draw_cart(surface)
        if len(self.stroke) > 1:
            points = [self.camera.to_screen(p) for p in self.stroke]
            pygame.draw.lines(surface, (255, 250, 235), False, points, 3)
        self.draw_hud(surface)

    def draw_props(self, surface) -> None:
        """The river, gallows, posts and the depot: only painted, nothing collides with them."""
        at = self.camera.to_screen
        width, height = self.size
        _, level = at((0, WATER))
        pygame.draw.rect(surface, (58, 116, 150), (0, level, width, max(0, height - level)))
        for k in range(-1, 9):
            x, y = k * 160 - (self.camera.center[0] - 30 * self.world.time) % 160, level + 16 + 14 * (k % 3)
            pygame.draw.line(surface, (132, 178, 196), (x, y), (x + 60, y), 3)
        for x in (GALLOWS[0] - 150, GALLOWS[0] + 150):
            pygame.draw.line(surface, (86, 62, 46), at((x, 500)), at((x, GALLOWS[1])), 16)
        pygame.draw.line(
            surface, (104, 76, 54), at((GALLOWS[0] - 180, GALLOWS[1])), at((GALLOWS[0] + 180, GALLOWS[1])), 20
        )
        for left, right, y, _, _ in BRIDGES.values():
            for x in (left, right):
                pygame.draw.line(surface, (86, 62, 46), at((x, y + 20)), at((x, y - TOWER - 12)), 12)
        self.draw_depot(surface)

    def draw_depot(self, surface) -> None:
        """A shed and a flag that says stop."""
        x, y = self.camera.to_screen((DEPOT, 420))
        pygame.draw.rect(surface, (112, 84, 66), (x + 130, y - 150, 200, 150))
        pygame.draw.rect(surface, (64, 48, 44), (x + 170, y - 96, 120, 96))
        roof = [(x + 110, y - 148), (x + 350, y - 148), (x + 230, y - 214)]
        pygame.draw.polygon(surface, (168, 74, 62), roof)
        pygame.draw.line(surface, (240, 236, 226), (x, y), (x, y - 190), 8)
        wave = [(x + 12 * k, y - 188 + 5 * math.sin(k * 0.8 + self.frame * 0.1)) for k in range(10)]
        pygame.draw.polygon(surface, (220, 70, 64), [*wave, *((a, b + 62) for a, b in reversed(wave))])

    def draw_turf(self, surface) -> None:
        """A green edge on the land, and a shade below it."""
        for left, top_left, right, top_right in LAND:
            a, b = self.camera.to_screen((left, top_left)), self.camera.to_screen((right, top_right))
            if b[0] > -50 and a[0] < self.size[0] + 50:
                for color, low, high in (((78, 58, 50), 10, 22), (TURF, 0, 12), ((150, 184, 92), 0, 4)):
                    pygame.draw.polygon(
                        surface,
                        color,
                        [(a[0], a[1] + low), (b[0], b[1] + low), (b[0], b[1] + high), (a[0], a[1] + high)],
                    )

    def draw_cart(self, surface) -> None:
        """Hubs, and boards across the crates."""
        at = self.camera.to_screen
        for wheel in self.wheels:
            pygame.draw.aacircle(surface, (188, 180, 170), at(wheel.position), 7)
        for crate in self.crates:
            for side in (-1, 1):
                a, b = crate.body.local_to_world((-9, -9 * side)), crate.body.local_to_world((9, 9 * side))
                pygame.draw.aaline(surface, (150, 104, 56), at(a), at(b))

    def draw_hud(self, surface) -> None:
        """Cargo, the way that is left, and the strain of the old bridge while the cart is on it."""
        text.panel(surface, (16, 14, 250, 64))
        for k in range(CARGO):
            color = CRATE if k < self.aboard() else (64, 68, 82)
            pygame.draw.rect(surface, color, (32 + 30 * k, 26, 24, 24), border_radius=4)
        text.write(surface, f"need {NEEDED}", (188, 30), 24)
        text.bar(surface, (28, 58, 226, 12), self.cart.position.x / DEPOT, (255, 214, 120))
        left, right, y, _, _ = BRIDGES["old"]
        if left - 380 < self.cart.position.x < right:
            x, y = self.camera.to_screen(((left + right) / 2, y - 150))
            text.write(surface, "old bridge: slowly!", (x, y - 26), 26, anchor="midtop")
            text.bar(surface, (x - 110, y, 220, 18), self.load, text.BAD if self.load > 0.9 else text.GOOD)
        elif 2560 < self.cart.position.x < 3050 and self.stone.body.position.y < 400:
            x, y = self.camera.to_screen((GALLOWS[0], GALLOWS[1] + 70))
            text.write(surface, "cut the rope", (x + 24, y), 26)
        elif self.parked:
            x, y = self.camera.to_screen(self.cart.position)
            text.bar(surface, (x - 60, y - 120, 120, 16), self.parked / UNLOADING, text.GOOD)
        elif self.boulder and self.cart.position.x < 4500:
            text.write(
                surface, "Run! Then cut the bridge behind you", (self.size[0] / 2, 40), 34, anchor="midtop"
            )

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Drive; slowly on the old bridge; cut the sling, then the last bridge behind the cart."""
        x, speed = self.cart.position.x, self.cart.velocity.x
        top, target, wait = 300, None, False
        if 1560 < x < 2520:
            top = 110
        elif x > DEPOT - 60:
            top = 0 if x > DEPOT else 120
        if x > 2700 and self.stone.body.position.y < 400:
            target, wait = (STONE[0], 210), x > 2800
        elif 2700 < x < 3050:
            wait = self.stone.body.velocity.length > 5
            top = 140
        if x > 4490 and self.boulder and self.boulder.body.position.x < 4400:
            target = (4430 - 30 * (frame % 10), 455)
        drive = 0.0 if wait else max(-1.0, min(1.0, (top - speed) / 60))
        if target is None:
            self.controls.script(x=drive)
        else:
            x, y = self.camera.to_screen(target)
            self.controls.script(x=drive, hold={"pointer"}, pointer=(x + (frame % 12 - 6) * 8, y))


def sagging(left, right, y, links) -> list[tuple]:
    """Points of a flat arc from bank to bank."""
    steps = [k / links for k in range(links + 1)]
    return [(left + (right - left) * t, y + SAG * 4 * t * (1 - t)) for t in steps]


def paint_backdrop(size) -> Backdrop:
    """Evening over the gorge."""
    return Backdrop(
        size,
        ((64, 112, 168), (250, 214, 168)),
        [
            Hills((132, 150, 186), (206, 190, 184), 0.52, 70, 0.08),
            Hills((92, 122, 150), (150, 160, 160), 0.66, 60, 0.16),
            Hills((60, 96, 104), (72, 104, 104), 0.80, 40, 0.30, pines=70),
        ],
        sun=((930, 250), 60, (255, 238, 196)),
    )
