"""The menu: a grid of the games' pictures, chosen by mouse, keyboard or gamepad."""

from __future__ import annotations

import pygame

from games.shell import catalog, text
from games.shell.backdrop import Backdrop, Hills
from games.shell.pads import PadState

SIZE = (1280, 720)
COLUMNS = 3
CARD = (372, 286)  # pixels of one card
PICTURE = (352, 198)
GAP = 24
TOP = 150  # where the grid begins
ACCENT = (255, 196, 92)
REPEAT = (0.4, 0.14)  # seconds before a held stick repeats, and between repeats
MOVES = {
    pygame.K_LEFT: (-1, 0),
    pygame.K_a: (-1, 0),
    pygame.K_RIGHT: (1, 0),
    pygame.K_d: (1, 0),
    pygame.K_UP: (0, -1),
    pygame.K_w: (0, -1),
    pygame.K_DOWN: (0, 1),
    pygame.K_s: (0, 1),
}
ENTER = (pygame.K_RETURN, pygame.K_KP_ENTER, pygame.K_SPACE)


class Menu:
    """State of the menu: `index` is the marked game, `chosen` its name once it was picked."""

    def __init__(self) -> None:
        self.names = catalog.names()
        self.classes = [catalog.load(name) for name in self.names]
        self.index = 0
        self.scroll = 0.0  # pixels the grid is moved up
        self.time = 0.0
        self._pictures: list | None = None
        self._backdrop: Backdrop | None = None
        self.reset()

    def reset(self) -> None:
        """Ready to choose again; the mark stays where it was."""
        self.chosen: str | None = None
        self._stick = (0, 0)
        self._wait = 0.0
        # A button that is still held from the game before must be let go first.
        self._pad_action = True

    def card_rect(self, i: int) -> pygame.Rect:
        """Where card `i` lies on the screen."""
        row, column = divmod(i, COLUMNS)
        across = min(COLUMNS, len(self.names))
        rows = -(-len(self.names) // COLUMNS)
        left = (SIZE[0] - across * CARD[0] - (across - 1) * GAP) // 2
        top = TOP + max(0, SIZE[1] - TOP - 60 - rows * (CARD[1] + GAP)) // 2  # few games sit in the middle
        return pygame.Rect(
            left + column * (CARD[0] + GAP), top + row * (CARD[1] + GAP) - round(self.scroll), *CARD
        )

    def at(self, point) -> int | None:
        """The card under a point on the screen."""
        return next((i for i in range(len(self.names)) if self.card_rect(i).collidepoint(point)), None)

    def move(self, x: int, y: int) -> None:
        """Move the mark by cards; it stays in the grid."""
        target = self.index + x + y * COLUMNS
        if 0 <= target < len(self.names):
            self.index = target
        elif y > 0 and self.index // COLUMNS < (len(self.names) - 1) // COLUMNS:
            self.index = len(self.names) - 1

    def choose(self) -> None:
        """Pick the marked game."""
        if self.names:
            self.chosen = self.names[self.index]

    def feed(self, event) -> None:
        """Take one event of keyboard or mouse."""
        if event.type == pygame.KEYDOWN:
            if event.key in MOVES:
                self.move(*MOVES[event.key])
            elif event.key in ENTER:
                self.choose()
        elif event.type == pygame.MOUSEMOTION:
            under = self.at(event.pos)
            self.index = self.index if under is None else under
        elif event.type == pygame.MOUSEBUTTONDOWN and event.button == 1:
            under = self.at(event.pos)
            if under is not None:
                self.index = under
                self.choose()
        elif event.type == pygame.MOUSEWHEEL:
            self.move(0, -event.y)

    def feed_pad(self, pad: PadState) -> None:
        """Take the gamepads' state."""
        stick = (round(pad.x), round(pad.y))
        if stick != self._stick:
            self._stick, self._wait = stick, REPEAT[0]
            self.move(*stick)
        elif stick != (0, 0) and self._wait <= 0:
            self._wait = REPEAT[1]
            self.move(*stick)
        held = "action" in pad.held
        if held and not self._pad_action:
            self.choose()
        self._pad_action = held

    def update(self, dt: float) -> None:
        """Scroll the marked card into view."""
        self.time += dt
        self._wait -= dt
        row = self.index // COLUMNS
        bottom = TOP + (row + 1) * (CARD[1] + GAP) - SIZE[1] + 40
        target = max(0.0, bottom)
        self.scroll += (target - self.scroll) * min(1.0, dt * 12)

    def _prepare(self) -> None:
        """Load the pictures and paint the landscape, once."""
        self._pictures = []
        for name in self.names:
            path = catalog.thumbnail_path(name)
            picture = pygame.Surface(PICTURE)
            picture.fill((60, 72, 92))
            if path.is_file():
                picture = pygame.transform.smoothscale(pygame.image.load(str(path)).convert(), PICTURE)
            self._pictures.append(_rounded(picture, 10))
        self._backdrop = Backdrop(
            SIZE,
            ((24, 34, 62), (196, 132, 122)),
            [
                Hills((74, 78, 118), (120, 100, 124), 0.60, 50, 0.10),
                Hills((48, 56, 92), (70, 66, 98), 0.74, 40, 0.22),
                Hills((26, 34, 60), (22, 28, 48), 0.88, 26, 0.4, pines=60),
            ],
            sun=((1140, 290), 56, (255, 214, 160)),
        )

    def draw(self, surface) -> None:
        """The whole screen."""
        if self._pictures is None:
            self._prepare()
        self._backdrop.draw(surface, (self.time * 40, SIZE[1] / 2))
        for i in range(len(self.names)):
            self._draw_card(surface, i)
        text.write(surface, "softkit", (54, 34), 84)
        text.write(
            surface, "tutorial games: ropes beside pymunk, one idea a file", (58, 98), 30, (222, 214, 214)
        )
        text.write(
            surface,
            "arrows, mouse or pad: choose      Enter: play      Esc: leave",
            (SIZE[0] - 54, 104),
            24,
            (222, 214, 214),
            "topright",
        )

    def _draw_card(self, surface, i: int) -> None:
        """One game: picture, name, idea."""
        rect = self.card_rect(i)
        if rect.top > SIZE[1] or rect.bottom < 0:
            return
        marked = i == self.index
        game = self.classes[i]
        text.panel(surface, rect, (18, 22, 38, 235) if marked else (18, 22, 38, 190), 16)
        surface.blit(self._pictures[i], (rect.left + 10, rect.top + 10))
        text.write(surface, self.names[i][:2], (rect.right - 22, rect.top + 218), 34, ACCENT, "topright")
        text.write(surface, game.title, (rect.left + 18, rect.top + 218), 34)
        text.write(surface, game.idea, (rect.left + 18, rect.top + 252), 20, (196, 202, 218))
        if marked:
            pygame.draw.rect(surface, ACCENT, rect.inflate(6, 6), 3, border_radius=18)


def _rounded(picture, radius: int) -> pygame.Surface:
    """The picture with round corners."""
    mask = pygame.Surface(picture.get_size(), pygame.SRCALPHA)
    pygame.draw.rect(mask, (255, 255, 255), mask.get_rect(), border_radius=radius)
    mask.blit(picture, (0, 0), special_flags=pygame.BLEND_RGB_MULT)
    return mask
