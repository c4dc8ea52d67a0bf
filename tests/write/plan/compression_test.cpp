// SPDX-License-Identifier: Apache-2.0
#include "write/plan/compression.hpp"

#include "terrazzo/codecs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace terrazzo::writing {
namespace {

std::optional<Compression> like(tiff::Compression compression, std::uint32_t lerc_additional_compression = 0) {
  tiff::Image image;
  image.compression = compression;
  image.lerc_additional_compression = lerc_additional_compression;
  return compression_like(image);
}

TEST(CompressionLike, IsTheOneThatWritesSuchTiles) {
  EXPECT_EQ(like(tiff::Compression::none), Compression::none);
  EXPECT_EQ(like(tiff::Compression::deflate), Compression::deflate);
  EXPECT_EQ(like(tiff::Compression::pkzip_deflate), Compression::deflate);
  EXPECT_EQ(like(tiff::Compression::lz4), Compression::lz4);
  EXPECT_EQ(like(tiff::Compression::deflate, 1), Compression::deflate) << "a stray LercParameters";
}

TEST(CompressionLike, OfLercIsTheOneAroundItsBlobs) {
  EXPECT_EQ(like(tiff::Compression::lerc), Compression::lerc);
  EXPECT_EQ(like(tiff::Compression::lerc, 1), Compression::lerc_deflate);
  EXPECT_EQ(like(tiff::Compression::lerc, 2), Compression::lerc_zstd);
  EXPECT_EQ(like(tiff::Compression::lerc, 3), Compression::lerc);
}

TEST(CompressionLike, IsNothingForWhatWeDoNotWrite) {
  EXPECT_EQ(like(tiff::Compression::jxl), std::nullopt);
  EXPECT_EQ(like(tiff::Compression::aperio_jp2_rgb), std::nullopt);
  EXPECT_EQ(like(tiff::Compression::ccitt_fax4), std::nullopt);
  EXPECT_EQ(fallback_compression(), Compression::deflate);
}

TEST(CompressionTraits, OfAlphaTurnItIntoAMaskForJpegAlone) {
  for (Compression const compression : compressions()) {
    EXPECT_EQ(turns_alpha_into_mask(compression), compression == Compression::jpeg) << to_string(compression);
  }
}

TEST(CompressionTraits, TellTheSettingsThatACompressionUses) {
  EXPECT_EQ(compressions().size(), 13u);
  EXPECT_TRUE(std::ranges::is_sorted(compressions()));
  EXPECT_TRUE(settings_of(Compression::deflate).level);
  EXPECT_TRUE(settings_of(Compression::lerc_zstd).level);
  EXPECT_TRUE(settings_of(Compression::lerc_zstd).max_error);
  EXPECT_FALSE(settings_of(Compression::lerc).level);
  EXPECT_FALSE(settings_of(Compression::lzw).level);
  EXPECT_TRUE(settings_of(Compression::jpeg).always_lossy);
  EXPECT_TRUE(settings_of(Compression::webp).lossless);
  EXPECT_FALSE(settings_of(Compression::webp).rate);
  auto const levels = [](Compression compression) {
    CompressionLevels const of = levels_of(compression).value();
    return std::array{of.lowest, of.highest, of.usual};
  };
  EXPECT_EQ(levels(Compression::deflate), (std::array{1, 12, 6}));
  EXPECT_EQ(levels(Compression::lerc_zstd), (std::array{1, 22, 9}));
  EXPECT_FALSE(levels_of(Compression::lzw).has_value());
  EXPECT_FALSE(levels_of(Compression::lerc).has_value());
}

}  // namespace
}  // namespace terrazzo::writing
