# SPDX-License-Identifier: Apache-2.0
"""The examples of README.md, of the pages and of the public headers compile, run, and give the right values.

An example is a ```cpp block of a page, or the indented code in the opening comment of a header. One with "..." or a kernel
launch is a sketch and is left out. EXAMPLES adds to each the names that it leaves to the reader, and the checks of its
results. Every example runs in a folder with dem.tif: int16, so that a wrong sample type shows.
"""

import dataclasses
import re

import numpy as np
import pytest
import rasterio

import harness
import package

PAGES = ["README.md", "docs/mosaic.md", "docs/sources.md", "docs/writing.md"]
NODATA = -9999
SIDE = 100


def height(row, column):
    return -3000 + 37 * row + 7 * column


@dataclasses.dataclass
class Example:
    before: str = ""
    after: str = ""
    runs: bool = True


DEM = 'terrazzo::Dataset const dem = terrazzo::open("dem.tif");\n'
FLOATS = DEM + """
terrazzo::Info const& info = dem.info();
std::uint32_t const width = info.width, height = info.height;
auto floats = terrazzo::read<float>(dem, {.dtype = terrazzo::DType::f32});
std::uint32_t next_row = 0;
auto const next_rows = [&]() -> std::optional<terrazzo::HostView> {
  if (next_row == height) { return std::nullopt; }
  return terrazzo::HostView{floats.row(next_row++).data(), terrazzo::DType::f32, 1, 1, width};
};
"""


def reads_back(path, sample="std::int16_t"):
    return f'check(terrazzo::read<{sample}>(terrazzo::open("{path}"))(0, 12, 34) == height_at(12, 34));'


TWO_TILES = Example(
    before='for (char const* name : {"west.tif", "east.tif"}) { std::filesystem::copy_file("dem.tif", name); }',
    after=reads_back("both.tif"))

EXAMPLES = {
    "array.hpp": Example(after="""check(corner == height_at(0, 0)); check(highest == height_at(99, 99));
        check(first_row.size() == 100 && first_row[7] == height_at(0, 7));"""),
    "blocks.hpp": Example(
        before='terrazzo::Dataset const dataset = terrazzo::open("dem.tif"); std::uint32_t rows = 0;\n'
               "auto const consume = [&](terrazzo::HostView const& block) { rows += block.height; };",
        after="check(rows == 100); check(buffer->view<std::int16_t>()(0, 12, 34) == height_at(12, 34));"),
    "boundless.hpp": Example(before=DEM, after="""check(heights.width() == 200 && heights.height() == 200);
        check(std::isnan(heights(0, 0, 0))); check(heights(0, 112, 134) == height_at(12, 34));"""),
    "convert.hpp": Example(before='std::filesystem::copy_file("dem.tif", "scan.tif");', after=reads_back("cog.tif")),
    "coordinates.hpp": Example(after="""auto const window = terrazzo::window_of(dem.info(), area);
        check(window.column == 8 && heights.width() == window.width && heights.height() == window.height);
        check(heights(0, 1, 2) == height_at(window.row + 1, window.column + 2));"""),
    "edit.hpp": Example(after="""terrazzo::Info const info = terrazzo::open("dem.tif").info();
        check(info.georeference.crs->epsg == 32633);""" + reads_back("dem.tif")),
    "mosaic.hpp": TWO_TILES,
    "output_file.hpp": Example(
        before='terrazzo::Picture const picture = terrazzo::make_preview(terrazzo::open("dem.tif"));',
        after='check(std::filesystem::file_size("dem.png") == png.size());'),
    "overviews.hpp": Example(after='check(terrazzo::open("dem.tif").info().overviews.size() == 3);' + reads_back("dem.tif")),
    "read.hpp": Example(after="check(std::isnan(heights(0, 5, 5))); check(heights(0, 12, 34) == height_at(12, 34));"),
    "sample.hpp": Example(before=DEM + "float used = 0; auto const use = [&](float value) { used = value; };",
                          after="check(used == height_at(98, 35));"),
    "sink.hpp": Example(
        before='auto const heights = terrazzo::read<std::int16_t>(terrazzo::open("dem.tif"));\n'
               "terrazzo::ConstHostView const pixels = heights.view(); terrazzo::WriteOptions const options;",
        after="check(terrazzo::read<std::int16_t>(terrazzo::open_memory(bytes))(0, 12, 34) == height_at(12, 34));"),
    "source.hpp": Example(
        before="""std::vector<char> const bytes = bytes_of("dem.tif");
        std::uint64_t const size_bytes = bytes.size();
        auto const read_at = [&](std::uint64_t offset_bytes, std::span<std::byte> into) -> std::size_t {
          std::memcpy(into.data(), bytes.data() + offset_bytes, into.size());
          return into.size();
        };""",
        after="check(terrazzo::read<std::int16_t>(dem)(0, 12, 34) == height_at(12, 34));"),
    "validate.hpp": Example(before='std::filesystem::resize_file("dem.tif", std::filesystem::file_size("dem.tif") / 2);',
                            after="check(!result.findings.empty());"),
    "view.hpp": Example(before="std::uint32_t const width = 100, height = 100;",
                        after='terrazzo::read_into(terrazzo::open("dem.tif"), {}, view);'
                              "check(pixels[12 * 100 + 34] == height_at(12, 34));"),
    "write.hpp": Example(before=FLOATS, after=reads_back("out.tif", "float")),
    "README.md 2": Example(before=DEM + "terrazzo::StreamView const stream; terrazzo::WriteOptions const options;",
                           runs=False),  # needs a GPU
    "docs/mosaic.md 1": TWO_TILES,
    "docs/sources.md 1": Example(
        before="""struct {
          std::vector<char> bytes = bytes_of("dem.tif");
          std::uint64_t size(int) { return bytes.size(); }
          std::size_t get(int, std::uint64_t offset_bytes, std::span<std::byte> into) {
            std::memcpy(into.data(), bytes.data() + offset_bytes, into.size());
            return into.size();
          }
        } my_client;
        int const object = 0;""",
        after="check(terrazzo::read<std::int16_t>(dem)(0, 12, 34) == height_at(12, 34));"),
    "docs/writing.md 1": Example(before=FLOATS + "terrazzo::Dataset const& source = dem;",
                                 after=reads_back("dem.tif", "float")),
}

