# SPDX-License-Identifier: Apache-2.0
"""longest_functions.py [COUNT]: the longest C++ and CUDA functions of src/ and cli/, and how many lines functions have.

A function is a definition in clang-format's layout: a line with a parameter list that ends in "{", up to the line with
the matching brace. Lambdas count as lines of their function.
"""

import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUFFIXES = {".hpp", ".cpp", ".cu", ".cuh"}
NO_FUNCTION = re.compile(r"^\s*(if|for|while|switch|do|else|catch|try|return|namespace|class|struct|enum|union|using|#|//)\b")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")
STRINGS = re.compile(r"'(\\.|[^'\\])'|\"(\\.|[^\"\\])*\"|//.*")


def functions(path):
    """(lines, name) of each function of a file."""
    text = [STRINGS.sub('""', line) for line in path.read_text(encoding="utf-8").splitlines()]
    line = 0
    while line < len(text):
        first = line
        head = text[line]
        while "(" in head and head.rstrip()[-1:] in ",(:&" and line + 1 < len(text):  # parameters on several lines
            line += 1
            head += " " + text[line].strip()
        indent = len(head) - len(head.lstrip())
        name = NAME.search(head)
        is_function = name and indent <= 2 and "{" in head and not NO_FUNCTION.match(head) and " = [" not in head
        if is_function and re.search(r"\)[^;]*\{", head):
            depth = head.count("{") - head.count("}")
            while depth > 0 and line + 1 < len(text):
                line += 1
                depth += text[line].count("{") - text[line].count("}")
            yield line - first + 1, name[1]
        line += 1


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    found = [(lines, name, path.relative_to(ROOT)) for folder in ("src", "cli")
             for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES
             for lines, name in functions(path)]
    found.sort(key=lambda item: (-item[0], item[1]))
    lengths = [lines for lines, _, _ in found]
    print(f"{len(found)} functions, median {statistics.median(lengths):.0f} lines, {sum(n > 60 for n in lengths)} over 60")
    for lines, name, path in found[:count]:
        print(f"{lines:5} {name} ({path})")


if __name__ == "__main__":
    main()
