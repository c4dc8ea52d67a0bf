# SPDX-License-Identifier: Apache-2.0
"""Windows, transforms and bounds: plain tuples with names, and the forms in which callers may pass them."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from .errors import UsageError


class Window(NamedTuple):
    """A rectangle of pixels: columns from `column`, rows from `row`."""

    column: int
    row: int
    width: int
    height: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """(rows, columns), to index an array of the whole raster."""
        return slice(self.row, self.row + self.height), slice(self.column, self.column + self.width)


class Bounds(NamedTuple):
    """A box of coordinates."""

    left: float
    bottom: float
    right: float
    top: float


class Corners(NamedTuple):
    """Outer corners of a raster, (x, y) each; `upper_left` is that of the first pixel."""

    upper_left: tuple[float, float]
    lower_left: tuple[float, float]
    upper_right: tuple[float, float]
    lower_right: tuple[float, float]


class Transform(NamedTuple):
    """An affine transform from (column, row) to (x, y), in the order of the packages affine and rasterio.

    >>> t = Transform.from_gdal((500000, 10, 0, 4200000, 0, -10))
    >>> t @ (2, 3)
    (500020.0, 4199970.0)
    >>> t.a, t.c, t.e, t.f
    (10.0, 500000.0, -10.0, 4200000.0)
    >>> ~t @ (500020, 4199970)
    (2.0, 3.0)
    """

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    @classmethod
    def from_gdal(cls, t: Sequence[float]) -> Transform:
        c, a, b, f, d, e = map(float, t)
        return cls(a, b, c, d, e, f)

    @classmethod
    def from_origin(cls, left: float, top: float, x_size: float, y_size: float) -> Transform:
        """Of a north-up raster with its upper left corner and the size of its pixels."""
        return cls(float(x_size), 0.0, float(left), 0.0, -float(y_size), float(top))

    def to_gdal(self) -> tuple[float, float, float, float, float, float]:
        return self.c, self.a, self.b, self.f, self.d, self.e

    def __matmul__(self, pixel: tuple[float, float]) -> tuple[float, float]:
        column, row = pixel
        return self.a * column + self.b * row + self.c, self.d * column + self.e * row + self.f

    def __mul__(self, pixel: Any) -> Any:
        """The same as `@`: what programs for older versions of affine type."""
        return self @ pixel

    def __invert__(self) -> Transform:
        """From (x, y) to (column, row)."""
        determinant = self.a * self.e - self.b * self.d
        if determinant == 0:
            raise UsageError(f"{self} puts all pixels on one line: it has no inverse")
        a, b, d, e = self.e / determinant, -self.b / determinant, -self.d / determinant, self.a / determinant
        return Transform(a, b, -self.c * a - self.f * b, d, e, -self.c * d - self.f * e)


# The transform of rasters that are not georeferenced, as in rioxarray.
IDENTITY = Transform(1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

WindowLike = Union[Window, tuple[int, int, int, int], tuple[slice, slice], Any]


def _slice_range(part: slice, size: int | None, axis: str) -> tuple[int, int]:
    if part.step not in (None, 1):
        raise UsageError(f"the slice of {axis} has step {part.step}; windows have step 1")
    start = 0 if part.start is None else operator.index(part.start)
    if part.stop is None and size is None:
        raise UsageError(f"the slice of {axis} has no end, and the size of the raster is unknown here")
    stop = size if part.stop is None else operator.index(part.stop)
    assert stop is not None
    if start < 0 or stop < start:
        raise UsageError(f"the slice of {axis} is {start}:{stop}; both ends count from 0")
    return start, stop - start


def is_plain(window: Any) -> bool:
    """Whether a window is a tuple of four int: what most callers pass, and what needs no parse_window()."""
    if type(window) is not tuple or len(window) != 4:
        return False
    column, row, width, height = window
    return type(column) is type(row) is type(width) is type(height) is int


def parse_window(window: WindowLike, width: int | None = None, height: int | None = None) -> Window:
    """From (column, row, width, height), (rows, columns) as slices or pairs (first, end), or a rasterio Window."""
    if type(window) is Window:
        return window
    if hasattr(window, "col_off"):
        return Window(*(_whole(getattr(window, name)) for name in ("col_off", "row_off", "width", "height")))
    parts: tuple[Any, ...] = tuple(window)
    if len(parts) == 2 and not any(isinstance(part, slice) for part in parts):
        parts = tuple(slice(*pair(part, "rows and columns")) for part in parts)  # rasterio's ((0, 10), (5, 20))
    if len(parts) == 2 and all(isinstance(part, slice) for part in parts):
        row, rows = _slice_range(parts[0], height, "rows")
        column, columns = _slice_range(parts[1], width, "columns")
        return Window(column, row, columns, rows)
    if len(parts) != 4:
        raise UsageError("a window is (column, row, width, height), or (slice of rows, slice of columns)")
    return Window(*map(_whole, parts))


def point_list(points: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Pairs of numbers, from an array (count, 2), one pair, or any iterable of pairs."""
    if isinstance(points, Iterator):
        points = list(points)
    places = np.ascontiguousarray(points, dtype=np.float64)
    if places.size == 0:
        return places.reshape(0, 2)
    if places.ndim not in (1, 2) or places.shape[-1] != 2:
        raise UsageError(f"points are pairs of numbers, an array (count, 2), not {places.shape}")
    return places.reshape(-1, 2)


def intersection(window: Window, width: int, height: int) -> Window | None:
    """The part of a window inside a raster; None if nothing is."""
    column, row, columns, rows = window
    if column >= 0 and row >= 0 and column + columns <= width and row + rows <= height:
        return window
    left, top = max(column, 0), max(row, 0)
    right, bottom = min(column + columns, width), min(row + rows, height)
    return Window(left, top, right - left, bottom - top) if left < right and top < bottom else None


def _whole(number: Any) -> int:
    try:
        return operator.index(number)
    except TypeError:
        pass
    if isinstance(number, float) and number.is_integer():
        return int(number)
    raise UsageError(
        f"a window counts whole pixels, not {number!r}; pass `bbox` for coordinates, or round the window: "
        "window.round_offsets().round_lengths() of rasterio"
    )


def parse_transform(transform: Any) -> Transform:
    """From a Transform, an affine.Affine, or 6 or 9 numbers in affine's order."""
    if all(hasattr(transform, name) for name in "abcdef"):
        return Transform(*(float(getattr(transform, name)) for name in "abcdef"))
    numbers = tuple(map(float, transform))
    if len(numbers) not in (6, 9):
        raise UsageError("a transform has 6 numbers: a, b, c, d, e, f of affine and rasterio")
    return Transform(*numbers[:6])


def pair(value: Any, name: str) -> tuple[Any, Any]:
    """One number for both axes, or two."""
    if isinstance(value, Iterable):
        numbers = tuple(value)
        if len(numbers) != 2:
            raise UsageError(f"{name} has {len(numbers)} numbers; it takes one or two")
        return numbers[0], numbers[1]
    return value, value
