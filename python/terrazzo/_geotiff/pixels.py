# SPDX-License-Identifier: Apache-2.0
"""Pixels for open_geotiff(): windows as (row, column[, band]), lazily for dask, or in GPU memory."""
from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._dataset import Dataset
from .._geometry import Window
from .source import is_strict
from .values import Values
from ..compat import DamagedDeflateError, GeoTIFFFallbackWarning
from ..errors import Error, LimitError, MalformedError, UnsupportedError


class Pixels:
    """Windows of a raster. Picklable: dask's tasks carry the source and the window.

    `refusal` is the reason why the image is not read; `dataset` may be None then.
    """

    def __init__(
        self, dataset: Dataset | None, samples: int, level: int, window: Window, band: int | None, values: Values,
        orientation: int, refusal: Exception | None = None,
    ):  # fmt: skip
        self._dataset, self.level, self.window, self.band, self.values = dataset, level, window, band, values
        self.orientation, self.refusal = 1 if refusal is not None else orientation, refusal
        self.flat = band is not None or samples == 1
        height, width = (window.height, window.width) if self.orientation < 5 else (window.width, window.height)
        self.shape: tuple[int, ...] = (height, width) if self.flat else (height, width, samples)
        self.ndim, self.dtype = len(self.shape), values.result

    @property
    def dataset(self) -> Dataset:
        if self.refusal is not None:
            raise self.refusal
        assert self._dataset is not None
        return self._dataset

    def stored(self, rows: slice = slice(None), columns: slice = slice(None), strict: bool = False) -> Any:
        """Pixels as the file has them, except that images are upright and 0 is black. `strict` refuses blocks that decode
        to more than their pixels; the tile cache does not serve it, so chunks that share tiles are read without.
        """
        row, row_end, _ = rows.indices(self.window.height)
        column, column_end, _ = columns.indices(self.window.width)
        place = Window(self.window.column + column, self.window.row + row, column_end - column, row_end - row)
        try:
            pixels = self._read(place, strict)
        except MalformedError as error:
            if error.tile is not None and self.dataset.info.layout.compression == "deflate":
                damaged = DamagedDeflateError(*error.args)
                damaged.__dict__.update(error.__dict__)
                error = damaged
            error.add_note(
                "Decompressed tile/strip size mismatch, or damaged data: each block must decode to the bytes of its pixels (width, "
                "height, samples, bps). One that exceeds them may be a decompression bomb."
            )
            raise error from None
        except (LimitError, UnsupportedError) as error:
            raise ValueError(str(error)) from error
        return self.values.upright(_turned(pixels, self.orientation))

    def _read(self, place: Window, strict: bool) -> Any:
        wanted = self.values.stored
        dtype = None if wanted == self.dataset.dtype else wanted
        how: dict[str, Any] = {"window": place, "overview": self.level, "dtype": dtype, "strict": strict}
        if self.flat:
            return self.dataset.read(1 if self.band is None else self.band + 1, **how)
        pixels = np.empty((place.height, place.width, self.dataset.count), wanted)
        self.dataset.read(out=np.moveaxis(pixels, -1, 0), **how)
        return pixels

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        return self.values.apply(self.stored(key[0], key[1]))

    def as_dask(self, chunks: tuple[int, int], gpu: bool, version: Any) -> Any:
        """Tasks have the same names only for the same `version` of the source: dask takes equal names for equal pixels."""
        import dask.array as da
        from dask.base import tokenize

        shape = chunks if self.flat else (*chunks, self.shape[2])
        name = f"open_geotiff-{tokenize(self, version)}"
        data = da.from_array(
            self, chunks=shape, asarray=False, fancy=False, meta=np.empty((0,) * self.ndim, self.dtype), name=name
        )
        if not gpu:
            return data
        import cupy

        return data.map_blocks(cupy.asarray, meta=cupy.empty((0,) * self.ndim, self.dtype))

    def on_gpu(self, on_failure: str) -> Any:
        """Stored pixels as a CuPy array, decoded on the GPU."""
        import cupy

        try:
            bands = None if self.band is None else [self.band + 1]
            decoded = cupy.from_dlpack(self.dataset.read(bands, window=self.window, overview=self.level, device="cuda"))
            pixels = decoded[0] if self.flat else cupy.ascontiguousarray(cupy.moveaxis(decoded, 0, -1))
            return self.values.upright(_turned(pixels.astype(self.values.stored, copy=False), self.orientation))
        except Error as error:
            if on_failure == "strict" or is_strict():
                raise
            warnings.warn(f"the GPU could not be read into: {error}", GeoTIFFFallbackWarning, stacklevel=4)
            return cupy.asarray(self.stored())


def require_cupy() -> None:
    try:
        import cupy  # noqa: F401
    except ImportError as error:
        raise ImportError("cupy is required for gpu=True: pip install cupy-cuda12x, or the package of your CUDA") from error


def _turned(pixels: Any, orientation: int) -> Any:
    """An image of the TIFF orientation with its first row at the top and its first column at the left."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels if orientation == 1 else pixels.copy()
