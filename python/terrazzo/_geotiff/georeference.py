# SPDX-License-Identifier: Apache-2.0
"""Transform and CRS of a TIFF directory by the rules of `xrspatial.geotiff`, and the coordinates and attributes of them."""
from __future__ import annotations

import functools
import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from .._crs import Crs
from .._geometry import Window
from .source import is_strict
from .tags import Directory
from ..compat import (
    GEOREF_STATUS_CRS_ONLY,
    GEOREF_STATUS_FULL,
    GEOREF_STATUS_NONE,
    GEOREF_STATUS_ROTATED_DROPPED,
    GEOREF_STATUS_TRANSFORM_ONLY,
    DegeneratePixelSizeError,
    GeoTIFFFallbackWarning,
    InconsistentGeoKeysError,
    RotatedTransformError,
    UnparseableCRSError,
)
from ..errors import Error

_PIXEL_SCALE, _TIEPOINT, _MATRIX, _GEO_KEYS, _GEO_DOUBLES, _GEO_TEXTS = 33550, 33922, 34264, 34735, 34736, 34737
_MODEL_TYPE, _RASTER_TYPE, _CITATION, _GEOGRAPHIC = 1024, 1025, 1026, 2048
_SEMI_MAJOR, _SEMI_MINOR, _INVERSE_FLATTENING = 2057, 2058, 2059
_PROJECTED, _PROJECTED_CITATION, _PROJECTION_METHOD = 3072, 3073, 3075
_USER_DEFINED = 32767
WKT_ROOTS = (
    "PROJCS", "GEOGCS", "PROJCRS", "GEOGCRS", "COMPD_CS", "COMPOUNDCRS", "GEODCRS", "GEODETICCRS", "PROJECTEDCRS",
    "GEOGRAPHICCRS", "BOUNDCRS", "LOCAL_CS", "GEOCCS", "ENGCRS", "VERTCRS", "VERT_CS",
)  # fmt: skip
_COMPOUND_ROOTS = ("COMPD_CS", "COMPOUNDCRS")


class Place(NamedTuple):
    """Where a raster lies. `transform` is (x step, x origin, y step, y origin), with the origin as the file has it: the
    corner of the first pixel, or its centre if `is_point`.
    """

    transform: tuple[float, float, float, float] | None
    rotated: tuple[float, ...] | None
    is_point: bool
    epsg: int | None
    wkt: str | None


NO_PLACE = Place(None, None, False, None, None)


def has_place(directory: Directory) -> bool:
    return any(tag in directory for tag in (_PIXEL_SCALE, _TIEPOINT, _MATRIX, _GEO_KEYS))


def read_place(directory: Directory, dataset: Any, allow_rotated: bool, allow_unparseable: bool) -> Place:
    """`dataset` is None for an image that cannot be opened."""
    place = read_grid(directory, dataset, allow_rotated)
    epsg, wkt = _crs(_geo_keys(directory), dataset, allow_unparseable)
    return place._replace(epsg=epsg, wkt=wkt)


def read_grid(directory: Directory, dataset: Any, allow_rotated: bool) -> Place:
    """The place without a CRS."""
    is_point = _geo_keys(directory).get(_RASTER_TYPE) == 2
    transform, rotated = _transform(directory, allow_rotated)
    if not has_place(directory) and dataset is not None:  # sidecars
        transform = _sidecar_transform(dataset)
    return Place(transform, rotated, is_point, None, None)


def _sidecar_transform(dataset: Any) -> tuple[float, float, float, float] | None:
    t = dataset.transform
    return None if t is None or t.b or t.d else (t.a, t.c, t.e, t.f)


# --- Transform


def _transform(directory: Directory, allow_rotated: bool) -> tuple[tuple[float, float, float, float] | None, tuple[float, ...] | None]:
    m = directory.numbers(_MATRIX)
    scale, tie = directory.numbers(_PIXEL_SCALE), directory.numbers(_TIEPOINT)
    if len(m) >= 12:
        tolerance = 1e-12 * max(abs(m[0]), abs(m[5]), 1.0)
        if any(abs(m[i]) > tolerance for i in (1, 2, 4, 6)):
            if not allow_rotated:
                raise RotatedTransformError(
                    f"ModelTransformationTag (34264) contains rotation, skew, or z-coupling terms (M[1]={m[1]}, M[4]={m[4]}, "
                    f"M[2]={m[2]}, M[6]={m[6]}): a rotated affine. Only axis-aligned transforms are supported; pass "
                    "allow_rotated=True to read the pixel grid without it (docs/source/reference/release_gate_geotiff.rst)"
                )
            return None, (m[0], m[1], m[3], m[4], m[5], m[7])
        _check_steps(m[0], m[5], "ModelTransformationTag (34264)")
        return (m[0], m[3], m[5], m[7]), None
    if len(scale) >= 2:
        sx, sy = scale[0], scale[1]
        _check_steps(sx, sy, "ModelPixelScaleTag (33550)")
        if len(tie) < 6:
            return (sx, 0.0, -sy, 0.0), None
        x, y = tie[3] - tie[0] * sx, tie[4] + tie[1] * sy
        _check_tiepoints(tie, sx, sy, x, y)
        return (sx, x, -sy, y), None
    if len(tie) >= 6:
        _check_tiepoints(tie, 1.0, 1.0, tie[3] - tie[0], tie[4] + tie[1])
        return (1.0, tie[3] - tie[0], -1.0, tie[4] + tie[1]), None
    return None, None


