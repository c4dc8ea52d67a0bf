// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/parse.hpp"
#include "options/write_options.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/edit.hpp"

#include <charconv>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::cli {
namespace {

constexpr char kFooter[] =
    R"(Pixels stay unchanged, also with --nodata ("terrazzo convert" with --masked, --nodata and --dtype changes them). Changes that fit are written in place, and a COG stays valid; otherwise new directories are
appended to the file. A COG without room needs --rewrite, which copies its tiles into a new file without recompression.
--band selects the band for --description, --unit, --scale, --offset, --set and --unset.

Examples:
  terrazzo edit dem.tif --nodata -9999 --crs EPSG:32633
  terrazzo edit dem.tif --set AUTHOR=me --unset TIFFTAG_SOFTWARE
  terrazzo edit dem.tif --band 2 --description slope --unit degree --scale 0.01
  terrazzo edit dem.tif --transform 500000,10,0,4600000,0,-10
  terrazzo edit cog.tif --set HISTORY="..." --rewrite)";

struct Options {
  std::vector<std::string> files;
  std::optional<std::string> nodata, crs, transform, description, unit;
  std::optional<double> scale, offset;
  std::optional<std::uint32_t> band;
  std::vector<std::string> set, unset;
  bool rewrite = false, fsync = false, json = false, quiet = false;
};

std::array<double, 6> parse_transform(std::string const& text) {
  std::array<double, 6> values{};
  char const* at = text.data();
  char const* const end = text.data() + text.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const [stop, error] = std::from_chars(at, end, values[i]);
    bool const last = i + 1 == values.size();
    if (error != std::errc() || (last ? stop != end : stop == end || *stop != ',')) {
      throw Error(
          ErrorKind::usage,
          "--transform takes six numbers as GDAL orders them, \"x,dx,0,y,0,dy\", or none; not \"" + text + "\"");
    }
    at = stop + 1;
  }
  return values;
}

MetadataItems parse_items(std::vector<std::string> const& words) {
  MetadataItems items;
  for (std::string const& word : words) {
    std::size_t const equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage, "--set takes KEY=VALUE, not \"" + word + "\"");
    }
    items.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return items;
}

FileEdit make_changes(Options const& options) {
  FileEdit changes;
  if (options.nodata) { changes.nodata = *options.nodata == "none" ? std::string() : *options.nodata; }
  changes.remove_crs = options.crs == "none";
  if (options.crs && !changes.remove_crs) { changes.crs = parse_crs(*options.crs); }
  changes.remove_transform = options.transform == "none";
  if (options.transform && !changes.remove_transform) { changes.transform = parse_transform(*options.transform); }
  bool const of_band = options.description || options.unit || options.scale || options.offset;
  if (of_band && !options.band) {
    throw Error(ErrorKind::usage, "--description, --unit, --scale and --offset need a band: type --band N too");
  }
  MetadataItems items = parse_items(options.set);
  if (!options.band) {
    changes.set = std::move(items);
    changes.unset = options.unset;
    return changes;
  }
  BandEdit band;
  band.band = *options.band;
  band.description = options.description;
  band.unit = options.unit;
  band.scale = options.scale;
  band.offset = options.offset;
  band.set = std::move(items);
  band.unset = options.unset;
  changes.bands.push_back(std::move(band));
  return changes;
}

// True if any change was requested.
bool says_something(Options const& options) {
  return options.nodata || options.crs || options.transform || options.description || options.unit || options.scale ||
         options.offset || !options.set.empty() || !options.unset.empty() || options.rewrite;
}

FileResult run_file(Options const& options, FileEdit const& changes, std::string const& file) {
  ProgressBar bar("edit", options.quiet);
  EditOptions how;
  how.rewrite = options.rewrite;
  how.durability = options.fsync ? Durability::fsync : Durability::none;
  how.progress = bar.callback();
  how.cancel = cancel_flag();
  EditReport const report = edit(file, changes, how);
  bar.clear();
  bool const nothing = report.way == EditWay::nothing;
  FileResult const result{.json = {{"file", file},
                                   {"way", to_string(report.way)},
                                   {"bytes", report.file_bytes},
                                   {"hidden_by_sidecar", report.hidden_by_sidecar},
                                   {"no_longer_cog", report.no_longer_cog}},
                          .is_skipped = nothing};
  if (options.json || options.quiet) { return result; }
  std::cout << printable_name(file) << ": " << (nothing ? "nothing to change" : to_string(report.way)) << ", "
            << format_bytes(report.file_bytes)
            << (options.nodata && !nothing ? "; the nodata tag is new, pixels keep their values" : "") << '\n';
  if (report.no_longer_cog) {
    std::cerr << "terrazzo: warning: " << printable_name(file)
              << " had the layout of a COG and has lost it; \"terrazzo edit FILE --rewrite\" restores it\n";
  }
  if (report.hidden_by_sidecar) {
    std::cerr << "terrazzo: warning: " << printable_name(file)
              << ".aux.xml, or another sidecar, has a different value, which takes precedence\n";
  }
  return result;
}

int run(Options const& options) {
  if (!says_something(options)) {
    throw Error(ErrorKind::usage,
                "nothing to change: type --nodata VALUE, --crs CRS, --transform LIST, --set KEY=VALUE, --unset KEY, or "
                "--band N "
                "with --description, --unit, --scale or --offset; --rewrite alone restores the layout of a COG");
  }
  FileEdit const changes = make_changes(options);
  return run_each_file(
      options.files, options.json, [&](std::string const& file) { return run_file(options, changes, file); },
      options.quiet ? std::nullopt : std::optional(FinalTable{"nothing to change"}));
}

}  // namespace

void add_edit(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("edit", "Edit nodata, CRS, transform and metadata of files, in place");
  command->footer(kFooter);
  add_files(*command, options->files);
  command
      ->add_option("--nodata", options->nodata,
                   "The value of missing pixels: a number, nan, or none. Changes the tag; pixels keep their values")
      ->type_name("VALUE");
  command->add_option("--crs", options->crs, "EPSG:32632, WKT, PROJJSON, or none")->type_name("CRS");
  command->add_option("--transform", options->transform, "x,dx,0,y,0,dy in GDAL's order, or none")->type_name("LIST");
  command->add_option("--set", options->set, "A metadata item, KEY=VALUE; KEY= removes it; may be repeated")
      ->type_name("ITEM")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--unset", options->unset, "A metadata item to remove; may be repeated")
      ->type_name("KEY")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command->add_option("--band", options->band, "The band for the options below, --set and --unset")->type_name("N");
  command->add_option("--description", options->description, "Description of the band; empty: none")->type_name("TEXT");
  command->add_option("--unit", options->unit, "Unit of the band; empty: none")->type_name("TEXT");
  command->add_option("--scale", options->scale, "Scale of the band: value = stored * scale + offset")
      ->type_name("FACTOR");
  command->add_option("--offset", options->offset, "Offset of the band")->type_name("NUMBER");
  command->add_flag("--rewrite", options->rewrite, "Write a new file; tiles are copied without recompression");
  command->add_flag("--fsync", options->fsync, "Sync the change to disk before the command ends");
  command->add_flag("--json", options->json, "JSON instead of text");
  command->add_flag("-q,--quiet", options->quiet, "No progress bar, no notes, no warnings");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
