"""Pictures on pymunk shapes: each a fan of triangles that turns with its body."""

import numpy as np
import pymunk

from softkit.render.colors import rgba
from softkit.render.mesh import DepthBuffer, Mesh, lay_mesh, opacity_of

_EVERYWHERE = np.empty(0)


class PictureShape:
    """One shape with a picture.

    outline: (n, 2) points in the body's axes, convex. box: (x0, y0, x1, y1) in the body's axes that the
    whole picture covers.
    """

    def __init__(self, shape, style, outline, box):
        self.shape = shape
        self.picture = style["texture"]
        self.tint = 0xFFFFFFFF if style["color"] is None else rgba(style["color"])
        self.local = np.vstack([outline.mean(axis=0), outline])
        n = len(outline)
        fan = [(0, i + 1, (i + 1) % n + 1) for i in range(n)]
        self.mesh = Mesh(np.array(fan, dtype=np.int32), n + 1)
        size = np.maximum(np.array(box[2:]) - box[:2], 1e-9)
        self.uvs = np.ascontiguousarray((self.local - box[:2]) / size)
        self.world = np.zeros((n + 1, 3))
        self.screen = np.zeros((n + 1, 3))


class PictureLayer:
    """Draws shapes that `View.style` gave a texture, after the plain ones."""

    def __init__(self, view):
        self.view = view
        self.shapes = []
        self._depth = DepthBuffer()

    def draw(self, pose_of):
        """pose_of: gives (x, y, angle) of a body."""
        view, camera = self.view, self.view.camera
        if self.shapes and len(self._depth.values) != view.canvas.size[0] * view.canvas.size[1]:
            self._depth.clear(view.canvas)
        for item in self.shapes:
            x, y, angle = pose_of(item.shape.body)
            cos, sin = np.cos(angle), np.sin(angle)
            item.world[:, 0] = x + cos * item.local[:, 0] - sin * item.local[:, 1]
            item.world[:, 1] = y + sin * item.local[:, 0] + cos * item.local[:, 1]
            camera.to_screen(item.world, out=item.screen)
            distance = None if camera.flat else camera.eye_distance(item.screen[:, 2])
            item.screen[:, 2] = (
                0 * item.screen[:, 2]
            )  # all at one depth, so that the order of drawing decides
            picture = view.pictures.get(item.picture)
            bad = lay_mesh(
                view.canvas,
                self._depth,
                item.mesh,
                item.screen,
                item.uvs,
                picture,
                inverse=_EVERYWHERE if distance is None else 1 / distance,
                front_tint=item.tint,
                back_tint=item.tint,
                opacity=opacity_of(picture),
                sort=False,
            )
            if bad:
                view.warn(item.shape.body, 1, f"{type(item.shape).__name__.lower()} of this body")


def box_of(shapes):
    """Smallest box (x0, y0, x1, y1) in the body's axes around all of a body's shapes."""
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for shape in shapes:
        if isinstance(shape, pymunk.Circle):
            points = [shape.offset]
        elif isinstance(shape, pymunk.Segment):
            points = [shape.a, shape.b]
        else:
            points = shape.get_vertices()
        low = np.minimum(low, np.min(points, axis=0) - shape.radius)
        high = np.maximum(high, np.max(points, axis=0) + shape.radius)
    return (*low, *high)
