"""Where a field acts."""

from dataclasses import dataclass
from typing import Any

from softkit.fields.values import number, three, vector

KINDS = {"disc": 1, "ball": 2, "rect": 3, "box": 4}
FALLOFFS = {"none": 0, "linear": 1, "smooth": 2, "square": 3}


@dataclass(frozen=True)
class Region:
    """A part of the world. Make one with `disc`, `ball`, `rect` or `box`; a field outside its region does
    nothing.

    `disc` and `rect` are prisms along z for 3-D points, like a 2-D shape in the world; `ball` and `box` end
    in z too.
    """

    kind: str
    center: tuple[float, float, float]
    half: tuple[float, float, float]

    @classmethod
    def disc(cls, center: Any, radius: float) -> "Region":
        """All points within `radius` (wu, > 0) of `center` in x and y."""
        return cls._round("disc", center, radius)

    @classmethod
    def ball(cls, center: Any, radius: float) -> "Region":
        """All points within `radius` (wu, > 0) of `center` in x, y and z."""
        return cls._round("ball", center, radius)

    @classmethod
    def _round(cls, kind: str, center: Any, radius: float) -> "Region":
        radius = number("radius", radius, 1e-9)
        return cls(kind, three(vector("center", center)), (radius, radius, radius))

    @classmethod
    def rect(cls, left: float, top: float, width: float, height: float) -> "Region":
        """A rectangle as in pygame: left, top, width, height (wu, sizes > 0)."""
        return cls._rect("", left, top, width, height)

    @classmethod
    def _rect(cls, named: str, left: Any, top: Any, width: Any, height: Any) -> "Region":
        left, top = number(named + "left", left), number(named + "top", top)
        width, height = number(named + "width", width, 1e-9), number(named + "height", height, 1e-9)
        return cls("rect", (left + width / 2, top + height / 2, 0.0), (width / 2, height / 2, 0.0))

    @classmethod
    def box(cls, corner: Any, opposite: Any) -> "Region":
        """The box between two opposite corners (x, y, z)."""
        a, b = three(vector("corner", corner)), three(vector("opposite", opposite))
        half = tuple(abs(q - p) / 2 for p, q in zip(a, b))
        if min(half) <= 0:
            raise ValueError(
                f"opposite must differ from corner in x, y and z, got {opposite!r} and {corner!r}"
            )
        return cls("box", tuple((p + q) / 2 for p, q in zip(a, b)), half)

    @property
    def default_fade(self) -> float:
        """The whole radius, or half the shortest side."""
        return min(self.half[:2]) if self.kind == "rect" else min(self.half)


def as_region(value: Any) -> Region | None:
    """None, a Region, or a rectangle (left, top, width, height) or pygame.Rect."""
    if value is None or isinstance(value, Region):
        return value
    return as_rect("region", value)


def as_rect(name: str, value: Any) -> Region:
    """The region of a rectangle (left, top, width, height) or pygame.Rect."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise TypeError(f"{name} must be a rectangle (left, top, width, height), got {value!r}")
    parts = tuple(value)
    if len(parts) != 4:
        raise ValueError(f"{name} must be (left, top, width, height), got {value!r}")
    return Region._rect(f"{name} ", *parts)
