# SPDX-License-Identifier: Apache-2.0
import asyncio
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest
import rasterio
from conftest import terrain, write_with_gdal

import terrazzo

xr = pytest.importorskip("xarray")


class Counted:
    """A source that counts the bytes that are read."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.size, self.bytes_read = len(self.data), 0

    def read_ranges(self, ranges):
        self.bytes_read += sum(length for _, length in ranges)
        return [self.data[offset : offset + length] for offset, length in ranges]


@pytest.fixture(scope="module")
def whole(large):
    return rasterio.open(large).read()


def test_the_engine_gives_the_profile_of_rioxarray(packed):
    ds = xr.open_dataset(packed, engine="terrazzo")
    data = ds.band_data
    assert data.dims == ("band", "y", "x") and list(ds.band) == [1, 2, 3]
    values = rasterio.open(packed).read()
    assert data.dtype in (np.float32, np.float64)
    np.testing.assert_allclose(data.values, np.where(values == -9999, np.nan, values * 0.5 + 10))
    assert data.encoding["_FillValue"] == -9999 and data.encoding["grid_mapping"] == "spatial_ref"
    assert data.attrs["long_name"] == ("low", "middle", "high") and data.attrs["AUTHOR"] == "nobody"
    assert float(ds.x[0]) == 500005 and float(ds.y[0]) == 4199995
    assert "UTM zone 32N" in ds.spatial_ref.attrs["crs_wkt"]
    assert ds.spatial_ref.attrs["GeoTransform"] == "500000.0 10.0 0.0 4200000.0 0.0 -10.0"


def test_raw_values_come_without_masking(packed):
    data = xr.open_dataset(packed, engine="terrazzo", mask_and_scale=False).band_data
    assert data.dtype == np.int16 and data.attrs["_FillValue"] == -9999
    np.testing.assert_array_equal(data, rasterio.open(packed).read())


def test_bands_become_variables(packed):
    ds = xr.open_dataset(packed, engine="terrazzo", band_as_variable=True, mask_and_scale=False)
    assert list(ds.data_vars) == ["band_1", "band_2", "band_3"]
    np.testing.assert_array_equal(ds.band_2, rasterio.open(packed).read(2))


def test_masked_values_have_xarrays_types(tmp_path):
    """As xarray's own decoding of the stored values."""
    for dtype in ("uint8", "int16", "int32", "float32", "float64"):
        values = np.arange(60).reshape(6, 10).astype(dtype)
        path = write_with_gdal(tmp_path / f"{dtype}.tif", values, nodata=7)
        decoded = xr.open_dataset(path, engine="terrazzo").band_data
        raw = xr.open_dataset(path, engine="terrazzo", mask_and_scale=False).band_data
        expected = xr.conventions.decode_cf_variable("band_data", raw.variable)
        assert decoded.dtype == expected.dtype and decoded.encoding["dtype"] == np.dtype(dtype)
        np.testing.assert_array_equal(decoded, expected)
    assert xr.open_dataset(tmp_path / "int16.tif", engine="terrazzo").band_data.dtype == np.float32


def test_scaled_values_are_xarrays(packed):
    decoded = xr.open_dataset(packed, engine="terrazzo").band_data
    raw = xr.open_dataset(packed, engine="terrazzo", mask_and_scale=False).band_data
    expected = xr.conventions.decode_cf_variable("band_data", raw.variable)
    assert decoded.dtype == expected.dtype == np.float64
    np.testing.assert_array_equal(decoded, expected)
    masked = xr.open_dataset(packed, engine="terrazzo", mask_and_scale=False, masked=True).band_data
    assert masked.dtype == np.float32 and masked.attrs["scale_factor"] == 0.5
    np.testing.assert_array_equal(masked, np.where(raw == -9999, np.nan, raw))


def test_values_that_are_never_missing_keep_their_type(large, tmp_path):
    assert xr.open_dataset(large, engine="terrazzo").band_data.dtype == np.uint16
    path = write_with_gdal(tmp_path / "outside.tif", np.zeros((20, 20), np.uint8))
    terrazzo.write(tmp_path / "nan.tif", np.ones((20, 20), np.float32), nodata=float("nan"))
    assert xr.open_dataset(path, engine="terrazzo").band_data.dtype == np.uint8
    assert np.isnan(xr.open_dataset(tmp_path / "nan.tif", engine="terrazzo").band_data.encoding["_FillValue"])


