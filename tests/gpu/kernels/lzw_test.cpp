// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/lzw.hpp"

#include "gpu/kernels/decoder_batch.hpp"
#include "terrazzo/error.hpp"
#include "tile/lzw.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::BatchInput;
using test::Bytes;
using test::Decoded;
using tile::LzwBitOrder;
using tile::TileStatus;

class LzwDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (char const* const reason = test::why_no_device()) { GTEST_SKIP() << "no GPU: " << reason; }
  }
};

class BitWriter {
 public:
  explicit BitWriter(LzwBitOrder order) : order_(order) {}

  void put(std::uint32_t code, std::uint32_t width) {
    if (order_ == LzwBitOrder::msb_first) {
      bits_ = bits_ << width | code;
      count_ += width;
      for (; count_ >= 8; count_ -= 8) { bytes_.push_back(static_cast<std::byte>(bits_ >> (count_ - 8) & 0xFF)); }
    } else {
      bits_ |= std::uint64_t{code} << count_;
      count_ += width;
      for (; count_ >= 8; count_ -= 8, bits_ >>= 8) { bytes_.push_back(static_cast<std::byte>(bits_ & 0xFF)); }
    }
  }
  [[nodiscard]] Bytes take() {
    if (count_ != 0) { put(0, 8 - count_); }
    return std::move(bytes_);
  }

 private:
  LzwBitOrder order_;
  Bytes bytes_;
  std::uint64_t bits_ = 0;
  std::uint32_t count_ = 0;
};

struct EncodeOptions {
  LzwBitOrder order = LzwBitOrder::msb_first;
  std::uint32_t clear_at = 4094;  // number of entries at which the table is cleared
  bool end_of_information = true;
};

// Longest match in a trie; 0 is no child, since no entry is 0.
Bytes encode(Bytes const& data, EncodeOptions options = {}) {
  BitWriter writer(options.order);
  std::uint32_t const early = options.order == LzwBitOrder::msb_first ? 1 : 0;
  std::vector<std::uint16_t> children;
  std::uint32_t next = 258;
  std::uint32_t width = 9;
  auto const widen = [&] {
    if (next + early > (1U << width) && width < 12) { ++width; }
  };
  auto const clear = [&] {
    writer.put(tile::kLzwClear, width);
    children.assign(4096 * 256, 0);
    next = 258;
    width = 9;
  };
  clear();
  bool matching = false;
  std::uint32_t match = 0;
  for (std::byte const b : data) {
    auto const value = static_cast<std::uint32_t>(b);
    if (!matching) {
      match = value;
      matching = true;
      continue;
    }
    std::uint16_t& child = children[match * 256 + value];
    if (child != 0) {
      match = child;
      continue;
    }
    writer.put(match, width);
    if (next < 4096) { child = static_cast<std::uint16_t>(next); }
    ++next;
    widen();
    if (next == options.clear_at) { clear(); }
    match = value;
  }
  if (matching) {
    writer.put(match, width);
    ++next;
    widen();
  }
  if (options.end_of_information) { writer.put(tile::kLzwEndOfInformation, width); }
  return writer.take();
}

Bytes noise(std::size_t count, std::uint32_t seed, std::uint32_t alphabet) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(engine() % alphabet); }
  return bytes;
}

// Differences of a slow walk: many short strings, as rasters have.
Bytes terrain(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> step(0.0F, 2.0F);
  Bytes bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(static_cast<int>(step(engine)) & 0xFF); }
  return bytes;
}

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
    tile::TileResult const result = tile::lzw_decode(batch.streams[i], expected);
    if (decoded.statuses[i] == TileStatus::unsupported) {
      ++left;
      continue;
    }
    EXPECT_EQ(decoded.statuses[i], result.status) << "tile " << i;
    bool const same = decoded.outputs[i] == expected;
    if (decoded.statuses[i] == TileStatus::ok) { EXPECT_TRUE(same) << "tile " << i << " of " << expected.size(); }
    if (testing::Test::HasFailure()) { break; }
  }
  return left;
}

