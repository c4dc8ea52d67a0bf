# SPDX-License-Identifier: Apache-2.0
"""Writing rasters."""
from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from . import _core
from ._crs import core_crs
from ._dataset import as_dataset
from ._device import queue_of
from ._extra_tags import add_extra_tags
from ._fields import set_field, set_fields, unknown_argument
from ._geometry import pair, parse_transform
from ._requests import dtype_name, number_text
from ._sinks import make_target
from .errors import UsageError

_LOG = logging.getLogger("terrazzo")

# Keywords that are fields of WriteOptions, with the same names and values.
_FIELDS = frozenset({
    "bigtiff", "checksum", "chroma", "cog", "compression", "device_budget_bytes", "durability", "engine", "interleave",
    "jpeg2000_rate", "lerc_max_error", "level", "lossless", "mask_bits", "nan_to_nodata", "overview_resampling", "photometric",
    "predictor", "progress", "quality", "sparse", "spool_bytes", "spool_way", "statistics", "streaming_buffer_bytes",
    "strip_rows", "threads",
})  # fmt: skip


def write_options(
    options: _core.WriteOptions,
    *,
    crs: Any = None,
    transform: Any = None,
    nodata: float | str | None | EllipsisType = ...,
    tags: Mapping[str, Any] | None = None,
    gcps: Iterable[Any] | None = None,
    descriptions: str | Sequence[str] | None = None,
    units: str | Sequence[str] | None = None,
    scales: float | Sequence[float] | None = None,
    offsets: float | Sequence[float] | None = None,
    colors: str | Sequence[str] | None = None,
    color_table: Sequence[Sequence[int]] | Mapping[int, Sequence[int]] | None = None,
    category_names: Sequence[str] | None = None,
    pixel_is_point: bool | None = None,
    tile_size: int | tuple[int, int] | None = None,
    overviews: Iterable[int] | bool | None = None,
    extra_tags: Iterable[tuple[int, str, Any]] = (),
    **fields: Any,
) -> _core.WriteOptions:
    """Applies keyword arguments to options whose dtype and bands are set."""
    place = options.georeference
    if crs is not None:
        place.crs = core_crs(crs)
    if transform is not None:
        place.transform = parse_transform(transform).to_gdal()
        place.gcps = []
    if gcps is not None:
        place.gcps = [_ground_control_point(*_numbers_of(point)) for point in gcps]
    if pixel_is_point is not None:
        set_fields(place, pixel_is_point=pixel_is_point, has_raster_type=True)
    if nodata is not ...:
        options.nodata = None if nodata is None else number_text(nodata)
    if tags is not None:
        metadata = options.metadata
        items = {**metadata.get("", {}), **tags}
        metadata[""] = {key: str(value) for key, value in items.items() if value is not None}
        options.metadata = metadata
    _set_bands(options, {"description": descriptions, "unit": units, "scale": scales, "offset": offsets, "color": colors})
    if color_table is not None or category_names is not None:
        infos = _band_infos(options)
        if color_table is not None:
            infos[0].color_table = _color_rows(color_table)
            infos[0].color = "palette"
        if category_names is not None:
            infos[0].category_names = list(category_names)
        options.band_info = infos
    if tile_size is not None:
        options.tile_size = pair(tile_size, "tile_size")
    if overviews is not None and overviews is not True:
        options.overview_factors = [] if overviews is False else list(overviews)
    add_extra_tags(options, extra_tags)
    for name, value in fields.items():
        if name not in _FIELDS:
            raise unknown_argument(name)
        if value is not None:
            set_field(options, name, value)
    return options


def _numbers_of(point: Any) -> Iterable[float]:
    """Of a point in rasterio's form, or (column, row, x, y) with or without z."""
    if not hasattr(point, "col") and not hasattr(point, "column"):
        return point
    column = point.col if hasattr(point, "col") else point.column
    return column, point.row, point.x, point.y, point.z or 0.0


def _ground_control_point(column: float, row: float, x: float, y: float, z: float = 0.0) -> _core.GroundControlPoint:
    point = _core.GroundControlPoint()
    point.column, point.row, point.x, point.y, point.z = column, row, x, y, z
    return point


def _color_rows(table: Any) -> list[list[int]]:
    """From a list of colours, or {value: colour} as rasterio has it; values between them are transparent black."""
    if isinstance(table, Mapping):
        table = [table.get(value, (0, 0, 0, 0)) for value in range(max(table, default=-1) + 1)]
    return [[int(part) for part in entry] for entry in table]


def _band_infos(options: _core.WriteOptions) -> list[_core.BandInfo]:
    return list(options.band_info) or [_core.BandInfo() for _ in range(options.bands)]


