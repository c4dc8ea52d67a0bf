// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/codecs.hpp"

#include "codec/libtiff/decoder.hpp"
#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace terrazzo {
namespace {

TEST(Codecs, AreListedOnceWithTheirLibraries) {
  std::map<std::uint32_t, CodecInfo> by_number;
  for (CodecInfo const& codec : codecs()) { EXPECT_TRUE(by_number.emplace(codec.compression, codec).second); }
  EXPECT_GE(by_number.size(), codec::all_codecs().size() + 10);
  EXPECT_EQ(by_number.at(5).name, "lzw");
  EXPECT_TRUE(by_number.at(5).library.empty()) << "ours";
  EXPECT_TRUE(by_number.at(5).available);
  EXPECT_EQ(by_number.at(50000).library, "libzstd");
  EXPECT_FALSE(by_number.at(50000).trusted_only);
  EXPECT_EQ(by_number.at(4).library, "libtiff");
  EXPECT_TRUE(by_number.at(4).trusted_only);
  EXPECT_TRUE(by_number.at(4).loaded);
  EXPECT_FALSE(by_number.at(50000).loaded);
  EXPECT_EQ(by_number.at(50002).available, codec::find_codec(tiff::Compression::jxl)->is_available());
  EXPECT_EQ(by_number.at(4).available, codec::LibtiffDecoder::decodes(tiff::Compression::ccitt_fax4));
}

TEST(CompressionNames, AreParsedBack) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Compression::lz4); ++i) {
    auto const compression = static_cast<Compression>(i);
    EXPECT_EQ(parse_compression(to_string(compression)), compression);
    names.insert(to_string(compression));
  }
  EXPECT_EQ(names.size(), 13U);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(CompressionNames, AreTakenInAnyCaseAndAsGdalSpellsThem) {
  EXPECT_EQ(parse_compression("DEFLATE"), Compression::deflate);
  EXPECT_EQ(parse_compression("LERC_ZSTD"), Compression::lerc_zstd);
  EXPECT_EQ(parse_compression("LERC_DEFLATE"), Compression::lerc_deflate);
  EXPECT_EQ(parse_compression("j2k"), Compression::jpeg2000);
  for (char const* const name : {"", "deflat", "deflatee", "lerc zstd", "unknown"}) {
    EXPECT_EQ(parse_compression(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace terrazzo
