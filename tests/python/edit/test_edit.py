# SPDX-License-Identifier: Apache-2.0
"""`terrazzo edit`: GDAL reads what was changed, pixels and all else stay, COGs stay COGs."""

import struct
import subprocess

import harness
import numpy as np
import pytest
import rasterio
import tiff_patch

TRANSFORM = rasterio.transform.from_origin(5e5, 5e6, 10, 10)


def make(path, bands=2, dtype="int16", masked=False, **profile):
    pixels = np.random.default_rng(3).integers(-100, 5000, (bands, 700, 900)).astype(dtype)
    profile = {"driver": "GTiff", "width": 900, "height": 700, "count": bands, "dtype": dtype, "crs": "EPSG:32633",
               "transform": TRANSFORM, "tiled": True, "blockxsize": 256, "blockysize": 256, "compress": "deflate", **profile}
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", **profile) as out:
        out.write(pixels)
        out.update_tags(KEEP="me", TIFFTAG_SOFTWARE="a program")
        out.set_band_description(1, "height")
        out.scales, out.offsets = [0.5] * bands, [3.0] * bands
        if masked:
            mask = np.full((700, 900), 255, np.uint8)
            mask[100:200, 100:400] = 0
            out.write_mask(mask)
    return path


def make_cog(tmp_path, *options, **how):
    path = tmp_path / "cog.tif"
    harness.run_ok("cog", make(tmp_path / "source.tif", **how), "-o", path, "--tile-size", "256", *options)
    return path


def facts(path):
    with rasterio.open(path) as file:
        return {"pixels": [file.read(), *(rasterio.open(path, overview_level=i).read() for i in range(len(file.overviews(1))))],
                "mask": file.dataset_mask(), "tags": file.tags(), "nodata": file.nodata, "crs": file.crs, "transform": file.transform,
                "descriptions": file.descriptions, "scales": file.scales, "offsets": file.offsets, "units": file.units,
                "structure": file.tags(ns="IMAGE_STRUCTURE"), "band_tags": [file.tags(b) for b in file.indexes],
                "overviews": file.overviews(1)}


def assert_same(a, b, but=()):
    for key in a:
        if key == "pixels":
            assert len(a[key]) == len(b[key])
            for left, right in zip(a[key], b[key]):
                np.testing.assert_array_equal(left, right)
        elif key == "mask":
            if key not in but:
                np.testing.assert_array_equal(a[key], b[key])
        elif key not in but:
            assert a[key] == b[key], key


def edit(path, *arguments):
    return harness.run_json("edit", path, *arguments, "--json")["way"]


def assert_valid(path):
    assert harness.run("validate", "--decode", path).code == harness.OK


LAYOUTS = {
    "plain": lambda folder: make(folder / "a.tif"),
    "strips": lambda folder: make(folder / "a.tif", tiled=False, blockxsize=None, blockysize=16),
    "bigtiff": lambda folder: make(folder / "a.tif", bigtiff="yes"),
    "big-endian": lambda folder: make(folder / "a.tif", ENDIANNESS="BIG"),
    "big-endian plain": lambda folder: make(folder / "a.tif", ENDIANNESS="BIG", compress=None, tiled=False, blockxsize=None, blockysize=16),
    "big-endian bigtiff": lambda folder: make(folder / "a.tif", ENDIANNESS="BIG", bigtiff="yes", masked=True),
    "masked": lambda folder: make(folder / "a.tif", masked=True),
    "cog": make_cog,
    "cog masked": lambda folder: make_cog(folder, masked=True),
    "cog big": lambda folder: make_cog(folder, "--bigtiff", "yes"),
    "cog bands apart": lambda folder: make_cog(folder, "--interleave", "band"),
}


