# SPDX-License-Identifier: Apache-2.0
import pickle
from pathlib import Path

import numpy as np
import pytest
import rasterio
import rasterio.windows
from rasterio.enums import Resampling

import terrazzo
from conftest import DATA, terrain, write_with_gdal

SAMPLES = sorted(DATA.glob("*.tif"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_files_have_the_pixels_and_the_place_that_gdal_reads(path):
    try:
        with rasterio.open(path) as expected:
            pixels = expected.read()
            crs, transform, nodata = expected.crs or expected.gcps[1], expected.transform, expected.nodata
    except rasterio.errors.RasterioIOError:
        pytest.skip("GDAL cannot read it")
    ds = terrazzo.open(path)
    got = ds.read()
    assert got.dtype == pixels.dtype
    np.testing.assert_array_equal(got, pixels)
    assert (ds.crs is None) == (crs is None)
    if crs is not None and crs.to_epsg() is not None:
        assert ds.crs.epsg == crs.to_epsg()
    if ds.transform is not None:
        np.testing.assert_allclose(tuple(ds.transform), tuple(transform)[:6], rtol=1e-12)
    assert (ds.nodata is None) == (nodata is None)


def test_a_dataset_describes_its_raster(packed):
    ds = terrazzo.open(packed)
    assert ds.shape == (3, 300, 400) and ds.count == 3 and ds.dtype == np.int16
    assert ds.nodata == -9999 and isinstance(ds.nodata, int)
    assert [band.description for band in ds.bands] == ["low", "middle", "high"]
    assert ds.bands[1].scale == 0.5 and ds.bands[1].offset == 10.0
    assert ds.tags["AUTHOR"] == "nobody" and ds.tags["NAME"] == "Zürich"
    assert ds.transform == terrazzo.Transform(10, 0, 500000, 0, -10, 4200000)
    assert ds.bounds == (500000, 4197000, 504000, 4200000) and ds.bounds.top == 4200000
    assert ds.crs == 32632 and ds.crs == "EPSG:32632" and ds.crs.is_projected
    assert "WGS 84 / UTM zone 32N" in ds.crs.wkt and ds.crs.name == "WGS 84 / UTM zone 32N"
    assert ds.info.layout.compression == "deflate" and ds.info.layout.tiled
    assert "400 x 300" in repr(ds) and "data:image/png" in ds._repr_html_()


def test_bands_windows_and_slices_select_what_numpy_selects(packed):
    ds, whole = terrazzo.open(packed), rasterio.open(packed).read()
    np.testing.assert_array_equal(ds.read(2), whole[1])
    np.testing.assert_array_equal(ds.read([3, 1]), whole[[2, 0]])
    np.testing.assert_array_equal(ds.read(window=(30, 20, 50, 40)), whole[:, 20:60, 30:80])
    np.testing.assert_array_equal(ds.read(1, window=np.s_[20:60, 30:80]), whole[0, 20:60, 30:80])
    np.testing.assert_array_equal(ds.read(1, window=np.s_[250:, :]), whole[0, 250:])
    rio = rasterio.windows.Window(30, 20, 50, 40)
    np.testing.assert_array_equal(ds.read(1, window=rio), whole[0, 20:60, 30:80])
    np.testing.assert_array_equal(ds.read(1, bbox=(500100, 4199000, 500200, 4199500)), whole[0, 50:100, 10:20])


def test_a_box_of_another_crs_selects_the_same_pixels(dem):
    ds = terrazzo.open(dem)
    box = ds.bounds_in("EPSG:4326")
    assert ds.window(box, bbox_crs=4326) == (0, 0, 400, 300)
    assert ds.window_transform((10, 20, 5, 5)).c == 500100


@pytest.mark.parametrize("method, gdal", [("nearest", Resampling.nearest), ("average", Resampling.average),
                                          ("bilinear", Resampling.bilinear), ("cubic", Resampling.cubic)])
def test_resampled_reads_give_the_pixels_of_gdal(dem, method, gdal):
    with rasterio.open(dem) as expected:
        pixels = expected.read(1, out_shape=(100, 133), resampling=gdal)
    got = terrazzo.open(dem).read(1, size=(133, 100), resampling=method)
    np.testing.assert_allclose(got, pixels, rtol=1e-5)


def test_overviews_are_levels_from_1(large):
    ds = terrazzo.open(large)
    assert [(o.width, o.height) for o in ds.overviews] == [(1024, 1024), (512, 512)]
    with rasterio.open(large, overview_level=1) as expected:
        np.testing.assert_array_equal(ds.read(1, overview=2), expected.read(1))
    assert ds.read(1, resolution=40).shape == (512, 512)


def test_masked_reads_have_nan_for_missing_pixels(packed):
    ds, whole = terrazzo.open(packed), rasterio.open(packed).read()
    masked = ds.read(masked=True)
    assert masked.dtype == np.float64
    np.testing.assert_array_equal(np.isnan(masked), whole == -9999)
    assert ds.read(masked=True, dtype="float32").dtype == np.float32
    filled = ds.read(1, masked=True, fill=0, dtype="int16")
    np.testing.assert_array_equal(filled, np.where(whole[0] == -9999, 0, whole[0]))
    unpacked = ds.read(1, masked=True, unpack=True)
    np.testing.assert_array_equal(unpacked, np.where(whole[0] == -9999, np.nan, whole[0] * 0.5 + 10))
    np.testing.assert_array_equal(ds.read_mask(1), np.where(whole[0] == -9999, 0, 255))


def test_boundless_reads_continue_outside_the_raster(packed):
    with rasterio.open(packed) as expected:
        window = rasterio.windows.Window(-10, -20, 100, 50)
        pixels = expected.read(1, window=window, boundless=True, fill_value=-9999)
    ds = terrazzo.open(packed)
    np.testing.assert_array_equal(ds.read(1, window=(-10, -20, 100, 50), boundless=True), pixels)
    out = np.zeros((50, 100), np.int16)
    assert ds.read(1, window=(-10, -20, 100, 50), boundless=True, out=out) is out
    np.testing.assert_array_equal(out, pixels)
    with pytest.raises(terrazzo.UsageError, match="boundless"):
        ds.read(window=(-10, -20, 100, 50))


def test_out_takes_arrays_of_any_strides_without_a_copy(packed):
    ds, whole = terrazzo.open(packed), rasterio.open(packed).read()
    interleaved = np.zeros((300, 400, 3), np.int16)
    assert ds.read(out=np.moveaxis(interleaved, -1, 0)).base is interleaved
    np.testing.assert_array_equal(interleaved, np.moveaxis(whole, 0, -1))
    padded = np.zeros((300, 410), np.float32)
    ds.read(1, out=padded[:, 5:405])
    np.testing.assert_array_equal(padded[:, 5:405], whole[0])
    assert not padded[:, :5].any()
    upside_down = np.zeros((300, 400), np.int16)
    ds.read(1, out=upside_down[::-1])
    np.testing.assert_array_equal(upside_down, whole[0][::-1])


def test_out_of_a_wrong_shape_or_a_read_only_array_is_refused(dem):
    ds = terrazzo.open(dem)
    with pytest.raises(terrazzo.UsageError):
        ds.read(1, out=np.zeros((10, 10), np.float32))
    frozen = np.zeros((300, 400), np.float32)
    frozen.flags.writeable = False
    with pytest.raises((TypeError, ValueError, BufferError)):
        ds.read(1, out=frozen)
    assert not frozen.any()


def test_results_live_longer_than_their_dataset(dem):
    pixels = terrazzo.read(dem, 1)
    np.testing.assert_array_equal(pixels, terrain(300, 400))
    pixels[:] = 1  # the memory is the caller's
    assert pixels.sum() == 120000


def test_complex_integers_become_complex_floats(folder):
    values = (np.arange(64 * 64).reshape(64, 64) % 100 * (1 + 2j)).astype(np.complex64)
    path = write_with_gdal(folder / "complex.tif", values, dtype="complex_int16", compress="none")
    got = terrazzo.read(path, 1)
    assert got.dtype == np.complex64
    np.testing.assert_array_equal(got, values)


def test_sample_gives_the_pixels_under_points(packed):
    ds = terrazzo.open(packed)
    points = [(500005, 4199995), (501205, 4199505), (0, 0)]
    with rasterio.open(packed) as expected:
        rows = np.array(list(expected.sample(points)))
    values, states = ds.sample(points, return_states=True)
    np.testing.assert_array_equal(values[:2], rows[:2])
    np.testing.assert_array_equal(states, [[0] * 3, [1] * 3, [2] * 3])
    assert np.isnan(ds.sample(points, 1, masked=True)[1:]).all()


def test_read_windows_reads_many_windows_at_once(large):
    ds, whole = terrazzo.open(large), rasterio.open(large).read(1)
    corners = [(0, 0), (100, 900), (1700, 33)]
    got = terrazzo.read_windows([(ds if i else large, (c, r, 64, 32)) for i, (c, r) in enumerate(corners)])
    assert got.shape == (3, 1, 32, 64)
    for item, (c, r) in zip(got, corners):
        np.testing.assert_array_equal(item[0], whole[r : r + 32, c : c + 64])
    out = np.zeros_like(got)
    assert terrazzo.read_windows([(ds, (c, r, 64, 32)) for c, r in corners], out=out) is out
    np.testing.assert_array_equal(out, got)


def test_datasets_survive_pickling(dem):
    again = pickle.loads(pickle.dumps(terrazzo.open(dem, sidecars=False)))
    assert again.shape == (1, 300, 400) and again._arguments.sidecars is False


def test_a_closed_dataset_refuses_reads(dem):
    with terrazzo.open(dem) as ds:
        pass
    with pytest.raises(terrazzo.UsageError, match="closed"):
        ds.read()
    assert ds.width == 400


def test_pages_of_a_file_open_by_their_index():
    path = DATA / "pages.tif"
    if not path.exists():
        pytest.skip("no file of several pages in tests/data")
    assert terrazzo.open(path, page=terrazzo.open(path).info.pages[-1].ifd).width > 0


def test_reports_and_progress_count_tiles(large):
    calls, report = [], terrazzo.ReadReport()
    terrazzo.read(large, 1, progress=lambda done, total: calls.append((done, total)), report=report)
    assert report.tiles == 64 and calls[-1] == (64, 64)


def test_device_reads_say_why_they_are_impossible(dem):
    if terrazzo.doctor()["device"]["usable"]:
        pytest.skip("this machine has a GPU: tests/python_api/test_device.py")
    with pytest.raises((terrazzo.UnsupportedError, terrazzo.DeviceError)):
        terrazzo.open(dem).read(device="cuda")
    with pytest.raises(terrazzo.UsageError, match="tpu"):
        terrazzo.open(dem).read(device="tpu")


def test_paths_may_be_pathlike_text_and_file_urls(dem):
    for source in (str(dem), Path(dem), f"file://{dem}"):
        assert terrazzo.open(source).width == 400
