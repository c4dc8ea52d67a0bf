# SPDX-License-Identifier: Apache-2.0
"""to_geotiff(): writes a DataArray or an array with the arguments of `xrspatial.geotiff`."""
from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np
import xarray as xr

from ._geometry import Transform, parse_transform
from ._geotiff_arguments import check_bool, refuse_vrt
from ._sources import is_url, path_of
from ._write import Writer, write
from .compat import ConflictingNodataError, GeoTIFFFallbackWarning, NonUniformCoordsError
from .errors import UnsupportedError

_BANDS = ("band", "bands", "channel")
_ROWS = ("y", "lat", "latitude", "row")
_COLUMNS = ("x", "lon", "longitude", "col")
_TIMES = ("time", "t", "date", "datetime", "times", "dates")

_COMPRESSIONS = {
    "none": "none", "deflate": "deflate", "lzw": "lzw", "jpeg": "jpeg", "packbits": "packbits", "zstd": "zstd",
    "lz4": "lz4", "jpeg2000": "jpeg2000", "j2k": "jpeg2000", "lerc": "lerc",
}  # fmt: skip
_EXPERIMENTAL = ("lerc", "jpeg2000", "lz4")
_LEVELS = {"deflate": (1, 9), "zstd": (1, 22), "lz4": (0, 16)}
_RESAMPLING = {"mean": "average", "nearest": "nearest", "min": "min", "max": "max", "median": "median", "mode": "mode", "cubic": "cubic"}


def to_geotiff(
    data: Any,
    path: Any,
    *,
    crs: Any = None,
    nodata: Any = None,
    compression: str = "zstd",
    compression_level: int | None = None,
    tiled: bool = True,
    tile_size: int = 256,
    predictor: bool | int = False,
    cog: bool = False,
    overview_levels: list[int] | None = None,
    overview_resampling: str = "mean",
    bigtiff: bool | None = None,
    gpu: bool | None = None,
    streaming_buffer_bytes: int = 256 << 20,
    max_z_error: float = 0.0,
    photometric: str | int = "auto",
    allow_internal_only_jpeg: bool = False,
    allow_experimental_codecs: bool = False,
    allow_unparseable_crs: bool = False,
    drop_rotation: bool = False,
    pack: bool = False,
    color_ramp: Any = None,
    color_ramp_range: Any = None,
) -> Any:
    """Writes a GeoTIFF or COG as `xrspatial.geotiff.to_geotiff` does, and returns `path`.

    `data` is (y, x), (y, x, band) or, as a DataArray, (band, y, x), of numpy, CuPy or dask. dask arrays are written
    block of rows by block of rows, COGs too. `color_ramp` is refused: Terrazzo writes no style files.
    """
    if path is None:
        raise TypeError("'path' is None")
    if isinstance(nodata, (bool, np.bool_)):
        raise TypeError("nodata must be numeric, not a bool")
    if gpu is not None:
        check_bool(gpu, "gpu")
    if color_ramp is not None or color_ramp_range is not None:
        raise UnsupportedError("color_ramp: Terrazzo writes no QGIS style files")
    if tiled or cog:
        _check_tile_size(tile_size)
    _check_numeric(nodata)
    attrs = dict(data.attrs) if isinstance(data, xr.DataArray) else {}
    if attrs.get("rotated_affine") is not None and not drop_rotation:
        raise ValueError("attrs['rotated_affine'] would be lost; pass drop_rotation=True to write the pixel grid alone")
    pixels = _bands_first(data)
    nodata = _nodata(nodata, attrs)
    codec = _check_compression(compression, compression_level, max_z_error, allow_experimental_codecs, allow_internal_only_jpeg)
    if cog and not tiled:
        raise ValueError("cog=True needs tiles: tiled=False is not compatible with it")
    if not tiled and tile_size != 256:
        warnings.warn("tile_size is ignored with tiled=False", UserWarning, stacklevel=2)
    _check_target(path, cog, gpu)
    if pack:
        pixels, nodata = _packed(data, pixels, attrs, nodata)
    options = {
        "crs": _crs(crs, attrs),
        "transform": _transform(data, attrs, pixels.shape),
        "pixel_is_point": True if attrs.get("raster_type") == "point" else None,
        "compression": codec,
        "level": compression_level,
        "predictor": _predictor(predictor, codec, pixels.dtype),
        "bigtiff": {None: "automatic", True: "always", False: "never"}[bigtiff],
        "cog": cog,
        "overviews": _overview_factors(overview_levels) if cog else None,
        "overview_resampling": _overview_method(overview_resampling) if cog else None,
        "streaming_buffer_bytes": streaming_buffer_bytes,
        "photometric": _photometric(photometric, pixels.shape[0]),
        "nan_to_nodata": attrs.get("masked_nodata") is not False,
        "tags": _tags(attrs, allow_experimental_codecs),
    }
    options |= {"tile_size": tile_size} if tiled else {"strip_rows": min(256, pixels.shape[1])}
    if nodata is not None:
        options["nodata"] = nodata
    if codec == "lerc":
        options["lerc_max_error"] = float(max_z_error)
    if gpu:
        import cupy

        pixels = cupy.asarray(pixels) if not _is_dask(pixels) else pixels.map_blocks(cupy.asarray)
    _write(path, pixels, options)
    return path


