# SPDX-License-Identifier: Apache-2.0
"""tools/dev/check_wheel.py finds what is wrong with a wheel."""

import subprocess
import sys
import zipfile

import harness
import pytest

sys.path.insert(0, str(harness.ROOT / "tools/dev"))
import check_wheel  # noqa: E402  (needs the path above)

GOOD = "terrazzo-0.1.0-cp312-abi3-manylinux_2_34_x86_64.whl"
LICENCE = "terrazzo-0.1.0.dist-info/licenses/libraries/zlib"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A shared library that needs nothing."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "empty.c").write_text("int terrazzo_nothing(void) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-nostdlib", "-o", folder / "empty.so", folder / "empty.c"], check=True)
    return (folder / "empty.so").read_bytes()


def broken(folder, library, name=GOOD, add=(), leave_out=(), release=True):
    """The rules that a wheel of these files breaks."""
    files = {"terrazzo/_core.abi3.so": library, "terrazzo/_core.pyi": b"", "terrazzo/py.typed": b"", LICENCE: b"text"}
    files |= {path: library for path in add}
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path in files.keys() - set(leave_out):
            archive.writestr(path, files[path])
    return [rule for rule, problems in check_wheel.findings(folder / name, release) if problems]


def test_a_good_wheel_breaks_no_rule(library, tmp_path):
    assert broken(tmp_path, library) == []
    assert broken(tmp_path, library, name="terrazzo-0.1.0-cp312-abi3-linux_x86_64.whl", leave_out=[LICENCE], release=False) == []


def test_the_tag_is_that_of_the_stable_abi_and_of_old_systems(library, tmp_path):
    assert "stable ABI" in broken(tmp_path, library, name="terrazzo-0.1.0-cp312-cp312-manylinux_2_34_x86_64.whl")[0]
    assert "platform" in broken(tmp_path, library, name="terrazzo-0.1.0-cp312-abi3-manylinux_2_35_x86_64.whl")[0]


@pytest.mark.parametrize("name", ["terrazzo.libs/libgdal-1a2b.so.32", "terrazzo.libs/libproj.so.25", "terrazzo/libnvcomp.so.6"])
def test_some_libraries_are_forbidden(name, library, tmp_path):
    assert any("GDAL" in rule for rule in broken(tmp_path, library, add=[name]))


@pytest.mark.parametrize("name", ["terrazzo/_core.abi3.so", "terrazzo/_core.pyi", "terrazzo/py.typed"])
def test_module_and_types_are_inside(name, library, tmp_path):
    assert any("py.typed" in rule for rule in broken(tmp_path, library, leave_out=[name]))


def test_licences_and_size_count(library, tmp_path, monkeypatch):
    assert any("licences" in rule for rule in broken(tmp_path, library, leave_out=[LICENCE]))
    monkeypatch.setattr(check_wheel, "MAX_BYTES", 100)
    assert any("MB" in rule for rule in broken(tmp_path, library))


def test_libraries_of_one_system_are_refused(library, tmp_path, monkeypatch):
    monkeypatch.setattr(check_wheel, "needed_libraries", lambda path: ["libc.so.6", "libjpeg.so.62"])
    assert any("only the system's" in rule for rule in broken(tmp_path, library))
    assert not any("only the system's" in rule for rule in broken(tmp_path, library, add=["terrazzo.libs/libjpeg.so.62"]))