@pytest.mark.parametrize("rewrite", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gdal_reads_every_change_and_all_else_stays(tmp_path, layout, rewrite):
    path = LAYOUTS[layout](tmp_path)
    is_cog = layout.startswith("cog")
    order = path.read_bytes()[:4]
    assert order.startswith(b"MM") == layout.startswith("big-endian")
    before = facts(path)
    how = ["--rewrite"] if rewrite else []
    expected_way = "rewritten" if rewrite else "in place" if is_cog else None

    way = edit(path, "--nodata", "-9999", *how)
    assert way == (expected_way or way) and way != "nothing"
    after = facts(path)
    assert after["nodata"] == -9999
    assert_same(before, after, but=("nodata", "mask"))

    edit(path, "--crs", "EPSG:25832", *how)
    assert facts(path)["crs"].to_epsg() == 25832
    assert_same(after, facts(path), but=("crs",))

    edit(path, "--transform", "100,2.5,0,900,0,-2.5", *how)
    assert facts(path)["transform"] == rasterio.transform.from_origin(100, 900, 2.5, 2.5)
    assert_same(after, facts(path), but=("crs", "transform"))

    edit(path, "--set", "AUTHOR=somebody & co", "--set", "KEEP=you", "--unset", "TIFFTAG_SOFTWARE", *how)
    now = facts(path)
    assert now["tags"]["AUTHOR"] == "somebody & co" and now["tags"]["KEEP"] == "you" and "TIFFTAG_SOFTWARE" not in now["tags"]
    assert_same(after, now, but=("crs", "transform", "tags"))

    edit(path, "--band", "2", "--description", "slope", "--unit", "degree", "--scale", "0.25", "--offset", "-1", "--set", "A=b", *how)
    now = facts(path)
    assert now["descriptions"] == ("height", "slope") and now["scales"] == (0.5, 0.25) and now["offsets"] == (3.0, -1.0)
    assert now["units"][1] == "degree" and now["band_tags"][1]["A"] == "b"
    assert_same(after, now, but=("crs", "transform", "tags", "descriptions", "scales", "offsets", "units", "band_tags"))

    assert edit(path, "--nodata", "none", *how) != "nothing"
    assert facts(path)["nodata"] is None
    if is_cog:
        assert_valid(path)
        assert facts(path)["structure"]["LAYOUT"] == "COG"
    info = harness.run_json("info", path, "--json")
    assert not info["warnings"]
    assert path.read_bytes()[:4] == order


def test_nodata_reaches_overviews(tmp_path):
    path = make_cog(tmp_path)
    edit(path, "--nodata", "7")
    for level in range(len(facts(path)["overviews"])):
        with rasterio.open(path, overview_level=level) as overview:
            assert overview.nodata == 7


def test_a_cog_without_room_is_left_alone_and_rewritten_when_asked(tmp_path):
    path = make_cog(tmp_path, masked=True)
    before, bytes_before = facts(path), path.read_bytes()
    long_text = "x" * 5000
    result = harness.run("edit", path, "--set", f"LONG={long_text}", "--json")
    assert result.code == harness.USAGE and "--rewrite" in result.error()["message"]
    assert path.read_bytes() == bytes_before
    assert edit(path, "--set", f"LONG={long_text}", "--rewrite") == "rewritten"
    assert facts(path)["tags"]["LONG"] == long_text
    assert_same(before, facts(path), but=("tags",))
    assert_valid(path)
    assert edit(path, "--set", "SHORT=again there is room") == "in place"
    assert_valid(path)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_a_cog_of_gdals_is_edited_too(tmp_path):
    source = make(tmp_path / "source.tif")
    path = tmp_path / "cog.tif"
    subprocess.run(["gdal_translate", "-q", "-of", "COG", "-co", "COMPRESS=DEFLATE", "-co", "BLOCKSIZE=256", source, path], check=True)
    before = facts(path)
    assert edit(path, "--nodata", "-9999", "--rewrite") == "rewritten"
    assert facts(path)["nodata"] == -9999
    assert_same(before, facts(path), but=("nodata", "mask"))
    assert_valid(path)


def test_an_edited_cog_that_lost_its_layout_gets_it_back(tmp_path):
    path = make_cog(tmp_path)
    harness.run_ok("overviews", path, "--factors", "2,4")
    before = facts(path)
    assert "LAYOUT" not in before["structure"]
    assert edit(path, "--rewrite") == "rewritten"
    assert_same(before, facts(path), but=("structure",))
    assert facts(path)["structure"]["LAYOUT"] == "COG"
    assert_valid(path)


def test_nothing_to_change_changes_nothing(tmp_path):
    path = make(tmp_path / "a.tif", nodata=-9999)
    before = path.read_bytes()
    assert edit(path, "--nodata", "-9999") == "nothing"
    assert edit(path, "--unset", "NOT_THERE") == "nothing"
    assert path.read_bytes() == before


@pytest.mark.parametrize("arguments, code", [
    (("--nodata", "70000"), harness.USAGE),
    (("--band", "3", "--unit", "m"), harness.USAGE),
    (("--unit", "m"), harness.USAGE),
    (("--set", "novalue"), harness.USAGE),
    (("--transform", "1,2,3"), harness.USAGE),
    (("--crs", "not a CRS"), harness.USAGE),
    (("--transform", "1,0,0,4,0,-3"), harness.USAGE),
    (("--transform", "nan,1,0,4,0,-3"), harness.USAGE),
    (("--set", "AREA_OR_POINT=Line"), harness.USAGE),
    (("--unset", "AREA_OR_POINT"), harness.USAGE),
    (("--band", "1", "--scale", "nan"), harness.USAGE),
    (("--band", "1", "--offset", "inf"), harness.USAGE),
])
def test_wrong_requests_leave_the_file_alone(tmp_path, arguments, code):
    path = make(tmp_path / "a.tif")
    before = path.read_bytes()
    result = harness.run("edit", path, *arguments)
    assert result.code == code, str(result)
    assert path.read_bytes() == before


@pytest.mark.parametrize("layout", LAYOUTS)
def test_points_are_made_of_pixels_where_they_are(tmp_path, layout):
    path = LAYOUTS[layout](tmp_path)
    before = facts(path)
    edit(path, "--set", "AREA_OR_POINT=Point")
    now = facts(path)
    assert now["tags"]["AREA_OR_POINT"] == "Point"
    assert_same(before, now, but=("tags",))
    edit(path, "--set", "AREA_OR_POINT=Area")
    assert_same(before, facts(path))


def test_an_item_set_to_nothing_is_removed(tmp_path):
    path = make(tmp_path / "a.tif")
    edit(path, "--set", "KEEP=", "--set", "TIFFTAG_SOFTWARE=")
    assert not {"KEEP", "TIFFTAG_SOFTWARE"} & set(facts(path)["tags"])


def test_a_sidecar_that_wins_is_told(tmp_path):
    path = make(tmp_path / "a.tif")
    (tmp_path / "a.tif.aux.xml").write_text('<PAMDataset><GeoTransform>1,1,0,1,0,-1</GeoTransform></PAMDataset>')
    answer = harness.run_json("edit", path, "--transform", "5,2,0,5,0,-2", "--json")
    assert answer["hidden_by_sidecar"] is True
    assert harness.run_json("edit", path, "--set", "A=b", "--json")["hidden_by_sidecar"] is False


def strip_file(*entries, before_strip=b"", after=b""):
    """Header, one directory, `before_strip`, a strip of 8 x 8 bytes. An entry of None is where `before_strip` begins."""
    tags = [(256, 4, 8), (257, 4, 8), (258, 3, 8), (262, 3, 1), (273, 4, None), (278, 4, 8), (279, 4, 64), *entries]
    place = 8 + 2 + 12 * len(tags) + 4
    at = {273: place + len(before_strip)}
    body = b"".join(struct.pack("<HHII", tag, kind, 1, at.get(tag, place) if value is None else value) for tag, kind, value in tags)
    return struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + body + bytes(4) + before_strip + bytes(range(64)) + after


def test_bytes_that_only_a_private_tag_refers_to_stay(tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(strip_file((65001, 4, None), before_strip=b"private" * 100))
    edit(path, "--set", "A=b", "--nodata", "7")
    data = path.read_bytes()
    assert b"private" * 100 in data
    with rasterio.open(path) as file:
        assert file.read(1).ravel().tolist() == list(range(64)) and file.nodata == 7
    result = harness.run("edit", path, "--set", "A=c", "--rewrite", "--json")
    assert result.code == harness.UNSUPPORTED and "private tag" in result.error()["message"]
    assert path.read_bytes() == data


def test_what_is_missing_of_a_cut_file_stays_missing(tmp_path):
    path = tmp_path / "a.tif"
    harness.run_ok("convert", make(tmp_path / "source.tif"), "-o", path, "--compression", "none")
    cut = path.read_bytes()[:-50_000]
    path.write_bytes(cut)
    for change in (["--set", f"LONG={'x' * 60_000}"], ["--set", "A=b", "--rewrite"]):
        result = harness.run("edit", path, *change, "--json")
        assert result.code == harness.MALFORMED and result.error()["ifd"] == 0, str(result)
        assert path.read_bytes() == cut


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("compression", ["none", "deflate", "lzw"])
def test_no_change_makes_pixels_of_missing_tiles(tmp_path, compression, share):
    def bad(path):
        result = harness.run("read", path, "--fill-bad", "--raw", "--out", tmp_path / "pixels", "--json")
        return len(result.json()["bad_tiles"]) if result.code == harness.OK else result.code

    path = tmp_path / "a.tif"
    harness.run_ok("convert", make(tmp_path / "source.tif", bands=1), "-o", path, "--compression", compression, "--tile-size", "64")
    cut = path.read_bytes()
    cut = cut[:int(len(cut) * share)]
    path.write_bytes(cut)
    before = bad(path)
    assert before > 10
    for command in (["edit", "--set", "A=b"], ["edit", "--nodata", "3"], ["edit", "--set", f"L={'x' * 5000}"], ["edit", "--crs", "EPSG:4326"],
                    ["edit", "--rewrite", "--set", "A=b"], ["overviews", "--factors", "2", "--fill-bad"], ["overviews", "--factors", "none"]):
        path.write_bytes(cut)
        result = harness.run(command[0], path, *command[1:])
        assert result.code in (harness.OK, harness.MALFORMED), str(result)
        assert path.stat().st_size == len(cut) and bad(path) == before, str(result)
        with pytest.raises(rasterio.errors.RasterioError), rasterio.open(path) as file:
            file.read()


def test_claims_far_behind_the_end_are_refused(tmp_path):
    path = tmp_path / "a.tif"
    file = bytearray(strip_file())
    at = file.index(struct.pack("<HHI", 279, 4, 1)) + 8
    struct.pack_into("<I", file, at, 0xF0000000)
    path.write_bytes(file)
    assert harness.run("edit", path, "--set", f"LONG={'x' * 500}").code == harness.LIMIT
    assert path.read_bytes() == file


def test_masks_with_other_tiles_than_their_image_go_along(tmp_path):
    path = tmp_path / "a.tif"
    harness.run_ok("cog", make(tmp_path / "source.tif", bands=1), "-o", path, "--window", "0,0,256,256", "--tile-size", "256")
    rng = np.random.default_rng(5)
    validity = (rng.random((256, 256)) < 0.5).astype(np.uint8)
    append_mask(path, validity, 64)
    with rasterio.open(path) as file:
        np.testing.assert_array_equal(file.dataset_mask() != 0, validity != 0)
    before = facts(path)
    assert edit(path, "--rewrite") == "rewritten"
    assert_same(before, facts(path), but=("structure",))


def test_a_mask_larger_than_the_raster_does_not_take_its_place(tmp_path):
    path = tmp_path / "a.tif"
    harness.run_ok("cog", make(tmp_path / "source.tif", bands=1), "-o", path, "--window", "0,0,256,256", "--tile-size", "256")
    append_mask(path, np.ones((512, 512), np.uint8), 256)
    before = facts(path)
    assert edit(path, "--rewrite") == "rewritten"
    assert_same(before, facts(path), but=("structure",))


def append_mask(path, validity, tile):
    """Behind the last directory of a file with one image: uncompressed, a byte a pixel."""
    tiff = tiff_patch.Tiff(path.read_bytes())
    offsets = []
    for row in range(0, validity.shape[0], tile):
        for column in range(0, validity.shape[1], tile):
            offsets.append(tiff.append((validity[row:row + tile, column:column + tile] * 255).tobytes()))
    lists = [tiff.append(struct.pack(f"<{len(offsets)}I", *values)) for values in (offsets, [tile * tile] * len(offsets))]
    tags = [(254, 4, 1, 4), (256, 4, 1, validity.shape[1]), (257, 4, 1, validity.shape[0]), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 4),
            (277, 3, 1, 1), (322, 4, 1, tile), (323, 4, 1, tile), (324, 4, len(offsets), lists[0]), (325, 4, len(offsets), lists[1])]
    body = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4)
    at = tiff.append(body)
    tiff.put("I", tiff.ifds[-1].link_at, at)
    path.write_bytes(tiff.data)


