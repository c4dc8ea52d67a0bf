// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/block.hpp"

#include "coding/deflate/scene.hpp"
#include "coding/only_literal.hpp"
#include "coding/zstd/pieces_twin.hpp"
#include "coding/zstd/unzstd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;

std::byte byte(std::uint32_t value) { return static_cast<std::byte>(value & 0xFFU); }

// The plan of a tile of one piece; nothing when it is raw or one byte repeated. It has to be given back.
struct Planned {
  ZstdPlan plan;
  std::uint32_t literals, sequences;
};
std::optional<Planned> plan_of(Bytes const& tile, int level = 6) {
  std::optional<Planned> planned;
  Bytes const frame = test::zstd_in_pieces(tile, level, [&](test::ZstdPieceTwin const& twin, std::uint32_t size) {
    if (size == kZstdRaw || size == kZstdRepeatedBlockBytes) { return; }
    planned = {twin.work().plan, twin.work().literal_count, twin.work().sequence_count};
  });
  EXPECT_TRUE(test::unzstd(frame, tile.size()) == tile);
  return planned;
}

Bytes noise_of(std::size_t size, std::uint32_t values, std::uint32_t seed = 1) {
  std::mt19937 engine(seed);
  Bytes bytes(size);
  for (std::byte& b : bytes) { b = byte(static_cast<std::uint32_t>(engine()) % values); }
  return bytes;
}

TEST(ZstdBlock, HasNoSequencesWhereNothingRepeats) {
  // All pairs of 16 values: no three bytes occur twice.
  Bytes tile;
  for (std::uint32_t pair = 0; pair < 256; ++pair) {
    tile.push_back(byte(pair / 16));
    tile.push_back(byte(100 + pair % 16));
  }
  std::optional<Planned> const planned = plan_of(tile);
  ASSERT_TRUE(planned);
  EXPECT_EQ(planned->sequences, 0u);
  EXPECT_EQ(planned->plan.literals, ZstdPlan::Literals::compressed);
}

TEST(ZstdBlock, CompressesLiteralsInOneStreamOrFour) {
  std::optional<Planned> const few = plan_of(noise_of(900, 23));
  ASSERT_TRUE(few);
  EXPECT_EQ(few->plan.literals, ZstdPlan::Literals::compressed);
  EXPECT_EQ(few->plan.streams, 1u);
  EXPECT_EQ(few->plan.literals_header_bytes, 3u);
  std::optional<Planned> const more = plan_of(noise_of(9000, 60));
  ASSERT_TRUE(more);
  EXPECT_EQ(more->plan.streams, 4u);
  EXPECT_EQ(more->plan.literals_header_bytes, 4u);
  std::optional<Planned> const most = plan_of(noise_of(kZstdPieceBytes, 150));
  ASSERT_TRUE(most);
  EXPECT_EQ(most->plan.streams, 4u);
  EXPECT_EQ(most->plan.literals_header_bytes, 5u);
}

TEST(ZstdBlock, KeepsLiteralsRawWhereACodeGainsNothing) {
  // Noise, and then the same again: literals of every value.
  for (std::size_t const size : {8u, 1000u, 5000u}) {
    Bytes tile = noise_of(size, 256);
    for (std::size_t i = 0; i < 200 + size; ++i) { tile.push_back(tile[i]); }
    std::optional<Planned> const planned = plan_of(tile);
    ASSERT_TRUE(planned) << size;
    EXPECT_EQ(planned->plan.literals, ZstdPlan::Literals::raw);
    EXPECT_EQ(planned->plan.literals_header_bytes, size == 8 ? 1u : size == 1000 ? 2u : 3u);
    EXPECT_GT(planned->sequences, 0u);
  }
}

