"""Pictures on triangles: a mesh's topology, and drawing it on a Surface with depth, light and smooth
outline."""

import math
import weakref

import numpy as np
import pygame

from softkit._kernels import triangles as kernel
from softkit.render.canvas import Canvas, as_texture, pixel_info
from softkit.render.colors import rgba

BUCKETS = 2048
_NONE = np.empty(0)


class Mesh:
    """Triangles over points, with what drawing needs to know of them and its scratch memory.

    triangles: (m, 3) point indices. points: number of points.
    """

    def __init__(self, triangles, points):
        self.triangles = np.empty((0, 3), dtype=np.int32)
        self.count = -1
        self.buckets = np.zeros(BUCKETS, dtype=np.int32)
        self.update(triangles, points)

    def update(self, triangles, points):
        """Take over other triangles; does nothing when they are the same."""
        if points == self.count and np.array_equal(triangles, self.triangles):
            return
        self.triangles = np.ascontiguousarray(triangles, dtype=np.int32).reshape(-1, 3).copy()
        m = len(self.triangles)
        if points != self.count:
            self.count = points
            self.ones = np.ones(points, dtype=np.float32)
        self.neighbours = np.empty((m, 3), dtype=np.int32)
        kernel.find_neighbours(
            self.triangles, np.empty(points, dtype=np.int32), np.empty(3 * m, dtype=np.int32), self.neighbours
        )
        self.order = np.zeros(m, dtype=np.int32)
        self.rows = np.zeros((m, 2), dtype=np.int16)
        self.facing = np.zeros(m, dtype=np.uint8)
        self.keys = np.zeros(m)


class DepthBuffer:
    """What is nearer than what on a canvas, cleared only where something will be drawn."""

    def __init__(self):
        self.values = np.empty(0, dtype=np.float32)

    def clear(self, canvas, rect=None):
        """Everything in the pixel rectangle (x0, y0, x1, y1), or everywhere, becomes farthest."""
        width, height = canvas.size
        if len(self.values) != width * height:
            self.values = np.empty(width * height, dtype=np.float32)
            rect = None
        x0, y0, x1, y1 = (0, 0, width, height) if rect is None else rect
        if x1 > x0 and y1 > y0:
            kernel.clear_depth(self.values, width, x0, y0, x1, y1)


def lay_mesh(
    canvas,
    depth,
    mesh,
    points,
    uvs,
    picture,
    *,
    front=None,
    back=None,
    heights=_NONE,
    inverse=_NONE,
    low=-math.inf,
    high=math.inf,
    front_tint=0xFFFFFFFF,
    back_tint=0xFFFFFFFF,
    opacity=255,
    sign=1.0,
    smooth=True,
    soft=True,
    sort=True,
):
    """The kernel's arguments put together (triangles.draw says what they are). Returns how many triangles
    were left out for coordinates that cannot be drawn."""
    if not len(mesh.triangles) or not canvas.size[0] or not canvas.size[1]:
        return 0
    front = mesh.ones if front is None else front
    return kernel.draw(
        canvas.surface.get_buffer(),
        canvas.info,
        depth.values,
        points,
        uvs,
        front,
        front if back is None else back,
        heights,
        inverse,
        mesh.triangles,
        mesh.neighbours,
        picture.get_buffer(),
        pixel_info(picture, "texture"),
        front_tint,
        back_tint,
        opacity,
        low,
        high,
        sign,
        smooth,
        soft,
        sort,
        mesh.order,
        mesh.rows,
        mesh.facing,
        mesh.keys,
        mesh.buckets,
        canvas.threads,
    )


class Pictures:
    """Pictures as kernels can read them. Most are used as they are; 24-bit and colour-keyed ones are copied
    once, and again after `forget`."""

    def __init__(self):
        self._copies = weakref.WeakKeyDictionary()
        self._plain = {}

    def get(self, picture):
        """The picture, or a copy with four bytes a pixel."""
        if picture in self._copies:
            return self._copies[picture]
        found = as_texture(picture)
        if found is not picture:
            self._copies[picture] = found
        return found

    def plain(self, color, like):
        """One pixel of a colour (0xRRGGBBAA), in the layout of the Surface `like` where that has four bytes
        a pixel."""
        masks = tuple(like.get_masks()) if like.get_bytesize() == 4 else None
        key = (color | 0xFF, masks)
        if key not in self._plain:
            if len(self._plain) > 256:
                self._plain.clear()
            pixel = pygame.Surface((1, 1), 0, 32, (*masks[:3], 0)) if masks else pygame.Surface((1, 1), 0, 32)
            pixel.fill(((color >> 24) & 255, (color >> 16) & 255, (color >> 8) & 255))
            self._plain[key] = pixel
        return self._plain[key]

    def forget(self, picture):
        """Copy the picture again at its next use."""
        self._copies.pop(picture, None)


