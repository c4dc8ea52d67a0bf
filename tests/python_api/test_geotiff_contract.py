# SPDX-License-Identifier: Apache-2.0
"""Details of open_geotiff() that a comparison with xrspatial.geotiff 0.10.20 over generated files showed to differ."""
import inspect
import io
import zlib
from pathlib import PurePosixPath

import numpy as np
import pytest
import tifffile
from test_geotiff_attrs import PIXELS, SCALE, TIE, geo_keys, made

import terrazzo
from terrazzo import compat

xr = pytest.importorskip("xarray")

UTM = geo_keys((1024, 0, 1, 1), (1025, 0, 1, 1), (3072, 0, 1, 32632))


def metadata(items):
    return (42112, 2, 0, f"<GDALMetadata>{items}</GDALMetadata>", True)


# --- Sources and arguments


def test_paths_of_bytes_have_no_name(dem):
    assert terrazzo.open_geotiff(bytes(dem)).name is None
    assert terrazzo.open_geotiff(PurePosixPath(dem)).name == "dem"
    with pytest.raises(ValueError, match="chunks=.*file-like"):
        terrazzo.open_geotiff(bytes(dem), chunks=10)
    with pytest.raises(TypeError, match="must be a str path"):
        terrazzo.open_geotiff(bytes(dem), bbox=(0, 0, 1, 1))


@pytest.mark.parametrize("source", [None, 5, [1]])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(TypeError, match="str"):
        terrazzo.open_geotiff(source)
    with pytest.raises(ValueError, match="gpu=True is not supported for file-like"):
        terrazzo.open_geotiff(source, gpu=True)


def test_file_objects_need_seek_and_tell(dem):
    class OnlyRead:
        def read(self, size=-1):
            return dem.read_bytes()

    with pytest.raises(TypeError, match="OnlyRead"):
        terrazzo.open_geotiff(OnlyRead())


def test_file_urls_count_as_remote(dem):
    assert terrazzo.open_geotiff(f"file://{dem}").name == "dem"
    with pytest.raises(compat.RemoteStableSourcesOnlyError):
        terrazzo.open_geotiff(f"file://{dem}", stable_only=True)
    with pytest.raises(compat.CloudSizeLimitError, match="exceeds max_cloud_bytes"):
        terrazzo.open_geotiff(f"file://{dem}", max_cloud_bytes=10)


def test_a_box_is_checked_after_the_file_is_opened(dem, tmp_path):
    with pytest.raises(FileNotFoundError):
        terrazzo.open_geotiff(tmp_path / "missing.tif", bbox=5)
    turned = made(tmp_path, (274, 3, 1, 3, True))
    with pytest.raises(ValueError, match="no georeferencing"):
        terrazzo.open_geotiff(turned, bbox=(0, 0, 1, 1))
    for window in ("a", (1, 2), (1, 2, 3, 4, 5)):
        with pytest.raises(ValueError, match="unpack"):
            terrazzo.open_geotiff(dem, window=window)


# --- Chunks


def test_chunks_refuse_when_they_are_computed(dem, tmp_path):
    pytest.importorskip("dask")
    limited = terrazzo.open_geotiff(dem, chunks=100, max_pixels=50)
    with pytest.raises(compat.PixelSafetyLimitError):
        limited.compute()
    turned = terrazzo.open_geotiff(made(tmp_path, *UTM, (274, 3, 1, 3, True)), chunks=3)
    assert turned.attrs["transform"] == (10, 0, 500000, 0, -10, 4200000)
    with pytest.raises(ValueError, match="Orientation tag"):
        turned.compute()
    tifffile.imwrite(tmp_path / "signed.tif", PIXELS.astype(np.int16), photometric="miniswhite")
    with pytest.raises(NotImplementedError, match="MinIsWhite"):
        terrazzo.open_geotiff(tmp_path / "signed.tif", chunks=3).compute()


# --- Tags


def test_ground_control_points_without_a_pixel_scale_are_refused(tmp_path):
    points = (0.0, 0.0, 0.0, 10.0, 50.0, 0.0, 8.0, 0.0, 0.0, 11.0, 50.0, 0.0)
    with pytest.raises(NotImplementedError, match="exceeds.*cannot represent"):
        terrazzo.open_geotiff(made(tmp_path, (33922, 12, 12, points, True)))


