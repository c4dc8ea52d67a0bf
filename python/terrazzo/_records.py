# SPDX-License-Identifier: Apache-2.0
"""Reports and descriptions of terrazzo._core: how they are printed, and how they travel to other processes.

>>> terrazzo.write("out.tif", np.zeros((16, 16), np.uint8), statistics=False)
WriteReport(tiles=1, sparse_tiles=0, ...)
>>> import pickle
>>> pickle.loads(pickle.dumps(terrazzo.stats("dem.tif")[0])).total
120000
"""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from . import _core

_CLASSES = (
    _core.BadTile, _core.BandInfo, _core.BandStatistics, _core.BandStats, _core.ConvertOutcome, _core.ConvertReport,
    _core.Crs, _core.EditReport, _core.Finding, _core.Georeference, _core.GroundControlPoint, _core.Info, _core.Layout,
    _core.MosaicReport, _core.OverviewInfo, _core.OverviewReport, _core.PageInfo, _core.ReadPlan, _core.ReadReport,
    _core.Validation, _core.ValidationRule, _core.WriteReport,
)  # fmt: skip
_LONGEST = 200  # characters of a value


class Record(SimpleNamespace):
    """The values of a report or description that came from another process."""


def _values(self: Any) -> dict[str, Any]:
    return {name: getattr(self, name) for name, member in vars(type(self)).items() if isinstance(member, property)}


def _repr(self: Any) -> str:
    texts = ((name, repr(value)) for name, value in _values(self).items())
    fields = (f"{name}={text if len(text) <= _LONGEST else text[:_LONGEST] + '...'}" for name, text in texts)
    return f"{type(self).__name__}({', '.join(fields)})"


def _make(values: dict[str, Any]) -> Record:
    return Record(**values)


def _reduce(self: Any) -> Any:
    return _make, (_values(self),)


def set_up() -> None:
    """Called once, by the import of the package."""
    for cls in _CLASSES:
        if "__repr__" not in vars(cls):
            cls.__repr__ = _repr  # type: ignore[method-assign]
        cls.__reduce__ = _reduce  # type: ignore[method-assign,assignment]
