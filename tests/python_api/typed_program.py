# SPDX-License-Identifier: Apache-2.0
"""A program with types, as users write it. `mypy --strict` checks it (tools/dev/test.sh), and test_types.py runs it."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

import terrazzo


def highest(dem: terrazzo.Dataset, box: terrazzo.Bounds) -> float:
    window: terrazzo.Window = dem.window(box)
    heights: npt.NDArray[np.float32] = dem.read(1, window=window, masked=True, dtype="float32")
    return float(np.nanmax(heights))


def describe(dem: terrazzo.Dataset) -> str:
    transform = dem.transform
    step = "none" if transform is None else f"{transform.a:g}"
    code = None if dem.crs is None else dem.crs.to_epsg()
    names = [band.description for band in dem.bands]
    return f"{dem.width} x {dem.height}, pixels of {step}, EPSG {code}, {names}, nodata {dem.nodata}"


def copy_in_rows(source: Path, target: Path) -> int:
    with terrazzo.open(source) as dem, terrazzo.Writer(
        target, dem.width, dem.height, dtype=dem.dtype, like=dem, cog=True
    ) as out:
        for first in range(0, dem.height, 100):
            out.write_rows(dem.read(window=(0, first, dem.width, min(100, dem.height - first))))
    return out.close().tiles


def main(source: Path, target: Path) -> str:
    try:
        terrazzo.open(target)
    except terrazzo.MissingFileError as error:
        assert error.kind == "io", error
    tiles = copy_in_rows(source, target)
    assert terrazzo.validate(target).valid_cog
    statistics: list[float] = [band.mean for band in terrazzo.stats(target)]
    picture: bytes = terrazzo.preview(target, style="hillshade")
    with terrazzo.open(target) as dem:
        return f"{describe(dem)}; highest {highest(dem, dem.bounds):.1f}; {tiles} tiles; {len(statistics)}; {picture[1:4]!r}"
