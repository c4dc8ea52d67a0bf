# SPDX-License-Identifier: Apache-2.0
"""Who writes, and what: pixels in memory, and contenders that put them into a file. For write_peers.py, which says what
each contender is, and device_write_peers.py."""

import concurrent.futures
import ctypes
import os
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

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
GDAL_TYPES = {"uint8": "Byte", "int8": "Int8", "uint16": "UInt16", "int16": "Int16", "uint32": "UInt32", "int32": "Int32",
              "float32": "Float32", "float64": "Float64"}
TRANSFORM = from_origin(4e5, 5e6, 10, 10)
CRS = "EPSG:32633"
LERC_ERROR = 0.01


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


def read_pixels(path):
    with rasterio.open(path, num_threads="ALL_CPUS") as file:
        return file.read()


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
        elif pixels.dtype.kind == "f":  # bytes of one significance together, the highest first, then differences
            size = pixels.itemsize
            planes = tile.astype(f">f{size}").view(np.uint8).reshape(TILE, TILE * bands, size).transpose(0, 2, 1)
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


def gdal_options(pixels, codec, level, cog):
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
            options["predictor"] = 3 if pixels.dtype.kind == "f" else 2
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
        self.options = gdal_options(pixels, codec, level, cog) | {"num_threads": threads}

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
        self.profile = {"driver": "GTiff", **gdal_options(pixels, codec, level, False), "num_threads": threads}

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


# -- one run, and its file --------------------------------------------------------------------------------------------


def timed(contender, path):
    """Seconds on the clock and of the processor. The file of the run before is gone, and its pages with it."""
    path.unlink(missing_ok=True)
    started, cpu_started = time.perf_counter(), time.process_time()
    contender.write(path)
    return time.perf_counter() - started, time.process_time() - cpu_started


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
