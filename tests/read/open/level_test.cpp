// SPDX-License-Identifier: Apache-2.0
#include "read/open/level.hpp"

#include "read/host/tile_cache.hpp"
#include "read/images.hpp"

#include <gtest/gtest.h>

namespace terrazzo::reading {
namespace {

std::unique_ptr<Level> level_of(testing::TiffBuilder const& builder) {
  ByteSourcePtr const source = builder.source();
  auto const chain = tiff::read_chain(source);
  std::vector<std::string> warnings;
  return std::make_unique<Level>(source, chain.directories[0], tiff::parse_image(chain.directories[0], warnings));
}

TEST(Level, HasTheBandsAndTypeOfItsImage) {
  auto const level = level_of(image<std::int16_t>({.width = 8, .height = 8, .bands = 5}));
  EXPECT_EQ(level->bands, 5u);
  EXPECT_EQ(level->dtype, DType::i16);
  EXPECT_FALSE(level->external);
  EXPECT_EQ(level->mask, nullptr);
}

TEST(Level, HasTheBandsOfRgbWhereColoursAreConverted) {
  for (auto const& [photometric, samples, bands] :
       std::vector<std::array<std::uint16_t, 3>>{{5, 4, 4}, {5, 5, 4}, {6, 3, 3}, {8, 3, 4}}) {
    testing::TiffBuilder builder;
    auto const at = static_cast<std::uint32_t>(builder.data(std::vector<std::byte>(1000)));
    builder.longs(256, {8})
        .longs(257, {8})
        .shorts(258, std::vector<std::uint16_t>(samples, 8))
        .shorts(262, {photometric});
    builder.longs(273, {at}).shorts(277, {samples}).longs(278, {8}).longs(279, {1000});
    EXPECT_EQ(level_of(builder)->bands, bands) << photometric << " of " << samples;
  }
}

TEST(Level, HasAnIdOfItsOwn) {
  testing::TiffBuilder const builder = image<std::uint8_t>({.width = 8, .height = 8});
  auto const a = level_of(builder), b = level_of(builder);
  EXPECT_NE(a->id, b->id);
}

// Of a builder's bytes, with the identity that is given.
class NamedSource final : public ByteSource {
 public:
  NamedSource(testing::TiffBuilder const& builder, std::string identity)
      : bytes_(builder.source()), identity_(std::move(identity)) {}
  [[nodiscard]] std::string const& name() const noexcept override { return bytes_->name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return bytes_->size_bytes(); }
  [[nodiscard]] std::string identity() const override { return identity_; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override { return bytes_->submit(ranges); }

 private:
  ByteSourcePtr bytes_;
  std::string identity_;
};

std::unique_ptr<Level> level_of(testing::TiffBuilder const& builder, std::string identity) {
  auto const source = std::make_shared<NamedSource const>(builder, std::move(identity));
  auto const chain = tiff::read_chain(source);
  std::vector<std::string> warnings;
  return std::make_unique<Level>(source, chain.directories[0], tiff::parse_image(chain.directories[0], warnings));
}

TEST(Level, SharesItsIdWithLevelsOfTheSameIdentity) {
  testing::TiffBuilder const builder = image<std::uint8_t>({.width = 8, .height = 8});
  auto const a = level_of(builder, "object 7, version 3"), b = level_of(builder, "object 7, version 3");
  auto const newer = level_of(builder, "object 7, version 4");
  EXPECT_EQ(a->id, b->id);
  EXPECT_NE(a->id, newer->id);
}

// Cached blocks of another size would be read past their end.
TEST(Level, SharesNoIdWithALevelOfAnotherShapeWhateverTheIdentitySays) {
  auto const a = level_of(image<std::uint8_t>({.width = 8, .height = 8}), "lie");
  EXPECT_NE(a->id, level_of(image<std::uint8_t>({.width = 8, .height = 9}), "lie")->id);
  EXPECT_NE(a->id, level_of(image<std::int8_t>({.width = 8, .height = 8}), "lie")->id);
  EXPECT_NE(a->id, level_of(image<std::uint16_t>({.width = 8, .height = 8}), "lie")->id);
  EXPECT_NE(a->id, level_of(image<std::uint8_t>({.width = 8, .height = 8, .bands = 2}), "lie")->id);
}

TEST(Level, KeepsSharedBlocksUntilTheLastOfItsIdentityGoes) {
  testing::TiffBuilder const builder = image<std::uint8_t>({.width = 8, .height = 8});
  auto a = level_of(builder, "kept"), b = level_of(builder, "kept");
  CacheKey const key{a->id, 0};
  tile_cache().insert(key, std::make_shared<CachedBlock>(8), 1 << 20);
  a.reset();
  EXPECT_NE(tile_cache().find(key), nullptr);
  b.reset();
  EXPECT_EQ(tile_cache().find(key), nullptr);
  EXPECT_NE(level_of(builder, "kept")->id, key.level_id);
}

TEST(Level, TakesItsBlocksOutOfTheCacheWhenItGoes) {
  testing::TiffBuilder const builder = image<std::uint8_t>({.width = 8, .height = 8});
  auto level = level_of(builder);
  CacheKey const key{level->id, 0};
  tile_cache().insert(key, std::make_shared<CachedBlock>(8), 1 << 20);
  EXPECT_NE(tile_cache().find(key), nullptr);
  level.reset();
  EXPECT_EQ(tile_cache().find(key), nullptr);
}

}  // namespace
}  // namespace terrazzo::reading
