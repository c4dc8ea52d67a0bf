# SPDX-License-Identifier: Apache-2.0
"""Lazy arrays of rasters for xarray: pixels, coordinates of pixel centres, and the sizes of their chunks."""
from __future__ import annotations

import asyncio
import itertools
import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from ._dataset import Dataset
from ._geometry import IDENTITY, Transform
from ._lazy_index import axes_of, points_by_tile, positions_of
from ._requests import level_size

_DEFAULT_CHUNK_BYTES = 128 << 20  # dask's default of array.chunk-size
_WINDOWS_IN_FLIGHT = 8  # of one indexing operation; a read of many tiles uses all cores by itself


class Decoding(NamedTuple):
    """What happens to stored values: missing pixels become NaN, scale and offset are applied, in this type."""

    masked: bool
    unpack: bool
    dtype: np.dtype[Any]


class RasterArray(BackendArray):
    """Pixels of a dataset as (band, y, x), or of one band as (y, x).

    Pickling carries the source and these arguments, and workers open the source again.
    """

    def __init__(
        self,
        dataset: Dataset,
        overview: int = 0,
        band: int | None = None,
        decoding: Decoding | None = None,
        device: str | int = "cpu",
    ):
        self.dataset, self.overview, self.band, self.decoding, self.device = dataset, overview, band, decoding, device
        size = level_shape(dataset, overview)
        self.shape: tuple[int, ...] = size if band is not None else (dataset.count, *size)
        self.dtype = dataset.dtype if decoding is None else decoding.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        if isinstance(key, indexing.VectorizedIndexer) and all(isinstance(part, np.ndarray) for part in key.tuple):
            return self._read_points(key.tuple)
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """Reads in a thread; load_async() of xarray calls it."""
        return await asyncio.to_thread(self.__getitem__, key)

    def _read(self, key: tuple[Any, ...]) -> Any:
        """Outer indexing: one axis after the other. No tile is decoded twice, and none without need."""
        bands = positions_of(key[0], self.dataset.count) if self.band is None else np.array(self.band - 1)
        size, tile = level_shape(self.dataset, self.overview), tile_shape(self.dataset, self.overview)
        rows, columns = axes_of(key[-2], key[-1], size, tile)
        numbers = bands.reshape(-1) + 1
        windows = list(itertools.product(rows.runs, columns.runs)) if len(numbers) else []
        if len(windows) == 1 and all(isinstance(run.source, slice) for run in windows[0]):
            ((row, column),) = windows
            result = self._window(numbers, row.first, column.first, row.size, column.size)
        else:
            result = self._empty((len(numbers), rows.length, columns.length))

            def fill(window: Any) -> None:
                row, column = window
                pixels = self._window(numbers, row.first, column.first, row.size, column.size)
                if isinstance(row.source, slice):
                    result[:, :, column.target] = pixels[:, :, column.source]
                elif isinstance(column.source, slice):
                    result[:, row.target] = pixels[:, row.source]
                else:
                    place = (slice(None), *np.ix_(row.target, column.target))
                    result[place] = pixels[(slice(None), *np.ix_(row.source, column.source))]

            _for_each(fill, windows)
        kept = (bands.ndim == 0, rows.scalar, columns.scalar)
        return result[tuple(0 if scalar else slice(None) for scalar in kept)]

    def _read_points(self, key: tuple[Any, ...]) -> Any:
        """Pointwise indexing: reads the tiles of the points alone."""
        numbers, *places = key if self.band is None else (np.array(self.band - 1), *key)
        sizes = (self.dataset.count, *level_shape(self.dataset, self.overview))
        parts = np.broadcast_arrays(*(positions_of(part, size) for part, size in zip((numbers, *places), sizes)))
        bands, rows, columns = (part.reshape(-1) for part in parts)
        needed, band_of = np.unique(bands, return_inverse=True)
        result = self._empty((rows.size,))

        def fill(points: Any) -> None:
            height, width = int(points.rows.max()) + 1, int(points.columns.max()) + 1
            pixels = self._window(needed + 1, points.row, points.column, height, width)
            result[points.target] = pixels[band_of[points.target], points.rows, points.columns]

        _for_each(fill, points_by_tile(rows, columns, tile_shape(self.dataset, self.overview)))
        return result.reshape(parts[0].shape)

    def _window(self, numbers: np.ndarray[Any, Any], row: int, column: int, rows: int, columns: int) -> Any:
        arguments: dict[str, Any] = {"window": (column, row, columns, rows), "overview": self.overview}
        if self.decoding is not None:
            masked, unpack, dtype = self.decoding
            arguments |= {"masked": masked, "unpack": unpack, "dtype": dtype}
        if self.device == "cpu":
            return self.dataset.read(numbers, **arguments)
        import cupy

        return cupy.from_dlpack(self.dataset.read(numbers, device=self.device, **arguments))

    def _empty(self, shape: tuple[int, ...]) -> Any:
        if self.device == "cpu":
            return np.empty(shape, self.dtype)
        import cupy

        return cupy.empty(shape, self.dtype)


