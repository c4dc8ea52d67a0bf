#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading speed on the host against GDAL and against the codec libraries alone.

  peers.py [--real FOLDER] [--size N] [--threads N] [--rounds N] [--only PATTERN] [--cases LIST]      (all: --help)

Two sets of files: real rasters, a folder of GeoTIFFs (--real or TERRAZZO_REAL), and fractals of tools/make_rasters.py.
For each set and case the median and the worst ratio come first, then a row a file.

One process, one buffer that is allocated and touched before anything is timed, contenders interleaved, the median of
the rounds. Outputs are compared before the clock starts. Contenders:

  terrazzo    the public C++ API through bench/terrazzo_bench_shim.cpp
  gtiff       GDAL's GTiff driver through rasterio, NUM_THREADS = threads; opened anew for every full read, so that
              its block cache is empty
  libertiff   GDAL's LIBERTIFF driver, likewise
  codec       the codec library alone: the same tiles out of memory into a buffer per thread, on as many threads; no
              predictor, no placing. libdeflate, libzstd, libtiff's LZW, libjpeg-turbo. For uncompressed files: pread of
              the file in pieces into the same buffer. For windows: the tiles that each touches, as often as it does,
              window by window; for uncompressed files, pread of every row into its place. For clients: the same
              with no wait between windows

