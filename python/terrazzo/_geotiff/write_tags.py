# SPDX-License-Identifier: Apache-2.0
"""Tags that to_geotiff() writes from attributes, and the correction of tags that the library chose."""
from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from .write_georeference import RawTag
from .tags import Bytes, Entry, read_directories

_DESCRIPTION, _X_RESOLUTION, _Y_RESOLUTION, _RESOLUTION_UNIT = 270, 282, 283, 296
PHOTOMETRIC, COLOR_MAP, EXTRA_SAMPLES, METADATA, NODATA = 262, 320, 338, 42112, 42113
_UNITS = {"none": 1, "inch": 2, "centimeter": 3}
_ASCII, _BYTE, _SHORT, _UNDEFINED, _RATIONAL, _SRATIONAL = 2, 1, 3, 7, 5, 10
_CODES = {1: "u1", 3: "<u2", 4: "<u4", 5: "<u4", 6: "i1", 7: "u1", 8: "<i2", 9: "<i4", 10: "<i4", 11: "<f4", 12: "<f8",
          13: "<u4", 16: "<u8", 17: "<i8", 18: "<u8"}  # fmt: skip
_NARROW = {16: 4, 17: 9, 18: 13}

# Tags of the layout, of the georeference and of attributes that have their own place.
_OWN = frozenset({
    254, 255, 256, 257, 258, 259, 266, 273, 277, 278, 279, 284, 317, 322, 323, 324, 325, 330, 339, 347, 530, 532,
    33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113, 50674, PHOTOMETRIC, COLOR_MAP, EXTRA_SAMPLES,
})  # fmt: skip

Corrections = dict[int, tuple[int, ...] | bytes]  # 16-bit numbers of a tag as it is, or a text

RICH_ATTRS = ("gdal_metadata_xml", "gdal_metadata", "extra_tags")


def check_rich_attrs(attrs: dict[str, Any], experimental: bool) -> None:
    """Descriptive tags of unknown origin need an opt-in; those of open_geotiff() do not."""
    found = [name for name in RICH_ATTRS if attrs.get(name) is not None]
    if not isinstance(attrs.get("gdal_metadata"), dict) and "gdal_metadata" in found:
        found.remove("gdal_metadata")
    if found and not experimental and "_xrspatial_geotiff_contract" not in attrs:
        names = ", ".join(f"attrs[{name!r}]" for name in found)
        raise ValueError(
            f"to_geotiff: {names} pass-through is experimental: the text is written as it is. Pass "
            "allow_experimental_codecs=True to opt in, or drop the attr before the write."
        )


def raw_tags(attrs: dict[str, Any], nodata: Any, own_nodata: bool, is_big: bool) -> list[RawTag]:
    """Tags of the attributes. `own_nodata` is for a nodata value that no pixel can have: it is written as a text. Numbers of
    64 bits have 32 unless `is_big`, because a classic TIFF has no larger ones.
    """
    tags: dict[int, RawTag] = {}

    def add(tag: int, field_type: int, count: int, data: bytes) -> None:
        tags.setdefault(tag, (tag, field_type, count, data))

    xml = attrs.get("gdal_metadata_xml")
    if xml is None and isinstance(attrs.get("gdal_metadata"), dict):
        xml = metadata_xml(attrs["gdal_metadata"])
    if xml is not None:
        if not isinstance(xml, (str, bytes)):
            raise TypeError(f"attrs['gdal_metadata_xml'] must be a str, not {type(xml).__name__}")
        add(METADATA, *_text(xml))
    if own_nodata:
        add(NODATA, *_text(str(nodata)))
    description = attrs.get("image_description")
    if description is not None:
        add(_DESCRIPTION, *_text(str(description)))
    for name, tag in (("x_resolution", _X_RESOLUTION), ("y_resolution", _Y_RESOLUTION)):
        if attrs.get(name) is not None:
            add(tag, _RATIONAL, 1, _fraction(float(attrs[name]), name))
    unit = attrs.get("resolution_unit")
    number = _UNITS.get(unit) if isinstance(unit, str) else None
    if number is not None:
        add(_RESOLUTION_UNIT, _SHORT, 1, int(number).to_bytes(2, "little"))
    for tag, field_type, count, value in attrs.get("extra_tags") or ():
        if tag not in _OWN:
            field_type = field_type if is_big else _NARROW.get(field_type, field_type)
            add(int(tag), int(field_type), *_encoded(int(tag), int(field_type), int(count), value))
    return list(tags.values())


