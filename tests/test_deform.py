"""Cages and skins on plain arrays: what each mode reproduces, seams, cracks, normals, bad input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import softkit
from softkit import deform
from softkit.deform import Cage, Skin, grid_points, part_points

SIZE = 90.0
ALL = {"mls", "mls-affine"}
TURNING = {"mls-similarity", "mls-rigid", "rotation"}


def lattice(size=2, n=10, seed=None):
    """A lattice over 0 to SIZE, shaken within a tenth of its spacing where a seed is given."""
    step = SIZE / (n - 1)
    nodes = np.stack(np.meshgrid(*[np.arange(n) * step] * size, indexing="ij"), -1).reshape(-1, size)
    if seed is not None:
        nodes += np.random.default_rng(seed).uniform(-0.1, 0.1, nodes.shape) * step
    return nodes


def lattice_links(nodes, reach):
    i, j = np.triu_indices(len(nodes), 1)
    near = np.linalg.norm(nodes[i] - nodes[j], axis=1) < reach
    return np.stack([i[near], j[near]], axis=1)


def motions(size):
    turn, shear = np.eye(size), np.eye(size)
    turn[:2, :2] = [[0, -1], [1, 0]]
    shear[0, 1] = 0.5
    return {"identity": np.eye(size), "turn": turn, "scale": 2 * np.eye(size), "shear": shear}


def promised(mode, motion):
    if motion == "identity" or mode in ALL:
        return True
    return mode in TURNING and (motion == "turn" or (motion == "scale" and mode == "mls-similarity"))


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("seed", [None, 3])
@pytest.mark.parametrize("mode", deform.MODES)
def test_motions_are_reproduced(mode, size, seed):
    """1e-4 of the size is the contract; identity is with a shift: all modes carry shifts."""
    nodes = lattice(size, 10 if size == 2 else 5, seed)
    points = grid_points([0] * size, [SIZE] * size, SIZE / 30 if size == 2 else SIZE / 12)
    vertices = np.random.default_rng(0).uniform(-2, SIZE + 2, (400, size))
    cage = Cage(nodes, points, mode=mode)
    skin = Skin(vertices, cage)
    shift = np.arange(size) * 70.0 + 11
    for name, matrix in motions(size).items():
        moved = cage.update(nodes @ matrix.T + shift)
        misses = [
            np.abs(moved - points @ matrix.T - shift).max() / SIZE,
            np.abs(skin.update() - vertices @ matrix.T - shift).max() / SIZE,
        ]
        assert (max(misses) < 1e-8) == promised(mode, name), (name, misses)


def test_blend_fails_a_quarter_turn_by_an_offset():
    """Carried offsets do not turn: a point d away from its nodes' mean place lands up to sqrt(2) d off. On a
    lattice of spacing 10 with points every 2.5 the worst is 2.4 wu, 2.7 % of the size."""
    nodes, points = lattice(), grid_points([0, 0], [SIZE, SIZE], 2.5)
    turn = motions(2)["turn"]
    cage = Cage(nodes, points, mode="blend")
    miss = np.linalg.norm(cage.update(nodes @ turn.T) - points @ turn.T, axis=1)
    off = np.linalg.norm(cage._offset, axis=1)
    np.testing.assert_allclose(miss, np.sqrt(2) * off, atol=1e-9)
    assert 0.02 < miss.max() / SIZE < 0.05
    other = Cage(nodes, points)
    assert np.abs(other.update(nodes @ turn.T) - points @ turn.T).max() < 1e-10


@pytest.mark.parametrize("mode", ["mls", "mls-similarity", "mls-rigid"])
def test_no_step_between_points(mode):
    """Along fine lines through a bent lattice no step is much longer than the others; nearest sets jump."""
    nodes = lattice(seed=5)
    rng = np.random.default_rng(8)
    now = nodes + rng.normal(0, 2.0, nodes.shape)
    line = np.stack([np.linspace(5, 85, 40001), np.linspace(11, 77, 40001)], axis=1)

    def worst(mode):
        steps = np.diff(Cage(nodes, line, mode=mode).update(now), axis=0)
        return np.linalg.norm(steps, axis=1).max() / np.linalg.norm(np.diff(line, axis=0), axis=1).mean()

    assert worst(mode) < 6.0
    assert worst("rotation") > 20.0


def cut_square(seed, n=6):
    """A square cut into n x n quads with shaken corners: the vertices and the part of each."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.linspace(0, SIZE, n + 1)] * 2, indexing="ij"), -1)
    grid[1:-1, 1:-1] += rng.uniform(-4, 4, (n - 1, n - 1, 2))
    vertices, parts = [], []
    for i in range(n):
        for j in range(n):
            ring = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
            for (a, b), (c, d) in zip(ring, ring[1:] + ring[:1]):
                for t in (0, 0.25, 0.5, 0.75):
                    vertices.append((1 - t) * grid[a, b] + t * grid[c, d])
                    if (a, b) > (c, d):  # the same numbers in the same order from both sides
                        vertices[-1] = t * grid[c, d] + (1 - t) * grid[a, b]
                    parts.append(i * n + j)
    return np.array(vertices), np.array(parts)


