# SPDX-License-Identifier: Apache-2.0
"""The memory limit holds for what a file makes a writer hold, and for a file from standard input: `limit` errors, not kills."""


import crafted
import harness
import numpy as np
import pytest
import small_tiff
import tifffile
from small_tiff import BYTE, LONG, SHORT

LIMIT_BYTES = 256 << 20
SLACK_BYTES = 64 << 20  # of the process itself


def run(*args, **kwargs):
    result = harness.run(*args, "--memory-limit", LIMIT_BYTES, timeout=60, **kwargs)
    assert not result.timed_out and result.signal is None, str(result)
    assert result.code in (harness.OK, harness.LIMIT), str(result)
    assert result.peak_rss_bytes < LIMIT_BYTES + SLACK_BYTES, f"{result.peak_rss_bytes >> 20} MiB: {result}"
    return result


def sparse(width, height, tile_width, tile_height):
    return small_tiff.tiff({
        256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, [8]), 259: (SHORT, [1]), 262: (SHORT, [1]), 277: (SHORT, [1]),
        322: (LONG, [tile_width]), 323: (LONG, [tile_height]), 324: (LONG, [0]), 325: (BYTE, [0])})


@pytest.mark.parametrize("resampling", ["average", "rms", "mode", "cubic"])
def test_overviews_of_2_31_rows_are_refused(resampling, tmp_path):
    """A reduction has tables for its columns and rows. Without memory for them, the process was aborted."""
    path = tmp_path / "tall.tif"
    content = sparse(1, (1 << 31) - 1, 16, 1 << 16)
    path.write_bytes(content)
    result = harness.run("overviews", path, "--json", "--factors", "2", "--resampling", resampling, "--memory-limit", LIMIT_BYTES,
                         address_space=2 << 30, timeout=60)
    assert result.code == harness.LIMIT, str(result)
    assert path.read_bytes() == content


def many_bands(path, bands):
    tiff = crafted.Tiff()
    pixels = tiff.add(b"\1" * (2 * bands))
    bits = tiff.array(crafted.SHORT, [8] * bands)
    tiff.chain({256: 2, 257: 1, 258: bits, 259: (SHORT, 1), 262: (SHORT, 1), 273: pixels, 277: (SHORT, bands), 278: 1,
                279: 2 * bands})
    return tiff.write(path)


@pytest.mark.parametrize("compression", ["zstd", "none", "lzw"])
@pytest.mark.parametrize("bands", [300, 4096])
def test_two_pixels_of_many_bands_do_not_fill_the_memory(bands, compression, tmp_path):
    """A tile of the new file has 512 x 512 pixels of all bands."""
    result = run("convert", many_bands(tmp_path / "x.tif", bands), "-o", tmp_path / "y.tif", "--compression", compression)
    assert (result.code == harness.LIMIT) == (bands > 300), str(result)
    if bands > 300:
        assert b"tiles of the new file" in result.stderr
        run("convert", tmp_path / "x.tif", "-o", tmp_path / "y.tif", "--compression", compression, "--tile-size", 16,
            "--interleave", "band")


def test_rows_of_overviews_of_many_bands_are_counted(tmp_path):
    run("overviews", many_bands(tmp_path / "x.tif", 4096), "--factors", 2)


def test_a_file_from_standard_input_is_held_once(tmp_path):
    path = tmp_path / "x.tif"
    tifffile.imwrite(path, np.zeros((14000, 16384), np.uint8), tile=(256, 256))
    assert 200 << 20 < path.stat().st_size < LIMIT_BYTES
    run("info", "-", "--json", stdin=path)


def test_a_list_without_line_ends_is_refused_at_once(tmp_path):
    result = harness.run("mosaic", "--inputs-from", "/dev/zero", "-o", tmp_path / "x.tif", timeout=30)
    assert result.code == harness.USAGE and result.peak_rss_bytes < 100 << 20, str(result)
