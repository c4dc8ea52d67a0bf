// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/codecs.hpp"

#include "codec/libtiff/decoder.hpp"
#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

#include <map>

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

}  // namespace
}  // namespace terrazzo
