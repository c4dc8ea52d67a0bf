# SPDX-License-Identifier: Apache-2.0
"""Checks of open_geotiff()'s arguments, in the order in which `xrspatial.geotiff` makes them."""
from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from ._dataset import Dataset
from ._geometry import Window
from ._sources import is_url, path_of
from .compat import GeoTIFFFallbackWarning, PixelSafetyLimitError, RemoteStableSourcesOnlyError, RotatedTransformError
from .errors import UnsupportedError

UNSET: Any = object()
MAX_PIXELS = 1_000_000_000
MAX_CHUNKS = 50_000

# TIFF compression numbers that need an opt-in.
_EXPERIMENTAL = {34887: "LERC", 34712: "JPEG 2000", 50004: "LZ4"}
_JPEG = 7


def resolve_alias(value: Any, default: Any, alias: Any, name: str, alias_name: str) -> Any:
    """The value of an argument that has a deprecated name too."""
    if alias is UNSET:
        return value
    if value != default:
        raise TypeError(f"pass either '{name}' or '{alias_name}', not both")
    warnings.warn(f"'{alias_name}' is deprecated; use '{name}'", DeprecationWarning, stacklevel=3)
    return alias


def check_bool(value: Any, name: str) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be a bool, not {type(value).__name__}")


def refuse_vrt(path: Any) -> None:
    name = path_of(path)
    if name is not None and name.lower().endswith(".vrt"):
        raise UnsupportedError(f"{name}: VRT mosaics are not supported yet")


def check_source(source: Any, gpu: bool, chunks: Any, stable_only: bool, experimental: bool) -> None:
    if path_of(source) is None:
        if gpu:
            raise ValueError("gpu=True is not supported for file-like sources")
        if chunks is not None:
            raise ValueError("chunks=... (dask) is not supported for file-like sources")
    elif stable_only and not experimental and is_url(path_of(source) or ""):
        raise RemoteStableSourcesOnlyError(
            f"stable_only=True refuses the remote source {source} (release_gate_geotiff.rst)"
        )


def check_overview(level: Any, dataset: Dataset | None = None) -> int:
    if level is None:
        return 0
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, np.integer)):
        raise TypeError(f"overview_level must be a non-negative int, not {type(level).__name__}")
    if level < 0:
        raise ValueError(f"overview_level={level} must be a non-negative int")
    if dataset is not None and level > len(dataset.overviews):
        raise ValueError(
            f"overview_level={level} is out of range: the file has {len(dataset.overviews) + 1} pyramid IFDs"
        )
    return int(level)


def check_band(band: Any, count: int) -> int | None:
    if band is None:
        return None
    if isinstance(band, (bool, np.bool_)):
        raise ValueError("band must be a non-negative int, not a bool")
    try:
        number = operator.index(band)
    except TypeError:
        raise TypeError(f"band must be a non-negative int, not {type(band).__name__}") from None
    if not 0 <= number < count:
        raise IndexError(f"band={number} out of range: the file has {count} bands")
    return number


def check_codec(dataset: Dataset, experimental: bool, jpeg: bool) -> None:
    tag = dataset.info.layout.compression_tag
    if tag in _EXPERIMENTAL and not experimental:
        raise ValueError(f"{_EXPERIMENTAL[tag]} is experimental: pass allow_experimental_codecs=True")
    if tag == _JPEG and not jpeg:
        raise ValueError("JPEG is for internal use only: pass allow_internal_only_jpeg=True")


def resolve_window(dataset: Dataset, window: Any, bbox: Any, level: int, size: tuple[int, int]) -> Window:
    """From (row0, col0, row1, col1) or (xmin, ymin, xmax, ymax)."""
    height, width = size
    if bbox is not None:
        if window is not None:
            raise ValueError("window and bbox are mutually exclusive")
        return _window_of_box(dataset, bbox, level)
    if window is None:
        return Window(0, 0, width, height)
    row0, col0, row1, col1 = (operator.index(edge) for edge in window)
    if row0 < 0 or col0 < 0 or row1 > height or col1 > width or row1 <= row0 or col1 <= col0:
        raise ValueError(
            f"window={tuple(window)} is outside the source extent ({height} rows, {width} columns) or has non-positive size"
        )
    return Window(col0, row0, col1 - col0, row1 - row0)


def _window_of_box(dataset: Dataset, bbox: Any, level: int) -> Window:
    box = tuple(bbox)
    if len(box) != 4:
        raise ValueError("bbox must be a 4-tuple (xmin, ymin, xmax, ymax)")
    xmin, ymin, xmax, ymax = map(float, box)
    if not all(map(math.isfinite, (xmin, ymin, xmax, ymax))):
        raise ValueError("bbox must have finite coordinates")
    if xmin >= xmax or ymin >= ymax:
        raise ValueError(f"bbox={box} has a non-positive size")
    t = dataset.transform
    if t is None:
        raise ValueError("bbox needs a georeferenced file; this one has no georeferencing")
    if t.b or t.d:
        raise RotatedTransformError("bbox needs an axis-aligned file; this one has rotation/shear")
    left, bottom, right, top = dataset.bounds
    if xmax <= left or xmin >= right or ymax <= bottom or ymin >= top:
        raise ValueError(f"bbox={box} does not overlap the raster's bounds {tuple(dataset.bounds)}")
    return dataset.window((xmin, ymin, xmax, ymax), overview=level)


def check_pixels(rows: int, columns: int, bands: int, max_pixels: Any) -> None:
    limit = MAX_PIXELS if max_pixels is None else operator.index(max_pixels)
    pixels = rows * columns * bands
    if pixels > limit:
        raise PixelSafetyLimitError(
            f"{pixels:,} samples ({columns} x {rows} x {bands}) exceed the safety limit of {limit:,}; "
            "read a window, pass chunks=, or raise max_pixels="
        )


def check_chunks(chunks: Any, rows: int, columns: int) -> tuple[int, int]:
    pair = (chunks, chunks) if isinstance(chunks, (int, np.integer)) else tuple(chunks)
    if len(pair) != 2 or any(isinstance(c, bool) or not isinstance(c, (int, np.integer)) or c <= 0 for c in pair):
        raise ValueError(f"chunks must be a positive int or a pair of them, not {chunks!r}")
    count = math.ceil(rows / pair[0]) * math.ceil(columns / pair[1])
    if count > MAX_CHUNKS:
        side = math.ceil(math.sqrt(rows * columns / MAX_CHUNKS))
        raise ValueError(f"chunks={chunks} gives {count:,} dask tasks, more than {MAX_CHUNKS:,}; use chunks={side} or more")
    return int(pair[0]), int(pair[1])


def check_cast(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    if source.kind == "f" and target.kind in "iu":
        raise ValueError(f"Cannot cast float data ({source}) to int ({target}); values would be lost")


def warn_without_effect(lock: Any, cache: Any) -> None:
    if lock is not None or cache is not True:
        warnings.warn("lock and cache have no effect", GeoTIFFFallbackWarning, stacklevel=3)
