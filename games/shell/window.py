"""Games in a window: the loop, the keys that belong to the shell, and the way between menu and games.

Shell keys: R restart, P pause, Esc back, F1 timings, F11 full screen; on a pad Y, Start and Back.
"""

from __future__ import annotations

import pygame

from games.shell import catalog, overlay
from games.shell.game import PLAYING
from games.shell.menu import Menu
from games.shell.pads import Pads

FPS = 60
LONGEST_FRAME = 0.1  # seconds; after a stall the game goes on from here
COMMANDS = {
    pygame.K_r: "restart",
    pygame.K_p: "pause",
    pygame.K_ESCAPE: "back",
    pygame.K_F1: "timings",
    pygame.K_F11: "fullscreen",
}


class Window:
    """One window with its pads and its clock."""

    def __init__(self, surface) -> None:
        self.surface = surface
        self.pads = Pads()
        self.clock = pygame.time.Clock()
        self._pad_held: set[str] = set()

    def frame(self, feed) -> tuple[float, set[str], object]:
        """Wait for the next frame; gives (seconds, shell commands, pad state), events go to `feed`."""
        dt = min(self.clock.tick(FPS) / 1000, LONGEST_FRAME)
        commands = set()
        for event in pygame.event.get():
            self.pads.feed(event)
            if event.type == pygame.QUIT:
                commands.add("quit")
            elif event.type == pygame.KEYDOWN and event.key in COMMANDS:
                commands.add(COMMANDS[event.key])
            feed(event)
        pad = self.pads.read()
        commands |= (pad.held - self._pad_held) & {"restart", "pause", "back"}
        self._pad_held = pad.held
        if "fullscreen" in commands:
            pygame.display.toggle_fullscreen()
        return dt, commands, pad

    def play(self, name: str, auto: bool = False) -> str:
        """Run one game until the player leaves; gives "menu" or "quit"."""
        game = catalog.load(name)()
        pygame.display.set_caption(f"softkit: {game.title}")
        game.start()
        paused = timings = False

        def feed(event) -> None:
            game.controls.feed(event)
            game.handle(event)

        while True:
            dt, commands, pad = self.frame(feed)
            game.controls.feed_pad(pad)
            if "quit" in commands:
                return "quit"
            if "back" in commands:
                return "menu"
            if "restart" in commands or (game.state != PLAYING and self._again(game, dt)):
                game.restart()
                paused = False
            paused ^= "pause" in commands
            timings ^= "timings" in commands
            if not paused:
                game.step(dt, auto)
            game.draw(self.surface)
            if timings:
                game.draw_timings(self.surface)
            overlay.draw(self.surface, game, paused)
            pygame.display.flip()

    @staticmethod
    def _again(game, dt: float) -> bool:
        """Whether the action button was pressed on the end card."""
        game.controls.advance(dt)
        return "action" in game.controls.pressed

    def choose(self, menu: Menu) -> str | None:
        """Show the menu until a game is chosen; None to leave."""
        pygame.display.set_caption("softkit games")
        menu.reset()
        while True:
            dt, commands, pad = self.frame(menu.feed)
            menu.feed_pad(pad)
            menu.update(dt)
            if commands & {"quit", "back"}:
                return None
            if menu.chosen is not None:
                return menu.chosen
            menu.draw(self.surface)
            pygame.display.flip()


def run(surface, name: str | None = None, auto: bool = False) -> None:
    """Go between the menu and the games on an open window until the player leaves."""
    try:
        window, menu = Window(surface), Menu()
        while True:
            if name is None:
                name = window.choose(menu)
                if name is None:
                    return
            if window.play(name, auto) == "quit":
                return
            name = None
    finally:
        pygame.quit()
