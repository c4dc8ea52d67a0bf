#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tree against the rules that no compiler checks. Standard library only; prints one PASS or FAIL a rule.

The table of allowed includes is that of docs/architecture.md; the rest is the house style.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

GPU = [f"gpu/{name}" for name in ("runtime", "transfer", "decode", "encode", "place", "reduce", "vendor")]
# folder: the folders of src/ whose headers it may include, besides its own and the public ones (terrazzo/...).
MAY_INCLUDE = {
    "base": [],
    "tiff": ["base"],  # knows the ByteSource interface, never io
    "geo": ["base", "tiff"],
    "tile": ["base", "tiff"],
    "coding": ["base", "tiff", "tile"],
    "codec": ["base", "tiff", "tile", "coding"],
    "gpu/runtime": ["base", "tiff"],
    "gpu/transfer": ["base", "tiff", "tile", "gpu/runtime"],
    "gpu/decode": ["base", "tiff", "tile", "coding", "gpu/runtime", "gpu/transfer"],
    "gpu/encode": ["base", "tiff", "tile", "coding", "gpu/runtime", "gpu/transfer"],
    "gpu/place": ["base", "tiff", "tile", "gpu/runtime", "gpu/transfer"],
    "gpu/reduce": ["base", "tiff", "tile", "gpu/runtime", "gpu/transfer"],
    "gpu/vendor": ["base", "tiff", "tile", "coding", "gpu/runtime"],
    "io": ["base", "gpu/runtime"],
    "read": ["base", "tiff", "geo", "tile", "coding", "codec", "io", *GPU],
    "write": ["base", "tiff", "geo", "tile", "coding", "codec", "io", *GPU],
    "ops": ["base", "tiff", "tile", "read", "write"],  # tiff: validate judges directories and tile indexes themselves
}
# Front ends: public headers and their own.
FRONT_ENDS = ["cli", "bench", "examples", "python"]

# Sources that need no test file of their own, and why.
NO_TEST_NEEDED = {
    "src/tile/host/undo_float_predictor.cpp": "implements predictor 3 of undo_predictor.hpp; undo_predictor_test.cpp has its tests",
}

# Sources and headers of one folder: more hide the structure.
MAX_FILES = 30

# Files that may be longer than MAX_LINES, and why.
MAX_LINES = 600
MAY_BE_LONG = {}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
CUDA_HEADER = re.compile(r"^(cuda|cub/|thrust/|nvcomp|nvjpeg|nvtiff|cufile|kvikio|rmm/)|\.cuh$")
CODE = {".hpp", ".cpp", ".cu", ".cuh"}
# A codec by name. Only src/codec, whose table has a row for each, and src/tiff, which gives numbers their names, may.
CODEC_NAME = re.compile(r"\bCompression::[a-z]|\busing enum (\w+::)*Compression\b")
KNOW_CODECS = ("src/codec/", "src/tiff/")
# A device method by name, except raw samples and the host. These files turn a method into a kernel, a library, its
# limits or its speed (docs/architecture.md, "Adding a codec").
DEVICE_METHOD = re.compile(r"\bDeviceMethod::(?!host\b|raw\b)[a-z]|\busing enum (\w+::)*DeviceMethod\b"
                           r"|\bKind::(lzw|packbits|deflate|zstd|jpeg|jpeg2000)\b")
KNOW_DEVICE_METHODS = tuple("src/" + name for name in (
    "codec/", "read/plan/device_method.cpp", "read/plan/engine_choice.cpp", "read/device/batch_plan.cpp",
    "read/device/decoders.cpp", "read/device/work.cpp", "write/device/encoder.cpp"))
MAX_MARKDOWN = 140
FILE_NAME = re.compile(r"[\w/-]+\.(?:hpp|cpp|cuh?|md)\b")
OPTION_IN_STRING = re.compile(r'"(?:[^"]*[ (`])?--[a-z]')
# Paths of somebody's machine have no place in the tree.
LOCAL_PATH = re.compile(r"(?<![\w.$}])/(work|root|home/\w+)/")


def files(*folders, suffixes=CODE):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes and path.is_file():
                yield path.relative_to(ROOT)


def lines_of(path):
    return (ROOT / path).read_text(encoding="utf-8").splitlines()


def includes(path):
    for number, line in enumerate(lines_of(path), 1):
        if match := INCLUDE.match(line):
            yield number, match[1] or match[2], match[1] is not None


