# SPDX-License-Identifier: Apache-2.0
"""`terrazzo convert` and `terrazzo cog` over their options: pixels, overviews, masks and metadata as GDAL, tifffile and
Terrazzo itself read them back; COGs by both validators."""

import harness
import numpy as np
import pytest
import rasterio
import rasters
import tifffile
from pairwise import all_pairs, product
from pixels import COMPLEX, FLOATS, INTEGERS, LERC_TYPES, SIZES, assert_same, for_lerc, name_of, read_gdal
from verdicts import gdal_verdicts, our_verdicts

WITH_PREDICTOR = ("lzw", "deflate", "zstd", "lzma")
BLOCKS = {
    "tiles-16": ("--tile-size", "16"),
    "tiles-64x32": ("--tile-size", "64x32"),
    "tiles-128": ("--tile-size", "128"),
    "strips-of-1": ("--strips", "1"),
    "strips-of-24": ("--strips", "24"),
    "one-strip": ("--strips", "100000"),
}
# What marks missing pixels. "nan-to-value": the source has NaN, the file has a number.
NODATA = ("none", "value", "nan", "nan-to-value")

AXES = {
    "command": ("convert", "cog"),
    "compression": ("none", "packbits", "lzw", "deflate", "zstd", "lerc", "lerc-deflate", "lerc-zstd", "jpeg",
                    "jpeg2000", "webp", "lzma", "lz4"),
    "predictor": ("auto", "none", "2", "3"),
    "dtype": INTEGERS + FLOATS + COMPLEX,
    "bands": (1, 2, 3, 4, 7),
    "interleave": ("pixel", "band"),
    "blocks": tuple(BLOCKS),
    "size": tuple(SIZES),
    "bigtiff": ("auto", "yes"),
    "nodata": NODATA,
    "mask": (False, True),
    "overviews": ("default", "none", "2,4,8", "3"),
    "sparse": (False, True),
    "statistics": (False, True),
    "threads": (1, 3),
}


def valid(case):
    codec, dtype, bands, height = case["compression"], case["dtype"], case["bands"], SIZES[case["size"]][0]
    if case["predictor"] in ("2", "3") and codec not in WITH_PREDICTOR:
        return False
    if case["predictor"] == "2" and dtype in COMPLEX:
        return False
    if case["predictor"] == "3" and dtype not in FLOATS:
        return False
    if codec.startswith("lerc") and dtype not in LERC_TYPES:
        return False
    if codec == "jpeg" and (dtype != "uint8" or (bands > 4 and case["interleave"] == "pixel")):
        return False
    if codec == "webp" and (dtype != "uint8" or bands not in (3, 4) or case["interleave"] != "pixel"):
        return False
    if codec == "jpeg2000" and (dtype not in ("uint8", "int8", "uint16", "int16") or bands > 4):
        return False
    if case["blocks"].startswith(("strips", "one")) and case["command"] == "cog":
        return False
    if case["nodata"].startswith("nan") and dtype not in FLOATS:
        return False
    if case["nodata"] == "value" and dtype in COMPLEX:
        return False
    if case["mask"] and case["nodata"] != "none":
        return False
    if case["overviews"] not in ("default", "none"):
        return min(SIZES[case["size"]]) >= 37 and dtype not in COMPLEX
    return height > 0


def cases():
    if harness.FULL:
        axes = {**AXES, "bands": (3,), "size": ("large",), "bigtiff": ("auto",), "threads": (3,), "statistics": (True,),
                "nodata": ("none", "nan-to-value"), "mask": (False,), "overviews": ("default",), "sparse": (False,),
                "blocks": ("tiles-64x32", "strips-of-24")}
        return list(product(axes, valid))
    return all_pairs(AXES, valid, limit=260)


def write_source(path, array, dtype, **extra):
    """An uncompressed GeoTIFF by GDAL."""
    profile = {"driver": "GTiff", "width": array.shape[2], "height": array.shape[1], "count": array.shape[0],
               "dtype": dtype, "crs": "EPSG:32632", "transform": rasterio.Affine(10, 0, 5e5, 0, -10, 5e6), **extra}
    with rasterio.open(path, "w", **profile) as out:
        out.write(array)
        return out


