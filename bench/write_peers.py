#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writing speed, size and memory beside GDAL, rio-cogeo and the codec libraries alone.

  write_peers.py [--size N] [--threads N] [--rounds N] [--only PATTERN] [--json FILE]       speed (all: --help)
  write_peers.py --levels [--size N]             what the levels of deflate and zstd cost and gain
  write_peers.py --memory [--gib 1,4,16]         peak memory of making a COG from a file larger and larger

Speed: the pixels lie in memory, an elevation model of N x N float32 (1 GiB at 16384) and four bands of N/2 x N/2
uint16 (512 MiB). One process, contenders interleaved, the median of the rounds; nobody waits for the disk. The files
are compared before the clock starts: pixels and overviews equal (LERC: within its error). Contenders:

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
import concurrent.futures
import ctypes
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import make_rasters  # noqa: E402
import numpy as np  # noqa: E402
import rasterio  # noqa: E402
import rasterio.shutil  # noqa: E402
from rasterio.transform import from_origin  # noqa: E402

try:
    import rio_cogeo
    from rio_cogeo.cogeo import cog_translate
except ImportError:
    rio_cogeo = None

warnings.filterwarnings("ignore", category=rasterio.errors.NotGeoreferencedWarning)
os.environ["GDAL_MEM_ENABLE_OPEN"] = "YES"

TILE = 512
GDAL_TYPES = {"float32": "Float32", "uint16": "UInt16"}
TRANSFORM = from_origin(4e5, 5e6, 10, 10)
CRS = "EPSG:32633"
LERC_ERROR = 0.01
# name -> (pixels, codec, level)
CASES = {
    "dem_f32_deflate6_p3": ("dem", "deflate", 6),
    "dem_f32_zstd9_p3": ("dem", "zstd", 9),
    "dem_f32_lzw_p3": ("dem", "lzw", 0),
    "dem_f32_lerc": ("dem", "lerc", 0),
    "s2_u16x4_deflate6_p2": ("s2", "deflate", 6),
    "s2_u16x4_zstd9_p2": ("s2", "zstd", 9),
    "s2_u16x4_lzw_p2": ("s2", "lzw", 0),
}
SIZE_ALLOWED = 1.01  # of GDAL's file
GOALS = {"gtiff": 2.3, "cog": 3.0}  # times as fast as GDAL
FLOOR_ALLOWED = 1.25  # of codec and floor together


class Job(ctypes.Structure):
    """ShimWrite of write_shim.cpp."""

    _fields_ = [("path", ctypes.c_char_p), ("pixels", ctypes.c_void_p), ("dtype", ctypes.c_char_p),
                ("codec", ctypes.c_char_p), ("bands", ctypes.c_uint32), ("height", ctypes.c_uint32),
                ("width", ctypes.c_uint32), ("tile_px", ctypes.c_uint32), ("level", ctypes.c_int32),
                ("cog", ctypes.c_uint32), ("threads", ctypes.c_uint32), ("max_error", ctypes.c_double),
                ("file_bytes", ctypes.c_uint64)]


class Shim:
    """The functions of write_shim.cpp."""

    def __init__(self, path):
        if not path.exists():
            sys.exit(f"there is no {path}: build the release preset (`./dev build`) with its codec libraries")
        self.library = ctypes.CDLL(str(path))
        self.library.shim_error.restype = ctypes.c_char_p

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.shim_error().decode())

    def write(self, path, pixels, codec, level, cog, threads):
        bands, height, width = pixels.shape
        job = Job(None if path is None else os.fsencode(path), pixels.ctypes.data, pixels.dtype.name.encode(),
                  codec.encode(), bands, height, width, TILE, level, cog, threads,
                  LERC_ERROR if codec == "lerc" else 0, 0)
        self.check(self.library.shim_write(ctypes.byref(job)))
        return job.file_bytes

    def encode_tiles(self, codec, level, tiles, threads):
        size = ctypes.c_uint64()
        self.check(self.library.shim_encode_tiles(
            codec.encode(), level, ctypes.c_double(LERC_ERROR), ctypes.c_void_p(tiles.ctypes.data),
            ctypes.c_uint64(tiles[0].nbytes), ctypes.c_uint64(len(tiles)), threads, ctypes.byref(size)))
        return size.value

    def plain_write(self, path, pixels, count):
        self.check(self.library.shim_plain_write(os.fsencode(path), ctypes.c_void_p(pixels.ctypes.data),
                                                 ctypes.c_uint64(pixels.nbytes), ctypes.c_uint64(count)))


