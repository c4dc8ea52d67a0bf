# SPDX-License-Identifier: Apache-2.0
"""`terrazzo validate` against GDAL's validator (full check): on the corpus, and on COGs that were broken on purpose.

GDAL's validator is a Python script of GDAL's own bindings, which the tests' environment does not have; Debian's python3-gdal
(a dependency of gdal-bin) does, so the system's interpreter runs it.
"""

import collections
import functools
import json
import random
import shutil
import subprocess
import sys

import harness
import numpy as np
import pytest
import rasterio
from tiff_patch import COUNTS, OFFSETS, WIDTH, Tiff

# Prints {path: {"errors": [...]} or {"exception": text}} for the paths on standard input.
ORACLE = """
import json, sys
from osgeo import gdal
from osgeo_utils.samples.validate_cloud_optimized_geotiff import validate
gdal.UseExceptions()
answers = {}
for line in sys.stdin:
    path = line.rstrip("\\n")
    try:
        warnings, errors, _ = validate(path, full_check=True)
        answers[path] = {"errors": errors[:10], "warnings": warnings}
    except Exception as error:
        answers[path] = {"exception": f"{type(error).__name__}: {error}"}
json.dump(answers, sys.stdout)
"""

# GDAL 3.6 has no codec for these files, or its bindings make an exception of what is a warning about something that has
# nothing to do with the layout.
NO_VERDICT = ("missing codec", "Old-JPEG compression only supported", "GeogCitationGeoKey", "set_field_type of custom tag",
              'missing required "ImageLength" field')


@functools.cache
def oracle_python():
    for python in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        probe = "import osgeo_utils.samples.validate_cloud_optimized_geotiff"
        if python and subprocess.run([python, "-c", probe], capture_output=True).returncode == 0:
            return python
    return None


