# SPDX-License-Identifier: Apache-2.0
"""Reads in blocks of rows, and plans of reads."""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from ._geometry import Window, WindowLike
from ._requests import Resources, make_request, place_window

if TYPE_CHECKING:
    from typing import Unpack


class PlannedReads:
    """The part of Dataset that reads piece by piece, or looks ahead."""

    _raster: Any  # the _core.Dataset

    def iter_rows(
        self,
        bands: int | Iterable[int] | None = None,
        *,
        block_bytes: int = 64 << 20,
        window: WindowLike | None = None,
        bbox: Iterable[float] | None = None,
        bbox_crs: Any = None,
        overview: int | None = None,
        masked: bool = False,
        unpack: bool = False,
        scale: Iterable[float] | None = None,
        dtype: Any = None,
        **resources: Unpack[Resources],
    ) -> Iterator[tuple[Window, np.ndarray[Any, Any]]]:
        """Reads a raster that is larger than memory: pairs of a window and its pixels, from top to bottom.

        A window has whole rows of tiles, and its pixels take at most `block_bytes` (but at least one row of tiles). No
        tile is decoded twice. Windows are in pixels of the raster, or of the overview. The arguments are those of read().

        >>> highest = max(rows.max() for window, rows in terrazzo.open("dem.tif").iter_rows(1, block_bytes=1 << 18))
        >>> bool(highest == terrazzo.read("dem.tif").max())
        True
        """
        core = self._raster
        request, single = make_request(
            overview=overview, bands=bands, masked=masked, unpack=unpack, scale=scale, dtype=dtype, resources=resources
        )
        place_window(core, request, window, bbox, bbox_crs, boundless=False)
        request.dtype = _core.result_dtype(core, request)
        blocks = _core.RowBlocks(core, request, block_bytes)

        def read_all() -> Iterator[tuple[Window, np.ndarray[Any, Any]]]:
            for index in range(blocks.count):
                rows = blocks.read(index)
                yield Window(*blocks.window(index)), rows[0] if single else rows

        return read_all()

    def plan(
        self,
        bands: int | Iterable[int] | None = None,
        *,
        window: WindowLike | None = None,
        bbox: Iterable[float] | None = None,
        bbox_crs: Any = None,
        **reading: Any,
    ) -> _core.ReadPlan:
        """What a read would do, without reading pixels: level, window, size, type, codec, number of tiles, memory.

        `reading` are the keywords of read() for scale, values and work.

        >>> plan = terrazzo.open("dem.tif").plan(window=(0, 0, 200, 100))
        >>> plan.tile_count, plan.result_bytes
        (2, 80000)
        """
        resources = {name: reading.pop(name) for name in Resources.__annotations__ if name in reading}
        request, _ = make_request(bands=bands, resources=resources, **reading)
        place_window(self._raster, request, window, bbox, bbox_crs, boundless=False)
        return _core.plan(self._raster, request)
