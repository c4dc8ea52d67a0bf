# SPDX-License-Identifier: Apache-2.0
"""The installed package of the build that holds the binary under test, and programs that use it."""

import os
import pathlib
import shutil
import subprocess

import pytest

import harness

BUILD = harness.BINARY.parent


def run(*args, cwd=None, env=None):
    result = subprocess.run([str(a) for a in args], cwd=cwd, env=env, capture_output=True, text=True)
    assert result.returncode == 0, f"{' '.join(map(str, args))}\n{result.stdout}{result.stderr}"
    return result.stdout


def install(prefix):
    """Installs the build, or skips the test where the binary lies outside of one."""
    if not (BUILD / "CMakeCache.txt").is_file():
        pytest.skip("the binary lies in no build folder")
    for tool in ("cmake", "pkg-config", "g++"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")
    run("cmake", "--install", BUILD, "--prefix", prefix)
    return prefix


def pkg_config(prefix, *args):
    [file] = pathlib.Path(prefix).rglob("terrazzo.pc")
    return run("pkg-config", *args, "terrazzo", env={**os.environ, "PKG_CONFIG_PATH": str(file.parent)}).split()


def build_program(prefix, source, program):
    """Compiles a source file against the installed package, as pkg-config says."""
    flags = pkg_config(prefix, "--cflags"), pkg_config(prefix, "--libs")
    run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", *flags[0], source, *flags[1],
        "-o", program)
