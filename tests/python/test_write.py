# SPDX-License-Identifier: Apache-2.0
"""`terrazzo convert` and `terrazzo cog` over their options: pixels, overviews, masks and metadata as GDAL, tifffile and
Terrazzo itself read them back; COGs by both validators."""

import functools
import json

import harness
import numpy as np
import pytest
import rasterio
import rasters
import tifffile
from pairwise import all_pairs, product
from rasterio.enums import Resampling
from test_generated import COMPLEX, FLOATS, INTEGERS, LERC_TYPES, assert_same, for_lerc, name_of, read_gdal
from test_validate import gdal_verdicts, our_verdicts

WITH_PREDICTOR = ("lzw", "deflate", "zstd", "lzma")
BLOCKS = {
    "tiles-16": ("--tile-size", "16"),
    "tiles-64x32": ("--tile-size", "64x32"),
    "tiles-128": ("--tile-size", "128"),
    "strips-of-1": ("--strips", "1"),
    "strips-of-24": ("--strips", "24"),
    "one-strip": ("--strips", "100000"),
}
SIZES = {"1x1": (1, 1), "row": (1, 100), "column": (83, 1), "odd": (37, 53), "even": (64, 128), "large": (130, 257)}
# What marks missing pixels. "nan-to-value": the source has NaN, the file has a number.
NODATA = ("none", "value", "nan", "nan-to-value")

