# SPDX-License-Identifier: Apache-2.0
"""Progress, messages, Ctrl-C, and the folders of NVIDIA's libraries."""
import logging
import subprocess
import sys
import types

import numpy as np
import pytest

import terrazzo
from terrazzo import _settings


class Meter:
    """The part of tqdm's interface that is used."""

    def __init__(self):
        self.total, self.steps = None, []

    def update(self, n):
        self.steps.append(n)


def test_an_object_like_tqdms_counts_all_tiles(large, tmp_path):
    for work, tiles in (
        (lambda meter: terrazzo.read(large, progress=meter), 64),
        (lambda meter: terrazzo.convert(large, tmp_path / "a.tif", tile_size=512, progress=meter), 16),
        (lambda meter: terrazzo.stats(large, progress=meter), 64),
        (lambda meter: terrazzo.validate(large, progress=meter), 64 + 16 + 4),
    ):
        meter = Meter()
        work(meter)
        assert meter.total == sum(meter.steps) == tiles and min(meter.steps) >= 0


def test_tqdm_counts_all_tiles(large):
    tqdm = pytest.importorskip("tqdm")
    with tqdm.tqdm(disable=True) as bar:
        terrazzo.read(large, progress=bar)
        assert bar.total == 64


def without(*names):
    """Stands for an installation without these packages."""

    class Missing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in names:
                raise ImportError(name)

    return Missing()


@pytest.mark.parametrize("missing, package", [((), "rich"), (("rich",), "tqdm"), (("rich", "tqdm"), None)])
def test_true_shows_a_bar_of_what_is_installed(large, capsys, monkeypatch, missing, package):
    if package:
        pytest.importorskip(package)
    for name in [name for name in sys.modules if name.partition(".")[0] in missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [without(*missing), *sys.meta_path])
    terrazzo.read(large, progress=True)
    shown = capsys.readouterr()
    assert shown.out == "" and "100" in shown.err and shown.err.endswith("\n")
    assert (package == "tqdm") == ("64/64" in shown.err)
    assert (package is None) == ("100 % of 64 tiles" in shown.err)
    terrazzo.read(large, progress=False)
    assert capsys.readouterr().err == ""


def test_a_bar_ends_when_the_work_fails(large, capsys, monkeypatch):
    from terrazzo._progress import progress_function

    monkeypatch.setattr(sys, "meta_path", [without("rich", "tqdm"), *sys.meta_path])
    for name in [name for name in sys.modules if name.partition(".")[0] in ("rich", "tqdm")]:
        monkeypatch.delitem(sys.modules, name)
    bar = progress_function(True)
    bar(1, 4)
    del bar
    assert capsys.readouterr().err == "\r 25 % of 4 tiles\n"


def test_a_stopped_write_with_a_mask_leaves_no_file_while_its_exception_lives(tmp_path):
    pixels = np.zeros((2000, 2000), np.uint16)
    with pytest.raises(terrazzo.CancelledError) as caught:
        terrazzo.write(tmp_path / "a.tif", pixels, mask=pixels == 0, tile_size=64, progress=lambda *_: False)
    assert list(tmp_path.iterdir()) == [] and caught.value.__traceback__ is not None


def test_other_values_of_progress_are_refused(large):
    with pytest.raises(terrazzo.UsageError, match="progress is str"):
        terrazzo.read(large, progress="yes")


def test_notes_about_pixels_are_warnings(tmp_path, packed, caplog):
    with caplog.at_level(logging.INFO, logger="terrazzo"):
        terrazzo.convert(packed, tmp_path / "a.tif", dtype="uint8")
    records = [record for record in caplog.records if "nodata" in record.getMessage()]
    assert records and {(record.name, record.levelname) for record in records} == {("terrazzo", "WARNING")}


def test_notes_about_the_way_of_the_work_are_information(caplog):
    with caplog.at_level(logging.INFO, logger="terrazzo"):
        _settings._log("device engine: 3 tiles %s are decoded on the host")
    assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
        ("INFO", "device engine: 3 tiles %s are decoded on the host")
    ]


