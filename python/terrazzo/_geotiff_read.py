# SPDX-License-Identifier: Apache-2.0
"""open_geotiff(): a DataArray with the dims, coordinates and attributes of `xrspatial.geotiff`."""
from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import xarray as xr

from . import _geotiff_arguments as arguments
from ._dataset import Dataset, open
from ._geometry import Transform, Window
from ._geotiff_arguments import UNSET
from ._lazy import level_size
from ._sources import path_of
from .compat import (
    ATTRS_CONTRACT,
    GEOREF_STATUS_CRS_ONLY,
    GEOREF_STATUS_FULL,
    GEOREF_STATUS_NONE,
    GEOREF_STATUS_ROTATED_DROPPED,
    GEOREF_STATUS_TRANSFORM_ONLY,
    GeoTIFFFallbackWarning,
    InvalidIntegerNodataError,
    MixedBandMetadataError,
    RotatedTransformError,
)
from .errors import Error, UnsupportedError

_MAX_CLOUD_BYTES = 256 << 20


class Values:
    """What happens to stored values: masking, unpacking, the cast. Picklable, for dask's tasks."""

    def __init__(self, stored: np.dtype[Any], nodata: Any, masked: bool, packing: tuple[float, float] | None, dtype: Any):
        self.nodata, self.packing = nodata, packing
        self.masks = masked and nodata is not None and _matches(nodata, stored)
        result = stored
        if stored.kind in "iu" and (self.masks or packing is not None):
            result = np.dtype(np.float64)
        self.worked = result
        self.result = result if dtype is None else np.dtype(dtype)
        if dtype is not None:
            arguments.check_cast(self.worked, self.result)

    def missing(self, stored: Any) -> Any:
        return stored != stored if self.nodata != self.nodata else stored == stored.dtype.type(self.nodata)

    def apply(self, stored: Any) -> Any:
        values = stored
        if self.masks:
            missing = self.missing(stored)
            values = values.astype(self.worked, copy=False)
            values[missing] = np.nan
        if self.packing is not None:
            scale, offset = self.packing
            values = values.astype(self.worked, copy=False) * self.worked.type(scale) + self.worked.type(offset)
        return values.astype(self.result, copy=False)


class Pixels:
    """Windows of a raster as (row, column[, band]). Picklable: dask's tasks carry the source and the window."""

    def __init__(self, dataset: Dataset, level: int, window: Window, band: int | None, values: Values):
        self.dataset, self.level, self.window, self.band, self.values = dataset, level, window, band, values
        self.flat = band is not None or dataset.count == 1
        self.shape: tuple[int, ...] = (window.height, window.width) if self.flat else (window.height, window.width, dataset.count)
        self.ndim, self.dtype = len(self.shape), values.result

    def stored(self, rows: slice = slice(None), columns: slice = slice(None)) -> Any:
        row, row_end, _ = rows.indices(self.window.height)
        column, column_end, _ = columns.indices(self.window.width)
        place = Window(self.window.column + column, self.window.row + row, column_end - column, row_end - row)
        if self.flat:
            return self.dataset.read(1 if self.band is None else self.band + 1, window=place, overview=self.level)
        pixels = np.empty((place.height, place.width, self.dataset.count), self.dataset.dtype)
        self.dataset.read(window=place, overview=self.level, out=np.moveaxis(pixels, -1, 0))
        return pixels

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        return self.values.apply(self.stored(*key[:2]))


