#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time and memory of a mosaic of many tiles beside GDAL and rasterio.

  mosaic_peers.py [--real FOLDER] [--tiles N] [--overlap PX] [--size N] [--rounds N] [--threads N]     (all: --help)

Cuts a raster into tiles, GeoTIFFs with ZSTD, and joins them again. The raster is the largest one of a folder of GeoTIFFs
(--real or TERRAZZO_REAL), repeated if it is smaller than --size, or an elevation model of N x N float32 (fractal). Every
contender is a process of its own; the pixels of the results are compared with the raster before times are printed. The
fastest of the rounds counts; CPU seconds are those of user and system over all threads, which depend less on other load;
the peak is the largest resident memory of the contender's processes. Contenders:

  terrazzo   terrazzo mosaic --cog
  gdal       gdalbuildvrt, then gdal_translate -of COG, NUM_THREADS = threads
  rio        rio merge: a plain GeoTIFF without overviews, because it does not write COGs
  rio + cog  rio merge to an uncompressed file, then gdal_translate -of COG
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import rasterio
import real_rasters
from rasterio.transform import from_origin
from rasterio.windows import Window
from write_contenders import make_pixels

ROOT = pathlib.Path(__file__).resolve().parents[1]
PIXEL = 10
COMPARED_ROWS = 1024


def largest_real(folder):
    """The pixels of the raster with the most of them; none without a folder."""
    paths = real_rasters.find(folder)
    if not paths:
        return None, None
    def pixels(path):
        with rasterio.open(path) as file:
            return file.width * file.height * file.count
    name = max(paths, key=lambda name: pixels(paths[name]))
    with rasterio.open(paths[name]) as file:
        return name, file.read()


def choose_raster(arguments):
    name, pixels = largest_real(arguments.real)
    if pixels is None:
        return "fractal", make_pixels("dem", arguments.size)
    repeats = [math.ceil(arguments.size / side) for side in pixels.shape[1:]]
    return name, np.tile(pixels, (1, *repeats))[:, :max(arguments.size, pixels.shape[1]), :max(arguments.size, pixels.shape[2])]


def cut(pixels, arguments):
    """Writes the tiles; their paths from left to right and top to bottom."""
    folder = arguments.folder / "tiles"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    bands, height, width = pixels.shape
    columns = round(math.sqrt(arguments.tiles * width / height)) or 1
    rows = math.ceil(arguments.tiles / columns)
    paths = []
    for row in range(rows):
        top, bottom = row * height // rows, min((row + 1) * height // rows + arguments.overlap, height)
        for column in range(columns):
            left, right = column * width // columns, min((column + 1) * width // columns + arguments.overlap, width)
            path = folder / f"{row:04}_{column:04}.tif"
            with rasterio.open(path, "w", driver="GTiff", width=right - left, height=bottom - top, count=bands,
                               dtype=pixels.dtype, crs="EPSG:32633", compress="zstd", zstd_level=1,
                               predictor=3 if pixels.dtype.kind == "f" else 2, tiled=True, blockxsize=256, blockysize=256,
                               transform=from_origin(4e5 + left * PIXEL, 5e6 - top * PIXEL, PIXEL, PIXEL)) as out:
                out.write(pixels[:, top:bottom, left:right])
            paths.append(path)
    return paths


def contenders(paths, arguments):
    """Name -> (commands, the file that they make). Missing programs are printed as skips."""
    folder, threads = arguments.folder, str(arguments.threads)
    names = folder / "names.txt"
    names.write_text("".join(f"{path}\n" for path in paths))
    vrt, plain = folder / "all.vrt", folder / "plain.tif"
    outs = {name: folder / f"{name.replace(' + ', '_')}.tif" for name in ("terrazzo", "gdal", "rio", "rio + cog")}
    cog = ["-q", "-of", "COG", "-co", "COMPRESS=ZSTD", "-co", "LEVEL=9", "-co", "PREDICTOR=YES", "-co", f"NUM_THREADS={threads}",
           "-co", "OVERVIEW_RESAMPLING=AVERAGE", "-co", "BIGTIFF=YES"]
    rio = pathlib.Path(sys.executable).with_name("rio")
    merge = [rio, "merge", "--overwrite", "--co", "BIGTIFF=YES", *paths]
    all_of_them = {
        "terrazzo": [[arguments.binary, "mosaic", "--inputs-from", names, "-o", outs["terrazzo"], "--cog", "--bigtiff", "yes",
                      "--threads", threads, "--quiet"]],
        "gdal": [["gdalbuildvrt", "-q", "-overwrite", "-input_file_list", names, vrt],
                 ["gdal_translate", *cog, vrt, outs["gdal"]]],
        "rio": [[*merge, "--co", "COMPRESS=ZSTD", "--co", "TILED=YES", "--co", f"NUM_THREADS={threads}", outs["rio"]]],
        "rio + cog": [[*merge, plain], ["gdal_translate", *cog, plain, outs["rio + cog"]]],
    }
    usable = {}
    for name, commands in all_of_them.items():
        missing = [str(command[0]) for command in commands if shutil.which(command[0]) is None]
        if missing:
            print(f"skipped: 1 ({name}: no {missing[0]})", flush=True)
        else:
            usable[name] = (commands, outs[name])
    return usable


