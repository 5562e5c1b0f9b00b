"""The command line of `python -m games`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tga")


def positive(value: str) -> int:
    """A count of frames."""
    number = int(value)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{value} is not a count of frames: 1 or more")
    return number


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    p = argparse.ArgumentParser(
        prog="python -m games",
        description="Tutorial games for softkit. Without NAME: the menu.",
        epilog="Without a display the games are rendered headless by themselves.",
    )
    p.add_argument("name", nargs="?", metavar="NAME", help="a game: its name, its number or part of its name")
    p.add_argument("--list", action="store_true", help="say which games there are")
    p.add_argument("--auto", action="store_true", help="let the game play its own demonstration")
    p.add_argument(
        "--headless",
        action="store_true",
        help="no window: play the demonstration and write pictures (all games without NAME)",
    )
    p.add_argument("--frames", type=positive, metavar="N", help="headless: how many frames of 1/60 s")
    p.add_argument("--shot", type=Path, metavar="FILE", help="headless: write the last frame to FILE")
    p.add_argument("--record", type=Path, metavar="FILE.gif", help="headless: write a film to FILE.gif")
    p.add_argument("--thumbs", action="store_true", help="make the menu's pictures anew")
    return p


def check(p: argparse.ArgumentParser, args) -> None:
    """Refuse what cannot be done before anything starts."""
    from games.shell import catalog

    if args.name is not None:
        try:
            args.name = catalog.find(args.name)
        except ValueError as error:
            p.error(str(error))
    if args.name is None and (args.shot or args.record):
        p.error("--shot and --record need the NAME of a game")
    if args.shot and args.shot.suffix.lower() not in PICTURES:
        p.error(f"--shot {args.shot}: the name ends in one of {', '.join(PICTURES)}")
    if args.record and args.record.suffix.lower() != ".gif":
        p.error(f"--record {args.record}: the name ends in .gif")


def main(argv=None) -> int:
    """Run the command line; gives the exit code."""
    p = parser()
    args = p.parse_args(argv)
    check(p, args)
    from games.shell import catalog, display

    if args.list:
        for name in catalog.names():
            game = catalog.load(name)
            print(f"{name:20} {game.title}: {game.idea}")
        return 0
    if args.thumbs:
        from games.shell import headless

        for path in headless.thumbnails():
            print(path)
        return 0
    why = ""
    if not (args.headless or args.frames or args.shot or args.record):
        why = display.missing()
        if not why:
            why = try_window(args)
            if not why:
                return 0
        print(f"no window ({why}): rendering headless", file=sys.stderr)
    return run_headless(args)


def try_window(args) -> str:
    """Play in a window; gives the reason if none could be opened."""
    import pygame

    from games.shell import display, window

    try:
        surface = display.open_window((1280, 720), "softkit games")
    except pygame.error as error:
        pygame.quit()
        return str(error)
    window.run(surface, args.name, args.auto)
    return ""


def run_headless(args) -> int:
    """Play without a window and say where the pictures are."""
    from games.shell import headless

    try:
        if args.name is None:
            files = headless.shots(frames=args.frames)
        else:
            shot = args.shot
            if shot is None and args.record is None:
                shot = headless.SHOTS_DIR / f"{args.name}.png"
            headless.run(args.name, args.frames, shot, args.record)
            files = [path for path in (shot, args.record) if path]
    except OSError as error:
        print(f"cannot write: {error}", file=sys.stderr)
        return 1
    print("pictures written to:")
    for path in files:
        print(f"  {path.resolve()}")
    return 0
