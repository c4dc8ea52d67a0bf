# SPDX-License-Identifier: Apache-2.0
"""open_geotiff() and to_geotiff() with URLs and file objects, and the limits on them."""
import http.server
import io
import os
import pickle
import struct
import threading
import tracemalloc
import warnings

import numpy as np
import pytest
import rasterio
import tifffile

import terrazzo
from terrazzo import compat

xr = pytest.importorskip("xarray")


@pytest.fixture
def server(dem):
    """Serves the DEM, with ranges, and counts requests. A path with "moved" leads to the file."""
    data, asked = dem.read_bytes(), []

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append(self.headers.get("Range"))
            if "missing" in self.path:
                self.send_error(404)
                return
            if "moved" in self.path:
                self.send_response(302)
                place = "http://169.254.169.254/dem.tif" if "away" in self.path else "/dem.tif"
                self.send_header("Location", self.path if "round" in self.path else place)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
            body = data[first : last + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}", asked
    running.shutdown()
    running.server_close()


def test_http_reads_ranges(server, dem, monkeypatch):
    url, asked = server
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS", "1")
    whole = rasterio.open(dem).read(1)
    da = terrazzo.open_geotiff(url + "/moved.tif", window=(0, 0, 50, 60))
    np.testing.assert_array_equal(da, whole[:50, :60])
    assert da.name == "moved" and da.attrs["crs"] == 32632
    assert all(asked) and len(asked) <= 12
    pytest.importorskip("dask")
    np.testing.assert_array_equal(terrazzo.open_geotiff(url + "/dem.tif", chunks=128), whole)
    with pytest.raises(FileNotFoundError):
        terrazzo.open_geotiff(url + "/missing.tif")


def test_private_addresses_are_refused(server, monkeypatch):
    url, asked = server
    for unsafe in (url + "/dem.tif", "http://localhost:9/a.tif", "HTTP://169.254.169.254/a.tif", "http://[::1]/a.tif"):
        with pytest.raises(compat.UnsafeURLError, match="ALLOW_PRIVATE_HOSTS") as caught:
            terrazzo.open_geotiff(unsafe)
        assert caught.value.url == unsafe
    assert not asked


def test_redirects_in_a_circle_are_unsafe(server, monkeypatch):
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS", "1")
    with pytest.raises(compat.UnsafeURLError, match="more than 5 redirects") as caught:
        terrazzo.open_geotiff(f"{server[0]}/moved/round")
    assert caught.value.url == f"{server[0]}/moved/round" and len(server[1]) == 6


def test_a_redirect_to_a_private_address_is_refused(server, monkeypatch):
    from terrazzo._geotiff import http

    url, _ = server
    # The server's own address counts as public, all others are checked.
    checked = http.checked_address
    monkeypatch.setattr(http, "checked_address", lambda u: "127.0.0.1" if u.startswith(url) else checked(u))
    with pytest.raises(compat.UnsafeURLError, match="169.254.169.254"):
        terrazzo.open_geotiff(url + "/moved/away.tif")


@pytest.mark.parametrize("host", [
    "2130706433", "0x7f.1", "0", "127.1", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::10.0.0.1]", "[2002:7f00:1::]",
    "[fec0::1]", "[fe80::1]", "[ff02::1]", "224.0.0.1", "100.64.0.1", "[::]",
])  # fmt: skip
def test_private_addresses_are_refused_in_every_notation(host):
    from terrazzo._geotiff.http import checked_address

    with pytest.raises(compat.UnsafeURLError, match="ALLOW_PRIVATE_HOSTS"):
        checked_address(f"http://{host}/a.tif")


def test_public_addresses_pass():
    from terrazzo._geotiff.http import checked_address

    for host in ("93.184.215.14", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]", "[64:ff9b::5db8:d70e]"):
        assert checked_address(f"http://{host}/a.tif") == host.strip("[]")


def test_chains_of_fsspec_do_not_go_around_the_check(server, monkeypatch):
    from terrazzo._geotiff.http import check_chain

    pytest.importorskip("aiohttp")
    url, asked = server
    for unsafe in (f"simplecache::{url}/dem.tif", f"zip://a.tif::{url}/a.zip", f"blockcache::{url.upper()}/dem.tif",
                   "reference://a.tif::data:application/json,{}"):  # fmt: skip
        with pytest.raises(compat.UnsafeURLError, match="ALLOW_PRIVATE_HOSTS") as caught:
            terrazzo.open_geotiff(unsafe)
        assert caught.value.url == unsafe
    assert not asked
    check_chain("simplecache::s3://folder/a.tif")
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS", "1")
    check_chain(f"simplecache::{url}/dem.tif")


