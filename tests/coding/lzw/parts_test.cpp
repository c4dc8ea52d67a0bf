// SPDX-License-Identifier: Apache-2.0
//
// Tiles encoded in parts, as the device's kernels do, on one thread.
#include "coding/lzw/parts.hpp"

#include "coding/lzw/encode.hpp"
#include "coding/lzw/parts_twin.hpp"
#include "coding/lzw/segments.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using test::encode_in_parts;

enum class Kind { random, constant, ramp, few_values, small_differences, short_period };
constexpr Kind kKinds[] = {Kind::random,     Kind::constant,          Kind::ramp,
                           Kind::few_values, Kind::small_differences, Kind::short_period};

Bytes data_of(std::size_t count, Kind kind, std::uint32_t seed = 5) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const random = static_cast<unsigned>(engine());
    unsigned value = 0;
    switch (kind) {
      case Kind::random: value = random; break;
      case Kind::constant: value = 7; break;
      case Kind::ramp: value = static_cast<unsigned>(i); break;
      case Kind::few_values: value = random % 3; break;
      case Kind::small_differences: value = random % 7 * (random >> 16) % 5; break;
      case Kind::short_period: value = static_cast<unsigned>(i % 13); break;
    }
    bytes[i] = static_cast<std::byte>(value & 0xFF);
  }
  return bytes;
}

