# SPDX-License-Identifier: Apache-2.0
"""What users of rasterio, numpy and notebooks type is understood, or answered with what to type."""
import copy
import pickle

import numpy as np
import pytest
import rasterio
from conftest import terrain, write_with_gdal
from rasterio.control import GroundControlPoint
from rasterio.enums import Resampling

import terrazzo


def test_rasterio_s_methods_of_resampling(dem, tmp_path):
    raster = terrazzo.open(dem)
    for method in (Resampling.average, "average", "AVERAGE"):
        np.testing.assert_array_equal(raster.read(size=(50, 40), resampling=method), raster.read(size=(50, 40), resampling="average"))
    smooth = raster.read(size=(50, 40), resampling="cubic-spline")
    for method in (Resampling.cubic_spline, "cubic_spline"):
        np.testing.assert_array_equal(raster.read(size=(50, 40), resampling=method), smooth)
    items = [(raster, (0, 0, 60, 60))]
    np.testing.assert_array_equal(
        terrazzo.read_windows(items, size=20, resampling=Resampling.nearest), terrazzo.read_windows(items, size=20)
    )
    path = tmp_path / "o.tif"
    terrazzo.write(path, raster.read(), overviews=[2], overview_resampling=Resampling.mode)
    terrazzo.overviews(path, [4], resampling=Resampling.max, keep=np.bool_(True))
    assert [o.width for o in terrazzo.open(path).overviews] == [200, 100]


def test_windows_in_pairs_of_rows_and_columns(dem):
    with rasterio.open(dem) as src:
        expected = src.read(1, window=((20, 50), (100, 164)))
    np.testing.assert_array_equal(terrazzo.read(dem, 1, window=((20, 50), (100, 164))), expected)
    with pytest.raises(terrazzo.UsageError, match=r"whole pixels.*round_offsets"):
        terrazzo.read(dem, 1, window=rasterio.windows.Window(0.5, 0, 10, 10))


def test_transforms_multiply_and_invert(dem):
    transform = terrazzo.open(dem).transform
    with rasterio.open(dem) as src:
        assert transform * (3, 4) == transform @ (3, 4) == (500030, 4199960)
        np.testing.assert_allclose(tuple(~transform), (~src.transform)[:6])
    turned = terrazzo.Transform(9, -3, 500000, -3, -9, 4200000)
    np.testing.assert_allclose(~turned @ (turned @ (7, 11)), (7, 11))
    with pytest.raises(terrazzo.UsageError, match="no inverse"):
        ~terrazzo.Transform(1, 2, 0, 2, 4, 0)


def test_points_have_two_numbers(dem):
    raster = terrazzo.open(dem)
    points = [(500500.0, 4199500.0), (501000.0, 4199000.0)]
    expected = raster.sample(points, 1)
    for same in (iter(points), zip(*np.transpose(points)), np.array(points), tuple(points)):
        np.testing.assert_array_equal(raster.sample(same, 1), expected)
    assert raster.sample(points[0], 1) == expected[:1]
    assert raster.sample([], 1).shape == (0,) and raster.to_pixel(np.zeros((0, 2))).shape == (0, 2)
    for wrong in (np.zeros((2, 3)), np.zeros((1, 2, 2)), [1, 2, 3], 5):
        for function in (raster.sample, raster.to_pixel, raster.to_world):
            with pytest.raises(terrazzo.UsageError, match="pairs"):
                function(wrong)


def test_a_text_that_is_no_crs_is_another_crs(dem):
    crs = terrazzo.open(dem).crs
    assert crs != "WGS" and crs != "" and crs is not None and crs == "epsg:32632"
    for wrong in (None, {"init": "epsg:4326"}, 2.5):
        with pytest.raises(terrazzo.UsageError, match="is not a CRS"):
            terrazzo.Crs(wrong)


