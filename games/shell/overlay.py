"""What the shell draws over a game: the goal and keys at the start, the end card, the pause card."""

from __future__ import annotations

from games.shell import text
from games.shell.game import PLAYING, WON, Game

INTRO_FRAMES = 300  # how long the opening strip stays
FADE_FRAMES = 40


def draw(surface, game: Game, paused: bool = False) -> None:
    """The cards that fit the game's state."""
    if game.state != PLAYING:
        card(
            surface,
            "Well done!" if game.state == WON else "Try again",
            game.message,
            "R or Space: play again      Esc: menu",
            text.GOOD if game.state == WON else text.BAD,
        )
    elif paused:
        card(surface, "Paused", game.goal, "P: go on      R: restart      Esc: menu", text.INK)
    elif game.frame < INTRO_FRAMES and not game.restarts:
        intro(surface, game)


def intro(surface, game: Game) -> None:
    """Title, goal and keys in a strip at the foot of the screen, sliding out at the end."""
    width, height = surface.get_size()
    late = max(0, game.frame - (INTRO_FRAMES - FADE_FRAMES)) / FADE_FRAMES
    top = height - 112 + 120 * late * late
    text.panel(surface, (20, top, width - 40, 96))
    text.write(surface, game.title, (44, top + 14), 38)
    text.write(surface, game.goal, (44, top + 54), 26)
    x = width - 44
    for key, meaning in reversed(game.keys):
        wide = max(text.width(key, 26), text.width(meaning, 22))
        text.write(surface, key, (x, top + 20), 26, (255, 214, 120), "topright")
        text.write(surface, meaning, (x, top + 52), 22, text.INK, "topright")
        x -= wide + 28


def card(surface, head: str, body: str, foot: str, color) -> None:
    """A plate in the middle of the screen."""
    width, height = surface.get_size()
    wide = max(620, text.width(body, 28) + 80)
    text.panel(surface, ((width - wide) / 2, height / 2 - 110, wide, 200), (18, 22, 34, 215), 18)
    text.write(surface, head, (width / 2, height / 2 - 84), 64, color, "midtop")
    text.write(surface, body, (width / 2, height / 2 - 8), 28, text.INK, "midtop")
    text.write(surface, foot, (width / 2, height / 2 + 46), 24, (190, 196, 210), "midtop")
