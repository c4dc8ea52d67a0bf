# SPDX-License-Identifier: Apache-2.0
import shutil

import numpy as np
import pytest
import rasterio

import terrazzo


def test_convert_selects_pixels_and_keeps_their_place(tmp_path, packed):
    terrazzo.convert(packed, tmp_path / "part.tif", bands=[2], window=(50, 30, 100, 60), compression="lzw")
    with rasterio.open(tmp_path / "part.tif") as got, rasterio.open(packed) as whole:
        np.testing.assert_array_equal(got.read(1), whole.read(2)[30:90, 50:150])
        assert got.transform.c == 500500 and got.transform.f == 4199700
        assert got.profile["compress"] == "lzw" and got.nodata == -9999


def test_cog_makes_a_valid_cog(tmp_path, large):
    report = terrazzo.cog(large, tmp_path / "cog.tif", tile_size=256, overview_resampling="nearest")
    assert report.read.tiles == 64 and report.write.tiles > 64
    result = terrazzo.validate(tmp_path / "cog.tif")
    assert result.valid_cog and result.valid_tiff
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "cog.tif", 1), rasterio.open(large).read(1))


def test_validate_lists_findings(large):
    result = terrazzo.validate(large)
    assert result.valid_tiff and not result.valid_cog
    assert result.findings[0].severity == "error" and "Finding(" in repr(result.findings[0])
    assert not terrazzo.validate(large.read_bytes()[:1000]).valid_tiff


def test_edit_changes_tags(tmp_path, packed):
    path = shutil.copy(packed, tmp_path / "a.tif")
    terrazzo.edit(path, nodata=-1, crs=3857, transform=(5, 0, 1, 0, -5, 2), tags={"AUTHOR": "somebody"}, unset=["NAME"],
                  bands={2: {"description": "new", "scale": 3.0, "tags": {"k": 1}}})
    with rasterio.open(path) as got:
        assert got.nodata == -1 and got.crs.to_epsg() == 3857 and got.transform.a == 5
        assert got.tags()["AUTHOR"] == "somebody" and "NAME" not in got.tags()
        assert got.descriptions[1] == "new" and got.scales[1] == 3.0 and got.tags(2)["k"] == "1"
    terrazzo.edit(path, nodata=None, crs=None, transform=None)
    ds = terrazzo.open(path)
    assert ds.nodata is None and ds.crs is None and ds.transform is None


def test_overviews_are_added_inside_and_beside(tmp_path, dem):
    inside, beside = shutil.copy(dem, tmp_path / "a.tif"), shutil.copy(dem, tmp_path / "b.tif")
    terrazzo.overviews(inside, [2, 4], resampling="average")
    terrazzo.overviews(beside, [2], external=True, compression="deflate", level=1)
    with rasterio.open(inside) as got, rasterio.open(beside) as other:
        assert got.overviews(1) == [2, 4] and other.overviews(1) == [2]
    assert (tmp_path / "b.tif.ovr").exists()


def test_stats_are_those_of_numpy(packed):
    values = rasterio.open(packed).read(1)
    valid = values[values != -9999].astype(np.float64)
    got = terrazzo.stats(packed, 1, bins=10)[0]
    assert (got.minimum, got.maximum, got.valid) == (valid.min(), valid.max(), valid.size)
    assert got.mean == pytest.approx(valid.mean()) and got.stddev == pytest.approx(valid.std())
    assert sum(got.histogram) == valid.size and len(got.histogram) == 10
    part = terrazzo.open(packed).stats([2], window=(0, 0, 10, 10))[0]
    assert part.total == 100 and part.band == 2


def test_preview_is_a_png(dem):
    import struct

    png = terrazzo.preview(dem, max_size=64, style="colormap", colormap="terrain", range=(400, 600))
    assert png.startswith(b"\x89PNG") and struct.unpack(">II", png[16:24]) == (64, 48)


def test_doctor_names_codecs_and_device():
    facts = terrazzo.doctor()
    assert facts["version"] == terrazzo.__version__ and facts["cores"] >= 1
    assert {"deflate", "zstd", "lzw"} <= facts["codecs"].keys() and facts["device"]["reason"] is not None


def test_configure_sets_the_process():
    from terrazzo import _core

    before = _core.settings().memory_limit_bytes
    try:
        terrazzo.configure(memory_limit_bytes=1 << 30)
        assert _core.settings().memory_limit_bytes == 1 << 30
    finally:
        terrazzo.configure(memory_limit_bytes=before)
