// SPDX-License-Identifier: Apache-2.0
//
// The compressions that this build decodes and writes: their names, libraries and settings.
#pragma once

#include "terrazzo/write.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

struct CodecInfo {
  std::uint32_t compression = 0;  // TIFF tag 259
  std::string name{};             // "deflate"
  std::string library{};          // "libdeflate"; empty: the library's own code
  bool available = false;         // false: this build or, if `loaded`, this machine lacks the library
  bool trusted_only = false;      // disabled for untrusted sources (OpenOptions::trust)
  bool loaded = false;            // the library is not linked, but loaded at run time
};

// All known compressions, sorted by number.
[[nodiscard]] std::vector<CodecInfo> codecs();

// The settings of WriteOptions that a compression uses; the others have no effect on it.
struct CompressionSettings {
  bool level = false;         // WriteOptions::level
  bool checksum = false;      // WriteOptions::checksum
  bool max_error = false;     // WriteOptions::lerc_max_error
  bool quality = false;       // WriteOptions::quality
  bool lossless = false;      // WriteOptions::lossless: the caller chooses between lossless and lossy
  bool rate = false;          // WriteOptions::jpeg2000_rate
  bool chroma = false;        // WriteOptions::chroma
  bool always_lossy = false;  // there is no lossless form
};
[[nodiscard]] CompressionSettings settings_of(Compression compression) noexcept;

// The values of WriteOptions::level.
struct CompressionLevels {
  int lowest = 0, highest = 0, usual = 0;  // usual: without WriteOptions::level
};
// nullopt for a compression without levels.
[[nodiscard]] std::optional<CompressionLevels> levels_of(Compression compression) noexcept;

// All compressions that can be chosen for writing, in the order of the enumeration. The build may lack the library of
// some.
[[nodiscard]] std::vector<Compression> compressions();

}  // namespace terrazzo
#pragma GCC visibility pop
