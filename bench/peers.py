#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading speed on the host against GDAL and against the codec libraries alone.

  peers.py [--size N] [--threads N] [--rounds N] [--only PATTERN] [--cases LIST] [--json FILE]      (all: --help)

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
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import make_rasters  # noqa: E402
import numpy as np  # noqa: E402
import rasterio  # noqa: E402
import rasterio.shutil  # noqa: E402
import tifffile  # noqa: E402
from rasterio.windows import Window  # noqa: E402

warnings.filterwarnings("ignore", category=rasterio.errors.NotGeoreferencedWarning)

WINDOW = 512
WINDOW_COUNT = 1000
MILLION_SIDE = 1024  # tiles a side


class Shim:
    """The functions of terrazzo_bench_shim.cpp."""

    def __init__(self, path):
        if not path.exists():
            sys.exit(f"there is no {path}: build the release preset (`./dev build`) with its codec libraries")
        self.library = ctypes.CDLL(str(path))
        self.library.shim_open.restype = ctypes.c_void_p
        self.library.shim_error.restype = ctypes.c_char_p

    def open(self, path):
        handle = self.library.shim_open(os.fsencode(path))
        if not handle:
            raise RuntimeError(self.library.shim_error().decode())
        return ctypes.c_void_p(handle)

    def close(self, handle):
        self.library.shim_close(handle)

    def call(self, name, *args):
        converted = [pointer(a) if isinstance(a, np.ndarray) else ctypes.c_uint64(a) if isinstance(a, int) else a
                     for a in args]
        if getattr(self.library, name)(*converted) != 0:
            raise RuntimeError(f"{name}: {self.library.shim_error().decode()}")


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


# -- contenders -------------------------------------------------------------------------------------------------------


class Terrazzo:
    name = "terrazzo"

    def __init__(self, shim, path, threads):
        self.shim, self.path, self.threads = shim, path, threads

    def full(self, buffer):
        handle = self.shim.open(self.path)
        self.shim.call("shim_read", handle, buffer, self.threads)
        self.shim.close(handle)

    def windows(self, windows, buffers):
        handle = self.shim.open(self.path)
        self.shim.call("shim_read_windows", handle, windows, len(windows), buffers, self.threads)
        self.shim.close(handle)

    def clients(self, windows, buffers):
        handle = self.shim.open(self.path)
        self.shim.call("shim_read_windows_by_clients", handle, windows, len(windows), buffers,
                       buffers.nbytes // self.threads, self.threads)
        self.shim.close(handle)


class Gdal:
    def __init__(self, driver, path, threads):
        self.name, self.driver, self.path, self.threads = driver.lower(), driver, path, threads

    def open(self, threads):
        return rasterio.open(self.path, driver=self.driver, num_threads=threads)

    def full(self, buffer):
        with self.open(self.threads) as file:
            file.read(out=buffer)

    def windows(self, windows, buffers):
        with self.open(self.threads) as file:
            for column, row, width, height in windows.tolist():
                file.read(out=buffers[0], window=Window(column, row, width, height))

    def clients(self, windows, buffers):
        """A dataset per client: they are not made to be shared."""

        def work(client):
            with self.open(1) as file:
                for column, row, width, height in windows[client::self.threads].tolist():
                    file.read(out=buffers[client], window=Window(column, row, width, height))

        with concurrent.futures.ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(work, range(self.threads)))


