# SPDX-License-Identifier: Apache-2.0
"""Beyond stored pixels: levels, masks, nodata, other types, and codecs that lose something. All as GDAL does it."""

import struct

import harness
import numpy as np
import pytest
import rasterio
import rasters
import tifffile
from pixels import GDAL_KNOWS_FLOAT16, assert_same, for_lerc, read_gdal
from rasterio.windows import Window


@pytest.fixture(scope="module")
def pyramid(tmp_path_factory):
    """A COG with three overviews and a mask, and the same with the mask and the overviews beside it."""
    folder = tmp_path_factory.mktemp("pyramid")
    array = rasters.make("uint16", 2, 300, 410)
    mask = np.full((300, 410), 255, np.uint8)
    mask[100:, :77] = 0
    paths = {}
    for kind in ("inside", "beside"):
        path = folder / f"{kind}.tif"
        with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=kind == "inside", TIFF_USE_OVR=kind == "beside"):
            with rasterio.open(path, "w", driver="GTiff", width=410, height=300, count=2, dtype="uint16", tiled=True,
                               blockxsize=64, blockysize=64, compress="zstd", crs="EPSG:3857",
                               transform=rasterio.transform.from_origin(0, 0, 5, 5)) as out:
                out.write(array)
                out.write_mask(mask)
            with rasterio.open(path, "r+") as out:
                out.build_overviews([2, 4, 8], rasterio.enums.Resampling.average)
        paths[kind] = path
    return paths


@pytest.mark.parametrize("kind", ("inside", "beside"))
def test_overviews_are_gdals(pyramid, kind, tmp_path):
    sizes = [(o["width"], o["height"]) for o in harness.run_json("info", "--json", pyramid[kind])["overviews"]]
    assert sizes == [(205, 150), (103, 75), (52, 38)]
    for level in (1, 2, 3):
        with rasterio.open(pyramid[kind], overview_level=level - 1) as file:
            assert_same(harness.read(pyramid[kind], "--overview", level, folder=tmp_path), file.read())
            part = harness.read(pyramid[kind], "--overview", level, "--window", "5,7,20,11", folder=tmp_path)
            assert_same(part, file.read(window=Window(5, 7, 20, 11)))


@pytest.mark.parametrize("kind", ("inside", "beside"))
def test_masks_are_gdals_at_every_level(pyramid, kind, tmp_path):
    with rasterio.open(pyramid[kind]) as file:
        assert_same(harness.read(pyramid[kind], "--mask", folder=tmp_path), file.read_masks())
    for level in (1, 2, 3):
        with rasterio.open(pyramid[kind], overview_level=level - 1) as file:
            assert_same(harness.read(pyramid[kind], "--mask", "--overview", level, folder=tmp_path), file.read_masks())


def test_masked_pixels_become_nan(pyramid, tmp_path):
    values = harness.read(pyramid["inside"], "--masked", folder=tmp_path)
    assert values.dtype == np.float64
    with rasterio.open(pyramid["inside"]) as file:
        array, mask = file.read(), file.read_masks()
    assert np.array_equal(np.isnan(values), mask == 0)
    assert np.array_equal(values[mask != 0], array[mask != 0].astype(np.float64))


@pytest.fixture(scope="module", params=(1, 3))
def grey(request, tmp_path_factory):
    """A raster of one or three bands beside a .msk file with shades."""
    path = tmp_path_factory.mktemp("grey") / "grey.tif"
    mask = (np.add.outer(np.arange(60), np.arange(90)) % 256).astype(np.uint8)
    mask[10:20, 30:50], mask[30:40, 5:25] = 0, 255
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=False):
        with rasterio.open(path, "w", driver="GTiff", width=90, height=60, count=request.param, dtype="uint8") as out:
            out.write(rasters.make("uint8", request.param, 60, 90))
            out.write_mask(mask)
    assert path.with_suffix(".tif.msk").exists()
    with rasterio.open(path) as file:
        assert np.array_equal(file.read_masks(1), mask)
    return path


