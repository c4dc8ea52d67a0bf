# SPDX-License-Identifier: Apache-2.0
"""open_geotiff(): a DataArray with the dims, coordinates and attributes of `xrspatial.geotiff`."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import xarray as xr

from . import arguments
from .arguments import UNSET
from .georeference import NO_PLACE, coordinates, flipped, has_place, moved, place_attrs, read_grid, read_place
from .levels import Levels, check_layout, check_samples, declared_type, sample_type
from .metadata import category_attrs, metadata_attrs, read_metadata, read_nodata, read_packing
from .pixels import Pixels, require_cupy
from .source import MAX_CLOUD_BYTES, Source, environment_size, is_vrt
from .values import Values, check_nodata, inversion
from .._sources import path_of
from ..compat import ATTRS_CONTRACT

# Compressions whose blocks must decode to exactly the bytes of their pixels: none, Deflate, PackBits, ZSTD.
_EXACT = (1, 8, 32946, 32773, 50000)
_BITS, _COMPRESSION, _PHOTOMETRIC, _ORIENTATION, _SAMPLES = 258, 259, 262, 274, 277


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
    max_cloud_bytes: Any = UNSET,
    on_gpu_failure: Any = UNSET,
    missing_sources: Any = UNSET,
    allow_rotated: bool = False,
    allow_unparseable_crs: bool = False,
    allow_invalid_nodata: bool = False,
    stable_only: bool = False,
    allow_experimental_codecs: bool = False,
    allow_internal_only_jpeg: bool = False,
    band_nodata: str | None = None,
    masked: bool = False,
    mask_nodata: Any = UNSET,
    unpack: bool = False,
    mask_and_scale: Any = UNSET,
    parse_coordinates: bool = True,
    lock: Any = None,
    cache: bool = True,
) -> xr.DataArray:
    """Opens a GeoTIFF as a DataArray (y, x) or (y, x, band), as `xrspatial.geotiff.open_geotiff` does.

    `source` is a path, an http(s) or fsspec URL, or a binary file object. The place: `window` is (row0, col0, row1,
    col1), `bbox` (x_min, y_min, x_max, y_max) in the CRS of the file; `band` counts from 0, `overview_level` from 0, the
    full resolution. The values: `masked` makes nodata NaN, `unpack` also applies SCALE and OFFSET, `dtype` is the type
    of the result. `chunks` gives a dask array, `gpu` a CuPy array.

    >>> da = terrazzo.open_geotiff("dem.tif", bbox=(500000, 4199000, 501000, 4200000))
    >>> da.shape, da.attrs["transform"]
    ((100, 100), (10.0, 0.0, 500000.0, 0.0, -10.0, 4200000.0))
    """
    default_name = arguments.resolve_alias(default_name, None, name, "default_name", "name")
    masked = arguments.resolve_alias(masked, False, mask_nodata, "masked", "mask_nodata")
    unpack = arguments.resolve_alias(unpack, False, mask_and_scale, "unpack", "mask_and_scale")
    arguments.warn_without_effect(lock, cache)
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    vrt = is_vrt(source)
    if not parse_coordinates and gpu:
        raise ValueError("parse_coordinates=False is not supported with gpu=True. Drop gpu=True or the kwarg.")
    for argument, refused in (("parse_coordinates=False", not parse_coordinates), ("unpack=True", unpack)):
        if refused and vrt:
            raise ValueError(f"{argument} is not supported for .vrt sources. Drop the kwarg.")
    arguments.check_gpu(gpu)
    level = arguments.check_overview(overview_level)
    if vrt and level:
        raise ValueError("overview_level is not supported for VRT sources: a VRT references its own source files.")
    on_gpu_failure = arguments.check_gpu_failure(on_gpu_failure, gpu, vrt)
    arguments.check_file_like(source, gpu, chunks)
    arguments.check_vrt_arguments(missing_sources, band_nodata, vrt)
    arguments.check_cloud_bytes(max_cloud_bytes, vrt, gpu, chunks)
    chunk_size = arguments.check_chunks(chunks)
    arguments.check_stable(source, vrt, stable_only, allow_experimental_codecs)
    arguments.check_exclusive(bbox, window)
    arguments.check_source(source, bbox)
    if vrt:
        if not os.path.exists(source):
            raise FileNotFoundError(2, os.strerror(2), source)
        arguments.refuse_vrt(source)

    if gpu:
        require_cupy()
    if max_cloud_bytes is UNSET:
        max_cloud_bytes = environment_size("XRSPATIAL_GEOTIFF_MAX_CLOUD_BYTES", MAX_CLOUD_BYTES)
    opened = Source(source, max_cloud_bytes, check_size=chunks is None)
    levels = Levels(opened, level)
    directory, parent = levels.directory, levels.parent
    samples = directory.number(_SAMPLES, 1)
    read_grid(directory if levels.has_own_place else levels.first, None, allow_rotated)  # refuses what is no grid
    nodata = read_nodata(directory, parent)
    bits = directory.number(_BITS, 8)
    declared = declared_type(directory)
    if declared is not None:
        check_nodata(nodata, declared, allow_invalid_nodata)
    if bbox is not None:
        window = _box_window(levels, bbox, allow_rotated)
    arguments.check_codec(directory.number(_COMPRESSION, 1), allow_experimental_codecs, allow_internal_only_jpeg)
    orientation = directory.number(_ORIENTATION, 1)
    refusals = arguments.Refusals(deferred=chunks is not None and opened.path is not None)
    with refusals:
        _check_orientation(orientation, is_part=window is not None or chunks is not None)
    check_samples(directory)
    part = arguments.check_window(window, levels.size)
    band = arguments.check_band(band, samples)
    if chunk_size is None:
        arguments.check_pixels(part.height, part.width, samples, -(-bits // 8), max_pixels)
    with refusals:
        if not 1 <= orientation <= 8:
            raise ValueError(f"Invalid TIFF Orientation tag value: {orientation} (must be 1-8 per TIFF 6.0)")
        check_layout(directory, is_local=opened.path is not None)

    dataset, overview, stored = None, 0, None
    with refusals:
        dataset, overview = levels.open()
        samples, stored = dataset.count, np.dtype(np.float32) if dataset.dtype == np.float16 else dataset.dtype
    stored = sample_type(directory) if stored is None else stored
    check_nodata(nodata, stored, allow_invalid_nodata)
    place = read_place(
        directory if levels.has_own_place else levels.first, dataset if levels.has_sidecar_place else None, allow_rotated,
        allow_unparseable_crs,
    )  # fmt: skip
    if not levels.has_own_place:
        place = NO_PLACE if place.transform is None else moved(place, levels.size, levels.full_size)
    if chunk_size is None:
        place = flipped(place, orientation, levels.size)

    packing = read_packing(read_metadata(directory, parent), band) if unpack else None
    inverted = None
    if chunk_size is not None:
        with refusals:
            rows, columns = min(chunk_size[0], part.height), min(chunk_size[1], part.width)
            arguments.check_pixels(rows, columns, samples, stored.itemsize, max_pixels)
    with refusals:
        inverted = inversion(directory.number(_PHOTOMETRIC, 1), bits, samples, stored)
    values = Values(stored, nodata, bool(masked or unpack), packing, dtype, inverted)

    attrs: dict[str, Any] = {"_xrspatial_geotiff_contract": ATTRS_CONTRACT} | place_attrs(place, part)
    attrs |= metadata_attrs(directory, parent) | category_attrs(opened.path)
    if chunk_size is not None:
        arguments.check_tasks(chunk_size, part.height, part.width)
        pixels = Pixels(dataset, samples, overview, part, band, values, orientation, refusals.error)
        data = pixels.as_dask(chunk_size, gpu, opened.version())
    else:
        arguments.check_pixels(part.height, part.width, samples, stored.itemsize, max_pixels)
        pixels = Pixels(dataset, samples, overview, part, band, values, orientation)
        raw = pixels.on_gpu(on_gpu_failure) if gpu else pixels.stored(strict=directory.number(_COMPRESSION, 1) in _EXACT)
        if nodata is not None:
            attrs["nodata_pixels_present"] = values.has_missing(raw)
        data = values.apply(raw)
    attrs |= _value_attrs(values, nodata, bool(masked or unpack), bool(unpack), dtype)

    coords: dict[str, Any] = {}
    if parse_coordinates:
        upright = part if pixels.orientation < 5 else part._replace(width=part.height, height=part.width)
        coords |= coordinates(place, upright)
    if not pixels.flat:
        coords["band"] = np.arange(samples)
    dims = ("y", "x") if pixels.flat else ("y", "x", "band")
    chosen_name = _default_name(source) if default_name is None else default_name
    return xr.DataArray(data, dims=dims, coords=coords, attrs=attrs, name=chosen_name)


def _check_orientation(orientation: int, is_part: bool) -> None:
    if orientation != 1 and is_part:
        raise ValueError(
            f"Orientation tag (274) is {orientation}; windowed reads (window=...) and dask-chunked reads (chunks=...) are not "
            "supported for non-default orientation. Read the full array first, then slice."
        )


def _box_window(levels: Levels, bbox: Any, allow_rotated: bool) -> tuple[int, int, int, int]:
    """The window of a box, as (row0, col0, row1, col1)."""
    directory = levels.directory if levels.has_own_place else levels.first
    dataset = None if has_place(directory) or not levels.has_sidecar_place else levels.open()[0]
    place = read_grid(directory, dataset, allow_rotated)
    box = arguments.check_box(bbox)
    return arguments.box_window(place if levels.has_own_place else moved(place, levels.size, levels.full_size), box, levels.size)


def _value_attrs(values: Values, nodata: Any, masked: bool, unpack: bool, dtype: Any) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    if nodata is not None:
        attrs["nodata"] = nodata
        attrs["masked_nodata"] = masked and values.worked.kind == "f"
        if dtype is not None:
            attrs["nodata_dtype_cast"] = values.result.name
    if unpack:
        if values.scales:
            assert values.packing is not None
            attrs["scale_factor"], attrs["add_offset"] = values.packing
        if values.worked != values.stored or (values.stored.kind == "f" and (values.scales or nodata is not None)):
            attrs["mask_and_scale_dtype"] = values.stored.name
    return attrs


def _default_name(source: Any) -> str | None:
    path = None if isinstance(source, bytes) else path_of(source)
    return None if path is None else os.path.splitext(os.path.basename(path))[0]
