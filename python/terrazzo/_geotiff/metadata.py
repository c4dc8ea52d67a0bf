# SPDX-License-Identifier: Apache-2.0
"""Attributes that open_geotiff() takes from descriptive tags and from the .aux.xml file."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import Any, NamedTuple

from .source import LocalFile
from .tags import Directory
from ..compat import MalformedScaleOffsetError, MixedBandMetadataError

_DESCRIPTION, _X_RESOLUTION, _Y_RESOLUTION, _RESOLUTION_UNIT = 270, 282, 283, 296
_COLOR_MAP, _EXTRA_SAMPLES, _METADATA, _NODATA = 320, 338, 42112, 42113
_UNITS = {1: "none", 2: "inch", 3: "centimeter"}
_MAX_METADATA_BYTES = 256 << 10
_MAX_PAM_BYTES = 32 << 20
_MAX_PAM_TAGS = 2 << 20  # a tree takes a hundred bytes for each
_MAX_EXTRA_BYTES = 64 << 20  # of all extra tags of a directory, which may share their values
_MAX_CATEGORIES = 1_000_000

# Tags that describe the layout or have attributes of their own. All others are passed on as attrs['extra_tags'].
_MANAGED = frozenset({
    254, 256, 257, 258, 259, 262, 273, 274, 277, 278, 279, 282, 283, 284, 296, 317, 322, 323, 324, 325,
    330, 339, 33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113,
})  # fmt: skip


class Metadata(NamedTuple):
    items: dict[Any, str] | None
    xml: str | None
    malformed: bool  # the XML could not be read


def inherited(tag: int, level: Directory, first: Directory) -> Directory:
    """The directory that has the tag: an overview takes what it lacks from the full resolution."""
    return level if tag in level else first


def read_nodata(level: Directory, first: Directory) -> int | float | None:
    text = inherited(_NODATA, level, first).value(_NODATA)
    if not isinstance(text, str):
        return None
    for kind in (int, float):
        try:
            return kind(text.strip())
        except ValueError:
            pass
    return None


def read_metadata(level: Directory, first: Directory) -> Metadata:
    source = inherited(_METADATA, level, first)
    if _METADATA not in source:
        return Metadata(None, None, False)
    text = source.text(_METADATA) or ""
    if len(text) > _MAX_METADATA_BYTES:
        return Metadata({}, text, True)
    if "<!DOCTYPE" in text.upper():
        return Metadata({}, text, False)
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return Metadata({}, text, True)
    items: dict[Any, str] = {}
    for item in root.findall("Item"):
        name, sample = item.get("name", ""), item.get("sample")
        key: Any = name
        if sample is not None:
            try:
                key = (name, int(sample))
            except ValueError:
                continue
        items[key] = item.text or ""
    return Metadata(items, text, False)


def metadata_attrs(level: Directory, first: Directory) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    metadata = read_metadata(level, first)
    if metadata.items is not None:
        attrs["gdal_metadata"] = metadata.items
    if metadata.xml is not None:
        attrs["gdal_metadata_xml"] = metadata.xml
    extra = _extra_tags(level) or _extra_tags(first)
    if extra:
        attrs["extra_tags"] = extra
    description = inherited(_DESCRIPTION, level, first).value(_DESCRIPTION)
    if isinstance(description, str):
        attrs["image_description"] = description
    samples = inherited(_EXTRA_SAMPLES, level, first).numbers(_EXTRA_SAMPLES)
    if samples:
        attrs["extra_samples"] = samples
    colors = inherited(_COLOR_MAP, level, first).numbers(_COLOR_MAP)
    if colors:
        attrs["colormap"] = colors
    for name, tag in (("x_resolution", _X_RESOLUTION), ("y_resolution", _Y_RESOLUTION)):
        value = inherited(tag, level, first).number(tag)
        if value is not None:
            attrs[name] = float(value)
    unit = inherited(_RESOLUTION_UNIT, level, first).number(_RESOLUTION_UNIT)
    if unit is not None:
        attrs["resolution_unit"] = _UNITS.get(unit, str(unit))
    return attrs


def _extra_tags(directory: Directory) -> list[tuple[int, int, int, Any]]:
    extra = [(tag, entry) for tag, entry in sorted(directory.entries.items()) if tag not in _MANAGED]
    total = sum(directory.value_bytes(tag) for tag, _ in extra)
    if total > _MAX_EXTRA_BYTES:
        raise ValueError(f"the extra tags have {total:,} bytes, which exceeds the limit of {_MAX_EXTRA_BYTES:,} bytes")
    return [(tag, entry.type, entry.count, directory.value(tag)) for tag, entry in extra]


# --- Scale and offset


def read_packing(metadata: Metadata, band: int | None) -> tuple[float, float]:
    """(scale, offset) of all bands that are read."""
    if metadata.malformed:
        raise MalformedScaleOffsetError(
            "GDAL_METADATA XML is malformed and could not be parsed. unpack=True cannot honour the scale and offset that it "
            "may declare."
        )
    items = metadata.items or {}
    return _number(items, "SCALE", 1.0, band), _number(items, "OFFSET", 0.0, band)


def _number(items: dict[Any, str], name: str, default: float, band: int | None) -> float:
    if name in items:
        return _parse(items[name], name)
    if band is not None:
        return _parse(items[name, band], name) if (name, band) in items else default
    values = [_parse(text, name) for key, text in items.items() if isinstance(key, tuple) and key[0] == name]
    if len(set(values)) > 1:
        raise MixedBandMetadataError(
            f"unpack=True but the source declares distinct per-band {name} values {values}. Select one band with band=, or "
            "drop unpack."
        )
    return values[0] if values else default


def _parse(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise MalformedScaleOffsetError(
            f"GDAL_METADATA {name} is not a number: {text!r}. unpack=True cannot honour a malformed {name}."
        ) from None
    if value != value or abs(value) == float("inf") or (name == "SCALE" and value == 0):
        what = "zero or non-finite" if name == "SCALE" else "non-finite"
        raise MalformedScaleOffsetError(f"GDAL_METADATA {name} is {value}. unpack=True cannot honour a {what} {name}.")
    return value


# --- Categories of the .aux.xml file


def category_attrs(path: str | None) -> dict[str, Any]:
    """Names and colours of categories beside a local file. A sidecar that cannot be read counts as none."""
    if path is None:
        return {}
    try:
        file = LocalFile(path + ".aux.xml")
        if file.size > _MAX_PAM_BYTES:
            return {}
        data = file.read_at(0, file.size)
    except OSError:
        return {}
    if data.count(b"<") > _MAX_PAM_TAGS:
        return {}
    if b"<!DOCTYPE" in data.replace(b"\0", b"").upper():
        return {}
    try:
        band = ElementTree.fromstring(data).find("PAMRasterBand")
        return {} if band is None else _categories(band)
    except (ElementTree.ParseError, ValueError, LookupError, ArithmeticError):
        return {}


def _categories(band: ElementTree.Element) -> dict[str, Any]:
    table = band.find("GDALRasterAttributeTable")
    attrs = _table_categories(table) if table is not None else {}
    if attrs:
        return attrs
    names = band.find("CategoryNames")
    return {} if names is None else {"category_names": [category.text or "" for category in names.findall("Category")]}


def _table_categories(table: ElementTree.Element) -> dict[str, Any]:
    if table.get("tableType") != "thematic":
        return {}
    usages = [int(field.findtext("Usage", "0")) for field in table.findall("FieldDefn")]
    if 2 not in usages:
        return {}
    name_column, value_column = usages.index(2), usages.index(5) if 5 in usages else None
    color_columns = [usages.index(usage) for usage in (6, 7, 8, 9) if usage in usages]
    names: dict[int, str] = {}
    colors: dict[int, tuple[int, ...]] = {}
    for index, row in enumerate(table.findall("Row")):
        cells = [cell.text or "" for cell in row.findall("F")]
        value = int(row.get("index", index)) if value_column is None else int(float(cells[value_column]))
        if not 0 <= value < _MAX_CATEGORIES:
            raise ValueError(f"category {value} is out of range")
        names[value] = cells[name_column]
        if len(color_columns) == 4:
            colors[value] = tuple(int(float(cells[column])) for column in color_columns)
    if not names:
        return {}
    count = max(names) + 1
    attrs: dict[str, Any] = {"category_names": [names.get(value, "") for value in range(count)]}
    if colors:
        attrs["category_colors"] = [colors.get(value, (0, 0, 0, 0)) for value in range(count)]
    return attrs
