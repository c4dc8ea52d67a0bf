// SPDX-License-Identifier: Apache-2.0
#include "options/write_options.hpp"

#include "options/codec_choices.hpp"
#include "options/parse.hpp"

#include "terrazzo/error.hpp"

#include <charconv>
#include <string_view>

namespace terrazzo::cli {
namespace {

constexpr char kCompression[] = "Compression";
constexpr char kLayout[] = "Layout";
constexpr char kDescription[] = "Description";
constexpr char kOverviews[] = "Overviews";
constexpr char kPixels[] = "Pixels";
constexpr char kWriting[] = "Writing";
constexpr char kEngine[] = "Engine";

std::optional<std::uint32_t> whole(std::string_view text) {
  std::uint32_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) { return std::nullopt; }
  return value;
}

TileSize parse_tile_size(std::string const& text) {
  std::size_t const cross = text.find_first_of("x,");
  auto const width = whole(std::string_view(text).substr(0, cross));
  auto const height = cross == std::string::npos ? width : whole(std::string_view(text).substr(cross + 1));
  if (!width || !height) { throw Error(ErrorKind::usage, "--tile-size takes 512 or 512x256, not \"" + text + "\""); }
  return {*width, *height};
}

std::vector<std::uint32_t> parse_factors(std::string const& name, std::string const& text) {
  std::vector<std::uint32_t> factors;
  if (text == "none") { return factors; }
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t const comma = std::min(text.find(',', at), text.size());
    auto const factor = whole(std::string_view(text).substr(at, comma - at));
    if (!factor) {
      throw Error(ErrorKind::usage, name + " takes factors such as 2,4,8, or none; not \"" + text + "\"");
    }
    factors.push_back(*factor);
    at = comma + 1;
  }
  return factors;
}

}  // namespace

Crs parse_crs(std::string const& text) {
  Crs crs;
  std::string_view number = text;
  if (number.starts_with("EPSG:") || number.starts_with("epsg:")) { number.remove_prefix(5); }
  if (auto const code = whole(number)) {
    crs.epsg = static_cast<int>(*code);
  } else if (text.starts_with("{")) {
    crs.projjson = text;
  } else {
    crs.wkt = parse_crs_text("--crs", text);
  }
  return crs;
}

void add_compression(CLI::App& command, WriteChoices& choices) {
  add_choice(
      command, "--compression", compression_names(),
      [&](std::size_t i) { choices.compression = parse_compression(compression_names()[i]); }, compressions_text())
      ->group(kCompression);
  command.add_option("--compression-level", choices.level, levels_text())->type_name("N")->group(kCompression);
  command.add_flag("--checksum", choices.checksum, "ZSTD: store a checksum in every tile, which decoders verify")
      ->group(kCompression);
  static constexpr PredictorChoice kPredictors[] = {PredictorChoice::automatic, PredictorChoice::none,
                                                    PredictorChoice::horizontal, PredictorChoice::floating_point};
  add_choice(
      command, "--predictor", {"auto", "none", "2", "3"}, [&](std::size_t i) { choices.predictor = kPredictors[i]; },
      "auto (default: 3 for floats, 2 for integers), none, 2 or 3")
      ->group(kCompression);
  command.add_option("--max-error", choices.max_error, "LERC: maximum change of a pixel; 0 (default): lossless")
      ->type_name("ERROR")
      ->group(kCompression);
  command.add_option("--quality", choices.quality, "JPEG and lossy WebP: 1-100, default 75")
      ->type_name("N")
      ->group(kCompression);
  command.add_flag("--lossy", choices.lossy, "JPEG 2000 and WebP: lossy, for smaller files")->group(kCompression);
  command.add_option("--rate", choices.rate, "JPEG 2000 with --lossy: target compression ratio, e.g. 20")
      ->type_name("RATIO")
      ->group(kCompression);
  static constexpr ChromaSubsampling kChroma[] = {ChromaSubsampling::s420, ChromaSubsampling::s422,
                                                  ChromaSubsampling::s444};
  add_choice(
      command, "--chroma", {"420", "422", "444"}, [&](std::size_t i) { choices.chroma = kChroma[i]; },
      "JPEG: chroma subsampling, 420 (default), 422 or 444 (none)")
      ->group(kCompression);
}

