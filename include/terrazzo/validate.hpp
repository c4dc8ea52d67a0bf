// SPDX-License-Identifier: Apache-2.0
//
// Is this file a valid Cloud-Optimized GeoTIFF, and is it whole? Every rule of GDAL's validator with its full check,
// and more: tiles past the end of the file or lying on one another, tag arrays after tile data, masks of overviews,
// slack. Nothing is decoded unless asked for; a sparse file is fine.
//
//   terrazzo::Validation const result = terrazzo::validate("dem.tif");
//   for (auto const& finding : result.findings) { std::cout << finding.rule << ": " << finding.message << '\n'; }
//
// Memory does not grow with the pixels: 16 bytes a tile are held to find tiles that overlap, and left out with a
// warning where the memory limit has no room for them.
#pragma once

#include "terrazzo/read.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo {

enum class Severity : std::uint8_t {
  error,    // not a valid COG, or not a whole file
  warning,  // valid, but readers will be slower than they could be, or show less
  note,     // worth knowing
};
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

struct Finding {
  Severity severity = Severity::error;
  std::string rule{};     // a stable name, "tile-past-end"; validation_rules() lists them
  std::string message{};  // says what is wrong, and where
  std::optional<std::uint32_t> ifd{};
  std::optional<TileId> tile{};
  std::optional<std::uint64_t> offset{};
  bool known_to_gdal = true;  // GDAL's validator reports it too
};

struct ValidateOptions {
  OpenOptions open{};                // page, sidecars, trust
  bool decode = false;               // decode every tile too
  std::uint32_t max_findings = 100;  // of one rule; the rest is counted
  unsigned threads = 0;
  std::uint64_t memory_limit_bytes = 0;  // 0: Settings' default
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;
};

struct Validation {
  bool valid_tiff = false;  // could be opened, and no tile lies outside the file
  bool valid_cog = false;   // no error
  std::vector<Finding> findings{};
  std::uint64_t findings_left_out = 0;
  std::uint64_t tiles = 0;         // looked at, of all levels and masks
  std::uint64_t sparse_tiles = 0;  // of these, not in the file
  std::uint64_t header_bytes = 0;  // end of the last directory or tag array before tile data
  std::uint64_t slack_bytes = 0;   // between them and the first tile
};

// A file that is no TIFF is a Validation with an error, not an exception; a file that cannot be read is an `io` Error.
[[nodiscard]] Validation validate(std::string const& path, ValidateOptions const& options = {});

// A file in memory, as open_memory() takes it.
[[nodiscard]] Validation validate_memory(std::span<std::byte const> bytes, std::string name = "memory",
                                         ValidateOptions const& options = {});

struct ValidationRule {
  std::string_view name{};
  Severity severity = Severity::error;
  bool known_to_gdal = false;  // GDAL's validator has this rule; single findings of ours may still go further
  std::string_view meaning{};  // what is wrong when it is broken, in one line
};
// In the order in which findings are listed.
[[nodiscard]] std::span<ValidationRule const> validation_rules() noexcept;

}  // namespace terrazzo
