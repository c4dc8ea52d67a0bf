# SPDX-License-Identifier: Apache-2.0
"""Attributes, refusals and values that open_geotiff() takes from the tags of a file."""
import struct

import numpy as np
import pytest
import tifffile

import terrazzo
from terrazzo import compat
from terrazzo._geotiff.tags import RepeatedTagError, bytes_of, read_directories

xr = pytest.importorskip("xarray")

PIXELS = np.arange(48, dtype=np.float32).reshape(6, 8)
SCALE = (33550, 12, 3, (10.0, 10.0, 0.0), True)
TIE = (33922, 12, 6, (0.0, 0.0, 0.0, 500000.0, 4200000.0, 0.0), True)


def made(folder, *tags, pixels=PIXELS, **keywords):
    path = folder / "made.tif"
    tifffile.imwrite(path, pixels, metadata=None, software=False, extratags=list(tags), **keywords)
    return path


def geo_keys(*keys, text=""):
    numbers = [1, 1, 0, len(keys), *(number for key in keys for number in key)]
    tags = [SCALE, TIE, (34735, 3, len(numbers), tuple(numbers), True)]
    return tags + ([(34737, 2, 0, text, True)] if text else [])


def test_descriptive_tags_become_attributes(tmp_path):
    path = made(tmp_path, (315, 2, 0, "nobody", True), (65000, 3, 3, (1, 2, 3), True), description="hills",
                resolution=(72, 96.5), resolutionunit=2)  # fmt: skip
    attrs = terrazzo.open_geotiff(path).attrs
    assert attrs["image_description"] == "hills" and attrs["resolution_unit"] == "inch"
    assert (attrs["x_resolution"], attrs["y_resolution"]) == (72, 96.5)
    assert (315, 2, 7, "nobody") in attrs["extra_tags"] and (65000, 3, 3, (1, 2, 3)) in attrs["extra_tags"]
    assert attrs["georef_status"] == "none" and attrs["_xrspatial_no_georef"] is True


def test_metadata_is_a_dict_and_its_xml(tmp_path):
    xml = '<GDALMetadata><Item name="A">b</Item><Item name="S" sample="0">x</Item></GDALMetadata>'
    attrs = terrazzo.open_geotiff(made(tmp_path, (42112, 2, 0, xml, True))).attrs
    assert attrs["gdal_metadata"] == {"A": "b", ("S", 0): "x"} and attrs["gdal_metadata_xml"] == xml
    doctype = made(tmp_path, (42112, 2, 0, "<!DOCTYPE x>" + xml, True))
    assert terrazzo.open_geotiff(doctype).attrs["gdal_metadata"] == {}


@pytest.mark.parametrize("xml, message", [
    ('<GDALMetadata><Item name="SCALE">x</Item></GDALMetadata>', "SCALE"),
    ('<GDALMetadata><Item name="SCALE">0</Item></GDALMetadata>', "SCALE"),
    ('<GDALMetadata><Item name="OFFSET">nan</Item></GDALMetadata>', "OFFSET"), ("<GDALMetadata>", "XML"),
])  # fmt: skip
def test_scales_that_are_no_numbers_are_refused(tmp_path, xml, message):
    path = made(tmp_path, (42112, 2, 0, xml, True))
    assert terrazzo.open_geotiff(path).dtype == np.float32
    with pytest.raises(compat.MalformedScaleOffsetError, match=message):
        terrazzo.open_geotiff(path, unpack=True)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_turned_upright(tmp_path, orientation):
    path = made(tmp_path, (274, 3, 1, orientation, True))
    upright = {
        1: PIXELS, 2: PIXELS[:, ::-1], 3: PIXELS[::-1, ::-1], 4: PIXELS[::-1], 5: PIXELS.T, 6: PIXELS.T[:, ::-1],
        7: PIXELS.T[::-1, ::-1], 8: PIXELS.T[::-1],
    }[orientation]  # fmt: skip
    np.testing.assert_array_equal(terrazzo.open_geotiff(path), upright)
    if orientation != 1:
        with pytest.raises(ValueError, match="Orientation tag"):
            terrazzo.open_geotiff(path, window=(0, 0, 2, 2))
        with pytest.raises(ValueError, match="Orientation tag"):
            terrazzo.open_geotiff(path, chunks=4).compute()