def test_pixels_without_validity_in_the_mask_are_missing(tmp_path):
    valid = np.ones((40, 50), np.uint8)
    valid[10:20] = 0
    terrazzo.write(tmp_path / "mask.tif", np.full((40, 50), 7, np.uint8), mask=valid)
    data = xr.open_dataset(tmp_path / "mask.tif", engine="terrazzo").band_data
    assert data.dtype == np.float32 and "_FillValue" not in data.encoding
    np.testing.assert_array_equal(data[0], np.where(valid, 7, np.nan))


def test_bands_may_differ_in_scale_and_offset(tmp_path):
    values = np.stack([terrain(30, 40)] * 2).astype(np.int16)
    values[:, :5] = -1
    path = write_with_gdal(tmp_path / "mixed.tif", values, nodata=-1)
    with rasterio.open(path, "r+") as out:
        out.scales, out.offsets = (0.5, 2.0), (0.0, 10.0)
    data = xr.open_dataset(path, engine="terrazzo").band_data
    expected = values * np.array([0.5, 2.0])[:, None, None] + np.array([0.0, 10.0])[:, None, None]
    expected[:, :5] = np.nan
    np.testing.assert_array_equal(data, expected)
    assert data.encoding["scales"] == (0.5, 2.0) and "scale_factor" not in data.encoding
    bands = xr.open_dataset(path, engine="terrazzo", band_as_variable=True)
    np.testing.assert_array_equal(bands.band_2, expected[1])
    assert bands.band_2.encoding["scale_factor"] == 2.0


def test_indexing_is_lazy_and_equals_numpy(large, whole):
    data = xr.open_dataset(large, engine="terrazzo", mask_and_scale=False, cache=False).band_data
    rows, columns = np.array([5, 900, 3, 2047]), np.array([7, 6])
    for key in (np.s_[0, 10:20, 30:40], np.s_[:, 5, ::-3], np.s_[0, 100:50:-2, -5:], np.s_[:, :0, :], np.s_[0, 3, 4],
                np.s_[-1, -2, ...], np.s_[:, ::700, 3:9], np.s_[:, ::500, ::-600], np.s_[[0, 0], 2:4, -1]):  # fmt: skip
        np.testing.assert_array_equal(data[key].values, whole[key])
    np.testing.assert_array_equal(data[0, rows, columns].values, whole[0][np.ix_(rows, columns)])
    np.testing.assert_array_equal(data[:, rows, 5].values, whole[:, rows, 5])


def test_points_equal_numpy(large, whole, packed):
    data = xr.open_dataset(large, engine="terrazzo", cache=False).band_data
    rows, columns = np.random.default_rng(2).integers(0, 2048, (2, 7, 30))
    y, x = (xr.DataArray(values, dims=("line", "point")) for values in (rows, columns))
    picked = data.isel(y=y, x=x)
    assert picked.dims == ("band", "line", "point")
    np.testing.assert_array_equal(picked, whole[:, rows, columns])
    bands = xr.open_dataset(packed, engine="terrazzo", band_as_variable=True, mask_and_scale=False, cache=False)
    place = xr.DataArray([0, 250, 3], dims="point")
    np.testing.assert_array_equal(bands.band_3.isel(y=place, x=place), rasterio.open(packed).read(3)[[0, 250, 3], [0, 250, 3]])
    three = xr.open_dataset(packed, engine="terrazzo", mask_and_scale=False, cache=False).band_data
    band = xr.DataArray([2, 0, 1], dims="point")
    expected = rasterio.open(packed).read()[[2, 0, 1], [0, 250, 3], [0, 250, 3]]
    np.testing.assert_array_equal(three.isel(band=band, y=place, x=place), expected)


