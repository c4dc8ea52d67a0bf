# SPDX-License-Identifier: Apache-2.0
"""TIFF files written byte by byte, for tests that need what no library writes: any tags, any blocks, little-endian."""

import struct

BYTE, SHORT, LONG, LONG8 = 1, 3, 4, 16
LETTERS = {BYTE: "B", SHORT: "H", LONG: "I", LONG8: "Q"}


def tiff(tags, data=b""):
    """A classic file of one directory. `tags`: {tag: (type, values)}; `data` begins at byte 8."""
    data += b"\0" * (len(data) % 2)
    at = 8 + len(data)
    heap_at = at + 2 + 12 * len(tags) + 4
    entries, heap = b"", b""
    for tag, (kind, values) in sorted(tags.items()):
        raw = struct.pack(f"<{len(values)}{LETTERS[kind]}", *values)
        if len(raw) > 4:
            value = struct.pack("<I", heap_at + len(heap))
            heap += raw + b"\0" * (len(raw) % 2)
        else:
            value = raw.ljust(4, b"\0")
        entries += struct.pack("<HHI", tag, kind, len(values)) + value
    return b"II*\0" + struct.pack("<I", at) + data + struct.pack("<H", len(tags)) + entries + b"\0" * 4 + heap


def tiled(width, height, tile, streams, *, bands=1, bits=8, compression=1, separate=False, predictor=1, tags=None):
    """One raster in square tiles, `streams` in the order of the index; an empty one is missing."""
    data, offsets, counts = b"", [], []
    for stream in streams:
        offsets.append(8 + len(data) if stream else 0)
        counts.append(len(stream))
        data += stream + b"\0" * (len(stream) % 2)
    all_tags = {
        256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, [bits] * bands), 259: (SHORT, [compression]),
        262: (SHORT, [1]), 277: (SHORT, [bands]), 284: (SHORT, [2 if separate else 1]),
        317: (SHORT, [predictor]), 322: (LONG, [tile]), 323: (LONG, [tile]), 324: (LONG, offsets), 325: (LONG, counts),
    }
    if bands > 1:
        all_tags[338] = SHORT, [0] * (bands - 1)
    return tiff({**all_tags, **(tags or {})}, data)
