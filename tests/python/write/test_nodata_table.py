# SPDX-License-Identifier: Apache-2.0
"""Source type x target type x option: as many valid pixels as GDAL keeps, or the reason why not (docs/writing.md).

gdal_translate writes a VRT, which rasterio's newer GDAL reads: the VRT has gdal_translate's nodata value, and the
pixels are those of the GDAL that rasterio has. For types that Debian's gdal_translate lacks, the test writes the VRT."""

import re
import subprocess

import harness
import numpy as np
import pytest
import rasterio
from rasterio.enums import MaskFlags

GDAL_NAMES = {"uint8": "Byte", "int8": "Int8", "uint16": "UInt16", "int16": "Int16", "uint32": "UInt32", "int32": "Int32",
              "uint64": "UInt64", "int64": "Int64", "float16": "Float16", "float32": "Float32", "float64": "Float64"}
TARGETS = tuple(GDAL_NAMES)
LATER = ("int8", "float16")  # than GDAL 3.6
HAS_FLOAT16 = tuple(map(int, rasterio.__gdal_version__.split(".")[:2])) >= (3, 11)
if not HAS_FLOAT16:
    TARGETS = tuple(name for name in TARGETS if name != "float16")
COMMON = ("uint8", "int16", "uint16", "int32", "float32", "float64")
LOWEST = float(np.finfo("float32").min)
SOURCES = {  # values beside the ends of types, and nodata
    "byte 255": ("uint8", 255, [0, 1, 127, 128, 200, 254]),
    "byte 0": ("uint8", 0, [1, 2, 127, 128, 254, 255]),
    "int16 -9999": ("int16", -9999, [-32768, -5, 0, 7, 255, 256, 32767]),
    "int16 -32768": ("int16", -32768, [-32767, -5, 0, 7, 255, 256, 32767]),
    "uint16 65535": ("uint16", 65535, [0, 1, 255, 256, 32767, 32768, 65534]),
    "int32 lowest": ("int32", -2147483648, [-70000, -5, 0, 7, 300, 40000, 70000, 2147483647]),
    "float32 lowest": ("float32", LOWEST, [-70000, -32768.4, -0.3, 0, 0.4, 1.5, 254.6, 300.2, 70000, 5e9]),
    "float32 -9999": ("float32", -9999, [-70000, -9999.4, -0.3, 0, 0.4, 1.5, 254.6, 300.2, 70000]),
    "float32 nan": ("float32", np.nan, [-70000, -0.3, 0, 0.4, 1.5, 254.6, 300.2, 70000]),
    "float32 none": ("float32", None, [-70000, -0.3, 0, 0.4, 1.5, 254.6, 300.2, 70000]),
    "float64 1e300": ("float64", 1e300, [-70000, -0.3, 0, 1.5, 254.6, 300.2, 5e9]),
    "int8 -128": ("int8", -128, [-127, -1, 0, 1, 127]),
    "uint32 highest": ("uint32", 2**32 - 1, [0, 1, 255, 256, 32768, 65536, 2**31]),
    "int64 -9999": ("int64", -9999, [-70000, -5, 0, 7, 300, 70000, 2**31, 2**40]),
    "uint64 7": ("uint64", 7, [0, 1, 255, 256, 70000, 2**32, 2**40]),
}
BY_MASK = {  # a mask or alpha says which pixels are missing
    "int16 mask": ("int16", None, [-32768, -5, 0, 7, 255, 256, 32767]),
    "uint16 alpha": ("uint16", None, [0, 1, 255, 256, 32767, 32768, 65535]),
}
SHAPE = (20, 45)
CONVERTED = {}


def make(path, name, scale=1.0, offset=0.0):
    """Writes the source; returns its pixels and which of them are missing."""
    dtype, nodata, values = {**SOURCES, **BY_MASK}[name]
    array = np.resize(np.array(values, dtype), SHAPE)
    missing = np.random.default_rng(1).random(SHAPE) < 0.2
    bands = 2 if "alpha" in name else 1
    if nodata is not None:
        array[missing] = nodata
    elif name not in BY_MASK:
        missing[:] = False
    with (rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
          rasterio.open(path, "w", driver="GTiff", width=SHAPE[1], height=SHAPE[0], count=bands, dtype=dtype, nodata=nodata,
                        **({"alpha": "yes"} if bands == 2 else {})) as out):
        out.write(array, 1)
        if bands == 2:
            out.write(np.where(missing, 0, 65535).astype(dtype), 2)
        if "mask" in name:
            out.write_mask(~missing)
        if scale != 1:
            out.scales, out.offsets = [scale, 1][:bands], [offset, 0][:bands]  # alpha has none
    return array, missing