def test_a_turned_image_keeps_its_place_or_is_refused(tmp_path):
    da = terrazzo.open_geotiff(made(tmp_path, SCALE, TIE, (274, 3, 1, 3, True)))
    assert da.attrs["transform"] == (-10, 0, 500080, 0, 10, 4199940) and float(da.x[0]) == 500075
    with pytest.raises(NotImplementedError, match="Orientation 6"):
        terrazzo.open_geotiff(made(tmp_path, SCALE, TIE, (274, 3, 1, 6, True)))


def test_min_is_white_is_inverted(tmp_path):
    pixels = np.arange(48, dtype=np.uint8).reshape(6, 8)
    path = made(tmp_path, (42113, 2, 0, "7", True), pixels=pixels, photometric="miniswhite")
    da = terrazzo.open_geotiff(path, masked=True)
    assert da.attrs["nodata"] == 7 and np.isnan(da.values[0, 7]) and da.values[0, 0] == 255
    np.testing.assert_array_equal(terrazzo.open_geotiff(path), 255 - pixels)
    with pytest.raises(NotImplementedError, match="2278"):
        terrazzo.open_geotiff(made(tmp_path, pixels=pixels.astype(np.int16), photometric="miniswhite"))


def test_geo_keys_give_the_crs(tmp_path):
    pytest.importorskip("pyproj")
    model, area = (1024, 0, 1, 1), (1025, 0, 1, 1)
    attrs = terrazzo.open_geotiff(made(tmp_path, *geo_keys(model, area, (3072, 0, 1, 32632)))).attrs
    assert attrs["crs"] == 32632 and attrs["crs_wkt"].startswith("PROJCRS") and attrs["georef_status"] == "full"
    point = terrazzo.open_geotiff(made(tmp_path, *geo_keys(model, (1025, 0, 1, 2), (3072, 0, 1, 32632))))
    assert point.attrs["raster_type"] == "point" and float(point.x[0]) == 500000
    with pytest.raises(compat.InconsistentGeoKeysError):
        terrazzo.open_geotiff(made(tmp_path, *geo_keys((1024, 0, 1, 2), area, (3072, 0, 1, 32632))))
    with pytest.warns(compat.GeoTIFFFallbackWarning, match="60001"):
        assert "crs_wkt" not in terrazzo.open_geotiff(made(tmp_path, *geo_keys(model, area, (3072, 0, 1, 60001)))).attrs
    text = 'PROJCS["broken",xx]'
    broken = made(tmp_path, *geo_keys(model, area, (1026, 34737, len(text) + 1, 0), (3072, 0, 1, 32767), text=text + "|"))
    with pytest.raises(compat.UnparseableCRSError, match="pyproj cannot parse"):
        terrazzo.open_geotiff(broken)
    assert terrazzo.open_geotiff(broken, allow_unparseable_crs=True).attrs["crs_wkt"] == text


def test_places_that_cannot_be_are_refused(tmp_path):
    with pytest.raises(compat.DegeneratePixelSizeError, match="(?i)pixel size|transform"):
        terrazzo.open_geotiff(made(tmp_path, (33550, 12, 3, (0.0, 10.0, 0.0), True), TIE))
    points = (33922, 12, 12, (*TIE[3], 5.0, 5.0, 0.0, 1.0, 2.0, 0.0), True)
    with pytest.raises(NotImplementedError, match="tiepoints"):
        terrazzo.open_geotiff(made(tmp_path, SCALE, points))
    for nodata in ("nan", "1.5"):
        path = made(tmp_path, (42113, 2, 0, nodata, True), pixels=PIXELS.astype(np.int16))
        with pytest.raises(compat.InvalidIntegerNodataError, match="release_gate_geotiff.rst"):
            terrazzo.open_geotiff(path)
        assert terrazzo.open_geotiff(path, allow_invalid_nodata=True, masked=True).dtype == np.int16