def _set_bands(options: _core.WriteOptions, columns: dict[str, Any]) -> None:
    if all(values is None for values in columns.values()):
        return
    infos = _band_infos(options)
    for field, values in columns.items():
        if values is None:
            continue
        if isinstance(values, (str, float, int)):
            values = [values] * len(infos)
        if len(values) != len(infos):
            raise UsageError(f"{len(values)} values of {field} for {len(infos)} bands")
        for info, value in zip(infos, values):
            set_field(info, field, value)
            if field in ("scale", "offset"):
                setattr(info, f"has_{field}", True)
    options.band_info = infos


def options_for(
    dtype: Any, bands: int, height: int, width: int, like: Any = None, has_mask: bool = False, **keywords: Any
) -> _core.WriteOptions:
    """Options of a new raster, like another one or not."""
    if like is None:
        options = _core.WriteOptions()
        options.dtype, options.bands = dtype_name(dtype), bands
    else:
        options = _options_like(as_dataset(like), dtype, bands, (height, width), keywords)
    options.mask = has_mask
    return write_options(options, **keywords)


def _options_like(like: Any, dtype: Any, bands: int, size: tuple[int, int], keywords: dict[str, Any]) -> _core.WriteOptions:
    if (like.height, like.width) != size and keywords.get("transform") is None and like.transform is not None:
        raise UsageError(
            f"the array has {size[1]} x {size[0]} pixels and `like` has {like.width} x {like.height}; pass `transform`"
        )
    options = _core.options_like(like.info)
    nodata = options.nodata
    options.nodata = None
    options.dtype, options.bands = dtype_name(dtype), bands
    if len(options.band_info) not in (0, bands):
        options.band_info = []
    if nodata is not None and keywords.get("nodata", ...) is ...:
        options.nodata = number_text(nodata)
    return options


def _note_lost_place(array: Any, like: Any, options: Mapping[str, Any]) -> None:
    """A DataArray brings a CRS and coordinates, which an array has not."""
    if hasattr(array, "coords") and hasattr(array, "encoding") and like is None and not {"crs", "transform", "gcps"} & set(options):
        _LOG.warning(
            "write() takes the values of the DataArray alone; its .terrazzo.to_geotiff(), after `import terrazzo.accessor`, "
            "writes CRS, transform and nodata too"
        )


def as_array(array: Any) -> Any:
    """An array that the library can read: as it is, if possible."""
    if not isinstance(array, np.ndarray) and (hasattr(array, "__dlpack__") or hasattr(array, "__cuda_array_interface__")):
        return array
    pixels = np.asarray(array)
    if pixels.dtype == bool:
        return pixels.view(np.uint8)
    return pixels if pixels.dtype.isnative else pixels.astype(pixels.dtype.newbyteorder("="))


def unmask(array: Any, mask: Any, nodata: Any) -> tuple[Any, Any]:
    """A masked array of numpy as (pixels with nodata, no mask) or (pixels, mask)."""
    if not np.ma.isMaskedArray(array):
        return array, mask
    if nodata is not ... and nodata is not None:
        return array.filled(nodata), mask
    missing = np.ma.getmaskarray(array)
    valid = ~(missing.all(axis=0) if missing.ndim == 3 else missing)
    return array.data, valid if mask is None else mask


