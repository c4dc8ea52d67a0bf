# SPDX-License-Identifier: Apache-2.0
"""A small PNG reader that trusts nothing: signature, chunks, CRCs, filters. 8 bits, no palette, no interlace."""

import struct
import zlib

import numpy as np

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def decode(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    at, chunks = 8, []
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        (crc,) = struct.unpack(">I", data[at + 8 + length:at + 12 + length])
        assert len(body) == length and zlib.crc32(kind + body) == crc, f"chunk {kind} is damaged"
        chunks.append((kind, body))
        at += 12 + length
    assert chunks[0][0] == b"IHDR" and chunks[-1] == (b"IEND", b"")
    width, height, depth, color, compression, filtering, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    assert (depth, compression, filtering, interlace) == (8, 0, 0, 0)
    channels = CHANNELS[color]
    raw = np.frombuffer(zlib.decompress(b"".join(b for k, b in chunks if k == b"IDAT")), np.uint8)
    raw = raw.reshape(height, 1 + width * channels)
    rows = np.zeros((height, width * channels), np.uint8)
    previous = np.zeros(width * channels, np.uint8)
    for y in range(height):
        previous = rows[y] = unfilter(raw[y, 0], raw[y, 1:], previous, channels)
    return rows.reshape(height, width, channels)


def unfilter(kind, line, above, channels):
    assert kind <= 4
    if kind == 0:
        return line
    if kind == 2:
        return line + above
    out = [0] * len(line)
    line, above = line.tolist(), above.tolist()
    for i, value in enumerate(line):
        left = out[i - channels] if i >= channels else 0
        corner = above[i - channels] if i >= channels else 0
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            estimate = left + above[i] - corner
            guess = min((abs(estimate - left), 0, left), (abs(estimate - above[i]), 1, above[i]),
                        (abs(estimate - corner), 2, corner))[2]
        out[i] = (value + guess) & 0xFF
    return np.array(out, np.uint8)
