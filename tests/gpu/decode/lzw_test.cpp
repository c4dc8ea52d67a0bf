// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/lzw.hpp"

#include "coding/lzw/decode.hpp"
#include "gpu/decode/decoder_batch.hpp"
#include "support/lzw_stream.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace terrazzo::gpu {
namespace {

using coding::LzwBitOrder;
using test::BatchInput;
using test::Bytes;
using test::Decoded;
using testing::lzw_stream;
using testing::LzwCodeWriter;
using testing::LzwStreamOptions;
using testing::noise;
using testing::walk_steps;
using tile::TileStatus;

class LzwDevice : public test::OnDevice {};

Decoded decode(BatchInput const& batch) {
  auto const count = static_cast<std::uint32_t>(batch.streams.size());
  std::size_t const scratch_bytes = lzw_scratch_bytes(count, batch.stream_bytes());
  test::DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0xC3}));
  return test::run_batch(batch, [&](tile::DeviceTiles const& tiles, cudaStream_t stream) {
    decode_lzw(tiles, batch.stream_bytes(), batch.longest_stream(), scratch.get(), scratch_bytes, stream);
  });
}

// What the host says of each tile, the device says too, unless it leaves the tile to the host. Returns how many it
// left.
std::size_t expect_agreement(BatchInput const& batch) {
  Decoded const decoded = decode(batch);
  std::size_t left = 0;
  for (std::size_t i = 0; i < batch.streams.size(); ++i) {
    Bytes expected(batch.output_sizes[i]);
    tile::TileResult const result = coding::lzw_decode(batch.streams[i], expected);
    if (decoded.statuses[i] == TileStatus::unsupported) {
      ++left;
      continue;
    }
    EXPECT_EQ(decoded.statuses[i], result.status) << "tile " << i;
    bool const same = decoded.outputs[i] == expected;
    if (decoded.statuses[i] == TileStatus::ok) { EXPECT_TRUE(same) << "tile " << i << " of " << expected.size(); }
    if (::testing::Test::HasFailure()) { break; }
  }
  return left;
}

TEST_F(LzwDevice, TakesAnEmptyBatch) { EXPECT_TRUE(decode({}).statuses.empty()); }

// Hundreds of segments at once, each of which has to find its place behind all others.
TEST_F(LzwDevice, DecodesOneLargeTile) {
  BatchInput batch;
  batch.add(lzw_stream(walk_steps(2000000, 1)), 2000000);
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, DecodesBothOrdersAndAnyClearing) {
  BatchInput batch;
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    for (std::uint32_t const clear_at : {1023U, 1024U, 2048U, 4093U, 4094U, 4095U, 4096U, 5000U}) {
      LzwStreamOptions const options{.order = order, .clear_at = clear_at, .end_of_information = clear_at % 2 == 0};
      for (std::uint32_t const alphabet : {1U, 2U, 5U, 256U}) {
        batch.add(lzw_stream(noise(50000 + clear_at, clear_at, alphabet), options), 50000 + clear_at);
      }
      batch.add(lzw_stream(walk_steps(200000, clear_at), options), 200000);
    }
  }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, DecodesOddSizesAtAnyAddress) {
  for (std::size_t const alignment : {std::size_t{1}, std::size_t{3}, std::size_t{16}}) {
    BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = alignment, .output_alignment = alignment};
    for (std::size_t size = 0; size < 300; ++size) { batch.add(lzw_stream(noise(size, 2, 3)), size); }
    for (std::size_t size = 16300; size < 16420; ++size) { batch.add(lzw_stream(walk_steps(size, 2)), size); }
    EXPECT_EQ(expect_agreement(batch), 0U);
  }
}