def gdal_verdicts(paths):
    if oracle_python() is None:
        pytest.skip("NO ORACLE: GDAL's validator was not found (Debian: python3-gdal); agreement was NOT tested")
    done = subprocess.run([oracle_python(), "-c", ORACLE], input="\n".join(map(str, paths)) + "\n", text=True,
                          capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def our_verdicts(paths, *options):
    """One process for all; {path: result}."""
    paths = [str(path) for path in paths]
    result = harness.run("validate", "--json", *options, *paths, timeout=120)
    assert result.code in (harness.OK, harness.MALFORMED), str(result)
    answers = result.json()
    return dict(zip(paths, answers if len(paths) > 1 else [answers]))


def rules(verdict, severity="error", known=None):
    return {f["rule"] for f in verdict["findings"]
            if f["severity"] == severity and (known is None or f["known_to_gdal"] == known)}


def is_invalid(gdal):
    return "exception" in gdal or bool(gdal["errors"])


def disagreement(path, gdal, ours):
    """A text when GDAL and those of our findings that we say GDAL has too differ about the file."""
    if is_invalid(gdal) == bool(rules(ours, known=True)):
        return None
    # Not a rule of the validator: its library fails, or does not, before the first.
    if "Failed to read directory" in gdal.get("exception", "") and "chain-broken" in rules(ours):
        return None
    return f"{path}\n  GDAL: {gdal}\n  ours: {[f['rule'] + ': ' + f['message'] for f in ours['findings']]}"


# -- the corpus -------------------------------------------------------------------------------------------------------


@pytest.mark.corpus
def test_agrees_with_gdal_on_the_corpus(note):
    names = [name for name, entry in harness.manifest().items() if entry["kind"] in ("tiff", "overview-file", "mask-file")]
    if not names:
        pytest.skip(f"no corpus at {harness.CORPUS}: set TERRAZZO_CORPUS")
    paths = [harness.CORPUS / name for name in names]
    gdal, ours = gdal_verdicts(paths), our_verdicts(paths)
    different, more, checked = [], collections.Counter(), 0
    for path in map(str, paths):
        if any(reason in gdal[path].get("exception", "") for reason in NO_VERDICT):
            continue
        checked += 1
        different.append(disagreement(path, gdal[path], ours[path]))
        if not is_invalid(gdal[path]):
            more.update(rules(ours[path]))
    different = [text for text in different if text]
    note(f"validate: {checked} files of the corpus judged as by GDAL; only ours: {dict(more)}")
    assert checked > 500
    assert not different, "\n".join(different)


@pytest.mark.corpus
def test_finds_no_fault_of_its_own_with_good_files_of_the_corpus():
    """What GDAL's validator misses is to be found in bad files, not everywhere."""
    names = [name for name, entry in harness.manifest().items() if entry["kind"] == "tiff" and not entry["bad"]]
    if not names:
        pytest.skip(f"no corpus at {harness.CORPUS}: set TERRAZZO_CORPUS")
    faults = {path: rules(verdict, known=False)
              for path, verdict in our_verdicts([harness.CORPUS / name for name in names]).items()}
    assert not {path: found for path, found in faults.items() if found - ALLOWED_IN_GOOD_FILES}


# Directories behind the data: no COG, and GDAL says so too in other words.
ALLOWED_IN_GOOD_FILES = {"ifd-after-data"}


# -- COGs broken on purpose -------------------------------------------------------------------------------------------


def write_cog(path, *, width=1100, height=900, count=1, dtype="uint8", mask=False, empty=False, **options):
    """By GDAL's COG driver: three overviews at 128 pixels a tile."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:height, 0:width]
    pixels = np.stack([(x * (band + 1) // 8 + y // 5 + rng.integers(0, 3, (height, width))) % 200 + 1
                       for band in range(count)]).astype(dtype)
    profile = {"driver": "COG", "width": width, "height": height, "count": count, "dtype": dtype, "blocksize": 128,
               "overview_resampling": "nearest", **options}
    if empty:
        pixels[:, 200:700, 300:800] = 0
        profile.update(nodata=0)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", **profile) as out:
        out.write(pixels)
        if mask:
            valid = np.full((height, width), 255, np.uint8)
            valid[100:400, 200:300] = 0
            out.write_mask(valid)


BASES = {
    "deflate": {"compress": "deflate"},
    "bands": {"compress": "lzw", "count": 4, "dtype": "uint16", "width": 700, "height": 800},
    "bigtiff": {"compress": "zstd", "dtype": "float32", "bigtiff": "yes"},
    "sparse": {"compress": "deflate", "sparse_ok": "true", "empty": True},
    "mask": {"compress": "jpeg", "count": 3, "mask": True},
}


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cogs")
    for name, options in BASES.items():
        write_cog(folder / f"{name}.tif", **options)
    return {name: (folder / f"{name}.tif").read_bytes() for name in BASES}


def present(tiff, ifd):
    return [i for i, (_, count) in enumerate(tiff.tiles(ifd)) if count]


def pick_level(tiff, rng):
    return rng.choice([i for i in tiff.levels() if len(present(tiff, i)) >= 4])


def unpromise(tiff):
    """Takes back what the ghost area says of tiles, so that only the tiles themselves can tell."""
    tiff.replace_text(b"BLOCK_LEADER=SIZE_AS_UINT4", b"BLOCK_LEADER=NO_LEADER_HERE"[:26])
    tiff.replace_text(b"BLOCK_TRAILER=LAST_4_BYTES_REPEATED", b"BLOCK_TRAILER=NO_TRAILER_AT_ALL_HERE"[:35])
    tiff.replace_text(b"BLOCK_ORDER=ROW_MAJOR", b"BLOCK_ORDER=AS_IT_IS."[:21])


def swap_tiles(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    a, b = rng.sample(present(tiff, ifd), 2)
    tiles[a], tiles[b] = tiles[b], tiles[a]
    tiff.set_tiles(ifd, tiles)
    return {"tile-order"}


def swap_offsets_only(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    a, b = next((a, b) for a in present(tiff, ifd) for b in present(tiff, ifd) if tiles[a][1] != tiles[b][1])
    tiles[a], tiles[b] = (tiles[b][0], tiles[a][1]), (tiles[a][0], tiles[b][1])
    tiff.set_tiles(ifd, tiles)
    return {"tile-leader"}


def shuffle_tiles(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    rng.shuffle(tiles)
    tiff.set_tiles(ifd, tiles)
    return {"tile-order"}


def reverse_tiles_unpromised(tiff, rng):
    unpromise(tiff)
    ifd = pick_level(tiff, rng)
    tiff.set_tiles(ifd, tiff.tiles(ifd)[::-1])
    return set()  # a warning; unless the level now begins behind the next


def truncate(tiff, rng):
    del tiff.data[rng.randrange(len(tiff.data) // 2, len(tiff.data) - 8) :]
    return {"tile-past-end"}


def truncate_last_trailer(tiff, rng):
    del tiff.data[-rng.randrange(1, 4) :]
    return {"tile-trailer"}


def move_last_ifd(tiff, rng):
    tiff.move_ifd(len(tiff.ifds) - 1)
    return {"data-before-ifd"} if not tiff.masks() else {"ifd-after-data"}


def move_overview_ifd(tiff, rng):
    tiff.move_ifd(rng.choice(tiff.levels()[1:-1]))
    return {"overview-ifd-order"}


def move_main_ifd(tiff, rng):
    tiff.move_ifd(0)
    return {"main-ifd-position"}


def break_leader(tiff, rng):
    ifd = rng.randrange(len(tiff.ifds))
    offset = tiff.tiles(ifd)[rng.choice(present(tiff, ifd))][0]
    tiff.data[offset - rng.randrange(1, 5)] ^= 0x41
    return {"tile-leader"}


def break_trailer(tiff, rng):
    ifd = rng.randrange(len(tiff.ifds))
    offset, count = tiff.tiles(ifd)[rng.choice(present(tiff, ifd))]
    tiff.data[offset + count + rng.randrange(4)] ^= 0x41
    return {"tile-trailer"}


def zero_count(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    victim = rng.choice(present(tiff, ifd))
    tiles[victim] = (tiles[victim][0], 0)
    tiff.set_tiles(ifd, tiles)
    return set()  # a warning


def zero_tile(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    tiles[rng.choice(present(tiff, ifd)[1:])] = (0, 0)
    tiff.set_tiles(ifd, tiles)
    return set()  # sparse


def change_count(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    victim = rng.choice(present(tiff, ifd))
    tiles[victim] = (tiles[victim][0], tiles[victim][1] + rng.choice((-1, 1, 7)))
    tiff.set_tiles(ifd, tiles)
    return {"tile-leader"}


def overlap_unpromised(tiff, rng):
    unpromise(tiff)
    ifd = tiff.levels()[-1]
    tiles = tiff.tiles(ifd)
    victim = present(tiff, ifd)[0]
    tiles[victim] = (tiles[victim][0], tiles[victim][1] + rng.randrange(20, 60))
    tiff.set_tiles(ifd, tiles)
    return {"tile-overlap"}


def past_end_unpromised(tiff, rng):
    unpromise(tiff)
    tiles = tiff.tiles(0)
    victim = rng.choice(present(tiff, 0)[1:])
    tiles[victim] = (len(tiff.data) - rng.randrange(1, 5), tiles[victim][1])
    tiff.set_tiles(0, tiles)
    return {"tile-past-end"}


def tile_in_the_header(tiff, rng):
    unpromise(tiff)
    ifd = tiff.levels()[-1]
    tiles = tiff.tiles(ifd)
    victim = rng.choice(present(tiff, ifd)[1:] or present(tiff, ifd))
    tiles[victim] = (tiff.ifds[ifd].at + 2, tiles[victim][1])
    tiff.set_tiles(ifd, tiles)
    return {"tile-over-metadata"}


def same_tile_twice(tiff, rng):
    ifd = pick_level(tiff, rng)
    tiles = tiff.tiles(ifd)
    a, b = sorted(rng.sample(present(tiff, ifd), 2))
    tiles[b] = tiles[b - 1] if tiles[b - 1][1] else tiles[a]
    tiff.set_tiles(ifd, tiles)
    return set()


def edited(tiff, rng):
    tiff.replace_text(b"KNOWN_INCOMPATIBLE_EDITION=NO\n ", b"KNOWN_INCOMPATIBLE_EDITION=YES\n")
    return {"incompatible-edition"}


def ghost_size_wrong(tiff, rng):
    at = tiff.data.find(b"METADATA_SIZE=") + 14
    size = int(tiff.data[at : at + 6]) + rng.choice((-40, -2, 2, 30))
    tiff.data[at : at + 6] = b"%06d" % size
    return {"main-ifd-position"}


def ghost_size_no_number(tiff, rng):
    at = tiff.data.find(b"METADATA_SIZE=") + 14
    tiff.data[at + rng.randrange(6)] = ord("x")
    return {"ghost-area"}


def ghost_text_wrong(tiff, rng):
    at = tiff.data.find(b"LAYOUT=")
    tiff.data[at + rng.randrange(20)] = rng.choice((0, 0x80, 0x1B))
    return {"ghost-area"}


def drop_overview(tiff, rng):
    gone = rng.choice(tiff.levels()[1:])
    tiff.relink([i for i in range(len(tiff.ifds)) if i != gone])
    return set()


def drop_all_overviews(tiff, rng):
    tiff.relink([0])
    return set()


def swap_overviews(tiff, rng):
    order = list(range(len(tiff.ifds)))
    levels = tiff.levels()
    a, b = order.index(levels[1]), order.index(levels[2])
    order[a], order[b] = order[b], order[a]
    tiff.relink(order)
    return {"overview-larger"}


def widen_overview(tiff, rng):
    ifd = tiff.levels()[1]
    tiff.set_values(ifd, WIDTH, [tiff.values(ifd, WIDTH)[0] - rng.randrange(20, 60)])
    return set()  # proportions: a warning


def index_at_the_end(tiff, rng):
    tiff.move_value(0, rng.choice((OFFSETS, COUNTS)))
    return set()  # a warning


def garbage_at_the_end(tiff, rng):
    tiff.append(rng.randbytes(200_000))
    return set()  # a note


def loop_the_chain(tiff, rng):
    tiff.put(tiff.word, tiff.ifds[-1].link_at, tiff.ifds[rng.randrange(len(tiff.ifds))].at)
    return {"chain-broken"}


def break_the_chain(tiff, rng):
    tiff.put(tiff.word, tiff.ifds[-1].link_at, len(tiff.data) + rng.randrange(100))
    return {"chain-broken"}


def shift_mask_tile(tiff, rng):
    masks = tiff.masks()
    if not masks:
        return break_leader(tiff, rng)
    tiles = tiff.tiles(masks[0])
    victim = rng.choice(present(tiff, masks[0]))
    offset, count = tiles[victim]
    tiles[victim] = (tiff.append(tiff.data[offset - 4 : offset + count + 4]) + 4, count)
    tiff.set_tiles(masks[0], tiles)
    return {"mask-interleave"}


def drop_mask(tiff, rng):
    masks = tiff.masks()
    if not masks:
        return break_trailer(tiff, rng)
    gone = rng.choice(masks[1:])
    tiff.relink([i for i in range(len(tiff.ifds)) if i != gone])
    return set()  # a warning


def untouched(tiff, rng):
    return set()


BREAKAGES = [
    swap_tiles, swap_offsets_only, shuffle_tiles, reverse_tiles_unpromised, truncate, truncate_last_trailer, move_last_ifd,
    move_overview_ifd, move_main_ifd, break_leader, break_trailer, zero_count, zero_tile, change_count, overlap_unpromised,
    past_end_unpromised, tile_in_the_header, same_tile_twice, edited, ghost_size_wrong, ghost_size_no_number,
    ghost_text_wrong, drop_overview, drop_all_overviews, swap_overviews, widen_overview, index_at_the_end,
    garbage_at_the_end, loop_the_chain, break_the_chain, shift_mask_tile, drop_mask, untouched,
]
ROUNDS = 2 if not harness.FULL else 8
# Warnings and notes that a breakage must raise, besides the errors that it returns.
MILDER = {
    "zero_count": "tile-empty", "drop_all_overviews": "overviews-missing", "widen_overview": "overview-size",
    "index_at_the_end": "tags-after-data", "garbage_at_the_end": "dead-space", "reverse_tiles_unpromised":
    "tile-order-unpromised", "same_tile_twice": "tile-shared",
}


def test_agrees_with_gdal_on_files_broken_on_purpose(bases, tmp_path, note):
    expected = {}
    for base, data in bases.items():
        for breakage in BREAKAGES:
            for number in range(ROUNDS):
                tiff = Tiff(data)
                path = str(tmp_path / f"{base}-{breakage.__name__}-{number}.tif")
                expected[path] = breakage(tiff, random.Random(f"{base} {breakage.__name__} {number}"))
                with open(path, "wb") as out:
                    out.write(tiff.data)
    assert len(expected) >= 200
    gdal, ours = gdal_verdicts(expected), our_verdicts(expected)
    problems, more = [], collections.Counter()
    for path, wanted in expected.items():
        if text := disagreement(path, gdal[path], ours[path]):
            problems.append(text)
        if wanted - rules(ours[path]):
            problems.append(f"{path}: {wanted} expected, found {[f['rule'] for f in ours[path]['findings']]}")
        milder = MILDER.get(path.split("-")[-2])
        if milder and milder not in rules(ours[path], "warning") | rules(ours[path], "note"):
            problems.append(f"{path}: {milder} expected, found {[f['rule'] for f in ours[path]['findings']]}")
        if not is_invalid(gdal[path]):
            more.update(rules(ours[path]))
    invalid = sum(map(is_invalid, gdal.values()))
    note(f"validate: {len(expected)} broken COGs, {invalid} invalid by GDAL as by us; only ours: {dict(more)}")
    assert not problems, "\n".join(problems)


def test_masks_behind_their_images_are_wanted(bases, tmp_path):
    tiff = Tiff(bases["mask"])
    tiff.move_ifd(0)
    path = tmp_path / "mask.tif"
    path.write_bytes(tiff.data)
    assert "mask-ifd-order" in rules(our_verdicts([path])[str(path)], "warning")


def test_decoding_finds_tiles_that_only_look_whole(bases, tmp_path):
    tiff = Tiff(bases["deflate"])
    offset, count = tiff.tiles(0)[5]
    tiff.data[offset + 20 : offset + count - 8] = bytes(count - 28)
    path = tmp_path / "rotten.tif"
    path.write_bytes(tiff.data)
    assert our_verdicts([path])[str(path)]["valid_cog"]
    decoded = our_verdicts([path], "--decode")[str(path)]
    assert rules(decoded) == {"tile-undecodable"}
    found = decoded["findings"][0]
    assert (found["ifd"], found["tile"]) == (0, {"column": 5, "row": 0, "plane": 0})


@pytest.mark.parametrize("interleave", ["band", "tile"])
def test_bands_side_by_side_are_valid(interleave, tmp_path):
    """Newer than the validator of GDAL 3.6, which looks at one band only."""
    path = tmp_path / "separate.tif"
    try:
        write_cog(path, count=3, compress="deflate", interleave=interleave)
    except rasterio.errors.RasterioError as error:
        pytest.skip(f"this GDAL writes no such COG: {error}")
    verdict = our_verdicts([path], "--decode", "--strict")[str(path)]
    assert verdict["ok"] and not verdict["findings"], verdict


# -- the command ------------------------------------------------------------------------------------------------------


def test_good_files_end_with_0_and_bad_ones_with_4(bases, tmp_path):
    good, bad = tmp_path / "good.tif", tmp_path / "bad.tif"
    good.write_bytes(bases["deflate"])
    bad.write_bytes(bases["deflate"][:-100])
    assert harness.run("validate", good).code == harness.OK
    result = harness.run("validate", good, bad)
    assert result.code == harness.MALFORMED
    text = result.stdout.decode()
    assert f"{good}: a valid COG" in text and f"{bad}: NOT a whole TIFF file" in text and "tile-past-end" in text


def test_strict_fails_on_warnings(bases, tmp_path):
    tiff = Tiff(bases["deflate"])
    tiff.relink([0])
    path = tmp_path / "alone.tif"
    path.write_bytes(tiff.data)
    assert harness.run("validate", path).code == harness.OK
    assert harness.run("validate", "--strict", path).code == harness.MALFORMED


def test_external_overviews_are_an_error_as_with_gdal(bases, tmp_path):
    tiff = Tiff(bases["deflate"])
    tiff.relink([0])
    path = tmp_path / "beside.tif"
    path.write_bytes(tiff.data)
    (tmp_path / "beside.tif.ovr").write_bytes(bases["bands"])
    assert rules(our_verdicts([path])[str(path)]) == {"external-overviews"}
    assert not rules(our_verdicts([path], "--no-sidecars")[str(path)])
    assert is_invalid(gdal_verdicts([path])[str(path)])


def test_what_is_no_tiff_is_a_finding_and_what_is_not_there_an_error(tmp_path):
    path = tmp_path / "text.tif"
    path.write_text("no TIFF at all, whatever it is called")
    result = harness.run("validate", "--json", path)
    assert result.code == harness.MALFORMED
    assert [f["rule"] for f in result.json()["findings"]] == ["not-a-tiff"]
    assert harness.run("validate", tmp_path / "absent.tif").code == harness.IO
    result = harness.run("validate", "--json", path, tmp_path / "absent.tif")
    assert result.code == harness.MALFORMED and result.json()[1]["error"]["kind"] == "io"
    assert harness.run("validate").code == harness.USAGE


def test_rules_are_listed_and_documented():
    listed = harness.run_json("validate", "--rules", "--json")
    names = [rule["rule"] for rule in listed]
    assert len(names) == len(set(names)) > 40
    page = (harness.ROOT / "docs/cli.md").read_text()
    assert not [name for name in names if f"`{name}`" not in page]


def test_findings_of_one_rule_are_bounded_and_counted(bases, tmp_path):
    tiff = Tiff(bases["deflate"])
    for offset, _ in tiff.tiles(0):
        tiff.data[offset - 1] ^= 1
    path = tmp_path / "leaders.tif"
    path.write_bytes(tiff.data)
    verdict = our_verdicts([path], "--max-findings", "5")[str(path)]
    assert len(verdict["findings"]) == 5 and verdict["findings_left_out"] == len(tiff.tiles(0)) - 5
