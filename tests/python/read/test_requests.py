# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a read beside pixels: tolerance of bad tiles, order of samples, trust, sidecars, resolution."""

import json
import re
import zlib

import harness
import imagecodecs
import numpy as np
import pytest
import rasterio
import rasters
import tifffile

DATA = harness.ROOT / "tests/data"
DEM = DATA / "dem_deflate_p3.tif"


@pytest.fixture
def damaged(tmp_path):
    """The elevation model with the stream of its second tile destroyed: (path, columns, rows of the tile)."""
    path = tmp_path / "damaged.tif"
    data = bytearray(DEM.read_bytes())
    with tifffile.TiffFile(DEM) as file:
        page = file.pages[0]
        at, size = page.dataoffsets[1], page.databytecounts[1]
    data[at:at + size] = b"\xff" * size
    path.write_bytes(data)
    return path, slice(32, 64), slice(0, 32)


@pytest.fixture(params=("internal", "external"))
def damaged_mask(request, tmp_path):
    """Two bands whose mask, in the file or beside it, has lost its second tile: (path, columns, rows of the tile)."""
    path = tmp_path / "masked.tif"
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=request.param == "internal"):
        with rasterio.open(path, "w", driver="GTiff", width=96, height=64, count=2, dtype="uint8", tiled=True,
                           blockxsize=32, blockysize=32, compress="deflate") as out:
            out.write(rasters.make("uint8", 2, 64, 96))
            out.write_mask(np.full((64, 96), 255, "u1"))
    holder = path if request.param == "internal" else tmp_path / "masked.tif.msk"
    with tifffile.TiffFile(holder) as file:
        page = file.pages[1 if request.param == "internal" else 0]
        at, size = page.dataoffsets[1], page.databytecounts[1]
        shape = page.tile[0], page.tile[1]
    data = bytearray(holder.read_bytes())
    data[at:at + size] = b"\xff" * size
    holder.write_bytes(data)
    return path, slice(shape[1], 2 * shape[1]), slice(0, shape[0])


def test_bad_tile_of_a_mask_is_listed_and_its_pixels_are_invalid(damaged_mask, tmp_path):
    path, columns, rows = damaged_mask
    out = tmp_path / "x.npy"
    assert harness.run("read", path, "--out", out, "--masked").code == harness.MALFORMED
    report = harness.run_json("read", path, "--out", out, "--masked", "--fill-bad", "--json")
    (bad,) = report["bad_tiles"]
    assert (bad["column"], bad["row"]) == (1, 0)
    assert re.match(r"mask \((.*\.msk, )?IFD [01]\): ", bad["message"]), bad
    with rasterio.open(path) as file:
        expected = file.read().astype("f8")
    expected[:, rows, columns] = np.nan
    assert np.array_equal(np.load(out), expected, equal_nan=True)


def test_bad_tile_of_a_mask_that_is_read_by_itself_is_listed(damaged_mask, tmp_path):
    for command in (["read", "--out", tmp_path / "x.npy"], ["checksum"]):
        report = harness.run_json(*command, damaged_mask[0], "--mask", "--fill-bad", "--json")
        (bad,) = report["bad_tiles"]
        assert (bad["column"], bad["row"]) == (1, 0) and bad["message"].startswith("mask ("), bad


def test_check_decodes_masks_too(damaged_mask):
    result = harness.run("info", "--check", "--json", damaged_mask[0])
    assert result.code == harness.MALFORMED, str(result)
    (level,) = result.json()["check"]["levels"]
    assert level["mask"]
    (bad,) = level["bad"]
    assert (bad["column"], bad["row"]) == (1, 0) and bad["message"].startswith("mask ("), bad
    assert b"mask (" in harness.run("info", "--check", damaged_mask[0]).stdout


def test_check_of_good_masks_finds_nothing():
    for name in ("cog_mask_overviews.tif", "sidecars.tif"):
        levels = harness.run_json("info", "--check", "--json", DATA / name)["check"]["levels"]
        assert len(levels) == 3 and all(level["mask"] and not level["bad"] for level in levels)
    levels = harness.run_json("info", "--check", "--json", DEM)["check"]["levels"]
    assert not any(level["mask"] for level in levels)


def test_rows_that_are_there_of_a_short_uncompressed_strip_are_kept(tmp_path):
    path, out = tmp_path / "short.tif", tmp_path / "x.npy"
    pixels = rasters.make("uint16", 1, 900, 1000)  # 1.8 MB in one strip: more than is read at a time
    tifffile.imwrite(path, pixels[0], rowsperstrip=900)
    with tifffile.TiffFile(path) as file:
        at = file.pages[0].dataoffsets[0]
    path.write_bytes(path.read_bytes()[:at + 2000 * 700 + 999])
    report = harness.run_json("read", path, "--out", out, "--fill-bad", "--json")
    assert len(report["bad_tiles"]) == 1
    pixels[:, 700:] = 0
    assert np.array_equal(np.load(out), pixels)