def folder_of(parts):
    """('gpu', 'kernels', 'lzw.hpp') -> 'gpu/kernels'; ('tiff', 'ifd.hpp') -> 'tiff'; None when it is no folder of src/."""
    for depth in (2, 1):
        if (name := "/".join(parts[:depth])) in MAY_INCLUDE and len(parts) > depth:
            return name
    return None


def check_layers():
    for path in files("src"):
        own = folder_of(path.parts[1:])
        if own is None:
            yield f"{path}: {path.parts[1]} is not in the table of {Path(__file__).name}"
            continue
        for line, target, quoted in includes(path):
            if target.startswith("terrazzo/") or not quoted:
                continue
            other = folder_of(Path(target).parts)
            if other is None:
                yield f'{path}:{line}: "{target}" is not relative to src/ or include/'
            elif other != own and other not in MAY_INCLUDE[own]:
                yield f"{path}:{line}: {own} may not include {other} ({target})"


def check_public_headers():
    for path in files("include"):
        for line, target, quoted in includes(path):
            if CUDA_HEADER.search(target):
                yield f"{path}:{line}: a public header needs no CUDA ({target})"
            elif quoted and not target.startswith("terrazzo/"):
                yield f"{path}:{line}: a public header includes only public ones ({target})"
            elif quoted and not (ROOT / "include" / target).is_file():
                yield f"{path}:{line}: {target} does not exist"


def check_exports():
    """Everything else is hidden in the shared library."""
    for path in files("include"):
        text = "\n".join(lines_of(path))
        if (text.count("#pragma GCC visibility push(default)\nnamespace terrazzo {") != 1
                or text.count("}  // namespace terrazzo\n#pragma GCC visibility pop") != 1):
            yield f"{path}: the namespace of a public header stands between #pragma GCC visibility push(default) and pop"


def check_front_ends():
    for path in files(*FRONT_ENDS):
        for line, target, quoted in includes(path):
            in_src = (ROOT / "src" / target).is_file() and not (ROOT / path.parts[0] / target).is_file()
            if quoted and not target.startswith("terrazzo/") and (in_src or ".." in target):
                yield f"{path}:{line}: {path.parts[0]} includes only public headers and its own ({target})"


def check_tests_exist():
    for path in files("src", suffixes={".cpp", ".cu"}):
        test = Path("tests", *path.parts[1:-1], path.stem + "_test.cpp")
        if not (ROOT / test).is_file() and str(path) not in NO_TEST_NEEDED:
            yield f"{path} has no {test}"
    for stale in NO_TEST_NEEDED:
        if not (ROOT / stale).is_file():
            yield f"{stale} is excused from having a test, but does not exist"


def check_cmake_lists():
    def unlisted(paths, lists_in, base=None):
        """Files that no CMake file of these folders names, by their path from the folder of the list."""
        for path in paths:
            for folder in map(Path, lists_in):
                text = "".join(f.read_text(encoding="utf-8") for f in (ROOT / folder).glob("*")
                               if f.name == "CMakeLists.txt" or f.suffix == ".cmake")
                origin = base or folder
                if path.is_relative_to(origin) and str(path.relative_to(origin)) in re.findall(r"\w[\w./-]*", text):
                    break
            else:
                yield f"{path} is not listed in the CMake files of {' or '.join(map(str, lists_in))}"

    for path in files("src", suffixes={".cpp", ".cu"}):
        yield from unlisted([path], [Path(*path.parts[:2])])
    yield from unlisted(files("include"), ["src"], base=Path("include/terrazzo"))
    for path in files("tests", suffixes={".cpp"}):
        yield from unlisted([path], ["tests", Path(*path.parts[:2]), path.parent])
    yield from unlisted(files("cli", suffixes={".cpp"}), ["cli"])
    yield from unlisted(files("bench", suffixes={".cpp"}), ["bench"])
    yield from unlisted(files("python", suffixes={".cpp"}), ["python"])


def our_text_files():
    yield from files("src", "include", "cli", "python", "bench", "examples", "tests", "tools", "cmake",
                     suffixes=CODE | {".py", ".sh", ".cmake"})
    yield from files("src", "cli", "bench", "examples", "python", "tests", suffixes={".txt"})
    yield from (Path(name) for name in ("CMakeLists.txt", "dev", ".ci/run") if (ROOT / name).is_file())


