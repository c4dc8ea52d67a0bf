# SPDX-License-Identifier: Apache-2.0
"""Arrays in the wrong memory, streams, and fork: what needs no GPU, because it is decided before the GPU is used."""
import ctypes
import os
import sys
import types

import numpy as np
import pytest

import terrazzo
from terrazzo import _core, _device, errors

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
CUDA, ROCM = 2, 10


class Elsewhere:
    """An array of numpy that DLPack places in the memory of another device."""

    def __init__(self, shape, dtype="float32", kind=CUDA):
        self.array, self.kind = np.zeros(shape, dtype), kind
        self.shape, self.dtype = self.array.shape, self.array.dtype

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        tensor = get_pointer(capsule, b"dltensor")
        ctypes.c_int32.from_address(tensor + ctypes.sizeof(ctypes.c_void_p)).value = self.kind  # after `data`
        return capsule


class OnlyInterface:
    """An older library: __cuda_array_interface__ alone."""

    shape, dtype = (300, 400), np.dtype("float32")

    def __init__(self, stream=None):
        self.__cuda_array_interface__ = {"shape": (300, 400), "typestr": "<f4", "data": (0, False), "version": 3, "stream": stream}


def test_arrays_say_where_they_are():
    assert not _device.on_device(np.zeros(3)) and not _device.on_device([1, 2]) and not _device.on_device(b"bytes")
    assert not _device.on_device(Elsewhere(3, kind=1)) and not _device.on_device(Elsewhere(3, kind=3))
    assert _device.on_device(Elsewhere(3)) and _device.on_device(Elsewhere(3, kind=13)) and _device.on_device(OnlyInterface())
    with pytest.raises(terrazzo.UnsupportedError, match="device type 10"):
        _device.on_device(Elsewhere(3, kind=ROCM))


def test_the_module_refuses_arrays_of_the_other_memory(dem):
    """The last line of defence: a host read never gets an address of GPU memory, and the reverse."""
    core, request = terrazzo.open(dem)._raster, _core.ReadRequest()
    window = [(core, (0, 0, 8, 8))]
    with pytest.raises(terrazzo.UsageError, match="in GPU memory"):
        _core.read_into(core, request, Elsewhere((1, 300, 400)))
    with pytest.raises(terrazzo.UsageError, match="in GPU memory"):
        _core.read_windows_into(window, request, Elsewhere((1, 1, 8, 8)))
    with pytest.raises(terrazzo.UsageError, match="in host memory"):
        _core.read_into_device(core, request, np.zeros((1, 300, 400), np.float32))
    with pytest.raises(terrazzo.UsageError, match="in host memory"):
        _core.read_windows_into_device(window, request, np.zeros((1, 1, 8, 8), np.float32))


def test_reads_into_the_other_memory_than_the_device_says_are_refused(dem):
    ds, items = terrazzo.open(dem), [(dem, (0, 0, 8, 8))]
    with pytest.raises(terrazzo.UsageError, match="'cuda', and `out` is in host memory"):
        ds.read(device="cuda", out=np.zeros((1, 300, 400), np.float32))
    with pytest.raises(terrazzo.UsageError, match="'cpu', and `out` is in GPU memory"):
        ds.read(device="cpu", out=Elsewhere((1, 300, 400)))
    with pytest.raises(terrazzo.UsageError, match="'cuda', and `out` is in host memory"):
        terrazzo.read_windows(items, device="cuda", out=np.zeros((1, 1, 8, 8), np.float32))
    with pytest.raises(terrazzo.UsageError, match="'cpu', and `out` is in GPU memory"):
        terrazzo.read_windows(items, device="cpu", out=Elsewhere((1, 1, 8, 8)))
    with pytest.raises(terrazzo.UsageError, match="exclude"):
        ds.read(out=np.zeros((1, 300, 400), np.float32), like="torch")


@pytest.mark.skipif(terrazzo.doctor()["device"]["usable"], reason="this machine has a GPU, and the addresses are false")
def test_reads_into_gpu_arrays_go_to_the_device_engine(dem):
    with pytest.raises((terrazzo.DeviceError, terrazzo.UnsupportedError)):
        terrazzo.read_windows([(dem, (0, 0, 8, 8))], out=Elsewhere((1, 1, 8, 8)))
    with pytest.raises((terrazzo.DeviceError, terrazzo.UnsupportedError)):
        terrazzo.read(dem, out=Elsewhere((1, 300, 400)))