def nearest(value, dtype):
    """The nodata value rounded and clamped to a type."""
    if np.isnan(value) or dtype in ("float32", "float64"):
        return value
    if dtype == "float16":
        return float(np.float16(min(max(value, -65504), 65504)))
    info = np.iinfo(dtype)
    return int(min(max(round(value), info.min), info.max))


def written_vrt(source, path, dtype, unscale):
    """What gdal_translate -ot would write if it knew the type."""
    with rasterio.open(source) as file:
        nodata, scale, offset = file.nodata, file.scales[0], file.offsets[0]
        kept = f"<NoDataValue>{nearest(nodata, dtype)!r}</NoDataValue>" if nodata is not None else ""
        mask = f'''<MaskBand><VRTRasterBand dataType="Byte"><SimpleSource>
<SourceFilename relativeToVRT="0">{source}</SourceFilename><SourceBand>mask,1</SourceBand></SimpleSource></VRTRasterBand></MaskBand>'''
        mask = mask if file.mask_flag_enums[0] == [MaskFlags.per_dataset] else ""
        kind = "ComplexSource" if unscale else "SimpleSource"
        change = f"<ScaleOffset>{offset}</ScaleOffset><ScaleRatio>{scale}</ScaleRatio>" if unscale else ""
        if unscale and nodata is not None:
            change += f"<NODATA>{nodata!r}</NODATA>"
        path.write_text(f'''<VRTDataset rasterXSize="{file.width}" rasterYSize="{file.height}">
<VRTRasterBand dataType="{GDAL_NAMES[dtype]}" band="1">{kept}<{kind}><SourceFilename relativeToVRT="0">{source}</SourceFilename>
<SourceBand>1</SourceBand>{change}</{kind}></VRTRasterBand>{mask}</VRTDataset>''')


def by_gdal(source, dtype, *options):
    """Pixels, mask and nodata value of gdal_translate. Sources with the same bytes are converted once."""
    key = (source.read_bytes(), dtype, *options)
    if key not in CONVERTED:
        path = source.with_suffix(".vrt")
        with rasterio.open(source) as file:
            is_later = dtype in LATER or file.dtypes[0] in LATER
        if is_later:
            written_vrt(source, path, dtype, "-unscale" in options)
        else:
            subprocess.run(["gdal_translate", "-q", "-of", "VRT", "-ot", GDAL_NAMES[dtype], *options, source, path], check=True,
                           capture_output=True)
        with rasterio.open(path) as file:
            CONVERTED[key] = file.read(1), file.read_masks(1), file.nodata
    return CONVERTED[key]


def by_us(source, dtype, *options):
    out = source.with_suffix(".out.tif")
    result = harness.run_ok("convert", source, "-o", out, "--dtype", dtype, *options)
    with rasterio.open(out) as file:
        return file.read(1), file.read_masks(1), file.nodata, result.stderr.decode()


def same(a, b):
    """GDAL before 3.7 rounds the text of float32's lowest number to 16 digits."""
    return a == b or (a is not None and b is not None and np.isclose(a, b, rtol=1e-15, atol=0, equal_nan=True))


# GDAL makes NaN 0 or the lowest integer: C++ leaves it open, and it depends on the processor and on the place of the
# pixel in its row. This holds for pixels and for the nodata value. Ours is always 0.
def is_unsure_in_gdal(name, dtype):
    return name == "float32 nan" and not dtype.startswith("float")


def assert_same_nodata(name, dtype, ours, gdals):
    if is_unsure_in_gdal(name, dtype):
        assert ours == 0, dtype
    else:
        assert same(ours, gdals), dtype


def is_lost_by_gdal(name, dtype, mask, missing):
    """GDAL clamps the nodata value to the largest float and the pixels to infinity, and drops nodata that a 64-bit type
    cannot hold: missing pixels become data."""
    may_be = dtype in ("float16", "uint64", "int64") or "64" in name or (name, dtype) == ("float64 1e300", "float32")
    return may_be and bool(missing.any()) and bool((mask[missing] != 0).all())


