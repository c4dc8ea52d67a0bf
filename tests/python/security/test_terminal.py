# SPDX-License-Identifier: Apache-2.0
"""Texts of files and names of files do not control the terminal, and JSON stays JSON."""

import json
import os
import subprocess

import crafted
import harness
import pytest

HOSTILE = "a\x1b]0;x\x07\x1b[31m\r\x08\u009b31m\u202e\u2066b"
CONTROLS = [c.encode() for c in "\x1b\x07\r\x08\x7f\u009b\u202e\u2066"]


def has_controls(data):
    return [c for c in CONTROLS if c in data]


def make(path):
    text = HOSTILE.encode()
    escaped = b"".join(b"&#%d;" % byte if byte in b"\x1b\x07\x08" else bytes([byte]) for byte in text)
    metadata = (b'<GDALMetadata><Item name="K' + escaped + b'">' + escaped + b'</Item><Item name="DESCRIPTION" sample="0" '
                b'role="description">' + escaped + b'</Item></GDALMetadata>\0')
    tiff = crafted.Tiff()
    strip = tiff.add(b"\1" * 16)
    tags = {**crafted.image(), crafted.STRIP_OFFSETS: strip, crafted.STRIP_COUNTS: 16, 42112: (2, metadata),
            270: (2, text + b"\0"), 305: (2, text + b"\xff\xfe\0"), **crafted.geo_citation(f'PROJCS["{HOSTILE}",GEOGCS["g"]]')}
    tiff.chain(tags)
    path.write_bytes(tiff.data)
    return path


def run(*args):
    """By bytes: names need not be UTF-8."""
    words = [os.fsencode(arg) for arg in (harness.BINARY, *args)]
    return subprocess.run(words, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("command", [["info"], ["info", "--tags"], ["info", "--json"], ["validate", "--json"], ["stats"], ["plan"],
                                     ["sample", "--at", "1,1"]])
def test_texts_of_a_file_do_not_control_the_terminal(command, tmp_path):
    result = run(command[0], make(tmp_path / "x.tif"), *command[1:])
    assert not has_controls(result.stdout + result.stderr), result


def test_json_keeps_the_texts(tmp_path):
    info = json.loads(run("info", "--json", make(tmp_path / "x.tif")).stdout)
    assert info["metadata"][""]["TIFFTAG_IMAGEDESCRIPTION"] == HOSTILE


@pytest.mark.parametrize("name", [b"a\x1b[31m.tif", "a\u009b31m\u202e.tif".encode(), b"a\rb.tif", b"\xff\xfe.tif"])
def test_names_of_files_do_not_control_the_terminal(name, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    path = os.path.join(os.fsencode(folder), name)
    with open(path, "wb") as file:
        file.write(make(tmp_path / "x.tif").read_bytes())
    commands = [["info", path], ["stats", path], ["plan", path], ["validate", path], ["checksum", path], ["info", path + b"x"],
                ["convert", path, "-o", path + b".tif"], ["read", path, "--raw", "--out", path + b".raw"],
                ["preview", path, "--out", path + b".png"], ["cog", folder, "--out-dir", tmp_path / "out"],
                ["overviews", path, "--factors", "2"], ["edit", path, "--set", "A=b"]]
    for command in commands:
        result = run(*command)
        assert not has_controls(result.stdout + result.stderr), result
        line = run(*command, "--json")
        assert not has_controls(line.stdout + line.stderr), line
        for text in (line.stdout, line.stderr):
            if text.startswith(b"{") and command[0] != "cog":
                json.loads(text)
