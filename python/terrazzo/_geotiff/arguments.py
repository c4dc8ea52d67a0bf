# SPDX-License-Identifier: Apache-2.0
"""Checks of open_geotiff()'s arguments, in the order in which `xrspatial.geotiff` makes them."""
from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from .._geometry import Window
from .georeference import Place
from .source import is_remote
from .._sources import path_of
from ..compat import (
    GeoTIFFFallbackWarning,
    PixelSafetyLimitError,
    RemoteStableSourcesOnlyError,
    VRTStableSourcesOnlyError,
)
from ..errors import UnsupportedError

UNSET: Any = type("Unset", (), {"__repr__": lambda self: "<default>"})()
MAX_PIXELS = 1_000_000_000
MAX_CHUNKS = 50_000

# TIFF compression numbers that need an opt-in.
_EXPERIMENTAL = {34887: "lerc", 34712: "jpeg2000", 50004: "lz4"}
_JPEG = 7


def resolve_alias(value: Any, default: Any, alias: Any, name: str, alias_name: str) -> Any:
    """The value of an argument that has a deprecated name too."""
    if alias is UNSET:
        return value
    if value is not default:
        raise TypeError(f"open_geotiff: pass either '{name}' or the deprecated '{alias_name}' alias, not both.")
    warnings.warn(
        f"open_geotiff(..., {alias_name}=...) is deprecated; use {name}=... instead.", DeprecationWarning, stacklevel=3
    )
    return alias


def warn_without_effect(lock: Any, cache: Any) -> None:
    if lock is not None or cache is not True:
        warnings.warn(
            "open_geotiff: 'lock' and 'cache' are accepted for rioxarray open_rasterio compatibility but have no effect",
            GeoTIFFFallbackWarning,
            stacklevel=3,
        )


def check_gpu(gpu: Any, kinds: str = "a bool") -> None:
    if not isinstance(gpu, (bool, np.bool_)):
        raise TypeError(f"gpu must be {kinds}, got {type(gpu).__name__}: {gpu!r}")


def check_overview(level: Any) -> int:
    if level is None:
        return 0
    if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, np.integer)):
        raise TypeError(f"overview_level must be an int or None, got {type(level).__name__}: {level!r}")
    if level < 0:
        raise ValueError(f"overview_level must be >= 0, got {level}")
    return int(level)


def check_vrt_arguments(missing_sources: Any, band_nodata: Any, is_vrt: bool) -> None:
    hint = "Pass a .vrt path to enable the VRT pipeline, or drop"
    if not is_vrt:
        if missing_sources is not UNSET:
            raise ValueError(f"missing_sources only applies to VRT sources. {hint} missing_sources.")
        if band_nodata is not None:
            raise ValueError(f"band_nodata only applies to VRT sources. {hint} band_nodata.")
        return
    if missing_sources is not UNSET and missing_sources not in ("raise", "warn"):
        raise ValueError(f"missing_sources must be 'warn' or 'raise', got {missing_sources!r}")
    if band_nodata not in (None, "first"):
        raise ValueError(f"band_nodata must be None or 'first', got {band_nodata!r}.")


def check_gpu_failure(on_gpu_failure: Any, gpu: bool, is_vrt: bool) -> str:
    if on_gpu_failure is UNSET:
        return "auto"
    if gpu and is_vrt:
        raise ValueError("on_gpu_failure is not supported for VRT sources, which the GPU does not decode. Drop the kwarg.")
    if not gpu:
        raise ValueError("on_gpu_failure only applies when gpu=True. Pass gpu=True, or drop on_gpu_failure.")
    if on_gpu_failure not in ("auto", "strict"):
        raise ValueError(f"on_gpu_failure must be 'auto' or 'strict', got {on_gpu_failure!r}")
    return on_gpu_failure


def check_cloud_bytes(max_cloud_bytes: Any, is_vrt: bool, gpu: bool, chunks: Any) -> None:
    if max_cloud_bytes is UNSET:
        return
    for given, what in ((is_vrt, "for VRT sources"), (gpu, "when gpu=True"), (chunks is not None, "when chunks=... (dask)")):
        if given:
            raise ValueError(f"max_cloud_bytes is not supported {what}: only whole remote files are checked. Drop the kwarg.")


