// SPDX-License-Identifier: Apache-2.0
#include "write/plan/file_plan.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "codec/registry/codec.hpp"
#include "terrazzo/codecs.hpp"
#include "terrazzo/error.hpp"
#include "write/overviews/reduction.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <string>

namespace terrazzo::writing {

namespace {

static_assert(std::endian::native == std::endian::little, "samples go to the file as they lie in memory");

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

codec::ChosenCodec codec_of(Compression compression) {
  codec::ChosenCodec const chosen = codec::find_choice(compression);
  if (chosen.codec == nullptr) { refuse("this compression is not known"); }
  return chosen;
}

// "lzw, deflate and zstd": the selectable compressions that have a property.
template <class Has>
std::string names_of(Has const& has) {
  std::string names, last;
  for (Compression const compression : compressions()) {
    codec::ChosenCodec const chosen = codec_of(compression);
    if (chosen.choice->around || !has(*chosen.codec)) { continue; }
    if (!last.empty()) { names += (names.empty() ? "" : ", ") + last; }
    last = chosen.choice->name;
  }
  return names.empty() ? last : names + " and " + last;
}

tiff::SampleFormat sample_format(DType dtype) {
  if (dtype == DType::ci16 || dtype == DType::ci32) { return tiff::SampleFormat::complex_int; }
  if (is_complex(dtype)) { return tiff::SampleFormat::complex_float; }
  if (is_floating(dtype)) { return tiff::SampleFormat::ieee_float; }
  return is_signed(dtype) ? tiff::SampleFormat::int_ : tiff::SampleFormat::uint;
}

bool takes_predictor(codec::Codec const& codec) { return codec.predictor == codec::PredictorUse::read_write; }

tiff::Predictor choose_predictor(WriteOptions const& options) {
  bool const possible = takes_predictor(*codec_of(options.compression).codec);
  switch (options.predictor) {
    case PredictorChoice::none: return tiff::Predictor::none;
    case PredictorChoice::automatic:
      if (!possible || is_complex(options.dtype)) { return tiff::Predictor::none; }
      return is_floating(options.dtype) ? tiff::Predictor::floating_point : tiff::Predictor::horizontal;
    case PredictorChoice::horizontal:
      if (is_complex(options.dtype)) { refuse("predictor 2 is for integers and floats, not for complex samples"); }
      break;
    case PredictorChoice::floating_point:
      if (!is_floating(options.dtype)) {
        refuse(text("predictor 3 is for floats, and the samples are ", to_string(options.dtype)));
      }
      break;
  }
  if (!possible) {
    refuse(text(to_string(options.compression), " takes no predictor; these codecs do: ", names_of(takes_predictor)));
  }
  return options.predictor == PredictorChoice::horizontal ? tiff::Predictor::horizontal
                                                          : tiff::Predictor::floating_point;
}

bool has_color(WriteOptions const& options, std::size_t band, ColorInterpretation color) {
  return band < options.band_info.size() && options.band_info[band].color == color;
}

// As in GDAL: by the bands' colours if they are given, otherwise RGB(A) for three or four bands of bytes.
tiff::Photometric choose_photometric(WriteOptions const& options) {
  if (options.photometric) {
    std::string const& name = *options.photometric;
    if (name == "minisblack") { return tiff::Photometric::min_is_black; }
    if (name == "miniswhite") { return tiff::Photometric::min_is_white; }
    if (name == "cmyk" && options.bands >= 4) { return tiff::Photometric::separated; }
    if (name == "rgb" && options.bands >= 3) { return tiff::Photometric::rgb; }
    refuse(text("photometric \"", name,
                "\" is not one of minisblack, miniswhite, rgb (3 bands or more), cmyk (4 or more)"));
  }
  if (!options.band_info.empty() && !options.band_info[0].color_table.empty()) { return tiff::Photometric::palette; }
  bool const rgb_named = has_color(options, 0, ColorInterpretation::red) &&
                         has_color(options, 1, ColorInterpretation::green) &&
                         has_color(options, 2, ColorInterpretation::blue);
  bool const named = std::ranges::any_of(
      options.band_info, [](BandInfo const& band) { return band.color != ColorInterpretation::undefined; });
  bool const rgb_shaped = options.dtype == DType::u8 && (options.bands == 3 || options.bands == 4);
  return options.bands >= 3 && (rgb_named || (!named && rgb_shaped)) ? tiff::Photometric::rgb
                                                                     : tiff::Photometric::min_is_black;
}

std::vector<std::uint16_t> choose_extra_samples(WriteOptions const& options, tiff::Photometric photometric) {
  constexpr std::uint16_t kUnspecified = 0, kAssociatedAlpha = 1, kUnassociatedAlpha = 2;
  std::uint32_t const base = photometric == tiff::Photometric::rgb         ? 3
                             : photometric == tiff::Photometric::separated ? 4
                                                                           : 1;
  std::vector<std::uint16_t> extra;
  for (std::uint32_t band = base; band < options.bands; ++band) {
    // Four bands of bytes without stated colours are RGBA, as in GDAL.
    bool const implied = photometric == tiff::Photometric::rgb && options.band_info.empty() && options.bands == 4 &&
                         options.dtype == DType::u8;
    bool const alpha = implied || has_color(options, band, ColorInterpretation::alpha);
    bool const associated = band < options.band_info.size() && options.band_info[band].is_premultiplied();
    extra.push_back(!alpha ? kUnspecified : associated ? kAssociatedAlpha : kUnassociatedAlpha);
  }
  return extra;
}

codec::Encoder const& encoder_of(tiff::Compression compression, std::string_view name) {
  codec::Encoder const* const encoder = codec::find_encoder(compression);
  if (encoder == nullptr) { throw Error(ErrorKind::unsupported, text("Terrazzo does not write ", name)); }
  if (encoder->encode == nullptr) {
    throw Error(ErrorKind::unsupported,
                text("writing ", name, " needs ", encoder->library, ", which this build lacks"));
  }
  return *encoder;
}

int choose_level(WriteOptions const& options, codec::Encoder const& encoder) {
  auto const around = codec_of(options.compression).choice->around;
  codec::Encoder const& leveled = around ? encoder_of(*around, tiff::compression_name(*around)) : encoder;
  if (!options.level) { return leveled.default_level; }
  if (leveled.lowest_level == 0 && leveled.highest_level == 0) {
    refuse(text(to_string(options.compression), " has no levels; ",
                names_of([](codec::Codec const& codec) { return codec.encoder.highest_level != 0; }), " have"));
  }
  if (*options.level < leveled.lowest_level || *options.level > leveled.highest_level) {
    refuse(text("level ", *options.level, " of ", to_string(options.compression), " is not from ", leveled.lowest_level,
                " to ", leveled.highest_level));
  }
  return *options.level;
}

codec::EncodeFormat make_format(FilePlan const& plan) {
  WriteOptions const& options = plan.options;
  if (options.checksum && !plan.encoder->settings.checksum) {
    refuse(text(to_string(options.compression), " has no checksums; ",
                names_of([](codec::Codec const& codec) { return codec.encoder.settings.checksum; }), " has"));
  }
  codec::EncodeFormat format;
  codec::ChosenCodec const chosen = codec_of(options.compression);
  format.block.compression = chosen.codec->compression;
  format.block.samples_per_pixel = plan.samples_per_block;
  format.block.bits_per_sample = static_cast<std::uint32_t>(plan.sample_bytes() * 8);
  format.block.sample_format = sample_format(options.dtype);
  format.block.photometric = plan.photometric;
  format.block.extra_samples = plan.planes == 1 ? static_cast<std::uint32_t>(plan.extra_samples.size()) : 0;
  format.block.last_sample_is_alpha = plan.planes == 1 && !plan.extra_samples.empty() && plan.extra_samples.back() != 0;
  format.block.lerc_additional_compression = chosen.choice->lerc_additional_compression;
  format.is_predicted = plan.predictor != tiff::Predictor::none;
  format.level = choose_level(options, *plan.encoder);
  format.checksum = options.checksum;
  format.lerc_max_error = options.lerc_max_error;
  format.quality = options.quality;
  format.lossless = options.lossless;
  format.jpeg2000_rate = options.jpeg2000_rate;
  format.chroma_horizontal = options.chroma == ChromaSubsampling::s444 ? 1 : 2;
  format.chroma_vertical = options.chroma == ChromaSubsampling::s420 ? 2 : 1;
  return format;
}

codec::EncodeFormat make_mask_format(WriteOptions const& options) {
  codec::EncodeFormat format;
  format.block.compression = codec::kFallbackCompression;
  format.block.bits_per_sample = options.mask_bits == 0 ? 1 : options.mask_bits;
  format.block.photometric = tiff::Photometric::mask;
  format.level = 6;
  return format;
}

LevelPlan make_level(std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  LevelPlan level;
  level.width = width;
  level.height = height;
  level.block_width = options.strip_rows ? width : options.tile_size.width;
  level.block_height = options.strip_rows ? std::min(*options.strip_rows, height) : options.tile_size.height;
  level.blocks_across = ceil_div(width, level.block_width);
  level.blocks_down = ceil_div(height, level.block_height);
  return level;
}

struct Size {
  std::uint32_t width, height;

