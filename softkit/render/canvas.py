"""A Surface as the kernels see it, and lists of shapes to lay on it in one call."""

import sys

import numpy as np
import pygame

from softkit._kernels import raster
from softkit.threads import get_threads

POLYGON, LINE, LOOP, DISC, COLORED_LINE = (
    raster.POLYGON,
    raster.LINE,
    raster.LOOP,
    raster.DISC,
    raster.COLORED_LINE,
)
_NO_COLORS = np.empty(0, dtype=np.uint32)
_NO_RADII = np.empty(0, dtype=np.float64)


def pixel_info(surface, name="target", writable=True):
    """The surface's layout as 12 ints (pixels.pxd says which), or ValueError for a format without 8-bit
    channels."""
    if not isinstance(surface, pygame.Surface):
        raise TypeError(f"{name} must be a pygame.Surface, got {surface!r}")
    size, masks, losses = surface.get_bytesize(), surface.get_masks(), surface.get_losses()
    usable = size in (3, 4) and all(masks[:3]) and not any(losses[:3]) and losses[3] in (0, 8)
    if not usable or any(shift % 8 for shift in surface.get_shifts()):
        raise ValueError(
            f"{name} must have 24 or 32 bits a pixel with 8 bits a channel, got {surface!r}, masks {masks}; "
            "Surface.convert() or convert_alpha() makes such a one"
        )
    offsets = [
        shift // 8 if sys.byteorder == "little" else size - 1 - shift // 8 for shift in surface.get_shifts()
    ]
    if not masks[3]:
        offsets[3] = -1
    width, height = surface.get_size()
    clip = surface.get_clip()
    return np.array(
        [width, height, surface.get_pitch(), size, *offsets, clip.left, clip.top, clip.right, clip.bottom],
        dtype=np.int32,
    )


class ShapeList:
    """Shapes in drawing order, in arrays that are kept and reused from frame to frame.

    Points are pixels. Colours are 0xRRGGBBAA ints or uint32 arrays. Radii and widths are pixels.
    """

    def __init__(self, shapes=64, points=256):
        self.count = 0
        self.point_count = 0
        self.use_point_colors = False
        self.use_point_radii = False
        self._shapes(shapes)
        self._points(points)

    def _shapes(self, capacity, keep=0):
        old = self.__dict__
        for name, shape, kind in (
            ("kinds", (), np.uint8),
            ("first", (), np.int32),
            ("length", (), np.int32),
            ("params", (4,), np.float64),
            ("colors", (2,), np.uint32),
            ("rows", (2,), np.int32),
            ("bad", (), np.int32),
        ):
            fresh = np.zeros((capacity, *shape), dtype=kind)
            if keep:
                fresh[:keep] = old[name][:keep]
            setattr(self, name, fresh)

    def _points(self, capacity, keep=0):
        old = self.__dict__
        for name, shape, kind in (
            ("points", (2,), np.float64),
            ("point_colors", (), np.uint32),
            ("point_radii", (), np.float64),
        ):
            fresh = np.zeros((capacity, *shape), dtype=kind)
            if keep:
                fresh[:keep] = old[name][:keep]
            setattr(self, name, fresh)

    def clear(self):
        """Forget the shapes, keep the memory."""
        self.count = self.point_count = 0
        self.use_point_colors = self.use_point_radii = False

    def reserve(self, shapes, points):
        """Make room for so many more; returns the index of the first new shape and of its first point."""
        if self.count + shapes > len(self.kinds):
            self._shapes(2 * (self.count + shapes), self.count)
        if self.point_count + points > len(self.points):
            self._points(2 * (self.point_count + points), self.point_count)
        start, begin = self.count, self.point_count
        self.count += shapes
        self.point_count += points
        return start, begin

    def discs(self, centers, radii, colors, edge=0, edge_width=0.0, shine=0.0):
        """n discs in one call: centers (n, 2), radii, colors, edge: one or (n). Returns the index of the
        first."""
        n = len(centers)
        start, begin = self.reserve(n, n)
        rows = slice(start, start + n)
        self.points[begin : begin + n] = centers
        self.kinds[rows] = DISC
        self.first[rows] = np.arange(begin, begin + n, dtype=np.int32)
        self.length[rows] = 1
        self._paint(rows, radii, colors, edge, edge_width, shine)
        return start

    def polygon(self, points, color):
        """A filled polygon of any shape, points (n, 2)."""
        return self._run(POLYGON, points, 0.0, color, 0, 0.0, 0.0)

    def line(
        self,
        points,
        half_width,
        color,
        closed=False,
        edge=0,
        edge_width=0.0,
        shine=0.0,
        radii=None,
        colors=None,
    ):
        """A thick line with round joins and caps through points (n, 2).

        radii (n): half width at each point instead of one for all. colors (n): colour from point to point.
        """
        kind = COLORED_LINE if colors is not None else LOOP if closed else LINE
        start = self._run(kind, points, half_width, color, edge, edge_width, shine)
        run = slice(self.first[start], self.first[start] + self.length[start])
        if colors is not None:
            self.use_point_colors = True
            self.point_colors[run] = colors
        if radii is not None or self.use_point_radii:
            if not self.use_point_radii:
                self.point_radii[: self.point_count] = np.repeat(
                    self.params[: self.count, 0], self.length[: self.count]
                )
            self.use_point_radii = True
            self.point_radii[run] = half_width if radii is None else radii
        return start

    def _run(self, kind, points, half_width, color, edge, edge_width, shine):
        n = len(points)
        start, begin = self.reserve(1, n)
        self.points[begin : begin + n] = points
        self.kinds[start], self.first[start], self.length[start] = kind, begin, n
        self._paint(slice(start, start + 1), half_width, color, edge, edge_width, shine)
        return start

    def _paint(self, rows, radii, colors, edge, edge_width, shine):
        self.params[rows, 0] = radii
        self.params[rows, 1] = edge_width
        self.params[rows, 2] = shine
        self.colors[rows, 0] = colors
        self.colors[rows, 1] = edge


