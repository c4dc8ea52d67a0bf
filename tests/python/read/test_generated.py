# SPDX-License-Identifier: Apache-2.0
"""Files made on the spot by GDAL and tifffile over codec x predictor x type x layout x byte order, pixel by pixel."""

import harness
import imagecodecs
import numpy as np
import pytest
import rasterio
import rasters
import tifffile
from pairwise import all_pairs, product
from pixels import (COMPLEX, FLOATS, GDAL_KNOWS_FLOAT16, INTEGERS, LERC_TYPES, SIZES, assert_same, for_lerc, name_of,
                    read_gdal)

WITH_PREDICTOR = ("lzw", "deflate", "zstd")
# name -> GDAL's creation options
GDAL_LAYOUTS = {
    "strips-of-1": {"blockysize": 1},
    "strips-of-7": {"blockysize": 7},
    "one-strip": {"blockysize": 100000},
    "tiles-16": {"tiled": True, "blockxsize": 16, "blockysize": 16},
    "tiles-64x32": {"tiled": True, "blockxsize": 64, "blockysize": 32},
    "tiles-256": {"tiled": True, "blockxsize": 256, "blockysize": 256},
}

GDAL_AXES = {
    "compress": ("none", "lzw", "deflate", "zstd", "packbits", "lzma", "lerc", "lerc_deflate", "lerc_zstd", "jpeg",
                 "webp"),
    "predictor": (1, 2, 3),
    "dtype": INTEGERS + FLOATS + COMPLEX,
    "layout": tuple(GDAL_LAYOUTS),
    "interleave": ("pixel", "band"),
    "bands": (1, 3, 4, 7),
    "size": tuple(SIZES),
    "endianness": ("LITTLE", "BIG"),
    "bigtiff": ("NO", "YES"),
    "sparse": (False, True),
}


def gdal_valid(case):
    codec, dtype, predictor = case["compress"], case["dtype"], case["predictor"]
    if dtype == "float16" and not GDAL_KNOWS_FLOAT16:
        return False
    if predictor != 1 and codec not in WITH_PREDICTOR:
        return False
    if predictor == 2 and (dtype in COMPLEX or dtype == "float16"):
        return False  # GDAL refuses to write them
    if predictor == 3 and dtype not in ("float32", "float64"):
        return False
    if codec.startswith("lerc") and dtype not in LERC_TYPES:
        return False
    if codec == "jpeg" and (dtype != "uint8" or case["layout"] in ("strips-of-1", "strips-of-7")):
        return False  # strips of a multiple of 8 rows only
    if codec == "webp" and (dtype != "uint8" or case["bands"] not in (3, 4) or case["interleave"] != "pixel"):
        return False
    return True


def gdal_cases():
    if harness.FULL:
        axes = {**GDAL_AXES, "bands": (3,), "size": ("odd", "large"), "bigtiff": ("NO",), "sparse": (False,)}
        return list(product(axes, gdal_valid))
    return all_pairs(GDAL_AXES, gdal_valid, limit=200)


def write_gdal(path, array, case):
    """By rasterio; blocks of zeros are left out of sparse files."""
    options = {"compress": case["compress"], "interleave": case["interleave"], "endianness": case["endianness"],
               "bigtiff": case["bigtiff"], **GDAL_LAYOUTS[case["layout"]]}
    if case["predictor"] != 1:
        options["predictor"] = case["predictor"]
    if case["compress"] == "webp":
        options["webp_lossless"] = True
    if case["sparse"]:
        options["sparse_ok"] = True
    if "tiled" not in options:
        options["blockysize"] = min(options["blockysize"], array.shape[1])
    with rasterio.open(path, "w", driver="GTiff", width=array.shape[2], height=array.shape[1], count=array.shape[0],
                       dtype=case["dtype"], **options) as out:
        out.write(array)


