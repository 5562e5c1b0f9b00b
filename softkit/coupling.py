"""Ties between particles and pymunk bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pymunk

if TYPE_CHECKING:
    from softkit.world import World


@dataclass(frozen=True)
class Attachment:
    """A particle tied to a point of a body, in the body's own coordinates."""

    body: pymunk.Body
    local: tuple[float, float]


def in_space(body: pymunk.Body, space: pymunk.Space | None) -> bool:
    """May something be tied to this body in this space?"""
    return space is not None and (body.space is space or body is space.static_body)


def check_body(body: Any, world: World | None) -> None:
    """Refuse what no particle can be tied to."""
    if not isinstance(body, pymunk.Body):
        raise TypeError(f"body must be a pymunk.Body, got {body!r}")
    # Inside a step pymunk adds a body only when the step is over; one that is not there then is let go.
    later = world is not None and world.busy and body.space is None
    if world is not None and not later and not in_space(body, world.space):
        raise ValueError(f"body must be in this world's space, got {body!r}")
    if body.body_type == pymunk.Body.DYNAMIC and not body.mass > 0:
        raise ValueError(f"body must have a mass greater than 0, got {body.mass!r} on {body!r}")
