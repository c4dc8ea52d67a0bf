# SPDX-License-Identifier: Apache-2.0
"""The engine beside engine="rasterio" of rioxarray: packages that read one's datasets get the same from the other's."""
import json

import numpy as np
import pytest
import rasterio
from conftest import terrain, write_with_gdal
from rasterio.control import GroundControlPoint
from rasterio.rpc import RPC
from rasterio.transform import Affine, from_origin

import terrazzo

xr = pytest.importorskip("xarray")
pytest.importorskip("rioxarray")

pytestmark = [
    pytest.mark.filterwarnings("ignore:(Scales|Offsets) differ across bands"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the peers
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning"),
]


@pytest.fixture(scope="module")
def files(folder):
    """Rasters by name."""
    made = {}

    def make(name, array, edit=None, **profile):
        made[name] = write_with_gdal(folder / f"peer_{name}.tif", array, **profile)
        if edit is not None:
            with rasterio.open(made[name], "r+") as out:
                edit(out)

    def describe(out):
        out.descriptions, out.units = ("low", None, "high"), ("m", "", "")
        out.update_tags(NUMBER="12", SHARE="1.5", TEXT="abc", LIST="{1,2}", nodata="3")
        out.update_tags(1, OF_BAND="7")

    def pack(out):
        out.scales, out.offsets = (0.5, 0.5, 0.5), (10.0, 10.0, 10.0)

    def pack_differently(out):
        out.scales, out.offsets = (1.0, 0.5, 2.0), (0.0, 10.0, 0.0)

    heights = terrain(60, 90)
    bands = np.stack([heights, heights + 1, heights + 2]).astype(np.int16)
    bands[:, 5:9, 7:30] = -9999
    make("float", heights)
    make("described", bands, describe, nodata=-9999)
    make("packed", bands, pack, nodata=-9999)
    make("mixed", bands, pack_differently, nodata=-9999)
    make("int32", bands.astype(np.int32), nodata=-9999)
    make("nan", np.where(heights > 500, heights, np.nan), nodata=np.nan)
    make("bytes", (heights / 3).astype(np.uint8))
    make("degrees", heights, crs="EPSG:4326", transform=from_origin(-10, 50, 0.1, 0.1))
    make("rotated", heights, transform=Affine(9, -3, 500000, -3, -9, 4200000))
    make("south_up", heights, transform=Affine(10, 0, 500000, 0, 10, 4200000))
    make("plain", heights, crs=None, transform=Affine.identity())
    points = [GroundControlPoint(0, 0, 1, 2, 3, "1"), GroundControlPoint(0, 90, 2, 2, 3, "2"), GroundControlPoint(60, 0, 1, 3, 3, "3")]
    make("gcps", heights, crs="EPSG:4326", gcps=points, transform=None)
    numbers = [0.5] * 20
    rpcs = RPC(10, 500, 45, 1, numbers, numbers, 30, 30, 9, 1, numbers, numbers, 45, 45, 0.25, 0.125)
    make("rpcs", heights, crs=None, transform=None, rpcs=rpcs)
    return made


NAMES = ("float", "described", "packed", "mixed", "int32", "nan", "bytes", "degrees", "rotated", "south_up", "plain", "gcps", "rpcs")


TRIVIAL = {"scale_factor": 1.0, "add_offset": 0.0}


def pair(path, **keywords):
    return tuple(xr.open_dataset(path, engine=engine, **keywords) for engine in ("terrazzo", "rasterio"))


def plain(attributes):
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in attributes.items()}


@pytest.mark.parametrize("keywords", [{}, {"mask_and_scale": False}, {"band_as_variable": True}], ids=["decoded", "raw", "by_band"])
@pytest.mark.parametrize("name", NAMES)
def test_datasets_are_equal(files, name, keywords):
    ours, theirs = pair(files[name], **keywords)
    assert set(ours.variables) == set(theirs.variables) and dict(ours.sizes) == dict(theirs.sizes)
    assert plain(ours.attrs) == plain(theirs.attrs)
    for variable in set(ours.variables) - {"spatial_ref"}:
        mine, other = ours[variable], theirs[variable]
        assert mine.dims == other.dims
        np.testing.assert_allclose(mine.values, other.values, rtol=1e-6)
        # Factors of 1 and offsets of 0 are left out.
        np.testing.assert_equal({**TRIVIAL, **plain(mine.attrs)}, {**TRIVIAL, **plain(other.attrs)})
        for key in ("_FillValue", "scale_factor", "add_offset", "scales", "offsets"):
            default = TRIVIAL.get(key)
            np.testing.assert_equal(mine.encoding.get(key, default), other.encoding.get(key, default))


