# SPDX-License-Identifier: Apache-2.0
"""Objects of Python as sources of bytes: what terrazzo.open() takes besides paths.

All of them become one protocol: `read_ranges([(offset, length), ...])` returns the bytes of each range, and is called
from several threads. Sources in stores are in _stores.py.
"""
from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from . import _core
from .errors import UnsupportedError, UsageError

Ranges = Sequence[tuple[int, int]]


class RangeReader(Protocol):
    """A source of your own. `name` is optional."""

    size: int

    def read_ranges(self, ranges: Ranges) -> Sequence[Any]: ...


class Start(NamedTuple):
    """What a store is asked for when a file is opened: its size, and its first bytes."""

    size: int
    head: bytes


# A source with latency: large batches, so that one call asks for all tiles of a read, and gaps that cost less than a
# request of their own.
REMOTE = {"merge_gap_bytes": 64 << 10, "batch_bytes": 64 << 20, "read_ahead_bytes": 32 << 10, "requests_in_flight": 64}


def path_of(source: Any) -> str | None:
    """The path, if the source is one."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return os.fsdecode(path)
    return None


def is_url(path: str) -> bool:
    """True for URLs of stores, such as s3://..., and for chained ones of fsspec; file:// URLs are local paths."""
    scheme, separator, _ = path.partition("://")
    known = all(part.replace("+", "").replace("-", "").isidentifier() for part in scheme.split("::"))
    return bool(separator) and known and scheme != "file"


def is_buffer(source: Any) -> bool:
    if hasattr(source, "read") or hasattr(source, "read_ranges"):
        return False
    try:
        memoryview(source)
    except TypeError:
        return False
    return True


def make_source(
    source: Any, filesystem: Any = None, storage_options: Any = None, start: Start | None = None
) -> tuple[_core.ByteSource, Start | None]:
    """The source of an object that is not a local path, and, in a store, its start, if that is not known."""
    path = path_of(source)
    if filesystem is None and path is not None and is_url(path):
        filesystem, path = open_url(path, storage_options)
    elif storage_options:
        raise UsageError("storage_options belong to a URL; a file system has its own")
    elif filesystem is None and path is None and hasattr(getattr(source, "fs", None), "cat_ranges"):
        filesystem, path = source.fs, getattr(source, "path", None)  # a file of fsspec
    if filesystem is not None:
        from . import _stores

        return _stores.make_source(filesystem, str(source) if path is None else path, start)
    return _make_source(source), None


def _make_source(source: Any) -> _core.ByteSource:
    if is_buffer(source):
        return _core.buffer_source(source, "memory")
    if hasattr(source, "read_ranges"):
        size = getattr(source, "size", None)
        size = size() if callable(size) else size
        if size is None:
            raise UsageError("a source with read_ranges() needs the attribute `size`, in bytes")
        return ranges_source(source.read_ranges, getattr(source, "name", type(source).__name__), size, REMOTE)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return _file_source(source)
    raise UsageError(
        f"{type(source).__name__} is not a source; pass a path, bytes, a file object, or an object with read_ranges()"
    )


def open_url(url: str, storage_options: Any = None) -> tuple[Any, str]:
    """The file system of fsspec for a URL, and the path in it."""
    try:
        import fsspec
    except ImportError:
        raise UnsupportedError(f"{url}: URLs need the package fsspec; install terrazzo[cloud]") from None
    try:
        filesystem, path = fsspec.core.url_to_fs(url, **(storage_options or {}))
    except ImportError as error:  # the text names the package of this kind of URL
        raise UnsupportedError(f"{url}: {error}") from error
    except ValueError as error:
        raise UsageError(f"{url}: {error}") from error
    return filesystem, path


def ranges_source(read: Callable[[Ranges], Sequence[Any]], name: Any, size: int, hints: dict[str, int]) -> _core.ByteSource:
    values = _core.SourceHints()
    for key, value in hints.items():
        setattr(values, key, value)
    return _core.ranges_source(read, str(name), int(size), values)


def _file_source(file: Any) -> _core.ByteSource:
    """A file object: one thread at a time moves its position and reads."""
    lock = threading.Lock()

    def read_ranges(ranges: Ranges) -> list[bytes]:
        with lock:
            return [_read_at(file, offset, length) for offset, length in ranges]

    with lock:
        size = file.seek(0, os.SEEK_END)
        size = file.tell() if size is None else size
    return ranges_source(read_ranges, getattr(file, "name", type(file).__name__), size, {})


def _read_at(file: Any, offset: int, length: int) -> bytes:
    file.seek(offset)
    data = file.read(length)
    while len(data) < length:  # raw files may return less
        more = file.read(length - len(data))
        if not more:
            break
        data += more
    return data
