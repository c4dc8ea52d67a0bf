// SPDX-License-Identifier: Apache-2.0
//
// Options that commands share: how files are opened, which pixels are meant, and who decodes them. One place, so that
// they read the same everywhere.
#pragma once

#include "terrazzo/device.hpp"
#include "terrazzo/read.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <limits>
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

// Who decodes, and how; the defaults are the library's.
struct EngineOptions {
  Engine engine = Engine::automatic;
  bool exact = false;
  std::uint64_t device_budget_bytes = 0;
  DeviceFetch device_fetch = DeviceFetch::automatic;
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

// --device, --host, --exact
void add_engine(CLI::App& command, EngineOptions& engine);
// --device-budget, --fetch; after add_engine()
void add_device_tuning(CLI::App& command, EngineOptions& engine);

// An option that takes one of `names`; `choose` gets its index.
CLI::Option* add_choice(CLI::App& command, std::string const& name, std::vector<std::string> const& names,
                        std::function<void(std::size_t)> const& choose, std::string const& description);

// An option that takes a whole number of `least` to `most`.
CLI::Option* add_whole(CLI::App& command, std::string const& name, std::uint32_t& target,
                       std::string const& description, std::uint32_t least = 0,
                       std::uint32_t most = std::numeric_limits<std::uint32_t>::max());

// The file every command takes.
void add_file(CLI::App& command, std::string& file);

// Opens with the options' settings in force; warnings of the file go to stderr unless quiet or JSON.
[[nodiscard]] Dataset open_file(std::string const& file, CommonOptions const& options);

// The GPU, for commands that cannot do without: `unsupported` when this build has no device engine, `device` when there
// is no GPU for it.
[[nodiscard]] DeviceState usable_device();

// In force for everything that follows; notes of the library go to stderr unless quiet or JSON.
void apply_settings(CommonOptions const& options);

// Without progress; cancelled by Ctrl-C.
[[nodiscard]] ReadRequest make_request(Dataset const& dataset, Selection const& selection,
                                       EngineOptions const& engine = {});

}  // namespace terrazzo::cli
