# SPDX-License-Identifier: Apache-2.0
"""S3 through fsspec (s3fs) and obstore, against moto's server. Runs where moto[server] and s3fs are installed."""
import numpy as np
import pytest

import terrazzo
from conftest import terrain

pytest.importorskip("s3fs")
server_module = pytest.importorskip("moto.server")

BUCKET = "bucket"
PLACE = {"crs": 32632, "transform": (10, 0, 500000, 0, -10, 4200000)}
CREDENTIALS = {"key": "test", "secret": "test"}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def endpoint():
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def options(endpoint):
    return {**CREDENTIALS, "client_kwargs": {"endpoint_url": endpoint}, "default_block_size": 5 << 20}


@pytest.fixture
def files(options):
    """The file system of an empty bucket."""
    import s3fs

    filesystem = s3fs.S3FileSystem(**options, skip_instance_cache=True)
    if filesystem.exists(BUCKET):
        filesystem.rm(BUCKET, recursive=True)
    filesystem.mkdir(BUCKET)
    return filesystem


@pytest.mark.parametrize("side", [300, 1500])  # one upload, and one in parts
def test_cogs_are_written_and_read(files, options, side):
    heights = terrain(side, side)
    report = terrazzo.write(f"s3://{BUCKET}/a.tif", heights, cog=True, compression="none", storage_options=options, **PLACE)
    assert files.size(f"{BUCKET}/a.tif") == report.bytes_written
    ds = terrazzo.open(f"s3://{BUCKET}/a.tif", storage_options=options)
    np.testing.assert_array_equal(ds.read(1, window=(20, 30, 200, 100)), heights[30:130, 20:220])
    assert ds.crs.to_epsg() == 32632
    assert terrazzo.validate(f"s3://{BUCKET}/a.tif", storage_options=options).valid_cog
    terrazzo.cog(ds, f"{BUCKET}/b.tif", filesystem=files, compression="deflate")
    np.testing.assert_array_equal(terrazzo.read(files.open(f"{BUCKET}/b.tif"), 1), heights)


def test_a_cog_costs_one_request_to_open_and_one_for_a_tile(files, monkeypatch):
    heights = terrain(2048, 2048)
    terrazzo.write(f"{BUCKET}/a.tif", heights, cog=True, tile_size=128, compression="lzw", filesystem=files)
    calls, call_s3 = [], files._call_s3

    async def counted(method, *args, **keywords):
        calls.append(method)
        return await call_s3(method, *args, **keywords)

    monkeypatch.setattr(files, "_call_s3", counted)
    ds = terrazzo.open(f"{BUCKET}/a.tif", filesystem=files)
    assert calls == ["get_object"]
    np.testing.assert_array_equal(ds.read(1, window=(512, 256, 128, 128)), heights[256:384, 512:640])
    assert calls == ["get_object"] * 2


def test_an_exception_publishes_no_part_of_an_object(files, monkeypatch):
    files.pipe(f"{BUCKET}/old.tif", b"precious")
    noise = np.random.default_rng(0).random((1500, 1000))
    call_s3, parts = files.call_s3, []

    def fail_at_the_second_part(method, *args, **keywords):
        parts.extend([method] * (method == "upload_part"))
        if len(parts) == 2:
            raise ConnectionError("the cable is out")
        return call_s3(method, *args, **keywords)

    monkeypatch.setattr(files, "call_s3", fail_at_the_second_part)
    for name in ("old.tif", "new.tif"):
        with pytest.raises(KeyError):
            with terrazzo.Writer(f"{BUCKET}/{name}", 1000, 2000, dtype="float64", filesystem=files) as out:
                out.write_rows(noise)
                raise KeyError("stop")
        parts.clear()
        with pytest.raises(ConnectionError):
            terrazzo.write(f"{BUCKET}/{name}", noise, compression="none", filesystem=files)
        assert len(parts) == 2
        parts.clear()
    monkeypatch.undo()
    files.invalidate_cache()
    assert files.ls(BUCKET, detail=False) == [f"{BUCKET}/old.tif"] and files.cat(f"{BUCKET}/old.tif") == b"precious"
    assert not files.call_s3("list_multipart_uploads", Bucket=BUCKET).get("Uploads"), "an upload was not dropped"


def test_errors_of_the_store_are_io_errors(files, options):
    with pytest.raises(terrazzo.MissingFileError, match="absent.tif"):
        terrazzo.open(f"s3://{BUCKET}/absent.tif", storage_options=options)
    nowhere = {**options, "client_kwargs": {"endpoint_url": "http://127.0.0.1:9"}}
    with pytest.raises(terrazzo.IoError) as caught:
        terrazzo.open(f"s3://{BUCKET}/a.tif", storage_options={**nowhere, "config_kwargs": {"retries": {"max_attempts": 0}}})
    assert caught.value.__cause__ is not None


def test_obstore_reads_and_writes(files, endpoint):
    stores = pytest.importorskip("obstore.store")
    store = stores.S3Store(
        BUCKET, endpoint=endpoint, region="us-east-1", access_key_id="test", secret_access_key="test",
        client_options={"allow_http": True}, virtual_hosted_style_request=False,
    )  # fmt: skip
    heights = terrain(700, 900)
    terrazzo.write("cogs/a.tif", heights, cog=True, filesystem=store, **PLACE)
    np.testing.assert_array_equal(terrazzo.open("cogs/a.tif", filesystem=store).read(1), heights)
    assert files.exists(f"{BUCKET}/cogs/a.tif")
