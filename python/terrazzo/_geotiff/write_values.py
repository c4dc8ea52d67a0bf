# SPDX-License-Identifier: Apache-2.0
"""Pixels and nodata for to_geotiff(): the axes, the sample type, the missing value, and what pack= does."""
from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import xarray as xr

from .write_arguments import check_nodata_bool
from .write_georeference import COLUMNS, ROWS
from ..compat import ConflictingNodataError

_BANDS = ("band", "bands", "channel")
_TIMES = ("time", "t", "date", "datetime", "times", "dates")


def is_dask(array: Any) -> bool:
    return hasattr(array, "dask") and hasattr(array, "chunks")


# --- Shape


def check_shape(data: Any) -> None:
    """Refuses empty rasters."""
    shape = np.shape(data)
    if len(shape) not in (2, 3):
        return
    dims = data.dims if isinstance(data, xr.DataArray) else ()
    first = len(shape) == 3 and bool(dims) and dims[0] in _BANDS
    height, width = shape[1:] if first else shape[:2]
    if not height or not width:
        raise ValueError(
            f"to_geotiff cannot write an empty raster: got shape {shape} with height={height}, width={width}. Both spatial "
            "dims must be positive."
        )
    bands = shape[0] if first else shape[2] if len(shape) == 3 else 1
    if not bands:
        raise ValueError(f"to_geotiff cannot write a raster with no bands: got shape {shape} with 0 bands.")


def check_dimensions(data: Any) -> None:
    if np.ndim(data) not in (2, 3):
        raise ValueError(f"Expected 2D or 3D array, got {np.ndim(data)}D")


def bands_first(data: Any) -> Any:
    """A view of (bands, rows, columns) of the array."""
    if isinstance(data, xr.DataArray):
        array, last = data.data, check_dims(data.dims)
    else:
        array, last = data if hasattr(data, "dtype") else np.asarray(data), True
    if array.ndim == 2:
        return array[None]
    return array.transpose(2, 0, 1) if last else array


def writable(array: Any) -> Any:
    """The array in a type that can be written."""
    if array.dtype == np.float16:
        return array.astype(np.float32)
    if array.dtype == bool:
        return array.astype(np.uint8)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise ValueError(f"Unsupported numpy dtype: {array.dtype}")
    return array


def check_dims(dims: tuple[Any, ...]) -> bool:
    """Whether the bands are the last axis."""
    if len(dims) != 3:
        return False
    first, middle, last = map(str, dims)
    for name, where in ((first, "leading"), (last, "trailing")):
        if name.lower() in _TIMES:
            raise ValueError(
                f"3D writer input has temporal {where} dim {name!r} in dims {dims}. Select one time, as by "
                f"data.isel({name}=0), or rename the dim to one of {_BANDS}."
            )
    if first in _BANDS and middle in ROWS and last in COLUMNS:
        return False
    if first in ROWS and middle in COLUMNS:
        if last in _BANDS:
            return True
        raise ValueError(f"3D writer input has non-band trailing dim {last!r} in dims {dims}. Rename it to one of {_BANDS}.")
    raise ValueError(
        f"3D writer input has ambiguous dims {dims}. Expected (band, y, x) or (y, x, band); accepted are {_BANDS}, y={ROWS} "
        f"and x={COLUMNS}."
    )


# --- Nodata


def check_nodata_attrs(nodata: Any, attrs: dict[str, Any]) -> None:
    """One file has one nodata value: attributes must not name several."""
    values = attrs.get("nodatavals")
    if nodata is not None or not isinstance(values, (tuple, list, np.ndarray)):
        return
    numbers = {float(value) for value in values if _is_number(value) and not math.isnan(value)}
    if len(numbers) > 1:
        raise ConflictingNodataError(
            f"attrs['nodatavals']={tuple(values)} declares multiple distinct per-band nodata sentinels {sorted(numbers)}, but a "
            "GeoTIFF stores a single one. Pass nodata=."
        )
    given: Any = attrs.get("nodata")
    if numbers and _is_number(given) and float(given) not in numbers:  # NaN is in none
        raise ConflictingNodataError(
            f"attrs['nodata']={given} disagrees with every concrete entry in attrs['nodatavals']={tuple(values)}. Drop one of "
            "them, or pass nodata=."
        )


def resolve_nodata(nodata: Any, attrs: dict[str, Any]) -> Any:
    """A number, or a truth value, which check_nodata_bool() refuses."""
    if nodata is not None:
        return _plain(nodata)
    if attrs.get("nodata") is not None:
        return _attr_number(attrs, "nodata")
    values = attrs.get("nodatavals")
    values = (values,) if _is_number(values) else values
    if isinstance(values, (tuple, list, np.ndarray)):
        for value in values:
            if isinstance(value, (bool, np.bool_)):
                return value
        numbers = [value for value in values if _is_number(value)]
        concrete = [value for value in numbers if not math.isnan(value)]
        if concrete:
            return _plain(concrete[0])
        if not numbers and any(value is not None for value in values):
            warnings.warn(
                f"attrs['nodatavals']={tuple(values)} contained only non-numeric entries; no usable sentinel could be resolved",
                UserWarning,
                stacklevel=3,
            )
    fill = attrs.get("_FillValue")
    if fill is None:
        return None
    number = _attr_number(attrs, "_FillValue")
    return None if math.isnan(number) else number


def _attr_number(attrs: dict[str, Any], name: str) -> Any:
    value = attrs[name]
    if isinstance(value, (bool, np.bool_)):
        return value
    if not _is_number(value) and not (isinstance(value, str) and _is_numeric(value)):
        raise ValueError(
            f"attrs[{name!r}]={value!r} is not numeric ({type(value).__name__}): nodata must be numeric. Drop the attr, or pass "
            "nodata=."
        )
    return _plain(value)


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf"
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return int(value) if value.strip().lstrip("+-").isdecimal() else float(value)
    return value.item() if hasattr(value, "item") else value


