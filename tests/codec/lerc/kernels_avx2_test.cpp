// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/kernels_avx2.hpp"

#include "codec/support.hpp"

#include <bit>
#include <bitset>

namespace terrazzo::codec::testing {
namespace {

// What stuffing promises, a bit at a time.
Bytes stuffed_plainly(std::vector<std::uint32_t> const& values, unsigned bits) {
  Bytes stream((values.size() * bits + 7) / 8, std::byte{0});
  for (std::size_t i = 0; i < values.size() * bits; ++i) {
    if ((values[i / bits] >> (i % bits) & 1) != 0) { stream[i / 8] |= std::byte{1} << (i % 8); }
  }
  return stream;
}

template <class Kernels>
Bytes stuffed(std::vector<std::uint32_t> const& values, unsigned bits) {
  LercSteps steps{};
  std::ranges::copy(values, steps.begin());
  Bytes stream((values.size() * bits + 7) / 8 + kLercStuffSlack, std::byte{0xA5});
  std::byte* const end = Kernels::stuff(steps.data(), values.size(), bits, stream.data());
  stream.resize(static_cast<std::size_t>(end - stream.data()));
  return stream;
}

template <class Kernels>
void expect_stuffs_every_width() {
  std::mt19937 generator(1);
  for (unsigned bits = 1; bits <= 31; ++bits) {
    for (std::size_t count = 1; count <= kLercLargestBlock; count = count < 70 ? count + 1 : count + 31) {
      std::vector<std::uint32_t> values(count);
      for (std::uint32_t& value : values) { value = static_cast<std::uint32_t>(generator()) >> (32 - bits); }
      ASSERT_EQ(stuffed<Kernels>(values, bits), stuffed_plainly(values, bits)) << count << " of " << bits << " bits";
    }
  }
}

TEST(LercKernels, StuffEveryWidth) { expect_stuffs_every_width<LercPortableKernels>(); }

#if TERRAZZO_HAVE_X86

class LercKernelsAvx2 : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!tile::has_avx2()) { GTEST_SKIP() << "this machine has no AVX2"; }
  }
};

TEST_F(LercKernelsAvx2, StuffEveryWidth) { expect_stuffs_every_width<LercAvx2Kernels>(); }

template <class Work>
void expect_twins() {
  std::mt19937 generator(2);
  for (std::size_t count = 1; count <= kLercLargestBlock; ++count) {
    LercBlock<Work> block;
    block.count = count;
    for (std::size_t i = 0; i < count; ++i) {
      bool const repeat = generator() % 3 == 0;
      block.samples()[i] = repeat ? block.samples()[static_cast<std::ptrdiff_t>(i) - 1]
                                  : static_cast<Work>(static_cast<double>(generator() % 100'000) * 0.37);
    }
    auto const portable = LercPortableKernels::measure(block);
    auto const vectors = LercAvx2Kernels::measure(block);
    ASSERT_EQ(portable.low, vectors.low) << count;
    ASSERT_EQ(portable.high, vectors.high) << count;
    ASSERT_EQ(portable.repeats, vectors.repeats) << count;
    ASSERT_EQ(portable.low, *std::min_element(block.samples(), block.samples() + count)) << count;
    ASSERT_EQ(portable.high, *std::max_element(block.samples(), block.samples() + count)) << count;
    for (double const per_unit : {0.01, 1.0, 50.0, 20'000.0}) {
      LercSteps one{}, other{};
      LercPortableKernels::quantise(block, portable.low, per_unit, one);
      LercAvx2Kernels::quantise(block, portable.low, per_unit, other);
      ASSERT_TRUE(
          std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(count + kLercLanes), other.begin()));
    }
    if constexpr (std::integral<Work>) {
      LercSteps one{}, other{};
      LercPortableKernels::count_units(block, portable.low, one);
      LercAvx2Kernels::count_units(block, portable.low, other);
      ASSERT_TRUE(
          std::equal(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(count + kLercLanes), other.begin()));
    }
  }
}

TEST_F(LercKernelsAvx2, GiveWhatThePortableOnesGive) {
  expect_twins<float>();
  expect_twins<double>();
  expect_twins<std::int32_t>();
  expect_twins<std::uint32_t>();
}

#endif

}  // namespace
}  // namespace terrazzo::codec::testing
