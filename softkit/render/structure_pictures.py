"""Pictures of materials for structures that are given none."""

import numpy as np
import pygame

from softkit.structure_material import GLASS, RUBBER, STEEL, STONE, WOOD

MOST = 1600  # pixels along the longer side


def _streaks(shape, rng, across, along):
    """(rows, columns) smooth noise, -1 to 1, drawn out along x by `along` pixels and along y by `across`."""
    rows, columns = shape
    coarse = rng.uniform(-1.0, 1.0, (rows // across + 3, columns // along + 3))
    y, x = np.arange(rows) / across, np.arange(columns) / along
    i, j = y.astype(int), x.astype(int)
    u, v = (y - i)[:, None], (x - j)[None]
    top = coarse[i][:, j] * (1 - v) + coarse[i][:, j + 1] * v
    low = coarse[i + 1][:, j] * (1 - v) + coarse[i + 1][:, j + 1] * v
    return top * (1 - u) + low * u


def _bricks(shape, high, wide, rng):
    """(joint, shade): where the mortar is, and a shade for each brick, -1 to 1."""
    rows, columns = shape
    y, x = np.arange(rows)[:, None], np.arange(columns)[None]
    row = y // high
    shift = np.where(row % 2 == 0, 0, wide // 2)
    column = (x + shift) // wide
    table = rng.uniform(-1.0, 1.0, (int(row.max()) + 1, int(column.max()) + 1))
    joint = (y % high < max(1, high // 9)) | ((x + shift) % wide < max(1, high // 9))
    return joint, table[row + 0 * column, column + 0 * row]


def _mixed(base, shade):
    return np.clip(np.array(base)[None, None] * (1.0 + shade[..., None]), 0, 255)


def _wood(shape, unit, rng):
    plank = max(6, unit // 2)
    shade = 0.10 * _streaks(shape, rng, 3, 90) + 0.05 * _streaks(shape, rng, 1, 25)
    joint, each = _bricks(shape, plank, plank * 9, rng)
    return _mixed((172, 118, 70), shade + 0.10 * each - 0.4 * joint), 255


def _stone(shape, unit, rng):
    joint, each = _bricks(shape, max(6, unit // 2), max(10, unit), rng)
    shade = 0.12 * each + 0.06 * _streaks(shape, rng, 5, 5) + 0.04 * _streaks(shape, rng, 1, 1)
    return _mixed((150, 146, 142), shade - 0.32 * joint), 255


def _steel(shape, unit, rng):
    y, x = np.arange(shape[0])[:, None] % unit, np.arange(shape[1])[None] % unit
    shade = 0.10 * (1.0 - 2.0 * y / unit) + 0.03 * _streaks(shape, rng, 1, 30)
    seam = (y < 1) | (x < 1)
    near = np.minimum(y, unit - y) ** 2 + np.minimum(x, unit - x) ** 2
    ring = (near > (unit / 8) ** 2) & (near < (unit / 5) ** 2)
    return _mixed((112, 128, 146), shade - 0.3 * seam + 0.16 * ring), 255


def _glass(shape, unit, rng):
    y, x = np.arange(shape[0])[:, None], np.arange(shape[1])[None]
    gleam = ((x + y) % (3 * unit)) < unit * 0.5
    frame = (y % (2 * unit) < 2) | (x % (2 * unit) < 2)
    return _mixed((156, 214, 226), 0.16 * gleam + 0.12 * frame + 0.0 * x), np.where(gleam | frame, 190, 120)


def _rubber(shape, unit, rng):
    y, x = np.arange(shape[0])[:, None], np.arange(shape[1])[None]
    groove = ((x + y) % max(4, unit // 2) < 2) | ((x - y) % max(4, unit // 2) < 2)
    return _mixed((74, 68, 78), 0.05 * _streaks(shape, rng, 4, 4) - 0.25 * groove), 255


LOOKS = {WOOD: _wood, STONE: _stone, STEEL: _steel, GLASS: _glass, RUBBER: _rubber}


def paint(structure, low, high):
    """A Surface over the box from low to high (wu): each cell in its material's look, cut out along the
    outlines that the structure was made from."""
    size = high - low
    scale = min(1.0, MOST / float(size.max()))
    wide, tall = (max(2, round(float(s) * scale)) for s in size)
    rest, cells = np.asarray(structure.rest_shape), np.asarray(structure.cells)
    side = rest[cells[0, 2]] - rest[cells[0, 0]]
    unit = max(4, round(float(np.abs(side).min()) * scale))
    rng = np.random.default_rng(7)
    color, alpha = np.zeros((tall, wide, 3)), np.zeros((tall, wide))
    corner = np.round((rest[cells[:, 0]] - low) / size * (wide, tall)).astype(int)
    far = np.round((rest[cells[:, 2]] - low) / size * (wide, tall)).astype(int)
    for k, material in enumerate(structure.materials):
        mine = np.zeros((tall, wide), bool)
        for (x0, y0), (x1, y1) in zip(*(p[structure.cell_materials == k].tolist() for p in (corner, far))):
            mine[y0:y1, x0:x1] = True
        if not mine.any():
            continue
        look, opaque = LOOKS.get(material, _wood if material.yield_strain < 1e9 else _stone)(
            (tall, wide), unit, rng
        )
        color[mine], alpha[mine] = look[mine], np.broadcast_to(opaque, mine.shape)[mine]
    picture = pygame.Surface((wide, tall), pygame.SRCALPHA)
    pygame.surfarray.blit_array(picture, color.astype(np.uint8).swapaxes(0, 1))
    mask = _mask(structure.fragments, low, size, (wide, tall), picture)
    view = pygame.surfarray.pixels_alpha(picture)
    view[:] = (alpha.T * mask).astype(np.uint8)
    del view
    return picture


def _mask(fragments, low, size, pixels, picture):
    """(width, height) 0 or 1, inside the outlines; their edges are drawn dark into the picture."""
    if not fragments:
        return np.ones(pixels)
    cut = pygame.Surface(pixels)
    for ring in fragments:
        points = ((ring - low) / size * pixels).tolist()
        pygame.draw.polygon(cut, (255, 255, 255), points)
        pygame.draw.lines(picture, (38, 32, 36), True, points, 2)
    return (pygame.surfarray.array3d(cut)[..., 0] > 0).astype(float)
