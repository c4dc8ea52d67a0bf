# SPDX-License-Identifier: Apache-2.0
"""What open_geotiff() takes as a source: local paths, file objects, and URLs with the limits on remote files."""
from __future__ import annotations

import errno
import os
import stat
import threading
import uuid
from typing import Any

from .http import HttpFile, check_chain, is_http
from .._sources import path_of
from .tags import Bytes, bytes_of
from ..compat import CloudSizeLimitError
from ..errors import UnsupportedError

MAX_CLOUD_BYTES = 256 << 20
_BLOCK_BYTES = 32 << 10
_CACHED_BLOCKS = 64


def environment_size(name: str, default: int) -> int:
    """A positive number of bytes of an environment variable, else the default."""
    try:
        value = int(os.environ.get(name, ""))
    except ValueError:
        return default
    return value if value > 0 else default


def is_strict() -> bool:
    """Whether what is replaced with a warning is an error instead."""
    return os.environ.get("XRSPATIAL_GEOTIFF_STRICT", "").lower() in ("1", "true", "yes")


def is_remote(source: Any) -> bool:
    path = path_of(source)
    return path is not None and "://" in path


def is_vrt(source: Any) -> bool:
    path = path_of(source)
    return path is not None and path.split("?", 1)[0].lower().endswith(".vrt")


class RemoteFile:
    """A file of fsspec or HTTP as a source of the library. It keeps blocks that were read one at a time: headers.

    Pickling carries the URL.
    """

    def __init__(self, url: str):
        self.name = url
        self._lock = threading.Lock()
        self._blocks: dict[int, bytes] = {}
        if is_http(url):
            self._http: HttpFile | None = HttpFile(url)
            self.size = self._http.size
            return
        check_chain(url)
        try:
            import fsspec
        except ImportError:
            raise UnsupportedError(f"{url}: URLs need the package fsspec; install terrazzo[cloud]") from None
        self._http = None
        self._filesystem, self._path = fsspec.core.url_to_fs(url)
        self.size = self._filesystem.size(self._path)

    def __reduce__(self):
        return RemoteFile, (self.name,)

    def read_ranges(self, ranges: Any) -> list[bytes]:
        if self._http is not None:
            return self._http.read_ranges(ranges)
        starts = [offset for offset, _ in ranges]
        ends = [offset + length for offset, length in ranges]
        return self._filesystem.cat_ranges([self._path] * len(starts), starts, ends, on_error="raise")

    def read_at(self, offset: int, length: int) -> bytes:
        """A small part of the file, by way of the blocks."""
        end = min(offset + length, self.size)
        if offset >= end:
            return b""
        if end - offset > 4 * _BLOCK_BYTES:
            return self.read_ranges([(offset, end - offset)])[0]
        numbers = range(offset // _BLOCK_BYTES, (end - 1) // _BLOCK_BYTES + 1)
        data = b"".join(self._block(number) for number in numbers)
        start = offset - numbers[0] * _BLOCK_BYTES
        return data[start : start + end - offset]

    def _block(self, number: int) -> bytes:
        with self._lock:
            if number not in self._blocks:
                first = number * _BLOCK_BYTES
                if len(self._blocks) >= _CACHED_BLOCKS:
                    self._blocks.clear()
                self._blocks[number] = self.read_ranges([(first, min(_BLOCK_BYTES, self.size - first))])[0]
            return self._blocks[number]


class LocalFile:
    """Parts of a local file, for the reading of tags."""

    def __init__(self, path: str):
        # O_NONBLOCK has no effect on files, and does not wait for the writer of a pipe.
        self.handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
        status = os.fstat(self.handle)
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISBLK(status.st_mode):
            os.close(self.handle)
            self.handle = -1
            if stat.S_ISDIR(status.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
            raise OSError(errno.ESPIPE, "not a file that can be read at positions", path)
        self.size = status.st_size

    def read_at(self, offset: int, length: int) -> bytes:
        return os.pread(self.handle, length, offset)

    def __del__(self) -> None:
        if getattr(self, "handle", -1) >= 0:
            os.close(self.handle)


class Source:
    """A source: `opened` is what terrazzo.open() takes, `file` its bytes, `path` its local path if it has one."""

    def __init__(self, source: Any, max_cloud_bytes: int | None, check_size: bool):
        self.path: str | None = None
        self.opened_sidecar: Any = None  # the file beside this one with overviews, after sidecar()
        self._limit = max_cloud_bytes if check_size else None
        if hasattr(source, "read"):
            self.opened: Any = _content(source)
            self.file = bytes_of(self.opened)
            return
        name = os.fsdecode(source)
        is_file_url = name.lower().startswith("file://")
        if is_remote(name) and not is_file_url:
            self.opened = RemoteFile(name)
            self.file = Bytes(self.opened.size, self.opened.read_at)
        else:
            self.path = self.opened = name[7:] if is_file_url else name
            local = LocalFile(self.path)
            self._status = os.fstat(local.handle)
            self.file = Bytes(local.size, local.read_at)
        if check_size and is_remote(name) and not is_http(name):
            _check_size(name, self.file.size, max_cloud_bytes)

    @property
    def sidecar_name(self) -> str:
        return f"{self.opened.name if isinstance(self.opened, RemoteFile) else self.path}.ovr"

    def sidecar(self, needed: bool) -> Bytes | None:
        """The file with overviews. A remote one costs requests, and is looked up only if it is `needed`."""
        name = self.sidecar_name
        if self.path is not None:
            if not os.path.exists(name) or os.path.isdir(name):
                return None
            local = LocalFile(name)
            self.opened_sidecar = name
            return Bytes(local.size, local.read_at)
        if not needed or not isinstance(self.opened, RemoteFile):
            return None
        try:
            remote = RemoteFile(name)
        except OSError:  # there is none, or the server does not say so
            return None
        if not is_http(name):
            _check_size(name, remote.size, self._limit)
        self.opened_sidecar = remote
        return Bytes(remote.size, remote.read_at)

    def version(self) -> tuple[Any, ...]:
        """Differs between contents of a file; of a remote one, which may change unnoticed, between calls."""
        if self.path is None:
            return (uuid.uuid4().hex,)
        return self._status.st_ino, self._status.st_size, self._status.st_mtime_ns


def _content(file: Any) -> bytes:
    file.seek(0)
    data = file.read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError("Not enough data for TIFF header: the file object is not binary")
    return bytes(data)


def _check_size(name: str, size: int | None, limit: int | None) -> None:
    if limit is None:
        return
    if size is None:
        raise CloudSizeLimitError(
            f"Cloud source {name!r} does not tell its size, so max_cloud_bytes={limit} cannot be checked; pass "
            "max_cloud_bytes=None to disable the check"
        )
    if size > limit:
        raise CloudSizeLimitError(
            f"Cloud source {name!r} is {size:,} bytes, which exceeds max_cloud_bytes={limit}. Raise "
            "max_cloud_bytes (or set XRSPATIAL_GEOTIFF_MAX_CLOUD_BYTES) if the file is legitimate, pass "
            "max_cloud_bytes=None to disable the check, or use chunks=... for a windowed dask read."
        )