def _check_steps(width: float, height: float, tag: str) -> None:
    for name, step in (("pixel_width", width), ("pixel_height", height)):
        if step == 0 or not math.isfinite(step):
            raise DegeneratePixelSizeError(
                f"{tag} yields a degenerate {name}={step}: with a zero or non-finite pixel size, coordinates of pixels "
                "would be equal or NaN. Write the file again with another one."
            )


def _check_tiepoints(tie: tuple[float, ...], sx: float, sy: float, x: float, y: float) -> None:
    tolerance = 1e-6 * max(abs(sx), abs(sy), 1.0)
    for index in range(1, len(tie) // 6):
        i, j, _, tx, ty, _ = tie[6 * index : 6 * index + 6]
        expected = x + i * sx, y - j * sy
        if not (abs(tx - expected[0]) <= tolerance and abs(ty - expected[1]) <= tolerance):
            raise NotImplementedError(
                f"ModelTiepointTag carries multiple non-affine tiepoints (tuple {index} predicts world coords {expected} "
                f"but the file declares {(tx, ty)}, which exceeds the tolerance of {tolerance}): ground control points, which a "
                "transform cannot represent. Rectify the file first, as with gdalwarp."
            )


# --- CRS


def _geo_keys(directory: Directory) -> dict[int, Any]:
    """Values of the GeoKeys; keys that point outside their tags are left out."""
    numbers = directory.numbers(_GEO_KEYS)
    if len(numbers) < 4:
        return {}
    doubles, texts = directory.numbers(_GEO_DOUBLES), directory.text(_GEO_TEXTS) or ""
    keys: dict[int, Any] = {}
    for first in range(4, min(len(numbers), 4 + 4 * numbers[3]) - 3, 4):
        key, place, count, value = numbers[first : first + 4]
        if place == 0:
            keys[key] = value
        elif place == _GEO_DOUBLES and value < len(doubles):
            keys[key] = doubles[value]
        elif place == _GEO_TEXTS:
            keys[key] = texts[value : value + count].rstrip("|\0 ")
    return keys


def _crs(keys: dict[int, Any], dataset: Any, allow_unparseable: bool) -> tuple[int | None, str | None]:
    projected, geographic = keys.get(_PROJECTED, 0), keys.get(_GEOGRAPHIC, 0)
    has_projected, has_geographic = projected not in (0, _USER_DEFINED), geographic not in (0, _USER_DEFINED)
    wkt = next((text for key in (_CITATION, _PROJECTED_CITATION) if _is_wkt(text := keys.get(key, ""))), None)
    model = keys.get(_MODEL_TYPE)
    if model == 2 and has_projected:
        raise InconsistentGeoKeysError(
            f"the file declares ModelTypeGeoKey=geographic (2) but populates ProjectedCSTypeGeoKey={projected}: a geographic "
            "model has no EPSG code of a projected CRS. Correct the file's GeoKey directory."
        )
    if model == 1 and has_geographic and not has_projected and wkt is None and _PROJECTION_METHOD not in keys:
        raise InconsistentGeoKeysError(
            f"the file declares ModelTypeGeoKey=projected (1) but populates GeographicTypeGeoKey={geographic} and no "
            "ProjectedCSTypeGeoKey, so the projected CRS is not known. Correct the file's GeoKey directory."
        )
    if wkt is not None and wkt.lstrip().upper().startswith(_COMPOUND_ROOTS):  # codes name its horizontal part alone
        _check_parses(wkt.strip(), allow_unparseable)
        return None, wkt.strip()
    if has_projected:
        return projected, _wkt_of_epsg(projected)
    if has_geographic and model != 1:
        return geographic, _wkt_of_epsg(geographic)
    if wkt is not None:
        wkt = wkt.strip()
        _check_parses(wkt, allow_unparseable)
        return None, wkt
    ellipsoid = _geographic_wkt(keys)
    if ellipsoid is not None:
        return None, ellipsoid
    return None, _parameter_wkt(dataset) if not keys or _PROJECTION_METHOD in keys else None


def _is_wkt(text: Any) -> bool:
    return isinstance(text, str) and text.lstrip().upper().startswith(WKT_ROOTS) and "[" in text


@functools.lru_cache(256)
def _epsg_text(epsg: int) -> str | Exception:
    try:
        import pyproj
    except ImportError:
        try:
            return Crs(epsg).wkt
        except Error as error:
            return error
    try:
        return pyproj.CRS.from_epsg(epsg).to_wkt()
    except pyproj.exceptions.CRSError as error:
        return error


def _wkt_of_epsg(epsg: int) -> str | None:
    text = _epsg_text(epsg)
    if isinstance(text, str):
        return text
    if is_strict():
        raise text
    warnings.warn(
        f"attrs['crs_wkt'] is left out: no WKT of EPSG:{epsg} could be found ({type(text).__name__}: {text})",
        GeoTIFFFallbackWarning,
        stacklevel=6,
    )
    return None


def _check_parses(wkt: str, allowed: bool) -> None:
    if allowed:
        return
    try:
        import pyproj
    except ImportError:
        return
    try:
        pyproj.CRS.from_user_input(wkt)
    except pyproj.exceptions.CRSError as error:
        raise UnparseableCRSError(
            f"the GeoTIFF source advertises a CRS string that pyproj cannot parse: {wkt[:80]!r} (CRSError: {error}). Pass "
            "allow_unparseable_crs=True to keep it in attrs['crs_wkt'], or write the file again with a valid CRS."
        ) from error


def _geographic_wkt(keys: dict[int, Any]) -> str | None:
    """Of a file that gives the ellipsoid of a geographic CRS by numbers."""
    major = keys.get(_SEMI_MAJOR)
    shape = next(((name, keys[key]) for name, key in (("rf", _INVERSE_FLATTENING), ("b", _SEMI_MINOR)) if keys.get(key)), None)
    if not major or shape is None or keys.get(_MODEL_TYPE) == 1:
        return None
    try:
        import pyproj

        return pyproj.CRS.from_proj4(f"+proj=longlat +a={major} +{shape[0]}={shape[1]} +no_defs").to_wkt()
    except ImportError:
        return None
    except pyproj.exceptions.CRSError:
        return None


def _parameter_wkt(dataset: Any) -> str | None:
    """Of a CRS that the library reads and the rules above do not: projection parameters, sidecars."""
    if dataset is None or dataset.crs is None:
        return None
    try:
        return dataset.crs.wkt
    except Error:
        return None


# --- Coordinates and attributes


def moved(place: Place, size: tuple[int, int], full: tuple[int, int]) -> Place:
    """The place of an overview of size (height, width) of the raster of size `full`."""
    if place.transform is None or size == full:
        return place
    dx, x, dy, y = place.transform
    down, across = full[0] / size[0], full[1] / size[1]
    if place.is_point:  # the origin is a centre, and lies inside the first pixel of the overview
        x, y = x + dx * (across - 1) / 2, y + dy * (down - 1) / 2
    return place._replace(transform=(dx * across, x, dy * down, y))


def flipped(place: Place, orientation: int, size: tuple[int, int]) -> Place:
    """The place after the pixels of size (height, width) were turned upright."""
    if orientation == 1 or place.transform is None:
        return place
    if orientation >= 5:
        raise NotImplementedError(
            f"TIFF Orientation {orientation} on a georeferenced file turns rows into columns: a rotation that its transform "
            "cannot represent. Convert the file to the default orientation, or remove the Orientation tag."
        )
    dx, x, dy, y = place.transform
    back = 1 if place.is_point else 0
    if orientation in (2, 3):
        x, dx = x + (size[1] - back) * dx, -dx
    if orientation in (3, 4):
        y, dy = y + (size[0] - back) * dy, -dy
    return place._replace(transform=(dx, x, dy, y))


def coordinates(place: Place, window: Window) -> dict[str, np.ndarray[Any, Any]]:
    if place.transform is None:
        return {
            "y": np.arange(window.row, window.row + window.height, dtype=np.int64),
            "x": np.arange(window.column, window.column + window.width, dtype=np.int64),
        }
    dx, x, dy, y = place.transform
    half = 0.0 if place.is_point else 0.5
    rows = np.arange(window.row, window.row + window.height, dtype=np.float64)
    columns = np.arange(window.column, window.column + window.width, dtype=np.float64)
    return {"y": rows * dy + y + dy * half, "x": columns * dx + x + dx * half}


def place_attrs(place: Place, window: Window) -> dict[str, Any]:
    raster_type = {"raster_type": "point"} if place.is_point else {}
    if place.rotated is not None:
        return {
            "georef_status": GEOREF_STATUS_ROTATED_DROPPED,
            "_xrspatial_no_georef": True,
            "rotated_affine": tuple(map(float, place.rotated)),
        } | raster_type
    attrs: dict[str, Any] = {}
    if place.epsg is not None:
        attrs["crs"] = int(place.epsg)
    if place.wkt is not None:
        attrs["crs_wkt"] = place.wkt
    if place.transform is None:
        status = GEOREF_STATUS_CRS_ONLY if attrs else GEOREF_STATUS_NONE
        return {"georef_status": status, "_xrspatial_no_georef": True} | attrs | raster_type
    dx, x, dy, y = map(float, place.transform)
    origin = x + window.column * dx, y + window.row * dy
    status = GEOREF_STATUS_FULL if attrs else GEOREF_STATUS_TRANSFORM_ONLY
    attrs |= {"georef_status": status, "transform": (dx, 0.0, origin[0], 0.0, dy, origin[1])}
    return attrs | raster_type
