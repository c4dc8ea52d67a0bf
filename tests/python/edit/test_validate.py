# SPDX-License-Identifier: Apache-2.0
"""`terrazzo validate` against GDAL's validator: on the corpus, and on COGs that were broken on purpose."""

import collections
import random

import harness
import pytest
import rasterio
from broken_cogs import BASES, BREAKAGES, MILDER, write_cog
from tiff_patch import Tiff
from verdicts import disagreement, gdal_verdicts, is_invalid, our_verdicts, rules

# GDAL 3.6 has no codec for these files, or its bindings make an exception of what is a warning about something that has
# nothing to do with the layout.
NO_VERDICT = ("missing codec", "Old-JPEG compression only supported", "GeogCitationGeoKey", "set_field_type of custom tag",
              'missing required "ImageLength" field')


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


@pytest.fixture(scope="module")
def bases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cogs")
    for name, options in BASES.items():
        write_cog(folder / f"{name}.tif", **options)
    return {name: (folder / f"{name}.tif").read_bytes() for name in BASES}


ROUNDS = 2 if not harness.FULL else 8


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
