// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/planes.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/registry/memory_charge.hpp"
#include "codec/registry/result.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_JPEG

#include <cstdio>
extern "C" {
#include <jpeglib.h>
}

#include <cstdlib>

namespace terrazzo::codec::testing {
namespace {

using tiff::Photometric;

constexpr BlockShape kShape{48, 40};

struct Options {
  std::uint32_t width = 48;
  std::uint32_t height = 40;
  int components = 1;
  J_COLOR_SPACE space = JCS_GRAYSCALE;   // as stored
  J_COLOR_SPACE input = JCS_GRAYSCALE;   // of the samples given
  int subsampling = 1;                   // of the chroma, both ways
  bool tables = true;                    // in the stream; otherwise apart
  bool progressive = false;
  bool jfif = false;
};

struct Encoded {
  Bytes stream;
  Bytes tables;
};

Bytes take(unsigned char* memory, unsigned long size) {
  auto const* const first = reinterpret_cast<std::byte const*>(memory);
  Bytes bytes(first, first + size);
  std::free(memory);
  return bytes;
}

Encoded encode(Options const& options) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  encoder.image_width = options.width;
  encoder.image_height = options.height;
  encoder.input_components = options.components;
  encoder.in_color_space = options.input;
  jpeg_set_defaults(&encoder);
  jpeg_set_colorspace(&encoder, options.space);
  jpeg_set_quality(&encoder, 90, TRUE);
  encoder.write_JFIF_header = options.jfif ? TRUE : FALSE;
  encoder.write_Adobe_marker = FALSE;
  for (int i = 0; i < options.components; ++i) {
    encoder.comp_info[i].h_samp_factor = encoder.comp_info[i].v_samp_factor = i == 0 ? options.subsampling : 1;
  }
  if (options.progressive) { jpeg_simple_progression(&encoder); }
  Encoded encoded;
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  if (!options.tables) {
    jpeg_mem_dest(&encoder, &memory, &size);
    jpeg_write_tables(&encoder);
    encoded.tables = take(memory, size);
    memory = nullptr;
    size = 0;
  }
  jpeg_mem_dest(&encoder, &memory, &size);
  jpeg_start_compress(&encoder, options.tables ? TRUE : FALSE);
  Bytes const samples = picture(options.width, options.height, static_cast<std::uint32_t>(options.components));
  std::size_t const pitch = std::size_t{options.width} * static_cast<std::size_t>(options.components);
  while (encoder.next_scanline < options.height) {
    auto* row = const_cast<JSAMPROW>(reinterpret_cast<JSAMPLE const*>(samples.data() + pitch * encoder.next_scanline));
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  encoded.stream = take(memory, size);
  return encoded;
}

BlockFormat format_of(std::uint32_t samples, Photometric photometric, Bytes const& tables = {}) {
  return {.compression = tiff::Compression::jpeg,
          .samples_per_pixel = samples,
          .photometric = photometric,
          .jpeg_tables = tables};
}

// Mean absolute difference: JPEG is lossy, but the picture must be the picture.
double distance(Bytes const& a, Bytes const& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]));
  }
  return sum / static_cast<double>(a.size());
}

TEST(Jpeg, DecodesGray) {
  Decoded const decoded = decode(format_of(1, Photometric::min_is_black), kShape, encode({}).stream, 48 * 40);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.result.reason, nullptr);
  EXPECT_LT(distance(decoded.bytes, picture(48, 40, 1)), 6);
}

TEST(Jpeg, TakesTablesFromTheTag) {
  Encoded const apart = encode({.tables = false});
  BlockFormat const format = format_of(1, Photometric::min_is_black, apart.tables);
  EXPECT_EQ(decode(format, kShape, apart.stream, 48 * 40).bytes,
            decode(format_of(1, Photometric::min_is_black), kShape, encode({}).stream, 48 * 40).bytes);
}

