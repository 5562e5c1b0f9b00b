"""Siege: three towers of wood, stone, and steel with glass, and six shots to bring their crowns down.

The idea of this file: a `softkit.Structure` bends, cracks and falls to pieces.

- Towers are tile maps, one letter a tile, one material a letter: see `build_tower`.
- Balls are plain pymunk bodies: their impulses break links by themselves.
- `Structure.explode` throws nodes and weakens them: see `detonate`.
- `Structure.on_break` says where and with how much energy: dust and noise come from there, see `crack`.
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
# World units are pixels, y points down. W wood, S stone, I steel, G glass.

GROUND = 620
TILE = 20
LETTERS = {"W": "wood", "S": "stone", "I": "steel", "G": "glass"}
TOWERS = [  # left edge, rows from the top
    (
        470,
        ["W...W", "W...W", "WWWWW", "WWWWW", "W...W", "W...W", "WWWWW", "WWWWW", "W...W", "W...W", "WWWWW"],
    ),
    (
        720,
        [
            "S....S",
            "SSSSSS",
            "SSSSSS",
            "SS..SS",
            "SS..SS",
            "SSSSSS",
            "SSSSSS",
            "SS..SS",
            "SS..SS",
            "SSSSSS",
            "SSSSSS",
            "SS..SS",
            "SSSSSS",
        ],
    ),
    (
        1000,
        [
            "I....I",
            "IIIIII",
            "IGGGGI",
            "IGGGGI",
            "IIIIII",
            "IGGGGI",
            "IGGGGI",
            "IIIIII",
            "IGGGGI",
            "IGGGGI",
            "IIIIII",
            "IGGGGI",
            "IGGGGI",
            "IIIIII",
            "I....I",
            "I....I",
        ],
    ),
]
CANNON, BARREL = Vec2d(110, 560), 70
BALL, BALL_MASS = 15, 22
SHOTS = 6
LEAST, MOST, CHARGE = 500, 1500, 1.1  # wu/s, and seconds to the full charge
BLAST_RADIUS, BLAST = 85, 150_000
FALLEN = 0.55  # a crown is down below this part of its height
PATIENCE = 4.0  # seconds to wait after the last shot

EARTH, IRON, GOLD = (86, 78, 70), (52, 56, 66), (250, 206, 84)
DUST = {"wood": (176, 136, 96), "stone": (170, 166, 160), "steel": (255, 214, 130), "glass": (206, 238, 246)}


class Game(BaseGame):
    title = "Siege"
    idea = "Towers that bend, crack and fall"
    goal = "Bring all three crowns down"
    keys = (("Mouse", "aim"), ("Hold, let go", "fire"), ("E", "blow the ball up"))
    poster_frame = 118
    demo_frames = 1800

    # Building ---------------------------------------------------------------------------------

    def setup(self) -> None:
        self.space = pymunk.Space()
        self.space.gravity = (0, 900)
        self.world = softkit.World(self.space)
        self.camera = Camera(center=(640, 360))
        self.view = View(pygame.display.get_surface(), self.camera)
        self.backdrop = self.__dict__.get("backdrop") or paint_backdrop(self.size)
        ground = pymunk.Poly(
            self.space.static_body, [(-600, GROUND), (2000, GROUND), (2000, 900), (-600, 900)]
        )
        self.add_shape(ground, EARTH)
        self.dust = {name: self.make_dust(color) for name, color in DUST.items()}
        self.towers = [self.build_tower(left, rows) for left, rows in TOWERS]
        self.crowns = [self.place_crown(tower) for tower in self.towers]
        self.ball: pymunk.Body | None = None  # the last shot, while it can blow up
        self.flashes: list[tuple[Vec2d, float]] = []  # place, age
        self.shots, self.charge, self.waited = SHOTS, 0.0, 0.0
        self.angle = -0.6

    def add_shape(self, shape, color) -> None:
        """Put a shape into the space. Friction is 0 in pymunk unless set, and that is ice."""
        shape.friction = 0.8
        if shape.body is not self.space.static_body:
            self.space.add(shape.body)
        self.space.add(shape)
        self.view.style(shape, color=color, outline_width=0 if color == EARTH else 2)

    def make_dust(self, color) -> softkit.Particles:
        """A pool of flecks in one colour, that fly, fall and fade."""
        return self.world.add(
            softkit.Particles(
                3000, lifetime=(0.4, 1.2), damping=2.0, gravity_scale=0.4, size=[3, 7], color=color,
                alpha=[0.8, 0.0], on_hit="die",
            )
        )  # fmt: skip

    def build_tower(self, left: float, rows: list[str]) -> softkit.Structure:
        """Letters to tiles; what stands on the ground is pinned there."""
        letters = list(LETTERS)
        tiles = [[letters.index(c) + 1 if c in letters else 0 for c in row] for row in rows]
        tower = softkit.Structure.from_tiles(
            tiles,
            size=TILE,
            origin=(left, GROUND - TILE * len(rows)),
            materials=list(LETTERS.values()),
            friction=0.8,
        )
        for i, (_, y) in enumerate(tower.positions.tolist()):
            if y > GROUND - 1:
                tower.pin(i)
        tower.on_break = self.crack
        return self.world.add(tower)

    def place_crown(self, tower: softkit.Structure) -> pymunk.Body:
        """A crown in the yard on top of a tower."""
        low, high = tower.positions.min(axis=0), tower.positions.max(axis=0)
        crown = pymunk.Body(2, pymunk.moment_for_box(2, (36, 22)))
        top = low[1] + TILE * (2 if tower is self.towers[0] else 1)
        crown.position = (low[0] + high[0]) / 2, top - 15
        self.add_shape(pymunk.Poly(crown, [(-18, 11), (18, 11), (22, -11), (-22, -11)], radius=1), GOLD)
        crown.start = crown.position.y
        return crown

    # Playing ----------------------------------------------------------------------------------

    def update(self, dt: float) -> None:
        self.aim(dt)
        if "alt" in self.controls.pressed:
            self.detonate()
        self.world.update(dt)
        self.flashes = [(at, age + dt) for at, age in self.flashes if age + dt < 0.35]
        self.judge(dt)

    def aim(self, dt: float) -> None:
        """The barrel follows the pointer, or the arrows; a held button loads, letting go fires."""
        pad = self.controls
        if pad.by_pointer:
            way = Vec2d(*self.camera.to_world(pad.pointer)[:2]) - CANNON
            self.angle = math.atan2(way.y, way.x)
        self.angle = min(max(self.angle + (pad.y or -pad.x) * 0.8 * dt, -1.45), 0.1)
        if pad.pointer_held or pad.action:
            self.charge = min(1.0, self.charge + dt / CHARGE)
        elif self.charge:
            self.fire()

    def fire(self) -> None:
        """A heavy ball leaves the barrel."""
        speed, self.charge = LEAST + (MOST - LEAST) * self.charge, 0.0
        if not self.shots:
            return
        self.shots -= 1
        self.ball = pymunk.Body(BALL_MASS, pymunk.moment_for_circle(BALL_MASS, 0, BALL))
        way = Vec2d(math.cos(self.angle), math.sin(self.angle))
        self.ball.position, self.ball.velocity = CANNON + way * BARREL, way * speed
        self.add_shape(pymunk.Circle(self.ball, BALL), IRON)
        self.dust["stone"].burst(
            40, self.ball.position, direction=self.angle, spread=0.6, speed=(60, 400), size=(1, 2)
        )

    def detonate(self) -> None:
        """Blow the last ball up. A blast reaches every structure near it, and takes the ball with it."""
        if self.ball is None:
            return
        place = self.ball.position
        for tower in self.towers:
            tower.explode(place, BLAST_RADIUS, BLAST)
        self.space.remove(self.ball, *self.ball.shapes)
        self.ball = None
        self.flashes.append((place, 0.0))
        self.dust["steel"].burst(120, place, speed=(50, 500))

    def crack(self, tower: softkit.Structure, breaks) -> None:
        """Dust from every break, more of it the more energy there was. It flies from the next step on."""
        for broken in breaks:
            name = self.material_at(tower, broken.nodes[0])
            count = min(12, 2 + int(broken.energy / 2000))
            self.dust[name].burst(count, broken.place, speed=(10, 90))

    def material_at(self, tower: softkit.Structure, node: int) -> str:
        """What a node is made of, by the first cell that it is a corner of."""
        cell = int((tower.cells == node).any(axis=1).argmax())
        return list(LETTERS.values())[tower.cell_materials[cell]]

    def down(self, crown: pymunk.Body) -> bool:
        """Has this crown lost enough height, or left the field?"""
        height = GROUND - crown.start
        return GROUND - crown.position.y < height * FALLEN

    def judge(self, dt: float) -> None:
        """All crowns down wins; no shots left and some still up loses, after a moment."""
        fallen = sum(map(self.down, self.crowns))
        if fallen == len(self.crowns):
            self.win(f"{SHOTS - self.shots} of {SHOTS} shots in {self.world.time:.0f} seconds")
        elif not self.shots:
            self.waited += dt
            if self.waited > PATIENCE:
                self.lose(f"{len(self.crowns) - fallen} still up, and no shots left")

    # Drawing ----------------------------------------------------------------------------------

    def draw(self, surface) -> None:
        self.backdrop.draw(surface, self.camera.center)
        self.view.draw(self.world)
        pygame.draw.rect(surface, (116, 146, 86), (0, GROUND, self.size[0], 8))
        for crown in self.crowns:
            self.draw_crown(surface, crown)
        self.draw_cannon(surface)
        for at, age in self.flashes:
            share = age / 0.35
            ring = pygame.Surface((2 * BLAST_RADIUS, 2 * BLAST_RADIUS), pygame.SRCALPHA)
            radius = BLAST_RADIUS * (0.4 + 0.6 * share)
            pygame.draw.circle(ring, (255, 236, 170, int(200 * (1 - share))), (BLAST_RADIUS,) * 2, radius)
            surface.blit(ring, at - (BLAST_RADIUS, BLAST_RADIUS))
        self.draw_hud(surface)

    def draw_crown(self, surface, crown) -> None:
        """Three points and a jewel on the box that pymunk knows."""
        x, y, _ = self.world.body_pose(crown)
        at = Vec2d(x, y)
        turn = crown.rotation_vector
        for dx in (-18, 0, 18):
            points = [(dx - 8, -10), (dx, -24), (dx + 8, -10)]
            pygame.draw.polygon(surface, GOLD, [at + Vec2d(*p).cpvrotate(turn) for p in points])
        pygame.draw.aacircle(surface, (206, 66, 84), at, 5)

    def draw_cannon(self, surface) -> None:
        way = Vec2d(math.cos(self.angle), math.sin(self.angle))
        side = way.perpendicular() * 17
        tip = CANNON + way * (BARREL - 12 * self.charge)
        back = CANNON - way * (24 + 12 * self.charge)
        pygame.draw.polygon(
            surface, IRON, [back - side * 1.2, back + side * 1.2, tip + side * 0.8, tip - side * 0.8]
        )
        pygame.draw.aacircle(surface, (120, 84, 56), CANNON + (0, 30), 32)
        pygame.draw.aacircle(surface, (72, 52, 40), CANNON + (0, 30), 12)

    def draw_hud(self, surface) -> None:
        text.panel(surface, (16, 14, 300, 64))
        for k in range(SHOTS):
            color = (208, 212, 222) if k < self.shots else (70, 74, 88)
            pygame.draw.aacircle(surface, color, (40 + 28 * k, 36), 10)
        for k, crown in enumerate(self.crowns):
            color = text.GOOD if self.down(crown) else GOLD
            pygame.draw.rect(surface, color, (226 + 28 * k, 28, 20, 16), border_radius=4)
        text.bar(surface, (28, 58, 276, 12), self.charge, text.BAD if self.charge > 0.9 else GOLD)

    def draw_timings(self, surface) -> None:
        self.view.draw_hud(self.world)

    # The demonstration ------------------------------------------------------------------------

    def autoplay(self, frame: int) -> None:
        """Fire at a tower that still has its crown, and blow the ball up where it hits."""
        targets = [(crown, tower) for crown, tower in zip(self.crowns, self.towers) if not self.down(crown)]
        turn = frame % 200
        hold, pointer = set(), None
        if targets and turn < 90:
            crown, tower = targets[0]
            goal = Vec2d(tower.center[0], crown.start + 70)
            angle = lob(goal - CANNON, MOST)
            pointer = tuple(CANNON + Vec2d(300, 0).rotated(angle))
            hold = {"pointer"} if 5 < turn < 80 else set()
        if self.ball is not None and any(
            shape.body is self.ball for shape in {contact.shape for contact in self.world.contacts}
        ):
            hold = {*hold, "alt"}
        self.controls.script(hold=hold, pointer=pointer)


def lob(way: Vec2d, speed: float, gravity: float = 900.0) -> float:
    """The flatter angle at which a shot of that speed passes through a point `way` from the muzzle."""
    x, up = way.x, -way.y
    root = speed**4 - gravity * (gravity * x * x + 2 * up * speed * speed)
    if root < 0:
        return -math.pi / 4
    return -math.atan2(speed * speed - math.sqrt(root), gravity * x)


def paint_backdrop(size) -> Backdrop:
    """A grey morning before the walls."""
    return Backdrop(
        size,
        ((120, 152, 188), (238, 222, 198)),
        [
            Hills((146, 160, 178), (196, 196, 192), 0.50, 60, 0.08),
            Hills((110, 130, 136), (150, 160, 150), 0.66, 50, 0.16),
            Hills((84, 108, 96), (104, 122, 96), 0.80, 30, 0.30, pines=40),
        ],
        sun=((1010, 170), 46, (255, 244, 214)),
        seed=11,
    )
