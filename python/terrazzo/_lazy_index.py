# SPDX-License-Identifier: Apache-2.0
"""Indexers of xarray as windows: the pixels to read, and the places in the result that they go to."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

# Windows of indices that leave out pixels hold at most this many pixels of a band, or one tile if that is larger. It
# bounds the memory beyond the result; larger windows are not faster, because each has tiles for all cores already.
_WINDOW_PIXELS = 1 << 24

Positions = np.ndarray[Any, np.dtype[np.intp]]


class Run(NamedTuple):
    """Neighbouring positions of one axis: `size` pixels from `first`; pixels `source` of these go to `target`."""

    first: int
    size: int
    source: slice | Positions
    target: slice | Positions


class Axis(NamedTuple):
    """The runs of an indexer of one axis, in ascending order."""

    runs: list[Run]
    length: int
    scalar: bool  # the axis is dropped


def positions_of(key: Any, size: int) -> Positions:
    """The indices of an axis, from 0."""
    if isinstance(key, slice):
        return np.arange(*key.indices(size))
    positions = np.asarray(key)
    return np.where(positions < 0, positions + size, positions).astype(np.intp)


def axis_of(key: Any, size: int, tile: int, most: int) -> Axis:
    """Splits an indexer where it leaves out whole tiles, and, unless it is contiguous, where a run exceeds `most` pixels.

    Runs end at edges of tiles, so no tile is in two runs.

    >>> [run[:2] for run in axis_of(np.array([1000, 3, 7]), 2048, 256, 4096).runs]
    [(3, 5), (1000, 1)]
    """
    if isinstance(key, slice):
        chosen = range(size)[key]
        if chosen.step == 1 and len(chosen) > 0:
            return Axis([Run(chosen.start, len(chosen), slice(None), slice(None))], len(chosen), False)
    positions = positions_of(key, size)
    scalar = positions.ndim == 0
    positions = positions.reshape(-1)
    order = np.argsort(positions, kind="stable")
    ordered = positions[order]
    tiles = ordered // tile
    blocks = tiles // max(1, most // tile)
    cuts = np.flatnonzero((np.diff(tiles) > 1) | (np.diff(blocks) > 0)) + 1
    runs = []
    for part in np.split(order, cuts) if len(order) else []:
        first, last = int(positions[part[0]]), int(positions[part[-1]])
        runs.append(Run(first, last - first + 1, positions[part] - first, part))
    return Axis(runs, len(positions), scalar)


def axes_of(rows: Any, columns: Any, size: tuple[int, int], tile: tuple[int, int]) -> tuple[Axis, Axis]:
    """Both axes; `size` and `tile` are (height, width). The windows are all pairs of their runs."""
    across = axis_of(columns, size[1], tile[1], most=4096)
    widest = max((run.size for run in across.runs), default=1)
    return axis_of(rows, size[0], tile[0], most=_WINDOW_PIXELS // widest), across


class Points(NamedTuple):
    """Points within one tile: the window around them, their place in it, and their indices in the result."""

    row: int
    column: int
    rows: Positions
    columns: Positions
    target: Positions


def points_by_tile(rows: Positions, columns: Positions, tile: tuple[int, int]) -> Iterator[Points]:
    """Groups points so that each tile is in one group."""
    keys = np.stack([rows // tile[0], columns // tile[1]])
    order = np.lexsort(keys[::-1])
    cuts = np.flatnonzero((np.diff(keys[:, order]) != 0).any(axis=0)) + 1
    for part in np.split(order, cuts) if len(order) else []:
        row, column = int(rows[part].min()), int(columns[part].min())
        yield Points(row, column, rows[part] - row, columns[part] - column, part)