def test_bad_tile_fails_the_read_and_names_the_tile(damaged, tmp_path):
    result = harness.run("read", damaged[0], "--out", tmp_path / "x.npy", "--json")
    assert result.code == harness.MALFORMED, str(result)
    assert result.error()["tile"] == {"column": 1, "row": 0, "plane": 0}


def test_bad_tile_is_filled_when_asked(damaged, tmp_path):
    path, columns, rows = damaged
    out = tmp_path / "x.npy"
    report = harness.run_json("read", path, "--out", out, "--fill-bad", "--json")
    assert [(tile["column"], tile["row"]) for tile in report["bad_tiles"]] == [(1, 0)]
    pixels = np.load(out)[0]
    with rasterio.open(DEM) as file:
        expected = file.read(1)
    expected[rows, columns] = -9999
    assert np.array_equal(pixels, expected)


def test_every_command_that_fills_a_bad_tile_lists_it(damaged):
    for command in ("checksum", "stats"):
        report = harness.run_json(command, damaged[0], "--fill-bad", "--json")
        assert [(tile["column"], tile["row"]) for tile in report["bad_tiles"]] == [(1, 0)]
        result = harness.run(command, damaged[0], "--fill-bad")
        assert result.code == harness.OK and b"1 bad tile was filled" in result.stderr, str(result)
        assert not harness.run(command, damaged[0], "--fill-bad", "--quiet").stderr


def test_a_window_beside_the_bad_tile_is_fine(damaged, tmp_path):
    with rasterio.open(DEM) as file:
        expected = file.read(1)[32:75, 0:101]
    assert np.array_equal(harness.read(damaged[0], "--window", "0,32,101,43", folder=tmp_path)[0], expected)


def test_check_lists_the_bad_tile(damaged):
    result = harness.run("info", "--check", "--json", damaged[0])
    assert result.code == harness.MALFORMED
    check = result.json()["check"]
    assert check["ok"] is False
    assert [(tile["column"], tile["row"]) for tile in check["levels"][0]["bad"]] == [(1, 0)]


# Compressions whose stream may go on after the last pixel of the strip.
SURPLUS = {1: bytes, 8: zlib.compress, 32773: imagecodecs.packbits_encode, 5: imagecodecs.lzw_encode,
           50000: imagecodecs.zstd_encode}


@pytest.mark.parametrize("compression", SURPLUS)
def test_surplus_data_is_ignored_unless_strict(compression, tmp_path):
    array = rasters.make("uint8", 1, 30, 40)[0]
    path = tmp_path / "a.tif"
    rasters.build_tiff(path, width=40, height=30, bits=8, sample_format=1, byteorder="<", compression=compression,
                       data=SURPLUS[compression](array.tobytes() + b"surplus" * 9))
    assert np.array_equal(harness.read(path, folder=tmp_path)[0], array)
    assert harness.run_json("info", "--check", "--json", path)["check"]["levels"][0]["surplus"] == 1
    strict = harness.run("read", path, "--out", tmp_path / "x.npy", "--strict", "--json")
    assert strict.code == harness.MALFORMED, str(strict)


def test_interleave_pixel_puts_bands_last(tmp_path):
    source = DATA / "u16x4_separate_p2_big_endian.tif"
    first = harness.read(source, folder=tmp_path)
    last = harness.read(source, "--interleave", "pixel", folder=tmp_path)
    assert last.shape == (30, 37, 4)
    assert np.array_equal(np.moveaxis(last, -1, 0), first)


def test_bands_come_in_the_order_asked_and_may_repeat(tmp_path):
    source = DATA / "i8x7_packbits.tif"
    everything = harness.read(source, folder=tmp_path)
    some = harness.read(source, "--bands", "7,2-4,2", folder=tmp_path)
    assert np.array_equal(some, everything[[6, 1, 2, 3, 1]])


def test_sidecars_are_left_alone_when_asked():
    source = DATA / "sidecars.tif"
    beside = harness.run_json("info", "--json", source)
    alone = harness.run_json("info", "--json", "--no-sidecars", source)
    assert len(beside["overviews"]) == 2 and beside["bands"][0]["mask"] == "external"
    assert beside["georeference"]["transform_source"] == "world_file"
    assert alone["overviews"] == [] and alone["bands"][0]["mask"] == "all_valid"
    assert alone["georeference"]["transform"] is None


