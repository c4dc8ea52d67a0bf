# SPDX-License-Identifier: Apache-2.0
"""Hostile TIFF files, made byte by byte. Values of tags may be shared between directories, which no writer does."""

import struct

BYTE, ASCII, SHORT, LONG, DOUBLE, LONG8, IFD8 = 1, 2, 3, 4, 12, 16, 18
SIZES = {BYTE: 1, ASCII: 1, SHORT: 2, LONG: 4, DOUBLE: 8, LONG8: 8, IFD8: 8}
LETTERS = {BYTE: "B", SHORT: "H", LONG: "I", DOUBLE: "d", LONG8: "Q"}

SUBFILE_TYPE, WIDTH, HEIGHT, BITS, COMPRESSION, PHOTOMETRIC = 254, 256, 257, 258, 259, 262
STRIP_OFFSETS, SAMPLES, ROWS_PER_STRIP, STRIP_COUNTS, PLANAR = 273, 277, 278, 279, 284
COLOR_MAP, TILE_WIDTH, TILE_LENGTH, TILE_OFFSETS, TILE_COUNTS, SUB_IFDS = 320, 322, 323, 324, 325, 330
EXTRA_SAMPLES, SAMPLE_FORMAT, JPEG_TABLES = 338, 339, 347
GEO_KEYS, GEO_DOUBLES, GEO_TEXTS, GDAL_METADATA, GDAL_NODATA = 34735, 34736, 34737, 42112, 42113


class Values:
    """`count` values of `kind` that lie at byte `at` of the file."""

    def __init__(self, kind, count, at):
        self.kind, self.count, self.at = kind, count, at


def text(value):
    return ASCII, value.encode() + b"\0" if isinstance(value, str) else value


class Tiff:
    """Little-endian. add() puts bytes somewhere; chain() writes directories one after another and links them."""

    def __init__(self, big=False):
        self.big = big
        self.data = bytearray(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 0) if big else struct.pack("<2sHI", b"II", 42, 0))
        self.link_at = 8 if big else 4

    def add(self, content):
        self.data += b"\0" * (-len(self.data) % 8)
        at = len(self.data)
        self.data += content
        return at

    def array(self, kind, values):
        """Values to be shared."""
        return Values(kind, len(values), self.add(struct.pack(f"<{len(values)}{LETTERS[kind]}", *values)))

    def entry(self, tag, value):
        word = 8 if self.big else 4
        if isinstance(value, int):
            value = (LONG, value)
        if isinstance(value, Values):
            return struct.pack("<HHQQ" if self.big else "<HHII", tag, value.kind, value.count, value.at)
        kind, content = value
        if not isinstance(content, bytes):
            content = content if isinstance(content, (list, tuple)) else [content]
            content = struct.pack(f"<{len(content)}{LETTERS[kind]}", *content)
        count = len(content) // SIZES[kind]
        head = struct.pack("<HHQ" if self.big else "<HHI", tag, kind, count)
        if len(content) <= word:
            return head + content.ljust(word, b"\0")
        return head + struct.pack("<Q" if self.big else "<I", self.add(content))

    def directory(self, tags):
        """At the end of the file; returns its offset. The link to the next is left 0."""
        entries = [self.entry(tag, value) for tag, value in sorted(tags.items())]
        self.data += b"\0" * (-len(self.data) % 8)
        at = len(self.data)
        self.data += struct.pack("<Q" if self.big else "<H", len(entries)) + b"".join(entries)
        self.data += b"\0" * (8 if self.big else 4)
        return at

    def chain(self, tags):
        at = self.directory(tags)
        struct.pack_into("<Q" if self.big else "<I", self.data, self.link_at, at)
        self.link_at = len(self.data) - (8 if self.big else 4)
        return at

    def write(self, path):
        path.write_bytes(self.data)
        return path


def image(width=4, height=4, samples=1, **more):
    """Tags of an uncompressed 8-bit image that has no pixels in the file."""
    tags = {WIDTH: width, HEIGHT: height, BITS: (SHORT, 8), COMPRESSION: (SHORT, 1), PHOTOMETRIC: (SHORT, 1),
            STRIP_OFFSETS: 0, SAMPLES: (SHORT, samples), ROWS_PER_STRIP: height, STRIP_COUNTS: 0}
    return {**tags, **more}


def geo_citation(citation):
    """The GeoKeys of a user-defined CRS with that text in its projected citation, where ArcGIS puts WKT."""
    content = citation.encode() + b"|\0"
    keys = [1, 1, 0, 2, 1024, 0, 1, 32767, 3073, GEO_TEXTS, len(content) - 1, 0]
    return {GEO_KEYS: (SHORT, keys), GEO_TEXTS: (ASCII, content)}