TEST(Jpeg, DoesNotRememberTheTablesOfAnEarlierBlock) {
  Encoded const apart = encode({.tables = false});
  Workspace workspace;
  BlockFormat const with = format_of(1, Photometric::min_is_black, apart.tables);
  EXPECT_EQ(decode(with, kShape, apart.stream, 48 * 40, workspace).result.status, TileStatus::ok);
  BlockFormat const without = format_of(1, Photometric::min_is_black);
  EXPECT_EQ(decode(without, kShape, apart.stream, 48 * 40, workspace).result.status, TileStatus::corrupt);
}

TEST(Jpeg, ConvertsYCbCrToRgbWhenAsked) {
  for (int const subsampling : {1, 2}) {
    Bytes const stream =
        encode({.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = subsampling}).stream;
    BlockFormat format = format_of(3, Photometric::ycbcr);
    Decoded const rgb = decode(format, kShape, stream, 48 * 40 * 3);
    EXPECT_EQ(rgb.result.status, TileStatus::ok);
    EXPECT_LT(distance(rgb.bytes, picture(48, 40, 3)), 30);
    format.convert_ycbcr_to_rgb = false;
    Decoded const ycbcr = decode(format, kShape, stream, 48 * 40 * 3);
    EXPECT_EQ(ycbcr.result.status, TileStatus::ok);
    EXPECT_NE(ycbcr.bytes, rgb.bytes);
  }
}

TEST(Jpeg, LeavesRgbAndCmykAsStored) {
  Decoded const rgb = decode(format_of(3, Photometric::rgb), kShape,
                             encode({.components = 3, .space = JCS_RGB, .input = JCS_RGB}).stream, 48 * 40 * 3);
  EXPECT_LT(distance(rgb.bytes, picture(48, 40, 3)), 6);
  Decoded const cmyk = decode(format_of(4, Photometric::separated), kShape,
                              encode({.components = 4, .space = JCS_CMYK, .input = JCS_CMYK}).stream, 48 * 40 * 4);
  EXPECT_LT(distance(cmyk.bytes, picture(48, 40, 4)), 6);
}

TEST(Jpeg, DoesNotBelieveAJfifMarkerOverThePhotometric) {
  // Stored as YCbCr with a marker that says so, in a directory that says RGB: libtiff gives the stored samples.
  Bytes const marked = encode({.components = 3, .space = JCS_YCbCr, .input = JCS_YCbCr, .jfif = true}).stream;
  Decoded const decoded = decode(format_of(3, Photometric::rgb), kShape, marked, 48 * 40 * 3);
  EXPECT_LT(distance(decoded.bytes, picture(48, 40, 3)), 6);
}

TEST(Jpeg, BelievesTheMarkerWhenSubsamplingGainsaysThePhotometric) {
  Bytes const stream =
      encode({.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = 2, .jfif = true}).stream;
  Decoded const decoded = decode(format_of(3, Photometric::rgb), kShape, stream, 48 * 40 * 3);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes, decode(format_of(3, Photometric::ycbcr), kShape, stream, 48 * 40 * 3).bytes);
}

TEST(Jpeg, DecodesProgressiveStreams) {
  Bytes const stream = encode({.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .progressive = true}).stream;
  Decoded const decoded = decode(format_of(3, Photometric::ycbcr), kShape, stream, 48 * 40 * 3);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_LT(distance(decoded.bytes, picture(48, 40, 3)), 20);
}

TEST(Jpeg, RefusesAStreamOfManyScans) {
  Bytes stream = encode({.progressive = true}).stream;
  // The last scan (a refinement) again and again.
  std::size_t last_scan = 0;
  for (std::size_t i = 0; i + 1 < stream.size(); ++i) {
    if (stream[i] == std::byte{0xFF} && stream[i + 1] == std::byte{0xDA}) { last_scan = i; }
  }
  Bytes const scan(stream.begin() + static_cast<std::ptrdiff_t>(last_scan), stream.end() - 2);
  stream.resize(stream.size() - 2);
  for (int i = 0; i < 200; ++i) { stream.insert(stream.end(), scan.begin(), scan.end()); }
  EXPECT_EQ(decode(format_of(1, Photometric::min_is_black), kShape, stream, 48 * 40).result.status,
            TileStatus::corrupt);
}

