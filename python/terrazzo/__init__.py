# SPDX-License-Identifier: Apache-2.0
"""Reads and writes GeoTIFF and Cloud-Optimized GeoTIFF, into numpy arrays or GPU memory.

>>> import terrazzo
>>> dem = terrazzo.open("dem.tif")
>>> heights = dem.read(1, window=(0, 0, 256, 256), masked=True)
>>> report = terrazzo.write("part.tif", heights, crs=dem.crs, transform=dem.transform, cog=True)
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _records, errors
from ._core import DeviceArray, DeviceBatch, ReadReport
from ._core import version as __version__
from ._convert import cog, convert, convert_many
from ._crs import Crs
from ._dataset import Dataset, open, read
from ._encoded import encode_tiles
from ._geometry import Bounds, Corners, Transform, Window
from ._mosaic import mosaic
from ._operations import doctor, edit, overviews, preview, stats, validate, validation_rules
from ._settings import configure, set_up
from ._windows import read_windows
from ._write import Writer, write
from .errors import (
    CancelledError,
    DeviceError,
    Error,
    IoError,
    LimitError,
    MalformedError,
    MissingFileError,
    UnsupportedError,
    UsageError,
)

if TYPE_CHECKING:
    from .geotiff import open_geotiff, to_geotiff

__all__ = [
    "Bounds", "CancelledError", "Corners", "Crs", "Dataset", "DeviceArray", "DeviceBatch", "DeviceError", "Error",
    "IoError", "LimitError", "MalformedError", "MissingFileError", "ReadReport", "Transform", "UnsupportedError",
    "UsageError", "Window", "Writer", "cog", "configure", "convert", "convert_many", "doctor", "edit", "encode_tiles",
    "errors", "mosaic", "open", "open_geotiff", "overviews", "preview", "read", "read_windows", "stats", "to_geotiff",
    "validate", "validation_rules", "write",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Imported when first used: they need xarray.
    if name in ("open_geotiff", "to_geotiff"):
        from . import geotiff

        return getattr(geotiff, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_records.set_up()
set_up()
