# SPDX-License-Identifier: Apache-2.0
"""Missing pixels stay missing, and no others become so, whatever is done to values on their way into a file."""

import harness
import numpy as np
import pytest
import rasterio
from rasterio.enums import ColorInterp, Resampling

SHAPE = (96, 80)
HOLES = np.random.default_rng(7).random(SHAPE) < 0.1
HOLES[:24, :40] = True  # whole windows of overviews


def write(path, array, nodata=None, scale=1.0, offset=0.0, **options):
    array = np.asarray(array)
    array = array if array.ndim == 3 else array[np.newaxis]
    with rasterio.open(path, "w", driver="GTiff", width=array.shape[2], height=array.shape[1], count=array.shape[0],
                       dtype=options.pop("dtype", array.dtype), nodata=nodata, tiled=True, blockxsize=32,
                       blockysize=32, **options) as out:
        out.write(array)
        if (scale, offset) != (1.0, 0.0):
            out.scales, out.offsets = [scale] * array.shape[0], [offset] * array.shape[0]
    return path


def heights(dtype="int16", nodata=-9999):
    array = np.random.default_rng(3).integers(100, 20000, SHAPE).astype(dtype)
    array[HOLES] = nodata
    return array


# nodata is kept where it is out of reach: tenths of int16 and 40 end at -3236. It is not where stored -20078 would become
# it, or any scaled float might.
@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("dtype, scale, extra, nodata", [
    ("int16", 0.1, [], -9999), ("int16", 0.5, [], np.nan), ("float32", 0.5, [], np.nan),
    ("int16", 0.1, ["--dtype", "float32"], -9999), ("int16", 3.0, ["--nodata", "-1"], -1),
    ("int16", 0.1, ["--masked"], np.nan), ("int16", 0.1, ["--dtype", "int32"], -9999),
    ("int16", 3.0, ["--dtype", "int32", "--nodata", "-1"], -1), ("int16", 0.1, ["--masked", "--nodata", "-5"], -5)])
def test_missing_pixels_stay_missing_when_unpacked(command, dtype, scale, extra, nodata, tmp_path):
    stored = heights(dtype)
    source = write(tmp_path / "a.tif", stored, -9999, scale, 40.0)
    out = tmp_path / "b.tif"
    harness.run_ok(command, source, "-o", out, "--unpack", "--statistics", "--overviews", "2,4", *extra)
    with rasterio.open(out) as file:
        assert file.nodata == nodata or (np.isnan(nodata) and np.isnan(file.nodata))
        assert file.scales == (1.0,) and file.offsets == (0.0,)
        np.testing.assert_array_equal(file.read_masks(1) == 0, HOLES)
        values = file.read(1)[~HOLES]
        wanted = stored[~HOLES].astype("float64") * scale + 40
        if values.dtype == np.int32:
            wanted = np.floor(wanted + 0.5)
        np.testing.assert_array_equal(values, wanted.astype(values.dtype))
        tags = file.tags(1)
        assert float(tags["STATISTICS_MINIMUM"]) == values.min() and float(tags["STATISTICS_MAXIMUM"]) == values.max()
        assert float(tags["STATISTICS_VALID_PERCENT"]) == pytest.approx(100 * (~HOLES).mean(), abs=0.01)
    for level in (0, 1):
        with rasterio.open(out, overview_level=level) as file:
            pixels, missing = file.read(1), file.read_masks(1) == 0
            assert missing[: 12 >> level, : 20 >> level].all() and not missing[16 >> level:].any()
            assert values.min() <= pixels[~missing].min() and pixels[~missing].max() <= values.max()


def test_read_gives_missing_pixels_as_they_are_or_nan(tmp_path):
    stored = heights()
    kept = harness.read(write(tmp_path / "a.tif", stored, -9999, 0.1), "--unpack", folder=tmp_path)[0]
    np.testing.assert_array_equal(kept, np.where(HOLES, -9999, stored * 0.1))
    mixed = harness.read(write(tmp_path / "a.tif", stored, -9999, 3.0), "--unpack", folder=tmp_path)[0]
    np.testing.assert_array_equal(mixed, np.where(HOLES, np.nan, stored * 3.0))


def test_bands_that_differ_get_one_nodata_when_unpacked(tmp_path):
    """A PAM file gives every band its own; the missing pixels of all of them become one value."""
    source = write(tmp_path / "a.tif", np.stack([heights(nodata=-9999), heights(nodata=-32768)]), None, 0.1)
    (tmp_path / "a.tif.aux.xml").write_text(
        "<PAMDataset>" + "".join(f'<PAMRasterBand band="{i}"><NoDataValue>{value}</NoDataValue></PAMRasterBand>'
                                 for i, value in ((1, -9999), (2, -32768))) + "</PAMDataset>")
    harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--unpack")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.nodata == -9999
        np.testing.assert_array_equal(file.read_masks() == 0, np.stack([HOLES, HOLES]))