void add_layout(CLI::App& command, WriteChoices& choices, bool strips) {
  auto* tiles = command
                    .add_option_function<std::string>(
                        "--tile-size", [&](std::string const& text) { choices.tile_size = parse_tile_size(text); },
                        "Tiles of N or WxH pixels, multiples of 16; default 512")
                    ->type_name("N")
                    ->group(kLayout);
  if (strips) {
    command.add_option("--strips", choices.strip_rows, "Strips of N rows instead of tiles")
        ->type_name("N")
        ->group(kLayout)
        ->excludes(tiles);
  }
  add_choice(
      command, "--interleave", {"pixel", "band"},
      [&](std::size_t i) { choices.planar = i == 0 ? PlanarLayout::contiguous : PlanarLayout::separate; },
      "Store bands together (pixel, the default) or in separate planes (band)")
      ->group(kLayout);
  static constexpr BigTiff kBig[] = {BigTiff::automatic, BigTiff::always, BigTiff::never};
  add_choice(
      command, "--bigtiff", {"auto", "yes", "no"}, [&](std::size_t i) { choices.bigtiff = kBig[i]; },
      "BigTIFF: auto (default: if the file could exceed 4 GiB), yes or no")
      ->group(kLayout);
  command.add_flag("--sparse", choices.sparse, "Tiles that hold only nodata (or 0) take no space")->group(kLayout);
}

void add_description(CLI::App& command, WriteChoices& choices) {
  auto* const nodata =
      command
          .add_option(
              "--nodata", choices.nodata,
              "The value of missing pixels: a number, nan, or none. NaN becomes this value; with --dtype, --scale, "
              "--masked or --unpack missing pixels do too. Otherwise pixels with the source's nodata value stay and "
              "count as data")
          ->type_name("VALUE")
          ->group(kDescription);
  command
      .add_flag(
          "--mask", choices.mask,
          "Write a mask of the pixels that are valid in any band, instead of nodata; recommended for lossy codecs "
          "(JPEG, WebP)")
      ->excludes(nodata)
      ->group(kDescription);
  command.add_option("--crs", choices.crs, "The CRS, replacing the source's: EPSG:32632, WKT, PROJJSON, or none")
      ->type_name("CRS")
      ->group(kDescription);
  command.add_flag("--statistics", choices.statistics, "Store minimum, maximum, mean and deviation of every band")
      ->group(kDescription);
}

namespace {

void add_factors(CLI::App& command, WriteChoices& choices, std::string const& factors) {
  command
      .add_option_function<std::string>(
          factors, [&choices, factors](std::string const& text) { choices.overviews = parse_factors(factors, text); },
          "Factors such as 2,4,8, or none")
      ->type_name("LIST")
      ->group(kOverviews);
}

}  // namespace

void add_overview_choices(CLI::App& command, WriteChoices& choices, std::string const& factors) {
  add_factors(command, choices, factors);
  add_method(command, "--resampling", choices.overview_resampling,
             "default: nearest for palettes and classes, else average")
      ->group(kOverviews);
}

void add_named_overview_choices(CLI::App& command, WriteChoices& choices) {
  add_factors(command, choices, "--overviews");
  add_method(command, "--overview-resampling", choices.overview_resampling,
             "how overviews are made; default: nearest for palettes and classes, else average")
      ->group(kOverviews);
}

void add_writing(CLI::App& command, WriteChoices& choices) {
  auto const add_size = [&](char const* name, std::uint64_t& target, char const* description) {
    command
        .add_option_function<std::string>(
            name, [name, &target](std::string const& text) { target = parse_size(name, text); }, description)
        ->type_name("SIZE")
        ->group(kWriting);
  };
  add_size("--buffer", choices.buffer_bytes, "Memory for rows that wait for encoding, default 256M");
  add_size("--spool", choices.spool_bytes, "Memory for compressed tiles that wait for writing (COG), default 1G");
  command.add_flag("--fsync", choices.fsync, "Sync the file to disk before the command ends")->group(kWriting);
}