def test_shades_of_a_mask_are_gdals(grey, tmp_path):
    with rasterio.open(grey) as file:
        theirs, pixels = file.read_masks(), file.read()
        assert_same(harness.read(grey, "--mask", folder=tmp_path), theirs)
        assert_same(harness.read(grey, "--mask", "--window", "7,9,50,40", folder=tmp_path),
                    file.read_masks(window=Window(7, 9, 50, 40)))
    values = harness.read(grey, "--masked", folder=tmp_path)
    assert np.array_equal(np.isnan(values), theirs == 0)
    assert np.array_equal(values[theirs != 0], pixels[theirs != 0].astype(float))


@pytest.mark.parametrize("words", (["convert"], ["cog", "--tile-size", "32"], ["convert", "--compression", "jpeg", "--sparse"]),
                         ids="-".join)
def test_shades_of_a_mask_stay_in_conversions(grey, words, tmp_path):
    out = tmp_path / "out.tif"
    harness.run_ok(words[0], grey, "-o", out, *words[1:])
    with rasterio.open(grey) as source, rasterio.open(out) as written:
        assert_same(written.read_masks(), source.read_masks())
    assert not out.with_suffix(".tif.msk").exists()
    harness.run_ok("edit", out, "--set", "A=B", "--rewrite")
    with rasterio.open(grey) as source, rasterio.open(out) as written:
        assert_same(written.read_masks(), source.read_masks())


def test_a_mask_without_shades_has_one_bit(pyramid, tmp_path):
    out = tmp_path / "out.tif"
    harness.run_ok("convert", pyramid["beside"], "-o", out)
    with tifffile.TiffFile(out) as written:
        assert [page.bitspersample for page in written.pages] == [16, 1]


@pytest.mark.parametrize("size", ((205, 150), (100, 80), (410, 75), (37, 291), (52, 38), (9, 9), (600, 500)))
def test_target_size_is_gdals_nearest(pyramid, size, tmp_path):
    width, height = size
    with rasterio.open(pyramid["inside"]) as file:
        theirs = file.read(out_shape=(2, height, width), resampling=rasterio.enums.Resampling.nearest)
    assert_same(harness.read(pyramid["inside"], "--target-size", f"{width},{height}", folder=tmp_path), theirs)


def test_target_size_of_a_window_is_gdals_nearest(pyramid, tmp_path):
    with rasterio.open(pyramid["inside"]) as file:
        theirs = file.read(window=Window(33, 21, 202, 150), out_shape=(2, 60, 70))
    ours = harness.read(pyramid["inside"], "--window", "33,21,202,150", "--target-size", "70,60", folder=tmp_path)
    assert_same(ours, theirs)


@pytest.mark.parametrize("dtype, nodata", (("float32", -9999.0), ("float64", float("nan")), ("int16", -32768),
                                           ("uint8", 0), ("float32", -3.4028234663852886e38), ("uint16", 65535)))
def test_nodata_becomes_nan_and_mask(dtype, nodata, tmp_path):
    array = rasters.make(dtype, 2, 40, 50)
    array[0, 3:20, 4:30] = nodata
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=50, height=40, count=2, dtype=dtype, nodata=nodata,
                       compress="deflate") as out:
        out.write(array)
    with rasterio.open(path) as file:
        mask = file.read_masks()
    assert_same(harness.read(path, "--mask", folder=tmp_path), mask)
    values = harness.read(path, "--masked", folder=tmp_path)
    assert values.dtype == (np.dtype(dtype) if dtype.startswith("float") else np.float64)
    assert np.array_equal(np.isnan(values), (mask == 0) | np.isnan(array))
    valid = (mask != 0) & ~np.isnan(array)
    assert np.array_equal(values[valid], array[valid].astype(values.dtype))
    info = harness.run_json("info", "--json", path)
    assert all(np.isclose(float(b["nodata"]), nodata, rtol=0, atol=0, equal_nan=True) for b in info["bands"])


