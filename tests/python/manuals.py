# SPDX-License-Identifier: Apache-2.0
"""Shows manual pages, also on systems whose `man` is a stub, as in containers."""

import functools
import shutil
import subprocess


@functools.cache
def man_works():
    if shutil.which("man") is None:
        return False
    told = subprocess.run(["man", "--version"], capture_output=True, text=True)
    return told.returncode == 0 and "minimized" not in told.stdout + told.stderr


def command_for(path):
    """The words that format a page of a file; None where nothing can."""
    if man_works():
        return ["man", "--warnings", "-P", "cat", "-l", str(path)]
    return ["groff", "-man", "-ww", "-Tutf8", "-P-c", str(path)] if shutil.which("groff") else None