@pytest.mark.parametrize("total", ["\u00b2\u00b3", "9" * 5000, "-1", "", "0x10", "9" * 19])
def test_a_size_that_is_no_number_is_an_error(total, monkeypatch):
    from terrazzo._geotiff import http

    monkeypatch.setattr(http.HttpFile, "_request", lambda *_: (206, {"Content-Range": f"bytes 0-1/{total}"}, b"II"))
    with pytest.raises(OSError, match="size"):
        http.HttpFile("http://example.org/a.tif")


@pytest.mark.parametrize("length, found", [(16383, True), (16384, False)])
def test_a_short_answer_has_the_size_of_the_file(length, found, monkeypatch):
    from terrazzo._geotiff import http

    monkeypatch.setattr(http.HttpFile, "_request", lambda *_: (206, {"Content-Range": f"bytes 0-{length - 1}/*"}, bytes(length)))
    if found:
        assert http.HttpFile("http://example.org/a.tif").size == length
    else:
        with pytest.raises(OSError, match="size"):
            http.HttpFile("http://example.org/a.tif")


def test_broken_hosts_and_ports_are_errors_of_the_url():
    for url, kind in (("http://a..b/x.tif", OSError), ("http://a:99999/x.tif", compat.UnsafeURLError)):
        with pytest.raises(kind):
            terrazzo.open_geotiff(url)


@pytest.fixture
def memory(dem):
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    files.pipe("/geotiff/dem.tif", dem.read_bytes())
    yield files
    files.rm("/geotiff", recursive=True)


def test_cloud_objects_have_a_limit(memory, dem, monkeypatch):
    url, whole = "memory://geotiff/dem.tif", rasterio.open(dem).read(1)
    np.testing.assert_array_equal(terrazzo.open_geotiff(url), whole)
    with pytest.raises(compat.CloudSizeLimitError, match="exceeds max_cloud_bytes=10"):
        terrazzo.open_geotiff(url, max_cloud_bytes=10)
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_MAX_CLOUD_BYTES", "10")
    with pytest.raises(compat.CloudSizeLimitError):
        terrazzo.open_geotiff(url)
    assert terrazzo.open_geotiff(url, max_cloud_bytes=None).shape == whole.shape
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_MAX_CLOUD_BYTES", "many")
    assert terrazzo.open_geotiff(url).shape == whole.shape
    for keywords in ({"chunks": 100}, {"gpu": True}):
        with pytest.raises(ValueError, match="max_cloud_bytes"):
            terrazzo.open_geotiff(url, max_cloud_bytes=10, **keywords)
    with pytest.raises(compat.RemoteStableSourcesOnlyError, match="release_gate_geotiff.rst"):
        terrazzo.open_geotiff(url, stable_only=True)


def test_overviews_lie_beside_a_cloud_object(memory):
    url, small = "memory://geotiff/dem.tif", np.full((150, 200), 7, np.float32)
    file = io.BytesIO()
    tifffile.imwrite(file, small, subfiletype=1, metadata=None)
    with pytest.raises(ValueError, match="1 pyramid IFDs"):
        terrazzo.open_geotiff(url, overview_level=1)
    memory.pipe("/geotiff/dem.tif.ovr", file.getvalue())
    found = terrazzo.open_geotiff(url, overview_level=1)
    np.testing.assert_array_equal(found, small)
    assert found.attrs["crs"] == 32632 and found.attrs["transform"][0] == 20
    pytest.importorskip("dask")
    lazy = pickle.loads(pickle.dumps(terrazzo.open_geotiff(url, overview_level=1, chunks=64)))
    np.testing.assert_array_equal(lazy, small)
    memory.pipe("/geotiff/dem.tif.ovr", b"junk" * 9)
    with pytest.raises(ValueError, match="external sidecar 'memory://geotiff/dem.tif.ovr'"):
        terrazzo.open_geotiff(url, overview_level=1)
    assert terrazzo.open_geotiff(url).shape == (300, 400)
    memory.pipe("/geotiff/dem.tif.ovr", bytes(1_000_000))
    with pytest.raises(compat.CloudSizeLimitError, match="dem.tif.ovr"):
        terrazzo.open_geotiff(url, overview_level=1, max_cloud_bytes=900_000)