@pytest.mark.parametrize("dtype, nodata", (("int64", -9223372036854775807), ("uint64", 18446744073709551615)))
def test_nodata_of_64_bits_is_exact(dtype, nodata, tmp_path):
    array = np.array([[[nodata, nodata - 1 if nodata > 0 else nodata + 1, 5]]], dtype)
    path = tmp_path / "a.tif"
    text = str(nodata).encode() + b"\0"  # rasterio hands nodata over as a double, which cannot hold it
    tifffile.imwrite(path, array[0], photometric="minisblack", extratags=[(42113, 2, len(text), text, True)])
    assert harness.run_json("info", "--json", path)["bands"][0]["nodata"] == nodata
    assert harness.read(path, "--mask", folder=tmp_path).tolist() == [[[0, 255, 255]]]


# What GDAL writes beside a file, as text or with the bits of a double beside it; the tag's value is rounded to float32,
# this one is not.
@pytest.mark.filterwarnings("ignore:overflow encountered in cast")  # rasterio's, of 1e39
@pytest.mark.parametrize("bits", (False, True))
@pytest.mark.parametrize("dtype, nodata", (("float32", 0.1), ("float32", -3.402823466e38), ("float32", -3.4028e38),
                                           ("float32", 3.4028235e38), ("float32", -1e39), ("float64", 1e300),
                                           ("float64", 3.4028235e38), ("uint8", 300), ("int64", 7)))
def test_nodata_of_a_pam_file_is_gdals(dtype, nodata, bits, tmp_path):
    path = tmp_path / "a.tif"
    largest = np.finfo("float32").max
    held = [1, 7] if dtype in ("uint8", "int64") else [1, 0.1, largest, -largest, np.inf]
    with rasterio.open(path, "w", driver="GTiff", width=len(held), height=1, count=1, dtype=dtype) as out:
        out.write(np.array([[held]], dtype))
    hexed = f' le_hex_equiv="{struct.pack("<d", nodata).hex()}"' if bits else ""
    (tmp_path / "a.tif.aux.xml").write_text(f'<PAMDataset><PAMRasterBand band="1"><NoDataValue{hexed}>{nodata!r}'
                                            "</NoDataValue></PAMRasterBand></PAMDataset>")
    band = harness.run_json("info", "--json", path)["bands"][0]
    assert band["nodata"] == nodata
    with rasterio.open(path) as file:
        assert band["mask"] == file.mask_flag_enums[0][0].name
        assert_same(harness.read(path, "--mask", folder=tmp_path), file.read_masks())


def test_unpack_applies_scale_and_offset(tmp_path):
    array = rasters.make("int16", 2, 20, 30)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=30, height=20, count=2, dtype="int16", nodata=-32768) as out:
        out.write(array)
        out.scales, out.offsets = (0.01, 2.0), (-7.5, 100.0)
    values = harness.read(path, "--unpack", folder=tmp_path)
    assert values.dtype == np.float64
    wanted = array * np.array([0.01, 2.0])[:, None, None] + np.array([-7.5, 100.0])[:, None, None]
    wanted[array == -32768] = np.nan  # which -16434 of the second band becomes
    assert np.array_equal(values, wanted, equal_nan=True)
    masked = harness.read(path, "--unpack", "--masked", folder=tmp_path)
    assert np.array_equal(np.isnan(masked), array == -32768)