void add_conversion_choices(CLI::App& command, WriteChoices& choices, Selection& selection, bool strips) {
  add_compression(command, choices);
  add_layout(command, choices, strips);
  add_named_overview_choices(command, choices);
  add_method(command, "--resampling", choices.resampling,
             "how a target is made, default nearest; without a target: --overview-resampling")
      ->group(kPixels);
  add_description(command, choices);
  add_area(command, selection);
  add_level(command, selection);
  add_target(command, selection);
  add_boundless(command, selection);
  add_conversion(command, selection);
  add_tolerance(command, selection);
  add_writing(command, choices);
  add_write_engine(command, choices);
}

void add_write_engine(CLI::App& command, WriteChoices& choices) {
  auto* const device = command
                           .add_flag_callback(
                               "--device", [&choices] { choices.engine = Engine::device; },
                               "Decode, reduce and compress on the GPU; an error without one (`terrazzo doctor` shows "
                               "the reason)")
                           ->group(kEngine);
  command
      .add_flag_callback(
          "--host", [&choices] { choices.engine = Engine::host; },
          "Do all work on the host's cores; overrides TERRAZZO_ENGINE")
      ->excludes(device)
      ->group(kEngine);
  command
      .add_option_function<std::string>(
          "--device-budget",
          [&choices](std::string const& text) { choices.device_budget_bytes = parse_size("--device-budget", text); },
          "GPU memory for all work, e.g. 1G; half of it for reading if the GPU decodes the source; at least the need "
          "of one row of tiles. 0 (default): TERRAZZO_DEVICE_BUDGET or a quarter of the free memory, at most 8G")
      ->needs(device)
      ->type_name("SIZE")
      ->group(kEngine);
}

void apply_engine(WriteChoices const& choices, ReadRequest& request) {
  if (choices.engine == Engine::host) { request.engine = Engine::host; }
  request.exact = true;
}

void apply_choices(WriteChoices const& choices, WriteOptions& options) {
  options.compression = choices.compression.value_or(options.compression);
  if (choices.level) { options.level = choices.level; }
  options.checksum = choices.checksum;
  options.predictor = choices.predictor.value_or(options.predictor);
  options.lerc_max_error = choices.max_error.value_or(options.lerc_max_error);
  options.quality = choices.quality.value_or(options.quality);
  if (choices.lossy) { options.lossless = false; }
  options.jpeg2000_rate = choices.rate.value_or(options.jpeg2000_rate);
  options.chroma = choices.chroma.value_or(options.chroma);
  options.tile_size = choices.tile_size.value_or(options.tile_size);
  if (choices.strip_rows) { options.strip_rows = choices.strip_rows; }
  options.planar = choices.planar.value_or(options.planar);
  check_codec_choices(choices, options);
  options.bigtiff = choices.bigtiff.value_or(options.bigtiff);
  options.sparse = choices.sparse;
  options.statistics = choices.statistics;
  options.durability = choices.fsync ? Durability::fsync : Durability::none;
  if (choices.nodata == "none") {
    options.nodata.reset();
  } else if (choices.nodata) {
    options.nodata = make_nodata(*choices.nodata, options.dtype);
    options.nan_to_nodata = true;  // an explicit value marks missing pixels
  }
  if (choices.mask) {
    options.mask = true;
    options.nodata.reset();
  }
  if (choices.crs == "none") {
    options.georeference.crs.reset();
  } else if (choices.crs) {
    options.georeference.crs = parse_crs(*choices.crs);
  }
  if (choices.overview_resampling) { options.overview_resampling = choices.overview_resampling; }
  if (choices.overviews) { options.overview_factors = choices.overviews; }
  if (choices.buffer_bytes != 0) { options.streaming_buffer_bytes = choices.buffer_bytes; }
  if (choices.spool_bytes != 0) { options.spool_bytes = choices.spool_bytes; }
  options.engine = choices.engine;
  options.device_budget_bytes = choices.device_budget_bytes;
}

void apply_resampling(WriteChoices const& choices, ReadRequest& request, WriteOptions& options) {
  if (!choices.resampling) { return; }
  if (request.has_target()) {
    request.resampling = *choices.resampling;
    return;
  }
  if (choices.overview_resampling) {
    throw Error(ErrorKind::usage, "without a target, --resampling is --overview-resampling: give one of them");
  }
  if (!options.cog && !choices.overviews) {
    throw Error(ErrorKind::usage, "--resampling needs a target (--target-size, --target-resolution) or --overviews");
  }
  options.overview_resampling = choices.resampling;
}

}  // namespace terrazzo::cli
