# SPDX-License-Identifier: Apache-2.0
"""Directories of a TIFF file as they are stored: every tag with its type, count and value.

The library describes rasters; this module gives the tags that its description leaves out. Files are not trusted: all
sizes are compared with the size of the file before anything is read, and chains of directories end.

>>> from pathlib import Path
>>> first = read_directories(bytes_of(Path("dem.tif").read_bytes()))[0]
>>> first.number(256), first.number(257)
(400, 300)
"""
from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

MAX_DIRECTORIES = 256
MAX_ENTRIES = 4096  # of one directory
MAX_VALUE_BYTES = 64 << 20  # of one tag

# Field type: numpy's code, without the byte order. Rationals are pairs.
_CODES = {
    1: "u1", 2: "S1", 3: "u2", 4: "u4", 5: "u4", 6: "i1", 7: "V1", 8: "i2", 9: "i4", 10: "i4", 11: "f4", 12: "f8",
    13: "u4", 16: "u8", 17: "i8", 18: "u8",
}  # fmt: skip
_RATIONALS = (5, 10)
_WHOLE = (1, 3, 4, 6, 8, 9, 13, 16, 17, 18)  # types of whole numbers
# Tags that describe the layout, and GeoKeys: a fraction there is damage.
_WHOLE_TAGS = frozenset({
    254, 256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 284, 317, 322, 323, 324, 325, 338, 339, 34735,
})  # fmt: skip
_NAMES = {282: "XResolution", 283: "YResolution"}


class Bytes(NamedTuple):
    """A file: its size, and a function of (offset, length)."""

    size: int
    read_at: Callable[[int, int], bytes]


def bytes_of(buffer: Any) -> Bytes:
    view = memoryview(buffer).cast("B")
    return Bytes(len(view), lambda offset, length: bytes(view[offset : offset + length]))


class RepeatedTagError(ValueError):
    """A directory has a tag twice."""


class Entry(NamedTuple):
    type: int
    count: int  # type: ignore[assignment]  # hides tuple.count
    offset: int  # of the value in the file
    place: int  # of the entry in the file


class Directory:
    """Tags of one image. Values are read from the file when they are asked for first."""

    def __init__(self, file: Bytes, order: str, offset: int, entries: dict[int, Entry]):
        self._file, self._order, self.offset, self.entries = file, order, offset, entries
        self._values: dict[int, Any] = {}

    def __contains__(self, tag: int) -> bool:
        return tag in self.entries

    def value_bytes(self, tag: int) -> int:
        entry = self.entries[tag]
        return entry.count * _unit(entry.type)

    def raw(self, tag: int) -> bytes:
        """The bytes of the value, in the byte order of the file."""
        entry = self.entries[tag]
        length = self.value_bytes(tag)
        if tag in _WHOLE_TAGS and entry.type not in _WHOLE:
            raise ValueError(f"tag {tag} has field type {entry.type}, which is not that of whole numbers")
        if length > MAX_VALUE_BYTES or entry.offset + length > self._file.size:
            raise ValueError(f"tag {tag}: {entry.count} values ({length:,} bytes) exceed the file or the limit")
        data = self._file.read_at(entry.offset, length)
        if len(data) != length:
            raise ValueError(f"tag {tag}: the file ends within the value")
        return data

    def array(self, tag: int) -> np.ndarray[Any, Any]:
        """Numbers of the tag; rationals are rows of two."""
        entry = self.entries[tag]
        code = _CODES.get(entry.type, "u1")
        numbers = np.frombuffer(self.raw(tag), self._order + code if code[1] != "1" else code)
        return numbers.reshape(-1, 2) if entry.type in _RATIONALS else numbers

    def value(self, tag: int) -> Any:
        """str for ASCII, bytes for BYTE and UNDEFINED, a number, or a tuple of numbers; None if the tag is absent."""
        if tag not in self.entries:
            return None
        if tag not in self._values:
            self._values[tag] = self._decode(tag)
        return self._values[tag]

    def _decode(self, tag: int) -> Any:
        entry = self.entries[tag]
        if entry.type == 2:
            return self.raw(tag).rstrip(b"\0").decode("ascii", errors="replace")
        if entry.type not in _CODES or entry.type == 7:
            return self.raw(tag)
        if entry.type in _RATIONALS:
            pairs = self.array(tag)
            if (pairs[:, 1] == 0).any():
                name = _NAMES.get(tag, "the value")
                raise ValueError(f"tag {tag}: {name} is a fraction with the denominator 0")
            numbers = tuple(float(above) / float(below) for above, below in pairs.tolist())
        else:
            numbers = tuple(self.array(tag).tolist())
        return numbers[0] if len(numbers) == 1 else numbers

    def number(self, tag: int, default: Any = None) -> Any:
        """The first number of the tag. Reads no others: directories may share a value of millions of numbers."""
        if tag in self.entries and self.entries[tag].count > 1:
            entry = self.entries[tag]
            if entry.offset + self.value_bytes(tag) > self._file.size:
                raise ValueError(f"tag {tag}: {entry.count} values exceed the file")
            first = Directory(self._file, self._order, self.offset, {tag: entry._replace(count=1)})
            return first.number(tag, default)
        value = self.value(tag)
        if isinstance(value, tuple):
            value = value[0] if value else None
        return default if value is None or isinstance(value, (str, bytes)) else value

    def numbers(self, tag: int) -> tuple[Any, ...]:
        value = self.value(tag)
        if value is None or isinstance(value, str):
            return ()
        return tuple(value) if isinstance(value, (tuple, bytes)) else (value,)

    def text(self, tag: int) -> str | None:
        """An ASCII value, in UTF-8 if it is that."""
        if tag not in self.entries:
            return None
        return self.raw(tag).split(b"\0", 1)[0].decode("utf-8", errors="replace")


