// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/packbits.hpp"

#include "coding/packbits/decode.hpp"
#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace terrazzo::gpu {
namespace {

using test::BatchInput;
using test::Bytes;
using test::Decoded;
using tile::TileStatus;

class PackBitsDevice : public test::OnDevice {};

// Random runs of all kinds; returns the stream and adds what it stands for to `size`.
Bytes random_stream(std::uint32_t seed, std::size_t runs, std::size_t& size) {
  std::mt19937 engine(seed);
  Bytes stream;
  for (std::size_t r = 0; r < runs; ++r) {
    std::size_t const short_run = engine() % 2 == 0 ? engine() % 6 : 250 + engine() % 6;
    std::size_t const head = engine() % 3 == 0 ? engine() % 256 : short_run;
    stream.push_back(static_cast<std::byte>(head));
    if (head == 128) { continue; }
    std::size_t const bytes = head > 128 ? 1 : head + 1;
    for (std::size_t i = 0; i < bytes; ++i) { stream.push_back(static_cast<std::byte>(engine() % 256)); }
    size += head > 128 ? 257 - head : head + 1;
  }
  return stream;
}

void expect_agreement(BatchInput const& batch) {
  Decoded const decoded = test::run_batch(
      batch, [](tile::DeviceTiles const& tiles, cudaStream_t stream) { decode_packbits(tiles, stream); });
  for (std::size_t i = 0; i < batch.streams.size(); ++i) {
    Bytes expected(batch.output_sizes[i]);
    tile::TileResult const result = coding::packbits_decode(batch.streams[i], expected);
    EXPECT_EQ(decoded.statuses[i], result.status) << "tile " << i;
    bool const same = decoded.outputs[i] == expected;
    if (decoded.statuses[i] == TileStatus::ok) { EXPECT_TRUE(same) << "tile " << i << " of " << expected.size(); }
    if (testing::Test::HasFailure()) { break; }
  }
}

TEST_F(PackBitsDevice, TakesAnEmptyBatch) { expect_agreement({}); }

TEST_F(PackBitsDevice, DecodesRunsOfAllKindsAtAnyAddress) {
  for (std::size_t const alignment : {std::size_t{1}, std::size_t{3}, std::size_t{16}}) {
    BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = alignment, .output_alignment = alignment};
    for (std::uint32_t seed = 0; seed < 500; ++seed) {
      std::size_t size = 0;
      Bytes stream = random_stream(seed, seed * 3, size);
      batch.add(std::move(stream), size);
    }
    expect_agreement(batch);
  }
}

TEST_F(PackBitsDevice, DecodesManyTinyTiles) {
  BatchInput batch;
  for (std::uint32_t seed = 0; seed < 70000; ++seed) {
    std::size_t size = 0;
    Bytes stream = random_stream(seed, seed % 4, size);
    batch.add(std::move(stream), size);
  }
  expect_agreement(batch);
}

TEST_F(PackBitsDevice, AgreesWithTheHostOnCutStreamsAndOutputs) {
  BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = 1};
  std::size_t size = 0;
  Bytes const stream = random_stream(7, 40, size);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    batch.add(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut)), size);
    batch.add(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut)), cut);
  }
  for (std::size_t less = 0; less <= size; ++less) { batch.add(stream, less); }
  expect_agreement(batch);
}

TEST_F(PackBitsDevice, AgreesWithTheHostOnNoise) {
  BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = 1};
  std::mt19937 engine(5);
  for (std::uint32_t i = 0; i < 20000; ++i) {
    Bytes stream(engine() % 300);
    for (std::byte& b : stream) { b = static_cast<std::byte>(engine() % 256); }
    batch.add(std::move(stream), engine() % 2000);
  }
  expect_agreement(batch);
}

}  // namespace
}  // namespace terrazzo::gpu
