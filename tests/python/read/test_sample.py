# SPDX-License-Identifier: Apache-2.0
"""Values at points beside those of rasterio's sample()."""

import csv
import io
import subprocess

import harness
import numpy as np
import pytest
import rasterio
import rasterio.warp
import rasters
from affine import Affine
from rasterio.enums import Resampling

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # affine's *, for older versions of it

DATA = harness.ROOT / "tests/data"
DEM = DATA / "dem_deflate_p3.tif"  # nodata -9999 in the first ten rows and columns

TRANSFORMS = {
    "north up": Affine(10, 0, 400_000, 0, -10, 5_000_000),
    "south up": Affine(10, 0, 400_000, 0, 10, 4_000_000),
    "rotated": Affine.translation(400_000, 5_000_000) * Affine.rotation(30) * Affine.scale(10, -15),
}
LAYOUTS = {
    "tiles": {"tiled": True, "blockxsize": 32, "blockysize": 16, "compress": "deflate"},
    "separate": {"tiled": True, "blockxsize": 16, "blockysize": 16, "compress": "lzw", "interleave": "band"},
    "strips": {"compress": "zstd", "blockysize": 7},
    "plain": {},
}


def write(path, pixels, transform, **options):
    with rasterio.open(path, "w", driver="GTiff", width=pixels.shape[2], height=pixels.shape[1], count=pixels.shape[0],
                       dtype=pixels.dtype.name, transform=transform, crs="EPSG:32633", **options) as out:
        out.write(pixels)


def write_points(path, points):
    path.write_text("x,y\n" + "".join(f"{float(x)!r},{float(y)!r}\n" for x, y in points))
    return path


def table(result):
    rows = list(csv.reader(io.StringIO(result.stdout.decode())))
    return rows[0], rows[1:]


