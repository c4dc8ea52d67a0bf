#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writing speed, size and memory beside GDAL, rio-cogeo and the codec libraries alone.

  write_peers.py [--real FOLDER] [--size N] [--threads N] [--rounds N] [--only PATTERN]     speed (all: --help)
  write_peers.py --levels [--size N]             what the levels of deflate and zstd cost and gain
  write_peers.py --memory [--gib 1,4,16]         peak memory of making a COG from a file larger and larger

Speed: the pixels lie in memory. Two sets: real rasters, decoded from a folder of GeoTIFFs (--real or TERRAZZO_REAL), and
fractals, an elevation model of N x N float32 (1 GiB at 16384) and four bands of N/2 x N/2 uint16 (512 MiB). Tiles of 512
px, predictor 2 or 3, deflate 6, zstd 9, LZW, and LERC for the elevation model. One process, contenders interleaved, the
median of the rounds; nobody waits for the disk. The files are compared before the clock starts: pixels and overviews
equal (LERC: within its error). For each set and layout the median and the worst ratio come first, then the rows.
Contenders:

  terrazzo   the public C++ API through bench/write_shim.cpp
  gdal       GDAL through rasterio: the GTiff driver (write() of the array, or CreateCopy of a MEM dataset over it,
             whichever was faster in the comparison) and the COG driver, NUM_THREADS = threads
  cogeo      rio-cogeo's cog_translate with its own defaults, on as many threads; COGs only, and one run only
  nowhere    terrazzo into a sink that drops the bytes: all but the file
  codec      the codec library alone, from tiles whose predictor is applied into a buffer per thread, on as many
             threads: libdeflate, libzstd, libtiff's LZW, liblerc. For COGs only the full resolution is in it
  floor      a plain write of as many bytes as the file has
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import time

import rasterio
import real_rasters
from write_contenders import (GDAL_TYPES, LERC_ERROR, Codec, Cogeo, Floor, GdalCopy, GdalWrite, Nowhere, Shim, Terrazzo,
                              make_pixels, predicted_tiles, read_pixels, rio_cogeo, timed, worst_difference)
from write_memory import measure_memory

ROOT = pathlib.Path(__file__).resolve().parents[1]

LEVELS = {"deflate": 6, "zstd": 9, "lzw": 0, "lerc": 0}  # the library's defaults, and GDAL's
FRACTALS = {"dem": ("deflate", "zstd", "lzw", "lerc"), "s2": ("deflate", "zstd", "lzw")}
REAL_CODECS = ("deflate", "zstd", "lzw")
SIZE_ALLOWED = 1.01  # of GDAL's file
GOALS = {"gtiff": 2.3, "cog": 3.0}  # times as fast as GDAL
FLOOR_ALLOWED = 1.25  # of codec and floor together


# -- measuring --------------------------------------------------------------------------------------------------------


def interleaved(contenders, path, rounds):
    times = {c.name: ([], []) for c in contenders}
    for index in range(rounds):
        turn = index % len(contenders)
        for contender in contenders[turn:] + contenders[:turn]:
            wall, cpu = timed(contender, path)
            times[contender.name][0].append(wall)
            times[contender.name][1].append(cpu)
    path.unlink(missing_ok=True)
    return {name: {"seconds": statistics.median(wall), "cpu_seconds": statistics.median(cpu), "min_seconds": min(wall)}
            for name, (wall, cpu) in times.items()}


def compare(contenders, codec, folder, threads):
    """Sizes by name, and times of this first run; fails unless all files hold the same pixels and overviews."""
    paths, firsts = {}, {}
    for contender in contenders:
        paths[contender.name] = folder / f"compare_{contender.name}.tif"
        wall, cpu = timed(contender, paths[contender.name])
        firsts[contender.name] = {"seconds": wall, "cpu_seconds": cpu, "min_seconds": wall}
    ours = paths["terrazzo"]
    allowed = 2 * LERC_ERROR * 1.001 if codec == "lerc" else None
    for name, path in paths.items():
        if name == "terrazzo":
            continue
        worst = worst_difference(ours, path, threads)
        if worst is not None and (allowed is None or worst > allowed):
            raise SystemExit(f"{path}: {name} wrote other pixels (by up to {worst}); both files are kept")
    sizes = {name: path.stat().st_size for name, path in paths.items()}
    for path in paths.values():
        path.unlink()
    return sizes, firsts


HEADER = (f"{'case':22s} {'layout':6s} {'terrazzo':>18s} {'GDAL':>16s} {'rio-cogeo':>16s} {'nowhere':>9s} "
          f"{'codec':>9s} {'floor':>8s} {'of c+f':>6s} {'MB':>6s} {'size':>6s}  CPU GDAL  verdict")


