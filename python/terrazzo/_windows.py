# SPDX-License-Identifier: Apache-2.0
"""Many windows of many rasters in one array."""
from __future__ import annotations

import logging
import math
from collections.abc import Iterable, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._boundless import fill_around, outside_values, read_around, read_part
from ._dataset import Dataset, as_dataset
from ._device import goes_to_device, make_array, maker_name, on_device, stream_address
from ._requests import dtype_name, make_request, number_text
from ._sources import path_of
from ._window_places import Grid, Part, Raster
from .errors import CancelledError, DeviceError, Error, UnsupportedError, UsageError

if TYPE_CHECKING:
    from typing import Unpack

    from ._requests import Resources

_LOG = logging.getLogger("terrazzo")

# Mistakes of the caller, and failures that are not those of a file.
NOT_OF_A_FILE = (UsageError, CancelledError, DeviceError)


def read_windows(
    items: Iterable[tuple[Any, Any]],
    *,
    size: int | tuple[int, int] | None = None,
    bands: int | Iterable[int] | None = None,
    overview: int | None = None,
    resolution: float | tuple[float, float] | None = None,
    resampling: str | None = None,
    bbox_crs: Any = None,
    boundless: bool = True,
    masked: bool = False,
    unpack: bool = False,
    scale: float | Sequence[float] | None = None,
    offset: float | Sequence[float] | None = None,
    fill: float | None = None,
    dtype: Any = None,
    out: Any = None,
    like: Any = None,
    device: str | int | None = None,
    stream: Any = None,
    on_error: str = "raise",
    return_valid: bool = False,
    errors: MutableMapping[int, Exception] | None = None,
    **resources: Unpack[Resources],
) -> Any:
    """Reads windows of one size, from one raster or several, into one array: (windows, bands, rows, columns).

    `items` are pairs of a Dataset or a source, and a place: a window, (column, row, width, height) or the other forms
    of Dataset.read, or a box of coordinates, terrazzo.Bounds or an object with `left`, `bottom`, `right` and `top`, in
    the raster's CRS or `bbox_crs`. Each tile is decoded once for all windows; each path is opened once.

    The scale: places of another size than `size`, (width, height), are resampled to it, and `resolution` resamples to
    pixels of exactly that size, by `resampling` (default 'nearest'), from the smallest overview that is fine enough.
    A box that needs no resampling begins at the nearest whole pixel. With `overview`, windows are in its pixels.

    The values: `dtype` is the common type of the rasters by default. `masked`, `unpack` and `fill` are those of
    Dataset.read. `scale` and `offset`, one number or one for each band, make value * scale + offset, in float32 if that
    holds the rasters' type. Pixels outside a raster are missing (`boundless=False` refuses them): they become `fill`;
    by default NaN with `masked`, else nodata or 0. `fill` is the final value, which `scale` does not change.

    The memory: as in Dataset.read.

    With `on_error='fill'`, windows that cannot be read become `fill` (default: NaN with `masked`, else 0). `errors`, a
    dict, gets their exceptions by index, and `return_valid` returns (array, which windows were read). If all fail, the
    first exception is raised.

    >>> dem = terrazzo.open("dem.tif")
    >>> terrazzo.read_windows([(dem, (0, 0, 64, 64)), ("dem.tif", (-10, 30, 64, 64))]).shape
    (2, 1, 64, 64)
    >>> box = terrazzo.Bounds(500000, 4199000, 500640, 4199640)
    >>> terrazzo.read_windows([(dem, box)], size=32, dtype="float64", scale=0.01).shape
    (1, 1, 32, 32)
    >>> items = [(dem, (0, 0, 64, 64)), ("missing.tif", (0, 0, 64, 64))]
    >>> pixels, valid = terrazzo.read_windows(items, on_error="fill", fill=0, return_valid=True)
    >>> valid
    array([ True, False])
    """
    if on_error not in ("raise", "fill"):
        raise UsageError(f"on_error is {on_error!r}; it is 'raise' or 'fill'")
    pairs = list(items)
    if not pairs:
        raise UsageError("there are no windows to read")
    like = maker_name(like)
    to_device = goes_to_device(device, out, like)
    request, _ = make_request(
        overview=overview, bands=bands, resampling=resampling, masked=masked, unpack=unpack, resources=resources
    )
    failures = _Failures(on_error == "fill")
    grid = Grid(size, overview, resolution, resampling, bbox_crs, boundless)
    values = _Values(masked, scale, offset, fill)
    batch = _Batch(_place(pairs, grid, failures), request, failures, values, stream)
    batch.choose_type(dtype if out is None else out.dtype)
    pixels = batch.read(out, like, to_device)
    if errors is not None:
        errors.update(failures.errors)
    if not return_valid:
        return pixels
    valid = np.ones(len(pairs), bool)
    valid[list(failures.errors)] = False
    return pixels, valid


