# SPDX-License-Identifier: Apache-2.0
"""The command line's device writer. The first part runs without a GPU, the second is skipped where there is none."""

import shutil

import harness
import numpy as np
import pytest
import rasterio
from rasterio.transform import from_origin
from test_device import DATA, DEM, NO_GPU, built, refused

MASKED = DATA / "cog_mask_overviews.tif"


def writing_commands(folder):
    """Each with a copy of the source of its own, since `overviews` changes it."""
    source = folder / "dem.tif"
    shutil.copyfile(DEM, source)
    out = folder / "out.tif"
    return {
        "convert": ["convert", source, "-o", out],
        "cog": ["cog", source, "-o", out],
        "cog many": ["cog", source, "--out-dir", folder / "cogs"],
        "overviews": ["overviews", source, "--factors", "2"],
        "overviews external": ["overviews", source, "--factors", "2", "--external"],
        "bench write": ["bench", "write", source, "--repeat", "1", "--folder", folder],
    }


NAMES = ("convert", "cog", "cog many", "overviews", "overviews external", "bench write")


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- without a GPU ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_device_without_a_gpu_is_an_error_and_nothing_is_written(name, tmp_path):
    args = writing_commands(tmp_path)[name]
    before = files_of(tmp_path)
    result = harness.run(*args, "--device", env=NO_GPU)
    assert result.code == harness.EXIT_CODES[refused()], str(result)
    text = result.stderr.decode()
    assert ("TERRAZZO_DISABLE=gpu" in text) if built() else ("without CUDA" in text), text
    assert "terrazzo doctor" in text
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("name", NAMES[:-1])
def test_environment_asks_for_the_device_and_host_wins_over_it(name, tmp_path):
    args = writing_commands(tmp_path)[name]
    environment = {**NO_GPU, "TERRAZZO_ENGINE": "device"}
    assert harness.run(*args, env=environment).code == harness.EXIT_CODES[refused()]
    harness.run_ok(*args, "--host", env=environment)


def test_bench_times_the_host_unless_told_otherwise(tmp_path):
    args = writing_commands(tmp_path)["bench write"]
    out = harness.run_json(*args, "--json", env={**NO_GPU, "TERRAZZO_ENGINE": "device"})
    assert (out["engine"], out["device_tiles"]) == ("host", 0)
    assert "gpu" not in out and "device_peak_bytes" not in out


def test_json_tells_that_no_tile_was_made_on_the_device(tmp_path):
    commands = writing_commands(tmp_path)
    for name in ("convert", "cog", "overviews"):
        assert harness.run_json(*commands[name], "--json")["device_tiles"] == 0, name


@pytest.mark.parametrize("options, told", (
    (["--device", "--host"], "--device and --host exclude each other"),
    (["--device-budget", "1G"], '--device-budget needs --device; type "--device" too'),
    (["--device", "--device-budget", "lots"], '--device-budget "lots": expected a size such as'),
))
@pytest.mark.parametrize("name", NAMES)
def test_usage_errors_say_what_to_type(name, options, told, tmp_path):
    result = harness.run(*writing_commands(tmp_path)[name], *options)
    assert result.code == harness.USAGE, str(result)
    assert result.stderr.decode().splitlines()[0].startswith("terrazzo: error: " + told), str(result)


@pytest.mark.parametrize("command", (["convert"], ["cog"], ["overviews"], ["bench", "write"]))
def test_help_shows_the_device_options_with_an_example(command):
    text = harness.run_ok(*command, "--help").stdout.decode()
    for part in ("--device ", "--host", "--device-budget", "Engine"):
        assert part in text, part
    assert any("terrazzo" in line and "--device" in line for line in text.splitlines())


# -- with a GPU -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def gpu():
    device = harness.run_json("doctor", "--json")["device"]
    if not device["usable"]:
        pytest.skip(f"no GPU: {device['reason']}")
    return device


# Those that a GPU compresses every tile with, whatever libraries there are.
DEVICE_CODECS = {"lzw", "packbits", "deflate", "zstd"}


def terrain(height, width, dtype="float32", bands=1):
    rows, columns = np.mgrid[0:height, 0:width]
    band = 400 + 90 * np.sin(rows / 31) * np.cos(columns / 47) + (rows * 7 + columns * 13) % 5
    return np.stack([(band + 3 * b).astype(dtype) for b in range(bands)])


