# SPDX-License-Identifier: Apache-2.0
"""terrazzo mosaic, with rasterio.merge, gdal_merge and gdalbuildvrt as oracles."""

import os
import shutil
import signal
import struct
import subprocess
import time

import harness
import numpy as np
import pytest
import rasterio
import rasterio.merge
import rasterio.warp
import rasters
from rasterio.transform import from_origin

WEST, NORTH, PIXEL = 500000, 5000000, 10


def write(path, array, column, row, *, nodata=None, crs="EPSG:32632", pixel=PIXEL, mask=None, alpha=False, tiled=True):
    """A raster whose corner lies at this column and row of the grid."""
    profile = {"driver": "GTiff", "width": array.shape[2], "height": array.shape[1], "count": array.shape[0],
               "dtype": array.dtype, "crs": crs, "nodata": nodata, "compress": "deflate",
               "transform": from_origin(WEST + column * PIXEL, NORTH - row * PIXEL, pixel, pixel)}
    if tiled:
        profile |= {"tiled": True, "blockxsize": 32, "blockysize": 16}
    if alpha:
        profile |= {"photometric": "rgb", "alpha": "yes"}
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(path, "w", **profile) as out:
        out.write(array)
        if mask is not None:
            out.write_mask(mask)
    return path


def overlapping(folder, dtype, bands=1, nodata=0):
    """Nine tiles of 70 x 60 that overlap by some pixels, with missing ones in each band, and a gap in the middle."""
    paths = []
    for i in range(9):
        if i == 4:
            continue
        array = rasters.make(dtype, bands, 60, 70, seed=i)
        array = np.nan_to_num(array, posinf=5, neginf=6) if np.dtype(dtype).kind == "f" else array
        if nodata is not None:
            array[np.random.default_rng(i).random(array.shape) < 0.3] = nodata
        paths.append(write(folder / f"{i}.tif", array, i % 3 * 61, i // 3 * 53, nodata=nodata))
    return paths


def pixels_of(path):
    with rasterio.open(path) as file:
        return file.read()


@pytest.mark.parametrize("rule", ("first", "last", "min", "max"))
@pytest.mark.parametrize("dtype, bands, nodata", (("uint8", 3, 0), ("int16", 1, -9999), ("float32", 2, -9999), ("uint16", 4, 65535)))
def test_pixels_are_those_of_rasterio(tmp_path, rule, dtype, bands, nodata):
    paths = overlapping(tmp_path, dtype, bands, nodata)
    expected, transform = rasterio.merge.merge(paths, method=rule)
    harness.run_ok("mosaic", *paths, "-o", tmp_path / "out.tif", "--rule", rule, "--tile-size", 32)
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.transform == transform and file.nodata == nodata and file.crs.to_epsg() == 32632
        np.testing.assert_array_equal(file.read(), expected)


def test_the_mean_is_that_of_the_valid_pixels(tmp_path):
    paths = overlapping(tmp_path, "uint16", 1, 0)
    total, _ = rasterio.merge.merge(paths, method="sum", dtype="float64", nodata=0)
    number, _ = rasterio.merge.merge(paths, method="count", dtype="float64", nodata=0)
    expected = np.floor(np.divide(total, number, where=number > 0, out=np.zeros_like(total)) + 0.5).astype("uint16")
    harness.run_ok("mosaic", *paths, "-o", tmp_path / "out.tif", "--rule", "mean")
    np.testing.assert_array_equal(pixels_of(tmp_path / "out.tif"), expected)


@pytest.mark.parametrize("program", ("gdal_merge.py", "gdalbuildvrt"))
def test_pixels_are_those_of_gdal(tmp_path, program):
    if shutil.which(program) is None:
        pytest.skip(f"no {program}")
    paths = overlapping(tmp_path, "int16", 1, -9999)
    theirs = tmp_path / "theirs.tif"
    if program == "gdal_merge.py":
        subprocess.run([program, "-q", "-n", "-9999", "-a_nodata", "-9999", "-init", "-9999", "-o", theirs, *paths], check=True)
    else:
        subprocess.run([program, "-q", tmp_path / "all.vrt", *paths], check=True)
        subprocess.run(["gdal_translate", "-q", tmp_path / "all.vrt", theirs], check=True)
    # Both put the last file on top.
    harness.run_ok("mosaic", *paths, "-o", tmp_path / "out.tif", "--rule", "last")
    np.testing.assert_array_equal(pixels_of(tmp_path / "out.tif"), pixels_of(theirs))


def test_a_cog_is_valid_and_has_the_same_pixels(tmp_path):
    paths = overlapping(tmp_path, "float32", 1, -9999)
    harness.run_ok("mosaic", *paths, "-o", tmp_path / "plain.tif")
    harness.run_ok("mosaic", *paths, "-o", tmp_path / "cog.tif", "--cog", "--tile-size", 32, "--compression", "deflate")
    harness.run_ok("validate", tmp_path / "cog.tif", "--decode")
    np.testing.assert_array_equal(pixels_of(tmp_path / "cog.tif"), pixels_of(tmp_path / "plain.tif"))
    with rasterio.open(tmp_path / "cog.tif") as file:
        assert file.overviews(1)


def test_gaps_of_integers_are_zero_with_a_note_or_marked(tmp_path):
    a = write(tmp_path / "a.tif", np.full((1, 10, 10), 7, "uint8"), 0, 0)
    b = write(tmp_path / "b.tif", np.full((1, 10, 10), 9, "uint8"), 15, 5)
    out = tmp_path / "out.tif"
    result = harness.run_ok("mosaic", a, b, "-o", out)
    assert b"note" in result.stderr and b"--nodata or --mask" in result.stderr, str(result)
    array = pixels_of(out)
    assert array.shape == (1, 15, 25) and array[0, 14, 0] == 0 and array[0, 0, 0] == 7 and array[0, 14, 24] == 9
    result = harness.run_ok("mosaic", a, b, "-o", out, "--nodata", 255)
    assert result.stderr == b""
    assert pixels_of(out)[0, 14, 0] == 255
    harness.run_ok("mosaic", a, b, "-o", out, "--mask")
    with rasterio.open(out) as file:
        assert file.nodata is None
        np.testing.assert_array_equal(file.dataset_mask() != 0, array[0] != 0)
    # No gaps, no note.
    assert harness.run_ok("mosaic", a, "-o", out).stderr == b""


def test_floats_without_nodata_are_nan_in_gaps(tmp_path):
    array = np.ones((1, 4, 4), "float32")
    array[0, 1, 1] = np.nan
    a = write(tmp_path / "a.tif", array, 0, 0)
    b = write(tmp_path / "b.tif", np.full((1, 4, 4), 2, "float32"), 1, 6)
    c = write(tmp_path / "c.tif", np.full((1, 1, 1), 3, "float32"), 1, 1)
    harness.run_ok("mosaic", a, b, c, "-o", tmp_path / "out.tif")
    with rasterio.open(tmp_path / "out.tif") as file:
        assert np.isnan(file.nodata)
        found = file.read(1)
    assert found[1, 1] == 3 and np.isnan(found[4, 0]) and found[9, 4] == 2 and found[0, 0] == 1


def test_masks_and_alpha_let_others_show_through(tmp_path):
    rng = np.random.default_rng(5)
    top, below = (rng.integers(1, 255, (3, 40, 50), dtype="uint8") for _ in range(2))
    seen = rng.random((40, 50)) < 0.5
    expected = np.where(seen, top, below)
    expected[:, :, :9] = np.where(seen[:, :9], top[:, :, :9], 0)  # the file below begins at column 9
    a = write(tmp_path / "a.tif", top, 0, 0, mask=seen.astype("uint8") * 255)
    b = write(tmp_path / "b.tif", below[:, :, 9:], 9, 0)
    harness.run_ok("mosaic", a, b, "-o", tmp_path / "masked.tif")
    with rasterio.open(tmp_path / "masked.tif") as file:
        np.testing.assert_array_equal(file.read(), expected)
        assert file.nodata is None
        np.testing.assert_array_equal(file.dataset_mask() != 0, (expected != 0).any(axis=0))
    harness.run_ok("mosaic", a, b, "-o", tmp_path / "nodata.tif", "--nodata", 0)
    np.testing.assert_array_equal(pixels_of(tmp_path / "nodata.tif"), expected)
    # Alpha
    opaque = np.full((1, 40, 41), 255, "uint8")
    a = write(tmp_path / "aa.tif", np.concatenate([top, seen[None].astype("uint8") * 200]), 0, 0, alpha=True)
    b = write(tmp_path / "bb.tif", np.concatenate([below[:, :, 9:], opaque]), 9, 0, alpha=True)
    harness.run_ok("mosaic", a, b, "-o", tmp_path / "alpha.tif")
    found = pixels_of(tmp_path / "alpha.tif")
    np.testing.assert_array_equal(found[:3], expected)
    np.testing.assert_array_equal(found[3] == 0, (expected == 0).all(axis=0))
    np.testing.assert_array_equal(found[3][seen], 200)
    # Its colours alone, with the mask that alpha was.
    harness.run_ok("mosaic", a, b, "-o", tmp_path / "colors.tif", "--bands", "1-3", "--mask")
    np.testing.assert_array_equal(pixels_of(tmp_path / "colors.tif"), expected)


def test_different_nodata_values_become_one(tmp_path):
    a = write(tmp_path / "a.tif", np.array([[[1, -9999, 3]]], "int16"), 0, 0, nodata=-9999)
    b = write(tmp_path / "b.tif", np.array([[[5, 6, 7, 0]]], "int16"), 0, 0, nodata=0)
    result = harness.run_ok("mosaic", a, b, "-o", tmp_path / "out.tif")
    assert b"1 of 2 files" in result.stderr and b"-9999" in result.stderr, str(result)
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.nodata == -9999
        np.testing.assert_array_equal(file.read(1), [[1, 6, 3, -9999]])
    harness.run_ok("mosaic", a, b, "-o", tmp_path / "out.tif", "--nodata", 77)
    np.testing.assert_array_equal(pixels_of(tmp_path / "out.tif")[0], [[1, 6, 3, 77]])


def test_types_are_converted_on_request(tmp_path):
    a = write(tmp_path / "a.tif", np.array([[[1, 255]]], "uint8"), 0, 0, nodata=255)
    b = write(tmp_path / "b.tif", np.array([[[-3.4e38, 2.6, 1e9]]], "float32"), 1, 0, nodata=-3.4e38)
    assert "float32" in harness.run("mosaic", a, b, "-o", tmp_path / "out.tif", "--json").error()["message"]
    harness.run_ok("mosaic", a, b, "-o", tmp_path / "out.tif", "--dtype", "int16", "--nodata", -1)
    np.testing.assert_array_equal(pixels_of(tmp_path / "out.tif")[0], [[1, -1, 3, 32767]])


def test_files_are_snapped_to_the_grid_by_nearest(tmp_path):
    rng = np.random.default_rng(1)
    a = write(tmp_path / "a.tif", rng.integers(1, 255, (1, 20, 20), dtype="uint8"), 0, 0)
    shifted = rng.integers(1, 255, (1, 20, 20), dtype="uint8")
    b = write(tmp_path / "b.tif", shifted, 20.3, 0.4)
    fine = rng.integers(1, 255, (1, 40, 50), dtype="uint8")
    c = write(tmp_path / "c.tif", fine, 0, 20, pixel=PIXEL / 2.5)
    out = tmp_path / "out.tif"
    harness.run_ok("mosaic", a, b, c, "-o", out)
    with rasterio.open(out) as file:
        assert file.shape == (36, 40) and file.bounds.left == WEST and file.bounds.top == NORTH
        array = file.read(1)
    np.testing.assert_array_equal(array[:20, 20:], shifted[0])
    # The pixel under each centre: 2.5 pixels apart.
    at = np.floor((np.arange(20) + 0.5) * 2.5).astype(int)
    np.testing.assert_array_equal(array[20:, :20], fine[0][np.ix_(at[:16], at)])


def test_resolution_and_box(tmp_path):
    paths = overlapping(tmp_path, "uint8", 1, 0)
    out = tmp_path / "out.tif"
    box = (WEST + 255, NORTH - 1300, WEST + 1200, NORTH - 95)
    harness.run_ok("mosaic", *paths, "-o", out, "--bbox", ",".join(map(str, box)))
    harness.run_ok("mosaic", *paths, "-o", tmp_path / "whole.tif")
    with rasterio.open(out) as part, rasterio.open(tmp_path / "whole.tif") as whole:
        # All pixels that the box touches.
        assert part.bounds == (WEST + 250, NORTH - 1300, WEST + 1200, NORTH - 90)
        np.testing.assert_array_equal(part.read(), whole.read(window=whole.window(*part.bounds)))
    harness.run_ok("mosaic", *paths, "-o", out, "--target-resolution", "25,30")
    harness.run_ok("convert", tmp_path / "whole.tif", "-o", tmp_path / "theirs.tif", "--target-resolution", "25,30")
    with rasterio.open(out) as ours, rasterio.open(tmp_path / "theirs.tif") as theirs:
        assert ours.transform == theirs.transform and ours.shape == theirs.shape
        # Pixels whose centres lie beyond the last file differ: a file that ends there has none.
        np.testing.assert_array_equal(ours.read()[:, :-1, :-1], theirs.read()[:, :-1, :-1])
    # Outside of all files there are missing pixels.
    harness.run_ok("mosaic", paths[0], "-o", out, "--bbox", f"{WEST - 50},{NORTH - 20},{WEST + 20},{NORTH + 30}")
    array = pixels_of(out)[0]
    assert array.shape == (5, 7) and not array[:3].any() and not array[:, :5].any()
    np.testing.assert_array_equal(array[3:, 5:], pixels_of(paths[0])[0, :2, :2])
    lonlat = rasterio.warp.transform_bounds("EPSG:32632", "EPSG:4326", *box)
    harness.run_ok("mosaic", *paths, "-o", out, "--bbox", ",".join(map(str, lonlat)), "--bbox-crs", "EPSG:4326")
    with rasterio.open(out) as part:
        assert part.bounds.left <= box[0] and part.bounds.top >= box[3]


@pytest.mark.parametrize("profile, words", (
    ({"crs": "EPSG:32633"}, ("EPSG:32633", "EPSG:32632")),
    ({"crs": None}, ("no CRS", "EPSG:32632")),
    ({"dtype": "int16"}, ("int16", "uint8", "--dtype")),
    ({"count": 2}, ("bands", "--bands")),
    ({"transform": rasterio.Affine(7, 7, WEST, 7, -7, NORTH)}, ("rotated",)),
    ({"transform": rasterio.Affine(PIXEL, 0, WEST, 0, PIXEL, NORTH)}, ("mirrored",)),
))
def test_files_that_do_not_fit_are_refused_by_name(tmp_path, profile, words):
    a = write(tmp_path / "a.tif", np.ones((1, 4, 4), "uint8"), 0, 0)
    whole = {"driver": "GTiff", "width": 4, "height": 4, "count": 1, "dtype": "uint8", "crs": "EPSG:32632",
             "transform": from_origin(WEST, NORTH, PIXEL, PIXEL)} | profile
    with rasterio.open(tmp_path / "b.tif", "w", **whole) as out:
        out.write(np.ones((whole["count"], 4, 4), whole["dtype"]))
    result = harness.run("mosaic", a, tmp_path / "b.tif", "-o", tmp_path / "out.tif")
    assert result.code == harness.USAGE, str(result)
    message = result.stderr.decode()
    assert "b.tif" in message
    for word in words:
        assert word in message, message
    assert not (tmp_path / "out.tif").exists()


def test_one_crs_may_be_written_in_several_ways(tmp_path):
    a = write(tmp_path / "a.tif", np.ones((1, 4, 4), "uint8"), 0, 0)
    b = write(tmp_path / "b.tif", np.ones((1, 4, 4), "uint8"), 4, 0, crs="+proj=utm +zone=32 +datum=WGS84 +units=m")
    assert harness.run_json("mosaic", a, b, "-o", tmp_path / "out.tif", "--json")["width"] == 8


def test_bad_files_are_named_and_leave_the_output_alone(tmp_path):
    a = write(tmp_path / "a.tif", np.ones((1, 40, 40), "uint8"), 0, 0)
    out = tmp_path / "out.tif"
    out.write_bytes(b"old")
    (tmp_path / "text.tif").write_bytes(b"not a TIFF file")
    broken = write(tmp_path / "broken.tif", rasters.make("uint16", 1, 40, 40), 40, 0)
    with rasterio.open(broken) as file:
        size = os.path.getsize(broken)
        at = int(file.tags(ns="TIFF", bidx=1).get("BLOCK_OFFSET_0_0", size // 2))
    data = bytearray(broken.read_bytes())
    data[at + 20:at + 60] = b"\xff" * 40
    same_type = write(tmp_path / "c.tif", rasters.make("uint16", 1, 40, 40), 0, 0)
    broken.write_bytes(data)
    for files, code, name in (((a, tmp_path / "missing.tif"), harness.IO, "missing.tif"),
                              ((a, tmp_path / "text.tif"), harness.MALFORMED, "text.tif"),
                              ((same_type, broken), harness.MALFORMED, "broken.tif")):
        result = harness.run("mosaic", *files, "-o", out, "--json")
        assert result.code == code, str(result)
        assert result.error()["file"].endswith(name)
    assert out.read_bytes() == b"old"
    report = harness.run_json("mosaic", same_type, broken, "-o", out, "--json", "--fill-bad")
    assert report["bad_tiles"]


def write_tiny(path, array, column, row):
    """A classic TIFF of one strip of uint32, in microseconds instead of GDAL's milliseconds."""
    height, width = array.shape
    values = (struct.pack("<3d", PIXEL, PIXEL, 0), struct.pack("<6d", 0, 0, 0, WEST + column * PIXEL, NORTH - row * PIXEL, 0),
              struct.pack("<12H", 1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 32632), array.astype("<u4").tobytes())
    starts = [8 + 2 + 12 * 13 + 4]
    for value in values:
        starts.append(starts[-1] + len(value))
    tags = ((256, 3, 1, width), (257, 3, 1, height), (258, 3, 1, 32), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, starts[3]),
            (277, 3, 1, 1), (278, 3, 1, height), (279, 4, 1, len(values[3])), (339, 3, 1, 1), (33550, 12, 3, starts[0]),
            (33922, 12, 6, starts[1]), (34735, 3, 12, starts[2]))
    head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4)
    path.write_bytes(head + b"".join(values))


def tiny_tiles(folder, columns, rows):
    """Files of 4 x 4 pixels in a grid, and the mosaic."""
    whole = np.arange(16 * columns * rows, dtype="uint32").reshape(1, rows * 4, columns * 4)
    for row in range(rows):
        for column in range(columns):
            write_tiny(folder / f"{row:03}_{column:03}.tif", whole[0, row * 4:row * 4 + 4, column * 4:column * 4 + 4],
                       column * 4, row * 4)
    return whole


def test_ten_thousand_files_with_few_descriptors(tmp_path):
    folder = tmp_path / "tiles"
    folder.mkdir()
    whole = tiny_tiles(folder, 100, 100)
    names = tmp_path / "names.txt"
    names.write_text("".join(f"{path}\n" for path in sorted(folder.iterdir())))
    out = tmp_path / "out.tif"
    result = harness.run("-c", f"ulimit -n 64; exec {harness.BINARY} mosaic --inputs-from {names} -o {out} --cog --json",
                         binary="/bin/sh", timeout=120)
    assert result.code == harness.OK, str(result)
    assert result.json()["inputs"] == 10_000 and not result.json()["gaps"]
    np.testing.assert_array_equal(pixels_of(out), whole)
    # The folder says the same; an output in it is no input of the next run.
    for _ in range(2):
        report = harness.run_json("mosaic", folder, "-o", folder / "all.tif", "--json", "--tile-size", 16)
        assert report["inputs"] == 10_000
    np.testing.assert_array_equal(pixels_of(folder / "all.tif"), whole)


def test_shades_of_masks_become_valid(tmp_path):
    paths = [write(tmp_path / f"{name}.tif", np.ones((1, 4, 4), "uint8"), x, 0) for name, x in (("a", 0), ("b", 4))]
    for path in paths:
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False), rasterio.open(path, "r+") as file:
            file.write_mask(np.array([[0, 1, 128, 255]] * 4, "uint8"))
    assert (tmp_path / "a.tif.msk").exists(), "8 bits, unlike an internal mask"
    out = tmp_path / "out.tif"
    harness.run_ok("mosaic", *paths, "-o", out)
    with rasterio.open(out) as file:
        assert file.read_masks(1).tolist() == [[0, 255, 255, 255] * 2] * 4


def test_names_of_files_and_outputs(tmp_path):
    a = write(tmp_path / "a.tif", np.ones((1, 4, 4), "uint8"), 0, 0)
    out = tmp_path / "out.tif"
    assert b"--inputs-from" in harness.run("mosaic", "-o", out).stderr
    assert harness.run("mosaic", a, "-o", a).code == harness.USAGE
    assert b'--bbox "1": expected XMIN,YMIN,XMAX,YMAX' in harness.run("mosaic", a, "--bbox", 1, 2, 3, 4, "-o", out).stderr
    assert harness.run("mosaic", a, "-o", tmp_path / "out.png").code == harness.USAGE
    assert harness.run("mosaic", tmp_path / "*.jp2", "-o", out).code == harness.USAGE
    assert harness.run("mosaic", "--inputs-from", tmp_path / "none.txt", "-o", out).code == harness.IO
    (tmp_path / "names.txt").write_text(f"{a}\n")
    harness.run_ok("mosaic", "--inputs-from", "-", "-o", out, stdin=tmp_path / "names.txt")
    assert harness.run("mosaic", a, "-o", out, "--no-clobber").code == harness.USAGE
    piped = harness.run_ok("mosaic", a, "-o", "-")
    assert piped.stdout == out.read_bytes()


def test_memory_is_bounded(tmp_path):
    """Twelve files of 8 MiB that overlap their neighbours, in a limit of 48 MiB."""
    paths = [write(tmp_path / f"{i}.tif", np.full((1, 1024, 4096), i, "uint16"), i % 4 * 3000, i // 4 * 900, tiled=False)
             for i in range(12)]
    out = tmp_path / "out.tif"
    result = harness.run("mosaic", *paths, "-o", out, "--memory-limit", "48M", "--tile-size", 128, "--buffer", "16M", "--json",
                         "--threads", 2, env={"TERRAZZO_TILE_CACHE": "0"})
    assert result.code == harness.OK, str(result)
    assert result.peak_rss_bytes < 160 << 20, f"{result.peak_rss_bytes >> 20} MiB"
    array = pixels_of(out)
    assert array[0, 0, 0] == 0 and array[0, -1, -1] == 11
    refused = harness.run("mosaic", *paths, "-o", out, "--memory-limit", "1M", "--json")
    assert refused.code == harness.LIMIT, str(refused)


def test_an_interrupt_leaves_no_file(tmp_path):
    paths = [write(tmp_path / f"{i}.tif", np.full((1, 2048, 2048), i, "uint16"), i * 2048, 0, tiled=False) for i in range(4)]
    process = subprocess.Popen([harness.BINARY, "mosaic", *paths, "-o", tmp_path / "out.tif", "--compression", "lzma",
                                "--compression-level", "9", "--tile-size", "16", "--threads", "1"], stderr=subprocess.DEVNULL)
    ends = time.monotonic() + 30
    while len(list(tmp_path.iterdir())) == len(paths) and time.monotonic() < ends:
        time.sleep(0.005)  # until it writes
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == harness.CANCELLED
    assert sorted(tmp_path.iterdir()) == sorted(paths)


@pytest.mark.parametrize("rule", ("first", "min", "max", "mean"))
def test_missing_values_beside_a_mask_let_others_show_through(tmp_path, rule):
    """A pixel is missing if the mask hides it, and also if it has the nodata value or NaN."""
    seen = np.array([[255, 255, 0, 255]], "uint8")
    for dtype, missing, nodata in (("float32", np.nan, None), ("float32", np.nan, -9999), ("int16", -9999, -9999)):
        a = write(tmp_path / "a.tif", np.array([[[2, missing, 4, missing]]], dtype), 0, 0, nodata=nodata, mask=seen)
        b = write(tmp_path / "b.tif", np.array([[[2, 6, 7]]], dtype), 0, 0, nodata=nodata)
        out = tmp_path / "out.tif"
        harness.run_ok("mosaic", a, b, "-o", out, "--rule", rule)
        with rasterio.open(out) as file:
            assert file.read(1)[0, :3].tolist() == [2, 6, 7], (dtype, nodata)
            assert file.read_masks(1)[0].tolist() == [255, 255, 255, 0], (dtype, nodata)


@pytest.mark.parametrize("dtype", ("int16", "float32"))
def test_a_valid_value_that_is_the_nodata_value_of_the_mosaic(tmp_path, dtype):
    """The file's own nodata value decides, for every type; a note names the file whose values are lost."""
    a = write(tmp_path / "a.tif", np.full((1, 4, 4), 3, dtype), 0, 0)
    b = write(tmp_path / "b.tif", np.full((1, 4, 4), 5, dtype), 0, 0, nodata=3)
    out = tmp_path / "out.tif"
    for files in ((a, b), (a, write(tmp_path / "c.tif", np.full((1, 4, 4), 5, dtype), 4, 0, nodata=3))):
        result = harness.run_ok("mosaic", *files, "-o", out)
        with rasterio.open(out) as file:
            assert file.nodata == 3 and (file.read(1)[:, :4] == 3).all()
        notes = result.stderr.decode().splitlines()
        assert len(notes) == 1 and "a.tif" in notes[0] and "equal 3, the nodata value" in notes[0], str(result)
    result = harness.run_ok("mosaic", a, b, "-o", out, "--nodata", 7)
    assert "a.tif" not in result.stderr.decode() and (pixels_of(out) == 3).all()
