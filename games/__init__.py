"""Numbered tutorial games: `python -m games` opens the menu, `python -m games NAME` plays one."""