INTERRUPTED = """
import io, os, signal, sys, threading, time
import numpy as np, terrazzo
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs with the signal ignored
target, kind = sys.argv[1:3]
noise = np.random.default_rng(0).random((2048, 2048))
options = dict(tile_size=128, compression="lzma", level=9, threads=1)
sent = []
def interrupt():
    sent.append(time.time())
    os.kill(os.getpid(), signal.SIGINT)
source = io.BytesIO()
if kind == "convert":
    terrazzo.write(source, noise, compression="none", tile_size=128)
threading.Timer(0.5, interrupt).start()
try:
    if kind == "write":
        terrazzo.write(target, noise, **options)
    elif kind == "writer":
        with terrazzo.Writer(target, 2048, 2048, dtype="float64", **options) as out:
            for first in range(0, 2048, 64):
                out.write_rows(noise[first : first + 64])
    else:
        terrazzo.convert(source.getvalue(), target, cog=True, **options)
    print("finished")
except KeyboardInterrupt:
    print("interrupted after", time.time() - sent[0])
"""


@pytest.mark.parametrize("kind", ["write", "writer", "convert"])
def test_ctrl_c_stops_a_write_within_a_tile_and_leaves_no_file(tmp_path, kind):
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "a.tif"), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr
    assert float(done.stdout.split()[-1]) < 5  # the whole write takes longer
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def nvidia(monkeypatch, tmp_path):
    """No NVIDIA packages but those of the test; a driver is there."""
    monkeypatch.setattr(_settings.site, "getsitepackages", lambda: [])
    monkeypatch.setattr(_settings.site, "getusersitepackages", lambda: str(tmp_path / "user"))
    monkeypatch.setattr(_settings.sys, "path", [str(tmp_path / "editable")])
    monkeypatch.setattr(_settings, "_DRIVER", str(tmp_path))
    monkeypatch.setattr(_settings, "_namespace_folders", lambda: [])
    return tmp_path


def test_libraries_are_found_by_cuda_pathfinder(nvidia, monkeypatch):
    asked = []

    def load(name):
        asked.append(name)
        return types.SimpleNamespace(abs_path=str(nvidia / "cuda" / "lib64" / f"lib{name}.so.13"))

    pathfinder = types.SimpleNamespace(load_nvidia_dynamic_lib=load)
    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", pathfinder)
    assert _settings._vendor_folders() == [str(nvidia / "cuda" / "lib64")] and asked == ["nvjpeg"]
    monkeypatch.setattr(_settings, "_DRIVER", str(nvidia / "absent"))
    assert _settings._vendor_folders() == []  # without a driver nothing is loaded
    assert asked == ["nvjpeg"]


def test_a_pathfinder_that_fails_does_not_break_the_import(nvidia, monkeypatch):
    def load(name):
        raise RuntimeError("not found")

    monkeypatch.setitem(sys.modules, "cuda", types.ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", types.SimpleNamespace(load_nvidia_dynamic_lib=load))
    assert _settings._vendor_folders() == []


def test_libraries_are_found_in_user_and_editable_packages(nvidia):
    folders = [nvidia / "user/nvidia/nvcomp/lib64", nvidia / "editable/nvidia/cu13/lib"]
    for folder in folders:
        folder.mkdir(parents=True)
    (folders[1] / "libnvjpeg.so.13").touch()  # so pathfinder is not asked
    assert _settings._vendor_folders() == [str(folder) for folder in folders]


def test_namespace_packages_of_editable_installs_are_found(monkeypatch, tmp_path):
    (tmp_path / "nvidia" / "nvcomp" / "lib64").mkdir(parents=True)
    spec = types.SimpleNamespace(submodule_search_locations=[str(tmp_path / "nvidia")])
    monkeypatch.setattr(_settings.importlib.util, "find_spec", lambda name: spec if name == "nvidia" else None)
    assert str(tmp_path / "nvidia" / "nvcomp" / "lib64") in _settings._vendor_folders()
