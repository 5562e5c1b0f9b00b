"""What drawing a soft body needs of its rest shape: smooth outlines, triangles, places in the picture."""

import numpy as np

from softkit.render.mesh import Mesh
from softkit.softbody_fill import inner_points, mean_value_weights, triangulate

CREASE = 0.766  # cosine of 40 degrees: sharper edges of the rest shape are drawn sharp


class Outlines:
    """Closed outlines of several bodies in one array, each edge cut into `pieces` by a smooth curve.

    rings: the outlines' lengths. pieces: of each edge, one number for each outline.
    """

    def __init__(self, rings, pieces):
        rings, pieces = np.asarray(rings), np.asarray(pieces)
        start = np.concatenate([[0], np.cumsum(rings)])
        number = np.arange(start[-1])
        first, length = np.repeat(start[:-1], rings), np.repeat(rings, rings)
        after = [first + (number - first + k) % length for k in (-1, 0, 1, 2)]
        count = np.repeat(pieces, rings)
        self.around = [np.repeat(k, count) for k in after]
        ends = np.cumsum(count)
        t = (np.arange(ends[-1]) - np.repeat(ends - count, count)) / np.repeat(count, count)
        # Catmull and Rom 1974: through every point, the slope there that of the chord over its neighbours.
        self.weights = (
            ((-0.5 * t + 1.0) * t - 0.5) * t,
            (1.5 * t - 2.5) * t * t + 1.0,
            ((-1.5 * t + 2.0) * t + 0.5) * t,
            (0.5 * t - 0.5) * t * t,
        )
        self.length = rings * pieces
        self.first = np.concatenate([[0], np.cumsum(self.length)])[:-1]
        number = np.arange(len(t))
        first, length = np.repeat(self.first, self.length), np.repeat(self.length, self.length)
        self.before, self.after = first + (number - first - 1) % length, first + (number - first + 1) % length

    def smooth(self, points):
        """(m, 2) points of the curves from those of the outlines."""
        out = self.weights[0][:, None] * points[self.around[0]]
        for weight, where in zip(self.weights[1:], self.around[1:]):
            out += weight[:, None] * points[where]
        return out

    def normals(self, points):
        """(m, 2) unit normals of the curves, to the left of their way."""
        way = points[self.after] - points[self.before]
        length = np.hypot(way[:, 0], way[:, 1])
        return np.stack([way[:, 1], -way[:, 0]], axis=1) / np.maximum(length, 1e-12)[:, None]


def ring_normals(ring):
    """(n, 2) normals at an outline's corners that move its edges by one, outward where it turns from x to y;
    at sharp corners no longer than 2."""
    way = np.roll(ring, -1, axis=0) - ring
    way = np.stack([way[:, 1], -way[:, 0]], axis=1) / np.maximum(np.hypot(*way.T), 1e-12)[:, None]
    both = way + np.roll(way, 1, axis=0)
    square = np.maximum((both * both).sum(axis=1), 1e-12)
    return both * np.minimum(2.0 / square, 2.0 / np.sqrt(square))[:, None]


class PlanarSkin:
    """Triangles and a picture over a planar body: its outline, `radius` farther out, and points inside.

    Inner points of a body without cells of its own follow the outline by mean value coordinates.
    """

    def __init__(self, body):
        rest = np.asarray(body.rest_shape)
        self.ring = np.asarray(body.outline)
        self.sign = 1.0 if _area(rest[self.ring]) >= 0.0 else -1.0
        cells = np.asarray(body.triangles)
        if len(cells):
            self.weights = None
            points = rest.copy()
        else:
            inner = inner_points(rest[self.ring])
            self.weights = mean_value_weights(inner, rest[self.ring])
            cells = triangulate(rest[self.ring], inner)
            points = np.concatenate([rest[self.ring], inner])
        self.edge = self.ring if self.weights is None else np.arange(len(self.ring))
        self.mesh = Mesh(cells, len(points))
        self.grow(points, body.radius)
        self.radius = body.radius
        low = points.min(axis=0)
        size = np.maximum(points.max(axis=0) - low, 1e-12)
        self.uvs = np.ascontiguousarray((points - low) / size)
        self.points = np.zeros((len(points), 3))
        self.screen = np.zeros((len(points), 3))

    def grow(self, points, radius):
        """Move the outline's points out by `radius`."""
        points[self.edge, :2] += radius * self.sign * ring_normals(points[self.edge, :2])

    def follow(self, live):
        """Places of the skin's points, (n, 3), from the body's."""
        if self.weights is None:
            self.points[:, :2] = live
        else:
            ring = live[self.ring]
            self.points[: len(ring), :2] = ring
            base = ring[0]
            self.points[len(ring) :, :2] = base + self.weights @ (ring - base)
        self.grow(self.points, self.radius)
        return self.points


def _area(ring):
    x, y = (ring - ring[0]).T
    return 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))


