# SPDX-License-Identifier: Apache-2.0
"""`cog --tiling-scheme GoogleMapsCompatible` beside GDAL's COG driver: size, place, metadata and pixels."""

import math
import shutil
import subprocess

import harness
import numpy as np
import pytest
import rasterio
import rasterio.shutil
from affine import Affine

HALF_SIDE = 6378137 * math.pi


def level_pixel(level):
    return HALF_SIDE / 128 / 2**level


def smooth(shape, seed=3):
    """Values that neighbours share, as those of terrain do."""
    random = np.random.default_rng(seed)
    rows, columns = np.mgrid[0:shape[0], 0:shape[1]]
    waves = sum(random.uniform(5, 20) * np.sin(rows / random.uniform(9, 40) + columns / random.uniform(9, 40) + k)
                for k in range(6))
    return 100 + waves


def make(path, size, place, pixel, *, dtype="float32", nodata=None, count=1, crs="EPSG:3857"):
    width, height = size
    x_pixel, y_pixel = pixel if isinstance(pixel, tuple) else (pixel, pixel)
    data = np.stack([smooth((height, width), seed) for seed in range(count)]).astype(dtype)
    with rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=count, dtype=dtype, crs=crs,
                       nodata=nodata, transform=Affine(x_pixel, 0, place[0], 0, -y_pixel, place[1])) as file:
        file.write(data)
    return path


def both(source, tmp_path, *options, **of_gdal):
    """Our file and GDAL's."""
    ours, theirs = tmp_path / "ours.tif", tmp_path / "gdal.tif"
    harness.run_ok("cog", source, "-o", ours, "--tiling-scheme", "GoogleMapsCompatible", *options)
    rasterio.shutil.copy(source, theirs, driver="COG", TILING_SCHEME="GoogleMapsCompatible", **of_gdal)
    return ours, theirs


def interior(valid, edge):
    """Valid pixels further than `edge` pixels from invalid ones."""
    inner = valid.copy()
    for _ in range(edge):
        padded = np.pad(inner, 1)
        inner = inner & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    return inner