def test_scattered_indices_read_only_their_tiles(large, whole):
    """The file has 8 x 8 tiles; noise, so all have about the same size."""
    tile = large.stat().st_size / (64 * 1.35)  # with overviews
    for pick, tiles in (
        (lambda data: data[:, [0, 2047], [0, 1000, 2047]], 6),
        (lambda data: data[:, ::2047, 300:400], 2),
        (lambda data: data.isel(y=xr.DataArray([0, 2047, 1000], dims="p"), x=xr.DataArray([0, 2047, 10], dims="p")), 3),
    ):
        source = Counted(large)
        data = xr.open_dataset(source, engine="terrazzo", cache=False).band_data
        header = source.bytes_read
        pick(data).load()
        assert 0 < source.bytes_read - header < (tiles + 1) * tile


def test_windows_of_strided_indices_are_bounded():
    from terrazzo._lazy_index import axes_of

    rows, columns = axes_of(slice(0, 100_000, 100), slice(0, 100_000, 100), (100_000, 100_000), (256, 256))
    pixels = max(row.size for row in rows.runs) * max(column.size for column in columns.runs)
    assert pixels <= 1 << 24 and sum(len(row.target) for row in rows.runs) == 1000
    rows, columns = axes_of(slice(0, 100_000, 100), slice(None), (100_000, 100_000), (256, 256))
    assert len(columns.runs) == 1 and max(row.size for row in rows.runs) <= 256


def test_asynchronous_loads(large, whole):
    data = xr.open_dataset(large, engine="terrazzo", cache=False).band_data
    if not hasattr(data, "load_async"):
        pytest.skip("this xarray has no load_async()")

    async def load():
        return await asyncio.gather(*(data[:, first : first + 100].load_async() for first in (0, 700)))

    first, second = asyncio.run(load())
    np.testing.assert_array_equal(first, whole[:, :100])
    np.testing.assert_array_equal(second, whole[:, 700:800])


def test_overviews_have_their_own_coordinates(large):
    ds = xr.open_dataset(large, engine="terrazzo", overview=1, mask_and_scale=False)
    assert dict(ds.sizes) == {"band": 1, "y": 1024, "x": 1024} and float(ds.x[1] - ds.x[0]) == 20
    with pytest.raises(terrazzo.UsageError):
        xr.open_dataset(large, engine="terrazzo", overview=9)


def test_a_tree_has_the_levels_as_groups(large, whole):
    tree = xr.open_datatree(large, engine="terrazzo")
    assert list(tree.children) == ["0", "1", "2"] and not tree.ds.data_vars
    assert [dict(level.sizes)["x"] for level in tree.children.values()] == [2048, 1024, 512]
    np.testing.assert_array_equal(tree["1"].band_data, rasterio.open(large, overview_level=0).read())
    groups = xr.open_groups(large, engine="terrazzo", mask_and_scale=False)
    np.testing.assert_array_equal(groups["/0"].band_data, whole)
    with pytest.raises(terrazzo.UsageError):
        xr.open_datatree(large, engine="terrazzo", overview=1)


def test_open_datasets_are_taken_and_stay_open(large, whole):
    source = Counted(large)
    with terrazzo.open(source) as opened:
        header = source.bytes_read
        xr.open_datatree(opened, engine="terrazzo").close()
        with xr.open_dataset(opened, engine="terrazzo") as ds:
            np.testing.assert_array_equal(ds.band_data[:, :5], whole[:, :5])
        assert opened.read(1, window=(0, 0, 1, 1)) == whole[0, 0, 0]
        with pytest.raises(terrazzo.UsageError, match="page"):
            xr.open_dataset(opened, engine="terrazzo", page=1)
    source = Counted(large)
    tree = xr.open_datatree(source, engine="terrazzo")
    assert source.bytes_read == header  # one header for all levels
    tree.close()
    with pytest.raises(terrazzo.UsageError, match="closed"):
        tree["1"].band_data.load()


