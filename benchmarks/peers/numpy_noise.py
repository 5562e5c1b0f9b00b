"""Curl noise as NumPy people write it: hashed gradient noise, octaves, the curl by central differences."""

import numpy as np


def corner(ix, iy, slice_):
    h = (ix * 0x9E3779B1 + iy * 0x85EBCA77 + slice_ * 0xC2B2AE3D) & 0xFFFFFFFF
    h ^= h >> 16
    h = (h * 0x7FEB352D) & 0xFFFFFFFF
    h ^= h >> 15
    return (h & 0xFFFF) / 32767.5 - 1, (h >> 16) / 32767.5 - 1


def noise(x, y, time):
    """Gradient noise between two slices of time."""
    slice_ = int(np.floor(time))
    part = time - slice_
    ix, iy = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    fx, fy = x - ix, y - iy
    sx, sy = fx**3 * (fx * (fx * 6 - 15) + 10), fy**3 * (fy * (fy * 6 - 15) + 10)
    total = 0.0
    for i in (0, 1):
        for j in (0, 1):
            ax, ay = corner(ix + i, iy + j, slice_)
            bx, by = corner(ix + i, iy + j, slice_ + 1)
            gx, gy = ax + part * (bx - ax), ay + part * (by - ay)
            total += (sx if i else 1 - sx) * (sy if j else 1 - sy) * (gx * (fx - i) + gy * (fy - j))
    return total


def potential(x, y, time, octaves=3):
    total, size = 0.0, 1.0
    for _ in range(octaves):
        total = total + noise(x / (120 * size), y / (120 * size), time) * size
        size *= 0.5
    return total


def curl(points, time=0.0, e=1e-2):
    """(n, 2) velocities."""
    x, y = points[:, 0], points[:, 1]
    u = (potential(x, y + e, time) - potential(x, y - e, time)) / (2 * e)
    v = -(potential(x + e, y, time) - potential(x - e, y, time)) / (2 * e)
    return np.stack([u, v], axis=1)