TEST(Jpeg, LeavesTheRestOfALargerBlockBlack) {
  Bytes const stream = encode({}).stream;
  Bytes const small = decode(format_of(1, Photometric::min_is_black), kShape, stream, 48 * 40).bytes;
  Decoded const decoded = decode(format_of(1, Photometric::min_is_black), {50, 43}, stream, 50 * 43);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  for (std::size_t y = 0; y < 43; ++y) {
    for (std::size_t x = 0; x < 50; ++x) {
      ASSERT_EQ(decoded.bytes[y * 50 + x], x < 48 && y < 40 ? small[y * 48 + x] : std::byte{0});
    }
  }
}

TEST(Jpeg, ReadsTheFirstRowsOfATallerStream) {
  Bytes const stream = encode({}).stream;
  Bytes const whole = decode(format_of(1, Photometric::min_is_black), kShape, stream, 48 * 40).bytes;
  Decoded const decoded = decode(format_of(1, Photometric::min_is_black), {48, 17}, stream, 48 * 17);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
  EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), whole.begin()));
}

TEST(Jpeg, RefusesAStreamThatIsWiderOrHasOtherComponents) {
  Bytes const stream = encode({}).stream;
  EXPECT_EQ(decode(format_of(1, Photometric::min_is_black), {47, 40}, stream, 47 * 40).result.status,
            TileStatus::corrupt);
  EXPECT_EQ(decode(format_of(3, Photometric::rgb), kShape, stream, 48 * 40 * 3).result.status, TileStatus::corrupt);
  Bytes const progressive = encode({.progressive = true}).stream;
  EXPECT_EQ(decode(format_of(1, Photometric::min_is_black), {48, 17}, progressive, 48 * 17).result.status,
            TileStatus::corrupt);
}

TEST(Jpeg, RefusesOtherBitDepths) {
  BlockFormat format = format_of(1, Photometric::min_is_black);
  format.bits_per_sample = 16;
  EXPECT_EQ(decode(format, kShape, encode({}).stream, 48 * 40 * 2).result.status, TileStatus::unsupported);
}

TEST(Jpeg, RefusesTablesThatHoldAnImage) {
  Bytes const stream = encode({}).stream;
  EXPECT_EQ(decode(format_of(1, Photometric::min_is_black, stream), kShape, stream, 48 * 40).result.status,
            TileStatus::corrupt);
}

TEST(Jpeg, AcceptsAStreamWithoutItsEndMarker) {
  Bytes const stream = encode({}).stream;
  BlockFormat const format = format_of(1, Photometric::min_is_black);
  Bytes const truth = decode(format, kShape, stream, 48 * 40).bytes;
  Decoded const decoded = decode(format, kShape, std::span(stream).first(stream.size() - 2), 48 * 40);
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_EQ(decoded.bytes, truth);
}

TEST(Jpeg, CountsTheGoodRowsOfEveryPrefix) {
  for (int const subsampling : {1, 2}) {
    Bytes const stream =
        encode({.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = subsampling}).stream;
    BlockFormat const format = format_of(3, Photometric::ycbcr);
    Bytes const truth = decode(format, kShape, stream, 48 * 40 * 3).bytes;
    // The two bytes of the end marker are not needed.
    expect_prefixes_are_honest(format, kShape, std::span(stream).first(stream.size() - 2), truth, stream.size());
    Decoded const most = decode(format, kShape, std::span(stream).first(stream.size() - 100), truth.size());
    EXPECT_EQ(most.result.status, TileStatus::truncated);
    EXPECT_GT(most.result.bytes_written, truth.size() / 4);
  }
}

