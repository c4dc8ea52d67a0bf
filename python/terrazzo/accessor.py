# SPDX-License-Identifier: Apache-2.0
"""`.terrazzo` of DataArrays and Datasets. Importing this module, or opening with the engine, registers it.

>>> import xarray as xr
>>> ds = xr.open_dataset("dem.tif", engine="terrazzo")
>>> ds.band_data[:, 100:200, :50].terrazzo.transform.to_gdal()
(500000.0, 10.0, 0.0, 4199000.0, 0.0, -10.0)
>>> report = (ds.band_data * 2).terrazzo.to_cog("double.tif")
>>> ds.terrazzo.crs == terrazzo.open("double.tif").crs
True
"""
from __future__ import annotations

import json
from collections.abc import Hashable
from typing import Any

import numpy as np
import xarray as xr
from xarray.conventions import encode_cf_variable

from ._crs import Crs
from ._geometry import IDENTITY, Bounds, Transform
from ._write import write
from .errors import UsageError

_ROWS = ("y", "lat", "latitude")
_COLUMNS = ("x", "lon", "longitude")
_TOLERANCE = 1e-5  # of a pixel: coordinates are rounded
# Attributes that are written as something else than tags.
_NO_TAGS = ("long_name", "units", "grid_mapping", "crs", "crs_wkt", "transform", "_FillValue", "scale_factor", "add_offset",
            "scales", "offsets", "AREA_OR_POINT")  # fmt: skip