def random_points(transform, width, height, count, seed=1):
    """Inside and outside, not near the edges of pixels."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(-5, width + 5, count) + rng.uniform(0.1, 0.9, count)
    rows = rng.integers(-5, height + 5, count) + rng.uniform(0.1, 0.9, count)
    return [transform * (float(c), float(r)) for c, r in zip(columns, rows)]


def is_outside(transform, point, width, height):
    column, row = ~transform * point
    return not (0 <= column < width and 0 <= row < height)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("turn", TRANSFORMS)
def test_values_are_those_of_rasterio(turn, layout, tmp_path):
    transform = TRANSFORMS[turn]
    pixels = rasters.make("int16", 3, 55, 70)
    write(tmp_path / "a.tif", pixels, transform, **LAYOUTS[layout])
    points = random_points(transform, 70, 55, 300)
    with rasterio.open(tmp_path / "a.tif") as source:
        expected = list(source.sample(points))
    heading, rows = table(harness.run_ok("sample", tmp_path / "a.tif", "--points",
                                         write_points(tmp_path / "p.csv", points)))
    assert heading == ["x", "y", "band_1", "band_2", "band_3"]
    assert len(rows) == len(points)
    for point, row, values in zip(points, rows, expected):
        assert (float(row[0]), float(row[1])) == point
        if is_outside(transform, point, 70, 55):
            assert row[2:] == ["", "", ""]
        else:
            assert [int(value) for value in row[2:]] == list(values)


@pytest.mark.parametrize("dtype", ("uint8", "int8", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64",
                                   "complex64", "complex128"))
def test_values_of_every_type_are_exact(dtype, tmp_path):
    pixels = rasters.make(dtype, 1, 20, 30)
    transform = TRANSFORMS["north up"]
    write(tmp_path / "a.tif", pixels, transform)
    points = [transform * (c + 0.5, r + 0.5) for r in range(20) for c in range(30)]
    _, rows = table(harness.run_ok("sample", tmp_path / "a.tif", "--points",
                                   write_points(tmp_path / "p.csv", points)))
    number = {"c": complex, "f": float}.get(np.dtype(dtype).kind, int)
    read = np.array([number(row[2]) for row in rows], dtype=dtype).reshape(20, 30)
    assert np.array_equal(read, pixels[0])


def test_half_floats_are_printed(tmp_path):
    path = DATA / "half_lzw_p3.tif"
    result = harness.run("sample", path, "--at", "1,1")
    assert result.code == harness.USAGE  # it has no place
    copy = tmp_path / "half.tif"
    copy.write_bytes(path.read_bytes())
    (tmp_path / "half.tfw").write_text("1\n0\n0\n-1\n0.5\n99.5\n")
    pixels = harness.read(copy, folder=tmp_path)
    _, rows = table(harness.run_ok("sample", copy, "--at", "3.5,97.5"))
    assert float(rows[0][2]) == float(pixels[0, 2, 3])


def test_missing_pixels_say_so(tmp_path):
    _, rows = table(harness.run_ok("sample", DEM, "--at", "400005,4999995", "--at", "400505,4999505"))
    with rasterio.open(DEM) as source:
        expected = next(source.sample([(400505, 4999505)]))
    assert rows[0][2] == "nodata"
    assert np.float32(rows[1][2]) == expected[0]
    points = harness.run_json("sample", DEM, "--at", "400005,4999995", "--at", "0,0", "--json")["points"]
    assert [p["values"] for p in points] == [[None], [None]]
    assert [p["inside"] for p in points] == [True, False]
    assert (points[0]["column"], points[0]["row"]) == (0, 0)


def test_masks_make_pixels_missing(tmp_path):
    transform = TRANSFORMS["north up"]
    path = tmp_path / "masked.tif"
    pixels = rasters.make("uint8", 2, 40, 50)
    mask = (np.arange(40)[:, None] + np.arange(50)) % 3 != 0
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        with rasterio.open(path, "w", driver="GTiff", width=50, height=40, count=2, dtype="uint8", transform=transform,
                           tiled=True, blockxsize=16, blockysize=16, compress="deflate") as out:
            out.write(pixels)
            out.write_mask(mask)
    points = [transform * (c + 0.5, r + 0.5) for r in range(40) for c in range(50)]
    _, rows = table(harness.run_ok("sample", path, "--points", write_points(tmp_path / "p.csv", points)))
    found = np.array([row[2] != "nodata" for row in rows]).reshape(40, 50)
    assert np.array_equal(found, mask)
    assert all((row[2] == "nodata") == (row[3] == "nodata") for row in rows)


def test_a_point_raster_is_sampled_as_by_gdal(tmp_path):
    path = tmp_path / "point.tif"
    pixels = rasters.make("int16", 1, 20, 30)
    write(path, pixels, TRANSFORMS["north up"])
    with rasterio.open(path, "r+") as file:
        file.update_tags(AREA_OR_POINT="Point")
    with rasterio.open(path) as source:
        points = random_points(source.transform, 28, 18, 50)
        expected = [v[0] for v in source.sample(points)]
        inside = [not is_outside(source.transform, p, 30, 20) for p in points]
    _, rows = table(harness.run_ok("sample", path, "--points", write_points(tmp_path / "p.csv", points)))
    assert [int(r[2]) if r[2] else 0 for r in rows] == [int(v) if i else 0 for v, i in zip(expected, inside)]


def test_points_of_another_crs(tmp_path):
    points = random_points(TRANSFORMS["north up"], 101, 75, 100)
    lon, lat = rasterio.warp.transform("EPSG:32633", "EPSG:4326", *zip(*points))
    _, own = table(harness.run_ok("sample", DEM, "--points", write_points(tmp_path / "own.csv", points)))
    _, other = table(harness.run_ok("sample", DEM, "--points", write_points(tmp_path / "ll.csv", zip(lon, lat)), "--crs",
                                    "EPSG:4326"))
    assert [row[2:] for row in own] == [row[2:] for row in other]
    assert float(other[0][0]) == lon[0]  # points are printed as given
    result = harness.run_ok("sample", DEM, "--at", "13.73,1e9", "--crs", "4326")  # no place on the Earth: outside
    assert table(result)[1][0][2] == ""


def test_overviews_bands_and_unpacking(tmp_path):
    transform = TRANSFORMS["north up"]
    path = tmp_path / "a.tif"
    pixels = rasters.make("int16", 2, 64, 96)
    write(path, pixels, transform, tiled=True, blockxsize=16, blockysize=16, compress="deflate")
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.5, 2.0), (10.0, -1.0)
        file.build_overviews([2, 4], Resampling.nearest)
    with rasterio.open(path, overview_level=1) as source:
        small = source.read()
    points = [transform * (c * 4 + 2, r * 4 + 2) for r in range(16) for c in range(24)]
    given = write_points(tmp_path / "p.csv", points)
    heading, rows = table(harness.run_ok("sample", path, "--points", given, "--overview", "2", "--bands", "2,1"))
    assert heading[2:] == ["band_2", "band_1"]
    assert np.array_equal(np.array([[int(v) for v in row[2:]] for row in rows]).T.reshape(2, 16, 24), small[::-1])
    _, rows = table(harness.run_ok("sample", path, "--points", given, "--unpack", "--bands", "2"))
    assert [float(row[2]) for row in rows] == [float(pixels[1, r * 4 + 2, c * 4 + 2]) * 2 - 1
                                               for r in range(16) for c in range(24)]
    level = harness.run_json("sample", path, "--at", "400900,4999500", "--overview", "1", "--json")["points"][0]
    assert (level["column"], level["row"]) == (45, 25)


def test_points_come_from_a_pipe(tmp_path):
    points = random_points(TRANSFORMS["north up"], 101, 75, 20)
    given = write_points(tmp_path / "p.csv", points)
    piped = harness.run_ok("sample", DEM, "--points", "-", stdin=given)
    assert piped.stdout == harness.run_ok("sample", DEM, "--points", given).stdout


@pytest.mark.parametrize("text", (
    "id,x,y\n7,400155,4999845\n",
    "northing;easting\n4999845;400155\n",
    "hut name,x,y\n\"Col, upper hut\",400155,4999845\n",
    "[400155, 4999845]\n",
))
def test_names_in_the_first_line_choose_the_columns(text, tmp_path):
    (tmp_path / "p.csv").write_text(text)
    _, rows = table(harness.run_ok("sample", DEM, "--points", tmp_path / "p.csv"))
    with rasterio.open(DEM) as source:
        expected = next(source.sample([(400155, 4999845)]))
    assert rows[0][:2] == ["400155", "4999845"]
    assert np.float32(rows[0][2]) == expected[0]


def test_standard_input_is_the_file_or_the_points():
    result = harness.run("sample", "-", "--points", "-")
    assert result.code == harness.USAGE and b"cannot both be standard input" in result.stderr


def test_no_points_give_only_a_heading(tmp_path):
    empty = tmp_path / "p.csv"
    empty.write_text("x,y\n")
    assert harness.run_ok("sample", DEM, "--points", empty).stdout == b"x,y,band_1\n"
    assert harness.run_json("sample", DEM, "--points", empty, "--json")["points"] == []


@pytest.mark.parametrize("text", ("1,2\nabc,3\n", "x,y\n1\n", "1,nan\n", "1,2\n\n3,inf\n", "1,2,3\n;;\n", "1e999,1\n"))
def test_invalid_lines_are_usage_errors_with_file_and_line(text, tmp_path):
    given = tmp_path / "p.csv"
    given.write_text(text)
    line = len(text.rstrip("\n").split("\n"))
    result = harness.run("sample", DEM, "--points", given, "--json")
    assert result.code == harness.USAGE
    assert f"p.csv:{line}" in result.error()["message"]
    assert not result.stdout


@pytest.mark.parametrize("words", ((), ("--at", "1"), ("--at", "nan,1"), ("--at", "1,2", "--points", "p.csv"),
                                   ("--at", "1,2", "--crs", "here"), ("--at", "1,2", "--bands", "2"),
                                   ("--at", "1,2", "--overview", "3")))
def test_wrong_requests_are_usage_errors(words):
    assert harness.run("sample", DEM, *words).code == harness.USAGE


def test_negative_coordinates_are_values_and_not_options():
    _, rows = table(harness.run_ok("sample", DEM, "--at", "-1,-2.5", "--at=-3,4"))
    assert [row[:2] for row in rows] == [["-1", "-2.5"], ["-3", "4"]]


def test_files_without_points_or_place_are_errors(tmp_path):
    assert harness.run("sample", DEM, "--points", tmp_path / "none.csv").code == harness.IO
    assert harness.run("sample", DATA / "gcps.tif", "--at", "1,2").code == harness.USAGE


def test_a_million_points_take_bounded_memory_and_decode_each_tile_once(tmp_path, note):
    """2048 x 2048 pixels in 64 tiles, 1.2 million points: two portions."""
    transform = TRANSFORMS["north up"]
    path = tmp_path / "a.tif"
    pixels = rasters.make("float32", 1, 2048, 2048)
    pixels[~np.isfinite(pixels)] = 0
    write(path, pixels, transform, tiled=True, blockxsize=256, blockysize=256, compress="deflate")
    rng = np.random.default_rng(1)
    columns, rows = rng.integers(0, 2048, (2, 1_200_000))
    xs, ys = 400_005 + 10 * columns, 4_999_995 - 10 * rows
    given = tmp_path / "p.csv"
    np.savetxt(given, np.stack([xs, ys], 1), fmt="%d", delimiter=",")
    result = harness.run_ok("sample", path, "--points", given, timeout=120)
    values = np.loadtxt(io.BytesIO(result.stdout), delimiter=",", skiprows=1, usecols=2, dtype=np.float32)
    assert np.array_equal(values, pixels[0, rows, columns])
    assert result.peak_rss_bytes < 300 << 20
    note(f"1.2 million points: {result.cpu_seconds:.1f} s of CPU, peak {result.peak_rss_bytes / 2**20:.0f} MiB")


def test_a_closed_pipe_ends_the_command(tmp_path):
    given = tmp_path / "p.csv"
    np.savetxt(given, np.full((200_000, 2), 1), fmt="%d", delimiter=",")
    with subprocess.Popen([harness.BINARY, "sample", DEM, "--points", given], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(timeout=30) != 0
