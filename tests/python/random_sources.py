# SPDX-License-Identifier: Apache-2.0
"""Source files for random_options.py: made by GDAL or tifffile from a seed, or taken from the corpus."""

import functools
import pathlib
import shutil

import harness
import numpy as np
import rasterio
import rasters
import tifffile
from pixels import COMPLEX, FLOATS, INTEGERS, LERC_TYPES, for_lerc
from rasterio.enums import ColorInterp, Resampling

SIDES = (1, 2, 7, 16, 31, 33, 37, 64, 65, 100, 127, 129, 160, 201)
NODATA = {"uint8": (0, 255, 7), "int8": (-128, 0), "uint16": (0, 65535, 7), "int16": (-32768, -9999, 0),
          "uint32": (0, 4294967295), "int32": (-2147483648, -9999), "uint64": (0, 7), "int64": (-9999, 0),
          "float16": (-999.0, float("nan")), "float32": (-9999.0, float("nan"), -3.4028234663852886e38, 0.0),
          "float64": (-9999.0, float("nan"), 1e300, 0.0), "complex64": (0.0, -9999.0), "complex128": (0.0, -9999.0),
          "complex_int16": (0.0, -9999.0)}
CRS = ("EPSG:32632", "EPSG:4326", "EPSG:3857", None)
GDAL_CODECS = ("none", "none", "lzw", "deflate", "zstd", "packbits", "lzma", "lerc", "lerc_deflate", "lerc_zstd",
               "webp")
CORPUS_PIXELS = 150_000  # samples of the largest file of the corpus that is taken


def make_source(rng, folder):
    """A file in `folder`, or the corpus; `rng` is random.Random."""
    draw = rng.random()
    if draw < 0.22 and corpus_files():
        return harness.CORPUS / rng.choice(corpus_files())
    path = pathlib.Path(folder) / "source.tif"
    if draw < 0.32:
        make_by_tifffile(rng, path)
    else:
        make_by_gdal(rng, path)
    return path


@functools.cache
def corpus_files():
    """Small files whose pixels the manifest has from GDAL and that lose nothing when decoded."""
    chosen = []
    for name, entry in harness.manifest().items():
        gdal = entry.get("gdal", {})
        if entry["kind"] != "tiff" or entry["bad"] or entry.get("lossy_codec") or "pixels_sha256" not in gdal:
            continue
        if gdal["width"] * gdal["height"] * gdal["count"] > CORPUS_PIXELS or gdal["count"] > 8:
            continue
        if gdal.get("native_type") == "CInt32" or name in ODD_CORPUS_FILES:
            continue
        chosen.append(name)
    return sorted(chosen)


# Files that GDAL and Terrazzo describe differently on purpose: EXCEPTIONS of corpus_facts.py, where it is about pixels.
ODD_CORPUS_FILES = (
    "geosolutions-it+imageio-ext/plugin/tiff/src/test/resources/it/geosolutions/imageio/tiff/test-data/external.tif",
)


def size(rng):
    return rng.choice(SIDES), rng.choice(SIDES)


def make_pixels(rng, dtype, bands, height, width, codec):
    array = rasters.make(dtype, bands, height, width, seed=rng.randrange(1000))
    if codec.startswith("lerc"):
        array = for_lerc(array)
    elif rng.random() < 0.6 and array.dtype.kind in "fc":  # ordinary values: overviews of others are mostly infinite
        array = tame(array)
    return array


def tame(array):
    if array.dtype.kind == "c":
        return rasters.join(tame(array.real), tame(array.imag), array.dtype)
    return np.where(np.isfinite(array) & (np.abs(array) < 60_000), array, array.dtype.type(3))


