# SPDX-License-Identifier: Apache-2.0
"""CRS and transform for to_geotiff(): from its arguments, attributes and coordinates."""
from __future__ import annotations

import io
import math
import struct
import warnings
from typing import Any, NamedTuple

import numpy as np

from .._crs import Crs
from .._geometry import Transform
from .georeference import WKT_ROOTS
from .source import is_strict
from .tags import bytes_of, read_directories
from .._write import write
from ..compat import (
    ConflictingCRSError,
    DegeneratePixelSizeError,
    GeoTIFFFallbackWarning,
    NonRepresentableEPSGCRSError,
    NonUniformCoordsError,
    UnknownCRSModelTypeError,
    UnparseableCRSError,
)
from ..errors import Error

ROWS = ("y", "lat", "latitude", "row")
COLUMNS = ("x", "lon", "longitude", "col")
_GEO_KEYS, _GEO_DOUBLES, _GEO_TEXTS = 34735, 34736, 34737
_ROTATION_LIMIT = 1e-12
_UNIFORM = 1e-6  # of a step

RawTag = tuple[int, int, int, bytes]  # number, field type, count, bytes


# --- CRS


class WrittenCrs(NamedTuple):
    """`definition` is for the library; `geo_keys` are tags that are written instead, for a CRS without a code."""

    definition: Any
    geo_keys: list[RawTag]


def resolve_crs(crs: Any, attrs: dict[str, Any], is_point: bool, allow_unparseable: bool) -> WrittenCrs:
    value = crs if crs is not None else attrs.get("crs")
    if value is None and isinstance(attrs.get("crs_wkt"), str):
        value = attrs["crs_wkt"]
    if value is None:
        return WrittenCrs(None, [])
    if isinstance(value, (int, np.integer)):
        return _coded(int(value), is_point)
    code, error = _code_of(value)
    if error is not None and crs is None and isinstance(attrs.get("crs_wkt"), str) and value != attrs["crs_wkt"]:
        other = _code_of(attrs["crs_wkt"])
        if other[1] is None:
            _warn_of_no_code(error)
            value, (code, error) = attrs["crs_wkt"], other
    if code is not None:
        return _coded(code, is_point)
    if error is not None:
        _warn_of_no_code(error)
    if not value.lstrip().upper().startswith(WKT_ROOTS) and not allow_unparseable:
        raise UnparseableCRSError(
            f"Could not parse crs: {value!r} is not an EPSG code, is not a WKT string (no PROJCS / GEOGCS / PROJCRS / GEOGCRS "
            "root), and could not be parsed. Pass an EPSG int, a WKT string, or allow_unparseable_crs=True to write it as it "
            f"is to GTCitationGeoKey.{'' if error is None else f' ({type(error).__name__}: {error})'}"
        ) from error
    warnings.warn(
        "Writing a user-defined CRS via WKT only (ProjectedCSType / GeographicType = 32767, the text in GTCitationGeoKey). "
        "Pass an EPSG code if the CRS has one.",
        UserWarning,
        stacklevel=4,
    )
    return WrittenCrs(None, _citation_keys(value, is_point))


def _warn_of_no_code(error: Exception) -> None:
    if is_strict():
        raise error
    warnings.warn(f"no EPSG code of the CRS ({type(error).__name__}: {error})", GeoTIFFFallbackWarning, stacklevel=5)


def check_crs(value: Any) -> None:
    """Refuses types that name no CRS, and codes that are none of a horizontal CRS."""
    if value is None or isinstance(value, str):
        return
    if isinstance(value, (bool, np.bool_)):
        raise ValueError(f"crs must be an int (EPSG code), str (WKT/PROJ), or None; got bool ({value}).")
    if not isinstance(value, (int, np.integer)):
        raise TypeError(f"crs must be int (EPSG code), str (WKT/PROJ), or None; got {type(value).__name__}.")
    _coded(int(value), is_point=False)


def check_crs_attrs(crs: Any, attrs: dict[str, Any]) -> None:
    """attrs['crs'] and attrs['crs_wkt'] must be one CRS, unless an argument replaces them."""
    code, text = attrs.get("crs"), attrs.get("crs_wkt")
    if crs is not None or code is None or not isinstance(text, str) or isinstance(code, bool):
        return
    try:
        import pyproj
    except ImportError:
        return
    try:
        first = pyproj.CRS.from_user_input(int(code) if isinstance(code, np.integer) else code)
        second = pyproj.CRS.from_wkt(text)
    except pyproj.exceptions.CRSError:
        return
    if first == second or (first.to_epsg() is not None and first.to_epsg() == second.to_epsg()):
        return
    raise ConflictingCRSError(
        f"attrs['crs']={code} and attrs['crs_wkt']={text[:60]!r} resolve to different CRSes. Drop one of them, or pass crs=."
    )


