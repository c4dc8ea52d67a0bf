// SPDX-License-Identifier: Apache-2.0
#include "tiff/image.hpp"

#include "support/sources.hpp"
#include "support/tiff_builder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace terrazzo::tiff {
namespace {

using testing::TiffBuilder;

TiffBuilder sized(std::uint32_t width = 100, std::uint32_t height = 50) {
  TiffBuilder builder;
  builder.longs(tag::ImageWidth, {width}).longs(tag::ImageLength, {height});
  return builder;
}

TiffBuilder tiled(std::uint32_t width, std::uint32_t height, std::uint32_t tile_width, std::uint32_t tile_height) {
  TiffBuilder builder = sized(width, height);
  builder.longs(tag::TileWidth, {tile_width}).longs(tag::TileLength, {tile_height});
  return builder;
}

Image parsed(TiffBuilder const& builder) {
  std::vector<std::string> warnings;
  return parse_image(builder.directory(), warnings);
}

void expect_refused(TiffBuilder const& builder, ErrorKind kind, std::optional<std::uint16_t> tag_number) {
  try {
    static_cast<void>(parsed(builder));
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(error.where().tag, tag_number) << error.what();
    EXPECT_EQ(error.where().source, "test.tif");
    EXPECT_EQ(error.where().ifd, 0u);
  }
}

TEST(ParseImage, FillsInTheDefaultsOfTheSpecification) {
  std::vector<std::string> warnings;
  Image const image = parse_image(sized().directory(), warnings);
  EXPECT_EQ(image.width_px, 100u);
  EXPECT_EQ(image.height_px, 50u);
  EXPECT_EQ(image.samples, 1u);
  EXPECT_EQ(image.bits, 1u);
  EXPECT_EQ(image.sample_format, SampleFormat::uint);
  EXPECT_EQ(image.compression, Compression::none);
  EXPECT_EQ(image.predictor, Predictor::none);
  EXPECT_EQ(image.photometric, Photometric::min_is_black);
  EXPECT_EQ(image.orientation, 1u);
  EXPECT_FALSE(image.separate_planes);
  EXPECT_FALSE(image.reversed_bits);
  EXPECT_FALSE(image.tiled);
  EXPECT_FALSE(image.is_mask());
  EXPECT_FALSE(image.is_reduced());
  EXPECT_EQ(image.block_width_px, 100u);
  EXPECT_EQ(image.block_height_px, 50u) << "no RowsPerStrip: one strip";
  EXPECT_EQ(image.block_count(), 1u);
  EXPECT_EQ(image.row_bytes(), 13u) << "100 bits";
  EXPECT_EQ(warnings.size(), 1u);
}

TEST(ParseImage, TellsOfListsThatMissBlocks) {
  auto const warnings_of = [](TiffBuilder builder) {
    std::vector<std::string> warnings;
    static_cast<void>(parse_image(builder.longs(tag::RowsPerStrip, {10}).directory(), warnings));
    return warnings;
  };
  std::vector<std::uint32_t> const all{8, 8, 8, 8, 8};
  EXPECT_TRUE(warnings_of(sized().longs(tag::StripOffsets, all).longs(tag::StripByteCounts, all)).empty());
  auto const few = warnings_of(sized().longs(tag::StripOffsets, {8, 8, 8}).longs(tag::StripByteCounts, all));
  ASSERT_EQ(few.size(), 1u);
  EXPECT_EQ(few[0], "StripOffsets has 3 of 5 blocks: the others count as missing");
  EXPECT_EQ(warnings_of(sized().longs(tag::StripOffsets, all).longs(tag::StripByteCounts, {8, 8})).size(), 1u);
  auto const other = warnings_of(sized().longs(tag::TileOffsets, {8, 8, 8}).longs(tag::StripByteCounts, all));
  ASSERT_EQ(other.size(), 1u) << "a list of the other kind is as good";
  EXPECT_EQ(other[0], "TileOffsets has 3 of 5 blocks: the others count as missing");
}

TEST(ParseImage, TellsOfASampleFormatThatNobodyKnows) {
  std::vector<std::string> warnings;
  auto const builder =
      sized().longs(tag::RowsPerStrip, {50}).shorts(tag::BitsPerSample, {8}).shorts(tag::SampleFormat, {9});
  EXPECT_EQ(parse_image(TiffBuilder(builder).directory(), warnings).dtype(), DType::u8);
  EXPECT_EQ(warnings, (std::vector<std::string>{"SampleFormat is 9: taken as unsigned numbers"}));
}

TEST(ParseImage, ComparesTheSamplesOfLongArrays) {
  for (std::endian const order : {std::endian::little, std::endian::big}) {
    std::vector<std::uint16_t> bits(20'000, 16);
    auto const image = [&](std::uint16_t samples) {
      TiffBuilder builder(order);
      builder.longs(tag::ImageWidth, {4}).longs(tag::ImageLength, {4}).shorts(tag::SamplesPerPixel, {samples});
      builder.shorts(tag::BitsPerSample, bits);
      return parsed(builder);
    };
    EXPECT_EQ(image(20'000).bits, 16u);
    for (std::size_t const at : {0u, 1u, 4095u, 4096u, 4097u, 8192u, 19'999u}) {
      bits[at] = 8;
      EXPECT_THROW(static_cast<void>(image(20'000)), Error) << at;
      bits[at] = 16;
    }
    bits.back() = 8;
    EXPECT_EQ(image(19'999).bits, 16u) << "there is no sample of that value";
    EXPECT_EQ(image(1).bits, 16u);
  }
}

TEST(ParseImage, RefusesAnImageWithoutASize) {
  expect_refused(TiffBuilder().longs(tag::ImageLength, {5}), ErrorKind::malformed, tag::ImageWidth);
  expect_refused(TiffBuilder().longs(tag::ImageWidth, {5}), ErrorKind::malformed, tag::ImageLength);
  expect_refused(sized(0, 5), ErrorKind::malformed, tag::ImageWidth);
  expect_refused(sized(5, 0), ErrorKind::malformed, tag::ImageLength);
}

TEST(ParseImage, RefusesSidesThatNobodyHas) {
  expect_refused(sized(0x80000000, 5), ErrorKind::malformed, tag::ImageWidth);
  expect_refused(sized(5, 0xFFFFFFFF), ErrorKind::malformed, tag::ImageLength);
  TiffBuilder wide(std::endian::little, true);
  wide.long8s(tag::ImageWidth, {std::uint64_t{1} << 33}).longs(tag::ImageLength, {1});
  expect_refused(wide, ErrorKind::malformed, tag::ImageWidth);
}

TEST(ParseImage, TakesSizesOfAnyIntegerType) {
  TiffBuilder builder(std::endian::big, true);
  builder.long8s(tag::ImageWidth, {300}).shorts(tag::ImageLength, {200});
  Image const image = parsed(builder);
  EXPECT_EQ(image.width_px, 300u);
  EXPECT_EQ(image.height_px, 200u);
  EXPECT_EQ(image.byte_order, std::endian::big);
}

TEST(ParseImage, CountsStripsUpToTheLastShortOne) {
  TiffBuilder builder = sized(100, 50);
  builder.longs(tag::RowsPerStrip, {16}).shorts(tag::BitsPerSample, {8});
  Image const image = parsed(builder);
  EXPECT_EQ(image.blocks_down, 4u);
  EXPECT_EQ(image.blocks_across, 1u);
  EXPECT_EQ(image.block_rows(0), 16u);
  EXPECT_EQ(image.block_rows(3), 2u);
  EXPECT_EQ(image.block_bytes(image.block_rows(3)), 200u);
}

TEST(ParseImage, CutsRowsPerStripAtTheHeight) {
  for (std::uint32_t const rows : {50u, 51u, 0xFFFFFFFFu}) {
    TiffBuilder builder = sized(100, 50);
    builder.longs(tag::RowsPerStrip, {rows});
    EXPECT_EQ(parsed(builder).block_height_px, 50u) << rows;
    EXPECT_EQ(parsed(builder).blocks_down, 1u) << rows;
  }
}

TEST(ParseImage, RefusesStripsOfNoRows) {
  TiffBuilder builder = sized();
  builder.longs(tag::RowsPerStrip, {0});
  expect_refused(builder, ErrorKind::malformed, tag::RowsPerStrip);
}

TEST(ParseImage, CountsTilesWithTheirPadding) {
  TiffBuilder builder = tiled(100, 50, 64, 32);
  builder.shorts(tag::BitsPerSample, {16, 16, 16}).shorts(tag::SamplesPerPixel, {3});
  Image const image = parsed(builder);
  EXPECT_TRUE(image.tiled);
  EXPECT_EQ(image.blocks_across, 2u);
  EXPECT_EQ(image.blocks_down, 2u);
  EXPECT_EQ(image.block_rows(1), 32u) << "tiles are whole";
  EXPECT_EQ(image.row_bytes(), 64u * 6);
  EXPECT_EQ(image.block_bytes(32), 64u * 6 * 32);
}

TEST(ParseImage, CountsTheBlocksOfEveryPlane) {
  TiffBuilder builder = tiled(100, 50, 64, 32);
  builder.shorts(tag::BitsPerSample, {16, 16, 16})
      .shorts(tag::SamplesPerPixel, {3})
      .shorts(tag::PlanarConfiguration, {2});
  Image const image = parsed(builder);
  EXPECT_TRUE(image.separate_planes);
  EXPECT_EQ(image.planes(), 3u);
  EXPECT_EQ(image.samples_per_block(), 1u);
  EXPECT_EQ(image.blocks_per_plane(), 4u);
  EXPECT_EQ(image.block_count(), 12u);
  EXPECT_EQ(image.row_bytes(), 64u * 2);
}

// 2^30 x 2^30 x 16 blocks are 2^64: counted in 64 bits there would be none.
TEST(ParseImage, RefusesMoreBlocksThanCanBeCountedOverAllPlanes) {
  auto const in_planes = [](TiffBuilder builder, std::uint16_t planes) {
    builder.shorts(tag::BitsPerSample, std::vector<std::uint16_t>(planes, 8));
    return builder.shorts(tag::SamplesPerPixel, {planes}).shorts(tag::PlanarConfiguration, {2});
  };
  expect_refused(in_planes(tiled(1 << 30, 1 << 30, 1, 1), 16), ErrorKind::malformed, tag::TileWidth);
  expect_refused(in_planes(tiled((1 << 30) + 1, 1 << 30, 1, 1), 16), ErrorKind::malformed, tag::TileWidth);
  expect_refused(in_planes(tiled(1 << 25, 1 << 25, 1 << 10, 1 << 10), 2), ErrorKind::malformed, tag::TileWidth);
  expect_refused(in_planes(tiled(1 << 16, 1 << 15, 1, 1), 1), ErrorKind::malformed, tag::TileWidth);
  EXPECT_EQ(parsed(in_planes(tiled(1 << 16, 1 << 14, 1, 1), 1)).block_count(), std::uint64_t{1} << 30);
  TiffBuilder strips = in_planes(sized(1, 1 << 30), 65535);
  strips.longs(tag::RowsPerStrip, {1});
  expect_refused(strips, ErrorKind::malformed, tag::RowsPerStrip);
}

TEST(ParseImage, TakesSeparatePlanesOfOneSampleAsContiguous) {
  TiffBuilder builder = sized();
  builder.shorts(tag::PlanarConfiguration, {2});
  EXPECT_FALSE(parsed(builder).separate_planes);
}

TEST(ParseImage, WarnsOfAPlanarConfigurationThatIsNone) {
  TiffBuilder builder = sized();
  builder.shorts(tag::PlanarConfiguration, {7}).shorts(tag::SamplesPerPixel, {2}).longs(tag::RowsPerStrip, {50});
  std::vector<std::string> warnings;
  EXPECT_FALSE(parse_image(builder.directory(), warnings).separate_planes);
  EXPECT_EQ(warnings.size(), 1u);
}

TEST(ParseImage, RefusesTilesOfNoSize) {
  expect_refused(tiled(100, 50, 0, 32), ErrorKind::malformed, tag::TileWidth);
  expect_refused(tiled(100, 50, 32, 0), ErrorKind::malformed, tag::TileLength);
}

TEST(ParseImage, RefusesMoreBlocksThanAnyoneHas) {
  expect_refused(tiled(0x7FFFFFFF, 0x7FFFFFFF, 1, 1), ErrorKind::malformed, tag::TileWidth);
  TiffBuilder builder = sized(1, 0x7FFFFFFF);
  builder.longs(tag::RowsPerStrip, {1}).shorts(tag::SamplesPerPixel, {3}).shorts(tag::PlanarConfiguration, {2});
  expect_refused(builder, ErrorKind::malformed, tag::RowsPerStrip);
}

TEST(ParseImage, RefusesBlocksThatNoMemoryHolds) {
  TiffBuilder tiles = tiled(0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF);
  tiles.shorts(tag::BitsPerSample, {64});
  expect_refused(tiles, ErrorKind::malformed, tag::TileWidth);
  TiffBuilder strips = sized(0x7FFFFFFF, 0x7FFFFFFF);
  strips.shorts(tag::BitsPerSample, {64}).shorts(tag::SamplesPerPixel, {65535});
  expect_refused(strips, ErrorKind::malformed, tag::ImageWidth);
}

TEST(ParseImage, DoesNotCutLargeNumbersToSmallOnesThatMeanSomething) {
  Image const image = parsed(sized().longs(tag::Predictor, {65538}).longs(tag::PhotometricInterpretation, {65537}));
  EXPECT_NE(image.predictor, Predictor::horizontal);
  EXPECT_NE(image.photometric, Photometric::min_is_black);
}

TEST(ParseImage, RefusesNoSamplesAndTooMany) {
  TiffBuilder none = sized();
  none.shorts(tag::SamplesPerPixel, {0});
  expect_refused(none, ErrorKind::malformed, tag::SamplesPerPixel);
  TiffBuilder many = sized();
  many.longs(tag::SamplesPerPixel, {65536});
  expect_refused(many, ErrorKind::malformed, tag::SamplesPerPixel);
}

TEST(ParseImage, TakesOneBitsPerSampleForAll) {
  TiffBuilder builder = sized();
  builder.shorts(tag::SamplesPerPixel, {3}).shorts(tag::BitsPerSample, {8});
  EXPECT_EQ(parsed(builder).bits, 8u);
}

TEST(ParseImage, IgnoresBitsOfSamplesThatAreNotThere) {
  TiffBuilder builder = sized();
  builder.shorts(tag::SamplesPerPixel, {2}).shorts(tag::BitsPerSample, {8, 8, 16});
  EXPECT_EQ(parsed(builder).bits, 8u);
}

TEST(ParseImage, RefusesSamplesThatDiffer) {
  TiffBuilder bits = sized();
  bits.shorts(tag::SamplesPerPixel, {3}).shorts(tag::BitsPerSample, {5, 6, 5});
  expect_refused(bits, ErrorKind::unsupported, tag::BitsPerSample);
  TiffBuilder formats = sized();
  formats.shorts(tag::SamplesPerPixel, {2}).shorts(tag::BitsPerSample, {32, 32}).shorts(tag::SampleFormat, {1, 3});
  expect_refused(formats, ErrorKind::unsupported, tag::SampleFormat);
}

TEST(ParseImage, RefusesBitsThatNoSampleHas) {
  TiffBuilder none = sized();
  none.shorts(tag::BitsPerSample, {0});
  expect_refused(none, ErrorKind::malformed, tag::BitsPerSample);
  TiffBuilder many = sized();
  many.longs(tag::BitsPerSample, {1'000'000});
  expect_refused(many, ErrorKind::malformed, tag::BitsPerSample);
}

TEST(ParseImage, ReadsTheTagsThatDecodersNeed) {
  TiffBuilder builder = sized();
  builder.shorts(tag::Compression, {7})
      .shorts(tag::FillOrder, {2})
      .shorts(tag::Orientation, {6})
      .shorts(tag::Predictor, {3})
      .longs(tag::NewSubfileType, {5})
      .shorts(tag::SamplesPerPixel, {4})
      .shorts(tag::BitsPerSample, {8, 8, 8, 8})
      .shorts(tag::ExtraSamples, {2})
      .raw(tag::JPEGTables, 7, 3, {std::byte{1}, std::byte{2}, std::byte{3}})
      .longs(tag::LercParameters, {4, 2})
      .doubles(tag::WhitePoint, {0.3, 0.4});
  Image const image = parsed(builder);
  EXPECT_EQ(image.compression, Compression::jpeg);
  EXPECT_TRUE(image.reversed_bits);
  EXPECT_EQ(image.orientation, 6u);
  EXPECT_EQ(image.predictor, Predictor::floating_point);
  EXPECT_TRUE(image.is_mask());
  EXPECT_TRUE(image.is_reduced());
  EXPECT_EQ(image.extra_samples, (std::vector<std::uint16_t>{2}));
  EXPECT_EQ(image.jpeg_tables.size(), 3u);
  EXPECT_EQ(image.lerc_additional_compression, 2u);
  EXPECT_EQ(image.white_point, (std::vector<double>{0.3, 0.4}));
}

TEST(ParseImage, LeavesJpegTablesOfOtherCodecsWhereTheyAre) {
  TiffBuilder builder = sized();
  builder.shorts(tag::Compression, {8}).raw(tag::JPEGTables, 7, 3, {std::byte{1}, std::byte{2}, std::byte{3}});
  EXPECT_TRUE(parsed(builder).jpeg_tables.empty());
}

TEST(ParseImage, LeavesJpegTablesThatAreNone) {
  TiffBuilder builder = sized();
  builder.shorts(tag::Compression, {7}).raw(tag::JPEGTables, 7, 1 << 20, std::vector<std::byte>(1 << 20));
  EXPECT_TRUE(parsed(builder).jpeg_tables.empty()) << "a MiB of tables";
}

// ---------------------------------------------------------------------------------------------------------------
// Types

struct TypeCase {
  std::uint16_t bits, format;
  std::optional<DType> dtype;
};

TEST(ImageDType, IsGdals) {
  TypeCase const cases[] = {
      {1, 1, DType::u8},    {2, 1, DType::u8},     {7, 1, DType::u8},    {8, 1, DType::u8},   {9, 1, DType::u16},
      {12, 1, DType::u16},  {16, 1, DType::u16},   {17, 1, DType::u32},  {24, 1, DType::u32}, {32, 1, DType::u32},
      {64, 1, DType::u64},  {33, 1, {}},           {65, 1, {}},          {8, 2, DType::i8},   {16, 2, DType::i16},
      {32, 2, DType::i32},  {64, 2, DType::i64},   {12, 2, DType::u16},  {16, 3, DType::f16}, {24, 3, DType::f32},
      {32, 3, DType::f32},  {64, 3, DType::f64},   {8, 3, {}},           {128, 3, {}},        {8, 4, DType::u8},
      {16, 4, DType::u16},  {32, 5, DType::ci16},  {64, 5, DType::ci32}, {16, 5, {}},         {32, 6, DType::cf16},
      {64, 6, DType::cf32}, {128, 6, DType::cf64}, {16, 6, {}},          {8, 99, DType::u8},
  };
  for (TypeCase const& c : cases) {
    TiffBuilder builder = sized();
    builder.shorts(tag::BitsPerSample, {c.bits}).shorts(tag::SampleFormat, {c.format});
    Image const image = parsed(builder);
    if (c.dtype) {
      EXPECT_EQ(image.dtype(), *c.dtype) << c.bits << " bits, format " << c.format;
    } else {
      EXPECT_THROW(static_cast<void>(image.dtype()), Error) << c.bits << " bits, format " << c.format;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Colours

TiffBuilder colours(std::uint16_t photometric, std::uint16_t samples, std::uint16_t bits,
                    std::uint16_t compression = 1) {
  TiffBuilder builder = sized(10, 6);
  builder.shorts(tag::PhotometricInterpretation, {photometric})
      .shorts(tag::SamplesPerPixel, {samples})
      .shorts(tag::BitsPerSample, std::vector<std::uint16_t>(samples, bits))
      .shorts(tag::Compression, {compression});
  return builder;
}

TEST(ImageColours, OfPackedChromaComeInUnits) {
  TiffBuilder builder = colours(6, 3, 8);
  builder.shorts(tag::YCbCrSubSampling, {4, 2});
  Image const image = parsed(builder);
  EXPECT_TRUE(image.has_packed_chroma());
  EXPECT_TRUE(image.is_converted_to_rgb());
  EXPECT_EQ(image.block_bytes(6), 3u * 3u * (8 + 2)) << "ceil(10 / 4) x ceil(6 / 2) units";
  EXPECT_EQ(image.dtype(), DType::u8);
}

TEST(ImageColours, RefuseChromaUnitsOfOddSize) {
  for (std::vector<std::uint16_t> const& sub : {std::vector<std::uint16_t>{3, 2}, {0, 1}, {1, 65535}}) {
    TiffBuilder builder = colours(6, 3, 8);
    builder.shorts(tag::YCbCrSubSampling, sub);
    expect_refused(builder, ErrorKind::malformed, tag::YCbCrSubSampling);
  }
}

// Their decoders give RGB of the full size: were it converted again, it would also be read as units it is not made of.
TEST(ImageColours, OfCodecsThatKnowColoursAreNotConvertedTwice) {
  for (std::uint16_t const compression : std::vector<std::uint16_t>{7, 34712, 33003, 33005, 50001}) {
    Image const image = parsed(colours(6, 3, 8, compression));
    EXPECT_FALSE(image.has_packed_chroma()) << compression;
    EXPECT_FALSE(image.is_converted_to_rgb()) << compression;
    EXPECT_EQ(image.block_bytes(6), 180u) << compression;
  }
}

TEST(ImageColours, AreConvertedWhereGdalDoes) {
  EXPECT_TRUE(parsed(colours(5, 4, 8)).is_converted_to_rgb()) << "CMYK";
  EXPECT_FALSE(parsed(colours(5, 3, 8)).is_converted_to_rgb()) << "three inks";
  EXPECT_FALSE(parsed(colours(5, 4, 16)).is_converted_to_rgb()) << "CMYK of 16 bits";
  EXPECT_TRUE(parsed(colours(8, 3, 8)).is_converted_to_rgb()) << "CIELab";
  EXPECT_FALSE(parsed(colours(2, 3, 8)).is_converted_to_rgb()) << "RGB";
  EXPECT_FALSE(parsed(colours(6, 1, 1)).is_converted_to_rgb()) << "one bit";
  TiffBuilder inks = colours(5, 4, 8);
  inks.shorts(tag::InkSet, {2});
  EXPECT_FALSE(parsed(inks).is_converted_to_rgb()) << "other inks than CMYK";
}

TEST(TryParseImage, GivesNothingForWhatIsNoImage) {
  auto const image = try_parse_image(sized().directory());
  ASSERT_TRUE(image.has_value());
  EXPECT_EQ(image->width_px, 100u);
  EXPECT_FALSE(try_parse_image(sized(0, 50).directory()).has_value());
}

// It may be one: the caller must not go on as if it were not there.
TEST(TryParseImage, PassesOnAFailureOfTheSource) {
  TiffBuilder builder;
  builder.ascii(100, std::string(1 << 20, 'x'));  // what lies behind is not read with the directory
  builder.longs(tag::ImageWidth, {100}).longs(tag::ImageLength, {50});
  builder.shorts(tag::BitsPerSample, {8, 8, 8}).shorts(tag::SamplesPerPixel, {3});
  auto const source = std::make_shared<testing::CountingSource>(builder.source());
  Chain const chain = read_chain(source);
  source->fails = true;
  try {
    static_cast<void>(try_parse_image(chain.directories.at(0)));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::io); }
  source->fails = false;
  EXPECT_TRUE(try_parse_image(chain.directories.at(0)).has_value());
}

}  // namespace
}  // namespace terrazzo::tiff
