# SPDX-License-Identifier: Apache-2.0
"""`.xrs` of DataArrays and Datasets, where xarray-spatial is not installed."""
import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import terrazzo

xr = pytest.importorskip("xarray")
importlib.import_module("terrazzo.geotiff")

if importlib.util.find_spec("xrspatial") is not None:
    pytest.skip("xarray-spatial has the accessor", allow_module_level=True)


@pytest.fixture
def part(dem):
    return terrazzo.open_geotiff(dem)[20:27, 30:42]


@pytest.mark.parametrize("change", [
    lambda da: da, lambda da: da[::-1], lambda da: da[:, ::-1], lambda da: da.drop_attrs(),
    lambda da: da.expand_dims(band=3), lambda da: da.assign_attrs(crs="EPSG:32632"),
])  # fmt: skip
def test_a_file_is_read_where_the_array_is(dem, part, change):
    found = change(part).xrs.open_geotiff(dem)
    xr.testing.assert_equal(found, part)
    assert found.attrs["transform"] == (10, 0, float(part.x[0]) - 5, 0, -10, float(part.y[0]) + 5)


def test_pixels_that_are_touched_are_read(dem, part):
    shifted = part.assign_coords(x=part.x + 2, y=part.y + 2)
    assert shifted.xrs.open_geotiff(dem).shape == (8, 13)
    assert part[3:4, 3:4].xrs.open_geotiff(dem).shape == (1, 1)
    assert part.isel(y=[0, 4], x=[0, 8]).xrs.open_geotiff(dem).shape == (5, 9)


def test_a_lazy_array_gives_a_lazy_one(dem, part):
    pytest.importorskip("dask")
    assert part.chunk({"y": 3, "x": 5}).xrs.open_geotiff(dem).chunks == ((3, 3, 1), (3, 3, 3, 3))
    assert part.chunk(3).xrs.open_geotiff(dem, chunks=None).chunks is None


def test_datasets_have_a_variable(dem, part, tmp_path):
    ds = xr.Dataset({"t": ("time", [1.0]), "a": part, "b": part + 1})
    xr.testing.assert_equal(ds.xrs.open_geotiff(dem), part)
    ds.xrs.to_geotiff(tmp_path / "a.tif", compression="lzw")
    ds.xrs.to_geotiff(tmp_path / "b.tif", "b")
    part.xrs.to_geotiff(tmp_path / "c.tif")
    first, second, third = (terrazzo.open_geotiff(tmp_path / f"{name}.tif") for name in "abc")
    assert (first == part).all() and (second == part + 1).all() and (third == part).all()
    with pytest.raises(KeyError, match="No variable named 'zz'"):
        ds.xrs.open_geotiff(dem, var="zz")
    with pytest.raises(ValueError, match="no 2D variable"):
        ds[["t"]].assign_coords(part.coords).xrs.to_geotiff(tmp_path / "d.tif")


@pytest.mark.parametrize("change, keywords, error, message", [
    (lambda da: da.drop_vars(["y", "x"]), {}, ValueError, "'y' and 'x' coordinates"),
    (lambda da: da.assign_attrs(crs=4326), {}, ValueError, "CRS mismatch"),
    (lambda da: da.assign_attrs(crs="bogus"), {}, ValueError, "not a valid CRS"),
    (lambda da: da.assign_coords(x=da.x + 1e6), {}, ValueError, "does not overlap"),
    (lambda da: da, {"bbox": (0, 0, 1, 1)}, ValueError, "mutually exclusive"),
    (lambda da: da, {"resampling": "foo"}, ValueError, "resampling must be"),
    (lambda da: da, {"coregister": True}, terrazzo.UnsupportedError, "reprojected"),
    (lambda da: da.assign_attrs(crs=4326), {"auto_reproject": True}, terrazzo.UnsupportedError, "auto_reproject"),
])  # fmt: skip
def test_what_cannot_be_read_is_refused(dem, part, change, keywords, error, message):
    with pytest.raises(error, match=message):
        change(part).xrs.open_geotiff(dem, **keywords)


@pytest.mark.parametrize("program", [
    "import sys; sys.path.insert(0, '.'); import terrazzo.geotiff",  # xarray-spatial is installed
    "@xr.register_dataarray_accessor('xrs')\nclass Other:\n    def __init__(self, obj): pass\nimport terrazzo.geotiff",
])  # fmt: skip
def test_the_name_is_left_to_others(tmp_path, program):
    if "sys.path" in program:
        (tmp_path / "xrspatial.py").write_text("")
    check = "assert getattr(xr.DataArray, 'xrs', None) is (Other if 'Other' in globals() else None)"
    text = f"import xarray as xr\n{program}\n{check}\n"
    subprocess.run([sys.executable, "-W", "error::xarray.core.extensions.AccessorRegistrationWarning", "-c", text], cwd=tmp_path, check=True)
