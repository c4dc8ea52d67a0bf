# SPDX-License-Identifier: Apache-2.0
"""open_geotiff() and to_geotiff() with URLs and file objects, and the limits on them."""
import http.server
import io
import pickle
import threading

import numpy as np
import pytest
import rasterio

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
                self.send_header("Location", "http://169.254.169.254/dem.tif" if "away" in self.path else "/dem.tif")
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


def test_a_redirect_to_a_private_address_is_refused(server, monkeypatch):
    from terrazzo._geotiff import http

    url, _ = server
    # The server's own address counts as public, all others are checked.
    checked = http.checked_address
    monkeypatch.setattr(http, "checked_address", lambda u: "127.0.0.1" if u.startswith(url) else checked(u))
    with pytest.raises(compat.UnsafeURLError, match="169.254.169.254"):
        terrazzo.open_geotiff(url + "/moved/away.tif")


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
