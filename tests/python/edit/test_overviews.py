# SPDX-License-Identifier: Apache-2.0
"""`terrazzo overviews` against gdaladdo: the same pixels, readable by GDAL, and a file that survives being stopped."""

import shutil
import signal
import subprocess
import time

import harness
import numpy as np
import pytest
import rasterio
import tifffile
from rasterio.enums import ColorInterp, Resampling
from rasterio.windows import Window


def make(path, width=1025, height=517, dtype="uint16", bands=1, nodata=None, seed=0, **profile):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        pixels = rng.normal(500, 200, (bands, height, width)).astype(dtype)
    else:
        pixels = rng.integers(0, 200, (bands, height, width)).astype(dtype)
    if nodata is not None:
        pixels[rng.random(pixels.shape) < 0.2] = nodata
        pixels[:, 20:90, 30:120] = nodata
    profile = {"driver": "GTiff", "width": width, "height": height, "count": bands, "dtype": dtype, "nodata": nodata,
               "crs": "EPSG:32633", "transform": rasterio.transform.from_origin(5e5, 5e6, 10, 10), **profile}
    with rasterio.open(path, "w", **profile) as out:
        out.write(pixels)
    return path


def levels(path, band=1):
    """{factor: pixels} of all overviews, as GDAL reads them."""
    with rasterio.open(path) as source:
        factors = source.overviews(band)
    found = {}
    for i, factor in enumerate(factors):
        with rasterio.open(path, overview_level=i) as level:
            found[factor] = (level.read(), level.dataset_mask())
    return found


def with_gdal(path, factors, method, external=False):
    copy = path.with_name("gdal_" + path.name)
    shutil.copy(path, copy)
    if external:
        # Uncompressed and band by band, GDAL makes each nearest overview of a small raster from the raster itself instead
        # of from the one before it, as everywhere else; at odd sizes that gives other pixels.
        subprocess.run(["gdaladdo", "-q", "-ro", "-r", method, "--config", "COMPRESS_OVERVIEW", "DEFLATE", "--config",
                        "INTERLEAVE_OVERVIEW", "PIXEL", copy, *map(str, factors)], check=True)
    else:
        with rasterio.open(copy, "r+") as target:
            target.build_overviews(factors, Resampling[method])
    return copy


def assert_same_levels(path, expected):
    ours, theirs = levels(path), levels(expected)
    assert list(ours) == list(theirs)
    for factor in theirs:
        np.testing.assert_array_equal(ours[factor][0], theirs[factor][0], err_msg=f"factor {factor}")
        np.testing.assert_array_equal(ours[factor][1], theirs[factor][1], err_msg=f"mask of factor {factor}")


@pytest.mark.parametrize(("external", "factors"), [(False, [[2, 4]]), (True, [[2, 4]]), (True, [[4], [2]]),
                                                   (True, [[8], [2], [4]]), (True, [[4], [8], [2]])])
def test_target_sizes_are_read_from_the_overview_that_gdal_takes(tmp_path, external, factors):
    path = make(tmp_path / "a.tif", width=120, height=90, tiled=True, blockxsize=16, blockysize=16)
    for some in factors:  # each goes behind those before, whatever its size
        with rasterio.Env(TIFF_USE_OVR=external), rasterio.open(path, "r+") as target:
            target.build_overviews(some, Resampling.nearest)
    assert (tmp_path / "a.tif.ovr").exists() == external
    rng = np.random.default_rng(5)
    asked = [(0, 0, 120, 90, 38, 28), (36, 1, 28, 41, 7, 13)]  # an .ovr file gives other pixels than overviews inside
    for _ in range(30):
        width, height = rng.integers(20, 120), rng.integers(20, 90)
        factor = rng.uniform(1.2, 5)
        asked.append((rng.integers(0, 120 - width + 1), rng.integers(0, 90 - height + 1), width, height,
                      max(1, round(width / factor)), max(1, round(height / factor))))
    with rasterio.open(path) as source:
        for column, row, width, height, across, down in (map(int, one) for one in asked):
            expected = source.read(1, window=Window(column, row, width, height), out_shape=(down, across))
            harness.run_ok("read", path, "--window", f"{column},{row},{width},{height}", "--target-size",
                           f"{across},{down}", "-o", tmp_path / "a.npy")
            np.testing.assert_array_equal(np.load(tmp_path / "a.npy").reshape(down, across), expected)


