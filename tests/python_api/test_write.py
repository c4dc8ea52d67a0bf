# SPDX-License-Identifier: Apache-2.0
import io

import numpy as np
import pytest
import rasterio

import terrazzo
from conftest import terrain

PLACE = {"crs": 32632, "transform": terrazzo.Transform.from_origin(500000, 4200000, 10, 10)}
DTYPES = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64", "complex64", "int64"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_gdal_reads_the_pixels_that_were_written(tmp_path, dtype):
    values = np.arange(2 * 70 * 90).reshape(2, 70, 90).astype(dtype)
    terrazzo.write(tmp_path / "a.tif", values, tile_size=64, compression="deflate", **PLACE)
    with rasterio.open(tmp_path / "a.tif") as got:
        np.testing.assert_array_equal(got.read(), values)
        assert got.crs.to_epsg() == 32632 and got.transform.c == 500000 and got.block_shapes[0] == (64, 64)


def test_a_cog_has_overviews_and_is_valid(tmp_path):
    heights = terrain(700, 900)
    report = terrazzo.write(tmp_path / "cog.tif", heights, cog=True, tile_size=128, nodata=-9999, statistics=True,
                            tags={"AUTHOR": "me"}, descriptions=["height"], units=["m"], **PLACE)
    assert report.bytes_written == (tmp_path / "cog.tif").stat().st_size
    assert terrazzo.validate(tmp_path / "cog.tif", decode=True).valid_cog
    with rasterio.open(tmp_path / "cog.tif") as got:
        np.testing.assert_array_equal(got.read(1), heights)
        assert got.overviews(1) == [2, 4, 8] and got.nodata == -9999
        assert got.tags()["AUTHOR"] == "me" and got.descriptions == ("height",) and got.units == ("m",)


def test_arrays_of_any_strides_and_types_are_written(tmp_path):
    rgb = np.random.default_rng(0).integers(0, 255, (60, 80, 3)).astype(np.uint8)
    for values in (np.moveaxis(rgb, -1, 0), rgb[::-1, ::2, 0], rgb[..., 1] > 100, rgb[..., 0].astype(">i4")):
        terrazzo.write(tmp_path / "a.tif", values)
        got = terrazzo.read(tmp_path / "a.tif")
        np.testing.assert_array_equal(got, values if values.ndim == 3 else values[None])
    terrazzo.write(tmp_path / "a.tif", [[1.5, 2.5]])
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "a.tif", 1), [[1.5, 2.5]])


def test_like_copies_the_description_of_another_raster(tmp_path, packed):
    values = terrazzo.read(packed)
    terrazzo.write(tmp_path / "a.tif", values, like=packed)
    with rasterio.open(tmp_path / "a.tif") as got, rasterio.open(packed) as expected:
        assert got.crs == expected.crs and got.transform == expected.transform and got.nodata == expected.nodata
        assert got.scales == expected.scales and got.descriptions == expected.descriptions
        assert got.tags()["NAME"] == "Zürich"
    terrazzo.write(tmp_path / "b.tif", values[0].astype(np.float32), like=terrazzo.open(packed), nodata=None)
    assert terrazzo.open(tmp_path / "b.tif").nodata is None
    with pytest.raises(terrazzo.UsageError, match="transform"):
        terrazzo.write(tmp_path / "c.tif", values[:, :10], like=packed)
    assert not (tmp_path / "c.tif").exists()


def test_masks_are_written_and_read(tmp_path):
    values = np.arange(100, dtype=np.uint8).reshape(10, 10)
    terrazzo.write(tmp_path / "a.tif", values, mask=values > 50)
    np.testing.assert_array_equal(terrazzo.open(tmp_path / "a.tif").read_mask(1) == 255, values > 50)
    masked = np.ma.masked_less(values, 30)
    terrazzo.write(tmp_path / "b.tif", masked)
    np.testing.assert_array_equal(rasterio.open(tmp_path / "b.tif").read_masks(1) == 255, values >= 30)
    terrazzo.write(tmp_path / "c.tif", masked, nodata=255)
    np.testing.assert_array_equal(rasterio.open(tmp_path / "c.tif").read(1), masked.filled(255))


