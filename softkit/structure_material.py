"""What structures are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softkit import checks


@dataclass(frozen=True)
class Material:
    """How a structure weighs, gives way, flows and breaks.

    Presets by name: wood, stone, steel, glass, rubber.

    Attributes:
        density: mass per wu^2, > 0.
        compliance: wu per force unit of a square of it that is drawn out, > 0: the inverse of the modulus of
            elasticity (of a plate 1 wu thick). Waves run at sqrt(1 / (compliance density)) wu/s.
        yield_strain: elastic strain from which on it flows instead, > 0; default 1e9: brittle or elastic.
        toughness: elastic strain at which it breaks, > 0; default 0.03. A hit at v wu/s makes a strain of
            about v over the speed of waves.
        ductility: most plastic strain, >= 0; beyond it the elastic strain grows again; default 0.
        damping: rate in 1/s at which swaying and wobbling decay, >= 0; default 2.

    >>> Material.named("stone").toughness
    0.02
    """

    density: float
    compliance: float
    yield_strain: float = 1e9
    toughness: float = 0.03
    ductility: float = 0.0
    damping: float = 2.0

    def __post_init__(self) -> None:
        limits = {
            "density": (checks.TINY, checks.LIMIT),
            "compliance": (checks.TINY, checks.LIMIT),
            "yield_strain": (1e-9, 1e9),
            "toughness": (1e-9, 1e9),
            "ductility": (0.0, 1e3),
            "damping": (0.0, checks.LIMIT),
        }
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            if name == "yield_strain" and value == float("inf"):
                value = high
            object.__setattr__(self, name, checks.number(name, value, low, high))

    @staticmethod
    def named(value: Any) -> Material:
        """A Material itself, or the preset of that name."""
        if isinstance(value, Material):
            return value
        if not isinstance(value, str):
            raise TypeError(f"material must be a Material or one of {', '.join(PRESETS)}, got {value!r}")
        return PRESETS[checks.choice("material", value, PRESETS)]


WOOD = Material(0.001, 2.5e-6, yield_strain=0.025, toughness=0.045, ductility=0.03, damping=3.0)
STONE = Material(0.0025, 1e-6, toughness=0.02, damping=4.0)
STEEL = Material(0.008, 2.5e-7, yield_strain=0.012, toughness=0.08, ductility=0.25, damping=2.0)
GLASS = Material(0.0025, 1e-6, toughness=0.008, damping=1.0)
RUBBER = Material(0.0012, 3e-4, toughness=1.2, damping=3.0)
PRESETS = {"wood": WOOD, "stone": STONE, "steel": STEEL, "glass": GLASS, "rubber": RUBBER}