TEST_F(LzwDevice, TakesAnEmptyBatch) { EXPECT_TRUE(decode({}).statuses.empty()); }

// Hundreds of segments at once, each of which has to find its place behind all others.
TEST_F(LzwDevice, DecodesOneLargeTile) {
  BatchInput batch;
  batch.add(encode(terrain(2000000, 1)), 2000000);
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, DecodesBothOrdersAndAnyClearing) {
  BatchInput batch;
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    for (std::uint32_t const clear_at : {1023U, 1024U, 2048U, 4093U, 4094U, 4095U, 4096U, 5000U}) {
      EncodeOptions const options{.order = order, .clear_at = clear_at, .end_of_information = clear_at % 2 == 0};
      for (std::uint32_t const alphabet : {1U, 2U, 5U, 256U}) {
        batch.add(encode(noise(50000 + clear_at, clear_at, alphabet), options), 50000 + clear_at);
      }
      batch.add(encode(terrain(200000, clear_at), options), 200000);
    }
  }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, DecodesOddSizesAtAnyAddress) {
  for (std::size_t const alignment : {std::size_t{1}, std::size_t{3}, std::size_t{16}}) {
    BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = alignment, .output_alignment = alignment};
    for (std::size_t size = 0; size < 300; ++size) { batch.add(encode(noise(size, 2, 3)), size); }
    for (std::size_t size = 16300; size < 16420; ++size) { batch.add(encode(terrain(size, 2)), size); }
    EXPECT_EQ(expect_agreement(batch), 0U);
  }
}

TEST_F(LzwDevice, DecodesLongStrings) {
  BatchInput batch;
  Bytes periodic(1000003);
  for (std::size_t i = 0; i < periodic.size(); ++i) { periodic[i] = static_cast<std::byte>(i % 7 == 3 ? 9 : i % 5); }
  batch.add(encode(periodic), periodic.size());
  for (std::size_t const size : {std::size_t{1} << 20, std::size_t{1} << 24}) { batch.add(encode(Bytes(size)), size); }
  Bytes mixed = terrain(2000000, 3);
  std::fill(mixed.begin() + 500000, mixed.begin() + 1500000, std::byte{7});
  batch.add(encode(mixed), mixed.size());
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, DecodesManyTinyTiles) {
  BatchInput batch;
  for (std::uint32_t i = 0; i < 70000; ++i) {
    std::size_t const size = i % 65;
    // Encoding clears a large table, so few streams are used many times.
    if (i < 65 * 4) {
      batch.add(encode(noise(size, i, 2 + i % 30)), size);
    } else {
      batch.add(batch.streams[i % (65 * 4)], size);
    }
  }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, IgnoresSurplusAndCutsTheLastString) {
  BatchInput batch;
  Bytes const stream = encode(terrain(30000, 5), {.clear_at = 1500});
  for (std::size_t size = 0; size <= 30100; size += 43) { batch.add(stream, size); }
  EXPECT_EQ(expect_agreement(batch), 0U);
}

TEST_F(LzwDevice, AgreesWithTheHostOnTruncatedStreams) {
  BatchInput batch;
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    Bytes const stream = encode(noise(3000, 8, 6), {.order = order, .clear_at = 700, .end_of_information = false});
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
    Bytes const data = i % 2 == 0 ? terrain(500 + i * 500, i) : noise(500 + i * 500, i, 1 + i % 9);
    pristine.push_back(encode(data, {.order = order, .clear_at = 900 + i * 70}));
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
  BitWriter writer(LzwBitOrder::msb_first);
  for (int i = 0; i < 50000; ++i) {
    writer.put(tile::kLzwClear, 9);
    writer.put(65, 9);
  }
  BatchInput batch;
  batch.add(encode(terrain(50000, 1)), 50000);
  batch.add(writer.take(), 50000);
  batch.add(encode(terrain(50000, 2)), 50000);
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
