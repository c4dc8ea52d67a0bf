# SPDX-License-Identifier: Apache-2.0
"""read_windows(): many windows of many rasters in one array."""
import numpy as np
import pytest
import rasterio
import rasterio.coords
from rasterio.transform import from_origin

import terrazzo
from conftest import around, box_of, terrain, write_with_gdal


@pytest.fixture(scope="module")
def bands3(folder):
    """uint8, three bands, 200 x 160 pixels, nodata 7."""
    values = np.random.default_rng(5).integers(0, 255, (3, 160, 200)).astype(np.uint8)
    return write_with_gdal(folder / "bands3.tif", values, nodata=7, blockxsize=64, blockysize=64)


WINDOWS = [(0, 0, 50, 40), (-20, -10, 50, 40), (170, 150, 50, 40), (30, 20, 50, 40), (-60, 0, 50, 40), (500, 500, 50, 40),
           (150, 120, 50, 40)]  # fmt: skip


def test_windows_that_reach_outside_go_on_with_nodata(bands3):
    whole = terrazzo.read(bands3)
    got = terrazzo.read_windows([(bands3, window) for window in WINDOWS])
    assert got.shape == (7, 3, 40, 50) and got.dtype == np.uint8
    for item, window in zip(got, WINDOWS):
        np.testing.assert_array_equal(item, around(whole, window, 7))
    out = np.zeros((7, 3, 40, 50), np.float32)
    assert terrazzo.read_windows([(bands3, window) for window in WINDOWS], out=out) is out
    np.testing.assert_array_equal(out, got)


def test_windows_are_those_of_boundless_reads_for_all_ways_to_treat_missing_pixels(packed):
    ds = terrazzo.open(packed)
    windows = [(90, 30, 64, 32), (-10, -5, 64, 32), (380, 290, 64, 32)]
    for keywords in ({}, {"masked": True}, {"unpack": True}, {"masked": True, "unpack": True, "dtype": "float32"},
                     {"masked": True, "fill": 0, "dtype": "int16"}, {"bands": [3, 1]}, {"dtype": "int32"}):  # fmt: skip
        got = terrazzo.read_windows([(ds, window) for window in windows], **keywords)
        expected = np.stack([ds.read(window=window, boundless=True, **keywords) for window in windows])
        assert got.dtype == expected.dtype, keywords
        np.testing.assert_array_equal(got, expected, err_msg=str(keywords))


def test_windows_outside_are_refused_without_boundless(bands3):
    items = [(bands3, (0, 0, 50, 40)), (bands3, (180, 0, 50, 40))]
    with pytest.raises(terrazzo.UsageError, match="outside"):
        terrazzo.read_windows(items, boundless=False)
    with pytest.raises(terrazzo.UsageError, match="outside"):
        terrazzo.read_windows(items, boundless=False, on_error="fill")


def test_rasters_of_several_types_have_their_common_type(bands3, dem, packed):
    items = [(path, (10, 10, 32, 32)) for path in (bands3, dem, packed)]
    got = terrazzo.read_windows(items, bands=1)
    assert got.dtype == np.float32 and got.shape == (3, 1, 32, 32)
    for item, (path, window) in zip(got, items):
        np.testing.assert_array_equal(item, terrazzo.read(path, [1], window=window))
    assert terrazzo.read_windows([items[0], items[2]], bands=1).dtype == np.int16
    assert terrazzo.read_windows(items, bands=1, dtype="uint8").dtype == np.uint8
    with pytest.raises(terrazzo.UsageError, match="bands"):
        terrazzo.read_windows(items)


def test_scale_and_offset_make_floats_and_fill_is_the_final_value(bands3):
    whole = terrazzo.read(bands3)
    items = [(bands3, (-5, -5, 64, 64)), (bands3, (20, 20, 64, 64))]
    got = terrazzo.read_windows(items, scale=[1 / 255, 2, 1], offset=[0, -1, 5], fill=-3)
    assert got.dtype == np.float32
    for item, (_, window) in zip(got, items):
        expected = around(whole.astype(np.float64), window, 7)
        scaled = expected * np.reshape([1 / 255, 2, 1], (3, 1, 1)) + np.reshape([0, -1, 5], (3, 1, 1))
        np.testing.assert_allclose(item, np.where(expected == 7, -3, scaled), rtol=1e-6)
    nan = terrazzo.read_windows(items, scale=2.0, masked=True)
    np.testing.assert_array_equal(np.isnan(nan[1]), whole[:, 20:84, 20:84] == 7)
    plain = terrazzo.read_windows(items[1:], scale=0.5)
    np.testing.assert_array_equal(plain[0], whole[:, 20:84, 20:84] * 0.5)
    with pytest.raises(terrazzo.UsageError, match="floating"):
        terrazzo.read_windows(items, scale=2, dtype="int16")
    with pytest.raises(terrazzo.UsageError, match="2 numbers for 3 bands"):
        terrazzo.read_windows(items, scale=[1, 2])


