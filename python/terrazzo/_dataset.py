# SPDX-License-Identifier: Apache-2.0
"""Opening and reading rasters."""
from __future__ import annotations

import base64
import functools
import html
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._boundless import outside_values, read_around, read_part
from ._crs import Crs, crs_text
from ._device import goes_to_device, make_array, maker_name, stream_address
from ._fields import set_fields
from ._geometry import Bounds, Corners, Transform, Window, WindowLike, intersection, parse_window, point_list
from ._planned import PlannedReads
from ._requests import box_in_crs, dtype_name, level_size, make_request, number_text, place_window
from ._sources import Start, is_url, make_source, path_of
from .errors import Error, UnsupportedError, UsageError, missing_file

if TYPE_CHECKING:
    from typing import Unpack

    from ._requests import Resources


_THUMBNAIL_PX = 256
# Decoded pixels that a thumbnail may cost: a fraction of a second, and a short download.
_THUMBNAIL_BYTES = 128 << 20
_THUMBNAIL_BYTES_REMOTE = 4 << 20


def open(
    source: Any,
    *,
    page: int = 0,
    sidecars: bool = True,
    trust: str = "automatic",
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
) -> Dataset:
    """Opens a raster: reads its header, and no pixels.

    `source` is a path, bytes or another buffer, a file object, an fsspec URL or file, or an object with `size` and
    `read_ranges(list of (offset, length))`. With `filesystem`, an fsspec file system or an obstore store, it is a path in
    that. `storage_options` are fsspec's for a URL.
    `page` is the index of the image in a file of several, see `Dataset.info.pages`. `sidecars` looks for .aux.xml,
    .ovr, .msk and world files beside a local file. `trust` is 'trusted' or 'untrusted', and decides whether decoders
    that are not hardened against hostile files may run; by default, local files are trusted.

    >>> with terrazzo.open("dem.tif") as dem:
    ...     dem.shape, dem.dtype, str(dem.crs)
    ((1, 300, 400), dtype('float32'), 'EPSG:32632')
    """
    return _open(source, _OpenArguments(page, sidecars, trust, filesystem, storage_options))


class _OpenArguments(NamedTuple):
    """The arguments of open()."""

    page: int
    sidecars: bool
    trust: str
    filesystem: Any
    storage_options: Mapping[str, Any] | None


def _open(source: Any, opening: _OpenArguments, start: Start | None = None) -> Dataset:
    options = _core.OpenOptions()
    set_fields(options, page=opening.page, sidecars=opening.sidecars, trust=opening.trust)
    path = path_of(source)
    if path is not None and opening.filesystem is None and not opening.storage_options and not is_url(path):
        with missing_file(path):
            return Dataset(_core.open(path, options), source, opening)
    core, start = make_source(source, opening.filesystem, opening.storage_options, start)
    return Dataset(_core.open_source(core, options), source, opening, start)


