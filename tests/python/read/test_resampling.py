# SPDX-License-Identifier: Apache-2.0
"""Resampled reads beside GDAL's RasterIO; beside numpy and GDAL's warper for the methods that RasterIO lacks."""

import math
import random
import warnings

import harness
import numpy as np
import pairwise
import pytest
import rasterio
import rasterio.warp
from affine import Affine
from rasterio.enums import ColorInterp, Resampling
from rasterio.windows import Window

WIDTH, HEIGHT = 150, 119

# GDAL's RasterIO has these; minimum, maximum and median are numpy's.
OF_GDAL = {
    "nearest": Resampling.nearest,
    "average": Resampling.average,
    "bilinear": Resampling.bilinear,
    "cubic": Resampling.cubic,
    "cubic-spline": Resampling.cubic_spline,
    "lanczos": Resampling.lanczos,
    "mode": Resampling.mode,
    "rms": Resampling.rms,
}
OF_NUMPY = {"min": np.nanmin, "max": np.nanmax, "median": np.nanmedian}

AXES = {
    "method": [*OF_GDAL, *OF_NUMPY],
    "dtype": ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "float32", "float64"],
    "missing": ["none", "nodata", "nan", "mask", "alpha"],
    "overviews": ["none", "internal", "external"],
    "target": [(75, 60), (75, 59), (61, 37), (40, 29), (19, 17), (7, 5), (1, 1), (150, 60), (300, 238), (200, 170),
               (149, 118)],
    "window": [None, (0, 0, 100, 80), (32, 36, 60, 48), (30, 34, 60, 51), (13, 7, 101, 97), (149, 118, 1, 1)],
}


def uses_an_overview(case):
    width, height = case["window"][2:] if case["window"] else (WIDTH, HEIGHT)
    return min(width / case["target"][0], height / case["target"][1]) > 1.9


def is_valid(case):
    if case["overviews"] != "none" and not uses_an_overview(case):
        return False
    if case["missing"] == "nan" and not case["dtype"].startswith("float"):
        return False
    if case["missing"] == "alpha" and case["dtype"] not in ("uint8", "uint16"):
        return False
    if case["method"] in OF_NUMPY and (case["overviews"] != "none" or case["window"] or case["target"] not in
                                       ((75, 60), (61, 37), (19, 17), (300, 238))):
        return False
    # Differences that docs/formats.md states: GDAL mixes NaN into kernels and gives 0 for a missing mode, its mode counts
    # transparent pixels and masked bytes, it ignores the mask if it reads an .ovr file, and it cuts a window to whole
    # pixels of an overview.
    if case["missing"] == "nan" and case["method"] not in ("nearest", "average", "rms", *OF_NUMPY):
        return False
    if case["method"] == "mode" and (case["missing"] == "alpha" or (case["missing"], case["dtype"]) == ("mask", "uint8")):
        return False
    if (case["missing"], case["overviews"]) == ("mask", "external") and case["method"] != "nearest":
        return False
    on_overview_grid = not case["window"] or all(part % 4 == 0 for part in case["window"][:2])
    return case["overviews"] == "none" or on_overview_grid


def name_of(case):
    return "-".join(str(value).replace(" ", "") for value in case.values())


def choose_cases(count):
    """All pairs, and random cases up to `count`."""
    cases = pairwise.all_pairs(AXES, is_valid, limit=count)
    rng = random.Random(2)
    while len(cases) < count:
        case = {name: rng.choice(values) for name, values in AXES.items()}
        if is_valid(case) and case not in cases:
            cases.append(case)
    return cases


CASES = choose_cases(300)


