# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/coming-from-gdal.md: both command lines of each task run, each in a folder of its own with the same
files, and the results are compared."""

import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import everyday_files
import harness
import manuals
import numpy as np
import png
import pytest
import rasterio
from affine import Affine

PAGE = harness.ROOT / "docs/coming-from-gdal.md"
README = harness.ROOT / "README.md"


@dataclasses.dataclass
class Task:
    name: str
    theirs: str | None  # None: nothing to type
    ours: str


@dataclasses.dataclass
class Outcome:
    folder: pathlib.Path
    stdout: str

    def raster(self, name="out.tif"):
        return rasterio.open(self.folder / name)

    def json(self):
        return json.loads(self.stdout)


def command_in(cell):
    match = re.fullmatch(r"`(.*)`", cell)
    return match[1].replace(r"\|", "|") if match else None


def tasks_of(text):
    """Pairs of table rows: a task with the line of GDAL or rio, then ours without a name."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in row] for row in rows if len(row) == 2]
    rows = [row for row in rows if row[0] != "task"]
    return [Task(name, command_in(theirs), command_in(ours)) for (name, theirs), (_, ours) in zip(rows[::2], rows[1::2])]


TASKS = tasks_of(PAGE.read_text())


# -- comparing --------------------------------------------------------------------------------------------------------


def assert_same_raster(theirs, ours, name="out.tif", *, tolerance=0, place_tolerance=1e-6):
    with theirs.raster(name) as a, ours.raster(name) as b:
        assert (a.count, a.width, a.height, a.dtypes) == (b.count, b.width, b.height, b.dtypes)
        assert a.crs == b.crs
        assert a.transform.almost_equals(b.transform, place_tolerance)
        np.testing.assert_equal(b.nodata, a.nodata)
        masks = a.read_masks()
        np.testing.assert_array_equal(b.read_masks(), masks)
        valid = masks != 0
        assert valid.any()
        np.testing.assert_allclose(b.read()[valid], a.read()[valid], rtol=0, atol=tolerance)


def same_raster(**options):
    return lambda theirs, ours: assert_same_raster(theirs, ours, **options)


def same_pixels_where_both_are(theirs, ours):
    """The box ends inside pixels: at most one row or column more at each edge, and the same pixels inside."""
    with theirs.raster() as a, ours.raster() as b:
        assert a.crs == b.crs
        shift = ~a.transform @ b.transform
        column, row = round(shift.c), round(shift.f)
        assert shift.almost_equals(Affine.translation(column, row), 1e-6)
        assert -1 <= column <= 0 and -1 <= row <= 0
        assert 0 <= b.width + column - a.width <= 1 and 0 <= b.height + row - a.height <= 1
        np.testing.assert_array_equal(b.read()[:, -row:a.height - row, -column:a.width - column], a.read())


def same_description(theirs, ours):
    a, b = theirs.json(), ours.json()
    place = b["georeference"]
    assert a["size"] == [b["width"], b["height"]]
    assert a["geoTransform"] == place["transform"]
    assert a["cornerCoordinates"]["lowerRight"] == pytest.approx(place["corners"]["lower_right"])
    assert a["cornerCoordinates"]["center"] == pytest.approx(place["center"])
    assert a["bands"][0]["noDataValue"] == b["bands"][0]["nodata"] == -9999
    assert (a["bands"][0]["type"], b["bands"][0]["dtype"]) == ("Float32", "float32")
    assert a["wgs84Extent"]["coordinates"][0][0] == pytest.approx(place["lon_lat"]["corners"]["upper_left"], abs=1e-6)
    assert (rasterio.CRS.from_wkt(a["coordinateSystem"]["wkt"]) == rasterio.CRS.from_wkt(place["wkt"])
            == rasterio.CRS.from_epsg(place["epsg"]))


def same_rio_description(theirs, ours):
    a, b = theirs.json(), ours.json()
    place = b["georeference"]
    assert (a["width"], a["height"], a["count"]) == (b["width"], b["height"], len(b["bands"]))
    assert (a["dtype"], a["nodata"]) == (b["bands"][0]["dtype"], b["bands"][0]["nodata"])
    assert a["crs"] == f"EPSG:{place['epsg']}"
    assert a["bounds"] == place["bounds"]
    assert a["compress"] == b["layout"]["compression"]


def same_lon_lat_bounds(theirs, ours):
    assert ours.json()["georeference"]["lon_lat"]["bounds"] == pytest.approx(theirs.json(), abs=1e-6)


def same_wkt(theirs, ours):
    wkt = ours.stdout[ours.stdout.index("PROJCRS"):]
    assert rasterio.CRS.from_wkt(wkt[:wkt.rindex("]") + 1]) == rasterio.CRS.from_wkt(theirs.stdout)


def same_statistics(theirs, ours):
    a, b = theirs.json()["bands"][0], ours.json()["bands"][0]
    assert [b["minimum"], b["maximum"]] == pytest.approx([a["minimum"], a["maximum"]], abs=1e-3)  # GDAL prints 3 digits
    assert [b["mean"], b["stddev"]] == pytest.approx([a["mean"], a["stdDev"]], abs=1e-3)
    percent = float(a["metadata"][""]["STATISTICS_VALID_PERCENT"])
    assert 100 * b["valid"] / b["total"] == pytest.approx(percent, abs=0.01)


