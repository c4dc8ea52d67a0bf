# SPDX-License-Identifier: Apache-2.0
"""The command line's device side. Runs without a GPU: TERRAZZO_DISABLE=gpu makes one absent where there is one."""

import functools
import os

import harness
import pytest

DATA = harness.ROOT / "tests/data"
DEM = DATA / "dem_deflate_p3.tif"
NO_GPU = {"TERRAZZO_DISABLE": "gpu"}


@functools.cache
def built():
    """Whether the binary has a device engine."""
    return harness.run_json("doctor", "--json")["device"]["built"]


def refused():
    """The kind of error that a read on the device must be where there is no GPU."""
    return "device" if built() else "unsupported"


def reading_commands(tmp_path):
    return (["checksum", DEM], ["stats", DEM], ["read", DEM, "--out", tmp_path / "x.npy"],
            ["read", DEM, "--out", tmp_path / "x.npy", "--interleave", "pixel"], ["bench", "read", DEM],
            ["bench", "read", DEM, "--random-windows", "3"], ["plan", DEM])


# -- --device without a GPU -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(7))
def test_device_without_a_gpu_is_an_error_that_says_why_and_what_to_ask(index, tmp_path):
    args = reading_commands(tmp_path)[index]
    plain = harness.run(*args, "--device", env=NO_GPU)
    assert plain.code == harness.EXIT_CODES[refused()], str(plain)
    why, hint = plain.stderr.decode().splitlines()
    assert ("TERRAZZO_DISABLE=gpu" in why) if built() else ("without CUDA" in why)
    assert "terrazzo doctor" in hint
    error = harness.run(*args, "--device", "--json", env=NO_GPU).error()
    assert error["kind"] == refused()
    assert not plain.stdout and not (tmp_path / "x.npy").exists()


@pytest.mark.parametrize("index", range(7))
def test_host_wins_over_the_environment(index, tmp_path):
    args = reading_commands(tmp_path)[index]
    harness.run_ok(*args, "--host", env={**NO_GPU, "TERRAZZO_ENGINE": "device"})


def test_environment_asks_for_the_device_too():
    result = harness.run("checksum", DEM, env={**NO_GPU, "TERRAZZO_ENGINE": "device"})
    assert result.code == harness.EXIT_CODES[refused()], str(result)


def test_bench_times_the_host_unless_told_otherwise():
    out = harness.run_json("bench", "read", "--json", DEM, env={**NO_GPU, "TERRAZZO_ENGINE": "device"})
    assert out["engine"] == "host"


def test_a_file_that_is_not_there_is_io_even_for_the_device(tmp_path):
    assert harness.run("checksum", "--device", tmp_path / "no.tif", env=NO_GPU).code == harness.IO


@pytest.mark.parametrize("line, told", (
    (["checksum", DEM, "--device", "--host"], "--device and --host exclude each other"),
    (["checksum", DEM, "--mask", "--device"], "--mask and --device exclude each other"),
    (["read", DEM, "--out", "x.npy", "--mask", "--device"], "--mask and --device exclude each other"),
    (["stats", DEM, "--fetch", "ring"], '--fetch needs --device; type "--device" too'),
    (["stats", DEM, "--device-budget", "1G"], '--device-budget needs --device; type "--device" too'),
    (["stats", DEM, "--device", "--fetch", "post"], '--fetch "post": expected auto, ring or kvikio'),
    (["stats", DEM, "--device", "--device-budget", "lots"], '--device-budget "lots": expected a size such as'),
    (["plan", DEM, "--fetch", "ring"], "terrazzo plan has no option --fetch"),
    (["preview", DEM, "--out", "x.png", "--device"], "terrazzo preview has no option --device"),
    (["doctor", DEM], "terrazzo doctor does not take"),
))
def test_usage_errors_say_what_to_type(line, told, tmp_path):
    result = harness.run(*line, cwd=str(tmp_path))
    assert result.code == harness.USAGE
    assert result.stderr.decode().splitlines()[0].startswith("terrazzo: error: " + told), str(result)


def test_exact_changes_nothing_on_the_host():
    jpeg = DATA / "rgb_jpeg.tif"
    assert harness.run_json("checksum", "--exact", "--json", jpeg) == harness.run_json("checksum", "--json", jpeg)


@pytest.mark.parametrize("command", (["read"], ["stats"], ["checksum"], ["bench", "read"]))
def test_help_shows_the_device_options_with_an_example(command):
    text = harness.run_ok(*command, "--help").stdout.decode()
    for part in ("--device ", "--host", "--exact", "--device-budget", "--fetch", "Engine"):
        assert part in text, part
    assert any("terrazzo" in line and "--device" in line for line in text.splitlines())


# -- plan -------------------------------------------------------------------------------------------------------------


