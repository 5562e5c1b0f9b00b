"""The debug layer: particles, constraints by strain, anchors, contacts and fields."""

import numpy as np

from softkit.render import colors
from softkit.render.painter import body_pose, live_points

PARTICLE, PINNED, ANCHOR, CONTACT, FIELD = 0x202830FF, 0xD8362CFF, 0x9C3FD0FF, 0xE0218AFF, 0x2C8F5CB0
FULL_STRAIN = 0.05  # strain that is drawn in the ramp's last colour
ARROW_SPACING = 48  # pixels between sampled points of a field


class DebugLayer:
    """Drawn over everything else by `View.draw_debug` or with `View.debug = True`."""

    def __init__(self, view):
        self.view = view

    def draw(self, world):
        """All of it, for one world."""
        shapes = self.view.shapes
        shapes.clear()
        points = {}
        for obj in world.objects:
            if not hasattr(obj, "positions") or not len(obj.positions):
                continue
            points[id(obj)] = self.view.camera.to_screen(live_points(world, obj, self.view.interpolate))[
                :, :2
            ]
            self._links(shapes, obj, points[id(obj)])
        for obj in world.objects:
            if id(obj) in points:
                self._particles(shapes, world, obj, points[id(obj)])
        self._contacts(shapes, world, points)
        self._fields(shapes, world)
        self.view.canvas.draw(shapes)

    def _links(self, shapes, obj, screen):
        pairs, strain = links(obj)
        if pairs is None or not len(pairs):
            return
        paint = colors.ramp(strain / FULL_STRAIN, 0x2F6FD8FF, 0x58B368FF, 0xE03C31FF)
        self._segments(shapes, screen[pairs[:, 0]], screen[pairs[:, 1]], 0.9, paint)

    @staticmethod
    def _segments(shapes, a, b, half, paint):
        """n separate lines in one go."""
        n = len(a)
        start, begin = shapes.reserve(n, 2 * n)
        shapes.points[begin : begin + 2 * n : 2] = a
        shapes.points[begin + 1 : begin + 2 * n : 2] = b
        rows = slice(start, start + n)
        shapes.kinds[rows] = 1
        shapes.first[rows] = np.arange(begin, begin + 2 * n, 2, dtype=np.int32)
        shapes.length[rows] = 2
        shapes.params[rows] = (half, 0, 0, 0)
        shapes.colors[rows, 0] = paint
        shapes.colors[rows, 1] = 0

    def _particles(self, shapes, world, obj, screen):
        inverse = np.asarray(getattr(obj, "inverse_mass", np.ones(len(screen))))
        paint = (
            np.where(inverse == 0, np.uint32(PINNED), np.uint32(PARTICLE))
            if len(inverse) == len(screen)
            else PARTICLE
        )
        whole = getattr(obj, "integrity", None)
        if whole is not None:
            ring = colors.ramp(1.0 - whole, 0xFFFFFFFF, 0xF0A030FF, 0xE03C31FF)
            shapes.discs(screen, 3.2, ring)
        shapes.discs(screen, 2.2, paint)
        for body, local in getattr(obj, "attachments", {}).values():
            x, y, angle = body_pose(world, body, self.view.interpolate)
            cos, sin = np.cos(angle), np.sin(angle)
            at = (x + cos * local[0] - sin * local[1], y + sin * local[0] + cos * local[1])
            at = self.view.camera.to_screen(np.array([at]))
            shapes.discs(at, 5.0, 0, edge=ANCHOR, edge_width=1.6)

    def _contacts(self, shapes, world, points):
        contacts = getattr(world, "contacts", None)
        if contacts is None or not len(contacts):
            return
        for contact in contacts:
            screen = points.get(id(getattr(contact, "object", None)))
            if screen is None or not 0 <= contact.particle < len(screen):
                continue
            at = screen[contact.particle]
            base = self.view.camera.to_world(np.array([at]))
            tip = self.view.camera.to_screen(base + np.asarray(contact.normal)[:2])
            way = tip[0] - at
            length = float(np.hypot(*way)) or 1.0
            shapes.line(np.array([at, at + way * (12 / length)]), 1.1, CONTACT)
            shapes.discs(at[None], 3.0, CONTACT)

    def _fields(self, shapes, world):
        fields = [f for f in getattr(world, "fields", None) or () if getattr(f, "enabled", True)]
        if not fields:
            return
        width, height = self.view.canvas.size
        x, y = np.meshgrid(
            np.arange(ARROW_SPACING / 2, width, ARROW_SPACING),
            np.arange(ARROW_SPACING / 2, height, ARROW_SPACING),
        )
        screen = np.stack([x.ravel(), y.ravel()], axis=1)
        place = self.view.camera.to_world(screen)
        for field in fields:
            value = np.asarray(field.sample(place, time=world.time), dtype=np.float64)[:, :2]
            tips = self.view.camera.to_screen(place + value) - screen
            size = np.hypot(tips[:, 0], tips[:, 1])
            top = np.nanmax(size, initial=0.0)
            keep = size > 1e-3 * top if top > 0 else np.zeros(len(size), dtype=bool)
            # square root: weak places stay visible beside strong ones
            way = tips[keep] / size[keep, None]
            tips = way * (np.sqrt(size[keep] / top) * ARROW_SPACING * 0.8)[:, None] if top > 0 else tips[keep]
            self._arrows(shapes, screen[keep] - tips / 2, tips)

    def _arrows(self, shapes, start, way):
        end = start + way
        side = np.stack([-way[:, 1], way[:, 0]], axis=1)
        self._segments(shapes, start, end, 0.8, FIELD)
        self._segments(shapes, end, end - 0.3 * way + 0.16 * side, 0.8, FIELD)
        self._segments(shapes, end, end - 0.3 * way - 0.16 * side, 0.8, FIELD)


def links(obj):
    """Pairs of particles (m, 2) joined by a constraint, and their strain (m): stretch over rest length.

    An object may offer `links` and their `load` (part of what breaks them: 1 is the ramp's last colour), or
    `edges` and their `strain`; else a rope's points are joined in order and a
    mesh's along its triangles' edges (strain 0 where the object does not say).
    """
    if hasattr(obj, "load"):
        return np.asarray(obj.links), np.minimum(obj.load, 1.0) * FULL_STRAIN
    pairs = getattr(obj, "edges", None)
    if pairs is not None:
        strain = np.asarray(getattr(obj, "strain", np.zeros(len(pairs))))
        return np.asarray(pairs), strain if len(strain) == len(pairs) else np.zeros(len(pairs))
    count = len(obj.positions)
    if hasattr(obj, "segments"):
        first = np.arange(count - 1)
        rest = np.asarray(getattr(obj, "_rest", np.full(count - 1, obj.rest_length / max(count - 1, 1))))
        length = np.linalg.norm(np.diff(obj.positions, axis=0), axis=1)
        return np.stack([first, first + 1], axis=1), length / np.maximum(rest, 1e-12) - 1
    triangles = getattr(obj, "triangles", None)
    if triangles is None or not len(triangles):
        return None, None
    triangles = np.asarray(triangles)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    return edges, np.zeros(len(edges))
