# SPDX-License-Identifier: Apache-2.0
"""Bounds, corners, boxes and CRSs beside rasterio's and GDAL's."""

import math
import subprocess

import harness
import numpy as np
import pytest
import rasterio
import rasterio.warp
import rasterio.windows
import rasters
from affine import Affine
from rasterio.control import GroundControlPoint

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # affine's *, for older versions of it

DATA = harness.ROOT / "tests/data"
DEM = DATA / "dem_deflate_p3.tif"  # 101 x 75 pixels of 10 m from (400000, 5000000) on, EPSG:32633

NORTH_UP = Affine(10, 0, 400_000, 0, -10, 5_000_000)
PLACES = {
    "north up": (NORTH_UP, "EPSG:32633"),
    "south up": (Affine(10, 0, 400_000, 0, 10, 4_000_000), "EPSG:32633"),
    "rotated": (Affine.translation(400_000, 5_000_000) * Affine.rotation(30) * Affine.scale(10, -15), "EPSG:32633"),
    "sheared": (Affine(10, 3, 400_000, 1, -8, 5_000_000), "EPSG:3035"),
    "degrees": (Affine(0.1, 0, -20, 0, -0.1, 60), "EPSG:4326"),
    "mercator": (Affine(100, 0, 1_000_000, 0, -100, 6_000_000), "EPSG:3857"),
    "polar": (Affine(10_000, 0, -300_000, 0, -10_000, 250_000), "EPSG:3413"),
    "albers": (Affine(30, 0, -2_000_000, 0, -30, 2_500_000), "ESRI:102039"),
}


def write(path, transform=None, crs=None, width=60, height=40, **options):
    pixels = rasters.make("int16", 1, height, width)
    with rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=1, dtype="int16",
                       transform=transform, crs=crs, **options) as out:
        out.write(pixels)
    return pixels


@pytest.fixture(params=PLACES)
def placed(request, tmp_path):
    """(path, pixels) of a raster with each kind of transform."""
    path = tmp_path / "placed.tif"
    return path, write(path, *PLACES[request.param], tiled=True, blockxsize=16, blockysize=16, compress="deflate")


