// SPDX-License-Identifier: Apache-2.0
//
// validate() on arbitrary bytes, as a stranger's file: a verdict or an Error that a file may cause, the same one for
// any number of threads, and no more findings than asked for.
#include "terrazzo/settings.hpp"
#include "terrazzo/validate.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <string>

namespace {

using namespace terrazzo;

constexpr std::uint64_t kMemoryLimitBytes = 64U << 20;
constexpr std::uint32_t kMaxFindings = 3;
constexpr std::uint64_t kMaxDecodedPixels = 1U << 20;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

void check(Validation const& result) {
  std::map<std::string, std::uint32_t> counts;
  bool error = false;
  for (Finding const& finding : result.findings) {
    require(!finding.message.empty());
    require(++counts[finding.rule] <= kMaxFindings);
    error = error || finding.severity == Severity::error;
  }
  require(result.valid_cog != error);
  require(result.sparse_tiles <= result.tiles);
}

// Decoding all of a raster that only claims to be large would measure the memory's speed.
bool is_small(std::span<std::byte const> bytes) {
  try {
    Dataset const dataset = open_memory(bytes);
    Info const& info = dataset.info();
    return std::uint64_t{info.width} * info.height * info.bands.size() <= kMaxDecodedPixels;
  } catch (Error const&) { return false; }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  set_settings({.threads = 2, .memory_limit_bytes = kMemoryLimitBytes, .tile_cache_bytes = 0});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const bytes = std::as_bytes(std::span(data, size));
  try {
    Validation const one = validate_memory(bytes, "fuzz", {.max_findings = kMaxFindings, .threads = 1});
    Validation const two = validate_memory(bytes, "fuzz", {.max_findings = kMaxFindings, .threads = 2});
    check(one);
    require(one.findings.size() == two.findings.size() && one.findings_left_out == two.findings_left_out);
    if (size % 4 == 0 && is_small(bytes)) {
      check(validate_memory(bytes, "fuzz", {.decode = true, .max_findings = kMaxFindings, .threads = 1}));
    }
  } catch (Error const& error) { require(error.kind() == ErrorKind::limit); }
  return 0;
}
