#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GPU array to file, beside GDAL: `device_write_peers.py FILE --bench PATH --folder FOLDER` on a machine with a GPU.

FILE is an uncompressed raster of tools/make_rasters.py (dem_f32_none_512.tif). Before it come the rasters of a folder of
real GeoTIFFs (--real or TERRAZZO_REAL), with the median and the worst ratio first. In one run: device_write_bench reads a
file into device memory and writes it as GeoTIFF and COG, to files and to nowhere; GDAL (rasterio, all cores) writes the same
pixels from host memory with the same codec, level, predictor and tile size, by write() or by CreateCopy of a MEM
dataset, whichever is faster. Nobody waits for the disk. Files are compared before anything is believed: the program
has found the raster's pixels in each by the host engine, and here GDAL reads both and finds pixels and overviews equal.

  --studies     streaming, the tall raster and overviews too, with GDAL's build_overviews() beside the last
  --json FILE   everything that was measured
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
import rasterio
from rasterio.enums import Resampling

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import real_rasters  # noqa: E402
import write_contenders  # noqa: E402

LEVELS = {"zstd": 9, "deflate": 6, "none": 0}
# Goals in seconds and megabytes for the 1 GiB float32 elevation model.
GOALS = {("gtiff", "zstd"): (0.25, 640), ("gtiff", "deflate"): (0.30, 690), ("gtiff", "none"): (0.33, None),
         ("cog", "zstd"): (0.45, 860), ("cog", "deflate"): (0.50, 930)}
NOWHERE_GOALS = {("gtiff", "zstd"): 0.12, ("gtiff", "deflate"): 0.12, ("cog", "zstd"): 0.162, ("cog", "deflate"): 0.162}


