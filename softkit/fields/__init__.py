"""Fields: gravity, wind, magnets, whirls, drag and turbulence that act on everything soft by the same rules.

Add one to a world with `world.fields.add(Wind((120, 0), gust=0.4))`, or use it on plain arrays with `sample`.
"""

from softkit.fields.base import Field
from softkit.fields.container import Fields
from softkit.fields.custom import Custom
from softkit.fields.drags import Damping, Drag, LinearDrag, QuadraticDrag
from softkit.fields.flows import Flow, FlowMap, Stir, Whirl, Wind
from softkit.fields.forces import Attractor, Explosion, Gravity, Push, Repeller, Vortex
from softkit.fields.noise import CurlNoise
from softkit.fields.region import Region

__all__ = [
    "Attractor",
    "CurlNoise",
    "Custom",
    "Damping",
    "Drag",
    "Explosion",
    "Field",
    "Fields",
    "Flow",
    "FlowMap",
    "Gravity",
    "LinearDrag",
    "Push",
    "QuadraticDrag",
    "Region",
    "Repeller",
    "Stir",
    "Vortex",
    "Whirl",
    "Wind",
]
