# SPDX-License-Identifier: Apache-2.0
"""Libraries that are loaded at run time, on a machine that lacks them."""

import numpy as np
import pytest
import tifffile

import harness

WITHOUT_LIBJXL = {"TERRAZZO_DISABLE": "libjxl"}


@pytest.fixture
def jpeg_xl(tmp_path):
    """A file whose directory says JPEG XL; the plan of a read looks at no pixels."""
    path = tmp_path / "jxl.tif"
    tifffile.imwrite(path, np.zeros((16, 16), np.uint8))
    with tifffile.TiffFile(path, mode="r+b") as file:
        file.pages[0].tags["Compression"].overwrite(50002)
    return path


def test_jpeg_xl_without_libjxl_is_refused_by_name(jpeg_xl, tmp_path):
    result = harness.run("read", jpeg_xl, "--out", tmp_path / "a.npy", env=WITHOUT_LIBJXL)
    assert result.code == harness.UNSUPPORTED, str(result)
    assert b"jpeg-xl is decoded by libjxl, which is not found" in result.stderr
    assert harness.run("info", jpeg_xl, env=WITHOUT_LIBJXL).code == harness.OK, "the directory needs no decoder"


def test_the_doctor_tells_what_to_install(jpeg_xl):
    result = harness.run("doctor", env=WITHOUT_LIBJXL)
    assert b"type: apt-get install libjxl-tools" in result.stdout, str(result)