@pytest.mark.parametrize("case", gdal_cases(), ids=name_of)
def test_reads_what_gdal_wrote(case, tmp_path):
    height, width = SIZES[case["size"]]
    array = rasters.make(case["dtype"], case["bands"], height, width)
    if case["compress"].startswith("lerc"):
        array = for_lerc(array)
    if case["sparse"]:
        array[:, : height // 2 + 1] = 0
    path = tmp_path / "a.tif"
    write_gdal(path, array, case)
    theirs = read_gdal(path)
    if case["compress"] != "jpeg":  # the oracle is only as good as its own round trip
        written = rasters.as_pairs(array, np.int16) if case["dtype"] == "complex_int16" else array
        assert_same(theirs, written)
    assert_same(harness.read(path, folder=tmp_path), theirs)

    column, row = width // 3, height // 3
    window = (column, row, max(1, width // 2), max(1, height // 2))
    bands = [case["bands"], 1]
    part = harness.read(path, "--window", ",".join(map(str, window)), "--bands", ",".join(map(str, bands)),
                        folder=tmp_path)
    box = np.s_[:, row:row + window[3], column:column + window[2]]
    assert_same(part, theirs[[b - 1 for b in bands]][box])


# -- tifffile: layouts and codecs that GDAL does not write ------------------------------------------------------------

TIFFFILE_AXES = {
    "compression": (None, "lzw", "zlib", "deflate", "zstd", "packbits", "lzma", "lerc", "jpeg2000", "jpegxl"),
    "predictor": (1, 2, 3),
    "dtype": INTEGERS + FLOATS + ("complex64", "complex128"),
    "layout": ("strips-of-5", "one-strip", "tiles-16x32", "tiles-128"),
    "planar": ("contig", "separate"),
    "bands": (1, 2, 3, 5),
    "byteorder": ("<", ">"),
    "bigtiff": (False, True),
}
TIFFFILE_LAYOUTS = {
    "strips-of-5": {"rowsperstrip": 5},
    "one-strip": {"rowsperstrip": 1000},
    "tiles-16x32": {"tile": (16, 32)},
    "tiles-128": {"tile": (128, 128)},
}


def tifffile_valid(case):
    codec, dtype, predictor = case["compression"], case["dtype"], case["predictor"]
    if predictor != 1 and codec not in ("lzw", "zlib", "deflate", "zstd", "lzma"):
        return False
    if predictor == 2 and dtype not in INTEGERS:
        return False
    if predictor == 3 and dtype not in FLOATS:
        return False
    if codec in ("lerc", "jpeg2000", "jpegxl") and case["byteorder"] == ">" and np.dtype(dtype).itemsize > 1:
        return False  # tifffile does not write them
    if codec == "lerc" and dtype not in LERC_TYPES:
        return False
    if codec == "jpeg2000" and dtype not in ("uint8", "uint16", "int16"):
        return False
    if codec == "jpegxl" and (dtype not in ("uint8", "uint16", "float32") or case["planar"] == "contig" and
                              case["bands"] not in (1, 3)):
        return False
    return not (case["bands"] == 1 and case["planar"] == "separate")


def tifffile_cases():
    if harness.FULL:
        return list(product({**TIFFFILE_AXES, "bands": (1, 3), "bigtiff": (False,)}, tifffile_valid))
    return all_pairs(TIFFFILE_AXES, tifffile_valid, limit=150)


LOSSLESS_ARGS = {"jpeg2000": {"level": 0, "reversible": True}, "jpegxl": {"lossless": True}, "lerc": {"level": 0}}


@pytest.mark.parametrize("case", tifffile_cases(), ids=name_of)
def test_reads_what_tifffile_wrote(case, tmp_path):
    array = rasters.make(case["dtype"], case["bands"], 43, 61)
    if case["compression"] == "lerc":
        array = for_lerc(array)
    if case["compression"] == "jpegxl" and case["dtype"] == "float32":
        array = np.nan_to_num(array, posinf=1, neginf=0) / 4096  # the codec's own range
        array = np.clip(array, 0, 1).astype(np.float32)
    contiguous = case["planar"] == "contig" and case["bands"] > 1
    data = np.moveaxis(array, 0, -1) if contiguous else (array[0] if case["bands"] == 1 else array)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, data, compression=case["compression"], photometric="minisblack",
                     compressionargs=LOSSLESS_ARGS.get(case["compression"]),
                     predictor=case["predictor"] if case["predictor"] > 1 else None,
                     planarconfig=None if case["bands"] == 1 else case["planar"], byteorder=case["byteorder"],
                     bigtiff=case["bigtiff"], **TIFFFILE_LAYOUTS[case["layout"]])
    stored = tifffile.imread(path)
    stored = np.moveaxis(stored, -1, 0) if contiguous else stored.reshape(array.shape)
    assert_same(np.ascontiguousarray(stored), array)
    assert_same(harness.read(path, folder=tmp_path), array)


@pytest.mark.parametrize("byteorder", "<>")
def test_reads_24_bit_floats(byteorder, tmp_path):
    """24-bit floats have 1 sign, 7 exponent and 16 mantissa bits; only libtiff and imagecodecs know them."""
    values = np.array([[0.0, 1.0, -2.5, 1024.0, 0.125, -0.00390625, 65280.0, 3.140625]], np.float32).repeat(4, 0)
    packed = imagecodecs.float24_encode(values, byteorder=byteorder)
    path = tmp_path / "f24.tif"
    rasters.build_tiff(path, width=8, height=4, bits=24, sample_format=3, data=packed, byteorder=byteorder)
    assert_same(harness.read(path, folder=tmp_path)[0], values)


def reversed_bits(data):
    return np.packbits(np.unpackbits(np.frombuffer(data, np.uint8)).reshape(-1, 8)[:, ::-1]).tobytes()


# Numbers that few writers use.
ENCODERS = {
    50004: imagecodecs.lz4f_encode,
    32946: imagecodecs.zlib_encode,
    33003: lambda a: imagecodecs.jpeg2k_encode(a, level=0, reversible=True, codecformat="j2k"),
    33005: lambda a: imagecodecs.jpeg2k_encode(a, level=0, reversible=True, codecformat="j2k"),
    34712: lambda a: imagecodecs.jpeg2k_encode(a, level=0, reversible=True, codecformat="jp2"),
    50002: lambda a: imagecodecs.jpegxl_encode(a, lossless=True),
    52546: lambda a: imagecodecs.jpegxl_encode(a, lossless=True),
    34887: lambda a: imagecodecs.lerc_encode(a, level=0),
}


@pytest.mark.parametrize("byteorder", "<>")
@pytest.mark.parametrize("compression", list(ENCODERS))
def test_reads_codecs_by_all_their_numbers(compression, byteorder, tmp_path):
    array = rasters.make("uint8", 1, 30, 41)[0]
    path = tmp_path / "a.tif"
    rasters.build_tiff(path, width=41, height=30, bits=8, sample_format=1, data=bytes(ENCODERS[compression](array)),
                       byteorder=byteorder, compression=compression)
    assert_same(harness.read(path, folder=tmp_path)[0], array)


def test_refuses_a_codec_that_gives_other_samples_than_the_file_says(tmp_path):
    """WebP decodes to three bands or four; the file says one."""
    pixels = np.moveaxis(rasters.make("uint8", 3, 30, 41), 0, -1)
    path = tmp_path / "a.tif"
    rasters.build_tiff(path, width=41, height=30, bits=8, sample_format=1, byteorder="<", compression=50001,
                       data=imagecodecs.webp_encode(np.ascontiguousarray(pixels), lossless=True))
    result = harness.run("checksum", "--json", path)
    assert result.code in (harness.UNSUPPORTED, harness.MALFORMED), str(result)


@pytest.mark.parametrize("bits", (1, 4, 8, 16))
def test_fill_order_2_reverses_bits(bits, tmp_path):
    stored = rasters.make("uint8", 1, 30, 40)[0].tobytes()
    path = tmp_path / "a.tif"
    shape = {"width": 40 * 8 // bits, "height": 30, "bits": bits, "sample_format": 1, "byteorder": "<"}
    rasters.build_tiff(path, data=stored, **shape)
    straight = harness.read(path, folder=tmp_path)
    rasters.build_tiff(path, data=reversed_bits(stored), extra=[(266, 3, 2)], **shape)
    assert_same(harness.read(path, folder=tmp_path), straight)
    assert_same(straight, read_gdal(path))


# -- bits -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interleave", ("pixel", "band"))
@pytest.mark.parametrize("bits", range(1, 17))
def test_reads_unsigned_samples_of_any_width(bits, interleave, tmp_path):
    dtype = np.uint8 if bits <= 8 else np.uint16
    array = (rasters.make("uint16", 3, 21, 19) >> (16 - bits)).astype(dtype)
    path = tmp_path / "a.tif"
    tiles = {"compress": "deflate", "tiled": True, "blockxsize": 16, "blockysize": 16}
    for options in ({}, {"compress": "lzw"}, tiles):
        with rasterio.open(path, "w", driver="GTiff", width=19, height=21, count=3, dtype=dtype, nbits=bits,
                           interleave=interleave, **options) as out:
            out.write(array)
        # Not `array`: GDAL 3.12 itself loses bits of the last row of an uncompressed 1-bit file of separate bands.
        theirs = read_gdal(path)
        assert_same(harness.read(path, folder=tmp_path), theirs)
        assert_same(harness.read(path, "--window", "3,2,11,9", folder=tmp_path), theirs[:, 2:11, 3:14])


@pytest.mark.parametrize("bits", (17, 20, 24, 31))
def test_reads_more_than_sixteen_bits(bits, tmp_path):
    array = rasters.make("uint32", 1, 21, 19) >> (32 - bits)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=19, height=21, count=1, dtype="uint32", nbits=bits) as out:
        out.write(array)
    assert_same(harness.read(path, folder=tmp_path), read_gdal(path))


@pytest.mark.parametrize("compress", ("ccittrle", "ccittfax3", "ccittfax4", "packbits", "lzw"))
def test_reads_bilevel_images(compress, tmp_path):
    array = (rasters.make("uint8", 1, 40, 61) > 120).astype(np.uint8)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=61, height=40, count=1, dtype="uint8", nbits=1,
                       compress=compress) as out:
        out.write(array)
    assert_same(harness.read(path, folder=tmp_path), array)


def test_reads_float32_stored_in_16_bits_as_gdal(tmp_path):
    array = np.round(rasters.make("float16", 1, 20, 20).astype(np.float32), 3)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=20, height=20, count=1, dtype="float32", nbits=16) as out:
        out.write(array)
    theirs = read_gdal(path)
    assert_same(harness.read(path, folder=tmp_path), theirs)
