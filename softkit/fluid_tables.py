"""How much of the fluid's kernels lies behind a plane wall: what a wall stands for when it counts as liquid."""

from __future__ import annotations

import numpy as np

SAMPLES = 64


def half_plane(across: int = 400, along: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    """(66,) kernel integral and (66,) gradient-kernel integral over the half plane at distance 0 ... 1 reach.

    Density kernel 4 / pi (1 - q^2)^3, gradient kernel 30 / pi (1 - q)^2 along the normal; midpoint sums, the last sample
    is a guard. Multiplication and addition only, so that every platform gets the same bits.
    """
    fill, push = np.zeros(SAMPLES + 2), np.zeros(SAMPLES + 2)
    y = (np.arange(along) + 0.5) / along * 2 - 1
    for k in range(SAMPLES):
        q = k / SAMPLES
        x = q + (1 - q) * (np.arange(across) + 0.5) / across
        r = np.sqrt(x[None, :] ** 2 + y[:, None] ** 2)
        area = (1 - q) / across * 2 / along
        near = np.maximum(1.0 - r, 0.0)
        fill[k] = (4 / np.pi * np.maximum(1.0 - r * r, 0.0) ** 3).cumsum()[-1] * area
        push[k] = (30 / np.pi * near * near * x[None, :] / np.maximum(r, 1e-9)).cumsum()[-1] * area
    return fill.astype(np.float32), push.astype(np.float32)