def _unit(field_type: int) -> int:
    size = np.dtype(_CODES.get(field_type, "u1")).itemsize
    return 2 * size if field_type in _RATIONALS else size


def read_directories(file: Bytes) -> list[Directory]:
    """The directories of the main chain. Raises ValueError for what is no TIFF, and RepeatedTagError."""
    header = file.read_at(0, 16)
    if len(header) < 8:
        raise ValueError("Not enough data for TIFF header")
    order = {b"II": "<", b"MM": ">"}.get(header[:2])
    if order is None:
        raise ValueError(f"Invalid TIFF byte order marker: {header[:2]!r}")
    magic = struct.unpack_from(order + "H", header, 2)[0]
    if magic not in (42, 43):
        raise ValueError(f"Invalid TIFF magic number: {magic}")
    if magic == 43 and (len(header) < 16 or struct.unpack_from(order + "H", header, 4)[0] != 8):
        raise ValueError("Invalid BigTIFF header: offsets have 8 bytes")
    form = ("Q", "Q", 8, "HHQ") if magic == 43 else ("I", "H", 4, "HHI")
    offset = struct.unpack_from(order + form[0], header, 8 if magic == 43 else 4)[0]
    directories: list[Directory] = []
    seen: set[int] = set()
    while offset:
        if offset in seen:
            raise ValueError(f"Circular IFD chain: the directory at byte {offset} comes twice")
        if len(directories) == MAX_DIRECTORIES:
            raise ValueError(
                f"the file has more than {MAX_DIRECTORIES} IFDs, which exceeds the limit: it is malformed, or a denial-of-service"
            )
        seen.add(offset)
        directory, offset = _read_directory(file, order, offset, form)
        directories.append(directory)
    return directories


def _read_directory(file: Bytes, order: str, offset: int, form: tuple[str, str, int, str]) -> tuple[Directory, int]:
    link, counter, inline, entry_code = form
    count_bytes = struct.calcsize("<" + counter)
    head = file.read_at(offset, count_bytes) if offset < file.size else b""
    if len(head) < count_bytes:
        raise ValueError(f"IFD offset {offset} is past the end of the file ({file.size} bytes)")
    count = struct.unpack(order + counter, head)[0]
    unit = struct.calcsize("<" + entry_code) + inline
    if count > MAX_ENTRIES:
        raise ValueError(f"IFD at offset {offset} has {count} entries, which exceeds the limit of {MAX_ENTRIES}")
    body = file.read_at(offset + count_bytes, count * unit + inline)
    if len(body) < count * unit:
        raise ValueError(f"the {count} entries of the IFD at offset {offset} exceed the file of {file.size} bytes")
    entries: dict[int, Entry] = {}
    places: dict[int, int] = {}
    for index in range(count):
        tag, field_type, number = struct.unpack_from(order + entry_code, body, index * unit)
        place = offset + count_bytes + index * unit
        if tag in entries:
            raise RepeatedTagError(
                f"IFD at offset {offset} declares tag {tag} twice (prior entry at byte offset {places[tag]}, duplicate "
                f"entry at byte offset {place}); TIFF 6.0 requires each tag id to appear at most once per IFD"
            )
        places[tag] = place
        value_offset = place + unit - inline
        if number * _unit(field_type) > inline:
            value_offset = struct.unpack_from(order + link, body, index * unit + unit - inline)[0]
        entries[tag] = Entry(field_type, number, value_offset, place)
    follows = body[count * unit : count * unit + inline]
    return Directory(file, order, offset, entries), struct.unpack(order + link, follows)[0] if len(follows) == inline else 0
