# SPDX-License-Identifier: Apache-2.0
"""What a command should make of a file: GDAL reads it, NumPy does what the documentation says.

Pixels of complex integers are complex64 here, as rasterio has them.
"""

import dataclasses
import pathlib

import numpy as np
import rasterio
import rasterio.shutil
from pixels import COMPLEX, INTEGERS
from rasterio.enums import ColorInterp, MaskFlags, Resampling
from rasterio.io import MemoryFile
from rasterio.windows import Window


@dataclasses.dataclass
class Selection:
    """Which pixels a command reads, and as what."""
    window: tuple | None = None  # column, row, width, height
    bands: list | None = None
    level: int = 0
    target_size: tuple | None = None  # width, height
    dtype: str | None = None
    masked: bool = False
    unpack: bool = False

    @property
    def changes_values(self):
        return self.masked or self.unpack


class Facts:
    """A file as GDAL describes it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        with rasterio.open(path) as file:
            self.count, self.width, self.height = file.count, file.width, file.height
            self.dtype = file.dtypes[0]
            self.nodata = list(file.nodatavals)
            self.scales, self.offsets = list(file.scales), list(file.offsets)
            self.colours = list(file.colorinterp)
            self.mask_flags = file.mask_flag_enums
            self.units, self.descriptions = list(file.units), list(file.descriptions)
            self.overviews = file.overviews(1)
            self.crs, self.transform, self.gcps = file.crs, file.transform, file.gcps[0]
            self.tags = file.tags()
            self.interleave = file.profile.get("interleave", "band")
            self.nbits = [int(file.tags(i, ns="IMAGE_STRUCTURE").get("NBITS", 0)) for i in file.indexes]
            self.palette = has_colour_table(file)
        self.alpha = self.colours.index(ColorInterp.alpha) if ColorInterp.alpha in self.colours else None
        self.level_sizes, self.level_dtypes = [], [self.dtype]
        for level in range(len(self.overviews)):
            with rasterio.open(path, overview_level=level) as file:
                self.level_sizes.append((file.width, file.height))
                self.level_dtypes.append(file.dtypes[0])

    @property
    def is_complex(self):
        return self.dtype in COMPLEX

    @property
    def has_mask_image(self):
        return MaskFlags.per_dataset in self.mask_flags[0] and MaskFlags.alpha not in self.mask_flags[0]

    def bands_of(self, selection):
        return selection.bands or list(range(1, self.count + 1))

    def area_of(self, selection):
        """Window, and size of the result."""
        width, height = self.level_sizes[selection.level - 1] if selection.level else (self.width, self.height)
        window = selection.window or (0, 0, width, height)
        return window, selection.target_size or (window[2], window[3])

    def read(self, selection):
        """Stored samples and, of every band, which of them are valid."""
        window, (width, height) = self.area_of(selection)
        bands = self.bands_of(selection)
        options = {"overview_level": selection.level - 1} if selection.level else {}
        with rasterio.open(self.path, **options) as file:
            place = {"indexes": bands, "window": Window(*window), "out_shape": (len(bands), height, width)}
            return file.read(**place), file.read_masks(**place) != 0

    def dataset_valid(self, selection, valid):
        """The union of what is valid in the bands; where there is an alpha band, it alone says so."""
        bands = self.bands_of(selection)
        others = [i for i, band in enumerate(bands) if band - 1 != self.alpha]
        return valid[others or slice(None)].any(axis=0)

    def transform_of(self, selection):
        window, (width, height) = self.area_of(selection)
        x = y = 1.0
        if selection.level:
            x, y = (full / part for full, part in zip((self.width, self.height), self.level_sizes[selection.level - 1]))
        return (self.transform @ rasterio.Affine.translation(window[0] * x, window[1] * y) @
                rasterio.Affine.scale(x * window[2] / width, y * window[3] / height))


def has_colour_table(file):
    """Of gray samples whose 0 is white GDAL makes a palette too."""
    try:
        return bool(file.colormap(1))
    except ValueError:
        return False


def result_dtype(facts, selection):
    if selection.dtype:
        return selection.dtype
    stored = facts.level_dtypes[selection.level]
    return "float64" if selection.changes_values and stored in INTEGERS else stored


def numpy_dtype(name):
    return np.dtype("complex64" if name == "complex_int16" else name)


def cast(array, dtype):
    """As GDAL converts samples: rounded and clamped, the real part of complex ones."""
    if dtype in COMPLEX:
        part = {"complex_int16": "int16", "complex64": "float32", "complex128": "float64"}[dtype]
        result = np.zeros(array.shape, numpy_dtype(dtype))
        result.real = cast(np.ascontiguousarray(array.real), part)
        if array.dtype.kind == "c":
            result.imag = cast(np.ascontiguousarray(array.imag), part)
        return result
    array = np.ascontiguousarray(array.real) if array.dtype.kind == "c" else array
    if array.dtype == dtype:
        return array
    if dtype == "float16" and array.dtype in (np.float64, np.int64, np.uint64):  # GDAL 3.12 may round twice
        with np.errstate(over="ignore"):
            return array.astype(np.float16)
    if array.dtype == np.float16:  # to GDAL 3.12 1237 is the integer 1238: it adds the half that rounds in float16
        return cast(array.astype(np.float32), dtype)
    with MemoryFile() as memory:
        with memory.open(driver="GTiff", width=array.shape[2], height=array.shape[1], count=array.shape[0],
                         dtype=array.dtype, interleave="band") as out:
            out.write(array)
        with memory.open() as file:
            return file.read(out_dtype=dtype)


def values_of(facts, selection):
    """Pixels of the result, which of them are valid, and which of them the documentation fixes: without --masked it
    does not say what missing pixels become where others are rescaled."""
    stored, valid = facts.read(selection)
    dtype = result_dtype(facts, selection)
    pixels = cast(stored, dtype)
    if selection.unpack:
        for index, band in enumerate(facts.bands_of(selection)):
            scale, offset = facts.scales[band - 1], facts.offsets[band - 1]
            if scale != 1 or offset != 0:
                with np.errstate(invalid="ignore", over="ignore"):
                    pixels[index] = cast(rescale(stored[index:index + 1], scale, offset), dtype)[0]
    if not selection.masked:
        return pixels, valid, valid if selection.unpack else np.ones(valid.shape, bool)
    if pixels.dtype.kind not in "fc":
        return pixels, valid, valid
    pixels[~valid] = np.nan
    return pixels, valid, np.ones(valid.shape, bool)


def rescale(stored, scale, offset):
    if stored.dtype.kind != "c":
        return stored.astype(np.float64) * scale + offset
    result = np.empty(stored.shape, np.complex128)  # by parts: an infinite part times a complex 1 would be NaN
    result.real = stored.real.astype(np.float64) * scale + offset
    result.imag = stored.imag.astype(np.float64) * scale
    return result


def holds(dtype, value):
    """Whether a sample of the type can be this nodata value."""
    if value is None:
        return False
    if dtype in COMPLEX:
        dtype = {"complex_int16": "int16", "complex64": "float32", "complex128": "float64"}[dtype]
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return bool(np.isfinite(value)) and float(value).is_integer() and info.min <= int(value) <= info.max
    with np.errstate(over="ignore"):
        return bool(np.isnan(value) or np.isinf(value) or np.isfinite(kind.type(value)))


def plain_copy(path, out, **options):
    """What GDAL copies of a file: pixels, mask, nodata, colours; no overviews."""
    rasterio.shutil.copy(path, out, driver="GTiff", copy_src_overviews=False, **options)


def levels_of(path):
    """(pixels, mask) of each overview."""
    with rasterio.open(path) as file:
        count = len(file.overviews(1))
    levels = []
    for level in range(count):
        with rasterio.open(path, overview_level=level) as file:
            levels.append((file.read(), file.read_masks()))
    return levels


def gdal_levels(path, folder, factors, method, tile=None):
    """Overviews that GDAL makes of the pixels of `path`: by factors, or (`factors` None) those of its COG driver."""
    copy, cog = folder / "gdal_copy.tif", folder / "gdal_cog.tif"
    try:
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
            # Bands together and compressed: elsewhere GDAL makes nearest levels of small rasters from full resolution.
            plain_copy(path, copy, interleave="pixel", compress="deflate")
            if factors is None:
                rasterio.shutil.copy(copy, cog, driver="COG", blocksize=tile, overview_resampling=method.replace("-", ""),
                                     overviews="IGNORE_EXISTING", compress="deflate")
                return levels_of(cog)
            with rasterio.open(copy, "r+") as file:
                file.build_overviews(factors, Resampling[method.replace("-", "_")])
            return levels_of(copy)
    finally:
        for made in (*folder.glob("gdal_copy.tif*"), *folder.glob("gdal_cog.tif*")):
            made.unlink()
