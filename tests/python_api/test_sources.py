# SPDX-License-Identifier: Apache-2.0
import io
import mmap
import pickle

import numpy as np
import pytest
import rasterio

import terrazzo


class Ranges:
    """A source that counts its calls."""

    name = "counted"

    def __init__(self, data):
        self.data, self.size, self.calls = data, len(data), []

    def read_ranges(self, ranges):
        self.calls.append(list(ranges))
        return [self.data[offset : offset + length] for offset, length in ranges]


@pytest.fixture(scope="session")
def expected(large):
    return rasterio.open(large).read()


def test_buffers_are_read_without_a_copy(large, expected):
    data = large.read_bytes()
    for buffer in (data, bytearray(data), memoryview(data), np.frombuffer(data, np.uint8)):
        np.testing.assert_array_equal(terrazzo.read(buffer), expected)
    with open(large, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        ds = terrazzo.open(mapped)
        np.testing.assert_array_equal(ds.read(), expected)
        ds.close()
        del ds
    growing = bytearray(data)
    ds = terrazzo.open(growing)
    with pytest.raises(BufferError):
        growing.extend(b"more")  # the dataset holds the buffer


def test_file_objects_are_read(large, expected):
    with open(large, "rb") as file:
        ds = terrazzo.open(file)
        np.testing.assert_array_equal(ds.read(), expected)
        assert ds.name == str(large)
    np.testing.assert_array_equal(terrazzo.read(io.BytesIO(large.read_bytes())), expected)

    class Raw(io.RawIOBase):
        """Returns at most 1000 bytes at a time."""

        def __init__(self, data):
            self.inner = io.BytesIO(data)

        def seek(self, *args):
            return self.inner.seek(*args)

        def tell(self):
            return self.inner.tell()

        def read(self, length=-1):
            return self.inner.read(min(length, 1000))

    np.testing.assert_array_equal(terrazzo.read(Raw(large.read_bytes()), window=(0, 0, 300, 300)), expected[:, :300, :300])


def test_one_call_asks_for_all_ranges_of_a_read(large, expected):
    source = Ranges(large.read_bytes())
    ds = terrazzo.open(source)
    assert ds.name == "counted" and len(source.calls) <= 2
    source.calls.clear()
    np.testing.assert_array_equal(ds.read(window=(0, 0, 1024, 1024)), expected[:, :1024, :1024])
    assert len(source.calls) <= 4, source.calls


def test_a_cog_opens_by_one_request_and_gives_a_tile_by_another():
    values = np.random.default_rng(3).integers(0, 200, (2048, 2048)).astype(np.uint8)
    memory = io.BytesIO()
    terrazzo.write(memory, values, cog=True, tile_size=128, compression="lzw")
    source = Ranges(memory.getvalue())
    ds = terrazzo.open(source)
    np.testing.assert_array_equal(ds.read(1, window=(512, 256, 128, 128)), values[256:384, 512:640])
    assert sum(map(len, source.calls)) == 2, source.calls
    source.calls.clear()
    np.testing.assert_array_equal(ds.read(1), values)  # 16 x 16 tiles
    assert sum(map(len, source.calls)) <= 16, source.calls


def test_sources_are_read_by_many_threads(large, expected):
    from concurrent.futures import ThreadPoolExecutor

    ds = terrazzo.open(Ranges(large.read_bytes()))
    with ThreadPoolExecutor(8) as pool:
        for part in pool.map(lambda i: (i, ds.read(1, window=(i * 60, i * 50, 256, 256))), range(24)):
            i, pixels = part
            np.testing.assert_array_equal(pixels, expected[0, i * 50 : i * 50 + 256, i * 60 : i * 60 + 256])


def test_exceptions_of_a_source_are_the_cause(large):
    class Broken(Ranges):
        def read_ranges(self, ranges):
            if self.broken:
                raise ConnectionError("the cable is out")
            return super().read_ranges(ranges)

    source = Broken(large.read_bytes())
    source.broken = False
    ds = terrazzo.open(source)
    source.broken = True
    with pytest.raises(terrazzo.IoError, match="cable") as caught:
        ds.read()
    assert isinstance(caught.value.__cause__, ConnectionError) and caught.value.file == "counted"
    source.broken = False
    ds.read(window=(0, 0, 10, 10))


def test_interrupts_in_a_source_stay_interrupts(large):
    class Interrupted(Ranges):
        def read_ranges(self, ranges):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        terrazzo.open(Interrupted(large.read_bytes()))


@pytest.mark.parametrize("answer, message", [([], "0 of"), ([b"short"], "5 bytes where"), (None, "NoneType"), ([1], "int")])
def test_wrong_answers_of_a_source_are_io_errors(large, answer, message):
    source = Ranges(large.read_bytes())
    source.read_ranges = lambda ranges: answer
    with pytest.raises(terrazzo.IoError, match=message):
        terrazzo.open(source)


class FakeFileSystem:
    """The part of fsspec's interface that is used."""

    def __init__(self, files):
        self.files, self.batches = files, []

    def size(self, path):
        return len(self.files[path])

    def cat_ranges(self, paths, starts, ends, on_error="return"):
        assert on_error == "raise"
        self.batches.append(len(paths))
        return [self.files[path][start:end] for path, start, end in zip(paths, starts, ends)]


def test_file_systems_fetch_ranges_in_batches(large, expected):
    filesystem = FakeFileSystem({"bucket/large.tif": large.read_bytes()})
    ds = terrazzo.open("bucket/large.tif", filesystem=filesystem)
    filesystem.batches.clear()
    np.testing.assert_array_equal(ds.read(window=(0, 0, 256, 2048)), expected[:, :, :256])  # a column of tiles
    assert sum(filesystem.batches) == 8 and len(filesystem.batches) <= 2, filesystem.batches

    class OpenFile(io.BytesIO):
        fs, path = filesystem, "bucket/large.tif"

    assert terrazzo.open(OpenFile()).width == 2048
    assert pickle.loads(pickle.dumps(ds)).width == 2048


def test_things_that_are_no_sources_are_refused():
    for thing in (5, object(), None, [1, 2]):
        with pytest.raises(terrazzo.UsageError, match="source"):
            terrazzo.open(thing)


def test_urls_are_read_through_fsspec(large, expected):
    fsspec = pytest.importorskip("fsspec")
    filesystem = fsspec.filesystem("memory")
    filesystem.pipe("/bucket/large.tif", large.read_bytes())
    np.testing.assert_array_equal(terrazzo.read("memory://bucket/large.tif", window=(5, 6, 700, 300)), expected[:, 6:306, 5:705])
    with filesystem.open("/bucket/large.tif") as file:
        assert terrazzo.open(file).width == 2048
    with fsspec.open("memory://bucket/copy.tif", "wb") as out:
        terrazzo.write(out, expected[0, :100, :100], compression="deflate")
    np.testing.assert_array_equal(terrazzo.read("memory://bucket/copy.tif", 1), expected[0, :100, :100])
    with pytest.raises(terrazzo.UnsupportedError, match="fsspec.open"):
        terrazzo.write("memory://bucket/no.tif", expected[0])