PLACES = {
    "on no grid": ((700, 500), (1_000_000.3, 6_000_000.7), 100.0),
    "coarser than the level": ((400, 300), (-9_000_123, -3_000_456), 190.0),
    "finer than the level": ((600, 500), (-9_000_123, 12_000_456), 125.0),
    "pixels of the level": ((700, 300), (-HALF_SIDE + 77_003 * level_pixel(10), HALF_SIDE - 90_111 * level_pixel(10)),
                            level_pixel(10)),
    "one tile": ((256, 256), (0, 0), level_pixel(12)),
    "oblong pixels": ((300, 400), (1_000_000, 6_000_000), (100.0, 170.0)),
    "the edge of the world": ((300, 300), (HALF_SIDE - 150 * 600, 0), 600.0),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("more", [{}, {"BLOCKSIZE": 512}, {"ALIGNED_LEVELS": 3}], ids=str)
def test_size_place_and_metadata_are_those_of_gdal(name, more, tmp_path):
    options = {"BLOCKSIZE": "--tile-size", "ALIGNED_LEVELS": "--aligned-levels"}
    source = make(tmp_path / "a.tif", *PLACES[name], nodata=-9999)
    ours, theirs = both(source, tmp_path, *[word for key, value in more.items() for word in (options[key], value)], **more)
    with rasterio.open(ours) as a, rasterio.open(theirs) as b:
        assert (a.width, a.height, a.block_shapes) == (b.width, b.height, b.block_shapes)
        np.testing.assert_allclose(tuple(a.transform), tuple(b.transform), rtol=0, atol=1e-9)
        assert a.overviews(1) == b.overviews(1)
        # rasterio gives GDAL the names of options in capitals.
        assert {k: v.lower() for k, v in a.tags(ns="TILING_SCHEME").items()} == {
            k: v.lower() for k, v in b.tags(ns="TILING_SCHEME").items()}
        assert a.tags(ns="TILING_SCHEME")["NAME"] == "GoogleMapsCompatible"
    result = harness.run("validate", ours)
    assert result.code == harness.OK, str(result)


def compare(ours, theirs, *, edge, tolerance):
    with rasterio.open(ours) as a, rasterio.open(theirs) as b:
        mine, other = a.read(), b.read(list(range(1, a.count + 1)))
        # rasterio takes GDAL's alpha band for a mask only if it has bytes.
        mine_valid, other_valid = a.dataset_mask() > 0, (b.read(b.count) if b.count > a.count else b.dataset_mask()) > 0
    assert other_valid.any()
    inner = interior(other_valid, edge)
    assert inner.any() and mine_valid[inner].all()
    difference = np.abs(mine.astype("float64") - other.astype("float64"))[:, inner]
    assert difference.max() <= tolerance, f"{difference.max()} at most {tolerance}"
    return mine_valid, other_valid


@pytest.mark.parametrize("dtype, nodata", [("float32", -9999), ("uint8", 0), ("int16", None)])
@pytest.mark.parametrize("name", ["pixels of the level", "one tile"])
def test_pixels_of_the_level_are_kept_exactly(name, dtype, nodata, tmp_path):
    ours, theirs = both(make(tmp_path / "a.tif", *PLACES[name], dtype=dtype, nodata=nodata), tmp_path)
    mine, other = compare(ours, theirs, edge=0, tolerance=0)
    np.testing.assert_array_equal(mine, other)


METHODS = ["nearest", "bilinear", "cubic", "cubic-spline", "lanczos", "average"]


# docs/writing.md states the tolerance: GDAL's warper stretches its kernels by other rules than its RasterIO, which are
# ours, and treats edges of the raster differently.
@pytest.mark.parametrize("name", ["on no grid", "coarser than the level", "finer than the level"])
@pytest.mark.parametrize("method", METHODS)
def test_resampled_pixels_are_near_those_of_gdal(name, method, tmp_path):
    source = make(tmp_path / "a.tif", *PLACES[name], nodata=-9999)
    ours, theirs = both(source, tmp_path, "--resampling", method,
                        WARP_RESAMPLING=method.replace("-", "").upper())
    compare(ours, theirs, edge=4, tolerance=0 if method == "nearest" else 0.5)


def test_a_raster_without_nodata_gets_a_mask(tmp_path):
    source = make(tmp_path / "a.tif", (300, 200), (1_000_000, 6_000_000), 150.0, dtype="uint8", count=3)
    ours, theirs = both(source, tmp_path, "--resampling", "nearest", WARP_RESAMPLING="NEAREST")
    mine, other = compare(ours, theirs, edge=1, tolerance=0)
    assert (mine != other).mean() < 0.01 and not mine.all()
    with rasterio.open(ours) as a, rasterio.open(theirs) as b:
        assert (a.count, b.count) == (3, 4), "GDAL adds an alpha band"
        assert rasterio.enums.MaskFlags.per_dataset in a.mask_flag_enums[0]


def test_the_file_does_not_depend_on_the_memory(tmp_path):
    source = make(tmp_path / "a.tif", *PLACES["on no grid"], nodata=-9999)
    files = []
    for size in ("1M", "256M"):
        files.append(tmp_path / f"{size}.tif")
        harness.run_ok("cog", source, "-o", files[-1], "--tiling-scheme", "web-mercator", "--buffer", size)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_another_crs_is_told_what_to_do_first(tmp_path):
    source = make(tmp_path / "a.tif", (30, 20), (500_000, 4_000_000), 10.0, crs="EPSG:32632")
    result = harness.run("cog", source, "-o", tmp_path / "b.tif", "--tiling-scheme", "GoogleMapsCompatible")
    assert result.code == harness.USAGE, str(result)
    assert b"EPSG:32632" in result.stderr and b"gdalwarp -t_srs EPSG:3857" in result.stderr


@pytest.mark.skipif(shutil.which("gdalinfo") is None, reason="no gdalinfo")
def test_gdalinfo_shows_the_tiling_scheme(tmp_path):
    source = make(tmp_path / "a.tif", *PLACES["on no grid"], nodata=-9999)
    harness.run_ok("cog", source, "-o", tmp_path / "b.tif", "--tiling-scheme", "GoogleMapsCompatible")
    shown = subprocess.run(["gdalinfo", "-mdd", "TILING_SCHEME", tmp_path / "b.tif"], capture_output=True, text=True)
    assert "NAME=GoogleMapsCompatible" in shown.stdout and "ZOOM_LEVEL=11" in shown.stdout, shown.stdout
