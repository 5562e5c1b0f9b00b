"""Soft-body physics for 2D Python games, beside the pymunk space that you already have.

>>> import pymunk, softkit
>>> space = pymunk.Space()
>>> space.gravity = (0, 900)
>>> world = softkit.World(space)
>>> rope = world.add(softkit.Rope((200, 80), (420, 80), segments=40))
>>> rope.attach(0, space.static_body)
>>> world.update(1 / 60)
"""

from softkit import deform, fields
from softkit.cloth import Cloth
from softkit.contacts import Contact
from softkit.fluid import Fluid
from softkit.health import Health
from softkit.particles import Particles
from softkit.queries import Hit
from softkit.rope import Rope
from softkit.softbody import SoftBody
from softkit.solids import Box, Capsule, Plane, Sphere
from softkit.structure import Structure
from softkit.structure_links import Break
from softkit.structure_material import Material
from softkit.tetrahedra import extrude, tetrahedralize
from softkit.threads import build_info, get_threads, set_threads
from softkit.world import World

__all__ = [
    "Box",
    "Break",
    "Capsule",
    "Cloth",
    "Contact",
    "Fluid",
    "Health",
    "Hit",
    "Material",
    "Particles",
    "Plane",
    "Rope",
    "SoftBody",
    "Sphere",
    "Structure",
    "World",
    "build_info",
    "deform",
    "extrude",
    "fields",
    "get_threads",
    "set_threads",
    "tetrahedralize",
]
