# SPDX-License-Identifier: Apache-2.0
"""The engine "terrazzo" of xarray: datasets as rioxarray makes them.

>>> import xarray as xr
>>> ds = xr.open_dataset("dem.tif", engine="terrazzo")
>>> dict(ds.sizes), ds.band_data.encoding["grid_mapping"]
({'band': 1, 'y': 300, 'x': 400}, 'spatial_ref')
"""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.backends import BackendEntrypoint
from xarray.core import indexing

from ._dataset import Dataset, open
from ._geometry import Transform
from ._lazy import RasterArray, centres, level_size, preferred_chunks
from .errors import UnsupportedError, UsageError

_SUFFIXES = (".tif", ".tiff", ".gtiff", ".geotiff")


class TerrazzoBackendEntrypoint(BackendEntrypoint):
    """Opens GeoTIFF files lazily."""

    description = "Open GeoTIFF files with Terrazzo"
    url = "docs/python.md"
    open_dataset_parameters = (
        "filename_or_obj", "drop_variables", "mask_and_scale", "band_as_variable", "overview", "page", "sidecars",
    )  # fmt: skip

    def open_dataset(  # type: ignore[override]
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        mask_and_scale: bool | None = True,
        band_as_variable: bool = False,
        overview: int = 0,
        page: int = 0,
        sidecars: bool = True,
    ) -> xr.Dataset:
        source = open(filename_or_obj, page=page, sidecars=sidecars)
        if not 0 <= overview <= len(source.overviews):
            raise UsageError(f"overview {overview} does not exist; the file has {len(source.overviews)}")
        if band_as_variable:
            variables = {f"band_{n}": _band_variable(source, overview, n) for n in range(1, source.count + 1)}
        else:
            variables = {"band_data": _variable(source, overview)}
        if mask_and_scale is not False:
            variables = {name: _decoded(name, variable) for name, variable in variables.items()}
        for variable in variables.values():
            variable.encoding["grid_mapping"] = "spatial_ref"
        coords = _coordinates(source, overview)
        if band_as_variable:
            del coords["band"]
        dataset = xr.Dataset(variables, coords=coords, attrs=dict(source.tags) if band_as_variable else {})
        dataset.encoding["source"] = source.name
        dataset.set_close(source.close)
        drop = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return dataset.drop_vars(drop, errors="ignore")

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return os.fspath(filename_or_obj).lower().endswith(_SUFFIXES)


def _variable(source: Dataset, overview: int) -> xr.Variable:
    array = indexing.LazilyIndexedArray(RasterArray(source, overview))
    attrs: dict[str, Any] = dict(source.tags)
    names = tuple(band.description for band in source.bands)
    if any(names):
        attrs["long_name"] = names[0] if len(names) == 1 else names
    units = {band.unit for band in source.bands}
    if len(units) == 1 and units != {""}:
        attrs["units"] = units.pop()
    variable = xr.Variable(("band", "y", "x"), array, attrs | _packing(source, range(source.count)))
    variable.encoding |= _encoding(source, overview)
    return variable


def _band_variable(source: Dataset, overview: int, number: int) -> xr.Variable:
    array = indexing.LazilyIndexedArray(RasterArray(source, overview, number))
    band = source.bands[number - 1]
    attrs: dict[str, Any] = dict(band.metadata.get("", {}))
    if band.description:
        attrs["long_name"] = band.description
    if band.unit:
        attrs["units"] = band.unit
    variable = xr.Variable(("y", "x"), array, attrs | _packing(source, [number - 1]))
    encoding = _encoding(source, overview)
    del encoding["preferred_chunks"]["band"]
    variable.encoding |= encoding
    return variable


def _packing(source: Dataset, indices: Iterable[int]) -> dict[str, Any]:
    """Nodata, scale and offset in CF's names. One variable has one of each."""
    bands = [source.bands[i] for i in indices]
    packings = {(str(band.nodata), band.scale, band.offset) for band in bands}
    if len(packings) > 1:
        raise UnsupportedError(
            "the bands differ in nodata, scale or offset; open them with mask_and_scale=False or band_as_variable=True"
        )
    attrs: dict[str, Any] = {}
    band = bands[0]
    if band.nodata is not None:
        attrs["_FillValue"] = source.dtype.type(band.nodata) if _fits(band.nodata, source.dtype) else band.nodata
    if band.scale != 1 or band.offset != 0:
        attrs["scale_factor"], attrs["add_offset"] = band.scale, band.offset
    return attrs


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    if dtype.kind in "fc":
        return True
    limits = np.iinfo(dtype)
    return float(value).is_integer() and limits.min <= value <= limits.max


def _decoded(name: str, variable: xr.Variable) -> xr.Variable:
    """Masked and scaled by xarray's own rules: a masked int16 is float32."""
    encoding = variable.encoding
    decoded = conventions.decode_cf_variable(name, variable, decode_times=False)
    decoded.encoding = encoding | decoded.encoding
    return decoded


def _encoding(source: Dataset, overview: int) -> dict[str, Any]:
    chunks = preferred_chunks(source, overview)
    return {"source": source.name, "dtype": source.dtype, "preferred_chunks": chunks}


def _coordinates(source: Dataset, overview: int) -> dict[str, Any]:
    coords: dict[str, Any] = {"band": ("band", np.arange(1, source.count + 1)), "spatial_ref": _spatial_ref(source, overview)}
    places = centres(source, overview)
    if places is not None:
        y, x = places
        coords["y"], coords["x"] = ("y", y), ("x", x)
    return coords


def _spatial_ref(source: Dataset, overview: int) -> xr.Variable:
    attrs: dict[str, Any] = {}
    if source.crs is not None:
        wkt = source.crs.wkt
        attrs = {**_cf_attributes(wkt), "crs_wkt": wkt, "spatial_ref": wkt}
    if source.transform is not None:
        height, width = level_size(source, overview)
        t: Transform = source.window_transform((0, 0, width, height), overview)
        attrs["GeoTransform"] = " ".join(map(repr, t.to_gdal()))
    return xr.Variable((), 0, attrs)


def _cf_attributes(wkt: str) -> dict[str, Any]:
    """CF's description of the CRS, if pyproj is installed."""
    try:
        import pyproj
    except ImportError:
        return {}
    return pyproj.CRS.from_wkt(wkt).to_cf()
