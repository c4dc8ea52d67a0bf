# SPDX-License-Identifier: Apache-2.0
"""Files after a write that was killed, ran out of disk, or was larger than memory.

Settings, environment variables:
  TERRAZZO_KILL_ROUNDS  how often `cog` is killed; default 20
  TERRAZZO_TEST_LARGE   1: a raster of 20 GiB too, which takes minutes
"""

import os
import random
import signal
import subprocess
import time

import harness
import numpy as np
import pytest
import rasterio
import rasters
from verdicts import our_verdicts

ROUNDS = int(os.environ.get("TERRAZZO_KILL_ROUNDS", "20"))
LARGE = os.environ.get("TERRAZZO_TEST_LARGE", "") not in ("", "0")


def write_source(path, array, **options):
    with rasterio.open(path, "w", driver="GTiff", width=array.shape[2], height=array.shape[1], count=array.shape[0],
                       dtype=array.dtype, tiled=True, blockxsize=256, blockysize=256, **options) as out:
        out.write(array)


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".terrazzo-tmp")]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A source whose conversion takes a while, and the expected file."""
    folder = tmp_path_factory.mktemp("noisy")
    rng = np.random.default_rng(1)
    array = rng.integers(0, 5000, (1, 2048, 3000), dtype=np.uint16) + rasters.make("uint16", 1, 2048, 3000) // 16
    write_source(folder / "source.tif", array)
    began = time.monotonic()
    harness.run_ok("cog", folder / "source.tif", "-o", folder / "whole.tif", "--quiet", "--compression", "deflate")
    return folder / "source.tif", (folder / "whole.tif").read_bytes(), time.monotonic() - began


@pytest.mark.parametrize("spool", ("1", "1G"))
def test_kill_leaves_the_old_file_or_the_new_one(noisy, spool, tmp_path, note):
    source, whole, seconds = noisy
    out = tmp_path / "out.tif"
    rng = random.Random(int(time.time()))
    killed = left = 0
    for _ in range(ROUNDS // 2 if spool == "1" else ROUNDS - ROUNDS // 2):
        old = os.urandom(1000)
        out.write_bytes(old)
        process = subprocess.Popen([harness.BINARY, "cog", source, "-o", out, "--quiet", "--compression", "deflate",
                                    "--spool", spool])
        time.sleep(rng.uniform(0, 1.05 * seconds))
        process.send_signal(signal.SIGKILL)
        ended = process.wait()
        now = out.read_bytes()
        assert now in (old, whole), f"a half file of {len(now)} bytes"
        assert ended != 0 or now == whole
        killed += ended != 0
        left += bool(leftovers(tmp_path))
        assert len(leftovers(tmp_path)) <= 1, "the next write did not clean up"
    assert killed > 0
    # The next write removes the temporary files of a killed one.
    harness.run_ok("cog", source, "-o", out, "--quiet", "--compression", "deflate")
    assert out.read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == ["out.tif"]
    note(f"kill -9, spool {spool}: {killed} killed, {left} temporary files left and cleaned up, no half file")


def signalled_cog(source, out, number, at_start):
    """The exit code of a command that gets the signal while it writes; `at_start`: the handler that it inherits."""
    process = subprocess.Popen([harness.BINARY, "cog", source, "-o", out, "--quiet", "--compression", "deflate"],
                               preexec_fn=lambda: signal.signal(number, at_start))
    deadline = time.monotonic() + 20
    while process.poll() is None and not leftovers(out.parent) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(number)
    return process.wait(timeout=20)


@pytest.mark.parametrize("number", (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
def test_an_interrupt_leaves_nothing(noisy, number, tmp_path):
    source, whole, seconds = noisy
    out = tmp_path / "out.tif"
    out.write_text("old")
    code = signalled_cog(source, out, number, signal.SIG_DFL)
    if code == 0:  # it was faster
        assert out.read_bytes() == whole
    else:
        assert code == harness.CANCELLED
        assert out.read_text() == "old"
    assert not leftovers(tmp_path)


def test_a_terminal_that_is_closed_is_of_no_concern_after_nohup(noisy, tmp_path):
    source, whole, seconds = noisy
    out = tmp_path / "out.tif"
    assert signalled_cog(source, out, signal.SIGHUP, signal.SIG_IGN) == 0
    assert out.read_bytes() == whole


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"a tmpfs cannot be mounted: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("spool", ("1", "1G"))
def test_a_full_disk_is_an_io_error_and_leaves_the_old_file(noisy, small_disk, command, spool):
    source, _, _ = noisy
    out = small_disk / "out.tif"
    out.write_text("old")
    result = harness.run(command, source, "-o", out, "--json", "--spool", spool, "--compression", "none")
    assert result.code == harness.IO, str(result)
    assert result.error()["kind"] == "io"
    assert [path.name for path in small_disk.iterdir()] == ["out.tif"]
    assert out.read_text() == "old"
    # There is room again for a small one.
    harness.run_ok(command, source, "-o", out, "--quiet", "--window", "0,0,300,300", "--spool", spool)
    assert [path.name for path in small_disk.iterdir()] == ["out.tif"]


def test_a_sidecar_that_cannot_be_written_is_told_of_and_nothing_changes(tmp_path):
    array = rasters.make("uint8", 1, 100, 120)
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, array)
    (tmp_path / "source.tif.aux.xml").write_text(
        "<PAMDataset><PAMRasterBand band=\"1\"><CategoryNames><Category>sea</Category></CategoryNames>"
        "</PAMRasterBand></PAMDataset>")
    (tmp_path / "out.tif.aux.xml").mkdir()  # stops root too
    out.write_text("old")
    result = harness.run("convert", source, "-o", out, "--json")
    assert result.code == harness.IO, str(result)
    error = result.error()
    assert error["file"] == str(out) + ".aux.xml"
    assert "nothing is written" in error["message"]
    assert not leftovers(tmp_path)
    assert out.read_text() == "old"


def test_kill_never_leaves_old_sidecars_beside_new_pixels(tmp_path, note):
    """Killed at random around the end of the write; tests/write/sidecars_test.cpp kills at every call."""
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 1, 64, 64))
    began = time.monotonic()
    harness.run_ok("convert", source, "-o", out, "--quiet")
    seconds = time.monotonic() - began
    whole = out.read_bytes()
    rng = random.Random(int(time.time()))
    sidecars = [tmp_path / ("out.tif" + suffix) for suffix in (".ovr", ".msk", ".msk.ovr", ".aux.xml")]
    replaced = 0
    for _ in range(ROUNDS):
        out.write_bytes(b"old")
        for path in sidecars:
            path.write_bytes(b"old")
        process = subprocess.Popen([harness.BINARY, "convert", source, "-o", out, "--quiet"])
        time.sleep(rng.uniform(0.2, 1.2) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.read_bytes() == whole:
            replaced += 1
            assert not any(path.exists() for path in sidecars)
        else:
            assert out.read_bytes() == b"old"
            kept = [path for path in sidecars
                    if path.exists() or (tmp_path / f".{path.name}.0.terrazzo-old").exists()]
            assert kept == sidecars
    harness.run_ok("convert", source, "-o", out, "--quiet")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tif", "source.tif"]
    note(f"kill -9 with sidecars: {replaced} of {ROUNDS} rasters were replaced, none beside old sidecars")


def test_memory_does_not_grow_with_the_raster(tmp_path, note):
    """Peak memory of two rasters, one four times the other, within budgets that are smaller than both."""
    peaks = []
    for rows in (4096, 16384):
        array = np.add.outer(np.arange(rows, dtype=np.float32), np.arange(4096, dtype=np.float32) * 0.5)[np.newaxis]
        write_source(tmp_path / "source.tif", array)
        del array
        result = harness.run_ok("cog", tmp_path / "source.tif", "-o", tmp_path / "out.tif", "--quiet",
                                "--buffer", "16M", "--spool", "1M", "--compression", "lzw", "--threads", "2")
        peaks.append(result.peak_rss_bytes)
        (tmp_path / "source.tif").unlink()
    note(f"cog with a buffer of 16 MiB: peak memory {peaks[0] >> 20} MiB of 64 MiB, {peaks[1] >> 20} MiB of 256 MiB")
    assert peaks[1] < peaks[0] * 1.25 + (8 << 20)
    assert peaks[1] < 160 << 20


@pytest.mark.skipif(not LARGE, reason="TERRAZZO_TEST_LARGE=1 runs it")
@pytest.mark.parametrize("command", ("convert", "cog"))
def test_a_raster_larger_than_memory(command, tmp_path, note):
    """20 GiB of float32, nearly all of it missing from the source; the result has every tile."""
    side = 73728
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    with rasterio.open(source, "w", driver="GTiff", width=side, height=side, count=1, dtype="float32", tiled=True,
                       blockxsize=512, blockysize=512, sparse_ok=True, bigtiff="yes", compress="zstd") as file:
        block = rasters.make("float32", 1, 512, 512)[0]
        for i in range(0, side // 512, 5):
            file.write(block, 1, window=rasterio.windows.Window(512 * i, 512 * i, 512, 512))
    result = harness.run_ok(command, source, "-o", out, "--quiet", "--compression", "zstd", "--compression-level", "1",
                            "--buffer", "128M", "--spool", "128M", timeout=1500)
    note(f"{command} of {side * side * 4 / 2**30:.0f} GiB: peak memory {result.peak_rss_bytes >> 20} MiB, "
         f"{result.cpu_seconds:.0f} s of processor, {out.stat().st_size >> 20} MiB")
    assert result.peak_rss_bytes < 512 << 20
    with rasterio.open(out) as file:
        window = rasterio.windows.Window(512 * 5, 512 * 5, 512, 512)
        np.testing.assert_array_equal(file.read(1, window=window), block)
        assert not file.read(1, window=rasterio.windows.Window(0, side - 512, 512, 512)).any()
    if command == "cog":
        (verdict,) = our_verdicts([out]).values()
        assert not verdict["findings"], verdict
