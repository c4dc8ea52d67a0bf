# SPDX-License-Identifier: Apache-2.0
"""`terrazzo bench write`: what it prints, and that it leaves nothing behind. Not how fast it is."""

import re

import harness
import pytest
import rasterio
import rasters
from test_write import write_source

TIMING = {"seconds", "gb_per_s", "min", "max", "times"}


@pytest.fixture
def source(tmp_path):
    array = rasters.make("uint16", 2, 130, 200)
    path = tmp_path / "source.tif"
    write_source(path, array, "uint16")
    return path


def bench(source, *options, **kwargs):
    folder = source.parent / "bench"
    folder.mkdir(exist_ok=True)
    result = harness.run_ok("bench", "write", source, "--folder", folder, *options, **kwargs)
    assert list(folder.iterdir()) == [], "the file it made is still there"
    return result


def test_json_has_the_promised_shape(source, tmp_path):
    out = bench(source, "--repeat", "2", "--threads", "1", "--compression", "deflate", "--tile-size", "64", "--json").json()
    assert out["file"] == str(source)
    assert (out["width"], out["height"], out["bands"], out["dtype"]) == (200, 130, 2, "uint16")
    assert out["bytes"] == 200 * 130 * 2 * 2
    assert (out["codec"], out["cog"], out["threads"], out["repeat"]) == ("deflate", False, 1, 2)
    assert out["tiles"] == 4 * 3
    for way in ("nowhere", "to_file"):
        timing = out[way]
        assert set(timing) == TIMING
        assert len(timing["times"]) == 2
        assert 0 < timing["min"] <= timing["seconds"] <= timing["max"]
        assert timing["gb_per_s"] == pytest.approx(out["bytes"] / timing["seconds"] / 1e9, rel=1e-6)
    # The file that was timed is the file that convert writes.
    harness.run_ok("convert", source, "-o", tmp_path / "out.tif", "--compression", "deflate", "--tile-size", "64")
    assert out["bytes_written"] == (tmp_path / "out.tif").stat().st_size


def test_cog_is_that_of_the_command(source, tmp_path):
    out = bench(source, "--repeat", "1", "--cog", "--tile-size", "64", "--json").json()
    harness.run_ok("cog", source, "-o", tmp_path / "out.tif", "--tile-size", "64")
    assert out["cog"] is True
    assert out["bytes_written"] == (tmp_path / "out.tif").stat().st_size
    with rasterio.open(tmp_path / "out.tif") as file:
        assert len(file.overviews(1)) == 2
    assert out["tiles"] == 4 * 3 + 2 * 2 + 1


def test_text_is_as_documented(source):
    lines = bench(source, "--repeat", "1", "--threads", "1").stdout.decode().splitlines()
    time = r"\d+(\.\d+)? (us|ms|s)"
    assert lines[0] == str(source)
    assert re.fullmatch(rf"  to nowhere: \d+\.\d\d GB/s, {time} \({time} to {time}\)", lines[1]), lines[1]
    assert re.fullmatch(rf"  to a file:  \d+\.\d\d GB/s, {time} \({time} to {time}\)", lines[2]), lines[2]
    assert re.fullmatch(r"  102 KiB become \d+(\.\d+)? KiB \(\d+\.\d %\), zstd, 1 thread, median of 1", lines[3]), lines[3]
    assert len(lines) == 4


@pytest.mark.parametrize("options, text", [
    (["--folder", "no/such/folder"], "no/such/folder"),
    (["--repeat", "0"], '--repeat "0": expected a whole number, 1 to 100000'),
    (["--compression", "jpeg"], "JPEG is written with unsigned 8-bit samples"),
    (["--quality", "50"], "--quality is for jpeg"),
])
def test_wrong_requests_say_what_is_wrong(source, options, text):
    result = harness.run("bench", "write", source, *options)
    assert result.code in (harness.USAGE, harness.IO), str(result)
    assert text in result.stderr.decode(), str(result)