def test_target_size_has_the_type_of_the_raster_whatever_the_overview_has(tmp_path):
    path = make(tmp_path / "a.tif", width=60, height=40, dtype="uint8")
    tifffile.imwrite(tmp_path / "a.tif.ovr", np.arange(600, dtype=np.uint16).reshape(20, 30), subfiletype=1)
    with rasterio.open(path) as source:
        expected = source.read(1, out_shape=(20, 30))
    for size, dtype in (("60,40", "uint8"), ("30,20", "uint8")):
        harness.run_ok("read", path, "--target-size", size, "-o", tmp_path / "a.npy")
        assert np.load(tmp_path / "a.npy").dtype == dtype
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy")[0], expected)
    harness.run_ok("read", path, "--level", "1", "-o", tmp_path / "a.npy")
    assert np.load(tmp_path / "a.npy").dtype == "uint16"  # the type of the existing overview


@pytest.mark.parametrize("method", ["nearest", "average"])
@pytest.mark.parametrize("external", [False, True])
@pytest.mark.parametrize("kind", ["uint8", "uint16 nodata", "float32 nodata", "rgb", "rgba", "separate", "strips", "bigtiff"])
def test_pixels_are_those_of_gdaladdo(tmp_path, kind, external, method):
    path = {
        "uint8": lambda p: make(p, dtype="uint8", tiled=True, blockxsize=128, blockysize=128, compress="deflate"),
        "uint16 nodata": lambda p: make(p, nodata=7, compress="lzw", predictor=2),
        "float32 nodata": lambda p: make(p, dtype="float32", nodata=-9999, tiled=True, compress="zstd"),
        "rgb": lambda p: make(p, dtype="uint8", bands=3, photometric="rgb"),
        "rgba": lambda p: make(p, dtype="uint8", bands=4, photometric="rgb", alpha="yes"),
        "separate": lambda p: make(p, bands=3, interleave="band", tiled=True, compress="deflate"),
        "strips": lambda p: make(p, width=999, height=1001, dtype="int16"),
        "bigtiff": lambda p: make(p, bigtiff="yes", compress="deflate"),
    }[kind](tmp_path / "a.tif")
    # The same exception of GDAL's as above holds for files that store bands apart.
    factors = [2] if kind == "separate" and not external and method == "nearest" else [2, 4, 8]
    expected = with_gdal(path, factors, method, external)
    arguments = ["--external"] if external else []
    answer = harness.run_json("overviews", path, "--factors", ",".join(map(str, factors)), "--resampling", method,
                              "--json", *arguments)
    assert [o["external"] for o in answer["overviews"]] == [external] * len(factors)
    assert (tmp_path / "a.tif.ovr").exists() == external
    assert_same_levels(path, expected)
    with rasterio.open(path) as ours, rasterio.open(expected) as theirs:
        assert np.array_equal(ours.read(), theirs.read())
        assert ours.crs == theirs.crs and ours.transform == theirs.transform


def test_masks_get_overviews_too(tmp_path):
    path = tmp_path / "a.tif"
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        make(path, tiled=True)
        with rasterio.open(path, "r+") as target:
            mask = np.full((517, 1025), 255, np.uint8)
            mask[100:300, 200:700] = 0
            mask[::7, ::5] = 0
            target.write_mask(mask)
        expected = with_gdal(path, [2, 4], "average")
    harness.run_ok("overviews", path, "--factors", "2,4", "--resampling", "average")
    assert_same_levels(path, expected)


