# SPDX-License-Identifier: Apache-2.0
"""The images of a file that overview_level counts, and the checks of their directories before pixels are read."""
from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from .._dataset import Dataset, open
from .georeference import has_place
from .source import Source, environment_size
from .tags import Bytes, Directory, RepeatedTagError, read_directories
from ..compat import CloudSizeLimitError, DuplicateIFDTagError
from ..errors import LimitError, UnsupportedError

MAX_TILE_BYTES = 256 << 20
_LARGE_TABLE = 1 << 16  # byte counts that are not worth a request of their own

_SUBFILE, _WIDTH, _HEIGHT, _BITS, _COMPRESSION, _SAMPLES, _PREDICTOR, _FORMAT = 254, 256, 257, 258, 259, 277, 317, 339
_STRIP_OFFSETS, _STRIP_COUNTS, _ROWS_PER_STRIP, _PLANAR = 273, 279, 278, 284
_TILE_WIDTH, _TILE_HEIGHT, _TILE_OFFSETS, _TILE_COUNTS = 322, 323, 324, 325


class Level(NamedTuple):
    """An image: its directory, and where the library finds it."""

    directory: Directory
    page: int  # index of the directory in its file
    inside: bool  # in the file itself, not in the .ovr file
    is_reduced: bool  # by NewSubfileType


class Levels:
    """Full resolution first, then overviews and further pages, then the .ovr file."""

    def __init__(self, source: Source, level: int):
        self.source = source
        chain = _directories(source.file)
        self.levels = _pyramid(chain, inside=True)
        if not self.levels:
            raise ValueError("the file has no image IFDs")
        inner = len(self.levels)
        self.levels += _sidecar_levels(source, needed=level >= inner, level=level)
        if level >= len(self.levels):
            count = len(self.levels)
            raise ValueError(
                f"overview_level={level} is out of range: TIFF has {count} pyramid IFDs (1 full-resolution + {count - 1} "
                f"overviews). Valid overview_level values are 0..{count - 1}."
            )
        self.chosen = level
        self.first, self.directory = self.levels[0].directory, self.levels[level].directory
        # Overviews inherit what they lack; further pages do not.
        self.parent = self.first if self.levels[level].is_reduced else self.directory
        self.has_own_place = level == 0 or has_place(self.directory) or not self.levels[level].is_reduced
        self.has_sidecar_place = level == 0 or not self.has_own_place

    @property
    def size(self) -> tuple[int, int]:
        return image_size(self.directory)

    @property
    def full_size(self) -> tuple[int, int]:
        return image_size(self.first)

    def open(self) -> tuple[Dataset, int]:
        """(dataset, overview) of the chosen level in the library's terms."""
        level = self.levels[self.chosen]
        if self.chosen == 0 or (level.inside and not level.is_reduced) or _samples(self.directory) != _samples(self.first):
            return self._open(level), 0
        height, width = image_size(level.directory)
        same = [other for other in self.levels[1 : self.chosen + 1] if image_size(other.directory) == (height, width)]
        dataset = self._open(self.levels[0])
        found = [number for number, o in enumerate(dataset.overviews, 1) if (o.height, o.width) == (height, width)]
        if len(found) < len(same):  # the library does not see it as an overview of the image
            return self._open(level), 0
        return dataset, found[len(same) - 1]

    def _open(self, level: Level) -> Dataset:
        try:
            dataset = open(self.source.opened if level.inside else self.source.opened_sidecar, page=level.page)
            assert dataset.dtype is not None  # images that cannot be decoded are refused here
            return dataset
        except (LimitError, UnsupportedError) as error:
            what = f"Unsupported compression type: {self.directory.number(_COMPRESSION, 1)}: " if "compression" in str(error) else ""
            raise ValueError(f"{what}{error}") from error


def _directories(file: Bytes) -> list[Directory]:
    try:
        return read_directories(file)
    except RepeatedTagError as error:
        raise DuplicateIFDTagError(*error.args) from None


def _samples(directory: Directory) -> tuple[Any, ...]:
    return tuple(directory.numbers(tag)[:1] for tag in (_BITS, _FORMAT, _SAMPLES))


def declared_type(directory: Directory) -> np.dtype[Any] | None:
    """The type that the reference gives to pixels; None for samples that it does not read."""
    bits, kind = directory.number(_BITS, 8), directory.number(_FORMAT, 1)
    code = {1: "u", 2: "i", 3: "f", 4: "u"}.get(kind)
    try:
        return np.dtype(f"{code}{1 if bits < 8 else 2 if bits == 12 else 4 if (kind, bits) == (3, 16) else bits // 8}")
    except TypeError:
        return None


def sample_type(directory: Directory) -> np.dtype[Any]:
    """Of pixels that have been read. Raises ValueError for samples that no pixel type holds."""
    found = declared_type(directory)
    if found is None:
        bits, kind = directory.number(_BITS, 8), directory.number(_FORMAT, 1)
        raise ValueError(f"Unsupported BitsPerSample={bits}, SampleFormat={kind}")
    return found


def image_size(directory: Directory) -> tuple[int, int]:
    return directory.number(_HEIGHT, 0), directory.number(_WIDTH, 0)


def _pyramid(chain: list[Directory], inside: bool) -> list[Level]:
    levels = []
    for index, directory in enumerate(chain):
        kind = directory.number(_SUBFILE, 0)
        if not kind & 4 and (kind == 0 or kind & 1):
            levels.append(Level(directory, index, inside, bool(kind & 1)))
    return levels