def test_colour_tables_and_categories_are_written(tmp_path):
    table = [(i, 0, 255 - i, 255) for i in range(256)]
    values = np.arange(100, dtype=np.uint8).reshape(10, 10)
    terrazzo.write(tmp_path / "a.tif", values, color_table=table)
    assert terrazzo.open(tmp_path / "a.tif").bands[0].color_table == table
    with rasterio.open(tmp_path / "a.tif") as got:
        assert got.colormap(1)[7] == (7, 0, 248, 255)


def test_ground_control_points_are_written(tmp_path):
    points = [(0, 0, 9.0, 45.0), (10, 0, 9.1, 45.0), (0, 10, 9.0, 44.9, 12.5)]
    terrazzo.write(tmp_path / "a.tif", np.zeros((10, 10), np.uint8), crs=4326, gcps=points)
    with rasterio.open(tmp_path / "a.tif") as got:
        assert [(p.col, p.row, p.x, p.y) for p in got.gcps[0]] == [p[:4] for p in points]
    assert terrazzo.open(tmp_path / "a.tif").gcps[2].z == 12.5


def test_a_writer_takes_rows_of_any_number(tmp_path):
    heights = terrain(301, 200)
    with terrazzo.Writer(tmp_path / "a.tif", 200, 301, dtype=np.float32, compression="lzw", **PLACE) as out:
        for first in range(0, 301, 37):
            out.write_rows(heights[first : first + 37])
        assert out.rows_left == 0
    assert out.report.tiles == 1
    np.testing.assert_array_equal(rasterio.open(tmp_path / "a.tif").read(1), heights)


def test_an_exception_inside_with_leaves_no_file(tmp_path):
    with pytest.raises(KeyError):
        with terrazzo.Writer(tmp_path / "a.tif", 10, 10, dtype="uint8") as out:
            out.write_rows(np.zeros((5, 10), np.uint8))
            raise KeyError("stop")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(terrazzo.UsageError, match="rows"):
        with terrazzo.Writer(tmp_path / "a.tif", 10, 10, dtype="uint8") as out:
            out.write_rows(np.zeros((5, 10), np.uint8))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cog", [False, True])
def test_file_objects_are_written_to(tmp_path, cog):
    heights = terrain(300, 300)
    terrazzo.write(tmp_path / "a.tif", heights, cog=cog)
    memory = io.BytesIO()
    terrazzo.write(memory, heights, cog=cog)
    assert memory.getvalue() == (tmp_path / "a.tif").read_bytes()

    class AppendOnly:
        def __init__(self):
            self.parts = []

        def write(self, data):
            self.parts.append(bytes(data))

    pipe = AppendOnly()
    terrazzo.write(pipe, heights, cog=cog)
    np.testing.assert_array_equal(terrazzo.read(b"".join(pipe.parts), 1), heights)


def test_exceptions_of_a_file_object_reach_the_caller_unchanged():
    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space left") as caught:
        terrazzo.write(Full(), np.zeros((500, 500), np.float32))
    assert caught.value.errno == 28 and not isinstance(caught.value, terrazzo.Error)


def test_unknown_options_are_refused_by_name(tmp_path):
    with pytest.raises(TypeError, match="colour"):
        terrazzo.write(tmp_path / "a.tif", np.zeros((4, 4), np.uint8), colour="red")
    with pytest.raises(terrazzo.UsageError, match="brotli"):
        terrazzo.write(tmp_path / "a.tif", np.zeros((4, 4), np.uint8), compression="brotli")
    with pytest.raises(terrazzo.UsageError, match="interleave"):
        terrazzo.write(tmp_path / "a.tif", np.zeros((4, 4), np.uint8), interleave="rows")
    with pytest.raises(terrazzo.UsageError, match="axes"):
        terrazzo.write(tmp_path / "a.tif", np.zeros((2, 3, 4, 4), np.uint8))


def test_progress_can_cancel_a_write(tmp_path):
    with pytest.raises(terrazzo.CancelledError):
        terrazzo.write(tmp_path / "a.tif", np.zeros((2000, 2000), np.uint16), tile_size=64, progress=lambda *_: False)
    assert list(tmp_path.iterdir()) == []