def _matches(nodata: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a pixel of the type can equal nodata and is not NaN already."""
    if dtype.kind not in "iu":
        return not math.isnan(nodata)
    limits = np.iinfo(dtype)
    return math.isfinite(nodata) and float(nodata).is_integer() and limits.min <= nodata <= limits.max


def _check_nodata(nodata: Any, dtype: np.dtype[Any], allowed: bool) -> None:
    if nodata is None or dtype.kind not in "iu" or allowed:
        return
    if not math.isfinite(nodata) or not float(nodata).is_integer():
        kind = "fractional" if math.isfinite(nodata) else "non-finite"
        raise InvalidIntegerNodataError(
            f"nodata {nodata} is {kind}, and the file has {dtype} samples; pass allow_invalid_nodata=True to keep it "
            "without effect (release_gate_geotiff.rst)"
        )


def _packing(dataset: Dataset, band: int | None) -> tuple[float, float]:
    bands = dataset.bands if band is None else [dataset.bands[band]]
    for name, field in (("SCALE", "scale"), ("OFFSET", "offset")):
        if len({getattr(b, field) for b in bands}) > 1:
            raise MixedBandMetadataError(f"the file has per-band {name} values that differ; select one with band=")
    return bands[0].scale, bands[0].offset


def _transform_attr(t: Transform, is_point: bool) -> tuple[float, ...]:
    """The origin is the centre of the first pixel in files whose raster type is "point"."""
    half = 0.5 if is_point else 0.0
    return t.a, 0.0, t.c + half * t.a, 0.0, t.e, t.f + half * t.e


def _place(dataset: Dataset, level: int, window: Window, allow_rotated: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """(coordinates, attributes) of the window."""
    t = dataset.transform
    attrs: dict[str, Any] = {"_xrspatial_geotiff_contract": ATTRS_CONTRACT}
    pixels = {"y": np.arange(window.row, window.row + window.height), "x": np.arange(window.column, window.column + window.width)}
    if t is not None and (t.b or t.d):
        if not allow_rotated:
            raise RotatedTransformError(
                "the file's transform has rotation/shear (a rotated affine); pass allow_rotated=True to read its pixel grid"
            )
        attrs |= {"georef_status": GEOREF_STATUS_ROTATED_DROPPED, "_xrspatial_no_georef": True, "rotated_affine": tuple(t)}
        return pixels, attrs
    crs = _crs_attrs(dataset)
    if t is None:
        attrs |= {"georef_status": GEOREF_STATUS_CRS_ONLY if crs else GEOREF_STATUS_NONE, "_xrspatial_no_georef": True}
        return pixels, attrs | crs
    placed = dataset.window_transform(window, level)
    is_point = dataset.info.georeference.pixel_is_point
    attrs["georef_status"] = GEOREF_STATUS_FULL if crs else GEOREF_STATUS_TRANSFORM_ONLY
    attrs["transform"] = _transform_attr(placed, is_point)
    if is_point:
        attrs["raster_type"] = "point"
    centres = {
        "y": placed.f + (np.arange(window.height) + 0.5) * placed.e,
        "x": placed.c + (np.arange(window.width) + 0.5) * placed.a,
    }
    return centres, attrs | crs


def _crs_attrs(dataset: Dataset) -> dict[str, Any]:
    crs = dataset.crs
    if crs is None:
        return {}
    attrs: dict[str, Any] = {}
    if crs.epsg is not None:
        attrs["crs"] = crs.epsg
    try:
        attrs["crs_wkt"] = crs.wkt
    except UnsupportedError as error:
        import warnings

        warnings.warn(f"no crs_wkt: {error}", GeoTIFFFallbackWarning, stacklevel=4)
    return attrs


def _metadata_attrs(dataset: Dataset) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    items: dict[Any, str] = dict(dataset.tags)
    items.pop("AREA_OR_POINT", None)
    for index, band in enumerate(dataset.bands):
        items |= {(name, index): text for name, text in band.metadata.get("", {}).items()}
    if items:
        attrs["gdal_metadata"] = items
    first = dataset.bands[0]
    if first.category_names:
        attrs["category_names"] = list(first.category_names)
    if first.color_table:
        attrs["category_colors" if first.category_names else "colormap"] = first.color_table
    return attrs


def open_geotiff(
    source: Any,
    *,
    dtype: Any = None,
    window: tuple[int, int, int, int] | None = None,
    bbox: tuple[float, float, float, float] | None = None,
    overview_level: int | None = None,
    band: int | None = None,
    default_name: str | None = None,
    name: Any = UNSET,
    chunks: int | tuple[int, int] | None = None,
    gpu: bool = False,
    max_pixels: int | None = None,
    max_cloud_bytes: int | None = _MAX_CLOUD_BYTES,
    on_gpu_failure: str = "auto",
    missing_sources: str = "raise",
    band_nodata: str | None = None,
    masked: bool = False,
    mask_nodata: Any = UNSET,
    unpack: bool = False,
    mask_and_scale: Any = UNSET,
    parse_coordinates: bool = True,
    lock: Any = None,
    cache: bool = True,
    allow_rotated: bool = False,
    allow_unparseable_crs: bool = False,
    allow_invalid_nodata: bool = False,
    stable_only: bool = False,
    allow_experimental_codecs: bool = False,
    allow_internal_only_jpeg: bool = False,
) -> xr.DataArray:
    """Opens a GeoTIFF as a DataArray (y, x) or (y, x, band), as `xrspatial.geotiff.open_geotiff` does.

    `window` is (row0, col0, row1, col1), `band` counts from 0, `chunks` gives a dask array, `gpu` a CuPy array.
    `allow_unparseable_crs` has no effect: every CRS that the file stores is read. `max_cloud_bytes` has no effect,
    because only the ranges of the window are fetched.
    """
    default_name = arguments.resolve_alias(default_name, None, name, "default_name", "name")
    masked = arguments.resolve_alias(masked, False, mask_nodata, "masked", "mask_nodata")
    unpack = arguments.resolve_alias(unpack, False, mask_and_scale, "unpack", "mask_and_scale")
    arguments.warn_without_effect(lock, cache)
    if not parse_coordinates and gpu:
        raise ValueError("parse_coordinates=False is not supported with gpu=True")
    arguments.check_bool(gpu, "gpu")
    if on_gpu_failure not in ("auto", "strict"):
        raise ValueError("on_gpu_failure must be 'auto' or 'strict'")
    if on_gpu_failure != "auto" and not gpu:
        raise ValueError("on_gpu_failure only applies with gpu=True")
    arguments.check_overview(overview_level)
    for argument, value, default in (("missing_sources", missing_sources, "raise"), ("band_nodata", band_nodata, None)):
        if value != default:
            raise ValueError(f"{argument} only applies to VRT sources")
    arguments.check_source(source, gpu, chunks, stable_only, allow_experimental_codecs)
    arguments.refuse_vrt(source)

    dataset = open(source)
    arguments.check_codec(dataset, allow_experimental_codecs, allow_internal_only_jpeg)
    level = arguments.check_overview(overview_level, dataset)
    band = arguments.check_band(band, dataset.count)
    place = arguments.resolve_window(dataset, window, bbox, level, level_size(dataset, level))
    coords, attrs = _place(dataset, level, place, allow_rotated)
    nodata = dataset.bands[band or 0].nodata
    _check_nodata(nodata, dataset.dtype, allow_invalid_nodata)
    packing = _packing(dataset, band) if unpack else None
    values = Values(dataset.dtype, nodata, masked or unpack, packing, dtype)
    pixels = Pixels(dataset, level, place, band, values)

    if chunks is not None:
        data = _dask(pixels, arguments.check_chunks(chunks, place.height, place.width), gpu, max_pixels)
    else:
        arguments.check_pixels(place.height, place.width, 1 if pixels.flat else dataset.count, max_pixels)
        stored = _to_gpu(pixels, on_gpu_failure) if gpu else pixels.stored()
        if nodata is not None:
            attrs["nodata_pixels_present"] = bool(_matches_or_nan(nodata, dataset.dtype) and values.missing(stored).any())
        data = values.apply(stored)

    attrs |= _metadata_attrs(dataset)
    if nodata is not None:
        attrs["nodata"] = nodata
        attrs["masked_nodata"] = bool((masked or unpack) and values.worked.kind == "f")
        if dtype is not None:
            attrs["nodata_dtype_cast"] = values.result.name
    if packing is not None and packing != (1.0, 0.0):
        attrs["scale_factor"], attrs["add_offset"] = packing
    if unpack and values.worked != dataset.dtype:
        attrs["mask_and_scale_dtype"] = dataset.dtype.name
    dims: tuple[str, ...] = ("y", "x") if pixels.flat else ("y", "x", "band")
    if not parse_coordinates:
        coords = {}
    if not pixels.flat:
        coords["band"] = np.arange(dataset.count)
    return xr.DataArray(data, dims=dims, coords=coords, attrs=attrs, name=default_name or _default_name(source))


def _matches_or_nan(nodata: Any, dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or _matches(nodata, dtype)


def _default_name(source: Any) -> str | None:
    path = path_of(source)
    return None if path is None else os.path.splitext(os.path.basename(path))[0]


def _dask(pixels: Pixels, chunks: tuple[int, int], gpu: bool, max_pixels: Any) -> Any:
    import dask.array as da

    bands = 1 if pixels.flat else pixels.shape[2]
    arguments.check_pixels(min(chunks[0], pixels.shape[0]), min(chunks[1], pixels.shape[1]), bands, max_pixels)
    shape: Any = chunks if pixels.flat else (*chunks, bands)  # dask's annotation allows one text only
    data = da.from_array(pixels, chunks=shape, asarray=False, fancy=False,
                         meta=np.empty((0,) * pixels.ndim, pixels.dtype))  # fmt: skip
    if not gpu:
        return data
    import cupy

    return data.map_blocks(cupy.asarray, meta=cupy.empty((0,) * pixels.ndim, pixels.dtype))


def _to_gpu(pixels: Pixels, on_failure: str) -> Any:
    """Stored pixels as a CuPy array, decoded on the GPU."""
    import cupy

    try:
        bands = None if pixels.band is None else [pixels.band + 1]
        decoded = cupy.from_dlpack(
            pixels.dataset.read(bands, window=pixels.window, overview=pixels.level, device="cuda")
        )
        return decoded[0] if pixels.flat else cupy.ascontiguousarray(cupy.moveaxis(decoded, 0, -1))
    except Error as error:
        if on_failure == "strict" or os.environ.get("XRSPATIAL_GEOTIFF_STRICT", "").lower() in ("1", "true", "yes"):
            raise
        import warnings

        warnings.warn(f"the GPU could not be read into: {error}", GeoTIFFFallbackWarning, stacklevel=3)
        return cupy.asarray(pixels.stored())
