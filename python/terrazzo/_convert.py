# SPDX-License-Identifier: Apache-2.0
"""Conversion of one file and of many."""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._dataset import as_dataset
from ._fields import set_field
from ._geometry import WindowLike
from ._requests import make_request, place_window
from ._sinks import make_target
from ._write import write_options
from .errors import UsageError

_READ_KEYWORDS = ("overview", "size", "resolution", "keep_extent", "resampling", "masked", "unpack", "scale", "dtype")
_WEB_KEYWORDS = ("tiling_scheme", "zoom_level", "aligned_levels")
_WEB_SCHEME = "GoogleMapsCompatible"


def convert(
    source: Any,
    target: Any,
    *,
    bands: Iterable[int] | None = None,
    window: WindowLike | None = None,
    bbox: Iterable[float] | None = None,
    bbox_crs: Any = None,
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> _core.ConvertReport:
    """Converts a raster to a GeoTIFF, in one pass and bounded memory.

    Pixels: `bands`, `window` or `bbox`, `overview`, `size` or `resolution`, `resampling`, `masked`, `unpack`, `scale`,
    `dtype`, as in Dataset.read(). File: the keywords of write(); `filesystem` and `storage_options` belong to the target:
    open a source that needs its own by terrazzo.open().

    >>> terrazzo.convert("dem.tif", "part.tif", window=(0, 0, 100, 50), compression="deflate").write.tiles
    1
    """
    dataset = as_dataset(source)
    place = make_target(target, filesystem, storage_options)
    return _core.convert(dataset._raster, place, _setup(dataset._raster, bands, window, bbox, bbox_crs, options))


def cog(source: Any, target: Any, **options: Any) -> _core.ConvertReport:
    """Converts a raster to a Cloud-Optimized GeoTIFF with overviews: see convert().

    `tiling_scheme="GoogleMapsCompatible"` makes its tiles those of web maps, of a raster in EPSG:3857: on the level
    `zoom_level` or the one with the nearest size of pixels, for the raster and `aligned_levels` - 1 overviews.

    >>> report = terrazzo.cog("dem.tif", "cog.tif")
    >>> terrazzo.validate("cog.tif").valid_cog
    True
    """
    return convert(source, target, cog=True, **options)


def convert_many(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    files_at_once: int = 1,
    threads: int = 0,
    overwrite: bool = False,
    progress: Any = None,
    **options: Any,
) -> dict[str, _core.ConvertOutcome]:
    """Converts files, folders and patterns such as `scenes/*.tif` into a folder; subfolders are repeated there.

    The result maps the path of each source to an outcome with `state` ('done', 'skipped', 'failed', 'cancelled'),
    `report`, `error` and `seconds`. A file that fails does not stop the others. A file whose output is newer and has the
    same options is skipped, unless `overwrite`. `options` are those of convert(), and `cog`, which is True by default;
    `progress` counts bytes of the sources.

    >>> outcomes = terrazzo.convert_many(["dem.tif"], "cogs", compression="deflate")
    >>> outcomes["dem.tif"].state, os.listdir("cogs")
    ('done', ['dem.tif'])
    """
    names = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    jobs = _core.conversion_jobs([os.fspath(name) for name in names], os.fspath(folder))
    options = {"cog": True, **options}
    text = repr(sorted(options.items()))
    bands, window, bbox, bbox_crs = (options.pop(name, None) for name in ("bands", "window", "bbox", "bbox_crs"))

    def set_up(raster: _core.Dataset) -> _core.ConvertSetup:
        return _setup(raster, bands, window, bbox, bbox_crs, dict(options))

    outcomes = _core.convert_many(jobs, set_up, files_at_once, threads, overwrite, text, progress)
    return {source: outcome for (source, _), outcome in zip(jobs, outcomes)}


def _setup(
    raster: _core.Dataset, bands: Any, window: Any, bbox: Any, bbox_crs: Any, options: dict[str, Any]
) -> _core.ConvertSetup:
    """The request and the options of a conversion. Takes the keywords of reads out of `options`."""
    reading = {name: options.pop(name) for name in _READ_KEYWORDS if name in options}
    web = {name: options.pop(name) for name in _WEB_KEYWORDS if name in options}
    setup = _core.ConvertSetup()
    request, _ = make_request(bands=bands, **reading)
    place_window(raster, request, window, bbox, bbox_crs, boundless=False)
    setup.read = request
    setup.write = write_options(_core.conversion_options(raster, request), **options)
    if options.get("cog"):
        _core.make_alpha_the_mask(raster, setup)
    if web.get("tiling_scheme") is not None:
        _align(raster, setup, reading, options, **web)
    elif web:
        raise UsageError(f"{', '.join(web)} need tiling_scheme={_WEB_SCHEME!r}")
    return setup


def _align(
    raster: _core.Dataset,
    setup: _core.ConvertSetup,
    reading: dict[str, Any],
    options: dict[str, Any],
    tiling_scheme: str,
    zoom_level: int | None = None,
    aligned_levels: int = 0,
) -> None:
    if tiling_scheme != _WEB_SCHEME:
        raise UsageError(f"tiling_scheme is {tiling_scheme!r}; the only one is {_WEB_SCHEME!r}")
    web = _core.WebTileOptions()
    set_field(web, "aligned_levels", aligned_levels)
    if zoom_level is not None:
        set_field(web, "zoom_level", zoom_level)
    tile_size = options.get("tile_size")
    if tile_size is not None:
        if not isinstance(tile_size, int):
            raise UsageError("tiles of web maps are square: tile_size is one number")
        web.tile_size = tile_size
    if reading.get("resampling") is not None:
        set_field(web, "resampling", reading["resampling"])
    _core.align_to_web_tiles(raster, setup, web)
