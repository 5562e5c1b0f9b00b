"""What a benchmark is made of: scenes, and in each scene contenders that do the same work side by side."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol


class Running(Protocol):
    """One contender at work in its own copy of the scene."""

    def resume(self) -> None:
        """Called before each round, not timed: set thread counts and the like."""

    def frame(self) -> None:
        """One frame of the game, timed."""

    def watch(self) -> None:
        """Called after each frame, not timed: look at what the frame did."""

    def quality(self) -> dict[str, float]:
        """What was seen over the run, by column name."""


@dataclass(frozen=True)
class Contender:
    name: str
    start: Callable[[], Running]
    items: int = 0
    """Segments, particles or the like in the scene; 0 where a cost per item means nothing."""
    substeps: int = 1
    """Times a frame that each item is stepped."""
    setting: str = ""
    """What it was tuned to, for the table."""


@dataclass(frozen=True)
class Outcome:
    """A contender's measured frames: seconds, a list for each round."""

    contender: Contender
    rounds: list[list[float]]
    start_seconds: float
    quality: dict[str, float]


@dataclass(frozen=True)
class Scene:
    name: str
    title: str
    contenders: list[Contender]
    baseline: str
    """The contender that the ratio column divides by."""
    conclude: Callable[[dict[str, Outcome]], list[str]] = field(default=lambda outcomes: [])
    """Sentences under the table, from the outcomes by contender name (those that ran)."""
    item: str = "segment"


class Still:
    """A base for contenders with nothing to prepare or to look at."""

    def resume(self):
        pass

    def watch(self):
        pass

    def quality(self):
        return {}
