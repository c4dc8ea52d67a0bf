# SPDX-License-Identifier: Apache-2.0
"""Several files in one command, batches that resume, and files from standard input."""

import json
import os

import harness
import numpy as np
import pytest
import rasterio
import rasters


@pytest.fixture
def folder(tmp_path):
    for i, name in enumerate(("a", "b", "c")):
        path = tmp_path / f"{name}.tif"
        with rasterio.open(path, "w", driver="GTiff", width=70, height=50, count=1, dtype="uint8", crs="EPSG:32632",
                           transform=rasterio.transform.from_origin(500000, 5000000, 10, 10)) as out:
            out.write(np.full((1, 50, 70), 10 + i, "uint8"))
        os.utime(path, (1, 1))  # older than all outputs
    return tmp_path


def states(result):
    return {os.path.basename(line["file"]): line["state"] for line in map(json.loads, result.stdout.splitlines())}


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_a_batch_resumes_by_times_and_options(command, folder):
    out = folder / "out"
    run = [command, folder / "a.tif", folder / "b.tif", "--out-dir", out]
    assert set(states(harness.run_ok(*run, "--json")).values()) == {"done"}
    assert set(states(harness.run_ok(*run, "--json", "--threads", 1, "--jobs", 2)).values()) == {"skipped"}
    assert set(states(harness.run_ok(*run, "--json", "--compression", "lzw")).values()) == {"done"}
    with rasterio.open(out / "a.tif") as file:
        assert file.compression.name == "lzw"
        assert file.tags()["TERRAZZO_OPTIONS"] == command + " --compression lzw"
    assert set(states(harness.run_ok(*run, "--json", "--compression", "lzw")).values()) == {"skipped"}
    assert set(states(harness.run_ok(*run, "--json", "--compression", "lzw", "--overwrite")).values()) == {"done"}
    os.utime(folder / "a.tif")
    os.utime(out / "a.tif", (5, 5))
    assert states(harness.run_ok(*run, "--json", "--compression", "lzw")) == {"a.tif": "done", "b.tif": "skipped"}
    # A single conversion of an output does not inherit the options.
    harness.run_ok("convert", out / "a.tif", "-o", folder / "d.tif")
    with rasterio.open(folder / "d.tif") as file:
        assert "TERRAZZO_OPTIONS" not in file.tags()


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_a_batch_ends_with_a_table_and_the_worst_code(command, folder):
    harness.run_ok(command, folder / "a.tif", "--out-dir", folder / "out")
    (folder / "bad.tif").write_bytes(b"II*\0\x08\0\0\0\x01\0")
    result = harness.run(command, folder / "missing.tif", folder / "bad.tif", folder / "a.tif", folder / "b.tif", "--out-dir",
                         folder / "out")
    assert result.code == harness.MALFORMED, str(result)
    assert table_of(result) == [["done", "1"], ["skipped", "1"], ["failed", "2"]]
    assert result.stderr.count(b"terrazzo: error") == 2 and b"bad.tif" in result.stderr and b"missing.tif" in result.stderr
    assert (folder / "out/b.tif").exists()


def test_outputs_must_be_named(folder):
    for command in ("convert", "cog"):
        for words in ([folder / "a.tif"], [folder / "a.tif", folder / "b.tif"],
                      [folder / "a.tif", folder / "b.tif", "-o", folder / "c.tif"]):
            result = harness.run(command, *words)
            assert result.code == harness.USAGE and b"--out-dir FOLDER" in result.stderr, str(result)
    assert harness.run("preview", folder / "a.tif", folder / "b.tif", "-o", folder / "c.png").code == harness.USAGE


def test_json_of_several_files_is_a_list(folder):
    files = [folder / "a.tif", folder / "b.tif"]
    for command in (["info"], ["stats"], ["checksum"], ["validate"], ["overviews"], ["edit", "--set", "A=1"],
                    ["preview", "--out-dir", folder / "png"]):
        found = harness.run_json(*command, "--json", *files) if command[0] != "validate" else json.loads(
            harness.run(*command, "--json", *files).stdout)
        assert [os.path.basename(entry["file"]) for entry in found] == ["a.tif", "b.tif"], command
        single = json.loads(harness.run(*command, "--json", files[0]).stdout)
        assert single["file"] == str(files[0])
    assert (folder / "png/a.png").exists() and (folder / "png/b.png").exists()
    for path in files:
        with rasterio.open(path) as file:
            assert file.overviews(1) == [] or file.overviews(1) == [2]
            assert file.tags()["A"] == "1"


@pytest.mark.parametrize("command", (["info"], ["stats"], ["edit", "--set", "A=1"], ["overviews", "--factors", "2"], ["preview"]))
def test_a_bad_file_does_not_stop_the_others(command, folder):
    (folder / "bad.tif").write_bytes(b"nothing")
    extra = ["--out-dir", folder / "png"] if command == ["preview"] else []
    result = harness.run(*command, *extra, folder / "none.tif", folder / "bad.tif", folder / "c.tif")
    assert result.code == harness.MALFORMED, str(result)
    assert b"c." in result.stdout
    if command[0] in ("info", "stats"):
        assert b"2 of 3 files failed" in result.stderr
    else:
        assert table_of(result) == [["done", "1"], ["failed", "2"]]


