"""A world on disk: written whole or not at all, and read without executing anything.

Layout: 8 bytes of magic, version and length of the names as little-endian u32, a SHA-256 digest of all that
follows, the names of the bodies (JSON, empty where the game gave none), a snapshot (see `softkit.snapshot`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from softkit import snapshot

if TYPE_CHECKING:
    import pymunk

    from softkit.world import World

MAGIC = b"softsave"
VERSION = 1
HEAD = struct.Struct("<8sII32s")

Key = Callable[["pymunk.Body"], Any]


def write_whole(path: Any, data: bytes) -> None:
    """Write a file so that whoever looks finds the old content or the new one, even after a power cut."""
    path = os.fspath(path)
    folder = os.path.dirname(os.path.abspath(path))
    handle, beside = tempfile.mkstemp(prefix=".saving-", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # mkstemp lets nobody else read; a saved game is an ordinary file, or keeps the mode it had.
        with contextlib.suppress(OSError):
            os.chmod(beside, os.stat(path).st_mode & 0o777 if os.path.exists(path) else 0o644)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    # A rename is on the disk only when its folder is; Windows can neither open nor sync one.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _names(world: World, key: Key | None) -> list:
    """What `key` calls each body of the space, in the space's order."""
    if key is None:
        return []
    if not callable(key):
        raise TypeError(f"key must be a function of a body, or None, got {key!r}")
    names = [key(body) for body in snapshot.body_list(world)]
    for name in names:
        if isinstance(name, bool) or not isinstance(name, str | int):
            raise TypeError(f"key must give a str or an int for each body, got {name!r}")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"key must give each body a name of its own, got {twice!r} twice")
    return names


def save(world: World, path: Any, key: Key | None = None) -> None:
    """See `World.save`."""
    names = _names(world, key)
    text = json.dumps(names).encode() if key is not None else b""
    rest = text + snapshot.save(world)
    write_whole(path, HEAD.pack(MAGIC, VERSION, len(text), hashlib.sha256(rest).digest()) + rest)


def load(world: World, path: Any, key: Key | None = None) -> None:
    """See `World.load`."""
    path = os.fspath(path)
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < HEAD.size or data[:8] != MAGIC:
        raise ValueError(f"path must be a world saved by softkit, got {path!r}")
    _, version, size, digest = HEAD.unpack_from(data)
    if version > VERSION:
        raise ValueError(
            f"path must be a saved world of version {VERSION} or older, got version {version} in {path!r}: "
            "it was saved by a newer softkit"
        )
    rest = data[HEAD.size :]
    if version < 1 or size > len(rest) or hashlib.sha256(rest).digest() != digest:
        raise ValueError(f"path must be a whole saved world, got {path!r}, which is damaged")
    snapshot.load(world, rest[size:], _matched(world, rest[:size], key, path))


def _matched(world: World, text: bytes, key: Key | None, path: Any) -> list | None:
    """The space's bodies in the order in which they were saved; None: as they are."""
    names = _names(world, key)
    if key is None:
        return None
    try:
        saved = json.loads(text) if text else None
    except (ValueError, RecursionError):
        saved = None
    if not isinstance(saved, list) or not all(type(name) in (str, int) for name in saved):
        raise ValueError(f"path must be a world saved with a key, got {path!r}")
    by_name = dict(zip(names, snapshot.body_list(world)))
    missing = [name for name in saved if name not in by_name]
    if missing:
        raise ValueError(f"key must give every saved body its name, {missing[0]!r} is not in the space")
    if len(set(saved)) < len(saved) or len(saved) < len(names):
        extra = next((name for name in names if name not in saved), saved[0])
        raise ValueError(f"key must give the saved bodies' names and no other, got {extra!r}")
    return [by_name[name] for name in saved]
