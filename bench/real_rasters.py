# SPDX-License-Identifier: Apache-2.0
"""A folder of real rasters for the benchmarks: `--real FOLDER`, or the environment variable TERRAZZO_REAL.

The folder holds GeoTIFFs, *.tif, as their producers or their users compress them. Each file is one row of a table, named
after the file. Benchmarks that write take the pixels of a file; files with equal pixels count once.
"""

import os
import pathlib
import statistics
import sys
import zlib

import numpy as np
import rasterio

LOSSY = ("jpeg", "webp", "jxl", "lerc", "jpeg2000")


def add_option(parser):
    parser.add_argument("--real", type=pathlib.Path, default=os.environ.get("TERRAZZO_REAL") or None, metavar="FOLDER",
                        help="a folder of real GeoTIFFs to measure beside the fractals (default: TERRAZZO_REAL)")


def find(folder, wanted=lambda name: True):
    """Paths by name, in the order of names; none without a folder, which is printed as a skip."""
    if folder is None:
        print("skipped: 1 (real rasters: neither --real nor TERRAZZO_REAL names a folder of GeoTIFFs)", flush=True)
        return {}
    folder = pathlib.Path(folder).resolve()
    paths = {path.stem: path for path in sorted(folder.glob("*.tif"))}
    if not paths:
        sys.exit(f"{folder}: there are no GeoTIFFs (*.tif)")
    return {name: path for name, path in paths.items() if wanted(name)}


def find_pixels(folder, supported, wanted=lambda name: True):
    """Paths by name of files to take pixels from: one of those with equal pixels, and none that a lossy codec wrote.
    Files of other sample types than the supported ones are printed as skips."""
    paths, seen = {}, {}
    for name, path in find(folder).items():
        with rasterio.open(path, num_threads="ALL_CPUS") as file:
            if str(file.compression.name if file.compression else "none").lower() in LOSSY:
                continue
            if file.dtypes[0] not in supported:
                print(f"skipped: 1 ({name}: samples of {file.dtypes[0]})")
                continue
            key = zlib.crc32(file.read().reshape(-1).view(np.uint8)), file.shape, file.count, file.dtypes[0]
        if key not in seen and wanted(name):
            paths[name] = path
        seen.setdefault(key, name)
    return {without_codec(name, paths): path for name, path in paths.items()}


def without_codec(name, names):
    """The part of a name before the first "_", where it is that of one raster only."""
    first = name.split("_")[0]
    return first if [other.split("_")[0] for other in names].count(first) == 1 else name


def progress(index, count, name):
    """On the error stream, since tables come when all their rows are known."""
    print(f"  {index + 1} of {count}: {name}", file=sys.stderr, flush=True)


def spread(ratios, worst=min):
    """Median, worst and whose it is, of ratios by name."""
    name = worst(ratios, key=ratios.get)
    return {"median": statistics.median(ratios.values()), "worst": ratios[name], "worst_name": name, "count": len(ratios)}


def print_spread(label, ratios, worst=min, unit="x"):
    """One line: median and worst. Nothing without ratios."""
    if not ratios:
        return None
    told = spread(ratios, worst)
    print(f"  {label:34s} median {told['median']:5.2f}{unit}  worst {told['worst']:5.2f}{unit} ({told['worst_name']}), "
          f"{told['count']} rows", flush=True)
    return told