def test_overviews_lie_beside_a_file_of_a_server(server, dem, monkeypatch):
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_ALLOW_PRIVATE_HOSTS", "1")
    url, asked = server
    terrazzo.open_geotiff(f"{url}/dem.tif", window=(0, 0, 4, 4))
    once = len(asked)
    np.testing.assert_array_equal(terrazzo.open_geotiff(f"{url}/dem.tif", overview_level=1), rasterio.open(dem).read(1))
    assert once < len(asked)


def test_cloud_objects_appear_complete_or_not_at_all(memory, dem):
    da = terrazzo.open_geotiff(dem)
    terrazzo.to_geotiff(da, "memory://geotiff/copy.tif", cog=True)
    np.testing.assert_array_equal(terrazzo.open_geotiff("memory://geotiff/copy.tif"), da)
    assert sorted(entry["name"] for entry in memory.ls("/geotiff")) == ["/geotiff/copy.tif", "/geotiff/dem.tif"]
    pytest.importorskip("dask")

    def fail(block):
        raise RuntimeError("no pixels")

    broken = da.chunk(100).copy(data=da.chunk(100).data.map_blocks(fail, dtype=da.dtype))
    with pytest.raises(NotImplementedError, match="cloud"):
        terrazzo.to_geotiff(broken, "memory://geotiff/half.tif")
    with pytest.raises(RuntimeError, match="no pixels"):
        terrazzo.to_geotiff(broken, "memory://geotiff/half.tif", cog=True)
    assert not memory.exists("/geotiff/half.tif")
    with pytest.raises(NotImplementedError, match="http"):
        terrazzo.to_geotiff(da, "http://example.org/a.tif")


def test_file_objects_are_rewound_and_replaced(dem):
    da = terrazzo.open_geotiff(io.BytesIO(dem.read_bytes()))
    assert da.name is None
    file = io.BytesIO(b"x" * 10_000_000)
    assert terrazzo.to_geotiff(da, file) is file and len(file.getvalue()) < 1_000_000
    np.testing.assert_array_equal(terrazzo.open_geotiff(file), da)
    for keyword in ("cog", "gpu"):
        with pytest.raises(ValueError, match=f"{keyword}=True is not supported for file-like"):
            terrazzo.to_geotiff(da, file, **{keyword: True})


def test_the_cap_on_blocks_is_an_environment_variable(dem, monkeypatch):
    monkeypatch.setenv("XRSPATIAL_COG_MAX_TILE_BYTES", "10")
    with pytest.raises(ValueError, match="TileByteCount.*safety cap of 10 bytes.*denial-of-service"):
        terrazzo.open_geotiff(dem)
    monkeypatch.setenv("XRSPATIAL_COG_MAX_TILE_BYTES", "-1")
    assert terrazzo.open_geotiff(dem).shape == (300, 400)


def test_lazy_arrays_of_urls_can_be_sent_to_workers(memory, dem):
    pytest.importorskip("dask")
    lazy = pickle.loads(pickle.dumps(terrazzo.open_geotiff("memory://geotiff/dem.tif", chunks=128)))
    np.testing.assert_array_equal(lazy, rasterio.open(dem).read(1))


def test_fallbacks_are_errors_if_the_environment_says_so(dem, tmp_path, monkeypatch):
    pytest.importorskip("pyproj")
    da = terrazzo.open_geotiff(dem)
    with pytest.warns(UserWarning):
        terrazzo.to_geotiff(da.drop_attrs(), tmp_path / "a.tif", crs='PROJCS["x"')
    monkeypatch.setenv("XRSPATIAL_GEOTIFF_STRICT", "yes")
    with pytest.raises(Exception, match="PROJCS"):
        terrazzo.to_geotiff(da.drop_attrs(), tmp_path / "b.tif", crs='PROJCS["x"')
    assert not (tmp_path / "b.tif").exists()


