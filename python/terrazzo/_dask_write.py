# SPDX-License-Identifier: Apache-2.0
"""Writing dask arrays: groups of rows are computed ahead under a byte budget, and written from top to bottom.

A group is some rows of chunks. The scheduler computes one group after the other. Tasks that many groups need, such as
the mean of all pixels, are computed before the first, and tasks that two neighbours need, such as halos, are kept.
Workers of a cluster compress the tiles of their chunks too, and the writer gets tiles instead of pixels.
"""
from __future__ import annotations

import collections
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from ._encoded import EncodedTile, TileSettings
from .errors import UsageError

_COMPUTE_AHEAD_BYTES = 512 << 20

Key = Any
Graph = dict[Key, Any]


def write_dask(
    target: Any,
    array: Any,
    *,
    like: Any = None,
    mask: Any = None,
    stream: Any = None,
    compute_ahead_bytes: int | None = None,
    **options: Any,
) -> Any:
    """terrazzo.write() of a dask array (rows, columns) or (bands, rows, columns), in bounded memory, COGs too.

    Computed rows, with those being written, take `compute_ahead_bytes` (512 MiB) at most, or one row of chunks if that
    is larger. Chunks that are wide and low need the least memory. Workers of dask.distributed compress the tiles if their
    chunks have all bands and there is no mask.

    >>> import dask.array
    >>> heights = dask.array.zeros((512, 512), chunks=(256, 512), dtype="float32")
    >>> report = write_dask("zeros.tif", heights, crs=32632, cog=True)
    >>> terrazzo.open("zeros.tif").shape
    (1, 512, 512)
    """
    from ._write import Writer

    array = getattr(array, "data", array)  # of a DataArray
    _check(array, mask)
    if array.dtype == bool:
        array = array.astype(np.uint8)
    pixels = array if array.ndim == 3 else array[None]
    bands, height, width = pixels.shape
    ahead = _COMPUTE_AHEAD_BYTES if compute_ahead_bytes is None else compute_ahead_bytes
    with Writer(target, width, height, dtype=pixels.dtype, bands=bands, like=like, mask=mask is not None, **options) as out:
        if mask is None and _workers_compress(pixels):
            for tile, data in encoded_tiles(pixels, ahead, TileSettings(out._options)):
                out.write_encoded(tile, data)
            return out.close()
        first = 0
        for rows in computed_rows(pixels, ahead):
            last = first + rows.shape[1]
            out.write_rows(rows, None if mask is None else mask[first:last], stream=stream)
            first = last
            del rows  # before the next ones are waited for
        return out.close()


def _check(array: Any, mask: Any) -> None:
    if array.ndim not in (2, 3):
        raise UsageError(f"the array has {array.ndim} axes; a raster has (rows, columns) or (bands, rows, columns)")
    if any(size != size for size in array.shape):
        raise UsageError("the sizes of the chunks are unknown; call compute_chunk_sizes() first")
    if np.ma.isMaskedArray(array._meta):
        raise UsageError("the chunks are masked arrays; fill them first, as by dask.array.ma.filled()")
    if hasattr(mask, "__dask_graph__"):
        raise UsageError("the mask is a dask array; compute it first, or write missing pixels as nodata")


def _scheduler(pixels: Any) -> Callable[..., Any]:
    import dask.base

    get: Callable[..., Any] = dask.base.get_scheduler(collections=[pixels])
    return get


def _is_of(get: Callable[..., Any], package: str) -> bool:
    return getattr(get, "__module__", "").startswith(f"{package}.")


def _workers_compress(pixels: Any) -> bool:
    """Whether tasks run on workers of dask.distributed, with chunks of all bands.

    Joining chunks of single bands into tiles would take many times their memory on one worker.
    """
    return _is_of(_scheduler(pixels), "distributed") and len(pixels.chunks[0]) == 1


def computed_rows(pixels: Any, ahead_bytes: int) -> Iterator[Any]:
    """Rows of a dask array (bands, rows, columns) from top to bottom, as arrays (bands, some rows, columns)."""
    return _in_order(pixels, _row_bytes(pixels), ahead_bytes)


