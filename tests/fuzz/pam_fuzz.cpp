// SPDX-License-Identifier: Apache-2.0
//
// Any text as the .aux.xml file of a small raster, and as its world file and ArcGIS metadata.
#include "geo/describe.hpp"
#include "geo/metadata/utf8.hpp"
#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace terrazzo;
  static tiff::Directory const kDirectory = testing::TiffBuilder().shorts(tiff::tag::ImageWidth, {2}).directory();
  std::string const text(reinterpret_cast<char const*>(data), size);
  Info info;
  info.width = info.height = 2;
  info.bands.resize(2);
  info.bands[0].dtype = DType::i64;
  info.bands[1].dtype = DType::f32;
  MemoryBudget budget(std::uint64_t{1} << 40);  // the fuzzer has a limit of its own
  geo::describe(kDirectory, {.pam_xml = text, .world_file = text, .esri_xml = text}, info, budget);
  for (auto const& band : info.bands) {
    if (!geo::is_utf8(band.description) || !geo::is_utf8(band.unit)) { __builtin_trap(); }
  }
  return 0;
}
