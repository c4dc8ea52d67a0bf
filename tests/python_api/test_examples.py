# SPDX-License-Identifier: Apache-2.0
"""The examples of docstrings and pages run, with the results that they show."""
import doctest
import importlib
import importlib.util
import logging
import pkgutil
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import terrazzo

ROOT = Path(__file__).resolve().parents[2]
MODULES = [name.removeprefix("terrazzo.") for _, name, _ in pkgutil.walk_packages(terrazzo.__path__, "terrazzo.")
           if name != "terrazzo._core"]  # fmt: skip


@pytest.fixture
def in_folder(tmp_path, monkeypatch, dem):
    """Examples change the level of the logger, which other tests need as it is."""
    monkeypatch.chdir(tmp_path)
    for name in ("dem.tif", "edit.tif"):
        shutil.copy(dem, tmp_path / name)
    log = logging.getLogger("terrazzo")
    level = log.level
    yield
    log.setLevel(level)


def run(test):
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(test)
    assert results.failed == 0
    return results.attempted


@pytest.mark.parametrize("name", ["", *MODULES])
def test_docstrings_show_what_happens(name, in_folder):
    if name in ("geotiff", "xarray_engine"):
        pytest.importorskip("xarray")
    if name == "torch":
        pytest.importorskip("torch")
    module = importlib.import_module(f"terrazzo.{name}" if name else "terrazzo")
    tests = doctest.DocTestFinder().find(module, extraglobs={"terrazzo": terrazzo, "np": np})
    for test in tests:
        run(test)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/site/quickstart.md", "docs/site/recipes.md"])
def test_examples_of_pages_run(page, in_folder):
    """All blocks marked `python`, and the cells that `./dev docs` runs, except those for GPUs."""
    blocks = re.findall(r"```(?:python|\{code-cell\} python)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    names = {}
    for block in blocks:
        for package in ("xarray", "dask", "fsspec"):
            if package in block:
                pytest.importorskip(package)
        if "torch" in block and importlib.util.find_spec("torch") is None:
            continue
        if "cuda" not in block and not draws_without_a_screen(block):
            exec(compile(block, page, "exec"), names)


def draws_without_a_screen(block):
    """Pictures of the site need packages that only `./dev docs` installs, and no later block needs pictures."""
    return any(package in block and not importlib.util.find_spec(package) for package in ("matplotlib", "IPython"))
