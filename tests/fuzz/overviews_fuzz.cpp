// SPDX-License-Identifier: Apache-2.0
//
// add_overviews() on a stranger's file: see changed_file.hpp for what must hold. What is reported is what a reader
// finds, and what was asked for is there.
#include "terrazzo/overviews.hpp"

#include "changed_file.hpp"

#include <algorithm>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace terrazzo;
  fuzzing::ChangedFile file(std::as_bytes(std::span(data, size)));
  if (!file.is_raster()) { return 0; }
  OverviewOptions options;
  options.factors = size % 5 == 0 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{2};
  options.keep = size % 5 == 1;
  options.bad_tile = size % 2 == 0 ? BadTile::fill : BadTile::error;
  options.adjust = [](WriteOptions& write) { write.tile_size = {16, 16}; };
  options.threads = 1;
  file.change([&] {
    OverviewReport const report = add_overviews(file.path(), options);
    Info const info = open(file.path()).info();
    fuzzing::require(report.overviews.size() == info.overviews.size());
    bool const found = std::ranges::any_of(info.overviews, [&](OverviewInfo const& overview) {
      return overview.width == (info.width + 1) / 2 && overview.height == (info.height + 1) / 2;
    });
    fuzzing::require(found || options.factors->empty());
  });
  return 0;
}
