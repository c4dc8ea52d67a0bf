# SPDX-License-Identifier: Apache-2.0
"""`.xrs` of DataArrays and Datasets for programs that have it from xarray-spatial: its two methods for GeoTIFF.

xarray-spatial has many more, so this accessor is registered only where that package is not installed.
"""
from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import xarray as xr

from .._crs import Crs
from .arguments import check_exclusive
from .read import open_geotiff
from .write import to_geotiff
from ..errors import Error, UnsupportedError

_RESAMPLING = ("auto", "nearest", "bilinear", "cubic")
# Arguments that a look at the file needs too.
_OPENING = ("overview_level", "max_cloud_bytes", "allow_rotated", "allow_unparseable_crs", "allow_invalid_nodata", "stable_only",
            "allow_experimental_codecs", "allow_internal_only_jpeg")  # fmt: skip


class _Accessor:
    def __init__(self, obj: Any):
        self._obj = obj

    def _open(self, source: Any, like: Any, auto_reproject: bool, coregister: bool, resampling: str, keywords: dict[str, Any]) -> Any:
        if resampling not in _RESAMPLING:
            raise ValueError(f"resampling must be one of {list(_RESAMPLING)}, got {resampling!r}")
        if coregister:
            raise UnsupportedError("coregister=True is not supported: nothing is reprojected here")
        check_exclusive(keywords.get("bbox"), True)
        extent = _extent(self._obj)
        corner = open_geotiff(source, window=(0, 0, 1, 1), **{name: keywords[name] for name in _OPENING if name in keywords}).attrs
        crs = like.attrs.get("crs", self._obj.attrs.get("crs"))
        if crs is not None:
            _check_crs(crs, corner, auto_reproject)
        keywords = keywords | {"window": None, "bbox": _box(extent, corner.get("transform"))}
        if getattr(like, "chunks", None) and "chunks" not in keywords:
            keywords["chunks"] = int(like.chunks[like.get_axis_num("y")][0])
        if "gpu" not in keywords and type(like.data).__module__.startswith("cupy"):
            keywords["gpu"] = True
        return open_geotiff(source, **keywords)


class ArrayAccessor(_Accessor):
    """`DataArray.xrs`."""

    def open_geotiff(
        self, source: Any, *, auto_reproject: bool = False, coregister: bool = False, resampling: str = "auto", **keywords: Any
    ) -> Any:
        """The part of a file that the array covers, as open_geotiff(), lazily if the array is. Both need the same CRS."""
        return self._open(source, self._obj, auto_reproject, coregister, resampling, keywords)

    def to_geotiff(self, path: Any, **keywords: Any) -> Any:
        """to_geotiff() of the array."""
        return to_geotiff(self._obj, path, **keywords)


class DatasetAccessor(_Accessor):
    """`Dataset.xrs`: of the variable `var`, or of the first one of two dims `y` and `x`."""

    def open_geotiff(
        self, source: Any, *, auto_reproject: bool = False, var: Any = None, coregister: bool = False, resampling: str = "auto",
        **keywords: Any,
    ) -> Any:  # fmt: skip
        """The part of a file that the dataset covers, as a DataArray."""
        _extent(self._obj)
        return self._open(source, self._variable(var), auto_reproject, coregister, resampling, keywords)

    def to_geotiff(self, path: Any, var: Any = None, **keywords: Any) -> Any:
        """to_geotiff() of a variable."""
        return to_geotiff(self._variable(var), path, **keywords)

    def _variable(self, name: Any) -> Any:
        if name is not None:
            if name not in self._obj:
                raise KeyError(f"No variable named {name!r}. Variables on the dataset include {list(self._obj.variables)}")
            return self._obj[name]
        for variable in self._obj.data_vars.values():
            if variable.ndim == 2 and {"y", "x"} == set(variable.dims):
                return variable
        raise ValueError("Dataset has no 2D variable with 'y' and 'x' dimensions. Pass var='<name>' to select one.")


def _extent(obj: Any) -> tuple[float, float, float, float]:
    """(x_min, y_min, x_max, y_max) of the coordinates, which are centres."""
    if "y" not in obj.coords or "x" not in obj.coords:
        who = "Dataset" if isinstance(obj, xr.Dataset) else "Caller"
        raise ValueError(f"{who} must have 'y' and 'x' coordinates to compute a spatial window")
    x, y = (np.asarray(obj.coords[name].values, np.float64) for name in ("x", "y"))
    return float(x.min()), float(y.min()), float(x.max()), float(y.max())


def _box(extent: tuple[float, float, float, float], transform: Any) -> tuple[float, float, float, float]:
    """The extent with half a pixel of the file around it, less a millionth, because coordinates are rounded."""
    across, down = (0.0, 0.0) if transform is None else (abs(transform[0]), abs(transform[4]))
    x, y = across * (0.5 - 1e-6), down * (0.5 - 1e-6)
    return extent[0] - x, extent[1] - y, extent[2] + x, extent[3] + y


def _check_crs(crs: Any, file_attrs: dict[str, Any], auto_reproject: bool) -> None:
    stored = file_attrs.get("crs", file_attrs.get("crs_wkt"))
    if crs == stored:
        return
    try:
        own = Crs(crs)
        if stored is None or own == Crs(stored):
            return
    except (Error, TypeError) as error:
        raise ValueError(f"attrs['crs']={crs!r} is not a valid CRS: {error}") from error
    if auto_reproject:
        raise UnsupportedError(f"auto_reproject=True is not supported: the array has {crs} and the file {stored}")
    raise ValueError(f"CRS mismatch: caller has {crs} but file has {stored}. Reproject one of them; nothing is reprojected here.")


def register() -> None:
    """Registers the accessors where xarray-spatial cannot do that."""
    if importlib.util.find_spec("xrspatial") is None:
        for cls, accessor, registered in (
            (xr.DataArray, ArrayAccessor, xr.register_dataarray_accessor),
            (xr.Dataset, DatasetAccessor, xr.register_dataset_accessor),
        ):
            if not hasattr(cls, "xrs"):
                registered("xrs")(accessor)