TEST_F(LzwDevice, DecodesLongStrings) {
  BatchInput batch;
  Bytes periodic(1000003);
  for (std::size_t i = 0; i < periodic.size(); ++i) { periodic[i] = static_cast<std::byte>(i % 7 == 3 ? 9 : i % 5); }
  batch.add(lzw_stream(periodic), periodic.size());
  for (std::size_t const size : {std::size_t{1} << 20, std::size_t{1} << 24}) {
    batch.add(lzw_stream(Bytes(size)), size);
  }
  Bytes mixed = walk_steps(2000000, 3);
  std::fill(mixed.begin() + 500000, mixed.begin() + 1500000, std::byte{7});
  batch.add(lzw_stream(mixed), mixed.size());
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, DecodesManyTinyTiles) {
  BatchInput batch;
  for (std::uint32_t i = 0; i < 70000; ++i) {
    std::size_t const size = i % 65;
    // Encoding clears a large table, so few streams are used many times.
    if (i < 65 * 4) {
      batch.add(lzw_stream(noise(size, i, 2 + i % 30)), size);
    } else {
      batch.add(batch.streams[i % (65 * 4)], size);
    }
  }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, IgnoresSurplusAndCutsTheLastString) {
  BatchInput batch;
  Bytes const stream = lzw_stream(walk_steps(30000, 5), {.clear_at = 1500});
  for (std::size_t size = 0; size <= 30100; size += 43) { batch.add(stream, size); }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, AgreesWithTheHostOnTruncatedStreams) {
  BatchInput batch;
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    Bytes const stream = lzw_stream(noise(3000, 8, 6), {.order = order, .clear_at = 700, .end_of_information = false});
    for (std::size_t size = 0; size <= stream.size(); ++size) {
      Bytes const cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
      batch.add(cut, 3000);
      batch.add(cut, size);
    }
  }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, AgreesWithTheHostOnDamagedStreams) {
  std::mt19937 engine(11);
  std::vector<Bytes> pristine;
  for (std::uint32_t i = 0; i < 60; ++i) {
    LzwBitOrder const order = i % 3 == 0 ? LzwBitOrder::lsb_first : LzwBitOrder::msb_first;
    Bytes const data = i % 2 == 0 ? walk_steps(500 + i * 500, i) : noise(500 + i * 500, i, 1 + i % 9);
    pristine.push_back(lzw_stream(data, {.order = order, .clear_at = 900 + i * 70}));
  }
  BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = 1};
  for (std::uint32_t i = 0; i < 6000; ++i) {
    Bytes stream = pristine[i % pristine.size()];
    std::size_t const damages = 1 + engine() % 3;
    for (std::size_t d = 0; d < damages; ++d) {
      stream[engine() % stream.size()] ^= static_cast<std::byte>(1U << (engine() % 8));
    }
    batch.add(std::move(stream), 500 + i % pristine.size() * 500 + engine() % 100);
  }
  expect_agreement(batch);
}

TEST_F(LzwDevice, AgreesWithTheHostOnNoise) {
  BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = 1};
  for (std::uint32_t seed = 0; seed < 20000; ++seed) {
    Bytes stream = noise(seed % 97, seed, 256);
    // Most get a Clear, else they would all end at once.
    if (stream.size() >= 2 && seed % 8 != 0) {
      stream[0] = seed % 2 == 0 ? std::byte{0x80} : std::byte{0};
      stream[1] = seed % 2 == 0 ? stream[1] & std::byte{0x7F} : stream[1] | std::byte{1};
    }
    batch.add(std::move(stream), seed % 53);
  }
  expect_agreement(batch);
}

TEST_F(LzwDevice, LeavesAStreamOfClearsToTheHostAndDecodesItsNeighbours) {
  LzwCodeWriter writer(LzwBitOrder::msb_first);
  for (int i = 0; i < 50000; ++i) {
    writer.put(coding::kLzwClear, 9);
    writer.put(65, 9);
  }
  BatchInput batch;
  batch.add(lzw_stream(walk_steps(50000, 1)), 50000);
  batch.add(writer.take(), 50000);
  batch.add(lzw_stream(walk_steps(50000, 2)), 50000);
  EXPECT_EQ(expect_agreement(batch), 1U);
}

TEST_F(LzwDevice, RefusesTooLittleScratch) {
  tile::DeviceTiles tiles;
  tiles.count = 4;
  std::size_t const needed = lzw_scratch_bytes(4, 100000);
  try {
    decode_lzw(tiles, 100000, 50000, nullptr, needed - 1, nullptr);
    FAIL() << "too little scratch was taken";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
}

}  // namespace
}  // namespace terrazzo::gpu
