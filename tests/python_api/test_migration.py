# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/site/migration.md: both lines of each task run, and the results are compared."""
import ast
import io
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import rasterio
import rasterio.shutil
from rasterio.enums import Resampling
from rasterio.transform import from_origin
from rasterio.windows import Window, from_bounds

import terrazzo

# What rasterio's line does not copy, or sets otherwise, by task.
DIFFERENCES = {"a file like another": {"names", "scales", "offsets", "tags", "compression"}, "a COG": {"compression"}}
PAGE = Path(__file__).resolve().parents[2] / "docs/site/migration.md"


def tasks_of(section):
    """(name, their line, our line) of each pair of rows of the section's table."""
    text = PAGE.read_text().split(f"\n## {section}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ?(.*?) ?\| `(.*)` \|$", text, re.MULTILINE)
    return [pytest.param(name, theirs, ours, id=name) for (name, theirs), (_, ours) in zip(rows[::2], rows[1::2])]


def run(line, folder, names, monkeypatch):
    """The value of an expression, or the file that a statement or a writing call leaves."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    source = names.pop("file")
    shutil.copy(source, "dem.tif")
    shutil.copy(source, "out.tif")
    before = Path("out.tif").read_bytes()
    names = {**names, "src": rasterio.open("dem.tif"), "dem": terrazzo.open("dem.tif")}
    if isinstance(ast.parse(line).body[0], ast.Expr):
        value = eval(line, names)  # noqa: S307  (a line of our page)
    else:
        exec(line, names)  # noqa: S102
        value = None
    return content("out.tif") if Path("out.tif").read_bytes() != before else value


def content(path):
    """What a file says."""
    with rasterio.open(path) as file:
        return {
            "pixels": file.read(), "mask": file.read_masks(), "types": file.dtypes, "nodata": file.nodata, "crs": file.crs,
            "transform": file.transform[:6], "names": file.descriptions, "scales": file.scales, "offsets": file.offsets,
            "tags": {key: value for key, value in file.tags().items() if not key.startswith("STATISTICS_")},
            "overviews": bool(file.overviews(1)), "compression": file.tags(ns="IMAGE_STRUCTURE").get("COMPRESSION"),
        }  # fmt: skip


def same(theirs, ours, name=""):
    if isinstance(theirs, dict) and "pixels" in theirs:
        differ = {key for key in theirs if not same(theirs[key], ours[key])}
        assert differ <= DIFFERENCES.get(name, set()), differ
        return True
    if isinstance(theirs, list):
        return len(theirs) == len(ours) and all(same(a, b) for a, b in zip(theirs, ours))
    if isinstance(theirs, np.ndarray):
        nan = theirs.dtype.kind == "f"
        return theirs.dtype == ours.dtype and np.array_equal(theirs, ours, equal_nan=nan)
    if isinstance(theirs, Window):
        return ours == (*map(int, theirs.flatten()),)
    if isinstance(theirs, tuple) and theirs and isinstance(theirs[0], float):
        return np.allclose(theirs, ours, rtol=0, atol=1e-9)
    return theirs == ours


@pytest.mark.parametrize(("name", "theirs", "ours"), tasks_of("rasterio"))
def test_the_same_as_with_rasterio(name, theirs, ours, packed, tmp_path, monkeypatch):
    values = np.arange(3 * 300 * 400, dtype=np.int16).reshape(3, 300, 400)
    transform = from_origin(500000, 4200000, 10, 10)
    profile = {"driver": "GTiff", "width": 400, "height": 300, "count": 3, "dtype": "int16", "crs": "EPSG:32632", "transform": transform}
    names = {
        "rasterio": rasterio, "terrazzo": terrazzo, "numpy": np, "io": io, "data": packed.read_bytes(), "Window": Window, "from_bounds": from_bounds, "Resampling": Resampling,
        "array": values, "transform": transform, "profile": profile, "points": [(500105, 4199895), (501005, 4198995)], "file": packed,
    }  # fmt: skip
    one, two = (run(line, tmp_path / where, dict(names), monkeypatch) for where, line in (("theirs", theirs), ("ours", ours)))
    assert same(one, two, name), (one, two)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # rioxarray multiplies with affine
@pytest.mark.filterwarnings("ignore:The specified chunks separate")  # the engine prefers larger chunks
@pytest.mark.parametrize(("name", "theirs", "ours"), tasks_of("rioxarray"))
def test_the_same_as_with_rioxarray(name, theirs, ours, packed, tmp_path, monkeypatch):
    xr = pytest.importorskip("xarray")
    rioxarray = pytest.importorskip("rioxarray")
    names = {"xr": xr, "rioxarray": rioxarray, "file": packed}
    one, two = (run(line, tmp_path / where, dict(names), monkeypatch) for where, line in (("theirs", theirs), ("ours", ours)))
    if isinstance(one, int):
        assert one == two
    else:
        xr.testing.assert_equal(one.load(), two.load())
        assert one.chunks == two.chunks


def test_the_page_has_both_tables():
    assert len(tasks_of("rasterio")) >= 25
    assert len(tasks_of("rioxarray")) >= 5