def run_bench(bench, arguments):
    """Its lines, as dictionaries; printed as they come, since a run may be cut short."""
    lines = []
    with subprocess.Popen([bench, *map(str, arguments)], stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", file=sys.stderr, flush=True)
            lines.append(json.loads(line))
    if process.returncode != 0:
        print(f"{bench}: exit status {process.returncode}", file=sys.stderr)
    return lines


def gdal_contenders(pixels, codec, cog):
    ways = [write_contenders.GdalCopy] if cog else [write_contenders.GdalCopy, write_contenders.GdalWrite]
    contenders = [way(pixels, codec, LEVELS[codec], cog, "ALL_CPUS") for way in ways]
    if codec == "none":
        for contender in contenders:
            contender.options.pop("predictor", None)
    return contenders


def time_gdal(pixels, codec, cog, path, rounds):
    """The best way's best and median seconds, and the size; the file stays."""
    best = None
    for contender in gdal_contenders(pixels, codec, cog):
        times = sorted(write_contenders.timed(contender, path)[0] for _ in range(rounds))
        if best is None or times[0] < best["best_s"]:
            best = {"best_s": times[0], "median_s": times[len(times) // 2], "way": type(contender).__name__}
    return {**best, "file_bytes": path.stat().st_size}


def compare(ours, gdals, cog):
    """What is not equal, or "equal"."""
    try:
        worst = write_contenders.worst_difference(ours, gdals, "ALL_CPUS")
    except SystemExit as error:
        return str(error)
    return "equal" if worst is None else f"pixels differ by {worst}" if not cog else f"pixels or overviews differ by {worst}"


def measure_case(layout, codec, told, pixels, folder, rounds):
    by_sink = {line["to"]: line for line in told
               if line["measure"] == "write" and (line["layout"], line["codec"]) == (layout, codec)}
    result = {"layout": layout, "codec": codec, "ours": by_sink.get("file"), "nowhere": by_sink.get("nowhere")}
    ours = folder / f"device_{layout}_{codec}.tif"
    if rounds > 0:
        gdals = folder / f"gdal_{layout}_{codec}.tif"
        result["gdal"] = time_gdal(pixels, codec, layout == "cog", gdals, rounds)
        result["gdal_reads"] = compare(ours, gdals, layout == "cog") if ours.exists() else "there is no file of ours"
        gdals.unlink()
    ours.unlink(missing_ok=True)
    return result


def seconds(value):
    return "-" if value is None else f"{value:.3f} s"


def comparison(result):
    """"equal", or the comparisons that failed."""
    if result["ours"] is None:
        return "FAILED"
    wrong = [text for text in (result["ours"]["verified"], result.get("gdal_reads", "equal")) if text != "equal"]
    return "WRONG: " + ", ".join(wrong) if wrong else "equal"


def verdict(result):
    """Of the goals and of the comparisons."""
    key, ours = (result["layout"], result["codec"]), result["ours"]
    if comparison(result) != "equal":
        return comparison(result)
    goal_s, goal_mb = GOALS.get(key, (None, None))
    missed = []
    if goal_s is not None and ours["median_s"] > goal_s:
        missed.append("slow")
    if goal_mb is not None and ours["file_bytes"] > goal_mb * 1e6:
        missed.append("large")
    if result["nowhere"] and key in NOWHERE_GOALS and result["nowhere"]["median_s"] > NOWHERE_GOALS[key]:
        missed.append("engine slow")
    return "equal; " + (", ".join(missed) or "ok")


def print_table(results):
    print("| GPU array to | goal | ours (best) | to nowhere (goal) | GDAL, all cores | faster | MB (goal) | GDAL MB "
          "| GPU memory beside | pixels, goals |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for result in results:
        key, ours, gdal = (result["layout"], result["codec"]), result["ours"] or {}, result.get("gdal", {})
        goal_s, goal_mb = GOALS.get(key, (None, None))
        faster = gdal["median_s"] / ours["median_s"] if gdal and ours else None
        print(f"| {'COG' if key[0] == 'cog' else 'GTiff'} {key[1]} | {seconds(goal_s)} "
              f"| {seconds(ours.get('median_s'))} ({seconds(ours.get('best_s'))}) "
              f"| {seconds((result['nowhere'] or {}).get('median_s'))} ({seconds(NOWHERE_GOALS.get(key))}) "
              f"| {seconds(gdal.get('median_s'))} | {'-' if faster is None else f'{faster:.1f}x'} "
              f"| {ours.get('file_bytes', 0) / 1e6:.0f} ({goal_mb or '-'}) | {gdal.get('file_bytes', 0) / 1e6:.0f} "
              f"| {ours.get('device_peak_bytes', 0) / 2**20:.0f} MiB | {verdict(result)} |")


def measure_file(path, arguments, studies=()):
    """All cases of one file, and the lines of device_write_bench."""
    options = ["--folder", arguments.folder, "--only", arguments.codecs, "--layout", arguments.layouts,
               "--repeat", arguments.repeat, "--verify", "--keep"]
    told = run_bench(arguments.bench, [path, *options, *studies])
    pixels = write_contenders.read_pixels(path) if arguments.gdal_rounds > 0 else None
    results = [measure_case(layout, codec, told, pixels, arguments.folder, arguments.gdal_rounds)
               for layout in arguments.layouts.split(",") for codec in arguments.codecs.split(",")]
    return results, told


def measure_real(arguments):
    """Prints median and worst ratio for each layout, then the rows."""
    rows = []
    paths = real_rasters.find_pixels(arguments.real, write_contenders.GDAL_TYPES)
    for index, (name, path) in enumerate(paths.items()):
        real_rasters.progress(index, len(paths), name)
        rows += [{"raster": name, **result} for result in measure_file(path, arguments)[0]]
    for layout in arguments.layouts.split(",") if rows else []:
        times, sizes = {}, {}
        for row in rows:
            if row["layout"] == layout and row["ours"] and "gdal" in row:
                name = f"{row['raster']} {row['codec']}"
                times[name] = row["gdal"]["median_s"] / row["ours"]["median_s"]
                sizes[name] = row["ours"]["file_bytes"] / row["gdal"]["file_bytes"]
        print(f"\nreal rasters from GPU memory, {'COG' if layout == 'cog' else 'GeoTIFF'}")
        real_rasters.print_spread("GDAL's time by ours", times)
        real_rasters.print_spread("our size by GDAL's", sizes, max, unit="")
    if rows:
        print("| raster | to | ours (best) | to nowhere | GDAL, all cores | faster | MB | GDAL MB | pixels |")
        print("|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        ours, gdal = row["ours"] or {}, row.get("gdal", {})
        faster = f"{gdal['median_s'] / ours['median_s']:.1f}x" if gdal and ours else "-"
        print(f"| {row['raster']} | {'COG' if row['layout'] == 'cog' else 'GTiff'} {row['codec']} "
              f"| {seconds(ours.get('median_s'))} ({seconds(ours.get('best_s'))}) "
              f"| {seconds((row['nowhere'] or {}).get('median_s'))} | {seconds(gdal.get('median_s'))} | {faster} "
              f"| {ours.get('file_bytes', 0) / 1e6:.0f} | {gdal.get('file_bytes', 0) / 1e6:.0f} | {comparison(row)} |")
    return rows


def gdal_overviews(source, folder):
    """Seconds of build_overviews() in a plain copy of FILE, by method; halved until one tile holds it."""
    path, result = folder / "gdal_overviews.tif", {}
    for method in (Resampling.nearest, Resampling.average, Resampling.cubic):
        shutil.copyfile(source, path)
        with rasterio.Env(GDAL_NUM_THREADS="ALL_CPUS", GDAL_TIFF_OVR_BLOCKSIZE=str(write_contenders.TILE)):
            with rasterio.open(path, "r+") as file:
                side = max(file.width, file.height)
                factors = [2 ** i for i in range(1, 32) if side / 2 ** (i - 1) > write_contenders.TILE]
                size = file.width * file.height * file.count * np.dtype(file.dtypes[0]).itemsize
                started = time.perf_counter()
                file.build_overviews(factors, method)
            took = time.perf_counter() - started
        result[method.name] = {"seconds": took, "input_gb_per_s": size / took / 1e9}
        print(f"GDAL overviews, {method.name}: {took:.2f} s, {size / took / 1e9:.2f} GB/s of input")
    path.unlink()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    real_rasters.add_option(parser)
    parser.add_argument("--bench", required=True, help="the device_write_bench program")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."), help="where files are made")
    parser.add_argument("--codecs", default="zstd,deflate,none")
    parser.add_argument("--layouts", default="gtiff,cog")
    parser.add_argument("--repeat", type=int, default=5, help="timed writes of ours")
    parser.add_argument("--gdal-rounds", type=int, default=2, help="timed writes of GDAL's; 0: none")
    parser.add_argument("--studies", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores, rasterio {rasterio.__version__}, GDAL {rasterio.__gdal_version__}", flush=True)
    real = measure_real(arguments)
    studies = ["--streaming", "--tall", "--overviews"] if arguments.studies else []
    results, told = measure_file(arguments.file, arguments, studies)
    print_table(results)
    overviews = gdal_overviews(arguments.file, arguments.folder) if arguments.studies else {}
    if arguments.json:
        figures = {"real": real, "cases": results, "lines": told, "gdal_overviews": overviews}
        arguments.json.write_text(json.dumps(figures, indent=1))
    return 0 if all(comparison(result) == "equal" for result in real + results) else 1


if __name__ == "__main__":
    sys.exit(main())
