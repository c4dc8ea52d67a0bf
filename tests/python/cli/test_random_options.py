# SPDX-License-Identifier: Apache-2.0
"""Random files through random options: the result is what GDAL's reading and NumPy's arithmetic give, the same on every
run and for every number of threads; an error is a clean one.

A failure prints the seed and the command; `python tests/python/random_options.py SEED FOLDER` makes the source again.
TERRAZZO_FULL=1 runs thousands of seeds.
"""

import json
import os
import shutil

import harness
import pytest
import random_checks
from random_options import make_case

SHARE = 80  # seeds that CI runs, and those below
FULL_SHARE = 4000
# Seeds that found a defect, by defect. They hold as long as random_sources.py and random_options.py draw the
# same numbers in the same order.
FOUND = {
    "missing pixels that --unpack scales": (335, 377, 385, 412, 450, 776),
    "--masked and --unpack of complex samples": (371, 834, 948, 1584, 1805),
    "alpha and nodata in overviews": (1141,),
    "--masked with an integer --dtype and --nodata": (167, 952),
    "--mask of several bands": (205, 420),
    "overviews of classes, and those that are there already": (523, 1444, 1916),
    "statistics of complex samples": (624,),
}


def seeds():
    if "TERRAZZO_SEEDS" in os.environ:
        first, last = os.environ["TERRAZZO_SEEDS"].split(":")
        return range(int(first), int(last))
    if harness.FULL:
        return range(FULL_SHARE)
    return [*range(SHARE), *(seed for found in FOUND.values() for seed in found)]


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run_in(folder, case, threads):
    """Runs the command in a folder of its own, with a copy of the file if it changes it. Returns the result and the
    files that were in the folder before."""
    folder.mkdir()
    voice = ["--json"] if case.seed % 3 else ["--quiet"] if case.seed % 2 else []
    words = ["--threads", threads, *case.words, *voice]
    if case.command in ("edit", "overviews"):
        for path in case.source.parent.glob(case.source.name + "*"):
            shutil.copyfile(path, folder / path.name)
        before = contents(folder)
        return harness.run(case.command, case.source.name, *words, cwd=str(folder)), before
    if case.command in ("stats", "checksum"):
        words = [word for word in words if word != "--quiet"] + ([] if "--json" in words else ["--json"])
    else:
        words += ["-o", {"read": "out.npy", "preview": "out.png"}.get(case.command, "out.tif")]
    return harness.run(case.command, case.source, *words, cwd=str(folder)), {}


def check_error(case, result):
    assert result.code in harness.EXIT_CODES.values(), f"no error of a known kind: {result}"
    text = result.stderr.decode()
    if "--json" in result.args:
        assert len(text.splitlines()) == 1, str(result)
        assert harness.EXIT_CODES[json.loads(text)["error"]["kind"]] == result.code
    else:
        lines = [line for line in text.splitlines() if not line.startswith(("terrazzo: note:", "terrazzo: warning:"))]
        assert lines and lines[0].startswith("terrazzo: error: "), str(result)
        assert all(line.startswith("  hint: ") for line in lines[1:]) and len(lines) <= 2, str(result)
    if case.must_fail:
        assert result.code == harness.USAGE, f"a usage error was expected ({case.must_fail[0]}): {result}"
    else:
        assert case.may_fail, f"refused without a reason: {result}"


@pytest.mark.parametrize("seed", seeds())
def test_a_random_combination_gives_what_gdal_and_numpy_give(seed, tmp_path):
    (tmp_path / "source").mkdir()
    case = make_case(seed, tmp_path / "source")
    print(f"{case}\nmake the source again: python tests/python/random_options.py {seed} FOLDER")
    source_bytes = case.source.read_bytes()
    first, before = run_in(tmp_path / "one", case, 1)
    second, _ = run_in(tmp_path / "two", case, 2)
    for result in (first, second):
        assert not result.timed_out and not result.signal, str(result)
    assert first.code == second.code, f"{first}\n{second}"
    after = contents(tmp_path / "one")
    assert after == contents(tmp_path / "two"), f"the bytes depend on the number of threads: {first}"
    assert case.source.read_bytes() == source_bytes
    if first.code != harness.OK:
        assert after == before, f"an error left a file, or changed one: {first}"
        check_error(case, first)
        return
    assert not case.must_fail, f"an error was expected ({case.must_fail[0]}): {first}"
    random_checks.check(case, tmp_path / "one", first)
