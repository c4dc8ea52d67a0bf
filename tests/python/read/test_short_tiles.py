# SPDX-License-Identifier: Apache-2.0
"""Tiles at the edge whose stream ends inside their padding: no pixel is missing, so they are read, as GDAL reads them."""

import functools
import lzma
import zlib

import harness
import imagecodecs
import numpy as np
import pytest
import rasterio
import small_tiff
import tifffile

pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
WIDTH, HEIGHT, TILE = 35, 37, 64

NONE, LZW, DEFLATE, PACKBITS, LZMA, ZSTD, LZ4 = 1, 5, 8, 32773, 34925, 50000, 50004
ENCODERS = {
    "none": (NONE, bytes),
    "packbits": (PACKBITS, lambda b: imagecodecs.packbits_encode(b)),
    "lzw": (LZW, lambda b: imagecodecs.lzw_encode(b)),
    "deflate": (DEFLATE, zlib.compress),
    "lzma": (LZMA, lambda b: lzma.compress(b, lzma.FORMAT_XZ, lzma.CHECK_NONE)),
    "zstd": (ZSTD, lambda b: imagecodecs.zstd_encode(b)),
    "lz4": (LZ4, lambda b: imagecodecs.lz4f_encode(b)),
}
GDAL_HAS_NOT = {"lz4"}


@functools.cache
def tiles(dtype, bands, separate, predictor):
    """The pixels (bands, rows, columns) and the bytes of the tile, or of one tile a band; padding is noise."""
    numbers = np.random.default_rng(7)
    tile = numbers.integers(0, 255, (TILE, TILE, bands)).astype(dtype)
    pixels = np.moveaxis(tile, -1, 0)[:, :HEIGHT, :WIDTH].copy()
    planes = [tile[:, :, [band]] for band in range(bands)] if separate else [tile]
    stored = []
    for plane in planes:
        if predictor == 2:
            plane = np.concatenate([plane[:, :1], np.diff(plane, axis=1)], axis=1).astype(dtype)
        if predictor == 3:
            plane = imagecodecs.floatpred_encode(plane, axis=1, dist=plane.shape[-1])
        stored.append(plane.tobytes())
    return pixels, stored


def used_bytes(stored, whole_rows):
    """How much of a tile's bytes its pixels take."""
    row = len(stored) // TILE
    return HEIGHT * row if whole_rows else (HEIGHT - 1) * row + row * WIDTH // TILE


CASES = [("uint8", 1, False, 1), ("uint8", 3, False, 2), ("uint16", 2, True, 2), ("float32", 1, False, 3)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("codec", ENCODERS)
def test_a_stream_that_ends_inside_the_padding_is_read(codec, case, tmp_path):
    dtype, bands, separate, predictor = case
    compression, encode = ENCODERS[codec]
    if compression in (NONE, PACKBITS) and predictor != 1:
        predictor = 1  # TIFF knows no predictor with these
    pixels, stored = tiles(dtype, bands, separate, predictor)
    tags = {339: (small_tiff.SHORT, [3 if dtype == "float32" else 1] * bands)}

    def write(streams):
        path = tmp_path / "short.tif"
        path.write_bytes(small_tiff.tiled(
            WIDTH, HEIGHT, TILE, streams, bands=bands, bits=8 * np.dtype(dtype).itemsize, compression=compression,
            separate=separate, predictor=predictor, tags=tags))
        return path

    # Whole rows of the image, and where pixels do not depend on what is right of them, up to the last pixel.
    for whole_rows in [True] if predictor == 3 else [True, False]:
        ends = [used_bytes(s, whole_rows) for s in stored]
        # A stream of fewer bytes than the tile has.
        path = write([encode(s[:end]) for s, end in zip(stored, ends)])
        np.testing.assert_array_equal(harness.read(path, folder=tmp_path), pixels)
        np.testing.assert_array_equal(harness.read(path, "--window", "3,4,30,33", folder=tmp_path),
                                      pixels[:, 4:37, 3:33])
        np.testing.assert_array_equal(harness.read(path, "--strict", folder=tmp_path), pixels)
        if whole_rows and codec not in GDAL_HAS_NOT:
            with rasterio.open(path) as file:
                np.testing.assert_array_equal(file.read(), pixels)
    # One byte less, and the last pixel is missing.
    path = write([encode(s[:end - 1]) for s, end in zip(stored, ends)])
    result = harness.run("checksum", "--json", path)
    assert result.code == harness.MALFORMED, str(result)
    assert result.error()["tile"] is not None


@pytest.mark.parametrize("codec", [c for c in ENCODERS if c != "none"])
def test_a_stream_that_is_cut_is_right_or_refused(codec, tmp_path):
    """Cut anywhere: an error, or every pixel; GDAL never reads what we refuse when the cut is below the image."""
    compression, encode = ENCODERS[codec]
    pixels, (stored,) = tiles("uint8", 1, False, 1)
    whole = encode(stored)
    path = tmp_path / "cut.tif"
    accepted = []
    for end in np.linspace(1, len(whole), 40).astype(int):
        path.write_bytes(small_tiff.tiled(WIDTH, HEIGHT, TILE, [whole[:end]], compression=compression))
        result = harness.run("read", path, "--out", tmp_path / "x.npy")
        if result.code == harness.OK:
            accepted.append(end)
            np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), pixels)
        else:
            assert result.code == harness.MALFORMED, str(result)
            assert not accepted, f"{end} bytes are refused, {accepted[0]} are not"
    if codec not in ("zstd", "lz4"):  # noise: these store it in one piece, which is good as a whole or not at all
        assert accepted[0] < 0.7 * len(whole)


@pytest.mark.parametrize("kind, name", [(2, "CCITTRLE"), (3, "CCITTFAX3"), (4, "CCITTFAX4")])
def test_codecs_of_libtiff_have_it_too(kind, name, tmp_path):
    """Rows of the image alone, as a strip of them has been encoded."""
    rows = np.repeat(np.random.default_rng(3).integers(0, 2, (HEIGHT, TILE // 8)), 8, axis=1).astype(np.uint8)
    strip = tmp_path / "strip.tif"
    with rasterio.open(strip, "w", driver="GTiff", width=TILE, height=HEIGHT, count=1, dtype="uint8", NBITS=1,
                       COMPRESS=name, BLOCKYSIZE=HEIGHT) as file:
        file.write(rows, 1)
    with tifffile.TiffFile(strip) as file:
        page = file.pages[0]
        stream = strip.read_bytes()[page.dataoffsets[0]:][:page.databytecounts[0]]
        tags = {262: (small_tiff.SHORT, [int(page.photometric)])}
    path = tmp_path / "fax.tif"
    path.write_bytes(small_tiff.tiled(WIDTH, HEIGHT, TILE, [stream], bits=1, compression=kind, tags=tags))
    with rasterio.open(path) as file:
        np.testing.assert_array_equal(file.read(1), rows[:, :WIDTH])
    np.testing.assert_array_equal(harness.read(path, folder=tmp_path)[0], rows[:, :WIDTH])
