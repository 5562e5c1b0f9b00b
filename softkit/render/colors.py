"""Colours as the kernels take them, 0xRRGGBBAA, and the palette that things without a style get."""

from functools import lru_cache

import numpy as np
import pygame

STATIC = 0x5B6778FF
KINEMATIC = 0xD9A441FF
DYNAMIC = (0x4FA3D1FF, 0xE2725BFF, 0x6BB58EFF, 0xE3B04BFF, 0x9A86C8FF, 0xD98CA6FF, 0x5CB8B2FF, 0xC9925EFF)
ROPE = 0xC79A62FF
CLOTH = 0xC94F4FFF
SENSOR_ALPHA = 70


@lru_cache(maxsize=4096)
def _parse(value):
    if isinstance(value, tuple):
        if len(value) not in (3, 4):
            raise ValueError(f"color must have 3 or 4 channels, got {value!r}")
        channels = []
        for channel in value:
            if not 0 <= channel <= 255:
                raise ValueError(f"color channels must be 0 to 255, got {value!r}")
            channels.append(round(channel))
        r, g, b, a = channels if len(channels) == 4 else [*channels, 255]
    else:
        r, g, b, a = pygame.Color(value)
    return (r << 24) | (g << 16) | (b << 8) | a


def rgba(value, name="color"):
    """Any pygame colour (Color, name, "#rrggbb", 3 or 4 channels 0 to 255) as 0xRRGGBBAA.

    >>> hex(rgba("white"))
    '0xffffffff'
    """
    try:
        return _parse(value if isinstance(value, str) else tuple(value))
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(
            f"{name} must be a colour (pygame.Color, a name, or 3 or 4 channels 0 to 255), got {value!r}"
        ) from None


def blend(a, b, share):
    """Between two 0xRRGGBBAA colours: a at share 0, b at share 1."""
    out = 0
    for shift in (24, 16, 8, 0):
        out |= round(((a >> shift) & 255) * (1 - share) + ((b >> shift) & 255) * share) << shift
    return out


def darker(color, share=0.45):
    """The colour mixed with black, alpha kept."""
    return blend(color, color & 255, share)


def with_alpha(color, alpha):
    """The colour with its alpha replaced, 0 to 255."""
    return (color & 0xFFFFFF00) | alpha


def ramp(values, low, middle, high):
    """Values -1 to 1 (clipped; NaN counts as 0) to colours between three, as a uint32 array."""
    values = np.nan_to_num(np.clip(values, -1, 1))
    stops = np.array(
        [[(c >> s) & 255 for s in (24, 16, 8, 0)] for c in (low, middle, high)], dtype=np.float64
    )
    place = (values + 1)[:, None]
    mixed = np.where(
        place < 1, stops[0] + (stops[1] - stops[0]) * place, stops[1] + (stops[2] - stops[1]) * (place - 1)
    )
    channels = np.rint(mixed).astype(np.uint32)
    return (channels[:, 0] << 24) | (channels[:, 1] << 16) | (channels[:, 2] << 8) | channels[:, 3]


def multiply(a, b):
    """Two colours multiplied channel by channel, alpha too."""
    out = 0
    for shift in (24, 16, 8, 0):
        out |= round(((a >> shift) & 255) * ((b >> shift) & 255) / 255) << shift
    return out
