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
        """Reads the window around the indices, then picks them from it: outer indexing, one axis after the other."""
        spans = [_span(part, size) for part, size in zip(key, self.shape)]
        if self.band is not None:
            spans.insert(0, (self.band - 1, 1, 0))
        (first, count, band_index), (row, rows, row_index), (column, columns, column_index) = spans
        if count and rows and columns:
            bands = range(first + 1, first + count + 1)
            pixels = self.dataset.read(bands, window=(column, row, columns, rows), overview=self.overview)
        else:
            pixels = np.empty((count, rows, columns), self.dtype)
        # The last axis first: an index of one position drops its axis and would shift the axes after it.
        return pixels[:, :, column_index][:, row_index][band_index]


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