class _Values(NamedTuple):
    """What becomes of stored values, beyond the request."""

    masked: bool
    scale: float | Sequence[float] | None
    offset: float | Sequence[float] | None
    fill: float | None

    @property
    def are_scaled(self) -> bool:
        return self.scale is not None or self.offset is not None

    def apply(self, pixels: Any) -> None:
        """Scales [windows, bands, rows, columns] in place. Missing pixels are NaN then, and become `fill` at last."""
        if not self.are_scaled:
            return
        scales = _of_bands(self.scale, 1.0, pixels.shape[1], "scale")
        offsets = _of_bands(self.offset, 0.0, pixels.shape[1], "offset")
        for band, (scale, offset) in enumerate(zip(scales, offsets)):
            values = pixels[:, band]
            if scale != 1:
                values *= scale
            if offset != 0:
                values += offset
        if self.fill is not None:
            pixels[pixels != pixels] = self.fill

    def of_failures(self, is_floating: bool) -> float:
        value = self.fill if self.fill is not None else math.nan if self.masked else 0
        return value if is_floating or value == value else 0


def _of_bands(value: Any, default: float, bands: int, name: str) -> list[float]:
    if value is None:
        return [default] * bands
    if not isinstance(value, Iterable):
        return [float(value)] * bands
    numbers = [float(number) for number in value]
    if len(numbers) != bands:
        raise UsageError(f"{name} has {len(numbers)} numbers for {bands} bands")
    return numbers


class _Failures:
    """What becomes of exceptions."""

    def __init__(self, kept: bool):
        self.kept = kept
        self.errors: dict[int, Exception] = {}

    def add(self, index: int, error: Exception) -> None:
        """Keeps the error of an item, or raises it."""
        if not self.kept or isinstance(error, NOT_OF_A_FILE):
            raise error
        self.errors[index] = error
        _LOG.warning("window %d is filled: %s", index, error)


def _place(pairs: Sequence[tuple[Any, Any]], grid: Grid, failures: _Failures) -> list[Part | None]:
    """The part of its raster for each item; None for items that failed."""
    rasters: dict[Any, Raster] = {}
    broken: dict[Any, Exception] = {}
    parts: list[Part | None] = []
    for index, (source, place) in enumerate(pairs):
        key = source if isinstance(source, Dataset) else path_of(source) or id(source)
        try:
            if key in broken:
                raise broken[key]
            raster = rasters.get(key)
            if raster is None:
                raster = rasters[key] = Raster(as_dataset(source), grid)
        except (Error, OSError) as error:
            broken[key] = error
            failures.add(index, error)
            parts.append(None)
            continue
        parts.append(raster.place(place))
    return parts


