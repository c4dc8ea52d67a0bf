# SPDX-License-Identifier: Apache-2.0
import gc
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
    assert terrazzo.open(fsspec.open("memory://bucket/large.tif")).width == 2048
    with fsspec.open("memory://bucket/copy.tif", "wb") as out:
        terrazzo.write(out, expected[0, :100, :100], compression="deflate")
    np.testing.assert_array_equal(terrazzo.read("memory://bucket/copy.tif", 1), expected[0, :100, :100])


def test_storage_options_belong_to_urls(large):
    pytest.importorskip("fsspec")
    ds = terrazzo.open(f"local://{large}", storage_options={"auto_mkdir": False})
    assert pickle.loads(pickle.dumps(ds)).width == ds.width == 2048
    for source, filesystem in ((large, None), (io.BytesIO(b""), None), ("a", FakeFileSystem({"a": b""}))):
        with pytest.raises(terrazzo.UsageError, match="storage_options"):
            terrazzo.open(source, filesystem=filesystem, storage_options={"key": "x"})
    with pytest.raises(terrazzo.UsageError, match="nosuchscheme"):
        terrazzo.open("nosuchscheme://bucket/a.tif")


@pytest.fixture(params=["memory", "local"])
def store(request, tmp_path):
    stores = pytest.importorskip("obstore.store")
    return stores.MemoryStore() if request.param == "memory" else stores.LocalStore(tmp_path)


def test_stores_of_obstore_are_read_and_written(store, large, expected):
    store.put("bucket/large.tif", large.read_bytes())
    ds = terrazzo.open("bucket/large.tif", filesystem=store)
    assert ds.name == "bucket/large.tif"
    np.testing.assert_array_equal(ds.read(window=(100, 200, 900, 800)), expected[:, 200:1000, 100:1000])
    terrazzo.cog(ds, "out/cog.tif", filesystem=store, tile_size=256, overview_resampling="nearest")
    np.testing.assert_array_equal(terrazzo.open("out/cog.tif", filesystem=store).read(), expected)
    assert terrazzo.validate("out/cog.tif", filesystem=store).valid_cog
    with pytest.raises(terrazzo.MissingFileError, match="absent.tif"):
        terrazzo.open("absent.tif", filesystem=store)


def test_failed_writes_leave_stores_of_obstore_as_they_were(store):
    store.put("old.tif", b"precious")
    for name in ("old.tif", "new.tif"):
        with pytest.raises(KeyError), terrazzo.Writer(name, 500, 500, dtype="float64", filesystem=store) as out:
            out.write_rows(np.random.default_rng(0).random((300, 500)))
            raise KeyError
    assert [entry["path"] for batch in store.list() for entry in batch] == ["old.tif"]
    assert bytes(store.get("old.tif").bytes()) == b"precious"


def test_things_that_are_no_file_systems_are_refused(large):
    with pytest.raises(terrazzo.UnsupportedError, match="cat_ranges"):
        terrazzo.open(str(large), filesystem=object())
    with pytest.raises(terrazzo.UnsupportedError, match="put_file"):
        terrazzo.write("a.tif", np.zeros((5, 5)), filesystem=FakeFileSystem({}))


def test_exceptions_of_a_file_system_are_the_cause(large):
    class Broken(FakeFileSystem):
        def size(self, path):
            raise PermissionError("no credentials")

    with pytest.raises(terrazzo.IoError, match="no credentials") as caught:
        terrazzo.open("bucket/a.tif", filesystem=Broken({}))
    assert isinstance(caught.value.__cause__, PermissionError) and caught.value.file == "bucket/a.tif"


@pytest.fixture
def memory_files():
    """fsspec's file system in memory, empty: it is one for the whole process."""
    filesystem = pytest.importorskip("fsspec").filesystem("memory")
    filesystem.store.clear()
    yield filesystem
    filesystem.store.clear()


