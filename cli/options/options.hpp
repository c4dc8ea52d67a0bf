// SPDX-License-Identifier: Apache-2.0
//
// Options shared by commands: opening files, selecting pixels, choosing the engine. Defined once, so that
// they are the same everywhere.
#pragma once

#include "terrazzo/boundless.hpp"
#include "terrazzo/coordinates.hpp"
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
  std::optional<GridWindow> window{};
  std::optional<BoundingBox> bbox{};  // instead of the window
  bool boundless = false;  // the window or the box may reach outside the raster
  std::string bbox_crs{};  // empty: the file's
  std::vector<std::uint32_t> bands{};
  std::uint32_t level = 0;
  std::optional<TargetSize> target_size{};
  std::optional<TargetResolution> target_resolution{};
  bool keep_extent = false;
  std::optional<Resampling> resampling{};  // of a target
  std::optional<DType> dtype{};
  std::optional<LinearScale> scale{};
  bool masked = false, unpack = false, fill_bad = false, strict = false;
};

// The decoding engine; the defaults are the library's.
struct EngineOptions {
  Engine engine = Engine::automatic;
  bool exact = false;
  std::uint64_t device_budget_bytes = 0;
  DeviceFetch device_fetch = DeviceFetch::automatic;
};

// --json, --quiet, --threads, --memory-limit, --page, --no-sidecars, --trust
void add_common(CLI::App& command, CommonOptions& options);

// --bbox, --bbox-crs
CLI::Option* add_bbox(CLI::App& command, Selection& selection);
// --window, --bbox, --bbox-crs, --bands
void add_area(CLI::App& command, Selection& selection);
// --bands
void add_bands(CLI::App& command, Selection& selection);
// --boundless; after add_area() and add_target()
CLI::Option* add_boundless(CLI::App& command, Selection& selection);
// --level (--overview)
void add_level(CLI::App& command, Selection& selection);
// --target-resolution
CLI::Option* add_target_resolution(CLI::App& command, Selection& selection);
// --target-size, --target-resolution, --keep-extent
void add_target(CLI::App& command, Selection& selection);
// --resampling of a target; after add_target()
void add_target_resampling(CLI::App& command, Selection& selection);
// --dtype
void add_dtype(CLI::App& command, Selection& selection);
// --dtype, --masked, --unpack, --scale
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

// An option that takes a method of resampling.
CLI::Option* add_method(CLI::App& command, std::string const& name, std::optional<Resampling>& method,
                        std::string const& description);

// Records the names that an option takes, for shell completion. add_choice() does so itself.
void show_choices(CLI::Option& option, std::vector<std::string> const& names);
// The recorded names; empty if there are none.
[[nodiscard]] std::vector<std::string> choices_of(CLI::Option const& option);

// An option that takes a whole number of `least` to `most`.
CLI::Option* add_whole(CLI::App& command, std::string const& name, std::uint32_t& target,
                       std::string const& description, std::uint32_t least = 0,
                       std::uint32_t most = std::numeric_limits<std::uint32_t>::max());

// The FILE argument of commands that take one file, and of those that take several.
void add_file(CLI::App& command, std::string& file);
void add_files(CLI::App& command, std::vector<std::string>& files);

// Opens with the options' settings; "-" is standard input, in memory; warnings about the file go to stderr unless quiet
// or JSON.
[[nodiscard]] Dataset open_file(std::string const& file, CommonOptions const& options);

// The GPU, for commands that require one: throws `unsupported` if this build has no device engine, `device` if there
// is no usable GPU.
[[nodiscard]] DeviceState usable_device();

// Prints the warnings about an opened file on stderr, unless quiet or JSON.
void show_warnings(std::string const& file, Info const& info, CommonOptions const& options);

// Applies to all later calls; notes of the library go to stderr unless quiet or JSON.
void apply_settings(CommonOptions const& options);

// The box of --bbox in the file's CRS. REQUIRES: there is one.
[[nodiscard]] BoundingBox selected_box(Dataset const& dataset, Selection const& selection);

// The window of --window or --bbox in pixels of the selected level, with --boundless. It may reach outside the raster,
// but has a part inside. REQUIRES: Selection::boundless.
[[nodiscard]] GridWindow selected_area(Dataset const& dataset, Selection const& selection);

// The window of --window or --bbox in pixels of the selected level; nullopt for the whole raster. A box that is clipped
// to the raster is noted on stderr, except with --boundless.
[[nodiscard]] std::optional<Window> selected_window(Dataset const& dataset, Selection const& selection);

// Without progress; cancelled by Ctrl-C.
[[nodiscard]] ReadRequest make_request(Dataset const& dataset, Selection const& selection,
                                       EngineOptions const& engine = {});

}  // namespace terrazzo::cli
