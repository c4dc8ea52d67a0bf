// SPDX-License-Identifier: Apache-2.0
#include "tiff/image.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_lists.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace terrazzo::tiff {

namespace {

constexpr std::uint64_t kMaxSide = std::numeric_limits<std::int32_t>::max();  // GDAL's, and more than anyone has
constexpr std::uint64_t kMaxSamples = 65535;                                  // the tag is a SHORT
constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 40;  // keeps products of sizes far from 2^64
constexpr std::uint64_t kMaxJpegTablesBytes = 1 << 16;  // four tables of each kind take 2 KiB
constexpr std::uint64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();  // GDAL's too

[[noreturn]] void refuse(ErrorKind kind, Directory const& dir, std::uint16_t tag, std::string message) {
  throw Error(kind, std::move(message), {.source = dir.reader().source()->name(), .ifd = dir.index(), .tag = tag});
}

std::uint32_t required_side(Directory const& dir, std::uint16_t tag, char const* name) {
  auto const value = dir.unsigned_value(tag);
  if (!value) { refuse(ErrorKind::malformed, dir, tag, text("the directory has no ", name)); }
  if (*value == 0 || *value > kMaxSide) { refuse(ErrorKind::malformed, dir, tag, text(name, " is ", *value)); }
  return static_cast<std::uint32_t>(*value);
}

// A tag with one value per sample that this library, like libtiff, wants to be the same for all.
std::uint32_t value_of_all_samples(Directory const& dir, std::uint16_t tag, char const* name, std::uint32_t samples,
                                   std::uint32_t fallback) {
  std::vector<std::uint64_t> const values = dir.unsigned_values(tag, samples);
  if (values.empty()) { return fallback; }
  if (std::ranges::adjacent_find(values, std::not_equal_to<>{}) != values.end()) {
    refuse(ErrorKind::unsupported, dir, tag, text("samples of different ", name));
  }
  if (values[0] > std::numeric_limits<std::uint16_t>::max()) {
    refuse(ErrorKind::malformed, dir, tag, text(name, " is ", values[0]));
  }
  return static_cast<std::uint32_t>(values[0]);
}

// A number that is a SHORT by the specification. What does not fit becomes the largest, which means nothing; cut to 16
// bits it could come out as something that does.
std::uint16_t as_short(std::uint64_t value) {
  return static_cast<std::uint16_t>(std::min<std::uint64_t>(value, std::numeric_limits<std::uint16_t>::max()));
}

void parse_samples(Directory const& dir, Image& image) {
  std::uint64_t const samples = dir.unsigned_value(tag::SamplesPerPixel).value_or(1);
  if (samples == 0 || samples > kMaxSamples) {
    refuse(ErrorKind::malformed, dir, tag::SamplesPerPixel, text("SamplesPerPixel is ", samples));
  }
  image.samples = static_cast<std::uint32_t>(samples);
  image.bits = value_of_all_samples(dir, tag::BitsPerSample, "BitsPerSample", image.samples, 1);
  if (image.bits == 0) { refuse(ErrorKind::malformed, dir, tag::BitsPerSample, "BitsPerSample is 0"); }
  image.sample_format =
      static_cast<SampleFormat>(value_of_all_samples(dir, tag::SampleFormat, "SampleFormat", image.samples, 1));
  for (std::uint64_t const kind : dir.unsigned_values(tag::ExtraSamples, image.samples)) {
    image.extra_samples.push_back(as_short(kind));
  }
}

void look_at_format(Image const& image, std::vector<std::string>& warnings) {
  auto const number = static_cast<unsigned>(image.sample_format);
  if (number == 0 || number > static_cast<unsigned>(SampleFormat::complex_float)) {
    warnings.push_back(text("SampleFormat is ", number, ": taken as unsigned numbers"));
  }
}

void parse_colour(Directory const& dir, Image& image) {
  image.photometric =
      static_cast<Photometric>(as_short(dir.unsigned_value(tag::PhotometricInterpretation).value_or(1)));
  image.ink_set = static_cast<std::uint32_t>(dir.unsigned_value(tag::InkSet).value_or(1));
  auto const sub = dir.unsigned_values(tag::YCbCrSubSampling, 2);
  if (sub.size() == 2) { image.ycbcr_subsampling = {as_short(sub[0]), as_short(sub[1])}; }
  auto const coefficients = dir.real_values(tag::YCbCrCoefficients, 3);
  if (coefficients.size() == 3) { std::ranges::copy(coefficients, image.ycbcr_coefficients.begin()); }
  auto reference = dir.real_values(tag::ReferenceBlackWhite, 6);
  if (reference.size() == 6) { image.reference_black_white = std::move(reference); }
  auto white = dir.real_values(tag::WhitePoint, 2);
  if (white.size() == 2) { image.white_point = std::move(white); }
  if (image.has_packed_chroma()) {
    for (std::uint16_t const s : image.ycbcr_subsampling) {
      if (s != 1 && s != 2 && s != 4) {
        refuse(ErrorKind::malformed, dir, tag::YCbCrSubSampling, text("YCbCrSubSampling is ", s));
      }
    }
  }
}

void parse_blocks(Directory const& dir, Image& image, std::vector<std::string>& warnings) {
  // As libtiff: it is TileWidth that makes an image tiled; strip tags of a tiled image name its tiles.
  image.tiled = dir.has(tag::TileWidth) && dir.has(tag::TileLength);
  if (image.tiled) {
    image.block_width_px = required_side(dir, tag::TileWidth, "TileWidth");
    image.block_height_px = required_side(dir, tag::TileLength, "TileLength");
  } else {
    auto const rows = dir.unsigned_value(tag::RowsPerStrip);
    if (!rows) { warnings.push_back("RowsPerStrip is missing: taken as one strip"); }
    if (rows && *rows == 0) { refuse(ErrorKind::malformed, dir, tag::RowsPerStrip, "RowsPerStrip is 0"); }
    image.block_width_px = image.width_px;
    image.block_height_px =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(rows.value_or(image.height_px), image.height_px));
  }
  image.blocks_across = ceil_div(image.width_px, image.block_width_px);
  image.blocks_down = ceil_div(image.height_px, image.block_height_px);
  // Here once for all who count blocks: block_count() cannot overflow any more.
  auto const blocks = checked_product(image.blocks_across, image.blocks_down, image.planes());
  if (!blocks || *blocks > kMaxBlocks) {
    refuse(ErrorKind::malformed, dir, image.tiled ? tag::TileWidth : tag::RowsPerStrip,
           text("the image has ", image.blocks_across, " x ", image.blocks_down, " blocks in ", image.planes(),
                " planes, more than ", kMaxBlocks));
  }
  auto const bits = checked_product(image.block_width_px, image.samples_per_block(), image.bits);
  auto const bytes = bits ? checked_product(*bits / 8 + 1, image.block_height_px) : std::nullopt;
  if (!bytes || *bytes > kMaxBlockBytes) {
    refuse(ErrorKind::malformed, dir, image.tiled ? tag::TileWidth : tag::ImageWidth,
           text("blocks of ", image.block_width_px, " x ", image.block_height_px, " pixels"));
  }
}