def test_boxes_are_the_windows_they_cover(bands3):
    expected = terrazzo.read_windows([(bands3, window) for window in WINDOWS])
    boxes = [box_of(window) for window in WINDOWS]
    np.testing.assert_array_equal(terrazzo.read_windows([(bands3, box) for box in boxes]), expected)
    rio = [(bands3, rasterio.coords.BoundingBox(*box)) for box in boxes]
    np.testing.assert_array_equal(terrazzo.read_windows(rio, size=(50, 40)), expected)
    np.testing.assert_array_equal(terrazzo.read_windows(rio, resolution=10), expected)
    # Boxes that are not aligned, as samplers draw them, begin at the nearest pixel and keep their size.
    moved = [(bands3, terrazzo.Bounds(*(edge + shift for edge, shift in zip(box, (3.3, -4.1, 3.3, -4.1))))) for box in boxes]
    np.testing.assert_array_equal(terrazzo.read_windows(moved, size=(50, 40)), expected)
    with pytest.raises(terrazzo.UsageError, match="empty"):
        terrazzo.read_windows([(bands3, terrazzo.Bounds(1, 1, 0, 0))])


def test_boxes_of_another_crs(dem):
    ds = terrazzo.open(dem)
    try:
        box = terrazzo.Bounds(*ds.bounds_in("EPSG:4326"))
    except terrazzo.UnsupportedError:
        pytest.skip("no PROJ")
    assert terrazzo.read_windows([(dem, box)], bbox_crs=4326, size=(40, 30)).shape == (1, 1, 30, 40)


@pytest.mark.parametrize("resampling", ["nearest", "average", "bilinear"])
def test_other_sizes_and_resolutions_are_resampled(dem, resampling):
    ds = terrazzo.open(dem)
    expected = ds.read(window=(40, 60, 128, 64), size=(64, 32), resampling=resampling)
    by_size = terrazzo.read_windows([(ds, (40, 60, 128, 64))], size=(64, 32), resampling=resampling)
    by_resolution = terrazzo.read_windows([(ds, box_of((40, 60, 128, 64)))], resolution=20, resampling=resampling)
    both = terrazzo.read_windows([(ds, (40, 60, 128, 64))], size=(64, 32), resolution=20, resampling=resampling)
    for got in (by_size, by_resolution, both):
        np.testing.assert_array_equal(got[0], expected)


def test_resampled_windows_that_reach_outside_are_filled_there(dem):
    ds = terrazzo.open(dem)
    whole = ds.read(size=(200, 150))
    got = terrazzo.read_windows([(ds, (-40, -20, 128, 64)), (ds, (350, 280, 128, 64)), (ds, (900, 0, 128, 64))],
                                size=(64, 32), masked=True)  # fmt: skip
    for item, corner in zip(got, ((-20, -10), (175, 140), (450, 0))):
        np.testing.assert_array_equal(item, around(whole, (*corner, 64, 32), np.nan))


def test_resampled_pixels_are_inside_if_their_middle_is(dem):
    """The middle of column 24 is the right edge of the raster, and the middle of row -1 above its upper edge."""
    whole = terrazzo.read(dem)
    got = terrazzo.read_windows([(dem, (351, -3, 128, 64))], size=(64, 32), masked=True)[0, 0]
    np.testing.assert_array_equal(got[1:, :24], whole[0, 0:62:2, 352:400:2])
    assert np.isnan(got[:, 24:]).all() and np.isnan(got[0]).all()


def test_windows_of_overviews_and_rasters_of_several_resolutions(large, folder):
    ds = terrazzo.open(large)
    got = terrazzo.read_windows([(ds, (100, 50, 64, 64)), (ds, (490, 490, 64, 64))], overview=2)
    np.testing.assert_array_equal(got[0], ds.read(window=(100, 50, 64, 64), overview=2))
    np.testing.assert_array_equal(got[1], ds.read(window=(490, 490, 64, 64), overview=2, boundless=True))
    box = box_of((400, 200, 256, 256))
    np.testing.assert_array_equal(terrazzo.read_windows([(ds, box)], overview=2)[0], got[0])
    coarse = write_with_gdal(folder / "coarse.tif", terrain(150, 200), transform=from_origin(500000, 4200000, 20, 20))
    mixed = terrazzo.read_windows([(large, box_of((0, 0, 32, 32))), (coarse, box_of((0, 0, 32, 32)))], resolution=10)
    np.testing.assert_array_equal(mixed[1, 0], np.kron(terrazzo.read(coarse, 1, window=(0, 0, 16, 16)), np.ones((2, 2))))
    with pytest.raises(terrazzo.UsageError, match="exclude"):
        terrazzo.read_windows([(ds, box)], overview=1, resolution=10)
    with pytest.raises(terrazzo.UsageError, match="overview 5"):
        terrazzo.read_windows([(ds, box)], overview=5)


@pytest.fixture(scope="module")
def damaged(large, folder):
    """The tile of the pixels around (300, 300) cannot be decoded."""
    path = folder / "damaged.tif"
    ds = terrazzo.open(large)
    data = bytearray(large.read_bytes())
    with rasterio.open(large) as src:
        offset = int(src.get_tag_item("BLOCK_OFFSET_1_1", "TIFF", bidx=1))
    data[offset : offset + 400] = bytes(400)
    path.write_bytes(data)
    with pytest.raises(terrazzo.Error):
        terrazzo.read(path, window=(300, 300, 8, 8))
    assert ds.width == 2048
    return path


