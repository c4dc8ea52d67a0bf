// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "commands/info_json.hpp"
#include "commands/info_text.hpp"
#include "options/options.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/blocks.hpp"
#include "terrazzo/codecs.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>
#include <tuple>

namespace terrazzo::cli {
namespace {

constexpr std::uint64_t kBlockBytes = 128U << 20;
constexpr std::uint64_t kMaxBlockBytes = 1U << 30;
constexpr std::size_t kBadTilesShown = 20;

constexpr char kFooter[] = R"(Examples:
  terrazzo info dem.tif                   a summary
  terrazzo info --json dem.tif            everything, for scripts; a list for several files
  terrazzo info --tags dem.tif            the summary and all metadata
  terrazzo info --codecs dem.tif          the decoder of each level, and all codecs of this build
  terrazzo info --check dem.tif           decode every tile of every level and mask; exit code 4 if one is bad)";

struct Options {
  CommonOptions common;
  std::vector<std::string> files;
  bool check = false, tags = false, codecs = false, wkt = false;
};

// The decoder of one level, or the reason why it cannot be decoded.
struct LevelCodec {
  std::uint32_t level = 0;
  std::string codec, problem;
  std::uint32_t predictor = 1;
};

std::vector<LevelCodec> level_codecs(Dataset const& dataset) {
  std::vector<LevelCodec> codecs;
  for (std::uint32_t level = 0; level <= dataset.info().overviews.size(); ++level) {
    LevelCodec entry;
    entry.level = level;
    try {
      ReadPlan const planned = plan(dataset, {.level = level});
      entry.codec = planned.codec();
      entry.predictor = planned.predictor();
    } catch (Error const& error) { entry.problem = error.message(); }
    codecs.push_back(std::move(entry));
  }
  return codecs;
}

Json codecs_to_json(std::vector<LevelCodec> const& codecs) {
  Json list = Json::array();
  for (auto const& entry : codecs) {
    list.push_back({{"level", entry.level},
                    {"codec", entry.problem.empty() ? Json(entry.codec) : Json()},
                    {"predictor", entry.predictor},
                    {"problem", entry.problem.empty() ? Json() : Json(entry.problem)}});
  }
  return list;
}

void print_codecs(std::vector<LevelCodec> const& codecs) {
  std::cout << "\n  decoders\n";
  Table table({"level", "codec", "predictor", "problem"});
  for (auto const& entry : codecs) {
    table.add({std::to_string(entry.level), entry.codec, entry.predictor > 1 ? std::to_string(entry.predictor) : "",
               entry.problem});
  }
  table.print(std::cout, "    ");
}

std::string_view state_of(CodecInfo const& codec) {
  if (!codec.available) { return "missing"; }
  return codec.trusted_only ? "trusted files only" : "";
}

Json build_codecs_to_json() {
  Json list = Json::array();
  for (CodecInfo const& codec : codecs()) {
    list.push_back({{"compression", codec.compression},
                    {"name", codec.name},
                    {"library", codec.library.empty() ? Json() : Json(codec.library)},
                    {"available", codec.available},
                    {"trusted_only", codec.trusted_only}});
  }
  return list;
}

void print_build_codecs() {
  std::cout << "\n  decoders of this build\n";
  Table table({"number", "codec", "library", ""});
  for (CodecInfo const& codec : codecs()) {
    table.add({std::to_string(codec.compression), codec.name, codec.library.empty() ? "terrazzo" : codec.library,
               std::string(state_of(codec))});
  }
  table.print(std::cout, "    ");
}

// The result of decoding every tile of one level and of its mask.
struct LevelCheck {
  std::uint32_t level = 0, width = 0, height = 0;
  bool mask = false;
  ReadReport report;
};

// Enough for a whole row of tiles, so that each tile is decoded and counted once; a larger row is read in parts.
std::uint64_t check_block_bytes(Info const& info, std::uint32_t level) {
  bool const full = level == 0;
  std::uint64_t const width = full ? info.width : info.overviews[level - 1].width;
  std::uint64_t const rows = full ? info.layout.tile_height : info.overviews[level - 1].tile_height;
  double const tile_row_bytes = static_cast<double>(width) * static_cast<double>(rows) *
                                static_cast<double>(info.bands.size() * size_bytes(info.dtype()));
  return std::max(kBlockBytes, static_cast<std::uint64_t>(std::min(tile_row_bytes, double{kMaxBlockBytes})));
}

// True for a separate mask image; nodata and alpha are pixels, which are checked anyway.
bool has_mask_image(Info const& info, std::uint32_t level) {
  bool const raster_has = std::any_of(info.bands.begin(), info.bands.end(), [](BandInfo const& band) {
    return band.mask == MaskKind::internal || band.mask == MaskKind::external;
  });
  // If only an overview has a mask, no read uses it.
  return raster_has && (level == 0 || info.overviews[level - 1].has_mask);
}

// A tile that was read in parts is reported once. The message distinguishes a tile of the mask from one of the image.
void drop_repeats(std::vector<BadTileReport>& bad) {
  auto const key = [](BadTileReport const& b) {
    return std::tuple(b.tile.plane, b.tile.row, b.tile.column, std::string_view(b.message));
  };
  std::stable_sort(bad.begin(), bad.end(), [&](auto const& a, auto const& b) { return key(a) < key(b); });
  bad.erase(std::unique(bad.begin(), bad.end(), [&](auto const& a, auto const& b) { return key(a) == key(b); }),
            bad.end());
}

std::vector<LevelCheck> check_levels(Dataset const& dataset, CommonOptions const& options) {
  std::vector<LevelCheck> checks;
  for (std::uint32_t level = 0; level <= dataset.info().overviews.size(); ++level) {
    ProgressBar bar(level == 0 ? "check" : "check overview " + std::to_string(level), options.quiet);
    Selection selection;
    selection.level = level;
    selection.fill_bad = true;
    // Masks are read with the pixels, in the pixels' own type: the values are ignored.
    selection.masked = has_mask_image(dataset.info(), level);
    if (selection.masked) { selection.dtype = dataset.info().dtype(); }
    ReadRequest request = make_request(dataset, selection);
    request.progress = bar.callback();
    RowBlocks const blocks(dataset, request, check_block_bytes(dataset.info(), level));
    LevelCheck check{level, blocks.width(), blocks.height(), selection.masked, {}};
    std::optional<HostArray> buffer;
    for (std::uint64_t i = 0; i < blocks.count(); ++i) { blocks.read(i, buffer, &check.report); }
    drop_repeats(check.report.bad_tiles);
    checks.push_back(std::move(check));
  }
  return checks;
}

bool is_clean(std::vector<LevelCheck> const& checks) {
  for (auto const& check : checks) {
    if (!check.report.bad_tiles.empty()) { return false; }
  }
  return true;
}

Json check_to_json(std::vector<LevelCheck> const& checks) {
  Json levels = Json::array();
  for (auto const& check : checks) {
    levels.push_back({{"level", check.level},
                      {"width", check.width},
                      {"height", check.height},
                      {"mask", check.mask},
                      {"tiles", check.report.tiles},
                      {"bytes_read", check.report.bytes_read},
                      {"sparse", check.report.sparse_tiles},
                      {"surplus", check.report.surplus_tiles},
                      {"bad", bad_tiles_to_json(check.report.bad_tiles)}});
  }
  return {{"ok", is_clean(checks)}, {"levels", std::move(levels)}};
}

void print_check(std::vector<LevelCheck> const& checks) {
  std::cout << "\n  check\n";
  Table table({"level", "size", "tiles", "bad", "sparse", "surplus", "read"});
  for (auto const& check : checks) {
    table.add({std::to_string(check.level) + (check.mask ? " and mask" : ""), format_size(check.width, check.height),
               format_count(check.report.tiles), format_count(check.report.bad_tiles.size()),
               format_count(check.report.sparse_tiles), format_count(check.report.surplus_tiles),
               format_bytes(check.report.bytes_read)});
  }
  table.print(std::cout, "    ");
  std::size_t shown = 0;
  for (auto const& check : checks) {
    for (auto const& bad : check.report.bad_tiles) {
      if (++shown > kBadTilesShown) { continue; }
      std::cout << "    level " << check.level << ", " << printable(bad_tile_to_text(bad)) << '\n';
    }
  }
  if (shown > kBadTilesShown) { std::cout << "    ... and " << shown - kBadTilesShown << " more (--json shows all)\n"; }
}

// The definition of the CRS for other programs, or the reason why there is none.
void print_wkt(std::ostream& out, Info const& info) {
  auto const& crs = info.georeference.crs;
  out << "\n  WKT\n"
      << (!crs               ? "    no CRS"
          : crs->wkt.empty() ? "    unknown: PROJ is not installed"
                             : printable(crs->wkt, crs->wkt.size()))
      << '\n';
}

FileResult run_file(Options const& options, std::string const& file) {
  Dataset const dataset = open_file(file, options.common);
  std::vector<LevelCheck> checks;
  if (options.check) { checks = check_levels(dataset, options.common); }
  Info const info = dataset.detailed_info();
  int const code = is_clean(checks) ? kExitOk : exit_code(ErrorKind::malformed);
  if (options.common.json) {
    Json json = info_to_json(file, info);
    if (options.codecs) {
      json["codecs"] = codecs_to_json(level_codecs(dataset));
      json["build_codecs"] = build_codecs_to_json();
    }
    if (options.check) { json["check"] = check_to_json(checks); }
    return {std::move(json), code};
  }
  for (std::size_t i = dataset.info().warnings.size(); !options.common.quiet && i < info.warnings.size(); ++i) {
    std::cerr << "terrazzo: warning: " << printable_name(file) << ": " << printable_name(info.warnings[i])
              << '\n';  // warnings of PROJ
  }
  if (file != options.files.front()) { std::cout << '\n'; }
  print_info(std::cout, file, info);
  if (options.wkt) { print_wkt(std::cout, info); }
  if (options.tags) { print_metadata(std::cout, info); }
  if (options.codecs) {
    print_codecs(level_codecs(dataset));
    print_build_codecs();
  }
  if (options.check) { print_check(checks); }
  return {{}, code};
}

int run(Options const& options) {
  return run_each_file(options.files, options.common.json,
                       [&](std::string const& file) { return run_file(options, file); });
}

}  // namespace

void add_info(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("info", "Describe files: size, bands, georeference, layout");
  command->footer(kFooter);
  add_files(*command, options->files);
  command->add_flag("--check", options->check, "Decode every tile and report bad, missing and oversized ones");
  command->add_flag("--codecs", options->codecs, "Also list the decoder of each level, and all decoders of this build");
  command->add_flag("--wkt", options->wkt, "Also print the WKT of the CRS; --json has it always");
  command->add_flag("--tags", options->tags, "Also list all metadata");
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