// Lists of blocks that are tolerated (block_index.hpp), and from which pixels are missing all the same.
void look_at_index(Directory const& dir, Image const& image, std::vector<std::string>& warnings) {
  BlockLists const lists(dir, image.tiled);
  for (BlockList const& list : {lists.offsets, lists.sizes}) {
    if (list.entry == nullptr) { continue; }
    if (!list.is_in_file) {
      warnings.push_back(text(list.name, " lies outside the file"));
    } else if (list.entry->count < image.block_count()) {
      warnings.push_back(text(list.name, " has ", list.entry->count, " of ", image.block_count(),
                              " blocks: the others count as missing"));
    }
  }
}

// Codecs that know colours: what they give for YCbCr is RGB already.
bool decodes_to_rgb(Compression compression) noexcept {
  switch (compression) {
    case Compression::jpeg:
    case Compression::jpeg2000:
    case Compression::aperio_jp2_ycbcr:
    case Compression::aperio_jp2_rgb:
    case Compression::webp: return true;
    default: return false;
  }
}

}  // namespace

std::uint32_t Image::block_rows(std::uint32_t block_row) const noexcept {
  if (tiled) { return block_height_px; }
  return std::min(block_height_px, height_px - block_row * block_height_px);
}

bool Image::has_packed_chroma() const noexcept {
  return photometric == Photometric::ycbcr && !separate_planes && samples == 3 && bits == 8 &&
         !decodes_to_rgb(compression) && compression != Compression::ojpeg;
}

bool Image::is_converted_to_rgb() const noexcept {
  bool const bilevel = bits == 1 && samples == 1;
  if (bits > 8 || bilevel) { return false; }
  bool const sgilog = compression == Compression::sgilog || compression == Compression::sgilog24;
  switch (photometric) {
    case Photometric::cielab: return bits == 8 && samples == 3;
    case Photometric::logl:
    case Photometric::logluv: return sgilog;
    case Photometric::separated: return bits == 8 && samples >= 4 && ink_set == 1;
    case Photometric::ycbcr: return bits == 8 && samples == 3 && !decodes_to_rgb(compression);
    default: return false;
  }
}