def in_time(work, seconds=20):
    """Runs the work on a thread: what waits for a pipe waits for ever."""
    done = []
    thread = threading.Thread(target=lambda: done.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert done, "it hangs"
    return done[0]


@pytest.mark.parametrize("suffix", [".aux.xml", ".ovr", ".msk"])
def test_a_pipe_beside_a_raster_is_not_waited_for(suffix, dem, tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(dem.read_bytes())
    os.mkfifo(f"{path}{suffix}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert in_time(lambda: terrazzo.open_geotiff(path)).ndim == 2


def test_a_pipe_is_no_raster(tmp_path):
    os.mkfifo(tmp_path / "a.tif")

    def refused():
        with pytest.raises(OSError, match="positions"):
            terrazzo.open_geotiff(tmp_path / "a.tif")
        return True

    assert in_time(refused)


@pytest.mark.parametrize("content", [
    "<F>1e999</F><F>x</F>", "<F>nan</F><F>x</F>", "<F>x</F>", "<F>1e30</F><F>x</F>", "<F>" + "9" * 5000 + "</F><F>x</F>",
])  # fmt: skip
def test_a_hostile_attribute_table_counts_as_none(content, dem, tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(dem.read_bytes())
    fields = "".join(f"<FieldDefn><Usage>{usage}</Usage></FieldDefn>" for usage in (5, 2))
    (tmp_path / "a.tif.aux.xml").write_text(
        f"<PAMDataset><PAMRasterBand><GDALRasterAttributeTable>{fields}<Row>{content}</Row></GDALRasterAttributeTable>"
        "</PAMRasterBand></PAMDataset>"
    )
    assert "category_names" not in terrazzo.open_geotiff(path).attrs


def shared_values(directories, extra, count):
    """A TIFF whose directories and tags share one array of zeros and ones."""
    data = bytearray(b"II*\0" + bytes(4)) + struct.pack("<H", 1) * count
    link = 4
    for number in range(directories):
        tags = {254: (3, 1, int(number > 0)), 256: (3, 1, 4), 257: (3, 1, 4), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 1),
                273: (4, 1, 8), 277: (3, 1, 1), 278: (3, 1, 4), 279: (3, 1, 16)}  # fmt: skip
        if number:
            tags[254] = (3, count, 8)
        tags |= {tag: (3, count, 8) for tag in range(50000, 50000 + extra)}
        struct.pack_into("<I", data, link, len(data))
        data += struct.pack("<H", len(tags))
        for tag, (kind, values, value) in sorted(tags.items()):
            data += struct.pack("<HHII", tag, kind, values, value)
        link = len(data)
        data += bytes(4)
    return bytes(data)


@pytest.mark.parametrize("tag", [254, 256, 257, 258, 259, 277, 278, 279])
def test_a_layout_in_fractions_is_an_error(tag):
    data = bytearray(shared_values(1, 0, 8))
    at = struct.unpack_from("<I", data, 4)[0]
    entry = next(at + 2 + 12 * i for i in range(10) if struct.unpack_from("<H", data, at + 2 + 12 * i)[0] == tag)
    struct.pack_into("<HHIf", data, entry, tag, 11, 1, 1.5)
    with pytest.raises(ValueError, match=f"tag {tag}"):
        terrazzo.open_geotiff(io.BytesIO(data))


def peak_of(work):
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_directories_that_share_a_value_take_no_memory_for_each():
    data = shared_values(200, 0, 1 << 20)
    assert peak_of(lambda: terrazzo.open_geotiff(io.BytesIO(data))) < 64 << 20


def test_extra_tags_that_share_a_value_have_a_limit():
    data = shared_values(1, 200, 1 << 20)

    def refused():
        with pytest.raises(ValueError, match="extra tags"):
            terrazzo.open_geotiff(io.BytesIO(data))

    assert peak_of(refused) < 64 << 20


def test_files_beside_a_raster_are_not_written_through_links(dem, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for suffix in (".tif.aux.xml", ".qml"):
        (tmp_path / f"a{suffix}").symlink_to(victim)
    terrazzo.to_geotiff(terrazzo.open_geotiff(dem), tmp_path / "a.tif", color_ramp=True)
    assert victim.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.qml", "a.tif", "a.tif.aux.xml", "victim"]
    assert not any(path.is_symlink() for path in tmp_path.iterdir())
