# SPDX-License-Identifier: Apache-2.0
"""Operations on whole files: validate, edit, overviews, stats, preview, doctor."""
from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from types import EllipsisType
from typing import Any

from . import _core
from ._crs import core_crs
from ._dataset import as_dataset
from ._fields import set_field, set_fields
from ._geometry import WindowLike, parse_transform, parse_window
from ._requests import Resources, band_list, make_request, number_text, place_window
from ._sources import is_url, make_source, path_of
from .errors import UsageError, missing_file


def validate(
    source: Any,
    *,
    decode: bool = False,
    max_findings: int = 100,
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: Any = None,
) -> _core.Validation:
    """Checks whether a file, or any other source of open(), is complete and a valid Cloud-Optimized GeoTIFF.

    `decode` also decodes every tile. validation_rules() lists the rules.

    >>> [finding.rule for finding in terrazzo.validate(b"II*").findings]
    ['not-a-tiff']
    """
    options = _core.ValidateOptions()
    set_fields(options, decode=decode, max_findings=max_findings, progress=progress)
    path = path_of(source)
    if path is None or filesystem is not None or storage_options or is_url(path):
        return _core.validate_source(make_source(source, filesystem, storage_options)[0], options)
    with missing_file(path):
        return _core.validate(path, options)


def validation_rules() -> list[_core.ValidationRule]:
    """The rules of validate(), with name, severity, meaning, and whether GDAL's validator has them.

    >>> terrazzo.validation_rules()[0].name
    'not-a-tiff'
    """
    return _core.validation_rules()


def edit(
    path: Any,
    *,
    nodata: float | str | None | EllipsisType = ...,
    crs: Any = ...,
    transform: Any = ...,
    tags: Mapping[str, Any] | None = None,
    unset: Iterable[str] = (),
    bands: Mapping[int, Mapping[str, Any]] | None = None,
    rewrite: bool = False,
    progress: Any = None,
) -> _core.EditReport:
    """Changes the tags of a file and leaves its pixels alone.

    None removes nodata, CRS or transform. `tags` sets metadata items; `unset`, or the value None, removes some. `bands`
    maps the number of a band to its `description`, `unit`, `scale`, `offset` and `tags`. `rewrite` allows a new file if
    the change does not fit.

    >>> terrazzo.edit("edit.tif", nodata=-9999, tags={"AUTHOR": "me"}, bands={1: {"description": "height"}}).way
    'appended'
    """
    changes = _core.FileEdit()
    if nodata is not ...:
        changes.nodata = "" if nodata is None else number_text(nodata)
    if crs is None:
        changes.remove_crs = True
    elif crs is not ...:
        changes.crs = core_crs(crs)
    if transform is None:
        changes.remove_transform = True
    elif transform is not ...:
        changes.transform = parse_transform(transform).to_gdal()
    if tags is not None:
        changes.set = {key: str(value) for key, value in tags.items() if value is not None}
    changes.unset = [*unset, *(key for key, value in (tags or {}).items() if value is None)]
    changes.bands = [_band_edit(band, values) for band, values in (bands or {}).items()]
    options = _core.EditOptions()
    set_fields(options, rewrite=rewrite, progress=progress)
    file = _local(path)
    with missing_file(file):
        return _core.edit(file, changes, options)


def _band_edit(band: int, values: Mapping[str, Any]) -> _core.BandEdit:
    change = _core.BandEdit()
    change.band = band
    for name, value in values.items():
        if name == "tags":
            change.set = {key: str(text) for key, text in value.items() if text is not None}
            change.unset = [key for key, text in value.items() if text is None]
        elif name in ("description", "unit", "scale", "offset"):
            set_field(change, name, value)
        else:
            raise TypeError(f"a band has no {name!r} that edit() can change")
    return change


def _local(path: Any) -> str:
    file = path_of(path)
    if file is None or is_url(file):
        name = type(path).__name__ if file is None else file
        raise UsageError(
            f"{name} is not a local path; only local files are changed in place: copy it to one first, or write the changed "
            "raster by terrazzo.convert()"
        )
    return file


