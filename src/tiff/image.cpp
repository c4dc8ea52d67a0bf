// SPDX-License-Identifier: Apache-2.0
#include "tiff/image.hpp"

#include "base/byte_view.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_lists.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

namespace terrazzo::tiff {

namespace {

constexpr std::uint64_t kMaxSide = std::numeric_limits<std::int32_t>::max();  // GDAL's limit, above all real images
constexpr std::uint64_t kMaxSamples = 65535;                                  // the tag is a SHORT
constexpr std::uint64_t kMaxBlockBytes = std::uint64_t{1} << 40;  // keeps products of sizes far below 2^64
constexpr std::uint64_t kMaxJpegTablesBytes = 1 << 16;  // four tables of each kind take 2 KiB
constexpr std::uint64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();  // GDAL's limit too

[[noreturn]] void refuse(ErrorKind kind, Directory const& dir, std::uint16_t tag, std::string message) {
  throw Error(kind, std::move(message), {.source = dir.reader().source()->name(), .ifd = dir.index(), .tag = tag});
}

std::uint32_t required_side(Directory const& dir, std::uint16_t tag, char const* name) {
  auto const value = dir.unsigned_value(tag);
  if (!value) { refuse(ErrorKind::malformed, dir, tag, text("the directory has no ", name)); }
  if (*value == 0 || *value > kMaxSide) { refuse(ErrorKind::malformed, dir, tag, text(name, " is ", *value)); }
  return static_cast<std::uint32_t>(*value);
}

// Passes the first `count` values of a tag in file order, a piece at a time, until `use` returns false: thousands of
// directories may share one array of 65,535 values. REQUIRES: at least one value, all of them in the file.
template <class Use>
void each_piece(Directory const& dir, Entry const& entry, std::uint64_t count, Use const& use) {
  std::array<std::byte, 8192> piece{};  // a multiple of every item size
  std::uint64_t const total_bytes = count * field_type_bytes(entry.type);
  for (std::uint64_t done = 0; done < total_bytes; done += piece.size()) {
    auto const size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), total_bytes - done));
    dir.reader().read(entry.value_offset_bytes + done, std::span(piece).first(size));
    if (!use(std::span<std::byte const>(piece).first(size))) { return; }
  }
}

// The number of values of an unsigned tag, at most `most`; 0 if they do not lie in the file.
std::uint64_t listed(Directory const& dir, Entry const* entry, std::uint64_t most) {
  if (entry == nullptr || !is_unsigned_type(entry->type)) { return 0; }
  std::uint64_t const count = std::min(entry->count, most);
  return count != 0 && dir.unsigned_value(entry->tag, count - 1) ? count : 0;
}

// REQUIRES: those of each_piece().
bool are_equal(Directory const& dir, Entry const& entry, std::uint64_t count) {
  std::size_t const item_bytes = field_type_bytes(entry.type);
  std::array<std::byte, 8> first{};
  bool equal = true, begun = false;
  each_piece(dir, entry, count, [&](std::span<std::byte const> piece) {
    if (!begun) { std::ranges::copy(piece.first(item_bytes), first.begin()); }
    begun = true;
    bool const starts_so = std::ranges::equal(piece.first(item_bytes), std::span(first).first(item_bytes));
    equal = starts_so && std::memcmp(piece.data(), piece.data() + item_bytes, piece.size() - item_bytes) == 0;
    return equal;
  });
  return equal;
}

// A tag with one value per sample that must be equal for all samples, as in libtiff.
std::uint32_t value_of_all_samples(Directory const& dir, std::uint16_t tag, char const* name, std::uint32_t samples,
                                   std::uint32_t fallback) {
  Entry const* const entry = dir.find(tag);
  std::uint64_t const count = listed(dir, entry, samples);
  if (count == 0) { return fallback; }
  if (!are_equal(dir, *entry, count)) { refuse(ErrorKind::unsupported, dir, tag, text("samples of different ", name)); }
  std::uint64_t const value = dir.unsigned_value(tag).value_or(0);
  if (value > std::numeric_limits<std::uint16_t>::max()) {
    refuse(ErrorKind::malformed, dir, tag, text(name, " is ", value));
  }
  return static_cast<std::uint32_t>(value);
}

// A number that is a SHORT by the specification. A larger value becomes the largest SHORT, which has no meaning;
// truncation to 16 bits could give a valid value.
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
  Entry const* const extra = dir.find(tag::ExtraSamples);
  if (std::uint64_t const count = listed(dir, extra, image.samples); count != 0) {
    image.extra_samples.reserve(static_cast<std::size_t>(count));
    each_piece(dir, *extra, count, [&](std::span<std::byte const> piece) {
      std::size_t const item_bytes = field_type_bytes(extra->type);
      for (std::size_t at = 0; at < piece.size(); at += item_bytes) {
        image.extra_samples.push_back(item_bytes == 2  // nearly all files: inline, and ten times as fast
                                          ? load<std::uint16_t>(piece.data() + at, dir.header().order)
                                          : as_short(unsigned_at(piece.data() + at, item_bytes, dir.header().order)));
      }
      return true;
    });
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
  // As in libtiff: TileWidth makes an image tiled; strip tags of a tiled image then list its tiles.
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
  // Checked here once for all users: block_count() cannot overflow afterwards.
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

// Warns about lists of blocks that are tolerated (block_index.hpp) although pixels are missing.
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

// Codecs that interpret colours: their output for YCbCr is already RGB.
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
        default: break;  // odd widths: like GDAL, use the unsigned type that holds them
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
  Entry const* const tables = has_jpeg_tables(image.compression) ? dir.find(tag::JPEGTables) : nullptr;
  if (tables != nullptr && tables->value_bytes <= kMaxJpegTablesBytes) {
    image.jpeg_tables = dir.bytes_value(tag::JPEGTables);
  }
  image.lerc_additional_compression =
      static_cast<std::uint32_t>(dir.unsigned_value(tag::LercParameters, 1).value_or(0));
  parse_samples(dir, image);
  look_at_format(image, warnings);
  parse_colour(dir, image);
  parse_blocks(dir, image, warnings);
  // With one sample, contiguous and separate are equal, and contiguous is the simpler path.
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
