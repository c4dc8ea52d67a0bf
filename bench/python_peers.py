#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing rasters from Python: terrazzo beside rasterio, rioxarray and xarray-spatial, in one run.

  python_peers.py [--real FOLDER] [--size N] [--rounds N] [--only PATTERN]

Files: real rasters (--real or TERRAZZO_REAL) and fractals of tools/make_rasters.py. A read takes a file to a new array, a
write takes an array to a new file that nobody waits for; every contender uses all cores. Contenders come in pairs of the
same kind of result:

  terrazzo.read             rasterio's read()               a numpy array
  engine="terrazzo"         rioxarray.open_rasterio()       a DataArray with CRS and coordinates
  terrazzo.open_geotiff()   xrspatial's open_geotiff()      a DataArray with the attributes of xrspatial
  terrazzo.write()          rasterio's write()              a tiled GeoTIFF or a COG, deflate 6 and zstd 9
  .terrazzo.to_geotiff()    .rio.to_raster()                the same
  terrazzo.to_geotiff()     xrspatial's to_geotiff()        the same

Pixels are compared before anything is timed; a file that a contender refuses is a note. Prints the median of the rounds,
in milliseconds, and for each pair the median and the worst ratio.
"""

import argparse
import pathlib
import re
import statistics
import sys
import tempfile
import time
import warnings

import numpy as np
import rasterio
import rasterio.errors
import rioxarray
import xarray as xr

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "bench")]

import make_rasters  # noqa: E402
import real_rasters  # noqa: E402
import terrazzo  # noqa: E402

try:
    from xrspatial import geotiff as xrspatial
except ImportError:
    xrspatial = None

warnings.filterwarnings("ignore")

LEVELS = {"deflate": 6, "zstd": 9}
TYPES = ("uint8", "uint16", "int16", "float32")
PAIRS = {"numpy": ("terrazzo", "rasterio"), "xarray": ("terrazzo, engine", "rioxarray"),
         "geotiff": ("terrazzo, geotiff", "xarray-spatial")}
TILE = 512


# -- contenders: functions that return pixels (band, y, x), and functions that write them ----------------------------


def read_with_rasterio(path):
    with rasterio.open(path, num_threads="ALL_CPUS") as src:
        return src.read()


def read_with_engine(path):
    with xr.open_dataset(path, engine="terrazzo", mask_and_scale=False, cache=False) as ds:
        return ds.band_data.load().values


def read_with_rioxarray(path):
    with rioxarray.open_rasterio(path, num_threads="ALL_CPUS", cache=False) as array:
        return array.load().values


def bands_first(array):
    return array.values[np.newaxis] if array.ndim == 2 else array.values.transpose(2, 0, 1)


def readers():
    found = {"terrazzo": lambda path: terrazzo.read(path), "rasterio": read_with_rasterio, "terrazzo, engine": read_with_engine,
             "rioxarray": read_with_rioxarray}
    flags = {"allow_internal_only_jpeg": True, "max_pixels": 1 << 40}
    if xrspatial is not None:
        found["terrazzo, geotiff"] = lambda path: bands_first(terrazzo.open_geotiff(path, **flags))
        found["xarray-spatial"] = lambda path: bands_first(xrspatial.open_geotiff(path, **flags))
    return found


class Pixels:
    """The pixels of a file, and the DataArrays that each library makes of that file."""

    def __init__(self, path):
        with rasterio.open(path) as src:
            self.profile = {key: src.profile[key] for key in ("width", "height", "count", "dtype", "crs", "transform")}
        self.values = terrazzo.read(path)
        self.predictor = 3 if self.values.dtype.kind == "f" else 2
        self.rioxarray = rioxarray.open_rasterio(path).load()
        self.engine = xr.open_dataset(path, engine="terrazzo", mask_and_scale=False).band_data.load()
        self.geotiff = terrazzo.open_geotiff(path, max_pixels=1 << 40)


def gdal_options(pixels, codec, cog):
    level = {"deflate": "zlevel", "zstd": "zstd_level"}[codec]
    if cog:
        return {"driver": "COG", "compress": codec, "level": LEVELS[codec], "predictor": "YES", "num_threads": "ALL_CPUS",
                "blocksize": TILE, "overview_resampling": "average"}
    return {"driver": "GTiff", "compress": codec, level: LEVELS[codec], "predictor": pixels.predictor, "num_threads": "ALL_CPUS",
            "tiled": True, "blockxsize": TILE, "blockysize": TILE, "bigtiff": "IF_SAFER"}


def writers(pixels, codec, cog):
    ours = {"compression": codec, "level": LEVELS[codec], "tile_size": TILE, "cog": cog, "durability": "none"}
    theirs = gdal_options(pixels, codec, cog)
    contract = {"compression": codec, "compression_level": LEVELS[codec], "tile_size": TILE, "cog": cog, "predictor": True}

    def write_with_rasterio(path):
        with rasterio.open(path, "w", **pixels.profile, **theirs) as out:
            out.write(pixels.values)

    found = {
        "terrazzo": lambda path: terrazzo.write(path, pixels.values, crs=pixels.profile["crs"].to_wkt(),
                                                transform=pixels.profile["transform"], **ours),
        "rasterio": write_with_rasterio,
        "terrazzo, engine": lambda path: pixels.engine.terrazzo.to_geotiff(path, **ours),
        "rioxarray": lambda path: pixels.rioxarray.rio.to_raster(path, **theirs),
    }
    if xrspatial is not None:
        found["terrazzo, geotiff"] = lambda path: terrazzo.to_geotiff(pixels.geotiff, path, **contract)
        found["xarray-spatial"] = lambda path: xrspatial.to_geotiff(pixels.geotiff, path, **contract)
    return found


# -- measuring --------------------------------------------------------------------------------------------------------


def able(contenders, label, check):
    """The contenders whose result passes `check`; one that refuses is a note."""
    found = {}
    for name, run in contenders.items():
        try:
            check(run)
        except AssertionError:
            raise
        except Exception as error:  # every library has errors of its own
            print(f"  note: {label}: {name}: {str(error).splitlines()[0][:120]}", flush=True)
            continue
        found[name] = run
    return found


def interleaved(contenders, rounds):
    """name -> median milliseconds; every round runs each contender once, the order rotating."""
    times = {name: [] for name in contenders}
    names = list(contenders)
    for index in range(rounds):
        turn = index % len(names)
        for name in names[turn:] + names[:turn]:
            start = time.perf_counter()
            contenders[name]()
            times[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(values) for name, values in times.items()}


def measure_read(path, rounds):
    expected = terrazzo.read(path)
    with rasterio.open(path) as src:
        tolerance = 2 if src.profile.get("compress") == "jpeg" else 0  # decoders of JPEG differ

    def check(run):
        seen = run(path)
        assert seen.shape == expected.shape and seen.dtype == expected.dtype
        if tolerance:
            np.testing.assert_allclose(seen.astype(np.int16), expected.astype(np.int16), atol=tolerance)
        else:
            np.testing.assert_array_equal(seen, expected)

    contenders = able(readers(), path.name, check)
    return interleaved({name: (lambda run=run: run(path)) for name, run in contenders.items()}, rounds)


def measure_write(pixels, label, codec, cog, folder, rounds):
    target = folder / "written.tif"

    def check(run):
        run(str(target))
        np.testing.assert_array_equal(read_with_rasterio(target), pixels.values)

    def timed(run):
        target.unlink(missing_ok=True)  # outside of no contender's time: each replaces its own file
        run(str(target))

    contenders = able(writers(pixels, codec, cog), label, check)
    times = interleaved({name: (lambda run=run: timed(run)) for name, run in contenders.items()}, rounds)
    for leftover in folder.glob("written.tif*"):
        leftover.unlink()
    return times


def print_table(title, rows):
    names = [name for pair in PAIRS.values() for name in pair]
    print(f"\n{title}\n")
    for kind, (ours, theirs) in PAIRS.items():
        real_rasters.print_spread(f"{kind}: times as fast as {theirs}",
                                  {label: times[theirs] / times[ours] for label, times in rows.items() if {ours, theirs} <= set(times)})
    print(f"\n| ms | {' | '.join(names)} |\n{'|---' * (len(names) + 1)}|")
    for label, times in rows.items():
        print(f"| {label} | {' | '.join(f'{times[name]:.0f}' if name in times else '-' for name in names)} |")
    sys.stdout.flush()


def measure(title, source_folder, arguments, folder):
    def wanted(name):
        return re.search(arguments.only, name)

    paths = real_rasters.find(source_folder, wanted)
    reads = {}
    for index, (name, path) in enumerate(paths.items()):
        real_rasters.progress(index, len(paths), f"read {name}")
        reads[name] = measure_read(path, arguments.rounds)
    if reads:
        print_table(f"{title}: whole files to memory", reads)
    sources = real_rasters.find_pixels(source_folder, TYPES, wanted) if paths else {}
    writes = {False: {}, True: {}}
    for index, (name, path) in enumerate(sources.items()):
        real_rasters.progress(index, len(sources), f"write {name}")
        pixels = Pixels(path)
        for codec in LEVELS:
            for cog, rows in writes.items():
                rows[f"{name} {codec}"] = measure_write(pixels, f"{name} {codec}", codec, cog, folder, arguments.rounds)
    for cog, rows in writes.items():
        if rows:
            print_table(f"{title}: memory to a {'COG' if cog else 'GeoTIFF'}", rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    real_rasters.add_option(parser)
    parser.add_argument("--size", type=int, default=4096, help="side of the fractals in pixels; 0: none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="a pattern that names of files match")
    arguments = parser.parse_args()
    if xrspatial is None:
        print("skipped: 1 (xarray-spatial is not installed: pip install -r tools/requirements-bench.txt)")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        measure("real rasters", arguments.real, arguments, folder)
        if arguments.size:
            fractals = folder / "fractals"
            names = {name for name in make_rasters.plan(arguments.size) if re.search(arguments.only, name)}
            make_rasters.make(fractals, arguments.size, only=names)
            measure("fractals", fractals, arguments, folder)


if __name__ == "__main__":
    main()