Cases: the whole raster; 1000 random windows of 512 x 512 one after another (each read with all threads), and the same
windows shared out among as many clients as there are threads, each reading alone. Every reader may cache as it does by
default; files are opened anew for every round.
"""

import argparse
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import make_rasters  # noqa: E402
import numpy as np  # noqa: E402
import rasterio  # noqa: E402
import rasterio.shutil  # noqa: E402
import real_rasters  # noqa: E402
from rasterio.windows import Window  # noqa: E402
from read_contenders import Gdal, Shim, Terrazzo, codec_alone  # noqa: E402

WINDOW = 512
WINDOW_COUNT = 1000
MILLION_SIDE = 1024  # tiles a side
CASES = {"full": "whole rasters", "windows": "1,000 windows of 512 px, one after another",
         "clients": "the same windows, shared out among clients"}


# -- measuring --------------------------------------------------------------------------------------------------------


def interleaved(contenders, work, rounds):
    """name -> {seconds, cpu_seconds}, medians; every round runs each contender once, the order rotating.

    Time of the processor, all threads together, is what stays comparable when others use the machine too.
    """
    times = {c.name: ([], []) for c in contenders}
    for index in range(rounds):
        turn = index % len(contenders)
        for contender in contenders[turn:] + contenders[:turn]:
            started, cpu_started = time.perf_counter(), time.process_time()
            work(contender)
            wall, cpu = times[contender.name]
            wall.append(time.perf_counter() - started)
            cpu.append(time.process_time() - cpu_started)
    return {name: {"seconds": statistics.median(wall), "cpu_seconds": statistics.median(cpu), "min_seconds": min(wall)}
            for name, (wall, cpu) in times.items()}


def digest(array):
    return zlib.crc32(array.reshape(-1).view(np.uint8))


def compare_outputs(readers, buffer):
    """The readers that can read the file; fails unless these read the same pixels. JPEG decoders may differ by 2."""
    reference, first, able = None, None, []
    for reader in readers:
        buffer.fill(0)
        try:
            reader.full(buffer)
        except rasterio.errors.RasterioError as error:
            print(f"  note: {reader.name} does not read {reader.path.name}: {error}")
            continue
        able.append(reader)
        seen, sample = digest(buffer), buffer[:, ::7, ::7].astype(np.float64)
        if reference is None:
            reference, first = sample, seen
        elif seen != first:
            worst = float(np.nanmax(np.abs(sample - reference)))
            if worst > 2 or buffer.dtype != np.uint8:
                raise SystemExit(f"{reader.path.name}: {reader.name} reads other pixels (by up to {worst})")
            print(f"  note: {reader.path.name}: {reader.name} differs by up to {worst:.0f} (another JPEG decoder)")
    return able


def compare_windows(reader, codec, windows, buffers):
    """Fails unless a plain read puts the rows of windows where the reader puts them."""
    for window in windows:
        codec.prepare(window[None])
        codec.windows(window[None], buffers)
        plain = buffers.copy()
        reader.windows(window[None], buffers)
        if not np.array_equal(plain[0], buffers[0]):
            raise SystemExit(f"{codec.path.name}: a plain read of window {window} has other pixels")


def random_windows(width, height, count):
    rng = np.random.default_rng(7)
    windows = np.empty((count, 4), np.uint32)
    windows[:, 0] = rng.integers(0, max(1, width - WINDOW + 1), count)
    windows[:, 1] = rng.integers(0, max(1, height - WINDOW + 1), count)
    windows[:, 2:] = min(WINDOW, width), min(WINDOW, height)
    return windows


def measure_file(shim, name, path, arguments):
    with rasterio.open(path) as file:
        shape, dtype = (file.count, file.height, file.width), file.dtypes[0]
    buffer = np.ones(shape, dtype)
    readers = [Terrazzo(shim, path, arguments.threads), Gdal("GTiff", path, arguments.threads)]
    if has_libertiff():
        readers.append(Gdal("LIBERTIFF", path, arguments.threads))
    readers = compare_outputs(readers, buffer)
    result = {"file": name, "bytes": buffer.nbytes, "compressed_bytes": path.stat().st_size}
    codec = codec_alone(shim, path, arguments.threads)
    contenders = readers + ([codec] if codec else [])
    if "full" in arguments.cases:
        if codec:
            codec.full(buffer)  # the readers are warm from the comparison
        result["full"] = interleaved(contenders, lambda c: c.full(buffer), arguments.rounds)
        result["full"]["bytes"] = buffer.nbytes
    window_cases = [case for case in ("windows", "clients") if case in arguments.cases]
    if not window_cases:
        return result
    windows = random_windows(shape[2], shape[1], arguments.windows)
    side = windows[0, 2:].tolist()
    buffers = np.ones((arguments.threads, shape[0], side[1], side[0]), dtype)
    if codec:
        if codec.codec == "none":
            compare_windows(readers[0], codec, windows[:3], buffers)
        codec.prepare(windows)
    for case in window_cases:
        def work(contender, case=case):
            getattr(contender, case)(windows, buffers)

        result[case] = interleaved(contenders, work, arguments.rounds)
        result[case]["bytes"] = buffers[0].nbytes * len(windows)
    return result


def measure_set(shim, label, paths, arguments, results, out):
    """Prints the tables of one set; its figures are in `results`, and in the file, as they come."""
    rows = []
    for index, (name, path) in enumerate(paths.items()):
        real_rasters.progress(index, len(paths), name)
        rows.append(measure_file(shim, name, path, arguments))
        results["files"].append({"set": label, **rows[-1]})
        out.write_text(json.dumps(results, indent=1) + "\n")
    for case in arguments.cases:
        print_case(label, case, rows, results)


def has_libertiff():
    return tuple(int(part) for part in rasterio.__gdal_version__.split(".")[:2]) >= (3, 11)


HEADER = (f"{'file':24s} {'terrazzo':>16s} {'GTiff':>14s} {'LIBERTIFF':>14s} {'codec alone':>14s}   "
          "CPU time: GTiff, LIBERTIFF, codec   verdict")


def ratio(figures, who, unit="seconds"):
    return figures[who][unit] / figures["terrazzo"][unit]


def print_case(label, case, rows, results):
    """Median and worst first, then the rows."""
    print(f"\n{label}: {CASES[case]}, {len(rows)} files")
    told = {}
    for who, text in (("gtiff", "GTiff by Terrazzo"), ("libertiff", "LIBERTIFF by Terrazzo")):
        told[who] = real_rasters.print_spread(text, {r["file"]: ratio(r[case], who) for r in rows if who in r[case]})
    if has_libertiff():
        fastest = {r["file"]: min(ratio(r[case], w) for w in ("gtiff", "libertiff") if w in r[case]) for r in rows}
        told["gdal"] = real_rasters.print_spread("the faster of both by Terrazzo", fastest)
    of_codec = {r["file"]: 1 / ratio(r[case], "codec") for r in rows if "codec" in r[case]}
    told["codec"] = real_rasters.print_spread("Terrazzo by codec alone", of_codec, max, unit="")
    results["spread"].setdefault(label, {})[case] = told
    print(HEADER)
    for row in rows:
        print_row(row["file"], row[case])


def print_row(name, figures):
    ours = figures["terrazzo"]["seconds"]
    others = [who for who in ("gtiff", "libertiff", "codec") if who in figures]

    def cell(who):
        if who not in figures:
            return f"{'-':>14s}"
        return f"{figures[who]['seconds'] * 1e3:7.0f} ms {ratio(figures, who):4.2f}x"

    cpu = " ".join(f"{ratio(figures, who, 'cpu_seconds'):4.2f}x" for who in others)
    verdict = "ahead" if all(ratio(figures, who) > 1 for who in others if who != "codec") else "BEHIND"
    if "codec" in figures:
        allowed = 1.25 if "none" in name else 1.2  # none: 80 % of a plain read
        part = 1 / ratio(figures, "codec")
        verdict += f", {part:.2f} of codec" + ("" if part <= allowed else f" (over {allowed})")
    print(f"{name:24s} {ours * 1e3:7.0f} ms {figures['bytes'] / ours / 1e9:4.1f}GB/s {cell('gtiff')} "
          f"{cell('libertiff')} {cell('codec')}   {cpu:17s}  {verdict}", flush=True)


# -- memory, opening --------------------------------------------------------------------------------------------------

PEAK_PROGRAM = """
import sys
sys.path.insert(0, {bench!r})
import read_contenders, numpy as np, pathlib, rasterio
def high_water():
    return next(int(l.split()[1]) * 1024 for l in open('/proc/self/status') if l.startswith('VmHWM'))
