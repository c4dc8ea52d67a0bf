# SPDX-License-Identifier: Apache-2.0
"""The engine "terrazzo" of xarray: datasets as rioxarray makes them.

>>> import xarray as xr
>>> ds = xr.open_dataset("dem.tif", engine="terrazzo")
>>> dict(ds.sizes), ds.band_data.encoding["grid_mapping"]
({'band': 1, 'y': 300, 'x': 400}, 'spatial_ref')
>>> ds.terrazzo.crs, ds.terrazzo.bounds.top
(Crs('EPSG:32632'), 4200000.0)
"""
from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendEntrypoint
from xarray.core import indexing

from . import accessor as accessor  # registers `.terrazzo`
from ._cf import band_attributes, parsed_tags, spatial_ref
from ._dataset import Dataset, open
from ._device import check_device
from ._lazy import Decoding, RasterArray, centres, level_shape, level_transform, preferred_chunks
from .errors import UsageError

_SUFFIXES = (".tif", ".tiff", ".gtiff", ".geotiff")


class TerrazzoBackendEntrypoint(BackendEntrypoint):
    """Opens GeoTIFF files, other sources of terrazzo.open(), and open terrazzo.Datasets lazily.

    `mask_and_scale` (default) makes missing pixels NaN and applies scale and offset; `masked` only the former.
    `band_as_variable` gives one variable a band, `overview=1` the first overview, `page` another image of the file.
    `parse_coordinates=False` leaves out x and y. `device="cuda"` gives CuPy arrays, decoded on the GPU. `sidecars`,
    `filesystem` and `storage_options` are those of terrazzo.open(). `decode_coords` and `lock`, which rioxarray has, change
    nothing: spatial_ref is always a coordinate, and any number of threads may read.
    """

    description = "Open GeoTIFF files with Terrazzo"
    url = "docs/python.md"
    supports_groups = True
    open_dataset_parameters = (
        "filename_or_obj", "drop_variables", "mask_and_scale", "masked", "band_as_variable", "overview", "page",
        "parse_coordinates", "default_name", "device", "sidecars", "filesystem", "storage_options", "decode_coords", "lock",
    )  # fmt: skip

    def open_dataset(  # type: ignore[override]
        self,
        filename_or_obj: Any,
        *,
        drop_variables: str | Iterable[str] | None = None,
        mask_and_scale: bool | None = True,
        masked: bool = False,
        band_as_variable: bool = False,
        overview: int = 0,
        page: int = 0,
        parse_coordinates: bool | None = True,
        default_name: str = "band_data",
        device: str | int = "cpu",
        sidecars: bool = True,
        filesystem: Any = None,
        storage_options: Mapping[str, Any] | None = None,
        decode_coords: Any = None,
        lock: Any = None,
    ) -> xr.Dataset:
        if device != "cpu":
            check_device(device)
        source = _opened(filename_or_obj, page, sidecars, filesystem, storage_options)
        if not 0 <= overview <= len(source.overviews):
            raise UsageError(f"overview {overview} does not exist; the file has {len(source.overviews)}")
        unpack = mask_and_scale is not False
        opening = _Opening(source, overview, unpack or masked, unpack, device)
        coords = opening.coordinates(parse_coordinates is not False)
        attrs: dict[str, Any] = {}
        if band_as_variable:
            variables = {f"band_{n}": opening.variable(n) for n in range(1, source.count + 1)}
            attrs = parsed_tags(source.tags)
        else:
            variables = {default_name: opening.variable(None)}
            coords["band"] = ("band", np.arange(1, source.count + 1))
        dataset = xr.Dataset(variables, coords=coords, attrs=attrs)
        dataset.encoding["source"] = source.name
        if source is not filename_or_obj:
            dataset.set_close(source.close)
        drop = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return dataset.drop_vars(drop, errors="ignore")

    def open_groups_as_dict(self, filename_or_obj: Any, **keywords: Any) -> dict[str, xr.Dataset]:
        """A root without variables, the full resolution as group "0", and the overviews as groups "1", "2", ...

        Groups of a DataTree inherit the coordinates of their parents, so levels of different sizes are siblings.
        """
        if keywords.pop("overview", 0):
            raise UsageError("overviews are the groups of the tree; `overview` selects one for open_dataset()")
        stores = keywords.pop("filesystem", None), keywords.pop("storage_options", None)
        source = _opened(filename_or_obj, keywords.pop("page", 0), keywords.pop("sidecars", True), *stores)
        root = xr.Dataset(attrs=parsed_tags(source.tags))
        if source is not filename_or_obj:
            root.set_close(source.close)
        levels = range(len(source.overviews) + 1)
        return {"/": root, **{f"/{level}": self.open_dataset(source, overview=level, **keywords) for level in levels}}

    def open_datatree(self, filename_or_obj: Any, **keywords: Any) -> xr.DataTree:  # type: ignore[override]
        groups = self.open_groups_as_dict(filename_or_obj, **keywords)
        tree = xr.DataTree.from_dict(groups)
        for path, group in groups.items():
            tree[path].set_close(group._close)
        return tree

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        return os.fspath(filename_or_obj).lower().endswith(_SUFFIXES)


