# SPDX-License-Identifier: Apache-2.0
"""Drives the terrazzo binary as a process.

Settings, all environment variables:
  TERRAZZO_BIN       the binary under test; default build/release/terrazzo
  TERRAZZO_ASAN_BIN  the AddressSanitizer build of it; default build/asan/terrazzo, used where it exists
  TERRAZZO_CORPUS    folder with manifest.json; default ../shared/corpus beside the checkout
  TERRAZZO_FULL      1: the full product of generated files instead of the pairwise choice
  TERRAZZO_SEEDS     FIRST:LAST: the seeds that test_random_options.py runs, LAST left out
"""

import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("TERRAZZO_BIN", ROOT / "build/release/terrazzo")).absolute()
ASAN_BINARY = pathlib.Path(os.environ.get("TERRAZZO_ASAN_BIN", ROOT / "build/asan/terrazzo")).absolute()
CORPUS = pathlib.Path(os.environ.get("TERRAZZO_CORPUS", ROOT.parent / "shared/corpus")).absolute()
FULL = os.environ.get("TERRAZZO_FULL", "") not in ("", "0")

OK, USAGE, IO, MALFORMED, UNSUPPORTED, LIMIT, DEVICE, CANCELLED = 0, 2, 3, 4, 5, 6, 7, 8
EXIT_CODES = {
    "usage": USAGE,
    "io": IO,
    "malformed": MALFORMED,
    "unsupported": UNSUPPORTED,
    "limit": LIMIT,
    "device": DEVICE,
    "cancelled": CANCELLED,
}


@dataclasses.dataclass
class Result:
    args: list
    code: int | None
    signal: int | None
    timed_out: bool
    peak_rss_bytes: int
    cpu_seconds: float
    stdout: bytes
    stderr: bytes

    def __str__(self):
        end = f"exit {self.code}"
        if self.timed_out:
            end = "timed out"
        elif self.signal:
            end = f"killed by {signal.Signals(self.signal).name}"
        words = " ".join(str(a) for a in self.args)
        stderr = self.stderr[-3000:].decode(errors="replace")
        return f"{words}\n  {end}\n  stdout: {self.stdout[-800:]!r}\n  stderr: {stderr}"

    def json(self):
        return json.loads(self.stdout)

    def error(self):
        """The error object of a --json run that failed."""
        for stream in (self.stderr, self.stdout):
            for line in reversed(stream.splitlines()):
                try:
                    value = json.loads(line)
                except ValueError:
                    continue
                if isinstance(value, dict) and "error" in value:
                    return value["error"]
        raise AssertionError(f"no JSON error object printed by {self}")


class Launcher:
    """The small process of launcher.py, started once."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="terrazzo-launcher-")
        self.process = subprocess.Popen(
            [sys.executable, "-S", "-E", str(pathlib.Path(__file__).with_name("launcher.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, args, *, timeout, address_space, env, stdin, cwd):
        out = os.path.join(self.folder.name, "stdout")
        err = os.path.join(self.folder.name, "stderr")
        request = {"args": [str(a) for a in args], "timeout": timeout, "address_space": address_space, "cwd": cwd,
                   "env": {**os.environ, **env}, "stdin": str(stdin), "stdout": out, "stderr": err}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        stdout = pathlib.Path(out).read_bytes()
        stderr = pathlib.Path(err).read_bytes()
        return Result(args=list(args), stdout=stdout, stderr=stderr, **answer)


@functools.cache
def launcher():
    return Launcher()


def run(*args, binary=None, timeout=60, address_space=0, env=None, stdin="/dev/null", cwd=None):
    """Runs `terrazzo ARGS`; never raises for a failing command."""
    return launcher().run([str(binary or BINARY), *map(str, args)], timeout=timeout, address_space=address_space,
                          env=env or {}, stdin=stdin, cwd=cwd)


def run_ok(*args, **kwargs):
    result = run(*args, **kwargs)
    assert result.code == OK, str(result)
    return result


def run_json(*args, **kwargs):
    return run_ok(*args, **kwargs).json()


def read(source, *options, folder, **kwargs):
    """`terrazzo read` through an .npy file; the array has the shape (bands, height, width)."""
    out = pathlib.Path(folder) / "read.npy"
    run_ok("read", source, "--out", out, *options, **kwargs)
    array = np.load(out)
    out.unlink()
    return array


def sha256(array):
    """Of the little-endian bytes, last axis fastest, as the manifest and `checksum` count."""
    array = np.ascontiguousarray(array)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    return hashlib.sha256(array.tobytes()).hexdigest()


@functools.cache
def manifest():
    """Files of the corpus with what GDAL makes of them; empty where there is no corpus."""
    path = CORPUS / "manifest.json"
    if not path.is_file():
        return {}
    return json.loads(path.read_text())["files"]