AXES = {
    "command": ("convert", "cog"),
    "compression": ("none", "packbits", "lzw", "deflate", "zstd", "lerc", "lerc-deflate", "lerc-zstd", "jpeg", "jpeg2000",
                    "webp", "lzma", "lz4"),
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
        axes = {**AXES, "bands": (3,), "size": ("odd", "large"), "bigtiff": ("auto",), "threads": (3,),
                "statistics": (True,), "nodata": ("none", "nan-to-value"), "mask": (False,)}
        return list(product(axes, valid))
    return all_pairs(AXES, valid, limit=260)


def write_source(path, array, dtype, **extra):
    """An uncompressed GeoTIFF by GDAL."""
    profile = {"driver": "GTiff", "width": array.shape[2], "height": array.shape[1], "count": array.shape[0],
               "dtype": dtype, "crs": "EPSG:32632", "transform": rasterio.Affine(10, 0, 500000, 0, -10, 5000000), **extra}
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
    options = ["--compression", case["compression"], "--predictor", case["predictor"], "--interleave", case["interleave"],
               *BLOCKS[case["blocks"]], "--bigtiff", case["bigtiff"], "--threads", case["threads"]]
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
        if case["dtype"] != "complex_int16":  # values: NaN has another sign where LERC leaves pixels out
            np.testing.assert_array_equal(theirs, expected)


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


# -- overviews --------------------------------------------------------------------------------------------------------


def sample_of_sizes():
    if harness.FULL:
        return [(n, 1026 - n) for n in range(1, 1026)] + [(n, n) for n in range(2, 1026)]
    return [(2, 2), (1, 9), (2, 3), (3, 1025), (4, 5), (7, 1), (16, 15), (31, 33), (64, 64), (65, 127), (129, 255),
            (257, 100), (511, 513), (767, 99), (1023, 33), (1024, 20), (1025, 131)]


@functools.cache
def overview_source(dtype, kind, size):
    height, width = size
    array = rasters.make(dtype, 1 if kind != "alpha" else 4, height, width, seed=3)
    if array.dtype.kind == "f":
        array = np.where(np.isfinite(array), array, 5).astype(dtype)
        array = np.clip(array, -1e6, 1e6)
    if kind in ("nodata", "alpha"):
        hole = (np.add.outer(np.arange(height) * 3, np.arange(width) * 5) % 7 < 3)
        array[-1 if kind == "alpha" else 0][hole] = 0
        array[:, : height // 3, : width // 2] = 0
    return array


@pytest.mark.parametrize("kind", ("plain", "nodata", "mask", "alpha"))
@pytest.mark.parametrize("dtype", ("uint8", "int16", "float32"))
@pytest.mark.parametrize("method", ("nearest", "average"))
def test_overviews_are_those_of_gdal(method, dtype, kind, tmp_path):
    if kind == "alpha" and dtype != "uint8":
        pytest.skip("RGBA is bytes")
    wrong = []
    for size in sample_of_sizes():
        array = overview_source(dtype, kind, size)
        source, theirs, ours = tmp_path / "source.tif", tmp_path / "theirs.tif", tmp_path / "ours.tif"
        extra = {"nodata": 0} if kind == "nodata" else {"photometric": "RGB", "alpha": "YES"} if kind == "alpha" else {}
        # Of rasters of a few pixels GDAL leaves some levels at 0 when factors are odd.
        wanted = (2, 3, 5) if sum(size) % 2 == 1 and min(size) > 20 else (2, 4, 8)
        factors = [f for f, before in zip(wanted, (1, *wanted)) if max(size) > before]  # one of a single pixel at most
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
            for path in (source, theirs):
                write_source(path, array, dtype, **extra)
                if kind == "mask":
                    with rasterio.open(path, "r+") as file:
                        mask = np.full(size, 255, np.uint8)
                        mask[1::3, ::2] = 0
                        mask[size[0] // 2:, : size[1] // 2] = 0
                        file.write_mask(mask)
            with rasterio.open(theirs, "r+") as file:
                file.build_overviews(factors, Resampling[method])
        harness.run_ok("convert", source, "-o", ours, "--tile-size", "64x48", "--compression", "none", "--overviews",
                       ",".join(map(str, factors)), "--resampling", method)
        for level in range(len(factors)):
            with rasterio.open(ours, overview_level=level) as a, rasterio.open(theirs, overview_level=level) as b:
                pixels, expected = a.read(), b.read()
                seen = a.read_masks(1) != 0 if kind == "mask" else np.ones(expected.shape[1:], bool)
                if a.shape != b.shape or not np.array_equal(pixels[:, seen], expected[:, seen]):
                    wrong.append((size, level, "pixels"))
                # GDAL takes the nearest pixel of the mask from full resolution and that of the image from the level
                # before: from the second level on they are not those of the same pixel, and ours are.
                elif kind == "mask" and (method == "average" or level == 0) and not np.array_equal(a.read_masks(1),
                                                                                                   b.read_masks(1)):
                    wrong.append((size, level, "mask"))
    assert not wrong


def test_a_cog_has_the_overviews_of_gdals_cog_driver(tmp_path):
    for size in ((700, 900), (513, 512), (1100, 300), (129, 1), (128, 128)):
        array = overview_source("uint8", "plain", size)
        write_source(tmp_path / "source.tif", array, "uint8")
        with rasterio.open(tmp_path / "theirs.tif", "w", driver="COG", width=size[1], height=size[0], count=1,
                           dtype="uint8", blocksize=128, overview_resampling="average") as out:
            out.write(array)
        harness.run_ok("cog", tmp_path / "source.tif", "-o", tmp_path / "ours.tif", "--tile-size", "128")
        with rasterio.open(tmp_path / "ours.tif") as a, rasterio.open(tmp_path / "theirs.tif") as b:
            assert a.overviews(1) == b.overviews(1)
            levels = len(b.overviews(1))
        for level in range(levels):
            assert_same(read_overview(tmp_path / "ours.tif", level), read_overview(tmp_path / "theirs.tif", level))


# -- metadata ---------------------------------------------------------------------------------------------------------


CRSS = {
    "projected": "EPSG:32633",
    "geographic": "EPSG:4326",
    "web": "EPSG:3857",
    "feet": "EPSG:2263",
    "compound": "EPSG:32632+5773",
    "geographic-3d": "EPSG:4979",
    "user-defined": "+proj=lcc +lat_1=30 +lat_2=50 +lat_0=40 +lon_0=10 +x_0=1000 +y_0=2000 +ellps=GRS80 +units=m +no_defs",
    "user-ellipsoid": "+proj=utm +zone=33 +a=6378000 +b=6356000 +units=m +no_defs",
    "laea": "+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 +ellps=GRS80 +units=m +no_defs",
    "sinusoidal": "+proj=sinu +lon_0=0 +x_0=0 +y_0=0 +R=6371007.181 +units=m +no_defs",
}


@pytest.mark.parametrize("crs", CRSS)
def test_gdal_reads_the_crs_of_the_source(crs, tmp_path):
    array = rasters.make("uint8", 1, 20, 30)
    write_source(tmp_path / "source.tif", array, "uint8", crs=CRSS[crs])
    for command in ("convert", "cog"):
        harness.run_ok(command, tmp_path / "source.tif", "-o", tmp_path / "out.tif")
        with rasterio.open(tmp_path / "source.tif") as a, rasterio.open(tmp_path / "out.tif") as b:
            assert a.crs is not None
            assert a.crs == b.crs, f"{a.crs.to_wkt()}\n{b.crs.to_wkt()}"
            assert a.crs.to_epsg() == b.crs.to_epsg()


@pytest.mark.parametrize("crs", ("EPSG:25832", "4258", "wkt", "projjson"))
def test_a_crs_can_be_given(crs, tmp_path):
    expected = rasterio.CRS.from_epsg(4258 if crs == "4258" else 25832)
    text = {"wkt": expected.to_wkt(version="WKT2_2019"), "projjson": json.dumps(expected.to_dict(projjson=True))}
    write_source(tmp_path / "source.tif", rasters.make("uint8", 1, 20, 30), "uint8", crs=None)
    harness.run_ok("convert", tmp_path / "source.tif", "-o", tmp_path / "out.tif", "--crs", text.get(crs, crs))
    with rasterio.open(tmp_path / "out.tif") as file:
        assert file.crs == expected


@pytest.mark.parametrize("transform", (rasterio.Affine(0.1, 0, 7, 0, -0.1, 50), rasterio.Affine(3, 1, 7, 2, -4, 50),
                                       rasterio.Affine(10, 0, 0, 0, 10, 0), None), ids=("north-up", "rotated", "south-up",
                                                                                         "none"))
@pytest.mark.parametrize("kind", ("Area", "Point"))
def test_the_transform_goes_along(transform, kind, tmp_path):
    write_source(tmp_path / "source.tif", rasters.make("uint8", 1, 20, 30), "uint8", transform=transform)
    with rasterio.open(tmp_path / "source.tif", "r+") as file:
        file.update_tags(AREA_OR_POINT=kind)
    harness.run_ok("cog", tmp_path / "source.tif", "-o", tmp_path / "out.tif")
    harness.run_ok("convert", tmp_path / "source.tif", "-o", tmp_path / "part.tif", "--window", "4,5,10,11")
    with rasterio.open(tmp_path / "source.tif") as a, rasterio.open(tmp_path / "out.tif") as b, \
            rasterio.open(tmp_path / "part.tif") as part:
        assert a.transform.almost_equals(b.transform, 1e-12)
        assert a.tags().get("AREA_OR_POINT") == b.tags().get("AREA_OR_POINT")
        if transform is not None:
            assert part.transform.almost_equals(a.transform @ rasterio.Affine.translation(4, 5), 1e-9)


TEXTS = {"PLAIN": "value", "UTF8": "Höhe über dem Meer — 高度", "MARKUP": "<a href=\"x\">&amp; ' \" </a>", "LINES": "one\ntwo",
         "SPACES": " lead and trail ", "TIFFTAG_SOFTWARE": "a test", "TIFFTAG_DATETIME": "2026:11:15 10:00:00",
         "TIFFTAG_IMAGEDESCRIPTION": "described", "TIFFTAG_ARTIST": "Jörg", "LONG": "x" * 5000}


@pytest.mark.parametrize("command", ("convert", "cog"))
def test_metadata_goes_along(command, tmp_path):
    array = rasters.make("int16", 3, 40, 50)
    source = tmp_path / "source.tif"
    write_source(source, array, "int16", nodata=-1)
    with rasterio.open(source, "r+") as file:
        file.update_tags(**TEXTS)
        file.update_tags(ns="MINE", ONE="1", TWO="zwei ä")
        for band in (1, 2, 3):
            file.update_tags(band, KIND=f"band {band}", UTF8="ß")
            file.set_band_description(band, f"Höhe {band}")
            file.set_band_unit(band, "m")
        file.update_tags(2, ns="OTHER", A="B")
        file.scales, file.offsets = (0.1, 2, 1), (0, -5.25, 100)
    out = tmp_path / "out.tif"
    harness.run_ok(command, source, "-o", out)
    assert not (tmp_path / "out.tif.aux.xml").exists()
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.tags() == b.tags()
        assert a.tags(ns="MINE") == b.tags(ns="MINE")
        for band in (1, 2, 3):
            assert a.tags(band) == b.tags(band)
        assert a.tags(2, ns="OTHER") == b.tags(2, ns="OTHER")
        for name in ("descriptions", "units", "scales", "offsets", "nodatavals", "colorinterp", "dtypes"):
            assert getattr(a, name) == getattr(b, name), name


def test_statistics_come_beside_other_metadata(tmp_path):
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint8", 2, 40, 50), "uint8")
    with rasterio.open(source, "r+") as file:
        file.update_tags(**TEXTS)
        file.update_tags(1, STATISTICS_MINIMUM="1" * 60, OTHER="kept")
    harness.run_ok("cog", source, "-o", out, "--statistics")
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.tags() == b.tags()
        tags = b.tags(1)
        assert tags["OTHER"] == "kept"
        assert float(tags["STATISTICS_MINIMUM"]) == b.read(1).min()


def test_ground_control_points_go_along(tmp_path):
    from rasterio.control import GroundControlPoint
    points = [GroundControlPoint(row=r, col=c, x=10 + c / 7, y=50 - r / 9, z=r + c, id=f"p{r}{c}")
              for r in (0, 20) for c in (0, 30)]
    source = tmp_path / "source.tif"
    with rasterio.open(source, "w", driver="GTiff", width=30, height=20, count=1, dtype="uint8") as out:
        out.write(rasters.make("uint8", 1, 20, 30))
        out.gcps = (points, rasterio.CRS.from_epsg(4326))
    for command in ("convert", "cog"):
        harness.run_ok(command, source, "-o", tmp_path / "out.tif")
        with rasterio.open(source) as a, rasterio.open(tmp_path / "out.tif") as b:
            assert a.gcps[1] == b.gcps[1]
            key = [(p.row, p.col, p.x, p.y, p.z) for p in a.gcps[0]]
            assert len(key) == 4 and key == [(p.row, p.col, p.x, p.y, p.z) for p in b.gcps[0]]


def test_rational_polynomials_go_along(tmp_path):
    source = tmp_path / "source.tif"
    coefficients = [float(f"{i}.{i}e-3") for i in range(1, 21)]
    rpcs = rasterio.rpc.RPC(height_off=100, height_scale=50, lat_off=45.5, lat_scale=0.25, line_den_coeff=coefficients,
                            line_num_coeff=coefficients[::-1], line_off=10.5, line_scale=11, long_off=9, long_scale=0.125,
                            samp_den_coeff=coefficients, samp_num_coeff=coefficients, samp_off=15, samp_scale=16,
                            err_bias=0.5, err_rand=0.25)
    with rasterio.open(source, "w", driver="GTiff", width=30, height=20, count=1, dtype="uint8") as out:
        out.write(rasters.make("uint8", 1, 20, 30))
        out.rpcs = rpcs
    for command in ("convert", "cog"):
        harness.run_ok(command, source, "-o", tmp_path / "out.tif")
        with rasterio.open(source) as a, rasterio.open(tmp_path / "out.tif") as b:
            assert a.rpcs is not None and a.rpcs.to_dict() == b.rpcs.to_dict()


@pytest.mark.parametrize("dtype", ("uint8", "uint16"))
def test_colour_tables_go_along_and_give_nearest_overviews(dtype, tmp_path):
    array = rasters.make("uint8", 1, 300, 300).astype(dtype)
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, array, dtype, photometric="palette")
    with rasterio.open(source, "r+") as file:
        file.write_colormap(1, {i: (i, 255 - i, (i * 7) % 256, 255) for i in range(256)})
    harness.run_ok("cog", source, "-o", out, "--tile-size", "128")
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.colormap(1) == b.colormap(1)
        assert [c.name for c in b.colorinterp] == ["palette"]
    with rasterio.open(out, overview_level=0) as file:
        assert_same(file.read(), array[:, ::2, ::2])


@pytest.mark.parametrize("colors", (("red", "green", "blue", "alpha"), ("gray", "alpha"), ("gray", "undefined", "undefined"),
                                    ("blue", "green", "red", "undefined"), ("red", "green", "blue", "nir")), ids="-".join)
def test_colours_of_bands_go_along(colors, tmp_path):
    from rasterio.enums import ColorInterp
    if any(not hasattr(ColorInterp, color) for color in colors):
        pytest.skip("this GDAL does not know the colour")
    source, out = tmp_path / "source.tif", tmp_path / "out.tif"
    write_source(source, rasters.make("uint16", len(colors), 40, 50), "uint16")
    with rasterio.open(source, "r+") as file:
        file.colorinterp = [ColorInterp[color] for color in colors]
    harness.run_ok("convert", source, "-o", out)
    with rasterio.open(source) as a, rasterio.open(out) as b:
        assert a.colorinterp == b.colorinterp


@pytest.mark.corpus
def test_files_of_the_corpus_keep_what_they_are(tmp_path, note):
    names = [name for name, entry in harness.manifest().items() if entry["kind"] == "tiff" and not entry["bad"]]
    if not names:
        pytest.skip(f"no corpus at {harness.CORPUS}: set TERRAZZO_CORPUS")
    compared = 0
    for index, name in enumerate(names if harness.FULL else names[::24]):
        source, out = harness.CORPUS / name, tmp_path / f"{index}.tif"
        before = harness.run("checksum", "--json", source)
        if before.code != harness.OK or name in CHANGED_ON_PURPOSE:
            continue
        for command in ("convert", "cog"):
            harness.run_ok(command, source, "-o", out, "--quiet", "--compression", "deflate", "--compression-level", "1")
            assert before.json()["bands"] == harness.run_json("checksum", "--json", out)["bands"], (name, command)
            try:
                with rasterio.open(source) as a, rasterio.open(out) as b:
                    for what in ("dtypes", "scales", "offsets", "units", "descriptions", "colorinterp", "mask_flag_enums"):
                        assert getattr(a, what) == getattr(b, what), (name, command, what)
                    assert a.transform.almost_equals(b.transform, 1e-9), (name, command)
                    compared += 1
            except rasterio.errors.RasterioIOError:
                pass  # GDAL cannot open the source
    note(f"write: {compared} conversions of files of the corpus compared by GDAL")
    assert compared > 25


# It has NaN where its nodata is another value: they become that value.
CHANGED_ON_PURPOSE = ("cogeotiff+rio-tiler/tests/fixtures/cog_nodata_nan.tif",)


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
