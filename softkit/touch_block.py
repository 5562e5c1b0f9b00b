"""The seam between soft objects and the stage in which they touch each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class TouchBlock(NamedTuple):
    """What the contact stage sees of one planar object.

    Attributes:
        x, x0, v: (n, 2) positions now and at the start of the substep, wu, velocities, wu/s: live arrays.
        w: (n,) inverse masses.
        edges: (m, 2) particles of the straight pieces that hold others out.
        self_collision: whether its particles touch its own edges.
        family: objects of one family (not 0) touch each other in their own stage, not here.
    """

    x: np.ndarray
    x0: np.ndarray
    v: np.ndarray
    w: np.ndarray
    edges: np.ndarray
    self_collision: bool = False
    family: int = 0