def test_pixels_under_a_mask_are_scaled_and_nodata_goes(tmp_path):
    source = tmp_path / "a.tif"
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        write(source, heights(), -9999, 0.1)
        with rasterio.open(source, "r+") as file:
            file.write_mask(~HOLES)
    harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--unpack")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.nodata is None
        np.testing.assert_array_equal(file.read_masks(1) == 0, HOLES)


@pytest.mark.parametrize("dtype, nodata", (("int16", -32768), ("uint8", 0), ("int64", -(2**62) - 1), ("uint16", 65535)))
def test_missing_pixels_become_a_value_of_an_integer(dtype, nodata, tmp_path):
    stored = np.random.default_rng(5).integers(1, 200, SHAPE).astype("float32")
    stored[HOLES] = -9999
    stored[0, -1] = np.nan  # as missing as the marker, where there is no NaN
    source = write(tmp_path / "a.tif", stored, -9999)
    harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--masked", "--dtype", dtype, "--nodata", nodata,
                   "--overviews", "2", "--statistics")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.nodata == float(nodata)
        missing = HOLES.copy()
        missing[0, -1] = True
        wanted = np.where(missing, 0, np.nan_to_num(stored)).astype(dtype)
        wanted[missing] = nodata
        np.testing.assert_array_equal(file.read(1), wanted)
        assert float(file.tags(1)["STATISTICS_MINIMUM"]) == stored[~missing].min()


def test_an_integer_without_a_value_for_missing_pixels_is_refused(tmp_path):
    source = write(tmp_path / "a.tif", heights(), -9999)
    for options in (["--masked", "--dtype", "uint8"], ["--masked", "--dtype", "uint16", "--nodata", "none"]):
        result = harness.run("convert", source, "-o", tmp_path / "b.tif", *options)
        assert result.code == harness.USAGE, str(result)
        assert b"--nodata" in result.stderr and b"--mask" in result.stderr and b'"nan"' not in result.stderr
        assert not (tmp_path / "b.tif").exists()
    harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--masked", "--dtype", "uint8", "--mask")
    with rasterio.open(tmp_path / "b.tif") as file:
        np.testing.assert_array_equal(file.read_masks(1) == 0, HOLES)
    # Nothing is missing here, and nothing needs a value.
    harness.run_ok("convert", write(tmp_path / "c.tif", heights()), "-o", tmp_path / "d.tif", "--masked", "--dtype", "uint8")


@pytest.mark.parametrize("command", ("convert", "cog"))
@pytest.mark.parametrize("option", ("--masked", "--unpack"))
@pytest.mark.parametrize("dtype, nodata, lost", [("float32", 0, 0.3), ("float32", 0, -7), ("float64", 7, 6.6), ("int16", 0, -7)])
def test_pixels_that_would_be_rounded_or_clamped_to_nodata_are_refused(command, option, dtype, nodata, lost, tmp_path):
    stored = np.full(SHAPE, 5, dtype)
    stored[HOLES] = nodata
    stored[-1] = lost
    source = write(tmp_path / "a.tif", stored, nodata)
    missing = stored == nodata
    out = tmp_path / "b.tif"
    result = harness.run(command, source, "-o", out, option, "--dtype", "uint8")
    assert result.code == harness.USAGE, str(result)
    assert b"missing pixels need a value that no valid pixel of uint8" in result.stderr
    assert not out.exists()
    for extra in (["--mask"], ["--nodata", "200"]):
        harness.run_ok(command, source, "-o", out, option, "--dtype", "uint8", *extra)
        with rasterio.open(out) as file:
            np.testing.assert_array_equal(file.read_masks(1) == 0, missing)


def test_wide_integers_that_double_rounds_to_nodata_stay_valid(tmp_path):
    stored = np.array([[2**63 - 1, 2**63 - 2], [5, 2**53 + 1]], "int64").repeat(16, 0).repeat(16, 1)
    source = write(tmp_path / "a.tif", stored)
    harness.run_ok("edit", source, "--nodata", 2**63 - 1)
    harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--unpack")
    with rasterio.open(tmp_path / "b.tif") as file:
        assert np.isnan(file.nodata)
        np.testing.assert_array_equal(file.read_masks(1) == 0, stored == 2**63 - 1)
    kept = harness.read(source, "--unpack", folder=tmp_path)[0]
    np.testing.assert_array_equal(np.isnan(kept), stored == 2**63 - 1)


