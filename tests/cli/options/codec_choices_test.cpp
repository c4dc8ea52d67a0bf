// SPDX-License-Identifier: Apache-2.0
#include "options/codec_choices.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace terrazzo::cli {
namespace {

// What is said against these choices; empty when nothing is.
std::string told(WriteChoices const& choices, std::uint32_t bands = 3) {
  WriteOptions options;
  options.bands = bands;
  try {
    apply_choices(choices, options);
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.message();
  }
  return "";
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

TEST(CodecChoices, NothingChosenIsFineForEveryCodec) {
  for (char const* const name : {"none", "zstd", "lerc", "jpeg", "webp", "jpeg2000"}) {
    EXPECT_EQ(told({.compression = parse_compression(name)}), "") << name;
  }
}

TEST(CodecChoices, OptionOfAnotherCodecNamesThoseThatTakeIt) {
  EXPECT_EQ(told({.quality = 80}),
            "--quality is for jpeg and webp, and the compression is zstd; type \"--compression jpeg\", or leave "
            "--quality out");
  EXPECT_TRUE(has(told({.lossy = true}), "--lossy is for jpeg2000, webp and jpeg"));
  EXPECT_TRUE(has(told({.rate = 20.0}), "--rate is for jpeg2000"));
  EXPECT_TRUE(has(told({.chroma = ChromaSubsampling::s444}), "--chroma is for jpeg"));
  EXPECT_TRUE(has(told({.max_error = 0.1}), "--max-error is for lerc, lerc-deflate and lerc-zstd"));
  EXPECT_TRUE(has(told({.compression = Compression::jpeg, .level = 5}), "--compression-level is for deflate"));
  EXPECT_TRUE(has(told({.compression = Compression::lzw, .level = 5}), "the compression is lzw"));
}

TEST(CodecChoices, OptionOfTheCodecIsTaken) {
  EXPECT_EQ(told({.compression = Compression::jpeg, .quality = 80, .chroma = ChromaSubsampling::s444}), "");
  EXPECT_EQ(told({.compression = Compression::jpeg, .lossy = true}), "");
  EXPECT_EQ(told({.compression = Compression::webp, .quality = 80, .lossy = true}), "");
  EXPECT_EQ(told({.compression = Compression::jpeg2000, .lossy = true, .rate = 20.0}), "");
  EXPECT_EQ(told({.compression = Compression::lerc_zstd, .level = 3, .max_error = 0.5}), "");
  EXPECT_EQ(told({.level = 3}), "");
}

TEST(CodecChoices, LossyOptionsOfALosslessFileSayWhatIsMissing) {
  EXPECT_TRUE(has(told({.compression = Compression::webp, .quality = 80}), "type \"--lossy\" too"));
  EXPECT_TRUE(has(told({.compression = Compression::jpeg2000, .rate = 20.0}), "type \"--lossy\" too"));
  EXPECT_TRUE(has(told({.compression = Compression::jpeg2000, .lossy = true}), "--rate 20"));
}

TEST(CodecChoices, ChromaIsForThreeBandsTogether) {
  WriteChoices choices{.compression = Compression::jpeg, .chroma = ChromaSubsampling::s422};
  EXPECT_TRUE(has(told(choices, 1), "three bands"));
  choices.planar = PlanarLayout::separate;
  EXPECT_TRUE(has(told(choices), "stored together"));
}

}  // namespace
}  // namespace terrazzo::cli
