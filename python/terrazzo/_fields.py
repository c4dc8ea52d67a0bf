# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments as fields of the library's requests and options, and the errors of those that do not fit."""
from __future__ import annotations

import enum
from typing import Any

import numpy as np

from .errors import UsageError

# The names of rasterio, GDAL and rioxarray for arguments that have another name here.
_OTHER_NAMES = {
    "blocksize": "tile_size", "blockxsize": "tile_size=(width, height)", "blockysize": "tile_size=(width, height)",
    "compress": "compression", "count": "an array of (bands, rows, columns)", "driver": "cog=True for a COG",
    "fill_value": "fill", "height": "the shape of the array", "indexes": "bands", "jpeg_quality": "quality",
    "max_z_error": "lerc_max_error", "num_threads": "threads", "out_dtype": "dtype", "out_shape": "size=(width, height)",
    "overview_level": "overview, which counts from 1", "resampling": "overview_resampling", "sparse_ok": "sparse",
    "tiled": "tile_size, or strip_rows for strips", "webp_level": "quality", "webp_lossless": "lossless",
    "width": "the shape of the array", "zlevel": "level", "zstd_level": "level",
}  # fmt: skip


def unknown_argument(name: str) -> TypeError:
    """The error of a keyword that a function does not have."""
    other = _OTHER_NAMES.get(name.lower())
    hint = "" if other is None else f"; here it is {other}"
    return TypeError(f"unexpected keyword argument {name!r}{hint}")


def set_fields(options: Any, **fields: Any) -> None:
    for name, value in fields.items():
        set_field(options, name, value)


def set_field(options: Any, name: str, value: Any) -> None:
    """Takes an enumeration, such as rasterio's Resampling, by the name of its member."""
    try:
        setattr(options, name, value.name if isinstance(value, enum.Enum) else value)
    except TypeError:
        if isinstance(value, np.bool_):
            set_field(options, name, bool(value))
            return
        if not isinstance(value, str):
            _list_choices(options, name, value)
        raise UsageError(f"{name} does not take {value!r}") from None


def _list_choices(options: Any, name: str, value: Any) -> None:
    """Raises the error with the choices of a field that has some."""
    try:
        setattr(options, name, repr(value))
    except TypeError:
        pass
