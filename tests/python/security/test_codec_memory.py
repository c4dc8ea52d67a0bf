# SPDX-License-Identifier: Apache-2.0
"""The memory limit counts what codec libraries take for themselves: coefficients of progressive JPEG, planes of JPEG XL."""

import harness
import imagecodecs
import numpy as np
import pytest
import rasterio
import small_tiff

SIDE = 2048


def picture():
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    return ((rows // 3 + columns // 5) % 256).astype(np.uint8)


def jpeg(folder, progressive):
    path = folder / "x.jpg"
    with rasterio.open(path, "w", driver="JPEG", width=SIDE, height=SIDE, count=1, dtype="uint8",
                       PROGRESSIVE="YES" if progressive else "NO") as file:
        file.write(picture(), 1)
    return path.read_bytes()


def write(folder, compression, stream):
    path = folder / "x.tif"
    path.write_bytes(small_tiff.tiled(SIDE, SIDE, SIDE, [stream], compression=compression))
    return path


def read_with(path, limit, *options):
    return harness.run("checksum", "--json", "--threads", "1", path, *options, env={"TERRAZZO_MEMORY_LIMIT": limit})


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_coefficients_of_a_progressive_jpeg_count(tmp_path):
    """4 MiB of pixels as result and as block; 8 MiB of coefficients that a stream of one scan has not."""
    plain = write(tmp_path, 7, jpeg(tmp_path, False))
    assert read_with(plain, "12M").code == harness.OK
    path = write(tmp_path, 7, jpeg(tmp_path, True))
    for options in ([], ["--fill-bad"]):
        result = read_with(path, "12M", *options)
        assert result.code == harness.LIMIT, str(result)
        assert "progressive" in result.error()["message"] or "several scans" in result.error()["message"], str(result)
        assert read_with(path, "40M", *options).code == harness.OK
    with rasterio.open(path) as file:
        np.testing.assert_array_equal(harness.read(path, folder=tmp_path), file.read())


@pytest.mark.parametrize("lossless", [True, False])
def test_working_memory_of_jpeg_xl_counts(lossless, tmp_path):
    """libjxl takes 13 to 16 bytes a pixel of one channel; here 64 MiB beside 4 of pixels."""
    kind = {"lossless": True} if lossless else {"distance": 1.0}
    path = write(tmp_path, 50002, imagecodecs.jpegxl_encode(picture(), effort=3, **kind))
    if harness.run("plan", "--json", path).code == harness.UNSUPPORTED:
        pytest.skip("this build lacks libjxl")
    for options in ([], ["--fill-bad"]):
        result = read_with(path, "48M", *options)
        assert result.code == harness.LIMIT, str(result)
    result = read_with(path, "160M")
    assert result.code == harness.OK, str(result)
    assert result.peak_rss_bytes < 200 << 20
