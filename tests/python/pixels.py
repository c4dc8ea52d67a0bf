# SPDX-License-Identifier: Apache-2.0
"""Sample types, what GDAL reads, and pixels compared to the last bit: what tests of generated files share."""

import numpy as np
import rasterio
import rasters

FLOATS = ("float16", "float32", "float64")
GDAL_KNOWS_FLOAT16 = tuple(int(part) for part in rasterio.__gdal_version__.split(".")[:2]) >= (3, 11)
COMPLEX = ("complex_int16", "complex64", "complex128")
INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
LERC_TYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
# rows x columns
SIZES = {"1x1": (1, 1), "row": (1, 100), "column": (83, 1), "odd": (37, 53), "even": (64, 128), "large": (130, 257)}


def name_of(case):
    return "-".join(str(value) for value in case.values())


def for_lerc(array):
    """LERC keeps ordinary floats only: no infinities, no -0.0, no range beyond its own scale."""
    return array if array.dtype.kind != "f" else np.clip(np.nan_to_num(array), 1, 5000).astype(array.dtype)


def read_gdal(path, **options):
    """What GDAL reads, complex integers as pairs."""
    with rasterio.open(path) as file:
        array = file.read(**options)
        return rasters.as_pairs(array, np.int16) if file.dtypes[0] == "complex_int16" else array


def assert_same(ours, theirs):
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    # Bytes, not values: NaN equals itself, and -0.0 is not 0.0.
    if ours.tobytes() != np.ascontiguousarray(theirs).tobytes():
        different = np.argwhere(ours.view(np.uint8) != np.ascontiguousarray(theirs).view(np.uint8))
        where = tuple(different[0])
        raise AssertionError(f"{len(different)} bytes differ, first at {where}")