def check_stable(source: Any, is_vrt: bool, stable_only: Any, experimental: Any) -> None:
    if not stable_only or experimental:
        return
    where = "Pass allow_experimental_codecs=True, or drop stable_only=True (docs/source/reference/release_gate_geotiff.rst)."
    if is_vrt:
        raise VRTStableSourcesOnlyError(f"VRT source {path_of(source)!r} cannot be opened under stable_only=True. {where}")
    if is_remote(source):
        raise RemoteStableSourcesOnlyError(
            f"Remote source {path_of(source)!r} cannot be opened under stable_only=True. {where}"
        )


def check_file_like(source: Any, gpu: bool, chunks: Any) -> None:
    if isinstance(source, str):
        return
    if gpu:
        raise ValueError("gpu=True is not supported for file-like sources. Pass a path string instead.")
    if chunks is not None:
        raise ValueError("chunks=... (dask) is not supported for file-like sources. Pass a path string instead.")


def is_file_like(source: Any) -> bool:
    return all(hasattr(source, name) for name in ("read", "seek", "tell"))


def check_source(source: Any, bbox: Any) -> None:
    if isinstance(source, str) or is_file_like(source):
        return
    if bbox is not None:
        raise TypeError(f"source must be a str path or binary file-like, got {type(source).__name__}")
    if not isinstance(source, bytes):
        raise TypeError(f"expected str, bytes or os.PathLike object, not {type(source).__name__}")


class Refusals:
    """Collects the first error of checks that chunked reads of local files make when a chunk is computed.

    Without `deferred`, errors are raised at once.
    """

    def __init__(self, deferred: bool):
        self.deferred = deferred
        self.error: Exception | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if not self.deferred or not isinstance(error, Exception):
            return False
        self.error = self.error or error
        return True


def refuse_vrt(path: Any) -> None:
    name = path_of(path)
    if name is not None and name.lower().endswith(".vrt"):
        raise UnsupportedError(f"{name}: VRT mosaics are not supported yet")


def check_codec(compression: int, experimental: bool, jpeg: bool) -> None:
    if compression in _EXPERIMENTAL and not experimental:
        raise ValueError(
            f"open_geotiff: source uses compression='{_EXPERIMENTAL[compression]}' which is experimental on the read side. "
            "Pass allow_experimental_codecs=True to opt in, or write the file again with 'deflate', 'zstd', or 'lzw'."
        )
    if compression == _JPEG and not jpeg:
        raise ValueError(
            "open_geotiff: source uses compression='jpeg' (TIFF tag 259 = 7), which is internal-only (issue #1845, "
            "JPEGTables). Pass allow_internal_only_jpeg=True to opt in."
        )


def check_band(band: Any, count: int) -> int | None:
    if band is None:
        return None
    if isinstance(band, (bool, np.bool_)):
        raise ValueError(f"band must be a non-negative int, got {band!r}")
    if not isinstance(band, (int, np.integer)):
        raise TypeError(f"band must be a non-negative int, got {band!r}")
    if not 0 <= band < count:
        if count == 1:
            raise IndexError(f"band={band} out of range: band={band} requested on a single-band file.")
        raise IndexError(f"band={band} out of range for {count}-band file.")
    return int(band)


def check_exclusive(bbox: Any, window: Any) -> None:
    if bbox is not None and window is not None:
        raise ValueError("open_geotiff: window= and bbox= are mutually exclusive; pass one or the other.")


def check_box(bbox: Any) -> tuple[float, float, float, float]:
    if not isinstance(bbox, (tuple, list)) or len(bbox) != 4:
        raise ValueError(f"open_geotiff: bbox must be a 4-tuple (x_min, y_min, x_max, y_max), got {bbox!r}.")
    x_min, y_min, x_max, y_max = bbox
    if not all(map(math.isfinite, bbox)):
        raise ValueError(f"open_geotiff: bbox must contain finite coordinates, got bbox={tuple(bbox)}.")
    if x_min >= x_max or y_min >= y_max:
        raise ValueError(
            f"open_geotiff: bbox has non-positive size (x_min={x_min}, y_min={y_min}, x_max={x_max}, y_max={y_max}). "
            "Expected x_min < x_max and y_min < y_max."
        )
    return x_min, y_min, x_max, y_max


