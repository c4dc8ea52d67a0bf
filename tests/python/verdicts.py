# SPDX-License-Identifier: Apache-2.0
"""What `terrazzo validate` and GDAL's validator (full check) say of files.

GDAL's validator is a Python script of GDAL's own bindings, which the tests' environment does not have; Debian's python3-gdal
(a dependency of gdal-bin) does, so the system's interpreter runs it.
"""

import functools
import json
import shutil
import subprocess
import sys

import harness
import pytest

# Prints {path: {"errors": [...]} or {"exception": text}} for the paths on standard input.
ORACLE = """
import json, sys
from osgeo import gdal
from osgeo_utils.samples.validate_cloud_optimized_geotiff import validate
gdal.UseExceptions()
answers = {}
for line in sys.stdin:
    path = line.rstrip("\\n")
    try:
        warnings, errors, _ = validate(path, full_check=True)
        answers[path] = {"errors": errors[:10], "warnings": warnings}
    except Exception as error:
        answers[path] = {"exception": f"{type(error).__name__}: {error}"}
json.dump(answers, sys.stdout)
"""


@functools.cache
def oracle_python():
    for python in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        probe = "import osgeo_utils.samples.validate_cloud_optimized_geotiff"
        if python and subprocess.run([python, "-c", probe], capture_output=True).returncode == 0:
            return python
    return None


def gdal_verdicts(paths):
    if oracle_python() is None:
        pytest.skip("NO ORACLE: GDAL's validator was not found (Debian: python3-gdal); agreement was NOT tested")
    done = subprocess.run([oracle_python(), "-c", ORACLE], input="\n".join(map(str, paths)) + "\n", text=True,
                          capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout)


def our_verdicts(paths, *options):
    """One process for all; {path: result}."""
    paths = [str(path) for path in paths]
    result = harness.run("validate", "--json", *options, *paths, timeout=120)
    assert result.code in (harness.OK, harness.MALFORMED), str(result)
    answers = result.json()
    return dict(zip(paths, answers if len(paths) > 1 else [answers]))


def rules(verdict, severity="error", known=None):
    return {f["rule"] for f in verdict["findings"]
            if f["severity"] == severity and (known is None or f["known_to_gdal"] == known)}


def is_invalid(gdal):
    return "exception" in gdal or bool(gdal["errors"])


def disagreement(path, gdal, ours):
    """A text when GDAL and those of our findings that we say GDAL has too differ about the file."""
    if is_invalid(gdal) == bool(rules(ours, known=True)):
        return None
    # Not a rule of the validator: its library fails, or does not, before the first.
    if "Failed to read directory" in gdal.get("exception", "") and "chain-broken" in rules(ours):
        return None
    return f"{path}\n  GDAL: {gdal}\n  ours: {[f['rule'] + ': ' + f['message'] for f in ours['findings']]}"
