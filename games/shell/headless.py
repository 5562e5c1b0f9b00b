"""Games played by their own demonstration without a window: pictures, films, tests.

Every frame is 1/60 s, so the same number of frames gives the same world, bit for bit. Drawing reads the
game and never changes it: frames that nobody looks at are not drawn.
"""

from __future__ import annotations

from pathlib import Path

import pygame

from games.shell import catalog, display, overlay
from games.shell.game import PLAYING, Game
from games.shell.gif import GifWriter
from games.shell.progress import Progress

DT = 1 / 60
FILM_SIZE = (480, 270)
FILM_EVERY = 3  # every third frame: 20 a second, which GIF can time exactly
LINGER = 90  # frames a film goes on after the end
SHOTS_DIR = Path("shots")


def picture(game: Game, surface, cards: bool = True) -> None:
    """Draw one frame of `game` with the shell's cards."""
    game.draw(surface)
    if cards:
        overlay.draw(surface, game)


def play(game: Game, frames: int, each=None, until_end: bool = False) -> int:
    """Start `game` and let its demonstration play `frames` frames; returns the frames run.

    each(frame) is called after each one. until_end stops `LINGER` frames after the game was won or lost.
    """
    game.start()
    left = LINGER
    for frame in range(frames):
        game.step(DT, auto=True)
        if each:
            each(frame)
        if until_end and game.state != PLAYING:
            left -= 1
            if left <= 0:
                return frame + 1
    return frames


def run(name: str, frames: int | None = None, shot=None, record=None, stream=None) -> Game:
    """Play one game headless and write the picture of its last frame, and a film if asked.

    frames: how many; without it a film goes on to the game's end, and a picture is taken at the game's
    poster frame. shot, record: files to write; returns the game as it stands.
    """
    game = catalog.load(name)()
    surface = display.open_headless(game.size)
    total = frames or (game.demo_frames if record else game.poster_frame)
    for path in (shot, record):
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
    film = GifWriter(record, FILM_SIZE, 60 / FILM_EVERY) if record else None
    bar = Progress(name, total, stream)

    def each(frame: int) -> None:
        if film and frame % FILM_EVERY == 0:
            picture(game, surface)
            small = pygame.transform.smoothscale(surface, FILM_SIZE)
            film.add(pygame.surfarray.array3d(small).swapaxes(0, 1))
        bar.show(frame + 1)

    play(game, total, each, until_end=bool(record) and frames is None)
    if shot:
        picture(game, surface)
        pygame.image.save(surface, str(shot))
    if film:
        film.close()
    bar.close(game.state)
    return game


def shots(folder=SHOTS_DIR, frames: int | None = None, stream=None) -> list[Path]:
    """A picture of the menu and one of every game in `folder`; returns the files."""
    from games.shell.menu import Menu

    folder = Path(folder)
    files = []
    for name in catalog.names():
        files.append(folder / f"{name}.png")
        run(name, frames, files[-1], stream=stream)
    surface = display.open_headless(Game.size)
    Menu().draw(surface)
    files.insert(0, folder / "menu.png")
    pygame.image.save(surface, str(files[0]))
    return files


def thumbnails(stream=None) -> list[Path]:
    """Make the menu's pictures anew from each game's poster frame."""
    files = []
    for name in catalog.names():
        game = catalog.load(name)()
        surface = display.open_headless(game.size)
        bar = Progress(name, game.poster_frame, stream)
        play(game, game.poster_frame, lambda frame, bar=bar: bar.show(frame + 1))
        picture(game, surface, cards=False)
        files.append(catalog.thumbnail_path(name))
        files[-1].parent.mkdir(exist_ok=True)
        pygame.image.save(pygame.transform.smoothscale(surface, (320, 180)), str(files[-1]))
        bar.close()
    return files
