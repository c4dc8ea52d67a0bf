// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/literals.hpp"

#include "coding/deflate/matches_twin.hpp"
#include "coding/zstd/block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>

namespace terrazzo::coding {
namespace {

class ZstdLiteralsTest : public ::testing::Test {
 protected:
  // Makes the codes and their description; counts are in work_.
  void make() {
    for (auto& counts : work_->counts) { std::fill(std::begin(counts), std::end(counts), 0U); }
    work_->last_literal = work_->sequence_count = 0;
    make_literal_codes(threads_, *work_);
    zstd_block::make_tables(threads_, *work_);
    describe_literal_codes(*work_);
  }
  [[nodiscard]] std::uint32_t first_byte() const { return work_->tree_words[0] & 0xFFU; }

  std::unique_ptr<ZstdWork> work_ = std::make_unique<ZstdWork>();
  test::ThreadsInTurn threads_;
};

TEST_F(ZstdLiteralsTest, MakesCompleteCodesWithinTheLimit) {
  std::mt19937 engine(2);
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    auto const symbols = 2 + static_cast<std::uint32_t>(engine() % 255);
    for (std::uint32_t s = 0; s < 256; ++s) {
      auto const random = static_cast<std::uint32_t>(engine());
      work_->literals.counts[s] = s >= symbols ? 0 : trial % 2 == 0 ? random % 200 : 1U << (random % 14);
    }
    work_->literals.counts[0] = work_->literals.counts[symbols - 1] = 3;
    make();
    EXPECT_EQ(work_->last_literal, symbols - 1);
    std::uint32_t room = 0;
    for (std::uint32_t s = 0; s < 256; ++s) {
      std::uint32_t const bits = work_->literals.lengths[s];
      ASSERT_EQ(bits != 0, work_->literals.counts[s] != 0);
      ASSERT_LE(bits, kZstdMostCodeBits);
      if (bits == 0) { continue; }
      room += 1U << (kZstdMostCodeBits - bits);
      // By the rule of 4.2.1.1: codes are assigned in order of weights, then of symbols.
      std::uint32_t before = 0;
      for (std::uint32_t other = 0; other < 256; ++other) {
        std::uint32_t const other_bits = work_->literals.lengths[other];
        if (other_bits > bits || (other_bits == bits && other < s)) {
          before += 1U << (kZstdMostCodeBits - other_bits);
        }
      }
      ASSERT_EQ(work_->literals.codes[s], before >> (kZstdMostCodeBits - bits) | bits << 16) << "symbol " << s;
    }
    EXPECT_EQ(room, 1U << kZstdMostCodeBits);
  }
}

TEST_F(ZstdLiteralsTest, DescribesFewWeightsDirectly) {
  work_->literals.counts[0] = 4;
  work_->literals.counts[1] = 2;
  work_->literals.counts[2] = 1;
  work_->literals.counts[3] = 1;
  make();
  EXPECT_EQ(work_->tree_bytes, 3u);  // weights 3, 2, 1; the last one is implied
  EXPECT_EQ(first_byte(), 127u + 3);
  EXPECT_EQ(work_->tree_words[0] >> 8 & 0xFFFFU, 0x1032u);
}

TEST_F(ZstdLiteralsTest, DescribesManyWeightsByStates) {
  for (std::uint32_t s = 0; s < 256; ++s) { work_->literals.counts[s] = 10 + s % 37 * (s % 5); }
  make();
  ASSERT_NE(work_->tree_bytes, 0u);
  EXPECT_LE(work_->tree_bytes, kZstdMostTreeBytes);
  EXPECT_EQ(first_byte(), work_->tree_bytes - 1);
}

// 240 equal weights and an implied one: a single symbol for the states, and too many weights for the direct form.
TEST_F(ZstdLiteralsTest, HasNoDescriptionOfManyEqualWeights) {
  for (std::uint32_t s = 0; s < 256; ++s) { work_->literals.counts[s] = s < 240 ? 100 : s == 240 ? 1600 : 0; }
  make();
  EXPECT_EQ(work_->tree_bytes, 0u);
}

TEST_F(ZstdLiteralsTest, SharesStreamsOutWithoutGaps) {
  using zstd_literals::Share;
  for (std::uint32_t const count : {1u, 5u, 63u, 64u, 65u, 255u, 1023u, 1024u, 1025u, 1027u, 4097u, 32'767u, 32'768u}) {
    std::uint32_t at = 0;
    for (std::uint32_t thread = 0; thread < kDeflateThreads; ++thread) {
      Share const share(count, thread);
      ASSERT_LE(share.begin, share.end);
      if (share.begin == share.end) { continue; }
      ASSERT_EQ(share.begin, at) << count;
      ASSERT_EQ(share.stream, share.begin / Share::stream_literals(count));
      ASSERT_EQ(share.stream, (share.end - 1) / Share::stream_literals(count));
      at = share.end;
    }
    EXPECT_EQ(at, count);
  }
  EXPECT_EQ(Share::streams_of(1023), 1u);
  EXPECT_EQ(Share::streams_of(1024), 4u);
}

}  // namespace
}  // namespace terrazzo::coding