class _Batch:
    """Reads the parts of one call. Its shape and type are those of all parts."""

    def __init__(
        self, parts: list[Part | None], request: _core.ReadRequest, failures: _Failures, values: _Values, stream: Any
    ):
        self.parts, self.request, self.failures, self.values, self.stream = parts, request, failures, values, stream
        self.rasters = list({id(part.raster): part.raster for part in parts if part is not None}.values())
        if not self.rasters:
            raise next(iter(failures.errors.values()))
        self.shape = (len(parts), self._band_count(), *self._window_size())

    def _window_size(self) -> tuple[int, int]:
        """(height, width)"""
        width, height = next(part.window[2:] for part in self.parts if part is not None)
        if width < 1 or height < 1:
            raise UsageError(f"a window has {width} x {height} pixels")
        for index, part in enumerate(self.parts):
            if part is not None and part.window[2:] != (width, height):
                other = part.window
                raise UsageError(
                    f"window {index} has {other.width} x {other.height} pixels, and the first {width} x {height}; pass `size`"
                )
        return height, width

    def _band_count(self) -> int:
        if self.request.bands:
            return len(self.request.bands)
        first = self.rasters[0].dataset
        for raster in self.rasters:
            if raster.dataset.count != first.count:
                raise UsageError(
                    f"{raster.dataset.name} has {raster.dataset.count} bands, and {first.name} {first.count}; pass `bands`"
                )
        return first.count

    def choose_type(self, dtype: Any) -> None:
        """The type of the result: `dtype`, or the common one of the rasters."""
        request, values = self.request, self.values
        if dtype is None:
            types = {_core.result_dtype(raster.core, request) for raster in self.rasters}
            name = np.result_type(*types, *([np.float32] if values.are_scaled else [])).name
        else:
            name = dtype_name(dtype)
        self.is_floating = name.startswith(("float", "complex"))
        if values.are_scaled and not self.is_floating:
            raise UsageError(f"scale and offset need a dtype of floating point, not {name}")
        request.dtype = name
        if values.fill is not None:
            request.set_missing("nan" if values.are_scaled else number_text(values.fill), name)

    def read(self, out: Any, like: str | None, to_device: bool) -> Any:
        whole = {index: part for index, part in enumerate(self.parts) if part is not None and part.is_whole}
        if out is not None and tuple(out.shape) != self.shape:
            raise UsageError(f"`out` has the shape {tuple(out.shape)}; the windows have {self.shape}")
        if out is None and like is None and to_device:
            if len(whole) != len(self.parts) or self.values.are_scaled:
                raise UnsupportedError(
                    "on the GPU, windows that are scaled, resampled, filled or reach outside need `out`, "
                    "or like='torch' or 'cupy'"
                )
            windows = [(part.raster.core, part.window) for part in whole.values()]
            return _core.read_windows_device(windows, self.request, stream_address(self.stream))
        if out is None:
            out = make_array(like, self.shape, self.request.dtype, to_device)
        self._read_whole(whole, out)
        for index, part in enumerate(self.parts):
            if part is not None and not part.is_whole:
                self._try(index, part, out)
        self.values.apply(out)
        for index in self.failures.errors:
            out[index] = self.values.of_failures(self.is_floating)
        return out

    def _read_whole(self, parts: dict[int, Part], out: Any) -> None:
        """Reads at once, without the files that fail; their windows are read one by one."""
        left, failed = dict(parts), {}
        while left:
            try:
                self._read_at_once(left, out)
                break
            except Error as error:
                if not self.failures.kept or isinstance(error, NOT_OF_A_FILE):
                    raise
                broken = [index for index, part in left.items() if part.raster.dataset.name == error.file] or list(left)
                failed.update((index, left.pop(index)) for index in broken)
        for index, part in failed.items():
            self._try(index, part, out)

    def _read_at_once(self, parts: dict[int, Part], out: Any) -> None:
        """One call for all, so that each tile is decoded once. Gaps get the pixels of one of the windows, for now."""
        first, last = min(parts), max(parts)
        any_part = parts[first]
        chosen = [parts.get(index, any_part) for index in range(first, last + 1)]
        windows = [(part.raster.core, part.window) for part in chosen]
        target = out if len(chosen) == len(self.parts) else out[first : last + 1]
        if on_device(out):
            _core.read_windows_into_device(windows, self.request, target, stream_address(self.stream, out))
        else:
            _core.read_windows_into(windows, self.request, target)

    def _try(self, index: int, part: Part, out: Any) -> None:
        try:
            self._read_one(part, out[index])
        except Error as error:
            self.failures.add(index, error)

    def _read_one(self, part: Part, out: Any) -> None:
        raster, request, window = part.raster, self.request, part.window
        if part.steps is None:
            read_around(raster.core, request, window, part.inside, out, self._outside_values(raster), self.stream)
            return
        rest = fill_around(out, self._outside_values(raster), window, part.inside)
        if part.inside is None:
            return
        request.target_grid = (*part.steps, *part.inside)
        try:
            read_part(raster.core, request, rest, self.stream)
        finally:
            request.target_grid = None

    def _outside_values(self, raster: Raster) -> list[Any]:
        values = self.values
        if values.fill is not None:
            return [math.nan if values.are_scaled else values.of_failures(self.is_floating)] * self.shape[1]
        if raster.outside is None:
            raster.outside = outside_values(raster.core, self.request, self.request.dtype)
        return raster.outside