# -- pixels -----------------------------------------------------------------------------------------------------------


def make_pixels(which, size):
    if which == "dem":
        return np.ascontiguousarray(make_rasters.elevation(size))
    return make_rasters.reflectance(size // 2)


def predicted_tiles(pixels, codec):
    """What the codec is given, tile after tile: made here by NumPy, so that it owes nothing to either side."""
    bands, height, width = pixels.shape
    down, across = -(-height // TILE), -(-width // TILE)
    tiles = np.empty((down * across, TILE * TILE * bands * pixels.itemsize), np.uint8)

    def fill(index):
        row, column = index // across * TILE, index % across * TILE
        part = pixels[:, row:row + TILE, column:column + TILE]
        part = np.pad(part, ((0, 0), (0, TILE - part.shape[1]), (0, TILE - part.shape[2])), "edge")
        tile = np.ascontiguousarray(part.transpose(1, 2, 0))
        if codec == "lerc":
            pass
        elif pixels.dtype == np.float32:  # bytes of one significance together, the highest first, then differences
            planes = tile.astype(">f4").view(np.uint8).reshape(TILE, TILE * bands, 4).transpose(0, 2, 1)
            tile = planes.reshape(TILE, -1, bands).copy()
            tile[:, 1:] -= tile[:, :-1].copy()
        else:
            tile[:, 1:] -= tile[:, :-1].copy()
        tiles[index] = tile.reshape(-1).view(np.uint8)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, range(down * across)))
    return tiles


def memory_dataset(pixels):
    bands, height, width = pixels.shape
    return (f"MEM:::DATAPOINTER={pixels.ctypes.data},PIXELS={width},LINES={height},BANDS={bands},"
            f"DATATYPE={GDAL_TYPES[pixels.dtype.name]},GEOTRANSFORM={'/'.join(map(str, TRANSFORM.to_gdal()))},"
            f"SPATIALREFERENCE={CRS}")


# -- contenders: write(path) returns nothing --------------------------------------------------------------------------


class Terrazzo:
    name = "terrazzo"

    def __init__(self, shim, pixels, codec, level, cog, threads):
        self.shim, self.pixels, self.arguments = shim, pixels, (codec, level, cog, threads)

    def write(self, path):
        self.shim.write(path, self.pixels, *self.arguments)


class Nowhere(Terrazzo):
    name = "nowhere"

    def write(self, _):
        self.shim.write(None, self.pixels, *self.arguments)


def gdal_options(codec, level, cog, bands):
    options = {"compress": codec}
    if codec == "lerc":
        options["max_z_error"] = str(LERC_ERROR)
    if cog:
        options |= {"blocksize": TILE, "overview_resampling": "average", "overviews": "ignore_existing"}
        if codec != "lerc":
            options["predictor"] = "yes"
        if level:
            options["level"] = level
    else:
        options |= {"tiled": True, "blockxsize": TILE, "blockysize": TILE, "interleave": "pixel"}
        if codec != "lerc":
            options["predictor"] = 3 if bands == 1 else 2
        if codec == "deflate":
            options["zlevel"] = level
        if codec == "zstd":
            options["zstd_level"] = level
    return options


class GdalCopy:
    """CreateCopy of a MEM dataset over the pixels."""

    name = "gdal"

    def __init__(self, pixels, codec, level, cog, threads):
        self.pixels, self.driver = pixels, "COG" if cog else "GTiff"
        self.options = gdal_options(codec, level, cog, len(pixels)) | {"num_threads": threads}

    def write(self, path):
        with rasterio.open(memory_dataset(self.pixels)) as source:
            rasterio.shutil.copy(source, path, driver=self.driver, **self.options)


class GdalWrite(GdalCopy):
    """What users do: open for writing, write the array."""

    def write(self, path):
        bands, height, width = self.pixels.shape
        with rasterio.open(path, "w", driver="GTiff", count=bands, height=height, width=width, crs=CRS,
                           transform=TRANSFORM, dtype=self.pixels.dtype.name, **self.options) as out:
            out.write(self.pixels)


class Cogeo:
    name = "cogeo"

    def __init__(self, pixels, codec, level, threads):
        self.pixels, self.threads = pixels, threads
        self.profile = {"driver": "GTiff", **gdal_options(codec, level, False, len(pixels)), "num_threads": threads}

    def write(self, path):
        with rasterio.open(memory_dataset(self.pixels)) as source:
            cog_translate(source, path, self.profile, overview_resampling="average", quiet=True, add_mask=False,
                          config={"GDAL_NUM_THREADS": str(self.threads), "GDAL_TIFF_OVR_BLOCKSIZE": str(TILE)})