def _for_each(function: Callable[[Any], None], items: Iterable[Any]) -> None:
    items = list(items)
    if len(items) < 2:
        for item in items:
            function(item)
        return
    with ThreadPoolExecutor(min(_WINDOWS_IN_FLIGHT, len(items)), thread_name_prefix="terrazzo-index") as pool:
        for _ in pool.map(function, items):
            pass


class CentresArray(BackendArray):
    """x or y of the pixel centres of a rotated raster, as (y, x), computed where they are indexed."""

    def __init__(self, shape: tuple[int, int], per_column: float, per_row: float, first: float):
        self.shape, self.dtype = shape, np.dtype(np.float64)
        self.per_column, self.per_row, self.first = per_column, per_row, first

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._compute)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        return self[key]

    def _compute(self, key: tuple[Any, ...]) -> Any:
        rows, columns = (positions_of(part, size) for part, size in zip(key, self.shape))
        down = rows * self.per_row
        return columns * self.per_column + (down[:, None] if columns.ndim and rows.ndim else down) + self.first


def level_shape(dataset: Dataset, overview: int) -> tuple[int, int]:
    """(height, width)."""
    width, height = level_size(dataset.info, overview)
    return height, width


def tile_shape(dataset: Dataset, overview: int) -> tuple[int, int]:
    """(height, width) of the tiles or strips."""
    layout = dataset.info.layout if overview == 0 else dataset.overviews[overview - 1]
    return layout.tile_height, layout.tile_width


def level_transform(dataset: Dataset, overview: int) -> Transform:
    """The transform of a level; of pixels, if the raster is not georeferenced by one."""
    height, width = level_shape(dataset, overview)
    if dataset.transform is not None:
        return dataset.window_transform((0, 0, width, height), overview)
    return IDENTITY._replace(a=dataset.width / width, e=dataset.height / height)


def centres(t: Transform, height: int, width: int) -> dict[str, Any]:
    """Coordinates of pixel centres: y and x, or yc and xc of two axes, computed lazily, if the raster is rotated.

    The centre of the first pixel comes first, as in rioxarray: the order decides about the last bit.
    """
    x, y = t @ (0.5, 0.5)
    if t.b == 0 and t.d == 0:
        return {"x": ("x", np.arange(width) * t.a + x), "y": ("y", np.arange(height) * t.e + y)}
    across = CentresArray((height, width), t.a, t.b, x)
    down = CentresArray((height, width), t.d, t.e, y)
    return {name: (("y", "x"), indexing.LazilyIndexedArray(array)) for name, array in (("xc", across), ("yc", down))}


def _chunk_bytes() -> int:
    try:
        import dask.config
        import dask.utils
    except ImportError:
        return _DEFAULT_CHUNK_BYTES
    return dask.utils.parse_bytes(dask.config.get("array.chunk-size", _DEFAULT_CHUNK_BYTES))


def preferred_chunks(dataset: Dataset, overview: int, dtype: np.dtype[Any]) -> dict[str, int]:
    """Whole tiles, so that no tile is decoded by two tasks, of dask's chunk size or less, if a tile is not larger."""
    height, width = level_shape(dataset, overview)
    tile_height, tile_width = tile_shape(dataset, overview)
    bands = dataset.count if dataset.info.layout.interleave == "pixel" else 1
    pixels = _chunk_bytes() / (bands * dtype.itemsize)
    columns = min(width, max(1, int(math.sqrt(pixels) / tile_width)) * tile_width)
    rows = max(1, int(pixels / columns / tile_height)) * tile_height
    return {"band": bands, "y": min(height, rows), "x": columns}