def test_a_note_tells_of_pixels_that_are_clamped_to_the_named_nodata(tmp_path):
    source = write(tmp_path / "a.tif", heights(), -9999)
    for nodata, is_told in ((255, True), (0, True), (7, False)):
        result = harness.run("convert", source, "-o", tmp_path / "b.tif", "--unpack", "--dtype", "uint8", "--nodata", nodata)
        assert result.code == 0, str(result)
        assert (f"those clamped to {nodata}, the nodata value, become missing".encode() in result.stderr) == is_told


@pytest.mark.parametrize("dtype", ("complex64", "complex128", "complex_int16"))
def test_complex_pixels_are_masked_and_unpacked(dtype, tmp_path):
    rng = np.random.default_rng(2)
    stored = (rng.integers(-900, 900, SHAPE) + 1j * rng.integers(-900, 900, SHAPE)).astype("complex64")
    stored[HOLES] = -9999 + 3j  # GDAL looks at the real part
    source = write(tmp_path / "a.tif", stored, -9999, 0.25, 8.0, dtype=dtype)
    valid = stored[~HOLES].astype("complex128")
    for options, wanted in ((["--masked"], valid), (["--unpack"], valid * 0.25 + 8),
                            (["--masked", "--unpack"], valid * 0.25 + 8)):
        out = tmp_path / "b.tif"
        harness.run_ok("convert", source, "-o", out, *options)
        with rasterio.open(out) as file:
            np.testing.assert_array_equal(file.read(1)[~HOLES], wanted)
            np.testing.assert_array_equal(file.read_masks(1) == 0, HOLES)
            unpacked = "--unpack" in options
            assert file.scales == ((1.0,) if unpacked else (0.25,)) and file.offsets == ((0.0,) if unpacked else (8.0,))
            assert np.isnan(file.nodata) if "--masked" in options or dtype != "complex_int16" else file.nodata == -9999


@pytest.mark.parametrize("dtype", ("complex64", "complex_int16"))
def test_statistics_of_complex_pixels_are_gdals(dtype, tmp_path):
    rng = np.random.default_rng(2)
    stored = (rng.integers(-900, 900, SHAPE) + 1j * rng.integers(-900, 900, SHAPE)).astype("complex64")
    stored[HOLES] = -9999
    source = write(tmp_path / "a.tif", stored, -9999, dtype=dtype)
    with rasterio.open(source) as file:
        theirs = file.stats(indexes=[1])[0]
    harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--statistics")
    with rasterio.open(tmp_path / "b.tif") as file:
        tags = file.tags(1)
    ours = [float(tags[f"STATISTICS_{name}"]) for name in ("MINIMUM", "MAXIMUM", "MEAN", "STDDEV")]
    assert ours == pytest.approx([theirs.min, theirs.max, theirs.mean, theirs.std])


@pytest.mark.parametrize("kind", ("nodata", "mask", "alpha"))
def test_the_mask_of_all_bands_is_that_of_the_dataset(kind, tmp_path):
    rng = np.random.default_rng(9)
    pixels = rng.integers(1, 255, (4, *SHAPE)).astype("uint8")
    pixels[rng.random(pixels.shape) < 0.5] = 0
    source = tmp_path / "a.tif"
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        extra = {"alpha": "yes", "photometric": "rgb"} if kind == "alpha" else {"photometric": "minisblack"}
        write(source, pixels, 0 if kind == "nodata" else None, **extra)
        if kind == "mask":
            with rasterio.open(source, "r+") as file:
                file.write_mask(~HOLES)
    with rasterio.open(source) as file:
        wanted = file.dataset_mask() != 0  # alpha comes in shades, and the mask has none
    assert kind == "mask" or not (wanted == (pixels[0] != 0)).all()
    for bands in ([], ["--bands", "4,1,2,3"]):
        harness.run_ok("convert", source, "-o", tmp_path / "b.tif", "--mask", *bands)
        with rasterio.open(tmp_path / "b.tif") as file:
            np.testing.assert_array_equal(file.dataset_mask() != 0, wanted)


# GDAL takes alpha for a byte where it says what counts: negative nodata, which transparent windows become on the level
# before, and less than a half do not.
@pytest.mark.parametrize("dtype, nodata", [("int16", -9999), ("int16", -1), ("int32", -500), ("float32", -9999),
                                           ("float32", -0.25), ("float64", -1)])