def test_rasters_that_are_not_georeferenced_have_pixel_coordinates(tmp_path):
    terrazzo.write(tmp_path / "plain.tif", terrain(20, 30))
    ds = xr.open_dataset(tmp_path / "plain.tif", engine="terrazzo")
    assert list(ds.x[:2]) == [0.5, 1.5] and list(ds.y[:2]) == [0.5, 1.5] and ds.terrazzo.transform is None
    ds = xr.open_dataset(tmp_path / "plain.tif", engine="terrazzo", parse_coordinates=False)
    assert set(ds.coords) == {"band", "spatial_ref"}


def test_rotated_rasters_have_lazy_coordinates_of_two_axes(tmp_path):
    transform = terrazzo.Transform(9.0, -3.0, 5e5, -3.0, -9.0, 4.2e6)
    terrazzo.write(tmp_path / "rotated.tif", terrain(20, 30), crs=32632, transform=transform)
    ds = xr.open_dataset(tmp_path / "rotated.tif", engine="terrazzo")
    assert ds.xc.dims == ("y", "x") and "x" not in ds.coords
    assert (float(ds.xc[3, 5]), float(ds.yc[3, 5])) == pytest.approx(transform @ (5.5, 3.5))
    np.testing.assert_allclose(ds.yc[2:4, [7, 1]], [[(transform @ (x + 0.5, y + 0.5))[1] for x in (7, 1)] for y in (2, 3)])
    assert ds.terrazzo.transform == transform


def test_device_reads_become_arrays_of_cupy(packed, monkeypatch):
    """Without a GPU: a module `cupy` of numpy's functions, and a device read that reads into the host."""
    read = terrazzo.Dataset.read
    asked = []

    def read_device(self, bands, *, device="cpu", **keywords):
        asked.append(device)
        return read(self, bands, **keywords)

    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(from_dlpack=np.from_dlpack, empty=np.empty))
    monkeypatch.setattr(terrazzo.Dataset, "read", read_device)
    on_host = xr.open_dataset(packed, engine="terrazzo").band_data
    on_device = xr.open_dataset(packed, engine="terrazzo", device="cuda", cache=False).band_data
    np.testing.assert_array_equal(on_device[:, 10:90, [5, 350]].data, on_host[:, 10:90, [5, 350]].data)
    assert set(asked) == {"cpu", "cuda"}
    with pytest.raises(terrazzo.UsageError, match="device"):
        xr.open_dataset(packed, engine="terrazzo", device="tpu")


@pytest.mark.skipif(not terrazzo.doctor()["device"]["usable"], reason="no usable GPU")
def test_device_arrays_are_of_cupy(packed):
    cupy = pytest.importorskip("cupy")
    data = xr.open_dataset(packed, engine="terrazzo", device="cuda").band_data
    assert isinstance(data.data, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(data.data), xr.open_dataset(packed, engine="terrazzo").band_data)


def test_the_accessor_is_registered_by_the_engine_alone():
    code = "import terrazzo, sys; assert 'xarray' not in sys.modules; import xarray, terrazzo.accessor; xarray.DataArray.terrazzo"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_accessor_knows_the_place_of_parts(dem):
    ds = xr.open_dataset(dem, engine="terrazzo")
    source = terrazzo.open(dem)
    assert ds.terrazzo.crs == source.crs and ds.terrazzo.bounds == source.bounds
    part = ds.band_data[:, 100:150, 20:60]
    assert part.terrazzo.transform == source.window_transform((20, 100, 40, 50))
    assert part[:, :1, :1].terrazzo.transform == source.window_transform((20, 100, 1, 1))
    coarse = part.coarsen(x=2, y=2).mean()
    assert coarse.terrazzo.transform.a == 20 and coarse.terrazzo.bounds == part.terrazzo.bounds
    with pytest.raises(terrazzo.UsageError, match="evenly"):
        _ = part.isel(x=[0, 1, 5]).terrazzo.transform
    opened = terrazzo.open_geotiff(dem)
    assert opened.terrazzo.crs == source.crs and opened.terrazzo.transform == source.transform


