# SPDX-License-Identifier: Apache-2.0
"""dask: lazy reads by tasks, and writes in order with bounded memory."""
import os
import pickle
import threading
import time

import numpy as np
import pytest
import rasterio
from conftest import terrain
from test_xarray import Counted

import terrazzo

da = pytest.importorskip("dask.array")
xr = pytest.importorskip("xarray")
dask = pytest.importorskip("dask")

from terrazzo import _dask_write  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:The specified chunks separate")


@pytest.fixture(scope="module")
def whole(large):
    return rasterio.open(large).read()


def open_chunked(source, rows=512, columns=512, **keywords):
    return xr.open_dataset(source, engine="terrazzo", chunks={"y": rows, "x": columns}, **keywords).band_data


def test_chunks_are_whole_tiles_of_dasks_chunk_size(large):
    def chunks(size, path=large, **keywords):
        with dask.config.set({"array.chunk-size": size}):
            return xr.open_dataset(path, engine="terrazzo", chunks={}, **keywords).band_data.data.chunksize

    assert chunks("128MiB") == (1, 2048, 2048)
    assert chunks("2MiB") == (1, 1024, 1024)  # uint16
    assert chunks("1B") == (1, 256, 256)
    assert chunks("4MiB", mask_and_scale=False) == (1, 1536, 1280) or chunks("4MiB")[1] % 256 == 0
    for size in ("100kB", "700kB", "3MB", "5MB"):
        shape = chunks(size)
        assert shape[1] % 256 == shape[2] % 256 == 0
        assert np.prod(shape) * 2 <= max(dask.utils.parse_bytes(size), 256 * 256 * 2)


def test_reads_are_lazy_and_equal(large, whole):
    source = Counted(large)
    data = open_chunked(source)
    assert source.bytes_read < source.size / 20 and data.data.npartitions == 16
    np.testing.assert_array_equal(data, whole)
    again = pickle.loads(pickle.dumps(open_chunked(large)))
    np.testing.assert_array_equal(again, whole)


def test_tasks_hold_the_source_and_not_its_pixels(large):
    data = open_chunked(large, mask_and_scale=False)
    for layer in data.data.__dask_graph__().layers.values():
        for task in dict(layer).values():
            assert len(pickle.dumps(task)) < 4096
    assert len(pickle.dumps(data.data)) < 20_000


@pytest.mark.parametrize("chunk", [512, 300])
def test_no_tile_is_read_twice(large, whole, chunk):
    """Chunks of 300 pixels cut tiles of 256: the tile cache keeps the parts that the neighbours need."""
    terrazzo.configure(tile_cache_bytes=64 << 20)
    source = Counted(large)
    data = open_chunked(source, chunk, chunk)
    header = source.bytes_read
    with dask.config.set(scheduler="synchronous"):  # threads may need a tile at the same time, before one has kept it
        np.testing.assert_array_equal(data, whole)
    full_resolution = source.size / 1.3  # without the overviews
    assert source.bytes_read - header < 1.1 * full_resolution


def test_slices_of_chunks_read_their_tiles_alone(large, whole):
    source = Counted(large)
    data = open_chunked(source, 2048, 2048)
    header = source.bytes_read
    np.testing.assert_array_equal(data[:, 5:9, 7:20], whole[:, 5:9, 7:20])
    assert source.bytes_read - header < source.size / 40


# --- Writes


def report_of(path):
    return terrazzo.read(path), terrazzo.validate(path)


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
@pytest.mark.parametrize("cog", [False, True])
def test_writes_equal_those_of_numpy(tmp_path, large, whole, scheduler, cog):
    data = open_chunked(large, 512, 1024).data
    with dask.config.set(scheduler=scheduler, num_workers=2):
        terrazzo.write(tmp_path / "dask.tif", data + 1, like=large, cog=cog)
    terrazzo.write(tmp_path / "numpy.tif", whole + np.uint16(1), like=large, cog=cog)
    assert (tmp_path / "dask.tif").read_bytes() == (tmp_path / "numpy.tif").read_bytes()


def test_shapes_dtypes_and_masks(tmp_path):
    pixels = terrain(100, 70)
    terrazzo.write(tmp_path / "a.tif", da.from_array(pixels, chunks=(33, 20)))
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "a.tif", 1), pixels)
    bands = np.stack([pixels, pixels * 2, pixels + 1])
    terrazzo.write(tmp_path / "b.tif", da.from_array(bands, chunks=(2, 33, 20)), interleave="pixel")
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "b.tif"), bands)
    terrazzo.write(tmp_path / "c.tif", da.from_array(pixels, chunks=40) > 500)
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "c.tif", 1), pixels > 500)
    valid = pixels > 490
    terrazzo.write(tmp_path / "d.tif", da.from_array(pixels, chunks=40), mask=valid)
    np.testing.assert_array_equal(terrazzo.open(tmp_path / "d.tif").read_mask(1) > 0, valid)
    terrazzo.write(tmp_path / "e.tif", xr.DataArray(da.from_array(pixels, chunks=40)))
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "e.tif", 1), pixels)


