# SPDX-License-Identifier: Apache-2.0
"""to_geotiff(): writes a DataArray or an array with the arguments of `xrspatial.geotiff`."""
from __future__ import annotations

import io
import math
import os
import tempfile
import warnings
from typing import Any

import numpy as np
import xarray as xr

from .. import _core
from . import write_arguments as arguments
from . import write_tags as tags
from .arguments import check_gpu
from .sidecars import Statistics, check_ramp, has_categories, remove_stale, write_categories, write_symbology
from .source import is_strict
from .write_georeference import check_axes, check_crs, check_crs_attrs, check_rotation, resolve_crs, resolve_transform
from .write_values import (
    bands_first,
    check_dimensions,
    check_inverted,
    check_nodata_attrs,
    check_shape,
    fits,
    inverted,
    is_dask,
    packed,
    resolve_nodata,
    writable,
)
from .._sinks import make_target
from .._sources import is_url, path_of
from .._write import options_for
from ..compat import GeoTIFFFallbackWarning

_BUFFER_BYTES = 256 << 20


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
    streaming_buffer_bytes: int = _BUFFER_BYTES,
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

    `data` is (y, x), (y, x, band) or, as a DataArray, (band, y, x), of numpy, CuPy or dask. CRS, transform, nodata and
    descriptive tags come from attributes and coordinates, as open_geotiff() sets them. dask arrays are computed in groups
    of rows of at most `streaming_buffer_bytes`, COGs too. `pack` undoes open_geotiff(unpack=True). `color_ramp` writes a
    style for QGIS and statistics beside the file.

    >>> da = terrazzo.open_geotiff("dem.tif")
    >>> terrazzo.to_geotiff(da - 500, "relative.tif", cog=True, nodata=-9999)
    'relative.tif'
    """
    arguments.check_path(path)
    path = os.fspath(path) if isinstance(path, os.PathLike) else path
    attrs = dict(data.attrs) if isinstance(data, xr.DataArray) else {}
    categories = attrs.get("category_names"), attrs.get("category_colors")
    ramp = check_ramp(color_ramp) if isinstance(data, xr.DataArray) and not has_categories(categories[0]) and not pack else None
    arguments.check_nodata_bool(nodata)
    if gpu is not None:
        check_gpu(gpu, "a bool or None")
    if tiled or cog:
        arguments.check_tile_size(tile_size)
    arguments.check_nodata(nodata)
    if pack:
        data, nodata, attrs = packed(data, nodata)
    check_rotation(attrs, drop_rotation)
    check_shape(data)
    check_crs_attrs(crs, attrs)
    check_nodata_attrs(nodata, attrs)
    if isinstance(data, xr.DataArray):
        check_axes(data, attrs)
    codec = arguments.check_compression(
        compression, compression_level, max_z_error, allow_experimental_codecs, allow_internal_only_jpeg
    )
    check_dimensions(data)
    arguments.refuse_vrt_target(path, cog, overview_levels, tiled, np.ndim(data))
    arguments.check_target(path, cog, gpu, is_dask(data.data if isinstance(data, xr.DataArray) else data))
    arguments.warn_of_opt_ins(compression, codec)
    tags.check_rich_attrs(attrs, allow_experimental_codecs)
    if cog and not tiled:
        raise ValueError("cog=True requires tiled=True: tiled=False is not compatible with a Cloud Optimized GeoTIFF.")
    if not tiled and tile_size != 256:
        warnings.warn(
            f"tile_size={tile_size} is ignored when tiled=False (strip layout). Drop tile_size to silence this warning.",
            UserWarning,
            stacklevel=2,
        )
    if gpu and not tiled:
        raise ValueError("tiled=False is not compatible with gpu=True, which writes tiles. Drop one of them.")
    if gpu and max_z_error != 0:
        raise ValueError("max_z_error is not supported with gpu=True. Pass gpu=False.")

    check_crs(crs)
    transform = resolve_transform(data, attrs) if isinstance(data, xr.DataArray) else None
    if crs is None:
        check_crs(attrs.get("crs"))
    pixels = bands_first(data)
    bands, height, width = pixels.shape
    nodata = resolve_nodata(nodata, attrs)
    is_point = attrs.get("raster_type") == "point"
    written_crs = resolve_crs(crs, attrs, is_point, allow_unparseable_crs)
    arguments.check_jpeg(codec, pixels.dtype)
    chosen_predictor = arguments.check_predictor(predictor, codec, pixels.dtype)
    number = arguments.check_photometric(photometric, bands)
    number = _overridden(number, attrs, bands, photometric)
    is_inverted = number == 0 and bands == 1
    if is_inverted:
        is_lazy = isinstance(data, xr.DataArray) and is_dask(pixels)
        check_inverted(pixels, is_simple=not (cog or overview_levels is not None or is_lazy or gpu))
    factors = arguments.check_overviews(overview_levels, height, width) if cog else None
    overview_method = arguments.check_resampling(overview_resampling) if cog else None
    arguments.check_nodata_bool(nodata)
    pixels = writable(pixels)
    if is_inverted:
        pixels, nodata = inverted(pixels, nodata)
    buffer_bytes = math.floor(streaming_buffer_bytes) if is_dask(pixels) else _BUFFER_BYTES
    filled = pixels.dtype.kind == "f" and nodata is not None and attrs.get("masked_nodata") is not False
    options: dict[str, Any] = {
        "crs": written_crs.definition,
        "transform": transform,
        "pixel_is_point": is_point if transform is not None or written_crs.definition is not None else None,
        "compression": codec,
        "level": arguments.level_of(codec, compression_level),
        "predictor": chosen_predictor,
        "bigtiff": "automatic" if bigtiff is None else "always" if bigtiff else "never",
        "streaming_buffer_bytes": max(1, buffer_bytes),
        "nan_to_nodata": filled,
        "lerc_max_error": float(max_z_error) if codec == "lerc" else None,
    }
    options |= {"tile_size": int(tile_size)} if tiled else {"strip_rows": min(256, height)}
    if cog:
        factors = arguments.automatic_overviews(height, width, tile_size) if factors is None else factors
        options |= {"cog": True, "overviews": factors, "overview_resampling": overview_method}
    own_nodata = nodata is not None and not fits(nodata, pixels.dtype)
    if nodata is not None and not own_nodata:
        options["nodata"] = str(nodata)
    chosen, corrections = _colors(options, pixels, attrs, number, photometric, codec)
    if "nodata" in options and isinstance(nodata, float):  # the library writes the number that pixels can have
        corrections[tags.NODATA] = str(nodata).encode() + b"\0"
    for tag, field_type, count, content in [*written_crs.geo_keys, *tags.raw_tags(attrs, nodata, own_nodata, bool(bigtiff))]:
        chosen.add_extra_tag(tag, field_type, count, content)
    if gpu:
        pixels = _on_gpu(pixels)
    arguments.check_folder(path)
    statistics = _wanted_statistics(ramp, color_ramp_range, path, bands, nodata)
    _write_to(path, pixels, chosen, corrections, buffer_bytes, statistics)
    if path_of(path) is not None and not is_url(path_of(path) or ""):
        _write_sidecars(path_of(path) or "", ramp, color_ramp_range, categories, statistics)
    return path


def _on_gpu(pixels: Any) -> Any:
    """The pixels in GPU memory, or as they are if there is no CuPy."""
    try:
        import cupy
    except ImportError as error:
        if is_strict():
            raise
        warnings.warn(f"gpu=True needs cupy ({error}); the host writes the file", GeoTIFFFallbackWarning, stacklevel=3)
        return pixels
    return pixels.map_blocks(cupy.asarray) if is_dask(pixels) else cupy.asarray(pixels)


def _overridden(number: int, attrs: dict[str, Any], bands: int, photometric: Any) -> int:
    """The photometric number after attrs['extra_tags']."""
    given = tags.override(attrs, tags.PHOTOMETRIC)
    if not given or given[0] == number:
        return number
    if bands == 1 and 0 in (given[0], number):
        raise ValueError(
            f"extra_tags TAG_PHOTOMETRIC override ({given[0]}) disagrees with photometric={photometric!r} for a single-band "
            "raster: MinIsWhite inverts the pixels. Pass photometric= instead."
        )
    return given[0]


def _colors(
    options: dict[str, Any], pixels: Any, attrs: dict[str, Any], number: int, photometric: Any, codec: str
) -> tuple[Any, tags.Corrections]:
    """(options of the library, tags to correct in the file)."""
    bands = pixels.shape[0]
    corrections: tags.Corrections = {}
    samples = tags.override(attrs, tags.EXTRA_SAMPLES, "extra_samples") or ()
    is_auto = isinstance(photometric, str) and photometric.lower() == "auto"
    if is_auto and number == 1 and bands > 3 and len(samples) == bands - 3:  # attributes of a file with three colours
        number = 2
    names = {0: "miniswhite", 1: "minisblack", 2: "rgb"}
    if codec == "jpeg" and bands == 3:
        number, photometric = 2, "rgb"
    if bands < 3:
        del names[2]
    options["photometric"] = names.get(number, "minisblack")
    if number == 2 and bands > 3:
        is_alpha = isinstance(photometric, str) and photometric.lower() == "rgba"
        corrections[tags.EXTRA_SAMPLES] = (2 if is_alpha else 0, *[0] * (bands - 4))
    if samples and len(samples) == bands - (3 if number == 2 else 1):
        corrections[tags.EXTRA_SAMPLES] = samples
    palette = tags.override(attrs, tags.COLOR_MAP, "colormap")
    if palette is not None and bands == 1 and pixels.dtype in (np.uint8, np.uint16) and len(palette) == 3 << 8 * pixels.dtype.itemsize:
        options["photometric"] = None
        options["color_table"] = [(0, 0, 0, 255)] * (len(palette) // 3)
        corrections[tags.COLOR_MAP] = palette
        corrections[tags.PHOTOMETRIC] = (number,)
    if number not in names:
        corrections[tags.PHOTOMETRIC] = (number,)
    return options_for(pixels.dtype, bands, pixels.shape[1], pixels.shape[2], **options), corrections


# --- Writing


def _write_to(
    path: Any, pixels: Any, options: Any, corrections: tags.Corrections, buffer_bytes: int, statistics: Statistics | None
) -> None:
    name = path_of(path)
    if name is not None and is_url(name):
        _write_url(name, pixels, options, corrections, buffer_bytes)
        return
    if name is not None:
        _write_pixels(name, pixels, options, buffer_bytes, statistics)
        if corrections:
            with open(name, "r+b") as file:
                tags.correct(file, corrections, appends=not options.cog)
        return
    if hasattr(path, "seek") and hasattr(path, "truncate"):
        path.seek(0)
        path.truncate()
    if not corrections:
        _write_pixels(path, pixels, options, buffer_bytes, statistics)
        return
    memory = io.BytesIO()
    _write_pixels(memory, pixels, options, buffer_bytes, statistics)
    tags.correct(memory, corrections, appends=not options.cog)
    path.write(memory.getvalue())


def _write_url(url: str, pixels: Any, options: Any, corrections: tags.Corrections, buffer_bytes: int) -> None:
    """The object appears when the file is complete, so that an error leaves none, or the one that was there."""
    import fsspec

    filesystem, place = fsspec.core.url_to_fs(url)
    with tempfile.TemporaryDirectory() as folder:
        local = os.path.join(folder, "raster.tif")
        _write_to(local, pixels, options, corrections, buffer_bytes, None)
        filesystem.put_file(local, place)


def _write_pixels(target: Any, pixels: Any, options: Any, buffer_bytes: int, statistics: Statistics | None) -> None:
    _, height, width = pixels.shape
    writer = _core.Writer(make_target(target), width, height, options)
    try:
        for first, end in _groups(pixels, buffer_bytes):
            rows = pixels[:, first:end]
            rows = rows.compute() if is_dask(pixels) else rows
            if isinstance(rows, np.ndarray) and not rows.dtype.isnative:
                rows = rows.astype(rows.dtype.newbyteorder("="))
            if statistics is not None:
                statistics.add(rows)
            writer.write_rows(rows)
        writer.close()
    except BaseException:
        writer.abort()
        raise


def _groups(pixels: Any, buffer_bytes: int) -> list[tuple[int, int]]:
    """Rows to compute at a time: whole chunks as far as the buffer allows, else parts of a chunk."""
    bands, height, width = pixels.shape
    if not is_dask(pixels):
        return [(0, height)]
    most = max(1, buffer_bytes // (bands * width * pixels.dtype.itemsize))
    groups: list[tuple[int, int]] = []
    first = 0
    for rows in pixels.chunks[1]:
        end = first + rows
        if groups and end - groups[-1][0] <= most:
            groups[-1] = (groups[-1][0], end)
        else:
            groups += [(row, min(row + most, end)) for row in range(first, end, most)]
        first = end
    return groups


# --- Sidecars


def _wanted_statistics(ramp: Any, limits: Any, path: Any, bands: int, nodata: Any) -> Statistics | None:
    """What the pixels must be counted for, while they are written."""
    local = path_of(path) is not None and not is_url(path_of(path) or "")
    if ramp is None or limits is not None or bands != 1 or not local:
        return None
    return Statistics(nodata)


def _write_sidecars(path: str, ramp: list[str] | None, limits: Any, categories: Any, statistics: Statistics | None) -> None:
    remove_stale(path)
    if write_categories(path, *categories):
        return
    if ramp is None:
        return
    found: dict[str, float] | None = None
    if statistics is not None:
        found = statistics.result()
    elif limits is not None:
        low, high = map(float, limits)
        found = {"MINIMUM": low, "MAXIMUM": high}
    if found is not None:
        write_symbology(path, ramp, found)
