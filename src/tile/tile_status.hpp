// SPDX-License-Identifier: Apache-2.0
//
// The status of one tile. Codecs and kernels never throw: a device cannot, and one bad tile must not lose the rest.
// Only read/ turns a status into an Error or into fill values, by the caller's choice.
#pragma once

#include <cstddef>
#include <cstdint>

namespace terrazzo::tile {

enum class TileStatus : std::uint8_t {
  ok,           // every expected byte was written (surplus input is ignored, as libtiff does)
  sparse,       // not in the file; the caller fills
  truncated,    // the stream ended early: `bytes_written` bytes are valid, the rest of the output is unspecified
  corrupt,      // the stream breaks its format
  unsupported,  // possibly valid, but this build or this decoder cannot decode it
  failed,       // the library failed for reasons other than the stream
  out_of_memory,  // the memory limit or the machine's memory is too small
};

// `reason` is static text (never freed, never null when status is not ok or sparse).
struct TileResult {
  TileStatus status = TileStatus::ok;
  std::size_t bytes_written = 0;
  bool surplus_input = false;  // input was left after the last expected output byte; counted by `info --check`
  char const* reason = nullptr;
};

}  // namespace terrazzo::tile
