# SPDX-License-Identifier: Apache-2.0
"""Where files are written to: paths and file objects."""
from __future__ import annotations

from typing import Any

from . import _core
from ._sources import is_url, path_of
from .errors import UnsupportedError, UsageError


def make_target(target: Any) -> str | _core.ByteSink:
    """The library's form of a path or of a binary file object."""
    path = path_of(target)
    if path is not None:
        if is_url(path):
            raise UnsupportedError(f"{path}: URLs cannot be written to; pass an open file, as of fsspec.open()")
        return path
    if not hasattr(target, "write"):
        raise UsageError(f"{type(target).__name__} is not a place to write to; pass a path or a binary file object")
    name = str(getattr(target, "name", type(target).__name__))
    seekable = getattr(target, "seekable", None)
    if seekable is not None and seekable():
        start = target.tell()

        def write_at(offset: int, data: memoryview) -> None:
            target.seek(start + offset)
            _write_all(target, data)

        return _core.seekable_sink(name, write_at)
    return _core.append_sink(name, lambda data: _write_all(target, data))


def _write_all(file: Any, data: memoryview) -> None:
    done = file.write(data)
    while done is not None and done < len(data):  # raw files may take less
        done += file.write(data[done:])