@pytest.mark.parametrize("colors", ("red,green,blue,alpha", "gray,alpha"))
def test_nodata_is_no_alpha_in_overviews(dtype, nodata, colors, tmp_path):
    colors = colors.split(",")
    rng = np.random.default_rng(1)
    pixels = rng.integers(0, 9, (len(colors), 64, 40)).astype(dtype)
    pixels[rng.random(pixels.shape) < 0.3] = nodata
    alpha = rng.integers(1, 256, (64, 40)) * (rng.random((16, 10)) > 0.5).repeat(4, 0).repeat(4, 1)
    pixels[-1] = alpha * (rng.random((64, 40)) > 0.5)
    if dtype.startswith("float"):
        pixels[-1] /= 300
    paths = [tmp_path / "theirs.tif", tmp_path / "ours.tif"]
    for path in paths:
        write(path, pixels, nodata, photometric="rgb" if len(colors) == 4 else "minisblack")
        with rasterio.open(path, "r+") as file:
            file.colorinterp = [ColorInterp[name] for name in colors]
    with rasterio.open(paths[0], "r+") as file:
        file.build_overviews([2, 4, 8], Resampling.average)
    harness.run_ok("overviews", paths[1], "--factors", "2,4,8", "--resampling", "average")
    for level in range(3):
        theirs, ours = (rasterio.open(path, overview_level=level).read() for path in paths)
        np.testing.assert_array_equal(ours, theirs)


# GDAL ignores masks in the mode of uint8, and loses negative nodata in that of signed integers: both give 0 here.
@pytest.mark.parametrize("method", ("nearest", "mode", "min", "max", "median"))
@pytest.mark.parametrize("dtype, nodata", (("int16", -999), ("uint8", 7), ("uint16", 65535), ("float32", -999)))
def test_transparent_windows_do_not_get_nodata_for_alpha(method, dtype, nodata, tmp_path):
    rng = np.random.default_rng(3)
    pixels = rng.integers(20, 200, (2, 64, 64)).astype(dtype)
    pixels[1] = (rng.random((64, 64)) > 0.6) * 200
    pixels[1, :24, :24] = 0
    pixels[0, 20:30, 20:40] = nodata
    source = write(tmp_path / "a.tif", pixels, nodata, photometric="minisblack", alpha="yes")
    harness.run_ok("overviews", source, "--factors", "2,4", "--resampling", method)
    for level in (0, 1):
        with rasterio.open(source, overview_level=level) as file:
            alpha = file.read(2)
        step = 2 << level
        visible = pixels[1].reshape(64 // step, step, 64 // step, step).max((1, 3))
        assert set(np.unique(alpha)) <= {0, 200} and not alpha[visible == 0].any()
        if method != "nearest":
            np.testing.assert_array_equal(alpha, visible)


@pytest.mark.parametrize("extra", (["--dtype", "uint16"], ["--dtype", "float32"], ["--bands", "1,1"], ["--masked"]))
def test_classes_are_not_averaged_whatever_their_type(extra, tmp_path):
    classes = np.random.default_rng(4).choice([1, 7, 200], SHAPE).astype("uint8")
    source = write(tmp_path / "a.tif", classes, photometric="palette")
    with rasterio.open(source, "r+") as file:
        file.write_colormap(1, {i: (i, i, 255 - i) for i in range(256)})
    harness.run_ok("cog", source, "-o", tmp_path / "b.tif", "--overviews", "2", "--tile-size", "32", *extra)
    with rasterio.open(tmp_path / "b.tif", overview_level=0) as file:
        assert set(np.unique(file.read())) == {1, 7, 200}


def test_doubles_become_halves_in_one_rounding(tmp_path):
    """As numpy does it."""
    middles = (np.arange(0x7C00, dtype="uint16").view("float16").astype("float64"))
    middles = (middles + np.append(middles[1:], 65536.0)) / 2
    values = np.concatenate([middles, np.nextafter(middles, 0), np.nextafter(middles, 1e9), -middles,
                             [65519.99999999, 65520.0, 1e300, -1e300, 5e-324]])
    source = write(tmp_path / "a.tif", values[np.newaxis, np.newaxis])
    ours = harness.read(source, "--dtype", "float16", folder=tmp_path)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(ours[0, 0].view("uint16"), values.astype("float16").view("uint16"))


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
def test_stats_of_complex_pixels_leave_out_what_is_missing(dtype, tmp_path):
    rng = np.random.default_rng(2)
    stored = (rng.integers(-900, 900, SHAPE) + 1j * rng.integers(-900, 900, SHAPE)).astype(dtype)
    stored[HOLES] = -9999
    source = write(tmp_path / "a.tif", stored, -9999, 0.25, 8.0)
    for options, values in (([], stored), (["--unpack"], stored * 0.25 + 8)):
        sizes = np.abs(values[~HOLES].astype("complex128"))
        found = harness.run_json("stats", source, "--json", *options)["bands"][0]
        assert found["valid"] == sizes.size
        assert [found["minimum"], found["maximum"], found["mean"]] == pytest.approx([sizes.min(), sizes.max(), sizes.mean()])