@pytest.mark.parametrize("extra", [{"nodata": 3}, {"mask": True}, {}])
@pytest.mark.parametrize("colors", ["red,green,blue,alpha", "gray,alpha", "gray,alpha,undefined", "alpha,gray",
                                    "red,green,blue,undefined,alpha"])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32"])
def test_alpha_is_reduced_over_itself_as_by_gdaladdo(tmp_path, dtype, colors, extra):
    path, colors = tmp_path / "a.tif", colors.split(",")
    rng = np.random.default_rng(4)
    pixels = (rng.integers(0, 9, (len(colors), 64, 40)) * (rng.random((len(colors), 64, 40)) > 0.4)).astype(dtype)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        with rasterio.open(path, "w", driver="GTiff", width=40, height=64, count=len(colors), dtype=dtype, tiled=True,
                           blockxsize=64, blockysize=64, compress="deflate", nodata=extra.get("nodata"),
                           photometric="rgb" if colors[0] == "red" else "minisblack") as out:
            out.colorinterp = [ColorInterp[name] for name in colors]
            out.write(pixels)
            if "mask" in extra:
                out.write_mask(rng.random((64, 40)) > 0.5)
        expected = with_gdal(path, [2, 4], "average")
    harness.run_ok("overviews", path, "--factors", "2,4", "--resampling", "average")
    assert_same_levels(path, expected)


@pytest.mark.parametrize("side, factors, sizes", [(1, "2", [1]), (2, "4", [1]), (3, "8", [1]), (3, "2,4", [2, 1]),
                                                  (5, "64", [1])])
def test_one_level_of_one_pixel_is_made(tmp_path, side, factors, sizes):
    path = make(tmp_path / "a.tif", width=side, height=side)
    made = {command: tmp_path / f"{command}.tif" for command in ("convert", "cog")}
    for command, out in made.items():
        harness.run_ok(command, path, "-o", out, "--overviews", factors, "--resampling", "average")
    # GDAL 3.12 leaves the one pixel at 0 if a smaller factor would have made it, so GDAL gets the smaller factor.
    enough = max(2, 1 << (side - 1).bit_length())
    expected = with_gdal(path, [min(int(factor), enough) for factor in factors.split(",")], "average")
    harness.run_ok("overviews", path, "--factors", factors, "--resampling", "average")
    for out in (path, *made.values()):
        info = harness.run_json("info", out, "--json")
        assert [overview["width"] for overview in info["overviews"]] == sizes
        assert_same_levels(out, expected)
    result = harness.run("overviews", path, "--factors", f"{factors},1000")
    assert result.code == harness.USAGE and b"one pixel already" in result.stderr, str(result)


# The remedies are options of commands that make the file: this one has no --mask and no --bands.
@pytest.mark.parametrize("place", ([], ["--external"]))
def test_a_note_of_lossy_alpha_names_no_options_that_are_not_there(place, tmp_path):
    path = make(tmp_path / "a.tif", width=100, height=80, dtype="uint8", bands=4, photometric="RGB", alpha="YES",
                compress="jpeg")
    told = harness.run_ok("overviews", path, "--factors", "2", *place).stderr
    assert b"jpeg is lossy, in alpha too" in told and b"--" not in told, told
    # No note about a codec that is not used.
    assert not harness.run_ok("overviews", path, "--factors", "2", "--compression", "deflate", *place).stderr
    harness.run_ok("overviews", path, "--factors", "none", *place)
    path = make(tmp_path / "b.tif", width=100, height=80, dtype="uint8", nodata=7, compress="jpeg")
    told = harness.run_ok("overviews", path, "--factors", "2", *place).stderr
    assert b"around nodata (7)" in told and b"--" not in told, told