path = pathlib.Path({path!r})
with rasterio.open(path) as f: buffer = np.ones((f.count, f.height, f.width), f.dtypes[0])
reader = read_contenders.Terrazzo(read_contenders.Shim(pathlib.Path({shim!r})), path, {threads}) if {who!r} == 'terrazzo' else \\
    read_contenders.Gdal({who!r}, path, {threads})
before = high_water()
reader.full(buffer)
print(high_water() - before)
"""


def peak_beyond_result(who, path, shim_path, threads):
    """Bytes that a whole read needs beside the result, in a process of its own (VmHWM)."""
    program = PEAK_PROGRAM.format(bench=str(ROOT / "bench"), path=str(path), shim=str(shim_path), threads=threads,
                                  who=who)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return int(done.stdout)


def make_million_tiles(folder):
    """A sparse file of 1024 x 1024 tiles of 256 px; the tiles of one window are there."""
    path = folder / "million_tiles.tif"
    if not path.exists():
        side = MILLION_SIDE * 256
        with rasterio.open(path, "w", driver="GTiff", width=side, height=side, count=1, dtype="uint8", tiled=True,
                           blockxsize=256, blockysize=256, sparse_ok=True, compress="deflate", bigtiff="yes") as out:
            pixels = np.random.default_rng(5).integers(0, 9, (512, 512)).astype(np.uint8)
            out.write(pixels, 1, window=Window(500 * 256, 700 * 256, 512, 512))
    return path


def measure_million_tiles(shim, path, rounds):
    """Opening a file of a million tiles and reading a 256 px window of it."""
    window = np.array([[500 * 256 + 100, 700 * 256 + 100, 256, 256]], np.uint32)
    buffer = np.ones((1, 1, 256, 256), np.uint8)
    readers = [Terrazzo(shim, path, 1), Gdal("GTiff", path, 1)]
    if has_libertiff():
        readers.append(Gdal("LIBERTIFF", path, 1))
    return interleaved(readers, lambda c: c.windows(window, buffer), max(rounds, 21))


def info_traffic(path):
    """Bytes and calls with which `terrazzo info` reads a file, by strace; None without it."""
    binary = os.environ.get("TERRAZZO_BIN", str(ROOT / "build/release/terrazzo"))
    log = path.with_suffix(".strace")
    calls = "trace=read,pread64,preadv,readv"
    command = ["strace", "-f", "-y", "-s", "0", "-e", calls, "-o", log, binary, "info", path]
    try:
        done = subprocess.run(command, capture_output=True)
    except OSError:
        return None
    if done.returncode != 0:
        return None
    lines = [line for line in log.read_text().splitlines() if f"<{path}>" in line]
    log.unlink()
    if not lines:
        raise SystemExit(f"strace shows no read of {path}: the count of bytes is broken")
    return sum(int(line.rsplit("= ", 1)[1]) for line in lines), len(lines)


def make_cog(folder):
    """A COG of 1 GiB of pixels, most tiles left out."""
    path = folder / "cog_1gib.tif"
    if not path.exists():
        plain = folder / "plain.partial"
        with rasterio.open(plain, "w", driver="GTiff", width=16384, height=16384, count=1, dtype="float32", tiled=True,
                           blockxsize=512, blockysize=512, sparse_ok=True, crs="EPSG:32633",
                           transform=rasterio.transform.from_origin(4e5, 5e6, 10, 10)) as out:
            out.write(np.ones((512, 512), np.float32), 1, window=Window(512, 512, 512, 512))
        rasterio.shutil.copy(plain, path, driver="COG", sparse_ok=True, compress="zstd", blocksize=512)
        plain.unlink()
    return path


def measure_peaks(paths, arguments, results):
    print("\nmemory of a whole read beyond the result (MiB)")
    results["peak_bytes"] = {}
    for name in ("dem_f32_deflate_p3_512", "dem_f32_none_512", "s2_u16x4_zstd_p2_512"):
        if name not in paths:
            continue
        row = {who: peak_beyond_result(who, paths[name], arguments.shim, arguments.threads)
               for who in ["terrazzo", "GTiff"] + (["LIBERTIFF"] if has_libertiff() else [])}
        results["peak_bytes"][name] = row
        print(f"  {name:26s} " + "  ".join(f"{who} {size / 2**20:.0f}" for who, size in row.items()), flush=True)


def measure_opening(shim, arguments, results):
    results["million_tiles"] = measure_million_tiles(shim, make_million_tiles(arguments.folder), arguments.rounds)
    print("\nopen a file of a million tiles and read a 256 px window (ms): " +
          "  ".join(f"{who} {t['seconds'] * 1e3:.2f}" for who, t in results["million_tiles"].items()))
    traffic = info_traffic(make_cog(arguments.folder))
    if traffic:
        results["info_bytes"] = traffic[0]
        print(f"`terrazzo info` of a 1 GiB COG reads {traffic[0]} bytes in {traffic[1]} calls")


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    real_rasters.add_option(parser)
    parser.add_argument("--sets", default="real,fractal", type=lambda text: text.split(","),
                        help="which sets of files to measure (default real,fractal)")
    parser.add_argument("--size", type=int, default=8192,
                        help="fractals: side of the elevation model; 16384 is 1 GiB (default 8192)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds; the median counts (default 5)")
    parser.add_argument("--windows", type=int, default=WINDOW_COUNT)
    parser.add_argument("--only", default="", help="regular expression: files whose name has it")
    parser.add_argument("--cases", default="full,windows,clients", help="which cases to measure (default all three)",
                        type=lambda text: text.split(","))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/bench", help="where the fractals are kept")
    parser.add_argument("--shim", type=pathlib.Path, default=ROOT / "build/release/bench/libterrazzo_bench_shim.so")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures here (default FOLDER/peers.json)")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()

    shim = Shim(arguments.shim)
    folder = arguments.folder / str(arguments.size)
    folder.mkdir(parents=True, exist_ok=True)
    out = arguments.json or folder / "peers.json"
    print(f"{machine()}; {arguments.threads} threads; median of {arguments.rounds}; GDAL {rasterio.__gdal_version__} "
          f"through rasterio {rasterio.__version__}; Python {platform.python_version()}")
    if not has_libertiff():
        print("no LIBERTIFF rows: this GDAL is older than 3.11")
    print("Nx: that many times as long as Terrazzo, in time on the clock and in time of the processor")
    results = {"machine": machine(), "threads": arguments.threads, "rounds": arguments.rounds, "size": arguments.size,
               "gdal": rasterio.__gdal_version__, "files": [], "spread": {}}

    def wanted(name):
        return re.search(arguments.only, name)

    if "real" in arguments.sets:
        paths = real_rasters.find(arguments.real, wanted)
        if paths:
            measure_set(shim, "real rasters", paths, arguments, results, out)
    if "fractal" in arguments.sets:
        names = [name for name in make_rasters.plan(arguments.size) if wanted(name)]
        paths = make_rasters.make(folder, arguments.size, only=set(names))
        measure_set(shim, "fractals", {name: paths[name] for name in names}, arguments, results, out)
        measure_peaks(paths, arguments, results)
        measure_opening(shim, arguments, results)
    out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"figures: {out}")


if __name__ == "__main__":
    main()