class _Georeferenced:
    """Where the pixels are."""

    def __init__(self, obj: Any):
        self._obj = obj

    @property
    def _array(self) -> xr.DataArray:
        raise NotImplementedError

    @property
    def _mapping(self) -> dict[Hashable, Any]:
        """Attributes of the grid mapping variable."""
        array = self._array
        name = array.encoding.get("grid_mapping") or array.attrs.get("grid_mapping") or "spatial_ref"
        return dict(self._obj.coords[name].attrs) if name in self._obj.coords else {}

    @property
    def crs(self) -> Crs | None:
        """The CRS of the grid mapping, or of the attributes that open_geotiff() sets."""
        attrs, mapping = self._array.attrs, self._mapping
        found = mapping.get("crs_wkt") or mapping.get("spatial_ref") or attrs.get("crs") or attrs.get("crs_wkt")
        return None if found is None else Crs(found)

    @property
    def transform(self) -> Transform | None:
        """From (column, row) of pixel corners to (x, y), of the pixels of this object; None if not georeferenced."""
        text, array = self._mapping.get("GeoTransform"), self._array
        stored = Transform.from_gdal([float(part) for part in text.split()]) if text else None
        y, x = _spatial_dims(array)
        if not {x, y} <= set(array.coords):
            return None if stored == IDENTITY else stored
        columns, rows = array.coords[x].values, array.coords[y].values
        across, down = (stored.a, stored.e) if stored else (None, None)
        a, c = _grid(columns, across, stored.c if stored else 0.0, x)
        e, f = _grid(rows, down, stored.f if stored else 0.0, y)
        found = Transform(a, 0.0, c, 0.0, e, f)
        return None if found == IDENTITY else found

    @property
    def bounds(self) -> Bounds:
        """The smallest box that contains the pixels; of their indices if they are not georeferenced."""
        array = self._array
        y, x = _spatial_dims(array)
        width, height = array.sizes[x], array.sizes[y]
        corners = [(self.transform or IDENTITY) @ place for place in ((0, 0), (width, 0), (0, height), (width, height))]
        xs, ys = zip(*corners)
        return Bounds(min(xs), min(ys), max(xs), max(ys))

    def to_geotiff(self, path: Any, *, dtype: Any = None, **options: Any) -> Any:
        """Writes the pixels with their CRS, transform, nodata, names and attributes; returns a report.

        What mask_and_scale=True decoded is encoded again, unless `dtype` says otherwise. dask arrays are computed and
        written block of rows by block of rows, in bounded memory. `options` are those of terrazzo.write(); they
        replace what the object says.
        """
        array = self._array
        y, x = _spatial_dims(array)
        others = [dim for dim in array.dims if dim not in (y, x)]
        if len(others) > 1:
            raise UsageError(f"the array has the dims {array.dims}; a raster has rows, columns and at most bands")
        array = array.transpose(*others, y, x)
        variable, described = _stored(array, dtype)
        return write(path, variable.data, **{**self._place(), **_description(array, variable), **described, **options})

    def to_cog(self, path: Any, **options: Any) -> Any:
        """Writes a Cloud-Optimized GeoTIFF: see to_geotiff()."""
        return self.to_geotiff(path, cog=True, **options)

    def plot(self, *, max_size: int = 1024, **keywords: Any) -> Any:
        """Draws the pixels with matplotlib: one band by colours of its values, three or four as red, green and blue.

        Rasters of more than `max_size` pixels are thinned out. `keywords` go to xarray's plot.imshow().
        """
        array = self._array
        y, x = _spatial_dims(array)
        steps = {dim: slice(None, None, max(1, -(-array.sizes[dim] // max_size))) for dim in (y, x)}
        array = array.isel(steps).squeeze([dim for dim in array.dims if dim not in (y, x) and array.sizes[dim] == 1])
        defaults: dict[str, Any] = {"x": x, "y": y, "robust": True}
        if array.ndim == 3:
            defaults["rgb"] = next(dim for dim in array.dims if dim not in (y, x))
        return array.plot.imshow(**{**defaults, **keywords})

    def _place(self) -> dict[str, Any]:
        """Georeference, as options of write()."""
        mapping, place = self._mapping, {"crs": self.crs}
        if "gcps" in mapping:
            points = json.loads(mapping["gcps"])["features"]
            return place | {"gcps": [_ground_control_point(point) for point in points]}
        is_point = self._array.attrs.get("AREA_OR_POINT") == "Point"
        return place | {"transform": self.transform, "pixel_is_point": True if is_point else None}


@xr.register_dataarray_accessor("terrazzo")
class ArrayAccessor(_Georeferenced):
    """`DataArray.terrazzo`."""

    @property
    def _array(self) -> xr.DataArray:
        return self._obj


@xr.register_dataset_accessor("terrazzo")
class DatasetAccessor(_Georeferenced):
    """`Dataset.terrazzo`: of its variable with bands, or of its two-dimensional variables as bands."""

    @property
    def _array(self) -> xr.DataArray:
        variables = [v for v in self._obj.data_vars.values() if v.ndim >= 2]
        if len(variables) == 1:
            return variables[0]
        if not variables or any(v.ndim != 2 for v in variables):
            raise UsageError("the dataset needs one raster variable, or several of two dims; select one first")
        bands: Any = xr.concat(variables, "band", coords="minimal", compat="override", combine_attrs="drop_conflicts")
        bands.encoding = variables[0].encoding if len({str(v.encoding.get("_FillValue")) for v in variables}) == 1 else {}
        bands.attrs["long_name"] = tuple(v.attrs.get("long_name") or str(v.name) for v in variables)
        return bands


def _spatial_dims(array: xr.DataArray) -> tuple[Hashable, Hashable]:
    y = next((dim for dim in array.dims if str(dim).lower() in _ROWS), None)
    x = next((dim for dim in array.dims if str(dim).lower() in _COLUMNS), None)
    if y is None or x is None:
        raise UsageError(f"the dims {array.dims} have no rows and columns; name them y and x")
    return y, x


def _grid(centres: np.ndarray[Any, Any], stored_step: float | None, stored_origin: float, dim: Any) -> tuple[float, float]:
    """(pixel size, outer edge) of coordinates. The stored grid is kept exactly where the coordinates lie on it."""
    if centres.size == 0 or (centres.size == 1 and stored_step is None):
        raise UsageError(f"{centres.size} coordinates of {dim} have no pixel size")
    step = float(centres[-1] - centres[0]) / (centres.size - 1) if centres.size > 1 else stored_step
    assert step is not None
    off = np.abs(centres - (centres[0] + step * np.arange(centres.size))).max()
    if step == 0 or off > _TOLERANCE * 100 * abs(step):
        raise UsageError(f"the coordinates of {dim} are not evenly spaced")
    if stored_step is None or abs(step - stored_step) * centres.size > _TOLERANCE * abs(step):
        return step, float(centres[0]) - step / 2
    place = (float(centres[0]) - stored_step / 2 - stored_origin) / stored_step
    if abs(place - round(place)) > _TOLERANCE:
        return stored_step, float(centres[0]) - stored_step / 2
    return stored_step, stored_origin + round(place) * stored_step


def _stored(array: xr.DataArray, dtype: Any) -> tuple[xr.Variable, dict[str, Any]]:
    """(values as they are stored, nodata and packing as options of write())."""
    encoding, bands = array.encoding, array.shape[0] if array.ndim == 3 else 1
    nodata = encoding.get("_FillValue", array.attrs.get("_FillValue", array.attrs.get("nodata")))
    options: dict[str, Any] = {} if nodata is None else {"nodata": nodata}
    if dtype is not None:
        return array.variable.astype(dtype), options
    attrs = array.attrs
    variable = array.variable
    if "dtype" in encoding and not {"scales", "offsets"} & set(encoding):  # one packing for all bands
        packed = {name: encoding[name] for name in ("dtype", "_FillValue", "scale_factor", "add_offset") if name in encoding}
        variable = encode_cf_variable(xr.Variable(variable.dims, variable.data, {}, packed))
        attrs = attrs | packed
    for name, option in (("scale_factor", "scales"), ("add_offset", "offsets")):
        if name in attrs:
            options[option] = [float(attrs[name])] * bands
        elif option in attrs:
            options[option] = list(attrs[option])
    return variable, options


def _description(array: xr.DataArray, variable: xr.Variable) -> dict[str, Any]:
    """Names, units and tags as options of write()."""
    bands, options = array.shape[0] if array.ndim == 3 else 1, {}
    for name, option in (("long_name", "descriptions"), ("units", "units")):
        values = array.attrs.get(name)
        if isinstance(values, str):
            values = (values,) * bands
        if values is not None and len(values) == bands:
            options[option] = ["" if value is None else str(value) for value in values]
    tags = {str(name): _tag(value) for name, value in array.attrs.items() if name not in _NO_TAGS}
    return {**options, "tags": {name: text for name, text in tags.items() if text is not None} or None}


def _tag(value: Any) -> str | None:
    """The text of a tag; None for values that are not simple."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return "{" + ",".join(map(repr, value.tolist())) + "}"
    return str(value) if isinstance(value, (str, int, float, np.number)) else None


def _ground_control_point(feature: dict[str, Any]) -> tuple[float, ...]:
    properties = feature["properties"]
    return properties["col"], properties["row"], *feature["geometry"]["coordinates"]
