# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments of reads as requests of the library."""
from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any, TypedDict

import numpy as np

from . import _core
from ._crs import crs_text
from ._fields import set_field, unknown_argument
from ._geometry import Window, is_plain, pair, parse_window
from ._progress import Progress
from .errors import UsageError


class Resources(TypedDict, total=False):
    """Keywords that change how a read runs, and not its pixels."""

    threads: int
    memory_limit_bytes: int
    progress: Progress | None
    engine: str
    exact: bool
    strict: bool
    bad_tile: str
    device_budget_bytes: int
    device_fetch: str


def dtype_name(dtype: Any) -> str:
    """The library's name of a sample type, from what numpy takes and from torch's dtypes."""
    if isinstance(dtype, str):
        return dtype
    try:
        return np.dtype(dtype).name
    except TypeError:
        return str(dtype).removeprefix("torch.")


def number_text(value: Any) -> str:
    """A nodata value in the notation of GDAL's tag."""
    if isinstance(value, str):
        return value
    try:
        return str(operator.index(value))
    except TypeError:
        number = float(value)
        return "nan" if math.isnan(number) else repr(number)


def band_list(bands: int | Iterable[int] | None) -> tuple[list[int], bool]:
    """(list of bands, whether the result loses the axis of bands)."""
    if bands is None:
        return [], False
    if type(bands) is int and bands > 0:
        return [bands], True
    if isinstance(bands, Iterable):
        numbers = [operator.index(band) for band in bands]
        if not numbers:
            raise UsageError("bands is empty; leave it out for all bands")
        single = False
    else:
        numbers, single = [operator.index(bands)], True
    if min(numbers) < 1:
        raise UsageError(f"band {min(numbers)} does not exist; bands count from 1")
    return numbers, single


def box_in_crs(core: _core.Dataset, bbox: Iterable[float], bbox_crs: Any) -> tuple[float, float, float, float]:
    box = tuple(map(float, bbox))
    if len(box) != 4:
        raise UsageError("a bbox has four numbers: left, bottom, right, top")
    if bbox_crs is not None:
        box = _core.bbox_in(core.detailed_info(), box, crs_text(bbox_crs))
    return box  # type: ignore[return-value]


def level_size(info: _core.Info, level: int) -> tuple[int, int]:
    """(width, height) of the raster, level 0, or of an overview."""
    if level == 0:
        return info.width, info.height
    if level > len(info.overviews):
        raise UsageError(f"overview {level} does not exist; the file has {len(info.overviews)}")
    overview = info.overviews[level - 1]
    return overview.width, overview.height


def place_window(
    core: _core.Dataset,
    request: _core.ReadRequest,
    window: Any,
    bbox: Iterable[float] | None,
    bbox_crs: Any,
    boundless: bool,
) -> Window | None:
    """Sets the request's window. Returns it instead if it reaches outside the raster, which only `boundless` allows."""
    info, level = core.info, request.level
    if bbox is not None:
        if window is not None:
            raise UsageError("window and bbox exclude each other")
        box = box_in_crs(core, bbox, bbox_crs)
        window = _core.grid_window_of(info, box, level) if boundless else _core.window_of(info, box, level)
    elif window is None:
        return None
    width, height = (info.width, info.height) if level == 0 else level_size(info, level)
    place = window if is_plain(window) else parse_window(window, width, height)
    column, row, columns, rows = place
    if column >= 0 and row >= 0 and column + columns <= width and row + rows <= height:
        request.window = place
        return None
    if boundless:
        return Window(*place)
    raise UsageError(
        f"window {tuple(place)} reaches outside the raster of {width} x {height} pixels; boundless=True allows that"
    )


def make_request(
    *,
    overview: int | None = None,
    size: Any = None,
    resolution: Any = None,
    keep_extent: bool = False,
    resampling: str | None = None,
    bands: int | Iterable[int] | None = None,
    masked: bool = False,
    unpack: bool = False,
    scale: Iterable[float] | None = None,
    dtype: Any = None,
    resources: Any = None,
) -> tuple[_core.ReadRequest, bool]:
    """(the request, whether the result loses the axis of bands). place_window() adds the window."""
    request = _core.ReadRequest()
    numbers, single = band_list(bands)
    if numbers:
        request.bands = numbers
    if overview is not None:
        if operator.index(overview) < 0:
            raise UsageError(f"overview {overview} does not exist; 0 is the full resolution, 1 the first overview")
        request.level = operator.index(overview)
    if size is not None:
        width, height = pair(size, "size")
        request.target_size = (operator.index(width), operator.index(height))
    if resolution is not None:
        x, y = pair(resolution, "resolution")
        request.target_resolution = (float(x), float(y))
    if keep_extent:
        request.keep_extent = True
    if resampling is not None:
        set_field(request, "resampling", resampling)
    if masked:
        request.masked = True
    if unpack:
        request.unpack = True
    if scale is not None:
        from_min, from_max, to_min, to_max = map(float, scale)
        request.scale = (from_min, from_max, to_min, to_max)
    if dtype is not None:
        request.dtype = dtype_name(dtype)
    if resources:
        for name, value in resources.items():
            if name not in Resources.__annotations__:
                raise unknown_argument(name)
            set_field(request, name, value)
    return request, single
