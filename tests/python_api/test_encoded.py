# SPDX-License-Identifier: Apache-2.0
"""Tiles that other processes compress for one writer."""
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import terrain

import terrazzo
from terrazzo import _encoded


def in_parts(target, pixels, side, **options):
    """Writes the raster from tiles that are compressed in parts, the last part first."""
    bands, height, width = pixels.shape
    parts = [
        terrazzo.encode_tiles(pixels[:, y : y + side, x : x + side], (x // 64, y // 64), (width, height), **options)
        for y in range(0, height, side)
        for x in range(0, width, side)
    ]
    with terrazzo.Writer(target, width, height, dtype=pixels.dtype, bands=bands, **options) as out:
        for part in reversed(pickle.loads(pickle.dumps(parts))):
            for tile, data in part:
                out.write_encoded(tile, data)


@pytest.mark.parametrize("options", [{"cog": True}, {"cog": True, "statistics": True, "interleave": "band", "nodata": 500},
                                     {"overviews": [2, 3], "overview_resampling": "cubic"}, {"statistics": True}])  # fmt: skip
def test_cogs_overviews_and_statistics_are_those_of_rows(tmp_path, options):
    options = {"tile_size": 64, "compression": "deflate", **options}
    pixels = np.stack([terrain(333, 250), terrain(333, 250) * 2]).astype(np.int16)
    in_parts(tmp_path / "parts.tif", pixels, 128, **options)
    terrazzo.write(tmp_path / "rows.tif", pixels, **options)
    assert (tmp_path / "parts.tif").read_bytes() == (tmp_path / "rows.tif").read_bytes()
    assert terrazzo.validate(tmp_path / "parts.tif", decode=True).valid_tiff


def test_damaged_tiles_leave_no_file(tmp_path):
    pixels = terrain(100, 100)
    tiles = terrazzo.encode_tiles(pixels, (0, 0), (100, 100), tile_size=64)
    with pytest.raises(terrazzo.MalformedError) as failure:
        with terrazzo.Writer(tmp_path / "a.tif", 100, 100, dtype=pixels.dtype, tile_size=64, cog=True) as out:
            for tile, data in tiles:
                out.write_encoded(tile, data[:-9] if tile == (1, 1, 0) else data)
    assert failure.value.tile == (1, 1, 0) and not list(tmp_path.iterdir())


def test_masked_arrays_need_nodata():
    masked = np.ma.masked_less(terrain(64, 64), 480)
    filled = terrazzo.encode_tiles(masked, (0, 0), (64, 64), tile_size=64, nodata=-9)
    assert filled == terrazzo.encode_tiles(masked.filled(-9), (0, 0), (64, 64), tile_size=64, nodata=-9)
    with pytest.raises(terrazzo.UsageError, match="nodata"):
        terrazzo.encode_tiles(masked, (0, 0), (64, 64), tile_size=64)


def test_threads_take_turns(tmp_path):
    pixels = terrain(1000, 1000)
    tiles = terrazzo.encode_tiles(pixels, (0, 0), (1000, 1000), tile_size=64)
    with terrazzo.Writer(tmp_path / "a.tif", 1000, 1000, dtype=pixels.dtype, tile_size=64, cog=True) as out:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda tile: out.write_encoded(*tile), tiles))
    np.testing.assert_array_equal(terrazzo.read(tmp_path / "a.tif", 1), pixels)


def test_settings_of_a_writer_travel(tmp_path):
    """The tiles of TileSettings equal those of the options."""
    pixels = np.stack([terrain(100, 130)] * 4).astype(np.uint8)
    rgba = {"colors": ["red", "green", "blue", "alpha"]}
    for options in ({"compression": "lerc", "lerc_max_error": 2}, {"compression": "deflate", "level": 3, "predictor": "none"},
                    {"compression": "jpeg2000", "lossless": False, "jpeg2000_rate": 9}, {"nodata": 7, "sparse": True},
                    {"strip_rows": 32, "checksum": True}, {"interleave": "band"}, {"photometric": "cmyk", "predictor": "none"}, {**rgba, "compression": "webp", "quality": 30,
                    "lossless": False}):  # fmt: skip
        if "strip_rows" not in options:
            options["tile_size"] = (64, 32)
        writer = terrazzo.Writer(tmp_path / "a.tif", 130, 100, dtype="uint8", bands=4, crs=32632, **options)
        settings = pickle.loads(pickle.dumps(_encoded.TileSettings(writer._options)))
        writer.abort()
        expected = terrazzo.encode_tiles(pixels, (0, 0), (130, 100), **options)
        assert sorted(settings.encode(pixels, (0, 0), (130, 100))) == sorted(expected), options
        assert settings.block_size == ((None, 32) if "strip_rows" in options else (64, 32))
    palette = terrazzo.Writer(tmp_path / "a.tif", 9, 9, dtype="uint8", color_table=[(1, 2, 3), (4, 5, 6)])
    restored = pickle.loads(pickle.dumps(_encoded.TileSettings(palette._options))).options()
    assert restored.band_info[0].color == "palette" and len(restored.band_info[0].color_table) == 2
    palette.abort()


def test_masks_are_refused(tmp_path):
    with pytest.raises(terrazzo.UsageError, match="mask"):
        with terrazzo.Writer(tmp_path / "a.tif", 64, 64, dtype="uint8", mask=True) as out:
            out.write_encoded((0, 0, 0), b"")
