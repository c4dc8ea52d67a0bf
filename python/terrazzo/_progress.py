# SPDX-License-Identifier: Apache-2.0
"""What `progress=` takes, as a function of (done, total).

>>> lines = []
>>> heights = terrazzo.open("dem.tif").read(progress=lambda done, total: lines.append((done, total)))
>>> lines[-1]
(12, 12)
"""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol, Union

from .errors import UsageError

Function = Callable[[int, int], Any]


class Meter(Protocol):
    """An object like tqdm's."""

    total: Any

    def update(self, n: Any) -> Any: ...


Progress = Union[Function, Meter, bool]


def progress_function(progress: Any) -> Function | None:
    """The function of a value of `progress=`; the C++ module calls this."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _Bar()
    if hasattr(progress, "update") and hasattr(progress, "total"):
        return _Steps(progress)
    if callable(progress):
        return progress
    raise UsageError(
        f"progress is {type(progress).__name__}; pass True, a function of (done, total), or an object like tqdm's "
        "with `total` and update()"
    )


class _Steps:
    """Moves an object like tqdm's, which counts steps. It stays open: it belongs to the caller."""

    def __init__(self, meter: Meter):
        self.meter, self.done = meter, 0

    def __call__(self, done: int, total: int) -> None:
        if self.meter.total != total:
            self.meter.total = total
        self.meter.update(done - self.done)
        self.done = done


class _Bar:
    """A bar of rich or tqdm, or a line of text, on stderr. It begins with the first call and ends with the work."""

    def __init__(self) -> None:
        self.show: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self.show is None:
            self.show = _make_bar(total)
        self.show.move(done, total)
        if done >= total:
            self.close()

    def close(self) -> None:
        if self.show is not None:
            self.show.end()
        self.show = None

    def __del__(self) -> None:  # the work has failed or was stopped
        self.close()


def _make_bar(total: int) -> Any:
    try:
        return _RichBar(total)
    except ImportError:
        pass
    try:
        return _TqdmBar(total)
    except ImportError:
        return _TextBar()


class _RichBar:
    def __init__(self, total: int):
        from rich.console import Console
        from rich.progress import Progress

        self.bar = Progress(console=Console(stderr=True))
        self.task = self.bar.add_task("tiles", total=total)
        self.bar.start()

    def move(self, done: int, total: int) -> None:
        self.bar.update(self.task, completed=done, total=total)

    def end(self) -> None:
        self.bar.stop()


class _TqdmBar:
    def __init__(self, total: int):
        from tqdm.auto import tqdm

        self.bar = tqdm(total=total, unit="tile")
        self.steps = _Steps(self.bar)

    def move(self, done: int, total: int) -> None:
        self.steps(done, total)

    def end(self) -> None:
        self.bar.close()


class _TextBar:
    """A line that is written again whenever the percentage changes."""

    def __init__(self) -> None:
        self.shown = -1

    def move(self, done: int, total: int) -> None:
        percent = 100 * done // total if total else 100
        if percent != self.shown:
            self.shown = percent
            sys.stderr.write(f"\r{percent:3} % of {total} tiles")
            sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")
        sys.stderr.flush()
