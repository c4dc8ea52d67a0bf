# SPDX-License-Identifier: Apache-2.0
"""Windows that reach outside the raster: the part inside is read into a part of the result, the rest is filled."""
from __future__ import annotations

from typing import Any

from . import _core
from ._device import on_device, stream_address
from ._geometry import Window
from ._requests import dtype_name
from .errors import UsageError


def outside_values(core: _core.Dataset, request: _core.ReadRequest, dtype: Any) -> list[Any]:
    """The value of a pixel outside, for each band: missing pixels with `masked`, otherwise nodata or 0."""
    before, request.dtype = request.dtype, dtype_name(dtype)
    try:
        return _core.read_boundless(core, (-1, -1, 1, 1), request)[:, 0, 0].tolist()
    finally:
        request.dtype = before


def fill_around(out: Any, values: list[Any], window: Window, inside: Window | None) -> Any:
    """Fills what of `window` is not `inside`, and returns the rest. `out` is [..., rows, columns] of numpy, CuPy or torch.

    The parts are disjoint, so that a fill may be queued on a stream while the rest is read.
    """
    if inside is None:
        _fill(out, values)
        return out[..., :0, :0]
    top, left = inside.row - window.row, inside.column - window.column
    bottom, right = top + inside.height, left + inside.width
    middle = out[..., top:bottom, :]
    for strip in (out[..., :top, :], out[..., bottom:, :], middle[..., :left], middle[..., right:]):
        if 0 not in strip.shape:
            _fill(strip, values)
    return middle[..., left:right]


def _fill(out: Any, values: list[Any]) -> None:
    if len(out.shape) == 2:
        out[...] = values[0]
        return
    for band, value in enumerate(values):
        out[band] = value


def read_part(core: _core.Dataset, request: _core.ReadRequest, out: Any, stream: Any, report: Any = None) -> None:
    """Reads into an array of host or GPU memory."""
    if on_device(out):
        _core.read_into_device(core, request, out, stream_address(stream, out), report)
    else:
        _core.read_into(core, request, out, report)


def read_around(
    core: _core.Dataset,
    request: _core.ReadRequest,
    window: Window,
    inside: Window | None,
    out: Any,
    values: list[Any],
    stream: Any,
    report: Any = None,
) -> None:
    """Reads a window of which `inside` is in the raster. The request has no window before and after."""
    if tuple(out.shape[-2:]) != (window.height, window.width):
        raise UsageError(f"the window has {window.height} x {window.width} pixels, and the array {tuple(out.shape)}")
    rest = fill_around(out, values, window, inside)
    if inside is not None:
        request.window = inside
        try:
            read_part(core, request, rest, stream, report)
        finally:
            request.window = None