def opacity_of(picture, opacity=1.0):
    """The Surface's own alpha (Surface.set_alpha) times opacity 0 to 1, as 0 to 255."""
    alpha = picture.get_alpha()
    return round((255 if alpha is None else alpha) * opacity)


def _array(name, value, columns):
    array = np.ascontiguousarray(value, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] not in columns:
        raise ValueError(f"{name} must be (n, {' or '.join(map(str, columns))}), got shape {array.shape}")
    return array


def draw_mesh(
    target,
    picture,
    points,
    uvs,
    triangles,
    *,
    weights=None,
    tint="white",
    opacity=1.0,
    smooth=True,
    outline=True,
):
    """Draw a picture on a flat mesh: triangles are laid in the order given, each pixel by the triangle it
    lies in.

    target, picture: Surfaces (target 24 or 32 bits a pixel). points: (n, 2) pixels. uvs: (n, 2) places in the
    picture, 0 to 1. triangles: (m, 3) point indices. weights: (n,) projective weights, above 0 (default
    None: affine inside each triangle). tint: colour to multiply with. opacity: 0 to 1, default 1. smooth:
    bilinear (default) or nearest texels. outline: smooth outer edges, default True. Returns how many
    triangles were left out because their points are not finite.
    """
    points, uvs = _array("points", points, (2,)), _array("uvs", uvs, (2,))
    if len(uvs) != len(points):
        raise ValueError(f"uvs must be one for each of {len(points)} points, got {len(uvs)}")
    triangles = np.asarray(triangles)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not np.issubdtype(triangles.dtype, np.integer):
        raise ValueError(
            f"triangles must be (m, 3) integers, got shape {triangles.shape} of {triangles.dtype}"
        )
    if len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(points):
        raise IndexError(
            f"triangles must index {len(points)} points, got {triangles.min()} to {triangles.max()}"
        )
    if not 0 <= opacity <= 1:
        raise ValueError(f"opacity must be 0 to 1, got {opacity!r}")
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=np.float64)
        if weights.shape != (len(points),) or not (weights > 0).all():
            raise ValueError(f"weights must be {len(points)} numbers above 0, got {weights!r}")
    canvas, depth = Canvas(target), DepthBuffer()
    depth.clear(canvas)
    flat = np.zeros((len(points), 3))
    flat[:, :2] = points
    color = rgba(tint, "tint")
    return lay_mesh(
        canvas,
        depth,
        Mesh(triangles, len(points)),
        flat,
        uvs,
        as_texture(picture),
        front_tint=color,
        back_tint=color,
        opacity=opacity_of(picture, opacity),
        inverse=_NONE if weights is None else weights,
        smooth=smooth,
        soft=outline,
        sort=False,
    )


def draw_quad(target, picture, corners, *, projective=True, **options):
    """Draw a picture on a quadrilateral.

    corners: 4 points (x, y) in pixels: where the picture's top left, top right, bottom right and bottom left
        go.
    projective: True (default) keeps straight lines straight, as a photograph of the picture would (for a
        convex quadrilateral); False maps each half affinely. options: those of `draw_mesh`.
    """
    corners = _array("corners", corners, (2,))
    if len(corners) != 4:
        raise ValueError(f"corners must be 4 points, got {len(corners)}")
    weights = _projective_weights(corners) if projective else None
    uvs = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)])
    return draw_mesh(
        target, picture, corners, uvs, np.array([(0, 1, 2), (0, 2, 3)]), weights=weights, **options
    )


def _projective_weights(corners):
    """Homogeneous weights of a convex quadrilateral's corners: where its diagonals cross, each is cut in the
    ratio of the weights at its ends. None when they do not cross."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    turn = (cx - ax) * (dy - by) - (cy - ay) * (dx - bx)
    if not math.isfinite(turn) or abs(turn) < 1e-12:
        return None
    s = ((bx - ax) * (dy - by) - (by - ay) * (dx - bx)) / turn
    t = ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax)) / turn
    if not (0 < s < 1 and 0 < t < 1):
        return None
    return np.array([1 / (1 - s), 1 / (1 - t), 1 / s, 1 / t])