PROLOGUE = """
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>
namespace {
#define check(condition) \\
  ((condition) ? void() : (std::fprintf(stderr, "%s:%d: %s\\n", __FILE__, __LINE__, #condition), std::exit(1)))
[[maybe_unused]] int height_at(std::uint32_t row, std::uint32_t column) {
  return -3000 + 37 * static_cast<int>(row) + 7 * static_cast<int>(column);
}
[[maybe_unused]] std::vector<char> bytes_of(char const* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
}
"""


def is_sketch(code):
    return "..." in code or "<<<" in code


def page_blocks(page):
    text = (harness.ROOT / page).read_text()
    return {f"{page} {i}": block for i, block in enumerate(re.findall(r"^```cpp\n(.*?)^```", text, re.S | re.M), 1)}


def header_blocks():
    found = {}
    for path in sorted((harness.ROOT / "include/terrazzo").glob("*.hpp")):
        opening = path.read_text().split("#pragma once")[0]
        for block in re.findall(r"(?<=^//\n)((?://   .*\n)+)", opening, re.M):
            if "terrazzo::" in block:
                found[path.name] = re.sub("^//   ", "", block, flags=re.M)
    return found


def examples():
    found = header_blocks()
    for page in PAGES:
        found.update(page_blocks(page))
    return {name: code for name, code in found.items() if not is_sketch(code)}


def is_program(code):
    return "int main(" in code


def test_every_example_is_known():
    fragments = {name for name, code in examples().items() if not is_program(code)}
    assert fragments == set(EXAMPLES)
    assert [name for name, code in examples().items() if is_program(code)] == ["README.md 1"]


def write_dem(path, side=SIDE):
    rows, columns = np.mgrid[0:side, 0:side]
    pixels = np.clip(height(rows, columns), -32000, 32000).astype(np.int16)
    pixels[5, 5] = NODATA
    with rasterio.open(path, "w", driver="GTiff", width=side, height=side, count=1, dtype="int16", nodata=NODATA,
                       crs="EPSG:32632", transform=rasterio.Affine(10, 0, 500000, 0, -10, 4200000)) as out:
        out.write(pixels, 1)
    return pixels


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    return package.install(tmp_path_factory.mktemp("package") / "usr")


@pytest.fixture(scope="module")
def program(prefix, tmp_path_factory):
    """All fragments, each a function of one program that takes its name: one compilation."""
    headers = "".join(f"#include <terrazzo/{path.name}>\n" for path in sorted((prefix / "include/terrazzo").iterdir()))
    functions, cases = "", ""
    for index, (name, code) in enumerate(sorted(examples().items())):
        if is_program(code):
            continue
        example = EXAMPLES.get(name, Example(runs=False))
        functions += (f'\n[[maybe_unused]] static void example_{index}() {{\n{example.before}\n#line 1 "{name}"\n{code}\n'
                      f"{example.after}\n}}\n")
        if example.runs:
            cases += f'  if (name == "{name}") {{ example_{index}(); return 0; }}\n'
    folder = tmp_path_factory.mktemp("examples")
    (folder / "examples.cpp").write_text(headers + PROLOGUE + functions + "int main(int, char** argv) {\n"
                                         "  std::string const name = argv[1];\n" + cases + "  return 3;\n}\n")
    package.build_program(prefix, folder / "examples.cpp", folder / "examples")
    return folder / "examples"


def test_the_examples_give_the_right_values(program, tmp_path):
    for name, example in EXAMPLES.items():
        if not example.runs:
            continue
        folder = tmp_path / name.replace("/", "_")
        folder.mkdir()
        write_dem(folder / "dem.tif")
        package.run(program, name, cwd=folder)


def test_the_program_of_the_readme_prints_the_highest_pixel_of_an_int16_file(prefix, tmp_path):
    (tmp_path / "main.cpp").write_text(examples()["README.md 1"])
    package.build_program(prefix, tmp_path / "main.cpp", tmp_path / "main")
    (tmp_path / "out/demo").mkdir(parents=True)
    pixels = write_dem(tmp_path / "out/demo/terrain.tif", 1600)
    highest = pixels[1024:1536, 1024:1536].max()
    assert package.run(tmp_path / "main", cwd=tmp_path) == f"512 x 512 pixels, highest {highest}\n"