def print_row(result):
    figures, ours = result["times"], result["times"]["terrazzo"]["seconds"]

    def cell(who):
        if who not in figures:
            return f"{'-':>16s}"
        return f"{figures[who]['seconds'] * 1e3:7.0f} ms {figures[who]['seconds'] / ours:4.2f}x"

    least = figures["codec"]["seconds"] + figures["floor"]["seconds"]
    ratio = figures["gdal"]["seconds"] / ours
    size = result["sizes"]["terrazzo"] / result["sizes"]["gdal"]
    verdict = [f"goal {GOALS[result['layout']]}x " + ("met" if ratio >= GOALS[result["layout"]] else "MISSED")]
    if ours > FLOOR_ALLOWED * least:
        verdict.append(f"over {FLOOR_ALLOWED} of codec + floor")
    if size > SIZE_ALLOWED:
        verdict.append("TOO LARGE")
    print(f"{result['case']:22s} {result['layout']:6s} {ours * 1e3:7.0f} ms {result['bytes'] / ours / 1e9:4.2f}GB/s "
          f"{cell('gdal'):>16s} {cell('cogeo'):>16s} {figures['nowhere']['seconds'] * 1e3:6.0f} ms "
          f"{figures['codec']['seconds'] * 1e3:6.0f} ms {figures['floor']['seconds'] * 1e3:5.0f} ms "
          f"{ours / least:6.2f} {result['sizes']['terrazzo'] / 1e6:6.0f} {size:6.3f}  "
          f"{figures['gdal']['cpu_seconds'] / figures['terrazzo']['cpu_seconds']:7.2f}x  {', '.join(verdict)}",
          flush=True)


def measure_case(shim, raster, pixels, tiles, codec, arguments, layout):
    level, cog, threads, folder = LEVELS[codec], layout == "cog", arguments.threads, arguments.folder
    ours = Terrazzo(shim, pixels, codec, level, cog, threads)
    if cog:
        peers = [GdalCopy(pixels, codec, level, True, threads)]
        if rio_cogeo is not None and not arguments.no_cogeo:
            peers.append(Cogeo(pixels, codec, level, threads))
    else:
        ways = [GdalCopy(pixels, codec, level, False, threads), GdalWrite(pixels, codec, level, False, threads)]
        firsts = [timed(way, folder / "way.tif")[0] for way in ways]
        (folder / "way.tif").unlink()
        peers = [ways[firsts.index(min(firsts))]]
    sizes, firsts = compare([ours] + peers, codec, folder, threads)
    contenders = [ours, peers[0], Nowhere(shim, pixels, codec, level, cog, threads),
                  Codec(shim, tiles, codec, level, threads), Floor(shim, pixels, sizes["terrazzo"])]
    result = {"raster": raster, "codec": codec, "case": case_name(raster, codec), "layout": layout,
              "bytes": pixels.nbytes, "sizes": sizes, "gdal_way": type(peers[0]).__name__,
              "times": interleaved(contenders, folder / "timed.tif", arguments.rounds)}
    if "cogeo" in firsts:
        result["times"]["cogeo"] = firsts["cogeo"]
    return result


def case_name(raster, codec):
    return f"{raster}_{codec}{LEVELS[codec] or ''}"


def measure_raster(shim, raster, pixels, codecs, arguments):
    """A row for each codec and layout."""
    rows, tiles, tiles_are_plain = [], None, None
    for codec in codecs:
        plain = codec == "lerc"
        if tiles is None or plain != tiles_are_plain:
            tiles, tiles_are_plain = predicted_tiles(pixels, codec), plain
        for layout in arguments.layouts:
            if time.perf_counter() > arguments.ends:
                print(f"{case_name(raster, codec)} {layout}: left out, {arguments.budget:.0f} s are over")
                continue
            rows.append(measure_case(shim, raster, pixels, tiles, codec, arguments, layout))
    return rows


def measure_set(shim, label, rasters, arguments, results, out):
    """`rasters`: name -> (a function that gives the pixels, codecs). Prints the tables of the set; its figures are in
    `results`, and in the file, as they come."""
    rows = []
    for index, (name, (pixels_of, codecs)) in enumerate(rasters.items()):
        codecs = [codec for codec in codecs if re.search(arguments.only, case_name(name, codec))]
        if not codecs:
            continue
        real_rasters.progress(index, len(rasters), name)
        added = measure_raster(shim, name, pixels_of(), codecs, arguments)
        rows += added
        results["speed"] += [{"set": label, **row} for row in added]
        out.write_text(json.dumps(results, indent=1) + "\n")
    for layout in arguments.layouts:
        print_layout(label, layout, [row for row in rows if row["layout"] == layout], results)


def print_layout(label, layout, rows, results):
    """Median and worst of each codec and of all first, then the rows."""
    if not rows:
        return
    print(f"\n{label}: {'COG with overviews' if layout == 'cog' else 'GeoTIFF'}, {len(rows)} rows")
    told = {}
    for codec in ("", *LEVELS):
        chosen = {row["case"]: row for row in rows if codec in ("", row["codec"])}
        name = codec or "all codecs"
        times = {case: row["times"]["gdal"]["seconds"] / row["times"]["terrazzo"]["seconds"]
                 for case, row in chosen.items()}
        sizes = {case: row["sizes"]["terrazzo"] / row["sizes"]["gdal"] for case, row in chosen.items()}
        told[name] = {"time": real_rasters.print_spread(f"{name}, GDAL's time by ours", times),
                      "size": real_rasters.print_spread(f"{name}, our size by GDAL's", sizes, max, unit="")}
    results["spread"].setdefault(label, {})[layout] = told
    print(HEADER)
    for row in rows:
        print_row(row)


