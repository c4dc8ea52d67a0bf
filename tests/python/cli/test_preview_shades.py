# SPDX-License-Identifier: Apache-2.0
"""preview --range, --gamma and --colormap: shades and colours of known values."""

import re

import harness
import numpy as np
import png
import pytest
import rasterio

# The largest difference from matplotlib's colours, of 255.
MATPLOTLIB = {"viridis": 1, "magma": 1, "inferno": 1, "plasma": 3, "cividis": 4, "turbo": 1, "gray": 0}


@pytest.fixture(scope="module")
def ramp(tmp_path_factory):
    """Values 0 to 255 in one row, as float32."""
    path = tmp_path_factory.mktemp("ramp") / "ramp.tif"
    with rasterio.open(path, "w", driver="GTiff", width=256, height=1, count=1, dtype="float32") as out:
        out.write(np.arange(256, dtype="float32").reshape(1, 1, 256))
    return path


def drawn(path, tmp_path, *options):
    out = tmp_path / "out.png"
    harness.run_ok("preview", path, "--out", out, *options)
    return png.decode(out.read_bytes())[0].astype(int)


def test_a_range_is_linear_and_clamped(ramp, tmp_path):
    shades = drawn(ramp, tmp_path, "--range", "50,150")[:, 0]
    expected = np.floor(np.clip((np.arange(256) - 50) / 100, 0, 1) * 255 + 0.5)
    assert np.array_equal(shades, expected)


def test_a_range_may_begin_below_zero(ramp, tmp_path):
    assert drawn(ramp, tmp_path, "--range", "-255,255")[:, 0].min() == 128


@pytest.mark.parametrize("gamma", ("0.5", "1", "2.2"))
def test_gamma_is_a_power_of_the_fraction(ramp, tmp_path, gamma):
    shades = drawn(ramp, tmp_path, "--range", "0,255", "--gamma", gamma)[:, 0]
    expected = (np.arange(256) / 255) ** (1 / float(gamma)) * 255
    assert np.abs(shades - expected).max() <= 0.5 + 1e-9


@pytest.mark.parametrize("name", MATPLOTLIB)
def test_colormaps_are_matplotlibs(ramp, tmp_path, name):
    matplotlib = pytest.importorskip("matplotlib", reason="no matplotlib: colormap_test.cpp has some of its colours")
    expected = np.round(matplotlib.colormaps[name](np.arange(256))[:, :3] * 255)
    colors = drawn(ramp, tmp_path, "--range", "0,255", "--colormap", name)[:, :3]
    assert np.abs(colors - expected).max() == MATPLOTLIB[name]
    reversed_colors = drawn(ramp, tmp_path, "--range", "0,255", "--colormap", name + "_r")[:, :3]
    assert np.array_equal(reversed_colors, colors[::-1])


def test_the_manual_states_the_differences():
    manual = " ".join((harness.ROOT / "docs/cli.md").read_text().split())
    [stated] = re.findall(r"the other colours are matplotlib's within (\d+)/255 \(([^)]*)\)", manual)
    exceptions = {name: int(of_255) for name, of_255 in re.findall(r"(\w+) (\d+)/255", stated[1])}
    assert exceptions == {name: most for name, most in MATPLOTLIB.items() if most > int(stated[0])}


def test_the_help_lists_every_colormap():
    text = harness.run_ok("preview", "--help").stdout.decode()
    assert all(name in text for name in (*MATPLOTLIB, "terrain"))


@pytest.mark.parametrize("options, told", (
    (["--range", "5,5"], "the range of values is two numbers, the lower first"),
    (["--range", "5"], '--range "5": expected two numbers'),
    (["--range", "1,2", "--stretch", "2,98"], "exclude each other"),
    (["--gamma", "0"], "gamma is a number above 0"),
    (["--gamma", "much"], '--gamma "much": expected a number'),
    (["--style", "hillshade", "--range", "0,9"], "a gray hillshade shows slopes"),
    (["--colormap", "jet"], 'there is no colormap "jet"; there are viridis, magma'),
    (["-scale", "0", "9"], 'type "--range 0,9"'),
))
def test_wrong_shades_are_usage(ramp, tmp_path, options, told):
    result = harness.run("preview", ramp, "--out", tmp_path / "a.png", *options)
    assert result.code == harness.USAGE
    assert told in result.stderr.decode(), str(result)
