# SPDX-License-Identifier: Apache-2.0
import pickle

import numpy as np
import pytest

import terrazzo


def test_every_kind_is_also_a_built_in_exception():
    built_in = {"IoError": OSError, "MalformedError": ValueError, "UnsupportedError": NotImplementedError,
                "UsageError": ValueError, "LimitError": MemoryError, "DeviceError": RuntimeError,
                "CancelledError": RuntimeError, "MissingFileError": FileNotFoundError}
    for name, base in built_in.items():
        assert issubclass(getattr(terrazzo, name), (base,)) and issubclass(getattr(terrazzo, name), terrazzo.Error)


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    for call in (terrazzo.open, terrazzo.validate, terrazzo.edit, terrazzo.overviews):
        with pytest.raises(FileNotFoundError) as caught:
            call(tmp_path / "no.tif")
        assert isinstance(caught.value, terrazzo.IoError) and caught.value.file == str(tmp_path / "no.tif")


def test_a_damaged_tile_names_its_place(tmp_path, dem):
    with open(dem, "rb") as file:
        data = bytearray(file.read())
    data[-400:-10] = bytes(390)
    path = tmp_path / "bad.tif"
    path.write_bytes(data)
    with pytest.raises(terrazzo.MalformedError) as caught:
        terrazzo.read(path)
    error = caught.value
    assert error.kind == "malformed" and error.file == str(path) and error.ifd == 0
    assert len(error.tile) == 3 and error.tile[0] + error.tile[1] > 0 and error.offset > 0
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.tile) == (type(error), str(error), error.tile)
    report = terrazzo.ReadReport()
    terrazzo.read(path, bad_tile="fill", report=report)
    assert report.bad_tiles[0].tile == error.tile and report.bad_tiles[0].kind == "malformed"


def test_requests_outside_the_raster_are_usage_errors(dem):
    ds = terrazzo.open(dem)
    for keywords in ({"window": (0, 0, 401, 300)}, {"bands": 2}, {"bands": 0}, {"bands": []}, {"overview": 1},
                     {"overview": -1}, {"window": (0, 0, 10)}, {"window": (0, 0, 1.5, 2)}, {"bbox": (0, 0, 1, 1)},
                     {"bbox": (1, 2, 3)}, {"window": (0, 0, 1, 1), "bbox": ds.bounds}, {"resampling": "best"},
                     {"dtype": "str"}, {"window": np.s_[::2, :]}, {"size": (0, 10)}):
        with pytest.raises(terrazzo.UsageError):
            ds.read(**keywords)
    with pytest.raises(TypeError, match="tresholds"):
        ds.read(tresholds=1)


def test_a_memory_limit_is_a_memory_error(large):
    with pytest.raises(MemoryError) as caught:
        terrazzo.read(large, memory_limit_bytes=1 << 20)
    assert caught.value.kind == "limit"


def test_codecs_that_are_not_hardened_are_refused_in_memory():
    from conftest import DATA

    with pytest.raises(NotImplementedError) as caught:
        terrazzo.read((DATA / "ccitt_g4.tif").read_bytes())
    assert caught.value.kind == "unsupported"


def test_exceptions_of_progress_functions_reach_the_caller(large):
    class Stop(Exception):
        pass

    def progress(done, total):
        raise Stop(f"{done} of {total}")

    with pytest.raises(Stop):
        terrazzo.read(large, progress=progress)
    with pytest.raises(terrazzo.CancelledError):
        terrazzo.read(large, progress=lambda done, total: False)
    assert terrazzo.read(large, progress=lambda done, total: None).shape == (1, 2048, 2048)