def test_automatic_factors_are_gdals(tmp_path):
    path = make(tmp_path / "a.tif", width=2300, height=900)
    expected = tmp_path / "b.tif"
    shutil.copy(path, expected)
    subprocess.run(["gdaladdo", "-q", expected], check=True)
    harness.run_ok("overviews", path, "--resampling", "nearest")
    assert_same_levels(path, expected)


def test_overviews_are_replaced_kept_and_removed(tmp_path):
    path = make(tmp_path / "a.tif")
    harness.run_ok("overviews", path, "--factors", "2,4")
    assert list(levels(path)) == [2, 4]
    harness.run_ok("overviews", path, "--factors", "4,8", "--keep")
    assert list(levels(path)) == [2, 4, 8]
    harness.run_ok("overviews", path, "--factors", "3")
    assert list(levels(path)) == [3]
    harness.run_ok("overviews", path, "--factors", "none")
    assert list(levels(path)) == []
    harness.run_ok("overviews", path, "--factors", "2", "--external")
    harness.run_ok("overviews", path, "--factors", "8", "--external", "--keep")
    assert list(levels(path)) == [2, 8]
    harness.run_ok("overviews", path, "--factors", "none", "--external")
    assert list(levels(path)) == [] and not (tmp_path / "a.tif.ovr").exists()


def test_directories_between_old_overviews_stay(tmp_path):
    """GDAL adds a mask behind overviews: raster, overview, mask."""
    path = make(tmp_path / "a.tif")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        with rasterio.open(path, "r+") as target:
            target.build_overviews([2], Resampling.nearest)
        with rasterio.open(path, "r+") as target:
            mask = np.full((517, 1025), 255, np.uint8)
            mask[:50] = 0
            target.write_mask(mask)
    harness.run_ok("overviews", path, "--factors", "4")
    with rasterio.open(path) as source:
        assert np.array_equal(source.dataset_mask(), mask)
        assert source.overviews(1) == [4]


def test_a_cog_takes_its_promise_back(tmp_path):
    path = tmp_path / "cog.tif"
    harness.run_ok("cog", make(tmp_path / "a.tif"), "-o", path)
    result = harness.run_ok("overviews", path, "--factors", "2,4")
    assert b"is no longer a COG" in result.stderr
    assert b"KNOWN_INCOMPATIBLE_EDITION=YES\n" in path.read_bytes()[:400]
    with rasterio.open(path) as source:
        assert source.overviews(1) == [2, 4]
        assert source.tags(ns="IMAGE_STRUCTURE").get("LAYOUT") != "COG"
    assert harness.run_json("info", path, "--json")["layout"]["cog"] is False


def test_an_ovr_that_nobody_looks_at_can_be_removed(tmp_path):
    path = make(tmp_path / "a.tif")
    harness.run_ok("overviews", path, "--factors", "2", "--external")
    assert b"a.tif.ovr is now ignored by readers" in harness.run_ok("overviews", path, "--factors", "4").stderr
    refused = harness.run("overviews", path, "--factors", "8", "--external")
    assert refused.code == harness.USAGE and b"without --external" in refused.stderr, str(refused)
    harness.run_ok("overviews", path, "--factors", "none", "--external")
    assert not (tmp_path / "a.tif.ovr").exists() and list(levels(path)) == [4]


def test_a_cog_with_overviews_beside_it_is_told_to_be_none(tmp_path):
    path = tmp_path / "cog.tif"
    harness.run_ok("cog", make(tmp_path / "a.tif"), "-o", path, "--overviews", "none")
    before = path.read_bytes()
    result = harness.run_ok("overviews", path, "--factors", "2", "--external")
    assert b"is no longer a COG" in result.stderr and b"terrazzo cog" in result.stderr
    assert path.read_bytes() == before
    assert harness.run_json("overviews", path, "--factors", "2", "--external", "--json")["no_longer_cog"] is True


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    path = make(tmp_path / "a.tif")
    (tmp_path / "a.tif.ovr").mkdir()
    result = harness.run("overviews", path, "--factors", "2", "--external")
    assert result.code == harness.USAGE and b"a.tif.ovr: cannot write" in result.stderr, str(result)


