// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/sequences.hpp"

#include "coding/deflate/matches_twin.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

struct Sequence {
  std::uint32_t literals, length, distance;
};

class ZstdSequencesTest : public ::testing::Test {
 protected:
  // Tokens of sequences and the literals behind them, 0, 1, 2 and so on.
  std::uint32_t put(std::vector<Sequence> const& sequences, std::uint32_t literals_behind) {
    std::uint32_t at = 0, byte = 0;
    auto const literal = [&] { tokens_[at++] = DeflateToken::literal(byte++ & 0xFFU).word; };
    for (Sequence const& sequence : sequences) {
      for (std::uint32_t i = 0; i < sequence.literals; ++i) { literal(); }
      tokens_[at++] = DeflateToken::match(sequence.length, sequence.distance).word;
      for (std::uint32_t i = 1; i < sequence.length; ++i) { tokens_[at++] = DeflateToken::kCovered; }
    }
    for (std::uint32_t i = 0; i < literals_behind; ++i) { literal(); }
    return at;
  }
  void gather(std::uint32_t bytes) { gather_zstd_sequences(threads_, *work_, places(), bytes); }
  [[nodiscard]] ZstdPlaces places() {
    return {tokens_.data(), literals_.data(), lengths_[0].data(), lengths_[1].data(), lengths_[2].data()};
  }

  std::vector<std::uint32_t> tokens_ = std::vector<std::uint32_t>(ZstdPlaces::kTokenWords);
  std::vector<std::uint8_t> literals_ = std::vector<std::uint8_t>(kZstdPieceBytes);
  std::vector<std::uint16_t> lengths_[3] = {std::vector<std::uint16_t>(kZstdMostSequences),
                                            std::vector<std::uint16_t>(kZstdMostSequences),
                                            std::vector<std::uint16_t>(kZstdMostSequences)};
  std::unique_ptr<ZstdWork> work_ = std::make_unique<ZstdWork>();
  test::ThreadsInTurn threads_;
};

TEST_F(ZstdSequencesTest, SetsLiteralsAndMatchesApart) {
  std::mt19937 engine(5);
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    std::vector<Sequence> sequences;
    std::uint32_t total = 0, literals = 0;
    for (;;) {
      Sequence const next{static_cast<std::uint32_t>(engine() % (trial % 3 == 0 ? 1000 : 4)),
                          3 + static_cast<std::uint32_t>(engine() % (trial % 4 == 0 ? 600 : 5)),
                          1 + static_cast<std::uint32_t>(engine() % 32'768)};
      if (total + next.literals + next.length > kZstdPieceBytes) { break; }
      total += next.literals + next.length;
      literals += next.literals;
      sequences.push_back(next);
    }
    std::uint32_t const behind = kZstdPieceBytes - total;
    ASSERT_EQ(put(sequences, behind), kZstdPieceBytes);
    gather(kZstdPieceBytes);
    ASSERT_EQ(work_->sequence_count, sequences.size());
    ASSERT_EQ(work_->literal_count, literals + behind);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      ASSERT_EQ(lengths_[0][i], sequences[i].literals) << "sequence " << i;
      ASSERT_EQ(lengths_[1][i], sequences[i].length);
      ASSERT_EQ(lengths_[2][i] + 1u, sequences[i].distance);
    }
    std::uint32_t counted = 0;
    for (std::uint32_t i = 0; i < literals + behind; ++i) { ASSERT_EQ(literals_[i], i & 0xFFU); }
    for (std::uint32_t const count : work_->literals.counts) { counted += count; }
    ASSERT_EQ(counted, literals + behind);
  }
}

TEST_F(ZstdSequencesTest, LeavesAlonePositionsBehindTheEnd) {
  std::uint32_t const bytes = put({{2, 5, 1}, {0, 3, 9}}, 4);
  tokens_[bytes] = DeflateToken::match(9, 9).word;
  tokens_[bytes + 1] = 7;
  gather(bytes);
  EXPECT_EQ(work_->sequence_count, 2u);
  EXPECT_EQ(work_->literal_count, 6u);
}

// A decoder's view of offset values (RFC 8878, 3.1.1.5), whatever was used before the block.
TEST_F(ZstdSequencesTest, TellsDistancesThatADecoderFollows) {
  std::mt19937 engine(6);
  std::uint32_t repeats = 0, swaps = 0;
  for (std::uint32_t trial = 0; trial < 200; ++trial) {
    std::vector<Sequence> sequences;
    for (std::uint32_t i = 0; i < 300; ++i) {
      sequences.push_back({static_cast<std::uint32_t>(engine() % 3), 4,
                           1 + static_cast<std::uint32_t>(engine() % (trial % 2 == 0   ? 3
                                                                      : trial % 3 == 0 ? 2
                                                                                       : 9))});
      if (trial % 5 == 0 && i % 60 > 20) { sequences.back() = {1, 4, 77}; }  // longer than is looked back
    }
    gather(put(sequences, 0));
    code_zstd_sequences(threads_, *work_, places());
    std::uint32_t last[3] = {1 + static_cast<std::uint32_t>(engine() % 9), 2, 3};
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      std::uint32_t const value = places().offset_values()[i];
      std::uint32_t distance = 0;
      if (value > 3) {
        distance = value - 3;
        last[2] = last[1];
        last[1] = last[0];
      } else {
        std::uint32_t const which = value - 1 + (sequences[i].literals == 0 ? 1 : 0);
        ASSERT_LT(which, 2u) << "only the last two are used";
        distance = last[which];
        ++(which == 0 ? repeats : swaps);
        if (which == 1) { last[1] = last[0]; }
      }
      last[0] = distance;
      ASSERT_EQ(distance, sequences[i].distance) << "trial " << trial << ", sequence " << i;
      ASSERT_EQ(places().codes(kZstdOffsets)[sequences.size() - 1 - i], zstd_offset_code(value).code);
    }
  }
  EXPECT_GT(repeats, 5000u);
  EXPECT_GT(swaps, 5000u);
}

TEST_F(ZstdSequencesTest, HasRoomForAsManyAsThereCanBe) {
  std::vector<Sequence> const sequences(kZstdPieceBytes / 3, Sequence{0, 3, 32'768});
  std::uint32_t const bytes = put(sequences, kZstdPieceBytes % 3);
  EXPECT_EQ(bytes, kZstdPieceBytes);
  gather(bytes);
  EXPECT_EQ(work_->sequence_count, sequences.size());
  EXPECT_LE(sequences.size(), kZstdMostSequences);
  code_zstd_sequences(threads_, *work_, places());
  EXPECT_EQ(work_->counts[kZstdMatchLengths][0], sequences.size());
}

}  // namespace
}  // namespace terrazzo::coding
