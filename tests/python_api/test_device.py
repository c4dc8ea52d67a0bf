# SPDX-License-Identifier: Apache-2.0
"""Results in GPU memory, and arrays of other libraries. Needs a GPU, and CuPy or torch."""
import numpy as np
import pytest

import terrazzo

pytestmark = pytest.mark.skipif(not terrazzo.doctor()["device"]["usable"], reason="no usable GPU")


@pytest.fixture(scope="module")
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def test_device_reads_have_the_pixels_of_host_reads(packed):
    ds = terrazzo.open(packed)
    array = ds.read(device="cuda", window=(10, 20, 100, 90))
    assert isinstance(array, terrazzo.DeviceArray) and array.shape == (3, 90, 100) and array.dtype == "int16"
    np.testing.assert_array_equal(array.to_host(), ds.read(window=(10, 20, 100, 90)))


def test_cupy_shares_the_memory(packed, cupy):
    array = terrazzo.open(packed).read(device="cuda")
    expected = terrazzo.read(packed)
    for shared in (cupy.from_dlpack(array), cupy.asarray(array)):
        assert shared.data.ptr == array.__cuda_array_interface__["data"][0]
        np.testing.assert_array_equal(cupy.asnumpy(shared), expected)


def test_torch_shares_the_memory_and_takes_reads(packed, torch):
    ds, expected = terrazzo.open(packed), terrazzo.read(packed)
    tensor = torch.from_dlpack(ds.read(device="cuda"))
    np.testing.assert_array_equal(tensor.cpu().numpy(), expected)
    out = torch.empty(ds.shape, dtype=torch.float32, device="cuda")
    assert ds.read(out=out) is out
    np.testing.assert_array_equal(out.cpu().numpy(), expected)


def test_arrays_on_the_gpu_are_written(tmp_path, dem, cupy):
    pixels = cupy.asarray(terrazzo.read(dem))
    terrazzo.write(tmp_path / "a.tif", pixels, like=dem, cog=True)
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "a.tif"), cupy.asnumpy(pixels))


def test_tensors_that_are_dropped_with_queued_kernels_keep_their_pixels(large, torch):
    ds = terrazzo.open(large)
    expected = int(terrazzo.read(large).sum(dtype=np.int64))
    stream = torch.cuda.Stream()
    sums = []
    with torch.cuda.stream(stream):
        for _ in range(20):
            tensor = torch.from_dlpack(ds.read(device="cuda", dtype="int32", stream=stream))
            torch.cuda._sleep(10_000_000)
            sums.append(tensor.sum(dtype=torch.int64))
            del tensor
    stream.synchronize()
    assert [int(total) for total in sums] == [expected] * 20


def test_open_geotiff_gives_cupy_arrays(packed, cupy):
    pytest.importorskip("xarray")
    da = terrazzo.open_geotiff(packed, gpu=True, masked=True)
    assert isinstance(da.data, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(da.data), terrazzo.open_geotiff(packed, masked=True))
