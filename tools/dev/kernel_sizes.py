#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the bytes of a binary's kernels, by GPU architecture: kernel_sizes.py FILE

nvcc stores the kernels of each source file as a container in the section .nv_fatbin: a header, then an entry for each
architecture. Needs objcopy.
"""
import collections
import struct
import subprocess
import sys
import tempfile

MAGIC = 0xBA55ED50
CONTAINER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of the entries
ENTRY = struct.Struct("<HHIQIIHHI")  # kind, ..., bytes of this header, bytes of the code, ..., architecture
KINDS = {1: "PTX of compute_{}", 2: "sm_{}"}


def section(path):
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["objcopy", "--dump-section", f".nv_fatbin={out.name}", path, "/dev/null"], check=True)
        return out.read()


def entries(data):
    """(kind, architecture, bytes) of each entry of each container; containers begin at multiples of 8."""
    at = 0
    while at + CONTAINER.size <= len(data):
        magic, _, header, size = CONTAINER.unpack_from(data, at)
        if magic != MAGIC:
            at += 8
            continue
        end = at + header + size
        at += header
        while at + ENTRY.size <= end:
            kind, _, entry_header, code, *_, architecture = ENTRY.unpack_from(data, at)
            yield kind, architecture, entry_header + code
            at += entry_header + code
        at = (end + 7) // 8 * 8


def main(path):
    total = collections.Counter()
    for kind, architecture, size in entries(section(path)):
        total[KINDS.get(kind, "kind {}").format(architecture)] += size
    for name, size in sorted(total.items(), key=lambda item: (len(item[0]), item[0])):
        print(f"        {name:20} {size:>10}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