@pytest.mark.parametrize("name", NAMES)
def test_rio_gives_the_same(files, name):
    ours, theirs = (ds.band_data for ds in pair(files[name]))
    assert ours.rio.crs == theirs.rio.crs
    assert ours.rio.transform() == theirs.rio.transform() and ours.rio.shape == theirs.rio.shape
    for attribute in ("nodata", "encoded_nodata"):
        np.testing.assert_equal(getattr(ours.rio, attribute), getattr(theirs.rio, attribute))
    if name not in ("rotated", "gcps", "rpcs"):  # without x and y
        assert ours.rio.bounds() == theirs.rio.bounds() and ours.rio.resolution() == theirs.rio.resolution()
    assert ours.rio.get_gcps() == theirs.rio.get_gcps() or str(ours.rio.get_gcps()) == str(theirs.rio.get_gcps())
    assert ours.rio.get_rpcs() == theirs.rio.get_rpcs()


def test_gcps_and_rpcs_are_in_the_grid_mapping(files):
    for name, key in (("gcps", "gcps"), ("rpcs", "rpcs")):
        ours, theirs = (json.loads(ds.spatial_ref.attrs[key]) for ds in pair(files[name]))
        assert ours == theirs


@pytest.mark.filterwarnings("ignore:saving variable None with floating point data")
@pytest.mark.filterwarnings("ignore:Transform that is non-rectilinear")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "mixed"])  # whose scaled values rioxarray writes as integers
def test_rio_writes_the_same_file(files, name, tmp_path):
    for engine in ("terrazzo", "rasterio"):
        data = xr.open_dataset(files[name], engine=engine).band_data
        data.rio.to_raster(tmp_path / f"{engine}.tif")
    with rasterio.open(tmp_path / "terrazzo.tif") as ours, rasterio.open(tmp_path / "rasterio.tif") as theirs:
        np.testing.assert_array_equal(ours.read(), theirs.read())
        np.testing.assert_equal(dict(ours.profile), dict(theirs.profile))
        assert (ours.scales, ours.offsets, ours.descriptions) == (theirs.scales, theirs.offsets, theirs.descriptions)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("rotated", "gcps", "rpcs")])
def test_the_accessor_writes_what_rio_writes(files, name, tmp_path):
    xr.open_dataset(files[name], engine="terrazzo").band_data.terrazzo.to_geotiff(tmp_path / "ours.tif")
    with rasterio.open(tmp_path / "ours.tif") as ours, rasterio.open(files[name]) as source:
        if name == "mixed":
            scaled = np.where(source.read() == -9999, np.nan, source.read() * np.reshape(source.scales, (3, 1, 1)))
            scaled += np.reshape(source.offsets, (3, 1, 1))
            np.testing.assert_allclose(np.where(ours.read() == -9999, np.nan, ours.read()), scaled)
        else:
            np.testing.assert_array_equal(ours.read(), source.read())
            assert (ours.scales, ours.offsets, ours.dtypes) == (source.scales, source.offsets, source.dtypes)
        np.testing.assert_equal(ours.nodata, source.nodata)
        assert ours.crs == source.crs and ours.transform == source.transform and ours.units == source.units


def test_parts_have_the_same_place(files):
    ours, theirs = (ds.band_data[:, 10:20, 30:70] for ds in pair(files["degrees"]))
    assert ours.rio.transform() == theirs.rio.transform() and ours.rio.bounds() == theirs.rio.bounds()
    np.testing.assert_allclose(ours.terrazzo.bounds, theirs.rio.bounds())
    np.testing.assert_allclose(theirs.terrazzo.transform, tuple(theirs.rio.transform())[:6])
    assert theirs.terrazzo.crs == terrazzo.Crs("EPSG:4326")


@pytest.mark.parametrize("name", ["float", "degrees", "south_up", "described"])
def test_odc_geo_gives_the_same(files, name):
    pytest.importorskip("odc.geo.xr")
    ours, theirs = (ds.band_data.odc.geobox for ds in pair(files[name]))
    assert ours == theirs


@pytest.mark.parametrize("name", ["float", "degrees", "south_up", "described"])
def test_rasterix_gives_the_same(files, name):
    rasterix = pytest.importorskip("rasterix")
    keywords = {"parse_coordinates": False}
    ours, theirs = (rasterix.assign_index(ds) for ds in pair(files[name], **keywords))
    assert ours.xindexes["x"].transform() == theirs.xindexes["x"].transform()
    assert ours.xindexes["x"].equals(theirs.xindexes["x"])
    np.testing.assert_array_equal(ours.x, theirs.x)
