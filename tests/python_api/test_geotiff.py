# SPDX-License-Identifier: Apache-2.0
"""open_geotiff() and to_geotiff() keep the contract of xrspatial.geotiff."""
import io

import numpy as np
import pytest
import rasterio

import terrazzo
from terrazzo import compat

xr = pytest.importorskip("xarray")


def test_a_raster_becomes_y_x_with_pixel_centres(dem):
    da = terrazzo.open_geotiff(dem)
    assert da.dims == ("y", "x") and da.name == "dem" and da.dtype == np.float32
    assert float(da.x[0]) == 500005 and float(da.y[0]) == 4199995
    assert da.attrs["crs"] == 32632 and "UTM zone 32N" in da.attrs["crs_wkt"]
    assert da.attrs["transform"] == (10, 0, 500000, 0, -10, 4200000)
    assert da.attrs["georef_status"] == compat.GEOREF_STATUS_FULL and da.attrs["_xrspatial_geotiff_contract"] == 5
    assert "nodata" not in da.attrs and "_xrspatial_no_georef" not in da.attrs
    np.testing.assert_array_equal(da, rasterio.open(dem).read(1))


def test_bands_are_the_last_axis_and_count_from_0(packed):
    whole = rasterio.open(packed).read()
    da = terrazzo.open_geotiff(packed)
    assert da.dims == ("y", "x", "band") and list(da.band) == [0, 1, 2]
    np.testing.assert_array_equal(da, np.moveaxis(whole, 0, -1))
    assert da.attrs["nodata"] == -9999 and da.attrs["nodata_pixels_present"] and not da.attrs["masked_nodata"]
    np.testing.assert_array_equal(terrazzo.open_geotiff(packed, band=1), whole[1])
    for band, error in ((3, IndexError), (-1, IndexError), (True, ValueError), ("a", TypeError)):
        with pytest.raises(error, match="band"):
            terrazzo.open_geotiff(packed, band=band)


def test_windows_and_boxes_move_the_origin(dem):
    whole = rasterio.open(dem).read(1)
    da = terrazzo.open_geotiff(dem, window=(20, 30, 60, 80))
    np.testing.assert_array_equal(da, whole[20:60, 30:80])
    assert da.attrs["transform"][2] == 500300 and da.attrs["transform"][5] == 4199800
    box = terrazzo.open_geotiff(dem, bbox=(500300, 4199400, 500800, 4199800))
    np.testing.assert_array_equal(box, da)
    with pytest.raises(ValueError, match="outside the source extent"):
        terrazzo.open_geotiff(dem, window=(0, 0, 301, 10))
    with pytest.raises(ValueError, match="does not overlap"):
        terrazzo.open_geotiff(dem, bbox=(0, 0, 1, 1))
    with pytest.raises(ValueError, match="mutually exclusive"):
        terrazzo.open_geotiff(dem, bbox=(0, 0, 1, 1), window=(0, 0, 1, 1))


def test_masking_and_unpacking_promote_integers_to_float64(packed):
    whole = rasterio.open(packed).read(1)
    masked = terrazzo.open_geotiff(packed, band=0, masked=True)
    assert masked.dtype == np.float64 and masked.attrs["masked_nodata"]
    np.testing.assert_array_equal(masked, np.where(whole == -9999, np.nan, whole))
    unpacked = terrazzo.open_geotiff(packed, band=0, unpack=True)
    np.testing.assert_array_equal(unpacked, np.where(whole == -9999, np.nan, whole * 0.5 + 10))
    assert unpacked.attrs["scale_factor"] == 0.5 and unpacked.attrs["mask_and_scale_dtype"] == "int16"
    with pytest.raises(ValueError, match="Cannot cast float"):
        terrazzo.open_geotiff(packed, masked=True, dtype="int16")
    with pytest.warns(DeprecationWarning, match="mask_nodata.*deprecated"):
        terrazzo.open_geotiff(packed, mask_nodata=True)


def test_chunks_give_dask_arrays_of_the_same_pixels(packed):
    pytest.importorskip("dask")
    eager = terrazzo.open_geotiff(packed, masked=True)
    lazy = terrazzo.open_geotiff(packed, masked=True, chunks=(128, 100))
    assert lazy.chunks == ((128, 128, 44), (100,) * 4, (3,)) and lazy.dtype == np.float64
    np.testing.assert_array_equal(lazy.compute(), eager)
    assert "nodata_pixels_present" not in lazy.attrs
    with pytest.raises(ValueError, match="chunks=.*task"):
        terrazzo.open_geotiff(packed, chunks=1)


def test_limits_and_gates_refuse_before_pixels_are_read(dem, tmp_path):
    with pytest.raises(compat.PixelSafetyLimitError, match="safety limit"):
        terrazzo.open_geotiff(dem, max_pixels=100)
    with pytest.raises(ValueError, match="file-like"):
        terrazzo.open_geotiff(io.BytesIO(dem.read_bytes()), chunks=10)
    with pytest.raises(TypeError, match="gpu must be a bool"):
        terrazzo.open_geotiff(dem, gpu=1)
    with pytest.raises(ValueError, match="overview_level=3 is out of range"):
        terrazzo.open_geotiff(dem, overview_level=3)
    with pytest.raises(FileNotFoundError):
        terrazzo.open_geotiff(tmp_path / "missing.tif")
    (tmp_path / "a.vrt").write_text("<VRTDataset/>")
    with pytest.raises(NotImplementedError, match="VRT"):
        terrazzo.open_geotiff(tmp_path / "a.vrt")
    terrazzo.write(tmp_path / "lerc.tif", np.zeros((20, 20), np.float32), compression="lerc")
    with pytest.raises(ValueError, match="allow_experimental_codecs"):
        terrazzo.open_geotiff(tmp_path / "lerc.tif")
    with pytest.warns(compat.GeoTIFFFallbackWarning, match="lock.*cache"):
        terrazzo.open_geotiff(dem, lock=True)