def table_of(result):
    lines = [line.split()[:2] for line in result.stdout.decode().split("\n\n")[1].splitlines()]
    assert lines[0] == ["state", "files"]
    return lines[1:]


def test_files_with_nothing_to_do_are_skipped(folder):
    files = [folder / "a.tif", folder / "b.tif", folder / "c.tif"]
    harness.run_ok("edit", files[0], "--set", "A=1")
    result = harness.run_ok("edit", *files, "--set", "A=1")
    assert table_of(result) == [["done", "2"], ["skipped", "1"]] and b"nothing to change" in result.stdout
    harness.run_ok("overviews", files[0], "--factors", "2")
    keep = ("overviews", *files, "--factors", "2", "--keep")
    assert table_of(harness.run_ok(*keep)) == [["done", "2"], ["skipped", "1"]]
    assert table_of(harness.run_ok(*keep)) == [["skipped", "3"]]
    assert not harness.run_ok(*keep, "--quiet").stdout
    assert table_of(harness.run_ok("preview", *files, "--out-dir", folder / "png")) == [["done", "3"]]


def test_info_prints_wkt(folder):
    text = harness.run_ok("info", "--wkt", folder / "a.tif").stdout.decode()
    assert 'PROJCRS["WGS 84 / UTM zone 32N"' in text and 'ID["EPSG",32632]' in text
    assert "PROJCRS" not in harness.run_ok("info", folder / "a.tif").stdout.decode()


def test_edit_of_nodata_tells_that_pixels_stay(folder):
    result = harness.run_ok("edit", folder / "a.tif", "--nodata", "10")
    assert b"pixels keep their values" in result.stdout
    assert b"pixels keep" not in harness.run_ok("edit", folder / "a.tif", "--set", "A=1").stdout


@pytest.fixture(scope="module")
def piped(tmp_path_factory):
    path = tmp_path_factory.mktemp("piped") / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=300, height=200, count=3, dtype="uint16", tiled=True, blockxsize=64,
                       blockysize=64, compress="deflate", crs="EPSG:4326",
                       transform=rasterio.transform.from_origin(9, 46, 0.01, 0.01)) as out:
        out.write(rasters.make("uint16", 3, 200, 300))
    return path


def test_standard_input_is_a_file(piped, tmp_path):
    def both(*words):
        return [harness.run(*[name if word == "FILE" else word for word in words], stdin=str(piped)) for name in ("-", piped)]

    ours, theirs = both("info", "FILE", "--json")
    names = {"file": 0, "files": 0, "source": 0}
    assert {**json.loads(ours.stdout), **names} == {**json.loads(theirs.stdout), **names}
    for words in (["stats", "FILE", "--json"], ["checksum", "FILE", "--json"], ["validate", "FILE", "--json"]):
        ours, theirs = both(*words)
        assert ours.code == theirs.code
        assert {**json.loads(ours.stdout), "file": 0} == {**json.loads(theirs.stdout), "file": 0}, words
    for words in (["read", "FILE", "--out", "-"], ["preview", "FILE", "--out", "-"], ["convert", "FILE", "--out", "-"],
                  ["cog", "FILE", "--out", "-", "--dtype", "float32"], ["sample", "FILE", "--at", "9.5,45.5"]):
        ours, theirs = both(*words)
        assert ours.code == 0 and ours.stdout == theirs.stdout and ours.stdout, str(ours)


def test_standard_input_is_within_the_memory_limit(piped, tmp_path):
    for words in (["info", "-"], ["validate", "-"]):
        result = harness.run(*words, "--memory-limit", 1000, stdin=str(piped))
        assert result.code == harness.LIMIT and b"--memory-limit" in result.stderr, str(result)
    assert harness.run("info", "-").code == harness.IO, "nothing comes in"
    assert harness.run("cog", "-", "--out-dir", tmp_path, stdin=str(piped)).code == harness.USAGE


def test_zstd_checksums_are_written_and_verified(piped, tmp_path):
    out = tmp_path / "b.tif"
    harness.run_ok("convert", piped, "-o", out, "--checksum", "--tile-size", 64)
    with rasterio.open(out) as file, rasterio.open(piped) as source:
        np.testing.assert_array_equal(file.read(), source.read())
    plain = tmp_path / "c.tif"
    harness.run_ok("convert", piped, "-o", plain, "--tile-size", 64)
    assert out.stat().st_size >= plain.stat().st_size + 4 * 20  # tiles
    # The checksum is the end of the frame: a change of it is a bad tile.
    data = bytearray(out.read_bytes())
    plan = harness.run_json("plan", out, "--tiles", "--json")["tiles"][3]
    data[plan["offset"] + plan["bytes"] - 1] ^= 1
    out.write_bytes(data)
    assert harness.run("checksum", out).code == harness.MALFORMED
    result = harness.run("convert", piped, "-o", out, "--checksum", "--compression", "lzw")
    assert result.code == harness.USAGE and b"--checksum is for zstd" in result.stderr, str(result)
