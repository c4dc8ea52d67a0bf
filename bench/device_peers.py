#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""File to GPU array, beside GDAL: `device_peers.py FOLDER --bench PATH` on a machine with a GPU.

Reads real rasters (a folder of GeoTIFFs: --real or TERRAZZO_REAL) and those of tools/make_rasters.py in FOLDER by GDAL
(rasterio, all cores, then one copy to the GPU by CuPy) and by device_bench, in the same run, and checks that both saw the
same pixels: device_bench prints a digest of the pixels, and the same is computed here of GDAL's. For each set the median
and the worst ratio come first, then the rows. Windows: 10,000 random ones of 256 pixels over 32 files, into one tensor.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import statistics
import subprocess
import threading
import time

import cupy
import numpy as np
import rasterio
import real_rasters
from rasterio.transform import from_origin
from rasterio.windows import Window

ROWS = ["dem_f32_zstd_p3_512", "dem_f32_zstd_p3_256", "dem_f32_deflate_p3_256", "dem_f32_deflate_p3_512",
        "s2_u16x4_lzw_p2_512", "dem_f32_lzw_p3_512", "dem_f32_none_512", "rgb_u8_jpeg_512"]
WINDOWS, WINDOW_SIZE, WINDOW_FILES = 10_000, 256, 32


def digest(array):
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    words = raw[:raw.size // 8 * 8].view(np.uint64)
    total, step = 0, 1 << 24
    with np.errstate(over="ignore"):
        for at in range(0, words.size, step):
            part = words[at:at + step]
            weights = np.arange(at, at + part.size, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
            total += int((part * weights).sum(dtype=np.uint64))
    return total % 2**64


def gdal_to_device(path, repeats):
    """Median seconds of decoding with all threads and of the copy, and the pixels."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        with rasterio.open(path, num_threads="ALL_CPUS") as source:
            pixels = source.read()
        on_device = cupy.asarray(pixels)
        cupy.cuda.runtime.deviceSynchronize()
        times.append(time.perf_counter() - started)
        del on_device
    return statistics.median(times), pixels


def random_numbers(count):
    state, numbers = 1, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 33) & 0xFFFFFFFF)
    return numbers


def make_window_files(folder):
    """32 pieces of the elevation model, zstd with predictor 3, 512 px tiles."""
    paths = [folder / f"piece_{i:02}.tif" for i in range(WINDOW_FILES)]
    if all(path.exists() for path in paths):
        return paths
    with rasterio.open(folder / "dem_f32_none_512.tif") as source:
        width, height = source.width // 4, source.height // 8
        for i, path in enumerate(paths):
            piece = source.read(window=Window((i % 4) * width, (i // 4) * height, width, height))
            with rasterio.open(path, "w", driver="GTiff", width=width, height=height, count=1, dtype="float32", tiled=True,
                               blockxsize=512, blockysize=512, compress="zstd", zstd_level=9, predictor=3,
                               num_threads="ALL_CPUS", transform=from_origin(4e5, 5e6, 10, 10)) as out:
                out.write(piece)
    return paths


def gdal_windows(paths, threads):
    numbers = random_numbers(WINDOWS * 3)
    result = np.empty((WINDOWS, 1, WINDOW_SIZE, WINDOW_SIZE), np.float32)
    result.fill(0)  # its pages are there before the clock starts
    own = threading.local()

    def read(i):
        if not hasattr(own, "files"):
            own.files = [rasterio.open(path) for path in paths]
        source = own.files[numbers[3 * i] % len(paths)]
        column = numbers[3 * i + 1] % (source.width - WINDOW_SIZE + 1)
        row = numbers[3 * i + 2] % (source.height - WINDOW_SIZE + 1)
        source.read(out=result[i], window=Window(column, row, WINDOW_SIZE, WINDOW_SIZE))

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(read, range(threads)))  # opens the files
        started = time.perf_counter()
        list(pool.map(read, range(WINDOWS), chunksize=16))
        on_device = cupy.asarray(result)
        cupy.cuda.runtime.deviceSynchronize()
        seconds = time.perf_counter() - started
    del on_device
    return seconds, result


def run_bench(bench, arguments):
    return subprocess.run([bench, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False).stdout


def measure(name, path, bench, repeats):
    """A row: GDAL's milliseconds, ours, the ratio, and all that device_bench told."""
    seconds, pixels = gdal_to_device(path, 3)
    # nvCOMP decodes ZSTD at stated trust only; the default is measured beside it.
    told = run_bench(bench, ["--trusted", "--repeat", repeats, path])
    if "zstd" in name:
        told += "  at default trust: " + run_bench(bench, ["--quick", "--repeat", repeats, path])
    ours = [float(value) for value in re.findall(r"steady +([\d.]+) ms", told)]
    seen = re.search(r"digest (\d+)", told)
    same = "same pixels" if seen and int(seen[1]) == digest(pixels) else "pixels differ" if seen else "lossy"
    ratios = [seconds * 1e3 / value for value in ours]
    return {"name": name, "gdal_ms": seconds * 1e3, "pixels": same, "told": told,
            "ratio": ratios[0] if ratios else None, "default_ratio": ratios[-1] if ratios else None}


def measure_set(label, paths, arguments):
    """Prints median and worst ratio, then the rows."""
    rows = []
    for index, (name, path) in enumerate(paths.items()):
        real_rasters.progress(index, len(paths), name)
        rows.append(measure(name, path, arguments.bench, arguments.repeat))
    if not rows:
        return
    print(f"\n{label} to GPU memory, {len(rows)} files; GDAL: {os.cpu_count()} threads and a copy")
    for key, text in (("ratio", "GDAL by Terrazzo, stated trust"), ("default_ratio", "GDAL by Terrazzo, default trust")):
        real_rasters.print_spread(text, {row["name"]: row[key] for row in rows if row[key]})
    for row in rows:
        ratio = f"{row['ratio']:.1f}x" if row["ratio"] else "-"
        print(f"{row['name']}: GDAL {row['gdal_ms']:.0f} ms, {ratio}, {row['pixels']}\n{row['told']}", end="", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    real_rasters.add_option(parser)
    parser.add_argument("--bench", required=True, help="the device_bench program")
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--rows", default=",".join(ROWS), help="fractals to measure (default: all)")
    parser.add_argument("--no-windows", action="store_true")
    arguments = parser.parse_args()
    cupy.zeros(1)
    measure_set("real rasters", real_rasters.find(arguments.real), arguments)
    names = filter(None, arguments.rows.split(","))
    measure_set("fractals", {name: arguments.folder / f"{name}.tif" for name in names}, arguments)
    if not arguments.no_windows:
        paths = make_window_files(arguments.folder)
        seconds, pixels = gdal_windows(paths, os.cpu_count())
        told = run_bench(arguments.bench, ["--trusted", "--repeat", 5, "--windows", WINDOWS, *paths])
        seen = re.search(r"digest (\d+)", told)
        same = "same pixels" if seen and int(seen[1]) == digest(pixels) else "pixels differ"
        print(f"windows: GDAL {os.cpu_count()} threads + copy {seconds * 1e3:.0f} ms, {same}\n{told}", end="", flush=True)


if __name__ == "__main__":
    main()