def _write(path: Any, pixels: Any, options: dict[str, Any]) -> None:
    name = path_of(path)
    if name is not None and is_url(name):
        if name.lower().startswith(("http://", "https://")):
            raise NotImplementedError(f"{name}: http(s) targets cannot be written to")
        import fsspec

        with fsspec.open(name, "wb") as file:
            _write(file, pixels, options)
        return
    if name is None and hasattr(path, "seek") and hasattr(path, "truncate"):
        path.seek(0)
        path.truncate()
    if not _is_dask(pixels):
        write(path, pixels, **options)
        return
    bands, height, width = pixels.shape
    with Writer(path, width, height, dtype=pixels.dtype, bands=bands, **options) as out:
        first = 0
        for rows in pixels.chunks[1]:
            out.write_rows(pixels[:, first : first + rows].compute())
            first += rows


def _is_dask(array: Any) -> bool:
    return hasattr(array, "dask") and hasattr(array, "chunks")


def _check_numeric(nodata: Any) -> None:
    if nodata is None:
        return
    try:
        float(nodata)
    except (TypeError, ValueError):
        raise ValueError(f"nodata must be numeric, not {nodata!r}") from None


def _check_tile_size(tile_size: Any) -> None:
    if isinstance(tile_size, bool) or not isinstance(tile_size, (int, np.integer)) or tile_size <= 0 or tile_size % 16:
        raise ValueError(f"tile_size must be a positive multiple of 16, not {tile_size!r}")


def _check_compression(name: Any, level: Any, max_z_error: float, experimental: bool, jpeg: bool) -> str:
    if not isinstance(name, str):
        raise TypeError(f"compression must be a str, not {type(name).__name__}")
    codec = _COMPRESSIONS.get(name.lower())
    if codec is None:
        raise ValueError(f"Unknown compression {name!r}; there are {', '.join(_COMPRESSIONS)}")
    if codec == "jpeg" and not jpeg:
        raise ValueError("JPEG is for internal use only: pass allow_internal_only_jpeg=True")
    if codec in _EXPERIMENTAL and not experimental:
        raise ValueError(f"{name} is experimental: pass allow_experimental_codecs=True")
    if max_z_error < 0:
        raise ValueError("max_z_error must not be negative")
    if max_z_error != 0 and codec != "lerc":
        raise ValueError("max_z_error is for compression='lerc' only")
    if level is not None:
        if isinstance(level, bool) or not isinstance(level, (int, np.integer)):
            raise TypeError(f"compression_level must be an int, not {type(level).__name__}")
        if codec not in _LEVELS:
            return codec
        low, high = _LEVELS[codec]
        if not low <= level <= high:
            raise ValueError(f"compression_level={level} is out of range for {codec} (valid: {low}-{high})")
    return codec


def _check_target(path: Any, cog: bool, gpu: bool | None) -> None:
    refuse_vrt(path)
    if path_of(path) is None:
        if not hasattr(path, "write"):
            raise TypeError("path must be a str, a PathLike or an object with write()")
        if cog:
            raise ValueError("cog=True is not supported for file-like targets")
        if gpu:
            raise ValueError("gpu=True is not supported for file-like targets")


def _bands_first(data: Any) -> Any:
    """A view of (bands, rows, columns) of the array, in a type that can be written."""
    shape = data.shape if hasattr(data, "shape") else np.shape(data)
    if len(shape) not in (2, 3):
        raise ValueError(f"Expected 2D or 3D array, got {len(shape)}D")
    if isinstance(data, xr.DataArray):
        array, last = data.data, _check_dims(data.dims)
    else:
        array, last = data if hasattr(data, "dtype") else np.asarray(data), True
    if 0 in shape:
        raise ValueError(f"the array is empty: shape {tuple(shape)}")
    if array.ndim == 2:
        array = array[None]
    elif last:
        array = array.transpose(2, 0, 1)
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype == bool:
        return array.astype(np.uint8)
    if array.dtype.kind not in "iuf":
        raise ValueError(f"Unsupported numpy dtype {array.dtype}")
    return array


