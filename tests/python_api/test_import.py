# SPDX-License-Identifier: Apache-2.0
"""`import terrazzo` costs numpy and little else. Modules are counted, because times on a busy machine prove nothing."""
import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
import numpy
before = set(sys.modules)
import terrazzo
print(json.dumps(sorted(set(sys.modules) - before)))
"""


@pytest.fixture(scope="module")
def added():
    """The modules that terrazzo imports and numpy does not, in a new process."""
    return json.loads(subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("package", ["xarray", "dask", "pyproj", "fsspec", "pandas", "cupy", "torch", "cuda", "obstore", "rich", "tqdm"])
def test_optional_packages_are_not_imported(added, package):
    assert package not in {name.split(".")[0] for name in added}


def test_few_modules_are_imported(added):
    own = [name for name in added if name.split(".")[0] == "terrazzo"]
    others = [name for name in added if name not in own]
    assert len(own) <= 30, own
    assert len(others) <= 40, others  # of the standard library
