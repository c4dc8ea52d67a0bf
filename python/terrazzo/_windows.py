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
from ._geometry import Window, is_plain
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
    if isinstance(pairs[0], str) or not isinstance(pairs[0], Iterable):
        raise UsageError(f"an item is a pair of a raster and a window or box, not {pairs[0]!r}")
    like = maker_name(like)
    to_device = goes_to_device(device, out, like)
    request, _ = make_request(
        overview=overview, bands=bands, resampling=resampling, masked=masked, unpack=unpack, resources=resources
    )
    failures = _Failures(on_error == "fill")
    grid = Grid(size, overview, resolution, request.resampling == "nearest", bbox_crs, boundless)
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


class _Places:
    """Where the items are: windows inside their rasters, which are most, and other parts by index."""

    def __init__(self, count: int):
        self.windows: list[tuple[_core.Dataset, Any] | None] = [None] * count
        self.others: dict[int, Part] = {}
        self.rasters: list[Raster] = []
        self.size: tuple[int, int] | None = None  # (width, height) of all

    def add(self, index: int, part: Part) -> None:
        size = part.window[2:]
        if self.size is None:
            if min(size) < 1:
                raise UsageError(f"window {index} has {size[0]} x {size[1]} pixels")
            self.size = size
        elif size != self.size:
            raise UsageError(
                f"window {index} has {size[0]} x {size[1]} pixels, and others {self.size[0]} x {self.size[1]}; pass `size`"
            )
        if part.is_whole:
            self.windows[index] = (part.raster.core, part.window)
        else:
            self.others[index] = part


def _place(pairs: Sequence[tuple[Any, Any]], grid: Grid, failures: _Failures) -> _Places:
    places = _Places(len(pairs))
    windows = places.windows
    rasters: dict[int, Raster] = {}  # by id of the source
    opened: dict[str, Raster | Exception] = {}  # by path
    plain_size = (-1, -1)  # of windows that need no further thought
    for index, (source, place) in enumerate(pairs):
        raster = rasters.get(id(source))
        if raster is None:
            try:
                raster = rasters[id(source)] = _open(source, grid, opened)
            except (Error, OSError) as error:
                failures.add(index, error)
                continue
        if is_plain(place):
            column, row, width, height = place
            if (width, height) == plain_size and 0 <= column <= raster.width - width and 0 <= row <= raster.height - height:
                windows[index] = (raster.core, place)
                continue
        places.add(index, raster.place(place))
        if grid.resolution is None and places.size is not None:
            plain_size = places.size
    places.rasters = list({id(raster): raster for raster in rasters.values()}.values())
    return places


def _open(source: Any, grid: Grid, opened: dict[str, Raster | Exception]) -> Raster:
    """Opens each path once, also one that fails."""
    path = path_of(source)
    if path is None:
        return Raster(as_dataset(source), grid)
    found = opened.get(path)
    if found is None:
        try:
            found = Raster(as_dataset(source), grid)
        except (Error, OSError) as error:
            found = error
        opened[path] = found
    if isinstance(found, Exception):
        raise found
    return found


class _Batch:
    """Reads the parts of one call. Its shape and type are those of all parts."""

    def __init__(self, places: _Places, request: _core.ReadRequest, failures: _Failures, values: _Values, stream: Any):
        self.places, self.request, self.failures, self.values, self.stream = places, request, failures, values, stream
        if places.size is None:
            raise next(iter(failures.errors.values()))
        self.rasters = places.rasters
        width, height = places.size
        self.shape = (len(places.windows), self._band_count(), height, width)

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
        request.dtype = self.dtype = name
        if values.fill is not None:
            request.set_missing("nan" if values.are_scaled else number_text(values.fill), name)

    def read(self, out: Any, like: str | None, to_device: bool) -> Any:
        if out is not None and tuple(out.shape) != self.shape:
            raise UsageError(f"`out` has the shape {tuple(out.shape)}; the windows have {self.shape}")
        if out is None and like is None and to_device:
            windows = [window for window in self.places.windows if window is not None]
            if len(windows) < self.shape[0] or self.values.are_scaled:
                raise UnsupportedError(
                    "on the GPU, windows that are scaled, resampled, filled or reach outside need `out`, "
                    "or like='torch' or 'cupy'"
                )
            return _core.read_windows_device(windows, self.request, stream_address(self.stream))
        if out is None:
            out = make_array(like, self.shape, self.dtype, to_device)
        self._read_inside(out)
        for index, part in self.places.others.items():
            self._try(index, part, out)
        for index in self.failures.errors:
            out[index] = 0  # was not written: the product of whatever numbers lie there may be a warning
        self.values.apply(out)
        for index in self.failures.errors:
            out[index] = self.values.of_failures(self.is_floating)
        return out

    def _read_inside(self, out: Any) -> None:
        """Reads windows inside their rasters by one call; those of files that fail one by one after it."""
        windows, failed = self.places.windows, {}
        while True:
            try:
                self._read_at_once(windows, out)
                break
            except Error as error:
                if not self.failures.kept or isinstance(error, NOT_OF_A_FILE):
                    raise
                left = {index: window for index, window in enumerate(windows) if window is not None}
                broken = {i: window for i, window in left.items() if window[0].info.source == error.file} or left
                failed.update(broken)
                windows = [None if index in broken else window for index, window in enumerate(windows)]
        rasters = {id(raster.core): raster for raster in self.rasters}
        for index, (core, window) in failed.items():
            self._try(index, Part(rasters[id(core)], Window(*window), Window(*window)), out)

    def _read_at_once(self, windows: Sequence[tuple[_core.Dataset, Any] | None], out: Any) -> None:
        """One call for all, so that each tile is decoded once. Gaps get the pixels of one of the windows, for now."""
        chosen = [window for window in windows if window is not None]
        if not chosen:
            return
        if len(chosen) < len(windows):
            present = [index for index, window in enumerate(windows) if window is not None]
            first, end = present[0], present[-1] + 1
            out = out if end - first == len(windows) else out[first:end]
            chosen = [window or chosen[0] for window in windows[first:end]]
        if on_device(out):
            _core.read_windows_into_device(chosen, self.request, out, stream_address(self.stream, out))
        else:
            _core.read_windows_into(chosen, self.request, out)

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
            raster.outside = outside_values(raster.core, self.request, self.dtype)
        return raster.outside