def test_metadata_items_are_children_of_the_root(tmp_path):
    items = '<Item name="A">b</Item><Sub><Item name="C">d</Item></Sub><Item>e</Item><Item name="F" sample="x">g</Item>'
    attrs = terrazzo.open_geotiff(made(tmp_path, metadata(items))).attrs
    assert attrs["gdal_metadata"] == {"A": "b", "": "e"}


@pytest.mark.parametrize("items, band, scale", [
    ('<Item name="SCALE" sample="1">2</Item>', None, 2), ('<Item name="SCALE" sample="1">2</Item>', 0, None),
    ('<Item name="SCALE" sample="5">2</Item>', None, 2), ('<Item name="SCALE" sample="">2</Item>', None, None),
])  # fmt: skip
def test_the_scale_of_one_band_holds_for_bands_without_one(tmp_path, items, band, scale):
    pixels = np.ones((4, 4, 2), np.int16)
    path = made(tmp_path, metadata(items), pixels=pixels, photometric="minisblack", planarconfig="contig")
    assert terrazzo.open_geotiff(path, unpack=True, band=band).attrs.get("scale_factor") == scale


def test_texts_keep_zero_bytes_inside(tmp_path):
    path = made(tmp_path, (65014, 2, 4, b"a\0b\0", True))
    assert terrazzo.open_geotiff(path).attrs["extra_tags"] == [(65014, 2, 4, "a\0b")]


def test_white_space_around_wkt_is_dropped(tmp_path):
    wkt = 'LOCAL_CS["mine",UNIT["metre",1]]'
    keys = geo_keys((1024, 0, 1, 1), (1026, 34737, len(wkt) + 3, 0), (3072, 0, 1, 32767), text=f"  {wkt}|")
    assert terrazzo.open_geotiff(made(tmp_path, *keys)).attrs["crs_wkt"] == wkt


def test_windows_have_the_coordinates_of_the_whole_bit_by_bit(tmp_path):
    scale, tie = (33550, 12, 3, (0.1, 0.2, 0.0), True), (33922, 12, 6, (0.0, 0.0, 0.0, 10.0, 50.0, 0.0), True)
    path = made(tmp_path, scale, tie, pixels=np.zeros((50, 60), np.uint8))
    whole, part = terrazzo.open_geotiff(path), terrazzo.open_geotiff(path, window=(2, 3, 30, 44))
    assert (part.x.values == whole.x.values[3:44]).all() and (part.y.values == whole.y.values[2:30]).all()


# --- Levels


def test_pages_are_levels_of_their_own(tmp_path):
    path = tmp_path / "pages.tif"
    with tifffile.TiffWriter(path) as file:
        file.write(np.zeros((4, 4), np.uint8), subfiletype=2, metadata=None)
        file.write(PIXELS, subfiletype=0, extratags=[SCALE, TIE], metadata=None)
        file.write(np.ones((3, 4), np.uint8), subfiletype=0, metadata=None)
        file.write(np.full((3, 4, 3), 7, np.uint8), subfiletype=1, metadata=None, photometric="rgb")
    first, second, third = (terrazzo.open_geotiff(path, overview_level=level) for level in (None, 1, 2))
    np.testing.assert_array_equal(first, PIXELS)
    assert second.attrs["georef_status"] == "none" and (second == 1).all()
    assert third.shape == (3, 4, 3) and (third == 7).all() and third.attrs["georef_status"] == "transform_only"


# --- Values


def test_bilevel_images_with_white_as_0_are_inverted_in_their_type(tmp_path):
    path = tmp_path / "bilevel.tif"
    tifffile.imwrite(path, np.eye(8, dtype=bool), photometric="miniswhite")
    np.testing.assert_array_equal(terrazzo.open_geotiff(path), 255 - np.eye(8, dtype=np.uint8))


def test_blocks_that_decode_to_more_than_their_pixels_are_refused():
    file = io.BytesIO()
    tifffile.imwrite(file, np.zeros((20, 20), np.uint8), compression="zlib", metadata=None)
    file.seek(0)
    with tifffile.TiffFile(file) as tiff:
        tags = tiff.pages[0].tags
        (start,), count_place = tags[273].value, tags[279].valueoffset
    bomb = zlib.compress(bytes(100_000))
    file.seek(start)
    file.write(bomb)
    file.seek(count_place)
    file.write(len(bomb).to_bytes(4, "little"))
    with pytest.raises(ValueError, match="exceeds"):
        terrazzo.open_geotiff(file)


