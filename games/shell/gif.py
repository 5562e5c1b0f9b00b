"""A small GIF89a writer for recorded games, in numpy and plain Python.

Frames are kept as packed 5-6-5 colours until `close()`, which then picks one palette for the whole film
by median cut (Heckbert 1982), writes only the rectangle of each frame that changed, marks the unchanged
pixels in it as transparent, and packs the indices with variable-width LZW (GIF89a specification, 1990,
appendix F). Packing costs about 0.1 microseconds a changed pixel.
"""

from __future__ import annotations

import zlib

import numpy as np

COLORS = 255  # palette entries for the picture
TRANSPARENT = 255  # the one index that keeps what the frame before showed
CLEAR, END = 256, 257  # LZW codes after 8-bit indices
MAX_CODES = 4096


class GifWriter:
    """Collects RGB frames and writes them as one looping GIF.

    path: file to write. size: (width, height) in pixels. fps: frames a second, 1 to 50; the format counts
    hundredths of a second, so 20, 25 and 50 are exact.
    """

    def __init__(self, path, size, fps: float = 20) -> None:
        width, height = size
        if not (0 < width < 65536 and 0 < height < 65536):
            raise ValueError(f"size={size!r}: each side of a GIF is 1 to 65535 pixels")
        if not 1 <= fps <= 50:
            raise ValueError(f"fps={fps!r}: 1 to 50 frames a second")
        self.path, self.size = path, (width, height)
        self.delay = round(100 / fps)
        self._frames: list[bytes] = []
        self._histogram = np.zeros(65536, np.int64)

    def add(self, rgb) -> None:
        """Add one frame: uint8 array of shape (height, width, 3)."""
        rgb = np.asarray(rgb)
        width, height = self.size
        if rgb.shape != (height, width, 3):
            raise ValueError(f"rgb has shape {rgb.shape}, the film {(height, width, 3)}")
        wide = rgb.astype(np.uint16)
        packed = (wide[..., 0] >> 3) << 11 | (wide[..., 1] >> 2) << 5 | wide[..., 2] >> 3
        self._histogram += np.bincount(packed.ravel(), minlength=65536)
        self._frames.append(zlib.compress(packed.tobytes(), 1))

    def close(self) -> int:
        """Write the file; returns its size in bytes."""
        if not self._frames:
            raise ValueError("a GIF needs at least one frame")
        palette, lookup = quantise(self._histogram)
        width, height = self.size
        out = bytearray(b"GIF89a")
        out += width.to_bytes(2, "little") + height.to_bytes(2, "little") + bytes((0xF7, 0, 0))
        out += palette.tobytes()
        out += b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"  # loop for ever
        before = None
        for data in self._frames:
            packed = np.frombuffer(zlib.decompress(data), np.uint16).reshape(height, width)
            frame = lookup[packed]
            out += self._image(frame, before)
            before = frame
        out += b"\x3b"
        with open(self.path, "wb") as file:
            file.write(out)
        return len(out)

    def _image(self, frame, before) -> bytes:
        """One frame's blocks: control extension, image descriptor, compressed indices."""
        left, top, part = 0, 0, frame
        if before is not None:
            changed = frame != before
            rows, columns = np.flatnonzero(changed.any(1)), np.flatnonzero(changed.any(0))
            if len(rows):
                top, left = int(rows[0]), int(columns[0])
                box = slice(top, rows[-1] + 1), slice(left, columns[-1] + 1)
            else:
                box = slice(0, 1), slice(0, 1)
            part = np.where(changed[box], frame[box], TRANSPARENT).astype(np.uint8)
        head = b"\x21\xf9\x04\x05" + self.delay.to_bytes(2, "little") + bytes((TRANSPARENT, 0)) + b"\x2c"
        for number in (left, top, part.shape[1], part.shape[0]):
            head += number.to_bytes(2, "little")
        data = compress(part.tobytes())
        blocks = b"".join(
            bytes((len(data[i : i + 255]),)) + data[i : i + 255] for i in range(0, len(data), 255)
        )
        return head + b"\x00\x08" + blocks + b"\x00"


def quantise(histogram) -> tuple[np.ndarray, np.ndarray]:
    """(palette of 256 RGB entries, index of each of the 65536 packed colours) by median cut.

    Counts enter as their square root: a large sky would otherwise take the entries that a small hero needs.
    """
    used = np.flatnonzero(histogram)
    red, green, blue = used >> 11, used >> 5 & 63, used & 31
    colors = np.stack((red * 255 // 31, green * 255 // 63, blue * 255 // 31), 1).astype(np.float64)
    weight = np.sqrt(histogram[used].astype(np.float64))
    boxes = [_box(np.arange(len(used)), colors, weight)]
    while len(boxes) < COLORS:
        worst = max(range(len(boxes)), key=lambda i: boxes[i][0])
        badness, axis, items = boxes[worst]
        if badness <= 0:
            break
        order = items[np.argsort(colors[items, axis], kind="stable")]
        total = np.cumsum(weight[order])
        cut = int(np.clip(np.searchsorted(total, total[-1] / 2) + 1, 1, len(order) - 1))
        boxes[worst] = _box(order[:cut], colors, weight)
        boxes.append(_box(order[cut:], colors, weight))
    palette = np.zeros((256, 3), np.uint8)
    lookup = np.zeros(65536, np.uint8)
    for index, (_, _, items) in enumerate(boxes):
        palette[index] = np.rint(np.average(colors[items], axis=0, weights=weight[items]))
        lookup[used[items]] = index
    return palette, lookup


def _box(items, colors, weight):
    """(how bad the box is, the axis to cut it along, its colours): its spread times its weight."""
    part = colors[items]
    span = part.max(0) - part.min(0)
    axis = int(np.argmax(span))
    return float(span[axis] * np.sqrt(weight[items].sum())), axis, items


def compress(indices: bytes) -> bytes:
    """LZW with 8-bit indices, codes of 9 to 12 bits, least significant bit first."""
    codes, widths = [CLEAR], [9]
    table: dict[int, int] = {}
    find, code, width = table.get, END + 1, 9
    prefix = indices[0]
    for byte in memoryview(indices)[1:]:
        key = prefix << 8 | byte
        known = find(key)
        if known is not None:
            prefix = known
            continue
        codes.append(prefix)
        widths.append(width)
        if code < MAX_CODES:
            table[key] = code
            # The reader's table is one entry behind: the width grows once this entry itself needs it.
            if code == 1 << width and width < 12:
                width += 1
            code += 1
        else:
            codes.append(CLEAR)
            widths.append(width)
            table.clear()
            code, width = END + 1, 9
        prefix = byte
    codes.append(prefix)
    widths.append(width)
    # The reader adds one more entry on that last code, which may widen the end code.
    if code == 1 << width and width < 12:
        width += 1
    codes.append(END)
    widths.append(width)
    return _pack(np.array(codes, np.int64), np.array(widths, np.int64))


def _pack(codes, widths) -> bytes:
    """Codes of given bit widths as one stream of bytes, least significant bit first."""
    starts = np.cumsum(widths) - widths
    bits = np.zeros(int(starts[-1] + widths[-1]), np.uint8)
    for bit in range(12):
        inside = widths > bit
        bits[starts[inside] + bit] = codes[inside] >> bit & 1
    return np.packbits(bits, bitorder="little").tobytes()