def test_what_cannot_be_written_is_refused(tmp_path):
    pixels = da.zeros((8, 8), chunks=4)
    with pytest.raises(terrazzo.UsageError, match="axes"):
        terrazzo.write(tmp_path / "a.tif", da.zeros((1, 1, 8, 8)))
    with pytest.raises(terrazzo.UsageError, match="unknown"):
        terrazzo.write(tmp_path / "a.tif", pixels[pixels[:, 0] == 0])
    with pytest.raises(terrazzo.UsageError, match="masked"):
        terrazzo.write(tmp_path / "a.tif", da.ma.masked_equal(pixels, 0))
    with pytest.raises(terrazzo.UsageError, match="mask"):
        terrazzo.write(tmp_path / "a.tif", pixels, mask=pixels)
    assert not list(tmp_path.iterdir())


def counted(pixels):
    """The array, and a list that grows by the index of each chunk that is computed."""
    computed = []

    def touch(block, block_id):
        computed.append(block_id)  # thread-safe
        return block

    return pixels.map_blocks(touch, meta=np.empty((0,) * pixels.ndim, pixels.dtype)), computed


def test_rows_come_in_order_and_chunks_are_computed_once():
    pixels = np.arange(3 * 1000 * 64, dtype="int32").reshape(3, 1000, 64)
    for budget in (1, 3 * 64 * 4 * 300, 1 << 30):
        array, computed = counted(da.from_array(pixels, chunks=(2, 30, 48)))
        blocks = list(_dask_write.computed_rows(array, budget))
        np.testing.assert_array_equal(np.concatenate(blocks, axis=1), pixels)
        assert len(computed) == len(set(computed)) == 2 * 34 * 2
        assert max(block.nbytes for block in blocks) <= max(budget / 2, blocks[0].nbytes)
        assert len(blocks) == {1: 34, 3 * 64 * 4 * 300: 7, 1 << 30: 1}[budget]


def test_a_slow_writer_holds_the_computation_back():
    """Rows of chunks have 4 KiB; the budget is ten of them."""
    array, computed = counted(da.zeros((1, 6400, 64), chunks=(1, 64, 64), dtype="uint8"))
    rows = _dask_write.computed_rows(array, 10 * 64 * 64)
    for _ in range(4):
        next(rows)
    deadline = time.monotonic() + 60
    while len(computed) < 25 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    assert len(computed) == 25  # four groups of five are written, and one is computed
    rows.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("terrazzo-dask")]
    array, computed = counted(da.zeros((1, 640, 64), chunks=(1, 64, 64), dtype="uint8"))
    next(_dask_write.computed_rows(array, 64 * 64))
    assert len(computed) == 1  # the budget has no room for a second one


def test_halos_are_computed_once():
    array, computed = counted(da.from_array(np.arange(6400).reshape(1, 640, 10), chunks=(1, 64, 10)))
    array = array.map_overlap(lambda block: block + 1, depth=(0, 3, 0), boundary="none", dtype=int)
    blocks = list(_dask_write.computed_rows(array, 1))
    np.testing.assert_array_equal(np.concatenate(blocks, axis=1).ravel(), np.arange(6400) + 1)
    assert len(blocks) == 10 and len(computed) == 10


def test_what_all_rows_need_is_computed_once(tmp_path, large, whole):
    """Rows need mean and deviation of all pixels: computing them for each would read the file many times."""
    source = Counted(large)
    data = open_chunked(source, 256, 2048).data.astype("float64")
    terrazzo.configure(tile_cache_bytes=0)
    try:
        terrazzo.write(tmp_path / "a.tif", (data - data.mean()) / data.std(), compute_ahead_bytes=1)
    finally:
        terrazzo.configure(tile_cache_bytes=64 << 20)
    np.testing.assert_allclose(terrazzo.read(tmp_path / "a.tif"), (whole - whole.mean()) / whole.std())
    assert source.bytes_read < 3.5 * source.size


def test_workers_compress_tiles_and_the_writer_gets_no_pixels(tmp_path, large, whole, client, monkeypatch):
    data = open_chunked(large, 512, 1024).data
    monkeypatch.setattr(_dask_write, "computed_rows", lambda *_: pytest.fail("pixels came to the writer"))
    terrazzo.write(tmp_path / "a.tif", data, like=large, cog=True)
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "a.tif"), whole)