def test_plan_tells_who_would_decode_for_the_gpu():
    device = harness.run_json("plan", "--json", DEM, env=NO_GPU)["device"]
    assert (device["possible"], device["engine"], device["decoder"]) == (False, "host", "host threads")
    assert ("TERRAZZO_DISABLE=gpu" if built() else "without CUDA") in device["reason"]
    text = harness.run_ok("plan", DEM, env=NO_GPU).stdout.decode()
    assert "to GPU     not possible on this machine (" + device["reason"] + ")" in text


def test_plan_of_a_forced_host_says_so():
    device = harness.run_json("plan", "--host", "--json", DEM)["device"]
    assert device["engine"] == "host" and "asked for" in device["reason"]


# -- doctor -----------------------------------------------------------------------------------------------------------


def test_doctor_is_well_without_a_gpu():
    text = harness.run_ok("doctor", env=NO_GPU).stdout.decode()
    for part in ("GPU", "Host decoders", "cores", "memory", "tile cache", "PROJ", "libzstd", "TERRAZZO_DISABLE",
                 "Summary", "default     the host decodes"):
        assert part in text, part
    assert max(map(len, text.splitlines())) < 160, "lines that a terminal shows"


def test_doctor_json_is_complete_and_nothing_else():
    result = harness.run_ok("doctor", "--json", env=NO_GPU)
    out = result.json()
    assert not result.stderr
    assert set(out) == {"version", "device", "host", "settings", "default", "missing"}
    device = out["device"]
    assert {"built", "usable", "reason", "name", "driver", "runtime", "compute_capability", "total_bytes", "free_bytes",
            "budget_bytes", "gds", "libraries"} <= set(device)
    assert device["usable"] is False and device["name"] is None and device["reason"]
    assert out["version"] in harness.run_ok("--version").stdout.decode()
    assert {s["name"]: s["value"] for s in out["settings"]}["TERRAZZO_DISABLE"] == "gpu"
    codecs = {c["name"]: c for c in out["host"]["codecs"]}
    assert codecs["lzw"]["library"] is None and codecs["zstd"]["available"]


def test_doctor_names_the_package_of_each_library_that_is_missing():
    if not built():
        pytest.skip("this build has no device engine")
    out = harness.run_json("doctor", "--json", env={"TERRAZZO_DISABLE": "", "VIRTUAL_ENV": "", "CONDA_PREFIX": ""})
    libraries = {library["name"]: library for library in out["device"]["libraries"]}
    assert {"nvcomp", "nvjpeg", "nvjpeg2k"} <= set(libraries)
    commands = " ".join(part["command"] or "" for part in out["missing"])
    for library in libraries.values():
        if library["found"]:
            assert library["path"] and library["package"] is None
        else:
            assert library["hint"]
            if library["package"]:
                assert library["package"] in commands


def test_doctor_without_a_driver_says_so():
    if not built() or os.path.exists("/dev/nvidiactl"):
        pytest.skip("needs a build with CUDA on a machine without a driver")
    out = harness.run_json("doctor", "--json", env={"TERRAZZO_DISABLE": ""})
    assert out["device"]["driver"] is None and "driver" in out["device"]["reason"]
    assert out["device"]["runtime"]
    assert any("driver" in part["what"] and part["advice"] for part in out["missing"])
    assert "driver" in out["default"]


def test_doctor_shows_the_limits_in_force():
    env = {**NO_GPU, "TERRAZZO_THREADS": "3", "TERRAZZO_MEMORY_LIMIT": "1G", "TERRAZZO_TILE_CACHE": "0"}
    host = harness.run_json("doctor", "--json", env=env)["host"]
    assert (host["threads"], host["memory_limit_bytes"], host["tile_cache_bytes"]) == (3, 1 << 30, 0)


def test_doctor_counts_cores_as_reads_do():
    host = harness.run_json("doctor", "--json", env={**NO_GPU, "TERRAZZO_THREADS": ""})["host"]
    assert host["threads"] == host["cores"] == len(os.sched_getaffinity(0))


def test_doctor_notices_variables_that_are_no_settings():
    settings = harness.run_json("doctor", "--json", env={**NO_GPU, "TERRAZZO_THREDS": "4"})["settings"]
    (typo,) = [s for s in settings if s["name"] == "TERRAZZO_THREDS"]
    assert typo["meaning"] is None
    assert "no setting of the library" in harness.run_ok("doctor", env={"TERRAZZO_THREDS": "4"}).stdout.decode()


def test_doctor_of_a_setting_nobody_can_read_is_usage():
    result = harness.run("doctor", "--json", env={**NO_GPU, "TERRAZZO_THREADS": "two"})
    assert result.code == harness.USAGE
    assert "TERRAZZO_THREADS" in result.error()["message"]


def test_doctor_says_that_a_forced_device_cannot_work():
    out = harness.run_json("doctor", "--json", env={**NO_GPU, "TERRAZZO_ENGINE": "device"})
    assert out["default"].startswith("reads fail: TERRAZZO_ENGINE")