def measure_speed(shim, arguments, results, out):
    arguments.ends = time.perf_counter() + arguments.budget
    if "real" in arguments.sets:
        paths = real_rasters.find_pixels(arguments.real, GDAL_TYPES)
        rasters = {name: (lambda path=path: read_pixels(path), REAL_CODECS) for name, path in paths.items()}
        measure_set(shim, "real rasters", rasters, arguments, results, out)
    if "fractal" in arguments.sets:
        rasters = {name: (lambda name=name: make_pixels(name, arguments.size), codecs)
                   for name, codecs in FRACTALS.items()}
        measure_set(shim, "fractals", rasters, arguments, results, out)


# -- levels -----------------------------------------------------------------------------------------------------------


def measure_levels(shim, arguments, results):
    """Time and size of every level, into a sink that drops the bytes."""
    print(f"{'pixels':10s} {'codec':8s} {'level':>5s} {'MB/s':>8s} {'size %':>8s}")
    for which in ("dem", "s2"):
        pixels = make_pixels(which, arguments.size)
        plan = [("deflate", level) for level in range(1, 13)] + [("zstd", level) for level in range(1, 20)]
        plan += [("lzw", 0), ("none", 0)]
        seconds = {step: [] for step in plan}
        sizes = {}
        for _ in range(arguments.rounds):
            for step in plan:
                started = time.perf_counter()
                sizes[step] = shim.write(None, pixels, *step, False, arguments.threads)
                seconds[step].append(time.perf_counter() - started)
        for step in plan:
            rate = pixels.nbytes / statistics.median(seconds[step]) / 1e6
            share = 100 * sizes[step] / pixels.nbytes
            results["levels"].append({"pixels": which, "codec": step[0], "level": step[1], "mb_per_s": rate,
                                      "percent": share})
            print(f"{which:10s} {step[0]:8s} {step[1]:5d} {rate:8.0f} {share:8.2f}", flush=True)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    real_rasters.add_option(parser)
    parser.add_argument("--sets", default="real,fractal", type=lambda text: text.split(","),
                        help="which sets of rasters to measure (default real,fractal)")
    parser.add_argument("--size", type=int,
                        help="fractals: side of the elevation model; 16384 is 1 GiB (default 8192)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds; the median counts (default 3)")
    parser.add_argument("--only", default="", help="regular expression: cases whose name has it")
    parser.add_argument("--layouts", default="gtiff,cog", type=lambda text: text.split(","))
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no case is begun")
    parser.add_argument("--no-cogeo", action="store_true", help="without rio-cogeo")
    parser.add_argument("--levels", action="store_true", help="measure levels instead (default size 4096)")
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--gib", default="1,4,16", type=lambda text: [int(n) for n in text.split(",")],
                        help="--memory: sizes, of 1, 4 and 16 (default all)")
    parser.add_argument("--limit", type=float, default=1800, help="--memory: seconds a process may take")
    parser.add_argument("--cogeo-memory-gib", type=int, default=4,
                        help="--memory: largest size that rio-cogeo also makes in memory, its default (4)")
    parser.add_argument("--keep", action="store_true", help="--memory: keep the sources")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/bench/write", help="where files go")
    parser.add_argument("--shim", type=pathlib.Path, default=ROOT / "build/release/bench/libterrazzo_write_shim.so")
    parser.add_argument("--binary", type=pathlib.Path,
                        default=os.environ.get("TERRAZZO_BIN", ROOT / "build/release/terrazzo"))
    parser.add_argument("--json", type=pathlib.Path,
                        help="also write the figures here (default FOLDER/write_peers.json)")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    arguments.size = arguments.size or (4096 if arguments.levels else 8192)

    print(f"{machine()}; {arguments.threads} threads; median of {arguments.rounds}; GDAL {rasterio.__gdal_version__} "
          f"through rasterio {rasterio.__version__}; rio-cogeo {rio_cogeo.__version__ if rio_cogeo else '-'}; "
          f"Python {platform.python_version()}")
    results = {"machine": machine(), "threads": arguments.threads, "rounds": arguments.rounds, "size": arguments.size,
               "gdal": rasterio.__gdal_version__, "speed": [], "levels": [], "memory": [], "spread": {}}
    out = arguments.json or arguments.folder / "write_peers.json"
    if arguments.memory:
        measure_memory(arguments, results)
    elif arguments.levels:
        measure_levels(Shim(arguments.shim), arguments, results)
    else:
        print("Nx: that many times as long as Terrazzo; of c+f: Terrazzo's time by codec and floor together; "
              "size: by GDAL's")
        measure_speed(Shim(arguments.shim), arguments, results, out)
    out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"figures: {out}")


if __name__ == "__main__":
    main()
