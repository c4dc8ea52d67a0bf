# SPDX-License-Identifier: Apache-2.0
"""Which error open_geotiff() raises of several, and what it tells of files without a transform, as xrspatial.geotiff."""
import io
import pickle
import zlib

import numpy as np
import pytest
import tifffile
from test_geotiff_attrs import SCALE, TIE, geo_keys, made

import terrazzo
from terrazzo import compat

pytest.importorskip("xarray")

UTM = geo_keys((1024, 0, 1, 1), (1025, 0, 1, 1), (3072, 0, 1, 32632))
UNPARSEABLE = geo_keys((1024, 0, 1, 1), (1026, 34737, 13, 0), (3072, 0, 1, 32767), text="PROJCS[bogus|")
FLAT = (33550, 12, 3, (0.0, 10.0, 0.0), True)


def nodata(text):
    return (42113, 2, 0, text, True)


@pytest.mark.parametrize("tags, keywords, error", [
    ((FLAT, TIE), {"band": 9}, compat.DegeneratePixelSizeError),
    ((FLAT, TIE), {"max_pixels": 1}, compat.DegeneratePixelSizeError),
    ((FLAT, TIE, nodata("nan")), {}, compat.DegeneratePixelSizeError),
    ((SCALE, TIE, nodata("7.5")), {"bbox": (1, 2, 3)}, compat.InvalidIntegerNodataError),
    ((SCALE, TIE, nodata("nan")), {"band": 9}, compat.InvalidIntegerNodataError),
    ((SCALE, TIE), {"band": 9, "max_pixels": 1}, IndexError),
    ((SCALE, TIE, (274, 3, 1, 0, True)), {"band": 9}, IndexError),
    ((SCALE, TIE, (274, 3, 1, 0, True)), {"max_pixels": 1}, compat.PixelSafetyLimitError),
])  # fmt: skip
def test_checks_of_a_file_have_the_order_of_the_reference(tmp_path, tags, keywords, error):
    with pytest.raises(error):
        terrazzo.open_geotiff(made(tmp_path, *tags, pixels=np.zeros((3, 4), np.int16)), **keywords)


def test_a_window_is_checked_before_band_and_crs(tmp_path):
    for tags, keywords in ((UTM, {"band": 9}), (UNPARSEABLE, {})):
        with pytest.raises(ValueError, match="outside the source extent"):
            terrazzo.open_geotiff(made(tmp_path, *tags), window=(0, 0, 99, 99), **keywords)


def test_a_gpu_that_is_no_truth_value_is_refused_after_parse_coordinates(dem):
    with pytest.raises(ValueError, match="parse_coordinates=False.*gpu=True"):
        terrazzo.open_geotiff(dem, gpu="yes", parse_coordinates=False)


@pytest.mark.parametrize("tags", [
    geo_keys((1024, 0, 1, 1), (1025, 0, 1, 2), (3072, 0, 1, 32632))[2:],
    (*geo_keys((1025, 0, 1, 2)), (34264, 12, 16, (10.0, 1, 0, 0, 0, -10.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0), True)),
])  # fmt: skip
def test_points_are_told_without_a_transform(tmp_path, tags):
    assert terrazzo.open_geotiff(made(tmp_path, *tags), allow_rotated=True).attrs["raster_type"] == "point"


def test_points_are_written_without_a_transform(tmp_path):
    xr = pytest.importorskip("xarray")
    data = xr.DataArray(np.zeros((2, 3)), dims=("y", "x"), attrs={"raster_type": "point", "crs": 32632})
    assert terrazzo.open_geotiff(terrazzo.to_geotiff(data, tmp_path / "a.tif")).attrs["raster_type"] == "point"


def levels(path, kind, *tags):
    """A raster with tags and a smaller image of a NewSubfileType without."""
    with tifffile.TiffWriter(path) as file:
        file.write(np.zeros((4, 6), np.int16), extratags=tags, metadata=None, description="hills")
        file.write(np.zeros((2, 3), np.int16), subfiletype=kind, metadata=None)
    return terrazzo.open_geotiff(path, overview_level=1, masked=True, allow_rotated=True)


def test_overviews_inherit_and_pages_do_not(tmp_path):
    tags = *UTM, nodata("7"), (42112, 2, 0, '<GDALMetadata><Item name="A">b</Item></GDALMetadata>', True)
    overview, page = levels(tmp_path / "a.tif", 1, *tags), levels(tmp_path / "b.tif", 0, *tags)
    assert overview.dtype == np.float64 and overview.attrs["nodata"] == 7 and overview.attrs["crs"] == 32632
    assert overview.attrs["gdal_metadata"] == {"A": "b"} and overview.attrs["image_description"] == "hills"
    assert page.dtype == np.int16 and not {"nodata", "crs", "gdal_metadata", "image_description"} & set(page.attrs)


@pytest.mark.parametrize("tags", [UTM[2:], ((34264, 12, 16, (10.0, 1, 0, 0, 0, -10.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1.0), True),)])
def test_overviews_inherit_no_place_without_a_transform(tmp_path, tags):
    assert levels(tmp_path / "a.tif", 1, *tags).attrs["georef_status"] == "none"


@pytest.mark.parametrize("chunks", [None, 8])
def test_damaged_deflate_is_an_error_of_zlib_too(tmp_path, chunks):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.arange(256, dtype=np.uint8).reshape(16, 16), compression="zlib", metadata=None)
    with tifffile.TiffFile(path) as file:
        start = file.pages[0].tags[273].value[0]
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(b"\xff" * 8)
    if chunks is not None:
        pytest.importorskip("dask")
    with pytest.raises(zlib.error) as caught:
        terrazzo.open_geotiff(path, chunks=chunks).compute()
    error = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(error, terrazzo.MalformedError) and isinstance(error, ValueError) and error.tile == (0, 0, 0)
    with pytest.raises(compat.DamagedDeflateError, match="size mismatch"):
        terrazzo.open_geotiff(io.BytesIO(path.read_bytes()))