class Dataset(PlannedReads):
    """A raster that is open for reading. It never changes, and any number of threads may read from it.

    Bands count from 1. Arrays have the axes (band, row, column); a single band, `bands=1`, gives (row, column).
    """

    def __init__(self, core: _core.Dataset, source: Any, opening: _OpenArguments, start: Start | None = None):
        self._handle: _core.Dataset | None = core
        self._source, self._arguments, self._start = source, opening, start
        self.info: _core.Info = core.info

    @property
    def _raster(self) -> _core.Dataset:
        if self._handle is None:
            raise UsageError(f"{self.name} is closed")
        return self._handle

    def close(self) -> None:
        """Ends the use of the source. Reads that run in other threads finish."""
        self._handle = None

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self):
        source = self._source
        return _open, (os.fspath(source) if isinstance(source, os.PathLike) else source, self._arguments, self._start)

    # --- Description

    @property
    def name(self) -> str:
        return self.info.source

    @property
    def width(self) -> int:
        return self.info.width

    @property
    def height(self) -> int:
        return self.info.height

    @property
    def count(self) -> int:
        """The number of bands."""
        return len(self.info.bands)

    @property
    def shape(self) -> tuple[int, int, int]:
        """(bands, height, width)."""
        return self.count, self.height, self.width

    @functools.cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of read()'s result without conversion."""
        return np.dtype(_core.result_dtype(self._raster, _core.ReadRequest()))

    @property
    def bands(self) -> list[_core.BandInfo]:
        """dtype, nodata, scale, offset, unit, description, color, color_table, statistics, ... of each band."""
        return self.info.bands

    @property
    def nodata(self) -> int | float | None:
        """Of the first band."""
        return self.info.bands[0].nodata

    @property
    def overviews(self) -> list[_core.OverviewInfo]:
        return self.info.overviews

    @property
    def tags(self) -> dict[str, Any]:
        """Metadata items of the default domain. `info.metadata` has all domains."""
        return self.info.metadata.get("", {})

    @property
    def gcps(self) -> list[_core.GroundControlPoint]:
        return self.info.georeference.gcps

    @property
    def rpcs(self) -> dict[str, str]:
        return self.info.georeference.rpc

    @property
    def transform(self) -> Transform | None:
        """From (column, row) of pixel corners to (x, y)."""
        gdal = self.info.georeference.transform
        return None if gdal is None else Transform.from_gdal(gdal)

    @functools.cached_property
    def crs(self) -> Crs | None:
        core = self.info.georeference.crs
        return None if core is None else Crs._of(core, lambda: self.detailed_info().georeference.crs)

    def detailed_info(self) -> _core.Info:
        """`info` with the fields that need PROJ's database; equal to `info` without PROJ."""
        return self._detailed

    @functools.cached_property
    def _detailed(self) -> _core.Info:
        return self._raster.detailed_info()

    @property
    def bounds(self) -> Bounds:
        """The smallest box that contains the raster, in its CRS."""
        return Bounds(*_core.bounds(self.info))

    @property
    def corners(self) -> Corners:
        """(x, y) of the outer corners by pixel position: upper_left, lower_left, upper_right, lower_right.

        >>> terrazzo.open("dem.tif").corners.lower_right
        (504000.0, 4197000.0)
        """
        return Corners(*_core.corners(self.info))

    @property
    def center(self) -> tuple[float, float]:
        """(x, y) of the middle of the raster."""
        return _core.center(self.info)

    @property
    def pixel_size(self) -> tuple[float, float]:
        """Lengths of the sides of a pixel in units of the CRS, also in a rotated raster: along a row, along a column."""
        return _core.pixel_size(self.info)

    def same_crs(self, other: Dataset) -> bool:
        """Whether both rasters have the same horizontal CRS, or none; needs PROJ for definitions that differ in text."""
        return _core.same_crs(self.detailed_info(), other.detailed_info())

    def bounds_in(self, crs: Any) -> Bounds:
        """The bounds in another CRS; needs PROJ."""
        return Bounds(*_core.bbox_to(self.detailed_info(), _core.bounds(self.info), crs_text(crs)))

    def window(self, bbox: Iterable[float], *, bbox_crs: Any = None, overview: int = 0) -> Window:
        """The pixels that a box of coordinates touches, clipped to the raster."""
        return Window(*_core.window_of(self.info, box_in_crs(self._raster, bbox, bbox_crs), overview))

    def window_transform(self, window: WindowLike, overview: int = 0) -> Transform:
        """The transform of a raster made of this window."""
        return Transform.from_gdal(_core.transform_of(self.info, parse_window(window, self.width, self.height), overview))

    def __repr__(self) -> str:
        bands, height, width = self.shape
        return f"<terrazzo.Dataset {self.name!r}: {width} x {height} pixels, {bands} x {self.bands[0].dtype}>"

    def _repr_html_(self) -> str:
        """The description and a thumbnail, for notebooks."""
        rows = {
            "size": f"{self.width} x {self.height} pixels, {self.count} bands of {self.bands[0].dtype}",
            "CRS": self._crs_title(),
            "bounds": "none" if self.transform is None else ", ".join(f"{edge:g}" for edge in self.bounds),
            "compression": self.info.layout.compression,
            "overviews": ", ".join(f"{o.width} x {o.height}" for o in self.overviews) or "none",
        }
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items())
        return f"<b>{html.escape(self.name)}</b><div style='display:flex'>{self._thumbnail()}<table>{cells}</table></div>"

    def _crs_title(self) -> str:
        if self.crs is None:
            return "none"
        try:
            return str(self.crs) if self.crs.epsg is not None else self.crs.name
        except Error as error:  # without PROJ
            return str(error)

    def _thumbnail(self) -> str:
        """An <img>, or the reason why there is none: to show a dataset neither fails nor takes long."""
        path = path_of(self._source)
        is_local = path is not None and not is_url(path) and self._arguments.filesystem is None
        most_bytes = _THUMBNAIL_BYTES if is_local else _THUMBNAIL_BYTES_REMOTE
        sizes = [(self.width, self.height), *((level.width, level.height) for level in self.overviews)]
        width, height = min((size for size in sizes if max(size) >= _THUMBNAIL_PX), default=sizes[0])
        request = _core.PreviewRequest()
        request.max_size = _THUMBNAIL_PX
        try:
            if width * height * self.count * self.dtype.itemsize > most_bytes:
                return "<i>no overview is small enough for a quick thumbnail; preview() draws one</i>"
            png = base64.b64encode(_core.make_preview(self._raster, request)).decode()
        except Error as error:
            return f"<i>no thumbnail: {html.escape(str(error))}</i>"
        return f"<img src='data:image/png;base64,{png}'>"

    # --- Pixels

    def read(
        self,
        bands: int | Iterable[int] | None = None,
        *,
        window: WindowLike | None = None,
        bbox: Iterable[float] | None = None,
        bbox_crs: Any = None,
        overview: int | None = None,
        size: tuple[int, int] | None = None,
        resolution: float | tuple[float, float] | None = None,
        keep_extent: bool = False,
        resampling: str | None = None,
        boundless: bool = False,
        masked: bool = False,
        fill: float | None = None,
        unpack: bool = False,
        scale: Iterable[float] | None = None,
        dtype: Any = None,
        out: Any = None,
        like: Any = None,
        device: str | int | None = None,
        stream: Any = None,
        report: _core.ReadReport | None = None,
        **resources: Unpack[Resources],
    ) -> Any:
        """Reads pixels into a new numpy array, into `out`, or into GPU memory.

        The place: `window` is (column, row, width, height), a pair of slices (rows, columns) or a rasterio Window;
        `bbox` is (left, bottom, right, top) in the raster's CRS or in `bbox_crs`. With `boundless` they may reach
        outside the raster, where pixels are missing.

        The scale: `overview` 1 is the first overview; `size=(width, height)` or `resolution` resample, by
        `resampling` ('nearest', 'average', 'bilinear', 'cubic', 'cubic-spline', 'lanczos', 'mode', 'min', 'max',
        'median', 'rms'), from the smallest overview that is fine enough. `resolution` is exact and may extend the
        window; with `keep_extent` it is rounded instead.

        The values: `masked` makes missing pixels (nodata, mask, alpha) NaN, or `fill`; integers become float64 unless
        `dtype` says otherwise. `unpack` applies scale and offset of the bands. `scale=(from_min, from_max, to_min,
        to_max)` maps values linearly. `dtype` rounds and clamps as GDAL does.

        The memory: `out` is an array of the result's shape with any strides, in host or GPU memory. `like`, "torch" or
        "cupy", makes a new array with that library's allocator. `device='cuda'` reads to the current GPU: alone, it
        returns a DeviceArray, which CuPy, torch and JAX take by `from_dlpack` without a copy. `device` None is the
        memory of `out` or `like`. The read waits for work queued on `stream`, by default the current stream of the
        library that made `out`.

        Further keywords: `threads`, `memory_limit_bytes`, `progress` (True for a bar, an object like tqdm's, or a function
        of (done, total) that cancels by returning False), `bad_tile='fill'`, `strict`, `engine`, `exact`,
        `device_budget_bytes`, `device_fetch`.

        >>> dem = terrazzo.open("dem.tif")
        >>> dem.read(1, window=(10, 20, 3, 2)).shape
        (2, 3)
        >>> dem.read(size=(40, 30), resampling="average").shape
        (1, 30, 40)
        """
        core = self._raster
        request, single = make_request(
            overview=overview, size=size, resolution=resolution, keep_extent=keep_extent, resampling=resampling,
            bands=bands, masked=masked, unpack=unpack, scale=scale, dtype=dtype, resources=resources,
        )  # fmt: skip
        if fill is not None:
            request.set_missing(number_text(fill), dtype_name(dtype) if dtype is not None else _core.result_dtype(core, request))
        outside = place_window(core, request, window, bbox, bbox_crs, boundless)
        to_device = False
        if device is not None or like is not None or out is not None:
            like = maker_name(like)
            to_device = goes_to_device(device, out, like)
            if like is not None:
                out = _new_array(core, request, outside, like, single, to_device)
        if outside is not None:
            pixels = _read_outside(core, request, outside, out, to_device, stream, report)
        elif out is not None:
            read_part(core, request, out, stream, report)
        elif to_device:
            return _core.read_device(core, request, stream_address(stream), single, report)
        else:
            pixels = _core.read(core, request, report)
        if out is not None:
            return out
        return pixels[0] if single else pixels

    def read_mask(
        self,
        bands: int | Iterable[int] | None = None,
        *,
        window: WindowLike | None = None,
        bbox: Iterable[float] | None = None,
        bbox_crs: Any = None,
        overview: int | None = None,
        size: tuple[int, int] | None = None,
        resampling: str | None = None,
        **resources: Unpack[Resources],
    ) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """Validity of pixels, from the mask, the alpha band or nodata: 0 missing, 255 valid; masks of 8 bits as stored.

        >>> terrazzo.open("dem.tif").read_mask(1).min()
        np.uint8(255)
        """
        request, single = make_request(
            overview=overview, size=size, resampling=resampling, bands=bands, resources=resources
        )
        place_window(self._raster, request, window, bbox, bbox_crs, boundless=False)
        mask = _core.read_mask(self._raster, request)
        return mask[0] if single else mask

    def sample(
        self,
        points: Any,
        bands: int | Iterable[int] | None = None,
        *,
        crs: Any = None,
        masked: bool = False,
        unpack: bool = False,
        dtype: Any = None,
        overview: int | None = None,
        return_states: bool = False,
        **resources: Unpack[Resources],
    ) -> Any:
        """Values at points: the pixels that contain them, as (points, bands), or (points) for a single band.

        `points` are (x, y) pairs in the raster's CRS or in `crs`. Points outside the raster are 0, or NaN if `masked`;
        `return_states` returns (values, states): 0 valid, 1 missing, 2 outside.

        >>> dem = terrazzo.open("dem.tif")
        >>> dem.sample([(500015, 4199985)], 1) == dem.read(1)[1, 1]
        array([ True])
        """
        request, single = make_request(
            overview=overview, bands=bands, masked=masked, unpack=unpack, dtype=dtype, resources=resources
        )
        places = point_list(points)
        if crs is not None:
            places = _core.points_in(self.detailed_info(), places, crs_text(crs))
        values, states = _core.sample(self._raster, places, request)
        values = values[:, 0, :].T
        if masked and values.dtype.kind in "fc":
            values[states.T == 2] = np.nan
        if single:
            values, states = values[:, 0], states[0]
        else:
            states = states.T
        return (values, states) if return_states else values

    def to_pixel(self, points: Any) -> np.ndarray[Any, Any]:
        """(column, row) of (x, y) pairs; (0, 0) is the outer corner of the first pixel."""
        return _core.to_pixel(self.info, point_list(points))

    def to_world(self, pixels: Any) -> np.ndarray[Any, Any]:
        """(x, y) of (column, row) pairs."""
        return _core.to_world(self.info, point_list(pixels))

    def stats(self, bands: int | Iterable[int] | None = None, **keywords: Any) -> list[_core.BandStats]:
        """See terrazzo.stats()."""
        from ._operations import stats

        return stats(self, bands, **keywords)

    def preview(self, **keywords: Any) -> bytes:
        """See terrazzo.preview()."""
        from ._operations import preview

        return preview(self, **keywords)


