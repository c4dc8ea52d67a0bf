// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/inflate.hpp"

#include "coding/deflate/deflated.hpp"
#include "coding/deflate/inflate.hpp"
#include "coding/deflate/scene.hpp"
#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <utility>

namespace terrazzo::gpu {
namespace {

using coding::test::deflate_scene;
using coding::test::deflated;
using coding::test::kDeflateScenes;
using test::BatchInput;
using test::Bytes;
using test::Decoded;
using tile::TileStatus;

class InflateDevice : public test::OnDevice {};

// The host's team gives the same verdicts and bytes.
void expect_same_streams(BatchInput const& batch) {
  Decoded const decoded = test::run_batch(
      batch, [](tile::DeviceTiles const& tiles, cudaStream_t stream) { decode_deflate(tiles, stream); });
  auto const shared = std::make_unique<coding::InflateShared>();
  for (std::size_t i = 0; i < batch.streams.size(); ++i) {
    std::vector<coding::AdlerVector> memory(batch.output_sizes[i] / 16 + 1);  // aligned
    auto* const out = reinterpret_cast<std::byte*>(memory.data());
    Bytes const& stream = batch.streams[i];
    TileStatus const status =
        coding::inflate_zlib(coding::LanesInTurn{}, *shared, stream.data(), stream.size(), out, batch.output_sizes[i]);
    ASSERT_EQ(decoded.statuses[i], status) << "tile " << i;
    if (status == TileStatus::ok) {
      ASSERT_TRUE(decoded.outputs[i] == Bytes(out, out + batch.output_sizes[i])) << "tile " << i;
    }
  }
}

TEST_F(InflateDevice, TakesAnEmptyBatch) { expect_same_streams({}); }

TEST_F(InflateDevice, DecodesAllKindsOfDataAtAnyAddress) {
  for (std::size_t const alignment : {std::size_t{1}, std::size_t{16}}) {
    BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = alignment};
    for (auto const scene : kDeflateScenes) {
      for (std::size_t const size : {0u, 1u, 255u, 8191u, 8193u, 70'000u, 1'000'000u}) {
        for (int const level : {0, 1, 6, 12}) { batch.add(deflated(deflate_scene(scene, size), level), size); }
      }
    }
    expect_same_streams(batch);
  }
}

TEST_F(InflateDevice, DecodesManyTinyTiles) {
  BatchInput batch;
  for (std::uint32_t seed = 0; seed < 70'000; ++seed) {
    std::size_t const size = seed % 40;
    batch.add(deflated(deflate_scene(kDeflateScenes[seed % std::size(kDeflateScenes)], size, seed), 6), size);
  }
  expect_same_streams(batch);
}

TEST_F(InflateDevice, AgreesWithTheHostOnDamagedStreams) {
  BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = 1};
  std::mt19937 random(3);
  auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
    std::size_t const size = 1 + below(seed % 100 == 0 ? 200'000 : 3'000);
    Bytes stream = deflated(deflate_scene(kDeflateScenes[seed % std::size(kDeflateScenes)], size, seed),
                            static_cast<int>(below(13)));
    std::size_t const changes = below(9);
    for (std::size_t i = 0; i < changes; ++i) { stream[below(stream.size())] = static_cast<std::byte>(below(256)); }
    if (seed % 5 == 0) { stream.resize(below(stream.size())); }
    batch.add(std::move(stream), size);
  }
  expect_same_streams(batch);
}

}  // namespace
}  // namespace terrazzo::gpu
