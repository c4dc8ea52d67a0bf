// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/gdal_metadata.hpp"
#include "geo/metadata/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace terrazzo;
  geo::MetadataBuilder dataset;
  std::vector<geo::MetadataBuilder> bands(3);
  std::vector<BandInfo> infos(3);
  geo::add_gdal_metadata({reinterpret_cast<char const*>(data), size}, dataset, bands, infos);
  for (auto const& [domain, items] : dataset.metadata().domains) {
    for (auto const& [key, value] : items) {
      if (!geo::is_utf8(domain) || !geo::is_utf8(key) || !geo::is_utf8(value)) { __builtin_trap(); }
    }
  }
  return 0;
}