def test_pixels_and_mask_in_different_memory_are_refused(tmp_path):
    pixels, mask = np.zeros((300, 400), np.float32), np.ones((300, 400), np.uint8)
    with pytest.raises(terrazzo.UsageError, match="different memory"):
        terrazzo.write(tmp_path / "a.tif", Elsewhere((300, 400)), mask=mask)
    with pytest.raises(terrazzo.UsageError, match="different memory"):
        terrazzo.write(tmp_path / "a.tif", pixels, mask=Elsewhere((300, 400), np.uint8))
    with terrazzo.Writer(tmp_path / "b.tif", 400, 300, dtype="float32", mask=True) as out:
        with pytest.raises(terrazzo.UsageError, match="different memory"):
            out.write_rows(Elsewhere((300, 400)), mask)
        out.write_rows(pixels, mask)
    assert not (tmp_path / "a.tif").exists()


def test_stream_0_is_the_default_stream_and_not_no_stream():
    legacy = 1
    assert _device.stream_address(0) == legacy and _device.stream_address(7) == 7
    assert _device.stream_address(types.SimpleNamespace(ptr=0)) == legacy  # CuPy
    assert _device.stream_address(types.SimpleNamespace(cuda_stream=0)) == legacy  # torch
    assert _device.stream_address(types.SimpleNamespace(cuda_stream=99)) == 99
    assert _device.stream_address(types.SimpleNamespace(__cuda_stream__=lambda: (0, 12))) == 12  # cuda.core
    assert _device.stream_address(None) == 0
    assert _device.stream_address(None, np.zeros(3)) == 0
    assert _device.stream_address(None, Elsewhere(3)) == legacy
    assert _device.stream_address(None, OnlyInterface(stream=2)) == 2


@pytest.mark.parametrize("name, address", [("torch", 0), ("torch", 77), ("cupy", 0), ("cupy", 55)])
def test_by_default_reads_wait_for_the_current_stream_of_the_array_s_library(name, address, monkeypatch):
    stream = types.SimpleNamespace(ptr=address, cuda_stream=address)
    cuda = types.SimpleNamespace(current_stream=lambda device: stream, get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, name, types.SimpleNamespace(cuda=cuda))
    kind = type("Tensor", (Elsewhere,), {"__module__": f"{name}.something", "device": "cuda:0"})
    assert _device.stream_address(None, kind(3)) == (address or 1)
    assert _device.stream_address(5, kind(3)) == 5


def test_reads_and_writes_pass_the_stream_of_their_array(dem, tmp_path, monkeypatch):
    passed = {}
    for name in ("read_into_device", "read_windows_into_device", "write"):
        monkeypatch.setattr(_core, name, lambda *arguments, name=name: passed.update({name: arguments[3]}))
    terrazzo.read(dem, out=Elsewhere((1, 300, 400)))
    terrazzo.read_windows([(dem, (0, 0, 8, 8))], out=Elsewhere((1, 1, 8, 8)), stream=9)
    terrazzo.write(tmp_path / "a.tif", Elsewhere((300, 400)))
    assert passed == {"read_into_device": 1, "read_windows_into_device": 9, "write": 1}


def test_cuda_after_fork_is_an_error_that_says_so(dem, monkeypatch):
    monkeypatch.setattr(_device, "_used", True)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            terrazzo.read(dem, device="cuda")
            text = "no error"
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    text = os.read(reader, 1000).decode()
    assert text.startswith("DeviceError") and "forked" in text
    assert not _device._lost_by_fork  # the parent goes on


@pytest.mark.parametrize("usable", [False, True])
def test_fork_is_harmless_before_cuda_is_used_and_without_a_gpu(usable, monkeypatch):
    monkeypatch.setattr(_device, "_used", False)
    monkeypatch.setattr(_device, "_lost_by_fork", False)
    monkeypatch.setattr(_core, "device_state", lambda: types.SimpleNamespace(usable=usable))
    _device._after_fork()
    _device.enter_cuda()
    _device._after_fork()
    if usable:
        with pytest.raises(errors.DeviceError, match="forked"):
            _device.enter_cuda()
    else:
        _device.enter_cuda()