def test_untrusted_files_do_not_reach_unhardened_decoders(tmp_path):
    assert harness.run("checksum", DATA / "ccitt_g4.tif").code == harness.OK
    result = harness.run("checksum", "--json", "--trust", "untrusted", DATA / "ccitt_g4.tif")
    assert result.code == harness.UNSUPPORTED, str(result)
    assert harness.run("checksum", "--trust", "untrusted", DEM).code == harness.OK


def test_target_resolution_is_exact_or_keeps_the_extent(tmp_path):
    whole = harness.read(DEM, folder=tmp_path)
    exact = harness.read(DEM, "--target-resolution", "20,20", folder=tmp_path)  # the extent grows to 51 x 38 pixels
    rows, columns = np.minimum(np.arange(38) * 2 + 1, 74), np.minimum(np.arange(51) * 2 + 1, 100)
    np.testing.assert_array_equal(exact, whole[:, rows][:, :, columns])
    kept = harness.read(DEM, "--target-resolution", "20,20", "--keep-extent", folder=tmp_path)
    by_size = harness.read(DEM, "--target-size", f"{kept.shape[2]},{kept.shape[1]}", folder=tmp_path)
    np.testing.assert_array_equal(kept, by_size)


def test_pages_are_other_rasters_of_the_file(tmp_path):
    info = harness.run_json("info", "--json", DATA / "pages.tif")
    assert [(page["page"], page["width"], page["height"]) for page in info["pages"]] == [(1, 14, 10), (2, 14, 11)]
    for page in range(3):
        assert np.array_equal(harness.read(DATA / "pages.tif", "--page", page, folder=tmp_path)[0],
                              tifffile.imread(DATA / "pages.tif", key=page))


def test_checksum_of_several_files_goes_on_after_a_bad_one(tmp_path):
    bad = tmp_path / "bad.tif"
    bad.write_bytes(b"no raster")
    result = harness.run("checksum", "--json", DEM, bad, DATA / "scaled.tif")
    assert result.code == harness.MALFORMED
    entries = result.json()
    assert [set(entry) >= {"error"} for entry in entries] == [False, True, False]


def test_partial_alpha_counts_as_valid(tmp_path):
    """Where we differ from GDAL, which hands alpha on as the mask: valid or not, and no shades between."""
    array = np.full((4, 4, 256), 9, np.uint8)
    array[3] = np.arange(256)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=256, height=4, count=4, dtype="uint8", photometric="rgb",
                       alpha="yes") as out:
        out.write(array)
    mask = harness.read(path, "--mask", folder=tmp_path)
    assert np.array_equal(mask[0, 0], np.where(np.arange(256) == 0, 0, 255))


def test_windows_in_any_place_equal_the_whole(tmp_path):
    """Every alignment of a window to 16 x 32 tiles of separate planes."""
    source = DATA / "u16x4_separate_p2_big_endian.tif"
    whole = harness.read(source, folder=tmp_path)
    rng = np.random.default_rng(3)
    for _ in range(40):
        column, row = int(rng.integers(0, 37)), int(rng.integers(0, 30))
        width, height = int(rng.integers(1, 38 - column)), int(rng.integers(1, 31 - row))
        part = harness.read(source, "--window", f"{column},{row},{width},{height}", folder=tmp_path)
        assert np.array_equal(part, whole[:, row:row + height, column:column + width])


def documented():
    """(command, keys) of each JSON object that docs/cli.md shows after a heading of that name."""
    text = (harness.ROOT / "docs/cli.md").read_text()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        name = section.split("\n", 1)[0].strip()
        block = re.search(r"```json\n(\{.*?)```", section, re.S)
        if block and name in COMMANDS:
            yield name, json.loads(block[1])


COMMANDS = {
    "info": ["info", DEM],
    "read": ["read", DEM, "--out", "OUT"],
    "plan": ["plan", DEM],
    "checksum": ["checksum", DEM],
    "stats": ["stats", DEM, "--bins", "4"],
    "bench": ["bench", "read", "--host", "--threads", "1", DEM],
}


@pytest.mark.parametrize("name", list(COMMANDS))
def test_json_is_as_documented(name, tmp_path):
    """Every key that docs/cli.md shows is there, on every level of the example."""
    shown = dict(documented())[name]
    args = [tmp_path / "x.npy" if a == "OUT" else a for a in COMMANDS[name]]
    assert not missing_keys(shown, harness.run_json(*args, "--json"))


def missing_keys(shown, found, at=""):
    if isinstance(shown, dict) and isinstance(found, dict):
        if at.endswith(("metadata", "projjson")):
            return []
        lost = [f"{at}.{key}" for key in shown if key not in found]
        return lost + [x for key in shown if key in found for x in missing_keys(shown[key], found[key], f"{at}.{key}")]
    if isinstance(shown, list) and isinstance(found, list) and shown and found:
        return missing_keys(shown[0], found[0], f"{at}[]")
    return []
