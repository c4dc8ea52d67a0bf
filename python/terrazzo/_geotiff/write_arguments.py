# SPDX-License-Identifier: Apache-2.0
"""Checks of to_geotiff()'s arguments, in the order in which `xrspatial.geotiff` makes them."""
from __future__ import annotations

import errno
import math
import os
import warnings
from typing import Any

import numpy as np

from .arguments import refuse_vrt
from .._sources import is_url, path_of
from ..compat import GeoTIFFFallbackWarning

COMPRESSIONS = {
    "none": "none", "deflate": "deflate", "lzw": "lzw", "jpeg": "jpeg", "packbits": "packbits", "zstd": "zstd",
    "lz4": "lz4", "jpeg2000": "jpeg2000", "j2k": "jpeg2000", "lerc": "lerc",
}  # fmt: skip
RESAMPLING = {"mean": "average", "nearest": "nearest", "min": "min", "max": "max", "median": "median", "mode": "mode", "cubic": "cubic"}
PHOTOMETRIC = {"auto": 1, "minisblack": 1, "miniswhite": 0, "rgb": 2, "rgba": 2}
_EXPERIMENTAL = ("lerc", "jpeg2000", "lz4")
_LEVELS = {"deflate": (1, 9), "zstd": (1, 22), "lz4": (0, 16)}
_DEFAULT_LEVEL = 6


def check_path(path: Any) -> None:
    if path is None:
        raise TypeError("to_geotiff: 'path' must be a str, a PathLike or an object with write(), not None")
    if path_of(path) is None and not hasattr(path, "write"):
        raise TypeError(f"to_geotiff: 'path' must be a str, a PathLike or an object with write(), not {type(path).__name__}")


def check_nodata_bool(nodata: Any) -> None:
    if isinstance(nodata, (bool, np.bool_)):
        raise TypeError(f"nodata must be numeric (int or float), got {nodata!r}")


def check_nodata(nodata: Any) -> None:
    if nodata is None:
        return
    if isinstance(nodata, (bytes, list, tuple, dict)):
        raise _not_numeric(nodata)
    try:  # a text may be a number
        float(nodata)
    except (TypeError, ValueError):
        raise _not_numeric(nodata) from None


def _not_numeric(nodata: Any) -> ValueError:
    return ValueError(
        f"nodata must be numeric or None, got {nodata!r} (type {type(nodata).__name__}): pixels of the dtype are compared with it."
    )


def check_tile_size(tile_size: Any) -> None:
    if isinstance(tile_size, (bool, np.bool_)) or not isinstance(tile_size, (int, np.integer)):
        raise ValueError(f"tile_size must be a positive int, got {tile_size!r} (type {type(tile_size).__name__}).")
    if tile_size <= 0:
        raise ValueError(f"tile_size must be a positive int, got tile_size={tile_size}.")
    if tile_size % 16:
        near = [size for size in (tile_size // 16 * 16, tile_size // 16 * 16 + 16) if size]
        raise ValueError(
            f"tile_size must be a positive multiple of 16 (TIFF 6 spec requirement for TileWidth/TileLength), got "
            f"tile_size={tile_size}; try " + " or ".join(f"tile_size={size}" for size in near) + "."
        )


def check_compression(name: Any, level: Any, max_z_error: Any, experimental: bool, jpeg: bool) -> str:
    if not isinstance(name, str):
        raise TypeError(f"compression must be a str (in to_geotiff); got {type(name).__name__}.")
    codec = COMPRESSIONS.get(name.lower())
    if codec is None:
        raise ValueError(f"Unknown compression {name!r}. Valid options: {list(COMPRESSIONS)}.")
    if codec == "jpeg" and not jpeg:
        raise ValueError(
            "compression='jpeg' is not supported without an opt-in (JPEGTables, issue #1845): use 'deflate', 'zstd', or "
            "'lzw', or pass allow_internal_only_jpeg=True."
        )
    if codec in _EXPERIMENTAL and not experimental:
        raise ValueError(
            f"compression={name!r} is experimental. Pass allow_experimental_codecs=True to opt in, or use 'deflate', 'zstd', "
            "or 'lzw'."
        )
    if max_z_error < 0 or max_z_error != max_z_error:
        raise ValueError(f"max_z_error must be >= 0, got {max_z_error}")
    if max_z_error != 0 and codec != "lerc":
        raise ValueError("max_z_error is only valid with compression='lerc'")
    if level is not None:
        if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, np.integer)):
            raise TypeError(f"compression_level must be an int or None, got {type(level).__name__}: {level!r}")
        low, high = _LEVELS.get(codec, (-math.inf, math.inf))
        if not low <= level <= high:
            raise ValueError(f"compression_level={level} out of range for {name} (valid: {low}-{high})")
    return codec


def level_of(codec: str, level: Any) -> int | None:
    """The level for the codec; None for codecs without levels."""
    if codec not in _LEVELS:
        return None
    return _DEFAULT_LEVEL if level is None else int(level)


def check_target(path: Any, cog: bool, gpu: Any, lazy: bool) -> None:
    name = path_of(path)
    if name is None:
        if cog:
            raise ValueError("cog=True is not supported for file-like targets: pass a path")
        if gpu:
            raise ValueError("gpu=True is not supported for file-like targets: pass a path")
    elif is_url(name):
        if name.lower().startswith(("http://", "https://")):
            raise NotImplementedError(f"{name}: http(s) targets cannot be written to. Use a path or a cloud URL (s3://, gs://)")
        if lazy and not cog:
            raise NotImplementedError(f"{name}: dask arrays are not streamed to cloud targets; call .compute() first")


