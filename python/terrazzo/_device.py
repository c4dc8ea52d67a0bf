# SPDX-License-Identifier: Apache-2.0
"""Where pixels go: host or GPU memory, CUDA streams, and arrays that other libraries allocate.

Nothing here imports CuPy or torch, except to allocate an array that the caller asks them for.
"""
from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from .errors import DeviceError, UnsupportedError, UsageError

# Device types of DLPack.
_HOST = (1, 3)  # CPU, CUDA's pinned host memory
_GPU = (2, 13)  # CUDA, CUDA's managed memory

# cudaStreamLegacy. CuPy and torch call their default stream 0, which is "no stream" in the C++ API.
_LEGACY_DEFAULT = 1


def on_device(array: Any) -> bool:
    """Whether an array is in GPU memory. Lists and other objects that numpy converts are in host memory."""
    if isinstance(array, np.ndarray):
        return False
    if not hasattr(array, "__dlpack_device__"):
        return hasattr(array, "__cuda_array_interface__")
    kind = int(array.__dlpack_device__()[0])
    if kind not in _HOST and kind not in _GPU:
        raise UnsupportedError(f"the array is in memory of DLPack device type {kind}; host memory and CUDA work")
    return kind in _GPU


def stream_address(stream: Any, array: Any = None) -> int:
    """The address of the stream whose queued work a call waits for; 0 waits for nothing.

    `stream` is an int, or an object of CuPy, torch or cuda.core; 0 is the default stream. None is the stream on which
    the library that made `array` works now.
    """
    if stream is None:
        return 0 if array is None or not on_device(array) else _current_stream(array)
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return int(getattr(stream, name)) or _LEGACY_DEFAULT
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1]) or _LEGACY_DEFAULT
    return int(stream) or _LEGACY_DEFAULT


def _current_stream(array: Any) -> int:
    maker = type(array).__module__.partition(".")[0]
    library = sys.modules.get(maker)
    if library is not None and maker == "torch":
        return int(library.cuda.current_stream(array.device).cuda_stream) or _LEGACY_DEFAULT
    if library is not None and maker == "cupy":
        return int(library.cuda.get_current_stream().ptr) or _LEGACY_DEFAULT
    stream = getattr(array, "__cuda_array_interface__", {}).get("stream")
    return _LEGACY_DEFAULT if stream is None else int(stream)


# --- The place of a result


def goes_to_device(device: str | int | None, out: Any = None, like: str | None = None) -> bool:
    """Whether a result goes to GPU memory. Without `device`, it goes where `out` is, or where `like` has its arrays."""
    if out is not None:
        _check_out(out)
        if like is not None:
            raise UsageError("out and like exclude each other")
    if device is None:
        to_device = like == "cupy" if out is None else on_device(out)
    else:
        to_device = device != "cpu"
        if to_device:
            check_device(device)
        if out is not None and on_device(out) != to_device:
            raise UsageError(f"device is {device!r}, and `out` is in {'host' if to_device else 'GPU'} memory")
        if like == "cupy" and not to_device:
            raise UsageError("device is 'cpu', and arrays of CuPy are in GPU memory")
    if to_device:
        enter_cuda()
    return to_device


def _check_out(out: Any) -> None:
    if isinstance(out, np.ndarray):
        if not out.flags.writeable:
            raise UsageError("`out` is read-only")
        if not out.dtype.isnative:
            raise UsageError(f"`out` has the type {out.dtype.str!r}, in the byte order of another machine")
    elif not hasattr(out, "__dlpack__") and not hasattr(out, "__cuda_array_interface__"):
        raise UsageError(f"`out` is {type(out).__name__}; it is an array of numpy, torch or CuPy")


def queue_of(stream: Any, pixels: Any, mask: Any = None) -> int:
    """The address of the stream whose work a write of these arrays waits for."""
    to_device = on_device(pixels)
    if mask is not None and on_device(mask) != to_device:
        raise UsageError("the pixels and their mask are in different memory: copy one of them to the GPU, or to the host")
    if not to_device:
        return 0
    enter_cuda()
    return stream_address(stream, pixels)


def check_device(device: str | int) -> None:
    """'cuda', 'cuda:N' or N, which must be the thread's current device: the library reads into that one."""
    text = f"cuda:{device}" if isinstance(device, int) else device
    kind, _, number = text.partition(":")
    if kind != "cuda" or (number and not number.isdigit()):
        raise UsageError(f"device is {device!r}; it is 'cpu', 'cuda' or 'cuda:N'")
    if number:
        state = _core.device_state()
        if state.usable and state.device != int(number):
            raise UsageError(
                f"the current device is cuda:{state.device}; make cuda:{number} current first, "
                "as by `with cupy.cuda.Device(N)` or `with torch.cuda.device(N)`"
            )


# --- Fork: CUDA that a process has used does not work in its children.

_used = False  # by this process
_lost_by_fork = False


def enter_cuda() -> None:
    """Call before work on the GPU."""
    global _used
    if _lost_by_fork:
        raise DeviceError(
            "this process was forked from one that used CUDA, and CUDA does not work here; "
            "start workers by 'spawn' or 'forkserver', or use the GPU in the parent only"
        )
    _used = _used or _core.device_state().usable


def _after_fork() -> None:
    global _lost_by_fork
    _lost_by_fork = _lost_by_fork or _used


os.register_at_fork(after_in_child=_after_fork)


# --- Arrays of other libraries


def maker_name(like: Any) -> str | None:
    """The library of `like`, its name or its module: 'torch' or 'cupy'; None for numpy."""
    name = getattr(like, "__name__", like)
    if name in (None, "numpy"):
        return None
    if name not in ("torch", "cupy"):
        raise UsageError(f"like is {like!r}; it is 'numpy', 'torch' or 'cupy'")
    return str(name)


def make_array(like: str | None, shape: Sequence[int], dtype: str, to_device: bool) -> Any:
    """An uninitialised array, from the library's own allocator; on the GPU, on its current stream."""
    if like is None:
        return np.empty(shape, dtype)
    try:
        library = importlib.import_module(like)
    except ImportError:
        raise UnsupportedError(f"like={like!r} needs the package {like}") from None
    if like == "cupy":
        return library.empty(tuple(shape), dtype)
    kind = getattr(library, dtype, None)
    if kind is None:
        raise UnsupportedError(f"torch has no type {dtype}; pass `dtype`")
    return library.empty(tuple(shape), dtype=kind, device="cuda" if to_device else "cpu")
