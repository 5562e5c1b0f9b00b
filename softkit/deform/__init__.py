"""Cages and skins: pictures and meshes that follow the particles of anything soft.

A `Cage` binds dense points to the nodes near them (the particles of a soft object, or any array); a `Skin`
carries vertices inside the cells of those points. Both work on plain arrays, without a world.

>>> import numpy as np
>>> from softkit import deform
>>> nodes = np.array([(x, y) for y in range(4) for x in range(4)], float)
>>> points = np.array([(x, y) for y in np.linspace(0, 3, 10) for x in np.linspace(0, 3, 10)])
>>> cage = deform.Cage(nodes, points)
>>> skin = deform.Skin([(1.1, 0.4), (2.2, 2.9)], cage)
>>> cage.update(nodes @ [[0, 1], [-1, 0]])[-1].round(9).tolist()
[-3.0, 3.0]
>>> skin.update().round(9).tolist()
[[-0.4, 1.1], [-2.9, 2.2]]
"""

from softkit.deform.cage import MODES, Cage
from softkit.deform.points import grid_points, part_points
from softkit.deform.skin import Skin

__all__ = ["MODES", "Cage", "Skin", "grid_points", "part_points"]