_OPEN_KEYWORDS = ("page", "sidecars", "trust", "filesystem", "storage_options")


def read(source: Any, bands: int | Iterable[int] | None = None, **keywords: Any) -> Any:
    """Opens a raster and reads from it: the keywords are those of open() and of Dataset.read().

    >>> terrazzo.read("dem.tif", 1, window=(0, 0, 2, 2)).dtype
    dtype('float32')
    """
    opening = {name: keywords.pop(name) for name in _OPEN_KEYWORDS if name in keywords}
    return (open(source, **opening) if opening else as_dataset(source)).read(bands, **keywords)


def _new_array(
    core: _core.Dataset, request: _core.ReadRequest, outside: Window | None, like: str, single: bool, to_device: bool
) -> Any:
    """An array of `like` for the result of a request, or for a window that reaches outside."""
    if outside is None:
        plan = _core.plan(core, request)
        bands, height, width, dtype = len(plan.bands), plan.height, plan.width, plan.dtype
    else:
        bands, height, width = len(request.bands) or len(core.info.bands), outside.height, outside.width
        dtype = _core.result_dtype(core, request)
    return make_array(like, (height, width) if single else (bands, height, width), dtype, to_device)


def _read_outside(
    core: _core.Dataset, request: _core.ReadRequest, window: Window, out: Any, to_device: bool, stream: Any, report: Any
) -> Any:
    """Reads a window that reaches outside, into `out` or a new array of the host."""
    if request.target_size or request.target_resolution:
        raise UnsupportedError("boundless reads are not resampled; use read_windows(), or resample the array afterwards")
    if out is None:
        if to_device:
            raise UnsupportedError("boundless reads to the GPU need `out`, or like='torch' or 'cupy'")
        return _core.read_boundless(core, window, request, report)
    inside = intersection(window, *level_size(core.info, request.level))
    read_around(core, request, window, inside, out, outside_values(core, request, out.dtype), stream, report)
    return out


def as_dataset(source: Any) -> Dataset:
    return source if isinstance(source, Dataset) else open(source)
