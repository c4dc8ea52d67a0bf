# SPDX-License-Identifier: Apache-2.0
"""Files of a few bytes whose sizes multiply to more than 64 bits, or to nothing: an error at once, in little memory."""

import harness
import pytest
import small_tiff
from small_tiff import BYTE, LONG, SHORT

ADDRESS_SPACE_BYTES = 2 << 30
TIMEOUT_S = 20  # a loop over 2^60 blocks takes years


def huge(width, height, tile_width, tile_height, planes=1, compression=1, bits=8):
    return small_tiff.tiff({
        256: (LONG, [width]), 257: (LONG, [height]), 258: (SHORT, [bits]), 259: (SHORT, [compression]),
        262: (SHORT, [1]), 277: (SHORT, [planes]), 284: (SHORT, [2]), 322: (LONG, [tile_width]),
        323: (LONG, [tile_height]), 324: (LONG, [0]), 325: (BYTE, [0])})


# Blocks over all planes, in 64 bits: none; one for each 2^30 there are; just one.
WRAPPED = {
    "2^64 blocks": huge(1 << 30, 1 << 30, 1, 1, 16),
    "2^64 and 2^34 blocks": huge((1 << 30) + 1, 1 << 30, 1, 1, 16),
    "2^65 blocks": huge(1 << 30, 1 << 30, 1, 1, 32, compression=8),
    "2^31 blocks": huge(1 << 24, 1 << 15, 16, 16, 64),
}


def commands(path, folder):
    return [
        ["info", "--json", path],
        ["info", "--check", "--json", path],
        ["stats", "--json", path],
        ["preview", "--json", path, "--out", folder / "x.png"],
        ["read", "--json", path, "--target-size", "4,4", "--out", folder / "x.npy"],
        ["read", "--json", path, "--window", "0,0,4,4", "--out", folder / "x.npy"],
        ["checksum", "--json", path],
        ["plan", "--json", path],
        ["convert", "--json", path, "--out", folder / "x.tif"],
        ["validate", "--json", path],
    ]


@pytest.mark.parametrize("name", WRAPPED)
def test_more_blocks_than_can_be_counted_are_refused(name, tmp_path, note_peak):
    path = tmp_path / "wrapped.tif"
    path.write_bytes(WRAPPED[name])
    assert path.stat().st_size < 200
    for command in commands(path, tmp_path):
        result = harness.run(*command, timeout=TIMEOUT_S, address_space=ADDRESS_SPACE_BYTES)
        assert not result.timed_out and result.signal is None, str(result)
        if command[0] == "validate":
            assert result.code != harness.OK, str(result)
            continue
        assert result.code == harness.MALFORMED, str(result)
        error = result.error()
        assert error["ifd"] == 0 and error["tag"] == 322, error
        assert result.peak_rss_bytes < 200 << 20, str(result)
        note_peak(result.peak_rss_bytes, f"{command[0]} {name}")


# As many blocks as may be missing, of half a TiB each or of 16 pixels: nothing to read but fill.
SPARSE = {
    "2^20 blocks of 2^39 bytes": huge(1 << 30, 1 << 29, 1 << 20, 1 << 19),
    "2^20 blocks of 2^39 bytes, deflate": huge(1 << 30, 1 << 29, 1 << 20, 1 << 19, compression=8),
    "2^20 blocks of 16 pixels": huge(1 << 11, 1 << 11, 4, 4, 4),
    "2^20 blocks of 16 pixels, deflate": huge(1 << 11, 1 << 11, 4, 4, 4, compression=8),
}


@pytest.mark.parametrize("name", SPARSE)
def test_a_small_result_of_a_huge_sparse_raster_takes_little(name, tmp_path):
    """A target size takes as long as its own pixels, not as the raster's."""
    path = tmp_path / "sparse.tif"
    path.write_bytes(SPARSE[name])
    for options in (["--target-size", "50,40"], ["--window", "5,6,50,40"]):
        result = harness.run("read", path, *options, "--out", tmp_path / "x.raw", timeout=TIMEOUT_S,
                             address_space=ADDRESS_SPACE_BYTES)
        if "2^39 bytes, deflate" in name:
            assert result.code == harness.LIMIT, f"room for a decoded block is asked for before it is found missing: {result}"
            continue
        assert result.code == harness.OK, str(result)
        assert set((tmp_path / "x.raw").read_bytes()) == {0}


def test_a_result_that_no_file_holds_is_refused(tmp_path):
    """2^63 bytes and more: places in the file would wrap, and bands be written over one another."""
    path = tmp_path / "sparse.tif"
    path.write_bytes(SPARSE["2^20 blocks of 2^39 bytes"])
    for options in ([], ["--raw"], ["--interleave", "pixel"]):
        result = harness.run("read", "--json", path, "--out", tmp_path / "x.npy", "--bands", "1,1,1,1", "--dtype",
                             "float64", *options, timeout=TIMEOUT_S, address_space=ADDRESS_SPACE_BYTES)
        assert result.code == harness.LIMIT, str(result)
