# SPDX-License-Identifier: Apache-2.0
"""Mosaics of many rasters."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _core
from ._dataset import Dataset, open
from ._fields import set_fields
from ._geometry import pair
from ._requests import dtype_name
from ._sinks import make_target
from ._sources import is_url, path_of
from ._write import write_options
from .errors import UsageError


def mosaic(
    inputs: Any,
    target: Any,
    *,
    rule: str = "first",
    bounds: Iterable[float] | None = None,
    resolution: float | tuple[float, float] | None = None,
    bands: Iterable[int] | None = None,
    dtype: Any = None,
    bad_tile: str = "error",
    strict: bool = False,
    threads: int = 0,
    memory_limit_bytes: int = 0,
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> _core.MosaicReport:
    """Joins rasters of one CRS to a GeoTIFF or COG, in one pass and bounded memory: docs/mosaic.md.

    `inputs` are paths (files, folders and patterns such as `tiles/*.tif`), URLs, sources of open() and Datasets. Where
    they overlap, `rule` chooses the value: 'first', 'last', 'min', 'max', 'mean'. A pixel that is missing in one input
    lets the others show through.

    `bounds` is (left, bottom, right, top) in the CRS of the inputs, and `resolution` the size of the pixels; by default
    the mosaic has the union of the inputs and the grid of the first one. Further keywords are those of write();
    `filesystem` and `storage_options` belong to the target.

    >>> dem = terrazzo.open("dem.tif")
    >>> for name, window in (("west.tif", (0, 0, 200, 300)), ("east.tif", (150, 0, 250, 300))):
    ...     report = terrazzo.convert(dem, name, window=window)
    >>> report = terrazzo.mosaic(["west.tif", "east.tif"], "both.tif", cog=True)
    >>> bool((terrazzo.read("both.tif") == dem.read()).all())
    True
    """
    request = _core.MosaicRequest()
    set_fields(request, rule=rule, bad_tile=bad_tile, strict=strict, threads=threads, memory_limit_bytes=memory_limit_bytes)
    if bounds is not None:
        left, bottom, right, top = map(float, bounds)
        request.bounds = (left, bottom, right, top)
    if resolution is not None:
        x, y = pair(resolution, "resolution")
        request.resolution = (float(x), float(y))
    if bands is not None:
        request.bands = list(bands)
    if dtype is not None:
        request.dtype = dtype_name(dtype)
    names = _named_inputs(inputs, target, request)
    plan = _core.plan_mosaic(names, request)
    chosen = write_options(_core.mosaic_options(plan), threads=threads, **options)
    return _core.mosaic(plan, make_target(target, filesystem, storage_options), chosen)


def _named_inputs(inputs: Any, target: Any, request: _core.MosaicRequest) -> list[str]:
    """The names of the inputs. The request gets a function that opens those that are not local files."""
    items = [inputs] if path_of(inputs) is not None or isinstance(inputs, Dataset) else list(inputs)
    paths = [path_of(item) for item in items]
    out = path_of(target)
    local = [path for path in paths if path is not None and not is_url(path)]
    if len(local) == len(items):
        return _core.mosaic_inputs(local, "" if out is None or is_url(out) else out)
    sources: dict[str, Any] = {}
    for number, (item, path) in enumerate(zip(items, paths)):
        if path is not None and path == out:
            raise UsageError(f"{path}: the output is also an input")
        name = path or getattr(item, "name", None) or f"input {number + 1}"
        sources[name if name not in sources else f"{name} (input {number + 1})"] = item

    def open_input(name: str) -> _core.Dataset:
        item = sources[name]
        return item._raster if isinstance(item, Dataset) else open(item)._raster

    request.set_open(open_input)
    return list(sources)