def _check_dims(dims: tuple[Any, ...]) -> bool:
    """Whether the bands are the last axis."""
    names = [str(dim) for dim in dims]
    if len(names) == 2:
        return False
    if any(name.lower() in _TIMES for name in (names[0], names[-1])):
        where = "leading" if names[0].lower() in _TIMES else "trailing"
        raise ValueError(f"dims {tuple(dims)} have a temporal {where} dim; select one time first")
    if names[0] in _BANDS and names[1] in _ROWS and names[2] in _COLUMNS:
        return False
    if names[0] in _ROWS and names[1] in _COLUMNS:
        if names[2] in _BANDS:
            return True
        raise ValueError(f"dims {tuple(dims)} have a non-band trailing dim; they must be (y, x, band) or (band, y, x)")
    raise ValueError(f"ambiguous dims {tuple(dims)}; they must be (y, x, band) or (band, y, x)")


def _nodata(nodata: Any, attrs: dict[str, Any]) -> Any:
    if nodata is not None:
        return nodata
    if attrs.get("nodata") is not None:
        _check_numeric(attrs["nodata"])
        return attrs["nodata"]
    values = [value for value in attrs.get("nodatavals") or () if value is not None and not _is_nan(value)]
    if len(set(values)) > 1:
        raise ConflictingNodataError(f"attrs['nodatavals'] has distinct per-band values: {values}")
    if values:
        return values[0]
    fill = attrs.get("_FillValue")
    return None if fill is None or _is_nan(fill) else fill


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def _crs(crs: Any, attrs: dict[str, Any]) -> Any:
    if isinstance(crs, (bool, np.bool_)):
        raise TypeError("crs must be an EPSG code or a text, not a bool")
    return crs if crs is not None else attrs.get("crs") or attrs.get("crs_wkt")


def _transform(data: Any, attrs: dict[str, Any], shape: tuple[int, ...]) -> Transform | None:
    if not isinstance(data, xr.DataArray) or attrs.get("_xrspatial_no_georef") is True:
        return None
    is_point = attrs.get("raster_type") == "point"
    if attrs.get("transform") is not None:
        t = parse_transform(attrs["transform"])
        if max(abs(t.b), abs(t.d)) > 1e-12:
            raise ValueError("attrs['transform'] has rotation/shear, which to_geotiff() does not write")
        half = 0.5 if is_point else 0.0  # attrs have the centre of the first pixel
        return Transform(t.a, 0.0, t.c - half * t.a, 0.0, t.e, t.f - half * t.e)
    y = next((data.coords[name] for name in _ROWS if name in data.coords), None)
    x = next((data.coords[name] for name in _COLUMNS if name in data.coords), None)
    if y is None or x is None:
        return None
    square = attrs.get("assume_square_pixels_for_degenerate_axis") is True
    x_step, y_step = _step(x.values, "x"), _step(y.values, "y")
    if square and (x_step is None) != (y_step is None):
        x_step, y_step = (-y_step, y_step) if x_step is None else (x_step, -x_step)  # type: ignore[operator]
    if x_step is None or y_step is None:
        raise ValueError(
            "the coordinates of an axis of one pixel have no pixel size; set attrs['transform'], or "
            "attrs['assume_square_pixels_for_degenerate_axis'] = True"
        )
    return Transform(x_step, 0.0, float(x[0]) - x_step / 2, 0.0, y_step, float(y[0]) - y_step / 2)


def _step(values: np.ndarray[Any, Any], axis: str) -> float | None:
    if values.dtype.kind not in "iuf":
        raise NonUniformCoordsError(f"the coordinates of {axis} are not numbers")
    if values.size < 2:
        return None
    steps = np.diff(values.astype(np.float64))
    if not steps[0]:
        raise NonUniformCoordsError(f"the coordinates of {axis} are constant")
    if np.abs(steps - steps[0]).max() > 1e-5 * abs(steps[0]):
        raise NonUniformCoordsError(f"the coordinates of {axis} are non-uniform")
    return float((values[-1] - values[0]) / (values.size - 1))


