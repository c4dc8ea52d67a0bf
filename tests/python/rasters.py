# SPDX-License-Identifier: Apache-2.0
"""Pixels for generated files, by formula, and files that no writer makes.

Pixels are smooth enough to compress and have the whole range of their type in them.
"""

import struct

import numpy as np


def make(dtype, bands, height, width, seed=0):
    if dtype == "complex_int16":  # rasterio takes it as complex64
        return join(make("int16", bands, height, width, seed), make("int16", bands, height, width, seed + 1), "c8")
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        part = f"f{dtype.itemsize // 2}"
        return join(make(part, bands, height, width, seed), make(part, bands, height, width, seed + 1), dtype)
    rng = np.random.default_rng(seed + 1000 * bands + width)
    y, x = np.mgrid[0:height, 0:width]
    wave = np.stack([np.sin((x + b) / 11) * np.cos(y / 7 + b) for b in range(bands)])
    if dtype.kind == "f":
        values = np.round(900 + 400 * wave, 2).astype(dtype)
        flat = values.reshape(-1)
        if flat.size > 8:  # the values a careless reader changes
            flat[::flat.size // 7][:7] = [0.0, -0.0, np.inf, -np.inf, np.finfo(dtype).tiny, np.finfo(dtype).max, -1.5]
        return values
    info = np.iinfo(dtype)
    values = ((wave + 1) / 2 * min(info.max, 2**53) * 0.9).astype(dtype)
    noise = rng.integers(0, max(2, min(info.max, 2**62) // 50), values.shape).astype(dtype)
    values = values + noise  # may wrap: all the better
    flat = values.reshape(-1)
    if flat.size > 2:
        flat[0], flat[-1] = info.min, info.max
    return values


def join(real, imaginary, dtype):
    """Complex numbers; by parts, since multiplying infinities by 1j makes NaN of them."""
    array = np.empty(real.shape, dtype)
    array.real, array.imag = real, imaginary
    return array


def as_pairs(array, part):
    """Complex numbers as two integers each, on a new last axis."""
    return np.stack([array.real, array.imag], axis=-1).astype(part)


def build_tiff(path, *, width, height, bits, sample_format, data, byteorder, compression=1, predictor=1, extra=()):
    """A one-strip classic TIFF out of its parts, for what no writer makes."""
    tags = sorted([(256, 3, width), (257, 3, height), (258, 3, bits), (259, 3, compression), (262, 3, 1), (273, 4, 0),
                   (277, 3, 1), (278, 3, height), (279, 4, len(data)), (317, 3, predictor), (339, 3, sample_format),
                   *extra])
    data_at = 8 + 2 + 12 * len(tags) + 4
    out = (b"II*\0" if byteorder == "<" else b"MM\0*") + struct.pack(byteorder + "I", 8)
    out += struct.pack(byteorder + "H", len(tags))
    for tag, kind, value in tags:
        value = data_at if tag == 273 else value
        out += struct.pack(byteorder + "HHI", tag, kind, 1)
        out += struct.pack(byteorder + "HH", value, 0) if kind == 3 else struct.pack(byteorder + "I", value)
    path.write_bytes(out + struct.pack(byteorder + "I", 0) + bytes(data))
