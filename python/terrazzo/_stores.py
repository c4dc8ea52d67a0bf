# SPDX-License-Identifier: Apache-2.0
"""Files in file systems of fsspec and in stores of obstore, as sources.

A file is opened by one request where the store tells the size of the object with its first bytes. Retries, credentials
and time limits are the store's: an exception of it becomes an IoError, with the exception as its cause.
"""
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import _core
from ._sources import REMOTE, Ranges, ranges_source
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


def make_source(filesystem: Any, path: str) -> _core.ByteSource:
    if is_obstore(filesystem):
        return _obstore_source(filesystem, path)
    if is_http(filesystem) and hasattr(filesystem, "set_session"):
        return _http_source(filesystem, path)
    if "s3" in _protocols(filesystem) and hasattr(filesystem, "_call_s3"):
        return _s3_source(filesystem, path)
    if not hasattr(filesystem, "cat_ranges"):
        raise UnsupportedError(f"{type(filesystem).__name__} is not a file system: it has neither cat_ranges() nor get_ranges()")
    with store_errors(path):
        size = filesystem.size(path)
    if size is None:
        raise UnsupportedError(f"{path}: the file system does not know the size of the file")
    return ranges_source(_cat_ranges(filesystem, path), path, size, REMOTE)


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


def _after_head(read: Callable[[Ranges], Sequence[Any]], head: Any) -> Callable[[Ranges], Sequence[Any]]:
    """Answers ranges inside the first bytes, which came with the size, without a request."""
    first = memoryview(head)

    def read_ranges(ranges: Ranges) -> Sequence[Any]:
        wanted = [part for part in ranges if sum(part) > len(first)]
        fetched = iter(read(wanted) if wanted else ())
        return [next(fetched) if offset + length > len(first) else first[offset : offset + length] for offset, length in ranges]

    return read_ranges


def _obstore_source(store: Any, path: str) -> _core.ByteSource:
    with store_errors(path):
        answer = store.get(path, options={"range": (0, _HEAD_BYTES)})
        size, head = answer.meta["size"], answer.bytes()

    def read_ranges(ranges: Ranges) -> Sequence[Any]:
        starts, lengths = [offset for offset, _ in ranges], [length for _, length in ranges]
        return store.get_ranges(path, starts=starts, lengths=lengths, coalesce=_NO_GAP)

    return ranges_source(_after_head(read_ranges, head), path, size, REMOTE)


def _http_source(filesystem: Any, url: str) -> _core.ByteSource:
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

    with store_errors(url):
        size, head = sync(filesystem.loop, first_range)
        if size < 0:  # "bytes 0-32767/*"
            size = filesystem.size(url)
    if size is None:
        raise UnsupportedError(f"{url}: the server does not tell the size of the file")
    return ranges_source(_after_head(_cat_ranges(filesystem, url), head), url, size, REMOTE)


def _s3_source(filesystem: Any, path: str) -> _core.ByteSource:
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

    with store_errors(path):
        size, head = sync(filesystem.loop, first_range)
    return ranges_source(_after_head(_cat_ranges(filesystem, path), head), path, int(size), REMOTE)