def pairs_of_equals(vertices):
    order = np.lexsort(np.round(vertices, 6).T)
    same = np.abs(np.diff(vertices[order], axis=0)).max(axis=1) < 1e-9
    return order[:-1][same], order[1:][same]


@pytest.mark.parametrize("mode", deform.MODES)
def test_neighbours_share_edges(mode):
    """Fragments with cages of their own, 50 random deformations: no crack, no overlap, 1e-5 wu."""
    nodes = lattice(seed=1)
    vertices, parts = cut_square(2)
    a, b = pairs_of_equals(vertices)
    assert len(a) > 200 and (parts[a] != parts[b]).all()
    points, owners = part_points(vertices, parts, 3.0)
    links = lattice_links(nodes, 18.0)
    cage = Cage(nodes, points, mode=mode, links=links, parts=owners)
    skin = Skin(vertices, cage, parts=parts)
    rng = np.random.default_rng(4)
    for _ in range(50):
        bend = rng.normal(0, 0.4, (2, 2)) + np.eye(2)
        cage.update(nodes @ bend + rng.normal(0, 3.0, nodes.shape))
        now = skin.update()
        if mode in ("rotation", "blend"):  # their sets of nodes depend on the part where a tie is broken
            assert np.median(np.abs(now[a] - now[b])) < 1e-5
        else:
            assert np.abs(now[a] - now[b]).max() < 1e-5


def shoelace(p):
    return 0.5 * abs(np.sum(p[:, 0] * np.roll(p[:, 1], -1) - p[:, 1] * np.roll(p[:, 0], -1)))


@pytest.mark.parametrize("mode", sorted(ALL | TURNING))
def test_area_of_a_turned_fragment(mode):
    nodes = lattice(seed=1)
    vertices, parts = cut_square(2)
    cage = Cage(nodes, grid_points((0, 0), (SIZE, SIZE), 3.0), mode=mode)
    skin = Skin(vertices, cage)
    for angle in np.linspace(0.1, 6.0, 13):
        c, s = np.cos(angle), np.sin(angle)
        cage.update(nodes @ [[c, s], [-s, c]] + [500, -300])
        now = skin.update()
        for part in range(36):
            own = parts == part
            assert shoelace(now[own]) == pytest.approx(shoelace(vertices[own]), rel=1e-3)


# ---------------------------------------------------------------- cracks


def cracked(nodes, links, at=45.0):
    """Links left when everything that crosses x = at is cut."""
    side = nodes[:, 0] < at
    return links[side[links[:, 0]] == side[links[:, 1]]]


def test_a_cage_never_spans_a_crack():
    nodes = lattice()
    links = lattice_links(nodes, 15.0)
    points = grid_points((0, 0), (SIZE, SIZE), 2.5)
    cage = Cage(nodes, points, links=links)
    assert cage.relink(cracked(nodes, links)) > 0
    side = nodes[:, 0] < 45
    for i in range(len(points)):
        used, _ = cage.binding(i)
        assert len(set(side[used])) == 1
    now = nodes + np.where(side[:, None], [-100.0, 0], [100.0, 7])
    moved = cage.update(now)
    home = side[cage.homes]
    expected = points + np.where(home[:, None], [-100.0, 0], [100.0, 7])
    np.testing.assert_allclose(moved, expected, atol=1e-9)