@pytest.mark.parametrize("name", SOURCES)
def test_narrowing_keeps_what_gdal_keeps(name, tmp_path):
    source = tmp_path / "a.tif"
    _, missing = make(source, name)
    nodata = SOURCES[name][1]
    for dtype in TARGETS:
        pixels, mask, value = by_gdal(source, dtype)
        ours, our_mask, our_value, told = by_us(source, dtype)
        assert (our_mask[missing] == 0).all(), f"{dtype}: missing pixels became data"
        if is_lost_by_gdal(name, dtype, mask, missing):
            continue
        assert_same_nodata(name, dtype, our_value, value)
        if is_unsure_in_gdal(name, dtype):
            np.testing.assert_array_equal(our_mask == 0, ours == our_value)
            np.testing.assert_array_equal(ours[missing], 0)
            np.testing.assert_array_equal(ours[~missing], pixels[~missing], dtype)
        else:
            np.testing.assert_array_equal(our_mask, mask, dtype)
            np.testing.assert_array_equal(ours, pixels, dtype)
        if nodata is not None and not same(our_value, nodata):
            assert "the nearest value of " + dtype in told
        is_rounded = name.startswith("float32 -9999") or dtype == "float16"  # no value is clamped
        if (our_mask == 0).sum() > missing.sum() and not is_rounded:
            assert "become missing" in told, f"{dtype}: valid pixels became missing silently"


def test_a_nodata_value_is_rounded_as_pixels_are(tmp_path):
    """GDAL rounds the value -9999.5 to -9999 and the pixels to -10000: they become data."""
    source = tmp_path / "a.tif"
    stored = np.where(np.eye(32) > 0, -9999.5, 7).astype("float32")
    with rasterio.open(source, "w", driver="GTiff", width=32, height=32, count=1, dtype="float32", nodata=-9999.5) as out:
        out.write(stored, 1)
    assert (by_gdal(source, "int16")[1] != 0).all()
    pixels, mask, nodata, _ = by_us(source, "int16")
    assert nodata == -10000
    np.testing.assert_array_equal(mask == 0, stored == -9999.5)


def test_nan_is_missing_where_nodata_is(tmp_path):
    """GDAL writes NaN as 0 or as the lowest integer, which are data."""
    source = tmp_path / "a.tif"
    stored = np.full((32, 32), 5, "float32")
    stored[0], stored[1] = np.nan, -9999
    with rasterio.open(source, "w", driver="GTiff", width=32, height=32, count=1, dtype="float32", nodata=-9999) as out:
        out.write(stored, 1)
    assert (by_gdal(source, "int16")[1][0] != 0).all()
    pixels, mask, _, _ = by_us(source, "int16")
    assert (mask[:2] == 0).all() and (mask[2:] != 0).all()
    # A float keeps NaN, as in GDAL.
    pixels, _, nodata, _ = by_us(source, "float64")
    assert np.isnan(pixels[0]).all() and (pixels[1] == -9999).all() and nodata == -9999


@pytest.mark.parametrize("name", [name for name in SOURCES if SOURCES[name][1] is not None])
@pytest.mark.parametrize("option", ([], ["--masked"], ["--unpack"]))
def test_a_new_nodata_value_reaches_the_pixels(name, option, tmp_path):
    """gdalwarp -dstnodata does it; gdal_translate -a_nodata changes the tag only."""
    source = tmp_path / "a.tif"
    _, missing = make(source, name)
    for dtype in COMMON:
        value = 99  # no pixel becomes it
        pixels, mask, found, _ = by_us(source, dtype, "--nodata", value, *option)
        assert found == value
        np.testing.assert_array_equal(mask == 0, missing, dtype)
        np.testing.assert_array_equal(pixels[missing], value)
        np.testing.assert_array_equal(pixels[~missing], by_gdal(source, dtype)[0][~missing])


@pytest.mark.parametrize("name", [name for name in SOURCES if SOURCES[name][1] is not None])
def test_unpacking_keeps_what_gdal_keeps(name, tmp_path):
    source = tmp_path / "a.tif"
    _, missing = make(source, name, 0.5, 10)
    # float64 and NaN: any scaled value might be the nodata value (docs/cli.md).
    gdal, gdal_mask, _ = by_gdal(source, "float64", "-unscale")
    ours, mask, _, _ = by_us(source, "float64", "--unpack")
    np.testing.assert_array_equal(mask == 0, missing)
    np.testing.assert_array_equal(gdal_mask == 0, missing)
    np.testing.assert_array_equal(ours[~missing], gdal[~missing])
    # Other types have a nodata value that no pixel becomes.
    for dtype in TARGETS:
        gdal = by_gdal(source, dtype, "-unscale")[0]
        ours, mask, _, _ = by_us(source, dtype, "--unpack", "--nodata", 99)
        np.testing.assert_array_equal(mask == 0, missing, dtype)
        # GDAL scales float32 in float32.
        np.testing.assert_allclose(ours[~missing].astype(float), gdal[~missing].astype(float), rtol=1e-6, atol=0, err_msg=dtype)