class Codec:
    name = "codec"

    def __init__(self, shim, tiles, codec, level, threads):
        self.shim, self.tiles, self.codec, self.level, self.threads = shim, tiles, codec, level, threads

    def write(self, _):
        self.shim.encode_tiles(self.codec, self.level, self.tiles, self.threads)


class Floor:
    name = "floor"

    def __init__(self, shim, pixels, count):
        self.shim, self.pixels, self.count = shim, pixels, count

    def write(self, path):
        self.shim.plain_write(path, self.pixels, self.count)


# -- measuring --------------------------------------------------------------------------------------------------------


def timed(contender, path):
    """Seconds on the clock and of the processor. The file of the run before is gone, and its pages with it."""
    path.unlink(missing_ok=True)
    started, cpu_started = time.perf_counter(), time.process_time()
    contender.write(path)
    return time.perf_counter() - started, time.process_time() - cpu_started


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


def worst_difference(one, other, threads):
    """Of two files, over all overviews and a strip of rows at a time; None when every pixel is equal."""
    worst = None
    with rasterio.open(one) as a, rasterio.open(other) as b:
        levels = [None] + list(range(len(a.overviews(1))))
        if a.overviews(1) != b.overviews(1):
            raise SystemExit(f"{other}: overviews {b.overviews(1)}, not {a.overviews(1)}")
    for level in levels:
        extra = {"num_threads": threads} | ({} if level is None else {"overview_level": level})
        with rasterio.open(one, **extra) as a, rasterio.open(other, **extra) as b:
            if (a.shape, a.count, a.dtypes) != (b.shape, b.count, b.dtypes):
                raise SystemExit(f"{other}: {b.count} x {b.shape} of {b.dtypes[0]}, not {a.count} x {a.shape}")
            step = TILE * 4
            for row in range(0, a.height, step):
                window = rasterio.windows.Window(0, row, a.width, min(step, a.height - row))
                left, right = a.read(window=window), b.read(window=window)
                if not np.array_equal(left.view(np.uint8), right.view(np.uint8)):
                    gap = float(np.max(np.abs(left.astype(np.float64) - right.astype(np.float64))))
                    worst = max(worst or 0.0, gap)
    return worst


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


def measure_case(shim, name, pixels, tiles, arguments, layout):
    _, codec, level = CASES[name]
    cog, threads, folder = layout == "cog", arguments.threads, arguments.folder
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
    result = {"case": name, "layout": layout, "bytes": pixels.nbytes, "sizes": sizes,
              "gdal_way": type(peers[0]).__name__,
              "times": interleaved(contenders, folder / "timed.tif", arguments.rounds)}
    if "cogeo" in firsts:
        result["times"]["cogeo"] = firsts["cogeo"]
    print_row(result)
    return result


def measure_speed(shim, arguments, results):
    print(HEADER)
    started = time.perf_counter()
    wanted = {name: case for name, case in CASES.items() if re.search(arguments.only, name)}
    for which in ("dem", "s2"):
        names = [name for name, case in wanted.items() if case[0] == which]
        if not names:
            continue
        pixels = make_pixels(which, arguments.size)
        tiles, tiles_are_plain = None, None
        for name in sorted(names, key=lambda n: CASES[n][1] == "lerc"):
            plain = CASES[name][1] == "lerc"
            if tiles is None or plain != tiles_are_plain:
                tiles, tiles_are_plain = predicted_tiles(pixels, CASES[name][1]), plain
            for layout in arguments.layouts:
                if time.perf_counter() - started > arguments.budget:
                    print(f"{name} {layout}: left out, {arguments.budget:.0f} s are over")
                    continue
                results["speed"].append(measure_case(shim, name, pixels, tiles, arguments, layout))


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


# -- memory -----------------------------------------------------------------------------------------------------------

MAKE_SOURCE = """
import sys
sys.path[:0] = {path!r}
import make_rasters, numpy as np, rasterio
from rasterio.windows import Window
side, block = {side}, min({side}, 4096)
# Whole metres, so that 16 GiB fit the disk; the surface is periodic, so it can be laid side by side.
strip = np.tile(np.round(make_rasters.elevation(block)), (1, 1, side // block))
with rasterio.open({out!r}, "w", driver="GTiff", width=side, height=side, count=1, dtype="float32", tiled=True,
                   blockxsize=512, blockysize=512, compress="zstd", zstd_level=1, predictor=3, bigtiff="yes",
                   num_threads="all_cpus", crs="EPSG:32633",
                   transform=rasterio.transform.from_origin(4e5, 5e6, 1, 1)) as out:
    for row in range(0, side, block):
        out.write(strip, window=Window(0, row, side, block))
"""