def test_a_crack_half_way_in():
    """The crack's two sides bind apart up to its tip; far from it nothing changed."""
    nodes = lattice()
    links = lattice_links(nodes, 15.0)
    side = nodes[:, 0] < 45
    crossing = (side[links[:, 0]] != side[links[:, 1]]) & (nodes[links].mean(axis=1)[:, 1] < 44)
    points = grid_points((0, 0), (SIZE, SIZE), 2.5)
    cage, fresh = Cage(nodes, points, links=links), Cage(nodes, points, links=links)
    assert cage.relink(links[~crossing]) > 0
    for i in np.flatnonzero(points[:, 1] < 25):
        used, _ = cage.binding(i)
        assert len(set(side[used])) == 1
    far = np.flatnonzero((points[:, 1] > 75) | (np.abs(points[:, 0] - 45) > 42))
    for i in far:
        np.testing.assert_array_equal(cage.binding(i)[0], fresh.binding(i)[0])


@given(st.integers(0, 2**32 - 1))
def test_relinking_equals_binding_anew(seed):
    rng = np.random.default_rng(seed)
    nodes = lattice(n=7, seed=seed % 1000)
    links = lattice_links(nodes, 22.0)
    points = rng.uniform(0, SIZE, (120, 2))
    cage = Cage(nodes, points, links=links)
    for share in (0.02, 0.1, 0.5, 0.97):
        left = links[rng.random(len(links)) > share]
        cage.relink(left)
        fresh = Cage(nodes, points, links=left, homes=cage.homes)
        now = nodes + rng.normal(0, 5, nodes.shape)
        assert np.array_equal(cage.update(now), fresh.update(now))


def test_one_lost_link_concerns_few_points():
    nodes = lattice()
    links = lattice_links(nodes, 15.0)
    cage = Cage(nodes, grid_points((0, 0), (SIZE, SIZE), 2.5), links=links)
    assert 0 < cage.relink(links[1:]) < 500
    assert cage.relink(links[1:]) == 0


def test_points_left_with_one_node_go_with_it():
    nodes = lattice(n=4)
    cage = Cage(nodes, nodes + 3.0, links=lattice_links(nodes, 31.0))
    cage.relink(np.zeros((0, 2), int))
    now = nodes + np.random.default_rng(0).normal(0, 50, nodes.shape)
    near = nodes[cage.homes]
    np.testing.assert_allclose(cage.update(now), now[cage.homes] + (nodes + 3.0 - near), atol=1e-9)


def test_a_part_goes_one_way():
    """A fragment that lies across a crack follows the side of its middle, whole."""
    nodes = lattice()
    links = cracked(nodes, lattice_links(nodes, 15.0))
    vertices = np.array([(38.0, 20), (58, 20), (58, 40), (38, 40)])
    points, owners = part_points(vertices, [0] * 4, 4.0)
    cage = Cage(nodes, points, links=links, parts=owners)
    skin = Skin(vertices, cage, parts=[0] * 4)
    cage.update(nodes + np.where(nodes[:, :1] < 45, [-100.0, 0], [100.0, 7]))
    np.testing.assert_allclose(skin.update(), vertices + [100, 7], atol=1e-9)


# ---------------------------------------------------------------- ropes, sheets, space


def test_a_picture_on_a_rope():
    """Nodes in a line: along it the picture stretches, across it keeps its distance and turns along."""
    rope = softkit.Rope((0, 0), (90, 0), segments=9)
    points = grid_points((0, -6), (90, 6), 3.0)
    cage = Cage(rope, points)
    angle = 0.7
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    now = rope.positions[:, :1] * 1.5 * along + [5, 6]
    expected = points[:, :1] * 1.5 * along + points[:, 1:] * across + [5, 6]
    np.testing.assert_allclose(cage.update(now), expected, atol=1e-9)
    np.testing.assert_allclose(cage.update(), points, atol=1e-9)
    line = Skin([(45.0, 4.0)], Cage(rope, [(x, 0) for x in range(0, 91, 5)]), normals=[(0, 1)])
    line.cage.update(now)
    np.testing.assert_allclose(line.update()[0], 67.5 * along + 4 * across + [5, 6], atol=1e-9)
    np.testing.assert_allclose(line.normals[0], across, atol=1e-12)


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_sheet_in_space(left):
    """Nodes in a plane of space: sheared in it, turned out of it; what stands on it keeps its height."""
    flat = lattice(2)
    keep = [axis for axis in range(3) if axis != left]
    nodes, points, vertices = np.zeros((len(flat), 3)), np.zeros((361, 3)), np.zeros((50, 3))
    nodes[:, keep] = flat
    points[:, keep] = grid_points((0, 0), (SIZE, SIZE), 5.0)
    rng = np.random.default_rng(0)
    vertices[:, keep] = rng.uniform(0, SIZE, (50, 2))
    vertices[:, left] = rng.uniform(-5, 5, 50)
    normals = np.eye(3)[[left] * 50]
    cage = Cage(nodes, points)
    skin = Skin(vertices, cage, normals=normals)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    shear = np.eye(3)
    shear[keep[0], keep[1]] = 0.4
    cage.update(nodes @ (turn @ shear).T + [1, 2, 3])
    np.testing.assert_allclose(skin.update(), vertices @ (turn @ shear).T + [1, 2, 3], atol=1e-9)
    np.testing.assert_allclose(skin.normals, normals @ turn.T, atol=1e-9)


