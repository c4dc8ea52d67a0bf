// SPDX-License-Identifier: Apache-2.0
//
// What became of one tile. Codecs and kernels never throw: a device cannot, and one bad tile must not lose the rest.
// read/ alone turns these into an Error or into fill values, as the caller chose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

enum class TileStatus : std::uint8_t {
  ok,           // every expected byte was written (surplus input is ignored, as libtiff does)
  sparse,       // not in the file; the caller fills
  truncated,    // the stream ended early: `bytes_written` bytes are good, the rest of the output is unspecified
  corrupt,      // the stream breaks its format
  unsupported,  // valid perhaps, but this build or this decoder cannot decode it
  failed,       // out of memory, or the library failed for reasons that are not the stream's
};

// `reason` is static text (never freed, never null when status is not ok or sparse).
struct TileResult {
  TileStatus status = TileStatus::ok;
  std::size_t bytes_written = 0;
  bool surplus_input = false;  // input was left after the last expected output byte; counted by `info --check`
  char const* reason = nullptr;
};

}  // namespace terrazzo::tile
