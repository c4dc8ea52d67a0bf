// SPDX-License-Identifier: Apache-2.0
//
// Which compressions this build decodes, and with what.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo {

struct CodecInfo {
  std::uint32_t compression = 0;  // TIFF tag 259
  std::string name{};             // "deflate"
  std::string library{};          // "libdeflate"; empty: our own code
  bool available = false;         // false: this build, or for libtiff this machine, lacks the library
  bool trusted_only = false;      // off for untrusted sources (OpenOptions::trust)
};

// Every compression that is known, by number.
[[nodiscard]] std::vector<CodecInfo> codecs();

}  // namespace terrazzo
