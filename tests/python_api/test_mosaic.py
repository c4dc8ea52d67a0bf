# SPDX-License-Identifier: Apache-2.0
import io

import numpy as np
import pytest
import rasterio
import rasterio.merge
from rasterio.transform import from_origin

import terrazzo
from conftest import terrain, write_with_gdal


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """Three int16 rasters with holes (nodata) that overlap, on one grid."""
    folder = tmp_path_factory.mktemp("parts")
    paths = []
    for number, (column, row) in enumerate([(0, 0), (60, 20), (30, 70)]):
        values = terrain(100, 120, seed=number).astype(np.int16)
        values[30:50, 40 + 10 * number : 70] = -9999
        place = from_origin(500000 + 10 * column, 4200000 - 10 * row, 10, 10)
        paths.append(write_with_gdal(folder / f"{number}.tif", values, transform=place, nodata=-9999))
    return paths


def canvas_of(parts):
    """The parts in the frame of their union: (part, row, column), masked where a part has no pixel."""
    frame = np.ma.masked_all((3, 170, 180), np.int16)
    for number, path in enumerate(parts):
        with rasterio.open(path) as part:
            column, row = int((part.transform.c - 500000) / 10), int((4200000 - part.transform.f) / 10)
            frame[number, row : row + 100, column : column + 120] = part.read(1, masked=True)
    return frame


def first_of(frame):
    merged = frame[0].copy()
    for part in frame[1:]:
        merged = np.ma.where(np.ma.getmaskarray(merged), part, merged)
    return merged


@pytest.mark.parametrize(
    "rule, expected",
    [
        ("first", first_of),
        ("last", lambda frame: first_of(frame[::-1])),
        ("min", lambda frame: frame.min(axis=0)),
        ("max", lambda frame: frame.max(axis=0)),
        ("mean", lambda frame: np.ma.floor(frame.astype(float).mean(axis=0) + 0.5).astype(np.int16)),  # positive values
    ],
)
def test_rules_choose_the_pixels_of_numpy(tmp_path, parts, rule, expected):
    report = terrazzo.mosaic(parts, tmp_path / "out.tif", rule=rule, tile_size=64)
    assert report.write.tiles == 9 and report.read.tiles > 0
    with rasterio.open(tmp_path / "out.tif") as got:
        assert got.nodata == -9999 and got.transform == from_origin(500000, 4200000, 10, 10)
        np.testing.assert_array_equal(got.read(1), expected(canvas_of(parts)).filled(-9999))


@pytest.mark.parametrize("method", ["first", "last", "min", "max"])
def test_the_pixels_are_those_of_rasterio_merge(tmp_path, parts, method):
    expected, place = rasterio.merge.merge(parts, method=method)
    terrazzo.mosaic(parts, tmp_path / "out.tif", rule=method, cog=True)
    with rasterio.open(tmp_path / "out.tif") as got:
        np.testing.assert_array_equal(got.read(), expected)
        assert got.transform == place
    assert terrazzo.validate(tmp_path / "out.tif").valid_cog


def test_bounds_resolution_bands_and_type(tmp_path, parts):
    box = (500300, 4198800, 501500, 4199900)
    terrazzo.mosaic(parts, tmp_path / "a.tif", bounds=box, dtype="float32", nodata=None, compression="deflate")
    ds = terrazzo.open(tmp_path / "a.tif")
    assert tuple(ds.bounds) == box and ds.dtype == np.float32
    values = terrazzo.read(tmp_path / "a.tif", 1)
    frame = first_of(canvas_of(parts))[10:120, 30:150]
    np.testing.assert_array_equal(values[~np.ma.getmaskarray(frame)], frame.compressed())
    terrazzo.mosaic(parts, tmp_path / "b.tif", resolution=20, bands=[1, 1])
    ds = terrazzo.open(tmp_path / "b.tif")
    assert (ds.count, ds.pixel_size, ds.width, ds.height) == (2, (20, 20), 90, 85)


def test_folders_patterns_and_the_output_among_them(tmp_path, parts):
    out = parts[0].parent / "all.tif"
    terrazzo.mosaic(parts[0].parent, out)
    terrazzo.mosaic([str(parts[0].parent / "*.tif")], out)  # leaves the output out
    expected = terrazzo.read(out)
    out.unlink()
    terrazzo.mosaic(parts, tmp_path / "b.tif")
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "b.tif"), expected)
    with pytest.raises(terrazzo.UsageError, match="also an input"):
        terrazzo.mosaic(parts, parts[0])
    with pytest.raises(terrazzo.UsageError):
        terrazzo.mosaic([], out)


def test_inputs_of_any_kind_are_joined(tmp_path, parts):
    filesystem = pytest.importorskip("fsspec").filesystem("memory")
    filesystem.pipe("/mosaic/2.tif", parts[2].read_bytes())
    terrazzo.mosaic(parts, tmp_path / "a.tif", cog=True)
    memory = io.BytesIO()
    inputs = [terrazzo.open(parts[0]), parts[1].read_bytes(), "memory://mosaic/2.tif"]
    terrazzo.mosaic(inputs, memory, cog=True)
    assert memory.getvalue() == (tmp_path / "a.tif").read_bytes()
    terrazzo.mosaic(inputs, "memory://mosaic/out.tif", cog=True)
    assert filesystem.cat("/mosaic/out.tif") == memory.getvalue()
    with pytest.raises(terrazzo.MissingFileError, match="absent"):
        terrazzo.mosaic([parts[0], "memory://mosaic/absent.tif"], memory)
    with pytest.raises(terrazzo.MalformedError):
        terrazzo.mosaic([parts[0], b"not a TIFF"], memory)


def test_inputs_that_do_not_fit_are_refused_by_name(tmp_path, parts):
    other = write_with_gdal(tmp_path / "other.tif", terrain(50, 50), crs="EPSG:32633")
    with pytest.raises(terrazzo.UsageError, match="other.tif"):
        terrazzo.mosaic([parts[0], other], tmp_path / "out.tif")
    with pytest.raises(terrazzo.UsageError, match="rule"):
        terrazzo.mosaic(parts, tmp_path / "out.tif", rule="median")
    with pytest.raises(TypeError, match="colour"):
        terrazzo.mosaic(parts, tmp_path / "out.tif", colour="red")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.tif"]


def test_progress_can_cancel_a_mosaic(tmp_path, parts):
    with pytest.raises(terrazzo.CancelledError):
        terrazzo.mosaic(parts, tmp_path / "out.tif", tile_size=16, progress=lambda done, total: False)
    assert list(tmp_path.iterdir()) == []
