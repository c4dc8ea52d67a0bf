// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.hpp"

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
  EXPECT_EQ(other.decode_two, deflate.decode_two);
  EXPECT_EQ(other.two_from_bytes, deflate.two_from_bytes);
}

TEST(CodecTable, KnowsWhichCodecsKnowSamples) {
  EXPECT_EQ(find_codec(tiff::Compression::deflate)->output_order, OutputOrder::stored);
  EXPECT_EQ(find_codec(tiff::Compression::lerc)->output_order, OutputOrder::stored);
}

}  // namespace
}  // namespace terrazzo::codec
