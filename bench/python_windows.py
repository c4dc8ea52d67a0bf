#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a window costs in a hot loop, beside rasterio: `python_windows.py [--rounds N] [--windows N]`.

A raster of 4096 x 4096 uint8 pixels in tiles of 256, uncompressed and by Deflate, is read in random windows: 256 x 256
pixels, of which each touches four tiles, and single pixels, whose cost is the overhead alone. GDAL's block cache and
Terrazzo's tile cache hold the tiles of the Deflate file, as in training that returns to the same chips.

  rasterio read           src.read(1, window=...), one dataset that stays open
  terrazzo read           ds.read(1, window=...)
  ... out                 the same into one array of the caller
  terrazzo read_windows   all windows by one call, into one array of the caller
  rasterio loop           read(out=array[i]) into that array: what read_windows replaces

Results are compared before anything is timed. Prints the best round, in microseconds a window; rounds are short, so that
some of them are not interrupted on a busy machine.
"""

import argparse
import pathlib
import sys
import tempfile
import time

import numpy as np
import rasterio
from rasterio.transform import from_origin
from rasterio.windows import Window

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import terrazzo  # noqa: E402

SIZE, TILE = 4096, 256


def make_file(path, compress):
    rows, columns = np.mgrid[0:SIZE, 0:SIZE]
    pixels = (127 + 60 * np.sin(rows / 91) * np.cos(columns / 67) + np.random.default_rng(1).integers(0, 4, (SIZE, SIZE))).astype(np.uint8)
    profile = {"driver": "GTiff", "width": SIZE, "height": SIZE, "count": 1, "dtype": "uint8", "tiled": True,
               "blockxsize": TILE, "blockysize": TILE, "compress": compress, "transform": from_origin(0, SIZE, 1, 1)}
    with rasterio.open(path, "w", **profile) as out:
        out.write(pixels, 1)
    return path


def contenders(path, windows):
    """{name: function that reads all windows and returns an array of them}"""
    src, ds = rasterio.open(path), terrazzo.open(path)
    places = [Window(*window) for window in windows]
    items = [(ds, window) for window in windows]
    _, _, width, height = windows[0]
    one, many = np.empty((height, width), np.uint8), np.empty((len(windows), 1, height, width), np.uint8)

    def rasterio_loop():
        for i, place in enumerate(places):
            src.read(1, window=place, out=many[i, 0])
        return many[:, 0]

    return {
        "rasterio read": lambda: [src.read(1, window=place) for place in places],
        "rasterio read, out": lambda: [src.read(1, window=place, out=one) for place in places],
        "rasterio loop": rasterio_loop,
        "terrazzo read": lambda: [ds.read(1, window=window) for window in windows],
        "terrazzo read, out": lambda: [ds.read(1, window=window, out=one) for window in windows],
        "terrazzo read_windows": lambda: terrazzo.read_windows(items, bands=1, out=many)[:, 0],
    }


def compare(runs):
    expected = np.array(runs["rasterio read"]())
    for name, run in runs.items():
        if not name.endswith("out"):  # these return one array again and again
            np.testing.assert_array_equal(np.array(run()), expected, err_msg=name)


def measure(runs, count, rounds):
    """The best microseconds a window; all contenders take part in each round."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], (time.perf_counter() - start) / count * 1e6)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--windows", type=int, default=32)
    options = parser.parse_args()
    corners = np.random.default_rng(2).integers(0, SIZE - TILE, (options.windows, 2)).tolist()
    terrazzo.configure(tile_cache_bytes=256 << 20)
    columns = {}
    with tempfile.TemporaryDirectory() as folder, rasterio.Env(GDAL_CACHEMAX=256 << 20):
        for compress in ("none", "deflate"):
            path = make_file(pathlib.Path(folder) / f"{compress}.tif", compress)
            for pixels in (1, TILE):
                runs = contenders(path, [(column, row, pixels, pixels) for column, row in corners])
                compare(runs)
                columns[f"{compress}, {pixels} px"] = measure(runs, options.windows, options.rounds)
    print(f"| us a window | {' | '.join(columns)} |")
    print("|---" * (len(columns) + 1) + "|")
    for name in next(iter(columns.values())):
        print(f"| {name} | {' | '.join(f'{column[name]:.1f}' for column in columns.values())} |")
    for title, column in columns.items():
        print(f"{title}: a window of read_windows costs {column['terrazzo read_windows'] / column['rasterio loop']:.2f} of rasterio's")


if __name__ == "__main__":
    main()
