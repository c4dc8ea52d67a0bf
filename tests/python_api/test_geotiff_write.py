# SPDX-License-Identifier: Apache-2.0
"""What to_geotiff() writes from attributes, and beside the file."""
import io

import numpy as np
import pytest
import rasterio
import tifffile

import terrazzo
from terrazzo import compat
from terrazzo._geotiff.write import _groups

xr = pytest.importorskip("xarray")

VALUES = (np.arange(40 * 50).reshape(40, 50) % 251).astype(np.uint8)
CONTRACT = {"_xrspatial_geotiff_contract": 5}


def raster(values=VALUES, **attrs):
    dims = ("y", "x", "band")[: values.ndim]
    return xr.DataArray(values, dims=dims, attrs={"transform": (10, 0, 5e5, 0, -10, 4.2e6), **attrs})


def tags_of(path):
    with tifffile.TiffFile(path) as file:
        return {tag.code: tag.value for tag in file.pages[0].tags.values()}


def test_descriptive_attributes_become_tags(tmp_path):
    attrs = {
        "gdal_metadata": {"A": "<b>", ("S", 0): "Zürich"}, "image_description": "hills", "x_resolution": 72.0,
        "y_resolution": 96.5, "resolution_unit": "inch",
        "extra_tags": [(315, 2, 7, "nobody"), (65000, 3, 3, (1, 2, 3)), (65001, 11, 1, 1.5), (65002, 1, 4, b"abcd"), (256, 4, 1, 9)],
    }  # fmt: skip
    path = tmp_path / "a.tif"
    terrazzo.to_geotiff(raster(**CONTRACT, **attrs), path)
    tags = tags_of(path)
    assert tags[270] == "hills" and tags[282] == (72, 1) and tags[283] == (965000, 10000) and tags[315] == "nobody"
    assert tags[65000] == (1, 2, 3) and tags[65001] == 1.5 and tags[256] == 50
    with rasterio.open(path) as got:
        assert got.tags()["A"] == "<b>" and got.tags(1)["S"] == "Zürich"
    back = terrazzo.open_geotiff(path).attrs
    assert back["gdal_metadata"] == attrs["gdal_metadata"] and (65002, 1, 4, (97, 98, 99, 100)) in back["extra_tags"]
    terrazzo.to_geotiff(terrazzo.open_geotiff(path), tmp_path / "b.tif")
    again = terrazzo.open_geotiff(tmp_path / "b.tif").attrs
    assert again == back


def test_metadata_of_unknown_origin_needs_an_opt_in(tmp_path):
    da = raster(gdal_metadata={"A": "b"})
    with pytest.raises(ValueError, match=r"attrs\['gdal_metadata'\].*allow_experimental_codecs"):
        terrazzo.to_geotiff(da, tmp_path / "a.tif")
    terrazzo.to_geotiff(da, tmp_path / "a.tif", allow_experimental_codecs=True)
    assert "A" in terrazzo.open_geotiff(tmp_path / "a.tif").attrs["gdal_metadata"]


def test_colour_maps_are_written_exactly(tmp_path):
    colors = tuple((7 * number) % 65536 for number in range(768))
    for target in (tmp_path / "a.tif", io.BytesIO()):
        terrazzo.to_geotiff(raster(**CONTRACT, colormap=colors), target, photometric=3)
        assert terrazzo.open_geotiff(target).attrs["colormap"] == colors
        if hasattr(target, "seek"):
            target.seek(0)
        assert tags_of(target)[262] == 3


@pytest.mark.parametrize("photometric, bands, number, extra", [
    ("auto", 1, 1, None), ("auto", 3, 1, (0, 0)), ("rgb", 3, 2, None), ("rgb", 4, 2, (0,)), ("rgba", 5, 2, (2, 0)),
    (5, 4, 5, (0, 0, 0)), (0, 3, 0, (0, 0)),
])  # fmt: skip
def test_bands_have_the_colours_that_were_asked_for(tmp_path, photometric, bands, number, extra):
    values = np.stack([VALUES] * bands, -1)
    terrazzo.to_geotiff(raster(values), tmp_path / "a.tif", photometric=photometric)
    tags = tags_of(tmp_path / "a.tif")
    assert tags[262] == number and tags.get(338) == extra
    np.testing.assert_array_equal(np.squeeze(tifffile.imread(tmp_path / "a.tif")), np.squeeze(values))