# --- Categories


@pytest.mark.parametrize("body, names", [
    ("<CategoryNames/>", []),
    ('<GDALRasterAttributeTable><FieldDefn><Name>N</Name><Usage>2</Usage></FieldDefn><Row index="0"><F>a</F></Row>'
     "</GDALRasterAttributeTable>", None),
    ('<GDALRasterAttributeTable tableType="thematic"><FieldDefn><Name>N</Name><Usage>2</Usage></FieldDefn>'
     '<Row index="0"><F>a</F></Row><Row index="2"><F>c</F></Row></GDALRasterAttributeTable>', ["a", "", "c"]),
])  # fmt: skip
def test_categories_of_attribute_tables(tmp_path, body, names):
    path = made(tmp_path)
    path.with_name(path.name + ".aux.xml").write_text(f"<PAMDataset><PAMRasterBand>{body}</PAMRasterBand></PAMDataset>")
    assert terrazzo.open_geotiff(path).attrs.get("category_names") == names


# --- Writing


@pytest.mark.parametrize("nodata, text", [(1e30, "1e+30"), (0.1, "0.1"), (5.0, "5.0"), (-9999, "-9999")])
@pytest.mark.parametrize("bigtiff", [False, True])
def test_the_tag_has_nodata_as_it_was_given(tmp_path, nodata, text, bigtiff):
    terrazzo.to_geotiff(np.zeros((40, 50), np.float32), tmp_path / "a.tif", nodata=nodata, bigtiff=bigtiff, cog=True, tile_size=16)
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        assert {page.tags[42113].value for page in file.pages} == {text}
    assert terrazzo.validate(tmp_path / "a.tif").valid_cog


def test_coordinates_belong_to_dims_by_their_order(tmp_path):
    da = xr.DataArray(np.zeros((2, 3)), dims=("x", "y"), coords={"x": [5.0, 4.0], "y": [1.0, 3.0, 5.0]})
    terrazzo.to_geotiff(da, tmp_path / "a.tif")
    assert terrazzo.open_geotiff(tmp_path / "a.tif").attrs["transform"] == (2, 0, 0, 0, -1, 5.5)


def test_a_transform_outweighs_the_mark_of_none(tmp_path):
    attrs = {"_xrspatial_no_georef": True, "transform": (10.0, 0, 5, 0, -10.0, 7)}
    terrazzo.to_geotiff(xr.DataArray(np.zeros((2, 3)), dims=("y", "x"), attrs=attrs), tmp_path / "a.tif")
    assert terrazzo.open_geotiff(tmp_path / "a.tif").attrs["transform"] == attrs["transform"]


def test_steps_that_differ_slightly_have_no_transform(tmp_path):
    y = -np.arange(5.0)
    y[4] += 5e-6
    da = xr.DataArray(np.zeros((5, 4)), dims=("y", "x"), coords={"y": y, "x": np.arange(4.0)})
    with pytest.raises(compat.NonUniformCoordsError, match="non-uniform"):
        terrazzo.to_geotiff(da, tmp_path / "a.tif")


def test_truth_values_are_no_nodata(tmp_path):
    da = xr.DataArray(np.zeros((2, 3)), dims=("y", "x"), attrs={"nodatavals": (True,)})
    with pytest.raises(TypeError, match="numeric"):
        terrazzo.to_geotiff(da, tmp_path / "a.tif")


def test_nodata_that_no_pixel_can_have_is_a_text(tmp_path):
    terrazzo.to_geotiff(np.zeros((2, 3), np.float32), tmp_path / "a.tif", nodata=1e39)
    assert terrazzo.open_geotiff(tmp_path / "a.tif").attrs["nodata"] == 1e39


def test_a_range_that_is_empty_has_no_style(tmp_path):
    data = xr.DataArray(np.zeros((2, 3)), dims=("y", "x"))
    terrazzo.to_geotiff(data, tmp_path / "a.tif", color_ramp="viridis", color_ramp_range=(4, 2))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tif", "a.tif.aux.xml"]


def test_parameters_have_the_order_of_the_reference():
    names = list(inspect.signature(terrazzo.open_geotiff).parameters)
    assert names[:3] == ["source", "dtype", "window"] and names[-1] == "cache"
    assert names.index("missing_sources") + 1 == names.index("allow_rotated") == names.index("band_nodata") - 6