def _opened(source: Any, page: int, sidecars: bool, filesystem: Any, storage_options: Any) -> Dataset:
    if not isinstance(source, Dataset):
        return open(source, page=page, sidecars=sidecars, filesystem=filesystem, storage_options=storage_options)
    if page != 0 or not sidecars or filesystem is not None or storage_options:
        raise UsageError("the dataset is open already; pass page, sidecars and the place of the file to terrazzo.open()")
    return source


class _Opening:
    """Makes the variables of one level of a raster."""

    def __init__(self, source: Dataset, overview: int, masked: bool, unpack: bool, device: str | int):
        self.source, self.overview, self.masked, self.unpack, self.device = source, overview, masked, unpack, device
        self.transform = level_transform(source, overview)

    def variable(self, number: int | None) -> xr.Variable:
        """Of one band, or of all."""
        source = self.source
        numbers = list(range(1, source.count + 1)) if number is None else [number]
        packing, decoding = self._packing(numbers)
        array = RasterArray(source, self.overview, number, decoding, self.device)
        attrs = band_attributes(source, numbers, all_bands=number is None)
        chunks = preferred_chunks(source, self.overview, array.dtype)
        if number is not None:
            del chunks["band"]
        encoding: dict[str, Any] = {"source": source.name, "grid_mapping": "spatial_ref", "preferred_chunks": chunks}
        kept = {name for name in packing if (self.masked if name == "_FillValue" else self.unpack)}
        attrs |= {name: value for name, value in packing.items() if name not in kept}
        encoding |= {name: packing[name] for name in kept}
        if decoding is None or "_FillValue" in packing and not {"scales", "offsets"} & kept:
            encoding["dtype"] = source.dtype  # what is written by to_netcdf() and .rio.to_raster(): the stored values
        dims = ("band", "y", "x") if number is None else ("y", "x")
        return xr.Variable(dims, indexing.LazilyIndexedArray(array), attrs, encoding)

    def _packing(self, numbers: list[int]) -> tuple[dict[str, Any], Decoding | None]:
        """(nodata, scale and offset in CF's names, or rioxarray's if bands differ; what decoding has to do)."""
        bands, stored = [self.source.bands[number - 1] for number in numbers], self.source.dtype
        packing: dict[str, Any] = {}
        nodata = bands[0].nodata
        if nodata is not None and _fits(nodata, stored):
            packing["_FillValue"] = stored.type(nodata)
        scales, offsets = tuple(band.scale for band in bands), tuple(band.offset for band in bands)
        is_packed = any(scale != 1 for scale in scales) or any(offset != 0 for offset in offsets)
        if is_packed:
            same_scale, same_offset = len(set(scales)) == 1, len(set(offsets)) == 1
            packing |= {"scale_factor": scales[0]} if same_scale else {"scales": scales}
            packing |= {"add_offset": offsets[0]} if same_offset else {"offsets": offsets}
        missing = self.masked and any(_has_missing(band, stored) for band in bands)
        unpack = self.unpack and is_packed
        if not missing and not unpack:
            return packing, None
        return packing, Decoding(missing, unpack, _float_of(stored, unpack))

    def coordinates(self, parse: bool) -> dict[str, Any]:
        """x and y of pixel centres, and the grid mapping. Rasters with GCPs or RPCs have no x and y."""
        source = self.source
        coords: dict[str, Any] = {"spatial_ref": xr.Variable((), 0, spatial_ref(source, self.transform))}
        if parse and not source.gcps and not source.rpcs:
            coords |= centres(self.transform, *level_shape(source, self.overview))
        return coords


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    if dtype.kind in "fc":
        return True
    limits = np.iinfo(dtype)
    return float(value).is_integer() and limits.min <= value <= limits.max


def _has_missing(band: Any, dtype: np.dtype[Any]) -> bool:
    """Whether reading with `masked` changes pixels of the band."""
    if band.mask == "nodata":
        return _fits(band.nodata, dtype) and band.nodata == band.nodata
    return band.mask != "all_valid"


def _float_of(stored: np.dtype[Any], unpack: bool) -> np.dtype[Any]:
    """The type of decoded values by xarray's rules: a masked int16 is float32, scaled values are float64."""
    if stored.kind == "c":
        return stored
    if unpack or (stored.kind in "iu" and stored.itemsize > 2):
        return np.dtype(np.float64)
    return np.dtype(np.float32) if stored.kind in "iu" else stored
