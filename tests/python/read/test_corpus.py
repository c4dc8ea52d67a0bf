# SPDX-License-Identifier: Apache-2.0
"""Every valid file of the corpus: pixels and facts equal those that GDAL found (see corpus_facts.py)."""

import hashlib

import harness
import pytest
from corpus_facts import EXCEPTIONS, LOSSY_TOLERANCE, Facts

KINDS = ("tiff", "overview-file", "mask-file")

# Codecs no reader here decodes: the file must be refused as unsupported, with the codec's name.
REFUSED = {
    "cgohlke+imagecodecs/tests/data/tiff/rgb.tiled.jpegxr.u1.tif": "jpeg-xr",
    "cgohlke+imagecodecs/tests/data/tiff/rgb.tiled.png.u1.tif": "png",
}


def valid_files():
    for name, entry in harness.manifest().items():
        if entry["kind"] in KINDS and not entry["bad"] and "pixels_sha256" in entry.get("gdal", {}):
            yield name


def tifffile_only():
    """Valid files that this GDAL has no codec for; the oracle is tifffile."""
    for name, entry in harness.manifest().items():
        if entry["kind"] in KINDS and not entry["bad"] and entry["status"] == "gdal-cannot-open/tifffile-reads":
            yield name


def test_corpus_is_there():
    if not harness.manifest():
        pytest.skip(f"no corpus at {harness.CORPUS}: set TERRAZZO_CORPUS")


@pytest.mark.corpus
@pytest.mark.parametrize("name", list(valid_files()), ids=str)
def test_equals_gdal(name, tmp_path):
    facts = Facts(name, harness.manifest()[name], tmp_path)
    facts.check()
    expected = EXCEPTIONS.get(name, {})
    surprises = [f"{facet}: {text}" for facet, texts in facts.differences.items() if facet not in expected
                 for text in texts]
    agreed = [f"{facet}: listed as different ({reason}) but agrees now" for facet, reason in expected.items()
              if facet not in facts.differences]
    assert not surprises + agreed, "\n".join(surprises + agreed)


@pytest.mark.corpus
@pytest.mark.parametrize("name", list(tifffile_only()), ids=str)
def test_equals_tifffile_where_gdal_has_no_codec(name, tmp_path):
    entry = harness.manifest()[name]
    path = harness.CORPUS / name
    if name in REFUSED:
        result = harness.run("checksum", "--json", path)
        assert result.code == harness.UNSUPPORTED, str(result)
        assert REFUSED[name] in result.error()["message"]
        return
    ours = harness.run_json("checksum", "--json", path)
    theirs = entry["tifffile"]
    bands, height, width = theirs["shape"]
    assert [len(ours["bands"]), ours["height"], ours["width"]] == [bands, height, width]
    assert ours["dtype"] == theirs["dtype"]
    if [b["sha256"] for b in ours["bands"]] == theirs["bands_sha256"]:
        return
    tolerance = LOSSY_TOLERANCE[entry["tiff"]["compression_name"]]
    pixels = harness.read(path, folder=tmp_path)
    worst = max(abs(int(a) - int(b)) for row, column, values in theirs["samples"]
                for a, b in zip(pixels[:, row, column], values))
    assert worst <= tolerance


@pytest.mark.corpus
def test_exceptions_name_files_of_the_corpus():
    if not harness.manifest():
        pytest.skip("no corpus")
    unknown = [name for name in [*EXCEPTIONS, *REFUSED] if name not in harness.manifest()]
    assert not unknown


@pytest.mark.corpus
def test_files_are_those_the_manifest_describes():
    """A changed file would make every other answer here meaningless."""
    if not harness.manifest():
        pytest.skip("no corpus")
    changed = [name for name, entry in harness.manifest().items()
               if hashlib.sha256((harness.CORPUS / name).read_bytes()).hexdigest() != entry["sha256"]]
    assert not changed