def _predictor(predictor: Any, codec: str, dtype: np.dtype[Any]) -> str:
    number = {False: 1, True: 2}.get(predictor, predictor) if isinstance(predictor, bool) else operator.index(predictor)
    if number in (0, 1):
        return "none"
    if number not in (2, 3):
        raise ValueError(f"predictor={predictor!r} is not valid; it is False, True, 1, 2 or 3")
    if codec in ("jpeg", "jpeg2000", "lerc"):
        raise ValueError(f"predictor={number} cannot be combined with compression={codec!r}")
    if number == 3 and dtype.kind != "f":
        raise ValueError("predictor=3 is for floating-point samples only")
    if codec in ("none", "packbits", "lz4"):
        return "none"
    return "horizontal" if number == 2 else "floating-point"


def _overview_factors(levels: Any) -> list[int] | None:
    if levels is None:
        return None
    factors = [operator.index(level) for level in levels]
    if any(factor < 2 or factor & (factor - 1) for factor in factors) or sorted(set(factors)) != factors:
        raise ValueError(f"overview_levels must be strictly increasing, each a power of two from 2, not {factors}")
    return factors


def _overview_method(name: str) -> str:
    if name not in _RESAMPLING:
        raise ValueError(f"overview_resampling={name!r} is not valid; there are {', '.join(_RESAMPLING)}")
    return _RESAMPLING[name]


def _photometric(value: Any, bands: int) -> str | None:
    if value == "auto":
        return "minisblack"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        names = {0: "miniswhite", 1: "minisblack", 2: "rgb"}
        if int(value) not in names:
            raise UnsupportedError(f"photometric={value} cannot be written; there are {names}")
        value = names[int(value)]
    name = str(value).lower()
    if name == "miniswhite":
        raise NotImplementedError("photometric='miniswhite' is not written: pixels would have to be inverted")
    least = {"rgb": 3, "rgba": 4}.get(name, 1)
    if bands < least:
        raise ValueError(f"photometric={value!r} needs at least {least} bands, and the array has {bands}")
    if name not in ("minisblack", "rgb", "rgba"):
        raise ValueError(f"photometric={value!r} is not a valid name")
    return "rgb" if name == "rgba" else name


def _tags(attrs: dict[str, Any], experimental: bool) -> dict[str, str] | None:
    for name in ("gdal_metadata_xml", "extra_tags"):
        if attrs.get(name) is not None:
            warnings.warn(f"attrs['{name}'] is not written", GeoTIFFFallbackWarning, stacklevel=3)
    items = attrs.get("gdal_metadata")
    if not items:
        return None
    if not experimental and "_xrspatial_geotiff_contract" not in attrs:
        raise ValueError("attrs['gdal_metadata'] is written with allow_experimental_codecs=True only")
    return {key: str(value) for key, value in items.items() if isinstance(key, str)}


def _packed(data: Any, pixels: Any, attrs: dict[str, Any], nodata: Any) -> tuple[Any, Any]:
    """The inverse of unpack: (stored values, nodata)."""
    if not isinstance(data, xr.DataArray):
        raise ValueError("pack=True requires a DataArray")
    if "scale_factor" not in attrs and "mask_and_scale_dtype" not in attrs:
        raise ValueError("pack=True: the attributes have no unpack state; read the file with unpack=True")
    if _is_dask(pixels):
        raise UnsupportedError("pack=True computes dask arrays first: call .compute() before to_geotiff()")
    scale, offset = float(attrs.get("scale_factor", 1)), float(attrs.get("add_offset", 0))
    if not math.isfinite(scale) or scale == 0:
        raise ValueError(f"pack=True cannot reverse scale_factor={scale}")
    target = np.dtype(attrs.get("mask_and_scale_dtype", pixels.dtype))
    stored = (pixels - offset) / scale
    if target.kind == "f":
        return stored.astype(target), nodata
    missing = np.isnan(stored)
    if missing.any() and nodata is None:
        raise ValueError(f"pack=True cannot restore integer dtype {target}: there are NaN pixels and no nodata value")
    rounded = np.rint(np.where(missing, 0, stored))
    limits = np.iinfo(target)
    if not np.isfinite(rounded).all() or rounded.min() < limits.min or rounded.max() > limits.max:
        raise ValueError(f"pack=True: values are not finite or {target} cannot represent them")
    result = rounded.astype(target)
    if missing.any():
        result[missing] = target.type(nodata)
    return result, nodata
