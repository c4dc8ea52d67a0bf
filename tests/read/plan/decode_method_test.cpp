// SPDX-License-Identifier: Apache-2.0
#include "read/plan/decode_method.hpp"

#include "codec/libtiff/decoder.hpp"
#include "codec/registry/codec.hpp"
#include "codec/registry/memory_charge.hpp"
#include "read/images.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::reading {
namespace {

Opened with_compression(std::uint16_t compression) {
  return Opened(image<std::uint8_t>({.width = 16, .height = 16, .compression = compression}));
}

TEST(ChooseMethod, ReadsUncompressedRowsWithoutACodec) {
  DecodeMethod const method = choose_method(level_of(with_compression(kNone)), false);
  EXPECT_EQ(method.kind, DecodeMethod::Kind::raw);
  EXPECT_EQ(method.codec, nullptr);
  EXPECT_EQ(method.name, "none");
}

TEST(ChooseMethod, TakesACodecOfOursWhereThereIsOne) {
  DecodeMethod const lzw = choose_method(level_of(with_compression(5)), false);
  EXPECT_EQ(lzw.kind, DecodeMethod::Kind::codec);
  EXPECT_EQ(lzw.name, "lzw");
  DecodeMethod const deflate = choose_method(level_of(with_compression(32946)), false);
  EXPECT_EQ(deflate.name, "deflate (libdeflate)");
}

TEST(ChooseMethod, RefusesACompressionThatNobodyKnowsByItsNumber) {
  for (std::uint16_t const number : {std::uint16_t{0}, std::uint16_t{10}, std::uint16_t{65000}}) {
    Opened const opened = with_compression(number);
    Error const error = failure_of([&] { static_cast<void>(choose_method(level_of(opened), true)); });
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.where().tag, tiff::tag::Compression);
    EXPECT_EQ(error.where().source, "memory.tif");
    EXPECT_NE(error.message().find(std::to_string(number)), std::string::npos) << error.message();
  }
}

TEST(ChooseMethod, RefusesACompressionThatNobodyHereDecodesByItsName) {
  Opened const opened = with_compression(34933);
  Error const error = failure_of([&] { static_cast<void>(choose_method(level_of(opened), true)); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.message().find("png"), std::string::npos) << error.message();
}

TEST(ChooseMethod, KeepsLibtiffFromBytesOfStrangers) {
  Opened const opened = with_compression(32809);  // ThunderScan
  Error const error = failure_of([&] { static_cast<void>(choose_method(level_of(opened), false)); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_NE(error.message().find("libtiff"), std::string::npos) << error.message();
  if (!codec::LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not found"; }
  EXPECT_NE(error.message().find("untrusted"), std::string::npos) << error.message();
  DecodeMethod const method = choose_method(level_of(opened), true);
  EXPECT_EQ(method.kind, DecodeMethod::Kind::libtiff);
  EXPECT_EQ(method.name, "thunderscan (libtiff)");
}

// Memory is a stranger's unless the caller says otherwise; a local file is the user's.
TEST(ChooseMethod, FollowsTheTrustOfTheDataset) {
  if (!codec::LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not found"; }
  ImageSpec spec{.width = 16, .height = 16};
  spec.compression = 32809;
  testing::TiffBuilder const builder = image<std::uint8_t>(spec);
  testing::TempFolder const folder;
  std::string const path = folder.write("a.tif", builder.bytes());
  EXPECT_FALSE(Opened(builder)->shared_impl()->trusted);
  EXPECT_TRUE(Opened(builder, {.trust = Trust::trusted})->shared_impl()->trusted);
  EXPECT_TRUE(open(path).shared_impl()->trusted);
  EXPECT_FALSE(open(path, {.trust = Trust::untrusted}).shared_impl()->trusted);
  EXPECT_EQ(failure_of([&] { static_cast<void>(plan(open(path, {.trust = Trust::untrusted}))); }).kind(),
            ErrorKind::unsupported);
}

// libtiff's RGBA has four bytes a pixel: five bands taken from it would be read past its end.
TEST(ChooseMethod, RefusesOldJpegWithBandsThatRgbaHasNot) {
  if (!codec::LibtiffDecoder::decodes(tiff::Compression::ojpeg)) {
    GTEST_SKIP() << "libtiff does not decode old-style JPEG";
  }
  for (std::uint16_t const bands : {std::uint16_t{1}, std::uint16_t{5}}) {
    ImageSpec spec{.width = 16, .height = 16, .bands = bands};
    spec.compression = 6;
    Opened const opened(image<std::uint8_t>(spec), {.trust = Trust::trusted});
    EXPECT_EQ(failure_of([&] { static_cast<void>(plan(*opened)); }).kind(), ErrorKind::unsupported) << bands;
  }
}

TEST(CodecScratch, IsWhatCodecsHoldBesidesTheirOutput) {
  auto const scratch_of = [](std::uint16_t compression) {
    Opened const opened = with_compression(compression);
    DecodeMethod method;  // by hand: choose_method() refuses what this build lacks
    method.kind = compression == kNone ? DecodeMethod::Kind::raw : DecodeMethod::Kind::codec;
    method.codec = codec::find_codec(static_cast<tiff::Compression>(compression));
    return codec_scratch_bytes(level_of(opened), method);
  };
  EXPECT_EQ(scratch_of(kNone), 0u);
  EXPECT_EQ(scratch_of(5), 0u) << "LZW decodes in place";
  EXPECT_EQ(scratch_of(34712), 4u * 16 * 16) << "OpenJPEG's 32-bit samples";
  EXPECT_EQ(scratch_of(34887), 2u * 16 * 16) << "a LERC mask, and samples";
  EXPECT_EQ(scratch_of(50002), 1u * 16 * 16 + codec::jxl_working_bytes({16, 16}, 1)) << "planes, and libjxl's own";
  EXPECT_EQ(scratch_of(7), 0u) << "rows of JPEG; coefficients are charged when a stream has them";
  EXPECT_GE(scratch_of(50001), 4u * 16 * 16) << "pixels of lossless WebP";
}

TEST(EffectivePredictor, IsThatOfCodecsThatHaveOne) {
  tiff::Image image;
  image.bits = 8;
  image.predictor = tiff::Predictor::horizontal;
  for (tiff::Compression const compression :
       {tiff::Compression::lzw, tiff::Compression::deflate, tiff::Compression::pkzip_deflate, tiff::Compression::zstd,
        tiff::Compression::lzma, tiff::Compression::lz4}) {
    image.compression = compression;
    EXPECT_EQ(effective_predictor(image), tiff::Predictor::horizontal);
  }
  for (tiff::Compression const compression :
       {tiff::Compression::none, tiff::Compression::packbits, tiff::Compression::jpeg, tiff::Compression::lerc,
        tiff::Compression::webp}) {
    image.compression = compression;
    EXPECT_EQ(effective_predictor(image), tiff::Predictor::none);
  }
}

}  // namespace
}  // namespace terrazzo::reading