class Canvas:
    """A target Surface (24 or 32 bits a pixel, any channel order, subsurfaces and locked ones too) with the
    scratch memory that drawing on it needs. Buffers are made once and reused."""

    def __init__(self, surface):
        pixel_info(surface)
        self.surface = surface
        self._threads = 0
        self._width = 0
        self.begin()

    def begin(self):
        """Read the surface's size, layout and clip again; call it once a frame."""
        self.info = pixel_info(self.surface)
        self.size = (int(self.info[0]), int(self.info[1]))
        threads = get_threads()
        if threads != self._threads or self.size[0] != self._width:
            cover, spans = raster.scratch_sizes(self.size[0], threads)
            self.cover = np.zeros(cover, dtype=np.float32)
            self.spans = np.zeros(spans, dtype=np.int32)
            self._threads, self._width = threads, self.size[0]

    @property
    def threads(self):
        """Threads that the scratch memory is made for."""
        return self._threads

    def draw(self, shapes):
        """Lay a ShapeList. Returns None, or the indices of shapes with points that cannot be drawn."""
        n = shapes.count
        if not n or not self.size[0] or not self.size[1]:
            return None
        raster.draw(
            self.surface.get_buffer(),
            self.info,
            n,
            shapes.kinds,
            shapes.first,
            shapes.length,
            shapes.params,
            shapes.colors,
            shapes.points,
            shapes.point_colors if shapes.use_point_colors else _NO_COLORS,
            shapes.point_radii if shapes.use_point_radii else _NO_RADII,
            shapes.rows,
            shapes.bad,
            self.cover,
            self.spans,
            self._threads,
        )
        bad = shapes.bad[:n]
        return np.flatnonzero(bad) if bad.any() else None

    def strip(self, points, lengths, half_width, picture, scale, opacity=255, smooth=True):
        """Lay a line covered by a repeating picture (raster.draw_strip). Returns how many points were left
        out."""
        texels = as_texture(picture)
        return raster.draw_strip(
            self.surface.get_buffer(),
            self.info,
            points,
            lengths,
            half_width,
            texels.get_buffer(),
            pixel_info(texels, "texture"),
            scale,
            opacity,
            smooth,
            self.cover,
            self.spans,
            self._threads,
        )


def as_texture(picture):
    """The picture itself when kernels can read it (4 bytes a pixel, no colour key), else a copy that they
    can."""
    if not isinstance(picture, pygame.Surface):
        raise TypeError(f"texture must be a pygame.Surface, got {picture!r}")
    if picture.get_bytesize() == 4 and picture.get_colorkey() is None and not any(picture.get_losses()[:3]):
        return picture
    copy = pygame.Surface(picture.get_size(), pygame.SRCALPHA, 32)
    opacity = picture.get_alpha()
    if opacity is not None:
        picture = picture.copy()
        picture.set_alpha(None)
    copy.blit(picture, (0, 0))
    if opacity is not None:
        copy.set_alpha(opacity)
    return copy