def test_a_sidecar_with_overviews_is_a_level_or_a_warning(tmp_path):
    path = made(tmp_path)
    (tmp_path / "made.tif.ovr").write_bytes(b"garbage")
    with pytest.warns(RuntimeWarning, match="Ignoring unreadable sidecar"):
        np.testing.assert_array_equal(terrazzo.open_geotiff(path), PIXELS)
    with pytest.raises(ValueError, match="external sidecar"):
        terrazzo.open_geotiff(path, overview_level=1)


def test_overviews_inherit_what_they_lack(tmp_path):
    values = np.arange(64 * 64, dtype=np.int16).reshape(64, 64)
    da = xr.DataArray(values, dims=("y", "x"), attrs={"transform": (10, 0, 0, 0, -10, 640), "nodata": 5})
    terrazzo.to_geotiff(da, tmp_path / "a.tif", cog=True, tile_size=16, crs=32632)
    level = terrazzo.open_geotiff(tmp_path / "a.tif", overview_level=2)
    assert level.shape == (16, 16) and level.attrs["transform"] == (40, 0, 0, 0, -40, 640)
    assert level.attrs["nodata"] == 5 and level.attrs["crs"] == 32632


def test_pages_count_as_levels(tmp_path):
    path = tmp_path / "pages.tif"
    tifffile.imwrite(path, PIXELS, metadata=None)
    tifffile.imwrite(path, PIXELS + 1, metadata=None, append=True)
    np.testing.assert_array_equal(terrazzo.open_geotiff(path, overview_level=1), PIXELS + 1)


def patched(path, tag, field, value):
    """The file with the count (1) or the value (2) of an entry of the first directory replaced."""
    data = bytearray(path.read_bytes())
    place = struct.unpack_from("<I", data, 4)[0]
    for index in range(struct.unpack_from("<H", data, place)[0]):
        entry = place + 2 + 12 * index
        if struct.unpack_from("<H", data, entry)[0] == tag:
            struct.pack_into("<I", data, entry + 4 * field, value)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("tag, field, value, message", [
    (256, 2, 0, "Invalid TIFF dimensions"), (279, 2, 1 << 30, "StripByteCount=1,073,741,824.*safety cap"),
    (278, 2, 1, "Strip table truncated"), (257, 2, 1 << 31, "safety limit|truncated"),
])  # fmt: skip
def test_directories_that_contradict_themselves_are_refused(tmp_path, tag, field, value, message):
    with pytest.raises(ValueError, match=message):
        terrazzo.open_geotiff(patched(made(tmp_path), tag, field, value))


def test_mixed_and_complex_samples_are_refused(tmp_path):
    with pytest.raises(ValueError, match="SampleFormat=6"):
        terrazzo.open_geotiff(made(tmp_path, pixels=PIXELS.astype(np.complex64)))
    path = made(tmp_path, pixels=np.zeros((3, 4, 3), np.int16), planarconfig="contig", photometric="rgb")
    data = bytearray(path.read_bytes())
    struct.pack_into("<H", data, read_directories(bytes_of(data))[0].entries[339].offset, 1)
    path.write_bytes(data)
    with pytest.raises(ValueError, match="Mixed SampleFormat"):
        terrazzo.open_geotiff(path)


def test_the_reader_of_tags_survives_hostile_files(tmp_path):
    good = made(tmp_path, SCALE, TIE).read_bytes()
    first = struct.unpack_from("<I", good, 4)[0]
    count = struct.unpack_from("<H", good, first)[0]
    loop = bytearray(good)
    struct.pack_into("<I", loop, first + 2 + 12 * count, first)
    with pytest.raises(ValueError, match="Circular"):
        read_directories(bytes_of(loop))
    twice = bytearray(good)
    twice[first + 14 : first + 16] = twice[first + 2 : first + 4]
    with pytest.raises(RepeatedTagError, match="tag 256 twice|twice"):
        read_directories(bytes_of(twice))
    rng = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(good[: rng.integers(0, len(good))])
        for place in rng.integers(0, max(1, len(broken)), 8) if broken else ():
            broken[place] = rng.integers(0, 256)
        try:
            for directory in read_directories(bytes_of(broken)):
                for tag in directory.entries:
                    directory.value(tag)
        except ValueError:
            pass
    for end in range(0, 60):
        with pytest.raises(ValueError):
            read_directories(bytes_of(good[:end]))
