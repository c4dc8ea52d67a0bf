# SPDX-License-Identifier: Apache-2.0
"""Tags that write() stores unchanged: `extra_tags`."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from .errors import UsageError

# The types of TIFF's fields: their number, and the numpy type of a value.
_TYPES = {
    "byte": (1, "u1"), "ascii": (2, "u1"), "short": (3, "<u2"), "long": (4, "<u4"), "sbyte": (6, "i1"), "undefined": (7, "u1"),
    "sshort": (8, "<i2"), "slong": (9, "<i4"), "float": (11, "<f4"), "double": (12, "<f8"), "long8": (16, "<u8"),
    "slong8": (17, "<i8"),
}  # fmt: skip


def add_extra_tags(options: _core.WriteOptions, tags: Iterable[tuple[int, str, Any]]) -> None:
    """`tags` are (number, type, value): a text for 'ascii', bytes, a number or a list of numbers."""
    for number, kind, value in tags:
        if kind not in _TYPES:
            raise UsageError(f"tag {number}: {kind!r} is not a type of TIFF; the types are {', '.join(_TYPES)}")
        code, dtype = _TYPES[kind]
        try:
            values = _values(kind, dtype, value)
        except (OverflowError, TypeError, ValueError) as error:
            raise UsageError(f"tag {number}: {value!r} is no value of the type {kind!r}: {error}") from error
        options.add_extra_tag(number, code, values.size, values.tobytes())


def _values(kind: str, dtype: str, value: Any) -> np.ndarray[Any, Any]:
    if kind == "ascii":
        return np.frombuffer(value.encode() + b"\0" if isinstance(value, str) else bytes(value), "u1")
    if isinstance(value, str):
        raise TypeError("a text has the type 'ascii'")
    if isinstance(value, bytes):
        if kind not in ("byte", "undefined"):
            raise TypeError("bytes have the type 'byte' or 'undefined'")
        return np.frombuffer(value, "u1")
    return np.array(value, dtype).ravel()