def test_extra_tags_may_name_the_colours(tmp_path):
    terrazzo.to_geotiff(raster(**CONTRACT, extra_tags=[(262, 3, 1, 2)]), tmp_path / "a.tif")
    assert tags_of(tmp_path / "a.tif")[262] == 2
    with pytest.raises(ValueError, match="TAG_PHOTOMETRIC"):
        terrazzo.to_geotiff(raster(**CONTRACT, extra_tags=[(262, 3, 1, 0)]), tmp_path / "b.tif")


def test_min_is_white_is_inverted_back(tmp_path):
    path = tmp_path / "a.tif"
    terrazzo.to_geotiff(raster(nodata=7), path, photometric="miniswhite")
    assert rasterio.open(path).nodata == 248
    np.testing.assert_array_equal(rasterio.open(path).read(1), 255 - VALUES)
    np.testing.assert_array_equal(terrazzo.open_geotiff(path), VALUES)
    with pytest.raises(NotImplementedError, match="miniswhite"):
        terrazzo.to_geotiff(raster(), path, photometric="miniswhite", cog=True)
    with pytest.raises(NotImplementedError, match="2278"):
        terrazzo.to_geotiff(raster(VALUES.astype(np.int16)), path, photometric="miniswhite")


def test_crs_texts_without_a_code_are_kept_and_gdal_reads_them(tmp_path):
    pyproj = pytest.importorskip("pyproj")
    wkt = pyproj.CRS.from_proj4("+proj=tmerc +lon_0=9.5 +k=0.9996 +x_0=500000 +ellps=GRS80 +units=m").to_wkt()
    path = tmp_path / "a.tif"
    with pytest.warns(UserWarning, match="user-defined CRS via WKT only"):
        terrazzo.to_geotiff(raster(), path, crs=wkt)
    assert terrazzo.open_geotiff(path).attrs["crs_wkt"] == wkt and tags_of(path)[34735][3] > 4
    assert "Transverse_Mercator" in rasterio.open(path).crs.to_wkt()


@pytest.mark.parametrize("crs, error, message", [
    (True, ValueError, "bool"), (1.5, TypeError, "crs must be"), (999999, ValueError, "not a valid EPSG"),
    (7415, compat.NonRepresentableEPSGCRSError, "compound"), ("+proj=laea +lat_0=9", compat.UnparseableCRSError, "Could not parse crs"),
])  # fmt: skip
def test_crs_that_cannot_be_written_are_refused(tmp_path, crs, error, message):
    pytest.importorskip("pyproj")
    with pytest.raises(error, match=message):
        terrazzo.to_geotiff(raster(), tmp_path / "a.tif", crs=crs)
    with pytest.warns(compat.GeoTIFFFallbackWarning, match="CRSError"), pytest.raises(compat.UnparseableCRSError):
        terrazzo.to_geotiff(raster(), tmp_path / "a.tif", crs="garbage")


def test_automatic_overviews_end_like_those_of_the_reference(tmp_path):
    terrazzo.to_geotiff(raster(np.zeros((300, 270), np.uint8)), tmp_path / "a.tif", cog=True, tile_size=16)
    assert rasterio.open(tmp_path / "a.tif").overviews(1) == [2, 4, 8, 16]


def test_attributes_must_agree(tmp_path):
    pyproj = pytest.importorskip("pyproj")
    path = tmp_path / "a.tif"
    with pytest.raises(compat.ConflictingCRSError):
        terrazzo.to_geotiff(raster(crs=4326, crs_wkt=pyproj.CRS.from_epsg(32632).to_wkt()), path)
    with pytest.raises(compat.ConflictingNodataError, match="distinct per-band"):
        terrazzo.to_geotiff(raster(nodatavals=(1, 2)), path)
    with pytest.raises(compat.ConflictingNodataError, match="disagrees"):
        terrazzo.to_geotiff(raster(nodata=1, nodatavals=(2,)), path)
    terrazzo.to_geotiff(raster(nodatavals=(3, np.nan)), path)
    assert terrazzo.open_geotiff(path).attrs["nodata"] == 3


