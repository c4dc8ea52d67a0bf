#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the rasters that reading speed is measured on: `make_rasters.py FOLDER [--size N]`.

Fractal surfaces, since real terrain and real reflectances compress like them: an elevation model in float32 rounded to
centimetres (N x N; 1 GiB at N = 16384), four bands of uint16 and three of uint8 (N/2 x N/2). GDAL writes them, through
rasterio. A file that is there already is kept.
"""

import argparse
import concurrent.futures
import os
import pathlib
import time

import numpy as np
import rasterio
from rasterio.transform import from_origin

LINES_AT_ONCE = 64  # of a Fourier transform: enough to keep the threads busy, few enough to need no memory to speak of

LEVELS = {"deflate": {"zlevel": 6}, "zstd": {"zstd_level": 9}, "lzw": {}, "none": {}}


def fractal(size, beta, seed):
    """A surface of mean 0 and deviation 1 whose power falls with frequency as f^-beta.

    Random phases, one inverse Fourier transform; column by column and then row by row, so that the memory is one
    spectrum and one surface.
    """
    rows = np.fft.fftfreq(size).astype(np.float32)
    columns = np.fft.rfftfreq(size).astype(np.float32)
    spectrum = np.empty((size, columns.size), np.complex64)
    surface = np.empty((size, size), np.float32)

    def fill(at):
        rng = np.random.default_rng([seed, at])
        part = rows[at:at + LINES_AT_ONCE, None]
        power = part * part + columns * columns
        power[power == 0] = 1
        angle = rng.random(power.shape, np.float32) * np.float32(2 * np.pi)
        amplitude = power ** np.float32(-beta / 4)
        spectrum[at:at + LINES_AT_ONCE] = amplitude * (np.cos(angle) + 1j * np.sin(angle))

    def down(at):
        spectrum[:, at:at + LINES_AT_ONCE] = np.fft.ifft(spectrum[:, at:at + LINES_AT_ONCE], axis=0)

    def across(at):
        surface[at:at + LINES_AT_ONCE] = np.fft.irfft(spectrum[at:at + LINES_AT_ONCE], size, axis=1)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for step, extent in ((fill, size), (down, columns.size), (across, size)):
            list(pool.map(step, range(0, extent, LINES_AT_ONCE)))
    del spectrum
    surface -= surface.mean(dtype=np.float64)
    surface /= surface.std(dtype=np.float64)
    return surface


def elevation(size):
    metres = fractal(size, 3.4, 1)
    metres *= 400
    metres += 900
    return np.round(metres, 2, out=metres)[None]


def reflectance(size):
    bands = [np.clip(fractal(size, 2.4, 10 + b) * 500 + 1800 + 300 * b, 1, 10000).astype(np.uint16) for b in range(4)]
    return np.stack(bands)


def photograph(size):
    return np.stack([np.clip(fractal(size, 2.4, 20 + b) * 45 + 120, 0, 255).astype(np.uint8) for b in range(3)])


def plan(size):
    """name -> (pixels, options)"""
    files = {}
    for tile in (256, 512):
        for codec in ("deflate", "zstd", "lzw", "none"):
            options = {"compress": codec, "tile": tile, **LEVELS[codec]}
            if codec != "none":
                options["predictor"] = 3
            files[f"dem_f32_{codec}{'_p3' if codec != 'none' else ''}_{tile}"] = (elevation, size, options)
    for codec in ("deflate", "zstd", "lzw"):
        options = {"compress": codec, "predictor": 2, "tile": 512, "interleave": "pixel", **LEVELS[codec]}
        files[f"s2_u16x4_{codec}_p2_512"] = (reflectance, size // 2, options)
    files["rgb_u8_jpeg_512"] = (photograph, size // 2, {"compress": "jpeg", "photometric": "ycbcr", "tile": 512,
                                                        "interleave": "pixel", "jpeg_quality": 85})
    return files


def write(path, array, tile, **options):
    started = time.perf_counter()
    partial = path.with_suffix(".partial")
    with rasterio.open(partial, "w", driver="GTiff", height=array.shape[1], width=array.shape[2], count=array.shape[0],
                       dtype=array.dtype.name, crs="EPSG:32633", transform=from_origin(4e5, 5e6, 10, 10), tiled=True,
                       blockxsize=tile, blockysize=tile, num_threads="ALL_CPUS", bigtiff="IF_SAFER", **options) as out:
        out.write(array)
    partial.rename(path)
    print(f"  {path.name}: {array.nbytes / 1e6:.0f} MB of pixels, {path.stat().st_size / 1e6:.0f} MB, "
          f"{time.perf_counter() - started:.0f} s", flush=True)


def make(folder, size, only=None):
    """Paths by name; makes those that are missing."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: value for name, value in plan(size).items() if only is None or name in only}
    paths = {name: folder / f"{name}.tif" for name in files}
    for source in (elevation, reflectance, photograph):
        missing = [name for name, value in files.items() if value[0] is source and not paths[name].exists()]
        if not missing:
            continue
        print(f"making {', '.join(missing)}", flush=True)
        array = source(files[missing[0]][1])
        for name in missing:
            options = dict(files[name][2])
            write(paths[name], array, options.pop("tile"), **options)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--size", type=int, default=8192, help="pixels a side of the elevation model (default 8192)")
    arguments = parser.parse_args()
    make(arguments.folder, arguments.size)


if __name__ == "__main__":
    main()