def _coded(code: int, is_point: bool) -> WrittenCrs:
    """A CRS with a code. Codes that the library would write in another way are written by their number alone."""
    try:
        import pyproj
    except ImportError:
        try:
            kind = Crs(code).kind
        except Error as error:
            raise ValueError(f"crs={code} is not a valid EPSG code: {error}") from error
        if kind == "unknown":
            raise UnknownCRSModelTypeError(
                f"EPSG:{code}: neither PROJ nor pyproj is installed to tell whether it is projected or geographic"
            ) from None
        return WrittenCrs(code, [])
    try:
        found = pyproj.CRS.from_epsg(code)
    except pyproj.exceptions.CRSError as error:
        raise ValueError(
            f"crs={code} is not a valid EPSG code (pyproj: CRSError: {error}). Pass a valid EPSG integer, a WKT string, or None."
        ) from error
    if found.is_compound:
        raise NonRepresentableEPSGCRSError(
            f"EPSG:{code} is a compound CRS ({found.name!r}), which cannot be represented by the one code of a horizontal CRS. "
            "Pass the horizontal CRS, or the compound one as WKT."
        )
    if len(found.axis_info) == 2 and (found.is_projected or found.is_geographic) and _is_known(code):
        return WrittenCrs(code, [])
    numbers = [1, 1, 0, 3, 1024, 0, 1, 2 if found.is_geographic else 1, 1025, 0, 1, 2 if is_point else 1]
    numbers += [2048 if found.is_geographic else 3072, 0, 1, code]
    return WrittenCrs(None, [(_GEO_KEYS, 3, len(numbers), struct.pack(f"<{len(numbers)}H", *numbers))])


def _is_known(code: int) -> bool:
    """To the library: pyproj may be newer than the PROJ of the system."""
    try:
        Crs(code)
    except Error:
        return False
    return True


def _code_of(text: str) -> tuple[int | None, Exception | None]:
    try:
        import pyproj
    except ImportError:
        try:
            return Crs(text).epsg, None
        except Error as error:
            return None, error
    try:
        found = pyproj.CRS.from_user_input(text)
    except pyproj.exceptions.CRSError as error:
        return None, error
    return (None if found.is_compound else found.to_epsg()), None


def _citation_keys(text: str, is_point: bool) -> list[RawTag]:
    """GeoKeys of the CRS's parameters, for GDAL, with the text itself as the citation."""
    keys, doubles, texts = _parameter_keys(text)
    geographic = text.lstrip().upper().startswith(("GEOGCS", "GEOGCRS", "GEODCRS"))
    keys.setdefault(1024, (0, 1, 2 if geographic else 1))
    keys.setdefault(2048 if geographic else 3072, (0, 1, 32767))
    keys[1025] = (0, 1, 2 if is_point else 1)
    citation = text.encode() + b"|"
    # The library's own texts follow the citation.
    moved = {
        key: (place, count, value + len(citation)) if place == _GEO_TEXTS else (place, count, value)
        for key, (place, count, value) in keys.items()
    }
    moved[1026] = (_GEO_TEXTS, len(citation), 0)
    numbers = [1, 1, 0, len(moved)]
    for key in sorted(moved):
        numbers += [key, *moved[key]]
    data = citation + texts + b"\0"
    tags: list[RawTag] = [(_GEO_KEYS, 3, len(numbers), struct.pack(f"<{len(numbers)}H", *numbers))]
    if doubles:
        tags.append((_GEO_DOUBLES, 12, len(doubles), struct.pack(f"<{len(doubles)}d", *doubles)))
    tags.append((_GEO_TEXTS, 2, len(data), data))
    return tags


def _parameter_keys(text: str) -> tuple[dict[int, tuple[int, int, int]], tuple[float, ...], bytes]:
    """GeoKeys (place, count, value), doubles and texts that the library writes for a CRS; empty if it writes none."""
    file = io.BytesIO()
    try:
        write(file, np.zeros((1, 1), np.uint8), crs=text, transform=(1, 0, 0, 0, -1, 0), compression="none")
    except Error:
        return {}, (), b""
    directory = read_directories(bytes_of(file.getvalue()))[0]
    numbers = directory.numbers(_GEO_KEYS)
    keys = {numbers[i]: numbers[i + 1 : i + 4] for i in range(4, len(numbers), 4)}
    texts = directory.raw(_GEO_TEXTS).rstrip(b"\0") if _GEO_TEXTS in directory else b""
    return keys, directory.numbers(_GEO_DOUBLES), texts


# --- Transform


