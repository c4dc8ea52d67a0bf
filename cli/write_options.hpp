// SPDX-License-Identifier: Apache-2.0
//
// How files are written: the options that `convert`, `cog` and `overviews` share. What the user did not say stays as
// the source and the library have it.
#pragma once

#include "options.hpp"

#include "terrazzo/write.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::cli {

struct WriteChoices {
  std::optional<Compression> compression{};
  std::optional<int> level{};
  std::optional<PredictorChoice> predictor{};
  std::optional<double> max_error{};
  std::optional<int> quality{};
  bool lossy = false;
  std::optional<double> rate{};
  std::optional<ChromaSubsampling> chroma{};
  std::optional<TileSize> tile_size{};
  std::optional<std::uint32_t> strip_rows{};
  std::optional<PlanarLayout> planar{};
  std::optional<BigTiff> bigtiff{};
  bool sparse = false, statistics = false, fsync = false, mask = false;
  std::optional<std::string> nodata{};
  std::optional<std::string> crs{};
  std::optional<Resampling> resampling{};
  std::optional<std::vector<std::uint32_t>> overviews{};
  std::uint64_t buffer_bytes = 0, spool_bytes = 0;
  Engine engine = Engine::automatic;
  std::uint64_t device_budget_bytes = 0;
};

// --compression, --compression-level, --predictor, --max-error, --quality, --lossy, --rate, --chroma
void add_compression(CLI::App& command, WriteChoices& choices);
// --tile-size, --interleave, --bigtiff, --sparse; `strips`: --strips too
void add_layout(CLI::App& command, WriteChoices& choices, bool strips);
// --nodata, --mask, --crs, --statistics
void add_description(CLI::App& command, WriteChoices& choices);
// --overviews (or another name), --resampling
void add_overview_choices(CLI::App& command, WriteChoices& choices, std::string const& factors = "--overviews");
// --buffer, --spool, --fsync
void add_writing(CLI::App& command, WriteChoices& choices);
// --device, --host, --device-budget
void add_write_engine(CLI::App& command, WriteChoices& choices);
// All of these, and which pixels are meant: what makes one file of another.
void add_conversion_choices(CLI::App& command, WriteChoices& choices, Selection& selection, bool strips);

// "EPSG:32632", a bare code, WKT or PROJJSON.
[[nodiscard]] Crs parse_crs(std::string const& text);

// How pixels that will be written are read: on the host when --host says so, and always exactly, so that what a file
// holds does not depend on the engine.
void apply_engine(WriteChoices const& choices, ReadRequest& request);

// Puts what was chosen into `options`, which describe the source. Throws `usage` for options of another codec.
void apply_choices(WriteChoices const& choices, WriteOptions& options);

}  // namespace terrazzo::cli
