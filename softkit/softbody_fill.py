"""The inside of outlines: points, triangles, and how inner points follow the outline."""

from __future__ import annotations

import numpy as np

from softkit.softbody_shapes import signed_area

FINE = 12
"""Inner points lie about this many to the size of an outline, unless its own pieces are longer."""
MOST_INNER = 400


def inside(points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """(m,) whether points (m, 2) lie inside a closed outline (n, 2), by crossings of a ray."""
    a, b = ring, np.roll(ring, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    spans = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(b[:, 1] == a[:, 1], 1.0, b[:, 1] - a[:, 1])
    at = a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])
    return (spans & (x < at)).sum(axis=1) % 2 == 1


def distance_to(points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """(m,) distance of points (m, 2) from a closed outline (n, 2)."""
    a = ring
    way = np.roll(ring, -1, axis=0) - a
    square = np.maximum((way * way).sum(axis=1), 1e-300)
    off = points[:, None] - a
    share = np.clip((off * way).sum(axis=2) / square, 0.0, 1.0)
    return np.sqrt(((off - share[..., None] * way) ** 2).sum(axis=2)).min(axis=1)


def inner_points(ring: np.ndarray, spacing: float | None = None) -> np.ndarray:
    """(m, 2) points inside a closed outline on a grid of equal triangles, `spacing` apart (default: about a
    twelfth of the size, at most MOST_INNER points), none near the outline."""
    low, high = ring.min(axis=0), ring.max(axis=0)
    size = float((high - low).max())
    if spacing is None:
        pieces = np.hypot(*(np.roll(ring, -1, axis=0) - ring).T)
        spacing = max(size / FINE, min(float(pieces.mean()), size / 4))
        spacing = max(spacing, float(np.sqrt((high - low).prod() / MOST_INNER)))
    row = 0.8660254037844386 * spacing
    rows = np.arange(int((high[1] - low[1]) / row) + 2)
    columns = np.arange(int((high[0] - low[0]) / spacing) + 2)
    x, y = np.meshgrid(columns, rows)
    grid = np.stack([(x + 0.5 * (y % 2)) * spacing, (y + 0.5) * row], axis=-1).reshape(-1, 2)
    # A little off the grid, each point its own way: none lies on a line between two others.
    k = np.arange(len(grid))
    grid += 0.02 * spacing * np.stack([(0.618034 * k) % 1 - 0.5, (0.754878 * k) % 1 - 0.5], axis=1)
    grid += low
    grid = grid[inside(grid, ring)]
    return grid[distance_to(grid, ring) > 0.5 * spacing] if len(grid) else grid


def _turn(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    p, q = b - a, c - a
    return p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]


def clip_ears(ring: np.ndarray) -> list[tuple[int, int, int]]:
    """n - 2 triangles of a simple outline of positive area (Meisters 1975)."""
    left = list(range(len(ring)))
    found = []
    k = stuck = 0
    while len(left) > 3:
        n = len(left)
        i, j, m = left[k % n - 1], left[k % n], left[(k + 1) % n]
        a, b, c = ring[i], ring[j], ring[m]
        ear = _turn(a, b, c) > 0.0
        if ear:
            others = np.array([q for q in left if q not in (i, j, m)])
            p = ring[others]
            held = (_turn(a, b, p) >= 0.0) & (_turn(b, c, p) >= 0.0) & (_turn(c, a, p) >= 0.0)
            ear = not held.any()
        # Where rounding leaves no ear, one is cut all the same: the outline stays covered.
        if ear or stuck > n:
            found.append((i, j, m))
            del left[k % n]
            k, stuck = max(k - 1, 0), 0
        else:
            k, stuck = (k + 1) % n, stuck + 1
    return [*found, (left[0], left[1], left[2])]


class _Triangles:
    """A triangulation as the apex of every directed edge; edges of the outline are never turned."""

    def __init__(self, points: np.ndarray, triangles: list[tuple[int, int, int]]) -> None:
        self.points = points
        self.places = points.tolist()
        self.apex: dict[tuple[int, int], int] = {}
        for a, b, c in triangles:
            self.put(a, b, c)
        self.settle(list(self.apex))

    def put(self, a: int, b: int, c: int) -> None:
        self.apex[a, b], self.apex[b, c], self.apex[c, a] = c, a, b

    def settle(self, edges: list[tuple[int, int]]) -> None:
        """Turn edges until each triangle's circle holds no corner across it (Lawson 1977)."""
        turns = 50 * len(self.places) + 1000
        while edges and turns:
            a, b = edges.pop()
            c, d = self.apex.get((a, b)), self.apex.get((b, a))
            if c is None or d is None or not self._holds(a, b, c, d):
                continue
            del self.apex[a, b], self.apex[b, a]
            self.put(a, d, c)
            self.put(d, b, c)
            edges += [(a, d), (d, b), (b, c), (c, a)]
            turns -= 1

    def _holds(self, a: int, b: int, c: int, d: int) -> bool:
        """Is d inside the circle through a, b and c, by more than rounding?"""
        x, y = self.places[d]
        rows = []
        for k in (a, b, c):
            u, v = self.places[k][0] - x, self.places[k][1] - y
            rows.append((u, v, u * u + v * v))
        (p, q, r), (s, t, u), (v, w, z) = rows
        value = p * (t * z - u * w) - q * (s * z - u * v) + r * (s * w - t * v)
        return value > 1e-12 * (abs(r) + abs(u) + abs(z)) ** 2

    def all(self) -> np.ndarray:
        rows = [(a, b, c) for (a, b), c in self.apex.items() if a < b and a < c]
        return np.array(sorted(rows), np.int32).reshape(-1, 3)

    def insert(self, k: int) -> None:
        """Point k into the triangle that it lies in."""
        rows, p = self.all(), self.points[k]
        a, b, c = (self.points[rows[:, j]] for j in range(3))
        least = np.minimum(np.minimum(_turn(a, b, p), _turn(b, c, p)), _turn(c, a, p))
        a, b, c = rows[int(np.argmax(least))].tolist()
        for edge in ((a, b), (b, c), (c, a)):
            del self.apex[edge]
        self.put(a, b, k)
        self.put(b, c, k)
        self.put(c, a, k)
        self.settle([(a, b), (b, c), (c, a)])


def triangulate(ring: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """(t, 3) triangles over an outline's corners, then the inner points, turned as the outline is; Delaunay
    but for the outline's edges, which all stay."""
    points = np.concatenate([ring, inner])
    turned = signed_area(ring) < 0.0
    if turned:
        points = points * (1.0, -1.0)
    mesh = _Triangles(points, clip_ears(points[: len(ring)]))
    for k in range(len(ring), len(points)):
        mesh.insert(k)
    return mesh.all()


def mean_value_weights(points: np.ndarray, ring: np.ndarray) -> np.ndarray:
    """(m, n) mean value coordinates of inner points in an outline, concave ones too (Hormann, Floater 2006):
    weights @ ring gives the points, and follows every affine map of the outline exactly."""
    off = ring[None] - points[:, None]
    away = np.sqrt((off * off).sum(axis=2))
    after, far = np.roll(off, -1, axis=1), np.roll(away, -1, axis=1)
    cross = off[..., 0] * after[..., 1] - off[..., 1] * after[..., 0]
    dot = (off * after).sum(axis=2)
    bottom = away * far + dot
    half = np.where(np.abs(bottom) > 1e-300, cross / np.where(bottom == 0.0, 1.0, bottom), 0.0)
    weights = (half + np.roll(half, 1, axis=1)) / np.maximum(away, 1e-300)
    return weights / weights.sum(axis=1, keepdims=True)