def make_pixels(case):
    """The pixels of the source, and those the file should have."""
    height, width = SIZES[case["size"]]
    array = rasters.make(case["dtype"], case["bands"], height, width)
    if case["compression"].startswith("lerc"):
        array = for_lerc(array)
    if case["sparse"]:
        array[:, : height // 2 + 1] = 0
    expected = array
    if case["nodata"].startswith("nan"):
        array[:, ::5, ::3] = np.nan
        expected = array
    if case["nodata"] == "nan-to-value":
        expected = np.where(np.isnan(array), np.array(-99, array.dtype), array)
    return array, expected


def nodata_text(case):
    return {"none": None, "value": "7", "nan": "nan", "nan-to-value": "-99"}[case["nodata"]]


def arguments(case):
    options = ["--compression", case["compression"], "--predictor", case["predictor"], *BLOCKS[case["blocks"]],
               "--interleave", case["interleave"], "--bigtiff", case["bigtiff"], "--threads", case["threads"]]
    if case["overviews"] != "default":
        options += ["--overviews", case["overviews"]]
    if case["nodata"] != "none":
        options += ["--nodata", nodata_text(case)]
    options += ["--sparse"] if case["sparse"] else []
    options += ["--statistics"] if case["statistics"] else []
    return options


def convert(case, folder):
    """Source and result; pixels that the result should have; the source's mask or None."""
    array, expected = make_pixels(case)
    source, out = folder / "source.tif", folder / "out.tif"
    mask = None
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        write_source(source, array, case["dtype"])
        if case["mask"]:
            mask = np.full(array.shape[1:], 255, np.uint8)
            mask[::3, 1::2] = 0
            with rasterio.open(source, "r+") as file:
                file.write_mask(mask)
    harness.run_ok(case["command"], source, "-o", out, "--quiet", *arguments(case))
    return source, out, expected, mask


def read_overview(path, level):
    with rasterio.open(path, overview_level=level) as file:
        return file.read()


# GDAL 3.12 as rasterio ships it has no codec for these inside TIFF.
NOT_IN_GDAL = ("jpeg2000", "lz4")
LOSSY = ("jpeg",)


def check_pixels(case, out, expected, folder):
    ours = harness.read(out, folder=folder)
    if case["compression"] not in LOSSY:
        assert_same(ours, rasters.as_pairs(expected, np.int16) if case["dtype"] == "complex_int16" else expected)
    if case["compression"] not in NOT_IN_GDAL:
        assert_same(ours, read_gdal(out))
    if case["compression"] not in (*LOSSY, "lz4") and not case["sparse"]:
        theirs = tifffile.imread(out, key=0)
        theirs = theirs.reshape(expected.shape if case["interleave"] == "band" and case["bands"] > 1 else
                                (*expected.shape[1:], -1))
        if not (case["interleave"] == "band" and case["bands"] > 1):
            theirs = np.moveaxis(theirs, -1, 0)
        # It makes 0 of pixels that LERC leaves out.
        left_out = case["compression"].startswith("lerc") and np.isnan(expected).any()
        if case["dtype"] != "complex_int16" and not left_out:
            assert_same(np.ascontiguousarray(theirs), expected)


def check_description(case, source, out, mask):
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.crs == b.crs and a.transform == b.transform
        assert a.dtypes == b.dtypes and a.shape == b.shape and a.count == b.count
        assert b.profile["interleave"] == (case["interleave"] if case["bands"] > 1 else b.profile["interleave"])
        nodata = nodata_text(case)
        assert (b.nodata is None) if nodata is None else (str(b.nodata).rstrip("0").rstrip(".") == nodata)
        if case["blocks"].startswith("tiles"):
            width, _, height = BLOCKS[case["blocks"]][1].partition("x")
            assert b.block_shapes[0] == (int(height or width), int(width))
        if mask is not None:
            np.testing.assert_array_equal(b.read_masks(1), mask)
            assert b.mask_flag_enums[0] == [rasterio.enums.MaskFlags.per_dataset]
        levels = case["overviews"]
        if levels in ("none", "default"):
            if levels == "none" or case["command"] == "convert":
                assert b.overviews(1) == []
        else:
            assert len(b.overviews(1)) == len(levels.split(","))


def check_statistics(case, out, expected, mask):
    if not case["statistics"] or case["dtype"] in COMPLEX or case["compression"] in (*LOSSY, *NOT_IN_GDAL):
        return
    with rasterio.open(out) as file:
        for band in range(case["bands"]):
            values = expected[band].astype(np.longdouble)
            keep = np.ones(values.shape, bool) if mask is None else mask != 0
            keep &= ~np.isnan(values)
            if nodata_text(case) not in (None, "nan"):
                keep &= values != float(nodata_text(case))
            tags = file.tags(band + 1)
            if not keep.any():
                assert "STATISTICS_MINIMUM" not in tags
                continue
            assert float(tags["STATISTICS_MINIMUM"]) == float(values[keep].min())
            assert float(tags["STATISTICS_MAXIMUM"]) == float(values[keep].max())
            assert float(tags["STATISTICS_VALID_PERCENT"]) == pytest.approx(100 * keep.mean())
            if np.isfinite(values[keep]).all() and np.abs(values[keep]).max() < 1e100:
                assert float(tags["STATISTICS_MEAN"]) == pytest.approx(float(values[keep].mean()), rel=1e-9, abs=1e-9)
                assert float(tags["STATISTICS_STDDEV"]) == pytest.approx(float(values[keep].std()), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_is_read_back_by_everybody(case, tmp_path):
    source, out, expected, mask = convert(case, tmp_path)
    check_pixels(case, out, expected, tmp_path)
    if case["compression"] not in NOT_IN_GDAL:
        check_description(case, source, out, mask)
    check_statistics(case, out, expected, mask)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tif", "source.tif"]


def test_makes_cogs_that_both_validators_accept(tmp_path):
    chosen = [case for case in cases() if case["command"] == "cog"][:70]
    assert len(chosen) > 30
    paths, in_gdal = [], []
    for index, case in enumerate(chosen):
        folder = tmp_path / str(index)
        folder.mkdir()
        _, out, _, _ = convert(case, folder)
        paths.append(out)
        # Debian's GDAL 3.6 reads neither of these types.
        if case["compression"] not in NOT_IN_GDAL and case["dtype"] not in ("float16",):
            in_gdal.append(out)
    for path, verdict in our_verdicts(paths, "--full").items():
        assert not verdict["findings"], f"{path}: {verdict}"
    for path, verdict in gdal_verdicts(in_gdal).items():
        index = int(path.split("/")[-2])
        assert "exception" not in verdict and not verdict["errors"], f"{chosen[index]}: {verdict}"


@pytest.mark.parametrize("dtype", ("float32", "float64", "int16", "uint8"))
@pytest.mark.parametrize("compression", ("lerc", "lerc-deflate", "lerc-zstd"))
def test_lerc_keeps_its_promise(dtype, compression, tmp_path):
    array = for_lerc(rasters.make(dtype, 2, 130, 170))
    write_source(tmp_path / "source.tif", array, dtype)
    for error in (0.01, 3):
        out = tmp_path / "out.tif"
        harness.run_ok("cog", tmp_path / "source.tif", "-o", out, "--compression", compression, "--max-error", error,
                       "--tile-size", "64")
        ours = harness.read(out, folder=tmp_path)
        assert_same(ours, read_gdal(out))
        # Floats are rounded once more when they are put together again.
        last_digit = np.spacing(np.abs(array).max()) if array.dtype.kind == "f" else 0
        assert np.abs(ours.astype(float) - array.astype(float)).max() <= error + last_digit
        assert error < 1 or dtype == "uint8" or not np.array_equal(ours, array)


@pytest.mark.parametrize("nodata", (-9999, 99999, 1000, -3.4028234663852886e38))
def test_lerc_with_an_error_keeps_nodata(nodata, tmp_path):
    """GDAL does not when the value is not the smallest of its tile: missing pixels become valid ones."""
    array = for_lerc(rasters.make("float32", 2, 130, 170))
    hole = np.add.outer(np.arange(130) * 3, np.arange(170) * 5) % 7 < 2
    array[:, hole] = nodata
    write_source(tmp_path / "source.tif", array, "float32", nodata=nodata)
    out = tmp_path / "out.tif"
    harness.run_ok("cog", tmp_path / "source.tif", "-o", out, "--compression", "lerc", "--max-error", "0.7",
                   "--tile-size", "64")
    with rasterio.open(out) as file:
        np.testing.assert_array_equal(file.read_masks() == 0, array == np.float32(nodata))


@pytest.mark.parametrize("options", (("--compression", "jpeg"), ("--compression", "jpeg", "--quality", "95"),
                                     ("--compression", "jpeg", "--chroma", "444"),
                                     ("--compression", "jpeg", "--chroma", "422", "--interleave", "pixel"),
                                     ("--compression", "jpeg", "--interleave", "band"),
                                     ("--compression", "webp", "--lossy"),
                                     ("--compression", "webp", "--lossy", "--quality", "95"),
                                     ("--compression", "webp")), ids=" ".join)
def test_lossy_images_are_the_same_to_gdal(options, tmp_path):
    y, x = np.mgrid[0:200, 0:300]
    array = np.stack([x * 255 // 300, y * 255 // 200, (x + y) // 2]).astype(np.uint8)
    write_source(tmp_path / "source.tif", array, "uint8", photometric="RGB")
    for command in ("convert", "cog"):
        out = tmp_path / f"{command}.tif"
        harness.run_ok(command, tmp_path / "source.tif", "-o", out, "--tile-size", "128", *options)
        ours = harness.read(out, folder=tmp_path)
        assert_same(ours, read_gdal(out))
        assert np.abs(ours.astype(int) - array.astype(int)).mean() < 6
        with rasterio.open(out) as file:
            assert [c.name for c in file.colorinterp] == ["red", "green", "blue"]
            if command == "cog":
                assert_same(harness.read(out, "--level", "1", folder=tmp_path), read_overview(out, 0))


# -- the command line -------------------------------------------------------------------------------------------------


WRONG = {
    "strips and tiles": ("--strips", "3", "--tile-size", "16"),
    "a tile of 20": ("--tile-size", "20"),
    "a level of lzw": ("--compression", "lzw", "--compression-level", "3"),
    "level 99": ("--compression-level", "99"),
    "an error of zstd": ("--max-error", "1"),
    "predictor 3 of bytes": ("--predictor", "3"),
    "webp of one band": ("--compression", "webp"),
    "nodata out of range": ("--nodata", "256"),
    "nodata that is no number": ("--nodata", "many"),
    "a CRS nobody knows": ("--crs", "EPSG:99999999"),
    "factors that go down": ("--overviews", "4,2"),
    "factors that are none": ("--overviews", "two"),
    "quality 0": ("--compression", "jpeg", "--quality", "0"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_options_are_usage_errors_and_leave_the_old_file(what, tmp_path):
    write_source(tmp_path / "source.tif", rasters.make("uint8", 1, 20, 30), "uint8")
    (tmp_path / "out.tif").write_text("old")
    result = harness.run("convert", tmp_path / "source.tif", "-o", tmp_path / "out.tif", *WRONG[what])
    assert result.code == harness.USAGE, str(result)
    assert (tmp_path / "out.tif").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tif", "source.tif"]


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_standard_output_and_files_get_the_same_bytes(command, tmp_path):
    write_source(tmp_path / "source.tif", rasters.make("uint16", 2, 300, 400), "uint16")
    options = ("--tile-size", "64", "--overviews", "2,4", "--quiet")
    harness.run_ok(command, tmp_path / "source.tif", "-o", tmp_path / "out.tif", *options)
    for spool in ("1", "1G"):
        piped = harness.run_ok(command, tmp_path / "source.tif", "-o", "-", "--spool", spool, *options)
        assert piped.stdout == (tmp_path / "out.tif").read_bytes()
    for buffer, threads in (("1", "1"), ("100K", "2"), ("1G", "5")):
        harness.run_ok(command, tmp_path / "source.tif", "-o", tmp_path / "other.tif", "--buffer", buffer, "--threads",
                       threads, "--spool", "1", "--fsync", *options)
        assert (tmp_path / "other.tif").read_bytes() == (tmp_path / "out.tif").read_bytes()


def test_a_file_can_be_converted_onto_itself(tmp_path):
    array = rasters.make("float32", 1, 200, 200)
    path = tmp_path / "a.tif"
    write_source(path, array, "float32")
    for command in ("convert", "cog", "convert"):
        harness.run_ok(command, path, "-o", path)
        assert_same(read_gdal(path), array)
    assert [p.name for p in tmp_path.iterdir()] == ["a.tif"]
