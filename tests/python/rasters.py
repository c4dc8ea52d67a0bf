# SPDX-License-Identifier: Apache-2.0
"""Pixels for generated files, by formula: smooth enough to compress, with the whole range of the type in it."""

import numpy as np


def make(dtype, bands, height, width, seed=0):
    if dtype == "complex_int16":
        return make("int16", bands, height, width, seed) + 1j * make("int16", bands, height, width, seed + 1).astype(
            np.complex64)
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        part = f"f{dtype.itemsize // 2}"
        return (make(part, bands, height, width, seed) + 1j * make(part, bands, height, width, seed + 1)).astype(dtype)
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


def as_pairs(array, part):
    """Complex numbers as two integers each, on a new last axis."""
    return np.stack([array.real, array.imag], axis=-1).astype(part)
