#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resampled reads beside GDAL with the same method: `resampling_peers.py [--size N] [--threads N] [--rounds N]`.

Rasters: a fractal elevation model of N x N pixels without overviews (tools/make_rasters.py), as float32 without nodata
and as int16 with holes of nodata; ZSTD, tiles of 512. Targets: a quarter of the size, and 0.37 of it.

  terrazzo   `terrazzo bench read --target-size --resampling`, median of three reads a round
  GDAL       RasterIO through rasterio, NUM_THREADS = threads, opened anew for every read; minimum, maximum and median,
             which RasterIO lacks, by the warper (gdalwarp) with as many threads

With --raster PATH (any number) the first band of these rasters instead. With --cpu the processor time of one thread
instead of elapsed time: load of other processes changes it little.

Results are compared before anything is timed. Prints the median and the worst ratio, then a row for each read.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import make_rasters  # noqa: E402
import numpy as np  # noqa: E402
import rasterio  # noqa: E402
from rasterio.enums import Resampling  # noqa: E402
from rasterio.transform import Affine, from_origin  # noqa: E402
from rasterio.warp import reproject  # noqa: E402

BY_RASTERIO = {"nearest": Resampling.nearest, "average": Resampling.average, "bilinear": Resampling.bilinear,
               "cubic": Resampling.cubic, "cubic-spline": Resampling.cubic_spline, "lanczos": Resampling.lanczos,
               "mode": Resampling.mode, "rms": Resampling.rms}
BY_WARPER = {"min": Resampling.min, "max": Resampling.max, "median": Resampling.med}
NODATA = -32768
PARTS = (0.25, 0.37)


def make_files(folder, size):
    paths = {"f32": folder / f"resampling_f32_{size}.tif", "i16_nodata": folder / f"resampling_i16_{size}.tif"}
    if all(path.exists() for path in paths.values()):
        return paths
    surface = make_rasters.elevation(size)[0]
    holes = np.random.default_rng(3).random((size // 64, size // 64)) < 0.05
    heights = np.clip(np.round(surface), -32000, 32000).astype(np.int16)
    heights[np.kron(holes, np.ones((64, 64), bool))] = NODATA
    common = {"driver": "GTiff", "width": size, "height": size, "count": 1, "tiled": True, "blockxsize": 512,
              "blockysize": 512, "compress": "zstd", "crs": "EPSG:32633", "transform": from_origin(500_000, 5_000_000, 10, 10)}
    with rasterio.open(paths["f32"], "w", dtype="float32", predictor=3, **common) as out:
        out.write(surface, 1)
    with rasterio.open(paths["i16_nodata"], "w", dtype="int16", predictor=2, nodata=NODATA, **common) as out:
        out.write(heights, 1)
    return paths


def spent_by_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Terrazzo:
    def __init__(self, binary, threads, cpu):
        self.binary, self.threads, self.cpu = binary, threads, cpu

    def run(self, *words):
        return subprocess.run([self.binary, *map(str, words)], check=True, capture_output=True, text=True).stdout

    def read(self, path, method, size):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "result.npy"
            self.run("read", path, "--out", out, "--target-size", "{},{}".format(*size), "--resampling", method, "--bands", 1)
            return np.load(out)[0]

    def bench(self, path, method, size, repeat):
        before = spent_by_children()
        told = self.run("bench", "read", path, "--json", "--repeat", repeat, "--threads", self.threads, "--target-size",
                        "{},{}".format(*size), "--resampling", method, "--bands", 1)
        return json.loads(told)["seconds"], spent_by_children() - before

    def seconds(self, path, method, size):
        if self.cpu:  # without the start of the process
            return (self.bench(path, method, size, 4)[1] - self.bench(path, method, size, 1)[1]) / 3
        return self.bench(path, method, size, 3)[0]


class Gdal:
    def __init__(self, threads, cpu):
        self.threads, self.clock = threads, time.process_time if cpu else time.perf_counter

    def read(self, path, method, size):
        with rasterio.Env(GDAL_NUM_THREADS=self.threads), rasterio.open(path, NUM_THREADS=self.threads) as file:
            if method in BY_RASTERIO:
                return file.read(1, out_shape=size[::-1], resampling=BY_RASTERIO[method])
            result = np.empty(size[::-1], file.dtypes[0])
            reproject(rasterio.band(file, 1), result, dst_crs=file.crs, resampling=BY_WARPER[method],
                      dst_transform=file.transform @ Affine.scale(file.width / size[0], file.height / size[1]), num_threads=self.threads)
            return result

    def seconds(self, path, method, size):
        started = self.clock()
        self.read(path, method, size)
        return self.clock() - started


def compare(ours, theirs, what, method):
    """Ends the run if the results differ by more than tests/python/read/test_resampling.py allows. The warper's windows have
    other borders, and its median of an even number is the lower of two: a small part may differ."""
    scale = float(np.abs(theirs).max())
    differs = np.abs(ours.astype(float) - theirs.astype(float)) > (2e-6 * scale if ours.dtype.kind == "f" else 1)
    allowed = 0 if method in BY_RASTERIO else 1 if method == "median" else 0.5
    if differs.mean() > allowed:
        sys.exit(f"{what}: {100 * differs.mean():.2f} % of the pixels differ")
    return differs.mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench")
    parser.add_argument("--raster", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--parts", type=float, nargs="+", default=PARTS)
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--binary", default=os.environ.get("TERRAZZO_BIN", ROOT / "build/release/terrazzo"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if arguments.cpu:
        arguments.threads = 1
    contenders = Terrazzo(arguments.binary, arguments.threads, arguments.cpu), Gdal(arguments.threads, arguments.cpu)
    rows = []
    files = {path.stem: path for path in arguments.raster} or make_files(arguments.folder, arguments.size)
    for name, path in files.items():
        with rasterio.open(path) as file:
            full = file.width, file.height
        for part in arguments.parts:
            size = round(full[0] * part), round(full[1] * part)
            for method in (*BY_RASTERIO, *BY_WARPER):
                what = f"{name}, {method}, {full[0]} to {size[0]} px"
                other = compare(*(contender.read(path, method, size) for contender in contenders), what, method)
                ours, theirs = [], []
                for turn in range(arguments.rounds):
                    for contender, times in tuple(zip(contenders, (ours, theirs)))[::1 if turn % 2 else -1]:
                        times.append(contender.seconds(path, method, size))
                rows.append((name, method, size[0], statistics.median(ours), statistics.median(theirs)))
                print(f"  {what}: {rows[-1][4] / rows[-1][3]:.2f}x, {100 * other:.2f} % differ", file=sys.stderr, flush=True)
    print_table(rows, arguments)


def print_table(rows, arguments):
    ratios = sorted((theirs / ours, f"{name}, {method}, {side} px") for name, method, side, ours, theirs in rows)
    kind = "processor time of one thread" if arguments.cpu else f"{arguments.threads} threads"
    print(f"{kind}, median of {arguments.rounds}: median "
          f"{statistics.median(ratio for ratio, _ in ratios):.2f}x, worst {ratios[0][0]:.2f}x ({ratios[0][1]})\n")
    print("| raster | method | target | terrazzo, ms | GDAL, ms | ratio |\n|---|---|---|---|---|---|")
    for name, method, side, ours, theirs in rows:
        print(f"| {name} | {method} | {side} | {1000 * ours:.0f} | {1000 * theirs:.0f} | {theirs / ours:.2f}x |")


if __name__ == "__main__":
    main()
