# SPDX-License-Identifier: Apache-2.0
"""Places of read_windows(): windows and boxes of coordinates, as pixels of a raster or as a grid to resample to."""
from __future__ import annotations

import math
import operator
from typing import Any, NamedTuple

from ._dataset import Dataset
from ._geometry import Bounds, Window, intersection, pair, parse_window
from ._requests import box_in_crs, level_size
from .errors import UsageError

# Edges of boxes are computed: a deviation of this many pixels is a rounding error.
_ROUNDING = 1e-3


class Steps(NamedTuple):
    """A grid over the raster, in its pixels: where it begins, and the size of the grid's pixels."""

    column: float
    row: float
    column_step: float
    row_step: float


class Part(NamedTuple):
    """A part of a raster: a window of it, or, with `steps`, a window of that grid."""

    raster: Raster
    window: Window
    inside: Window | None  # the part of the window inside the raster
    steps: Steps | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the part is one window inside the raster."""
        return self.steps is None and self.inside == self.window


class Grid:
    """What the places of one call have in common."""

    def __init__(self, size: Any, overview: int | None, resolution: Any, nearest: bool, bbox_crs: Any, boundless: bool):
        self.level = 0 if overview is None else operator.index(overview)
        self.size = None if size is None else tuple(operator.index(count) for count in pair(size, "size"))
        self.resolution = None if resolution is None else tuple(map(float, pair(resolution, "resolution")))
        self.nearest, self.bbox_crs, self.boundless = nearest, bbox_crs, boundless
        if self.size is not None and min(self.size) < 1:
            raise UsageError(f"size is {self.size}; both numbers are at least 1")
        if self.resolution is not None and not (min(self.resolution) > 0 and max(self.resolution) < math.inf):
            raise UsageError(f"resolution is {self.resolution}; it is above 0")
        if self.resolution is not None and self.level > 0:
            raise UsageError("overview and resolution exclude each other")


class Raster:
    """A dataset, and the placement of windows on it."""

    def __init__(self, dataset: Dataset, grid: Grid):
        self.dataset, self.core, self.grid = dataset, dataset._raster, grid
        self.width, self.height = level_size(dataset.info, grid.level)
        self.outside: list[Any] | None = None  # of outside_values(), when it is needed

    def place(self, place: Any) -> Part:
        box = _box_of(place)
        if box is not None:
            part = self._place_edges(*self._pixels_of(box))
        else:
            window = parse_window(place, self.width, self.height)
            if self.grid.resolution is None and self.grid.size in (None, window[2:]):
                part = Part(self, window, intersection(window, self.width, self.height))
            else:
                column, row, width, height = window
                part = self._place_edges(column, row, column + width, row + height)
        if part.inside != part.window and not self.grid.boundless:
            raise UsageError(
                f"{self.dataset.name}: {place} reaches outside the raster of {self.width} x {self.height} pixels; "
                "boundless=True allows that"
            )
        return part

    def _place_edges(self, left: float, top: float, right: float, bottom: float) -> Part:
        """From edges in pixels of the level."""
        across = self._axis(right - left, 0)
        down = self._axis(bottom - top, 1)
        (width, column_step), (height, row_step) = across, down
        column = (left + right - width * column_step) / 2
        row = (top + bottom - height * row_step) / 2
        if column_step == row_step == 1 and (self.grid.nearest or (_is_whole(column) and _is_whole(row))):
            window = Window(math.floor(column + 0.5), math.floor(row + 0.5), width, height)
            return Part(self, window, intersection(window, self.width, self.height))
        first_column, columns = _centres_inside(column, column_step, width, self.width)
        first_row, rows = _centres_inside(row, row_step, height, self.height)
        inside = Window(first_column, first_row, columns, rows) if columns > 0 and rows > 0 else None
        return Part(self, Window(0, 0, width, height), inside, Steps(column, row, column_step, row_step))

    def _axis(self, extent: float, axis: int) -> tuple[int, float]:
        """(pixels of the result, step in pixels of the level) for an extent along an axis."""
        grid = self.grid
        if grid.resolution is not None:
            step = grid.resolution[axis] / self._pixel_sides()[axis]
        elif grid.size is not None and grid.level == 0:
            step = extent / grid.size[axis]
        else:
            step = 1.0
        count = round(extent / step) if grid.size is None else grid.size[axis]
        if count < 1 or abs(extent / step - count) > 1:
            raise UsageError(
                f"{self.dataset.name}: a place has {extent / step:.6g} {('columns', 'rows')[axis]}"
                + (f"; size is {count}" if grid.size is not None else "")
            )
        return count, 1.0 if abs(step - 1) * count < _ROUNDING else step

    def _pixel_sides(self) -> tuple[float, float]:
        a, b, _, d, e, _ = self._transform()
        return math.hypot(a, d), math.hypot(b, e)

    def _transform(self) -> tuple[float, ...]:
        transform = self.dataset.transform
        if transform is None or transform.a * transform.e == transform.b * transform.d:
            raise UsageError(f"{self.dataset.name}: boxes and resolutions need a georeferenced raster")
        return transform

    def _pixels_of(self, box: Bounds) -> tuple[float, float, float, float]:
        """The edges of a box in pixels of the level: left, top, right, bottom."""
        west, south, east, north = box_in_crs(self.core, box, self.grid.bbox_crs)
        if not (west < east and south < north):
            raise UsageError(f"the box {box} is empty; a box is left, bottom, right, top")
        a, b, c, d, e, f = self._transform()
        determinant = a * e - b * d
        corners = [(x - c, y - f) for x in (west, east) for y in (south, north)]
        columns = [(e * x - b * y) / determinant * self.width / self.dataset.width for x, y in corners]
        rows = [(a * y - d * x) / determinant * self.height / self.dataset.height for x, y in corners]
        return min(columns), min(rows), max(columns), max(rows)


def _box_of(place: Any) -> Bounds | None:
    """A terrazzo.Bounds, rasterio's BoundingBox, or what a sampler of torchgeo gives: a BoundingBox, or slices of x, y, t."""
    if hasattr(place, "left") and hasattr(place, "bottom"):
        return Bounds(place.left, place.bottom, place.right, place.top)
    if hasattr(place, "minx"):
        return Bounds(place.minx, place.miny, place.maxx, place.maxy)
    if type(place) is tuple and len(place) == 3 and isinstance(place[0], slice):
        x, y, _ = place
        return Bounds(x.start, y.start, x.stop, y.stop)
    return None


def _is_whole(position: float) -> bool:
    return abs(position - round(position)) < _ROUNDING


def _centres_inside(start: float, step: float, count: int, size: int) -> tuple[int, int]:
    """(first, count) of a grid's pixels along an axis whose middle is inside the raster."""
    first = min(count, max(0, math.ceil(-start / step - 0.5)))
    end = min(count, math.ceil((size - start) / step - 0.5))
    return first, end - first