# -- the table of docs/writing.md -------------------------------------------------------------------------------------

PAGE = harness.ROOT / "docs/writing.md"
ROWS = [name for name in (*SOURCES, *BY_MASK) if name not in ("byte 0", "int16 -32768", "float32 -9999", "float32 none")]


def valid_of_us(source, dtype, *options):
    """The number of valid pixels; None if the command is refused."""
    out = source.with_suffix(".out.tif")
    result = harness.run("convert", source, "-o", out, "--dtype", dtype, *options)
    if result.code == harness.USAGE:
        return None
    assert result.code == harness.OK, str(result)
    with rasterio.open(out) as file:
        return int((file.read_masks(1) != 0).sum())


def cell(name, source, dtype, option, missing):
    words = [option] if option != "--dtype" else []
    ours = valid_of_us(source, dtype, *words)
    if ours is None:
        assert dtype[0] != "f", "a float has NaN for missing pixels"
        return "refused"
    is_plain_band = "alpha" in name and dtype not in ("uint8", "uint16")  # alpha of another type is no mask, as in GDAL
    if option != "--dtype" and not (is_plain_band and option == "--unpack"):
        assert ours == (~missing).sum(), f"{name} {dtype} {option}"
    if option == "--masked" or is_unsure_in_gdal(name, dtype):
        return str(ours)
    gdals = int((by_gdal(source, dtype, *(["-unscale"] if words else []))[1] != 0).sum())
    return str(ours) if ours == gdals else f"{ours} / {gdals}"


def table(option, folder):
    lines = [f"| `{option}`, source | " + " | ".join(TARGETS) + " |", "|---" * (len(TARGETS) + 1) + "|"]
    for index, name in enumerate(ROWS):
        source = folder / f"{index}.tif"
        _, missing = make(source, name, *((0.5, 10) if option == "--unpack" else ()))
        lines.append(f"| {name} | " + " | ".join(cell(name, source, dtype, option, missing) for dtype in TARGETS) + " |")
    return lines


@pytest.mark.parametrize("option", ("--dtype", "--unpack", "--masked"))
@pytest.mark.skipif(not HAS_FLOAT16, reason="this GDAL has no float16")
def test_the_page_has_the_counts_of_valid_pixels(option, tmp_path):
    """The message of a failure is the table to put there."""
    lines = table(option, tmp_path)
    stated = re.search(rf"^\| `{option}`, source \|.*?(?=^$)", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert stated is not None and stated[0].splitlines() == lines, "\n" + "\n".join(lines)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith(("byte", "int16", "uint16", "int32", "float32"))])
@pytest.mark.parametrize("dtype, scale", (("uint8", (0, 300, 0, 255)), ("uint8", (0, 250, 200, 10)), ("int16", (-10, 10, -1000, 1000)),
                                          ("float32", (0, 256, 0, 1)), ("float64", (0, 128, 50, 20))))
def test_a_scale_is_gdals_clamped_to_its_range(name, dtype, scale, tmp_path):
    source = tmp_path / "a.tif"
    _, missing = make(source, name)
    nodata = SOURCES[name][1]
    gdal, _, value = by_gdal(source, "float64", "-scale", *map(str, scale))
    ours, mask, found, _ = by_us(source, dtype, "--scale", ",".join(map(str, scale)))
    wanted = np.clip(gdal, min(scale[2:]), max(scale[2:]))
    if dtype[0] != "f":
        wanted = np.trunc(wanted + np.copysign(0.5, wanted))
    valid = ~missing
    # GDAL scales float32 in float32.
    np.testing.assert_allclose(ours[valid], wanted[valid], rtol=2e-6, atol=1e-5 if dtype[0] == "f" else 0)
    assert (mask[missing] == 0).all()
    if nodata is not None:
        assert_same_nodata(name, dtype, found, by_gdal(source, dtype, "-scale", *map(str, scale))[2])
        np.testing.assert_array_equal(mask == 0, (ours == found) | missing)