@pytest.mark.parametrize("source", ("uint8", "int16", "uint32", "int64", "float32", "float64"))
@pytest.mark.parametrize("target", ("uint8", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"))
def test_casts_round_and_clamp_as_gdal(source, target, tmp_path):
    if target == "float16" and not GDAL_KNOWS_FLOAT16:
        pytest.skip("this GDAL does not know float16")
    array = rasters.make(source, 1, 20, 30)
    if source.startswith("float"):
        array[0, 5, :12] = [0.5, 1.5, 2.5, -0.5, -1.5, 254.5, 255.49, 300.7, -0.49, 1e10, -1e10, np.nan]
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=30, height=20, count=1, dtype=source) as out:
        out.write(array)
    with rasterio.open(path) as file:
        theirs = file.read(out_dtype=target)
    assert_same(harness.read(path, "--dtype", target, folder=tmp_path), theirs)


def test_alpha_is_the_mask_of_the_other_bands(tmp_path):
    array = rasters.make("uint8", 4, 40, 50)
    array[3] = np.where(np.arange(50) % 3 == 0, 0, 255)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=50, height=40, count=4, dtype="uint8", photometric="rgb",
                       alpha="yes") as out:
        out.write(array)
    with rasterio.open(path) as file:
        theirs = file.read_masks()
    assert_same(harness.read(path, "--mask", folder=tmp_path), theirs)


@pytest.mark.parametrize("photometric, bands, quality", (("ycbcr", 3, 75), ("ycbcr", 3, 95), ("rgb", 3, 85),
                                                          ("minisblack", 1, 85), ("cmyk", 4, 85)))
def test_jpeg_is_decoded_as_gdal_does(photometric, bands, quality, tmp_path):
    array = rasters.make("uint8", bands, 133, 201)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=201, height=133, count=bands, dtype="uint8", tiled=True,
                       blockxsize=64, blockysize=64, compress="jpeg", photometric=photometric, jpeg_quality=quality,
                       interleave="pixel") as out:
        out.write(array)
    assert_same(harness.read(path, folder=tmp_path), read_gdal(path))


@pytest.mark.parametrize("subsampling", ((1, 1), (2, 1), (2, 2)))
@pytest.mark.parametrize("layout", ({"tile": (64, 64)}, {"rowsperstrip": 16}))
def test_subsampled_jpeg_is_decoded_as_gdal_does(subsampling, layout, tmp_path):
    array = np.moveaxis(rasters.make("uint8", 3, 133, 201), 0, -1)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, array, compression="jpeg", photometric="rgb", subsampling=subsampling,
                     compressionargs={"level": 90}, **layout)
    assert_same(harness.read(path, folder=tmp_path), read_gdal(path))


@pytest.mark.parametrize("bands", (3, 4))
def test_lossy_webp_is_decoded_as_gdal_does(bands, tmp_path):
    array = rasters.make("uint8", bands, 133, 201)
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=201, height=133, count=bands, dtype="uint8", tiled=True,
                       blockxsize=64, blockysize=64, compress="webp", webp_level=75, interleave="pixel") as out:
        out.write(array)
    assert_same(harness.read(path, folder=tmp_path), read_gdal(path))


@pytest.mark.parametrize("compress", ("lerc", "lerc_deflate", "lerc_zstd"))
def test_lossy_lerc_is_decoded_as_gdal_does(compress, tmp_path):
    array = for_lerc(rasters.make("float32", 1, 90, 100))
    array[0, 10:20, 10:40] = np.nan
    path = tmp_path / "a.tif"
    with rasterio.open(path, "w", driver="GTiff", width=100, height=90, count=1, dtype="float32", tiled=True,
                       blockxsize=32, blockysize=32, compress=compress, max_z_error=0.5, nodata=float("nan")) as out:
        out.write(array)
    assert_same(harness.read(path, folder=tmp_path), read_gdal(path))


@pytest.mark.parametrize("points", (1, 2, 8))
def test_threads_do_not_change_the_pixels(points, pyramid, tmp_path):
    one = harness.read(pyramid["inside"], "--threads", 1, folder=tmp_path)
    assert_same(harness.read(pyramid["inside"], "--threads", points, folder=tmp_path), one)
