#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged ZSTD files on the device engine: at default trust it answers as the host engine does; at stated trust, where
nvCOMP decodes, every process ends, and one whose batch hung says so and names the file. Standard library only.

damaged_zstd.py TERRAZZO [FILES]
"""
import math
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

GUARD_S = 2
ENDS_WITHIN_S = 20
OK, BAD_FILE, DEVICE = 0, 4, 7


def plain_tiff(size):
    """Float32 waves in one strip, not compressed."""
    pixels = b"".join(
        struct.pack("<f", 900 + 300 * math.sin(x / 17) * math.cos(y / 23) + ((x * 7919 + y * 104729) % 997) / 50)
        for y in range(size) for x in range(size))
    tags = [(256, 4, size), (257, 4, size), (258, 3, 32), (259, 3, 1), (262, 3, 1), (273, 4, 0), (277, 3, 1), (278, 4, size),
            (279, 4, len(pixels)), (339, 3, 3)]
    start = 8 + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, start if tag == 273 else value) for tag, kind, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + struct.pack("<I", 0) + pixels


def run(binary, *words, guard=None):
    environment = dict(os.environ) if guard is None else dict(os.environ, TERRAZZO_DEVICE_GUARD=str(guard))
    started = time.monotonic()
    try:
        done = subprocess.run([binary, *map(str, words)], capture_output=True, text=True, timeout=ENDS_WITHIN_S, env=environment,
                              check=False)
    except subprocess.TimeoutExpired:
        return None, "", "", ENDS_WITHIN_S
    return done.returncode, done.stdout, done.stderr, time.monotonic() - started


def main():
    binary = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 16
    failures, outcomes, slowest = [], {}, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plain.tif").write_bytes(plain_tiff(1024))
        whole = folder / "whole.tif"
        code, _, told, _ = run(binary, "convert", folder / "plain.tif", "-o", whole, "--compression", "zstd", "--tile-size", 256)
        if code != OK:
            sys.exit(f"FAIL cannot make a file: {told}")
        content = whole.read_bytes()
        for number in range(count):
            luck = random.Random(number)
            damaged = bytearray(content)
            for _ in range(luck.randint(1, 8)):  # behind the directory, in the tiles
                damaged[luck.randrange(2048, len(damaged))] = luck.randrange(256)
            path = folder / f"damaged_{number}.tif"
            path.write_bytes(damaged)
            host = run(binary, "checksum", "--json", "--fill-bad", "--host", path)
            device = run(binary, "checksum", "--json", "--fill-bad", "--device", path)
            if host[:2] != device[:2]:
                failures.append(f"{path.name}: the engines differ at default trust: {host[:3]} {device[:3]}")
            code, _, told, seconds = run(binary, "checksum", "--fill-bad", "--device", "--trust", "trusted", path, guard=GUARD_S)
            slowest = max(slowest, seconds)
            outcomes[code] = outcomes.get(code, 0) + 1
            if code not in (OK, BAD_FILE, DEVICE):
                failures.append(f"{path.name}: stated trust ended with {code} after {seconds:.1f} s: {told}")
            elif code == DEVICE and path.name not in told:
                failures.append(f"{path.name}: the error does not name the file: {told}")
    for failure in failures:
        print("FAIL", failure)
    print(f"{'FAIL' if failures else 'PASS'} {count} damaged files: default trust equals the host; stated trust ended with "
          f"{ {str(code): n for code, n in sorted(outcomes.items(), key=str)} }, the slowest after {slowest:.1f} s")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
