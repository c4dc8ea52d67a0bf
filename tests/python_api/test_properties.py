# SPDX-License-Identifier: Apache-2.0
"""Any window, band, type and source gives the pixels that numpy selects from the whole raster."""
import tempfile

import numpy as np
import pytest

import terrazzo
from conftest import around, box_of, write_with_gdal

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")
# Otherwise it makes a folder in the source tree.
pytest.importorskip("hypothesis.configuration").set_hypothesis_home_dir(tempfile.mkdtemp())

ROWS, COLUMNS = 70, 90
WHOLE = np.random.default_rng(9).integers(0, 200, (3, ROWS, COLUMNS))
TYPES = ["uint8", "int16", "uint16", "int32", "float32", "float64"]
SOURCES = ["path", "dataset", "bytes", "file", "ranges"]


@pytest.fixture(scope="module")
def small(folder):
    """The same pixels in every type, in tiles or strips, by pixel or by band, compressed or not."""
    layouts = [{}, {"interleave": "band"}, {"compress": "none"}, {"tiled": False, "blockysize": 16}, {"compress": "lzw", "predictor": 2},
               {"tiled": False, "blockysize": 7, "interleave": "band", "compress": "none"}]  # fmt: skip
    return {name: write_with_gdal(folder / f"small_{name}.tif", WHOLE.astype(name), **{"blockxsize": 32, "blockysize": 32, **layout})
            for name, layout in zip(TYPES, layouts)}  # fmt: skip


class Ranges:
    def __init__(self, data):
        self.data, self.size = data, len(data)

    def read_ranges(self, ranges):
        return [self.data[offset : offset + length] for offset, length in ranges]


def source_of(path, kind):
    if kind == "dataset":
        return terrazzo.open(path)
    if kind == "file":
        return open(path, "rb")
    return {"path": path, "bytes": path.read_bytes(), "ranges": Ranges(path.read_bytes())}[kind]


inside = st.tuples(st.integers(0, COLUMNS - 1), st.integers(0, ROWS - 1)).flatmap(
    lambda corner: st.tuples(st.just(corner[0]), st.just(corner[1]), st.integers(1, COLUMNS - corner[0]), st.integers(1, ROWS - corner[1]))
)
bands = st.none() | st.integers(1, 3) | st.lists(st.integers(1, 3), min_size=1, max_size=4)


def chosen(band):
    return WHOLE if band is None else WHOLE[[band - 1]] if isinstance(band, int) else WHOLE[[b - 1 for b in band]]


@hypothesis.settings(max_examples=150, deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(window=inside, band=bands, stored=st.sampled_from(TYPES), asked=st.none() | st.sampled_from(TYPES),
                  kind=st.sampled_from(SOURCES), order=st.sampled_from("CF"))  # fmt: skip
def test_reads_are_slices_of_the_whole(small, window, band, stored, asked, kind, order):
    column, row, width, height = window
    source = source_of(small[stored], kind)
    expected = chosen(band)[:, row : row + height, column : column + width].astype(asked or stored)
    expected = expected[0] if isinstance(band, int) else expected
    got = terrazzo.read(source, band, window=window, dtype=asked)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    out = np.zeros(expected.shape, expected.dtype, order=order)
    assert terrazzo.read(source, band, window=np.s_[row : row + height, column : column + width], out=out) is out
    np.testing.assert_array_equal(out, expected)
    if kind == "file":
        source.close()


corners = st.tuples(st.integers(-60, COLUMNS + 20), st.integers(-60, ROWS + 20))


@hypothesis.settings(max_examples=120, deadline=None, database=None, suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
@hypothesis.given(places=st.lists(st.tuples(corners, st.sampled_from(TYPES), st.booleans()), min_size=1, max_size=6), band=bands,
                  width=st.integers(1, 50), height=st.integers(1, 50), asked=st.none() | st.sampled_from(TYPES))  # fmt: skip
def test_windows_are_slices_of_the_padded_whole(small, places, band, width, height, asked):
    items = [(small[name], box_of((*corner, width, height)) if as_box else (*corner, width, height)) for corner, name, as_box in places]
    got = terrazzo.read_windows(items, bands=band, dtype=asked)
    assert got.dtype == (asked or np.result_type(*(name for _, name, _ in places)))
    for item, (corner, _, _) in zip(got, places):
        np.testing.assert_array_equal(item, around(chosen(band), (*corner, width, height), 0))
