"""Cloth on an SDL renderer (pygame._sdl2): the graphics card fills the triangles.

There is no depth buffer: triangles are drawn from far to near, each lit at its corners. For the exact
pictures of `View`, on any Surface, see cloth_painter.
"""

import numpy as np

from softkit.render.camera import Camera
from softkit.render.cloth_painter import brightness
from softkit.render.colors import rgba
from softkit.render.painter import live_points

LIGHT = (-0.4, -0.6, 0.7)


def draw_cloth(texture, cloth, camera, world=None, *, back=(198, 198, 206), ambient=0.45, light=LIGHT):
    """Draw a sheet with `Texture.draw_triangle`.

    texture: the pygame._sdl2.video.Texture of the picture. cloth: the softkit.Cloth. camera: a Camera, its
    `size` set to the renderer's. world: the cloth's World, to draw between its steps (default None: the last
    step). back: colour that the far side is multiplied with. ambient: brightness in the shade, 0 to 1,
    default 0.45. light: direction toward the light in the picture (x right, y down, z to the viewer). Triangles with
    points that are not finite are left out; returns how many.
    """
    if not hasattr(texture, "draw_triangle"):
        raise TypeError(f"texture must be a pygame._sdl2.video.Texture, got {texture!r}")
    if not isinstance(camera, Camera):
        raise TypeError(f"camera must be a softkit.render.Camera, got {camera!r}")
    if not 0 <= ambient <= 1:
        raise ValueError(f"ambient must be 0 to 1, got {ambient!r}")
    with np.errstate(all="ignore"):
        points = live_points(world, cloth, world is not None)
        screen = camera.to_screen(points)
        triangles = np.asarray(cloth.triangles)
        corners = screen[triangles]
        fine = (np.abs(corners) < 1e6).all(axis=(1, 2))
        depth = corners[:, :, 2].sum(axis=1)
        lit = np.asarray(cloth.normals) @ camera.light(light)
    front, rear = (
        _shades(brightness(lit, ambient), rgba("white")),
        _shades(brightness(-lit, ambient), rgba(back, "back")),
    )
    (ax, ay), (bx, by), (cx, cy) = (corners[:, k, :2].T for k in range(3))
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    facing = (area > 0) != camera.flipped
    places, uvs = screen[:, :2].tolist(), np.asarray(cloth.uvs).tolist()
    order = np.argsort(depth, kind="stable")
    order = order[fine[order]]
    draw = texture.draw_triangle
    for (a, b, c), is_front in zip(triangles[order].tolist(), facing[order].tolist()):
        mod = front if is_front else rear
        draw(places[a], places[b], places[c], uvs[a], uvs[b], uvs[c], mod[a], mod[b], mod[c])
    return len(triangles) - len(order)


def _shades(level, color):
    """Corner colours (r, g, b, a) from light 0 to 1."""
    channels = np.array([(color >> 24) & 255, (color >> 16) & 255, (color >> 8) & 255])
    mods = np.full((len(level), 4), 255, dtype=np.int64)
    mods[:, :3] = np.rint(level[:, None] * channels)
    return [tuple(mod) for mod in mods.tolist()]
