// SPDX-License-Identifier: Apache-2.0
//
// Options that commands share: how files are opened, and which pixels are meant. One place, so that they read the same
// everywhere.
#pragma once

#include "terrazzo/read.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::cli {

struct CommonOptions {
  bool json = false;
  bool quiet = false;
  OpenOptions open{};
  unsigned threads = 0;
  std::uint64_t memory_limit_bytes = 0;
};

struct Selection {
  std::optional<Window> window{};
  std::vector<std::uint32_t> bands{};
  std::uint32_t level = 0;
  std::optional<TargetSize> target_size{};
  std::optional<std::pair<double, double>> target_resolution{};  // in units of the CRS, x and y
  std::optional<DType> dtype{};
  bool masked = false, unpack = false, fill_bad = false, strict = false;
};

// --json, --quiet, --threads, --memory-limit, --page, --no-sidecars, --trust
void add_common(CLI::App& command, CommonOptions& options);

// --window, --bands
void add_area(CLI::App& command, Selection& selection);
// --level (--overview)
void add_level(CLI::App& command, Selection& selection);
// --target-size, --target-resolution
void add_target(CLI::App& command, Selection& selection);
// --dtype, --masked, --unpack
void add_conversion(CLI::App& command, Selection& selection);
// --fill-bad, --strict
void add_tolerance(CLI::App& command, Selection& selection);

// The file every command takes.
void add_file(CLI::App& command, std::string& file);

// Opens with the options' settings in force; warnings of the file go to stderr unless quiet or JSON.
[[nodiscard]] Dataset open_file(std::string const& file, CommonOptions const& options);

// Without progress; cancelled by Ctrl-C.
[[nodiscard]] ReadRequest make_request(Dataset const& dataset, Selection const& selection);

}  // namespace terrazzo::cli
