# SPDX-License-Identifier: Apache-2.0
"""Tiles that other processes compress for one writer."""
from __future__ import annotations

from typing import Any

from . import _core
from ._device import queue_of
from ._requests import number_text
from ._write import as_array, options_for, unmask
from .errors import UsageError

EncodedTile = tuple[tuple[int, int, int], bytes]  # (column, row, plane), and the compressed bytes

# Fields of WriteOptions that decide the bytes of a tile. Others, such as the CRS, stay with the writer.
_FIELDS = (
    "dtype", "bands", "nan_to_nodata", "tile_size", "strip_rows", "sparse", "photometric", "compression", "level", "checksum",
    "predictor", "lerc_max_error", "quality", "lossless", "jpeg2000_rate", "interleave", "chroma", "engine", "threads",
    "device_budget_bytes",
)  # fmt: skip


def encode_tiles(
    array: Any, first: tuple[int, int], size: tuple[int, int], *, stream: Any = None, **options: Any
) -> list[EncodedTile]:
    """Compresses a part of a raster of `size` (width, height), for a writer in another process.

    The part is `array`: whole tiles, from the tile `first` (column, row) on, in host memory or (CuPy, torch) on a GPU.
    Returns pairs of (column, row, plane) and bytes for Writer.write_encoded(). `options` are those of the writer, which
    makes overviews and statistics itself.

    >>> heights, options = np.zeros((100, 64), np.uint8), {"tile_size": 64, "compression": "deflate", "cog": True}
    >>> with terrazzo.Writer("parts.tif", 64, 100, dtype="uint8", **options) as out:
    ...     for row in (0, 1):
    ...         part = heights[row * 64 : row * 64 + 64]
    ...         for tile, data in terrazzo.encode_tiles(part, (0, row), (64, 100), **options):
    ...             out.write_encoded(tile, data)
    >>> terrazzo.validate("parts.tif", decode=True).valid_cog
    True
    """
    pixels, mask = unmask(array, None, options.get("nodata", ...))
    if mask is not None:
        raise UsageError("the array is masked, and compressed tiles have no mask: pass nodata")
    pixels = as_array(pixels)
    bands = pixels.shape[0] if len(pixels.shape) == 3 else 1
    width, height = size
    chosen = options_for(pixels.dtype, bands, height, width, **options)
    return _core.encode_tiles(pixels, (*first, 0), width, height, chosen, queue_of(stream, pixels))


class TileSettings:
    """The part of a writer's options that decides the bytes of tiles. It can be pickled."""

    def __init__(self, options: _core.WriteOptions):
        self._fields = {name: getattr(options, name) for name in _FIELDS}
        self._nodata = None if options.nodata is None else number_text(options.nodata)
        # Colours decide which samples are alpha; a colour table makes a palette.
        self._colors = [(info.color, info.color_table) for info in options.band_info]

    @property
    def block_size(self) -> tuple[int | None, int]:
        """Width and height of a tile or strip; a strip has the width of the raster, None."""
        rows = self._fields["strip_rows"]
        return (None, rows) if rows is not None else self._fields["tile_size"]

    def options(self) -> _core.WriteOptions:
        options = _core.WriteOptions()
        for name, value in self._fields.items():
            if value is not None:
                setattr(options, name, value)
        options.nodata = self._nodata
        infos = []
        for color, table in self._colors:
            info = _core.BandInfo()
            info.color, info.color_table = color, table
            infos.append(info)
        options.band_info = infos
        return options

    def encode(self, pixels: Any, first: tuple[int, int], size: tuple[int, int]) -> list[EncodedTile]:
        """As encode_tiles(), with the writer's options; `pixels` is (bands, rows, columns). On one thread by default:
        schedulers run a task for each core.
        """
        pixels, options = as_array(pixels), self.options()
        options.threads = options.threads or 1
        return _core.encode_tiles(pixels, (*first, 0), *size, options, queue_of(None, pixels))
