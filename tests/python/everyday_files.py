# SPDX-License-Identifier: Apache-2.0
"""The files of docs/coming-from-gdal.md."""

import numpy as np
import rasterio
import rasterio.shutil
import tifffile
from affine import Affine
from rasterio.enums import ColorInterp

WIDTH, HEIGHT = 300, 200
PLACE = Affine(10, 0, 500_000, 0, -10, 5_000_000)


def elevations():
    """Heights from 20 to 980 with holes."""
    rng = np.random.default_rng(9)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    heights = (500 + 450 * np.sin(x / 23) * np.cos(y / 17) + 29 * rng.random((HEIGHT, WIDTH))).astype("float32")
    heights[60:75, 100:140] = -9999
    heights[rng.random((HEIGHT, WIDTH)) < 0.01] = -9999
    return heights


def write(path, pixels, **options):
    pixels = pixels if pixels.ndim == 3 else pixels[None]
    with rasterio.open(path, "w", driver="GTiff", count=pixels.shape[0], height=pixels.shape[1], width=pixels.shape[2],
                       dtype=pixels.dtype, **options) as out:
        out.write(pixels)
        if pixels.shape[0] == 3:
            out.colorinterp = [ColorInterp.red, ColorInterp.green, ColorInterp.blue]


def make(folder):
    heights = elevations()
    of_dem = {"crs": "EPSG:32633", "nodata": -9999, "compress": "deflate"}
    write(folder / "dem.tif", heights, transform=PLACE, **of_dem)
    with rasterio.open(folder / "dem.tif") as dem:
        rasterio.shutil.copy(dem, folder / "cog.tif", driver="COG", blocksize=128, compress="deflate", resampling="average")
    (folder / "tiles").mkdir()
    for name, first in (("west", 0), ("east", WIDTH // 2)):
        half = heights[:, first:first + WIDTH // 2]
        write(folder / "tiles" / f"{name}.tif", half, transform=PLACE @ Affine.translation(first, 0), **of_dem)

    packed = np.where(heights == -9999, -32768, heights * 10).astype("int16")
    write(folder / "packed.tif", packed, nodata=-32768, crs="EPSG:32633", transform=PLACE)
    with rasterio.open(folder / "packed.tif", "r+") as file:
        file.scales, file.offsets = [0.1], [5]

    y, x = np.mgrid[0:90, 0:120]
    colours = np.stack([x * 2, y * 2, x + y]).astype("uint8")
    of_rgb = {"crs": "EPSG:3857", "transform": Affine(5, 0, 0, 0, -5, 600), "photometric": "rgb"}
    write(folder / "rgb.tif", colours, **of_rgb)
    write(folder / "masked.tif", colours, **of_rgb)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True), rasterio.open(folder / "masked.tif", "r+") as file:
        file.write_mask((x + y) % 7 != 0)
    write(folder / "pages.tif", colours, **of_rgb)
    tifffile.imwrite(folder / "pages.tif", 255 - colours[0], append=True)
    (folder / "points.txt").write_text("500005 4999995\n501234 4998765\n502995 4998005\n500777 4999111\n")