def write(
    target: Any,
    array: Any,
    *,
    like: Any = None,
    mask: Any = None,
    stream: Any = None,
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> _core.WriteReport:
    """Writes a raster, complete or not at all, to a path, a URL of fsspec, or a binary file object.

    With `filesystem`, a file system of fsspec or a store of obstore, `target` is a path in that. `storage_options` are
    fsspec's for a URL.

    `array` is (rows, columns) or (bands, rows, columns), of any strides, in host memory or (CuPy, torch) on a GPU.
    `mask` has one value a pixel: 0 for missing ones. A masked array of numpy writes its mask, or nodata if that is
    given; `mask_bits` 8 stores its values instead of one bit. A dask array is computed and written rows by rows;
    `compute_ahead_bytes` (512 MiB) bounds the computed rows.

    Georeference: `like` (a Dataset or a path: CRS, transform, nodata, tags and bands of that raster), `crs` (EPSG code,
    text, pyproj or rasterio CRS), `transform` (affine's order), `gcps`, `pixel_is_point`.
    Description: `nodata`, `tags`, and `descriptions`, `units`, `scales`, `offsets`, `colors` as a list with a value for
    each band, or one for all; `color_table` (a list, or a dict by value), `category_names`; `extra_tags`, a list of
    (number, type, value) such as (65000, 'ascii', 'a text').
    File: `cog`, `compression` ('zstd', 'deflate', 'lzw', 'lerc', 'jpeg', ...), `level`, `predictor`, `quality`,
    `lossless`, `lerc_max_error`, `tile_size`, `strip_rows`, `interleave`, `overviews` (factors), `overview_resampling`,
    `statistics`, `sparse`, `bigtiff`, `photometric`.
    Work: `threads`, `progress`, `engine`, `streaming_buffer_bytes`, `spool_bytes`, `durability`.
    docs/writing.md describes them.

    >>> heights = np.zeros((100, 100), np.float32)
    >>> report = terrazzo.write("out.tif", heights, crs=32632, transform=(10, 0, 5e5, 0, -10, 4.2e6), cog=True)
    >>> terrazzo.open("out.tif").info.layout.compression
    'zstd'
    """
    _note_lost_place(array, like, options)
    if hasattr(array, "__dask_graph__") and array.__dask_graph__() is not None:
        from ._dask_write import write_dask

        stores = {"filesystem": filesystem, "storage_options": storage_options}
        return write_dask(target, array, like=like, mask=mask, stream=stream, **stores, **options)
    pixels, mask = unmask(array, mask, options.get("nodata", ...))
    pixels = as_array(pixels)
    queue = queue_of(stream, pixels, mask)
    if len(pixels.shape) not in (2, 3):
        raise UsageError(f"the array has {len(pixels.shape)} axes; a raster has (rows, columns) or (bands, rows, columns)")
    bands = pixels.shape[0] if len(pixels.shape) == 3 else 1
    height, width = pixels.shape[-2:]
    chosen = options_for(pixels.dtype, bands, height, width, like, mask is not None, **options)
    place = make_target(target, filesystem, storage_options)
    if mask is None:
        return _core.write(place, pixels, chosen, queue)
    writer = _core.Writer(place, width, height, chosen)
    try:
        writer.write_rows(pixels, _as_mask(mask), queue)
        return writer.close()
    except BaseException:
        writer.abort()  # the traceback keeps the writer alive
        raise


def _as_mask(mask: Any) -> Any:
    valid = as_array(mask)
    return valid if not isinstance(valid, np.ndarray) or valid.dtype == np.uint8 else (valid != 0).view(np.uint8)


class Writer:
    """Writes a raster in pieces: rows from top to bottom, any number at a time.

    The file appears when the writer is closed. An exception inside `with` discards it.

    >>> with terrazzo.Writer("rows.tif", 64, 100, dtype="uint8", crs=32632) as out:
    ...     for first in range(0, 100, 25):
    ...         out.write_rows(np.full((25, 64), first, np.uint8))
    >>> terrazzo.read("rows.tif", 1)[::25, 0]
    array([ 0, 25, 50, 75], dtype=uint8)
    """

    def __init__(
        self,
        target: Any,
        width: int,
        height: int,
        *,
        dtype: Any = None,
        bands: int | None = None,
        like: Any = None,
        mask: bool = False,
        filesystem: Any = None,
        storage_options: Mapping[str, Any] | None = None,
        **options: Any,
    ):
        if like is not None:
            like = as_dataset(like)
            dtype = like.dtype if dtype is None else dtype
            bands = like.count if bands is None else bands
        if dtype is None:
            raise UsageError("a writer needs `dtype`, or `like`")
        self._options = options_for(dtype, 1 if bands is None else bands, height, width, like, mask, **options)
        self._core = _core.Writer(make_target(target, filesystem, storage_options), width, height, self._options)
        self.report: _core.WriteReport | None = None

    @property
    def rows_left(self) -> int:
        """Rows that remain to be written."""
        return self._core.rows_left

    def write_rows(self, rows: Any, mask: Any = None, *, stream: Any = None) -> None:
        """Writes the next rows: (rows, columns) or (bands, rows, columns)."""
        queue = queue_of(stream, rows, mask)
        self._core.write_rows(as_array(rows), None if mask is None else _as_mask(mask), queue)

    def write_encoded(self, tile: tuple[int, int, int], data: bytes) -> None:
        """Writes the tile (column, row, plane) that encode_tiles() has compressed; empty bytes make it sparse.

        Tiles may come in any order. For a COG, overviews or statistics they are decoded, and those that come early wait
        in memory. They cannot be combined with write_rows() or a mask.
        """
        self._core.write_encoded(tile, data)

    def close(self) -> _core.WriteReport:
        """Publishes the file. It is an error if rows are missing."""
        if self.report is None:
            self.report = self._core.close()
        return self.report

    def abort(self) -> None:
        """Discards the file."""
        self._core.abort()

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()