def test_a_nodata_value_that_no_pixel_can_have_is_written(tmp_path):
    terrazzo.to_geotiff(raster(nodata=-9999), tmp_path / "a.tif")
    assert terrazzo.open_geotiff(tmp_path / "a.tif", masked=True).attrs["nodata"] == -9999


def test_categories_and_styles_lie_beside_the_file(tmp_path):
    path = tmp_path / "a.tif"
    colors = [(1, 2, 3, 255), (4, 5, 6, 255)]
    terrazzo.to_geotiff(raster(category_names=["<wood>", "lake"], category_colors=colors), path)
    attrs = terrazzo.open_geotiff(path).attrs
    assert attrs["category_names"] == ["<wood>", "lake"] and attrs["category_colors"] == colors
    terrazzo.to_geotiff(raster(VALUES.astype(np.float32)), path, color_ramp=True)
    assert "category_names" not in terrazzo.open_geotiff(path).attrs
    tags = rasterio.open(path).tags(1)
    assert float(tags["STATISTICS_MAXIMUM"]) == 250 and float(tags["STATISTICS_MEAN"]) == pytest.approx(VALUES.mean())
    style = (tmp_path / "a.qml").read_text()
    assert style.count("<item ") == 9 and 'classificationMax="250"' in style
    terrazzo.to_geotiff(raster(), path)
    assert not (tmp_path / "a.tif.aux.xml").exists()
    with pytest.raises(ValueError, match="unknown color_ramp"):
        terrazzo.to_geotiff(raster(), path, color_ramp="rainbow")


def test_pack_computes_dask_arrays_late(packed, tmp_path):
    pytest.importorskip("dask")
    da = terrazzo.open_geotiff(packed, unpack=True, chunks=100)
    terrazzo.to_geotiff(da, tmp_path / "a.tif", pack=True)
    np.testing.assert_array_equal(rasterio.open(tmp_path / "a.tif").read(), rasterio.open(packed).read())
    assert terrazzo.open_geotiff(tmp_path / "a.tif").attrs["gdal_metadata"]["SCALE"] == "0.5"
    with pytest.raises(ValueError, match="cannot restore integer dtype int16"):
        terrazzo.to_geotiff(da + 1e9, tmp_path / "b.tif", pack=True)
    assert not (tmp_path / "b.tif").exists()


def test_dask_arrays_are_computed_within_the_buffer(tmp_path):
    da = pytest.importorskip("dask.array")
    computed = []

    def seen(block):
        computed.append(block.shape)
        return block

    values = np.arange(512 * 64, dtype=np.float32).reshape(512, 64)
    source = da.from_array(values, chunks=(16, 64)).map_blocks(seen, dtype=np.float32, meta=np.empty((0, 0), np.float32))
    heights = [end - first for first, end in _groups(source[None], 64 * 64 * 4)]
    assert max(heights) == 64 and sum(heights) == 512
    terrazzo.to_geotiff(xr.DataArray(source, dims=("y", "x")), tmp_path / "a.tif", streaming_buffer_bytes=64 * 64 * 4)
    np.testing.assert_array_equal(rasterio.open(tmp_path / "a.tif").read(1), values)
    assert len(computed) == 32  # every chunk once


def test_targets_that_cannot_be_raise_what_open_raises(tmp_path):
    with pytest.raises(FileNotFoundError):
        terrazzo.to_geotiff(VALUES, tmp_path / "no" / "a.tif")
    with pytest.raises(IsADirectoryError):
        terrazzo.to_geotiff(VALUES, tmp_path)
    with pytest.raises(TypeError, match="'path'.*None"):
        terrazzo.to_geotiff(VALUES, None)
    for keywords, message in (({"cog": True}, "cog.*VRT"), ({"overview_levels": [2]}, "overview.*VRT"), ({}, "VRT")):
        with pytest.raises((ValueError, NotImplementedError), match=message):
            terrazzo.to_geotiff(VALUES, tmp_path / "a.vrt", **keywords)


def test_levels_of_codecs_without_levels_are_ignored(tmp_path):
    for codec in ("none", "lzw", "packbits"):
        terrazzo.to_geotiff(VALUES, tmp_path / "a.tif", compression=codec, compression_level=5, predictor=True)
        np.testing.assert_array_equal(rasterio.open(tmp_path / "a.tif").read(1), VALUES)
