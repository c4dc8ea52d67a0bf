// SPDX-License-Identifier: Apache-2.0
#include "coding/lzw/decode.hpp"

#include "coding/decode_exact.hpp"
#include "support/bytes.hpp"
#include "support/lzw_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using testing::bytes_of;
using testing::lzw_stream;
using testing::LzwCodeWriter;
using testing::LzwStreamOptions;
using testing::noise;

tile::TileResult decode_exact(Bytes const& in, std::size_t out_size, Bytes& out) {
  return test::decode_exact(lzw_decode, in, out_size, out);
}

// The definition, without the fast loop.
tile::TileResult decode_by_steps(Bytes const& in, std::size_t out_size, Bytes& out) {
  std::vector<std::uint32_t> starts(kLzwTableSize + 2);
  out.assign(out_size, std::byte{0});
  LzwDecoder decoder{.in = in.data(),
                     .in_bytes = in.size(),
                     .out = out.data(),
                     .out_bytes = out_size,
                     .starts = starts.data(),
                     .order = lzw_bit_order(in.data(), in.size())};
  LzwStep step = LzwStep::more;
  while (step == LzwStep::more) { step = decoder.step(); }
  out.resize(decoder.out_position);
  tile::TileStatus const status = step == LzwStep::output_full   ? tile::TileStatus::ok
                                  : step == LzwStep::input_ended ? tile::TileStatus::truncated
                                                                 : tile::TileStatus::corrupt;
  return {.status = status, .bytes_written = decoder.out_position};
}

void expect_round_trip(Bytes const& data, LzwStreamOptions options = {}) {
  Bytes const stream = lzw_stream(data, options);
  Bytes out;
  tile::TileResult const result = decode_exact(stream, data.size(), out);
  EXPECT_EQ(result.status, tile::TileStatus::ok) << (result.reason != nullptr ? result.reason : "");
  EXPECT_FALSE(result.surplus_input);
  EXPECT_EQ(out, data);
}

TEST(LzwDecode, ReadsTheExampleOfTheSpecification) {
  // TIFF 6.0, page 59: 7 7 7 8 8 7 7 6 6 -> Clear 7 258 8 8 258 6 6 EOI.
  LzwCodeWriter writer(LzwBitOrder::msb_first);
  for (std::uint32_t const code : {256U, 7U, 258U, 8U, 8U, 258U, 6U, 6U, 257U}) { writer.put(code, 9); }
  Bytes out;
  tile::TileResult const result = decode_exact(writer.take(), 9, out);
  EXPECT_EQ(result.status, tile::TileStatus::ok);
  EXPECT_EQ(out, bytes_of({7, 7, 7, 8, 8, 7, 7, 6, 6}));
}

TEST(LzwDecode, RoundTripsDataOfEveryTemper) {
  for (std::size_t const size :
       {std::size_t{1}, std::size_t{2}, std::size_t{17}, std::size_t{511}, std::size_t{5000}, std::size_t{60000}}) {
    for (std::uint32_t const alphabet : {1U, 2U, 3U, 7U, 40U, 256U}) {
      SCOPED_TRACE(::testing::Message() << size << " bytes of " << alphabet << " values");
      expect_round_trip(noise(size, static_cast<std::uint32_t>(size) + alphabet, alphabet));
    }
  }
}

TEST(LzwDecode, RoundTripsRunsBetweenNoise) {
  Bytes data;
  for (std::uint32_t i = 0; i < 60; ++i) {
    Bytes const part = noise(200, i, 256);
    data.insert(data.end(), part.begin(), part.end());
    data.insert(data.end(), 37 * i, static_cast<std::byte>(i));
  }
  expect_round_trip(data);
}

TEST(LzwDecode, ReadsOldStyleStreams) {
  for (std::uint32_t const alphabet : {1U, 5U, 256U}) {
    Bytes const data = noise(20000, alphabet, alphabet);
    Bytes const stream = lzw_stream(data, {.order = LzwBitOrder::lsb_first});
    ASSERT_EQ(lzw_bit_order(stream.data(), stream.size()), LzwBitOrder::lsb_first);
    expect_round_trip(data, {.order = LzwBitOrder::lsb_first});
  }
}

TEST(LzwDecode, NeedsNoEndOfInformationOnceTheOutputIsFull) {
  Bytes const data = noise(3000, 1, 9);
  expect_round_trip(data, {.end_of_information = false});
}

TEST(LzwDecode, GoesOnWithAFullTableForAsLongAsLibtiffDoes) {
  // 4096 + 1000 codes without a Clear are read; as many as never clear are not.
  Bytes const data = noise(30000, 3, 256);
  expect_round_trip(data, {.clear_at = 5100});

  Bytes out;
  tile::TileResult const result = decode_exact(lzw_stream(data, {.clear_at = 1U << 30}), data.size(), out);
  EXPECT_EQ(result.status, tile::TileStatus::corrupt);
  ASSERT_GT(out.size(), 4000U);
  EXPECT_TRUE(std::equal(out.begin(), out.end(), data.begin()));
}

TEST(LzwDecode, AcceptsRepeatedClears) {
  LzwCodeWriter writer(LzwBitOrder::msb_first);
  for (std::uint32_t const code : {256U, 256U, 256U, 5U, 256U, 256U, 6U, 257U}) { writer.put(code, 9); }
  Bytes out;
  EXPECT_EQ(decode_exact(writer.take(), 2, out).status, tile::TileStatus::ok);
  EXPECT_EQ(out, bytes_of({5, 6}));
}

