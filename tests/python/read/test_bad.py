# SPDX-License-Identifier: Apache-2.0
"""Everything under bad/: an error of a documented kind or a result, never a crash, a hang or unbounded memory."""

import os

import harness
import pytest

ADDRESS_SPACE_BYTES = 2 << 30
TIMEOUT_S = 20
LARGE_TIMEOUT_S = 180  # for rasters of gigabytes, all of it fill: long to hash, no fault
ASAN_TIMEOUT_S = 240  # the JSON of 65,535 bands takes an instrumented build a minute of CPU, and the cores are shared
LARGE_PIXELS = 500_000_000
ALLOWED_CODES = {harness.OK, *harness.EXIT_CODES.values()} - {harness.USAGE, harness.DEVICE, harness.CANCELLED}

# Bad files that GDAL reads in full and we do not, or otherwise, and why. A listed file that agrees fails the test.
DIFFERENT_PIXELS = {
}


def bad_files():
    return [name for name, entry in harness.manifest().items() if entry["bad"] and entry["kind"] == "tiff"]


def is_large(name):
    gdal = harness.manifest()[name].get("gdal", {})
    return gdal.get("width", 0) * gdal.get("height", 0) > LARGE_PIXELS


def commands(name, folder):
    path = harness.CORPUS / name
    part = ["--window", "0,0,1000,1"] if is_large(name) else []  # all of it would measure the disk
    return [
        ["info", "--json", path],
        ["info", "--check", "--json", path],
        ["checksum", "--json", path],
        ["read", path, "--overview", "0", "--out", folder / "x.npy", *part],
        ["read", path, "--overview", "1", "--out", folder / "x.npy"],
        ["read", path, "--mask", "--window", "0,0,1,1", "--out", folder / "x.npy"],
        ["stats", "--json", path],
        ["plan", "--json", path],
        ["validate", "--decode", "--json", path],
        ["preview", path, "--out", folder / "x.png"],
    ]


def overview_one_of_none(command, result):
    """Asking a file without overviews for one is the test's mistake, and the answer is `usage`."""
    return command[0] == "read" and command[3] == "1" and result.code == harness.USAGE


def check_end(command, result):
    assert not result.timed_out, f"hangs: {result}"
    assert result.signal is None, f"crashes: {result}"
    assert result.code in ALLOWED_CODES or overview_one_of_none(command, result), str(result)


@pytest.mark.corpus
@pytest.mark.parametrize("name", bad_files(), ids=str)
def test_ends_well_in_two_gibibytes(name, tmp_path, note_peak):
    peak = 0, ""
    for command in commands(name, tmp_path):
        timeout = LARGE_TIMEOUT_S if is_large(name) else TIMEOUT_S
        result = harness.run(*command, timeout=timeout, address_space=ADDRESS_SPACE_BYTES)
        peak = max(peak, (result.peak_rss_bytes, f"{command[0]} {name}"))
        check_end(command, result)
    note_peak(*peak)


@pytest.mark.corpus
@pytest.mark.parametrize("name", bad_files(), ids=str)
def test_ends_well_under_address_sanitizer(name, tmp_path):
    if not harness.ASAN_BINARY.is_file():
        pytest.skip(f"no AddressSanitizer build at {harness.ASAN_BINARY}")
    options = "hard_rss_limit_mb=2048:allocator_may_return_null=1:detect_leaks=1:abort_on_error=0:exitcode=99"
    # The default budget, half of the machine's memory, is above the sanitizer's limit: a row of 2.1 GB is within it.
    env = {"ASAN_OPTIONS": options, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:exitcode=99",
           "TERRAZZO_MEMORY_LIMIT": "1G"}
    timeout = LARGE_TIMEOUT_S if is_large(name) else ASAN_TIMEOUT_S
    for command in commands(name, tmp_path):
        result = harness.run(*command, binary=harness.ASAN_BINARY, timeout=timeout, env=env)
        check_end(command, result)
        assert b"Sanitizer" not in result.stderr and b"runtime error" not in result.stderr, str(result)