GDAL_COG = """
import rasterio.shutil
rasterio.shutil.copy({source!r}, {out!r}, driver="COG", compress="zstd", level=1, predictor="yes", blocksize=512,
                     overview_resampling="average", num_threads={threads}, bigtiff="yes")
"""

COGEO_COG = """
import sys
sys.path[:0] = {path!r}
from rio_cogeo.cogeo import cog_translate
cog_translate({source!r}, {out!r}, {{"driver": "GTiff", "compress": "zstd", "zstd_level": 1, "predictor": 3,
    "tiled": True, "blockxsize": 512, "blockysize": 512, "bigtiff": "yes", "num_threads": {threads}}},
    overview_resampling="average",
    quiet=True, add_mask=False, in_memory={in_memory},
    config={{"GDAL_NUM_THREADS": "{threads}", "GDAL_TIFF_OVR_BLOCKSIZE": "512"}})
"""


def run_child(command, limit_s):
    """Seconds and peak resident bytes of a process by itself; None when it did not end in time or failed."""
    started = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid != 0:
            break
        if time.perf_counter() - started > limit_s:
            child.kill()
            os.wait4(child.pid, 0)
            return None, f"stopped after {limit_s} s"
        time.sleep(0.02)
    if status != 0:
        return None, (child.stderr.read().strip().splitlines() or [f"status {status}"])[-1]
    return {"seconds": time.perf_counter() - started, "peak_bytes": usage.ru_maxrss * 1024}, None


def measure_memory(arguments, results):
    """Peak resident memory of whole processes that make a COG of a file."""
    path = [p for p in sys.path if p]
    print("peak resident MiB (seconds) of making a COG, zstd 1, predictor 3; every process by itself")
    for gib in arguments.gib:
        side = {1: 16384, 4: 32768, 16: 65536}[gib]
        source, out = arguments.folder / f"memory_{gib}gib.tif", arguments.folder / "memory_out.tif"
        if not source.exists():
            partial = source.with_suffix(".partial")
            program = MAKE_SOURCE.format(path=path, side=side, out=str(partial))
            made, why = run_child([sys.executable, "-c", program], 3600)
            if made is None:
                raise SystemExit(why)
            partial.rename(source)
        fill = {"source": str(source), "out": str(out), "threads": arguments.threads, "path": path}
        commands = {
            "terrazzo": [arguments.binary, "cog", "--buffer", "256M", "--spool", "256M", "--compression", "zstd",
                         "--compression-level", "1", "--threads", str(arguments.threads), "-o", str(out), str(source)],
            "gdal": [sys.executable, "-c", GDAL_COG.format(**fill)],
        }
        if rio_cogeo is not None and not arguments.no_cogeo:
            commands["cogeo on disk"] = [sys.executable, "-c", COGEO_COG.format(**fill, in_memory=False)]
            if gib <= arguments.cogeo_memory_gib:
                commands["cogeo in memory"] = [sys.executable, "-c", COGEO_COG.format(**fill, in_memory=True)]
        row = {"gib": gib, "source_bytes": source.stat().st_size}
        cells = []
        for who, command in commands.items():
            out.unlink(missing_ok=True)
            row[who], why = run_child([str(word) for word in command], arguments.limit)
            figures = row[who]
            cells.append(f"{who} {figures['peak_bytes'] / 2**20:.0f} ({figures['seconds']:.0f} s)" if figures else
                         f"{who}: {why}")
            print(f"  {gib:3d} GiB ({row['source_bytes'] / 2**20:.0f} MiB compressed)  {cells[-1]}", flush=True)
        out.unlink(missing_ok=True)
        if not arguments.keep:
            source.unlink()
        results["memory"].append(row)


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, help="side of the elevation model; 16384 is 1 GiB (default 8192)")
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
               "gdal": rasterio.__gdal_version__, "speed": [], "levels": [], "memory": []}
    if arguments.memory:
        measure_memory(arguments, results)
    elif arguments.levels:
        measure_levels(Shim(arguments.shim), arguments, results)
    else:
        print("Nx: that many times as long as Terrazzo; of c+f: Terrazzo's time by codec and floor together; "
              "size: by GDAL's")
        measure_speed(Shim(arguments.shim), arguments, results)
    out = arguments.json or arguments.folder / "write_peers.json"
    out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"figures: {out}")


if __name__ == "__main__":
    main()