TEST(LzwDecode, CutsTheStringThatPassesTheEndAndSaysSo) {
  Bytes const data(1000, std::byte{7});
  Bytes out;
  tile::TileResult const result = decode_exact(lzw_stream(data), 995, out);
  EXPECT_EQ(result.status, tile::TileStatus::ok);
  EXPECT_TRUE(result.surplus_input);
  EXPECT_EQ(out, Bytes(995, std::byte{7}));
}

TEST(LzwDecode, CountsBytesBehindEndOfInformationAsSurplus) {
  Bytes stream = lzw_stream(noise(100, 1, 256));
  stream.resize(stream.size() + 5);
  Bytes out;
  tile::TileResult const result = decode_exact(stream, 100, out);
  EXPECT_EQ(result.status, tile::TileStatus::ok);
  EXPECT_TRUE(result.surplus_input);
}

TEST(LzwDecode, RefusesAStreamWithoutAClear) {
  LzwCodeWriter writer(LzwBitOrder::msb_first);
  writer.put(65, 9);
  writer.put(66, 9);
  Bytes out;
  tile::TileResult const result = decode_exact(writer.take(), 2, out);
  EXPECT_EQ(result.status, tile::TileStatus::corrupt);
  EXPECT_NE(result.reason, nullptr);
}

TEST(LzwDecode, RefusesCodePastTheTable) {
  for (std::uint32_t const bad : {259U, 300U, 511U}) {
    LzwCodeWriter writer(LzwBitOrder::msb_first);
    writer.put(kLzwClear, 9);
    writer.put(65, 9);
    writer.put(bad, 9);
    writer.put(65, 9);
    Bytes out;
    tile::TileResult const result = decode_exact(writer.take(), 100, out);
    EXPECT_EQ(result.status, tile::TileStatus::corrupt) << bad;
    EXPECT_EQ(result.bytes_written, 1U);
  }
}

TEST(LzwDecode, RefusesAStringCodeRightAfterClear) {
  LzwCodeWriter writer(LzwBitOrder::msb_first);
  writer.put(kLzwClear, 9);
  writer.put(258, 9);
  writer.put(65, 9);
  Bytes out;
  EXPECT_EQ(decode_exact(writer.take(), 100, out).status, tile::TileStatus::corrupt);
}

TEST(LzwDecode, ReportsAnEmptyStreamAsTruncated) {
  Bytes out;
  tile::TileResult const result = decode_exact({}, 10, out);
  EXPECT_EQ(result.status, tile::TileStatus::truncated);
  EXPECT_EQ(result.bytes_written, 0U);
  EXPECT_EQ(decode_exact({}, 0, out).status, tile::TileStatus::ok);
}

TEST(LzwDecode, GivesAPrefixOfTheDataForEveryPrefixOfAStream) {
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    Bytes data = noise(1500, 11, 20);
    data.insert(data.end(), 500, std::byte{0});
    Bytes const stream = lzw_stream(data, {.order = order});
    for (std::size_t size = 0; size < stream.size(); ++size) {
      Bytes out;
      tile::TileResult const result =
          decode_exact({stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size)}, data.size(), out);
      // Without its last byte the stream has lost no more than EOI.
      ASSERT_TRUE(result.status == tile::TileStatus::truncated || size + 2 >= stream.size()) << size;
      ASSERT_TRUE(std::equal(out.begin(), out.end(), data.begin())) << size;
    }
  }
}

TEST(LzwDecode, FitsEveryOutputSize) {
  Bytes data = noise(400, 12, 3);
  data.insert(data.end(), 300, std::byte{1});
  Bytes const stream = lzw_stream(data);
  for (std::size_t size = 0; size <= data.size(); ++size) {
    Bytes out;
    ASSERT_EQ(decode_exact(stream, size, out).status, tile::TileStatus::ok) << size;
    ASSERT_TRUE(std::equal(out.begin(), out.end(), data.begin())) << size;
  }
}

TEST(LzwDecode, AgreesWithTheDefinitionOnDamagedStreams) {
  std::mt19937 engine(99);
  Bytes const data = noise(6000, 5, 30);
  Bytes const stream = lzw_stream(data);
  for (int round = 0; round < 1500; ++round) {
    Bytes damaged = stream;
    for (std::uint32_t i = 0; i < 1 + engine() % 4; ++i) {
      damaged[2 + engine() % (damaged.size() - 2)] ^= static_cast<std::byte>(1U << (engine() % 8));
    }
    Bytes fast;
    Bytes slow;
    tile::TileResult const by_fast = decode_exact(damaged, data.size(), fast);
    tile::TileResult const by_steps = decode_by_steps(damaged, data.size(), slow);
    ASSERT_EQ(by_fast.status, by_steps.status) << round;
    ASSERT_EQ(fast, slow) << round;
  }
}

TEST(LzwDecode, SurvivesRandomBytes) {
  std::mt19937 engine(7);
  for (int round = 0; round < 3000; ++round) {
    Bytes stream = noise(engine() % 300, static_cast<std::uint32_t>(engine()), 256);
    if (stream.size() > 2 && round % 2 == 0) {
      stream[0] = std::byte{0x80};
      stream[1] &= std::byte{0x7F};
    }
    Bytes fast;
    Bytes slow;
    std::size_t const size = engine() % 3000;
    ASSERT_EQ(decode_exact(stream, size, fast).status, decode_by_steps(stream, size, slow).status);
    ASSERT_EQ(fast, slow);
  }
}

}  // namespace
}  // namespace terrazzo::coding