TEST(ZstdBlock, TellsALiteralOnceThatIsTheOnlyOne) {
  // Two segments of zeros, but one byte, which is the last of the history.
  Bytes tile = noise_of(kZstdPieceBytes, 256);
  tile.back() = byte(7);
  for (std::uint32_t i = 0; i < 6000; ++i) { tile.push_back(byte(i == 5000 ? 7 : 0)); }
  ZstdPlan last{};
  std::uint32_t literals = 0;
  Bytes const frame = test::zstd_in_pieces(tile, 6, [&](test::ZstdPieceTwin const& twin, std::uint32_t) {
    last = twin.work().plan;
    literals = twin.work().literal_count;
  });
  EXPECT_TRUE(test::unzstd(frame, tile.size()) == tile);
  EXPECT_GT(literals, 0u);
  EXPECT_EQ(last.literals, literals == 1 ? ZstdPlan::Literals::repeated : ZstdPlan::Literals::raw);
  // A run, and one that begins with the byte before it: the run's byte is the only literal.
  Bytes runs(3000, byte(5));
  runs[1500] = byte(6);
  runs.resize(1501);
  EXPECT_TRUE(plan_of(runs));
}

TEST(ZstdBlock, TellsTheOnlyLiteralOnceWhicheverByteItIs) {
  for (std::uint32_t const literal : {0u, 1u, 128u, 255u}) {
    Bytes const tile = test::only_literal_tile(literal);
    ZstdPlan plan{};
    std::uint32_t literals = 0, sequences = 0, blocks_bytes = 0;
    Bytes const frame = test::zstd_in_pieces(tile, 6, [&](test::ZstdPieceTwin const& twin, std::uint32_t size) {
      plan = twin.work().plan;
      literals = twin.work().literal_count;
      sequences = twin.work().sequence_count;
      blocks_bytes += size;
    });
    EXPECT_TRUE(test::unzstd(frame, tile.size()) == tile) << literal;
    EXPECT_EQ(literals, test::kOnlyLiterals) << literal;
    EXPECT_EQ(sequences, test::kOnlyLiterals) << literal;
    EXPECT_EQ(plan.literals, ZstdPlan::Literals::repeated) << literal;
    EXPECT_EQ(plan.sequences_begin, 1u + 1u) << literal << ": a header for up to 31 literals, and the byte";
    EXPECT_EQ(frame.size(), ZstdFrameHeader{tile.size()}.bytes() + blocks_bytes) << literal;
  }
}

TEST(ZstdBlock, TakesLiteralsOfTwoSymbolsAtBothEndsOfTheAlphabet) {
  for (std::uint32_t const other : {1u, 127u, 128u, 129u, 130u, 255u}) {
    std::mt19937 engine(other);
    Bytes tile(3000);
    for (std::byte& b : tile) { b = byte(engine() % 3 == 0 ? other : 0); }
    EXPECT_TRUE(plan_of(tile)) << other;
  }
}

TEST(ZstdBlock, TellsOneMatchOfAWholeSegment) {
  Bytes tile = noise_of(5000, 256);
  tile.resize(3 * 4096, byte(0));
  for (std::size_t i = 4096; i < tile.size(); ++i) { tile[i] = tile[i - 4096]; }
  std::optional<Planned> const planned = plan_of(tile);
  ASSERT_TRUE(planned);
  EXPECT_LE(planned->sequences, 4u);
}

TEST(ZstdBlock, CountsManySequencesInTwoBytes) {
  Bytes const tile = test::deflate_scene(test::DeflateScene::words, kZstdPieceBytes);
  for (int const level : {1, 4, 10}) {
    std::optional<Planned> const planned = plan_of(tile, level);
    ASSERT_TRUE(planned);
    EXPECT_GT(planned->sequences, 2000u);
  }
}

// The shares of a block's tables depend on its sequences, so many small blocks try many tables.
TEST(ZstdBlock, GivesBackManySmallBlocks) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 engine(seed);
    auto const below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(engine()) % limit; };
    Bytes tile;
    std::uint32_t const size = 50 + below(6000), values = 1 + below(256), period = 1 + below(300);
    while (tile.size() < size) {
      std::uint32_t const length = 1 + below(80);
      bool const copies = below(3) != 0 && tile.size() > period;
      for (std::uint32_t i = 0; i < length; ++i) {
        tile.push_back(copies ? tile[tile.size() - (seed % 2 == 0 ? period : 1 + period * i % 3)]
                              : byte(below(values)));
      }
    }
    plan_of(tile, seed % 3 == 0 ? 1 : seed % 3 == 1 ? 4 : 10);
    if (HasFailure()) { FAIL() << "seed " << seed; }
  }
}

}  // namespace
}  // namespace terrazzo::coding
