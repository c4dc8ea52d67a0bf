// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a file is complete and a valid Cloud-Optimized GeoTIFF: every rule of GDAL's validator in its full
// check, and more: tiles past the end of the file, overlapping tiles, tag arrays after tile data, masks of overviews,
// slack. Sparse files are valid. Tiles are decoded only with ValidateOptions::decode.
//
//   terrazzo::Validation const result = terrazzo::validate("dem.tif");
//   for (auto const& finding : result.findings) { std::cout << finding.rule << ": " << finding.message << '\n'; }
//
// Memory is independent of the number of pixels. The search for overlapping tiles holds 16 bytes per tile; if the
// memory limit is too small for that, the search is skipped with a warning.
#pragma once

#include "terrazzo/read.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

enum class Severity : std::uint8_t {
  error,    // not a valid COG, or an incomplete file
  warning,  // valid, but slower to read than necessary, or with less information
  note,     // information only
};
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

struct Finding {
  Severity severity = Severity::error;
  std::string rule{};     // a stable name, "tile-past-end"; validation_rules() lists them
  std::string message{};  // the defect and its place
  std::optional<std::uint32_t> ifd{};
  std::optional<TileId> tile{};
  std::optional<std::uint64_t> offset{};
  bool known_to_gdal = true;  // GDAL's validator reports it as well
};

struct ValidateOptions {
  OpenOptions open{};                // page, sidecars, trust
  bool decode = false;               // also decode every tile
  std::uint32_t max_findings = 100;  // findings listed per rule; further ones are only counted
  unsigned threads = 0;
  std::uint64_t memory_limit_bytes = 0;  // 0: Settings' default
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;
};

struct Validation {
  bool valid_tiff = false;  // the file opens, and no tile lies outside it
  bool valid_cog = false;   // no finding is an error
  std::vector<Finding> findings{};
  std::uint64_t findings_left_out = 0;
  std::uint64_t tiles = 0;         // checked tiles of all levels and masks
  std::uint64_t sparse_tiles = 0;  // checked tiles that are absent from the file
  std::uint64_t header_bytes = 0;  // end of the last directory or tag array before tile data
  std::uint64_t slack_bytes = 0;   // between header_bytes and the first tile
};

// A file that is not a TIFF gives a Validation with an error finding; a file that cannot be read throws an `io` Error.
[[nodiscard]] Validation validate(std::string const& path, ValidateOptions const& options = {});

// Checks a file in memory, as open_memory() takes it.
[[nodiscard]] Validation validate_memory(std::span<std::byte const> bytes, std::string name = "memory",
                                         ValidateOptions const& options = {});

// Checks the file of a source (terrazzo/source.hpp). A source that fails throws an `io` Error.
[[nodiscard]] Validation validate(std::shared_ptr<ByteSource const> source, ValidateOptions const& options = {});

struct ValidationRule {
  std::string_view name{};
  Severity severity = Severity::error;
  bool known_to_gdal = false;  // GDAL's validator has this rule, though some findings may go beyond it
  std::string_view meaning{};  // the defect that breaks the rule, in one line
};
// All rules, in the order in which findings are listed.
[[nodiscard]] std::span<ValidationRule const> validation_rules() noexcept;

}  // namespace terrazzo
#pragma GCC visibility pop