def box_window(place: Place, bbox: tuple[float, float, float, float], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """(row0, col0, row1, col1) of the pixels that the box touches.

    The origin of the transform counts as a corner also where it is a centre, as in `xrspatial.geotiff`.
    """
    if place.rotated is not None:
        raise ValueError(
            "open_geotiff: bbox= requires an axis-aligned transform, but this file has a rotated affine: a 4-tuple in its CRS "
            "cannot follow the rotation. Pass window= instead."
        )
    if place.transform is None:
        raise ValueError(
            "open_geotiff: bbox= requires a georeferenced source, but this source has no georeferencing: no transform. Pass "
            "window= instead."
        )
    dx, x, dy, y = place.transform
    columns = sorted(((bbox[0] - x) / dx, (bbox[2] - x) / dx))
    rows = sorted(((bbox[1] - y) / dy, (bbox[3] - y) / dy))
    height, width = size
    window = (
        max(0, math.floor(rows[0])), max(0, math.floor(columns[0])),
        min(height, math.ceil(rows[1])), min(width, math.ceil(columns[1])),
    )  # fmt: skip
    if window[2] <= window[0] or window[3] <= window[1]:
        raise ValueError(
            f"open_geotiff: bbox={bbox} does not overlap the file's extent (height={height}, width={width}). Resolved pixel "
            f"window={window} has non-positive size."
        )
    return window


def check_window(window: Any, size: tuple[int, int]) -> Window:
    """From (row0, col0, row1, col1), half open."""
    height, width = size
    if window is None:
        return Window(0, 0, width, height)
    row0, col0, row1, col1 = window
    row0, col0, row1, col1 = map(operator.index, (row0, col0, row1, col1))
    if row0 < 0 or col0 < 0 or row1 > height or col1 > width or row1 <= row0 or col1 <= col0:
        raise ValueError(
            f"window={(row0, col0, row1, col1)} is outside the source extent ({height}x{width}) or has non-positive size."
        )
    return Window(col0, row0, col1 - col0, row1 - row0)


def check_pixels(rows: int, columns: int, bands: int, itemsize: int, max_pixels: Any) -> None:
    limit = MAX_PIXELS if max_pixels is None else max_pixels
    pixels = rows * columns * bands
    if pixels > limit:
        side = max(1, math.isqrt(max(0, operator.index(limit)) // bands))
        raise PixelSafetyLimitError(
            f"TIFF image dimensions ({columns} x {rows} x {bands} = {pixels:,} pixels, ~{pixels * itemsize / 1e9:.2f} GB at "
            f"{itemsize} bytes/pixel) exceed the safety limit of {limit:,} pixels (~{limit * itemsize / 1e9:.2f} GB at "
            f"{itemsize} bytes/pixel).\nTo read this file, try one of:\n"
            "  * Pass a larger max_pixels= if the allocation is acceptable.\n"
            f"  * Read a sub-region with window=(r0, c0, r1, c1), e.g. window=(0, 0, {side}, {side}).\n"
            "  * Read a geographic sub-region with bbox=(x_min, y_min, x_max, y_max) in the file's CRS.\n"
            f"  * Read lazily in chunks with chunks={side} so each decoded buffer stays under max_pixels."
        )


def check_chunks(chunks: Any) -> tuple[int, int] | None:
    """(rows, columns) of a chunk."""
    if chunks is None:
        return None
    expected = "chunks must be a positive int or (row, col) tuple of positive ints, got"
    if isinstance(chunks, tuple):
        if len(chunks) != 2:
            raise ValueError(f"chunks tuple must have length 2 (row, col), got chunks={chunks!r} with length {len(chunks)}.")
        pair = chunks
    else:
        pair = (chunks, chunks)
    if any(isinstance(c, bool) or not isinstance(c, (int, np.integer)) or c <= 0 for c in pair):
        raise ValueError(f"{expected} chunks={chunks!r} (type {type(chunks).__name__}).")
    return int(pair[0]), int(pair[1])


def check_tasks(chunks: tuple[int, int], rows: int, columns: int) -> None:
    count = math.ceil(rows / chunks[0]) * math.ceil(columns / chunks[1])
    if count > MAX_CHUNKS:
        side = math.ceil(math.sqrt(rows * columns / MAX_CHUNKS))
        raise ValueError(
            f"chunks={chunks} gives {count:,} dask tasks, which exceeds the limit of {MAX_CHUNKS:,}; use chunks=({side}, "
            f"{side}) or more"
        )
