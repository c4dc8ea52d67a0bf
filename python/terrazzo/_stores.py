# SPDX-License-Identifier: Apache-2.0
"""Files in file systems of fsspec and in stores of obstore, as sources.

A file is opened by one request where the store tells the size of the object with its first bytes, and without a request
where a pickled dataset brings them. Retries, credentials and time limits are the store's: an exception of it becomes an
IoError, with the exception as its cause.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _core
from ._sources import REMOTE, Ranges, Start, ranges_source
from .errors import Error, IoError, MissingFileError, UnsupportedError

# What the library reads first of a remote source: header and directories of nearly all COGs.
_HEAD_BYTES = REMOTE["read_ahead_bytes"]
# A gap that obstore may read over: the library has merged ranges already.
_NO_GAP = 0


def is_obstore(filesystem: Any) -> bool:
    """True for a store with the methods of obstore, whose get_ranges() takes starts and lengths."""
    return hasattr(filesystem, "get_ranges") and not hasattr(filesystem, "cat_ranges")


def _protocols(filesystem: Any) -> tuple[str, ...]:
    protocol = getattr(filesystem, "protocol", ())
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


def is_http(filesystem: Any) -> bool:
    return "http" in _protocols(filesystem)


def is_local(filesystem: Any) -> bool:
    """True for fsspec's file system of local paths."""
    return "file" in _protocols(filesystem)


def local_path(path: str) -> str:
    from fsspec.core import strip_protocol

    return strip_protocol(path)


def make_source(filesystem: Any, path: str, start: Start | None = None) -> tuple[_core.ByteSource, Start]:
    """The source, and what opening has asked of the store."""
    if start is None:
        with store_errors(path):
            start = _fetch_start(filesystem, path)
    ranges = _get_ranges if is_obstore(filesystem) else _cat_ranges
    return ranges_source(_after_head(ranges(filesystem, path), start.head), path, start.size, REMOTE), start


def _fetch_start(filesystem: Any, path: str) -> Start:
    if is_obstore(filesystem):
        answer = filesystem.get(path, options={"range": (0, _HEAD_BYTES)})
        return Start(answer.meta["size"], bytes(answer.bytes()))
    if is_http(filesystem) and hasattr(filesystem, "set_session"):
        return _fetch_http_start(filesystem, path)
    if "s3" in _protocols(filesystem) and hasattr(filesystem, "_call_s3"):
        return _fetch_s3_start(filesystem, path)
    if not hasattr(filesystem, "cat_ranges"):
        raise UnsupportedError(f"{type(filesystem).__name__} is not a file system: it has neither cat_ranges() nor get_ranges()")
    size = filesystem.size(path)
    if size is None:
        raise UnsupportedError(f"{path}: the file system does not know the size of the file")
    head = _cat_ranges(filesystem, path)([(0, min(size, _HEAD_BYTES))]) if size > 0 else [b""]
    return Start(size, bytes(head[0]))


@contextlib.contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Around a request: an exception of the store becomes an IoError, with the exception as its cause."""
    try:
        yield
    except Error:
        raise
    except FileNotFoundError as error:
        raise _named(MissingFileError(f"{path}: the file does not exist"), path) from error
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise _named(IoError(f"{path}: the source failed: {type(error).__name__}: {reason}"), path) from error


def _named(error: IoError, path: str) -> IoError:
    error.file = path
    return error


def _cat_ranges(filesystem: Any, path: str) -> Callable[[Ranges], Sequence[Any]]:
    """fsspec: cat_ranges() fetches all ranges at once."""

    def read_ranges(ranges: Ranges) -> list[bytes]:
        starts = [offset for offset, _ in ranges]
        ends = [offset + length for offset, length in ranges]
        return filesystem.cat_ranges([path] * len(starts), starts, ends, on_error="raise")

    return read_ranges


def _get_ranges(store: Any, path: str) -> Callable[[Ranges], Sequence[Any]]:
    """obstore: get_ranges() does the same."""

    def read_ranges(ranges: Ranges) -> Sequence[Any]:
        starts, lengths = [offset for offset, _ in ranges], [length for _, length in ranges]
        return store.get_ranges(path, starts=starts, lengths=lengths, coalesce=_NO_GAP)

    return read_ranges


def _after_head(read: Callable[[Ranges], Sequence[Any]], head: Any) -> Callable[[Ranges], Sequence[Any]]:
    """Answers ranges inside the first bytes, which came with the size, without a request."""
    first = memoryview(head)

    def read_ranges(ranges: Ranges) -> Sequence[Any]:
        wanted = [part for part in ranges if sum(part) > len(first)]
        fetched = iter(read(wanted) if wanted else ())
        return [next(fetched) if offset + length > len(first) else first[offset : offset + length] for offset, length in ranges]

    return read_ranges


def _fetch_http_start(filesystem: Any, url: str) -> Start:
    """HTTPFileSystem.size() costs a HEAD request; the answer to the first range has the size as well."""
    from fsspec.asyn import sync

    async def first_range() -> tuple[int, bytes]:
        session = await filesystem.set_session()
        keywords = dict(filesystem.kwargs)
        headers = {"Accept-Encoding": "identity", **keywords.pop("headers", {}), "Range": f"bytes=0-{_HEAD_BYTES - 1}"}
        async with session.get(filesystem.encode_url(url), headers=headers, **keywords) as answer:
            if answer.status == 404:
                raise FileNotFoundError(url)
            size = answer.headers.get("Content-Range", "").rpartition("/")[2]
            if answer.status == 416 and size == "0":
                return 0, b""
            answer.raise_for_status()
            if answer.status != 206:
                raise _named(IoError(
                    f"{url}: the server does not serve ranges of bytes; terrazzo.open(filesystem.cat_file(url)) reads the file whole"
                ), url)  # fmt: skip
            head = await answer.read()
        return (int(size) if size.isdigit() else -1), head

    size, head = sync(filesystem.loop, first_range)
    if size < 0:  # "bytes 0-32767/*"
        size = filesystem.size(url)
    if size is None:
        raise UnsupportedError(f"{url}: the server does not tell the size of the file")
    return Start(size, head)


def _fetch_s3_start(filesystem: Any, path: str) -> Start:
    """s3fs, whose size() costs a HEAD request, like HTTP."""
    from fsspec.asyn import sync

    async def first_range() -> tuple[str, bytes]:
        bucket, key, version = filesystem.split_path(path)
        keywords = {**filesystem.req_kw, **({"VersionId": version} if version else {})}
        answer = await filesystem._call_s3(
            "get_object", Bucket=bucket, Key=key, Range=f"bytes=0-{_HEAD_BYTES - 1}", **keywords
        )
        async with answer["Body"] as body:
            return answer["ContentRange"].rpartition("/")[2], await body.read()

    size, head = sync(filesystem.loop, first_range)
    return Start(int(size), head)
