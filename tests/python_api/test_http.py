# SPDX-License-Identifier: Apache-2.0
"""Files behind a local HTTP server that counts requests: through fsspec and through obstore."""
import contextlib
import io
import pickle
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import terrazzo

TILE = 128
VALUES = np.random.default_rng(3).integers(0, 200, (32 * TILE, 32 * TILE)).astype(np.uint8)


def as_cog(values):
    memory = io.BytesIO()
    terrazzo.write(memory, values, cog=True, tile_size=TILE, compression="lzw")
    return memory.getvalue()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.answer(with_body=False)

    def do_GET(self):
        self.answer(with_body=True)

    def answer(self, with_body):
        server = self.server
        server.requests.append((self.command, self.path, self.headers.get("Range")))
        with server.count():
            time.sleep(server.latency_s)
        if server.drops:
            self.close_connection = True
            return None
        data = server.files.get(self.path)
        if data is None or server.status is not None:
            return self.send(404 if data is None else server.status, b"", with_body)
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if not found or not server.serves_ranges:
            return self.send(200, data, with_body)
        first, last = int(found[1]), min(int(found[2]), len(data) - 1)
        if first >= len(data):
            return self.send(416, b"", with_body, f"bytes */{len(data)}")
        size = len(data) if server.tells_size else "*"
        return self.send(206, data[first : last + 1], with_body, f"bytes {first}-{last}/{size}")

    def send(self, status, body, with_body, content_range=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", "Wed, 18 Nov 2026 22:00:00 GMT")  # obstore needs it
        if content_range:
            self.send_header("Content-Range", content_range)
        self.end_headers()
        if with_body:
            self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    latency_s = 0.0
    serves_ranges = tells_size = True
    drops = False  # closes connections without an answer
    status = None  # of all answers

    def __init__(self, files):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.requests = files, []
        self.lock, self.at_once, self.most_at_once = threading.Lock(), 0, 0
        self.url = f"http://127.0.0.1:{self.server_port}"

    @contextlib.contextmanager
    def count(self):
        """Counts the requests that wait at once."""
        with self.lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        yield
        with self.lock:
            self.at_once -= 1


@pytest.fixture(scope="module")
def cog():
    return as_cog(VALUES)


@pytest.fixture
def server(cog):
    with Server({"/cog.tif": cog, "/empty.tif": b"", "/page.tif": b"<html>" * 20}) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=["fsspec", "obstore"])
def open_it(request, server):
    """Opens a file of the server through a client that has its own connections."""
    if request.param == "fsspec":
        pytest.importorskip("aiohttp")
        fsspec = pytest.importorskip("fsspec")
        filesystem = fsspec.filesystem("http", skip_instance_cache=True)
        return lambda name: terrazzo.open(f"{server.url}/{name}", filesystem=filesystem)
    store = pytest.importorskip("obstore.store")
    http = store.HTTPStore(server.url, client_options={"allow_http": True}, retry_config={"max_retries": 0})
    return lambda name: terrazzo.open(name, filesystem=http)


def test_a_cog_costs_one_request_to_open_and_one_for_a_tile(server, open_it):
    ds = open_it("cog.tif")
    assert ds.shape == (1, *VALUES.shape) and len(ds.overviews) == 5
    assert len(server.requests) == 1, server.requests
    tile = ds.read(1, window=(5 * TILE, 7 * TILE, TILE, TILE))
    np.testing.assert_array_equal(tile, VALUES[7 * TILE : 8 * TILE, 5 * TILE : 6 * TILE])
    assert len(server.requests) == 2, server.requests
    assert {path for _, path, _ in server.requests} == {"/cog.tif"}  # no sidecars
    assert all(method == "GET" and wanted for method, _, wanted in server.requests)


def test_16_x_16_tiles_cost_16_requests_that_run_at_once(server, open_it):
    ds = open_it("cog.tif")
    server.requests.clear()
    server.latency_s = 0.05
    server.most_at_once = 0
    part = ds.read(1, window=(3 * TILE, 9 * TILE, 16 * TILE, 16 * TILE))
    np.testing.assert_array_equal(part, VALUES[9 * TILE : 25 * TILE, 3 * TILE : 19 * TILE])
    assert len(server.requests) <= 16, server.requests
    assert server.most_at_once > 1, "the requests ran one after the other"
    server.latency_s, server.requests[:] = 0, []
    np.testing.assert_array_equal(ds.read(1), VALUES)
    assert len(server.requests) <= 16, server.requests


def test_a_network_fault_is_an_io_error_with_its_cause(server, open_it):
    for status in (500, 403):
        server.status = status
        with pytest.raises(terrazzo.IoError, match="cog.tif") as caught:
            open_it("cog.tif")
        assert caught.value.__cause__ is not None and "TIFF" not in str(caught.value)
    server.status = None
    ds = open_it("cog.tif")
    server.status = 503
    with pytest.raises(terrazzo.IoError) as caught:
        ds.read(1, window=(0, 0, 1000, 1000))
    assert caught.value.__cause__ is not None and "503" in str(caught.value.__cause__)
    server.status = None
    with pytest.raises(terrazzo.MissingFileError, match="absent.tif"):
        open_it("absent.tif")
    with pytest.raises(terrazzo.MalformedError):  # the server is well, and the file is no TIFF
        open_it("page.tif")


def test_a_dropped_connection_is_an_io_error(open_it, server):
    ds = open_it("cog.tif")
    server.drops = True
    for broken in (lambda: ds.read(1), lambda: open_it("cog.tif")):
        with pytest.raises(terrazzo.IoError) as caught:
            broken()
        assert isinstance(caught.value.__cause__, Exception)
        assert "Traceback" not in str(caught.value) and "\n" not in str(caught.value)
    server.drops = False
    np.testing.assert_array_equal(ds.read(1, window=(0, 0, 100, 100)), VALUES[:100, :100])


def test_servers_without_ranges_are_refused_with_a_way_out(server):
    pytest.importorskip("aiohttp")
    server.serves_ranges = False
    with pytest.raises(terrazzo.IoError, match="ranges of bytes.*cat_file"):
        terrazzo.open(f"{server.url}/cog.tif")


def test_a_server_that_keeps_the_size_to_itself_costs_one_more_request(server):
    pytest.importorskip("aiohttp")
    server.tells_size = False
    assert terrazzo.open(f"{server.url}/cog.tif").width == VALUES.shape[1]
    assert [method for method, _, _ in server.requests] == ["GET", "HEAD"]


def test_an_empty_file_is_malformed(server):
    pytest.importorskip("aiohttp")
    with pytest.raises(terrazzo.MalformedError):
        terrazzo.open(f"{server.url}/empty.tif")


def test_http_is_not_written_to(server):
    pytest.importorskip("aiohttp")
    with pytest.raises(terrazzo.UnsupportedError, match="HTTP"):
        terrazzo.write(f"{server.url}/new.tif", VALUES[:10])


def test_a_pickled_dataset_opens_without_a_request(server, open_it):
    sent = pickle.dumps(open_it("cog.tif"))
    server.requests.clear()
    raster = pickle.loads(sent)
    assert raster.width == 32 * TILE and server.requests == []
    np.testing.assert_array_equal(raster.read(1, window=(TILE, TILE, TILE, TILE)), VALUES[TILE : 2 * TILE, TILE : 2 * TILE])
    assert len(server.requests) == 1
