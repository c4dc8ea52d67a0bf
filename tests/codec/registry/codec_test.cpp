// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

#include <set>

namespace terrazzo::codec {
namespace {

TEST(CodecTable, NamesEachCompressionOnce) {
  std::set<tiff::Compression> seen;
  for (Codec const& codec : all_codecs()) { EXPECT_TRUE(seen.insert(codec.compression).second); }
  EXPECT_EQ(seen.size(), 16u);
}

TEST(CodecTable, NamesTheLibraryOfEveryCodecThatIsNotOurOwn) {
  for (Codec const& codec : all_codecs()) {
    if (codec.decode == nullptr) { EXPECT_FALSE(codec.library.empty()); }
  }
  EXPECT_EQ(find_codec(tiff::Compression::zstd)->library, "libzstd");
  EXPECT_TRUE(find_codec(tiff::Compression::lzw)->library.empty());
}

TEST(CodecTable, AlwaysHasOurOwnDecoders) {
  for (auto const compression : {tiff::Compression::none, tiff::Compression::lzw, tiff::Compression::packbits}) {
    EXPECT_NE(find_codec(compression)->decode, nullptr);
  }
}

TEST(CodecTable, FindsNothingForTheLongTailAndTheUnknown) {
  EXPECT_EQ(find_codec(tiff::Compression::ccitt_fax4), nullptr);
  EXPECT_EQ(find_codec(static_cast<tiff::Compression>(44510)), nullptr);
}

TEST(CodecTable, TakesBothNumbersOfDeflateForTheSame) {
  Codec const &deflate = *find_codec(tiff::Compression::deflate),
              &other = *find_codec(tiff::Compression::pkzip_deflate);
  EXPECT_EQ(other.decode, deflate.decode);
  EXPECT_EQ(other.blocks_at_once, deflate.blocks_at_once);
  EXPECT_EQ(other.at_once_from_bytes, deflate.at_once_from_bytes);
}

TEST(CodecTable, OffersEachChoiceOnceUnderItsNumber) {
  std::set<Compression> seen;
  for (Codec const& codec : all_codecs()) {
    for (Choice const& choice : codec.choices) {
      EXPECT_TRUE(seen.insert(choice.value).second);
      EXPECT_EQ(find_choice(choice.value).codec, &codec);
      EXPECT_EQ(find_choice(choice.value).choice, &choice);
      EXPECT_EQ(codec.encoder.compression, codec.compression);
    }
  }
  EXPECT_EQ(seen.size(), 13u);
  EXPECT_EQ(find_choice(static_cast<Compression>(200)).codec, nullptr);
  EXPECT_EQ(find_choice(Compression::lerc_zstd).codec->compression, tiff::Compression::lerc);
  EXPECT_EQ(find_choice(Compression::lerc_zstd).choice->around, tiff::Compression::zstd);
}

TEST(CodecTable, KnowsWhichCodecsHavePredictors) {
  for (auto const compression : {tiff::Compression::lzw, tiff::Compression::deflate, tiff::Compression::pkzip_deflate,
                                 tiff::Compression::zstd, tiff::Compression::lzma}) {
    EXPECT_EQ(find_codec(compression)->predictor, PredictorUse::read_write);
  }
  EXPECT_EQ(find_codec(tiff::Compression::lz4)->predictor, PredictorUse::read) << "libtiff has no LZ4 to go by";
  for (auto const compression : {tiff::Compression::none, tiff::Compression::packbits, tiff::Compression::jpeg,
                                 tiff::Compression::lerc, tiff::Compression::webp, tiff::Compression::jxl}) {
    EXPECT_EQ(find_codec(compression)->predictor, PredictorUse::none);
  }
}

TEST(CodecTable, KnowsDecodersOfTheDeviceAndTheTrustTheyNeed) {
  for (Codec const& codec : all_codecs()) {
    bool const is_kernel = codec.device_decoder == DeviceMethod::raw || codec.device_decoder == DeviceMethod::lzw ||
                           codec.device_decoder == DeviceMethod::packbits;
    bool const is_on_host = codec.device_decoder == DeviceMethod::host;
    EXPECT_EQ(codec.device_trust == DeviceTrust::any, is_kernel || is_on_host);
  }
  EXPECT_EQ(find_codec(tiff::Compression::zstd)->device_trust, DeviceTrust::stated);
  EXPECT_EQ(find_codec(tiff::Compression::pkzip_deflate)->device_decoder, DeviceMethod::deflate);
  EXPECT_EQ(find_codec(tiff::Compression::aperio_jp2_rgb)->device_decoder, DeviceMethod::host);
}

TEST(CodecTable, KnowsWhichStreamsHaveABitOrderOfTheirOwn) {
  for (auto const compression : {tiff::Compression::jpeg, tiff::Compression::jpeg2000,
                                 tiff::Compression::aperio_jp2_ycbcr, tiff::Compression::aperio_jp2_rgb}) {
    EXPECT_EQ(find_codec(compression)->bit_order, BitOrder::own);
  }
  EXPECT_EQ(find_codec(tiff::Compression::lzw)->bit_order, BitOrder::as_tagged);
  EXPECT_EQ(find_codec(tiff::Compression::webp)->bit_order, BitOrder::as_tagged);
}

TEST(CodecTable, KnowsWhichCodecsKnowSamples) {
  EXPECT_EQ(find_codec(tiff::Compression::deflate)->output_order, OutputOrder::stored);
  EXPECT_EQ(find_codec(tiff::Compression::lerc)->output_order, OutputOrder::stored);
}

TEST(CodecTable, HasCodecsThatTheBuildOrTheMachineLacks) {
  Codec codec{.compression = tiff::Compression::none};
  EXPECT_FALSE(codec.is_available()) << "the build lacks it";
  codec.decode = find_codec(tiff::Compression::none)->decode;
  EXPECT_TRUE(codec.is_available());
  codec.is_loaded = []() noexcept { return false; };
  EXPECT_FALSE(codec.is_available());
}

}  // namespace
}  // namespace terrazzo::codec
