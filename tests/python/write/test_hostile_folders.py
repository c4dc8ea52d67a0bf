# SPDX-License-Identifier: Apache-2.0
"""What other users of a machine, and limits of the process, can do to a command that writes a file.

Needs root: other users are played by giving files away (chown), or by a child that becomes nobody.
"""

import os
import pathlib
import resource
import signal
import stat
import subprocess
import time

import harness
import numpy as np
import pytest
import rasterio
import rasters
from test_write_faults import write_source

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

# Every command that writes a file of its own: (command, name of the result).
WRITERS = (("read", "out.npy"), ("preview", "out.png"), ("convert", "out.tif"), ("cog", "out.tif"))


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("hostile") / "source.tif"
    rng = np.random.default_rng(5)
    write_source(path, rng.integers(0, 255, (1, 1000, 1200), dtype=np.uint8))
    return path


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Long enough to read that a signal comes in between."""
    path = tmp_path_factory.mktemp("large") / "source.tif"
    write_source(path, np.broadcast_to(np.arange(5000, dtype=np.uint16), (1, 5000, 5000)), compress="deflate", zlevel=1)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@as_root
@pytest.mark.parametrize("command, name", WRITERS)
def test_privileges_of_the_old_file_do_not_survive(source, command, name, tmp_path):
    out = tmp_path / name
    for owner, old, new in ((NOBODY, 0o4777, 0o644), (NOBODY, 0o6755, 0o644), (0, 0o6755, 0o755), (0, 0o600, 0o600)):
        out.unlink(missing_ok=True)
        out.write_bytes(b"old")
        os.chown(out, owner, owner)
        out.chmod(old)
        subprocess.run([harness.BINARY, command, source, "-o", out, "--quiet"], check=True,
                       preexec_fn=lambda: os.umask(0o022))
        assert out.stat().st_uid == 0
        assert oct(mode_of(out)) == oct(new), f"was {old:o} of user {owner}"


@as_root
@pytest.mark.parametrize("command, name", WRITERS)
def test_links_of_strangers_in_sticky_folders_are_refused(source, command, name, tmp_path):
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    tmp.chmod(0o1777)
    precious = tmp_path / ("precious" + pathlib.Path(name).suffix)
    precious.write_bytes(b"precious")
    (tmp / name).symlink_to(precious)
    os.lchown(tmp / name, NOBODY, NOBODY)
    result = harness.run(command, source, "-o", tmp / name, "--json")
    assert result.code == harness.IO, str(result)
    assert "another user" in result.error()["message"]
    assert precious.read_bytes() == b"precious"
    assert names(tmp) == [name] and names(tmp_path) == [precious.name, "tmp"]
    # One's own link is followed, as ever.
    os.lchown(tmp / name, 0, 0)
    harness.run_ok(command, source, "-o", tmp / name, "--quiet")
    assert precious.stat().st_size > 1000 and (tmp / name).is_symlink()


@as_root
@pytest.mark.parametrize("command, name", WRITERS)
def test_links_of_strangers_to_folders_are_refused(source, command, name, tmp_path):
    tmp, private = tmp_path / "tmp", tmp_path / "private"
    tmp.mkdir()
    tmp.chmod(0o1777)
    private.mkdir()
    (private / name).write_bytes(b"precious")
    (tmp / "d").symlink_to(private)
    os.lchown(tmp / "d", NOBODY, NOBODY)
    result = harness.run(command, source, "-o", tmp / "d" / name, "--json")
    assert result.code == harness.IO, str(result)
    assert "another user" in result.error()["message"]
    assert (private / name).read_bytes() == b"precious" and names(private) == [name]


@as_root
@pytest.mark.parametrize("mode", (0o777, 0o1777))
@pytest.mark.parametrize("command, name", WRITERS)
def test_pipes_of_strangers_are_not_waited_for(source, command, name, mode, tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    os.mkfifo(shared / name)
    os.chown(shared / name, NOBODY, NOBODY)
    result = harness.run(command, source, "-o", shared / name, "--json")
    assert result.code == harness.IO, str(result)


def test_overviews_do_not_wait_for_a_pipe_beside_the_file(source, tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(source.read_bytes())
    os.mkfifo(tmp_path / "a.tif.ovr")
    result = harness.run("overviews", path, "--external", "--factors", "2", "--json")
    assert result.code == harness.IO, str(result)
    assert "regular file" in result.error()["message"]


@as_root
def test_edit_does_not_follow_links_of_strangers(source, tmp_path):
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    tmp.chmod(0o1777)
    precious = tmp_path / "precious.tif"
    precious.write_bytes(source.read_bytes())
    (tmp / "link.tif").symlink_to(precious)
    os.lchown(tmp / "link.tif", NOBODY, NOBODY)
    for more in ([], ["--rewrite"]):
        result = harness.run("edit", tmp / "link.tif", "--set", "A=b", "--json", *more)
        assert result.code == harness.IO, str(result)
    assert precious.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("command, name", WRITERS)
def test_a_limit_on_the_size_of_files_is_an_io_error(source, command, name, tmp_path):
    out = tmp_path / name
    out.write_bytes(b"old")
    limited = subprocess.run([harness.BINARY, command, source, "-o", out, "--json"], capture_output=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    assert limited.returncode == harness.IO, limited
    assert b"File too large" in limited.stderr
    assert out.read_bytes() == b"old" and names(tmp_path) == [name]


@pytest.mark.parametrize("arguments", (["overviews"], ["edit", "--rewrite", "--set", "A=b"],
                                       ["edit", "--set", "A=" + "b" * 20_000]))
def test_a_limit_on_the_size_of_files_leaves_a_file_in_place_as_it_was(source, arguments, tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(source.read_bytes())
    size = path.stat().st_size + (5_000 if "--rewrite" not in arguments else -5_000)
    limited = subprocess.run([harness.BINARY, arguments[0], path, *arguments[1:], "--json"], capture_output=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert limited.returncode == harness.IO, limited
    assert path.read_bytes() == source.read_bytes() and names(tmp_path) == ["a.tif"]


@pytest.mark.parametrize("how", (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL))
def test_temporary_files_of_read_go(large, tmp_path, how):
    """On signals at once; after kill -9, with the next write to the same path."""
    out = tmp_path / "out.npy"
    out.write_bytes(b"old")
    process = subprocess.Popen([harness.BINARY, "read", large, "-o", out, "--quiet", "--threads", "1"],
                               preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
    deadline = time.monotonic() + 20
    while process.poll() is None and len(names(tmp_path)) == 1 and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(how)
    ended = process.wait(timeout=20)
    if ended != 0:  # else it was faster
        assert ended == (-how if how == signal.SIGKILL else harness.CANCELLED)
        assert out.read_bytes() == b"old"
    assert how == signal.SIGKILL or names(tmp_path) == ["out.npy"]
    harness.run_ok("read", large, "-o", out, "--quiet", "--window", "0,0,10,10")
    assert names(tmp_path) == ["out.npy"]


@pytest.mark.parametrize("more", ([], ["--rewrite"]))
def test_an_edit_that_races_with_a_convert_loses_nothing(source, tmp_path, more):
    """Whichever comes last has the path; an edit that says it succeeded is in the file, or was before the convert."""
    path, other = tmp_path / "a.tif", tmp_path / "other.tif"
    write_source(other, rasters.make("uint8", 1, 300, 300))
    harness.run_ok("convert", other, "-o", tmp_path / "converted.tif", "--quiet")
    converted = (tmp_path / "converted.tif").read_bytes()
    for _ in range(8):
        path.write_bytes(source.read_bytes())
        edit = subprocess.Popen([harness.BINARY, "edit", path, "--set", "A=b", "--quiet", *more],
                                stderr=subprocess.PIPE)
        convert = subprocess.Popen([harness.BINARY, "convert", other, "-o", path, "--quiet"])
        assert convert.wait(timeout=60) == 0
        edited = edit.wait(timeout=60)
        assert edited in (harness.OK, harness.IO), edit.stderr.read()
        edit.stderr.close()
        with rasterio.open(path) as file:
            assert file.width == 300, "the old raster is back"
            # The edit came first, and went with its file; or it came after, and is there.
            assert path.read_bytes() == converted or (edited == harness.OK and file.tags()["A"] == "b")
    assert names(tmp_path) == ["a.tif", "converted.tif", "other.tif"]
