# SPDX-License-Identifier: Apache-2.0
"""Where files are written to: paths, file objects, and objects of stores.

An object of a store appears when it is complete. After an exception it is discarded, and an object that was there before
stays as it was.
"""
from __future__ import annotations

import os
from typing import Any, Protocol

from . import _core
from ._sources import is_url, open_url, path_of
from ._stores import is_http, is_local, is_obstore, local_path
from .errors import UnsupportedError, UsageError


def make_target(target: Any, filesystem: Any = None, storage_options: Any = None) -> str | _core.ByteSink:
    """The library's form of a path, a binary file object, or a path in a file system or store."""
    path = path_of(target)
    if path is not None:
        if filesystem is None:
            if not is_url(path):
                if storage_options:
                    raise UsageError(f"{path} is a local path; storage_options belong to a URL")
                return path
            filesystem, path = open_url(path, storage_options)
        elif storage_options:
            raise UsageError("storage_options belong to a URL; a file system has its own")
        return _store_target(filesystem, path)
    if filesystem is not None or storage_options:
        raise UsageError(f"{type(target).__name__} is not a path; filesystem and storage_options need one")
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


def _store_target(filesystem: Any, path: str) -> str | _core.ByteSink:
    if is_http(filesystem):
        raise UnsupportedError(f"{path}: files are not written to HTTP servers; write to a path or to a store")
    if is_obstore(filesystem):
        upload: _Upload = _Staged(lambda staged: filesystem.put(path, staged))
    elif is_local(filesystem):
        return local_path(path)
    elif not hasattr(filesystem, "put_file"):
        raise UnsupportedError(f"{type(filesystem).__name__} cannot be written to: it has neither put_file() nor get_ranges()")
    elif _publishes_at_close(filesystem):
        upload = _Streamed(filesystem, path)
    else:
        upload = _Staged(lambda staged: filesystem.put_file(staged.name, path))
    return _core.store_sink(path, upload.append, upload.publish, upload.discard)


def _publishes_at_close(filesystem: Any) -> bool:
    """True for stores such as s3 and gcs, whose objects appear when their upload is completed.

    Files of other file systems (memory, sftp, caches) are visible, and empty, as soon as they are opened.
    """
    from fsspec.asyn import AsyncFileSystem

    wraps_another = hasattr(filesystem, "fs")
    return isinstance(filesystem, AsyncFileSystem) and not wraps_another and filesystem.async_impl


class _Upload(Protocol):
    """One new object: append() any number of times, then publish() or discard()."""

    def append(self, data: memoryview) -> None: ...

    def publish(self) -> None: ...

    def discard(self) -> None: ...


class _Streamed:
    """The parts of an upload go to the store as they come; closing the file completes it."""

    def __init__(self, filesystem: Any, path: str):
        self.filesystem, self.path = filesystem, path
        self.file: Any = None

    def append(self, data: memoryview) -> None:
        if self.file is None:
            self.file = self.filesystem.open(self.path, "wb")
        _write_all(self.file, data)

    def publish(self) -> None:
        self.file.close()
        self.file = None

    def discard(self) -> None:
        if self.file is None:
            return
        file, self.file = self.file, None
        try:
            file.discard()
        finally:
            file.closed = True  # otherwise fsspec completes the upload when the file is freed


class _Staged:
    """The object waits in a temporary file, because its file system has no upload that can be dropped."""

    def __init__(self, put: Any):
        self.put = put
        self.file: Any = None

    def append(self, data: memoryview) -> None:
        if self.file is None:
            import tempfile  # takes a while, and is seldom needed

            self.file = tempfile.NamedTemporaryFile(prefix="terrazzo-")
        _write_all(self.file, data)

    def publish(self) -> None:
        self.file.flush()
        self.file.seek(0, os.SEEK_SET)
        self.put(self.file)
        self.discard()

    def discard(self) -> None:
        if self.file is not None:
            self.file.close()
        self.file = None


def _write_all(file: Any, data: memoryview) -> None:
    done = file.write(data)
    while done is not None and done < len(data):  # raw files may take less
        done += file.write(data[done:])
