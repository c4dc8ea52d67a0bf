# SPDX-License-Identifier: Apache-2.0
"""Settings of the process, notes of the library, and folders of NVIDIA's libraries."""
from __future__ import annotations

import logging
import site
import sys
from pathlib import Path

from . import _core

_LOG = logging.getLogger("terrazzo")


def configure(
    *,
    threads: int | None = None,
    memory_limit_bytes: int | None = None,
    tile_cache_bytes: int | None = None,
    device_budget_bytes: int | None = None,
    device_guard_s: float | None = None,
) -> None:
    """Sets defaults of this process: docs/settings.md. What is None stays as it is.

    >>> terrazzo.configure(tile_cache_bytes=256 << 20)
    """
    values = _core.settings()
    given = {
        "threads": threads,
        "memory_limit_bytes": memory_limit_bytes,
        "tile_cache_bytes": tile_cache_bytes,
        "device_budget_bytes": device_budget_bytes,
        "device_guard_s": device_guard_s,
    }
    for name, value in given.items():
        if value is not None:
            setattr(values, name, value)
    _core.set_settings(values)


def _vendor_folders() -> list[str]:
    """Folders `nvidia/*/lib` of the installed NVIDIA packages of this interpreter."""
    roots = [*site.getsitepackages(), site.getusersitepackages()] if hasattr(site, "getsitepackages") else sys.path
    return [str(lib) for root in roots for lib in sorted(Path(root).glob("nvidia/*/lib*")) if lib.is_dir()]


def set_up() -> None:
    """Called once, by the import of the package."""
    _core.set_log(_LOG.info)
    folders = _vendor_folders()
    if folders:
        _core.set_vendor_folders(folders)
