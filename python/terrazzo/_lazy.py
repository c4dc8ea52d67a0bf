# SPDX-License-Identifier: Apache-2.0
"""Lazy arrays of rasters for xarray: outer indexing by windows, and coordinates of pixel centres."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.core import indexing

from ._dataset import Dataset

# dask's default chunk size. Chunks are multiples of tiles near it: one task a tile would be far too many.
CHUNK_BYTES = 128 << 20


def _span(key: Any, size: int) -> tuple[int, int, Any]:
    """(first, count, index within these) of an indexer of one axis."""
    if isinstance(key, slice):
        chosen = range(size)[key]
        if len(chosen) == 0:
            return 0, 0, slice(None)
        first, last = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
        if chosen.step == 1:
            return first, last - first + 1, slice(None)
        return first, last - first + 1, np.arange(len(chosen)) * chosen.step + (chosen[0] - first)
    positions = np.asarray(key)
    positions = np.where(positions < 0, positions + size, positions)
    if positions.ndim == 0:
        return int(positions), 1, 0
    if positions.size == 0:
        return 0, 0, slice(None)
    first = int(positions.min())
    return first, int(positions.max()) - first + 1, positions - first


class RasterArray(BackendArray):
    """Pixels of a dataset as (band, y, x). Pickling carries the source, and workers open it again."""

    def __init__(self, dataset: Dataset, overview: int = 0, band: int | None = None):
        self.dataset, self.overview, self.band = dataset, overview, band
        height, width = level_size(dataset, overview)
        self.shape = (height, width) if band is not None else (dataset.count, height, width)
        self.dtype = dataset.dtype

    def __getitem__(self, key: Any) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        band_key = slice(None) if self.band is None else None
        keys = key if self.band is None else (None, *key)
        if band_key is None:
            bands, band_index, first_band = [self.band], 0, 0
        else:
            first_band, count, band_index = _span(keys[0], self.shape[0])
            bands = list(range(first_band + 1, first_band + count + 1))
        row, rows, row_index = _span(keys[1], self.shape[-2])
        column, columns, column_index = _span(keys[2], self.shape[-1])
        if not bands or not rows or not columns:
            return np.empty(self.shape, self.dtype)[key if not isinstance(key, tuple) else np.ix_(*map(_positions, key, self.shape))]
        pixels = self.dataset.read(bands, window=(column, row, columns, rows), overview=self.overview)
        # One axis at a time: outer indexing. The last first, so that dropped axes do not shift the others.
        return pixels[:, :, column_index][:, row_index][band_index]


def _positions(key: Any, size: int) -> Any:
    return np.arange(size)[key] if isinstance(key, slice) else np.atleast_1d(key)


def level_size(dataset: Dataset, overview: int) -> tuple[int, int]:
    if overview == 0:
        return dataset.height, dataset.width
    level = dataset.overviews[overview - 1]
    return level.height, level.width


def centres(dataset: Dataset, overview: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]] | None:
    """(y, x) of pixel centres; None for a raster that is not georeferenced, or rotated."""
    if dataset.transform is None:
        return None
    height, width = level_size(dataset, overview)
    t = dataset.window_transform((0, 0, width, height), overview)
    if t.b != 0 or t.d != 0:
        return None
    return t.f + (np.arange(height) + 0.5) * t.e, t.c + (np.arange(width) + 0.5) * t.a


def preferred_chunks(dataset: Dataset, overview: int) -> dict[str, int]:
    """Whole tiles, so that no tile is decoded by two tasks, near dask's chunk size."""
    height, width = level_size(dataset, overview)
    layout = dataset.info.layout if overview == 0 else dataset.overviews[overview - 1]
    bands = dataset.count if dataset.info.layout.interleave == "pixel" else 1
    pixels = CHUNK_BYTES / (bands * dataset.dtype.itemsize)
    columns = min(width, math.ceil(math.sqrt(pixels) / layout.tile_width) * layout.tile_width)
    tile_rows = max(1, int(pixels / columns / layout.tile_height))
    return {"band": bands, "y": min(height, tile_rows * layout.tile_height), "x": columns}