def covering_window(transform, box, width, height):
    """The rule of docs/formats.md: (column, row, width, height), clipped."""
    corners = [~transform * (x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]

    def snap(value):
        return round(value) if abs(value - round(value)) < 1e-6 else value

    first = [math.floor(snap(min(c[i] for c in corners))) for i in (0, 1)]
    end = [math.ceil(snap(max(c[i] for c in corners))) for i in (0, 1)]
    first = [max(0, value) for value in first]
    end = [min(size, value) for size, value in zip((width, height), end)]
    return [*first, end[0] - first[0], end[1] - first[1]]


def planned_window(path, *options):
    return harness.run_json("plan", path, "--json", *options)["window"]


def text_of(box):
    return ",".join(repr(float(value)) for value in box)


def test_info_has_the_bounds_and_corners_of_rasterio(placed):
    path, _ = placed
    info = harness.run_json("info", path, "--json")["georeference"]
    with rasterio.open(path) as source:
        transform, width, height = source.transform, source.width, source.height
        corners = {"upper_left": (0, 0), "lower_left": (0, height), "upper_right": (width, 0),
                   "lower_right": (width, height)}
    for name, pixel in corners.items():
        assert info["corners"][name] == pytest.approx(transform * pixel, rel=1e-12)
    assert info["center"] == pytest.approx(transform * (width / 2, height / 2), rel=1e-12)
    points = [transform * pixel for pixel in corners.values()]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    assert info["bounds"] == pytest.approx([min(xs), min(ys), max(xs), max(ys)], rel=1e-12)


def test_info_has_the_longitudes_of_rasterio(placed):
    path, _ = placed
    info = harness.run_json("info", path, "--json")["georeference"]
    with rasterio.open(path) as source:
        crs = source.crs
        lon, lat = rasterio.warp.transform(crs, "EPSG:4326", *zip(info["center"], info["corners"]["lower_right"]))
        bounds = rasterio.warp.transform_bounds(crs, "EPSG:4326", *info["bounds"])
    assert info["lon_lat"]["center"] == pytest.approx([lon[0], lat[0]], abs=1e-7)
    assert info["lon_lat"]["corners"]["lower_right"] == pytest.approx([lon[1], lat[1]], abs=1e-7)
    assert info["lon_lat"]["bounds"] == pytest.approx(bounds, abs=1e-7)


def test_info_prints_them(placed):
    path, _ = placed
    text = harness.run_ok("info", path).stdout.decode()
    for word in ("extent", "lon, lat", "upper left", "lower right", "center", "longitude"):
        assert word in text


def test_info_of_a_raster_without_a_place_has_none(tmp_path):
    write(tmp_path / "nowhere.tif")
    info = harness.run_json("info", tmp_path / "nowhere.tif", "--json")["georeference"]
    assert [info[key] for key in ("bounds", "corners", "center", "lon_lat")] == [None] * 4
    write(tmp_path / "no_crs.tif", NORTH_UP)
    info = harness.run_json("info", tmp_path / "no_crs.tif", "--json")["georeference"]
    assert info["bounds"] == [400_000, 4_999_600, 400_600, 5_000_000]
    assert info["lon_lat"] is None


def test_a_point_raster_has_the_bounds_of_gdal(tmp_path):
    path = tmp_path / "point.tif"
    write(path, NORTH_UP, "EPSG:32633")
    with rasterio.open(path, "r+") as file:
        file.update_tags(AREA_OR_POINT="Point")
    info = harness.run_json("info", path, "--json")["georeference"]
    with rasterio.open(path) as source:
        assert source.tags()["AREA_OR_POINT"] == "Point"
        assert info["bounds"] == list(source.bounds)
        box = (source.bounds.left + 13, source.bounds.bottom + 27, source.bounds.left + 48, source.bounds.bottom + 51)
        assert planned_window(path, "--bbox", text_of(box)) == covering_window(source.transform, box, 60, 40)


def test_a_box_reads_all_pixels_that_it_touches(placed, tmp_path):
    path, pixels = placed
    rng = np.random.default_rng(3)
    with rasterio.open(path) as source:
        transform = source.transform
    for _ in range(12):
        # A box around two points inside the raster.
        a, b = (transform * tuple(rng.uniform((0, 0), (60, 40))) for _ in range(2))
        box = (min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
        column, row, width, height = window = covering_window(transform, box, 60, 40)
        assert planned_window(path, "--bbox", text_of(box)) == window
    array = harness.read(path, "--bbox", text_of(box), folder=tmp_path)
    assert np.array_equal(array, pixels[:, row:row + height, column:column + width])


@pytest.mark.parametrize("place", ("north up", "south up", "degrees"))
def test_boxes_on_pixel_edges_are_the_windows_of_rasterio(place, tmp_path):
    path = tmp_path / "a.tif"
    write(path, *PLACES[place])
    rng = np.random.default_rng(4)
    with rasterio.open(path) as source:
        for _ in range(20):
            column, row = (int(v) for v in rng.integers((0, 0), (59, 39)))
            window = rasterio.windows.Window(column, row, int(rng.integers(1, 60 - column)), int(rng.integers(1, 40 - row)))
            bounds = rasterio.windows.bounds(window, source.transform)
            box = (bounds[0], min(bounds[1], bounds[3]), bounds[2], max(bounds[1], bounds[3]))
            assert planned_window(path, "--bbox", text_of(box)) == list(window.flatten())
        assert planned_window(path, f"--bbox={text_of(sorted_bounds(source))}") == [0, 0, 60, 40]


def sorted_bounds(source):
    left, bottom, right, top = source.bounds
    return left, min(bottom, top), right, max(bottom, top)


@pytest.mark.parametrize("crs", ("EPSG:4326", "EPSG:3857", "EPSG:32633", "EPSG:3035"))
def test_a_box_of_another_crs_is_that_of_transform_bounds(placed, crs):
    path, _ = placed
    with rasterio.open(path) as source:
        own, transform = source.crs, source.transform
        middle = transform * (30, 20)
        near = [middle[0] - abs(transform.a) * 9, middle[1] - abs(transform.e) * 7,
                middle[0] + abs(transform.a) * 9, middle[1] + abs(transform.e) * 7]
        try:
            other = rasterio.warp.transform_bounds(own, crs, *near)
            back = rasterio.warp.transform_bounds(crs, own, *other)
        except rasterio.errors.CPLE_BaseError:
            pytest.skip("GDAL cannot transform it")
        if not all(map(math.isfinite, (*other, *back))):
            pytest.skip("GDAL cannot transform it")
    window = planned_window(path, "--bbox", text_of(other), "--bbox-crs", crs)
    expected = covering_window(transform, back, 60, 40)
    assert np.abs(np.subtract(window, expected)).max() <= (0 if str(own) == crs else 1)


def test_converted_boxes_keep_their_place(tmp_path):
    out = tmp_path / "cut.tif"
    harness.run_ok("convert", DEM, "--bbox", "400101,4999501,400199,4999600", "--out", out)
    with rasterio.open(out) as cut, rasterio.open(DEM) as whole:
        assert tuple(cut.bounds) == (400_100, 4_999_500, 400_200, 4_999_600)
        window = rasterio.windows.from_bounds(*cut.bounds, whole.transform)
        assert np.array_equal(cut.read(), whole.read(window=window))


@pytest.mark.parametrize("command", ("convert", "cog", "mosaic"))
def test_a_target_resolution_is_exact(command, tmp_path):
    """30 * (51 / 30) is 51.00000000000001."""
    with rasterio.open(tmp_path / "a.tif", "w", driver="GTiff", width=184, height=126, count=1, dtype="uint8",
                       crs="EPSG:32633", transform=Affine(30, 0, 400_000, 0, -7.3, 5_000_000)) as out:
        out.write(np.ones((1, 126, 184), np.uint8))
    harness.run_ok(command, tmp_path / "a.tif", "--target-resolution", "51,21.9", "-o", tmp_path / "b.tif")
    with rasterio.open(tmp_path / "b.tif") as made:
        assert made.transform == Affine(51, 0, 400_000, 0, -21.9, 5_000_000)


@pytest.mark.parametrize("command", (("read", "-o", "a.npy"), ("plan", ), ("checksum", ), ("stats", ),
                                     ("preview", "-o", "a.png"), ("convert", "-o", "a.tif"), ("cog", "-o", "a.tif"),
                                     ("bench", "read", "--repeat", "1"), ("bench", "write", "--repeat", "1")))
def test_every_command_with_a_window_takes_a_box(command, tmp_path):
    words = [tmp_path / word if word.startswith("a.") else word for word in command]
    box = ("--bbox", "400100,4999500,400200,4999600")
    result = harness.run(*words, DEM, *box)
    assert result.code == harness.OK, str(result)
    assert harness.run(*words, DEM, *box, "--window", "1,1,1,1").code == harness.USAGE
    assert harness.run(*words, DEM, "--bbox", "1,2,3,4").code == harness.USAGE


def test_a_box_of_an_overview_counts_its_pixels():
    path = DATA / "cog_mask_overviews.tif"
    with rasterio.open(path) as source:
        bounds = source.bounds
        factor = source.overviews(1)[0]
        size = [-(-source.width // factor), -(-source.height // factor)]
    assert planned_window(path, "--bbox", text_of(bounds), "--overview", "1") == [0, 0, *size]


def test_a_box_that_reaches_outside_is_clipped_with_a_note(tmp_path):
    out = tmp_path / "a.npy"
    box = ("--bbox", "390000,4999990,400015,9e6")
    result = harness.run_ok("read", DEM, *box, "--out", out)
    assert b"note" in result.stderr and b"clipped" in result.stderr
    assert np.load(out).shape == (1, 1, 2)
    assert not harness.run_ok("read", DEM, *box, "--out", out, "--quiet").stderr
    assert not harness.run_ok("read", DEM, "--bbox", "400000,4999250,401010,5000000", "--out", out).stderr


@pytest.mark.parametrize("nodata", (None, -7))
def test_a_boundless_box_is_filled_as_by_rasterio(nodata, tmp_path):
    path = tmp_path / "a.tif"
    write(path, NORTH_UP, "EPSG:32633", nodata=nodata, tiled=True, blockxsize=16, blockysize=16, compress="deflate")
    for box in ((399_900, 4_999_900, 400_050, 5_000_070), (399_000, 4_999_000, 402_000, 5_001_000),
                (400_100, 4_999_700, 400_200, 4_999_800)):
        with rasterio.open(path) as source:
            window = rasterio.windows.from_bounds(*box, source.transform)
            expected = source.read(window=window, boundless=True, fill_value=nodata or 0)
        array = harness.read(path, "--bbox", text_of(box), "--boundless", folder=tmp_path)
        assert np.array_equal(array, expected)
        columns = round(window.col_off) + np.arange(array.shape[2])
        rows = round(window.row_off) + np.arange(array.shape[1])[:, None]
        outside = (columns < 0) | (columns >= 60) | (rows < 0) | (rows >= 40)
        masked = harness.read(path, "--bbox", text_of(box), "--boundless", "--masked", folder=tmp_path)
        assert np.array_equal(np.isnan(masked[0]), outside | (expected[0] == nodata))


@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("missing", ("nodata", "nothing", "mask", "alpha"))
def test_a_conversion_beyond_the_edge_has_the_pixels_of_gdal(command, missing, tmp_path):
    """Outside the raster GDAL writes nodata, else 0, and marks it missing by nodata, mask or alpha. Without any of them
    its 0 is data; here it is masked."""
    path, theirs, ours = tmp_path / "a.tif", tmp_path / "theirs.tif", tmp_path / "ours.tif"
    y, x = np.mgrid[0:40, 0:60]
    pixels = np.stack([x + 60 * y + 1, np.where(x % 7 == 0, 0, 65535)]).astype("uint16")
    options = {"nodata": 9} if missing == "nodata" else {"alpha": "yes"} if missing == "alpha" else {}
    with (rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
          rasterio.open(path, "w", driver="GTiff", width=60, height=40, count=2 if missing == "alpha" else 1, dtype="uint16",
                        transform=NORTH_UP, crs="EPSG:32633", tiled=True, blockxsize=16, blockysize=16, **options) as out):
        out.write(pixels[:out.count])
        if missing == "mask":
            out.write_mask((x + y) % 5 != 0)
    for window in ((-5, -7, 30, 20), (50, 30, 90, 70), (-3, -2, 70, 50), (10, -3, 5, 46)):
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
            subprocess.run(["gdal_translate", "-q", "-srcwin", *map(str, window), path, theirs], check=True)
        words = ("--window", ",".join(map(str, window)), "--boundless", "--tile-size", "16")
        harness.run_ok(command, path, "-o", ours, *words)
        with rasterio.open(theirs) as a, rasterio.open(ours) as b:
            assert a.transform.almost_equals(b.transform, 1e-9) and a.nodata == b.nodata
            np.testing.assert_array_equal(b.read(), a.read())
            columns, rows = window[0] + np.arange(window[2]), window[1] + np.arange(window[3])[:, None]
            outside = (columns < 0) | (columns >= 60) | (rows < 0) | (rows >= 40)
            valid = ~outside if missing == "nothing" else a.dataset_mask() != 0
            np.testing.assert_array_equal(b.dataset_mask() != 0, valid)
            assert not (b.dataset_mask() != 0)[outside].any()


def test_a_box_beyond_the_edge_of_an_overview_and_other_types(tmp_path):
    path, out = tmp_path / "a.tif", tmp_path / "b.tif"
    write(path, NORTH_UP, "EPSG:32633", nodata=-7)
    harness.run_ok("overviews", path, "--factors", "2")
    box = ("--bbox", "399900,4999900,400050,5000070", "--boundless")
    wanted = harness.read(path, *box, "--level", "1", folder=tmp_path)
    harness.run_ok("convert", path, "-o", out, *box, "--level", "1", "--dtype", "float32", "--masked")
    with rasterio.open(out) as file:
        assert file.transform.almost_equals(Affine(20, 0, 399_900, 0, -20, 5_000_080))
        assert np.isnan(file.nodata) and file.dtypes[0] == "float32"
        assert np.array_equal(np.isnan(file.read()), wanted == -7)


def test_only_commands_that_write_pixels_take_a_box_beyond_the_edge(tmp_path):
    for words in (("stats", ), ("checksum", ), ("plan", ), ("preview", "--out", tmp_path / "a.png")):
        result = harness.run(words[0], DEM, *words[1:], "--boundless", "--bbox", "390000,4999990,400015,9e6", "--json")
        assert result.code == harness.USAGE
        assert "read, cog and convert have it" in result.error()["message"]
        result = harness.run(words[0], DEM, *words[1:], "--window", "-1,0,5,5", "--json")
        assert result.code == harness.USAGE and "begins outside the raster" in result.error()["message"]
    web = ("--tiling-scheme", "GoogleMapsCompatible")
    assert harness.run("cog", DEM, "-o", tmp_path / "a.tif", "--window", "0,0,5,5", "--boundless", *web).code == harness.USAGE
    assert not list(tmp_path.iterdir())


def test_a_boundless_box_has_its_limits(tmp_path):
    out = tmp_path / "a.npy"
    inside = ("--bbox", "400100,4999500,400200,4999600")
    for words in (("--boundless", ), ("--boundless", *inside, "--mask"), ("--boundless", *inside, "--target-size", "5,5"),
                  ("--boundless", "--bbox", "-10,-20,-5,-6"), ("--boundless", "--window", "-9,0,9,9"), ("--boundless", "--bbox", "-1e300,-1e300,1e300,1e300")):
        assert harness.run("read", DEM, "--out", out, *words).code == harness.USAGE
    huge = ("--boundless", "--bbox", "-1e10,-1e10,1e10,1e10")
    assert harness.run("read", DEM, "--out", out, *huge).code == harness.LIMIT
    assert not out.exists()


def test_a_box_outside_is_a_usage_error_with_both_boxes(tmp_path):
    for words in (("--bbox", "-10,-20,-5,-6"), ("--bbox=-10,-20,-5,-6", )):
        result = harness.run("read", DEM, *words, "--out", tmp_path / "a.npy", "--json")
        assert result.code == harness.USAGE
        message = result.error()["message"]
        assert "-10, -20, -5, -6" in message and "400000, 4999250, 401010, 5000000" in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("box", ("nan,0,1,1", "0,0,inf,1", "-inf,-inf,inf,inf", "1e400,0,1,1", "1,2,3", "1,2,3,4,5", "",
                                 "400000,4999250,400000,5000000", "401010,4999250,400000,5000000",
                                 "400000,5000000,401010,4999250", "1e308,1e308,1.1e308,1.1e308", "a,b,c,d"))
def test_hostile_boxes_are_usage_errors(box, tmp_path):
    for more in ((), ("--bbox-crs", "EPSG:3857")):
        result = harness.run("read", DEM, f"--bbox={box}", *more, "--out", tmp_path / "a.npy", "--json")
        assert result.code == harness.USAGE, str(result)
        assert result.error()["message"]


def test_boxes_beyond_31_bits_of_pixels_are_outside():
    for box in ("2147483648,0,4294967296,1", "-4294967296,-4294967296,-2147483648,-2147483648", "4e15,0,5e15,1"):
        assert harness.run("plan", DEM, f"--bbox={box}").code == harness.USAGE


def test_the_largest_boxes_are_clipped():
    for box in ("-1e308,-1e308,1e308,1e308", "-1e15,-1e15,1e15,1e15"):
        assert planned_window(DEM, f"--bbox={box}") == [0, 0, 101, 75]


@pytest.mark.parametrize("crs", ("here", "EPSG:0", "EPSG:99999999", "+init=epsg:4326", "+proj=pipeline", "GEOGCRS[",
                                 "{\"type\": \"x\"}", "urn:x:y", ""))
def test_texts_that_are_no_crs_are_usage_errors(crs, tmp_path):
    result = harness.run("read", DEM, "--bbox", "13.73,45.14,13.74,45.145", f"--bbox-crs={crs}", "--out",
                         tmp_path / "a.npy", "--json")
    assert result.code == harness.USAGE, str(result)


def test_rasters_without_a_transform_or_crs_are_usage_errors_that_say_so(tmp_path):
    gcps = [GroundControlPoint(row=r, col=c, x=10 + c, y=50 - r) for r in (0, 40) for c in (0, 60)]
    with rasterio.open(tmp_path / "gcps.tif", "w", driver="GTiff", width=60, height=40, count=1, dtype="uint8") as out:
        out.gcps = gcps, rasterio.CRS.from_epsg(4326)
        out.write(np.ones((1, 40, 60), np.uint8))
    write(tmp_path / "nowhere.tif")
    for name, words in (("gcps.tif", "4 ground control points"), ("nowhere.tif", "no transform")):
        result = harness.run("plan", tmp_path / name, "--bbox", "10,10,40,40", "--json")
        assert result.code == harness.USAGE and words in result.error()["message"], str(result)
    write(tmp_path / "no_crs.tif", NORTH_UP)
    result = harness.run("plan", tmp_path / "no_crs.tif", "--bbox", "10,10,40,40", "--bbox-crs", "EPSG:4326", "--json")
    assert result.code == harness.USAGE and "no CRS" in result.error()["message"], str(result)


def test_a_box_across_the_antimeridian(tmp_path):
    """Fiji in UTM zone 1 south: degrees jump there, metres do not."""
    path = tmp_path / "fiji.tif"
    write(path, Affine(10_000, 0, 0, 0, -10_000, 8_200_000), "EPSG:32701")
    with rasterio.open(path) as source:
        back = rasterio.warp.transform_bounds("EPSG:4326", source.crs, 179, -18, -179, -17)
        expected = covering_window(source.transform, back, 60, 40)
    assert planned_window(path, "--bbox", "179,-18,-179,-17", "--bbox-crs", "EPSG:4326") == expected
    world = tmp_path / "world.tif"
    write(world, Affine(6, 0, -180, 0, -4.5, 90), "EPSG:4326")
    result = harness.run("plan", world, "--bbox", "179,-18,-179,-17", "--json")
    assert result.code == harness.USAGE and "antimeridian" in result.error()["message"]


def test_no_network_and_no_foreign_files(tmp_path):
    """A grid outside PROJ's folders is not opened for a box either."""
    grid = tmp_path / "evil.gsb"
    grid.write_bytes(b"x")
    crs = f"+proj=longlat +ellps=bessel +nadgrids={grid} +type=crs"
    result = harness.run("plan", DEM, "--bbox", "13.73,45.14,13.74,45.145", "--bbox-crs", crs, "--json",
                         env={"PROJ_NETWORK": "ON"})
    assert result.code in (harness.OK, harness.USAGE), str(result)