def test_files_that_cannot_be_read_are_filled_and_reported(large, damaged, folder, caplog):
    missing = folder / "no such file.tif"
    items = [(large, (0, 0, 32, 32)), (missing, (0, 0, 32, 32)), (damaged, (300, 300, 32, 32)), (damaged, (600, 600, 32, 32)),
             (missing, (5, 5, 32, 32)), (damaged, (240, -10, 32, 32)), (large, (2040, 9, 32, 32))]  # fmt: skip
    with pytest.raises(terrazzo.MissingFileError):
        terrazzo.read_windows(items)
    failures = {99: "of another call"}
    pixels, valid = terrazzo.read_windows(items, on_error="fill", fill=9, return_valid=True, errors=failures)
    assert valid.tolist() == [True, False, False, True, False, True, True]
    assert sorted(failures) == [1, 2, 4, 99] and isinstance(failures[1], terrazzo.MissingFileError)
    assert isinstance(failures[2], terrazzo.MalformedError)
    assert (pixels[[1, 2, 4]] == 9).all()
    np.testing.assert_array_equal(pixels[0], terrazzo.read(large, window=(0, 0, 32, 32)))
    np.testing.assert_array_equal(pixels[3], terrazzo.read(large, window=(600, 600, 32, 32)))
    np.testing.assert_array_equal(pixels[5], around(terrazzo.read(large), items[5][1], 9))
    np.testing.assert_array_equal(pixels[6], around(terrazzo.read(large), items[6][1], 9))
    assert "no such file" in caplog.text
    masked = terrazzo.read_windows(items, on_error="fill", masked=True, dtype="float32")
    assert np.isnan(masked[[1, 2, 4]]).all() and not np.isnan(masked[[0, 3]]).any()
    with pytest.raises(terrazzo.MissingFileError):
        terrazzo.read_windows(items[1:2], on_error="fill")


def test_mistakes_of_the_caller_are_raised_even_if_files_may_fail(bands3):
    for keywords, text in (({"bands": 4}, "band"), ({"on_error": "ignore"}, "on_error"), ({"size": 0}, "size"),
                           ({"out": np.zeros((1, 1, 8, 8))}, "shape"), ({"like": "jax"}, "like")):  # fmt: skip
        with pytest.raises(terrazzo.UsageError, match=text):
            terrazzo.read_windows([(bands3, (0, 0, 8, 8))], **{"on_error": "fill", **keywords})
    with pytest.raises(terrazzo.UsageError, match="no windows"):
        terrazzo.read_windows([])
    with pytest.raises(terrazzo.UsageError, match="window 1 has 9 x 8 pixels"):
        terrazzo.read_windows([(bands3, (0, 0, 8, 8)), (bands3, (0, 0, 9, 8))])


def test_each_file_is_opened_once_and_each_tile_fetched_once(bands3):
    class Counting:
        size = bands3.stat().st_size
        name = "counting"
        fetched = []

        def read_ranges(self, ranges):
            self.fetched += ranges
            data = bands3.read_bytes()
            return [data[offset : offset + length] for offset, length in ranges]

    source = Counting()
    got = terrazzo.read_windows([(source, (x, 3, 32, 32)) for x in range(20)])
    np.testing.assert_array_equal(got[19], terrazzo.read(bands3, window=(19, 3, 32, 32)))
    assert sum(offset == 0 for offset, _ in source.fetched) == 1
    assert len(source.fetched) == len(set(source.fetched))


def test_windows_that_fail_are_not_scaled(large, folder):
    """Memory of such windows was not written: it may hold numbers whose product is a warning."""
    out = np.full((2, 1, 32, 32), 0x7FA00000, np.uint32).view(np.float32)  # signalling NaNs
    items = [(large, (0, 0, 32, 32)), (folder / "no such file.tif", (0, 0, 32, 32))]
    terrazzo.read_windows(items, bands=[1], out=out, scale=2.0, fill=0, on_error="fill")
    assert (out[1] == 0).all()
    np.testing.assert_array_equal(out[0, 0], 2 * terrazzo.read(large, 1, window=(0, 0, 32, 32)).astype(np.float32))


def test_samplers_of_torchgeo_give_slices_of_x_y_and_time(dem):
    box = box_of((40, 30, 64, 64))
    slices = (slice(box.left, box.right, 10), slice(box.bottom, box.top, 10), slice(None))
    np.testing.assert_array_equal(terrazzo.read_windows([(dem, slices)]), terrazzo.read_windows([(dem, box)]))
    with pytest.raises(terrazzo.UsageError, match="window is"):
        terrazzo.read_windows([(dem, (1, 2, 3))])


@pytest.mark.parametrize("items", [["dem.tif"], [5]])
def test_an_item_is_a_pair(items):
    with pytest.raises(terrazzo.UsageError, match="an item is a pair"):
        terrazzo.read_windows(items)