def test_what_the_accessor_writes_is_what_was_read(packed, tmp_path):
    ds = xr.open_dataset(packed, engine="terrazzo")
    ds.terrazzo.to_cog(tmp_path / "a.tif")
    ours, theirs = terrazzo.open(tmp_path / "a.tif"), terrazzo.open(packed)
    np.testing.assert_array_equal(ours.read(), theirs.read())
    assert ours.info.layout.cog and ours.crs == theirs.crs and ours.transform == theirs.transform
    assert ours.nodata == -9999 and ours.tags["AUTHOR"] == "nobody" and ours.tags["NAME"] == "Zürich"
    for mine, other in zip(ours.bands, theirs.bands):
        assert (mine.scale, mine.offset, mine.description) == (other.scale, other.offset, other.description)
    ds.band_data[1].terrazzo.to_geotiff(tmp_path / "b.tif", dtype="float32", compression="deflate")
    written = terrazzo.open(tmp_path / "b.tif")
    assert written.dtype == np.float32 and written.count == 1 and written.info.layout.compression == "deflate"
    np.testing.assert_array_equal(written.read(1, masked=True), ds.band_data[1].astype("float32"))
    bands = xr.open_dataset(packed, engine="terrazzo", band_as_variable=True)
    bands.terrazzo.to_geotiff(tmp_path / "c.tif")
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "c.tif"), theirs.read())
    assert [band.description for band in terrazzo.open(tmp_path / "c.tif").bands] == ["low", "middle", "high"]


def test_results_of_computations_are_written_as_they_are(packed, tmp_path):
    ds = xr.open_dataset(packed, engine="terrazzo")
    result = (ds.band_data - 1000).isel(band=0)
    result.terrazzo.to_geotiff(tmp_path / "a.tif")
    written = terrazzo.open(tmp_path / "a.tif")
    assert written.dtype == np.float64 and written.crs == ds.terrazzo.crs
    np.testing.assert_array_equal(written.read(1), result)
    with pytest.raises(terrazzo.UsageError, match="dims"):
        xr.DataArray(np.zeros((2, 2, 3, 4)), dims=("a", "b", "y", "x")).terrazzo.to_geotiff(tmp_path / "b.tif")
    with pytest.raises(terrazzo.UsageError, match="y and x"):
        xr.DataArray(np.zeros((3, 4)), dims=("a", "b")).terrazzo.to_geotiff(tmp_path / "b.tif")


def test_plots_are_thinned_out(large, packed):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    image = xr.open_dataset(large, engine="terrazzo").band_data.terrazzo.plot(max_size=200)
    assert max(image.get_array().shape[:2]) <= 200
    image = xr.open_dataset(packed, engine="terrazzo").terrazzo.plot()
    assert image.get_array().shape == (300, 400, 4)


def test_storage_options_and_keywords_of_rioxarray(dem):
    fsspec = pytest.importorskip("fsspec")
    fsspec.filesystem("memory").pipe("/engine/dem.tif", dem.read_bytes())
    expected = xr.open_dataset(dem, engine="terrazzo")
    stored = xr.open_dataset("memory://engine/dem.tif", engine="terrazzo", storage_options={}, chunks={})
    np.testing.assert_array_equal(stored.band_data, expected.band_data)
    tree = xr.open_datatree("memory://engine/dem.tif", engine="terrazzo", storage_options={})
    assert tree["0"].sizes == expected.sizes
    same = xr.open_dataset(dem, engine="terrazzo", parse_coordinates=None, decode_coords="all", lock=False)
    assert set(same.coords) == set(expected.coords)
    with terrazzo.open(dem) as raster, pytest.raises(terrazzo.UsageError, match="open already"):
        xr.open_dataset(raster, engine="terrazzo", storage_options={"anon": True})


def test_a_dataarray_without_its_place_is_noted(dem, tmp_path, caplog):
    heights = xr.open_dataset(dem, engine="terrazzo").band_data
    for array in (heights, heights.chunk(100)):
        caplog.clear()
        terrazzo.write(tmp_path / "o.tif", array)
        assert "to_geotiff" in caplog.text and caplog.records[0].levelname == "WARNING"
    caplog.clear()
    terrazzo.write(tmp_path / "o.tif", heights, like=dem)
    heights.terrazzo.to_geotiff(tmp_path / "o.tif")
    assert caplog.text == ""