@pytest.mark.parametrize("out, text", [
    (np.broadcast_to(np.float32(0), (300, 400)), "read-only"),
    (np.zeros((300, 400), ">f4"), "byte order"),
    ([[0.0]], "is list"),
], ids=["read-only", "swapped", "list"])  # fmt: skip
def test_an_array_that_cannot_be_written_is_refused(dem, out, text):
    with pytest.raises(terrazzo.UsageError, match=text):
        terrazzo.read(dem, 1, out=out)
    with pytest.raises(terrazzo.UsageError, match=text):
        terrazzo.read_windows([(dem, (0, 0, 400, 300))], out=out)


@pytest.mark.parametrize("keywords, text", [
    ({"threads": -1}, "threads does not take -1"),
    ({"level": "9"}, "level does not take '9'"),
    ({"predictor": 3}, "predictor is '3'; the choices are .*floating-point"),
    ({"bigtiff": True}, "bigtiff is 'True'; the choices are automatic"),
], ids=str)  # fmt: skip
def test_values_of_another_type_are_named(tmp_path, keywords, text):
    with pytest.raises(terrazzo.UsageError, match=text):
        terrazzo.write(tmp_path / "o.tif", np.zeros((16, 16), np.uint8), **keywords)


def test_a_window_of_a_preview_begins_inside(dem):
    with pytest.raises(terrazzo.UsageError, match="window does not take"):
        terrazzo.preview(dem, window=(-5, 0, 10, 10))


