# SPDX-License-Identifier: Apache-2.0
"""Metadata of a raster as attributes of xarray, with the names that rioxarray uses."""
from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._dataset import Dataset
from ._geometry import Transform
from .errors import UnsupportedError

# Attributes that this module sets from other fields than the tags of their names.
_RESERVED = ("_FillValue", "missing_value", "fill_value", "nodata", "nodatavals", "is_tiled", "res")
_RPC_LISTS = ("LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF", "SAMP_DEN_COEFF")


def parsed_tags(tags: Mapping[str, str]) -> dict[str, Any]:
    """GDAL's metadata items; texts of numbers, and of lists of numbers in braces, as numbers."""
    return {name.removeprefix("NC_GLOBAL#"): _parsed(text) for name, text in tags.items()}


def _parsed(text: str) -> Any:
    if text.startswith("{") and text.endswith("}"):
        try:
            return np.array([float(part) for part in text[1:-1].split(",")])
        except ValueError:
            return text
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def band_attributes(source: Dataset, numbers: list[int], *, all_bands: bool) -> dict[str, Any]:
    """Tags, names and units of a variable of these bands; those of the file too if it has `all_bands`."""
    bands = [source.bands[number - 1] for number in numbers]
    tags = {**(source.tags if all_bands else {}), **bands[0].metadata.get("", {})}
    attrs = {name: value for name, value in parsed_tags(tags).items() if name not in _RESERVED}
    names = tuple(band.description or None for band in bands)
    if any(names):
        attrs["long_name"] = names[0] if len(set(names)) == 1 else names
    units = tuple(band.unit or None for band in bands)
    if any(units):
        attrs["units"] = units[0] if len(units) == 1 else units
    return attrs


def spatial_ref(source: Dataset, transform: Transform) -> dict[str, Any]:
    """Attributes of the grid mapping variable: CF, `crs_wkt`, `GeoTransform`, `gcps`, `rpcs`."""
    attrs: dict[str, Any] = {}
    if source.crs is not None:
        wkt = source.crs.wkt
        attrs = {**_cf_attributes(wkt), "crs_wkt": wkt, "spatial_ref": wkt}
    attrs["GeoTransform"] = " ".join(map(repr, transform.to_gdal()))
    if source.gcps:
        attrs["gcps"] = json.dumps({"type": "FeatureCollection", "features": [_feature(point) for point in source.gcps]})
    if source.rpcs:
        attrs["rpcs"] = json.dumps(_rpc_numbers(source.rpcs))
        if source.crs is None:
            attrs |= _world()
    return attrs


def _feature(point: Any) -> dict[str, Any]:
    place = {"type": "Point", "coordinates": [point.x, point.y, point.z]}
    properties = {"id": point.id, "info": "", "row": point.row, "col": point.column}
    return {"type": "Feature", "properties": properties, "geometry": place}


def _rpc_numbers(items: Mapping[str, str]) -> dict[str, Any]:
    numbers: dict[str, Any] = {"err_bias": None, "err_rand": None}
    for name, text in items.items():
        values = [float(part) for part in text.split() if _is_number(part)]
        if values:
            numbers[name.lower()] = values if name in _RPC_LISTS else values[0]
    known = {*(name.lower() for name in _RPC_LISTS), "err_bias", "err_rand"}
    known |= {f"{axis}_{kind}" for axis in ("height", "lat", "line", "long", "samp") for kind in ("off", "scale")}
    return {name: value for name, value in numbers.items() if name in known}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:  # units, as in "LINE_OFF: 10 pixels"
        return False
    return True


def _world() -> dict[str, Any]:
    """The CRS of RPCs. Without PROJ and pyproj its text is unknown, and left out."""
    from ._crs import Crs

    try:
        wkt = Crs(4326).wkt
    except UnsupportedError:
        return {}
    return {**_cf_attributes(wkt), "crs_wkt": wkt, "spatial_ref": wkt}


def _cf_attributes(wkt: str) -> dict[str, Any]:
    """CF's description of the CRS, if pyproj is installed."""
    try:
        import pyproj
    except ImportError:
        return {}
    return pyproj.CRS.from_wkt(wkt).to_cf()
