// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "progress_bar.hpp"
#include "write_options.hpp"

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
    R"(Pixels are not touched. What fits is written in place, and a COG stays valid; else new directories are added to the
end of the file. A COG without room needs --rewrite, which copies its tiles into a fresh file without compressing them
again. --band says which band --description, --unit, --scale, --offset and then also --set and --unset are about.

Examples:
  terrazzo edit dem.tif --nodata -9999 --crs EPSG:32633
  terrazzo edit dem.tif --set AUTHOR=me --unset TIFFTAG_SOFTWARE
  terrazzo edit dem.tif --band 2 --description slope --unit degree --scale 0.01
  terrazzo edit dem.tif --transform 500000,10,0,4600000,0,-10
  terrazzo edit cog.tif --set HISTORY="..." --rewrite)";

struct Options {
  std::string file;
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
    throw Error(ErrorKind::usage, "--description, --unit, --scale and --offset are of a band: type --band N too");
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

// Whether anything was asked for.
bool says_something(Options const& options) {
  return options.nodata || options.crs || options.transform || options.description || options.unit || options.scale ||
         options.offset || !options.set.empty() || !options.unset.empty() || options.rewrite;
}

int run(Options const& options) {
  if (!says_something(options)) {
    throw Error(
        ErrorKind::usage,
        "what is to be changed? Type --nodata VALUE, --crs CRS, --transform LIST, --set KEY=VALUE, --unset KEY, or "
        "--band N with --description, --unit, --scale or --offset; --rewrite alone puts a file in order");
  }
  FileEdit const changes = make_changes(options);
  ProgressBar bar("edit", options.quiet);
  EditOptions how;
  how.rewrite = options.rewrite;
  how.durability = options.fsync ? Durability::fsync : Durability::none;
  how.progress = bar.callback();
  how.cancel = cancel_flag();
  EditReport const report = edit(options.file, changes, how);
  bar.clear();
  if (options.json) {
    print_json({{"file", options.file},
                {"way", to_string(report.way)},
                {"bytes", report.file_bytes},
                {"hidden_by_sidecar", report.hidden_by_sidecar},
                {"no_longer_cog", report.no_longer_cog}});
    return kExitOk;
  }
  if (!options.quiet) {
    bool const nothing = report.way == EditWay::nothing;
    std::cout << options.file << ": " << (nothing ? "nothing to change" : to_string(report.way)) << ", "
              << format_bytes(report.file_bytes) << '\n';
    if (report.no_longer_cog) {
      std::cerr << "terrazzo: warning: " << options.file
                << " was laid out as a COG and is no COG any more; \"terrazzo edit FILE --rewrite\" puts it in order\n";
    }
    if (report.hidden_by_sidecar) {
      std::cerr << "terrazzo: warning: " << options.file
                << ".aux.xml, or another file beside it, says something else, and readers will believe that\n";
    }
  }
  return kExitOk;
}

}  // namespace

void add_edit(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("edit", "Nodata, CRS, transform and metadata of a file, in place");
  command->footer(kFooter);
  add_file(*command, options->file);
  command->add_option("--nodata", options->nodata, "The value of missing pixels: a number, nan, or none")
      ->type_name("VALUE");
  command->add_option("--crs", options->crs, "EPSG:32632, WKT, PROJJSON, or none")->type_name("CRS");
  command->add_option("--transform", options->transform, "x,dx,0,y,0,dy as GDAL orders them, or none")
      ->type_name("LIST");
  command->add_option("--set", options->set, "An item of metadata, KEY=VALUE; KEY= removes it; any number of times")
      ->type_name("ITEM")
      ->take_all()
      ->expected(1);
  command->add_option("--unset", options->unset, "An item of metadata to remove; any number of times")
      ->type_name("KEY")
      ->take_all()
      ->expected(1);
  command->add_option("--band", options->band, "The band that the options below, --set and --unset are about")
      ->type_name("N");
  command->add_option("--description", options->description, "Of the band; empty: none")->type_name("TEXT");
  command->add_option("--unit", options->unit, "Of the band; empty: none")->type_name("TEXT");
  command->add_option("--scale", options->scale, "Of the band: value = stored * scale + offset")->type_name("FACTOR");
  command->add_option("--offset", options->offset, "Of the band")->type_name("NUMBER");
  command->add_flag("--rewrite", options->rewrite, "Into a fresh file, tiles copied as they are");
  command->add_flag("--fsync", options->fsync, "The change is on the disk when the command ends");
  command->add_flag("--json", options->json, "JSON instead of text");
  command->add_flag("-q,--quiet", options->quiet, "No progress bar, no notes, no warnings");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
