#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a GeoTIFF worth looking at: a mountainous island, cut by its rivers, with a lake. The sea is nodata.

The land rises while rivers cut it down in proportion to the water they carry (the stream-power law, solved implicitly
from the outlets up), first on a coarse grid, then on a finer one; at full size, ridged noise adds rock on the slopes.
The same seed gives the same island.
"""
import argparse
import heapq
from pathlib import Path

import numpy
import tifffile

NODATA = -9999.0
PIXEL_M = 10.0
ORIGIN = (300_000.0, 3_240_000.0)  # top left, metres
EPSG = 32628  # UTM zone 28N: open Atlantic
OFFSETS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


def enlarge(grid, size):
    """Cubic (Catmull-Rom) interpolation of a square grid to size x size."""
    count = grid.shape[0]
    position = (numpy.arange(size) + 0.5) * count / size - 0.5
    base = numpy.floor(position).astype(int)
    t = (position - base).astype(numpy.float32)
    weights = [-t / 2 + t**2 - t**3 / 2, 1 - 2.5 * t**2 + 1.5 * t**3, t / 2 + 2 * t**2 - 1.5 * t**3, -(t**2) / 2 + t**3 / 2]
    matrix = numpy.zeros((size, count), numpy.float32)
    for k, weight in enumerate(weights):
        numpy.add.at(matrix, (numpy.arange(size), numpy.clip(base + k - 1, 0, count - 1)), weight)
    return matrix @ grid.astype(numpy.float32) @ matrix.T


def noise(random, lattice, size):
    return enlarge(random.standard_normal((lattice, lattice)).astype(numpy.float32), size)


def fill_pits(height, sea):
    """Raises every closed hollow to its rim, and a little more, so that all water finds the sea."""
    size = height.shape[0]
    level = height.ravel().tolist()
    done = sea.ravel().tolist()
    queue = [(level[i], i) for i in numpy.flatnonzero(sea)]
    heapq.heapify(queue)
    while queue:
        here, i = heapq.heappop(queue)
        row, column = divmod(i, size)
        for d_row, d_column in OFFSETS:
            r, c = row + d_row, column + d_column
            if 0 <= r < size and 0 <= c < size and not done[j := r * size + c]:
                done[j] = True
                level[j] = max(level[j], here + 1e-3)
                heapq.heappush(queue, (level[j], j))
    return numpy.array(level).reshape(size, size)


def receivers(height):
    """For each cell, the index of the neighbour its water runs to (itself in the sea) and the distance in cells."""
    size = height.shape[0]
    index = numpy.arange(size * size).reshape(size, size)
    best = numpy.zeros_like(height)
    target, distance = index.copy(), numpy.ones_like(height)
    padded = numpy.pad(height, 1, constant_values=numpy.inf)
    for d_row, d_column in OFFSETS:
        step = numpy.hypot(d_row, d_column)
        drop = (height - padded[1 + d_row : 1 + d_row + size, 1 + d_column : 1 + d_column + size]) / step
        steeper = drop > best
        best[steeper], distance[steeper] = drop[steeper], step
        target[steeper] = (index + d_row * size + d_column)[steeper]
    return target.ravel(), distance.ravel()


def erode(height, sea, uplift, steps, cell_m):
    """Uplift, rivers and creeping slopes, `steps` times."""
    for _ in range(steps):
        height = fill_pits(height, sea)
        target, distance = receivers(height)
        flat = height.ravel()
        upwards = numpy.argsort(flat)
        to, order = target.tolist(), upwards.tolist()
        area = [1.0] * flat.size
        for i in reversed(order):
            if to[i] != i:
                area[to[i]] += area[i]
        cut = (0.02 * numpy.sqrt(numpy.array(area) * cell_m**2) / (distance * cell_m) * 6.0).tolist()
        new = (flat + uplift.ravel()).tolist()
        under_sea = sea.ravel().tolist()
        for i in order:
            if under_sea[i]:
                new[i] = 0.0
            elif to[i] != i:
                new[i] = (new[i] + cut[i] * new[to[i]]) / (1 + cut[i])
        height = numpy.array(new).reshape(height.shape)
        padded = numpy.pad(height, 1, mode="edge")
        mean = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / 4
        height = numpy.where(sea, 0.0, height + 0.10 * (mean - height))
    return height


def upstream_of(outlet, target, upwards):
    """The catchment of a cell: every cell whose water passes through it."""
    inside = [False] * len(target)
    inside[outlet] = True
    for i in upwards:
        inside[i] = inside[i] or inside[target[i]]
    return numpy.array(inside)


def drown_a_valley(height, candidates, depth_m):
    """A lake behind an old landslide: of the candidates, the outlet whose dam holds most. Its cells, and its level."""
    target, _ = receivers(height)
    to, upwards, flat = target.tolist(), numpy.argsort(height.ravel()).tolist(), height.ravel()
    lake, level = numpy.zeros(flat.shape, bool), 0.0
    for outlet in candidates.tolist():
        wet = upstream_of(outlet, to, upwards) & (flat < flat[outlet] + depth_m)
        if wet.sum() > lake.sum():
            lake, level = wet, flat[outlet] + depth_m
    return lake.reshape(height.shape), level


def island(size, seed):
    """Heights in metres, float32, and where the sea is."""
    random = numpy.random.default_rng(seed)
    coarse = max(32, min(192, size // 16))
    fine = max(64, min(384, size // 8))

    y, x = numpy.mgrid[-1 : 1 : coarse * 1j, -1 : 1 : coarse * 1j]
    shore = 0.82 + 0.10 * noise(random, 6, coarse) + 0.04 * noise(random, 14, coarse) - numpy.hypot(x * 0.92, y * 1.05)
    shore -= 8 * numpy.clip(numpy.maximum(numpy.abs(x), numpy.abs(y)) - 0.88, 0, None)  # sea all around
    sea = shore < 0
    rise = 30.0 * (0.35 + numpy.clip(shore, 0, 0.6) * 2.2) * numpy.clip(1 + 0.35 * noise(random, 5, coarse), 0.3, 2.0)
    height = numpy.where(sea, 0.0, shore * 200 + random.uniform(0, 8, shore.shape))
    height = erode(height, sea, numpy.where(sea, 0.0, rise), 40, size * PIXEL_M / coarse)

    shore = enlarge(shore, fine) + 0.006 * noise(random, fine // 5, fine)
    sea = shore < 0
    height = numpy.where(sea, 0.0, numpy.maximum(enlarge(height, fine), 1.0) + random.uniform(0, 3, sea.shape))
    rise = numpy.where(sea, 0.0, numpy.clip(enlarge(rise, fine), 2.0, None))
    height = erode(height, sea, rise, 7, size * PIXEL_M / fine)

    inland = numpy.flatnonzero((shore > 0.14) & (height < numpy.percentile(height[~sea], 45)))
    lake, lake_level = drown_a_valley(height, random.choice(inland, 80), 260.0)

    full = enlarge(height, size)
    slope = numpy.hypot(*numpy.gradient(full, PIXEL_M))
    rock = numpy.zeros_like(full)
    for octave in range(3):
        lattice = min(fine * 2**octave // 2, 1024)
        rock += (0.35 - numpy.abs(noise(random, lattice, size))) * (14.0 / 2**octave)
    full += rock * numpy.clip(slope, 0.05, 1.0) * (fine / 384)
    coast = enlarge(shore, size) + 0.0015 * noise(random, min(fine * 2, 1024), size)
    full = numpy.maximum(full, 0.5)
    full = numpy.where(enlarge(lake.astype(numpy.float32), size) > 0.5, numpy.float32(lake_level), full)
    return full.astype(numpy.float32), coast < 0


def half(height):
    """2 x 2 means of the valid pixels."""
    quads = height.reshape(height.shape[0] // 2, 2, height.shape[1] // 2, 2)
    valid = quads != NODATA
    count = valid.sum(axis=(1, 3))
    total = numpy.where(valid, quads, 0).sum(axis=(1, 3), dtype=numpy.float64)
    return numpy.where(count > 0, total / numpy.maximum(count, 1), NODATA).astype(numpy.float32)


def write_geotiff(path, height):
    nodata = f"{NODATA:g}"
    # GTModelType projected, GTRasterType pixel-is-area, the projected CRS, metres.
    keys = (1, 1, 0, 4, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, EPSG, 3076, 0, 1, 9001)
    georeference = [
        (33550, 12, 3, (PIXEL_M, PIXEL_M, 0.0), True),
        (33922, 12, 6, (0.0, 0.0, 0.0, *ORIGIN, 0.0), True),
        (34735, 3, len(keys), keys, True),
        (42113, 2, len(nodata) + 1, nodata, True),
    ]
    options = {"tile": (512, 512), "compression": "zlib", "predictor": 3, "metadata": None, "software": False}
    with tifffile.TiffWriter(path) as tiff:
        tiff.write(height, extratags=georeference, **options)
        while min(height.shape) > 512:
            height = half(height)
            tiff.write(height, subfiletype=1, extratags=georeference[3:], **options)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("file", type=Path)
    arguments.add_argument("--size", type=int, default=4096, help="width and height in pixels (default 4096)")
    arguments.add_argument("--seed", type=int, default=7)
    options = arguments.parse_args()
    height, sea = island(options.size, options.seed)
    height[sea] = NODATA
    options.file.parent.mkdir(parents=True, exist_ok=True)
    write_geotiff(options.file, height)
    print(f"{options.file}: {options.size} x {options.size} float32, up to {height.max():.0f} m, EPSG:{EPSG}")


if __name__ == "__main__":
    main()