def test_chunks_are_cut_at_tiles():
    cut = _dask_write._cut_at_tiles
    assert cut((512, 512, 100), 256) == (512, 512, 100)
    assert cut((300, 300, 300, 124), 256) == (256, 256, 256, 256)
    assert cut((1000, 1000, 1000), 256) == (1024, 1024, 952)
    assert cut((10,) * 7, 64) == (64, 6)
    assert cut((70,), 64) == (70,)


def test_errors_of_tasks_reach_the_caller_and_leave_no_file(tmp_path):
    def fail(block, block_id):
        if block_id[0] == 5:
            raise RuntimeError("no such luck")
        return block

    pixels = da.zeros((640, 64), chunks=64).map_blocks(fail, meta=np.empty((0, 0)))
    for scheduler in ("threads", "sync"):
        with dask.config.set(scheduler=scheduler), pytest.raises(RuntimeError, match="no such luck"):
            terrazzo.write(tmp_path / "a.tif", pixels)
    assert not list(tmp_path.iterdir())


def test_errors_of_the_writer_stop_the_computation(tmp_path):
    class Full:
        name = "full"

        def write(self, data):
            raise OSError("no space left")

    pixels = da.random.default_rng(0).random((4096, 512), chunks=(64, 512))
    with pytest.raises(OSError, match="no space left"):
        terrazzo.write(Full(), pixels, compression="none", compute_ahead_bytes=1 << 20, streaming_buffer_bytes=1 << 18)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("terrazzo-dask")]


def test_the_accessor_streams(tmp_path, packed):
    ds = xr.open_dataset(packed, engine="terrazzo", chunks={"y": 128, "x": 128})
    ds.terrazzo.to_cog(tmp_path / "a.tif")
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "a.tif"), terrazzo.read(packed))
    assert terrazzo.validate(tmp_path / "a.tif").valid_cog


# --- distributed


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    patient = dask.config.set({"distributed.comm.timeouts.connect": "120s"})  # on busy machines
    with patient, distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as connected:
            yield connected


def test_processes_of_a_cluster_read_and_one_writes(tmp_path, large, whole, packed, client):
    data = open_chunked(large, 512, 1024).data
    read = data.map_blocks(lambda block: np.full((1, 1, 1), os.getpid()), chunks=(1, 1, 1), dtype=int).compute()
    assert os.getpid() not in read and len(np.unique(read)) == 2
    terrazzo.write(tmp_path / "cluster.tif", data + 1, like=large, cog=True, compute_ahead_bytes=4 << 20)
    small = open_chunked(packed, 128, 512, mask_and_scale=False).data.astype("float64")
    terrazzo.write(tmp_path / "scaled.tif", small - small.mean(), compute_ahead_bytes=1)
    values = rasterio.open(packed).read()
    np.testing.assert_allclose(terrazzo.read(tmp_path / "scaled.tif"), values - values.mean())
    terrazzo.write(tmp_path / "numpy.tif", whole + np.uint16(1), like=large, cog=True)
    assert (tmp_path / "cluster.tif").read_bytes() == (tmp_path / "numpy.tif").read_bytes()
    # Chunks that cut tiles, strips, bands in planes and in chunks of their own, a mask.
    ragged = data.rechunk((1, 300, 700))
    stack = da.concatenate([ragged, ragged + 1, ragged + 2])
    three = np.concatenate([whole, whole + 1, whole + 2])
    for bands, interleave in ((3, "pixel"), (3, "band"), (1, "pixel")):
        terrazzo.write(tmp_path / "bands.tif", stack.rechunk((bands, 300, 700)), cog=True, interleave=interleave)
        terrazzo.write(tmp_path / "numpy.tif", three, cog=True, interleave=interleave)
        assert (tmp_path / "bands.tif").read_bytes() == (tmp_path / "numpy.tif").read_bytes(), (bands, interleave)
    for options in ({}, {"cog": True, "statistics": True}, {"strip_rows": 100}, {"tile_size": 1024, "overviews": [2, 4]},
                    {"tile_size": 256, "interleave": "band"}):  # fmt: skip
        terrazzo.write(tmp_path / "ragged.tif", ragged, like=large, **options)
        terrazzo.write(tmp_path / "numpy.tif", whole, like=large, **options)
        assert (tmp_path / "ragged.tif").read_bytes() == (tmp_path / "numpy.tif").read_bytes(), options
    valid = np.ones(whole.shape[1:], np.uint8)
    terrazzo.write(tmp_path / "masked.tif", data, like=large, cog=True, mask=valid)
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "masked.tif"), whole)
    failing = data.map_blocks(lambda block: block[9], dtype=data.dtype, meta=data._meta)
    with pytest.raises(IndexError):
        terrazzo.write(tmp_path / "failed.tif", failing)
    assert not (tmp_path / "failed.tif").exists()