def encoded_tiles(pixels: Any, ahead_bytes: int, settings: TileSettings) -> Iterator[EncodedTile]:
    """The tiles of a dask array (bands, rows, columns), compressed by its tasks, from the upper rows of chunks on."""
    _, height, width = pixels.shape
    side, tile_height = settings.block_size
    tile_width = width if side is None else side
    whole = pixels.rechunk((-1, _cut_at_tiles(pixels.chunks[1], tile_height), _cut_at_tiles(pixels.chunks[2], tile_width)))
    tops, lefts = ([first // side for first in (0, *itertools.accumulate(chunks))]
                   for chunks, side in zip(whole.chunks[1:], (tile_height, tile_width)))  # fmt: skip
    encode = functools.partial(_encode_chunk, settings=settings, tops=tops, lefts=lefts, size=(width, height))
    single = tuple((1,) * len(chunks) for chunks in whole.chunks)
    tasks = whole.map_blocks(encode, chunks=single, meta=np.empty((0, 0, 0), object))
    for group in _in_order(tasks, _row_bytes(whole), ahead_bytes):
        yield from sorted(itertools.chain.from_iterable(group.flat), key=_place_in_file)


def _place_in_file(tile: EncodedTile) -> tuple[int, int, int]:
    column, row, plane = tile[0]
    return row, plane, column


def _cut_at_tiles(chunks: tuple[int, ...], side: int) -> tuple[int, ...]:
    """Chunks that begin at tiles: the same ones if they do, else about as large."""
    if all(size % side == 0 for size in chunks[:-1]):
        return chunks
    whole, step = sum(chunks), max(side, round(max(chunks) / side) * side)
    return (step,) * (whole // step) + ((whole % step,) if whole % step else ())


def _encode_chunk(
    pixels: Any, settings: TileSettings, tops: list[int], lefts: list[int], size: tuple[int, int], block_id: tuple[int, int, int]
) -> Any:
    tiles = np.empty((1, 1, 1), object)
    tiles[0, 0, 0] = settings.encode(pixels, (lefts[block_id[2]], tops[block_id[1]]), size)
    return tiles


def _row_bytes(pixels: Any) -> list[int]:
    """Of each row of chunks."""
    return [pixels.shape[0] * rows * pixels.shape[2] * pixels.dtype.itemsize for rows in pixels.chunks[1]]


def _in_order(array: Any, row_bytes: list[int], ahead_bytes: int) -> Iterator[Any]:
    """Computes groups of rows of chunks. `row_bytes`: what each row takes while it is computed, and until it is written."""
    groups = _groups(row_bytes, ahead_bytes // 2)
    compute = _GroupsOfRows(array, groups, _scheduler(array))
    sizes = [sum(row_bytes[row] for row in group) for group in groups]
    pending: collections.deque[Future[Any]] = collections.deque()
    submitted = held_bytes = 0
    pool = ThreadPoolExecutor(compute.at_a_time, thread_name_prefix="terrazzo-dask")
    try:
        for size in sizes:
            # The first of them goes to the writer, so one more than are computed at a time.
            while submitted < len(groups) and len(pending) <= compute.at_a_time:
                if held_bytes + sizes[submitted] > ahead_bytes and held_bytes:
                    break
                held_bytes += sizes[submitted]
                pending.append(pool.submit(compute, submitted))
                submitted += 1
            yield pending.popleft().result()
            held_bytes -= size
    finally:
        pool.shutdown(cancel_futures=True)


def _groups(row_bytes: list[int], group_bytes: int) -> list[list[int]]:
    """Consecutive rows of chunks of at most this size, or single ones."""
    groups: list[list[int]] = []
    room = -1
    for row, size in enumerate(row_bytes):
        if room < size:
            groups.append([])
            room = group_bytes
        groups[-1].append(row)
        room -= size
    return groups


class _GroupsOfRows:
    """The parts of the graph that make the groups, and the results that several groups need."""

    def __init__(self, pixels: Any, groups: list[list[int]], get: Callable[..., Any]):
        self._get, self._chunks, self._groups = _as_in_main_thread(get), pixels.chunks, groups
        self._graph: Graph = dict(pixels.__dask_optimize__(pixels.__dask_graph__(), pixels.__dask_keys__()))
        self._needs = _dependencies(self._graph)
        bands, columns = range(len(pixels.chunks[0])), range(len(pixels.chunks[2]))
        self._outputs = [list(itertools.product([pixels.name], bands, group, columns)) for group in groups]
        self._known: dict[Key, Any] = {}  # results that are kept
        # Groups that are computed at the same time cannot keep results for each other.
        is_local = _is_of(get, "dask")
        self.at_a_time = 1 if is_local else 2
        first, last = self._compute_shared()
        self._kept: dict[int, list[Key]] = collections.defaultdict(list)
        self._dropped: dict[int, list[Key]] = collections.defaultdict(list)
        for key, group in first.items():
            if is_local and last[key] > group:
                self._kept[group].append(key)
                self._dropped[last[key]].append(key)

    def __call__(self, group: int) -> Any:
        outputs, kept = self._outputs[group], self._kept[group]
        results = list(self._compute([*outputs, *kept]))
        self._known.update(zip(kept, results[len(outputs) :]))
        for key in self._dropped[group]:
            del self._known[key]
        del results[len(outputs) :]
        return self._assemble(self._groups[group], results)

    def _compute(self, keys: list[Key]) -> Any:
        """Runs the tasks that the keys need; known results are constants."""
        needed = _reach([keys], self._needs, self._known)
        part = {key: self._graph[key] for key in needed}
        for key in {key for task in needed for key in self._needs[task]} & self._known.keys():
            part[key] = _constant(key, self._known[key])
        return self._get(part, keys)

    def _compute_shared(self) -> tuple[dict[Key, int], dict[Key, int]]:
        """Computes what more than two groups need, and returns the first and the last group that needs each other task.

        Of shared tasks, the last ones are computed: the mean, and not the chunks that it is made of.
        """
        while True:
            first = _reach(self._outputs, self._needs, self._known)
            last = _reach(self._outputs[::-1], self._needs, self._known)
            last = {key: len(self._outputs) - 1 - group for key, group in last.items()}
            shared = {key for key, group in first.items() if last[key] - group > 1 and not _is_data(self._graph[key])}
            if not shared:
                return first, last
            keys = list(shared - {need for key in shared for need in self._needs[key]})
            self._known.update(zip(keys, self._compute(keys)))

    def _assemble(self, group: list[int], chunks: list[Any]) -> Any:
        """Empties the list, so that each chunk is freed when it is copied."""
        if len(chunks) == 1:
            return chunks.pop()
        bands, columns = ([0, *itertools.accumulate(self._chunks[axis])] for axis in (0, 2))
        rows = [0, *itertools.accumulate(self._chunks[1][block] for block in group)]
        result = np.empty_like(chunks[-1], shape=(bands[-1], rows[-1], columns[-1]))  # of CuPy if the chunks are
        for places in itertools.product(*(list(itertools.pairwise(edges))[::-1] for edges in (bands, rows, columns))):
            result[tuple(slice(*place) for place in places)] = chunks.pop()
        return result


def _dependencies(graph: Graph) -> dict[Key, Iterable[Key]]:
    from dask.core import get_dependencies

    return {key: get_dependencies(graph, key) for key in graph}


def _reach(groups: list[list[Key]], needs: dict[Key, Iterable[Key]], known: dict[Key, Any]) -> dict[Key, int]:
    """The tasks that the groups need, each with the first group that needs it. Known ones end the search."""
    found: dict[Key, int] = {}
    for group, keys in enumerate(groups):
        stack = list(keys)
        while stack:
            key = stack.pop()
            if key not in found and key not in known:
                found[key] = group
                stack.extend(needs[key])
    return found


def _as_in_main_thread(get: Callable[..., Any]) -> Callable[..., Any]:
    """In other threads, dask's thread scheduler starts more threads than there are cores."""
    import dask.config
    import dask.system
    import dask.threaded

    if get is not dask.threaded.get:
        return get
    return functools.partial(get, num_workers=dask.config.get("num_workers", None) or dask.system.CPU_COUNT)


def _is_data(task: Any) -> bool:
    """A constant of the graph, such as a raster whose parts tasks read."""
    from dask.core import istask

    return type(task).__name__ == "DataNode" or (isinstance(task, tuple) and not istask(task)) or hasattr(task, "shape")


def _constant(key: Key, value: Any) -> Any:
    try:
        from dask._task_spec import DataNode
    except ImportError:  # dask before 2024.12
        return value
    return DataNode(key, value)
