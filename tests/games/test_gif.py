"""The GIF writer, read back by a decoder written from the format's specification."""

import numpy as np
import pygame
import pytest

from games.shell.gif import GifWriter, compress


def unpack_lzw(data: bytes, minimum: int = 8) -> bytes:
    """GIF89a appendix F, the reading side."""
    clear, end = 1 << minimum, (1 << minimum) + 1
    number = int.from_bytes(data, "little")
    at, width = 0, minimum + 1
    table: list[bytes] = []
    out, before = bytearray(), None
    while True:
        code = number >> at & (1 << width) - 1
        at += width
        if code == clear:
            table = [bytes((i,)) for i in range(clear)] + [b"", b""]
            width, before = minimum + 1, None
            continue
        if code == end:
            assert len(data) * 8 - at < 8, "bytes after the end code"
            return bytes(out)
        if before is None:
            entry = table[code]
        else:
            entry = table[code] if code < len(table) else before + before[:1]
            assert code <= len(table), f"code {code} ahead of the table ({len(table)})"
            if len(table) < 4096:
                table.append(before + entry[:1])
            if len(table) == 1 << width and width < 12:
                width += 1
        out += entry
        before = entry


def blocks(data: bytes, at: int) -> tuple[bytes, int]:
    """Join the sub-blocks that begin at `at`; also where they end."""
    out = bytearray()
    while data[at]:
        out += data[at + 1 : at + 1 + data[at]]
        at += 1 + data[at]
    return bytes(out), at + 1


def read_gif(data: bytes):
    """(size, frames as RGB arrays, delays in hundredths, loops) of a film without local palettes."""
    assert data[:6] == b"GIF89a"
    width, height = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
    assert data[10] == 0xF7, "a global palette of 256"
    palette = np.frombuffer(data[13 : 13 + 768], np.uint8).reshape(256, 3)
    at, screen, frames, delays, loops, clear = 781, np.zeros((height, width), np.uint8), [], [], None, None
    while data[at] != 0x3B:
        if data[at] == 0x21 and data[at + 1] == 0xFF:
            body, at = blocks(data, at + 2)
            loops = int.from_bytes(body[12:14], "little")
        elif data[at] == 0x21 and data[at + 1] == 0xF9:
            body, at = blocks(data, at + 2)
            assert body[0] >> 2 & 7 == 1, "frames stay under the next"
            clear = body[3] if body[0] & 1 else None
            delays.append(int.from_bytes(body[1:3], "little"))
        else:
            assert data[at] == 0x2C
            left, top, w, h = (int.from_bytes(data[at + i : at + i + 2], "little") for i in (1, 3, 5, 7))
            assert left + w <= width and top + h <= height
            assert data[at + 9] == 0 and data[at + 10] == 8
            body, at = blocks(data, at + 11)
            part = np.frombuffer(unpack_lzw(body), np.uint8).reshape(h, w)
            box = screen[top : top + h, left : left + w]
            box[part != clear] = part[part != clear]
            frames.append(palette[screen])
    assert at == len(data) - 1
    return (width, height), frames, delays, loops


@pytest.mark.parametrize("kind", ["noise", "flat", "ramp", "short", "two"])
def test_lzw_round_trip(kind):
    # Noise fills the table of 4,096 codes several times; flat makes the longest strings.
    noise = np.random.default_rng(1).integers(0, 256, 50_000).astype(np.uint8).tobytes()
    data = {
        "noise": noise,
        "flat": bytes(200_000),
        "ramp": bytes(range(256)) * 40,
        "short": b"\x07",
        "two": b"\x07\x07",
    }[kind]
    assert unpack_lzw(compress(data)) == data


def test_lzw_at_every_length_around_a_width_change():
    # Without repeats each byte adds a code: 254 bytes take the reader to 512 entries.
    data = np.random.default_rng(2).permutation(65536).astype(np.uint16).tobytes()
    for length in [*range(250, 262), *range(760, 776), *range(3830, 3850)]:
        assert unpack_lzw(compress(data[:length])) == data[:length]


def test_film_reads_back(tmp_path):
    path = tmp_path / "film.gif"
    film = GifWriter(path, (64, 40), 20)
    shown = []
    for i in range(6):
        frame = np.zeros((40, 64, 3), np.uint8)
        frame[..., 2] = np.linspace(40, 200, 40).astype(np.uint8)[:, None]
        frame[10:20, 5 + 6 * i : 15 + 6 * i] = (250, 60, 30)
        shown.append(frame)
        film.add(frame)
    film.add(shown[-1])
    size = film.close()
    data = path.read_bytes()
    assert len(data) == size
    dimensions, frames, delays, loops = read_gif(data)
    assert dimensions == (64, 40) and len(frames) == 7 and loops == 0
    assert delays == [5] * 7  # 20 frames a second exactly
    for want, got in zip(shown, frames):
        # Few colours: only the packing to 5-6-5 bits is lost, at most 8 of 255.
        assert np.abs(want.astype(int) - got).max() <= 8
    assert (frames[5] == frames[6]).all()
    first = pygame.image.load(str(path))
    assert first.get_size() == (64, 40)
    assert np.abs(pygame.surfarray.array3d(first).swapaxes(0, 1).astype(int) - shown[0]).max() <= 8


def test_many_colours_stay_close(tmp_path):
    rng = np.random.default_rng(3)
    y, x = np.mgrid[0:90, 0:160]
    frame = np.stack((x * 255 // 159, y * 255 // 89, 128 + 80 * np.sin(x / 20)), 2).astype(np.uint8)
    frame[:10] = rng.integers(0, 256, (10, 160, 3))
    film = GifWriter(tmp_path / "a.gif", (160, 90), 25)
    film.add(frame)
    film.close()
    _, (got,), _, _ = read_gif((tmp_path / "a.gif").read_bytes())
    # 255 entries over a two-dimensional blend: a cell is about 16 wide, so 8 off at the mean is far out.
    assert np.abs(frame.astype(int) - got).mean() < 8


def test_wrong_input_is_refused(tmp_path):
    with pytest.raises(ValueError, match="size"):
        GifWriter(tmp_path / "a.gif", (0, 10))
    with pytest.raises(ValueError, match="fps"):
        GifWriter(tmp_path / "a.gif", (10, 10), fps=100)
    film = GifWriter(tmp_path / "a.gif", (10, 10))
    with pytest.raises(ValueError, match="shape"):
        film.add(np.zeros((5, 10, 3), np.uint8))
    with pytest.raises(ValueError, match="frame"):
        film.close()