def both_tell_the_files_apart(theirs, ours):
    for outcome in (theirs, ours):
        lines = outcome.stdout.split()
        sums = [word for word in lines if re.fullmatch(r"Checksum=\d+|[0-9a-f]{64}", word)]
        assert len(sums) == 2 and sums[0] != sums[1]


def same_values(theirs, ours):
    lines = ours.stdout.splitlines()[1:]  # after the heading
    # gdallocationinfo prints the nodata value, which is "nodata" here.
    values = [-9999 if line.split(",")[2] == "nodata" else float(line.split(",")[2]) for line in lines]
    wanted = [float(line) for line in theirs.stdout.split()]
    assert len(values) == len(wanted) > 0
    assert values == pytest.approx(wanted, rel=1e-6)


def same_list_of_values(theirs, ours):
    assert [float(v) for v in ours.stdout.splitlines()[1].split(",")[2:]] == json.loads(theirs.stdout)


def same_shades(theirs, ours):
    """GDAL rounds shades down. Its picture has no transparent pixels."""
    with theirs.raster("out.png") as picture:
        wanted = picture.read(1).astype(int)
    drawn = png.decode((ours.folder / "out.png").read_bytes()).astype(int)
    shades, opaque = drawn[..., 0], drawn[..., -1] == 255
    assert wanted.shape == shades.shape
    np.testing.assert_array_equal(opaque, everyday_files.elevations() != -9999)
    np.testing.assert_allclose(shades[opaque], wanted[opaque], rtol=0, atol=1)


def both_call_it_a_cog(theirs, ours):
    assert theirs.json()["metadata"]["IMAGE_STRUCTURE"]["LAYOUT"] == "COG"
    assert "a valid COG" in ours.stdout


def same_array(theirs, ours):
    with theirs.raster() as file:
        wanted = file.read()
    found = np.load(ours.folder / "out.npy")
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found[:wanted.shape[0]], wanted)


def same_bytes(theirs, ours):
    assert (ours.folder / "out.bin").read_bytes() == (theirs.folder / "out.bin").read_bytes()


def same_dem(theirs, ours):
    assert_same_raster(theirs, ours, "dem.tif")


def same_item(theirs, ours):
    same_dem(theirs, ours)
    for outcome in (theirs, ours):
        with outcome.raster("dem.tif") as file:
            assert file.tags()["AUTHOR"] == "me"


def same_stored_statistics(theirs, ours):
    assert_same_raster(theirs, ours)
    with theirs.raster() as a, ours.raster() as b:
        wanted = a.tags(1)
        assert wanted.keys() == b.tags(1).keys()
        for key, text in wanted.items():
            assert float(b.tags(1)[key]) == pytest.approx(float(text), rel=1e-9), key


def same_layout(theirs, ours):
    assert_same_raster(theirs, ours)
    with theirs.raster() as a, ours.raster() as b:
        assert (a.compression, a.block_shapes) == (b.compression, b.block_shapes)
        assert a.tags(ns="IMAGE_STRUCTURE")["PREDICTOR"] == b.tags(ns="IMAGE_STRUCTURE")["PREDICTOR"]


def both_are_within_the_error(theirs, ours):
    heights = everyday_files.elevations()
    for outcome in (theirs, ours):
        with outcome.raster() as file:
            assert file.compression.name == "lerc"
            np.testing.assert_array_equal(file.read_masks(1) != 0, heights != -9999)
            assert np.abs(file.read(1) - heights).max() <= 0.5


def assert_same_levels(theirs, ours, name):
    with theirs.raster(name) as a, ours.raster(name) as b:
        factors = a.overviews(1)
        assert factors == b.overviews(1)
    for level in range(len(factors)):
        with (rasterio.open(theirs.folder / name, overview_level=level) as a,
              rasterio.open(ours.folder / name, overview_level=level) as b):
            np.testing.assert_allclose(b.read(), a.read(), rtol=1e-6)
    return factors


def same_default_cog(theirs, ours):
    assert_same_raster(theirs, ours)
    harness.run_ok("validate", "--strict", ours.folder / "out.tif")


def same_cog(theirs, ours):
    assert_same_raster(theirs, ours)
    assert assert_same_levels(theirs, ours, "out.tif") == [2, 4]
    harness.run_ok("validate", "--strict", ours.folder / "out.tif")


def same_overviews(theirs, ours):
    same_dem(theirs, ours)
    assert assert_same_levels(theirs, ours, "dem.tif") == [2, 4]
    beside = [(outcome.folder / "dem.tif.ovr").exists() for outcome in (theirs, ours)]
    assert beside[0] == beside[1]


def no_overviews(theirs, ours):
    assert_same_raster(theirs, ours, "cog.tif")
    for outcome in (theirs, ours):
        with outcome.raster("cog.tif") as file:
            assert file.overviews(1) == []