Bytes front_of(Bytes const& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

Bytes encode_whole(Bytes const& data) {
  static auto const encoder = std::make_unique<LzwEncoder>();
  Bytes stream(lzw_encode_bound(data.size()));
  stream.resize(encoder->encode(data, stream));
  return stream;
}

void expect_round_trip(Bytes const& data, std::size_t part_bytes = kLzwPartBytes) {
  Bytes const stream = encode_in_parts(data, part_bytes);
  if (part_bytes == kLzwPartBytes) { ASSERT_LE(stream.size(), lzw_parts_bound(data.size())); }
  Bytes back(data.size(), std::byte{0xA5});
  tile::TileResult const result = lzw_decode(stream, back);
  ASSERT_EQ(result.status, tile::TileStatus::ok) << result.reason;
  ASSERT_FALSE(result.surplus_input);
  ASSERT_EQ(back, data);
}

TEST(LzwParts, ATileOfOnePartIsTheHostsStream) {
  for (Kind const kind : kKinds) {
    for (std::size_t size = 1; size <= 300; ++size) {
      ASSERT_EQ(encode_in_parts(data_of(size, kind)), encode_whole(data_of(size, kind))) << size;
    }
    for (std::size_t const size : {1100U, 4096U, 10'000U, 32'767U, 32'768U}) {
      ASSERT_EQ(encode_in_parts(data_of(size, kind)), encode_whole(data_of(size, kind))) << size;
    }
  }
}

// Random bytes take about one code each: every place around changes of width and full tables becomes the last one.
TEST(LzwParts, EndAtEveryPlaceAroundAFullTableAsTheHostDoes) {
  Bytes const data = data_of(9000, Kind::random);
  for (std::size_t size = 3700; size < 4300; ++size) {
    ASSERT_EQ(encode_in_parts(front_of(data, size)), encode_whole(front_of(data, size))) << size;
  }
  for (std::size_t size = 7600; size < 8600; size += 3) {
    ASSERT_EQ(encode_in_parts(front_of(data, size)), encode_whole(front_of(data, size))) << size;
  }
}

TEST(LzwParts, RoundTripAroundTheSizesOfParts) {
  for (Kind const kind : kKinds) {
    Bytes const data = data_of(3 * kLzwPartBytes + 20, kind);
    for (std::size_t parts = 1; parts <= 3; ++parts) {
      for (std::size_t size = parts * kLzwPartBytes - 18; size <= parts * kLzwPartBytes + 18; ++size) {
        SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << ", " << size << " bytes");
        expect_round_trip(front_of(data, size));
      }
    }
  }
}

// The Clear between two parts comes in every width, and where the table is full.
TEST(LzwParts, ClearInTheWidthWhereAPartEnds) {
  Bytes const noise = data_of(3 * 4300, Kind::random);
  for (std::size_t part_bytes = 1; part_bytes < 4300; part_bytes += part_bytes < 1100 || part_bytes > 3700 ? 1 : 7) {
    SCOPED_TRACE(part_bytes);
    expect_round_trip(front_of(noise, 2 * part_bytes + 1), part_bytes);
  }
}

TEST(LzwParts, FindTheCodeOfEveryBit) {
  std::uint32_t bit = 0;
  for (std::uint32_t k = 0; k <= kLzwTableCodes; ++k) {
    for (std::uint32_t before = 0; before < lzw_code_width(k, LzwBitOrder::msb_first); ++before, ++bit) {
      LzwCodePlace const place = lzw_code_at(bit);
      ASSERT_EQ(place.k, k) << bit;
      ASSERT_EQ(place.bits_before, before) << bit;
    }
  }
  EXPECT_EQ(bit, kLzwTableBits);
}

// Three parts and more begin in one word.
TEST(LzwParts, JoinPartsOfAFewBits) {
  for (Kind const kind : kKinds) {
    for (std::size_t size = 1; size < 25; ++size) {
      for (std::size_t part_bytes = 1; part_bytes < 5; ++part_bytes) {
        SCOPED_TRACE(::testing::Message() << size << " bytes in parts of " << part_bytes);
        expect_round_trip(data_of(size, kind), part_bytes);
      }
    }
  }
}

TEST(LzwParts, RoundTripLargeTilesOfEveryKind) {
  for (Kind const kind : kKinds) {
    SCOPED_TRACE(static_cast<int>(kind));
    expect_round_trip(data_of(1'000'003, kind));
  }
}

TEST(LzwParts, NeverMakeEntry4095) {
  // Old decoders have no room for it: from Clear to Clear there are 3836 codes at most.
  for (Kind const kind : {Kind::random, Kind::ramp, Kind::small_differences}) {
    Bytes const stream = encode_in_parts(data_of(200'000, kind));
    std::uint64_t start = kLzwMinWidth;
    for (;;) {
      LzwBits const bits(stream.data(), stream.size(), start, LzwBitOrder::msb_first);
      std::uint32_t stop = kLzwNoStop;
      std::uint32_t k = 0;
      for (; stop == kLzwNoStop; ++k) {
        std::uint32_t const words[] = {bits.word(bits.bit_of(k) >> 5), bits.word((bits.bit_of(k) >> 5) + 1)};
        stop = lzw_stop_at(k, bits.has(k), bits.code(k, words, bits.bit_of(k) >> 5));
      }
      ASSERT_LE(lzw_stop_index(stop), kLzwCodesPerTable);
      if (lzw_stop_kind(stop) != LzwStopKind::clear) { break; }
      start += lzw_code_offset(k, LzwBitOrder::msb_first);
    }
    EXPECT_GT(start, stream.size() * 7);
  }
}

TEST(LzwParts, HaveNoMoreSegmentsThanTheDevicesDecoderTakes) {
  for (std::size_t const size : {std::size_t{1} << 20, std::size_t{1} << 24}) {
    Bytes const stream = encode_in_parts(Bytes(size));
    EXPECT_LT(lzw_part_count(size), lzw_segment_capacity(stream.size()));
  }
}

TEST(LzwParts, BoundsGrowWithTheTileAndHoldTheWorstOne) {
  for (std::uint64_t size = 1; size < 3 * kLzwPartBytes; ++size) {
    ASSERT_GE(lzw_parts_bound(size), lzw_parts_bound(size - 1)) << size;
  }
  // Every pair of bytes is new for as long as there are any, so every byte is a code.
  Bytes data;
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = a; b < 256; ++b) {
      data.push_back(static_cast<std::byte>(a));
      data.push_back(static_cast<std::byte>(b));
    }
  }
  expect_round_trip(data);
}

}  // namespace
}  // namespace terrazzo::coding
