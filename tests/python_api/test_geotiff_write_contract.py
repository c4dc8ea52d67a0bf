# SPDX-License-Identifier: Apache-2.0
"""Details of to_geotiff() that a comparison with xrspatial.geotiff 0.10.20 over random arguments showed to differ."""
import io

import numpy as np
import pytest
import tifffile

import terrazzo
from terrazzo import compat

xr = pytest.importorskip("xarray")
pyproj = pytest.importorskip("pyproj")


def raster(dims=("y", "x"), dtype=np.float32, rows=5, **attrs):
    coords = {dims[-2]: 50 - 10.0 * np.arange(rows), dims[-1]: 100 + 10.0 * np.arange(6)}
    shape = [3] * (len(dims) - 2) + [rows, 6]
    return xr.DataArray(np.arange(np.prod(shape)).reshape(shape).astype(dtype), dims=dims, coords=coords, attrs=attrs)


def written(path, data, **keywords):
    return terrazzo.open_geotiff(terrazzo.to_geotiff(data, path / "a.tif", **keywords))


# --- The order of checks


UNEVEN = xr.DataArray(np.zeros((3, 2)), dims=("y", "x"), coords={"y": [0, 1, 2.00001], "x": [0.0, 1]})


@pytest.mark.parametrize("data, keywords, error, message", [
    (raster(("time", "y", "x"), crs=4326.0), {}, TypeError, "crs must be"),
    (raster(("time", "y", "x")), {"crs": 7405}, compat.NonRepresentableEPSGCRSError, "compound"),
    (UNEVEN, {"crs": "bogus"}, compat.NonUniformCoordsError, "non-uniform"),
    (raster(rows=1), {"crs": "bogus"}, ValueError, "Cannot infer"),
    (raster(dtype=np.complex64), {"crs": "bogus"}, compat.UnparseableCRSError, "bogus"),
    (raster(nodata="x"), {"crs": "bogus"}, ValueError, "nodata must be numeric"),
    (raster(transform=(1, 0.5, 0, 0, -1, 0)), {"compression": 5}, TypeError, "compression must be a str"),
    (raster(nodata=True), {"predictor": 5}, ValueError, "predictor"),
    (raster(), {"predictor": 5, "photometric": 1.5}, ValueError, "predictor"),
    (raster(dtype=np.complex64), {"photometric": 1.5}, TypeError, "photometric"),
    (raster(nodatavals=(7, 8)), {"pack": True}, compat.ConflictingNodataError, "distinct per-band"),
    (raster(), {"compression": "jpeg", "allow_internal_only_jpeg": True, "photometric": 1.5}, ValueError, "uint8"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_checks_have_the_order_of_the_reference(tmp_path, data, keywords, error, message):
    with pytest.raises(error, match=message):
        terrazzo.to_geotiff(data, tmp_path / "missing" / "a.tif", **keywords)


# --- Georeference


@pytest.mark.parametrize("dims", [("Y", "X"), ("a", "b"), ("y", "foo"), ("time", "x")])
def test_two_dims_of_any_name_are_rows_and_columns(tmp_path, dims):
    assert written(tmp_path, raster(dims)).attrs["transform"] == (10, 0, 95, 0, -10, 55)


@pytest.mark.parametrize("dims", [("y", "x"), ("y", "foo")])
def test_steps_of_rows_are_checked_without_those_of_columns(tmp_path, dims):
    data = xr.DataArray(np.zeros((3, 2)), dims=dims, coords={"y": [0, 1, 5.0]})
    with pytest.raises(compat.NonUniformCoordsError, match="'y'"):
        terrazzo.to_geotiff(data, tmp_path / "a.tif")


@pytest.mark.parametrize("transform", [(0.0, 0, 0, 0, -1, 0), (float("nan"), 0, 0, 0, -1, 0), (1, 0, 0, 0, float("inf"), 0)])
def test_pixels_need_a_size(tmp_path, transform):
    with pytest.raises(compat.DegeneratePixelSizeError):
        terrazzo.to_geotiff(raster(transform=transform), tmp_path / "a.tif")


def test_crs_wkt_conflicts_only_if_it_is_wkt(tmp_path):
    assert written(tmp_path, raster(crs=4326, crs_wkt="EPSG:32632")).attrs["crs"] == 4326
    with pytest.raises(compat.ConflictingCRSError):
        terrazzo.to_geotiff(raster(crs=4326, crs_wkt=pyproj.CRS(32632).to_wkt()), tmp_path / "a.tif")


def test_crs_wkt_serves_where_crs_cannot_be_read(tmp_path):
    with pytest.warns(compat.GeoTIFFFallbackWarning, match="bogus"):
        assert written(tmp_path, raster(crs="bogus", crs_wkt=pyproj.CRS(32632).to_wkt())).attrs["crs"] == 32632


def test_a_compound_crs_keeps_its_heights(tmp_path):
    wkt = pyproj.CRS(7405).to_wkt()
    with pytest.warns(UserWarning, match="WKT only"):
        attrs = written(tmp_path, raster(crs=wkt)).attrs
    assert attrs["crs_wkt"] == wkt and "crs" not in attrs
    assert terrazzo.open(tmp_path / "a.tif").crs == 27700


def codes_of_pyproj_alone():
    for code in (10606, 23306, 27707):
        try:
            pyproj.CRS.from_epsg(code)
        except pyproj.exceptions.CRSError:
            continue
        try:
            terrazzo.Crs(code)
        except terrazzo.UsageError:
            yield code


def test_codes_that_only_pyproj_knows_are_written(tmp_path):
    codes = list(codes_of_pyproj_alone())
    if not codes:
        pytest.skip("PROJ is as new as pyproj")
    for code in codes:
        assert written(tmp_path, raster(crs=code)).attrs["crs"] == code


def test_a_part_of_a_byte_is_no_part_of_the_buffer(tmp_path):
    pytest.importorskip("dask")
    assert (written(tmp_path, raster().chunk(2), streaming_buffer_bytes=100.5) == raster()).all()


# --- Nodata


def test_nan_conflicts_with_nodata_of_bands(tmp_path):
    with pytest.raises(compat.ConflictingNodataError, match="disagrees"):
        terrazzo.to_geotiff(raster(nodata=float("nan"), nodatavals=(7, 7)), tmp_path / "a.tif")


@pytest.mark.parametrize("text, number", [("7", 7), ("-9999.5", -9999.5), (" 7", 7)])
def test_nodata_may_be_the_text_of_a_number(tmp_path, text, number):
    assert written(tmp_path, raster(), nodata=text).attrs["nodata"] == number
    assert written(tmp_path, raster(nodata=text)).attrs["nodata"] == number
    with pytest.raises(ValueError, match="nodata must be numeric"):
        terrazzo.to_geotiff(raster(), tmp_path / "a.tif", nodata="seven")


# --- Sidecars


@pytest.mark.parametrize("data, keywords", [
    (np.zeros((4, 4)), {}), (raster(category_names=["a"]), {}), (raster(scale_factor=2.0), {"pack": True}),
])  # fmt: skip
def test_a_colour_ramp_without_effect_is_not_checked(tmp_path, data, keywords):
    terrazzo.to_geotiff(data, tmp_path / "a.tif", color_ramp="mine", **keywords)
    assert not list(tmp_path.glob("*.qml"))


@pytest.mark.parametrize("bigtiff", [False, True])
@pytest.mark.parametrize("keywords", [{}, {"tiled": False}, {"compression": "none"}])
def test_nodata_keeps_its_type(tmp_path, bigtiff, keywords):
    data = written(tmp_path, raster(nodata=-9999.0), bigtiff=bigtiff, **keywords)
    assert repr(data.attrs["nodata"]) == "-9999.0" and (data == raster()).all()
    file = io.BytesIO()
    terrazzo.to_geotiff(raster(nodata=-9999.0), file, bigtiff=bigtiff, **keywords)
    assert repr(terrazzo.open_geotiff(file).attrs["nodata"]) == "-9999.0"
    assert terrazzo.open(tmp_path / "a.tif").nodata == -9999
    assert terrazzo.validate(tmp_path / "a.tif").valid_tiff


@pytest.mark.parametrize("colors, read", [
    (np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), [(1, 2, 3, 4), (5, 6, 7, 8)]), ([(1, 2, 3)] * 2, [(1, 2, 3, 255)] * 2), ("red", None),
])  # fmt: skip
def test_colours_of_categories_are_any_sequence(tmp_path, colors, read):
    attrs = written(tmp_path, raster(dtype=np.uint8, category_names=np.array(["a", "b"]), category_colors=colors)).attrs
    assert attrs["category_names"] == ["a", "b"] and attrs.get("category_colors") == read
    assert "<Row index=\"0\"><F>0</F><F>a</F>" in (tmp_path / "a.tif.aux.xml").read_text()


def test_pack_takes_the_type_of_an_integer_that_marks_missing_pixels(tmp_path):
    for attrs, dtype in (({"nodata": np.int16(7)}, "int16"), ({"nodatavals": (7,)}, "int64"), ({"_FillValue": 7}, "int64")):
        assert written(tmp_path, raster(scale_factor=2.0, **attrs), pack=True).dtype == dtype


def test_extra_tags_of_64_bits_have_32_in_a_classic_file(tmp_path):
    data = raster(_xrspatial_geotiff_contract=5, extra_tags=[(65000, 16, 2, (5, 6))])
    assert (65000, 4, 2, (5, 6)) in written(tmp_path, data).attrs["extra_tags"]
    assert (65000, 16, 2, (5, 6)) in written(tmp_path, data, bigtiff=True).attrs["extra_tags"]
    data.attrs["extra_tags"] = [(65000, 16, 1, 1 << 40)]
    with pytest.raises(ValueError, match="32 bits"):
        terrazzo.to_geotiff(data, tmp_path / "a.tif")


# --- Colours


@pytest.mark.parametrize("extra, keywords, number, written_extra", [
    ((2,), {}, 2, (2,)), ((0,), {}, 2, (0,)), ((0, 0, 2), {}, 1, (0, 0, 2)), ((2,), {"photometric": "minisblack"}, 1, (0, 0, 0)),
    ((0, 0, 0), {"photometric": "rgb"}, 2, (0,)), ((0, 0, 0), {"photometric": "rgba"}, 2, (2,)),
])  # fmt: skip
def test_alpha_of_a_file_stays_alpha(tmp_path, extra, keywords, number, written_extra):
    attrs = {"_xrspatial_geotiff_contract": 5, "extra_samples": extra, "extra_tags": [(338, 3, len(extra), extra)]}
    data = xr.DataArray(np.zeros((5, 6, 4), np.uint8), dims=("y", "x", "band"), attrs=attrs)
    assert written(tmp_path, data, **keywords).attrs["extra_samples"] == written_extra
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert file.pages[0].photometric == number


def test_min_is_white_of_dask(tmp_path):
    da = pytest.importorskip("dask.array")
    pixels = np.arange(30, dtype=np.uint8).reshape(5, 6)
    for array in (da.from_array(pixels, chunks=3), pixels):
        assert (written(tmp_path, array, photometric="miniswhite") == pixels).all()
    for data, keywords in ((raster(dtype=np.uint8).chunk(2), {}), (pixels, {"overview_levels": []})):
        with pytest.raises(NotImplementedError, match="miniswhite"):
            terrazzo.to_geotiff(data, tmp_path / "a.tif", photometric="miniswhite", **keywords)