def same_files(theirs, ours):
    for name in ("east.tif", "west.tif"):
        assert_same_raster(theirs, ours, "out/" + name)


def both_are_manuals(theirs, ours):
    assert "terrazzo convert" in ours.stdout
    assert theirs is None or "gdal_translate" in theirs.stdout


def bash_completes(_, ours):
    assert "_terrazzo" in ours.stdout


# The check of each task of the page.
CHECKS = {
    "describe a file": same_description,
    "describe a file, as rio does": same_rio_description,
    "bounds as longitudes and latitudes": same_lon_lat_bounds,
    "the CRS as WKT": same_wkt,
    "statistics": same_statistics,
    "compare the pixels of two files": both_tell_the_files_apart,
    "values at points of a list": same_values,
    "the value at a longitude and latitude": same_values,
    "the values at a point, as rio does": same_list_of_values,
    "a picture of a range of values": same_shades,
    "is it a valid COG": both_call_it_a_cog,
    "a window of pixels": same_raster(),
    "a box of coordinates": same_raster(),
    "a box of coordinates, as rio does": same_raster(),
    "a box of longitudes and latitudes": same_pixels_where_both_are,
    "a box beyond the edge, filled with nodata": same_raster(),
    "a window beyond the edge": same_raster(),
    "another resolution, averaged": same_raster(tolerance=2e-3),  # of 980: float32 sums in another order
    "another size, by a cubic kernel": same_raster(tolerance=2e-3),
    "the largest value of each new pixel": same_raster(),
    "one overview": same_raster(),
    "the second image of a file": same_raster(),
    "another nodata value, in the pixels too": same_raster(),
    "another type": same_raster(),
    "another type, as rio does": same_raster(),
    "a range of values as bytes": same_raster(),
    "apply scale and offset": same_raster(tolerance=1e-9),
    "some bands, in another order": same_raster(),
    "the mask as a raster": same_array,
    "plain samples without a header": same_bytes,
    "declare the nodata value": same_dem,
    "drop the nodata value": same_dem,
    "assign a CRS": same_dem,
    "assign a geotransform": same_dem,
    "set an item of metadata": same_item,
    "store statistics in a copy": same_stored_statistics,
    "compress with a predictor, in tiles": same_layout,
    "compress with a bounded error": both_are_within_the_error,
    "a COG": same_default_cog,
    "a COG with other options": same_cog,
    "overviews inside the file": same_overviews,
    "overviews, as rio does": same_overviews,
    "overviews beside the file": same_overviews,
    "remove overviews": no_overviews,
    "from standard input to standard output": same_raster(),
    "many files": same_files,
    "join neighbours": same_raster(),
    "the manual of a command": both_are_manuals,
    "completion in bash": bash_completes,
}


# -- running ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    everyday_files.make(folder)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """`terrazzo`, its manual pages and rio are found first."""
    programs = tmp_path_factory.mktemp("bin")
    (programs / "terrazzo").symlink_to(harness.BINARY)
    harness.run_ok("man", "--share", programs / "share")
    path = os.pathsep.join([str(programs), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "MANPATH": f"{programs}/share/man:", "MANPAGER": "cat"}


def run(line, folder, environment):
    result = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], cwd=folder, env=environment, capture_output=True, text=True,
                            timeout=60)
    assert result.returncode == 0, f"{line}\n{result.stderr}"
    return Outcome(folder, result.stdout)


def manual_line(line, environment):
    """`man PAGE`, or a line that shows our page where `man` does not work; None where GDAL's pages are not installed."""
    page = line.split()[1]
    if manuals.man_works():
        found = subprocess.run(["man", "-w", page], env=environment, capture_output=True).returncode == 0
        return line if found or page.startswith("terrazzo") else None
    if not page.startswith("terrazzo"):
        return None
    share = environment["MANPATH"].split("/man:")[0]
    command = manuals.command_for(f"{share}/man/man1/{page}.1")
    return command and shlex.join(command)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_both_command_lines_give_the_same(task, files, environment, tmp_path):
    outcomes = []
    for name, line in (("theirs", task.theirs), ("ours", task.ours)):
        if line is not None and line.startswith("man "):
            line = manual_line(line, environment)
            if line is None and name == "ours":
                pytest.skip("no man and no groff on this machine")
        if line is None:
            outcomes.append(None)
            continue
        shutil.copytree(files, tmp_path / name)
        end = " && complete -p terrazzo" if "completion" in line else ""
        outcomes.append(run(line + end, tmp_path / name, environment))
    CHECKS[task.name](*outcomes)


def test_every_task_of_the_page_is_checked():
    assert [task.name for task in TASKS] == list(CHECKS)
    assert all(task.ours for task in TASKS)


def test_the_readme_shows_tasks_of_the_page():
    section = README.read_text().split("## Coming from GDAL or rio\n")[1].split("\n## ")[0]
    shown = tasks_of(section)
    assert len(shown) >= 8
    for task in shown:
        assert task in TASKS
