# SPDX-License-Identifier: Apache-2.0
"""What open_geotiff() does with stored values: masking, unpacking, inverting, the cast."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compat import InvalidIntegerNodataError


class Values:
    """From stored values to those of the result. Picklable, for dask's tasks.

    `inverted` is for MinIsWhite: an integer that values are subtracted from, 0 for floating-point values (their sign
    changes), None for others.
    """

    def __init__(
        self, stored: np.dtype[Any], nodata: Any, masked: bool, packing: tuple[float, float] | None, dtype: Any, inverted: int | None
    ):
        self.stored, self.packing, self.inverted = stored, packing, inverted
        self.nodata = nodata
        if nodata is not None and inverted is not None and matches(nodata, stored):
            self.nodata = inverted - nodata if inverted else -nodata
        self.masks = masked and nodata is not None and matches(nodata, stored)
        scales = packing is not None and packing != (1.0, 0.0)
        self.scales = scales
        self.worked = np.dtype(np.float64) if stored.kind in "iu" and (self.masks or scales) else stored
        self.result = self.worked if dtype is None else np.dtype(dtype)
        if dtype is not None and self.worked.kind == "f" and self.result.kind in "iu":
            raise ValueError(
                f"Cannot cast float ({self.worked}) to int ({self.result}). This loses fractional data and is usually "
                "unintentional. Cast explicitly after reading if you really want this."
            )

    def upright(self, pixels: Any) -> Any:
        """Values with 0 as black."""
        if self.inverted is None:
            return pixels
        return -pixels if pixels.dtype.kind == "f" else pixels.dtype.type(self.inverted) - pixels

    def missing(self, pixels: Any) -> Any:
        if self.nodata != self.nodata:
            return pixels != pixels
        with np.errstate(over="ignore"):  # a number beyond the type counts as an infinity
            return pixels == pixels.dtype.type(self.nodata)

    def has_missing(self, pixels: Any) -> bool:
        if not matches(self.nodata, self.stored) and not (self.stored.kind == "f" and self.nodata != self.nodata):
            return False
        return bool(self.missing(pixels).any())

    def apply(self, pixels: Any) -> Any:
        values = pixels
        if self.masks:
            missing = self.missing(pixels)
            values = values.astype(self.worked, copy=False)
            if missing.any():
                if not values.flags.writeable:
                    values = values.copy()
                values[missing] = np.nan
        if self.scales:
            assert self.packing is not None
            scale, offset = self.packing
            values = values.astype(self.worked, copy=False) * self.worked.type(scale) + self.worked.type(offset)
        return values.astype(self.result, copy=False)


def matches(nodata: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a pixel of the type can equal nodata and is not NaN already."""
    if nodata is None:
        return False
    if dtype.kind not in "iu":
        return not math.isnan(nodata)
    if isinstance(nodata, float) and not nodata.is_integer():  # also NaN and infinities
        return False
    limits = np.iinfo(dtype)
    return bool(limits.min <= nodata <= limits.max)


def check_nodata(nodata: Any, dtype: np.dtype[Any], allowed: bool) -> None:
    if nodata is None or dtype.kind not in "iu" or allowed or isinstance(nodata, int) or nodata.is_integer():
        return
    kind = "fractional" if math.isfinite(nodata) else "non-finite"
    raise InvalidIntegerNodataError(
        f"GeoTIFF declares GDAL_NODATA={nodata} ({kind}) on a {dtype} source, and no pixel can have that value. Pass "
        "allow_invalid_nodata=True to keep it without effect, or write the file again with an integer. See "
        "docs/source/reference/release_gate_geotiff.rst."
    )


def inversion(photometric: int, bits: int, samples: int, dtype: np.dtype[Any]) -> int | None:
    """The number that pixels of a MinIsWhite image are subtracted from; 0 for floating-point ones."""
    if photometric != 0 or samples != 1:
        return None
    if dtype.kind == "i":
        raise NotImplementedError(
            f"Signed-integer MinIsWhite TIFFs are not supported (issue #2278): Photometric=0 (MinIsWhite), SampleFormat=2, "
            f"BitsPerSample={bits}, dtype={dtype}. There is no correct inversion of signed values; convert the file to "
            "MinIsBlack (Photometric=1)."
        )
    return 0 if dtype.kind == "f" else int(np.iinfo(dtype).max)
