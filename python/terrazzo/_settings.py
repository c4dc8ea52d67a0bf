# SPDX-License-Identifier: Apache-2.0
"""Settings of the process, notes of the library, and folders of NVIDIA's libraries."""
from __future__ import annotations

import importlib
import importlib.util
import logging
import site
import sys
from pathlib import Path

from . import _core
from ._fields import set_field

_LOG = logging.getLogger("terrazzo")
_DRIVER = "/proc/driver/nvidia"
_PROBED = "nvjpeg"


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
            set_field(values, name, value)
    _core.set_settings(values)


def _package_roots() -> list[str]:
    """Folders that hold the packages of this interpreter: site-packages, the user's, and those of editable installs."""
    roots = [*site.getsitepackages(), site.getusersitepackages()] if hasattr(site, "getsitepackages") else []
    return list(dict.fromkeys([*roots, *filter(None, sys.path)]))


def _namespace_folders() -> list[str]:
    """The folders of the namespace package `nvidia`, which editable installs extend by import hooks."""
    try:
        spec = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


def _pathfinder_folders() -> list[str]:
    """The folder of NVIDIA's libraries that cuda-pathfinder finds elsewhere: conda, CUDA_HOME, the system."""
    if not Path(_DRIVER).exists():  # no driver, no use: the import of this package stays quick
        return []
    try:
        pathfinder = importlib.import_module("cuda.pathfinder")
        return [str(Path(pathfinder.load_nvidia_dynamic_lib(_PROBED).abs_path).parent)]
    except Exception as error:  # the GPU is optional: the import of this package must not fail
        _LOG.debug("cuda.pathfinder: %s", error)
        return []


def _vendor_folders() -> list[str]:
    """Folders `nvidia/*/lib` of the installed NVIDIA packages, and what cuda-pathfinder knows."""
    spaces = [*(str(Path(root) / "nvidia") for root in _package_roots()), *_namespace_folders()]
    folders = [str(lib) for space in dict.fromkeys(spaces) for lib in sorted(Path(space).glob("*/lib*")) if lib.is_dir()]
    if not any(any(Path(folder).glob(f"lib{_PROBED}.so*")) for folder in folders):
        folders += _pathfinder_folders()
    return list(dict.fromkeys(folders))


# Notes that tell only how the work is done; other notes concern the pixels or the metadata of a result.
_WAYS = ("device: ", "device engine: ", "a decoder of ")


def _log(message: str) -> None:
    _LOG.log(logging.INFO if message.startswith(_WAYS) else logging.WARNING, "%s", message)


def set_up() -> None:
    """Called once, by the import of the package."""
    _core.set_log(_log)
    folders = _vendor_folders()
    if folders:
        _core.set_vendor_folders(folders)
