# SPDX-License-Identifier: Apache-2.0
"""Overviews that are made while a file is written, against those of GDAL."""

import functools

import harness
import numpy as np
import pytest
import rasterio
import rasters
from pixels import assert_same
from rasterio.enums import Resampling
from test_write import read_overview, write_source


def sample_of_sizes():
    if harness.FULL:
        return [(n, 1026 - n) for n in range(1, 1026)] + [(n, n) for n in range(2, 1026)]
    return [(2, 2), (1, 9), (2, 3), (3, 1025), (4, 5), (7, 1), (16, 15), (31, 33), (64, 64), (65, 127), (129, 255),
            (257, 100), (511, 513), (767, 99), (1023, 33), (1024, 20), (1025, 131)]


@functools.cache
def overview_source(dtype, kind, size):
    height, width = size
    array = rasters.make(dtype, 1 if kind != "alpha" else 4, height, width, seed=3)
    if array.dtype.kind == "f":
        array = np.where(np.isfinite(array), array, 5).astype(dtype)
        array = np.clip(array, -1e6, 1e6)
    if kind in ("nodata", "alpha"):
        hole = (np.add.outer(np.arange(height) * 3, np.arange(width) * 5) % 7 < 3)
        array[-1 if kind == "alpha" else 0][hole] = 0
        array[:, : height // 3, : width // 2] = 0
    return array


@pytest.mark.parametrize("kind", ("plain", "nodata", "mask", "alpha"))
@pytest.mark.parametrize("dtype", ("uint8", "int16", "float32"))
@pytest.mark.parametrize("method", ("nearest", "average"))
def test_overviews_are_those_of_gdal(method, dtype, kind, tmp_path):
    if kind == "alpha" and dtype != "uint8":
        pytest.skip("RGBA is bytes")
    wrong = []
    for size in sample_of_sizes():
        array = overview_source(dtype, kind, size)
        source, theirs, ours = tmp_path / "source.tif", tmp_path / "theirs.tif", tmp_path / "ours.tif"
        extra = {"nodata": 0} if kind == "nodata" else {"photometric": "RGB", "alpha": "YES"} if kind == "alpha" else {}
        # Of rasters of a few pixels GDAL leaves some levels at 0 when factors are odd.
        wanted = (2, 3, 5) if sum(size) % 2 == 1 and min(size) > 20 else (2, 4, 8)
        factors = [f for f, before in zip(wanted, (1, *wanted)) if max(size) > before]  # one of a single pixel at most
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
            for path in (source, theirs):
                write_source(path, array, dtype, **extra)
                if kind == "mask":
                    with rasterio.open(path, "r+") as file:
                        mask = np.full(size, 255, np.uint8)
                        mask[1::3, ::2] = 0
                        mask[size[0] // 2:, : size[1] // 2] = 0
                        file.write_mask(mask)
            with rasterio.open(theirs, "r+") as file:
                file.build_overviews(factors, Resampling[method])
        harness.run_ok("convert", source, "-o", ours, "--tile-size", "64x48", "--compression", "none", "--overviews",
                       ",".join(map(str, factors)), "--resampling", method)
        for level in range(len(factors)):
            with rasterio.open(ours, overview_level=level) as a, rasterio.open(theirs, overview_level=level) as b:
                pixels, expected = a.read(), b.read()
                seen = a.read_masks(1) != 0 if kind == "mask" else np.ones(expected.shape[1:], bool)
                if a.shape != b.shape or not np.array_equal(pixels[:, seen], expected[:, seen]):
                    wrong.append((size, level, "pixels"))
                # GDAL takes the nearest pixel of the mask from full resolution and that of the image from the level
                # before: from the second level on they are not those of the same pixel, and ours are.
                elif kind == "mask" and (method == "average" or level == 0) and not np.array_equal(a.read_masks(1),
                                                                                                   b.read_masks(1)):
                    wrong.append((size, level, "mask"))
    assert not wrong


def test_a_cog_has_the_overviews_of_gdals_cog_driver(tmp_path):
    for size in ((700, 900), (513, 512), (1100, 300), (129, 1), (128, 128)):
        array = overview_source("uint8", "plain", size)
        write_source(tmp_path / "source.tif", array, "uint8")
        with rasterio.open(tmp_path / "theirs.tif", "w", driver="COG", width=size[1], height=size[0], count=1,
                           dtype="uint8", blocksize=128, overview_resampling="average") as out:
            out.write(array)
        harness.run_ok("cog", tmp_path / "source.tif", "-o", tmp_path / "ours.tif", "--tile-size", "128")
        with rasterio.open(tmp_path / "ours.tif") as a, rasterio.open(tmp_path / "theirs.tif") as b:
            assert a.overviews(1) == b.overviews(1)
            levels = len(b.overviews(1))
        for level in range(levels):
            assert_same(read_overview(tmp_path / "ours.tif", level), read_overview(tmp_path / "theirs.tif", level))
