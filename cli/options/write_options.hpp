// SPDX-License-Identifier: Apache-2.0
//
// Options for writing, shared by `convert`, `cog`, `mosaic` and `overviews`. Options that the user did not give keep
// the values of the source and the library.
#pragma once

#include "options/options.hpp"

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
  bool checksum = false;
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
  std::optional<Resampling> resampling{};  // of a target; of the overviews without one
  std::optional<Resampling> overview_resampling{};
  std::optional<std::vector<std::uint32_t>> overviews{};
  std::uint64_t buffer_bytes = 0, spool_bytes = 0;
  Engine engine = Engine::automatic;
  std::uint64_t device_budget_bytes = 0;
};

// --compression, --compression-level, --checksum, --predictor, --max-error, --quality, --lossy, --rate, --chroma
void add_compression(CLI::App& command, WriteChoices& choices);
// --tile-size, --interleave, --bigtiff, --sparse; `strips`: --strips too
void add_layout(CLI::App& command, WriteChoices& choices, bool strips);
// --nodata, --mask, --crs, --statistics
void add_description(CLI::App& command, WriteChoices& choices);
// --overviews (or another name), --resampling of the overviews
void add_overview_choices(CLI::App& command, WriteChoices& choices, std::string const& factors = "--overviews");
// --overviews, --overview-resampling: for commands whose --resampling is that of a target, or that have none
void add_named_overview_choices(CLI::App& command, WriteChoices& choices);
// --buffer, --spool, --fsync
void add_writing(CLI::App& command, WriteChoices& choices);
// --device, --host, --device-budget
void add_write_engine(CLI::App& command, WriteChoices& choices);
// All of these, and the selection of pixels: the options of a conversion. With a target, --resampling is the method
// of the read, and --overview-resampling that of the overviews.
void add_conversion_choices(CLI::App& command, WriteChoices& choices, Selection& selection, bool strips);

// A text for --crs: "EPSG:32632", a bare code, WKT, PROJJSON, a PROJ string or a name.
[[nodiscard]] Crs parse_crs(std::string const& text);

// Settings for reading pixels that will be written: on the host with --host, and always exact, so that the
// file does not depend on the engine.
void apply_engine(WriteChoices const& choices, ReadRequest& request);

// Gives --resampling to the read if it has a target, otherwise to the overviews; after apply_choices(). Throws `usage`
// if it has no use.
void apply_resampling(WriteChoices const& choices, ReadRequest& request, WriteOptions& options);

// Copies the choices to `options`, which describe the source. Throws `usage` for options of another codec.
void apply_choices(WriteChoices const& choices, WriteOptions& options);

}  // namespace terrazzo::cli