def hole(rng, height, width):
    """Pixels that are missing: single ones, and a block."""
    y, x = np.mgrid[0:height, 0:width]
    missing = (3 * y + 5 * x) % rng.choice((5, 7, 11)) == 0
    row, column = rng.randrange(height), rng.randrange(width)
    missing[row:row + 1 + height // 3, column:column + 1 + width // 3] = True
    return missing


def georeference(rng):
    profile = {}
    if (crs := rng.choice(CRS)) is not None:
        profile["crs"] = crs
    kind = rng.choice(("north-up", "north-up", "rotated", "none"))
    if kind == "north-up":
        step = rng.choice((0.25, 1, 10, 1 / 3))
        west, north = rng.choice((5e5, -180, 12.5)), rng.choice((5e6, 80.125))
        profile["transform"] = rasterio.Affine(step, 0, west, 0, -step, north)
    elif kind == "rotated":
        profile["transform"] = rasterio.Affine(10, 2.5, 5e5, 1.25, -10, 5e6)
    return profile


def layout(rng, width, height):
    if rng.random() < 0.5:
        across, down = rng.choice((16, 32, 64, 128, 256)), rng.choice((16, 48, 64, 128))
        return {"tiled": True, "blockxsize": across, "blockysize": down}
    return {"blockysize": min(height, rng.choice((1, 5, 8, 64, 1000)))}


def gdal_dtype(rng, codec):
    if codec == "webp":
        return "uint8"
    if codec.startswith("lerc"):
        return rng.choice(LERC_TYPES)
    return rng.choice(("uint8",) * 4 + INTEGERS + FLOATS + ("float32", "float64") + COMPLEX)


def make_by_gdal(rng, path):
    codec = rng.choice(GDAL_CODECS)
    dtype = gdal_dtype(rng, codec)
    height, width = size(rng)
    bands = rng.choice((3, 4)) if codec == "webp" else rng.choice((1, 1, 2, 3, 4, 5))
    array = make_pixels(rng, dtype, bands, height, width, codec)
    profile = {"driver": "GTiff", "width": width, "height": height, "count": bands, "dtype": dtype,
               "compress": codec, "interleave": "pixel" if codec == "webp" else rng.choice(("pixel", "band")),
               "bigtiff": rng.choice(("NO", "NO", "YES")), "endianness": rng.choice(("LITTLE",) * 4 + ("BIG",)),
               **layout(rng, width, height), **georeference(rng)}
    if codec == "webp":
        profile["webp_lossless"] = True
    if codec in ("lzw", "deflate", "zstd"):
        profile["predictor"] = rng.choice((1, 2) if dtype in INTEGERS else (1, 3) if dtype in FLOATS[1:] else (1,))
    if rng.random() < 0.1:
        profile["sparse_ok"] = True
        array[:, : height // 2 + 1] = 0
    bits = None
    if dtype == "uint8" and codec in ("none", "deflate", "packbits") and rng.random() < 0.12:
        bits = profile["nbits"] = rng.choice((1, 2, 4))
        array >>= 8 - bits
        profile.pop("predictor", None)
    colours(rng, profile, bits)
    kind, missing = rng.choice(("none", "none", "nodata", "nodata", "mask", "alpha", "alpha and nodata")), None
    alpha = alpha_band(profile) if kind.startswith("alpha") and bits is None else None
    if alpha is not None:
        profile["alpha"] = "yes"
        if dtype == "float32":
            array[alpha] = np.clip(tame(array[alpha]), 1, 255)  # to GDAL alpha below 1 may be 0
        array[alpha][hole(rng, height, width)] = 0
    if kind == "nodata" or (alpha is not None and kind == "alpha and nodata"):
        profile["nodata"] = nodata = rng.choice(NODATA[dtype])
        if bits is None or nodata < 2**bits:
            for band in np.delete(np.arange(bands), [] if alpha is None else alpha):
                array[band][hole(rng, height, width)] = nodata
    elif kind == "mask":
        missing = hole(rng, height, width)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=rng.random() < 0.8):
        with rasterio.open(path, "w", **profile) as out:
            out.write(array)
            describe(rng, out, alpha)
            if missing is not None:
                out.write_mask(np.where(missing, 0, 255).astype(np.uint8))
        if rng.random() < 0.3 and max(height, width) > 4 and dtype not in COMPLEX:
            with rasterio.Env(TIFF_USE_OVR=rng.random() < 0.2), rasterio.open(path, "r+") as out:
                out.build_overviews(rng.choice(([2], [2, 4], [3])), Resampling.nearest)


def colours(rng, profile, bits):
    bands, dtype = profile["count"], profile["dtype"]
    if bands == 1 and dtype == "uint8":
        profile["photometric"] = rng.choice(("minisblack", "minisblack", "miniswhite", "palette"))
    elif bands >= 3 and dtype in ("uint8", "uint16") and bits is None:
        profile["photometric"] = rng.choice(("rgb", "minisblack")) if profile["compress"] != "webp" else "rgb"


def alpha_band(profile):
    """GDAL's ALPHA=YES makes alpha of the first band that is no colour; None where it is of no use."""
    band = 3 if profile.get("photometric") == "rgb" else 1
    known = profile["dtype"] in ("uint8", "uint16", "int16", "float32")
    return band if known and band < profile["count"] else None


def describe(rng, out, alpha):
    if out.profile.get("photometric") == "palette":
        out.write_colormap(1, {i: (i, 255 - i, i * 7 % 256, 255) for i in range(256)})
    if rng.random() < 0.35:
        scales = [rng.choice((1.0, 0.01, 2.0, -0.5)) for _ in range(out.count)]
        offsets = [rng.choice((0.0, -7.5, 100.0)) for _ in range(out.count)]
        if alpha is not None:
            scales[alpha], offsets[alpha] = 1.0, 0.0
        out.scales, out.offsets = scales, offsets
    if rng.random() < 0.3:
        out.descriptions = [f"band number {i}" for i in range(out.count)]
        out.units = ["m"] * out.count
        out.update_tags(AUTHOR="me", EMPTY_NOT="x")
    if rng.random() < 0.1 and out.count > 1 and alpha is None and out.profile.get("photometric") != "rgb":
        out.colorinterp = [ColorInterp.gray] + [ColorInterp.undefined] * (out.count - 1)


def make_by_tifffile(rng, path):
    """What GDAL does not write: other predictors and byte orders, float16 with a predictor, no GeoTIFF tags at all."""
    codec = rng.choice((None, "lzw", "zlib", "zstd", "packbits", "lzma"))
    dtype = rng.choice(INTEGERS + FLOATS + ("complex64", "complex128"))
    height, width = size(rng)
    bands = rng.choice((1, 1, 2, 3, 5))
    array = make_pixels(rng, dtype, bands, height, width, "none")
    planar = rng.choice(("contig", "separate")) if bands > 1 else None
    data = array[0] if bands == 1 else np.moveaxis(array, 0, -1) if planar == "contig" else array
    predictor = None
    if codec in ("lzw", "zlib", "zstd") and rng.random() < 0.6:
        predictor = 2 if dtype in INTEGERS else 3 if dtype in FLOATS else None
    blocks = rng.choice(({"rowsperstrip": 5}, {"rowsperstrip": 1000}, {"tile": (16, 32)}, {"tile": (64, 64)}))
    tifffile.imwrite(path, data, compression=codec, photometric="minisblack", predictor=predictor, planarconfig=planar,
                     byteorder=rng.choice("<>"), bigtiff=rng.random() < 0.2, metadata=None, **blocks)


def copy_with_sidecars(source, folder):
    """Into `folder`, to be changed there."""
    for path in source.parent.glob(source.name + "*"):
        if path.name in (source.name, source.name + ".aux.xml", source.name + ".ovr", source.name + ".msk"):
            shutil.copyfile(path, folder / path.name)
    return folder / source.name