# Linux counts the memory of the parent at the moment of fork into the peak of the child, and this process holds the
# raster: a small interpreter starts the contenders.
STARTER = """
import os, subprocess, sys, time
started = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
sys.exit(0 if status == 0 else 1)
"""


def run(commands, limit_s):
    """Seconds and CPU seconds of all commands, and the largest peak in bytes."""
    seconds, cpu, peak = 0, 0, 0
    for command in commands:
        done = subprocess.run([sys.executable, "-S", "-E", "-c", STARTER, *map(str, command)], capture_output=True, text=True,
                              timeout=limit_s)
        if done.returncode != 0:
            raise SystemExit(f"{command[0]}: {done.stderr.strip()}")
        took, worked, found = done.stdout.split()
        seconds, cpu, peak = seconds + float(took), cpu + float(worked), max(peak, int(found))
    return seconds, cpu, peak


def compare(pixels, path):
    with rasterio.open(path) as file:
        if (file.count, file.height, file.width) != pixels.shape:
            raise SystemExit(f"{path}: {file.shape} pixels, not {pixels.shape[1:]}")
        for row in range(0, file.height, COMPARED_ROWS):
            rows = file.read(window=Window(0, row, file.width, min(COMPARED_ROWS, file.height - row)))
            if not np.array_equal(rows, pixels[:, row:row + COMPARED_ROWS], equal_nan=pixels.dtype.kind == "f"):
                raise SystemExit(f"{path}: other pixels in rows from {row} on; the file is kept")


def gdal_version():
    program = shutil.which("gdal_translate")
    return subprocess.run([program, "--version"], capture_output=True, text=True).stdout.split(",")[0] if program else "no GDAL"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    real_rasters.add_option(parser)
    parser.add_argument("--tiles", type=int, default=1000, help="number of tiles, about (default 1000)")
    parser.add_argument("--overlap", type=int, default=16, help="pixels by which neighbours overlap (default 16)")
    parser.add_argument("--size", type=int, default=16384, help="side of the raster (default 16384, 1 GiB of float32)")
    parser.add_argument("--rounds", type=int, default=3, help="the fastest counts (default 3)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--limit", type=float, default=1800, help="seconds that a process may take")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/bench/mosaic", help="where files go")
    parser.add_argument("--binary", type=pathlib.Path,
                        default=os.environ.get("TERRAZZO_BIN", ROOT / "build/release/terrazzo"))
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures here (default FOLDER/mosaic_peers.json)")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()
    arguments.folder.mkdir(parents=True, exist_ok=True)

    name, pixels = choose_raster(arguments)
    paths = cut(pixels, arguments)
    print(f"{name}: {pixels.shape[2]} x {pixels.shape[1]}, {pixels.shape[0]} x {pixels.dtype}, {len(paths)} tiles of "
          f"{pixels.nbytes / len(paths) / 2**20:.1f} MiB, overlap {arguments.overlap} px; {arguments.threads} threads of "
          f"{os.cpu_count()}; fastest of {arguments.rounds}; {gdal_version()}, rasterio {rasterio.__version__}", flush=True)
    times, work, peaks, sizes = {}, {}, {}, {}
    chosen = contenders(paths, arguments)
    for index in range(arguments.rounds):
        for who, (commands, out) in chosen.items():
            seconds, cpu, peak = run(commands, arguments.limit)
            if index == 0:
                compare(pixels, out)
                sizes[who] = out.stat().st_size
            out.unlink()
            times[who] = min(times.get(who, math.inf), seconds)
            work[who] = min(work.get(who, math.inf), cpu)
            peaks[who] = max(peaks.get(who, 0), peak)
    print(f"{'contender':12s} {'seconds':>8s} {'by ours':>8s} {'CPU s':>8s} {'by ours':>8s} {'peak MiB':>9s} {'file MB':>8s}")
    for who in chosen:
        print(f"{who:12s} {times[who]:8.2f} {times[who] / times['terrazzo']:7.2f}x {work[who]:8.2f} "
              f"{work[who] / work['terrazzo']:7.2f}x {peaks[who] / 2**20:9.0f} {sizes[who] / 1e6:8.1f}", flush=True)
    results = {"raster": name, "shape": pixels.shape, "dtype": pixels.dtype.name, "tiles": len(paths),
               "overlap": arguments.overlap, "threads": arguments.threads, "rounds": arguments.rounds,
               "seconds": times, "cpu_seconds": work, "peak_bytes": peaks, "file_bytes": sizes}
    (arguments.json or arguments.folder / "mosaic_peers.json").write_text(json.dumps(results, indent=1) + "\n")
    shutil.rmtree(arguments.folder / "tiles")


if __name__ == "__main__":
    main()
