# SPDX-License-Identifier: Apache-2.0
"""How many bytes of a file commands touch, counted by strace: what a remote source will have to fetch."""

import re
import shutil
import subprocess

import harness
import numpy as np
import pytest
import rasterio
import rasterio.shutil
from rasterio.windows import Window

INFO_LIMIT_BYTES = 64 << 10
TILE = 256

# `pread64(3</tmp/a.tif>, "II*\0"..., 4096, 0) = 4096`
CALL = re.compile(rb"(\w+)\(\d+<([^>]*)>.* = (\d+)$")


@pytest.fixture(scope="module", autouse=True)
def strace():
    if not shutil.which("strace"):
        pytest.skip("no strace")
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True)
    if probe.returncode != 0:
        pytest.skip(f"strace cannot trace here: {probe.stderr.decode(errors='replace').strip()}")


def traffic(path, *args, folder):
    """(bytes, calls) read from `path` by a command."""
    log = folder / "strace.log"
    command = ["strace", "-f", "-y", "-s", "0", "-e", "trace=read,pread64,readv,preadv,preadv2,mmap", "-o", log,
               harness.BINARY, *map(str, args)]
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    total = calls = 0
    for line in log.read_bytes().splitlines():
        if str(path).encode() + b">" in line and b"mmap(" in line:
            raise AssertionError(f"the file is mapped, so reads cannot be counted: {line!r}")
        match = CALL.search(line)
        if match and match[2] == str(path).encode():
            total += int(match[3])
            calls += 1
    assert calls, "the file was not read at all: the count is broken"
    return total, calls


@pytest.fixture(scope="module")
def cog(tmp_path_factory):
    """A COG of 1 GiB of float32 pixels; most tiles are left out, which `info` cannot know before it reads the index."""
    folder = tmp_path_factory.mktemp("cog")
    size = 16384
    profile = {"width": size, "height": size, "count": 1, "dtype": "float32", "crs": "EPSG:32633",
               "transform": rasterio.transform.from_origin(4e5, 5e6, 10, 10), "nodata": -9999}
    with rasterio.open(folder / "plain.tif", "w", driver="GTiff", tiled=True, blockxsize=512, blockysize=512,
                       sparse_ok=True, compress="zstd", **profile) as out:
        for at in (0, 8192, size - 512):
            values = np.random.default_rng(at).random((512, 512), np.float32)
            out.write(values, 1, window=Window(at, at, 512, 512))
    path = folder / "cog.tif"
    rasterio.shutil.copy(folder / "plain.tif", path, driver="COG", sparse_ok=True, compress="zstd", blocksize=512,
                         overview_resampling="nearest", num_threads="ALL_CPUS")
    return path


@pytest.fixture(scope="module")
def million_tiles(tmp_path_factory):
    """1024 x 1024 tiles of 256 px, four of them there."""
    path = tmp_path_factory.mktemp("million") / "million.tif"
    side = 1024 * TILE
    with rasterio.open(path, "w", driver="GTiff", width=side, height=side, count=1, dtype="uint8", tiled=True,
                       blockxsize=TILE, blockysize=TILE, sparse_ok=True, compress="deflate", bigtiff="yes") as out:
        out.write(pixels(), 1, window=Window(500 * TILE, 700 * TILE, 2 * TILE, 2 * TILE))
    return path


def pixels():
    return np.random.default_rng(5).integers(0, 9, (2 * TILE, 2 * TILE)).astype(np.uint8)


def test_info_of_a_gibibyte_cog_is_cheap(cog, tmp_path, note):
    total, calls = traffic(cog, "info", "--json", cog, folder=tmp_path)
    note(f"info of a 1 GiB COG: {total} bytes in {calls} reads")
    assert total < INFO_LIMIT_BYTES
    info = harness.run_json("info", "--json", cog)
    assert (info["width"], info["height"]) == (16384, 16384)
    assert len(info["overviews"]) == 5
    assert info["layout"]["cog"] is True


def test_window_of_a_gibibyte_cog_reads_its_tile_and_little_else(cog, tmp_path, note):
    out = tmp_path / "x.npy"
    total, calls = traffic(cog, "read", cog, "--window", "8192,8192,256,256", "--out", out, folder=tmp_path)
    values = np.random.default_rng(8192).random((512, 512), np.float32)
    assert np.array_equal(np.load(out)[0], values[:256, :256])
    note(f"256 px window of a 1 GiB COG: {total} bytes in {calls} reads (the tile has {values.nbytes} bytes decoded)")
    assert total < INFO_LIMIT_BYTES + values.nbytes


def test_window_of_a_million_tiles_touches_few_bytes(million_tiles, tmp_path, note):
    out = tmp_path / "x.npy"
    corner = f"{500 * TILE + 100},{700 * TILE + 100},256,256"
    total, calls = traffic(million_tiles, "read", million_tiles, "--window", corner, "--out", out, folder=tmp_path)
    assert np.array_equal(np.load(out)[0], pixels()[100:356, 100:356])
    size_mib = million_tiles.stat().st_size >> 20
    note(f"256 px window of a million-tile file of {size_mib} MiB: {total} bytes in {calls} reads")
    assert total < 4 * INFO_LIMIT_BYTES


def test_info_of_a_million_tiles_does_not_read_the_index(million_tiles, tmp_path):
    total, _ = traffic(million_tiles, "info", "--json", million_tiles, folder=tmp_path)
    assert total < INFO_LIMIT_BYTES