def fits(nodata: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a pixel of the type can have the value."""
    if dtype.kind == "f":
        return not math.isfinite(nodata) or abs(nodata) <= float(np.finfo(dtype).max)
    if isinstance(nodata, float) and not nodata.is_integer():
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= nodata <= limits.max)


# --- MinIsWhite


def check_inverted(pixels: Any, is_simple: bool) -> None:
    """`is_simple` is for pixels in the memory of the host, without overviews."""
    dtype = pixels.dtype
    if not is_simple:
        raise NotImplementedError(
            "photometric='miniswhite' is not supported with cog=True, overview_levels, gpu=True or a dask-backed array: call "
            ".compute() first, or write without overviews."
        )
    if dtype.kind == "i":
        raise NotImplementedError(
            "Writing signed-integer MinIsWhite TIFFs is not supported (issue #2278): photometric='miniswhite', "
            f"SampleFormat=2, BitsPerSample={8 * dtype.itemsize}, dtype={dtype}."
        )


def inverted(pixels: Any, nodata: Any) -> tuple[Any, Any]:
    """(pixels, nodata) in which 0 is white."""
    dtype = pixels.dtype
    if dtype.kind == "f":
        return -pixels, None if nodata is None else -nodata
    top = np.iinfo(dtype).max
    return dtype.type(top) - pixels, int(top - nodata) if nodata is not None and fits(nodata, dtype) else nodata


# --- Pack


def packed(data: Any, nodata: Any) -> tuple[Any, Any, dict[str, Any]]:
    """The inverse of unpack: (data in stored values, nodata, attributes)."""
    if not isinstance(data, xr.DataArray):
        raise ValueError("pack=True requires a DataArray, whose attributes have the state that unpack=True left")
    attrs = dict(data.attrs)
    check_nodata_attrs(nodata, attrs)
    if not ("scale_factor" in attrs or "mask_and_scale_dtype" in attrs or attrs.get("masked_nodata")):
        raise ValueError(
            "pack=True: the attributes have no unpack state (scale_factor, mask_and_scale_dtype or masked_nodata); read the file "
            "with unpack=True"
        )
    scale, offset = float(attrs.get("scale_factor", 1)), float(attrs.get("add_offset", 0))
    if not math.isfinite(scale) or scale == 0 or not math.isfinite(offset):
        raise ValueError(f"pack=True cannot reverse scale_factor={scale}, add_offset={offset}")
    sentinel = resolve_nodata(nodata, attrs)
    check_nodata_bool(sentinel)
    target = _packed_dtype(attrs, sentinel, data.dtype)
    if sentinel is not None and nodata is not None and not fits(sentinel, target):
        raise ValueError(f"pack=True: nodata={sentinel} cannot be represented: {target} cannot represent it")
    missing = sentinel if sentinel is not None and fits(sentinel, target) else None

    def stored(block: Any) -> Any:
        return _stored(block, scale, offset, target, missing)

    values = data.data
    result = values.map_blocks(stored, dtype=target, meta=np.empty((0,) * values.ndim, target)) if is_dask(values) else stored(values)
    metadata = attrs.get("gdal_metadata")
    items: dict[Any, Any] = metadata if "scale_factor" in attrs and isinstance(metadata, dict) else {}
    if any(isinstance(key, tuple) and key[0] in ("SCALE", "OFFSET") for key in items):
        attrs["gdal_metadata"] = _dataset_items(items, scale, offset)
        attrs.pop("gdal_metadata_xml", None)
    for key in ("scale_factor", "add_offset", "mask_and_scale_dtype"):
        attrs.pop(key, None)
    return data.copy(data=result), sentinel, attrs


def _packed_dtype(attrs: dict[str, Any], sentinel: Any, fallback: np.dtype[Any]) -> np.dtype[Any]:
    named = attrs.get("mask_and_scale_dtype")
    if named is not None:
        return np.dtype(named)
    own = attrs["nodata"] if attrs.get("nodata") is not None else resolve_nodata(None, attrs)
    is_integer = isinstance(own, (int, np.integer)) and not isinstance(own, bool)
    return np.asarray(own).dtype if is_integer else fallback


def _stored(values: Any, scale: float, offset: float, target: np.dtype[Any], sentinel: Any) -> Any:
    raw = (values.astype(np.float64) - offset) / scale
    if target.kind == "f":
        result = raw.astype(target)
        if sentinel is not None and sentinel == sentinel:
            result[np.isnan(raw)] = sentinel
        return result
    missing = np.isnan(raw)
    if missing.any() and sentinel is None:
        raise ValueError(f"pack=True cannot restore integer dtype {target}: there are NaN pixels and no nodata value")
    rounded = np.rint(np.where(missing, 0, raw))
    limits = np.iinfo(target)
    wrong = ~np.isfinite(rounded) | (rounded < limits.min) | (rounded > float(limits.max))
    if wrong.any():
        raise ValueError(f"pack=True cannot restore integer dtype {target}: values are not finite, or {target} cannot represent them")
    result = rounded.astype(target)
    if missing.any():
        result[missing] = target.type(sentinel)
    return result


def _dataset_items(items: dict[Any, str], scale: float, offset: float) -> dict[Any, str]:
    """Scale and offset of bands become those of the raster."""
    kept = {key: value for key, value in items.items() if not (isinstance(key, tuple) and key[0] in ("SCALE", "OFFSET"))}
    return kept | {"SCALE": repr(scale), "OFFSET": repr(offset)}