def test_rotated_files_need_an_opt_in(tmp_path):
    terrazzo.write(tmp_path / "r.tif", np.zeros((4, 4), np.uint8), crs=32632, transform=(10, 2, 5e5, 2, -10, 4.2e6))
    with pytest.raises(compat.RotatedTransformError, match="rotation"):
        terrazzo.open_geotiff(tmp_path / "r.tif")
    da = terrazzo.open_geotiff(tmp_path / "r.tif", allow_rotated=True)
    assert da.attrs["rotated_affine"] == (10, 2, 5e5, 2, -10, 4.2e6) and list(da.x) == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="drop_rotation=True"):
        terrazzo.to_geotiff(da, tmp_path / "s.tif")


@pytest.mark.parametrize("chunks", [None, 100])
@pytest.mark.parametrize("cog", [False, True])
def test_what_is_written_reads_back(packed, tmp_path, chunks, cog):
    if chunks:
        pytest.importorskip("dask")
    da = terrazzo.open_geotiff(packed, masked=True, chunks=chunks)
    path = str(tmp_path / "a.tif")
    assert terrazzo.to_geotiff(da, path, cog=cog, tile_size=64, compression="deflate", predictor=3) == path
    with rasterio.open(path) as got:
        assert got.crs.to_epsg() == 32632 and got.nodata == -9999 and got.transform.c == 500000
        np.testing.assert_array_equal(got.read(), rasterio.open(packed).read())
        assert got.profile["blockxsize"] == 64 and bool(got.overviews(1)) == cog and got.tags()["AUTHOR"] == "nobody"
    xr.testing.assert_equal(terrazzo.open_geotiff(path, masked=True), da.compute())


def test_coordinates_give_the_transform(tmp_path):
    da = xr.DataArray(np.arange(12.0).reshape(3, 4), dims=("y", "x"), coords={"y": [25, 15, 5], "x": [2, 4, 6, 8]})
    terrazzo.to_geotiff(da, tmp_path / "a.tif", crs=3857)
    with rasterio.open(tmp_path / "a.tif") as got:
        assert tuple(got.transform)[:6] == (2, 0, 1, 0, -10, 30)
    with pytest.raises(compat.NonUniformCoordsError, match="non.?uniform"):
        terrazzo.to_geotiff(da.assign_coords(x=[0, 1, 3, 4]), tmp_path / "b.tif")
    terrazzo.to_geotiff(da.expand_dims("band"), tmp_path / "c.tif")
    assert terrazzo.open_geotiff(tmp_path / "c.tif").dims == ("y", "x")


def test_pack_reverses_unpack(packed, tmp_path):
    da = terrazzo.open_geotiff(packed, band=0, unpack=True)
    terrazzo.to_geotiff(da, tmp_path / "a.tif", pack=True)
    with rasterio.open(tmp_path / "a.tif") as got:
        assert got.dtypes == ("int16",)
        np.testing.assert_array_equal(got.read(1), rasterio.open(packed).read(1))
    with pytest.raises(ValueError, match="no unpack state"):
        terrazzo.to_geotiff(terrazzo.open_geotiff(packed), tmp_path / "b.tif", pack=True)


@pytest.mark.parametrize("keywords, error, message", [
    ({"compression": "brotli"}, ValueError, "Unknown compression"), ({"compression": 5}, TypeError, "must be a str"),
    ({"compression": "lz4"}, ValueError, "allow_experimental_codecs"), ({"compression": "jpeg"}, ValueError, "internal_only"),
    ({"compression": "zstd", "compression_level": 23}, ValueError, "1-22"), ({"tile_size": 100}, ValueError, "multiple of 16"),
    ({"nodata": True}, TypeError, "numeric"), ({"nodata": "x"}, ValueError, "numeric"), ({"max_z_error": 1}, ValueError, "max_z"),
    ({"predictor": 3}, ValueError, "predictor=3"), ({"cog": True, "tiled": False}, ValueError, "cog=True"),
    ({"cog": True, "overview_levels": [3]}, ValueError, "power of two"), ({"photometric": "rgb"}, ValueError, "at least 3"),
])  # fmt: skip
def test_wrong_arguments_are_refused(tmp_path, keywords, error, message):
    with pytest.raises(error, match=message):
        terrazzo.to_geotiff(np.zeros((20, 20), np.uint8), tmp_path / "a.tif", **keywords)
    assert not list(tmp_path.iterdir())


def test_dims_that_are_no_bands_are_refused(tmp_path):
    for dims, message in ((("time", "y", "x"), "temporal leading"), (("y", "x", "time"), "temporal trailing"),
                          (("a", "y", "x"), "ambiguous dims"), (("y", "x", "depth"), "non-band trailing")):
        with pytest.raises(ValueError, match=message):
            terrazzo.to_geotiff(xr.DataArray(np.zeros((3, 3, 3)), dims=dims), tmp_path / "a.tif")
    with pytest.raises(ValueError, match="Expected 2D or 3D array, got 1D"):
        terrazzo.to_geotiff(np.zeros(3), tmp_path / "a.tif")


def test_chunks_of_a_file_that_was_replaced_have_other_names(tmp_path):
    pytest.importorskip("dask")
    path = tmp_path / "a.tif"
    for number in (1, 2):
        terrazzo.to_geotiff(np.full((8, 8), number, np.int16), path)
        opened = terrazzo.open_geotiff(path, chunks=4)
        assert terrazzo.open_geotiff(path, chunks=4).data.name == opened.data.name
        if number == 2:
            assert int((opened + first).max()) == 3
        first = opened
