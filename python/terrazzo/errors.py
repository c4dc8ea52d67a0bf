# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each kind of error, each also the built-in exception that fits it.

>>> import terrazzo
>>> try:
...     terrazzo.open(b"not a TIFF")
... except terrazzo.MalformedError as error:
...     print(error.kind, isinstance(error, ValueError))
malformed True
"""
from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


class Error(Exception):
    """Base class of the exceptions of Terrazzo.

    `kind` is stable; the text is for people and may change. The place of the error: `file`, `ifd` (index of the
    directory), `tag` (number of the TIFF tag), `tile` (column, row, plane) and `offset` (byte); None if unknown.
    """

    kind: str = "unknown"
    file: str | None = None
    ifd: int | None = None
    tag: int | None = None
    tile: tuple[int, int, int] | None = None
    offset: int | None = None

    def __reduce__(self):
        return type(self), self.args, dict(self.__dict__)


class IoError(Error, OSError):
    """The source or the sink failed; a retry or another path may help."""

    kind = "io"


class MissingFileError(IoError, FileNotFoundError):
    """The file does not exist."""


@contextlib.contextmanager
def missing_file(path: str) -> Iterator[None]:
    """Around the opening of a local file: an IoError of a file that does not exist becomes a MissingFileError."""
    try:
        yield
    except IoError as error:
        if os.path.exists(path):
            raise
        missing = MissingFileError(*error.args)
        missing.file = path
        raise missing from None


class MalformedError(Error, ValueError):
    """The file violates its format."""

    kind = "malformed"


class UnsupportedError(Error, NotImplementedError):
    """This build cannot serve the valid file or request; the text names the missing part."""

    kind = "unsupported"


class UsageError(Error, ValueError):
    """The request is invalid: a window outside the raster, a bad option."""

    kind = "usage"


class LimitError(Error, MemoryError):
    """A memory budget or a safety limit would be exceeded; the text names the limit."""

    kind = "limit"


class DeviceError(Error, RuntimeError):
    """The GPU or its driver failed."""

    kind = "device"


class CancelledError(Error, RuntimeError):
    """A progress function cancelled the operation."""

    kind = "cancelled"


_CLASSES: dict[str, type[Error]] = {
    cls.kind: cls
    for cls in (IoError, MalformedError, UnsupportedError, UsageError, LimitError, DeviceError, CancelledError)
}


def make_error(
    kind: str,
    text: str,
    file: str,
    ifd: int | None,
    tag: int | None,
    tile: tuple[int, int, int] | None,
    offset: int | None,
) -> Error:
    """The exception for an error of the C++ library, which calls this function."""
    error = _CLASSES[kind](text)
    error.file = file or None
    error.ifd, error.tag, error.tile, error.offset = ifd, tag, tile, offset
    return error
