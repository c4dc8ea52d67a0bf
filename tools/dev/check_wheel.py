#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a wheel of the package: check_wheel.py [--release] WHEEL

Its tag, its types, the symbols that its module needs, and the libraries inside. A wheel of a release also must not be too
large, and must need only libraries that every supported system has. Prints one PASS or FAIL a rule. Needs objdump.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/lint"))
import portable_symbols  # noqa: E402  (needs the path above)

MAX_BYTES = 12_000_000
# One wheel for Python 3.12 and later; a wheel that Python 3.11 makes is for 3.11 alone.
TAGS = ("cp312-abi3", "cp311-cp311")
RELEASE_PLATFORM = "manylinux_2_34_x86_64"
FORBIDDEN = re.compile(r"gdal|proj|cuda|nvidia|nvcomp|nvjpeg|cufile", re.IGNORECASE)
OF_THE_SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so\.\d+")
NEEDED = re.compile(r"^\s+NEEDED\s+(\S+)$", re.MULTILINE)


def needed_libraries(path):
    return NEEDED.findall(subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout)


def findings(wheel, release):
    """(rule, list of what breaks it) of each rule."""
    tag = "-".join(wheel.stem.split("-")[2:4])
    yield "the wheel's tag is that of the stable ABI, or of Python 3.11", [] if tag in TAGS else [wheel.name]
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
        names = archive.namelist()
        shared = [Path(folder, name) for name in names if re.search(r"\.so(\.|$)", name)]
        modules = [path for path in shared if path.name.startswith("_core.")]
        yield "the wheel has the module, its types and py.typed", [
            wanted for wanted in (r"terrazzo/_core\.(abi3|cpython-311.*)\.so", r"terrazzo/_core\.pyi", r"terrazzo/py\.typed")
            if not any(re.fullmatch(wanted, name) for name in names)
        ]  # fmt: skip
        inspected = shared if release else modules
        yield "the wheel needs no symbol that RHEL 9 lacks", [
            f"{path.name}: {symbol} of {family}_{'.'.join(map(str, version))}"
            for path in inspected for family, version, symbol in portable_symbols.too_new(path)
        ]  # fmt: skip
        yield "the wheel contains and links no GDAL, PROJ or NVIDIA library", [
            f"{path.name}: {library}" for path in shared for library in (path.name, *needed_libraries(path)) if FORBIDDEN.search(library)
        ]  # fmt: skip
        if release:
            yield f"the wheel's platform is {RELEASE_PLATFORM}", [] if wheel.stem.endswith(f"-{RELEASE_PLATFORM}") else [wheel.name]
            inside = {path.name for path in shared}
            yield "the wheel needs only the system's C and C++ libraries", [
                f"{path.name}: {library}" for path in shared for library in needed_libraries(path)
                if library not in inside and not OF_THE_SYSTEM.fullmatch(library)
            ]  # fmt: skip
            size = wheel.stat().st_size
            yield f"the wheel has at most {MAX_BYTES / 1e6:g} MB", [] if size <= MAX_BYTES else [f"{size} bytes"]
            yield "the wheel has the licences of the libraries in it", [] if any("/licenses/libraries/" in name for name in names) else ["none"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", action="store_true")
    parser.add_argument("wheel", type=Path)
    arguments = parser.parse_args()
    failed = False
    for rule, problems in findings(arguments.wheel, arguments.release):
        failed |= bool(problems)
        print(f"FAIL {rule}: {'; '.join(problems)}" if problems else f"PASS {rule}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
