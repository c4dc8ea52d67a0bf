# SPDX-License-Identifier: Apache-2.0
"""Files for the tests of the Python package. rasterio (GDAL) writes most of them, and is the oracle."""
from pathlib import Path

import numpy as np
import pytest
import rasterio
from rasterio.transform import from_origin

import terrazzo

DATA = Path(__file__).resolve().parents[1] / "data"


def terrain(height, width, seed=0):
    """Smooth heights with a little noise."""
    rows, columns = np.mgrid[0:height, 0:width]
    noise = np.random.default_rng(seed).normal(0, 0.5, (height, width))
    return (500 + 80 * np.sin(rows / 31) * np.cos(columns / 47) + noise).astype(np.float32)


def write_with_gdal(path, array, *, crs="EPSG:32632", transform=from_origin(500000, 4200000, 10, 10), **profile):
    pixels = array if array.ndim == 3 else array[None]
    settings = {"driver": "GTiff", "tiled": True, "blockxsize": 128, "blockysize": 128, "compress": "deflate"}
    settings |= {"height": pixels.shape[1], "width": pixels.shape[2], "count": pixels.shape[0], "dtype": pixels.dtype}
    settings |= {"crs": crs, "transform": transform, **profile}
    with rasterio.open(path, "w", **settings) as out:
        out.write(pixels)
    return path


def around(pixels, window, outside):
    """The window of an array that goes on outside with a value for each band."""
    column, row, width, height = window
    bands, rows, columns = pixels.shape
    result = np.empty((bands, height, width), pixels.dtype)
    result[:] = np.reshape(outside, (-1, 1, 1))
    for y in range(max(row, 0), min(row + height, rows)):
        left, right = max(column, 0), min(column + width, columns)
        if left < right:
            result[:, y - row, left - column : right - column] = pixels[:, y, left:right]
    return result


def box_of(window):
    """The box of a window in the files of write_with_gdal()."""
    column, row, width, height = window
    return terrazzo.Bounds(500000 + column * 10, 4200000 - (row + height) * 10, 500000 + (column + width) * 10, 4200000 - row * 10)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rasters")


@pytest.fixture(scope="session")
def dem(folder):
    """float32, one band, 400 x 300 pixels in UTM zone 32."""
    return write_with_gdal(folder / "dem.tif", terrain(300, 400))


@pytest.fixture(scope="session")
def packed(folder):
    """int16 with nodata, scale and offset; three bands."""
    values = (terrain(300, 400)[None] + np.arange(3)[:, None, None]).astype(np.int16)
    values[:, 40:60, 100:150] = -9999
    path = write_with_gdal(folder / "packed.tif", values, nodata=-9999)
    with rasterio.open(path, "r+") as out:
        out.scales, out.offsets = (0.5,) * 3, (10.0,) * 3
        out.descriptions = ("low", "middle", "high")
        out.update_tags(AUTHOR="nobody", NAME="Zürich")
    return path


@pytest.fixture(scope="session")
def large(folder):
    """uint16, 2048 x 2048 pixels with overviews, and slow enough to decode that threads overlap."""
    values = np.random.default_rng(1).integers(0, 3000, (2048, 2048)).astype(np.uint16)
    path = write_with_gdal(folder / "large.tif", values, blockxsize=256, blockysize=256)
    with rasterio.open(path, "r+") as out:
        out.build_overviews([2, 4], rasterio.enums.Resampling.average)
    return path