def check_spdx():
    for path in our_text_files():
        if path.suffix == ".txt" and path.name != "CMakeLists.txt":
            continue
        head = lines_of(path)[:2]  # a script has its interpreter first
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in head):
            yield f"{path} does not begin with the SPDX line"
    for path in files("src", "include", "cli", "python", suffixes={".hpp", ".cuh"}):
        if "#pragma once" not in lines_of(path):
            yield f"{path} has no #pragma once"


def check_lengths():
    for path in our_text_files():
        if (count := len(lines_of(path))) > MAX_LINES and str(path) not in MAY_BE_LONG:
            yield f"{path} has {count} lines, more than {MAX_LINES}: split it, or say in {Path(__file__).name} why not"


def check_folder_sizes():
    for top in ("src", "cli", "include", "python"):
        for folder in sorted({path.parent for path in files(top)}):
            count = sum(1 for path in (ROOT / folder).iterdir() if path.suffix in CODE)
            if count > MAX_FILES:
                yield f"{folder} has {count} sources and headers, more than {MAX_FILES}: divide it by subject"


def check_local_paths():
    for path in our_text_files():
        if path.name == Path(__file__).name:
            continue
        for number, line in enumerate(lines_of(path), 1):
            if LOCAL_PATH.search(line):
                yield f"{path}:{number}: a path of one machine"


def check_codec_names():
    for path in files("src", "cli"):
        if str(path).startswith(KNOW_CODECS):
            continue
        for number, line in enumerate(lines_of(path), 1):
            if CODEC_NAME.search(line):
                yield f"{path}:{number}: names a codec; ask its row (src/codec/registry/codec.hpp)"
    for path in files("src", "cli"):
        if not str(path).startswith(KNOW_DEVICE_METHODS):
            for number, line in enumerate(lines_of(path), 1):
                if DEVICE_METHOD.search(line):
                    yield f"{path}:{number}: names a device method; only {len(KNOW_DEVICE_METHODS) - 1} files may"


def check_option_names():
    """Callers of the library have fields, not options: cli/output/option_names.cpp translates the one into the other."""
    for path in files("src"):
        for number, line in enumerate(lines_of(path), 1):
            if OPTION_IN_STRING.search(line.split("//")[0]):
                yield f"{path}:{number}: a text of the library names an option of the command line"


def check_names_in_comments():
    """A reader who follows a file name in a comment must find the file."""
    folders = ("src", "include", "cli", "tests", "bench", "examples")
    known = {p.name for folder in (*folders, "docs", "plugins") for p in (ROOT / folder).rglob("*.*")}
    for path in files(*folders):
        for number, line in enumerate(lines_of(path), 1):
            for name in FILE_NAME.findall(line.partition("//")[2]):
                if Path(name).name not in known:
                    yield f"{path}:{number}: names {name}, which does not exist"


def check_markdown():
    for path in sorted(p.relative_to(ROOT) for p in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]):
        for number, line in enumerate(lines_of(path), 1):
            if len(line) > MAX_MARKDOWN:
                yield f"{path}:{number}: {len(line)} characters, more than {MAX_MARKDOWN}"


RULES = [
    ("folders include only what docs/architecture.md lets them", check_layers),
    ("public headers stand alone and need no CUDA", check_public_headers),
    ("public headers export their names from the shared library", check_exports),
    ("front ends include public headers and their own", check_front_ends),
    ("every source has a test file", check_tests_exist),
    ("every source is listed in CMake", check_cmake_lists),
    ("every file has its SPDX line, every header its guard", check_spdx),
    (f"no file is longer than {MAX_LINES} lines", check_lengths),
    (f"no folder has more than {MAX_FILES} sources and headers", check_folder_sizes),
    ("only codec and tiff name codecs", check_codec_names),
    ("no paths of one machine", check_local_paths),
    (f"no line of Markdown is longer than {MAX_MARKDOWN} characters", check_markdown),
    ("comments name files that exist", check_names_in_comments),
    ("texts of the library name no options of the command line", check_option_names),
]


def main():
    failed = False
    for name, check in RULES:
        problems = list(check())
        failed = failed or bool(problems)
        print(f"{'FAIL' if problems else 'PASS'} {name}")
        for problem in problems:
            print(f"     {problem}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