def test_a_small_raster_that_was_laid_out_as_a_cog_is_told(tmp_path):
    source = make(tmp_path / "a.tif")
    path = tmp_path / "b.tif"
    harness.run_ok("convert", source, "-o", path, "--window", "0,0,200,200", "--tile-size", "64")
    assert harness.run("validate", path).code == harness.OK
    result = harness.run("edit", path, "--set", f"LONG={'x' * 500}")
    assert result.code == harness.OK and b"had the layout of a COG and has lost it" in result.stderr
    assert harness.run("validate", path).code != harness.OK


@pytest.mark.parametrize("side", [512, 513, 600])
def test_what_validate_calls_a_cog_does_not_end_silently(tmp_path, side):
    path = tmp_path / "b.tif"
    harness.run_ok("convert", make(tmp_path / "a.tif"), "-o", path, "--window", f"0,0,{side},{side}", "--tile-size", "256")
    before = path.read_bytes()
    assert harness.run("validate", path).code == harness.OK
    assert b"had the layout of a COG and has lost it" in harness.run_ok("edit", path, "--set", f"LONG={'x' * 500}").stderr
    assert harness.run("validate", path).code != harness.OK
    path.write_bytes(before)
    assert harness.run_json("edit", path, "--set", f"LONG={'x' * 500}", "--json")["no_longer_cog"] is True