def test_names_of_rasterio_are_answered_with_ours(dem, tmp_path):
    array = np.zeros((16, 16), np.uint8)
    for function, name, ours in (
        (lambda **k: terrazzo.read(dem, **k), "indexes", "bands"),
        (lambda **k: terrazzo.read(dem, **k), "out_shape", "size"),
        (lambda **k: terrazzo.write(tmp_path / "o.tif", array, **k), "compress", "compression"),
        (lambda **k: terrazzo.cog(dem, tmp_path / "o.tif", **k), "BLOCKXSIZE", "tile_size"),
    ):
        with pytest.raises(TypeError, match=f"{name}.*here it is {ours}"):
            function(**{name: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'sharpness'$"):
        terrazzo.write(tmp_path / "o.tif", array, sharpness=1)


def test_numpy_s_numbers_are_numbers(tmp_path):
    path = tmp_path / "o.tif"
    terrazzo.write(
        path, np.zeros((64, 64), np.float32), cog=np.bool_(True), level=np.int64(9), tile_size=np.int32(32),
        pixel_is_point=np.True_, crs=np.int32(32632), transform=np.array([1, 0, 0, 0, -1, 0]), statistics=np.False_,
    )  # fmt: skip
    info = terrazzo.open(path).info
    assert info.layout.cog and info.layout.tile_width == 32 and info.georeference.pixel_is_point
    assert terrazzo.validate(path, decode=np.True_).valid_cog


def test_one_value_for_all_bands(tmp_path):
    path = tmp_path / "o.tif"
    terrazzo.write(path, np.zeros((3, 16, 16), np.int16), scales=0.5, offsets=2, units="m", descriptions="abc")
    for band in terrazzo.open(path).bands:
        assert (band.scale, band.offset, band.unit, band.description) == (0.5, 2, "m", "abc")


def test_ground_control_points_and_colours_of_rasterio(tmp_path):
    path, array = tmp_path / "o.tif", np.zeros((16, 16), np.uint8)
    points = [GroundControlPoint(0, 0, 1, 2), GroundControlPoint(0, 16, 2, 2, 5), GroundControlPoint(16, 0, 1, 3)]
    terrazzo.write(path, array, crs=4326, gcps=points, color_table={0: (1, 2, 3, 255), 7: (9, 8, 7)})
    with rasterio.open(path) as src:
        found, crs = src.gcps
        assert [(p.row, p.col, p.x, p.y, p.z) for p in found] == [(0, 0, 1, 2, 0), (0, 16, 2, 2, 5), (16, 0, 1, 3, 0)]
        assert crs.to_epsg() == 4326 and src.colormap(1)[0][:3] == (1, 2, 3) and src.colormap(1)[7][:3] == (9, 8, 7)
    copied = tmp_path / "c.tif"
    terrazzo.write(copied, array, crs=4326, gcps=pickle.loads(pickle.dumps(terrazzo.open(path).gcps)))
    assert [p.x for p in terrazzo.open(copied).gcps] == [1, 2, 1]


def test_none_removes_a_tag(tmp_path):
    path = tmp_path / "o.tif"
    terrazzo.write(path, np.zeros((16, 16), np.uint8), tags={"A": 1, "B": 2, "C": None})
    assert terrazzo.open(path).tags == {"A": "1", "B": "2"}
    terrazzo.edit(path, tags={"A": None}, bands={1: {"tags": {"D": "x", "E": None}}})
    assert terrazzo.open(path).tags == {"B": "2"} and terrazzo.open(path).bands[0].metadata == {"": {"D": "x"}}
    terrazzo.write(tmp_path / "like.tif", np.zeros((16, 16), np.uint8), like=path, tags={"B": None})
    assert "B" not in terrazzo.open(tmp_path / "like.tif").tags


def test_read_takes_the_keywords_of_open(dem):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe("/habits/dem.tif", dem.read_bytes())
    expected = terrazzo.read(dem, 1)
    np.testing.assert_array_equal(terrazzo.read("habits/dem.tif", 1, filesystem=memory), expected)
    np.testing.assert_array_equal(terrazzo.read("memory://habits/dem.tif", 1, storage_options={}, page=0), expected)


# --- What is shown, and what travels to other processes


def test_reports_and_descriptions_show_their_values(dem, tmp_path):
    raster = terrazzo.open(dem)
    report = terrazzo.ReadReport()
    raster.read(report=report)
    shown = [raster.info, raster.bands[0], raster.info.layout, raster.info.georeference, raster.plan(), report,
             terrazzo.write(tmp_path / "o.tif", raster.read()), terrazzo.cog(dem, tmp_path / "c.tif"),
             terrazzo.validate(dem), terrazzo.validation_rules()[0], terrazzo.overviews(tmp_path / "o.tif", [2]),
             terrazzo.edit(tmp_path / "o.tif", nodata=0), terrazzo.mosaic([dem], tmp_path / "m.tif")]  # fmt: skip
    for value in shown:
        assert repr(value).startswith(type(value).__name__ + "(") and "object at" not in repr(value)
    assert "tiles=12" in repr(report) and "valid_cog=" in repr(shown[8])


def test_reports_can_be_pickled(dem, tmp_path):
    """A pool of processes returns them."""
    report = pickle.loads(pickle.dumps(terrazzo.cog(dem, tmp_path / "c.tif")))
    assert report.read.tiles == 12 and report.write.bytes_written > 0 and "tiles=12" in repr(report)
    outcomes = terrazzo.convert_many([dem, tmp_path / "nowhere.tif"], tmp_path / "many")
    states = {path: outcome.state for path, outcome in pickle.loads(pickle.dumps(outcomes)).items()}
    assert sorted(states.values()) == ["done", "failed"]
    info = copy.deepcopy(terrazzo.open(dem).info)
    assert info.bands[0].dtype == "float32" and info.georeference.crs.epsg == 32632


def test_notebooks_show_damaged_and_large_files(dem, tmp_path):
    damaged = bytearray(dem.read_bytes())
    damaged[-20000:] = bytes(20000)
    text = terrazzo.open(damaged)._repr_html_()
    assert "no thumbnail" in text and "400 x 300 pixels" in text
    large = tmp_path / "large.tif"
    terrazzo.write(large, np.zeros((6144, 8192), np.float32), sparse=True)
    assert "<img" not in terrazzo.open(large)._repr_html_()
    terrazzo.overviews(large, [8, 16])
    assert "<img" in terrazzo.open(large)._repr_html_()
    local = write_with_gdal(tmp_path / "named.tif", terrain(50, 50), crs="+proj=laea +lat_0=52 +lon_0=10 +ellps=GRS80")
    assert "PROJCRS" not in terrazzo.open(local)._repr_html_()