def test_what_cannot_be_done_is_said_and_changes_nothing(tmp_path):
    path = make(tmp_path / "a.tif", ENDIANNESS="BIG")
    before = path.read_bytes()
    assert harness.run("overviews", path).code == harness.UNSUPPORTED
    assert harness.run("overviews", path, "--factors", "4,2", "--external").code == harness.USAGE
    assert harness.run("overviews", tmp_path / "none.tif").code == harness.IO
    assert path.read_bytes() == before
    harness.run_ok("overviews", path, "--external", "--factors", "2")
    harness.run_ok("convert", path, "-o", tmp_path / "b.tif", "--overviews", "2")
    assert harness.run("overviews", tmp_path / "b.tif", "--external").code == harness.USAGE
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tif", "a.tif.ovr", "b.tif"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_old_file_survives_being_stopped(tmp_path, how):
    path = make(tmp_path / "a.tif", width=4000, height=4000, compress="deflate", tiled=True, zlevel=1)
    with rasterio.open(path) as source:
        pixels = source.read()
    size = path.stat().st_size
    for delay in (0.05, 0.15, 0.3):
        process = subprocess.Popen([harness.BINARY, "overviews", path, "--factors", "2,4,8", "--compression-level", "9"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(how)
        process.wait(20)
        with rasterio.open(path) as source:
            assert source.overviews(1) in ([], [2, 4, 8])
            finished = source.overviews(1) != []
            assert np.array_equal(source.read(), pixels)
        if how == signal.SIGINT and not finished:
            assert path.stat().st_size == size
        if finished:
            break
    harness.run_ok("overviews", path, "--factors", "2")
    assert list(levels(path)) == [2]


def test_without_factors_a_small_raster_keeps_what_it_has(tmp_path):
    path = make(tmp_path / "a.tif", width=200, height=100)
    for place in ([], ["--external"]):
        harness.run_ok("overviews", path, "--factors", "2", *place)
        assert list(levels(path)) == [2]
        harness.run_ok("overviews", path, *place)
        assert list(levels(path)) == [2]
        harness.run_ok("overviews", path, "--factors", "none", *place)
        assert list(levels(path)) == []


def test_a_file_that_ends_inside_its_last_link_is_refused(tmp_path):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((64, 64), np.uint8), metadata=None, software=False)
    tiff = bytearray(path.read_bytes())
    # The directory again, at the end: its link is all that follows.
    at = int.from_bytes(tiff[4:8], "little")
    directory = tiff[at:at + 2 + 12 * int.from_bytes(tiff[at:at + 2], "little")]
    tiff += bytes(len(tiff) % 2)
    tiff[4:8] = len(tiff).to_bytes(4, "little")
    path.write_bytes(tiff + directory + bytes(2))
    before = path.read_bytes()
    result = harness.run("overviews", path, "--factors", "2", "--json")
    assert result.code == harness.MALFORMED and result.error()["ifd"] == 0
    assert path.read_bytes() == before


def test_a_cut_file_gets_overviews_beside_it_only(tmp_path):
    path = make(tmp_path / "a.tif", tiled=True, blockxsize=64, blockysize=64)
    cut = path.read_bytes()
    cut = cut[:len(cut) // 2]
    path.write_bytes(cut)
    result = harness.run("overviews", path, "--factors", "2", "--fill-bad", "--json")
    assert result.code == harness.MALFORMED and result.error()["ifd"] == 0 and result.error()["tile"], str(result)
    assert path.read_bytes() == cut
    assert harness.run("read", path, "--raw", "--out", tmp_path / "pixels").code == harness.MALFORMED
    assert harness.run_json("overviews", path, "--factors", "2", "--external", "--fill-bad", "--json")["bad_tiles"]
    assert path.read_bytes() == cut and (tmp_path / "a.tif.ovr").exists()