def overviews(
    path: Any,
    factors: Iterable[int] | None = None,
    *,
    resampling: str | None = None,
    external: bool = False,
    keep: bool = False,
    compression: str | None = None,
    level: int | None = None,
    threads: int = 0,
    progress: Any = None,
) -> _core.OverviewReport:
    """Adds overviews to a file: inside it, or in FILE.ovr with `external`. An empty list of factors removes them.

    >>> [(o.width, o.height) for o in terrazzo.overviews("edit.tif", [2, 4]).overviews]
    [(200, 150), (100, 75)]
    """
    options = _core.OverviewOptions()
    if factors is not None:
        options.factors = list(factors)
    if resampling is not None:
        set_field(options, "resampling", resampling)
    options.place = "external" if external else "internal"
    set_fields(options, keep=keep, threads=threads, progress=progress)
    if compression is not None:
        options.set_compression(compression, level)
    elif level is not None:
        raise UsageError("a level needs a compression")
    file = _local(path)
    with missing_file(file):
        return _core.add_overviews(file, options)


def stats(
    source: Any,
    bands: int | Iterable[int] | None = None,
    *,
    window: WindowLike | None = None,
    bbox: Iterable[float] | None = None,
    bbox_crs: Any = None,
    bins: int = 0,
    range: tuple[float, float] | None = None,
    **reading: Any,
) -> list[_core.BandStats]:
    """Minimum, maximum, mean, standard deviation and counts of each band, in bounded memory; a histogram with `bins`.

    >>> stats = terrazzo.stats("dem.tif")[0]
    >>> stats.valid == stats.total == 400 * 300
    True
    """
    dataset = as_dataset(source)
    request = _core.StatsRequest()
    resources = {name: reading.pop(name) for name in Resources.__annotations__ if name in reading}
    read, _ = make_request(bands=bands, resources=resources, **reading)
    place_window(dataset._raster, read, window, bbox, bbox_crs, boundless=False)
    request.read = read
    set_field(request, "histogram_bins", bins)
    if range is not None:
        request.histogram_min, request.histogram_max = map(float, range)
    return _core.compute_stats(dataset._raster, request)


def preview(
    source: Any,
    *,
    max_size: int = 1024,
    style: str = "automatic",
    bands: int | Iterable[int] | None = None,
    colormap: str = "viridis",
    stretch: tuple[float, float] = (2, 98),
    range: tuple[float, float] | None = None,
    gamma: float = 1,
    window: WindowLike | None = None,
    threads: int = 0,
    progress: Any = None,
) -> bytes:
    """Draws a picture of a raster: the bytes of a PNG.

    `style` is 'automatic', 'gray', 'colormap', 'hillshade' or 'rgb'. `stretch` are percentiles, `range` values.

    >>> terrazzo.preview("dem.tif", style="hillshade")[1:4]
    b'PNG'
    """
    dataset = as_dataset(source)
    request = _core.PreviewRequest()
    set_fields(request, max_size=max_size, style=style, colormap=colormap, gamma=gamma, threads=threads, progress=progress)
    request.bands = band_list(bands)[0]
    request.stretch_low, request.stretch_high = map(float, stretch)
    if range is not None:
        request.range_min, request.range_max = map(float, range)
    if window is not None:
        set_field(request, "window", parse_window(window, dataset.width, dataset.height))
    return _core.make_preview(dataset._raster, request)


def doctor() -> dict[str, Any]:
    """The version, the machine, the codecs and the GPU that this installation can use.

    >>> terrazzo.doctor()["codecs"]["deflate"]
    True
    """
    machine, device = _core.machine(), _core.device_state()
    return {
        "version": _core.version,
        "python": platform.python_version(),
        "cores": machine.cores,
        "memory_bytes": machine.memory_bytes,
        "codecs": {codec.name: codec.available for codec in _core.codecs()},
        "device": {
            "built": device.built,
            "usable": device.usable,
            "reason": device.reason,
            "name": device.name,
            "libraries": {library.name: library.found for library in device.libraries},
        },
    }