TEST(Jpeg, RefusesAnOutputSmallerThanTheBlock) {
  EXPECT_EQ(decode(format_of(1, Photometric::min_is_black), kShape, encode({}).stream, 48 * 40 - 1).result.status,
            TileStatus::failed);
}

TEST(Jpeg, SurvivesDamage) {
  for (bool const progressive : {false, true}) {
    Bytes const stream =
        encode({.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = 2, .progressive = progressive})
            .stream;
    expect_survives_damage(format_of(3, Photometric::ycbcr), kShape, stream, 48 * 40 * 3);
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Memory

// 48 x 40 pixels, chroma of half the size: units of 16 x 16, three by three, of six blocks of 64 coefficients.
constexpr std::uint64_t kCoefficientBytes = std::uint64_t{3} * 3 * 6 * 64 * 2;

TEST(Jpeg, ReservesTheCoefficientsOfAProgressiveStream) {
  BlockFormat const format = format_of(3, Photometric::ycbcr);
  Options const options{.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = 2, .progressive = true};
  Bytes const stream = encode(options).stream;
  Bytes out(48 * 40 * 3);
  Workspace workspace;
  auto const decode = [&] {
    return find_codec(tiff::Compression::jpeg)->decode_block(format, kShape, stream, out, workspace);
  };
  EXPECT_EQ(decode().status, TileStatus::ok) << "nobody to ask";
  for (bool const enough : {false, true, false}) {
    MemoryBudget budget(enough ? kCoefficientBytes : kCoefficientBytes - 1);
    MemoryCharge const charge(workspace, budget);
    tile::TileResult const result = decode();
    EXPECT_EQ(result.status, enough ? TileStatus::ok : TileStatus::out_of_memory) << result.reason;
    EXPECT_EQ(decode_jpeg_planes(format, kShape, stream, out, workspace).has_value(), enough);
    EXPECT_EQ(budget.used_bytes(), 0u) << "given back";
  }
  EXPECT_EQ(decode().status, TileStatus::ok) << "the budget is gone, and nobody asks it";
}

TEST(Jpeg, ReservesNothingForAStreamOfOneScan) {
  Options const options{.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = 2};
  Bytes const stream = encode(options).stream;
  Bytes out(48 * 40 * 3);
  Workspace workspace;
  MemoryBudget budget(0);
  MemoryCharge const charge(workspace, budget);
  EXPECT_EQ(find_codec(tiff::Compression::jpeg)
                ->decode_block(format_of(3, Photometric::ycbcr), kShape, stream, out, workspace)
                .status,
            TileStatus::ok);
}

// ---------------------------------------------------------------------------------------------------------------
// Planes

constexpr Options kUsual{.components = 3, .space = JCS_YCbCr, .input = JCS_RGB, .subsampling = 2};

// The pixels of decode_jpeg_planes(), or none. Planes lie in memory of exactly the block's size.
Bytes by_planes(BlockFormat const& format, BlockShape shape, std::span<std::byte const> stream) {
  Bytes memory(std::size_t{3} * shape.width_px * shape.height_px, std::byte{0xA5});
  Workspace workspace;
  auto const planes = decode_jpeg_planes(format, shape, stream, memory, workspace);
  if (!planes) { return {}; }
  Bytes pixels(memory.size());
  Bytes parts(std::size_t{3} * shape.width_px);
  std::byte* const red = parts.data();
  for (std::uint32_t y = 0; y < shape.height_px; ++y) {
    tile::make_rgb_row(*planes, y, shape.width_px, {red, red + shape.width_px, red + 2 * shape.width_px});
    for (std::size_t x = 0; x < shape.width_px; ++x) {
      for (std::size_t s = 0; s < 3; ++s) {
        pixels[(std::size_t{y} * shape.width_px + x) * 3 + s] = parts[s * shape.width_px + x];
      }
    }
  }
  return pixels;
}

TEST(JpegPlanes, GiveThePixelsOfTheDecoder) {
  BlockFormat const format = format_of(3, Photometric::ycbcr);
  int given = 0;
  for (bool const progressive : {false, true}) {
    for (std::uint32_t width = 1; width < 100; width += width < 40 ? 1 : 7) {
      for (std::uint32_t const height : {1u, 2u, 15u, 16u, 17u, 40u, 64u}) {
        Options options = kUsual;
        options.width = width;
        options.height = height;
        options.progressive = progressive;
        BlockShape const shape{width, height};
        Bytes const stream = encode(options).stream;
        Bytes const pixels = by_planes(format, shape, stream);
        if (pixels.empty()) { continue; }
        ++given;
        ASSERT_EQ(pixels, decode(format, shape, stream, pixels.size()).bytes) << width << " x " << height;
      }
    }
  }
  EXPECT_GT(given, 300) << "blocks too small for whole units are left to the decoder, others are not";
}

TEST(JpegPlanes, TakeTablesFromTheTag) {
  Options options = kUsual;
  options.tables = false;
  Encoded const apart = encode(options);
  EXPECT_EQ(by_planes(format_of(3, Photometric::ycbcr, apart.tables), kShape, apart.stream),
            by_planes(format_of(3, Photometric::ycbcr), kShape, encode(kUsual).stream));
  EXPECT_TRUE(by_planes(format_of(3, Photometric::ycbcr), kShape, apart.stream).empty()) << "without its tables";
}

TEST(JpegPlanes, FollowTheDecoderWhereSubsamplingGainsaysThePhotometric) {
  BlockFormat const rgb = format_of(3, Photometric::rgb);
  Bytes const stream = encode(kUsual).stream;
  EXPECT_EQ(by_planes(rgb, kShape, stream), decode(rgb, kShape, stream, std::size_t{3} * 48 * 40).bytes);
}

TEST(JpegPlanes, AreNotGivenOfOtherStreams) {
  BlockFormat const ycbcr = format_of(3, Photometric::ycbcr);
  Options options = kUsual;
  ASSERT_FALSE(by_planes(ycbcr, kShape, encode(options).stream).empty());
  EXPECT_TRUE(by_planes(ycbcr, {48, 39}, encode(options).stream).empty()) << "taller than its block";
  EXPECT_TRUE(by_planes(ycbcr, {64, 48}, encode(options).stream).empty()) << "smaller than its block";
  BlockFormat as_stored = ycbcr;
  as_stored.convert_ycbcr_to_rgb = false;
  EXPECT_TRUE(by_planes(as_stored, kShape, encode(options).stream).empty()) << "YCbCr is wanted";
  options.subsampling = 1;
  EXPECT_TRUE(by_planes(ycbcr, kShape, encode(options).stream).empty()) << "chroma of full size";
  EXPECT_TRUE(by_planes(format_of(1, Photometric::min_is_black), kShape, encode({}).stream).empty()) << "gray";
}

// What is wrong with a stream, and which of its rows are good, is for the decoder to say. Damage that nobody can see
// gives the same pixels both ways.
TEST(JpegPlanes, OfDamagedStreamsAreThoseOfTheDecoderOrNone) {
  BlockFormat const format = format_of(3, Photometric::ycbcr);
  Bytes const stream = encode(kUsual).stream;
  std::mt19937 generator(11);
  int given = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    Bytes damaged = stream;
    damaged[generator() % damaged.size()] ^= static_cast<std::byte>(1U << generator() % 8);
    if (round % 4 == 0) { damaged.resize(generator() % damaged.size()); }
    Bytes const pixels = by_planes(format, kShape, damaged);
    Decoded const usual = decode(format, kShape, damaged, std::size_t{3} * 48 * 40);
    if (pixels.empty()) {
      ++refused;
    } else {
      ++given;
      ASSERT_EQ(usual.result.status, TileStatus::ok) << round;
      ASSERT_EQ(usual.result.reason, nullptr) << round;
      ASSERT_EQ(pixels, usual.bytes) << round;
    }
  }
  EXPECT_GT(given, 100);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