@pytest.mark.corpus
@pytest.mark.parametrize("name", [name for name in bad_files() if not is_large(name)], ids=str)
def test_pixels_are_no_memory_of_other_uses(name):
    """What a damaged tile lacks is filled: new memory may hold anything, and the answer is the same."""
    answers = {harness.run("checksum", "--json", "--fill-bad", harness.CORPUS / name, timeout=TIMEOUT_S,
                           env={"MALLOC_PERTURB_": value}).stdout for value in ("85", "170")}
    assert len(answers) == 1


def read_by_gdal():
    """Some are no TIFF files in spite of their names; GDAL reads those with other drivers."""
    files = [(name, harness.manifest()[name].get("gdal", {})) for name in bad_files()]
    return [name for name, gdal in files if "pixels_sha256" in gdal and gdal["driver"] == "GTiff"]


@pytest.mark.corpus
@pytest.mark.parametrize("name", read_by_gdal(), ids=str)
def test_pixels_equal_those_gdal_reads(name):
    gdal = harness.manifest()[name]["gdal"]
    result = harness.run("checksum", "--json", harness.CORPUS / name, timeout=TIMEOUT_S)
    agrees = result.code == harness.OK
    if agrees:
        ours = result.json()
        agrees = [ours["width"], ours["height"]] == [gdal["width"], gdal["height"]] and [
            band["sha256"] for band in ours["bands"]] == [band["sha256"] for band in gdal["bands"]]
    if name in DIFFERENT_PIXELS:
        assert not agrees, f"listed as different ({DIFFERENT_PIXELS[name]}) but agrees now"
        return
    assert agrees, f"{result}\nmanifest: {gdal['width']} x {gdal['height']}, {gdal['count']} bands"


@pytest.mark.corpus
def test_exceptions_name_files_of_the_corpus():
    if not harness.manifest():
        pytest.skip(f"no corpus at {harness.CORPUS}: set TERRAZZO_CORPUS")
    assert not [name for name in DIFFERENT_PIXELS if name not in harness.manifest()]


def test_truncation_of_a_valid_file_is_an_error_at_every_length(tmp_path):
    """Our own file, cut everywhere: no length may crash the reader or pass for whole."""
    whole = (harness.ROOT / "tests/data/dem_deflate_p3.tif").read_bytes()
    path = tmp_path / "cut.tif"
    path.write_bytes(whole)
    pixels = harness.run("checksum", "--json", path).stdout
    step = max(1, len(whole) // 60)
    for length in range(0, len(whole), step):
        path.write_bytes(whole[:length])
        result = harness.run("checksum", "--json", path, timeout=TIMEOUT_S, address_space=ADDRESS_SPACE_BYTES)
        assert result.signal is None and not result.timed_out, str(result)
        # The last tile may be cut inside its padding: then no pixel is missing.
        has_all_pixels = result.code == harness.OK and result.stdout == pixels
        assert has_all_pixels or result.code in (harness.MALFORMED, harness.IO), str(result)


def test_flipped_bytes_never_crash_the_reader(tmp_path):
    """Three patterns over every seventh byte, each starting elsewhere; all bytes in the full run."""
    whole = bytearray((harness.ROOT / "tests/data/palette_lzw.tif").read_bytes())
    path = tmp_path / "flipped.tif"
    stride = 1 if harness.FULL else 7
    for start, change in ((0, lambda b: 0xFF), (2, lambda b: 0), (5, lambda b: b ^ 0x55)):
        for at in range(start, len(whole), stride):
            damaged = bytearray(whole)
            damaged[at] = change(damaged[at])
            path.write_bytes(damaged)
            result = harness.run("checksum", "--json", path, timeout=TIMEOUT_S, address_space=ADDRESS_SPACE_BYTES)
            assert result.signal is None and not result.timed_out, f"byte {at}: {result}"
            assert result.code in ALLOWED_CODES, f"byte {at}: {result}"
    os.unlink(path)
