# SPDX-License-Identifier: Apache-2.0
"""`open_geotiff` and `to_geotiff`: the names, arguments and attributes of `xrspatial.geotiff`, on Terrazzo's engine.

>>> da = terrazzo.open_geotiff("dem.tif", window=(0, 0, 50, 60))
>>> da.dims, da.shape, da.attrs["crs"], da.attrs["georef_status"]
(('y', 'x'), (50, 60), 32632, 'full')
>>> terrazzo.to_geotiff(da, "copy.tif", compression="deflate")
'copy.tif'
"""
from __future__ import annotations

import warnings
from typing import Any

from . import compat
from ._geotiff import accessor
from ._geotiff.read import open_geotiff
from ._geotiff.write import to_geotiff
from .compat import *  # noqa: F403  (names are found beside the functions, as in xrspatial.geotiff)

accessor.register()


def plot_geotiff(da: Any, **keywords: Any) -> Any:
    """Deprecated: `da.plot()`."""
    warnings.warn("plot_geotiff is deprecated; use da.plot()", DeprecationWarning, stacklevel=2)
    return da.plot(**keywords)


_INTERNAL = ("ATTRS_CONTRACT", "MalformedError")
__all__ = ["open_geotiff", "to_geotiff", *(name for name in vars(compat) if name[0].isupper() and name not in _INTERNAL)]
