#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of this folder, and facts.json with what GDAL reads from them.

The set that the tests use where there is no corpus: small (together under 200 KB), ours, one file a subject. Pixels
come from formulas, so a second run gives the same rasters. Run with the interpreter of the test environment
(build/venv, made by ./dev test); the files are tracked, so this is only needed to add one.
"""

import hashlib
import json
import os
import pathlib
import warnings

import numpy as np
import rasterio
import rasterio.shutil
import tifffile
from rasterio.control import GroundControlPoint
from rasterio.enums import Resampling
from rasterio.rpc import RPC
from rasterio.transform import from_origin

HERE = pathlib.Path(__file__).parent
UTM = {"crs": "EPSG:32633", "transform": from_origin(400_000, 5_000_000, 10, 10)}

warnings.filterwarnings("ignore", category=rasterio.errors.NotGeoreferencedWarning)


def terrain(height, width, phase=0.0):
    """Smooth hills in metres, rounded to centimetres as elevation models are."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    z = 900 + 200 * np.sin(x / 9 + phase) * np.cos(y / 7) + 30 * np.sin((x + y) / 3 - phase) + (x * y) % 11
    return np.round(z, 2)


def pattern(dtype, bands, height, width):
    """Values over the whole range of an integer type."""
    info = np.iinfo(dtype)
    index = np.arange(bands * height * width, dtype=np.uint64).reshape(bands, height, width)
    mixed = (index * index * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - info.bits)
    return mixed.astype(f"u{info.bits // 8}").view(dtype)


def write(name, array, *, finish=None, **options):
    array = array if array.ndim == 3 else array[None]
    options = {"driver": "GTiff", "dtype": array.dtype.name, **options}
    with rasterio.open(HERE / name, "w", height=array.shape[1], width=array.shape[2], count=array.shape[0],
                       **options) as out:
        out.write(array)
        if finish:
            finish(out)


