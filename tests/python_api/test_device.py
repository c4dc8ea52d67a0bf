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


def test_single_bands_have_the_axes_of_host_reads_and_reports_are_filled(packed, cupy):
    ds, report = terrazzo.open(packed), terrazzo.ReadReport()
    array = ds.read(2, device="cuda", report=report)
    expected = ds.read(2)
    assert array.shape == expected.shape == (300, 400) and report.tiles > 0
    np.testing.assert_array_equal(array.to_host(), expected)
    for shared in (cupy.from_dlpack(array), cupy.asarray(array)):
        np.testing.assert_array_equal(cupy.asnumpy(shared), expected)
    assert ds.read([2], device="cuda").shape == (1, 300, 400)


@pytest.mark.parametrize("like", ["torch", "cupy"])
def test_results_are_made_by_the_allocator_of_the_consumer(packed, like):
    library = pytest.importorskip(like)
    ds = terrazzo.open(packed)
    kind = library.Tensor if like == "torch" else library.ndarray

    def host(array):
        return array.cpu().numpy() if like == "torch" else library.asnumpy(array)

    for keywords in ({}, {"window": (-5, -5, 30, 20), "boundless": True}, {"size": (40, 30)}, {"masked": True}):
        array = ds.read(1, like=like, device="cuda", **keywords)
        assert isinstance(array, kind)
        np.testing.assert_array_equal(host(array), ds.read(1, **keywords))
    items = [(ds, (0, 0, 64, 64)), (ds, (-9, 250, 64, 64)), (ds, (90, 30, 64, 64)), (packed.parent / "none.tif", (0, 0, 64, 64))]
    keywords = {"on_error": "fill", "fill": -1, "scale": 0.5, "bands": [3, 1]}
    pixels = terrazzo.read_windows(items, like=like, device="cuda", **keywords)
    assert isinstance(pixels, kind)
    np.testing.assert_array_equal(host(pixels), terrazzo.read_windows(items, **keywords))


def test_windows_go_to_the_gpu_and_into_arrays_there(packed, cupy):
    items = [(packed, (10, 20, 64, 64)), (packed, (100, 30, 64, 64))]
    expected = terrazzo.read_windows(items)
    np.testing.assert_array_equal(terrazzo.read_windows(items, device="cuda").item(1).to_host(), expected[1])
    out = cupy.zeros(expected.shape, expected.dtype)
    assert terrazzo.read_windows(items, out=out) is out
    np.testing.assert_array_equal(cupy.asnumpy(out), expected)
    with pytest.raises(terrazzo.UnsupportedError, match="like"):
        terrazzo.read_windows([(packed, (-1, 0, 64, 64))], device="cuda")


def test_reads_wait_for_kernels_queued_on_the_default_stream(packed, torch):
    """A kernel that fills `out` late must not overwrite the pixels."""
    ds, expected = terrazzo.open(packed), terrazzo.read(packed)
    out = torch.empty(ds.shape, dtype=torch.int16, device="cuda")
    for stream in (None, 0):
        torch.cuda._sleep(200_000_000)
        out.fill_(77)
        ds.read(out=out, stream=stream)
        np.testing.assert_array_equal(out.cpu().numpy(), expected)


def test_prefetched_batches_are_on_the_gpu(packed, torch):
    from terrazzo.torch import Prefetcher, WindowDataset, collate

    items = [(packed, (column, 20, 64, 64)) for column in range(40)]
    chips = WindowDataset(items, fill=0)
    on_gpu = WindowDataset(items, fill=0, device="cuda")
    for source, device in ((chips, "cuda"), (on_gpu, "cuda")):
        batches = Prefetcher((collate(source.__getitems__(range(i, i + 8))) for i in range(0, 40, 8)), device)
        images = torch.cat([batch["image"] for batch in batches])
        assert images.is_cuda
        np.testing.assert_array_equal(images.cpu().numpy(), terrazzo.read_windows(items))


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
