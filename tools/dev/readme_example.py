#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints and runs the Python example of README.md in the current folder, which has the raster dem.tif."""
import re
import time
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def main():
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[1]
    print("".join(f">>> {line}\n" if line else "\n" for line in example.splitlines()), flush=True)
    start = time.perf_counter()
    exec(compile(example, README.name, "exec"), {})
    print(f"({time.perf_counter() - start:.2f} s with the import)")


if __name__ == "__main__":
    main()