def make_rasters():
    dem = terrain(75, 101).astype(np.float32)
    dem[:10, :10] = -9999
    write("dem_deflate_p3.tif", dem, compress="deflate", predictor=3, tiled=True, blockxsize=32, blockysize=32,
          nodata=-9999, **UTM)
    write("dem_zstd_p3_big_endian.tif", terrain(40, 50, 1).astype(np.float64), compress="zstd", predictor=3,
          endianness="BIG", **UTM)
    # GDAL reads this but does not write it.
    tifffile.imwrite(HERE / "half_lzw_p3.tif", (terrain(33, 47) / 8).astype(np.float16), compression="lzw",
                     predictor=3, tile=(16, 16), photometric="minisblack")
    write("u16x4_separate_p2_big_endian.tif", pattern(np.uint16, 4, 30, 37), compress="deflate", predictor=2,
          interleave="band", endianness="BIG", tiled=True, blockxsize=16, blockysize=32, **UTM)
    write("i8x7_packbits.tif", pattern(np.int8, 7, 19, 23), compress="packbits", interleave="pixel", **UTM)
    write("u64_lzw_p2_bigtiff.tif", pattern(np.uint64, 1, 21, 33), compress="lzw", predictor=2, bigtiff="yes", **UTM)
    write("complex64_none.tif", (terrain(12, 9) + 1j * terrain(12, 9, 2)).astype(np.complex64), **UTM)
    write("lerc_zstd.tif", terrain(64, 64).astype(np.float32), compress="lerc_zstd", max_z_error=0, tiled=True,
          blockxsize=32, blockysize=32, **UTM)
    write("sparse_bigtiff.tif", np.pad(
        np.full((16, 16), 7, np.uint8), ((16, 160), (32, 240))), compress="deflate", tiled=True, blockxsize=16,
        blockysize=16, bigtiff="yes", sparse_ok=True, nodata=0, **UTM)

    rgb = (pattern(np.uint8, 3, 8, 8).repeat(8, 1).repeat(8, 2) // 2 + 60).astype(np.uint8)
    write("rgb_jpeg.tif", rgb, compress="jpeg", photometric="ycbcr", tiled=True, blockxsize=32, blockysize=32,
          interleave="pixel", jpeg_quality=90, **UTM)
    rgba = np.concatenate([rgb, np.full((1, 64, 64), 255, np.uint8)])
    rgba[3, :20] = 0
    rgba[:3, :20] = 0
    write("rgba_webp.tif", rgba, compress="webp", webp_lossless=True, interleave="pixel", tiled=True, blockxsize=32,
          blockysize=32, photometric="rgb", alpha="yes", **UTM)

    index = pattern(np.uint8, 1, 17, 31) % 16
    write("palette_lzw.tif", index, compress="lzw", blockysize=5, photometric="palette",
          finish=lambda out: out.write_colormap(1, {i: (16 * i, 255 - 16 * i, i, 255) for i in range(16)}), **UTM)
    for bits in (1, 4, 12):
        values = pattern(np.uint16, 1, 13, 29) >> (16 - bits)
        write(f"nbits{bits}_deflate.tif", values.astype(np.uint8 if bits <= 8 else np.uint16), compress="deflate",
              nbits=bits, **UTM)
    write("ccitt_g4.tif", (terrain(40, 61) > 900).astype(np.uint8), compress="ccittfax4", nbits=1, **UTM)

    def describe(out):
        out.scales, out.offsets = (0.01, 0.5), (-100.0, 7.0)
        out.units = ("m", "°C")
        out.descriptions = ("height", "température")
        out.update_tags(title="Größe")
        out.update_tags(1, origin="formula")
        out.update_tags(ns="EXTRA", key="value")
    write("scaled.tif", pattern(np.int16, 2, 11, 13), nodata=-32768, finish=describe, **UTM)

    def control_points(out):
        points = [GroundControlPoint(0, 0, 10.0, 50.0, 5.0, "1"), GroundControlPoint(10, 0, 10.1, 49.0, 5.0, "2"),
                  GroundControlPoint(0, 12, 11.5, 50.2, 6.0, "3"), GroundControlPoint(10, 12, 11.7, 49.1, 6.0, "4")]
        out.gcps = (points, rasterio.crs.CRS.from_epsg(4326))
    write("gcps.tif", pattern(np.uint8, 1, 11, 13), finish=control_points)

    def polynomials(out):
        out.rpcs = RPC(height_off=500.0, height_scale=300.0, lat_off=45.0, lat_scale=0.1, line_off=5.0,
                       line_scale=6.0, long_off=7.0, long_scale=0.2, samp_off=6.0, samp_scale=7.0,
                       line_num_coeff=[0.0, 0.0, -1.0] + [0.0] * 17, line_den_coeff=[1.0] + [0.0] * 19,
                       samp_num_coeff=[0.0, 1.0] + [0.0] * 18, samp_den_coeff=[1.0] + [0.0] * 19)
    write("rpc.tif", pattern(np.uint8, 1, 11, 13), finish=polynomials)

    # Overviews and masks, inside the file and beside it.
    mask = np.full((96, 96), 255, np.uint8)
    mask[40:, :30] = 0
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        with rasterio.open(HERE / "inner.tmp.tif", "w", driver="GTiff", width=96, height=96, count=1, dtype="uint16",
                           **UTM) as out:
            out.write(terrain(96, 96).astype(np.uint16), 1)
            out.write_mask(mask)
        rasterio.shutil.copy(HERE / "inner.tmp.tif", HERE / "cog_mask_overviews.tif", driver="COG", blocksize=128,
                             compress="zstd", predictor="YES", overview_resampling="nearest", overview_count=2)
        os.unlink(HERE / "inner.tmp.tif")
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False, TIFF_USE_OVR=True, COMPRESS_OVERVIEW="DEFLATE",
                      GDAL_TIFF_OVR_BLOCKSIZE=64):
        with rasterio.open(HERE / "sidecars.tif", "w", driver="GTiff", width=96, height=96, count=1, dtype="uint8",
                           compress="lzw", tfw="yes") as out:
            out.write((terrain(96, 96) / 8).astype(np.uint8), 1)
            out.write_mask(mask)
        with rasterio.open(HERE / "sidecars.tif", "r+") as out:
            out.build_overviews([2, 4], Resampling.nearest)
    (HERE / "sidecars.tfw").write_text("10.0\n0.0\n0.0\n-10.0\n400005.0\n4999995.0\n")

    # Pages, in the other byte order, by another writer.
    with tifffile.TiffWriter(HERE / "pages.tif", byteorder=">") as out:
        for page in range(3):
            out.write(pattern(np.int32, 1, 9 + page, 14)[0], compression="zlib", rowsperstrip=4,
                      photometric="minisblack")


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def facts(path):
    """As the corpus's manifest has them; see tests/python/corpus_facts.py."""
    with rasterio.open(path) as file:
        pixels = file.read()
        gcps, gcp_crs = file.gcps
        entry = {
            "width": file.width, "height": file.height, "count": file.count, "dtypes": list(file.dtypes),
            "nodata": [None if n is None else float(n) for n in file.nodatavals],
            "crs_epsg": file.crs.to_epsg() if file.crs else None, "crs_wkt": file.crs.to_wkt() if file.crs else None,
            "geotransform": None if file.transform.is_identity else list(file.transform.to_gdal()),
            "colorinterp": [c.name for c in file.colorinterp],
            "mask_flags": [[f.name for f in flags] for flags in file.mask_flag_enums],
            "scales": list(file.scales), "offsets": list(file.offsets),
            "units": [u or "" for u in file.units], "descriptions": [d or "" for d in file.descriptions],
            "tags": file.tags(), "rpc": file.rpcs is not None,
            "bands": [{"sha256": digest(band)} for band in pixels], "pixels_sha256": digest(pixels),
        }
        entry["tags"].pop("AREA_OR_POINT", None)
        if gcps:
            first = gcps[0]
            entry["gcps"] = {"count": len(gcps), "crs_epsg": gcp_crs.to_epsg(),
                             "first": [first.row, first.col, first.x, first.y, first.z]}
        if any("per_dataset" in f and "alpha" not in f for f in entry["mask_flags"]):
            entry["mask"] = {"sha256": digest(file.read_masks(1))}
        levels = len(file.overviews(1))
        subdatasets = file.subdatasets
    entry["overviews"] = []
    for level in range(levels):
        with rasterio.open(path, overview_level=level) as file:
            entry["overviews"].append({"width": file.width, "height": file.height,
                                       "pixels_sha256": digest(file.read())})
    if subdatasets:
        entry["pages"] = []
        for page in range(1, len(subdatasets) + 1):
            with rasterio.open(f"GTIFF_DIR:{page}:{path}") as file:
                entry["pages"].append({"dir": str(page), "width": file.width, "height": file.height,
                                       "count": file.count, "pixels_sha256": digest(file.read())})
    lossy = "jpeg" in path.name
    samples = [[int(r), int(c), [int(v) for v in pixels[:, r, c]]] for r, c in ((0, 0), (5, 40), (33, 31), (63, 63))
               ] if lossy else []
    result = {"gdal": entry, "tiff": {"compression_name": "jpeg" if lossy else ""}}
    if lossy:
        result["lossy_codec"] = True
        entry["samples"] = samples
    return result


def main():
    for old in HERE.glob("*.*"):
        if old.suffix in (".tif", ".ovr", ".msk", ".tfw", ".xml"):
            old.unlink()
    make_rasters()
    for stray in HERE.glob("*.aux.xml"):
        stray.unlink()
    files = {path.name: facts(path) for path in sorted(HERE.glob("*.tif"))}
    (HERE / "facts.json").write_text(json.dumps(files, indent=1, ensure_ascii=False) + "\n")
    total = sum(path.stat().st_size for path in HERE.iterdir())
    print(f"{len(files)} files, {total / 1000:.0f} kB in all")
    assert total < 200_000


if __name__ == "__main__":
    main()