def test_a_line_in_space():
    """What is round a line of nodes turns with it by the shortest way."""
    nodes = np.stack([np.arange(9) * 10.0, np.zeros(9), np.zeros(9)], axis=1)
    points = np.array([(35.0, 4, 0), (35, 0, 4)])
    moved = Cage(nodes, points).update(nodes[:, [1, 0, 2]])
    np.testing.assert_allclose(moved, [(-4, 35, 0), (0, 35, 4)], atol=1e-4)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("scattered", [False, True])
def test_normals_turn_as_surfaces_do(size, scattered):
    """Against the cofactor of the matrix itself, cell by cell and through scattered points alike."""
    rng = np.random.default_rng(3)
    nodes = lattice(size, 6)
    points = grid_points([0] * size, [SIZE] * size, 15.0)
    if scattered:
        points = rng.uniform(0, SIZE, (300, size))
    vertices = rng.uniform(10, 80, (60, size))
    normals = rng.normal(size=(60, size))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    cage = Cage(nodes, points)
    skin = Skin(vertices, cage, normals=normals)
    matrix = np.eye(size) + rng.normal(0, 0.3, (size, size))
    cage.update(nodes @ matrix.T)
    np.testing.assert_allclose(skin.update(), vertices @ matrix.T, atol=1e-7)
    turned = normals @ np.linalg.inv(matrix)
    turned /= np.linalg.norm(turned, axis=1)[:, None]
    np.testing.assert_allclose(skin.normals, turned * np.sign(np.linalg.det(matrix)), atol=1e-5)


def test_cells_are_bilinear():
    """One cell, its four corners anywhere: the formula itself, and edges that depend on their ends only."""
    corners = np.array([(0.0, 0), (0, 1), (1, 0), (1, 1)])
    now = np.array([(0.0, 0.2), (-0.3, 1.4), (1.5, 0), (2, 2)])
    cage = Cage(corners, corners)
    st_ = np.random.default_rng(0).uniform(0, 1, (100, 2))
    skin = Skin(np.concatenate([st_, [(0.25, 0), (0, 0.75)]]), cage)
    cage.update(now)
    s, t = st_[:, :1], st_[:, 1:]
    exact = (1 - s) * (1 - t) * now[0] + (1 - s) * t * now[1] + s * (1 - t) * now[2] + s * t * now[3]
    got = skin.update()
    np.testing.assert_allclose(got[:100], exact, atol=1e-7)
    np.testing.assert_allclose(got[100], 0.75 * now[0] + 0.25 * now[2], atol=1e-7)
    np.testing.assert_allclose(got[101], 0.25 * now[0] + 0.75 * now[1], atol=1e-7)


# ---------------------------------------------------------------- searches, far away, threads, input


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3]), st.integers(1, 60))
def test_nearest_nodes_are_the_nearest(seed, size, count):
    """The grid search against all distances, clusters and coincident nodes included."""
    rng = np.random.default_rng(seed)
    nodes = rng.normal(size=(count, size)) * rng.choice([1e-3, 1, 100], (count, 1))
    nodes[rng.integers(count)] = nodes[rng.integers(count)]
    points = rng.normal(size=(40, size)) * 60
    cage = Cage(nodes, points, mode="blend")
    away = np.linalg.norm(nodes[None] - points[:, None], axis=2)
    np.testing.assert_allclose(
        np.take_along_axis(away, cage._node.astype(int), axis=1), np.sort(away, axis=1)[:, : min(4, count)]
    )


