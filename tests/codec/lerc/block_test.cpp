// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/block.hpp"

#include "codec/support.hpp"

namespace terrazzo::codec::testing {
namespace {

template <class T>
Bytes written(std::vector<T> const& samples, double max_error, std::size_t column_px = 0,
              bool first_may_repeat = true) {
  LercBlock<LercWork<T>> block;
  block.count = samples.size();
  std::ranges::copy(samples, block.samples());
  LercBlockWriter<T, LercPortableKernels> writer(LercRule::of<T>(max_error));
  LercExtent<LercWork<T>> extent;
  if (block.count != 0) { extent = LercPortableKernels::measure(block); }
  Bytes stream(1 + samples.size() * sizeof(T) + kLercStuffSlack, std::byte{0xA5});
  stream.resize(static_cast<std::size_t>(writer.write(block, extent, column_px, first_may_repeat, stream.data()) -
                                         stream.data()));
  return stream;
}

unsigned storage(Bytes const& block) { return std::to_integer<unsigned>(block.at(0)) & 3; }
unsigned offset_code(Bytes const& block) { return std::to_integer<unsigned>(block.at(0)) >> 6; }
bool has_table(Bytes const& block, std::size_t offset_bytes) {
  return (block.at(1 + offset_bytes) & std::byte{0x20}) != std::byte{0};
}

TEST(LercBlock, SaysOneByteOfNothingAndOfZeros) {
  EXPECT_EQ(written<float>({}, 0.01), Bytes{std::byte{2}});
  EXPECT_EQ(written<float>({0.0F, -0.0F, 0.0F}, 0), Bytes{std::byte{2}});
  EXPECT_EQ(written<std::uint8_t>(std::vector<std::uint8_t>(64, 0), 0.5), Bytes{std::byte{2}});
}

TEST(LercBlock, NamesItsColumn) {
  EXPECT_EQ(written<float>({0}, 1, 8), Bytes{std::byte{1 << 2 | 2}});
  EXPECT_EQ(written<float>({0}, 1, 120), Bytes{std::byte{15 << 2 | 2}});
  EXPECT_EQ(written<float>({0}, 1, 128), Bytes{std::byte{2}});
}

TEST(LercBlock, StoresEqualSamplesOnceAndASingleOneAsItIs) {
  Bytes const equal = written<float>(std::vector<float>(64, 1.5F), 0);
  EXPECT_EQ(storage(equal), lerc::kAllEqual);
  EXPECT_EQ(equal.size(), 5U);
  EXPECT_EQ(storage(written<float>({1.5F}, 0)), lerc::kRaw);
  EXPECT_EQ(storage(written<float>({1.0F, 1.4F}, 1)), lerc::kAllEqual);
}

TEST(LercBlock, StoresWhatCannotBeRoundedAsItIs) {
  Bytes const exact = written<float>({1.0F, 2.0F}, 0);
  EXPECT_EQ(storage(exact), lerc::kRaw);
  EXPECT_EQ(exact.size(), 1 + 2 * sizeof(float));
  EXPECT_EQ(storage(written<float>({-3e38F, 3e38F, 0, 0, 0, 0, 0, 0, 0}, 0.01)), lerc::kRaw);
  float const infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(storage(written<float>({1, infinity, 1, 1, 1, 1, 1, 1, 1, 1}, 0.01)), lerc::kRaw);
  EXPECT_EQ(storage(written<float>({-infinity, infinity, 0, 0, 0, 0, 0, 0}, 0.01)), lerc::kRaw);
  EXPECT_EQ(storage(written<float>(std::vector<float>(9, -infinity), 0.01)), lerc::kAllEqual);
  EXPECT_EQ(storage(written<double>({-1e308, 1e308, 0, 0, 0, 0, 0, 0}, 0.01)), lerc::kRaw);
  EXPECT_EQ(storage(written<double>({-1e308, 1e308, 0, 0, 0, 0, 0, 0}, 1e308)), lerc::kRaw);
  EXPECT_EQ(storage(written<std::uint16_t>({0, 65535, 7, 7, 7, 7, 7, 7, 7, 7}, 0.5)), lerc::kRaw);
}

TEST(LercBlock, CountsStepsAboveTheLeastSample) {
  // 10 in one byte, then two bits for each of four: 0, 3, 1, 2.
  EXPECT_EQ(
      written<float>({10.0F, 10.06F, 10.02F, 10.04F}, 0.01),
      (Bytes{std::byte{2 << 6 | 1}, std::byte{10}, std::byte{2 << 6 | 2}, std::byte{4}, std::byte{0b10'01'11'00}}));
}

TEST(LercBlock, CountsBlocksOf256InTwoBytes) {
  std::vector<std::int32_t> samples(256);
  for (std::size_t i = 0; i < samples.size(); ++i) { samples[i] = static_cast<std::int32_t>(i % 2 * 3 + i % 4 / 2); }
  Bytes const block = written<std::int32_t>(samples, 0.5);
  EXPECT_EQ(block.at(2), std::byte{1 << 6 | 3});
  EXPECT_EQ(block.at(3), std::byte{0});
  EXPECT_EQ(block.at(4), std::byte{1});
  EXPECT_EQ(block.size(), 1U + 1 + 3 + 256 * 3 / 8);
}

TEST(LercBlock, ListsTheValuesWhereTheyAreFew) {
  std::vector<std::int32_t> samples(64, 100);
  for (std::size_t i = 30; i < 50; ++i) { samples[i] = 1'000'000; }
  for (std::size_t i = 50; i < 64; ++i) { samples[i] = 77'777; }
  Bytes const few = written<std::int32_t>(samples, 0.5);
  EXPECT_EQ(storage(few), lerc::kSteps);
  EXPECT_TRUE(has_table(few, 1));
  // Two values of 20 bits and 64 places of two.
  EXPECT_EQ(few.size(), 1U + 1 + 2 + 1 + 5 + 16);
  std::vector<std::int32_t> changing = samples;
  for (std::size_t i = 0; i < 64; i += 2) { changing[i] = 100 + static_cast<std::int32_t>(i); }
  EXPECT_FALSE(has_table(written<std::int32_t>(changing, 0.5), 1));
}

// Blobs without a mask count a first sample of 0 as a repeat: one more may tip the scales.
TEST(LercBlock, CountsAFirstZeroAsARepeatOnlyWithoutAMask) {
  std::vector<std::int32_t> const samples{0,      0,      0,      90'000, 50'000, 50'000, 0,
                                          90'000, 90'000, 50'000, 50'000, 50'000, 0};
  EXPECT_TRUE(has_table(written<std::int32_t>(samples, 0.5, 0, true), 1));
  EXPECT_FALSE(has_table(written<std::int32_t>(samples, 0.5, 0, false), 1));
}

template <class T>
void expect_offset(T low, unsigned code, std::size_t bytes) {
  Bytes const block = written<T>(std::vector<T>(64, low), std::integral<T> ? 0.5 : 0.01);
  EXPECT_EQ(offset_code(block), code) << +low;
  EXPECT_EQ(block.size(), 1 + bytes) << +low;
}

TEST(LercBlock, KeepsTheLeastSampleInTheSmallestTypeThatHoldsIt) {
  expect_offset<std::uint8_t>(200, 0, 1);
  expect_offset<std::int8_t>(-100, 0, 1);
  expect_offset<std::int16_t>(-100, 2, 1);
  expect_offset<std::int16_t>(200, 1, 1);
  expect_offset<std::int16_t>(-200, 0, 2);
  expect_offset<std::uint16_t>(255, 1, 1);
  expect_offset<std::uint16_t>(256, 0, 2);
  expect_offset<std::int32_t>(255, 3, 1);
  expect_offset<std::int32_t>(-1, 2, 2);
  expect_offset<std::int32_t>(40'000, 1, 2);
  expect_offset<std::int32_t>(-40'000, 0, 4);
  expect_offset<std::uint32_t>(255, 2, 1);
  expect_offset<std::uint32_t>(65'535, 1, 2);
  expect_offset<std::uint32_t>(4'000'000'000U, 0, 4);
  expect_offset<float>(255, 2, 1);
  expect_offset<float>(-1, 1, 2);
  expect_offset<float>(40'000, 0, 4);
  expect_offset<float>(0.5F, 0, 4);
  expect_offset<double>(-32768, 3, 2);
  expect_offset<double>(2'000'000'000, 2, 4);
  expect_offset<double>(0.5, 1, 4);
  expect_offset<double>(0.1, 0, 8);
  expect_offset<double>(1e300, 0, 8);
}

}  // namespace
}  // namespace terrazzo::codec::testing