def _sidecar_levels(source: Source, needed: bool, level: int) -> list[Level]:
    name = source.sidecar_name
    try:
        sidecar = source.sidecar(needed)
        return [] if sidecar is None else _pyramid(_directories(sidecar), inside=False)
    except CloudSizeLimitError:
        raise
    except (ValueError, OSError) as error:
        what = f"{type(error).__name__}: {error}"
        if needed:
            raise ValueError(
                f"Cannot read overview_level={level} from external sidecar {name!r}: sidecar parse failed with {what}"
            ) from error
        warnings.warn(
            f"Ignoring unreadable sidecar {name!r}: {what}. An overview_level beyond the file itself makes that an error.",
            RuntimeWarning,
            stacklevel=5,
        )
        return []


# --- Checks


def check_samples(directory: Directory) -> None:
    """Refuses images without pixels, and samples that no pixel type holds."""
    height, width = image_size(directory)
    samples = directory.number(_SAMPLES, 1)
    if height <= 0 or width <= 0 or samples <= 0:
        raise ValueError(f"Invalid TIFF dimensions: {width} x {height} pixels, SamplesPerPixel={samples}")
    bits, formats = directory.numbers(_BITS) or (8,), directory.numbers(_FORMAT) or (1,)
    if len(set(bits)) > 1:
        raise ValueError(f"Mixed BitsPerSample={bits} are not supported: all bands must have one dtype")
    if len(set(formats)) > 1:
        raise ValueError(f"Mixed SampleFormat={formats} are not supported: all bands must have one dtype")
    if formats[0] not in (1, 2, 3, 4):
        raise ValueError(f"Unsupported BitsPerSample={bits[0]}, SampleFormat={formats[0]}")
    if directory.number(_PREDICTOR, 1) == 3 and formats[0] != 3:
        raise ValueError(f"Predictor=3 (PREDICTOR, the floating-point predictor) needs SampleFormat=3, and the file has {formats[0]}")


def check_layout(directory: Directory, is_local: bool) -> None:
    """Refuses images whose tables of blocks contradict their size, before the library reads them."""
    height, width = image_size(directory)
    bits, planar = directory.number(_BITS, 1), directory.number(_PLANAR, 1)
    if planar not in (1, 2):
        raise ValueError(f"Invalid PlanarConfiguration={planar}; it is 1 or 2")
    if _TILE_WIDTH in directory:
        expected = _check_tiles(directory, height, width, planar)
    else:
        expected = _check_strips(directory, height, width, planar)
    _check_block_bytes(directory, expected if bits % 8 == 0 else 0, is_local)


def _check_tiles(directory: Directory, height: int, width: int, planar: int) -> int:
    """The bytes of a tile without compression."""
    across, down = directory.number(_TILE_WIDTH, 0), directory.number(_TILE_HEIGHT, 0)
    if across <= 0 or down <= 0:
        raise ValueError(f"Invalid TIFF tile size: {across} x {down}")
    planes = directory.number(_SAMPLES, 1) if planar == 2 else 1
    needed = -(-width // across) * -(-height // down) * planes
    _check_table(directory, "Tile", ((_TILE_OFFSETS, "TileOffsets"), (_TILE_COUNTS, "TileByteCounts")), needed)
    return across * down * _pixel_bytes(directory, planar)


def _check_strips(directory: Directory, height: int, width: int, planar: int) -> int:
    """The bytes of the last strip, the smallest one, without compression."""
    rows = directory.number(_ROWS_PER_STRIP, height)
    if rows <= 0:
        raise ValueError(f"Invalid RowsPerStrip={rows}")
    planes = directory.number(_SAMPLES, 1) if planar == 2 else 1
    _check_table(
        directory, "Strip", ((_STRIP_OFFSETS, "StripOffsets"), (_STRIP_COUNTS, "StripByteCounts")), -(-height // rows) * planes
    )
    return width * ((height - 1) % rows + 1) * _pixel_bytes(directory, planar)


def _pixel_bytes(directory: Directory, planar: int) -> int:
    return directory.number(_BITS, 1) // 8 * (1 if planar == 2 else directory.number(_SAMPLES, 1))


def _check_table(directory: Directory, kind: str, tags: tuple[tuple[int, str], ...], needed: int) -> None:
    for tag, name in tags:
        count = directory.entries[tag].count if tag in directory else 0
        if count < needed:
            raise ValueError(f"{kind} table truncated: {name} has {count} entries, and the image needs {needed}")
        if count > needed:
            raise ValueError(f"{name} has count={count}, which exceeds expected value {needed} of the image's size")


def _check_block_bytes(directory: Directory, expected: int, is_local: bool) -> None:
    """A compressed block of hundreds of megabytes is an attack rather than a file; one without compression has its size."""
    tag, name = (_TILE_COUNTS, "tile") if _TILE_COUNTS in directory else (_STRIP_COUNTS, "strip")
    if tag not in directory or (not is_local and directory.entries[tag].count > _LARGE_TABLE):
        return
    cap = environment_size("XRSPATIAL_COG_MAX_TILE_BYTES", MAX_TILE_BYTES)
    counts = directory.array(tag)
    largest = np.flatnonzero(counts > cap)
    if largest.size:
        index = int(largest[0])
        raise ValueError(
            f"TIFF {name} {index} declares {name.capitalize()}ByteCount={int(counts[index]):,} bytes, which exceeds the "
            f"per-{name} safety cap of {cap:,} bytes. The file is malformed or attempting denial-of-service. Override via "
            "XRSPATIAL_COG_MAX_TILE_BYTES if this file is legitimate."
        )
    if directory.number(_COMPRESSION, 1) == 1 and ((counts < expected) & (counts > 0)).any():
        raise ValueError(
            f"Decompressed tile/strip size mismatch: expected {expected} bytes, got {int(counts[counts > 0].min())}. The TIFF "
            "data is likely truncated or corrupt."
        )