@pytest.mark.parametrize("mode", deform.MODES)
def test_far_away(mode):
    """The same at x = 1,000,000 to within a double's digits there."""
    nodes, points = lattice(seed=2), grid_points((0, 0), (SIZE, SIZE), 7.5)
    now = nodes + np.random.default_rng(1).normal(0, 2, nodes.shape)
    far = np.array([1e6, -1e6])
    here = Cage(nodes, points, mode=mode)
    there = Cage(nodes + far, points + far, mode=mode)
    np.testing.assert_allclose(there.update(now + far) - far, here.update(now), atol=1e-5)
    a, b = Skin(points[::3] + 1, here), Skin(points[::3] + 1 + far, there)
    np.testing.assert_allclose(b.update() - far, a.update(), atol=1e-5)


@pytest.mark.parametrize("mode", deform.MODES)
def test_threads_give_the_same_bits(mode, monkeypatch):
    monkeypatch.setattr(deform.cage, "SERIAL_BELOW", 1)
    monkeypatch.setattr(deform.skin, "SERIAL_BELOW", 1)
    nodes, points = lattice(seed=2), grid_points((0, 0), (SIZE, SIZE), 2.0)
    now = nodes + np.random.default_rng(1).normal(0, 2, nodes.shape)
    cage = Cage(nodes, points, mode=mode)
    skin = Skin(points[::2] + 0.3, cage)
    results = []
    for threads in (1, 2, 4):
        softkit.set_threads(threads)
        results.append((cage.update(now).copy(), skin.update().copy()))
    assert all(np.array_equal(a, results[0][0]) and np.array_equal(b, results[0][1]) for a, b in results)


@pytest.mark.parametrize("mode", deform.MODES)
@pytest.mark.parametrize("size", [2, 3])
def test_degenerate_nodes_stay_finite(mode, size):
    """One node, two, coincident, in a line; collapsed to a point later."""
    points = grid_points([0] * size, [4] * size, 1.0)
    for nodes in (
        np.zeros((1, size)),
        np.eye(size)[:2],
        np.ones((5, size)),
        np.arange(4)[:, None] * np.ones(size),
    ):
        cage = Cage(nodes, points, mode=mode)
        np.testing.assert_allclose(cage.update(nodes), points, atol=1e-6)
        assert np.isfinite(cage.update(np.zeros_like(nodes))).all()
        np.testing.assert_allclose(cage.update(nodes + 7), points + 7, atol=1e-6)


GOOD = lattice(n=3)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: Cage([(0, np.nan)], GOOD), ValueError, "nodes"),
        (lambda: Cage(np.zeros((0, 2)), GOOD), ValueError, "nodes"),
        (lambda: Cage(GOOD, np.zeros((2, 3))), ValueError, "points"),
        (lambda: Cage(GOOD, np.zeros((0, 2))), ValueError, "points"),
        (lambda: Cage("nodes", GOOD), ValueError, "nodes"),
        (lambda: Cage(GOOD, GOOD, mode="magic"), ValueError, "mode.*magic"),
        (lambda: Cage(GOOD, GOOD, neighbours=0), ValueError, "neighbours.*0"),
        (lambda: Cage(GOOD, GOOD, neighbours=2.5), TypeError, "neighbours.*2.5"),
        (lambda: Cage(GOOD, GOOD, links=[(0, 9)]), IndexError, "links"),
        (lambda: Cage(GOOD, GOOD, links=[(0.5, 1)]), TypeError, "links"),
        (lambda: Cage(GOOD, GOOD, homes=[0]), ValueError, "homes"),
        (lambda: Cage(GOOD, GOOD).update(GOOD[:2]), ValueError, "nodes"),
        (lambda: Cage(GOOD, GOOD).update(GOOD + np.inf), ValueError, "nodes"),
        (lambda: Cage(GOOD, GOOD).update(), TypeError, "nodes"),
        (lambda: Skin(GOOD, GOOD), TypeError, "cage"),
        (lambda: Skin([(0, np.inf)], Cage(GOOD, GOOD)), ValueError, "vertices"),
        (lambda: Skin(GOOD, Cage(GOOD, GOOD), normals=GOOD[:1]), ValueError, "normals"),
        (lambda: Skin(GOOD, Cage(GOOD, GOOD), parts=[0] * 9), ValueError, "parts"),
        (lambda: Skin(GOOD, Cage(GOOD, GOOD, parts=[1] * 9), parts=[2] * 9), ValueError, "parts.*2"),
        (lambda: grid_points((0, 0), (1, 1), 0), ValueError, "spacing"),
        (lambda: grid_points((0, 0), (1, -1), 1), ValueError, "high"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