class SolidSkin:
    """A 3-D body's surface with sharp edges where its rest shape has them, and a picture.

    The picture lies on the rest shape as on a box: on each side, seen along the axis that the side faces
    most, over the body's whole extent. uvs: (count, 2) places in the picture for each of the body's particles
    instead.
    """

    def __init__(self, body, uvs=None):
        rest, faces = np.asarray(body.rest_shape), np.asarray(body.triangles)
        normal = _face_normals(rest, faces)
        size = np.linalg.norm(normal, axis=1, keepdims=True)
        unit = normal / np.maximum(size, 1e-300)
        side = np.argmax(np.abs(unit), axis=1)
        side = np.where(np.take_along_axis(unit, side[:, None], 1)[:, 0] < 0.0, side + 3, side)
        smooth = _corners(faces, lambda i, j: float(unit[i] @ unit[j]) > CREASE)
        pages = side if uvs is None else np.zeros(len(side), int)
        page = _corners(faces, lambda i, j: float(unit[i] @ unit[j]) > CREASE and pages[i] == pages[j])
        # A drawn vertex for each (smooth group, page) at a particle; normals are shared over a smooth group.
        _, first, self.corner = np.unique(page, return_index=True, return_inverse=True)
        self.corner = self.corner.reshape(-1)
        self.particle = faces.reshape(-1)[first]
        groups, self.smooth_corner = np.unique(smooth, return_inverse=True)
        self.smooth_corner = self.smooth_corner.reshape(-1)
        self.group = self.smooth_corner[first]
        self.groups = len(groups)
        self.faces, self.count = faces, len(rest)
        # Every smooth group at a particle once: its surface moves out along the normals of all of them.
        pairs = np.unique(np.stack([faces.reshape(-1), self.smooth_corner], axis=1), axis=0)
        self.pair_particle, self.pair_group = pairs.T
        self.sides = np.maximum(np.bincount(self.pair_particle, minlength=self.count), 1)
        self.mesh = Mesh(self.corner.reshape(-1, 3), len(self.particle))
        if uvs is None:
            self.uvs = _box_uvs(rest[self.particle], side[first // 3], rest)
        else:
            self.uvs = np.ascontiguousarray(np.asarray(uvs, dtype=np.float64)[self.particle])
        self.screen = np.zeros((len(self.particle), 3))

    def follow(self, live, radius):
        """(places, normals) of the drawn vertices, (n, 3) each, from the body's places (count, 3): the
        surface `radius` wu outside of them."""
        normal = np.repeat(_face_normals(live, self.faces), 3, axis=0)
        total = _sums(self.smooth_corner, normal, self.groups)
        total /= np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-300)
        out = _sums(self.pair_particle, total[self.pair_group], self.count)
        square = np.maximum((out * out).sum(axis=1), 1e-12)
        out *= (radius * np.minimum(self.sides / square, 2.0 / np.sqrt(square)))[:, None]
        return (live + out)[self.particle], total[self.group]


def _sums(where, rows, count):
    """(count, 3) sums of rows (k, 3) by the place they belong to."""
    return np.stack([np.bincount(where, rows[:, k], count) for k in range(3)], axis=1)


def _face_normals(points, faces):
    a, b, c = (points[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _corners(faces, together):
    """(3 f) a name for each corner of each triangle: the same for corners of triangles that share an edge
    there and go together."""
    name = np.arange(3 * len(faces))

    def root(i):
        while name[i] != i:
            name[i] = name[name[i]]
            i = name[i]
        return i

    rows, beside = faces.tolist(), {}
    for f, row in enumerate(rows):
        for k in range(3):
            beside[row[k], row[(k + 1) % 3]] = (f, k)
    for (a, b), (f, k) in beside.items():
        other = beside.get((b, a))
        if a < b and other is not None and together(f, other[0]):
            g, m = other
            for one, two in ((3 * f + k, 3 * g + (m + 1) % 3), (3 * f + (k + 1) % 3, 3 * g + m)):
                one, two = root(one), root(two)
                name[max(one, two)] = min(one, two)
    return np.array([root(i) for i in range(len(name))])


def _box_uvs(points, side, rest):
    """Places in the picture on the six sides of the rest shape's box, upright and unmirrored from outside."""
    low = rest.min(axis=0)
    share = (points - low) / np.maximum(np.ptp(rest, axis=0), 1e-12)
    across = np.where(side % 3 == 0, share[:, 2], share[:, 0])
    # Seen from outside with y down: on +x z runs to the left, on -z x runs to the left.
    across = np.where((side == 0) | (side == 5), 1.0 - across, across)
    down = np.where(side % 3 == 1, share[:, 2], share[:, 1])
    down = np.where(side == 4, down, np.where(side == 1, 1.0 - down, down))
    return np.ascontiguousarray(np.stack([across, down], axis=1))
