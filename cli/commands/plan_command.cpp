// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>

namespace terrazzo::cli {
namespace {

constexpr std::uint64_t kTilesShown = 10;
// Summing the sizes of more tiles would read an index of 16 MB or more.
constexpr std::uint64_t kMaxTilesSummed = 1'000'000;

constexpr char kFooter[] =
    R"(Shows the overview, the tiles and the bytes of a read, without reading pixels. The line "to GPU" shows the engine for
a result in GPU memory (read_device) and the reason: small reads are expected to be faster on the host. The host decodes
results in host memory unless --device selects the GPU.

Examples:
  terrazzo plan dem.tif --window 0,0,512,512
  terrazzo plan dem.tif --target-size 800,600
  terrazzo plan dem.tif --tiles --json
  terrazzo plan dem.tif --device                 the GPU decoder, also for a small read)";

struct Options {
  CommonOptions common;
  Selection selection;
  EngineOptions engine;
  std::string file;
  bool all_tiles = false;
};

// The file's totals for the plan; empty if there are too many tiles to sum.
struct Totals {
  std::uint64_t compressed_bytes = 0, sparse_tiles = 0, skipped_tiles = 0;
};

bool is_skipped(PlannedTile const& tile) { return tile.in_tile.width == 0; }
bool is_sparse(PlannedTile const& tile) { return tile.offset_bytes == 0 && tile.size_bytes == 0; }

std::optional<Totals> total(ReadPlan const& plan) {
  if (plan.tile_count() > kMaxTilesSummed) { return std::nullopt; }
  Totals totals;
  for (std::uint64_t i = 0; i < plan.tile_count(); ++i) {
    PlannedTile const tile = plan.tile(i);
    totals.skipped_tiles += is_skipped(tile) ? 1 : 0;
    totals.compressed_bytes += is_skipped(tile) ? 0 : tile.size_bytes;
    totals.sparse_tiles += is_sparse(tile) && !is_skipped(tile) ? 1 : 0;
    if (i % 4096 == 0) { throw_if_cancelled(); }
  }
  return totals;
}

Json window_to_json(Window const& w) { return {w.column, w.row, w.width, w.height}; }

Json tile_to_json(PlannedTile const& tile) {
  return {{"column", tile.id.column},         {"row", tile.id.row},       {"plane", tile.id.plane},
          {"offset", tile.offset_bytes},      {"bytes", tile.size_bytes}, {"in_tile", window_to_json(tile.in_tile)},
          {"to", Json{tile.column, tile.row}}};
}

// The engine that would decode a result for GPU memory.
EnginePlan plan_for_device(Dataset const& dataset, ReadRequest const& request) {
  EnginePlan planned = plan_device_read(dataset, request);
  // Selected by --device or TERRAZZO_ENGINE: then the read itself would fail.
  if (planned.engine == Engine::device) { (void)usable_device(); }
  return planned;
}

std::string_view name_of(Engine engine) { return engine == Engine::device ? "device" : "host"; }

void print_plan_json(Options const& options, ReadPlan const& plan, EnginePlan const& device,
                     std::optional<Totals> const& totals, std::uint64_t shown) {
  Json tiles = Json::array();
  for (std::uint64_t i = 0; i < shown; ++i) {
    tiles.push_back(tile_to_json(plan.tile(i)));
    if (i % 4096 == 0) { throw_if_cancelled(); }
  }
  print_json({{"file", options.file},
              {"level", plan.level()},
              {"window", window_to_json(plan.window())},
              {"width", plan.width()},
              {"height", plan.height()},
              {"bands", plan.bands()},
              {"dtype", to_string(plan.dtype())},
              {"codec", plan.codec()},
              {"predictor", plan.predictor()},
              {"tile_count", plan.tile_count()},
              {"skipped_tiles", totals ? Json(totals->skipped_tiles) : Json()},
              {"sparse_tiles", totals ? Json(totals->sparse_tiles) : Json()},
              {"bytes", totals ? Json(totals->compressed_bytes) : Json()},
              {"result_bytes", plan.result_bytes()},
              {"scratch_bytes", plan.scratch_bytes()},
              {"threads", plan.threads()},
              {"device",
               {{"possible", device.possible},
                {"engine", name_of(device.engine)},
                {"decoder", device.decoder},
                {"reason", device.reason}}},
              {"tiles", std::move(tiles)}});
}

void print_plan(Options const& options, ReadPlan const& plan, EnginePlan const& device,
                std::optional<Totals> const& totals, std::uint64_t shown) {
  Window const window = plan.window();
  std::cout << printable_name(options.file) << '\n'
            << "  level      " << plan.level() << (plan.level() == 0 ? " (full resolution)" : " (overview)") << '\n'
            << "  window     " << format_size(window.width, window.height) << " at column " << window.column << ", row "
            << window.row << '\n'
            << "  result     " << format_size(plan.width(), plan.height()) << ", " << plan.bands().size() << " band"
            << (plan.bands().size() == 1 ? "" : "s") << ", " << to_string(plan.dtype()) << ", "
            << format_bytes(plan.result_bytes()) << '\n'
            << "  codec      " << plan.codec();
  if (plan.predictor() > 1) { std::cout << ", predictor " << plan.predictor(); }
  std::cout << "\n  tiles      " << format_count(plan.tile_count());
  if (totals) {
    if (totals->skipped_tiles > 0) {
      std::cout << ", of which the result skips " << format_count(totals->skipped_tiles);
    }
    std::cout << ", " << format_bytes(totals->compressed_bytes) << " in the file";
    if (totals->sparse_tiles > 0) { std::cout << ", " << format_count(totals->sparse_tiles) << " sparse"; }
  }
  std::cout << "\n  threads    " << plan.threads() << ", " << format_bytes(plan.scratch_bytes()) << " of scratch\n"
            << "  to GPU     "
            << (device.possible ? "decoded by " + device.decoder : std::string("not possible on this machine"))
            << (device.engine == Engine::device ? " on the device (" : " (") << device.reason << ")\n\n";

  Table table({"tile", "plane", "offset", "bytes", "part of it", "goes to"});
  for (std::uint64_t i = 0; i < shown; ++i) {
    PlannedTile const tile = plan.tile(i);
    bool const sparse = is_sparse(tile);
    table.add({std::to_string(tile.id.column) + "," + std::to_string(tile.id.row),
               tile.id.plane > 0 ? std::to_string(tile.id.plane) : "", sparse ? "-" : std::to_string(tile.offset_bytes),
               sparse ? "sparse" : std::to_string(tile.size_bytes),
               format_size(tile.in_tile.width, tile.in_tile.height) + " at " + std::to_string(tile.in_tile.column) +
                   "," + std::to_string(tile.in_tile.row),
               is_skipped(tile) ? "skipped" : std::to_string(tile.column) + "," + std::to_string(tile.row)});
    if (i % 4096 == 0) { throw_if_cancelled(); }
  }
  table.print(std::cout, "  ");
  if (shown < plan.tile_count()) {
    std::cout << "  ... and " << format_count(plan.tile_count() - shown) << " more (--tiles shows all)\n";
  }
}

int run(Options const& options) {
  Dataset const dataset = open_file(options.file, options.common);
  ReadRequest const request = make_request(dataset, options.selection, options.engine);
  ReadPlan const planned = plan(dataset, request);
  EnginePlan const device = plan_for_device(dataset, request);
  std::optional<Totals> const totals = total(planned);
  std::uint64_t const shown = options.all_tiles ? planned.tile_count() : std::min(planned.tile_count(), kTilesShown);
  (options.common.json ? print_plan_json : print_plan)(options, planned, device, totals, shown);
  return kExitOk;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("plan", "Show the plan of a read: level, tiles, bytes");
  command->footer(kFooter);
  add_file(*command, options->file);
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_target(*command, options->selection);
  add_target_resampling(*command, options->selection);
  add_conversion(*command, options->selection);
  command->add_flag("--tiles", options->all_tiles, "List all tiles instead of the first ten")->group("Pixels");
  add_engine(*command, options->engine);
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