  [[nodiscard]] bool is_one_pixel() const noexcept { return width == 1 && height == 1; }
};

// Sizes as in GDAL: levels requested by factor are rounded up; the default levels of a COG are halved and rounded down
// until one tile holds the larger side. Only one level has a single pixel.
std::vector<Size> overview_sizes(Size full, WriteOptions const& options) {
  std::vector<Size> sizes;
  if (options.overview_factors) {
    std::uint32_t before = 1;
    for (std::uint32_t const factor : *options.overview_factors) {
      if (factor < 2) { refuse(text("overview factors are whole numbers from 2 on, such as 2,4,8: not ", factor)); }
      if (factor <= before) {
        refuse(text("overview factors go up, such as 2,4,8: ", factor, " comes after ", before));
      }
      if (!sizes.empty() && sizes.back().is_one_pixel()) {
        refuse(text("the overview of factor ", before, " has one pixel already: one of factor ", factor,
                    " would be no smaller"));
      }
      sizes.push_back({overview_size(full.width, factor), overview_size(full.height, factor)});
      before = factor;
    }
    return sizes;
  }
  if (!options.cog) { return sizes; }
  std::uint32_t const enough = std::max(options.tile_size.width, options.tile_size.height);
  for (Size size = full; std::max(size.width, size.height) > enough;) {
    size = {std::max(size.width / 2, 1U), std::max(size.height / 2, 1U)};
    sizes.push_back(size);
  }
  return sizes;
}

// As in GDAL: from the previous level, unless that is no wider.
std::size_t source_of(std::vector<LevelPlan> const& levels, std::size_t level) {
  return levels[level - 1].width > levels[level].width ? level - 1 : 0;
}

Resampling choose_resampling(WriteOptions const& options) {
  if (options.overview_resampling) { return *options.overview_resampling; }
  bool const classes = std::ranges::any_of(options.band_info, [](BandInfo const& band) {
    return !band.color_table.empty() || !band.category_names.empty();
  });
  return classes ? Resampling::nearest : Resampling::average;
}

void check_layout(WriteOptions const& options) {
  if (options.strip_rows) {
    if (options.cog) { refuse("a COG has tiles, not strips"); }
    if (*options.strip_rows == 0) { refuse("a strip has at least one row"); }
    return;
  }
  TileSize const size = options.tile_size;
  if (size.width == 0 || size.height == 0 || size.width % 16 != 0 || size.height % 16 != 0) {
    refuse(text("tiles of ", size.width, " x ", size.height, ": both sides must be multiples of 16, and at least 16"));
  }
  constexpr std::uint32_t kLargest = 65536;
  if (size.width > kLargest || size.height > kLargest) { refuse("a side of a tile has at most 65536 pixels"); }
}

void check_values(WriteOptions const& options) {
  if (options.bands == 0 || options.bands > 65535) { refuse(text(options.bands, " bands: a file holds 1 to 65535")); }
  if (!options.band_info.empty() && options.band_info.size() != options.bands) {
    refuse(text("band_info describes ", options.band_info.size(), " bands of ", options.bands));
  }
  if (options.mask_bits != 0 && options.mask_bits != 1 && options.mask_bits != 8) {
    refuse(text("a mask has 1 or 8 bits, not ", options.mask_bits));
  }
  if (options.quality < 1 || options.quality > 100) { refuse("quality is from 1 to 100"); }
  if (!(options.lerc_max_error >= 0)) { refuse("the largest error of LERC is 0 or more"); }
  if (options.lerc_max_error > 0 && !settings_of(options.compression).max_error) {
    refuse("a largest error is for LERC");
  }
  if (options.nodata && !options.nodata->representable) {
    refuse(text("nodata ", options.nodata->text, " is no value of ", to_string(options.dtype)));
  }
  for (BandInfo const& band : options.band_info) {
    if (band.color_table.empty()) { continue; }
    if (options.bands != 1 || (options.dtype != DType::u8 && options.dtype != DType::u16)) {
      refuse("a colour table is for one band of uint8 or uint16");
    }
    if (band.color_table.size() > (options.dtype == DType::u8 ? 256U : 65536U)) {
      refuse("the colour table has too many entries");
    }
  }
}

bool needs_bigtiff(FilePlan const& plan) {
  std::uint64_t total = std::uint64_t{16} << 20;  // header, directories, metadata
  constexpr std::uint64_t kClassicLimit = 0xFFFFFFFFULL;
  for (LevelPlan const& level : std::span(plan.levels).subspan(plan.first_level)) {
    codec::BlockShape const shape{level.block_width, level.block_height};
    std::uint64_t block = plan.encoder->bound(plan.format, shape) + 8 + 32;
    if (plan.mask_encoder != nullptr) { block += plan.mask_encoder->bound(plan.mask_format, shape) + 8 + 16; }
    auto const bytes = checked_product(block, level.blocks_per_plane(), plan.planes);
    if (!bytes || *bytes > kClassicLimit) { return true; }
    total += *bytes;
    if (total > kClassicLimit) { return true; }
  }
  return false;
}

// The size of uncompressed pixels is known: report an error now rather than after 4 GiB.
void check_classic(FilePlan const& plan) {
  if (plan.options.bigtiff != BigTiff::never || tiff::is_compressed(plan.format.block.compression) ||
      plan.options.sparse) {
    return;
  }
  for (LevelPlan const& level : std::span(plan.levels).subspan(plan.first_level)) {
    auto const bytes = checked_product(level.width, level.height, plan.options.bands, plan.sample_bytes());
    if (!bytes || *bytes > 0xFFFFFFFFULL) {
      refuse(
          "the pixels take more than 4 GiB, the limit of a classic TIFF file: use BigTiff::automatic or a compression");
    }
  }
}

void check_codec(FilePlan const& plan) {
  if (std::string const reason = plan.encoder->refuse(plan.format); !reason.empty()) {
    refuse(text(reason, " (here a pixel has ", plan.samples_per_block, " of ", to_string(plan.options.dtype), ")"));
  }
  if (plan.encoder->refuse_shape != nullptr) {
    for (LevelPlan const& level : std::span(plan.levels).subspan(plan.first_level)) {
      for (std::uint32_t const row : {0U, level.blocks_down - 1}) {
        std::string const reason = plan.encoder->refuse_shape(plan.format, plan.shape_of(level, row));
        if (!reason.empty()) { refuse(reason); }
      }
    }
  }
  LevelPlan const& level = plan.levels.front();
  // The size of a block must fit in 32 bits, which every reader supports.
  auto const bytes =
      checked_product(level.block_width, level.block_height, plan.samples_per_block, plan.sample_bytes());
  if (!bytes || *bytes > 0x7FFFFFFFULL) { refuse("a tile or strip would hold more than 2 GiB"); }
  auto const blocks = checked_product(level.blocks_across, level.blocks_down, plan.planes);
  if (!blocks || *blocks > 0x7FFFFFFFULL) {
    refuse("there would be more than 2147483647 tiles or strips: take larger ones");
  }
}

// The plan of a file with all levels, including the raster.
FilePlan plan_levels(std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  if (width == 0 || height == 0) { refuse("a raster has at least one pixel"); }
  if (width > 0x7FFFFFFFU || height > 0x7FFFFFFFU) { refuse("a side of a raster has at most 2147483647 pixels"); }
  check_layout(options);
  check_values(options);
  FilePlan plan;
  plan.options = options;
  bool const separate = options.planar == PlanarLayout::separate && options.bands > 1;
  plan.planes = separate ? options.bands : 1;
  plan.samples_per_block = separate ? 1 : options.bands;
  plan.tiled = !options.strip_rows;
  plan.predictor = choose_predictor(options);
  plan.photometric = choose_photometric(options);
  plan.extra_samples = choose_extra_samples(options, plan.photometric);
  plan.resampling = choose_resampling(options);
  plan.encoder = &encoder_of(codec_of(options.compression).codec->compression, to_string(options.compression));
  // JPEG of three bands is stored as YCbCr, which compresses better.
  if (settings_of(options.compression).chroma && plan.photometric == tiff::Photometric::rgb && !separate &&
      options.bands == 3) {
    plan.photometric = tiff::Photometric::ycbcr;
  }
  plan.format = make_format(plan);
  if (options.mask) {
    plan.mask_format = make_mask_format(options);
    plan.mask_encoder = &encoder_of(codec::kFallbackCompression,
                                    text("a mask (", tiff::compression_name(codec::kFallbackCompression), ")"));
  }
  plan.levels.push_back(make_level(width, height, options));
  for (Size const size : overview_sizes({width, height}, options)) {
    plan.levels.push_back(make_level(size.width, size.height, options));
    plan.source_of.push_back(source_of(plan.levels, plan.levels.size() - 1));
  }
  check_codec(plan);
  plan.bigtiff = options.bigtiff == BigTiff::always || (options.bigtiff == BigTiff::automatic && needs_bigtiff(plan));
  return plan;
}

}  // namespace

std::uint32_t LevelPlan::rows_of(std::uint32_t block_row) const noexcept {
  return std::min(block_height, height - first_row(block_row));
}

codec::BlockShape FilePlan::shape_of(LevelPlan const& level, std::uint32_t block_row) const noexcept {
  return {level.block_width, tiled ? level.block_height : level.rows_of(block_row)};
}

bool FilePlan::repeats_last_row() const noexcept {
  codec::Codec const* const codec = codec::find_codec(format.block.compression);
  return codec != nullptr && codec->padding == codec::Padding::last_row;
}

std::uint64_t FilePlan::block_bytes(codec::BlockShape shape) const noexcept {
  return std::uint64_t{shape.width_px} * shape.height_px * samples_per_block * sample_bytes();
}

std::uint64_t FilePlan::tile_count() const noexcept {
  std::uint64_t tiles = 0;
  for (LevelPlan const& level : std::span(levels).subspan(first_level)) {
    tiles += level.blocks_per_plane() * (planes + (options.mask ? 1 : 0));
  }
  return tiles;
}

FilePlan plan_file(std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  FilePlan plan = plan_levels(width, height, options);
  check_classic(plan);
  return plan;
}

FilePlan plan_overviews(std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  if (options.cog) { refuse("overviews alone are no COG"); }
  FilePlan plan = plan_levels(width, height, options);
  if (plan.levels.size() == 1) { refuse("no overviews were asked for"); }
  plan.first_level = 1;
  check_classic(plan);
  plan.bigtiff = options.bigtiff == BigTiff::always || (options.bigtiff == BigTiff::automatic && needs_bigtiff(plan));
  return plan;
}

}  // namespace terrazzo::writing