def make_pixels(dtype, missing):
    """Smooth hills with steep edges, values over much of the type's range, and holes."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    hills = 0.5 + 0.35 * np.sin(x / 9) * np.cos(y / 7) + 0.1 * rng.random((HEIGHT, WIDTH))
    hills[40:44, :] = 1.0
    hills[:, 90:93] = 0.0
    if np.issubdtype(dtype, np.floating):
        pixels = (hills * 2000 - 400).astype(dtype)
    else:
        info = np.iinfo(dtype)
        top, low = min(info.max, 2**40), max(info.min, -2**40)
        pixels = (low + np.floor(hills * 0.999 * (top - low))).astype(dtype)
        pixels[100:, :40] = pixels[0, 0]  # classes, for the mode
    holes = rng.random((HEIGHT, WIDTH)) < 0.12
    holes[20:50, 20:70] = True
    holes[90:, 120:] = True
    marker = None
    if missing == "nodata":
        marker = -9999 if np.issubdtype(dtype, np.floating) else int(np.iinfo(dtype).max) // 3
        pixels[pixels == marker] = marker + 1
        pixels[holes] = marker
    elif missing == "nan":
        marker = math.nan
        pixels[holes] = math.nan
    return pixels, holes, marker


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("resampling")
    made = {}

    def get(dtype, missing, overviews):
        key = f"{dtype}-{missing}-{overviews}"
        if key in made:
            return made[key]
        path = folder / f"{key}.tif"
        pixels, holes, marker = make_pixels(dtype, missing)
        bands = 2 if missing == "alpha" else 1
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
            with rasterio.open(path, "w", driver="GTiff", width=WIDTH, height=HEIGHT, count=bands, dtype=dtype, tiled=True,
                               blockxsize=32, blockysize=16, compress="deflate", nodata=marker,
                               transform=Affine(10, 0, 400_000, 0, -10, 5_000_000), crs="EPSG:32633",
                               **({"alpha": "yes"} if bands == 2 else {})) as out:
                out.write(pixels, 1)
                if bands == 2:
                    opaque = np.full(holes.shape, np.iinfo(dtype).max, dtype)
                    opaque[:, 60:100] //= 3  # half transparent
                    opaque[holes] = 0
                    out.write(opaque, 2)
                    out.colorinterp = [ColorInterp.gray, ColorInterp.alpha]
                if missing == "mask":
                    out.write_mask(~holes)
            if overviews != "none":
                with rasterio.Env(TIFF_USE_OVR=overviews == "external"), rasterio.open(path, "r+") as file:
                    file.build_overviews([2, 4], Resampling.average)
        made[key] = path
        return path

    return get


def read_ours(path, folder, *words):
    return harness.read(path, *words, folder=folder)


def assert_close(ours, theirs):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    if np.issubdtype(theirs.dtype, np.floating):
        # GDAL sums in another order, in parts of the raster that its memory decides. Sums of weights beside gaps can be
        # close to 0.
        scale = 2e-6 if theirs.dtype == np.float32 else 1e-10
        np.testing.assert_allclose(ours, theirs, rtol=scale, atol=scale * 2000)
    elif theirs.dtype.itemsize == 8:
        largest = float(np.abs(theirs.astype(float)).max())
        np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=1e-10, atol=1e-10 * largest)
    else:
        # A sum next to a half may be rounded to the other side.
        differs = ours != theirs
        np.testing.assert_allclose(ours.astype(np.int64), theirs.astype(np.int64), rtol=0, atol=1)
        assert differs.mean() <= 0.01, f"{differs.sum()} of {differs.size} pixels differ"


def covered(count, size):
    """Indices of the source pixels that each of `count` result pixels covers, and which of the indices count."""
    at = np.arange(count) * (size / count)
    first = (at + 1e-8).astype(int)
    last = np.clip(np.ceil(at + size / count - 1e-8).astype(int), first + 1, size)
    index = first[:, None] + np.arange((last - first).max())
    return np.minimum(index, size - 1), index < last[:, None]


def numpy_result(path, method, target):
    with rasterio.open(path) as file:
        pixels, valid = file.read(1), file.read_masks(1) != 0
        nodata = file.nodata
    (rows, row_counts), (columns, column_counts) = covered(target[1], HEIGHT), covered(target[0], WIDTH)
    at = rows[:, None, :, None], columns[None, :, None, :]
    counts = valid[at] & row_counts[:, None, :, None] & column_counts[None, :, None, :]
    values = np.where(counts, pixels[at].astype(float), np.nan)  # exact: no integer exceeds 2^40
    values = values.reshape(*values.shape[:2], -1)
    with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # windows of NaN only
        result = OF_NUMPY[method](values, axis=-1)
    if method == "median" and np.issubdtype(pixels.dtype, np.integer):
        result = np.trunc(result + np.copysign(0.5, result))
    return np.where(np.isnan(result), 0 if nodata is None else nodata, result).astype(pixels.dtype)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_pixels_are_gdals(case, files, tmp_path):
    path = files(case["dtype"], case["missing"], case["overviews"])
    words = ["--target-size", "{},{}".format(*case["target"]), "--resampling", case["method"]]
    window = Window(*(case["window"] or (0, 0, WIDTH, HEIGHT)))
    if case["window"]:
        words += ["--window", "{},{},{},{}".format(*case["window"])]
    ours = read_ours(path, tmp_path, *words)
    if case["method"] in OF_NUMPY:
        assert_close(ours[0], numpy_result(path, case["method"], case["target"]))
        return
    with rasterio.open(path) as file:
        theirs = file.read(window=window, out_shape=(file.count, *case["target"][::-1]),
                           resampling=OF_GDAL[case["method"]])
    assert_close(ours, theirs)


def test_gdal_is_the_version_that_the_pages_name(note):
    note(f"resampled reads were compared with GDAL {rasterio.__gdal_version__}")
    if rasterio.__gdal_version__.startswith("3.9."):
        pytest.skip("Python 3.11 has rasterio with GDAL 3.9")
    assert rasterio.__gdal_version__.startswith("3.12.")


# -- beside GDAL on an equivalent file --------------------------------------------------------------------------------

# What test_pixels_are_gdals() leaves out because GDAL has other rules for missing pixels. Here GDAL reads a file with
# the same pixels that says by a finite nodata value which of them are missing by our rules (docs/formats.md).
KERNELS = ["bilinear", "cubic", "cubic-spline", "lanczos"]
WITH_OTHER_RULES = [
    *(dict(method=method, dtype=dtype, missing="nan", overviews=overviews)
      for method in (*KERNELS, "mode") for dtype in ("float32", "float64") for overviews in ("none", "internal")),
    *(dict(method="mode", dtype=dtype, missing="alpha", overviews=overviews)
      for dtype in ("uint8", "uint16") for overviews in ("none", "internal")),
    *(dict(method="mode", dtype="uint8", missing="mask", overviews=overviews) for overviews in ("none", "internal")),
    *(dict(method=method, dtype=dtype, missing="mask", overviews="external")
      for method in OF_GDAL if method != "nearest" for dtype in ("uint8", "int16", "float32")),
]


def level_of(path, target):
    """The overview that a read of the whole raster takes, from 0; None: full resolution."""
    with rasterio.open(path) as file:
        wanted = min(WIDTH / target[0], HEIGHT / target[1])
        fitting = [i for i, factor in enumerate(file.overviews(1)) if factor < wanted + 0.1]
    return fitting[-1] if fitting else None


def missing_pixels(path, case, level):
    """The pixels of a level, and which of them are missing."""
    missing = case["missing"]
    options = {} if level is None else {"overview_level": level}
    with rasterio.open(path, **options) as file:
        pixels = file.read(1)
        if missing == "nan":
            return pixels, np.isnan(pixels)
        if missing == "alpha":
            return pixels, file.read(2) == 0
        if level is None or case["overviews"] == "internal":
            return pixels, file.read_masks(1) == 0
    with rasterio.open(path) as file:  # a level of an .ovr file: the mask of full resolution under the pixels' centres
        rows, columns = (((np.arange(count) + 0.5) * (full / count)).astype(int)
                         for count, full in zip(pixels.shape, (HEIGHT, WIDTH)))
        return pixels, file.read_masks(1)[np.ix_(rows, columns)] == 0


def read_equivalent(pixels, missing, target, method, folder):
    if pixels.dtype.kind == "f":
        marker = -99999.0
    else:
        marker = int(np.setdiff1d(np.arange(np.iinfo(pixels.dtype).max), pixels)[0])
    path = folder / "equivalent.tif"
    with rasterio.open(path, "w", driver="GTiff", width=pixels.shape[1], height=pixels.shape[0], count=1, dtype=pixels.dtype,
                       nodata=marker) as out:
        out.write(np.where(missing, np.array(marker, pixels.dtype), pixels), 1)
    with rasterio.open(path) as file:
        result = file.read(1, out_shape=target[::-1], resampling=OF_GDAL[method])
    return result, result == marker


@pytest.mark.parametrize("case", WITH_OTHER_RULES, ids=name_of)
def test_pixels_are_gdals_of_an_equivalent_file(case, files, tmp_path):
    path = files(case["dtype"], case["missing"], case["overviews"])
    # No odd number of columns from 75: a pixel at exactly the radius of the spline has a weight of about 0, which rounding decides.
    for target in ((58, 37), (37, 29), (19, 17)) if case["overviews"] != "none" else ((75, 59), (40, 29), (7, 5), (200, 170)):
        ours = read_ours(path, tmp_path, "--target-size", "{},{}".format(*target), "--resampling", case["method"])[0]
        pixels, missing = missing_pixels(path, case, level_of(path, target))
        theirs, nothing = read_equivalent(pixels, missing, target, case["method"], tmp_path)
        theirs[nothing] = math.nan if case["missing"] == "nan" else 0
        assert_close(ours, theirs)


# -- beside GDAL's warper ---------------------------------------------------------------------------------------------

# At whole ratios the windows of the warper are those of docs/formats.md.
WARPER = {"min": Resampling.min, "max": Resampling.max, "median": Resampling.med}
PLACES = [((0, 0, 150, 118), 2), ((0, 0, 150, 115), 5), ((30, 36, 60, 48), 3), ((30, 36, 60, 48), 4), ((13, 7, 91, 98), 7),
          ((60, 80, 90, 36), 18)]
WARPER_AXES = {"method": list(WARPER), "dtype": AXES["dtype"], "missing": ["none", "nodata", "nan"], "place": PLACES}
WARPER_CASES = pairwise.all_pairs(WARPER_AXES, lambda case: case["missing"] != "nan" or case["dtype"].startswith("float"), limit=90)


@pytest.mark.parametrize("case", WARPER_CASES, ids=name_of)
def test_minimum_maximum_and_median_are_those_of_gdals_warper(case, files, tmp_path):
    """The warper's median of an even number is the lower of the middle two, ours is their mean."""
    path = files(case["dtype"], case["missing"], "none")
    (column, row, width, height), ratio = case["place"]
    ours = read_ours(path, tmp_path, "--window", f"{column},{row},{width},{height}", "--target-size",
                     f"{width // ratio},{height // ratio}", "--resampling", case["method"])[0]
    theirs = np.zeros_like(ours)
    with rasterio.open(path) as file:
        place = file.transform @ Affine.translation(column, row) @ Affine.scale(ratio)
        rasterio.warp.reproject(rasterio.band(file, 1), theirs, dst_crs=file.crs, dst_transform=place, src_nodata=file.nodata,
                                dst_nodata=file.nodata, resampling=WARPER[case["method"]], tolerance=0)
        valid = file.read_masks(1, window=Window(column, row, width, height)) != 0
    if case["method"] == "median":
        counts = valid.reshape(height // ratio, ratio, width // ratio, ratio).sum(axis=(1, 3))
        even = (counts % 2 == 0) & (counts != 0)
        assert (ours[even] >= theirs[even]).all()
        ours, theirs = ours[counts % 2 == 1], theirs[counts % 2 == 1]
    if ours.dtype.itemsize == 8:  # GDAL warps 64-bit integers as float64: nodata, beyond 2^53, is rounded
        ours, theirs = ours.astype(float), theirs.astype(float)
    np.testing.assert_array_equal(ours, theirs)


def test_a_target_resolution_is_exact_and_the_extent_grows(files, tmp_path):
    path = files("float32", "nodata", "none")  # 1500 m x 1190 m
    out = tmp_path / "exact.tif"
    harness.run_ok("convert", path, "-o", out, "--target-resolution", "70", "--resampling", "average")
    with rasterio.open(out) as file:
        assert (file.width, file.height) == (22, 17)
        assert file.transform.almost_equals(Affine(70, 0, 400_000, 0, -70, 5_000_000))
        found = file.read(1)
    with rasterio.open(path) as file:  # whole pixels inside: the same as a read of seven by seven pixels each
        inside = file.read(1, window=Window(0, 0, 147, 112), out_shape=(16, 21), resampling=Resampling.average)
        pixels = file.read(1)
    np.testing.assert_allclose(found[:16, :21], inside, rtol=2e-6)
    edge = pixels[0:7, 147:]
    assert found[0, 21] == pytest.approx(edge[edge != -9999].mean(dtype=float), rel=1e-6)


def test_the_extent_is_kept_on_request(files, tmp_path):
    path = files("float32", "none", "none")
    out = tmp_path / "kept.tif"
    harness.run_ok("cog", path, "-o", out, "--target-resolution", "70", "--keep-extent", "--resampling", "average")
    with rasterio.open(out) as file, rasterio.open(path) as source:
        assert (file.width, file.height) == (21, 17)
        assert file.bounds == pytest.approx(source.bounds)
        theirs = source.read(1, out_shape=(17, 21), resampling=Resampling.average)
        np.testing.assert_allclose(file.read(1), theirs, rtol=2e-6)


def test_a_conversion_has_one_method_for_pixels_and_one_for_overviews(files, tmp_path):
    path = files("uint8", "none", "none")
    out = tmp_path / "both.tif"
    harness.run_ok("convert", path, "-o", out, "--target-size", "76,60", "--resampling", "max", "--overviews", "2",
                   "--overview-resampling", "min")
    with rasterio.open(out) as file:
        pixels, small = file.read(1), None
    with rasterio.open(out, overview_level=0) as file:
        small = file.read(1)
    np.testing.assert_array_equal(pixels, numpy_result(path, "max", (76, 60)))
    np.testing.assert_array_equal(small, pixels.reshape(30, 2, 38, 2).min(axis=(1, 3)))
    # Without a target, --resampling is that of the overviews.
    harness.run_ok("convert", path, "-o", out, "--resampling", "max", "--overviews", "2")
    with rasterio.open(out) as file, rasterio.open(path) as source:
        np.testing.assert_array_equal(file.read(1), source.read(1))
    for words in (["--resampling", "max"], ["--resampling", "max", "--overview-resampling", "min", "--overviews", "2"]):
        result = harness.run("convert", path, "-o", out, *words)
        assert result.code == harness.USAGE, str(result)


def test_masked_reads_are_missing_where_no_pixel_counts(files, tmp_path):
    words = ("--target-size", "19,17", "--resampling", "average")
    for missing in ("nodata", "mask"):
        path = files("uint16", missing, "none")
        plain, masked = (read_ours(path, tmp_path, *words, *more)[0] for more in ((), ("--masked", )))
        valid = read_ours(path, tmp_path, *words, "--mask")[0]
        with rasterio.open(path) as file:
            gone = file.read(1, out_shape=(17, 19), resampling=Resampling.average) == (file.nodata or 0)
        assert gone.any() and not gone.all()
        np.testing.assert_array_equal(np.isnan(masked), gone)
        np.testing.assert_array_equal(valid == 0, gone)
        np.testing.assert_array_equal(masked[~gone], plain[~gone])


def test_complex_pixels_are_refused(tmp_path):
    path = tmp_path / "complex.tif"
    with rasterio.open(path, "w", driver="GTiff", width=8, height=8, count=1, dtype="complex64") as out:
        out.write(np.ones((1, 8, 8), "complex64"))
    result = harness.run("read", path, "--target-size", "4,4", "--resampling", "average", "--out", tmp_path / "x.npy")
    assert result.code == harness.UNSUPPORTED, str(result)
    result = harness.run("read", path, "--resampling", "average", "--out", tmp_path / "x.npy")
    assert result.code == harness.USAGE, str(result)


def test_the_mode_of_millions_of_pixels_is_gdals(tmp_path):
    path = tmp_path / "classes.tif"
    pixels = np.random.default_rng(2).integers(0, 200, (3000, 3000), np.uint8)
    pixels[1000:1100] = 150
    with rasterio.open(path, "w", driver="GTiff", width=3000, height=3000, count=1, dtype="uint8") as made:
        made.write(pixels, 1)
    for size in (1, 3):
        ours = read_ours(path, tmp_path, "--target-size", f"{size},{size}", "--resampling", "mode")
        with rasterio.open(path) as source:
            theirs = source.read(out_shape=(1, size, size), resampling=Resampling.mode)
        np.testing.assert_array_equal(ours, theirs)


def test_kernels_keep_filtered_rows_within_the_limit(tmp_path):
    path, out = tmp_path / "rows.tif", tmp_path / "out.npy"
    with rasterio.open(path, "w", driver="GTiff", width=700, height=700, count=3, dtype="uint8") as made:
        made.write(np.random.default_rng(1).integers(0, 255, (3, 700, 700), np.uint8))
    request = ("read", path, "--target-size", "30000,4", "--resampling", "lanczos", "--out", out)
    harness.run_ok(*request, "--threads", 1)
    whole = np.load(out)
    limited = harness.run_ok(*request, "--threads", 12, "--memory-limit", "60M")
    np.testing.assert_array_equal(np.load(out), whole)
    assert limited.peak_rss_bytes < 160 << 20, str(limited)


def test_kernels_stay_within_the_used_bits(tmp_path):
    path = tmp_path / "nbits.tif"
    pixels = np.zeros((64, 64), np.uint16)
    pixels[:, 32:] = 1023
    with rasterio.open(path, "w", driver="GTiff", width=64, height=64, count=1, dtype="uint16", nbits=10) as made:
        made.write(pixels, 1)
    for name in ("bilinear", "cubic", "cubic-spline", "lanczos"):
        for size in (40, 150):
            ours = read_ours(path, tmp_path, "--target-size", f"{size},{size}", "--resampling", name)
            with rasterio.open(path) as source:
                theirs = source.read(out_shape=(1, size, size), resampling=OF_GDAL[name])
            assert ours.max() == 1023
            assert_close(ours, theirs)
