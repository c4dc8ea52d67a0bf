#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that binaries need no symbol that is newer than the oldest supported system's: RHEL 9, with glibc 2.34 and the
libstdc++ of GCC 11. Debian 12 and Ubuntu 22.04 are newer. Needs objdump; prints one line for each symbol that is too new.

  portable_symbols.py FILE...
"""
import re
import subprocess
import sys

NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (11, 0, 0)}
VERSION = re.compile(r"\*UND\*.*\s\(?(GLIBC|GLIBCXX|CXXABI|GCC)_([0-9.]+)\)?\s+(\S+)$")


def numbers(version):
    return tuple(map(int, version.split(".")))


def needed(path):
    """(family, version, symbol) of each versioned symbol that the file takes from its libraries."""
    table = subprocess.run(["objdump", "-T", path], check=True, capture_output=True, text=True).stdout
    found = [VERSION.search(line) for line in table.splitlines()]
    return [(match[1], numbers(match[2]), match[3]) for match in found if match]


def too_new(path):
    return [(family, version, symbol) for family, version, symbol in needed(path) if version > NEWEST[family]]


def main(paths):
    failed = False
    for path in paths:
        for family, version, symbol in too_new(path):
            failed = True
            print(f"{path} needs {symbol} of {family}_{'.'.join(map(str, version))}, newer than "
                  f"{'.'.join(map(str, NEWEST[family]))}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
