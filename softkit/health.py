"""What a world had to do to stay whole."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class Health:
    """Counters since the world was made; a game may set any of them back to 0.

    Attributes:
        steps_dropped: whole fixed steps that `update` skipped because a frame took too long.
        speeds_capped: particle speeds cut down to `world.max_speed`, per substep.
        overstretched: objects stretched by more than 5 % beyond what their load explains, after the last
            step.
        bodies_lost: ties that let go because their body left the space.
        squeezed: fluid particles that found no way out between shapes and stayed, per substep.
    """

    steps_dropped: int = 0
    speeds_capped: int = 0
    overstretched: int = 0
    bodies_lost: int = 0
    squeezed: int = 0

    @property
    def ok(self) -> bool:
        """Nothing to report."""
        return not any(asdict(self).values())