def _text(value: str | bytes) -> tuple[int, int, bytes]:
    data = (value if isinstance(value, bytes) else value.encode()) + b"\0"
    return _ASCII, len(data), data


def _fraction(value: float, name: str) -> bytes:
    if not math.isfinite(value) or not 0 <= value <= 0xFFFFFFFF:
        raise ValueError(f"attrs[{name!r}]={value} cannot be represented by a fraction of two 32-bit numbers")
    below = 1 if value.is_integer() else 10000
    while value * below > 0xFFFFFFFF:
        below //= 10
    return round(value * below).to_bytes(4, "little") + below.to_bytes(4, "little")


def _encoded(tag: int, field_type: int, count: int, value: Any) -> tuple[int, bytes]:
    """(count, bytes) of an extra tag."""
    if field_type == _ASCII or isinstance(value, str):
        data = (value if isinstance(value, bytes) else str(value).encode()).rstrip(b"\0") + b"\0"
        return len(data), data
    if isinstance(value, (bytes, bytearray)):
        return count, bytes(value)
    if field_type not in _CODES:
        raise ValueError(f"extra_tags: tag {tag} has the unknown field type {field_type}")
    numbers = np.atleast_1d(np.asarray(value))
    if field_type in (_RATIONAL, _SRATIONAL) and numbers.size == count:
        return count, b"".join(_fraction(float(number), f"extra_tags[{tag}]") for number in numbers.ravel())
    try:
        stored = numbers.astype(_CODES[field_type], casting="unsafe")
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"extra_tags: tag {tag}: {value!r} are no values of field type {field_type}: {error}") from error
    if field_type in _NARROW.values() and not np.array_equal(stored, numbers):
        raise ValueError(f"extra_tags: tag {tag}: {value!r} does not fit into 32 bits")
    return count, stored.tobytes()


def metadata_xml(items: dict[Any, Any]) -> str:
    quotes = {'"': "&quot;", "'": "&apos;"}
    lines = ["<GDALMetadata>"]
    for key, value in items.items():
        name, sample = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        where = "" if sample is None else f' sample="{escape(str(sample), quotes)}"'
        lines.append(f'  <Item name="{escape(str(name), {'"': "&quot;"})}"{where}>{escape(str(value), quotes)}</Item>')
    return "\n".join([*lines, "</GDALMetadata>"]) + "\n"


# --- Tags that the library sets itself


def override(attrs: dict[str, Any], tag: int, name: str | None = None) -> tuple[int, ...] | None:
    """Numbers of attrs['extra_tags'] or of an attribute for a tag that the library sets."""
    for number, _, _, value in attrs.get("extra_tags") or ():
        if number == tag:
            return tuple(int(item) for item in np.atleast_1d(np.asarray(value)))
    value = attrs.get(name) if name else None
    return None if value is None else tuple(int(item) for item in value)


def correct(file: Any, values: Corrections, appends: bool) -> None:
    """Overwrites values of tags in every image of a seekable binary file, where there is room for them. `appends` is for
    texts that need more: they follow the pixels.
    """

    def read_at(offset: int, length: int) -> bytes:
        file.seek(offset)
        return file.read(length)

    size = file.seek(0, 2)
    is_big = read_at(2, 1) == b"\x2b"
    for directory in read_directories(Bytes(size, read_at)):
        for tag, numbers in values.items():
            entry = directory.entries.get(tag)
            if entry is not None and isinstance(numbers, bytes):
                _replace_text(file, entry, numbers, is_big, appends)
            elif entry is not None and entry.type == _SHORT and entry.count == len(numbers):
                file.seek(entry.offset)
                file.write(np.asarray(numbers, "<u2").tobytes())


def _replace_text(file: Any, entry: Entry, text: bytes, is_big: bool, appends: bool) -> None:
    """A text that is too long for the place of the old one is left out, or appended to the file."""
    size = 8 if is_big else 4  # bytes of a count, and of an offset or inline value
    field = entry.place + 4 + size
    if len(text) <= size:
        file.seek(field)
        file.write(text.ljust(size, b"\0"))
    elif entry.count >= len(text) and entry.count > size:
        file.seek(entry.offset)
        file.write(text)
    elif appends and (end := file.seek(0, 2)) + len(text) < 1 << 8 * size:
        file.write(b"\0" * (end % 2) + text)  # values begin at words
        file.seek(field)
        file.write((end + end % 2).to_bytes(size, "little"))
    else:
        return
    file.seek(entry.place + 4)
    file.write(len(text).to_bytes(size, "little"))
