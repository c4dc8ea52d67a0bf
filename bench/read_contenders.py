# SPDX-License-Identifier: Apache-2.0
"""The readers that peers.py compares, which says what each of them is."""

import concurrent.futures
import ctypes
import os
import sys
import warnings

import numpy as np
import rasterio
import tifffile
from rasterio.windows import Window

warnings.filterwarnings("ignore", category=rasterio.errors.NotGeoreferencedWarning)


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


def codec_alone(shim, path, threads):
    """A Codec, or None for a file whose tiles bench/terrazzo_bench_shim.cpp does not decode."""
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        codec = Codec.NAMES.get(int(page.compression))
        is_simple = page.is_tiled and file.byteorder == "<" and all(page.databytecounts) and page.fillorder == 1
        if codec == "none":
            is_simple = is_simple and page.samplesperpixel == 1 and page.bitspersample % 8 == 0
    return Codec(shim, path, threads) if codec and is_simple else None


class Codec:
    name = "codec"
    NAMES = {1: "none", 5: "lzw", 7: "jpeg", 8: "deflate", 50000: "zstd"}

    def __init__(self, shim, path, threads):
        self.shim, self.path, self.threads = shim, path, threads
        with tifffile.TiffFile(path) as file:
            page = file.pages[0]
            self.codec = self.NAMES[int(page.compression)]
            self.offsets = np.array(page.dataoffsets, np.uint64)
            self.sizes = np.array(page.databytecounts, np.uint64)
            self.tile_width, self.tile_height = page.tilewidth, page.tilelength
            self.tiles_across = -(-page.imagewidth // page.tilewidth)
            bands_together = page.samplesperpixel if page.planarconfig == 1 else 1
            self.pixel_bytes = bands_together * page.bitspersample // 8
            self.planes = page.samplesperpixel // bands_together
            self.tiles_of_plane = len(page.dataoffsets) // self.planes
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

        return [(plane * self.tiles_of_plane + y * self.tiles_across + x, columns, rows) for plane in range(self.planes)
                for y, rows in spans(row, height, self.tile_height) for x, columns in spans(column, width, self.tile_width)]

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
