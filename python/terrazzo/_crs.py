# SPDX-License-Identifier: Apache-2.0
"""Coordinate reference systems.

The library reads EPSG codes, and WKT and PROJJSON that a file stores, by itself. Names, and WKT of an EPSG code, come
from PROJ if it is installed on the system, else from pyproj if that is installed.
"""
from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

from . import _core
from .errors import UnsupportedError, UsageError


class Crs:
    """A coordinate reference system.

    >>> crs = Crs("EPSG:32632")
    >>> crs.epsg, str(crs)
    (32632, 'EPSG:32632')
    >>> crs == 32632
    True
    """

    _detail: Callable[[], _core.Crs | None]

    def __init__(self, definition: Any):
        self._core = self._detailed = core_crs(definition)

    @classmethod
    def _of(cls, core: _core.Crs, detail: Callable[[], _core.Crs | None]) -> Crs:
        """`detail` returns the CRS with the fields that need PROJ's database, which takes milliseconds."""
        self = cls.__new__(cls)
        self._core = core
        self._detail = detail
        return self

    @functools.cached_property
    def _detailed(self) -> _core.Crs:
        return self._detail() or self._core

    @property
    def epsg(self) -> int | None:
        """The EPSG code of the whole CRS, if it has one."""
        return self._core.epsg if self._core.epsg is not None else self._detailed.epsg

    @property
    def vertical_epsg(self) -> int | None:
        return self._core.vertical_epsg

    @property
    def kind(self) -> str:
        """'projected', 'geographic', 'geocentric', 'compound', 'vertical', 'local' or 'unknown'."""
        return self._core.kind if self._core.kind != "unknown" else self._detailed.kind

    @property
    def is_geographic(self) -> bool:
        return self.kind == "geographic"

    @property
    def is_projected(self) -> bool:
        return self.kind == "projected"

    @functools.cached_property
    def name(self) -> str:
        return self._detailed.name or self._from_pyproj("name")

    @functools.cached_property
    def wkt(self) -> str:
        """WKT 2 (2019)."""
        return self._detailed.wkt or self._from_pyproj("to_wkt")

    @functools.cached_property
    def projjson(self) -> str:
        return self._detailed.projjson or self._from_pyproj("to_json")

    def _from_pyproj(self, what: str) -> str:
        try:
            import pyproj
        except ImportError:
            raise UnsupportedError(
                f"the {what.removeprefix('to_')} of this CRS needs PROJ or the package pyproj; neither is installed"
            ) from None
        known = self.epsg or self._core.wkt or self._core.projjson
        if not known:
            raise UnsupportedError("the file defines the CRS by parameters, which only PROJ can read; it is not installed")
        value = getattr(pyproj.CRS.from_user_input(known), what)
        return str(value() if callable(value) else value)

    def to_epsg(self) -> int | None:
        return self.epsg

    def to_wkt(self, *_args: Any, **_kwargs: Any) -> str:
        """WKT; pyproj and rasterio call this to take the CRS over."""
        return self.wkt

    def __str__(self) -> str:
        return f"EPSG:{self.epsg}" if self.epsg is not None else self.wkt

    def __repr__(self) -> str:
        return f"Crs({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Crs):
            if not isinstance(other, (int, str)) and not hasattr(other, "to_wkt"):
                return NotImplemented
            try:
                other = Crs(other)
            except UsageError:  # no CRS, so not this one
                return False
        if self.epsg is not None or other.epsg is not None:
            return self.epsg == other.epsg
        return self.wkt == other.wkt

    def __hash__(self) -> int:
        return hash(self.epsg if self.epsg is not None else self.wkt)

    def __reduce__(self):
        return Crs, (str(self),)


def core_crs(definition: Any) -> _core.Crs:
    """From a Crs, an EPSG code, a text (code, WKT, PROJJSON, PROJ string), or an object with to_wkt()."""
    if isinstance(definition, Crs):
        return definition._core if definition._core.epsg is not None else definition._detailed
    return _core.Crs.from_text(crs_text(definition))


def crs_text(definition: Any) -> str:
    if isinstance(definition, Crs):
        return str(definition)
    if isinstance(definition, str):
        return definition
    if hasattr(definition, "to_wkt"):
        return definition.to_wkt()
    try:
        return f"EPSG:{operator.index(definition)}"
    except TypeError:
        raise UsageError(
            f"{type(definition).__name__} is not a CRS; pass an EPSG code, a text, or an object with to_wkt()"
        ) from None
