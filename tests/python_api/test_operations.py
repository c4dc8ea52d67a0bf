# SPDX-License-Identifier: Apache-2.0
import pickle
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


def test_validate_takes_every_source(large):
    fsspec = pytest.importorskip("fsspec")
    data = large.read_bytes()
    fsspec.filesystem("memory").pipe("/validate/large.tif", data)
    expected = [finding.rule for finding in terrazzo.validate(large).findings]
    assert expected
    with open(large, "rb") as file:
        for source in (data, file, "memory://validate/large.tif"):
            assert [finding.rule for finding in terrazzo.validate(source, decode=True).findings] == expected
    with pytest.raises(terrazzo.UsageError, match="int is not a source"):
        terrazzo.validate(5)


def test_the_findings_are_listed_rules(large):
    rules = {rule.name: rule for rule in terrazzo.validation_rules()}
    for finding in terrazzo.validate(large).findings:
        assert rules[finding.rule].severity == finding.severity and rules[finding.rule].meaning


@pytest.mark.parametrize("change", [terrazzo.edit, lambda source: terrazzo.overviews(source, [2])])
def test_files_elsewhere_are_not_changed_in_place(large, change):
    for source in ("s3://bucket/a.tif", large.read_bytes()):
        with pytest.raises(terrazzo.UsageError, match="terrazzo.convert"):
            change(source)


def test_convert_many_converts_folders_and_goes_on_after_a_failure(tmp_path, dem, packed):
    scenes = tmp_path / "scenes"
    (scenes / "north").mkdir(parents=True)
    shutil.copy(dem, scenes / "a.tif")
    shutil.copy(packed, scenes / "north" / "b.tif")
    (scenes / "c.tif").write_bytes(b"II*\0 no more")
    out, seen = tmp_path / "out", []
    outcomes = terrazzo.convert_many(scenes, out, files_at_once=2, compression="lzw", tile_size=64,
                                     progress=lambda done, total: seen.append((done, total)))
    states = {str(path)[len(str(scenes)) + 1 :]: outcome.state for path, outcome in outcomes.items()}
    assert states == {"a.tif": "done", "c.tif": "failed", "north/b.tif": "done"}
    assert isinstance(outcomes[str(scenes / "c.tif")].error, terrazzo.MalformedError)
    assert outcomes[str(scenes / "a.tif")].report.write.tiles > 0 and outcomes[str(scenes / "a.tif")].error is None
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*.tif")) == ["a.tif", "north/b.tif"]
    assert terrazzo.validate(out / "north" / "b.tif").valid_cog and seen[-1][0] == seen[-1][1] > 0
    with rasterio.open(out / "north" / "b.tif") as got, rasterio.open(packed) as expected:
        np.testing.assert_array_equal(got.read(), expected.read())
    again = terrazzo.convert_many([scenes], out, compression="lzw", tile_size=64)
    assert again[str(scenes / "a.tif")].state == "skipped"
    other = terrazzo.convert_many([str(scenes / "*.tif")], out, cog=False, bands=[1])
    assert other[str(scenes / "a.tif")].state == "done" and not terrazzo.open(out / "a.tif").info.layout.cog


def test_convert_many_stops_for_exceptions_of_its_caller(tmp_path, dem):
    shutil.copy(dem, tmp_path / "a.tif")

    def progress(done, total):
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        terrazzo.convert_many(tmp_path / "a.tif", tmp_path / "out", tile_size=16, progress=progress)
    with pytest.raises(TypeError, match="colour"):
        terrazzo.convert_many(tmp_path / "a.tif", tmp_path / "out", colour="red")
    assert list((tmp_path / "out").rglob("*.tif")) == []


def test_a_cog_of_web_tiles_is_on_the_grid_of_web_maps(tmp_path):
    values = np.random.default_rng(0).integers(1, 200, (600, 700)).astype(np.uint8)
    terrazzo.write(tmp_path / "a.tif", values, crs=3857, transform=(10, 0, 1_000_003, 0, -10, 6_000_007), nodata=0)
    terrazzo.cog(tmp_path / "a.tif", tmp_path / "web.tif", tiling_scheme="GoogleMapsCompatible", zoom_level=14)
    ds = terrazzo.open(tmp_path / "web.tif")
    world = 2 * 20037508.342789244
    pixel = world / 256 / 2**14
    assert ds.pixel_size == pytest.approx((pixel, pixel))
    for edge in (ds.bounds.left, ds.bounds.top):
        tiles = (edge + world / 2) / (256 * pixel)
        assert tiles == pytest.approx(round(tiles), abs=1e-6)
    with rasterio.open(tmp_path / "web.tif") as got:
        assert got.tags(ns="TILING_SCHEME")["NAME"] == "GoogleMapsCompatible" and got.block_shapes == [(256, 256)]
    assert terrazzo.validate(tmp_path / "web.tif").valid_cog
    with pytest.raises(terrazzo.UsageError, match="tiling_scheme"):
        terrazzo.cog(tmp_path / "a.tif", tmp_path / "b.tif", zoom_level=14)
    with pytest.raises(terrazzo.UsageError, match="GoogleMapsCompatible"):
        terrazzo.cog(tmp_path / "a.tif", tmp_path / "b.tif", tiling_scheme="Mars")
    assert not (tmp_path / "b.tif").exists()


