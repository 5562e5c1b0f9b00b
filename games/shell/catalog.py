"""The games there are: files `games/NN_name.py`, found by name and imported only when wanted.

Module names that start with a digit cannot be written in an import statement; importlib takes them.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

GAMES_DIR = Path(__file__).resolve().parent.parent
THUMBS_DIR = GAMES_DIR / "thumbs"
_FILE = re.compile(r"\d\d_\w+\.py")


def names() -> list[str]:
    """All games in the order of their numbers."""
    return sorted(p.stem for p in GAMES_DIR.iterdir() if _FILE.fullmatch(p.name))


def find(text: str) -> str:
    """The one game meant by `text`: its name, its number, its name without the number, or a clear part."""
    known = names()
    wanted = text.strip().lower().removesuffix(".py")
    if wanted in known:
        return wanted
    short = {name: name.split("_", 1)[1] for name in known}
    exact = [n for n in known if wanted == short[n] or (wanted.isdigit() and int(wanted) == int(n[:2]))]
    part = exact or [n for n in known if wanted and not wanted.isdigit() and wanted in n]
    if len(part) == 1:
        return part[0]
    raise ValueError(
        f"name={text!r}: {'more than one game' if part else 'no game'} of that name; "
        f"there are {', '.join(part or known)}"
    )


def load(name: str):
    """The class `Game` of the game called `name`."""
    return importlib.import_module(f"games.{name}").Game


def thumbnail_path(name: str) -> Path:
    """Where the menu's picture of a game lies."""
    return THUMBS_DIR / f"{name}.png"
