# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
pytest.register_assert_rewrite("pixels", "verdicts", "random_checks")  # their asserts tell what they compared

import harness  # noqa: E402  (needs the path above)

# Gathered from the tests' reports, so that it also works when pytest-xdist runs them in other processes.
notes = []
peaks = []


def pytest_configure(config):
    config.addinivalue_line("markers", "corpus: needs the corpus of real files")


def pytest_sessionstart(session):
    if not harness.BINARY.is_file() and not session.config.option.collectonly:
        pytest.exit(f"there is no binary {harness.BINARY}: build it, or set TERRAZZO_BIN", returncode=4)


@pytest.fixture
def note(record_property):
    """note(text): a line for the end of the run, for figures that a passing test found."""
    return lambda text: record_property("note", text)


@pytest.fixture
def note_peak(record_property):
    """note_peak(bytes, what): the largest of all is printed at the end of the run."""
    return lambda size_bytes, what: record_property("peak", [size_bytes, what])


def pytest_runtest_logreport(report):
    if report.when == "call":
        notes.extend(value for key, value in report.user_properties if key == "note")
        peaks.extend(value for key, value in report.user_properties if key == "peak")


def pytest_terminal_summary(terminalreporter):
    if peaks:
        size_bytes, what = max(peaks)
        terminalreporter.write_line(f"{len(peaks)} bad files, peak memory {size_bytes / 2**20:.0f} MiB: {what}")
    for line in notes:
        terminalreporter.write_line(line)