def check_rotation(attrs: dict[str, Any], drop_rotation: bool) -> None:
    if attrs.get("rotated_affine") is not None and not drop_rotation:
        raise ValueError(
            "to_geotiff: refusing to write a DataArray carrying attrs['rotated_affine'], because the rotation would be lost. "
            "Reproject it, or pass drop_rotation=True to write the pixel grid alone (issue #2216: there is "
            "no transform with a rotation)."
        )
    t: Any = attrs.get("transform")
    if hasattr(t, "b") and hasattr(t, "d"):
        _refuse_rotation(t.b, t.d)


def _is_six(value: Any) -> bool:
    return isinstance(value, (tuple, list, np.ndarray)) and len(value) == 6


def _refuse_rotation(b: Any, d: Any) -> None:
    if abs(float(b)) > _ROTATION_LIMIT or abs(float(d)) > _ROTATION_LIMIT:
        raise ValueError(
            f"attrs['transform'] has non-zero rotation/shear (b={float(b)}, d={float(d)}); rotated or skewed affines are not "
            "written. Reproject the raster to an axis-aligned grid."
        )


def axes(data: Any) -> tuple[Any, Any] | None:
    """Coordinates of rows and columns, in the order of the dims: two have any names, three have a band."""
    names = list(data.dims) if data.ndim == 2 else [name for name in data.dims if name in ROWS + COLUMNS]
    if len(names) != 2 or not all(name in data.coords for name in names):
        return None
    return data.coords[names[0]], data.coords[names[1]]


def check_axes(data: Any, attrs: dict[str, Any]) -> None:
    """Coordinates must have one step, because a transform has one."""
    if attrs.get("_xrspatial_no_georef") is True:
        return
    for axis in (data.coords[name] for name in data.dims if name in ROWS + COLUMNS and name in data.coords):
        values = axis.values
        if values.ndim != 1 or values.size < 2:
            continue
        steps = np.diff(values)
        if steps.dtype.kind == "m" or values.dtype.kind not in "iufO":
            raise TypeError(f"data.coords[{axis.name!r}] are no numbers but {values.dtype}, and have no pixel size")
        steps = np.diff(values.astype(np.float64))
        if steps[0] == 0:
            raise NonUniformCoordsError(
                f"data.coords[{axis.name!r}] is constant; the writer cannot derive a pixel size from a zero-step axis."
            )
        drift = np.abs(steps - steps[0]) / abs(steps[0])
        wrong = np.flatnonzero(~(drift <= 1e-5))
        if wrong.size:
            index = int(wrong[0])
            raise NonUniformCoordsError(
                f"data.coords[{axis.name!r}] is non-uniform: step {steps[0]} expected, but found {steps[index]} at index "
                f"{index} (relative drift {drift[index]:.2e}), so there is no one pixel size. Resample to a uniform grid."
            )


def resolve_transform(data: Any, attrs: dict[str, Any]) -> Transform | None:
    """From pixel corners; None without georeference."""
    is_point = attrs.get("raster_type") == "point"
    given: Any = attrs.get("transform")
    if _is_six(given):
        a, b, c, d, e, f = map(float, given)
        _refuse_rotation(b, d)
        if not all(map(math.isfinite, (a, c, e, f))) or not a or not e:
            raise DegeneratePixelSizeError(f"attrs['transform']={tuple(given)} has no pixel size: it must be finite and not 0")
        half = 0.5 if is_point else 0.0  # attrs of point rasters have the centre of the first pixel
        return Transform(a, 0.0, c - half * a, 0.0, e, f - half * e)
    pair = None if attrs.get("_xrspatial_no_georef") is True else axes(data)
    if pair is None:
        return None
    y, x = (axis.values for axis in pair)
    dy, dx = _step(y), _step(x)
    if attrs.get("assume_square_pixels_for_degenerate_axis") is True:
        if dx is None and dy is not None:
            dx = abs(dy)
        elif dy is None and dx is not None:
            dy = -abs(dx)
    if dx is None or dy is None:
        raise ValueError(
            f"Cannot infer GeoTIFF transform from a {(y.size, x.size)} array with 'y' and 'x' coordinates: an axis of one pixel, "
            "or a non-uniform one, has no pixel size. Set attrs['transform'], or attrs['assume_square_pixels_for_degenerate_axis'] = True if the "
            "pixels are square."
        )
    return Transform(dx, 0.0, float(x[0]) - dx / 2, 0.0, dy, float(y[0]) - dy / 2)


def _step(values: np.ndarray[Any, Any]) -> float | None:
    if values.size < 2:
        return None
    steps = np.diff(values.astype(np.float64))
    middle = float(np.median(steps))
    drift = float(np.abs(steps - middle).max()) / abs(middle)
    if drift > _UNIFORM:
        raise NonUniformCoordsError(
            f"coordinates are non-uniform: steps differ by {drift:.2e}, which exceeds {_UNIFORM}, and a transform has one step"
        )
    return float(values[1]) - float(values[0])
