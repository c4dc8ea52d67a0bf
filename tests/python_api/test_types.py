# SPDX-License-Identifier: Apache-2.0
"""The typed program runs. tools/dev/test.sh checks its types, and those of the package, with mypy."""
import typed_program


def test_a_typed_program_runs(dem, tmp_path):
    text = typed_program.main(dem, tmp_path / "copy.tif")
    assert text.startswith("400 x 300, pixels of 10, EPSG 32632")
    assert text.endswith("b'PNG'")