def write_source(path, pixels, **options):
    bands, height, width = pixels.shape
    with rasterio.open(path, "w", driver="GTiff", count=bands, height=height, width=width, dtype=pixels.dtype.name,
                       crs="EPSG:32633", transform=from_origin(4e5, 5e6, 10, 10), tiled=True, blockxsize=256,
                       blockysize=256, **options) as out:
        out.write(pixels)


def assert_same_raster(one, other):
    """Pixels and masks of every level, and what GDAL says of both files."""
    with rasterio.open(one) as a, rasterio.open(other) as b:
        for fact in ("profile", "tags", "overviews", "mask_flag_enums"):
            left, right = getattr(a, fact), getattr(b, fact)
            assert (left(1) if fact == "overviews" else left() if callable(left) else left) == \
                (right(1) if fact == "overviews" else right() if callable(right) else right), fact
        levels = [None, *range(len(a.overviews(1)))]
    for level in levels:
        extra = {} if level is None else {"overview_level": level}
        with rasterio.open(one, **extra) as a, rasterio.open(other, **extra) as b:
            assert a.read().tobytes() == b.read().tobytes(), f"level {level}"
            assert a.dataset_mask().tobytes() == b.dataset_mask().tobytes(), f"mask of level {level}"


@pytest.mark.parametrize("compression", ("none", "zstd", "deflate", "lzw", "packbits", "lerc", "lzma"))
@pytest.mark.parametrize("command", ("convert", "cog"))
def test_device_writes_what_the_host_writes(gpu, command, compression, tmp_path):
    write_source(tmp_path / "source.tif", terrain(1700, 2100), compress="zstd")
    for engine in ("--host", "--device"):
        out = harness.run_json(command, tmp_path / "source.tif", "-o", tmp_path / f"out{engine}.tif", "--compression",
                               compression, engine, "--json")
        if engine == "--host" or compression in ("lerc", "lzma"):  # no device encoder: host threads
            assert out["device_tiles"] == 0
        elif compression in DEVICE_CODECS:
            assert out["device_tiles"] == out["tiles"]
    assert_same_raster(tmp_path / "out--host.tif", tmp_path / "out--device.tif")
    if command == "cog":
        assert harness.run_json("validate", "--json", tmp_path / "out--device.tif")["valid_cog"]


def test_budget_does_not_change_the_file(gpu, tmp_path):
    write_source(tmp_path / "source.tif", terrain(2000, 1500, "uint16", 3), compress="deflate", predictor=2)
    files = []
    for budget in ("0", "256M", "64M"):
        path = tmp_path / f"out{budget}.tif"
        harness.run_ok("cog", tmp_path / "source.tif", "-o", path, "--device", "--device-budget", budget)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_masks_go_along(gpu, tmp_path):
    for engine in ("--host", "--device"):
        harness.run_ok("cog", MASKED, "-o", tmp_path / f"out{engine}.tif", engine)
    assert_same_raster(tmp_path / "out--host.tif", tmp_path / "out--device.tif")


@pytest.mark.parametrize("place", ([], ["--external"]))
def test_overviews_are_the_host_s(gpu, place, tmp_path):
    for engine in ("--host", "--device"):
        path = tmp_path / f"{engine[2:]}.tif"
        write_source(path, terrain(1300, 1100), compress="zstd", predictor=3)
        out = harness.run_json("overviews", path, engine, "--json", *place)
        assert out["device_tiles"] == (out["tiles"] if engine == "--device" else 0)
    assert_same_raster(tmp_path / "host.tif", tmp_path / "device.tif")


def test_bench_write_tells_what_the_gpu_did(gpu, tmp_path):
    write_source(tmp_path / "source.tif", terrain(1500, 1500))
    args = ["bench", "write", tmp_path / "source.tif", "--device", "--repeat", "2", "--folder", tmp_path,
            "--compression", "lzw"]
    out = harness.run_json(*args, "--json")
    assert (out["engine"], out["gpu"]) == ("device", gpu["name"])
    assert out["device_tiles"] == out["tiles"] and out["device_peak_bytes"] > 0
    assert "tiles compressed there" in harness.run_ok(*args).stdout.decode()
