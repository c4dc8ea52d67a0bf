# SPDX-License-Identifier: Apache-2.0
"""`terrazzo cog` over many files: folders and patterns, resume, failures, Ctrl-C."""

import json
import os
import signal
import subprocess
import time

import harness
import numpy as np
import pytest
import rasterio


def make_source(path, side=300, seed=1, age_seconds=10):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 5000, (1, side, side), dtype=np.uint16)
    profile = {"driver": "GTiff", "width": side, "height": side, "count": 1, "dtype": "uint16", "crs": "EPSG:32633",
               "transform": rasterio.transform.from_origin(5e5, 5e6, 10, 10)}
    with rasterio.open(path, "w", **profile) as out:
        out.write(pixels)
    then = time.time() - age_seconds
    os.utime(path, (then, then))
    return pixels


def lines_of(result):
    return {line["file"]: line for line in map(json.loads, result.stdout.splitlines())}


def files_under(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def test_folders_and_patterns_become_cogs_with_the_same_pixels(tmp_path):
    expected = {"a.tif": make_source(tmp_path / "in/a.tif", seed=1), "sub/b.tif": make_source(tmp_path / "more/sub/b.tif", seed=2)}
    out = tmp_path / "out"
    result = harness.run_ok("cog", tmp_path / "in/*.tif", tmp_path / "more", "--out-dir", out, "--jobs", "2", "--json")
    assert {line["state"] for line in lines_of(result).values()} == {"done"}
    assert files_under(out) == sorted(expected)
    for name, pixels in expected.items():
        with rasterio.open(out / name) as made:
            assert np.array_equal(made.read(), pixels)
            assert made.crs.to_epsg() == 32633
            assert made.tags(ns="IMAGE_STRUCTURE")["LAYOUT"] == "COG"
    assert harness.run("validate", *(out / name for name in expected)).code == harness.OK


def test_a_second_run_skips_what_is_finished(tmp_path):
    for name in ("a", "b"):
        make_source(tmp_path / f"in/{name}.tif")
    command = ("cog", tmp_path / "in", "--out-dir", tmp_path / "out", "--json")
    harness.run_ok(*command)
    (tmp_path / "out/b.tif").unlink()
    before = (tmp_path / "out/a.tif").stat().st_mtime_ns
    states = {os.path.basename(file): line["state"] for file, line in lines_of(harness.run_ok(*command)).items()}
    assert states == {"a.tif": "skipped", "b.tif": "done"}
    assert (tmp_path / "out/a.tif").stat().st_mtime_ns == before
    harness.run_ok(*command, "--overwrite")
    assert (tmp_path / "out/a.tif").stat().st_mtime_ns > before


def test_bad_files_do_not_stop_the_others_and_the_highest_exit_code_is_theirs(tmp_path):
    for name in ("a", "c"):
        make_source(tmp_path / f"in/{name}.tif")
    (tmp_path / "in/b.tif").write_bytes(b"II*\0 this is no TIFF")
    result = harness.run("cog", tmp_path / "in", tmp_path / "missing.tif", "--out-dir", tmp_path / "out")
    assert result.code == harness.MALFORMED, str(result)
    assert files_under(tmp_path / "out") == ["a.tif", "c.tif"]
    text = result.stderr.decode()
    assert "b.tif" in text and "missing.tif" in text
    table = [line.split()[:2] for line in result.stdout.decode().split("\n\n")[1].splitlines()]
    assert table == [["state", "files"], ["done", "2"], ["failed", "2"]]
    result = harness.run("cog", tmp_path / "missing.tif", tmp_path / "in", "--out-dir", tmp_path / "out", "--json")
    assert result.code == harness.MALFORMED, str(result)
    lines = lines_of(result)
    assert lines[str(tmp_path / "missing.tif")]["error"]["kind"] == "io"
    assert lines[str(tmp_path / "in/b.tif")]["error"]["kind"] == "malformed"
    assert lines[str(tmp_path / "in/a.tif")]["state"] == "skipped"


@pytest.mark.parametrize("arguments", [("a.tif",), ("a.tif", "b.tif", "-o", "c.tif"), ("a.tif", "-o", "c.tif", "--out-dir", "d"),
                                       ("a.tif", "--out-dir", "."), ("*.nothing", "--out-dir", "d"),
                                       ("a.tif", "-o", "c.tif", "--jobs", "2")])
def test_wrong_requests_are_usage_errors(tmp_path, arguments):
    make_source(tmp_path / "a.tif")
    make_source(tmp_path / "b.tif")
    result = harness.run("cog", *arguments, cwd=str(tmp_path))
    assert result.code == harness.USAGE, str(result)
    assert files_under(tmp_path) == ["a.tif", "b.tif"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_without_temporary_files(tmp_path, how):
    for i in range(6):
        make_source(tmp_path / f"in/{i}.tif", side=3000, seed=i)
    out = tmp_path / "out"
    process = subprocess.Popen([harness.BINARY, "cog", tmp_path / "in", "--out-dir", out, "--jobs", "2", "--compression",
                                "deflate", "--compression-level", "12"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not (out.is_dir() and any(out.glob(".*.terrazzo-tmp"))):
        time.sleep(0.002)
    process.send_signal(how)
    process.communicate(timeout=20)
    assert process.returncode == harness.CANCELLED
    assert not list(out.glob(".*"))
    for finished in out.glob("*.tif"):
        assert harness.run("validate", finished).code == harness.OK
    assert len(list(out.glob("*.tif"))) < 6


def test_a_reader_who_goes_away_ends_it_without_temporary_files(tmp_path):
    for i in range(6):
        make_source(tmp_path / f"in/{i}.tif", side=300 if i == 0 else 3000, seed=i)
    out = tmp_path / "out"
    process = subprocess.Popen([harness.BINARY, "cog", tmp_path / "in", "--out-dir", out, "--jobs", "2", "--compression",
                                "deflate", "--compression-level", "12"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()  # as `| head -n 1` does
    process.wait(timeout=60)
    assert process.returncode == -signal.SIGPIPE
    assert process.stderr.read() == b""
    assert not list(out.glob(".*"))
    for finished in out.glob("*.tif"):
        assert harness.run("validate", finished).code == harness.OK
    assert len(list(out.glob("*.tif"))) < 6


def test_one_file_may_go_to_a_place_of_its_own(tmp_path):
    pixels = make_source(tmp_path / "a.tif")
    for _ in range(2):  # always written, also when it is there
        answer = harness.run_json("cog", tmp_path / "a.tif", "-o", tmp_path / "b.tif", "--json")
        assert answer["state"] == "done" and answer["bytes"] == (tmp_path / "b.tif").stat().st_size
    with rasterio.open(tmp_path / "b.tif") as made:
        assert np.array_equal(made.read(), pixels)
