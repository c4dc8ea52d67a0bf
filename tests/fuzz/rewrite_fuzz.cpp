// SPDX-License-Identifier: Apache-2.0
//
// edit() into a fresh file, of a stranger's: see changed_file.hpp for what must hold. Overviews and masks go along, and
// writing the result once more changes nothing that readers see.
#include "terrazzo/edit.hpp"

#include "changed_file.hpp"

namespace {

using namespace terrazzo;

struct Seen {
  std::size_t overviews = 0;
  std::optional<std::vector<std::byte>> mask{};
};

Seen seen(std::string const& path) {
  Dataset const dataset = open(path, {.sidecars = false});
  Seen result{dataset.info().overviews.size()};
  try {
    HostArray const mask = read_mask(dataset, {.memory_limit_bytes = fuzzing::kMemoryLimitBytes});
    result.mask.emplace(mask.bytes().begin(), mask.bytes().end());
  } catch (Error const&) {}
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  fuzzing::ChangedFile file(std::as_bytes(std::span(data, size)));
  if (!file.is_raster()) { return 0; }
  Seen const before = seen(file.path());
  file.change([&] {
    static_cast<void>(edit(file.path(), {}, {.rewrite = true}));
    Seen const after = seen(file.path());
    fuzzing::require(after.overviews == before.overviews && (!before.mask || after.mask == before.mask));
  });
  return 0;
}
