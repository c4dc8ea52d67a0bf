// SPDX-License-Identifier: Apache-2.0
#include "codec/zstd/decoder_sequences.hpp"
#include "codec/support.hpp"
#include "tile/host/cpu.hpp"

#if TERRAZZO_HAVE_X86

namespace terrazzo::codec::testing {
namespace {

// Tables of one number each leave only extra bits in the stream: those of the offsets here.
class ZstdSequences : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tile::has_avx2()) { GTEST_SKIP() << "no AVX2 here"; }
    for (std::size_t i = 0; i < kLiterals; ++i) { literals_[i] = static_cast<std::byte>('a' + i); }
  }

  void set_tables(unsigned literal_length, unsigned offset, unsigned match_length) {
    Bytes const told = {std::byte{0b0101'0100}, static_cast<std::byte>(literal_length), static_cast<std::byte>(offset),
                        static_cast<std::byte>(match_length - 3)};
    ASSERT_EQ(read_sequence_tables(told, tables_), 4u);
  }

  // What `count` sequences make of the first `literals`; nothing when they are refused.
  std::string run(std::uint32_t count, Bytes const& bits, std::size_t literals, std::size_t room) {
    std::string out(room, '.');
    auto* const begin = reinterpret_cast<std::byte*>(out.data());
    ZstdOutput output{begin, begin, begin + room};
    if (!run_sequences(tables_, count, bits, std::span(literals_).first(literals), last_, output)) { return {}; }
    return out.substr(0, room - output.room());
  }

  static constexpr std::size_t kLiterals = 26;
  Bytes literals_ = Bytes(kLiterals + kLiteralSlackBytes);
  SequenceTables tables_;
  LastDistances last_{1, 4, 8};
};

TEST_F(ZstdSequences, CopyLiteralsThenWhatIsThere) {
  set_tables(4, 2, 5);  // four literals, a distance of 1 to 4, five bytes of it
  // Two bits a sequence, the first one's at the top below the mark: distances 4 and 1.
  EXPECT_EQ(run(2, {std::byte{0b1'11'00}}, 10, 100), "abcdabcdaefghhhhhhij");
  EXPECT_EQ(last_, (LastDistances{1, 4, 1}));
}

TEST_F(ZstdSequences, FillTheirRoomExactly) {
  set_tables(4, 2, 5);
  Bytes const bits = {std::byte{0b1'11'00}};
  for (std::size_t const room : {20u, 21u, 40u, 60u}) { EXPECT_EQ(run(2, bits, 10, room), "abcdabcdaefghhhhhhij"); }
  for (std::size_t const room : {0u, 8u, 17u, 18u, 19u}) { EXPECT_EQ(run(2, bits, 10, room), "") << room; }
}

TEST_F(ZstdSequences, UseTheLastDistances) {
  set_tables(5, 1, 3);  // an offset value of 2 or 3: the distance before the last, and the one before that
  last_ = {1, 4, 5};
  EXPECT_EQ(run(1, {std::byte{0b1'0}}, 5, 100), "abcdebcd");
  EXPECT_EQ(last_, (LastDistances{4, 1, 5}));
  last_ = {1, 4, 5};
  EXPECT_EQ(run(1, {std::byte{0b1'1}}, 5, 100), "abcdeabc");
  EXPECT_EQ(last_, (LastDistances{5, 1, 4}));
  set_tables(5, 0, 3);  // a value of 1: the last
  last_ = {2, 4, 5};
  EXPECT_EQ(run(1, {std::byte{0b1}}, 5, 100), "abcdeded");
  EXPECT_EQ(last_, (LastDistances{2, 4, 5}));
}

TEST_F(ZstdSequences, WithoutLiteralsMeanTheNextDistance) {
  auto const run_after = [&](unsigned offset, Bytes const& bits) {
    last_ = {3, 2, 1};
    set_tables(0, offset, 3);
    std::string out = "abcd........................................................";
    auto* const begin = reinterpret_cast<std::byte*>(out.data());
    ZstdOutput output{begin, begin + 4, begin + out.size()};
    return run_sequences(tables_, 1, bits, {literals_.data(), 0}, last_, output) ? out.substr(4, 3) : std::string();
  };
  EXPECT_EQ(run_after(0, {std::byte{0b1}}), "cdc");    // value 1: the second
  EXPECT_EQ(run_after(1, {std::byte{0b1'0}}), "ddd");  // value 2: the third
  EXPECT_EQ(run_after(1, {std::byte{0b1'1}}), "cdc");  // value 3: the first less one
  EXPECT_EQ(last_, (LastDistances{2, 3, 2}));
  last_ = {1, 2, 3};
  EXPECT_EQ(run(1, {std::byte{0b1'1}}, 0, 100), "");  // that is 0
}

// More bits a sequence than one refill has for them and for states.
TEST_F(ZstdSequences, MayTakeMoreBitsThanAWordHas) {
  // Lengths of literals from 32768 on with 15 bits more, of matches from 65539 on with 16, and distances of 1 to 4.
  Bytes const told = {std::byte{0b0101'0100}, std::byte{34}, std::byte{2}, std::byte{52}};
  ASSERT_EQ(read_sequence_tables(told, tables_), 4u);
  constexpr std::uint32_t kCount = 5;
  std::vector<bool> bits;
  std::string wanted;
  literals_ = random_bytes(kCount * (32768 + kCount) + kLiteralSlackBytes, 1);
  std::size_t literal = 0;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    std::uint32_t const fields[] = {i % 4, 7 * i, i};  // of offset, match and literals, in the order of reading
    constexpr std::uint32_t kWidths[] = {2, 16, 15};
    for (std::size_t f = 0; f < 3; ++f) {
      for (std::uint32_t b = kWidths[f]; b-- > 0;) { bits.push_back((fields[f] >> b & 1) != 0); }
    }
    for (std::uint32_t k = 0; k < 32768 + i; ++k) { wanted.push_back(static_cast<char>(literals_[literal++])); }
    for (std::uint32_t k = 0; k < 65539 + 7 * i; ++k) { wanted.push_back(wanted[wanted.size() - (i % 4 + 1)]); }
  }
  // Read from the end: the first bit is the one below the mark.
  Bytes stream(bits.size() / 8 + 1);
  for (std::size_t i = 0; i <= bits.size(); ++i) {
    if (i == bits.size() || bits[bits.size() - 1 - i]) { stream[i / 8] |= static_cast<std::byte>(1U << i % 8); }
  }
  EXPECT_EQ(run(kCount, stream, literal, wanted.size()), wanted);
}

TEST_F(ZstdSequences, AreRefusedWhenTheyReachTooFarOrDoNotFitTheirBits) {
  set_tables(4, 3, 5);  // distances of 5 to 12
  EXPECT_EQ(run(1, {std::byte{0b1'000}}, 10, 100), "");  // before the output
  set_tables(4, 2, 5);
  EXPECT_EQ(run(3, {std::byte{0b1'11'00}}, 26, 100), "");    // a sequence without bits
  EXPECT_EQ(run(1, {std::byte{0b1'11'00}}, 10, 100), "");    // bits without a sequence
  EXPECT_EQ(run(2, {std::byte{0b1'11'00}}, 7, 100), "");     // too few literals
  EXPECT_EQ(run(2, {std::byte{0b1'11'00}, std::byte{0}}, 10, 100), "");  // no mark
  EXPECT_EQ(run(2, {}, 10, 100), "");
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