@pytest.mark.parametrize("cog", [False, True])
def test_urls_are_written_to(memory_files, tmp_path, expected, cog):
    terrazzo.write(tmp_path / "a.tif", expected, cog=cog)
    terrazzo.write("memory://bucket/a.tif", expected, cog=cog)
    terrazzo.write("bucket/b.tif", expected, cog=cog, filesystem=memory_files)
    written = (tmp_path / "a.tif").read_bytes()
    assert memory_files.cat("/bucket/a.tif") == memory_files.cat("/bucket/b.tif") == written
    terrazzo.convert("memory://bucket/a.tif", "memory://bucket/c.tif", window=(0, 0, 300, 200))
    np.testing.assert_array_equal(terrazzo.read("memory://bucket/c.tif"), expected[:, :200, :300])
    terrazzo.write(f"local://{tmp_path}/b.tif", expected, cog=cog)
    assert (tmp_path / "b.tif").read_bytes() == written


def test_failed_writes_leave_file_systems_as_they_were(memory_files):
    memory_files.pipe("/bucket/old.tif", b"precious")
    rows = np.random.default_rng(0).random((300, 500))
    for name in ("old.tif", "new.tif"):
        with pytest.raises(KeyError), terrazzo.Writer(f"memory://bucket/{name}", 500, 500, dtype="float64") as out:
            out.write_rows(rows)
            raise KeyError
        with pytest.raises(terrazzo.CancelledError):
            terrazzo.write(f"memory://bucket/{name}", np.tile(rows, (5, 5)), tile_size=64, progress=lambda *_: False)
        with pytest.raises(terrazzo.UsageError):  # refused before a byte is written
            terrazzo.write(f"memory://bucket/{name}", rows, tile_size=7)
    assert list(memory_files.store) == ["/bucket/old.tif"] and memory_files.cat("/bucket/old.tif") == b"precious"


def test_an_upload_that_fails_is_discarded_and_its_exception_reaches_the_caller(memory_files, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise OSError(28, "the bucket is full")

    monkeypatch.setattr(type(memory_files), "put_file", refuse)
    with pytest.raises(OSError, match="bucket is full") as caught:
        terrazzo.write("memory://bucket/a.tif", np.zeros((50, 50), np.uint8))
    assert not isinstance(caught.value, terrazzo.Error) and not memory_files.store


def test_an_upload_in_parts_is_completed_by_success_only():
    asyn, spec = pytest.importorskip("fsspec.asyn"), pytest.importorskip("fsspec.spec")

    class UploadFile(spec.AbstractBufferedFile):
        DEFAULT_BLOCK_SIZE = 100_000

        def _initiate_upload(self):
            self.sent = []

        def _upload_chunk(self, final=False):
            self.fs.parts += 1
            if self.fs.parts == self.fs.fails_at:
                raise ConnectionError("the cable is out")
            self.sent.append(self.buffer.getvalue())
            if final:
                self.fs.objects[self.path] = b"".join(self.sent)
            return True

    class Uploads(asyn.AsyncFileSystem):
        """Like s3: an object appears when its upload is completed; discard() of its files does nothing."""

        cachable = False

        def __init__(self):
            super().__init__()
            self.objects, self.parts, self.fails_at = {}, 0, None

        def _open(self, path, mode="rb", **kwargs):
            return UploadFile(self, path, mode)

    filesystem, noise = Uploads(), np.random.default_rng(0).random((500, 500))
    terrazzo.write("a.tif", noise, compression="none", filesystem=filesystem)
    np.testing.assert_array_equal(terrazzo.read(filesystem.objects["a.tif"], 1), noise)
    assert filesystem.parts > 1
    for part in (1, 2, filesystem.parts):
        filesystem.parts, filesystem.fails_at = 0, part
        with pytest.raises(ConnectionError):
            terrazzo.write("b.tif", noise, compression="none", filesystem=filesystem)
        with pytest.raises(KeyError):
            with terrazzo.Writer("b.tif", 500, 500, dtype="float64", filesystem=filesystem) as out:
                out.write_rows(noise[:400])
                raise KeyError
        gc.collect()
        assert list(filesystem.objects) == ["a.tif"], "a part of an object was published"
