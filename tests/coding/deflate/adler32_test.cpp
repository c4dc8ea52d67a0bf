// SPDX-License-Identifier: Apache-2.0
#include "coding/deflate/adler32.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

// As RFC 1950 has it, byte after byte.
std::uint32_t by_definition(std::vector<std::uint8_t> const& bytes) {
  std::uint32_t low = 1, high = 0;
  for (std::uint8_t const byte : bytes) {
    low = (low + byte) % kAdlerModulus;
    high = (high + low) % kAdlerModulus;
  }
  return (high << 16) | low;
}

// As the kernel has it: each of `threads` sums every so-manieth run of 16 bytes, and the sums are added.
std::uint32_t by_threads(std::vector<std::uint8_t> const& bytes, std::size_t threads) {
  AdlerSums total;
  for (std::size_t t = 0; t < threads; ++t) {
    AdlerSums own;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i / 16 % threads == t) { own.add(bytes[i], bytes.size() - i); }
    }
    own = own.reduced();
    total.bytes += own.bytes;
    total.weighted += own.weighted;
  }
  return adler32_of(total, bytes.size());
}

TEST(Adler32, KnownValues) {
  EXPECT_EQ(by_threads({}, 4), 1u);
  EXPECT_EQ(by_threads({'W', 'i', 'k', 'i', 'p', 'e', 'd', 'i', 'a'}, 4), 0x11E60398u);
}

TEST(Adler32, SharedOutAmongThreadsItIsTheDefinition) {
  std::mt19937 random(1);
  for (std::size_t const size : {1u, 15u, 16u, 17u, 255u, 5552u, 5553u, 65521u, 300000u}) {
    std::vector<std::uint8_t> bytes(size);
    for (std::uint8_t& byte : bytes) { byte = static_cast<std::uint8_t>(random()); }
    EXPECT_EQ(by_threads(bytes, 256), by_definition(bytes)) << size;
    std::vector<std::uint8_t> const ones(size, 255);  // the largest sums
    EXPECT_EQ(by_threads(ones, 256), by_definition(ones)) << size;
  }
}

TEST(Adler32, SharedOutInPiecesItIsTheDefinition) {
  std::mt19937 random(2);
  for (std::size_t const size : {1u, 15u, 16u, 17u, 4095u, 4096u, 4097u, 70001u}) {
    std::vector<AdlerVector> memory(size / 16 + 1);  // aligned
    auto* const data = reinterpret_cast<std::byte*>(memory.data());
    std::vector<std::uint8_t> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
      bytes[i] = static_cast<std::uint8_t>(random());
      data[i] = static_cast<std::byte>(bytes[i]);
    }
    for (std::uint64_t const piece : {std::uint64_t{16}, std::uint64_t{4096}, std::uint64_t{1} << 20}) {
      for (std::uint32_t const threads : {1u, 3u, 256u}) {
        AdlerSums total;
        for (std::uint64_t from = 0; from < size; from += piece) {
          for (std::uint32_t thread = 0; thread < threads; ++thread) {
            std::uint64_t const to = std::min<std::uint64_t>(size, from + piece);
            AdlerSums const own = adler_share(data, size, from, to, thread, threads).reduced();
            total.bytes += own.bytes;
            total.weighted += own.weighted;
          }
        }
        EXPECT_EQ(adler32_of(total, size), by_definition(bytes)) << size << ", pieces of " << piece << ", " << threads;
      }
    }
  }
}

TEST(Adler32, TheLargestTileDoesNotOverflow) {
  // 2^23 bytes of 255 at distances of 2 GiB: what one of 256 threads sums of a 2 GiB tile.
  AdlerSums sums;
  sums.bytes = std::uint64_t{255} << 23;
  unsigned __int128 const exact = (static_cast<unsigned __int128>(255) << 23) * (std::uint64_t{1} << 31);
  EXPECT_LT(exact, static_cast<unsigned __int128>(1) << 64);
}

}  // namespace
}  // namespace terrazzo::coding