def test_rows_come_in_blocks_that_make_the_whole(packed, large):
    for path, keywords in (
        (packed, {"masked": True}), (packed, {"bands": [3, 1], "unpack": True}), (large, {"bands": 1, "overview": 1}),
        (large, {"window": (300, 500, 900, 700), "dtype": "float32"}),
    ):
        ds = terrazzo.open(path)
        bands = keywords.pop("bands", None)
        whole = ds.read(bands, **keywords)
        blocks = list(ds.iter_rows(bands, block_bytes=256 << 10, **keywords))
        assert len(blocks) > 1
        np.testing.assert_array_equal(np.concatenate([rows for _, rows in blocks], axis=-2), whole)
        column, row, width, height = keywords.get("window", (0, 0, whole.shape[-1], whole.shape[-2]))
        assert all((window.column, window.width) == (column, width) for window, _ in blocks)
        edges = [blocks[0][0].row, *(window.row + window.height for window, _ in blocks)]
        assert edges[0] == row and edges[-1] == row + height and edges == sorted(set(edges))
    with pytest.raises(terrazzo.UsageError, match="overview"):
        terrazzo.open(large).iter_rows(overview=9)  # at once, not with the first block


def test_a_plan_tells_what_a_read_does(large):
    plan = terrazzo.open(large).plan(1, size=(500, 500), resampling="average", dtype="float64", threads=1)
    assert (plan.level, plan.width, plan.height, plan.dtype, plan.bands) == (2, 500, 500, "float64", [1])
    assert plan.result_bytes == 500 * 500 * 8 and "deflate" in plan.codec and plan.threads == 1
    assert terrazzo.open(large).plan(window=(0, 0, 257, 256)).tile_count == 2


def test_places_of_a_raster(tmp_path, dem, packed):
    ds = terrazzo.open(dem)
    left, bottom, right, top = ds.bounds
    assert ds.corners == ((left, top), (left, bottom), (right, top), (right, bottom)) and ds.pixel_size == (10, 10)
    assert ds.center == ((left + right) / 2, (bottom + top) / 2)
    turned = terrazzo.Transform(3, -4, 500000, 4, 3, 4200000)
    terrazzo.write(tmp_path / "turned.tif", np.zeros((10, 20), np.uint8), crs=32632, transform=turned)
    other = terrazzo.open(tmp_path / "turned.tif")
    assert other.pixel_size == (5, 5) and other.corners.lower_right == turned @ (20, 10)
    assert ds.same_crs(other) and ds.same_crs(terrazzo.open(packed))
    terrazzo.write(tmp_path / "else.tif", np.zeros((10, 20), np.uint8), crs=32633)
    assert not ds.same_crs(terrazzo.open(tmp_path / "else.tif"))


def test_tiles_that_are_encoded_elsewhere_make_the_same_file(tmp_path):
    values = np.random.default_rng(0).integers(0, 99, (2, 300, 500)).astype(np.int16)
    options = {"tile_size": 128, "compression": "deflate", "interleave": "band"}
    terrazzo.write(tmp_path / "a.tif", values, **options)
    parts = [values[:, row * 128 : row * 128 + 128] for row in range(3)]
    encoded = [terrazzo.encode_tiles(part, (0, row), (500, 300), **options) for row, part in enumerate(parts)]
    with terrazzo.Writer(tmp_path / "b.tif", 500, 300, dtype="int16", bands=2, **options) as out:
        for part in reversed(pickle.loads(pickle.dumps(encoded))):
            for tile, data in part:
                out.write_encoded(tile, data)
    np.testing.assert_array_equal(rasterio.open(tmp_path / "b.tif").read(), values)
    with pytest.raises(terrazzo.UsageError):
        terrazzo.encode_tiles(values[:, 5:20], (0, 0), (500, 300), **options)


def test_extra_tags_and_masks_of_8_bits_are_written(tmp_path):
    import tifffile

    shades = np.arange(100, dtype=np.uint8).reshape(10, 10)
    tags = [(65000, "ascii", "über"), (65001, "double", [1.5, -2]), (65002, "undefined", b"\1\2\3"), (65003, "short", 7)]
    terrazzo.write(tmp_path / "a.tif", shades, mask=shades, mask_bits=8, extra_tags=tags)
    np.testing.assert_array_equal(terrazzo.open(tmp_path / "a.tif").read_mask(1), shades)
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        got = file.pages[0].tags
        assert got[65001].value == (1.5, -2) and bytes(got[65002].value) == b"\1\2\3" and got[65003].value == 7
        assert got[65000].dtype == 2 and got[65000].count == 6
    for tag in ((65000, "text", "a"), (65000, "short", "abc"), (65000, "byte", 300), (65000, "long", ["x"])):
        with pytest.raises(terrazzo.UsageError, match="tag 65000"):
            terrazzo.write(tmp_path / "b.tif", shades, extra_tags=[tag])