std::uint64_t Image::row_bytes() const noexcept {
  return (std::uint64_t{block_width_px} * samples_per_block() * bits + 7) / 8;
}

std::uint64_t Image::block_bytes(std::uint32_t rows) const noexcept {
  if (has_packed_chroma()) {
    std::uint64_t const h = ycbcr_subsampling[0], v = ycbcr_subsampling[1];
    return ceil_div<std::uint64_t>(block_width_px, h) * ceil_div<std::uint64_t>(rows, v) * (h * v + 2);
  }
  return row_bytes() * rows;
}

DType Image::dtype() const {
  if (is_converted_to_rgb()) { return DType::u8; }
  auto const none = [&]() -> DType {
    throw Error(ErrorKind::unsupported,
                text("samples of ", bits, " bits in format ", static_cast<unsigned>(sample_format)),
                {.ifd = ifd, .tag = tag::BitsPerSample});
  };
  switch (sample_format) {
    case SampleFormat::ieee_float:
      switch (bits) {
        case 16: return DType::f16;
        case 24:
        case 32: return DType::f32;
        case 64: return DType::f64;
        default: return none();
      }
    case SampleFormat::complex_int:
      switch (bits) {
        case 32: return DType::ci16;
        case 64: return DType::ci32;
        default: return none();
      }
    case SampleFormat::complex_float:
      switch (bits) {
        case 32: return DType::cf16;
        case 64: return DType::cf32;
        case 128: return DType::cf64;
        default: return none();
      }
    case SampleFormat::int_:
      switch (bits) {
        case 8: return DType::i8;
        case 16: return DType::i16;
        case 32: return DType::i32;
        case 64: return DType::i64;
        default: break;  // odd widths: GDAL gives the unsigned type that holds them
      }
      break;
    default: break;
  }
  if (bits <= 8) { return DType::u8; }
  if (bits <= 16) { return DType::u16; }
  if (bits <= 32) { return DType::u32; }
  if (bits == 64) { return DType::u64; }
  return none();
}

Image parse_image(Directory const& dir, std::vector<std::string>& warnings) {
  Image image;
  image.ifd = dir.index();
  image.ifd_offset_bytes = dir.offset_bytes();
  image.byte_order = dir.header().order;
  image.width_px = required_side(dir, tag::ImageWidth, "ImageWidth");
  image.height_px = required_side(dir, tag::ImageLength, "ImageLength");
  image.compression = static_cast<Compression>(dir.unsigned_value(tag::Compression).value_or(1));
  std::uint64_t const planar = dir.unsigned_value(tag::PlanarConfiguration).value_or(1);
  if (planar != 1 && planar != 2) { warnings.push_back(text("PlanarConfiguration is ", planar, ": taken as 1")); }
  image.separate_planes = planar == 2;
  image.reversed_bits = dir.unsigned_value(tag::FillOrder).value_or(1) == 2;
  image.orientation = static_cast<std::uint32_t>(dir.unsigned_value(tag::Orientation).value_or(1));
  image.new_subfile_type = static_cast<std::uint32_t>(dir.unsigned_value(tag::NewSubfileType).value_or(0));
  std::uint16_t const predictor = as_short(dir.unsigned_value(tag::Predictor).value_or(1));
  image.predictor = static_cast<Predictor>(predictor);
  Entry const* const tables = image.compression == Compression::jpeg ? dir.find(tag::JPEGTables) : nullptr;
  if (tables != nullptr && tables->value_bytes <= kMaxJpegTablesBytes) {
    image.jpeg_tables = dir.bytes_value(tag::JPEGTables);
  }
  image.lerc_additional_compression =
      static_cast<std::uint32_t>(dir.unsigned_value(tag::LercParameters, 1).value_or(0));
  parse_samples(dir, image);
  look_at_format(image, warnings);
  parse_colour(dir, image);
  parse_blocks(dir, image, warnings);
  // One sample: contiguous and separate are the same, and contiguous is the simpler path.
  if (image.samples == 1) { image.separate_planes = false; }
  look_at_index(dir, image, warnings);
  return image;
}

std::optional<Image> try_parse_image(Directory const& directory) {
  std::vector<std::string> ignored;
  try {
    return parse_image(directory, ignored);
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::io) { throw; }
    return std::nullopt;
  }
}

}  // namespace terrazzo::tiff
