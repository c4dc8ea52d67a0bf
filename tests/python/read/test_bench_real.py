# SPDX-License-Identifier: Apache-2.0
"""The benchmarks on a folder of real rasters: which files they take and what they print. Not how fast anything is."""

import os
import subprocess
import sys

import harness
import pytest
import rasterio
import rasters

sys.path.insert(0, str(harness.ROOT / "bench"))

import real_rasters  # noqa: E402

SHIMS = harness.BINARY.parent / "bench"


def write(path, array, **options):
    with rasterio.open(path, "w", driver="GTiff", count=array.shape[0], height=array.shape[1], width=array.shape[2],
                       dtype=array.dtype.name, tiled=True, blockxsize=64, blockysize=64, **options) as out:
        out.write(array)


@pytest.fixture
def folder(tmp_path):
    """Two rasters, one of them with two codecs, and one that a lossy codec wrote."""
    real = tmp_path / "real"
    real.mkdir()
    hills = rasters.make("int16", 1, 150, 200)
    write(real / "hills_deflate.tif", hills, compress="deflate", predictor=2)
    write(real / "hills_zstd.tif", hills, compress="zstd", predictor=2)
    write(real / "map_lzw.tif", rasters.make("uint8", 3, 150, 200), compress="lzw")
    write(real / "photo_jpeg.tif", rasters.make("uint8", 3, 150, 200), compress="jpeg", photometric="ycbcr")
    return real


def bench(script, *options, **environment):
    shim = SHIMS / {"peers.py": "libterrazzo_bench_shim.so", "write_peers.py": "libterrazzo_write_shim.so"}[script]
    if not shim.exists():
        pytest.skip(f"{shim} is not built")
    command = [sys.executable, harness.ROOT / "bench" / script, "--shim", shim, "--sets", "real", "--rounds", "1",
               "--threads", "2", *options]
    variables = {**os.environ, "TERRAZZO_REAL": "", **environment}
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=variables, timeout=600)


def test_a_missing_folder_is_one_skip_that_is_printed(capsys):
    assert real_rasters.find(None) == {}
    assert capsys.readouterr().out.startswith("skipped: 1 (real rasters:")


def test_an_empty_folder_is_an_error(tmp_path):
    with pytest.raises(SystemExit, match="no GeoTIFFs"):
        real_rasters.find(tmp_path)


def test_pixels_are_taken_once_and_from_lossless_files_only(folder):
    found = real_rasters.find_pixels(folder, ("int16", "uint8"))
    assert {name: path.name for name, path in found.items()} == {"hills": "hills_deflate.tif", "map": "map_lzw.tif"}


def test_unsupported_samples_are_skips_that_are_printed(folder, capsys):
    assert list(real_rasters.find_pixels(folder, ("uint8",))) == ["map"]
    assert capsys.readouterr().out.count("skipped: 1 (hills_") == 2


def test_the_spread_names_the_worst_row():
    ratios = {"a": 2.0, "b": 0.9, "c": 3.0}
    assert real_rasters.spread(ratios) == {"median": 2.0, "worst": 0.9, "worst_name": "b", "count": 3}
    assert real_rasters.spread(ratios, max)["worst_name"] == "c"


def test_reads_print_median_and_worst_before_the_rows(folder, tmp_path):
    done = bench("peers.py", "--folder", tmp_path / "out", "--windows", "3", "--cases", "full,windows", TERRAZZO_REAL=str(folder))
    assert done.returncode == 0, done.stderr
    for case in ("whole rasters", "windows of 512 px"):
        table = done.stdout[done.stdout.index(case):]
        assert table.index("GTiff by Terrazzo") < table.index("\nhills_deflate ") < table.index("\nphoto_jpeg ")


def test_writes_print_median_and_worst_before_the_rows(folder, tmp_path):
    done = bench("write_peers.py", "--folder", tmp_path / "out", "--no-cogeo", "--only", "lzw", "--real", folder)
    assert done.returncode == 0, done.stderr
    for layout in ("real rasters: GeoTIFF", "real rasters: COG"):
        table = done.stdout[done.stdout.index(layout):]
        assert table.index("all codecs, GDAL's time by ours") < table.index("\nhills_lzw ") < table.index("\nmap_lzw ")


def test_without_a_folder_the_skip_is_printed_and_nothing_fails(tmp_path):
    done = bench("peers.py", "--folder", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "skipped: 1 (real rasters:" in done.stdout
