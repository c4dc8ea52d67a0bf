// SPDX-License-Identifier: Apache-2.0
#include "tile/bit_unpack.hpp"

#include "tile/byte_swap.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace terrazzo::tile {
namespace {

// Packs bit by bit, most significant first.
std::vector<std::byte> pack(std::vector<std::uint32_t> const& samples, std::uint32_t bits) {
  std::vector<std::byte> row(packed_row_bytes(samples.size(), bits));
  std::size_t at = 0;
  for (std::uint32_t const sample : samples) {
    for (std::uint32_t bit = bits; bit-- > 0; ++at) {
      if (((sample >> bit) & 1U) != 0) { row[at / 8] |= static_cast<std::byte>(0x80U >> (at % 8)); }
    }
  }
  return row;
}

// Buffers of exactly the right size, so that a sanitizer sees any access outside.
std::vector<std::uint32_t> unpack_exact(std::vector<std::byte> const& row, std::size_t count, std::uint32_t bits,
                                        bool swapped) {
  std::uint32_t const out_bytes = unpacked_sample_bytes(bits);
  std::unique_ptr<std::byte[]> const in(new std::byte[row.size()]);
  std::unique_ptr<std::byte[]> const out(new std::byte[count * out_bytes]);
  std::copy(row.begin(), row.end(), in.get());
  unpack_bits_row(in.get(), out.get(), count, bits, swapped);
  std::vector<std::uint32_t> samples(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::byte const* const at = out.get() + i * out_bytes;
    samples[i] = out_bytes == 1   ? load_unaligned<std::uint8_t>(at)
                 : out_bytes == 2 ? load_unaligned<std::uint16_t>(at)
                                  : load_unaligned<std::uint32_t>(at);
  }
  return samples;
}

TEST(UnpackBitsRow, ReadsEveryWidthAtEveryLength) {
  std::mt19937 engine(1);
  for (std::uint32_t bits = 1; bits <= 31; ++bits) {
    for (std::size_t count = 0; count < 140; ++count) {
      std::vector<std::uint32_t> samples(count);
      for (std::uint32_t& sample : samples) { sample = static_cast<std::uint32_t>(engine()) & ((1U << bits) - 1); }
      ASSERT_EQ(unpack_exact(pack(samples, bits), count, bits, bits != 24 && bits % 2 == 0), samples)
          << bits << " bits, " << count;
    }
  }
}

TEST(UnpackBitsRow, Reads24BitsAsGdalDoes) {
  std::vector<std::byte> const row{std::byte{0x12}, std::byte{0x34}, std::byte{0x56}};
  EXPECT_EQ(unpack_exact(row, 1, 24, false).front(), 0x123456U);
  EXPECT_EQ(unpack_exact(row, 1, 24, true).front(), 0x563412U);
}

TEST(UnpackSample, ReadsASampleThatCoversFiveBytes) {
  std::vector<std::uint32_t> const samples{0x7FFFFFFF, 0x2AAAAAAA, 0x55555555, 1};
  std::vector<std::byte> const row = pack(samples, 31);
  for (std::size_t i = 0; i < samples.size(); ++i) { EXPECT_EQ(unpack_sample(row.data(), i, 31), samples[i]); }
}

TEST(UnpackMaskRow, WritesTheGivenValueForSetBits) {
  std::vector<std::uint32_t> samples(77);
  for (std::size_t i = 0; i < samples.size(); ++i) { samples[i] = i % 3 == 0 ? 1 : 0; }
  std::vector<std::byte> const row = pack(samples, 1);
  std::vector<std::byte> out(samples.size());
  unpack_mask_row(row.data(), out.data(), out.size(), std::byte{255});
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(out[i], samples[i] != 0 ? std::byte{255} : std::byte{0}) << i;
  }
}

}  // namespace
}  // namespace terrazzo::tile