class Codec:
    name = "codec"

    def __init__(self, shim, path, threads):
        self.shim, self.path, self.threads = shim, path, threads
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            self.codec = {1: "none", 5: "lzw", 7: "jpeg", 8: "deflate", 50000: "zstd"}[int(page.compression)]
            self.offsets = np.array(page.dataoffsets, np.uint64)
            self.sizes = np.array(page.databytecounts, np.uint64)
            self.tile_width, self.tile_height = page.tilewidth, page.tilelength
            self.tiles_across = -(-page.imagewidth // page.tilewidth)
            self.pixel_bytes = page.samplesperpixel * page.bitspersample // 8
            self.tile_bytes = page.tilewidth * page.tilelength * self.pixel_bytes
            self.tables = np.frombuffer(page.jpegtables or b"", np.uint8)
            predictor = page.tags.get("Predictor")
        self.file = None
        if self.codec != "none":
            self.file = np.fromfile(path, np.uint8)
            if predictor is not None:  # libtiff would undo it; the library alone is what is asked for
                self.file[predictor.valueoffset] = 1
            self.scratch = np.ones(self.tile_bytes * threads, np.uint8)

    def full(self, buffer):
        if self.codec == "none":
            self.shim.call("shim_plain_read", os.fsencode(self.path), buffer, buffer.nbytes, self.threads)
            return
        self.decode(np.arange(len(self.sizes), dtype=np.uint64), np.array([0, len(self.sizes)], np.uint64))

    def decode(self, tiles, firsts):
        """The tiles of one group after those of another."""
        self.shim.call("shim_decode_tiles", self.codec.encode(), self.file, self.file.nbytes, self.offsets, self.sizes,
                       tiles, firsts, len(firsts) - 1, self.tile_bytes, self.tables, self.tables.nbytes, self.scratch,
                       self.threads)

    def prepare(self, windows):
        """What each window touches, once: the tiles, or the runs of a file that is not compressed."""
        parts = [self.parts(*window) for window in windows.tolist()]
        self.window_tiles = np.array([tile for part in parts for tile, _, _ in part], np.uint64)
        self.first_tiles = np.cumsum([0] + [len(part) for part in parts]).astype(np.uint64)
        if self.codec != "none":
            return
        runs = [np.concatenate([self.runs(*window, *part) for part in parts_of])
                for window, parts_of in zip(windows.tolist(), parts)]
        self.window_runs = np.concatenate(runs).astype(np.uint64)
        self.first_runs = np.cumsum([0] + [len(r) for r in runs]).astype(np.uint64)

    def parts(self, column, row, width, height):
        """(tile, columns, rows) of every tile of a window; the ranges are pixels of the image."""
        def spans(start, length, side):
            for index in range(start // side, (start + length - 1) // side + 1):
                yield index, range(max(start, index * side), min(start + length, (index + 1) * side))

        return [(y * self.tiles_across + x, columns, rows) for y, rows in spans(row, height, self.tile_height)
                for x, columns in spans(column, width, self.tile_width)]

    def runs(self, column, row, width, _height, tile, columns, rows):
        """Offset in the file, offset in the window's buffer and bytes of each row of a part: one band."""
        y = np.arange(rows.start, rows.stop, dtype=np.int64)
        in_tile = (y % self.tile_height) * self.tile_width + columns.start % self.tile_width
        in_window = (y - row) * width + columns.start - column
        return np.stack([int(self.offsets[tile]) + in_tile * self.pixel_bytes, in_window * self.pixel_bytes,
                         np.full(len(y), len(columns) * self.pixel_bytes)], axis=1)

    def windows(self, windows, buffers, clients=0):
        """The same tiles as often as windows touch them, window by window; none: straight into place."""
        if self.codec == "none":
            self.shim.call("shim_plain_read_windows", os.fsencode(self.path), self.window_runs, self.first_runs,
                           len(windows), buffers, buffers.nbytes // self.threads, self.threads, clients)
        elif clients:
            self.decode(self.window_tiles, np.array([0, len(self.window_tiles)], np.uint64))
        else:
            self.decode(self.window_tiles, self.first_tiles)

    def clients(self, windows, buffers):
        """The same with no wait between windows."""
        self.windows(windows, buffers, clients=1)


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


def compare_outputs(contenders, buffer):
    """Fails unless all read the same; JPEG decoders may differ by a little, which is told."""
    reference, seen = None, {}
    for contender in contenders:
        buffer.fill(0)
        contender.full(buffer)
        seen[contender.name] = digest(buffer)
        if reference is None:
            reference = buffer[:, ::7, ::7].astype(np.float64)
        worst = float(np.nanmax(np.abs(buffer[:, ::7, ::7].astype(np.float64) - reference)))
        if seen[contender.name] != seen[contenders[0].name]:
            if worst > 2 or buffer.dtype != np.uint8:
                raise SystemExit(f"{contender.path.name}: {contender.name} reads other pixels (by up to {worst})")
            print(f"  note: {contender.name} differs by up to {worst:.0f} (another JPEG decoder)")


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
    compare_outputs(readers, buffer)
    result = {"file": name, "bytes": buffer.nbytes, "compressed_bytes": path.stat().st_size}
    codec = Codec(shim, path, arguments.threads)
    if "full" in arguments.cases:
        codec.full(buffer)  # the readers are warm from the comparison
        result["full"] = interleaved(readers + [codec], lambda c: c.full(buffer), arguments.rounds)
        print_row(name, "full", result["full"], buffer.nbytes)
    window_cases = [case for case in ("windows", "clients") if case in arguments.cases]
    if not window_cases:
        return result
    windows = random_windows(shape[2], shape[1], arguments.windows)
    side = windows[0, 2:].tolist()
    buffers = np.ones((arguments.threads, shape[0], side[1], side[0]), dtype)
    if codec.codec == "none":
        compare_windows(readers[0], codec, windows[:3], buffers)
    codec.prepare(windows)
    for case in window_cases:
        def work(contender, case=case):
            getattr(contender, case)(windows, buffers)

        result[case] = interleaved(readers + [codec], work, arguments.rounds)
        print_row(name, case, result[case], buffers[0].nbytes * len(windows))
    return result


def has_libertiff():
    return tuple(int(part) for part in rasterio.__gdal_version__.split(".")[:2]) >= (3, 11)


HEADER = (f"{'file':24s} {'case':8s} {'terrazzo':>16s} {'GTiff':>14s} {'LIBERTIFF':>14s} {'codec alone':>14s}   "
          "CPU time: GTiff, LIBERTIFF, codec   verdict")


def print_row(name, case, figures, size_bytes):
    ours = figures["terrazzo"]["seconds"]
    others = [who for who in ("gtiff", "libertiff", "codec") if who in figures]

    def ratio(who, unit):
        return figures[who][unit] / figures["terrazzo"][unit]

    def cell(who):
        if who not in figures:
            return f"{'-':>14s}"
        return f"{figures[who]['seconds'] * 1e3:7.0f} ms {ratio(who, 'seconds'):4.2f}x"

    cpu = " ".join(f"{ratio(who, 'cpu_seconds'):4.2f}x" for who in others)
    verdict = "ahead" if all(ratio(who, "seconds") > 1 for who in others if who != "codec") else "BEHIND"
    if "codec" in figures:
        allowed = 1.25 if "none" in name else 1.2  # none: 80 % of a plain read
        part = 1 / ratio("codec", "seconds")
        verdict += f", {part:.2f} of codec" + ("" if part <= allowed else f" (over {allowed})")
    print(f"{name:24s} {case:8s} {ours * 1e3:7.0f} ms {size_bytes / ours / 1e9:4.1f}GB/s {cell('gtiff')} "
          f"{cell('libertiff')} {cell('codec')}   {cpu:17s}  {verdict}", flush=True)


# -- memory, opening --------------------------------------------------------------------------------------------------

PEAK_PROGRAM = """
import sys
sys.path.insert(0, {bench!r})
import peers, numpy as np, pathlib, rasterio
def high_water():
    return next(int(l.split()[1]) * 1024 for l in open('/proc/self/status') if l.startswith('VmHWM'))
path = pathlib.Path({path!r})
with rasterio.open(path) as f: buffer = np.ones((f.count, f.height, f.width), f.dtypes[0])
reader = peers.Terrazzo(peers.Shim(pathlib.Path({shim!r})), path, {threads}) if {who!r} == 'terrazzo' else \\
    peers.Gdal({who!r}, path, {threads})
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


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    return f"{model}, {os.cpu_count()} cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8192,
                        help="side of the elevation model; 16384 is 1 GiB (default 8192)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds; the median counts (default 5)")
    parser.add_argument("--windows", type=int, default=WINDOW_COUNT)
    parser.add_argument("--only", default="", help="regular expression: files whose name has it")
    parser.add_argument("--cases", default="full,windows,clients", help="which cases to measure (default all three)",
                        type=lambda text: text.split(","))
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "out/bench", help="where the rasters are kept")
    parser.add_argument("--shim", type=pathlib.Path, default=ROOT / "build/release/bench/libterrazzo_bench_shim.so")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures here (default FOLDER/peers.json)")
    arguments = parser.parse_args()
    arguments.folder = arguments.folder.resolve()

    shim = Shim(arguments.shim)
    folder = arguments.folder / str(arguments.size)
    names = [name for name in make_rasters.plan(arguments.size) if re.search(arguments.only, name)]
    paths = make_rasters.make(folder, arguments.size, only=set(names))
    print(f"{machine()}; {arguments.threads} threads; median of {arguments.rounds}; GDAL {rasterio.__gdal_version__} "
          f"through rasterio {rasterio.__version__}; Python {platform.python_version()}")
    if not has_libertiff():
        print("no LIBERTIFF rows: this GDAL is older than 3.11")
    print("Nx: that many times as long as Terrazzo, in time on the clock and in time of the processor")
    print(HEADER)
    results = {"machine": machine(), "threads": arguments.threads, "rounds": arguments.rounds, "size": arguments.size,
               "gdal": rasterio.__gdal_version__, "files": []}
    for name in names:
        results["files"].append(measure_file(shim, name, paths[name], arguments))

    print("\nmemory of a whole read beyond the result (MiB)")
    results["peak_bytes"] = {}
    for name in [n for n in names if n in ("dem_f32_deflate_p3_512", "dem_f32_none_512", "s2_u16x4_zstd_p2_512")]:
        row = {who: peak_beyond_result(who, paths[name], arguments.shim, arguments.threads)
               for who in ["terrazzo", "GTiff"] + (["LIBERTIFF"] if has_libertiff() else [])}
        results["peak_bytes"][name] = row
        print(f"  {name:26s} " + "  ".join(f"{who} {size / 2**20:.0f}" for who, size in row.items()), flush=True)

    results["million_tiles"] = measure_million_tiles(shim, make_million_tiles(arguments.folder), arguments.rounds)
    print("\nopen a file of a million tiles and read a 256 px window (ms): " +
          "  ".join(f"{who} {t['seconds'] * 1e3:.2f}" for who, t in results["million_tiles"].items()))
    traffic = info_traffic(make_cog(arguments.folder))
    if traffic:
        results["info_bytes"] = traffic[0]
        print(f"`terrazzo info` of a 1 GiB COG reads {traffic[0]} bytes in {traffic[1]} calls")
    out = arguments.json or folder / "peers.json"
    out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"figures: {out}")


if __name__ == "__main__":
    main()