def check_folder(path: Any) -> None:
    """A local file can be made there."""
    name = path_of(path)
    if name is None or is_url(name):
        return
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    elif not os.path.isdir(os.path.dirname(name) or "."):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.path.dirname(name))


def refuse_vrt_target(path: Any, cog: bool, overview_levels: Any, tiled: bool, dimensions: int) -> None:
    name = path_of(path)
    if name is None or not name.lower().endswith(".vrt"):
        return
    for given, what in ((cog, "cog=True"), (overview_levels is not None, "overview_levels"), (not tiled, "tiled=False")):
        if given:
            raise ValueError(f"{what} is not compatible with VRT output, which is a folder of tiled GeoTIFFs.")
    if dimensions != 2:
        raise ValueError(f"VRT tiled output currently supports 2D arrays only, got {dimensions}D.")
    refuse_vrt(path)


def warn_of_opt_ins(name: str, codec: str) -> None:
    flag = "allow_internal_only_jpeg" if codec == "jpeg" else "allow_experimental_codecs" if codec in _EXPERIMENTAL else None
    if flag is not None:
        kind = "internal-only codec (issue #1845, JPEGTables)" if codec == "jpeg" else "experimental codec"
        warnings.warn(
            f"to_geotiff(compression={name!r}, {flag}=True): {kind}; other readers may not read the file",
            GeoTIFFFallbackWarning,
            stacklevel=3,
        )


def check_jpeg(codec: str, dtype: np.dtype[Any]) -> None:
    if codec == "jpeg" and dtype not in (np.uint8, np.bool_):
        raise ValueError(f"JPEG compression requires uint8 data, got {dtype}: it is lossy and has 8 bits for a sample.")


def check_predictor(predictor: Any, codec: str, dtype: np.dtype[Any]) -> str:
    numbers = {False: 1, True: 2} if isinstance(predictor, (bool, np.bool_)) else {0: 1, 1: 1, 2: 2, 3: 3}
    is_number = isinstance(predictor, (bool, np.bool_, int, np.integer, float))
    number = numbers.get(predictor) if is_number else None
    if number is None:
        raise ValueError(f"predictor must be False/True or 1/2/3, got {predictor!r}")
    if number == 1:
        return "none"
    if number == 3 and dtype.kind != "f":
        raise ValueError(f"predictor=3 (floating-point) requires float data, got dtype={dtype}")
    if codec in ("jpeg", "jpeg2000", "lerc"):
        raise ValueError(
            f"predictor={number} is not supported with compression={codec!r}: the tag PREDICTOR is for codecs of bytes. Drop predictor=."
        )
    if codec in ("none", "packbits", "lz4"):
        return "none"
    return "horizontal" if number == 2 else "floating-point"


def check_overviews(levels: Any, height: int, width: int) -> list[int] | None:
    if levels is None:
        return None
    if not isinstance(levels, (list, tuple)):
        raise ValueError(f"overview_levels must be a list or tuple of ints, got {type(levels).__name__}.")
    previous = 0
    for index, level in enumerate(levels):
        name = f"overview_levels[{index}]"
        if isinstance(level, (bool, np.bool_)) or not isinstance(level, (int, np.integer)):
            raise ValueError(f"{name} must be an int >= 2, got {level!r} (type {type(level).__name__}).")
        if level < 2:
            raise ValueError(f"{name} must be >= 2 (1 is the original full-resolution band), got {level}.")
        if level & (level - 1):
            raise ValueError(f"{name}={level} is not a power of two. Only power-of-two decimation factors are supported.")
        if level <= previous:
            raise ValueError(f"overview_levels must be strictly increasing, got {levels} (entry at index {index} is {level}).")
        if height // level == 0 or width // level == 0:
            raise ValueError(
                f"{name}={level} is too large for input shape {(height, width)}; decimation would produce a zero-sized overview."
            )
        previous = int(level)
    return [int(level) for level in levels]


def automatic_overviews(height: int, width: int, tile_size: int) -> list[int]:
    """Factors of halved levels, as long as both sides are larger than a tile, and at most 8. Odd sizes are rounded down
    here, also though levels are rounded up.
    """
    factors: list[int] = []
    while len(factors) < 8 and height > tile_size and width > tile_size:
        height, width = height // 2, width // 2
        factors.append(2 ** (len(factors) + 1))
    return factors


def check_resampling(name: Any) -> str:
    if not isinstance(name, str) or name not in RESAMPLING:
        raise ValueError(f"Unknown overview resampling method: {name!r}. Use one of: {tuple(RESAMPLING)}")
    return RESAMPLING[name]


def check_photometric(value: Any, bands: int) -> int:
    """The number of the tag PhotometricInterpretation."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (str, int, np.integer)):
        raise TypeError(f"photometric must be a str or int, got {type(value).__name__}")
    if not isinstance(value, str):
        number = int(value)
        if not 0 <= number <= 65535:
            raise ValueError(f"photometric={number} is out of range: the tag has 16 bits")
        name = "RGB"
    else:
        name = value.lower()
        if name not in PHOTOMETRIC:
            raise ValueError(f"photometric={value!r} is not a valid name; expected one of {list(PHOTOMETRIC)} or an int.")
        number = PHOTOMETRIC[name]
        if name == "rgba" and bands < 4:
            raise ValueError(f"photometric='rgba' requires at least 4 bands, got samples_per_pixel={bands}.")
    if number == 2 and bands < 3:
        raise ValueError(f"photometric=RGB requires at least 3 bands, got samples_per_pixel={bands}.")
    return number
